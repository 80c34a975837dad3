/* What forerun-probe wrote: one JSON document, perhaps packed. */
#include "calibrate/probe_file.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include <gio/gio.h>

#include "base/error.h"

#define SCHEMA      "forerun-probe/1"
#define MAX_PROBE_B ((gsize)1 << 30)
/* Half of a point's 95 % interval, of its median: wider ones say nothing of constants. */
static const double WIDEST = 0.05;
static const double MOST_S = 1e5;

struct CalProbe {
  char *path;
  JsonParser *parser;
  JsonObject *root;
  JsonObject *owned; /* the same, where no parser owns it */
  JsonArray *points;
};

gboolean
cal_probe_fail (const CalProbe *probe, guint i, GError **error, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *what = g_strdup_vprintf (format, args);
  va_end (args);
  if (i == G_MAXUINT)
    g_set_error (error, BASE_ERROR, (gint)BASE_ERROR_INPUT, "%s: %s", probe->path, what);
  else
    g_set_error (error, BASE_ERROR, (gint)BASE_ERROR_INPUT, "%s: points[%u].%s", probe->path, i, what);
  return FALSE;
}

/* ---- members ---- */

static JsonNode *
member (JsonObject *object, const char *key, GType type)
{
  JsonNode *node = json_object_get_member (object, key);
  if (node == NULL || !JSON_NODE_HOLDS_VALUE (node))
    return NULL;
  GType its = json_node_get_value_type (node);
  gboolean number = type == G_TYPE_DOUBLE && (its == G_TYPE_INT64 || its == G_TYPE_DOUBLE);
  return its == type || number ? node : NULL;
}

const char *
cal_probe_text (JsonObject *object, const char *key)
{
  JsonNode *node = member (object, key, G_TYPE_STRING);
  return node != NULL ? json_node_get_string (node) : NULL;
}

double
cal_probe_number (JsonObject *object, const char *key)
{
  JsonNode *node = member (object, key, G_TYPE_DOUBLE);
  return node != NULL ? json_node_get_double (node) : (double)NAN;
}

gboolean
cal_probe_flag (JsonObject *object, const char *key, gboolean otherwise)
{
  JsonNode *node = member (object, key, G_TYPE_BOOLEAN);
  return node != NULL ? json_node_get_boolean (node) : otherwise;
}

/* ---- the same case twice ---- */

/* What was measured, not what came of it. */
static gboolean
is_result (const char *key)
{
  static const char *const results[] = { "median_s", "mean_s", "min_s",     "max_s", "ci_lo_s", "ci_hi_s",
                                         "samples",  "enough", "samples_s", "error", "skipped", NULL };
  return g_strv_contains (results, key);
}

static gint
compare_keys (gconstpointer a, gconstpointer b)
{
  return strcmp (a, b);
}

/* The parameters of a point in one text. */
static char *
case_of (JsonObject *point)
{
  GString *out = g_string_new (NULL);
  g_autoptr (GList) keys = g_list_sort (json_object_get_members (point), compare_keys);
  for (const GList *k = keys; k != NULL; k = k->next) {
    JsonNode *node = json_object_get_member (point, k->data);
    if (is_result (k->data) || !JSON_NODE_HOLDS_VALUE (node))
      continue;
    GType type = json_node_get_value_type (node);
    char number[G_ASCII_DTOSTR_BUF_SIZE];
    const char *text = type == G_TYPE_STRING    ? json_node_get_string (node)
                       : type == G_TYPE_BOOLEAN ? (json_node_get_boolean (node) ? "yes" : "no")
                                                : g_ascii_dtostr (number, sizeof number, json_node_get_double (node));
    g_string_append_printf (out, "%s=%s\n", (const char *)k->data, text);
  }
  return g_string_free (out, FALSE);
}

static gboolean
check_repeats (const CalProbe *probe, GError **error)
{
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL); /* case -> its number + 1 */
  for (guint i = 0; i < json_array_get_length (probe->points); i++) {
    JsonObject *point = json_array_get_object_element (probe->points, i);
    char *words = case_of (point);
    guint before = GPOINTER_TO_UINT (g_hash_table_lookup (seen, words));
    if (before > 0) {
      g_free (words);
      g_set_error (error, BASE_ERROR, (gint)BASE_ERROR_INPUT,
                   "%s: points[%u] is the case of points[%u] again; each once is accepted", probe->path, i, before - 1);
      return FALSE;
    }
    g_hash_table_insert (seen, words, GUINT_TO_POINTER (i + 1));
  }
  return TRUE;
}

