/* KV between the GPUs of a scheduler and its tiers: each GPU moves its own heads, all at the same time.
 *
 * * Host memory is that of the GPU's socket; drives of a node are striped, and their bytes go through host memory unless the
 * storage has GPUDirect. Latency and rate of a copy are those of `kind: transfer` (sto_copies_price). What goes below the host
 * comes from it, where there is a host tier. */
#include <math.h>

#include "base/error.h"
#include "base/rows.h"
#include "cluster/storage.h"
#include "fleet/way.h"
#include "serving/memory.h"
#include "serving/tiers.h"

const char *const srv_tier_names[SRV_TIER_N] = { "host", "nvme", "remote" };

SCHEMA (srv_schema_offload, "offload", "KV of prompts below the GPU, for later prompts that begin alike.",
        ROW (SrvOffloadSpec, tier, STR,
             "`host`: memory of the node; `nvme`: its drives; or a tier of the topology, which all replicas share",
             .required = TRUE),
        FROM (SrvOffloadSpec, size, BYTES, "1 B", "room: of each scheduler; of a tier of the topology all", .required = TRUE),
        NUM (SrvOffloadSpec, in_flight, COUNT, "requests that a GPU keeps at a storage (assumed)", .min = "1", .max = "65536",
             .fallback = "32"),
        NUM (SrvOffloadSpec, price, MONEY_PER_TIME, "price of `size` of this tier, for the cost of tokens (e.g. 500 USD/month)"));

struct SrvTierWays {
  const ColSystem *system;
  ColNet *net;
  const SrvReplicaSpec *replica;
  guint32 first_gpu;
  const SrvOffloadSpec *specs[SRV_TIER_N]; /* NULL: none */
  CluDev dev[SRV_TIER_N];                  /* of a tier of the topology */
  double token_B, sequence_B;
  double part;      /* of a sequence, that one GPU has */
  GHashTable *ways; /* key: SrvTierEnd */
};

static guint
end_hash (gconstpointer key)
{
  const SrvTierEnd *e = key;
  return ((e->replica * 31 + e->rank) * 31 + e->tier) * 2 + (guint)e->write;
}

static gboolean
end_equal (gconstpointer a, gconstpointer b)
{
  const SrvTierEnd *x = a, *y = b;
  return x->replica == y->replica && x->rank == y->rank && x->tier == y->tier && x->write == y->write;
}

/* ---- which tiers ---- */

SrvTierKind
srv_tier_kind (const char *name)
{
  return g_str_equal (name, "host") ? SRV_TIER_HOST : g_str_equal (name, "nvme") ? SRV_TIER_NVME : SRV_TIER_REMOTE;
}

gboolean
srv_offload_check (const ColSystem *system, const SrvOffloadSpec *specs, guint n, GError **error)
{
  gboolean seen[SRV_TIER_N] = { FALSE };
  g_autofree char *names = clu_tier_names (system->clu);
  for (guint i = 0; i < n; i++) {
    const SrvTierKind kind = srv_tier_kind (specs[i].tier.v);
    if (kind != SRV_TIER_HOST && clu_tier_find (system->clu, specs[i].tier.v) == CLU_NONE)
      return col_fail_at (error, specs[i].tier.mark, "the cluster has no tier '%s'; accepted: host%s%s", specs[i].tier.v,
                          names[0] != '\0' ? ", " : "", names);
    if (seen[kind])
      return col_fail_at (error, specs[i].tier.mark,
                          "`offload` has two tiers of kind '%s'; it takes one of each: host, nvme, and one tier of the topology",
                          srv_tier_names[kind]);
    seen[kind] = TRUE;
  }
  return TRUE;
}

SrvTierWays *
srv_tier_ways_new (const MdlLlm *llm, const ColSystem *system, ColNet *net, const SrvReplicaSpec *replica, guint32 first_gpu,
                   const SrvOffloadSpec *specs, guint n_specs)
{
  SrvTierWays *ways = g_new0 (SrvTierWays, 1);
  ways->system = system;
  ways->net = net;
  ways->replica = replica;
  ways->first_gpu = first_gpu;
  ways->token_B = srv_kv_token_B (llm, (SrvFormat)replica->precision.kv.v, &ways->sequence_B);
  const double heads = mdl_llm_kv_heads (llm), tp = replica->parallel.tp.v;
  ways->part = (llm->attention.kind.v == MDL_ATTENTION_MLA ? 1 : fmax (heads / tp, 1) / heads) / replica->parallel.pp.v;
  ways->ways = g_hash_table_new_full (end_hash, end_equal, g_free, srv_way_free);
  for (guint i = 0; i < n_specs; i++) {
    const SrvTierKind kind = srv_tier_kind (specs[i].tier.v);
    ways->specs[kind] = &specs[i];
    ways->dev[kind] = kind == SRV_TIER_HOST ? CLU_NONE : clu_tier_find (system->clu, specs[i].tier.v);
  }
  return ways;
}

void
srv_tier_ways_free (SrvTierWays *ways)
{
  if (ways == NULL)
    return;
  g_hash_table_destroy (ways->ways);
  g_free (ways);
}

