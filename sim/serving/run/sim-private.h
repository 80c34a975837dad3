/* A run of replicas: shared by the files of this folder. */
#ifndef SERVING_SIM_PRIVATE_H
#define SERVING_SIM_PRIVATE_H

#include "engine/queue.h"
#include "serving/tally.h"

/* One engine: schedulers that step together. */
typedef struct {
  const SrvRunSpec *spec; /* of its pool */
  guint index, pool;
  GPtrArray *incoming; /* SrvHandoff *: wait for blocks, first come first */
  GPtrArray *ahead;    /* SrvAhead *: KV of prompts that the step in progress completes, as it is computed */
  GPtrArray *ready;    /* SrvHandoff *: their KV is there; they join between steps */
  GPtrArray *asked;    /* SrvSeq *: their prompts wait until this decode replica has seen them */
  GArray *asked_until; /* guint64: steps after which it has, likewise */
  guint64 steps;       /* begun so far */
  guint *coming;       /* by scheduler: hold blocks and have not joined */
  SrvSched **scheds;   /* as many as spec->times.ranks */
  gboolean woken;      /* in sim->woken */
  gboolean down;       /* lost */
  gboolean off;        /* not ordered, or not started yet */
  gboolean drains;     /* takes no more requests, and is off once it has none */
  EngTime starts;      /* serves from then on; ENG_TIME_NEVER: it does not start */
  guint epoch;         /* times that it was lost */
  GPtrArray *late;     /* SrvSeq *: the next step is chosen without them */
  guint *n_late;       /* by scheduler */
  gboolean busy;       /* in a step from `start` to `end` */
  EngTime start, end;
  EngTime sent;     /* until then the front end is busy with tokens of earlier steps */
  EngTime base;     /* from then on it sends those of the last step, in the order of the sequences */
  guint in_flight;  /* changed by srv_load */
  guint64 *prefill; /* by scheduler: tokens of prompts on their way to a first token, as the router counts them */
  /* Steps that only decode, jumped over: sequences are brought up to date when they end. */
  gboolean jumping;
  guint n, most; /* the step in progress, from 1, and the last one that can be */
  guint *counts; /* of srv_sched_new_blocks */
  guint under;   /* sequences below the window */
  double context, windowed;
  SrvDecodeLine line;
  double factor;            /* of the band */
  gboolean parts;           /* as of the run */
  double share[SRV_PART_N]; /* of the step in progress, by part; where `parts` */
  /* Counted by itself, so that sums over replicas do not depend on the order of their steps. */
  double busy_ps, kv_ps;
} SrvReplica;

typedef struct SrvSim SrvSim;

/* ---- what is counted (tally.c) ---- */

/* Of one replica, of all its schedulers. */
typedef struct {
  double busy_ps, kv_ps;
  guint64 hit_tokens, prompt_tokens, preemptions, lost_tokens;
} SrvReplicaTally;

struct SrvTally {
  SrvRunResult sums; /* what is counted; the rest follows from what stands below, once the run has ended */
  SrvSample *ttft, *tpot, *itl, *e2e;
  SrvReplicaTally *replicas;       /* of both pools; of a part, others are 0 */
  guint n[2];                      /* replicas of each pool */
  EngTime first_arrival, last_end; /* of counted requests */
  EngTime until;                   /* the last end of a step */
  guint64 decode_steps, decoded;
  GArray *ended; /* guint32, by request in order of arrival: own ones that ended since the one before came; NULL: not a part */
};

SrvTally *srv_tally_new (const SrvRunSpec *spec, gboolean part);

/* A request that has been answered. */
typedef struct {
  guint64 index;
  EngTime seen; /* its last token, by the user */
} SrvEnded;

/* What a router remembers. */
typedef struct {
  guint64 turn;         /* requests routed */
  GHashTable *sessions; /* session → replica + 1 */
  double *costs;        /* by scheduler of all replicas … */
  SrvScored *scored;    /* … likewise */
} SrvRoute;

