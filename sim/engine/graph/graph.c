/* Task graphs: building and asking. The run is in graph_run.c. */
#include "engine/graph.h"

#include "graph-private.h"

#include <string.h>

#include "base/append.h"

G_STATIC_ASSERT (sizeof (GraphTask) <= 64);

/* Tasks in a row mostly have one of a few names. */
static uint32_t
add_name (EngGraph *graph, const char *name)
{
  if (name == NULL || *name == '\0')
    return 0;
  size_t n = strlen (name) + 1;
  uint32_t *known = &graph->recent[(unsigned char)name[n / 2] % G_N_ELEMENTS (graph->recent)];
  if (strcmp (graph_name (graph, *known), name) == 0)
    return *known;
  g_assert (graph->names->len + n < GRAPH_NONE);
  uint32_t at = *known = graph->names->len;
  g_byte_array_append (graph->names, (const guint8 *)name, (guint)n);
  return at;
}

EngGraph *
eng_graph_new (Eng *eng)
{
  EngGraph *graph = g_new0 (EngGraph, 1);
  graph->eng = eng;
  graph->tasks = g_array_new (FALSE, FALSE, sizeof (GraphTask));
  graph->flows = g_array_new (FALSE, FALSE, sizeof (GraphFlow));
  graph->calls = g_array_new (FALSE, FALSE, sizeof (GraphCall));
  graph->uses = g_array_new (FALSE, FALSE, sizeof (EngUse));
  graph->edges = g_array_new (FALSE, FALSE, sizeof (GraphEdge));
  graph->holds = g_array_new (FALSE, FALSE, sizeof (GraphHold));
  graph->streams = g_array_new (FALSE, FALSE, sizeof (GraphStream));
  graph->resources = g_array_new (FALSE, FALSE, sizeof (GraphResource));
  graph->places = g_array_new (FALSE, FALSE, sizeof (GraphPlace));
  graph->paced = g_array_new (FALSE, FALSE, sizeof (GraphPaced));
  graph->standings = g_array_new (FALSE, FALSE, sizeof (GraphPlaceUse));
  graph->stirred = g_array_new (FALSE, FALSE, sizeof (EngPlace));
  graph->speeds = g_array_new (FALSE, FALSE, sizeof (double));
  graph->marked = g_array_new (FALSE, FALSE, sizeof (EngResource));
  graph->names = g_byte_array_new ();
  g_byte_array_append (graph->names, (const guint8 *)"", 1);
  return graph;
}

void
eng_graph_free (EngGraph *graph)
{
  if (graph == NULL)
    return;
  for (guint i = 0; i < graph->resources->len; i++)
    eng_heap_clear (&graph_resource (graph, i)->waiting);
  eng_graph_pace_clear (graph);
  GArray *arrays[] = { graph->tasks,     graph->flows,   graph->calls,     graph->uses,   graph->edges,
                       graph->holds,     graph->streams, graph->resources, graph->marked, graph->paced,
                       graph->standings, graph->stirred, graph->speeds,    graph->places };
  for (size_t i = 0; i < G_N_ELEMENTS (arrays); i++)
    g_array_unref (arrays[i]);
  g_byte_array_unref (graph->names);
  eng_heap_clear (&graph->ready);
  g_free (graph->first);
  g_free (graph->successors);
  g_free (graph);
}

void
eng_graph_expect (EngGraph *graph, unsigned tasks, unsigned paced, unsigned waits)
{
  base_append_room (graph->tasks, &graph->room.tasks, tasks);
  base_append_room (graph->paced, &graph->room.paced, paced);
  base_append_room (graph->standings, &graph->room.standings, paced);
  base_append_room (graph->edges, &graph->room.edges, waits);
}

EngStream
eng_graph_stream (EngGraph *graph, const char *name)
{
  GraphStream stream = { .name = add_name (graph, name), .last = ENG_NO_TASK };
  g_array_append_val (graph->streams, stream);
  return graph->streams->len - 1u;
}

EngResource
eng_graph_resource (EngGraph *graph, const char *name, unsigned n_units)
{
  GraphResource resource = { .name = add_name (graph, name), .n_units = n_units, .n_free = n_units };
  g_array_append_val (graph->resources, resource);
  return graph->resources->len - 1u;
}

static EngTask
add_task (EngGraph *graph, EngStream stream, TaskType type, uint64_t what, unsigned kind, const char *name)
{
  g_assert (!graph->started && graph->tasks->len < ENG_NO_TASK - 1u);
  g_assert (stream == ENG_NO_STREAM || stream < graph->streams->len);
  EngTask id = graph->tasks->len;
  GraphTask *task = base_append (graph->tasks, &graph->room.tasks, sizeof *task);
  *task = (GraphTask){ .start = ENG_TIME_NEVER,
                       .end = ENG_TIME_NEVER,
                       .what = what,
                       .stream = stream,
                       .before = ENG_NO_TASK,
                       .after = ENG_NO_TASK,
                       .cause = ENG_NO_TASK,
                       .hold = GRAPH_NONE,
                       .paced = GRAPH_NONE,
                       .name = add_name (graph, name),
                       .kind = kind,
                       .type = (uint8_t)type,
                       .state = TASK_IDLE };
  if (stream != ENG_NO_STREAM) {
    GraphStream *in = &g_array_index (graph->streams, GraphStream, stream);
    task->before = in->last;
    if (in->last != ENG_NO_TASK)
      graph_task (graph, in->last)->after = id;
    in->last = id;
  }
  return id;
}

