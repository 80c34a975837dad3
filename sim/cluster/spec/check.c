/* Checks of a node over more than one key, with the position of the key that is wrong; fills defaults that depend on other keys. */
#include <math.h>
#include <string.h>

#include "spec/params-private.h"

double
clu_gpu_lanes (const CluNodeSpec *node, const CluGpuSpec *gpu)
{
  if (node->nvlink.link.lanes.set)
    return node->nvlink.link.lanes.v;
  if (gpu->scale_up.lanes.set)
    return gpu->scale_up.lanes.v;
  const CluLinkClass *c =
      node->nvlink.link.link_class.value != NULL ? node->nvlink.link.link_class.value : gpu->scale_up.link_class.value;
  return c != NULL && c->lanes.v > 0 ? c->lanes.v : 1;
}

static void
check_mesh_links (CluLoader *loader, const CluNodeSpec *node, const CluGpuSpec *gpu)
{
  const CluNvlinkSpec *nv = &node->nvlink;
  guint32 n = (guint32)node->gpus.count.v;
  double lanes = nv->lanes_used.set ? nv->lanes_used.v : clu_gpu_lanes (node, gpu);
  g_autofree double *used = g_new0 (double, n);
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  for (unsigned i = 0; i < nv->links.n; i++) {
    const CluMeshLink *link = BASE_LIST_AT (nv->links, CluMeshLink, i);
    const BaseNum *ends[] = { &link->a, &link->b };
    gboolean inside = TRUE;
    for (int e = 0; e < 2; e++)
      if (ends[e]->v >= n) {
        clu_error (loader, ends[e]->mark, "there is no GPU %.0f in a node of %u GPUs; GPUs are 0 to %u", ends[e]->v, n, n - 1);
        inside = FALSE;
      }
    if (!inside)
      continue;
    guint32 a = (guint32)link->a.v, b = (guint32)link->b.v;
    if (a == b) {
      clu_error (loader, link->b.mark, "a link from GPU %u to itself; two different GPUs are needed", a);
      continue;
    }
    if (!g_hash_table_add (seen, GUINT_TO_POINTER (MIN (a, b) * 1024u + MAX (a, b) + 1)))
      clu_error (loader, link->head.mark, "links between GPU %u and GPU %u are given twice; give one entry with 'lanes'", a, b);
    used[a] += link->lanes.v;
    used[b] += link->lanes.v;
  }
  for (guint32 g = 0; g < n; g++)
    if (used[g] > lanes * (1 + 1e-9)) {
      clu_error (loader, nv->links.mark, "the links listed take %g lanes of GPU %u, whose type has %g", used[g], g, lanes);
      break; /* one such message says enough */
    }
}

void
clu_check_torus (CluLoader *loader, const BaseNums *dims, double n, const char *what, BaseMark mark)
{
  if (dims->n == 0 || dims->n > 8) {
    clu_error (loader, dims->set ? dims->mark : mark,
               "a torus needs 1 to 8 'dims' whose product is the %.0f %s (e.g. dims: [4, 4])", n, what);
    return;
  }
  double product = 1;
  for (unsigned i = 0; i < dims->n; i++)
    product *= dims->item[i].v;
  if (product != n)
    clu_error (loader, dims->mark, "dims multiply to %.0f, but there are %.0f %s", product, n, what);
}

static void
complete_scale_up_kind (CluNvlinkSpec *nv)
{
  if (nv->kind.set)
    return;
  nv->kind.v = nv->switches.set  ? CLU_SCALE_UP_SWITCH
               : nv->links.n > 0 ? CLU_SCALE_UP_LINKS
               : nv->dims.n > 0  ? CLU_SCALE_UP_TORUS
                                 : CLU_SCALE_UP_NONE;
}

static void
check_planes (CluLoader *loader, const CluNvlinkSpec *nv, double lanes)
{
  if (nv->planes.n == 0)
    return;
  if (nv->switches.set && nv->planes.n != (unsigned)nv->switches.v)
    clu_error (loader, nv->planes.mark, "%u planes for %.0f switches; one number a switch", nv->planes.n, nv->switches.v);
  double sum = 0;
  for (unsigned i = 0; i < nv->planes.n; i++)
    sum += nv->planes.item[i].v;
  if (sum != lanes)
    clu_error (loader, nv->planes.mark, "planes sum to %.0f links, but a GPU has %g", sum, lanes);
}

static void
check_even_lanes (CluLoader *loader, const CluNodeSpec *node, const CluGpuSpec *gpu, double lanes, guint32 peers,
                  const char *peers_are)
{
  const CluNvlinkSpec *nv = &node->nvlink;
  /* A rate given as such is for all links together and may be split at will; counted links may not. */
  if (nv->link.rate.set || gpu->scale_up.rate.set || peers == 0)
    return;
  if (lanes < peers || fmod (lanes, peers) != 0)
    clu_error (loader, nv->lanes_used.set ? nv->lanes_used.mark : nv->head.mark,
               "%g links of a GPU do not divide over %u %s; give lanes_used, a multiple of %u", lanes, peers, peers_are, peers);
}

