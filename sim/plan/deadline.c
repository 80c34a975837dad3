/* A plan's deadline, and how likely a run keeps it. The band of a step holds 90 % of its error, which is normal in the logarithm of
 * time, with a width of its own on either side:
 *
 *     P (run <= limit) = Phi (1.645 ln (limit / run) / ln (hi / step))       limit >= run, else with ln (step / lo)
 *
 * Check: test_plan_odds. */
#include <math.h>

#include "plan-private.h"

#define BAND_Z 1.6448536269514722 /* standard deviations that 90 % lie within */

static const BaseField fields[] = {
  BASE_ROW_NUM (PlnDeadlineSpec, "time", time, TIME, .min = "1 s", .help = "maximum run time; `deadline: 46 days` is short for it"),
  BASE_ROW_NUM (PlnDeadlineSpec, "days", days, NUMBER, .min = "0.00001", .help = "the same, in days"),
  BASE_ROW_NUM (PlnDeadlineSpec, "confidence", confidence, RATIO, .max = "1",
                .help = "minimum probability to end in time, above 0 % and below 100 %; default: the predicted time counts"),
  BASE_ROW_END,
};
const BaseSchema pln_schema_deadline = {
  .name = "deadline", .help = "The maximum run time, and how likely it must be kept.", .fields = fields, .scalar_key = "time"
};

static double
normal (double z)
{
  return 0.5 * erfc (-z / sqrt (2));
}

/* The z of which normal() is p. */
static double
normal_quantile (double p)
{
  double lo = -40, hi = 40;
  for (int i = 0; i < 100; i++) {
    double middle = 0.5 * (lo + hi);
    if (normal (middle) < p)
      lo = middle;
    else
      hi = middle;
  }
  return 0.5 * (lo + hi);
}

gboolean
pln_check_deadline (Pln *plan, GError **error)
{
  const PlnDeadlineSpec *d = &plan->spec.goal.deadline;
  if (!d->head.set)
    return TRUE;
  if (d->time.set && d->days.set)
    return col_fail_at (error, d->days.mark, "'time' and 'days' are both the deadline; write one of them");
  if (!d->time.set && !d->days.set)
    return col_fail_at (error, d->head.mark,
                        "'deadline' has no time; write its days (e.g. deadline: {days: 46, confidence: 90 %%})");
  if (d->confidence.set && !(d->confidence.v > 0 && d->confidence.v < 1))
    return col_fail_at (error, d->confidence.mark,
                        "'confidence' must be above 0 %% and below 100 %%, found %g %%; no run is certain (e.g. confidence: 90 %%)",
                        100 * d->confidence.v);
  plan->deadline_s = d->time.set ? d->time.v : d->days.v * 86400;
  plan->deadline_z = d->confidence.set ? normal_quantile (d->confidence.v) : 0;
  return TRUE;
}

double
pln_deadline_s (const Pln *plan, double *confidence)
{
  const BaseNum *asked = &plan->spec.goal.deadline.confidence;
  if (confidence != NULL)
    *confidence = asked->set ? asked->v : (double)NAN;
  return plan->deadline_s;
}

/* Standard deviation of ln time on the side of `ratio`, a time over the predicted one. */
static double
deviation (const PlnChoiceRow *row, gboolean longer)
{
  double ratio = longer ? row->step_time_hi_s / row->step_time_s : row->step_time_s / row->step_time_lo_s;
  return ratio > 1 ? log (ratio) / BAND_Z : 0;
}

double
pln_sure_s (const Pln *plan, const PlnChoiceRow *row)
{
  double z = plan->deadline_z;
  return z > 0 || z < 0 ? row->run_s * exp (z * deviation (row, z > 0)) : row->run_s;
}

double
pln_chance_within (const PlnChoiceRow *row, double limit_s)
{
  gboolean longer = limit_s >= row->run_s;
  double width = deviation (row, longer);
  if (!(width > 0))
    return longer ? 1 : 0;
  return normal (log (limit_s / row->run_s) / width);
}
