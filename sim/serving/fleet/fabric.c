/* KV of a sequence from the GPUs of a prefill replica to those of a decode replica, as one activity of the flow network.
 *
 *     bytes of a pair of ranks = tokens · (heads that both have) / K · (layers that both have) / L · KV of a token;  MLA: all heads
 *                                from one rank
 *     time >= max over GPUs of bytes / rate,  blocks · layers · (2, MLA 1) · per_descriptor
 *
 * The pairs move in step: the activity loads each link with its part of the bytes, and shares it max-min with all other
 * transfers. Latency and rate of a copy are those of `kind: transfer` (sto_copies_price).
 * Check: test_serving_fleet: 2,684,354,560 B and 81,920 pieces a GPU for 8,192 tokens of Llama 3.1 70B on tp 8. */
#include <math.h>

#include "serving-private.h"
#include "serving/fleet.h"
#include "serving/memory.h"
#include "storage/copies.h"

/* What a byte of a sequence does between two schedulers. */
typedef struct {
  GArray *uses; /* EngUse, a byte of the whole */
  double bound_Bps, latency_s;
  double whole;  /* bytes that move, of those without copies */
  double layers; /* of the GPU that sends most */
} Way;

struct SrvKvFabric {
  const MdlLlm *llm;
  const ColSystem *system;
  SrvPlacedPool pools[2];
  const SrvTransferSpec *transfer;
  ColNet *net;
  GHashTable *ways; /* key: Ends */
  double token_B, sequence_B;
};

typedef struct {
  SrvEnd from, to;
} Ends;

static guint
ends_hash (gconstpointer key)
{
  const Ends *e = key;
  return ((e->from.replica * 31 + e->from.rank) * 1000003 + e->to.replica) * 31 + e->to.rank;
}

static gboolean
ends_equal (gconstpointer a, gconstpointer b)
{
  const Ends *x = a, *y = b;
  return x->from.replica == y->from.replica && x->from.rank == y->from.rank && x->to.replica == y->to.replica &&
         x->to.rank == y->to.rank;
}

static void
way_free (gpointer data)
{
  Way *way = data;
  g_array_free (way->uses, TRUE);
  g_free (way);
}

SrvKvFabric *
srv_kv_fabric_new (const MdlLlm *llm, const ColSystem *system, const SrvPlacedPool *prefill, const SrvPlacedPool *decode,
                   const SrvTransferSpec *transfer)
{
  SrvKvFabric *fabric = g_new0 (SrvKvFabric, 1);
  fabric->llm = llm;
  fabric->system = system;
  fabric->pools[0] = *prefill;
  fabric->pools[1] = *decode;
  fabric->transfer = transfer;
  fabric->net = col_net_new (system->clu);
  fabric->ways = g_hash_table_new_full (ends_hash, ends_equal, g_free, way_free);
  fabric->token_B = srv_kv_token_B (llm, (SrvFormat)prefill->replica->precision.kv.v, &fabric->sequence_B);
  return fabric;
}

void
srv_kv_fabric_free (SrvKvFabric *fabric)
{
  if (fabric == NULL)
    return;
  g_hash_table_destroy (fabric->ways);
  col_net_free (fabric->net);
  g_free (fabric);
}

/* ---- who sends what ---- */

double
srv_kv_part (guint heads, guint from_tp, guint from, guint to_tp, guint to)
{
  if (heads == 0)
    return to % from_tp == from ? 1 : 0;
  const guint first = (guint)((guint64)to * heads / to_tp), n = MAX (heads / to_tp, 1);
  const guint copies = MAX (from_tp / heads, 1);
  guint got = 0;
  for (guint h = first; h < first + n; h++)
    got += (guint)((guint64)h * from_tp / heads) + to % copies == from;
  return (double)got / heads;
}

double
srv_kv_descriptors (const MdlLlm *llm, double tokens, double block, double layers)
{
  return ceil (tokens / block) * layers * (llm->attention.kind.v == MDL_ATTENTION_MLA ? 1 : 2);
}

/* Layers that both stages have. */
static guint
layers_of_both (const MdlLlm *llm, guint from_pp, guint from, guint to_pp, guint to)
{
  unsigned a = 0, b = 0;
  const unsigned n = srv_stage_layers (llm, from_pp, from, &a), m = srv_stage_layers (llm, to_pp, to, &b);
  const unsigned first = MAX (a, b), end = MIN (a + n, b + m);
  return end > first ? end - first : 0;
}

static CluDev
gpu_of (const SrvKvFabric *fabric, guint pool, SrvEnd end, guint stage, guint tp_rank)
{
  const SrvPlacedPool *its = &fabric->pools[pool];
  const SrvParallelSpec *p = &its->replica->parallel;
  const guint tp = (guint)p->tp.v, rank = (stage * (guint)p->dp_attn.v + end.rank) * tp + tp_rank;
  const guint32 at = its->first + end.replica * (guint32)srv_replica_gpus (its->replica) + rank;
  return clu_gpu (fabric->system->clu, col_system_gpu (fabric->system, at));
}

static void
add_use (Way *way, EngLink link, double weight)
{
  for (guint i = 0; i < way->uses->len; i++)
    if (g_array_index (way->uses, EngUse, i).link == link) {
      g_array_index (way->uses, EngUse, i).weight += weight;
      return;
    }
  const EngUse use = { link, weight };
  g_array_append_val (way->uses, use);
}

