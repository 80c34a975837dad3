/* Workloads of kind `flows`: times that arithmetic gives, files of flows, distributions, patterns, and what is refused.
 * The fixture's hosts are nodes of one GPU: 10 us and 10 GB/s from one to another. */
#define _DEFAULT_SOURCE /* mkdtemp */
#include "engine/need.h"
#include "flows-private.h"
#include "scenario_fixture.h"

#include <math.h>
#include <unistd.h>

static char folder[] = "/tmp/forerun-flows-XXXXXX";

static const ScnFlowsResult *
own_of (const ScnResult *result)
{
  return result->own;
}

/* A workload that reads a file with this text. Returned: full. */
static char *
listed (const char *text)
{
  g_autofree char *path = g_build_filename (folder, "flows.csv", NULL);
  TEST_TRUE (g_file_set_contents (path, text, -1, NULL));
  return g_strdup_printf ("{kind: flows, file: %s}", path);
}

/* The message with which a scenario is refused, loaded or run; "" where it is not. Returned: full. */
static char *
refusal (unsigned n_nodes, const char *workload)
{
  g_autofree char *text = scenario_text (1, n_nodes, workload, ""), *message = NULL;
  g_autoptr (Scn) scenario = scenario_load (text, NULL, NULL, &message);
  g_autoptr (GError) error = NULL;
  if (scenario == NULL)
    return message != NULL ? g_steal_pointer (&message) : g_strdup ("");
  g_autoptr (ScnResult) result = scn_run (scenario, FALSE, &error);
  TEST_TRUE ((result == NULL) == (error != NULL));
  return g_strdup (error != NULL ? error->message : "");
}

static void
check_refused (unsigned n_nodes, const char *workload, const char *expected)
{
  g_autofree char *said = refusal (n_nodes, workload);
  const gboolean is_said = said != NULL && strstr (said, expected) != NULL;
  if (!is_said)
    fprintf (stderr, "%s\n  said: %s\n  not: %s\n", workload, said != NULL ? said : "", expected);
  TEST_TRUE (is_said);
}

/* ---- times ---- */

/* Two flows of 10 MB into host 2: 1 ms each alone, half of the rate while both move. The first is alone for .5 ms, then shares
 * for 1 ms, and ends 1.5 ms and 10 us after its start; the second likewise. */
static void
flows_of_a_file_share_a_link (void)
{
  static const char *const texts[] = {
    "0,0,2,10000000\n0.0005,1,2,10000000\n",
    "# a comment\nsize;dest;source;time\n10 MB;2;0;0\n10 MB;2;1;500 us\n",
    "2\n0 2 3 100 10000000 0\n1 2 3 100 10000000 0.0005\n",
    "start src dst bytes\r\n0\t0   2 1e7\r\n5e-4 1 2 1e7",
  };
  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++) {
    g_autofree char *workload = listed (texts[i]);
    g_autoptr (ScnResult) result = scenario_run (1, 4, workload, "", COL_MODE_EVENT);
    const ScnFlowsResult *own = own_of (result);
    TEST_INT (own->all.flows, 2);
    TEST_NEAR (own->time_s, 2.01e-3, 1e-12);
    TEST_NEAR (own->all.fct_s, 1.51e-3, 1e-12);
    TEST_NEAR (own->all.slowdown, 1.51 / 1.01, 1e-9);
    TEST_NEAR (own->fullest_load, 4, 1e-9); /* 20 MB in .5 ms over 10 GB/s */
    TEST_INT (own->most_at_once, 2);
    TEST_INT (result->run.warnings->len, 1);
  }
}

