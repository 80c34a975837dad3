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

char *
base_text_escape (const char *text, char keep)
{
  GString *out = g_string_new (NULL);
  for (const char *p = text; *p != '\0';) {
    gunichar c = g_utf8_get_char_validated (p, -1);
    gboolean valid = c != (gunichar)-1 && c != (gunichar)-2;
    if (*p == keep && keep != '\0') {
      g_string_append_c (out, *p++);
    } else if (valid && base_text_is_printable (c)) {
      const char *next = g_utf8_next_char (p);
      g_string_append_len (out, p, next - p);
      p = next;
    } else if (*p == '\n' || *p == '\t' || *p == '\r') {
      g_string_append (out, *p == '\n' ? "\\n" : *p == '\t' ? "\\t" : "\\r");
      p++;
    } else {
      g_string_append_printf (out, "\\x%02x", (unsigned char)*p++);
    }
  }
  return g_string_free (out, FALSE);
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
  g_autofree char *clean = base_text_escape (head, '\0');
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