static void
check_dim_lanes (CluLoader *loader, const CluNvlinkSpec *nv, double lanes)
{
  double sum = 0;
  for (unsigned i = 0; i < nv->dim_lanes.n && i < nv->dims.n; i++)
    sum += nv->dims.item[i].v > 1 ? 2 * nv->dim_lanes.item[i].v : 0;
  if (nv->dim_lanes.n != nv->dims.n)
    clu_error (loader, nv->dim_lanes.mark, "%u dim_lanes for %u dims; one number for each dimension", nv->dim_lanes.n, nv->dims.n);
  else if (fabs (sum - lanes) > 1e-9 * lanes)
    clu_error (loader, nv->dim_lanes.mark, "dim_lanes use %g links of a GPU, two directions each, but it has %g", sum, lanes);
}

static void
check_scale_up (CluLoader *loader, CluNodeSpec *node, const CluGpuSpec *gpu)
{
  CluNvlinkSpec *nv = &node->nvlink;
  complete_scale_up_kind (nv);
  CluScaleUpKind kind = (CluScaleUpKind)nv->kind.v;
  const char *name = base_name (clu_scale_up_names, nv->kind.v);
  guint32 n = (guint32)node->gpus.count.v;
  if (loader->wide && kind != CLU_SCALE_UP_SWITCH)
    clu_error (loader, nv->head.set ? nv->head.mark : node->gpus.head.mark,
               "an NVLink domain wider than a node needs nvlink kind switch, not %s", name);
  if (kind == CLU_SCALE_UP_NONE)
    return;
  if (!gpu->scale_up.head.set && nv->link.link_class.value == NULL && !nv->link.rate.set) {
    clu_error (loader, nv->head.mark, "GPU type '%s' has no scale_up link; give nvlink.link: {class: …} or nvlink: none",
               node->gpus.type.name != NULL ? node->gpus.type.name : "inline");
    return;
  }
  double all = clu_gpu_lanes (node, gpu), lanes = all;
  if (nv->lanes_used.set) {
    if (nv->lanes_used.v > all)
      clu_error (loader, nv->lanes_used.mark, "lanes_used is %.0f, but a GPU has %g links", nv->lanes_used.v, all);
    lanes = MIN (all, nv->lanes_used.v);
  }
  if (kind != CLU_SCALE_UP_SWITCH && nv->switches.set)
    clu_error (loader, nv->switches.mark, "'switches' belongs to kind switch, not to %s", name);
  if (kind != CLU_SCALE_UP_SWITCH && nv->sharp.v)
    clu_error (loader, nv->sharp.mark, "'sharp' needs a switch that reduces; kind %s has none", name);
  if (kind != CLU_SCALE_UP_LINKS && nv->links.n > 0)
    clu_error (loader, nv->links.mark, "'links' belongs to kind links, not to %s", name);
  if (kind != CLU_SCALE_UP_TORUS && nv->dims.n > 0)
    clu_error (loader, nv->dims.mark, "'dims' belongs to kind torus, not to %s", name);
  if (kind != CLU_SCALE_UP_TORUS && nv->dim_lanes.n > 0)
    clu_error (loader, nv->dim_lanes.mark, "'dim_lanes' belongs to kind torus, not to %s", name);

  switch (kind) {
    case CLU_SCALE_UP_SWITCH:
      check_planes (loader, nv, all);
      break;
    case CLU_SCALE_UP_FULL_MESH:
      check_even_lanes (loader, node, gpu, lanes, n - 1, "peers");
      break;
    case CLU_SCALE_UP_LINKS:
      if (nv->links.n == 0)
        clu_error (loader, nv->head.mark, "kind links needs a list 'links' (e.g. [{a: 0, b: 1, lanes: 2}])");
      check_mesh_links (loader, node, gpu);
      break;
    case CLU_SCALE_UP_TORUS: {
      clu_check_torus (loader, &nv->dims, n, "GPUs", nv->head.mark);
      guint32 ways = 0;
      for (unsigned i = 0; i < nv->dims.n; i++)
        ways += nv->dims.item[i].v > 1 ? 2 : 0;
      if (nv->dim_lanes.n == 0)
        check_even_lanes (loader, node, gpu, lanes, ways, "directions");
      else
        check_dim_lanes (loader, nv, lanes);
      break;
    }
    case CLU_SCALE_UP_NONE:
      break;
  }
}

static void
check_width (CluLoader *loader, const BaseNum *lanes)
{
  guint32 n = (guint32)lanes->v;
  if (lanes->set && (n & (n - 1)) != 0)
    clu_error (loader, lanes->mark, "PCIe is not %u lanes wide; 1, 2, 4, 8, 16 or 32", n);
}

