/* Registered buffers: where adapters reach them, and what registering takes. */
#include "coll_fixture.h"

static MdlLibrary
library_that_registers (void)
{
  MdlLibrary l = simple_library ();
  memset (&l.launch, 0, sizeof l.launch);
  l.version = "2.28.9";
  l.registration = (MdlRegistrationSpec){ .net_from = { .v = "2.24.3", .set = TRUE },
                                          .net_channels = num (1),
                                          .call = num (10e-6),
                                          .net = num (100e-6),
                                          .net_rate = num (1e9),
                                          .window = num (20e-3),
                                          .window_again = num (4e-3) };
  l.registration.net_channels.source = l.registration.net.source = BASE_SOURCE_ASSUMED;
  return l;
}

/* Four nodes of so many GPUs, blocks that move 1 GB/s, links of 100. */
static MdlCollQuestion
between_nodes (MdlOp op, unsigned gpus)
{
  MdlCollQuestion q = question (op, 4e9, 4 * gpus);
  q.n_nodes = 4;
  q.ranks_per_node = gpus;
  q.n_nics = gpus;
  q.link_rate_Bps = 100e9;
  q.registered = TRUE;
  return q;
}

static MdlCollCost
cost_of (const MdlLibrary *library, MdlAlgo algo, const MdlCollQuestion *q)
{
  MdlCollCost cost;
  mdl_coll_cost (library, mdl_coll_find (algo, q->op), MDL_PROTO_SIMPLE, q, &cost);
  return cost;
}

static void
adapters_need_no_block (void)
{
  static MdlChannelRow row = { .nodes = { .v = 16 } };
  MdlLibrary l = library_that_registers ();
  l.channels.scale_up.item = &row;
  l.ring.hop[MDL_HOP_NET].at[MDL_PROTO_SIMPLE].rate = num (1e9);
  MdlCollQuestion q = between_nodes (MDL_OP_ALL_GATHER, 1);
  MdlCollCost direct = cost_of (&l, MDL_ALGO_RING, &q);
  TEST_INT (direct.channels, 1);
  TEST_TRUE (direct.link_bound);
  TEST_INT (direct.source, BASE_SOURCE_ASSUMED);
  q.registered = FALSE;
  MdlCollCost staged = cost_of (&l, MDL_ALGO_RING, &q);
  TEST_INT (staged.channels, 16);
  TEST_FALSE (staged.link_bound);
  TEST_INT (staged.source, BASE_SOURCE_MEASURED);
  q = between_nodes (MDL_OP_BROADCAST, 1);
  TEST_INT (cost_of (&l, MDL_ALGO_RING, &q).channels, 1);
  q = between_nodes (MDL_OP_ALL_GATHER, 2); /* blocks of a node's other hop still work */
  TEST_INT (cost_of (&l, MDL_ALGO_RING, &q).channels, 16);
  l.version = "2.23.4";
  q = between_nodes (MDL_OP_ALL_GATHER, 1);
  TEST_INT (cost_of (&l, MDL_ALGO_RING, &q).channels, 16);
}

static void
sends_need_their_own_adapter (void)
{
  MdlLibrary l = library_that_registers ();
  l.pairwise.hop[MDL_HOP_NET].at[MDL_PROTO_SIMPLE].rate = num (1e9);
  MdlCollQuestion q = between_nodes (MDL_OP_SENDRECV, 8);
  TEST_FALSE (cost_of (&l, MDL_ALGO_PAIRWISE, &q).link_bound);
  q.no_pxn = TRUE;
  TEST_TRUE (cost_of (&l, MDL_ALGO_PAIRWISE, &q).link_bound);
  q.inter = MDL_HOP_NET_HOST; /* no GPUDirect RDMA */
  TEST_FALSE (cost_of (&l, MDL_ALGO_PAIRWISE, &q).source == BASE_SOURCE_ASSUMED);
}

static void
registering_takes_time_once (void)
{
  MdlLibrary l = library_that_registers ();
  MdlCollQuestion q = question (MDL_OP_ALL_REDUCE, 1e9, 8);
  BaseSource source;
  TEST_NEAR (mdl_registration_s (&l, &q, MDL_BUFFERS_PLAIN, &source), 0, 0);
  TEST_NEAR (mdl_registration_s (&l, &q, MDL_BUFFERS_REGISTERED, &source), 20e-6, 1e-12);
  TEST_INT (source, BASE_SOURCE_MEASURED);
  TEST_NEAR (mdl_registration_s (&l, &q, MDL_BUFFERS_SYMMETRIC, &source), 24e-3, 1e-12);
  q = between_nodes (MDL_OP_ALL_GATHER, 1); /* 4 GB and a quarter of it at 1 GB/s */
  TEST_NEAR (mdl_registration_s (&l, &q, MDL_BUFFERS_REGISTERED, &source), 20e-6 + 200e-6 + 5, 1e-9);
  TEST_INT (source, BASE_SOURCE_ASSUMED);
  TEST_NEAR (mdl_registration_s (NULL, &q, MDL_BUFFERS_REGISTERED, &source), 0, 0);
}

static const TestCase cases[] = {
  { "adapters need no block", adapters_need_no_block },
  { "sends need their own adapter", sends_need_their_own_adapter },
  { "registering takes time once", registering_takes_time_once },
  { NULL, NULL },
};

int
main (void)
{
  return test_main ("models: registered buffers", cases);
}
