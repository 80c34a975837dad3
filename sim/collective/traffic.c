/* What an algorithm puts on the links: its edges between ranks, and from them the load of every resource. */
#include <math.h>

#include "comm-private.h"
#include "engine/need.h"

/* Room for so many edges and needs; as many pieces as `ask` wants. */
static ColPipe *
pipe_new (const ColPipesQuery *query, guint32 n_edges, guint32 n_needs)
{
  static const double ROUNDING = 1e-9; /* no further piece for the last bits of a quotient */
  gboolean cut = query->piece_B > 0 && query->size_B > query->piece_B;
  ColPipe *pipe = g_new0 (ColPipe, 1);
  pipe->edge = g_new0 (ColEdge, n_edges);
  pipe->need_at = g_new0 (guint32, n_edges + 1);
  pipe->need = g_new0 (guint32, MAX (n_needs, 1));
  pipe->piece = cut ? fmax (query->piece_B / query->size_B, 1.0 / (1 << 20)) : 1;
  pipe->n_pieces = (guint32)ceil (1 / pipe->piece - ROUNDING);
  return pipe;
}

void
col_pipe_free (ColPipe *pipe)
{
  if (pipe == NULL)
    return;
  g_free (pipe->edge);
  g_free (pipe->need_at);
  g_free (pipe->need);
  g_free (pipe);
}

/* Appends an edge that needs the edges `need[0..n_need-1]`; returns its number. */
static guint32
pipe_add (ColPipe *pipe, ColEdge edge, const guint32 *need, guint32 n_need)
{
  guint32 e = pipe->n_edges++, at = pipe->need_at[e];
  pipe->edge[e] = edge;
  for (guint32 i = 0; i < n_need; i++)
    pipe->need[at + i] = need[i];
  pipe->need_at[e + 1] = at + n_need;
  return e;
}

/* Ring: every rank sends in each of its steps what it got in the step before. */
static ColPipe *
ring_pipe (const ColPipesQuery *query, const CluRing *ring)
{
  guint32 n = query->comm->n;
  ColPipe *pipe = pipe_new (query, n, n);
  pipe->lag = 1;
  pipe->n_pieces = query->op == MDL_OP_ALL_REDUCE ? 2 * (n - 1) : n - 1;
  pipe->piece = 1.0 / pipe->n_pieces;
  for (guint32 i = 0; i < n; i++) {
    guint32 before = (i + n - 1) % n;
    ColEdge edge = { ring->order[i], ring->order[(i + 1) % n], ring->nic_out[i], ring->share * pipe->n_pieces / n };
    pipe_add (pipe, edge, &before, 1);
  }
  return pipe;
}

/* Where the chain of a broadcast or reduce begins in a ring: at the root, or behind it. */
static guint32
chain_start (const ColComm *comm, const CluRing *ring, MdlOp op, guint32 root)
{
  guint32 at = 0;
  while (ring->order[at] != root)
    at++;
  return op == MDL_OP_REDUCE ? (at + 1) % comm->n : at;
}

guint32
col_chain_crossings (const ColComm *comm, MdlOp op, guint32 root)
{
  guint32 most = 0;
  for (guint32 r = 0; comm->n_islands > 1 && comm->rings != NULL && r < comm->rings->n_rings; r++) {
    const CluRing *ring = &comm->rings->ring[r];
    guint32 at = chain_start (comm, ring, op, root), crossings = 0;
    for (guint32 k = 0; k + 1 < comm->n; k++)
      crossings += comm->island[ring->order[(at + k) % comm->n]] != comm->island[ring->order[(at + k + 1) % comm->n]];
    most = MAX (most, crossings);
  }
  return most;
}

/* Broadcast: a chain along the ring from the root; reduce: a chain along it to the root. */
static ColPipe *
chain_pipe (const ColPipesQuery *query, const CluRing *ring)
{
  guint32 n = query->comm->n, at = chain_start (query->comm, ring, query->op, query->root);
  ColPipe *pipe = pipe_new (query, n - 1, n);
  for (guint32 k = 0; k + 1 < n; k++) {
    guint32 i = (at + k) % n, before = k - 1;
    ColEdge edge = { ring->order[i], ring->order[(i + 1) % n], ring->nic_out[i], ring->share };
    pipe_add (pipe, edge, &before, k > 0 ? 1 : 0);
  }
  return pipe;
}

