#include "base/error.h"
#include "base/random.h"
#include "span_fixture.h"

#define US UINT64_C (1000000)

/* Two of a stream one after the other, one of another beside them, a join after both: 0-3, 3-8, 0-6, 8. */
static void
streams_run_in_order_and_beside_each_other (void)
{
  g_autoptr (Eng) eng = eng_new ();
  g_autoptr (EngGraph) graph = eng_graph_new (eng);
  EngStream one = eng_graph_stream (graph, "compute"), two = eng_graph_stream (graph, "copy");
  EngTask a = eng_graph_delay (graph, one, 3, COMPUTE, "a"), b = eng_graph_delay (graph, one, 5, COMPUTE, "b");
  EngTask c = eng_graph_delay (graph, two, 6, COMMUNICATION, NULL);
  EngTask end = eng_graph_join (graph, ENG_NO_STREAM, COMPUTE, "end");
  eng_graph_after (graph, end, b);
  eng_graph_after (graph, end, c);
  TEST_TRUE (eng_graph_task_start (graph, a) == ENG_TIME_NEVER);
  run (graph);
  TEST_SPAN (graph, a, 0, 3);
  TEST_SPAN (graph, b, 3, 8);
  TEST_SPAN (graph, c, 0, 6);
  TEST_SPAN (graph, end, 8, 8);
  TEST_TRUE (eng_graph_task_cause (graph, end) == b);
  TEST_TRUE (eng_graph_task_cause (graph, b) == a);
  TEST_TRUE (eng_graph_task_cause (graph, a) == ENG_NO_TASK);
  TEST_INT (eng_graph_n_tasks (graph), 4);
  TEST_INT (eng_graph_n_done (graph), 4);
  TEST_INT (eng_graph_n_streams (graph), 2);
  TEST_STR (eng_graph_stream_name (graph, two), "copy");
  TEST_STR (eng_graph_task_name (graph, b), "b");
  TEST_STR (eng_graph_task_name (graph, c), "");
  TEST_INT (eng_graph_task_kind (graph, c), COMMUNICATION);
  TEST_TRUE (eng_graph_task_stream (graph, c) == two && eng_graph_task_stream (graph, end) == ENG_NO_STREAM);
}

/* Backward of 4 layers of 10 us each on the compute stream; each layer's gradients, 1 MB at 50 GB/s = 20 us after 2 us of latency,
 * follow on the communication stream. Layer i computes 10 i - 10 (i + 1); the reductions run 10-32, 32-54, 54-76, 76-98: all but
 * 58 us of communication hides, the step ends at 98, and the critical path is the first layer and then the stream of reductions. */
static void
gradients_reduce_while_the_backward_pass_goes_on (void)
{
  enum { LAYERS = 4 };
  g_autoptr (Eng) eng = eng_new ();
  g_autoptr (EngGraph) graph = eng_graph_new (eng);
  EngStream compute = eng_graph_stream (graph, "compute"), communicate = eng_graph_stream (graph, "nccl");
  EngUse use = { .link = eng_link_new (eng, 50e9), .weight = 1 };
  EngFlowSpec reduction = { .amount = 1e6, .latency = 2 * US, .uses = &use, .n_uses = 1 };
  EngTask backward[LAYERS], reduce[LAYERS];
  for (unsigned i = 0; i < LAYERS; i++) {
    backward[i] = eng_graph_delay (graph, compute, 10 * US, COMPUTE, "backward");
    reduce[i] = eng_graph_flow (graph, communicate, &reduction, COMMUNICATION, "all-reduce");
    eng_graph_after (graph, reduce[i], backward[i]);
  }
  run (graph);
  for (unsigned i = 0; i < LAYERS; i++) {
    TEST_SPAN (graph, backward[i], i * 10 * US, (i + 1) * 10 * US);
    TEST_SPAN (graph, reduce[i], (10 + 22 * i) * US, (32 + 22 * i) * US);
  }
  EngTask at = reduce[3];
  for (unsigned i = 3; i > 0; i--) {
    TEST_TRUE (eng_graph_task_cause (graph, at) == reduce[i - 1]);
    at = reduce[i - 1];
  }
  TEST_TRUE (eng_graph_task_cause (graph, at) == backward[0]);
}

