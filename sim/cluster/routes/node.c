/* Ways inside a node (and inside an NVLink domain): the host tree, and scale-up links. */
#include "graph/path-private.h"

typedef struct {
  guint32 n;
  guint32 dev[CLU_MAX_CLIMB], link[CLU_MAX_CLIMB]; /* link[i]: from dev[i] to dev[i + 1] */
} Climb;

static gboolean
is_kind (const CluTemplate *t, CluDevKind kind, guint32 local)
{
  return local - t->first[kind] < t->n[kind];
}

/* Memory stands at its socket. */
static guint32
tree_place (const CluTemplate *t, guint32 local)
{
  return is_kind (t, CLU_DEV_MEMORY, local) ? local - t->first[CLU_DEV_MEMORY] + t->first[CLU_DEV_SOCKET] : local;
}

/* The PCIe link of a device, also where a coherent link is its way to the host. */
static guint32
pcie_link (const CluTemplate *t, guint32 local)
{
  if (is_kind (t, CLU_DEV_GPU, local) && t->pcie_up[local - t->first[CLU_DEV_GPU]] != CLU_NONE)
    return t->pcie_up[local - t->first[CLU_DEV_GPU]];
  return t->up[local];
}

static guint32
pcie_parent (const CluTemplate *t, guint32 local)
{
  guint32 link = pcie_link (t, local);
  return link == CLU_NONE ? CLU_NONE : clu_template_link_at (t, link)->b;
}

static void
climb (const CluTemplate *t, guint32 local, gboolean by_pcie, Climb *out)
{
  out->n = 1;
  out->dev[0] = local;
  for (guint32 link = by_pcie ? pcie_link (t, local) : t->up[local]; link != CLU_NONE && out->n < CLU_MAX_CLIMB;
       link = t->up[out->dev[out->n - 1]]) {
    out->link[out->n - 1] = link;
    out->dev[out->n++] = clu_template_link_at (t, link)->b;
  }
}

guint32
clu_socket_of (const CluTemplate *t, guint32 local)
{
  Climb way;
  climb (t, tree_place (t, local), FALSE, &way);
  guint32 root = way.dev[way.n - 1];
  return is_kind (t, CLU_DEV_SOCKET, root) ? root - t->first[CLU_DEV_SOCKET] : CLU_NONE;
}

/* An adapter that is part of several GPUs has a link to each; CLU_NONE if the two are not such a pair. */
static guint32
on_chip_link (const CluTemplate *t, guint32 nic, guint32 gpu)
{
  if (!t->on_chip_nics || !is_kind (t, CLU_DEV_NIC, nic) || !is_kind (t, CLU_DEV_GPU, gpu))
    return CLU_NONE;
  guint32 link = t->up[nic], first = clu_template_link_at (t, link)->b;
  guint32 served = MAX (t->n[CLU_DEV_GPU] / t->n[CLU_DEV_NIC], 1u);
  return gpu - first < served ? link + (gpu - first) : CLU_NONE;
}

/* Both climbs, cut where they meet; FALSE when they end at different roots. */
static gboolean
meet (const CluTemplate *t, guint32 from, guint32 to, Climb *a, Climb *b)
{
  gboolean by_pcie = pcie_parent (t, from) != CLU_NONE && pcie_parent (t, from) == pcie_parent (t, to);
  climb (t, from, by_pcie, a);
  climb (t, to, by_pcie, b);
  for (guint32 i = 0; i < a->n; i++)
    for (guint32 j = 0; j < b->n; j++)
      if (a->dev[i] == b->dev[j]) {
        a->n = i + 1;
        b->n = j + 1;
        return TRUE;
      }
  return FALSE;
}

static gboolean
coherent (const CluTemplate *t, const Climb *way)
{
  for (guint32 i = 0; i + 1 < way->n; i++)
    if (clu_template_link_at (t, way->link[i])->p.link_class->family.v == CLU_FAMILY_C2C)
      return TRUE;
  return FALSE;
}