/* ---- trees ---- */

/* Parent of `v` in an in-order binary tree over 0..n-1 (the lowest set bit of a number is its level; 0 is the root with one child).
 * Shape: NCCL src/graph/trees.cc:ncclGetBtree. G_MAXUINT32 for the root. */
static guint32
btree_parent (guint32 v, guint32 n)
{
  if (v == 0)
    return G_MAXUINT32;
  guint32 bit = v & (~v + 1);
  guint32 up = (v ^ bit) | (bit << 1);
  return up < n ? up : v ^ bit;
}

/* Second tree of the pair: the first mirrored (n even) or shifted by one (n odd), so that who is inner in one is a leaf in the
 * other. Source: Sanders, Speck, Traeff, Parallel Computing 35 (2009); NCCL src/graph/trees.cc:ncclGetDtree. */
guint32
col_dtree_parent (guint32 tree, guint32 v, guint32 n)
{
  if (tree == 0)
    return btree_parent (v, n);
  if (n % 2 == 0) {
    guint32 p = btree_parent (n - 1 - v, n);
    return p == G_MAXUINT32 ? p : n - 1 - p;
  }
  guint32 p = btree_parent ((v + n - 1) % n, n);
  return p == G_MAXUINT32 ? p : (p + 1) % n;
}

/* A tree over ranks given by parents, reduce up and broadcast down in one pipeline. */
static ColPipe *
tree_pipe (const ColPipesQuery *query, const guint32 *parent, const guint32 *nic, double share)
{
  guint32 n = query->comm->n;
  ColPipe *pipe = pipe_new (query, 2 * (n - 1), 4 * n);
  g_autofree guint32 *up = g_new (guint32, n), *down = g_new (guint32, n), *need = g_new (guint32, n), *order = g_new (guint32, n);
  g_autofree guint32 *first = g_new (guint32, n), *next = g_new (guint32, n);
  for (guint32 v = 0; v < n; v++)
    first[v] = next[v] = G_MAXUINT32;
  guint32 root = 0, n_order = 0;
  for (guint32 v = n; v-- > 0;) {
    if (parent[v] == G_MAXUINT32) {
      root = v;
      continue;
    }
    next[v] = first[parent[v]];
    first[parent[v]] = v;
  }
  order[n_order++] = root; /* breadth first: parents before children */
  for (guint32 k = 0; k < n_order; k++)
    for (guint32 c = first[order[k]]; c != G_MAXUINT32; c = next[c])
      order[n_order++] = c;
  for (guint32 k = n_order; k-- > 1;) { /* up: children first */
    guint32 v = order[k], n_need = 0;
    for (guint32 c = first[v]; c != G_MAXUINT32; c = next[c])
      need[n_need++] = up[c];
    up[v] = pipe_add (pipe, (ColEdge){ v, parent[v], nic[v], share }, need, n_need);
  }
  for (guint32 k = 1; k < n_order; k++) { /* down: the root has a piece when all its children delivered it */
    guint32 v = order[k], n_need = 0;
    if (parent[v] == root)
      for (guint32 c = first[root]; c != G_MAXUINT32; c = next[c])
        need[n_need++] = up[c];
    else
      need[n_need++] = down[parent[v]];
    down[v] = pipe_add (pipe, (ColEdge){ parent[v], v, nic[v], share }, need, n_need);
  }
  return pipe;
}

guint32
col_ring_start (const ColComm *comm, const CluRing *ring)
{
  guint32 n = comm->n, start = 0;
  while (comm->n_islands > 1 && start < n && comm->island[ring->order[start]] == comm->island[ring->order[(start + n - 1) % n]])
    start++;
  return start;
}