/* Two ranks' flows start together and share a link of 100 units a second: 100 units each end at 2 s, whichever was added first. */
static void
flows_of_different_tasks_share_their_links (void)
{
  g_autoptr (Eng) eng = eng_new ();
  g_autoptr (EngGraph) graph = eng_graph_new (eng);
  EngUse use = { .link = eng_link_new (eng, 100), .weight = 1 };
  EngFlowSpec spec = { .amount = 100, .uses = &use, .n_uses = 1 };
  EngTask a = eng_graph_flow (graph, ENG_NO_STREAM, &spec, COMMUNICATION, "a");
  EngTask b = eng_graph_flow (graph, ENG_NO_STREAM, &spec, COMMUNICATION, "b");
  run (graph);
  TEST_SPAN (graph, a, 0, 2000000 * US);
  TEST_SPAN (graph, b, 0, 2000000 * US);
}

typedef struct {
  EngTask order[16];
  unsigned n;
} Order;

static void
note_start (Eng *eng, void *user, uint64_t arg)
{
  (void)eng;
  Order *order = user;
  order->order[order->n++] = (EngTask)arg;
}

/* Seven tasks of no time become ready at 10, by ends that happen in falling order: they start by number all the same. */
static void
tasks_ready_together_start_by_number (void)
{
  for (uint64_t seed = 0; seed < 5; seed++) {
    g_autoptr (Eng) eng = eng_new ();
    g_autoptr (EngGraph) graph = eng_graph_new (eng);
    Order order = { 0 };
    EngTask late[7], gates[7];
    eng_set_tie_shuffle (eng, seed);
    for (unsigned i = 0; i < 7; i++) {
      EngFlowSpec spec = { .done = note_start, .user = &order, .arg = i };
      late[i] = eng_graph_flow (graph, ENG_NO_STREAM, &spec, COMPUTE, NULL);
    }
    EngTask first = eng_graph_delay (graph, ENG_NO_STREAM, 4, COMPUTE, NULL);
    for (unsigned i = 7; i-- > 0;) {
      gates[i] = eng_graph_delay (graph, ENG_NO_STREAM, 6, COMPUTE, NULL);
      eng_graph_after (graph, gates[i], first);
      eng_graph_after (graph, late[i], gates[i]);
    }
    run (graph);
    TEST_INT (order.n, 7);
    for (unsigned i = 0; i < 7; i++) {
      TEST_INT (eng_graph_task_start (graph, late[i]), 10);
      if (seed == 0)
        TEST_INT (order.order[i], i);
    }
  }
}

/* Two copy engines, tasks of 10, 12, 4 and 5: 0 and 1 start, 2 follows at 10 when 0 ends, 3 at 12 when 1 ends. */
static void
resources_are_granted_in_task_order (void)
{
  g_autoptr (Eng) eng = eng_new ();
  g_autoptr (EngGraph) graph = eng_graph_new (eng);
  EngResource copy = eng_graph_resource (graph, "copy engines", 2);
  static const EngTime lengths[] = { 10, 12, 4, 5 };
  EngTask tasks[4];
  for (unsigned i = 0; i < 4; i++) {
    tasks[i] = eng_graph_delay (graph, ENG_NO_STREAM, lengths[i], COMMUNICATION, NULL);
    eng_graph_hold (graph, tasks[i], copy, 1);
  }
  run (graph);
  TEST_SPAN (graph, tasks[0], 0, 10);
  TEST_SPAN (graph, tasks[1], 0, 12);
  TEST_SPAN (graph, tasks[2], 10, 14);
  TEST_SPAN (graph, tasks[3], 12, 17);
  TEST_TRUE (eng_graph_task_cause (graph, tasks[2]) == tasks[0]); /* gave the unit back */
  TEST_TRUE (eng_graph_task_cause (graph, tasks[3]) == tasks[1]);
  TEST_TRUE (eng_graph_task_cause (graph, tasks[0]) == ENG_NO_TASK);
}

/* Of 3 units: 0 holds 2 until 10, 1 wants 2, 2 wants 1. One is free all along, but 2 may not overtake 1, which would starve:
 * 1 runs 10-20, and 2 beside it. */
