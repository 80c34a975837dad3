/* From one device to another: which of the ways is taken. */
#include <math.h>

#include "routes/routes-private.h"

const char *
clu_path_class_name (CluPathClass path_class)
{
  static const char *const names[CLU_PATH_N] = { "LOC", "NVL", "NVB", "C2C", "PIX", "PXB", "P2C", "PXN", "PHB", "SYS", "NET" };
  g_return_val_if_fail ((unsigned)path_class < CLU_PATH_N, "?");
  return names[path_class];
}

const char *
clu_transport_name (CluTransport transport)
{
  static const char *const names[CLU_TRANSPORT_N] = { "P2P", "SHM", "NET/GDR", "NET/host", "TCP", "COPY" };
  g_return_val_if_fail ((unsigned)transport < CLU_TRANSPORT_N, "?");
  return names[transport];
}

void
clu_route_init (CluRoute *route)
{
  *route = (CluRoute){ .uses = g_array_new (FALSE, FALSE, sizeof (CluUse)), .hops = g_array_new (FALSE, FALSE, sizeof (CluHop)) };
}

void
clu_route_clear (CluRoute *route)
{
  g_clear_pointer (&route->uses, g_array_unref);
  g_clear_pointer (&route->hops, g_array_unref);
}

static const CluPart whole = { 1, 1, TRUE };

guint32
clu_host_memory (const CluTemplate *t, guint32 local, gboolean remote)
{
  guint32 socket = clu_socket_of (t, local);
  if (socket == CLU_NONE)
    socket = 0; /* nothing links it to a host: the way there will say so */
  return t->first[CLU_DEV_MEMORY] + (remote ? (socket + 1) % t->n[CLU_DEV_SOCKET] : socket);
}

/* Two GPUs of one node. */
static gboolean
between_gpus (CluPath *path, guint32 node, guint32 a, guint32 b, const CluDegrade *degrade, GError **error)
{
  const CluTemplate *t = clu_node_template (path->clu, node);
  guint32 from = t->first[CLU_DEV_GPU] + a, to = t->first[CLU_DEV_GPU] + b;
  CluPathClass host = clu_host_class (t, from, to);
  CluPathClass scale_up = degrade->no_nvlink ? CLU_PATH_N : clu_scale_up_class (path->clu, node, a, node, b);
  CluPathClass nearest = MIN (host, scale_up), limit = degrade->p2p_level != CLU_PATH_LOC ? degrade->p2p_level : CLU_PATH_NET;
  path->out->path_class = MIN (nearest, CLU_PATH_SYS);
  if (!degrade->no_p2p && !degrade->host_only && nearest <= limit) {
    path->out->transport = CLU_TRANSPORT_P2P;
    if (nearest != scale_up)
      return clu_path_host (path, node, from, to, &whole, error);
    clu_path_scale_up (path, node, a, node, b, &whole);
    return TRUE;
  }
  /* Through host memory: of the sender's socket, or of the wrong one. */
  const guint32 memory = clu_host_memory (t, from, degrade->remote_numa);
  path->out->transport = degrade->host_only ? CLU_TRANSPORT_TCP : CLU_TRANSPORT_SHM;
  path->out->path_class = host != CLU_PATH_N ? host : CLU_PATH_SYS;
  return clu_path_host (path, node, from, memory, &whole, error) && clu_path_host (path, node, memory, to, &whole, error);
}

/* `memory`, which GPU `gpu` copies from or to; with a process on the wrong socket never that of its own socket. */
static guint32
copied_memory (const CluTemplate *t, guint32 memory, guint32 gpu, const CluDegrade *degrade)
{
  const gboolean own = memory == clu_host_memory (t, gpu, FALSE);
  return degrade->remote_numa && own ? clu_host_memory (t, gpu, TRUE) : memory;
}

/* Between a GPU, memory, a drive or an adapter and another of these in one node. */
static gboolean
inside_node (CluPath *path, guint32 node, CluDev from_dev, CluDev to_dev, const CluRouteOptions *options, GError **error)
{
  const CluDegrade *degrade = &options->degrade;
  const CluTemplate *t = clu_node_template (path->clu, node);
  guint32 from = from_dev - path->clu->node[node].dev, to = to_dev - path->clu->node[node].dev, from_index, to_index;
  CluDevKind a = clu_template_kind (t, from, &from_index), b = clu_template_kind (t, to, &to_index);
  if (a == CLU_DEV_GPU && b == CLU_DEV_GPU)
    return between_gpus (path, node, from_index, to_index, degrade, error);
  CluPathClass path_class = clu_host_class (t, from, to);
  path->out->path_class = path_class != CLU_PATH_N ? path_class : CLU_PATH_SYS;
  path->out->transport = CLU_TRANSPORT_COPY;
  /* A drive is read and written by its own DMA: into GPU memory only under the same switch, else by way of the host. */
  gboolean drive = a == CLU_DEV_NVME || b == CLU_DEV_NVME, host = a == CLU_DEV_MEMORY || b == CLU_DEV_MEMORY;
  if (drive && !host && ((path_class > CLU_PATH_PXB && !options->peer_drives) || degrade->no_gdr)) {
    const guint32 memory = clu_host_memory (t, b == CLU_DEV_GPU ? to : from, degrade->remote_numa);
    return clu_path_host (path, node, from, memory, &whole, error) && clu_path_host (path, node, memory, to, &whole, error);
  }
  if (a == CLU_DEV_MEMORY && b == CLU_DEV_GPU)
    from = copied_memory (t, from, to, degrade);
  else if (a == CLU_DEV_GPU && b == CLU_DEV_MEMORY)
    to = copied_memory (t, to, from, degrade);
  return clu_path_host (path, node, from, to, &whole, error);
}

