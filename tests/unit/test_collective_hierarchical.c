/* Operations inside each node first, then between nodes: times, loads and refusals by hand. Accelerators in a torus have links of
 * 25 GB/s and 1 us to each neighbour, those behind a switch 100 GB/s and 1 us; each has an adapter of 10 GB/s and 5 us. */
#include "comm-private.h"
#include "constants/calibration.h"
#include "workload_fixture.h"

/* `n_nodes` nodes of `n` accelerators in a torus. */
static Clu *
slices (unsigned n, const char *dims, unsigned n_nodes)
{
  g_autofree char *text = g_strdup_printf (
      "topology: fixture\nnodes: %u\nnode:\n  gpus:\n    count: %u\n    type:\n      gpu: fixture_gpu\n"
      "      scale_up: {class: {link_class: ici, family: ici, lane_rate: 25 GB/s, lanes: 4, efficiency: 1, latency: 1 us, "
      "duplex: 1}}\n"
      "      pcie: {class: {link_class: pci, family: pcie, efficiency: 1, latency: 0, duplex: 1}, rate: 1 TB/s}\n"
      "  nvlink: {kind: torus, dims: %s}\n"
      "  pcie: {switch_per: 1, under_switch: [nics], link: {class: {link_class: pci, family: pcie, efficiency: 1, latency: 0, "
      "duplex: 1}, rate: 1 TB/s}}\n"
      "  sockets: {count: 1, memory: 1 TB/s}\n  nics:\n    count: %u\n    type:\n      nic: fixture_nic\n"
      "      port: {class: {link_class: ib, family: infiniband, efficiency: 1, latency: 5 us, duplex: 1}, rate: 10 GB/s}\n"
      "      pcie: {class: {link_class: pci, family: pcie, efficiency: 1, latency: 0, duplex: 1}, rate: 1 TB/s}\n"
      "fabric: {kind: single_switch, leaf: {radix: 1024, latency: 0}}\n",
      n_nodes, n, dims, n);
  g_autoptr (GError) error = NULL;
  BaseYaml *yaml = base_yaml_load_data ("fixture", text, strlen (text), &error);
  g_autoptr (BaseDiag) warnings = base_diag_new ();
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  CluLoadOptions options = { .seed = 1 };
  Clu *clu = yaml != NULL ? clu_load_yaml (yaml, lookup, NULL, &options, warnings, &error) : NULL;
  if (clu == NULL)
    g_error ("fixture: %s", error->message);
  return clu;
}

/* Time of `op` on the bench's communicator; 0 where it cannot run, and then *why says it (full). */
static double
time_of (Bench *b, MdlOp op, double size_B, MdlAlgo algo, char **why)
{
  g_autoptr (GError) error = NULL;
  ColCollRequest request = { op, size_B, MDL_DTYPE_FP32, algo, MDL_PROTO_AUTO, 0 };
  ColAnswer coll = { 0 };
  gboolean ok = col_coll_price (b->comm, &request, &coll, &error);
  double time_s = ok ? coll.time_s : 0;
  if (ok && algo == MDL_ALGO_AUTO)
    TEST_INT (coll.algo, MDL_ALGO_HIERARCHICAL);
  if (why != NULL)
    *why = error != NULL ? g_strdup (error->message) : NULL;
  col_coll_clear (&coll);
  return time_s;
}

static void
phases_follow_each_other (void)
{
  /* Two tori of 4 x 4. Inside: 15/16 of the size over 4 links of 25 GB/s, 2 + 2 hops of 1 us. Between: each adapter has half of
   * its 1/16, over two cables of 5 us. An all-reduce takes both twice. */
  Bench b = bench_on (slices (16, "[4, 4]", 2));
  bench_open (&b, 32);
  const double inside_s = 15e9 / 100e9 + 4e-6, between_s = 16e9 / 16 / 2 / 10e9 + 10e-6;
  TEST_NEAR (time_of (&b, MDL_OP_ALL_GATHER, 16e9, MDL_ALGO_HIERARCHICAL, NULL), inside_s + between_s, 1e-9);
  TEST_NEAR (time_of (&b, MDL_OP_REDUCE_SCATTER, 16e9, MDL_ALGO_HIERARCHICAL, NULL), inside_s + between_s, 1e-9);
  TEST_NEAR (time_of (&b, MDL_OP_ALL_REDUCE, 16e9, MDL_ALGO_HIERARCHICAL, NULL), 2 * (inside_s + between_s), 1e-9);
  bench_close (&b);
}

