/* The pipeline stages of a training step: which of them sets the pace, and where the time of each goes. */
#include "json-private.h"
#include "run-private.h"

BASE_MEMBER_NUMBER_OF (compute_s, TrnStageUse, it->part_s[TRN_PART_COMPUTE])
BASE_MEMBER_NUMBER_OF (bubble_s, TrnStageUse, it->part_s[TRN_PART_BUBBLE])

#define STAGE(...) BASE_MEMBER (TrnStageUse, __VA_ARGS__)
const BaseMember rep_stage_members[] = {
  STAGE ("stage", stage),
  BASE_MEMBER_AS (BASE_MEMBER_BOOL, TrnStageUse, "binds", binds),
  STAGE ("work_s", work_s),
  { .key = "compute_s", .number = compute_s },
  { .key = "bubble_s", .number = bubble_s },
  STAGE ("memory_B", memory_B, .positive = TRUE),
  BASE_MEMBER_PARTS_OF (TrnStageUse, "breakdown_s", part_s, trn_part_names, TRN_PART_N),
  BASE_MEMBER_END,
};

void
rep_append_stages (const gboolean *are, guint n, GString *out)
{
  g_autoptr (GPtrArray) items = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0, end; i < n; i = end) {
    for (end = i; end < n && are[end] == are[i];)
      end++;
    if (are[i] && end - i > 2)
      g_ptr_array_add (items, g_strdup_printf ("%u to %u", i, end - 1));
    for (guint at = i; are[i] && end - i <= 2 && at < end; at++)
      g_ptr_array_add (items, g_strdup_printf ("%u", at));
  }
  for (guint i = 0; i < items->len; i++)
    g_string_append_printf (out, "%s%s", i == 0 ? "" : i + 1 == items->len ? " and " : ", ", (const char *)items->pdata[i]);
}

void
rep_stages_text (const TrnResult *training, GString *out)
{
  if (training->stages == NULL || training->stages->len < 2)
    return;
  const guint n = training->stages->len;
  const TrnStageUse *stages = (const TrnStageUse *)(gconstpointer)training->stages->data, *most = NULL, *next = NULL;
  g_autofree gboolean *binds = g_new0 (gboolean, n);
  guint n_binds = 0;
  for (guint s = 0; s < n; s++) {
    binds[s] = stages[s].binds;
    n_binds += binds[s] ? 1 : 0;
    const TrnStageUse **best = binds[s] ? &most : &next;
    if (*best == NULL || stages[s].work_s > (*best)->work_s)
      *best = &stages[s];
  }
  g_return_if_fail (most != NULL);
  g_autofree char *work = rep_quantity (most->work_s, BASE_DIM_TIME);
  if (n_binds == n) {
    g_string_append_printf (out, "slowest stages  none: all %u have %s of work, within 1 %%\n", n, work);
    return;
  }
  g_autofree char *other = rep_quantity (next->work_s, BASE_DIM_TIME);
  g_string_append (out, n_binds > 1 ? "slowest stages  " : "slowest stage   ");
  rep_append_stages (binds, n, out);
  g_string_append_printf (out,
                          n_binds > 1 ? ": %s of work each, within 1 %%; stage %u follows with %s\n"
                                      : ": %s of work; stage %u follows with %s\n",
                          work, next->stage, other);
}
