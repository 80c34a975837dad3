/* A tier of 4 servers with 2 targets each: every number follows from these. */
#include <math.h>

#include "harness.h"
#include "models/tier.h"

static BaseNum
num (double v)
{
  return (BaseNum){ .v = v, .set = TRUE, .source = BASE_SOURCE_MEASURED };
}

/* 10 GB/s a server, 2 GB/s a target, 100 us, 100 kIOPS a server; corners. */
static MdlTier
tier (void)
{
  MdlTier t = { .servers = 4 };
  t.type.side[MDL_IO_READ] = (MdlTierSide){ .rate = num (10e9), .target = num (2e9), .iops = num (100e3), .latency = num (100e-6) };
  t.type.targets = num (2);
  t.type.blend = num (16);
  return t;
}

static MdlTierCost
query (const MdlTier *t, MdlTierQuestion q)
{
  MdlTierCost cost;
  mdl_tier_cost (t, &q, NULL, &cost);
  return cost;
}

static const MdlTierQuestion large = { .op = MDL_IO_READ, .block_B = 100e6, .in_flight = 64, .clients = 1 };

static void
targets_that_a_file_lies_on_add (void)
{
  MdlTier t = tier ();
  for (double stripes = 1; stripes <= 8; stripes *= 2) {
    MdlTierQuestion q = large;
    q.stripes = stripes;
    MdlTierCost cost = query (&t, q);
    TEST_NEAR (cost.all.rate_Bps, stripes * 2e9, 2e-3);
    TEST_TRUE (cost.by_targets);
  }
  TEST_NEAR (mdl_tier_targets (&t), 8, 0);
  TEST_NEAR (mdl_tier_file_targets (&t), 8, 0);
  t.type.stripe.count = num (3);
  TEST_NEAR (mdl_tier_file_targets (&t), 3, 0);
}

static void
a_file_that_all_share_has_its_own_targets_alone (void)
{
  const MdlTier t = tier ();
  MdlTierQuestion q = large;
  q.stripes = 1;
  q.clients = 8;
  TEST_NEAR (query (&t, q).all.rate_Bps, 16e9, 2e-3); /* eight files on eight targets */
  q.shared = TRUE;
  TEST_NEAR (query (&t, q).all.rate_Bps, 2e9, 2e-3);
  TEST_NEAR (query (&t, q).client_rate_Bps, 0.25e9, 2e-3);
}

static void
servers_and_clients_and_their_efficiency_bound (void)
{
  MdlTier t = tier ();
  t.type.targets = num (100);
  TEST_NEAR (mdl_tier_rate_Bps (&t, MDL_IO_READ), 40e9, 1e-12);
  t.type.efficiency = num (0.8);
  TEST_NEAR (query (&t, large).all.rate_Bps, 32e9, 2e-3);
  t.type.side[MDL_IO_READ].client = num (5e9);
  MdlTierCost cost = query (&t, large);
  TEST_NEAR (cost.all.rate_Bps, 5e9, 2e-3);
  TEST_TRUE (cost.by_client);
  MdlTierQuestion q = large;
  q.clients = 4;
  TEST_NEAR (query (&t, q).all.rate_Bps, 20e9, 2e-3);
}

static void
small_files_are_bound_by_their_metadata (void)
{
  MdlTier t = tier ();
  t.type.metadata = (MdlTierMetadata){ .servers = num (1), .rate = num (10e3), .latency = num (1e-3), .per_file = num (2) };
  MdlTierQuestion q = { .op = MDL_IO_READ, .block_B = 100e3, .in_flight = 1000, .clients = 1, .file_B = 100e3 };
  /* 2 operations a file of one request, 200 us; 2.5 us of IOPS and 6.25 us of bytes beside them */
  MdlTierCost cost = query (&t, q);
  TEST_NEAR (cost.opens_per_s, 1 / 208.75e-6, 1e-6);
  TEST_TRUE (cost.by_metadata);
  q.in_flight = 1; /* 100 us, two operations of 1 ms */
  TEST_NEAR (1 / query (&t, q).all.iops, 2.1e-3, 0.05);
  q.file_B = 0;
  q.in_flight = 1000;
  TEST_FALSE (query (&t, q).by_metadata);
}

