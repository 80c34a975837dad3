#include "harness.h"
#include "models/coll.h"
#include "models/library-spec.h"

static MdlLibrary library;

static MdlCollQuestion
h200 (MdlOp op)
{
  return (MdlCollQuestion){ .op = op,
                            .size_B = 1024.0,
                            .n_ranks = 8,
                            .n_nodes = 1,
                            .ranks_per_node = 8,
                            .intra = MDL_HOP_NVLINK,
                            .inter = MDL_HOP_NET,
                            .compute_capability = 90,
                            .switched = TRUE };
}

static MdlCollQuestion
two_nodes (MdlOp op)
{
  MdlCollQuestion q = h200 (op);
  q.n_ranks = 16;
  q.n_nodes = 2;
  return q;
}

static gboolean
possible (MdlAlgo algo, MdlProto proto, const MdlCollQuestion *q, const char **reason)
{
  *reason = NULL;
  return mdl_coll_possible (&library, mdl_coll_find (algo, q->op), proto, q, reason);
}

static void
algorithms_are_offered_where_nccl_offers_them (void)
{
  /* NCCL src/graph/tuning.cc: CollNet chain and NVLSTree all-reduce, direct gathers too, PAT gathers and scatters, trees
   * no broadcast of their own. */
  for (unsigned op = 0; op < MDL_OP_N; op++) {
    gboolean all_reduce = op == MDL_OP_ALL_REDUCE, part = op == MDL_OP_ALL_GATHER || op == MDL_OP_REDUCE_SCATTER;
    TEST_TRUE ((mdl_coll_find (MDL_ALGO_COLLNET_DIRECT, op) != NULL) == (all_reduce || part));
    TEST_TRUE ((mdl_coll_find (MDL_ALGO_COLLNET_CHAIN, op) != NULL) == all_reduce);
    TEST_TRUE ((mdl_coll_find (MDL_ALGO_NVLS_TREE, op) != NULL) == all_reduce);
    TEST_TRUE ((mdl_coll_find (MDL_ALGO_PAT, op) != NULL) == part);
  }
  TEST_TRUE (mdl_coll_find (MDL_ALGO_TREE, MDL_OP_BROADCAST) == NULL);
  TEST_TRUE (mdl_coll_find (MDL_ALGO_RING, MDL_OP_ALLTOALL) == NULL);
  const char *reason;
  MdlCollQuestion q = h200 (MDL_OP_ALL_REDUCE);
  TEST_FALSE (possible (MDL_ALGO_PAT, MDL_PROTO_SIMPLE, &q, &reason));
  TEST_HAS (reason, "does not do this operation");
}

static void
every_operation_has_an_algorithm (void)
{
  for (unsigned op = 0; op < MDL_OP_N; op++) {
    gboolean found = FALSE;
    for (const MdlColl *const *row = mdl_colls; *row != NULL; row++)
      found = found || ((*row)->ops & (1u << op)) != 0;
    TEST_TRUE (found);
  }
}

static void
nvls_wants_hopper_behind_a_switch (void)
{
  const char *reason;
  MdlCollQuestion q = h200 (MDL_OP_ALL_REDUCE);
  TEST_TRUE (possible (MDL_ALGO_NVLS, MDL_PROTO_SIMPLE, &q, &reason));
  TEST_FALSE (possible (MDL_ALGO_NVLS, MDL_PROTO_LL, &q, &reason));
  TEST_HAS (reason, "simple");
  q = two_nodes (MDL_OP_ALL_REDUCE); /* with the network's help, which the caller knows */
  TEST_TRUE (possible (MDL_ALGO_NVLS, MDL_PROTO_SIMPLE, &q, &reason));
  q.op = MDL_OP_ALL_GATHER;
  TEST_TRUE (possible (MDL_ALGO_NVLS, MDL_PROTO_SIMPLE, &q, &reason));
  q = h200 (MDL_OP_ALL_REDUCE);
  q.compute_capability = 80;
  TEST_FALSE (possible (MDL_ALGO_NVLS, MDL_PROTO_SIMPLE, &q, &reason));
  TEST_HAS (reason, "Hopper");
  q = h200 (MDL_OP_ALL_REDUCE);
  q.switched = FALSE;
  TEST_FALSE (possible (MDL_ALGO_NVLS, MDL_PROTO_SIMPLE, &q, &reason));
  TEST_HAS (reason, "NVSwitch");
}

