/* Device memory of a training step. */
#include "json-private.h"
#include "run-private.h"

#define STAGE(...)      BASE_MEMBER (TrnMemory, __VA_ARGS__)
#define GIBIBYTES(head) BASE_SHOWN (head, 1.0 / (1 << 30), "%.2f")
static const BaseMember stage_members[] = {
  STAGE ("stage", stage, .title = "stage"),
  STAGE ("rank", rank, .title = "rank"),
  STAGE ("total", total_B, GIBIBYTES ("total (GiB)")),
  STAGE ("weights", weights_B, GIBIBYTES ("weights")),
  STAGE ("gradients", gradients_B, GIBIBYTES ("gradients")),
  STAGE ("optimizer", optimizer_B, GIBIBYTES ("optimizer")),
  STAGE ("activations", activations_B, GIBIBYTES ("activations")),
  STAGE ("buffers", buffers_B, GIBIBYTES ("buffers")),
  STAGE ("other", other_B, GIBIBYTES ("other")),
  STAGE ("allocated", allocated_B, GIBIBYTES ("allocated"), .rank = 2),
  STAGE ("reserved", reserved_B, GIBIBYTES ("reserved"), .rank = 2),
  STAGE ("in_flight", in_flight, BASE_SHOWN ("in flight", 1, "%.0f"), .rank = 1),
  BASE_MEMBER_END,
};

BASE_MEMBER_WHEN (is_capacity_known, TrnResult, it->fullest.capacity_B > 0)
BASE_MEMBER_TEXT_OF (largest_part, TrnResult, trn_memory_largest (&it->fullest, NULL))

/* TSV says it in words. */
static const BaseName fits_names[] = { { "true", TRUE, NULL }, { "false", FALSE, NULL }, { NULL, 0, NULL } };

#define MEMBER(...) BASE_MEMBER (TrnResult, __VA_ARGS__)
const BaseMember rep_memory_members[] = {
  MEMBER ("total", fullest.total_B),
  MEMBER ("weights", fullest.weights_B),
  MEMBER ("gradients", fullest.gradients_B),
  MEMBER ("optimizer", fullest.optimizer_B),
  MEMBER ("activations", fullest.activations_B),
  MEMBER ("buffers", fullest.buffers_B),
  MEMBER ("other", fullest.other_B),
  MEMBER ("allocated", fullest.allocated_B),
  MEMBER ("reserved", fullest.reserved_B),
  MEMBER ("capacity", fullest.capacity_B, .positive = TRUE),
  MEMBER ("host", fullest.host_B, .positive = TRUE),
  BASE_MEMBER_AS (BASE_MEMBER_BOOL, TrnResult, "fits", fullest.fits, .names = fits_names, .when = is_capacity_known),
  { .key = "largest", .kind = BASE_MEMBER_TEXT, .text = largest_part },
  MEMBER ("stage", fullest.stage),
  MEMBER ("rank", fullest.rank),
  MEMBER ("per_stage", memory, .sub = stage_members),
  MEMBER ("advice", memory_advice),
  BASE_MEMBER_END,
};

BaseTable *
rep_memory_table (const GArray *stages)
{
  return base_members_table (stage_members, stages);
}

/* Other stages that need as much as the one that is named, within a thousandth. */
static void
append_alike (const TrnResult *training, GString *out)
{
  const guint n = training->memory->len;
  g_autofree gboolean *are = g_new0 (gboolean, n);
  guint n_alike = 0;
  for (guint i = 0; i < n; i++) {
    const TrnMemory *memory = &g_array_index (training->memory, TrnMemory, i);
    are[i] = memory->stage != training->fullest.stage && memory->total_B >= 0.999 * training->fullest.total_B;
    n_alike += are[i] ? 1 : 0;
  }
  if (n_alike == 0)
    return;
  g_string_append (out, n_alike > 1 ? "; as much as stages " : "; as much as stage ");
  rep_append_stages (are, n, out);
}

void
rep_memory_text (const TrnResult *training, GString *out)
{
  if (training->memory == NULL)
    return;
  const TrnMemory *m = &training->fullest;
  double bytes;
  const char *largest = trn_memory_largest (m, &bytes);
  g_autofree char *most = rep_quantity (bytes, BASE_DIM_BYTES);
  rep_say (out, rep_training_members, training,
           "\n# memory: rank {memory_B.rank} of stage {memory_B.stage} needs {memory_B.total}");
  if (m->capacity_B > 0)
    rep_say (out, rep_training_members, training, " of {memory_B.capacity}; it ");
  if (m->capacity_B > 0)
    g_string_append (out, m->fits ? "fits" : "DOES NOT FIT");
  append_alike (training, out);
  g_string_append_printf (out, "\n# largest part: %s, %s", largest, most);
  rep_say (out, rep_training_members, training, "; the framework allocates {memory_B.allocated}\n");
  if (m->host_B > 0) {
    g_autofree char *host = rep_quantity (m->host_B, BASE_DIM_BYTES);
    g_string_append_printf (out, "# in host memory: %s for this rank\n", host);
  }
  if (training->memory_advice != NULL)
    g_string_append_printf (out, "# %s\n", training->memory_advice);
  rep_text (rep_memory_table (training->memory), out);
}
