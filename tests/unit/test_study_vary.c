/* Combinations of values, and one table of what they came to. */
#include <string.h>

#include "harness.h"
#include "study/vary.h"

static GPtrArray *
axes_of (const char *first, const char *second)
{
  g_autofree char *a = g_strdup (first), *b = g_strdup (second);
  char *texts[] = { a, b, NULL };
  return std_axes_read (texts, NULL);
}

static void
values_stand_at_commas_outside_of_brackets_and_quotes (void)
{
  g_autoptr (GPtrArray) axes = axes_of ("a=1,[2, 3],\"4,5\", {b: 6, c: 7}", NULL);
  const GPtrArray *values = ((const StdAxis *)axes->pdata[0])->values;
  TEST_INT (values->len, 4);
  TEST_STR (values->pdata[1], "[2, 3]");
  TEST_STR (values->pdata[2], "\"4,5\"");
  TEST_STR (values->pdata[3], "{b: 6, c: 7}");
}

static void
the_last_axis_changes_fastest (void)
{
  g_autoptr (GPtrArray) axes = axes_of ("a=1,2", "b=x,y,z");
  TEST_INT (std_axes_n_points (axes), 6);
  g_autofree char *name = std_axes_point_name (axes, 4);
  TEST_STR (name, "a=2 b=y");
  TEST_STR (std_axes_value (axes, 0, 3), "2");
}

static void
bad_axes_say_what_is_accepted (void)
{
  static const struct {
    const char *first, *second, *says;
  } cases[] = {
    { "a", NULL, "--vary 'a' is not PATH=A,B,…" },
    { "=1", NULL, "is not PATH=" },
    { "a=1,,2", NULL, "value 2 is empty" },
    { "a=1", "a=2", "--vary a is given twice" },
  };
  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *a = g_strdup (cases[i].first), *b = g_strdup (cases[i].second);
    char *texts[] = { a, b, NULL };
    TEST_TRUE (std_axes_read (texts, &error) == NULL);
    TEST_TRUE (g_error_matches (error, BASE_ERROR, (gint)BASE_ERROR_INPUT));
    TEST_HAS (error != NULL ? error->message : "", cases[i].says);
  }
}

static void
an_axis_is_numeric_where_all_values_have_one_unit (void)
{
  const char *unit = NULL;
  g_autoptr (GPtrArray) axes = axes_of ("a=100 Gb/s,200 Gb/s", "b=100 Gb/s,1 GB/s");
  TEST_TRUE (std_axis_is_numeric (axes->pdata[0], &unit));
  TEST_STR (unit, "Gb/s");
  TEST_FALSE (std_axis_is_numeric (axes->pdata[1], &unit));
}

/* ---- points ---- */

/* n is doubled, and is no good from 3 on; text for odd ones only. */
static void
run (StdPoint *point)
{
  static const BaseColumn columns[] = {
    { "time_s", NULL, BASE_CELL_NUMBER, 0, NULL, 0 },
    { "count", NULL, BASE_CELL_INTEGER, 0, NULL, 0 },
    { "word", NULL, BASE_CELL_TEXT, 0, NULL, 0 },
    { NULL, NULL, BASE_CELL_TEXT, 0, NULL, 0 },
  };
  const int n = (int)g_ascii_strtoll (point->sets[0] + strlen ("n="), NULL, 10);
  if (n >= 3) {
    point->error = g_error_new (BASE_ERROR, (gint)BASE_ERROR_INPUT, "n is %d\n2 errors; nothing was run", n);
    return;
  }
  point->rows = base_table_new (columns);
  for (int i = 0; i < 2; i++) {
    base_table_row (point->rows);
    base_table_number (point->rows, "time_s", 0.25 * n * (i + 1));
    base_table_integer (point->rows, "count", 10 * n + i);
    base_table_text (point->rows, "word", n == 1 ? "odd" : "");
  }
}

static StdSheet *
sheet_of (const GPtrArray *axes)
{
  g_autoptr (GArray) points = std_vary (axes, run, NULL);
  return std_sheet_new (axes, points);
}

static void
rows_of_all_points_stand_below_each_other_with_their_errors (void)
{
  g_autoptr (GPtrArray) axes = axes_of ("n=1,2,3", NULL);
  g_autoptr (StdSheet) sheet = sheet_of (axes);
  g_autoptr (GString) out = g_string_new (NULL);
  base_table_print_tsv (sheet->table, out);
  TEST_STR (out->str, "n\ttime_s\tcount\tword\terror\n"
                      "1\t0.25\t10\todd\t\n1\t0.5\t11\todd\t\n"
                      "2\t0.5\t20\t\t\n2\t1\t21\t\t\n"
                      "3\t\t\t\tn is 3\n");
  TEST_INT (g_array_index (sheet->point, guint, 4), 2);
}

static void
the_headline_is_compared_with_the_same_row_of_the_first_point (void)
{
  static const char *const usual[] = { "absent", "time_s", "count", NULL };
  g_autoptr (GPtrArray) axes = axes_of ("n=1,2", NULL);
  g_autoptr (StdSheet) sheet = sheet_of (axes);
  g_autoptr (GArray) chosen = std_sheet_choose (sheet, NULL, usual, NULL);
  TEST_INT (chosen->len, 2);
  TEST_STR (std_sheet_key (sheet, std_sheet_headline (sheet, chosen)), "time_s");
  g_autoptr (BaseTable) shown = std_sheet_shown (sheet, chosen);
  g_autoptr (GString) out = g_string_new (NULL);
  base_table_print_text (shown, out);
  TEST_STR (out->str, "n  time (ms)  relative  count\n"
                      "1        250     1.000     10\n1        500     1.000     11\n"
                      "2        500     2.000     20\n2       1000     2.000     21\n");
}

static void
columns_are_chosen_by_name_and_a_wrong_one_is_refused (void)
{
  g_autoptr (GPtrArray) axes = axes_of ("n=1,2", NULL);
  g_autoptr (StdSheet) sheet = sheet_of (axes);
  g_autoptr (GError) error = NULL;
  g_autoptr (GArray) chosen = std_sheet_choose (sheet, "word,count", NULL, NULL);
  TEST_STR (std_sheet_key (sheet, g_array_index (chosen, guint, 0)), "word");
  TEST_STR (std_sheet_key (sheet, std_sheet_headline (sheet, chosen)), "count");
  TEST_TRUE (std_sheet_choose (sheet, "cont", NULL, &error) == NULL);
  TEST_HAS (error->message,
            "--columns: this answer has no column 'cont' (did you mean 'count'?); columns here: time_s, count, word");
}

static const TestCase cases[] = {
  { "values stand at commas outside of brackets and quotes", values_stand_at_commas_outside_of_brackets_and_quotes },
  { "the last axis changes fastest", the_last_axis_changes_fastest },
  { "bad axes say what is accepted", bad_axes_say_what_is_accepted },
  { "an axis is numeric where all values have one unit", an_axis_is_numeric_where_all_values_have_one_unit },
  { "rows of all points stand below each other with their errors", rows_of_all_points_stand_below_each_other_with_their_errors },
  { "the headline is compared with the same row of the first point",
    the_headline_is_compared_with_the_same_row_of_the_first_point },
  { "columns are chosen by name and a wrong one is refused", columns_are_chosen_by_name_and_a_wrong_one_is_refused },
  { NULL, NULL },
};

int
main (void)
{
  return test_main ("study: vary", cases);
}
