/* A trace of GPUs: its ranks, communicators and steps. */
#include "trace-private.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

const BaseName scn_trace_class_names[] = { { "gemm", SCN_TRACE_GEMM, "matrix products" },
                                           { "attention", SCN_TRACE_ATTENTION, "fused attention" },
                                           { "convolution", SCN_TRACE_CONVOLUTION, "convolutions" },
                                           { "norm", SCN_TRACE_NORM, "normalisation and softmax" },
                                           { "optimizer", SCN_TRACE_OPTIMIZER, "optimizer and gradient clipping" },
                                           { "other", SCN_TRACE_OTHER, "other kernels" },
                                           { "copy", SCN_TRACE_COPY, "copies and fills" },
                                           { "collective", SCN_TRACE_COLLECTIVE, "NCCL's kernels" },
                                           { NULL, 0, NULL } };

/* ---- lifetimes ---- */

static void
clear_activity (gpointer data)
{
  ScnTraceActivity *activity = data;
  g_clear_pointer (&activity->waits, g_array_unref);
}

static void
clear_group (gpointer data)
{
  ScnTraceGroup *group = data;
  g_free (group->key);
  g_array_unref (group->ranks);
}

ScnTraceRank *
scn_trace_rank_new (const char *path)
{
  ScnTraceRank *rank = g_new0 (ScnTraceRank, 1);
  rank->path = g_strdup (path);
  rank->streams = g_array_new (FALSE, FALSE, sizeof (guint64));
  rank->activities = g_array_new (FALSE, TRUE, sizeof (ScnTraceActivity));
  g_array_set_clear_func (rank->activities, clear_activity);
  rank->waits = g_array_new (FALSE, FALSE, sizeof (ScnTraceWait));
  rank->steps = g_array_new (FALSE, FALSE, sizeof (ScnTraceStep));
  return rank;
}

void
scn_trace_rank_free (ScnTraceRank *rank)
{
  g_free (rank->path);
  g_free (rank->gpu);
  g_array_unref (rank->streams);
  g_array_unref (rank->activities);
  g_array_unref (rank->waits);
  g_array_unref (rank->steps);
  g_clear_pointer (&rank->operations, g_hash_table_unref);
  g_free (rank);
}

ScnTrace *
scn_trace_new (const ScnTraceOptions *options, BaseDiag *warnings)
{
  ScnTrace *trace = g_new0 (ScnTrace, 1);
  trace->options = *options;
  trace->warnings = warnings;
  trace->ranks = g_ptr_array_new_with_free_func ((GDestroyNotify)scn_trace_rank_free);
  trace->groups = g_array_new (FALSE, TRUE, sizeof (ScnTraceGroup));
  g_array_set_clear_func (trace->groups, clear_group);
  return trace;
}

void
scn_trace_free (ScnTrace *trace)
{
  g_ptr_array_unref (trace->ranks);
  g_array_unref (trace->groups);
  g_free (trace);
}

/* ---- parts ---- */

ScnTraceRank *
scn_trace_rank (const ScnTrace *trace, guint i)
{
  return trace->ranks->pdata[i];
}

ScnTraceActivity *
scn_trace_activity (const ScnTraceRank *rank, guint i)
{
  return &g_array_index (rank->activities, ScnTraceActivity, i);
}

guint
scn_trace_stream (ScnTraceRank *rank, guint64 id)
{
  for (guint i = 0; i < rank->streams->len; i++)
    if (g_array_index (rank->streams, guint64, i) == id)
      return i;
  g_array_append_val (rank->streams, id);
  return rank->streams->len - 1;
}

guint
scn_trace_group (ScnTrace *trace, const char *key, guint size)
{
  for (guint i = 0; i < trace->groups->len; i++)
    if (strcmp (g_array_index (trace->groups, ScnTraceGroup, i).key, key) == 0)
      return i;
  ScnTraceGroup group = { .key = g_strdup (key), .size = size, .ranks = g_array_new (FALSE, FALSE, sizeof (guint32)) };
  g_array_append_val (trace->groups, group);
  return trace->groups->len - 1;
}

gboolean
scn_trace_has_kernels (const ScnTraceRank *rank)
{
  for (guint i = 0; i < rank->activities->len; i++)
    if (g_array_index (rank->activities, ScnTraceActivity, i).what != SCN_TRACE_COPY)
      return TRUE;
  return FALSE;
}

gboolean
scn_trace_fail (const ScnTraceRank *rank, guint line, GError **error, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *what = g_strdup_vprintf (format, args);
  va_end (args);
  return base_fail_at (error, (BaseMark){ .file = rank->path, .line = line }, "%s", what);
}