static void
volumes_cap_bytes_and_requests_apart (void)
{
  MdlTier t = tier ();
  t.servers = 1;
  t.type.targets.set = FALSE;
  t.type.kind.v = MDL_TIER_BLOCK;
  t.type.side[MDL_IO_READ] = (MdlTierSide){ .rate = num (1e9), .iops = num (10e3) };
  MdlTierQuestion q = { .op = MDL_IO_READ, .block_B = 100e3, .in_flight = 100, .clients = 1 };
  TEST_NEAR (query (&t, q).all.rate_Bps, 1e9, 1e-6); /* both caps are met at once */
  q.block_B = 10e3;
  TEST_NEAR (query (&t, q).all.rate_Bps, 0.1e9, 1e-6);
}

static void
credits_last_as_long_as_they_are_more_than_the_lasting_rate (void)
{
  MdlTier t = tier ();
  t.servers = 1;
  t.type.kind.v = MDL_TIER_BLOCK;
  t.type.targets.set = FALSE;
  t.type.side[MDL_IO_READ] = (MdlTierSide){ .iops = num (1500) };
  t.type.burst = (MdlTierBurst){ .head = { .set = TRUE }, .iops = num (3000), .io_credit = num (5.4e6) };
  MdlTierQuestion q = { .op = MDL_IO_READ, .block_B = 16384, .in_flight = 64, .clients = 1, .burst = TRUE };
  MdlTierCost burst = query (&t, q);
  TEST_NEAR (burst.all.iops, 3000, 1e-6);
  TEST_NEAR (mdl_tier_burst_s (&t, &q, &burst), 3600, 1e-6); /* 5.4 M over 1500 a second */
  burst.all.iops = 1500;
  TEST_TRUE (isinf (mdl_tier_burst_s (&t, &q, &burst)));
}

static void
a_page_cache_holds_all_part_or_thrashes (void)
{
  TEST_NEAR (mdl_cache_hits (MDL_CACHE_COLD, 1, 2, TRUE), 0, 0);
  TEST_NEAR (mdl_cache_hits (MDL_CACHE_WARM, 1, 2, FALSE), 1, 0);
  TEST_NEAR (mdl_cache_hits (MDL_CACHE_WARM, 4, 2, TRUE), 0.5, 0);
  TEST_NEAR (mdl_cache_hits (MDL_CACHE_WARM, 4, 2, FALSE), 0, 0);
}

static void
copies_and_parity_take_their_part_of_writes (void)
{
  static const struct {
    MdlTierRedundancy here, of_type;
    double rate_Bps, iops, latency_s, stored;
  } rows[] = {
    /* 4 servers of 10 GB/s, 8 targets of 4 GB/s: 32 GB/s of drives; 100 kIOPS a server; 100 us */
    { { .reads.v = 0 }, { .reads.v = 0 }, 32e9, 400e3, 100e-6, 1 },
    { { .replicas = { .v = 2, .set = TRUE } }, { .reads.v = 0 }, 16e9, 200e3, 200e-6, 2 },
    { { .replicas = { .v = 4, .set = TRUE }, .sent_by.v = MDL_COPIES_CHAIN }, { .reads.v = 0 }, 8e9, 100e3, 400e-6, 4 },
    { { .data = { .v = 2, .set = TRUE }, .parity = { .v = 2, .set = TRUE } }, { .reads.v = 0 }, 16e9, 100e3, 200e-6, 2 },
    { { .data = { .v = 3, .set = TRUE }, .parity = { .v = 1, .set = TRUE }, .sent_by.v = MDL_COPIES_CLIENT },
      { .reads.v = 0 },
      24e9,
      100e3,
      100e-6,
      4.0 / 3 },
    /* the type's figures have two in them: four halve them, none doubles them */
    { { .replicas = { .v = 4, .set = TRUE } }, { .replicas = { .v = 2, .set = TRUE } }, 16e9, 200e3, 100e-6, 4 },
    { { .replicas = { .v = 1, .set = TRUE } }, { .replicas = { .v = 2, .set = TRUE } }, 64e9, 800e3, 50e-6, 1 },
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++) {
    MdlTier t = tier ();
    t.type.side[MDL_IO_WRITE] = t.type.side[MDL_IO_READ];
    t.type.side[MDL_IO_WRITE].target = num (4e9);
    t.type.redundancy = rows[i].of_type;
    t.redundancy = rows[i].here;
    t.redundancy.head.set = t.redundancy.replicas.set || t.redundancy.data.set;
    TEST_NEAR (mdl_redundancy_stored (mdl_tier_redundancy (&t)), rows[i].stored, 1e-12);
    TEST_NEAR (mdl_tier_rate_Bps (&t, MDL_IO_WRITE), rows[i].rate_Bps, 1e-12);
    TEST_NEAR (mdl_tier_rate_Bps (&t, MDL_IO_READ), 16e9, 1e-12);
    MdlTierQuestion q = { .op = MDL_IO_WRITE, .block_B = 1, .in_flight = 1e6, .clients = 1 };
    TEST_NEAR (query (&t, q).all.iops, rows[i].iops, 1e-3);
    q.in_flight = 1;
    TEST_NEAR (query (&t, q).all.time_s, rows[i].latency_s, 1e-3);
    q = (MdlTierQuestion){ .op = MDL_IO_WRITE, .block_B = 100e6, .in_flight = 1e3, .clients = 8 };
    TEST_NEAR (query (&t, q).all.rate_Bps * mdl_tier_busy_s_per_B (&t, &q), 1, 0.01); /* as busy as can be */
  }
}

