/* Sensitivity of a run's goodput and of the time for its work: each quantity alone is halved and doubled, a simulated step goes
 * from the low to the high end of its band, and the same runs are made again. Rates of kinds that have one effect change together.
 *
 * Time is what counts: useful work done in a second of the run, turned over, so that a run of given days and one of given steps say
 * the same. The interval between checkpoints stays as many steps as it is. Spares that are always at hand have no half: less of
 * them is as many as are out in the mean, by Little's law the sum over kinds of rate x nodes x repair.
 * Check: test_goodput_days (checkpoints and failures by the clock, worked by hand; what is worse is never faster). */
#include <math.h>

#include "base/parallel.h"
#include "goodput-private.h"
#include "scenario/loaded.h"

/* Of a thing: what it is, and how a factor changes it. */
typedef struct Thing Thing;
struct Thing {
  const char *name;
  BaseDim dim;
  double (*value) (const Gdp *goodput, const Thing *thing);         /* NAN or 0: there is none of it, and nothing to change */
  void (*change) (Gdp *goodput, const Thing *thing, double factor); /* causes are its own */
  gsize member;     /* a double, of the run or of each kind of failure, where it is no more than that */
  MdlEffect effect; /* of the kinds of failure that it is about */
};

static GdpCause *
cause_at (const Gdp *goodput, guint i)
{
  return &g_array_index (goodput->causes, GdpCause, i);
}

/* ---- of kinds of failure with one effect ---- */

static double
gap_s (const Gdp *goodput, const Thing *thing)
{
  double per_s = 0;
  for (guint i = 0; i < goodput->causes->len; i++)
    per_s += cause_at (goodput, i)->effect == thing->effect ? cause_at (goodput, i)->rate_per_s : 0;
  return per_s > 0 ? 1 / per_s : 0;
}

/* The mean over those that happen. */
static double
mean_of (const Gdp *goodput, const Thing *thing)
{
  double sum = 0, per_s = 0;
  for (guint i = 0; i < goodput->causes->len; i++) {
    const GdpCause *cause = cause_at (goodput, i);
    if (cause->effect != thing->effect)
      continue;
    sum += cause->rate_per_s * G_STRUCT_MEMBER (double, cause, thing->member);
    per_s += cause->rate_per_s;
  }
  return per_s > 0 ? sum / per_s : 0;
}

static void
scale_members (Gdp *goodput, const Thing *thing, double factor)
{
  for (guint i = 0; i < goodput->causes->len; i++)
    if (cause_at (goodput, i)->effect == thing->effect)
      G_STRUCT_MEMBER (double, cause_at (goodput, i), thing->member) *= factor;
}

/* What a slow part adds to a step, over a healthy one. */
static double
excess (const Gdp *goodput, const Thing *thing)
{
  double sum = 0, per_s = 0;
  for (guint i = 0; i < goodput->causes->len; i++)
    if (cause_at (goodput, i)->effect == thing->effect) {
      sum += cause_at (goodput, i)->rate_per_s * (cause_at (goodput, i)->slowdown - 1);
      per_s += cause_at (goodput, i)->rate_per_s;
    }
  return per_s > 0 ? sum / per_s : 0;
}

static void
excess_scale (Gdp *goodput, const Thing *thing, double factor)
{
  (void)thing;
  for (guint i = 0; i < goodput->causes->len; i++)
    cause_at (goodput, i)->slowdown = 1 + (cause_at (goodput, i)->slowdown - 1) * factor;
}

/* ---- of the run ---- */

static double
of_run (const Gdp *goodput, const Thing *thing)
{
  return G_STRUCT_MEMBER (double, goodput, thing->member);
}

static void
scale_run (Gdp *goodput, const Thing *thing, double factor)
{
  G_STRUCT_MEMBER (double, goodput, thing->member) *= factor;
}

static double
interval_s (const Gdp *goodput, const Thing *thing)
{
  (void)thing;
  return goodput->checkpoint.every_steps * goodput->step_s;
}

static void
interval_scale (Gdp *goodput, const Thing *thing, double factor)
{
  (void)thing;
  goodput->checkpoint.every_steps = fmax (1, round (goodput->checkpoint.every_steps * factor));
}

static double
restart_s (const Gdp *goodput, const Thing *thing)
{
  (void)thing;
  return goodput->restart_s + goodput->create_s;
}

static void
restart_scale (Gdp *goodput, const Thing *thing, double factor)
{
  (void)thing;
  goodput->restart_s *= factor;
  goodput->create_s *= factor;
}

static double
nodes_out (const Gdp *goodput)
{
  double out = 0;
  for (guint i = 0; i < goodput->causes->len; i++)
    out += cause_at (goodput, i)->rate_per_s * cause_at (goodput, i)->nodes * cause_at (goodput, i)->repair_s;
  return out;
}

static double
spares (const Gdp *goodput, const Thing *thing)
{
  (void)thing;
  return nodes_out (goodput) > 0 ? goodput->spares : 0;
}

static void
spares_scale (Gdp *goodput, const Thing *thing, double factor)
{
  (void)thing;
  if (isinf (goodput->spares))
    goodput->spares = factor < 1 ? ceil (nodes_out (goodput)) : goodput->spares;
  else
    goodput->spares = round (goodput->spares * factor);
}

