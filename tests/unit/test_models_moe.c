/* Dispatch and combine of experts: numbers of ranks and bytes by hand, and laws of the times. */
#include <math.h>

#include "harness.h"
#include "library_fixture.h"
#include "models/moe.h"

static const MdlLibrary *library; /* of H100 */

static MdlMoeChoice
choice (double experts, double top_k, double groups, double top_groups)
{
  return (MdlMoeChoice){ experts, top_k, groups, top_groups, FALSE };
}

/* 8 (1 - C(224,8) / C(256,8)) = 5.2947, and so on; 8 experts on 8 ranks of which 2: exactly 2. */
static void
a_token_reaches_as_many_ranks_as_a_draw_without_replacement (void)
{
  const MdlMoeChoice v3 = choice (256, 8, 0, 0), few = choice (8, 2, 0, 0);
  TEST_NEAR (mdl_moe_reached (&v3, 8), 5.2947, 1e-5);
  TEST_NEAR (mdl_moe_reached (&v3, 16), 6.5233, 1e-5);
  TEST_NEAR (mdl_moe_reached (&v3, 32), 7.2668, 1e-5);
  TEST_NEAR (mdl_moe_reached (&v3, 64), 7.6758, 1e-5);
  TEST_NEAR (mdl_moe_reached (&few, 8), 2, 1e-12);
  TEST_NEAR (mdl_moe_reached (&v3, 1), 1, 0);
}

static void
balanced_routing_reaches_all_it_can (void)
{
  MdlMoeChoice v3 = choice (256, 8, 0, 0);
  v3.balanced = TRUE;
  TEST_NEAR (mdl_moe_reached (&v3, 4), 4, 0);
  TEST_NEAR (mdl_moe_reached (&v3, 64), 8, 0);
  v3.groups = 8;
  v3.top_groups = 4;
  TEST_NEAR (mdl_moe_reached (&v3, 8), 4, 0);
}

/* One group of two, two nodes: all experts of a token are on one node. 4 of 8 groups on 8 nodes: a node is taken with 1/2, and
 * missed then with C(96,8) / C(128,8): 8 · (1 - .0926) / 2 = 3.6296. All groups: as without a limit. */
static void
limited_groups_reach_fewer_nodes (void)
{
  const MdlMoeChoice one = choice (256, 8, 2, 1), half = choice (256, 8, 8, 4), all = choice (256, 8, 8, 8),
                     none = choice (256, 8, 0, 0);
  double missed = 1;
  for (int i = 0; i < 8; i++)
    missed *= (96.0 - i) / (128.0 - i);
  TEST_NEAR (mdl_moe_reached (&one, 2), 1, 1e-12);
  TEST_NEAR (mdl_moe_reached (&half, 8), 4 * (1 - missed), 1e-9);
  TEST_NEAR (mdl_moe_reached (&all, 8), mdl_moe_reached (&none, 8), 1e-12);
  for (double places = 2; places <= 64; places *= 2)
    TEST_TRUE (mdl_moe_reached (&half, places) <= mdl_moe_reached (&none, places) + 1e-12);
}

static void
rows_count_their_scales (void)
{
  TEST_NEAR (mdl_moe_row_B (7168, MDL_FORMAT_FP8), 7168 + 224, 0);
  TEST_NEAR (mdl_moe_row_B (7168, MDL_FORMAT_BF16), 14336, 0);
  TEST_NEAR (mdl_moe_row_B (7168, MDL_FORMAT_FP4), 3584 + 448, 0);
}

static MdlMoeQuestion
question (MdlMoeBackend backend, double nodes)
{
  return (MdlMoeQuestion){ .op = MDL_MOE_DISPATCH,
                           .backend = backend,
                           .choice = { 256, 8, 0, 0, FALSE },
                           .tokens = 128,
                           .hidden = 7168,
                           .imbalance = 1,
                           .format = MDL_FORMAT_FP8,
                           .ranks = 8 * nodes,
                           .nodes = nodes,
                           .nvlink_Bps = 450e9,
                           .nic_Bps = 50e9,
                           .gpu_sms = 132,
                           .gpu = "h100_sxm" };
}

static const MdlMoeRow *
row_of (MdlMoeBackend backend)
{
  return mdl_moe_row (mdl_library_moe (library), backend);
}

static MdlMoeCost
price (const MdlMoeQuestion *q)
{
  MdlMoeCost cost;
  mdl_moe_cost (row_of (q->backend), q, &cost);
  return cost;
}

/* 128 tokens, k 8, 16 B of header a row: 7/8 of the copies leave. Two nodes: 7/16 by NVLink, 8/16 by the NIC. */
static void
low_latency_sends_a_copy_an_expert (void)
{
  MdlMoeQuestion q = question (MDL_MOE_BY_DEEPEP_LOW_LATENCY, 1);
  TEST_NEAR (price (&q).nvlink_B, 128 * 8 * 7408 * 7 / 8.0, 1e-12);
  TEST_NEAR (price (&q).nic_B, 0, 0);
  q = question (MDL_MOE_BY_DEEPEP_LOW_LATENCY, 2);
  TEST_NEAR (price (&q).nvlink_B, 128 * 8 * 7408 * 7 / 16.0, 1e-12);
  TEST_NEAR (price (&q).nic_B, 128 * 8 * 7408 / 2.0, 1e-12);
  TEST_STR (price (&q).bound_by, "NIC");
}