/* A request between two pools. */
typedef struct {
  SrvSim *sim;
  SrvSeq *from, *to;    /* the second one has blocks of its own */
  guint source, target; /* replicas, of all */
  gboolean held;        /* blocks of the target */
  EngTime prefilled, started, landed;
  EngTimer due;  /* of the start */
  double part;   /* of the KV that still has to move */
  gboolean left; /* the source counts it no more */
  EngFlowSpec flow;
  EngFlow moves; /* 0: it does not move yet */
  EngUse *uses;  /* owned */
} SrvHandoff;

/* KV of a prompt that moves while the last step of the prompt computes it. */
typedef struct {
  const SrvSeq *seq;
  EngTimer due;
  EngFlowSpec flow;
  EngFlow moves; /* 0: it does not move yet */
  EngUse *uses;  /* owned */
} SrvAhead;

typedef struct SrvTiers SrvTiers;

/* What a look at the load wanted. */
typedef struct {
  EngTime at;
  guint replicas;
} SrvWanted;

/* A replica is lost, or is back. */
typedef struct {
  EngTime at;
  guint replica;
  gboolean down;
} SrvLoss;

struct SrvSim {
  const SrvRunSpec *spec;
  Eng *eng;             /* of flows; NULL: nothing flows */
  SrvRunResult *out;    /* of the tally */
  guint part, of;       /* replicas of this run: `part` modulo `of` */
  gboolean apart;       /* replicas know nothing of each other */
  SrvReplica *replicas; /* of the first pool, then of the decode pool */
  guint n_replicas;
  guint *least[2], leaves[2]; /* by pool: minima of requests in flight, and the leaves of that tree (least.c) */
  GPtrArray *prefilled;       /* SrvSeq *: prompts that the step in hand has completed, where there are tiers */
  GPtrArray *granted;         /* SrvSeq *: the decode replica has seen them, and they go on from the front end */
  guint64 turn;               /* requests that decode replicas have taken */
  GPtrArray *handoffs;        /* SrvHandoff *: just prefilled */
  GPtrArray *moving;          /* SrvHandoff *: all that exist */
  GPtrArray *landed;          /* SrvHandoff *: flows that have ended at this instant */
  GArray *uses;               /* EngUse, of the flow in hand */
  double wait_ps, move_ps;
  SrvRoute route;
  SrvTiers *tiers; /* NULL: none */
  GArray *wanted;  /* SrvWanted: replicas that looks wanted, of the last while */
  EngTime look;    /* the next one */
  EngTime paid_at; /* until which replicas were counted */
  double paid_ps;
  GArray *losses; /* SrvLoss, in order */
  guint next_loss, n_down;
  GPtrArray *again;               /* SrvSeq *: have lost their replica, as they were there */
  SrvSample *phases[SRV_PHASE_N]; /* times to the first token */
  EngQueue *queue;                /* ends of steps, by replica */
  GPtrArray *woken;               /* SrvReplica *: may have something to do, if they are idle */
  SrvBatch *batches;              /* of one step */
  GPtrArray *pool;                /* SrvSeq *, to use again */
  GArray *ended;                  /* SrvEnded: requests that the source has not heard of yet */
  EngTime now;                    /* end of the step in hand */
  EngTime arrival;                /* of the next request */
  EngTime horizon;                /* nothing from outside before it */
  SrvReplica *at;                 /* whose step is in hand */
  /* Counted. */
  SrvTally *tally;
  guint64 in_flight;
  guint32 n_ended;                  /* since a request came; of a part */
  SrvSeq *watched;                  /* in flight; with pools apart, in the one where it is now */
  EngTime watched_at, watched_read; /* when its KV began to be read from a tier, and how long that took */
  SrvStepCost cost;                 /* of the last step, where something is watched */
};

/* ---- steps (step.c) ---- */