/* The known way between a GPU and an adapter of its own; NULL for other devices. */
const CluWay *
clu_near_way (const CluTemplate *t, guint32 from, guint32 to)
{
  gboolean inward = is_kind (t, CLU_DEV_NIC, from);
  guint32 g = (inward ? to : from) - t->first[CLU_DEV_GPU], nic = (inward ? from : to) - t->first[CLU_DEV_NIC];
  if (g >= t->n[CLU_DEV_GPU])
    return NULL;
  for (guint32 i = t->near_first[g]; i < t->near_first[g + 1]; i++)
    if (t->near_nic[i] == nic)
      return &t->near_way[2 * i + (inward ? 1 : 0)];
  return NULL;
}

CluPathClass
clu_host_class (const CluTemplate *t, guint32 from, guint32 to)
{
  guint32 x = tree_place (t, from), y = tree_place (t, to);
  Climb a = { .n = 1, .dev = { x } }, b = { .n = 1, .dev = { y } };
  if (x == y)
    return from == to ? CLU_PATH_LOC : CLU_PATH_PHB;
  if (on_chip_link (t, x, y) != CLU_NONE || on_chip_link (t, y, x) != CLU_NONE)
    return CLU_PATH_PIX;
  gboolean met = meet (t, x, y, &a, &b);
  guint32 top_a = a.dev[a.n - 1], top_b = b.dev[b.n - 1];
  if (!met)
    return is_kind (t, CLU_DEV_SOCKET, top_a) && is_kind (t, CLU_DEV_SOCKET, top_b) ? CLU_PATH_SYS : CLU_PATH_N;
  if (!is_kind (t, CLU_DEV_SOCKET, top_a))
    return CLU_PATH_PIX;
  gboolean c2c_a = coherent (t, &a), c2c_b = coherent (t, &b);
  if ((c2c_a && b.n == 1) || (c2c_b && a.n == 1))
    return CLU_PATH_C2C;
  return c2c_a || c2c_b ? CLU_PATH_P2C : CLU_PATH_PHB;
}

/* A PCIe switch is crossed; what else stands on the way is not. */
static guint32
bus_at (const CluTemplate *t, guint32 local)
{
  return is_kind (t, CLU_DEV_PCIE_SWITCH, local) ? local : CLU_NONE;
}

/* The links from one place of the host tree to another. FALSE when nothing joins them: *out_of is the device that is linked to no
 * host. */
static gboolean
find_way (const CluTemplate *t, guint32 x, guint32 y, CluWay *out, guint32 *out_of)
{
  Climb a = { .n = 1, .dev = { x } }, b = { .n = 1, .dev = { y } };
  guint32 direct = on_chip_link (t, x, y) != CLU_NONE ? on_chip_link (t, x, y) : on_chip_link (t, y, x);
  gboolean met = x == y || direct != CLU_NONE || meet (t, x, y, &a, &b);
  guint32 n_sockets = t->n[CLU_DEV_SOCKET], top_a = a.dev[a.n - 1], top_b = b.dev[b.n - 1];
  out->n = 0;
  if (!met && (!is_kind (t, CLU_DEV_SOCKET, top_a) || !is_kind (t, CLU_DEV_SOCKET, top_b))) {
    *out_of = is_kind (t, CLU_DEV_SOCKET, top_a) ? top_b : top_a;
    return FALSE;
  }
  if (direct != CLU_NONE) {
    out->step[out->n++] = (CluStep){ direct, clu_template_link_at (t, direct)->a == x, CLU_NONE };
    return TRUE;
  }
  for (guint32 i = 0; i + 1 < a.n; i++)
    out->step[out->n++] = (CluStep){ a.link[i], TRUE, i + 2 < a.n || met ? bus_at (t, a.dev[i + 1]) : CLU_NONE };
  if (!met) {
    guint32 i = top_a - t->first[CLU_DEV_SOCKET], j = top_b - t->first[CLU_DEV_SOCKET];
    out->step[out->n++] = (CluStep){ t->socket_link[i * n_sockets + j], i < j, top_b };
  }
  for (guint32 i = b.n - 1; i > 0; i--)
    out->step[out->n++] = (CluStep){ b.link[i - 1], FALSE, i - 1 > 0 ? bus_at (t, b.dev[i - 1]) : CLU_NONE };
  return TRUE;
}

