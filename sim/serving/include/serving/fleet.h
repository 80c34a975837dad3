/* Replicas in pools: prefill and decode on GPUs of their own, and the KV that goes from one to the other over the fabric. */
#ifndef SERVING_FLEET_H
#define SERVING_FLEET_H

#include "collective/net.h"
#include "serving/run.h"

typedef enum { SRV_ROLE_ALL, SRV_ROLE_PREFILL, SRV_ROLE_DECODE } SrvRole;

/* An item of `pools:`; absent maps are those of the workload. */
typedef struct {
  BaseHead head;
  BaseEnum role; /* SrvRole */
  BaseNum replicas;
  BaseNum first_gpu; /* absent: behind the pool before */
  SrvReplicaSpec replica;
} SrvPoolSpec;

typedef enum { SRV_FIRST_PREFILL, SRV_FIRST_DECODE, SRV_FIRST_HANDED } SrvFirst;
typedef enum { SRV_KV_OVERLAP_NONE, SRV_KV_OVERLAP_LAYERWISE } SrvKvOverlap;

/* `transfer:` */
typedef struct {
  BaseHead head;
  BaseEnum first_token;   /* SrvFirst; absent: the engine's */
  BaseNum start;          /* s, of each transfer, on top of the route's own latency */
  BaseNum per_descriptor; /* s, for each piece of memory that a GPU sends */
  BaseStr library;        /* whose constants hold where these are absent; absent: the engine's; "none": none */
  BaseEnum overlap;       /* SrvKvOverlap */
  BaseEnum to;            /* SrvRouter: least_loaded or round_robin */
} SrvTransferSpec;

/* `router:`; a name alone is its policy. */
typedef struct {
  BaseHead head;
  BaseEnum policy;                    /* SrvRouter */
  BaseNum credit, scale, temperature; /* of kv */
  BaseNum host_credit, nvme_credit;   /* likewise */
  BaseNum prefix, usage, queue;       /* weights of llm_d */
} SrvRouterSpec;

/* An item of `failures:` */
typedef enum { SRV_LOSE_GPU, SRV_LOSE_NODE, SRV_LOSE_NIC, SRV_LOSE_SWITCH } SrvLose;
typedef struct {
  BaseHead head;
  BaseNum at, lasts; /* s; lasts absent: for good */
  BaseEnum lose;     /* SrvLose */
  BaseNum index;     /* GPU, node, or leaf switch */
} SrvFailureSpec;

/* `retry:` */
typedef struct {
  BaseHead head;
  BaseNum detect;  /* s, until requests of a lost replica are sent again */
  BaseEnum tokens; /* 0 again, 1 kept */
} SrvRetrySpec;

/* `scale:` */
typedef struct {
  BaseHead head;
  BaseEnum metric; /* SrvScaleMetric */
  BaseNum target, least, every, start, stabilise;
} SrvScaleSpec;

extern const BaseSchema srv_schema_scale;
extern const BaseSchema srv_schema_failure, srv_schema_retry;
extern const BaseSchema srv_schema_pool, srv_schema_transfer, srv_schema_router;
extern const BaseName srv_role_names[], srv_router_names[];

/* GPUs of a pool: replica after replica, from `first` of the system on. */
typedef struct {
  const SrvReplicaSpec *replica;
  guint32 first;
} SrvPlacedPool;

/* Flows of KV over a cluster, by an engine of their own. */
typedef struct SrvKvFabric SrvKvFabric;

/* All is borrowed and outlives it. Returned: full; NULL and *error (BASE_ERROR_INPUT): the transfer library is unknown. */
SrvKvFabric *srv_kv_fabric_new (const MdlLlm *llm, const ColSystem *system, ColNet *net, const SrvPlacedPool *prefill,
                                const SrvPlacedPool *decode, const SrvTransferSpec *transfer, GError **error);
SrvFirst srv_kv_fabric_first (const SrvKvFabric *fabric); /* who gives the first token */
/* Takes routes from `ways` (srv_kv_ways_new), and leaves new ones there: of fabrics with the same model, system, pools and
 * transfer, which are used one after the other. */
GHashTable *srv_kv_ways_new (void);
void srv_kv_fabric_share (SrvKvFabric *fabric, GHashTable *ways);
void srv_kv_fabric_free (SrvKvFabric *fabric);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SrvKvFabric, srv_kv_fabric_free)
SrvFabric srv_kv_fabric_run (SrvKvFabric *fabric);

/* What rank `to` of tp `to_tp` gets of rank `from` of tp `from_tp`, as a fraction of a layer's KV without copies. Query-key-value
 * heads: each rank its own, cut anew where tp differs; `heads` 0: MLA, whole from one rank. */
double srv_kv_part (guint heads, guint from_tp, guint from, guint to_tp, guint to);
/* Pieces of memory that a GPU sends of a sequence: blocks x layers x (keys and values, or MLA's latent). */
double srv_kv_descriptors (const MdlLlm *llm, double tokens, double block, double layers);

#endif
