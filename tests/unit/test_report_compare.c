/* Winners: who leads and by how much, what the matrix, the rows and the crossovers say, and NCCL's tuner file. */
#include <math.h>
#include <string.h>

#include "harness.h"
#include "report/compare.h"

static StdCompareRow
row_of (MdlAlgo algo, double size_B, double time_s, guint column, guint size)
{
  StdCompareRow row = { .column = column, .size = size, .own_algo = -1, .own_proto = -1, .own_time_s = (double)NAN };
  row.coll = (ColAnswer){ .op = MDL_OP_ALL_REDUCE,
                          .algo = algo,
                          .proto = MDL_PROTO_SIMPLE,
                          .dtype = MDL_DTYPE_FP32,
                          .size_B = size_B,
                          .n_ranks = 8,
                          .n_nodes = 1,
                          .time_s = time_s,
                          .time_lo_s = time_s / 1.5,
                          .time_hi_s = time_s * 1.5,
                          .busbw_Bps = size_B / time_s * 1.75 };
  row.coll.cost.channels = 16;
  return row;
}

static void
add_span (StdCompareColumn *column, guint64 from_B, MdlAlgo algo, MdlProto proto, unsigned channels)
{
  StdCompareSpan span = { from_B, algo, proto, channels };
  g_array_append_val (column->spans, span);
}

static void
add_rows (StdCompare *compare, StdCompareRow *rows, guint n)
{
  std_compare_rank (rows, n);
  g_array_append_vals (compare->rows, rows, n);
}

/* Tree 10 us against ring 15 us at 1 KiB: 50 % ahead, which is all of tree's band (15 us at most). Ring 100 us against tree 1 ms at
 * 1 MiB: 10 times. */
static StdCompare *
sample (void)
{
  StdCompare *compare = std_compare_new (MDL_OP_ALL_REDUCE);
  const guint64 sizes[] = { 1024, 1048576 };
  g_array_append_vals (compare->sizes, sizes, 2);
  compare->max_B = 1048576;
  StdCompareColumn *column = std_compare_add_column (compare, 1, 8);
  add_span (column, 1024, MDL_ALGO_TREE, MDL_PROTO_LL, 4);
  add_span (column, 32768, MDL_ALGO_TREE, MDL_PROTO_SIMPLE, 8);
  add_span (column, 281600, MDL_ALGO_RING, MDL_PROTO_SIMPLE, 16);
  StdCompareRow small[] = { row_of (MDL_ALGO_TREE, 1024, 10e-6, 0, 0), row_of (MDL_ALGO_RING, 1024, 15e-6, 0, 0) };
  StdCompareRow large[] = { row_of (MDL_ALGO_TREE, 1048576, 1e-3, 0, 1), row_of (MDL_ALGO_RING, 1048576, 100e-6, 0, 1) };
  add_rows (compare, small, 2);
  add_rows (compare, large, 2);
  return compare;
}

static void
print_rows (const StdCompare *compare, GString *out)
{
  g_autoptr (BaseTable) rows = rep_compare_table (compare);
  base_table_print_tsv (rows, out);
}

static void
the_fastest_leads_by_what_the_next_takes_longer (void)
{
  StdCompareRow rows[] = { row_of (MDL_ALGO_TREE, 8, 2e-6, 0, 0), row_of (MDL_ALGO_RING, 8, 1e-6, 0, 0),
                           row_of (MDL_ALGO_NVLS, 8, 4e-6, 0, 0) };
  std_compare_rank (rows, 3);
  TEST_TRUE (!rows[0].best && rows[1].best && !rows[2].best);
  TEST_NEAR (rows[0].margin, 1.0 / 2.0 - 1.0, 1e-12);
  TEST_NEAR (rows[1].margin, 2.0 / 1.0 - 1.0, 1e-12);
  TEST_NEAR (rows[2].margin, 1.0 / 4.0 - 1.0, 1e-12);
}

static void
the_first_of_equals_wins_and_one_alone_has_no_margin (void)
{
  StdCompareRow rows[] = { row_of (MDL_ALGO_TREE, 8, 1e-6, 0, 0), row_of (MDL_ALGO_RING, 8, 1e-6, 0, 0) };
  std_compare_rank (rows, 2);
  TEST_TRUE (rows[0].best && !rows[1].best);
  TEST_NEAR (rows[0].margin, 0.0, 0.0);
  std_compare_rank (rows, 1);
  TEST_TRUE (rows[0].best);
  TEST_TRUE (isnan (rows[0].margin));
  std_compare_rank (rows, 0);
}

