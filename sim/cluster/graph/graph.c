/* Questions about devices, links and resources by number. Numbers are dense and in this order: the nodes', then what lies
 * between them (domain switches, fabric, front-end, management, storage). */
#include "cluster/background.h"
#include "graph/clu-private.h"

#include <stddef.h>

/* A node's first number of one kind, whose offset in CluNode is `at`. */
static inline guint32
first_number (const Clu *clu, guint32 node, gsize at)
{
  return *(const guint32 *)(const void *)((const char *)&clu->node[node] + at);
}

/* The node that bears a number: the last one whose first number is not above it, since nodes without any (no NICs) share theirs
 * with the next. CLU_NONE for what lies between nodes. */
static inline guint32
node_of (const Clu *clu, guint32 number, gsize at)
{
  guint32 low = 0, high = clu->n_nodes;
  if (number >= first_number (clu, high, at))
    return CLU_NONE;
  if (clu->uniform)
    return number / first_number (clu, 1, at);
  while (high - low > 1) {
    guint32 middle = low + (high - low) / 2;
    if (first_number (clu, middle, at) <= number)
      low = middle;
    else
      high = middle;
  }
  return low;
}

guint32
clu_node_of_dev (const Clu *clu, CluDev dev)
{
  return node_of (clu, dev, offsetof (CluNode, dev));
}

guint32
clu_node_of_gpu (const Clu *clu, guint32 gpu)
{
  return node_of (clu, gpu, offsetof (CluNode, gpu));
}

guint32
clu_node_of_nic (const Clu *clu, guint32 nic)
{
  return node_of (clu, nic, offsetof (CluNode, nic));
}

/* --- What there is -------------------------------------------------------------------------------------------------------- */

const CluSpec *
clu_spec (const Clu *clu)
{
  return &clu->spec;
}

const char *
clu_name (const Clu *clu)
{
  return clu->spec.name.v;
}

guint32
clu_n_nodes (const Clu *clu)
{
  return clu->n_nodes;
}

guint32
clu_n_gpus (const Clu *clu)
{
  return clu->n_gpus;
}

guint32
clu_gpus_per_node (const Clu *clu, guint32 node)
{
  g_return_val_if_fail (node < clu->n_nodes, 0);
  return clu_node_template (clu, node)->n[CLU_DEV_GPU];
}

const CluNodeSpec *
clu_node_spec (const Clu *clu, guint32 node)
{
  g_return_val_if_fail (node < clu->n_nodes, NULL);
  return &clu_node_template (clu, node)->spec;
}

const CluGpuSpec *
clu_gpu_spec (const Clu *clu, guint32 node)
{
  g_return_val_if_fail (node < clu->n_nodes, NULL);
  return clu_node_template (clu, node)->spec.gpus.type.value;
}

const CluNicSpec *
clu_nic_spec (const Clu *clu, guint32 node)
{
  g_return_val_if_fail (node < clu->n_nodes, NULL);
  const CluTemplate *t = clu_node_template (clu, node);
  return t->n[CLU_DEV_NIC] > 0 ? t->spec.nics.type.value : NULL;
}

guint32
clu_nics_of_node (const Clu *clu, double *rate_Bps)
{
  const CluTemplate *t = clu_node_template (clu, 0);
  *rate_Bps = t->n[CLU_DEV_NIC] > 0 ? t->nic_wire.rate_Bps : 0;
  return t->n[CLU_DEV_NIC];
}

guint32
clu_n_kinds (const Clu *clu)
{
  return clu->templates->len;
}

guint32
clu_kind_of_node (const Clu *clu, guint32 node)
{
  g_return_val_if_fail (node < clu->n_nodes, 0);
  return clu->node[node].kind;
}

guint32
clu_domain_of_node (const Clu *clu, guint32 node)
{
  g_return_val_if_fail (node < clu->n_nodes, 0);
  return node / clu->domain_nodes;
}

gboolean
clu_domain_has_sharp (const Clu *clu)
{
  return clu->spec.node.nvlink.sharp.v;
}

