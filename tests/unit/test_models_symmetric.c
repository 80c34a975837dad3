#include "coll_fixture.h"

static MdlSymmetricKernel
kernel (const char *name, MdlOp op, gboolean ll, gboolean multicast)
{
  return (MdlSymmetricKernel){ .name = { .v = name, .set = TRUE },
                               .op = { .v = (int)op },
                               .ll = { .v = ll },
                               .multicast = { .v = multicast },
                               .base = num (ll ? 4.5e-6 : 7.8e-6),
                               .block = num ((op == MDL_OP_ALL_REDUCE ? 65 : 44) * 0x1p30),
                               .peak = num ((multicast ? 480 : 320) * 0x1p30),
                               .start = num (ll ? 4e-6 : 7e-6),
                               .rate = num (ll ? 1e9 : 10e9),
                               .efficiency = num (0.5) };
}

/* NCCL's estimate for Hopper; 1 GB/s a block by LL, 10 GB/s by loads and stores. */
static MdlLibrary
library_of_windows (void)
{
  static MdlSymmetricKernel kernels[5];
  kernels[0] = kernel ("LL", MDL_OP_ALL_REDUCE, TRUE, FALSE);
  kernels[1] = kernel ("LD", MDL_OP_ALL_REDUCE, FALSE, FALSE);
  kernels[2] = kernel ("MC", MDL_OP_ALL_REDUCE, FALSE, TRUE);
  kernels[2].gain_per_rank = num (1);
  kernels[2].rate = (BaseNum){ 0 };
  kernels[3] = kernel ("ST", MDL_OP_ALL_GATHER, FALSE, FALSE);
  kernels[4] = kernel ("LD", MDL_OP_ALL_REDUCE, FALSE, FALSE); /* later GPUs start in 9 us */
  kernels[4].capability = num (100);
  kernels[4].start = num (9e-6);
  MdlLibrary l = simple_library ();
  memset (&l.launch, 0, sizeof l.launch);
  l.version = "2.28.9";
  l.symmetric = (MdlSymmetricSpec){
    .from = { .v = "2.27", .set = TRUE },
    .pairs_until = { .v = "2.29.3", .set = TRUE },
    .ll_factor = num (9),
    .tolerance = num (0.025),
    .penalty = num (0.025),
    .blocks = num (64),
    .multicast_blocks = num (16),
    .multicast_blocks_from_100 = num (32),
    .cell = num (1024),
    .line = num (4096),
    .ll_max = num (0x1p31),
    .max = num (0x1p36),
    .kernels = { .n = 5, .set = TRUE, .item = kernels, .size = sizeof *kernels },
  };
  return l;
}

static const char *
chosen (const MdlLibrary *library, const MdlCollQuestion *q, unsigned blocks)
{
  MdlSymmetricChoice choice;
  if (!mdl_symmetric_choice (library, MDL_PROTO_AUTO, q, &choice))
    return "none";
  TEST_INT (choice.blocks, blocks);
  return choice.name;
}

/* What src/sym_kernels.cc of NCCL 2.28.9 gives for two H200 without NVLS. */
static void
NCCL_s_estimate_chooses_kernel_and_blocks (void)
{
  MdlLibrary l = library_of_windows ();
  static const struct {
    double size_B;
    const char *name;
    unsigned blocks;
  } rows[] = { { 1024, "LL", 1 },         { 4096, "LL", 2 },          { 16384, "LL", 5 }, { 65536, "LL", 7 },
               { 262144, "LD", 4 },       { 0x1p20, "LD", 6 },        { 0x1p22, "LD", 7 }, { 0x1p30, "LD", 7 } };
  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++) {
    const MdlCollQuestion q = question (MDL_OP_ALL_REDUCE, rows[i].size_B, 2);
    TEST_STR (chosen (&l, &q, rows[i].blocks), rows[i].name);
  }
  const MdlCollQuestion gather = question (MDL_OP_ALL_GATHER, 0x1p20, 2);
  TEST_STR (chosen (&l, &gather, 7), "ST");
}

static void
multicast_serves_more_than_two_ranks_from_2_29_7_on (void)
{
  MdlLibrary l = library_of_windows ();
  MdlCollQuestion q = question (MDL_OP_ALL_REDUCE, 0x1p24, 8);
  q.multicast = TRUE;
  TEST_STR (chosen (&l, &q, 2), "MC");
  q.n_ranks = q.ranks_per_node = 2;
  TEST_STR (chosen (&l, &q, 5), "MC");
  l.version = "2.29.7";
  TEST_STR (chosen (&l, &q, 7), "LD");
}

