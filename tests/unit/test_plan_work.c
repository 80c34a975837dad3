/* A plan's search in tasks: whoever does them, in whatever order, all at once or going on from a file, the answer is the same to
 * the last bit. */
#include <string.h>

#include "base/table.h"
#include "model_run_fixture.h"
#include "plan_fixture.h"
#include "work-private.h"

/* Does tasks one by one, each with a hand that knows nothing yet, and puts the replies last first. */
typedef struct {
  Pln *plan;
  guint at_once;            /* tasks that are taken before the first reply; 0: all */
  guint tasks, runs, polls; /* done; of the engine; times that stop was asked */
  guint stop_at;            /* asked so many times it stops; 0: never */
} Odd;

static gboolean
odd_stop (void *data)
{
  Odd *odd = data;
  return odd->stop_at > 0 && ++odd->polls >= odd->stop_at;
}

static gboolean
odd_crew (void *data, PlnWork *work, GError **error)
{
  Odd *odd = data;
  for (;;) {
    g_autoptr (GArray) tasks = g_array_new (FALSE, FALSE, sizeof (PlnTask));
    PlnTask task;
    while ((odd->at_once == 0 || tasks->len < odd->at_once) && pln_work_next (work, G_MAXUINT32, &task))
      g_array_append_val (tasks, task);
    for (guint i = tasks->len; i-- > 0;) {
      g_autoptr (PlnWorker) hand = pln_worker_new (odd->plan);
      const PlnTask *one = &g_array_index (tasks, PlnTask, i);
      g_autoptr (GBytes) reply = pln_worker_do (hand, one, error);
      if (reply == NULL || !pln_work_put (work, one, g_bytes_get_data (reply, NULL), g_bytes_get_size (reply), error))
        return FALSE;
      odd->tasks++;
      odd->runs += one->run ? 1u : 0u;
    }
    if (tasks->len == 0)
      return TRUE;
  }
}

static PlnWork *
odd_work (Pln *plan, Odd *odd)
{
  g_autoptr (GError) error = NULL;
  odd->plan = plan;
  const PlnWorkers workers = { .stop = odd_stop, .watch = odd, .workers = odd_crew, .data = odd };
  PlnWork *work = pln_work_new (plan, &workers, &error);
  if (work == NULL)
    g_error ("%s", error->message);
  return work;
}

static PlnResult *
answer_of (PlnWork *work, guint best)
{
  g_autoptr (GError) error = NULL;
  const PlnQuery query = { .best = best };
  PlnResult *result = pln_work_search (work, &query, &error);
  if (result == NULL)
    g_error ("%s", error->message);
  return result;
}

/* To the last bit; figures that nobody has are NAN in both. */
static gboolean
same_row (const PlnChoiceRow *a, const PlnChoiceRow *b)
{
  return a->machine == b->machine && a->cut == b->cut && memcmp (&a->query, &b->query, sizeof a->query) == 0 &&
         memcmp (a->step.part_s, b->step.part_s, sizeof a->step.part_s) == 0 &&
         memcmp (&a->step.memory_B, &b->step.memory_B, sizeof (double)) == 0 && a->step.stage == b->step.stage &&
         a->step.n_ranks == b->step.n_ranks && a->step.fullest == b->step.fullest && a->step.fits == b->step.fits &&
         a->step.provenance == b->step.provenance && memcmp (&a->step.mfu, &b->step.mfu, sizeof (double)) == 0 &&
         memcmp (&a->step.tokens, &b->step.tokens, sizeof (double)) == 0 && a->simulated == b->simulated &&
         memcmp (&a->step_time_s, &b->step_time_s, 3 * sizeof (double)) == 0 &&
         memcmp (&a->step.wire_band, &b->step.wire_band, sizeof (double)) == 0 &&
         memcmp (&a->step.restore_B, &b->step.restore_B, sizeof (double)) == 0 &&
         memcmp (&a->formula, &b->formula, 3 * sizeof (double)) == 0 && memcmp (&a->goodput, &b->goodput, sizeof (double)) == 0 &&
         memcmp (&a->run_s, &b->run_s, sizeof (double)) == 0 && memcmp (&a->power_W, &b->power_W, sizeof (double)) == 0 &&
         a->way == b->way && memcmp (&a->money, &b->money, sizeof a->money) == 0 &&
         memcmp (&a->usd_per_token, &b->usd_per_token, sizeof (double)) == 0 && a->alike == b->alike && a->front == b->front;
}

