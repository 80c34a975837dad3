#include "base/json.h"
#include "harness.h"

#include <math.h>
#include <string.h>

#include <gio/gio.h>

/* What a text is refused with, or its root's kind; `text` of another length than strlen needs `n_B`. Returned: full. */
static char *
say (const char *bytes, gsize n_B, unsigned line, BaseJsonLimits limits)
{
  const BaseJsonText text = { "x.json", bytes, n_B, line, limits };
  g_autoptr (GError) error = NULL;
  g_autoptr (BaseJson) json = base_json_read (&text, &error);
  TEST_TRUE ((json == NULL) == (error != NULL));
  if (error != NULL) {
    TEST_TRUE (g_error_matches (error, BASE_ERROR, (int)BASE_ERROR_INPUT));
    return g_strdup (error->message);
  }
  return g_strdup (base_json_root (json) != NULL ? "object" : "other");
}

static char *
say_text (const char *text)
{
  return say (text, strlen (text), 1, BASE_JSON_LIMITS);
}

static char *
repeat (const char *unit, guint times)
{
  GString *out = g_string_new (NULL);
  for (guint i = 0; i < times; i++)
    g_string_append (out, unit);
  return g_string_free (out, FALSE);
}

static void
test_refused (void)
{
  const struct {
    const char *text, *says;
  } cases[] = {
    { "{\"a\": [1, \"\\\"[\\\\\"]}", "object" },
    { "\xEF\xBB\xBF{}", "object" },
    { "[1, 2]", "other" },
    { "3", "other" },
    { "", "other" },
    { "{\n \"a\": [1,\n  2", "x.json:3:3: the file ends within the JSON document of line 1: cut off; write it again" },
    { "{\"a\": \"b", "x.json:1:8: the file ends within the JSON document of line 1: cut off; write it again" },
    { "{\"a\": 'b'}", "x.json:1:7: not valid JSON: ''' outside of a text; texts stand in double quotes" },
    { "{\n/* \" */}", "x.json:2:1: not valid JSON: '/' outside of a text; texts stand in double quotes" },
    { "{}\xC3\xA9", "x.json:1:3: not valid JSON: '\\xc3' outside of a text; texts stand in double quotes" },
    { "{\"a\" 1}", NULL },
    { "[1, NaN]", NULL },
    { "{\"a\": [{\"b\": 1e400}]}", "x.json: a[0].b: a number beyond 1e308; smaller ones are accepted" },
    { "[-1e999]", "x.json: a number beyond 1e308; smaller ones are accepted" },
  };
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *says = say_text (cases[i].text);
    gboolean others = cases[i].says == NULL; /* json-glib's words */
    if (!others)
      TEST_STR (says, cases[i].says);
    TEST_TRUE (!others || (g_str_has_prefix (says, "x.json:1:") && strstr (says, ": not valid JSON: ") != NULL));
  }
  g_autofree char *later = say ("[1,", 3, 7, BASE_JSON_LIMITS), *nul = say ("[\0]", 3, 1, BASE_JSON_LIMITS);
  TEST_HAS (later, "x.json:7:3: the file ends within the JSON document of line 7");
  TEST_HAS (nul, "x.json:1:2: not valid JSON");
}

static void
test_depth (void)
{
  g_autofree char *open = repeat ("[", 64), *close = repeat ("]", 64), *all = g_strconcat (open, close, NULL);
  g_autofree char *deeper = g_strconcat ("{\"a\":\n", all, "}", NULL), *deepest = repeat ("[", 100000);
  g_autofree char *good = say_text (all), *bad = say_text (deeper), *worst = say_text (deepest);
  TEST_STR (good, "other");
  TEST_STR (bad, "x.json:2:64: lists and mappings are nested more than 64 deep; up to 64 levels are accepted");
  TEST_HAS (worst, "x.json:1:65: lists and mappings are nested more than 64 deep");
}

static void
test_values (void)
{
  /* the document 1, two lists 2 each, two more elements 1 each: 7 */
  const char *text = "[1,[2],\"a,b\"]";
  g_autofree char *good = say (text, strlen (text), 1, (BaseJsonLimits){ 100, 7 });
  g_autofree char *bad = say (text, strlen (text), 1, (BaseJsonLimits){ 100, 6 });
  TEST_STR (good, "other");
  TEST_STR (bad, "x.json:1:7: more than 6 values (a list counts as 2, a mapping as 4); divide the file");
}

/* What gzip makes of a text. Returned: full. */
static GBytes *
pack (const char *text)
{
  g_autoptr (GZlibCompressor) zip = g_zlib_compressor_new (G_ZLIB_COMPRESSOR_FORMAT_GZIP, 9);
  g_autoptr (GOutputStream) memory = g_memory_output_stream_new_resizable ();
  g_autoptr (GOutputStream) out = g_converter_output_stream_new (memory, G_CONVERTER (zip));
  TEST_TRUE (g_output_stream_write_all (out, text, strlen (text), NULL, NULL, NULL));
  TEST_TRUE (g_output_stream_close (out, NULL, NULL));
  return g_memory_output_stream_steal_as_bytes (G_MEMORY_OUTPUT_STREAM (memory));
}

