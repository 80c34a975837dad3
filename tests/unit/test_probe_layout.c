#include "harness.h"
#include "probe_fail.h"
#include "probe_layout.h"

#include <string.h>

/* "a b a": processes 0 and 2 on node a, 1 on b. */
static bool
make (const char *nodes_of, unsigned nodes, unsigned gpus, ProbeLayout *out)
{
  g_auto (GStrv) names = g_strsplit (nodes_of, " ", -1);
  return probe_layout_make ((const char *const *)names, g_strv_length (names), nodes, gpus, out);
}

static void
processes_are_put_on_nodes_in_their_order (void)
{
  static const struct {
    const char *nodes_of;
    unsigned nodes, gpus;
    const char *layout; /* processes node by node; NULL: the error */
    unsigned spare;
    const char *error;
  } cases[] = {
    { "a a b b", 0, 0, "0 1 | 2 3 | ", 0, NULL },
    { "b a b a", 0, 0, "0 2 | 1 3 | ", 0, NULL }, /* dealt out in turn, as some launchers do */
    { "a a a b", 0, 0, "0 | 3 | ", 2, NULL },     /* the node with the fewest bounds all */
    { "a a b b c c", 2, 1, "0 | 2 | ", 4, NULL },
    { "a", 0, 0, "0 | ", 0, NULL },
    { "a a b", 3, 0, NULL, 0, "--nodes 3: the processes are on 2" },
    { "a a b", 0, 2, NULL, 0, "--gpus 2: a node has 1 process" },
    { "a a b", 1, 2, "0 1 | ", 1, NULL }, /* the short node is not used */
  };
  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++) {
    ProbeLayout layout;
    bool ok = make (cases[i].nodes_of, cases[i].nodes, cases[i].gpus, &layout);
    TEST_INT (ok, cases[i].layout != NULL);
    if (!ok)
      TEST_STR (probe_why (), cases[i].error);
    if (ok) {
      g_autoptr (GString) text = g_string_new ("");
      for (unsigned k = 0; k < layout.nodes; k++) {
        for (unsigned g = 0; g < layout.gpus; g++)
          g_string_append_printf (text, "%u ", layout.rank[k * layout.gpus + g]);
        g_string_append (text, "| ");
      }
      TEST_STR (text->str, cases[i].layout);
      TEST_INT (layout.spare, cases[i].spare);
    }
    probe_layout_clear (&layout);
  }
}

/* Rank 0, 1, … of a communicator of 2 nodes: with all GPUs node by node, with one GPU the first of each. */
static void
ranks_of_a_shape_go_node_by_node (void)
{
  ProbeLayout layout;
  TEST_TRUE (make ("a b a b a b", 0, 0, &layout));
  static const unsigned all[] = { 0, 2, 4, 1, 3, 5 }, one[] = { 0, 1 };
  for (unsigned i = 0; i < 6; i++)
    TEST_INT (probe_layout_rank (&layout, 3, i), all[i]);
  for (unsigned i = 0; i < 2; i++)
    TEST_INT (probe_layout_rank (&layout, 1, i), one[i]);
  probe_layout_clear (&layout);
}

static void
answers_come_back_as_they_were (void)
{
  static const char *const texts[] = { "line ok 3 1e-06 2e-06", "line ",  "killed", "silent for 10 s", "ended",
                                       "ended by signal 11",    "nothing" };
  for (size_t i = 0; i < G_N_ELEMENTS (texts); i++) {
    ProbeAnswer answer;
    char text[128];
    TEST_TRUE (probe_answer_parse (texts[i], &answer));
    TEST_TRUE (probe_answer_write (&answer, text, sizeof text));
    TEST_STR (text, texts[i]);
  }
  ProbeAnswer answer;
  char small[8];
  TEST_FALSE (probe_answer_parse ("line", &answer));
  TEST_FALSE (probe_answer_parse ("done", &answer));
  TEST_FALSE (probe_answer_parse ("killed3", &answer));
  g_autofree char *longest = g_strnfill (PROBE_ANSWER_MOST, 'x');
  g_autofree char *line = g_strconcat ("line ", longest, NULL);
  TEST_FALSE (probe_answer_parse (line, &answer));
  answer = (ProbeAnswer){ .said = PROBE_REPLY_LINE, .text = "too long for it" };
  TEST_FALSE (probe_answer_write (&answer, small, sizeof small));
}

#define GONE "line fatal remote process exited or there was a network error"

