#include "base/yaml.h"
#include "harness.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static BaseYaml *
load (const char *text)
{
  g_autoptr (GError) error = NULL;
  BaseYaml *yaml = base_yaml_load_data ("f.yaml", text, strlen (text), &error);
  if (yaml == NULL)
    fprintf (stderr, "%s\n", error->message);
  TEST_TRUE (yaml != NULL);
  return yaml;
}

static char *
load_error_n (const char *bytes, gsize n_B)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (BaseYaml) yaml = base_yaml_load_data ("f.yaml", bytes, n_B, &error);
  if (yaml != NULL)
    return g_strdup ("accepted");
  TEST_TRUE (g_error_matches (error, BASE_ERROR, BASE_ERROR_INPUT));
  return g_strdup (error->message);
}

static void
positions_count_lines_and_characters_from_one (void)
{
  g_autoptr (BaseYaml) yaml = load ("# comment\nnode:\n  gpus: {type: h200, count: 8}\n  \"µ\": [a, 'b c']\n");
  const BaseYamlNode *root = base_yaml_root (yaml);
  const BaseYamlNode *node = base_yaml_get (root, "node");
  const BaseYamlNode *gpus = base_yaml_get (node, "gpus");
  const BaseYamlNode *count = base_yaml_get (gpus, "count");
  TEST_INT (base_yaml_kind (gpus), BASE_YAML_MAP);
  TEST_STR (base_yaml_text (count), "8");
  TEST_INT (base_yaml_mark (count).line, 3);
  TEST_INT (base_yaml_mark (count).column, 29); /* "  gpus: {type: h200, count: 8}" */
  TEST_STR (base_yaml_mark (count).file, "f.yaml");
  TEST_STR (base_yaml_key (gpus, 1), "count");
  TEST_INT (base_yaml_key_mark (gpus, 1).column, 22);
  const BaseYamlNode *list = base_yaml_get (node, "µ");
  TEST_INT (base_yaml_n (list), 2);
  TEST_INT (base_yaml_mark (base_yaml_item (list, 0)).column, 9); /* µ is one character of two bytes */
  TEST_TRUE (base_yaml_is_plain (base_yaml_item (list, 0)));
  TEST_FALSE (base_yaml_is_plain (base_yaml_item (list, 1)));
  TEST_TRUE (base_yaml_get (root, "fabric") == NULL && base_yaml_get (list, "x") == NULL && base_yaml_get (NULL, "x") == NULL);
  TEST_TRUE (base_yaml_text (list) == NULL);
  TEST_INT (base_yaml_n (count), 0);
}

static void
null_is_plain_and_empty_text_is_not (void)
{
  g_autoptr (BaseYaml) yaml = load ("a:\nb: ~\nc: null\nd: ''\ne: \"null\"\nf: !!str null\ng: none\nh: 'x'\n");
  static const gboolean null[] = { TRUE, TRUE, TRUE, FALSE, FALSE, FALSE, FALSE, FALSE };
  const BaseYamlNode *root = base_yaml_root (yaml);
  TEST_INT (base_yaml_n (root), G_N_ELEMENTS (null));
  for (unsigned i = 0; i < base_yaml_n (root); i++)
    TEST_INT (base_yaml_is_null (base_yaml_item (root, i)), null[i]);
}

static void
an_empty_document_is_an_empty_mapping (void)
{
  static const char *const texts[] = { "", "\n", "# only a comment\n", "---\n", "---\n...\n", "\xef\xbb\xbf" };
  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++) {
    g_autoptr (BaseYaml) yaml = load (texts[i]);
    TEST_INT (base_yaml_kind (base_yaml_root (yaml)), BASE_YAML_MAP);
    TEST_INT (base_yaml_n (base_yaml_root (yaml)), 0);
    TEST_INT (base_yaml_mark (base_yaml_root (yaml)).line, 1);
  }
}

static void
byte_order_mark_and_windows_line_ends_do_not_shift_positions (void)
{
  g_autoptr (BaseYaml) yaml = load ("\xef\xbb\xbf"
                                    "a: 1\r\nb:\r\n  c: 2\r\n");
  const BaseYamlNode *root = base_yaml_root (yaml);
  TEST_INT (base_yaml_key_mark (root, 0).column, 1);
  const BaseYamlNode *c = base_yaml_get (base_yaml_get (root, "b"), "c");
  TEST_STR (base_yaml_text (c), "2");
  TEST_INT (base_yaml_mark (c).line, 3);
  TEST_INT (base_yaml_mark (c).column, 6);
}

