/* Lists of texts, and texts of others on a terminal. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <glib.h>

/* Compares the texts that two `char **` point at, for sorting: ascending, byte by byte. */
int base_by_text (const void *a, const void *b);
gboolean base_has_text (const GPtrArray *texts, const char *text);
/* Adds a copy of `text`, once: nothing where an equal one is there. `texts` owns it. */
void base_add_once (GPtrArray *texts, const char *text);

/* ---- foreign text: what a file, a flag or another program says ---- */

/* `text` with everything that can steer a terminal made visible: control characters (ESC, C1), format characters (bidi), line
 * separators and bytes outside UTF-8 become \n, \t, \r or \xNN. The characters in `keep` pass. Returned: full, g_free. */
char *base_text_escape (const char *text, const char *keep);
/* A line of a message, of which the middle is left out if it has more than 2,000 bytes. Takes `line`. Returned: full, g_free. */
char *base_text_cut (char *line);
/* The same in place, for a whole answer; `json`: as \uNNNN, which means the same to a reader of JSON. */
void base_text_clean (GString *text, const char *keep, gboolean json);
/* White space in `text` becomes single blanks, in place, and none stays at its end: a name is one line. Returned: `text`. */
char *base_text_one_line (char *text);

#endif
