/* What an operation puts on the links of a cluster, nodes that are alike told once.
 *
 * Nodes of one colour whose links carry the same, link by link, are one kind; of each node stands only which kind it is. What lies
 * between nodes is told resource by resource. Nothing is assumed to be alike: a spread is made of loads that were added up one by
 * one, and equal means equal to the last bit. */
#ifndef WORKLOAD_SPREAD_PRIVATE_H
#define WORKLOAD_SPREAD_PRIVATE_H

#include "ground-private.h"

/* `res` counts from the node's first resource. */
typedef struct {
  guint32 colour;
  guint32 first_node, n_nodes;
  GArray *rows; /* WrkLoad, ascending */
} WrkNodeKind;

typedef struct {
  guint32 node, kind;
} WrkNodeOf;

/* Of all resources together: what the links allow (bytes of size_B a second, before the protocol's wire factor), the first that
 * binds, the most that one direction of a link carries a byte, and the weakest source. */
typedef struct {
  double rate_Bps, most;
  CluRes bottleneck;
  BaseSource source;
} WrkSpreadBounds;

struct WrkSpread {
  gint n_refs;
  const Clu *clu;
  GPtrArray *kinds; /* WrkNodeKind */
  GArray *nodes;    /* WrkNodeOf, ascending */
  GArray *outside;  /* WrkLoad, ascending */
  WrkSpreadBounds bounds;
};

WrkSpread *wrk_spread_ref (WrkSpread *spread);
void wrk_spread_unref (WrkSpread *spread);
/* WrkLoad of each resource, ascending; of those that are alike and carry the same, one. Returned: full. */
GArray *wrk_spread_loads (const WrkSpread *spread);
GArray *wrk_spread_alike (const WrkSpread *spread);
/* What is in the ground's scratch, which is cleared. One reference. */
WrkSpread *wrk_spread_take (WrkGround *ground, const Clu *clu);
/* The same loads of nodes `by` further on, added to the scratch; whatever lies between nodes is not moved. */
void wrk_spread_add (const WrkSpread *spread, gint64 by, WrkScratch *scratch);

#endif
