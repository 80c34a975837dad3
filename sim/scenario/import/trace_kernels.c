/* Times of kernels by the shapes of what launched them, in the format of forerun-probe.
 *
 * A call takes the sum of its kernels' durations, each with the gap between two kernels of a stream that were both queued in time,
 * since a probe's time is from the start of one kernel to that of the next. Calls that a collective ran beside are left out: it
 * slows them (docs/overlap.md). */
#include <math.h>
#include <string.h>

#include "base/stats.h"
#include "trace-private.h"

#define MOST_GAP_US 20.0 /* longer ones are waits */

typedef struct {
  char *what;    /* members of the point */
  GArray *times; /* double, s, one a call */
} Case;

struct ScnTraceKernels {
  GPtrArray *cases;                 /* Case, in the order of the files */
  GHashTable *by;                   /* what -> Case, borrowed */
  GArray *gaps;                     /* double, s */
  double pass_s, read_B, written_B; /* of all passes over memory together */
  guint n_passes;                   /* their kernels */
  char *gpu, *first;                /* NULL: no file yet; of which file */
};

typedef struct {
  guint64 operation;
  double time_s;
  guint n; /* kernels */
  gboolean disturbed, tf32;
} Call;

static void
free_case (gpointer data)
{
  Case *one = data;
  g_free (one->what);
  g_array_unref (one->times);
  g_free (one);
}

ScnTraceKernels *
scn_trace_kernels_new (void)
{
  ScnTraceKernels *kernels = g_new0 (ScnTraceKernels, 1);
  kernels->cases = g_ptr_array_new_with_free_func (free_case);
  kernels->by = g_hash_table_new (g_str_hash, g_str_equal);
  kernels->gaps = g_array_new (FALSE, FALSE, sizeof (double));
  return kernels;
}

void
scn_trace_kernels_free (ScnTraceKernels *kernels)
{
  g_hash_table_unref (kernels->by);
  g_ptr_array_unref (kernels->cases);
  g_array_unref (kernels->gaps);
  g_free (kernels->gpu);
  g_free (kernels->first);
  g_free (kernels);
}

/* ---- one file ---- */

/* 0 of none. */
static double
median (GArray *values)
{
  return values->len > 0 ? base_median ((double *)(void *)values->data, values->len) : 0;
}

/* Between neighbours of a stream, of which the second was queued before the first ended. s. */
static GArray *
gaps_of (const ScnTraceRank *rank)
{
  GArray *gaps = g_array_new (FALSE, FALSE, sizeof (double));
  g_autofree const ScnTraceActivity **last = g_new0 (const ScnTraceActivity *, rank->streams->len);
  for (guint i = 0; i < rank->activities->len; i++) {
    const ScnTraceActivity *here = scn_trace_activity (rank, i), *before = last[here->stream];
    last[here->stream] = here;
    if (before == NULL || !isfinite (here->launch_us) || here->launch_us >= before->end_us)
      continue;
    const double gap_us = here->start_us - before->end_us, gap_s = gap_us * 1e-6;
    if (gap_us >= 0 && gap_us < MOST_GAP_US)
      g_array_append_val (gaps, gap_s);
  }
  return gaps;
}

/* For each activity, whether a collective runs at any time beside it. Returned: full. */
static gboolean *
disturbed_of (const ScnTraceRank *rank)
{
  const guint n = rank->activities->len;
  gboolean *out = g_new0 (gboolean, MAX (n, 1));
  double ends_us = -(double)INFINITY, begins_us = (double)INFINITY;
  for (guint i = 0; i < n; i++) {
    const ScnTraceActivity *here = scn_trace_activity (rank, i);
    out[i] = here->start_us < ends_us;
    ends_us = here->what == SCN_TRACE_COLLECTIVE ? fmax (ends_us, here->end_us) : ends_us;
  }
  for (guint i = n; i-- > 0;) {
    const ScnTraceActivity *here = scn_trace_activity (rank, i);
    out[i] |= here->end_us > begins_us;
    begins_us = here->what == SCN_TRACE_COLLECTIVE && here->end_us > here->start_us ? here->start_us : begins_us;
  }
  return out;
}

/* Calls of the file, in the order of their first kernel. Returned: full. */
static GArray *
calls_of (const ScnTraceRank *rank, double gap_s)
{
  GArray *calls = g_array_new (FALSE, FALSE, sizeof (Call));
  g_autoptr (GHashTable) known = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  g_autofree gboolean *disturbed = disturbed_of (rank);
  for (guint i = 0; i < rank->activities->len; i++) {
    const ScnTraceActivity *here = scn_trace_activity (rank, i);
    if (!isfinite (here->launch_us) || !g_hash_table_contains (rank->operations, &here->operation))
      continue;
    guint at = GPOINTER_TO_UINT (g_hash_table_lookup (known, &here->operation));
    if (at == 0) {
      const Call call = { .operation = here->operation };
      g_array_append_val (calls, call);
      at = calls->len;
      g_hash_table_insert (known, g_memdup2 (&here->operation, sizeof here->operation), GUINT_TO_POINTER (at));
    }
    Call *call = &g_array_index (calls, Call, at - 1);
    call->time_s += (here->end_us - here->start_us) * 1e-6 + gap_s;
    call->n++;
    call->tf32 |= here->tf32;
    call->disturbed |= disturbed[i];
  }
  return calls;
}

