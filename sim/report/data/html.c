#include "html-private.h"

#include <string.h>

/* Light and dark as the reader's system asks for, and plain for paper. Pictures are drawn for a white ground: in the dark they are
 * inverted, and turned so that hues stay what they are. */
static const char style[] =
    ":root{color-scheme:light dark;--ground:#fff;--text:#1a1a1a;--soft:#5a5a5a;--line:#d8d8d8;--card:#f5f6f8;--mark:#0072B2}\n"
    "@media (prefers-color-scheme:dark){:root{--ground:#14161a;--text:#e8e8e8;--soft:#a8adb5;--line:#3a3f47;--card:#1e2228;"
    "--mark:#56B4E9}\nfigure svg{filter:invert(.92) hue-rotate(180deg)}}\n"
    "body{margin:0 auto;padding:1.5rem;max-width:77rem;background:var(--ground);color:var(--text);"
    "font:16px/1.5 system-ui,sans-serif}\n"
    "h1{font-size:1.7rem;line-height:1.2;margin:.2rem 0;overflow-wrap:anywhere}\n"
    "h2{font-size:1.2rem;margin:2.2rem 0 .6rem;padding-bottom:.2rem;border-bottom:2px solid var(--mark)}\n"
    "p{margin:.5rem "
    "0;max-width:62rem}figure{max-width:62rem}p.lead{font-size:1.1rem;overflow-wrap:anywhere}p.soft,figcaption,summary{color:var(--"
    "soft)}\n"
    "p.warning{border-left:4px solid #D55E00;padding:.2rem .7rem;background:var(--card);overflow-wrap:anywhere}\n"
    "dl{display:grid;grid-template-columns:repeat(auto-fill,minmax(13rem,1fr));gap:.7rem;margin:1rem 0}\n"
    "dl div{background:var(--card);border:1px solid var(--line);border-radius:6px;padding:.6rem .8rem}\n"
    "dt{color:var(--soft);font-size:.85rem}dd{margin:0;font-size:1.3rem;font-weight:600;overflow-wrap:anywhere}\n"
    "dd small{display:block;font-size:.85rem;font-weight:400;color:var(--soft)}\n"
    ".scroll{overflow-x:auto;margin:.6rem 0}\n"
    "table{border-collapse:collapse;font-size:.87rem;font-variant-numeric:tabular-nums}\n"
    "th,td{padding:.22rem .7rem .22rem 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--line)}\n"
    "th{color:var(--soft);font-weight:600;vertical-align:bottom}td{white-space:nowrap}.n{text-align:right}\n"
    "td.l{white-space:normal;min-width:11rem}:focus-visible{outline:2px solid var(--mark);outline-offset:2px}\n"
    "figure{margin:1rem 0}figure svg{width:100%;height:auto;display:block}\n"
    "@media (max-width:40rem){figure svg{min-width:38rem}}\n"
    "@media screen and (max-width:60rem){table,tbody,tr,td{display:block}thead{display:none}"
    "tr{border:1px solid var(--line);border-radius:6px;background:var(--card);padding:.3rem .7rem;margin:.6rem 0}"
    "td,td.l,td.n{display:flex;gap:1rem;justify-content:space-between;padding:.15rem "
    "0;border:0;white-space:normal;text-align:right;"
    "overflow-wrap:anywhere;min-width:0}td:empty{display:none}"
    "td::before{content:attr(data-head);color:var(--soft);text-align:left;flex:0 0 40%}}\n"
    "pre{background:var(--card);border:1px solid var(--line);border-radius:6px;padding:.8rem;overflow-x:auto;font-size:.8rem}\n"
    "footer{margin-top:2.5rem;color:var(--soft);font-size:.85rem}\n"
    "@media print{@page{margin:1.5cm}"
    ":root{--ground:#fff;--text:#000;--soft:#444;--line:#bbb;--card:#fff;--mark:#000;color-scheme:light}"
    "figure svg{filter:none;min-width:0}body{max-width:none;padding:0;font-size:10pt}h2{break-after:avoid}"
    "figure,dl div,tr{break-inside:avoid}pre{white-space:pre-wrap;overflow-wrap:anywhere}.scroll{overflow:visible}"
    "table{font-size:7.5pt}th,td{white-space:normal}td.n{white-space:nowrap}td.l{min-width:0;overflow-wrap:anywhere}"
    "th,td{padding-right:.5em}details{display:none}}\n";

/* Valid UTF-8 without control characters but line ends and tabs, which HTML does not have. Returned: full. */
static char *
escape (const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  GString *plain = g_string_new (NULL);
  for (const char *p = valid; *p != '\0'; p = g_utf8_next_char (p)) {
    gunichar c = g_utf8_get_char (p);
    gboolean control = (c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7f && c < 0xa0);
    g_string_append_unichar (plain, control ? 0xfffd : c);
  }
  char *escaped = g_markup_escape_text (plain->str, (gssize)plain->len);
  g_string_free (plain, TRUE);
  return escaped;
}

static void
append_element (GString *html, const char *open, const char *text, const char *close)
{
  g_autofree char *escaped = escape (text);
  g_string_append_printf (html, "%s%s%s\n", open, escaped, close);
}

