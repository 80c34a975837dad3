/* Tasks of a model's step: compute on a GPU, communication on its streams, and how they slow each other. */
#include <math.h>
#include <string.h>

#include "base/append.h"
#include "build-private.h"

const char *const trn_role_names[TRN_ROLES] = { "compute",   "host",     "tp",           "cp",        "ep",      "dp",
                                                "expert dp", "replicas", "send forward", "send back", "to host", "from host" };

const TrnUnit *
trn_unit_at (TrnBuild *b, guint32 lane, guint32 position, guint32 unit, GError **error)
{
  const TrnStageLayers *cut = &b->model->cut[position];
  guint32 front = cut->embedding ? 1 : 0;
  if (b->model->layers != NULL)
    return trn_layers_unit (b->model, position, unit);
  if (unit < front)
    return trn_costs_unit (b->costs, lane, TRN_UNIT_EMBEDDING, 0, error);
  if (unit - front < cut->n)
    return trn_costs_unit_again (b->costs, lane, TRN_UNIT_LAYER, cut->first + unit - front,
                                 trn_model_again (b->model, position, unit), error);
  return trn_costs_unit (b->costs, lane, unit - front == cut->n ? TRN_UNIT_HEAD : TRN_UNIT_MTP, 0, error);
}

EngStream
trn_build_stream (TrnBuild *b, guint32 lane, TrnRole role)
{
  EngStream *stream = &b->lane[lane].stream[role];
  if (*stream == ENG_NO_STREAM) {
    g_autofree char *name = g_strdup_printf ("stage %u %s", lane, trn_role_names[role]);
    *stream = eng_graph_stream (b->graph, name);
  }
  return *stream;
}

static void
note (TrnBuild *b, EngTask task, TrnNote what)
{
  what.at = b->at;
  g_assert (b->notes->len == task);
  *(TrnNote *)base_append (b->notes, &b->room, sizeof what) = what;
}

EngTask
trn_build_compute (TrnBuild *b, guint32 lane, TrnStepKind kind, double time_s, const TrnItem *item, const char *name)
{
  if (b->rehearses) {
    b->need.tasks++;
    b->need.paced += item != NULL && b->model->layers == NULL ? 1 : 0;
    return 0;
  }
  gboolean host = kind == TRN_STEP_HOST || kind == TRN_STEP_SYNC;
  EngStream stream = trn_build_stream (b, lane, host ? TRN_ROLE_HOST : TRN_ROLE_COMPUTE);
  EngTime time = eng_time_from_s (host ? time_s : time_s * b->lane[lane].slow);
  EngTask task = time > 0 ? eng_graph_delay (b->graph, stream, time, kind, name) : eng_graph_join (b->graph, stream, kind, name);
  gboolean paced = time > 0 && item != NULL && b->model->layers == NULL;
  if (paced)
    eng_graph_on (b->graph, task, b->lane[lane].place);
  note (b, task,
        (TrnNote){ .compute = paced ? &item->demand : NULL,
                   .lane = lane,
                   .other = lane,
                   .item = item,
                   .share = item != NULL && item->time_s > 0 ? time_s / item->time_s : 1,
                   .alone_s = eng_time_to_s (time) });
  return task;
}

void
trn_build_count (const TrnBuild *b)
{
  g_autoptr (GHashTable) shares = g_hash_table_new_full (NULL, NULL, NULL, g_free); /* TrnPriced -> double: how often */
  g_autoptr (GPtrArray) order = g_ptr_array_new ();                                 /* sums do not depend on addresses */
  for (EngTask t = 0; t < b->notes->len; t++) {
    const TrnNote *note = &g_array_index (b->notes, TrnNote, t);
    if (note->comm == NULL)
      continue;
    double *share = g_hash_table_lookup (shares, note->comm);
    if (share == NULL) {
      share = g_new0 (double, 1);
      g_hash_table_insert (shares, (gpointer)note->comm, share);
      g_ptr_array_add (order, (gpointer)note->comm);
    }
    *share += note->share;
  }
  for (guint k = 0; k < order->len; k++) {
    const TrnPriced *priced = order->pdata[k];
    double bytes = *(const double *)g_hash_table_lookup (shares, priced) * priced->coll.size_B * priced->coll.cost.wire;
    for (guint i = 0; i < priced->all->len; i++) {
      const ColLoad *load = &g_array_index (priced->all, ColLoad, i);
      col_net_count (b->net, load->res, bytes * load->load, load->factor, load->n);
    }
  }
}

