/* Traffic of the algorithms whose bytes switches reduce: NVLS, NVLSTree, CollNet. They have no messages, only loads.
 *
 * Inside an island behind a switch that reduces (NVLS): for all-reduce every rank is read once for each of the h parts (S out), a
 * head gets its reduced part (S/h in), stores it through the switch (S/h out), and all receive all parts (S in). Gather stores
 * only, scatter reads only. n + 1 transfers against a ring's 2n.
 *
 * In the network's switches (SHARP): the heads of one rail, one an island, are attached to a tree of switches, which is laid
 * along the routes between them and the first island's, each switch with one way on: a link carries the rail's share once towards
 * the root and once from it, however many islands are behind it. Where a route spreads over parallel cables, so does the tree.
 *
 * Gather and scatter there: a rank's part, S/n, goes one way and its rail's, S/h, the other; every rank is a head.
 *
 * Source: NCCL 5067397c src/device/all_reduce.h (runNvls, runCollnetDirect, runTreeSplit), all_gather.h and reduce_scatter.h (their
 * forms for CollNet direct and for NVLS over nodes), src/graph/connect.cc,
 * src/transport/nvls.cc (heads); Graham et al., "Scalable Hierarchical Aggregation Protocol (SHARP)", COM-HPC 2016. */
#include "comm-private.h"

/* Ranks by island, in rank order; `heads`: what every island can have. */
typedef struct {
  guint32 *at; /* n_islands + 1 offsets into rank */
  guint32 *rank;
  guint32 heads;
} Members;

static void
members_init (Members *m, const ColComm *comm)
{
  m->at = g_new0 (guint32, comm->n_islands + 2);
  m->rank = g_new (guint32, comm->n);
  for (guint32 i = 0; i < comm->n; i++)
    m->at[comm->island[i] + 2]++;
  m->heads = comm->n;
  for (guint32 v = 0; v < comm->n_islands; v++) {
    m->heads = MIN (m->heads, m->at[v + 2]);
    m->at[v + 2] += m->at[v + 1];
  }
  for (guint32 i = 0; i < comm->n; i++)
    m->rank[m->at[comm->island[i] + 1]++] = i;
}

static void
members_clear (Members *m)
{
  g_free (m->at);
  g_free (m->rank);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Members, members_clear)

/* The first `heads` of the n ranks are heads. `reach`: of the links' rate. */
static gboolean
load_nvls (ColComm *comm, const guint32 *rank, guint32 n, guint32 heads, MdlOp op, double reach, GError **error)
{
  for (guint32 i = 0; i < n && n > 1; i++) {
    guint32 peer = rank[(i + 1) % n];
    double part = i < heads ? 1.0 / heads : 0;
    double out = op == MDL_OP_ALL_REDUCE ? 1 + part : op == MDL_OP_ALL_GATHER ? part : 1;
    double in = op == MDL_OP_ALL_REDUCE ? 1 + part : op == MDL_OP_ALL_GATHER ? 1 : part;
    for (int back = 0; back < 2; back++) {
      if (!col_comm_route (comm, back ? peer : rank[i], back ? rank[i] : peer, CLU_NONE, &comm->route, error))
        return FALSE;
      /* behind one switch a route is: up to the switch, down from it */
      const GArray *hops = comm->route.hops;
      const CluHop *hop = &g_array_index (hops, CluHop, back ? hops->len - 1 : 0);
      col_load_add (comm, hop->res, back ? in : out,
                    reach * col_routes_copy_factor (comm->routes, comm->route.transport, hop->res));
    }
  }
  return TRUE;
}

/* Every island by itself, its links at NVLS's efficiency: the links outside have their own. */
static gboolean
load_nvls_islands (ColComm *comm, const Members *m, MdlOp op, GError **error)
{
  const CluGpuSpec *gpu = clu_gpu_spec (comm->clu, comm->slow_node);
  unsigned capability = gpu->compute_capability.set ? (unsigned)gpu->compute_capability.v : 0;
  double reach = mdl_nvls_efficiency (comm->settings->library, capability, comm->max_local);
  for (guint32 v = 0; v < comm->n_islands; v++)
    if (!load_nvls (comm, m->rank + m->at[v], m->at[v + 1] - m->at[v], m->heads, op, reach, error))
      return FALSE;
  return TRUE;
}

