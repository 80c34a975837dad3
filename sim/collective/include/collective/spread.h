/* What an operation puts on the links of a cluster, nodes that are alike told once.
 *
 * Nodes of one colour whose links carry the same, link by link, are one kind; of each node stands only which kind it is. What lies
 * between nodes is listed resource by resource. Nothing is assumed to be alike: a spread is made of loads that were added up one by
 * one, and equal means equal to the last bit. */
#ifndef COLLECTIVE_SPREAD_H
#define COLLECTIVE_SPREAD_H

#include "collective/routes.h"

/* `res` counts from the node's first resource. */
typedef struct {
  guint32 colour;
  guint32 first_node, n_nodes;
  GArray *rows; /* ColLoad, ascending */
} ColNodeKind;

typedef struct {
  guint32 node, kind;
} ColNodeOf;

/* Of all resources together: what the links allow (bytes of size_B a second, before the protocol's wire factor), the first that
 * binds, the most that one direction of a link carries a byte, and the weakest source. */
typedef struct {
  double rate_Bps, most;
  CluRes bottleneck;
  BaseSource source;
} ColSpreadBounds;

struct ColSpread {
  gint n_refs;
  const Clu *clu;
  GPtrArray *kinds; /* ColNodeKind */
  GArray *nodes;    /* ColNodeOf, ascending */
  GArray *outside;  /* ColLoad, ascending */
  ColSpreadBounds bounds;
};

ColSpread *col_spread_ref (ColSpread *spread);
void col_spread_unref (ColSpread *spread);
/* ColLoad of each resource, ascending; of those that are alike and carry the same, one. Returned: full. */
GArray *col_spread_loads (const ColSpread *spread);
GArray *col_spread_alike (const ColSpread *spread);
/* What is in the ground's scratch, which is cleared. One reference. */
ColSpread *col_spread_take (ColRoutes *routes, const Clu *clu);
/* The same loads of nodes `by` further on, added to the scratch; whatever lies between nodes is not moved. */
void col_spread_add (const ColSpread *spread, gint64 by, ColScratch *scratch);

#endif