static void
normal_sends_a_copy_a_node_then_a_rank (void)
{
  MdlMoeQuestion q = question (MDL_MOE_BY_DEEPEP_NORMAL, 2);
  const MdlMoeCost cost = price (&q);
  TEST_NEAR (cost.nvlink_B, 128 * cost.reached_ranks * 7392 * 7 / 8, 1e-12);
  TEST_NEAR (cost.nic_B, 128 * cost.reached_nodes * 7392 / 2, 1e-12);
  TEST_NEAR (cost.sms, 20, 0);
  q.op = MDL_MOE_PREPARE;
  TEST_NEAR (price (&q).nic_B, 0, 0);
}

static void
terms_sum_to_the_time (void)
{
  for (int backend = 0; backend < MDL_MOE_BACKEND_N; backend++)
    for (int op = 0; op < MDL_MOE_OP_N && row_of ((MdlMoeBackend)backend) != NULL; op++) {
      MdlMoeQuestion q = question ((MdlMoeBackend)backend, 1);
      q.op = (MdlMoeOp)op;
      const MdlMoeCost cost = price (&q);
      double sum = 0;
      for (unsigned i = 0; i < cost.n_terms; i++)
        sum += cost.term[i].value_s;
      TEST_NEAR (sum, cost.time_s, 1e-12);
    }
}

static void
more_work_is_never_faster (void)
{
  for (int backend = 0; backend < MDL_MOE_BACKEND_N; backend++)
    for (double nodes = 1; nodes <= 8 && row_of ((MdlMoeBackend)backend) != NULL; nodes *= 2) {
      MdlMoeQuestion q = question ((MdlMoeBackend)backend, nodes), limited = q, narrow = q, wide = q, more = q;
      q.choice.groups = limited.choice.groups = 8;
      q.choice.top_groups = 8;
      limited.choice.top_groups = 4;
      wide.format = MDL_FORMAT_BF16;
      more.ranks *= 2;
      more.nodes *= 2;
      const MdlMoeCost now = price (&q);
      TEST_TRUE (price (&limited).time_s <= now.time_s);
      TEST_TRUE (price (&narrow).time_s <= price (&wide).time_s);
      TEST_TRUE (price (&more).nvlink_B + price (&more).nic_B >= now.nvlink_B + now.nic_B);
      for (double last = 0; q.tokens <= 65536; q.tokens *= 2) {
        TEST_TRUE (price (&q).time_s >= last);
        last = price (&q).time_s;
      }
    }
}

static void
fewer_sms_and_fuller_ranks_take_longer (void)
{
  MdlMoeQuestion q = question (MDL_MOE_BY_DEEPEP_NORMAL, 1);
  q.tokens = 8192;
  const double now_s = price (&q).time_s;
  q.sms = 10;
  TEST_TRUE (price (&q).time_s > 1.5 * now_s);
  q.sms = 0;
  q.imbalance = 2;
  TEST_NEAR (price (&q).nvlink_B, 2 * 8192 * mdl_moe_reached (&q.choice, 8) * 7392 * 7 / 8, 1e-12);
  TEST_TRUE (price (&q).time_s > now_s);
}

/* 4096 wide on 8 ranks of one expert each: one SM sends for each expert. */
static void
few_experts_keep_few_sms_busy (void)
{
  MdlMoeQuestion q = question (MDL_MOE_BY_DEEPEP_LOW_LATENCY, 1);
  q.choice = choice (8, 2, 0, 0);
  q.hidden = 4096;
  q.tokens = 256;
  TEST_STR (price (&q).bound_by, "SMs");
}

static void
other_gpus_and_more_nodes_are_assumed (void)
{
  MdlMoeQuestion q = question (MDL_MOE_BY_DEEPEP_NORMAL, 1);
  const double band = price (&q).band;
  q.gpu = "h200_sxm";
  TEST_INT (price (&q).source, BASE_SOURCE_ASSUMED);
  TEST_TRUE (price (&q).band > 2 * band);
  q = question (MDL_MOE_BY_DEEPEP_NORMAL, 4);
  TEST_INT (price (&q).source, BASE_SOURCE_ASSUMED);
  TEST_TRUE (mdl_moe_row (NULL, MDL_MOE_BY_UCCL) == NULL);
}

static const TestCase cases[] = {
  { "a token reaches as many ranks as a draw without replacement", a_token_reaches_as_many_ranks_as_a_draw_without_replacement },
  { "balanced routing reaches all it can", balanced_routing_reaches_all_it_can },
  { "limited groups reach fewer nodes", limited_groups_reach_fewer_nodes },
  { "rows count their scales", rows_count_their_scales },
  { "low latency sends a copy an expert", low_latency_sends_a_copy_an_expert },
  { "normal sends a copy a node, then a rank", normal_sends_a_copy_a_node_then_a_rank },
  { "terms sum to the time", terms_sum_to_the_time },
  { "more work is never faster", more_work_is_never_faster },
  { "fewer SMs and fuller ranks take longer", fewer_sms_and_fuller_ranks_take_longer },
  { "few experts keep few SMs busy", few_experts_keep_few_sms_busy },
  { "other GPUs and more nodes are assumed", other_gpus_and_more_nodes_are_assumed },
  { NULL, NULL },
};

int
main (void)
{
  g_autoptr (Cst) cal = NULL;
  const MdlLibraryQuery of = { .gpu_type = "h100_sxm" };
  library = model_library (&cal, &of, NULL);
  return library == NULL || test_main ("models/moe", cases);
}