/* One GPU's part of each byte. */
static gboolean
add_pair (SrvKvFabric *fabric, Way *way, const StoPair *pair, double part, double bytes_B, GError **error)
{
  StoFault fault;
  const StoCopies copies = { .pair = pair, .n = 1, .size_B = part * bytes_B, .count = 1 };
  g_autoptr (GPtrArray) priced = sto_copies_price (fabric->system->clu, &fabric->system->settings, &copies, &fault, error);
  if (priced == NULL)
    return FALSE;
  const StoCopy *copy = priced->pdata[0];
  for (guint i = 0; i < copy->uses->len; i++) {
    const CluUse *use = &g_array_index (copy->uses, CluUse, i);
    add_use (way, col_net_link (fabric->net, use->res), part * use->share);
  }
  way->bound_Bps = fmin (way->bound_Bps, copy->cost.bound_Bps / part);
  way->latency_s = fmax (way->latency_s, copy->cost.latency_s);
  return TRUE;
}

static gboolean
add_rank (SrvKvFabric *fabric, Way *way, const Ends *ends, const guint at[4], double bytes_B, GError **error)
{
  const MdlLlm *llm = fabric->llm;
  const SrvParallelSpec *a = &fabric->pools[0].replica->parallel, *b = &fabric->pools[1].replica->parallel;
  const guint heads = llm->attention.kind.v == MDL_ATTENTION_MLA ? 0 : (guint)mdl_llm_kv_heads (llm);
  const double layers = layers_of_both (llm, (guint)a->pp.v, at[0], (guint)b->pp.v, at[2]);
  const double part = layers / llm->layers.v * srv_kv_part (heads, (guint)a->tp.v, at[1], (guint)b->tp.v, at[3]);
  if (part <= 0)
    return TRUE;
  const StoPair pair = { .from = gpu_of (fabric, 0, ends->from, at[0], at[1]),
                         .to = gpu_of (fabric, 1, ends->to, at[2], at[3]),
                         .from_name = "the prefill pool's GPU",
                         .to_name = "the decode pool's GPU" };
  way->whole += part;
  way->layers = fmax (way->layers, layers);
  return add_pair (fabric, way, &pair, part, bytes_B, error);
}

static Way *
find_way (SrvKvFabric *fabric, const Ends *ends, double bytes_B, GError **error)
{
  const SrvParallelSpec *a = &fabric->pools[0].replica->parallel, *b = &fabric->pools[1].replica->parallel;
  Way *way = g_hash_table_lookup (fabric->ways, ends);
  if (way != NULL)
    return way;
  way = g_new0 (Way, 1);
  way->uses = g_array_new (FALSE, FALSE, sizeof (EngUse));
  way->bound_Bps = (double)INFINITY;
  guint at[4];
  for (at[0] = 0; at[0] < (guint)a->pp.v; at[0]++)
    for (at[1] = 0; at[1] < (guint)a->tp.v; at[1]++)
      for (at[2] = 0; at[2] < (guint)b->pp.v; at[2]++)
        for (at[3] = 0; at[3] < (guint)b->tp.v; at[3]++)
          if (!add_rank (fabric, way, ends, at, bytes_B, error)) {
            way_free (way);
            return NULL;
          }
  g_hash_table_insert (fabric->ways, g_memdup2 (ends, sizeof *ends), way);
  return way;
}

/* ---- the flow ---- */

/* Of the form of SrvFabric. The amount is what moves: copies on ranks that share heads count. */
static gboolean
flow_of (gpointer user, SrvEnd from, SrvEnd to, guint tokens, GArray *uses, EngFlowSpec *spec, GError **error)
{
  SrvKvFabric *fabric = user;
  const Ends ends = { from, to };
  const double bytes_B = fabric->token_B * tokens + fabric->sequence_B;
  const Way *way = find_way (fabric, &ends, bytes_B, error);
  if (way == NULL)
    return FALSE;
  const double block = fabric->pools[0].replica->engine.block.v;
  const double work_s = srv_kv_descriptors (fabric->llm, tokens, block, way->layers) * fabric->transfer->per_descriptor.v;
  double bound_Bps = way->bound_Bps * way->whole;
  if (work_s > 0)
    bound_Bps = fmin (bound_Bps, bytes_B * way->whole / work_s);
  g_array_set_size (uses, 0);
  for (guint i = 0; i < way->uses->len; i++) {
    EngUse use = g_array_index (way->uses, EngUse, i);
    use.weight /= way->whole;
    g_array_append_val (uses, use);
  }
  *spec = (EngFlowSpec){ .amount = bytes_B * way->whole,
                         .bound_per_s = bound_Bps,
                         .latency = eng_time_from_s (way->latency_s + fabric->transfer->start.v),
                         .uses = (const EngUse *)(const void *)uses->data,
                         .n_uses = uses->len };
  return TRUE;
}

SrvFabric
srv_kv_fabric_run (SrvKvFabric *fabric)
{
  return (SrvFabric){ .eng = col_net_engine (fabric->net), .user = fabric, .flow = flow_of };
}
