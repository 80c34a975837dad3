/* The document that nccl-tests writes for -J (version 3):
 *     {"version": 3, "args": [program, …], "env": ["NAME=VALUE", …], "nccl_version": 22809,
 *      "config": {"nthreads", "ngpus", "graph", "blocking_collectives", "devices": [{"rank", "group", "hostname", …}]},
 *      "results": [{"size", "type", "out_of_place": {"time" | "cpu_time", "alg_bw", "bus_bw", "nwrong"} | null, "in_place": …}],
 *      "out_of_bounds": {"count", "okay"}, …}
 * Times in us, GB = 1e9 B; not a number is the text "nan", a truth value the text "true" or "false", nwrong null where nothing was
 * checked. `devices` has one entry a process, that of its first GPU, whatever nthreads and ngpus are.
 * Source: NVIDIA/nccl-tests a0b82b2 src/util.cu (jsonOutputInit, writeDeviceReport, parseRankInfo, writeBenchmarkLineBody). */
#include <math.h>
#include <string.h>

#include "import/measured-private.h"

#define LAYOUT_VERSION 3

typedef struct {
  const CalText *text;
  CalRows *rows;
} Reader;

/* Half a unit of the sixth decimal, which is how %lf writes. */
static const double json_half = 0.5e-6;

/* A whole number from 0 to `most` of a member; `out` stays as it is where there is none. */
static gboolean
read_count (const Reader *reader, JsonObject *in, const char *name, const char *path, double most, guint32 *out, GError **error)
{
  double value;
  if (in == NULL || !json_object_has_member (in, name) || json_object_get_null_member (in, name))
    return TRUE;
  if (!cal_json_member (in, name, &value) || !(value >= 0 && value <= most) || value != floor (value))
    return cal_fail (reader->text, CAL_AT (path), error, "not a whole number from 0 to %g", most);
  *out = (guint32)value;
  return TRUE;
}

static gboolean
read_devices (const Reader *reader, JsonObject *config, CalRun *run, GError **error)
{
  JsonArray *devices = base_json_array (config, "devices");
  for (guint i = 0; devices != NULL && i < json_array_get_length (devices); i++) {
    g_autofree char *path = g_strdup_printf ("config.devices[%u]", i);
    JsonObject *device = base_json_element (devices, i);
    const char *host = base_json_text (device, "hostname");
    CalRank rank = { .rank = G_MAXUINT32 };
    if (device == NULL || host == NULL)
      return cal_fail (reader->text, CAL_AT (path), error, "an object with rank, group and hostname is accepted");
    if (!read_count (reader, device, "rank", path, CAL_MOST_RANK, &rank.rank, error) ||
        !read_count (reader, device, "group", path, CAL_MOST_RANK, &rank.group, error))
      return FALSE;
    if (rank.rank == G_MAXUINT32)
      return cal_fail (reader->text, CAL_AT (path), error, "no rank");
    rank.host = g_strdup (host);
    g_array_append_val (run->ranks, rank);
  }
  return TRUE;
}

static void
read_environment (const Reader *reader, JsonObject *root, CalRun *run)
{
  JsonArray *env = base_json_array (root, "env");
  if (env != NULL) { /* all of the environment: what is not in it was not asked for */
    run->algo = MDL_ALGO_AUTO;
    run->proto = MDL_PROTO_AUTO;
  }
  for (guint i = 0; env != NULL && i < json_array_get_length (env); i++) {
    const char *text = base_json_text_of (json_array_get_element (env, i));
    g_autofree char *path = g_strdup_printf ("env[%u]", i);
    if (text == NULL)
      continue;
    if (g_str_has_prefix (text, "NCCL_ALGO="))
      cal_run_algo (reader->rows, run, CAL_AT (path), text + strlen ("NCCL_ALGO="));
    else if (g_str_has_prefix (text, "NCCL_PROTO="))
      cal_run_proto (reader->rows, run, CAL_AT (path), text + strlen ("NCCL_PROTO="));
  }
}

static gboolean
read_run (const Reader *reader, JsonObject *root, CalRun *run, GError **error)
{
  JsonObject *config = base_json_object (root, "config");
  JsonArray *args = base_json_array (root, "args");
  guint32 version = LAYOUT_VERSION, nccl = 0, graphs = 0;
  if (!read_count (reader, root, "version", "version", G_MAXUINT32, &version, error) ||
      !read_count (reader, root, "nccl_version", "nccl_version", G_MAXUINT32, &nccl, error) ||
      !read_count (reader, config, "nthreads", "config.nthreads", CAL_MOST_EACH, &run->threads, error) ||
      !read_count (reader, config, "ngpus", "config.ngpus", CAL_MOST_EACH, &run->gpus_per_thread, error) ||
      !read_count (reader, config, "graph", "config.graph", G_MAXUINT32, &graphs, error) ||
      !read_devices (reader, config, run, error))
    return FALSE;
  if (version > LAYOUT_VERSION)
    cal_rows_warn (reader->rows, CAL_AT ("version"), "layout %u is newer than %u, which is known: read as that", version,
                   LAYOUT_VERSION);
  cal_run_version (run, nccl);
  if (run->gpus_per_thread > 0)
    cal_run_launch (run, graphs);
  if (g_strcmp0 (base_json_text (config, "blocking_collectives"), "true") == 0)
    cal_rows_warn (reader->rows, CAL_AT ("config.blocking_collectives"),
                   "each operation was waited for (-z): times hold what the host does between them");
  if (args != NULL && json_array_get_length (args) > 0) {
    const char *program = base_json_text_of (json_array_get_element (args, 0));
    if (program != NULL)
      cal_run_program (run, program);
  }
  read_environment (reader, root, run);
  if (g_strcmp0 (base_json_text (base_json_object (root, "out_of_bounds"), "okay"), "false") == 0)
    cal_rows_warn (reader->rows, CAL_AT ("out_of_bounds"), "nccl-tests found wrong results in this run");
  return TRUE;
}

