#include <math.h>

#include "harness.h"
#include "models/overlap.h"

/* 100 SMs, 1000 GB/s; a channel passes 100 GB/s beside a GEMM, 50 beside what takes all of the memory. */
static const MdlGpu gpu = { .sms = 100, .memory_Bps = 2000e9, .memory_efficiency = 0.5 };
static const MdlOverlapCompute gemm = { MDL_OVERLAP_GEMM, 1, 0 }, copy = { MDL_OVERLAP_MEMORY, 1, 1000e9 };

static BaseNum
num (double v)
{
  return (BaseNum){ .v = v, .set = TRUE };
}

static MdlOverlap
constants (void)
{
  MdlOverlap spec = { 0 };
  spec.gemm.sm_cost = spec.attention.sm_cost = spec.memory.traffic_cost = spec.wait = spec.pairwise = num (1);
  spec.gemm.channel_traffic = spec.attention.channel_traffic = num (100e9);
  spec.memory.channel_traffic = num (50e9);
  return spec;
}

static void
a_channel_takes_an_sm_from_a_gemm (void)
{
  MdlOverlap spec = constants ();
  const MdlOverlapComm comm = { MDL_OVERLAP_SM, 20, 0 };
  TEST_NEAR (mdl_overlap_pair (&spec, &gpu, &gemm, &comm).compute, 1.25, 1e-12); /* 100 / 80 */
  const MdlOverlapCompute half = { MDL_OVERLAP_GEMM, 0.5, 0 };                   /* 50 SMs are enough for it */
  TEST_NEAR (mdl_overlap_pair (&spec, &gpu, &half, &comm).compute, 1, 0);
  spec.gemm.sm_cost = num (2);
  TEST_NEAR (mdl_overlap_pair (&spec, &gpu, &gemm, &comm).compute, 1.5, 1e-12);
}

static void
each_byte_of_a_channel_takes_longer_beside_a_gemm (void)
{
  MdlOverlap spec = constants ();
  /* 400 GB/s on 10 channels: 40 GB/s each pass at 100; a GEMM that is slowed by 1 / 0.9 loads as much less: 1 + 0.4 x 0.9 */
  const MdlOverlapComm comm = { MDL_OVERLAP_SM, 10, 400e9 };
  TEST_NEAR (mdl_overlap_pair (&spec, &gpu, &gemm, &comm).comm, 1.36, 1e-12);
  const MdlOverlapComm pairs = { MDL_OVERLAP_PAIRWISE, 10, 400e9 };
  spec.pairwise = num (2);
  TEST_NEAR (mdl_overlap_pair (&spec, &gpu, &gemm, &pairs).comm, 1.72, 1e-12);
}

static void
a_copy_loses_the_memory_that_a_collective_uses (void)
{
  MdlOverlap spec = constants ();
  spec.memory.channel_traffic = num (1e18); /* the collective is not slowed */
  const MdlOverlapComm comm = { MDL_OVERLAP_SM, 10, 200e9 };
  const MdlSlowdown slow = mdl_overlap_pair (&spec, &gpu, &copy, &comm);
  TEST_NEAR (slow.compute, 1.25, 1e-6); /* 1000 / (1000 - 200) GB/s */
  TEST_NEAR (slow.comm, 1, 1e-6);
}

static void
a_copy_engine_takes_no_sm_and_waits_for_none (void)
{
  const MdlOverlap spec = constants ();
  const MdlOverlapComm engine = { MDL_OVERLAP_COPY_ENGINE, 16, 100e9 };
  const MdlSlowdown slow = mdl_overlap_pair (&spec, &gpu, &gemm, &engine);
  TEST_NEAR (slow.compute, 1, 0);
  TEST_NEAR (slow.comm, 1, 0);
  TEST_NEAR (mdl_overlap_wait_s (&spec, &gpu, &gemm, &engine, 1e-3, 8), 0, 0);
}

static void
collectives_add_up_beside_one_kernel (void)
{
  const MdlOverlap spec = constants ();
  const MdlOverlapComm both[2] = { { MDL_OVERLAP_SM, 10, 100e9 }, { MDL_OVERLAP_IN_SWITCH, 10, 0 } };
  double factor[2];
  TEST_NEAR (mdl_overlap_many (&spec, &gpu, &gemm, both, 2, factor), 1.25, 1e-12);
  TEST_NEAR (factor[0], 1.08, 1e-12); /* 10 GB/s a channel at 100, beside a GEMM at 80 % of its pace */
  TEST_NEAR (factor[1], 1, 0);
  TEST_NEAR (mdl_overlap_many (&spec, &gpu, NULL, both, 2, factor), 1, 0);
  TEST_NEAR (factor[0], 1, 0);
}

static void
traffic_above_what_memory_reaches_is_shared (void)
{
  const MdlOverlap spec = constants ();
  const MdlOverlapComm both[2] = { { MDL_OVERLAP_COPY_ENGINE, 0, 1500e9 }, { MDL_OVERLAP_COPY_ENGINE, 0, 500e9 } };
  double factor[2];
  mdl_overlap_many (&spec, &gpu, NULL, both, 2, factor); /* 2000 of 1000 GB/s */
  TEST_NEAR (factor[0], 2, 1e-12);
  TEST_NEAR (factor[1], 2, 1e-12);
}

