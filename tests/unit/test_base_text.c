#include "base/text.h"

#include "base/error.h"
#include "harness.h"

/* ESC, DEL, C1 (U+009B), bidi (U+202E), a line separator (U+2028), bytes outside UTF-8. */
#define HOSTILE "a\x1b[31m\x7f\xc2\x9b\xe2\x80\xae\xe2\x80\xa8\xff\t\nb"

static void
nothing_that_steers_a_terminal_passes (void)
{
  g_autofree char *all = base_text_escape (HOSTILE, ""), *lines = base_text_escape (HOSTILE, "\n\t"),
                  *plain = base_text_escape ("µs · 400 Gb/s … é", "");
  TEST_STR (all, "a\\x1b[31m\\x7f\\xc2\\x9b\\xe2\\x80\\xae\\xe2\\x80\\xa8\\xff\\t\\nb");
  TEST_STR (lines, "a\\x1b[31m\\x7f\\xc2\\x9b\\xe2\\x80\\xae\\xe2\\x80\\xa8\\xff\t\nb");
  TEST_STR (plain, "µs · 400 Gb/s … é");
}

static void
json_means_the_same (void)
{
  g_autoptr (GString) text = g_string_new ("{\"a\": \"\x7f\xc2\x9b\xe2\x80\xae\xf0\x9f\xbf\xbf\xff\"}\n");
  base_text_clean (text, "\n", TRUE); /* U+1FFFF is no character */
  TEST_STR (text->str, "{\"a\": \"\\u007f\\u009b\\u202e\\ud83f\\udfff\\ufffd\"}\n");
  g_autoptr (GString) plain = g_string_new ("{\"a\": \"é\"}\n");
  base_text_clean (plain, "\n", TRUE);
  TEST_STR (plain->str, "{\"a\": \"é\"}\n");
}

static void
a_name_is_one_line (void)
{
  char text[] = "\n two\r\n\tlines \n\n", plain[] = "as it is", empty[] = "\n";
  TEST_STR (base_text_one_line (text), " two lines");
  TEST_STR (base_text_one_line (plain), "as it is");
  TEST_STR (base_text_one_line (empty), "");
}

static void
a_message_is_one_line (void)
{
  g_autoptr (GError) error = NULL;
  TEST_FALSE (base_fail (&error, BASE_ERROR_RUN, "no '%s'", "a\nwarning: b\x1b"));
  TEST_TRUE (g_error_matches (error, BASE_ERROR, (int)BASE_ERROR_RUN));
  TEST_STR (error->message, "no 'a\\nwarning: b\\x1b'");
}

/* The end of a long one is what says what is wrong; no character is cut in two. */
static void
a_long_message_loses_its_middle (void)
{
  g_autoptr (GString) text = g_string_new ("");
  for (int i = 0; i < 3000; i++)
    g_string_append (text, "é€"); /* 5 bytes */
  g_autoptr (GError) error = NULL;
  TEST_FALSE (base_fail (&error, BASE_ERROR_INPUT, "a%s is missing", text->str));
  TEST_TRUE (strlen (error->message) <= 2010 && strlen (error->message) > 1900);
  TEST_TRUE (g_utf8_validate (error->message, -1, NULL));
  TEST_TRUE (g_str_has_prefix (error->message, "aé€é") && g_str_has_suffix (error->message, "€ is missing"));
  TEST_TRUE (strstr (error->message, " … ") != NULL);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "nothing that steers a terminal passes", nothing_that_steers_a_terminal_passes },
    { "JSON means the same", json_means_the_same },
    { "a name is one line", a_name_is_one_line },
    { "a message is one line", a_message_is_one_line },
    { "a long message loses its middle", a_long_message_loses_its_middle },
    { 0 },
  };
  return test_main ("base/text", cases);
}
