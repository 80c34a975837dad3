/* Bottleneck clocks: see bottleneck.c (who is on which) and solve_bottleneck.c (their levels). */
#ifndef ENGINE_BOTTLENECK_PRIVATE_H
#define ENGINE_BOTTLENECK_PRIVATE_H

#include "engine-private.h"

#include <math.h>

/* The key, the service by which it ends, is beside what is `left` of it. */
typedef struct {
  uint32_t lead; /* the key's leading bits, in its order */
  uint32_t id;
} EngMember;

/* Another link of members, which sums up their rates. */
typedef struct {
  EngLink link;
  uint32_t n; /* members that cross it, at least 1 */
} EngSpread;

/* What a change of other links' levels touches of a link: half a cache line, as most links do no more about it. */
struct EngOthers {
  double sum, rest; /* of the rates of its flows that are members elsewhere; two doubles, so that no history shows. Of a quiet
                       link: `sum` of their ceilings; top and rest are not kept */
  double top;       /* no rate of the others is higher */
  double limit;     /* where the sum is above, it is looked at: its room, with a minus sign while it has members; 0: never used */
};

/* A link that was not quiet when this was tried is tried again when its others take so much less than then. */
#define ENG_QUIET_AGAIN 0.99f

/* Of a link. Its members are the flows whose bottleneck it is; all of them have the link's level as their rate. */
struct EngBottleneck {
  _Alignas(ENG_LINE_B) double service; /* with service_rest, the integral of the level up to `since` */
  double service_rest;
  EngTime since;
  EngTime entry;     /* time of its queue entry; ENG_TIME_NEVER: it has none */
  double first;      /* key of the member that ends first; INFINITY: none ends */
  EngSpread *spread; /* other links of members: those that are not quiet, then the quiet ones */
  uint32_t n;        /* members */
  uint32_t n_spread; /* of spread[], those that are not quiet */
  uint32_t n_others; /* of spread[] */
  bool queued;       /* its level is to be found */
  bool stirred;      /* its next end is to be found */
  bool sure;         /* its queue entry is at the next end; else that is later, and to be found then */
  uint8_t n_bits;    /* of spots[]; 0 while there are few */
  /* a level that changes touches nothing of what follows */
  EngMember *items; /* a heap, the first to end at the top; its `place` leads back */
  uint32_t *spots;  /* hash table of places in spread[], 2^n_bits of them */
  uint32_t *held;   /* by place in the link's flows[]: that flow's bottleneck; ENG_NO_SLOT: has just joined. NULL: not made yet */
  uint32_t n_allocated, spread_allocated, held_allocated;
  uint32_t carrier;  /* the slot of its queue entry; ENG_NO_SLOT until there was one */
  float quiet_below; /* without members, it may be quiet once others take less than this part of the room; 0: it is in calm[] */
};

static inline EngBottleneck *
eng_bottleneck_of (const EngNet *net, EngLink link)
{
  return &net->clocks.of[link];
}

/* The place of a flow on links in the list of its k-th. */
static inline uint32_t *
eng_clocks_spot (const EngNet *net, uint32_t flow, uint32_t k)
{
  const EngFlowHead *head = &net->flows.head[flow];
  return head->n_uses <= ENG_OWN_SPOTS ? &net->flows.move[flow].spot[k] : &net->clocks.spot[head->uses + k];
}

static inline EngOthers *
eng_others_of (const EngNet *net, EngLink link)
{
  return &net->clocks.others[link];
}

static inline bool
eng_others_is_used (const EngOthers *others)
{
  return others->limit < 0.0 || others->limit > 0.0;
}

/* Capacity / unit: the sum of the rates that the link carries. */
static inline double
eng_others_room (const EngOthers *others)
{
  return fabs (others->limit);
}

/* Adds to the rates of the others what is `change` + `rest`, the rest a rounding error (Neumaier, ZAMM 54, 1974). */
static inline void
eng_others_shift (EngOthers *others, double change, double rest)
{
  const double sum = others->sum + change, part = sum - others->sum;
  others->rest += ((others->sum - (sum - part)) + (change - part)) + rest;
  others->sum = sum;
}

/* Adds a rate, or takes it off. */
static inline void
eng_others_add (EngOthers *others, double rate)
{
  eng_others_shift (others, rate, 0.0);
  others->top = rate > others->top ? rate : others->top;
}

/* How far above the level a ceiling is set that was not kept. */
#define ENG_CEILING_AT 1.05

/* The ceiling of a link, which is kept only while other links know it, or crowds may make some quiet. */
static inline double
eng_bottleneck_ceiling (EngNet *net, EngLink link)
{
  const EngBottleneck *one = eng_bottleneck_of (net, link);
  if (one->n_others == one->n_spread && net->clocks.ceiling[link] < net->clocks.level[link])
    net->clocks.ceiling[link] = net->clocks.level[link] * ENG_CEILING_AT;
  return net->clocks.ceiling[link];
}

