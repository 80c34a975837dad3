/* One page of HTML that needs nothing else: no network, no script. Every text that is given is escaped. */
#ifndef REPORT_HTML_PRIVATE_H
#define REPORT_HTML_PRIVATE_H

#include "base/table.h"

/* A page up to its first section: title, what it is about (NULL: not said). Returned: full, given to rep_html_close. */
GString *rep_html_open (const char *title, const char *lead);
void rep_html_heading (GString *html, const char *text);
void rep_html_paragraph (GString *html, const char *class_name, const char *text); /* class NULL: none */
void rep_html_pre (GString *html, const char *text);
/* Folded until it is opened. */
void rep_html_details (GString *html, const char *summary, const char *text);
/* The table in a box that scrolls; nothing where it has no rows. */
void rep_html_table (GString *html, const BaseTable *table);
/* A figure to remember: "step time", "36.6 s", "30.1 s to 46.8 s" (NULL: none). Between rep_html_facts_open and _close. */
void rep_html_facts_open (GString *html);
void rep_html_fact (GString *html, const char *name, const char *value, const char *more);
void rep_html_facts_close (GString *html);
/* An SVG document as part of the page: without its head, its ids made its own by `number`. What is no well-formed SVG or could run
 * something is left out, and the page says so. */
void rep_html_figure (GString *html, const char *caption, const char *svg, unsigned number);
/* Takes `html`. Returned: full, g_free. */
char *rep_html_close (GString *html);

#endif
