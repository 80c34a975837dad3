/* One run through failures, by events of its own: between two of them training repeats itself, so that whole intervals between
 * checkpoints are passed at once and a run costs its failures, not its steps.
 *
 * What happens: work, a stall for the checkpoint, work again while it drains; a checkpoint can be restored once it has drained,
 * and the next one waits for that. A failure loses the work since then; it is noticed, nodes are taken from the spares or waited
 * for, the job starts, restores, goes on. A failure during that begins it anew. Parts age by the clock, whether the job works or
 * waits. An elastic job goes on without the replicas of a lost node: it forms anew, a step does their part less, and forms again
 * when the node's successor has started; with too few left it stops as others do. Check: law_goodput, against the closed form and
 * by sums; test_goodput_days, histories worked by hand. */
#include <math.h>

#include "goodput-private.h"

/* Runs that never end are given up. */
#define MOST_EVENTS 5e6
enum { NOBODY = -1, JOINS = -2 };

typedef enum { PHASE_WORK, PHASE_WAIT, PHASE_STALL } Phase;

/* What comes to an end in the order in which it began, as all of a kind last alike: those before `first` have. */
typedef struct {
  GArray *end_s; /* double */
  guint first;
} Slow;

typedef struct {
  double at_s, nodes;
} Back;

typedef struct {
  double at_s;
  int cause;
  gboolean ends; /* a slow-down of that cause; else something happens */
} Event;

typedef struct {
  const GdpRunPlan *plan;
  GdpRunOutcome *out;
  GdpTally *tally;
  BaseRandom random;
  double now_s, interval_s;
  gboolean ended;
  double n_events;
  /* training */
  Phase phase;
  double work_s;     /* useful so far */
  double begun_s;    /* of it when the interval began */
  double saved_s;    /* of it can be restored */
  double draining_s; /* of it once drained_at has come; infinite: nothing drains */
  double drained_at_s;
  double stall_left_s;
  gboolean fresh;          /* a stall has just ended */
  double pace;             /* what a step takes, in healthy ones */
  const GdpCause *slowest; /* whose doing that is; NULL: nobody's */
  /* what fails */
  double pooled_per_s; /* of all exponential kinds together */
  double pooled_at_s;
  double *sum_per_s; /* of the exponential kinds up to each */
  double *at_s;      /* of each other kind's next failure */
  Slow *slow;        /* of each kind */
  GArray *back;      /* Back, soonest first */
  guint first_back;  /* those before are back */
  double spares;
  /* elastic */
  GArray *gone; /* Back: replicas, soonest first; those before first_gone have joined */
  guint first_gone;
  double lost;             /* replicas that are away */
  const GdpCause *missing; /* whose doing that is */
} Run;

/* Time that is not useful, and whose doing it is; `cause` NULL: nobody's. */
static void
lose (Run *run, GdpLost lost, const GdpCause *cause, double lost_s)
{
  run->out->lost_s[lost] += lost_s;
  if (cause != NULL && run->tally != NULL)
    run->tally[cause - run->plan->cause].lost_s += lost_s;
}

/* What is alike and follows each other is one span. */
static void
show (Run *run, const char *what, const GdpCause *cause, double checkpoints, double start_s, double end_s)
{
  GArray *timeline = run->plan->timeline;
  const double left = run->lost > 0 ? run->plan->elastic.replicas - run->lost : 0;
  const char *name = cause != NULL ? cause->name : NULL;
  if (timeline == NULL || end_s <= start_s)
    return;
  GdpSpan *last = timeline->len > 0 ? &g_array_index (timeline, GdpSpan, timeline->len - 1) : NULL;
  if (last != NULL && last->what == what && last->cause == name && last->replicas >= left && last->replicas <= left &&
      last->end_s >= start_s) {
    last->end_s = end_s;
    last->checkpoints += checkpoints;
    return;
  }
  g_array_append_val (timeline, ((GdpSpan){ what, name, left, checkpoints, start_s, end_s }));
}

/* ---- when things happen ---- */

static double
draw_gap (Run *run, const GdpCause *cause)
{
  double unit = -log1p (-base_random_unit (&run->random));
  return mdl_weibull_scale (1 / cause->rate_per_s, cause->shape) * pow (unit, 1 / cause->shape);
}

