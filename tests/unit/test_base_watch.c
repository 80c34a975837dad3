/* Numbers that are watched and changed as they are read. */
#include <string.h>

#include "base/schema.h"
#include "base/watch.h"
#include "harness.h"

typedef struct {
  BaseHead head;
  BaseNum rate, share, count, unsaid;
  BaseNums list;
} Thing;

static const BaseField fields[] = {
  BASE_ROW_NUM (Thing, "rate", rate, BANDWIDTH, .help = "a rate"),
  BASE_ROW_NUM (Thing, "share", share, RATIO, .max = "1", .help = "at most 1"),
  BASE_ROW_NUM (Thing, "count", count, COUNT, .help = "a number"),
  BASE_ROW_NUM (Thing, "unsaid", unsaid, TIME, .fallback = "2 us", .help = "has a default"),
  BASE_ROW (Thing, "list", list, NUMS, .dim = BASE_DIM_TIME, .help = "several"),
  BASE_ROW_END,
};
static const BaseSchema schema = { .name = "thing", .help = "for this test", .fields = fields };

static const char text[] = "rate: {value: 10 GB/s, source: assumed, note: guessed}\nshare: 0.9\ncount: 3\nlist: [1 us, 3 us]\n";

static Thing
read_with (BaseWatch *watch)
{
  g_autoptr (BaseLookup) lookup = base_lookup_new ("/");
  g_autoptr (BaseDiag) diag = base_diag_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (BaseYaml) yaml = base_yaml_load_data ("t.yaml", text, strlen (text), &error);
  Thing thing = { .head = { .set = FALSE } };
  base_lookup_set_watch (lookup, watch);
  const BaseSchemaContext context = {
    .arena = base_yaml_arena (yaml), .diag = diag, .lookup = lookup, .source = BASE_SOURCE_DATASHEET
  };
  TEST_TRUE (base_schema_read (&schema, base_yaml_root (yaml), FALSE, &context, &thing));
  thing.list.item = NULL; /* goes with the document */
  thing.rate.note = NULL;
  return thing;
}

static void
all_numbers_are_seen_with_place_source_and_note (void)
{
  g_autoptr (BaseWatch) watch = base_watch_new ();
  read_with (watch);
  const GPtrArray *seen = base_watch_seen (watch);
  GString *all = g_string_new (NULL);
  for (guint i = 0; i < seen->len; i++) {
    const BaseWatched *one = seen->pdata[i];
    g_string_append_printf (all, "%s %s %g %s %s\n", one->place, one->key, one->v, base_source_name (one->source),
                            one->note != NULL ? one->note : "-");
  }
  TEST_HAS (all->str, "t.yaml:1:15 rate 1e+10 assumed guessed\n");
  TEST_HAS (all->str, "t.yaml:2:8 share 0.9 datasheet -\n");
  TEST_HAS (all->str, "t.yaml:4:14 list 3e-06 datasheet -\n");
  TEST_HAS (all->str, "thing.unsaid unsaid 2e-06 assumed -\n");
  TEST_INT (seen->len, 6);
  g_string_free (all, TRUE);
}

static void
a_change_reaches_its_number_alone_and_stays_in_its_bounds (void)
{
  g_autoptr (BaseWatch) watch = base_watch_new ();
  base_watch_change (watch, "t.yaml:1:15", 0.5);
  base_watch_change (watch, "t.yaml:2:8", 1.2);
  base_watch_change (watch, "thing.unsaid", 2);
  Thing thing = read_with (watch);
  TEST_NEAR (thing.rate.v, 5e9, 1e-15);
  TEST_NEAR (thing.share.v, 1, 1e-15); /* 0.9 x 1.2 is above what a share can be */
  TEST_NEAR (thing.count.v, 3, 1e-15);
  TEST_NEAR (thing.unsaid.v, 4e-6, 1e-15);
  TEST_NEAR (((const BaseWatched *)base_watch_seen (watch)->pdata[0])->v, 1e10, 1e-15); /* as it stands in the file */
}

static void
a_change_of_what_another_watch_saw_is_told (void)
{
  g_autoptr (BaseWatch) changes = base_watch_new ();
  g_autoptr (BaseWatch) seen = base_watch_new ();
  g_autoptr (BaseWatch) blind = base_watch_new ();
  read_with (seen);
  TEST_TRUE (!base_watch_changes_seen (changes, NULL));
  TEST_TRUE (!base_watch_changes_seen (changes, seen));
  base_watch_change (changes, "other.yaml:1:1", 0.5);
  TEST_TRUE (base_watch_changes_seen (changes, NULL));
  TEST_TRUE (!base_watch_changes_seen (changes, seen));
  base_watch_change (changes, "t.yaml:2:8", 0.5);
  TEST_TRUE (base_watch_changes_seen (changes, seen));
  TEST_TRUE (!base_watch_changes_seen (changes, blind));
}

static void
without_a_watch_numbers_are_as_written (void)
{
  Thing thing = read_with (NULL);
  TEST_NEAR (thing.rate.v, 1e10, 1e-15);
  TEST_NEAR (thing.unsaid.v, 2e-6, 1e-15);
}

/* Whatever the length of the file's name. */
static void
places_have_file_line_and_column (void)
{
  for (gsize n = 1; n <= 1024; n *= 4) {
    g_autoptr (BaseWatch) watch = base_watch_new ();
    g_autofree char *file = g_strnfill (n, 'f'), *place = g_strconcat (file, ":4294967295:17", NULL);
    const BaseNum num = { .v = 3, .mark = { file, 4294967295u, 17 } };
    base_watch_change (watch, place, 2);
    TEST_NEAR (base_watch_read (watch, "s", "k", BASE_DIM_NUMBER, &num, 0, 100), 6, 0);
    TEST_STR (((const BaseWatched *)base_watch_seen (watch)->pdata[0])->place, place);
  }
}

int
main (void)
{
  static const TestCase cases[] = {
    { "all numbers are seen with place, source and note", all_numbers_are_seen_with_place_source_and_note },
    { "a change reaches its number alone and stays in its bounds", a_change_reaches_its_number_alone_and_stays_in_its_bounds },
    { "a change of what another watch saw is told", a_change_of_what_another_watch_saw_is_told },
    { "places have file, line and column", places_have_file_line_and_column },
    { "without a watch numbers are as written", without_a_watch_numbers_are_as_written },
    { NULL, NULL },
  };
  return test_main ("base: watched numbers", cases);
}
