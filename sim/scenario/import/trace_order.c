/* What waits for what across streams. A profiler that records synchronisation says it (CUPTI's "Stream Wait Event"). Else it
 * follows from the order of the host's calls: a collective waits for what was queued on the caller's stream before it, as
 * ProcessGroupNCCL does, and the first kernel after a cudaStreamWaitEvent waits for the collectives that had ended by then. */
#include "trace-private.h"

#include <math.h>

#define CLOCK_US    1.0  /* a start may stand so long before the end that it waited for: older traces count whole us */
#define HANDOVER_US 20.0 /* from an event to the start of what waits for it, at most */
#define QUEUED_US   10.0 /* a kernel that started so long after its launch was in the queue: something else held it */

typedef struct {
  ScnTraceRank *rank;
  GPtrArray *on;        /* by stream: GArray of guint, activities in order */
  gboolean *collective; /* by stream: some collective runs there */
} Order;

static const ScnTraceActivity *
on_stream (const Order *o, guint stream, guint k)
{
  const GArray *list = o->on->pdata[stream];
  return scn_trace_activity (o->rank, g_array_index (list, guint, k));
}

static double
ended (const ScnTraceActivity *activity)
{
  return activity->end_us;
}

static double
queued (const ScnTraceActivity *activity)
{
  return activity->launch_us;
}

static double
numbered (const ScnTraceActivity *activity)
{
  return (double)activity->correlation;
}

