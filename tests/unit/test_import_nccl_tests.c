/* nccl-tests' text and JSON as CSV. */
#include "measured_fixture.h"
#include "models/library.h"

static const CalFileInfo nothing = { .op = -1, .algo = MDL_ALGO_AUTO, .proto = MDL_PROTO_AUTO, .launch = -1 };
static const CalFileInfo all_reduce_of_4 = { .op = MDL_OP_ALL_REDUCE, .algo = -1, .proto = -1, .launch = -1, .gpus = 4 };

static char *
reader (const CalText *text, const void *told, GError **error)
{
  return cal_import_nccl_tests (text, told != NULL ? told : &nothing, error);
}

#define HEADER "op,dtype,nodes,gpus_per_node,algo,proto,launch,bytes,time_us,in_place,busbw_GBps,nccl,wrong\n"

/* 1 MB in 100 us: 10 GB/s, and 4 ranks' all-reduce makes 1.5 times that of it. */
#define ROW  "1000000 250000 float sum -1 100.00 10.00 15.00 0 50.00 20.00 30.00 N/A\n"
#define NAME "# Collective test starting: all_reduce_perf\n"
#define CONFIG \
  "# nThread 1 nGpus 1 minBytes 8 maxBytes 8 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: "
#define RANK(n, host) "#  Rank " n " Group 0 Pid 7 on " host " device 0 [0000:0f:00] NVIDIA H100\n"
#define FOOT          "# Out of bounds values : 0 OK\n"
#define TWO_BY_2      RANK (" 0", "a") RANK (" 1", "a") RANK (" 2", "b") RANK (" 3", "b")

static void
a_run_says_operation_nodes_launch_and_version (void)
{
  g_auto (Imported) got = import_text (
      reader, NULL, "# nccl-tests version 2.19.6 nccl-headers=22809 nccl-library=22907\n" NAME CONFIG "0\n" TWO_BY_2 ROW FOOT);
  TEST_STR (got.csv, HEADER "all_reduce,fp32,2,2,,,threads,1000000,100,0,15,2.29.7,0\n"
                            "all_reduce,fp32,2,2,,,threads,1000000,50,1,30,2.29.7,\n");
  TEST_STR (got.warnings, "");
}

static void
each_run_has_its_own_header (void)
{
  /* alltoall: 3/4 of 10 GB/s; a graph; nothing of the first run's version or NCCL_ALGO is left */
  g_auto (Imported) got =
      import_text (reader, NULL,
                   NAME CONFIG "0\n" TWO_BY_2
                               "a:7:7 [0] NCCL INFO NCCL version 2.20.5+cuda12.4\na:7:7 [0] NCCL INFO NCCL_ALGO set by environment "
                               "to ring\na:7:7 [0] NCCL INFO NCCL_PROTO set by environment to Simple.\n" ROW FOOT
                               "# Collective test starting: alltoall_perf\n" CONFIG "3\n" TWO_BY_2
                               "1000000 62500 float none -1 100.00 10.00 7.50 0 100.00 10.00 7.50 N/A\n" FOOT);
  TEST_HAS (got.csv, "\nall_reduce,fp32,2,2,ring,simple,threads,1000000,100,0,15,2.20.5,0\n");
  TEST_HAS (got.csv, "\nalltoall,fp32,2,2,auto,auto,registered,1000000,100,0,7.5,,0\n");
  TEST_STR (got.warnings, "");
}

