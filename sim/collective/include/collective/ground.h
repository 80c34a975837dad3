/* What the communicators of one cluster share: the ways between ranks, found once for all that are alike, scratch space for
 * loads, and the fabric's switches as reduction trees see them.
 *
 * A site is what decides a rank's routes: its node's colour (its kind, or the node itself where something is taken from its
 * links), its GPU's place in the node, and the switches that the node hangs on. A way is a route from site to site: what it uses
 * inside the two nodes counts from their first resources, so that 100,000 ranks on equal nodes have the ways of a few. Where a
 * route also depends on what a site does not tell (hashed or numbered cables between switches) it is looked for each time. */
#ifndef COLLECTIVE_GROUND_H
#define COLLECTIVE_GROUND_H

#include "collective/comm.h"

typedef enum { COL_END_FROM, COL_END_TO, COL_END_OUTSIDE } ColEnd;

typedef struct {
  guint32 res; /* from the first resource of that end's node on; outside: the resource */
  ColEnd end;
  double share;
  double factor; /* what of its capacity this kind of copy reaches */
} ColWayUse;

typedef struct {
  MdlHop hop;
  CluPathClass path; /* over a network: of the rank to its adapter */
  double latency_s;
  double rate_Bps; /* what col_ground_rate says, of a way that is kept; 0: ask */
  guint32 n_uses;
  ColWayUse *use;
} ColWay;

typedef struct ColGround ColGround;

/* Borrows both. Of `settings` those that decide routes are meant: degrade, library, no_shm. One reference. */
ColGround *col_ground_new (const Clu *clu, const ColSettings *settings);
ColGround *col_ground_ref (ColGround *ground);
void col_ground_unref (ColGround *ground);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (ColGround, col_ground_unref)

/* A rank of a communicator as ways see it. */
typedef struct {
  guint32 site, node;
  CluRes first; /* of its node */
  CluDev dev;
  guint32 gpu;
} ColStand;
ColStand col_ground_stand (ColGround *ground, guint32 gpu);
/* The colour of a node: equal ones have equal links. */
guint32 col_ground_colour (const ColGround *ground, guint32 node);

/* The way from one to another by adapter `nic` (as in CluRouteOptions). Valid until the next call. NULL and *error where there is
 * none. */
const ColWay *col_ground_way (ColGround *ground, const ColStand *from, const ColStand *to, guint32 nic, GError **error);
/* The same without keeping it, for who asks once; *alike: whether it is that of all ranks on these sites that are as near. */
const ColWay *col_ground_look (ColGround *ground, const ColStand *from, const ColStand *to, guint32 nic, gboolean *alike,
                               GError **error);
/* What a way reaches alone, with the copy factor; infinity without uses. */
double col_ground_rate (const ColGround *ground, const ColWay *way, const ColStand *from, const ColStand *to);
static inline CluRes
col_way_res (const ColWayUse *use, const ColStand *from, const ColStand *to)
{
  return use->res + (use->end == COL_END_FROM ? from->first : use->end == COL_END_TO ? to->first : 0);
}

/* Scratch loads: per resource, zero between uses. */
typedef struct {
  double load, effort; /* bytes, and those at full capacity that take as long; side by side: they are always read together */
} ColSum;
typedef struct {
  ColSum *sum;
  GArray *touched; /* CluRes with load, each once */
} ColScratch;
ColScratch *col_ground_scratch (ColGround *ground);
static inline void
col_scratch_put (ColScratch *scratch, CluRes res, double bytes, double effort_B)
{
  ColSum *sum = &scratch->sum[res];
  if (bytes <= 0)
    return;
  if (sum->load <= 0)
    g_array_append_val (scratch->touched, res);
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
const ColSwitch *col_ground_switches (ColGround *ground);
/* The first device that is no node's: no switch of the fabric comes before it. */
CluDev col_ground_first_switch (const ColGround *ground);

/* What of a resource's capacity a copy over this transport reaches. */
double col_ground_copy_factor (const ColGround *ground, CluTransport transport, CluRes res);

/* As col_comm_new, on ground that several share; `settings` agree with the ground's in what decides routes. */
ColComm *col_comm_new_on (ColGround *ground, const Clu *clu, const ColSettings *settings, const guint32 *gpus, guint32 n,
                          GError **error);

#endif
