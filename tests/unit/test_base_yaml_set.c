#include "base/yaml.h"
#include "harness.h"

#include <string.h>

static BaseYaml *
load (const char *text)
{
  BaseYaml *yaml = base_yaml_load_data ("f.yaml", text, strlen (text), NULL);
  TEST_TRUE (yaml != NULL);
  return yaml;
}

/* The tree as flow text, to compare at a glance. */
static void
append_flow (const BaseYamlNode *node, GString *out)
{
  gboolean map = base_yaml_kind (node) == BASE_YAML_MAP;
  if (base_yaml_kind (node) == BASE_YAML_SCALAR) {
    g_string_append (out, base_yaml_text (node));
    return;
  }
  g_string_append_c (out, map ? '{' : '[');
  for (unsigned i = 0; i < base_yaml_n (node); i++) {
    g_string_append_printf (out, "%s%s%s", i > 0 ? ", " : "", map ? base_yaml_key (node, i) : "", map ? ": " : "");
    append_flow (base_yaml_item (node, i), out);
  }
  g_string_append_c (out, map ? '}' : ']');
}

static char *
flow (const BaseYaml *yaml)
{
  GString *out = g_string_new (NULL);
  append_flow (base_yaml_root (yaml), out);
  return g_string_free (out, FALSE);
}

/* The tree after the change, or what was wrong; then the tree must be as before. */
static char *
set (const char *text, const char *path, const char *value)
{
  g_autoptr (BaseYaml) yaml = load (text);
  g_autofree char *before = flow (yaml);
  g_autoptr (GError) error = NULL;
  if (base_yaml_set (yaml, path, value, "--set", &error))
    return flow (yaml);
  g_autofree char *after = flow (yaml);
  TEST_STR (after, before);
  TEST_TRUE (g_error_matches (error, BASE_ERROR, BASE_ERROR_INPUT));
  return g_strdup (error->message);
}

static void
a_path_reaches_into_mappings_and_lists_and_makes_what_is_missing (void)
{
  static const struct {
    const char *text, *path, *value, *after;
  } cases[] = {
    { "node: {nics: {rate: 200 Gb/s}}", "node.nics.rate", "400 Gb/s", "{node: {nics: {rate: 400 Gb/s}}}" },
    { "a: 1", "b", "2", "{a: 1, b: 2}" },
    { "", "node.nics.rate", "400 Gb/s", "{node: {nics: {rate: 400 Gb/s}}}" },
    { "fabric:", "fabric.kind", "torus", "{fabric: {kind: torus}}" }, /* a null is an absent mapping */
    { "~", "a", "1", "{a: 1}" },
    { "a: {b: 1, c: 2}", "a", "[1, {x: 2}]", "{a: [1, {x: 2}]}" },
    { "jobs: [{nodes: 1}, {nodes: 2}]", "jobs.1.nodes", "4", "{jobs: [{nodes: 1}, {nodes: 4}]}" },
    { "jobs: [1, 2]", "jobs.0", "{x: 1}", "{jobs: [{x: 1}, 2]}" },
    { "r: {value: 1 GB/s, source: measured}", "r", "2 GB/s", "{r: 2 GB/s}" },
    { "choices: {nics.rate: [1], nics: 2}", "choices.nics.rate", "[3]", "{choices: {nics.rate: [3], nics: 2}}" },
    { "a: 1", "a", "", "{a: }" },
    { "a: 1", "a", "'x: y'", "{a: x: y}" },
    { "1: {0: a}", "1.0", "b", "{1: {0: b}}" },
  };
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *after = set (cases[i].text, cases[i].path, cases[i].value);
    TEST_STR (after, cases[i].after);
  }
}