/* ---- documents ---- */

/* gzip; NULL and *error where it is none, broken off, or larger than is read. */
static GByteArray *
unpack (const CalProbe *probe, const char *bytes, gsize n_B, GError **error)
{
  g_autoptr (GInputStream) packed = g_memory_input_stream_new_from_data (bytes, (gssize)n_B, NULL);
  g_autoptr (GZlibDecompressor) zip = g_zlib_decompressor_new (G_ZLIB_COMPRESSOR_FORMAT_GZIP);
  g_autoptr (GInputStream) plain = g_converter_input_stream_new (packed, G_CONVERTER (zip));
  g_autoptr (GByteArray) text = g_byte_array_new ();
  for (;;) {
    guint8 block[65536];
    g_autoptr (GError) cause = NULL;
    gssize n = g_input_stream_read (plain, block, sizeof block, NULL, &cause);
    if (n == 0)
      return g_steal_pointer (&text);
    if (n > 0)
      g_byte_array_append (text, block, (guint)n);
    if (n < 0 || text->len > MAX_PROBE_B) {
      cal_probe_fail (probe, G_MAXUINT, error, "%s%s",
                      n < 0 ? "is no gzip file, or one that is cut off: " : "holds more than 1 GiB", n < 0 ? cause->message : "");
      return NULL;
    }
  }
}

static gboolean
read_points (CalProbe *probe, GError **error)
{
  JsonNode *node = json_object_get_member (probe->root, "points");
  if (node == NULL || !JSON_NODE_HOLDS_ARRAY (node))
    return cal_probe_fail (probe, G_MAXUINT, error, "points: a list is accepted");
  probe->points = json_node_get_array (node);
  for (guint i = 0; i < json_array_get_length (probe->points); i++)
    if (!JSON_NODE_HOLDS_OBJECT (json_array_get_element (probe->points, i)))
      return cal_probe_fail (probe, G_MAXUINT, error, "points[%u]: a mapping is accepted", i);
  return check_repeats (probe, error);
}

static gboolean
parse (CalProbe *probe, const char *text, gsize n_B, GError **error)
{
  g_autoptr (GError) cause = NULL;
  if (!json_parser_load_from_data (probe->parser, text, (gssize)n_B, &cause)) {
    /* "<data>:LINE:COLUMN: what" */
    const char *at = g_str_has_prefix (cause->message, "<data>:") ? cause->message + strlen ("<data>:") : NULL;
    if (at == NULL)
      return cal_probe_fail (probe, G_MAXUINT, error, "is no JSON: %s", cause->message);
    g_set_error (error, BASE_ERROR, (gint)BASE_ERROR_INPUT, "%s:%s", probe->path, at);
    return FALSE;
  }
  JsonNode *root = json_parser_get_root (probe->parser);
  probe->root = root != NULL && JSON_NODE_HOLDS_OBJECT (root) ? json_node_get_object (root) : NULL;
  const char *schema = probe->root != NULL ? cal_probe_text (probe->root, "schema") : NULL;
  if (g_strcmp0 (schema, SCHEMA) != 0)
    return cal_probe_fail (probe, G_MAXUINT, error, "is not what forerun-probe writes: `schema` is %s%s%s; accepted: \"%s\"",
                           schema != NULL ? "\"" : "missing", schema != NULL ? schema : "", schema != NULL ? "\"" : "", SCHEMA);
  return read_points (probe, error);
}

CalProbe *
cal_probe_parse (const char *path, const char *bytes, gsize n_B, GError **error)
{
  g_autoptr (CalProbe) probe = g_new0 (CalProbe, 1);
  probe->path = g_strdup (path);
  probe->parser = json_parser_new ();
  if (!g_str_has_suffix (path, ".gz"))
    return parse (probe, bytes, n_B, error) ? g_steal_pointer (&probe) : NULL;
  g_autoptr (GByteArray) text = unpack (probe, bytes, n_B, error);
  return text != NULL && parse (probe, (const char *)text->data, text->len, error) ? g_steal_pointer (&probe) : NULL;
}

