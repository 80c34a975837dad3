/* Text as a YAML scalar. Plain only when every YAML reader, 1.1 or 1.2, takes it for this very string. */
#include "units/text-private.h"
#include "yaml-private.h"

#include <string.h>

/* Words that some reader takes for a boolean or null (yaml.org, type repository 1.1: bool, null). */
static gboolean
is_word_with_meaning (const char *text)
{
  static const char *const words[] = { "true", "false", "yes", "no", "on", "off", "y", "n", "null", "~" };
  for (gsize i = 0; i < G_N_ELEMENTS (words); i++)
    if (g_ascii_strcasecmp (text, words[i]) == 0)
      return TRUE;
  return FALSE;
}

/* Could be a number, a time of day or a date: "8", "1e5", "0x1f", "12:30", ".inf". */
static gboolean
is_like_number (const char *text)
{
  return (g_ascii_isdigit (text[0]) || strchr ("+-.", text[0]) != NULL) &&
         text[strspn (text, "0123456789abcdefABCDEFxXoO+-._:inIN")] == '\0';
}

static gboolean
is_plain (const char *text)
{
  if (!g_ascii_isalnum (text[0]) && strchr ("_/.$", text[0]) == NULL)
    return FALSE;
  for (const char *p = text; *p != '\0'; p++) {
    gboolean inner_space = *p == ' ' && p[1] != ' ' && p[1] != '\0';
    if (!g_ascii_isalnum (*p) && strchr ("_-./+$%()=;", *p) == NULL && !inner_space)
      return FALSE;
  }
  return !is_word_with_meaning (text) && !is_like_number (text);
}

char *
base_yaml_quote (const char *text)
{
  g_return_val_if_fail (text != NULL, NULL);
  if (text[0] != '\0' && is_plain (text))
    return g_strdup (text);
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  GString *out = g_string_new ("\"");
  for (const char *p = valid; *p != '\0'; p = g_utf8_next_char (p)) {
    gunichar c = g_utf8_get_char (p);
    if (c == '"' || c == '\\')
      g_string_append_printf (out, "\\%c", (char)c);
    else if (c == '\n')
      g_string_append (out, "\\n");
    else if (c == '\t')
      g_string_append (out, "\\t");
    else if (base_text_is_printable (c))
      g_string_append_unichar (out, c);
    else if (c < 0x10000)
      g_string_append_printf (out, "\\u%04x", c);
    else
      g_string_append_printf (out, "\\U%08x", c);
  }
  g_string_append_c (out, '"');
  return g_string_free (out, FALSE);
}
