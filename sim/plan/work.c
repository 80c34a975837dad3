/* A plan's search in tasks. Cuts of a machine that differ by what is cheap to change are one piece: a piece takes milliseconds,
 * so that many workers end together, and a closed form remembers most of what it needs from one cut of it to the next. */
#include "work-private.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"

/* ---- pieces ---- */

GArray *
pln_list_layouts (const Pln *plan, guint32 machine, guint64 out[PLN_REJECTED_N])
{
  GArray *cuts = g_array_new (FALSE, FALSE, sizeof (TrnClosedQuery));
  guint64 ignored[PLN_REJECTED_N] = { 0 };
  /* values were checked when the plan was read */
  (void)pln_layouts (plan, &g_array_index (plan->machines, PlnMachine, machine), cuts, NULL, out != NULL ? out : ignored, NULL);
  return cuts;
}

static void
free_steps (gpointer steps)
{
  g_array_unref (steps);
}

static void
list_pieces (PlnWork *work, guint32 machine)
{
  g_autoptr (GArray) cuts = pln_list_layouts (work->plan, machine, work->out);
  if (work->steps != NULL) {
    GArray *steps = g_array_new (FALSE, TRUE, sizeof (TrnClosedStep));
    g_array_set_size (steps, cuts->len);
    g_ptr_array_add (work->steps, steps);
  }
  PlnPieces *its = &work->machines[machine];
  its->first = its->at = work->pieces->len;
  for (guint i = 0; i < cuts->len; i++) {
    const TrnClosedQuery *query = &g_array_index (cuts, TrnClosedQuery, i), *before = i > 0 ? query - 1 : query;
    if (i == 0 || query->tp != before->tp || query->cp != before->cp || query->pp != before->pp) {
      const PlnPiece piece = { .machine = machine, .first = i };
      g_array_append_val (work->pieces, piece);
    }
    g_array_index (work->pieces, PlnPiece, work->pieces->len - 1).n_cuts++;
  }
  its->end = work->pieces->len;
  its->due = its->end - its->first;
}

PlnWork *
pln_work_new (Pln *plan, const PlnWorkers *workers, GError **error)
{
  guint n = plan->machines->len;
  for (guint i = 0; i < n; i++) {
    const PlnMachine *machine = &g_array_index (plan->machines, PlnMachine, i);
    g_autoptr (TrnClosed) closed = machine->steps == NULL ? trn_closed_new (&machine->scenario->training, error) : NULL;
    if (closed == NULL && machine->steps == NULL)
      return NULL;
  }
  PlnWork *work = g_new0 (PlnWork, 1);
  work->plan = plan;
  work->workers = *workers;
  g_mutex_init (&work->lock);
  work->pieces = g_array_new (FALSE, FALSE, sizeof (PlnPiece));
  work->machines = g_new0 (PlnPieces, n);
  work->count.part = work->count.of = 1;
  work->runs = g_array_new (FALSE, FALSE, sizeof (PlnPending));
  if (workers->keep_steps && workers->workers == NULL)
    work->steps = g_ptr_array_new_with_free_func (free_steps);
  for (guint32 i = 0; i < n; i++)
    list_pieces (work, i);
  for (guint i = 0; i < work->pieces->len; i++)
    work->count.n_cuts += g_array_index (work->pieces, PlnPiece, i).n_cuts;
  return work;
}