static void
flows_at_once_take_turns_by_size (void)
{
  /* sizes 1 to 4 MB from four hosts to one, at once: 10 GB/s each alone. Ends at 4 x .1 ms, + 3 x .1, + 2 x .1, + .1 */
  g_autofree char *workload = listed ("0,0,4,1e6\n0,1,4,2e6\n0,2,4,3e6\n0,3,4,4e6\n");
  g_autoptr (ScnResult) result = scenario_run (1, 5, workload, "", COL_MODE_EVENT);
  const ScnFlowsResult *own = own_of (result);
  TEST_NEAR (own->time_s, 1.01e-3, 1e-12);
  TEST_NEAR (own->all.fct_s, (0.41 + 0.71 + 0.91 + 1.01) / 4 * 1e-3, 1e-12);
  TEST_INT (own->classes->len, 2); /* up to 1 MB; 1-10 MB */
  TEST_INT (result->run.warnings->len, 0);
  TEST_TRUE (isinf (own->fullest_load));
}

/* Each host to one other: nobody shares, every flow of one size takes its time alone unless its host still sends. */
static void
a_light_permutation_is_not_slowed (void)
{
  g_autoptr (Scn) scenario = NULL;
  g_autoptr (ScnResult) result = scenario_run_kept (
      1, 8, "{kind: flows, flows: 200, bytes: 1 kB, load: 0.001 %, hosts: permutation}", "", COL_MODE_EVENT, &scenario);
  const ScnFlowsResult *own = own_of (result);
  TEST_NEAR (own->all.slowdown, 1, 1e-9);
  TEST_NEAR (own->all.fct_p99_s, 10.1e-6, 1e-12);
  TEST_NEAR (own->host_Bps, 10e9, 1);
  TEST_STR (scn_result_bound_by (result), "ib");
}

/* ---- drawing ---- */

static GArray *
draw (const char *workload, unsigned n_nodes, double *span_s)
{
  g_autofree char *text = scenario_text (1, n_nodes, workload, "");
  g_autoptr (Scn) scenario = scenario_load (text, NULL, NULL, NULL);
  g_assert (scenario != NULL);
  return scn_flows_draw (scenario, scenario->own, 10e9, span_s, NULL);
}

static void
drawn_flows_have_the_mean_and_rate_asked_for (void)
{
  double span_s, sum_B = 0, mean_B;
  g_autoptr (GArray) flows = draw ("{kind: flows, flows: 100000, sizes: web_search, load: 50 %}", 16, &span_s);
  for (guint i = 0; i < flows->len; i++) {
    const ScnFlow *flow = &g_array_index (flows, ScnFlow, i);
    TEST_TRUE (flow->src < 16 && flow->dst < 16 && flow->src != flow->dst && flow->bytes >= 1 && flow->bytes <= 30e6);
    sum_B += flow->bytes;
  }
  mean_B = sum_B / flows->len;
  TEST_NEAR (mean_B, 1.7e6, 0.05e6); /* by the points: 1,711,250 B */
  TEST_NEAR (span_s, 1e5 * 1711250 / (0.5 * 16 * 10e9), 1e-3);
  TEST_NEAR (eng_time_to_s (g_array_index (flows, ScnFlow, flows->len - 1).start) / span_s, 1, 0.02);
}

static void
patterns_are_what_they_are_called (void)
{
  double span_s;
  guint hot = 0;
  guint32 to[8] = { 0 };
  g_autoptr (GArray) incast = draw ("{kind: flows, flows: 64, bytes: 1 kB, load: 1 %, hosts: incast, fan_in: 4}", 8, &span_s);
  for (guint i = 0; i < incast->len; i++) {
    const ScnFlow *flow = &g_array_index (incast, ScnFlow, i), *first = &g_array_index (incast, ScnFlow, i - i % 4);
    TEST_TRUE (flow->start == first->start && flow->dst == first->dst && flow->src != flow->dst);
  }
  g_autoptr (GArray) fixed =
      draw ("{kind: flows, flows: 500, bytes: 1 kB, load: 1 %, hosts: permutation, arrivals: regular}", 8, &span_s);
  for (guint i = 0; i < fixed->len; i++) {
    const ScnFlow *flow = &g_array_index (fixed, ScnFlow, i);
    TEST_TRUE (to[flow->src] == 0 || to[flow->src] == flow->dst + 1);
    to[flow->src] = flow->dst + 1;
    TEST_NEAR (eng_time_to_s (flow->start), span_s * i / 500, 1e-12);
  }
  g_autoptr (GArray) spot =
      draw ("{kind: flows, flows: 10000, bytes: 1 kB, arrivals: at_once, hosts: hot_spot, hot: 50 %}", 8, &span_s);
  for (guint i = 0; i < spot->len; i++)
    hot += g_array_index (spot, ScnFlow, i).dst == 0;
  TEST_NEAR (hot / 1e4, 0.5 + 0.5 / 8, 0.02);
  TEST_NEAR (span_s, 0, 0);
}

