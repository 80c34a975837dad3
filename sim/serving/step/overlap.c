/* Two-batch overlap: layers of experts run as two micro-batches, of which one computes while tokens of the other go to experts and
 * back. Off unless the scenario asks for it, as in the engines. P: projections before attention; A: attention, its output product
 * and the router; E: routed experts; S: shared experts; d, c: dispatch and combine begin; D, C: the kernels wait for them.
 *
 *     paired      P0 A0 d0 P1 A1 d1 D0 E0 c0 D1 E1 c1 S0 C0 | P0 A0 d0 S1 C1 | P1 …     prompts; vLLM
 *     staggered   d0 S0 P1 D0 E0 c0 A1 C0 d1 S1 P0 D1 E1 c1 A0 C1 | d0 …                SGLang's decoding: two stages apart
 *
 * Both queues, computing and exchange, are served in this order. What runs at the same time slows each other: a library whose
 * kernels move the bytes holds SMs, and both share the HBM (models/overlap.h). A library with a hook takes no SM while bytes are on
 * their way. Its kernels at both ends are passes over memory on the compute queue: tokens into send buffers and out of receive
 * buffers (DeepEP internode_ll.cu).
 * Costs of the split: weights are read twice, products have half the rows, kernels start twice. Dense layers, head and drafts are
 * not split. Layers beyond the sixteenth last as the eight before it do on average.
 * Source: SGLang python/sglang/srt/batch_overlap/operations_strategy.py; vLLM docs/design/dbo.md; deepseek-ai/profile-data. Valid:
 * experts over at least two ranks by a library. Check: test_serving_overlap, law_serving_step. */
#include <math.h>

#include "models/library.h"
#include "step-private.h"

#define PLAYED  16u /* layers that are played … */
#define AVERAGE 8u  /* … of which the last ones stand for those beyond */
#define LANES   6u
#define PASSES  4.0 /* B of HBM traffic for each B that kernels send: read, written to a buffer, read, written where it belongs */

gboolean
srv_split_open (SrvStepModel *model, const MdlEngineRow *row, GError **error)
{
  const SrvEngineSpec *engine = &model->spec.engine;
  model->split[0] = model->split[1] = HUGE_VAL;
  if (!engine->two_batch_overlap.v)
    return TRUE;
  const char *name = base_name (srv_engine_names, engine->name.v);
  if (row == NULL || !row->split_prefill.set)
    return col_fail_at (error, engine->two_batch_overlap.mark,
                        "%s %s has no two-batch overlap; leave out two_batch_overlap, or use engine name sglang or vllm", name,
                        row != NULL ? row->version.v : "");
  if (model->llm->moe.experts.v < 1)
    return col_fail_at (error, engine->two_batch_overlap.mark,
                        "two_batch_overlap hides the exchange of tokens with experts, and %s is dense; leave it out",
                        model->llm->name.v);
  if (model->groups.library == NULL)
    return col_fail_at (error, engine->two_batch_overlap.mark,
                        "two_batch_overlap hides dispatch and combine of a library, and here none carries tokens to experts; use "
                        "dp_attn and ep of at least 2 "
                        "and moe: {backend: deepep_low_latency} (decoding) or deepep_normal (prompts)");
  model->staggered = row->staggered.v;
  model->split[0] = row->split_prefill.v;
  model->split[1] = row->split_decode.set ? row->split_decode.v : HUGE_VAL;
  return TRUE;
}

/* ---- what runs at the same time ---- */

typedef enum { QUEUE_COMPUTE, QUEUE_EXCHANGE, QUEUE_N } Queue;

/* Pieces of a micro-batch in a layer. */
typedef enum { BEFORE, CORE, SEND, SHARED, EXPERTS, RECEIVE, NOTHING } Piece;

typedef struct {
  Piece piece;
  guint batch;
  gint later; /* of this layer 0, of the one before -1, of the next one 1 */
} Turn;

#define TURNS 12u /* of a layer on the compute queue; on the other: 4 */

