#include "base/schema.h"
#include "harness.h"

#include <string.h>

/* A small tree with a row of every kind. */
typedef enum { KIND_SWITCH, KIND_FAT_TREE, KIND_TORUS } Kind;

typedef struct {
  BaseHead head;
  BaseNum rate, latency;
} Link;

typedef struct {
  BaseHead head;
  BaseStr name;
  BaseNum servers;
  Link link;
} Store;

typedef struct {
  BaseHead head;
  BaseNum nodes, efficiency, rate, price, offset, raid;
  BaseStr name;
  BaseEnum kind;
  BaseBool sharp;
  Link link;
  BaseList stores;
  BaseNums oversubscription, dims;
  BaseStrs under;
  const BaseYamlNode *overrides;
} Spec;

#define AT(type, member) offsetof (type, member)

static const BaseField link_fields[] = {
  { "rate", BASE_FIELD_NUM, AT (Link, rate), "rate", .dim = BASE_DIM_BANDWIDTH },
  { "latency", BASE_FIELD_NUM, AT (Link, latency), "latency", .fallback = "1 us", .dim = BASE_DIM_TIME, .min = "1 ns", .max = "1 s",
    .was = "delay" },
  { 0 },
};
static const BaseSchema link_schema = { .name = "link", .fields = link_fields, .scalar_key = "rate" };

static const BaseField store_fields[] = {
  { "name", BASE_FIELD_STR, AT (Store, name), "name", .required = TRUE },
  { "servers", BASE_FIELD_NUM, AT (Store, servers), "servers", .fallback = "1", .dim = BASE_DIM_COUNT, .min = "1" },
  { "link", BASE_FIELD_MAP, AT (Store, link), "link", .sub = &link_schema },
  { 0 },
};
static const BaseSchema store_schema = { .name = "storage", .fields = store_fields };

static const BaseName kinds[] = {
  { "single_switch", KIND_SWITCH, "" },
  { "fat_tree", KIND_FAT_TREE, "" },
  { "torus", KIND_TORUS, "" },
  { 0 },
};

static const BaseField fields[] = {
  { "nodes", BASE_FIELD_NUM, AT (Spec, nodes), "nodes", .required = TRUE, .dim = BASE_DIM_COUNT, .min = "1", .max = "100 k" },
  { "efficiency", BASE_FIELD_NUM, AT (Spec, efficiency), "efficiency", .fallback = "90 %", .dim = BASE_DIM_RATIO, .max = "1" },
  { "rate", BASE_FIELD_NUM, AT (Spec, rate), "rate", .dim = BASE_DIM_BANDWIDTH },
  { "price", BASE_FIELD_NUM, AT (Spec, price), "price", .dim = BASE_DIM_MONEY },
  { "offset", BASE_FIELD_NUM, AT (Spec, offset), "offset", .dim = BASE_DIM_NUMBER, .min = "-10" },
  { "raid", BASE_FIELD_NUM, AT (Spec, raid), "raid", .dim = BASE_DIM_COUNT },
  { "name", BASE_FIELD_STR, AT (Spec, name), "name", .fallback = "unnamed" },
  { "kind", BASE_FIELD_ENUM, AT (Spec, kind), "kind", .fallback = "fat_tree", .names = kinds },
  { "sharp", BASE_FIELD_BOOL, AT (Spec, sharp), "sharp", .fallback = "true" },
  { "link", BASE_FIELD_MAP, AT (Spec, link), "link", .sub = &link_schema },
  { "stores", BASE_FIELD_LIST, AT (Spec, stores), "stores", .sub = &store_schema, .item_size = sizeof (Store) },
  { "oversubscription", BASE_FIELD_NUMS, AT (Spec, oversubscription), "down over up", .fallback = "[1, 2]",
    .dim = BASE_DIM_NUMBER },
  { "dims", BASE_FIELD_NUMS, AT (Spec, dims), "dims", .dim = BASE_DIM_COUNT, .min = "1" },
  { "under", BASE_FIELD_STRS, AT (Spec, under), "under", .fallback = "nics" },
  { "overrides", BASE_FIELD_NODE, AT (Spec, overrides), "overrides", .required = FALSE },
  { 0 },
};
static const BaseSchema schema = { .name = "topology", .help = "a cluster", .fields = fields };