gboolean
clu_fabric_has_sharp (const Clu *clu)
{
  const CluFabricSpec *fabric = &clu->spec.fabric;
  const CluSharpSpec *type = clu_fabric_sharp (clu);
  if (clu->fabric.ops == NULL)
    return FALSE;
  if (fabric->sharp.offered.set)
    return fabric->sharp.offered.v;
  return type != NULL && (type->offered.set ? type->offered.v : type->head.set);
}

const CluSharpSpec *
clu_fabric_sharp (const Clu *clu)
{
  const CluSwitchSpec *type = clu->spec.fabric.leaf.type.value;
  return type != NULL ? &type->sharp : NULL;
}

/* --- Devices --------------------------------------------------------------------------------------------------------------- */

CluDev
clu_gpu (const Clu *clu, guint32 gpu)
{
  g_return_val_if_fail (gpu < clu->n_gpus, CLU_NONE);
  guint32 node = clu_node_of_gpu (clu, gpu);
  return clu->node[node].dev + clu_node_template (clu, node)->first[CLU_DEV_GPU] + (gpu - clu->node[node].gpu);
}

CluDev
clu_node_device (const Clu *clu, guint32 node, CluDevKind kind, guint32 index)
{
  g_return_val_if_fail (node < clu->n_nodes && (unsigned)kind < CLU_DEV_N, CLU_NONE);
  const CluTemplate *t = clu_node_template (clu, node);
  if (kind == CLU_DEV_NVSWITCH && clu->wide)
    return index == 0 && t->port != NULL ? clu->domain_dev + node / clu->domain_nodes : CLU_NONE;
  return index < t->n[kind] ? clu->node[node].dev + t->first[kind] + index : CLU_NONE;
}

guint32
clu_node_n (const Clu *clu, guint32 node, CluDevKind kind)
{
  g_return_val_if_fail (node < clu->n_nodes && (unsigned)kind < CLU_DEV_N, 0);
  const CluTemplate *t = clu_node_template (clu, node);
  return kind == CLU_DEV_NVSWITCH && clu->wide ? (t->port != NULL ? 1 : 0) : t->n[kind];
}

guint32
clu_n_devices (const Clu *clu)
{
  return clu->n_devices;
}

const CluTierNode *
clu_tier_of_dev (const Clu *clu, CluDev dev)
{
  guint32 first = clu->management_dev + 1;
  return dev >= first && dev - first < clu->n_tiers ? &clu->tier[dev - first] : NULL;
}

CluDevKind
clu_dev_kind (const Clu *clu, CluDev dev)
{
  g_return_val_if_fail (dev < clu->n_devices, CLU_DEV_N);
  guint32 node = clu_node_of_dev (clu, dev), index;
  if (node != CLU_NONE)
    return clu_template_kind (clu_node_template (clu, node), dev - clu->node[node].dev, &index);
  if (clu->wide && dev - clu->domain_dev < clu->n_domains)
    return CLU_DEV_NVSWITCH;
  return clu_tier_of_dev (clu, dev) != NULL ? CLU_DEV_STORAGE : CLU_DEV_SWITCH;
}

guint32
clu_dev_node (const Clu *clu, CluDev dev)
{
  g_return_val_if_fail (dev < clu->n_devices, CLU_NONE);
  return clu_node_of_dev (clu, dev);
}

guint32
clu_dev_index (const Clu *clu, CluDev dev)
{
  g_return_val_if_fail (dev < clu->n_devices, 0);
  guint32 node = clu_node_of_dev (clu, dev), index = 0;
  if (node != CLU_NONE) {
    clu_template_kind (clu_node_template (clu, node), dev - clu->node[node].dev, &index);
    return index;
  }
  if (clu->wide && dev - clu->domain_dev < clu->n_domains)
    return dev - clu->domain_dev;
  const CluTierNode *tier = clu_tier_of_dev (clu, dev);
  if (tier != NULL)
    return (guint32)(tier - clu->tier);
  return dev - clu->fabric.dev; /* switches count through: fabric, front-end, management */
}

