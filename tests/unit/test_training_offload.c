/* Recomputation of some layers and stages, weights by their scaling, memory that runs short, and what the host holds: by hand. */
#include "memory_fixture.h"
#include "model_fixture.h"
#include "offload-private.h"

#define LAYER 218112000.0         /* parameters of a layer of llama3_8b */
#define KEPT  (2.0 * 69632 + 128) /* B a token that one of its layers keeps in fused code in bf16 */
#define INPUT (2.0 * 4096)
#define LLAMA "model: llama3_8b, sequence: 4096, micro_batch: 1, framework: fused, precision: {gradients: fp32}, "
#define PP4   LLAMA "parallel: {pp: 4, dp: 1}, global_batch: 8, schedule: 1f1b, "

static double
kept_of (const MemoryFixture *f, guint stage)
{
  return memory_stage (f, stage)->activations_B;
}

static void
whole_layers_are_recomputed_first_in_a_chunk (void)
{
  /* 3 of 8 layers of a stage keep their input alone: 4, 3, 2 micro-batches in flight */
  g_autoptr (MemoryFixture) f = memory_of (1, 4, PP4 "recompute: {layers: 3}"), none = memory_of (1, 4, PP4 "recompute: none");
  for (guint s = 0; s < 2; s++)
    TEST_NEAR (kept_of (f, s) - kept_of (f, s + 1), 4096 * (3 * INPUT + 5 * KEPT), 1e-9);
  /* all of them: as full */
  g_autoptr (MemoryFixture) eight = memory_of (1, 4, PP4 "recompute: {layers: 8}"), full = memory_of (1, 4, PP4 "recompute: full");
  for (guint s = 0; s < 4; s++)
    TEST_NEAR (kept_of (eight, s), kept_of (full, s), 1e-12);
  /* the rest by modules: 3 layers whole, of 5 the norms */
  g_autoptr (MemoryFixture) both = memory_of (1, 4, PP4 "recompute: {layers: 3, modules: [norm]}");
  TEST_NEAR (kept_of (f, 0) - kept_of (f, 1) - (kept_of (both, 0) - kept_of (both, 1)), 4096 * 5 * 2 * INPUT, 1e-9);
  /* one stage alone */
  g_autoptr (MemoryFixture) first = memory_of (1, 4, PP4 "recompute: {layers: 8, stages: [0]}");
  TEST_NEAR (kept_of (first, 0), kept_of (full, 0), 1e-12);
  for (guint s = 1; s < 4; s++)
    TEST_NEAR (kept_of (first, s), kept_of (none, s), 1e-12);
}

/* B that works of this name move. */
static double
moved_B (const GArray *works, const char *name)
{
  double sum_B = 0;
  for (guint i = 0; i < works->len; i++) {
    const MdlWork *work = &g_array_index (works, MdlWork, i);
    sum_B += g_strcmp0 (work->name, name) == 0 ? work->read_B + work->write_B : 0;
  }
  return sum_B;
}

static void
losses_move_what_their_kernels_do (void)
{
  /* B a logit, forward and back: flash 2, 2 + 2; in place 2 + 2 + 2, 2 + 2; fused in fp32 14 + 16, 4 + 2; a metric 2 + 2 more */
  static const struct {
    MdlLoss loss;
    unsigned metrics;
    double forward_B, back_B;
  } rows[] = { { MDL_LOSS_FRAMEWORK, 0, 30, 6 },
               { MDL_LOSS_FLASH, 0, 2, 4 },
               { MDL_LOSS_FLASH, 2, 2 + 2 * 4, 4 },
               { MDL_LOSS_IN_PLACE, 0, 6, 4 } };
  g_autoptr (MemoryFixture) f = memory_of (1, 8, LLAMA "global_batch: 8, loss: flash, metrics: 2");
  TEST_INT (f->model.query.loss, MDL_LOSS_FLASH);
  TEST_INT (f->model.query.metrics, 2);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GArray) forward = g_array_new (FALSE, FALSE, sizeof (MdlWork)), back = g_array_new (FALSE, FALSE, sizeof (MdlWork));
    MdlLayerQuery query = f->model.query;
    query.loss = rows[i].loss;
    query.metrics = rows[i].metrics;
    mdl_layer_works (&f->model.llm, &query, MDL_PART_HEAD, 0, forward, back);
    TEST_NEAR (moved_B (forward, "loss"), 4096 * 128256.0 * rows[i].forward_B, 1e-12);
    TEST_NEAR (moved_B (back, "loss"), 4096 * 128256.0 * rows[i].back_B, 1e-12);
  }
}

