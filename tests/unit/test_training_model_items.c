/* What a layer's passes exchange under tensor, context and expert parallelism, and when: every collective of the works is in the
 * graph, none begins before what feeds it, and what is not hidden adds up. */
#include "model_fixture.h"

#define H100 "topology: hgx_h100, nodes: 1"
#define UNIT (512.0 * SMALL_H * 2) /* B of the tokens of a micro-batch */

/* Bytes of a group's collectives in all passes of all units, as the works have them. */
static double
works_B (const ModelStep *step, MdlGroup group)
{
  const TrnModel *model = step->b->model;
  double bytes = 0;
  for (guint32 unit = 0; unit < (guint32)model->llm.layers.v + 2; unit++) {
    guint32 layer = unit > 0 ? unit - 1 : 0;
    MdlPart part = unit == 0                               ? MDL_PART_EMBEDDING
                   : layer == (guint32)model->llm.layers.v ? MDL_PART_HEAD
                   : mdl_llm_is_moe (&model->llm, layer)   ? MDL_PART_MOE
                                                           : MDL_PART_DENSE;
    g_autoptr (GArray) works = g_array_new (FALSE, FALSE, sizeof (MdlWork));
    mdl_layer_works (&model->llm, &model->query, part, layer, works, NULL);
    mdl_layer_works (&model->llm, &model->query, part, layer, NULL, works);
    for (guint i = 0; i < works->len; i++) {
      const MdlWork *work = &g_array_index (works, MdlWork, i);
      if (work->kind == MDL_WORK_COLL && work->coll.group == group)
        bytes += work->coll.bytes * work->coll.repeat * model->m;
    }
  }
  return bytes;
}

static double
graph_B (const ModelStep *step, const char *name)
{
  double bytes = 0;
  for (guint32 lane = 0; lane < step->b->model->pipe.p; lane++)
    bytes += model_tally (step, lane, name).bytes;
  return bytes;
}

static void
no_collective_of_the_works_is_lost (void)
{
  static const char *const rows[] = {
    SMALL_MODEL ", accumulate: 2, parallel: {tp: 4}",
    SMALL_MODEL ", accumulate: 2, parallel: {tp: 4}, overlap: {tp: true}",
    SMALL_MODEL ", accumulate: 2, parallel: {tp: 4, sp: true}",
    SMALL_MODEL ", accumulate: 2, parallel: {tp: 4, sp: true}, overlap: {tp: true}",
    SMALL_MODEL ", accumulate: 2, parallel: {tp: 4, sp: true}, overlap: {tp: true}, framework: eager",
    SMALL_MODEL ", accumulate: 2, parallel: {tp: 4, sp: true}, overlap: {tp: true}, lora: {rank: 8}",
    SMALL_MODEL ", accumulate: 2, parallel: {tp: 4, sp: true}, overlap: {tp: true}, recompute: full",
    SMALL_MODEL ", accumulate: 2, parallel: {tp: 4, sp: true}, overlap: {tp: true}, recompute: {modules: [mlp, attention]}",
    SMALL_MODEL ", accumulate: 4, parallel: {tp: 4, sp: true, pp: 2}, overlap: {tp: true}, schedule: zb_h1",
    SMALL_MODEL ", accumulate: 4, parallel: {tp: 4, sp: true, pp: 2}, schedule: dualpipe_v",
    SMALL_MODEL ", accumulate: 2, parallel: {cp: 4}",
    SMALL_MODEL ", accumulate: 2, parallel: {cp: 4}, flash: false",
    SMALL_MODEL ", accumulate: 2, parallel: {cp: 4}, cp: {kind: all_gather}",
    SMALL_MODEL ", accumulate: 2, parallel: {cp: 4}, cp: {kind: ulysses}",
    SMALL_MODEL ", accumulate: 2, parallel: {tp: 2, cp: 4}, recompute: full",
    SMALL_MOE ", accumulate: 2, parallel: {ep: 4}",
    SMALL_MOE ", accumulate: 2, parallel: {ep: 4, tp: 2, sp: true}, moe: {etp: 2}",
    SMALL_MOE ", accumulate: 2, parallel: {ep: 4}, moe: {capacity: 1.25}, recompute: full",
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_auto (ModelStep) step = model_build (H100, rows[i]);
    const double tp = works_B (&step, MDL_GROUP_TP), cp = works_B (&step, MDL_GROUP_CP), ep = works_B (&step, MDL_GROUP_EP),
                 etp = works_B (&step, MDL_GROUP_ETP);
    TEST_TRUE (tp + cp + ep > 0);
    TEST_NEAR (graph_B (&step, "tp"), tp, 1e-9);
    TEST_NEAR (graph_B (&step, "cp"), cp, 1e-9);
    TEST_NEAR (graph_B (&step, "ep"), ep, 1e-9);
    TEST_NEAR (graph_B (&step, "etp"), etp, 1e-9);
  }
}

