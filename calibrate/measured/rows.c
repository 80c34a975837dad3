/* CSV of copies and storage as points of a probe's file. */
#include "calibrate/rows.h"

#include <math.h>
#include <string.h>

#include "import/measured-private.h"

/* What tools copy where a file does not say (docs/measurements.md): nvbandwidth from 0.7 on, p2pBandwidthLatencyTest. */
static const double NVBANDWIDTH_B = 512.0 * 1024 * 1024, P2P_TEST_B = 160e6;
static const double MOST_B = 0x1p50, MOST_S = 1e5, MOST_BPS = 1e18;

typedef struct {
  const CalText *text;
  CalRowsKind kind;
  unsigned line;
  guint n_cells;     /* of the header; 0: not read yet */
  char **cell;       /* of the line */
  JsonArray *points; /* owned until the end */
  CalNote left, taken, local;
} Reader;

/* ---- what a file is ---- */

static gboolean
begins_with (const CalText *text, const char *header)
{
  const char *at = text->bytes + cal_text_start (text), *end = text->bytes + text->n_B;
  gsize n = strlen (header) - 1; /* without its line's end */
  while (at < end && *at == '#') {
    const char *next = memchr (at, '\n', (gsize)(end - at));
    at = next != NULL ? next + 1 : end;
  }
  return (gsize)(end - at) >= n && memcmp (at, header, n) == 0 && (at + n == end || at[n] == '\n' || at[n] == '\r');
}

CalRowsKind
cal_rows_kind (const CalText *text)
{
  return begins_with (text, CAL_COPY_HEADER)      ? CAL_ROWS_COPIES
         : begins_with (text, CAL_STORAGE_HEADER) ? CAL_ROWS_STORAGE
                                                  : CAL_ROWS_NONE;
}

/* ---- cells ---- */

static gboolean
fail (const Reader *r, GError **error, const char *column, const char *cell, const char *accepted)
{
  g_autofree char *shown = cal_shown (cell);
  return cal_fail (r->text, CAL_LINE (r->line), error, "%s is '%s'; %s", column, shown, accepted);
}

/* Above 0; NAN where the cell is empty, which is accepted. */
static gboolean
number_in (const Reader *r, guint i, const char *column, double most, double *out, GError **error)
{
  double half;
  *out = (double)NAN;
  if (*r->cell[i] == '\0')
    return TRUE;
  return (cal_decimal (r->cell[i], out, &half) && *out > 0 && *out <= most) ||
         fail (r, error, column, r->cell[i], "a number above 0, or nothing, is accepted");
}

/* A GPU, or -1. */
static gboolean
device_in (const Reader *r, guint i, const char *column, int *out, GError **error)
{
  guint64 value;
  *out = CAL_HOST;
  if (strcmp (r->cell[i], "-1") == 0)
    return TRUE;
  if (!cal_whole (r->cell[i], 1023, &value))
    return fail (r, error, column, r->cell[i], "a GPU's number, or -1 for the host, is accepted");
  *out = (int)value;
  return TRUE;
}

static JsonObject *
add_point (Reader *r, const char *section, const char *what, double time_s)
{
  static const char *const times[] = { "median_s", "ci_lo_s", "ci_hi_s" };
  JsonObject *point = json_object_new ();
  json_object_set_string_member (point, "section", section);
  json_object_set_string_member (point, "what", what);
  for (guint i = 0; i < G_N_ELEMENTS (times); i++) /* one time, of which nobody says how sure it is */
    json_object_set_double_member (point, times[i], time_s);
  json_array_add_object_element (r->points, point);
  return point;
}

/* ---- copies ---- */

