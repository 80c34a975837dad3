#include "base/json.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include <gio/gio.h>

#include "base/diag.h"
#include "json-private.h"

struct BaseJson {
  char *file;
  JsonNode *root;
};

/* ---- documents ---- */

static gboolean
fail_size (const BaseJsonText *text, const char *what, GError **error)
{
  return base_fail_at (error, (BaseMark){ .file = text->file }, "%s more than %" G_GSIZE_FORMAT " MiB; divide it", what,
                       text->limits.text_B >> 20);
}

static gboolean
fail_packed (const BaseJsonText *text, gsize most_B, GError **error)
{
  if (most_B == text->limits.text_B)
    return fail_size (text, "unpacks to", error);
  return base_fail_at (error, (BaseMark){ .file = text->file },
                       "unpacks to more than %" G_GSIZE_FORMAT " MiB, too much for a file of %" G_GSIZE_FORMAT
                       " KiB; unpack it first",
                       most_B >> 20, (text->n_B + 1023) >> 10);
}

/* What gzip made of it; NULL and *error where it is none, broken off, or larger than is read. */
static GByteArray *
inflate (const BaseJsonText *text, GError **error)
{
  g_autoptr (GInputStream) packed = g_memory_input_stream_new_from_data (text->bytes, (gssize)text->n_B, NULL);
  g_autoptr (GZlibDecompressor) zip = g_zlib_decompressor_new (G_ZLIB_COMPRESSOR_FORMAT_GZIP);
  g_autoptr (GInputStream) plain = g_converter_input_stream_new (packed, G_CONVERTER (zip));
  g_autoptr (GByteArray) out = g_byte_array_new ();
  const gsize most_B = MIN (text->limits.text_B, MAX (BASE_JSON_PACKED_FREE_B, BASE_JSON_PACKED_TIMES * text->n_B));
  for (;;) {
    guint8 block[65536];
    g_autoptr (GError) cause = NULL;
    gssize n = g_input_stream_read (plain, block, sizeof block, NULL, &cause);
    if (n == 0)
      return g_steal_pointer (&out);
    if (n < 0) {
      base_fail_at (error, (BaseMark){ .file = text->file }, "not a gzip file, or one that is cut off: %s", cause->message);
      return NULL;
    }
    g_byte_array_append (out, block, (guint)n);
    if (out->len > most_B) {
      fail_packed (text, most_B, error);
      return NULL;
    }
  }
}

/* json-glib writes "<data>:LINE:COLUMN: Parse error: WHAT", counted from the text's first line, and forgets the place else. */
static void
fail_parse (const BaseJsonText *text, const char *message, GError **error)
{
  BaseMark mark = { .file = text->file, .line = text->line };
  const char *at = g_str_has_prefix (message, "<data>:") ? message + strlen ("<data>:") : "", *what = strstr (message, "error: ");
  char *rest = NULL;
  guint64 line = g_ascii_strtoull (at, &rest, 10);
  if (line > 0 && *rest == ':') {
    mark.line = MAX (text->line, 1) + (unsigned)line - 1;
    mark.column = (unsigned)g_ascii_strtoull (rest + 1, NULL, 10);
  }
  base_fail_at (error, mark, "not valid JSON: %s", what != NULL ? what + strlen ("error: ") : message);
}

/* FALSE and *error where a number in `node`, which `in` has under `key`, is none that a double holds, as 1e400. */
static gboolean
check_numbers (const BaseJson *json, JsonNode *node, gconstpointer in, const char *key, GError **error)
{
  if (JSON_NODE_HOLDS_OBJECT (node)) {
    JsonObjectIter iter;
    const char *name;
    JsonNode *value;
    JsonObject *object = json_node_get_object (node);
    for (json_object_iter_init (&iter, object); json_object_iter_next (&iter, &name, &value);)
      if (!check_numbers (json, value, object, name, error))
        return FALSE;
  } else if (JSON_NODE_HOLDS_ARRAY (node)) {
    JsonArray *array = json_node_get_array (node);
    for (guint i = 0; i < json_array_get_length (array); i++)
      if (!check_numbers (json, json_array_get_element (array, i), array, NULL, error))
        return FALSE;
  } else if (isinf (base_json_number_of (node)))
    return base_json_fail (json, in, key, error, "a number beyond 1e308; smaller ones are accepted");
  return TRUE;
}