static void
what_is_recomputed_takes_its_time (void)
{
  /* as many layers, as much more time */
  static const char *const small = SMALL_MODEL ", accumulate: 1, parallel: {dp: 1}, recompute: %s";
  double time_s[3];
  static const char *const what[] = { "none", "{layers: 4}", "full" };
  for (int i = 0; i < 3; i++) {
    g_autofree char *work = g_strdup_printf (small, what[i]);
    g_auto (ModelStep) step = model_answer ("topology: hgx_h100, nodes: 1", work, NULL, COL_MODE_EVENT);
    time_s[i] = step.result->training.recompute_s;
  }
  TEST_NEAR (time_s[0], 0, 0);
  TEST_NEAR (time_s[1], time_s[2] / 2, 0.05);
  g_auto (ModelStep) two = model_answer (
      "topology: hgx_h100, nodes: 1", SMALL_MODEL ", accumulate: 2, parallel: {pp: 2, dp: 1}, recompute: {layers: 4, stages: [1]}",
      NULL, COL_MODE_EVENT);
  TEST_TRUE (two.result->training.step_time_s > 0);
}

static void
a_pair_of_passes_holds_little_more_than_one (void)
{
  /* a forward beside a backward pass over one stage: each layer that comes takes the place of one that goes */
  static const char *const moe = "model: qwen3_30b_a3b, sequence: 4096, micro_batch: 1, global_batch: 32, framework: fused, "
                                 "parallel: {ep: 8, dp: 8, zero: 1}, overlap: {ep: %s}";
  g_autofree char *paired = g_strdup_printf (moe, "true"), *alone = g_strdup_printf (moe, "false");
  g_autoptr (MemoryFixture) f = memory_of (1, 8, paired), g = memory_of (1, 8, alone);
  TEST_TRUE (kept_of (f, 0) > kept_of (g, 0) * (1 - 1e-12));
  TEST_TRUE (kept_of (f, 0) < kept_of (g, 0) * (1 + 2.0 / 48));
}

static void
weights_are_held_as_their_scaling_needs (void)
{
  /* B an element: one copy or two of 1 B, with block scales, beside 2 B in bf16, or in their place */
  static const struct {
    const char *topology, *precision;
    double element_B;
  } rows[] = {
    { "hgx_h200", "compute: fp8, scaling: tensorwise, weights: fp8", 2 },
    { "hgx_h200", "compute: fp8, scaling: delayed", 2 + 2 },
    { "hgx_h200", "compute: fp8, scaling: blockwise", 2 + 2 * (1 + 4.0 / 16384) },
    { "hgx_b200", "compute: fp8, scaling: tensorwise, weights: fp8", 1 },
    { "hgx_b200", "compute: fp8, scaling: mxfp8, weights: fp8", 2 * (1 + 1.0 / 32) },
    { "hgx_b200", "compute: fp4, scaling: nvfp4", 2 + 2 * (0.5 + 1.0 / 16) },
  };
  const double rest_B = 2 * (2 * 128256.0 * 4096 + 4096); /* embedding, head, last norm */
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *cluster = g_strdup_printf ("topology: %s, nodes: 1", rows[i].topology),
                    *work =
                        g_strdup_printf ("model: llama3_8b, sequence: 4096, global_batch: 8, precision: {%s}", rows[i].precision);
    g_auto (ModelStep) step = model_answer (cluster, work, NULL, COL_MODE_MODEL);
    TEST_NEAR (step.result->training.fullest.weights_B, rest_B + rows[i].element_B * 32 * LAYER, 1e-9);
  }
  /* FSDP: fp32 shards, and 1 B of those that are gathered */
  g_autoptr (MemoryFixture) f = memory_of (1, 8,
                                           "model: llama3_8b, sequence: 4096, global_batch: 8, fsdp: {copies: false}, precision: "
                                           "{compute: fp8, gradients: bf16, reduce: bf16, scaling: tensorwise, weights: fp8}");
  TEST_NEAR (memory_stage (f, 0)->weights_B, (4 * 8030261248.0 + 32 * LAYER) / 8, 1e-12);
  TEST_TRUE (memory_stage (f, 0)->gradients_B <= 2 * 8030261248.0 / 8);
}

static void
an_allocator_gives_back_blocks_where_memory_is_short (void)
{
  g_autoptr (MemoryFixture) roomy = memory_of (1, 8, LLAMA "global_batch: 8, parallel: {zero: 1}");
  const TrnMemory *m = memory_stage (roomy, 0);
  TEST_TRUE (m->fits);
  TEST_NEAR (m->total_B, m->roomy_B, 0);
  TEST_NEAR (m->roomy_B - m->least_B, m->allocated_B * (0.08 - 0.04), 1e-9);
  TEST_NEAR (trn_memory_taken_B (90, 80, 0), 90, 0); /* no capacity is known */
  TEST_NEAR (trn_memory_taken_B (90, 80, 100), 90, 0);
  TEST_NEAR (trn_memory_taken_B (90, 80, 85), 85, 0); /* it makes do with what there is */
  TEST_NEAR (trn_memory_taken_B (90, 80, 70), 80, 0); /* and cannot */
  g_autoptr (MemoryFixture) one = memory_of (1, 8, LLAMA "global_batch: 8, parallel: {zero: 1}, allocator: expandable");
  TEST_NEAR (memory_stage (one, 0)->roomy_B - memory_stage (one, 0)->least_B, m->allocated_B * (0.08 - 0.01), 1e-9);
}