static void
tensor_parallelism_has_its_volume (void)
{
  /* a layer: 2 all-reduces forward, 2 backward; the embedding's sum, the gradient of the head's input, 3 numbers a token */
  g_auto (ModelStep) plain = model_build (H100, SMALL_MODEL ", accumulate: 1, parallel: {tp: 4}");
  TEST_NEAR (model_tally (&plain, 0, "tp").bytes, 8 * 4 * UNIT + 2 * UNIT + 3 * 512 * 4, 1e-12);
  /* sp: 2 all-gathers and 2 reduce-scatters each way, and the saved inputs once more; head: input, its gradient, input again */
  g_auto (ModelStep) sp = model_build (H100, SMALL_MODEL ", accumulate: 1, parallel: {tp: 4, sp: true}");
  TEST_NEAR (model_tally (&sp, 0, "tp").bytes, 8 * 10 * UNIT + (1 + 1 + 3) * UNIT + 3 * 512 * 4, 1e-12);
  TEST_INT (model_tally (&sp, 0, "tp").n, 8 * 10 + 5 + 3);
}

static void
context_parallelism_has_its_volume (void)
{
  /* keys and values of s/4 tokens: 2 x 128 x h x 2 B; forward 3 steps of them, backward 3 of twice as much */
  const double kv = 2 * 128.0 * SMALL_H * 2;
  g_auto (ModelStep) ring = model_build (H100, SMALL_MODEL ", accumulate: 1, parallel: {cp: 4}");
  TEST_NEAR (model_tally (&ring, 0, "cp").bytes, 8 * (3 + 2 * 3) * kv, 1e-12);
  g_auto (ModelStep) gathered = model_build (H100, SMALL_MODEL ", accumulate: 1, parallel: {cp: 4}, cp: {kind: all_gather}");
  TEST_NEAR (model_tally (&gathered, 0, "cp").bytes, 8 * 2 * 4 * kv, 1e-12); /* gathered size: 4 parts */
  g_auto (ModelStep) ulysses = model_build (H100, SMALL_MODEL ", accumulate: 1, parallel: {cp: 4}, cp: {kind: ulysses}");
  TEST_NEAR (model_tally (&ulysses, 0, "cp").bytes, 8 * 2 * 4 * 128.0 * SMALL_H * 2, 1e-12); /* q, k, v, result; and back */
  TEST_INT (model_tally (&ulysses, 0, "cp").n, 8 * 8);
}

static void
experts_get_their_tokens (void)
{
  /* 4 all-to-alls a layer of 2 copies of each token, and the counts of 4 experts from 4 ranks once */
  g_auto (ModelStep) step = model_build (H100, SMALL_MOE ", accumulate: 1, parallel: {ep: 4}");
  TEST_NEAR (model_tally (&step, 0, "ep").bytes, 8 * (4 * 2 * UNIT + 4 * 4 * 4), 1e-12);
}

/* ---- times ---- */

/* When each stream is free, while items are laid out one after the other by hand. */
typedef struct {
  double compute, tp, cp, ep;
} Clock;

static double *
stream_of (Clock *clock, const TrnItem *item)
{
  return item->group == TRN_GROUP_CP ? &clock->cp : item->group == TRN_GROUP_TP ? &clock->tp : &clock->ep;
}

static double
coll_s (const TrnItem *item)
{
  const MdlCollCost *cost = &item->priced->coll.cost;
  return item->priced->time_s > 0 ? cost->latency_s + (item->priced->time_s - cost->latency_s) * item->repeat : 0;
}