static BaseJson *
parse (const BaseJsonText *text, GError **error)
{
  g_autoptr (JsonParser) parser = json_parser_new ();
  g_autoptr (GError) why = NULL;
  if (!json_parser_load_from_data (parser, text->bytes, (gssize)text->n_B, &why)) {
    fail_parse (text, why->message, error);
    return NULL;
  }
  g_autoptr (BaseJson) json = g_new0 (BaseJson, 1);
  json->file = g_strdup (text->file);
  json->root = json_parser_steal_root (parser);
  return json->root == NULL || check_numbers (json, json->root, NULL, NULL, error) ? g_steal_pointer (&json) : NULL;
}

BaseJson *
base_json_read_first (const BaseJsonText *text, gsize *end, GError **error)
{
  BaseJsonText first = *text;
  if (!base_json_scan (text, TRUE, &first.n_B, error))
    return NULL;
  if (first.n_B > text->limits.text_B) {
    fail_size (text, "a JSON document of", error);
    return NULL;
  }
  *end = first.n_B;
  return parse (&first, error);
}

static gboolean
begins (const BaseJsonText *text, const char *with)
{
  return text->n_B >= strlen (with) && memcmp (text->bytes, with, strlen (with)) == 0;
}

gboolean
base_json_unpack (const BaseJsonText *text, GByteArray **plain, GError **error)
{
  static const char gzip[] = "\x1f\x8b";
  *plain = NULL;
  if (!g_str_has_suffix (text->file, ".gz") && !begins (text, gzip))
    return TRUE;
  *plain = inflate (text, error);
  return *plain != NULL;
}

BaseJson *
base_json_read (const BaseJsonText *text, GError **error)
{
  static const char byte_order_mark[] = "\xEF\xBB\xBF";
  g_autoptr (GByteArray) plain = NULL;
  BaseJsonText whole = *text;
  if (!base_json_unpack (text, &plain, error))
    return NULL;
  if (plain != NULL) {
    whole.bytes = (const char *)plain->data;
    whole.n_B = plain->len;
  }
  if (begins (&whole, byte_order_mark)) {
    whole.bytes += strlen (byte_order_mark);
    whole.n_B -= strlen (byte_order_mark);
  }
  gsize end;
  if (whole.n_B > whole.limits.text_B) {
    fail_size (text, "a file of", error);
    return NULL;
  }
  return base_json_scan (&whole, FALSE, &end, error) ? parse (&whole, error) : NULL;
}

BaseJson *
base_json_new (const char *file, JsonObject *root)
{
  BaseJson *json = g_new0 (BaseJson, 1);
  json->file = g_strdup (file);
  json->root = json_node_init_object (json_node_alloc (), root);
  json_object_unref (root);
  return json;
}

void
base_json_free (BaseJson *json)
{
  if (json == NULL)
    return;
  g_clear_pointer (&json->root, json_node_unref);
  g_free (json->file);
  g_free (json);
}

const char *
base_json_file (const BaseJson *json)
{
  return json->file;
}

JsonObject *
base_json_root (const BaseJson *json)
{
  return json->root != NULL && JSON_NODE_HOLDS_OBJECT (json->root) ? json_node_get_object (json->root) : NULL;
}

JsonArray *
base_json_root_list (const BaseJson *json)
{
  return json->root != NULL && JSON_NODE_HOLDS_ARRAY (json->root) ? json_node_get_array (json->root) : NULL;
}

/* ---- values that may be missing ---- */

static JsonNode *
member (JsonObject *in, const char *key)
{
  return in != NULL ? json_object_get_member (in, key) : NULL;
}

static GType
type_of (JsonNode *node)
{
  return node != NULL && JSON_NODE_HOLDS_VALUE (node) ? json_node_get_value_type (node) : G_TYPE_NONE;
}

