/* NCCL's version and variables: what each of them moves. */
#include <glib/gstdio.h>

#include "collective/nccl_env.h"
#include "collective/nccl_variables.h"
#include "comm-private.h"
#include "constants/calibration.h"
#include "workload_fixture.h"

static BaseLookup *lookup;

/* A communicator of the library as variables ("A=1 B=2") leave it, on `nodes` small nodes of 8, or on a node of 8 H200. */
#define H200 0
typedef struct {
  Bench bench;
  Cst *cal;
  MdlLibrary *library;
  BaseYaml *yaml;
} Tuned;

static void
open_tuned (Tuned *t, const char *variables, unsigned nodes)
{
  g_autoptr (GError) error = NULL;
  const CluLoadOptions options = { .nodes = 1 };
  *t = (Tuned){ .bench = bench_on (nodes == H200 ? clu_load ("hgx_h200", NULL, lookup, NULL, &options, NULL, &error)
                                                 : fixture_cluster (8, nodes, TRUE)) };
  ColSettings *settings = &t->bench.settings;
  g_auto (GStrv) pairs = g_strsplit (variables, " ", -1);
  if (*variables != '\0')
    t->yaml = col_nccl_parse ((const char *const *)pairs, "--nccl", settings, &error);
  if (error == NULL)
    t->cal = cst_load (&(CstQuery){ .name = "h200_sxm", .gpu_type = "h200_sxm", .nccl = settings->nccl_version, .lookup = lookup },
                       &error);
  if (t->cal == NULL)
    g_error ("%s: %s", variables, error->message);
  t->library = mdl_library_with (cst_library (t->cal), &settings->env);
  settings->library = t->library;
  settings->mode = COL_MODE_MODEL;
  bench_open (&t->bench, 8 * MAX (nodes, 1));
}

static void
close_tuned (Tuned *t)
{
  bench_close (&t->bench);
  g_free (t->library);
  cst_free (t->cal);
  if (t->yaml != NULL)
    base_yaml_free (t->yaml);
}

/* The answer under `variables`. */
static ColAnswer
query (const char *variables, unsigned nodes, MdlOp op, double size_B, MdlAlgo algo, MdlProto proto)
{
  g_autoptr (GError) error = NULL;
  Tuned t;
  open_tuned (&t, variables, nodes);
  ColAnswer coll = { 0 };
  const ColCollRequest request = { op, size_B, MDL_DTYPE_FP32, algo, proto, 0 };
  if (!col_coll_price (t.bench.comm, &request, &coll, &error))
    g_error ("%s: %s", variables, error->message);
  ColAnswer answer = coll;
  answer.spread = NULL; /* freed with the cluster */
  answer.alike = NULL;
  col_coll_clear (&coll);
  close_tuned (&t);
  return answer;
}

static void
channels_are_bounded_and_raised (void)
{
  /* 24 channels from 768 KiB on; 32 KiB of a size for each */
  TEST_INT (query ("", 1, MDL_OP_ALL_REDUCE, 64e6, MDL_ALGO_RING, MDL_PROTO_SIMPLE).cost.channels, 24);
  TEST_INT (query ("NCCL_MAX_NCHANNELS=4", 1, MDL_OP_ALL_REDUCE, 64e6, MDL_ALGO_RING, MDL_PROTO_SIMPLE).cost.channels, 4);
  TEST_INT (query ("NCCL_MIN_NCHANNELS=32", 1, MDL_OP_ALL_REDUCE, 64e6, MDL_ALGO_RING, MDL_PROTO_SIMPLE).cost.channels, 32);
  TEST_INT (query ("NCCL_MIN_NCHANNELS=32", 1, MDL_OP_ALL_REDUCE, 65536, MDL_ALGO_RING, MDL_PROTO_SIMPLE).cost.channels, 2);
}

