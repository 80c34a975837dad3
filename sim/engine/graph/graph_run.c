/* Running a task graph. Ends are noted as they happen; what they make ready starts in one pass after all ends of the instant that
 * are known by then, in the order of task numbers, so that the order of equal-time events does not show.
 *
 * Resources: a task waits until it is the lowest number waiting for each resource it holds and all its units are free, then takes
 * them together. Taking together excludes deadlock; not being overtaken excludes starvation. */
#include <math.h>

#include "base/error.h"
#include "graph-private.h"

static void dispatch (Eng *eng, void *user, uint64_t arg);

static void
wake (EngGraph *graph)
{
  if (graph->dispatching)
    return;
  graph->dispatching = true;
  if (graph->alone != NULL)
    eng_graph_alone_dispatch (graph);
  else
    eng_at (graph->eng, eng_now (graph->eng), dispatch, graph, 0);
}

/* `before` has ended now and `task` waited for it. */
static void
release_successor (EngGraph *graph, EngTask task, EngTask before)
{
  GraphTask *waiter = graph_task (graph, task);
  EngTime now = eng_now (graph->eng);
  if (waiter->cause == ENG_NO_TASK || graph_task (graph, waiter->cause)->end < now || before < waiter->cause)
    waiter->cause = before;
  if (--waiter->n_waiting == 0)
    eng_heap_push (&graph->ready, 0.0, task);
}

static void
mark_resource (EngGraph *graph, EngResource id)
{
  GraphResource *resource = graph_resource (graph, id);
  if (resource->marked)
    return;
  resource->marked = true;
  g_array_append_val (graph->marked, id);
}

static void
note_release (EngTask *by, EngTime *at, EngTask task, EngTime now)
{
  if (*by == ENG_NO_TASK || *at < now || task < *by)
    *by = task;
  *at = now;
}

static void
give_back (EngGraph *graph, EngTask task)
{
  EngTime now = eng_now (graph->eng);
  for (uint32_t i = graph_task (graph, task)->hold; i != GRAPH_NONE;) {
    GraphHold hold = g_array_index (graph->holds, GraphHold, i);
    GraphResource *resource = graph_resource (graph, hold.resource);
    resource->n_free += hold.n_units;
    note_release (&resource->released_by, &resource->released_at, task, now);
    note_release (&graph->released_by, &graph->released_at, task, now);
    mark_resource (graph, hold.resource);
    i = hold.next;
  }
}

static void
complete (EngGraph *graph, EngTask task)
{
  GraphTask *done = graph_task (graph, task);
  done->end = eng_now (graph->eng);
  done->state = TASK_DONE;
  graph->n_done++;
  give_back (graph, task);
  if (done->paced != GRAPH_NONE)
    eng_graph_pace_leave (graph, graph_paced (graph, done->paced));
  if (done->after != ENG_NO_TASK)
    release_successor (graph, done->after, task);
  for (uint32_t k = graph->first[task]; k < graph->first[task + 1u]; k++)
    release_successor (graph, graph->successors[k], task);
  if (graph->ready.n > 0 || graph->marked->len > 0 || graph->stirred->len > 0)
    wake (graph);
  if (graph->n_done == graph->tasks->len && graph->when_done.fn != NULL)
    eng_at (graph->eng, eng_now (graph->eng), graph->when_done.fn, graph->when_done.user, graph->when_done.arg);
}

void
eng_graph_task_ended (Eng *eng, void *user, uint64_t arg)
{
  EngGraph *graph = user;
  EngTask task = (EngTask)arg;
  const GraphTask *ended = graph_task (graph, task);
  if (ended->type == TASK_FLOW) {
    uint32_t call = g_array_index (graph->flows, GraphFlow, ended->what).call;
    if (call != GRAPH_NONE) {
      GraphCall then = g_array_index (graph->calls, GraphCall, call);
      then.fn (eng, then.user, then.arg);
    }
  }
  complete (graph, task);
}

static void
start_flow (EngGraph *graph, EngTask task)
{
  const GraphFlow *flow = &g_array_index (graph->flows, GraphFlow, graph_task (graph, task)->what);
  uint32_t paced = graph_task (graph, task)->paced;
  EngFlowSpec spec = { .amount = flow->amount,
                       .bound_per_s = flow->bound_per_s,
                       .priority = flow->priority,
                       .latency = flow->latency,
                       .uses = flow->n_uses == 0 ? NULL : &g_array_index (graph->uses, EngUse, flow->uses),
                       .n_uses = flow->n_uses,
                       .done = eng_graph_task_ended,
                       .user = graph,
                       .arg = task };
  EngFlow started = 0;
  if (graph->alone != NULL)
    eng_graph_alone_flow (graph, task);
  else
    started = eng_flow_start (graph->eng, &spec);
  if (paced == GRAPH_NONE)
    return;
  g_assert (spec.bound_per_s > 0.0 && isfinite (spec.bound_per_s));
  graph_paced (graph, paced)->flow = started;
  graph_paced (graph, paced)->bound_per_s = spec.bound_per_s;
  eng_graph_pace_enter (graph, graph_paced (graph, paced));
}

