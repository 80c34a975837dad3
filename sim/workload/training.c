/* A training step of layers with given times: data-parallel replicas are equal and simulated once, each stage by one compute
 * stream; their collectives and sends load the links of all replicas. Gradients are reduced in buckets, filled from the last
 * layer backwards. */
#include <math.h>
#include <string.h>

#include "comm-private.h"
#include "send-private.h"
#include "training-private.h"

#define MAX_TASKS 20e6

typedef struct {
  const WrkScenario *scenario;
  const WrkTrainingSpec *spec;
  const WrkLayerSpec **layer; /* expanded */
  guint32 n_layers, dp, pp, m;
  guint32 *gpu; /* of stage s, replica d: gpu[s * dp + d] */
  WrkStage *stage;
  WrkNet *net;
  EngGraph *graph;
  GArray *uses; /* scratch */
  WrkTrainingResult *out;
  int end; /* of the error band: -1 all communication as quick as it may be, +1 as slow, 0 as predicted */
} Step;

static gboolean
expand_layers (Step *step, GError **error)
{
  const BaseList *list = &step->spec->layers;
  double total = 0;
  if (list->n == 0)
    return wrk_fail_at (error, base_yaml_mark (step->scenario->spec.workload),
                        "a training workload needs 'layers' (e.g. layers: [{forward: 1 ms, backward: 2 ms, gradient: 100 MB}]); a "
                        "'model' is not built yet");
  for (unsigned i = 0; i < list->n; i++)
    total += BASE_LIST_AT (*list, WrkLayerSpec, i)->count.v;
  if (total > 1e6)
    return wrk_fail_at (error, list->mark, "%.0f layers in all; accepted: at most 1000000", total);
  step->layer = g_new (const WrkLayerSpec *, (gsize)total);
  for (unsigned i = 0; i < list->n; i++)
    for (double k = 0; k < BASE_LIST_AT (*list, WrkLayerSpec, i)->count.v; k++)
      step->layer[step->n_layers++] = BASE_LIST_AT (*list, WrkLayerSpec, i);
  return TRUE;
}

static gboolean
place (Step *step, GError **error)
{
  const WrkParallelSpec *parallel = &step->spec->parallel;
  const GArray *gpus = step->scenario->gpus;
  BaseMark mark = parallel->head.set ? parallel->head.mark : base_yaml_mark (step->scenario->spec.workload);
  double pp = parallel->pp.v;
  if (!parallel->dp.set && fmod (gpus->len, pp) > 0)
    return wrk_fail_at (error, mark, "%u GPUs do not divide into %.0f pipeline stages; accepted: a pp that divides them, or a dp",
                        gpus->len, pp);
  double dp = parallel->dp.set ? parallel->dp.v : gpus->len / pp;
  if (dp * pp > gpus->len)
    return wrk_fail_at (error, mark, "dp %.0f x pp %.0f needs %.0f GPUs, the cluster has %u; ask for more nodes", dp, pp, dp * pp,
                        gpus->len);
  if (pp > step->n_layers)
    return wrk_fail_at (error, mark, "pp %.0f for %u layer%s; accepted: at most one stage a layer", pp, step->n_layers,
                        step->n_layers == 1 ? "" : "s");
  step->dp = (guint32)dp;
  step->pp = (guint32)pp;
  step->m = (guint32)step->spec->micro_batches.v;
  if ((double)step->pp * step->m * 4 + step->n_layers * 2.0 > MAX_TASKS)
    return wrk_fail_at (error, mark, "%u stages x %u micro-batches are too many tasks; accepted: about 5 million together",
                        step->pp, step->m);
  step->gpu = (guint32 *)(void *)gpus->data;
  return TRUE;
}

static EngStream
add_stream (Step *step, guint32 s, const char *role)
{
  g_autofree char *name = g_strdup_printf ("stage %u %s", s, role);
  return eng_graph_stream (step->graph, name);
}

