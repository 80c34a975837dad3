/* Links that give less than they have: other people's traffic on a cluster's fabric, an adapter that is slower than its like. */
#ifndef CLUSTER_BACKGROUND_H
#define CLUSTER_BACKGROUND_H

#include "cluster/cluster.h"

/* What became of it: shares of capacities, 0 to 1. */
typedef struct {
  guint32 n_links;   /* directions between switches that carry some; 0: the fabric has no such links, nothing is taken */
  double mean, most; /* over these; of the fullest */
  CluRes fullest;    /* CLU_NONE without any */
} CluBackground;

/* Takes a share of the capacity of the fabric's links away for good: clu_resource_capacity is what is left. `load`: mean share, 0
 * to 0.9; `seed` draws who sends to whom. The model stands in background.c. FALSE and *error when adapters cannot reach each
 * other. */
gboolean clu_background_set (Clu *clu, double load, guint64 seed, CluBackground *out, GError **error);

/* An adapter's port, both ways, at `rate_Bps` in place of the rate specified; what its link class reaches of a rate stays. After
 * clu_background_set. FALSE and *why (full), where there is no such adapter or it has not that rate. */
gboolean clu_nic_slow (Clu *clu, guint32 node, guint32 nic, double rate_Bps, char **why);

/* What a resource reaches without either. */
double clu_resource_whole_capacity (const Clu *clu, CluRes res);

#endif