/* ---- copies ---- */

/* Host memory next to the GPU. */
static CluDev
memory_of (const Clu *clu, CluDev gpu)
{
  const guint32 node = clu_dev_node (clu, gpu), memories = clu_node_n (clu, node, CLU_DEV_MEMORY);
  return clu_node_device (clu, node, CLU_DEV_MEMORY, clu_dev_index (clu, gpu) * memories / clu_gpus_per_node (clu, node));
}

static guint32
stripes_of (const SrvTierWays *ways, SrvTierKind tier, CluDev gpu)
{
  const Clu *clu = ways->system->clu;
  return tier == SRV_TIER_NVME ? clu_node_n (clu, clu_dev_node (clu, gpu), CLU_DEV_NVME) : 1;
}

static CluDev
device_of (const SrvTierWays *ways, SrvTierKind tier, CluDev gpu, guint32 stripe)
{
  const Clu *clu = ways->system->clu;
  if (tier == SRV_TIER_HOST)
    return memory_of (clu, gpu);
  return tier == SRV_TIER_NVME ? clu_node_device (clu, clu_dev_node (clu, gpu), CLU_DEV_NVME, stripe) : ways->dev[tier];
}

/* One GPU's part of each byte. */
static gboolean
add_gpu (SrvTierWays *ways, SrvWay *way, const SrvTierEnd *end, CluDev gpu, double part, double bytes_B, GError **error)
{
  const Clu *clu = ways->system->clu;
  const gboolean staged = end->write && end->tier != SRV_TIER_HOST && ways->specs[SRV_TIER_HOST] != NULL;
  const CluDev near = staged ? memory_of (clu, gpu) : gpu;
  const guint32 n = stripes_of (ways, end->tier, gpu);
  g_autoptr (GArray) pairs = g_array_new (FALSE, FALSE, sizeof (StoPair));
  for (guint32 i = 0; i < n; i++) {
    const CluDev dev = device_of (ways, end->tier, gpu, i);
    const StoPair pair = { .from = end->write ? near : dev,
                           .to = end->write ? dev : near,
                           .from_name = "KV",
                           .to_name = ways->specs[end->tier]->tier.v,
                           .share = 1.0 / n };
    g_array_append_val (pairs, pair);
  }
  const StoCopies copies = { .pair = (const StoPair *)(const void *)pairs->data,
                             .n = pairs->len,
                             .size_B = part * bytes_B,
                             .count = 1,
                             .in_flight = ways->specs[end->tier]->in_flight.v };
  return srv_way_add (way, ways->system, &copies, part, error);
}

/* All GPUs of the scheduler have a part: their heads of their layers. Copies of heads, and MLA's latents, are each GPU's own. */
static SrvWay *
find_way (SrvTierWays *ways, const SrvTierEnd *end, double bytes_B, GError **error)
{
  const SrvParallelSpec *p = &ways->replica->parallel;
  SrvWay *way = g_hash_table_lookup (ways->ways, end);
  if (way != NULL)
    return way;
  const guint tp = (guint)p->tp.v, dp = (guint)p->dp_attn.v, pp = (guint)p->pp.v;
  const guint32 first = ways->first_gpu + end->replica * (guint32)srv_replica_gpus (ways->replica);
  way = srv_way_new ();
  for (guint stage = 0; stage < pp; stage++)
    for (guint k = 0; k < tp; k++) {
      const guint32 at = first + (stage * dp + end->rank) * tp + k;
      const CluDev gpu = clu_gpu (ways->system->clu, col_system_gpu (ways->system, at));
      if (!add_gpu (ways, way, end, gpu, ways->part, bytes_B, error)) {
        srv_way_free (way);
        return NULL;
      }
    }
  g_hash_table_insert (ways->ways, g_memdup2 (end, sizeof *end), way);
  return way;
}

/* ---- the flow ---- */

/* Of the form of SrvOffload. */
static gboolean
flow_of (gpointer user, const SrvTierEnd *end, guint tokens, GArray *uses, EngFlowSpec *spec, double *alone_s, GError **error)
{
  SrvTierWays *ways = user;
  const double bytes_B = ways->token_B * tokens + ways->sequence_B;
  const SrvWay *way = find_way (ways, end, bytes_B, error);
  if (way == NULL)
    return FALSE;
  srv_way_flow (way, ways->net, bytes_B, 0, 0, uses, spec);
  *alone_s = srv_way_alone_s (way, bytes_B);
  return TRUE;
}

SrvOffload
srv_tier_ways_run (SrvTierWays *ways)
{
  const double gpus = ways->replica->parallel.tp.v * ways->replica->parallel.pp.v;
  SrvOffload offload = {
    .token_B = ways->token_B * ways->part * gpus, .eng = col_net_engine (ways->net), .user = ways, .flow = flow_of
  };
  for (guint i = 0; i < SRV_TIER_N; i++)
    if (ways->specs[i] != NULL)
      offload.tier[i] = (SrvTier){ ways->specs[i]->size.v, i == SRV_TIER_REMOTE };
  return offload;
}