/* Begins with the first turn that waits for nothing of its layer. */
static const Turn turns[2][TURNS] = {
  { { RECEIVE, 0, -1 },
    { BEFORE, 0, 0 },
    { CORE, 0, 0 },
    { SEND, 0, 0 },
    { RECEIVE, 1, -1 },
    { BEFORE, 1, 0 },
    { CORE, 1, 0 },
    { SEND, 1, 0 },
    { EXPERTS, 0, 0 },
    { EXPERTS, 1, 0 },
    { SHARED, 0, 0 },
    { SHARED, 1, 0 } },
  { { SEND, 0, 0 },
    { SHARED, 0, 0 },
    { BEFORE, 1, 0 },
    { EXPERTS, 0, 0 },
    { CORE, 1, 0 },
    { RECEIVE, 0, 0 },
    { SEND, 1, 0 },
    { SHARED, 1, 0 },
    { BEFORE, 0, 1 },
    { EXPERTS, 1, 0 },
    { CORE, 0, 1 },
    { RECEIVE, 1, 0 } },
};

/* The exchange that a turn starts, or waits for: in units since the start. By order and batch. */
static const guint dispatch_at[2][2] = { { 0, 1 }, { 0, 2 } }, combine_at[2][2] = { { 2, 3 }, { 1, 3 } };

typedef struct {
  double left_s; /* alone */
  double slow;   /* beside the other queue */
  guint waits;   /* for so many of the other queue to have ended */
} Task;

typedef struct {
  const SrvSplit *split;
  double core_s;
  guint order, layers;
} Play;

static Task
compute_task (const Play *play, guint i)
{
  const SrvSplit *s = play->split;
  const Turn *turn = &turns[play->order][i % TURNS];
  const gint layer = (gint)(i / TURNS) + turn->later, first = 4 * layer;
  Task task = { 0, 1, 0 };
  if (layer < 0 || layer >= (gint)play->layers)
    return task;
  switch (turn->piece) {
    case BEFORE:
      return (Task){ s->before_s, s->slow[0], 0 };
    case CORE:
      task.left_s = s->after_s + play->core_s;
      task.slow = task.left_s > 0 ? (s->after_s * s->slow[1] + play->core_s * s->slow_core) / task.left_s : 1;
      return task;
    case SEND:
      return (Task){ s->begin_s[0], 1, 0 };
    case SHARED:
      return (Task){ s->shared_s, s->slow[2], 0 };
    case EXPERTS:
      return (Task){ s->end_s[0] + s->experts_s + s->begin_s[1], s->slow[3],
                     (guint)first + dispatch_at[play->order][turn->batch] + 1 };
    case RECEIVE:
      return (Task){ s->end_s[1], 1, (guint)first + combine_at[play->order][turn->batch] + 1 };
    default:
      return task;
  }
}

static Task
exchange_task (const Play *play, guint i)
{
  const guint layer = i / 4, at = i % 4;
  const gboolean back = at == combine_at[play->order][0] || at == combine_at[play->order][1];
  const guint batch = at == (back ? combine_at : dispatch_at)[play->order][1];
  guint turn = 0;
  while (turns[play->order][turn].piece != (back ? EXPERTS : SEND) || turns[play->order][turn].batch != batch)
    turn++;
  return (Task){ back ? play->split->combine_s : play->split->dispatch_s, play->split->slow_exchange, layer * TURNS + turn + 1 };
}

