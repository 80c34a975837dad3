/* Kernels by hand: a GPU of 10 SMs, 1 TFLOP/s each in bf16, 1 TB/s of memory; constants that leave one effect at a time. */
#include <math.h>
#include <string.h>

#include "harness.h"
#include "kernels/kernel-private.h"

static BaseNum
num (double v)
{
  return (BaseNum){ .v = v, .set = TRUE, .source = BASE_SOURCE_MEASURED };
}

static const MdlGpu gpu = { .name = "ten",
                            .capability = 90,
                            .sms = 10,
                            .memory_B = 80e9,
                            .memory_Bps = 1e12,
                            .memory_efficiency = 1.0,
                            .peak_flop_per_s = { [MDL_PRECISION_BF16] = 10e12, [MDL_PRECISION_FP8] = 20e12 },
                            .power_W = 700,
                            .source = BASE_SOURCE_DATASHEET };

static BaseNum splits[2];
static MdlTileSpec tile;

/* One tile of 100 x 100, no cuts, feeding and memory that never limit, no starts. */
static MdlKernels
plain (void)
{
  MdlKernels k = { .error = num (0.1), .assumed_error = num (0.25) };
  tile = (MdlTileSpec){ .rows = num (100), .columns = num (100) };
  splits[0] = num (1);
  splits[1] = num (4);
  k.gemm.tiles = (BaseList){ .n = 1, .item = &tile, .size = sizeof tile };
  k.gemm.splits = (BaseNums){ .n = 1, .item = splits };
  k.gemm.depth = num (1);
  k.gemm.feed = num (1e6);
  k.gemm.store = num (0);
  k.gemm.grouped = num (0.5);
  for (unsigned p = 0; p < MDL_PRECISION_N; p++)
    k.gemm.at[p] = (MdlGemmRate){ .share = num (1) };
  k.attention.queries = k.attention.keys = num (100);
  k.attention.forward = k.attention.backward = (MdlAttentionPass){ .share = num (1), .scores = num (1e6) };
  k.memory.share = num (1);
  return k;
}

static double
gemm_s (const MdlKernels *k, double m, double n, double d)
{
  const MdlGemm gemm = { .m = m, .n = n, .k = d, .dtype = MDL_PRECISION_BF16, .sustained = TRUE };
  return mdl_gemm_time_s (k, &gpu, &gemm);
}

static void
tiles_take_whole_rounds (void)
{
  MdlKernels k = plain ();
  /* A tile of K = 50,000: 2 x 100 x 100 x 50,000 = 1 GFLOP, 1 ms on one SM. */
  TEST_NEAR (gemm_s (&k, 1000, 100, 50000), 1e-3, 1e-4); /* 10 tiles, one round */
  TEST_NEAR (gemm_s (&k, 1100, 100, 50000), 2e-3, 1e-4); /* 11 tiles, two */
  TEST_NEAR (gemm_s (&k, 100, 100, 50000), 1e-3, 1e-4);  /* 1 tile, nine SMs idle */
  k.gemm.splits.n = 2;
  TEST_NEAR (gemm_s (&k, 100, 100, 50000), 0.25e-3, 1e-3); /* four SMs share its sum */
  k.gemm.split = num (10e-6);
  TEST_NEAR (gemm_s (&k, 100, 100, 50000), 0.26e-3, 1e-3);
}

static void
starts_tiles_and_results_add_up (void)
{
  MdlKernels k = plain ();
  k.gemm.start = num (5e-6);
  k.gemm.at[MDL_PRECISION_BF16].tile = num (10e-6);
  TEST_NEAR (gemm_s (&k, 1100, 100, 50000), 5e-6 + 2 * (1e-3 + 10e-6), 1e-4);
  /* 20,000 B of a tile's results at 0.1 TB/s an SM: 0.2 us a round. */
  k.gemm.store = num (1);
  TEST_NEAR (gemm_s (&k, 1100, 100, 50000), 5e-6 + 2 * (1e-3 + 10.2e-6), 1e-4);
}

