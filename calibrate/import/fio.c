/* What fio writes for --output-format=json:
 *     {"fio version", "global options": {…}, "jobs": [{"jobname", "error", "job options": {…},
 *      "read" | "write" | "trim": {"io_bytes", "bw_bytes" (B/s), "iops", "runtime" (ms), "total_ios",
 *                                  "clat_ns": {"mean", "percentile": {"99.000000": …}}, …}}]}
 * Until version 3, `bw` in KiB/s and `clat` in us stood in their place. Warnings of fio's may stand before '{'. A row is one job in
 * one direction; with group_reporting, all processes of a group.
 * Source: axboe/fio f5344384 stat.c (show_thread_status_json, add_ddir_status_json), HOWTO (rw, bs, numjobs, cuda_io). */
#include <math.h>
#include <string.h>

#include "import/measured-private.h"

/* How far fio's own rate may be from bytes over ms before a warning. */
#define RATE_SLACK 0.02

/* Where jobs name a size of blocks and did another. */
#define BLOCK_SLACK 0.05

enum { FAILED, IDLE, RATE, BLOCK }; /* notes */

typedef struct {
  JsonObject *object, *options, *global;
  const char *name;
} Job;

/* What the job itself says, or the section [global]. */
static const char *
option (const Job *job, const char *name, const char *other)
{
  JsonObject *where[] = { job->options, job->global };
  for (guint i = 0; i < G_N_ELEMENTS (where); i++) {
    const char *value = base_json_text (where[i], name);
    if (value == NULL && other != NULL)
      value = base_json_text (where[i], other);
    if (value != NULL)
      return value;
  }
  return NULL;
}

static guint64
option_count (const Job *job, const char *name, guint64 otherwise)
{
  const char *text = option (job, name, NULL);
  guint64 value;
  return text != NULL && cal_whole (text, G_MAXUINT32, &value) && value > 0 ? value : otherwise;
}

/* "4k", or "4k,8k" for reads and writes: what `direction` does; 0 where it is no plain size. k is 1024 in fio. */
static guint64
block_of (const char *text, guint direction)
{
  g_auto (GStrv) parts = g_strsplit (text, ",", 3);
  guint n = g_strv_length (parts);
  const char *part = n == 0 ? "" : *parts[MIN (direction, n - 1)] != '\0' ? parts[MIN (direction, n - 1)] : parts[0];
  static const char suffixes[] = "kmgt";
  char *end = NULL;
  if (!g_ascii_isdigit (*part))
    return 0;
  guint64 value = g_ascii_strtoull (part, &end, 10);
  const char *suffix = *end != '\0' ? strchr (suffixes, g_ascii_tolower (*end)) : NULL;
  guint shift = suffix != NULL ? 10 * (guint)(suffix - suffixes + 1) : 0;
  end += suffix != NULL;
  end += g_ascii_tolower (*end) == 'b';
  return *end == '\0' && value <= G_MAXUINT64 >> shift ? value << shift : 0;
}

/* A member that is a number of at least 0; `otherwise` where there is none. */
static gboolean
read_number (const CalImport *reader, JsonObject *in, const char *of, const char *name, double otherwise, double *out,
             GError **error)
{
  *out = otherwise;
  if (in == NULL || !json_object_has_member (in, name))
    return TRUE;
  if (cal_json_member (in, name, out) && *out >= 0 && isfinite (*out))
    return TRUE;
  g_autofree char *path = g_strdup_printf ("%s.%s", of, name);
  return cal_fail (reader->text, CAL_AT (path), error, "a number of at least 0 is accepted");
}

static gboolean
read_latency (const CalImport *reader, JsonObject *side, const char *path, CalStorage *row, GError **error)
{
  static const struct {
    const char *name;
    double unit_s;
  } kinds[] = { { "clat_ns", 1e-9 }, { "clat", 1e-6 }, { "lat_ns", 1e-9 }, { "lat", 1e-6 } };
  row->latency_mean_s = row->latency_p99_s = (double)NAN;
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++) {
    JsonObject *latency = base_json_object (side, kinds[i].name);
    JsonObject *percentiles = base_json_object (latency, "percentile");
    g_autofree char *of = g_strdup_printf ("%s.%s", path, kinds[i].name), *at = g_strdup_printf ("%s.percentile", of);
    double mean, p99;
    if (!read_number (reader, latency, of, "mean", (double)NAN, &mean, error) ||
        !read_number (reader, percentiles, at, "99.000000", (double)NAN, &p99, error))
      return FALSE;
    if (isnan (row->latency_mean_s) && mean > 0)
      row->latency_mean_s = mean * kinds[i].unit_s;
    if (isnan (row->latency_p99_s) && p99 > 0)
      row->latency_p99_s = p99 * kinds[i].unit_s;
  }
  return TRUE;
}

static void
check_side (CalImport *reader, CalPlace place, const CalStorage *row, double bytes, double blocks)
{
  double rate_Bps = row->runtime_s > 0 ? bytes / row->runtime_s : 0, mean_B = blocks > 0 ? bytes / blocks : 0;
  if (row->runtime_s > 0 && bytes > 0 && fabs (rate_Bps - row->rate_Bps) > RATE_SLACK * rate_Bps)
    cal_note (&reader->note[RATE], reader->text, place, "%g B in %g s are %.4g B/s, but the rate is %.4g B/s: kept", bytes,
              row->runtime_s, rate_Bps, row->rate_Bps);
  if (blocks > 0 && bytes > 0 && fabs (mean_B - (double)row->block_B) > BLOCK_SLACK * mean_B)
    cal_note (&reader->note[BLOCK], reader->text, place,
              "blocks of %" G_GUINT64_FORMAT " B were asked for, but %.6g B were moved at a time", row->block_B, mean_B);
}