static void
blocks_and_links_make_the_time (void)
{
  MdlLibrary l = library_of_windows ();
  MdlCollQuestion q = question (MDL_OP_ALL_REDUCE, 0x1p30, 2);
  MdlCollCost cost;
  mdl_coll_cost (&l, mdl_coll_find (MDL_ALGO_SYMMETRIC, q.op), MDL_PROTO_SIMPLE, &q, &cost);
  TEST_INT (cost.channels, 7);
  TEST_NEAR (cost.bound_Bps / 1e9, 70, 5); /* the fewest blocks, as a real number */
  q.link_rate_Bps = 8e9;                   /* wire 2 / 0.5 */
  TEST_NEAR (time_of (&l, MDL_ALGO_SYMMETRIC, MDL_PROTO_SIMPLE, &q), 7e-6 + 0x1p30 / 2e9, 1e-6);
  q.link_rate_Bps = INF;
  q.size_B = 1024; /* one line of LL, nothing beyond it */
  TEST_NEAR (time_of (&l, MDL_ALGO_SYMMETRIC, MDL_PROTO_LL, &q), 4e-6, 1e-11);
  q.size_B = 0x1p24;
  q.link_rate_Bps = 8e9;
  q.compute_capability = 100;
  TEST_NEAR (time_of (&l, MDL_ALGO_SYMMETRIC, MDL_PROTO_SIMPLE, &q), 9e-6 + 0x1p24 / 2e9, 1e-6);
}

static void
kernels_say_where_they_cannot_run (void)
{
  MdlLibrary l = library_of_windows ();
  const MdlColl *coll = mdl_coll_find (MDL_ALGO_SYMMETRIC, MDL_OP_ALL_REDUCE);
  MdlCollQuestion q = question (MDL_OP_ALL_REDUCE, 1e6, 8);
  const char *why = NULL;
  TEST_TRUE (mdl_coll_possible (&l, coll, MDL_PROTO_LL, &q, &why));
  TEST_TRUE (!mdl_coll_possible (&l, coll, MDL_PROTO_LL128, &q, &why));
  q.n_nodes = 2;
  TEST_TRUE (!mdl_coll_possible (&l, coll, MDL_PROTO_SIMPLE, &q, &why));
  TEST_TRUE (strstr (why, "several NVLink domains") != NULL);
  q = question (MDL_OP_ALL_REDUCE, 0x1p36, 8);
  TEST_TRUE (!mdl_coll_possible (&l, coll, MDL_PROTO_SIMPLE, &q, &why));
  q.size_B = 1e6;
  l.version = "2.26.5";
  TEST_TRUE (!mdl_coll_possible (&l, coll, MDL_PROTO_SIMPLE, &q, &why));
  TEST_TRUE (strstr (why, "2.27") != NULL);
  TEST_TRUE (mdl_coll_find (MDL_ALGO_SYMMETRIC, MDL_OP_BROADCAST) == NULL);
}

static void
variables_fix_kernel_and_blocks (void)
{
  MdlLibrary l = library_of_windows ();
  MdlCollQuestion q = question (MDL_OP_ALL_REDUCE, 0x1p30, 2);
  q.symmetric_ctas = 100; /* NCCL_SYM_CTAS, at most as many as there are */
  TEST_STR (chosen (&l, &q, 64), "LD");
  q.symmetric_ctas = 3;
  TEST_STR (chosen (&l, &q, 3), "LD");
  q.symmetric_kernel = "LL"; /* NCCL_SYM_KERNEL */
  TEST_STR (chosen (&l, &q, 3), "LL");
  TEST_TRUE (mdl_symmetric_why_not (&l, &q) == NULL);
  q.symmetric_kernel = "ST"; /* an all-gather's */
  TEST_STR (chosen (&l, &q, 0), "none");
  TEST_STR (mdl_symmetric_why_not (&l, &q),
            "the kernel of NCCL_SYM_KERNEL does not serve this operation, size or GPU; NCCL's tuner does");
  q.op = MDL_OP_BROADCAST;
  TEST_STR (mdl_symmetric_why_not (&l, &q), "they serve all-reduce, all-gather and reduce-scatter");
  g_autoptr (GPtrArray) names = mdl_symmetric_kernels (&l);
  TEST_INT (names->len, 5); /* LL, LD, MC, ST and the end */
}

static const TestCase cases[] = {
  { "variables fix kernel and blocks", variables_fix_kernel_and_blocks },
  { "NCCL's estimate chooses kernel and blocks", NCCL_s_estimate_chooses_kernel_and_blocks },
  { "multicast serves more than two ranks from 2.29.7 on", multicast_serves_more_than_two_ranks_from_2_29_7_on },
  { "blocks and links make the time", blocks_and_links_make_the_time },
  { "kernels say where they cannot run", kernels_say_where_they_cannot_run },
  { NULL, NULL },
};

int
main (void)
{
  return test_main ("models: kernels on symmetric memory", cases);
}
