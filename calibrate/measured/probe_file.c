/* What forerun-probe wrote: one JSON document, perhaps packed. */
#include "calibrate/probe_file.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/diag.h"
#include "base/json.h"

#define SCHEMA "forerun-probe/1"
/* Half of a point's 95 % interval, of its median: wider ones say nothing of constants. */
static const double WIDEST = 0.05;
static const double MOST_S = 1e5;

struct CalProbe {
  BaseJson *json;
  JsonArray *points;
};

gboolean
cal_probe_fail (const CalProbe *probe, guint i, GError **error, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *what = g_strdup_vprintf (format, args);
  va_end (args);
  BaseMark file = { .file = cal_probe_path (probe) };
  return i == G_MAXUINT ? base_fail_at (error, file, "%s", what) : base_fail_at (error, file, "points[%u].%s", i, what);
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
      return cal_probe_fail (probe, G_MAXUINT, error, "points[%u] is the case of points[%u] again; each once is accepted", i,
                             before - 1);
    }
    g_hash_table_insert (seen, words, GUINT_TO_POINTER (i + 1));
  }
  return TRUE;
}

/* ---- documents ---- */

static gboolean
read_points (CalProbe *probe, GError **error)
{
  probe->points = base_json_need_array (probe->json, cal_probe_root (probe), "points", error);
  if (probe->points == NULL)
    return FALSE;
  for (guint i = 0; i < json_array_get_length (probe->points); i++)
    if (base_json_element (probe->points, i) == NULL)
      return cal_probe_fail (probe, G_MAXUINT, error, "points[%u]: a mapping is accepted", i);
  return check_repeats (probe, error);
}

CalProbe *
cal_probe_parse (const char *path, const char *bytes, gsize n_B, GError **error)
{
  const BaseJsonText text = { path, bytes, n_B, 1, BASE_JSON_LIMITS };
  g_autoptr (CalProbe) probe = g_new0 (CalProbe, 1);
  probe->json = base_json_read (&text, error);
  if (probe->json == NULL)
    return NULL;
  const char *schema = base_json_text (cal_probe_root (probe), "schema");
  if (g_strcmp0 (schema, SCHEMA) == 0)
    return read_points (probe, error) ? g_steal_pointer (&probe) : NULL;
  const char *quote = schema != NULL ? "\"" : "";
  cal_probe_fail (probe, G_MAXUINT, error, "is not what forerun-probe writes: `schema` is %s%s%s; accepted: \"%s\"", quote,
                  schema != NULL ? schema : "missing", quote, SCHEMA);
  return NULL;
}

CalProbe *
cal_probe_new (const char *path, JsonObject *root)
{
  CalProbe *probe = g_new0 (CalProbe, 1);
  probe->json = base_json_new (path, root);
  probe->points = base_json_array (root, "points");
  return probe;
}

void
cal_probe_free (CalProbe *probe)
{
  if (probe == NULL)
    return;
  base_json_free (probe->json);
  g_free (probe);
}

const char *
cal_probe_path (const CalProbe *probe)
{
  return base_json_file (probe->json);
}

JsonObject *
cal_probe_root (const CalProbe *probe)
{
  return base_json_root (probe->json);
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
  return g_strcmp0 (base_json_text (point, "section"), section) == 0 &&
         (what == NULL || g_strcmp0 (base_json_text (point, "what"), what) == 0);
}

gboolean
cal_probe_judge (const CalProbe *probe, guint i, CalPointState *state, double *median_s, GError **error)
{
  JsonObject *point = cal_probe_point (probe, i);
  *state = CAL_POINT_FAILED;
  *median_s = (double)NAN;
  if (json_object_has_member (point, "error") || json_object_has_member (point, "skipped"))
    return TRUE;
  double time_s = base_json_number (point, "median_s");
  if (!(time_s > 0) || time_s > MOST_S)
    return cal_probe_fail (probe, i, error, "median_s: a time above 0 s is accepted");
  const double lo_s = base_json_number (point, "ci_lo_s"), hi_s = base_json_number (point, "ci_hi_s");
  if (lo_s < 0 || hi_s < lo_s || hi_s > MOST_S)
    return cal_probe_fail (probe, i, error, "ci_lo_s, ci_hi_s: an interval within 0 to %g s is accepted", MOST_S);
  *median_s = time_s;
  gboolean loose = hi_s - lo_s > 2 * WIDEST * time_s;
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
cal_probe_name (const CalProbe *probe, guint i, const char *key, const BaseName *names, int *out, GError **error)
{
  const char *text = base_json_text (cal_probe_point (probe, i), key);
  const BaseName *known = text != NULL ? base_name_find (names, text) : NULL;
  if (known != NULL) {
    *out = known->code;
    return TRUE;
  }
  g_autofree char *accepted = base_names_accepted (text, names, NULL);
  return cal_probe_fail (probe, i, error, "%s %s%s%s%s", key, text != NULL ? "'" : "is missing", text != NULL ? text : "",
                         text != NULL ? "' is not known" : "", accepted);
}

gboolean
cal_probe_count (const CalProbe *probe, guint i, const char *key, double least, double most, double *out, GError **error)
{
  double value = base_json_number (cal_probe_point (probe, i), key);
  if (!(value >= least) || value > most || value > floor (value))
    return cal_probe_fail (probe, i, error, "%s: a whole number from %g to %g is accepted", key, least, most);
  *out = value;
  return TRUE;
}