EngTask
eng_graph_delay (EngGraph *graph, EngStream stream, EngTime duration, unsigned kind, const char *name)
{
  return add_task (graph, stream, TASK_DELAY, duration, kind, name);
}

EngTask
eng_graph_flow (EngGraph *graph, EngStream stream, const EngFlowSpec *spec, unsigned kind, const char *name)
{
  g_assert (graph->uses->len + (uint64_t)spec->n_uses < GRAPH_NONE);
  GraphFlow *flow = base_append (graph->flows, &graph->room.flows, sizeof *flow);
  *flow = (GraphFlow){ .amount = spec->amount,
                       .bound_per_s = spec->bound_per_s,
                       .priority = spec->priority,
                       .latency = spec->latency,
                       .uses = graph->uses->len,
                       .n_uses = spec->n_uses,
                       .call = GRAPH_NONE };
  if (spec->n_uses > 0)
    g_array_append_vals (graph->uses, spec->uses, spec->n_uses);
  if (spec->done != NULL) {
    GraphCall call = { .fn = spec->done, .user = spec->user, .arg = spec->arg };
    flow->call = graph->calls->len;
    g_array_append_val (graph->calls, call);
  }
  return add_task (graph, stream, TASK_FLOW, graph->flows->len - 1u, kind, name);
}

EngTask
eng_graph_join (EngGraph *graph, EngStream stream, unsigned kind, const char *name)
{
  return add_task (graph, stream, TASK_JOIN, 0, kind, name);
}

void
eng_graph_after (EngGraph *graph, EngTask task, EngTask before)
{
  g_assert (!graph->started && task < graph->tasks->len && before < graph->tasks->len);
  g_assert (graph->edges->len < GRAPH_NONE - 1u);
  *(GraphEdge *)base_append (graph->edges, &graph->room.edges, sizeof (GraphEdge)) = (GraphEdge){ task, before };
}

void
eng_graph_hold (EngGraph *graph, EngTask task, EngResource resource, unsigned n_units)
{
  g_assert (!graph->started && task < graph->tasks->len && resource < graph->resources->len);
  GraphTask *holder = graph_task (graph, task);
  if (n_units == 0)
    return;
  for (uint32_t i = holder->hold; i != GRAPH_NONE; i = g_array_index (graph->holds, GraphHold, i).next)
    if (g_array_index (graph->holds, GraphHold, i).resource == resource) {
      g_array_index (graph->holds, GraphHold, i).n_units += n_units;
      return;
    }
  GraphHold hold = { .resource = resource, .n_units = n_units, .next = holder->hold };
  holder->hold = graph->holds->len;
  g_array_append_val (graph->holds, hold);
}

unsigned
eng_graph_n_tasks (const EngGraph *graph)
{
  return graph->tasks->len;
}

unsigned
eng_graph_n_streams (const EngGraph *graph)
{
  return graph->streams->len;
}

unsigned
eng_graph_n_done (const EngGraph *graph)
{
  return graph->n_done;
}

void
eng_graph_set_done (EngGraph *graph, EngFn done, void *user, uint64_t arg)
{
  graph->when_done = (GraphCall){ done, user, arg };
}

const char *
eng_graph_stream_name (const EngGraph *graph, EngStream stream)
{
  g_assert (stream < graph->streams->len);
  return graph_name (graph, g_array_index (graph->streams, GraphStream, stream).name);
}

static const GraphTask *
find_task (const EngGraph *graph, EngTask task)
{
  g_assert (task < graph->tasks->len);
  return graph_task (graph, task);
}

const char *
eng_graph_task_name (const EngGraph *graph, EngTask task)
{
  return graph_name (graph, find_task (graph, task)->name);
}

unsigned
eng_graph_task_kind (const EngGraph *graph, EngTask task)
{
  return find_task (graph, task)->kind;
}

EngStream
eng_graph_task_stream (const EngGraph *graph, EngTask task)
{
  return find_task (graph, task)->stream;
}

EngTime
eng_graph_task_start (const EngGraph *graph, EngTask task)
{
  return find_task (graph, task)->start;
}

EngTime
eng_graph_task_end (const EngGraph *graph, EngTask task)
{
  return find_task (graph, task)->end;
}

EngTask
eng_graph_task_cause (const EngGraph *graph, EngTask task)
{
  return find_task (graph, task)->cause;
}
