#include "base/currency.h"
#include "base/finite.h"
#include "base/layout.h"
#include "base/table.h"
#include "harness.h"

#include <math.h>
#include <string.h>

static const BaseColumn columns[] = {
  { "size_B", "size (B)", BASE_CELL_INTEGER, 0, NULL, 0 },     { "algo", "algorithm", BASE_CELL_TEXT, 0, NULL, 0 },
  { "time_s", "time (us)", BASE_CELL_NUMBER, 1e6, "%.1f", 0 }, { "seed", NULL, BASE_CELL_INTEGER, 0, NULL, 0 }, /* machines only */
  { "bound_by", "bound by", BASE_CELL_TEXT, 0, NULL, 0 },      { 0 },
};

static BaseTable *
sample (void)
{
  BaseTable *table = base_table_new (columns);
  base_table_row (table);
  base_table_integer (table, "size_B", 1048576);
  base_table_text (table, "algo", "ring");
  base_table_number (table, "time_s", 38.25e-6);
  base_table_integer (table, "seed", 1);
  base_table_text (table, "bound_by", "latency");
  base_table_row (table);
  base_table_integer (table, "size_B", 8);
  base_table_text (table, "algo", "a\tb\n\xff");
  base_table_number (table, "time_s", (double)NAN);
  base_table_text (table, "bound_by", NULL);
  base_table_row (table);
  base_table_text (table, "algo", "twice");
  base_table_text (table, "algo", "µ");
  base_table_number (table, "time_s", -0.0);
  return table;
}

static void
text_is_aligned_and_has_no_blanks_at_the_end (void)
{
  g_autoptr (BaseTable) table = sample ();
  TEST_INT (base_table_n_rows (table), 3);
  g_autoptr (GString) out = g_string_new (NULL);
  base_table_print_text (table, out);
  TEST_STR (out->str, "size (B)  algorithm  time (us)  bound by\n"
                      " 1048576  ring            38.2  latency\n" /* 38.25 is a tie: to even */
                      "       8  a\\tb\\n\xef\xbf\xbd            -  -\n"
                      "       -  µ                0.0  -\n");
}

static void
large_numbers_of_few_digits_have_no_exponent_in_text (void)
{
  static const BaseColumn short_ones[] = { { "x", "x", BASE_CELL_NUMBER, 1e-3, "%.4g", 0 },
                                           { NULL, NULL, BASE_CELL_TEXT, 0, NULL, 0 } };
  static const double values[] = { 3456.4e3, 16540.4e3, 9999999e3, 12e9, 1e-6 };
  g_autoptr (BaseTable) table = base_table_new (short_ones);
  for (gsize i = 0; i < G_N_ELEMENTS (values); i++) {
    base_table_row (table);
    base_table_number (table, "x", values[i]);
  }
  g_autoptr (GString) out = g_string_new (NULL);
  base_table_print_text (table, out);
  TEST_STR (out->str, "      x\n   3456\n  16540\n9999999\n1.2e+07\n  1e-09\n");
}

static void
tsv_has_a_header_of_keys_and_numbers_in_full (void)
{
  g_autoptr (BaseTable) table = sample ();
  g_autoptr (GString) out = g_string_new (NULL);
  base_table_print_tsv (table, out);
  TEST_STR (out->str, "size_B\talgo\ttime_s\tseed\tbound_by\n"
                      "1048576\tring\t3.8250000000000001e-05\t1\tlatency\n"
                      "8\ta\\tb\\n\xef\xbf\xbd\t\t\t\n"
                      "\tµ\t0\t\t\n");
}

static void
json_has_null_for_what_is_missing (void)
{
  g_autoptr (BaseTable) table = sample ();
  g_autoptr (JsonBuilder) json = json_builder_new ();
  base_table_build_json (table, json);
  g_autofree char *text = base_json_print (json);
  TEST_TRUE (g_str_has_suffix (text, "]\n"));
  g_autoptr (JsonParser) parser = json_parser_new ();
  TEST_TRUE (json_parser_load_from_data (parser, text, -1, NULL));
  JsonArray *rows = json_node_get_array (json_parser_get_root (parser));
  TEST_INT (json_array_get_length (rows), 3);
  JsonObject *first = json_array_get_object_element (rows, 0), *second = json_array_get_object_element (rows, 1);
  TEST_NEAR (json_object_get_double_member (first, "time_s"), 38.25e-6, 0);
  TEST_INT (json_object_get_int_member (first, "size_B"), 1048576);
  TEST_TRUE (json_object_get_null_member (second, "time_s") && json_object_get_null_member (second, "bound_by"));
  TEST_TRUE (json_object_has_member (second, "seed"));
  TEST_STR (json_object_get_string_member (second, "algo"), "a\tb\n\xef\xbf\xbd");
}

