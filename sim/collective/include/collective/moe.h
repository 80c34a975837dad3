/* Dispatch and combine of experts on the ranks of a communicator. */
#ifndef COLLECTIVE_MOE_H
#define COLLECTIVE_MOE_H

#include "collective/comm.h"
#include "models/moe.h"

typedef struct {
  MdlMoeOp op;
  MdlMoeBackend backend;
  MdlMoeRouting routing;
  double tokens, hidden, experts, top_k; /* tokens of one rank */
  double groups, top_groups;             /* 0: no limit */
  double imbalance;                      /* at least 1 */
  MdlFormat format;
  double sms; /* 0: the library's default */
} ColMoeRequest;

typedef struct {
  ColMoeRequest request;
  guint32 n_ranks, n_nodes; /* nodes: NVLink domains */
  MdlMoeCost cost;
  double time_s, time_lo_s, time_hi_s;
  double nvlink_Bps, nic_Bps; /* data sheet, of a GPU, one way */
} ColMoeAnswer;

/* Whether the request is possible and the library can run on these ranks: FALSE, *key and *error as from col_moe_price, which asks
 * this first. */
gboolean col_moe_check (const ColComm *comm, const ColMoeRequest *request, const char **key, GError **error);

/* The closed form on these ranks. FALSE and *error (BASE_ERROR_INPUT: what is wrong, and what to write instead) where the request
 * is not possible or the library cannot run here; *key is then the key of a scenario that is wrong (static). The fullest rank of
 * drawn routing counts where it is fuller than `imbalance`. */
gboolean col_moe_price (ColComm *comm, const ColMoeRequest *request, ColMoeAnswer *out, const char **key, GError **error);

#endif
