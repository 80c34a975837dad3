/* Where the fabric becomes the bottleneck of a service: one request at a time of 8,192 tokens of Llama 3.1 70B, whose KV goes from
 * eight GPUs to eight over eight NICs. */
#include <math.h>

#include "harness.h"
#include "study/fabric.h"

#define SERVICE TEST_SOURCE_DIR "/tests/golden/ratio/serving/apart.yaml"
#define KV_B    2684354560. /* design: 8,192 tokens x 80 layers x 8 heads x 128 x 2 x 2 B */

static StdFabric *
fabric_of_file (const char *path, const double *nodes, guint n_nodes, const double *rates, guint n_rates, const char *const *sets)
{
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_autoptr (GArray) all_nodes = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (GArray) all_rates = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (GArray) loads = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (GError) error = NULL;
  g_array_append_vals (all_nodes, nodes, n_nodes);
  g_array_append_vals (all_rates, rates, n_rates);
  StdFabricQuery query = { .question = { .path = path, .lookup = lookup, .options = { .sets = sets } },
                           .limit = { 0.1, 0.1, 0.01 },
                           .nodes = all_nodes,
                           .loads = loads,
                           .rates = all_rates };
  g_autoptr (StdLoaded) loaded = std_loaded_new (path, NULL, lookup, &query.question.options, &error);
  TEST_TRUE (std_fabric_scale (loaded->scenario, &query.scale, &error));
  std_fabric_defaults (&query);
  return std_fabric (&query);
}

static StdFabric *
fabric_of (const double *nodes, guint n_nodes, const double *rates, guint n_rates, const char *const *sets)
{
  return fabric_of_file (SERVICE, nodes, n_nodes, rates, n_rates, sets);
}

static const StdFabricPoint *
point_at (const StdFabric *fabric, guint i)
{
  return &g_array_index (fabric->points, StdFabricPoint, i);
}

static void
kv_on_slow_nics_takes_bytes_over_rate (void)
{
  const double nodes = 2, rates[] = { 6.25e9, 12.5e9, 25e9 };
  g_autoptr (StdFabric) fabric = fabric_of (&nodes, 1, rates, 3, NULL);
  TEST_INT (fabric->points->len, 3);
  const StdFabricPoint *slow = point_at (fabric, 0), *fast = point_at (fabric, 1);
  /* half the rate: B / (8 NICs) / rate more, at 96 % of the wire */
  TEST_NEAR (slow->transfer_s - fast->transfer_s, KV_B / 8 / 12.5e9 / 0.96, 1e-3);
  TEST_NEAR (slow->ttft_s - fast->ttft_s, slow->transfer_s - fast->transfer_s, 1e-6); /* one at a time: nothing else changes */
  TEST_NEAR (slow->kv, slow->transfer_s / slow->ttft_s, 1e-12);
  TEST_TRUE (slow->value[STD_FABRIC_TTFT] > fast->value[STD_FABRIC_TTFT]);
  TEST_NEAR (slow->value[STD_FABRIC_TPOT], 0, 1e-9); /* all-reduces stay in the node */
  TEST_STR (slow->most, "KV transfers");
  TEST_TRUE (slow->prompt[STD_TRAFFIC_TP] > 0.05 && slow->prompt[STD_TRAFFIC_EP] <= 0);
}