static void
whole_numbers_are_printed_whole_and_undefined_ones_as_null (void)
{
  g_autoptr (JsonBuilder) json = json_builder_new ();
  json_builder_begin_array (json);
  base_json_add_number (json, 4.5e11);
  base_json_add_number (json, -0.0);
  base_json_add_number (json, 0.1);
  base_json_add_number (json, (double)INFINITY);
  base_json_add_number (json, (double)NAN);
  base_json_add_number (json, -3);
  json_builder_end_array (json);
  g_autofree char *text = base_json_print (json);
  TEST_STR (text, "[\n  450000000000,\n  0,\n  0.10000000000000001,\n  null,\n  null,\n  -3\n]\n");
}

/* JSON has a point before an exponent or none, and no point after it; text is left as it is. */
static void
exponents_without_a_point_are_json (void)
{
  g_autoptr (JsonBuilder) json = json_builder_new ();
  json_builder_begin_array (json);
  base_json_add_number (json, 3e-9);
  base_json_add_number (json, -1e22);
  base_json_add_number (json, 2.5e-7);
  json_builder_add_string_value (json, "\\ \"3e-09.0\" 1e+22.0");
  json_builder_end_array (json);
  g_autofree char *text = base_json_print (json);
  TEST_STR (text, "[\n  3e-09,\n  -1e+22,\n  2.4999999999999999e-07,\n  \"\\\\ \\\"3e-09.0\\\" 1e+22.0\"\n]\n");
}

static void
an_empty_table_is_a_header (void)
{
  g_autoptr (BaseTable) table = base_table_new (columns);
  g_autoptr (GString) out = g_string_new (NULL);
  base_table_print_tsv (table, out);
  TEST_STR (out->str, "size_B\talgo\ttime_s\tseed\tbound_by\n");
  g_autoptr (JsonBuilder) json = json_builder_new ();
  base_table_build_json (table, json);
  g_autofree char *text = base_json_print (json);
  TEST_STR (text, "[]\n");
}

static void
yes_and_no_are_1_and_0_in_tsv_and_booleans_in_json (void)
{
  static const BaseColumn switches[] = { { "best", NULL, BASE_CELL_BOOL, 0, NULL, 0 }, { 0 } };
  g_autoptr (BaseTable) table = base_table_new (switches);
  for (int i = 0; i < 3; i++)
    base_table_row (table);
  base_table_bool (table, "best", FALSE);
  base_table_row (table);
  base_table_bool (table, "best", TRUE);
  g_autoptr (GString) out = g_string_new (NULL);
  base_table_print_tsv (table, out);
  TEST_STR (out->str, "best\n\n\n0\n1\n");
  g_autoptr (JsonBuilder) json = json_builder_new ();
  json_builder_begin_array (json);
  for (unsigned row = 1; row < 4; row++) {
    json_builder_begin_object (json);
    base_table_build_members (table, row, json);
    json_builder_end_object (json);
  }
  json_builder_end_array (json);
  g_autofree char *text = base_json_print (json);
  g_auto (GStrv) words = g_strsplit_set (text, " \n", -1);
  g_autofree char *tight = g_strjoinv ("", words);
  TEST_STR (tight, "[{\"best\":null},{\"best\":false},{\"best\":true}]");
}

static void
whole_numbers_may_be_scaled_for_people (void)
{
  static const BaseColumn sizes[] = {
    { "size_B", "size (MiB)", BASE_CELL_INTEGER, 0x1p-20, "%.1f", 0 },
    { "n", "n", BASE_CELL_INTEGER, 1000, NULL, 0 },
    { "x", "x", BASE_CELL_NUMBER, 0, NULL, 0 },
    { 0 },
  };
  g_autoptr (BaseTable) table = base_table_new (sizes);
  base_table_row (table);
  base_table_integer (table, "size_B", 1572864); /* 1.5 x 2^20 */
  base_table_integer (table, "n", 2);
  base_table_number (table, "x", 0.1);
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GString) tsv = g_string_new (NULL);
  base_table_print_text (table, text);
  TEST_STR (text->str, "size (MiB)     n    x\n       1.5  2000  0.1\n");
  base_table_print_tsv (table, tsv);
  TEST_STR (tsv->str, "size_B\tn\tx\n1572864\t2\t0.10000000000000001\n");
}

