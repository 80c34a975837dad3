/* The engine's own state: what is to fire, and the flow network. Each part of it has its file; files use those below them only:
 *
 *     engine (the loop)  ->  flow, solve  ->  solve_{room,local,part}  ->  fill  ->  bundle  ->  move, link  ->  agenda, pool
 *                                                                                                           ->  callee
 *                                         ->  clocks  ->  solve_bottleneck  ->  bottleneck  ->  spread, move, link */
#ifndef ENGINE_PRIVATE_H
#define ENGINE_PRIVATE_H

#include "agenda-private.h"
#include "base/random.h"
#include "engine/flow.h"
#include "nearest-private.h"

#include <math.h>
#include <string.h>

/* Beyond this a double no longer holds whole picoseconds: look again there. */
#define ENG_RECHECK_PS (UINT64_C (1) << 53)

/* Of the cache. */
#define ENG_LINE_B 64

/* How long a list becomes that is full. */
static inline uint32_t
eng_grown (uint32_t n)
{
  return n < 4 ? 4 : n + n / 2;
}

/* Flows or links, in the order in which they were added; a GArray's calls cost more than what is done with each. */
typedef struct {
  uint32_t *items;
  uint32_t n, n_allocated;
} EngIds;

static inline void
eng_ids_add (EngIds *ids, uint32_t id)
{
  if (ids->n == ids->n_allocated) {
    ids->n_allocated = eng_grown (ids->n_allocated);
    ids->items = g_renew (uint32_t, ids->items, ids->n_allocated);
  }
  ids->items[ids->n++] = id;
}

static inline void
eng_ids_free (EngIds *ids)
{
  g_free (ids->items);
  *ids = (EngIds){ 0 };
}

/* From ENG_FLOW_MOVING on, a flow is on its links. A carrier stands for the flows of a bundle, which are on no list (bundle.c).
 * While bottlenecks have clocks, flows are members of them, and a slot stands for each clock (bottleneck.c). */
typedef enum {
  ENG_FLOW_FREE,
  ENG_FLOW_WAITING,
  ENG_FLOW_ENDED,
  ENG_FLOW_BUNDLED,
  ENG_FLOW_MOVING,
  ENG_FLOW_MEMBER,
  ENG_FLOW_CARRIER,
  ENG_FLOW_CLOCK, /* on no link */
} EngFlowState;

/* Links that a flow may use. */
#define ENG_MOST_USES ((UINT32_C (1) << 24) - 1u)

/* What a solve reads of a flow: a quarter of a cache line, as there may be millions. Numbers that most flows do not have follow
 * its links in the pool, two words each: the weights a_fl, one for each link when `mixed`, else one if it is not 1; the priority,
 * if it is not 1; the bound. */
typedef struct {
  uint32_t uses; /* where its links begin in the pool. Of a bundled flow: its carrier */
  uint32_t n_uses : 24;
  uint32_t state : 3; /* EngFlowState */
  bool mixed : 1;     /* weights differ from link to link */
  bool weighted : 1;  /* they are not all 1 */
  bool preferred : 1; /* its priority is not 1 */
  bool bounded : 1;
  bool pending : 1; /* an entry of the queue waits for it */
  union {
    uint32_t seen;  /* component number; +1 once its rate is set */
    uint32_t place; /* of a member: in the heap of its bottleneck */
  };
  EngLink bottleneck; /* the link that filled when it got its rate; ENG_NO_SLOT: none, its own bound, or no rate yet */
} EngFlowHead;

/* Links of a member whose places it keeps itself. */
#define ENG_OWN_SPOTS 4u

/* What progress touches. An endless flow (amount INFINITY) counts `left` down from 0. */
typedef struct {
  double amount;
  double left; /* at `since`; of a member and of a bundled flow, the service by which it ends */
  union {
    struct {
      double rate; /* per second, from `since` on */
      EngTime since;
    };
    uint32_t spot[ENG_OWN_SPOTS]; /* while clocks run, of a flow on links: its place in the flows[] of each (eng_clocks_spot) */
  };
} EngFlowMove;

