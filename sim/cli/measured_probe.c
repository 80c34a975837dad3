/* What forerun-probe wrote (docs/probe.md): collectives of one node, as measured points. Other sections are for others to read. */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include <gio/gio.h>
#include <json-glib/json-glib.h>

#include "measured-private.h"

#define SCHEMA "forerun-probe/1"
/* Half of a point's 95 % interval, of its median: wider ones say nothing of constants. */
#define WIDEST    0.05
#define MOST_GPUS 1024.0
#define MAX_PROBE_B ((gsize)1 << 30)

typedef struct {
  const char *path;
  const CliMeasuredFile *file; /* whose systems they are; NULL: any */
  CliData *data;
  const char *nccl;
  guint n_loose, n_failed; /* points that are left out: too wide; failed or skipped */
} Probe;

static gboolean fail_in (const Probe *probe, GError **error, const char *format, ...) G_GNUC_PRINTF (3, 4);

static gboolean
fail_in (const Probe *probe, GError **error, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *what = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (error, BASE_ERROR, (gint)BASE_ERROR_INPUT, "%s: %s", probe->path, what);
  return FALSE;
}

/* ---- members; NULL, NAN or the default where they are missing or of another kind ---- */

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

static const char *
text_of (JsonObject *object, const char *key)
{
  JsonNode *node = member (object, key, G_TYPE_STRING);
  return node != NULL ? json_node_get_string (node) : NULL;
}

static double
number_of (JsonObject *object, const char *key)
{
  JsonNode *node = member (object, key, G_TYPE_DOUBLE);
  return node != NULL ? json_node_get_double (node) : (double)NAN;
}

static gboolean
flag_of (JsonObject *object, const char *key, gboolean otherwise)
{
  JsonNode *node = member (object, key, G_TYPE_BOOLEAN);
  return node != NULL ? json_node_get_boolean (node) : otherwise;
}

/* ---- points ---- */

static gboolean
name_in (const Probe *probe, guint i, JsonObject *object, const char *key, const BaseName *names, int *out, GError **error)
{
  const char *text = text_of (object, key);
  const BaseName *known = text != NULL ? base_name_find (names, text) : NULL;
  if (known != NULL) {
    *out = known->code;
    return TRUE;
  }
  g_autofree char *accepted = cli_names_join (names);
  return fail_in (probe, error, "points[%u].%s %s%s%s; accepted: %s", i, key, text != NULL ? "'" : "is missing",
                  text != NULL ? text : "", text != NULL ? "' is not known" : "", accepted);
}

static gboolean
count_in (const Probe *probe, guint i, JsonObject *object, const char *key, double most, guint32 *out, GError **error)
{
  double value = number_of (object, key);
  if (!(value >= 1) || value > most || value > floor (value))
    return fail_in (probe, error, "points[%u].%s: a whole number from 1 to %g is accepted", i, key, most);
  *out = (guint32)value;
  return TRUE;
}

