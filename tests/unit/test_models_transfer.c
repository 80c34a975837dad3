#include <math.h>

#include "harness.h"
#include "models/library-spec.h"
#include "models/links.h"

static BaseNum
num (double v)
{
  return (BaseNum){ .v = v, .set = TRUE, .source = BASE_SOURCE_MEASURED };
}

/* By a library that has nothing but these copies; NULL: none. */
static void
price (const MdlLinks *links, MdlTransfer transfer, MdlCollCost *cost)
{
  const MdlLibrary library = { .links = links };
  mdl_transfer_cost (links != NULL ? &library : NULL, &transfer, cost);
}

static void
without_a_library_a_copy_is_alpha_and_beta (void)
{
  MdlCollCost cost;
  /* 1 us + 10 GB / 50 GB/s = 0.200001 s */
  price (NULL, (MdlTransfer){ MDL_COPY_RDMA, 10e9, 1e-6, 50e9, FALSE, 1, 0, 0, 0, FALSE }, &cost);
  TEST_NEAR (cost.time_s, 0.200001, 1e-12);
  TEST_NEAR (cost.latency_s, 1e-6, 1e-12);
  TEST_TRUE (cost.link_bound);
}

static void
a_copier_adds_its_start_and_its_limit (void)
{
  MdlLinks links = { 0 };
  links.copies.at[MDL_COPY_HOST].start = num (20e-6);
  links.copies.at[MDL_COPY_HOST].rate = num (10e9);
  MdlCollCost cost;
  /* 20 us + 1 us + 1 GB / min (10, 50) GB/s = 0.100021 s */
  price (&links, (MdlTransfer){ MDL_COPY_HOST, 1e9, 1e-6, 50e9, FALSE, 1, 0, 0, 0, FALSE }, &cost);
  TEST_NEAR (cost.time_s, 0.100021, 1e-12);
  TEST_FALSE (cost.link_bound);
  TEST_NEAR (cost.start_s, 20e-6, 1e-12);
}

static void
a_queued_copy_hides_its_launch_and_its_way (void)
{
  MdlLinks links = { 0 };
  links.copies.at[MDL_COPY_DMA].start = num (6e-6);
  MdlCollCost cost;
  /* nothing is known of queued ones: 6 + 1 us + 1 MB / 50 GB/s = 27 us */
  price (&links, (MdlTransfer){ MDL_COPY_DMA, 1e6, 1e-6, 50e9, TRUE, 1, 0, 0, 0, FALSE }, &cost);
  TEST_NEAR (cost.time_s, 27e-6, 1e-15);
  links.copies.at[MDL_COPY_DMA].queued = num (2e-6);
  price (&links, (MdlTransfer){ MDL_COPY_DMA, 1e6, 1e-6, 50e9, TRUE, 1, 0, 0, 0, FALSE }, &cost); /* 2 us + 20 us */
  TEST_NEAR (cost.time_s, 22e-6, 1e-15);
  price (&links, (MdlTransfer){ MDL_COPY_DMA, 1e6, 1e-6, 50e9, FALSE, 1, 0, 0, 0, FALSE }, &cost);
  TEST_NEAR (cost.time_s, 27e-6, 1e-15);
}

static void
copies_at_once_crowd_each_other (void)
{
  MdlLinks links = { 0 };
  links.copies.at[MDL_COPY_DMA].contention = num (1.5);
  MdlCollCost cost;
  /* one: 1 GB / 50 GB/s = 20 ms; of three each 1 + 1.5 (1 - 1/3) = 2 times as long */
  price (&links, (MdlTransfer){ MDL_COPY_DMA, 1e9, 0, 50e9, FALSE, 1, 0, 0, 0, FALSE }, &cost);
  TEST_NEAR (cost.time_s, 0.02, 1e-12);
  price (&links, (MdlTransfer){ MDL_COPY_DMA, 1e9, 0, 50e9, FALSE, 3, 0, 0, 0, FALSE }, &cost);
  TEST_NEAR (cost.time_s, 0.04, 1e-12);
  TEST_NEAR (cost.wire, 2, 1e-12);
}

static void
pageable_memory_goes_by_the_cpus_cache_and_blocks (void)
{
  MdlLinks links = { 0 };
  MdlCopySpec *in = &links.copies.at[MDL_COPY_H2D_PAGEABLE], *out = &links.copies.at[MDL_COPY_D2H_PAGEABLE];
  in->rate = num (10e9);
  in->cached = num (2);
  in->cache = num (1e6);
  out->rate = num (10e9);
  out->block = num (1e6);
  MdlCollCost cost;
  /* as much as the cache: half way between 50 and 100 ps a byte: 75 us */
  price (&links, (MdlTransfer){ MDL_COPY_H2D_PAGEABLE, 1e6, 0, 50e9, FALSE, 1, 0, 0, 0, FALSE }, &cost);
  TEST_NEAR (cost.time_s, 75e-6, 1e-15);
  /* a block of 1 MB over the route's 50 GB/s, 20 us, and 2 MB at 10 GB/s; half a block takes half of that */
  price (&links, (MdlTransfer){ MDL_COPY_D2H_PAGEABLE, 2e6, 0, 50e9, FALSE, 1, 0, 0, 0, FALSE }, &cost);
  TEST_NEAR (cost.time_s, 220e-6, 1e-15);
  price (&links, (MdlTransfer){ MDL_COPY_D2H_PAGEABLE, 5e5, 0, 50e9, FALSE, 1, 0, 0, 0, FALSE }, &cost);
  TEST_NEAR (cost.time_s, 60e-6, 1e-15);
}