void
col_ring_chains (const ColComm *comm, const CluRing *ring, guint32 offset, ColChains *out)
{
  guint32 n = comm->n, start = col_ring_start (comm, ring), length = 0;
  for (guint32 k = 0, islands = 0; k < n; k += length, islands++) {
    guint32 island = comm->island[ring->order[(start + k + offset) % n]];
    for (length = 1; k + length < n && comm->island[ring->order[(start + k + offset + length) % n]] == island;)
      length++;
    gboolean backwards = ring->rail != CLU_NONE && islands % 2 == 1;
    guint32 above = G_MAXUINT32, last = (start + k + offset + length - 1) % n;
    for (guint32 i = 0; i < length; i++) {
      guint32 rank = ring->order[(start + k + offset + (backwards ? length - 1 - i : i)) % n];
      if (i == 0)
        out->head[island] = rank;
      out->above[rank] = above;
      above = rank;
    }
    out->nic[island] = ring->rail != CLU_NONE ? ring->rail : ring->nic_out[last]; /* else the last rank leaves by the ring's NIC */
  }
}

/* NCCL's tree on ring k: inside an island a chain along the ring order from the GPU beside NIC k, between islands a double
 * binary tree of the chains' heads; each tree carries half. On one island both trees are the same chain, but for three GPUs. */
static void
tree_pipes_on_ring (const ColPipesQuery *query, const CluRing *ring, GPtrArray *pipes)
{
  const ColComm *comm = query->comm;
  gboolean turned = mdl_search_turns_chains (comm->n, comm->n_islands == 1, col_comm_is_switched (comm));
  guint32 n = comm->n, n_trees = comm->n_islands > 1 ? 2 : turned ? MDL_SEARCH_TURNED_GPUS : 1;
  g_autofree guint32 *parent = g_new (guint32, n), *nic = g_new (guint32, n), *head = g_new (guint32, comm->n_islands);
  g_autofree guint32 *exit_nic = g_new (guint32, comm->n_islands);
  for (guint32 tree = 0; tree < n_trees; tree++) {
    for (guint32 v = 0; v < n; v++)
      nic[v] = CLU_NONE;
    col_ring_chains (comm, ring, turned ? tree : 0, &(ColChains){ parent, head, exit_nic });
    for (guint32 v = 0; v < comm->n_islands; v++) {
      guint32 p = col_dtree_parent (tree, v, comm->n_islands);
      if (p != G_MAXUINT32) {
        parent[head[v]] = head[p];
        nic[head[v]] = exit_nic[v];
      }
    }
    double share = ring->share * (turned ? mdl_search_turned_share[tree] : 1.0 / n_trees);
    g_ptr_array_add (pipes, tree_pipe (query, parent, nic, share));
  }
}

/* The textbook's: a double binary tree over the ranks themselves. */
static void
plain_tree_pipes (const ColPipesQuery *query, GPtrArray *pipes)
{
  guint32 n = query->comm->n;
  g_autofree guint32 *parent = g_new (guint32, n), *nic = g_new (guint32, n);
  for (guint32 tree = 0; tree < 2; tree++) {
    for (guint32 v = 0; v < n; v++) {
      parent[v] = col_dtree_parent (tree, v, n);
      nic[v] = CLU_NONE;
    }
    g_ptr_array_add (pipes, tree_pipe (query, parent, nic, .5));
  }
}

/* Whole messages. Sends and receives are as in nccl-tests: each rank sends to the next and receives from the one before. */
static void
pairwise_pipes (const ColPipesQuery *query, GPtrArray *pipes)
{
  guint32 n = query->comm->n, n_peers = query->op == MDL_OP_SENDRECV ? 1 : n - 1;
  double share = query->op == MDL_OP_SENDRECV ? 1 : 1.0 / n;
  ColPipe *pipe = pipe_new (&(ColPipesQuery){ .piece_B = 0 }, n * n_peers, 0);
  for (guint32 i = 0; i < n; i++) /* a sender's edges stand together: so do its messages in memory */
    for (guint32 d = 1; d <= n_peers; d++)
      pipe_add (pipe, (ColEdge){ i, (i + d) % n, CLU_NONE, share }, NULL, 0);
  g_ptr_array_add (pipes, pipe);
}

/* PAT: a phase a bit of n - 1. Gather from the highest bit down, rank to rank + 2^bit; scatter from the lowest up, rank to
 * rank - 2^bit. Of the n trees' n - 1 edges each, those of the bit's length: one part for each offset whose lowest set bit it is.
 * A phase sends what its rank got in all phases before. Source: Jeaugey, arXiv:2506.20252. */
