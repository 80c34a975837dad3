/* What a run's goodput, and the time that its work takes, hang on: each thing alone is halved and doubled, a simulated step goes
 * from the low to the high end of its band, and the same runs are made again. Rates of kinds that have one effect change together.
 *
 * Time is what counts: useful work done in a second of the run, turned over, so that a run of given days and one of given steps say
 * the same. The interval between checkpoints stays as many steps as it is. Spares that are always at hand have no half: less of
 * them is as many as are out in the mean, by Little's law the sum over kinds of rate x nodes x repair.
 * Check: test_workload_goodput (checkpoints and failures by the clock, worked by hand; what is worse is never faster). */
#include <math.h>

#include "base/parallel.h"
#include "goodput-private.h"
#include "scenario/loaded.h"

/* Of a thing: what it is, and how a factor changes it. */
typedef struct {
  const char *name;
  BaseDim dim;
  double (*value) (const Gdp *goodput);         /* NAN or 0: there is none of it, and nothing to change */
  void (*change) (Gdp *goodput, double factor); /* its causes are its own */
} Thing;

static GdpCause *
cause_at (const Gdp *goodput, guint i)
{
  return &g_array_index (goodput->causes, GdpCause, i);
}

/* ---- how often ---- */

static double
gap_s (const Gdp *goodput, MdlEffect effect)
{
  double per_s = 0;
  for (guint i = 0; i < goodput->causes->len; i++)
    per_s += cause_at (goodput, i)->effect == effect ? cause_at (goodput, i)->rate_per_s : 0;
  return per_s > 0 ? 1 / per_s : 0;
}

static void
scale_rates (Gdp *goodput, MdlEffect effect, double factor)
{
  for (guint i = 0; i < goodput->causes->len; i++)
    if (cause_at (goodput, i)->effect == effect)
      cause_at (goodput, i)->rate_per_s *= factor;
}

#define OFTEN(name, EFFECT)                              \
  static double name##_gap_s (const Gdp *goodput)        \
  {                                                      \
    return gap_s (goodput, EFFECT);                      \
  }                                                      \
  static void name##_often (Gdp *goodput, double factor) \
  {                                                      \
    scale_rates (goodput, EFFECT, factor);               \
  }
OFTEN (stop, MDL_EFFECT_STOP)
OFTEN (planned, MDL_EFFECT_PLANNED)
OFTEN (slow, MDL_EFFECT_SLOW)

/* ---- of kinds of failure: the mean over those that happen ---- */

typedef double *(*Member) (GdpCause *cause);

static double
mean_of (const Gdp *goodput, MdlEffect effect, Member member)
{
  double sum = 0, per_s = 0;
  for (guint i = 0; i < goodput->causes->len; i++) {
    GdpCause *cause = cause_at (goodput, i);
    if (cause->effect != effect)
      continue;
    sum += cause->rate_per_s * *member (cause);
    per_s += cause->rate_per_s;
  }
  return per_s > 0 ? sum / per_s : 0;
}

static void
scale_members (Gdp *goodput, MdlEffect effect, Member member, double factor)
{
  for (guint i = 0; i < goodput->causes->len; i++)
    if (cause_at (goodput, i)->effect == effect)
      *member (cause_at (goodput, i)) *= factor;
}

static double *
detect_member (GdpCause *cause)
{
  return &cause->detect_s;
}

static double *
lasts_member (GdpCause *cause)
{
  return &cause->lasts_s;
}

static double
detect_s (const Gdp *goodput)
{
  return mean_of (goodput, MDL_EFFECT_STOP, detect_member);
}

static void
detect_scale (Gdp *goodput, double factor)
{
  scale_members (goodput, MDL_EFFECT_STOP, detect_member, factor);
}

static double
lasts_s (const Gdp *goodput)
{
  return mean_of (goodput, MDL_EFFECT_SLOW, lasts_member);
}

static void
lasts_scale (Gdp *goodput, double factor)
{
  scale_members (goodput, MDL_EFFECT_SLOW, lasts_member, factor);
}

/* What a slow part adds to a step, over a healthy one. */
static double
excess (const Gdp *goodput)
{
  double sum = 0, per_s = 0;
  for (guint i = 0; i < goodput->causes->len; i++)
    if (cause_at (goodput, i)->effect == MDL_EFFECT_SLOW) {
      sum += cause_at (goodput, i)->rate_per_s * (cause_at (goodput, i)->slowdown - 1);
      per_s += cause_at (goodput, i)->rate_per_s;
    }
  return per_s > 0 ? sum / per_s : 0;
}

static void
excess_scale (Gdp *goodput, double factor)
{
  for (guint i = 0; i < goodput->causes->len; i++)
    cause_at (goodput, i)->slowdown = 1 + (cause_at (goodput, i)->slowdown - 1) * factor;
}

/* ---- of the run ---- */

