/* A storage tier: servers with targets (OSTs, drives) behind them, as many clients see it.
 *
 *     rate of all   = min (servers rate, targets used x target, clients x client) x efficiency
 *     IOPS of all   = min (servers iops, clients x client_iops), opens of files beside them
 *     one request   = latency + opens x metadata latency + block / (stream x targets that it touches)
 * and from these the closed queue of models/storage.h, with the requests of all clients in flight.
 *
 * Interface: MdlTierType is what a file says of one kind of storage; MdlTier one tier of a cluster, resolved; a question is what
 * equal clients do; the answer has rates of all and of one, the time of a request, what bounds it. SI. */
#ifndef MODELS_TIER_H
#define MODELS_TIER_H

#include "models/storage.h"

/* Kinds of tier: constant, name in files, whether it caps bytes and requests apart (two buckets that empty beside each other, of
 * which the slower counts), what it is. To add one, add its row. */
#define MDL_TIER_KINDS(ROW)                                                 \
  ROW (LOCAL_NVME, local_nvme, FALSE, "drives of the nodes")                \
  ROW (NVMEOF, nvmeof, FALSE, "drives over the network")                    \
  ROW (NFS, nfs, FALSE, "file server")                                      \
  ROW (PARALLEL_FS, parallel_fs, FALSE, "Lustre, WekaFS, 3FS and the like") \
  ROW (OBJECT, object, TRUE, "object store")                                \
  ROW (BLOCK, block, TRUE, "network volume")
#define MDL_TIER_CODE(constant, name, caps, help) MDL_TIER_##constant,
typedef enum { MDL_TIER_KINDS (MDL_TIER_CODE) MDL_TIER_N } MdlTierKind;
extern const BaseName mdl_tier_names[];

/* Whether its file system lets a GPU's memory be read and written straight. */
typedef enum { MDL_GDS_NO, MDL_GDS_YES } MdlGds;
extern const BaseName mdl_gds_names[];

/* Reads, or writes. What is not set is no limit, latency 0. */
typedef struct {
  BaseHead head;
  BaseNum rate;        /* B/s of one server */
  BaseNum target;      /* B/s of one target */
  BaseNum client;      /* B/s of one client, beside its network */
  BaseNum stream;      /* B/s of one request, from one target */
  BaseNum iops;        /* 1/s of one server */
  BaseNum client_iops; /* 1/s of one client */
  BaseNum latency;     /* s of one small request alone */
  BaseNum random_iops, random_latency; /* the same at random offsets; absent: as in order */
} MdlTierSide;

/* How files lie on targets. */
typedef struct {
  BaseHead head;
  BaseNum count; /* targets a file; absent: all */
  BaseNum size;  /* B on one target before the next */
} MdlTierStripe;

/* Who sends the copies of what is written: the first server to the others, each to the next, or the client itself. */
typedef enum { MDL_COPIES_SERVERS, MDL_COPIES_CHAIN, MDL_COPIES_CLIENT } MdlCopiesBy;
extern const BaseName mdl_copies_by_names[];

/* Copies of each byte, or parity beside it. Neither set: stored once. */
typedef struct {
  BaseHead head;
  BaseNum replicas;
  BaseNum data, parity; /* parts of a stripe, erasure coded */
  BaseEnum sent_by;     /* MdlCopiesBy */
  BaseEnum reads;       /* of replicas: 0 any of them, 1 the first alone */
} MdlTierRedundancy;

/* Opening files. */
typedef struct {
  BaseHead head;
  BaseNum servers;
  BaseNum rate;     /* 1/s of one metadata server */
  BaseNum latency;  /* s of one operation */
  BaseNum per_file; /* operations a file that is read or written whole */
} MdlTierMetadata;

/* More than the tier's own limits for a while, out of credits that fill when it is idle. */
typedef struct {
  BaseHead head;
  BaseNum rate, iops; /* while credits last, of one server */
  BaseNum credit;     /* B beyond the limit of bytes, of one server; absent: none needed */
  BaseNum io_credit;  /* requests beyond the limit of IOPS */
} MdlTierBurst;