void
pln_work_free (PlnWork *work)
{
  if (work == NULL)
    return;
  for (guint i = 0; i < work->pieces->len; i++)
    g_free (g_array_index (work->pieces, PlnPiece, i).rows);
  g_array_unref (work->pieces);
  g_array_unref (work->runs);
  g_clear_pointer (&work->steps, g_ptr_array_unref);
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
pln_work_n_of_part (const PlnWork *work, guint part, guint of)
{
  guint n = 0;
  for (guint i = 0; i < work->pieces->len; i++)
    n += part_of (i, of) == part ? 1u : 0u;
  return n;
}

void
pln_work_take_part (PlnWork *work, guint part, guint of)
{
  work->count.part = part;
  work->count.of = of;
  for (guint i = 0; i < work->pieces->len; i++) {
    PlnPiece *piece = &g_array_index (work->pieces, PlnPiece, i);
    if (part_of (i, of) == part)
      continue;
    piece->state = PLN_PIECE_OTHERS;
    work->machines[piece->machine].due--;
    work->count.n_cuts -= piece->n_cuts;
  }
}

static guint
count_states (const PlnWork *work, gboolean others)
{
  guint n = 0;
  for (guint i = 0; i < work->pieces->len; i++) {
    PlnPieceState state = g_array_index (work->pieces, PlnPiece, i).state;
    n += state == PLN_PIECE_DUE || state == PLN_PIECE_OUT || (others && state == PLN_PIECE_OTHERS) ? 1u : 0u;
  }
  return n;
}

Pln *
pln_work_plan (const PlnWork *work)
{
  return work->plan;
}

PlnCount
pln_work_count (const PlnWork *work)
{
  return work->count;
}

guint
pln_work_n_pieces (const PlnWork *work)
{
  return work->pieces->len;
}

guint
pln_work_n_runs (const PlnWork *work)
{
  guint n = 0;
  for (guint i = 0; i < work->runs->len; i++)
    n += g_array_index (work->runs, PlnPending, i).done ? 1u : 0u;
  return n;
}

guint
pln_work_n_left (const PlnWork *work)
{
  return count_states (work, FALSE);
}

guint
pln_work_n_open (const PlnWork *work)
{
  return count_states (work, TRUE);
}

static gboolean
ask_stop (PlnWork *work)
{
  work->stopped = work->stopped || (work->workers.stop != NULL && work->workers.stop (work->workers.watch));
  return work->stopped;
}

gboolean
pln_work_stopped (PlnWork *work)
{
  g_mutex_lock (&work->lock);
  gboolean stopped = ask_stop (work);
  g_mutex_unlock (&work->lock);
  return stopped;
}

/* ---- handing out ---- */

/* A machine for one more worker: where most is left to do for each that has it, of equals one that differs from the one before by
 * its network; G_MAXUINT32: nothing is left. */
static guint32
choose_machine (const PlnWork *work, guint32 before)
{
  const GArray *machines = work->plan->machines;
  guint32 best = G_MAXUINT32;
  double most = 0;
  gboolean kin = FALSE;
  for (guint32 i = 0; i < machines->len; i++) {
    double each = (double)work->machines[i].due / (work->machines[i].hands + 1);
    gboolean is_kin = before != G_MAXUINT32 &&
                      pln_are_kin (&g_array_index (machines, PlnMachine, before), &g_array_index (machines, PlnMachine, i));
    if (each > most || (each >= most && each > 0 && is_kin && !kin)) {
      best = i;
      most = each;
      kin = is_kin;
    }
  }
  return best;
}

static gboolean
next_piece (PlnWork *work, guint32 in_hand, PlnTask *task)
{
  guint32 machine = in_hand;
  if (machine == G_MAXUINT32 || work->machines[machine].due == 0) {
    machine = choose_machine (work, in_hand);
    if (in_hand != G_MAXUINT32 && work->machines[in_hand].hands > 0)
      work->machines[in_hand].hands--;
    if (machine == G_MAXUINT32)
      return FALSE;
    work->machines[machine].hands++;
  }
  PlnPieces *its = &work->machines[machine];
  while (g_array_index (work->pieces, PlnPiece, its->at).state != PLN_PIECE_DUE)
    its->at++;
  PlnPiece *piece = &g_array_index (work->pieces, PlnPiece, its->at);
  piece->state = PLN_PIECE_OUT;
  its->due--;
  *task = (PlnTask){ .number = its->at, .machine = machine, .first = piece->first, .n_cuts = piece->n_cuts };
  return TRUE;
}

static gboolean
next_run (PlnWork *work, PlnTask *task)
{
  for (guint i = 0; i < work->runs->len; i++) {
    PlnPending *asked = &g_array_index (work->runs, PlnPending, i);
    if (asked->out || asked->done)
      continue;
    asked->out = TRUE;
    *task = (PlnTask){ .run = TRUE, .number = i, .machine = asked->machine, .first = asked->cut, .n_cuts = 1 };
    return TRUE;
  }
  return FALSE;
}

gboolean
pln_work_next (PlnWork *work, guint32 in_hand, PlnTask *task)
{
  g_mutex_lock (&work->lock);
  gboolean any = !ask_stop (work) && work->error == NULL && (next_run (work, task) || next_piece (work, in_hand, task));
  g_mutex_unlock (&work->lock);
  return any;
}

void
pln_work_fail (PlnWork *work, const PlnTask *task, GError *error)
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
pln_work_finish_piece (PlnWork *work, PlnPiece *piece, const PlnPieceCount *count, PlnChoiceRow *rows)
{
  if (piece->state != PLN_PIECE_OTHERS)
    work->count.cuts_done += piece->n_cuts;
  if (piece->state == PLN_PIECE_DUE)
    work->machines[piece->machine].due--;
  piece->state = PLN_PIECE_DONE;
  piece->count = *count;
  piece->rows = rows;
}

/* Whether a reply is as long as it says, and has counted all cuts. */
static gboolean
take_reply (PlnWork *work, const PlnTask *task, const void *reply, gsize n_B)
{
  if (task->run) {
    PlnPending *asked = task->number < work->runs->len ? &g_array_index (work->runs, PlnPending, task->number) : NULL;
    if (asked == NULL || asked->done || n_B != sizeof asked->run)
      return FALSE;
    memcpy (&asked->run, reply, n_B);
    asked->done = TRUE;
    work->count.runs_done++;
    return TRUE;
  }
  PlnPiece *piece = task->number < work->pieces->len ? &g_array_index (work->pieces, PlnPiece, task->number) : NULL;
  PlnPieceCount count;
  if (piece == NULL || piece->state != PLN_PIECE_OUT || n_B < sizeof count)
    return FALSE;
  memcpy (&count, reply, sizeof count);
  guint64 sum = count.n_rows;
  for (int o = 0; o < PLN_REJECTED_N; o++)
    sum += count.out[o];
  if (sum != piece->n_cuts || n_B != sizeof count + count.n_rows * sizeof (PlnChoiceRow))
    return FALSE;
  gsize rows_B = n_B - sizeof count;
  PlnChoiceRow *rows = count.n_rows > 0 ? g_malloc (rows_B) : NULL;
  if (rows != NULL)
    memcpy (rows, (const char *)reply + sizeof count, rows_B);
  pln_work_finish_piece (work, piece, &count, rows);
  return TRUE;
}

gboolean
pln_work_put (PlnWork *work, const PlnTask *task, const void *reply, gsize n_B, GError **error)
{
  g_mutex_lock (&work->lock);
  gboolean good = take_reply (work, task, reply, n_B);
  if (good && work->workers.progress != NULL)
    work->workers.progress (work->workers.watch, work, &work->count);
  g_mutex_unlock (&work->lock);
  if (!good)
    g_set_error (error, BASE_ERROR, (gint)BASE_ERROR_RUN,
                 "task %u of machine %u of the plan was answered with %" G_GSIZE_FORMAT " bytes that are no reply to it",
                 task->number, task->machine, n_B);
  return good;
}

struct PlnWorker {
  Pln *plan;
  TrnClosedPool *pool;        /* of all machines */
  guint32 machine;            /* of closed and cuts; G_MAXUINT32: none */
  TrnClosed *closed, *before; /* before: that of the machine before, which has another network alone; NULL: none */
  GArray *cuts;               /* TrnClosedQuery */
  GPtrArray *steps;           /* as of PlnWork. Borrowed */
};

/* ---- the threads of this process ---- */

static void
serve (void *item)
{
  PlnWork *work = *(PlnWork **)item;
  g_autoptr (PlnWorker) hand = pln_worker_new (work->plan);
  hand->steps = work->steps;
  PlnTask task = { .machine = G_MAXUINT32 };
  while (pln_work_next (work, task.machine, &task)) {
    GError *error = NULL;
    g_autoptr (GBytes) reply = pln_worker_do (hand, &task, &error);
    if (reply == NULL || !pln_work_put (work, &task, g_bytes_get_data (reply, NULL), g_bytes_get_size (reply), &error))
      pln_work_fail (work, &task, error);
  }
}

static gboolean
do_all (PlnWork *work, guint n_tasks, GError **error)
{
  if (n_tasks == 0)
    return TRUE;
  if (work->workers.workers != NULL) {
    if (!work->workers.workers (work->workers.data, work, error))
      return FALSE;
  } else {
    guint most = work->workers.threads > 0 ? work->workers.threads : g_get_num_processors (), n = MIN (most, n_tasks);
    g_autofree PlnWork **same = g_new (PlnWork *, n);
    for (guint i = 0; i < n; i++)
      same[i] = work;
    base_parallel_each (same, n, sizeof *same, n, NULL, serve);
  }
  if (work->error == NULL)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&work->error));
  return FALSE;
}

