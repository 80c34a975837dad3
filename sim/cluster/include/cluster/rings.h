/* Rings over GPUs: in which orders a ring collective visits its ranks so that every link is used and none twice.
 *
 * Behind a switch any order serves and one ring (of the port's rate) is found. In a mesh (DGX-1, MI300X) the links are
 * decomposed into directed Hamiltonian cycles; each is a ring with the rate of the lanes it takes. Without scale-up links
 * the order follows the PCIe tree, so that each switch and socket link is crossed once each way. Between nodes, ring k enters and
 * leaves each node by NIC k: as many rings as usable NICs, each node's GPUs rotated to start beside NIC k (and, behind a switch, to
 * end at another GPU beside it). In a mesh whose links are all taken by such rings, ring k enters a node by NIC k and leaves it by
 * the NIC of its last GPU, and passes each second node the other way round, as RCCL's ring models do. */
#ifndef CLUSTER_RINGS_H
#define CLUSTER_RINGS_H

#include "cluster/route.h"

typedef struct {
  guint32 *order;     /* positions in `gpus`, n of them, in ring order */
  guint32 *nic_out;   /* by position in order: number in its node of the NIC by which order[i] leaves towards order[i+1]; CLU_NONE
                         inside a node or NVLink domain, and where the way is not over the NICs (management, front-end, gloo) */
  double share;       /* of the data; all rings sum to 1 */
  guint32 rail;       /* the NIC at one end of its path through every node, first in even nodes and last in odd ones; CLU_NONE where
                         all nodes are passed alike */
} CluRing;

typedef struct {
  guint32 n_rings, n;
  CluRing *ring;
} CluRings;

/* `gpus`: global GPU numbers, no repeats. FALSE and *error when two neighbours cannot reach each other. */
gboolean clu_rings_find (const Clu *clu, const guint32 *gpus, guint32 n, const CluDegrade *degrade, CluRings **out, GError **error);
void clu_rings_free (CluRings *rings);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CluRings, clu_rings_free)

/* Pure search, for tests: lanes[i * n + j] links from i to j (symmetric, n <= 16). Finds a largest set of directed Hamiltonian
 * cycles that together use no lane twice: the largest, or the best found within a fixed number of steps (a second at most); at
 * most 64. orders: room for max x n; each begins at 0. Returns how many were found (at most max; 0 for n < 2). */
guint32 clu_hamiltonian_rings (const guint32 *lanes, guint32 n, guint32 max, guint32 *orders);

#endif
