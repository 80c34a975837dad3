/* Bottleneck clocks: see bottleneck.c (who is on which) and solve_bottleneck.c (their levels). */
#ifndef ENGINE_BOTTLENECK_PRIVATE_H
#define ENGINE_BOTTLENECK_PRIVATE_H

#include "engine-private.h"

/* Of a link. Its members are the flows whose bottleneck it is; all of them have the rate `level`. */
struct EngBottleneck {
  double room;                 /* capacity / unit: the sum of the rates that it carries */
  double others, others_rest;  /* sum of the rates of its flows that are members elsewhere; two doubles, so that no history shows */
  double level;
  double top;                  /* no rate of the others is higher */
  double service, service_rest; /* integral of the level up to `since` */
  EngTime since;
  EngHeapItem *items; /* members: service by which it ends, flow; a heap, net->clocks.place[flow] leads back */
  uint32_t n, allocated;
  uint32_t carrier; /* the slot whose queue entry is the next end */
  EngLink owner;    /* all of its flows are members there, and that has a crowd: `others` is not kept. Else ENG_NO_SLOT */
  bool used;        /* all of this is set */
  bool queued;      /* its level is to be found */
  bool stirred;     /* its next end is to be found */
  bool crowd;
  GArray *noisy; /* of a crowd: flows with a link that is not private to it */
  EngHeap safe;  /* of a crowd: the level up to which a private link cannot be full, the link; may lag behind, downwards */
};

static inline EngBottleneck *
eng_bottleneck_of (const EngNet *net, EngLink link)
{
  return &net->clocks.of[link];
}

/* Adds a rate, or takes it off (Neumaier, ZAMM 54, 1974). */
static inline void
eng_bottleneck_add (EngBottleneck *one, double rate)
{
  const double sum = one->others + rate, part = sum - one->others;
  one->others_rest += (one->others - (sum - part)) + (rate - part);
  one->others = sum;
  one->top = rate > one->top ? rate : one->top;
}

/* bottleneck.c */
void eng_bottleneck_advance (EngBottleneck *one, EngTime now);
/* The flow, a member nowhere, becomes one; it has still to move `left`. Its other links are the caller's business. */
void eng_bottleneck_enlist (EngNet *net, EngLink link, uint32_t flow, double left);
/* A member is one no longer. Returns what it has still to move. */
double eng_bottleneck_discharge (EngNet *net, EngLink link, uint32_t flow, EngTime now);
/* From now on the link keeps the sum of its flows' rates itself. */
void eng_bottleneck_publish (EngNet *net, EngLink link);
void eng_bottleneck_add_noisy (EngNet *net, EngBottleneck *one, uint32_t flow);
void eng_bottleneck_drop_noisy (EngNet *net, EngBottleneck *one, uint32_t flow);
/* The next end of its members, if the level stays; ENG_TIME_NEVER: none. */
EngTime eng_bottleneck_next_end (const EngNet *net, EngLink link, EngTime now);
/* Puts that end into the queue. */
void eng_bottleneck_schedule (Eng *eng, EngLink link);
/* Its next end is another: to be scheduled when levels stand. */
void eng_bottleneck_stir (EngNet *net, EngLink link);

/* solve_bottleneck.c */
/* Levels anew after what happened to the dirty links; FALSE: it takes too long, and nothing is certain but the members' progress. */
bool eng_bottleneck_solve (Eng *eng);

#endif
