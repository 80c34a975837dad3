/* Ways inside a node over the host tree: from a device up to a socket, across to another and down. */
#include "node/node-private.h"

typedef struct {
  guint32 n;
  guint32 dev[CLU_MAX_CLIMB], link[CLU_MAX_CLIMB]; /* link[i]: from dev[i] to dev[i + 1] */
} Climb;

/* Memory stands at its socket. */
static guint32
tree_place (const CluTemplate *t, guint32 local)
{
  return clu_template_is (t, CLU_DEV_MEMORY, local) ? local - t->first[CLU_DEV_MEMORY] + t->first[CLU_DEV_SOCKET] : local;
}

/* The PCIe link of a device, also where a coherent link is its way to the host. */
static guint32
pcie_link (const CluTemplate *t, guint32 local)
{
  if (clu_template_is (t, CLU_DEV_GPU, local) && t->pcie_up[local - t->first[CLU_DEV_GPU]] != CLU_NONE)
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
  return clu_template_is (t, CLU_DEV_SOCKET, root) ? root - t->first[CLU_DEV_SOCKET] : CLU_NONE;
}

/* An adapter that is part of several GPUs has a link to each; CLU_NONE if the two are not such a pair. */
static guint32
on_chip_link (const CluTemplate *t, guint32 nic, guint32 gpu)
{
  if (!t->on_chip_nics || !clu_template_is (t, CLU_DEV_NIC, nic) || !clu_template_is (t, CLU_DEV_GPU, gpu))
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

const CluHostPath *
clu_near_path (const CluTemplate *t, guint32 from, guint32 to)
{
  gboolean inward = clu_template_is (t, CLU_DEV_NIC, from);
  guint32 g = (inward ? to : from) - t->first[CLU_DEV_GPU], nic = (inward ? from : to) - t->first[CLU_DEV_NIC];
  if (g >= t->n[CLU_DEV_GPU])
    return NULL;
  for (guint32 i = t->near_first[g]; i < t->near_first[g + 1]; i++)
    if (t->near_nic[i] == nic)
      return &t->near_path[2 * i + (inward ? 1 : 0)];
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
    return clu_template_is (t, CLU_DEV_SOCKET, top_a) && clu_template_is (t, CLU_DEV_SOCKET, top_b) ? CLU_PATH_SYS : CLU_PATH_N;
  if (!clu_template_is (t, CLU_DEV_SOCKET, top_a))
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
  return clu_template_is (t, CLU_DEV_PCIE_SWITCH, local) ? local : CLU_NONE;
}

gboolean
clu_host_path (const CluTemplate *t, guint32 from, guint32 to, CluHostPath *out, guint32 *out_of)
{
  guint32 x = tree_place (t, from), y = tree_place (t, to);
  Climb a = { .n = 1, .dev = { x } }, b = { .n = 1, .dev = { y } };
  guint32 direct = on_chip_link (t, x, y) != CLU_NONE ? on_chip_link (t, x, y) : on_chip_link (t, y, x);
  gboolean met = x == y || direct != CLU_NONE || meet (t, x, y, &a, &b);
  guint32 n_sockets = t->n[CLU_DEV_SOCKET], top_a = a.dev[a.n - 1], top_b = b.dev[b.n - 1];
  out->n = 0;
  if (!met && (!clu_template_is (t, CLU_DEV_SOCKET, top_a) || !clu_template_is (t, CLU_DEV_SOCKET, top_b))) {
    *out_of = clu_template_is (t, CLU_DEV_SOCKET, top_a) ? top_b : top_a;
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
clu_template_find_paths (CluTemplate *t, BaseArena *arena)
{
  guint32 n = t->near_first[t->n[CLU_DEV_GPU]], out_of;
  CluHostPath *ways = base_arena_alloc_n (arena, 2 * n, sizeof *ways);
  for (guint32 g = 0; g < t->n[CLU_DEV_GPU]; g++)
    for (guint32 i = t->near_first[g]; i < t->near_first[g + 1]; i++)
      for (guint32 inward = 0; inward < 2; inward++) {
        guint32 gpu = t->first[CLU_DEV_GPU] + g, nic = t->first[CLU_DEV_NIC] + t->near_nic[i];
        CluHostPath *way = &ways[2 * i + inward];
        gboolean joined = clu_host_path (t, inward ? nic : gpu, inward ? gpu : nic, way, &out_of);
        g_assert (joined); /* else it would be near none */
        way->path_class = inward ? clu_host_class (t, nic, gpu) : clu_host_class (t, gpu, nic);
      }
  t->near_path = ways;
  t->nic_class = base_arena_alloc_n (arena, (gsize)t->n[CLU_DEV_GPU] * t->n[CLU_DEV_NIC], sizeof *t->nic_class);
  for (guint32 g = 0; g < t->n[CLU_DEV_GPU]; g++)
    for (guint32 nic = 0; nic < t->n[CLU_DEV_NIC]; nic++) {
      CluPathClass path_class = clu_host_class (t, t->first[CLU_DEV_GPU] + g, t->first[CLU_DEV_NIC] + nic);
      t->nic_class[(gsize)g * t->n[CLU_DEV_NIC] + nic] = (guint8)path_class;
    }
}