static void
pat_pipes (const ColPipesQuery *query, GPtrArray *pipes)
{
  guint32 n = query->comm->n, phases = 0;
  while (phases < 31 && (1u << phases) < n)
    phases++;
  gboolean gather = query->op == MDL_OP_ALL_GATHER;
  ColPipe *pipe = pipe_new (query, n * phases, n * phases * phases / 2);
  for (guint32 k = 0; k < phases; k++) {
    guint32 far = 1u << (gather ? phases - 1 - k : k), parts = ((n - 1) / far + 1) / 2;
    for (guint32 i = 0; i < n; i++) {
      guint32 need[32];
      for (guint32 before = 0; before < k; before++) {
        guint32 way = (1u << (gather ? phases - 1 - before : before)) % n;
        need[before] = before * n + (gather ? i + n - way : i + way) % n;
      }
      pipe_add (pipe, (ColEdge){ i, (gather ? i + far : i + n - far) % n, CLU_NONE, (double)parts / n }, need, k);
    }
  }
  g_ptr_array_add (pipes, pipe);
}

/* ---- the table ---- */

static void
ring_pipes (const ColPipesQuery *query, GPtrArray *pipes)
{
  gboolean chain = query->op == MDL_OP_BROADCAST || query->op == MDL_OP_REDUCE;
  const CluRings *rings = query->comm->rings;
  for (guint32 r = 0; r < rings->n_rings; r++)
    g_ptr_array_add (pipes, chain ? chain_pipe (query, &rings->ring[r]) : ring_pipe (query, &rings->ring[r]));
}

static void
tree_pipes (const ColPipesQuery *query, GPtrArray *pipes)
{
  if (query->comm->settings->library == NULL)
    plain_tree_pipes (query, pipes);
  else
    for (guint32 r = 0; r < query->comm->rings->n_rings; r++)
      tree_pipes_on_ring (query, &query->comm->rings->ring[r], pipes);
}

static gboolean
load_torus (ColComm *comm, MdlOp op, GError **error)
{
  g_autofree guint32 *rank = col_comm_all_ranks (comm);
  g_autoptr (GArray) edges = col_torus_edges (comm, &(ColRankList){ rank, comm->n }, op);
  for (guint e = 0; e < edges->len; e++)
    if (!col_load_edge (comm, &g_array_index (edges, ColEdge, e), error))
      return FALSE;
  return TRUE;
}

/* How the bytes of each algorithm travel. */
static const ColTravel travels[] = {
  [MDL_ALGO_TREE] = { .pipes = tree_pipes },
  [MDL_ALGO_RING] = { .pipes = ring_pipes },
  [MDL_ALGO_COLLNET_DIRECT] = { .load = col_load_collnet_direct },
  [MDL_ALGO_COLLNET_CHAIN] = { .load = col_load_collnet_chain },
  [MDL_ALGO_NVLS] = { .load = col_load_nvls },
  [MDL_ALGO_NVLS_TREE] = { .load = col_load_nvls_tree },
  [MDL_ALGO_PAT] = { .pipes = pat_pipes },
  [MDL_ALGO_PAIRWISE] = { .pipes = pairwise_pipes, .pairs = TRUE },
  [MDL_ALGO_IBGDA] = { .pipes = pairwise_pipes, .pairs = TRUE },
  [MDL_ALGO_ONE_SHOT] = { .pipes = pairwise_pipes, .pairs = TRUE },
  [MDL_ALGO_SYMMETRIC] = { .pipes = pairwise_pipes, .pairs = TRUE },
  [MDL_ALGO_COPY_ENGINE] = { .pipes = pairwise_pipes, .pairs = TRUE },
  [MDL_ALGO_TORUS] = { .load = load_torus },
  [MDL_ALGO_HIERARCHICAL] = { .load = col_load_hierarchical },
};

static const ColTravel *
travel_of (MdlAlgo algo)
{
  static const ColTravel NONE = { NULL, NULL, FALSE };
  return algo >= 0 && (gsize)algo < G_N_ELEMENTS (travels) ? &travels[algo] : &NONE;
}

char *
col_travel_fault (const ColTravel *travel, const char *name)
{
  if ((travel->pipes == NULL) != (travel->load == NULL))
    return NULL;
  return g_strdup_printf ("algorithm '%s' %s: its row of `travels` in sim/collective/traffic.c must have `pipes` (edges between "
                          "ranks) or `load` (loads of switches that reduce)",
                          name, travel->pipes == NULL ? "loads no link" : "has two ways to load links");
}

