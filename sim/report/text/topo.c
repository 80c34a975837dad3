#include "report/topo.h"

#include <string.h>

#include "collective/gpu.h"
#include "json-private.h"
#include "report/envelope.h"

static const char *
device_kind_name (CluDevKind kind)
{
  static const char *const names[CLU_DEV_N] = {
    [CLU_DEV_GPU] = "gpu",
    [CLU_DEV_NVSWITCH] = "nvswitch",
    [CLU_DEV_PCIE_SWITCH] = "pcie_switch",
    [CLU_DEV_SOCKET] = "socket",
    [CLU_DEV_MEMORY] = "memory",
    [CLU_DEV_NIC] = "nic",
    [CLU_DEV_NVME] = "nvme",
    [CLU_DEV_SWITCH] = "switch",
    [CLU_DEV_FRONTEND_NIC] = "frontend_nic",
    [CLU_DEV_MANAGEMENT_NIC] = "management_nic",
    [CLU_DEV_STORAGE] = "storage",
  };
  g_return_val_if_fail (kind < CLU_DEV_N, "?");
  return names[kind];
}

/* Links that a person would call the same: class, kinds of ends, rates, latency and provenance. */
typedef struct {
  CluDevKind a, b;
  CluLink like; /* the first of them */
  guint32 n;
} LinkGroup;

static gboolean
group_holds (const LinkGroup *group, const CluLink *link, CluDevKind a, CluDevKind b)
{
  const CluLink *like = &group->like;
  /* Two classes made in place for unnamed links are alike when their numbers and names are. */
  gboolean same_class = like->link_class == link->link_class || g_strcmp0 (like->link_class->name.v, link->link_class->name.v) == 0;
  return same_class && group->a == a && group->b == b && like->rate_Bps == link->rate_Bps && like->efficiency == link->efficiency &&
         like->sm_efficiency == link->sm_efficiency && like->latency_s == link->latency_s && like->duplex == link->duplex &&
         like->source == link->source;
}

static GArray *
link_groups (const Clu *clu)
{
  GArray *groups = g_array_new (FALSE, TRUE, sizeof (LinkGroup));
  for (CluLinkId id = 0; id < clu_n_links (clu); id++) {
    CluLink link;
    clu_link (clu, id, &link);
    CluDevKind a = clu_dev_kind (clu, link.a), b = clu_dev_kind (clu, link.b);
    LinkGroup *group = NULL;
    for (guint i = 0; i < groups->len && group == NULL; i++)
      if (group_holds (&g_array_index (groups, LinkGroup, i), &link, a, b))
        group = &g_array_index (groups, LinkGroup, i);
    if (group == NULL) {
      LinkGroup fresh = { .a = a, .b = b, .like = link };
      g_array_append_val (groups, fresh);
      group = &g_array_index (groups, LinkGroup, groups->len - 1);
    }
    group->n++;
  }
  return groups;
}

BASE_MEMBER_NUMBER_OF (reached_Bps, LinkGroup, it->like.rate_Bps * it->like.efficiency)
BASE_MEMBER_NUMBER_OF (by_kernels_Bps, LinkGroup, it->like.rate_Bps * it->like.sm_efficiency)

#define GROUP(...) BASE_MEMBER (LinkGroup, __VA_ARGS__)
static const BaseMember link_members[] = {
  BASE_MEMBER_BY_HAND (BASE_MEMBER_TEXT, "link_class", .title = "link class"),
  BASE_MEMBER_BY_HAND (BASE_MEMBER_TEXT, "between", .title = "between"),
  GROUP ("count", n, .title = "count"),
  GROUP ("lanes", like.lanes, BASE_SHOWN ("lanes", 1, "%g"), .rank = 3),
  GROUP ("specified_Bps", like.rate_Bps, .title = "specified"),
  { .key = "reached_Bps", .number = reached_Bps, .title = "reached" },
  { .key = "reached_by_kernels_Bps", .number = by_kernels_Bps, .title = "by kernels", .rank = 2 },
  GROUP ("duplex", like.duplex, BASE_SHOWN ("duplex", 1, "%.3g"), .rank = 2),
  GROUP ("latency_s", like.latency_s, .title = "latency"),
  GROUP ("source", like.source, .title = "source", .rank = 1, .names = base_source_names),
  BASE_MEMBER_END,
};

BaseTable *
rep_topo_table (const Clu *clu)
{
  BaseTable *table = base_members_table (link_members, NULL);
  g_autoptr (GArray) groups = link_groups (clu);
  for (guint i = 0; i < groups->len; i++) {
    const LinkGroup *group = &g_array_index (groups, LinkGroup, i);
    g_autofree char *between = g_strdup_printf ("%s - %s", device_kind_name (group->a), device_kind_name (group->b));
    base_members_add (table, link_members, group);
    base_table_text (table, "link_class", clu_resource_class (clu, group->like.forward));
    base_table_text (table, "between", between);
  }
  return table;
}

static void
count_devices (const Clu *clu, guint32 *n)
{
  memset (n, 0, CLU_DEV_N * sizeof *n);
  for (CluDev dev = 0; dev < clu_n_devices (clu); dev++)
    n[clu_dev_kind (clu, dev)]++;
}