/* Contiguous layers, as even as they divide; the first stages take one more each. */
static void
cut_stages (Step *step)
{
  guint32 next = 0;
  step->stage = g_new0 (WrkStage, step->pp);
  for (guint32 s = 0; s < step->pp; s++) {
    WrkStage *stage = &step->stage[s];
    stage->first = next;
    stage->n = step->n_layers / step->pp + (s < step->n_layers % step->pp);
    next += stage->n;
    for (guint32 l = stage->first; l < next; l++) {
      stage->forward_s += step->layer[l]->forward.v;
      stage->backward_s += step->layer[l]->backward.v;
    }
    stage->out_B = step->layer[next - 1]->activation.v;
    stage->compute = add_stream (step, s, "compute");
    stage->gradients = add_stream (step, s, "gradients");
    stage->send_up = add_stream (step, s, "send forward");
    stage->send_down = add_stream (step, s, "send back");
  }
}

/* Communication as the mode has it: an activity on the links, or the closed form's time. */
static EngTask
add_communication (Step *step, const WrkColl *coll, EngStream stream, WrkTaskKind kind, const char *name)
{
  double stretch = step->end > 0 ? 1 + coll->cost.band : step->end < 0 ? 1 / (1 + coll->cost.band) : 1;
  if (coll->size_B <= 0)
    return eng_graph_join (step->graph, stream, kind, name);
  wrk_net_count_coll (step->net, coll);
  if (step->scenario->settings.mode == WRK_MODE_MODEL)
    return eng_graph_delay (step->graph, stream, eng_time_from_s (coll->cost.time_s * stretch), kind, name);
  EngFlowSpec spec;
  wrk_net_coll_flow (step->net, coll, step->uses, &spec);
  if (step->end != 0) {
    spec.amount *= stretch;
    spec.latency = eng_time_from_s (coll->cost.latency_s * stretch);
  }
  return eng_graph_flow (step->graph, stream, &spec, kind, name);
}

/* ---- sends between stages ---- */

typedef struct {
  EngTask *forward, *backward; /* of each stage and micro-batch: its compute task (the last one of a backward) */
  EngTask *forward_first, *backward_first;
} Turns;

static void
note_traffic (const WrkColl *coll, WrkStageTraffic *traffic)
{
  traffic->alone_s += coll->cost.time_s;
  traffic->band = coll->cost.band;
  traffic->provenance = coll->provenance;
  g_strlcpy (traffic->bound_by, coll->bound_by, sizeof traffic->bound_by);
}

/* What stage `from` sends to its neighbour `to` for one micro-batch; a boundary whose activation is 0 sends nothing. */
static gboolean
price_send (Step *step, guint32 from, guint32 to, WrkColl *out, GError **error)
{
  double bytes = step->stage[MIN (from, to)].out_B;
  WrkStage *stage = &step->stage[from];
  if (bytes <= 0)
    return TRUE;
  if (!wrk_send_price (step->scenario->clu, &step->scenario->settings, step->gpu + (gsize)from * step->dp,
                       step->gpu + (gsize)to * step->dp, step->dp, bytes, out, error))
    return FALSE;
  WrkStageTraffic *traffic = to > from ? &stage->sent_up : &stage->sent_down;
  note_traffic (out, traffic);
  traffic->alone_s *= step->m;
  return TRUE;
}

/* ---- compute, in the schedule's order ---- */

static void
add_turn (Step *step, guint32 s, WrkTurn turn, gboolean by_layer, Turns *turns)
{
  const WrkStage *stage = &step->stage[s];
  gsize at = (gsize)s * step->m + turn.micro_batch;
  char name[32];
  g_snprintf (name, sizeof name, "%c%u", turn.backward ? 'B' : 'F', turn.micro_batch);
  if (!turn.backward) {
    turns->forward[at] = turns->forward_first[at] =
        eng_graph_delay (step->graph, stage->compute, eng_time_from_s (stage->forward_s), WRK_TASK_FORWARD, name);
    return;
  }
  if (!by_layer) {
    turns->backward[at] = turns->backward_first[at] =
        eng_graph_delay (step->graph, stage->compute, eng_time_from_s (stage->backward_s), WRK_TASK_BACKWARD, name);
    return;
  }
  for (guint32 k = stage->n; k-- > 0;) {
    EngTask task = eng_graph_delay (step->graph, stage->compute, eng_time_from_s (step->layer[stage->first + k]->backward.v),
                                    WRK_TASK_BACKWARD, name);
    if (k + 1 == stage->n)
      turns->backward_first[at] = task;
    turns->backward[at] = task;
  }
}

