/* Where the time of a model's step went: on the compute stream of the rank that ends last, work by kind, and every gap by what the
 * stream waited for. Each task starts when its cause ends, so the chain of causes covers a gap without holes: what of it
 * communication takes is exposed, what the host takes is a launch gap, what others do is the pipeline's bubble. */
#include <math.h>

#include "model_build-private.h"

typedef struct {
  EngTime part[WRK_PART_N];
} Parts;

WrkPart
wrk_step_part (WrkStepKind kind)
{
  static const WrkPart parts[WRK_STEP_KINDS] = {
    [WRK_STEP_FORWARD] = WRK_PART_COMPUTE,     [WRK_STEP_BACKWARD] = WRK_PART_COMPUTE,     [WRK_STEP_RECOMPUTE] = WRK_PART_COMPUTE,
    [WRK_STEP_OPTIMIZER] = WRK_PART_OPTIMIZER, [WRK_STEP_COPY] = WRK_PART_COMPUTE,         [WRK_STEP_JOIN] = WRK_PART_COMPUTE,
    [WRK_STEP_HOST] = WRK_PART_LAUNCH_GAP,     [WRK_STEP_SYNC] = WRK_PART_LAUNCH_GAP,      [WRK_STEP_TP] = WRK_PART_EXPOSED_TP,
    [WRK_STEP_CP] = WRK_PART_EXPOSED_CP,       [WRK_STEP_EP] = WRK_PART_EXPOSED_EP,        [WRK_STEP_DP] = WRK_PART_EXPOSED_DP,
    [WRK_STEP_SEND_UP] = WRK_PART_EXPOSED_PP,  [WRK_STEP_SEND_DOWN] = WRK_PART_EXPOSED_PP,
  };
  return parts[kind];
}

static gboolean
is_compute (unsigned kind)
{
  return kind == WRK_STEP_FORWARD || kind == WRK_STEP_BACKWARD || kind == WRK_STEP_RECOMPUTE || kind == WRK_STEP_OPTIMIZER ||
         kind == WRK_STEP_COPY || kind == WRK_STEP_JOIN;
}

/* What of a stretch of compute its rank takes longer than others. */
static EngTime
late_of (const WrkBuild *b, EngTask task, EngTime length)
{
  return (EngTime)((double)length * (1 - 1 / b->lane[g_array_index (b->notes, WrkNote, task).lane].slow));
}

/* What a cause of a gap on `lane` counts as. Whatever others do within their turns is the bubble, their communication too; but the
 * end of the step waits for everybody's gradients. */
static WrkPart
part_of_cause (const WrkBuild *b, EngTask cause, guint32 lane)
{
  const WrkNote *note = &g_array_index (b->notes, WrkNote, cause);
  WrkStepKind kind = (WrkStepKind)eng_graph_task_kind (b->graph, cause);
  gboolean others = note->lane != lane && note->other != lane && wrk_step_part (kind) != WRK_PART_EXPOSED_DP;
  return is_compute (kind) || (note->comm != NULL && others) ? WRK_PART_BUBBLE : wrk_step_part (kind);
}

static void
add_gap (const WrkBuild *b, EngTask task, EngTime from, EngTime to, Parts *parts)
{
  guint32 lane = g_array_index (b->notes, WrkNote, task).lane;
  for (EngTask cause = eng_graph_task_cause (b->graph, task); to > from && cause != ENG_NO_TASK;
       cause = eng_graph_task_cause (b->graph, cause)) {
    EngTime begin = MAX (eng_graph_task_start (b->graph, cause), from);
    unsigned kind = eng_graph_task_kind (b->graph, cause);
    if (begin >= to)
      continue;
    EngTime late = is_compute (kind) ? late_of (b, cause, to - begin) : 0;
    parts->part[part_of_cause (b, cause, lane)] += to - begin - late;
    parts->part[WRK_PART_STRAGGLER_WAIT] += late;
    to = begin;
  }
  if (to > from)
    parts->part[WRK_PART_BUBBLE] += to - from;
}

static void
add_work (const WrkBuild *b, EngTask task, Parts *parts)
{
  EngTime length = eng_graph_task_end (b->graph, task) - eng_graph_task_start (b->graph, task);
  WrkPart part = wrk_step_part ((WrkStepKind)eng_graph_task_kind (b->graph, task));
  EngTime late = part == WRK_PART_COMPUTE ? late_of (b, task, length) : 0;
  parts->part[part] += length - late;
  parts->part[WRK_PART_STRAGGLER_WAIT] += late;
}

static guint32
last_lane (const WrkBuild *b)
{
  guint32 last = 0;
  for (guint32 s = 1; s < b->model->pipe.p; s++)
    if (eng_graph_task_end (b->graph, b->lane[s].end) > eng_graph_task_end (b->graph, b->lane[last].end))
      last = s;
  return last;
}

