/* A plan's search in tasks. Cuts of a machine that differ by what is cheap to change are one piece: a piece takes milliseconds,
 * so that many workers end together, and a closed form remembers most of what it needs from one cut of it to the next. */
#include "plan_work-private.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"

/* ---- pieces ---- */

GArray *
wrk_plan_list_cuts (const WrkPlan *plan, guint32 machine, guint64 out[WRK_OUT_N])
{
  GArray *cuts = g_array_new (FALSE, FALSE, sizeof (WrkClosedAsk));
  guint64 ignored[WRK_OUT_N] = { 0 };
  /* values were checked when the plan was read */
  (void)wrk_plan_cuts (plan, &g_array_index (plan->machines, WrkMachine, machine), cuts, out != NULL ? out : ignored, NULL);
  return cuts;
}

static void
list_pieces (WrkPlanWork *work, guint32 machine)
{
  g_autoptr (GArray) cuts = wrk_plan_list_cuts (work->plan, machine, work->out);
  WrkPieces *its = &work->machines[machine];
  its->first = its->at = work->pieces->len;
  for (guint i = 0; i < cuts->len; i++) {
    const WrkClosedAsk *ask = &g_array_index (cuts, WrkClosedAsk, i), *before = i > 0 ? ask - 1 : ask;
    if (i == 0 || ask->tp != before->tp || ask->cp != before->cp || ask->pp != before->pp) {
      const WrkPiece piece = { .machine = machine, .first = i };
      g_array_append_val (work->pieces, piece);
    }
    g_array_index (work->pieces, WrkPiece, work->pieces->len - 1).n_cuts++;
  }
  its->end = work->pieces->len;
  its->due = its->end - its->first;
}

WrkPlanWork *
wrk_plan_work_new (WrkPlan *plan, const WrkPlanCrew *crew, GError **error)
{
  guint n = plan->machines->len;
  for (guint i = 0; i < n; i++) {
    g_autoptr (WrkClosed) closed = wrk_closed_new (&g_array_index (plan->machines, WrkMachine, i).scenario->training, error);
    if (closed == NULL)
      return NULL;
  }
  WrkPlanWork *work = g_new0 (WrkPlanWork, 1);
  work->plan = plan;
  work->crew = *crew;
  g_mutex_init (&work->lock);
  work->pieces = g_array_new (FALSE, FALSE, sizeof (WrkPiece));
  work->machines = g_new0 (WrkPieces, n);
  work->count.part = work->count.of = 1;
  work->runs = g_array_new (FALSE, FALSE, sizeof (WrkPlanAsked));
  for (guint32 i = 0; i < n; i++)
    list_pieces (work, i);
  for (guint i = 0; i < work->pieces->len; i++)
    work->count.n_cuts += g_array_index (work->pieces, WrkPiece, i).n_cuts;
  return work;
}

void
wrk_plan_work_free (WrkPlanWork *work)
{
  if (work == NULL)
    return;
  for (guint i = 0; i < work->pieces->len; i++)
    g_free (g_array_index (work->pieces, WrkPiece, i).rows);
  g_array_unref (work->pieces);
  g_array_unref (work->runs);
  g_free (work->machines);
  g_clear_error (&work->error);
  g_mutex_clear (&work->lock);
  g_free (work);
}

/* Dealt out one by one, for what a piece costs depends on its parallelism; each round begins with another part, for machines have
 * their pieces in the same order. */
static guint
part_of (guint piece, guint of)
{
  return (guint)(((guint64)piece + piece / of) % of) + 1;
}

guint
wrk_plan_work_n_of_part (const WrkPlanWork *work, guint part, guint of)
{
  guint n = 0;
  for (guint i = 0; i < work->pieces->len; i++)
    n += part_of (i, of) == part ? 1u : 0u;
  return n;
}

void
wrk_plan_work_take_part (WrkPlanWork *work, guint part, guint of)
{
  work->count.part = part;
  work->count.of = of;
  for (guint i = 0; i < work->pieces->len; i++) {
    WrkPiece *piece = &g_array_index (work->pieces, WrkPiece, i);
    if (part_of (i, of) == part)
      continue;
    piece->state = WRK_PIECE_OTHERS;
    work->machines[piece->machine].due--;
    work->count.n_cuts -= piece->n_cuts;
  }
}

static guint
count_states (const WrkPlanWork *work, gboolean others)
{
  guint n = 0;
  for (guint i = 0; i < work->pieces->len; i++) {
    WrkPieceState state = g_array_index (work->pieces, WrkPiece, i).state;
    n += state == WRK_PIECE_DUE || state == WRK_PIECE_OUT || (others && state == WRK_PIECE_OTHERS) ? 1u : 0u;
  }
  return n;
}