/* ---- gradients ---- */

/* Closes buckets from the stage's last layer backwards; each is reduced after the backward of the last layer that put something
 * into it. `first`: the task of the stage's last layer's backward; the tasks of the layers before follow it. */
static gboolean
add_buckets (Step *step, guint32 s, EngTask first, EngTask last, EngTask *reduced, GError **error)
{
  WrkStage *stage = &step->stage[s];
  const WrkDdpSpec *ddp = &step->spec->ddp;
  double held_B = 0;
  EngTask ready = first;
  WrkSettings closed = step->scenario->settings;
  closed.mode = WRK_MODE_MODEL;
  if (step->dp == 1) /* frameworks call no library then */
    closed.library = NULL;
  g_autoptr (WrkComm) comm = wrk_comm_new (step->scenario->clu, &closed, step->gpu + (gsize)s * step->dp, step->dp, error);
  if (comm == NULL)
    return FALSE;
  g_auto (WrkColl) bucket = { 0 };
  *reduced = ENG_NO_TASK;
  for (guint32 k = stage->n; k-- > 0;) {
    double gradient_B = step->layer[stage->first + k]->gradient.v;
    held_B += gradient_B;
    if (gradient_B > 0)
      ready = first + (stage->n - 1 - k);
    if (held_B <= 0 || (held_B < ddp->bucket.v && k > 0))
      continue;
    WrkCollRequest request = {
      MDL_OP_ALL_REDUCE, held_B, MDL_DTYPE_FP32, (MdlAlgo)step->spec->algo.v, (MdlProto)step->spec->proto.v, 0
    };
    gboolean same = bucket.n_ranks > 0 && bucket.size_B >= held_B && bucket.size_B <= held_B;
    if (!same && !wrk_coll_price (comm, &request, &bucket, error))
      return FALSE;
    note_traffic (&bucket, &stage->reduced);
    char name[48];
    g_snprintf (name, sizeof name, "all_reduce %u", step->out->n_buckets);
    *reduced = add_communication (step, &bucket, stage->gradients, WRK_TASK_GRADIENTS, name);
    eng_graph_after (step->graph, *reduced, ddp->overlap.v ? ready : last);
    if (held_B > step->out->all_reduce.size_B || step->out->all_reduce.n_ranks == 0) {
      wrk_coll_clear (&step->out->all_reduce);
      step->out->all_reduce = bucket;
      step->out->all_reduce_stage = s;
      memset (&bucket, 0, sizeof bucket);
    }
    step->out->n_buckets++;
    held_B = 0;
  }
  return TRUE;
}

static gboolean
reduces (const Step *step)
{
  return step->dp > 1;
}

/* Adds the compute of all stages, then what joins them. Streams run in the order of adding, so sends that share the compute stream
 * are added right after the turn that makes them. */