static void
the_threshold_is_where_a_tenth_waits (void)
{
  const double nodes = 2, rate = 12.5e9;
  g_autoptr (StdFabric) fabric = fabric_of (&nodes, 1, &rate, 1, NULL);
  const StdFabricSpeed *speed = &g_array_index (fabric->speeds, StdFabricSpeed, 0);
  const StdFabricPoint *point = point_at (fabric, 0);
  TEST_INT (speed->how[STD_FABRIC_TTFT], STD_FABRIC_SOLVED);
  TEST_INT (speed->how[STD_FABRIC_TPOT], STD_FABRIC_ANY);
  /* TTFT = endless + B / 8 / (0.96 rate) - B / 8 / PCIe: a tenth waits where that difference is a ninth of the endless TTFT */
  const double endless_s = point->ttft_s * (1 - point->value[STD_FABRIC_TTFT]);
  const double floor_s = point->transfer_s - (point->ttft_s - endless_s);
  const double rate_Bps = KV_B / 8 / 0.96 / (endless_s / 9 + floor_s - (point->transfer_s - KV_B / 8 / 0.96 / rate));
  TEST_NEAR (speed->rate_Bps[STD_FABRIC_TTFT], rate_Bps, 2e-2);
}

static void
replicas_and_load_grow_with_nodes (void)
{
  const double nodes[] = { 2, 3, 4 }, rate = 12.5e9;
  g_autoptr (StdFabric) fabric = fabric_of (nodes, 3, &rate, 1, NULL);
  TEST_NEAR (point_at (fabric, 2)->ttft_s, point_at (fabric, 0)->ttft_s, 0.2);
  TEST_HAS (point_at (fabric, 1)->why_not, "3 nodes would have 1.5 replicas");
  TEST_INT (fabric->speeds->len, 2);
}

static void
nothing_said_is_around_the_scenario (void)
{
  const double rate = 50e9;
  static const char *const placed[] = { "workload.pools.1.first_gpu=8", NULL };
  g_autoptr (StdFabric) fabric = fabric_of (NULL, 0, NULL, 0, NULL);
  TEST_INT (fabric->points->len, 3 * 4); /* 2, 4, 8 nodes: one node has no whole replicas */
  TEST_NEAR (point_at (fabric, 2)->rate_Bps, rate, 1e-9);
  g_autoptr (StdFabric) fixed = fabric_of (NULL, 0, &rate, 1, placed);
  TEST_INT (fixed->points->len, 1);
  const double nodes = 4;
  g_autoptr (StdFabric) other = fabric_of (&nodes, 1, &rate, 1, placed);
  TEST_HAS (point_at (other, 0)->why_not, "first_gpu");
}

/* Sixteen requests of equal length stay in step: 16 Gb/s wait less than 20. */
static void
no_rate_above_the_answer_breaks (void)
{
  const double nodes = 2, rates[] = { 1.25e9, 2e9, 2.5e9, 4e9 };
  g_autoptr (StdFabric) fabric =
      fabric_of_file (TEST_SOURCE_DIR "/scenarios/serve_disagg_70b_h100.yaml", &nodes, 1, rates, 4, NULL);
  const StdFabricSpeed *speed = &g_array_index (fabric->speeds, StdFabricSpeed, 0);
  guint breaks = 0;
  TEST_INT (fabric->seeds, 3);
  TEST_INT (speed->how[STD_FABRIC_TTFT], STD_FABRIC_SOLVED);
  for (guint i = 0; i < fabric->points->len; i++) {
    const StdFabricPoint *point = point_at (fabric, i);
    if (point->value[STD_FABRIC_TTFT] <= 0.1)
      continue;
    TEST_TRUE (point->rate_Bps < speed->rate_Bps[STD_FABRIC_TTFT]);
    breaks++;
  }
  TEST_TRUE (breaks == 3 && point_at (fabric, 1)->ttft_s < point_at (fabric, 2)->ttft_s);
}

static const TestCase cases[] = {
  { "no rate above the answer breaks a threshold", no_rate_above_the_answer_breaks },
  { "KV on slow NICs takes bytes over rate", kv_on_slow_nics_takes_bytes_over_rate },
  { "the threshold is where a tenth waits", the_threshold_is_where_a_tenth_waits },
  { "replicas and load grow with nodes", replicas_and_load_grow_with_nodes },
  { "nothing said is around the scenario", nothing_said_is_around_the_scenario },
  { NULL, NULL },
};

int
main (void)
{
  return test_main ("study: fabric", cases);
}