static void
same_answers (const PlnResult *a, const PlnResult *b)
{
  TEST_INT (a->rows->len, b->rows->len);
  for (guint i = 0; i < MIN (a->rows->len, b->rows->len); i++)
    TEST_TRUE (same_row (&g_array_index (a->rows, PlnChoiceRow, i), &g_array_index (b->rows, PlnChoiceRow, i)));
  TEST_INT (a->n_asked, b->n_asked);
  TEST_INT (a->n_met, b->n_met);
  TEST_INT (a->n_simulated, b->n_simulated);
  TEST_INT (a->n_alike, b->n_alike);
  TEST_INT (a->n_standing, b->n_standing);
  TEST_TRUE (memcmp (a->dropped, b->dropped, sizeof a->dropped) == 0);
  TEST_INT (a->rivals->len, b->rivals->len);
  TEST_TRUE (memcmp (a->out, b->out, sizeof a->out) == 0);
  TEST_TRUE (memcmp (a->over, b->over, sizeof a->over) == 0);
}

/* What is done of a search, as its file has it. */
static char *
text_of (const PlnWork *work)
{
  g_autoptr (JsonBuilder) json = json_builder_new ();
  json_builder_begin_object (json);
  pln_work_build (work, json);
  json_builder_end_object (json);
  return base_json_print (json);
}

static gboolean
read_text (PlnWork *work, const char *text, GError **error)
{
  const BaseJsonText whole = { "state.json", text, strlen (text), 1, BASE_JSON_LIMITS };
  g_autoptr (BaseJson) json = base_json_read (&whole, error);
  if (json == NULL)
    g_error ("%s", (*error)->message);
  return pln_work_read (work, json, base_json_root (json), error);
}

static void
no_order_and_no_memory_changes_an_answer (void)
{
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (Loaded) small = load_small (lookup, NULL);
  Odd odd = { 0 };
  g_autoptr (PlnWork) work = odd_work (small.plan, &odd);
  g_autoptr (PlnResult) a = search (small.plan, 1, 4), b = answer_of (work, 4);
  same_answers (a, b);
  /* tp 1, 2 and 8 with pp 1 and 2 on 8 and 16 GPUs, but tp 8 x pp 2 on 8: 5 + 6 pieces; then 4 runs */
  TEST_INT (pln_work_n_pieces (work), 11);
  TEST_INT (odd.tasks, 15);
  TEST_INT (odd.runs, 4);
}

static void
a_front_is_the_same_too (void)
{
  static const char *const sets[] = { "objective=pareto", NULL };
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (Loaded) small = load_small (lookup, sets);
  Odd odd = { .at_once = 2 };
  g_autoptr (PlnWork) work = odd_work (small.plan, &odd);
  g_autoptr (PlnResult) a = search (small.plan, 1, 3), b = answer_of (work, 3);
  same_answers (a, b);
}

static void
each_piece_is_of_one_part (void)
{
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (Loaded) small = load_small (lookup, NULL);
  for (guint of = 1; of <= 13; of += 4) { /* more parts than pieces at the end */
    guint pieces = 0;
    guint64 cuts = 0;
    for (guint part = 1; part <= of; part++) {
      Odd odd = { 0 };
      g_autoptr (PlnWork) work = odd_work (small.plan, &odd);
      guint its = pln_work_n_of_part (work, part, of);
      pln_work_take_part (work, part, of);
      TEST_INT (pln_work_n_left (work), its);
      TEST_TRUE (its >= 11 / of && its <= 11 / of + 1);
      pieces += its;
      cuts += pln_work_count (work).n_cuts;
    }
    TEST_INT (pieces, 11);
    TEST_INT (cuts, 44); /* 72 less the 28 that do not divide */
  }
}