static gboolean
add_stage (Step *step, guint32 s, Turns *turns, EngTask *up_of, EngTask *down_of, GError **error)
{
  WrkStage *stage = &step->stage[s];
  g_autofree WrkTurn *order = g_new (WrkTurn, 2 * (gsize)step->m);
  gboolean beside = step->spec->p2p_overlap.v;
  g_auto (WrkColl) up = { 0 }, down = { 0 };
  if ((s + 1 < step->pp && !price_send (step, s, s + 1, &up, error)) || (s > 0 && !price_send (step, s, s - 1, &down, error)))
    return FALSE;
  wrk_schedule_order ((WrkSchedule)step->spec->schedule.v, s, step->pp, step->m, order);
  for (guint32 i = 0; i < 2 * step->m; i++) {
    guint32 mb = order[i].micro_batch;
    gsize at = (gsize)s * step->m + mb;
    add_turn (step, s, order[i], mb + 1 == step->m && reduces (step), turns);
    if (!order[i].backward && s + 1 < step->pp) {
      up_of[at] = add_communication (step, &up, beside ? stage->send_up : stage->compute, WRK_TASK_SEND_UP, "send activation");
      eng_graph_after (step->graph, up_of[at], turns->forward[at]);
    }
    if (order[i].backward && s > 0) {
      down_of[at] =
          add_communication (step, &down, beside ? stage->send_down : stage->compute, WRK_TASK_SEND_DOWN, "send gradient");
      eng_graph_after (step->graph, down_of[at], turns->backward[at]);
    }
  }
  EngTask reduced = ENG_NO_TASK;
  gsize final = (gsize)s * step->m + step->m - 1;
  if (reduces (step) && !add_buckets (step, s, turns->backward_first[final], turns->backward[final], &reduced, error))
    return FALSE;
  stage->end =
      eng_graph_delay (step->graph, stage->compute, eng_time_from_s (step->spec->optimizer.v), WRK_TASK_OPTIMIZER, "optimizer");
  if (reduced != ENG_NO_TASK)
    eng_graph_after (step->graph, stage->end, reduced);
  return TRUE;
}

static gboolean
build (Step *step, GError **error)
{
  gsize n = (gsize)step->pp * step->m;
  g_autofree EngTask *memory = g_new (EngTask, 6 * n);
  Turns turns = { memory, memory + n, memory + 2 * n, memory + 3 * n };
  EngTask *up_of = memory + 4 * n, *down_of = memory + 5 * n;
  for (guint32 s = 0; s < step->pp; s++)
    if (!add_stage (step, s, &turns, up_of, down_of, error))
      return FALSE;
  for (guint32 s = 0; s + 1 < step->pp; s++)
    for (guint32 mb = 0; mb < step->m; mb++) {
      gsize here = (gsize)s * step->m + mb, there = here + step->m;
      eng_graph_after (step->graph, turns.forward_first[there], up_of[here]);
      eng_graph_after (step->graph, turns.backward_first[here], down_of[there]);
    }
  return TRUE;
}

/* ---- the answer ---- */

/* The traffic of stages next to each other that takes longest alone: what stage `s` sends and what it is sent. */
static const WrkStageTraffic *
longest_send (const Step *step, guint32 s)
{
  const WrkStage *stage = &step->stage[s];
  const WrkStageTraffic *candidates[] = { &stage->sent_up, &stage->sent_down, s > 0 ? &stage[-1].sent_up : NULL,
                                          s + 1 < step->pp ? &stage[1].sent_down : NULL };
  const WrkStageTraffic *longest = candidates[0];
  for (guint i = 1; i < G_N_ELEMENTS (candidates); i++)
    if (candidates[i] != NULL && candidates[i]->alone_s > longest->alone_s)
      longest = candidates[i];
  return longest;
}

/* What most of the critical path consists of. Where that is compute, waiting for other stages may outweigh the stage's own. */
static const char *
find_bound (const Step *step, const WrkCritical *critical)
{
  const WrkTrainingResult *out = step->out;
  const WrkStage *sender = &step->stage[critical->send_stage];
  if (critical->reduced_s + critical->sent_s > critical->compute_s)
    return critical->reduced_s >= critical->sent_s   ? out->all_reduce.bound_by
           : critical->send_kind == WRK_TASK_SEND_UP ? sender->sent_up.bound_by
                                                     : sender->sent_down.bound_by;
  return out->part_s[WRK_PART_BUBBLE] > out->part_s[WRK_PART_COMPUTE] ? "bubble" : "compute";
}