/* How many of a stream's activities have a key up to `most`; keys ascend along a stream. */
static guint
count_up_to (const Order *o, guint stream, double (*key) (const ScnTraceActivity *), double most)
{
  const GArray *list = o->on->pdata[stream];
  guint low = 0, high = list->len;
  while (low < high) {
    guint middle = low + (high - low) / 2;
    if (key (on_stream (o, stream, middle)) <= most)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Lets activity `i` wait for the k-th of a stream. */
static void
add_wait (const Order *o, guint i, guint stream, guint k)
{
  ScnTraceActivity *activity = scn_trace_activity (o->rank, i);
  const GArray *list = o->on->pdata[stream];
  guint on = g_array_index (list, guint, k);
  if (on >= i) /* of clocks that count whole microseconds: none may wait for a later one */
    return;
  if (activity->waits == NULL)
    activity->waits = g_array_new (FALSE, FALSE, sizeof (guint));
  g_array_append_val (activity->waits, on);
}

/* ---- as recorded ---- */

static gboolean
stream_of (const ScnTraceRank *rank, guint64 id, guint *stream)
{
  for (guint s = 0; s < rank->streams->len; s++)
    if (g_array_index (rank->streams, guint64, s) == id) {
      *stream = s;
      return TRUE;
    }
  return FALSE;
}

/* FALSE: the trace has no synchronisation. */
static gboolean
order_as_recorded (const Order *o)
{
  gboolean any = FALSE;
  for (guint w = 0; w < o->rank->waits->len; w++) {
    const ScnTraceWait *wait = &g_array_index (o->rank->waits, ScnTraceWait, w);
    guint stream = 0, on = 0;
    if (wait->record == 0)
      continue;
    any = TRUE;
    if (!stream_of (o->rank, wait->stream, &stream) || !stream_of (o->rank, wait->waits_on, &on) || stream == on)
      continue;
    const GArray *list = o->on->pdata[stream];
    guint first = count_up_to (o, stream, numbered, (double)wait->correlation),
          last = count_up_to (o, on, numbered, (double)wait->record);
    if (first < list->len && last > 0 && on_stream (o, on, last - 1)->end_us <= on_stream (o, stream, first)->start_us + CLOCK_US)
      add_wait (o, g_array_index (list, guint, first), on, last - 1);
  }
  return any;
}

/* ---- as the host's calls tell ---- */

typedef struct {
  guint64 thread;
  double at_us;
  guint activity; /* G_MAXUINT: a wait */
} Call;

static int
by_thread (const void *a, const void *b)
{
  const Call *x = a, *y = b;
  if (x->thread != y->thread)
    return x->thread < y->thread ? -1 : 1;
  return x->at_us < y->at_us ? -1 : x->at_us > y->at_us;
}

/* The latest of a stream that had ended when `start_us` came. FALSE: none. */
static gboolean
latest_ended (const Order *o, guint stream, double start_us, guint *k)
{
  guint n = count_up_to (o, stream, ended, start_us + CLOCK_US);
  *k = n - 1;
  return n > 0;
}

/* A collective waits for what its caller's stream had queued. `stream`: of the caller's last kernel. */
static void
order_collective (const Order *o, guint i, guint stream)
{
  const ScnTraceActivity *activity = scn_trace_activity (o->rank, i);
  guint n = count_up_to (o, stream, queued, activity->launch_us), k = 0;
  if (stream == activity->stream)
    return;
  if (n > 0 && on_stream (o, stream, n - 1)->end_us <= activity->start_us + CLOCK_US)
    add_wait (o, i, stream, n - 1);
  else if (latest_ended (o, stream, activity->start_us, &k))
    add_wait (o, i, stream, k);
}

/* Kernel `i` waits for the collectives that had ended. */
static void
order_after_collectives (const Order *o, guint i)
{
  const ScnTraceActivity *activity = scn_trace_activity (o->rank, i);
  guint k = 0;
  for (guint stream = 0; stream < o->on->len; stream++)
    if (o->collective[stream] && stream != activity->stream && latest_ended (o, stream, activity->start_us, &k))
      add_wait (o, i, stream, k);
}

/* What a thread of the host has done so far. */
typedef struct {
  guint stream; /* of its last kernel; G_MAXUINT: none yet */
  guint waits;  /* since its last launch */
  double waited_us;
  gboolean after_collective; /* which its last launch was */
} Caller;

static gboolean
has_waited (const Caller *caller)
{
  return caller->waits > (caller->after_collective ? 1u : 0u); /* one is NCCL's own, behind its launch */
}

/* A thread that waits and launches nothing more, as autograd's does behind DDP's last bucket, waits for what others queue next on
 * its stream. */
static void
leave (const Order *o, const Caller *caller)
{
  if (caller->stream == G_MAXUINT || !has_waited (caller))
    return;
  const GArray *list = o->on->pdata[caller->stream];
  const guint next = count_up_to (o, caller->stream, queued, caller->waited_us);
  if (next < list->len)
    order_after_collectives (o, g_array_index (list, guint, next));
}

static void
order_by_calls (const Order *o)
{
  g_autoptr (GArray) calls = g_array_new (FALSE, FALSE, sizeof (Call));
  for (guint i = 0; i < o->rank->activities->len; i++) {
    const ScnTraceActivity *activity = scn_trace_activity (o->rank, i);
    const Call call = { activity->thread, activity->launch_us, i };
    if (!isnan (activity->launch_us))
      g_array_append_val (calls, call);
  }
  for (guint w = 0; w < o->rank->waits->len; w++) {
    const ScnTraceWait *wait = &g_array_index (o->rank->waits, ScnTraceWait, w);
    const Call call = { wait->thread, wait->at_us, G_MAXUINT };
    if (wait->record == 0)
      g_array_append_val (calls, call);
  }
  g_array_sort (calls, by_thread);
  Caller caller = { .stream = G_MAXUINT };
  for (guint c = 0; c < calls->len; c++) {
    const Call *call = &g_array_index (calls, Call, c);
    if (c > 0 && call->thread != g_array_index (calls, Call, c - 1).thread) {
      leave (o, &caller);
      caller = (Caller){ .stream = G_MAXUINT };
    }
    if (call->activity == G_MAXUINT) {
      caller.waits++;
      caller.waited_us = call->at_us;
      continue;
    }
    const ScnTraceActivity *activity = scn_trace_activity (o->rank, call->activity);
    gboolean collective = activity->what == SCN_TRACE_COLLECTIVE;
    if (collective && caller.stream != G_MAXUINT)
      order_collective (o, call->activity, caller.stream);
    else if (!collective && has_waited (&caller))
      order_after_collectives (o, call->activity);
    caller.stream = collective ? caller.stream : activity->stream;
    caller.after_collective = collective && !activity->called;
    caller.waits = 0;
  }
  leave (o, &caller);
}

/* ---- as the times tell ---- */

/* What started as soon as another stream's activity had ended, after its own stream had been empty, though it was queued before. */
static void
order_by_times (const Order *o)
{
  for (guint stream = 0; stream < o->on->len; stream++) {
    const GArray *list = o->on->pdata[stream];
    for (guint n = 0; n < list->len; n++) {
      const ScnTraceActivity *activity = on_stream (o, stream, n);
      double since_us = n > 0 ? on_stream (o, stream, n - 1)->end_us : o->rank->begin_us;
      guint of = G_MAXUINT, at = 0, k = 0;
      if (activity->start_us - since_us < CLOCK_US ||
          (!isnan (activity->launch_us) && activity->start_us - activity->launch_us < QUEUED_US))
        continue;
      since_us = fmax (since_us, activity->start_us - HANDOVER_US);
      for (guint other = 0; other < o->on->len; other++)
        if (other != stream && latest_ended (o, other, activity->start_us, &k) && on_stream (o, other, k)->end_us > since_us) {
          since_us = on_stream (o, other, k)->end_us;
          of = other;
          at = k;
        }
      if (of != G_MAXUINT)
        add_wait (o, g_array_index (list, guint, n), of, at);
    }
  }
}

/* Takes away waits that earlier ones of the stream include, and keeps one for each other stream. */
static void
prune (const Order *o)
{
  const guint n = o->on->len;
  g_autofree double *met = g_new (double, n *n); /* start of the latest that was waited for, by stream and other stream */
  for (guint i = 0; i < n * n; i++)
    met[i] = -(double)INFINITY;
  for (guint i = 0; i < o->rank->activities->len; i++) {
    ScnTraceActivity *activity = scn_trace_activity (o->rank, i);
    for (guint w = activity->waits != NULL ? activity->waits->len : 0; w-- > 0;) {
      const ScnTraceActivity *other = scn_trace_activity (o->rank, g_array_index (activity->waits, guint, w));
      double *known = &met[activity->stream * n + other->stream];
      if (other->start_us <= *known)
        g_array_remove_index (activity->waits, w);
      else
        *known = other->start_us;
    }
    if (activity->waits != NULL && activity->waits->len == 0)
      g_clear_pointer (&activity->waits, g_array_unref);
  }
}

void
scn_trace_order (ScnTraceRank *rank)
{
  g_autoptr (GPtrArray) on = g_ptr_array_new_with_free_func ((GDestroyNotify)g_array_unref);
  g_autofree gboolean *collective = g_new0 (gboolean, rank->streams->len);
  Order o = { .rank = rank, .on = on, .collective = collective };
  for (guint s = 0; s < rank->streams->len; s++)
    g_ptr_array_add (on, g_array_new (FALSE, FALSE, sizeof (guint)));
  for (guint i = 0; i < rank->activities->len; i++) {
    const ScnTraceActivity *activity = scn_trace_activity (rank, i);
    g_array_append_val ((GArray *)on->pdata[activity->stream], i);
    collective[activity->stream] = collective[activity->stream] || activity->what == SCN_TRACE_COLLECTIVE;
  }
  if (!order_as_recorded (&o))
    order_by_calls (&o);
  order_by_times (&o);
  prune (&o);
}
