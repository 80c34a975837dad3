/* A task graph's own state, shared by its builder, its checker and its runner. */
#ifndef ENGINE_GRAPH_PRIVATE_H
#define ENGINE_GRAPH_PRIVATE_H

#include "engine/graph.h"
#include "heap-private.h"

#define GRAPH_NONE UINT32_MAX

typedef enum { TASK_DELAY, TASK_FLOW, TASK_JOIN } TaskType;
typedef enum { TASK_IDLE, TASK_QUEUED, TASK_RUNNING, TASK_DONE } TaskState;

typedef struct {
  EngTime start, end; /* ENG_TIME_NEVER until then */
  uint64_t what;      /* delay: duration; flow: index into flows */
  EngStream stream;
  EngTask before, after; /* neighbours in the stream */
  EngTask cause;
  uint32_t n_waiting; /* predecessors that have not ended */
  uint32_t hold;      /* first of its holds */
  uint32_t name;      /* offset into names */
  uint32_t paced;     /* index into paced; GRAPH_NONE: on no place */
  unsigned kind;
  uint8_t type, state;
} GraphTask;

/* A flow task's activity, without what a graph does not need. */
typedef struct {
  double amount, bound_per_s, priority;
  EngTime latency;
  uint32_t uses, n_uses; /* in the graph's pool */
  uint32_t call;         /* in the graph's calls; GRAPH_NONE: the caller wants no word */
} GraphFlow;

typedef struct {
  EngFn fn;
  void *user;
  uint64_t arg;
} GraphCall;

typedef struct {
  EngTask task, before;
} GraphEdge;

typedef struct {
  EngResource resource;
  uint32_t n_units;
  uint32_t next; /* of the same task */
} GraphHold;

typedef struct {
  uint32_t name;
  EngTask last;
} GraphStream;

typedef struct {
  uint32_t name;
  uint32_t n_units, n_free;
  EngHeap waiting;     /* tasks; all keys 0, so by number */
  EngTask released_by; /* lowest task that gave units back at `released_at` */
  EngTime released_at;
  bool marked; /* in graph->marked */
} GraphResource;

/* A task on places. */
typedef struct {
  EngTask task;
  uint32_t first; /* of its standings */
  double speed;
  EngTime since;  /* of left_ps */
  double left_ps; /* of a delay: work, as time at speed 1 */
  EngTimer timer;
  EngFlow flow;
  double bound_per_s; /* of a flow, at speed 1 */
} GraphPaced;

typedef struct {
  EngPlace place;
  uint32_t next; /* of the same task */
  double speed;
} GraphPlaceUse;

typedef struct {
  GArray *running; /* EngTask, ascending; NULL until the first */
  bool marked;     /* in graph->stirred */
} GraphPlace;

typedef struct GraphAlone GraphAlone;

struct EngGraph {
  Eng *eng;          /* borrowed */
  GraphAlone *alone; /* its clock while it runs by itself; NULL: the engine's */
  GArray *tasks, *flows, *calls, *uses, *edges, *holds, *streams, *resources;
  struct {
    guint tasks, flows, edges, paced, standings;
  } room;              /* as of base_append() */
  GByteArray *names;   /* NUL-terminated, one after the other; offset 0 is "" */
  uint32_t recent[16]; /* names that were added last */
  /* successors by task, from edges: those of t are successors[first[t]] … successors[first[t + 1] - 1] */
  uint32_t *first;
  EngTask *successors;
  /* places */
  GArray *places, *paced, *standings;
  GArray *stirred; /* EngPlace: what runs there has changed */
  GArray *speeds;  /* scratch */
  EngPaceFn pace;
  void *pace_user;
  /* the run */
  EngHeap ready;  /* all keys 0, so by number */
  GArray *marked; /* EngResource: may have something to grant */
  EngTask released_by;
  EngTime released_at;
  EngTime began;
  GraphCall when_done; /* fn NULL: nobody wants to know */
  uint32_t n_done;
  bool started, dispatching;
};

static inline GraphTask *
graph_task (const EngGraph *graph, EngTask task)
{
  return &g_array_index (graph->tasks, GraphTask, task);
}

static inline GraphResource *
graph_resource (const EngGraph *graph, EngResource resource)
{
  return &g_array_index (graph->resources, GraphResource, resource);
}

static inline GraphPaced *
graph_paced (const EngGraph *graph, uint32_t i)
{
  return &g_array_index (graph->paced, GraphPaced, i);
}

static inline const char *
graph_name (const EngGraph *graph, uint32_t name)
{
  return (const char *)graph->names->data + name;
}

/* eng_graph_check.c: builds first and successors; sets each task's n_waiting; FALSE and *error when tasks wait for each other in a
 * circle or one holds more than there is. */
gboolean eng_graph_check (EngGraph *graph, GError **error);
/* graph_run.c: a task's time is over. */
void eng_graph_task_ended (Eng *eng, void *user, uint64_t task);
/* Starts all that can start now. */
void eng_graph_dispatch (EngGraph *graph);

/* graph_alone.c: whether it can run without the engine's queue and network, and all of it. */
bool eng_graph_is_alone (const EngGraph *graph);
gboolean eng_graph_alone_run (EngGraph *graph, GError **error);
/* While it does: the task ends at `end`, in place of what was said before; eng_graph_dispatch() is due; a flow task begins; it has
 * another bound. */
void eng_graph_alone_delay (EngGraph *graph, EngTask task, EngTime end);
void eng_graph_alone_dispatch (EngGraph *graph);
void eng_graph_alone_flow (EngGraph *graph, EngTask task);
void eng_graph_alone_bound (EngGraph *graph, EngTask task, double bound_per_s);

/* graph_pace.c: a task begins or ends; what that changes comes with eng_graph_pace_settle, once an instant. */
void eng_graph_pace_enter (EngGraph *graph, const GraphPaced *paced);
void eng_graph_pace_leave (EngGraph *graph, const GraphPaced *paced);
void eng_graph_pace_settle (EngGraph *graph);
void eng_graph_pace_clear (EngGraph *graph);

/* How messages call a task. Returned: full. */
char *eng_graph_describe_task (const EngGraph *graph, EngTask task);

#endif
