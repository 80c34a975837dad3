/* A training step of a model, run on the engine. */
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "base/units.h"
#include "model_build-private.h"
#include "training-private.h"

#define MAX_TASKS 30e6
#define MAX_COMMS 32u

struct WrkModelRun {
  WrkModel model;
  WrkPrices *prices;
  WrkCosts *costs;
  WrkBuild b;
  WrkDone **done; /* by pipeline rank and turn */
  GArray **order;
  gboolean lends_net;         /* the network is another's */
  const WrkSide *const *side; /* borrowed until it is built */
  unsigned n_sides;
  GArray *told; /* WrkTold; NULL: not asked */
};

/* ---- who slows whom ---- */

void
wrk_step_pace (void *user, EngPlace place, const EngTask *running, unsigned n, double *speed)
{
  const WrkBuild *b = user;
  const MdlOverlapCompute *compute = NULL;
  MdlOverlapComm comm[MAX_COMMS];
  double factor[MAX_COMMS];
  unsigned of[MAX_COMMS], n_comm = 0, at = 0;
  (void)place;
  for (unsigned i = 0; i < n; i++) {
    const WrkNote *note = &g_array_index (b->notes, WrkNote, running[i]);
    if (note->compute != NULL) {
      compute = note->compute;
      at = i;
    } else if (note->comm != NULL && n_comm < MAX_COMMS) {
      comm[n_comm] = note->comm->demand;
      of[n_comm++] = i;
    }
  }
  if (compute == NULL || n_comm == 0)
    return;
  speed[at] = 1 / mdl_overlap_many (b->model->job->system->overlap, &b->model->gpu, compute, comm, n_comm, factor);
  for (unsigned k = 0; k < n_comm; k++)
    speed[of[k]] = 1 / factor[k];
}

/* ---- building ---- */

/* Index of the turns that others wait for: by position x m + micro-batch, forward and back. */
static EngTask *
index_turns (const WrkModelRun *run, gboolean forward)
{
  const WrkPipeline *pipe = &run->model.pipe;
  EngTask *at = g_new (EngTask, (gsize)run->model.n_positions * pipe->m);
  for (guint32 s = 0; s < pipe->p; s++)
    for (guint i = 0; i < run->order[s]->len; i++) {
      const WrkTurn *t = &g_array_index (run->order[s], WrkTurn, i);
      if (t->kind != WRK_TURN_WEIGHT_GRADIENT && (t->kind == WRK_TURN_FORWARD) == forward)
        at[(gsize)wrk_schedule_position (pipe, (WrkPlace){ s, t->chunk }) * pipe->m + t->micro_batch] = run->done[s][i].done;
    }
  return at;
}

/* Each turn waits for what it needs of others. */
static void
join_turns (WrkModelRun *run)
{
  const WrkPipeline *pipe = &run->model.pipe;
  g_autofree EngTask *ahead = index_turns (run, TRUE), *back = index_turns (run, FALSE);
  for (guint32 s = 0; s < pipe->p; s++)
    for (guint i = 0; i < run->order[s]->len; i++) {
      const WrkTurn *turn = &g_array_index (run->order[s], WrkTurn, i);
      WrkPlace from;
      if (!wrk_schedule_needs (pipe, s, turn, &from))
        continue;
      const EngTask *made_by = turn->kind == WRK_TURN_FORWARD ? ahead : back;
      wrk_build_after_one (&run->b, run->done[s][i].first,
                           made_by[(gsize)wrk_schedule_position (pipe, from) * pipe->m + turn->micro_batch]);
    }
}

/* Sends and receives of a rank run one after the other, each behind the passes listed before it. */
static void
queue_sends (WrkModelRun *run)
{
  const WrkPipeline *pipe = &run->model.pipe;
  g_autoptr (GArray) listed = wrk_schedule_list (pipe, run->order);
  g_autofree EngTask *pass = g_new (EngTask, pipe->p), *transfer = g_new (EngTask, pipe->p); /* the latest of each rank */
  for (guint32 s = 0; s < pipe->p; s++)
    pass[s] = transfer[s] = ENG_NO_TASK;
  for (guint i = 0; i < listed->len; i++) {
    const WrkListed *at = &g_array_index (listed, WrkListed, i);
    const WrkDone *done = &run->done[at->rank][at->turn];
    WrkPlace to;
    pass[at->rank] = done->last;
    if (!wrk_schedule_feeds (pipe, at->rank, &g_array_index (run->order[at->rank], WrkTurn, at->turn), &to) || to.rank == at->rank)
      continue;
    wrk_build_after_one (&run->b, done->done, transfer[at->rank]);
    if (transfer[to.rank] != transfer[at->rank])
      wrk_build_after_one (&run->b, done->done, transfer[to.rank]);
    wrk_build_after_one (&run->b, done->done, pass[to.rank]);
    transfer[at->rank] = transfer[to.rank] = done->done;
  }
}

