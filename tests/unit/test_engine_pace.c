/* Tasks that slow each other down on a place. */
#include "span_fixture.h"

/* Half speed for each as soon as two run. */
static void
halve (void *user, EngPlace place, const EngTask *running, unsigned n, double *speed)
{
  unsigned *calls = user;
  (void)place;
  (*calls)++;
  for (unsigned i = 1; i < n; i++)
    TEST_TRUE (running[i - 1] < running[i]);
  for (unsigned i = 0; i < n; i++)
    speed[i] = n > 1 ? 0.5 : 1.0;
}

static EngTask
delay_on (EngGraph *graph, EngStream stream, EngPlace place, EngTime duration)
{
  EngTask task = eng_graph_delay (graph, stream, duration, COMPUTE, NULL);
  eng_graph_on (graph, task, place);
  return task;
}

/* 100 and 40 together: until 80 both at half, 40 of each done; the rest of the first alone until 140. */
static void
two_delays_slow_each_other_while_both_run (void)
{
  g_autoptr (Eng) eng = eng_new ();
  g_autoptr (EngGraph) graph = eng_graph_new (eng);
  unsigned calls = 0;
  eng_graph_set_pace (graph, halve, &calls);
  EngPlace gpu = eng_graph_place (graph), other = eng_graph_place (graph);
  EngTask a = delay_on (graph, eng_graph_stream (graph, NULL), gpu, 100);
  EngTask b = delay_on (graph, eng_graph_stream (graph, NULL), gpu, 40);
  EngTask alone = delay_on (graph, eng_graph_stream (graph, NULL), other, 100);
  run (graph);
  TEST_SPAN (graph, a, 0, 140);
  TEST_SPAN (graph, b, 0, 80);
  TEST_SPAN (graph, alone, 0, 100);
  TEST_INT (calls, 3); /* both places at 0, one more when b ends */
}

/* A flow of 1000 bound to 10 a picosecond beside a delay of 40: until 80 at half, 400 moved, then 600 in 60. */
static void
a_flow_goes_at_a_part_of_its_bound (void)
{
  g_autoptr (Eng) eng = eng_new ();
  g_autoptr (EngGraph) graph = eng_graph_new (eng);
  unsigned calls = 0;
  eng_graph_set_pace (graph, halve, &calls);
  EngPlace gpu = eng_graph_place (graph);
  const EngUse use = { eng_link_new (eng, 1e14), 1 };
  const EngFlowSpec spec = { .amount = 1000, .bound_per_s = 10 * ENG_PS_PER_S, .uses = &use, .n_uses = 1 };
  const EngFlowSpec free_of_links = { .amount = 1000, .bound_per_s = 10 * ENG_PS_PER_S };
  EngTask flow = eng_graph_flow (graph, ENG_NO_STREAM, &spec, COMMUNICATION, NULL);
  eng_graph_on (graph, flow, gpu);
  EngTask work = delay_on (graph, ENG_NO_STREAM, gpu, 40);
  EngPlace second = eng_graph_place (graph);
  EngTask other = eng_graph_flow (graph, ENG_NO_STREAM, &free_of_links, COMMUNICATION, NULL);
  eng_graph_on (graph, other, second);
  EngTask beside = delay_on (graph, ENG_NO_STREAM, second, 40);
  run (graph);
  TEST_SPAN (graph, work, 0, 80);
  TEST_SPAN (graph, flow, 0, 140);
  TEST_SPAN (graph, beside, 0, 80);
  TEST_SPAN (graph, other, 0, 140);
}

/* A collective on two GPUs, each busy for a time of its own (20 and 50 of work): at half until 100, when the second is done. */
static void
a_task_on_two_places_goes_at_the_least_speed (void)
{
  g_autoptr (Eng) eng = eng_new ();
  g_autoptr (EngGraph) graph = eng_graph_new (eng);
  unsigned calls = 0;
  eng_graph_set_pace (graph, halve, &calls);
  EngPlace left = eng_graph_place (graph), right = eng_graph_place (graph);
  EngTask both = delay_on (graph, ENG_NO_STREAM, left, 70);
  eng_graph_on (graph, both, right);
  eng_graph_on (graph, both, right); /* once is enough */
  EngTask a = delay_on (graph, ENG_NO_STREAM, left, 20), b = delay_on (graph, ENG_NO_STREAM, right, 50);
  run (graph);
  TEST_SPAN (graph, a, 0, 40);
  TEST_SPAN (graph, b, 0, 100);
  TEST_SPAN (graph, both, 0, 120);
}

/* One after the other on a stream, at full speed: a start and an end of one instant never count as two that run. */
static void
neighbours_in_a_stream_do_not_meet (void)
{
  g_autoptr (Eng) eng = eng_new ();
  g_autoptr (EngGraph) graph = eng_graph_new (eng);
  unsigned calls = 0;
  eng_graph_set_pace (graph, halve, &calls);
  EngPlace gpu = eng_graph_place (graph);
  EngStream stream = eng_graph_stream (graph, NULL);
  EngTask last = ENG_NO_TASK;
  for (unsigned i = 0; i < 10; i++)
    last = delay_on (graph, stream, gpu, 7);
  run (graph);
  TEST_SPAN (graph, last, 63, 70);
}

/* Work is kept: whatever runs beside it, a delay ends when the integral of its speed is its work. Thirds do not divide. */
static void
third (void *user, EngPlace place, const EngTask *running, unsigned n, double *speed)
{
  (void)user;
  (void)place;
  (void)running;
  for (unsigned i = 0; i < n; i++)
    speed[i] = 1.0 / n;
}

static void
a_processor_shared_by_all_does_all_work_in_its_sum (void)
{
  g_autoptr (Eng) eng = eng_new ();
  g_autoptr (EngGraph) graph = eng_graph_new (eng);
  eng_graph_set_pace (graph, third, NULL);
  EngPlace gpu = eng_graph_place (graph);
  EngTime sum = 0;
  for (EngTime i = 0; i < 100; i++) {
    EngTime work = 1000000 + 7919 * (i * i % 101);
    delay_on (graph, ENG_NO_STREAM, gpu, work);
    sum += work;
  }
  run (graph);
  TEST_NEAR ((double)eng_now (eng), (double)sum, 100); /* ends are whole picoseconds, one each */
}

int
main (void)
{
  static const TestCase cases[] = {
    { "two delays slow each other while both run", two_delays_slow_each_other_while_both_run },
    { "a flow goes at a part of its bound", a_flow_goes_at_a_part_of_its_bound },
    { "a task on two places goes at the least speed", a_task_on_two_places_goes_at_the_least_speed },
    { "neighbours in a stream do not meet", neighbours_in_a_stream_do_not_meet },
    { "a processor shared by all does all work in its sum", a_processor_shared_by_all_does_all_work_in_its_sum },
    { NULL, NULL },
  };
  return test_main ("engine pace", cases);
}