/* Scratch while a tree of switches is laid: what is in it already. */
typedef struct {
  double *most;    /* share of each resource */
  guint8 *known;   /* devices whose way on is in the tree */
  GArray *seen;    /* CluRes with `most` */
  GArray *reached; /* CluDev that are known */
} Tree;

static void
tree_init (Tree *tree, const ColComm *comm)
{
  tree->most = g_new0 (double, clu_n_resources (comm->clu));
  tree->known = g_new0 (guint8, clu_n_devices (comm->clu));
  tree->seen = g_array_new (FALSE, FALSE, sizeof (CluRes));
  tree->reached = g_array_new (FALSE, FALSE, sizeof (CluDev));
}

static void
tree_empty (Tree *tree)
{
  for (guint i = 0; i < tree->seen->len; i++)
    tree->most[g_array_index (tree->seen, CluRes, i)] = 0;
  for (guint i = 0; i < tree->reached->len; i++)
    tree->known[g_array_index (tree->reached, CluDev, i)] = 0;
  g_array_set_size (tree->seen, 0);
  g_array_set_size (tree->reached, 0);
}

static void
tree_clear (Tree *tree)
{
  g_free (tree->most);
  g_free (tree->known);
  g_array_unref (tree->seen);
  g_array_unref (tree->reached);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Tree, tree_clear)

static gboolean
is_hop (const GArray *hops, guint from, guint to, CluRes res)
{
  for (guint i = from; i < to; i++)
    if (g_array_index (hops, CluHop, i).res == res)
      return TRUE;
  return FALSE;
}

/* Adds what of a route is not in the tree yet: on the way up until a device whose way on is known, on the way back from the last
 * one that is reached. */
static void
load_branch (ColComm *comm, double share, gboolean back, Tree *tree)
{
  const GArray *hops = comm->route.hops;
  guint first = 0, end = hops->len;
  if (back)
    for (first = hops->len; first > 0 && !tree->known[g_array_index (hops, CluHop, first - 1).to];)
      first--;
  else
    for (end = 0; end < hops->len && !tree->known[g_array_index (hops, CluHop, end).from];)
      end++;
  for (guint i = 0; i < comm->route.uses->len; i++) {
    const CluUse *use = &g_array_index (comm->route.uses, CluUse, i);
    if (use->share <= tree->most[use->res] || is_hop (hops, 0, first, use->res) || is_hop (hops, end, hops->len, use->res))
      continue;
    double factor = col_routes_copy_factor (comm->routes, comm->route.transport, use->res) * col_sharp_rate (comm, use->res);
    col_load_add (comm, use->res, share * (use->share - tree->most[use->res]), factor);
    tree->most[use->res] = use->share;
    g_array_append_val (tree->seen, use->res);
  }
  for (guint i = first; i < end; i++) {
    const CluHop *hop = &g_array_index (hops, CluHop, i);
    CluDev dev = back ? hop->to : hop->from;
    tree->known[dev] = 1;
    g_array_append_val (tree->reached, dev);
  }
}

/* One rail's tree of switches: `share` of the bytes from every head towards the root, and back from it. `nic`: of each head, NULL
 * for the nearest. `tree`: empty before and after. */
static gboolean
load_rail (ColComm *comm, const guint32 *head, const guint32 *nic, double share, Tree *tree, GError **error)
{
  for (int back = 0; back < 2; back++) {
    for (guint32 v = 1; v < comm->n_islands; v++) {
      guint32 from = back ? 0 : v, to = back ? v : 0;
      if (!col_comm_route (comm, head[from], head[to], nic != NULL ? nic[from] : CLU_NONE, &comm->route, error))
        return FALSE;
      load_branch (comm, share, back, tree);
    }
    tree_empty (tree);
  }
  return TRUE;
}

