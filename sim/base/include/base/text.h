/* Lists of texts. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <glib.h>

/* Compares the texts that two `char **` point at, for sorting: ascending, byte by byte. */
int base_by_text (const void *a, const void *b);
gboolean base_has_text (const GPtrArray *texts, const char *text);
/* Adds a copy of `text`, once: nothing where an equal one is there. `texts` owns it. */
void base_add_once (GPtrArray *texts, const char *text);

#endif
