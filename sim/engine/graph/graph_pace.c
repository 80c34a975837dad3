/* Places: tasks that run on one of them at the same time slow each other down.
 *
 * What runs on a place changes a few times an instant; once all starts and ends of the instant are known the caller's function is
 * asked for the speed of each task, and those whose speed moved are brought up to date: of a delay the work left and its timer,
 * of a flow its own rate bound. A task on several places goes at the least of their speeds. */
#include <math.h>

#include "base/append.h"
#include "graph-private.h"

/* Work of a delay that is left as rounding: less than a picosecond. */
static const double REST_PS = 0.0625;

EngPlace
eng_graph_place (EngGraph *graph)
{
  GraphPlace place = { .running = NULL };
  g_array_append_val (graph->places, place);
  return graph->places->len - 1u;
}

void
eng_graph_set_pace (EngGraph *graph, EngPaceFn pace, void *user)
{
  graph->pace = pace;
  graph->pace_user = user;
}

void
eng_graph_on (EngGraph *graph, EngTask id, EngPlace place)
{
  g_assert (!graph->started && id < graph->tasks->len && place < graph->places->len);
  GraphTask *task = graph_task (graph, id);
  g_assert (task->type != TASK_JOIN);
  if (task->paced == GRAPH_NONE) {
    task->paced = graph->paced->len;
    *(GraphPaced *)base_append (graph->paced, &graph->room.paced, sizeof (GraphPaced)) =
        (GraphPaced){ .task = id, .speed = 1.0, .first = GRAPH_NONE };
  }
  GraphPaced *paced = graph_paced (graph, task->paced);
  for (uint32_t i = paced->first; i != GRAPH_NONE; i = g_array_index (graph->standings, GraphPlaceUse, i).next)
    if (g_array_index (graph->standings, GraphPlaceUse, i).place == place)
      return;
  GraphPlaceUse *standing = base_append (graph->standings, &graph->room.standings, sizeof *standing);
  *standing = (GraphPlaceUse){ .place = place, .next = paced->first, .speed = 1.0 };
  paced->first = graph->standings->len - 1u;
}

static void
mark (EngGraph *graph, EngPlace id)
{
  GraphPlace *place = &g_array_index (graph->places, GraphPlace, id);
  if (place->marked)
    return;
  place->marked = true;
  g_array_append_val (graph->stirred, id);
}

/* In the order of task numbers, so that the caller sees no history. */
static void
insert (GArray *running, EngTask task)
{
  guint at = running->len;
  while (at > 0 && g_array_index (running, EngTask, at - 1) > task)
    at--;
  g_array_insert_val (running, at, task);
}

static void
take_out (GArray *running, EngTask task) /* a task of no time never came in */
{
  for (guint i = 0; running != NULL && i < running->len; i++)
    if (g_array_index (running, EngTask, i) == task) {
      g_array_remove_index (running, i);
      return;
    }
}

void
eng_graph_pace_enter (EngGraph *graph, const GraphPaced *paced)
{
  for (uint32_t i = paced->first; i != GRAPH_NONE; i = g_array_index (graph->standings, GraphPlaceUse, i).next) {
    GraphPlaceUse *standing = &g_array_index (graph->standings, GraphPlaceUse, i);
    GraphPlace *place = &g_array_index (graph->places, GraphPlace, standing->place);
    standing->speed = 1.0;
    if (place->running == NULL)
      place->running = g_array_new (FALSE, FALSE, sizeof (EngTask));
    insert (place->running, paced->task);
    mark (graph, standing->place);
  }
}

void
eng_graph_pace_leave (EngGraph *graph, const GraphPaced *paced)
{
  for (uint32_t i = paced->first; i != GRAPH_NONE; i = g_array_index (graph->standings, GraphPlaceUse, i).next) {
    EngPlace place = g_array_index (graph->standings, GraphPlaceUse, i).place;
    take_out (g_array_index (graph->places, GraphPlace, place).running, paced->task);
    mark (graph, place);
  }
}

/* From now on. */
static void
set_speed (EngGraph *graph, GraphPaced *paced, double speed)
{
  EngTime now = eng_now (graph->eng);
  const GraphTask *task = graph_task (graph, paced->task);
  if (speed >= paced->speed && speed <= paced->speed)
    return;
  if (task->type == TASK_FLOW) {
    double bound = paced->bound_per_s * speed;
    paced->speed = speed;
    if (graph->alone != NULL)
      eng_graph_alone_bound (graph, paced->task, speed < 1.0 ? bound : paced->bound_per_s);
    else
      eng_flow_set_bound (graph->eng, paced->flow, speed < 1.0 ? bound : paced->bound_per_s);
    return;
  }
  paced->left_ps -= (double)(now - paced->since) * paced->speed;
  paced->since = now;
  paced->speed = speed;
  double more = paced->left_ps > REST_PS ? ceil ((paced->left_ps - REST_PS) / speed) : 0.0;
  EngTime wait = more >= (double)ENG_TIME_NEVER ? ENG_TIME_NEVER : (EngTime)more;
  if (graph->alone != NULL) {
    eng_graph_alone_delay (graph, paced->task, eng_time_add (now, wait));
    return;
  }
  eng_cancel (graph->eng, paced->timer);
  paced->timer = eng_at (graph->eng, eng_time_add (now, wait), eng_graph_task_ended, graph, paced->task);
}

static double
least_speed (const EngGraph *graph, const GraphPaced *paced)
{
  double speed = 1.0;
  for (uint32_t i = paced->first; i != GRAPH_NONE; i = g_array_index (graph->standings, GraphPlaceUse, i).next)
    speed = fmin (speed, g_array_index (graph->standings, GraphPlaceUse, i).speed);
  return speed;
}

static void
query (EngGraph *graph, EngPlace id)
{
  const GArray *running = g_array_index (graph->places, GraphPlace, id).running;
  if (running == NULL || running->len == 0)
    return;
  g_array_set_size (graph->speeds, running->len);
  double *speed = (double *)(gpointer)graph->speeds->data;
  for (guint i = 0; i < running->len; i++)
    speed[i] = 1.0;
  graph->pace (graph->pace_user, id, (const EngTask *)(gconstpointer)running->data, running->len, speed);
  for (guint k = 0; k < running->len; k++) {
    g_assert (speed[k] > 0.0 && speed[k] <= 1.0);
    GraphPaced *paced = graph_paced (graph, graph_task (graph, g_array_index (running, EngTask, k))->paced);
    uint32_t i = paced->first;
    while (g_array_index (graph->standings, GraphPlaceUse, i).place != id)
      i = g_array_index (graph->standings, GraphPlaceUse, i).next;
    g_array_index (graph->standings, GraphPlaceUse, i).speed = speed[k];
    set_speed (graph, paced, least_speed (graph, paced));
  }
}

void
eng_graph_pace_settle (EngGraph *graph)
{
  for (guint i = 0; i < graph->stirred->len; i++) {
    EngPlace id = g_array_index (graph->stirred, EngPlace, i);
    g_array_index (graph->places, GraphPlace, id).marked = false;
    if (graph->pace != NULL)
      query (graph, id);
  }
  g_array_set_size (graph->stirred, 0);
}

void
eng_graph_pace_clear (EngGraph *graph)
{
  for (guint i = 0; i < graph->places->len; i++)
    if (g_array_index (graph->places, GraphPlace, i).running != NULL)
      g_array_unref (g_array_index (graph->places, GraphPlace, i).running);
}