static void
columns_are_those_of_the_header_line (void)
{
  static const struct {
    const char *text, *row;
  } rows[] = {
    { "# size count type time algbw busbw error time algbw busbw error\n1000000 1 half 100.00 10.00 15.00 1e-07 100.0 10.00 15.00 "
      "N/A\n",
      "all_reduce,fp16,1,4,,,,1000000,100,0,15,,\n" },
    { "# size count type redop time algbw busbw error\n1000000 1 float 100.00 10.00 15.00 0e+00\n", /* blank redop */
      "all_reduce,fp32,1,4,,,,1000000,100,0,15,,\n" },
    { "# size count type root time algbw busbw #wrong\n1000000 1 bfloat16 0 100.00 10.00 15.00 0\n",
      "all_reduce,bf16,1,4,,,,1000000,100,0,15,,0\n" },
    { "# size count type redop root time algbw busbw #wrong i_min i_max i_p99 i_cv% time algbw busbw #wrong i_min i_max i_p99 "
      "i_cv% timestamp\n1000000 1 float sum -1 100.0 10.00 15.00 0 1 2 3 4 100 10.00 15.00 N/A 1 2 3 4 2026-11-20 10:00:00\n",
      "all_reduce,fp32,1,4,,,,1000000,100,1,15,,\n" },
    { "[1,0]<stdout>:" ROW, "all_reduce,fp32,1,4,,,,1000000,100,0,15,,0\n" },
    { "3: " ROW, "all_reduce,fp32,1,4,,,,1000000,100,0,15,,0\n" },
    { "\xEF\xBB\xBF"
      "noise\r\n" ROW "4 words that begin with a number\n",
      "all_reduce,fp32,1,4,,,,1000000,50,1,30,,\n" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_auto (Imported) got = import_text (reader, &all_reduce_of_4, rows[i].text);
    TEST_HAS (got.csv != NULL ? got.csv : got.message, rows[i].row);
    TEST_STR (got.warnings, "");
  }
}

/* The first process of two GPUs says so of one: so many have two each. */
static void
lines_that_are_not_printed_are_counted_by_process (void)
{
  static const char config[] = "# nThread 2 nGpus 2 minBytes 8 maxBytes 8 graph: 0\n";
  g_autofree char *text = g_strconcat (NAME, config, RANK ("0", "a"), RANK ("4", "b"), "...\n", NULL);
  g_autofree char *rows = g_strconcat (text, "1000000 1 float sum -1 100.00 10.00 17.50 0 100.00 10.00 17.50 0\n", FOOT, NULL);
  g_auto (Imported) got = import_text (reader, NULL, rows);
  TEST_HAS (got.csv, "all_reduce,fp32,2,4,,,serial,1000000,100,0,17.5,,0\n");
  TEST_STR (got.warnings, "");
}

static void
what_measured_nothing_is_left_out_and_counted (void)
{
  static const struct {
    const char *row, *warning;
  } rows[] = {
    { "8 2 float sum -1 nan 0.00 0.00 0 100.0 0.00 0.00 0\n", "f:1: time nan us out of place of 8 B is no time: left out\n" },
    { "8 2 float sum -1 0.00 inf inf 0 -1.0 0.00 0.00 0\n",
      "f:1: time 0 us out of place of 8 B is no time: left out; 1 more like it\n" },
    { "8 2 float sum -1 inf 0.00 0.00 0 10.0 0.00 0.00 0\n", "f:1: time inf us" },
    { "8 2 float sum -1 10.0 0.00 0.00 2 10.0 0.00 0.00 1e+06\n",
      "f:1: 2 wrong elements out of place of 8 B: left out; 1 more like" },
    { "0 0 float sum -1 10.0 0.00 0.00 0 10.0 0.00 0.00 0\n", "f: 2 rows of size 0, in which nothing was sent, are left out\n" },
    { "8 2 uint64 sum -1 10.0 0.00 0.00 0 10.0 0.00 0.00 0\n", "f:1: type 'uint64' is none of forerun's: left out\n" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *text = g_strconcat (rows[i].row, ROW, NULL);
    g_auto (Imported) got = import_text (reader, &all_reduce_of_4, text);
    TEST_HAS (got.csv, ",1000000,100,0,15,,0\n");
    TEST_HAS (got.warnings, rows[i].warning);
  }
}

static void
a_row_that_repeats_another_is_kept_and_counted (void)
{
  g_auto (Imported) got = import_text (reader, &all_reduce_of_4, ROW ROW ROW);
  TEST_STR (got.warnings, "f:2: measures what an earlier row does: kept; 3 more like it (line 3)\n");
  g_auto (GStrv) lines = g_strsplit (got.csv, "\n", -1);
  TEST_INT (g_strv_length (lines), 8); /* a header, six rows, what follows the last line end */
}

/* Rates may be off by what rounding explains, and by no more. */
static void
rates_that_contradict_each_other_are_told (void)
{
  static const struct {
    const char *row, *warning;
  } rows[] = {
    { "1000000 1 float sum -1 100.00 10.00 15.00 0 100.00 10.00 15.02 0\n",
      "f:1: busbw is 15.02, but all_reduce over 4 ranks makes 15 " },
    { "1000000 1 float sum -1 100.00 10.00 17.50 0 100.00 10.00 17.50 0\n",
      "f:1: busbw is 17.5, but all_reduce over 4 ranks makes 15 " },
    { "1000000 1 float sum -1 100.00 9.00 13.50 0 100.00 10.00 15.00 0\n",
      "f:1: 1000000 B in 100 us are 10 GB/s, but algbw is 9: " },
    /* 1 % of a time of two digits */
    { "1000000 1 float sum -1 1.0e+02 9.60 14.40 0 100.00 10.00 15.00 0\n", "" },
    { "1000 1 float sum -1 100.00 0.01 0.02 0 100.00 0.01 0.01 0\n", "" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_auto (Imported) got = import_text (reader, &all_reduce_of_4, rows[i].row);
    if (*rows[i].warning == '\0')
      TEST_STR (got.warnings, "");
    TEST_HAS (got.warnings, rows[i].warning);
    TEST_TRUE (got.csv != NULL);
  }
}

static void
a_run_that_was_cut_short_is_told (void)
{
  g_auto (Imported) got = import_text (reader, NULL, NAME CONFIG "0\n" TWO_BY_2 FOOT NAME CONFIG "0\n" TWO_BY_2 ROW);
  TEST_HAS (got.warnings, "f:1: the run that begins here has no row\n");
  TEST_HAS (got.warnings, "f:8: the run that begins here ends without its summary");
}

static void
titles_become_a_column (void)
{
  g_auto (Imported) got = import_text (reader, &all_reduce_of_4, "## one, two\n" ROW "## three\n" ROW);
  TEST_HAS (got.csv, ",wrong,setting\n");
  TEST_HAS (got.csv, ",1000000,100,0,15,,0,one; two\n");
  TEST_HAS (got.csv, ",1000000,50,1,30,,,three\n");
  TEST_STR (got.warnings, "");
}

static void
bad_text_is_refused_with_its_place (void)
{
  static const Refusal rows[] = {
    { "", "f: this is not nccl-tests' output" },
    { "hello\n", "f: this is not nccl-tests' output" },
    { "kind,src\n1,2\n", "f: this is not nccl-tests' output" },
    { ROW, "f:1: on how many GPUs?" }, /* told: see below */
    { NAME CONFIG "0\n", "f: no row is left" },
    { "# nThread x nGpus 1\n", "f:1: '# nThread N nGpus N" },
    { NAME "# nThread 0 nGpus 1\n", "f:2: '# nThread N nGpus N" },
    { "#  Rank  0 Group 0 Pid\n", "f:1: a line of ranks" },
    { NAME RANK ("0", "a") RANK ("2", "a") ROW, "f:4: 2 processes of 1 GPUs are listed, but there is a rank 2" },
    { NAME RANK ("0", "a") RANK ("0", "a") ROW, "f:3: rank 0 is listed twice" },
    { "# size count time algbw busbw\n", "f:1: 'time' where a table" },
    { "# size count type time algbw busbw\n", "f:1: 'time' where a table" },
    { "# size count type time algbw busbw #wrong mystery\n", "f:1: 'mystery' where a table" },
    { "# size count type cputime algbw busbw #wrong\n", "f:1: 'cputime'" },
    { "# bytes N type op time algbw busbw res\n", "f:1: a table of nccl-tests of 2017" },
    { ROW "1048576\n", "f:2: 1 words" },
    { ROW "  1048576 26214", "f:2: 2 words" },
    { ROW "1000000 250000 float sum -1 100.00 10.00 15.00 0 50.00 20.00 30.00 N/\n", "f:2:68: #wrong 'N/'" },
    { ROW "1000000 250000 float sum -1 100.00 10.00 15.00 -1 50.00 20.00 30.00 0\n", "f:2:48: #wrong '-1'" },
    { ROW "1000000 250000 float sum -1 0x10 10.00 15.00 0 50.00 20.00 30.00 0\n", "f:2:29: time '0x10' is no number" },
    { "1000000 250000 float sum -1 1e+99 10.00 15.00 0 50.00 20.00 30.00 0\n", "f:1:29: time 1e+99 us; up to" },
    { "99999999999999999 1 float sum -1 1 1 1 0 1 1 1 0\n", "f:1: size and count" },
    { "# forerun 0.1.0: predicted, not measured\n" ROW, "f:1: a prediction" },
  };
  CalFileInfo told = all_reduce_of_4;
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    told.gpus = strstr (rows[i].message, "how many") != NULL || strstr (rows[i].input, "Rank") != NULL ? 0 : 4;
    test_refusals (reader, &told, &rows[i], 1);
  }
  static const Refusal unnamed[] = { { ROW, "f:1: which operation?" }, { RANK ("0", "a") ROW, "f:2: which operation?" } };
  test_refusals (reader, NULL, unnamed, G_N_ELEMENTS (unnamed));
}

#define JSON(results)                                                                                                           \
  "{\"version\": 3, \"args\": [\"/opt/all_reduce_perf_mpi\"], \"env\": [\"NCCL_ALGO=nvlstree\", 7], \"nccl_version\": 2804,\n"  \
  "\"config\": {\"nthreads\": 1, \"ngpus\": 2, \"graph\": 0, \"devices\": [{\"rank\": 0, \"group\": 0, \"hostname\": \"a\"},\n" \
  "{\"rank\": 2, \"group\": 0, \"hostname\": \"b\"}]}, \"results\": [" results "]}\n"
#define HALF(time, wrong) "{\"time\": " time ", \"alg_bw\": 10.0, \"bus_bw\": 15.0, \"nwrong\": " wrong "}"
#define RESULT(out, in)   "{\"size\": 1000000, \"type\": \"float\", \"out_of_place\": " out ", \"in_place\": " in "}"

static void
a_json_document_says_the_same (void)
{
  g_auto (Imported) got = import_text (
      reader, NULL, JSON (RESULT (HALF ("100", "0.000000"), HALF ("100.0", "null")) ", " RESULT ("null", HALF ("\"nan\"", "0"))));
  TEST_STR (got.csv, HEADER "all_reduce,fp32,2,2,nvls_tree,auto,serial,1000000,100,0,15,2.8.4,0\n"
                            "all_reduce,fp32,2,2,nvls_tree,auto,serial,1000000,100,1,15,2.8.4,\n");
  TEST_STR (got.warnings, "f: results[1].in_place: time nan us in place of 1000000 B is no time: left out\n");
}

static void
bad_json_is_refused_with_its_path (void)
{
  static const Refusal rows[] = {
    { "{", "f:1:1: the file ends within the JSON document of line 1" },
    { "{}", "f:1: this is not nccl-tests' JSON" },
    { "\n{\"config\": {},\n \"results\" []}\n", "f:3:" },
    { JSON ("7"), "f: results[0]: an object" },
    { JSON (RESULT ("7", "null")), "f: results[0].out_of_place: an object or null" },
    { JSON (RESULT (HALF ("\"soon\"", "0"), "null")), "f: results[0].out_of_place.time: a number" },
    { JSON (RESULT ("null", HALF ("1", "\"x\""))), "f: results[0].in_place.nwrong: a count" },
    { JSON (RESULT ("null", HALF ("1e15", "0"))), "f: results[0].in_place: time 1e+15 us" },
    { JSON (RESULT ("null", "{\"cpu_time\": 1}")), "f: results[0].in_place: 'cpu_time'" },
    { JSON ("{\"size\": -1, \"type\": \"float\"}"), "f: results[0]: size -1" },
    { JSON ("{\"size\": 1.5, \"type\": \"float\"}"), "f: results[0]: size 1.5" },
    { JSON (RESULT ("null", "null")), "f: no row is left" },
  };
  test_refusals (reader, NULL, rows, G_N_ELEMENTS (rows));
}

static void
documents_may_follow_each_other (void)
{
  g_auto (Imported) got =
      import_text (reader, NULL, JSON (RESULT (HALF ("100", "0"), "null")) "noise\n" JSON (RESULT (HALF ("100", "0"), "null")));
  TEST_HAS (got.warnings, "f:4: 'noise' is not JSON and was passed over\n");
  TEST_HAS (got.warnings, "f: results[0].out_of_place: measures what an earlier row does: kept\n");
}

/* A command line before a run, or the line behind it, where the header does not. */
static void
a_command_names_the_operation (void)
{
#define AFTER "# Collective test concluded: all_gather_perf\n"
  static const struct {
    const char *text, *op;
  } rows[] = {
    { "$ mpirun -np 4 ./build/reduce_scatter_perf -b 8\n" CONFIG "0\n" TWO_BY_2 ROW FOOT, "\nreduce_scatter," },
    { "./all_gather_perf_mpi\n" CONFIG "0\n" TWO_BY_2 ROW FOOT AFTER, "\nall_gather," },
    { CONFIG "0\n" TWO_BY_2 ROW FOOT AFTER, "\nall_gather," },
    { "reduce_scatter_perf\n" NAME CONFIG "0\n" TWO_BY_2 ROW FOOT, "\nall_reduce," }, /* the header knows better */
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_auto (Imported) got = import_text (reader, NULL, rows[i].text);
    TEST_STR (got.message, "");
    TEST_HAS (got.csv, rows[i].op);
  }
  g_auto (Imported) two = import_text (
      reader, NULL, "./all_reduce_perf\n" CONFIG "0\n" TWO_BY_2 ROW FOOT "./broadcast_perf\n" CONFIG "0\n" TWO_BY_2 ROW FOOT);
  TEST_HAS (two.csv, "\nall_reduce,");
  TEST_HAS (two.csv, "\nbroadcast,");
  static const Refusal several[] = { { CONFIG "0\n" TWO_BY_2 ROW AFTER CONFIG "0\n" TWO_BY_2 ROW AFTER, "f:6: which operation?" } };
  test_refusals (reader, NULL, several, G_N_ELEMENTS (several));
}

static const TestCase cases[] = {
  { "a run says operation, nodes, launch and version", a_run_says_operation_nodes_launch_and_version },
  { "each run has its own header", each_run_has_its_own_header },
  { "columns are those of the header line", columns_are_those_of_the_header_line },
  { "lines that are not printed are counted by process", lines_that_are_not_printed_are_counted_by_process },
  { "what measured nothing is left out and counted", what_measured_nothing_is_left_out_and_counted },
  { "a row that repeats another is kept and counted", a_row_that_repeats_another_is_kept_and_counted },
  { "rates that contradict each other are reported", rates_that_contradict_each_other_are_told },
  { "a run that was cut short is reported", a_run_that_was_cut_short_is_told },
  { "a command line, or the end of the run, names the operation", a_command_names_the_operation },
  { "titles become a column", titles_become_a_column },
  { "bad text is refused with its place", bad_text_is_refused_with_its_place },
  { "a JSON document says the same", a_json_document_says_the_same },
  { "bad JSON is refused with its path", bad_json_is_refused_with_its_path },
  { "documents may follow each other", documents_may_follow_each_other },
  { NULL, NULL },
};

int
main (void)
{
  return test_main ("nccl-tests as CSV", cases);
}
