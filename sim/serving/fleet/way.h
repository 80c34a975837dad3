/* Copies of several GPUs that move in step, as one activity of the flow network. */
#ifndef SERVING_FLEET_WAY_H
#define SERVING_FLEET_WAY_H

#include "collective/net.h"
#include "storage/copies.h"

typedef struct {
  CluRes res;
  double weight;     /* of a byte of the whole */
  double capacity_s; /* units a second */
} SrvWayUse;

/* What a byte of a sequence does on its way. */
typedef struct {
  GArray *uses; /* SrvWayUse */
  double bound_Bps, latency_s;
  double whole;   /* bytes that move, of those without copies */
  double layers;  /* of the GPU that sends most */
  guint pairs[2]; /* GPUs that the first GPU of either side talks to */
} SrvWay;

SrvWay *srv_way_new (void);
void srv_way_free (gpointer way);
/* One GPU's part of each byte, over `copies` (one pair; several: drives that it is striped over), whose size_B is that of the
 * part. */
gboolean srv_way_add (SrvWay *way, const ColSystem *system, const StoCopies *copies, double part, GError **error);
/* Fills `spec` for bytes_B over the links of `net`, and `uses`, which it points into. No faster than `work_s`. */
void srv_way_flow (const SrvWay *way, ColNet *net, double bytes_B, double start_s, double work_s, GArray *uses, EngFlowSpec *spec);

/* Its slowest link, or what else bounds it. Returned: full. */
char *srv_way_slowest (const SrvWay *way, const Clu *clu);
double srv_way_alone_Bps (const SrvWay *way);               /* of bytes_B above, when nothing else moves */
double srv_way_alone_s (const SrvWay *way, double bytes_B); /* when nothing else moves */

#endif
