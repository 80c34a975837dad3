/* Message-by-message runs of the textbook's algorithms: times and numbers of messages by formula. */
#include <math.h>

#include "scenario_fixture.h"

#define DATA TEST_SOURCE_DIR "/tests/data/workload/"

/* Runs a collective of `size` on `ranks` GPUs of a topology, every message sent. Returned: full. */
static ScnResult *
run_exact (const char *topology, unsigned nodes, const char *workload, const char *const *sets)
{
  g_autofree char *text = g_strdup_printf ("scenario: s\ncluster: {library: plain, topology: %s, nodes: %u}\nworkload: {kind: "
                                           "collective, %s}\n",
                                           topology, nodes, workload);
  ScnOptions options = { .has_steps = TRUE, .steps = COL_STEPS_EXACT };
  g_autoptr (GError) error = NULL;
  g_autoptr (Scn) scenario = scenario_load (text, sets, &options, NULL);
  ScnResult *result = scenario != NULL ? scn_run (scenario, FALSE, &error) : NULL;
  if (result == NULL)
    g_error ("%s: %s", workload, error != NULL ? error->message : "not loaded");
  return result;
}

static void
a_ring_on_a_star_takes_its_steps (void)
{
  /* n ranks, 2 us and 50 GB/s: K (2 us + S / n / 50 GB/s) with K = 2 (n - 1) for all-reduce, n - 1 for the others; n K messages */
  static const struct {
    const char *op;
    unsigned rounds;
  } rows[] = { { "all_reduce", 2 }, { "all_gather", 1 }, { "reduce_scatter", 1 } };
  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++)
    for (unsigned n = 2; n <= 64; n = n * 3 - 1) {
      g_autofree char *workload = g_strdup_printf ("op: %s, bytes: 64 MB, algo: ring", rows[i].op);
      g_autoptr (ScnResult) r = run_exact (DATA "star_1024.yaml", n, workload, NULL);
      unsigned steps = rows[i].rounds * (n - 1);
      TEST_NEAR (r->coll.time_s, steps * (2e-6 + 64e6 / n / 50e9), 1e-6);
      TEST_INT (r->coll.n_messages, n * steps);
    }
}

static void
a_ring_on_a_fat_tree_goes_at_the_pace_of_its_longest_hop (void)
{
  /* 16 nodes on 4 x 2 x 2: six cables of 1 us between the halves, 30 x (6 us + 4 MB / 50 GB/s) */
  static const char *const sets[] = { "topology.fabric.levels=[{down: 4, up: 4}, {down: 2, up: 2}, {down: 2}]", NULL };
  g_autoptr (ScnResult) r = run_exact (DATA "tree_1024.yaml", 16, "op: all_reduce, bytes: 64 MB, algo: ring", sets);
  TEST_NEAR (r->coll.time_s, 30 * (6e-6 + 4e6 / 50e9), 1e-6);
  TEST_INT (r->coll.n_messages, 16 * 30);
}

static void
an_all_to_all_fills_every_port (void)
{
  /* (n - 1) S / n through each port after 2 us; on the full tree ports bind too: the first bytes come by the shortest way, after
   * 2 us, and from then on no port stands still */
  static const char *const sets[] = { "topology.fabric.levels=[{down: 4, up: 4}, {down: 2, up: 2}, {down: 2}]", NULL };
  for (unsigned n = 2; n <= 32; n *= 4) {
    g_autoptr (ScnResult) r = run_exact (DATA "star_1024.yaml", n, "op: alltoall, bytes: 64 MB", NULL);
    TEST_NEAR (r->coll.time_s, 2e-6 + (n - 1) * 64e6 / n / 50e9, 1e-6);
    TEST_INT (r->coll.n_messages, n * (n - 1));
  }
  g_autoptr (ScnResult) tree = run_exact (DATA "tree_1024.yaml", 16, "op: alltoall, bytes: 64 MB", sets);
  TEST_NEAR (tree->coll.time_s, 2e-6 + 15 * 4e6 / 50e9, 1e-6);
}

static void
a_neighbours_exchange_is_one_message_each (void)
{
  g_autoptr (ScnResult) r = run_exact (DATA "star_1024.yaml", 5, "op: sendrecv, bytes: 1 MB", NULL);
  TEST_NEAR (r->coll.time_s, 2e-6 + 1e6 / 50e9, 1e-6);
  TEST_INT (r->coll.n_messages, 5);
}

