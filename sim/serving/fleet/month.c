/* Months of failures, by events: between two of them the fleet stands in one state, the numbers of replicas that are lost.
 *
 *     good of a month = sum over states of (fraction of time · (good - drain) of the state) - sum over failures of bad / requests
 *
 * A failure draws a GPU. Its replica, or all replicas on its node (or on the nodes of its switch) are lost until they have started
 * again: detect + restart, and repair before that where nodes are out of service and no spare is left. Planned ones drain.
 * Check: test_serving_month, capacity against rate x time, and a fleet of one replica by hand. */
#include "serving/month.h"

#include <math.h>

#include "base/random.h"
#include "base/stats.h"

#define DAY_S 86400.

typedef struct {
  const SrvMonthSpec *spec;
  SrvMonthCause *causes;
  guint n_causes, n_replicas;
  SrvMonth *month;
  /* of one month */
  BaseRandom random;
  double *until_s; /* of each replica */
  double *at_s;    /* of each cause's next failure */
  GArray *back;    /* double: when nodes in repair are spares again */
  GArray *time_s;  /* double, by state */
  GArray *count;   /* double, by loss */
} Months;

/* ---- what there is to count ---- */

static guint
state_of (SrvMonth *month, const guint lost[2])
{
  for (guint i = 0; i < month->states->len; i++) {
    const SrvMonthState *state = &g_array_index (month->states, SrvMonthState, i);
    if (state->lost[0] == lost[0] && state->lost[1] == lost[1])
      return i;
  }
  const SrvMonthState state = { .lost = { lost[0], lost[1] } };
  g_array_append_val (month->states, state);
  return month->states->len - 1;
}

static guint
loss_of (SrvMonth *month, const guint lost[2])
{
  for (guint i = 0; i < month->losses->len; i++) {
    const SrvMonthLoss *loss = &g_array_index (month->losses, SrvMonthLoss, i);
    if (loss->lost[0] == lost[0] && loss->lost[1] == lost[1])
      return i;
  }
  const SrvMonthLoss loss = { .lost = { lost[0], lost[1] } };
  g_array_append_val (month->losses, loss);
  return month->losses->len - 1;
}

static void
add_at (GArray *values, guint i, double value)
{
  if (i >= values->len)
    g_array_set_size (values, i + 1); /* cleared */
  g_array_index (values, double, i) += value;
}

/* ---- one month ---- */

static double
draw_gap (Months *all, const SrvMonthCause *cause)
{
  const double unit = -log1p (-base_random_unit (&all->random));
  return mdl_weibull_scale (1 / cause->rate_per_s, cause->shape) * pow (unit, 1 / cause->shape);
}

static guint
pool_of (const SrvMonthSpec *spec, guint replica)
{
  return replica >= spec->replicas[0] ? 1 : 0;
}

/* Passes the time until `end_s`, in which replicas may be back. */
static void
pass (Months *all, double from_s, double end_s)
{
  while (from_s < end_s) {
    guint lost[2] = { 0, 0 };
    double next_s = end_s;
    for (guint i = 0; i < all->n_replicas; i++)
      if (all->until_s[i] > from_s) {
        lost[pool_of (all->spec, i)]++;
        next_s = fmin (next_s, all->until_s[i]);
      }
    add_at (all->time_s, state_of (all->month, lost), next_s - from_s);
    from_s = next_s;
  }
}

/* Takes a spare for each node that is out, until it is repaired. FALSE: there are not enough, and the nodes have to be repaired. */
static gboolean
take_spares (Months *all, double nodes, double now_s, double repair_s)
{
  if (isinf (all->spec->spares))
    return TRUE;
  for (guint i = 0; i < all->back->len;)
    if (g_array_index (all->back, double, i) <= now_s)
      g_array_remove_index_fast (all->back, i);
    else
      i++;
  if (all->back->len + nodes > all->spec->spares)
    return FALSE;
  const double back_s = now_s + repair_s;
  for (guint i = 0; i < nodes; i++)
    g_array_append_val (all->back, back_s);
  return TRUE;
}

