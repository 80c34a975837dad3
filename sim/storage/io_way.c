/* Ways between storage and clients. Striped drives are all used by each client of their node, each by its part of the bytes. Past
 * the host: storage, adapter or PCIe, GPU. Staged: storage, host memory (written, then read), PCIe, GPU. */
#include "storage/io_run.h"

#include <math.h>
#include <string.h>

const BaseName sto_io_path_names[] = {
  { "auto", STO_IO_AUTO,
    "a GPU's memory, by GPUDirect Storage where file system and hardware support it, else through host memory" },
  { "host", STO_IO_HOST, "host memory" },
  { "gds", STO_IO_GDS, "a GPU's memory by GPUDirect Storage; an error where that is not supported" },
  { "bounce", STO_IO_BOUNCE, "a GPU's memory, through host memory" },
  { NULL, 0, NULL },
};

void
sto_io_route_clear (StoIoRoute *way)
{
  g_clear_pointer (&way->uses, g_array_unref);
  g_clear_pointer (&way->copy, g_array_unref);
  clu_route_clear (&way->route);
}

GArray *
sto_io_homes (const ColSystem *system)
{
  GArray *homes = g_array_new (FALSE, FALSE, sizeof (StoIoHome));
  for (guint i = 0; i < system->gpus->len; i++) {
    CluDev gpu = clu_gpu (system->clu, g_array_index (system->gpus, guint32, i));
    guint32 node = clu_dev_node (system->clu, gpu);
    StoIoHome *last = homes->len > 0 ? &g_array_index (homes, StoIoHome, homes->len - 1) : NULL;
    const StoIoHome fresh = { node, 1, clu_dev_index (system->clu, gpu) };
    if (last != NULL && last->node == node)
      last->n_gpus++;
    else
      g_array_append_val (homes, fresh);
  }
  return homes;
}

StoIoPlace
sto_io_place (const GArray *homes, guint32 client)
{
  const StoIoHome *home = &g_array_index (homes, StoIoHome, client % homes->len);
  return (StoIoPlace){ home->node, home->first + client / homes->len % home->n_gpus };
}

CluDev
sto_io_find (const Clu *clu, const char *name, MdlTier *tier, GError **error)
{
  CluDev dev = clu_tier_find (clu, name);
  if (dev != CLU_NONE && clu_tier (clu, dev, tier))
    return dev;
  g_autofree char *all = clu_tier_names (clu);
  base_fail_at (error, BASE_MARK_NONE, "'%s' has no storage tier '%s'; %s%s", clu_name (clu), name,
                *all != '\0' ? "accepted: " : "it has none: give the topology 'storage', or its nodes 'local_nvme'", all);
  return CLU_NONE;
}

static void
add (const CluRoute *route, double share, GArray *uses)
{
  for (guint u = 0; u < route->uses->len; u++) {
    const CluUse *use = &g_array_index (route->uses, CluUse, u);
    gboolean known = FALSE;
    for (guint k = 0; k < uses->len && !known; k++) {
      CluUse *here = &g_array_index (uses, CluUse, k);
      known = here->res == use->res;
      here->share += known ? use->share * share : 0;
    }
    if (!known) {
      CluUse more = *use;
      more.share *= share;
      g_array_append_val (uses, more);
    }
  }
}

typedef struct {
  const Clu *clu;
  CluRouteOptions options;
  CluDev storage, gpu, memory;
  guint32 node, n_drives; /* drives 0: a tier outside the nodes */
  MdlIoOp op;
} Trip;

/* One leg: between two devices, in the direction of the data. */
static gboolean
leg (const Trip *trip, CluDev near, CluDev far, double share, CluRoute *route, GArray *uses, GError **error)
{
  gboolean reads = trip->op == MDL_IO_READ;
  if (!clu_route_find (trip->clu, reads ? near : far, reads ? far : near, &trip->options, route, error))
    return FALSE;
  add (route, share, uses);
  return TRUE;
}

/* All drives or the tier, to `end`; the slowest drive's route is the one that people are shown. *staged: some bytes pass a host's
 * memory that is no end. */