static void
parts_make_the_whole (void)
{
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (Loaded) small = load_small (lookup, NULL);
  Odd odd = { 0 }, last = { 0 };
  g_autoptr (GError) error = NULL;
  g_autoptr (PlnWork) whole = odd_work (small.plan, &last);
  for (guint part = 3; part > 0; part--) { /* in any order */
    g_autoptr (PlnWork) work = odd_work (small.plan, &odd);
    pln_work_take_part (work, part, 3);
    TEST_TRUE (pln_work_estimate (work, &error));
    TEST_INT (pln_work_n_left (work), 0);
    g_autofree char *text = text_of (work);
    TEST_TRUE (read_text (whole, text, &error));
  }
  TEST_INT (pln_work_n_open (whole), 0);
  g_autoptr (PlnResult) a = search (small.plan, 1, 2), b = answer_of (whole, 2);
  same_answers (a, b);
  TEST_INT (last.tasks, 2); /* the engine's runs alone */
}

static void
a_part_has_no_answer (void)
{
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (Loaded) small = load_small (lookup, NULL);
  Odd odd = { 0 };
  g_autoptr (GError) error = NULL;
  g_autoptr (PlnWork) work = odd_work (small.plan, &odd);
  pln_work_take_part (work, 1, 2);
  const PlnQuery query = { .best = 1 };
  TEST_TRUE (pln_work_search (work, &query, &error) == NULL);
  TEST_STR (error->message, "6 of 11 pieces of the plan are not done"); /* pieces 0, 3, 4, 7 and 8 are the first part's */
}

/* Stopped before each task in turn, kept, and gone on with: in the first stage and between runs of the engine. */
static void
a_search_goes_on_where_it_was_stopped (void)
{
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (Loaded) small = load_small (lookup, NULL);
  g_autoptr (PlnResult) whole = search (small.plan, 1, 3);
  for (guint stop_at = 1; stop_at <= 15; stop_at += 2) { /* 11 pieces, a look for more, 3 runs */
    Odd first = { .at_once = 1, .stop_at = stop_at }, second = { 0 };
    g_autoptr (GError) error = NULL;
    g_autoptr (PlnWork) work = odd_work (small.plan, &first), again = odd_work (small.plan, &second);
    const PlnQuery query = { .best = 3 };
    g_autoptr (PlnResult) none = pln_work_search (work, &query, &error);
    TEST_TRUE (none == NULL && error != NULL);
    TEST_TRUE (pln_work_stopped (work));
    g_autofree char *text = text_of (work);
    g_clear_error (&error);
    TEST_TRUE (read_text (again, text, &error));
    g_autoptr (PlnResult) rest = answer_of (again, 3);
    same_answers (whole, rest);
    TEST_INT (first.tasks + second.tasks, 14); /* none is done twice */
  }
}

static void
a_finished_search_has_nothing_left_to_do (void)
{
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (Loaded) small = load_small (lookup, NULL);
  Odd first = { 0 }, second = { 0 }, third = { 0 };
  g_autoptr (GError) error = NULL;
  g_autoptr (PlnWork) work = odd_work (small.plan, &first), again = odd_work (small.plan, &second),
                      more = odd_work (small.plan, &third);
  g_autoptr (PlnResult) a = answer_of (work, 2);
  g_autofree char *text = text_of (work);
  TEST_TRUE (read_text (again, text, &error));
  g_autoptr (PlnResult) b = answer_of (again, 2);
  same_answers (a, b);
  TEST_INT (second.tasks, 0);
  g_autofree char *twice = text_of (again);
  TEST_STR (twice, text);
  TEST_TRUE (read_text (more, text, &error));
  g_autoptr (PlnResult) c = answer_of (more, 5), d = search (small.plan, 1, 5);
  same_answers (c, d);
  TEST_INT (third.tasks, 3); /* the two that ran are known */
}

/* A text with one thing changed; both occur in it. Returned: full. */
static char *
with (const char *text, const char *from, const char *to)
{
  const char *at = strstr (text, from);
  if (at == NULL)
    g_error ("no '%s' in the state", from);
  return g_strdup_printf ("%.*s%s%s", (int)(at - text), text, to, at + strlen (from));
}