/* topologies/storage/NAME.yaml, those that begin with `storage_type` */
typedef struct {
  BaseHead head;
  BaseStr name, product;
  BaseEnum kind;       /* MdlTierKind */
  MdlTierSide side[MDL_IO_OP_N];
  BaseNum efficiency;  /* what of its servers' rates all together reach */
  BaseNum targets;     /* of one server */
  MdlTierStripe stripe;
  MdlTierRedundancy redundancy; /* that its figures of writes have in them */
  MdlTierMetadata metadata;
  MdlTierBurst burst;
  BaseEnum gds;        /* MdlGds */
  BaseNum core;        /* B/s that one core of a client moves by way of its host (protocol, copies); absent: no cost */
  BaseNum io_size;     /* B: of a request where nobody says */
  BaseNum merge;       /* B up to which requests in order count as one; absent: each counts */
  BaseNum read_ahead;  /* B that its client reads ahead of a reader in order, through the page cache; absent: Linux' own */
  BaseNum blend;       /* as of MdlStorage */
  BaseNum error;       /* half-width of the band */
  BaseNum power;       /* W that a server draws, with its drives; absent: not known */
} MdlTierType;

/* One tier of a cluster. `type` has what the topology overrides laid over it. */
typedef struct {
  MdlTierType type;
  double servers;
  MdlTierRedundancy redundancy; /* as it is here; not set: the type's */
} MdlTier;

typedef struct {
  MdlIoOp op;
  MdlIoPath path;
  gboolean random;
  double block_B;
  double in_flight; /* of one client */
  double clients;
  double stripes;   /* targets that a file lies on; 0: as the tier has it */
  gboolean shared;  /* all clients use one file */
  double file_B;    /* of a file, opened for it; 0: open already */
  gboolean burst;   /* on credits */
} MdlTierQuestion;

typedef struct {
  MdlIoCost all;          /* of all clients together; time_s of one request */
  double client_rate_Bps; /* of one of them */
  double opens_per_s;     /* of all */
  gboolean by_targets;    /* the rate is that of the targets used, not of servers or clients */
  gboolean by_client;     /* or that of a client */
  gboolean by_metadata;   /* where IOPS or latency bound: it is that of opening files */
} MdlTierCost;

/* Bytes stored a byte written: r, or (k + m) / k. */
double mdl_redundancy_stored (const MdlTierRedundancy *redundancy);
/* Bytes that a client sends, or gets, over its network for one of its own. */
double mdl_tier_sent (const MdlTier *tier, MdlIoOp op);
/* As it is on this tier. */
const MdlTierRedundancy *mdl_tier_redundancy (const MdlTier *tier);
/* The size of requests that reach the tier where programs read blocks of block_B: in order through a page cache, what is read ahead
 * is one request. asked_B: that somebody wants read ahead; 0: as the tier has it. */
double mdl_tier_request_B (const MdlTier *tier, double block_B, double asked_B);
double mdl_tier_targets (const MdlTier *tier);        /* all; 1 a server where none are given */
double mdl_tier_file_targets (const MdlTier *tier);   /* of a file, where nobody says */
/* B/s of the whole tier in a direction, on credits where it has any; HUGE_VAL: no limit is known. */
double mdl_tier_rate_Bps (const MdlTier *tier, MdlIoOp op);
void mdl_tier_cost (const MdlTier *tier, const MdlTierQuestion *question, const MdlStorage *ways, MdlTierCost *cost);
/* Seconds that the tier's servers are busy with a byte of such requests: what clients of different kinds share of them, whose rates
 * times this sum to 1 at most. Without credits. 0: no limit is known. */
double mdl_tier_busy_s_per_B (const MdlTier *tier, const MdlTierQuestion *question);
/* Seconds that credits last at `burst` of what all clients reach on them; HUGE_VAL: for ever, 0: there are none. */
double mdl_tier_burst_s (const MdlTier *tier, const MdlTierQuestion *question, const MdlTierCost *burst);

typedef enum { MDL_CACHE_OFF, MDL_CACHE_COLD, MDL_CACHE_WARM } MdlCache;
extern const BaseName mdl_cache_names[]; /* direct cold warm */
/* The part of reads that a page cache of cache_B answers, of a set of set_B that was read before. In order, least recently used
 * pages leave just before they are wanted: all or nothing. At random what is held is hit. */
double mdl_cache_hits (MdlCache cache, double set_B, double cache_B, gboolean random);

#endif