static void
a_plugin_may_keep_to_simple (void)
{
  static MdlPlugin plugin = { .link_class = { .v = "efa1", .set = TRUE }, .simple_only = { .v = TRUE, .set = TRUE } };
  library.plugins = (BaseList){ .n = 1, .set = TRUE, .item = &plugin, .size = sizeof plugin };
  const char *reason;
  MdlCollQuestion q = h200 (MDL_OP_ALL_REDUCE);
  q.network = "efa1";
  TEST_TRUE (possible (MDL_ALGO_RING, MDL_PROTO_LL, &q, &reason)); /* one node: the network is not crossed */
  q.n_nodes = 2;
  q.n_ranks = 16;
  TEST_FALSE (possible (MDL_ALGO_RING, MDL_PROTO_LL, &q, &reason));
  TEST_HAS (reason, "keeps to simple");
  TEST_FALSE (possible (MDL_ALGO_TREE, MDL_PROTO_LL128, &q, &reason));
  TEST_TRUE (possible (MDL_ALGO_TREE, MDL_PROTO_SIMPLE, &q, &reason));
  q.network = "ib_ndr";
  TEST_TRUE (possible (MDL_ALGO_RING, MDL_PROTO_LL, &q, &reason));
  q.network = "efa1";
  plugin.simple_only.v = FALSE;
  plugin.no_ll.v = plugin.no_nvls.v = TRUE;
  TEST_FALSE (possible (MDL_ALGO_RING, MDL_PROTO_LL, &q, &reason));
  TEST_HAS (reason, "does without ll");
  TEST_TRUE (possible (MDL_ALGO_TREE, MDL_PROTO_LL128, &q, &reason));
  TEST_FALSE (possible (MDL_ALGO_NVLS_TREE, MDL_PROTO_SIMPLE, &q, &reason));
  TEST_HAS (reason, "does without NVLS");
  q.inter = MDL_HOP_TCP; /* sockets do not go through the plugin */
  TEST_TRUE (possible (MDL_ALGO_RING, MDL_PROTO_LL, &q, &reason));
  library.plugins = (BaseList){ 0 };
}

static void
switch_algorithms_want_several_nodes_of_several_ranks (void)
{
  static const MdlAlgo algos[] = { MDL_ALGO_COLLNET_DIRECT, MDL_ALGO_COLLNET_CHAIN, MDL_ALGO_NVLS_TREE };
  for (unsigned i = 0; i < G_N_ELEMENTS (algos); i++) {
    const char *reason;
    MdlCollQuestion q = two_nodes (MDL_OP_ALL_REDUCE);
    TEST_TRUE (possible (algos[i], MDL_PROTO_SIMPLE, &q, &reason));
    TEST_FALSE (possible (algos[i], MDL_PROTO_LL128, &q, &reason));
    TEST_HAS (reason, "simple");
    q = h200 (MDL_OP_ALL_REDUCE);
    TEST_FALSE (possible (algos[i], MDL_PROTO_SIMPLE, &q, &reason));
    TEST_HAS (reason, "several nodes");
    q = two_nodes (MDL_OP_ALL_REDUCE);
    q.switched = FALSE;
    TEST_TRUE (possible (algos[i], MDL_PROTO_SIMPLE, &q, &reason) == (algos[i] == MDL_ALGO_COLLNET_CHAIN));
    q = two_nodes (MDL_OP_ALL_REDUCE);
    q.inter = MDL_HOP_TCP;
    TEST_TRUE (possible (algos[i], MDL_PROTO_SIMPLE, &q, &reason) == (algos[i] == MDL_ALGO_NVLS_TREE));
    q.inter = MDL_HOP_NET;
    q.n_ranks = 18;
    q.ranks_per_node = 9;
    TEST_TRUE (possible (algos[i], MDL_PROTO_SIMPLE, &q, &reason) == (algos[i] == MDL_ALGO_NVLS_TREE));
    q.n_ranks = 2;
    q.ranks_per_node = 1;
    TEST_TRUE (possible (algos[i], MDL_PROTO_SIMPLE, &q, &reason) == (algos[i] != MDL_ALGO_NVLS_TREE));
  }
}