/* One reading: the document, what it fills, and what was wrong. */
typedef struct {
  BaseYaml *yaml;
  BaseArena *arena;
  BaseDiag *diag;
  BaseSchemaContext context;
  Spec spec;
  gboolean ok;
} Reading;

static void
read_text (Reading *r, const char *text)
{
  *r = (Reading){ .arena = base_arena_new (), .diag = base_diag_new () };
  GError *error = NULL;
  r->yaml = base_yaml_load_data ("f.yaml", text, strlen (text), &error);
  g_assert_no_error (error);
  r->context = (BaseSchemaContext){ .arena = r->arena, .diag = r->diag, .source = BASE_SOURCE_DATASHEET };
  r->ok = base_schema_read (&schema, base_yaml_root (r->yaml), FALSE, &r->context, &r->spec);
  TEST_INT (r->ok, base_diag_n_errors (r->diag) == 0);
}

static void
reading_clear (Reading *r)
{
  base_yaml_free (r->yaml);
  base_arena_free (r->arena);
  base_diag_free (r->diag);
}

static void
every_kind_fills_its_place (void)
{
  Reading r;
  read_text (&r, "nodes: 2 k\n"
                 "rate: {value: 394.8 GB/s, source: measured, note: \"one day\"}\n"
                 "price: \"$280000\"\n"
                 "offset: -2.5\n"
                 "name: big\n"
                 "kind: torus\n"
                 "sharp: no\n"
                 "link: {rate: 400 Gb/s}\n"
                 "stores:\n"
                 "  - {name: scratch, servers: 8, link: 40 GB/s}\n"
                 "  - name: home\n"
                 "oversubscription: 3\n"
                 "dims: [4, {value: 5, source: assumed}]\n"
                 "under: [nics, nvme]\n"
                 "overrides: [{nodes: 3}]\n");
  TEST_TRUE (r.ok);
  const Spec *s = &r.spec;
  TEST_TRUE (s->head.set && s->head.mark.line == 1);
  TEST_NEAR (s->nodes.v, 2000, 0);
  TEST_TRUE (s->nodes.set && s->nodes.source == BASE_SOURCE_DATASHEET && s->nodes.note == NULL);
  TEST_INT (s->nodes.mark.column, 8);
  TEST_NEAR (s->rate.v, 394.8e9, 0);
  TEST_INT (s->rate.source, BASE_SOURCE_MEASURED);
  TEST_STR (s->rate.note, "one day");
  TEST_INT (s->rate.mark.column, 15); /* of the value, which a later check speaks of */
  TEST_NEAR (s->price.v, 280000, 0);
  TEST_NEAR (s->offset.v, -2.5, 0);
  TEST_STR (s->name.v, "big");
  TEST_INT (s->kind.v, KIND_TORUS);
  TEST_TRUE (s->sharp.set && !s->sharp.v);
  TEST_NEAR (s->link.rate.v, 50e9, 0);
  TEST_NEAR (s->link.latency.v, 1e-6, 0);
  TEST_FALSE (s->link.latency.set);
  TEST_INT (s->stores.n, 2);
  const Store *scratch = BASE_LIST_AT (s->stores, Store, 0), *home = BASE_LIST_AT (s->stores, Store, 1);
  TEST_STR (scratch->name.v, "scratch");
  TEST_NEAR (scratch->servers.v, 8, 0);
  TEST_NEAR (scratch->link.rate.v, 40e9, 0); /* a bare value stands for `rate` */
  TEST_TRUE (scratch->link.head.set && !home->link.head.set);
  TEST_NEAR (home->servers.v, 1, 0);
  TEST_NEAR (home->link.latency.v, 1e-6, 0); /* defaults of a mapping that is absent */
  TEST_INT (home->head.mark.line, 11);
  TEST_INT (s->oversubscription.n, 1);
  TEST_NEAR (s->oversubscription.item[0].v, 3, 0);
  TEST_INT (s->dims.n, 2);
  TEST_INT (s->dims.item[1].source, BASE_SOURCE_ASSUMED);
  TEST_INT (s->under.n, 2);
  TEST_STR (s->under.item[1].v, "nvme");
  TEST_INT (base_yaml_n (s->overrides), 1);
  reading_clear (&r);
}

