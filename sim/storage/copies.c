/* Copies at the same time, priced together. See storage/copies.h. */
#include "storage/copies.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "cluster/storage.h"
#include "models/links.h"

static const char *const path_names[] = { "fastest", "nvlink", "pcie", "gds", "host", "net" };

static void
copy_free (gpointer data)
{
  StoCopy *copy = data;
  clu_route_clear (&copy->route);
  g_array_unref (copy->uses);
  g_free (copy);
}

static double
share_of (const StoPair *pair)
{
  return pair->share > 0 ? pair->share : 1;
}

/* ---- storage at an end ---- */

/* A drive or a tier at one end and a GPU at the other; *out: which of them. */
static gboolean
storage_end (const Clu *clu, CluDev from, CluDev to, CluDev *out)
{
  CluDevKind a = clu_dev_kind (clu, from), b = clu_dev_kind (clu, to);
  if (a == CLU_DEV_NVME || a == CLU_DEV_STORAGE)
    *out = from;
  else if (b == CLU_DEV_NVME || b == CLU_DEV_STORAGE)
    *out = to;
  else
    return FALSE;
  return TRUE;
}

static gboolean
to_gpu (const Clu *clu, CluDev from, CluDev to)
{
  return clu_dev_kind (clu, from) == CLU_DEV_GPU || clu_dev_kind (clu, to) == CLU_DEV_GPU;
}

static gboolean
has_gds (const Clu *clu, CluDev from, CluDev to)
{
  CluDev storage;
  MdlTier tier;
  return storage_end (clu, from, to, &storage) && to_gpu (clu, from, to) && clu_tier (clu, storage, &tier) &&
         tier.type.gds.v == MDL_GDS_YES;
}

/* What the storage gives this copy: alone, one file, requests of the tier's size. Returned: its kind; NULL without one. */
static const char *
ask_storage (const Clu *clu, const StoCopies *copies, const StoCopy *copy, MdlTransfer *transfer)
{
  CluDev storage;
  MdlTier tier;
  if (!storage_end (clu, copy->from, copy->to, &storage) || !clu_tier (clu, storage, &tier))
    return NULL;
  gboolean drive = clu_dev_kind (clu, storage) == CLU_DEV_NVME, gpu = to_gpu (clu, copy->from, copy->to);
  double block_B = fmin (tier.type.io_size.v > 0 ? tier.type.io_size.v : 1048576, fmax (copy->size_B, 1));
  MdlTierQuestion q = { .op = storage == copy->from ? MDL_IO_READ : MDL_IO_WRITE,
                        .path = !gpu                                      ? MDL_IO_HOST
                                : clu_route_is_staged (clu, &copy->route) ? MDL_IO_BOUNCE
                                                                          : MDL_IO_CUFILE,
                        .block_B = block_B,
                        .in_flight = fmin (fmax (copies->in_flight * (copy->share), 1), ceil (fmax (copy->size_B, 1) / block_B)),
                        .clients = 1,
                        .stripes = drive ? 1 : 0 };
  MdlTierCost cost;
  mdl_tier_cost (&tier, &q, copies->ways, &cost);
  transfer->storage_latency_s = tier.type.side[q.op].latency.v;
  transfer->storage_rate_Bps = isfinite (cost.client_rate_Bps) ? cost.client_rate_Bps : 0;
  return base_name (mdl_tier_names, tier.type.kind.v);
}

/* ---- which way ---- */

/* `over_network`: GPUs of one node by their adapters too. */
static gboolean
route_on_path (const Clu *clu, const ColSettings *settings, const StoPair *pair, StoPath path, gboolean over_network,
               CluRoute *route, GError **error)
{
  const CluDev from = pair->from, to = pair->to;
  CluRouteOptions options = CLU_ROUTE_DEFAULT;
  options.over_network = over_network;
  options.degrade = settings->degrade;
  options.degrade.no_nvlink |= path == STO_PATH_PCIE;
  options.degrade.no_p2p |= path == STO_PATH_HOST;
  CluDev storage;
  gboolean stores = storage_end (clu, from, to, &storage);
  options.peer_drives = stores && path == STO_PATH_GDS;
  options.degrade.no_gdr |= stores && (path == STO_PATH_HOST || !has_gds (clu, from, to));
  return clu_route_find (clu, from, to, &options, route, error);
}