static void
threads_open_channels_sooner_and_move_less (void)
{
  /* 256 threads x 64 B: a channel for every 16 KiB */
  ColAnswer few = query ("NCCL_NTHREADS=256", 1, MDL_OP_ALL_REDUCE, 65536, MDL_ALGO_RING, MDL_PROTO_SIMPLE);
  TEST_INT (few.cost.channels, 4);
  ColAnswer one = query ("NCCL_MAX_NCHANNELS=1", 1, MDL_OP_ALL_REDUCE, 1 << 30, MDL_ALGO_RING, MDL_PROTO_SIMPLE);
  ColAnswer half = query ("NCCL_MAX_NCHANNELS=1 NCCL_NTHREADS=256", 1, MDL_OP_ALL_REDUCE, 1 << 30, MDL_ALGO_RING, MDL_PROTO_SIMPLE);
  TEST_NEAR (half.cost.bound_Bps, one.cost.bound_Bps / 2, 1e-9);
  TEST_INT (half.provenance, BASE_SOURCE_ASSUMED);
}

static void
threads_of_trees_and_pairs_are_not_told (void)
{
  /* trees always run 640 threads from 2.22 on, sends and receives in all versions */
  const double size_B = 1 << 30;
  static const struct {
    const char *version;
    double tree;
  } rows[] = { { "2.21", 0.5 }, { "2.22", 1.0 } };
  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *one = g_strdup_printf ("version=%s NCCL_MAX_NCHANNELS=1", rows[i].version);
    g_autofree char *half = g_strconcat (one, " NCCL_NTHREADS=256", NULL);
    TEST_NEAR (query (half, 1, MDL_OP_ALL_REDUCE, size_B, MDL_ALGO_TREE, MDL_PROTO_SIMPLE).cost.bound_Bps,
               rows[i].tree * query (one, 1, MDL_OP_ALL_REDUCE, size_B, MDL_ALGO_TREE, MDL_PROTO_SIMPLE).cost.bound_Bps,
               1e-3); /* one block is a little slowed by links that it hardly fills */
    TEST_NEAR (query (half, 1, MDL_OP_ALLTOALL, size_B, MDL_ALGO_AUTO, MDL_PROTO_SIMPLE).time_s,
               query (one, 1, MDL_OP_ALLTOALL, size_B, MDL_ALGO_AUTO, MDL_PROTO_SIMPLE).time_s, 0);
  }
}

static void
nvls_has_channels_of_its_own (void)
{
  /* 16 on Hopper: NCCL_MAX_NCHANNELS leaves them alone, NCCL_MAX_CTAS and NCCL_MIN_CTAS do not */
  TEST_INT (query ("NCCL_MAX_NCHANNELS=4", H200, MDL_OP_ALL_REDUCE, 1 << 28, MDL_ALGO_NVLS, MDL_PROTO_AUTO).cost.channels, 16);
  TEST_INT (query ("NCCL_MAX_CTAS=4", H200, MDL_OP_ALL_REDUCE, 1 << 28, MDL_ALGO_NVLS, MDL_PROTO_AUTO).cost.channels, 4);
  TEST_INT (query ("NCCL_MIN_CTAS=20", H200, MDL_OP_ALL_REDUCE, 1 << 28, MDL_ALGO_NVLS, MDL_PROTO_AUTO).cost.channels, 20);
  /* 24 of a ring: the least of both bounds */
  TEST_INT (query ("NCCL_MAX_CTAS=4 NCCL_MAX_NCHANNELS=6", H200, MDL_OP_ALL_REDUCE, 1 << 28, MDL_ALGO_RING, MDL_PROTO_SIMPLE)
                .cost.channels,
            4);
  TEST_INT (query ("NCCL_MIN_CTAS=32", H200, MDL_OP_ALL_REDUCE, 1 << 28, MDL_ALGO_RING, MDL_PROTO_SIMPLE).cost.channels, 32);
}

static void
buffers_cut_a_ring_into_loops (void)
{
  /* 4 MiB: 8 slots of 512 KiB, chunks of 2 MiB. 1 GiB on 8 ranks and 24 channels is 5.33 MiB a rank and channel: 2.67 loops of 14
   * steps; with a quarter of the buffer 10.67. Each step waits once a loop, and long data hides less of it in short chunks. */
  ColAnswer whole = query ("", 1, MDL_OP_ALL_REDUCE, 1 << 30, MDL_ALGO_RING, MDL_PROTO_SIMPLE);
  ColAnswer quarter = query ("NCCL_BUFFSIZE=1048576", 1, MDL_OP_ALL_REDUCE, 1 << 30, MDL_ALGO_RING, MDL_PROTO_SIMPLE);
  TEST_TRUE (quarter.time_s > whole.time_s);
  TEST_TRUE (quarter.cost.hop_software_s[0] >= 4 * whole.cost.hop_software_s[0]);
}