static void
passes_of_a_layer_have_the_same_flop_and_shapes_of_their_own (void)
{
  MdlKernels k = plain ();
  /* 100 tokens, 1000 out, 50,000 in. forward: 10 tiles of K = 50,000. dgrad: 100 x 50,000, 500 tiles of K = 1000, 20 us each, 50
   * rounds. wgrad: 1000 x 50,000, 5000 tiles of K = 100, 2 us each, 500 rounds, below memory's 1000 x 50,000 x 2 B + … */
  for (unsigned op = 0; op < MDL_GEMM_OP_N; op++) {
    const MdlGemm gemm = { .m = 100, .n = 1000, .k = 50000, .dtype = MDL_PRECISION_BF16, .op = (MdlGemmOp)op, .sustained = TRUE };
    MdlKernelCost cost;
    mdl_gemm_cost (&k, &gpu, &gemm, &cost);
    TEST_NEAR (cost.flop, 1e10, 1e-12);
    TEST_NEAR (cost.bytes_B, 2 * (100e3 + 5e6 + 50e6), 1e-12);
    TEST_NEAR (cost.math_s, 1e-3, 1e-12);
    TEST_NEAR (cost.time_s, 1e-3, 0.001);
  }
  MdlGemm gemm = { .m = 100, .n = 1000, .k = 50000, .dtype = MDL_PRECISION_BF16, .op = MDL_GEMM_WGRAD, .accumulate_fp32 = TRUE };
  MdlKernelCost cost;
  mdl_gemm_cost (&k, &gpu, &gemm, &cost); /* 8 B a weight in place of 2 */
  TEST_NEAR (cost.bytes_B, 2 * (100e3 + 5e6) + 8 * 50e6, 1e-12);
}

static void
power_limits_what_lasts (void)
{
  MdlKernels k = plain ();
  k.power.idle = num (100);
  k.power.exponent = num (0.4);
  k.power.credit = num (1e-3);
  k.power.interval = num (2e-3);
  k.gemm.at[MDL_PRECISION_BF16].power = num (1200);
  /* 1200 W where 600 are left: 1 ms becomes (1 + 2^8)^(0.4/8) ms = 1.3198 ms. */
  TEST_NEAR (gemm_s (&k, 1000, 100, 50000), 1e-3 * pow (257, 0.05), 1e-4);
  /* After an idle moment 600 x (1 + 1/2) = 900 W: (1 + (4/3)^8)^0.05. */
  const MdlGemm burst = { .m = 1000, .n = 100, .k = 50000, .dtype = MDL_PRECISION_BF16 };
  TEST_NEAR (mdl_gemm_time_s (&k, &gpu, &burst), 1e-3 * pow (1 + pow (4.0 / 3, 8), 0.05), 1e-4);
  MdlKernelCost cost;
  mdl_gemm_cost (&k, &gpu, &burst, &cost);
  TEST_STR (cost.bound, "power");
  /* Within steps sustained products are a quarter faster; bursts are as they were. */
  k.gemm.sustained = num (1.25);
  TEST_NEAR (gemm_s (&k, 1000, 100, 50000), 1e-3 * pow (257, 0.05) / 1.25, 1e-4);
  TEST_NEAR (mdl_gemm_time_s (&k, &gpu, &burst), 1e-3 * pow (1 + pow (4.0 / 3, 8), 0.05), 1e-4);
}

static void
groups_share_the_sms (void)
{
  MdlKernels k = plain ();
  /* Two experts of 500 tokens: 10 tiles of 1 ms at half the rate, as one round; uneven ones the same. */
  const double even[] = { 500, 500 }, uneven[] = { 900, 100 };
  MdlGemm gemm = {
    .m = 1000, .n = 100, .k = 50000, .dtype = MDL_PRECISION_BF16, .sustained = TRUE, .group_m = even, .n_groups = 2
  };
  TEST_NEAR (mdl_gemm_time_s (&k, &gpu, &gemm), 2e-3, 1e-4);
  gemm.group_m = uneven;
  TEST_NEAR (mdl_gemm_time_s (&k, &gpu, &gemm), 2e-3, 1e-4);
  const double none[] = { 0, 0 };
  gemm.group_m = none;
  TEST_NEAR (mdl_gemm_time_s (&k, &gpu, &gemm), 0, 0);
}

static void
a_format_without_units_never_ends (void)
{
  MdlKernels k = plain ();
  const MdlGemm gemm = { .m = 8, .n = 8, .k = 8, .dtype = MDL_PRECISION_FP4 };
  const MdlAttention attention = { .heads = 1, .q_length = 8, .head_dim = 8, .dtype = MDL_PRECISION_FP4 };
  MdlKernelCost cost;
  TEST_TRUE (isinf (mdl_gemm_time_s (&k, &gpu, &gemm)));
  mdl_gemm_cost (&k, &gpu, &gemm, &cost);
  TEST_TRUE (isinf (cost.time_s));
  TEST_TRUE (isinf (mdl_attention_time_s (&k, &gpu, &attention)));
}