static void
activations_of_layers_go_to_the_host (void)
{
  g_autoptr (MemoryFixture) all = memory_of (1, 4, PP4 "recompute: none"), f = memory_of (1, 4, PP4 "offload: {layers: 6}");
  /* of 4 and 3 micro-batches in flight, 2 of 8 layers stay; two layers are on their way at most */
  TEST_NEAR (kept_of (f, 0) - kept_of (f, 1), 4096 * 2 * KEPT, 1e-9);
  TEST_NEAR (memory_stage (f, 0)->host_B, 4 * 6 * 4096 * KEPT, 1e-9);
  TEST_NEAR (memory_stage (all, 0)->host_B, 0, 0);
  TEST_TRUE (kept_of (f, 0) < kept_of (all, 0));
  g_autoptr (MemoryFixture) whole = memory_of (1, 8, LLAMA "global_batch: 8, parallel: {zero: 1}, offload: {layers: 32}");
  TEST_TRUE (kept_of (whole, 0) < 4096 * (5 * KEPT + 12.0 * 128256));
}

static void
copies_of_activations_run_beside_the_layers (void)
{
  static const char *const work = SMALL_MODEL ", accumulate: 2, parallel: {dp: 1}, framework: fused, offload: {layers: 3}";
  g_auto (ModelStep) step = model_played ("topology: hgx_h100, nodes: 1", work);
  const ModelTally out = model_tally (&step, 0, "activations to the host"), in = model_tally (&step, 0, "activations back");
  TEST_INT (out.n, 2 * 3); /* micro-batches x layers */
  TEST_INT (in.n, 2 * 3);
  TEST_NEAR (out.bytes, in.bytes, 1e-12);
  TEST_TRUE (out.bytes > 0);
  g_auto (ModelStep) waits = model_answer ("topology: hgx_h100, nodes: 1", work, NULL, COL_MODE_EVENT);
  const TrnResult *t = &waits.result->training;
  TEST_TRUE (t->part_s[TRN_PART_COPY_WAIT] > 0);
  TEST_NEAR (t->comm[TRN_COMM_HOST].count, 12, 1e-12);
  TEST_NEAR (t->comm[TRN_COMM_HOST].exposed_s, t->part_s[TRN_PART_COPY_WAIT], 1e-12);
  TEST_NEAR (t->communication_s, 0, 0); /* that of ranks with each other */
}

static void
the_host_updates_its_part_of_the_states (void)
{
  /* of ZeRO 1 over 8 ranks 12 B a parameter / 8; half of it is the host's, or on drives */
  static const char *const keys = LLAMA "global_batch: 8, parallel: {zero: 1}, offload: {optimizer: 50 %%, to: %s}";
  const double states_B = 12 * 8030261248.0 / 8;
  for (int drives = 0; drives < 2; drives++) {
    g_autofree char *work = g_strdup_printf (keys, drives ? "nvme" : "cpu");
    g_autoptr (MemoryFixture) f = memory_of (1, 8, work);
    TEST_NEAR (memory_stage (f, 0)->optimizer_B, states_B / 2, 1e-12);
    TEST_NEAR (memory_stage (f, 0)->host_B, drives ? 0 : states_B / 2, 1e-12);
    /* 28 B a parameter by 12 cores' 25.3 GB/s each and a memory of 145 GB/s */
    if (!drives) {
      const double cores = trn_offload_update_s (&f->model, 1e9) - 28e9 / 145e9;
      TEST_TRUE (cores > 0 && cores < 28e9 / 25.3e9);
    }
    g_auto (ModelStep) step = model_played ("topology: hgx_h200, nodes: 1", work);
    TEST_NEAR (model_tally (&step, 0, "gradients to the host").bytes, 4 * 8030261248.0 / 16, 1e-12);
    TEST_NEAR (model_tally (&step, 0, "parameters back").bytes, 2 * 8030261248.0 / 16, 1e-12);
    TEST_NEAR (model_tally (&step, 0, "states from drives").bytes, drives ? states_B / 2 : 0, 1e-12);
    TEST_NEAR (model_tally (&step, 0, "states to drives").bytes, drives ? states_B / 2 : 0, 1e-12);
  }
}