static gboolean
can_end (CluDevKind kind)
{
  return kind == CLU_DEV_GPU || kind == CLU_DEV_MEMORY || kind == CLU_DEV_NIC || kind == CLU_DEV_NVME || kind == CLU_DEV_STORAGE;
}

static CluDevKind
kind_of (const Clu *clu, CluDev dev, guint32 node)
{
  guint32 index;
  return node == CLU_NONE ? clu_dev_kind (clu, dev)
                          : clu_template_kind (clu_node_template (clu, node), dev - clu->node[node].dev, &index);
}

static gboolean
find (CluPath *path, CluDev from, CluDev to, const CluRouteOptions *options, GError **error)
{
  const Clu *clu = path->clu;
  guint32 a = clu_node_of_dev (clu, from), b = clu_node_of_dev (clu, to);
  CluDevKind from_kind = kind_of (clu, from, a), to_kind = kind_of (clu, to, b);
  for (int e = 0; e < 2; e++)
    if (!can_end (e == 0 ? from_kind : to_kind)) {
      g_autofree char *name = clu_dev_name (clu, e == 0 ? from : to);
      return base_fail_at (error, BASE_MARK_NONE,
                           "'%s' passes bytes on and cannot be an end of a route; ends are GPUs, hosts, nics, nvmes and storage",
                           name);
    }
  if (from == to) {
    path->out->transport = from_kind == CLU_DEV_GPU ? CLU_TRANSPORT_P2P : CLU_TRANSPORT_COPY;
    return TRUE;
  }
  const gboolean both_gpus = from_kind == CLU_DEV_GPU && to_kind == CLU_DEV_GPU;
  if (a != CLU_NONE && a == b && !(options->over_network && both_gpus))
    return inside_node (path, a, from, to, options, error);
  const CluDegrade *d = &options->degrade;
  if (both_gpus && !options->over_network && !d->no_p2p && !d->no_nvlink && !d->host_only) {
    guint32 i = from - clu->node[a].dev - clu_node_template (clu, a)->first[CLU_DEV_GPU];
    guint32 j = to - clu->node[b].dev - clu_node_template (clu, b)->first[CLU_DEV_GPU];
    if (clu_scale_up_class (clu, a, i, b, j) == CLU_PATH_NVL) {
      path->out->transport = CLU_TRANSPORT_P2P;
      path->out->path_class = CLU_PATH_NVL;
      clu_path_scale_up (path, a, i, b, j, &whole);
      return TRUE;
    }
  }
  return clu_path_network (path, from, to, options, error);
}

gboolean
clu_route_find (const Clu *clu, CluDev from, CluDev to, const CluRouteOptions *options, CluRoute *out, GError **error)
{
  g_return_val_if_fail (from < clu->n_devices && to < clu->n_devices && out->uses != NULL, FALSE);
  CluPath path;
  clu_path_begin (&path, clu, !options->no_hops, out);
  path.peers = options->peer_drives;
  g_autoptr (GError) reason = NULL;
  gboolean found = find (&path, from, to, options, &reason);
  clu_path_end (&path);
  if (found)
    return TRUE;
  g_array_set_size (out->uses, 0);
  g_array_set_size (out->hops, 0);
  g_autofree char *a = clu_dev_name (clu, from), *b = clu_dev_name (clu, to);
  g_propagate_prefixed_error (error, g_steal_pointer (&reason), "no route from %s to %s: ", a, b);
  return FALSE;
}

guint32
clu_route_bottleneck (const Clu *clu, const CluRoute *route, double *rate_Bps)
{
  guint32 least = CLU_NONE;
  double least_Bps = HUGE_VAL;
  for (guint32 i = 0; i < route->uses->len; i++) {
    const CluUse *use = &g_array_index (route->uses, CluUse, i);
    double rate = clu_resource_capacity (clu, use->res) / use->share;
    if (rate < least_Bps) {
      least_Bps = rate;
      least = i;
    }
  }
  *rate_Bps = least_Bps;
  return least;
}

void
clu_host_copy_uses (const Clu *clu, guint32 node, GArray *uses)
{
  const CluTemplate *t = clu_node_template (clu, node);
  const guint32 n = t->n[CLU_DEV_MEMORY];
  for (guint32 m = 0; m < n; m++) {
    const CluOwn *own = &t->own[t->first[CLU_DEV_MEMORY] + m];
    const struct {
      guint32 res;
      double share;
    } use[] = { { own->res, 2.0 / n }, { own->read, 1.0 / n }, { own->write, 1.0 / n } };
    for (guint i = 0; i < G_N_ELEMENTS (use); i++)
      if (use[i].res != CLU_NONE) {
        const CluUse one = { .res = clu->node[node].res + use[i].res, .share = use[i].share };
        g_array_append_val (uses, one);
      }
  }
}

gboolean
clu_route_is_staged (const Clu *clu, const CluRoute *route)
{
  for (guint h = 0; h < route->hops->len; h++) {
    const CluHop *hop = &g_array_index (route->hops, CluHop, h);
    if (clu_dev_kind (clu, hop->from) == CLU_DEV_MEMORY && clu_dev_kind (clu, hop->to) == CLU_DEV_MEMORY)
      return TRUE;
  }
  return FALSE;
}