static void
what_is_absent_or_null_has_its_default_and_no_mark (void)
{
  Reading r;
  read_text (&r, "nodes: 1\nname: ~\nkind:\nefficiency: null\noverrides:\n");
  TEST_TRUE (r.ok);
  const Spec *s = &r.spec;
  TEST_NEAR (s->efficiency.v, 0.9, 0);
  TEST_TRUE (!s->efficiency.set && s->efficiency.source == BASE_SOURCE_ASSUMED && s->efficiency.mark.file == NULL);
  TEST_STR (s->name.v, "unnamed");
  TEST_INT (s->kind.v, KIND_FAT_TREE);
  TEST_TRUE (s->sharp.v && !s->sharp.set);
  TEST_INT (s->oversubscription.n, 2);
  TEST_NEAR (s->oversubscription.item[1].v, 2, 0);
  TEST_TRUE (!s->oversubscription.set && !s->oversubscription.item[1].set && s->oversubscription.item[1].mark.file == NULL);
  TEST_INT (s->under.n, 1);
  TEST_TRUE (!s->rate.set && s->rate.v == 0);
  TEST_TRUE (s->overrides == NULL && !s->link.head.set && s->stores.n == 0);
  reading_clear (&r);
}

static void
expect_errors (const char *text, const char *messages)
{
  Reading r;
  read_text (&r, text);
  TEST_FALSE (r.ok);
  g_autoptr (GError) error = NULL;
  base_diag_finish (r.diag, &error);
  test_has (error != NULL ? error->message : "accepted", messages, text, __FILE__, __LINE__);
  reading_clear (&r);
}