static void
a_hot_file_is_read_from_all_of_its_replicas (void)
{
  MdlTier t = tier ();
  MdlTierQuestion q = large;
  q.stripes = 1;
  q.clients = 8;
  q.shared = TRUE;
  TEST_NEAR (query (&t, q).all.rate_Bps, 2e9, 2e-3);
  t.redundancy = (MdlTierRedundancy){ .head.set = TRUE, .replicas = num (3), .sent_by.v = MDL_COPIES_CHAIN };
  TEST_NEAR (query (&t, q).all.rate_Bps, 6e9, 2e-3);
  t.redundancy.reads.v = 1;
  TEST_NEAR (query (&t, q).all.rate_Bps, 2e9, 2e-3);
  t.redundancy = (MdlTierRedundancy){ .head.set = TRUE, .data = num (4), .parity = num (2) };
  TEST_NEAR (query (&t, q).all.rate_Bps, 2e9, 2e-3);
}

/* 1 kIOPS in order and 250 at random, 8 kB merged: blocks of 2 kB come 4 at a time in order. */
static void
requests_at_random_are_not_merged (void)
{
  MdlTier t = { .servers = 1 };
  t.type.kind.v = MDL_TIER_BLOCK;
  t.type.side[MDL_IO_READ] = (MdlTierSide){ .iops = num (1e3), .random_iops = num (250), .random_latency = num (1) };
  t.type.merge = num (8e3);
  t.type.blend = num (16);
  MdlTierQuestion q = { .op = MDL_IO_READ, .block_B = 2e3, .in_flight = 1e6, .clients = 1 };
  TEST_NEAR (query (&t, q).all.iops, 4e3, 1e-6);
  q.random = TRUE;
  TEST_NEAR (query (&t, q).all.iops, 250, 1e-6);
  q.in_flight = 1;
  TEST_NEAR (query (&t, q).all.time_s, 1, 1e-6);
  TEST_NEAR (mdl_tier_request_B (&t, 4096, 0), 131072, 0);
  TEST_NEAR (mdl_tier_request_B (&t, 4096, 1e6), 1e6, 0);
  t.type.read_ahead = num (4e6);
  TEST_NEAR (mdl_tier_request_B (&t, 4096, 0), 4e6, 0);
  TEST_NEAR (mdl_tier_request_B (&t, 8e6, 0), 8e6, 0);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "targets that a file lies on add", targets_that_a_file_lies_on_add },
    { "a file that all share has its own targets alone", a_file_that_all_share_has_its_own_targets_alone },
    { "servers and clients and their efficiency bound", servers_and_clients_and_their_efficiency_bound },
    { "small files are bound by their metadata", small_files_are_bound_by_their_metadata },
    { "volumes cap bytes and requests apart", volumes_cap_bytes_and_requests_apart },
    { "requests at random are not merged", requests_at_random_are_not_merged },
    { "credits last as long as they are more than the lasting rate", credits_last_as_long_as_they_are_more_than_the_lasting_rate },
    { "a page cache holds all, a part, or thrashes", a_page_cache_holds_all_part_or_thrashes },
    { "copies and parity take their part of writes", copies_and_parity_take_their_part_of_writes },
    { "a hot file is read from all of its replicas", a_hot_file_is_read_from_all_of_its_replicas },
    { NULL, NULL },
  };
  return test_main ("models/tier", cases);
}
