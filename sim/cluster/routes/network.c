/* Ways that leave a node: over adapters and the fabric, over the front-end or the management network, to and from storage.
 *
 * An end of the route is a GPU, host memory, a drive or an adapter. GPUs are reached by the adapter itself (GDR) or staged in
 * the host memory of their socket; drives are always staged. */
#include "routes/routes-private.h"

static const CluPart whole = { 1, 1, TRUE };

/* Which network carries it. */
typedef enum { NET_FABRIC, NET_FRONTEND, NET_MANAGEMENT } Net;

typedef struct {
  CluDev dev;
  guint32 node, local; /* node CLU_NONE: storage */
  CluDevKind kind;
  guint32 index; /* among its kind */
  const CluTemplate *t;
  const CluTierNode *tier;
  gboolean remote; /* staged on another socket */
  gboolean direct; /* the adapter reaches the device itself */
  guint32 adapter; /* local: that it leaves or is entered by */
  guint32 proxy;   /* GPU of the node that stands between, by scale-up; CLU_NONE */
} End;

/* Local number of the memory where bytes of this end are staged. */
static guint32
staging_memory (const End *end)
{
  if (end->kind == CLU_DEV_MEMORY && !end->remote)
    return end->local;
  return clu_host_memory (end->t, end->local, end->remote);
}

static End
end_of (const Clu *clu, CluDev dev, const CluDegrade *degrade)
{
  End end = { .dev = dev, .node = clu_node_of_dev (clu, dev), .proxy = CLU_NONE };
  if (end.node == CLU_NONE) {
    end.kind = clu_dev_kind (clu, dev);
    end.tier = clu_tier_of_dev (clu, dev);
    return end;
  }
  end.t = clu_node_template (clu, end.node);
  end.local = dev - clu->node[end.node].dev;
  end.kind = clu_template_kind (end.t, end.local, &end.index);
  end.remote = degrade->remote_numa;
  return end;
}

static guint32
usable_nics (const End *end, const CluDegrade *degrade)
{
  guint32 n = end->t->n[CLU_DEV_NIC];
  return degrade->max_nics > 0 ? MIN (n, degrade->max_nics) : n;
}

/* The device from which adapters are looked for. */
static guint32
seen_from (const End *end, const CluDegrade *degrade)
{
  return degrade->remote_numa && end->t->n[CLU_DEV_SOCKET] > 1 ? staging_memory (end) : end->local;
}

static void
own_nics (const End *end, const CluDegrade *degrade, CluNicSet *out)
{
  out->n = 0;
  if (end->kind == CLU_DEV_NIC) {
    out->n = 1;
    out->nic[0] = (guint16)end->index;
  } else if (end->kind == CLU_DEV_GPU && degrade->max_nics == 0 && !degrade->remote_numa) {
    for (guint32 i = end->t->near_first[end->index]; i < end->t->near_first[end->index + 1]; i++)
      out->nic[out->n++] = (guint16)end->t->near_nic[i];
  } else
    clu_nearest_nics (end->t, end->local, seen_from (end, degrade), usable_nics (end, degrade), out);
}

/* As clu_host_class() from a GPU to an adapter, kept by the template. */
static inline CluPathClass
nic_class (const CluTemplate *t, guint32 gpu, guint32 nic)
{
  return (CluPathClass)t->nic_class[(gsize)gpu * t->n[CLU_DEV_NIC] + nic];
}

/* Whether the adapter itself moves the bytes of this end: GPU memory by GDR, host memory by RDMA, an adapter for itself. */
static gboolean
adapter_reaches (const End *end, const CluDegrade *degrade, guint32 nic)
{
  const CluNicSpec *type = end->t->spec.nics.type.value;
  if (end->kind == CLU_DEV_MEMORY || end->kind == CLU_DEV_NIC)
    return TRUE;
  if (end->kind != CLU_DEV_GPU || degrade->no_gdr || degrade->no_rdma || degrade->host_only || !type->rdma.v || !type->gpudirect.v)
    return FALSE;
  if (degrade->remote_numa && end->t->n[CLU_DEV_SOCKET] > 1)
    return FALSE;
  return degrade->gdr_level == CLU_PATH_LOC || nic_class (end->t, end->index, nic) <= degrade->gdr_level;
}

/* Whether an adapter is one of those that GPU g leaves by. */
static gboolean
is_own_nic (const CluTemplate *t, guint32 g, guint32 nic)
{
  for (guint32 i = t->near_first[g]; i < t->near_first[g + 1]; i++)
    if (t->near_nic[i] == nic)
      return TRUE;
  return FALSE;
}