static void
the_matrix_shows_letters_and_leads (void)
{
  g_autoptr (StdCompare) compare = sample ();
  g_autoptr (GString) out = g_string_new (NULL);
  rep_compare_text (compare, out);
  TEST_TRUE (g_str_has_prefix (out->str, "tree is fastest up to 275 KiB, ring beyond.\n\n"));
  TEST_HAS (out->str, " T tree, R ring.\n");
  TEST_HAS (out->str, "# 1 of 2 leads are within the error band");
  TEST_HAS (out->str, "1 KiB  T simple +50 %\n");
  TEST_HAS (out->str, "1 MiB  R simple x10\n");
  TEST_TRUE (strstr (out->str, "Left out") == NULL);
}

/* At 1 KiB the library takes the winner, at 1 MiB something 1.2 times as slow. */
static void
what_the_library_itself_takes_is_marked_where_it_is_slower (void)
{
  g_autoptr (StdCompare) compare = sample ();
  for (guint i = 0; i < compare->rows->len; i++) {
    StdCompareRow *row = &g_array_index (compare->rows, StdCompareRow, i);
    row->own_algo = MDL_ALGO_TREE;
    row->own_proto = MDL_PROTO_LL;
    row->own_time_s = row->size == 0 ? 10e-6 : 120e-6;
  }
  g_autoptr (GString) text = g_string_new (NULL), rows = g_string_new (NULL);
  rep_compare_text (compare, text);
  TEST_HAS (text->str, "1 KiB  T simple +50 %\n");
  TEST_HAS (text->str, "1 MiB  R simple x10 *\n");
  TEST_HAS (text->str, "in 1 of 2 cells, 20.0 % slower in the median, 20.0 % at most. --tuner-conf writes");
  print_rows (compare, rows);
  TEST_HAS (rows->str, "\ttree\tll\t");
}

static void
rows_say_who_is_best (void)
{
  g_autoptr (StdCompare) compare = sample ();
  g_autoptr (GString) out = g_string_new (NULL);
  print_rows (compare, out);
  g_auto (GStrv) lines = g_strsplit (out->str, "\n", -1);
  TEST_INT (g_strv_length (lines), 6); /* header, four rows, and nothing after the last line end */
  TEST_TRUE (g_str_has_suffix (lines[0], "\tprovenance\tbest\tmargin\town_algo\town_proto\town_time_s"));
  TEST_HAS (lines[1], "\tassumed\t1\t0.5\t");
  TEST_HAS (lines[3], "\tassumed\t0\t-0.90000000000000002\t");
}

static void
sizes_that_round_to_the_same_are_one_row (void)
{
  g_autoptr (StdCompare) compare = sample ();
  StdCompareRow again[] = { row_of (MDL_ALGO_TREE, 1048576, 1e-3, 0, 2), row_of (MDL_ALGO_RING, 1048576, 100e-6, 0, 2) };
  const guint64 size_B = 1048580;
  g_array_append_val (compare->sizes, size_B);
  add_rows (compare, again, 2);
  g_autoptr (GString) out = g_string_new (NULL);
  print_rows (compare, out);
  g_auto (GStrv) lines = g_strsplit (out->str, "\n", -1);
  TEST_INT (g_strv_length (lines), 6);
}

static void
a_change_of_protocol_is_no_crossover (void)
{
  g_autoptr (StdCompare) compare = sample ();
  g_autoptr (GString) out = g_string_new (NULL);
  rep_compare_crossovers_tsv (compare, out);
  TEST_STR (out->str, "nodes\tranks\tfrom_B\talgo\tinstead_of\n1\t8\t281600\tring\ttree\n");
}

