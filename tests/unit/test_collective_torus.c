/* Rings along the dimensions of a torus: what each link carries, how many hops a chunk takes, which ranks are a box. Links of
 * 25 GB/s and 1 us to each neighbour, without a library: all figures follow by hand. */
#include "comm-private.h"
#include "workload_fixture.h"

/* One node of `n` GPUs with so many links each; `nvlink`: its torus. */
static Clu *
torus (unsigned n, unsigned lanes, const char *nvlink)
{
  g_autofree char *text =
      g_strdup_printf ("topology: fixture\nnodes: 1\nnode:\n  gpus:\n    count: %u\n    type:\n      gpu: fixture_gpu\n"
                       "      scale_up: {class: {link_class: ici, family: ici, lane_rate: 25 GB/s, lanes: %u, efficiency: 1, "
                       "latency: 1 us, duplex: 1}}\n"
                       "      pcie: {class: {link_class: pci, family: pcie, efficiency: 1, latency: 0, duplex: 1}, rate: 1 TB/s}\n"
                       "  nvlink: %s\n  sockets: {count: 1, memory: 1 TB/s}\n",
                       n, lanes, nvlink);
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

/* Time of `op` over the `n` GPUs; 0 where it cannot run, and then *why says it. */
static double
time_of (Bench *b, const guint32 *gpus, guint32 n, MdlOp op, double size_B, char **why)
{
  g_autoptr (GError) error = NULL;
  ColCollRequest request = { op, size_B, MDL_DTYPE_FP32, MDL_ALGO_TORUS, MDL_PROTO_AUTO, 0 };
  ColAnswer coll = { 0 };
  g_clear_pointer (&b->comm, col_comm_free);
  b->comm = col_comm_new (b->clu, &b->settings, gpus, n, NULL);
  gboolean ok = b->comm != NULL && col_coll_price (b->comm, &request, &coll, &error);
  double time_s = ok ? coll.time_s : 0;
  if (why != NULL)
    *why = error != NULL ? g_strdup (error->message) : NULL;
  col_coll_clear (&coll);
  return time_s;
}

static void
all (guint32 *gpus, guint32 n)
{
  for (guint32 i = 0; i < n; i++)
    gpus[i] = i;
}

static void
a_rank_sends_by_all_of_its_links (void)
{
  /* 4 x 4: 15/16 of the size over 4 links of 25 GB/s, 2 + 2 hops of 1 us; all-reduce twice. */
  Bench b = bench_on (torus (16, 4, "{kind: torus, dims: [4, 4]}"));
  guint32 gpus[16];
  all (gpus, 16);
  TEST_NEAR (time_of (&b, gpus, 16, MDL_OP_ALL_GATHER, 16e9, NULL), 15e9 / 100e9 + 4e-6, 1e-9);
  TEST_NEAR (time_of (&b, gpus, 16, MDL_OP_REDUCE_SCATTER, 16e9, NULL), 15e9 / 100e9 + 4e-6, 1e-9);
  TEST_NEAR (time_of (&b, gpus, 16, MDL_OP_ALL_REDUCE, 16e9, NULL), 30e9 / 100e9 + 8e-6, 1e-9);
  const ColTraffic *t = col_comm_traffic (b.comm, MDL_OP_ALL_REDUCE, MDL_ALGO_TORUS, 0, NULL);
  g_autoptr (GArray) loads = col_spread_loads (t->spread);
  TEST_INT (loads->len, 64);
  for (guint i = 0; i < loads->len; i++)
    TEST_NEAR (g_array_index (loads, ColLoad, i).load, 2 * 15.0 / 16 / 4, 1e-12);
  bench_close (&b);
}

static void
three_dimensions_and_odd_ones (void)
{
  /* 3 x 3 x 3 has 6 ways of 25 GB/s: 26/27 of the size over 150 GB/s, 1 hop a dimension. */
  Bench b = bench_on (torus (27, 6, "{kind: torus, dims: [3, 3, 3]}"));
  guint32 gpus[27];
  all (gpus, 27);
  TEST_NEAR (time_of (&b, gpus, 27, MDL_OP_ALL_GATHER, 27e9, NULL), 26e9 / 150e9 + 3e-6, 1e-9);
  bench_close (&b);
}

static void
slower_dimensions_carry_less (void)
{
  /* Two lanes each way in the first dimension, one in the second. Last dimension first: 2/3 of the size, 3/4 of it there and a
   * quarter of 3/4 in the other; the first carries .5 + .0625 over 100 GB/s both ways, the second .25 + .125 over 50. */
  Bench b = bench_on (torus (16, 6, "{kind: torus, dims: [4, 4], dim_lanes: [2, 1]}"));
  guint32 gpus[16];
  all (gpus, 16);
  TEST_NEAR (time_of (&b, gpus, 16, MDL_OP_ALL_GATHER, 16e9, NULL), 16e9 * 0.375 / 50e9 + 4e-6, 1e-9);
  bench_close (&b);
}

static void
ranks_may_be_a_box (void)
{
  Bench b = bench_on (torus (16, 4, "{kind: torus, dims: [4, 4]}"));
  const guint32 row[] = { 4, 5, 6, 7 }, column[] = { 13, 9, 1, 5 }, stretch[] = { 8, 9, 10 }, square[] = { 0, 1, 4, 5 };
  /* A ring of four: 3/4 of the size by two links. */
  TEST_NEAR (time_of (&b, row, 4, MDL_OP_ALL_GATHER, 4e9, NULL), 3e9 / 50e9 + 2e-6, 1e-9);
  TEST_NEAR (time_of (&b, column, 4, MDL_OP_ALL_GATHER, 4e9, NULL), 3e9 / 50e9 + 2e-6, 1e-9);
  /* Three of four in a row: one ring of 2/3 of the size, whose last edge goes over two links, half of it each way round. */
  double time_s = time_of (&b, stretch, 3, MDL_OP_ALL_GATHER, 3e9, NULL);
  TEST_TRUE (time_s >= 2e9 / 25e9 + 2e-6 && time_s <= 3e9 / 25e9 + 2e-6);
  /* A square: each dimension has one link a rank. (1/2 x 1/2 + 1/2 x 1/4) of the size. */
  TEST_NEAR (time_of (&b, square, 4, MDL_OP_ALL_GATHER, 4e9, NULL), 4e9 * 0.375 / 25e9 + 2e-6, 1e-9);
  bench_close (&b);
}

static void
other_ranks_are_refused (void)
{
  Bench b = bench_on (torus (16, 4, "{kind: torus, dims: [4, 4]}"));
  const guint32 crooked[] = { 0, 1, 4, 6 };
  g_autofree char *why = NULL, *not_here = NULL;
  TEST_NEAR (time_of (&b, crooked, 4, MDL_OP_ALL_GATHER, 4e9, &why), 0, 0);
  TEST_HAS (why, "no torus of a node, nor a box of one");
  bench_close (&b);
  Bench mesh = bench_on (torus (4, 3, "{kind: full_mesh}"));
  const guint32 four[] = { 0, 1, 2, 3 };
  TEST_NEAR (time_of (&mesh, four, 4, MDL_OP_ALL_GATHER, 4e9, &not_here), 0, 0);
  TEST_HAS (not_here, "no torus of a node");
  bench_close (&mesh);
}

/* 256 TPU v5e: Google prints 51.2 TB/s of all-reduce, 200 GB/s a chip, of which links give 90 %. */
static void
a_pod_of_tpus_nears_what_google_prints (void)
{
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_autoptr (BaseDiag) warnings = base_diag_new ();
  CluLoadOptions options = { .nodes = 1, .seed = 1 };
  Bench b = bench_on (clu_load ("tpu_v5e_256", NULL, lookup, NULL, &options, warnings, NULL));
  guint32 gpus[256];
  all (gpus, 256);
  double time_s = time_of (&b, gpus, 256, MDL_OP_ALL_REDUCE, 1e12, NULL);
  TEST_NEAR (2 * 255.0 / 256 * 1e12 / time_s, 0.9 * 200e9, 1e-3);
  bench_close (&b);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "a rank sends by all of its links", a_rank_sends_by_all_of_its_links },
    { "three dimensions and odd ones", three_dimensions_and_odd_ones },
    { "slower dimensions carry less", slower_dimensions_carry_less },
    { "ranks may be a box", ranks_may_be_a_box },
    { "other ranks are refused", other_ranks_are_refused },
    { "a pod of tpus nears what google prints", a_pod_of_tpus_nears_what_google_prints },
    { NULL, NULL },
  };
  return test_main ("rings along a torus", cases);
}