static gboolean
is_exponential (const GdpCause *cause)
{
  return cause->shape >= 1 && cause->shape <= 1;
}

static void
start_clocks (Run *run)
{
  const GdpRunPlan *plan = run->plan;
  run->sum_per_s = g_new (double, plan->n_causes + 1);
  run->at_s = g_new (double, plan->n_causes + 1);
  run->slow = g_new0 (Slow, plan->n_causes + 1);
  for (unsigned i = 0; i < plan->n_causes; i++) {
    const GdpCause *cause = &plan->cause[i];
    run->at_s[i] = (double)INFINITY;
    if (is_exponential (cause))
      run->pooled_per_s += cause->rate_per_s;
    else if (cause->rate_per_s > 0)
      run->at_s[i] = draw_gap (run, cause);
    run->sum_per_s[i] = run->pooled_per_s;
  }
  run->pooled_at_s = run->pooled_per_s > 0 ? base_random_exponential (&run->random, 1 / run->pooled_per_s) : (double)INFINITY;
}

static gboolean
is_slow (const Slow *slow)
{
  return slow->end_s != NULL && slow->first < slow->end_s->len;
}

static Event
next_event (const Run *run)
{
  Event next = { run->pooled_at_s, NOBODY, FALSE };
  for (unsigned i = 0; i < run->plan->n_causes; i++) {
    const Slow *slow = &run->slow[i];
    if (run->at_s[i] < next.at_s)
      next = (Event){ run->at_s[i], (int)i, FALSE };
    if (is_slow (slow) && g_array_index (slow->end_s, double, slow->first) < next.at_s)
      next = (Event){ g_array_index (slow->end_s, double, slow->first), (int)i, TRUE };
  }
  if (run->first_gone < run->gone->len && g_array_index (run->gone, Back, run->first_gone).at_s < next.at_s)
    next = (Event){ g_array_index (run->gone, Back, run->first_gone).at_s, JOINS, FALSE };
  return next;
}

/* The slowest sets it, and the replicas that are away do nothing. */
static void
set_pace (Run *run)
{
  run->pace = 1;
  run->slowest = NULL;
  for (unsigned i = 0; i < run->plan->n_causes; i++)
    if (is_slow (&run->slow[i]) && run->plan->cause[i].slowdown > run->pace) {
      run->pace = run->plan->cause[i].slowdown;
      run->slowest = &run->plan->cause[i];
    }
  if (run->lost <= 0)
    return;
  run->pace *= run->plan->elastic.replicas / (run->plan->elastic.replicas - run->lost);
  run->slowest = run->slowest != NULL ? run->slowest : run->missing;
}

static void
slow_down (Run *run, int cause, double end_s)
{
  Slow *slow = &run->slow[cause];
  if (slow->end_s == NULL)
    slow->end_s = g_array_new (FALSE, FALSE, sizeof (double));
  g_array_append_val (slow->end_s, end_s);
  set_pace (run);
}

/* Which kind it is, and when the next of its clock comes. */
static const GdpCause *
take_event (Run *run, Event *event)
{
  const GdpRunPlan *plan = run->plan;
  if (++run->n_events > MOST_EVENTS)
    run->ended = TRUE;
  if (event->cause == JOINS) { /* nothing fails */
    static const GdpCause nothing = { .effect = MDL_EFFECT_SLOW };
    run->lost = fmax (0, run->lost - g_array_index (run->gone, Back, run->first_gone++).nodes);
    set_pace (run);
    return &nothing;
  }
  if (event->ends) {
    run->slow[event->cause].first++;
    set_pace (run);
    return &plan->cause[event->cause];
  }
  if (event->cause == NOBODY) {
    double at = base_random_unit (&run->random) * run->pooled_per_s;
    int i = 0;
    while (i + 1 < (int)plan->n_causes && run->sum_per_s[i] <= at)
      i++;
    event->cause = i;
    run->pooled_at_s = event->at_s + base_random_exponential (&run->random, 1 / run->pooled_per_s);
  } else
    run->at_s[event->cause] = event->at_s + draw_gap (run, &plan->cause[event->cause]);
  const GdpCause *cause = &plan->cause[event->cause];
  if (run->tally != NULL)
    run->tally[event->cause].count += 1;
  if (cause->effect == MDL_EFFECT_STOP)
    run->out->stops += 1;
  if (cause->effect == MDL_EFFECT_SLOW)
    slow_down (run, event->cause, event->at_s + cause->lasts_s);
  return cause;
}

