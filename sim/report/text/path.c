/* A route as people read it: what each hop is specified for, what it reaches, and which one holds the others up. */
#include <math.h>

#include "base/table.h"
#include "json-private.h"
#include "path-private.h"

static const BaseColumn columns[] = {
  { "from", "from", BASE_CELL_TEXT, 0, NULL },
  { "to", "to", BASE_CELL_TEXT, 0, NULL },
  { "link_class", "link class", BASE_CELL_TEXT, 0, NULL },
  { "specified_Bps", "specified (GB/s)", BASE_CELL_NUMBER, 1e-9, "%.2f" },
  { "reached_Bps", "reached (GB/s)", BASE_CELL_NUMBER, 1e-9, "%.2f" },
  { "share", "bytes per byte", BASE_CELL_NUMBER, 0, "%.4g" },
  { "alternatives", "equal links", BASE_CELL_INTEGER, 0, NULL },
  { "latency_s", "latency (us)", BASE_CELL_NUMBER, 1e6, "%.3f" },
  { "source", "source", BASE_CELL_TEXT, 0, NULL },
  { "bottleneck", "", BASE_CELL_TEXT, 0, NULL },
  { NULL, NULL, BASE_CELL_TEXT, 0, NULL },
};

/* The resource that carries least per byte of the route; CLU_NONE when nothing is crossed. */
static CluRes
bottleneck (const Clu *clu, const CluRoute *route, double *rate_Bps)
{
  *rate_Bps = (double)INFINITY;
  if (route->uses == NULL || route->uses->len == 0)
    return CLU_NONE;
  guint32 i = clu_route_bottleneck (clu, route, rate_Bps);
  return g_array_index (route->uses, CluUse, i).res;
}

static BaseTable *
hops_table (const Clu *clu, const CluRoute *route)
{
  BaseTable *table = base_table_new (columns);
  double rate_Bps;
  CluRes slowest = bottleneck (clu, route, &rate_Bps);
  for (guint i = 0; route->hops != NULL && i < route->hops->len; i++) {
    const CluHop *hop = &g_array_index (route->hops, CluHop, i);
    g_autofree char *from = clu_dev_name (clu, hop->from), *to = clu_dev_name (clu, hop->to);
    base_table_row (table);
    base_table_text (table, "from", from);
    base_table_text (table, "to", to);
    base_table_text (table, "link_class", clu_resource_class (clu, hop->res));
    if (hop->link != CLU_NONE) {
      CluLink link;
      clu_link (clu, hop->link, &link);
      base_table_number (table, "specified_Bps", link.rate_Bps);
      base_table_number (table, "latency_s", link.latency_s);
    }
    base_table_number (table, "reached_Bps", clu_resource_capacity (clu, hop->res));
    base_table_number (table, "share", hop->share);
    base_table_integer (table, "alternatives", hop->n_alternatives);
    base_table_text (table, "source", base_source_name (clu_resource_source (clu, hop->res)));
    base_table_text (table, "bottleneck", hop->res == slowest ? "<- bottleneck" : "");
  }
  return table;
}

void
rep_hops_text (const Clu *clu, const CluRoute *route, GString *out)
{
  rep_text (hops_table (clu, route), out);
}

void
rep_hops_json (const Clu *clu, const CluRoute *route, JsonBuilder *json)
{
  double rate_Bps;
  CluRes slowest = bottleneck (clu, route, &rate_Bps);
  json_builder_set_member_name (json, "hops");
  json_builder_begin_array (json);
  for (guint i = 0; route->hops != NULL && i < route->hops->len; i++) {
    const CluHop *hop = &g_array_index (route->hops, CluHop, i);
    g_autofree char *from = clu_dev_name (clu, hop->from), *to = clu_dev_name (clu, hop->to);
    CluLink link = { .rate_Bps = (double)NAN, .latency_s = (double)NAN };
    if (hop->link != CLU_NONE)
      clu_link (clu, hop->link, &link);
    json_builder_begin_object (json);
    rep_json_text (json, "from", from);
    rep_json_text (json, "to", to);
    rep_json_text (json, "link_class", clu_resource_class (clu, hop->res));
    rep_json_number (json, "specified_Bps", link.rate_Bps);
    rep_json_number (json, "reached_Bps", clu_resource_capacity (clu, hop->res));
    rep_json_number (json, "share", hop->share);
    rep_json_integer (json, "alternatives", hop->n_alternatives);
    rep_json_number (json, "latency_s", link.latency_s);
    rep_json_text (json, "source", base_source_name (clu_resource_source (clu, hop->res)));
    json_builder_set_member_name (json, "bottleneck");
    json_builder_add_boolean_value (json, hop->res == slowest);
    json_builder_end_object (json);
  }
  json_builder_end_array (json);
}

void
rep_path_text (const Clu *clu, CluDev from, CluDev to, const CluRoute *route, GString *out)
{
  g_autofree char *a = clu_dev_name (clu, from), *b = clu_dev_name (clu, to);
  double rate_Bps;
  CluRes slowest = bottleneck (clu, route, &rate_Bps);
  if (slowest == CLU_NONE) {
    g_string_append_printf (out, "%s -> %s: nothing is crossed\n", a, b);
    return;
  }
  g_autofree char *rate = rep_quantity (rate_Bps, BASE_DIM_BANDWIDTH), *latency = rep_quantity (route->latency_s, BASE_DIM_TIME),
                  *name = clu_resource_name (clu, slowest);
  g_string_append_printf (out, "%s -> %s: %s, path class %s, %u hop%s\n", a, b, clu_transport_name (route->transport),
                          clu_path_class_name (route->path_class), route->hops->len, route->hops->len == 1 ? "" : "s");
  g_string_append_printf (out, "carries %s alone, latency of the hardware %s, bottleneck %s (%s)\n\n", rate, latency, name,
                          clu_resource_class (clu, slowest));
  rep_hops_text (clu, route, out);
}

void
rep_path_tsv (const Clu *clu, const CluRoute *route, GString *out)
{
  rep_tsv (hops_table (clu, route), out);
}

void
rep_path_json (const Clu *clu, CluDev from, CluDev to, const CluRoute *route, JsonBuilder *json)
{
  g_autofree char *a = clu_dev_name (clu, from), *b = clu_dev_name (clu, to);
  double rate_Bps;
  CluRes slowest = bottleneck (clu, route, &rate_Bps);
  g_autofree char *name = slowest != CLU_NONE ? clu_resource_name (clu, slowest) : NULL;
  json_builder_begin_object (json);
  rep_json_text (json, "from", a);
  rep_json_text (json, "to", b);
  rep_json_text (json, "transport", slowest != CLU_NONE ? clu_transport_name (route->transport) : NULL);
  rep_json_text (json, "path_class", clu_path_class_name (route->path_class));
  rep_json_number (json, "rate_Bps", rate_Bps);
  rep_json_number (json, "latency_s", slowest != CLU_NONE ? route->latency_s : 0);
  rep_json_text (json, "bottleneck", name);
  rep_json_text (json, "link_class", slowest != CLU_NONE ? clu_resource_class (clu, slowest) : NULL);
  rep_hops_json (clu, route, json);
  json_builder_end_object (json);
}
