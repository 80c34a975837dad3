/* Pages of HTML: whatever a name holds, it stays text. */
#include <string.h>

#include "base/random.h"
#include "harness.h"
#include "html-private.h"

static const BaseColumn columns[] = {
  { "name", "na<me", BASE_CELL_TEXT, 0, NULL, 0 },
  { "value", "value (%)", BASE_CELL_NUMBER, 100, "%.1f", 0 },
  { "hidden", NULL, BASE_CELL_NUMBER, 0, NULL, 0 },
  { NULL, NULL, BASE_CELL_TEXT, 0, NULL, 0 },
};

/* Whether a fragment is well-formed, and of elements that pages have. */
static void
see_element (GMarkupParseContext *context, const char *element, const char **names, const char **values, gpointer user,
             GError **error)
{
  (void)context;
  (void)names;
  (void)values;
  (void)error;
  gboolean *known = user;
  *known = *known && g_strv_contains ((const char *const[]){ "x", "p", "pre", "dl", "div", "dt", "dd", "small", "h2", "details",
                                                             "summary", "table", "thead", "tbody", "tr", "th", "td", NULL },
                                      element);
}

static gboolean
is_plain (const char *fragment)
{
  static const GMarkupParser parser = { .start_element = see_element };
  gboolean known = TRUE;
  g_autofree char *whole = g_strdup_printf ("<x>%s</x>", fragment);
  GMarkupParseContext *context = g_markup_parse_context_new (&parser, 0, &known, NULL);
  gboolean good = g_markup_parse_context_parse (context, whole, -1, NULL) && g_markup_parse_context_end_parse (context, NULL);
  g_markup_parse_context_free (context);
  return good && known;
}

static char *
all_parts_of (const char *text)
{
  GString *html = g_string_new (NULL);
  g_autoptr (BaseTable) table = base_table_new (columns);
  base_table_row (table);
  base_table_text (table, "name", text);
  base_table_number (table, "value", 0.125);
  rep_html_heading (html, text);
  rep_html_paragraph (html, "soft", text);
  rep_html_pre (html, text);
  rep_html_details (html, text, text);
  rep_html_facts_open (html);
  rep_html_fact (html, text, text, text);
  rep_html_facts_close (html);
  rep_html_table (html, table);
  rep_html_figure (html, text, "no picture", 1);
  return g_string_free (html, FALSE);
}

static void
hostile_names_stay_text (void)
{
  static const char *const names[] = { "<script>alert(1)</script>",
                                       "</td></table><img src=x onerror=alert(1)>",
                                       "\" onload=\"x",
                                       "' style='x",
                                       "&lt;b&gt; & &#60;",
                                       "]]>",
                                       "<!--",
                                       "a\xff\xfe\x01\x1b[31mb",
                                       "\xc2\x85",
                                       "" };
  for (size_t i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autofree char *html = all_parts_of (names[i]);
    TEST_TRUE (is_plain (html));
    TEST_TRUE (strstr (html, "<script") == NULL && strstr (html, "<img") == NULL && strstr (html, "<!--") == NULL);
  }
  g_autofree char *html = all_parts_of ("<script>");
  TEST_HAS (html, "<pre tabindex=\"0\">&lt;script&gt;</pre>");
}

static void
random_bytes_stay_text (void)
{
  static const char letters[] = "<>&\"'/=;!-[]() abc\n\t\x80\xc3\xff\x01";
  BaseRandom random = base_random_stream (1, "html");
  gboolean all = TRUE;
  for (int round = 0; round < 2000; round++) {
    char text[40];
    size_t n = base_random_u32 (&random) % (sizeof text - 1);
    for (size_t i = 0; i < n; i++)
      text[i] = letters[base_random_u32 (&random) % (sizeof letters - 1)];
    text[n] = '\0';
    g_autofree char *html = all_parts_of (text);
    all = all && is_plain (html);
  }
  TEST_TRUE (all);
}