static void
channels_to_a_peer_follow_the_version (void)
{
  /* Adapters of 10 GB/s. Up to 2.28 two channels of 20 GB/s a peer to 32 ranks, one beyond; from 2.29 one for each 14 GB/s of an
   * adapter. 40 ranks: 1 in both, 2 where told. */
  double two = query ("version=2.28", 2, MDL_OP_SENDRECV, 1 << 28, MDL_ALGO_AUTO, MDL_PROTO_SIMPLE).cost.bound_Bps;
  double one = query ("version=2.28", 5, MDL_OP_SENDRECV, 1 << 28, MDL_ALGO_AUTO, MDL_PROTO_SIMPLE).cost.bound_Bps;
  TEST_NEAR (two / one, 2, 1e-9);
  TEST_NEAR (query ("version=2.19", 5, MDL_OP_SENDRECV, 1 << 28, MDL_ALGO_AUTO, MDL_PROTO_SIMPLE).cost.bound_Bps, two, 1e-9);
  TEST_NEAR (query ("version=2.29", 2, MDL_OP_SENDRECV, 1 << 28, MDL_ALGO_AUTO, MDL_PROTO_SIMPLE).cost.bound_Bps, one, 1e-9);
  TEST_NEAR (query ("NCCL_NCHANNELS_PER_NET_PEER=2", 5, MDL_OP_SENDRECV, 1 << 28, MDL_ALGO_AUTO, MDL_PROTO_SIMPLE).cost.bound_Bps,
             two, 1e-9);
}

static void
cells_follow_the_version (void)
{
  /* LL's traffic counts four times: all-gather of 2 ranks' worth; 8 ranks open a channel for every 32 KiB by threads x 8 B x ranks,
   * LL128 for every 16 KiB of traffic, 32 KiB from 2.29 on */
  TEST_INT (query ("version=2.28", 1, MDL_OP_ALL_GATHER, 131072, MDL_ALGO_RING, MDL_PROTO_LL128).cost.channels, 8);
  TEST_INT (query ("version=2.23", 1, MDL_OP_ALL_GATHER, 131072, MDL_ALGO_RING, MDL_PROTO_LL128).cost.channels, 8);
  /* 512 B in 2.22: threads decide, a channel for every 640 x 8 B */
  TEST_INT (query ("version=2.22", 1, MDL_OP_ALL_GATHER, 98304, MDL_ALGO_RING, MDL_PROTO_LL128).cost.channels, 98304 / 5120);
  TEST_INT (query ("version=2.29", 1, MDL_OP_ALL_GATHER, 131072, MDL_ALGO_RING, MDL_PROTO_LL128).cost.channels, 4);
}

static void
lists_hold_for_all_operations_or_for_one (void)
{
  TEST_INT (query ("NCCL_ALGO=Ring", 1, MDL_OP_ALL_REDUCE, 1024, MDL_ALGO_AUTO, MDL_PROTO_AUTO).algo, MDL_ALGO_RING);
  TEST_INT (query ("NCCL_ALGO=ring;allreduce:tree", 1, MDL_OP_ALL_REDUCE, 1024, MDL_ALGO_AUTO, MDL_PROTO_AUTO).algo, MDL_ALGO_TREE);
  TEST_INT (query ("NCCL_ALGO=ring;allreduce:tree", 1, MDL_OP_ALL_GATHER, 1024, MDL_ALGO_AUTO, MDL_PROTO_AUTO).algo, MDL_ALGO_RING);
  TEST_INT (query ("NCCL_ALGO=allreduce:^tree,ring", 1, MDL_OP_ALL_REDUCE, 1024, MDL_ALGO_AUTO, MDL_PROTO_AUTO).algo,
            MDL_ALGO_NVLS);
  /* sends and receives are not tuned */
  TEST_INT (query ("NCCL_ALGO=Ring NCCL_PROTO=LL128", 1, MDL_OP_ALLTOALL, 1 << 24, MDL_ALGO_AUTO, MDL_PROTO_AUTO).algo,
            MDL_ALGO_PAIRWISE);
  ColAnswer listed = query ("NCCL_ALGO=Ring NCCL_PROTO=LL128", 1, MDL_OP_ALL_REDUCE, 1 << 24, MDL_ALGO_AUTO, MDL_PROTO_AUTO);
  ColAnswer named = query ("", 1, MDL_OP_ALL_REDUCE, 1 << 24, MDL_ALGO_RING, MDL_PROTO_LL128);
  TEST_NEAR (listed.time_s, named.time_s, 0);
}

