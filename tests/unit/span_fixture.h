/* Task graphs that run to their end, and when their tasks ran. */
#ifndef SPAN_FIXTURE_H
#define SPAN_FIXTURE_H

#include "engine/graph.h"
#include "harness.h"

enum { COMPUTE, COMMUNICATION }; /* kinds of tasks */

static inline void
run (EngGraph *graph)
{
  g_autoptr (GError) error = NULL;
  gboolean ok = eng_graph_run (graph, &error);
  TEST_TRUE (ok);
  TEST_STR (error == NULL ? NULL : error->message, NULL);
}

#define TEST_SPAN(graph, task, from, to)                       \
  do {                                                         \
    TEST_INT (eng_graph_task_start ((graph), (task)), (from)); \
    TEST_INT (eng_graph_task_end ((graph), (task)), (to));     \
  } while (0)

#endif