static void
what_is_wrong_is_said_with_what_is_accepted (void)
{
  static const struct {
    const char *text, *message;
  } cases[] = {
    { "nodes: 1\nlatancy: 2\nlink: {latancy: 2 us}\n", "f.yaml:3:8: unknown key 'latancy' in 'link' (did you mean 'latency'?)" },
    { "nodes: 1\nxyzzy: 2\n",
      "f.yaml:2:1: unknown key 'xyzzy' in 'topology'; accepted: nodes, efficiency, rate, price, offset, raid, name, kind, sharp, "
      "link, stores, oversubscription, dims, under, overrides" },
    { "nodes: 1\nrate: 450\n", "f.yaml:2:7: bandwidth '450' has no unit; write '450 Gb/s' (bits) or '450 GB/s' (bytes)" },
    { "nodes: 2.5\n", "f.yaml:1:8: nodes: '2.5' is not a whole number (e.g. '8')" },
    { "nodes: 0\n", "f.yaml:1:8: 'nodes' must be at least 1, found '0'" },
    { "nodes: -1\n", "f.yaml:1:8: 'nodes' must be at least 1, found '-1'" },
    { "nodes: 200 k\n", "f.yaml:1:8: 'nodes' must be at most 100 k, found '200 k'" },
    { "nodes: 1\nlink: {latency: 0}\n", "'latency' must be at least 1 ns, found '0'" },
    { "nodes: 1\nlink: {latency: 2 min}\n", "'latency' must be at most 1 s, found '2 min'" },
    { "nodes: 1\nrate: -5 GB/s\n", "'rate' must not be negative, found '-5 GB/s'" },
    { "nodes: 1\noffset: -11\n", "'offset' must be at least -10, found '-11'" },
    { "{}\n", "f.yaml:1:1: 'nodes' in 'topology' is missing; it is a whole number (e.g. '8')" },
    { "nodes:\n", "f.yaml:1:7: 'nodes' in 'topology' is missing" },
    { "nodes: 1\nstores: [{servers: 2}]\n", "f.yaml:2:10: 'name' in 'storage' is missing; it is text" },
    { "nodes: [1]\n", "f.yaml:1:8: 'nodes' must be a whole number (e.g. '8'), found a list" },
    { "nodes: 1\ndims: [1, {source: measured}]\n", "f.yaml:2:11: 'dims' has no value" },
    { "nodes: 1\ndims: {value: 1, sorce: measured}\n", "unknown key 'sorce' in the value of 'dims'" },
    { "nodes: 1\nname: [x]\n", "'name' must be text, found a list" },
    { "nodes: 1\nkind: fat-tree\n",
      "f.yaml:2:7: 'kind' must be one of single_switch, fat_tree, torus, found 'fat-tree' (did you mean 'fat_tree'?)" },
    { "nodes: 1\nkind: [torus]\n", "'kind' must be one of single_switch, fat_tree, torus, found a list" },
    { "nodes: 1\nsharp: 1\n", "f.yaml:2:8: 'sharp' must be true or false, found '1'" },
    { "nodes: 1\nlink: [1]\n", "f.yaml:2:7: 'link' must be a mapping with keys, found a list" },
    { "nodes: 1\nstores: {name: x}\n", "f.yaml:2:9: 'stores' must be a list, found a mapping" },
    { "nodes: 1\nstores: [x]\n", "f.yaml:2:10: 'storage' must be a mapping with keys, found 'x'" },
    { "nodes: 1\nstores: [~]\n", "f.yaml:2:10: 'storage' must be a mapping with keys, found nothing" },
    { "nodes: 1\ndims: [1, ~]\n", "f.yaml:2:11: 'dims' must be a whole number (e.g. '8') or a list of such, found nothing" },
    { "nodes: 1\ndims: [1, 0]\n", "f.yaml:2:11: 'dims' must be at least 1, found '0'" },
    { "nodes: 1\nunder: [{a: 1}]\n", "'under' must be text or a list of such, found a mapping" },
    { "- 1\n", "f.yaml:1:1: 'topology' must be a mapping with keys, found a list" },
    { "text\n", "f.yaml:1:1: 'topology' must be a mapping with keys, found 'text'" },
    { "nodes: 1\nrate: {value: 1 GB/s, sorce: measured}\n",
      "f.yaml:2:23: unknown key 'sorce' in the value of 'rate' (did you mean 'source'?); accepted: value, source, note" },
    { "nodes: 1\nrate: {value: 1 GB/s, source: guessed}\n",
      "f.yaml:2:31: 'source' must be one of measured, datasheet, assumed, found 'guessed'" },
    { "nodes: 1\nrate: {source: measured}\n",
      "f.yaml:2:7: 'rate' has no value; write it bare, or as {value: …, source: …, note: …}" },
    { "nodes: 1\nrate: {value: [1 GB/s]}\n", "'rate' must be a bandwidth (e.g. '450 GB/s'), found a list" },
    { "nodes: 1\nrate: {value: 1 GB/s, note: [x]}\n", "'note' of 'rate' must be text" },
  };
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    expect_errors (cases[i].text, cases[i].message);
}

static void
all_errors_of_a_file_are_said_in_one_go (void)
{
  expect_errors ("nodes: 0\nrate: 450\nkind: ring\nlink: {rate: 1, latency: 2}\n",
                 "f.yaml:1:8: 'nodes' must be at least 1, found '0'\n"
                 "f.yaml:2:7: bandwidth '450' has no unit; write '450 Gb/s' (bits) or '450 GB/s' (bytes)\n"
                 "f.yaml:3:7: 'kind' must be one of single_switch, fat_tree, torus, found 'ring'\n"
                 "f.yaml:4:14: bandwidth '1' has no unit; write '1 Gb/s' (bits) or '1 GB/s' (bytes)\n"
                 "f.yaml:4:26: time '2' has no unit; write '2 s', '2 h' or '2 days'\n"
                 "5 errors, nothing was run");
}