const char *
clu_dev_word (CluDevKind kind)
{
  static const char *const words[CLU_DEV_N] = { "gpu",  "nvswitch", "pcie_switch",  "socket",         "host",   "nic",
                                                "nvme", "switch",   "frontend_nic", "management_nic", "storage" };
  return words[kind];
}

char *
clu_dev_name (const Clu *clu, CluDev dev)
{
  g_return_val_if_fail (dev < clu->n_devices, NULL);
  guint32 node = clu_node_of_dev (clu, dev), index;
  if (node != CLU_NONE) {
    CluDevKind kind = clu_template_kind (clu_node_template (clu, node), dev - clu->node[node].dev, &index);
    gboolean single = kind == CLU_DEV_FRONTEND_NIC || kind == CLU_DEV_MANAGEMENT_NIC || (kind == CLU_DEV_MEMORY && index == 0);
    const char *word = clu_dev_word (kind);
    return single ? g_strdup_printf ("node%u.%s", node, word) : g_strdup_printf ("node%u.%s%u", node, word, index);
  }
  if (clu->wide && dev - clu->domain_dev < clu->n_domains)
    return g_strdup_printf ("domain%u.nvswitch", dev - clu->domain_dev);
  if (dev - clu->fabric.dev < clu->fabric.n_switches)
    return clu->fabric.ops->name (&clu->fabric, dev - clu->fabric.dev);
  if (dev == clu->frontend_dev)
    return g_strdup ("frontend");
  if (dev == clu->management_dev)
    return g_strdup ("management");
  return g_strdup_printf ("storage.%s", clu_tier_of_dev (clu, dev)->spec->name.v);
}

/* --- Links ----------------------------------------------------------------------------------------------------------------- */

CluDev
clu_fabric_dev (const Clu *clu, guint32 vertex)
{
  if (vertex < clu->fabric.n_switches)
    return clu->fabric.dev + vertex;
  guint32 nic = vertex - clu->fabric.n_switches, node = clu_node_of_nic (clu, nic);
  return clu_node_device (clu, node, CLU_DEV_NIC, nic - clu->node[node].nic);
}

CluDev
clu_link_far (const Clu *clu, guint32 node, guint32 local_link)
{
  const CluTemplate *t = clu_node_template (clu, node);
  const CluNodeLink *link = clu_template_link_at (t, local_link);
  switch (link->end) {
    case CLU_END_DOMAIN:
      return clu->domain_dev + node / clu->domain_nodes;
    case CLU_END_FABRIC:
      return clu->fabric.dev + clu->fabric.ops->attach (&clu->fabric, clu->node[node].nic + link->a - t->first[CLU_DEV_NIC]);
    case CLU_END_FRONTEND:
      return clu->frontend_dev;
    case CLU_END_MANAGEMENT:
      return clu->management_dev;
    case CLU_END_LOCAL:
      break;
  }
  return clu->node[node].dev + link->b;
}

guint32
clu_n_links (const Clu *clu)
{
  return clu->n_links;
}

static void
link_fill (CluLink *out, CluDev a, CluDev b, const CluParams *p, CluRes res)
{
  *out = (CluLink){ .a = a,
                    .b = b,
                    .link_class = p->link_class,
                    .lanes = p->lanes,
                    .rate_Bps = p->rate_Bps,
                    .efficiency = p->efficiency,
                    .sm_efficiency = p->sm_efficiency,
                    .latency_s = p->latency_s,
                    .duplex = p->duplex,
                    .source = p->source,
                    .forward = res,
                    .backward = res + 1,
                    .both = clu_params_shared (p) ? res + 2 : CLU_NONE };
}