static void
a_chain_passes_its_pieces_on (void)
{
  /* n - 1 = 4 hops of whole pieces, then the others one behind the other, the last one smaller */
  static const char *const ops[] = { "broadcast", "reduce" };
  for (int i = 0; i < 2; i++)
    for (unsigned root = 0; root < 5; root += 2) {
      g_autofree char *workload = g_strdup_printf ("op: %s, bytes: 1 MB, algo: ring, root: %u", ops[i], root);
      g_autoptr (ScnResult) r = run_exact (DATA "star_1024.yaml", 5, workload, NULL);
      double piece_B = r->coll.cost.piece_B, pieces = ceil (1e6 / piece_B), last_B = 1e6 - (pieces - 1) * piece_B;
      TEST_TRUE (pieces >= 2);
      TEST_INT (r->coll.n_messages, 4 * (guint64)pieces);
      TEST_NEAR (r->coll.time_s, (4 + pieces - 2) * (2e-6 + piece_B / 50e9) + 2e-6 + last_B / 50e9, 1e-6);
    }
}

static void
two_trees_send_each_piece_up_and_down_once (void)
{
  for (unsigned n = 2; n <= 17; n += 5) {
    g_autoptr (ScnResult) r = run_exact (DATA "star_1024.yaml", n, "op: all_reduce, bytes: 1 MB, algo: tree", NULL);
    TEST_INT (r->coll.n_messages % (2 * 2 * (n - 1)), 0);
    /* two trees send S / 2 up and down each of n - 1 edges: 2 (n - 1) / n S a port on average, and the busiest is no better */
    TEST_TRUE (r->coll.time_s > 2e-6 + 2.0 * (n - 1) / n * 1e6 / 50e9);
  }
}

static void
messages_inside_and_between_nodes_take_their_own_routes (void)
{
  /* two and three nodes of two: rank k to rank k + 1; those that cross take 10 us and 10 GB/s, the others are done by then */
  for (unsigned nodes = 2; nodes <= 3; nodes++) {
    g_autofree char *text = scenario_text (2, nodes, "{kind: collective, op: sendrecv, bytes: 1 MB}", "");
    ScnOptions options = { .has_steps = TRUE, .steps = COL_STEPS_EXACT };
    g_autoptr (Scn) scenario = scenario_load (text, NULL, &options, NULL);
    g_autoptr (ScnResult) r = scn_run (scenario, FALSE, NULL);
    TEST_NEAR (r->coll.time_s, 10e-6 + 1e6 / 10e9, 1e-9);
    TEST_INT (r->coll.n_messages, 2 * nodes);
  }
}

static void
runs_repeat_event_by_event (void)
{
  static const char *const workloads[] = { "op: all_reduce, bytes: 3 MB, algo: ring", "op: all_reduce, bytes: 3 MB, algo: tree",
                                           "op: alltoall, bytes: 3 MB" };
  for (unsigned i = 0; i < G_N_ELEMENTS (workloads); i++) {
    g_autoptr (ScnResult) a = run_exact (DATA "tree_1024.yaml", 48, workloads[i], NULL);
    g_autoptr (ScnResult) b = run_exact (DATA "tree_1024.yaml", 48, workloads[i], NULL);
    TEST_TRUE (memcmp (&a->coll.time_s, &b->coll.time_s, sizeof a->coll.time_s) == 0);
    TEST_INT (a->coll.n_events, b->coll.n_events);
    TEST_TRUE (a->coll.n_events >= a->coll.n_messages);
  }
}

int
main (void)
{
  static const TestCase cases[] = {
    { "a ring on a star takes its steps", a_ring_on_a_star_takes_its_steps },
    { "a ring on a fat tree goes at the pace of its longest hop", a_ring_on_a_fat_tree_goes_at_the_pace_of_its_longest_hop },
    { "an all-to-all fills every port", an_all_to_all_fills_every_port },
    { "a neighbours' exchange is one message each", a_neighbours_exchange_is_one_message_each },
    { "a chain passes its pieces on", a_chain_passes_its_pieces_on },
    { "two trees send each piece up and down once", two_trees_send_each_piece_up_and_down_once },
    { "messages inside and between nodes take their own routes", messages_inside_and_between_nodes_take_their_own_routes },
    { "runs repeat event by event", runs_repeat_event_by_event },
    { NULL, NULL },
  };
  return test_main ("message-by-message runs", cases);
}
