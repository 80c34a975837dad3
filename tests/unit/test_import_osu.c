/* Tables of the OSU Micro-Benchmarks as CSV, of pairs or of collectives. */
#include "measured_fixture.h"

#define PAIRS       "tool,op,from,from_nic,to,to_nic,bytes,time_us,GBps,both_ways\n"
#define COLLECTIVES "op,dtype,nodes,gpus_per_node,algo,proto,launch,bytes,time_us,in_place,busbw_GBps,nccl,wrong\n"
#define BW          "# OSU MPI-CUDA Bandwidth Test v7.4\n# Size      Bandwidth (MB/s)\n"

static char *
reader (const CalText *text, const void *told, GError **error)
{
  return cal_import_osu (text, told, error);
}

static CalFileInfo
told_of (guint32 nodes, guint32 gpus)
{
  CalFileInfo told = CAL_FILE_INFO_NONE;
  told.nodes = nodes;
  told.gpus = gpus;
  return told;
}

static void
tables_become_rows (void)
{
  static const struct {
    const char *text, *csv;
  } tests[] = {
    { "## a -> b\n" BW "1048576            24000.50\n", PAIRS "osu,bw,a,,b,,1048576,,24.0005,0\n" },
    { "## a -> b\n# OSU MPI Bi-Directional Bandwidth Test\n# Size   Bandwidth (MB/s)\n8 2.5\n",
      PAIRS "osu,bibw,a,,b,,8,,0.0025,1\n" },
    { "# OSU MPI Latency Test v5.9\n# Size          Latency (us)\n0 1.05\n8 1.10\n",
      PAIRS "osu,latency,,,,,,1.05,,0\nosu,latency,,,,,8,1.1,,0\n" },
    { "# OSU NCCL Allreduce Latency Test v7.4\n# Size       Avg Latency(us)\n1024   31.5\n",
      COLLECTIVES "all_reduce,fp32,2,8,,,,1024,31.5,0,,,\n" },
    /* OSU counts one rank's part, nccl-tests those of all 16 */
    { "# OSU NCCL Allgather Latency Test\n# Size       Avg Latency(us)   Min Latency(us)\n1024   31.5  30\n",
      COLLECTIVES "all_gather,fp32,2,8,,,,16384,31.5,0,,,\n" },
  };
  const CalFileInfo told = told_of (2, 8);
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++) {
    g_auto (Imported) got = import_text (reader, &told, tests[i].text);
    TEST_STR (got.message, "");
    TEST_STR (got.csv, tests[i].csv);
  }
}

static void
what_is_not_nccl_is_said (void)
{
  const CalFileInfo told = told_of (2, 8);
  g_auto (Imported) got = import_text (reader, &told,
                                       "# OSU MPI Allreduce Latency Test\n# Size  Avg Latency(us)\n8 3\n"
                                       "# OSU MPI Non-blocking Allreduce Latency Test\n# Size  Overall(us)\n8 3\n");
  TEST_HAS (got.warnings, "f:1: MPI's own collective, not NCCL's");
  TEST_HAS (got.warnings, "f:4: '# OSU MPI Non-blocking Allreduce Latency' is not modelled and is left out");
}

static void
bad_tables_are_refused_with_their_place (void)
{
  static const Refusal rows[] = {
    { "", "f: this is not output of the OSU Micro-Benchmarks" },
    { "# OSU MPI Bandwidth Test\n8 1\n", "f:2: a row before its head" },
    { "# OSU MPI Bandwidth Test\n# Size  Bandwidth (Gbit/s)\n8 1\n", "f:2: the head of the table names no unit" },
    { BW "8\n", "f:3: a row is a size and a number" },
    { BW "8 fast\n", "f:3: a row is a size and a number" },
    { BW "8 0\n", "f: no row is left" },
    { "# OSU NCCL Allreduce Latency Test\n", "f:1: OSU's tests do not print how many ranks ran: --nodes N and --gpus G" },
  };
  const CalFileInfo none = told_of (0, 0), told = told_of (2, 8);
  test_refusals (reader, &none, rows, G_N_ELEMENTS (rows));
  static const Refusal mixed[] = { { BW "8 1\n# OSU NCCL Allreduce Latency Test\n",
                                     "f:4: collectives and tests between two ranks in one file" } };
  test_refusals (reader, &told, mixed, G_N_ELEMENTS (mixed));
}

static const TestCase cases[] = {
  { "tables become rows", tables_become_rows },
  { "what is not NCCL's is said", what_is_not_nccl_is_said },
  { "bad tables are refused with their place", bad_tables_are_refused_with_their_place },
  { NULL, NULL },
};

int
main (void)
{
  return test_main ("OSU Micro-Benchmarks as CSV", cases);
}