static void
the_choice_follows_the_version (void)
{
  /* 2.19 gives LL on a ring of Hopper 87.7 GB/s of busbw at most and a third of the channels, 2.21 141 GB/s and half of them: LL
   * holds out longer. 12 x 30 GB/s: a third of 360 is 120, above 87.7; a half is 180, above 141. */
  ColAnswer old =
      query ("version=2.19 NCCL_ALGO=Ring NCCL_NVLS_ENABLE=0", H200, MDL_OP_ALL_REDUCE, 1 << 21, MDL_ALGO_AUTO, MDL_PROTO_AUTO);
  ColAnswer now =
      query ("version=2.28 NCCL_ALGO=Ring NCCL_NVLS_ENABLE=0", H200, MDL_OP_ALL_REDUCE, 1 << 21, MDL_ALGO_AUTO, MDL_PROTO_AUTO);
  TEST_INT (old.proto, MDL_PROTO_LL128);
  TEST_INT (now.proto, MDL_PROTO_LL);
}

static void
what_reduces_is_switched (void)
{
  TEST_INT (query ("", H200, MDL_OP_ALL_REDUCE, 1 << 28, MDL_ALGO_AUTO, MDL_PROTO_AUTO).algo, MDL_ALGO_NVLS);
  TEST_INT (query ("NCCL_NVLS_ENABLE=0", H200, MDL_OP_ALL_REDUCE, 1 << 28, MDL_ALGO_AUTO, MDL_PROTO_AUTO).algo, MDL_ALGO_RING);
}

/* One digit or names between |: which policy copy engines take, and whether one is not modelled. */
static void
the_policy_of_blocks_is_read_as_NCCL_reads_it (void)
{
  static const struct {
    const char *pair;
    gboolean zero, efficient;
  } rows[] = { { "NCCL_CTA_POLICY=0", FALSE, FALSE },      { "NCCL_CTA_POLICY=1", FALSE, TRUE },
               { "NCCL_CTA_POLICY=2", TRUE, FALSE },       { "NCCL_CTA_POLICY=zero", TRUE, FALSE },
               { "NCCL_CTA_POLICY=Default", FALSE, FALSE }, { "NCCL_CTA_POLICY=EFFICIENCY|ZERO", TRUE, TRUE } };
  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++) {
    ColSettings settings;
    const char *pairs[] = { rows[i].pair, NULL };
    g_autoptr (GError) error = NULL;
    col_settings_default (&settings);
    g_autoptr (BaseYaml) yaml = col_nccl_parse (pairs, "--nccl", &settings, &error);
    TEST_TRUE (yaml != NULL);
    TEST_INT (settings.zero_cta, rows[i].zero);
    TEST_INT (settings.not_modelled != NULL, rows[i].efficient);
  }
}