/* The switch that a route enters the fabric by; CLU_NONE if it has none. */
static CluDev
first_switch (const Clu *clu, const CluRoute *route)
{
  for (guint i = 0; i < route->hops->len; i++) {
    CluDev to = g_array_index (route->hops, CluHop, i).to;
    if (clu_dev_kind (clu, to) == CLU_DEV_SWITCH)
      return to;
  }
  return CLU_NONE;
}

/* One rank's own bytes between it and the root: what of a route is on its side of the root. */
static void
load_stem (ColComm *comm, double bytes, CluDev root, gboolean back)
{
  const GArray *hops = comm->route.hops;
  guint first = 0, end = hops->len;
  for (guint i = 0; i < hops->len && root != CLU_NONE; i++) {
    const CluHop *hop = &g_array_index (hops, CluHop, i);
    if (back && hop->from == root)
      first = i;
    else if (!back && hop->from == root) {
      end = i;
      break;
    }
  }
  for (guint i = 0; i < comm->route.uses->len; i++) {
    const CluUse *use = &g_array_index (comm->route.uses, CluUse, i);
    if (is_hop (hops, 0, first, use->res) || is_hop (hops, end, hops->len, use->res))
      continue;
    double factor = col_routes_copy_factor (comm->routes, comm->route.transport, use->res) * col_sharp_rate (comm, use->res);
    col_load_add (comm, use->res, bytes * use->share, factor);
  }
}

/* One rail of an all-gather (of a reduce-scatter the other way around): each head's own S/n to the root, which is the first switch
 * of the first island, and parts that meet on a link add up; from the root S/h to every head, on each link once. */
static gboolean
load_gather_rail (ColComm *comm, MdlOp op, const guint32 *head, double share, Tree *tree, GError **error)
{
  CluDev root = CLU_NONE;
  for (guint32 v = 0; v < comm->n_islands; v++)
    for (int back = 0; back < 2; back++) {
      guint32 other = v == 0 ? 1 : 0;
      if (!col_comm_route (comm, head[back ? other : v], head[back ? v : other], CLU_NONE, &comm->route, error))
        return FALSE;
      if (v == 0 && back == 0) {
        root = first_switch (comm->clu, &comm->route);
        if (root != CLU_NONE) { /* the tree begins and ends here */
          tree->known[root] = 1;
          g_array_append_val (tree->reached, root);
        }
      }
      if (back == (op == MDL_OP_ALL_GATHER))
        load_branch (comm, share, back, tree);
      else
        load_stem (comm, 1.0 / comm->n, root, back);
    }
  tree_empty (tree);
  return TRUE;
}

/* Head j of every island is on rail j. */
static gboolean
load_rails_of_heads (ColComm *comm, const Members *m, MdlOp op, GError **error)
{
  g_auto (Tree) tree;
  tree_init (&tree, comm);
  g_autofree guint32 *head = g_new (guint32, comm->n_islands);
  for (guint32 j = 0; j < m->heads; j++) {
    for (guint32 v = 0; v < comm->n_islands; v++)
      head[v] = m->rank[m->at[v] + j];
    gboolean ok = op == MDL_OP_ALL_REDUCE ? load_rail (comm, head, NULL, 1.0 / m->heads, &tree, error)
                                          : load_gather_rail (comm, op, head, 1.0 / m->heads, &tree, error);
    if (!ok)
      return FALSE;
  }
  return TRUE;
}

/* Double binary tree of the heads of each rail, each tree with half of the rail's share, up and down. */
static gboolean
load_trees_of_heads (ColComm *comm, const Members *m, GError **error)
{
  double share = 0.5 / m->heads;
  for (guint32 j = 0; j < m->heads; j++)
    for (guint32 tree = 0; tree < 2; tree++)
      for (guint32 v = 0; v < comm->n_islands; v++) {
        guint32 p = col_dtree_parent (tree, v, comm->n_islands);
        if (p == G_MAXUINT32)
          continue;
        const ColEdge up = { m->rank[m->at[v] + j], m->rank[m->at[p] + j], CLU_NONE, share };
        const ColEdge down = { up.to, up.from, CLU_NONE, share };
        if (!col_load_edge (comm, &up, error) || !col_load_edge (comm, &down, error))
          return FALSE;
      }
  return TRUE;
}

