#include "report/run.h"

#include "json-private.h"
#include "report/coll.h"
#include "run-private.h"

char *
rep_band (double value_s, double lo_s, double hi_s)
{
  g_autofree char *value = rep_quantity (value_s, BASE_DIM_TIME), *lo = rep_quantity (lo_s, BASE_DIM_TIME),
                  *hi = rep_quantity (hi_s, BASE_DIM_TIME);
  return lo_s == hi_s ? g_strdup (value) : g_strdup_printf ("%s (%s to %s)", value, lo, hi);
}

static const BaseColumn link_columns[] = {
  { "link_class", "link class", BASE_CELL_TEXT, 0, NULL },
  { "busiest", "busiest", BASE_CELL_TEXT, 0, NULL },
  { "utilisation", "its use (%)", BASE_CELL_NUMBER, 100, "%.1f" },
  { "bytes", "all bytes (MB)", BASE_CELL_NUMBER, 1e-6, "%.3f" },
  { NULL, NULL, BASE_CELL_TEXT, 0, NULL },
};

BaseTable *
rep_links_table (const GArray *links)
{
  BaseTable *table = base_table_new (link_columns);
  for (guint i = 0; links != NULL && i < links->len; i++) {
    const WrkLinkUse *use = &g_array_index (links, WrkLinkUse, i);
    base_table_row (table);
    base_table_text (table, "link_class", use->link_class);
    base_table_text (table, "busiest", use->busiest);
    base_table_number (table, "utilisation", use->utilisation);
    base_table_number (table, "bytes", use->bytes);
  }
  return table;
}

void
rep_links_json (const GArray *links, JsonBuilder *json)
{
  g_autoptr (BaseTable) table = rep_links_table (links);
  rep_json_table (json, "links", table);
}

void
rep_links_text (const GArray *links, GString *out)
{
  if (links == NULL || links->len == 0)
    return;
  g_autoptr (BaseTable) table = rep_links_table (links);
  g_string_append (out, "\n# what the links carried, by class\n");
  base_table_print_text (table, out);
}

static void
create_text (const char *who, const WrkResult *result, GString *out)
{
  if (result->communicators == 0)
    return;
  g_autofree char *time = rep_quantity (result->create_s, BASE_DIM_TIME);
  g_string_append_printf (out, "before%s%s: %u communicator%s made in %s (%s)\n", who != NULL ? " " : "", who != NULL ? who : "",
                          result->communicators, result->communicators == 1 ? "" : "s", time,
                          base_source_name (result->create_source));
}

void
rep_run_text (const WrkResult *result, GString *out)
{
  if (result->jobs != NULL) {
    rep_jobs_text (result, out);
    for (guint i = 0; i < result->jobs->len; i++) {
      const WrkJobResult *job = result->jobs->pdata[i];
      create_text (job->name, job->alone, out);
    }
    rep_links_text (result->links, out);
    return;
  }
  switch (result->kind) {
    case WRK_KIND_COLLECTIVE: {
      g_autoptr (BaseTable) table = rep_coll_table_new ();
      rep_coll_table_add (table, &result->coll);
      base_table_print_text (table, out);
      if (result->repeat > 1) {
        g_autofree char *total = rep_quantity (result->coll.time_s * result->repeat, BASE_DIM_TIME);
        g_string_append_printf (out, "%u times: %s\n", result->repeat, total);
      }
      break;
    }
    case WRK_KIND_TRANSFER:
      rep_transfer_text (&result->transfer, out);
      break;
    case WRK_KIND_TRAINING:
      rep_training_text (&result->training, out);
      break;
    case WRK_KIND_IO:
      rep_io_text (&result->io, out);
      break;
    case WRK_KIND_SERVING:
      g_return_if_reached (); /* refused when the scenario was loaded */
  }
  create_text (NULL, result, out);
  rep_links_text (result->links, out);
}

void
rep_run_tsv (const WrkResult *result, GString *out)
{
  if (result->jobs != NULL) {
    rep_jobs_tsv (result, out);
    return;
  }
  switch (result->kind) {
    case WRK_KIND_COLLECTIVE: {
      g_autoptr (BaseTable) table = rep_coll_table_new ();
      rep_coll_table_add (table, &result->coll);
      base_table_print_tsv (table, out);
      break;
    }
    case WRK_KIND_TRANSFER:
      rep_transfer_tsv (&result->transfer, out);
      break;
    case WRK_KIND_TRAINING:
      rep_training_tsv (&result->training, out);
      break;
    case WRK_KIND_IO:
      rep_io_tsv (&result->io, out);
      break;
    case WRK_KIND_SERVING:
      g_return_if_reached ();
  }
}

static void
build_workload (const WrkResult *result, JsonBuilder *json)
{
  switch (result->kind) {
    case WRK_KIND_COLLECTIVE:
      rep_coll_json_members (&result->coll, json);
      rep_json_integer (json, "repeat", result->repeat);
      rep_json_number (json, "total_time_s", result->coll.time_s * result->repeat);
      break;
    case WRK_KIND_TRANSFER:
      rep_transfer_json_members (&result->transfer, json);
      break;
    case WRK_KIND_TRAINING:
      rep_training_json_members (&result->training, json);
      break;
    case WRK_KIND_IO:
      rep_io_json_members (&result->io, json);
      break;
    case WRK_KIND_SERVING:
      break;
  }
}

void
rep_run_json_members (const WrkResult *result, JsonBuilder *json)
{
  rep_json_text (json, "kind", result->jobs != NULL ? "jobs" : base_name (wrk_kind_names, (int)result->kind));
  if (result->jobs != NULL)
    rep_jobs_json_members (result, json);
  else
    build_workload (result, json);
  if (result->communicators > 0) {
    rep_json_integer (json, "communicators", result->communicators);
    rep_json_number (json, "create_s", result->create_s);
  }
  rep_links_json (result->links, json);
  rep_json_integer (json, "events", (gint64)result->n_events);
}

void
rep_run_json (const WrkResult *result, JsonBuilder *json)
{
  json_builder_begin_object (json);
  rep_run_json_members (result, json);
  json_builder_end_object (json);
}