gboolean
pln_work_estimate (PlnWork *work, GError **error)
{
  return do_all (work, pln_work_n_left (work), error);
}

/* ---- the engine ---- */

static const PlnPending *
find_run (const PlnWork *work, const PlnChoiceRow *row)
{
  for (guint i = 0; i < work->runs->len; i++) {
    const PlnPending *asked = &g_array_index (work->runs, PlnPending, i);
    if (asked->machine == row->machine && asked->cut == row->cut)
      return asked;
  }
  return NULL;
}

gboolean
pln_work_simulate (PlnWork *work, PlnChoiceRow *const *rows, guint n, GError **error)
{
  guint before = work->runs->len;
  for (guint i = 0; i < n; i++)
    if (find_run (work, rows[i]) == NULL) {
      const PlnPending asked = { .machine = rows[i]->machine, .cut = rows[i]->cut };
      g_array_append_val (work->runs, asked);
    }
  work->count.n_runs += work->runs->len - before;
  if (!do_all (work, work->runs->len - before, error))
    return FALSE;
  for (guint i = 0; i < n; i++) {
    const PlnPending *asked = find_run (work, rows[i]);
    if (!asked->done) {
      g_set_error_literal (error, BASE_ERROR, (gint)BASE_ERROR_RUN, "the search was stopped before the engine had run the best");
      return FALSE;
    }
    pln_take_run (work->plan, &asked->run, rows[i]);
  }
  return TRUE;
}

