/* Rows of priced collectives: the keys of the contract, nccl-tests' columns, and what is missing. */
#include <math.h>

#include "harness.h"
#include "report/coll.h"

/* 8 ranks, 1 GiB all-reduce in 2.5 ms: algbw 1073741824 / 0.0025 = 429.4967296 GB/s, busbw x 14/8 = 751.6192768 GB/s. */
static ColAnswer
sample (void)
{
  ColAnswer coll = { .op = MDL_OP_ALL_REDUCE,
                   .algo = MDL_ALGO_RING,
                   .proto = MDL_PROTO_SIMPLE,
                   .dtype = MDL_DTYPE_FP32,
                   .size_B = 1073741824,
                   .n_ranks = 8,
                   .n_nodes = 1,
                   .time_s = 0.0025,
                   .time_lo_s = 0.002,
                   .time_hi_s = 0.003,
                   .algbw_Bps = 429496729600,
                   .busbw_Bps = 751619276800,
                   .wire_Bps = 368e9,
                   .bound_by = "nvlink4",
                   .provenance = BASE_SOURCE_DATASHEET };
  coll.cost.channels = 24;
  return coll;
}

static void
tsv_has_the_keys_of_the_contract_in_order (void)
{
  g_autoptr (BaseTable) table = base_members_table (rep_coll_members, NULL);
  ColAnswer coll = sample ();
  base_members_add (table, rep_coll_members, &coll);
  g_autoptr (GString) out = g_string_new (NULL);
  base_table_print_tsv (table, out);
  TEST_STR (out->str, "op\tbytes\tdtype\tnodes\tranks\talgo\tproto\tchannels\ttime_s\talgbw_Bps\tbusbw_Bps\twire_Bps\t"
                      "time_lo_s\ttime_hi_s\tbound_by\tprovenance\n"
                      "all_reduce\t1073741824\tfp32\t1\t8\tring\tsimple\t24\t0.0025000000000000001\t429496729600\t751619276800\t"
                      "368000000000\t0.002\t0.0030000000000000001\tnvlink4\tdatasheet\n");
}

static void
text_shows_times_and_rates_in_units_that_read_well (void)
{
  g_autoptr (BaseTable) table = base_members_table (rep_coll_members, NULL);
  ColAnswer coll = sample ();
  base_members_add (table, rep_coll_members, &coll);
  g_autoptr (GString) out = g_string_new (NULL);
  base_table_print_text (table, out);
  TEST_HAS (out->str, "time (ms)");
  TEST_HAS (out->str, "busbw (GB/s)");
  TEST_HAS (out->str, "2.5");
  TEST_HAS (out->str, "751.6");
}

static void
json_row_equals_table_row (void)
{
  g_autoptr (BaseTable) table = base_members_table (rep_coll_members, NULL);
  ColAnswer coll = sample ();
  base_members_add (table, rep_coll_members, &coll);
  g_autoptr (JsonBuilder) by_table = json_builder_new (), by_members = json_builder_new ();
  base_table_build_json (table, by_table);
  json_builder_begin_array (by_members);
  json_builder_begin_object (by_members);
  base_members_json (rep_coll_members, &coll, by_members);
  json_builder_end_object (by_members);
  json_builder_end_array (by_members);
  g_autofree char *a = base_json_print (by_table), *b = base_json_print (by_members);
  TEST_STR (a, b);
}

static void
plain_library_has_no_channels (void)
{
  g_autoptr (BaseTable) table = base_members_table (rep_coll_members, NULL);
  ColAnswer coll = sample ();
  coll.cost.channels = 0;
  base_members_add (table, rep_coll_members, &coll);
  g_autoptr (JsonBuilder) json = json_builder_new ();
  base_table_build_json (table, json);
  g_autofree char *text = base_json_print (json);
  TEST_HAS (text, "\"channels\" : null");
}