static void
behind_a_switch_one_step_reaches_all (void)
{
  /* Five nodes of 4: 3/4 of the size over 100 GB/s, one step of two links; three steps between nodes, 4/5 of a quarter each. */
  Bench b = bench_on (fixture_cluster (4, 5, FALSE));
  bench_open (&b, 20);
  TEST_NEAR (time_of (&b, MDL_OP_ALL_GATHER, 20e9, MDL_ALGO_HIERARCHICAL, NULL),
             15e9 / 100e9 + 2e-6 + 4e9 / 10e9 + 3 * 10e-6, 1e-9);
  bench_close (&b);
}

static void
one_of_each_node_has_one_phase (void)
{
  Bench b = bench_on (slices (16, "[4, 4]", 4));
  const guint32 same[] = { 5, 21, 37, 53 };
  b.comm = col_comm_new (b.clu, &b.settings, same, 4, NULL);
  TEST_NEAR (time_of (&b, MDL_OP_ALL_REDUCE, 16e9, MDL_ALGO_HIERARCHICAL, NULL), 2 * (12e9 / 10e9 + 2 * 10e-6), 1e-9);
  bench_close (&b);
}

static void
unequal_nodes_are_refused (void)
{
  static const guint32 other_places[] = { 0, 1, 18, 19 }, fewer[] = { 0, 1, 16 }, crooked[] = { 0, 5, 16, 21 }, one[] = { 0, 1 };
  const struct {
    const guint32 *gpus;
    guint32 n;
    const char *why;
  } rows[] = { { other_places, 4, "not the same accelerators" },
               { fewer, 3, "not the same accelerators" },
               { crooked, 4, "not the same accelerators" },
               { one, 2, "all on one node" } };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    Bench b = bench_on (slices (16, "[4, 4]", 2));
    g_autofree char *why = NULL;
    b.comm = col_comm_new (b.clu, &b.settings, rows[i].gpus, rows[i].n, NULL);
    TEST_NEAR (time_of (&b, MDL_OP_ALL_REDUCE, 1e9, MDL_ALGO_HIERARCHICAL, &why), 0, 0);
    TEST_HAS (why, rows[i].why);
    bench_close (&b);
  }
}

/* Shipped machines take it by themselves; more bytes and more slices never take less time, and a flat tree takes several times as
 * long. */
static void
slices_never_gain_by_more (void)
{
  static const char *const machines[] = { "tpu_v7x_64", "trn2" }, *const gpus[] = { "tpu_v7x", "trainium2" };
  for (guint m = 0; m < G_N_ELEMENTS (machines); m++) {
    double before[3] = { 0 };
    for (guint32 nodes = 2; nodes <= 8; nodes += 3) {
      g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
      g_autoptr (BaseDiag) warnings = base_diag_new ();
      CluLoadOptions options = { .nodes = nodes, .seed = 1 };
      Bench b = bench_on (clu_load (machines[m], NULL, lookup, NULL, &options, warnings, NULL));
      Cst *constants = cst_load (&(CstQuery){ .gpu_type = gpus[m], .lookup = lookup }, NULL);
      b.settings.library = cst_library (constants);
      bench_open (&b, clu_n_gpus (b.clu));
      const double sizes_B[] = { 8, 1 << 20, 1 << 28 };
      for (guint s = 0; s < G_N_ELEMENTS (sizes_B); s++) {
        const double time_s = time_of (&b, MDL_OP_ALL_REDUCE, sizes_B[s], MDL_ALGO_AUTO, NULL);
        TEST_TRUE (time_s > before[s] && (s == 0 || time_s > before[s - 1]));
        before[s] = time_s;
      }
      TEST_TRUE (m > 0 || time_of (&b, MDL_OP_ALL_REDUCE, 1 << 28, MDL_ALGO_TREE, NULL) > 5 * before[2]);
      bench_close (&b);
      cst_free (constants);
    }
  }
}

int
main (void)
{
  static const TestCase cases[] = {
    { "phases follow each other", phases_follow_each_other },
    { "behind a switch one step reaches all", behind_a_switch_one_step_reaches_all },
    { "one of each node has one phase", one_of_each_node_has_one_phase },
    { "unequal nodes are refused", unequal_nodes_are_refused },
    { "slices never gain by more", slices_never_gain_by_more },
    { NULL, NULL },
  };
  return test_main ("operations inside nodes, then between them", cases);
}
