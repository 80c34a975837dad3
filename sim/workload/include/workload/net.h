/* A cluster's resources as links of an engine, made when first used: a run pays for the links it touches. */
#ifndef WORKLOAD_NET_H
#define WORKLOAD_NET_H

#include "engine/flow.h"
#include "workload/system.h"

G_BEGIN_DECLS

typedef struct WrkNet WrkNet;

WrkNet *wrk_net_new (const Clu *clu);
void wrk_net_free (WrkNet *net);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (WrkNet, wrk_net_free)

Eng *wrk_net_engine (WrkNet *net);
EngLink wrk_net_link (WrkNet *net, CluRes res);
/* What is shared but is no resource of the cluster. */
typedef enum {
  WRK_NET_CORES,    /* of a node: cores */
  WRK_NET_DECODERS, /* of a GPU: B/s */
  WRK_NET_TIER      /* the servers of a tier, or a node's drives: seconds a second */
} WrkNetOther;
/* The link of what has this number (node, device), the same for all who ask; `capacity` counts the first time. */
EngLink wrk_net_other (WrkNet *net, WrkNetOther kind, guint32 number, double capacity);
/* Resources in use, in the order of first use. */
const GArray *wrk_net_resources (const WrkNet *net);

/* Counts bytes on a resource for the report, whatever the fidelity; `factor`: what of its capacity this kind of copy reaches; `n`:
 * resources that it stands for, the same at each call. */
void wrk_net_count (WrkNet *net, CluRes res, double bytes, double factor, guint32 n);
/* What was counted on resource `i` of those: bytes, and as a part of its capacity, B. */
typedef struct {
  double bytes, effort_B;
  guint32 n;
} WrkNetCount;
WrkNetCount wrk_net_counted (const WrkNet *net, guint32 i);

/* A priced operation that loads its coll->alike: counts `times` of it, and fills `spec` (and `uses`, which it points into) with the
 * one activity that it is. What shares links with others is to be priced with no_fold. */
void wrk_net_count_coll (WrkNet *net, const WrkColl *coll, double times);
void wrk_net_coll_flow (WrkNet *net, const WrkColl *coll, GArray *uses, EngFlowSpec *spec);

/* Adds what was counted on the network over `time_s` to info->links, by class, sorted by utilisation (the fullest first). */
void wrk_run_add_links (WrkRunInfo *info, const Clu *clu, const WrkNet *net, double time_s);

G_END_DECLS

#endif