static void
one_rank_that_takes_no_time_prints_no_infinity (void)
{
  g_autoptr (BaseTable) table = base_members_table (rep_coll_members, NULL);
  ColAnswer coll = sample ();
  coll.time_s = coll.time_lo_s = coll.time_hi_s = 0;
  coll.algbw_Bps = coll.busbw_Bps = HUGE_VAL;
  base_members_add (table, rep_coll_members, &coll);
  g_autoptr (JsonBuilder) json = json_builder_new ();
  base_table_build_json (table, json);
  g_autofree char *text = base_json_print (json);
  TEST_HAS (text, "\"algbw_Bps\" : null");
  g_autoptr (GString) row = g_string_new (NULL);
  rep_nccl_tests_row (row, &coll, 0);
  TEST_HAS (row->str, "   0.00     N/A     N/A     N/A");
}

static void
nccl_tests_row_has_its_columns (void)
{
  /* size 12, count 12, type 8, redop 6, root 6, then time 7, algbw 6, busbw 6, #wrong 6, twice; two blanks between. */
  ColAnswer coll = sample ();
  g_autoptr (GString) row = g_string_new (NULL);
  rep_nccl_tests_row (row, &coll, 0);
  TEST_STR (row->str, "  1073741824     268435456     float     sum      -1"
                      "  2500.00  429.50  751.62     N/A  2500.00  429.50  751.62     N/A\n");
}

static void
nccl_tests_count_is_one_ranks_part_of_a_gather (void)
{
  /* 1 GiB over 8 ranks is 134217728 B a rank: 67108864 elements of 2 B. */
  ColAnswer coll = sample ();
  coll.op = MDL_OP_ALL_GATHER;
  coll.dtype = MDL_DTYPE_BF16;
  g_autoptr (GString) row = g_string_new (NULL);
  rep_nccl_tests_row (row, &coll, 0);
  TEST_HAS (row->str, "  1073741824      67108864  bfloat16    none      -1  ");
}

static void
nccl_tests_broadcast_prints_its_root (void)
{
  ColAnswer coll = sample ();
  coll.op = MDL_OP_BROADCAST;
  g_autoptr (GString) row = g_string_new (NULL);
  rep_nccl_tests_row (row, &coll, 3);
  TEST_HAS (row->str, "     float    none       3  ");
}

static void
nccl_tests_numbers_give_up_decimals_to_keep_their_width (void)
{
  /* 123456.7 us does not fit seven characters with two decimals: 123456.78 is nine, 123456.8 eight, 123457 six. */
  ColAnswer coll = sample ();
  coll.time_s = 0.1234567;
  coll.algbw_Bps = 12345.6e9;
  g_autoptr (GString) row = g_string_new (NULL);
  rep_nccl_tests_row (row, &coll, 0);
  TEST_HAS (row->str, "   123457   12346  751.62");
}

static void
nccl_tests_foot_gives_the_mean_in_gigabytes (void)
{
  g_autoptr (GString) foot = g_string_new (NULL);
  rep_nccl_tests_foot (foot, MDL_OP_ALL_REDUCE, 42.5e9);
  TEST_STR (foot->str, "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 42.5 \n#\n"
                       "# Collective test concluded: all_reduce_perf\n");
}

int
main (void)
{
  static const TestCase cases[] = {
    { "tsv has the keys of the contract in order", tsv_has_the_keys_of_the_contract_in_order },
    { "text shows times and rates in units that read well", text_shows_times_and_rates_in_units_that_read_well },
    { "json of one row equals the table's", json_row_equals_table_row },
    { "plain library has no channels", plain_library_has_no_channels },
    { "one rank that takes no time prints no infinity", one_rank_that_takes_no_time_prints_no_infinity },
    { "nccl-tests row has its columns", nccl_tests_row_has_its_columns },
    { "nccl-tests count is one rank's part of a gather", nccl_tests_count_is_one_ranks_part_of_a_gather },
    { "nccl-tests broadcast prints its root", nccl_tests_broadcast_prints_its_root },
    { "nccl-tests numbers give up decimals to keep their width", nccl_tests_numbers_give_up_decimals_to_keep_their_width },
    { "nccl-tests foot gives the mean in gigabytes", nccl_tests_foot_gives_the_mean_in_gigabytes },
    { NULL, NULL },
  };
  return test_main ("report: collectives", cases);
}