GString *
rep_html_open (const char *title, const char *lead)
{
  GString *html = g_string_new ("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
                                "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"/>\n"
                                "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
                                "'unsafe-inline'; img-src data:\"/>\n");
  append_element (html, "<title>", title, "</title>");
  g_string_append_printf (html, "<style>\n%s</style>\n</head>\n<body>\n<main>\n", style);
  append_element (html, "<h1>", title, "</h1>");
  if (lead != NULL)
    append_element (html, "<p class=\"lead\">", lead, "</p>");
  return html;
}

void
rep_html_heading (GString *html, const char *text)
{
  append_element (html, "<h2>", text, "</h2>");
}

void
rep_html_paragraph (GString *html, const char *class_name, const char *text)
{
  g_autofree char *open = class_name != NULL ? g_strdup_printf ("<p class=\"%s\">", class_name) : g_strdup ("<p>");
  g_autofree char *escaped = escape (text);
  g_auto (GStrv) parts = g_strsplit (escaped, "`", -1); /* keys stand between them */
  const guint n = g_strv_length (parts);
  g_string_append (html, open);
  for (guint i = 0; i < n; i++) {
    const gboolean code = i % 2 == 1 && i + 1 < n;
    g_string_append_printf (html, "%s%s%s", code ? "<code>" : i % 2 == 1 ? "`" : "", parts[i], code ? "</code>" : "");
  }
  g_string_append (html, "</p>\n");
}

void
rep_html_pre (GString *html, const char *text)
{
  append_element (html, "<pre tabindex=\"0\">", text, "</pre>");
}

void
rep_html_details (GString *html, const char *summary, const char *text)
{
  append_element (html, "<details><summary>", summary, "</summary>");
  rep_html_pre (html, text);
  g_string_append (html, "</details>\n");
}

void
rep_html_table (GString *html, const BaseTable *table)
{
  if (base_table_n_rows (table) == 0)
    return;
  g_string_append (html, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"table\">\n");
  base_table_print_html (table, html);
  g_string_append (html, "</div>\n");
}

void
rep_html_facts_open (GString *html)
{
  g_string_append (html, "<dl>\n");
}

void
rep_html_fact (GString *html, const char *name, const char *value, const char *more)
{
  g_autofree char *a = escape (name), *b = escape (value), *c = more != NULL ? escape (more) : NULL;
  g_string_append_printf (html, "<div><dt>%s</dt><dd>%s%s%s%s</dd></div>\n", a, b, c != NULL ? "<small>" : "", c != NULL ? c : "",
                          c != NULL ? "</small>" : "");
}

void
rep_html_facts_close (GString *html)
{
  g_string_append (html, "</dl>\n");
}

/* ---- pictures ---- */

/* What an SVG must not bring into a page. */
static void
look_at_element (GMarkupParseContext *context, const char *element, const char **names, const char **values, gpointer user,
                 GError **error)
{
  static const char *const refused[] = { "script", "foreignObject", "iframe", "image", "a", "style", NULL };
  (void)context;
  (void)user;
  gboolean bad = g_strv_contains (refused, element);
  for (; *names != NULL && !bad; names++, values++)
    bad = g_ascii_strncasecmp (*names, "on", 2) == 0 || (g_str_has_suffix (*names, "href") && **values != '#');
  if (bad)
    g_set_error (error, G_MARKUP_ERROR, G_MARKUP_ERROR_INVALID_CONTENT, "%s", element);
}

static gboolean
is_harmless (const char *svg)
{
  static const GMarkupParser parser = { .start_element = look_at_element };
  GMarkupParseContext *context = g_markup_parse_context_new (&parser, 0, NULL, NULL);
  gboolean good =
      g_markup_parse_context_parse (context, svg, (gssize)strlen (svg), NULL) && g_markup_parse_context_end_parse (context, NULL);
  g_markup_parse_context_free (context);
  return good;
}

void
rep_html_figure (GString *html, const char *caption, const char *svg, unsigned number)
{
  const char *from = strstr (svg, "<svg");
  g_autofree char *told = escape (caption);
  if (from == NULL || !is_harmless (from)) {
    g_string_append_printf (html, "<p class=\"soft\">%s This plot could not be put into the report.</p>\n", told);
    return;
  }
  GString *plot = g_string_new (from + strlen ("<svg"));
  const char *const marks[] = { " id=\"", " id='", "href=\"#", "href='#", "url(#", NULL };
  for (const char *const *mark = marks; *mark != NULL; mark++) {
    g_autofree char *own = g_strdup_printf ("%sp%u_", *mark, number);
    g_auto (GStrv) parts = g_strsplit (plot->str, *mark, -1);
    g_autofree char *joined = g_strjoinv (own, parts);
    g_string_assign (plot, joined);
  }
  while (plot->len > 0 && g_ascii_isspace (plot->str[plot->len - 1]))
    g_string_truncate (plot, plot->len - 1);
  g_string_append_printf (html,
                          "<figure>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"plot\">\n"
                          "<svg role=\"img\" aria-label=\"%s\"%s\n</div>\n<figcaption>%s</figcaption>\n</figure>\n",
                          told, plot->str, told);
  g_string_free (plot, TRUE);
}

char *
rep_html_close (GString *html)
{
  g_string_append (html, "</main>\n</body>\n</html>\n");
  return g_string_free (html, FALSE);
}
