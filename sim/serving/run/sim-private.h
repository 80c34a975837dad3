/* A run of replicas: shared by the files of this folder. */
#ifndef SERVING_SIM_PRIVATE_H
#define SERVING_SIM_PRIVATE_H

#include "engine/queue.h"
#include "serving/run.h"

/* One engine: schedulers that step together. */
typedef struct {
  const SrvRunSpec *spec; /* of its pool */
  guint index, pool;
  GPtrArray *incoming; /* SrvHandoff *: wait for blocks, first come first */
  GPtrArray *ready;    /* SrvHandoff *: their KV is there; they join between steps */
  guint *coming;       /* by scheduler: hold blocks and have not joined */
  SrvSched **scheds;   /* as many as spec->times.ranks */
  GPtrArray *late;     /* SrvSeq *: the next step is chosen without them */
  guint *n_late;       /* by scheduler */
  gboolean busy;       /* in a step from `start` to `end` */
  EngTime start, end;
  EngTime sent; /* until then the front end is busy with tokens of earlier steps */
  EngTime base; /* from then on it sends those of the last step, in the order of the sequences */
  guint in_flight;
  /* Steps that only decode, jumped over: sequences are brought up to date when they end. */
  gboolean jumping;
  guint n, most; /* the step in progress, from 1, and the last one that can be */
  guint *counts; /* of srv_sched_new_blocks */
  guint under;   /* sequences below the window */
  double context, windowed;
  SrvDecodeLine line;
  double factor; /* of the band */
} SrvReplica;

typedef struct SrvSim SrvSim;

/* A request that has been answered. */
typedef struct {
  guint64 index;
  EngTime seen; /* its last token, by the user */
} SrvEnded;

/* A request between two pools. */
typedef struct {
  SrvSim *sim;
  SrvSeq *from, *to;    /* the second one has blocks of its own */
  guint source, target; /* replicas, of all */
  gboolean held;        /* blocks of the target */
  EngTime prefilled, started;
  EngFlowSpec flow;
  EngUse *uses; /* owned */
} SrvHandoff;

struct SrvSim {
  const SrvRunSpec *spec;
  SrvRunResult *out;
  SrvReplica *replicas; /* of the first pool, then of the decode pool */
  guint n_replicas;
  GPtrArray *handoffs; /* SrvHandoff *: just prefilled */
  GPtrArray *moving;   /* SrvHandoff *: all that exist */
  GPtrArray *landed;   /* SrvHandoff *: flows that have ended at this instant */
  GArray *uses;        /* EngUse, of the flow in hand */
  double pool_busy_ps[2], pool_kv_ps[2];
  double wait_ps, move_ps;
  EngQueue *queue;   /* ends of steps, by replica */
  SrvBatch *batches; /* of one step */
  GPtrArray *pool;   /* SrvSeq *, to use again */
  GArray *ended;     /* SrvEnded: requests that the source has not heard of yet */
  EngTime now;       /* end of the step in hand */
  EngTime arrival;   /* of the next request */
  EngTime horizon;   /* nothing from outside before it */
  SrvReplica *at;    /* whose step is in hand */
  /* Counted. */
  SrvSample *ttft, *tpot, *itl, *e2e;
  EngTime first_arrival, last_end; /* of counted requests */
  guint64 in_flight;
  double busy_ps, kv_ps, decode_steps, decoded;
  SrvSeq *watched;  /* in flight */
  SrvStepCost cost; /* of the last step, where something is watched */
};

/* ---- steps (step.c) ---- */

void srv_replica_init (SrvSim *sim, SrvReplica *replica, guint index);
void srv_replica_clear (SrvReplica *replica);
/* Begins a step at sim->now, where there is something to do and none is in progress. */
void srv_replica_begin (SrvSim *sim, SrvReplica *replica);
/* The step in progress ends at sim->now. FALSE: the next one, of the same kind, is in progress already. */
gboolean srv_replica_end (SrvSim *sim, SrvReplica *replica);

/* ---- from prefill to decode (fleet/handoff.c) ---- */

/* Its prompt is computed, in a step of sim->at. */
void srv_handoff_begin (SrvSim *sim, SrvSeq *seq);
/* Those that began find a decode replica, and transfers start for which blocks are free. */
gboolean srv_handoff_start (SrvSim *sim, GError **error);
/* Flows to sim->now. */
gboolean srv_handoff_land (SrvSim *sim, GError **error);
/* Sequences whose KV is there join; the replica is between steps. */
void srv_handoff_join (SrvReplica *replica);
void srv_handoff_clear (SrvSim *sim);

/* ---- counting (count.c) ---- */

/* A step from replica->start to replica->end has begun. */
void srv_count_step (SrvSim *sim, SrvReplica *replica);
/* When the user sees the next message of sim->at, whose step ends at sim->now: the front end sends one after the other. */
EngTime srv_count_send (SrvSim *sim);
/* SrvToken of a SrvSim. */
void srv_count_token (void *user, SrvSeq *seq, guint tokens);
/* Gaps of `n` sequences that all gave a token at the start and the end of a step. */
void srv_count_gaps (SrvSim *sim, EngTime gap, guint n);
void srv_count_finish (SrvSim *sim);

/* ---- one request taken apart (watch.c) ---- */

/* The step that has just been chosen, of sim->batches, belongs to the watched request's replica. */
void srv_watch_step (SrvSim *sim, const SrvReplica *replica);

#endif
