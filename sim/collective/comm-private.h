/* Inside of a communicator, shared by pricing, traffic and stepwise runs. */
#ifndef COLLECTIVE_COMM_PRIVATE_H
#define COLLECTIVE_COMM_PRIVATE_H

#include "cluster/rings.h"
#include "collective/comm.h"
#include "collective/series.h"
#include "collective/spread.h"
#include "models/tuner.h"

/* What the routes of one kind of step (inside an island, between islands) have in common: their slowest member. */
typedef struct {
  gboolean used;
  MdlHop hop;
  double latency_s;  /* longest */
  double rate_Bps;   /* least, with the copy factor */
  CluPathClass path; /* farthest; between islands of a rank to its adapter */
} ColHopSurvey;

/* Whether the network's switches have room for the communicator's trees; looked for when first asked. */
typedef struct {
  gboolean asked;
  char *why_not;       /* NULL: they have */
  GStringChunk *texts; /* other reasons */
} ColSharpRoom;

/* Ranks of a communicator. */
typedef struct {
  const guint32 *rank;
  guint32 n;
} ColRankList;

/* The communicator as equal parts of several nodes; looked at when first asked. */
typedef struct {
  gboolean asked;
  guint32 steps;    /* inside a node, of an all-gather … */
  double wire_s[2]; /* … latency of their routes; of the longest route between nodes */
  double Bps[2];    /* what links carry of an all-gather inside nodes, between them, before the protocol; 0: no such parts */
  guint32 *rank;    /* by node, and in it by place; NULL: no such parts */
} ColHierarchy;

struct ColComm {
  const Clu *clu;
  const ColSettings *settings;
  guint32 n, n_nodes, n_islands, max_local;
  guint32 *gpu; /* global GPU of each rank */
  CluDev *dev;
  ColRoutes *routes;
  ColRankPlace *stand; /* of each rank */
  guint32 slow_node;   /* whose GPUs are the slowest among the ranks': nodes agree on the least that each of them found */
  guint32 *island;     /* of each rank: dense numbers in order of first appearance */
  CluRings *rings;
  ColHopSurvey intra, inter;
  double network_Bps;  /* that link's rate as specified */
  MdlTuner *tuner;     /* the library's own choice; made at the first question, with … */
  guint32 torus_steps; /* col_torus_steps */
  double torus_wire_s;
  ColHierarchy hierarchy;
  unsigned channels, nvls_channels; /* … the channels that its search found */
  ColSharpRoom *room;
  CluFamily network_family; /* of `network` */
  const char *network;      /* link class by which the first route between islands leaves its adapter; NULL: none does */
  CluRoute route;           /* scratch */
  GPtrArray *traffic;       /* cache: ColTraffic */
  GArray *messages;         /* ColMessage, borrowed: wanted of exact steps; NULL: not */
};

/* What NCCL would take for `request` of all that `choices` (ColChoice) offers, room in the network's switches not yet looked for.
 * FALSE when its choice is not modelled for this library, or falls on nothing that can run. */
gboolean col_comm_nccl_choice (ColComm *comm, const ColCollRequest *request, const GArray *choices, MdlAlgo *algo, MdlProto *proto);

/* Adapters of a node in use as the library sees them, those beside one GPU grouped where its network's plugin groups them, and the
 * rate of each (B/s). 0 on one island. */
unsigned col_comm_nics (const ColComm *comm, double *each_Bps);

/* Bounds of the channels of all but NVLS, by all settings together; 0: none. */
unsigned col_min_channels (const ColSettings *settings);
unsigned col_max_channels (const ColSettings *settings);

/* FALSE and *error where a route takes the host memory that NCCL_SHM_DISABLE takes away. */
gboolean col_check_shm (const Clu *clu, const ColSettings *settings, const CluRoute *route, CluDev from, CluDev to, GError **error);