static void
attention_counts_what_is_seen (void)
{
  MdlAttention a = { .batch = 2, .heads = 4, .q_length = 1000, .head_dim = 128, .dtype = MDL_PRECISION_BF16 };
  TEST_NEAR (mdl_attention_flop (&a), 4.0 * 2 * 4 * 1000 * 1000 * 128, 1e-12);
  a.backward = TRUE;
  TEST_NEAR (mdl_attention_flop (&a), 10.0 * 2 * 4 * 1000 * 1000 * 128, 1e-12);
  a.backward = FALSE;
  a.causal = TRUE;
  TEST_NEAR (mdl_attention_flop (&a), 2.0 * 2 * 4 * 1000 * 1000 * 128, 1e-12);
  a.kv_length = 3000; /* the last of 1000 queries sees 3000 keys, the first 2000 */
  TEST_NEAR (mdl_attention_flop (&a), 4.0 * 2 * 4 * 1000 * 2500 * 128, 1e-12);
  a.window = 500;
  TEST_NEAR (mdl_attention_flop (&a), 4.0 * 2 * 4 * 1000 * 500 * 128, 1e-12);
  a.kv_length = 0; /* 500 queries on the ramp, 500 that see the window */
  TEST_NEAR (mdl_attention_flop (&a), 4.0 * 2 * 4 * (500 * 250 + 500 * 500) * 128, 1e-12);
  a.window = 0;
  a.value_dim = 64;
  a.causal = FALSE;
  TEST_NEAR (mdl_attention_flop (&a), 2.0 * 2 * 4 * 1000 * 1000 * (128 + 64), 1e-12);
}

static void
attention_is_products_and_exponentials_of_tiles (void)
{
  MdlKernels k = plain ();
  k.attention.forward.scores = num (1e-3); /* 1 GHz an SM */
  /* 10 tiles of 100 queries x 1000 keys: 1e5 scores each, 4 x 100 FLOP at 1 TFLOP/s and 1 ns: 0.4 + 1 ns. */
  const MdlAttention a = { .batch = 1, .heads = 1, .q_length = 1000, .head_dim = 100, .dtype = MDL_PRECISION_BF16 };
  TEST_NEAR (mdl_attention_time_s (&k, &gpu, &a), 1e5 * 1.4e-9, 1e-4);
  /* Causal: a tile sees 500 keys and half a tile on average, the last tile all 1000. */
  MdlAttention causal = a;
  causal.causal = TRUE;
  TEST_NEAR (mdl_attention_time_s (&k, &gpu, &causal), 1000.0 / 550 * 100 * 550 * 1.4e-9, 1e-4);
  /* Under a window of 100 keys the first tile of queries sees one tile of keys, each other one two. */
  causal.window = 100;
  TEST_NEAR (mdl_attention_time_s (&k, &gpu, &causal), 100 * 200 * 1.4e-9, 1e-4);
  causal.heads = 2000;
  TEST_NEAR (mdl_attention_time_s (&k, &gpu, &causal), (20000.0 / gpu.sms + 0.5) * 100 * 190 * 1.4e-9, 1e-4);
}

static void
memory_takes_its_bytes_and_a_start (void)
{
  MdlKernels k = plain ();
  k.memory.start.at[MDL_MEMORY_ADD] = num (3e-6);
  k.memory.reads = num (0.3);
  k.memory.share = num (0.5);
  k.memory.cache = num (1e6);
  k.memory.cache_rate = num (2);
  /* 2 MB in, 1 MB out: reads are 2/3, so 0.5 x (1 + 0.3 / 3) = 0.55 TB/s. */
  MdlMemory memory = { .kind = MDL_MEMORY_ADD, .read_B = 2e6, .written_B = 1e6 };
  TEST_NEAR (mdl_memory_time_s (&k, &gpu, &memory), 3e-6 + 3e6 / 0.55e12, 1e-12);
  memory.resident_B = 5e6; /* 1 MB of it fits the cache, which is twice as fast */
  TEST_NEAR (mdl_memory_time_s (&k, &gpu, &memory), 3e-6 + 2e6 / 0.55e12 + 1e6 / 1.1e12, 1e-12);
  /* A framework's passes, optimizers aside, at half the rate. */
  k.memory.passes = num (0.5);
  memory.resident_B = 0;
  TEST_NEAR (mdl_memory_time_s (&k, &gpu, &memory), 3e-6 + 3e6 / 0.275e12, 1e-12);
  memory.kind = MDL_MEMORY_ADAM;
  TEST_NEAR (mdl_memory_time_s (&k, &gpu, &memory), 3e6 / 0.55e12, 1e-12);
  memory = (MdlMemory){ .kind = MDL_MEMORY_COPY };
  TEST_NEAR (mdl_memory_time_s (&k, &gpu, &memory), 0, 0);
}

static void
sum_of (const MdlKernelCost *cost)
{
  double sum_s = 0;
  for (unsigned i = 0; i < cost->n_terms; i++)
    sum_s += cost->term[i].value_s;
  TEST_TRUE (cost->n_terms > 0);
  TEST_NEAR (sum_s, cost->time_s, 1e-12);
  TEST_TRUE (cost->busy > 0 && cost->busy <= 1 + 1e-9);
}