/* Whether it has a GPU from `from` to `end` - 1. */
static gboolean
has_gpu (const SrvMonthSpec *spec, guint replica, double from, double end)
{
  const guint pool = pool_of (spec, replica), at = replica - (pool == 1 ? spec->replicas[0] : 0);
  const double first = spec->first[pool] + (double)at * spec->gpus[pool];
  return first < end && first + spec->gpus[pool] > from;
}

static guint32
draw_gpu (Months *all)
{
  const SrvMonthSpec *spec = all->spec;
  const guint32 first = spec->replicas[0] * spec->gpus[0], second = spec->pools == 2 ? spec->replicas[1] * spec->gpus[1] : 0;
  const guint32 at = base_random_below (&all->random, first + second);
  return at < first ? spec->first[0] + at : spec->first[1] + at - first;
}

static void
fail (Months *all, guint c, double now_s)
{
  const SrvMonthSpec *spec = all->spec;
  SrvMonthCause *cause = &all->causes[c];
  const double gpu = draw_gpu (all), span = cause->nodes * spec->gpus_per_node;
  const double from = span > 0 ? floor (gpu / span) * span : gpu, end = span > 0 ? from + span : gpu + 1;
  const gboolean repairs = cause->nodes > 0 && !take_spares (all, cause->nodes, now_s, cause->repair_s);
  const double until_s = now_s + cause->detect_s + (repairs ? cause->repair_s : 0) + spec->restart_s;
  guint lost[2] = { 0, 0 };
  for (guint i = 0; i < all->n_replicas; i++)
    if (has_gpu (spec, i, from, end)) {
      lost[pool_of (spec, i)] += all->until_s[i] > now_s ? 0 : 1;
      all->until_s[i] = fmax (all->until_s[i], until_s);
    }
  cause->count++;
  cause->replicas += lost[0] + lost[1];
  if (lost[0] + lost[1] == 0)
    return;
  if (!cause->planned)
    add_at (all->count, loss_of (all->month, lost), 1);
}

static void
play_month (Months *all, guint run)
{
  const SrvMonthSpec *spec = all->spec;
  const double end_s = spec->days * DAY_S;
  all->random = base_random_stream_at (spec->seed, "month", run);
  for (guint i = 0; i < all->n_replicas; i++)
    all->until_s[i] = 0;
  for (guint c = 0; c < all->n_causes; c++)
    all->at_s[c] = all->causes[c].rate_per_s > 0 ? draw_gap (all, &all->causes[c]) : (double)INFINITY;
  g_array_set_size (all->back, 0);
  g_array_set_size (all->time_s, 0);
  g_array_set_size (all->count, 0);
  for (double now_s = 0; now_s < end_s;) {
    guint next = 0;
    for (guint c = 1; c < all->n_causes; c++)
      next = all->at_s[c] < all->at_s[next] ? c : next;
    const double at_s = fmin (all->at_s[next], end_s);
    pass (all, now_s, at_s);
    now_s = at_s;
    if (now_s < end_s) {
      fail (all, next, now_s);
      all->at_s[next] = now_s + draw_gap (all, &all->causes[next]);
    }
  }
}

/* ---- all months ---- */

/* Of a month: fractions by state, then counts by loss, once all months know their states. */
static GArray *
row_of (const SrvMonth *month, const GArray *time_s, const GArray *count, double all_s)
{
  GArray *row = g_array_sized_new (FALSE, TRUE, sizeof (double), month->states->len + month->losses->len);
  g_array_set_size (row, month->states->len + month->losses->len);
  for (guint i = 0; i < time_s->len; i++)
    g_array_index (row, double, i) = g_array_index (time_s, double, i) / all_s;
  for (guint i = 0; i < count->len; i++)
    g_array_index (row, double, month->states->len + i) = g_array_index (count, double, i);
  return row;
}

static void
unref_array (gpointer data)
{
  g_array_unref (data);
}

