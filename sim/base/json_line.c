/* Lines of JSON Lines files are small, flat and many: json-glib takes some 20 us for each. What follows takes a strict part of
 * JSON, and leaves all else to base_json_read, which also says what is wrong. */
#include "base/diag.h"
#include "base/json.h"

#include <math.h>
#include <string.h>

/* Whole numbers of so many digits are exact in a double. */
#define DIGITS 15

static const char *
skip_blanks (const char *p)
{
  while (*p == ' ' || *p == '\t')
    p++;
  return p;
}

/* Behind a whole number; NULL: it is none, or of too many digits. */
static const char *
take_whole (const char *p, gint64 *out)
{
  const gboolean negative = *p == '-';
  p += negative;
  const char *begin = p;
  gint64 n = 0;
  for (; *p >= '0' && *p <= '9'; p++)
    if (p - begin < DIGITS)
      n = n * 10 + (*p - '0');
  if (p == begin || p - begin > DIGITS || (*begin == '0' && p > begin + 1) || (*p != '\0' && strchr (".eE", *p) != NULL))
    return NULL;
  *out = negative ? -n : n;
  return p;
}

static const char *
skip_digits (const char *p)
{
  if (!g_ascii_isdigit (*p))
    return NULL;
  while (g_ascii_isdigit (*p))
    p++;
  return p;
}

static const char *
take_number (const char *p, double *out)
{
  gint64 whole;
  const char *end = take_whole (p, &whole);
  if (end != NULL) {
    *out = (double)whole;
    return end;
  }
  const char *at = p + (*p == '-');
  if (*at == '0' && g_ascii_isdigit (at[1]))
    return NULL;
  at = skip_digits (at);
  if (at != NULL && *at == '.')
    at = skip_digits (at + 1);
  if (at != NULL && (*at == 'e' || *at == 'E'))
    at = skip_digits (at + 1 + (at[1] == '+' || at[1] == '-'));
  if (at == NULL)
    return NULL;
  *out = g_ascii_strtod (p, NULL);
  return isfinite (*out) ? at : NULL;
}

/* Behind the text that a quote begins; NULL: it holds more than plain ASCII. */
static const char *
skip_text (const char *p)
{
  for (p++; *p != '"'; p++)
    if (*p == '\\' || (guint8)*p < 0x20 || (guint8)*p >= 0x7F)
      return NULL;
  return p + 1;
}

/* Behind a list of whole numbers; `out` may be NULL. */
static const char *
take_list (const char *p, GArray *out)
{
  p = skip_blanks (p + 1);
  if (*p == ']')
    return p + 1;
  for (;;) {
    gint64 n;
    p = take_whole (p, &n);
    if (p == NULL)
      return NULL;
    if (out != NULL)
      g_array_append_val (out, n);
    p = skip_blanks (p);
    if (*p == ']')
      return p + 1;
    if (*p != ',')
      return NULL;
    p = skip_blanks (p + 1);
  }
}

static BaseJsonField *
field_of (BaseJsonField *fields, guint n_fields, const char *key, gsize n_key)
{
  for (guint i = 0; i < n_fields; i++)
    if (strncmp (fields[i].key, key, n_key) == 0 && fields[i].key[n_key] == '\0')
      return &fields[i];
  return NULL;
}

static const char *
take_value (const char *p, BaseJsonField *field)
{
  double number = (double)NAN;
  if (*p == '[') {
    if (field != NULL && field->list != NULL)
      g_array_set_size (field->list, 0);
    return take_list (p, field != NULL ? field->list : NULL);
  }
  if (*p == '"')
    p = skip_text (p);
  else if (strncmp (p, "null", 4) == 0 || strncmp (p, "true", 4) == 0)
    p += 4;
  else if (strncmp (p, "false", 5) == 0)
    p += 5;
  else
    p = take_number (p, &number);
  if (field != NULL) {
    field->number = number;
    if (field->list != NULL)
      return NULL;
  }
  return p;
}

static void
clear (BaseJsonField *fields, guint n_fields)
{
  for (guint i = 0; i < n_fields; i++) {
    fields[i].number = (double)NAN;
    fields[i].column = 0;
    if (fields[i].list != NULL)
      g_array_set_size (fields[i].list, 0);
  }
}

/* FALSE: not of the simple kind. */
static gboolean
take_mapping (const char *line, BaseJsonField *fields, guint n_fields)
{
  const char *p = skip_blanks (line);
  if (*p != '{')
    return FALSE;
  for (p = skip_blanks (p + 1);; p = skip_blanks (p + 1)) {
    const char *key = p, *end = *p == '"' ? skip_text (p) : NULL;
    if (end == NULL)
      return FALSE;
    BaseJsonField *field = field_of (fields, n_fields, key + 1, (gsize)(end - key - 2));
    p = skip_blanks (end);
    if (*p != ':')
      return FALSE;
    p = skip_blanks (p + 1);
    if (field != NULL)
      field->column = (guint)(p - line) + 1;
    p = take_value (p, field);
    if (p == NULL)
      return FALSE;
    p = skip_blanks (p);
    if (*p == '}')
      return *skip_blanks (p + 1) == '\0';
    if (*p != ',')
      return FALSE;
  }
}

static gboolean
list_of_node (JsonObject *root, BaseMark at, BaseJsonField *field, GError **error)
{
  JsonArray *array = base_json_array (root, field->key);
  for (guint i = 0; array != NULL && i < json_array_get_length (array); i++) {
    JsonNode *node = json_array_get_element (array, i);
    if (!JSON_NODE_HOLDS_VALUE (node) || json_node_get_value_type (node) != G_TYPE_INT64)
      return base_fail_at (error, at, "%s: a list of whole numbers is expected", field->key);
    const gint64 n = json_node_get_int (node);
    g_array_append_val (field->list, n);
  }
  return array != NULL || base_fail_at (error, at, "%s: a list of whole numbers is expected", field->key);
}

gboolean
base_json_line (const BaseJsonText *text, BaseJsonField *fields, guint n_fields, GError **error)
{
  clear (fields, n_fields);
  if (take_mapping (text->bytes, fields, n_fields))
    return TRUE;
  clear (fields, n_fields);
  g_autoptr (BaseJson) json = base_json_read (text, error);
  if (json == NULL)
    return FALSE;
  JsonObject *root = base_json_root (json);
  if (root == NULL)
    return base_fail_at (error, (BaseMark){ text->file, text->line, 1 }, "a mapping is expected: {\"key\": value, …}");
  for (guint i = 0; i < n_fields; i++)
    if (json_object_has_member (root, fields[i].key)) {
      fields[i].column = 1;
      fields[i].number = base_json_number (root, fields[i].key);
      if (fields[i].list != NULL && !list_of_node (root, (BaseMark){ text->file, text->line, 1 }, &fields[i], error))
        return FALSE;
    }
  return TRUE;
}