/* Items of one pass of a unit; *ready: when its input is there, then when its output is. */
static void
lay_out (const GArray *items, Clock *clock, double *ready)
{
  g_autofree double *end = g_new0 (double, items->len + 1);
  g_autofree gboolean *done = g_new0 (gboolean, items->len + 1);
  guint n = 0;
  while (n < items->len && !g_array_index (items, TrnItem, n).is_coll)
    n++;
  double out = fmax (*ready, clock->compute);
  for (guint k = 0; k <= n; k++) {
    for (guint i = n; i < items->len; i++) {
      const TrnItem *item = &g_array_index (items, TrnItem, i);
      if (done[i] || item->after >= (int)k)
        continue;
      double *free_at = stream_of (clock, item);
      *free_at = end[i] = fmax (*free_at, item->after < 0 ? out : end[item->after]) + coll_s (item);
      done[i] = TRUE;
    }
    if (k == n)
      break;
    double start = k == 0 ? out : clock->compute;
    for (guint i = n; i < items->len; i++)
      if (done[i] && g_array_index (items, TrnItem, i).before == (int)k)
        start = fmax (start, end[i]);
    clock->compute = end[k] = start + g_array_index (items, TrnItem, k).time_s;
  }
  *ready = n > 0 ? clock->compute : out;
  for (guint i = n; i < items->len; i++)
    if (g_array_index (items, TrnItem, i).before >= (int)n)
      *ready = fmax (*ready, end[i]);
}

/* The step of one stage without data parallelism is its items one after the other. */
static void
a_step_is_its_items_one_after_the_other (void)
{
  static const char *const rows[] = {
    SMALL_MODEL ", accumulate: 1, parallel: {dp: 1}",
    SMALL_MODEL ", accumulate: 2, parallel: {dp: 1}",
    SMALL_MODEL ", accumulate: 1, parallel: {tp: 4, dp: 1}, clip: false",
    SMALL_MODEL ", accumulate: 1, parallel: {tp: 4, sp: true, dp: 1}, clip: false",
    SMALL_MODEL ", accumulate: 3, parallel: {tp: 8, sp: true, dp: 1}, clip: false, recompute: full",
    SMALL_MODEL ", micro_batch: 8, accumulate: 1, parallel: {tp: 8, sp: true, dp: 1}, clip: false",
    SMALL_MOE ", accumulate: 1, parallel: {tp: 4, dp: 1, sp: true, ep: 4}, clip: false",
    SMALL_MOE ", accumulate: 2, parallel: {tp: 4, dp: 1, ep: 2, sp: true}, moe: {etp: 2}, clip: false",
  };
  for (guint r = 0; r < G_N_ELEMENTS (rows); r++) {
    g_auto (ModelStep) step = model_played_as (H100, rows[r], COL_MODE_MODEL, TRUE);
    TrnBuild *b = (TrnBuild *)(gpointer)step.b;
    Clock clock = { 0 };
    double ready = 0;
    guint32 n = trn_cut_units (b->model, 0);
    for (guint32 m = 0; m < b->model->m; m++)
      for (guint32 i = 0; i < 2 * n; i++) {
        const TrnUnit *unit = trn_unit_at (b, 0, 0, i < n ? i : 2 * n - 1 - i, NULL);
        lay_out (unit->pass[i < n ? MDL_TURN_FORWARD : MDL_TURN_BACKWARD], &clock, &ready);
      }
    double update_s = eng_time_to_s (eng_graph_task_start (b->graph, b->lane[0].update));
    /* times are whole picoseconds; collectives that nothing waits for may end later than the update begins */
    TEST_NEAR (update_s, clock.compute, 1e-6);
  }
}

/* Forward passes of tensor parallelism without overlap: the compute stream rests while a collective runs, and the other way. */
static void
forward_collectives_of_tp_never_run_beside_compute (void)
{
  g_auto (ModelStep) step = model_played (H100, SMALL_MODEL ", micro_batch: 4, accumulate: 1, parallel: {tp: 8, sp: true, dp: 1}");
  const EngGraph *graph = step.b->graph;
  EngTime last_forward = 0;
  unsigned seen = 0;
  for (EngTask t = 0; t < eng_graph_n_tasks (graph); t++)
    if (eng_graph_task_kind (graph, t) == TRN_STEP_FORWARD)
      last_forward = MAX (last_forward, eng_graph_task_end (graph, t));
  for (EngTask c = 0; c < eng_graph_n_tasks (graph); c++) {
    if (eng_graph_task_kind (graph, c) != TRN_STEP_TP || eng_graph_task_end (graph, c) > last_forward)
      continue;
    seen++;
    for (EngTask t = 0; t < eng_graph_n_tasks (graph); t++)
      if (eng_graph_task_kind (graph, t) == TRN_STEP_FORWARD)
        TEST_TRUE (eng_graph_task_end (graph, t) <= eng_graph_task_start (graph, c) ||
                   eng_graph_task_start (graph, t) >= eng_graph_task_end (graph, c));
  }
  TEST_INT (seen, 8 * 4 + 2);
}

