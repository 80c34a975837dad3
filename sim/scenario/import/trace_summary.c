/* What a step of a trace consists of. */
#include "trace-private.h"

#include <math.h>

typedef struct {
  double at_us;
  int compute, collective; /* by how much the number that runs changes */
} Edge;

static int
by_time (const void *a, const void *b)
{
  const Edge *x = a, *y = b;
  return x->at_us < y->at_us ? -1 : x->at_us > y->at_us;
}

static void
summarise (const ScnTraceRank *rank, ScnTraceSummary *out)
{
  g_autoptr (GArray) edges = g_array_new (FALSE, FALSE, sizeof (Edge));
  *out = (ScnTraceSummary){ .rank = rank->rank, .step_s = (rank->end_us - rank->begin_us) / 1e6 };
  for (guint i = 0; i < rank->activities->len; i++) {
    const ScnTraceActivity *activity = scn_trace_activity (rank, i);
    const int collective = activity->what == SCN_TRACE_COLLECTIVE, compute = !collective;
    const Edge from = { activity->start_us, compute, collective }, to = { activity->end_us, -compute, -collective };
    g_array_append_val (edges, from);
    g_array_append_val (edges, to);
    out->of_s[activity->what] += (activity->end_us - activity->start_us) / 1e6;
    out->n_of[activity->what]++;
  }
  g_array_sort (edges, by_time);
  int compute = 0, collective = 0;
  double at_us = rank->begin_us;
  for (guint i = 0; i < edges->len; i++) {
    const Edge *edge = &g_array_index (edges, Edge, i);
    const double time_s = fmax (edge->at_us - at_us, 0) / 1e6;
    out->compute_s += compute > 0 ? time_s : 0;
    out->communication_s += collective > 0 ? time_s : 0;
    out->exposed_s += collective > 0 && compute == 0 ? time_s : 0;
    out->idle_s += collective == 0 && compute == 0 ? time_s : 0;
    compute += edge->compute;
    collective += edge->collective;
    at_us = fmax (at_us, edge->at_us);
  }
}

GArray *
scn_trace_summaries (const ScnTrace *trace)
{
  GArray *all = g_array_new (FALSE, TRUE, sizeof (ScnTraceSummary));
  for (guint r = 0; r < trace->ranks->len; r++) {
    ScnTraceSummary one;
    summarise (scn_trace_rank (trace, r), &one);
    g_array_append_val (all, one);
  }
  return all;
}

static void
append_part (GString *out, const char *prefix, const char *what, double part_s, double whole_s)
{
  g_string_append_printf (out, "%s  %-28s %10.3f ms  %5.1f %%\n", prefix, what, part_s * 1e3,
                          whole_s > 0 ? 100 * part_s / whole_s : 0.0);
}

void
scn_trace_append_table (const ScnTrace *trace, const char *prefix, GString *out)
{
  g_autoptr (GArray) all = scn_trace_summaries (trace);
  for (guint r = 0; r < all->len; r++) {
    const ScnTraceSummary *one = &g_array_index (all, ScnTraceSummary, r);
    g_string_append_printf (out, "%srank %u: %.3f ms as recorded\n", prefix, one->rank, one->step_s * 1e3);
    append_part (out, prefix, "compute", one->compute_s, one->step_s);
    append_part (out, prefix, "communication", one->communication_s, one->step_s);
    append_part (out, prefix, "of which exposed", one->exposed_s, one->step_s);
    append_part (out, prefix, "idle", one->idle_s, one->step_s);
    for (guint i = 0; i < SCN_TRACE_N; i++) {
      g_autofree char *what = g_strdup_printf ("%u x %s", one->n_of[i], base_name (scn_trace_class_names, (int)i));
      if (one->n_of[i] > 0)
        append_part (out, prefix, what, one->of_s[i], one->step_s);
    }
  }
}
