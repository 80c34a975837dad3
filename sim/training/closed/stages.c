/* Which stages of a pipeline lie alike on nodes and NVLink domains. Where their sizes do not divide those of a domain (64 ranks on
 * racks of 72 GPUs), the groups of some stages are inside of a domain and those of others cross its edge, which takes them longer.
 * Stages count as alike where the first edge of a node, and of a domain, is equally far from their first rank: edges behind it
 * follow at equal distances. A `placement` changes how far the ranks of a stage reach. A stage with a slow NIC is like no other.
 * Switches between nodes are not looked at.
 * Check: test_training_closed (stages that cross the edge of a rack), test_training_feed (placements, slow NICs). */
#include "closed-private.h"

struct TrnEdges {
  guint32 n;
  guint32 *domain, *node; /* by rank: the first rank behind it that lies in another one; n: none */
  gboolean *slow;         /* by rank: its node has a slow NIC; NULL: none has */
};

static gboolean
has_slow_nic (const TrnJob *job, guint32 node)
{
  const BaseList *list = &job->spec.model.stragglers;
  for (unsigned i = 0; i < list->n; i++) {
    const TrnStragglerSpec *one = BASE_LIST_AT (*list, TrnStragglerSpec, i);
    if (one->rate.set && (guint32)one->node.v == node)
      return TRUE;
  }
  return FALSE;
}

TrnEdges *
trn_edges_new (const TrnJob *job)
{
  const GArray *gpus = job->system->gpus;
  const Clu *clu = job->system->clu;
  TrnEdges *edges = g_new0 (TrnEdges, 1);
  edges->n = gpus->len;
  edges->domain = g_new (guint32, gpus->len);
  edges->node = g_new (guint32, gpus->len);
  guint32 behind = 0;
  for (guint32 i = gpus->len; i-- > 0;) {
    guint32 node = clu_dev_node (clu, clu_gpu (clu, g_array_index (gpus, guint32, i)));
    gboolean last = i + 1 == gpus->len, same = !last && node == behind;
    gboolean near = same || (!last && clu_domain_of_node (clu, node) == clu_domain_of_node (clu, behind));
    edges->node[i] = same ? edges->node[i + 1] : i + 1;
    edges->domain[i] = near ? edges->domain[i + 1] : i + 1;
    behind = node;
    if (!has_slow_nic (job, node))
      continue;
    if (edges->slow == NULL)
      edges->slow = g_new0 (gboolean, gpus->len);
    edges->slow[i] = TRUE;
  }
  return edges;
}

void
trn_edges_free (TrnEdges *edges)
{
  if (edges == NULL)
    return;
  g_free (edges->domain);
  g_free (edges->node);
  g_free (edges->slow);
  g_free (edges);
}

TrnSpan
trn_edges_span (const TrnEdges *edges, guint32 first, guint32 n)
{
  if (first >= edges->n)
    return (TrnSpan){ G_MAXUINT32, G_MAXUINT32, 0 };
  guint32 domain = edges->domain[first] - first, node = edges->node[first] - first;
  return (TrnSpan){ .domain = domain < n ? domain : G_MAXUINT32, .node = node < n ? node : G_MAXUINT32 };
}

static gboolean
same_span (TrnSpan a, TrnSpan b)
{
  return a.domain == b.domain && a.node == b.node && a.own == b.own;
}

/* Ranks from the first to the last of a stage. */
static guint32
reach_of (const TrnGrid *grid)
{
  guint32 reach = 1;
  for (int d = TRN_DIM_TP; d <= TRN_DIM_DP; d++)
    reach += (grid->size[d] - 1) * grid->stride[d];
  return reach;
}

/* 1 + the first rank of a stage with a slow NIC; 0: it has none. */
static guint32
own_of (const TrnEdges *edges, const TrnGrid *grid, guint32 s)
{
  for (guint32 i = 0; edges->slow != NULL && i < trn_grid_locals (grid); i++)
    if (edges->slow[trn_grid_rank (grid, s, i)])
      return 1 + trn_grid_rank (grid, s, 0);
  return 0;
}

TrnStage *
trn_stages_new (const TrnEdges *edges, const TrnGrid *grid)
{
  const guint32 p = grid->size[TRN_DIM_PP], n = reach_of (grid), two = n + grid->stride[TRN_DIM_PP];
  TrnStage *stages = g_new0 (TrnStage, p);
  g_autofree TrnSpan *both = g_new (TrnSpan, p); /* of it and the one behind it */
  for (guint32 s = 0; s < p; s++) {
    TrnStage *one = &stages[s];
    one->first = trn_grid_rank (grid, s, 0);
    one->span = trn_edges_span (edges, one->first, n);
    one->span.own = own_of (edges, grid, s);
  }
  for (guint32 s = 0; s < p; s++) {
    TrnStage *one = &stages[s];
    both[s] = trn_edges_span (edges, one->first, two);
    both[s].own = one->span.own > 0 || (s + 1 < p && stages[s + 1].span.own > 0) ? 1 + s : 0;
    while (!same_span (stages[one->like].span, one->span))
      one->like++;
    while (!same_span (both[one->next], both[s]))
      one->next++;
  }
  const TrnSpan plain = stages[0].span;
  for (guint32 s = 0; s < p; s++)
    stages[s].span = same_span (stages[s].span, plain) ? (TrnSpan){ 0 } : stages[s].span;
  return stages;
}