/* The norm of the gradients is of all pipeline ranks: none updates before the last has its own. */
static void
join_norms (WrkModelRun *run)
{
  for (guint32 s = 0; run->model.spec->model.clip.v && s < run->model.pipe.p; s++)
    for (guint32 k = 0; k < run->model.pipe.p; k++)
      if (k != s)
        wrk_build_after_one (&run->b, run->b.lane[s].update, run->b.lane[k].ready);
}

static gboolean
build_lanes (WrkModelRun *run, GError **error)
{
  for (guint32 s = 0; s < run->model.pipe.p; s++)
    if (!wrk_program_lane (&run->b, s, run->order[s], run->done[s], error))
      return FALSE;
  return TRUE;
}

static gboolean
build (WrkModelRun *run, GError **error)
{
  WrkModel *model = &run->model;
  const WrkPipeline *pipe = &model->pipe;
  WrkBuild *b = &run->b;
  double tasks = (double)model->llm.layers.v * model->m * 24;
  if (tasks > MAX_TASKS)
    return wrk_fail_at (error, model->spec->model.global_batch.mark,
                        "%.0f layers x %u micro-batches are too many tasks to simulate", model->llm.layers.v, model->m);
  if (!model->job->system->settings.no_interference)
    eng_graph_set_pace (b->graph, wrk_step_pace, b);
  b->lane = g_new0 (WrkLane, pipe->p);
  run->order = g_new0 (GArray *, pipe->p);
  run->done = g_new0 (WrkDone *, pipe->p);
  for (guint32 s = 0; s < pipe->p; s++) {
    for (int r = 0; r < WRK_ROLES; r++)
      b->lane[s].stream[r] = ENG_NO_STREAM;
    b->lane[s].place = eng_graph_place (b->graph);
    b->lane[s].slow = wrk_model_slow (model, s) * model->software.slowest;
  }
  for (guint32 s = 0; s < pipe->p; s++) {
    run->order[s] = wrk_schedule_order (pipe, s);
    run->done[s] = g_new0 (WrkDone, run->order[s]->len);
  }
  /* links are folded by what the whole step does on them: everything is asked first, then built */
  b->rehearses = TRUE;
  if (!build_lanes (run, error))
    return FALSE;
  for (unsigned i = 0; i < run->n_sides; i++)
    wrk_prices_beside (run->prices, run->side[i]->loads);
  wrk_prices_fold (run->prices);
  b->rehearses = FALSE;
  if (!build_lanes (run, error))
    return FALSE;
  join_turns (run);
  if (model->software.queues_sends)
    queue_sends (run);
  join_norms (run);
  wrk_build_count (b);
  return TRUE;
}

static WrkModelRun *
run_new (const WrkTrainingJob *job, WrkNet *net, gboolean lends_net, gboolean fold, const WrkSide *const *side, unsigned n_sides,
         GError **error)
{
  WrkModelRun *run = g_new0 (WrkModelRun, 1);
  run->side = side;
  run->n_sides = n_sides;
  run->lends_net = lends_net;
  run->b.net = net;
  if (!wrk_model_plan (job, &run->model, error)) {
    wrk_model_run_free (run);
    return NULL;
  }
  run->prices = wrk_prices_new (&run->model, fold);
  run->costs = wrk_costs_new (&run->model, run->prices);
  if (job->want_terms) {
    run->told = g_array_new (FALSE, FALSE, sizeof (WrkTold));
    wrk_costs_tell (run->costs, run->told);
  }
  run->b.model = &run->model;
  run->b.prices = run->prices;
  run->b.costs = run->costs;
  run->b.graph = eng_graph_new (wrk_net_engine (net));
  run->b.between = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  run->b.notes = g_array_new (FALSE, TRUE, sizeof (WrkNote));
  run->b.uses = g_array_new (FALSE, FALSE, sizeof (EngUse));
  wrk_costs_host (run->costs, &run->b.host);
  if (build (run, error))
    return run;
  wrk_model_run_free (run);
  return NULL;
}