/* " 8 NVIDIA ConnectX-7"; " no NIC". */
static void
append_parts (GString *out, guint32 n, const BaseStr *product, const BaseStr *name, const char *kind)
{
  const char *what = product != NULL && product->v != NULL ? product->v : name != NULL && name->v != NULL ? name->v : NULL;
  if (n == 0)
    g_string_append_printf (out, " no %s", kind);
  else if (what != NULL)
    g_string_append_printf (out, " %u x %s", n, what);
  else
    g_string_append_printf (out, " %u %s%s", n, kind, n == 1 ? "" : "s");
}

/* What the scale-up links of all GPUs are specified for, both ways together; 0: they have none. */
static double
scale_up_Bps (const Clu *clu)
{
  double sum_Bps = 0;
  for (guint32 node = 0; node < clu_n_nodes (clu); node++) {
    const CluGpuSpec *gpu = clu_gpu_spec (clu, node);
    const CluNvlinkSpec *nv = &clu_node_spec (clu, node)->nvlink;
    if (gpu == NULL || nv->kind.v == CLU_SCALE_UP_NONE)
      continue;
    CluLinkSpec link = gpu->scale_up;
    link.lanes = nv->lanes_used.set ? nv->lanes_used : nv->link.lanes.set ? nv->link.lanes : link.lanes;
    sum_Bps += 2.0 * clu_gpus_per_node (clu, node) * col_link_rate_Bps (&link);
  }
  return sum_Bps;
}

static void
append_answer (const Clu *clu, GString *out)
{
  const CluGpuSpec *gpu = clu_gpu_spec (clu, 0);
  const CluNicSpec *nic = clu_nic_spec (clu, 0);
  g_autofree char *bisection = rep_quantity (clu_bisection_Bps (clu), BASE_DIM_BANDWIDTH);
  g_string_append_printf (out, "%s: %u GPU%s on %u node%s; bisection %s one way, half of the GPUs to the rest.\n", clu_name (clu),
                          clu_n_gpus (clu), clu_n_gpus (clu) == 1 ? "" : "s", clu_n_nodes (clu), clu_n_nodes (clu) == 1 ? "" : "s",
                          bisection);
  if (scale_up_Bps (clu) > 0) {
    g_autofree char *all = rep_quantity (scale_up_Bps (clu), BASE_DIM_BANDWIDTH);
    g_string_append_printf (out, "The GPUs' scale-up links carry %s in all, both ways together, as specified.\n", all);
  }
  g_string_append (out, clu_n_nodes (clu) == 1 ? "The node has" : "The first node has");
  append_parts (out, clu_gpus_per_node (clu, 0), gpu != NULL ? &gpu->product : NULL, gpu != NULL ? &gpu->name : NULL, "GPU");
  g_string_append (out, " and");
  append_parts (out, clu_node_n (clu, 0, CLU_DEV_NIC), nic != NULL ? &nic->product : NULL, nic != NULL ? &nic->name : NULL, "NIC");
  g_string_append (out, ".\n\n");
}

void
rep_topo_text (const Clu *clu, const char *header, GString *out)
{
  append_answer (clu, out);
  g_string_append (out, header);
  if (clu_spec (clu)->description.v != NULL)
    g_string_append_printf (out, "# %s\n", clu_spec (clu)->description.v);
  guint32 n[CLU_DEV_N];
  count_devices (clu, n);
  g_string_append (out, "devices:");
  const char *separator = " ";
  for (int kind = 0; kind < CLU_DEV_N; kind++)
    if (n[kind] > 0) {
      g_string_append_printf (out, "%s%u %s", separator, n[kind], device_kind_name ((CluDevKind)kind));
      separator = ", ";
    }
  g_string_append_c (out, '\n');
  g_string_append (out, "\n# links by class; rates are one way\n");
  rep_text (rep_topo_table (clu), out);
}

void
rep_topo_json (const Clu *clu, JsonBuilder *json)
{
  const CluGpuSpec *gpu = clu_gpu_spec (clu, 0);
  const CluNicSpec *nic = clu_nic_spec (clu, 0);
  json_builder_begin_object (json);
  rep_json_text (json, "topology", clu_name (clu));
  rep_json_text (json, "description", clu_spec (clu)->description.v);
  rep_json_integer (json, "nodes", clu_n_nodes (clu));
  rep_json_integer (json, "gpus", clu_n_gpus (clu));
  rep_json_integer (json, "gpus_per_node", clu_gpus_per_node (clu, 0));
  rep_json_text (json, "gpu", gpu != NULL ? gpu->name.v : NULL);
  rep_json_text (json, "nic", nic != NULL ? nic->name.v : NULL);
  rep_json_number (json, "bisection_Bps", clu_bisection_Bps (clu));
  rep_json_number (json, "scale_up_Bps", scale_up_Bps (clu));

  guint32 n[CLU_DEV_N];
  count_devices (clu, n);
  json_builder_set_member_name (json, "devices");
  json_builder_begin_object (json);
  for (int kind = 0; kind < CLU_DEV_N; kind++)
    rep_json_integer (json, device_kind_name ((CluDevKind)kind), n[kind]);
  json_builder_end_object (json);

  unsigned sources[BASE_SOURCE_N];
  rep_count_sources (clu, sources);
  json_builder_set_member_name (json, "link_constants");
  json_builder_begin_object (json);
  for (int s = 0; s < BASE_SOURCE_N; s++)
    rep_json_integer (json, base_source_name ((BaseSource)s), sources[s]);
  json_builder_end_object (json);

  rep_json_table (json, "links", rep_topo_table (clu));
  json_builder_end_object (json);
}