static void
a_measured_band_stands_before_the_librarys (void)
{
  MdlLinks links = { .error = num (0.05) };
  MdlLibrary library = { .links = &links };
  library.assumed_error.small = num (0.5);
  MdlCollCost cost;
  mdl_transfer_cost (&library, &(MdlTransfer){ MDL_COPY_DMA, 0, 1e-6, 50e9, FALSE, 1, 0, 0, 0, FALSE }, &cost);
  TEST_NEAR (cost.band, 0.05, 0);
  links.copies.at[MDL_COPY_DMA].start = (BaseNum){ .v = 1e-6, .set = TRUE, .source = BASE_SOURCE_ASSUMED };
  library.small_max = num (1e3);
  mdl_transfer_cost (&library, &(MdlTransfer){ MDL_COPY_DMA, 0, 1e-6, 50e9, FALSE, 1, 0, 0, 0, FALSE }, &cost);
  TEST_NEAR (cost.band, 0.5, 0);
}

static void
terms_of_a_copy_sum_to_its_time (void)
{
  MdlLinks links = { 0 };
  links.copies.at[MDL_COPY_DMA].start = num (5.4e-6);
  MdlCollCost cost;
  price (&links, (MdlTransfer){ MDL_COPY_DMA, 123456.0, 0.4e-6, 55e9, FALSE, 1, 0, 0, 0, FALSE }, &cost);
  double sum_s = 0.0;
  for (unsigned i = 0; i < cost.n_terms; i++)
    sum_s += cost.term[i].value_s;
  TEST_INT (cost.n_terms, 3);
  TEST_NEAR (sum_s, cost.time_s, 1e-14);
}

static void
storage_at_an_end_adds_its_latency_and_bounds (void)
{
  MdlCollCost cost;
  price (NULL, (MdlTransfer){ MDL_COPY_DMA, 1e9, 1e-6, 50e9, FALSE, 1, 80e-6, 2e9, 0, FALSE }, &cost);
  TEST_NEAR (cost.time_s, 81e-6 + 0.5, 1e-12); /* 1 GB at 2 of the route's 50 GB/s */
  TEST_NEAR (cost.bound_Bps, 2e9, 0);
  price (NULL, (MdlTransfer){ MDL_COPY_DMA, 1e9, 1e-6, 50e9, FALSE, 1, 80e-6, 0, 0, FALSE }, &cost);
  TEST_NEAR (cost.time_s, 81e-6 + 0.02, 1e-12);
}

static void
streams_of_tcp_add_up_to_what_the_route_carries (void)
{
  MdlLibrary library = { 0 };
  MdlLinks copies = { 0 };
  MdlCollCost cost;
  library.links = &copies;
  copies.copies.at[MDL_COPY_TCP].rate = (BaseNum){ .v = 1e9, .set = TRUE };
  static const double rates_Bps[] = { 1e9, 4e9, 10e9 }, streams[] = { 0, 4, 16 };
  for (unsigned i = 0; i < G_N_ELEMENTS (streams); i++) {
    mdl_transfer_cost (&library,
                       &(MdlTransfer){ .copy = MDL_COPY_TCP, .size_B = 1e9, .route_rate_Bps = 10e9, .streams = streams[i] }, &cost);
    TEST_NEAR (cost.time_s, 1e9 / rates_Bps[i], 1e-12);
  }
}

static void
nothing_to_copy_costs_the_latency (void)
{
  MdlCollCost cost;
  price (NULL, (MdlTransfer){ MDL_COPY_DMA, 0.0, 2e-6, 50e9, FALSE, 1, 0, 0, 0, FALSE }, &cost);
  TEST_NEAR (cost.time_s, 2e-6, 1e-15);
  price (NULL, (MdlTransfer){ MDL_COPY_DMA, 1e9, 2e-6, (double)INFINITY, FALSE, 1, 0, 0, 0, FALSE },
         &cost); /* the same device: nothing is crossed */
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
  { "a queued copy hides its launch and its way", a_queued_copy_hides_its_launch_and_its_way },
  { "copies at once crowd each other", copies_at_once_crowd_each_other },
  { "pageable memory goes by the CPU's cache and blocks", pageable_memory_goes_by_the_cpus_cache_and_blocks },
  { "a measured band stands before the library's", a_measured_band_stands_before_the_librarys },
  { "terms of a copy sum to its time", terms_of_a_copy_sum_to_its_time },
  { "storage at an end adds its latency and bounds", storage_at_an_end_adds_its_latency_and_bounds },
  { "streams of TCP add up to what the route carries", streams_of_tcp_add_up_to_what_the_route_carries },
  { "nothing to copy costs the latency", nothing_to_copy_costs_the_latency },
  { "the ramp reaches half at its half", the_ramp_reaches_half_at_its_half },
  { NULL, NULL },
};

int
main (void)
{
  return test_main ("models: copies", cases);
}
