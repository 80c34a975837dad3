/* Reads and writes of a storage with 100 us of latency, 100 kIOPS, 2 GB/s of one request and 5 GB/s of all: corners, unless the
 * bend is what is looked at. */
#include <math.h>

#include "harness.h"
#include "models/storage.h"

static BaseNum
num (double v, BaseSource source)
{
  return (BaseNum){ .v = v, .set = TRUE, .source = source };
}

static MdlStorage
storage (double blend)
{
  MdlStorage s = { .error = num (0.1, BASE_SOURCE_MEASURED), .blend = num (blend, BASE_SOURCE_MEASURED) };
  s.op[MDL_IO_READ] = (MdlIoSide){ .latency = num (100e-6, BASE_SOURCE_MEASURED),
                                   .iops = num (100e3, BASE_SOURCE_MEASURED),
                                   .stream = num (2e9, BASE_SOURCE_MEASURED),
                                   .rate = num (5e9, BASE_SOURCE_ASSUMED) };
  return s;
}

static MdlIoCost
query (const MdlStorage *s, MdlIoQuestion q)
{
  MdlIoCost cost;
  mdl_storage_cost (s, &q, &cost);
  return cost;
}

static void
each_limit_bounds_where_it_is_the_least (void)
{
  const MdlStorage s = storage (16);
  /* 1 B alone: 100 us; 1000 of them: 10 us each by IOPS; 20 MB alone: 100 us and 10 ms; 100 of these: 4 ms each by the rate */
  const struct {
    MdlIoQuestion q;
    double each_s, within;
    MdlIoBound bound;
  } rows[] = {
    { { MDL_IO_READ, MDL_IO_HOST, FALSE, 1, 1 }, 100e-6, 1e-3, MDL_IO_BY_LATENCY },
    { { MDL_IO_READ, MDL_IO_HOST, FALSE, 1, 1000 }, 10e-6, 1e-3, MDL_IO_BY_IOPS },
    { { MDL_IO_READ, MDL_IO_HOST, FALSE, 20e6, 1 }, 10.1e-3, 1e-3, MDL_IO_BY_STREAM },
    { { MDL_IO_READ, MDL_IO_HOST, FALSE, 20e6, 100 }, 4.01e-3, 1e-3, MDL_IO_BY_RATE },
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    const MdlIoCost cost = query (&s, rows[i].q);
    TEST_NEAR (1 / cost.iops, rows[i].each_s, rows[i].within);
    TEST_NEAR (cost.rate_Bps * rows[i].each_s, rows[i].q.block_B, rows[i].within);
    TEST_INT (cost.bound, rows[i].bound);
  }
}

static void
the_bend_is_between_a_sum_and_a_corner (void)
{
  /* 10 in flight of 1 MB: o = 600 us / 10 = 60 us, d = 10 us + 200 us = 210 us; p 1: 270, p 2: sqrt (60^2 + 210^2) = 218.4 us */
  const MdlIoQuestion q = { MDL_IO_READ, MDL_IO_HOST, FALSE, 1e6, 10 };
  const MdlStorage sum = storage (1), two = storage (2), corner = storage (16);
  TEST_NEAR (query (&sum, q).time_s, 2.7e-3, 1e-9);
  TEST_NEAR (query (&two, q).time_s, 2.184e-3, 1e-4);
  TEST_NEAR (query (&corner, q).time_s, 2.1e-3, 1e-3);
}

static void
one_of_many_waits_for_all (void)
{
  /* Little: N = rate x time. 192 in flight of 1 MiB at 22.12 GB/s took 9.095 ms each through the host, at 7.393 GB/s 27.23 ms by
   * GPUDirect (NVIDIA/gds-nvidia-fs issue 30, gdsio) */
  MdlStorage s = { 0 };
  s.op[MDL_IO_READ].rate = num (40e9, BASE_SOURCE_MEASURED);
  s.bounce.rate = num (22.12e9, BASE_SOURCE_MEASURED);
  s.cufile.rate = num (7.393e9, BASE_SOURCE_MEASURED);
  TEST_NEAR (query (&s, (MdlIoQuestion){ MDL_IO_READ, MDL_IO_BOUNCE, FALSE, 1048576, 192 }).time_s, 9.095e-3, 2e-3);
  TEST_NEAR (query (&s, (MdlIoQuestion){ MDL_IO_READ, MDL_IO_CUFILE, FALSE, 1048576, 192 }).time_s, 27.23e-3, 2e-3);
  TEST_NEAR (query (&s, (MdlIoQuestion){ MDL_IO_READ, MDL_IO_HOST, FALSE, 1048576, 192 }).rate_Bps, 40e9, 1e-9);
}

