/* Where the time of a step went: on the compute stream of the rank that ends last, work by kind, and every gap by what the
 * stream waited for. Each task starts when its cause ends, so the chain of causes covers a gap without holes: what of it
 * communication takes is exposed, what the host takes is a launch gap, what others do is the pipeline's bubble. */
#include <math.h>

#include "build-private.h"

typedef struct {
  EngTime part[TRN_PART_N];
} Parts;

/* A pipeline rank. */
typedef struct {
  Parts parts;
  EngTime cursor; /* up to here it is accounted for, and in the end its end */
  EngTime communication;
  double alone_s; /* of that, with nothing that slows it */
} LaneUse;

TrnPart
trn_step_part (TrnStepKind kind)
{
  static const TrnPart parts[TRN_STEP_KINDS] = {
    [TRN_STEP_FORWARD] = TRN_PART_COMPUTE,     [TRN_STEP_BACKWARD] = TRN_PART_COMPUTE,     [TRN_STEP_RECOMPUTE] = TRN_PART_COMPUTE,
    [TRN_STEP_OPTIMIZER] = TRN_PART_OPTIMIZER, [TRN_STEP_COPY] = TRN_PART_COMPUTE,         [TRN_STEP_JOIN] = TRN_PART_COMPUTE,
    [TRN_STEP_HOST] = TRN_PART_LAUNCH_GAP,     [TRN_STEP_SYNC] = TRN_PART_LAUNCH_GAP,      [TRN_STEP_TP] = TRN_PART_EXPOSED_TP,
    [TRN_STEP_CP] = TRN_PART_EXPOSED_CP,       [TRN_STEP_EP] = TRN_PART_EXPOSED_EP,        [TRN_STEP_DP] = TRN_PART_EXPOSED_DP,
    [TRN_STEP_SEND_UP] = TRN_PART_EXPOSED_PP,  [TRN_STEP_SEND_DOWN] = TRN_PART_EXPOSED_PP, [TRN_STEP_OFFLOAD] = TRN_PART_COPY_WAIT,
  };
  return parts[kind];
}

static gboolean
is_compute (unsigned kind)
{
  return kind == TRN_STEP_FORWARD || kind == TRN_STEP_BACKWARD || kind == TRN_STEP_RECOMPUTE || kind == TRN_STEP_OPTIMIZER ||
         kind == TRN_STEP_COPY || kind == TRN_STEP_JOIN;
}

/* What of a stretch of compute its rank takes longer than others. */
static EngTime
late_of (const TrnBuild *b, EngTask task, EngTime length)
{
  const double slow = b->lane[g_array_index (b->notes, TrnNote, task).lane].slow; /* below 1 on faster GPUs than the slowest type */
  return slow > 1 ? (EngTime)((double)length * (1 - 1 / slow)) : 0;
}

/* What a cause of a gap on `lane` counts as. Whatever others do within their turns is the bubble, their communication too; but the
 * end of the step waits for everybody's gradients. */
static TrnPart
part_of_cause (const TrnBuild *b, EngTask cause, guint32 lane)
{
  const TrnNote *note = &g_array_index (b->notes, TrnNote, cause);
  TrnStepKind kind = (TrnStepKind)eng_graph_task_kind (b->graph, cause);
  gboolean others = note->lane != lane && note->other != lane && trn_step_part (kind) != TRN_PART_EXPOSED_DP;
  return is_compute (kind) || (note->comm != NULL && others) ? TRN_PART_BUBBLE : trn_step_part (kind);
}

/* Where times are given, a gap is what its last cause was, and behind the first work of others all of it is bubble: a send that
 * others' work followed is not waited for. */