/* Whom to call when a flow ends. A carrier's user is its EngBundle. */
typedef struct {
  EngFn fn;
  void *user;
  uint32_t high; /* half of the call's number; of one that is free, the next of these */
} EngCallee;

/* Flows have few different ones. */
typedef struct {
  EngCallee *items; /* the first is nobody */
  uint32_t *spots;  /* hash table of places in items[], twice as many as n_allocated */
  uint32_t n, n_allocated;
  uint32_t free;   /* ENG_NO_SLOT: none */
  uint32_t latest; /* the one named last */
} EngCallees;

typedef struct {
  uint32_t callee;
  uint32_t low; /* half of the number; of a clock, its link */
} EngFlowCall;

typedef struct EngBundle EngBundle;
typedef struct EngBottleneck EngBottleneck;
typedef struct EngOthers EngOthers;

/* All zeros before the first flow. */
typedef struct {
  double capacity; /* while it has flows */
  uint32_t *flows; /* those that move on it; ended ones are dropped by the next solve, at the latest when they are `ended` */
  uint32_t n_flows, n_allocated;
  uint32_t n_live; /* of flows[], those that have not ended */
  uint32_t seen;   /* component number */
  uint32_t spot;   /* place in the list being copied; trusted only if that place names this link */
  uint32_t cut;    /* of flows[], where those begin that the solve at hand fills; 0 between solves */
  bool dirty;
  bool chosen;     /* its flows are filled again by the local solve at hand; false between solves */
  bool grown;      /* a flow has joined or the capacity has changed since the last solve */
  bool plain;      /* all of flows[] have priority 1 and the weight `unit` here */
  bool sorted;     /* flows[] but for those that joined since are in the order in which they got their rates, with marks */
  uint8_t n_scans; /* searches through all of flows[] since it was last sorted */
  double unit;
  double carried; /* by flows that have ended */
} EngLinkState;

/* Of a sorted link: from flows[at] on, up to the next mark, all are at `level`; those before take `used` of the capacity. */
typedef struct {
  double level, used;
  uint32_t at;
} EngMark;

/* A flow that gets its rate in a local solve. */
typedef struct {
  uint32_t flow;
  EngLink link; /* its bottleneck; ENG_NO_SLOT: its own bound */
  double rate;
} EngFrozen;

/* Filling: what a link has left while levels rise. Weights are counted as integers in `unit`s, so that their sums are exact and
 * no order shows: all weights equal, the unit is that weight; else it is 2^-96 of the power of two above the largest. */
typedef struct {
  uint64_t rest_hi, rest_lo;       /* weight of flows without a rate */
  uint64_t settled_hi, settled_lo; /* rest when `used` was last brought up to date */
  double unit;
  double scale; /* 1 / unit, when mixed */
  double used;  /* capacity taken by flows with a rate, but for those frozen at `level` */
  double level; /* of the latest freeze */
  bool mixed;
} EngLinkFill;

/* Flows, by slot. */
typedef struct {
  EngFlowHead *head;
  EngFlowMove *move;
  EngFlowCall *call;
  uint32_t *stamp;      /* the one queue entry that counts */
  uint32_t *generation; /* the handle that counts */
  uint32_t n, n_allocated;
  uint32_t n_moving; /* past their latency and not ended, moving or not */
  uint32_t n_joined; /* of these, since the last solve */
  bool rebound;      /* the bound of one that moves has changed since then */
  EngIds free;       /* slots, last in, first out */
  EngIds ended;      /* off their links at the next solve, free after it */
} EngFlows;

/* Lists up to this many words have a size class each; longer ones share one for each power of two. */
#define ENG_EXACT_CLASSES 32u
#define ENG_N_CLASSES     (ENG_EXACT_CLASSES + 33u)