static void
shipped_sizes_are_read (void)
{
  static const struct {
    const char *name;
    double mean_B;
  } rows[] = { { "web_search", 1711250 }, { "data_mining", 12.6e6 }, { "storage", 40870 }, { "kv_llama3_70b", 475.7e6 } };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *workload = g_strdup_printf ("{kind: flows, flows: 1, sizes: %s, load: 1 %%}", rows[i].name);
    g_autofree char *text = scenario_text (1, 2, workload, "");
    g_autoptr (Scn) scenario = scenario_load (text, NULL, NULL, NULL);
    const double mean_B = scn_flows_mean_B (scenario->own);
    if (!(fabs (mean_B / rows[i].mean_B - 1) < 0.02))
      fprintf (stderr, "%s: %.9g\n", rows[i].name, mean_B);
    TEST_TRUE (fabs (mean_B / rows[i].mean_B - 1) < 0.02);
  }
}

static void
a_size_may_have_a_mass_of_its_own (void)
{
  double span_s;
  guint n = 0;
  g_autoptr (GArray) flows =
      draw ("{kind: flows, flows: 10000, load: 1 %, sizes: {bytes: [1 kB, 2 kB], cumulative: [30 %, 100 %]}}", 2, &span_s);
  for (guint i = 0; i < flows->len; i++)
    n += g_array_index (flows, ScnFlow, i).bytes <= 1000;
  TEST_NEAR (n / 1e4, 0.3, 0.02);
}

/* ---- what is refused ---- */

static void
wrong_keys_are_named (void)
{
  static const char *const cases[][2] = {
    { "{kind: flows, bytes: 1 kB, load: 1 %}", "'flows' in 'workload (flows)' is missing" },
    { "{kind: flows, flows: 3, load: 1 %}", "flows need 'sizes' or 'bytes', one of them" },
    { "{kind: flows, flows: 3, bytes: 1 kB, sizes: storage, load: 1 %}", "flows need 'sizes' or 'bytes', one of them" },
    { "{kind: flows, flows: 3, bytes: 1 kB}", "flows that arrive over time need 'load'" },
    { "{kind: flows, flows: 3, bytes: 0, load: 1 %}", "bytes" },
    { "{kind: flows, flows: 3, sizes: web_serach, load: 1 %}", "did you mean 'web_search'" },
    { "{kind: flows, flows: 3, load: 1 %, sizes: {bytes: [1 kB], cumulative: [1]}}", "accepted: as many, two or more" },
    { "{kind: flows, flows: 3, load: 1 %, sizes: {bytes: [2 kB, 1 kB], cumulative: [0, 1]}}", "value 2 is not above" },
    { "{kind: flows, flows: 3, load: 1 %, sizes: {bytes: [1 kB, 2 kB], cumulative: [0.5, 0.4]}}", "value 2 is not above" },
    { "{kind: flows, flows: 3, load: 1 %, sizes: {bytes: [1 kB, 2 kB], cumulative: [0, 0.9]}}", "'cumulative' ends at 90 %" },
    { "{kind: flows, file: a.csv, load: 1 %}", "'file' lists all flows; take out 'load'" },
    { "{kind: flows, file: a.csv}", "a.csv" },
    { "{kind: flows, flows: 1000, bytes: 1 EB, load: 1 %}", "days are simulated" },
  };
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    check_refused (2, cases[i][0], cases[i][1]);
  check_refused (1, "{kind: flows, flows: 3, bytes: 1 kB, load: 1 %}", "flows need two hosts or more; the scenario has 1");
}