static void
curves_are_of_the_first_the_middle_and_the_last (void)
{
  g_autoptr (StdCompare) compare = sample ();
  for (guint c = 1; c < 5; c++) {
    std_compare_add_column (compare, 1u << c, 8u << c);
    StdCompareRow row[] = { row_of (MDL_ALGO_RING, 1024, 1e-3, c, 0) };
    row[0].coll.n_nodes = 1u << c;
    add_rows (compare, row, 1);
  }
  g_autoptr (GString) out = g_string_new (NULL);
  rep_compare_curves_tsv (compare, out);
  /* 1024 B in 1 ms, x 1.75: 1.792 MB/s; of 1, 2, 4, 8, 16 nodes 2 and 8 are left out */
  TEST_HAS (out->str, "all_reduce\t1024\t4\tring\t1792000\n");
  TEST_HAS (out->str, "all_reduce\t1024\t16\tring\t1792000\n");
  TEST_TRUE (strstr (out->str, "\t1024\t2\t") == NULL);
  TEST_TRUE (strstr (out->str, "\t1024\t8\t") == NULL);
}

static void
the_tuner_file_has_a_line_a_span (void)
{
  g_autoptr (StdCompare) compare = sample ();
  compare->max_B = G_GUINT64_CONSTANT (8) << 30;
  StdCompareColumn *column = g_ptr_array_index (compare->columns, 0);
  add_span (column, G_GUINT64_CONSTANT (6) << 30, MDL_ALGO_NVLS, MDL_PROTO_SIMPLE, 16);
  g_autoptr (GString) out = g_string_new (NULL);
  TEST_TRUE (rep_tuner_conf (compare, "1.2.3", "toy", "h200_sxm", out));
  TEST_HAS (out->str, "# what NCCL should take, predicted by forerun 1.2.3\n# topology toy\n# constants h200_sxm\n");
  /* the third span ends at the largest size that the plugin's documentation allows; the fourth begins above it */
  TEST_HAS (out->str, "numPipeOps,regBuff\n"
                      "allreduce,1024,32767,tree,ll,4,1,8,-1,-1\n"
                      "allreduce,32768,281599,tree,simple,8,1,8,-1,-1\n"
                      "allreduce,281600,4294967295,ring,simple,16,1,8,-1,-1\n");
  TEST_TRUE (g_str_has_suffix (out->str, "ring,simple,16,1,8,-1,-1\n"));
}

static void
what_reduces_in_switches_of_the_network_is_told (void)
{
  g_autoptr (StdCompare) compare = sample ();
  add_span (g_ptr_array_index (compare->columns, 0), 2097152, MDL_ALGO_NVLS, MDL_PROTO_SIMPLE, 16);
  TEST_FALSE (std_compare_has_collnet (compare)); /* on one node */
  add_span (std_compare_add_column (compare, 2, 16), 8, MDL_ALGO_NVLS, MDL_PROTO_SIMPLE, 16);
  TEST_TRUE (std_compare_has_collnet (compare));
  g_autoptr (GString) text = g_string_new (NULL), conf = g_string_new (NULL);
  rep_compare_text (compare, text);
  TEST_HAS (text->str, "NCCL_COLLNET_ENABLE=1");
  TEST_TRUE (rep_tuner_conf (compare, "1", "toy", "none", conf));
  TEST_HAS (conf->str, "NCCL_COLLNET_ENABLE=1");
}

static void
the_tuner_file_names_only_what_nccl_offers (void)
{
  g_autoptr (StdCompare) compare = sample ();
  compare->op = MDL_OP_ALL_GATHER;
  g_autoptr (GString) out = g_string_new (NULL);
  TEST_TRUE (rep_tuner_conf (compare, "1", "toy", "none", out));
  TEST_TRUE (strstr (out->str, "tree") == NULL);
  TEST_TRUE (g_str_has_suffix (out->str, "\nallgather,281600,1048576,ring,simple,16,1,8,-1,-1\n"));
  compare->op = MDL_OP_ALLTOALL;
  g_string_truncate (out, 0);
  TEST_TRUE (!rep_tuner_conf (compare, "1", "toy", "none", out));
  TEST_STR (out->str, "");
}

static void
comments_of_the_tuner_file_stay_on_their_line (void)
{
  g_autoptr (StdCompare) compare = sample ();
  g_autofree char *name = g_strnfill (1000, 'x');
  name[3] = '\n';
  g_autoptr (GString) out = g_string_new (NULL);
  TEST_TRUE (rep_tuner_conf (compare, "1", name, "none", out));
  g_auto (GStrv) lines = g_strsplit (out->str, "\n", -1);
  for (char **line = lines; *line != NULL; line++) {
    TEST_TRUE (strlen (*line) < 255); /* the plugin reads lines into 256 bytes */
    TEST_TRUE (**line == '\0' || **line == '#' || g_str_has_prefix (*line, "allreduce,"));
  }
}

