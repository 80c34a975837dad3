#include "cluster/hostlist.h"

#include <string.h>

static gboolean
fail (GError **error, gsize *at, gsize place, const char *what)
{
  if (at != NULL)
    *at = place;
  return base_fail_at (error, BASE_MARK_NONE, "%s; node[001-128,140],login1 is accepted", what);
}

/* "a[1-2]b" from `text` on: expands its first bracket and goes on with what follows. `whole` is for places in messages. Blanks in
 * brackets do not count. */
static gboolean
expand_one (const char *whole, const char *text, gsize n, const char *before, GPtrArray *names, gsize *at, GError **error)
{
  const char *open = memchr (text, '[', n);
  gsize plain = open != NULL ? (gsize)(open - text) : n;
  if (memchr (text, ']', plain) != NULL)
    return fail (error, at, (gsize)((const char *)memchr (text, ']', plain) - whole), "a ']' without its '['");
  if (open == NULL) {
    if (names->len >= CLU_HOSTLIST_MAX)
      return fail (error, at, (gsize)(text - whole), "more than 1000000 names");
    g_ptr_array_add (names, g_strdup_printf ("%s%.*s", before, (int)n, text));
    return TRUE;
  }
  const char *close = memchr (open, ']', n - plain);
  if (close == NULL)
    return fail (error, at, (gsize)(open - whole), "a '[' without its ']'");
  const char *p = open + 1;
  for (;;) {
    char *end;
    p += strspn (p, " ");
    const char *from_text = p;
    gsize digits = strspn (p, "0123456789");
    if (digits == 0 || digits > 9)
      return fail (error, at, (gsize)(p - whole), "a number of one to nine digits is due");
    guint64 from = g_ascii_strtoull (p, &end, 10), to = from;
    p = end + strspn (end, " ");
    if (*p == '-') {
      if (strspn (p + 1, "0123456789") == 0 || strspn (p + 1, "0123456789") > 9)
        return fail (error, at, (gsize)(p + 1 - whole), "a number of one to nine digits is due");
      to = g_ascii_strtoull (p + 1, &end, 10);
      p = end + strspn (end, " ");
    }
    if (to < from)
      return fail (error, at, (gsize)(from_text - whole), "a range that runs down");
    for (guint64 i = from; i <= to; i++) {
      g_autofree char *head = g_strdup_printf ("%s%.*s%0*" G_GUINT64_FORMAT, before, (int)plain, text, (int)digits, i);
      if (!expand_one (whole, close + 1, n - (gsize)(close + 1 - text), head, names, at, error))
        return FALSE;
    }
    if (p == close)
      return TRUE;
    if (*p != ',')
      return fail (error, at, (gsize)(p - whole), "',' or ']' is due");
    p++;
  }
}

gboolean
clu_hostlist_expand_name (const char *name, GPtrArray *names)
{
  return expand_one (name, name, strlen (name), "", names, NULL, NULL);
}

gboolean
clu_hostlist_expand (const char *text, GPtrArray *names, gsize *at, GError **error)
{
  const char *from = text;
  int depth = 0;
  for (const char *p = text;; p++) {
    depth += *p == '[' ? 1 : *p == ']' ? -1 : 0;
    if (*p != '\0' && (*p != ',' || depth > 0))
      continue;
    if (p == from)
      return fail (error, at, (gsize)(p - text), "a name is missing");
    if (!expand_one (text, from, (gsize)(p - from), "", names, at, error))
      return FALSE;
    if (*p == '\0')
      return TRUE;
    from = p + 1;
  }
}

/* Length of a name without the number at its end; a number of more than nine digits is text. */
static gsize
stem_of (const char *name, guint64 *number)
{
  gsize n = strlen (name), stem = n;
  while (stem > 0 && g_ascii_isdigit (name[stem - 1]) && n - stem < 9)
    stem--;
  *number = stem < n ? g_ascii_strtoull (name + stem, NULL, 10) : 0;
  return stem;
}

/* Whether `b` is written as `a` but for its number: the same stem, and as many digits or no leading zeroes in either. */
static gboolean
same_form (const char *a, const char *b)
{
  guint64 x, y;
  gsize stem = stem_of (a, &x), other = stem_of (b, &y);
  if (stem != other || strncmp (a, b, stem) != 0 || a[stem] == '\0' || b[stem] == '\0')
    return FALSE;
  return strlen (a) == strlen (b) || (a[stem] != '0' && b[stem] != '0');
}

char *
clu_hostlist_join (const GPtrArray *names, guint from, guint n)
{
  GString *out = g_string_new (NULL);
  for (guint i = from; i < from + n;) {
    const char *first = names->pdata[i];
    guint end = i + 1;
    while (end < from + n && same_form (names->pdata[end - 1], names->pdata[end]))
      end++;
    g_string_append (out, i > from ? "," : "");
    if (end == i + 1) {
      g_string_append (out, first);
      i = end;
      continue;
    }
    guint64 number;
    gsize stem = stem_of (first, &number);
    g_string_append_printf (out, "%.*s[", (int)stem, first);
    for (guint a = i, b; a < end; a = b) {
      guint64 low, high;
      (void)stem_of (names->pdata[a], &low);
      for (b = a + 1, high = low; b < end; b++, high++) {
        guint64 next;
        (void)stem_of (names->pdata[b], &next);
        if (next != high + 1)
          break;
      }
      g_string_append_printf (out, "%s%s", a > i ? "," : "", (const char *)names->pdata[a] + stem);
      if (b > a + 1)
        g_string_append_printf (out, "-%s", (const char *)names->pdata[b - 1] + stem);
    }
    g_string_append_c (out, ']');
    i = end;
  }
  return g_string_free (out, FALSE);
}
