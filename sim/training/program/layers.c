/* A training step of layers with given times: data-parallel replicas are equal and simulated once, each rank of the pipeline (a
 * stage) by one compute stream; their collectives and sends load the links of all replicas. Each chunk's gradients are reduced in
 * buckets, filled from its last layer backwards. */
#include <math.h>
#include <string.h>

#include "collective/send.h"
#include "training-private.h"

#define MAX_TASKS 20e6

typedef struct {
  const TrnJob *job;
  const TrnSpec *spec;
  const TrnLayerSpec **layer; /* expanded */
  guint32 n_layers, dp, pp, m;
  MdlPipeline pipe;
  TrnChunk *chunk; /* by position */
  guint32 *gpu;    /* of stage s, replica d: gpu[s * dp + d] */
  TrnStage *stage;
  ColNet *net;
  EngGraph *graph;
  GArray *uses; /* scratch */
  TrnResult *out;
  int end; /* of the error band: -1 all communication as quick as it may be, +1 as slow, 0 as predicted */
} Step;

static gboolean
expand_layers (Step *step, GError **error)
{
  const BaseList *list = &step->spec->layers;
  double total = 0;
  if (list->n == 0)
    return col_fail_at (error, base_yaml_mark (step->job->node),
                        "a training workload needs 'model' (forerun list llms), or 'layers' (e.g. layers: [{forward: 1 ms, "
                        "backward: 2 ms, gradient: 100 MB}])");
  for (unsigned i = 0; i < list->n; i++)
    total += BASE_LIST_AT (*list, TrnLayerSpec, i)->count.v;
  if (total > 1e6)
    return col_fail_at (error, list->mark, "%.0f layers in all; accepted: at most 1000000", total);
  step->layer = g_new (const TrnLayerSpec *, (gsize)total);
  for (unsigned i = 0; i < list->n; i++)
    for (double k = 0; k < BASE_LIST_AT (*list, TrnLayerSpec, i)->count.v; k++)
      step->layer[step->n_layers++] = BASE_LIST_AT (*list, TrnLayerSpec, i);
  return TRUE;
}