/* The GPU of the node by which an adapter is left better than from the end itself, of several as near the one whose own it is:
 * CLU_NONE when there is none. */
static guint32
proxy_gpu (const Clu *clu, const End *end, const CluDegrade *degrade, guint32 nic)
{
  if (end->kind != CLU_DEV_GPU || degrade->no_nvlink || degrade->no_p2p || degrade->no_pxn)
    return CLU_NONE;
  const CluTemplate *t = end->t;
  guint32 best = CLU_NONE;
  CluPathClass own = nic_class (t, end->index, nic), nearest = CLU_PATH_P2C; /* NCCL: the proxy must be at PXB, or P2C */
  if (own <= CLU_PATH_PXB)
    return CLU_NONE;
  for (guint32 g = 0; g < t->n[CLU_DEV_GPU]; g++) {
    CluPathClass c = nic_class (t, g, nic);
    gboolean better = best == CLU_NONE || c < nearest || (c == nearest && !is_own_nic (t, best, nic) && is_own_nic (t, g, nic));
    if (g != end->index && c <= nearest && c < own && better &&
        clu_scale_up_class (clu, end->node, end->index, end->node, g) == CLU_PATH_NVL) {
      best = g;
      nearest = c;
    }
  }
  return best;
}

/* From the end to its adapter (or back, when `inward`), *path_class is raised to this way's. */
static gboolean
node_part (CluPath *path, const End *end, gboolean inward, const CluPart *part, CluPathClass *path_class, GError **error)
{
  guint32 nic = end->adapter, proxy = end->proxy;
  if (end->kind == CLU_DEV_NIC && nic == end->local)
    return TRUE;
  guint32 gpu0 = end->t->first[CLU_DEV_GPU];
  if (proxy != CLU_NONE) {
    if (!inward)
      clu_path_scale_up (path, end->node, end->index, end->node, proxy, part);
    if (!clu_path_host (path, end->node, inward ? nic : gpu0 + proxy, inward ? gpu0 + proxy : nic, part, error))
      return FALSE;
    if (inward)
      clu_path_scale_up (path, end->node, proxy, end->node, end->index, part);
    *path_class = MAX (*path_class, CLU_PATH_PXN);
    return TRUE;
  }
  guint32 near = end->direct ? end->local : staging_memory (end), first = inward ? nic : near, last = inward ? near : nic;
  const CluHostPath *known = end->direct ? clu_near_path (end->t, first, last) : NULL;
  CluPathClass way_class = known != NULL ? known->path_class : clu_host_class (end->t, near, nic);
  *path_class = MAX (*path_class, way_class);
  if (known != NULL) {
    clu_path_add_host (path, end->node, known, TRUE, part);
    return TRUE;
  }
  if (!end->direct && !inward && !clu_path_host (path, end->node, end->local, near, part, error))
    return FALSE;
  if (!clu_path_host (path, end->node, first, last, part, error))
    return FALSE;
  return end->direct || !inward || clu_path_host (path, end->node, near, end->local, part, error);
}

/* Adapter to adapter over the fabric. */
static gboolean
fabric_part (CluPath *path, const End *from, const End *to, guint64 flow, const CluPart *part, GError **error)
{
  const CluFabric *fabric = &path->clu->fabric;
  const End *ends[] = { from, to };
  guint32 endpoint[2], wire[2];
  for (int e = 0; e < 2; e++) {
    const End *end = ends[e];
    guint32 nic = end->tier == NULL ? end->adapter - end->t->first[CLU_DEV_NIC] : CLU_NONE;
    endpoint[e] = nic != CLU_NONE ? path->clu->node[end->node].nic + nic : CLU_TOP;
    wire[e] = nic != CLU_NONE ? end->t->wire[nic] : CLU_NONE;
  }
  if (wire[0] != CLU_NONE)
    clu_path_node_link (path, from->node, wire[0], TRUE, part);
  if (!fabric->ops->route (fabric, path, endpoint[0], endpoint[1], flow, part, error))
    return FALSE;
  if (wire[1] != CLU_NONE)
    clu_path_node_link (path, to->node, wire[1], FALSE, part);
  return TRUE;
}

/* --- Between nodes over the fabric ------------------------------------------------------------------------------------------- */

typedef struct {
  CluNicSet from, to;
  gboolean by_rail; /* `from` are the destination's rails, not the source's own adapters */
} Pairing;

