#include "coll_fixture.h"

/* Round trips of 1 us (2 us from Blackwell on); one shot up to 1 MB, two shots up to 1 GB, the switch on 8 GPUs beyond. */
static MdlLibrary
library_of_kernels (void)
{
  static MdlOneShotKernel kernels[3];
  static MdlOneShotRange ranges[5];
  static const char *const names[] = { "one", "two", "switch" };
  for (unsigned k = 0; k < 3; k++)
    kernels[k] = (MdlOneShotKernel){ .name = { .v = names[k], .set = TRUE }, .kind = { .v = (int)k }, .efficiency = num (0.5) };
  kernels[0].start = num (1e-6);
  kernels[0].trips = num (3);
  kernels[0].flag = num (0.1e-6);
  kernels[0].inflight = num (1000); /* 1 GB/s at 1 us */
  kernels[0].call = num (20e-6);
  kernels[1].trips = num (6);
  kernels[1].wait = num (4);
  kernels[1].hidden = num (0.5);
  kernels[1].efficiency_from_100 = num (0.25);
  kernels[2].trips = num (6);
  static const struct {
    const char *framework;
    double gpus, max_B;
    unsigned kernel;
  } rows[] = { { "a", 2, 1e6, 0 }, { "a", 8, 1e6, 0 }, { "a", 8, 1e9, 1 }, { "a", 8, 1e12, 2 }, { "b", 2, 1e9, 1 } };
  for (unsigned r = 0; r < 5; r++)
    ranges[r] = (MdlOneShotRange){ .framework = { .v = rows[r].framework, .set = TRUE },
                                   .kernel = { .v = names[rows[r].kernel], .set = TRUE },
                                   .gpus = num (rows[r].gpus),
                                   .max = num (rows[r].max_B) };
  MdlLibrary l = simple_library ();
  memset (&l.launch, 0, sizeof l.launch);
  l.one_shot.framework = (BaseStr){ .v = "a", .set = TRUE };
  l.one_shot.round_trip = num (1e-6);
  l.one_shot.round_trip_from_100 = num (2e-6);
  l.one_shot.copy = num (2e-6);
  l.one_shot.copy_rate = num (1e9);
  l.one_shot.kernels = (BaseList){ .n = 3, .set = TRUE, .item = kernels, .size = sizeof *kernels };
  l.one_shot.ranges = (BaseList){ .n = 5, .set = TRUE, .item = ranges, .size = sizeof *ranges };
  return l;
}

static double
shot_s (const MdlLibrary *library, const MdlCollQuestion *q)
{
  return time_of (library, MDL_ALGO_ONE_SHOT, MDL_PROTO_SIMPLE, q);
}

static void
round_trips_and_data_make_the_time (void)
{
  MdlLibrary l = library_of_kernels ();
  MdlCollQuestion q = question (MDL_OP_ALL_REDUCE, 0.0, 8);
  q.link_rate_Bps = 8e9;
  TEST_NEAR (shot_s (&l, &q), 4.6e-6, 1e-12); /* 1 + 3 x 1 + 6 x 0.1 us */
  q.size_B = 1e6;                             /* wire 8 / 0.5 = 16: 0.5 GB/s */
  TEST_NEAR (shot_s (&l, &q), 4.6e-6 + 2e-3, 1e-9);
  q.link_rate_Bps = 80e9; /* links would let 5 GB/s through, loads under way 1 GB/s */
  TEST_NEAR (shot_s (&l, &q), 4.6e-6 + 1e-3, 1e-9);
  q.size_B = 1e8; /* two shots, wire 4: 20 GB/s, 5 ms, and the barrier is hidden */
  TEST_NEAR (shot_s (&l, &q), 6e-6 + 5e-3, 1e-9);
  q.compute_capability = 100; /* half of that rate, twice the trips */
  TEST_NEAR (shot_s (&l, &q), 12e-6 + 10e-3, 1e-9);
  q.compute_capability = 90;
  q.size_B = 1e10; /* in the switch: wire 9/7 / 0.5 */
  TEST_NEAR (shot_s (&l, &q), 6e-6 + 1e10 * 18.0 / 7.0 / 80e9, 1e-9);
  q = question (MDL_OP_ALL_REDUCE, 1000.0, 2);
  q.one_shot = "b"; /* barely any data: 6 us, and a barrier of 4 us less half of the data's 0.04 us */
  q.link_rate_Bps = 100e9;
  TEST_NEAR (shot_s (&l, &q), 10e-6 + 0.02e-6, 1e-12);
}