typedef enum { PAIR, TO_GPU, FROM_GPU, LOAD_HOST } Ends;
static const struct {
  const char *kind, *what, *pattern, *by;
  Ends ends;
} copies[] = {
  { "host_to_device_memcpy_ce", "h2d", NULL, NULL, TO_GPU },
  { "device_to_host_memcpy_ce", "d2h", NULL, NULL, FROM_GPU },
  { "device_to_device_memcpy_read_ce", "ce", "one", NULL, PAIR },
  { "device_to_device_memcpy_write_ce", "ce", "one", NULL, PAIR },
  { "device_to_device_memcpy_read_sm", "sm", "one", "read", PAIR },
  { "device_to_device_memcpy_write_sm", "sm", "one", "write", PAIR },
  { "device_to_device_bidirectional_memcpy_read_ce_total", "ce", "both", NULL, PAIR },
  { "device_to_device_bidirectional_memcpy_write_ce_total", "ce", "both", NULL, PAIR },
  { "device_to_device_bidirectional_memcpy_read_sm_total", "sm", "both", "read", PAIR },
  { "device_to_device_bidirectional_memcpy_write_sm_total", "sm", "both", "write", PAIR },
  { "host_device_latency_sm", "latency", NULL, NULL, LOAD_HOST },
  { "unidirectional_p2p_on", "ce", "one", NULL, PAIR },
  { "unidirectional_p2p_on_write", "ce", "one", NULL, PAIR },
  { "unidirectional_p2p_on_read", "ce", "one", NULL, PAIR },
  { "bidirectional_p2p_on", "ce", "both", NULL, PAIR },
};

static gboolean
find_copy (const char *kind, guint *which)
{
  for (*which = 0; *which < G_N_ELEMENTS (copies); (*which)++)
    if (strcmp (copies[*which].kind, kind) == 0)
      return TRUE;
  return FALSE;
}

/* kind,src,dst,bytes,seconds,GBps */
static gboolean
read_copy (Reader *r, GError **error)
{
  int src, dst;
  double bytes, time_s, rate_GBps;
  guint which;
  if (!device_in (r, 1, "src", &src, error) || !device_in (r, 2, "dst", &dst, error) ||
      !number_in (r, 3, "bytes", MOST_B, &bytes, error) || !number_in (r, 4, "seconds", MOST_S, &time_s, error) ||
      !number_in (r, 5, "GBps", MOST_BPS * 1e-9, &rate_GBps, error))
    return FALSE;
  if (g_str_has_suffix (r->cell[0], "_local") && src == dst && isfinite (rate_GBps)) {
    cal_note (
        &r->local, r->text, CAL_LINE (r->line),
        "a copy within GPU %d moves %.4g GB/s of its memory; memory_efficiency of the GPU's type over memory_bandwidth is where "
        "that goes, no constant depends on it",
        src, rate_GBps);
    return TRUE;
  }
  if (!find_copy (r->cell[0], &which)) {
    g_autofree char *shown = cal_shown (r->cell[0]);
    cal_note (&r->left, r->text, CAL_LINE (r->line), "no constant is told by '%s': left out", shown);
    return TRUE;
  }
  gboolean load = copies[which].ends == LOAD_HOST, both = g_strcmp0 (copies[which].pattern, "both") == 0;
  if (!load && isnan (bytes) && isfinite (rate_GBps)) {
    gboolean sample = strstr (copies[which].kind, "_p2p_on") != NULL;
    bytes = sample ? P2P_TEST_B : NVBANDWIDTH_B;
    time_s = (both ? 2 : 1) * bytes / (rate_GBps * 1e9);
    cal_note (&r->taken, r->text, CAL_LINE (r->line), "no size of a copy: %s's default, %.0f B, is taken (forerun import --copy)",
              sample ? "p2pBandwidthLatencyTest" : "nvbandwidth", bytes);
  }
  if (isnan (time_s) || (!load && isnan (bytes)))
    return cal_fail (r->text, CAL_LINE (r->line), error, "neither seconds nor GBps: a copy has one of them");
  if (copies[which].ends == PAIR && (src < 0 || dst < 0 || src == dst))
    return cal_fail (r->text, CAL_LINE (r->line), error, "'%s' from %d to %d: two GPUs are accepted", copies[which].kind, src, dst);
  int gpu = copies[which].ends == TO_GPU ? dst : copies[which].ends == FROM_GPU ? src : MAX (src, dst);
  if (gpu < 0)
    return cal_fail (r->text, CAL_LINE (r->line), error, "'%s' from %d to %d: a GPU is accepted", copies[which].kind, src, dst);
  JsonObject *point = add_point (r, "link", copies[which].what, time_s);
  if (copies[which].ends == PAIR) {
    json_object_set_string_member (point, "pattern", copies[which].pattern);
    json_object_set_int_member (point, "src", src);
    json_object_set_int_member (point, "dst", dst);
    if (copies[which].by != NULL)
      json_object_set_string_member (point, "by", copies[which].by);
  } else {
    json_object_set_string_member (point, "memory", load ? "host" : "pinned");
    json_object_set_int_member (point, "gpu", gpu);
    json_object_set_int_member (point, "gpus", 1);
  }
  if (!load)
    json_object_set_double_member (point, "bytes", bytes);
  return TRUE;
}