static void
add_call (ScnTraceKernels *kernels, const ScnTraceRank *rank, const Call *call)
{
  const ScnTraceOperation *operation = g_hash_table_lookup (rank->operations, &call->operation);
  if (operation->what == NULL) {
    kernels->pass_s += call->time_s;
    kernels->read_B += operation->read_B;
    kernels->written_B += operation->written_B;
    kernels->n_passes += call->n;
    return;
  }
  g_autoptr (GString) what = g_string_new (operation->what);
  if (call->tf32)
    g_string_replace (what, "\"fp32\"", "\"tf32\"", 1);
  Case *one = g_hash_table_lookup (kernels->by, what->str);
  if (one == NULL) {
    one = g_new (Case, 1);
    *one = (Case){ g_strdup (what->str), g_array_new (FALSE, FALSE, sizeof (double)) };
    g_ptr_array_add (kernels->cases, one);
    g_hash_table_insert (kernels->by, one->what, one);
  }
  g_array_append_val (one->times, call->time_s);
}

static gboolean
check_gpu (ScnTraceKernels *kernels, const ScnTraceRank *rank, GError **error)
{
  const char *gpu = rank->gpu != NULL ? rank->gpu : "unknown";
  if (kernels->gpu == NULL) {
    kernels->gpu = g_strdup (gpu);
    kernels->first = g_strdup (rank->path);
  }
  return strcmp (kernels->gpu, gpu) == 0 ||
         scn_trace_fail (rank, 0, error, "its GPU is '%s', that of %s '%s'; accepted: one type of GPU", gpu, kernels->first,
                         kernels->gpu);
}

gboolean
scn_trace_kernels_add (ScnTraceKernels *kernels, const char *path, const char *bytes, gsize n_B, gint64 number, BaseDiag *warnings,
                       GError **error)
{
  const ScnTraceOptions options = { .keep_unsized = TRUE, .shapes = TRUE };
  g_autoptr (ScnTrace) trace = scn_trace_new (&options, warnings);
  if (!scn_trace_read_kineto (trace, path, bytes, n_B, error))
    return FALSE;
  ScnTraceRank *rank = scn_trace_rank (trace, 0);
  if (rank->n_shapes == 0)
    return scn_trace_fail (rank, 0, error,
                           "no operation has its shapes ('Input Dims'): record with torch.profiler.profile (…, "
                           "record_shapes=True), and ProfilerActivity.CPU and CUDA");
  if (!check_gpu (kernels, rank, error) || (number >= 0 && !scn_trace_take_step (trace, number, error)))
    return FALSE;
  if (rank->operations == NULL)
    return TRUE;
  scn_trace_sort (rank);
  g_autoptr (GArray) gaps = gaps_of (rank);
  g_autoptr (GArray) calls = calls_of (rank, median (gaps));
  g_array_append_vals (kernels->gaps, gaps->data, gaps->len);
  for (guint i = 0; i < calls->len; i++)
    if (!g_array_index (calls, Call, i).disturbed)
      add_call (kernels, rank, &g_array_index (calls, Call, i));
  return TRUE;
}

/* ---- the document ---- */

static void
append_s (GString *out, const char *key, double value_s)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  g_string_append_printf (out, ", \"%s\": %s", key, g_ascii_formatd (text, sizeof text, "%.6g", value_s));
}

/* The median's 95 % interval, as of a normal sample: clocks change within a step, so that calls spread. */
static void
append_times (GString *out, GArray *times)
{
  const double middle = median (times), n = times->len;
  double squares = 0;
  for (guint i = 0; i < times->len; i++)
    squares += pow (g_array_index (times, double, i) - middle, 2);
  const double half = times->len > 1 ? 1.96 * 1.25 * sqrt (squares / (n - 1) / n) : 0;
  append_s (out, "median_s", middle);
  append_s (out, "ci_lo_s", fmax (middle - half, 0));
  append_s (out, "ci_hi_s", middle + half);
  g_string_append_printf (out, ", \"samples\": %u", times->len);
}

/* All passes over memory as their mean: time is a line in bytes, so that the mean has the rate of the whole. */
static void
append_passes (const ScnTraceKernels *kernels, GString *out)
{
  const double n = kernels->n_passes;
  if (kernels->n_passes == 0 || kernels->written_B <= 0)
    return;
  g_string_append_printf (out, "%s\n  {\"section\": \"compute\", \"what\": \"passes\", \"read_B\": %.0f, \"written_B\": %.0f",
                          kernels->cases->len > 0 ? "," : "", kernels->read_B / n, kernels->written_B / n);
  append_s (out, "median_s", kernels->pass_s / n);
  append_s (out, "ci_lo_s", kernels->pass_s / n);
  append_s (out, "ci_hi_s", kernels->pass_s / n);
  g_string_append_printf (out, ", \"samples\": %u}", kernels->n_passes);
}

char *
scn_trace_kernels_write (const ScnTraceKernels *kernels, GError **error)
{
  if (kernels->cases->len == 0 && kernels->n_passes == 0) {
    base_fail_at (error, (BaseMark){ .file = kernels->first },
                  "no matrix product, fused attention or pass over memory is among the operations with shapes and "
                  "recorded kernels");
    return NULL;
  }
  g_autofree char *gpu = g_strescape (kernels->gpu, NULL);
  GString *out = g_string_new (NULL);
  g_string_append_printf (out, "{\"schema\": \"forerun-probe/1\", \"recorded\": true, \"complete\": true, \"gpu\": \"%s\"", gpu);
  append_s (out, "gap_s", median (kernels->gaps));
  g_string_append (out, ",\n \"points\": [");
  for (guint i = 0; i < kernels->cases->len; i++) {
    const Case *one = kernels->cases->pdata[i];
    g_string_append_printf (out, "%s\n  {\"section\": \"compute\", %s", i > 0 ? "," : "", one->what);
    append_times (out, one->times);
    g_string_append_c (out, '}');
  }
  append_passes (kernels, out);
  g_string_append (out, "\n]}\n");
  return g_string_free (out, FALSE);
}
