/* How large a training scenario is, and the same on other numbers of nodes, with other batches and another network. */
#ifndef TRAINING_SCALE_H
#define TRAINING_SCALE_H

#include "training/training.h"

typedef struct {
  gboolean has_model; /* a batch counts sequences; of layers with given times, micro-batches of all replicas */
  guint32 nodes, gpus_per_node;
  guint32 replica; /* GPUs of one: tp x cp x pp */
  guint32 pp;
  gboolean each_pass; /* data parallelism sends in every micro-batch, not once a step: sharded parameters, or gradients */
  guint32 settled;    /* micro-batches of a replica from which on, in closed form, a step is a line in whole rounds of the
                           pipeline; 0: it is not known to be */
  double pass;        /* what a micro-batch counts: sequences, or 1 */
  double batch;       /* of a step, all replicas together */
  guint32 adapters;   /* of a node; 0: none */
  double adapter_Bps; /* of one, one way, as specified */
  gboolean fixed_dp, fixed_passes; /* the scenario gives dp, and `accumulate`, which nodes and batches would contradict */
} TrnScale;

/* FALSE and *error (BASE_ERROR_INPUT, at `mark`) where there is no step (`job` NULL), or its nodes differ. */
gboolean trn_scale (const TrnJob *job, BaseMark mark, TrnScale *out, GError **error);

/* Replicas on so many nodes; 0: they do not divide. */
double trn_scale_replicas (const TrnScale *scale, guint32 nodes);
/* Micro-batches of a replica; 0: the batch does not divide. */
double trn_scale_passes (const TrnScale *scale, guint32 nodes, double batch);
/* Appends to `sets` what makes the scenario run so ("cluster.nodes=4", char *, owned by it). rate_Bps: of an adapter. FALSE and
 * *error where nodes or batch do not divide: says what would. */
gboolean trn_scale_sets (const TrnScale *scale, guint32 nodes, double batch, double rate_Bps, GPtrArray *sets, GError **error);

#endif
