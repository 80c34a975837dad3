/* nvbandwidth's text and JSON as CSV. */
#include "measured_fixture.h"

#define HEADER "kind,src,dst,bytes,seconds,GBps\n"

static char *
reader (const CalText *text, const void *told, GError **error)
{
  return cal_import_nvbandwidth (text, &(CalFileInfo){ .copy_B = told != NULL ? *(const guint64 *)told : 0 }, error);
}

/* A matrix of two GPUs, as the text has it. */
#define MATRIX(test, key, what, rows, sum) "Running " test ".\n" what "\n           0         1\n" rows "\nSUM " key " " sum "\n\n"

/* 1 GB copies: 1/20 s at 20 GB/s. */
static void
bytes_go_the_way_that_the_test_copies (void)
{
  static const guint64 copy_B = 1000000000;
  static const struct {
    const char *test, *rows, *sum, *csv;
  } tests[] = {
    { "device_to_device_memcpy_read_ce", " 0 N/A 20.00\n 1 10.00 N/A\n", "30.00",
      "device_to_device_memcpy_read_ce,1,0,1000000000,0.05,20\ndevice_to_device_memcpy_read_ce,0,1,1000000000,0.1,10\n" },
    { "device_to_device_memcpy_write_sm", " 0 N/A 20.00\n 1 10.00 N/A\n", "30.00",
      "device_to_device_memcpy_write_sm,0,1,1000000000,0.05,20\ndevice_to_device_memcpy_write_sm,1,0,1000000000,0.1,10\n" },
    { "host_to_device_memcpy_ce", " 0 20.00 10.00\n", "30.00",
      "host_to_device_memcpy_ce,-1,0,1000000000,0.05,20\nhost_to_device_memcpy_ce,-1,1,1000000000,0.1,10\n" },
    { "device_to_host_memcpy_sm", " 0 20.00 10.00\n", "30.00",
      "device_to_host_memcpy_sm,0,-1,1000000000,0.05,20\ndevice_to_host_memcpy_sm,1,-1,1000000000,0.1,10\n" },
    { "device_local_copy", " 0 20.00 10.00\n", "30.00",
      "device_local_copy,0,0,1000000000,0.05,20\ndevice_local_copy,1,1,1000000000,0.1,10\n" },
    { "one_to_all_write_ce", " 0 20.00 10.00\n", "30.00",
      "one_to_all_write_ce,0,-1,1000000000,,20\none_to_all_write_ce,1,-1,1000000000,,10\n" },
    { "multinode_device_to_device_all_to_one_write_sm", " 0 20.00 10.00\n", "30.00",
      "multinode_device_to_device_all_to_one_write_sm,-1,0,1000000000,,20\n"
      "multinode_device_to_device_all_to_one_write_sm,-1,1,1000000000,,10\n" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++) {
    g_autofree char *text = g_strdup_printf (MATRIX ("%s", "%s", "memcpy bandwidth (GB/s)", "%s", "%s"), tests[i].test,
                                             tests[i].rows, tests[i].test, tests[i].sum);
    g_autofree char *csv = g_strconcat (HEADER, tests[i].csv, NULL);
    g_auto (Imported) got = import_text (reader, &copy_B, text);
    TEST_STR (got.csv != NULL ? got.csv : got.message, csv);
    TEST_STR (got.warnings, "");
  }
}

static void
both_ways_have_three_matrices (void)
{
#define KEY  "device_to_device_bidirectional_memcpy_read_ce"
#define ROWS " 0 N/A 20.00\n 1 N/A N/A\n"
#define ONE(part) \
  "memcpy CE GPU(row) <-> GPU(column) bandwidth (GB/s)\n  0 1\n" ROWS "\nSUM " KEY part " 20.00\nMIN " KEY part " 0\n\n"
  static const char csv[] = HEADER KEY "_read1,1,0,,,20\n" KEY "_read2,0,1,,,20\n" KEY "_total,1,0,,,20\n";
  g_auto (Imported) text = import_text (reader, NULL, "Running " KEY ".\n" ONE ("_read1") ONE ("_read2") ONE ("_total"));
  TEST_STR (text.csv != NULL ? text.csv : text.message, csv);
#define PART "[\"N/A\", \"20\"], [\"N/A\", \"N/A\"]"
  g_auto (Imported) json = import_text (reader, NULL,
                                        "{\"nvbandwidth\": {\"testcases\": [{\"name\": \"" KEY "\", \"status\": \"Passed\", "
                                        "\"bandwidth_matrix\": [" PART ", " PART ", " PART "]}]}}");
  TEST_STR (json.csv != NULL ? json.csv : json.message, csv);
}

static void
latencies_become_seconds (void)
{
  g_auto (Imported) text = import_text (reader, NULL,
                                        "Running host_device_latency_sm.\nmemory latency SM CPU(row) <-> GPU(column) (ns)\n  0\n 0 "
                                        "1182.50\n\n&&&& PERF host_device_latency_sm 1182.50 ns\n");
  TEST_STR (text.csv != NULL ? text.csv : text.message, HEADER "host_device_latency_sm,0,-1,,1.1825e-06,\n");
}

/* Excerpts end behind the last row, or go on with the next test. */
static void
whole_matrices_need_no_sum (void)
{
#define SUMLESS "Running device_to_device_memcpy_read_ce.\nbandwidth (GB/s)\n  0 1\n 0 N/A 1.00\n 1 2.00 N/A\n"
#define COPIES  "device_to_device_memcpy_read_ce,1,0,,,1\ndevice_to_device_memcpy_read_ce,0,1,,,2\n"
  g_auto (Imported) one = import_text (reader, NULL, SUMLESS), two = import_text (reader, NULL, SUMLESS "\n" SUMLESS);
  TEST_STR (one.csv != NULL ? one.csv : one.message, HEADER COPIES);
  TEST_STR (two.csv != NULL ? two.csv : two.message, HEADER COPIES COPIES);
  TEST_HAS (one.warnings, "f:3: the matrix of device_to_device_memcpy_read_ce has no line 'SUM …': an excerpt?");
}

static void
bad_files_are_refused_with_their_place (void)
{
#define START "Running device_to_device_memcpy_read_ce.\nbandwidth (GB/s)\n  0 1\n"
#define THREE "Running device_to_device_memcpy_read_ce.\nbandwidth (GB/s)\n  0 1 2\n"
  static const Refusal rows[] = {
    { "", "f: this is not nvbandwidth's output" },
    { "Running x.\n", "f: no cell is left" },
    { START " 0 N/A 1.00\n 1 1.0", "f:5: 2 words" },
    { THREE " 0 N/A 1 1\n 1 1 N/A 1\n", "f:5: the matrix of device_to_device_memcpy_read_ce, line 3, has no line 'SUM …'" },
    { THREE " 0 N/A 1 1\n 1 1 N/A 1\n\nRunning y.\n", "f:7: the matrix of device_to_device_memcpy_read_ce" },
    { THREE " 0 N/A 1 1\n 1 1 N/A 1\n\nSUM\n", "f:7: the matrix of device_to_device_memcpy_read_ce" },
    { "Running device_to_device_bidirectional_memcpy_read_ce.\nbandwidth (GB/s)\n  0 1\n 0 N/A 1\n 1 1 N/A\n",
      "f:5: the matrix of device_to_device_bidirectional_memcpy_read_ce, line 3, has no line 'SUM …'" },
    { START " 0 N/A one\n 1 1.00 N/A\n\nSUM device_to_device_memcpy_read_ce 1\n", "f:4: 'one' in a matrix" },
    { "{\"nvbandwidth\": 7}", "f:1: this is not nvbandwidth's JSON" },
    { "{\"nvbandwidth\": {\"testcases\": [7]}}", "f: nvbandwidth.testcases[0]: an object" },
    { "{\"nvbandwidth\": {\"testcases\": [{\"name\": \"x\", \"status\": \"Passed\"}]}}", "f: nvbandwidth.testcases[0]: it passed" },
    { "{\"nvbandwidth\": {\"testcases\": [{\"name\": \"host_to_device_memcpy_ce\", \"status\": \"Passed\", \"bandwidth_matrix\": "
      "[[true]]}]}}",
      "f: nvbandwidth.testcases[0].bandwidth_matrix[0][0]: '' in a matrix" },
    { "{\"nvbandwidth\": {\"testcases\": []}}", "f: no cell is left" },
  };
  test_refusals (reader, NULL, rows, G_N_ELEMENTS (rows));
}

static const TestCase cases[] = {
  { "bytes go the way that the test copies", bytes_go_the_way_that_the_test_copies },
  { "both ways have three matrices", both_ways_have_three_matrices },
  { "latencies become seconds", latencies_become_seconds },
  { "whole matrices need no line of their sum", whole_matrices_need_no_sum },
  { "bad files are refused with their place", bad_files_are_refused_with_their_place },
  { NULL, NULL },
};

int
main (void)
{
  return test_main ("nvbandwidth as CSV", cases);
}
