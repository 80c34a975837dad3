/* Collectives by copy engines: syncs, copies one after another, who they serve, and what a launch takes. */
#include "coll_fixture.h"

static BaseStr
version (const char *v)
{
  return (BaseStr){ .v = v, .set = TRUE };
}

/* 4 us a batch, 0.5 us one that only waits, 1 us an operation, 2 us a copy, 5 us and 1 GB/s for the own part; engines
 * fill the links like kernels. */
static MdlLibrary
library_of_engines (void)
{
  MdlLibrary l = simple_library ();
  memset (&l.launch, 0, sizeof l.launch);
  l.version = "2.28.9";
  l.copy_engine = (MdlCopyEngineSpec){ .from = version ("2.28"),
                                       .puts_from = version ("2.29"),
                                       .flags_from = version ("2.29"),
                                       .threshold_from = version ("2.29"),
                                       .threshold = num (1000),
                                       .batch = num (4e-6),
                                       .operation = num (1e-6),
                                       .wait = num (0.5e-6),
                                       .copy = num (2e-6),
                                       .own = num (5e-6),
                                       .own_rate = num (1e9),
                                       .wire = num (1),
                                       .launch = num (100e-6),
                                       .flag_launch = num (5e-6),
                                       .put_launch = num (60e-6),
                                       .wait_launch = num (30e-6) };
  return l;
}

static double
engines_s (const MdlLibrary *library, const MdlCollQuestion *q)
{
  return time_of (library, MDL_ALGO_COPY_ENGINE, MDL_PROTO_SIMPLE, q);
}

static void
copies_follow_each_other_between_two_syncs (void)
{
  MdlLibrary l = library_of_engines ();
  MdlCollQuestion q = question (MDL_OP_ALL_GATHER, 0, 4);
  q.launch = MDL_LAUNCH_REGISTERED; /* a replayed graph: 6 writes and waits, 4 flags put back */
  TEST_NEAR (engines_s (&l, &q), 2 * (4e-6 + 10e-6) + 3 * 2e-6 + 5e-6, 1e-12);
  l.version = "2.29.7"; /* 3 waits, 4 flags put back, 3 flags copied */
  TEST_NEAR (engines_s (&l, &q), 2 * (0.5e-6 + 7e-6 + 6e-6) + 3 * 2e-6 + 5e-6, 1e-12);
  q.multicast = TRUE; /* one flag */
  TEST_NEAR (engines_s (&l, &q), 2 * (0.5e-6 + 7e-6 + 2e-6) + 3 * 2e-6 + 5e-6, 1e-12);
  q.size_B = 4e6; /* the own part 1 ms, then 2 GB/s */
  q.link_rate_Bps = 2e9;
  TEST_NEAR (engines_s (&l, &q), 30e-6 + 1e-3 + 2e-3, 1e-12);
  MdlCollCost cost;
  mdl_coll_cost (&l, mdl_coll_find (MDL_ALGO_COPY_ENGINE, q.op), MDL_PROTO_SIMPLE, &q, &cost);
  TEST_INT (cost.channels, 0); /* no multiprocessor */
}

static void
a_put_is_one_copy_and_its_signal (void)
{
  MdlLibrary l = library_of_engines ();
  l.version = "2.30.7";
  MdlCollQuestion q = question (MDL_OP_SENDRECV, 1e6, 8);
  q.link_rate_Bps = 1e9;
  q.multicast = TRUE; /* nobody but the peer hears of it */
  q.launch = MDL_LAUNCH_GRAPH; /* both ends wait and reset, data, signal and its answer are copied */
  TEST_NEAR (engines_s (&l, &q), 2 * (0.5e-6 + 2e-6) + 3 * 2e-6 + 1e-3, 1e-12);
  q.launch = MDL_LAUNCH_THREADS; /* the signal's number is written, the other end waits; no answer */
  TEST_NEAR (engines_s (&l, &q), 2 * (0.5e-6 + 1e-6) + 2 * 2e-6 + 1e-3, 1e-12);
  q.size_B = 0; /* the CPU puts, then waits */
  TEST_NEAR (engines_s (&l, &q), 90e-6, 1e-12);
  q.one_way = TRUE; /* it does one of the two */
  TEST_NEAR (engines_s (&l, &q), 60e-6, 1e-12);
}

