/* How a model is dealt out, and what is refused, with its place. */
#include "model_fixture.h"
#include "models/memory.h"

#define H100 "topology: hgx_h100, nodes: 1"

/* `place`: what begins in the workload where the message says; NULL: the whole workload. */
static void
refused_on (const char *cluster, const char *workload, const char *place, const char *why)
{
  g_autofree char *text = model_refusal (cluster, workload);
  const char *at = place != NULL ? strstr (workload, place) : NULL;
  size_t column = at != NULL ? strlen ("workload: {kind: training, ") + (size_t)(at - workload) + 1 : strlen ("workload: ") + 1;
  g_autofree char *where = g_strdup_printf ("3:%zu:", column);
  TEST_HAS (text, why);
  TEST_TRUE (place == NULL || at != NULL);
  if (!g_str_has_prefix (text, where))
    TEST_STR (text, where);
}

static void
refused (const char *workload, const char *place, const char *why)
{
  refused_on (H100, workload, place, why);
}

#define L8 "model: llama3_8b, sequence: 8192, global_batch: 16, "

static void
sizes_that_do_not_divide_are_refused_where_they_stand (void)
{
  refused (L8 "parallel: {tp: 3}", "{tp: 3", "does not divide 8 GPUs");
  refused (L8 "parallel: {tp: 3, dp: 1}", "3, dp: 1", "the number of heads 32 does not divide by tp 3");
  refused ("model: gpt2_xl, sequence: 1024, global_batch: 16, parallel: {tp: 2}", "2}",
           "the number of heads 25 does not divide by tp 2");
  refused (L8 "parallel: {pp: 2, vp: 3}", "2, vp: 3", "32 layers do not divide into 6 chunks (pp 2 x vp 3)");
  refused (L8 "parallel: {dp: 1, vp: 5}", "5", "32 layers do not divide into 5 chunks");
  refused ("model: llama3_8b, sequence: 8192, global_batch: 12", "12",
           "does not divide by dp 8 x micro_batch 1; use a multiple of 8");
  refused (L8 "micro_batch: 4", "16", "does not divide by dp 8 x micro_batch 4; use a multiple of 32");
  refused ("model: llama3_8b, sequence: 8190, global_batch: 16, parallel: {cp: 2}", "2", "8190 tokens does not divide into 4");
  refused ("model: llama3_8b, sequence: 8190, global_batch: 16, parallel: {tp: 4, sp: true}", "8190",
           "8190 tokens does not divide");
  refused (L8 "parallel: {tp: 8, cp: 8}, cp: {kind: ulysses}", "{tp: 8", "needs 64 GPUs");
  refused_on ("topology: hgx_h100, nodes: 8", L8 "parallel: {tp: 8, cp: 8}, cp: {kind: ulysses}", "8}",
              "32 heads / tp 8 do not divide by cp 8, as ulysses needs");
  refused (L8 "hsdp: {shard: 3}", "3}", "'shard' of 3 ranks does not divide the 8 of dp x cp");
  refused (L8 "parallel: {dp: 5}", "16", "does not divide by dp 5");
}

static void
more_ranks_than_gpus_are_refused (void)
{
  refused (L8 "parallel: {tp: 8, pp: 2}", "{tp: 8",
           "tp 8 x cp 1 x dp 1 x pp 2 needs 16 GPUs, the cluster has 8; ask for more nodes (cluster: {nodes: …})");
  refused (L8 "parallel: {dp: 16}", "{dp: 16", "needs 16 GPUs, the cluster has 8");
}

static void
experts_are_cut_where_there_are_some (void)
{
  refused (L8 "parallel: {ep: 2}", "2}", "ep 2 of a model without experts; accepted: 1");
  refused (L8 "moe: {capacity: 1.25}", "{capacity: 1.25", "'moe' is of a model with experts, 'llama3_8b' has none");
#define MIX "model: mixtral_8x7b, sequence: 4096, global_batch: 16, "
  refused (MIX "parallel: {ep: 3}", "3", "ep 3 x etp 1 does not divide the 8 ranks");
  refused_on ("topology: hgx_h100, nodes: 2", MIX "parallel: {ep: 16}", "16}", "the number of experts 8 does not divide by ep 16");
  refused (MIX "parallel: {ep: 4}, moe: {etp: 4}", "4}", "ep 4 x etp 4 does not divide the 8 ranks");
  refused (MIX "moe: {capacity: 1.25, imbalance: 1.1}", "1.1", "'imbalance' applies to dropless experts");
}

