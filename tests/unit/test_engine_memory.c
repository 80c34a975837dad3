/* Memory of the flow network: what a flow that has not ended takes, and what a link takes on which nothing has moved. Growth of the
 * resident set, each in a process of its own, so that nothing that was freed before is counted away. */
#define _GNU_SOURCE
#include "engine/flow.h"

#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SOURCES = 1024, FLOWS = 300000 };

#define S       UINT64_C (1000000000000)
#define PORT_PS 50e9

static double
resident_B (void)
{
  g_autofree char *text = NULL;
  if (!g_file_get_contents ("/proc/self/statm", &text, NULL, NULL))
    return -1;
  char *end;
  g_ascii_strtoull (text, &end, 10);
  return (double)g_ascii_strtoull (end, NULL, 10) * (double)sysconf (_SC_PAGESIZE);
}

/* What `grow` adds, in B of each of n; as it is measured in a child, rounded to whole ones. */
static int
growth_B (void (*grow) (Eng *eng), double n)
{
  fflush (stdout);
  const pid_t child = fork ();
  if (child == 0) {
    Eng *eng = eng_new ();
    const double before_B = resident_B ();
    grow (eng);
    const double each_B = (resident_B () - before_B) / n;
    eng_free (eng);
    _exit (before_B < 0 || each_B > 250 ? 251 : (int)(each_B + 0.5));
  }
  int status = -1;
  if (child < 0 || waitpid (child, &status, 0) != child || !WIFEXITED (status))
    return -1;
  return WEXITSTATUS (status);
}

/* An incast from many links: two links a flow, sizes all different. */
static void
start_flows (Eng *eng, EngTime latency)
{
  double capacity[SOURCES + 1];
  for (unsigned i = 0; i <= SOURCES; i++)
    capacity[i] = PORT_PS;
  const EngLink first = eng_links_new (eng, capacity, SOURCES + 1);
  for (unsigned i = 0; i < FLOWS; i++) {
    const EngUse uses[] = { { first + i % SOURCES, 1 }, { first + SOURCES, 1 } };
    eng_flow_start (eng, &(EngFlowSpec){ .amount = 1e6 + i, .latency = latency, .uses = uses, .n_uses = 2 });
  }
}

static void
flows_wait (Eng *eng)
{
  start_flows (eng, S);
}

static void
flows_move (Eng *eng)
{
  start_flows (eng, 0);
  if (!eng_run (eng, 6 * S + S / 100, 0, NULL)) /* all but a few, which have ended, move */
    _exit (252);
}

static void
make_links (Eng *eng)
{
  static double capacity[1000];
  for (unsigned i = 0; i < G_N_ELEMENTS (capacity); i++)
    capacity[i] = PORT_PS;
  for (unsigned i = 0; i < 1000; i++)
    eng_links_new (eng, capacity, G_N_ELEMENTS (capacity));
}

static void
a_flow_takes_a_hundred_bytes (void)
{
  const int waiting_B = growth_B (flows_wait, FLOWS), moving_B = growth_B (flows_move, FLOWS);
  fprintf (stderr, "a flow that waits %d B, one that moves %d B\n", waiting_B, moving_B);
  TEST_TRUE (waiting_B > 0 && waiting_B <= 100);
  TEST_TRUE (moving_B > 0 && moving_B <= 100);
}

static void
a_link_without_flows_takes_little (void)
{
  const int link_B = growth_B (make_links, 1e6);
  fprintf (stderr, "a link %d B\n", link_B);
  TEST_TRUE (link_B > 0 && link_B <= 32);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "a flow takes a hundred bytes", a_flow_takes_a_hundred_bytes },
    { "a link without flows takes little", a_link_without_flows_takes_little },
    { NULL, NULL },
  };
  return test_main ("engine memory", cases);
}