static void
a_bad_path_or_value_changes_nothing (void)
{
  static const struct {
    const char *text, *path, *value, *message;
  } cases[] = {
    { "a: 1", "", "1", "--set: a path is keys with dots between, e.g. 'node.nics.rate'" },
    { "a: 1", "a..b", "1", "--set: a path is keys with dots between" },
    { "a: 1", ".a", "1", "--set: a path is keys with dots between" },
    { "a: 1", "a.", "1", "--set: a path is keys with dots between" },
    { "a: h200", "a.memory", "1", "--set: 'a' is 'h200', not a mapping with a key 'memory'" },
    { "just text", "a", "1", "--set: the file is 'just text', not a mapping with keys" },
    { "jobs: [1, 2]", "jobs.2", "1", "--set: 'jobs' has 2 items, there is no item 2 (the first is 0)" },
    { "jobs: [1, 2]", "jobs.-1", "1", "--set: 'jobs' is a list; '-1' is not the number of an item (the first is 0)" },
    { "jobs: [1, 2]", "jobs.first.x", "1", "--set: 'jobs' is a list; 'first' is not the number of an item" },
    { "jobs: [1]", "jobs.99999999999999999999", "1", "'99999999999999999999' is not the number of an item" },
    { "a: 1", "a", "[1, 2", "--set: a ',' or ']' is missing" },
    { "a: &x 1", "b", "*x", "--set: alias '*x' has no anchor '&x' before it" },
    { "a: 1", "b", "--- 1\n--- 2", "--set: more than one document" },
    { "a: 1", "b", "{x: 1, x: 2}", "--set: duplicate key 'x'" },
    { "a: 1", "b", "\xff", "--set: byte 0xff is not UTF-8" },
    { "a: 1", "b", "#5", "--set: the value is empty; put text that begins with '#' in quotes" },
    { "a: 1", "\xff", "1", "--set: the path is not UTF-8" },
  };
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *message = set (cases[i].text, cases[i].path, cases[i].value);
    test_has (message, cases[i].message, cases[i].path, __FILE__, __LINE__);
  }
}

/* What an alias shares is copied on the way: the anchor and other aliases keep their value. */
static void
setting_below_an_alias_leaves_its_anchor_alone (void)
{
  const char *text = "a: &x {n: {r: 1}, s: 2}\nb: *x\nc: *x\n";
  g_autofree char *b = set (text, "b.n.r", "9");
  TEST_STR (b, "{a: {n: {r: 1}, s: 2}, b: {n: {r: 9}, s: 2}, c: {n: {r: 1}, s: 2}}");
  g_autofree char *a = set (text, "a.n.r", "9");
  TEST_STR (a, "{a: {n: {r: 9}, s: 2}, b: {n: {r: 1}, s: 2}, c: {n: {r: 1}, s: 2}}");
  g_autofree char *below = set ("a: {x: &x {r: 1}}\nb: [*x]\n", "b.0.t", "9");
  TEST_STR (below, "{a: {x: {r: 1}}, b: [{r: 1, t: 9}]}");
}

static void
several_changes_add_up (void)
{
  g_autoptr (BaseYaml) yaml = load ("a: &x {r: 1}\nb: *x\n");
  TEST_TRUE (base_yaml_set (yaml, "b.r", "2", "--set", NULL));
  TEST_TRUE (base_yaml_set (yaml, "b.s", "3", "--set", NULL));
  TEST_TRUE (base_yaml_set (yaml, "a.r", "4", "--set", NULL));
  TEST_TRUE (base_yaml_set (yaml, "c", "{d: 5}", "--set", NULL));
  TEST_TRUE (base_yaml_set (yaml, "c.e", "6", "--set", NULL));
  g_autofree char *after = flow (yaml);
  TEST_STR (after, "{a: {r: 4}, b: {r: 2, s: 3}, c: {d: 5, e: 6}}");
}

static void
a_known_key_with_dots_is_made_as_one_key (void)
{
  static const char *const dotted[] = { "n.rate", NULL };
  g_autoptr (BaseYaml) yaml = load ("a: {b: 1}\n");
  TEST_TRUE (base_yaml_set_dotted (yaml, "a.n.rate", "2", "--set", dotted, NULL));
  TEST_TRUE (base_yaml_set_dotted (yaml, "a.n.other", "3", "--set", dotted, NULL));
  TEST_INT (base_yaml_n (base_yaml_root (yaml)), 1);
  const BaseYamlNode *a = base_yaml_get (base_yaml_root (yaml), "a");
  TEST_STR (base_yaml_text (base_yaml_get (a, "n.rate")), "2");
  TEST_STR (base_yaml_text (base_yaml_get (base_yaml_get (a, "n"), "other")), "3");
}

static void
new_values_are_marked_with_the_flag (void)
{
  g_autoptr (BaseYaml) yaml = load ("a: {b: 1}\n");
  TEST_TRUE (base_yaml_set (yaml, "a.c", "{d: 1}", "--set a.c", NULL));
  const BaseYamlNode *a = base_yaml_get (base_yaml_root (yaml), "a");
  BaseMark mark = base_yaml_mark (base_yaml_get (base_yaml_get (a, "c"), "d"));
  TEST_STR (mark.file, "--set a.c");
  TEST_INT (mark.line, 0);
  TEST_INT (base_yaml_key_mark (a, 1).line, 0);
  TEST_INT (base_yaml_key_mark (a, 0).line, 1);
}