/* Whether a route found is of the kind asked for: the pair may have no such path. */
static gboolean
is_on_path (const Clu *clu, const StoCopy *copy, StoPath path)
{
  const CluRoute *route = &copy->route;
  CluDev storage;
  gboolean stores = storage_end (clu, copy->from, copy->to, &storage) && to_gpu (clu, copy->from, copy->to);
  if (stores && (path == STO_PATH_GDS || path == STO_PATH_HOST || path == STO_PATH_PCIE || path == STO_PATH_NET))
    return path == STO_PATH_GDS ? !clu_route_is_staged (clu, route) : path == STO_PATH_HOST && clu_route_is_staged (clu, route);
  gboolean net = route->path_class == CLU_PATH_NET;
  gboolean scale_up = route->path_class == CLU_PATH_NVL || route->path_class == CLU_PATH_NVB || route->path_class == CLU_PATH_C2C;
  switch (path) {
    case STO_PATH_NVLINK:
      return scale_up;
    case STO_PATH_PCIE:
      return !net && !scale_up && route->transport != CLU_TRANSPORT_SHM;
    case STO_PATH_HOST:
      return route->transport == CLU_TRANSPORT_SHM || route->transport == CLU_TRANSPORT_NET_HOST ||
             route->transport == CLU_TRANSPORT_TCP;
    case STO_PATH_NET:
      return net;
    case STO_PATH_GDS:
      return FALSE; /* of storage alone */
    case STO_PATH_FASTEST:
    default:
      return TRUE;
  }
}

/* ---- what copies ---- */

static MdlCopy
copier_of (const Clu *clu, const StoCopies *copies, const StoPair *pair, CluTransport transport)
{
  CluDevKind from = clu_dev_kind (clu, pair->from), to = clu_dev_kind (clu, pair->to);
  switch (transport) {
    case CLU_TRANSPORT_SHM:
    case CLU_TRANSPORT_NET_HOST:
      return MDL_COPY_HOST;
    case CLU_TRANSPORT_NET_GDR:
      return MDL_COPY_RDMA;
    case CLU_TRANSPORT_TCP:
      return MDL_COPY_TCP;
    case CLU_TRANSPORT_P2P:
      return copies->by == STO_BY_KERNEL ? MDL_COPY_KERNEL : copies->by == STO_BY_KERNEL_READ ? MDL_COPY_KERNEL_READ : MDL_COPY_DMA;
    case CLU_TRANSPORT_COPY:
    case CLU_TRANSPORT_N:
    default:
      if (from == CLU_DEV_MEMORY && to == CLU_DEV_GPU)
        return copies->managed ? MDL_COPY_MANAGED : copies->pageable ? MDL_COPY_H2D_PAGEABLE : MDL_COPY_H2D;
      if (from == CLU_DEV_GPU && to == CLU_DEV_MEMORY)
        return copies->managed ? MDL_COPY_MANAGED : copies->pageable ? MDL_COPY_D2H_PAGEABLE : MDL_COPY_D2H;
      return MDL_COPY_DMA;
  }
}

static gboolean
is_kernel (MdlCopy copy)
{
  return copy == MDL_COPY_KERNEL || copy == MDL_COPY_KERNEL_READ;
}

/* Copies of the same copier at once, itself counted: out of one GPU to different ones; through one host's pinned blocks. */
static unsigned
at_once (const Clu *clu, const StoCopies *copies, guint i, const StoCopy *copy)
{
  gboolean staged = copy->copy == MDL_COPY_H2D_PAGEABLE || copy->copy == MDL_COPY_D2H_PAGEABLE;
  gboolean sent = copy->copy == MDL_COPY_DMA || is_kernel (copy->copy);
  unsigned n = 1;
  for (guint k = 0; k < copies->n && (staged || sent); k++) {
    const StoPair *here = &copies->pair[i], *other = &copies->pair[k];
    if (k == i)
      continue;
    if (sent)
      n += other->from == here->from && other->to != here->to;
    else
      n += clu_dev_node (clu, other->from) == clu_dev_node (clu, here->from) &&
           clu_dev_kind (clu, other->from) == clu_dev_kind (clu, here->from);
  }
  return n;
}

static double
sm_factor (const Clu *clu, const StoCopy *copy, CluRes res)
{
  return is_kernel (copy->copy) ? clu_resource_sm_factor (clu, res) : 1;
}

/* What the route carries for this copier. */
static double
route_rate_Bps (const Clu *clu, const StoCopy *copy)
{
  double rate_Bps = HUGE_VAL;
  for (guint u = 0; u < copy->route.uses->len; u++) {
    const CluUse *use = &g_array_index (copy->route.uses, CluUse, u);
    rate_Bps = fmin (rate_Bps, clu_resource_capacity (clu, use->res) * sm_factor (clu, copy, use->res) / use->share);
  }
  return rate_Bps;
}