/* Lists of links, in words; free blocks by size. */
typedef struct {
  uint32_t *word;
  uint32_t n, n_allocated;
  uint32_t free[ENG_N_CLASSES]; /* the first free block; ENG_NO_SLOT: none */
} EngPool;

typedef struct {
  double *capacity;
  EngLinkState *state; /* memory that is not touched before the first flow */
  EngLinkFill *fill;
  GArray **marks; /* of EngMark, by link; NULL where it never was sorted */
  uint32_t n_marks;
  uint32_t n, n_allocated;
  EngIds dirty;
} EngLinks;

/* Whether and from where a part is solved. */
typedef struct {
  uint32_t n_skips, backoff; /* solves to go until the next try at a part, and how many follow a failure */
  double restart;            /* no flow below this level has another rate by what happened to flows since the last solve */
} EngPartial;

/* Solving only what a change reaches. */
typedef struct {
  uint32_t n_skips, backoff; /* as of EngPartial */
  GArray *chosen;            /* EngLink */
  GArray *frozen;            /* EngFrozen */
} EngLocal;

/* Clocks of bottlenecks (bottleneck.c), while they run. */
typedef struct {
  bool on;
  uint64_t solved;     /* flows solved in parts or large components since clocks last ran, while they could have */
  unsigned n_failures; /* each doubles the flows solved before the next try */
  uint64_t n_seen;     /* rates that were changed or compared, ever */
  EngBottleneck *of;   /* by link */
  EngOthers *others;   /* by link */
  double *level;       /* by link: rate of its members */
  double *ceiling;     /* by link: not below its level */
  bool *quiet;         /* by link: its flows' ceilings leave some of it, so that it need not know their levels (bottleneck.c) */
  void *by_link;       /* the block that has all of these */
  uint32_t n;          /* of these */
  uint32_t *spot;      /* by word of the pool that names a link of a flow with many: the place in that link's flows[] */
  uint32_t n_words;    /* of spot[] */
  EngIds fresh;        /* flows that move and are members nowhere yet */
  EngIds calm;         /* links that may become quiet */
  EngIds stirred;      /* links: their next end is to be found */
  EngHeap faster;      /* -rate, flow */
  EngNearest nearest;  /* links to look at, by their level to be */
} EngClocks;

/* What a solve has at hand. */
typedef struct {
  uint32_t component; /* number of the latest; steps by 2 */
  EngIds members;     /* flows of the component */
  EngIds reached;     /* links of the component */
  EngIds frozen;      /* members in the order in which they got their rates, when `keep_order` */
  bool keep_order;
  EngHeap by_share, by_bound;
  uint32_t n_left; /* of `members`, those that have no rate yet */
} EngWork;

/* When to look for activities that are alike. */
typedef struct {
  uint64_t solved; /* flows solved in components since bundles were last looked for */
  unsigned n_failures;
  bool any; /* ever */
} EngBundling;

typedef struct {
  EngFlows flows;
  EngCallees callees;
  EngPool pool;
  EngLinks links;
  EngSolve how;
  EngPartial part;
  EngLocal local;
  EngClocks clocks;
  EngWork work;
  EngBundling bundles;
} EngNet;

/* Debugging: events of one instant in an order of the seed's choice. */
typedef struct {
  bool shuffle;
  BaseRandom random;
  GArray *batch; /* EngEntry */
} EngTies;

struct Eng {
  EngTime now;
  bool running;
  uint64_t instant_limit; /* events without the clock moving */
  uint64_t instant_events;
  EngAgenda agenda;
  EngTies ties;
  EngStats stats;
  double reserved_B; /* of memory, by what is built on it */
  EngNet net;
};

/* The k-th of the numbers that follow its links. */
static inline double
eng_flow_number (const EngNet *net, const EngFlowHead *head, uint32_t k)
{
  double number;
  memcpy (&number, &net->pool.word[head->uses + head->n_uses + 2u * k], sizeof number);
  return number;
}