static void
rows_that_are_moved_by_index_take_their_elements_time (void)
{
  MdlKernels k = plain ();
  k.memory.index_add = num (100e9);
  k.memory.index_copy = num (300e9);
  MdlMemory memory = { .kind = MDL_MEMORY_COPY, .read_B = 2e6, .written_B = 2e6 };
  MdlKernelCost cost;
  memory.added = 1e6; /* 10 us; the bytes take 4 us at 1 TB/s */
  mdl_memory_cost (&k, &gpu, &memory, &cost);
  TEST_NEAR (cost.time_s, k.memory.start.at[MDL_MEMORY_COPY].v + 10e-6, 1e-9);
  TEST_STR (cost.bound, "indexing");
  sum_of (&cost);
  memory.added = 0;
  memory.placed = 0.9e6; /* 3 us: less than the bytes */
  mdl_memory_cost (&k, &gpu, &memory, &cost);
  TEST_NEAR (cost.time_s, k.memory.start.at[MDL_MEMORY_COPY].v + 4e-6, 1e-9);
}

static void
terms_sum_to_the_time (void)
{
  MdlKernels k = plain ();
  k.gemm.start = num (1e-6);
  k.gemm.splits.n = 2;
  k.gemm.split = num (1e-6);
  k.gemm.store = num (1);
  k.power.exponent = num (0.4);
  k.power.interval = num (1e-3);
  k.gemm.at[MDL_PRECISION_BF16].power = num (2000);
  k.gemm.sustained = num (1.2);
  k.attention.backward.start = num (2e-6);
  k.attention.backward.tile = num (1e-6);
  MdlKernelCost cost;
  const MdlGemm gemm = { .m = 130, .n = 170, .k = 9000, .dtype = MDL_PRECISION_BF16, .sustained = TRUE };
  mdl_gemm_cost (&k, &gpu, &gemm, &cost);
  sum_of (&cost);
  TEST_NEAR (cost.time_s, mdl_gemm_time_s (&k, &gpu, &gemm), 1e-12);
  const MdlAttention a = { .batch = 1,
                           .heads = 3,
                           .kv_heads = 1,
                           .q_length = 777,
                           .head_dim = 64,
                           .causal = TRUE,
                           .backward = TRUE,
                           .dtype = MDL_PRECISION_BF16 };
  mdl_attention_cost (&k, &gpu, &a, &cost);
  sum_of (&cost);
  const MdlMemory memory = { .kind = MDL_MEMORY_ADAM, .read_B = 4e9, .written_B = 3e9 };
  mdl_memory_cost (&k, &gpu, &memory, &cost);
  sum_of (&cost);
}

static void
an_assumed_constant_widens_the_band (void)
{
  MdlKernels k = plain ();
  MdlKernelCost cost;
  const MdlMemory memory = { .kind = MDL_MEMORY_COPY, .read_B = 1e6, .written_B = 1e6 };
  mdl_memory_cost (&k, &gpu, &memory, &cost);
  TEST_NEAR (cost.band, 0.1, 0);
  k.memory.share.source = BASE_SOURCE_ASSUMED;
  mdl_memory_cost (&k, &gpu, &memory, &cost);
  TEST_NEAR (cost.band, 0.25, 0);
}

static void
launches_cost_what_was_measured (void)
{
  MdlKernels k = plain ();
  k.launch.at[MDL_LAUNCH_COST_KERNEL_GAP] = num (1.4e-6);
  k.launch.at[MDL_LAUNCH_COST_GRAPH_KERNEL] = num (0.5e-6);
  TEST_NEAR (mdl_launch_cost_s (&k, MDL_LAUNCH_COST_KERNEL_GAP), 1.4e-6, 0);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "tiles take whole rounds", tiles_take_whole_rounds },
    { "starts, tiles and results add up", starts_tiles_and_results_add_up },
    { "passes of a layer have the same FLOP and shapes of their own",
      passes_of_a_layer_have_the_same_flop_and_shapes_of_their_own },
    { "power limits what lasts", power_limits_what_lasts },
    { "groups share the SMs", groups_share_the_sms },
    { "a format without units never ends", a_format_without_units_never_ends },
    { "attention counts what is seen", attention_counts_what_is_seen },
    { "attention is products and exponentials of tiles", attention_is_products_and_exponentials_of_tiles },
    { "memory takes its bytes and a start", memory_takes_its_bytes_and_a_start },
    { "rows that are moved by index take their elements' time", rows_that_are_moved_by_index_take_their_elements_time },
    { "terms sum to the time", terms_sum_to_the_time },
    { "an assumed constant widens the band", an_assumed_constant_widens_the_band },
    { "launches cost what was measured", launches_cost_what_was_measured },
    { NULL, NULL },
  };
  return test_main ("kernels", cases);
}