static void
start_delay (EngGraph *graph, EngTask id)
{
  const GraphTask *task = graph_task (graph, id);
  EngTime now = eng_now (graph->eng);
  EngTimer timer = 0;
  if (graph->alone != NULL)
    eng_graph_alone_delay (graph, id, eng_time_add (now, task->what));
  else
    timer = eng_at (graph->eng, eng_time_add (now, task->what), eng_graph_task_ended, graph, id);
  if (task->paced == GRAPH_NONE)
    return;
  GraphPaced *paced = graph_paced (graph, task->paced);
  paced->timer = timer;
  paced->since = now;
  paced->left_ps = (double)task->what;
  eng_graph_pace_enter (graph, paced);
}

static void
start (EngGraph *graph, EngTask id)
{
  GraphTask *task = graph_task (graph, id);
  EngTime now = eng_now (graph->eng);
  task->start = now;
  task->state = TASK_RUNNING;
  if (task->type == TASK_FLOW)
    start_flow (graph, id);
  else if (task->type == TASK_DELAY && task->what > 0)
    start_delay (graph, id);
  else
    complete (graph, id);
}

static void
queue_for_resources (EngGraph *graph, EngTask task)
{
  graph_task (graph, task)->state = TASK_QUEUED;
  for (uint32_t i = graph_task (graph, task)->hold; i != GRAPH_NONE;) {
    GraphHold hold = g_array_index (graph->holds, GraphHold, i);
    eng_heap_push (&graph_resource (graph, hold.resource)->waiting, 0.0, task);
    mark_resource (graph, hold.resource);
    i = hold.next;
  }
}

static bool
can_take (const EngGraph *graph, EngTask task)
{
  for (uint32_t i = graph_task (graph, task)->hold; i != GRAPH_NONE;) {
    GraphHold hold = g_array_index (graph->holds, GraphHold, i);
    const GraphResource *resource = graph_resource (graph, hold.resource);
    if (resource->waiting.items[0].id != task || resource->n_free < hold.n_units)
      return false;
    i = hold.next;
  }
  return true;
}

/* Takes all its units; a task that waited for them was let start by whoever gave some back last. */
static void
take (EngGraph *graph, EngTask id)
{
  GraphTask *task = graph_task (graph, id);
  EngTime now = eng_now (graph->eng);
  EngTask released_by = ENG_NO_TASK;
  for (uint32_t i = task->hold; i != GRAPH_NONE;) {
    GraphHold hold = g_array_index (graph->holds, GraphHold, i);
    GraphResource *resource = graph_resource (graph, hold.resource);
    eng_heap_pop (&resource->waiting);
    resource->n_free -= hold.n_units;
    if (resource->released_at == now && resource->released_by < released_by)
      released_by = resource->released_by;
    mark_resource (graph, hold.resource); /* another may be first in line now */
    i = hold.next;
  }
  bool waited = task->cause != ENG_NO_TASK ? graph_task (graph, task->cause)->end < now : now > graph->began;
  if (waited && released_by != ENG_NO_TASK)
    task->cause = released_by;
  else if (waited && graph->released_at == now)
    task->cause = graph->released_by;
}

static void
grant (EngGraph *graph, EngResource id)
{
  while (graph_resource (graph, id)->waiting.n > 0) {
    EngTask task = graph_resource (graph, id)->waiting.items[0].id;
    if (!can_take (graph, task))
      return;
    take (graph, task);
    start (graph, task);
  }
}

/* `dispatching` stays set, so that ends inside do not call for another pass. */
void
eng_graph_dispatch (EngGraph *graph)
{
  for (;;) {
    while (graph->ready.n > 0) {
      EngTask task = graph->ready.items[0].id;
      eng_heap_pop (&graph->ready);
      if (graph_task (graph, task)->hold != GRAPH_NONE)
        queue_for_resources (graph, task);
      else
        start (graph, task);
    }
    if (graph->marked->len == 0)
      break;
    EngResource id = g_array_index (graph->marked, EngResource, graph->marked->len - 1u);
    g_array_set_size (graph->marked, graph->marked->len - 1u);
    graph_resource (graph, id)->marked = false;
    grant (graph, id);
  }
  eng_graph_pace_settle (graph);
  graph->dispatching = false;
}

static void
dispatch (Eng *eng, void *user, uint64_t arg)
{
  (void)eng;
  (void)arg;
  eng_graph_dispatch (user);
}

gboolean
eng_graph_start (EngGraph *graph, GError **error)
{
  g_assert (!graph->started);
  if (!eng_graph_check (graph, error))
    return FALSE;
  graph->started = true;
  graph->began = eng_now (graph->eng);
  graph->released_by = ENG_NO_TASK;
  for (guint i = 0; i < graph->resources->len; i++)
    graph_resource (graph, i)->released_by = ENG_NO_TASK;
  for (guint t = 0; t < graph->tasks->len; t++)
    if (graph_task (graph, t)->n_waiting == 0)
      eng_heap_append (&graph->ready, 0.0, t);
  wake (graph);
  return TRUE;
}

gboolean
eng_graph_run (EngGraph *graph, GError **error)
{
  const bool alone = eng_graph_is_alone (graph);
  if (!alone && !eng_graph_start (graph, error))
    return FALSE;
  if (alone ? eng_graph_alone_run (graph, error) : eng_run (graph->eng, ENG_TIME_NEVER, 0, error)) {
    g_assert (graph->n_done == graph->tasks->len);
    return TRUE;
  }
  for (guint t = 0; t < graph->tasks->len; t++)
    if (graph_task (graph, t)->state == TASK_RUNNING) {
      g_autofree char *name = eng_graph_describe_task (graph, t);
      g_prefix_error (error, "%s has not ended: ", name);
      break;
    }
  return FALSE;
}
