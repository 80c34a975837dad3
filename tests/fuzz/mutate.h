/* Seeded changes of bytes and of command lines, shared by the two campaigns of mutate.c. */
#ifndef MUTATE_H
#define MUTATE_H

#include <glib.h>

/* Changes `text` in one to four ways: bytes, lines, numbers, words, nesting, or a part of `other`. The same generator gives the
 * same bytes on every machine. */
void mutate_bytes (GString *text, const GString *other, GRand *random);

/* Changes a list of char * in one to three ways, with flags from `flags` (char *). The words are freed by the list. */
void mutate_words (GPtrArray *words, const GPtrArray *flags, GRand *random);

/* Whether a word of `text` is nan or inf, in any case and with any sign. Paths and names that contain it do not count. */
gboolean mutate_has_odd_number (const char *text);

/* The first control character of `text` that is not a line feed or a tab, or -1. Bytes above 0x7f must be UTF-8. */
int mutate_control_character (const char *text, gsize n_B);

#endif
