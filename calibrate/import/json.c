/* JSON that measuring tools write: a document begins on a line whose first character is '{'; what stands before, between and after
 * documents is passed over and said. */
#include <math.h>
#include <string.h>

#include "import/measured-private.h"

/* A tree takes some twenty times as much as its text. */
#define LIMITS ((BaseJsonLimits){ (gsize)64 << 20, 1 << 22 })

/* Passes over what is between documents. Returned: whether there is one more, which *from points to then, in line *number. */
static gboolean
find_document (const CalText *text, const char **from, unsigned *number, CalNote *other)
{
  gsize n_B;
  for (const char *at = *from, *line; (line = cal_next_line (text, &at, &n_B)) != NULL; ++*number) {
    const char *stop = line + n_B;
    while (line < stop && strchr (" \t\r", *line) != NULL && *line != '\0')
      line++;
    *from = line;
    if (line < stop && *line == '{')
      return TRUE;
    if (line < stop) {
      g_autofree char *rest = g_strndup (line, (gsize)(stop - line)), *shown = cal_shown (rest);
      cal_note (other, text, CAL_LINE (*number), "'%s' is not JSON and was passed over", shown);
    }
  }
  return FALSE;
}

gboolean
cal_import_documents (void *reader, const CalText *text,
                      gboolean (*visit) (void *reader, JsonObject *root, unsigned line, GError **error), GError **error)
{
  const char *from = text->bytes + cal_text_start (text);
  unsigned number = 1;
  guint n = 0;
  gboolean good = TRUE;
  CalNote other = { 0 };
  for (; good && find_document (text, &from, &number, &other); n++) {
    gsize n_B = 0;
    const BaseJsonText rest = { text->path, from, (gsize)(text->bytes + text->n_B - from), number, LIMITS };
    BaseJson *json = base_json_read_first (&rest, &n_B, error);
    good = json != NULL && visit (reader, base_json_root (json), number, error);
    g_clear_pointer (&json, base_json_free);
    for (gsize i = 0; i < n_B; i++)
      number += from[i] == '\n';
    from += n_B;
  }
  if (n == 0)
    cal_note_clear (&other); /* no word of it is the tool's */
  cal_note_end (&other, text);
  return good;
}

gboolean
cal_json_number (JsonNode *node, double *value)
{
  const char *text = base_json_text_of (node);
  double half;
  if (text != NULL)
    return cal_decimal (text, value, &half);
  *value = base_json_number_of (node);
  return !isnan (*value);
}

gboolean
cal_json_member (JsonObject *in, const char *name, double *value)
{
  return in != NULL && cal_json_number (json_object_get_member (in, name), value);
}
