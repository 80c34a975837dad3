/* Dispatch and combine of experts: what the links give, draws of the routing, and the price. */
#include "collective/moe.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "collective/gpu.h"
#include "comm-private.h"

/* ---- routing by seed ---- */

typedef struct {
  double ranks, nodes; /* reached by a token, mean */
  double fullest;      /* copies that the fullest rank gets, over the mean */
} Drawn;

/* Experts of one token into `taken`, from the groups that it takes first. */
static void
draw_token (const ColMoeRequest *r, BaseRandom *random, guint8 *group_open, guint32 *taken)
{
  const guint32 experts = (guint32)r->experts, k = (guint32)r->top_k;
  const gboolean limited = r->groups > 0 && r->top_groups > 0 && r->top_groups < r->groups;
  const guint32 groups = limited ? (guint32)r->groups : 1, each = experts / groups;
  memset (group_open, !limited, groups);
  for (guint32 n = 0; limited && n < (guint32)r->top_groups;) {
    const guint32 g = base_random_below (random, groups);
    n += !group_open[g];
    group_open[g] = 1;
  }
  for (guint32 n = 0; n < k;) {
    const guint32 expert = base_random_below (random, experts);
    gboolean again = !group_open[expert / each];
    for (guint32 i = 0; i < n && !again; i++)
      again = taken[i] == expert;
    taken[n] = expert;
    n += !again;
  }
}

static void
draw (const ColComm *comm, const ColMoeRequest *r, Drawn *out)
{
  const guint32 n = comm->n, each = (guint32)(r->experts / n), local = n / comm->n_islands;
  BaseRandom random = base_random_stream (comm->settings->seed, "moe routing");
  g_autofree guint8 *open = g_new (guint8, (gsize)fmax (r->groups, 1)), *seen = g_new (guint8, n);
  g_autofree guint32 *taken = g_new (guint32, (gsize)r->top_k);
  g_autofree double *got = g_new0 (double, n);
  double ranks = 0, nodes = 0, fullest = 0;
  const gsize tokens = (gsize)r->tokens * n;
  for (gsize t = 0; t < tokens; t++) {
    draw_token (r, &random, open, taken);
    memset (seen, 0, n);
    for (guint32 i = 0; i < (guint32)r->top_k; i++) {
      got[taken[i] / each]++;
      seen[taken[i] / each] = 1;
    }
    for (guint32 i = 0, last = G_MAXUINT32; i < n; i++) {
      ranks += seen[i];
      nodes += seen[i] && i / local != last;
      last = seen[i] ? i / local : last;
    }
  }
  for (guint32 i = 0; i < n; i++)
    fullest = fmax (fullest, got[i]);
  *out = (Drawn){ ranks / (double)tokens, nodes / (double)tokens, fullest / (r->tokens * r->top_k) };
}

/* ---- the price ---- */

/* What the fabric leaves a GPU of the traffic between nodes, at most its part of the NICs. */
static gboolean
nic_rate (ColComm *comm, double *out, GError **error)
{
  *out = 0;
  if (comm->n_islands < 2)
    return TRUE;
  double each_Bps = 0;
  const double nics = col_comm_nics (comm, &each_Bps), away = comm->n - comm->max_local;
  const ColTraffic *traffic = col_comm_traffic (comm, MDL_OP_ALLTOALL, MDL_ALGO_PAIRWISE, 0, error);
  if (traffic == NULL)
    return FALSE;
  const double fabric_Bps = traffic->spread->bounds.rate_Bps * away / comm->n;
  *out = nics > 0 && each_Bps > 0 ? fmin (each_Bps * nics / comm->max_local, fabric_Bps) : fabric_Bps;
  return TRUE;
}

