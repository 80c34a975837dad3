/* The oracle of the flow network: one full solve of the same rules, written for eyes and not for speed. O(levels x uses), no state.
 *
 * Each round finds the least level at which a link fills or a flow meets its bound, and gives that level to the flows concerned.
 * Independent of solve.c on purpose: no heap, no component, no tolerance, plain sums. */
#ifndef MAXMIN_ORACLE_H
#define MAXMIN_ORACLE_H

#include "engine/flow.h"

#include <math.h>

typedef struct {
  double used;   /* by flows that have a rate */
  double weight; /* a p of those that have none */
} OracleLink;

static inline double
priority_of (const EngFlowSpec *flow)
{
  return flow->priority > 0.0 ? flow->priority : 1.0;
}

static inline double
bound_of (const EngFlowSpec *flow)
{
  return flow->bound_per_s > 0.0 ? flow->bound_per_s : (double)INFINITY;
}

static inline void
weigh_links (OracleLink *links, unsigned n_links, const EngFlowSpec *flows, unsigned n_flows, const double *rates)
{
  for (unsigned l = 0; l < n_links; l++)
    links[l] = (OracleLink){ 0 };
  for (unsigned f = 0; f < n_flows; f++)
    for (unsigned k = 0; k < flows[f].n_uses; k++) {
      EngUse use = flows[f].uses[k];
      if (rates[f] >= 0.0)
        links[use.link].used += use.weight * rates[f];
      else
        links[use.link].weight += use.weight * priority_of (&flows[f]);
    }
}

/* The level at which the first link of the flow is full, or its bound is met. */
static inline double
own_level (const OracleLink *links, const double *capacity, const EngFlowSpec *flow)
{
  double level = bound_of (flow) / priority_of (flow);
  for (unsigned k = 0; k < flow->n_uses; k++) {
    EngLink l = flow->uses[k].link;
    level = fmin (level, fmax (0.0, capacity[l] - links[l].used) / links[l].weight);
  }
  return level;
}

/* rates[i] of flow i. */
static inline void
maxmin_oracle (const double *capacity, unsigned n_links, const EngFlowSpec *flows, unsigned n_flows, double *rates)
{
  g_autofree OracleLink *links = g_new (OracleLink, (gsize)n_links + 1u);
  unsigned n_left = n_flows;
  for (unsigned f = 0; f < n_flows; f++)
    rates[f] = -1.0; /* none yet */
  while (n_left > 0) {
    double level = (double)INFINITY;
    weigh_links (links, n_links, flows, n_flows, rates);
    for (unsigned f = 0; f < n_flows; f++)
      if (rates[f] < 0.0)
        level = fmin (level, own_level (links, capacity, &flows[f]));
    for (unsigned f = 0; f < n_flows; f++)
      if (rates[f] < 0.0 && own_level (links, capacity, &flows[f]) <= level) {
        rates[f] = level * priority_of (&flows[f]);
        n_left--;
      }
  }
}

#endif