static void
price (const Clu *clu, const ColSettings *settings, const StoCopies *copies, guint i, StoCopy *copy)
{
  copy->copy = copier_of (clu, copies, &copies->pair[i], copy->route.transport);
  copy->wire_rate_Bps = route_rate_Bps (clu, copy);
  const MdlTransfer transfer = { .copy = copy->copy,
                                 .size_B = copy->size_B,
                                 .route_latency_s = copy->route.latency_s,
                                 .route_rate_Bps = copy->wire_rate_Bps,
                                 .queued = copies->queued,
                                 .streams = copies->streams,
                                 .terse = settings->terse,
                                 .at_once = at_once (clu, copies, i, copy) };
  MdlTransfer asked = transfer;
  const char *storage = ask_storage (clu, copies, copy, &asked);
  mdl_transfer_cost (settings->library, &asked, &copy->cost);
  copy->storage = asked.storage_rate_Bps > 0 && copy->cost.bound_Bps >= asked.storage_rate_Bps ? storage : NULL;
}

static double
alone_s (const StoCopies *copies, const StoCopy *copy)
{
  double rate_Bps = fmin (copy->cost.bound_Bps, copy->wire_rate_Bps / copy->cost.wire / copies->count);
  return copy->cost.latency_s + (copy->size_B > 0 ? copy->size_B / rate_Bps : 0);
}

/* Tries the path asked for, or all of them; keeps the one by which a pair's own copies are there first. */
static gboolean
choose_path (const Clu *clu, const ColSettings *settings, const StoCopies *copies, guint i, StoCopy *out, StoFault *fault,
             GError **error)
{
  const StoPair *pair = &copies->pair[i];
  double least_s = HUGE_VAL;
  g_autoptr (GError) last = NULL;
  for (StoPath path = STO_PATH_NVLINK; path <= STO_PATH_NET; path++) {
    g_auto (CluRoute) route = { 0 };
    if (copies->path != STO_PATH_FASTEST && copies->path != path)
      continue;
    clu_route_init (&route);
    g_clear_error (&last);
    if (!route_on_path (clu, settings, pair, path, copies->path == STO_PATH_NET, &route, &last))
      continue;
    StoCopy tried = {
      .from = pair->from, .to = pair->to, .route = route, .share = share_of (pair), .size_B = copies->size_B * share_of (pair)
    };
    if (copies->path != STO_PATH_FASTEST && !is_on_path (clu, &tried, path))
      continue;
    price (clu, settings, copies, i, &tried);
    double time_s = alone_s (copies, &tried);
    if (!(time_s < least_s))
      continue;
    least_s = time_s;
    clu_route_clear (&out->route);
    tried.uses = out->uses;
    *out = tried;
    memset (&route, 0, sizeof route);
    for (StoPath p = STO_PATH_NVLINK; p <= STO_PATH_NET && out->path == NULL; p++)
      out->path = is_on_path (clu, out, p) ? path_names[p] : NULL;
  }
  if (isfinite (least_s))
    return TRUE;
  *fault = last != NULL ? STO_FAULT_ROUTE : STO_FAULT_PATH;
  if (last != NULL)
    g_propagate_error (error, g_steal_pointer (&last));
  else
    base_fail (error, BASE_ERROR_INPUT,
               "'%s' and '%s' have no path '%s'; accepted: fastest, or one that joins them (forerun topo %s --path %s %s)",
               pair->from_name, pair->to_name, path_names[copies->path], clu_name (clu), pair->from_name, pair->to_name);
  return FALSE;
}

/* ---- what they cross ---- */

static void
add_uses (const Clu *clu, const StoCopy *copy, const GArray *uses, double factor)
{
  for (guint u = 0; u < uses->len; u++) {
    const CluUse *use = &g_array_index (uses, CluUse, u);
    double share = use->share * factor / sm_factor (clu, copy, use->res);
    gboolean known = FALSE;
    for (guint k = 0; k < copy->uses->len && !known; k++) {
      CluUse *here = &g_array_index (copy->uses, CluUse, k);
      known = here->res == use->res;
      here->share += known ? share : 0;
    }
    if (!known) {
      CluUse more;
      memset (&more, 0, sizeof more);
      more.res = use->res;
      more.share = share;
      g_array_append_val (copy->uses, more);
    }
  }
}

static gboolean
find_uses (const Clu *clu, const ColSettings *settings, StoPath path, StoCopy *copy, GError **error)
{
  const MdlLinks *links = settings->library != NULL ? mdl_library_links (settings->library) : NULL;
  double back = links != NULL ? links->copies.at[copy->copy].reverse_traffic.v : 0;
  add_uses (clu, copy, copy->route.uses, copy->cost.wire);
  if (back <= 0)
    return TRUE;
  g_auto (CluRoute) route = { 0 };
  clu_route_init (&route);
  const StoPair reverse = { .from = copy->to, .to = copy->from };
  if (!route_on_path (clu, settings, &reverse, path, copy->route.path_class == CLU_PATH_NET, &route, error))
    return FALSE;
  add_uses (clu, copy, route.uses, copy->cost.wire * back);
  return TRUE;
}