/* When the last combine of each of the layers ends, into ends. */
static void
run_queues (const Play *play, double *ends)
{
  const guint total[QUEUE_N] = { TURNS * play->layers, 4 * play->layers };
  guint done[QUEUE_N] = { 0 };
  Task task[QUEUE_N] = { compute_task (play, 0), exchange_task (play, 0) };
  double now_s = play->order == 1 ? play->split->before_s + play->split->after_s + play->core_s : 0; /* of the first micro-batch */
  while (done[QUEUE_EXCHANGE] < total[QUEUE_EXCHANGE]) {
    gboolean runs[QUEUE_N];
    for (guint q = 0; q < QUEUE_N; q++)
      runs[q] = done[q] < total[q] && task[q].waits <= done[1 - q];
    double next_s = HUGE_VAL;
    for (guint q = 0; q < QUEUE_N; q++)
      if (runs[q])
        next_s = fmin (next_s, task[q].left_s * (runs[1 - q] ? task[q].slow : 1));
    g_return_if_fail (next_s < HUGE_VAL);
    now_s += next_s;
    for (guint q = 0; q < QUEUE_N; q++) {
      if (!runs[q])
        continue;
      const double took_s = task[q].left_s * (runs[1 - q] ? task[q].slow : 1);
      if (took_s > next_s) {
        task[q].left_s *= 1 - next_s / took_s;
        continue;
      }
      done[q]++;
      task[q] = q == QUEUE_COMPUTE ? compute_task (play, done[q]) : exchange_task (play, done[q]);
      if (q == QUEUE_EXCHANGE && done[q] % 4 == 0)
        ends[done[q] / 4 - 1] = now_s;
    }
  }
}

double
srv_split_compute_s (const SrvSplit *split, double core_s)
{
  return split->before_s + split->after_s + core_s + split->shared_s + split->experts_s;
}

double
srv_split_time_s (const SrvSplit *split, double core_s, guint layers)
{
  double ends[PLAYED];
  const guint n = MIN (layers, PLAYED);
  if (n == 0)
    return 0;
  const Play play = { .split = split, .core_s = core_s, .order = split->staggered ? 1 : 0, .layers = n };
  run_queues (&play, ends);
  double time_s = ends[n - 1] + split->end_s[1];
  if (layers > n)
    time_s += (layers - n) * (ends[n - 1] - ends[n - 1 - AVERAGE]) / AVERAGE;
  const double ends_s = split->begin_s[0] + split->begin_s[1] + split->end_s[0] + split->end_s[1];
  const double least_s = 2 * layers * fmax (srv_split_compute_s (split, core_s) + ends_s, split->dispatch_s + split->combine_s);
  return fmax (time_s, least_s);
}

double
srv_split_exposed_s (const SrvStepModel *model, const SrvSplit *split, double core_s)
{
  return model->pp *
         (srv_split_time_s (split, core_s, (guint)model->n_moe) - 2 * model->n_moe * srv_split_compute_s (split, core_s));
}

/* ---- the parts, each alone ---- */

/* Of `lane`, alone: what its kernels lose beside `comm`; the mean of comm's factors into *comm_slow, by time. */
static double
lane_slow (const SrvStepModel *model, const SrvFixed *lane, double each_s, double hbm_B, const MdlOverlapComm *comm, double *comm_s)
{
  const MdlOverlap *overlap = model->overlap;
  const double reached_Bps = model->gpu.memory_Bps * model->gpu.memory_efficiency;
  if (lane->time_s <= 0 || overlap == NULL || comm->channels <= 0) {
    *comm_s += each_s;
    return 1;
  }
  const double memory = lane->part_s[SRV_PART_MEMORY] / lane->time_s;
  const MdlOverlapCompute products = { MDL_OVERLAP_GEMM, 1, fmin (hbm_B / each_s, reached_Bps) };
  const MdlOverlapCompute passes = { MDL_OVERLAP_MEMORY, 1, reached_Bps };
  const MdlSlowdown by_products = mdl_overlap_pair (overlap, &model->gpu, &products, comm);
  const MdlSlowdown by_passes = mdl_overlap_pair (overlap, &model->gpu, &passes, comm);
  *comm_s += each_s * ((1 - memory) * by_products.comm + memory * by_passes.comm);
  return (1 - memory) * by_products.compute + memory * by_passes.compute;
}

static void
add_sums (SrvFixed *sum, const SrvFixed *lane)
{
  for (guint i = 0; i < SRV_PART_N; i++)
    sum->part_s[i] += lane->part_s[i];
  sum->time_s += lane->time_s;
  sum->band_s += lane->band_s;
  sum->flop += lane->flop;
  sum->hbm_B += lane->hbm_B;
  sum->kernels += lane->kernels;
  sum->source = MIN (sum->source, lane->source);
}