double *
trn_stage_sends (const TrnModel *model, const TrnStage *stages, TrnGroupPrices *groups, GError **error)
{
  const guint32 p = model->pipe.p;
  const double bytes = mdl_memory_boundary_B (&model->llm, &model->query);
  g_autofree double *send_s = g_new0 (double, p);
  for (guint32 s = 0; s < p && p > 1; s++) {
    const gboolean around = s + 1 == p;
    if (around ? model->pipe.v == 1 : stages[s].next < s) {
      send_s[s] = send_s[around ? 0 : stages[s].next];
      continue;
    }
    const TrnPriced *send = trn_group_send (groups, s, around ? 0 : s + 1, bytes, error);
    if (send == NULL)
      return NULL;
    /* of a queue, nothing hides how much slower it is beside compute */
    send_s[s] = model->software.queues_sends ? trn_send_beside_s (model, stages[0].units, send) : send->time_s;
  }
  return g_steal_pointer (&send_s);
}

GPtrArray *
trn_stage_asks (const TrnStage *stages, guint32 p, GPtrArray *asks)
{
  for (guint32 s = 0; asks != NULL && s < p; s++) {
    const GPtrArray *of = stages[s].units->asks;
    if (of == NULL)
      g_clear_pointer (&asks, g_ptr_array_unref);
    else if (s == 0 || stages[s].units != stages[s - 1].units)
      for (guint i = 0; i < of->len; i++)
        g_ptr_array_add (asks, of->pdata[i]);
  }
  return asks;
}

gboolean
trn_norm_time (const TrnModel *model, TrnGroupPrices *groups, double *out, GError **error)
{
  const TrnGroupKind kinds[] = { TRN_GROUP_MODEL, trn_local_steps (model) ? TRN_GROUP_SHARD : TRN_GROUP_DP };
  *out = 0;
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++) {
    gboolean needed = kinds[i] == TRN_GROUP_MODEL || (model->sync != TRN_SYNC_DDP && model->sync != TRN_SYNC_NONE);
    if (!model->spec->model.clip.v || !needed || trn_grid_group_size (&model->grid, kinds[i]) <= 1)
      continue;
    const TrnPriced *priced = trn_group_price (groups, 0, kinds[i], MDL_OP_ALL_REDUCE, 4, MDL_FORMAT_FP32, error);
    if (priced == NULL)
      return FALSE;
    *out += priced->time_s;
  }
  return TRUE;
}

/* ---- local steps ---- */

typedef struct {
  const TrnModel *model;
  const TrnStage *stages;
  TrnGroupPrices *groups;
} Round;

static double
elements_of (void *user, guint32 pp)
{
  const Round *round = user;
  const TrnModel *model = round->model;
  double sum = 0;
  for (guint32 c = 0; c < mdl_schedule_chunks (&model->pipe); c++) {
    const guint32 position = mdl_schedule_position (&model->pipe, (MdlPlace){ pp, c });
    for (guint32 u = 0; u < trn_cut_units (model, position); u++)
      sum += trn_units_at (round->stages[pp].units, model, position, u)->unit->trained_dense;
  }
  return sum;
}

static const TrnPriced *
price_of (void *user, guint32 pp, TrnGroupKind group, MdlOp op, double size_B, MdlFormat format, GError **error)
{
  const Round *round = user;
  return trn_group_price (round->groups, round->stages[pp].like, group, op, size_B, format, error);
}

gboolean
trn_stage_round (const TrnModel *model, const TrnStage *stages, TrnGroupPrices *groups, TrnLocalResult *out, GError **error)
{
  Round round = { model, stages, groups };
  const TrnLocalPrices prices = { elements_of, price_of, &round };
  return trn_local_round (model, &prices, out, error);
}

void
trn_stage_longer (const TrnLocalResult *round, TrnClosedStep *step)
{
  TrnLocalResult of = *round;
  const TrnLocalLonger longer = trn_local_longer (&of, step->step_time_s);
  const double all_s = longer.waits_s + longer.updates_s;
  step->part_s[TRN_PART_EXPOSED_DP] += longer.waits_s;
  step->part_s[TRN_PART_OPTIMIZER] += longer.updates_s;
  step->step_time_s += all_s;
  step->step_time_lo_s += all_s - longer.less_s;
  step->step_time_hi_s += all_s + longer.more_s;
  step->wire_band = fmax (step->wire_band, of.band);
  step->provenance = MIN (step->provenance, of.source);
}