static void
a_table_shows_what_its_text_shows (void)
{
  g_autoptr (GString) html = g_string_new (NULL);
  g_autoptr (BaseTable) table = base_table_new (columns);
  rep_html_table (html, table);
  TEST_STR (html->str, "");
  base_table_row (table);
  base_table_text (table, "name", "a<b");
  base_table_number (table, "value", 0.125);
  base_table_number (table, "hidden", 7);
  base_table_row (table);
  rep_html_table (html, table);
  TEST_STR (html->str, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"table\">\n<table>\n"
                       "<thead><tr><th scope=\"col\">na&lt;me</th><th class=\"n\" scope=\"col\">value (%)</th></tr></thead>\n"
                       "<tbody>\n<tr><td data-head=\"na&lt;me\">a&lt;b</td><td class=\"n\" data-head=\"value (%)\">12.5</td></tr>\n"
                       "<tr><td data-head=\"na&lt;me\">-</td><td class=\"n\" data-head=\"value (%)\">-</td></tr>\n"
                       ""
                       "</tbody>\n</table>\n</div>\n");
}

static void
a_column_without_a_value_is_left_out (void)
{
  g_autoptr (GString) html = g_string_new (NULL);
  g_autoptr (BaseTable) table = base_table_new (columns);
  base_table_row (table);
  base_table_text (table, "name", "a text of more than 32 characters wraps");
  base_table_row (table);
  rep_html_table (html, table);
  TEST_TRUE (strstr (html->str, "value (%)") == NULL);
  TEST_HAS (html->str, "<tr><td class=\"l\" data-head=\"na&lt;me\">a text of more than 32 characters wraps</td></tr>\n"
                       "<tr><td data-head=\"na&lt;me\">-</td></tr>");
}

static void
two_pictures_share_no_ids (void)
{
  static const char svg[] = "<?xml version='1.0'?>\n<!DOCTYPE svg>\n<svg width='9' xmlns='http://www.w3.org/2000/svg'>"
                            "<defs><path id='p' d='M0 0'/></defs><g id=\"q\" clip-path=\"url(#p)\"/></svg>\n";
  g_autoptr (GString) html = g_string_new (NULL);
  rep_html_figure (html, "one & \"two\"", svg, 1);
  rep_html_figure (html, "two", svg, 2);
  TEST_HAS (html->str, "<svg role=\"img\" aria-label=\"one &amp; &quot;two&quot;\" width='9'");
  TEST_HAS (html->str, "<path id='p1_p'");
  TEST_HAS (html->str, "<path id='p2_p'");
  TEST_HAS (html->str, "<g id=\"p2_q\" clip-path=\"url(#p2_p)\"/>");
  TEST_TRUE (strstr (html->str, "<?xml") == NULL && strstr (html->str, "DOCTYPE") == NULL);
}

static void
a_picture_that_could_run_something_is_left_out (void)
{
  static const char *const bad[] = { "<svg><script>x</script></svg>",
                                     "<svg onload='x'></svg>",
                                     "<svg><g OnClick='x'/></svg>",
                                     "<svg><use href='http://example.org/x'/></svg>",
                                     "<svg><image href='#x'/></svg>",
                                     "<svg><foreignObject/></svg>",
                                     "<svg><g></svg>",
                                     "<svg" };
  for (size_t i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autoptr (GString) html = g_string_new (NULL);
    rep_html_figure (html, "it", bad[i], 1);
    TEST_STR (html->str, "<p class=\"soft\">it This plot could not be put into the report.</p>\n");
  }
}

int
main (void)
{
  static const TestCase cases[] = {
    { "hostile names stay text", hostile_names_stay_text },
    { "random bytes stay text", random_bytes_stay_text },
    { "a table shows what its text shows", a_table_shows_what_its_text_shows },
    { "a column without a value is left out", a_column_without_a_value_is_left_out },
    { "two pictures share no ids", two_pictures_share_no_ids },
    { "a picture that could run something is left out", a_picture_that_could_run_something_is_left_out },
    { NULL, NULL },
  };
  return test_main ("report: pages", cases);
}