/* ---- storage ---- */

/* tool,job,op,path,block_B,threads,depth,rate_Bps,iops,… */
static gboolean
read_storage (Reader *r, GError **error)
{
  static const char *const paths[][2] = { { "host", "host" }, { "gpu_direct", "cufile" }, { "host_gpu", "bounce" } };
  const char *op = r->cell[2], *path = NULL;
  double block_B, threads, depth, rate_Bps;
  if (!number_in (r, 4, "block_B", MOST_B, &block_B, error) || !number_in (r, 5, "threads", 1e6, &threads, error) ||
      !number_in (r, 6, "depth", 1e6, &depth, error) || !number_in (r, 7, "rate_Bps", MOST_BPS, &rate_Bps, error))
    return FALSE;
  gboolean random = g_str_has_prefix (op, "rand");
  const char *what = random ? op + strlen ("rand") : op;
  for (guint i = 0; i < G_N_ELEMENTS (paths); i++)
    path = strcmp (r->cell[3], paths[i][0]) == 0 ? paths[i][1] : path;
  if ((strcmp (what, "read") != 0 && strcmp (what, "write") != 0) || path == NULL || isnan (block_B) || isnan (rate_Bps)) {
    g_autofree char *shown = cal_shown (op);
    cal_note (&r->left, r->text, CAL_LINE (r->line), "'%s' without %s: left out", shown,
              path == NULL      ? "a path that is known"
              : isnan (block_B) ? "a size of its blocks"
                                : "a rate, or no read or write");
    return TRUE;
  }
  threads = isnan (threads) ? 1 : threads;
  depth = isnan (depth) ? 1 : depth;
  JsonObject *point = add_point (r, "storage", what, threads * depth * block_B / rate_Bps);
  json_object_set_string_member (point, "path", path);
  json_object_set_string_member (point, "pattern", random ? "random" : "sequential");
  json_object_set_double_member (point, "threads", threads);
  json_object_set_double_member (point, "depth", depth);
  json_object_set_double_member (point, "block_B", block_B);
  return TRUE;
}

/* ---- files ---- */

static gboolean
read_line (void *user, char *line, unsigned number, GError **error)
{
  Reader *r = user;
  r->line = number;
  g_auto (GStrv) cells = g_strsplit (line, ",", -1);
  guint n = g_strv_length (cells);
  r->cell = cells;
  if (r->n_cells == 0) {
    r->n_cells = n; /* the header */
    return TRUE;
  }
  if (n != r->n_cells)
    return cal_fail (r->text, CAL_LINE (r->line), error, "%u cells where the header has %u", n, r->n_cells);
  return r->kind == CAL_ROWS_COPIES ? read_copy (r, error) : read_storage (r, error);
}

CalProbe *
cal_rows_probe (const CalText *text, GError **error)
{
  CalRowsKind kind = cal_rows_kind (text);
  if (kind == CAL_ROWS_NONE) {
    cal_fail (text, CAL_LINE (1), error, "the header is of no CSV of copies or storage; what forerun import writes is accepted");
    return NULL;
  }
  Reader reader = { .text = text, .kind = kind, .points = json_array_new () };
  gboolean good = cal_csv_lines (&reader, text, read_line, error);
  cal_note_end (&reader.left, text);
  cal_note_end (&reader.taken, text);
  cal_note_end (&reader.local, text);
  if (!good) {
    json_array_unref (reader.points);
    return NULL;
  }
  JsonObject *root = json_object_new ();
  json_object_set_boolean_member (root, "complete", TRUE);
  json_object_set_array_member (root, "points", reader.points);
  return cal_probe_new (text->path, root);
}