/* ---- spares ---- */

static void
take_nodes (Run *run, const GdpCause *cause)
{
  if (cause->nodes <= 0 || isinf (run->spares))
    return;
  const Back back = { run->now_s + cause->repair_s, cause->nodes };
  guint i = run->back->len;
  while (i > run->first_back && g_array_index (run->back, Back, i - 1).at_s > back.at_s)
    i--;
  g_array_insert_val (run->back, i, back);
  run->spares -= cause->nodes;
}

/* What has been repaired joins the spares; how long until none is missing: of those that are not back yet, as many may stay away as
 * there were spares. */
static double
spare_wait_s (Run *run)
{
  const Back *back = (const Back *)(const void *)run->back->data;
  for (; run->first_back < run->back->len && back[run->first_back].at_s <= run->now_s; run->first_back++)
    run->spares += back[run->first_back].nodes;
  if (run->spares >= 0)
    return 0;
  double away = 0;
  guint i = run->back->len;
  while (i > run->first_back && away + back[i - 1].nodes <= run->plan->spares)
    away += back[--i].nodes;
  return back[i - 1].at_s - run->now_s;
}

/* Replicas that are away until `at_s`. */
static void
lose_replicas (Run *run, double at_s, double replicas, const GdpCause *cause)
{
  guint i = run->gone->len;
  while (i > run->first_gone && g_array_index (run->gone, Back, i - 1).at_s > at_s)
    i--;
  g_array_insert_val (run->gone, i, ((Back){ at_s, replicas }));
  run->lost += replicas;
  run->missing = cause;
  set_pace (run);
}

/* All start anew: none is away. */
static void
join_all (Run *run)
{
  run->first_gone = run->gone->len;
  run->lost = 0;
  set_pace (run);
}

/* ---- standing still ---- */

/* Lets time pass that is no work, because of `why`. Returned: the failure that broke it off, or NULL; run->ended at the run's end.
 * Slow parts that are found meanwhile are replaced on the way, and a stop that was planned needs no other one. */
static const GdpCause *
pass (Run *run, GdpLost lost, const GdpCause *why, double duration_s)
{
  double end_s = run->now_s + duration_s;
  while (!run->ended) {
    Event event = next_event (run);
    double until_s = fmin (fmin (end_s, run->plan->horizon_s), event.at_s);
    lose (run, lost, why, until_s - run->now_s);
    show (run, gdp_lost_names[lost], why, 0, run->now_s, until_s);
    run->now_s = until_s;
    if (until_s >= run->plan->horizon_s)
      run->ended = TRUE;
    if (until_s >= end_s || run->ended)
      return NULL;
    const GdpCause *cause = take_event (run, &event);
    if (cause->effect == MDL_EFFECT_STOP)
      return cause;
    if (event.ends || cause->effect == MDL_EFFECT_PLANNED)
      take_nodes (run, cause);
  }
  return NULL;
}

static void
begin_interval (Run *run)
{
  run->phase = PHASE_WORK;
  run->begun_s = run->work_s;
  run->fresh = FALSE;
  run->drained_at_s = (double)INFINITY;
}

static void
recover (Run *run, const GdpCause *cause, gboolean noticed)
{
  const GdpRunPlan *plan = run->plan;
  join_all (run);
  while (cause != NULL) {
    const GdpCause *broken = NULL;
    take_nodes (run, cause);
    if (!noticed)
      broken = pass (run, GDP_LOST_DETECT, cause, cause->detect_s);
    if (broken == NULL && !run->ended)
      broken = pass (run, GDP_LOST_SPARE, cause, spare_wait_s (run));
    if (broken == NULL && !run->ended)
      broken = pass (run, GDP_LOST_RESTART, cause, plan->restart_s);
    if (broken == NULL && !run->ended)
      broken = pass (run, GDP_LOST_RESTORE, cause, plan->checkpoint.restore_s + (cause->nodes > 0 ? plan->checkpoint.fetch_s : 0));
    cause = broken;
    noticed = FALSE;
  }
  begin_interval (run);
}

