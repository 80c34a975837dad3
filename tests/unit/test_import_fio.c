/* fio's JSON as CSV. */
#include "measured_fixture.h"

#define HEADER "tool,job,op,path,block_B,threads,depth,rate_Bps,iops,latency_mean_s,latency_p99_s,runtime_s\n"

static char *
reader (const CalText *text, const void *told, GError **error)
{
  (void)told;
  return cal_import_fio (text, NULL, error);
}

/* 1000 blocks of 4 KiB in 2 s: 2.048 MB/s, 500 a second. */
#define SIDE                                                                                                              \
  "{\"io_bytes\": 4096000, \"total_ios\": 1000, \"bw_bytes\": 2048000, \"iops\": 500.0, \"runtime\": 2000, \"clat_ns\": " \
  "{\"mean\": "                                                                                                           \
  "1500000.0, \"percentile\": {\"99.000000\": 4000000}}}"
#define JOB(options, sides) "{\"jobs\": [{\"jobname\": \"j\", \"error\": 0, \"job options\": {" options "}, " sides "}]}\n"

static void
options_say_what_a_job_did (void)
{
  static const struct {
    const char *options, *row;
  } tests[] = {
    { "", "fio,j,read,host,4096,1,1,2048000,500,0.0015,0.004,2\n" },
    { "\"rw\": \"randrw\", \"bs\": \"4k\", \"iodepth\": \"32\"", "fio,j,randread,host,4096,1,32,2048000,500,0.0015,0.004,2\n" },
    { "\"bs\": \"4096,1m\", \"numjobs\": \"8\"", "fio,j,read,host,4096,1,1,2048000,500,0.0015,0.004,2\n" },
    { "\"bs\": \"4KB\", \"numjobs\": \"8\", \"group_reporting\": \"\"", "fio,j,read,host,4096,8,1,2048000,500,0.0015,0.004,2\n" },
    { "\"bs\": \"2k-8k\"", "fio,j,read,host,4096,1,1,2048000,500,0.0015,0.004,2\n" },
    { "\"ioengine\": \"libcufile\"", "fio,j,read,gpu_direct,4096,1,1,2048000,500,0.0015,0.004,2\n" },
    { "\"ioengine\": \"libcufile\", \"cuda_io\": \"posix\"", "fio,j,read,host_gpu,4096,1,1,2048000,500,0.0015,0.004,2\n" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++) {
    g_autofree char *text =
        g_strdup_printf (JOB ("%s", "\"read\": " SIDE ", \"write\": {\"io_bytes\": 0, \"total_ios\": 0}"), tests[i].options);
    g_autofree char *csv = g_strconcat (HEADER, tests[i].row, NULL);
    g_auto (Imported) got = import_text (reader, NULL, text);
    TEST_STR (got.csv != NULL ? got.csv : got.message, csv);
    TEST_STR (got.warnings, "");
  }
}

static void
what_contradicts_itself_is_told_and_what_failed_left_out (void)
{
  g_auto (Imported) got =
      import_text (reader, NULL,
                   "fio: a warning\n"
                   "{\"jobs\": [{\"jobname\": \"bad\", \"error\": 5, \"read\": " SIDE "},\n"
                   "{\"jobname\": \"j\", \"job options\": {\"bs\": \"1m\"}, \"write\": " SIDE "},\n"
                   "{\"jobname\": \"k\", \"read\": {\"io_kbytes\": 100, \"total_ios\": 25, \"bw\": 999, \"runtime\": 1000}}]}\n");
  TEST_STR (got.csv, HEADER "fio,j,write,host,1048576,1,1,2048000,500,0.0015,0.004,2\nfio,k,read,host,4096,1,1,1022976,,,,1\n");
  TEST_HAS (got.warnings, "f:1: 'fio: a warning' is not JSON and was passed over\n");
  TEST_HAS (got.warnings, "f: jobs[0]: job 'bad' ended with error 5: left out\n");
  TEST_HAS (got.warnings, "f: jobs[1].write: blocks of 1048576 B were asked for, but 4096 B were moved at a time\n");
  TEST_HAS (got.warnings, "f: jobs[2].read: 102400 B in 1 s are 1.024e+05 B/s, but the rate is 1.023e+06 B/s: kept\n");
}

static void
bad_files_are_refused_with_their_path (void)
{
  static const Refusal rows[] = {
    { "", "f: this is not fio's JSON: no line begins with '{'" },
    { "  read: IOPS=500\n", "f: this is not fio's JSON" },
    { "{}", "f:1: this is not fio's JSON: no `jobs`" },
    { "x\n{\"client_stats\": []}", "f:2: this is not fio's JSON: no `jobs` (`client_stats`" },
    { "{\"jobs\": [7]}", "f: jobs[0]: an object" },
    { "{\"jobs\": [{\"jobname\": \"x\", \"error\": \"bad\"}]}", "f: jobs[0].error: a number" },
    { "{\"jobs\": [{\"jobname\": \"x\", \"read\": {\"bw_bytes\": -4}}]}", "f: jobs[0].read.bw_bytes: a number of at least 0" },
    { "{\"jobs\": [{\"jobname\": \"x\", \"read\": {\"io_bytes\": 1e999}}]}", "f: jobs[0].read.io_bytes: a number" },
    { "{\"jobs\": [{\"jobname\": \"x\", \"read\": {\"io_bytes\": 8, \"bw_bytes\": 0}}]}", "f: no row is left" },
    { "{\"jobs\": []}", "f: no row is left" },
    { "warn\n{\"jobs\":\n [{\"jobname\" \"x\"}]}", "f:3:" },
    { "{\"jobs\": [{\"jobname\": \"x", "f:1:24: the file ends within" },
  };
  test_refusals (reader, NULL, rows, G_N_ELEMENTS (rows));
}

static const TestCase cases[] = {
  { "options say what a job did", options_say_what_a_job_did },
  { "contradictions are reported, and failed runs left out", what_contradicts_itself_is_told_and_what_failed_left_out },
  { "bad files are refused with their path", bad_files_are_refused_with_their_path },
  { NULL, NULL },
};

int
main (void)
{
  return test_main ("fio as CSV", cases);
}
