/* JSON that measuring tools write: a document begins on a line whose first character is '{'; what stands before, between and after
 * documents is passed over and said. */
#include <math.h>
#include <string.h>

#include "import/measured-private.h"

/* A tree takes some twenty times as much as its text. */
#define LIMITS ((BaseJsonLimits){ (gsize)64 << 20, 1 << 22 })

JsonObject *
cal_json_next (CalJson *json, GError **error)
{
  const CalText *text = json->text;
  if (json->line == 0) {
    json->line = 1;
    json->at = cal_text_start (text);
  }
  while (json->at < text->n_B) {
    const char *line = text->bytes + json->at, *stop = memchr (line, '\n', text->n_B - json->at);
    gsize n = stop != NULL ? (gsize)(stop - line) : text->n_B - json->at, blanks = 0;
    while (blanks < n && (line[blanks] == ' ' || line[blanks] == '\t' || line[blanks] == '\r'))
      blanks++;
    if (blanks < n && line[blanks] == '{') {
      const char *from = line + blanks;
      gsize n_B = 0;
      const BaseJsonText rest = { text->path, from, (gsize)(text->bytes + text->n_B - from), json->line, LIMITS };
      g_clear_pointer (&json->json, base_json_free);
      json->document = json->line;
      json->json = base_json_read_first (&rest, &n_B, error);
      for (gsize i = 0; i < n_B; i++)
        json->line += from[i] == '\n';
      json->at = (gsize)(from - text->bytes) + n_B;
      return json->json != NULL ? base_json_root (json->json) : NULL;
    }
    if (blanks < n) {
      g_autofree char *rest = g_strndup (line + blanks, n - blanks), *shown = cal_shown (rest);
      cal_note (&json->other, text, CAL_LINE (json->line), "'%s' is not JSON and was passed over", shown);
    }
    json->at += stop != NULL ? n + 1 : n;
    json->line += stop != NULL;
  }
  return NULL;
}

void
cal_json_end (CalJson *json)
{
  cal_note_end (&json->other, json->text);
  g_clear_pointer (&json->json, base_json_free);
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