static void
schedules_say_what_they_need (void)
{
  refused (L8 "parallel: {pp: 4, vp: 2}, schedule: interleaved, micro_batch: 2, accumulate: 77", "77", "say the same");
  refused ("model: llama3_8b, sequence: 8192, accumulate: 6, parallel: {pp: 4, vp: 2}, schedule: interleaved", "interleaved",
           "multiple");
  refused ("model: llama3_8b, sequence: 8192, accumulate: 7, parallel: {pp: 4}, schedule: dualpipe", "dualpipe", "even");
  refused (L8 "parallel: {pp: 2, vp: 4}, schedule: zb_v", "4", "vp");
}

static void
words_that_are_not_known_are_named (void)
{
  refused (L8 "recompute: most", "most", "'recompute' is none, selective, full, or {modules: [core_attention");
  refused (L8 "recompute: {modules: [nosuch]}", "nosuch", "'nosuch' is not a module");
  refused (L8 "lora: {rank: 8, modules: [x]}", "x", "'x' is not a matrix of a layer; accepted: q, k, v, o, gate, up, down");
  refused (L8 "placement: [tp, dp, pp]", "[tp", "'placement' names tp, cp, dp and pp");
  refused (L8 "placement: [tp, tp, cp, pp]", "tp, cp", "'tp' in 'placement'; accepted: tp, cp, ep, dp and pp, each once");
  refused (L8 "precision: {gradients: none}", "none", "'gradients' cannot be none");
  refused ("model: {llm: x, layers: 2, hidden: 1024, vocabulary: 50304, attention: {kind: mha, heads: 16, kv_heads: 16, "
           "head_dim: 64}, norm: rmsnorm, mlp: {kind: gelu, ffn: 4096}}, global_batch: 16",
           NULL, "this model needs 'sequence'");
  refused ("model: nosuch, sequence: 1024", "nosuch", "nosuch");
}

static void
keys_of_a_model_and_of_layers_do_not_mix (void)
{
#define GIVEN "layers: [{forward: 1 ms, backward: 1 ms}], "
  refused (L8 "layers: [{forward: 1 ms, backward: 1 ms}]", "[{forward: 1 ms", "'layers' have given times");
  refused (L8 "micro_batches: 4", "4", "'micro_batches' is of 'layers'; of a model: 'global_batch', or 'accumulate'");
  refused (L8 "p2p_overlap: false", "false", "overlap: {p2p: false}");
  refused (L8 "optimizer_time: 77 ms", "77 ms", "'optimizer_time' is of 'layers'");
  refused (L8 "algo: tree", "tree", "'algo' is of 'layers'");
  refused (GIVEN "sequence: 8192", "8192", "'sequence' is of a workload with a 'model'");
  refused (GIVEN "recompute: full", "full", "'recompute' is of a workload with a 'model'");
  refused (GIVEN "fsdp: {reshard: true}", "{reshard: true", "'fsdp' is of a workload with a 'model'");
  refused (GIVEN "stragglers: [{rank: 0, slowdown: 2}]", "[{rank: 0", "'stragglers' is of a workload with a 'model'");
  refused (GIVEN "parallel: {tp: 2}", "2", "'tp' cuts a 'model'");
  refused (L8 "fsdp: {reshard: true}, parallel: {zero: 1}", "1}", "zero 1 beside fsdp, which is zero 3");
  refused (L8 "fsdp: {reshard: true}, ddp: {bucket: 25 MiB}", "25 MiB", "'bucket' has no effect with fsdp");
  refused (L8 "cp: {kind: ring}", "{kind: ring", "'cp' has no effect with one rank");
}

static void
stragglers_have_to_exist (void)
{
  refused (L8 "stragglers: [{rank: 8, slowdown: 2}]", "8, slowdown: 2", "rank 8 is none of the 8 ranks; accepted: 0 to 7");
  refused (L8 "stragglers: [{rank: 1}]", "{rank: 1", "a straggler is a GPU, {rank: 17, slowdown: 1.2}, or an adapter");
  refused (L8 "stragglers: [{rank: 1, slowdown: 2, node: 0}]", "{rank: 1", "a straggler is a GPU");
  refused (L8 "stragglers: [{node: 0, rate: 100 Gb/s}]", "{node: 0", "a straggler is a GPU");
  refused_on ("topology: hgx_h100, nodes: 2", L8 "stragglers: [{node: 2, nic: 0, rate: 100 Gb/s}]", "100 Gb/s",
              "there is no node 2; accepted: 0 to 1");
  refused_on ("topology: hgx_h100, nodes: 2", L8 "stragglers: [{node: 1, nic: 8, rate: 100 Gb/s}]", "100 Gb/s",
              "node 1 has no adapter 8; it has 8");
  refused_on ("topology: hgx_h100, nodes: 2", L8 "stragglers: [{node: 1, nic: 0, rate: 800 Gb/s}]", "800 Gb/s",
              "adapter 0 of node 1 has 400 Gb/s; accepted: at most that");
}