/* How many of these are weights. */
static inline uint32_t
eng_flow_n_weights (const EngFlowHead *head)
{
  return head->mixed ? head->n_uses : head->weighted;
}

/* The weight of its k-th link. */
static inline double
eng_net_weight (const EngNet *net, uint32_t flow, uint32_t k)
{
  const EngFlowHead *head = &net->flows.head[flow];
  return head->weighted ? eng_flow_number (net, head, head->mixed ? k : 0) : 1.0;
}

static inline double
eng_flow_priority (const EngNet *net, uint32_t flow)
{
  const EngFlowHead *head = &net->flows.head[flow];
  return head->preferred ? eng_flow_number (net, head, eng_flow_n_weights (head)) : 1.0;
}

/* INFINITY: none. Not of a bundled flow, whose carrier has it. */
static inline double
eng_flow_bound (const EngNet *net, uint32_t flow)
{
  const EngFlowHead *head = &net->flows.head[flow];
  return head->bounded ? eng_flow_number (net, head, eng_flow_n_weights (head) + head->preferred) : (double)INFINITY;
}

static inline bool
eng_entry_is_live (const EngEntry *entry, void *user)
{
  const Eng *eng = user;
  if ((entry->slot & ENG_SLOT_FLOW) != 0)
    return eng->net.flows.stamp[entry->slot & ~ENG_SLOT_FLOW] == entry->generation;
  return eng->agenda.timers[entry->slot].generation == entry->generation;
}

/* engine.c: FALSE, and *error says that what is left never happens. */
gboolean eng_fail_beyond_clock (const Eng *eng, GError **error);

/* agenda.c: entries of flows in the queue */
void eng_push_flow (Eng *eng, EngTime at, uint32_t flow);
/* The flow's pending entry, if it has one, will not fire. */
void eng_drop_flow_entry (Eng *eng, uint32_t flow);

/* callee.c */
void eng_callees_init (EngNet *net);
void eng_callees_clear (EngNet *net);
uint32_t eng_callee_find (EngNet *net, const EngCallee *wanted);

/* The place of one that may be new. To be called before the flow that names it is one. */
static inline uint32_t
eng_callee_of (EngNet *net, EngFn fn, void *user, uint32_t high)
{
  EngCallees *callees = &net->callees;
  const EngCallee *latest = &callees->items[callees->latest];
  if (latest->fn != fn || latest->user != user || latest->high != high)
    callees->latest = eng_callee_find (net, &(EngCallee){ .fn = fn, .user = user, .high = high });
  return callees->latest;
}

/* pool.c: slots of flows, and words for the lists of their links */
void eng_net_init (EngNet *net);
/* Words of its list: links, then numbers. */
static inline uint32_t
eng_flow_list_words (const EngFlowHead *head)
{
  if (!(head->weighted | head->preferred | head->bounded))
    return head->n_uses;
  return head->n_uses + 2u * (eng_flow_n_weights (head) + head->preferred + head->bounded);
}

/* Gives it a list of its own with the words of another's. */
void eng_flow_copy_list (EngNet *net, EngFlowHead *head, uint32_t words);
uint32_t eng_net_take_slot (EngNet *net);
void eng_net_give_slot (EngNet *net, uint32_t flow);
/* Gives the slots of ended flows back; their links must have dropped them. */
void eng_net_recycle (EngNet *net);
uint32_t eng_net_take_words (EngNet *net, uint32_t n);
void eng_net_give_words (EngNet *net, uint32_t at, uint32_t n);

/* move.c: progress of flows that are no bundle's */
/* When all has moved, were the rate to stay; `now` if it has, at most ENG_RECHECK_PS from now. */
EngTime eng_flow_end_of (const EngFlowMove *move, EngTime now);
/* How much of it has moved by now. */
double eng_flow_moved (const Eng *eng, uint32_t flow);
/* Brings `left` up to date. */
void eng_flow_advance (EngFlowMove *move, EngTime now);
/* Of its end, at the rate it has. */
void eng_flow_schedule_end (Eng *eng, uint32_t flow);
void eng_flow_drop_end (Eng *eng, uint32_t flow);
/* Sets a rate from now on and schedules the end. */
void eng_net_set_rate (Eng *eng, uint32_t flow, double rate);