static gboolean
no_adapter (const Clu *clu, const End *end, GError **error)
{
  g_autofree char *name = clu_dev_name (clu, end->dev);
  if (end->t->n[CLU_DEV_NIC] == 0)
    return base_fail_at (error, BASE_MARK_NONE, "the path breaks at node%u: it has no adapter on the fabric; give 'nics'",
                         end->node);
  return base_fail_at (error, BASE_MARK_NONE, "the path breaks at %s: no adapter of node%u can be reached from it", name,
                       end->node);
}

static gboolean
same_nics (const CluNicSet *a, const CluNicSet *b)
{
  if (a->n != b->n)
    return FALSE;
  for (guint32 i = 0; i < a->n; i++)
    if (a->nic[i] != b->nic[i])
      return FALSE;
  return TRUE;
}

/* The adapter by which the far end of a rail is entered: the rail's, or the end's own where that is nearer to it. */
static guint32
entry_nic (const End *to, const CluDegrade *degrade, guint32 rail)
{
  CluNicSet own;
  if (to->kind != CLU_DEV_GPU || degrade->same_rail || degrade->remote_numa)
    return rail;
  own_nics (to, degrade, &own);
  return own.n == 0 || nic_class (to->t, to->index, rail) <= nic_class (to->t, to->index, own.nic[0]) ? rail
                                                                                                      : own.nic[rail % own.n];
}

static gboolean
pair_nics (const Clu *clu, const End *from, const End *to, const CluRouteOptions *options, Pairing *out, GError **error)
{
  const CluDegrade *degrade = &options->degrade;
  out->by_rail = FALSE;
  if (options->nic != CLU_NONE) {
    guint32 n_from = usable_nics (from, degrade), n_to = usable_nics (to, degrade);
    if (options->nic >= n_from)
      return base_fail_at (error, BASE_MARK_NONE, "node%u has no usable adapter %u; there are %u", from->node, options->nic,
                           n_from);
    if (n_to == 0)
      return no_adapter (clu, to, error);
    out->from.n = out->to.n = 1;
    out->from.nic[0] = (guint16)(from->kind == CLU_DEV_NIC ? from->index : options->nic);
    out->to.nic[0] = (guint16)(to->kind == CLU_DEV_NIC ? to->index : entry_nic (to, degrade, options->nic % n_to));
    out->by_rail = TRUE;
    return TRUE;
  }
  own_nics (from, degrade, &out->from);
  own_nics (to, degrade, &out->to);
  if (out->from.n == 0)
    return no_adapter (clu, from, error);
  if (out->to.n == 0)
    return no_adapter (clu, to, error);
  if (from->node == to->node && same_nics (&out->from, &out->to)) {
    g_autofree char *a = clu_dev_name (clu, from->dev), *b = clu_dev_name (clu, to->dev);
    return base_fail_at (error, BASE_MARK_NONE, "%s and %s leave their node by the same adapters: no network is between them", a,
                         b);
  }
  if (from->node != to->node && clu->fabric.rails > 1 && from->kind == CLU_DEV_GPU && to->kind == CLU_DEV_GPU &&
      !same_nics (&out->from, &out->to)) {
    guint32 n = usable_nics (from, degrade);
    gboolean reached = TRUE;
    for (guint32 i = 0; i < out->to.n && reached; i++) {
      guint32 k = out->to.nic[i];
      reached = k < n && (degrade->same_rail || nic_class (from->t, from->index, k) <= CLU_PATH_PXB ||
                          proxy_gpu (clu, from, degrade, k) != CLU_NONE);
    }
    if (reached) {
      out->from = out->to;
      out->by_rail = TRUE;
    }
  }
  return TRUE;
}

static guint32
common_multiple (guint32 a, guint32 b)
{
  guint32 x = a, y = b;
  while (y != 0) {
    guint32 rest = x % y;
    x = y;
    y = rest;
  }
  return a / x * b;
}