/* 64 levels in all, whether they come from the path or from the value. */
static void
nesting_by_flags_is_limited (void)
{
  g_autoptr (BaseYaml) yaml = load ("");
  GString *path = g_string_new ("a");
  for (unsigned i = 1; i < BASE_YAML_MAX_DEPTH - 1; i++)
    g_string_append (path, ".a"); /* 63 parts: the value is the 64th level */
  TEST_TRUE (base_yaml_set (yaml, path->str, "1", "--set", NULL));
  g_autoptr (GError) error = NULL;
  TEST_FALSE (base_yaml_set (yaml, path->str, "[1]", "--set", &error));
  TEST_STR (error->message, "--set: nested deeper than 64 levels");
  for (unsigned i = 0; i < 1000; i++)
    g_string_append (path, ".a");
  g_autoptr (GError) longer = NULL;
  TEST_FALSE (base_yaml_set (yaml, path->str, "1", "--set", &longer));
  TEST_HAS (longer->message, "at most 64");
  g_string_free (path, TRUE);
}

static void
quoted_text_is_read_back_as_itself (void)
{
  static const struct {
    const char *text, *quoted;
  } cases[] = {
    { "h200_sxm", "h200_sxm" },
    { "450 GB/s", "450 GB/s" },
    { "NVIDIA H200 SXM 141 GB", "NVIDIA H200 SXM 141 GB" },
    { "$2.50/h", "$2.50/h" },
    { "", "\"\"" },
    { "true", "\"true\"" },
    { "No", "\"No\"" },
    { "null", "\"null\"" },
    { "~", "\"~\"" },
    { "8", "\"8\"" },
    { "-1.5e3", "\"-1.5e3\"" },
    { "12:30", "\"12:30\"" },
    { "2026-11-20", "\"2026-11-20\"" },
    { "0x1f", "\"0x1f\"" },
    { ".inf", "\".inf\"" },
    { "a: b", "\"a: b\"" },
    { "a #b", "\"a #b\"" },
    { "- a", "\"- a\"" },
    { "[x]", "\"[x]\"" },
    { " a", "\" a\"" },
    { "a ", "\"a \"" },
    { "a  b", "\"a  b\"" },
    { "a\"b\\c", "\"a\\\"b\\\\c\"" },
    { "a\nb\tc\x01", "\"a\\nb\\tc\\u0001\"" },
    { "µ", "\"µ\"" },
    { "\xf0\x9f\x98\x80", "\"\xf0\x9f\x98\x80\"" },
    { "\xe2\x80\xa8", "\"\\u2028\"" }, /* a line separator would be folded */
  };
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *quoted = base_yaml_quote (cases[i].text);
    TEST_STR (quoted, cases[i].quoted);
    g_autofree char *document = g_strconcat ("k: ", quoted, "\n", NULL);
    g_autoptr (BaseYaml) yaml = load (document);
    const BaseYamlNode *value = base_yaml_get (base_yaml_root (yaml), "k");
    TEST_STR (base_yaml_text (value), cases[i].text);
    TEST_FALSE (base_yaml_is_null (value));
    g_autofree char *in_flow = g_strconcat ("[", quoted, "]", NULL);
    g_autoptr (BaseYaml) list = load (in_flow);
    TEST_STR (base_yaml_text (base_yaml_item (base_yaml_root (list), 0)), cases[i].text);
  }
}

int
main (void)
{
  static const TestCase cases[] = {
    { "a path reaches into mappings and lists, and makes what is missing",
      a_path_reaches_into_mappings_and_lists_and_makes_what_is_missing },
    { "a bad path or value changes nothing", a_bad_path_or_value_changes_nothing },
    { "setting below an alias leaves its anchor alone", setting_below_an_alias_leaves_its_anchor_alone },
    { "several changes add up", several_changes_add_up },
    { "a known key with dots is made as one key", a_known_key_with_dots_is_made_as_one_key },
    { "new values are marked with the flag", new_values_are_marked_with_the_flag },
    { "nesting by flags is limited", nesting_by_flags_is_limited },
    { "quoted text is read back as itself", quoted_text_is_read_back_as_itself },
    { 0 },
  };
  return test_main ("base/yaml_set", cases);
}