static void
the_host_updates_as_fast_as_measured (void)
{
  /* tests/data/training/h100_memory/update.csv: AdamW in fp32 on 4, 8 and 16 cores, 28 B a parameter */
  static const double cores[] = { 4, 8, 16 }, measured[] = { 2.129e9, 3.003e9, 3.810e9 };
  g_autoptr (MemoryFixture) f = memory_of (1, 8, LLAMA "global_batch: 8, parallel: {zero: 1}, offload: {optimizer: 1}");
  const MdlMemorySpec *spec = f->model.job->system->memory;
  for (guint i = 0; i < G_N_ELEMENTS (cores); i++)
    TEST_NEAR (1 / (28 / (cores[i] * spec->host_core.v) + 28 / spec->host_memory.v), measured[i], 0.01);
}

/* `place`: what begins in the workload where the message says. */
static void
refused (const char *workload, const char *place, const char *why)
{
  g_autofree char *text = model_refusal ("topology: hgx_h100, nodes: 1", workload);
  const char *at = strstr (workload, place);
  g_autofree char *where = g_strdup_printf ("3:%zu:", strlen ("workload: {kind: training, ") + (size_t)(at - workload) + 1);
  TEST_HAS (text, why);
  if (!g_str_has_prefix (text, where))
    TEST_STR (text, where);
}

#define L8 "model: llama3_8b, sequence: 8192, global_batch: 16, "

static void
what_makes_no_sense_is_refused (void)
{
  refused (L8 "recompute: {layers: 0}", "0}", "'0' is not a number of layers; accepted: 1 to 32");
  refused (L8 "recompute: {layers: [1]}", "[1]", "'a list' is not a number of layers");
  refused (L8 "recompute: {layers: 2, stages: [1]}", "1]", "'1' is not a pipeline rank; accepted: 0 to 0");
  refused (L8 "recompute: {layers: 2, stages: 0}", "0}", "'stages' is a list of pipeline ranks");
  refused (L8 "recompute: {stages: [0]}", "{stages", "'recompute' is none, selective, full, or {modules:");
  refused (L8 "recompute: {layers: 1, depth: 2}", "{layers", "'recompute' is none, selective, full, or {modules:");
  refused (L8 "recompute: {modules: norm}", "{modules", "'recompute' is none, selective, full, or {modules:");
  refused (L8 "recompute: {modules: [norms]}", "norms", "'norms' is not a module that recompute knows");
  refused (L8 "recompute: some", "some", "'recompute' is none, selective, full, or {modules:");
  refused (L8 "parallel: {pp: 8}, schedule: dualpipe, recompute: {layers: 1, stages: [0]}", "[0]",
           "schedule dualpipe holds each stage on two ranks");
  refused ("model: resnet50, global_batch: 256, recompute: {layers: 1}", "{layers", "of a network of operations is none or full");
  refused ("model: resnet50, global_batch: 256, offload: {layers: 1}", "1}", "this model lists operations");
  refused (L8 "framework: graphs, offload: {layers: 4}", "4}", "not part of framework graphs");
  refused (L8 "parallel: {pp: 2}, schedule: zb_h1, offload: {layers: 4}", "4}", "schedule zb_h1 keeps activations");
  refused (L8 "offload: {layers: 4, to: nvme}", "nvme", "'to' says where states of the optimizer go");
  refused (L8 "optimizer: muon, offload: {optimizer: 1}", "1}", "the host updates by AdamW, not by muon");
  refused (L8 "precision: {compute: bf16, scaling: mxfp8}", "mxfp8", "scaling mxfp8 is of products in fp8, and compute is bf16");
  refused (L8 "precision: {compute: fp8, scaling: nvfp4}", "nvfp4", "scaling nvfp4 is of products in fp4");
  refused (L8 "precision: {compute: fp8, weights: fp8}", "fp8}", "weights that products read as they are held need");
}

int
main (void)
{
  static const TestCase cases[] = {
    { "whole layers are recomputed first in a chunk", whole_layers_are_recomputed_first_in_a_chunk },
    { "losses move what their kernels do", losses_move_what_their_kernels_do },
    { "what is recomputed takes its time", what_is_recomputed_takes_its_time },
    { "a pair of passes holds little more than one", a_pair_of_passes_holds_little_more_than_one },
    { "weights are held as their scaling needs", weights_are_held_as_their_scaling_needs },
    { "an allocator gives back blocks where memory is short", an_allocator_gives_back_blocks_where_memory_is_short },
    { "activations of layers go to the host", activations_of_layers_go_to_the_host },
    { "copies of activations run beside the layers", copies_of_activations_run_beside_the_layers },
    { "the host updates its part of the states", the_host_updates_its_part_of_the_states },
    { "the host updates as fast as measured", the_host_updates_as_fast_as_measured },
    { "what makes no sense is refused", what_makes_no_sense_is_refused },
    { NULL, NULL },
  };
  return test_main ("training: recompute, offload, short memory", cases);
}