void
clu_link (const Clu *clu, CluLinkId link, CluLink *out)
{
  g_return_if_fail (link < clu->n_links);
  guint32 node = node_of (clu, link, offsetof (CluNode, link));
  if (node != CLU_NONE) {
    guint32 local = link - clu->node[node].link;
    const CluNodeLink *l = clu_template_link_at (clu_node_template (clu, node), local);
    link_fill (out, clu->node[node].dev + l->a, clu_link_far (clu, node, local), &l->p, clu->node[node].res + l->res);
  } else if (link - clu->fabric.link < clu->fabric.n_links) {
    CluFabricLink l;
    clu->fabric.ops->link (&clu->fabric, link - clu->fabric.link, &l);
    link_fill (out, clu_fabric_dev (clu, l.a), clu_fabric_dev (clu, l.b), l.p, clu->fabric.res + l.res);
  } else {
    const CluTierNode *tier = &clu->tier[link - clu->fabric.link - clu->fabric.n_links];
    CluDev far = tier->spec->network.v == 0 ? clu->frontend_dev : clu->fabric.dev + clu_fabric_top (&clu->fabric);
    link_fill (out, tier->dev, far, &tier->p, tier->res);
  }
}

/* --- Resources ------------------------------------------------------------------------------------------------------------- */

/* What a resource is, whoever bears it. */
typedef struct {
  CluResKind kind;
  CluLinkId link;   /* of kinds below CLU_RES_OWN */
  CluDev dev;       /* from CLU_RES_OWN on */
  guint32 n_cables; /* cables that share it */
  double capacity_Bps;
  double sm_factor, rdma_factor;
  const CluLinkClass *link_class;
  BaseSource source;
} ResView;

static void
view_params (ResView *view, const CluParams *p)
{
  view->capacity_Bps = clu_params_capacity (p, view->kind) * view->n_cables;
  view->sm_factor = p->sm_efficiency / p->efficiency;
  view->rdma_factor = p->rdma_efficiency / p->efficiency * (view->kind == CLU_RES_BOTH ? p->rdma_duplex / p->duplex : 1);
  view->link_class = p->link_class;
  view->source = p->source;
}

static ResView
res_view (const Clu *clu, CluRes res)
{
  ResView view = { .n_cables = 1, .sm_factor = 1, .rdma_factor = 1 };
  guint32 node = node_of (clu, res, offsetof (CluNode, res));
  if (node != CLU_NONE) {
    const CluTemplate *t = clu_node_template (clu, node);
    const CluNodeRes *r = clu_template_res_at (t, res - clu->node[node].res);
    view.kind = r->kind;
    if (r->kind >= CLU_RES_OWN) {
      view.dev = clu->node[node].dev + r->index;
      view.capacity_Bps = r->capacity_Bps;
      view.link_class = t->own[r->index].link_class;
      view.source = t->own[r->index].source;
    } else {
      view.link = clu->node[node].link + r->index;
      view_params (&view, &clu_template_link_at (t, r->index)->p);
    }
  } else if (res - clu->fabric.res < clu->fabric.n_res) {
    CluFabricLink link;
    clu->fabric.ops->resource (&clu->fabric, res - clu->fabric.res, &view.link, &view.kind, &view.n_cables);
    clu->fabric.ops->link (&clu->fabric, view.link, &link);
    view.link += clu->fabric.link;
    view_params (&view, link.p);
  } else if (res == clu->frontend_res) {
    view.kind = CLU_RES_OWN;
    view.dev = clu->frontend_dev;
    view.capacity_Bps = clu->frontend_core_Bps;
    view.link_class = clu->frontend_class;
    view.source = clu_num_source (&clu->spec.frontend.rate);
  } else {
    guint32 offset = res - clu->fabric.res - clu->fabric.n_res;
    const CluTierNode *tier = &clu->tier[offset / 2];
    view.kind = offset % 2 == 0 ? CLU_RES_FORWARD : CLU_RES_BACKWARD;
    view.link = tier->link;
    view_params (&view, &tier->p);
    if (view.kind == CLU_RES_BACKWARD)
      view.capacity_Bps = tier->write_Bps;
  }
  return view;
}

guint32
clu_n_resources (const Clu *clu)
{
  return clu->n_res;
}

double
clu_resource_whole_capacity (const Clu *clu, CluRes res)
{
  g_return_val_if_fail (res < clu->n_res, 0);
  return res_view (clu, res).capacity_Bps;
}

