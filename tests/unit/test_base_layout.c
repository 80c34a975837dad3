#include "base/layout.h"

#include <math.h>

#include "base/table.h"
#include "harness.h"

static void
shown (double value, BaseDim dim, const char *text)
{
  g_autofree char *got = base_quantity_show (value, dim);
  TEST_STR (got, text);
}

static void
quantities_take_the_unit_that_reads_best (void)
{
  shown (12.89e-6, BASE_DIM_TIME, "12.89 us");
  shown (4.46122e-3, BASE_DIM_TIME, "4.461 ms");
  shown (36.635, BASE_DIM_TIME, "36.63 s");
  shown (8280, BASE_DIM_TIME, "2.3 h");
  shown (45.6 * 86400, BASE_DIM_TIME, "45.6 days");
  shown (0, BASE_DIM_TIME, "0 ns");
  shown (53.591e9, BASE_DIM_BYTES, "49.91 GiB");
  shown (1073741824, BASE_DIM_BYTES, "1 GiB");
  shown (1e9, BASE_DIM_BYTES, "1 GB"); /* as it was asked for */
  shown (1.5e6, BASE_DIM_BYTES, "1.5 MB");
  shown (4096, BASE_DIM_BYTES, "4 KiB");
  shown (451.28e9, BASE_DIM_BANDWIDTH, "451.3 GB/s");
  shown (0.5e9, BASE_DIM_BANDWIDTH, "500 MB/s");
  shown (14.338e6, BASE_DIM_MONEY, "$14.34 M");
  shown (412, BASE_DIM_MONEY, "$412");
  shown (5000, BASE_DIM_MONEY, "$5 k");
  shown ((double)NAN, BASE_DIM_TIME, "-");
}

static void
bands_have_one_unit (void)
{
  g_autofree char *band = base_band_show (4.46122e-3, 2.97414e-3, 6.69183e-3, BASE_DIM_TIME),
                  *none = base_band_show (1, 1, 1, BASE_DIM_TIME);
  TEST_STR (band, "4.461 ms (2.974 to 6.692)");
  TEST_STR (none, "1 s");
}

static void
a_column_takes_the_larger_unit_where_its_least_value_still_shows (void)
{
  TEST_STR (base_scale_of (BASE_DIM_TIME, 500e-9, 268.4e-6).unit, "us");
  TEST_STR (base_scale_of (BASE_DIM_TIME, 50e-9, 268.4e-6).unit, "ns");
  TEST_STR (base_scale_of (BASE_DIM_TIME, 10e-6, 80e-3).unit, "us");
  TEST_STR (base_scale_of (BASE_DIM_TIME, 500e-9, 8e-6).unit, "ns");
}

static const BaseColumn columns[] = {
  { "name", "name", BASE_CELL_TEXT, 0, NULL, 0 },        { "time_s", "time", BASE_CELL_NUMBER, 0, NULL, 0 },
  { "rate_Bps", "rate", BASE_CELL_NUMBER, 0, NULL, 1 },  { "nothing", "nothing", BASE_CELL_NUMBER, 0, NULL, 0 },
  { "note", "note (text)", BASE_CELL_TEXT, 0, NULL, 2 }, { NULL, NULL, BASE_CELL_TEXT, 0, NULL, 0 },
};

static BaseTable *
table_new (void)
{
  BaseTable *table = base_table_new (columns);
  static const double times[] = { 12.89e-6, 31031.86e-6 };
  for (unsigned i = 0; i < 2; i++) {
    base_table_row (table);
    base_table_text (table, "name", i == 0 ? "small" : "a large one of many words");
    base_table_number (table, "time_s", times[i]);
    base_table_number (table, "rate_Bps", 1e9 * (i + 1));
    base_table_text (table, "note", "said");
  }
  return table;
}

static void
prints (guint width, const char *const *names, const char *text)
{
  base_layout_set (width, names);
  g_autoptr (BaseTable) table = table_new ();
  g_autoptr (GString) out = g_string_new (NULL);
  base_table_print_text (table, out);
  TEST_STR (out->str, text);
}

static void
tables_leave_out_what_finds_no_room (void)
{
  prints (60, NULL,
          "name                       time (us)  rate (GB/s)\n"
          "small                          12.89            1\n"
          "a large one of many words   31031.86            2\n");
  TEST_INT (base_layout_list (BASE_LAYOUT_LEFT_OUT)->len, 1);
  TEST_STR (base_layout_list (BASE_LAYOUT_LEFT_OUT)->pdata[0], "note");
  prints (30, NULL,
          "name                 time (us)\n"
          "small                    12.89\n"
          "a large one of man…   31031.86\n");
  prints (12, NULL, "name\nsmall\na large one…\n");
  base_layout_set (0, NULL);
}

static void
picked_columns_stand_in_the_order_asked (void)
{
  static const char *const names[] = { "rate", "name", "elsewhere", NULL };
  prints (100, names,
          "rate (GB/s)  name\n"
          "          1  small\n"
          "          2  a large one of many words\n");
  TEST_INT (base_layout_list (BASE_LAYOUT_PICKED)->len, 2);
  TEST_INT (base_layout_list (BASE_LAYOUT_KNOWN)->len, 5);
  g_autoptr (BaseTable) table = table_new ();
  g_autoptr (GString) out = g_string_new (NULL);
  base_table_print_tsv (table, out);
  TEST_STR (out->str, "rate_Bps\tname\n1000000000\tsmall\n2000000000\ta large one of many words\n");
  base_layout_set (0, NULL);
}

static void
prose_breaks_at_blanks (void)
{
  g_autoptr (GString) text =
      g_string_new ("# one two three four\nfive six seven\n  - eight nine ten\nunbreakable_word_of_many\nit is 412 ms long\n");
  base_text_wrap (text, 12);
  TEST_STR (
      text->str,
      "# one two\n# three four\nfive six\n  seven\n  - eight\n    nine ten\nunbreakable_word_of_many\nit is 412 ms\n  long\n");
  base_text_wrap (text, 0);
  TEST_STR (
      text->str,
      "# one two\n# three four\nfive six\n  seven\n  - eight\n    nine ten\nunbreakable_word_of_many\nit is 412 ms\n  long\n");
}

int
main (void)
{
  static const TestCase cases[] = {
    { "quantities take the unit that reads best", quantities_take_the_unit_that_reads_best },
    { "bands have one unit", bands_have_one_unit },
    { "a column takes the larger unit where its least value still shows",
      a_column_takes_the_larger_unit_where_its_least_value_still_shows },
    { "tables leave out what finds no room", tables_leave_out_what_finds_no_room },
    { "picked columns stand in the order asked", picked_columns_stand_in_the_order_asked },
    { "prose breaks at blanks", prose_breaks_at_blanks },
    { 0 },
  };
  return test_main ("base/layout", cases);
}