void
clu_template_find_ways (CluTemplate *t)
{
  guint32 n = t->near_first[t->n[CLU_DEV_GPU]], out_of;
  CluWay *ways = g_new0 (CluWay, 2 * n);
  for (guint32 g = 0; g < t->n[CLU_DEV_GPU]; g++)
    for (guint32 i = t->near_first[g]; i < t->near_first[g + 1]; i++)
      for (guint32 inward = 0; inward < 2; inward++) {
        guint32 gpu = t->first[CLU_DEV_GPU] + g, nic = t->first[CLU_DEV_NIC] + t->near_nic[i];
        CluWay *way = &ways[2 * i + inward];
        gboolean joined = find_way (t, inward ? nic : gpu, inward ? gpu : nic, way, &out_of);
        g_assert (joined); /* else it would be near none */
        way->path_class = inward ? clu_host_class (t, nic, gpu) : clu_host_class (t, gpu, nic);
      }
  t->near_way = ways;
  t->nic_class = g_new (guint8, (gsize)t->n[CLU_DEV_GPU] * t->n[CLU_DEV_NIC] + 1u);
  for (guint32 g = 0; g < t->n[CLU_DEV_GPU]; g++)
    for (guint32 nic = 0; nic < t->n[CLU_DEV_NIC]; nic++) {
      CluPathClass path_class = clu_host_class (t, t->first[CLU_DEV_GPU] + g, t->first[CLU_DEV_NIC] + nic);
      t->nic_class[(gsize)g * t->n[CLU_DEV_NIC] + nic] = (guint8)path_class;
    }
}

static gboolean
no_way (const Clu *clu, guint32 node, guint32 local, GError **error)
{
  g_autofree char *name = clu_dev_name (clu, clu->node[node].dev + local);
  g_set_error (error, BASE_ERROR, BASE_ERROR_INPUT,
               "the path breaks at %s: nothing links it to its host; give its type a 'pcie' link, node.pcie a generation, or "
               "sockets a gpu_link",
               name);
  return FALSE;
}

void
clu_path_way (CluPath *path, guint32 node, const CluWay *way, gboolean straight, const CluPart *part)
{
  const CluTemplate *t = clu_node_template (path->clu, node);
  for (guint32 i = 0; i < way->n; i++) {
    clu_path_node_link (path, node, way->step[i].link, way->step[i].forward, part);
    guint32 bus = way->step[i].bus;
    if (bus != CLU_NONE && (!is_kind (t, CLU_DEV_SOCKET, bus) || (path->peers && straight)))
      clu_path_own (path, node, way->step[i].bus, 1, part);
  }
}

gboolean
clu_path_host (CluPath *path, guint32 node, guint32 from, guint32 to, const CluPart *part, GError **error)
{
  const CluTemplate *t = clu_node_template (path->clu, node);
  guint32 x = tree_place (t, from), y = tree_place (t, to), out_of;
  const CluWay *known = clu_near_way (t, from, to);
  CluWay way;
  if (known != NULL) {
    clu_path_way (path, node, known, TRUE, part);
    return TRUE;
  }
  if (!find_way (t, x, y, &way, &out_of))
    return no_way (path->clu, node, out_of, error);
  if (from != x)
    clu_path_memory (path, node, from, FALSE, part);
  else if (is_kind (t, CLU_DEV_NVME, from))
    clu_path_own (path, node, from, 1, part);
  clu_path_way (path, node, &way, from == x && to == y, part);
  if (to != y)
    clu_path_memory (path, node, to, TRUE, part);
  else if (is_kind (t, CLU_DEV_NVME, to))
    clu_path_own (path, node, to, t->write_weight, part);
  return TRUE;
}