void srv_replica_init (SrvSim *sim, SrvReplica *replica, guint index);
void srv_replica_clear (SrvReplica *replica);
/* Begins a step at sim->now, where there is something to do and none is in progress. */
void srv_replica_begin (SrvSim *sim, SrvReplica *replica);
/* A step in progress is lost; sequences have what steps before it gave. */
void srv_replica_stop (SrvSim *sim, SrvReplica *replica);
/* The step in progress ends at sim->now. FALSE: the next one, of the same kind, is in progress already. */
gboolean srv_replica_end (SrvSim *sim, SrvReplica *replica);

static inline void
srv_wake (SrvSim *sim, SrvReplica *replica)
{
  if (!replica->woken)
    g_ptr_array_add (sim->woken, replica);
  replica->woken = TRUE;
}

/* ---- choice of a replica (route.c) ---- */

/* It takes requests. */
static inline gboolean
srv_serves (const SrvReplica *replica)
{
  return !replica->down && !replica->off && !replica->drains;
}

/* The rank with the fewest sequences, those on their way to it included: ranks of a replica are filled evenly. */
static inline guint
srv_even_rank (const SrvReplica *replica)
{
  guint best = 0, least = G_MAXUINT;
  for (guint i = 0; i < replica->spec->times.ranks; i++) {
    const SrvSched *sched = replica->scheds[i];
    const guint load = sched->n_running + sched->n_waiting + replica->n_late[i] + replica->coming[i];
    if (load < least) {
      least = load;
      best = i;
    }
  }
  return best;
}

/* ---- the replica with the fewest requests (least.c) ---- */

void srv_least_init (SrvSim *sim);
void srv_least_clear (SrvSim *sim);
/* Replicas have begun or ceased to take requests. */
void srv_least_renew (SrvSim *sim);
/* Adds to what a replica has in flight. */
void srv_load (SrvSim *sim, SrvReplica *replica, gint by);
/* The first of those of a pool (0: that takes requests, 1: decode) with the fewest requests; NULL: none takes any. */
SrvReplica *srv_least_loaded (const SrvSim *sim, guint pool);

void srv_route_init (SrvSim *sim);
void srv_route_clear (SrvSim *sim);
/* The replica of a request that leaves the front end; NULL: all are lost. Sets seq->rank and what the router counts of it. */
SrvReplica *srv_route (SrvSim *sim, SrvSeq *seq);
/* Its prompt is computed: the router counts it no longer. */
void srv_route_prefilled (SrvReplica *replica, SrvSeq *seq);

/* ---- replicas that are lost (outage.c) ---- */

void srv_outage_init (SrvSim *sim);
void srv_outage_clear (SrvSim *sim);
EngTime srv_outage_next (const SrvSim *sim); /* ENG_TIME_NEVER: none */
/* All of sim->now; sim->again has the requests that begin again. */
void srv_outage_take (SrvSim *sim);
/* A request of sim->again, which holds nothing, begins again. */
void srv_outage_again (SrvSim *sim, SrvSeq *seq);
/* When a replica of the pool that takes requests is back, after sim->now; ENG_TIME_NEVER: none will be. */
EngTime srv_outage_back (const SrvSim *sim);

/* ---- autoscaling (scale.c) ---- */

void srv_scale_init (SrvSim *sim);
void srv_scale_clear (SrvSim *sim);
EngTime srv_scale_next (const SrvSim *sim); /* ENG_TIME_NEVER: never */
void srv_scale_take (SrvSim *sim);          /* what is due at sim->now */
void srv_scale_finish (SrvSim *sim);        /* counts what was paid until the last answer */

/* ---- from prefill to decode (fleet/handoff.c) ---- */

