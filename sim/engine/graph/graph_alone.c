/* The time of a graph that has the engine to itself, and whose flows cross no link: nothing but the graph's own places changes a
 * rate, so no network is solved and no queue of millions is needed. What happens, and in which order, is what the engine would do:
 * entries by time and in the order of their pushes, progress by the functions of move.c.
 * Check: test_engine_graph (such graphs, at random, on the engine as it is and as one of several). */
#include <math.h>

#include "engine-private.h"
#include "graph-private.h"

/* An entry that counts only while its task's stamp is this one. */
typedef struct {
  EngTime at;
  uint64_t sequence;
  EngTask task;
  uint32_t stamp;
} Entry;

/* A flow that runs. */
typedef struct {
  EngFlowMove move;
  double bound;
  bool moves; /* its latency is over */
} Flow;

struct GraphAlone {
  Entry *heap; /* least time, then least sequence, first */
  guint n, room;
  uint64_t sequence;
  uint64_t dispatch; /* its sequence; 0: none is due */
  uint32_t *stamp;   /* by task */
  Flow *flow;        /* by flow of the graph */
};

/* ---- entries ---- */

static inline bool
before (const Entry *a, const Entry *b)
{
  return a->at < b->at || (a->at == b->at && a->sequence < b->sequence);
}

static void
push (GraphAlone *alone, EngTime at, EngTask task)
{
  if (alone->n == alone->room) {
    alone->room = alone->room == 0 ? 64 : 2 * alone->room;
    alone->heap = g_renew (Entry, alone->heap, alone->room);
  }
  const Entry entry = { at, ++alone->sequence, task, ++alone->stamp[task] };
  guint i = alone->n++;
  for (; i > 0 && before (&entry, &alone->heap[(i - 1) / 2]); i = (i - 1) / 2)
    alone->heap[i] = alone->heap[(i - 1) / 2];
  alone->heap[i] = entry;
}

static void
drop_first (GraphAlone *alone)
{
  const guint n = --alone->n;
  const Entry last = alone->heap[n];
  guint i = 0;
  for (guint child; (child = 2 * i + 1) < n; i = child) {
    if (child + 1 < n && before (&alone->heap[child + 1], &alone->heap[child]))
      child++;
    if (!before (&alone->heap[child], &last))
      break;
    alone->heap[i] = alone->heap[child];
  }
  alone->heap[i] = last;
}

/* ---- what the graph asks of its clock ---- */

void
eng_graph_alone_delay (EngGraph *graph, EngTask task, EngTime end)
{
  push (graph->alone, end, task);
}

void
eng_graph_alone_dispatch (EngGraph *graph)
{
  graph->alone->dispatch = ++graph->alone->sequence;
}

static Flow *
flow_of (const EngGraph *graph, EngTask task)
{
  return &graph->alone->flow[graph_task (graph, task)->what];
}

/* From now on. */
static void
set_rate (EngGraph *graph, EngTask task, Flow *flow)
{
  if (flow->bound >= flow->move.rate && flow->bound <= flow->move.rate)
    return;
  eng_flow_advance (&flow->move, eng_now (graph->eng));
  flow->move.rate = flow->bound;
  push (graph->alone, eng_flow_end_of (&flow->move, eng_now (graph->eng)), task);
}

static void
begin_moving (EngGraph *graph, EngTask task, Flow *flow)
{
  flow->moves = true;
  flow->move.since = eng_now (graph->eng);
  set_rate (graph, task, flow);
}

void
eng_graph_alone_flow (EngGraph *graph, EngTask task)
{
  const GraphFlow *spec = &g_array_index (graph->flows, GraphFlow, graph_task (graph, task)->what);
  Flow *flow = flow_of (graph, task);
  const EngTime now = eng_now (graph->eng);
  *flow = (Flow){ .move = { .amount = spec->amount, .left = spec->amount, .since = now }, .bound = spec->bound_per_s };
  graph->eng->stats.flows++;
  if (spec->latency > 0 || spec->amount <= 0.0)
    push (graph->alone, eng_time_add (now, spec->latency), task);
  else
    begin_moving (graph, task, flow);
}

void
eng_graph_alone_bound (EngGraph *graph, EngTask task, double bound_per_s)
{
  Flow *flow = flow_of (graph, task);
  flow->bound = bound_per_s;
  if (flow->moves)
    set_rate (graph, task, flow);
}

/* ---- the run ---- */

bool
eng_graph_is_alone (const EngGraph *graph)
{
  const Eng *eng = graph->eng;
  bool alone = graph->uses->len == 0 && graph->calls->len == 0 && graph->when_done.fn == NULL && !eng->running &&
               !eng->ties.shuffle && eng_queue_n (eng->agenda.queue) == 0 && eng->net.links.dirty.n == 0 &&
               eng->net.flows.n_moving == 0;
  for (guint i = 0; i < graph->flows->len && alone; i++) {
    const GraphFlow *flow = &g_array_index (graph->flows, GraphFlow, i);
    alone = isfinite (flow->amount) && ((flow->bound_per_s > 0.0 && isfinite (flow->bound_per_s)) || flow->amount <= 0.0);
  }
  return alone;
}

/* A flow whose end a double of picoseconds could not hold has been looked at again; or its latency is over. FALSE: it has ended. */
static bool
goes_on (EngGraph *graph, EngTask task)
{
  Flow *flow = flow_of (graph, task);
  const EngTime now = eng_now (graph->eng);
  if (!flow->moves && flow->move.amount > 0.0) {
    begin_moving (graph, task, flow);
    return true;
  }
  if (!flow->moves || now - flow->move.since < ENG_RECHECK_PS)
    return false;
  eng_flow_advance (&flow->move, now);
  const EngTime end = eng_flow_end_of (&flow->move, now);
  if (end > now)
    push (graph->alone, end, task);
  return end > now;
}

static bool
run_next (EngGraph *graph)
{
  GraphAlone *alone = graph->alone;
  while (alone->n > 0 && alone->heap[0].stamp != alone->stamp[alone->heap[0].task])
    drop_first (alone); /* it was moved */
  const Entry *first = alone->n > 0 ? &alone->heap[0] : NULL;
  const bool dispatches =
      alone->dispatch > 0 && (first == NULL || first->at > eng_now (graph->eng) || first->sequence > alone->dispatch);
  if (!dispatches && (first == NULL || first->at == ENG_TIME_NEVER))
    return false;
  graph->eng->stats.events++;
  if (dispatches) {
    alone->dispatch = 0;
    eng_graph_dispatch (graph);
    return true;
  }
  const EngTask task = first->task;
  graph->eng->now = first->at;
  drop_first (alone);
  if (graph_task (graph, task)->type != TASK_FLOW || !goes_on (graph, task))
    eng_graph_task_ended (graph->eng, graph, task);
  return true;
}

gboolean
eng_graph_alone_run (EngGraph *graph, GError **error)
{
  GraphAlone alone = { .stamp = g_new0 (uint32_t, graph->tasks->len), .flow = g_new (Flow, graph->flows->len) };
  graph->alone = &alone;
  gboolean ok = eng_graph_start (graph, error);
  while (ok && run_next (graph))
    ;
  if (ok && alone.n > 0)
    ok = eng_fail_beyond_clock (graph->eng, error);
  graph->alone = NULL;
  eng_queue_rewind (graph->eng->agenda.queue, graph->eng->now);
  g_free (alone.heap);
  g_free (alone.stamp);
  g_free (alone.flow);
  return ok;
}