static void
take_means (const Months *all, SrvMonth *month)
{
  const SrvMonthSpec *spec = all->spec;
  const double runs = spec->runs, gpus = spec->replicas[0] * spec->gpus[0] + spec->replicas[1] * (double)spec->gpus[1];
  for (guint r = 0; r < month->runs->len; r++) {
    const GArray *row = month->runs->pdata[r];
    for (guint i = 0; i < month->states->len; i++)
      g_array_index (month->states, SrvMonthState, i).fraction += g_array_index (row, double, i) / runs;
    for (guint i = 0; i < month->losses->len; i++)
      g_array_index (month->losses, SrvMonthLoss, i).count += g_array_index (row, double, month->states->len + i) / runs;
  }
  for (guint i = 0; i < month->states->len; i++) {
    const SrvMonthState *state = &g_array_index (month->states, SrvMonthState, i);
    month->capacity += state->fraction * (state->lost[0] * (double)spec->gpus[0] + state->lost[1] * (double)spec->gpus[1]) / gpus;
  }
  for (guint c = 0; c < all->n_causes; c++) {
    SrvMonthCause *cause = &all->causes[c];
    cause->replicas = cause->count > 0 ? cause->replicas / cause->count : 0;
    cause->count = cause->rate_per_s * spec->days * DAY_S; /* of rates; rare ones may not have been drawn */
    month->failures += cause->count;
  }
}

SrvMonth *
srv_month_new (const SrvMonthSpec *spec, SrvMonthCause *causes, guint n_causes)
{
  SrvMonth *month = g_new0 (SrvMonth, 1);
  Months all = { .spec = spec,
                 .causes = causes,
                 .n_causes = n_causes,
                 .n_replicas = spec->replicas[0] + (spec->pools == 2 ? spec->replicas[1] : 0),
                 .month = month };
  static const guint none[2];
  month->states = g_array_new (FALSE, FALSE, sizeof (SrvMonthState));
  month->losses = g_array_new (FALSE, FALSE, sizeof (SrvMonthLoss));
  month->runs = g_ptr_array_new_with_free_func (unref_array);
  (void)state_of (month, none); /* state 0: nothing is lost */
  all.until_s = g_new0 (double, all.n_replicas);
  all.at_s = g_new0 (double, n_causes);
  all.back = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (GPtrArray) times = g_ptr_array_new_with_free_func (unref_array);
  g_autoptr (GPtrArray) counts = g_ptr_array_new_with_free_func (unref_array);
  for (guint run = 0; run < spec->runs; run++) {
    all.time_s = g_array_new (FALSE, TRUE, sizeof (double));
    all.count = g_array_new (FALSE, TRUE, sizeof (double));
    g_ptr_array_add (times, all.time_s);
    g_ptr_array_add (counts, all.count);
    play_month (&all, run);
  }
  for (guint run = 0; run < spec->runs; run++)
    g_ptr_array_add (month->runs, row_of (month, times->pdata[run], counts->pdata[run], spec->days * DAY_S));
  take_means (&all, month);
  g_array_unref (all.back);
  g_free (all.until_s);
  g_free (all.at_s);
  return month;
}

void
srv_month_free (SrvMonth *month)
{
  if (month == NULL)
    return;
  g_array_unref (month->states);
  g_array_unref (month->losses);
  g_ptr_array_unref (month->runs);
  g_free (month);
}

SrvMonthBand
srv_month_good (const SrvMonth *month, double requests)
{
  SrvMonthBand band = { 0 };
  g_autofree double *good = g_new (double, month->runs->len);
  for (guint r = 0; r < month->runs->len; r++) {
    const GArray *row = month->runs->pdata[r];
    good[r] = 0;
    for (guint i = 0; i < month->states->len; i++) {
      const SrvMonthState *state = &g_array_index (month->states, SrvMonthState, i);
      good[r] += g_array_index (row, double, i) * (state->good - state->drain);
    }
    for (guint i = 0; i < month->losses->len; i++)
      good[r] -=
          g_array_index (row, double, month->states->len + i) * g_array_index (month->losses, SrvMonthLoss, i).bad / requests;
    good[r] = fmax (good[r], 0);
    band.mean += good[r] / month->runs->len;
  }
  band.lo = base_quantile (good, month->runs->len, 0.025);
  band.hi = base_quantile (good, month->runs->len, 0.975);
  return band;
}