const char *
base_json_text_of (JsonNode *node)
{
  return type_of (node) == G_TYPE_STRING ? json_node_get_string (node) : NULL;
}

const char *
base_json_text (JsonObject *in, const char *key)
{
  return base_json_text_of (member (in, key));
}

double
base_json_number_of (JsonNode *node)
{
  GType type = type_of (node);
  return type == G_TYPE_INT64 || type == G_TYPE_DOUBLE ? json_node_get_double (node) : (double)NAN;
}

double
base_json_number (JsonObject *in, const char *key)
{
  return base_json_number_of (member (in, key));
}

gboolean
base_json_flag (JsonObject *in, const char *key, gboolean otherwise)
{
  JsonNode *node = member (in, key);
  return type_of (node) == G_TYPE_BOOLEAN ? json_node_get_boolean (node) : otherwise;
}

JsonObject *
base_json_object (JsonObject *in, const char *key)
{
  JsonNode *node = member (in, key);
  return node != NULL && JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
}

JsonArray *
base_json_array (JsonObject *in, const char *key)
{
  JsonNode *node = member (in, key);
  return node != NULL && JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;
}

JsonObject *
base_json_element (JsonArray *in, guint i)
{
  JsonNode *node = json_array_get_element (in, i);
  return JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
}

/* ---- values that must be there ---- */

/* Puts the path from `node` down to `in` in front of `path`; FALSE: `in` is not below. */
static gboolean
find_path (JsonNode *node, gconstpointer in, GString *path)
{
  const gsize before = path->len;
  if (JSON_NODE_HOLDS_OBJECT (node)) {
    JsonObjectIter iter;
    const char *key;
    JsonNode *value;
    if (json_node_get_object (node) == in)
      return TRUE;
    for (json_object_iter_init (&iter, json_node_get_object (node)); json_object_iter_next (&iter, &key, &value);) {
      g_string_append_printf (path, "%s%s", before > 0 ? "." : "", key);
      if (find_path (value, in, path))
        return TRUE;
      g_string_truncate (path, before);
    }
  } else if (JSON_NODE_HOLDS_ARRAY (node)) {
    JsonArray *array = json_node_get_array (node);
    if (array == in)
      return TRUE;
    for (guint i = 0; i < json_array_get_length (array); i++) {
      g_string_append_printf (path, "[%u]", i);
      if (find_path (json_array_get_element (array, i), in, path))
        return TRUE;
      g_string_truncate (path, before);
    }
  }
  return FALSE;
}

gboolean
base_json_fail (const BaseJson *json, gconstpointer in, const char *key, GError **error, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *what = g_strdup_vprintf (format, args);
  va_end (args);
  g_autoptr (GString) path = g_string_new (NULL);
  if (in != NULL && json->root != NULL)
    find_path (json->root, in, path);
  if (key != NULL)
    g_string_append_printf (path, "%s%s", path->len > 0 ? "." : "", key);
  return base_fail_at (error, (BaseMark){ .file = json->file }, "%s%s%s", path->str, path->len > 0 ? ": " : "", what);
}

const char *
base_json_need_text (const BaseJson *json, JsonObject *in, const char *key, GError **error)
{
  const char *text = base_json_text (in, key);
  if (text == NULL)
    base_json_fail (json, in, key, error, "a text is accepted");
  return text;
}

JsonArray *
base_json_need_array (const BaseJson *json, JsonObject *in, const char *key, GError **error)
{
  JsonArray *array = base_json_array (in, key);
  if (array == NULL)
    base_json_fail (json, in, key, error, "a list is accepted");
  return array;
}

gboolean
base_json_need_count (const BaseJson *json, JsonObject *in, const char *key, gint64 least, gint64 most, gint64 *out, GError **error)
{
  JsonNode *node = member (in, key);
  if (type_of (node) != G_TYPE_INT64 || json_node_get_int (node) < least || json_node_get_int (node) > most)
    return base_json_fail (json, in, key, error, "a whole number from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT " is accepted",
                           least, most);
  *out = json_node_get_int (node);
  return TRUE;
}