WrkPlan *
wrk_plan_work_plan (const WrkPlanWork *work)
{
  return work->plan;
}

WrkPlanCount
wrk_plan_work_count (const WrkPlanWork *work)
{
  return work->count;
}

guint
wrk_plan_work_n_pieces (const WrkPlanWork *work)
{
  return work->pieces->len;
}

guint
wrk_plan_work_n_runs (const WrkPlanWork *work)
{
  guint n = 0;
  for (guint i = 0; i < work->runs->len; i++)
    n += g_array_index (work->runs, WrkPlanAsked, i).done ? 1u : 0u;
  return n;
}

guint
wrk_plan_work_n_left (const WrkPlanWork *work)
{
  return count_states (work, FALSE);
}

guint
wrk_plan_work_n_open (const WrkPlanWork *work)
{
  return count_states (work, TRUE);
}

static gboolean
ask_stop (WrkPlanWork *work)
{
  work->stopped = work->stopped || (work->crew.stop != NULL && work->crew.stop (work->crew.watch));
  return work->stopped;
}

gboolean
wrk_plan_work_stopped (WrkPlanWork *work)
{
  g_mutex_lock (&work->lock);
  gboolean stopped = ask_stop (work);
  g_mutex_unlock (&work->lock);
  return stopped;
}

/* ---- handing out ---- */

/* A machine for one more worker: where most is left to do for each that has it; G_MAXUINT32: nothing is left. */
static guint32
choose_machine (const WrkPlanWork *work)
{
  guint32 best = G_MAXUINT32;
  double most = 0;
  for (guint32 i = 0; i < work->plan->machines->len; i++) {
    double each = (double)work->machines[i].due / (work->machines[i].hands + 1);
    if (each > most) {
      best = i;
      most = each;
    }
  }
  return best;
}

static gboolean
next_piece (WrkPlanWork *work, guint32 in_hand, WrkPlanTask *task)
{
  guint32 machine = in_hand;
  if (machine == G_MAXUINT32 || work->machines[machine].due == 0) {
    machine = choose_machine (work);
    if (in_hand != G_MAXUINT32 && work->machines[in_hand].hands > 0)
      work->machines[in_hand].hands--;
    if (machine == G_MAXUINT32)
      return FALSE;
    work->machines[machine].hands++;
  }
  WrkPieces *its = &work->machines[machine];
  while (g_array_index (work->pieces, WrkPiece, its->at).state != WRK_PIECE_DUE)
    its->at++;
  WrkPiece *piece = &g_array_index (work->pieces, WrkPiece, its->at);
  piece->state = WRK_PIECE_OUT;
  its->due--;
  *task = (WrkPlanTask){ .number = its->at, .machine = machine, .first = piece->first, .n_cuts = piece->n_cuts };
  return TRUE;
}

static gboolean
next_run (WrkPlanWork *work, WrkPlanTask *task)
{
  for (guint i = 0; i < work->runs->len; i++) {
    WrkPlanAsked *asked = &g_array_index (work->runs, WrkPlanAsked, i);
    if (asked->out || asked->done)
      continue;
    asked->out = TRUE;
    *task = (WrkPlanTask){ .run = TRUE, .number = i, .machine = asked->machine, .first = asked->cut, .n_cuts = 1 };
    return TRUE;
  }
  return FALSE;
}

gboolean
wrk_plan_work_next (WrkPlanWork *work, guint32 in_hand, WrkPlanTask *task)
{
  g_mutex_lock (&work->lock);
  gboolean any = !ask_stop (work) && work->error == NULL && (next_run (work, task) || next_piece (work, in_hand, task));
  g_mutex_unlock (&work->lock);
  return any;
}

void
wrk_plan_work_fail (WrkPlanWork *work, const WrkPlanTask *task, GError *error)
{
  g_mutex_lock (&work->lock);
  if (work->error != NULL && work->failed < task->number)
    g_error_free (error);
  else {
    g_clear_error (&work->error);
    work->error = error;
    work->failed = task->number;
  }
  g_mutex_unlock (&work->lock);
}

/* ---- replies ---- */

void
wrk_plan_work_finish_piece (WrkPlanWork *work, WrkPiece *piece, const WrkPieceCount *count, WrkChoiceRow *rows)
{
  if (piece->state != WRK_PIECE_OTHERS)
    work->count.cuts_done += piece->n_cuts;
  if (piece->state == WRK_PIECE_DUE)
    work->machines[piece->machine].due--;
  piece->state = WRK_PIECE_DONE;
  piece->count = *count;
  piece->rows = rows;
}

