/* JSON that measuring tools write: a document begins on a line whose first character is '{'; what stands before, between and after
 * documents is passed over and told. json-glib builds the tree; how deep it nests and where it ends is looked at first, since its
 * parser calls itself for each level and takes a document that ends early for one with an odd word. */
#include <string.h>

#include "import_measured-private.h"

#define MAX_DEPTH      64
#define MAX_DOCUMENT_B ((gsize)64 << 20) /* its tree takes some twenty times as much */

/* From '{' at `from`: where the document ends. FALSE and *error: too deep, or the file ends first. */
static gboolean
find_end (const CalJson *json, gsize from, gsize *end, GError **error)
{
  const char *bytes = json->text->bytes;
  unsigned depth = 0, line = json->line;
  gboolean in_text = FALSE;
  for (gsize i = from; i < json->text->n_B; i++) {
    char c = bytes[i];
    line += c == '\n';
    if (in_text) {
      if (c == '\\')
        i++;
      else if (c == '"')
        in_text = FALSE;
    } else if (c == '"')
      in_text = TRUE;
    else if ((c == '{' || c == '[') && ++depth > MAX_DEPTH)
      return cal_fail (json->text, CAL_LINE (line), error, "more than %d levels of braces; no tool that is read here writes that",
                       MAX_DEPTH);
    else if ((c == '}' || c == ']') && --depth == 0) {
      *end = i + 1;
      return TRUE;
    }
  }
  return cal_fail (json->text, CAL_LINE (line), error, "the file ends within the JSON document of line %u: cut off", json->line);
}

/* json-glib writes "<data>:LINE:COLUMN: Parse error: WHAT", counted from the document's first line, and forgets the place else. */
static void
fail_parse (const CalJson *json, const char *message, GError **error)
{
  CalPlace place = CAL_LINE (json->line);
  const char *at = g_str_has_prefix (message, "<data>:") ? message + strlen ("<data>:") : NULL;
  char *end = NULL;
  guint64 line = at != NULL && g_ascii_isdigit (*at) ? g_ascii_strtoull (at, &end, 10) : 0;
  if (line > 0 && line <= G_MAXINT && *end == ':' && g_ascii_isdigit (end[1])) {
    guint64 column = g_ascii_strtoull (end + 1, &end, 10);
    place.line += (unsigned)line - 1;
    place.column = column <= G_MAXINT ? (unsigned)column : 0;
  }
  const char *what = strstr (message, "error: ");
  g_autofree char *shown = cal_shown (what != NULL ? what + strlen ("error: ") : message);
  cal_fail (json->text, place, error, "no JSON: %s", shown);
}

static JsonObject *
parse (CalJson *json, gsize from, gsize end, GError **error)
{
  if (end - from > MAX_DOCUMENT_B) {
    cal_fail (json->text, CAL_LINE (json->line), error, "a JSON document of more than %" G_GSIZE_FORMAT " MiB",
              MAX_DOCUMENT_B >> 20);
    return NULL;
  }
  g_clear_object (&json->parser);
  json->parser = json_parser_new ();
  g_autoptr (GError) why = NULL;
  if (!json_parser_load_from_data (json->parser, json->text->bytes + from, (gssize)(end - from), &why)) {
    fail_parse (json, why->message, error);
    return NULL;
  }
  JsonNode *root = json_parser_get_root (json->parser);
  if (root == NULL || !JSON_NODE_HOLDS_OBJECT (root)) {
    cal_fail (json->text, CAL_LINE (json->line), error, "no JSON object");
    return NULL;
  }
  return json_node_get_object (root);
}

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
      gsize from = json->at + blanks, end = from;
      json->document = json->line;
      if (!find_end (json, from, &end, error))
        return NULL;
      JsonObject *object = parse (json, from, end, error);
      for (gsize i = from; i < end; i++)
        json->line += text->bytes[i] == '\n';
      json->at = end;
      return object;
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
  g_clear_object (&json->parser);
}

JsonObject *
cal_json_object (JsonObject *in, const char *name)
{
  JsonNode *node = in != NULL ? json_object_get_member (in, name) : NULL;
  return node != NULL && JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
}

JsonArray *
cal_json_array (JsonObject *in, const char *name)
{
  JsonNode *node = in != NULL ? json_object_get_member (in, name) : NULL;
  return node != NULL && JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;
}

const char *
cal_json_string (JsonNode *node)
{
  gboolean text = node != NULL && JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING;
  return text ? json_node_get_string (node) : NULL;
}

const char *
cal_json_text (JsonObject *in, const char *name)
{
  return in != NULL ? cal_json_string (json_object_get_member (in, name)) : NULL;
}

gboolean
cal_json_number (JsonNode *node, double *value)
{
  const char *text = cal_json_string (node);
  double half;
  if (text != NULL)
    return cal_decimal (text, value, &half);
  if (node == NULL || !JSON_NODE_HOLDS_VALUE (node))
    return FALSE;
  GType type = json_node_get_value_type (node);
  if (type == G_TYPE_INT64)
    *value = (double)json_node_get_int (node);
  else if (type == G_TYPE_DOUBLE)
    *value = json_node_get_double (node);
  else
    return FALSE;
  return TRUE;
}

gboolean
cal_json_member (JsonObject *in, const char *name, double *value)
{
  return in != NULL && cal_json_number (json_object_get_member (in, name), value);
}

JsonObject *
cal_json_element (JsonArray *in, guint i)
{
  JsonNode *node = json_array_get_element (in, i);
  return node != NULL && JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
}
