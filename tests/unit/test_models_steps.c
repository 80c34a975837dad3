/* What steps and hops cost by protocol, size and launch. */
#include "coll_fixture.h"

static void
lines_flow_down_a_tree (void)
{
  /* 4 ranks, 6 hops of 3 us, 10 us of start. By LL 2 kB of a piece hold up each hop at 1 GB/s, 6 x 2 us, and all of 100 kB take 200
   * on links of 1 GB/s, twice as many bytes. Where nothing says how little must arrive, 6 x 100 us less the 200 us that the
   * piece takes anyway. */
  MdlLibrary library = simple_library ();
  library.tree.hop[MDL_HOP_NVLINK].at[MDL_PROTO_LL].rate = num (1e9);
  MdlCollQuestion q = question (MDL_OP_ALL_REDUCE, 100e3, 4);
  q.intra_latency_s = 0.0;
  q.link_rate_Bps = 1e9;
  q.intra_rate_Bps = 100e9;
  TEST_NEAR (time_of (&library, MDL_ALGO_TREE, MDL_PROTO_LL, &q), (10.0 + 6 * 3 + 6 * 100) * 1e-6, 1e-12);
  library.protocols.at[MDL_PROTO_LL].forward_after_max = num (2e3);
  TEST_NEAR (time_of (&library, MDL_ALGO_TREE, MDL_PROTO_LL, &q), (10.0 + 6 * 3 + 6 * 2 + 200) * 1e-6, 1e-12);
}

static void
registered_buffers_have_smaller_pieces_and_a_handshake (void)
{
  /* 3 MB in pieces of 1 MB, or of 0.5 MB: the first goes over 2 hops at 1 GB/s, the rest follows at the links' 1 GB/s. */
  MdlLibrary library = simple_library ();
  library.tree.registered_piece = num (0.5);
  library.tree.hop[MDL_HOP_NVLINK].at[MDL_PROTO_SIMPLE].rate = num (1e9);
  MdlCollQuestion q = question (MDL_OP_ALL_REDUCE, 3e6, 2);
  q.intra_latency_s = 0.0;
  q.link_rate_Bps = 1e9;
  q.intra_rate_Bps = 100e9;
  TEST_NEAR (time_of (&library, MDL_ALGO_TREE, MDL_PROTO_SIMPLE, &q), 16e-6 + 4e-3, 1e-12);
  q.launch = MDL_LAUNCH_REGISTERED;
  TEST_NEAR (time_of (&library, MDL_ALGO_TREE, MDL_PROTO_SIMPLE, &q), 16e-6 + 3.5e-3, 1e-12);
  double ring_s = time_of (&library, MDL_ALGO_RING, MDL_PROTO_SIMPLE, &q);
  library.ring.registered = num (2e-6);
  TEST_NEAR (time_of (&library, MDL_ALGO_RING, MDL_PROTO_SIMPLE, &q), ring_s + 2e-6, 1e-12);
  q.launch = MDL_LAUNCH_GRAPH;
  TEST_NEAR (time_of (&library, MDL_ALGO_RING, MDL_PROTO_SIMPLE, &q), ring_s, 1e-12);
}

static void
steps_of_ranks_without_data_are_short (void)
{
  /* 4 ranks, 6 steps of 3 us, of which half is left where a rank has none of the size, cut into whole 16 B: 64 B give each its
   * part, 16 B one of four: 1.5 + 1.5 / 4. */
  MdlLibrary library = simple_library ();
  library.ring.hop[MDL_HOP_NVLINK].at[MDL_PROTO_LL].empty = num (0.5);
  MdlCollQuestion q = question (MDL_OP_ALL_REDUCE, 64.0, 4);
  q.intra_latency_s = 0.0;
  TEST_NEAR (time_of (&library, MDL_ALGO_RING, MDL_PROTO_LL, &q), (10.0 + 6 * 3) * 1e-6, 1e-12);
  q.size_B = 16.0;
  TEST_NEAR (time_of (&library, MDL_ALGO_RING, MDL_PROTO_LL, &q), (10.0 + 6 * 1.875) * 1e-6, 1e-12);
}

static void
lines_need_more_rounds_of_halved_threads (void)
{
  /* 640 threads of 8 B: from 5120 B on all, below 320, once and no more; start 1 us less, each of 2 steps 0.5 us more. */
  MdlLibrary library = simple_library ();
  MdlProtocol *format = &library.protocols.at[MDL_PROTO_LL128];
  format->threads = num (640.0);
  format->min_threads = num (320.0);
  format->bytes_per_thread = num (8.0);
  library.ring.halving.at[MDL_PROTO_LL128] = num (1e-6);
  library.ring.hop[MDL_HOP_NVLINK].at[MDL_PROTO_LL128].halved = num (0.5e-6);
  static const struct {
    double size_B, time_s;
  } rows[] = { { 5120.0, 16e-6 }, { 5104.0, 16e-6 }, { 64.0, 16e-6 } }; /* 10 + 6 us; 9 + 7 us */
  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++) {
    MdlCollQuestion q = question (MDL_OP_ALL_REDUCE, rows[i].size_B, 2);
    q.intra_latency_s = 0.0;
    TEST_NEAR (time_of (&library, MDL_ALGO_RING, MDL_PROTO_LL128, &q), rows[i].time_s, 1e-12);
    q.n_ranks = q.ranks_per_node = 4; /* 6 steps: 28 us, and 9 + 21 us */
    TEST_NEAR (time_of (&library, MDL_ALGO_RING, MDL_PROTO_LL128, &q), i == 0 ? 28e-6 : 30e-6, 1e-12);
  }
}

static const TestCase cases[] = {
  { "lines flow down a tree", lines_flow_down_a_tree },
  { "registered buffers have smaller pieces and a handshake", registered_buffers_have_smaller_pieces_and_a_handshake },
  { "steps of ranks without data are short", steps_of_ranks_without_data_are_short },
  { "lines need more rounds of halved threads", lines_need_more_rounds_of_halved_threads },
  { NULL, NULL },
};

int
main (void)
{
  return test_main ("models: steps", cases);
}
