/* A cluster's resources as links of an engine, made when first used: a run pays for the links it touches. */
#ifndef COLLECTIVE_NET_H
#define COLLECTIVE_NET_H

#include "collective/system.h"
#include "engine/flow.h"

typedef struct ColNet ColNet;

ColNet *col_net_new (const Clu *clu);
void col_net_free (ColNet *net);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (ColNet, col_net_free)

Eng *col_net_engine (ColNet *net);
EngLink col_net_link (ColNet *net, CluRes res);
/* What is shared but is no resource of the cluster. */
typedef enum {
  COL_NET_CORES,    /* of a node: cores */
  COL_NET_DECODERS, /* of a GPU: B/s */
  COL_NET_TIER      /* the servers of a tier, or a node's drives: seconds a second */
} ColNetOther;
/* The link of what has this number (node, device), the same for all who ask; `capacity` counts the first time. */
EngLink col_net_other (ColNet *net, ColNetOther kind, guint32 number, double capacity);
/* Resources in use, in the order of first use. */
const GArray *col_net_resources (const ColNet *net);

/* Counts bytes on a resource for the report, whatever the fidelity; `factor`: what of its capacity this kind of copy reaches; `n`:
 * resources that it stands for, the same at each call. */
void col_net_count (ColNet *net, CluRes res, double bytes, double factor, guint32 n);
/* What was counted on resource `i` of those: bytes, and as a part of its capacity, B. */
typedef struct {
  double bytes, effort_B;
  guint32 n;
} ColNetCount;
ColNetCount col_net_counted (const ColNet *net, guint32 i);

/* A priced operation that loads its coll->alike: counts `times` of it, and fills `spec` (and `uses`, which it points into) with the
 * one activity that it is. What shares links with others is to be priced with no_fold. */
void col_net_count_coll (ColNet *net, const ColAnswer *coll, double times);
void col_net_coll_flow (ColNet *net, const ColAnswer *coll, GArray *uses, EngFlowSpec *spec);

/* Bytes/s of an operation that nothing else disturbs and that takes time_s for size_B: the pace that kernels beside it slow, also
 * where links alone limit it. Without a time beyond its latency: its own bound. */
double col_net_pace_Bps (const MdlCollCost *cost, double size_B, double time_s);

/* A priced operation message by message, on a network that others may use beside it (`shared`; price it with no_fold then). `comm`,
 * `coll` and `net` are borrowed and must outlive it. NULL and *error where ranks cannot reach each other, or it needs too much
 * memory. Algorithms without messages are none of its (col_algo_has_messages). Returned: full. */
typedef struct ColExact ColExact;
ColExact *col_exact_new (ColComm *comm, const ColAnswer *coll, guint32 root, ColNet *net, gboolean shared, GError **error);
void col_exact_free (ColExact *exact);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (ColExact, col_exact_free)
/* Begins now; `ended` (NULL: nothing) is called when the last message has arrived, and may start it again. */
gboolean col_exact_start (ColExact *exact, EngFn ended, void *user, GError **error);

/* Adds what was counted on the network over `time_s` to info->links, by class, sorted by utilisation (the fullest first). */
void col_run_add_links (ColRunInfo *info, const Clu *clu, const ColNet *net, double time_s);

/* What communication over the network took of a run: of each node as much. */
typedef struct {
  const ColNet *net; /* what was counted */
  double time_s;     /* of the run … */
  double proxy_s;    /* … and of it, that each proxy of a GPU was at work */
  guint32 nodes;     /* that took part; 0: whose adapters carried something … */
  guint32 proxies;   /* … and GPUs of each */
  gboolean tcp;      /* the bytes went through sockets */
} ColNetworkUse;
/* Cores that proxies and TCP keep busy. */
void col_run_network_cpu (ColRunInfo *info, const ColSystem *system, const ColNetworkUse *use);

#endif