/* 60000 items, twice: each list is within the limit, both are not. Aliases would make them of a few bytes. */
static void
long_lists_are_refused_before_memory_is_spent_on_them (void)
{
  GString *text = g_string_new ("nodes: 1\ndims: [");
  for (unsigned i = 0; i < 60000; i++)
    g_string_append (text, "1,");
  g_string_append (text, "]\nunder: [");
  for (unsigned i = 0; i < 60000; i++)
    g_string_append (text, "x,");
  g_string_append (text, "]\n");
  expect_errors (text->str, "f.yaml:3:8: the 60000 items of 'under' make more than 100000 in all lists; that is the most\n1 error");
  g_string_truncate (text, 0);
  g_string_append (text, "nodes: 1\nstores: [");
  for (unsigned i = 0; i <= BASE_SCHEMA_MAX_ITEMS; i++)
    g_string_append (text, "{},");
  g_string_append (text, "]\n");
  expect_errors (text->str,
                 "f.yaml:2:9: the 100001 items of 'stores' make more than 100000 in all lists; that is the most\n1 error");
  g_string_free (text, TRUE);
}

static BaseYaml *
load_overlay (const char *text)
{
  BaseYaml *yaml = base_yaml_load_data ("o.yaml", text, strlen (text), NULL);
  g_assert_nonnull (yaml);
  return yaml;
}

static void
an_overlay_changes_only_what_it_names (void)
{
  Reading r;
  read_text (&r, "nodes: 4\nrate: 1 GB/s\nkind: torus\nlink: {rate: 5 GB/s, latency: 3 us}\nstores: [{name: a}, {name: b}]\n");
  g_autoptr (BaseYaml) over = load_overlay ("rate: 2 GB/s\nlink: {latency: 7 us}\nkind: ~\nstores: [{name: c}]\n");
  Spec before = r.spec;
  TEST_TRUE (base_schema_read (&schema, base_yaml_root (over), TRUE, &r.context, &r.spec));
  TEST_NEAR (r.spec.rate.v, 2e9, 0);
  TEST_STR (r.spec.rate.mark.file, "o.yaml");
  TEST_NEAR (r.spec.nodes.v, 4, 0); /* required, and yet not missing */
  TEST_NEAR (r.spec.link.rate.v, 5e9, 0);
  TEST_NEAR (r.spec.link.latency.v, 7e-6, 0); /* no default in its place */
  TEST_INT (r.spec.kind.v, KIND_TORUS);       /* a null changes nothing */
  TEST_INT (r.spec.stores.n, 1);              /* a list replaces the list */
  TEST_NEAR (BASE_LIST_AT (r.spec.stores, Store, 0)->servers.v, 1, 0);
  TEST_STR (BASE_LIST_AT (before.stores, Store, 1)->name.v, "b"); /* the old items are as they were */
  reading_clear (&r);
}

/* A note and a source of a list are those of its items, unless an item has its own. */
static void
a_list_as_a_whole_may_say_where_it_comes_from (void)
{
  Reading r;
  read_text (&r, "nodes: 1\ndims: {value: [1, {value: 2, source: datasheet}], source: measured, note: by hand}\n");
  TEST_TRUE (r.ok);
  TEST_INT (r.spec.dims.n, 2);
  TEST_INT (r.spec.dims.item[0].source, BASE_SOURCE_MEASURED);
  TEST_STR (r.spec.dims.item[0].note, "by hand");
  TEST_INT (r.spec.dims.item[1].source, BASE_SOURCE_DATASHEET);
  TEST_STR (base_source_name (BASE_SOURCE_MEASURED), "measured");
  TEST_STR (base_source_name (BASE_SOURCE_ASSUMED), "assumed");
  reading_clear (&r);
}