static void
a_gpu_says_what_compute_needs (void)
{
#define GPU(facts)                                                                                                          \
  "topology: {topology: t, nodes: 1, node: {gpus: {type: {gpu: bare, " facts " pcie: {class: pcie5, lanes: 16}, scale_up: " \
  "{class: nvlink4, lanes: 18}}, count: 8}, nvlink: {kind: switch, switches: 1}, sockets: {count: 1, memory: 100 GB/s}}}"
  refused_on (GPU (""), L8 "clip: true", NULL, "GPU type 'bare' says no compute_units");
  refused_on (GPU ("compute_units: 100,"), L8 "clip: true", NULL, "GPU type 'bare' says no memory_bandwidth");
  refused_on (GPU ("compute_units: 100, memory_bandwidth: 1 TB/s,"), L8 "clip: true", NULL, "GPU type 'bare' has no peak for bf16");
  refused (L8 "precision: {compute: fp4}", "fp4", "GPU type 'h100_sxm' has no peak for fp4");
  /* with these it runs, though what of its bandwidth it reaches is not known */
  g_auto (ModelStep) step = model_answer (GPU ("compute_units: 100, memory_bandwidth: 1 TB/s, peak: {bf16: 100 TFLOP/s},"),
                                          SMALL_MODEL ", accumulate: 1, parallel: {dp: 1}", NULL, COL_MODE_EVENT);
  TEST_TRUE (step.result->training.part_s[TRN_PART_COMPUTE] > 0);
  TEST_TRUE (step.result->training.mfu > 0 && step.result->training.mfu < 1);
}

/* Layers by position, "e2 2 1h": embedding and head with the layers beside them. */
static void
dealt (const char *cluster, const char *workload, const char *cuts)
{
  g_autoptr (GError) error = NULL;
  g_auto (ModelStep) step = model_load (cluster, workload, NULL, COL_MODE_EVENT, &error);
  g_auto (TrnModel) model = { 0 };
  if (step.scenario == NULL || !trn_model_plan (&step.scenario->training, &model, &error))
    g_error ("%s: %s", workload, error->message);
  GString *text = g_string_new (NULL);
  guint32 next = 0;
  for (guint32 c = 0; c < model.n_positions; c++) {
    TEST_INT (model.cut[c].first, next);
    next += model.cut[c].n;
    g_string_append_printf (text, "%s%s%u%s", c > 0 ? " " : "", model.cut[c].embedding ? "e" : "", model.cut[c].n,
                            model.cut[c].head ? "h" : "");
  }
  TEST_INT (next, (guint32)model.llm.layers.v);
  TEST_STR (text->str, cuts);
  g_string_free (text, TRUE);
}

static void
layers_are_dealt_out_evenly (void)
{
  dealt (H100, SMALL_MODEL ", global_batch: 8", "e8h");
  dealt (H100, SMALL_MODEL ", global_batch: 8, parallel: {pp: 4}", "e2 2 2 2h");
  dealt (H100, SMALL_MODEL ", global_batch: 8, parallel: {pp: 2, vp: 2}", "e2 2 2 2h");
  dealt (H100, SMALL_MODEL ", global_batch: 8, parallel: {pp: 2}, schedule: zb_v", "e2 2 2 2h");
}

static void
embedding_and_head_may_count_as_layers (void)
{
  /* 8 + 2 units: 5 chunks of 2 are no pp; 10 chunks of 1: the first holds the embedding alone */
  dealt (H100,
         SMALL_MODEL
         ", global_batch: 8, parallel: {pp: 2, vp: 5, dp: 4}, pipeline: {embedding_as_layer: true, head_as_layer: true}",
         "e0 1 1 1 1 1 1 1 1 0h");
  /* Llama 3.1 405B: 126 layers on 16 x 8 chunks, one fewer at either end */
  g_autoptr (GString) cuts = g_string_new ("e0");
  for (int i = 0; i < 126; i++)
    g_string_append (cuts, " 1");
  g_string_append (cuts, " 0h");
  dealt ("topology: hgx_h100, nodes: 16",
         "model: llama31_405b, sequence: 8192, global_batch: 16, parallel: {tp: 8, pp: 16, vp: 8}, pipeline: {embedding_as_layer: "
         "true, head_as_layer: true}",
         cuts->str);
}