static gboolean
place (Step *step, GError **error)
{
  const TrnParallelSpec *parallel = &step->spec->parallel;
  const GArray *gpus = step->job->system->gpus;
  BaseMark mark = parallel->head.set ? parallel->head.mark : base_yaml_mark (step->job->node);
  double pp = parallel->pp.v;
  if (!parallel->dp.set && fmod (gpus->len, pp) > 0)
    return col_fail_at (error, mark, "%u GPUs do not divide into %.0f pipeline stages; accepted: a pp that divides them, or a dp",
                        gpus->len, pp);
  double dp = parallel->dp.set ? parallel->dp.v : gpus->len / pp;
  if (dp * pp > gpus->len)
    return col_fail_at (error, mark, "dp %.0f x pp %.0f needs %.0f GPUs, the cluster has %u; ask for more nodes", dp, pp, dp * pp,
                        gpus->len);
  if (pp > step->n_layers)
    return col_fail_at (error, mark, "pp %.0f for %u layer%s; accepted: at most one stage a layer", pp, step->n_layers,
                        step->n_layers == 1 ? "" : "s");
  step->dp = (guint32)dp;
  step->pp = (guint32)pp;
  step->m = (guint32)step->spec->micro_batches.v;
  if (!trn_pipeline (step->job, step->pp, &step->pipe, error))
    return FALSE;
  double positions = mdl_schedule_positions (&step->pipe);
  if (positions > step->n_layers)
    return col_fail_at (error, mark, "pp %u x vp %u for %u layers; accepted: at most one chunk a layer", step->pp, step->pipe.v,
                        step->n_layers);
  if (positions * step->m * 4 + step->n_layers * 2.0 > MAX_TASKS)
    return col_fail_at (error, mark, "%u stages x %u micro-batches are too many tasks; accepted: about 5 million together",
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

/* Two ranks that hold copies of the same chunks reduce together. */
static guint32
partner_of (const Step *step, guint32 s)
{
  return mdl_schedule_copies (&step->pipe) > 1 ? step->pp - 1 - s : s;
}

static void
cut_stages (Step *step)
{
  step->chunk = trn_chunks_cut (step->layer, step->n_layers, mdl_schedule_positions (&step->pipe));
  step->stage = g_new0 (TrnStage, step->pp);
  for (guint32 s = 0; s < step->pp; s++) {
    TrnStage *stage = &step->stage[s];
    guint32 partner = partner_of (step, s);
    stage->compute = add_stream (step, s, "compute");
    stage->gradients = partner < s ? step->stage[partner].gradients : add_stream (step, s, "gradients");
    stage->host = step->spec->host.head.set ? add_stream (step, s, "host") : ENG_NO_STREAM;
    stage->send_up = add_stream (step, s, "send forward");
    stage->send_down = add_stream (step, s, "send back");
  }
}

/* Communication as the mode has it: an activity on the links, or the closed form's time. */
static EngTask
add_communication (Step *step, const ColAnswer *coll, EngStream stream, TrnTaskKind kind, const char *name)
{
  double stretch = step->end > 0 ? 1 + coll->cost.band : step->end < 0 ? 1 / (1 + coll->cost.band) : 1;
  if (coll->size_B <= 0)
    return eng_graph_join (step->graph, stream, kind, name);
  col_net_count_coll (step->net, coll, 1);
  if (step->job->system->settings.mode == COL_MODE_MODEL)
    return eng_graph_delay (step->graph, stream, eng_time_from_s (coll->cost.time_s * stretch), kind, name);
  EngFlowSpec spec;
  col_net_coll_flow (step->net, coll, step->uses, &spec);
  if (step->end != 0) {
    spec.amount *= stretch;
    spec.latency = eng_time_from_s (coll->cost.latency_s * stretch);
  }
  return eng_graph_flow (step->graph, stream, &spec, kind, name);
}

/* ---- turns: what a rank computes, and what it sends ---- */

/* One turn of one rank in the graph. */
typedef struct {
  EngTask first, last; /* its compute tasks */
  EngTask *of_layer;   /* the last one of each layer, from the chunk's last layer on; NULL: one task for all */
  EngTask done;        /* the send of what it made, or `last` where nothing is sent */
} Done;

/* While a graph is built: the orders of all ranks, and where to find the turns of others. */
typedef struct {
  GArray **order;       /* MdlTurn, of each rank */
  Done **of_turn;       /* likewise */
  Done **ahead, **back; /* by position x m + micro-batch: of its forward, and of its backward or gradient of the input */
  guint32 *final;       /* of rank x chunks + chunk: which turn completes its gradients */
} Program;

static Program *
program_new (const Step *step)
{
  Program *program = g_new0 (Program, 1);
  gsize n = (gsize)mdl_schedule_positions (&step->pipe) * step->m;
  guint32 chunks = mdl_schedule_chunks (&step->pipe);
  program->order = g_new0 (GArray *, step->pp);
  program->of_turn = g_new0 (Done *, step->pp);
  program->ahead = g_new (Done *, n);
  program->back = g_new (Done *, n);
  program->final = g_new (guint32, (gsize)step->pp * chunks);
  for (guint32 s = 0; s < step->pp; s++) {
    program->order[s] = mdl_schedule_order (&step->pipe, s);
    program->of_turn[s] = g_new0 (Done, program->order[s]->len);
    for (guint32 i = 0; i < program->order[s]->len; i++) {
      const MdlTurn *turn = &g_array_index (program->order[s], MdlTurn, i);
      gsize at = (gsize)mdl_schedule_position (&step->pipe, (MdlPlace){ s, turn->chunk }) * step->m + turn->micro_batch;
      if (turn->kind == MDL_TURN_FORWARD)
        program->ahead[at] = &program->of_turn[s][i];
      else if (turn->kind != MDL_TURN_WEIGHT_GRADIENT)
        program->back[at] = &program->of_turn[s][i];
      if (turn->kind == MDL_TURN_BACKWARD || turn->kind == MDL_TURN_WEIGHT_GRADIENT)
        program->final[s * chunks + turn->chunk] = i;
    }
  }
  return program;
}

static void
program_free (const Step *step, Program *program)
{
  for (guint32 s = 0; s < step->pp; s++) {
    for (guint32 i = 0; i < program->order[s]->len; i++)
      g_free (program->of_turn[s][i].of_layer);
    g_array_unref (program->order[s]);
    g_free (program->of_turn[s]);
  }
  g_free (program->order);
  g_free (program->of_turn);
  g_free (program->ahead);
  g_free (program->back);
  g_free (program->final);
  g_free (program);
}

static gboolean
reduces (const Step *step)
{
  return step->dp * mdl_schedule_copies (&step->pipe) > 1;
}

/* The compute of a turn: one task, or one a layer where each layer's gradient may be reduced at once. */
static void
add_turn (Step *step, guint32 s, const MdlTurn *turn, gboolean by_layer, Done *done)
{
  const TrnChunk *chunk = &step->chunk[mdl_schedule_position (&step->pipe, (MdlPlace){ s, turn->chunk })];
  TrnTaskKind kind = turn->kind == MDL_TURN_FORWARD ? TRN_TASK_FORWARD : TRN_TASK_BACKWARD;
  char name[32];
  mdl_turn_name (&step->pipe, turn, name, sizeof name);
  guint32 n = by_layer || step->spec->host.head.set ? chunk->n : 1;
  done->of_layer = n == chunk->n ? g_new (EngTask, n) : NULL;
  for (guint32 k = n; k-- > 0;) {
    const TrnLayerSpec *layer = step->layer[chunk->first + k];
    EngTask first;
    if (step->spec->host.head.set)
      done->last =
          trn_layer_launch (step->graph, &step->stage[s], &step->spec->host, layer, turn->kind, (TrnTaskKind)kind, name, &first);
    else
      done->last = first = eng_graph_delay (
          step->graph, step->stage[s].compute,
          eng_time_from_s (n == chunk->n ? trn_layer_pass_s (layer, turn->kind) : chunk->pass_s[turn->kind]), kind, name);
    if (k + 1 == n)
      done->first = first;
    if (done->of_layer != NULL)
      done->of_layer[n - 1 - k] = done->last;
  }
  done->done = done->last;
}

static void
note_traffic (const ColAnswer *coll, TrnStageTraffic *traffic)
{
  traffic->band = coll->cost.band;
  traffic->provenance = coll->provenance;
  g_strlcpy (traffic->bound_by, coll->bound_by, sizeof traffic->bound_by);
}

/* What a turn sends to a neighbour for one micro-batch; a boundary whose activation is 0 sends nothing. */
static gboolean
price_send (Step *step, guint32 from, const MdlTurn *turn, guint32 to, ColAnswer *out, GError **error)
{
  guint32 position = mdl_schedule_position (&step->pipe, (MdlPlace){ from, turn->chunk });
  double bytes = step->chunk[turn->kind == MDL_TURN_FORWARD ? position : position - 1].out_B;
  if (bytes <= 0)
    return TRUE;
  ColSettings settings = step->job->system->settings;
  settings.no_fold = TRUE; /* stages share links */
  g_autoptr (ColGround) ground = col_ground_new (step->job->system->clu, &settings);
  const ColSends sends = { step->gpu + (gsize)from * step->dp, step->gpu + (gsize)to * step->dp, step->dp, bytes };
  if (!col_send_price (ground, step->job->system->clu, &settings, &sends, out, error))
    return FALSE;
  TrnStageTraffic *traffic = mdl_schedule_is_up (&step->pipe, from, to) ? &step->stage[from].sent_up : &step->stage[from].sent_down;
  note_traffic (out, traffic);
  traffic->alone_s += out->cost.time_s * (step->m / mdl_schedule_copies (&step->pipe));
  return TRUE;
}

/* What a local chunk sends, forward and back. */
typedef struct {
  ColAnswer way[2];
  gboolean priced[2];
} Sends;

/* Streams run in the order of adding, so sends that share the compute stream are added right after the turn that makes them. */
static gboolean
add_send (Step *step, guint32 s, const MdlTurn *turn, Sends *sends, Done *done, GError **error)
{
  TrnStage *stage = &step->stage[s];
  int way = turn->kind == MDL_TURN_FORWARD ? 0 : 1;
  Sends *chunk = &sends[turn->chunk];
  MdlPlace to;
  if (!mdl_schedule_feeds (&step->pipe, s, turn, &to) || to.rank == s)
    return TRUE;
  if (!chunk->priced[way] && !price_send (step, s, turn, to.rank, &chunk->way[way], error))
    return FALSE;
  chunk->priced[way] = TRUE;
  gboolean up = mdl_schedule_is_up (&step->pipe, s, to.rank);
  EngStream stream = !step->spec->p2p_overlap.v ? stage->compute : up ? stage->send_up : stage->send_down;
  done->done = add_communication (step, &chunk->way[way], stream, up ? TRN_TASK_SEND_UP : TRN_TASK_SEND_DOWN,
                                  way == 0 ? "send activation" : "send gradient");
  eng_graph_after (step->graph, done->done, done->last);
  return TRUE;
}

/* Adds all turns of a rank; what a pair makes is sent when both are done. */
static gboolean
add_turns (Step *step, guint32 s, const Program *program, GError **error)
{
  const GArray *order = program->order[s];
  guint32 chunks = mdl_schedule_chunks (&step->pipe);
  g_autofree Sends *sends = g_new0 (Sends, chunks);
  gboolean ok = TRUE;
  for (guint32 i = 0, n = 1; i < order->len && ok; i += n) {
    n = g_array_index (order, MdlTurn, i).paired ? 2 : 1;
    for (guint32 k = i; k < i + n; k++) {
      const MdlTurn *turn = &g_array_index (order, MdlTurn, k);
      add_turn (step, s, turn, reduces (step) && program->final[s * chunks + turn->chunk] == k, &program->of_turn[s][k]);
      program->of_turn[s][i].last = program->of_turn[s][i].done = program->of_turn[s][k].last;
    }
    for (guint32 k = i; k < i + n && ok; k++)
      ok = add_send (step, s, &g_array_index (order, MdlTurn, k), sends, &program->of_turn[s][k], error);
  }
  for (guint32 c = 0; c < chunks; c++)
    for (int way = 0; way < 2; way++)
      col_coll_clear (&sends[c].way[way]);
  return ok;
}

/* Each turn waits for what it needs of others; a pair waits for what either needs. */
static void
join_turns (Step *step, guint32 s, const Program *program)
{
  const GArray *order = program->order[s];
  for (guint32 i = 0; i < order->len; i++) {
    const MdlTurn *turn = &g_array_index (order, MdlTurn, i);
    MdlPlace from;
    if (!mdl_schedule_needs (&step->pipe, s, turn, &from))
      continue;
    Done **made = turn->kind == MDL_TURN_FORWARD ? program->ahead : program->back;
    EngTask needed = made[(gsize)mdl_schedule_position (&step->pipe, from) * step->m + turn->micro_batch]->done;
    gboolean second = i > 0 && g_array_index (order, MdlTurn, i - 1).paired;
    eng_graph_after (step->graph, program->of_turn[s][second ? i - 1 : i].first, needed);
  }
}

/* ---- gradients ---- */

/* Has a bucket wait for one holder's gradients: those of the chunk's last n layers, or all. */
static void
after_gradients (Step *step, guint32 s, guint32 chunk, guint32 n, const Program *program, EngTask bucket)
{
  const Done *final = &program->of_turn[s][program->final[s * mdl_schedule_chunks (&step->pipe) + chunk]];
  eng_graph_after (step->graph, bucket, step->spec->ddp.overlap.v ? final->of_layer[n - 1] : final->last);
}

/* Closes buckets from the chunk's last layer backwards; each is reduced after the backward of the last layer that put something
 * into it: the tasks of the chunk's final turn are one a layer, the last layer's first. */
static gboolean
add_buckets (Step *step, guint32 s, guint32 local, ColComm *comm, const Program *program, EngTask *reduced, GError **error)
{
  const TrnDdpSpec *ddp = &step->spec->ddp;
  guint32 position = mdl_schedule_position (&step->pipe, (MdlPlace){ s, local }), ready = 1, partner = partner_of (step, s);
  const TrnChunk *chunk = &step->chunk[position];
  double held_B = 0;
  g_auto (ColAnswer) bucket = { 0 };
  for (guint32 k = chunk->n; k-- > 0;) {
    double gradient_B = step->layer[chunk->first + k]->gradient.v;
    held_B += gradient_B;
    if (gradient_B > 0)
      ready = chunk->n - k;
    if (held_B <= 0 || (held_B < ddp->bucket.v && k > 0))
      continue;
    ColCollRequest request = {
      MDL_OP_ALL_REDUCE, held_B, MDL_DTYPE_FP32, (MdlAlgo)step->spec->algo.v, (MdlProto)step->spec->proto.v, 0
    };
    gboolean same = bucket.n_ranks > 0 && bucket.size_B >= held_B && bucket.size_B <= held_B;
    if (!same && !col_coll_price (comm, &request, &bucket, error))
      return FALSE;
    note_traffic (&bucket, &step->stage[s].reduced);
    step->stage[s].reduced.alone_s += bucket.cost.time_s;
    char name[48];
    g_snprintf (name, sizeof name, "all_reduce %u", step->out->n_buckets);
    *reduced = add_communication (step, &bucket, step->stage[s].gradients, TRN_TASK_GRADIENTS, name);
    after_gradients (step, s, local, ready, program, *reduced);
    if (partner != s)
      after_gradients (step, partner, 1 - local, ready, program, *reduced);
    if (held_B > step->out->all_reduce.size_B || step->out->all_reduce.n_ranks == 0) {
      col_coll_clear (&step->out->all_reduce);
      step->out->all_reduce = bucket;
      step->out->all_reduce_stage = s;
      step->out->all_reduce_partner = partner;
      memset (&bucket, 0, sizeof bucket);
    }
    step->out->n_buckets++;
    held_B = 0;
  }
  return TRUE;
}

/* Reduces the chunks of a rank in the order in which their gradients are complete. */
static gboolean
reduce_stage (Step *step, guint32 s, const Program *program, EngTask *reduced, GError **error)
{
  guint32 chunks = mdl_schedule_chunks (&step->pipe), partner = partner_of (step, s);
  ColSettings closed = step->job->system->settings;
  closed.mode = COL_MODE_MODEL;
  closed.no_fold = TRUE; /* stages share links */
  g_autoptr (ColComm) comm = trn_gradient_comm (step->job, &closed, step->dp, s, partner, error);
  if (comm == NULL)
    return FALSE;
  for (guint32 i = 0; i < program->order[s]->len; i++) {
    guint32 chunk = g_array_index (program->order[s], MdlTurn, i).chunk;
    if (program->final[s * chunks + chunk] == i && !add_buckets (step, s, chunk, comm, program, reduced, error))
      return FALSE;
  }
  step->stage[partner].reduced = step->stage[s].reduced;
  return TRUE;
}

static gboolean
add_stages (Step *step, const Program *program, GError **error)
{
  g_autofree EngTask *reduced = g_new (EngTask, step->pp);
  for (guint32 s = 0; s < step->pp; s++)
    if (!add_turns (step, s, program, error))
      return FALSE;
  for (guint32 s = 0; s < step->pp; s++) {
    TrnStage *stage = &step->stage[s];
    guint32 partner = partner_of (step, s);
    reduced[s] = partner < s ? reduced[partner] : ENG_NO_TASK;
    if (partner >= s && reduces (step) && !reduce_stage (step, s, program, &reduced[s], error))
      return FALSE;
    stage->end =
        eng_graph_delay (step->graph, stage->compute, eng_time_from_s (step->spec->optimizer.v), TRN_TASK_OPTIMIZER, "optimizer");
    if (reduced[s] != ENG_NO_TASK)
      eng_graph_after (step->graph, stage->end, reduced[s]);
    join_turns (step, s, program);
  }
  return TRUE;
}

static gboolean
build (Step *step, GError **error)
{
  Program *program = program_new (step);
  gboolean ok = add_stages (step, program, error);
  program_free (step, program);
  return ok;
}

/* ---- the answer ---- */

/* The traffic of stages next to each other that takes longest alone: what stage `s` sends and what it is sent. */
static const TrnStageTraffic *
longest_send (const Step *step, guint32 s)
{
  const TrnStage *stage = &step->stage[s], *before = &step->stage[(s + step->pp - 1) % step->pp],
                 *behind = &step->stage[(s + 1) % step->pp];
  const TrnStageTraffic *candidates[] = { &stage->sent_up, &stage->sent_down, &before->sent_up, &behind->sent_down };
  const TrnStageTraffic *longest = candidates[0];
  for (guint i = 1; i < G_N_ELEMENTS (candidates); i++)
    if (candidates[i]->alone_s > longest->alone_s)
      longest = candidates[i];
  return longest;
}

/* What most of the critical path consists of. Where that is compute, waiting for other stages may outweigh the stage's own. */
static const char *
find_bound (const Step *step, const TrnCritical *critical)
{
  const TrnResult *out = step->out;
  const TrnStage *sender = &step->stage[critical->send_stage];
  if (critical->reduced_s + critical->sent_s > critical->compute_s)
    return critical->reduced_s >= critical->sent_s   ? out->all_reduce.bound_by
           : critical->send_kind == TRN_TASK_SEND_UP ? sender->sent_up.bound_by
                                                     : sender->sent_down.bound_by;
  if (out->part_s[TRN_PART_LAUNCH_GAP] > fmax (out->part_s[TRN_PART_BUBBLE], out->part_s[TRN_PART_COMPUTE]))
    return "host";
  return out->part_s[TRN_PART_BUBBLE] > out->part_s[TRN_PART_COMPUTE] ? "bubble" : "compute";
}

static void
summarise (Step *step, const TrnCritical *critical)
{
  TrnResult *out = step->out;
  const TrnStageTraffic *reduced = &step->stage[out->stage].reduced, *sends = longest_send (step, out->stage);
  double compute_s = out->part_s[TRN_PART_COMPUTE], dp_s = out->part_s[TRN_PART_EXPOSED_DP],
         pp_s = out->part_s[TRN_PART_EXPOSED_PP];
  trn_launch_account (step->graph, &step->stage[out->stage], &out->host);
  out->dp = step->dp;
  out->pp = step->pp;
  out->n_ranks = step->dp * step->pp;
  out->n_nodes = col_system_n_nodes (step->job->system, out->n_ranks);
  out->comm_compute_ratio = compute_s > 0 ? out->communication_s / compute_s : (double)NAN;
  out->exposed_fraction = out->communication_s > 0 ? (dp_s + pp_s) / out->communication_s : (double)NAN;
  /* buckets go one after the other, and so do sends one way; all else may run beside them */
  out->ideal_bound_s = fmax (compute_s, fmax (reduced->alone_s, sends->alone_s)) + out->part_s[TRN_PART_OPTIMIZER];
  out->provenance = BASE_SOURCE_MEASURED;
  for (guint32 l = 0; l < step->n_layers; l++)
    out->provenance = MIN (out->provenance, MIN (step->layer[l]->forward.source, step->layer[l]->backward.source));
  for (guint32 s = 0; s < step->pp; s++) {
    const TrnStageTraffic *traffic[] = { &step->stage[s].reduced, &step->stage[s].sent_up, &step->stage[s].sent_down };
    for (guint i = 0; i < G_N_ELEMENTS (traffic); i++)
      if (traffic[i]->alone_s > 0)
        out->provenance = MIN (out->provenance, traffic[i]->provenance);
  }
  g_strlcpy (out->bound_by, find_bound (step, critical), sizeof out->bound_by);
}

void
trn_take_spans (const EngGraph *graph, GPtrArray *spans)
{
  for (EngTask t = 0; t < eng_graph_n_tasks (graph); t++) {
    ColSpan *span = g_new (ColSpan, 1);
    span->lane = g_strdup (eng_graph_stream_name (graph, eng_graph_task_stream (graph, t)));
    span->name = g_strdup (eng_graph_task_name (graph, t));
    span->start_s = eng_time_to_s (eng_graph_task_start (graph, t));
    span->end_s = eng_time_to_s (eng_graph_task_end (graph, t));
    g_ptr_array_add (spans, span);
  }
}

static void
say_what_is_left_out (const Step *step, ColRunInfo *info)
{
  const TrnJob *job = step->job;
  if (step->out->n_ranks < job->system->gpus->len)
    col_run_warn (info, "dp %u x pp %u uses %u of %u GPUs", step->dp, step->pp, step->out->n_ranks, job->system->gpus->len);
  if (step->out->n_nodes == 1 && clu_n_nodes (job->system->clu) > 1)
    col_run_warn (info, "this step never leaves a node: NICs and fabric cannot move the answer");
}

gboolean
trn_check_training (const TrnJob *job, GError **error)
{
  Step step = { .job = job, .spec = &job->spec };
  gboolean ok = trn_layers_check_keys (job, error) && expand_layers (&step, error) && place (&step, error);
  g_free (step.layer);
  return ok;
}

static void
step_clear (Step *step)
{
  g_clear_pointer (&step->graph, eng_graph_free);
  g_clear_pointer (&step->net, col_net_free);
  g_clear_pointer (&step->uses, g_array_unref);
  g_clear_pointer (&step->layer, g_free);
  g_clear_pointer (&step->chunk, g_free);
  g_clear_pointer (&step->stage, g_free);
}

/* Builds a step's graph on a network, which the step takes. */
static gboolean
build_step (const TrnJob *job, int end, Step *step, ColNet *net, TrnResult *out, GError **error)
{
  *step = (Step){ .job = job, .spec = &job->spec, .out = out, .end = end, .net = net };
  step->graph = eng_graph_new (col_net_engine (step->net));
  step->uses = g_array_new (FALSE, FALSE, sizeof (EngUse));
  if (!expand_layers (step, error) || !place (step, error))
    return FALSE;
  cut_stages (step);
  return build (step, error);
}

/* Builds a step's graph and runs it into *out and *critical. *step is to be cleared in any case. */
static gboolean
run_step (const TrnJob *job, int end, Step *step, TrnResult *out, TrnCritical *critical, GError **error)
{
  if (!build_step (job, end, step, col_net_new (job->system->clu), out, error) || !eng_graph_run (step->graph, error))
    return FALSE;
  trn_account (step->graph, step->stage, step->pp, out, critical);
  return TRUE;
}

/* Compute times are given; what the models may be wrong about is communication, and what hides today may show when it is slower.
 * So the step is run again with all of it at either end of its band. */
static gboolean
find_band (const TrnJob *job, const Step *middle, TrnResult *out, GError **error)
{
  double most = 0;
  for (guint32 s = 0; s < middle->pp; s++) {
    const TrnStage *stage = &middle->stage[s];
    most = fmax (most, fmax (stage->reduced.band, fmax (stage->sent_up.band, stage->sent_down.band)));
  }
  out->step_time_lo_s = out->step_time_hi_s = out->step_time_s;
  for (int end = -1; end <= 1 && most > 0; end += 2) {
    Step step;
    TrnResult at_end = { 0 };
    TrnCritical critical;
    gboolean ok = run_step (job, end, &step, &at_end, &critical, error);
    step_clear (&step);
    col_coll_clear (&at_end.all_reduce);
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
warn_crowded (const TrnJob *job, ColRunInfo *info)
{
  static const double ROUNDING = 1e-3;
  const ColLinkUse *first = info->links->len > 0 ? &g_array_index (info->links, ColLinkUse, 0) : NULL;
  if (job->system->settings.mode == COL_MODE_MODEL && first != NULL && first->utilisation > 1 + ROUNDING)
    col_run_warn (info, "mode model knows no contention: it asks %.0f %% of what %s (%s) carries; --mode event shares links",
                  first->utilisation * 100, first->busiest, first->link_class);
}

gboolean
trn_run_training (const TrnJob *job, TrnResult *training, ColRunInfo *info, GError **error)
{
  if (job->system->settings.steps == COL_STEPS_EXACT)
    return col_fail_at (error, BASE_MARK_NONE, "--steps exact of a training workload is not built yet; accepted: fluid");
  Step step;
  TrnCritical critical;
  gboolean ok = run_step (job, 0, &step, training, &critical, error);
  if (ok) {
    summarise (&step, &critical);
    say_what_is_left_out (&step, info);
    col_run_add_links (info, job->system->clu, step.net, step.out->step_time_s);
    warn_crowded (job, info);
    info->n_events = eng_stats (col_net_engine (step.net)).events;
    if (info->spans != NULL)
      trn_take_spans (step.graph, info->spans);
    ok = find_band (job, &step, step.out, error);
  }
  step_clear (&step);
  return ok;
}

struct TrnStepRun {
  Step step;
  TrnResult out;
};

TrnStepRun *
trn_step_start (const TrnJob *job, ColNet *net, GError **error)
{
  TrnStepRun *run = g_new0 (TrnStepRun, 1);
  if (build_step (job, 0, &run->step, net, &run->out, error) && eng_graph_start (run->step.graph, error))
    return run;
  trn_step_free (run);
  return NULL;
}

double
trn_step_time_s (const TrnStepRun *run)
{
  TrnResult out = { 0 };
  TrnCritical critical;
  trn_account (run->step.graph, run->step.stage, run->step.pp, &out, &critical);
  return out.step_time_s;
}

EngGraph *
trn_step_graph (const TrnStepRun *run)
{
  return run->step.graph;
}

void
trn_step_free (TrnStepRun *run)
{
  run->step.net = NULL; /* the others' too */
  step_clear (&run->step);
  col_coll_clear (&run->out.all_reduce);
  g_free (run);
}
