#include <math.h>

#include "harness.h"
#include "models/library-spec.h"
#include "models/transfer.h"

static BaseNum
num (double v)
{
  return (BaseNum){ .v = v, .set = TRUE, .source = BASE_SOURCE_MEASURED };
}

static void
without_a_library_a_copy_is_alpha_and_beta (void)
{
  MdlCollCost cost;
  /* 1 us + 10 GB / 50 GB/s = 0.200001 s */
  mdl_transfer_cost (NULL, MDL_COPY_RDMA, 10e9, 1e-6, 50e9, &cost);
  TEST_NEAR (cost.time_s, 0.200001, 1e-12);
  TEST_NEAR (cost.latency_s, 1e-6, 1e-12);
  TEST_TRUE (cost.link_bound);
}

static void
a_copier_adds_its_start_and_its_limit (void)
{
  MdlLibrary library = { 0 };
  library.copies.at[MDL_COPY_HOST].start = num (20e-6);
  library.copies.at[MDL_COPY_HOST].rate = num (10e9);
  MdlCollCost cost;
  /* 20 us + 1 us + 1 GB / min (10, 50) GB/s = 0.100021 s */
  mdl_transfer_cost (&library, MDL_COPY_HOST, 1e9, 1e-6, 50e9, &cost);
  TEST_NEAR (cost.time_s, 0.100021, 1e-12);
  TEST_FALSE (cost.link_bound);
  TEST_NEAR (cost.start_s, 20e-6, 1e-12);
}

static void
terms_of_a_copy_sum_to_its_time (void)
{
  MdlLibrary library = { 0 };
  library.copies.at[MDL_COPY_DMA].start = num (5.4e-6);
  MdlCollCost cost;
  mdl_transfer_cost (&library, MDL_COPY_DMA, 123456.0, 0.4e-6, 55e9, &cost);
  double sum_s = 0.0;
  for (unsigned i = 0; i < cost.n_terms; i++)
    sum_s += cost.term[i].value_s;
  TEST_INT (cost.n_terms, 3);
  TEST_NEAR (sum_s, cost.time_s, 1e-14);
}

static void
nothing_to_copy_costs_the_latency (void)
{
  MdlCollCost cost;
  mdl_transfer_cost (NULL, MDL_COPY_DMA, 0.0, 2e-6, 50e9, &cost);
  TEST_NEAR (cost.time_s, 2e-6, 1e-15);
  mdl_transfer_cost (NULL, MDL_COPY_DMA, 1e9, 2e-6, (double)INFINITY, &cost); /* the same device: nothing is crossed */
  TEST_NEAR (cost.time_s, 2e-6, 1e-15);
}

static void
the_ramp_reaches_half_at_its_half (void)
{
  TEST_NEAR (mdl_ramp (4096.0, 4096.0), 0.5, 1e-15);
  TEST_NEAR (mdl_ramp (3.0, 1.0), 0.75, 1e-15);
  TEST_NEAR (mdl_ramp (0.0, 0.0), 0.0, 0.0);
  TEST_NEAR (mdl_ramp (8.0, 0.0), 1.0, 1e-15);
}

static const TestCase cases[] = {
  { "without a library a copy is alpha and beta", without_a_library_a_copy_is_alpha_and_beta },
  { "a copier adds its start and its limit", a_copier_adds_its_start_and_its_limit },
  { "terms of a copy sum to its time", terms_of_a_copy_sum_to_its_time },
  { "nothing to copy costs the latency", nothing_to_copy_costs_the_latency },
  { "the ramp reaches half at its half", the_ramp_reaches_half_at_its_half },
  { NULL, NULL },
};

int
main (void)
{
  return test_main ("models: copies", cases);
}