static void
summarise (Step *step, const WrkCritical *critical)
{
  WrkTrainingResult *out = step->out;
  const WrkStageTraffic *reduced = &step->stage[out->stage].reduced, *sends = longest_send (step, out->stage);
  double compute_s = out->part_s[WRK_PART_COMPUTE], dp_s = out->part_s[WRK_PART_EXPOSED_DP],
         pp_s = out->part_s[WRK_PART_EXPOSED_PP];
  out->dp = step->dp;
  out->pp = step->pp;
  out->n_ranks = step->dp * step->pp;
  out->n_nodes = clu_dev_node (step->scenario->clu, clu_gpu (step->scenario->clu, step->gpu[out->n_ranks - 1])) + 1;
  out->comm_compute_ratio = compute_s > 0 ? out->communication_s / compute_s : (double)NAN;
  out->exposed_fraction = out->communication_s > 0 ? (dp_s + pp_s) / out->communication_s : (double)NAN;
  /* buckets go one after the other, and so do sends one way; all else may run beside them */
  out->ideal_bound_s = fmax (compute_s, fmax (reduced->alone_s, sends->alone_s)) + out->part_s[WRK_PART_OPTIMIZER];
  out->provenance = BASE_SOURCE_MEASURED;
  for (guint32 l = 0; l < step->n_layers; l++)
    out->provenance = MIN (out->provenance, MIN (step->layer[l]->forward.source, step->layer[l]->backward.source));
  for (guint32 s = 0; s < step->pp; s++) {
    const WrkStageTraffic *traffic[] = { &step->stage[s].reduced, &step->stage[s].sent_up, &step->stage[s].sent_down };
    for (guint i = 0; i < G_N_ELEMENTS (traffic); i++)
      if (traffic[i]->alone_s > 0)
        out->provenance = MIN (out->provenance, traffic[i]->provenance);
  }
  g_strlcpy (out->bound_by, find_bound (step, critical), sizeof out->bound_by);
}

static void
take_spans (const EngGraph *graph, GPtrArray *spans)
{
  for (EngTask t = 0; t < eng_graph_n_tasks (graph); t++) {
    WrkSpan *span = g_new (WrkSpan, 1);
    span->lane = g_strdup (eng_graph_stream_name (graph, eng_graph_task_stream (graph, t)));
    span->name = g_strdup (eng_graph_task_name (graph, t));
    span->start_s = eng_time_to_s (eng_graph_task_start (graph, t));
    span->end_s = eng_time_to_s (eng_graph_task_end (graph, t));
    g_ptr_array_add (spans, span);
  }
}

static void
say_what_is_left_out (const Step *step, WrkResult *result)
{
  const WrkScenario *scenario = step->scenario;
  if (step->out->n_ranks < scenario->gpus->len)
    wrk_result_warn (result, "dp %u x pp %u uses %u of %u GPUs", step->dp, step->pp, step->out->n_ranks, scenario->gpus->len);
  if (step->out->n_nodes == 1 && clu_n_nodes (scenario->clu) > 1)
    wrk_result_warn (result, "this step never leaves a node: NICs and fabric cannot move the answer");
}

gboolean
wrk_check_training (const WrkScenario *scenario, GError **error)
{
  Step step = { .scenario = scenario, .spec = &scenario->training };
  gboolean ok = expand_layers (&step, error) && place (&step, error);
  g_free (step.layer);
  return ok;
}

static void
step_clear (Step *step)
{
  g_clear_pointer (&step->graph, eng_graph_free);
  g_clear_pointer (&step->net, wrk_net_free);
  g_clear_pointer (&step->uses, g_array_unref);
  g_clear_pointer (&step->layer, g_free);
  g_clear_pointer (&step->stage, g_free);
}

/* Builds a step's graph on a network, which the step takes. */
static gboolean
build_step (const WrkScenario *scenario, int end, Step *step, WrkNet *net, WrkTrainingResult *out, GError **error)
{
  *step = (Step){ .scenario = scenario, .spec = &scenario->training, .out = out, .end = end, .net = net };
  step->graph = eng_graph_new (wrk_net_engine (step->net));
  step->uses = g_array_new (FALSE, FALSE, sizeof (EngUse));
  if (!expand_layers (step, error) || !place (step, error))
    return FALSE;
  cut_stages (step);
  return build (step, error);
}

