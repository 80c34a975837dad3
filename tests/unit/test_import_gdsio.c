/* Lines of gdsio as CSV. */
#include "measured_fixture.h"

#define HEADER "tool,job,op,path,block_B,threads,depth,rate_Bps,iops,latency_mean_s,latency_p99_s,runtime_s\n"

static char *
reader (const CalText *text, const void *told, GError **error)
{
  (void)told;
  return cal_import_gdsio (text, NULL, error);
}

/* 2 GiB in 2 s: 1 GiB/s, 2^30 B/s; 2048 blocks of 1 MiB. */
#define LINE(io, transfer, more, rate) TIMED (io, transfer, more, rate, "500.5", "2.000000")
#define TIMED(io, transfer, more, rate, latency, time)                                                                             \
  "IoType: " io " XferType: " transfer " Threads: 4 " more "DataSetSize: 2097152/8388608(KiB) IOSize: 1024(KiB) Throughput: " rate \
  " GiB/sec, Avg_Latency: " latency " usecs ops: 2048 total_time " time " secs\n"

static void
a_line_is_a_row (void)
{
  static const struct {
    const char *line, *row;
  } tests[] = {
    { LINE ("READ", "GPUD", "", "1.000000"), "gdsio,GPUD,read,gpu_direct,1048576,4,,1073741824,1024,0.0005005,,2\n" },
    { LINE ("RANDWRITE", "CPUONLY", "", "1.0"), "gdsio,CPUONLY,randwrite,host,1048576,4,,1073741824,1024,0.0005005,,2\n" },
    { "$ " LINE ("WRITE", "GPU_BATCH", "IoDepth: 8 ", "1.0"),
      "gdsio,GPU_BATCH,write,gpu_direct,1048576,4,8,1073741824,1024,0.0005005,,2\n" },
    { LINE ("RANDREAD", "CPU_CACHED_GPU", "", "1.0") "bye\n",
      "gdsio,CPU_CACHED_GPU,randread,host_gpu,1048576,4,,1073741824,1024,0.0005005,,2\n" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++) {
    g_autofree char *csv = g_strconcat (HEADER, tests[i].row, NULL);
    g_auto (Imported) got = import_text (reader, NULL, tests[i].line);
    TEST_STR (got.csv != NULL ? got.csv : got.message, csv);
    TEST_STR (got.warnings, "");
  }
}

static void
throughput_is_checked_against_time (void)
{
  g_auto (Imported) got = import_text (reader, NULL, LINE ("READ", "GPUD", "", "1.1") LINE ("READ", "GPUD", "", "0.0"));
  TEST_STR (got.warnings, "f:2: throughput 0.0 is none: left out\nf:1: 2.14748e+09 B in 2 s are not the throughput of 1.1 GiB/sec: "
                          "kept\n");
}

static void
times_that_are_not_finite_are_none (void)
{
  g_auto (Imported) got = import_text (reader, NULL, TIMED ("READ", "GPUD", "", "1.0", "nan", "inf"));
  TEST_STR (got.csv != NULL ? got.csv : got.message, HEADER "gdsio,GPUD,read,gpu_direct,1048576,4,,1073741824,,,,\n");
  TEST_STR (got.warnings, "");
}

static void
bad_lines_are_refused_with_their_place (void)
{
  static const Refusal rows[] = {
    { "", "f: this is not gdsio's output" },
    { "IoType: READ\n", "f:1:13: 'XferType:' is expected here" },
    { "\nIoType: READ XferType: GPUD Threads: 4 DataSetSize: 1/1(KiB) IOSize: 1(KiB) Throughput: 1 MiB/sec, x\n",
      "f:2:91: 'GiB/sec,' is expected here" },
    { "IoType: READ XferType: GPUD Threads: 4 DataSetSize: 1/1(KiB) IOSize: 1(KiB) Throughput: 1 GiB/sec, Avg_Latency: 1 usecs "
      "ops: 5 total_time 1\n",
      "f:1:140: 'secs' is expected here" },
    { LINE ("ERASE", "GPUD", "", "1.0"), "f:1: IoType 'ERASE'" },
    { TIMED ("READ", "GPUD", "", "1.0", "500.5", "1e400"), "f:1: total_time '1e400' is not the number" },
    { LINE ("READ", "GPUD", "", "0x1"), "f:1: Throughput '0x1' is not the number" },
    { LINE ("READ", "GPUD", "IoDepth: many ", "1.0"), "f:1: IoDepth 'many' is not" },
    { LINE ("READ", "GPUD", "", "nan"), "f: no row is left" },
  };
  test_refusals (reader, NULL, rows, G_N_ELEMENTS (rows));
}

static const TestCase cases[] = {
  { "a line is a row", a_line_is_a_row },
  { "throughput is checked against time", throughput_is_checked_against_time },
  { "times that are not finite are none", times_that_are_not_finite_are_none },
  { "bad lines are refused with their place", bad_lines_are_refused_with_their_place },
  { NULL, NULL },
};

int
main (void)
{
  return test_main ("gdsio as CSV", cases);
}
