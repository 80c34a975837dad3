/* Inside of a communicator, shared by pricing, traffic and stepwise runs. */
#ifndef WORKLOAD_COMM_PRIVATE_H
#define WORKLOAD_COMM_PRIVATE_H

#include "cluster/rings.h"
#include "series-private.h"
#include "spread-private.h"
#include "models/tuner.h"
#include "workload/comm.h"

/* What the routes of one kind of step (inside an island, between islands) have in common: their slowest member. */
typedef struct {
  gboolean used;
  MdlHop hop;
  double latency_s; /* longest */
  double rate_Bps;  /* least, with the copy factor */
  CluPathClass path; /* farthest; between islands of a rank to its adapter */
} WrkHopSurvey;

/* Whether the network's switches have room for the communicator's trees; looked for when first asked. */
typedef struct {
  gboolean asked;
  char *why_not;   /* NULL: they have */
  GStringChunk *texts; /* other reasons */
} WrkSharpRoom;

struct WrkComm {
  const Clu *clu;
  const WrkSettings *settings;
  guint32 n, n_nodes, n_islands, max_local;
  guint32 *gpu; /* global GPU of each rank */
  CluDev *dev;
  WrkGround *ground;
  WrkStand *stand; /* of each rank */
  guint32 *island; /* of each rank: dense numbers in order of first appearance */
  CluRings *rings;
  WrkHopSurvey intra, inter;
  double network_Bps;    /* that link's rate as specified */
  MdlTuner *tuner;       /* the library's own choice; made at the first question */
  WrkSharpRoom *room;
  CluFamily network_family; /* of `network` */
  const char *network;   /* link class by which the first route between islands leaves its adapter; NULL: none does */
  CluRoute route;        /* scratch */
  GPtrArray *traffic;    /* cache: WrkTraffic */
};

/* What NCCL would take for `request` of all that `choices` (WrkChoice) offers, room in the network's switches not yet looked for.
 * FALSE when its choice is not modelled for this library, or falls on nothing that can run. */
gboolean wrk_comm_nccl_choice (WrkComm *comm, const WrkCollRequest *request, const GArray *choices, MdlAlgo *algo, MdlProto *proto);

/* Adapters of a node in use as the library sees them, those beside one GPU grouped where its network's plugin groups them, and the
 * rate of each (B/s). 0 on one island. */
unsigned wrk_comm_nics (const WrkComm *comm, double *each_Bps);

/* Bounds of the channels of all but NVLS, by all settings together; 0: none. */
unsigned wrk_min_channels (const WrkSettings *settings);
unsigned wrk_max_channels (const WrkSettings *settings);

/* FALSE and *error where a route takes the host memory that NCCL_SHM_DISABLE takes away. */
gboolean wrk_check_shm (const Clu *clu, const WrkSettings *settings, const CluRoute *route, CluDev from, CluDev to, GError **error);

/* Which resources an algorithm loads; a row a (op, algorithm, root). */
typedef struct {
  MdlOp op;
  MdlAlgo algo;
  guint32 root;
  WrkSpread *spread;
  GArray *alike; /* WrkLoad, of what is alike one; NULL until it is asked for */
  WrkSeries *series; /* what its messages can fill; NULL where they are not sent one by one */
} WrkTraffic;

/* Borrowed from the communicator; NULL and *error when ranks cannot reach each other. */
WrkTraffic *wrk_comm_traffic (WrkComm *comm, MdlOp op, MdlAlgo algo, guint32 root, GError **error);

/* Whether an NVSwitch joins the GPUs of a node (a rank alone on its node counts by the node). */
gboolean wrk_comm_is_switched (const WrkComm *comm);
/* Route between two ranks; `nic` as in CluRouteOptions. `out` initialised. */
gboolean wrk_comm_route (const WrkComm *comm, guint32 from, guint32 to, guint32 nic, CluRoute *out, GError **error);
/* The same as a way, which is found once for all ranks that are alike; valid until the next. */
const WrkWay *wrk_comm_way (const WrkComm *comm, guint32 from, guint32 to, guint32 nic, GError **error);
/* What of a resource's capacity a copy over this transport reaches. */
double wrk_comm_copy_factor (const WrkComm *comm, CluTransport transport, CluRes res);