static gboolean
read_point (Probe *probe, guint i, JsonObject *object, GError **error)
{
  static const double MOST_CHANNELS = 1024, MOST_ITERS = 1e6, MOST_B = 0x1p50, MOST_S = 1e5;
  int op, algo, proto, launch;
  CliMeasured point = { .nodes = 1, .dtype = MDL_DTYPE_FP32, .nccl = probe->nccl };
  if (json_object_has_member (object, "error") || json_object_has_member (object, "skipped")) {
    probe->n_failed++;
    return TRUE;
  }
  if (flag_of (object, "in_place", FALSE) || !flag_of (object, "p2p", TRUE))
    return TRUE; /* no system describes them */
  double median_s = number_of (object, "median_s"), lo_s = number_of (object, "ci_lo_s"), hi_s = number_of (object, "ci_hi_s");
  if (!(median_s > 0) || median_s > MOST_S)
    return fail_in (probe, error, "points[%u].median_s: a time above 0 s is accepted", i);
  if (hi_s - lo_s > 2 * WIDEST * median_s) {
    probe->n_loose++;
    return TRUE;
  }
  double size_B = number_of (object, "bytes");
  if (!(size_B >= 1) || size_B > MOST_B)
    return fail_in (probe, error, "points[%u].bytes: a size above 0 B is accepted", i);
  if (!name_in (probe, i, object, "what", mdl_op_names, &op, error) ||
      !name_in (probe, i, object, "launch", mdl_launch_names, &launch, error) ||
      !name_in (probe, i, object, "algo", mdl_algo_names, &algo, error) ||
      !name_in (probe, i, object, "proto", mdl_proto_names, &proto, error) ||
      !count_in (probe, i, object, "gpus", MOST_GPUS, &point.gpus, error) ||
      (json_object_has_member (object, "channels") &&
       !count_in (probe, i, object, "channels", MOST_CHANNELS, &point.max_channels, error)) ||
      (json_object_has_member (object, "iters") && !count_in (probe, i, object, "iters", MOST_ITERS, &point.iters, error)))
    return FALSE;
  point.op = (MdlOp)op;
  point.algo =
      op == MDL_OP_ALLTOALL || op == MDL_OP_SENDRECV ? MDL_ALGO_AUTO : (MdlAlgo)algo; /* what is forced does not hold there */
  point.proto = op == MDL_OP_ALLTOALL || op == MDL_OP_SENDRECV ? MDL_PROTO_AUTO : (MdlProto)proto;
  point.size_B = size_B;
  point.time_s = median_s;
  for (guint s = 0; s < probe->data->spec.systems.n; s++) {
    const CliSystem *system = BASE_LIST_AT (probe->data->spec.systems, CliSystem, s);
    gboolean named = probe->file == NULL || probe->file->systems.n == 0 || cli_names_hold (&probe->file->systems, system->name.v);
    if (!named || system->launch.v != launch)
      continue;
    point.system = s;
    g_array_append_val (probe->data->points, point);
    return TRUE;
  }
  probe->data->n_skipped++; /* a launch that systems.yaml does not list */
  return TRUE;
}

/* What NCCL took for a size, by its own log. */
static gboolean
read_choice (const Probe *probe, guint i, JsonObject *object, GError **error)
{
  int op, algo, proto;
  CliMeasured choice = { .nodes = 1, .dtype = MDL_DTYPE_FP32, .nccl = probe->nccl, .size_B = number_of (object, "bytes") };
  if (json_object_has_member (object, "error") || json_object_has_member (object, "skipped"))
    return TRUE;
  if (!(choice.size_B >= 1))
    return fail_in (probe, error, "points[%u].bytes: a size above 0 B is accepted", i);
  if (!name_in (probe, i, object, "op", mdl_op_names, &op, error) ||
      !name_in (probe, i, object, "algo", mdl_algo_names, &algo, error) ||
      !name_in (probe, i, object, "proto", mdl_proto_names, &proto, error) ||
      !count_in (probe, i, object, "gpus", MOST_GPUS, &choice.gpus, error))
    return FALSE;
  for (guint s = 0; s < probe->data->spec.systems.n; s++)
    if (probe->file != NULL &&
        cli_names_hold (&probe->file->systems, BASE_LIST_AT (probe->data->spec.systems, CliSystem, s)->name.v)) {
      choice.system = s; /* whichever launch: it changes no choice */
      break;
    }
  choice.op = (MdlOp)op;
  choice.algo = (MdlAlgo)algo;
  choice.proto = (MdlProto)proto;
  if (probe->data->choices == NULL)
    probe->data->choices = g_array_new (FALSE, FALSE, sizeof (CliMeasured));
  g_array_append_val (probe->data->choices, choice);
  return TRUE;
}

static gboolean
read_points (Probe *probe, JsonObject *root, GError **error)
{
  JsonNode *node = json_object_get_member (root, "points");
  if (node == NULL || !JSON_NODE_HOLDS_ARRAY (node))
    return fail_in (probe, error, "points: a list is accepted");
  JsonArray *points = json_node_get_array (node);
  for (guint i = 0; i < json_array_get_length (points); i++) {
    JsonNode *item = json_array_get_element (points, i);
    if (!JSON_NODE_HOLDS_OBJECT (item))
      return fail_in (probe, error, "points[%u]: a mapping is accepted", i);
    JsonObject *object = json_node_get_object (item);
    if (g_strcmp0 (text_of (object, "section"), "nccl") != 0)
      continue;
    gboolean choice = g_strcmp0 (text_of (object, "what"), "choice") == 0;
    if (!(choice ? read_choice (probe, i, object, error) : read_point (probe, i, object, error)))
      return FALSE;
  }
  return TRUE;
}

/* ---- documents ---- */