static void
pat_wants_one_gpu_a_node (void)
{
  const char *reason;
  MdlCollQuestion q = two_nodes (MDL_OP_ALL_GATHER);
  TEST_FALSE (possible (MDL_ALGO_PAT, MDL_PROTO_SIMPLE, &q, &reason));
  TEST_HAS (reason, "one GPU a node");
  q.n_ranks = 2;
  q.ranks_per_node = 1;
  TEST_TRUE (possible (MDL_ALGO_PAT, MDL_PROTO_SIMPLE, &q, &reason));
  TEST_FALSE (possible (MDL_ALGO_PAT, MDL_PROTO_LL, &q, &reason));
}

static void
ll128_keeps_to_paths_that_carry_lines_whole (void)
{
  const char *reason;
  MdlCollQuestion q = h200 (MDL_OP_ALL_REDUCE);
  TEST_TRUE (possible (MDL_ALGO_RING, MDL_PROTO_LL128, &q, &reason));
  q.intra = MDL_HOP_PCIE;
  TEST_FALSE (possible (MDL_ALGO_RING, MDL_PROTO_LL128, &q, &reason));
  TEST_HAS (reason, "NVLink");
  TEST_TRUE (possible (MDL_ALGO_RING, MDL_PROTO_LL, &q, &reason));
  q = h200 (MDL_OP_ALL_REDUCE);
  q.n_nodes = 2;
  q.n_ranks = 16;
  TEST_TRUE (possible (MDL_ALGO_TREE, MDL_PROTO_LL128, &q, &reason));
  q.inter = MDL_HOP_TCP;
  TEST_FALSE (possible (MDL_ALGO_TREE, MDL_PROTO_LL128, &q, &reason));
  TEST_HAS (reason, "NICs");
  q = h200 (MDL_OP_ALL_REDUCE);
  q.compute_capability = 61;
  TEST_FALSE (possible (MDL_ALGO_RING, MDL_PROTO_LL128, &q, &reason));
  TEST_HAS (reason, "Volta");
}

static void
sends_go_by_ll_while_they_are_short (void)
{
  const char *reason;
  MdlCollQuestion q = h200 (MDL_OP_ALLTOALL);
  TEST_TRUE (possible (MDL_ALGO_PAIRWISE, MDL_PROTO_LL, &q, &reason));
  TEST_FALSE (possible (MDL_ALGO_PAIRWISE, MDL_PROTO_LL128, &q, &reason));
  q.size_B = 1e9;
  TEST_FALSE (possible (MDL_ALGO_PAIRWISE, MDL_PROTO_LL, &q, &reason));
  TEST_HAS (reason, "simple");
  TEST_TRUE (possible (MDL_ALGO_PAIRWISE, MDL_PROTO_SIMPLE, &q, &reason));
  q = h200 (MDL_OP_SENDRECV);
  q.n_nodes = 2;
  TEST_FALSE (possible (MDL_ALGO_PAIRWISE, MDL_PROTO_LL, &q, &reason));
}

