/* Communicators that cost the same whatever is asked of them, so that one of them answers for all. */
#include <string.h>

#include "comm-private.h"

typedef struct {
  double fact[14];
} Facts;

static Facts
facts_of (ColComm *comm)
{
  unsigned nvls, channels = col_comm_channels (comm, &nvls), rings = comm->rings != NULL ? comm->rings->n_rings + 1 : 0;
  const MdlLibrary *library = comm->settings->library;
  if (library != NULL && mdl_library_is_hierarchical (library))
    col_comm_hierarchy (comm);
  return (Facts){ { comm->n, comm->n_nodes, comm->n_islands, comm->max_local, comm->network_Bps, comm->torus_steps,
                    comm->torus_wire_s, comm->network_family, channels, nvls, rings, col_comm_is_switched (comm),
                    comm->hierarchy.Bps[0], comm->hierarchy.Bps[1] } };
}

/* Whether the library could take the network's reducing switches, whose room is of each communicator by itself. */
static gboolean
may_reduce (const ColComm *comm)
{
  gboolean may = comm->settings->collnet;
  for (int op = 0; op < MDL_OP_ALLTOALL && comm->tuner != NULL; op++)
    for (int i = 0; i < MDL_ALGO_NCCL_N * MDL_PROTO_N; i++)
      may = may || (col_needs_fabric_sharp (comm, (MdlAlgo)(i / MDL_PROTO_N)) &&
                    comm->tuner->cell[op][i / MDL_PROTO_N][i % MDL_PROTO_N].reason == NULL);
  return may && clu_fabric_has_sharp (comm->clu) && comm->n_islands > 1;
}

gboolean
col_comm_is_alike (ColComm *a, ColComm *b)
{
  const Facts x = facts_of (a), y = facts_of (b); /* makes tuners */
  return a->settings == b->settings && a->clu == b->clu && a->network == b->network &&
         clu_gpu_spec (a->clu, a->slow_node) == clu_gpu_spec (b->clu, b->slow_node) &&
         clu_node_spec (a->clu, a->slow_node) == clu_node_spec (b->clu, b->slow_node) && memcmp (&x, &y, sizeof x) == 0 &&
         memcmp (&a->intra, &b->intra, sizeof a->intra) == 0 && memcmp (&a->inter, &b->inter, sizeof a->inter) == 0 &&
         (a->tuner == NULL) == (b->tuner == NULL) && !may_reduce (a) && a->settings->cores <= 0 && !a->settings->one_core &&
         (a->tuner == NULL || memcmp (a->tuner->cell, b->tuner->cell, sizeof a->tuner->cell) == 0);
}

gboolean
col_comm_carries_alike (ColComm *a, ColComm *b, MdlOp op, MdlAlgo algo)
{
  const ColTraffic *x = col_comm_traffic (a, op, algo, 0, NULL), *y = col_comm_traffic (b, op, algo, 0, NULL);
  return x != NULL && y != NULL && memcmp (&x->spread->bounds.rate_Bps, &y->spread->bounds.rate_Bps, sizeof (double)) == 0;
}
