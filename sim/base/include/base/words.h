/* Numbers as bytes, for processes that send each other results and for files of parts: 7 bits a byte, low ones first, so that small
 * numbers are short and machines of either byte order read the same. Doubles keep all their bits. */
#ifndef BASE_WORDS_H
#define BASE_WORDS_H

#include <glib.h>

/* Bytes that are being read; borrowed. */
typedef struct {
  const guint8 *at, *end;
} BaseWords;

void base_words_put (GByteArray *bytes, const guint64 *words, guint n);
void base_words_put_doubles (GByteArray *bytes, const double *values, guint n);
/* The next `n`. FALSE where fewer are left, or bytes that are no number; `out` is of no use then. */
gboolean base_words_take (BaseWords *words, guint64 *out, guint n);
gboolean base_words_take_doubles (BaseWords *words, double *out, guint n);

#endif