static void
nobody_overtakes_a_lower_task_that_waits (void)
{
  g_autoptr (Eng) eng = eng_new ();
  g_autoptr (EngGraph) graph = eng_graph_new (eng);
  EngResource units = eng_graph_resource (graph, "units", 3);
  EngTask a = eng_graph_delay (graph, ENG_NO_STREAM, 10, COMPUTE, "a");
  EngTask b = eng_graph_delay (graph, ENG_NO_STREAM, 10, COMPUTE, "b");
  EngTask c = eng_graph_delay (graph, ENG_NO_STREAM, 10, COMPUTE, "c");
  eng_graph_hold (graph, a, units, 2);
  eng_graph_hold (graph, b, units, 1);
  eng_graph_hold (graph, b, units, 1); /* adds: 2 */
  eng_graph_hold (graph, c, units, 1);
  run (graph);
  TEST_SPAN (graph, a, 0, 10);
  TEST_SPAN (graph, b, 10, 20);
  TEST_SPAN (graph, c, 10, 20);
}

/* Philosophers: task i of 5 ps holds forks i and i + 1. Taken together there is no deadlock. Task 0 starts; 1 waits for its fork 1;
 * 2 stands behind 1 at fork 2, 3 behind 2 at fork 3, 4 behind 3 at fork 4: one after the other, since nobody overtakes. */
static void
resources_are_taken_together_so_that_circles_do_not_deadlock (void)
{
  g_autoptr (Eng) eng = eng_new ();
  g_autoptr (EngGraph) graph = eng_graph_new (eng);
  EngResource forks[5];
  EngTask tasks[5];
  for (unsigned i = 0; i < 5; i++)
    forks[i] = eng_graph_resource (graph, "fork", 1);
  for (unsigned i = 0; i < 5; i++) {
    tasks[i] = eng_graph_delay (graph, ENG_NO_STREAM, 5, COMPUTE, NULL);
    eng_graph_hold (graph, tasks[i], forks[i], 1);
    eng_graph_hold (graph, tasks[i], forks[(i + 1) % 5], 1);
  }
  run (graph);
  for (unsigned i = 0; i < 5; i++)
    TEST_INT (eng_graph_task_start (graph, tasks[i]), 5 * i);
}

static void
holding_more_than_there_is_is_refused (void)
{
  g_autoptr (Eng) eng = eng_new ();
  g_autoptr (EngGraph) graph = eng_graph_new (eng);
  g_autoptr (GError) error = NULL;
  EngResource copy = eng_graph_resource (graph, "copy engines", 2);
  EngTask task = eng_graph_delay (graph, ENG_NO_STREAM, 1, COMPUTE, "greedy");
  eng_graph_hold (graph, task, copy, 3);
  TEST_FALSE (eng_graph_run (graph, &error));
  TEST_TRUE (g_error_matches (error, BASE_ERROR, BASE_ERROR_RUN));
  TEST_STR (error->message, "'greedy' (task 0) holds 3 units of 'copy engines', which has 2");
}

/* a comes after c, and c follows b follows a in their stream; d only hangs below. */
static void
a_circle_is_named_and_nothing_runs (void)
{
  g_autoptr (Eng) eng = eng_new ();
  g_autoptr (EngGraph) graph = eng_graph_new (eng);
  g_autoptr (GError) error = NULL;
  EngStream stream = eng_graph_stream (graph, "s");
  EngTask below = eng_graph_delay (graph, ENG_NO_STREAM, 1, COMPUTE, "below");
  EngTask a = eng_graph_delay (graph, stream, 1, COMPUTE, "a");
  eng_graph_delay (graph, stream, 1, COMPUTE, NULL);
  EngTask c = eng_graph_delay (graph, stream, 1, COMPUTE, "c");
  eng_graph_after (graph, a, c);
  eng_graph_after (graph, below, c);
  TEST_FALSE (eng_graph_run (graph, &error));
  TEST_TRUE (g_error_matches (error, BASE_ERROR, BASE_ERROR_RUN));
  TEST_STR (error->message,
            "3 tasks wait for each other in a circle: 'a' (task 1) waits for 'c' (task 3) waits for task 2 waits for "
            "'a' (task 1)");
  TEST_INT (eng_graph_n_done (graph), 0);
  TEST_INT (eng_stats (eng).events, 0);
}