static void
what_is_not_of_the_plan_is_refused (void)
{
  static const struct {
    const char *from, *to, *says;
  } cases[] = {
    { "\"pieces\" : 11", "\"pieces\" : 12", "state.json: has 12 pieces, but the plan has 11" },
    { "\"pieces\" : 11", "\"pieces\" : \"11\"", "state.json: pieces: a whole number from 0 to 4294967295 is accepted" },
    { "\"piece\" : 3", "\"piece\" : 11", "state.json: piece 11 does not belong to this plan, which has 11 pieces" },
    { "\"piece\" : 3", "\"piece\" : 2", "state.json: piece 2 is there twice" },
    { "\"out\" : \"0 ", "\"out\" : \"-1 ", "state.json: piece 0: 'out' and 'over' are not 14 values each" },
    { "\"out\" : \"0 ", "\"out\" : \"1 ", "state.json: piece 0 has 5 configurations, in the plan 4" },
    { "\"done\" : [", "\"done\" : [ 7,", "state.json: 'done' is not a list of pieces" },
    { "\"runs\" : [", "\"runs\" : [ \"1 2\",", "state.json: run 0 does not belong to this plan" },
    { "\"rows\" : [\n", "\"rows\" : [ \"nan\",\n", "does not belong to this plan" },
  };
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (Loaded) small = load_small (lookup, NULL);
  Odd odd = { 0 };
  g_autoptr (PlnWork) work = odd_work (small.plan, &odd);
  g_autoptr (PlnResult) result = answer_of (work, 1);
  TEST_TRUE (result != NULL);
  g_autofree char *text = text_of (work);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (PlnWork) fresh = odd_work (small.plan, &odd);
    g_autofree char *wrong = with (text, cases[i].from, cases[i].to);
    TEST_FALSE (read_text (fresh, wrong, &error));
    TEST_HAS (error->message, i + 1 < G_N_ELEMENTS (cases) ? cases[i].says : "state.json: piece ");
  }
}

static void
a_row_that_the_plan_would_not_have_is_refused (void)
{
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (Loaded) small = load_small (lookup, NULL);
  Odd odd = { 0 };
  g_autoptr (GError) error = NULL;
  g_autoptr (PlnWork) work = odd_work (small.plan, &odd), fresh = odd_work (small.plan, &odd);
  TEST_TRUE (pln_work_estimate (work, &error));
  guint i = 0;
  while (g_array_index (work->pieces, PlnPiece, i).count.n_rows == 0)
    i++;
  g_array_index (work->pieces, PlnPiece, i).rows[0].step.step_time_s *= 1e6; /* past the deadline of 90 days */
  g_array_index (work->pieces, PlnPiece, i).rows[0].step_time_s *= 1e6;
  g_autofree char *text = text_of (work), *says = g_strdup_printf ("state.json: piece %u, row 0 does not belong to this plan", i);
  TEST_FALSE (read_text (fresh, text, &error));
  TEST_STR (error->message, says);
}

/* Figures that no step has: in a row, and in what the engine said. */
static void
what_cannot_be_is_refused (void)
{
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (Loaded) small = load_small (lookup, NULL);
  Odd odd = { 0 };
  g_autoptr (PlnWork) work = odd_work (small.plan, &odd);
  g_autoptr (PlnResult) result = answer_of (work, 1);
  TEST_TRUE (result != NULL);
  guint i = 0;
  while (g_array_index (work->pieces, PlnPiece, i).count.n_rows == 0)
    i++;
  TrnClosedStep *step = &g_array_index (work->pieces, PlnPiece, i).rows[0].step;
  PlnRun *run = &g_array_index (work->runs, PlnPending, 0).run;
  const struct {
    double *figure, value;
  } cases[] = {
    { &step->step_time_s, -1 }, { &step->step_time_s, 0 },      { &step->step_time_hi_s, 0 },     { &step->step_time_lo_s, -1 },
    { &step->mfu, 1.5 },        { &step->part_s[0], -1 },       { &step->part_s[0], 1e6 },        { &step->tokens, 0 },
    { &step->memory_B, -1 },    { &step->restore_B, 1e30 },     { &step->wire_band, -0.1 },       { &run->step_time_s, -1 },
    { &run->mfu, 2 },           { &run->step_time_lo_s, 1e13 }, { &run->step_time_hi_s, 0.0001 }, { &run->part_s[1], 1e6 },
  };
  for (guint c = 0; c < G_N_ELEMENTS (cases); c++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (PlnWork) fresh = odd_work (small.plan, &odd);
    const double before = *cases[c].figure;
    *cases[c].figure = cases[c].value;
    g_autofree char *text = text_of (work);
    *cases[c].figure = before;
    TEST_FALSE (read_text (fresh, text, &error));
    TEST_HAS (error->message, "does not belong to this plan");
  }
}

