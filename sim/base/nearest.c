/* Nearest word by optimal string alignment distance: insertions, deletions, substitutions and swaps of neighbours cost 1 each.
 * Source: Boytsov, "Indexing methods for approximate dictionary searching", ACM JEA 16 (2011), section 2.2.
 * Case is no difference: "H200_SXM" is near to "h200_sxm". */
#include "base/lookup.h"

#include <string.h>

/* A shorter word is part of too much. */
#define PART_MIN 3u

/* Names are shorter; a longer word is no slip of a finger. */
#define WORD_MAX 64u

static unsigned
distance (const char *a, gsize n_a, const char *b, gsize n_b)
{
  unsigned rows[3][WORD_MAX + 1];
  unsigned *before = rows[0], *last = rows[1], *now = rows[2];
  for (gsize j = 0; j <= n_b; j++)
    last[j] = (unsigned)j;
  for (gsize i = 1; i <= n_a; i++) {
    now[0] = (unsigned)i;
    for (gsize j = 1; j <= n_b; j++) {
      char x = g_ascii_tolower (a[i - 1]), y = g_ascii_tolower (b[j - 1]);
      unsigned best = MIN (MIN (last[j] + 1, now[j - 1] + 1), last[j - 1] + (x != y));
      if (i > 1 && j > 1 && x == g_ascii_tolower (b[j - 2]) && y == g_ascii_tolower (a[i - 2]))
        best = MIN (best, before[j - 2] + 1);
      now[j] = best;
    }
    unsigned *spare = before;
    before = last;
    last = now;
    now = spare;
  }
  return last[n_b];
}

/* Whether `word` stands in `name` between underscores: "h200" in "h200_sxm" and "hgx_h200". */
static gboolean
is_part (const char *word, gsize n, const char *name)
{
  for (const char *at = name; at != NULL; at = strchr (at, '_')) {
    at += *at == '_';
    if (g_ascii_strncasecmp (at, word, n) == 0 && (at[n] == '_' || at[n] == '\0'))
      return TRUE;
  }
  return FALSE;
}

const char *
base_nearest (const char *word, const char *const *candidates)
{
  g_return_val_if_fail (word != NULL && candidates != NULL, NULL);
  gsize n = strlen (word);
  if (n == 0 || n > WORD_MAX)
    return NULL;
  for (gsize i = 0; n >= PART_MIN && candidates[i] != NULL; i++)
    if (is_part (word, n, candidates[i]))
      return candidates[i];
  gsize limit = CLAMP (n / 3, 1, 4);
  const char *nearest = NULL;
  unsigned best = 0;
  for (gsize i = 0; candidates[i] != NULL; i++) {
    gsize m = strlen (candidates[i]);
    if (m == 0 || m > WORD_MAX || (m > n ? m - n : n - m) > limit)
      continue;
    unsigned d = distance (word, n, candidates[i], m);
    if (d <= limit && (nearest == NULL || d < best)) {
      nearest = candidates[i];
      best = d;
    }
  }
  return nearest;
}

char *
base_hint (const char *word, const char *const *candidates)
{
  const char *nearest = base_nearest (word, candidates);
  return nearest != NULL ? g_strdup_printf (" (did you mean '%s'?)", nearest) : g_strdup ("");
}