static gboolean
reach (const Trip *trip, CluDev end, StoIoRoute *out, gboolean *staged, GError **error)
{
  *staged = FALSE;
  guint32 n = MAX (trip->n_drives, 1u);
  double slowest_Bps = HUGE_VAL;
  for (guint32 i = 0; i < n; i++) {
    CluDev near = trip->n_drives > 0 ? clu_node_device (trip->clu, trip->node, CLU_DEV_NVME, i) : trip->storage;
    g_auto (CluRoute) route = { 0 };
    clu_route_init (&route);
    if (!leg (trip, near, end, 1.0 / n, &route, out->uses, error))
      return FALSE;
    out->latency_s = fmax (out->latency_s, route.latency_s);
    *staged = *staged || (end != trip->memory && clu_route_is_staged (trip->clu, &route));
    double rate_Bps;
    clu_route_bottleneck (trip->clu, &route, &rate_Bps);
    if (i == 0 || rate_Bps < slowest_Bps * (1 - 1e-9)) {
      slowest_Bps = rate_Bps;
      CluRoute shown = out->route;
      out->route = route;
      route = shown;
    }
  }
  return TRUE;
}

static gboolean
bounce (const Trip *trip, StoIoRoute *out, GError **error)
{
  gboolean staged;
  g_auto (CluRoute) route = { 0 };
  clu_route_init (&route);
  if (!reach (trip, trip->memory, out, &staged, error) || !leg (trip, trip->memory, trip->gpu, 1, &route, out->copy, error))
    return FALSE;
  out->latency_s += route.latency_s;
  return TRUE;
}

static void
start (StoIoRoute *out)
{
  sto_io_route_clear (out);
  memset (out, 0, sizeof *out);
  out->uses = g_array_new (FALSE, FALSE, sizeof (CluUse));
  out->copy = g_array_new (FALSE, FALSE, sizeof (CluUse));
  clu_route_init (&out->route);
}

static gboolean
refuse_gds (const Trip *trip, const MdlTier *tier, GError **error)
{
  if (tier->type.gds.v != MDL_GDS_YES)
    return base_fail_at (
        error, BASE_MARK_NONE,
        "GPUDirect Storage does not work with %s; accepted: path: bounce, auto or host (a type with `gds: yes` has it)",
        tier->type.product.v != NULL ? tier->type.product.v : base_name (mdl_tier_names, tier->type.kind.v));
  g_autofree char *name = clu_dev_name (trip->clu, trip->storage);
  return base_fail_at (error, BASE_MARK_NONE,
                       "no way from %s to GPU memory but through the host's; accepted: path: bounce or auto (or `frontend: "
                       "{gpudirect: yes}`, or a tier with `network: fabric`)",
                       name);
}

gboolean
sto_io_route (const Clu *clu, const ColSettings *settings, const StoIoEnds *ends, StoIoRoute *out, GError **error)
{
  guint32 node = ends->place.node, gpus = clu_node_n (clu, node, CLU_DEV_GPU), memories = clu_node_n (clu, node, CLU_DEV_MEMORY);
  guint32 gpu = ends->place.gpu % MAX (gpus, 1u);
  gboolean drives = clu_dev_kind (clu, ends->storage) == CLU_DEV_NVME;
  Trip trip = { .clu = clu, .options = CLU_ROUTE_DEFAULT, .storage = ends->storage, .node = node, .op = ends->op };
  trip.options.degrade = settings->degrade;
  trip.options.peer_drives = TRUE;
  trip.gpu = clu_node_device (clu, node, CLU_DEV_GPU, gpu);
  trip.memory = clu_node_device (clu, node, CLU_DEV_MEMORY, gpu * memories / MAX (gpus, 1u));
  trip.n_drives = drives ? clu_node_n (clu, node, CLU_DEV_NVME) : 0;
  if (drives && trip.n_drives == 0)
    return base_fail_at (error, BASE_MARK_NONE, "node%u has no drives of its own", node);
  MdlTier tier;
  clu_tier (clu, ends->storage, &tier);
  gboolean staged = FALSE, gds = tier.type.gds.v == MDL_GDS_YES && !settings->degrade.no_gdr;
  start (out);
  if (ends->path == STO_IO_HOST) {
    out->path = MDL_IO_HOST;
    return reach (&trip, trip.memory, out, &staged, error);
  }
  if (ends->path == STO_IO_GDS || (ends->path == STO_IO_AUTO && gds)) {
    out->path = MDL_IO_CUFILE;
    if (!gds)
      return refuse_gds (&trip, &tier, error);
    if (!reach (&trip, trip.gpu, out, &staged, error))
      return FALSE;
    if (!staged)
      return TRUE;
    if (ends->path == STO_IO_GDS)
      return refuse_gds (&trip, &tier, error);
    start (out);
  }
  out->path = MDL_IO_BOUNCE;
  return bounce (&trip, out, error);
}