/* A character of East Asian width takes two places, a combining one none. */
static void
wide_characters_keep_columns_aligned (void)
{
  static const BaseColumn names[] = {
    { "name", "name", BASE_CELL_TEXT, 0, NULL, 0 },
    { "n", "n", BASE_CELL_INTEGER, 0, NULL, 0 },
    { 0 },
  };
  static const char *const rows[] = { "\xe6\x97\xa5", "e\xcc\x81", "\\\r\x01" };
  g_autoptr (BaseTable) table = base_table_new (names);
  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++) {
    base_table_row (table);
    base_table_text (table, "name", rows[i]);
    base_table_integer (table, "n", i);
  }
  g_autoptr (GString) out = g_string_new (NULL);
  base_table_print_text (table, out);
  TEST_STR (out->str, "name      n\n"
                      "\xe6\x97\xa5        0\n"
                      "e\xcc\x81         1\n"
                      "\\\\\\r\\x01  2\n");
}

/* The first fault stays: this test is the first. */
static void
numbers_that_cannot_be_are_kept_for_the_writer (void)
{
  base_finite_look ("bound_Bps", (double)NAN); /* not known */
  base_finite_look ("time_s", 0);
  base_finite_look ("change", -1);
  g_autofree char *none = base_finite_fault ();
  TEST_STR (none, NULL);
  g_autoptr (BaseTable) table = sample ();
  base_table_number (table, "time_s", -1);
  base_table_number (table, "time_s", (double)INFINITY);
  g_autofree char *fault = base_finite_fault ();
  TEST_STR (fault, "time_s is -1");
}

static void
csv_quotes_what_needs_it (void)
{
  static const struct {
    const char *tsv, *csv;
  } rows[] = {
    { "a\tb_s\n1\t2.5\n", "a,b_s\r\n1,2.5\r\n" },
    { "x, y\tsaid \"no\"\n", "\"x, y\",\"said \"\"no\"\"\"\r\n" },
    { "two\\nlines\ta\\tb\n", "\"two\nlines\",a\tb\r\n" },  /* a tab needs no quotes */
    { "C:\\\\new\t\\x1b\\r\n", "C:\\new,\"\\x1b\r\"\r\n" }, /* other control characters stay escaped */
    { "\t\n\nm\n", ",\r\n\r\nm\r\n" },
    { "µ\t\\", "µ,\\\r\n" },
    { "", "" }, /* without an end */
  };
  for (size_t i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GString) text = g_string_new (rows[i].tsv);
    base_table_tsv_to_csv (text);
    TEST_STR (text->str, rows[i].csv);
  }
  g_autoptr (BaseTable) table = sample ();
  g_autoptr (GString) text = g_string_new (NULL);
  base_table_print_tsv (table, text);
  base_table_tsv_to_csv (text);
  TEST_STR (text->str, "size_B,algo,time_s,seed,bound_by\r\n1048576,ring,3.8250000000000001e-05,1,latency\r\n"
                       "8,\"a\tb\n\xef\xbf\xbd\",,,\r\n,µ,0,,\r\n");
}

