/* A training step, run on the engine: of a model, or of layers with given times. */
#include <math.h>
#include <string.h>

#include "base/append.h"
#include "base/random.h"
#include "base/units.h"
#include "build-private.h"
#include "cluster/storage.h"
#include "collective/possible.h"
#include "training-private.h"

#define MAX_COMMS 32u

/* What a step is built for. */
typedef struct {
  const TrnJob *job;
  ColNet *net; /* another's; NULL: its own */
  gboolean fold;
  int end;                    /* of the error band, as in TrnBuild */
  const StoSide *const *side; /* traffic of others beside it */
  unsigned n_sides;
} Setup;

struct TrnStepRun {
  TrnModel model;
  TrnPrices *prices;
  TrnCosts *costs;
  TrnBuild b;
  TrnDone **done; /* by pipeline rank and turn */
  GArray **order;
  gboolean lends_net; /* the network is another's */
  GArray *told;       /* TrnPricedWork; NULL: not asked */
  EngNeed reserved;   /* on the network's engine */
  gboolean folded;    /* what its prices load; else once all is built */
};

/* ---- who slows whom ---- */

void
trn_step_pace (void *user, EngPlace place, const EngTask *running, unsigned n, double *speed)
{
  const TrnBuild *b = user;
  const MdlOverlapCompute *compute = NULL;
  MdlOverlapComm comm[MAX_COMMS];
  double factor[MAX_COMMS];
  unsigned of[MAX_COMMS], n_comm = 0, at = 0;
  (void)place;
  for (unsigned i = 0; i < n; i++) {
    const TrnNote *note = &g_array_index (b->notes, TrnNote, running[i]);
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
index_turns (const TrnStepRun *run, gboolean forward)
{
  const MdlPipeline *pipe = &run->model.pipe;
  EngTask *at = g_new (EngTask, (gsize)run->model.n_positions * pipe->m);
  for (guint32 s = 0; s < pipe->p; s++)
    for (guint i = 0; i < run->order[s]->len; i++) {
      const MdlTurn *t = &g_array_index (run->order[s], MdlTurn, i);
      if (t->kind != MDL_TURN_WEIGHT_GRADIENT && (t->kind == MDL_TURN_FORWARD) == forward)
        at[(gsize)mdl_schedule_position (pipe, (MdlPlace){ s, t->chunk }) * pipe->m + t->micro_batch] = run->done[s][i].done;
    }
  return at;
}

/* Each turn waits for what it needs of others. */
static void
join_turns (TrnStepRun *run)
{
  const MdlPipeline *pipe = &run->model.pipe;
  g_autofree EngTask *ahead = index_turns (run, TRUE), *back = index_turns (run, FALSE);
  for (guint32 s = 0; s < pipe->p; s++)
    for (guint i = 0; i < run->order[s]->len; i++) {
      const MdlTurn *turn = &g_array_index (run->order[s], MdlTurn, i);
      MdlPlace from;
      if (!mdl_schedule_needs (pipe, s, turn, &from))
        continue;
      const EngTask *made_by = turn->kind == MDL_TURN_FORWARD ? ahead : back;
      trn_build_after_one (&run->b, run->done[s][i].first,
                           made_by[(gsize)mdl_schedule_position (pipe, from) * pipe->m + turn->micro_batch]);
    }
}

/* Sends and receives of a rank run one after the other, each behind the passes listed before it. */
static void
queue_sends (TrnStepRun *run)
{
  const MdlPipeline *pipe = &run->model.pipe;
  g_autoptr (GArray) listed = mdl_schedule_list (pipe, run->order);
  g_autofree EngTask *pass = g_new (EngTask, pipe->p), *transfer = g_new (EngTask, pipe->p); /* the latest of each rank */
  for (guint32 s = 0; s < pipe->p; s++)
    pass[s] = transfer[s] = ENG_NO_TASK;
  for (guint i = 0; i < listed->len; i++) {
    const MdlListed *at = &g_array_index (listed, MdlListed, i);
    const TrnDone *done = &run->done[at->rank][at->turn];
    MdlPlace to;
    pass[at->rank] = done->last;
    if (!mdl_schedule_feeds (pipe, at->rank, &g_array_index (run->order[at->rank], MdlTurn, at->turn), &to) || to.rank == at->rank)
      continue;
    trn_build_after_one (&run->b, done->done, transfer[at->rank]);
    if (transfer[to.rank] != transfer[at->rank])
      trn_build_after_one (&run->b, done->done, transfer[to.rank]);
    trn_build_after_one (&run->b, done->done, pass[to.rank]);
    transfer[at->rank] = transfer[to.rank] = done->done;
  }
}

/* The norm of the gradients is of all pipeline ranks: none updates before the last has its own. */
static void
join_norms (TrnStepRun *run)
{
  for (guint32 s = 0; trn_model_clips (&run->model) && s < run->model.pipe.p; s++)
    for (guint32 k = 0; k < run->model.pipe.p; k++)
      if (k != s)
        trn_build_after_one (&run->b, run->b.lane[s].update, run->b.lane[k].ready);
}

static gboolean
build_lanes (TrnStepRun *run, GError **error)
{
  for (guint32 s = 0; s < run->model.pipe.p; s++)
    if (!trn_program_lane (&run->b, s, run->order[s], run->done[s], error))
      return FALSE;
  return TRUE;
}

/* ---- memory ---- */

static double
layers_of (const TrnModel *model)
{
  double n = 0;
  for (guint32 position = 0; position < model->n_positions; position++)
    n += model->cut[position].n;
  return n;
}

/* In place of what is reserved so far. */
static gboolean
reserve (TrnStepRun *run, const EngNeed *need, const char *how, GError **error)
{
  const TrnModel *model = &run->model;
  Eng *eng = col_net_engine (run->b.net);
  g_autofree char *what = g_strdup_printf ("a step of %.0f layers x %u micro-batches%s", layers_of (model), model->m, how);
  g_autoptr (GError) why = NULL;
  eng_release (eng, &run->reserved);
  run->reserved = (EngNeed){ 0 };
  if (!eng_reserve (eng, need, what, &why))
    return col_fail_at (error, model->layers != NULL ? model->spec->layers.mark : model->spec->model.global_batch.mark, "%s",
                        why->message);
  run->reserved = *need;
  return TRUE;
}

/* A turn has at least one task, and each layer of a model one a pass: refuses the hopeless before orders of turns are listed. */
static gboolean
reserve_least (TrnStepRun *run, GError **error)
{
  const TrnModel *model = &run->model;
  const double layers = model->layers == NULL ? layers_of (model) : 0;
  return reserve (run, &(EngNeed){ .tasks = 2.0 * model->m * (model->n_positions + layers) }, ", at least", error);
}

static double
count_turns (const TrnStepRun *run)
{
  double turns = 0;
  for (guint32 s = 0; s < run->model.pipe.p; s++)
    turns += run->order[s]->len;
  return turns;
}

/* Room for what was counted, at once. */
static void
make_room (TrnStepRun *run, const EngNeed *need)
{
  static const double MOST = 1e8;
  if (need->tasks + need->waits > MOST)
    return;
  eng_graph_expect (run->b.graph, (unsigned)need->tasks, (unsigned)need->paced, (unsigned)need->waits);
  base_append_room (run->b.notes, &run->b.room, (guint)need->tasks);
}

/* What the rehearsal counted; of one that was broken off, as much more as turns were left. */
static gboolean
reserve_counted (TrnStepRun *run, GError **error)
{
  TrnBuild *b = &run->b;
  const MdlPipeline *pipe = &run->model.pipe;
  EngNeed need = b->need;
  const double turns = count_turns (run);
  double crossings = 0;
  gpointer priced, times;
  GHashTableIter iter;
  g_hash_table_iter_init (&iter, b->sent);
  while (g_hash_table_iter_next (&iter, &priced, &times)) {
    const GArray *loads = ((const TrnPriced *)priced)->loads;
    crossings += (double)GPOINTER_TO_UINT (times) * (loads != NULL ? loads->len : 0);
  }
  need.crossings = crossings;
  const double left = turns > b->n_turns ? turns / MAX (b->n_turns, 1u) : 1;
  /* where times are given, a second step runs for each end of the band of communication while the first is kept */
  const gboolean given = run->model.layers != NULL;
  const double steps = given && run->model.grid.n > 1 ? 2 : 1;
  need.layers = given ? layers_of (&run->model) : 0;
  need.tasks *= left * steps;
  need.paced *= left * steps;
  need.crossings *= left * steps;
  need.waits = (need.waits * left + 4 * turns + (double)pipe->p * pipe->p) * steps; /* turns are joined afterwards */
  if (!reserve (run, &need, "", error))
    return FALSE;
  if (!given)
    make_room (run, &need);
  return TRUE;
}

/* In closed form no link is folded before all is built, and a few turns of each rank tell enough where memory is plenty. FALSE: it
 * is not, and all is to be rehearsed. */
static gboolean
rehearse_few (TrnStepRun *run, gboolean *ok, GError **error)
{
  static const double PLENTY = 3, ROOM = 1.2; /* turns differ: the first of a rank are forward passes, which are shorter */
  TrnBuild *b = &run->b;
  const double turns = count_turns (run);
  b->few = 2 * run->model.pipe.p + 2;
  *ok = build_lanes (run, error);
  b->few = 0;
  const double times = b->n_turns > 0 ? turns / b->n_turns : 1;
  EngNeed need = { .tasks = b->need.tasks * times * PLENTY, .paced = b->need.paced * times * PLENTY };
  need.waits = (b->need.waits * times + 4 * turns) * PLENTY;
  if (*ok && eng_need_B (&need) > eng_limit_B () / PLENTY) {
    b->need = (EngNeed){ 0 };
    b->n_turns = 0;
    return FALSE;
  }
  if (!*ok || !(*ok = reserve (run, &need, "", error)))
    return TRUE;
  const double share = ROOM / PLENTY;
  make_room (run, &(EngNeed){ .tasks = need.tasks * share, .paced = need.paced * share, .waits = need.waits * share });
  return TRUE;
}

static gboolean
folds_late (const TrnStepRun *run, const Setup *setup)
{
  return run->model.layers == NULL && run->model.job->system->settings.mode == COL_MODE_MODEL && setup->n_sides == 0 &&
         setup->net == NULL;
}

/* Asks for all prices, since links are folded by what the whole step does on them, and counts. */
static gboolean
rehearse (TrnStepRun *run, const Setup *setup, GError **error)
{
  TrnBuild *b = &run->b;
  b->rehearses = TRUE;
  b->sent = g_hash_table_new (NULL, NULL);
  gboolean ok = TRUE, few = folds_late (run, setup) && rehearse_few (run, &ok, error);
  ok = ok && (few || build_lanes (run, error));
  for (unsigned i = 0; ok && i < setup->n_sides; i++)
    trn_prices_concurrent (run->prices, setup->side[i]->loads);
  if (ok && !few && trn_build_fits (b))
    trn_prices_fold (run->prices);
  ok = ok && (few || reserve_counted (run, error));
  run->folded = !few;
  g_clear_pointer (&b->sent, g_hash_table_unref);
  b->rehearses = FALSE;
  return ok;
}

static gboolean
build (TrnStepRun *run, const Setup *setup, GError **error)
{
  TrnModel *model = &run->model;
  const MdlPipeline *pipe = &model->pipe;
  TrnBuild *b = &run->b;
  if (!reserve_least (run, error))
    return FALSE;
  if (model->layers == NULL && !model->job->system->settings.no_interference)
    eng_graph_set_pace (b->graph, trn_step_pace, b);
  b->lane = g_new0 (TrnLane, pipe->p);
  run->order = g_new0 (GArray *, pipe->p);
  run->done = g_new0 (TrnDone *, pipe->p);
  for (guint32 s = 0; s < pipe->p; s++) {
    for (int r = 0; r < TRN_ROLES; r++)
      b->lane[s].stream[r] = ENG_NO_STREAM;
    b->lane[s].place = eng_graph_place (b->graph);
    b->lane[s].slow = trn_model_slow (model, s) * model->software.slowest;
  }
  for (guint32 s = 0; s < pipe->p; s++) {
    run->order[s] = mdl_schedule_order (pipe, s);
    run->done[s] = g_new0 (TrnDone, run->order[s]->len);
  }
  if (!rehearse (run, setup, error) || !build_lanes (run, error))
    return FALSE;
  if (!run->folded)
    trn_prices_fold (run->prices);
  join_turns (run);
  if (model->software.queues_sends)
    queue_sends (run);
  join_norms (run);
  trn_build_count (b);
  return TRUE;
}

static TrnStepRun *
run_new (const Setup *setup, GError **error)
{
  TrnStepRun *run = g_new0 (TrnStepRun, 1);
  const TrnJob *job = setup->job;
  run->lends_net = setup->net != NULL;
  run->b.net = setup->net != NULL ? setup->net : col_net_new (job->system->clu);
  run->b.end = setup->end;
  if (!trn_model_plan (job, &run->model, error)) {
    trn_step_free (run);
    return NULL;
  }
  run->prices = trn_prices_new (&run->model, setup->fold, NULL);
  run->costs = trn_costs_new (&run->model, run->prices);
  if (job->want_terms && run->model.layers == NULL) {
    run->told = g_array_new (FALSE, FALSE, sizeof (TrnPricedWork));
    trn_costs_record (run->costs, run->told);
  }
  run->b.model = &run->model;
  run->b.prices = run->prices;
  run->b.costs = run->costs;
  run->b.graph = eng_graph_new (col_net_engine (run->b.net));
  run->b.between = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  run->b.notes = g_array_new (FALSE, FALSE, sizeof (TrnNote));
  run->b.uses = g_array_new (FALSE, FALSE, sizeof (EngUse));
  trn_costs_host (run->costs, &run->b.host);
  if (build (run, setup, error))
    return run;
  trn_step_free (run);
  return NULL;
}

void
trn_step_free (TrnStepRun *run)
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
  if (run->lends_net)
    eng_release (col_net_engine (run->b.net), &run->reserved);
  else
    g_clear_pointer (&run->b.net, col_net_free);
  g_clear_pointer (&run->b.notes, g_array_unref);
  g_clear_pointer (&run->b.between, g_hash_table_unref);
  g_clear_pointer (&run->b.uses, g_array_unref);
  g_clear_pointer (&run->costs, trn_costs_free);
  g_clear_pointer (&run->told, g_array_unref);
  g_clear_pointer (&run->prices, trn_prices_free);
  trn_model_clear (&run->model);
  g_free (run);
}

/* Takes a run, or nothing. */
static TrnStepRun *
started (TrnStepRun *run, GError **error)
{
  if (run == NULL || eng_graph_start (run->b.graph, error))
    return run;
  trn_step_free (run);
  return NULL;
}

TrnStepRun *
trn_step_start (const TrnJob *job, ColNet *net, gboolean fold, GError **error)
{
  const Setup setup = { .job = job, .net = net, .fold = fold };
  return started (run_new (&setup, error), error);
}

TrnStepRun *
trn_step_start_beside (const TrnJob *job, ColNet *net, const StoSide *const *side, unsigned n, GError **error)
{
  const Setup setup = { .job = job, .net = net, .fold = !job->system->settings.no_fold, .side = side, .n_sides = n };
  return started (run_new (&setup, error), error);
}

const GArray *
trn_step_side_loads (const TrnStepRun *run, unsigned i)
{
  return trn_prices_side_loads (run->prices, i);
}

double
trn_step_time_s (const TrnStepRun *run)
{
  EngTime end = 0;
  for (guint32 s = 0; s < run->model.pipe.p; s++)
    end = MAX (end, eng_graph_task_end (run->b.graph, run->b.lane[s].end));
  return eng_time_to_s (end);
}

const TrnBuild *
trn_step_built (const TrnStepRun *run)
{
  return &run->b;
}

gboolean
trn_check_step (const TrnJob *job, GError **error)
{
  g_auto (TrnModel) model = { 0 };
  return trn_model_plan (job, &model, error);
}

/* Whether a node can hold what its GPUs put there. */
static void
warn_host (const TrnModel *model, const GArray *stages, ColRunInfo *info)
{
  const Clu *clu = model->job->system->clu;
  const guint32 node = clu_dev_node (clu, clu_gpu (clu, g_array_index (model->job->system->gpus, guint32, 0)));
  const double gpus = fmin (clu_gpus_per_node (clu, node), model->grid.n), has_B = clu_node_memory_B (clu, node);
  double most_B = 0;
  for (guint i = 0; i < stages->len; i++)
    most_B = fmax (most_B, g_array_index (stages, TrnMemory, i).host_B * gpus);
  if (has_B <= 0 || most_B <= has_B)
    return;
  g_autofree char *needs = base_quantity_format (most_B, BASE_DIM_BYTES, 4), *has = base_quantity_format (has_B, BASE_DIM_BYTES, 4);
  col_run_warn (info, "offload needs %s of a node's host memory, which has %s; offload fewer layers, or states to: nvme", needs,
                has);
}

/* What the ranks hold, and whether they can. */
static void
add_memory (const TrnModel *model, TrnResult *training, ColRunInfo *info)
{
  training->memory = g_array_new (FALSE, FALSE, sizeof (TrnMemory));
  trn_model_memory (model, training->memory);
  for (guint i = 0; i < training->memory->len; i++) {
    const TrnMemory *memory = &g_array_index (training->memory, TrnMemory, i);
    g_array_index (training->stages, TrnStageUse, memory->stage).memory_B = memory->total_B;
  }
  training->fullest = *trn_memory_fullest (training->memory);
  trn_model_state (model, training->memory, &training->state_B, &training->restore_B);
  warn_host (model, training->memory, info);
  if (training->fullest.fits)
    return;
  double bytes;
  const char *largest = trn_memory_largest (&training->fullest, &bytes);
  g_autofree char *needs = base_quantity_format (training->fullest.total_B, BASE_DIM_BYTES, 4),
                  *has = base_quantity_format (training->fullest.capacity_B, BASE_DIM_BYTES, 4),
                  *most = base_quantity_format (bytes, BASE_DIM_BYTES, 4);
  training->memory_advice = trn_memory_advice (model);
  col_run_warn (info, "does not fit into GPU memory: stage %u needs %s of %s; largest part: %s, %s; %s", training->fullest.stage,
                needs, has, largest, most, training->memory_advice);
}

/* Times are given; what the models may be wrong about is communication, and what hides today may show when it is slower. So the
 * step is run again with all of it at either end of its band. */
static gboolean
run_ends (const TrnStepRun *middle, TrnResult *training, GError **error)
{
  double most = 0;
  for (guint t = 0; t < middle->b.notes->len; t++) {
    const TrnPriced *comm = g_array_index (middle->b.notes, TrnNote, t).comm;
    most = comm != NULL ? fmax (most, comm->coll.cost.band) : most;
  }
  training->step_time_lo_s = training->step_time_hi_s = training->step_time_s;
  for (int end = -1; end <= 1 && most > 0; end += 2) {
    const TrnJob *job = middle->model.job;
    const Setup setup = { .job = job, .fold = !job->system->settings.no_fold, .end = end };
    TrnStepRun *run = run_new (&setup, error);
    if (run == NULL || !eng_graph_run (run->b.graph, error)) {
      trn_step_free (run);
      return FALSE;
    }
    /* with contention one operation's delay may be another's gain */
    training->step_time_lo_s = fmin (training->step_time_lo_s, trn_step_time_s (run));
    training->step_time_hi_s = fmax (training->step_time_hi_s, trn_step_time_s (run));
    trn_step_free (run);
  }
  return TRUE;
}

/* Fills the result of a step that ran. */
static gboolean
take (TrnStepRun *run, TrnResult *training, ColRunInfo *info, GError **error)
{
  TrnBuild *b = &run->b;
  trn_step_account (b, training);
  trn_step_summarise (b, training);
  if (run->model.layers == NULL)
    add_memory (&run->model, training, info);
  if (run->told != NULL)
    trn_step_terms (b, run->told, training);
  const ColSystem *system = run->model.job->system;
  col_run_add_links (info, system->clu, b->net, training->step_time_s);
  col_run_network_cpu (info, system,
                       &(ColNetworkUse){ b->net, training->step_time_s, training->network_s, training->n_nodes,
                                         training->n_ranks / MAX (training->n_nodes, 1u), training->tcp });
  info->n_events = eng_stats (col_net_engine (b->net)).events;
  trn_prices_warn (run->prices, info);
  if (run->model.layers != NULL) {
    trn_step_warn (b, training, info);
    if (info->spans != NULL)
      trn_step_spans (b, info->spans);
    return run_ends (run, training, error);
  }
  trn_step_warn_keys (&run->model, training, info);
  g_autofree char *mixed = trn_model_mixed (&run->model);
  if (mixed != NULL)
    col_run_warn (info, "%s", mixed);
  if (info->spans != NULL) {
    training->trace = trn_step_trace (b, run->order, run->done);
    if (trn_trace_written (training->trace) != NULL)
      col_run_warn (info, "%s", trn_trace_written (training->trace));
  }
  return TRUE;
}

gboolean
trn_run_step (const TrnJob *job, TrnResult *training, ColRunInfo *info, GError **error)
{
  col_run_warn_steps (info, &job->system->settings, "a training step");
  const Setup setup = { .job = job, .fold = !job->system->settings.no_fold };
  TrnStepRun *run = run_new (&setup, error);
  gboolean ok = run != NULL && eng_graph_run (run->b.graph, error) && take (run, training, info, error);
  trn_step_free (run);
  return ok;
}
