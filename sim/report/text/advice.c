#include "report/advice.h"

#include <math.h>

#include "json-private.h"

static void
write_sets (const void *of, JsonBuilder *json)
{
  const GPtrArray *sets = ((const StdAdvice *)of)->change->sets;
  json_builder_begin_array (json);
  for (guint k = 0; k < sets->len; k++)
    json_builder_add_string_value (json, sets->pdata[k]);
  json_builder_end_array (json);
}

BASE_MEMBER_WHEN (can_run, StdAdvice, it->reason == NULL)
BASE_MEMBER_TEXT_OF (kind, StdAdvice, trn_change_kind_names[it->change->kind])

BASE_MEMBER_WHEN (trains, StdAdvice, it->reason == NULL && !it->serving)
BASE_MEMBER_WHEN (serves, StdAdvice, it->reason == NULL && it->serving)

#define ADVICE(...) BASE_MEMBER (StdAdvice, __VA_ARGS__)
static const BaseMember members[] = {
  BASE_MEMBER_THROUGH (StdAdvice, change, TrnChange, "change", what, .title = "change"),
  { .key = "kind", .text = kind, .no_column = TRUE },
  { .key = "set", .kind = BASE_MEMBER_WRITTEN, .write = write_sets },
  ADVICE ("step_time_s", step_time_s, .title = "step", .rank = 1, .when = trains),
  ADVICE ("gain", gain, BASE_SHOWN ("gain (%)", 100, "%+.1f"), .when = can_run),
  ADVICE ("ttft_s", ttft_s, BASE_SHOWN ("TTFT (ms)", 1e3, "%.4g"), .when = serves, .no_column = TRUE),
  ADVICE ("tpot_s", tpot_s, BASE_SHOWN ("TPOT (ms)", 1e3, "%.4g"), .when = serves, .no_column = TRUE),
  ADVICE ("output_tokens_per_s_per_gpu", tokens_per_s_gpu, .when = serves, .no_column = TRUE),
  ADVICE ("gpus", gpus, .when = serves, .no_column = TRUE),
  ADVICE ("reason", reason, .no_column = TRUE),
  BASE_MEMBER_BY_HAND (BASE_MEMBER_TEXT, "set", .title = "how"),
  BASE_MEMBER_END,
};

/* Of replicas that serve; `how` may be long: text has it in a line of its own. */
#define SERVING_ADVICE                                                                                               \
  BASE_MEMBER_THROUGH (StdAdvice, change, TrnChange, "change", what, .title = "change"),                             \
      ADVICE ("gain", gain, BASE_SHOWN ("gain (%)", 100, "%+.1f")),                                                  \
      ADVICE ("ttft_s", ttft_s, BASE_SHOWN ("TTFT (ms)", 1e3, "%.4g")),                                              \
      ADVICE ("tpot_s", tpot_s, BASE_SHOWN ("TPOT (ms)", 1e3, "%.4g")),                                              \
      ADVICE ("output_tokens_per_s_per_gpu", tokens_per_s_gpu, BASE_SHOWN ("tokens/s a GPU", 1, "%.5g"), .rank = 2), \
      ADVICE ("gpus", gpus, BASE_SHOWN ("GPUs", 1, "%.0f"), .rank = 3)
static const BaseMember serving_members[] = { SERVING_ADVICE, BASE_MEMBER_BY_HAND (BASE_MEMBER_TEXT, "set", .title = "how"),
                                              BASE_MEMBER_END };
static const BaseMember serving_text_members[] = { SERVING_ADVICE, BASE_MEMBER_END };

/* Whether it is of replicas that serve: by the first that could run. */
static gboolean
is_serving (const GArray *advice)
{
  return advice->len > 0 && g_array_index (advice, StdAdvice, 0).serving;
}

char *
rep_advice_title (const GArray *advice, TrnChangeKind kind)
{
  static const char *const titles[TRN_CHANGE_KINDS] = {
    [TRN_CHANGE_HARDWARE] = "changes to hardware",
    [TRN_CHANGE_SOFTWARE] = "changes to software and parallel layout",
  };
  if (kind == TRN_CHANGE_SENSITIVITY)
    return g_strdup ("sensitivity to assumptions");
  return g_strdup_printf ("%s, each simulated alone; gain in %s", titles[kind],
                          advice->len > 0 ? g_array_index (advice, StdAdvice, 0).measure : "tokens/s");
}