/* Whether a reply is as long as it says, and has counted all cuts. */
static gboolean
take_reply (WrkPlanWork *work, const WrkPlanTask *task, const void *reply, gsize n_B)
{
  if (task->run) {
    WrkPlanAsked *asked = task->number < work->runs->len ? &g_array_index (work->runs, WrkPlanAsked, task->number) : NULL;
    if (asked == NULL || asked->done || n_B != sizeof asked->run)
      return FALSE;
    memcpy (&asked->run, reply, n_B);
    asked->done = TRUE;
    work->count.runs_done++;
    return TRUE;
  }
  WrkPiece *piece = task->number < work->pieces->len ? &g_array_index (work->pieces, WrkPiece, task->number) : NULL;
  WrkPieceCount count;
  if (piece == NULL || piece->state != WRK_PIECE_OUT || n_B < sizeof count)
    return FALSE;
  memcpy (&count, reply, sizeof count);
  guint64 sum = count.n_rows;
  for (int o = 0; o < WRK_OUT_N; o++)
    sum += count.out[o];
  if (sum != piece->n_cuts || n_B != sizeof count + count.n_rows * sizeof (WrkChoiceRow))
    return FALSE;
  gsize rows_B = n_B - sizeof count;
  WrkChoiceRow *rows = count.n_rows > 0 ? g_malloc (rows_B) : NULL;
  if (rows != NULL)
    memcpy (rows, (const char *)reply + sizeof count, rows_B);
  wrk_plan_work_finish_piece (work, piece, &count, rows);
  return TRUE;
}

gboolean
wrk_plan_work_put (WrkPlanWork *work, const WrkPlanTask *task, const void *reply, gsize n_B, GError **error)
{
  g_mutex_lock (&work->lock);
  gboolean good = take_reply (work, task, reply, n_B);
  if (good && work->crew.progress != NULL)
    work->crew.progress (work->crew.watch, work, &work->count);
  g_mutex_unlock (&work->lock);
  if (!good)
    g_set_error (error, BASE_ERROR, (gint)BASE_ERROR_RUN,
                 "task %u of machine %u of the plan was answered with %" G_GSIZE_FORMAT " bytes that are no reply to it",
                 task->number, task->machine, n_B);
  return good;
}

/* ---- the threads of this process ---- */

static void
serve (void *item)
{
  WrkPlanWork *work = *(WrkPlanWork **)item;
  g_autoptr (WrkPlanHand) hand = wrk_plan_hand_new (work->plan);
  WrkPlanTask task = { .machine = G_MAXUINT32 };
  while (wrk_plan_work_next (work, task.machine, &task)) {
    GError *error = NULL;
    g_autoptr (GBytes) reply = wrk_plan_hand_do (hand, &task, &error);
    if (reply == NULL || !wrk_plan_work_put (work, &task, g_bytes_get_data (reply, NULL), g_bytes_get_size (reply), &error))
      wrk_plan_work_fail (work, &task, error);
  }
}

static gboolean
do_all (WrkPlanWork *work, guint n_tasks, GError **error)
{
  if (n_tasks == 0)
    return TRUE;
  if (work->crew.crew != NULL) {
    if (!work->crew.crew (work->crew.data, work, error))
      return FALSE;
  } else {
    guint most = work->crew.threads > 0 ? work->crew.threads : g_get_num_processors (), n = MIN (most, n_tasks);
    g_autofree WrkPlanWork **same = g_new (WrkPlanWork *, n);
    for (guint i = 0; i < n; i++)
      same[i] = work;
    base_parallel_each (same, n, sizeof *same, n, serve);
  }
  if (work->error == NULL)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&work->error));
  return FALSE;
}

gboolean
wrk_plan_work_reckon (WrkPlanWork *work, GError **error)
{
  return do_all (work, wrk_plan_work_n_left (work), error);
}

/* ---- the engine ---- */

static const WrkPlanAsked *
find_run (const WrkPlanWork *work, const WrkChoiceRow *row)
{
  for (guint i = 0; i < work->runs->len; i++) {
    const WrkPlanAsked *asked = &g_array_index (work->runs, WrkPlanAsked, i);
    if (asked->machine == row->machine && asked->cut == row->cut)
      return asked;
  }
  return NULL;
}

gboolean
wrk_plan_work_simulate (WrkPlanWork *work, WrkChoiceRow *const *rows, guint n, GError **error)
{
  guint before = work->runs->len;
  for (guint i = 0; i < n; i++)
    if (find_run (work, rows[i]) == NULL) {
      const WrkPlanAsked asked = { .machine = rows[i]->machine, .cut = rows[i]->cut };
      g_array_append_val (work->runs, asked);
    }
  work->count.n_runs += work->runs->len - before;
  if (!do_all (work, work->runs->len - before, error))
    return FALSE;
  for (guint i = 0; i < n; i++) {
    const WrkPlanAsked *asked = find_run (work, rows[i]);
    if (!asked->done) {
      g_set_error_literal (error, BASE_ERROR, (gint)BASE_ERROR_RUN, "the search was stopped before the engine had run the best");
      return FALSE;
    }
    wrk_plan_take_run (work->plan, &asked->run, rows[i]);
  }
  return TRUE;
}

