/* Loads of operations that work inside each node first and then between nodes (models/collective/hierarchical.c).
 *
 * Each node must have as many ranks, at the same places. Inside a torus their bytes go as torus.c lays them; behind a switch, where
 * all links are alike, each rank's go to its neighbour, whoever gets them. Between nodes each rank's go to the one at the same
 * place of the next node: as many bytes as halving and doubling, or a ring, move. */
#include <math.h>

#include "comm-private.h"

static int
by_gpu (gconstpointer a, gconstpointer b, gpointer comm)
{
  const guint32 x = ((const ColComm *)comm)->gpu[*(const guint32 *)a], y = ((const ColComm *)comm)->gpu[*(const guint32 *)b];
  return (x > y) - (x < y);
}

/* Ranks by node, and by place in it; NULL: nodes have different ones. */
static guint32 *
sort_ranks (const ColComm *comm)
{
  const guint32 p = comm->max_local;
  if (comm->n_nodes != comm->n_islands || comm->n != comm->n_islands * p)
    return NULL;
  g_autofree guint32 *rank = col_comm_all_ranks (comm);
  g_qsort_with_data (rank, (gint)comm->n, sizeof *rank, by_gpu, (gpointer)comm);
  for (guint32 i = p; i < comm->n; i++) {
    const gboolean new_node = comm->stand[rank[i]].node != comm->stand[rank[i - 1]].node;
    const CluDev here = comm->dev[rank[i]], first = comm->dev[rank[i % p]];
    if (new_node != (i % p == 0) || clu_dev_index (comm->clu, here) != clu_dev_index (comm->clu, first))
      return NULL;
  }
  return g_steal_pointer (&rank);
}

/* Into the scratch, `ways` all-gathers inside each node. */
static gboolean
load_inside (ColComm *comm, const guint32 *rank, double ways, GError **error)
{
  const guint32 p = comm->max_local;
  const double bytes = ways * (p - 1.0) / p;
  for (guint32 v = 0; v < comm->n_islands && p > 1; v++) {
    const ColRankList node = { rank + (gsize)v * p, p };
    const gboolean switched = col_comm_is_switched (comm);
    g_autoptr (GArray) edges = switched ? g_array_new (FALSE, FALSE, sizeof (ColEdge))
                                        : col_torus_edges (comm, &node, ways > 1 ? MDL_OP_ALL_REDUCE : MDL_OP_ALL_GATHER);
    for (guint32 i = 0; i < p && switched; i++) {
      const ColEdge edge = { node.rank[i], node.rank[(i + 1) % p], CLU_NONE, bytes };
      g_array_append_val (edges, edge);
    }
    for (guint e = 0; e < edges->len; e++)
      if (!col_load_edge (comm, &g_array_index (edges, ColEdge, e), error))
        return FALSE;
  }
  return TRUE;
}

/* Likewise between nodes, of each rank's part; *wire_s: latency of the longest route. */
static gboolean
load_between (ColComm *comm, const guint32 *rank, double ways, double *wire_s, GError **error)
{
  const guint32 p = comm->max_local, nodes = comm->n_islands;
  for (guint32 i = 0; i < comm->n; i++) {
    const ColRoute *way = col_comm_rank_route (comm, rank[i], rank[(i + p) % comm->n], CLU_NONE, error);
    if (way == NULL)
      return FALSE;
    *wire_s = fmax (*wire_s, way->latency_s);
    const ColEdge edge = { rank[i], rank[(i + p) % comm->n], CLU_NONE, ways * (nodes - 1.0) / nodes / p };
    if (!col_load_edge (comm, &edge, error))
      return FALSE;
  }
  return TRUE;
}

static double
take_rate (ColComm *comm)
{
  ColSpread *spread = col_spread_take (comm->routes, comm->clu);
  const double rate_Bps = spread->bounds.rate_Bps;
  col_spread_unref (spread);
  return rate_Bps;
}

/* Steps inside a node and their latency; FALSE: no way is known. */
static gboolean
find_steps (ColComm *comm, ColHierarchy *h)
{
  const guint32 p = comm->max_local;
  if (p == 1)
    return TRUE;
  if (comm->intra.hop != MDL_HOP_NVLINK)
    return FALSE;
  h->steps = col_comm_is_switched (comm) ? 1 : col_torus_steps (comm, &(ColRankList){ h->rank, p }, &h->wire_s[0]);
  if (col_comm_is_switched (comm))
    h->wire_s[0] = comm->intra.latency_s;
  return h->steps > 0;
}

const ColHierarchy *
col_comm_hierarchy (ColComm *comm)
{
  ColHierarchy *h = &comm->hierarchy;
  if (h->asked || comm->n_islands < 2)
    return h;
  h->asked = TRUE;
  h->rank = sort_ranks (comm);
  if (h->rank == NULL || !find_steps (comm, h))
    return h;
  if (load_inside (comm, h->rank, 1, NULL)) {
    h->Bps[0] = comm->max_local > 1 ? take_rate (comm) : HUGE_VAL;
    if (load_between (comm, h->rank, 1, &h->wire_s[1], NULL))
      h->Bps[1] = take_rate (comm);
  }
  col_scratch_clear (col_routes_scratch (comm->routes)); /* of routes that do not exist */
  return h;
}

gboolean
col_load_hierarchical (ColComm *comm, MdlOp op, GError **error)
{
  const ColHierarchy *h = col_comm_hierarchy (comm);
  double wire_s = 0;
  const double ways = op == MDL_OP_ALL_REDUCE ? 2 : 1;
  g_return_val_if_fail (h->Bps[1] > 0, FALSE);
  return load_inside (comm, h->rank, ways, error) && load_between (comm, h->rank, ways, &wire_s, error);
}