/* The decode replica that takes the next request; NULL: all are lost. */
SrvReplica *srv_handoff_target (SrvSim *sim);
/* A request that leaves the front end asks its decode replica first, where engines do that. FALSE: it need not wait. */
gboolean srv_handoff_ask (SrvSim *sim, SrvSeq *seq);
/* After a step of `replica`, or as it is lost (all): those that it has seen are in sim->granted. */
void srv_handoff_grant (SrvSim *sim, SrvReplica *replica, gboolean all);
/* Its prompt is computed, in a step of sim->at. */
void srv_handoff_begin (SrvSim *sim, SrvSeq *seq);
/* Those that began find a decode replica, and transfers start for which blocks are free. */
gboolean srv_handoff_start (SrvSim *sim, GError **error);
/* Takes those whose flows have ended. */
void srv_handoff_land (SrvSim *sim);
/* A step of `replica` from its start to its end has been chosen: KV of prompts that it completes moves as it is computed, where the
 * fabric does that. FALSE and *error: there is no route. */
gboolean srv_handoff_ahead (SrvSim *sim, SrvReplica *replica, GError **error);
/* What moves ahead of the step in progress is stopped: it has ended, or is lost. */
void srv_handoff_stop_ahead (SrvSim *sim, SrvReplica *replica);
/* Sequences whose KV is there join; the replica is between steps. */
void srv_handoff_join (SrvSim *sim, SrvReplica *replica);
void srv_handoff_clear (SrvSim *sim);
/* The replica is lost, with what it holds: transfers to it look for another one, and what it sent begins again. Before its
 * schedulers lose theirs. */
void srv_handoff_lose (SrvSim *sim, SrvReplica *replica);

/* ---- KV below the GPU (tiers/tiers.c) ---- */

void srv_tiers_init (SrvSim *sim);
void srv_tiers_clear (SrvSim *sim);
/* What is in a tier of a routed request's prompt is loaded, if that takes less than computing it. *loads: it is on its way, and
 * will be queued by srv_tiers_land. */
gboolean srv_tiers_fetch (SrvSim *sim, SrvReplica *replica, SrvSeq *seq, gboolean *loads, GError **error);
/* Its prompt has been computed: what tiers lack is written. */
gboolean srv_tiers_write (SrvSim *sim, SrvReplica *replica, SrvSeq *seq, GError **error);
/* Takes flows that have ended: prompts that were loaded join the queue, writes go on to the next tier. */
gboolean srv_tiers_land (SrvSim *sim, GError **error);
void srv_tiers_lose (SrvSim *sim, const SrvReplica *replica); /* its own tiers are empty */
/* Units of a prompt from `from` on that the scheduler's own host and drives have. */
void srv_tiers_has (SrvSim *sim, const SrvReplica *replica, guint rank, const SrvSeq *seq, guint from, guint units[2]);

/* ---- counting (count.c) ---- */

/* A step from replica->start to replica->end has begun. */
void srv_count_step (SrvSim *sim, SrvReplica *replica);
/* When the user sees the next message of `at`, whose step ends at sim->now: the front end sends one after the other. */
static inline EngTime
srv_count_send (const SrvSim *sim, SrvReplica *at)
{
  at->sent = eng_time_add (MAX (sim->now, at->sent), eng_time_from_s (at->spec->front.token_s));
  return at->sent;
}

/* SrvToken of a SrvSim. */
void srv_count_token (void *user, SrvSeq *seq, guint tokens);
/* Gaps of `n` sequences that all gave a token at the start and the end of a step. */
void srv_count_gaps (SrvSim *sim, EngTime gap, guint n);
/* The run has ended: the tally has all. */
void srv_count_finish (SrvSim *sim);

/* ---- one request taken apart (watch.c) ---- */

/* The step that has just been chosen, of sim->batches, belongs to the watched request's replica. */
void srv_watch_step (SrvSim *sim, const SrvReplica *replica);
/* Adds the front end, until the token that is seen at seq->last, the queue and reads from tiers, which no step has counted. */
void srv_watch_outside (const SrvSim *sim, const SrvSeq *seq, double *part_s);
/* Its first token is sent: nothing happens where `seq` is not watched. */
void srv_watch_first (SrvSim *sim, const SrvSeq *seq);
/* Its KV is there, and it joins the decode pool now; likewise. */
void srv_watch_handoff (SrvSim *sim, const SrvHandoff *handoff);

#endif