static void
long_circles_and_loops_of_one_are_named_too (void)
{
  g_autoptr (Eng) eng = eng_new ();
  g_autoptr (EngGraph) graph = eng_graph_new (eng), self = eng_graph_new (eng);
  g_autoptr (GError) error = NULL;
  for (unsigned i = 0; i < 1000; i++)
    eng_graph_join (graph, ENG_NO_STREAM, COMPUTE, NULL);
  for (unsigned i = 0; i < 1000; i++)
    eng_graph_after (graph, i, (i + 1) % 1000);
  TEST_FALSE (eng_graph_run (graph, &error));
  TEST_HAS (error->message, "1000 tasks wait for each other in a circle: task 0 waits for task 1 waits for ");
  TEST_HAS (error->message, "994 more, the last of which waits for task 0");
  g_clear_error (&error);
  eng_graph_join (self, ENG_NO_STREAM, COMPUTE, "me");
  eng_graph_after (self, 0, 0);
  TEST_FALSE (eng_graph_run (self, &error));
  TEST_STR (error->message, "a task waits for itself: 'me' (task 0)");
}

static void
a_flow_that_cannot_move_names_its_task (void)
{
  g_autoptr (Eng) eng = eng_new ();
  g_autoptr (EngGraph) graph = eng_graph_new (eng);
  g_autoptr (GError) error = NULL;
  EngUse use = { .link = eng_link_new (eng, 0), .weight = 1 };
  EngFlowSpec spec = { .amount = 1, .uses = &use, .n_uses = 1 };
  eng_graph_flow (graph, ENG_NO_STREAM, &spec, COMMUNICATION, "send");
  TEST_FALSE (eng_graph_run (graph, &error));
  TEST_HAS (error->message, "'send' (task 0) has not ended: at 0 s: 1 activity cannot move");
}

/* Graphs run from the engine's present time, and several can run at once. */
static void
two_graphs_share_one_engine (void)
{
  g_autoptr (Eng) eng = eng_new ();
  g_autoptr (EngGraph) one = eng_graph_new (eng), two = eng_graph_new (eng), later = eng_graph_new (eng),
                       empty = eng_graph_new (eng);
  EngUse use = { .link = eng_link_new (eng, 1e12), .weight = 1 }; /* one unit a ps */
  EngFlowSpec spec = { .amount = 100, .uses = &use, .n_uses = 1 };
  eng_graph_flow (one, ENG_NO_STREAM, &spec, COMMUNICATION, NULL);
  eng_graph_flow (two, ENG_NO_STREAM, &spec, COMMUNICATION, NULL);
  eng_graph_delay (later, ENG_NO_STREAM, 7, COMPUTE, NULL);
  TEST_TRUE (eng_graph_start (one, NULL) && eng_graph_start (two, NULL));
  TEST_TRUE (eng_run (eng, ENG_TIME_NEVER, 0, NULL));
  TEST_SPAN (one, 0, 0, 200);
  TEST_SPAN (two, 0, 0, 200);
  run (later);
  TEST_SPAN (later, 0, 200, 207);
  run (empty);
}

/* A million tasks in 1,000 streams of 1,000, each after its left neighbour: task (s, i) of one ps starts at s + i, ends with
 * 999 + 999 + 1. */
static void
a_million_tasks_run (void)
{
  enum { STREAMS = 1000, LENGTH = 1000 };
  g_autoptr (Eng) eng = eng_new ();
  g_autoptr (EngGraph) graph = eng_graph_new (eng);
  for (unsigned s = 0; s < STREAMS; s++) {
    EngStream stream = eng_graph_stream (graph, NULL);
    for (unsigned i = 0; i < LENGTH; i++) {
      EngTask task = eng_graph_delay (graph, stream, 1, COMPUTE, NULL);
      if (s > 0)
        eng_graph_after (graph, task, task - LENGTH);
    }
  }
  run (graph);
  TEST_INT (eng_now (eng), STREAMS + LENGTH - 1);
  unsigned n_wrong = 0;
  for (EngTask task = 0; task < STREAMS * LENGTH; task++)
    n_wrong += eng_graph_task_start (graph, task) != task / LENGTH + task % LENGTH;
  TEST_INT (n_wrong, 0);
  /* ties go to the lowest number: the left neighbour, a stream before */
  TEST_TRUE (eng_graph_task_cause (graph, 5 * LENGTH + 7) == 4 * LENGTH + 7);
}

