/* Tables of perftest as CSV of pairs. */
#include "measured_fixture.h"

#define HEADER "tool,op,from,from_nic,to,to_nic,bytes,time_us,GBps,both_ways\n"
#define ENDS   "## node1:mlx5_0 -> node2:mlx5_1\n"
#define HEAD(test, unit)                                                                                                      \
  "                    " test "\n Dual-port       : OFF\t\tDevice         : mlx5_7\n #bytes     #iterations    BW peak[" unit \
  "]    BW average[" unit "]   MsgRate[Mpps]\n"
#define LATENCY                                                                                                         \
  "                    RDMA_Write Latency Test\n #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    " \
  "t_avg[usec]    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec]\n"
#define JSON(test, results) \
  "{\n\"test_info\": {\n\"test\": \"" test "\",\n\"Device\": \"mlx5_7\"\n},\n\"results\": {" results "}\n}\n"

static char *
reader (const CalText *text, const void *told, GError **error)
{
  (void)told;
  return cal_import_perftest (text, NULL, error);
}

static void
tables_become_pairs (void)
{
  static const struct {
    const char *text, *rows;
  } tests[] = {
    /* 48 Gb/s are 6 GB/s: 0.091553 million messages of 64 KiB */
    { ENDS HEAD ("RDMA_Write BW Test", "Gb/sec") " 65536      5000             48.10              48.00              0.091553\n",
      "perftest,write_bw,node1,mlx5_0,node2,mlx5_1,65536,,6,0\n" },
    { ENDS HEAD ("RDMA_Write Bidirectional BW Test", "MiB/sec") " 65536      5000       5722.0       5722.0     0.091552\n",
      "perftest,write_bw,node1,mlx5_0,node2,mlx5_1,65536,,5.999951872,1\n" },
    /* a read moves data from the peer */
    { "## node1 -> node2\n" HEAD ("RDMA_Read BW Test", "Gb/sec") " 65536 5000 48.10 48.00 0.091553\n",
      "perftest,read_bw,node2,mlx5_7,node1,mlx5_7,65536,,6,0\n" },
    { ENDS LATENCY " 2 1000          1.90        9.00      2.10  \t       2.15     \t0.10\t\t2.50 \t\t3.00\n",
      "perftest,write_lat,node1,mlx5_0,node2,mlx5_1,2,2.1,,0\n" },
    { JSON ("Send_BW_Test",
            "\"MsgSize\": 65536, \"n_iterations\": 5, \"BW_peak\": 48.1, \"BW_average\": 48.0, \"MsgRate\": 0.091553"),
      "perftest,send_bw,,mlx5_7,,,65536,,6.000017408,0\n" },
    { JSON ("RDMA_Write_Latency_Test", "\"MsgSize\": 2, \"t_typical\": 2.1, \"t_avg\": 3"),
      "perftest,write_lat,,mlx5_7,,,2,2.1,,0\n" },
    { ENDS HEAD ("RDMA_Write BW Test", "Gb/sec") " 65536 5000 48.10 48.00 0.091553\n"
                                                 "## node3:a -> node4:b\n 65536 5000 24.05 24.00 0.045776\n",
      "perftest,write_bw,node1,mlx5_0,node2,mlx5_1,65536,,6,0\nperftest,write_bw,node3,a,node4,b,65536,,3,0\n" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++) {
    g_auto (Imported) got = import_text (reader, NULL, tests[i].text);
    g_autofree char *csv = g_strconcat (HEADER, tests[i].rows, NULL);
    TEST_STR (got.message, "");
    TEST_STR (got.csv, csv);
  }
}

static void
bad_tables_are_refused_with_their_place (void)
{
  static const Refusal rows[] = {
    { "", "f: this is not perftest's output" },
    { "nothing\n", "f: this is not perftest's output" },
    { "## node1\n", "f:1: 'node1' names no pair; e.g. '## node1:mlx5_0 -> node2:mlx5_0'" },
    { HEAD ("Send BW Test", "GB/sec"), "f:3: the head names no unit" },
    { " #bytes fps\n", "f:1: a table of another test" },
    { HEAD ("Send BW Test", "Gb/sec") " 65536 5000 48.1\n", "f:4: 3 words where a row has 5: it is cut off" },
    { HEAD ("Send BW Test", "Gb/sec") " 65536 5000 48.1 fast 0.1\n", "f:4: a row of perftest's is numbers only" },
    { HEAD ("Send BW Test", "Gb/sec") " 65536 5000 6000 6000 0.091553\n", "f:4: 750 GB/s by the unit of the head" },
    { HEAD ("Send BW Test", "Gb/sec") " 65536 5000 0 0 0\n", "f: no row is left" },
    { "{\"test_info\": {}}\n", "f:1: no test_info.test and results" },
    { JSON ("Send_BW_Test", "\"bw_avg\": 3"), "f:1: results.MsgSize is missing" },
  };
  test_refusals (reader, NULL, rows, G_N_ELEMENTS (rows));
}

static const TestCase cases[] = {
  { "tables and JSON become pairs", tables_become_pairs },
  { "bad tables are refused with their place", bad_tables_are_refused_with_their_place },
  { NULL, NULL },
};

int
main (void)
{
  return test_main ("perftest as CSV", cases);
}