static gboolean
read_side (CalImport *reader, const Job *job, const char *of, const char *direction, guint which, GError **error)
{
  JsonObject *side = base_json_object (job->object, direction);
  if (side == NULL)
    return TRUE;
  g_autofree char *path = g_strdup_printf ("%s.%s", of, direction);
  double bytes, kibibytes, blocks, rate, kibi_rate, runtime_ms;
  CalStorage row = { .tool = "fio", .job = job->name };
  if (!read_number (reader, side, path, "io_kbytes", 0, &kibibytes, error) ||
      !read_number (reader, side, path, "io_bytes", kibibytes * 1024, &bytes, error) ||
      !read_number (reader, side, path, "total_ios", 0, &blocks, error) ||
      !read_number (reader, side, path, "bw", 0, &kibi_rate, error) ||
      !read_number (reader, side, path, "bw_bytes", kibi_rate * 1024, &rate, error) ||
      !read_number (reader, side, path, "iops", (double)NAN, &row.iops, error) ||
      !read_number (reader, side, path, "runtime", 0, &runtime_ms, error) || !read_latency (reader, side, path, &row, error))
    return FALSE;
  if (bytes == 0 && blocks == 0)
    return TRUE; /* a direction that the job does not have */
  if (!(rate > 0)) {
    cal_note (&reader->note[IDLE], reader->text, CAL_AT (path), "no rate: left out");
    return TRUE;
  }
  const char *rw = option (job, "rw", "readwrite"), *bs = option (job, "bs", "blocksize"), *engine = option (job, "ioengine", NULL);
  const char *grouped = option (job, "group_reporting", NULL);
  g_autofree char *op = g_strconcat (rw != NULL && g_str_has_prefix (rw, "rand") ? "rand" : "", direction, NULL);
  row.op = op;
  row.path = g_strcmp0 (engine, "libcufile") != 0                      ? "host"
             : g_strcmp0 (option (job, "cuda_io", NULL), "posix") == 0 ? "host_gpu"
                                                                       : "gpu_direct";
  row.threads = grouped != NULL && strcmp (grouped, "0") != 0 ? option_count (job, "numjobs", 1) : 1;
  row.depth = option_count (job, "iodepth", 1);
  row.rate_Bps = rate;
  row.runtime_s = runtime_ms > 0 ? runtime_ms * 1e-3 : (double)NAN;
  row.block_B = bs != NULL ? block_of (bs, which) : 0;
  double mean_B = blocks > 0 ? bytes / blocks : 0;
  if (row.block_B == 0 && mean_B < 0x1p63)
    row.block_B = (guint64)floor (mean_B + 0.5);
  check_side (reader, CAL_AT (path), &row, bytes, blocks);
  cal_storage_write (reader, &row);
  return TRUE;
}

static gboolean
read_job (CalImport *reader, JsonObject *root, JsonArray *jobs, guint i, GError **error)
{
  static const char *const directions[] = { "read", "write", "trim" };
  g_autofree char *path = g_strdup_printf ("jobs[%u]", i);
  Job job = { .object = base_json_element (jobs, i), .global = base_json_object (root, "global options") };
  double failed;
  if (job.object == NULL || (job.name = base_json_text (job.object, "jobname")) == NULL)
    return cal_fail (reader->text, CAL_AT (path), error, "an object with jobname, read and write is accepted");
  if (!read_number (reader, job.object, path, "error", 0, &failed, error))
    return FALSE;
  if (failed != 0) {
    g_autofree char *shown = cal_shown (job.name);
    cal_note (&reader->note[FAILED], reader->text, CAL_AT (path), "job '%s' ended with error %g: left out", shown, failed);
    return TRUE;
  }
  job.options = base_json_object (job.object, "job options");
  for (guint d = 0; d < G_N_ELEMENTS (directions); d++)
    if (!read_side (reader, &job, path, directions[d], d, error))
      return FALSE;
  return TRUE;
}

static gboolean
read_document (void *reader, JsonObject *root, unsigned line, GError **error)
{
  CalImport *import = reader;
  import->known = TRUE;
  JsonArray *jobs = base_json_array (root, "jobs");
  if (jobs == NULL)
    return cal_fail (import->text, CAL_LINE (line), error,
                     "this is not fio's JSON: no `jobs`%s; what fio --output-format=json writes is accepted",
                     base_json_array (root, "client_stats") != NULL ? " (`client_stats` of --client is not read)" : "");
  for (guint i = 0; i < json_array_get_length (jobs); i++)
    if (!read_job (reader, root, jobs, i, error))
      return FALSE;
  return TRUE;
}

char *
cal_import_fio (const CalText *text, const CalFileInfo *told, GError **error)
{
  CalImport import;
  cal_import_open (&import, text, told, CAL_STORAGE_HEADER);
  gboolean good = cal_import_documents (&import, text, read_document, error);
  return cal_import_close (&import, good,
                           "this is not fio's JSON: no line begins with '{'; what fio --output-format=json writes is accepted",
                           "row", error);
}