/* Graphs that follow one another on one engine: each begins where the one before says that it is over. */
typedef struct {
  EngGraph *next;
  EngTime at;
  unsigned n;
} Relay;

static void
hand_over (Eng *eng, void *user, uint64_t arg)
{
  Relay *relay = user;
  relay->n += (unsigned)arg;
  relay->at = eng_now (eng);
  if (relay->next != NULL)
    TEST_TRUE (eng_graph_start (relay->next, NULL));
  relay->next = NULL;
}

static void
a_graph_says_once_that_it_is_over_and_another_may_follow (void)
{
  g_autoptr (Eng) eng = eng_new ();
  g_autoptr (EngGraph) first = eng_graph_new (eng);
  g_autoptr (EngGraph) second = eng_graph_new (eng);
  Relay relay = { .next = second };
  eng_graph_delay (first, eng_graph_stream (first, "a"), 7, COMPUTE, NULL);
  eng_graph_delay (first, eng_graph_stream (first, "b"), 4, COMPUTE, NULL);
  EngTask last = eng_graph_delay (second, eng_graph_stream (second, "a"), 5, COMPUTE, NULL);
  eng_graph_set_done (first, hand_over, &relay, 1);
  eng_graph_set_done (second, hand_over, &relay, 10);
  TEST_TRUE (eng_graph_start (first, NULL) && eng_run (eng, ENG_TIME_NEVER, 0, NULL));
  TEST_SPAN (second, last, 7, 12);
  TEST_INT (relay.n, 11);
  TEST_INT (relay.at, 12);
}

/* ---- graphs that cross no link ---- */

enum { DRAWN = 60 };

/* Each compute task slows what runs beside it, and the other way round, by their numbers. */
static void
slow_each_other (void *user, EngPlace place, const EngTask *running, unsigned n, double *speed)
{
  (void)user;
  (void)place;
  for (unsigned i = 0; i < n && n > 1; i++)
    speed[i] = 1 / (1 + 0.1 * (running[i] % 4));
}

/* The same graph for the same seed: delays, flows without links, joins, of which some slow each other. */
static EngGraph *
drawn_graph (Eng *eng, uint64_t seed)
{
  BaseRandom random = base_random_stream (seed, "alone");
  EngGraph *graph = eng_graph_new (eng);
  EngStream stream[] = { eng_graph_stream (graph, "a"), eng_graph_stream (graph, "b"), ENG_NO_STREAM };
  EngPlace place[] = { eng_graph_place (graph), eng_graph_place (graph) };
  eng_graph_expect (graph, DRAWN, DRAWN, DRAWN);
  eng_graph_set_pace (graph, slow_each_other, NULL);
  for (unsigned i = 0; i < DRAWN; i++) {
    EngStream in = stream[base_random_below (&random, 3)];
    unsigned kind = base_random_below (&random, 5);
    const EngFlowSpec flow = { .amount = base_random_below (&random, 4) * 1e6,
                               .bound_per_s = 1e9 * (1 + base_random_below (&random, 3)),
                               .latency = base_random_below (&random, 3) * US };
    EngTask task = kind == 0   ? eng_graph_join (graph, in, COMPUTE, "join")
                   : kind <= 2 ? eng_graph_delay (graph, in, base_random_below (&random, 5) * 100 * US, COMPUTE, "work")
                               : eng_graph_flow (graph, in, &flow, COMMUNICATION, "send");
    for (unsigned k = 0; kind > 0 && k < 2; k++)
      if (base_random_below (&random, 3) > 0)
        eng_graph_on (graph, task, place[k]);
    for (unsigned k = 0; i > 0 && k < 2; k++)
      if (base_random_below (&random, 3) == 0)
        eng_graph_after (graph, task, base_random_below (&random, i));
  }
  return graph;
}

static void
do_nothing (Eng *eng, void *user, uint64_t arg)
{
  (void)eng;
  (void)user;
  (void)arg;
}