CalProbe *
cal_probe_new (const char *path, JsonObject *root)
{
  CalProbe *probe = g_new0 (CalProbe, 1);
  probe->path = g_strdup (path);
  probe->root = probe->owned = root;
  probe->points = json_object_get_array_member (root, "points");
  return probe;
}

void
cal_probe_free (CalProbe *probe)
{
  if (probe == NULL)
    return;
  g_clear_pointer (&probe->owned, json_object_unref);
  g_clear_object (&probe->parser);
  g_free (probe->path);
  g_free (probe);
}

const char *
cal_probe_path (const CalProbe *probe)
{
  return probe->path;
}

JsonObject *
cal_probe_root (const CalProbe *probe)
{
  return probe->root;
}

guint
cal_probe_n_points (const CalProbe *probe)
{
  return json_array_get_length (probe->points);
}

JsonObject *
cal_probe_point (const CalProbe *probe, guint i)
{
  return json_array_get_object_element (probe->points, i);
}

gboolean
cal_probe_is (const CalProbe *probe, guint i, const char *section, const char *what)
{
  JsonObject *point = cal_probe_point (probe, i);
  return g_strcmp0 (cal_probe_text (point, "section"), section) == 0 &&
         (what == NULL || g_strcmp0 (cal_probe_text (point, "what"), what) == 0);
}

gboolean
cal_probe_judge (const CalProbe *probe, guint i, CalPointState *state, double *median_s, GError **error)
{
  JsonObject *point = cal_probe_point (probe, i);
  *state = CAL_POINT_FAILED;
  *median_s = (double)NAN;
  if (json_object_has_member (point, "error") || json_object_has_member (point, "skipped"))
    return TRUE;
  double time_s = cal_probe_number (point, "median_s");
  if (!(time_s > 0) || time_s > MOST_S)
    return cal_probe_fail (probe, i, error, "median_s: a time above 0 s is accepted");
  *median_s = time_s;
  gboolean loose = cal_probe_number (point, "ci_hi_s") - cal_probe_number (point, "ci_lo_s") > 2 * WIDEST * time_s;
  *state = loose ? CAL_POINT_LOOSE : CAL_POINT_GOOD;
  return TRUE;
}

double
cal_probe_time_s (const CalProbe *probe, guint i)
{
  CalPointState state;
  double median_s;
  return cal_probe_judge (probe, i, &state, &median_s, NULL) && state == CAL_POINT_GOOD ? median_s : (double)NAN;
}

gboolean
cal_probe_each (const CalProbe *probe, const char *section, CalProbeVisit visit, gconstpointer user, guint *n_left, GError **error)
{
  for (guint i = 0; i < cal_probe_n_points (probe); i++) {
    CalPointState state;
    double median_s;
    if (!cal_probe_is (probe, i, section, NULL))
      continue;
    if (!cal_probe_judge (probe, i, &state, &median_s, error))
      return FALSE;
    if (state != CAL_POINT_GOOD)
      ++*n_left;
    else if (!visit (user, i, median_s, error))
      return FALSE;
  }
  return TRUE;
}

gboolean
cal_probe_name (const CalProbe *probe, guint i, const char *key, const BaseName *names, int *out, GError **error)
{
  const char *text = cal_probe_text (cal_probe_point (probe, i), key);
  const BaseName *known = text != NULL ? base_name_find (names, text) : NULL;
  if (known != NULL) {
    *out = known->code;
    return TRUE;
  }
  g_autofree char *accepted = base_names_join (names);
  return cal_probe_fail (probe, i, error, "%s %s%s%s; accepted: %s", key, text != NULL ? "'" : "is missing",
                         text != NULL ? text : "", text != NULL ? "' is not known" : "", accepted);
}

gboolean
cal_probe_count (const CalProbe *probe, guint i, const char *key, double least, double most, double *out, GError **error)
{
  double value = cal_probe_number (cal_probe_point (probe, i), key);
  if (!(value >= least) || value > most || value > floor (value))
    return cal_probe_fail (probe, i, error, "%s: a whole number from %g to %g is accepted", key, least, most);
  *out = value;
  return TRUE;
}