void
wrk_model_run_free (WrkModelRun *run)
{
  if (run == NULL)
    return;
  for (guint32 s = 0; run->order != NULL && s < run->model.pipe.p; s++) {
    if (run->order[s] != NULL)
      g_array_unref (run->order[s]);
    g_free (run->done[s]);
  }
  g_free (run->order);
  g_free (run->done);
  g_free (run->b.lane);
  g_clear_pointer (&run->b.graph, eng_graph_free);
  if (!run->lends_net)
    g_clear_pointer (&run->b.net, wrk_net_free);
  g_clear_pointer (&run->b.notes, g_array_unref);
  g_clear_pointer (&run->b.between, g_hash_table_unref);
  g_clear_pointer (&run->b.uses, g_array_unref);
  g_clear_pointer (&run->costs, wrk_costs_free);
  g_clear_pointer (&run->told, g_array_unref);
  g_clear_pointer (&run->prices, wrk_prices_free);
  wrk_model_clear (&run->model);
  g_free (run);
}

/* Takes a run, or nothing. */
static WrkModelRun *
started (WrkModelRun *run, GError **error)
{
  if (run == NULL || eng_graph_start (run->b.graph, error))
    return run;
  wrk_model_run_free (run);
  return NULL;
}

WrkModelRun *
wrk_model_start (const WrkTrainingJob *job, WrkNet *net, gboolean fold, GError **error)
{
  return started (run_new (job, net, TRUE, fold, NULL, 0, error), error);
}

WrkModelRun *
wrk_model_start_beside (const WrkTrainingJob *job, WrkNet *net, const WrkSide *const *side, unsigned n, GError **error)
{
  return started (run_new (job, net, TRUE, !job->system->settings.no_fold, side, n, error), error);
}

const GArray *
wrk_model_side_loads (const WrkModelRun *run, unsigned i)
{
  return wrk_prices_side_loads (run->prices, i);
}

double
wrk_model_time_s (const WrkModelRun *run)
{
  EngTime end = 0;
  for (guint32 s = 0; s < run->model.pipe.p; s++)
    end = MAX (end, eng_graph_task_end (run->b.graph, run->b.lane[s].end));
  return eng_time_to_s (end);
}

const WrkBuild *
wrk_model_built (const WrkModelRun *run)
{
  return &run->b;
}

gboolean
wrk_check_model (const WrkTrainingJob *job, GError **error)
{
  g_auto (WrkModel) model = { 0 };
  return wrk_model_plan (job, &model, error);
}

/* What the ranks hold, and whether they can. */
static void
add_memory (const WrkModel *model, WrkTrainingResult *training, WrkRunInfo *info)
{
  training->memory = g_array_new (FALSE, FALSE, sizeof (WrkMemory));
  wrk_model_memory (model, training->memory);
  training->fullest = *wrk_memory_fullest (training->memory);
  wrk_model_state (model, training->memory, &training->state_B, &training->restore_B);
  if (training->fullest.fits)
    return;
  double bytes;
  const char *largest = wrk_memory_largest (&training->fullest, &bytes);
  g_autofree char *needs = base_quantity_format (training->fullest.total_B, BASE_DIM_BYTES, 4),
                  *has = base_quantity_format (training->fullest.capacity_B, BASE_DIM_BYTES, 4),
                  *most = base_quantity_format (bytes, BASE_DIM_BYTES, 4);
  training->memory_advice = wrk_memory_advice (model);
  wrk_run_warn (info, "does not fit: stage %u needs %s of a GPU that has %s, the largest part for %s (%s); %s",
                training->fullest.stage, needs, has, largest, most, training->memory_advice);
}

gboolean
wrk_run_model (const WrkTrainingJob *job, WrkTrainingResult *training, WrkRunInfo *info, GError **error)
{
  WrkModelRun *run = run_new (job, wrk_net_new (job->system->clu), FALSE, !job->system->settings.no_fold, NULL, 0, error);
  if (run == NULL)
    return FALSE;
  gboolean ok = eng_graph_run (run->b.graph, error);
  if (ok) {
    wrk_step_account (&run->b, training);
    wrk_model_summarise (&run->b, training);
    add_memory (&run->model, training, info);
    if (run->told != NULL)
      wrk_step_terms (&run->b, run->told, training);
    wrk_run_add_links (info, job->system->clu, run->b.net, training->step_time_s);
    info->n_events = eng_stats (wrk_net_engine (run->b.net)).events;
    if (info->spans != NULL) {
      training->trace = wrk_step_trace (&run->b, run->order, run->done);
      if (wrk_trace_written (training->trace) != NULL)
        wrk_run_warn (info, "%s", wrk_trace_written (training->trace));
    }
  }
  wrk_model_run_free (run);
  return ok;
}