#define OF_RUN(name, member)                             \
  static double name (const Gdp *goodput)                \
  {                                                      \
    return goodput->member;                              \
  }                                                      \
  static void name##_scale (Gdp *goodput, double factor) \
  {                                                      \
    goodput->member *= factor;                           \
  }
OF_RUN (stall_s, checkpoint.stall_s)
OF_RUN (drain_s, checkpoint.drain_s)
OF_RUN (restore_s, checkpoint.restore_s)
OF_RUN (step_s, step_s)

static double
interval_s (const Gdp *goodput)
{
  return goodput->checkpoint.every_steps * goodput->step_s;
}

static void
interval_scale (Gdp *goodput, double factor)
{
  goodput->checkpoint.every_steps = fmax (1, round (goodput->checkpoint.every_steps * factor));
}

static double
restart_s (const Gdp *goodput)
{
  return goodput->restart_s + goodput->create_s;
}

static void
restart_scale (Gdp *goodput, double factor)
{
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
spares (const Gdp *goodput)
{
  return nodes_out (goodput) > 0 ? goodput->spares : 0;
}

static void
spares_scale (Gdp *goodput, double factor)
{
  if (isinf (goodput->spares))
    goodput->spares = factor < 1 ? ceil (nodes_out (goodput)) : goodput->spares;
  else
    goodput->spares = round (goodput->spares * factor);
}

/* Matters where spares can run out. */
static double
repair_s (const Gdp *goodput)
{
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
repair_scale (Gdp *goodput, double factor)
{
  for (guint i = 0; i < goodput->causes->len; i++)
    cause_at (goodput, i)->repair_s *= factor;
}

static const Thing things[] = {
  { "step time", BASE_DIM_TIME, step_s, step_s_scale },
  { "failures that stop the job: one in", BASE_DIM_TIME, stop_gap_s, stop_often },
  { "detect", BASE_DIM_TIME, detect_s, detect_scale },
  { "restart", BASE_DIM_TIME, restart_s, restart_scale },
  { "restore", BASE_DIM_TIME, restore_s, restore_s_scale },
  { "interval between checkpoints", BASE_DIM_TIME, interval_s, interval_scale },
  { "stall of a checkpoint", BASE_DIM_TIME, stall_s, stall_s_scale },
  { "drain of a checkpoint", BASE_DIM_TIME, drain_s, drain_s_scale },
  { "planned stops: one in", BASE_DIM_TIME, planned_gap_s, planned_often },
  { "spare nodes", BASE_DIM_COUNT, spares, spares_scale },
  { "repair", BASE_DIM_TIME, repair_s, repair_scale },
  { "slow parts: one in", BASE_DIM_TIME, slow_gap_s, slow_often },
  { "slow parts: what they add to a step", BASE_DIM_RATIO, excess, excess_scale },
  { "slow parts: until they are found", BASE_DIM_TIME, lasts_s, lasts_scale },
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
    again->thing->change (&changed, again->factor);
    again->value = again->thing->value (&changed);
  }
  gdp_again (&changed, again->seed, &again->reached, &again->time_s);
  g_array_unref (changed.causes);
}

GArray *
gdp_hangs (const Gdp *goodput, double step_lo, double step_hi, guint64 seed, double *time_s)
{
  g_autoptr (GArray) agains = g_array_new (FALSE, FALSE, sizeof (Again));
  Again as_is = { .goodput = goodput, .seed = seed };
  g_array_append_val (agains, as_is);
  GArray *hangs = g_array_new (FALSE, TRUE, sizeof (GdpHang));
  for (guint i = 0; i < G_N_ELEMENTS (things); i++) {
    const Thing *thing = &things[i];
    double value = thing->value (goodput);
    /* of a step without a band the time would be in proportion: nothing to learn */
    if (!(value > 0) || (i == THE_STEP && (goodput->step_given || !(step_lo < step_hi))))
      continue;
    GdpHang hang = { .name = thing->name, .dim = thing->dim, .value = value };
    g_array_append_val (hangs, hang);
    const double factor[2] = { i == THE_STEP ? step_lo : 0.5, i == THE_STEP ? step_hi : 2 };
    for (int side = 0; side < 2; side++) {
      Again again = { .goodput = goodput, .seed = seed, .thing = thing, .factor = factor[side] };
      g_array_append_val (agains, again);
    }
  }
  base_parallel_each (agains->data, agains->len, sizeof (Again), 0, run_again);
  *time_s = g_array_index (agains, Again, 0).time_s;
  for (guint i = 0; i < hangs->len; i++)
    for (int side = 0; side < 2; side++) {
      GdpHang *hang = &g_array_index (hangs, GdpHang, i);
      const Again *again = &g_array_index (agains, Again, 1 + 2 * i + (guint)side);
      hang->end[side] = again->value;
      hang->goodput[side] = again->reached;
      hang->time_s[side] = again->time_s;
    }
  return hangs;
}