void
wrk_step_account (const WrkBuild *b, WrkTrainingResult *out)
{
  guint32 last = last_lane (b);
  const WrkLane *lane = &b->lane[last];
  Parts parts = { 0 };
  EngTime cursor = 0, communication = 0;
  for (EngTask t = 0; t < eng_graph_n_tasks (b->graph); t++) {
    const WrkNote *note = &g_array_index (b->notes, WrkNote, t);
    EngTime start = eng_graph_task_start (b->graph, t), end = eng_graph_task_end (b->graph, t);
    if (note->comm != NULL && (note->lane == last || note->other == last))
      communication += end - start;
    if (eng_graph_task_stream (b->graph, t) != lane->stream[WRK_ROLE_COMPUTE])
      continue;
    add_gap (b, t, cursor, start, &parts);
    add_work (b, t, &parts);
    cursor = end;
  }
  for (int p = 0; p < WRK_PART_N; p++)
    out->part_s[p] = eng_time_to_s (parts.part[p]);
  out->stage = last;
  out->step_time_s = eng_time_to_s (cursor);
  out->communication_s = eng_time_to_s (communication);
}

/* ---- what the step comes to ---- */

/* Compute by the band of the kernels' models, what is exposed by that of communication; what hides today stays hidden. */
static void
find_band (const WrkBuild *b, WrkTrainingResult *out)
{
  double work = wrk_costs_band (b->costs, &out->provenance), wire = 0;
  double exposed_s = 0, work_s = 0;
  for (guint t = 0; t < b->notes->len; t++) {
    const WrkPriced *comm = g_array_index (b->notes, WrkNote, t).comm;
    if (comm == NULL)
      continue;
    wire = fmax (wire, comm->coll.cost.band);
    out->provenance = MIN (out->provenance, comm->coll.provenance);
  }
  for (int p = WRK_PART_EXPOSED_TP; p <= WRK_PART_EXPOSED_EP; p++)
    exposed_s += out->part_s[p];
  work_s = out->step_time_s - exposed_s; /* a bubble is others' work */
  out->step_time_lo_s = work_s / (1 + work) + exposed_s / (1 + wire);
  out->step_time_hi_s = work_s * (1 + work) + exposed_s * (1 + wire);
}

/* FLOP of a rank in the mean over all, as mfu counts but with recomputed ones. */
static double
done_flop (const WrkBuild *b)
{
  double flop = 0;
  for (guint32 position = 0; position < b->model->n_positions; position++) {
    guint32 lane = wrk_schedule_place (&b->model->pipe, 0, position).rank;
    for (guint32 u = 0; u < wrk_units_of (b->model, position); u++) {
      const WrkUnit *unit = wrk_unit_at ((WrkBuild *)(gpointer)b, lane, position, u, NULL);
      flop += unit != NULL ? unit->flop[WRK_TURN_FORWARD] + unit->flop[WRK_TURN_BACKWARD] : 0;
    }
  }
  return flop * b->model->m / b->model->pipe.p;
}

void
wrk_model_summarise (const WrkBuild *b, WrkTrainingResult *out)
{
  const WrkModel *model = b->model;
  const WrkModelSpec *spec = &model->spec->model;
  MdlLlmFlop flop;
  mdl_llm_token_flop (&model->llm, spec->sequence.v, model->ask.packed, &flop);
  mdl_llm_add_mtp_flop (&model->llm, spec->sequence.v, model->ask.packed, model->mtp, &flop);
  double exposed_s = 0, lora = model->ask.lora_rank > 0 ? 2.0 / 3 : 1; /* a frozen base has no weight gradients */
  for (int p = WRK_PART_EXPOSED_TP; p <= WRK_PART_EXPOSED_EP; p++)
    exposed_s += out->part_s[p];
  double work_s = out->part_s[WRK_PART_COMPUTE];
  out->tp = model->grid.size[WRK_DIM_TP];
  out->cp = model->grid.size[WRK_DIM_CP];
  out->dp = model->grid.size[WRK_DIM_DP];
  out->pp = model->grid.size[WRK_DIM_PP];
  out->vp = model->pipe.v;
  out->ep = model->grid.ep;
  out->micro_batches = model->m;
  out->n_ranks = model->grid.n;
  out->n_nodes = wrk_system_n_nodes (model->job->system, out->n_ranks);
  out->comm_compute_ratio = work_s > 0 ? out->communication_s / work_s : (double)NAN;
  out->exposed_fraction = out->communication_s > 0 ? fmin (exposed_s / out->communication_s, 1) : (double)NAN;
  out->ideal_bound_s = fmax (work_s, out->communication_s - exposed_s) + out->part_s[WRK_PART_OPTIMIZER];
  out->parameters = model->count.total + model->mtp * model->count.mtp;
  out->active_parameters = model->count.active;
  double tokens = (double)model->m * out->dp * spec->micro_batch.v * spec->sequence.v;
  double peak = b->model->gpu.peak_flop_per_s[mdl_format_precision (model->ask.compute)], seconds = out->step_time_s * out->n_ranks;
  out->has_model = TRUE;
  out->model = model->llm.name.v;
  out->schedule = base_name (wrk_schedule_names, (int)model->pipe.schedule);
  out->precision = base_name (mdl_format_names, (int)model->ask.compute);
  out->tokens = tokens;
  out->tokens_per_s = tokens / out->step_time_s;
  out->model_flop_per_s = tokens * lora * (flop.matrix_flop + flop.attention_flop) / seconds;
  out->mfu = out->model_flop_per_s / peak;
  out->mfu_causal = tokens * lora * (flop.matrix_flop + flop.attention_flop / 2) / seconds / peak;
  out->hfu = done_flop (b) / out->step_time_s / peak;
  find_band (b, out);
  wrk_step_communication (b, out);
  wrk_step_bound (b, out);
  wrk_step_host (b, out);
}
