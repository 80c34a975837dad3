#include "base/words.h"

#include <string.h>

#define BITS 7u

void
base_words_put (GByteArray *bytes, const guint64 *words, guint n)
{
  for (guint i = 0; i < n; i++) {
    guint64 left = words[i];
    guint8 text[10];
    guint k = 0;
    for (; left >> BITS > 0; left >>= BITS)
      text[k++] = (guint8)(left & 0x7f) | 0x80;
    text[k++] = (guint8)left;
    g_byte_array_append (bytes, text, k);
  }
}

void
base_words_put_doubles (GByteArray *bytes, const double *values, guint n)
{
  for (guint i = 0; i < n; i++) {
    guint64 word;
    memcpy (&word, &values[i], sizeof word);
    base_words_put (bytes, &word, 1);
  }
}

gboolean
base_words_take (BaseWords *words, guint64 *out, guint n)
{
  for (guint i = 0; i < n; i++) {
    guint64 word = 0;
    guint shift = 0;
    for (;; shift += BITS) {
      if (words->at == words->end || shift > 63 || (shift == 63 && *words->at > 1))
        return FALSE;
      const guint8 byte = *words->at++;
      word |= (guint64)(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0)
        break;
    }
    out[i] = word;
  }
  return TRUE;
}

gboolean
base_words_take_doubles (BaseWords *words, double *out, guint n)
{
  for (guint i = 0; i < n; i++) {
    guint64 word;
    if (!base_words_take (words, &word, 1))
      return FALSE;
    memcpy (&out[i], &word, sizeof word);
  }
  return TRUE;
}