static void
test_packed (void)
{
  g_autofree char *blanks = repeat (" ", 4 << 20), *text = g_strconcat (blanks, "{}", NULL);
  g_autoptr (GBytes) packed = pack (text);
  gsize n_B;
  const char *bytes = g_bytes_get_data (packed, &n_B);
  g_autofree char *good = say (bytes, n_B, 1, BASE_JSON_LIMITS), *cut = say (bytes, n_B / 2, 1, BASE_JSON_LIMITS);
  g_autofree char *large = say (bytes, n_B, 1, (BaseJsonLimits){ 1 << 20, 100 });
  g_autofree char *plain = say (text, strlen (text), 1, (BaseJsonLimits){ 1 << 20, 100 });
  TEST_STR (good, "object");
  TEST_HAS (cut, "x.json: not a gzip file, or one that is cut off: ");
  TEST_STR (large, "x.json: unpacks to more than 1 MiB; divide it");
  TEST_STR (plain, "x.json: a file of more than 1 MiB; divide it");
}

/* 40 MiB of one letter pack to some 40 KB. */
static void
test_bomb (void)
{
  g_autofree char *letters = repeat ("x", 40 << 20), *text = g_strconcat ("[\"", letters, "\"]", NULL);
  g_autoptr (GBytes) packed = pack (text);
  gsize n_B;
  const char *bytes = g_bytes_get_data (packed, &n_B);
  g_autofree char *packed_says = say (bytes, n_B, 1, BASE_JSON_LIMITS), *says = say_text (text);
  TEST_HAS (packed_says, "x.json: unpacks to more than 16 MiB, too much for a file of ");
  TEST_HAS (packed_says, " KiB; unpack it first");
  TEST_STR (says, "other");
}

static void
test_first (void)
{
  const char *bytes = "{\"a\": 1} rest {";
  const BaseJsonText text = { "x.json", bytes, strlen (bytes), 4, BASE_JSON_LIMITS };
  gsize end = 0;
  g_autoptr (BaseJson) json = base_json_read_first (&text, &end, NULL);
  TEST_INT (end, 8);
  TEST_NEAR (base_json_number (base_json_root (json), "a"), 1, 0);
}

static void
test_members (void)
{
  const char *bytes = "{\"n\": 4, \"x\": 1.5, \"t\": \"4\", \"f\": true, \"z\": null, \"o\": {\"l\": [0, {\"n\": -1}]}}";
  const BaseJsonText text = { "x.json", bytes, strlen (bytes), 1, BASE_JSON_LIMITS };
  g_autoptr (BaseJson) json = base_json_read (&text, NULL);
  JsonObject *root = base_json_root (json), *o = base_json_object (root, "o");
  JsonArray *list = base_json_array (o, "l");
  JsonObject *last = base_json_element (list, 1);
  TEST_NEAR (base_json_number (root, "n"), 4, 0);
  TEST_NEAR (base_json_number (root, "x"), 1.5, 0);
  TEST_TRUE (isnan (base_json_number (root, "t")) && isnan (base_json_number (root, "none")) &&
             isnan (base_json_number (NULL, "n")));
  TEST_STR (base_json_text (root, "t"), "4");
  TEST_TRUE (base_json_text (root, "n") == NULL && base_json_text (root, "z") == NULL && base_json_text (NULL, "t") == NULL);
  TEST_TRUE (base_json_flag (root, "f", FALSE) && base_json_flag (root, "n", TRUE) && !base_json_flag (root, "n", FALSE));
  TEST_TRUE (base_json_object (root, "n") == NULL && base_json_array (root, "o") == NULL && base_json_element (list, 0) == NULL);
  TEST_TRUE (base_json_need_array (json, o, "l", NULL) == list);
  gint64 n = 0;
  TEST_TRUE (base_json_need_count (json, root, "n", 0, 4, &n, NULL));
  TEST_INT (n, 4);
  g_autoptr (GError) low = NULL, kind = NULL, words = NULL, whole = NULL;
  TEST_FALSE (base_json_need_count (json, last, "n", 0, 4, &n, &low));
  TEST_STR (low->message, "x.json: o.l[1].n: a whole number from 0 to 4 is accepted");
  TEST_TRUE (base_json_need_array (json, root, "n", &kind) == NULL);
  TEST_STR (kind->message, "x.json: n: a list is accepted");
  TEST_TRUE (base_json_need_text (json, o, "name", &words) == NULL);
  TEST_STR (words->message, "x.json: o.name: a text is accepted");
  TEST_FALSE (base_json_fail (json, list, NULL, &whole, "%d elements", 2));
  TEST_STR (whole->message, "x.json: o.l: 2 elements");
}

int
main (void)
{
  static const TestCase cases[] = {
    { "what_is_not_json_is_refused_with_its_place", test_refused },
    { "too_deep_a_document_is_refused", test_depth },
    { "too_many_values_are_refused", test_values },
    { "a_packed_document_is_unpacked_up_to_a_size", test_packed },
    { "what_unpacks_to_far_more_than_its_size_is_refused", test_bomb },
    { "a_document_is_taken_from_the_head_of_a_text", test_first },
    { "members_have_their_kind_and_errors_their_path", test_members },
    { NULL, NULL },
  };
  return test_main ("base_json", cases);
}