static void
money_is_in_the_currency_that_is_shown (void)
{
  static const BaseColumn priced[] = {
    { "run_usd", "run", BASE_CELL_NUMBER, 0, NULL, 0 },
    { "usd_per_token", "$/M tokens", BASE_CELL_NUMBER, 1e6, "%.2f", 0 },
    { "month", "a month (USD)", BASE_CELL_NUMBER, 1, "%.0f", 0 },
    { "days", "days", BASE_CELL_NUMBER, 1, "%.0f", 0 },
    { 0 },
  };
  g_autoptr (BaseTable) table = base_table_new (priced);
  base_table_row (table);
  base_table_number (table, "run_usd", 3e6);
  base_table_number (table, "usd_per_token", 6e-6);
  base_table_number (table, "month", 1200);
  base_table_number (table, "days", 60);
  g_autoptr (GString) text = g_string_new (NULL), tsv = g_string_new (NULL), francs = g_string_new (NULL),
                      unknown = g_string_new (NULL);
  base_currency_show_in ("EUR", 1.2);
  base_table_print_text (table, text);
  base_table_print_tsv (table, tsv);
  g_autoptr (JsonBuilder) json = json_builder_new ();
  base_table_build_json (table, json);
  g_autofree char *members = base_json_print (json), *amount = base_quantity_format (-240, BASE_DIM_MONEY, 3),
                  *energy = base_quantity_format (0.12 / 3.6e6, BASE_DIM_MONEY_PER_ENERGY, 3),
                  *band = base_band_show (1200, 600, 2400, BASE_DIM_MONEY);
  base_currency_show_in ("CHF", 1.25);
  base_table_print_text (table, francs);
  g_autofree char *franc = base_quantity_show (2500, BASE_DIM_MONEY);
  base_currency_show_in ("XYZ", 2); /* not known: dollars */
  base_table_print_tsv (table, unknown);
  base_currency_show_in (NULL, 1);
  TEST_STR (text->str, "run (M€)  €/M tokens  a month (EUR)  days\n     2.5        5.00           1000    60\n");
  TEST_STR (tsv->str, "run_eur\teur_per_token\tmonth\tdays\n2500000\t5.0000000000000004e-06\t1000\t60\n");
  TEST_HAS (members, "\"run_eur\" : 2500000");
  TEST_STR (amount, "-€200");
  TEST_STR (energy, "€0.1/kWh");
  TEST_STR (band, "€1 k (0.5 to 2)");
  TEST_HAS (francs->str, "run (MCHF)  CHF/M tokens  a month (CHF)");
  TEST_STR (franc, "CHF 2 k");
  TEST_HAS (unknown->str, "run_usd\tusd_per_token");
}

/* What is bought and what a run costs are compared: both in millions. A small price beside them stays in dollars. */
static void
amounts_of_money_share_a_unit (void)
{
  static const BaseColumn priced[] = {
    { "capex_usd", "to buy", BASE_CELL_NUMBER, 0, NULL, 0 },
    { "own_usd", "run, own", BASE_CELL_NUMBER, 0, NULL, 0 },
    { "storage_usd", "storage", BASE_CELL_NUMBER, 0, NULL, 0 },
    { 0 },
  };
  g_autoptr (BaseTable) table = base_table_new (priced);
  base_table_row (table);
  base_table_number (table, "capex_usd", 7.518e6);
  base_table_number (table, "own_usd", 447888);
  base_table_number (table, "storage_usd", 2910);
  base_table_row (table);
  base_table_number (table, "capex_usd", 15.02e6);
  base_table_number (table, "own_usd", 452355);
  g_autoptr (GString) text = g_string_new (NULL);
  base_table_print_text (table, text);
  TEST_STR (text->str, "to buy (M$)  run, own (M$)  storage ($)\n"
                       "       7.52         0.4479         2910\n"
                       "      15.02         0.4524            -\n");
}

int
main (void)
{
  static const TestCase cases[] = {
    { "numbers that cannot be are kept for the writer", numbers_that_cannot_be_are_kept_for_the_writer },
    { "text is aligned and has no blanks at the end", text_is_aligned_and_has_no_blanks_at_the_end },
    { "large numbers of few digits have no exponent in text", large_numbers_of_few_digits_have_no_exponent_in_text },
    { "TSV has a header of keys, and numbers in full", tsv_has_a_header_of_keys_and_numbers_in_full },
    { "JSON has null for what is missing", json_has_null_for_what_is_missing },
    { "whole numbers are printed whole, and undefined ones as null", whole_numbers_are_printed_whole_and_undefined_ones_as_null },
    { "exponents without a point are JSON", exponents_without_a_point_are_json },
    { "an empty table is a header", an_empty_table_is_a_header },
    { "yes and no are 1 and 0 in TSV and booleans in JSON", yes_and_no_are_1_and_0_in_tsv_and_booleans_in_json },
    { "whole numbers may be scaled for people", whole_numbers_may_be_scaled_for_people },
    { "CSV quotes what needs it", csv_quotes_what_needs_it },
    { "money is in the currency that is shown", money_is_in_the_currency_that_is_shown },
    { "amounts of money share a unit", amounts_of_money_share_a_unit },
    { "wide characters keep columns aligned", wide_characters_keep_columns_aligned },
    { 0 },
  };
  return test_main ("base/table", cases);
}
