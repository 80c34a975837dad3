/* json-glib's parser calls itself for each level, takes some hundred bytes a value, and passes over comments and texts in single
 * quotes, in which a brace is none. So a text is looked through first, sign by sign: what is let through holds no more levels and
 * values than are counted here. */
#include "base/diag.h"
#include "json-private.h"

#include <string.h>

/* Signs outside of texts: those of JSON, and letters and digits for the parser to judge. */
static gboolean
is_sign (char c)
{
  return g_ascii_isalnum (c) || (c != '\0' && strchr (" \t\r\n{}[]:,\"+-.", c) != NULL);
}

static gboolean
fail_sign (BaseMark mark, char c, GError **error)
{
  const char text[] = { c, '\0' };
  return base_fail_at (error, mark, "not valid JSON: '%s' outside of a text; texts stand in double quotes", text);
}

/* What the value that a sign begins counts as, in some 80 B of json-glib's memory. */
static guint
weight_of (char sign)
{
  return sign == '{' ? 4 : sign == '[' ? 2 : sign == ',' || sign == ':' ? 1 : 0;
}

gboolean
base_json_scan (const BaseJsonText *text, gboolean first, gsize *end, GError **error)
{
  BaseMark at = { text->file, MAX (text->line, 1), 0 };
  const unsigned begin = at.line;
  guint depth = 0;
  guint64 values = 1;
  gboolean in_text = FALSE;
  for (gsize i = 0; i < text->n_B; i++) {
    char c = text->bytes[i];
    at.column += (c & 0xC0) != 0x80; /* a character's first byte */
    if (c == '\n') {
      at.line++;
      at.column = 0;
    }
    if (in_text) {
      if (c == '\\' && i + 1 < text->n_B && text->bytes[i + 1] != '\n') {
        i++;
        at.column++;
      } else if (c == '"')
        in_text = FALSE;
      continue;
    }
    if (!is_sign (c))
      return fail_sign (at, c, error);
    in_text = c == '"';
    if (c == '{' || c == '[')
      depth++;
    values += weight_of (c);
    if (depth > BASE_JSON_DEPTH)
      return base_fail_at (error, at, "lists and mappings are nested more than %d deep; up to %d levels are accepted",
                           BASE_JSON_DEPTH, BASE_JSON_DEPTH);
    if (values > text->limits.values)
      return base_fail_at (error, at, "more than %u values (a list counts as 2, a mapping as 4); divide the file",
                           text->limits.values);
    if ((c == '}' || c == ']') && depth > 0 && --depth == 0 && first) {
      *end = i + 1;
      return TRUE;
    }
  }
  *end = text->n_B;
  at.column = MAX (at.column, 1);
  return (depth == 0 && !first) ||
         base_fail_at (error, at, "the file ends within the JSON document of line %u: cut off; write it again", begin);
}