static void
what_cannot_be_is_refused (void)
{
  static const struct {
    const char *pair, *message;
  } rows[] = {
    { "NCCL_NTHREADS=100", "--nccl NCCL_NTHREADS: 100 is no multiple of 32; accepted: 96, 128, …" },
    { "NCCL_P2P_LEVEL=NVX", "--nccl NCCL_P2P_LEVEL: unknown name 'NVX' (did you mean 'NVL' or 'NVB'?)" },
    { "NCCL_ALGO=pairwise", "--nccl NCCL_ALGO: unknown name 'pairwise'; accepted: tree, ring, " },
    { "NCCL_PROTO=alltoall:LL", "--nccl NCCL_PROTO: unknown name 'alltoall'; accepted: AllReduce, AllGather, " },
    { "NCCL_BUFFSIZE=64M", "--nccl NCCL_BUFFSIZE: NCCL reads '64M' as 64; accepted: a plain number" },
    { "NCCL_CTA_POLICY=3", "--nccl NCCL_CTA_POLICY: NCCL_CTA_POLICY has no policy '3'; accepted: DEFAULT, EFFICIENCY, ZERO, or 0" },
    { "NCCL_CTA_POLICY=ZERO|2", "--nccl NCCL_CTA_POLICY: NCCL_CTA_POLICY has no policy '2'" },
    { "NCCL_CROSS_NICS=0", "--nccl NCCL_CROSS_NICS: unknown key 'NCCL_CROSS_NICS' in 'nccl' (did you mean 'NCCL_CROSS_NIC'?)" },
    { "NCCL_ALGO", "--nccl 'NCCL_ALGO': expected NAME=VALUE (e.g. NCCL_ALGO=Ring, version=2.28)" },
    { "NCCL_ALGO=ring;tree",
      "--nccl NCCL_ALGO: 'tree' comes after a ';' but names no operation; accepted: as 'ring;allreduce:tree,ring'" },
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++) {
    ColSettings settings;
    g_autoptr (GError) error = NULL;
    const char *pairs[] = { rows[i].pair, NULL };
    col_settings_default (&settings);
    TEST_TRUE (col_nccl_parse (pairs, "--nccl", &settings, &error) == NULL);
    TEST_TRUE (g_str_has_prefix (error->message, rows[i].message));
  }
}

/* The table is searched by bisection, and a variable that moves an answer is not in it. */
static void
the_table_is_sorted_and_has_no_modelled_variable (void)
{
  for (const ColVariable *variable = col_nccl_variables; variable->name != NULL; variable++) {
    TEST_TRUE (col_nccl_variable (variable->name) == variable);
    TEST_TRUE (variable == col_nccl_variables || strcmp (variable[-1].name, variable->name) < 0);
    for (const BaseField *field = col_schema_nccl.fields; field->key != NULL; field++)
      TEST_TRUE (strcmp (field->key, variable->name) != 0);
  }
  TEST_TRUE (col_nccl_variable ("NCCL_NONE") == NULL);
  TEST_INT (col_nccl_variable ("NCCL_DEBUG")->effect, COL_VARIABLE_IDLE);
  /* names that left NCCL between 2.28.3 and 2.30.7, that its typed parameters brought, and of the profiler that it ships */
  static const char *const moved[] = { "NCCL_SHM_USE_CUDA_MEMCPY", "NCCL_GIN_EXCLUSIVE_CONTEXTS", "NCCL_PARAM_DUMP_ALL",
                                       "NCCL_SET_THREAD_NAME", "NCCL_INSPECTOR_ENABLE" };
  for (unsigned i = 0; i < G_N_ELEMENTS (moved); i++)
    TEST_TRUE (col_nccl_variable (moved[i]) != NULL);
}

/* Writes `text` and reads it as --nccl env=FILE, with `pair` (NULL: none) beside it. Returned: full. */
static BaseYaml *
parse_env (const char *text, const char *pair, ColSettings *settings, GError **error)
{
  g_autofree char *path = NULL;
  int file = g_file_open_tmp ("envXXXXXX", &path, NULL);
  g_close (file, NULL);
  TEST_TRUE (g_file_set_contents (path, text, -1, NULL));
  g_autofree char *env = g_strconcat ("env=", path, NULL);
  const char *pairs[] = { env, pair, NULL };
  col_settings_default (settings);
  BaseYaml *yaml = col_nccl_parse (pairs, "--nccl", settings, error);
  g_remove (path);
  return yaml;
}

