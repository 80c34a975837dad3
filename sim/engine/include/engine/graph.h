/* Task graphs: work with dependencies on in-order streams, with counted resources.
 * A task starts when all that it comes after has ended, its stream's previous task has ended, and its resources are free.
 * Kinds: delay (a fixed time), flow (an activity of the flow network), join (no time). */
#ifndef ENGINE_GRAPH_H
#define ENGINE_GRAPH_H

#include "engine/flow.h"

typedef struct EngGraph EngGraph;
typedef uint32_t EngTask;
typedef uint32_t EngStream;
typedef uint32_t EngResource;
typedef uint32_t EngPlace;

#define ENG_NO_TASK UINT32_MAX
#define ENG_NO_STREAM UINT32_MAX

/* `eng` is borrowed and must outlive the graph. Returned: full. */
EngGraph *eng_graph_new (Eng *eng);
void eng_graph_free (EngGraph *graph);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (EngGraph, eng_graph_free)

/* About so many tasks, tasks on a place, and waits of one for another are to come: room is made at once. */
void eng_graph_expect (EngGraph *graph, unsigned tasks, unsigned paced, unsigned waits);

/* Tasks of one stream run one after the other in the order they were added. `name` is copied. */
EngStream eng_graph_stream (EngGraph *graph, const char *name);
EngResource eng_graph_resource (EngGraph *graph, const char *name, unsigned n_units);

/* `kind` is the caller's own code (compute, communication, …), kept for reports; `name` is copied, may be NULL.
 * A flow's spec and its uses are copied; its `done`, if any, is called when it ends, before what comes after it starts. */
EngTask eng_graph_delay (EngGraph *graph, EngStream stream, EngTime duration, unsigned kind, const char *name);
EngTask eng_graph_flow (EngGraph *graph, EngStream stream, const EngFlowSpec *spec, unsigned kind, const char *name);
EngTask eng_graph_join (EngGraph *graph, EngStream stream, unsigned kind, const char *name);
void eng_graph_after (EngGraph *graph, EngTask task, EngTask before);
/* `task` holds n units while it runs; units are granted in task order among those waiting: all of a task together, and no task
 * overtakes a lower one that waits for the same resource. Holding a resource again adds. */
void eng_graph_hold (EngGraph *graph, EngTask task, EngResource resource, unsigned n_units);

/* A place where tasks that run at the same time slow each other down, as kernels on one GPU do. */
EngPlace eng_graph_place (EngGraph *graph);
/* `task`, a delay or a flow, runs on `place`; it may run on several, and then goes at the least of their speeds. A flow's speed is
 * a part of its own bound, which it must have. */
void eng_graph_on (EngGraph *graph, EngTask task, EngPlace place);
/* Called once an instant for each place whose tasks changed: `running` in the order of their numbers; speed[i], 1 at the call, is
 * to be set to what of its own pace each goes at, above 0 and at most 1: a function of the arguments alone. Without it all go
 * at 1. */
typedef void (*EngPaceFn) (void *user, EngPlace place, const EngTask *running, unsigned n, double *speed);
void eng_graph_set_pace (EngGraph *graph, EngPaceFn pace, void *user);

/* Runs all tasks from the engine's present time. FALSE and *error (BASE_ERROR_RUN) on a dependency cycle (names
 * tasks in it), when a task holds more than its resource has, or when eng_run() fails (names a task that did not end). */
gboolean eng_graph_run (EngGraph *graph, GError **error);
/* The same in two steps, for several graphs on one engine: checks and gets ready, then eng_run() runs all that were started.
 * A graph runs once; tasks are added before that. */
gboolean eng_graph_start (EngGraph *graph, GError **error);
unsigned eng_graph_n_done (const EngGraph *graph);
/* Called once, in the instant that its last task ends, as an event of its own (never, of a graph without tasks): another graph may
 * be started there. The graph itself must live until the clock has moved on. */
void eng_graph_set_done (EngGraph *graph, EngFn done, void *user, uint64_t arg);

unsigned eng_graph_n_tasks (const EngGraph *graph);
unsigned eng_graph_n_streams (const EngGraph *graph);
const char *eng_graph_stream_name (const EngGraph *graph, EngStream stream);
const char *eng_graph_task_name (const EngGraph *graph, EngTask task); /* "" if none */
unsigned eng_graph_task_kind (const EngGraph *graph, EngTask task);
EngStream eng_graph_task_stream (const EngGraph *graph, EngTask task);
/* ENG_TIME_NEVER if it has not started, or ended. */
EngTime eng_graph_task_start (const EngGraph *graph, EngTask task);
EngTime eng_graph_task_end (const EngGraph *graph, EngTask task);
/* The dependency or stream predecessor that ended last and so let `task` start (ties: the lowest); for a task that then waited
 * for resources, the task that gave units back when it started; ENG_NO_TASK if none.
 * Following it from the last task to end gives the critical path. */
EngTask eng_graph_task_cause (const EngGraph *graph, EngTask task);

#endif
