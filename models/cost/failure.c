/* Failures of a synchronous job and what checkpoints save of its work.
 *
 *     rate of a row    r = units x 1 / every,  or  units x count / (units watched x time watched)
 *     mean time        M = 1 / sum of r over rows that stop the job
 *     goodput          g = W q exp ((B - D) / M) / (M (exp ((W + B + S) / M) - 1)) x pace x (1 - planned)
 *     its maximum      (1 - W/M) exp (W/M) = exp (-S/M),  which is free of D and of the recovery
 *     Young            W = sqrt (2 S M)
 *     Daly             W = sqrt (2 S M) (1 + 1/3 sqrt (S / 2M) + 1/9 S / 2M) - S  for S < 2M, else M
 *
 * W s of work between checkpoints, S the stall of one, D its drain: a checkpoint counts once it has drained, while training goes
 * on; B = max (0, D - W) is what a checkpoint waits for the one before.
 * Derivation of g: after a recovery a time X, exponential of mean M, passes to the next failure. j intervals of it are saved where
 * X is above W + S + D + (j - 1) (W + B + S): in the mean exp ((B - D) / M) / (exp ((W + B + S) / M) - 1). A recovery of R is
 * broken off by another failure with chance 1 - exp (-R/M) and then begins anew; with q the mean of exp (-R/M) over recoveries,
 * all of them take M (1/q - 1) in the mean, X and they M / q. With D = 0 and one R this is Daly's complete expression for the time
 * of Ts of work, M exp (R/M) (exp ((W + S) / M) - 1) Ts / W. Its maximum over W, where nothing waits: the derivative of
 * W / (exp ((W + S) / M) - 1) is 0.
 *
 * Sources: Young, "A first order approximation to the optimum checkpoint interval", CACM 17 (1974); Daly, "A higher order
 * estimate of the optimum checkpoint interval for restart dumps", FGCS 22 (2006), equations 20 and 37. The generalisation to D
 * and mixed R is derived above. Weibull gaps between the failures of a system: Schroeder and Gibson, "A large-scale study of
 * failures in high-performance computing systems", DSN 2006 (shape 0.7 to 0.8).
 * Valid: exponential gaps, spares always at hand; slow-downs and planned stops to first order.
 * Check: test_models_failure, numbers by hand; law_goodput, the mean of runs by events within its error. */
#include "models/failure.h"

#include <math.h>

const BaseName mdl_unit_names[] = {
  { "gpu", MDL_UNIT_GPU, "each GPU of the job" },
  { "node", MDL_UNIT_NODE, "each node" },
  { "nic", MDL_UNIT_NIC, "each NIC of the job's nodes, with cable and port" },
  { "switch", MDL_UNIT_SWITCH, "one switch per `nodes` nodes" },
  { "job", MDL_UNIT_JOB, "the whole job, at any size" },
  { NULL, 0, NULL },
};

const BaseName mdl_effect_names[] = {
  { "stop", MDL_EFFECT_STOP, "the job stops; work since the last checkpoint is lost" },
  { "planned", MDL_EFFECT_PLANNED, "the job takes a checkpoint, then stops" },
  { "slow", MDL_EFFECT_SLOW, "the job continues, slower, until the fault is found" },
  { NULL, 0, NULL },
};

double
mdl_failure_units (MdlUnit of, double nodes_each, const MdlJobSize *size)
{
  switch (of) {
    case MDL_UNIT_GPU:
      return size->gpus;
    case MDL_UNIT_NODE:
      return size->nodes;
    case MDL_UNIT_NIC:
      return size->nics;
    case MDL_UNIT_SWITCH:
      return ceil (size->nodes / fmax (nodes_each, 1));
    case MDL_UNIT_JOB:
      return 1;
    case MDL_UNIT_N:
    default:
      g_return_val_if_reached (0);
  }
}

double
mdl_failure_rate_per_s (const MdlFailureRow *row, const MdlObserved *observed, const MdlJobSize *size)
{
  double units = mdl_failure_units ((MdlUnit)row->of.v, row->nodes.v, size);
  if (row->every.set)
    return row->every.v > 0 ? units / row->every.v : 0;
  if (!row->count.set || row->count.v <= 0)
    return 0;
  const MdlJobSize watched = { observed->gpus.v, observed->nodes.v, observed->nics.v };
  return units * row->count.v / (mdl_failure_units ((MdlUnit)row->of.v, row->nodes.v, &watched) * observed->time.v);
}

double
mdl_goodput (const MdlGoodputTerms *terms, double work_s)
{
  double rate = terms->stop_per_s, rest = terms->pace * (1 - terms->planned_share);
  double wall_s = work_s / terms->pace; /* from checkpoint to checkpoint, beside slow-downs */
  if (!(work_s > 0))
    return 0;
  double wait_s = fmax (0, terms->drain_s - wall_s), cycle_s = wall_s + wait_s + terms->stall_s;
  if (rate <= 0)
    return wall_s / cycle_s * rest;
  return wall_s * rate * exp ((wait_s - terms->drain_s) * rate) * terms->alive / expm1 (cycle_s * rate) * rest;
}

double
mdl_goodput_best_s (const MdlGoodputTerms *terms)
{
  double rate = terms->stop_per_s, s = terms->stall_s * rate;
  if (rate <= 0)
    return (double)INFINITY;
  /* log of both sides: u + log (1 - u) = -s falls from 0 to minus infinity over u = W/M in [0, 1): halved to the last bit */
  double lo = 0, hi = 1;
  for (int i = 0; i < 200 && lo < hi; i++) {
    double u = lo + (hi - lo) / 2;
    if (u <= lo || u >= hi)
      break;
    if (u + log1p (-u) > -s)
      lo = u;
    else
      hi = u;
  }
  return fmax (lo / rate, terms->drain_s) * terms->pace;
}

double
mdl_young_s (double stall_s, double mttf_s)
{
  return sqrt (2 * stall_s * mttf_s);
}

double
mdl_daly_s (double stall_s, double mttf_s)
{
  double half = stall_s / (2 * mttf_s);
  if (half >= 1)
    return mttf_s;
  return mdl_young_s (stall_s, mttf_s) * (1 + sqrt (half) / 3 + half / 9) - stall_s;
}

double
mdl_weibull_scale (double mean, double shape)
{
  return mean / tgamma (1 + 1 / shape);
}

/* The smallest count that is not exceeded with the given chance. Above the mean's square the sum starts where nothing is left out
 * that a double holds, so that exp (-mean) need not be one. */
static double
poisson_quantile (double mean, double chance)
{
  double k = fmax (0, floor (mean - 40 * sqrt (mean) - 40));
  double log_p = k * log (mean) - mean - lgamma (k + 1), sum = exp (log_p);
  while (sum < chance && k < mean + 40 * sqrt (mean) + 40) {
    k++;
    log_p += log (mean) - log (k);
    sum += exp (log_p);
  }
  return k;
}

void
mdl_poisson_band (double mean, double *lo, double *hi)
{
  *lo = mean > 0 ? poisson_quantile (mean, 0.025) : 0;
  *hi = mean > 0 ? poisson_quantile (mean, 0.975) : 0;
}