/* A collective's kernel begins once those that run leave it SMs, on every rank. */
static double
wait_for_sms (const TrnBuild *b, const TrnPriced *priced, double beside_s)
{
  static const MdlOverlapCompute full = { MDL_OVERLAP_GEMM, 1, 0 };
  unsigned ranks = MAX (priced->coll.n_ranks, 2);
  gboolean waits = beside_s > 0 && !b->model->job->system->settings.no_interference;
  return waits ? mdl_overlap_wait_s (b->model->job->system->overlap, &b->model->gpu, &full, &priced->demand, beside_s, ranks) : 0;
}

EngTask
trn_build_comm (TrnBuild *b, const TrnTransfer *transfer)
{
  const TrnPriced *priced = transfer->priced;
  if (b->rehearses) {
    b->need.tasks++;
    b->need.paced += b->model->layers == NULL ? 1 : 0;
    g_hash_table_insert (b->sent, (gpointer)priced,
                         GUINT_TO_POINTER (GPOINTER_TO_UINT (g_hash_table_lookup (b->sent, priced)) + 1));
    return 0;
  }
  const MdlCollCost *cost = &priced->coll.cost;
  const guint32 lane = transfer->lane, other = transfer->other;
  const double share = transfer->share;
  EngStream stream = trn_build_stream (b, lane, transfer->role);
  EngTask task;
  if (priced->time_s <= 0 || share <= 0) {
    task = eng_graph_join (b->graph, stream, transfer->kind, transfer->name);
    note (b, task, (TrnNote){ .lane = lane, .other = other });
    return task;
  }
  double wait_s = wait_for_sms (b, priced, transfer->beside_s);
  double stretch = b->end > 0 ? 1 + cost->band : b->end < 0 ? 1 / (1 + cost->band) : 1;
  double alone_s = wait_s + cost->latency_s + (priced->time_s - cost->latency_s) * share;
  gboolean closed = b->model->job->system->settings.mode == COL_MODE_MODEL;
  EngFlowSpec spec = { .amount = priced->coll.size_B * share * stretch,
                       .latency = eng_time_from_s ((wait_s + cost->latency_s) * stretch) };
  g_array_set_size (b->uses, 0);
  for (guint i = 0; !closed && i < priced->loads->len; i++) {
    const ColLoad *load = &g_array_index (priced->loads, ColLoad, i);
    const EngUse use = { col_net_link (b->net, load->res), load->load * cost->wire / load->factor };
    g_array_append_val (b->uses, use);
  }
  spec.uses = (const EngUse *)(gconstpointer)b->uses->data;
  spec.n_uses = b->uses->len;
  /* the closed form has the time of all groups together, and no links */
  spec.bound_per_s = col_net_pace_Bps (cost, priced->coll.size_B, closed ? priced->time_s : cost->time_s);
  gboolean given = b->model->layers != NULL; /* nothing slows given times, nor they others */
  task = given && closed
             ? eng_graph_delay (b->graph, stream, eng_time_from_s (cost->time_s * stretch), transfer->kind, transfer->name)
             : eng_graph_flow (b->graph, stream, &spec, transfer->kind, transfer->name);
  if (!given)
    eng_graph_on (b->graph, task, b->lane[lane].place);
  if (!given && other != lane)
    eng_graph_on (b->graph, task, b->lane[other].place);
  note (b, task, (TrnNote){ .comm = priced, .lane = lane, .other = other, .share = share, .alone_s = alone_s });
  return task;
}

gboolean
trn_build_fits (const TrnBuild *b)
{
  return !b->rehearses || eng_need_B (&b->need) <= eng_limit_B ();
}

void
trn_build_after_one (TrnBuild *b, EngTask task, EngTask before)
{
  if (b->rehearses)
    b->need.waits++;
  else if (before != ENG_NO_TASK)
    eng_graph_after (b->graph, task, before);
}

void
trn_build_after (TrnBuild *b, EngTask task, const GArray *wait)
{
  for (guint i = 0; wait != NULL && i < wait->len; i++)
    trn_build_after_one (b, task, g_array_index (wait, EngTask, i));
}
