/* How files and command lines are changed. */
#include <string.h>

#include "mutate.h"

/* What often goes wrong in place of a word or number. */
static const char *const odd[] = { "0",
                                   "-1",
                                   "1",
                                   "2",
                                   "3",
                                   "7",
                                   "0.5",
                                   "1e-300",
                                   "1e308",
                                   "1e400",
                                   "-1e308",
                                   "nan",
                                   "inf",
                                   "-inf",
                                   "NaN",
                                   "Infinity",
                                   "4294967295",
                                   "4294967296",
                                   "9223372036854775808",
                                   "18446744073709551616",
                                   "99999999999999999999999",
                                   "1000000",
                                   "100000",
                                   "1 GiB",
                                   "400 Gb/s",
                                   "-1 s",
                                   "0 s",
                                   "1e30 s",
                                   "$1e308",
                                   "100 %",
                                   "101 %",
                                   "[]",
                                   "{}",
                                   "[0]",
                                   "[1, 2, 3]",
                                   "[-1]",
                                   "null",
                                   "true",
                                   "~",
                                   "\"\"",
                                   "''",
                                   "'",
                                   "\"",
                                   "*a",
                                   "&a x",
                                   "!!str",
                                   "<<",
                                   "%",
                                   "%s%n%s",
                                   "$(touch X)",
                                   "`touch X`",
                                   "; touch X",
                                   "../../../../etc/passwd",
                                   "/dev/zero",
                                   ".",
                                   "..",
                                   "-",
                                   "--",
                                   "=",
                                   ",",
                                   ":",
                                   "\\",
                                   "\xff\xfe",
                                   "\x1b[31m",
                                   "\xc3\xa4\xe2\x82\xac",
                                   "a\tb",
                                   "a b",
                                   "gpu0",
                                   "hgx_h200",
                                   "ring",
                                   "event",
                                   "<x y='1'/>",
                                   "&lt;" };

static const char *
pick_odd (GRand *random)
{
  return odd[g_rand_int_range (random, 0, G_N_ELEMENTS (odd))];
}

static gsize
below (gsize n, GRand *random)
{
  return n > 0 ? (gsize)(g_rand_double (random) * (double)n) % n : 0;
}

static gboolean
is_word (char c)
{
  return g_ascii_isalnum (c) || c == '_' || c == '.' || c == '+' || c == '-';
}

/* The word at or behind a random place; *n_B is 0 where there is none. */
static gsize
find_word (const GString *text, GRand *random, gboolean number, gsize *n_B)
{
  gsize at = below (text->len, random);
  while (at < text->len && !(number ? g_ascii_isdigit (text->str[at]) : is_word (text->str[at])))
    at++;
  while (at > 0 && at < text->len && is_word (text->str[at - 1]))
    at--;
  gsize end = at;
  while (end < text->len && is_word (text->str[end]))
    end++;
  *n_B = end - at;
  return at;
}

static void
replace (GString *text, gsize at, gsize n_B, const char *with, gsize n_with)
{
  g_string_erase (text, (gssize)at, (gssize)n_B);
  g_string_insert_len (text, (gssize)at, with, (gssize)n_with);
}

/* The line around a random place, with its line feed. */
static gsize
find_line (const GString *text, GRand *random, gsize *n_B)
{
  gsize at = below (text->len, random);
  while (at > 0 && text->str[at - 1] != '\n')
    at--;
  gsize end = at;
  while (end < text->len && text->str[end] != '\n')
    end++;
  *n_B = MIN (end + 1, text->len) - at;
  return at;
}

static void
change_bytes (GString *text, GRand *random)
{
  for (gint32 n = g_rand_int_range (random, 1, 5); n > 0 && text->len > 0; n--)
    text->str[below (text->len, random)] = (char)g_rand_int_range (random, 0, 256);
}

static void
change_line (GString *text, GRand *random)
{
  gsize n_B, at = find_line (text, random, &n_B);
  g_autofree char *line = g_strndup (text->str + at, n_B);
  gsize n_other, other;
  switch (g_rand_int_range (random, 0, 4)) {
    case 0: /* gone */
      g_string_erase (text, (gssize)at, (gssize)n_B);
      return;
    case 1: /* twice */
      g_string_insert_len (text, (gssize)at, line, (gssize)n_B);
      return;
    case 2: /* elsewhere */
      g_string_erase (text, (gssize)at, (gssize)n_B);
      other = find_line (text, random, &n_other);
      g_string_insert_len (text, (gssize)other, line, (gssize)n_B);
      return;
    default: /* further in or out */
      if (line[0] == ' ')
        g_string_erase (text, (gssize)at, 1);
      else
        g_string_insert (text, (gssize)at, "  ");
  }
}

