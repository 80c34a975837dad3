/* Ranks or nodes that a token reaches whose experts are chosen at random.
 *
 * A token takes k of E experts. Of P places with E/P experts each it reaches P (1 - C(E-E/P, k) / C(E, k)), as many as a draw of k
 * without replacement. With g of n groups taken first: sum over j, the groups of a place that are taken (hypergeometric), of the
 * same with g·E/n experts, j·E/n of them there. Balanced routing reaches min (k, P).
 * Source: counting. Valid: places of equal size, in the order of experts.
 * Check: test_models_moe (256 experts, k 8: 5.2947 of 8 ranks). */
#include <math.h>

#include "models/moe.h"

/* That none of k draws of `all` falls on `some`: C(all-some, k) / C(all, k). */
static double
missed (double all, double some, double k)
{
  double p = 1;
  for (double i = 0; i < k; i++)
    p *= fmax (all - some - i, 0) / (all - i);
  return p;
}

static double
choose (double n, double k)
{
  return exp (lgamma (n + 1) - lgamma (k + 1) - lgamma (n - k + 1));
}

static double
reached_limited (const MdlMoeChoice *c, double places)
{
  const double each = c->experts / c->groups, open = each * c->top_groups, here = c->groups / places;
  if (here < 1) /* several places share a group */
    return places * c->top_groups / c->groups * (1 - missed (open, c->experts / places, c->top_k));
  double p = 0;
  for (double j = 1; j <= fmin (here, c->top_groups); j++)
    if (c->top_groups - j <= c->groups - here)
      p += choose (here, j) * choose (c->groups - here, c->top_groups - j) / choose (c->groups, c->top_groups) *
           (1 - missed (open, j * each, c->top_k));
  return places * p;
}

double
mdl_moe_reached (const MdlMoeChoice *c, double places)
{
  const double most = fmin (places, c->top_k);
  const gboolean whole = c->groups > 0 && (fmod (c->groups, places) <= 0 || fmod (places, c->groups) <= 0);
  const gboolean limited = whole && c->top_groups < c->groups;
  const double ends = limited ? c->top_groups * fmax (places / c->groups, 1) : most;
  if (places <= 1)
    return 1;
  if (c->balanced)
    return fmin (most, ends);
  return fmin (most, limited ? reached_limited (c, places) : places * (1 - missed (c->experts, c->experts / places, c->top_k)));
}
