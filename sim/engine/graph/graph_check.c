/* What a task graph must be before it runs: free of circles, and holding no more than there is. */
#include "base/error.h"
#include "graph-private.h"

#include <inttypes.h>

/* A message names so many tasks of a circle. */
#define NAMED 6u

char *
eng_graph_describe_task (const EngGraph *graph, EngTask task)
{
  const char *name = graph_name (graph, graph_task (graph, task)->name);
  if (*name == '\0')
    return g_strdup_printf ("task %" PRIu32, task);
  return g_strdup_printf ("'%s' (task %" PRIu32 ")", name, task);
}

/* Counting sort of the edges by what comes before; edges of one task keep their order. */
static void
index_successors (EngGraph *graph)
{
  guint n = graph->tasks->len, n_edges = graph->edges->len;
  g_free (graph->first);
  g_free (graph->successors);
  graph->first = g_new0 (uint32_t, (gsize)n + 2u);
  graph->successors = g_new (EngTask, (gsize)n_edges + 1u);
  /* first[t + 2] counts, becomes where t + 1 begins, and is where t + 1 is filled next: in the end first[t + 1] is t's end */
  for (guint i = 0; i < n_edges; i++)
    graph->first[g_array_index (graph->edges, GraphEdge, i).before + 2u]++;
  for (guint t = 2; t <= n; t++)
    graph->first[t] += graph->first[t - 1u];
  for (guint i = 0; i < n_edges; i++) {
    GraphEdge edge = g_array_index (graph->edges, GraphEdge, i);
    graph->successors[graph->first[edge.before + 1u]++] = edge.task;
  }
}

static void
count_predecessors (EngGraph *graph, uint32_t *n_waiting)
{
  for (guint t = 0; t < graph->tasks->len; t++)
    n_waiting[t] = graph_task (graph, t)->before != ENG_NO_TASK;
  for (guint i = 0; i < graph->edges->len; i++)
    n_waiting[g_array_index (graph->edges, GraphEdge, i).task]++;
}

/* Kahn's order: takes away tasks that wait for nothing until none is left; their n_waiting becomes 0. Returns how many. */
static uint32_t
peel (const EngGraph *graph, uint32_t *n_waiting)
{
  guint n = graph->tasks->len;
  g_autofree EngTask *order = g_new (EngTask, (gsize)n + 1u);
  uint32_t n_order = 0;
  for (guint t = 0; t < n; t++)
    if (n_waiting[t] == 0)
      order[n_order++] = t;
  for (uint32_t i = 0; i < n_order; i++) {
    EngTask task = order[i], next = graph_task (graph, task)->after;
    if (next != ENG_NO_TASK && --n_waiting[next] == 0)
      order[n_order++] = next;
    for (uint32_t k = graph->first[task]; k < graph->first[task + 1u]; k++)
      if (--n_waiting[graph->successors[k]] == 0)
        order[n_order++] = graph->successors[k];
  }
  return n_order;
}

/* Of each task left in n_waiting, one that it waits for and that is left too: there always is one. */
static EngTask *
find_blockers (const EngGraph *graph, const uint32_t *n_waiting)
{
  EngTask *blocker = g_new (EngTask, graph->tasks->len);
  for (guint t = 0; t < graph->tasks->len; t++) {
    EngTask before = graph_task (graph, t)->before;
    blocker[t] = before != ENG_NO_TASK && n_waiting[before] > 0 ? before : ENG_NO_TASK;
  }
  for (guint i = 0; i < graph->edges->len; i++) {
    GraphEdge edge = g_array_index (graph->edges, GraphEdge, i);
    if (n_waiting[edge.before] > 0 && (blocker[edge.task] == ENG_NO_TASK || edge.before < blocker[edge.task]))
      blocker[edge.task] = edge.before;
  }
  return blocker;
}

static void
report_circle (const EngGraph *graph, const uint32_t *n_waiting, GError **error)
{
  g_autofree EngTask *blocker = find_blockers (graph, n_waiting);
  g_autofree uint8_t *seen = g_new0 (uint8_t, graph->tasks->len);
  EngTask at = 0;
  while (n_waiting[at] == 0)
    at++;
  for (; seen[at] == 0; at = blocker[at])
    seen[at] = 1;
  /* `at` is on the circle: start it at its lowest task, so that the message does not depend on where the walk came in */
  EngTask start = at, lowest = at;
  uint32_t n = 0;
  do {
    at = blocker[at];
    lowest = MIN (lowest, at);
    n++;
  } while (at != start);

  g_autoptr (GString) text = g_string_new (NULL);
  at = lowest;
  for (uint32_t i = 0; i < MIN (n, NAMED); i++, at = blocker[at]) {
    g_autofree char *name = eng_graph_describe_task (graph, at);
    g_string_append_printf (text, "%s waits for ", name);
  }
  g_autofree char *last = eng_graph_describe_task (graph, lowest);
  if (n > NAMED)
    g_string_append_printf (text, "%" PRIu32 " more, the last of which waits for ", n - NAMED);
  if (n == 1)
    base_fail (error, BASE_ERROR_RUN, "a task waits for itself: %s", last);
  else
    base_fail (error, BASE_ERROR_RUN, "%" PRIu32 " tasks wait for each other in a circle: %s%s", n, text->str, last);
}

static gboolean
check_holds (const EngGraph *graph, GError **error)
{
  for (guint t = 0; t < graph->tasks->len; t++)
    for (uint32_t i = graph_task (graph, t)->hold; i != GRAPH_NONE;) {
      const GraphHold *hold = &g_array_index (graph->holds, GraphHold, i);
      const GraphResource *resource = graph_resource (graph, hold->resource);
      if (hold->n_units > resource->n_units) {
        g_autofree char *name = eng_graph_describe_task (graph, t);
        base_fail (error, BASE_ERROR_RUN, "%s holds %" PRIu32 " units of '%s', which has %" PRIu32, name, hold->n_units,
                   graph_name (graph, resource->name), resource->n_units);
        return FALSE;
      }
      i = hold->next;
    }
  return TRUE;
}

gboolean
eng_graph_check (EngGraph *graph, GError **error)
{
  guint n = graph->tasks->len;
  g_autofree uint32_t *n_waiting = g_new (uint32_t, (gsize)n + 1u);
  index_successors (graph);
  count_predecessors (graph, n_waiting);
  for (guint t = 0; t < n; t++)
    graph_task (graph, t)->n_waiting = n_waiting[t];
  if (peel (graph, n_waiting) < n) {
    report_circle (graph, n_waiting, error);
    return FALSE;
  }
  return check_holds (graph, error);
}