/* As wrk_comm_new, on ground that several share; `settings` agree with the ground's in what decides routes. */
WrkComm *wrk_comm_new_on (WrkGround *ground, const Clu *clu, const WrkSettings *settings, const guint32 *gpus, guint32 n,
                          GError **error);
MdlHop wrk_hop_of_route (const CluRoute *route);

/* A directed edge of an algorithm: rank to rank, by which NIC, and the share of size_B that crosses it in all. */
typedef struct {
  guint32 from, to;
  guint32 nic;
  double bytes; /* per byte of size_B */
} WrkEdge;

/* One pipeline of an algorithm: edges, and which must have delivered before one may send. Message k of an edge needs its own
 * message k-1 sent and, from each edge it needs, message k - lag delivered: lag 1 in a ring (what came in the step before is
 * sent on), 0 in a tree or chain (this very piece). Each edge carries n_pieces messages, each `piece` of what it carries in all,
 * the last one what remains. */
typedef struct {
  guint32 n_edges;
  WrkEdge *edge;
  guint32 n_pieces;
  double piece;
  guint32 lag;
  guint32 *need_at; /* n_edges + 1 offsets into need */
  guint32 *need;    /* edge numbers */
} WrkPipe;
void wrk_pipe_free (WrkPipe *pipe);

/* The pipes of an algorithm (one a ring; one a rail for trees; one for pairwise and PAT). piece_B: a piece of chunked pipes, all of
 * them together; 0: whole. Returned: full, of WrkPipe *. NULL where switches reduce: there are no messages. */
GPtrArray *wrk_comm_pipes (const WrkComm *comm, MdlOp op, MdlAlgo algo, guint32 root, double size_B, double piece_B);
gboolean wrk_algo_has_messages (MdlAlgo algo);

/* Parent of island `v` of n in tree 0 or 1 of a double binary tree; G_MAXUINT32 for the root. */
guint32 wrk_dtree_parent (guint32 tree, guint32 v, guint32 n);
/* Where a ring enters an island, so that no chain from there on wraps around the end of the order. */
guint32 wrk_ring_start (const WrkComm *comm, const CluRing *ring);

/* Into the scratch loads: `bytes` on a resource that reaches `factor` of its capacity; an edge's bytes along its route; all of an
 * algorithm whose bytes switches reduce. */
void wrk_load_add (WrkComm *comm, CluRes res, double bytes, double factor);
gboolean wrk_load_edge (WrkComm *comm, const WrkEdge *edge, GError **error);
gboolean wrk_load_in_switches (WrkComm *comm, MdlOp op, MdlAlgo algo, GError **error);
/* All of an all-to-all. */
gboolean wrk_load_all_to_all (WrkComm *comm, GError **error);
/* Whether the network's switches reduce for an algorithm on these ranks. */
gboolean wrk_needs_fabric_sharp (const WrkComm *comm, MdlAlgo algo);
/* Why the network's switches cannot serve the communicator's reduction trees beside other jobs' (borrowed from it); NULL where
 * they can. */
const char *wrk_sharp_why_not (const WrkComm *comm);
/* Why they do not add a data type (static text); NULL where they do. */
const char *wrk_sharp_why_not_type (const WrkComm *comm, MdlOp op, MdlDtype dtype);
/* Share of what a link reaches when its switch reduces. */
double wrk_sharp_rate (const WrkComm *comm, CluRes res);
/* What an algorithm lacks here, switches that reduce above all (static text, or borrowed from the communicator); NULL for
 * nothing. */
const char *wrk_why_not_here (const WrkComm *comm, MdlAlgo algo);
/* The same but for the room in the network's switches, which takes a look at all of them; that room alone. */
const char *wrk_why_not_whatever_room (const WrkComm *comm, MdlAlgo algo);
const char *wrk_why_no_room (const WrkComm *comm, MdlAlgo algo);
/* What all-gather and reduce-scatter lack beyond that (static text); NULL for nothing and for other operations. */
const char *wrk_why_no_gather_here (const WrkComm *comm, MdlOp op, MdlAlgo algo);

/* Runs an operation on the engine: as one activity, or message by message. Fills time_s, n_events, n_messages. */
gboolean wrk_coll_run_fluid (WrkComm *comm, WrkColl *coll, GError **error);
gboolean wrk_coll_run_exact (WrkComm *comm, WrkColl *coll, guint32 root, GError **error);

#endif
