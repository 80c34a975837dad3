/* Loads of rings along each dimension of a node's torus, all dimensions and both ways at once (models/collective/torus.c).
 *
 * Ranks may be all of a torus or a box of it: the coordinates that they have in each dimension, all combinations of them. A
 * dimension that they fill is a ring, of which each way carries half; of another they have a stretch, whose one ring goes there
 * and back. */
#include "comm-private.h"

enum { MAX_DIMS = 8, MAX_SIZE = 1024 };

typedef struct {
  guint32 n_dims;
  guint32 size[MAX_DIMS];  /* of the torus */
  guint32 k[MAX_DIMS];     /* of the box */
  gboolean ring[MAX_DIMS]; /* its ends are neighbours */
  double weight[MAX_DIMS]; /* of a dimension's links, in lanes both ways */
  guint32 *rank_at;        /* by place in the box, the first dimension fastest */
} Box;

static void
box_clear (Box *box)
{
  g_free (box->rank_at);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Box, box_clear)

/* Coordinates in use, in order: places[d][x] is the place of x among them, + 1; 0: not in use. */
static void
number_places (const Box *box, guint16 (*places)[MAX_SIZE])
{
  for (guint32 d = 0; d < box->n_dims; d++)
    for (guint32 x = 0, at = 0; x < box->size[d]; x++)
      if (places[d][x] != 0)
        places[d][x] = (guint16)++at;
}

/* FALSE: the ranks, all on one node, are not a box of its torus. */
static gboolean
find_box (const ColComm *comm, const ColRankList *ranks, Box *box)
{
  const guint32 node = clu_dev_node (comm->clu, comm->dev[ranks->rank[0]]);
  const CluNvlinkSpec *spec = &clu_node_spec (comm->clu, node)->nvlink;
  *box = (Box){ .n_dims = spec->dims.n };
  if (spec->dims.n == 0 || spec->dims.n > MAX_DIMS || ranks->n < 2)
    return FALSE;
  guint16 places[MAX_DIMS][MAX_SIZE] = { { 0 } };
  guint32 first = 0;
  for (guint32 i = 0; i < node; i++)
    first += clu_gpus_per_node (comm->clu, i);
  for (guint32 d = 0; d < box->n_dims; d++)
    box->size[d] = (guint32)spec->dims.item[d].v;
  for (guint32 i = 0; i < ranks->n; i++)
    for (guint32 d = 0, rest = comm->gpu[ranks->rank[i]] - first; d < box->n_dims; rest /= box->size[d], d++) {
      guint16 *place = &places[d][rest % box->size[d]];
      box->k[d] += *place == 0;
      *place = 1;
    }
  guint64 all = 1;
  for (guint32 d = 0; d < box->n_dims; d++) {
    all *= box->k[d];
    box->ring[d] = box->k[d] == box->size[d];
    const double lanes = d < spec->dim_lanes.n ? spec->dim_lanes.item[d].v : 1.0;
    box->weight[d] = box->k[d] < 2 ? 0.0 : box->ring[d] ? 2.0 * lanes : lanes;
  }
  if (all != ranks->n)
    return FALSE;
  number_places (box, places);
  box->rank_at = g_new (guint32, ranks->n);
  for (guint32 i = 0; i < ranks->n; i++) {
    guint32 at = 0, stride = 1;
    for (guint32 d = 0, rest = comm->gpu[ranks->rank[i]] - first; d < box->n_dims; stride *= box->k[d], rest /= box->size[d], d++)
      at += stride * (guint32)(places[d][rest % box->size[d]] - 1);
    box->rank_at[at] = ranks->rank[i];
  }
  return TRUE;
}

guint32
col_torus_steps (const ColComm *comm, const ColRankList *ranks, double *wire_s)
{
  g_auto (Box) box = { 0 };
  guint32 steps = 0;
  *wire_s = 0;
  if (!find_box (comm, ranks, &box))
    return 0;
  for (guint32 d = 0, stride = 1; d < box.n_dims; stride *= box.k[d], d++) {
    const guint32 hops = box.ring[d] ? box.k[d] / 2 : box.k[d] - 1;
    const ColRoute *way = hops > 0 ? col_comm_rank_route (comm, box.rank_at[0], box.rank_at[stride], CLU_NONE, NULL) : NULL;
    if (hops > 0 && way == NULL)
      return 0;
    steps += hops;
    *wire_s += hops > 0 ? hops * way->latency_s : 0;
  }
  return steps;
}

/* What each rank sends along a dimension in an all-gather, per byte of the size: a part gathers one dimension after the other,
 * so that the dimension that comes last moves the most. Parts are as large as their last dimension is fast. */
static void
share_out (const Box *box, double sent[MAX_DIMS])
{
  double sum = 0;
  for (guint32 d = 0; d < box->n_dims; d++) {
    sum += box->weight[d];
    sent[d] = 0;
  }
  for (guint32 last = 0; last < box->n_dims; last++)
    for (guint32 j = 0, after = 1; j < box->n_dims; j++) {
      const guint32 d = (last + box->n_dims - j) % box->n_dims;
      sent[d] += box->weight[last] / sum * (box->k[d] - 1.0) / box->k[d] / after;
      after *= box->k[d];
    }
}

GArray *
col_torus_edges (const ColComm *comm, const ColRankList *ranks, MdlOp op)
{
  g_auto (Box) box = { 0 };
  double sent[MAX_DIMS];
  GArray *edges = g_array_new (FALSE, FALSE, sizeof (ColEdge));
  g_return_val_if_fail (find_box (comm, ranks, &box), edges);
  share_out (&box, sent);
  for (guint32 d = 0, stride = 1; d < box.n_dims; stride *= box.k[d], d++) {
    const double bytes = sent[d] * (op == MDL_OP_ALL_REDUCE ? 2.0 : 1.0);
    for (guint32 at = 0; at < ranks->n && box.k[d] > 1; at++) {
      const guint32 x = at / stride % box.k[d], next = x + 1 < box.k[d] ? at + stride : at - x * stride;
      const ColEdge there = { box.rank_at[at], box.rank_at[next], CLU_NONE, box.ring[d] ? bytes / 2 : bytes };
      const ColEdge back = { there.to, there.from, CLU_NONE, there.bytes };
      g_array_append_val (edges, there);
      if (box.ring[d])
        g_array_append_val (edges, back);
    }
  }
  return edges;
}