static void
check_pcie (CluLoader *loader, CluNodeSpec *node)
{
  CluPcieSpec *pcie = &node->pcie;
  guint32 n = (guint32)node->gpus.count.v;
  check_width (loader, &pcie->lanes);
  check_width (loader, &pcie->uplink.lanes);
  if (!pcie->switch_per.set)
    pcie->switch_per.v = pcie->bus.set ? n : 0;
  if (pcie->bus.set && pcie->switch_per.v == 0)
    clu_error (loader, pcie->bus.mark, "a bus is shared below a PCIe switch, but switch_per is 0; give how many GPUs share it");
  if (pcie->uplink.head.set && pcie->switch_per.v == 0)
    clu_error (loader, pcie->uplink.head.mark, "an uplink is a PCIe switch's, but there is none; give switch_per");
  if (pcie->switch_per.v > 0 && fmod (n, pcie->switch_per.v) != 0)
    clu_error (loader, pcie->switch_per.mark, "%u GPUs do not divide over PCIe switches of %.0f; give a switch_per that divides %u",
               n, pcie->switch_per.v, n);
  for (unsigned i = 0; i < pcie->under_switch.n; i++) {
    const BaseStr *what = &pcie->under_switch.item[i];
    if (g_strcmp0 (what->v, "nics") != 0 && g_strcmp0 (what->v, "nvme") != 0)
      clu_error (loader, what->mark, "'%s' cannot stand under a PCIe switch; accepted: nics, nvme", what->v);
    else if (pcie->switch_per.v == 0)
      clu_error (loader, what->mark, "%s under a PCIe switch, but switch_per is 0; give how many GPUs share a switch", what->v);
  }
}

static gboolean
divides (double a, double b)
{
  return a == 0 || b == 0 || fmod (a, b) == 0 || fmod (b, a) == 0;
}

static void
check_nics (CluLoader *loader, CluNodeSpec *node)
{
  CluNicsSpec *nics = &node->nics;
  double gpus = node->gpus.count.v;
  if (!nics->head.set)
    return;
  if (!nics->count.set) {
    nics->count.v = nics->per_gpu.set ? nics->per_gpu.v * gpus : 0;
    nics->count.mark = nics->per_gpu.set ? nics->per_gpu.mark : nics->head.mark;
    if (!nics->per_gpu.set)
      clu_error (loader, nics->head.mark, "nics needs 'count' (a node) or 'per_gpu'");
    else if (floor (nics->count.v) != nics->count.v || nics->count.v > 1024)
      clu_error (loader, nics->per_gpu.mark, "%g adapters a GPU are %g for %.0f GPUs; a whole number up to 1024 is needed",
                 nics->per_gpu.v, nics->count.v, gpus);
  } else if (nics->per_gpu.set && nics->per_gpu.v * gpus != nics->count.v)
    clu_error (loader, nics->per_gpu.mark,
               "%g adapters a GPU and %.0f GPUs make %g, but count is %.0f; give count %g, or per_gpu %g", nics->per_gpu.v, gpus,
               nics->per_gpu.v * gpus, nics->count.v, nics->per_gpu.v * gpus, nics->count.v / gpus);
  if (nics->count.v > 0 && nics->type.value == NULL)
    clu_error (loader, nics->head.mark, "nics needs 'type' (a name in topologies/nics, or inline)");
  if (!divides (nics->count.v, gpus))
    clu_error (loader, nics->count.mark, "%.0f adapters do not divide over %.0f GPUs", nics->count.v, gpus);
  if (nics->on.set && nics->on.n == 0)
    clu_error (loader, nics->on.mark, "'on' is empty; accepted: what the NICs stand on (e.g. [socket0]), or leave it out");
  double per = node->pcie.switch_per.v, switches = per > 0 ? floor (gpus / per) : 0;
  for (unsigned i = 0; i < node->pcie.under_switch.n && nics->on.n == 0; i++)
    if (g_strcmp0 (node->pcie.under_switch.item[i].v, "nics") == 0 && !divides (nics->count.v, switches))
      clu_error (loader, nics->count.mark, "%.0f adapters do not divide over %.0f PCIe switches", nics->count.v, switches);
}

static void
check_sockets (CluLoader *loader, CluNodeSpec *node)
{
  CluSocketSpec *sockets = &node->sockets;
  if (!(sockets->count.v >= 1))
    sockets->count.v = 1; /* the mapping is absent */
  if (sockets->count.v > 1 && !sockets->interconnect.head.set)
    clu_error (loader, sockets->count.mark,
               "%.0f sockets need an interconnect (e.g. {class: upi} or {rate: 62 GB/s, latency: 130 ns})", sockets->count.v);
}

void
clu_check_node (CluLoader *loader, CluNodeSpec *node)
{
  const CluGpuSpec *gpu = node->gpus.type.value;
  if (gpu == NULL)
    return; /* the schema has said so */
  if (!(node->gpus.count.v >= 1))
    return;
  check_scale_up (loader, node, gpu);
  check_pcie (loader, node);
  check_nics (loader, node);
  check_sockets (loader, node);
  const CluLocalNvmeSpec *nvme = &node->storage.local_nvme;
  if (nvme->head.set && nvme->raid.v != 0)
    clu_error (loader, nvme->raid.mark, "RAID %.0f is not built; accepted: 0 (striped)", nvme->raid.v);
}