/* JSON is YAML: a HuggingFace config.json is read as it is. */
static void
json_is_read_too (void)
{
  g_autoptr (BaseYaml) yaml =
      load ("{\n  \"hidden_size\": 8192,\n  \"architectures\": [\"LlamaForCausalLM\"],\n  \"bias\": null\n}\n");
  const BaseYamlNode *root = base_yaml_root (yaml);
  TEST_STR (base_yaml_text (base_yaml_get (root, "hidden_size")), "8192");
  TEST_STR (base_yaml_text (base_yaml_item (base_yaml_get (root, "architectures"), 0)), "LlamaForCausalLM");
  TEST_TRUE (base_yaml_is_null (base_yaml_get (root, "bias")));
}

static void
aliases_share_what_they_name (void)
{
  g_autoptr (BaseYaml) yaml = load ("a: &x {rate: 1}\nb: *x\nc: &x 2\nd: *x\n");
  const BaseYamlNode *root = base_yaml_root (yaml);
  TEST_TRUE (base_yaml_get (root, "a") == base_yaml_get (root, "b"));
  TEST_STR (base_yaml_text (base_yaml_get (root, "d")), "2"); /* an anchor set again names the later one */
}

static void
what_cannot_be_read_is_said_with_its_position (void)
{
  static const struct {
    const char *text, *message;
  } bad[] = {
    { "a: 1\nb: 2\na: 3\n", "f.yaml:3:1: duplicate key 'a'; it is already at 1:1" },
    { "a: {x: 1, 'x': 2}\n", "f.yaml:1:11: duplicate key 'x'; it is already at 1:5" },
    { "? [1, 2]\n: 3\n", "f.yaml:1:3: a key must be a word, not a list" },
    { "? {a: 1}\n: 3\n", "f.yaml:1:3: a key must be a word, not a mapping" },
    { "a: &x 1\n*x : 2\n", "f.yaml:2:1: an alias cannot be a key; write the key out" },
    { "&x a: 1\n", "f.yaml:1:1: an anchor on a key is not supported" },
    { "?\n: 1\n", "f.yaml:1:2: an empty key" },
    { "~: 1\n", "f.yaml:1:1: an empty key" },
    { "a: &x {b: 1}\nc:\n  <<: *x\n", "f.yaml:3:3: merge keys ('<<') are not supported" },
    { "--- a\n--- b\n", "f.yaml:2:1: more than one document; a file holds one" },
    { "a: 1\n...\nb: 2\n", "f.yaml:3:1: text behind the end of the document" },
    { "a: &x [1, *x]\n", "f.yaml:1:11: alias '*x' stands inside what it names, without end" },
    { "a: *y\nb: &y 1\n", "f.yaml:1:4: alias '*y' has no anchor '&y' before it" },
    { "a: !!python/object x\n", "f.yaml:1:4: tag 'tag:yaml.org,2002:python/object' is not supported" },
    { "a:\n\tb: 1\n", "f.yaml:2:1: a tab indents; use spaces" },
    { "a: b: c\n", "f.yaml:1:5: a ':' is not expected here" },
    { "a: [1, 2\nb: 3\n", "a ',' or ']' is missing" },
    { "a: {b: 1\n", "a ',' or '}' is missing" },
    { "a: 'open\n\n", "the text ends inside quotes" },
    { "a:\n  b: 1\n c: 2\n", "f.yaml:3:2: a key is expected here; keys of one mapping are indented alike" },
    { "a: @b\n", "f.yaml:1:4: a value cannot begin with this character; quote it" },
    { "a: \"\\q\"\n", "unknown escape in double quotes" },
    { "a: \"\\0\"\n", "f.yaml:1:4: a NUL character in a value" },
    { "\"\\0\": 1\n", "f.yaml:1:1: a NUL character in a key" },
    { "a: 1\nb: \x01\n", "f.yaml:2:4: a control character; remove it" },
    { "a: 1\nb: µ \xff\n", "f.yaml:2:6: byte 0xff is not UTF-8; save the file as UTF-8" },
    { "a: \xc0\xaf\n", "f.yaml:1:4: byte 0xc0 is not UTF-8" },
    { "\xff\xfe", "f.yaml:1:1: the file is UTF-16; save it as UTF-8" },
  };
  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autofree char *message = load_error_n (bad[i].text, strlen (bad[i].text));
    test_has (message, bad[i].message, bad[i].text, __FILE__, __LINE__);
    TEST_TRUE (strchr (message, '\n') == NULL);
  }
  g_autofree char *nul = load_error_n ("a: 1\nb\0: 2\n", 11);
  TEST_STR (nul, "f.yaml:2:2: a NUL byte; this is no text file");
}