static void
a_path_adds_its_latency_and_its_leg (void)
{
  MdlStorage s = storage (16);
  s.bounce.latency = num (20e-6, BASE_SOURCE_MEASURED);
  s.bounce.stream = num (4e9, BASE_SOURCE_MEASURED);
  /* 100 + 20 us, 1 MB at 2 and then at 4 GB/s: 870 us */
  TEST_NEAR (query (&s, (MdlIoQuestion){ MDL_IO_READ, MDL_IO_BOUNCE, FALSE, 1e6, 1 }).time_s, 870e-6, 1e-3);
}

static void
random_offsets_have_their_own_figures_where_there_are_some (void)
{
  MdlStorage s = storage (16);
  const MdlIoQuestion q = { MDL_IO_READ, MDL_IO_HOST, TRUE, 1, 1 };
  TEST_NEAR (query (&s, q).time_s, 100e-6, 1e-3);
  s.op[MDL_IO_READ].random_latency = num (300e-6, BASE_SOURCE_MEASURED);
  TEST_NEAR (query (&s, q).time_s, 300e-6, 1e-3);
}

static void
parts_sum_to_the_time_and_tell_their_source (void)
{
  const MdlStorage s = storage (2);
  for (double block_B = 512; block_B < 1e8; block_B *= 7)
    for (double n = 1; n < 2000; n *= 3) {
      const MdlIoCost cost = query (&s, (MdlIoQuestion){ MDL_IO_READ, MDL_IO_HOST, FALSE, block_B, n });
      double sum_s = 0;
      for (int k = 0; k < 4; k++)
        sum_s += cost.part_s[k];
      TEST_NEAR (sum_s, cost.time_s, 1e-12);
      TEST_NEAR (cost.time_s * cost.iops, n, 1e-9);
      TEST_INT (cost.source, BASE_SOURCE_ASSUMED);
      TEST_NEAR (cost.band, 0.1, 0);
    }
}

static void
more_in_flight_and_larger_blocks_never_move_less (void)
{
  for (double blend = 1; blend <= 16; blend *= 2) {
    const MdlStorage s = storage (blend);
    for (double block_B = 512; block_B < 1e8; block_B *= 4)
      for (double n = 1; n < 5000; n *= 2) {
        const MdlIoCost here = query (&s, (MdlIoQuestion){ MDL_IO_READ, MDL_IO_HOST, FALSE, block_B, n });
        const MdlIoCost more = query (&s, (MdlIoQuestion){ MDL_IO_READ, MDL_IO_HOST, FALSE, block_B, 2 * n });
        const MdlIoCost larger = query (&s, (MdlIoQuestion){ MDL_IO_READ, MDL_IO_HOST, FALSE, 2 * block_B, n });
        TEST_TRUE (more.rate_Bps >= here.rate_Bps && more.time_s >= here.time_s);
        TEST_TRUE (larger.rate_Bps >= here.rate_Bps && larger.time_s >= here.time_s);
        TEST_TRUE (here.rate_Bps <= 5e9 && here.iops <= 100e3 && here.time_s >= 100e-6);
      }
  }
}

static void
nothing_known_costs_nothing (void)
{
  const MdlStorage s = { 0 };
  TEST_NEAR (query (&s, (MdlIoQuestion){ MDL_IO_WRITE, MDL_IO_HOST, FALSE, 1e6, 4 }).time_s, 0, 0);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "each limit bounds where it is the least", each_limit_bounds_where_it_is_the_least },
    { "the bend is between a sum and a corner", the_bend_is_between_a_sum_and_a_corner },
    { "one of many waits for all", one_of_many_waits_for_all },
    { "a path adds its latency and its leg", a_path_adds_its_latency_and_its_leg },
    { "random offsets have their own figures where there are some", random_offsets_have_their_own_figures_where_there_are_some },
    { "parts sum to the time and tell their source", parts_sum_to_the_time_and_tell_their_source },
    { "more in flight and larger blocks never move less", more_in_flight_and_larger_blocks_never_move_less },
    { "nothing known costs nothing", nothing_known_costs_nothing },
    { NULL, NULL },
  };
  return test_main ("models: storage", cases);
}