static void
fall_back (Run *run, const GdpCause *cause)
{
  if (run->drained_at_s <= run->now_s)
    run->saved_s = run->draining_s;
  double lost_s = run->work_s - run->saved_s;
  lose (run, GDP_LOST_RECOMPUTE, cause, lost_s);
  run->out->useful_s -= lost_s;
  run->work_s = run->saved_s;
}

/* Those that are left go on, if they are enough; else all restart. Another failure meanwhile is of the same kind, or stops all. */
static void
carry_on (Run *run, const GdpCause *cause)
{
  const GdpElastic *elastic = &run->plan->elastic;
  while (cause != NULL && !run->ended) {
    const double gone = ceil (cause->nodes * elastic->per_node);
    if (elastic->replicas <= 0 || cause->nodes <= 0 || run->lost + gone > elastic->replicas - elastic->minimum) {
      fall_back (run, cause);
      recover (run, cause, FALSE);
      return;
    }
    if (!elastic->peers)
      fall_back (run, cause);
    take_nodes (run, cause);
    const double restore_s = run->plan->checkpoint.restore_s + run->plan->checkpoint.fetch_s;
    lose_replicas (run, run->now_s + cause->detect_s + spare_wait_s (run) + run->plan->restart_s, gone, cause);
    const GdpCause *broken = pass (run, GDP_LOST_DETECT, cause, cause->detect_s);
    if (broken == NULL && !run->ended)
      broken = pass (run, GDP_LOST_RESTART, cause, elastic->reform_s);
    if (broken == NULL && !run->ended && !elastic->peers)
      broken = pass (run, GDP_LOST_RESTORE, cause, restore_s);
    cause = broken;
  }
  if (!elastic->peers)
    begin_interval (run);
}

/* A replica that is back: all form anew. */
static void
welcome (Run *run)
{
  const GdpCause *broken = pass (run, GDP_LOST_RESTART, run->missing, run->plan->elastic.reform_s);
  if (broken != NULL)
    carry_on (run, broken);
}

/* All that has been done is saved before the job stops. */
static void
stop_as_planned (Run *run, const GdpCause *cause)
{
  const MdlCheckpoint *checkpoint = &run->plan->checkpoint;
  const GdpCause *broken = pass (run, GDP_LOST_CHECKPOINT, cause, checkpoint->stall_s + checkpoint->drain_s);
  if (run->ended)
    return;
  if (broken != NULL) {
    fall_back (run, broken);
    take_nodes (run, cause);
    recover (run, broken, FALSE);
    return;
  }
  run->saved_s = run->work_s;
  recover (run, cause, TRUE);
}

/* ---- training ---- */

static void
work (Run *run, double wall_s)
{
  double useful_s = wall_s / run->pace;
  run->work_s += useful_s;
  run->out->useful_s += useful_s;
  run->out->fewer_s += run->lost > 0 ? wall_s : 0;
  lose (run, GDP_LOST_SLOW, run->slowest, wall_s - useful_s);
  show (run, "train", run->slowest, 0, run->now_s, run->now_s + wall_s);
  run->now_s += wall_s;
}

/* Whole intervals up to `until_s`, each like the one that has just ended. */
static void
pass_intervals (Run *run, double until_s)
{
  const MdlCheckpoint *checkpoint = &run->plan->checkpoint;
  double wall_s = run->interval_s * run->pace, wait_s = fmax (0, checkpoint->drain_s - wall_s);
  double cycle_s = wall_s + wait_s + checkpoint->stall_s;
  double to_do = (run->plan->target_s - run->work_s) / run->interval_s; /* the last one ends without a checkpoint */
  double n = fmin (floor ((until_s - run->now_s) / cycle_s), ceil (to_do) - 1);
  if (n < 1)
    return;
  double from_s = run->now_s;
  work (run, n * wall_s);
  lose (run, GDP_LOST_CHECKPOINT, NULL, n * (wait_s + checkpoint->stall_s));
  const double worked_s = run->now_s;
  run->now_s = fmin (from_s + n * cycle_s, until_s);
  show (run, "train", run->slowest, n, worked_s, run->now_s);
  run->saved_s = run->work_s - run->interval_s;
  run->draining_s = run->work_s;
  run->drained_at_s = run->now_s + checkpoint->drain_s;
  run->begun_s = run->work_s;
}