static MdlMoeQuestion
question_of (const ColComm *comm, const ColMoeRequest *r)
{
  const CluGpuSpec *gpu = clu_gpu_spec (comm->clu, comm->slow_node);
  return (MdlMoeQuestion){ .op = r->op,
                           .backend = r->backend,
                           .choice = { r->experts, r->top_k, r->groups, r->top_groups > 0 ? r->top_groups : r->groups,
                                       r->routing == MDL_MOE_BALANCED },
                           .tokens = r->tokens,
                           .hidden = r->hidden,
                           .imbalance = fmax (r->imbalance, 1),
                           .format = r->format,
                           .sms = r->sms,
                           .ranks = comm->n,
                           .nodes = comm->n_islands,
                           .nvlink_Bps = col_link_rate_Bps (&gpu->scale_up),
                           .gpu_sms = gpu->compute_units.v,
                           .gpu = gpu->name.v };
}

/* NCCL's all-to-all of all copies; to prepare, an all-gather of counts. */
static gboolean
price_nccl (ColComm *comm, const MdlMoeQuestion *q, MdlMoeCost *out, GError **error)
{
  const gboolean counts = q->op == MDL_MOE_PREPARE;
  memset (out, 0, sizeof *out);
  out->row_B = mdl_moe_row_B (q->hidden, q->format);
  out->reached_ranks = q->reached_ranks > 0 ? q->reached_ranks : mdl_moe_reached (&q->choice, q->ranks);
  out->reached_nodes = q->reached_nodes > 0 ? q->reached_nodes : mdl_moe_reached (&q->choice, q->nodes);
  const double size_B = counts ? 4 * q->choice.experts * q->ranks : q->tokens * q->imbalance * q->choice.top_k * out->row_B;
  const double local = q->ranks / q->nodes;
  out->nvlink_B = counts ? 0 : size_B * (local - 1) / q->ranks;
  out->nic_B = counts ? 0 : size_B * (q->ranks - local) / q->ranks;
  const ColCollRequest request = { .op = counts ? MDL_OP_ALL_GATHER : MDL_OP_ALLTOALL,
                                   .size_B = size_B,
                                   .dtype = MDL_DTYPE_INT8,
                                   .algo = MDL_ALGO_AUTO,
                                   .proto = MDL_PROTO_AUTO };
  g_auto (ColAnswer) coll = { 0 };
  if (!col_coll_price (comm, &request, &coll, error))
    return FALSE;
  out->time_s = coll.cost.time_s;
  out->band = coll.cost.band;
  out->source = coll.provenance;
  out->sms = coll.cost.channels;
  out->n_terms = MIN (coll.cost.n_terms, MDL_MAX_TERMS);
  memcpy (out->term, coll.cost.term, out->n_terms * sizeof *out->term);
  out->bound_by = coll.cost.link_bound ? "links" : coll.cost.latency_s > coll.cost.time_s / 2 ? "latency" : "channels";
  return TRUE;
}

gboolean
col_moe_price (ColComm *comm, const ColMoeRequest *r, ColMoeAnswer *out, const char **key, GError **error)
{
  Drawn drawn = { 0 };
  if (!col_moe_check (comm, r, key, error))
    return FALSE;
  if (r->routing == MDL_MOE_DRAWN)
    draw (comm, r, &drawn);
  MdlMoeQuestion q = question_of (comm, r);
  q.reached_ranks = drawn.ranks;
  q.reached_nodes = drawn.nodes;
  q.imbalance = fmax (q.imbalance, drawn.fullest);
  const struct MdlMoeSpec *spec = comm->settings->library != NULL ? mdl_library_moe (comm->settings->library) : NULL;
  const MdlMoeRow *row = mdl_moe_row (spec, r->backend);
  *out = (ColMoeAnswer){ .request = *r, .n_ranks = comm->n, .n_nodes = comm->n_islands, .nvlink_Bps = q.nvlink_Bps };
  out->request.imbalance = q.imbalance;
  if (!nic_rate (comm, &q.nic_Bps, error))
    return FALSE;
  out->nic_Bps = q.nic_Bps;
  if (r->backend == MDL_MOE_BY_NCCL) {
    if (!price_nccl (comm, &q, &out->cost, error))
      return FALSE;
  } else
    mdl_moe_cost (row, &q, &out->cost);
  out->time_s = out->cost.time_s;
  out->time_lo_s = out->time_s / (1 + out->cost.band);
  out->time_hi_s = out->time_s * (1 + out->cost.band);
  return TRUE;
}
