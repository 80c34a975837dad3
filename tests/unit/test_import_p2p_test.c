/* CUDA's sample p2pBandwidthLatencyTest as CSV. */
#include "measured_fixture.h"

#define HEADER "kind,src,dst,bytes,seconds,GBps\n"

static char *
reader (const CalText *text, const void *told, GError **error)
{
  return cal_import_p2p_test (text, &(CalFileInfo){ .copy_B = told != NULL ? *(const guint64 *)told : 0 }, error);
}

/* 1 GB: 50 ms at 20 GB/s one way; both ways the rate counts two copies; within a GPU it counts reads and writes. */
static void
kinds_are_named_by_direction_and_reach (void)
{
  static const guint64 copy_B = 1000000000;
  static const struct {
    const char *title, *csv;
  } tests[] = {
    { "Unidirectional P2P=Disabled Bandwidth Matrix (GB/s)\n   D\\D",
      "unidirectional_local,0,0,1000000000,0.01,200\nunidirectional_p2p_off,0,1,1000000000,0.05,20\n"
      "unidirectional_p2p_off,1,0,1000000000,0.1,10\nunidirectional_local,1,1,1000000000,0.02,100\n" },
    { "Unidirectional P2P=Enabled Bandwidth (P2P Reads) Matrix (GB/s)\n   D\\D",
      "unidirectional_local,0,0,1000000000,0.01,200\nunidirectional_p2p_on_read,1,0,1000000000,0.05,20\n"
      "unidirectional_p2p_on_read,0,1,1000000000,0.1,10\nunidirectional_local,1,1,1000000000,0.02,100\n" },
    { "Bidirectional P2P=Enabled Bandwidth Matrix (GB/s)\n   D\\D",
      "bidirectional_local,0,0,1000000000,0.02,200\nbidirectional_p2p_on,0,1,1000000000,0.1,20\n"
      "bidirectional_p2p_on,1,0,1000000000,0.2,10\nbidirectional_local,1,1,1000000000,0.04,100\n" },
    { "P2P=Enabled Latency (P2P Writes) Matrix (us)\n   CPU",
      "latency_local_cpu,0,0,,0.0002,\nlatency_p2p_on_write_cpu,0,1,,2e-05,\nlatency_p2p_on_write_cpu,1,0,,1e-05,\n"
      "latency_local_cpu,1,1,,0.0001,\n" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++) {
    g_autofree char *text = g_strconcat (tests[i].title, "     0      1 \n     0 200.00  20.00 \n     1  10.00 100.00 \n", NULL);
    g_autofree char *csv = g_strconcat (HEADER, tests[i].csv, NULL);
    g_auto (Imported) got = import_text (reader, &copy_B, text);
    TEST_STR (got.csv != NULL ? got.csv : got.message, csv);
    TEST_STR (got.warnings, "");
  }
}

static void
gpus_that_do_not_reach_each_other_are_left_out (void)
{
  g_auto (Imported) got =
      import_text (reader, NULL,
                   "P2P Connectivity Matrix\n     D\\D     0     1\n     0\t     1     0\n     1\t     0     1\n"
                   "Unidirectional P2P=Enabled Bandwidth Matrix (GB/s)\n   D\\D     0      1 \n 0 5 6\n 1 7 8\n");
  TEST_STR (got.csv, HEADER "unidirectional_local,0,0,,,5\nunidirectional_local,1,1,,,8\n");
  TEST_STR (got.warnings, "f:7: GPUs 0 and 1 do not reach each other: left out of P2P=Enabled; 1 more like it (line 8)\n");
}

static void
bad_files_are_refused_with_their_place (void)
{
#define START "Bidirectional P2P=Enabled Bandwidth Matrix (GB/s)\n   D\\D     0      1 \n"
  static const Refusal rows[] = {
    { "", "f: this is not p2pBandwidthLatencyTest's output" },
    { "P2P Connectivity Matrix\n", "f: no cell is left" },
    { START, "f:2: the matrix of line 2 has 0 rows of 2: cut off?" },
    { START "     0   1.0    2.0\n", "f:3: the matrix of line 2 has 1 rows of 2" },
    { START "     0   1.0    2.0\n\n", "f:4: the matrix of line 2 has 1 rows of 2" },
    { START "     0   1.0\n", "f:3: 2 words" },
    { START "     0   1.0   2.0   3.0\n", "f:3: 4 words" },
    { START "     1   1.0   2.0\n", "f:3: the matrix of line 2 has 0 rows" },
    { START "     0   1.0   fast\n", "f:3: 'fast' in a matrix" },
    { "P2P=Disabled Latency Matrix (us)\n   GPU 1 0\n", "f:2: GPUs 0, 1, … are expected" },
  };
  test_refusals (reader, NULL, rows, G_N_ELEMENTS (rows));
}

static const TestCase cases[] = {
  { "kinds are named by direction and reach", kinds_are_named_by_direction_and_reach },
  { "GPUs that do not reach each other are left out", gpus_that_do_not_reach_each_other_are_left_out },
  { "bad files are refused with their place", bad_files_are_refused_with_their_place },
  { NULL, NULL },
};

int
main (void)
{
  return test_main ("p2pBandwidthLatencyTest as CSV", cases);
}