/* --- Scale-up -------------------------------------------------------------------------------------------------------------- */

static guint32
torus_distance (const CluTemplate *t, guint32 a, guint32 b)
{
  guint32 hops = 0;
  for (guint32 d = 0; d < t->n_torus_dims; d++) {
    guint32 size = t->torus_dims[d], ahead = (b % size + size - a % size) % size;
    hops += MIN (ahead, size - ahead);
    a /= size;
    b /= size;
  }
  return hops;
}

CluPathClass
clu_scale_up_class (const Clu *clu, guint32 node_a, guint32 gpu_a, guint32 node_b, guint32 gpu_b)
{
  const CluTemplate *a = clu_node_template (clu, node_a), *b = clu_node_template (clu, node_b);
  if (node_a == node_b && gpu_a == gpu_b)
    return CLU_PATH_LOC;
  if (node_a / clu->domain_nodes != node_b / clu->domain_nodes)
    return CLU_PATH_N;
  if (a->port != NULL)
    return b->port != NULL ? CLU_PATH_NVL : CLU_PATH_N;
  if (node_a != node_b || a->mesh == NULL)
    return CLU_PATH_N;
  if (a->mesh[(gsize)gpu_a * a->n[CLU_DEV_GPU] + gpu_b] != CLU_NONE)
    return CLU_PATH_NVL;
  return a->scale_up == CLU_SCALE_UP_TORUS && torus_distance (a, gpu_a, gpu_b) > 0 ? CLU_PATH_NVB : CLU_PATH_N;
}

static void
mesh_step (CluPath *path, guint32 node, const CluTemplate *t, guint32 from, guint32 to, const CluPart *part)
{
  guint32 link = t->mesh[(gsize)from * t->n[CLU_DEV_GPU] + to];
  clu_path_node_link (path, node, link, clu_template_link_at (t, link)->a == t->first[CLU_DEV_GPU] + from, part);
}

/* Dimension order, the shorter way round; half of the bytes each way where both are equal. */
static void
torus_walk (CluPath *path, guint32 node, const CluTemplate *t, guint32 from, guint32 to, const CluPart *part)
{
  guint32 stride = 1;
  for (guint32 d = 0; d < t->n_torus_dims; stride *= t->torus_dims[d], d++) {
    guint32 size = t->torus_dims[d], here = from / stride % size, there = to / stride % size;
    guint32 ahead = (there + size - here) % size, base = from - here * stride;
    gboolean tie = size > 2 && 2 * ahead == size;
    for (int way = 0; way < 2 && ahead > 0; way++) {
      gboolean up = way == 0;
      if (!tie && up != (2 * ahead <= size))
        continue;
      CluPart half = { part->share * (tie ? 0.5 : 1), part->n_alternatives * (tie ? 2 : 1), part->shown && (!tie || up) };
      guint32 at = here, steps = up ? ahead : size - ahead;
      for (guint32 s = 0; s < steps; s++) {
        guint32 next = up ? (at + 1) % size : (at + size - 1) % size;
        mesh_step (path, node, t, base + at * stride, base + next * stride, &half);
        at = next;
      }
    }
    from = base + there * stride;
  }
}

void
clu_path_scale_up (CluPath *path, guint32 node_a, guint32 gpu_a, guint32 node_b, guint32 gpu_b, const CluPart *part)
{
  const CluTemplate *a = clu_node_template (path->clu, node_a), *b = clu_node_template (path->clu, node_b);
  if (node_a == node_b && gpu_a == gpu_b)
    return;
  if (a->port != NULL) {
    clu_path_node_link (path, node_a, a->port[gpu_a], TRUE, part);
    clu_path_node_link (path, node_b, b->port[gpu_b], FALSE, part);
  } else if (a->mesh[(gsize)gpu_a * a->n[CLU_DEV_GPU] + gpu_b] != CLU_NONE)
    mesh_step (path, node_a, a, gpu_a, gpu_b, part);
  else
    torus_walk (path, node_a, a, gpu_a, gpu_b, part);
}