static void
add_gap (const TrnBuild *b, EngTask task, EngTime from, EngTime to, Parts *parts)
{
  gboolean given = b->model->layers != NULL, behind = FALSE;
  guint32 lane = g_array_index (b->notes, TrnNote, task).lane;
  for (EngTask cause = eng_graph_task_cause (b->graph, task); to > from && cause != ENG_NO_TASK;
       cause = eng_graph_task_cause (b->graph, cause)) {
    EngTime begin = MAX (eng_graph_task_start (b->graph, cause), from);
    unsigned kind = eng_graph_task_kind (b->graph, cause);
    behind = behind || (given && is_compute (kind) && kind != TRN_STEP_JOIN);
    if (begin >= to)
      continue;
    EngTime late = is_compute (kind) ? late_of (b, cause, to - begin) : 0;
    parts->part[behind ? TRN_PART_BUBBLE : part_of_cause (b, cause, lane)] += to - begin - late;
    parts->part[TRN_PART_STRAGGLER_WAIT] += late;
    to = begin;
  }
  if (to > from)
    parts->part[TRN_PART_BUBBLE] += to - from;
}

static void
add_work (const TrnBuild *b, EngTask task, Parts *parts)
{
  EngTime length = eng_graph_task_end (b->graph, task) - eng_graph_task_start (b->graph, task);
  TrnPart part = trn_step_part ((TrnStepKind)eng_graph_task_kind (b->graph, task));
  EngTime late = part == TRN_PART_COMPUTE ? late_of (b, task, length) : 0;
  parts->part[part] += length - late;
  parts->part[TRN_PART_STRAGGLER_WAIT] += late;
}

/* Of a rank's time what it works, with the communication of its own turns that it waits for. */
static EngTime
work_of (const LaneUse *use)
{
  static const TrnPart work[] = { TRN_PART_COMPUTE, TRN_PART_EXPOSED_TP, TRN_PART_EXPOSED_CP, TRN_PART_EXPOSED_EP };
  EngTime sum = 0;
  for (size_t i = 0; i < G_N_ELEMENTS (work); i++)
    sum += use->parts.part[work[i]];
  return sum;
}

/* The rank that ends last; of those that a barrier lets end together the one that came to it last; of those that end together
 * without one that with the most work. */
static guint32
last_lane (const TrnBuild *b, const LaneUse *uses)
{
  guint32 last = 0;
  const gboolean clips = trn_model_clips (b->model);
  for (guint32 s = 1; s < b->model->pipe.p; s++) {
    EngTime end = eng_graph_task_end (b->graph, b->lane[s].end), most = eng_graph_task_end (b->graph, b->lane[last].end);
    EngTime ready = clips ? eng_graph_task_end (b->graph, b->lane[s].ready) : 0,
            before = clips ? eng_graph_task_end (b->graph, b->lane[last].ready) : 0;
    if (end != most ? end > most : ready != before ? ready > before : work_of (&uses[s]) > work_of (&uses[last]))
      last = s;
  }
  return last;
}

/* A collective with its links and its GPU to itself: no wait for SMs, no kernel that slows it. */
static double
comm_alone_s (const TrnNote *note)
{
  double latency_s = note->comm->coll.cost.latency_s;
  return latency_s + (note->comm->time_s - latency_s) * note->share;
}

static void
add_communication (const TrnBuild *b, EngTask task, LaneUse *use)
{
  use->communication += eng_graph_task_end (b->graph, task) - eng_graph_task_start (b->graph, task);
  use->alone_s += comm_alone_s (&g_array_index (b->notes, TrnNote, task));
}

/* All ranks, in one pass over the tasks: those of a stream stand in the order in which they run. */
static void
account_lanes (const TrnBuild *b, LaneUse *uses)
{
  for (EngTask t = 0; t < eng_graph_n_tasks (b->graph); t++) {
    const TrnNote *note = &g_array_index (b->notes, TrnNote, t);
    if (note->comm != NULL && eng_graph_task_kind (b->graph, t) != TRN_STEP_OFFLOAD) { /* copies with the host are none */
      add_communication (b, t, &uses[note->lane]);
      if (note->other != note->lane)
        add_communication (b, t, &uses[note->other]);
    }
    LaneUse *use = &uses[note->lane];
    if (eng_graph_task_stream (b->graph, t) != b->lane[note->lane].stream[TRN_ROLE_COMPUTE])
      continue;
    add_gap (b, t, use->cursor, eng_graph_task_start (b->graph, t), &use->parts);
    add_work (b, t, &use->parts);
    use->cursor = eng_graph_task_end (b->graph, t);
  }
}

