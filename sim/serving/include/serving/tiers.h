/* KV of prompts below the GPU: in host memory, on the node's drives, on storage that all replicas share.
 *
 * * A prompt whose begin is in a tier waits until it is loaded, if that takes less than computing it; else it is computed. What a
 * prompt computes is written through to all tiers behind its first token. Each tier keeps what was used last. */
#ifndef SERVING_TIERS_H
#define SERVING_TIERS_H

#include "collective/net.h"
#include "serving/spec.h"

typedef enum { SRV_TIER_HOST, SRV_TIER_NVME, SRV_TIER_REMOTE, SRV_TIER_N } SrvTierKind; /* looked up in this order */
extern const char *const srv_tier_names[SRV_TIER_N];
SrvTierKind srv_tier_kind (const char *name); /* of a name in `offload` */

/* An item of `offload:` */
typedef struct {
  BaseHead head;
  BaseStr tier;      /* "host", "nvme", or a tier of the topology */
  BaseNum size;      /* B, of a scheduler; of a shared tier all */
  BaseNum in_flight; /* requests that a GPU keeps at a storage */
  BaseNum price;     /* USD/s of `size` */
} SrvOffloadSpec;
extern const BaseSchema srv_schema_offload;

/* Of one tier of a run; size_B 0: there is none. */
typedef struct {
  double size_B; /* of one scheduler's store, or of the shared one */
  gboolean shared;
} SrvTier;

/* Where a flow ends: a scheduler of a replica. */
typedef struct {
  guint replica, rank;
  SrvTierKind tier;
  gboolean write;
} SrvTierEnd;

/* Tiers of a run. All 0: none. */
typedef struct {
  SrvTier tier[SRV_TIER_N];
  double token_B; /* KV of a token, of all GPUs of a scheduler */
  Eng *eng;       /* of this run alone; the one of its SrvFabric, where there is one */
  gpointer user;
  /* The activity that moves the KV of `tokens` tokens, and the time that it takes alone. `uses` keeps its links. */
  gboolean (*flow) (gpointer user, const SrvTierEnd *end, guint tokens, GArray *uses, EngFlowSpec *spec, double *alone_s,
                    GError **error);
} SrvOffload;

/* What a tier did, of all requests. */
typedef struct {
  guint64 hit_tokens;      /* of prompts, that it gave */
  guint64 reads, declined; /* prompts that loaded from it; that found something there and computed it, as that takes less */
  double read_B, written_B;
  double read_s;  /* mean time of a read */
  double saved_s; /* time of steps that the tokens would have taken, alone */
} SrvTierResult;

/* Keys of prompts in one tier, by last use. */
typedef struct SrvStore SrvStore;
SrvStore *srv_store_new (guint64 units); /* room for so many. Returned: full */
void srv_store_free (SrvStore *store);
/* TRUE: it is there, written to its end, and counts as used now. */
gboolean srv_store_use (SrvStore *store, guint64 key);
gboolean srv_store_has (const SrvStore *store, guint64 key); /* the same, without use */
/* Makes room, of what was used longest ago. FALSE: it is there or on its way already, or there is no room for any. */
gboolean srv_store_begin (SrvStore *store, guint64 key);
void srv_store_ready (SrvStore *store, guint64 key); /* nothing where it has left again */
guint64 srv_store_units (const SrvStore *store);     /* that it has */

/* Flows between GPUs of a pool and its tiers over a cluster. Check: test_serving_tiers, case 9. */
typedef struct SrvTierWays SrvTierWays;
/* Whether the cluster has these tiers, each kind once. FALSE and *error, with the place. */
gboolean srv_offload_check (const ColSystem *system, const SrvOffloadSpec *specs, guint n, GError **error);
/* `specs` pass srv_offload_check. All is borrowed. Returned: full. */
SrvTierWays *srv_tier_ways_new (const MdlLlm *llm, const ColSystem *system, ColNet *net, const SrvReplicaSpec *replica,
                                guint32 first_gpu, const SrvOffloadSpec *specs, guint n_specs);
void srv_tier_ways_free (SrvTierWays *ways);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SrvTierWays, srv_tier_ways_free)
SrvOffload srv_tier_ways_run (SrvTierWays *ways);

#endif