static gboolean
over_fabric (CluPath *path, End *from, End *to, const CluRouteOptions *options, GError **error)
{
  const Clu *clu = path->clu;
  const CluDegrade *degrade = &options->degrade;
  if (clu->fabric.ops == NULL)
    return base_fail_at (error, BASE_MARK_NONE, "the path breaks between node%u and node%u: the topology has no fabric", from->node,
                         to->node);
  Pairing pair;
  if (!pair_nics (clu, from, to, options, &pair, error))
    return FALSE;
  guint32 n = common_multiple (pair.from.n, pair.to.n);
  gboolean all_direct = TRUE, tcp = degrade->no_rdma || degrade->host_only;
  for (guint32 i = 0; i < n; i++) {
    guint32 a = pair.from.nic[i % pair.from.n], b = pair.to.nic[i % pair.to.n];
    CluPart part = { 1.0 / n, n, i == 0 };
    from->proxy = pair.by_rail ? proxy_gpu (clu, from, degrade, a) : CLU_NONE;
    to->proxy = pair.by_rail && to->t->on_chip_nics ? proxy_gpu (clu, to, degrade, b) : CLU_NONE;
    End by = *from;
    if (from->proxy != CLU_NONE) { /* the proxy's adapter decides how it is left */
      by.index = from->proxy;
      by.local = from->t->first[CLU_DEV_GPU] + from->proxy;
    }
    from->direct = adapter_reaches (&by, degrade, a);
    to->direct = adapter_reaches (to, degrade, b);
    if (!from->direct)
      from->proxy = CLU_NONE;
    from->adapter = from->t->first[CLU_DEV_NIC] + a;
    to->adapter = to->t->first[CLU_DEV_NIC] + b;
    if (!node_part (path, from, FALSE, &part, &path->out->nic_class, error) ||
        !fabric_part (path, from, to, options->flow, &part, error) ||
        !node_part (path, to, TRUE, &part, &path->out->nic_class, error))
      return FALSE;
    all_direct = all_direct && from->direct && to->direct;
    tcp = tcp || !((const CluNicSpec *)from->t->spec.nics.type.value)->rdma.v ||
          !((const CluNicSpec *)to->t->spec.nics.type.value)->rdma.v;
  }
  gboolean gpu = from->kind == CLU_DEV_GPU || to->kind == CLU_DEV_GPU;
  path->out->transport = from->kind == CLU_DEV_NIC && to->kind == CLU_DEV_NIC ? CLU_TRANSPORT_COPY
                         : tcp                                                ? CLU_TRANSPORT_TCP
                         : all_direct && gpu                                  ? CLU_TRANSPORT_NET_GDR
                                                                              : CLU_TRANSPORT_NET_HOST;
  return TRUE;
}

/* --- Over the other networks ------------------------------------------------------------------------------------------------- */

/* The front-end's core, where it is oversubscribed. */
static void
cross_core (CluPath *path, const CluPart *part)
{
  const Clu *clu = path->clu;
  if (clu->frontend_res == CLU_NONE)
    return;
  clu_path_use (path, clu->frontend_res, part->share);
  clu_path_hop (path, CLU_NONE, clu->frontend_dev, clu->frontend_dev, clu->frontend_res, part, part->share);
}

static gboolean
side_part (CluPath *path, End *end, Net net, gboolean inward, const CluPart *part, GError **error)
{
  guint32 wire = net == NET_FRONTEND ? end->t->frontend_wire : end->t->management_wire;
  CluPathClass ignored = CLU_PATH_LOC; /* of adapters on the fabric alone it matters how near they are */
  end->adapter = end->t->first[net == NET_FRONTEND ? CLU_DEV_FRONTEND_NIC : CLU_DEV_MANAGEMENT_NIC];
  if (inward)
    clu_path_node_link (path, end->node, wire, FALSE, part);
  if (!node_part (path, end, inward, part, &ignored, error))
    return FALSE;
  if (!inward)
    clu_path_node_link (path, end->node, wire, TRUE, part);
  return TRUE;
}

static gboolean
over_side_network (CluPath *path, End *from, End *to, Net net, GError **error)
{
  if (net == NET_FRONTEND && path->clu->frontend_dev == CLU_NONE)
    return base_fail_at (error, BASE_MARK_NONE, "the path breaks at node%u: the topology has no 'frontend' network", from->node);
  from->direct = from->kind == CLU_DEV_MEMORY;
  to->direct = to->kind == CLU_DEV_MEMORY;
  if (!side_part (path, from, net, FALSE, &whole, error))
    return FALSE;
  if (net == NET_FRONTEND)
    cross_core (path, &whole);
  path->out->transport = CLU_TRANSPORT_TCP;
  return side_part (path, to, net, TRUE, &whole, error);
}

/* --- Storage ----------------------------------------------------------------------------------------------------------------- */

static void
cross_tier (CluPath *path, const CluTierNode *tier, gboolean outward, const CluPart *part)
{
  const Clu *clu = path->clu;
  CluLink link;
  clu_link (clu, tier->link, &link);
  CluPart spread = *part;
  if (tier->spec->network.v != 0)
    spread.n_alternatives = clu_fabric_n_top (&clu->fabric);
  clu_path_cross (path, &(CluCrossing){ tier->link, link.a, link.b, tier->res, outward, &tier->p }, &spread);
}