/* Words of kernels' names, as cuBLAS, cuDNN, CUTLASS, PyTorch, Triton and rocBLAS write them; the first that is found counts. */
ScnTraceClass
scn_trace_class_of (const char *kernel)
{
  static const struct {
    const char *word;
    ScnTraceClass what;
  } words[] = { { "nccl", SCN_TRACE_COLLECTIVE },   { "flash", SCN_TRACE_ATTENTION },
                { "fmha", SCN_TRACE_ATTENTION },    { "attention", SCN_TRACE_ATTENTION },
                { "attn", SCN_TRACE_ATTENTION },    { "multi_tensor", SCN_TRACE_OPTIMIZER },
                { "adam", SCN_TRACE_OPTIMIZER },    { "conv", SCN_TRACE_CONVOLUTION },
                { "cudnn", SCN_TRACE_CONVOLUTION }, { "winograd", SCN_TRACE_CONVOLUTION },
                { "fprop", SCN_TRACE_CONVOLUTION }, { "dgrad", SCN_TRACE_CONVOLUTION },
                { "wgrad", SCN_TRACE_CONVOLUTION }, { "gemm", SCN_TRACE_GEMM },
                { "gemv", SCN_TRACE_GEMM },         { "cutlass", SCN_TRACE_GEMM },
                { "nvjet", SCN_TRACE_GEMM },        { "cijk_", SCN_TRACE_GEMM },
                { "matmul", SCN_TRACE_GEMM },       { "xmma", SCN_TRACE_GEMM },
                { "splitk", SCN_TRACE_GEMM },       { "norm", SCN_TRACE_NORM },
                { "softmax", SCN_TRACE_NORM },      { "memcpy", SCN_TRACE_COPY },
                { "memset", SCN_TRACE_COPY } };
  g_autofree char *lower = g_ascii_strdown (kernel, -1);
  if (strstr (lower, "bn_fw") != NULL || strstr (lower, "bn_bw") != NULL)
    return SCN_TRACE_NORM; /* cudnn's batch norm */
  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (strstr (lower, words[i].word) != NULL)
      return words[i].what;
  return SCN_TRACE_OTHER;
}

gboolean
scn_trace_kernel_op (const char *name, MdlOp *op)
{
  /* In lower case without '_'; the first that is part of a name counts. */
  static const struct {
    const char *word;
    MdlOp op;
  } words[] = { { "reducescatter", MDL_OP_REDUCE_SCATTER },
                { "allreduce", MDL_OP_ALL_REDUCE },
                { "allgather", MDL_OP_ALL_GATHER },
                { "alltoall", MDL_OP_ALLTOALL },
                { "broadcast", MDL_OP_BROADCAST },
                { "barrier", MDL_OP_ALL_REDUCE },
                { "reduce", MDL_OP_REDUCE },
                { "send", MDL_OP_SENDRECV },
                { "recv", MDL_OP_SENDRECV },
                { "p2p", MDL_OP_SENDRECV } };
  g_autofree char *lower = g_ascii_strdown (name, -1);
  g_auto (GStrv) parts = g_strsplit (lower, "_", -1);
  g_autofree char *word = g_strjoinv ("", parts);
  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (strstr (word, words[i].word) != NULL) {
      *op = words[i].op;
      return TRUE;
    }
  return FALSE;
}

gint64
scn_trace_step (const ScnTrace *trace)
{
  return trace->step;
}

guint
scn_trace_world (const ScnTrace *trace)
{
  return scn_trace_rank (trace, 0)->world;
}

const char *
scn_trace_gpu (const ScnTrace *trace)
{
  return scn_trace_rank (trace, 0)->gpu;
}

/* ---- the step ---- */

static int
by_start (const void *a, const void *b)
{
  const ScnTraceActivity *x = a, *y = b;
  if (x->start_us != y->start_us)
    return x->start_us < y->start_us ? -1 : 1;
  return x->line < y->line ? -1 : x->line > y->line;
}

void
scn_trace_sort (ScnTraceRank *rank)
{
  g_array_sort (rank->activities, by_start);
}

