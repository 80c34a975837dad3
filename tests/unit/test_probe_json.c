#include "harness.h"
#include "probe_json.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

static JsonParser *
parse (const char *text)
{
  JsonParser *parser = json_parser_new ();
  g_autoptr (GError) error = NULL;
  if (!json_parser_load_from_data (parser, text, -1, &error)) {
    g_printerr ("%s in %s\n", error->message, text);
    TEST_TRUE (FALSE);
  }
  return parser;
}

static void
members_are_separated_and_nested (void)
{
  ProbeJson json = { 0 };
  probe_json_open (&json, NULL, '{');
  probe_json_number (&json, "a", 1);
  probe_json_open (&json, "b", '[');
  probe_json_bool (&json, NULL, true);
  probe_json_null (&json, NULL);
  probe_json_open (&json, NULL, '{');
  probe_json_close (&json, '}');
  probe_json_close (&json, ']');
  probe_json_line (&json);
  probe_json_raw (&json, "c", "[1]");
  probe_json_close (&json, '}');
  TEST_FALSE (json.failed);
  TEST_STR (json.text, "{\"a\": 1, \"b\": [true, null, {}],\n\"c\": [1]}");
  probe_json_free (&json);
}

/* Whole numbers stay whole beyond nine digits; what JSON has no number for is null. */
static void
numbers_are_exact_or_null (void)
{
  ProbeJson json = { 0 };
  probe_json_open (&json, NULL, '[');
  const double values[] = { 1073741824, 0, -3, 1.23456789012e-6, (double)NAN, (double)INFINITY, -(double)INFINITY, 1e300 };
  for (size_t i = 0; i < G_N_ELEMENTS (values); i++)
    probe_json_number (&json, NULL, values[i]);
  probe_json_close (&json, ']');
  TEST_STR (json.text, "[1073741824, 0, -3, 1.23456789e-06, null, null, null, 1e+300]");
  probe_json_free (&json);
}

static void
any_bytes_become_a_valid_string (void)
{
  /* each byte alone, between letters; then good and bad UTF-8 */
  for (unsigned byte = 1; byte < 256; byte++) {
    char value[4] = { 'a', (char)byte, 'b', '\0' };
    ProbeJson json = { 0 };
    probe_json_open (&json, NULL, '[');
    probe_json_string (&json, NULL, value);
    probe_json_close (&json, ']');
    TEST_TRUE (g_utf8_validate (json.text, -1, NULL));
    g_autoptr (JsonParser) parser = parse (json.text);
    const char *back = json_array_get_string_element (json_node_get_array (json_parser_get_root (parser)), 0);
    TEST_INT (g_utf8_strlen (back, -1), 3);
    TEST_INT (g_utf8_get_char (g_utf8_offset_to_pointer (back, 1)), byte);
    probe_json_free (&json);
  }
  static const struct {
    const char *value, *text;
  } cases[] = {
    { "µs → \"x\"\\\n", "\"µs → \\\"x\\\"\\\\\\u000a\"" },
    { "\xc0\xaf", "\"\\u00c0\\u00af\"" },                       /* '/' in too many bytes */
    { "\xed\xa0\x80", "\"\\u00ed\\u00a0\\u0080\"" },            /* half of a surrogate pair */
    { "\xe2\x82", "\"\\u00e2\\u0082\"" },                       /* cut off */
    { "\xf4\x90\x80\x80", "\"\\u00f4\\u0090\\u0080\\u0080\"" }, /* beyond Unicode */
    { "\xf0\x9f\x98\x80", "\"\xf0\x9f\x98\x80\"" },
  };
  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++) {
    ProbeJson json = { 0 };
    probe_json_string (&json, NULL, cases[i].value);
    TEST_STR (json.text, cases[i].text);
    probe_json_free (&json);
  }
}

static void
nesting_too_deep_or_closing_too_often_fails (void)
{
  ProbeJson json = { 0 };
  for (unsigned i = 0; i <= PROBE_JSON_DEEPEST; i++)
    probe_json_open (&json, NULL, '[');
  TEST_TRUE (json.failed);
  probe_json_free (&json);
  probe_json_open (&json, NULL, '[');
  probe_json_close (&json, ']');
  TEST_FALSE (json.failed);
  probe_json_close (&json, ']');
  TEST_TRUE (json.failed);
  probe_json_free (&json);
}

static void
saving_replaces_the_file_and_leaves_nothing_else (void)
{
  g_autofree char *folder = g_dir_make_tmp ("probe-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "out.json", NULL);
  g_autofree char *text = NULL;
  TEST_TRUE (probe_json_save (path, "{}", 2));
  TEST_TRUE (probe_json_save (path, "[1]", 3));
  TEST_TRUE (g_file_get_contents (path, &text, NULL, NULL));
  TEST_STR (text, "[1]\n");
  GStatBuf st;
  const mode_t mask = umask (022);
  (void)umask (mask);
  TEST_INT (g_stat (path, &st), 0);
  TEST_INT (st.st_mode & 0777, 0666 & ~mask);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  TEST_STR (g_dir_read_name (dir), "out.json");
  TEST_TRUE (g_dir_read_name (dir) == NULL);
  g_autofree char *nowhere = g_build_filename (folder, "none", "out.json", NULL);
  TEST_FALSE (probe_json_save (nowhere, "{}", 2));
  TEST_INT (errno, ENOENT);
  g_unlink (path);
  g_rmdir (folder);
}

/* What others put at a name that can be guessed is not written through. */
static void
a_link_beside_the_file_is_not_followed (void)
{
  g_autofree char *folder = g_dir_make_tmp ("probe-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "out.json", NULL), *guess = g_strconcat (path, ".tmp", NULL);
  g_autofree char *victim = g_build_filename (folder, "victim", NULL), *text = NULL;
  TEST_TRUE (g_file_set_contents (victim, "mine", -1, NULL));
  TEST_INT (symlink (victim, guess), 0);
  TEST_TRUE (probe_json_save (path, "{}", 2));
  TEST_TRUE (g_file_get_contents (victim, &text, NULL, NULL));
  TEST_STR (text, "mine");
  TEST_TRUE (g_file_test (path, G_FILE_TEST_IS_REGULAR) && !g_file_test (path, G_FILE_TEST_IS_SYMLINK));
  g_unlink (guess);
  g_unlink (victim);
  g_unlink (path);
  g_rmdir (folder);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "members are separated and nested", members_are_separated_and_nested },
    { "numbers are exact or null", numbers_are_exact_or_null },
    { "any bytes become a valid string", any_bytes_become_a_valid_string },
    { "nesting too deep or closing too often fails", nesting_too_deep_or_closing_too_often_fails },
    { "saving replaces the file and leaves nothing else", saving_replaces_the_file_and_leaves_nothing_else },
    { "a link beside the file is not followed", a_link_beside_the_file_is_not_followed },
    { 0 },
  };
  return test_main ("probe/json", cases);
}
