/* What the communicators of one cluster share: the ways between ranks, found once for all that are alike, scratch space for
 * loads, and the fabric's switches as reduction trees see them.
 *
 * A site is what decides a rank's routes: its node's colour (its kind, or the node itself where something is taken from its
 * links), its GPU's place in the node, and the switches that the node hangs on. A way is a route from site to site: what it uses
 * inside the two nodes counts from their first resources, so that 100,000 ranks on equal nodes have the ways of a few. Where a
 * route also depends on what a site does not tell (hashed or numbered cables between switches) it is looked for each time. */
#ifndef WORKLOAD_GROUND_PRIVATE_H
#define WORKLOAD_GROUND_PRIVATE_H

#include "workload/comm.h"

typedef enum { WRK_END_FROM, WRK_END_TO, WRK_END_OUTSIDE } WrkEnd;

typedef struct {
  guint32 res;   /* from the first resource of that end's node on; outside: the resource */
  WrkEnd end;
  double share;
  double factor; /* what of its capacity this kind of copy reaches */
} WrkWayUse;

typedef struct {
  MdlHop hop;
  CluPathClass path; /* over a network: of the rank to its adapter */
  double latency_s;
  double rate_Bps;   /* what wrk_ground_rate says, of a way that is kept; 0: ask */
  guint32 n_uses;
  WrkWayUse *use;
} WrkWay;

typedef struct WrkGround WrkGround;

/* Borrows both. Of `settings` those that decide routes are meant: degrade, library, no_shm. One reference. */
WrkGround *wrk_ground_new (const Clu *clu, const WrkSettings *settings);
WrkGround *wrk_ground_ref (WrkGround *ground);
void wrk_ground_unref (WrkGround *ground);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (WrkGround, wrk_ground_unref)

/* A rank of a communicator as ways see it. */
typedef struct {
  guint32 site, node;
  CluRes first; /* of its node */
  CluDev dev;
  guint32 gpu;
} WrkStand;
WrkStand wrk_ground_stand (WrkGround *ground, guint32 gpu);
/* The colour of a node: equal ones have equal links. */
guint32 wrk_ground_colour (const WrkGround *ground, guint32 node);

/* The way from one to another by adapter `nic` (as in CluRouteOptions). Valid until the next call. NULL and *error where there is
 * none. */
const WrkWay *wrk_ground_way (WrkGround *ground, const WrkStand *from, const WrkStand *to, guint32 nic, GError **error);
/* The same without keeping it, for who asks once; *alike: whether it is that of all ranks on these sites that are as near. */
const WrkWay *wrk_ground_look (WrkGround *ground, const WrkStand *from, const WrkStand *to, guint32 nic, gboolean *alike,
                               GError **error);
/* What a way reaches alone, with the copy factor; infinity without uses. */
double wrk_ground_rate (const WrkGround *ground, const WrkWay *way, const WrkStand *from, const WrkStand *to);
static inline CluRes
wrk_way_res (const WrkWayUse *use, const WrkStand *from, const WrkStand *to)
{
  return use->res + (use->end == WRK_END_FROM ? from->first : use->end == WRK_END_TO ? to->first : 0);
}

/* Scratch loads: per resource, zero between uses. */
typedef struct {
  double load, effort; /* bytes, and those at full capacity that take as long; side by side: they are always read together */
} WrkSum;
typedef struct {
  WrkSum *sum;
  GArray *touched; /* CluRes with load, each once */
} WrkScratch;
WrkScratch *wrk_ground_scratch (WrkGround *ground);
static inline void
wrk_scratch_put (WrkScratch *scratch, CluRes res, double bytes, double effort_B)
{
  WrkSum *sum = &scratch->sum[res];
  if (bytes <= 0)
    return;
  if (sum->load <= 0)
    g_array_append_val (scratch->touched, res);
  sum->load += bytes;
  sum->effort += effort_B;
}
/* `bytes` on a resource that reaches `factor` of its capacity. */
static inline void
wrk_scratch_add (WrkScratch *scratch, CluRes res, double bytes, double factor)
{
  wrk_scratch_put (scratch, res, bytes, bytes / factor);
}
/* Resources with load in ascending order; then wrk_scratch_clear. */
void wrk_scratch_sort (WrkScratch *scratch);
void wrk_scratch_clear (WrkScratch *scratch);

/* Cables to other switches, and whether other things hang below, by device; made when first asked. */
typedef struct {
  guint32 cables;
  gboolean leaf;
} WrkSwitch;
const WrkSwitch *wrk_ground_switches (WrkGround *ground);
/* The first device that is no node's: no switch of the fabric comes before it. */
CluDev wrk_ground_first_switch (const WrkGround *ground);

/* What of a resource's capacity a copy over this transport reaches. */
double wrk_ground_copy_factor (const WrkGround *ground, CluTransport transport, CluRes res);

#endif
