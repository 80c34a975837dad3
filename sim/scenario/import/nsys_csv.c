/* Nsight Systems: the table of `nsys stats --report cuda_gpu_trace --format csv`: kernels and copies of a GPU, without the host's
 * calls and without sizes of NCCL's operations. */
#include <math.h>
#include <string.h>

#include "trace-private.h"

enum { START, DURATION, CORRELATION, BYTES, DEVICE, STREAM, NAME, N_COLUMNS };

typedef struct {
  const char *names[2]; /* as the first line has them: of nanoseconds, and of older releases */
  gboolean needed;
} Column;

static const Column columns[N_COLUMNS] = { [START] = { { "Start (ns)", "Start(nsec)" }, TRUE },
                                           [DURATION] = { { "Duration (ns)", "Duration(nsec)" }, TRUE },
                                           [CORRELATION] = { { "CorrId", "CorrID" }, FALSE },
                                           [BYTES] = { { "Bytes (MB)", "Bytes(MB)" }, FALSE },
                                           [DEVICE] = { { "Device", "Device" }, FALSE },
                                           [STREAM] = { { "Strm", "Stream" }, TRUE },
                                           [NAME] = { { "Name", "Name" }, TRUE } };

/* The cells of a line; quotes hold commas, and two of them one. Returned: full. */
static GPtrArray *
cells_of (const char *from, const char *to)
{
  GPtrArray *cells = g_ptr_array_new_with_free_func (g_free);
  GString *cell = g_string_new (NULL);
  gboolean quoted = FALSE;
  for (const char *c = from; c < to; c++) {
    if (*c == '"' && quoted && c + 1 < to && c[1] == '"')
      g_string_append_c (cell, *c++);
    else if (*c == '"')
      quoted = !quoted;
    else if (*c == ',' && !quoted) {
      g_ptr_array_add (cells, g_string_free (cell, FALSE));
      cell = g_string_new (NULL);
    } else if (*c != '\r')
      g_string_append_c (cell, *c);
  }
  g_ptr_array_add (cells, g_string_free (cell, FALSE));
  return cells;
}

static gboolean
read_head (const ScnTraceRank *rank, guint line, const GPtrArray *cells, int at[N_COLUMNS], GError **error)
{
  for (guint k = 0; k < N_COLUMNS; k++) {
    at[k] = -1;
    for (guint i = 0; i < cells->len; i++)
      if (strcmp (cells->pdata[i], columns[k].names[0]) == 0 || strcmp (cells->pdata[i], columns[k].names[1]) == 0)
        at[k] = (int)i;
    if (at[k] < 0 && columns[k].needed)
      return scn_trace_fail (rank, line, error, "no column '%s'; accepted: the CSV of 'nsys stats --report cuda_gpu_trace'",
                             columns[k].names[0]);
  }
  return TRUE;
}

/* A number of a cell; NAN: empty or none. */
static double
number_at (const GPtrArray *cells, int at)
{
  char *rest = NULL;
  if (at < 0 || (guint)at >= cells->len || *(const char *)cells->pdata[at] == '\0')
    return (double)NAN;
  double value = g_ascii_strtod (cells->pdata[at], &rest);
  return *rest == '\0' ? value : (double)NAN;
}

static gboolean
read_row (ScnTrace *trace, ScnTraceRank *rank, guint line, const GPtrArray *cells, const int at[N_COLUMNS], GError **error)
{
  const double start = number_at (cells, at[START]), time = number_at (cells, at[DURATION]), stream = number_at (cells, at[STREAM]);
  if (!isfinite (start) || !(time >= 0) || !(stream >= 0 && stream < 1e18) || (guint)at[NAME] >= cells->len)
    return scn_trace_fail (rank, line, error,
                           "a row has a start, a duration of 0 ns or more, a stream and a name; the file may be cut off");
  const char *name = cells->pdata[at[NAME]];
  const double bytes = number_at (cells, at[BYTES]), correlation = number_at (cells, at[CORRELATION]);
  const gboolean copy = strstr (name, "memcpy") != NULL || strstr (name, "memset") != NULL;
  ScnTraceActivity one = { .start_us = start / 1e3,
                           .end_us = (start + time) / 1e3,
                           .launch_us = (double)NAN,
                           .correlation = correlation > 0 ? (guint64)correlation : 0,
                           .line = line,
                           .what = copy ? SCN_TRACE_COPY : scn_trace_class_of (name),
                           .bytes = bytes > 0 ? bytes * 1e6 : 0 };
  one.stream = scn_trace_stream (rank, (guint64)stream);
  one.to_gpu = strstr (name, "Host-to-Device") != NULL || strstr (name, "HtoD") != NULL;
  one.to_host = strstr (name, "Device-to-Host") != NULL || strstr (name, "DtoH") != NULL;
  if (one.what == SCN_TRACE_COLLECTIVE) {
    if (!trace->options.keep_unsized)
      return scn_trace_fail (rank, line, error,
                             "a kernel of NCCL, whose size this table does not hold; accepted: the SQLite of 'nsys "
                             "export', or --keep-nccl, which keeps the times that were recorded");
    one.kept = TRUE;
    one.group = scn_trace_group (trace, "of all ranks", trace->options.ranks);
  }
  g_array_append_val (rank->activities, one);
  return TRUE;
}