/* A long run of what nests or repeats. */
static void
insert_run (GString *text, GRand *random)
{
  static const char *const units[] = { "[", "{", "{a: ", "[[", "(", "<a>", "- ", "a", "0", " ", "\n", "{},", "[1,", "\"", "\t" };
  const char *unit = units[g_rand_int_range (random, 0, G_N_ELEMENTS (units))];
  const gint32 lengths[] = { 3, 100, 2000, 100000 };
  g_autoptr (GString) run = g_string_new (NULL);
  for (gint32 n = lengths[g_rand_int_range (random, 0, G_N_ELEMENTS (lengths))]; n > 0; n--)
    g_string_append (run, unit);
  g_string_insert_len (text, (gssize)below (text->len + 1, random), run->str, (gssize)run->len);
}

static void
change_number (GString *text, GRand *random)
{
  gsize n_B, at = find_word (text, random, TRUE, &n_B);
  const char *with = pick_odd (random);
  replace (text, at, n_B, with, strlen (with));
}

/* A word becomes an odd one, or one of the other file. */
static void
change_word (GString *text, const GString *other, GRand *random)
{
  gsize n_B, n_from, at = find_word (text, random, FALSE, &n_B), from = find_word (other, random, FALSE, &n_from);
  g_autofree char *word = g_strndup (other->str + from, n_from);
  const char *with = g_rand_boolean (random) ? word : pick_odd (random);
  replace (text, at, n_B, with, strlen (with));
}

static void
cut (GString *text, GRand *random)
{
  if (g_rand_int_range (random, 0, 3) == 0) {
    g_string_truncate (text, below (text->len + 1, random));
    return;
  }
  const gsize at = below (text->len, random), n_B = below (16, random);
  g_string_erase (text, (gssize)at, (gssize)MIN (n_B, text->len - at));
}

static void
take_line (GString *text, const GString *other, GRand *random)
{
  gsize n_B, n_from, from = find_line (other, random, &n_from), at = find_line (text, random, &n_B);
  g_autofree char *line = g_strndup (other->str + from, n_from);
  g_string_insert_len (text, (gssize)at, line, (gssize)strlen (line));
}

void
mutate_bytes (GString *text, const GString *other, GRand *random)
{
  const gint32 drawn = g_rand_int_range (random, -2, 5); /* mostly one change: of more, most are refused at once */
  for (gint32 n = MAX (drawn, 1); n > 0; n--) {
    const gint32 way = g_rand_int_range (random, 0, 20);
    if (way < 3)
      change_bytes (text, random);
    else if (way < 9)
      change_number (text, random);
    else if (way < 13)
      change_word (text, other, random);
    else if (way < 16)
      change_line (text, random);
    else if (way < 18)
      take_line (text, other, random);
    else if (way < 19)
      cut (text, random);
    else
      insert_run (text, random);
  }
}

void
mutate_words (GPtrArray *words, const GPtrArray *flags, GRand *random)
{
  const gint32 drawn = g_rand_int_range (random, -1, 4);
  for (gint32 n = MAX (drawn, 1); n > 0; n--) {
    const guint at = words->len > 0 ? (guint)g_rand_int_range (random, 0, (gint32)words->len) : 0;
    const gint32 way = g_rand_int_range (random, 0, 6);
    if (way == 0 && words->len > 0) {
      g_ptr_array_remove_index (words, at);
    } else if (way == 1 && words->len > 0) {
      g_ptr_array_insert (words, (gint)at, g_strdup (words->pdata[g_rand_int_range (random, 0, (gint32)words->len)]));
    } else if (way == 2 && words->len > 0) {
      g_autoptr (GString) word = g_string_new (words->pdata[at]);
      change_bytes (word, random);
      g_free (words->pdata[at]);
      words->pdata[at] = g_strdup (word->str); /* up to a zero */
    } else if (way == 3 && words->len > 0) {
      g_free (words->pdata[at]);
      words->pdata[at] = g_strdup (pick_odd (random));
    } else {
      g_ptr_array_add (words, g_strdup (flags->pdata[g_rand_int_range (random, 0, (gint32)flags->len)]));
      if (g_rand_boolean (random))
        g_ptr_array_add (words, g_strdup (pick_odd (random)));
    }
  }
}

gboolean
mutate_has_odd_number (const char *text)
{
  static const char *const names[] = { "nan", "inf" };
  for (const char *at = text; *at != '\0';) {
    gsize n = strspn (at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./");
    for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
      if (n == strlen (names[i]) && g_ascii_strncasecmp (at, names[i], n) == 0)
        return TRUE;
    at += MAX (n, 1);
  }
  return FALSE;
}

int
mutate_control_character (const char *text, gsize n_B)
{
  for (gsize i = 0; i < n_B; i++) {
    const unsigned char c = (unsigned char)text[i];
    if ((c < ' ' && c != '\n' && c != '\t') || c == 0x7f)
      return c;
  }
  return g_utf8_validate (text, (gssize)n_B, NULL) ? -1 : 0x80;
}