static int
by_rank (const void *a, const void *b)
{
  const ScnTraceRank *x = *(ScnTraceRank *const *)a, *y = *(ScnTraceRank *const *)b;
  return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static const ScnTraceStep *
find_step (const ScnTraceRank *rank, gint64 number)
{
  for (guint i = 0; i < rank->steps->len; i++)
    if (g_array_index (rank->steps, ScnTraceStep, i).number == number)
      return &g_array_index (rank->steps, ScnTraceStep, i);
  return NULL;
}

/* When the activity was queued, or began. */
static double
queued_us (const ScnTraceActivity *activity)
{
  return isnan (activity->launch_us) ? activity->start_us : activity->launch_us;
}

/* From the end of what was queued before the step to the end of the step's last activity, so that steps add up. */
static guint
window (ScnTraceRank *rank, const ScnTraceStep *step)
{
  double first_us = (double)INFINITY, before_us = -(double)INFINITY;
  guint n = 0;
  rank->end_us = -(double)INFINITY;
  for (guint i = 0; i < rank->activities->len; i++) {
    const ScnTraceActivity *activity = scn_trace_activity (rank, i);
    if (queued_us (activity) < step->begin_us)
      before_us = fmax (before_us, activity->end_us);
    else if (queued_us (activity) < step->end_us) {
      first_us = fmin (first_us, activity->start_us);
      rank->end_us = fmax (rank->end_us, activity->end_us);
      n++;
    }
  }
  rank->begin_us = fmin (isfinite (before_us) ? before_us : step->begin_us, first_us);
  if (rank->begin_us <= -DBL_MAX) /* taken whole */
    rank->begin_us = first_us;
  return n;
}

/* What was queued before the trace began is in no step, the whole trace included. */
static const ScnTraceStep whole = { -1, -DBL_MAX, (double)INFINITY };

static gboolean
in_all (const ScnTrace *trace, gint64 number)
{
  for (guint r = 0; r < trace->ranks->len; r++)
    if (find_step (scn_trace_rank (trace, r), number) == NULL ||
        window (scn_trace_rank (trace, r), find_step (scn_trace_rank (trace, r), number)) == 0)
      return FALSE;
  return TRUE;
}

typedef struct {
  double time_us;
  gint64 number;
} Length;

static int
by_length (const void *a, const void *b)
{
  const Length *x = a, *y = b;
  if (x->time_us != y->time_us)
    return x->time_us < y->time_us ? -1 : 1;
  return x->number < y->number ? -1 : x->number > y->number;
}

/* Of steps that all ranks have, the one of median length in the first rank. FALSE: there is none. */
static gboolean
median_step (const ScnTrace *trace, gint64 *number)
{
  ScnTraceRank *first = scn_trace_rank (trace, 0);
  g_autoptr (GArray) lengths = g_array_new (FALSE, FALSE, sizeof (Length));
  for (guint i = 0; i < first->steps->len; i++) {
    const ScnTraceStep *step = &g_array_index (first->steps, ScnTraceStep, i);
    if (!in_all (trace, step->number))
      continue;
    window (first, step);
    const Length one = { first->end_us - first->begin_us, step->number };
    g_array_append_val (lengths, one);
  }
  if (lengths->len == 0)
    return FALSE;
  g_array_sort (lengths, by_length);
  *number = g_array_index (lengths, Length, (lengths->len - 1) / 2).number;
  return TRUE;
}

static gboolean
keep_step (ScnTraceRank *rank, gint64 number, GError **error)
{
  const ScnTraceStep *step = number < 0 ? &whole : find_step (rank, number);
  if (step == NULL) {
    const guint n = rank->steps->len;
    if (n == 0)
      return scn_trace_fail (rank, 0, error, "the trace marks no steps; leave --step out to take it whole");
    return scn_trace_fail (
        rank, 0, error,
        "step %" G_GINT64_FORMAT " is not in the trace of rank %u; it has %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT, number,
        rank->rank, g_array_index (rank->steps, ScnTraceStep, 0).number, g_array_index (rank->steps, ScnTraceStep, n - 1).number);
  }
  if (window (rank, step) == 0)
    return scn_trace_fail (rank, 0, error,
                           "step %" G_GINT64_FORMAT " of rank %u has no kernel; accepted: a step that the profiler "
                           "recorded whole",
                           number, rank->rank);
  for (guint i = rank->activities->len; i-- > 0;) {
    const ScnTraceActivity *activity = scn_trace_activity (rank, i);
    if (!(queued_us (activity) >= step->begin_us && queued_us (activity) < step->end_us))
      g_array_remove_index_fast (rank->activities, i);
  }
  scn_trace_sort (rank);
  return TRUE;
}

typedef struct {
  double at_us;
  guint activity;
} Called;

static int
by_call (const void *a, const void *b)
{
  const Called *x = a, *y = b;
  if (x->at_us != y->at_us)
    return x->at_us < y->at_us ? -1 : 1;
  return x->activity < y->activity ? -1 : x->activity > y->activity;
}

/* Collectives of a rank on a communicator, in the order of the host's calls: streams may run them in another. */
static GArray *
calls_of (ScnTraceRank *rank, guint group)
{
  GArray *calls = g_array_new (FALSE, FALSE, sizeof (Called));
  for (guint i = 0; i < rank->activities->len; i++) {
    const ScnTraceActivity *activity = scn_trace_activity (rank, i);
    const Called call = { queued_us (activity), i };
    if (activity->what == SCN_TRACE_COLLECTIVE && activity->group == group && !activity->kept)
      g_array_append_val (calls, call);
  }
  g_array_sort (calls, by_call);
  for (guint n = 0; n < calls->len; n++)
    scn_trace_activity (rank, g_array_index (calls, Called, n).activity)->nth = n;
  return calls;
}

static const ScnTraceActivity *
nth_of (const ScnTraceRank *rank, const GArray *calls, guint n)
{
  return n < calls->len ? scn_trace_activity (rank, g_array_index (calls, Called, n).activity) : NULL;
}

/* Numbers the collectives of a communicator. The n-th has to be the same operation in all ranks. */
static gboolean
number_collectives (const ScnTrace *trace, guint group, GError **error)
{
  const char *key = g_array_index (trace->groups, ScnTraceGroup, group).key;
  g_autoptr (GArray) first = NULL;
  const ScnTraceRank *one = NULL;
  for (guint r = 0; r < trace->ranks->len; r++) {
    ScnTraceRank *rank = scn_trace_rank (trace, r);
    g_autoptr (GArray) calls = calls_of (rank, group);
    if (calls->len == 0)
      continue;
    if (one == NULL) {
      one = rank;
      first = g_steal_pointer (&calls);
      continue;
    }
    for (guint n = 0; n < calls->len; n++) {
      const ScnTraceActivity *activity = nth_of (rank, calls, n), *other = nth_of (one, first, n);
      if (other == NULL || other->op != activity->op)
        return scn_trace_fail (rank, activity->line, error,
                               "collective %u of communicator '%s' is %s in rank %u, and %s in rank %u "
                               "(%s:%u); the traces are not of one run, or one is cut off",
                               n + 1, key, base_name (mdl_op_names, (int)activity->op), rank->rank,
                               other != NULL ? base_name (mdl_op_names, (int)other->op) : "missing", one->rank, one->path,
                               other != NULL ? other->line : 0);
    }
    if (calls->len < first->len)
      return scn_trace_fail (rank, 0, error, "rank %u has %u collectives of communicator '%s' in the step, rank %u has %u",
                             rank->rank, calls->len, key, one->rank, first->len);
  }
  return TRUE;
}

static gboolean
check_ranks (const ScnTrace *trace, GError **error)
{
  const ScnTraceRank *first = scn_trace_rank (trace, 0);
  for (guint r = 1; r < trace->ranks->len; r++) {
    const ScnTraceRank *rank = scn_trace_rank (trace, r), *before = scn_trace_rank (trace, r - 1);
    if (rank->rank == before->rank)
      return scn_trace_fail (rank, 0, error, "rank %u is also the rank of %s; accepted: one file a rank", rank->rank, before->path);
    if (rank->world != first->world)
      return scn_trace_fail (rank, 0, error, "the run has %u ranks here, and %u in %s; accepted: files of one run", rank->world,
                             first->world, first->path);
  }
  if (trace->ranks->len < first->world)
    base_diag_warn (trace->warnings, (BaseMark){ .file = first->path },
                    "traces of %u of %u ranks: the other ranks are taken to call "
                    "collectives when these do",
                    trace->ranks->len, first->world);
  return TRUE;
}

gboolean
scn_trace_take_step (ScnTrace *trace, gint64 number, GError **error)
{
  g_ptr_array_sort (trace->ranks, by_rank);
  if (!check_ranks (trace, error))
    return FALSE;
  trace->step = number;
  if (number < 0 && !median_step (trace, &trace->step))
    base_diag_warn (trace->warnings, (BaseMark){ .file = scn_trace_rank (trace, 0)->path },
                    "no step (ProfilerStep#N, or a range 'step N') is in all traces: they are taken whole");
  for (guint r = 0; r < trace->ranks->len; r++)
    if (!keep_step (scn_trace_rank (trace, r), trace->step, error))
      return FALSE;
  for (guint g = 0; g < trace->groups->len; g++)
    if (!number_collectives (trace, g, error))
      return FALSE;
  for (guint r = 0; r < trace->ranks->len; r++)
    scn_trace_order (scn_trace_rank (trace, r));
  return TRUE;
}
