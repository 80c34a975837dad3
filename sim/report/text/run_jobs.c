/* Several jobs at the same time: how long each takes beside the others, and alone. */
#include <math.h>

#include "json-private.h"
#include "report/run.h"
#include "run-private.h"

static const BaseColumn columns[] = {
  { "name", "job", BASE_CELL_TEXT, 0, NULL },
  { "kind", NULL, BASE_CELL_TEXT, 0, NULL },
  { "nodes", NULL, BASE_CELL_TEXT, 0, NULL },
  { "time_s", "time (us)", BASE_CELL_NUMBER, 1e6, "%.2f" },
  { "alone_s", "alone (us)", BASE_CELL_NUMBER, 1e6, "%.2f" },
  { "slowdown", "slowdown", BASE_CELL_NUMBER, 0, "%.3f" },
  { "bound_by", "alone bound by", BASE_CELL_TEXT, 0, NULL },
  { NULL, NULL, BASE_CELL_TEXT, 0, NULL },
};

static BaseTable *
table_of (const WrkResult *result)
{
  BaseTable *table = base_table_new (columns);
  for (guint i = 0; i < result->jobs->len; i++) {
    const WrkJobResult *job = result->jobs->pdata[i];
    base_table_row (table);
    base_table_text (table, "name", job->name);
    base_table_text (table, "kind", base_name (wrk_kind_names, (int)job->alone->kind));
    base_table_text (table, "nodes", job->nodes);
    base_table_number (table, "time_s", job->time_s);
    base_table_number (table, "alone_s", job->alone_s);
    if (job->alone_s > 0)
      base_table_number (table, "slowdown", job->time_s / job->alone_s);
    base_table_text (table, "bound_by", wrk_result_bound_by (job->alone));
  }
  return table;
}

/* What a training job's steps came to, behind the table. */
static void
rounds_text (const WrkJobResult *job, GString *out)
{
  const WrkRoundsResult *now = &job->rounds, *alone = &job->rounds_alone;
  if (now->steps == 0)
    return;
  g_autofree char *each = rep_quantity (job->time_s / now->steps, BASE_DIM_TIME),
                  *each_alone = rep_quantity (job->alone_s / now->steps, BASE_DIM_TIME),
                  *data = rep_quantity (now->data_s, BASE_DIM_TIME), *data_alone = rep_quantity (alone->data_s, BASE_DIM_TIME),
                  *stall = rep_quantity (now->stall_s, BASE_DIM_TIME), *stall_alone = rep_quantity (alone->stall_s, BASE_DIM_TIME),
                  *drain = rep_quantity (now->drain_s, BASE_DIM_TIME), *drain_alone = rep_quantity (alone->drain_s, BASE_DIM_TIME);
  g_string_append_printf (out, "%s: %u step%s, %s each (alone %s)", job->name, now->steps, now->steps == 1 ? "" : "s", each,
                          each_alone);
  if (now->data_s > 0 || alone->data_s > 0)
    g_string_append_printf (out, "; waits %s for samples (alone %s)", data, data_alone);
  if (now->saves > 0)
    g_string_append_printf (out, "; %u checkpoint%s, %s standing still (alone %s)", now->saves, now->saves == 1 ? "" : "s", stall,
                            stall_alone);
  if (now->drained > 0)
    g_string_append_printf (out, ", drained in %s (alone %s)", drain, drain_alone);
  g_string_append_c (out, '\n');
}

void
rep_jobs_text (const WrkResult *result, GString *out)
{
  g_autoptr (BaseTable) table = table_of (result);
  base_table_print_text (table, out);
  for (guint i = 0; i < result->jobs->len; i++)
    rounds_text (result->jobs->pdata[i], out);
}

void
rep_jobs_tsv (const WrkResult *result, GString *out)
{
  g_autoptr (BaseTable) table = table_of (result);
  base_table_print_tsv (table, out);
}

static void
rounds_json (const char *name, const WrkRoundsResult *rounds, JsonBuilder *json)
{
  json_builder_set_member_name (json, name);
  json_builder_begin_object (json);
  rep_json_integer (json, "steps", rounds->steps);
  rep_json_number (json, "compute_s", rounds->compute_s);
  rep_json_number (json, "data_stall_s", rounds->data_s);
  rep_json_number (json, "checkpoint_stall_s", rounds->stall_s);
  rep_json_integer (json, "checkpoints", rounds->saves);
  rep_json_number (json, "drain_s", rounds->drained > 0 ? rounds->drain_s : (double)NAN);
  json_builder_end_object (json);
}

void
rep_jobs_json_members (const WrkResult *result, JsonBuilder *json)
{
  g_autoptr (BaseTable) table = table_of (result);
  json_builder_set_member_name (json, "jobs");
  json_builder_begin_array (json);
  for (guint i = 0; i < result->jobs->len; i++) {
    const WrkJobResult *job = result->jobs->pdata[i];
    json_builder_begin_object (json);
    base_table_build_members (table, i, json);
    if (job->rounds.steps > 0) {
      rounds_json ("rounds", &job->rounds, json);
      rounds_json ("rounds_alone", &job->rounds_alone, json);
    }
    json_builder_set_member_name (json, "alone");
    rep_run_json (job->alone, json);
    json_builder_end_object (json);
  }
  json_builder_end_array (json);
}