/* Which resources an algorithm loads; a row a (op, algorithm, root). */
typedef struct {
  MdlOp op;
  MdlAlgo algo;
  guint32 root;
  ColSpread *spread;
  GArray *alike;     /* ColLoad, of what is alike one; NULL until it is asked for */
  double node_load;  /* bytes that a node's adapters send and receive, per byte of size_B, where its cores are few; else 0 */
  ColSeries *series; /* what its messages can fill; NULL where they are not sent one by one */
} ColTraffic;

/* Borrowed from the communicator; NULL and *error when ranks cannot reach each other. */
ColTraffic *col_comm_traffic (ColComm *comm, MdlOp op, MdlAlgo algo, guint32 root, GError **error);

/* Whether an NVSwitch joins the GPUs of a node (a rank alone on its node counts by the node). */
gboolean col_comm_is_switched (const ColComm *comm);
/* Route between two ranks; `nic` as in CluRouteOptions. `out` initialised. */
gboolean col_comm_route (const ColComm *comm, guint32 from, guint32 to, guint32 nic, CluRoute *out, GError **error);
/* The link that the scratch route leaves by; FALSE: none. */
gboolean col_comm_first_link (const ColComm *comm, CluLink *link);
/* The same as a way, which is found once for all ranks that are alike; valid until the next. */
const ColRoute *col_comm_rank_route (const ColComm *comm, guint32 from, guint32 to, guint32 nic, GError **error);

/* A directed edge of an algorithm: rank to rank, by which NIC, and the share of size_B that crosses it in all. */
typedef struct {
  guint32 from, to;
  guint32 nic;
  double bytes; /* per byte of size_B */
} ColEdge;

/* One pipeline of an algorithm: edges, and which must have delivered before one may send. Message k of an edge needs its own
 * message k-1 sent and, from each edge it needs, message k - lag delivered: lag 1 in a ring (what came in the step before is
 * sent on), 0 in a tree or chain (this very piece). Each edge carries n_pieces messages, each `piece` of what it carries in all,
 * the last one what remains. */
typedef struct {
  guint32 n_edges;
  ColEdge *edge;
  guint32 n_pieces;
  double piece;
  guint32 lag;
  guint32 *need_at; /* n_edges + 1 offsets into need */
  guint32 *need;    /* edge numbers */
} ColPipe;
void col_pipe_free (ColPipe *pipe);

/* An operation whose edges are wanted. piece_B: a piece of chunked pipes, all of them together; 0: whole. */
typedef struct {
  const ColComm *comm;
  MdlOp op;
  guint32 root;
  double size_B, piece_B;
} ColPipesQuery;

/* How an algorithm's bytes travel: a row has one of the two. */
typedef struct {
  void (*pipes) (const ColPipesQuery *query, GPtrArray *pipes); /* adds ColPipe *: the edges between ranks */
  gboolean (*load) (ColComm *comm, MdlOp op,
                    GError **error); /* loads into the scratch, no messages: switches that reduce, a torus */
  gboolean pairs;                    /* the edges are between all pairs, an n-th of the size each, but for sendrecv */
} ColTravel;
/* What a row lacks, in a sentence (full); NULL: nothing. */
char *col_travel_fault (const ColTravel *travel, const char *name);

/* The pipes of an algorithm that has messages: one a ring; one a rail for trees; one for pairwise and PAT. Returned: full, of
 * ColPipe *. */
GPtrArray *col_comm_pipes (const ColPipesQuery *query, MdlAlgo algo);

/* Parent of island `v` of n in tree 0 or 1 of a double binary tree; G_MAXUINT32 for the root. */
guint32 col_dtree_parent (guint32 tree, guint32 v, guint32 n);
/* Where a ring enters an island, so that no chain from there on wraps around the end of the order. */
guint32 col_ring_start (const ColComm *comm, const CluRing *ring);
/* Hops between islands on the longest of the chains along the rings by which a broadcast or reduce goes. 0: one island. */
guint32 col_chain_crossings (const ColComm *comm, MdlOp op, guint32 root);
/* Chains along a ring, one an island: by rank the one above it (G_MAXUINT32: head); by island its head, and the NIC beside that. */
typedef struct {
  guint32 *above, *head, *nic;
} ColChains;
/* `offset`: turns the chain of a single island by as many ranks. */
void col_ring_chains (const ColComm *comm, const CluRing *ring, guint32 offset, ColChains *out);