double
clu_resource_capacity (const Clu *clu, CluRes res)
{
  return clu_resource_whole_capacity (clu, res) - (clu->background_Bps != NULL ? clu->background_Bps[res] : 0);
}

const char *
clu_resource_class (const Clu *clu, CluRes res)
{
  g_return_val_if_fail (res < clu->n_res, "");
  const char *name = res_view (clu, res).link_class->name.v;
  return name != NULL ? name : "inline";
}

CluFamily
clu_resource_family (const Clu *clu, CluRes res)
{
  g_return_val_if_fail (res < clu->n_res, CLU_FAMILY_N);
  return (CluFamily)res_view (clu, res).link_class->family.v;
}

BaseSource
clu_resource_source (const Clu *clu, CluRes res)
{
  g_return_val_if_fail (res < clu->n_res, BASE_SOURCE_ASSUMED);
  return res_view (clu, res).source;
}

double
clu_resource_sm_factor (const Clu *clu, CluRes res)
{
  g_return_val_if_fail (res < clu->n_res, 1);
  return res_view (clu, res).sm_factor;
}

guint32
clu_resource_cables (const Clu *clu, CluRes res)
{
  g_return_val_if_fail (res < clu->n_res, 1);
  return MAX (res_view (clu, res).n_cables, 1);
}

double
clu_resource_rdma_factor (const Clu *clu, CluRes res)
{
  g_return_val_if_fail (res < clu->n_res, 1);
  return res_view (clu, res).rdma_factor;
}

gboolean
clu_resource_is_both_ways (const Clu *clu, CluRes res)
{
  g_return_val_if_fail (res < clu->n_res, FALSE);
  return res_view (clu, res).kind == CLU_RES_BOTH;
}

/* Of a link, not a device's own resource. */
static void
link_ends (const Clu *clu, const ResView *view, CluDev *from, CluDev *to)
{
  CluLink link;
  clu_link (clu, view->link, &link);
  *from = view->kind == CLU_RES_BACKWARD ? link.b : link.a;
  *to = view->kind == CLU_RES_BACKWARD ? link.a : link.b;
}

gboolean
clu_resource_ends (const Clu *clu, CluRes res, CluDev *from, CluDev *to)
{
  g_return_val_if_fail (res < clu->n_res, FALSE);
  ResView view = res_view (clu, res);
  if (view.kind >= CLU_RES_OWN)
    return FALSE;
  link_ends (clu, &view, from, to);
  return TRUE;
}

char *
clu_resource_name (const Clu *clu, CluRes res)
{
  g_return_val_if_fail (res < clu->n_res, NULL);
  ResView view = res_view (clu, res);
  if (view.kind >= CLU_RES_OWN) {
    g_autofree char *dev = clu_dev_name (clu, view.dev);
    const char *what = view.kind == CLU_RES_READ                        ? "memory, read"
                       : view.kind == CLU_RES_WRITE                     ? "memory, written"
                       : clu_dev_kind (clu, view.dev) == CLU_DEV_MEMORY ? "memory"
                       : clu_dev_kind (clu, view.dev) == CLU_DEV_NVME   ? "drive"
                       : clu_dev_kind (clu, view.dev) == CLU_DEV_SWITCH ? "core"
                       : clu_dev_kind (clu, view.dev) == CLU_DEV_SOCKET ? "peers"
                                                                        : "bus";
    return g_strdup_printf ("%s (%s)", dev, what);
  }
  CluDev from, to;
  link_ends (clu, &view, &from, &to);
  g_autofree char *a = clu_dev_name (clu, from);
  g_autofree char *b = clu_dev_name (clu, to);
  g_autofree char *name = g_strdup_printf ("%s %s %s", a, view.kind == CLU_RES_BOTH ? "<->" : "->", b);
  return view.n_cables > 1 ? g_strdup_printf ("%s (trunk of %u)", name, view.n_cables) : g_steal_pointer (&name);
}
