/* A route as people read it: what each hop is specified for, what it reaches, and which one holds the others up. */
#include <math.h>

#include "json-private.h"
#include "path-private.h"

/* One hop. */
typedef struct {
  const char *from, *to, *link_class;
  double specified_Bps, reached_Bps, share, latency_s;
  guint32 alternatives;
  BaseSource source;
  gboolean slowest, has_rate; /* FALSE: a host memory for which the topology gives no rate */
} Hop;

static const BaseName bottleneck_names[] = { { "<- bottleneck", TRUE, NULL }, { "", FALSE, NULL }, { NULL, 0, NULL } };

BASE_MEMBER_WHEN (has_rate, Hop, it->has_rate)

#define HOP(...) BASE_MEMBER (Hop, __VA_ARGS__)
static const BaseMember members[] = {
  HOP ("from", from, .title = "from"),
  HOP ("to", to, .title = "to"),
  HOP ("link_class", link_class, .title = "link class"),
  HOP ("specified_Bps", specified_Bps, .title = "specified", .rank = 1),
  HOP ("reached_Bps", reached_Bps, .title = "reached"),
  HOP ("share", share, BASE_SHOWN ("bytes per byte", 1, "%.4g"), .rank = 2),
  HOP ("alternatives", alternatives, .title = "equal links", .rank = 2),
  HOP ("latency_s", latency_s, .title = "latency"),
  HOP ("source", source, .title = "source", .rank = 1, .names = base_source_names, .when = has_rate),
  BASE_MEMBER_AS (BASE_MEMBER_BOOL, Hop, "bottleneck", slowest, .title = "", .names = bottleneck_names),
  BASE_MEMBER_END,
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

static void
hop_clear (gpointer data)
{
  Hop *hop = data;
  g_free ((char *)hop->from);
  g_free ((char *)hop->to);
}

/* Returned: full, of Hop. */
static GArray *
hops_of (const Clu *clu, const CluRoute *route)
{
  GArray *hops = g_array_new (FALSE, FALSE, sizeof (Hop));
  double rate_Bps;
  CluRes slowest = bottleneck (clu, route, &rate_Bps);
  g_array_set_clear_func (hops, hop_clear);
  for (guint i = 0; route->hops != NULL && i < route->hops->len; i++) {
    const CluHop *hop = &g_array_index (route->hops, CluHop, i);
    CluLink link = { .rate_Bps = (double)NAN, .latency_s = (double)NAN };
    gboolean has_rate = hop->res != CLU_NONE;
    if (hop->link != CLU_NONE)
      clu_link (clu, hop->link, &link);
    Hop one = { .from = clu_dev_name (clu, hop->from),
                .to = clu_dev_name (clu, hop->to),
                .link_class = has_rate ? clu_resource_class (clu, hop->res) : "host_memory",
                .specified_Bps = link.rate_Bps,
                .reached_Bps = has_rate ? clu_resource_capacity (clu, hop->res) : (double)NAN,
                .share = hop->share,
                .latency_s = link.latency_s,
                .alternatives = hop->n_alternatives,
                .source = has_rate ? clu_resource_source (clu, hop->res) : BASE_SOURCE_ASSUMED,
                .slowest = has_rate && hop->res == slowest,
                .has_rate = has_rate };
    g_array_append_val (hops, one);
  }
  return hops;
}

void
rep_hops_text (const Clu *clu, const CluRoute *route, GString *out)
{
  g_autoptr (GArray) hops = hops_of (clu, route);
  rep_text (base_members_table (members, hops), out);
}

void
rep_hops_json (const Clu *clu, const CluRoute *route, JsonBuilder *json)
{
  g_autoptr (GArray) hops = hops_of (clu, route);
  json_builder_set_member_name (json, "hops");
  base_members_list (members, hops, json);
}

void
rep_path_text (const Clu *clu, CluDev from, CluDev to, const CluRoute *route, const char *header, GString *out)
{
  g_autofree char *a = clu_dev_name (clu, from), *b = clu_dev_name (clu, to);
  double rate_Bps;
  CluRes slowest = bottleneck (clu, route, &rate_Bps);
  if (slowest == CLU_NONE) {
    g_string_append_printf (out, "%s -> %s: the same device, no link is crossed.\n\n%s", a, b, header);
    return;
  }
  g_autofree char *rate = rep_quantity (rate_Bps, BASE_DIM_BANDWIDTH), *latency = rep_quantity (route->latency_s, BASE_DIM_TIME),
                  *name = clu_resource_name (clu, slowest);
  g_string_append_printf (out, "%s -> %s: %s, path class %s, %u hop%s.\n", a, b, clu_transport_name (route->transport),
                          clu_path_class_name (route->path_class), route->hops->len, route->hops->len == 1 ? "" : "s");
  g_string_append_printf (out, "Alone it carries %s with a hardware latency of %s.\nBottleneck: %s (%s).\n\n%s", rate, latency,
                          name, clu_resource_class (clu, slowest), header);
  rep_hops_text (clu, route, out);
}

BaseTable *
rep_path_table (const Clu *clu, const CluRoute *route)
{
  g_autoptr (GArray) hops = hops_of (clu, route);
  return base_members_table (members, hops);
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
