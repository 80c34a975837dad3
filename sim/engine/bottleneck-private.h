/* Bottleneck clocks: see bottleneck.c (who is on which) and solve_bottleneck.c (their levels). */
#ifndef ENGINE_BOTTLENECK_PRIVATE_H
#define ENGINE_BOTTLENECK_PRIVATE_H

#include "engine-private.h"

typedef struct {
  double key; /* service by which it ends */
  uint32_t id;
} EngMember;

/* Another link of members, which sums up their rates. */
typedef struct {
  EngLink link;
  uint32_t n; /* members that cross it, at least 1 */
} EngSpread;

/* Of a link. Its members are the flows whose bottleneck it is; all of them have the link's level as their rate. A cache line: what
 * a change of another link's level touches. */
struct EngBottleneck {
  double others, others_rest; /* sum of the rates of its flows that are members elsewhere; two doubles, so that no history shows.
                                 Of a quiet link: the sum of their ceilings; top and others_rest are not kept */
  double top;                 /* no rate of the others is higher */
  double room;                /* capacity / unit: the sum of the rates that it carries */
  EngMember *items;           /* a heap, the first to end at the top; net->clocks.place[flow] leads back */
  uint32_t n, n_allocated;
  uint32_t n_spread; /* of its service's spread[], those that are not quiet: the first */
  uint32_t carrier;  /* the slot of its queue entry, which fires at its move[].since; ENG_NO_SLOT until there was one */
  bool used;         /* all of this is set */
  bool queued;       /* its level is to be found */
  bool stirred;      /* its next end is to be found */
  float quiet_below; /* without members, it may be quiet once others take less than this part of the room; 0: it is in calm[] */
};

/* The rest of it. */
struct EngService {
  double service, service_rest; /* integral of the level up to `since` */
  EngTime since;
  EngSpread *spread; /* other links of members, each once: those that are not quiet, then the quiet ones */
  uint32_t *spots;   /* hash table of places in spread[], 2^n_bits of them; NULL while there are few */
  uint32_t *held;    /* by place in the link's flows[]: that flow's bottleneck; ENG_NO_SLOT: has just joined */
  uint32_t *use;     /* by the same place: the word of the pool by which that flow names the link */
  uint32_t spread_allocated, held_allocated; /* the latter of use[] too */
  uint32_t n_others;                         /* of spread[] */
  uint8_t n_bits;
  bool sure;                                 /* its queue entry is at the next end; else that is later, and to be found then */
};

static inline EngBottleneck *
eng_bottleneck_of (const EngNet *net, EngLink link)
{
  return &net->clocks.of[link];
}

static inline EngService *
eng_service_of (const EngNet *net, EngLink link)
{
  return &net->clocks.service[link];
}

/* Adds to the rates of the others what is `change` + `rest`, the rest a rounding error (Neumaier, ZAMM 54, 1974). */
static inline void
eng_bottleneck_shift (EngBottleneck *one, double change, double rest)
{
  const double sum = one->others + change, part = sum - one->others;
  one->others_rest += ((one->others - (sum - part)) + (change - part)) + rest;
  one->others = sum;
}

/* Adds a rate, or takes it off. */
static inline void
eng_bottleneck_add (EngBottleneck *one, double rate)
{
  eng_bottleneck_shift (one, rate, 0.0);
  one->top = rate > one->top ? rate : one->top;
}

/* A flow of the link, a member elsewhere, leaves one bottleneck for another, of which it takes that one's level; ENG_NO_SLOT: it
 * comes or goes. */
static inline void
eng_bottleneck_change_other (EngNet *net, EngLink link, EngLink from, EngLink to)
{
  EngBottleneck *one = eng_bottleneck_of (net, link);
  const double *rates = net->clocks.quiet[link] ? net->clocks.ceiling : net->clocks.level;
  if (to != ENG_NO_SLOT)
    eng_bottleneck_add (one, rates[to]);
  if (from != ENG_NO_SLOT)
    eng_bottleneck_add (one, -rates[from]);
}

/* What the flow, a member of the link, has still to move. */
static inline double
eng_bottleneck_left (const EngNet *net, EngLink link, double key, EngTime now)
{
  const EngService *service = eng_service_of (net, link);
  const double step = net->clocks.level[link] * (double)(now - service->since) / ENG_PS_PER_S;
  return key - service->service - service->service_rest - step;
}

/* spread.c */
/* A member crosses another link, `other`. */
void eng_spread_enter (EngNet *net, EngLink link, EngLink other);
/* One of those does no longer. */
void eng_spread_leave (EngNet *net, EngLink link, EngLink other);
/* That other link learns of changes of the level from now on; or of ceilings alone. Nothing if it does so already. */
void eng_spread_make_loud (EngNet *net, EngLink link, EngLink other);
void eng_spread_make_quiet (EngNet *net, EngLink link, EngLink other);

/* bottleneck.c */
void eng_bottleneck_advance (EngNet *net, EngLink link, EngTime now);
/* The flow, a member nowhere, becomes one; it has still to move `left`. Its other links are the caller's business. */
void eng_bottleneck_enlist (EngNet *net, EngLink link, uint32_t flow, double left);
/* A member is one no longer. Returns what it has still to move. */
double eng_bottleneck_discharge (EngNet *net, EngLink link, uint32_t flow, EngTime now);
/* From now on the link, a quiet one, keeps the sum of its flows' rates. */
void eng_bottleneck_make_loud (EngNet *net, EngLink link);
/* Those that were found to take little become quiet, if they may: not in the midst of a change. */
void eng_bottleneck_quieten (EngNet *net);
/* The next end of its members, if the level stays; ENG_TIME_NEVER: none. */
EngTime eng_bottleneck_next_end (const EngNet *net, EngLink link, EngTime now);
/* Sees to it that the queue has an entry at that end, or at a time before it, when it is found anew. */
void eng_bottleneck_schedule (Eng *eng, EngLink link);
/* Its next end is another: to be scheduled when levels stand. */
void eng_bottleneck_stir (EngNet *net, EngLink link);

/* solve_bottleneck.c */
/* Levels anew after what happened to the dirty links; FALSE: it takes too long, and only the members' progress is certain. */
bool eng_bottleneck_solve (Eng *eng);

#endif