static void
without_a_graph_data_are_copied_and_python_calls (void)
{
  MdlLibrary l = library_of_kernels ();
  MdlCollQuestion q = question (MDL_OP_ALL_REDUCE, 0.0, 2);
  q.launch = MDL_LAUNCH_THREADS;
  TEST_NEAR (shot_s (&l, &q), 20e-6, 1e-12);
  q.size_B = 1e5; /* 4 us, 100 us of data at 1 GB/s, and the copy's 2 + 100 us */
  TEST_NEAR (shot_s (&l, &q), 206e-6, 1e-9);
}

static void
kernels_run_where_they_can (void)
{
  MdlLibrary l = library_of_kernels (), none = simple_library ();
  const MdlColl *coll = mdl_coll_find (MDL_ALGO_ONE_SHOT, MDL_OP_ALL_REDUCE);
  const char *reason = NULL;
  MdlCollQuestion good = question (MDL_OP_ALL_REDUCE, 1e6, 8), q = good;
  TEST_TRUE (mdl_coll_possible (&l, coll, MDL_PROTO_SIMPLE, &q, &reason));
  TEST_FALSE (mdl_coll_possible (&l, coll, MDL_PROTO_LL, &q, &reason));
  TEST_STR (reason, "it reads data as they are: simple");
  TEST_FALSE (mdl_coll_possible (&none, coll, MDL_PROTO_SIMPLE, &q, &reason));
  TEST_STR (reason, "frameworks' kernels are known for NVIDIA GPUs only");
  q.n_ranks = 16;
  q.n_nodes = 2;
  TEST_FALSE (mdl_coll_possible (&l, coll, MDL_PROTO_SIMPLE, &q, &reason));
  TEST_STR (reason, "its kernels read the other GPUs' memory over NVLink, so all must be in one node; NCCL serves several");
  q = good;
  q.n_ranks = 5;
  TEST_FALSE (mdl_coll_possible (&l, coll, MDL_PROTO_SIMPLE, &q, &reason));
  TEST_STR (reason, "its kernels serve 2, 4, 6 or 8 GPUs; NCCL serves all others");
  q = good;
  q.intra = MDL_HOP_PCIE;
  TEST_FALSE (mdl_coll_possible (&l, coll, MDL_PROTO_SIMPLE, &q, &reason));
  TEST_STR (reason, "its kernels need NVLink between all GPUs");
  q = good;
  q.size_B = 2e12;
  TEST_FALSE (mdl_coll_possible (&l, coll, MDL_PROTO_SIMPLE, &q, &reason));
  TEST_STR (reason, "the size is more than the framework's kernels take; it calls NCCL");
}

static void
frameworks_are_listed_once (void)
{
  MdlLibrary l = library_of_kernels ();
  g_autoptr (GPtrArray) names = mdl_one_shot_frameworks (&l);
  TEST_INT (names->len, 3);
  TEST_STR (g_ptr_array_index (names, 0), "a");
  TEST_STR (g_ptr_array_index (names, 1), "b");
}

static void
mapped_data_are_not_copied (void)
{
  MdlLibrary l = library_of_kernels ();
  MdlOneShotKernel *kernel = BASE_LIST_AT (l.one_shot.kernels, MdlOneShotKernel, 1);
  MdlCollQuestion q = question (MDL_OP_ALL_REDUCE, 1e8, 8);
  q.launch = MDL_LAUNCH_THREADS;
  const double copied_s = shot_s (&l, &q);
  kernel->mapped.v = TRUE;
  TEST_NEAR (shot_s (&l, &q), copied_s - 2e-6 - 0.1, 1e-9); /* 2 us, and 100 MB at 1 GB/s */
}

static void
a_kernel_for_later_gpus_says_so (void)
{
  MdlLibrary l = library_of_kernels ();
  for (unsigned r = 0; r < l.one_shot.ranges.n; r++)
    BASE_LIST_AT (l.one_shot.ranges, MdlOneShotRange, r)->capability = num (1000);
  MdlCollQuestion q = question (MDL_OP_ALL_REDUCE, 1e3, 8);
  const MdlColl *coll = mdl_coll_find (MDL_ALGO_ONE_SHOT, MDL_OP_ALL_REDUCE);
  const char *reason = NULL;
  TEST_FALSE (mdl_coll_possible (&l, coll, MDL_PROTO_SIMPLE, &q, &reason));
  TEST_STR (reason, "this framework's kernels need Hopper or a later GPU; NCCL serves this one");
}

static const TestCase cases[] = {
  { "round trips and data make the time", round_trips_and_data_make_the_time },
  { "without a graph data are copied and Python calls", without_a_graph_data_are_copied_and_python_calls },
  { "kernels run where they can", kernels_run_where_they_can },
  { "mapped data are not copied", mapped_data_are_not_copied },
  { "a kernel for later GPUs says so", a_kernel_for_later_gpus_says_so },
  { "frameworks are listed once", frameworks_are_listed_once },
  { NULL, NULL },
};

int
main (void)
{
  return test_main ("models: kernels of frameworks", cases);
}