static void
a_layout_says_it_all (void)
{
#define FOUR SMALL_MODEL ", global_batch: 8, parallel: {pp: 4}, "
  dealt (H100, FOUR "pipeline: {layout: [1, 3, 3, 1]}", "e1 3 3 1h");
  dealt (H100, FOUR "pipeline: {layout: [[0, 1], [2, 3, 4], [5], [6, 7]]}", "e2 3 1 2h");
  dealt (H100, FOUR "pipeline: {layout: [0, 4, 4, 0]}", "e0 4 4 0h");
  refused (FOUR "pipeline: {layout: [4, 4]}", "[4", "'layout' is a list of 4 chunks (pp 4 x vp 1)");
  refused (FOUR "pipeline: {layout: [2, 2, 2, 3]}", "[2", "'layout' has 9 layers, the model 8");
  refused (FOUR "pipeline: {layout: [[0, 1], [3, 2], [4, 5], [6, 7]]}", "3", "layer 2 is to follow here");
  refused (FOUR "pipeline: {layout: [2, x, 2, 2]}", "x", "a chunk of 'layout' is a number of layers");
  refused (FOUR "pipeline: {layout: [2, 2, 2, 2], head_as_layer: true}", "[2", "a 'layout' says what each chunk holds");
}

/* DeepSeek-V3's way: what its compressed queries, keys and values expand to is made again; a list is enough. */
static void
up_projections_of_mla_are_computed_again (void)
{
#define V3 "model: deepseek_v3, sequence: 4096, accumulate: 2, parallel: {ep: 8}, "
  g_autoptr (GError) error = NULL;
  g_auto (ModelStep) step =
      model_load ("topology: hgx_h200, nodes: 1", V3 "recompute: [mla_up_proj]", NULL, COL_MODE_EVENT, &error);
  g_auto (TrnModel) model = { 0 };
  g_autoptr (GArray) works = g_array_new (FALSE, FALSE, sizeof (MdlWork));
  g_assert_no_error (error);
  TEST_TRUE (trn_model_plan (&step.scenario->training, &model, &error));
  TEST_INT (model.query.recompute, MDL_MODULE_MLA_UP);
  mdl_layer_works (&model.llm, &model.query, MDL_PART_MOE, 10, NULL, works);
  double flop = 0;
  for (guint i = 0; i < works->len; i++) {
    const MdlWork *work = &g_array_index (works, MdlWork, i);
    flop += work->pass == MDL_PASS_RECOMPUTE ? work->flop : 0;
  }
  /* q: 1536 to 128 x 192; k and v: 512 to 128 x (128 + 128) */
  TEST_NEAR (flop, 2 * 4096.0 * (1536.0 * 128 * 192 + 512.0 * 128 * 256), 1e-9);
  MdlMemorySpec spec = { .head = { .set = FALSE } };
  MdlActivationBytes less, more;
  mdl_memory_block (&spec, &model.llm, &model.query, MDL_BLOCK_ATTENTION, FALSE, &less);
  model.query.recompute = 0;
  mdl_memory_block (&spec, &model.llm, &model.query, MDL_BLOCK_ATTENTION, FALSE, &more);
  /* queries and keys of 192, values of 128 a head, and the normed inputs of the two products, in bf16 */
  TEST_NEAR (more.kept_B - less.kept_B, 2 * 4096.0 * (128 * (192 + 192 + 128) + 1536 + 512), 1e-9);
  /* gate and up of 8 experts of 2048 a token and of the shared one, in fp8 with scales */
  mdl_memory_block (&spec, &model.llm, &model.query, MDL_BLOCK_MOE, FALSE, &more);
  model.query.cached = MDL_FORMAT_FP8;
  mdl_memory_block (&spec, &model.llm, &model.query, MDL_BLOCK_MOE, FALSE, &less);
  TEST_NEAR (more.kept_B - less.kept_B, 4096.0 * 9 * 2 * 2048 * (2 - 1 - 4.0 / 128), 1e-9);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "sizes that do not divide are refused where they stand", sizes_that_do_not_divide_are_refused_where_they_stand },
    { "more ranks than GPUs are refused", more_ranks_than_gpus_are_refused },
    { "experts are cut where there are some", experts_are_cut_where_there_are_some },
    { "schedules say what they need", schedules_say_what_they_need },
    { "words that are not known are named", words_that_are_not_known_are_named },
    { "keys of a model and of layers do not mix", keys_of_a_model_and_of_layers_do_not_mix },
    { "stragglers have to exist", stragglers_have_to_exist },
    { "a GPU says what compute needs", a_gpu_says_what_compute_needs },
    { "layers are dealt out evenly", layers_are_dealt_out_evenly },
    { "embedding and head may count as layers", embedding_and_head_may_count_as_layers },
    { "a layout says it all", a_layout_says_it_all },
    { "up-projections of MLA are computed again", up_projections_of_mla_are_computed_again },
    { NULL, NULL },
  };
  return test_main ("plan of a model's step", cases);
}