/* Into the scratch loads: `bytes` on a resource that reaches `factor` of its capacity; an edge's bytes along its route; all of an
 * algorithm whose bytes switches reduce. */
void col_load_add (ColComm *comm, CluRes res, double bytes, double factor);
gboolean col_load_edge (ColComm *comm, const ColEdge *edge, GError **error);
/* The same; `series` gets the edge's route besides, unless it is NULL. */
gboolean col_load_series (ColComm *comm, const ColEdge *edge, ColSeries *series, GError **error);
gboolean col_load_nvls (ColComm *comm, MdlOp op, GError **error);
gboolean col_load_nvls_tree (ColComm *comm, MdlOp op, GError **error);
gboolean col_load_collnet_direct (ColComm *comm, MdlOp op, GError **error);
gboolean col_load_collnet_chain (ColComm *comm, MdlOp op, GError **error);
/* ColEdge: both ways of the rings along each dimension of the torus of `ranks`, all on one node; full. */
GArray *col_torus_edges (const ColComm *comm, const ColRankList *ranks, MdlOp op);
/* Hops of a chunk through all dimensions of the torus of `ranks`, all on one node, and the latency of their routes; 0: they are no
 * box of the node's torus, or cannot reach each other. */
guint32 col_torus_steps (const ColComm *comm, const ColRankList *ranks, double *wire_s);
/* All of them, in order; full. */
guint32 *col_comm_all_ranks (const ColComm *comm);
/* Nodes of equal parts; no rates where the communicator has none. Borrowed. */
const ColHierarchy *col_comm_hierarchy (ColComm *comm);
gboolean col_load_hierarchical (ColComm *comm, MdlOp op, GError **error);
/* All of an all-to-all. */
gboolean col_load_all_to_all (ColComm *comm, GError **error);
/* Cores that NCCL's threads of a node share; 0: enough. */
double col_comm_cores (const ColComm *comm);
/* What too few cores let through, into the question; what they let a message wait. */
void col_comm_limit_cpu (ColComm *comm, ColTraffic *traffic, MdlCollQuestion *question);
void col_comm_wait_cpu (const ColComm *comm, MdlCollQuestion *question);
/* Why the network's switches cannot serve the communicator's reduction trees beside other jobs' (borrowed from it); NULL where
 * they can. */
const char *col_sharp_why_not (const ColComm *comm);
/* Share of what a link reaches when its switch reduces. */
double col_sharp_rate (const ColComm *comm, CluRes res);
/* What an algorithm lacks here, switches that reduce above all (static text, or borrowed from the communicator); NULL for
 * nothing. */
const char *col_why_not_here (const ColComm *comm, MdlAlgo algo);
/* For want of room in the network's switches alone. */
const char *col_why_no_room (const ColComm *comm, MdlAlgo algo);
/* Why the cluster, the settings or the request forbid an algorithm that the library could run; NULL if they do not. `room`: whether
 * room in the network's switches is asked for. */
const char *col_why_forbidden (const ColComm *comm, const ColCollRequest *request, MdlAlgo algo, MdlProto proto, gboolean room);

/* Runs an operation on the engine: as one activity, or message by message. Fills time_s, n_events, n_messages. */
gboolean col_coll_run_fluid (ColComm *comm, ColAnswer *coll, GError **error);
gboolean col_coll_run_exact (ColComm *comm, ColAnswer *coll, guint32 root, GError **error);

/* Channels in use by the library's own search, in *nvls those of NVLS; 0 where its choice is not modelled. */
unsigned col_comm_channels (ColComm *comm, unsigned *nvls);

#endif