static void
an_environment_is_read_as_it_is_printed (void)
{
  g_autoptr (GError) error = NULL;
  ColSettings settings;
  g_autoptr (BaseYaml) yaml = parse_env ("HOME=/root\nexport NCCL_ALGO=\"Ring\"\nNCCL_MAX_NCHANNELS=4\nNCCL_MAX_NCHANNELS=8\n"
                                         "NCCL_DEBUG=INFO\nNCCL_IB_QPS_PER_CONNECTION=1\nNCCL_IB_TC=106\nNCCL_OF_NEXT_YEAR=1\n"
                                         "NCCL_TUNER_PLUGIN=/opt/libtuner.so\nNCCL_MIN_NRINGS=2\nnot a line of ours",
                                         NULL, &settings, &error);
  g_assert_no_error (error);
  TEST_TRUE (yaml != NULL);
  TEST_INT (settings.max_channels, 8);
  TEST_INT (settings.min_channels, 2);
  TEST_TRUE ((settings.op_off_algos[MDL_OP_ALL_REDUCE] & 1u << MDL_ALGO_TREE) != 0);
  TEST_TRUE ((settings.op_off_algos[MDL_OP_ALL_REDUCE] & 1u << MDL_ALGO_RING) == 0);
  TEST_FALSE (settings.no_tuner_plugin);
  TEST_STR (settings.not_modelled,
            "NCCL_OF_NEXT_YEAR (not a name that NCCL or its plugins are known to read), NCCL_IB_TC (sets the traffic class), "
            "NCCL_TUNER_PLUGIN (chooses algorithms)");
  g_autoptr (BaseYaml) both = parse_env ("NCCL_MAX_NCHANNELS=8\nNCCL_PAT_ENABLE=0\n", "NCCL_MAX_NCHANNELS=3", &settings, &error);
  TEST_TRUE (both != NULL);
  TEST_INT (settings.max_channels, 3);
  TEST_TRUE ((settings.disabled_algos & 1u << MDL_ALGO_PAT) != 0);
}

static void
a_wrong_value_in_an_environment_has_its_line (void)
{
  g_autoptr (GError) error = NULL;
  ColSettings settings;
  TEST_TRUE (parse_env ("A=1\nNCCL_P2P_LEVEL=NVX\n", NULL, &settings, &error) == NULL);
  TEST_HAS (error->message, ":2:17: unknown name 'NVX'");
  g_clear_error (&error);
  const char *pairs[] = { "env=/nowhere/cluster.env", NULL };
  col_settings_default (&settings);
  TEST_TRUE (col_nccl_parse (pairs, "--nccl", &settings, &error) == NULL);
  TEST_HAS (error->message, "--nccl-env: /nowhere/cluster.env: no such file");
}

static void
networks_of_a_plugin_do_not_know_ib_disable (void)
{
  static const struct {
    const char *topology;
    gboolean no_rdma;
  } rows[] = { { "hgx_h200", TRUE }, { "p5", FALSE } }; /* InfiniBand, EFA */
  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    const CluLoadOptions options = { .nodes = 2 };
    Clu *clu = clu_load (rows[i].topology, NULL, lookup, NULL, &options, NULL, &error);
    g_autoptr (Cst) cal = cst_load (&(CstQuery){ .name = "h200_sxm", .gpu_type = "h200_sxm", .lookup = lookup }, &error);
    const char *pairs[] = { "NCCL_IB_DISABLE=1", NULL };
    ColSettings settings;
    col_settings_default (&settings);
    g_autoptr (BaseYaml) yaml = col_nccl_parse (pairs, "--nccl", &settings, &error);
    TEST_TRUE (yaml != NULL && settings.degrade.no_rdma);
    settings.library = cst_library (cal);
    col_nccl_settle (clu, &settings);
    TEST_INT (settings.degrade.no_rdma, rows[i].no_rdma);
    settings.degrade.no_rdma = TRUE; /* what a scenario degrades stays so */
    settings.rdma_by_variable = FALSE;
    col_nccl_settle (clu, &settings);
    TEST_TRUE (settings.degrade.no_rdma);
    clu_free (clu);
  }
}

/* GPUs 0 and 5 of a hybrid cube mesh have no NVLink between them, though no ring needs one. */
static void
host_memory_between_a_pair_is_refused_for_pairs_alone (void)
{
  g_autoptr (GError) error = NULL;
  const CluLoadOptions options = { .nodes = 1 };
  Bench b = bench_on (clu_load ("dgx1_v100", NULL, lookup, NULL, &options, NULL, &error));
  b.settings.no_shm = TRUE;
  b.settings.degrade.p2p_level = CLU_PATH_NVL;
  bench_open (&b, 8);
  ColAnswer coll = { 0 };
  const ColCollRequest reduce = { MDL_OP_ALL_REDUCE, 1e6, MDL_DTYPE_FP32, MDL_ALGO_RING, MDL_PROTO_SIMPLE, 0 };
  TEST_TRUE (col_coll_price (b.comm, &reduce, &coll, &error));
  col_coll_clear (&coll);
  const ColCollRequest pairs = { MDL_OP_ALLTOALL, 1e6, MDL_DTYPE_FP32, MDL_ALGO_AUTO, MDL_PROTO_AUTO, 0 };
  TEST_TRUE (!col_coll_price (b.comm, &pairs, &coll, &error));
  TEST_TRUE (error != NULL && g_str_has_prefix (error->message, "NCCL_SHM_DISABLE=1: node0.gpu"));
  bench_close (&b);
}