JsonParser *
cli_probe_open (const char *path, const char *text, gsize n_B, GError **error)
{
  const Probe probe = { .path = path };
  g_autoptr (JsonParser) parser = json_parser_new ();
  g_autoptr (GError) cause = NULL;
  if (!json_parser_load_from_data (parser, text, (gssize)n_B, &cause)) {
    /* "<data>:LINE:COLUMN: what" */
    const char *at = g_str_has_prefix (cause->message, "<data>:") ? cause->message + strlen ("<data>:") : NULL;
    if (at != NULL)
      g_set_error (error, BASE_ERROR, (gint)BASE_ERROR_INPUT, "%s:%s", path, at);
    else
      fail_in (&probe, error, "is no JSON: %s", cause->message);
    return NULL;
  }
  JsonNode *root = json_parser_get_root (parser);
  const char *schema = root != NULL && JSON_NODE_HOLDS_OBJECT (root) ? text_of (json_node_get_object (root), "schema") : NULL;
  if (g_strcmp0 (schema, SCHEMA) != 0) {
    fail_in (&probe, error, "is not what forerun-probe writes: `schema` is %s%s%s; accepted: \"%s\"",
             schema != NULL ? "\"" : "missing", schema != NULL ? schema : "", schema != NULL ? "\"" : "", SCHEMA);
    return NULL;
  }
  return g_steal_pointer (&parser);
}

/* gzip; NULL and *error where it is none, broken off, or larger than is read. */
static GByteArray *
unpack (const char *path, const char *bytes, gsize n_B, GError **error)
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
      g_set_error (error, BASE_ERROR, (gint)BASE_ERROR_INPUT, "%s: %s%s", path,
                   n < 0 ? "is no gzip file, or one that is cut off: " : "holds more than 1 GiB", n < 0 ? cause->message : "");
      return NULL;
    }
  }
}

JsonParser *
cli_probe_load (Cli *cli, const char *path, GError **error)
{
  gsize n_B = 0;
  g_autofree char *bytes = cli_read_file (path, MAX_PROBE_B, &n_B, error);
  if (bytes == NULL)
    return NULL;
  cli_take_input (cli, path, bytes, n_B);
  if (!g_str_has_suffix (path, ".gz"))
    return cli_probe_open (path, bytes, n_B, error);
  g_autoptr (GByteArray) text = unpack (path, bytes, n_B, error);
  return text != NULL ? cli_probe_open (path, (const char *)text->data, text->len, error) : NULL;
}

gboolean
cli_is_probe (const char *path)
{
  return g_str_has_suffix (path, ".json") || g_str_has_suffix (path, ".json.gz");
}

gboolean
cli_probe_has_no_nvls (JsonParser *parser)
{
  JsonObject *root = json_node_get_object (json_parser_get_root (parser));
  JsonNode *node = json_object_get_member (root, "environment");
  return node != NULL && JSON_NODE_HOLDS_OBJECT (node) &&
         g_strcmp0 (text_of (json_node_get_object (node), "NCCL_NVLS_ENABLE"), "0") == 0;
}

gboolean
cli_probe_read (Cli *cli, const char *path, JsonParser *parser, const CliMeasuredFile *file, CliData *data, GError **error)
{
  JsonObject *root = json_node_get_object (json_parser_get_root (parser));
  Probe probe = { .path = path, .file = file, .data = data, .nccl = cli_data_version (data, text_of (root, "nccl")) };
  guint before = data->points->len;
  if (!read_points (&probe, root, error))
    return FALSE;
  g_autoptr (GString) told = g_string_new (NULL);
  if (!flag_of (root, "complete", FALSE))
    g_string_append_printf (told, "%s: the probe was interrupted; what it measured until then is taken", path);
  else if (probe.n_loose + probe.n_failed > 0)
    g_string_append_printf (told, "%s:", path);
  if (probe.n_loose > 0)
    g_string_append_printf (told, "%s %u point%s left out, whose own interval is wider than 5 %%",
                            told->len > strlen (path) + 1 ? ";" : "", probe.n_loose, probe.n_loose == 1 ? "" : "s");
  if (probe.n_failed > 0)
    g_string_append_printf (told, "%s %u that failed or %s skipped", probe.n_loose > 0 ? "," : "", probe.n_failed,
                            probe.n_failed == 1 ? "was" : "were");
  if (told->len > 0)
    cli_warn (cli, told->str);
  return data->points->len > before || fail_in (&probe, error, "holds no collective that can be fitted (section nccl)");
}