static double
part_s (const char *workload, TrnPart part)
{
  g_auto (ModelStep) step = model_answer (H100, workload, NULL, COL_MODE_EVENT);
  return step.result->training.part_s[part];
}

#define L70_LONG "model: llama3_70b, sequence: 131072, accumulate: 1, "
#define L70      "model: llama3_70b, sequence: 8192, accumulate: 1, "
static void
what_is_hidden_is_not_exposed (void)
{
  /* tp overlap leaves a part of tp at least, and what is longer than the product beside it */
  double off = part_s (L70 "parallel: {tp: 8, sp: true}", TRN_PART_EXPOSED_TP),
         on = part_s (L70 "parallel: {tp: 8, sp: true}, overlap: {tp: true}", TRN_PART_EXPOSED_TP);
  TEST_TRUE (on > off / 16 && on < 0.7 * off);
  /* of long sequences a ring hides behind the core of attention, whose keys are few; a gather before it does not */
  double ring = part_s (L70_LONG "parallel: {cp: 8}", TRN_PART_EXPOSED_CP),
         gather = part_s (L70_LONG "parallel: {cp: 8}, cp: {kind: all_gather}", TRN_PART_EXPOSED_CP);
  TEST_TRUE (ring < gather / 100);
  TEST_TRUE (gather > 0.1);
}

static void
launches_show_where_kernels_are_small (void)
{
  /* the host queues a kernel in a few microseconds: it is behind where they are as short, ahead where they are long */
  const double small = part_s (SMALL_MODEL ", accumulate: 1, framework: eager, parallel: {dp: 1}", TRN_PART_LAUNCH_GAP),
               fused = part_s (SMALL_MODEL ", accumulate: 1, framework: fused, parallel: {dp: 1}", TRN_PART_LAUNCH_GAP),
               graphs = part_s (SMALL_MODEL ", accumulate: 1, framework: graphs, parallel: {dp: 1}", TRN_PART_LAUNCH_GAP),
               large = part_s ("model: llama3_8b, sequence: 8192, accumulate: 1, framework: eager, parallel: {dp: 1}",
                               TRN_PART_LAUNCH_GAP);
  TEST_TRUE (small > 0);
  TEST_NEAR (fused, 0, 0);
  TEST_NEAR (graphs, 0, 0);
  TEST_TRUE (large < 20e-6); /* the first kernel */
}

#define EAGER     "accumulate: 1, framework: eager, parallel: {dp: 1}, "
#define EAGER_MOE SMALL_MOE ", " EAGER "software: {name: pytorch, kernel: 10 us, sync: "
static void
a_host_that_waits_launches_to_an_empty_gpu (void)
{
  /* 8 layers of 4 experts: a loop waits 32 times, sorted tokens 8 times, a grouped kernel never; each wait costs what
   * the host takes to go on, and its next kernel finds nothing queued before it */
  static const char *const how[] = { "grouped", "sorted", "loop" };
  static const double syncs[] = { 0, 8, 32 };
  double before_s = 0;
  for (int i = 0; i < 3; i++) {
    g_autofree char *slow = g_strdup_printf (EAGER_MOE "1 ms}, moe: {experts: %s}", how[i]),
                    *quick = g_strdup_printf (EAGER_MOE "1 us}, moe: {experts: %s}", how[i]);
    g_auto (ModelStep) step = model_answer (H100, slow, NULL, COL_MODE_EVENT),
                       short_step = model_answer (H100, quick, NULL, COL_MODE_EVENT);
    const TrnResult *t = &step.result->training, *s = &short_step.result->training;
    TEST_NEAR (t->host.syncs, syncs[i], 1e-9);
    TEST_NEAR (t->host.kernels, s->host.kernels, 0);
    TEST_NEAR (t->step_time_s - s->step_time_s, syncs[i] * 999e-6, 1e-6);
    TEST_TRUE (t->host.wait_s >= syncs[i] * 1e-3);
    TEST_TRUE (s->step_time_s > before_s);
    before_s = s->step_time_s;
  }
  /* a graph is launched at once, and nothing waits */
  g_auto (ModelStep) graph =
      model_answer (H100, SMALL_MOE ", accumulate: 1, framework: graphs, parallel: {dp: 1}", NULL, COL_MODE_EVENT);
  TEST_NEAR (graph.result->training.host.queue_s + graph.result->training.host.wait_s, 0, 0);
}