static void
host_memory_that_is_needed_and_switched_off_is_refused (void)
{
  g_autoptr (GError) error = NULL;
  Bench b = bench_on (fixture_cluster (8, 1, FALSE));
  static const guint32 gpus[] = { 0, 1 };
  b.settings.no_shm = TRUE;
  g_autoptr (ColComm) fine = col_comm_new (b.clu, &b.settings, gpus, 2, &error);
  TEST_TRUE (fine != NULL);
  b.settings.degrade.no_p2p = TRUE;
  TEST_TRUE (col_comm_new (b.clu, &b.settings, gpus, 2, &error) == NULL);
  TEST_TRUE (error != NULL && g_str_has_prefix (error->message, "NCCL_SHM_DISABLE=1: node0.gpu0 and node0.gpu1 have no P2P"));
  clu_free (b.clu);
}

static void
an_algorithm_by_name_runs_by_the_protocol_that_nccl_takes (void)
{
  /* as NCCL_ALGO=Ring does, whichever protocol would be faster */
  gboolean other = FALSE;
  for (double size_B = 1024; size_B < 1e9; size_B *= 4) {
    MdlProto proto = query ("", 2, MDL_OP_ALL_REDUCE, size_B, MDL_ALGO_RING, MDL_PROTO_AUTO).proto;
    TEST_INT (proto, query ("NCCL_ALGO=Ring", 2, MDL_OP_ALL_REDUCE, size_B, MDL_ALGO_AUTO, MDL_PROTO_AUTO).proto);
    for (MdlProto p = MDL_PROTO_LL; p < MDL_PROTO_N; p++)
      other |= query ("", 2, MDL_OP_ALL_REDUCE, size_B, MDL_ALGO_RING, p).time_s <
               query ("", 2, MDL_OP_ALL_REDUCE, size_B, MDL_ALGO_RING, proto).time_s;
  }
  TEST_TRUE (other);
}

static const TestCase cases[] = {
  { "an algorithm by name runs by the protocol that NCCL takes", an_algorithm_by_name_runs_by_the_protocol_that_nccl_takes },
  { "channels are bounded and raised", channels_are_bounded_and_raised },
  { "threads open channels sooner and move less", threads_open_channels_sooner_and_move_less },
  { "threads of trees and pairs are not told", threads_of_trees_and_pairs_are_not_told },
  { "NVLS has channels of its own", nvls_has_channels_of_its_own },
  { "buffers cut a ring into loops", buffers_cut_a_ring_into_loops },
  { "channels to a peer follow the version", channels_to_a_peer_follow_the_version },
  { "cells follow the version", cells_follow_the_version },
  { "lists hold for all operations or for one", lists_hold_for_all_operations_or_for_one },
  { "the choice follows the version", the_choice_follows_the_version },
  { "what reduces is switched", what_reduces_is_switched },
  { "the policy of blocks is read as NCCL reads it", the_policy_of_blocks_is_read_as_NCCL_reads_it },
  { "what cannot be is refused", what_cannot_be_is_refused },
  { "the table is sorted and has no modelled variable", the_table_is_sorted_and_has_no_modelled_variable },
  { "an environment is read as it is printed", an_environment_is_read_as_it_is_printed },
  { "a wrong value in an environment has its line", a_wrong_value_in_an_environment_has_its_line },
  { "networks of a plugin do not know NCCL_IB_DISABLE", networks_of_a_plugin_do_not_know_ib_disable },
  { "host memory between a pair is refused for pairs alone", host_memory_between_a_pair_is_refused_for_pairs_alone },
  { "host memory that is needed and switched off is refused", host_memory_that_is_needed_and_switched_off_is_refused },
  { NULL, NULL },
};

int
main (void)
{
  lookup = base_lookup_new (TEST_SOURCE_DIR);
  int status = test_main ("NCCL's version and variables", cases);
  base_lookup_free (lookup);
  return status;
}