static void
a_plain_call_takes_the_cpu_its_own_time (void)
{
  MdlLibrary l = library_of_engines ();
  l.launch.at[MDL_LAUNCH_SERIAL].per_gpu = num (1);
  MdlCollQuestion q = question (MDL_OP_ALLTOALL, 0, 4);
  q.launch = MDL_LAUNCH_SERIAL;
  TEST_NEAR (engines_s (&l, &q), 400e-6, 1e-12);
  l.version = "2.29.7"; /* three flags in each of two syncs */
  TEST_NEAR (engines_s (&l, &q), 4 * (100e-6 + 6 * 5e-6), 1e-12);
}

static void
they_serve_windows_that_ask_for_them (void)
{
  MdlLibrary l = library_of_engines ();
  MdlCollQuestion q = question (MDL_OP_ALL_GATHER, 1e6, 8);
  TEST_TRUE (mdl_copy_engine_chosen (&l, &q, TRUE, 10));
  TEST_FALSE (mdl_copy_engine_chosen (&l, &q, FALSE, 1e9));
  q.compute_capability = 100; /* Blackwell: large all-gathers, from 2.29 on */
  TEST_FALSE (mdl_copy_engine_chosen (&l, &q, FALSE, 1e9));
  l.version = "2.29.2";
  TEST_TRUE (mdl_copy_engine_chosen (&l, &q, FALSE, 1001));
  TEST_FALSE (mdl_copy_engine_chosen (&l, &q, FALSE, 1000));
  q.op = MDL_OP_ALL_REDUCE;
  TEST_FALSE (mdl_copy_engine_chosen (&l, &q, TRUE, 1e9));
  TEST_STR (mdl_copy_engine_why_not (&l, &q), "copy engines add nothing; they serve all-gather and all-to-all");
}

static const char *
reason (const MdlLibrary *library, MdlProto proto, const MdlCollQuestion *q)
{
  const char *why = "none";
  mdl_coll_possible (library, mdl_coll_find (MDL_ALGO_COPY_ENGINE, q->op), proto, q, &why);
  return why;
}

static void
they_say_where_they_cannot_run (void)
{
  MdlLibrary l = library_of_engines ();
  MdlCollQuestion q = question (MDL_OP_ALL_GATHER, 1e6, 8), put = question (MDL_OP_SENDRECV, 1e6, 8);
  TEST_STR (reason (&l, MDL_PROTO_SIMPLE, &q), "none");
  TEST_STR (reason (&l, MDL_PROTO_LL, &q), "copy engines move data as they are: simple");
  TEST_STR (reason (&l, MDL_PROTO_SIMPLE, &put), "NCCL has one-sided puts from 2.29 on");
  q.compute_capability = 80;
  TEST_STR (reason (&l, MDL_PROTO_SIMPLE, &q), "collectives by copy engines are modelled from Hopper on: none was measured before");
  q.switched = FALSE;
  TEST_STR (reason (&l, MDL_PROTO_SIMPLE, &q), "it needs NVLink between all GPUs");
  q.n_nodes = 2;
  TEST_HAS (reason (&l, MDL_PROTO_SIMPLE, &q), "over several NVLink domains");
  l.version = "2.27.7";
  TEST_STR (reason (&l, MDL_PROTO_SIMPLE, &q), "NCCL has collectives by copy engines from 2.28 on");
  l.copy_engine.batch.set = FALSE;
  TEST_STR (reason (&l, MDL_PROTO_SIMPLE, &q), "NCCL's collectives by copy engines are for NVIDIA GPUs only");
}

static const TestCase cases[] = {
  { "copies follow each other between two syncs", copies_follow_each_other_between_two_syncs },
  { "a put is one copy and its signal", a_put_is_one_copy_and_its_signal },
  { "a plain call takes the CPU its own time", a_plain_call_takes_the_cpu_its_own_time },
  { "they serve windows that ask for them", they_serve_windows_that_ask_for_them },
  { "they say where they cannot run", they_say_where_they_cannot_run },
  { NULL, NULL },
};

int
main (void)
{
  return test_main ("models: collectives by copy engines", cases);
}
