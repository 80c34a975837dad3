/* Communicators that cost the same whatever is asked of them, so that one of them answers for all. */
#include "comm-private.h"

#include "base/hash.h"

static gboolean
same (double a, double b)
{
  return base_double_bits (a) == base_double_bits (b);
}

static gboolean
same_hops (const ColHopSurvey *a, const ColHopSurvey *b)
{
  return a->used == b->used && a->hop == b->hop && a->path == b->path && same (a->latency_s, b->latency_s) &&
         same (a->rate_Bps, b->rate_Bps);
}

static gboolean
same_tuner (const MdlTuner *a, const MdlTuner *b)
{
  if (a == NULL || b == NULL)
    return a == b;
  for (int op = 0; op < MDL_OP_ALLTOALL; op++)
    for (int algo = 0; algo < MDL_ALGO_NCCL_N; algo++)
      for (int proto = 0; proto < MDL_PROTO_N; proto++) {
        const MdlTunerCell *x = &a->cell[op][algo][proto], *y = &b->cell[op][algo][proto];
        if (!same (x->latency_s, y->latency_s) || !same (x->rate_Bps, y->rate_Bps) || x->reason != y->reason)
          return FALSE;
      }
  return TRUE;
}

/* Whether the library could take the network's reducing switches, whose room is of each communicator by itself. */
static gboolean
may_reduce (const ColComm *comm)
{
  static const MdlAlgo algos[] = { MDL_ALGO_NVLS, MDL_ALGO_COLLNET_DIRECT, MDL_ALGO_COLLNET_CHAIN };
  gboolean may = comm->settings->collnet;
  for (int op = 0; op < MDL_OP_ALLTOALL && comm->tuner != NULL; op++)
    for (guint i = 0; i < G_N_ELEMENTS (algos); i++)
      for (int proto = 0; proto < MDL_PROTO_N; proto++)
        may = may || comm->tuner->cell[op][algos[i]][proto].reason == NULL;
  return may && clu_fabric_has_sharp (comm->clu) && comm->n_islands > 1;
}

gboolean
col_comm_is_alike (ColComm *a, ColComm *b)
{
  unsigned nvls[2];
  const CluGpuSpec *x = clu_gpu_spec (a->clu, a->slow_node), *y = clu_gpu_spec (b->clu, b->slow_node);
  if (a->settings != b->settings || a->clu != b->clu)
    return FALSE;
  return a->n == b->n && a->n_nodes == b->n_nodes && a->n_islands == b->n_islands && a->max_local == b->max_local && x == y &&
         clu_node_spec (a->clu, a->slow_node) == clu_node_spec (b->clu, b->slow_node) && same_hops (&a->intra, &b->intra) &&
         same_hops (&a->inter, &b->inter) && same (a->network_Bps, b->network_Bps) && a->network == b->network &&
         a->network_family == b->network_family && a->torus_steps == b->torus_steps && same (a->torus_wire_s, b->torus_wire_s) &&
         (a->rings == NULL) == (b->rings == NULL) && (a->rings == NULL || a->rings->n_rings == b->rings->n_rings) &&
         col_comm_is_switched (a) == col_comm_is_switched (b) && col_comm_channels (a, &nvls[0]) == col_comm_channels (b, &nvls[1]) &&
         nvls[0] == nvls[1] && same_tuner (a->tuner, b->tuner) && !may_reduce (a);
}

gboolean
col_comm_carries_alike (ColComm *a, ColComm *b, MdlOp op, MdlAlgo algo)
{
  const ColTraffic *x = col_comm_traffic (a, op, algo, 0, NULL), *y = x != NULL ? col_comm_traffic (b, op, algo, 0, NULL) : NULL;
  return y != NULL && same (x->spread->bounds.rate_Bps, y->spread->bounds.rate_Bps) && same (x->node_load, y->node_load);
}