gboolean
scn_trace_read_nsys_csv (ScnTrace *trace, const char *path, const char *bytes, gsize n_B, GError **error)
{
  g_autoptr (ScnTraceRank) rank = scn_trace_rank_new (path);
  int at[N_COLUMNS];
  guint line = 0;
  double device = (double)NAN;
  gboolean head = FALSE;
  for (const char *from = bytes, *end = bytes + n_B; from < end;) {
    const char *stop = memchr (from, '\n', (gsize)(end - from)), *to = stop != NULL ? stop : end;
    g_autoptr (GPtrArray) cells = cells_of (from, to);
    line++;
    from = to + 1;
    if (!head && strstr (cells->pdata[0], "Start") == NULL)
      continue; /* what nsys says before the table */
    if (!head) {
      if (!read_head (rank, line, cells, at, error))
        return FALSE;
      head = TRUE;
      continue;
    }
    if (cells->len == 1 && *(const char *)cells->pdata[0] == '\0')
      continue;
    if (stop == NULL)
      return scn_trace_fail (rank, line, error, "the last row does not end: cut off; write the table again");
    if (!read_row (trace, rank, line, cells, at, error))
      return FALSE;
    if (at[DEVICE] < 0 || (guint)at[DEVICE] >= cells->len)
      continue;
    const char *name = cells->pdata[at[DEVICE]], *number = strrchr (name, '(');
    const double of = number != NULL ? g_ascii_strtod (number + 1, NULL) : g_ascii_strtod (name, NULL);
    if (isfinite (device) && of != device)
      return scn_trace_fail (rank, line, error,
                             "GPUs %.0f and %.0f in one table; accepted: one GPU, or the SQLite of 'nsys export'", device, of);
    device = of;
    if (rank->gpu == NULL)
      rank->gpu = g_strndup (name, number != NULL ? (gsize)(number - name) : strlen (name));
  }
  if (!scn_trace_has_kernels (rank))
    return scn_trace_fail (rank, 0, error,
                           "no rows of kernels; accepted: the CSV of 'nsys stats --report cuda_gpu_trace', or the SQLite "
                           "of 'nsys export'");
  if (rank->gpu != NULL)
    g_strstrip (rank->gpu);
  rank->rank = trace->ranks->len;
  rank->world = trace->options.ranks;
  if (rank->rank >= rank->world)
    return scn_trace_fail (rank, 0, error, "GPU %u of a run of %u ranks; --ranks N says how many ranks ran", rank->rank + 1,
                           rank->world);
  g_ptr_array_add (trace->ranks, g_steal_pointer (&rank));
  return TRUE;
}

gboolean
scn_trace_read_nsys (ScnTrace *trace, const char *path, const char *bytes, gsize n_B, GError **error)
{
  static const char magic[] = "SQLite format 3";
  if (n_B > sizeof magic && memcmp (bytes, magic, sizeof magic) == 0)
    return scn_trace_read_nsys_sqlite (trace, path, bytes, n_B, error);
  if (g_str_has_suffix (path, ".nsys-rep") || g_str_has_suffix (path, ".qdrep"))
    return base_fail_at (error, (BaseMark){ .file = path },
                         "a report of Nsight Systems; accepted: its export, 'nsys export --type sqlite %s'", path);
  return scn_trace_read_nsys_csv (trace, path, bytes, n_B, error);
}