static void
bytes_are_counted_by_rank (void)
{
  /* 4 ranks: 3 of 4 parts are written by a peer and read twice over, the input is read and the output written */
  TEST_NEAR (mdl_overlap_memory_B (MDL_OP_ALL_REDUCE, MDL_OVERLAP_SM, 400, 4), 2000, 1e-12);
  TEST_NEAR (mdl_overlap_memory_B (MDL_OP_ALL_GATHER, MDL_OVERLAP_SM, 400, 4), 1100, 1e-12);
  TEST_NEAR (mdl_overlap_memory_B (MDL_OP_REDUCE_SCATTER, MDL_OVERLAP_SM, 400, 4), 1100, 1e-12);
  TEST_NEAR (mdl_overlap_memory_B (MDL_OP_ALLTOALL, MDL_OVERLAP_PAIRWISE, 400, 4), 1400, 1e-12);
  TEST_NEAR (mdl_overlap_memory_B (MDL_OP_ALL_GATHER, MDL_OVERLAP_COPY_ENGINE, 400, 4), 600, 1e-12);
  TEST_NEAR (mdl_overlap_memory_B (MDL_OP_ALL_REDUCE, MDL_OVERLAP_SM, 400, 1), 0, 0);
}

static void
a_collective_waits_for_the_last_rank (void)
{
  const MdlOverlap spec = constants ();
  const MdlOverlapComm comm = { MDL_OVERLAP_SM, 10, 0 };
  TEST_NEAR (mdl_overlap_wait_s (&spec, &gpu, &gemm, &comm, 1e-3, 1), 0.5e-3, 1e-12); /* half a kernel in the mean */
  TEST_NEAR (mdl_overlap_wait_s (&spec, &gpu, &gemm, &comm, 1e-3, 3), 0.75e-3, 1e-12);
  const MdlOverlapCompute small = { MDL_OVERLAP_GEMM, 0.9, 0 }; /* leaves its SMs free */
  TEST_NEAR (mdl_overlap_wait_s (&spec, &gpu, &small, &comm, 1e-3, 3), 0, 0);
}

/* ---- queues ---- */

static void
a_short_collective_runs_once_a_kernel (void)
{
  MdlOverlap spec = constants ();
  spec.gemm.sm_cost = num (0);
  const MdlOverlapComm comm = { MDL_OVERLAP_SM, 10, 0 };
  MdlOverlapQueues out;
  /* 10 kernels of 1 ms, 30 collectives of 0.1 ms: one begins with each kernel, the other 20 run when kernels are done */
  mdl_overlap_queues (&spec, &gpu, &(MdlOverlapQuery){ gemm, 1e-3, 10, comm, 0.1e-3, 30, 4 }, &out);
  TEST_NEAR (out.compute_s, 1e-3, 1e-9);
  TEST_NEAR (out.comm_s, 1e-3, 1e-9);
  TEST_NEAR (out.total_s, 12e-3, 1e-9);
}

static void
without_a_wait_collectives_follow_each_other (void)
{
  MdlOverlap spec = constants ();
  spec.gemm.sm_cost = spec.wait = num (0);
  const MdlOverlapComm comm = { MDL_OVERLAP_SM, 10, 0 };
  MdlOverlapQueues out;
  mdl_overlap_queues (&spec, &gpu, &(MdlOverlapQuery){ gemm, 1e-3, 10, comm, 0.1e-3, 90, 4 }, &out);
  TEST_NEAR (out.comm_s, 0.1e-3, 1e-6);
  TEST_NEAR (out.total_s, 10e-3, 1e-9);
}

static void
both_queues_slow_while_both_have_work (void)
{
  const MdlOverlap spec = constants ();
  /* 1.25 and 1 + 0.5 x 0.8 = 1.4: 100 ms of collective end after 140, the kernel has then done 112 of 200, and goes on */
  const MdlOverlapComm comm = { MDL_OVERLAP_SM, 20, 1000e9 };
  MdlOverlapQueues out;
  mdl_overlap_queues (&spec, &gpu, &(MdlOverlapQuery){ gemm, 200e-3, 1, comm, 100e-3, 1, 2 }, &out);
  TEST_NEAR (out.total_s, 228e-3, 1e-9);
  TEST_TRUE (isnan (out.compute_s)); /* of one, nothing can be told */
}

static void
an_empty_queue_leaves_the_other_alone (void)
{
  const MdlOverlap spec = constants ();
  const MdlOverlapComm comm = { MDL_OVERLAP_SM, 20, 1000e9 };
  MdlOverlapQueues out;
  mdl_overlap_queues (&spec, &gpu, &(MdlOverlapQuery){ gemm, 1e-3, 10, comm, 1e-3, 0, 4 }, &out);
  TEST_NEAR (out.total_s, 10e-3, 1e-9);
  mdl_overlap_queues (&spec, &gpu, &(MdlOverlapQuery){ gemm, 1e-3, 0, comm, 1e-3, 7, 4 }, &out);
  TEST_NEAR (out.total_s, 7e-3, 1e-9);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "a channel takes an SM from a GEMM", a_channel_takes_an_sm_from_a_gemm },
    { "each byte of a channel takes longer beside a GEMM", each_byte_of_a_channel_takes_longer_beside_a_gemm },
    { "a copy loses the memory that a collective uses", a_copy_loses_the_memory_that_a_collective_uses },
    { "a copy engine takes no SM and waits for none", a_copy_engine_takes_no_sm_and_waits_for_none },
    { "collectives add up beside one kernel", collectives_add_up_beside_one_kernel },
    { "traffic above what memory reaches is shared", traffic_above_what_memory_reaches_is_shared },
    { "bytes are counted by rank", bytes_are_counted_by_rank },
    { "a collective waits for the last rank", a_collective_waits_for_the_last_rank },
    { "a short collective runs once a kernel", a_short_collective_runs_once_a_kernel },
    { "without a wait collectives follow each other", without_a_wait_collectives_follow_each_other },
    { "both queues slow while both have work", both_queues_slow_while_both_have_work },
    { "an empty queue leaves the other alone", an_empty_queue_leaves_the_other_alone },
    { NULL, NULL },
  };
  return test_main ("overlap", cases);
}