/* ---- one worker ---- */

PlnWorker *
pln_worker_new (Pln *plan)
{
  PlnWorker *hand = g_new0 (PlnWorker, 1);
  hand->plan = plan;
  hand->pool = trn_closed_pool_new ();
  hand->machine = G_MAXUINT32;
  return hand;
}

static void
put_down (PlnWorker *hand)
{
  g_clear_pointer (&hand->closed, trn_closed_free);
  g_clear_pointer (&hand->before, trn_closed_free);
  g_clear_pointer (&hand->cuts, g_array_unref);
  hand->machine = G_MAXUINT32;
}

void
pln_worker_free (PlnWorker *hand)
{
  if (hand == NULL)
    return;
  put_down (hand);
  trn_closed_pool_free (hand->pool);
  g_free (hand);
}

static gboolean
take_up (PlnWorker *hand, guint32 machine, GError **error)
{
  if (hand->machine == machine)
    return TRUE;
  const PlnMachine *its = &g_array_index (hand->plan->machines, PlnMachine, machine);
  gboolean kin =
      hand->machine != G_MAXUINT32 && pln_are_kin (&g_array_index (hand->plan->machines, PlnMachine, hand->machine), its);
  TrnClosed *before = kin ? g_steal_pointer (&hand->closed) : NULL;
  put_down (hand);
  hand->before = before;
  hand->closed = its->steps == NULL ? trn_closed_new (&its->scenario->training, error) : NULL;
  if (hand->closed == NULL && its->steps == NULL)
    return FALSE;
  if (hand->closed != NULL) {
    trn_closed_share (hand->closed, hand->pool);
    trn_closed_skip_unfit (hand->closed, hand->steps == NULL ? pln_memory_share (hand->plan) : 1);
    trn_closed_follow (hand->closed, hand->before);
  }
  hand->cuts = pln_list_layouts (hand->plan, machine, NULL);
  hand->machine = machine;
  return TRUE;
}