/* ---- one worker ---- */

struct WrkPlanHand {
  WrkPlan *plan;
  WrkClosedPool *pool; /* of all machines */
  guint32 machine;     /* of closed and cuts; G_MAXUINT32: none */
  WrkClosed *closed;
  GArray *cuts; /* WrkClosedAsk */
};

WrkPlanHand *
wrk_plan_hand_new (WrkPlan *plan)
{
  WrkPlanHand *hand = g_new0 (WrkPlanHand, 1);
  hand->plan = plan;
  hand->pool = wrk_closed_pool_new ();
  hand->machine = G_MAXUINT32;
  return hand;
}

static void
put_down (WrkPlanHand *hand)
{
  g_clear_pointer (&hand->closed, wrk_closed_free);
  g_clear_pointer (&hand->cuts, g_array_unref);
  hand->machine = G_MAXUINT32;
}

void
wrk_plan_hand_free (WrkPlanHand *hand)
{
  if (hand == NULL)
    return;
  put_down (hand);
  wrk_closed_pool_free (hand->pool);
  g_free (hand);
}

static gboolean
take_up (WrkPlanHand *hand, guint32 machine, GError **error)
{
  if (hand->machine == machine)
    return TRUE;
  put_down (hand);
  hand->closed = wrk_closed_new (&g_array_index (hand->plan->machines, WrkMachine, machine).scenario->training, error);
  if (hand->closed == NULL)
    return FALSE;
  wrk_closed_share (hand->closed, hand->pool);
  wrk_closed_skip_unfit (hand->closed);
  hand->cuts = wrk_plan_list_cuts (hand->plan, machine, NULL);
  hand->machine = machine;
  return TRUE;
}

static void
reckon (WrkPlanHand *hand, const WrkPlanTask *task, GByteArray *reply)
{
  WrkPieceCount count = { 0 };
  g_byte_array_append (reply, (const guint8 *)&count, sizeof count);
  for (guint32 i = task->first; i < task->first + task->n_cuts; i++) {
    const WrkClosedAsk *ask = &g_array_index (hand->cuts, WrkClosedAsk, i);
    WrkClosedStep step;
    WrkChoiceRow row;
    double over;
    if (!wrk_closed_step (hand->closed, ask, &step, NULL)) {
      count.out[WRK_OUT_REFUSED]++;
      continue;
    }
    wrk_plan_take_step (hand->plan, task->machine, ask, &step, &row);
    WrkOut out = wrk_plan_misses (hand->plan, &row, &over);
    if (out == WRK_OUT_N) {
      row.cut = i;
      g_byte_array_append (reply, (const guint8 *)&row, sizeof row);
      count.n_rows++;
      continue;
    }
    count.over[out] = count.out[out] == 0 ? over : fmin (count.over[out], over);
    count.out[out]++;
  }
  memcpy (reply->data, &count, sizeof count);
}

static gboolean
simulate (WrkPlanHand *hand, const WrkPlanTask *task, WrkPlanRun *run, GError **error)
{
  const WrkMachine *machine = &g_array_index (hand->plan->machines, WrkMachine, task->machine);
  const WrkClosedAsk *ask = &g_array_index (hand->cuts, WrkClosedAsk, task->first);
  g_mutex_lock (&hand->plan->loading);
  WrkScenario *scenario = wrk_plan_scenario (hand->plan, machine, ask, error);
  g_mutex_unlock (&hand->plan->loading);
  WrkResult *result = scenario != NULL ? wrk_scenario_run (scenario, FALSE, error) : NULL;
  gboolean ran = result != NULL;
  if (ran) {
    const WrkTrainingResult *t = &result->training;
    *run = (WrkPlanRun){ t->step_time_s, t->step_time_lo_s, t->step_time_hi_s, t->mfu, t->restore_B, { 0 } };
    memcpy (run->part_s, t->part_s, sizeof run->part_s);
  }
  wrk_result_free (result);
  wrk_scenario_free (scenario);
  return ran;
}

GBytes *
wrk_plan_hand_do (WrkPlanHand *hand, const WrkPlanTask *task, GError **error)
{
  WrkPlanRun run;
  if (!take_up (hand, task->machine, error))
    return NULL;
  if (task->run)
    return simulate (hand, task, &run, error) ? g_bytes_new (&run, sizeof run) : NULL;
  g_autoptr (GByteArray) reply = g_byte_array_new ();
  reckon (hand, task, reply);
  return g_byte_array_free_to_bytes (g_steal_pointer (&reply));
}
