#include "base/member.h"
#include "harness.h"

#include <math.h>
#include <string.h>

typedef enum { RED, GREEN } Colour;
static const BaseName colour_names[] = { { "green", GREEN, NULL }, { "red", RED, NULL }, { NULL, 0, NULL } };
static const BaseName choice_names[] = { { "any", -1, NULL }, { "one", 1, NULL }, { NULL, 0, NULL } };
static const BaseName fits_names[] = { { "no", FALSE, NULL }, { "yes", TRUE, NULL }, { NULL, 0, NULL } };
static const char *const part_names[] = { "work", "wait" };

typedef struct {
  double rate_Bps;
  const char *name;
} Inner;

typedef struct {
  double time_s, none_s, part_s[2];
  unsigned count;
  guint64 events;
  gboolean has_inner, fits;
  Colour colour;
  int choice;
  const char *text;
  char bound_by[64];
  Inner inner;
  GArray *list; /* Inner */
} Outer;

#define INNER(...) BASE_MEMBER (Inner, __VA_ARGS__)
static const BaseMember inner_members[] = {
  INNER ("rate_Bps", rate_Bps, BASE_SHOWN ("rate (GB/s)", 1e-9, "%.1f")),
  INNER ("name", name, .title = "name"),
  BASE_MEMBER_END,
};

BASE_MEMBER_WHEN (has_inner, Outer, it->has_inner)
BASE_MEMBER_NUMBER_OF (twice_s, Outer, 2 * it->time_s)
BASE_MEMBER_TEXT_OF (loud, Outer, it->count > 2 ? "many" : NULL)

#define OUTER(...) BASE_MEMBER (Outer, __VA_ARGS__)
static const BaseMember outer_members[] = {
  OUTER ("time_s", time_s),
  OUTER ("none_s", none_s, .positive = TRUE),
  OUTER ("count", count),
  OUTER ("events", events),
  BASE_MEMBER_AS (BASE_MEMBER_BOOL, Outer, "fits", fits, .names = fits_names),
  OUTER ("colour", colour, .names = colour_names),
  OUTER ("choice", choice, .names = choice_names),
  OUTER ("text", text),
  OUTER ("has_inner", has_inner),
  OUTER ("bound_by", bound_by),
  { .key = "twice_s", .number = twice_s },
  { .key = "loud", .text = loud },
  BASE_MEMBER_PARTS_OF (Outer, "breakdown_s", part_s, part_names, 2),
  OUTER ("inner", inner, .sub = inner_members, .when = has_inner),
  OUTER ("left_out", inner, .sub = inner_members, .when = has_inner, .optional = TRUE),
  OUTER ("list", list, .sub = inner_members),
  OUTER (NULL, inner, .sub = inner_members, .when = has_inner),
  BASE_MEMBER_END,
};

static Outer
sample (void)
{
  return (Outer){ .time_s = 2,
                  .part_s = { 1.5, 0.5 },
                  .count = 3,
                  .events = 1u << 31,
                  .fits = TRUE,
                  .colour = GREEN,
                  .choice = -1,
                  .inner = { 4e9, "a" } };
}

static char *
json_of (const Outer *outer)
{
  g_autoptr (JsonBuilder) json = json_builder_new ();
  json_builder_begin_object (json);
  base_members_json (outer_members, outer, json);
  json_builder_end_object (json);
  g_autofree char *text = base_json_print (json);
  g_auto (GStrv) words = g_strsplit_set (text, " \n", -1);
  return g_strjoinv ("", words);
}

static void
json_has_null_for_what_is_not_known_and_objects_for_groups (void)
{
  Outer outer = sample ();
  g_autofree char *bare = json_of (&outer);
  TEST_STR (bare, "{\"time_s\":2,\"none_s\":null,\"count\":3,\"events\":2147483648,\"fits\":true,\"colour\":\"green\","
                  "\"choice\":\"any\",\"text\":null,\"has_inner\":false,\"bound_by\":null,\"twice_s\":4,\"loud\":\"many\","
                  "\"breakdown_s\":{\"work\":1.5,\"wait\":0.5},\"inner\":null,\"list\":[],\"rate_Bps\":null,\"name\":null}");
  outer.has_inner = TRUE;
  outer.count = 1;
  outer.choice = 1;
  g_strlcpy (outer.bound_by, "link", sizeof outer.bound_by);
  outer.list = g_array_new (FALSE, FALSE, sizeof (Inner));
  g_array_append_vals (outer.list, &outer.inner, 1);
  g_autofree char *full = json_of (&outer);
  TEST_TRUE (
      strstr (full, "\"choice\":\"one\",\"text\":null,\"has_inner\":true,\"bound_by\":\"link\",\"twice_s\":4,\"loud\":null,") !=
      NULL);
  TEST_TRUE (strstr (full, "\"inner\":{\"rate_Bps\":4000000000,\"name\":\"a\"},"
                           "\"left_out\":{\"rate_Bps\":4000000000,\"name\":\"a\"},"
                           "\"list\":[{\"rate_Bps\":4000000000,\"name\":\"a\"}],\"rate_Bps\":4000000000,\"name\":\"a\"}") != NULL);
  g_array_unref (outer.list);
}