static void
a_loop_over_experts_knows_neither_ep_nor_capacity (void)
{
  g_autofree char *ep = model_refusal (H100, SMALL_MOE ", accumulate: 1, parallel: {ep: 2}, moe: {experts: loop}"),
                  *capacity = model_refusal (H100, SMALL_MOE ", accumulate: 1, moe: {experts: loop, capacity: 1}");
  TEST_TRUE (strstr (ep, "knows no ep; accepted: experts: sorted") != NULL);
  TEST_TRUE (strstr (capacity, "knows no capacity; accepted: experts: sorted") != NULL);
}

static void
experts_of_tensor_parallel_ranks_need_sequence_parallelism (void)
{
  g_autofree char *refused = model_refusal (H100, SMALL_MOE ", accumulate: 1, parallel: {tp: 2, ep: 2}"),
                  *cut = model_refusal (H100, SMALL_MOE ", accumulate: 1, parallel: {tp: 2, ep: 2}, moe: {etp: 2}"),
                  *sp = model_refusal (H100, SMALL_MOE ", accumulate: 1, parallel: {tp: 2, sp: true, ep: 2}");
  TEST_TRUE (g_ascii_isdigit (refused[0]) && strstr (refused, "would route and compute the same tokens; accepted: parallel: {sp: "
                                                              "true}, or experts that are cut too, moe: {etp: 2}") != NULL);
  TEST_STR (cut, "not refused");
  TEST_STR (sp, "not refused");
}

static void
eager_code_keeps_what_it_gathered (void)
{
  /* with sp forward 2 gathers a layer of the input, backward 2 of the gradient; fused code gathers both inputs again; the head one
   * forward and again, the embedding its gradient */
  static const struct {
    const char *framework;
    unsigned gathers;
  } rows[] = { { "eager", 8 * 4 + 2 }, { "fused", 8 * 6 + 3 } };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *work = g_strdup_printf (
        SMALL_MODEL ", accumulate: 1, clip: false, framework: %s, parallel: {tp: 4, sp: true, dp: 1}", rows[i].framework);
    g_auto (ModelStep) step = model_build (H100, work);
    unsigned n = 0;
    for (EngTask t = 0; t < step.b->notes->len; t++) {
      const TrnNote *note = &g_array_index (step.b->notes, TrnNote, t);
      n += note->comm != NULL && note->comm->coll.op == MDL_OP_ALL_GATHER;
    }
    TEST_INT (n, rows[i].gathers);
  }
}

static void
the_first_norm_has_nothing_to_add (void)
{
  /* fused: of the two norms of a layer's forward pass the first layer's first reads no sum and writes none */
  g_auto (ModelStep) step = model_build (H100, SMALL_MODEL ", accumulate: 1, parallel: {dp: 1}");
  TrnBuild *b = (TrnBuild *)(gpointer)step.b;
  const TrnUnit *first = trn_costs_unit (b->costs, 0, TRN_UNIT_LAYER, 0, NULL),
                *second = trn_costs_unit (b->costs, 0, TRN_UNIT_LAYER, 1, NULL),
                *third = trn_costs_unit (b->costs, 0, TRN_UNIT_LAYER, 2, NULL);
  TEST_TRUE (first->pass_s[MDL_TURN_FORWARD] < second->pass_s[MDL_TURN_FORWARD]);
  TEST_NEAR (first->pass_s[MDL_TURN_BACKWARD], second->pass_s[MDL_TURN_BACKWARD], 1e-12);
  TEST_TRUE (second == third);
}

#define SMALL_MTP                                                                                                        \
  "model: {llm: small, layers: 8, mtp: 2, hidden: 256, vocabulary: 1000, attention: {kind: mha, heads: 8}, mlp: {kind: " \
  "swiglu, ffn: 512}, positions: rope, norm: rmsnorm}, sequence: 512, framework: fused, accumulate: 4"