static void
many_answers_are_one (void)
{
  static const struct {
    const char *answer[3];
    ProbeReply said;
    const char *text;
  } cases[] = {
    { { "line ok 3 1e-06", "line ok 3 1e-06", "line ok 3 1e-06" }, PROBE_REPLY_LINE, "ok 3 1e-06" },
    { { "line choice ring ll 4", "line ran", "line ran" }, PROBE_REPLY_LINE, "choice ring ll 4" },
    { { "line ran", "line choice ring ll 4", "line ran" }, PROBE_REPLY_LINE, "choice ring ll 4" },
    { { "line ok 3 1e-06", "line ok 4 1e-06", "line ok 3 1e-06" },
      PROBE_REPLY_ENDED,
      "rank 1: its worker's numbers are not those of the others" },
    { { "line error no room", "line ok 3 1", "line ok 3 1" }, PROBE_REPLY_LINE, "error rank 0: no room" },
    { { "line error wrong data on rank 2", "line error wrong data on rank 2", "line error wrong data: 5 of 9 elements on rank 2" },
      PROBE_REPLY_LINE,
      "error wrong data: 5 of 9 elements on rank 2" },
    { { "killed", "line fatal unhandled cuda error", "ended" }, PROBE_REPLY_ENDED, "rank 1: unhandled cuda error" },
    { { "killed", "line ok 3 1", "ended" }, PROBE_REPLY_ENDED, "rank 2: its worker ended" },
    { { "killed", "ended by signal 11", "silent for 9 s" }, PROBE_REPLY_ENDED, "rank 1: its worker ended by signal 11" },
    { { "line joined", "silent for 9 s", "line joined" },
      PROBE_REPLY_SILENT,
      "rank 1: hangs: nothing came back for 9 s, and its worker was killed" },
    { { "killed", "silent for 9 s", "silent for 9 s" },
      PROBE_REPLY_SILENT,
      "rank 1 and 2 others hang: nothing came back for 9 s, and their workers were killed" },
    { { "killed", "killed", "line joined" }, PROBE_REPLY_KILLED, "rank 0: its worker took too long and was killed" },
    /* what NCCL says of a peer that is gone is not why it is gone */
    { { GONE, "killed", "ended with exit status 1" }, PROBE_REPLY_ENDED, "rank 2: its worker ended with exit status 1" },
    { { GONE, "silent for 9 s", GONE },
      PROBE_REPLY_SILENT,
      "rank 1 and 2 others hang: nothing came back for 9 s, and their workers were killed" },
    { { GONE, "line fatal out of memory", "killed" }, PROBE_REPLY_ENDED, "rank 1: out of memory" },
    { { "killed", GONE, GONE }, PROBE_REPLY_ENDED, "rank 1: remote process exited or there was a network error" },
    { { "nothing", "killed", "line ok 3 1" }, PROBE_REPLY_NOTHING, "rank 0: the process did not answer" },
  };
  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++) {
    ProbeAnswer answer[3], out;
    for (unsigned k = 0; k < 3; k++)
      TEST_TRUE (probe_answer_parse (cases[i].answer[k], &answer[k]));
    probe_answers_merge (answer, 3, &out);
    TEST_INT (out.said, cases[i].said);
    TEST_STR (out.text, cases[i].text);
  }
  ProbeAnswer two[2], none;
  for (unsigned k = 0; k < 2; k++) {
    TEST_TRUE (probe_answer_parse (k == 0 ? "line fatal late" : "line fatal early", &two[k]));
    two[k].order = 2 - k;
  }
  probe_answers_merge (two, 2, &none);
  TEST_STR (none.text, "rank 1: early"); /* of equals the one that came first */
  probe_answers_merge (NULL, 0, &none);
  TEST_INT (none.said, PROBE_REPLY_NOTHING);
}

static void
lines_of_communicators_come_back_as_they_were (void)
{
  ProbeJoin join = { .nodes = 3, .gpus = 8, .channels = 16, .rank = 23 }, back = { 0 };
  char line[512];
  for (unsigned i = 0; i < PROBE_ID_BYTES; i++)
    join.id[i] = (unsigned char)(i * 7);
  TEST_TRUE (probe_join_write (&join, line, sizeof line));
  TEST_TRUE (probe_join_read (line, &back));
  TEST_TRUE (back.nodes == 3 && back.gpus == 8 && back.channels == 16 && back.rank == 23);
  TEST_TRUE (memcmp (back.id, join.id, PROBE_ID_BYTES) == 0);
  g_autofree char *more = g_strconcat (line, "0", NULL), *less = g_strndup (line, strlen (line) - 2);
  TEST_FALSE (probe_join_read (more, &back));
  TEST_FALSE (probe_join_read (less, &back));
  line[strlen (line) - 1] = 'g';
  TEST_FALSE (probe_join_read (line, &back));
  join.rank = 24;
  TEST_TRUE (probe_join_write (&join, line, sizeof line));
  TEST_FALSE (probe_join_read (line, &back)); /* of 24 ranks the last is 23 */
  TEST_FALSE (probe_join_write (&join, line, 32));

  join.rank = 0;
  TEST_TRUE (probe_drop_write (&join, line, sizeof line));
  TEST_STR (line, "drop 3 8 16");
  TEST_TRUE (probe_drop_read (line, &back));
  TEST_FALSE (probe_drop_read ("drop 3 8", &back));
  TEST_FALSE (probe_drop_read ("drop 3 8 16 1", &back));
  TEST_FALSE (probe_drop_read ("drop 1 1 0", &back)); /* one GPU is no communicator */

  unsigned char id[PROBE_ID_BYTES];
  TEST_TRUE (probe_id_write (join.id, line, sizeof line));
  TEST_TRUE (probe_id_read (line, id));
  TEST_TRUE (memcmp (id, join.id, PROBE_ID_BYTES) == 0);
  TEST_FALSE (probe_id_read ("id 00", id));
  TEST_FALSE (probe_id_read ("error x", id));
}

int
main (void)
{
  static const TestCase cases[] = {
    { "processes are put on nodes in their order", processes_are_put_on_nodes_in_their_order },
    { "ranks of a shape go node by node", ranks_of_a_shape_go_node_by_node },
    { "answers come back as they were", answers_come_back_as_they_were },
    { "many answers are one", many_answers_are_one },
    { "lines of communicators come back as they were", lines_of_communicators_come_back_as_they_were },
    { 0 },
  };
  return test_main ("probe/layout", cases);
}
