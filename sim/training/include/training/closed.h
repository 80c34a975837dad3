/* A training step of a model in closed form, for many configurations: what a plan compares before the engine runs the best few. */
#ifndef TRAINING_CLOSED_H
#define TRAINING_CLOSED_H

#include "training/training.h"

typedef enum { TRN_RECOMPUTE_NONE, TRN_RECOMPUTE_SELECTIVE, TRN_RECOMPUTE_FULL, TRN_RECOMPUTE_N } TrnRecompute;
extern const BaseName trn_recompute_names[]; /* as `recompute:` of a job */

/* One configuration. Counts are at least 1, but for zero: 0 to 3. */
typedef struct {
  guint32 tp, cp, pp, vp, ep, dp;
  guint32 zero;
  guint32 micro_batch;   /* sequences of a pass */
  guint32 micro_batches; /* of a replica and step */
  MdlSchedule schedule;
  TrnRecompute recompute;
  gboolean sp;
} TrnClosedQuery;

/* What it comes to; parts as in TrnResult, of the stage that ends last, and sum to the step. */
typedef struct {
  double step_time_s, step_time_lo_s, step_time_hi_s;
  double wire_band; /* half-width of the band of its widest communication */
  double part_s[TRN_PART_N];
  guint32 stage, n_ranks;
  double tokens;               /* of a step */
  double mfu;                  /* over the dense peak of the compute format */
  double memory_B, capacity_B; /* of the fullest stage; capacity 0: not known */
  double restore_B;            /* that all ranks hold of parameters and optimizer */
  guint32 fullest;
  gboolean fits;
  BaseSource provenance;
} TrnClosedStep;

typedef struct TrnClosed TrnClosed;

/* `job` is borrowed: a training workload with a model, whose own cut is what a TrnClosedQuery replaces; all else is its. NULL
 * and *error where it has what the closed form leaves out: several jobs, a loader whose reads vary or that stages, checkpoints to a
 * tier, replicas of one process, a layout of its own. Returned: full. Not to be used by two threads at once. */
TrnClosed *trn_closed_new (const TrnJob *job, GError **error);
void trn_closed_free (TrnClosed *closed);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TrnClosed, trn_closed_free)

/* What closed forms of several scenarios have in common: orders of turns of their pipelines, and what those keep in memory, found
 * again by all that it depends on, whatever machine or model it was asked for. At most some 50 MB. Returned: full. */
typedef struct TrnClosedPool TrnClosedPool;
TrnClosedPool *trn_closed_pool_new (void);
void trn_closed_pool_free (TrnClosedPool *pool);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TrnClosedPool, trn_closed_pool_free)
/* From now on `closed` remembers this there, and not for itself. `pool` is borrowed, outlives it, and belongs to one thread at a
 * time, with all that share it. The answers are the same, to the last bit. */
void trn_closed_share (TrnClosed *closed, TrnClosedPool *pool);

/* From now on what cuts are made of is kept. Where all of it takes the same as on the cluster of `before`, whose nodes, GPUs and
 * job are equal and which differs by NICs and fabric alone, the cut is that of `before`, to the last bit. `before`: borrowed,
 * outlives it; NULL: none yet. Before anything is asked, behind trn_closed_skip_unfit(). With a loader, slow parts or a placement:
 * nothing. */
void trn_closed_follow (TrnClosed *closed, TrnClosed *before);

/* For a search: of what does not fit into memory, or takes more of it than `share` (0 to 1), only that is said from now on, and its
 * times are 0. */
void trn_closed_skip_unfit (TrnClosed *closed, double share);

/* FALSE and *error where the configuration cannot be: what does not divide, or needs more GPUs than there are. One that does not
 * fit into memory is answered. What was asked before in part (the same cut of a layer, the same group of ranks, the same pipeline)
 * is remembered. */
gboolean trn_closed_step (TrnClosed *closed, const TrnClosedQuery *query, TrnClosedStep *out, GError **error);
/* Which part of the job's loader holds up a step that takes step_s without it: "storage", "workers" …, static; NULL: none, or there
 * is no loader. */
const char *trn_closed_starved_by (const TrnJob *job, const TrnClosedQuery *query, double step_s);
/* The cut that the job itself has. */
gboolean trn_closed_own (const TrnClosed *closed, TrnClosedQuery *query, GError **error);

#endif