/* The stages as they are reported. */
static GArray *
stages_of (const TrnBuild *b, const LaneUse *uses, EngTime end)
{
  const guint32 p = b->model->pipe.p;
  GArray *stages = g_array_sized_new (FALSE, TRUE, sizeof (TrnStageUse), p);
  double most_s = 0;
  g_array_set_size (stages, p);
  for (guint32 s = 0; s < p; s++) {
    TrnStageUse *stage = &g_array_index (stages, TrnStageUse, s);
    stage->stage = s;
    stage->work_s = eng_time_to_s (work_of (&uses[s]));
    most_s = fmax (most_s, stage->work_s);
    for (int part = 0; part < TRN_PART_N; part++)
      stage->part_s[part] = eng_time_to_s (uses[s].parts.part[part] + (part == TRN_PART_BUBBLE ? end - uses[s].cursor : 0));
  }
  for (guint32 s = 0; s < p; s++) {
    TrnStageUse *stage = &g_array_index (stages, TrnStageUse, s);
    stage->binds = stage->work_s >= most_s * (1 - TRN_STAGE_TIE);
  }
  return stages;
}

void
trn_step_account (const TrnBuild *b, TrnResult *out)
{
  g_autofree LaneUse *uses = g_new0 (LaneUse, b->model->pipe.p);
  account_lanes (b, uses);
  const guint32 last = last_lane (b, uses);
  const LaneUse *use = &uses[last];
  for (int p = 0; p < TRN_PART_N; p++)
    out->part_s[p] = eng_time_to_s (use->parts.part[p]);
  out->stage = last;
  out->step_time_s = eng_time_to_s (use->cursor);
  out->communication_s = eng_time_to_s (use->communication);
  out->communication_alone_s = use->alone_s;
  out->stages = stages_of (b, uses, use->cursor);
}

/* ---- what the step comes to ---- */

static double
exposed_of (const TrnResult *out)
{
  double exposed_s = 0;
  for (int p = TRN_PART_EXPOSED_TP; p <= TRN_PART_EXPOSED_EP; p++)
    exposed_s += out->part_s[p];
  return exposed_s;
}

/* Compute by the band of the kernels' models, what is exposed by that of communication; what hides today stays hidden. */
static void
find_band (const TrnBuild *b, TrnResult *out)
{
  double work = trn_costs_band (b->costs, &out->provenance), wire = 0;
  for (guint t = 0; t < b->notes->len; t++) {
    const TrnPriced *comm = g_array_index (b->notes, TrnNote, t).comm;
    if (comm == NULL)
      continue;
    wire = fmax (wire, comm->coll.cost.band);
    out->provenance = MIN (out->provenance, comm->coll.provenance);
  }
  double exposed_s = exposed_of (out), work_s = out->step_time_s - exposed_s; /* a bubble is others' work */
  out->step_time_lo_s = work_s / (1 + work) + exposed_s / (1 + wire);
  out->step_time_hi_s = work_s * (1 + work) + exposed_s * (1 + wire);
}

/* FLOP of a rank in the mean over all, as mfu counts but with recomputed ones. */
static double
done_flop (const TrnBuild *b)
{
  double flop = 0;
  for (guint32 position = 0; position < b->model->n_positions; position++) {
    guint32 lane = mdl_schedule_place (&b->model->pipe, 0, position).rank;
    for (guint32 u = 0; u < trn_cut_units (b->model, position); u++) {
      const TrnUnit *unit = trn_unit_at ((TrnBuild *)(gpointer)b, lane, position, u, NULL);
      flop += unit != NULL ? unit->flop[MDL_TURN_FORWARD] + unit->flop[MDL_TURN_BACKWARD] : 0;
    }
  }
  return flop * b->model->m / b->model->pipe.p;
}

