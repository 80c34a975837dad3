/* What switches that reduce can never do, whatever the constants: beat what links carry. */
#include <math.h>

#include "../unit/workload_fixture.h"
#include "constants/calibration.h"

static Cst *calibration;
static const MdlAlgo in_switches[] = { MDL_ALGO_NVLS, MDL_ALGO_NVLS_TREE, MDL_ALGO_COLLNET_DIRECT, MDL_ALGO_COLLNET_CHAIN };
static const MdlOp ops[] = { MDL_OP_ALL_REDUCE, MDL_OP_ALL_GATHER, MDL_OP_REDUCE_SCATTER };
static const unsigned shapes[][2] = { { 2, 1 }, { 2, 8 }, { 3, 2 }, { 8, 1 }, { 8, 4 }, { 16, 8 } }; /* nodes, GPUs a node */

typedef void (*Check) (const Bench *b, const ColAnswer *coll, unsigned nodes, unsigned gpus);

static void
for_all (Check check)
{
  unsigned n = 0;
  for (unsigned s = 0; s < G_N_ELEMENTS (shapes); s++)
    for (unsigned nccl = 0; nccl < 2; nccl++) {
      unsigned nodes = shapes[s][0], gpus = shapes[s][1];
      Bench b =
          bench_on (fixture_cluster_on (gpus, nodes, TRUE, "{kind: single_switch, leaf: {radix: 1024, latency: 0}, sharp: true}"));
      b.settings.mode = COL_MODE_MODEL;
      b.settings.library = nccl ? cst_library (calibration) : NULL;
      bench_open (&b, nodes * gpus);
      ColAnswer coll = { 0 };
      for (unsigned a = 0; a < G_N_ELEMENTS (in_switches); a++)
        for (unsigned o = 0; o < G_N_ELEMENTS (ops); o++)
          for (double size_B = 4096; size_B < 2e11; size_B *= 256) {
            ColCollRequest request = { ops[o], size_B, MDL_DTYPE_FP32, in_switches[a], MDL_PROTO_AUTO, 0 };
            if (!col_coll_price (b.comm, &request, &coll, NULL))
              continue;
            check (&b, &coll, nodes, gpus);
            n++;
          }
      col_coll_clear (&coll);
      bench_close (&b);
    }
  TEST_TRUE (n > 200);
}

/* A ring sends 2 (n-1)/n of a rail's share out of each adapter of 10 GB/s, a reduction tree all of it once, a double tree no less;
 * gathers bring a rail's share into each. */
static void
gains_no_more_than_2_parts_in_n (const Bench *b, const ColAnswer *coll, unsigned nodes, unsigned gpus)
{
  (void)b;
  double n = (double)nodes * gpus, rail_s = coll->size_B / gpus / 10e9;
  double ring_s = coll->op == MDL_OP_ALL_REDUCE ? 2 * (n - 1) / n * rail_s : (n - 1) / n * rail_s;
  TEST_TRUE (ring_s / coll->time_s <= (coll->op == MDL_OP_ALL_REDUCE ? 2 * (n - 1) / n : (n - 1) / n) * (1 + 1e-9));
}

static void
carries_no_more_than_the_links_do (const Bench *b, const ColAnswer *coll, unsigned nodes, unsigned gpus)
{
  (void)nodes;
  (void)gpus;
  for (guint i = 0; i < coll->alike->len; i++) {
    const ColLoad *load = &g_array_index (coll->alike, ColLoad, i);
    TEST_TRUE (load->load * coll->cost.wire * coll->algbw_Bps <= clu_resource_capacity (b->clu, load->res) * (1 + 1e-9));
  }
}

static void
switches_gain_at_most_two_parts_in_n (void)
{
  for_all (gains_no_more_than_2_parts_in_n);
}

static void
no_link_carries_more_than_it_reaches (void)
{
  for_all (carries_no_more_than_the_links_do);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "switches gain at most 2 (n-1)/n over a ring, and nothing in gathers", switches_gain_at_most_two_parts_in_n },
    { "no link carries more than it reaches", no_link_carries_more_than_it_reaches },
    { NULL, NULL },
  };
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_autoptr (GError) error = NULL;
  calibration = cst_load (&(CstQuery){ .lookup = lookup }, &error);
  if (calibration == NULL) {
    g_printerr ("%s\n", error->message);
    return 1;
  }
  int status = test_main ("switches that reduce", cases);
  cst_free (calibration);
  return status;
}