/* Every copy gets as much of a resource as any other that crosses it. */
static void
share_out (const Clu *clu, const StoCopies *copies, GPtrArray *out)
{
  g_autoptr (GHashTable) load = g_hash_table_new_full (NULL, NULL, NULL, g_free); /* resource -> double, bytes of all per byte */
  for (guint i = 0; i < out->len; i++) {
    const StoCopy *copy = out->pdata[i];
    for (guint u = 0; u < copy->uses->len; u++) {
      const CluUse *use = &g_array_index (copy->uses, CluUse, u);
      double *sum = g_hash_table_lookup (load, GUINT_TO_POINTER (use->res));
      if (sum == NULL)
        g_hash_table_insert (load, GUINT_TO_POINTER (use->res), sum = g_new0 (double, 1));
      *sum += use->share * copies->count;
    }
  }
  for (guint i = 0; i < out->len; i++) {
    StoCopy *copy = out->pdata[i];
    double link_Bps = HUGE_VAL;
    copy->busiest = CLU_NONE;
    for (guint u = 0; u < copy->uses->len; u++) {
      CluRes res = g_array_index (copy->uses, CluUse, u).res;
      const double *sum = g_hash_table_lookup (load, GUINT_TO_POINTER (res));
      double left_Bps = clu_resource_capacity (clu, res) / *sum;
      if (left_Bps < link_Bps) {
        link_Bps = left_Bps;
        copy->busiest = res;
      }
    }
    copy->by_copier = copy->cost.bound_Bps < link_Bps;
    double rate_Bps = fmin (copy->cost.bound_Bps, link_Bps);
    copy->time_s = copy->cost.latency_s + (copy->size_B > 0 ? copy->size_B / rate_Bps : 0);
  }
}

/* Returned: full; NULL, *fault and *error where a pair has no such path. */
static GPtrArray *
price_all (const Clu *clu, const ColSettings *settings, const StoCopies *copies, StoFault *fault, GError **error)
{
  g_autoptr (GPtrArray) out = g_ptr_array_new_with_free_func (copy_free);
  for (guint i = 0; i < copies->n; i++) {
    StoCopy *copy = g_new0 (StoCopy, 1);
    copy->uses = g_array_new (FALSE, FALSE, sizeof (CluUse));
    g_ptr_array_add (out, copy);
    if (!choose_path (clu, settings, copies, i, copy, fault, error))
      return NULL;
    gboolean kernel = copies->by == STO_BY_KERNEL || copies->by == STO_BY_KERNEL_READ;
    if (kernel && !is_kernel (copy->copy)) {
      *fault = STO_FAULT_BY;
      base_fail (error, BASE_ERROR_INPUT,
                 "no kernel copies from '%s' to '%s': it does between two GPUs that reach each other; accepted: by: engine",
                 copies->pair[i].from_name, copies->pair[i].to_name);
      return NULL;
    }
    if (!find_uses (clu, settings, copies->path, copy, error)) {
      *fault = STO_FAULT_ROUTE;
      return NULL;
    }
  }
  share_out (clu, copies, out);
  return g_steal_pointer (&out);
}

/* When the last of them is there. */
static double
last_s (const GPtrArray *all)
{
  double time_s = 0;
  for (guint i = 0; i < all->len; i++)
    time_s = fmax (time_s, ((const StoCopy *)all->pdata[i])->time_s);
  return time_s;
}

/* Parts of a copy that is striped meet where their routes join: what is fastest for one need not be for all. */
GPtrArray *
sto_copies_price (const Clu *clu, const ColSettings *settings, const StoCopies *copies, StoFault *fault, GError **error)
{
  static const StoPath together[] = { STO_PATH_GDS, STO_PATH_HOST };
  GPtrArray *best = price_all (clu, settings, copies, fault, error);
  gboolean striped = FALSE;
  for (guint i = 0; i < copies->n; i++)
    striped |= share_of (&copies->pair[i]) < 1;
  for (guint k = 0; k < G_N_ELEMENTS (together) && best != NULL && striped && copies->path == STO_PATH_FASTEST; k++) {
    StoCopies one = *copies;
    StoFault ignored;
    one.path = together[k];
    GPtrArray *other = price_all (clu, settings, &one, &ignored, NULL);
    gboolean faster = other != NULL && last_s (other) < last_s (best);
    g_clear_pointer (faster ? &best : &other, g_ptr_array_unref);
    if (faster)
      best = other;
  }
  return best;
}