static void
values_are_found_by_key_with_their_unit (void)
{
  Outer outer = sample ();
  BaseValue value;
  TEST_TRUE (base_members_value (outer_members, &outer, "time_s", &value));
  TEST_TRUE (value.known);
  TEST_NEAR (value.number, 2, 0);
  TEST_STR (base_dim_unit (value.dim), "s");
  TEST_TRUE (base_members_value (outer_members, &outer, "breakdown_s.wait", &value));
  TEST_NEAR (value.number, 0.5, 0);
  TEST_STR (base_dim_unit (value.dim), "s");
  TEST_TRUE (base_members_value (outer_members, &outer, "inner.rate_Bps", &value));
  TEST_FALSE (value.known);
  TEST_TRUE (isnan (value.number));
  outer.has_inner = TRUE;
  TEST_TRUE (base_members_value (outer_members, &outer, "inner.rate_Bps", &value));
  TEST_NEAR (value.number, 4e9, 0);
  TEST_STR (base_dim_unit (value.dim), "B/s");
  TEST_TRUE (base_members_value (outer_members, &outer, "name", &value)); /* of the group without a key */
  TEST_STR (value.text, "a");
  TEST_TRUE (base_members_value (outer_members, &outer, "count", &value));
  TEST_INT (value.dim, BASE_DIM_NUMBER);
  TEST_FALSE (base_members_value (outer_members, &outer, "time", &value));
  TEST_FALSE (base_members_value (outer_members, &outer, "breakdown_s", &value));
  TEST_FALSE (base_members_value (outer_members, &outer, "breakdown_s.play", &value));
  TEST_FALSE (base_members_value (outer_members, &outer, "inner.rate", &value));
}

static void
every_path_leads_to_a_value (void)
{
  Outer outer = sample ();
  BaseValue value;
  g_auto (GStrv) paths = base_members_paths (outer_members, NULL);
  TEST_INT (g_strv_length (paths), 12 + 2 + 2 + 2 + 2);
  for (char **path = paths; *path != NULL; path++)
    TEST_TRUE (base_members_value (outer_members, &outer, *path, &value));
}

static void
items_of_a_list_are_numbered (void)
{
  Outer outer = sample ();
  BaseValue value;
  TEST_FALSE (base_members_value (outer_members, &outer, "list.0.name", &value));
  outer.list = g_array_new (FALSE, FALSE, sizeof (Inner));
  g_array_append_vals (outer.list, &outer.inner, 1);
  g_array_append_vals (outer.list, &(Inner){ 2e9, "b" }, 1);
  TEST_TRUE (base_members_value (outer_members, &outer, "list.1.name", &value));
  TEST_STR (value.text, "b");
  TEST_TRUE (base_members_value (outer_members, &outer, "list.1.rate_Bps", &value));
  TEST_NEAR (value.number, 2e9, 0);
  static const char *const wrong[] = { "list", "list.0", "list.0.", "list..name", "list.2.name", "list.-1.name", "list.x.name",
                                       "list.18446744073709551616.name" };
  for (size_t i = 0; i < G_N_ELEMENTS (wrong); i++)
    TEST_FALSE (base_members_value (outer_members, &outer, wrong[i], &value));
  g_auto (GStrv) paths = base_members_paths (outer_members, &outer), without = base_members_paths (outer_members, NULL);
  TEST_INT (g_strv_length (paths), g_strv_length (without) + 2 * 2);
  TEST_TRUE (g_strv_contains ((const char *const *)paths, "list.1.rate_Bps"));
  g_array_unref (outer.list);
}

static void
a_row_has_the_columns_that_are_asked_for (void)
{
  static const char *const paths[] = { "count", "fits", "breakdown_s.*", "inner.name", "inner.rate_Bps", NULL };
  Outer outer = sample ();
  outer.has_inner = TRUE;
  g_autoptr (BaseTable) table = base_members_row (outer_members, paths, &outer);
  g_autoptr (GString) out = g_string_new (NULL);
  base_table_print_tsv (table, out);
  TEST_STR (out->str, "count\tfits\tbreakdown_work_s\tbreakdown_wait_s\tinner_name\tinner_rate_Bps\n"
                      "3\tyes\t1.5\t0.5\ta\t4000000000\n");
}

static void
a_table_has_a_row_for_each_item (void)
{
  const Inner items[] = { { 4e9, "a" }, { (double)NAN, NULL } };
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (Inner));
  g_array_append_vals (rows, items, 2);
  g_autoptr (BaseTable) table = base_members_table (inner_members, rows);
  g_autoptr (GString) out = g_string_new (NULL);
  base_table_print_text (table, out);
  TEST_STR (out->str, "rate (GB/s)  name\n"
                      "        4.0  a\n"
                      "          -  -\n");
}

int
main (void)
{
  static const TestCase cases[] = {
    { "JSON has null for what is not known, and objects for groups", json_has_null_for_what_is_not_known_and_objects_for_groups },
    { "values are found by key, with their unit", values_are_found_by_key_with_their_unit },
    { "every path leads to a value", every_path_leads_to_a_value },
  { "items of a list are numbered", items_of_a_list_are_numbered },
    { "a row has the columns that are asked for", a_row_has_the_columns_that_are_asked_for },
    { "a table has a row for each item", a_table_has_a_row_for_each_item },
    { 0 },
  };
  return test_main ("base/member", cases);
}