/* link.c */
/* Puts a flow on its links. */
void eng_net_join (EngNet *net, uint32_t flow);

static inline void
eng_link_mark_dirty (EngNet *net, EngLink link)
{
  if (net->links.state[link].dirty)
    return;
  net->links.state[link].dirty = true;
  eng_ids_add (&net->links.dirty, link);
}

void eng_link_drop_ended (EngNet *net, EngLink link);
/* Gives back the memory of its list that it does not need, if that is much. */
void eng_link_trim (EngNet *net, EngLink link);

static inline void
eng_link_purge (EngNet *net, EngLink link)
{
  if (net->links.state[link].n_flows != net->links.state[link].n_live)
    eng_link_drop_ended (net, link);
}

/* clocks.c: for those that do not know how bottlenecks keep their members */
void eng_clocks_clear (EngNet *net);
/* Every flow is one of its own again, with the rate and progress it has. Nothing if no clocks run. */
void eng_clocks_stop (Eng *eng);
/* The flow has joined its links while clocks run. */
void eng_clocks_join (Eng *eng, uint32_t flow);
/* The member leaves its links; they are not marked, nor their n_live changed. */
void eng_clocks_end (Eng *eng, uint32_t flow);
/* The clock's entry has fired: the member that ends, or ENG_NO_SLOT when it was only to look again. */
uint32_t eng_clocks_next (Eng *eng, uint32_t clock);
double eng_clocks_rate (const EngNet *net, uint32_t flow);
/* What the member has still to move, 0 or less when all; of an endless one below 0 by what it has moved. */
double eng_clocks_left (const Eng *eng, uint32_t flow);
/* Clocks run, and the flow has come in this instant: it is a member nowhere yet. */
static inline bool
eng_clocks_is_fresh (const EngNet *net, uint32_t flow)
{
  return net->clocks.on && net->flows.head[flow].state == ENG_FLOW_MOVING && net->flows.head[flow].n_uses > 0;
}

/* Solves by clocks, if they run; FALSE: not solved. */
bool eng_clocks_solve (Eng *eng);
/* After `solved` flows were solved another way: should clocks run? */
void eng_clocks_consider (Eng *eng, uint64_t solved);

/* flow.c */
void eng_net_clear (EngNet *net);
void eng_net_fire (Eng *eng, uint32_t flow);
/* Flows that should move and have no rate; a link without capacity that one of them waits for. */
uint64_t eng_net_n_stuck (const EngNet *net, EngLink *some_link);

/* fill.c */
/* The number of a fresh component; flows and links never carry a number from the future. */
void eng_net_next_component (EngNet *net);
/* Gives rates to the members, whose links are `reached`, their fill[] and cut set; `level` is the last one below. */
void eng_net_fill (Eng *eng, double level);

/* Brings the least link to the top with a true share, of those that still have flows to fill; false when there is none. */
bool eng_net_settle_top (EngNet *net, double level, double *share);

/* solve_room.c */
/* Solves where the flows that came since the last solve get their bounds, and no other rate changes; FALSE: not so. */
bool eng_net_solve_room (Eng *eng);

/* solve_local.c */
/* Solves for the flows that the dirty links reach, link by link; FALSE as of eng_net_solve_part. */
bool eng_net_solve_local (Eng *eng);

/* solve_part.c */
/* Solves for the flows that the dirty links can concern, from the lowest level that may have changed; FALSE where that does not
 * pay or cannot be told: then nothing has changed but that lists may have been purged. */
bool eng_net_solve_part (Eng *eng);

/* solve.c */
void eng_net_solve (Eng *eng);

#endif
