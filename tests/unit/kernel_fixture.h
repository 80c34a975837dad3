/* A GPU of a shipped topology and the constants of its kernels. */
#ifndef KERNEL_FIXTURE_H
#define KERNEL_FIXTURE_H

#include "constants/calibration.h"
#include "harness.h"
#include "models/kernel.h"
#include "collective/gpu.h"

typedef struct {
  Clu *clu;
  Cst *cal;
  const MdlKernels *kernels;
  MdlGpu gpu;
} KernelFixture;

/* The constants are those of `calibration`; NULL: of the GPU. */
static inline void
kernel_fixture_open (KernelFixture *f, const char *topology, const char *calibration)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  const CluLoadOptions options = { .seed = 1 };
  f->clu = clu_load (topology, NULL, lookup, NULL, &options, NULL, &error);
  g_assert_no_error (error);
  col_gpu_facts (f->clu, 0, &f->gpu);
  f->cal = cst_load (&(CstQuery){ .name = calibration, .gpu_type = f->gpu.name, .lookup = lookup }, &error);
  g_assert_no_error (error);
  f->kernels = cst_library (f->cal)->kernels;
}

static inline void
kernel_fixture_close (KernelFixture *f)
{
  cst_free (f->cal);
  clu_free (f->clu);
}

#endif
