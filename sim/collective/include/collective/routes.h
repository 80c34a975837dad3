/* What the communicators of one cluster share: the ways between ranks, found once for all that are alike, scratch space for
 * loads, and the fabric's switches as reduction trees see them.
 *
 * A site is what decides a rank's routes: its node's colour (its kind, or the node itself where something is taken from its
 * links), its GPU's place in the node, and the switches that the node is attached to. A way is a route from site to site: what it
 * uses inside the two nodes counts from their first resources, so that 100,000 ranks on equal nodes have the ways of a few. Where a
 * route also depends on what a site does not tell (hashed or numbered cables between switches) it is looked for each time. */
#ifndef COLLECTIVE_ROUTES_H
#define COLLECTIVE_ROUTES_H

#include "base/append.h"
#include "collective/comm.h"

typedef enum { COL_END_FROM, COL_END_TO, COL_END_OUTSIDE } ColEnd;

typedef struct {
  guint32 res; /* from the first resource of that end's node on; outside: the resource */
  ColEnd end;
  double share;
  double factor; /* what of its capacity this kind of copy reaches */
} ColRouteUse;

typedef struct {
  MdlHop hop;
  CluPathClass path; /* over a network: of the rank to its adapter */
  double latency_s;
  double rate_Bps; /* what col_routes_rate says, of a way that is kept; 0: ask */
  guint32 n_uses;
  ColRouteUse *use;
} ColRoute;

typedef struct ColRoutes ColRoutes;

/* Borrows both. Of `settings` those that decide routes are meant: degrade, library, no_shm. One reference. */
ColRoutes *col_routes_new (const Clu *clu, const ColSettings *settings);
ColRoutes *col_routes_ref (ColRoutes *routes);
void col_routes_unref (ColRoutes *routes);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (ColRoutes, col_routes_unref)

/* A rank of a communicator as ways see it. */
typedef struct {
  guint32 site, node;
  CluRes first; /* of its node */
  CluDev dev;
  guint32 gpu;
} ColRankPlace;
ColRankPlace col_routes_place (ColRoutes *routes, guint32 gpu);
/* The colour of a node: equal ones have equal links. */
guint32 col_routes_colour (const ColRoutes *routes, guint32 node);

/* The way from one to another by adapter `nic` (as in CluRouteOptions). Valid until the next call. NULL and *error where there is
 * none. */
const ColRoute *col_routes_find (ColRoutes *routes, const ColRankPlace *from, const ColRankPlace *to, guint32 nic, GError **error);
/* The same without keeping it, for a single use; *alike: whether it is that of all ranks on these sites that are as near. */
const ColRoute *col_routes_find_once (ColRoutes *routes, const ColRankPlace *from, const ColRankPlace *to, guint32 nic,
                                      gboolean *alike, GError **error);
/* What a way reaches alone, with the copy factor; infinity without uses. */
double col_routes_rate (const ColRoutes *routes, const ColRoute *way, const ColRankPlace *from, const ColRankPlace *to);
static inline CluRes
col_route_res (const ColRouteUse *use, const ColRankPlace *from, const ColRankPlace *to)
{
  return use->res + (use->end == COL_END_FROM ? from->first : use->end == COL_END_TO ? to->first : 0);
}

/* Scratch loads: per resource, zero between uses. */
typedef struct {
  double load, effort; /* bytes, and those at full capacity that take as long; side by side: they are always read together */
} ColLoadSum;
typedef struct {
  ColLoadSum *sum;
  GArray *touched; /* CluRes with load, each once … */
  guint room;      /* … and the room for them, as of base_append() */
} ColScratch;
ColScratch *col_routes_scratch (ColRoutes *routes);
static inline void
col_scratch_put (ColScratch *scratch, CluRes res, double bytes, double effort_B)
{
  ColLoadSum *sum = &scratch->sum[res];
  if (bytes <= 0)
    return;
  if (sum->load <= 0)
    *(CluRes *)base_append (scratch->touched, &scratch->room, sizeof res) = res;
  sum->load += bytes;
  sum->effort += effort_B;
}
/* `bytes` on a resource that reaches `factor` of its capacity. */
static inline void
col_scratch_add (ColScratch *scratch, CluRes res, double bytes, double factor)
{
  col_scratch_put (scratch, res, bytes, bytes / factor);
}
/* Resources with load in ascending order; then col_scratch_clear. */
void col_scratch_sort (ColScratch *scratch);
void col_scratch_clear (ColScratch *scratch);

/* Cables to other switches, and whether other things hang below, by device; made when first asked. */
typedef struct {
  guint32 cables;
  gboolean leaf;
} ColSwitch;
const ColSwitch *col_routes_switches (ColRoutes *routes);
/* The first device that is no node's: no switch of the fabric comes before it. */
CluDev col_routes_first_switch (const ColRoutes *routes);

/* What of a resource's capacity a copy over this transport reaches. */
double col_routes_copy_factor (const ColRoutes *routes, CluTransport transport, CluRes res);

/* As col_comm_new, on ground that several share; `settings` agree with the ground's in what decides routes. */
ColComm *col_comm_new_on (ColRoutes *routes, const Clu *clu, const ColSettings *settings, const guint32 *gpus, guint32 n,
                          GError **error);

#endif