static void
multi_token_prediction_is_a_layer_and_the_head_again (void)
{
  /* a module: three norms, a projection 2h x h, a layer; head and embedding are the model's. FLOP of a token: 6 a matrix element,
   * the head's again, and a layer's attention 12 h s */
  const double module = 3 * SMALL_H + 2.0 * SMALL_H * SMALL_H + SMALL_LAYER;
  const double flop = 6 * (2.0 * SMALL_H * SMALL_H + 10.0 * SMALL_H * SMALL_H + SMALL_TABLE) + 12.0 * SMALL_H * 512;
  const char *one = "topology: hgx_h100, nodes: 1, gpus_per_node: 1";
  g_auto (ModelStep) none = model_answer (one, SMALL_MTP, NULL, COL_MODE_EVENT),
                     two = model_answer (one, SMALL_MTP ", mtp: 2", NULL, COL_MODE_EVENT);
  const TrnResult *before = &none.result->training, *t = &two.result->training;
  TEST_NEAR (t->parameters - before->parameters, 2 * module, 1e-12);
  TEST_NEAR ((t->model_flop_per_s * t->step_time_s - before->model_flop_per_s * before->step_time_s) / t->tokens, 2 * flop, 1e-9);
  TEST_NEAR (t->hfu, t->mfu, 1e-9); /* the works are what is counted */
  TEST_TRUE (t->step_time_s > before->step_time_s);
  TEST_TRUE (t->fullest.weights_B - before->fullest.weights_B >= 2 * 2 * module);
}

static void
modules_of_a_pipeline_are_on_its_last_stage (void)
{
  /* they need the embedding there: a copy, whose gradient meets that of the first stage */
  g_auto (ModelStep) none = model_answer (H100, SMALL_MTP ", parallel: {pp: 4, dp: 1}", NULL, COL_MODE_EVENT),
                     one = model_answer (H100, SMALL_MTP ", mtp: 1, parallel: {pp: 4, dp: 1}", NULL, COL_MODE_EVENT);
  g_auto (ModelStep) step = model_build (H100, SMALL_MTP ", mtp: 1, parallel: {pp: 4, dp: 1}");
  for (guint32 s = 0; s < 4; s++) {
    const double weights_B = g_array_index (one.result->training.memory, TrnMemory, s).weights_B -
                             g_array_index (none.result->training.memory, TrnMemory, s).weights_B;
    TEST_TRUE (s == 3 ? weights_B > 2 * SMALL_LAYER : weights_B <= 0);
    TEST_NEAR (model_tally (&step, s, "embedding gradients").bytes, s == 0 || s == 3 ? 2 * SMALL_TABLE : 0, 1e-12);
  }
  g_autofree char *refused = model_refusal (H100, SMALL_MODEL ", accumulate: 1, mtp: 1");
  TEST_TRUE (strstr (refused, "'small' has 0 modules of multi-token prediction") != NULL);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "no collective of the works is lost", no_collective_of_the_works_is_lost },
    { "tensor parallelism has its volume", tensor_parallelism_has_its_volume },
    { "context parallelism has its volume", context_parallelism_has_its_volume },
    { "experts get their tokens", experts_get_their_tokens },
    { "a step is its items one after the other", a_step_is_its_items_one_after_the_other },
    { "forward collectives of tp never run beside compute", forward_collectives_of_tp_never_run_beside_compute },
    { "what is hidden is not exposed", what_is_hidden_is_not_exposed },
    { "launches show where kernels are small", launches_show_where_kernels_are_small },
    { "a host that waits launches to an empty GPU", a_host_that_waits_launches_to_an_empty_gpu },
    { "experts of tensor-parallel ranks need sequence parallelism", experts_of_tensor_parallel_ranks_need_sequence_parallelism },
    { "eager code keeps what it gathered", eager_code_keeps_what_it_gathered },
    { "the first norm has nothing to add", the_first_norm_has_nothing_to_add },
    { "multi-token prediction is a layer and the head again", multi_token_prediction_is_a_layer_and_the_head_again },
    { "modules of a pipeline are on its last stage", modules_of_a_pipeline_are_on_its_last_stage },
    { "a loop over experts knows neither ep nor capacity", a_loop_over_experts_knows_neither_ep_nor_capacity },
    { NULL, NULL },
  };
  return test_main ("items of a model's passes", cases);
}