/* Builds a step's graph and runs it into *out and *critical. *step is to be cleared in any case. */
static gboolean
run_step (const WrkScenario *scenario, int end, Step *step, WrkTrainingResult *out, WrkCritical *critical, GError **error)
{
  if (!build_step (scenario, end, step, wrk_net_new (scenario->clu), out, error) || !eng_graph_run (step->graph, error))
    return FALSE;
  wrk_training_account (step->graph, step->stage, step->pp, out, critical);
  return TRUE;
}

/* Compute times are given; what the models may be wrong about is communication, and what hides today may show when it is slower.
 * So the step is run again with all of it at either end of its band. */
static gboolean
find_band (const WrkScenario *scenario, const Step *middle, WrkTrainingResult *out, GError **error)
{
  double most = 0;
  for (guint32 s = 0; s < middle->pp; s++) {
    const WrkStage *stage = &middle->stage[s];
    most = fmax (most, fmax (stage->reduced.band, fmax (stage->sent_up.band, stage->sent_down.band)));
  }
  out->step_time_lo_s = out->step_time_hi_s = out->step_time_s;
  for (int end = -1; end <= 1 && most > 0; end += 2) {
    Step step;
    WrkTrainingResult at_end = { 0 };
    WrkCritical critical;
    gboolean ok = run_step (scenario, end, &step, &at_end, &critical, error);
    step_clear (&step);
    wrk_coll_clear (&at_end.all_reduce);
    if (!ok)
      return FALSE;
    /* with contention one operation's delay may be another's gain */
    out->step_time_lo_s = fmin (out->step_time_lo_s, at_end.step_time_s);
    out->step_time_hi_s = fmax (out->step_time_hi_s, at_end.step_time_s);
  }
  return TRUE;
}

/* The closed form prices each operation as if it were alone. */
static void
warn_crowded (const WrkScenario *scenario, WrkResult *result)
{
  static const double ROUNDING = 1e-3;
  const WrkLinkUse *first = result->links->len > 0 ? &g_array_index (result->links, WrkLinkUse, 0) : NULL;
  if (scenario->settings.mode == WRK_MODE_MODEL && first != NULL && first->utilisation > 1 + ROUNDING)
    wrk_result_warn (result, "mode model knows no contention: it asks %.0f %% of what %s (%s) carries; --mode event shares links",
                     first->utilisation * 100, first->busiest, first->link_class);
}

gboolean
wrk_run_training (WrkScenario *scenario, WrkResult *result, gboolean want_spans, GError **error)
{
  if (scenario->settings.steps == WRK_STEPS_EXACT)
    return wrk_fail_at (error, BASE_MARK_NONE, "--steps exact of a training workload is not built yet; accepted: fluid");
  Step step;
  WrkCritical critical;
  gboolean ok = run_step (scenario, 0, &step, &result->training, &critical, error);
  if (ok) {
    summarise (&step, &critical);
    say_what_is_left_out (&step, result);
    wrk_result_add_links (result, scenario->clu, step.net, step.out->step_time_s);
    warn_crowded (scenario, result);
    result->n_events = eng_stats (wrk_net_engine (step.net)).events;
    if (want_spans)
      take_spans (step.graph, result->spans);
    ok = find_band (scenario, &step, step.out, error);
  }
  step_clear (&step);
  return ok;
}

struct WrkStepRun {
  Step step;
  WrkTrainingResult out;
};

WrkStepRun *
wrk_step_start (const WrkScenario *scenario, WrkNet *net, GError **error)
{
  WrkStepRun *run = g_new0 (WrkStepRun, 1);
  if (build_step (scenario, 0, &run->step, net, &run->out, error) && eng_graph_start (run->step.graph, error))
    return run;
  wrk_step_free (run);
  return NULL;
}

double
wrk_step_time_s (const WrkStepRun *run)
{
  WrkTrainingResult out = { 0 };
  WrkCritical critical;
  wrk_training_account (run->step.graph, run->step.stage, run->step.pp, &out, &critical);
  return out.step_time_s;
}

void
wrk_step_free (WrkStepRun *run)
{
  run->step.net = NULL; /* the others' too */
  step_clear (&run->step);
  wrk_coll_clear (&run->out.all_reduce);
  g_free (run);
}