/* A tier on the fabric is attached to all top switches by a link that names the first: the hop names the one that the bytes are
 * at. */
static void
name_top_switch (CluPath *path, guint tier_hop, gboolean outward)
{
  GArray *hops = path->out->hops;
  if (!path->list_hops)
    return;
  CluHop *hop = &g_array_index (hops, CluHop, tier_hop);
  if (outward)
    hop->to = g_array_index (hops, CluHop, tier_hop + 1).from;
  else
    hop->from = g_array_index (hops, CluHop, tier_hop - 1).to;
}

/* Between a tier on the front-end and an end in a node. */
static gboolean
storage_by_frontend (CluPath *path, const CluTierNode *tier, End *end, gboolean reading, const CluDegrade *degrade, GError **error)
{
  gboolean gds = path->clu->spec.frontend.gpudirect.v && !degrade->no_gdr && !degrade->remote_numa;
  end->direct = end->kind == CLU_DEV_MEMORY || (end->kind == CLU_DEV_GPU && gds);
  if (reading) {
    cross_tier (path, tier, TRUE, &whole);
    cross_core (path, &whole);
    return side_part (path, end, NET_FRONTEND, TRUE, &whole, error);
  }
  if (!side_part (path, end, NET_FRONTEND, FALSE, &whole, error))
    return FALSE;
  cross_core (path, &whole);
  cross_tier (path, tier, FALSE, &whole);
  return TRUE;
}

/* Between a tier and an end in a node. */
static gboolean
storage_part (CluPath *path, const End *tier_end, End *end, gboolean reading, const CluRouteOptions *options, GError **error)
{
  const CluTierNode *tier = tier_end->tier;
  if (tier->spec->network.v == 0)
    return storage_by_frontend (path, tier, end, reading, &options->degrade, error);
  CluNicSet nics;
  own_nics (end, &options->degrade, &nics);
  if (nics.n == 0)
    return no_adapter (path->clu, end, error);
  for (guint32 i = 0; i < nics.n; i++) {
    CluPart part = { 1.0 / nics.n, nics.n, i == 0 };
    end->direct = adapter_reaches (end, &options->degrade, nics.nic[i]);
    end->adapter = end->t->first[CLU_DEV_NIC] + nics.nic[i];
    if (reading) {
      cross_tier (path, tier, TRUE, &part);
      guint hop = path->out->hops->len - 1;
      if (!fabric_part (path, tier_end, end, options->flow, &part, error))
        return FALSE;
      if (part.shown)
        name_top_switch (path, hop, TRUE);
      if (!node_part (path, end, TRUE, &part, &path->out->nic_class, error))
        return FALSE;
    } else {
      if (!node_part (path, end, FALSE, &part, &path->out->nic_class, error) ||
          !fabric_part (path, end, tier_end, options->flow, &part, error))
        return FALSE;
      cross_tier (path, tier, FALSE, &part);
      if (part.shown)
        name_top_switch (path, path->out->hops->len - 1, FALSE);
    }
  }
  return TRUE;
}

static gboolean
between_tiers (CluPath *path, const End *from, const End *to, GError **error)
{
  if (from->tier->spec->network.v != 0 || to->tier->spec->network.v != 0)
    return base_fail_at (error, BASE_MARK_NONE,
                         "the path breaks between storage.%s and storage.%s: only tiers on the front-end reach each other",
                         from->tier->spec->name.v, to->tier->spec->name.v);
  cross_tier (path, from->tier, TRUE, &whole);
  cross_core (path, &whole);
  cross_tier (path, to->tier, FALSE, &whole);
  return TRUE;
}

gboolean
clu_path_network (CluPath *path, CluDev from_dev, CluDev to_dev, const CluRouteOptions *options, GError **error)
{
  const CluDegrade *degrade = &options->degrade;
  End from = end_of (path->clu, from_dev, degrade), to = end_of (path->clu, to_dev, degrade);
  path->out->path_class = CLU_PATH_NET;
  if (from.tier != NULL || to.tier != NULL) {
    path->out->transport = CLU_TRANSPORT_COPY;
    if (from.tier != NULL && to.tier != NULL)
      return between_tiers (path, &from, &to, error);
    return from.tier != NULL ? storage_part (path, &from, &to, TRUE, options, error)
                             : storage_part (path, &to, &from, FALSE, options, error);
  }
  if (degrade->management)
    return over_side_network (path, &from, &to, NET_MANAGEMENT, error);
  if (degrade->frontend)
    return over_side_network (path, &from, &to, NET_FRONTEND, error);
  return over_fabric (path, &from, &to, options, error);
}
