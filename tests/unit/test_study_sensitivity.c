/* Which constants an answer depends on, found by asking again with some of them changed. */
#include <string.h>

#include "base/schema.h"
#include "harness.h"
#include "study/sensitivity.h"

typedef struct {
  BaseHead head;
  BaseNum first, second, idle, count, sheet;
} Thing;

static const BaseField fields[] = {
  BASE_ROW_NUM (Thing, "first", first, TIME, .help = "added"),      BASE_ROW_NUM (Thing, "second", second, TIME, .help = "added"),
  BASE_ROW_NUM (Thing, "idle", idle, TIME, .help = "not used"),     BASE_ROW_NUM (Thing, "count", count, COUNT, .help = "a factor"),
  BASE_ROW_NUM (Thing, "sheet", sheet, TIME, .help = "data sheet"), BASE_ROW_END,
};
static const BaseSchema schema = { .name = "thing", .help = "for this test", .fields = fields };

static const char text[] = "first: {value: 10 s, source: assumed, note: guessed}\nsecond: {value: 4 s, source: assumed}\n"
                           "idle: {value: 3 s, source: assumed}\ncount: {value: 2, source: assumed}\nsheet: {value: 5 s, source: "
                           "datasheet}\n";

/* 2 x (10 s + 5 s) + 4 s = 34 s, ranked as "a" up to 38 s and "b" above. */
static gboolean
again (const void *question, StdReach reach, BaseWatch *watch, StdAnswer *answer, GError **error)
{
  g_autoptr (BaseLookup) lookup = base_lookup_new ("/root");
  g_autoptr (BaseDiag) diag = base_diag_new ();
  g_autoptr (BaseYaml) yaml = base_yaml_load_data ("/root/part/t.yaml", text, strlen (text), error);
  Thing thing = { .head = { .set = FALSE } };
  const gboolean *ranked = question;
  (void)reach;
  base_lookup_set_watch (lookup, watch);
  const BaseSchemaContext context = {
    .arena = base_yaml_arena (yaml), .diag = diag, .lookup = lookup, .source = BASE_SOURCE_MEASURED
  };
  if (!base_schema_read (&schema, base_yaml_root (yaml), FALSE, &context, &thing))
    return FALSE;
  double time_s = thing.count.v * (thing.first.v + thing.sheet.v) + thing.second.v;
  g_array_append_val (answer->values, time_s);
  if (*ranked)
    answer->first = g_strdup (time_s > 37 ? "b" : "a");
  answer->option = time_s > 37 ? 1 : 0;
  return TRUE;
}

static StdSensitivity *
query (gboolean ranked, StdScope scope, const char *path)
{
  const StdQuery how = { again, &ranked, path, "/root" };
  return std_sensitivity (&how, scope, NULL);
}

static void
the_constant_that_moves_the_answer_most_comes_first (void)
{
  g_autoptr (StdSensitivity) found = query (FALSE, STD_SCOPE_ASSUMED, "/root/question.yaml");
  TEST_NEAR (found->answer_s, 34, 1e-12);
  TEST_TRUE (found->first == NULL);
  TEST_INT (found->n_tried, 3); /* no count, no data sheet */
  TEST_INT (found->effects->len, 2);
  const StdEffect *effects = (const StdEffect *)(gpointer)found->effects->data;
  TEST_STR (effects[0].name, "part/t.yaml: first");
  TEST_STR (effects[0].note, "guessed");
  TEST_INT (effects[0].line, 1);
  TEST_NEAR (effects[0].less_s, 30, 1e-12); /* 2 x (8 + 5) + 4 */
  TEST_NEAR (effects[0].more_s, 38, 1e-12);
  TEST_STR (effects[1].name, "part/t.yaml: second");
  TEST_NEAR (std_effect_reach (&effects[1], found->answer_s), 0.8, 1e-9);
}

static void
data_sheets_count_where_they_are_asked_for_and_are_not_the_questions_own (void)
{
  g_autoptr (StdSensitivity) more = query (FALSE, STD_SCOPE_DATASHEET, "/root/question.yaml");
  TEST_INT (more->n_tried, 4);
  TEST_INT (more->effects->len, 3);
  g_autoptr (StdSensitivity) own = query (FALSE, STD_SCOPE_DATASHEET, "/root/part/t.yaml");
  TEST_INT (own->n_tried, 3);
}

static void
what_changes_the_first_is_reported (void)
{
  g_autoptr (StdSensitivity) found = query (TRUE, STD_SCOPE_ASSUMED, "/root/question.yaml");
  TEST_STR (found->first, "a");
  const StdEffect *effects = (const StdEffect *)(gpointer)found->effects->data;
  TEST_TRUE (std_effect_changes_first (&effects[0])); /* 38 s with more of it */
  TEST_STR (effects[0].more_first, "b");
  TEST_TRUE (effects[0].less_first == NULL);
  TEST_FALSE (std_effect_changes_first (&effects[1])); /* 34.8 s */
}

/* By hand: 2 x (x + 5 s) + 4 s = 37 s at x = 11.5 s, and 30 s + x at 7 s; less of either changes nothing. */
static void
the_constants_that_tell_most_have_the_limits_at_which_the_order_flips (void)
{
  g_autoptr (StdSensitivity) found = query (TRUE, STD_SCOPE_ASSUMED, "/root/question.yaml"),
                             unranked = query (FALSE, STD_SCOPE_ASSUMED, "/root/question.yaml");
  TEST_INT (unranked->n_solved, 0);
  TEST_INT (found->n_solved, 2);
  TEST_INT (found->limits->len, 2);
  const StdLimit *limits = (const StdLimit *)(gpointer)found->limits->data;
  TEST_STR (limits[0].name, "part/t.yaml: first");
  TEST_NEAR (limits[0].change, 0.15, 1e-2);
  TEST_STR (limits[0].limit, "11.5 s");
  TEST_STR (limits[0].then, "b");
  TEST_STR (limits[1].name, "part/t.yaml: second");
  TEST_NEAR (limits[1].change, 0.75, 1e-2);
  TEST_STR (limits[1].limit, "7 s");
}

static const TestCase cases[] = {
  { "the constant that moves the answer most comes first", the_constant_that_moves_the_answer_most_comes_first },
  { "data sheets count where they are asked for and are not the question's own",
    data_sheets_count_where_they_are_asked_for_and_are_not_the_questions_own },
  { "what changes the first is reported", what_changes_the_first_is_reported },
  { "the constants that tell most have the limits at which the order flips",
    the_constants_that_tell_most_have_the_limits_at_which_the_order_flips },
  { NULL, NULL },
};

int
main (void)
{
  return test_main ("study: sensitivity", cases);
}