/* As it is known of a plan read before, or as the closed form has it. FALSE: it is refused. */
static gboolean
step_of (PlnWorker *hand, guint32 cut, TrnClosedStep *step)
{
  const GArray *known = g_array_index (hand->plan->machines, PlnMachine, hand->machine).steps;
  if (known == NULL)
    return trn_closed_step (hand->closed, &g_array_index (hand->cuts, TrnClosedQuery, cut), step, NULL);
  *step = g_array_index (known, TrnClosedStep, cut);
  return step->n_ranks > 0;
}

/* Whether a plan that was read before leaves it no chance. */
static gboolean
is_beyond (const PlnWorker *hand, guint32 cut)
{
  const PlnLike *like = hand->plan->options.like;
  const GArray *formulas = like != NULL && like->formulas != NULL ? like->formulas->pdata[hand->machine] : NULL;
  return formulas != NULL && formulas->len == hand->cuts->len && g_array_index (formulas, double, cut) > like->most;
}

/* Keeps a step where that is asked, and of one that leaves too little memory says no more than trn_closed_skip_unfit() does. */
static void
keep_step (const PlnWorker *hand, guint32 cut, TrnClosedStep *step)
{
  if (hand->steps == NULL)
    return;
  g_array_index ((GArray *)hand->steps->pdata[hand->machine], TrnClosedStep, cut) = *step;
  if (step->capacity_B > 0 && step->memory_B > pln_memory_share (hand->plan) * step->capacity_B) {
    step->step_time_s = step->step_time_lo_s = step->step_time_hi_s = 0;
    memset (step->part_s, 0, sizeof step->part_s);
  }
}

static void
estimate (PlnWorker *hand, const PlnTask *task, GByteArray *reply)
{
  PlnPieceCount count = { 0 };
  g_byte_array_append (reply, (const guint8 *)&count, sizeof count);
  for (guint32 i = task->first; i < task->first + task->n_cuts; i++) {
    const TrnClosedQuery *query = &g_array_index (hand->cuts, TrnClosedQuery, i);
    TrnClosedStep step;
    PlnChoiceRow row;
    double over;
    if (is_beyond (hand, i) || !step_of (hand, i, &step)) {
      count.out[PLN_REJECTED_REFUSED]++;
      continue;
    }
    keep_step (hand, i, &step);
    pln_take_step (hand->plan, task->machine, query, &step, &row);
    PlnRejection out = pln_misses (hand->plan, &row, &over);
    if (out == PLN_REJECTED_N) {
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
simulate (PlnWorker *hand, const PlnTask *task, PlnRun *run, GError **error)
{
  const PlnMachine *machine = &g_array_index (hand->plan->machines, PlnMachine, task->machine);
  const TrnClosedQuery *query = &g_array_index (hand->cuts, TrnClosedQuery, task->first);
  g_mutex_lock (&hand->plan->loading);
  Scn *scenario = pln_scenario (hand->plan, machine, query, error);
  g_mutex_unlock (&hand->plan->loading);
  ScnResult *result = scenario != NULL ? scn_run (scenario, FALSE, error) : NULL;
  gboolean ran = result != NULL;
  if (ran) {
    const TrnResult *t = &result->training;
    *run = (PlnRun){ t->step_time_s, t->step_time_lo_s, t->step_time_hi_s, t->mfu, t->restore_B, { 0 } };
    memcpy (run->part_s, t->part_s, sizeof run->part_s);
  }
  scn_result_free (result);
  scn_free (scenario);
  return ran;
}

GBytes *
pln_worker_do (PlnWorker *hand, const PlnTask *task, GError **error)
{
  PlnRun run;
  if (!take_up (hand, task->machine, error))
    return NULL;
  if (task->run)
    return simulate (hand, task, &run, error) ? g_bytes_new (&run, sizeof run) : NULL;
  g_autoptr (GByteArray) reply = g_byte_array_new ();
  estimate (hand, task, reply);
  return g_byte_array_free_to_bytes (g_steal_pointer (&reply));
}
