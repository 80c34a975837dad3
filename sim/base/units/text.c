#include "base/text.h"

#include <string.h>

#include "units/text-private.h"

int
base_by_text (const void *a, const void *b)
{
  return strcmp (*(const char *const *)a, *(const char *const *)b);
}

gboolean
base_has_text (const GPtrArray *texts, const char *text)
{
  return g_ptr_array_find_with_equal_func ((GPtrArray *)texts, text, g_str_equal, NULL);
}

void
base_add_once (GPtrArray *texts, const char *text)
{
  if (!base_has_text (texts, text))
    g_ptr_array_add (texts, g_strdup (text));
}

gboolean
base_text_is_printable (gunichar c)
{
  GUnicodeType type = g_unichar_type (c);
  return g_unichar_isprint (c) && type != G_UNICODE_LINE_SEPARATOR && type != G_UNICODE_PARAGRAPH_SEPARATOR;
}

/* Of one byte outside UTF-8 with c (gunichar)-1. */
static void
append_json (GString *out, gunichar c)
{
  if (c > 0x10ffff)
    g_string_append (out, "\\ufffd");
  else if (c >= 0x10000)
    g_string_append_printf (out, "\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10), 0xdc00 + ((c - 0x10000) & 0x3ff));
  else
    g_string_append_printf (out, "\\u%04x", c);
}

static GString *
escape (const char *text, const char *keep, gboolean json)
{
  GString *out = g_string_new (NULL);
  for (const char *p = text; *p != '\0';) {
    gunichar c = g_utf8_get_char_validated (p, -1);
    gboolean valid = c != (gunichar)-1 && c != (gunichar)-2;
    const char *next = valid ? g_utf8_next_char (p) : p + 1;
    if (strchr (keep, *p) != NULL || (valid && base_text_is_printable (c))) {
      g_string_append_len (out, p, next - p);
    } else if (json) {
      append_json (out, valid ? c : (gunichar)-1);
    } else if (*p == '\n' || *p == '\t' || *p == '\r') {
      g_string_append (out, *p == '\n' ? "\\n" : *p == '\t' ? "\\t" : "\\r");
    } else {
      next = p + 1;
      g_string_append_printf (out, "\\x%02x", (unsigned char)*p);
    }
    p = next;
  }
  return out;
}

char *
base_text_escape (const char *text, const char *keep)
{
  return g_string_free (escape (text, keep, FALSE), FALSE);
}

char *
base_text_cut (char *line)
{
  enum { MOST_B = 2000, LAST_B = 500 };
  const gsize n_B = strlen (line);
  if (n_B <= MOST_B)
    return line;
  const char *head_end = g_utf8_find_prev_char (line, line + MOST_B - LAST_B), *tail = line + n_B - LAST_B;
  while ((*tail & 0xc0) == 0x80)
    tail++;
  char *cut = g_strdup_printf ("%.*s … %s", (int)(head_end - line), line, tail);
  g_free (line);
  return cut;
}

/* TRUE where all is printable ASCII but for `keep`: nearly always, and soon seen. */
static gboolean
is_clean (const GString *text, const char *keep)
{
  gboolean clean = TRUE;
  for (gsize i = 0; i < text->len && clean; i++)
    clean = (text->str[i] >= ' ' && text->str[i] <= '~') || strchr (keep, text->str[i]) != NULL;
  return clean;
}

void
base_text_clean (GString *text, const char *keep, gboolean json)
{
  if (is_clean (text, keep))
    return;
  GString *clean = escape (text->str, keep, json);
  g_string_assign (text, clean->str);
  g_string_free (clean, TRUE);
}

char *
base_text_one_line (char *text)
{
  char *to = text;
  for (const char *p = text; *p != '\0'; p++) {
    const gboolean ends = *p == '\n' || *p == '\r' || *p == '\t';
    if (!ends)
      *to++ = *p;
    else if (to > text && to[-1] != ' ')
      *to++ = ' ';
  }
  while (to > text && to[-1] == ' ')
    to--;
  *to = '\0';
  return text;
}

char *
base_text_shown (const char *text)
{
  /* Cut first: a scalar may be megabytes long. An escape is at most four times its byte. */
  const char *end = text;
  unsigned n = 0;
  while (*end != '\0' && n < BASE_SHOWN_CHARACTERS) {
    gunichar c = g_utf8_get_char_validated (end, -1);
    end = c == (gunichar)-1 || c == (gunichar)-2 ? end + 1 : g_utf8_next_char (end);
    n++;
  }
  g_autofree char *head = g_strndup (text, (gsize)(end - text));
  g_autofree char *clean = base_text_escape (head, "");
  return g_strconcat (clean, *end != '\0' ? "…" : "", NULL);
}

char *
base_text_list (const char *const *names, unsigned most)
{
  GString *out = g_string_new (NULL);
  for (unsigned i = 0; names[i] != NULL; i++) {
    g_string_append (out, i == 0 ? "" : ", ");
    if (i == most) {
      g_string_append (out, "…");
      break;
    }
    g_string_append (out, names[i]);
  }
  return g_string_free (out, FALSE);
}
