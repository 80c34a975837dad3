/* How a user's own text is shown in a message: on one line, and not longer than a line. */
#ifndef BASE_TEXT_PRIVATE_H
#define BASE_TEXT_PRIVATE_H

#include <glib.h>

/* Characters of a user's text that a message repeats. */
#define BASE_SHOWN_CHARACTERS 60

/* A character that stays on its line and steers no terminal: no control, format or separator character but the blank. */
gboolean base_text_is_printable (gunichar c);

/* `text` with control characters and bytes outside UTF-8 written as \xNN, cut after BASE_SHOWN_CHARACTERS with "…".
 * Returned: full, g_free. */
char *base_text_shown (const char *text);

/* 'a', 'b', 'c' (at most `most` of them, then "…"); NULL ends `names`. Returned: full, g_free. */
char *base_text_list (const char *const *names, unsigned most);

#endif
