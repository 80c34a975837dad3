/* Several jobs at the same time: how long each takes beside the others, and alone. */
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

void
rep_jobs_text (const WrkResult *result, GString *out)
{
  g_autoptr (BaseTable) table = table_of (result);
  base_table_print_text (table, out);
}

void
rep_jobs_tsv (const WrkResult *result, GString *out)
{
  g_autoptr (BaseTable) table = table_of (result);
  base_table_print_tsv (table, out);
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
    json_builder_set_member_name (json, "alone");
    rep_run_json (job->alone, json);
    json_builder_end_object (json);
  }
  json_builder_end_array (json);
}