/* At 1 KiB vLLM's kernels serve, at 1 MiB NCCL's on symmetric memory: the tuner is asked for neither. */
static void
the_tuner_file_holds_what_the_tuner_can_choose (void)
{
  g_autoptr (StdCompare) compare = sample ();
  StdCompareColumn *column = g_ptr_array_index (compare->columns, 0);
  column->tuned = g_steal_pointer (&column->spans);
  column->spans = g_array_new (FALSE, FALSE, sizeof (StdCompareSpan));
  add_span (column, 1024, MDL_ALGO_ONE_SHOT, MDL_PROTO_SIMPLE, 8);
  add_span (column, 32768, MDL_ALGO_SYMMETRIC, MDL_PROTO_LL, 8);
  for (guint i = 0; i < compare->rows->len; i++) {
    StdCompareRow *row = &g_array_index (compare->rows, StdCompareRow, i);
    row->coll.question.one_shot = "vllm";
    row->own_algo = row->size == 0 ? MDL_ALGO_ONE_SHOT : MDL_ALGO_SYMMETRIC;
    row->own_time_s = row->size == 0 ? 10e-6 : 1200e-6;
  }
  g_autoptr (GString) out = g_string_new (NULL), text = g_string_new (NULL);
  TEST_TRUE (rep_tuner_conf (compare, "1", "toy", "none", out));
  TEST_HAS (out->str, "# on 1 node vllm's kernels serve 1024 B to 1024 B before NCCL's tuner is asked");
  TEST_HAS (out->str, "# on 1 node NCCL's kernels on symmetric memory serve 1048576 B to 1048576 B before");
  TEST_TRUE (strstr (out->str, "allreduce,1024,32767,tree,ll,4,1,8,-1,-1\n") != NULL);
  TEST_TRUE (strstr (out->str, "one_shot") == NULL && strstr (out->str, ",symmetric,") == NULL);
  rep_compare_text (compare, text);
  TEST_HAS (text->str, "# vllm chooses the fastest by itself in the only cell that it serves.\n");
  TEST_HAS (text->str, "# *: NCCL by itself chooses a slower one: in 1 of 1 cells that it serves, 1100 % slower");
  TEST_TRUE (strstr (text->str, "--tuner-conf") == NULL); /* it would change nothing */
  for (guint i = 0; i < compare->rows->len; i++)
    g_array_index (compare->rows, StdCompareRow, i).own_algo = MDL_ALGO_COPY_ENGINE;
  g_string_truncate (out, 0);
  TEST_TRUE (rep_tuner_conf (compare, "1", "toy", "none", out));
  TEST_HAS (out->str, "NCCL's copy engines serve 1024 B to 1048576 B before");
}

static const TestCase cases[] = {
  { "the fastest leads by what the next takes longer", the_fastest_leads_by_what_the_next_takes_longer },
  { "the first of equals wins and one alone has no margin", the_first_of_equals_wins_and_one_alone_has_no_margin },
  { "the matrix shows letters and leads", the_matrix_shows_letters_and_leads },
  { "what the library itself takes is marked where it is slower", what_the_library_itself_takes_is_marked_where_it_is_slower },
  { "rows say who is best", rows_say_who_is_best },
  { "sizes that round to the same are one row", sizes_that_round_to_the_same_are_one_row },
  { "a change of protocol is no crossover", a_change_of_protocol_is_no_crossover },
  { "curves are of the first, the middle and the last", curves_are_of_the_first_the_middle_and_the_last },
  { "the tuner file has a line a span", the_tuner_file_has_a_line_a_span },
  { "reduction in switches of the network is reported", what_reduces_in_switches_of_the_network_is_told },
  { "the tuner file names only what NCCL offers", the_tuner_file_names_only_what_nccl_offers },
  { "the tuner file holds what the tuner can choose", the_tuner_file_holds_what_the_tuner_can_choose },
  { "comments of the tuner file stay on their line", comments_of_the_tuner_file_stay_on_their_line },
  { NULL, NULL },
};

int
main (void)
{
  return test_main ("report: compare", cases);
}
