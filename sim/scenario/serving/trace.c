/* What a trace shows of a service: a lane of steps for each replica, with counters of its KV cache and of requests that wait, and a
 * lane for each request. Among jobs, lanes begin with the name of the job. */
#include <math.h>

#include "serving-private.h"

/* Slices and values of a service in a trace: what Perfetto opens in a browser. */
#define MOST_SPANS 200000u

/* FALSE: it is one too many. */
static gboolean
is_room (ScnServingTrace *trace, double start_s, double end_s)
{
  if (trace->n < MOST_SPANS)
    return TRUE;
  if (trace->left == 0)
    trace->cut_s = start_s;
  trace->left++;
  trace->cut_s = fmin (trace->cut_s, start_s);
  trace->end_s = fmax (trace->end_s, end_s);
  return FALSE;
}

static char *
lane_of (const ScnServingTrace *trace, char *lane)
{
  if (trace->job == NULL)
    return lane;
  char *named = g_strdup_printf ("%s: %s", trace->job, lane);
  g_free (lane);
  return named;
}

static void
span (ScnServingTrace *trace, char *lane, char *name, double start_s, double end_s)
{
  col_run_span (trace->info, lane_of (trace, lane), name, start_s, end_s);
  trace->n++;
}

static void
count (ScnServingTrace *trace, guint replica, const char *what, double at_s, double value)
{
  col_run_count (trace->info, lane_of (trace, g_strdup_printf ("replica %u %s", replica, what)), at_s, value);
  trace->n++;
}

void
scn_serving_see_step (void *user, const SrvStepSeen *step)
{
  ScnServingTrace *trace = user;
  if (trace->steps != NULL)
    g_array_append_val (trace->steps, *step);
  if (!is_room (trace, step->start_s, step->end_s))
    return;
  span (trace, g_strdup_printf ("replica %u steps", step->replica),
        g_strdup_printf ("%u decode, %u prompt tokens, %u wait, KV %.0f %%", step->decoding, step->prompt_tokens, step->waiting,
                         step->kv * 100),
        step->start_s, step->end_s);
  count (trace, step->replica, "KV (%)", step->start_s, step->kv * 100);
  count (trace, step->replica, "waiting", step->start_s, step->waiting);
}

void
scn_serving_see_request (void *user, const SrvRequestSeen *seen)
{
  ScnServingTrace *trace = user;
  if (!is_room (trace, seen->arrival_s, seen->end_s))
    return;
  g_autofree char *lane = g_strdup_printf ("replica %u request %" G_GUINT64_FORMAT, seen->replica, seen->index);
  if (seen->start_s > seen->arrival_s)
    span (trace, g_strdup (lane), g_strdup ("queue"), seen->arrival_s, seen->start_s);
  span (trace, g_strdup (lane), g_strdup_printf ("prefill %u", seen->input), seen->start_s, seen->first_s);
  span (trace, g_strdup (lane), g_strdup_printf ("decode %u", seen->output), seen->first_s, seen->end_s);
}

void
scn_serving_trace_end (ScnServingTrace *trace)
{
  if (trace->left == 0)
    return;
  const char *job = trace->job != NULL ? trace->job : "service";
  col_run_span (trace->info, lane_of (trace, g_strdup ("not shown")),
                g_strdup_printf ("%" G_GUINT64_FORMAT " steps and requests are left out", trace->left), trace->cut_s, trace->end_s);
  col_run_warn (trace->info, "%s: the trace has the first %u slices; %" G_GUINT64_FORMAT " steps and requests are left out", job,
                MOST_SPANS, trace->left);
}
