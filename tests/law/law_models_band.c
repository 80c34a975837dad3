/* Error bands between nodes: the less was measured, the wider. */
#include <math.h>

#include "collective/terms-private.h"
#include "constants/calibration.h"
#include "harness.h"
#include "models/coll.h"
#include "models/library-spec.h"

static const char *const calibrations[] = { "h100_sxm", "h200_sxm", "a100_sxm", "b200", "gb200" };
static const double sizes_B[] = { 1024, 1048576, 1073741824 };
static Cst *loaded[G_N_ELEMENTS (calibrations)];

static const MdlLibrary *
library_of (guint i)
{
  return cst_library (loaded[i]);
}

static MdlCollQuestion
question (const char *network, unsigned nodes, unsigned local, double size_B)
{
  return (MdlCollQuestion){ .op = MDL_OP_ALL_REDUCE,
                            .size_B = size_B,
                            .n_ranks = nodes * local,
                            .n_nodes = nodes,
                            .ranks_per_node = local,
                            .n_nics = nodes > 1 ? 8 : 0,
                            .intra = MDL_HOP_NVLINK,
                            .inter = MDL_HOP_NET,
                            .intra_latency_s = 0.36e-6,
                            .inter_latency_s = 2e-6,
                            .intra_rate_Bps = 400e9,
                            .inter_rate_Bps = 50e9,
                            .link_rate_Bps = 200e9,
                            .network = network,
                            .compute_capability = 90,
                            .switched = TRUE,
                            .launch = MDL_LAUNCH_THREADS };
}

static MdlCollCost
cost_by (const MdlLibrary *library, const MdlCollQuestion *q)
{
  MdlCollCost cost;
  mdl_coll_cost (library, mdl_coll_find (MDL_ALGO_RING, MDL_OP_ALL_REDUCE), MDL_PROTO_SIMPLE, q, &cost);
  return cost;
}

/* Of a ring over so many nodes, or NVLink domains of 72 ranks, with NICs of a link class. */
static MdlCollCost
cost_of (const MdlLibrary *library, const char *network, unsigned nodes, unsigned local, double size_B)
{
  const MdlCollQuestion q = question (network, nodes, local, size_B);
  return cost_by (library, &q);
}

static double
held_out (const MdlFabric *fabric)
{
  return fabric->held_out.set ? fabric->held_out.v : 0;
}

static void
fewer_measurements_are_never_narrower (void)
{
  const MdlNetworks *networks = library_of (0)->networks;
  TEST_TRUE (networks->fabrics.n > 10);
  unsigned measured = 0;
  for (guint i = 0; i < networks->fabrics.n; i++) {
    const MdlFabric *few = BASE_LIST_AT (networks->fabrics, MdlFabric, i);
    for (guint k = 0; k < networks->fabrics.n && few->error.head.set; k++) {
      const MdlFabric *many = BASE_LIST_AT (networks->fabrics, MdlFabric, k);
      if (!many->error.head.set || held_out (few) >= held_out (many))
        continue;
      TEST_TRUE (few->error.small.v >= many->error.small.v);
      TEST_TRUE (few->error.middle.v >= many->error.middle.v);
      TEST_TRUE (few->error.large.v >= many->error.large.v);
    }
    measured += few->error.head.set ? 1 : 0;
    TEST_TRUE (!few->error.head.set ||
               (networks->unmeasured.small.v > few->error.small.v && networks->unmeasured.middle.v > few->error.middle.v &&
                networks->unmeasured.large.v > few->error.large.v));
    TEST_TRUE (few->error.head.set == few->rows.set); /* a band comes from points */
  }
  TEST_TRUE (measured >= 6);
}

static void
a_network_is_found_by_the_class_of_its_links (void)
{
  static const struct {
    const char *network, *name;
    unsigned nodes, local;
    MdlNear near;
  } want[] = { { "ib_ndr", NULL, 1, 8, MDL_NEAR_NODE },
               { "ib_ndr", "InfiniBand NDR", 2, 8, MDL_NEAR_NETWORK },
               { "efa2", "EFA 2", 2, 8, MDL_NEAR_NETWORK },
               { NULL, "NVLink rack", 1, 72, MDL_NEAR_NETWORK },
               { "ib_ndr", "NVLink racks", 2, 72, MDL_NEAR_NETWORK },
               { "tcpxo", "TCPXO", 2, 8, MDL_NEAR_NETWORK },
               { "tcpx", "TCPX", 2, 8, MDL_NEAR_NOTHING },
               { "my_own", NULL, 2, 8, MDL_NEAR_NOTHING } };
  for (guint i = 0; i < G_N_ELEMENTS (want); i++) {
    MdlCollCost cost = cost_of (library_of (0), want[i].network, want[i].nodes, want[i].local, sizes_B[2]);
    TEST_TRUE (g_strcmp0 (mdl_fabric_name (cost.fabric), want[i].name) == 0);
    TEST_INT (cost.near, want[i].near);
  }
}

/* In a node, over a network that was measured, over one that was not; and over more and more nodes. */
static void
bands_widen_with_the_distance (void)
{
  for (guint c = 0; c < G_N_ELEMENTS (calibrations); c++)
    for (guint s = 0; s < G_N_ELEMENTS (sizes_B); s++) {
      const MdlLibrary *library = library_of (c);
      const MdlNetworks *networks = library->networks;
      double node = cost_of (library, "ib_ndr", 1, 8, sizes_B[s]).band, never = cost_of (library, "my_own", 2, 8, sizes_B[s]).band;
      for (guint i = 0; i < networks->fabrics.n; i++) {
        const MdlFabric *fabric = BASE_LIST_AT (networks->fabrics, MdlFabric, i);
        if (!fabric->error.head.set || fabric->classes.n == 0)
          continue;
        unsigned local = fabric->domain.set ? 72 : 8;
        double before = 0;
        for (unsigned nodes = 2; nodes <= 4096; nodes *= 2) {
          double band = cost_of (library, fabric->classes.item[0].v, nodes, local, sizes_B[s]).band;
          TEST_TRUE (band >= before && isfinite (band));
          before = band;
          if (nodes == 2)
            TEST_TRUE (band >= node && band < never);
        }
        TEST_TRUE (before > cost_of (library, fabric->classes.item[0].v, 2, local, sizes_B[s]).band);
      }
    }
}