static void
a_reply_to_another_task_is_refused (void)
{
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (Loaded) small = load_small (lookup, NULL);
  Odd odd = { 0 };
  g_autoptr (GError) error = NULL;
  g_autoptr (PlnWork) work = odd_work (small.plan, &odd);
  g_autoptr (PlnWorker) hand = pln_worker_new (small.plan);
  PlnTask task;
  TEST_TRUE (pln_work_next (work, G_MAXUINT32, &task));
  g_autoptr (GBytes) reply = pln_worker_do (hand, &task, &error);
  gsize n_B = g_bytes_get_size (reply);
  const char *bytes = g_bytes_get_data (reply, NULL);
  TEST_FALSE (pln_work_put (work, &task, bytes, n_B - 8, &error)); /* cut off */
  TEST_HAS (error->message, "no reply to it");
  g_clear_error (&error);
  TEST_TRUE (pln_work_put (work, &task, bytes, n_B, &error));
  TEST_FALSE (pln_work_put (work, &task, bytes, n_B, &error)); /* twice */
}

static void
of_tasks_that_fail_the_first_is_told (void)
{
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (Loaded) small = load_small (lookup, NULL);
  const PlnWorkers workers = { .threads = 1 };
  g_autoptr (GError) error = NULL;
  g_autoptr (PlnWork) work = pln_work_new (small.plan, &workers, &error);
  PlnTask task = { .number = 7 };
  pln_work_fail (work, &task, g_error_new_literal (BASE_ERROR, (gint)BASE_ERROR_INPUT, "the seventh"));
  task.number = 3;
  pln_work_fail (work, &task, g_error_new_literal (BASE_ERROR, (gint)BASE_ERROR_INPUT, "the third"));
  task.number = 5;
  pln_work_fail (work, &task, g_error_new_literal (BASE_ERROR, (gint)BASE_ERROR_INPUT, "the fifth"));
  TEST_FALSE (pln_work_next (work, G_MAXUINT32, &task));
  TEST_FALSE (pln_work_estimate (work, &error));
  TEST_STR (error->message, "the third");
}

static void
threads_share_one_machine_and_the_engine (void)
{
  static const char *const sets[] = { "choices.nodes=[2]", NULL };
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (Loaded) small = load_small (lookup, sets);
  g_autoptr (PlnResult) one = search (small.plan, 1, 5), five = search (small.plan, 5, 5);
  same_answers (one, five);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "no order and no memory changes an answer", no_order_and_no_memory_changes_an_answer },
    { "a front is the same too", a_front_is_the_same_too },
    { "each piece is of one part", each_piece_is_of_one_part },
    { "parts make the whole", parts_make_the_whole },
    { "a part has no answer", a_part_has_no_answer },
    { "a search goes on where it was stopped", a_search_goes_on_where_it_was_stopped },
    { "a finished search has nothing left to do", a_finished_search_has_nothing_left_to_do },
    { "what is not of the plan is refused", what_is_not_of_the_plan_is_refused },
    { "a row that the plan would not have is refused", a_row_that_the_plan_would_not_have_is_refused },
    { "what cannot be is refused", what_cannot_be_is_refused },
    { "a reply to another task is refused", a_reply_to_another_task_is_refused },
    { "of tasks that fail the first is reported", of_tasks_that_fail_the_first_is_told },
    { "threads share one machine and the engine", threads_share_one_machine_and_the_engine },
    { NULL, NULL },
  };
  return test_main ("work of plans", cases);
}