/* As it would be typed. Returned: full. */
static char *
how (const TrnChange *change)
{
  GString *text = g_string_new (change->no_interference ? "--no-interference" : NULL);
  for (guint i = 0; i < change->sets->len; i++) {
    g_autofree char *quoted = g_shell_quote (change->sets->pdata[i]);
    g_string_append_printf (text, "%s--set %s", text->len > 0 ? " " : "", quoted);
  }
  return g_string_free (text, FALSE);
}

void
rep_advice_json (const GArray *advice, JsonBuilder *json)
{
  json_builder_set_member_name (json, "advice");
  base_members_list (members, advice, json);
}

static BaseTable *
table_of (const GArray *advice, TrnChangeKind kind, const BaseMember *shown)
{
  BaseTable *table = base_members_table (shown, NULL);
  for (guint i = 0; i < advice->len; i++) {
    const StdAdvice *one = &g_array_index (advice, StdAdvice, i);
    if (one->change->kind != kind || one->reason != NULL)
      continue;
    base_members_add (table, shown, one);
    if (shown == serving_text_members)
      continue;
    g_autofree char *set = how (one->change);
    base_table_text (table, "set", set);
  }
  return table;
}

/* Returned: full; without rows where nothing of that kind can run. */
BaseTable *
rep_advice_table (const GArray *advice, TrnChangeKind kind)
{
  return table_of (advice, kind, is_serving (advice) ? serving_members : members);
}

/* Each row with how it is asked for below it. */
static void
append_rows (const GArray *advice, TrnChangeKind kind, const char *rows, GString *out)
{
  g_auto (GStrv) lines = g_strsplit (rows, "\n", -1);
  char **line = lines;
  g_string_append_printf (out, "%s\n", *line++);
  for (guint i = 0; i < advice->len && *line != NULL; i++) {
    const StdAdvice *one = &g_array_index (advice, StdAdvice, i);
    if (one->change->kind != kind || one->reason != NULL)
      continue;
    g_autofree char *set = how (one->change);
    g_string_append_printf (out, "%s\n    %s\n", *line++, set);
  }
}

static void
append_kind (const GArray *advice, TrnChangeKind kind, GString *out)
{
  const gboolean serving = is_serving (advice);
  g_autoptr (BaseTable) table = table_of (advice, kind, serving ? serving_text_members : members);
  g_autoptr (GString) rows = g_string_new (NULL);
  if (base_table_n_rows (table) == 0)
    return;
  g_autofree char *title = rep_advice_title (advice, kind);
  g_string_append_printf (out, "\n# %s\n", title);
  base_table_print_text (table, serving ? rows : out);
  if (serving)
    append_rows (advice, kind, rows->str, out);
}

void
rep_advice_answer (const GArray *advice, GString *out)
{
  const StdAdvice *best = NULL;
  for (guint i = 0; i < advice->len; i++) {
    const StdAdvice *one = &g_array_index (advice, StdAdvice, i);
    if (one->reason == NULL && one->change->kind == TRN_CHANGE_SOFTWARE && one->gain > (best != NULL ? best->gain : 0))
      best = one;
  }
  g_autofree char *set = best != NULL ? how (best->change) : NULL;
  if (best != NULL)
    g_string_append_printf (out, "Best change on the same hardware: %s, %+.1f %% %s (%s).\n", best->change->what, best->gain * 100,
                            best->measure, set);
  else
    g_string_append (out, "No simulated change of software or parallel layout is better.\n");
}

void
rep_advice_text (const GArray *advice, gboolean all, GString *out)
{
  for (TrnChangeKind kind = 0; kind < TRN_CHANGE_KINDS; kind++)
    append_kind (advice, kind, out);
  guint refused = 0;
  for (guint i = 0; i < advice->len; i++) {
    const StdAdvice *one = &g_array_index (advice, StdAdvice, i);
    if (one->reason == NULL)
      continue;
    if (all)
      g_string_append_printf (out, "%s# cannot run: %s: %s\n", refused == 0 ? "\n" : "", one->change->what, one->reason);
    refused++;
  }
  if (refused > 0 && !all)
    g_string_append_printf (out, "\n# %u other change%s cannot run here; --verbose lists the reasons\n", refused,
                            refused == 1 ? "" : "s");
}
