/* The flow network: activities that share links by weighted max-min fairness.
 *
 * An activity f has an amount (progress, e.g. bytes), a rate x_f with x_f <= bound_f, a priority p_f, and on each link l that
 * it uses a weight a_fl: link units consumed per unit of progress. Feasible: for each l, sum_f a_fl x_f <= capacity_l.
 * Max-min: x_f / p_f can grow only by shrinking some x_g / p_g that is not larger. Rates are solved once per instant and
 * only for the part of the network that changed. An activity waits `latency` before it moves; it ends at the first whole
 * picosecond by which all of its amount has moved.
 * Rates are a function of the set of activities and capacities alone: neither the order of calls nor history shows, bit for bit,
 * but where a network of hundreds is solved in part and levels lie within 1e-12 of each other (EngSolve).
 * With weights that are integers (or integers over a power of two), m equal activities act exactly as one of m times the weight.
 * Source of the fairness: Bertsekas and Gallager, Data Networks, 2nd ed., 6.5.2; filling algorithm as there. */
#ifndef ENGINE_FLOW_H
#define ENGINE_FLOW_H

#include "engine/engine.h"

typedef uint32_t EngLink;
typedef uint64_t EngFlow; /* slot and generation; 0 is none */

typedef struct {
  EngLink link;
  double weight; /* 1e-100 … 1e100 */
} EngUse;

typedef struct {
  double amount;      /* >= 0; INFINITY: background, never ends and keeps no run alive */
  double bound_per_s; /* own rate bound; 0 or INFINITY: none */
  double priority;    /* 1e-100 … 1e100; 0 stands for 1 */
  EngTime latency;
  const EngUse *uses; /* copied; the same link may come twice (weights add) */
  unsigned n_uses;    /* 0 is allowed: then a bound is needed unless amount is 0 */
  EngFn done;         /* may be NULL */
  void *user;
  uint64_t arg;
} EngFlowSpec;

/* Capacities are finite and >= 0. */
EngLink eng_link_new (Eng *eng, double capacity_per_s);
/* n links at once, ids first .. first+n-1. */
EngLink eng_links_new (Eng *eng, const double *capacity_per_s, unsigned n);
/* Takes effect from now on. */
void eng_link_set_capacity (Eng *eng, EngLink link, double capacity_per_s);

EngFlow eng_flow_start (Eng *eng, const EngFlowSpec *spec);
/* Another own rate bound from now on, above 0; INFINITY: none, where it uses links. Nothing where it has ended. */
void eng_flow_set_bound (Eng *eng, EngFlow flow, double bound_per_s);
/* Stops it without calling done; FALSE if it has ended. */
bool eng_flow_cancel (Eng *eng, EngFlow flow);
/* 0 while it waits for its latency, and when it has ended; valid after the instant it was started in has been solved. */
double eng_flow_rate (const Eng *eng, EngFlow flow);
double eng_flow_remaining (const Eng *eng, EngFlow flow);

/* How rates are solved after a change. All give the same rates, to the last bit but where levels lie within 1e-12 of each other,
 * which count as one in a solve that sees both. For tests; by default a part is tried where hundreds of activities move, and those
 * that are alike but for their amounts become one where many were solved again and again. */
typedef enum {
  ENG_SOLVE_AUTO,
  ENG_SOLVE_FULL,    /* all that a changed link is connected with */
  ENG_SOLVE_PART,    /* only from the lowest level that can change, wherever that can be told */
  ENG_SOLVE_LOCAL,   /* only what a change reaches, wherever all weights of a link are alike */
  ENG_SOLVE_BUNDLED, /* all, with one in place of those that are alike, from two on */
  ENG_SOLVE_CLOCKS,  /* by clocks of bottlenecks, wherever all weights of a link are alike and no activity has a bound */
} EngSolve;
void eng_set_solve (Eng *eng, EngSolve how);

/* Units that crossed the link up to now (the amounts of ended activities times their weights, exactly; costs a look at those that
 * move on it). */
double eng_link_carried (Eng *eng, EngLink link);

#endif