/* A calibration that was fitted on two nodes keeps its own error there, and a wider one on 64: with p a doubling, 1 + 5 p times.
 * With a constant that it does not have, the error of assumed ones. */
static void
a_cluster_that_was_fitted_has_its_own_band (void)
{
  MdlLibrary library = *library_of (1);
  library.range.max_nodes.v = 2;
  library.error.large.v = 0.07;
  const double growth = 1 + library.networks->per_doubling.v * 5, assumed = library.assumed_error.large.v;
  MdlCollCost cost = { .source = BASE_SOURCE_MEASURED };
  MdlCollQuestion q = question ("tcpxo", 2, 8, sizes_B[2]);
  mdl_coll_band (&library, MDL_ALGO_RING, &q, &cost);
  TEST_INT (cost.near, MDL_NEAR_CLUSTER);
  TEST_NEAR (cost.band, 0.07, 1e-12);
  q.n_nodes = 64;
  mdl_coll_band (&library, MDL_ALGO_RING, &q, &cost);
  TEST_INT (cost.near, MDL_NEAR_MORE_NODES);
  TEST_NEAR (cost.band, 0.07 * growth, 1e-12);
  cost.source = BASE_SOURCE_ASSUMED;
  mdl_coll_band (&library, MDL_ALGO_RING, &q, &cost);
  TEST_NEAR (cost.band, assumed * growth, 1e-12);
}

/* Tested on two nodes with an error of 4 %: that there; on 64 nodes, which nobody tested, twice the error in a node. Other
 * operations keep the network's. */
static void
what_was_tested_has_the_error_found (void)
{
  const BaseNum num[] = { { .v = 2 }, { .v = 8 }, { .v = 1024 }, { .v = 1e12 }, { .v = 0.04 } };
  MdlTested row = { .op = { .v = MDL_OP_ALL_REDUCE },
                    .algo = { .v = MDL_ALGO_RING },
                    .nodes = num[0],
                    .gpus = num[1],
                    .min_size = num[2],
                    .max_size = num[3],
                    .error = num[4] };
  MdlLibrary library = *library_of (1);
  library.tested = (BaseList){ .item = &row, .n = 1 };
  const double growth = 1 + library.networks->per_doubling.v * 5;
  MdlCollCost near = cost_of (&library, "ib_ndr", 2, 8, sizes_B[2]), far = cost_of (&library, "ib_ndr", 64, 8, sizes_B[2]);
  TEST_INT (near.near, MDL_NEAR_CLUSTER);
  TEST_NEAR (near.band, 0.04, 1e-12);
  TEST_INT (far.near, MDL_NEAR_MORE_NODES);
  TEST_NEAR (far.band, fmax (0.04, library.error.large.v) * growth, 1e-12);
  TEST_TRUE (library.error.large.v > 0.04);
  row.op.v = MDL_OP_ALL_GATHER;
  TEST_INT (cost_of (&library, "ib_ndr", 2, 8, sizes_B[2]).near, MDL_NEAR_NETWORK);
}

/* What nobody measured has the band of a network that nobody measured, on any network and on what was tested. */
static void
what_was_never_tried_has_the_widest_band (void)
{
  const MdlLibrary *library = library_of (1);
  for (size_t s = 0; s < G_N_ELEMENTS (sizes_B); s++) {
    MdlCollQuestion q = question ("ib_ndr", 2, 8, sizes_B[s]);
    MdlCollCost plain = { .source = BASE_SOURCE_ASSUMED }, untried = { .source = BASE_SOURCE_ASSUMED, .untried = TRUE };
    mdl_coll_band (library, MDL_ALGO_RING, &q, &plain);
    mdl_coll_band (library, MDL_ALGO_RING, &q, &untried);
    TEST_INT (plain.near, MDL_NEAR_NETWORK);
    TEST_INT (untried.near, MDL_NEAR_NOTHING);
    TEST_TRUE (untried.band > plain.band);
  }
}

static const TestCase cases[] = {
  { "a network with fewer measurements never has a narrower band", fewer_measurements_are_never_narrower },
  { "a network is found by the class of its links", a_network_is_found_by_the_class_of_its_links },
  { "bands widen with the distance from what was measured", bands_widen_with_the_distance },
  { "what was tested has the error found", what_was_tested_has_the_error_found },
  { "a cluster that was fitted has its own band", a_cluster_that_was_fitted_has_its_own_band },
  { "what was never tried has the widest band", what_was_never_tried_has_the_widest_band },
  { NULL, NULL },
};

int
main (void)
{
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  for (guint i = 0; i < G_N_ELEMENTS (calibrations); i++) {
    g_autoptr (GError) error = NULL;
    loaded[i] = cst_load (&(CstQuery){ .name = calibrations[i], .lookup = lookup }, &error);
    if (loaded[i] == NULL)
      g_error ("%s", error->message);
  }
  int status = test_main ("law: error bands between nodes", cases);
  for (guint i = 0; i < G_N_ELEMENTS (loaded); i++)
    cst_free (loaded[i]);
  return status;
}