/* Every rank to each head of its island, and the sums back; of gather and scatter one of the two. */
static gboolean
load_direct (ColComm *comm, const Members *m, MdlOp op, GError **error)
{
  for (guint32 v = 0; v < comm->n_islands; v++)
    for (guint32 i = m->at[v]; i < m->at[v + 1]; i++)
      for (guint32 j = m->at[v]; j < m->at[v] + m->heads; j++) {
        if (i == j)
          continue;
        const ColEdge to = { m->rank[i], m->rank[j], CLU_NONE, 1.0 / m->heads };
        const ColEdge back = { to.to, to.from, CLU_NONE, to.bytes };
        if ((op != MDL_OP_ALL_GATHER && !col_load_edge (comm, &to, error)) ||
            (op != MDL_OP_REDUCE_SCATTER && !col_load_edge (comm, &back, error)))
          return FALSE;
      }
  return TRUE;
}

/* On ring k a chain along the ring's order from an island's last rank to its first, beside NIC k, and back. */
static gboolean
load_chain (ColComm *comm, const CluRing *ring, Tree *tree, GError **error)
{
  guint32 n = comm->n;
  g_autofree guint32 *above = g_new (guint32, n), *head = g_new (guint32, comm->n_islands), *nic = g_new (guint32, comm->n_islands);
  col_ring_chains (comm, ring, 0, &(ColChains){ above, head, nic });
  for (guint32 rank = 0; rank < n; rank++) {
    if (above[rank] == G_MAXUINT32)
      continue;
    const ColEdge up = { rank, above[rank], CLU_NONE, ring->share };
    const ColEdge down = { up.to, up.from, CLU_NONE, ring->share };
    if (!col_load_edge (comm, &up, error) || !col_load_edge (comm, &down, error))
      return FALSE;
  }
  return load_rail (comm, head, nic, ring->share, tree, error);
}

static gboolean
load_chains (ColComm *comm, GError **error)
{
  g_auto (Tree) tree;
  tree_init (&tree, comm);
  for (guint32 r = 0; r < comm->rings->n_rings; r++)
    if (!load_chain (comm, &comm->rings->ring[r], &tree, error))
      return FALSE;
  return TRUE;
}

gboolean
col_load_collnet_chain (ColComm *comm, MdlOp op, GError **error)
{
  (void)op; /* all-reduce only */
  return load_chains (comm, error);
}

gboolean
col_load_collnet_direct (ColComm *comm, MdlOp op, GError **error)
{
  g_auto (Members) m;
  members_init (&m, comm);
  return load_direct (comm, &m, op, error) && load_rails_of_heads (comm, &m, op, error);
}

gboolean
col_load_nvls (ColComm *comm, MdlOp op, GError **error)
{
  g_auto (Members) m;
  members_init (&m, comm);
  if (op == MDL_OP_ALL_REDUCE)
    m.heads = mdl_nvls_heads (comm->settings->library, m.heads);
  if (comm->n_islands == 1) /* the efficiency is the answer's wire factor */
    return load_nvls (comm, m.rank, comm->n, m.heads, op, 1, error);
  return load_nvls_islands (comm, &m, op, error) && load_rails_of_heads (comm, &m, op, error);
}

gboolean
col_load_nvls_tree (ColComm *comm, MdlOp op, GError **error)
{
  if (comm->n_islands == 1) /* no tree */
    return col_load_nvls (comm, op, error);
  g_auto (Members) m;
  members_init (&m, comm);
  m.heads = mdl_nvls_heads (comm->settings->library, m.heads);
  return load_nvls_islands (comm, &m, op, error) && load_trees_of_heads (comm, &m, error);
}