gboolean
col_self_check (GError **error)
{
  g_autofree char *fault = NULL;
  for (const MdlColl *const *row = mdl_colls; *row != NULL && fault == NULL; row++)
    fault = col_travel_fault (travel_of ((*row)->algo), base_name (mdl_algo_names, (*row)->algo));
  if (fault != NULL)
    g_set_error (error, BASE_ERROR, BASE_ERROR_RUN, "the program's own tables are wrong: %s", fault);
  return fault == NULL;
}

gboolean
col_algo_has_messages (MdlAlgo algo)
{
  return travel_of (algo)->pipes != NULL;
}

GPtrArray *
col_comm_pipes (const ColPipesQuery *query, MdlAlgo algo)
{
  g_return_val_if_fail (col_algo_has_messages (algo), NULL);
  GPtrArray *pipes = g_ptr_array_new_with_free_func ((GDestroyNotify)col_pipe_free);
  travel_of (algo)->pipes (query, pipes);
  return pipes;
}

/* ---- loads ---- */

void
col_load_add (ColComm *comm, CluRes res, double bytes, double factor)
{
  col_scratch_add (col_routes_scratch (comm->routes), res, bytes, factor);
}

/* `series` gets the edges' routes, unless it is NULL. */
static gboolean
load_edges (ColComm *comm, const GPtrArray *pipes, ColSeries *series, GError **error)
{
  for (guint p = 0; p < pipes->len; p++) {
    const ColPipe *pipe = pipes->pdata[p];
    for (guint32 e = 0; e < pipe->n_edges; e++)
      if (!col_load_series (comm, &pipe->edge[e], series, error))
        return FALSE;
  }
  return TRUE;
}

/* Exact steps of an all-to-all: each pair is a message, all of them at the same time. */
static gboolean
pairs_fit (const ColComm *comm, MdlOp op, GError **error)
{
  enum { CROSSED = 6 }; /* links of a way that can bind, at most */
  const double pairs = (double)comm->n * (comm->n - 1.0);
  const EngNeed need = { .flows = pairs, .crossings = CROSSED * pairs };
  g_autofree char *what =
      g_strdup_printf ("exact steps of %s over %u ranks (--steps fluid needs little)", base_name (mdl_op_names, (int)op), comm->n);
  return eng_need_fits (&need, what, error);
}

static gboolean
load_all (ColComm *comm, MdlOp op, MdlAlgo algo, guint32 root, ColSeries *series, GError **error)
{
  if (!col_algo_has_messages (algo))
    return travel_of (algo)->load (comm, op, error);
  gboolean all_pairs = travel_of (algo)->pairs && op != MDL_OP_SENDRECV;
  if (all_pairs && series == NULL)
    return col_load_all_to_all (comm, error);
  if (all_pairs && !pairs_fit (comm, op, error))
    return FALSE;
  g_autoptr (GPtrArray) pipes = col_comm_pipes (&(ColPipesQuery){ comm, op, root, 0, 0 }, algo);
  return load_edges (comm, pipes, series, error);
}

ColTraffic *
col_comm_traffic (ColComm *comm, MdlOp op, MdlAlgo algo, guint32 root, GError **error)
{
  gboolean exact = comm->settings->steps == COL_STEPS_EXACT && col_algo_has_messages (algo);
  for (guint i = 0; i < comm->traffic->len; i++) {
    ColTraffic *known = comm->traffic->pdata[i];
    if (known->op == op && known->algo == algo && known->root == root && (known->series != NULL || !exact))
      return known;
  }
  g_autoptr (ColSeries) series = exact ? col_series_new (comm->clu) : NULL;
  if (!load_all (comm, op, algo, root, series, error)) {
    col_scratch_clear (col_routes_scratch (comm->routes));
    return NULL;
  }
  ColTraffic *traffic = g_new0 (ColTraffic, 1);
  traffic->op = op;
  traffic->algo = algo;
  traffic->root = root;
  traffic->spread = col_spread_take (comm->routes, comm->clu);
  traffic->series = g_steal_pointer (&series);
  g_ptr_array_add (comm->traffic, traffic);
  return traffic;
}
