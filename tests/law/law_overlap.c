/* What must hold of kernels beside collectives, with the constants that are shipped, over a grid of kernels and collectives. */
#include <math.h>

#include "constants/calibration.h"
#include "harness.h"
#include "models/overlap.h"

static const MdlGpu gpu = { .sms = 132, .memory_Bps = 4800e9, .memory_efficiency = 0.87 };
static const double loads[] = { 0, 0.1, 0.5, 1 }, channels[] = { 0, 1, 4, 16, 32, 64, 200 },
                    rates_Bps[] = { 0, 1e9, 100e9, 1e12, 6e12 };
static const MdlOverlap *spec;

typedef void (*Law) (const MdlOverlapCompute *compute, const MdlOverlapComm *comm, MdlSlowdown slow);

static void
everywhere (Law law)
{
  for (int kernel = 0; kernel < MDL_OVERLAP_KERNELS; kernel++)
    for (int kind = 0; kind < MDL_OVERLAP_COMMS; kind++)
      for (guint l = 0; l < G_N_ELEMENTS (loads); l++)
        for (guint c = 0; c < G_N_ELEMENTS (channels); c++)
          for (guint r = 0; r < G_N_ELEMENTS (rates_Bps); r++) {
            const MdlOverlapCompute compute = { (MdlOverlapKernel)kernel, fmax (loads[l], 0.05),
                                                (kernel == MDL_OVERLAP_MEMORY ? loads[l] : 0.1 * loads[l]) * 4176e9 };
            const MdlOverlapComm comm = { (MdlOverlapCommKind)kind, channels[c], rates_Bps[r] };
            law (&compute, &comm, mdl_overlap_pair (spec, &gpu, &compute, &comm));
          }
}

static void
finite_and_one_at_least (const MdlOverlapCompute *compute, const MdlOverlapComm *comm, MdlSlowdown slow)
{
  (void)compute;
  TEST_TRUE (isfinite (slow.compute) && isfinite (slow.comm) && slow.compute >= 1 && slow.comm >= 1);
  if (comm->channels <= 0 && comm->memory_Bps <= 0)
    TEST_TRUE (slow.compute <= 1 && slow.comm <= 1);
}

static void
more_channels (const MdlOverlapCompute *compute, const MdlOverlapComm *comm, MdlSlowdown slow)
{
  MdlOverlapComm more = *comm;
  more.channels += 3;
  const MdlSlowdown then = mdl_overlap_pair (spec, &gpu, compute, &more);
  TEST_TRUE (then.compute >= slow.compute * (1 - 1e-12));
  TEST_TRUE (then.comm <= slow.comm * (1 + 1e-12) || more.memory_Bps > 4176e9);
}

static void
more_traffic (const MdlOverlapCompute *compute, const MdlOverlapComm *comm, MdlSlowdown slow)
{
  MdlOverlapComm more = *comm;
  more.memory_Bps = 1.1 * more.memory_Bps + 1e6;
  const MdlSlowdown then = mdl_overlap_pair (spec, &gpu, compute, &more);
  TEST_TRUE (then.compute >= slow.compute * (1 - 1e-12));
  TEST_TRUE (then.comm * more.memory_Bps >= slow.comm * comm->memory_Bps);
}

static void
one_more_of_nothing (const MdlOverlapCompute *compute, const MdlOverlapComm *comm, MdlSlowdown slow)
{
  const MdlOverlapComm both[2] = { *comm, { MDL_OVERLAP_SM, 0, 0 } };
  double factor[2];
  TEST_NEAR (mdl_overlap_many (spec, &gpu, compute, both, 2, factor), slow.compute, 1e-12);
  TEST_NEAR (factor[0], slow.comm, 1e-12);
}

static void
no_sm_no_wait (const MdlOverlapCompute *compute, const MdlOverlapComm *comm, MdlSlowdown slow)
{
  (void)slow;
  double wait_s = mdl_overlap_wait_s (spec, &gpu, compute, comm, 1e-3, 8);
  TEST_TRUE (wait_s >= 0 && wait_s <= 1e-3);
  if (comm->kind == MDL_OVERLAP_COPY_ENGINE || comm->channels <= 0)
    TEST_TRUE (wait_s <= 0);
}

static void
factors_are_one_at_least_and_nothing_slows_nothing (void)
{
  everywhere (finite_and_one_at_least);
}

static void
more_channels_never_speed_the_kernel_up (void)
{
  everywhere (more_channels);
}

static void
more_traffic_never_speeds_anything_up (void)
{
  everywhere (more_traffic);
}

static void
a_collective_of_nothing_changes_nothing (void)
{
  everywhere (one_more_of_nothing);
}

static void
who_needs_no_sm_waits_for_none (void)
{
  everywhere (no_sm_no_wait);
}

/* Together is never faster than the longer side alone on the slowest GPU, nor slower than one after the other with what is lost. */
static void
the_total_lies_between_its_bounds (void)
{
  static const double compute_s[] = { 0.1e-3, 1e-3 }, comm_s[] = { 0.05e-3, 0.7e-3, 3e-3 };
  for (int kernel = 0; kernel < MDL_OVERLAP_KERNELS; kernel++)
    for (guint a = 0; a < G_N_ELEMENTS (compute_s); a++)
      for (guint b = 0; b < G_N_ELEMENTS (comm_s); b++)
        for (unsigned ranks = 1; ranks <= 8; ranks *= 2) {
          const MdlOverlapCompute compute = { (MdlOverlapKernel)kernel, 1, kernel == MDL_OVERLAP_MEMORY ? 4176e9 : 300e9 };
          const MdlOverlapComm comm = { MDL_OVERLAP_SM, 16, 500e9 };
          const MdlSlowdown slow = mdl_overlap_pair (spec, &gpu, &compute, &comm);
          MdlOverlapQueues out;
          mdl_overlap_queues (spec, &gpu, &(MdlOverlapQuery){ compute, compute_s[a], 50, comm, comm_s[b], 40, ranks }, &out);
          double compute_all_s = 50 * compute_s[a] * (1 + spec->spread.v), comm_all_s = 40 * comm_s[b];
          TEST_TRUE (out.total_s >= fmax (50 * compute_s[a] * (1 - 1e-9), comm_all_s * (1 - 1e-9)));
          TEST_TRUE (out.total_s <= compute_all_s * slow.compute + comm_all_s * slow.comm);
        }
}

int
main (void)
{
  static const TestCase cases[] = {
    { "factors are 1 at least, and nothing slows nothing", factors_are_one_at_least_and_nothing_slows_nothing },
    { "more channels never speed the kernel up", more_channels_never_speed_the_kernel_up },
    { "more traffic never speeds anything up", more_traffic_never_speeds_anything_up },
    { "a collective of nothing changes nothing", a_collective_of_nothing_changes_nothing },
    { "who needs no SM waits for none", who_needs_no_sm_waits_for_none },
    { "the total lies between its bounds", the_total_lies_between_its_bounds },
    { NULL, NULL },
  };
  g_autoptr (GError) error = NULL;
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_autoptr (Cst) cal = cst_load (&(CstQuery){ .gpu_type = "h200_sxm", .lookup = lookup }, &error);
  if (cal == NULL)
    g_error ("%s", error->message);
  spec = cst_library (cal)->overlap;
  return test_main ("laws of overlap", cases);
}