/* SM time at both ends of a library with a hook: tokens into send buffers, and out of receive buffers. Taken off the way. */
static void
take_ends (const SrvStepModel *model, double m, double all, SrvSplit *split)
{
  const double h = model->llm->hidden.v, k = model->llm->moe.top_k.v, rows = fmax (all * k / model->spec.parallel.ep.v, 1);
  const double row_B = mdl_moe_row_B (h, srv_wire_format (model->spec.precision.dispatch.v));
  const double back_B = mdl_moe_row_B (h, srv_wire_format (model->spec.precision.combine.v));
  split->begin_s[0] = srv_pass_s (model, 2 * m * h, m * k * row_B);
  split->end_s[0] = srv_pass_s (model, rows * row_B, rows * row_B);
  split->begin_s[1] = srv_pass_s (model, 2 * rows * h, rows * back_B);
  split->end_s[1] = srv_pass_s (model, m * k * back_B, 2 * m * h);
  split->dispatch_s = fmax (split->dispatch_s - split->begin_s[0] - split->end_s[0], 0);
  split->combine_s = fmax (split->combine_s - split->begin_s[1] - split->end_s[1], 0);
}

void
srv_build_split (SrvBuild *build)
{
  const SrvStepModel *model = build->model;
  const double m = ceil (build->key.tokens / 2.0), all = ceil (build->key.all / 2.0), count = 2 * model->n_moe;
  SrvFixed lane[LANES] = { 0 }, *sum = build->sum;
  for (guint i = 0; i < LANES; i++) {
    lane[i].source = BASE_SOURCE_MEASURED;
    build->sum = &lane[i];
    if (i < 2)
      srv_build_attention (build, i == 1, m, count);
    else if (i == 2)
      srv_build_shared (build, m, count);
    else if (i == 3)
      srv_build_experts (build, all, count);
    else
      srv_build_exchange (build, i == 5, m, count);
  }
  build->sum = sum;
  const double each = 1 / (count * build->scale);
  SrvSplit split = { .before_s = lane[0].time_s * each,
                     .after_s = lane[1].time_s * each,
                     .shared_s = lane[2].time_s * each,
                     .experts_s = lane[3].time_s * each,
                     .dispatch_s = lane[4].time_s * each,
                     .combine_s = lane[5].time_s * each,
                     .slow_core = 1,
                     .staggered = model->staggered && (build->key.flags & SRV_KEY_DECODE) != 0 };
  MdlOverlapComm comm = { .kind = MDL_OVERLAP_PAIRWISE };
  if (model->groups.library->hook.v)
    take_ends (model, m, all, &split);
  else {
    comm.channels = model->spec.moe.sms.set ? model->spec.moe.sms.v : model->groups.library->sms.v;
    comm.memory_Bps = PASSES * srv_exchange_B (model, m) / fmax (split.dispatch_s + split.combine_s, 1e-9);
    const MdlOverlapCompute core = { MDL_OVERLAP_ATTENTION, 1, 0 };
    if (model->overlap != NULL)
      split.slow_core = mdl_overlap_pair (model->overlap, &model->gpu, &core, &comm).compute;
  }
  double comm_s = 0, all_s = 0;
  for (guint i = 0; i < 4; i++) {
    const double its_s = lane[i].time_s * each;
    split.slow[i] = lane_slow (model, &lane[i], its_s, lane[i].hbm_B / count, &comm, &comm_s);
    all_s += its_s;
    add_sums (sum, &lane[i]);
  }
  split.slow_exchange = all_s > 0 ? comm_s / all_s : 1;
  for (guint i = 4; i < LANES; i++) {
    sum->band_s += lane[i].band_s;
    sum->kernels += lane[i].kernels;
    sum->source = MIN (sum->source, lane[i].source);
  }
  sum->split = split;
}