/* The bytes of a file need not end with NUL; a copy of the exact size lets the sanitizer see a step beyond. */
static void
no_byte_behind_the_text_is_looked_at (void)
{
  static const char *const texts[] = { "a: @", "\t", "a: [", "'", "a: \"\\", "%", "a: \xc3", "&", "*" };
  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++) {
    gsize n = strlen (texts[i]);
    char *exact = malloc (n);
    memcpy (exact, texts[i], n);
    g_autofree char *message = load_error_n (exact, n);
    TEST_HAS (message, "f.yaml:");
    free (exact);
  }
}

static char *
nested (unsigned depth)
{
  g_autofree char *open = g_strnfill (depth, '[');
  g_autofree char *close = g_strnfill (depth, ']');
  return g_strconcat (open, close, NULL);
}

static void
nesting_is_limited (void)
{
  g_autofree char *just = nested (BASE_YAML_MAX_DEPTH);
  g_autofree char *fits = load_error_n (just, strlen (just));
  TEST_STR (fits, "accepted");
  g_autofree char *more = nested (BASE_YAML_MAX_DEPTH + 1);
  g_autofree char *message = load_error_n (more, strlen (more));
  TEST_STR (message, "f.yaml:1:65: nested deeper than 64 levels");
  g_autofree char *bomb = nested (1000000);
  g_autofree char *same = load_error_n (bomb, strlen (bomb));
  TEST_STR (same, message);
}

/* Each alias is shallow where it stands; what it stands for is not. */
static void
nesting_by_aliases_is_limited (void)
{
  g_autofree char *half = nested (40);
  g_autofree char *text = g_strdup_printf ("a: &a %s\nb: &b [[[[[[[[[[[[[[[[[[[[*a]]]]]]]]]]]]]]]]]]]]\nc: [[[*b]]]\n", half);
  g_autofree char *message = load_error_n (text, strlen (text));
  /* b is 20 + 40 = 60 levels; c puts it below the root and three lists: 4 + 60 = 64. One more: too deep. */
  TEST_STR (message, "accepted");
  g_autofree char *more = g_strdup_printf ("%sd: [[[[*b]]]]\n", text);
  g_autofree char *deep = load_error_n (more, strlen (more));
  TEST_STR (deep, "f.yaml:4:8: nested deeper than 64 levels");
}