static void
wrong_lines_are_named (void)
{
  static const char *const cases[][2] = {
    { "", "no flows" },
    { "# nothing\n", "no flows" },
    { "0,0,1\n", "flows.csv:1: 3 values where 4 are needed" },
    { "0,0,1,1e6\n0,0,9,1e6\n", "flows.csv:2: there is no host '9'; accepted: 0 to 3" },
    { "0,0,-1,1e6\n", "there is no host '-1'" },
    { "0,0,1.5,1e6\n", "there is no host '1.5'" },
    { "0,2,2,1e6\n", "host 2 would send to itself" },
    { "1,0,1,1e6\n0.5,0,1,1e6\n", "flows.csv:2: time goes back: starts at 0.5 s, the flow before it at 1 s" },
    { "0,0,1,0\n", "a flow has 1 byte or more, found 0" },
    { "0,0,1,-5\n", "size '-5' is negative" },
    { "-1,0,1,5\n", "time '-1' is negative" },
    { "0,0,1,5 s\n", "flows.csv:1:" },
    { "0,0,1,1e30\n", "more than any machine has" },
    { "1e9,0,1,5\n", "at most 104 days" },
    { "src,dst,bytes\n0,1,5\n", "no column 'start'" },
  };
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *workload = listed (cases[i][0]);
    check_refused (4, workload, cases[i][1]);
  }
  g_autofree char *path = g_build_filename (folder, "nul.csv", NULL), *binary = g_strdup_printf ("{kind: flows, file: %s}", path);
  TEST_TRUE (g_file_set_contents (path, "0\0a", 3, NULL));
  check_refused (4, binary, "not a text file");
}

static void
more_load_than_a_link_carries_is_refused (void)
{
  check_refused (4, "{kind: flows, flows: 4000, bytes: 1 MB, load: 150 %}", "times what it carries");
  /* host 0 gets half of 4 x 60 % and more */
  check_refused (4, "{kind: flows, flows: 4000, bytes: 1 MB, load: 60 %, hosts: hot_spot, hot: 50 %}", "accepted: at most about");
  check_refused (4, "{kind: flows, flows: 4000, bytes: 1 MB, load: 60 %, hosts: incast}", "");
  g_autofree char *fits = refusal (4, "{kind: flows, flows: 4000, bytes: 1 MB, load: 80 %}");
  TEST_STR (fits, "");
}

static void
too_many_flows_are_refused_before_work (void)
{
  eng_limit_set (1e6);
  check_refused (4, "{kind: flows, flows: 100 k, bytes: 1 kB, load: 1 %}", "100 k flows need about");
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < 20000; i++)
    g_string_append (text, "0,0,1,5\n");
  g_autofree char *workload = listed (text->str);
  check_refused (4, workload, "--limit-memory");
  /* what is listed fits, what moves at once does not */
  eng_limit_set (5e6);
  check_refused (4, "{kind: flows, flows: 50 k, bytes: 1 kB, arrivals: at_once}", "flows at the same time");
  eng_limit_set (0);
}

static const TestCase cases[] = {
  { "flows of a file share a link", flows_of_a_file_share_a_link },
  { "flows at once take turns by size", flows_at_once_take_turns_by_size },
  { "a light permutation is not slowed", a_light_permutation_is_not_slowed },
  { "drawn flows have the mean and rate asked for", drawn_flows_have_the_mean_and_rate_asked_for },
  { "patterns are what they are called", patterns_are_what_they_are_called },
  { "shipped sizes are read", shipped_sizes_are_read },
  { "a size may have a mass of its own", a_size_may_have_a_mass_of_its_own },
  { "wrong keys are named", wrong_keys_are_named },
  { "wrong lines are named", wrong_lines_are_named },
  { "more load than a link carries is refused", more_load_than_a_link_carries_is_refused },
  { "too many flows are refused before work", too_many_flows_are_refused_before_work },
  { NULL, NULL },
};

int
main (void)
{
  if (mkdtemp (folder) == NULL)
    return 2;
  const int status = test_main ("scenario flows", cases);
  g_autofree char *remove = g_strdup_printf ("rm -rf '%s'", folder);
  return system (remove) == 0 ? status : 2;
}