static void
how_long_a_send_may_be_for_ll_is_the_version_s (void)
{
  /* 24 channels are 32 for sends, all of one peer: 16 KiB x 32. From 2.29 on 16 KiB x the channels that Simple takes, one up to 64
   * KiB, so that nothing above 16 KiB is short. */
  static MdlChannelRow row = { .one_node = { .v = 24 }, .nodes = { .v = 16 } };
  MdlChannels before = library.channels;
  library.channels.scale_up = (BaseList){ .n = 1, .set = TRUE, .item = &row, .size = sizeof row };
  library.channels.p2p.v = 32;
  library.pairwise.chunk.v = 524288.0;
  library.pairwise.min_part.v = 0.125;
  library.pairwise.max_part.v = 32;
  const struct {
    double message_B;
    gboolean before, from_2_29;
  } size[] = { { 16384, TRUE, TRUE }, { 16385, TRUE, FALSE }, { 524288, TRUE, FALSE }, { 524289, FALSE, FALSE } };
  for (size_t i = 0; i < G_N_ELEMENTS (size); i++)
    for (int in_use = 0; in_use < 2; in_use++)
      for (int all = 0; all < 2; all++) {
        const char *reason;
        MdlCollQuestion q = h200 (all ? MDL_OP_ALLTOALL : MDL_OP_SENDRECV);
        q.size_B = size[i].message_B * (all ? q.n_ranks : 1);
        library.pairwise.ll_in_use.v = in_use;
        gboolean ll = in_use ? size[i].from_2_29 : size[i].before;
        TEST_INT (possible (MDL_ALGO_PAIRWISE, MDL_PROTO_LL, &q, &reason), ll);
        TEST_INT (possible (MDL_ALGO_PAIRWISE, MDL_PROTO_SIMPLE, &q, &reason), !ll);
      }
  library.channels = before;
  library.pairwise.ll_in_use.v = 0.0;
}

static void
a_library_without_a_protocol_refuses_it (void)
{
  const char *reason;
  MdlCollQuestion q = h200 (MDL_OP_ALL_REDUCE);
  library.protocols.at[MDL_PROTO_LL].offered.v = FALSE;
  TEST_FALSE (possible (MDL_ALGO_RING, MDL_PROTO_LL, &q, &reason));
  TEST_HAS (reason, "no such protocol");
  library.protocols.at[MDL_PROTO_LL].offered.v = TRUE;
}

static void
textbook_algorithms_run_anywhere (void)
{
  MdlCollQuestion q = h200 (MDL_OP_ALL_REDUCE);
  q.n_nodes = 2;
  q.compute_capability = 0;
  for (const MdlColl *const *row = mdl_colls; *row != NULL; row++)
    if ((*row)->ops & (1u << q.op))
      TEST_TRUE (mdl_coll_possible (NULL, *row, MDL_PROTO_SIMPLE, &q, NULL));
}

static const TestCase cases[] = {
  { "algorithms are offered where NCCL offers them", algorithms_are_offered_where_nccl_offers_them },
  { "every operation has an algorithm", every_operation_has_an_algorithm },
  { "NVLS wants Hopper behind a switch", nvls_wants_hopper_behind_a_switch },
  { "a network's plugin may keep to simple", a_plugin_may_keep_to_simple },
  { "switch algorithms want several nodes of several ranks", switch_algorithms_want_several_nodes_of_several_ranks },
  { "PAT wants one GPU a node", pat_wants_one_gpu_a_node },
  { "LL128 keeps to paths that carry lines whole", ll128_keeps_to_paths_that_carry_lines_whole },
  { "sends go by LL while they are short", sends_go_by_ll_while_they_are_short },
  { "how long a send may be for LL is the version's", how_long_a_send_may_be_for_ll_is_the_version_s },
  { "a library without a protocol refuses it", a_library_without_a_protocol_refuses_it },
  { "textbook algorithms run anywhere", textbook_algorithms_run_anywhere },
  { NULL, NULL },
};

int
main (void)
{
  for (unsigned p = 0; p < MDL_PROTO_N; p++)
    library.protocols.at[p].offered.v = TRUE;
  library.pairwise.ll_max_size.v = 16384.0;
  library.collnet_direct.ranks = library.collnet_chain.ranks = (BaseNum){ .v = 8.0, .set = TRUE };
  return test_main ("models: what can run", cases);
}