static void
end_stall (Run *run)
{
  if (!isinf (run->drained_at_s))
    run->saved_s = run->draining_s;
  run->draining_s = run->work_s;
  run->drained_at_s = run->now_s + run->plan->checkpoint.drain_s;
  run->begun_s = run->work_s;
  run->phase = PHASE_WORK;
  run->fresh = TRUE;
}

/* Trains until the clock says `until_s`. TRUE: all that there is to do is done. */
static gboolean
train (Run *run, double until_s)
{
  const GdpRunPlan *plan = run->plan;
  while (run->now_s < until_s) {
    if (run->phase == PHASE_WORK) {
      if (run->fresh)
        pass_intervals (run, until_s);
      run->fresh = FALSE;
      double to_save_s = (run->begun_s + run->interval_s - run->work_s) * run->pace,
             to_end_s = (plan->target_s - run->work_s) * run->pace;
      double left_s = until_s - run->now_s;
      if (left_s < to_save_s && left_s < to_end_s) {
        work (run, left_s);
        run->now_s = until_s;
        return FALSE;
      }
      work (run, fmax (0, fmin (to_save_s, to_end_s)));
      if (to_end_s <= to_save_s)
        return TRUE;
      run->phase = PHASE_WAIT;
    }
    if (run->phase == PHASE_WAIT) {
      double ready_s = isinf (run->drained_at_s) ? run->now_s : fmax (run->now_s, run->drained_at_s),
             stop_s = fmin (ready_s, until_s);
      lose (run, GDP_LOST_CHECKPOINT, NULL, stop_s - run->now_s);
      show (run, "train", run->slowest, 0, run->now_s, stop_s);
      run->now_s = stop_s;
      if (stop_s < ready_s)
        return FALSE;
      run->phase = PHASE_STALL;
      run->stall_left_s = plan->checkpoint.stall_s;
    }
    double stop_s = fmin (run->now_s + run->stall_left_s, until_s), spent_s = stop_s - run->now_s;
    gboolean whole = run->now_s + run->stall_left_s <= until_s;
    lose (run, GDP_LOST_CHECKPOINT, NULL, spent_s);
    show (run, "train", run->slowest, whole ? 1 : 0, run->now_s, stop_s);
    run->now_s = stop_s;
    run->stall_left_s -= spent_s;
    if (whole)
      end_stall (run);
  }
  return FALSE;
}

static void
live (Run *run)
{
  const GdpRunPlan *plan = run->plan;
  while (!run->ended) {
    Event event = next_event (run);
    if (train (run, fmin (event.at_s, plan->horizon_s)) || event.at_s >= plan->horizon_s)
      return;
    const gboolean joins = event.cause == JOINS;
    const GdpCause *cause = take_event (run, &event);
    if (joins)
      welcome (run);
    else if (event.ends ? cause->nodes > 0 : cause->effect == MDL_EFFECT_PLANNED)
      stop_as_planned (run, cause);
    else if (!event.ends && cause->effect == MDL_EFFECT_STOP)
      carry_on (run, cause);
  }
}

void
gdp_run (const GdpRunPlan *plan, BaseRandom random, GdpTally *tally, GdpRunOutcome *out)
{
  *out = (GdpRunOutcome){ 0 };
  Run run = { .plan = plan, .out = out, .tally = tally, .random = random, .spares = plan->spares, .pace = 1 };
  run.interval_s = plan->checkpoint.every_steps * plan->step_s;
  run.back = g_array_new (FALSE, FALSE, sizeof (Back));
  run.gone = g_array_new (FALSE, FALSE, sizeof (Back));
  begin_interval (&run);
  start_clocks (&run);
  live (&run);
  out->wall_s = run.now_s;
  out->finished = run.n_events <= MOST_EVENTS;
  g_free (run.sum_per_s);
  g_free (run.at_s);
  for (unsigned i = 0; i < plan->n_causes; i++)
    g_clear_pointer (&run.slow[i].end_s, g_array_unref);
  g_free (run.slow);
  g_array_unref (run.back);
  g_array_unref (run.gone);
}