/* Nine levels of ten aliases each are 10^9 values in 300 bytes. The count passes a million at the sixth level. */
static void
a_billion_laughs_are_refused_where_they_begin_to_hurt (void)
{
  GString *text = g_string_new ("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
  for (unsigned i = 1; i < 9; i++) {
    g_string_append_printf (text, "a%u: &a%u [", i, i);
    for (unsigned k = 0; k < 10; k++)
      g_string_append_printf (text, "%s*a%u", k > 0 ? ", " : "", i - 1);
    g_string_append (text, "]\n");
  }
  g_autofree char *message = load_error_n (text->str, text->len);
  /* a_k holds 11, 111, 1111 … values: a0 to a4 sum to 123454 and the root; a5 begins with 1, each *a4 adds 111111. After
   * seven of them 901233 stand; the eighth would pass a million. */
  TEST_STR (message, "f.yaml:6:45: alias '*a4' stands for 111111 values, which makes more than 1000000 in all; that is the most");
  g_string_free (text, TRUE);
}

static void
the_number_of_values_is_limited (void)
{
  GString *text = g_string_new ("[");
  for (unsigned i = 0; i < BASE_YAML_MAX_NODES; i++)
    g_string_append (text, "1,");
  g_string_append (text, "]");
  g_autofree char *message = load_error_n (text->str, text->len);
  TEST_HAS (message, "more than 1000000 values; that is the most");
  g_string_free (text, TRUE);
}

static void
data_over_the_limit_is_refused_unread (void)
{
  g_autofree char *data = g_malloc0 (BASE_YAML_MAX_B + 1);
  g_autofree char *message = load_error_n (data, BASE_YAML_MAX_B + 1);
  TEST_STR (message, "f.yaml: is 16777217 B long; at most 16777216 B are read");
}

static char *
file_error (const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (BaseYaml) yaml = base_yaml_load_file (path, &error);
  return g_strdup (yaml != NULL ? "accepted" : error->message);
}

static void
files_that_cannot_be_read_say_why (void)
{
  g_autofree char *dir = g_dir_make_tmp ("test-yaml-XXXXXX", NULL);
  g_autofree char *folder = file_error (dir);
  TEST_HAS (folder, ": is a folder; name a file");
  g_autofree char *path = g_build_filename (dir, "f.yaml", NULL);
  g_autofree char *missing = file_error (path);
  TEST_HAS (missing, "f.yaml: no such file");
  g_autofree char *zero = file_error ("/dev/zero");
  TEST_STR (zero, "/dev/zero: is a device; name a file");
  g_autofree char *null = file_error ("/dev/null");
  TEST_STR (null, "accepted");

  /* 100 MB that are not there: a sparse file is refused by its size, not by reading it. */
  FILE *sparse = fopen (path, "w");
  TEST_TRUE (sparse != NULL && ftruncate (fileno (sparse), 100000000) == 0);
  fclose (sparse);
  g_autofree char *large = file_error (path);
  TEST_HAS (large, "f.yaml: is 100000000 B long; at most 16777216 B are read");

  if (geteuid () != 0) { /* root reads all */
    TEST_INT (truncate (path, 1), 0); /* its size would be said first */
    TEST_INT (chmod (path, 0), 0);
    g_autofree char *forbidden = file_error (path);
    TEST_HAS (forbidden, "f.yaml: permission denied");
  }
  g_remove (path);
  g_rmdir (dir);
}

/* A name may hold anything but '/' and NUL: it must not forge lines of a report. */
static void
control_characters_in_a_name_are_written_out (void)
{
  g_autofree char *missing = file_error ("no\nfile\033[2J");
  TEST_STR (missing, "no\\nfile\\x1b[2J: no such file");
  g_autoptr (GError) error = NULL;
  TEST_TRUE (base_yaml_load_data ("f\n.yaml", "[", 1, &error) == NULL);
  TEST_HAS (error->message, "f\\n.yaml:1:2: a value is missing here");
}

static void
a_file_is_loaded_with_its_checksum (void)
{
  g_autofree char *dir = g_dir_make_tmp ("test-yaml-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (dir, "f.yaml", NULL);
  TEST_TRUE (g_file_set_contents (path, "abc", 3, NULL));
  g_autoptr (GError) error = NULL;
  g_autoptr (BaseYaml) yaml = base_yaml_load_file (path, &error);
  TEST_TRUE (yaml != NULL);
  TEST_STR (base_yaml_path (yaml), path);
  /* SHA-256 of "abc": FIPS 180-4, example in appendix B.1 of FIPS 180-2. */
  TEST_STR (base_yaml_sha256 (yaml), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  TEST_STR (base_yaml_text (base_yaml_root (yaml)), "abc");
  g_remove (path);
  g_rmdir (dir);
}

/* `forerun check <(generate)` reads a pipe, and no more of it than of a file. */
static void
a_pipe_is_read_within_the_limit (void)
{
  int ends[2];
  TEST_INT (pipe (ends), 0);
  TEST_INT (write (ends[1], "a: 1\n", 5), 5);
  close (ends[1]);
  g_autofree char *path = g_strdup_printf ("/dev/fd/%d", ends[0]);
  g_autoptr (GError) error = NULL;
  g_autoptr (BaseYaml) yaml = base_yaml_load_file (path, &error);
  TEST_TRUE (yaml != NULL);
  TEST_STR (base_yaml_text (base_yaml_get (base_yaml_root (yaml), "a")), "1");
  close (ends[0]);
}

static void *
write_too_much (void *data)
{
  int fd = *(int *)data;
  char chunk[65536];
  memset (chunk, '#', sizeof chunk);
  for (gsize n_B = 0; n_B <= BASE_YAML_MAX_B; n_B += sizeof chunk)
    if (write (fd, chunk, sizeof chunk) < 0)
      break; /* the reader has had enough */
  close (fd);
  return NULL;
}

static void
a_pipe_without_end_is_left (void)
{
  int ends[2];
  TEST_INT (pipe (ends), 0);
  GThread *thread = g_thread_new ("writer", write_too_much, &ends[1]);
  g_autofree char *path = g_strdup_printf ("/dev/fd/%d", ends[0]);
  g_autofree char *message = file_error (path);
  TEST_HAS (message, ": is longer than 16777216 B, the most that is read");
  close (ends[0]);
  g_thread_join (thread);
}

static BaseYaml *
load_kept (const char *path, const char *value)
{
  g_autoptr (GError) error = NULL;
  BaseYaml *yaml = base_yaml_load_file (path, &error);
  g_assert_no_error (error);
  TEST_STR (base_yaml_text (base_yaml_get (base_yaml_root (yaml), "key")), value);
  return yaml;
}

/* A study may begin inside another, and what was handed out outlives both. */
static void
files_that_are_kept_are_read_once (void)
{
  g_autofree char *folder = g_dir_make_tmp ("yaml-XXXXXX", NULL), *path = g_build_filename (folder, "f.yaml", NULL);
  TEST_TRUE (g_file_set_contents (path, "key: first\nlist: [a, b]\n", -1, NULL));
  base_yaml_keep ();
  g_autoptr (BaseYaml) first = load_kept (path, "first");
  TEST_TRUE (g_file_set_contents (path, "key: second\n", -1, NULL));
  base_yaml_keep ();
  g_autoptr (BaseYaml) again = load_kept (path, "first");
  base_yaml_keep_no_more ();
  TEST_STR (base_yaml_sha256 (again), base_yaml_sha256 (first));
  TEST_STR (base_yaml_path (again), path);
  TEST_TRUE (base_yaml_set (again, "key", "changed", "--set key", NULL));
  TEST_TRUE (base_yaml_set (again, "list.1", "c", "--set list.1", NULL));
  TEST_STR (base_yaml_text (base_yaml_get (base_yaml_root (again), "key")), "changed");
  TEST_STR (base_yaml_text (base_yaml_get (base_yaml_root (first), "key")), "first");
  TEST_STR (base_yaml_text (base_yaml_item (base_yaml_get (base_yaml_root (first), "list"), 1)), "b");
  g_autoptr (BaseYaml) third = load_kept (path, "first");
  base_yaml_keep_no_more ();
  g_autoptr (BaseYaml) anew = load_kept (path, "second");
  TEST_STR (base_yaml_text (base_yaml_get (base_yaml_root (anew), "key")), "second");
  TEST_STR (base_yaml_text (base_yaml_get (base_yaml_root (third), "key")), "first");
  g_remove (path);
  g_rmdir (folder);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "positions count lines and characters from one", positions_count_lines_and_characters_from_one },
    { "null is plain, and empty text is not null", null_is_plain_and_empty_text_is_not },
    { "an empty document is an empty mapping", an_empty_document_is_an_empty_mapping },
    { "byte order mark and Windows line ends do not shift positions",
      byte_order_mark_and_windows_line_ends_do_not_shift_positions },
    { "JSON is read too", json_is_read_too },
    { "aliases share what they name", aliases_share_what_they_name },
    { "what cannot be read is said with its position", what_cannot_be_read_is_said_with_its_position },
    { "no byte behind the text is looked at", no_byte_behind_the_text_is_looked_at },
    { "nesting is limited", nesting_is_limited },
    { "nesting by aliases is limited", nesting_by_aliases_is_limited },
    { "a billion laughs are refused where they begin to hurt", a_billion_laughs_are_refused_where_they_begin_to_hurt },
    { "the number of values is limited", the_number_of_values_is_limited },
    { "data over the limit is refused unread", data_over_the_limit_is_refused_unread },
    { "files that cannot be read say why", files_that_cannot_be_read_say_why },
    { "control characters in a name are written out", control_characters_in_a_name_are_written_out },
    { "a file is loaded with its checksum", a_file_is_loaded_with_its_checksum },
    { "a pipe is read within the limit", a_pipe_is_read_within_the_limit },
    { "a pipe without end is left", a_pipe_without_end_is_left },
    { "files that are kept are read once", files_that_are_kept_are_read_once },
    { 0 },
  };
  signal (SIGPIPE, SIG_IGN);
  return test_main ("base/yaml", cases);
}
