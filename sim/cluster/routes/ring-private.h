/* Orders inside an island, found without the cluster. Members are counted from 0. */
#ifndef CLUSTER_RING_PRIVATE_H
#define CLUSTER_RING_PRIVATE_H

#include "cluster/route.h"

enum {
  CLU_RING_MESH_MAX = 16, /* clu_hamiltonian_rings' limit */
  CLU_RING_MAX = 64       /* likewise */
};

/* An order inside an island, or several that share no lane. Members are counted from 0 in the island. */
typedef struct {
  guint32 n, n_orders;
  guint32 *order;     /* n_orders x n */
  guint32 *lanes;     /* by order: how many lanes it takes; shares are in proportion */
  gboolean by_switch; /* any order is as good */
  gboolean mesh;      /* cycles over links */
  gboolean paths;     /* order k begins at the k-th start and ends where another one begins; the cycle is not closed */
} CluRingOrders;
void clu_ring_orders_free (gpointer orders);
guint32 clu_ring_lanes (const CluRingOrders *orders); /* of all */

/* All return: full. */
CluRingOrders *clu_ring_in_rank_order (guint32 n);
/* By the path classes between each two, n x n. */
CluRingOrders *clu_ring_nearest (const guint8 *path_class, guint32 n);
/* Lanes as whole numbers: as they are where they are whole, else in units of the thinnest (18 lanes over 7 neighbours). */
void clu_ring_count_lanes (const double *lanes, guint32 n, guint32 *count);
/* NULL when the links among the members bear no ring. */
CluRingOrders *clu_ring_mesh (const guint32 *count, guint32 n);
/* Paths through all members that share no link, one a start; NULL: there are not as many. */
CluRingOrders *clu_ring_paths (const guint32 *count, guint32 n, const guint32 *starts, guint32 n_starts);

#endif