/* Tokens and FLOP. */
static void
summarise_model (const TrnBuild *b, TrnResult *out)
{
  const TrnModel *model = b->model;
  const TrnModelSpec *spec = &model->spec->model;
  MdlLlmFlop flop;
  mdl_llm_token_flop (&model->llm, spec->sequence.v, model->query.packed, &flop);
  mdl_llm_add_mtp_flop (&model->llm, spec->sequence.v, model->query.packed, model->mtp, &flop);
  mdl_llm_add_vision_flop (&model->llm, spec->sequence.v, model->query.images, model->query.patches, &flop);
  double lora = model->query.lora_rank > 0 ? 2.0 / 3 : 1; /* a frozen base has no weight gradients */
  double tokens = (double)model->m * out->dp * spec->micro_batch.v * spec->sequence.v;
  double peak = trn_model_peak_flop_per_s (model), seconds = out->step_time_s * out->n_ranks;
  out->parameters = model->count.total + model->mtp * model->count.mtp;
  out->active_parameters = model->count.active;
  out->has_model = TRUE;
  out->model = model->llm.name.v;
  out->precision = base_name (mdl_format_names, (int)model->query.compute);
  out->assumed_sequence = spec->sequence_assumed ? spec->sequence.v : 0;
  out->is_net = model->llm.net != NULL;
  *(out->is_net ? &out->samples : &out->tokens) = tokens;
  *(out->is_net ? &out->samples_per_s : &out->tokens_per_s) = tokens / out->step_time_s;
  out->model_flop_per_s = tokens * lora * (flop.matrix_flop + flop.attention_flop) / seconds;
  out->mfu = out->model_flop_per_s / peak;
  const gboolean mixed = model->llm.recurrent.heads.v > 0 || model->llm.vision.layers.v > 0; /* with work that no mask halves */
  const double causal_flop = mixed ? flop.attention_causal_flop : (out->is_net ? 1 : 0.5) * flop.attention_flop;
  out->mfu_causal = tokens * lora * (flop.matrix_flop + causal_flop) / seconds / peak;
  out->hfu = done_flop (b) / out->step_time_s / peak;
}

void
trn_step_summarise (const TrnBuild *b, TrnResult *out)
{
  const TrnModel *model = b->model;
  double exposed_s = exposed_of (out), work_s = out->part_s[TRN_PART_COMPUTE];
  out->tp = model->grid.size[TRN_DIM_TP];
  out->cp = model->grid.size[TRN_DIM_CP];
  out->dp = model->grid.size[TRN_DIM_DP];
  out->pp = model->grid.size[TRN_DIM_PP];
  out->vp = model->pipe.v;
  out->ep = model->grid.ep;
  out->micro_batches = model->m;
  out->n_ranks = model->grid.n;
  out->n_nodes = col_system_n_nodes (model->job->system, out->n_ranks);
  out->comm_compute_ratio = work_s > 0 ? out->communication_s / work_s : (double)NAN;
  out->comm_compute_ratio_alone = work_s > 0 ? out->communication_alone_s / work_s : (double)NAN;
  out->exposed_fraction = out->communication_s > 0 ? fmin (exposed_s / out->communication_s, 1) : (double)NAN;
  out->ideal_bound_s = fmax (work_s, out->communication_s - exposed_s) + out->part_s[TRN_PART_OPTIMIZER];
  out->schedule = base_name (mdl_schedule_names, (int)model->pipe.schedule);
  find_band (b, out);
  trn_step_communication (b, out);
  trn_step_host (b, out);
  if (model->layers != NULL) {
    trn_step_layers (b, out);
    return;
  }
  summarise_model (b, out);
  trn_step_bound (b, out);
}