static void
a_failed_value_keeps_what_was_there (void)
{
  Reading r;
  read_text (&r, "nodes: 4\ndims: [1, 2]\n");
  g_autoptr (BaseYaml) over = load_overlay ("nodes: 0\ndims: [3, x]\n");
  TEST_FALSE (base_schema_read (&schema, base_yaml_root (over), TRUE, &r.context, &r.spec));
  TEST_NEAR (r.spec.nodes.v, 4, 0);
  TEST_NEAR (r.spec.dims.item[0].v, 1, 0);
  reading_clear (&r);
}

/* A later read of the same wrong file says nothing new, and is wrong all the same. */
static void
an_error_that_was_said_before_still_fails (void)
{
  Reading r;
  read_text (&r, "nodes: 0\n");
  Spec again = { 0 };
  TEST_FALSE (base_schema_read (&schema, base_yaml_root (r.yaml), FALSE, &r.context, &again));
  TEST_INT (base_diag_n_errors (r.diag), 1);
  reading_clear (&r);
}

static void
a_node_of_more_than_one_form_is_read_as_a_number (void)
{
  Reading r;
  read_text (&r, "nodes: 1\noverrides: {value: 3, source: assumed}\n");
  BaseNum n = { 0 };
  TEST_TRUE (base_schema_read_num (&fields[0], r.spec.overrides, &r.context, &n));
  TEST_NEAR (n.v, 3, 0);
  TEST_INT (n.source, BASE_SOURCE_ASSUMED);
  const BaseYamlNode *root = base_yaml_root (r.yaml);
  TEST_FALSE (base_schema_read_num (&fields[2], base_yaml_get (root, "nodes"), &r.context, &n));
  TEST_NEAR (n.v, 3, 0);
  reading_clear (&r);
}

static void
an_earlier_name_of_a_key_is_read_and_warned_of_once (void)
{
  Reading r;
  read_text (&r, "nodes: 1\nlink: {delay: 3 us}\nstores:\n  - {name: a, link: {delay: 4 us}}\n");
  TEST_TRUE (r.ok);
  TEST_NEAR (r.spec.link.latency.v, 3e-6, 1e-18);
  TEST_NEAR (BASE_LIST_AT (r.spec.stores, Store, 0)->link.latency.v, 4e-6, 1e-18);
  TEST_INT (base_diag_n_warnings (r.diag), 1);
  TEST_STR (base_diag_warning (r.diag, 0),
            "f.yaml:2:15: 'delay' in 'link' is now called 'latency'; the next version will not read the old name");
  reading_clear (&r);
  read_text (&r, "nodes: 1\nlink: {delay: 3 us, latency: 4 us}\n");
  TEST_FALSE (r.ok);
  g_autoptr (GError) error = NULL;
  TEST_FALSE (base_diag_finish (r.diag, &error));
  TEST_TRUE (strstr (error->message, "'latency' and 'delay' in 'link' are one key; write 'latency' alone") != NULL);
  reading_clear (&r);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "every kind fills its place", every_kind_fills_its_place },
    { "what is absent or null has its default and no mark", what_is_absent_or_null_has_its_default_and_no_mark },
    { "what is wrong is said with what is accepted", what_is_wrong_is_said_with_what_is_accepted },
    { "all errors of a file are said in one go", all_errors_of_a_file_are_said_in_one_go },
    { "long lists are refused before memory is spent on them", long_lists_are_refused_before_memory_is_spent_on_them },
    { "an overlay changes only what it names", an_overlay_changes_only_what_it_names },
    { "a list as a whole may say where it comes from", a_list_as_a_whole_may_say_where_it_comes_from },
    { "a failed value keeps what was there", a_failed_value_keeps_what_was_there },
    { "an error that was said before still fails", an_error_that_was_said_before_still_fails },
    { "a node of more than one form is read as a number", a_node_of_more_than_one_form_is_read_as_a_number },
    { "an earlier name of a key is read and warned of once", an_earlier_name_of_a_key_is_read_and_warned_of_once },
    { 0 },
  };
  return test_main ("base/schema", cases);
}