/* Matters where spares can run out. */
static double
repair_s (const Gdp *goodput, const Thing *thing)
{
  (void)thing;
  if (isinf (goodput->spares))
    return 0;
  double sum = 0, per_s = 0;
  for (guint i = 0; i < goodput->causes->len; i++)
    if (cause_at (goodput, i)->nodes > 0) {
      sum += cause_at (goodput, i)->rate_per_s * cause_at (goodput, i)->repair_s;
      per_s += cause_at (goodput, i)->rate_per_s;
    }
  return per_s > 0 ? sum / per_s : 0;
}

static void
repair_scale (Gdp *goodput, const Thing *thing, double factor)
{
  (void)thing;
  for (guint i = 0; i < goodput->causes->len; i++)
    cause_at (goodput, i)->repair_s *= factor;
}

#define OF_RUN(member)            of_run, scale_run, G_STRUCT_OFFSET (Gdp, member), 0
#define OF_CAUSES(member, EFFECT) mean_of, scale_members, G_STRUCT_OFFSET (GdpCause, member), EFFECT
#define HOW_OFTEN(EFFECT)         gap_s, scale_members, G_STRUCT_OFFSET (GdpCause, rate_per_s), EFFECT
static const Thing things[] = {
  { "step time", BASE_DIM_TIME, OF_RUN (step_s) },
  { "failures that stop the job: one in", BASE_DIM_TIME, HOW_OFTEN (MDL_EFFECT_STOP) },
  { "detect", BASE_DIM_TIME, OF_CAUSES (detect_s, MDL_EFFECT_STOP) },
  { "restart", BASE_DIM_TIME, restart_s, restart_scale, 0, 0 },
  { "restore", BASE_DIM_TIME, OF_RUN (checkpoint.restore_s) },
  { "interval between checkpoints", BASE_DIM_TIME, interval_s, interval_scale, 0, 0 },
  { "stall of a checkpoint", BASE_DIM_TIME, OF_RUN (checkpoint.stall_s) },
  { "drain of a checkpoint", BASE_DIM_TIME, OF_RUN (checkpoint.drain_s) },
  { "planned stops: one in", BASE_DIM_TIME, HOW_OFTEN (MDL_EFFECT_PLANNED) },
  { "spare nodes", BASE_DIM_COUNT, spares, spares_scale, 0, 0 },
  { "repair", BASE_DIM_TIME, repair_s, repair_scale, 0, 0 },
  { "slow parts: one in", BASE_DIM_TIME, HOW_OFTEN (MDL_EFFECT_SLOW) },
  { "slow parts: what they add to a step", BASE_DIM_RATIO, excess, excess_scale, 0, MDL_EFFECT_SLOW },
  { "slow parts: until they are found", BASE_DIM_TIME, OF_CAUSES (lasts_s, MDL_EFFECT_SLOW) },
};
enum { THE_STEP = 0 };

/* ---- runs ---- */

typedef struct {
  const Gdp *goodput;
  guint64 seed;
  const Thing *thing; /* NULL: as it is */
  double factor;
  double value, reached, time_s; /* of the thing; goodput; s of the run for a healthy step's work */
} Again;

static void
run_again (void *item)
{
  Again *again = item;
  Gdp changed = *again->goodput;
  changed.causes = g_array_sized_new (FALSE, FALSE, sizeof (GdpCause), again->goodput->causes->len);
  g_array_append_vals (changed.causes, again->goodput->causes->data, again->goodput->causes->len);
  if (again->thing != NULL) {
    again->thing->change (&changed, again->thing, again->factor);
    again->value = again->thing->value (&changed, again->thing);
  }
  gdp_again (&changed, again->seed, &again->reached, &again->time_s);
  g_array_unref (changed.causes);
}

GArray *
gdp_sensitivity (const Gdp *goodput, double step_lo, double step_hi, guint64 seed, double *time_s)
{
  g_autoptr (GArray) agains = g_array_new (FALSE, FALSE, sizeof (Again));
  Again as_is = { .goodput = goodput, .seed = seed };
  g_array_append_val (agains, as_is);
  GArray *goodput_sensitivity = g_array_new (FALSE, TRUE, sizeof (GdpSensitivityRow));
  for (guint i = 0; i < G_N_ELEMENTS (things); i++) {
    const Thing *thing = &things[i];
    double value = thing->value (goodput, thing);
    /* of a step without a band the time would be in proportion: nothing to learn */
    if (!(value > 0) || (i == THE_STEP && (goodput->step_given || !(step_lo < step_hi))))
      continue;
    GdpSensitivityRow hang = { .name = thing->name, .dim = thing->dim, .value = value };
    g_array_append_val (goodput_sensitivity, hang);
    const double factor[2] = { i == THE_STEP ? step_lo : 0.5, i == THE_STEP ? step_hi : 2 };
    for (int side = 0; side < 2; side++) {
      Again again = { .goodput = goodput, .seed = seed, .thing = thing, .factor = factor[side] };
      g_array_append_val (agains, again);
    }
  }
  base_parallel_each (agains->data, agains->len, sizeof (Again), 0, "runs of many days", run_again);
  *time_s = g_array_index (agains, Again, 0).time_s;
  for (guint i = 0; i < goodput_sensitivity->len; i++)
    for (int side = 0; side < 2; side++) {
      GdpSensitivityRow *hang = &g_array_index (goodput_sensitivity, GdpSensitivityRow, i);
      const Again *again = &g_array_index (agains, Again, 1 + 2 * i + (guint)side);
      hang->end[side] = again->value;
      hang->goodput[side] = again->reached;
      hang->time_s[side] = again->time_s;
    }
  return goodput_sensitivity;
}