/* A timer beside the graph, behind its end, leaves the run to the engine's queue and network. */
static void
a_graph_alone_runs_as_on_the_engine (void)
{
  for (uint64_t seed = 1; seed <= 200; seed++) {
    g_autoptr (Eng) one = eng_new (), other = eng_new ();
    g_autoptr (EngGraph) alone = drawn_graph (one, seed), beside = drawn_graph (other, seed);
    eng_at (other, (EngTime)(ENG_PS_PER_S * 1000), do_nothing, NULL, 0);
    run (alone);
    run (beside);
    for (EngTask t = 0; t < DRAWN; t++) {
      TEST_TRUE (eng_graph_task_start (alone, t) == eng_graph_task_start (beside, t));
      TEST_TRUE (eng_graph_task_end (alone, t) == eng_graph_task_end (beside, t));
      TEST_TRUE (eng_graph_task_cause (alone, t) == eng_graph_task_cause (beside, t));
    }
    TEST_INT (eng_stats (one).events + 1, eng_stats (other).events);
    TEST_INT (eng_stats (one).flows, eng_stats (other).flows);
    TEST_TRUE (eng_now (one) <= eng_now (other));
  }
}

/* Ends that a double of picoseconds cannot hold are looked at again; what lies beyond the clock is an error that names the task. */
static void
a_graph_alone_may_last_long_but_not_for_ever (void)
{
  g_autoptr (Eng) eng = eng_new (), other = eng_new ();
  g_autoptr (EngGraph) graph = eng_graph_new (eng), beside = eng_graph_new (other);
  const EngFlowSpec day = { .amount = 86400, .bound_per_s = 1 };
  EngTask task = eng_graph_flow (graph, ENG_NO_STREAM, &day, COMMUNICATION, "day");
  eng_at (other, (EngTime)(ENG_PS_PER_S * 1e5), do_nothing, NULL, 0);
  eng_graph_flow (beside, ENG_NO_STREAM, &day, COMMUNICATION, "day");
  run (graph);
  run (beside);
  TEST_TRUE (eng_graph_task_end (graph, task) == eng_graph_task_end (beside, task));
  TEST_NEAR (eng_time_to_s (eng_graph_task_end (graph, task)), 86400, 1e-12);
  g_autoptr (EngGraph) next = eng_graph_new (eng); /* from there on */
  EngTask later = eng_graph_delay (next, eng_graph_stream (next, "a"), 5, COMPUTE, "later");
  run (next);
  TEST_TRUE (eng_graph_task_end (next, later) == eng_graph_task_end (graph, task) + 5);
  g_autoptr (EngGraph) never = eng_graph_new (eng);
  eng_graph_delay (never, eng_graph_stream (never, "a"), ENG_TIME_NEVER - 1, COMPUTE, "age");
  g_autoptr (GError) error = NULL;
  TEST_FALSE (eng_graph_run (never, &error));
  TEST_HAS (error->message, "'age' (task 0) has not ended: ");
  TEST_HAS (error->message, "beyond the range of the clock");
}

int
main (void)
{
  static const TestCase cases[] = {
    { "streams run in order and beside each other", streams_run_in_order_and_beside_each_other },
    { "gradients reduce while the backward pass goes on", gradients_reduce_while_the_backward_pass_goes_on },
    { "flows of different tasks share their links", flows_of_different_tasks_share_their_links },
    { "a graph says once that it is over, and another may follow", a_graph_says_once_that_it_is_over_and_another_may_follow },
    { "tasks ready together start by number", tasks_ready_together_start_by_number },
    { "resources are granted in task order", resources_are_granted_in_task_order },
    { "nobody overtakes a lower task that waits", nobody_overtakes_a_lower_task_that_waits },
    { "resources are taken together so that circles do not deadlock",
      resources_are_taken_together_so_that_circles_do_not_deadlock },
    { "holding more than there is is refused", holding_more_than_there_is_is_refused },
    { "a circle is named and nothing runs", a_circle_is_named_and_nothing_runs },
    { "long circles and loops of one are named too", long_circles_and_loops_of_one_are_named_too },
    { "a flow that cannot move names its task", a_flow_that_cannot_move_names_its_task },
    { "two graphs share one engine", two_graphs_share_one_engine },
    { "a million tasks run", a_million_tasks_run },
    { "a graph alone runs as on the engine", a_graph_alone_runs_as_on_the_engine },
    { "a graph alone may last long, but not for ever", a_graph_alone_may_last_long_but_not_for_ever },
    { NULL, NULL },
  };
  return test_main ("engine graph", cases);
}