/* A flow of the link, a member elsewhere, leaves one bottleneck for another, of which it takes that one's level; ENG_NO_SLOT: it
 * comes or goes. */
static inline void
eng_bottleneck_change_other (EngNet *net, EngLink link, EngLink from, EngLink to)
{
  EngOthers *others = eng_others_of (net, link);
  const bool quiet = net->clocks.quiet[link];
  if (to != ENG_NO_SLOT)
    eng_others_add (others, quiet ? eng_bottleneck_ceiling (net, to) : net->clocks.level[to]);
  if (from != ENG_NO_SLOT)
    eng_others_add (others, quiet ? -net->clocks.ceiling[from] : -net->clocks.level[from]);
}

/* What the flow, a member of the link, has still to move. */
static inline double
eng_bottleneck_left (const EngNet *net, EngLink link, double key, EngTime now)
{
  const EngBottleneck *one = eng_bottleneck_of (net, link);
  const double step = net->clocks.level[link] * (double)(now - one->since) / ENG_PS_PER_S;
  return key - one->service - one->service_rest - step;
}

/* Brings its service up to date. The integral keeps what its sum loses (Knuth, TAOCP 2, 4.2.2). */
static inline void
eng_bottleneck_advance (EngNet *net, EngLink link, EngTime now)
{
  EngBottleneck *one = eng_bottleneck_of (net, link);
  const double moved = net->clocks.level[link] * (double)(now - one->since) / ENG_PS_PER_S;
  const double step = one->service_rest + moved, sum = one->service + step, of_step = sum - one->service;
  one->service_rest = (one->service - (sum - of_step)) + (step - of_step);
  one->service = sum;
  one->since = now;
}

/* More than rounding can make of what is left. */
#define ENG_REL_CERTAIN 1e-9

/* Whether its queue entry fires before the next end for certain, at a level, with so much `left` of the first to end: where the
 * level fell or rose a little. */
static inline bool
eng_bottleneck_is_early (const EngBottleneck *one, double level, double left, EngTime now)
{
  const double moved = level * (double)(one->entry - now) / ENG_PS_PER_S;
  return (one->entry != ENG_TIME_NEVER) & (one->first < (double)INFINITY) & (left > moved * (1.0 + ENG_REL_CERTAIN));
}

/* Its next end is another: to be scheduled when levels stand. */
static inline void
eng_bottleneck_stir (EngNet *net, EngLink link)
{
  EngBottleneck *one = eng_bottleneck_of (net, link);
  if (one->stirred)
    return;
  one->stirred = true;
  eng_ids_add (&net->clocks.stirred, link);
}

/* spread.c */
/* A member crosses another link, `other`. */
void eng_spread_enter (EngNet *net, EngLink link, EngLink other);
/* One of those does no longer. */
void eng_spread_leave (EngNet *net, EngLink link, EngLink other);
/* A member's other link learns of changes of the level from now on; or of ceilings alone. To be called for each member that
 * crosses it. */
void eng_spread_make_loud (EngNet *net, EngLink link, EngLink other);
void eng_spread_make_quiet (EngNet *net, EngLink link, EngLink other);

/* bottleneck.c */
/* The flow, a member nowhere, becomes one; it has still to move `left`. Its other links are the caller's business. */
void eng_bottleneck_enlist (EngNet *net, EngLink link, uint32_t flow, double left);
/* A member is one no longer. Returns what it has still to move. */
double eng_bottleneck_discharge (EngNet *net, EngLink link, uint32_t flow, EngTime now);
/* The link's held[], which is made at the first call: many links are never looked through. */
uint32_t *eng_bottleneck_held (EngNet *net, EngLink link);
/* From now on the link, a quiet one, keeps the sum of its flows' rates. */
void eng_bottleneck_make_loud (EngNet *net, EngLink link);
/* Those that were found to take little become quiet, if they may: not in the midst of a change. */
void eng_bottleneck_quieten (EngNet *net);
/* The next end of its members, if the level stays; ENG_TIME_NEVER: none. */
EngTime eng_bottleneck_next_end (const EngNet *net, EngLink link, EngTime now);
/* Sees to it that the queue has an entry at that end, or at a time before it, when it is found anew. */
void eng_bottleneck_schedule (Eng *eng, EngLink link);

/* solve_bottleneck.c */
/* Levels anew after what happened to the dirty links; FALSE: it takes too long, and only the members' progress is certain. */
bool eng_bottleneck_solve (Eng *eng);

#endif