static gboolean
read_number (const Reader *reader, JsonObject *in, const char *path, const char *name, double *out, GError **error)
{
  if (cal_json_member (in, name, out))
    return TRUE;
  g_autofree char *at = g_strdup_printf ("%s.%s", path, name);
  return cal_fail (reader->text, CAL_AT (at), error, "a number is accepted, or \"nan\"");
}

/* One half of a result; none where it is null. */
static gboolean
read_half (const Reader *reader, JsonObject *result, const char *of, const char *name, CalRun *run, CalRow *row, GError **error)
{
  g_autofree char *path = g_strdup_printf ("%s.%s", of, name);
  JsonObject *half = base_json_object (result, name);
  if (half == NULL && json_object_has_member (result, name) && !json_object_get_null_member (result, name))
    return cal_fail (reader->text, CAL_AT (path), error, "an object or null is accepted");
  if (half == NULL)
    return TRUE;
  if (json_object_has_member (half, "cpu_time"))
    return cal_fail (reader->text, CAL_AT (path), error,
                     "'cpu_time' is how long the CPU took to launch (-C 1), not how long the operation took; run without -C");
  if (!read_number (reader, half, path, "time", &row->time_us, error) ||
      !read_number (reader, half, path, "alg_bw", &row->algbw_GBps, error) ||
      !read_number (reader, half, path, "bus_bw", &row->busbw_GBps, error))
    return FALSE;
  if (isfinite (row->time_us) && row->time_us > CAL_MOST_TIME_US)
    return cal_fail (reader->text, CAL_AT (path), error, "time %g us; up to %g is accepted", row->time_us, CAL_MOST_TIME_US);
  row->time_half = row->algbw_half = row->busbw_half = json_half;
  row->wrong = -1;
  if (json_object_has_member (half, "nwrong") && !json_object_get_null_member (half, "nwrong")) {
    double wrong;
    if (!cal_json_member (half, "nwrong", &wrong) || !(wrong >= 0)) {
      g_autofree char *at = g_strdup_printf ("%s.nwrong", path);
      return cal_fail (reader->text, CAL_AT (at), error, "a count of wrong elements or null is accepted");
    }
    row->wrong = wrong < 1e18 ? (gint64)wrong : (gint64)1e18;
  }
  cal_rows_add (reader->rows, run, CAL_AT (path), row);
  return TRUE;
}

static gboolean
read_result (const Reader *reader, JsonArray *results, guint i, CalRun *run, GError **error)
{
  g_autofree char *path = g_strdup_printf ("results[%u]", i);
  JsonObject *result = base_json_element (results, i);
  CalRow row = { 0 };
  double size;
  const char *type = base_json_text (result, "type");
  if (result == NULL || !cal_json_member (result, "size", &size) || type == NULL)
    return cal_fail (reader->text, CAL_AT (path), error, "an object with size, type, out_of_place and in_place is accepted");
  if (!(size >= 0 && size <= (double)CAL_MOST_SIZE_B) || size != floor (size))
    return cal_fail (reader->text, CAL_AT (path), error, "size %g: a whole number up to 2^50 is accepted", size);
  row.size_B = (guint64)size;
  if (!cal_rows_resolve (reader->rows, run, CAL_AT (path), error))
    return FALSE;
  if (!cal_rows_dtype (reader->rows, CAL_AT (path), type, &row.dtype))
    return TRUE;
  if (!read_half (reader, result, path, "out_of_place", run, &row, error))
    return FALSE;
  row.in_place = TRUE;
  return read_half (reader, result, path, "in_place", run, &row, error);
}

static gboolean
read_document (void *user, JsonObject *root, unsigned line, GError **error)
{
  const Reader *reader = user;
  g_auto (CalRun) run = { 0 };
  cal_run_open (&run, line);
  JsonArray *results = base_json_array (root, "results");
  if (json_object_has_member (root, "forerun"))
    return cal_fail (reader->text, CAL_LINE (line), error, "a prediction of forerun's own; measurements are accepted");
  if (results == NULL || base_json_object (root, "config") == NULL)
    return cal_fail (reader->text, CAL_LINE (line), error,
                     "this is not nccl-tests' JSON: no `config` and `results`; what -J writes is accepted, or the text");
  if (!read_run (reader, root, &run, error))
    return FALSE;
  for (guint i = 0; i < json_array_get_length (results); i++)
    if (!read_result (reader, results, i, &run, error))
      return FALSE;
  if (json_array_get_length (results) == 0)
    cal_rows_warn (reader->rows, CAL_AT ("results"), "the run has no row");
  return TRUE;
}

gboolean
cal_nccl_tests_read_json (const CalText *text, CalRows *rows, GError **error)
{
  Reader reader = { text, rows };
  return cal_import_documents (&reader, text, read_document, error);
}
