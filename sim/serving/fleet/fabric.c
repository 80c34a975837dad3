/* KV of a sequence from the GPUs of a prefill replica to those of a decode replica, as one activity of the flow network.
 *
 *     bytes of a pair of ranks = tokens · (heads that both have) / K · (layers that both have) / L · KV of a token;  MLA: all heads
 *                                from one rank
 *     time >= max over GPUs of bytes / rate,  blocks · layers · (2, MLA 1) · pairs · per_descriptor
 *     layerwise: from the first layer of the prompt's last step on, no faster than layers are computed; alone on its links,
 *                max (1 / L, 1 - (L - 1) / L · time of its step / time alone) is left when the prompt is computed
 *
 * The pairs move in step: the activity loads each link with its part of the bytes, and shares it max-min with all other
 * transfers. Latency and rate of a copy are those of `kind: transfer` (sto_copies_price).
 * Check: test_serving_fleet: 2,684,354,560 B and 81,920 pieces a GPU for 8,192 tokens of Llama 3.1 70B on tp 8. */
#include <math.h>
#include <string.h>

#include "fleet/way.h"
#include "serving-private.h"
#include "serving/fleet.h"
#include "serving/memory.h"

struct SrvKvFabric {
  const MdlLlm *llm;
  const ColSystem *system;
  SrvPlacedPool pools[2];
  SrvTransferSpec transfer;          /* settled */
  const MdlTransferLibrary *library; /* NULL: none */
  gboolean merges, push;             /* of the library, or of the engine whatever the library */
  gboolean asks;                     /* of the engine */
  SrvFirst first;
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

/* Constants that are absent are those of the library. */
static gboolean
settle (SrvKvFabric *fabric, GError **error)
{
  const SrvEngineSpec *engine = &fabric->pools[0].replica->engine;
  const MdlEngines *engines = fabric->system->engines;
  SrvTransferSpec *transfer = &fabric->transfer;
  const MdlEngineRow *row =
      engines != NULL ? mdl_engine_find (engines, base_name (srv_engine_names, engine->name.v), engine->version.v, NULL) : NULL;
  fabric->first = transfer->first_token.set               ? (SrvFirst)transfer->first_token.v
                  : row != NULL && row->recomputes_last.v ? SRV_FIRST_DECODE
                                                          : SRV_FIRST_HANDED;
  fabric->asks = row != NULL && row->asks_first.v;
  const char *name = transfer->library.v;
  if (name == NULL || *name == '\0')
    name = row != NULL && row->transfer.v != NULL ? row->transfer.v : "none";
  if (strcmp (name, "none") == 0)
    return TRUE;
  fabric->library = mdl_transfer_library (engines, name);
  if (fabric->library == NULL) {
    g_autoptr (GString) known = g_string_new (NULL);
    for (unsigned i = 0; engines != NULL && i < engines->transfers.n; i++)
      g_string_append_printf (known, "%s, ", BASE_LIST_AT (engines->transfers, MdlTransferLibrary, i)->name.v);
    return col_fail_at (error, transfer->library.mark, "no constants of transfer library '%s' are known; use %snone", name,
                        known->str);
  }
  fabric->merges = fabric->library->merges.v || (row != NULL && row->gathers.v);
  fabric->push = fabric->library->push.v || (row != NULL && row->gathers.v);
  if (!transfer->start.set)
    transfer->start.v = fabric->library->start.v;
  if (!transfer->per_descriptor.set)
    transfer->per_descriptor.v = fabric->library->per_descriptor.v;
  return TRUE;
}

GHashTable *
srv_kv_ways_new (void)
{
  return g_hash_table_new_full (ends_hash, ends_equal, g_free, srv_way_free);
}

void
srv_kv_fabric_share (SrvKvFabric *fabric, GHashTable *ways)
{
  g_hash_table_ref (ways);
  g_hash_table_unref (fabric->ways);
  fabric->ways = ways;
}

SrvKvFabric *
srv_kv_fabric_new (const MdlLlm *llm, const ColSystem *system, ColNet *net, const SrvPlacedPool *prefill,
                   const SrvPlacedPool *decode, const SrvTransferSpec *transfer, GError **error)
{
  SrvKvFabric *fabric = g_new0 (SrvKvFabric, 1);
  fabric->llm = llm;
  fabric->system = system;
  fabric->pools[0] = *prefill;
  fabric->pools[1] = *decode;
  fabric->transfer = *transfer;
  fabric->net = net;
  fabric->ways = srv_kv_ways_new ();
  fabric->token_B = srv_kv_token_B (llm, (SrvFormat)prefill->replica->precision.kv.v, &fabric->sequence_B);
  if (!settle (fabric, error))
    g_clear_pointer (&fabric, srv_kv_fabric_free);
  return fabric;
}

void
srv_kv_fabric_free (SrvKvFabric *fabric)
{
  if (fabric == NULL)
    return;
  g_hash_table_unref (fabric->ways);
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

static gboolean
add_rank (SrvKvFabric *fabric, SrvWay *way, const Ends *ends, const guint at[4], double bytes_B, GError **error)
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
  const StoCopies copies = { .pair = &pair, .n = 1, .size_B = part * bytes_B, .count = 1 };
  way->layers = fmax (way->layers, layers);
  if (at[0] == 0 && at[1] == 0)
    way->pairs[0]++;
  if (at[2] == 0 && at[3] == 0)
    way->pairs[1]++;
  return srv_way_add (way, fabric->system, &copies, part, error);
}

static SrvWay *
find_way (SrvKvFabric *fabric, const Ends *ends, double bytes_B, GError **error)
{
  const SrvParallelSpec *a = &fabric->pools[0].replica->parallel, *b = &fabric->pools[1].replica->parallel;
  SrvWay *way = g_hash_table_lookup (fabric->ways, ends);
  if (way != NULL)
    return way;
  way = srv_way_new ();
  guint at[4];
  for (at[0] = 0; at[0] < (guint)a->pp.v; at[0]++)
    for (at[1] = 0; at[1] < (guint)a->tp.v; at[1]++)
      for (at[2] = 0; at[2] < (guint)b->pp.v; at[2]++)
        for (at[3] = 0; at[3] < (guint)b->tp.v; at[3]++)
          if (!add_rank (fabric, way, ends, at, bytes_B, error)) {
            srv_way_free (way);
            return NULL;
          }
  g_hash_table_insert (fabric->ways, g_memdup2 (ends, sizeof *ends), way);
  return way;
}

/* ---- the flow ---- */

/* Pieces of a GPU. Where heads are cut anew, a block goes in parts to several. */
static double
pieces_of (const SrvKvFabric *fabric, const SrvWay *way, guint tokens)
{
  const double block = fabric->pools[0].replica->engine.block.v, pairs = fmax (fmax (way->pairs[0], way->pairs[1]), 1);
  return srv_kv_descriptors (fabric->llm, fabric->merges ? 1 : tokens, fabric->merges ? 1 : block, way->layers) * pairs;
}

/* Time of a GPU for its pieces. */
static double
work_s (const SrvKvFabric *fabric, const SrvWay *way, guint tokens)
{
  return pieces_of (fabric, way, tokens) * fabric->transfer.per_descriptor.v;
}

/* Of the form of SrvFabric. The amount is what moves: copies on ranks that share heads count. */
static gboolean
flow_of (gpointer user, SrvEnd from, SrvEnd to, guint tokens, GArray *uses, EngFlowSpec *spec, GError **error)
{
  SrvKvFabric *fabric = user;
  const Ends ends = { from, to };
  const double bytes_B = fabric->token_B * tokens + fabric->sequence_B;
  const SrvWay *way = find_way (fabric, &ends, bytes_B, error);
  if (way == NULL)
    return FALSE;
  srv_way_flow (way, fabric->net, bytes_B, fabric->transfer.start.v, work_s (fabric, way, tokens), uses, spec);
  if (fabric->library != NULL && fabric->library->nic.set)
    spec->bound_per_s = fmin (spec->bound_per_s, fabric->library->nic.v * way->whole * srv_way_alone_Bps (way));
  return TRUE;
}

/* Of the form of SrvFabric. */
static void
limits_of (gpointer user, SrvEnd from, SrvEnd to, guint tokens, SrvMoved *out)
{
  const SrvKvFabric *fabric = user;
  const Ends ends = { from, to };
  const SrvWay *way = g_hash_table_lookup (fabric->ways, &ends);
  const double bytes_B = fabric->token_B * tokens + fabric->sequence_B;
  if (way == NULL)
    return;
  double rate_Bps = way->whole * srv_way_alone_Bps (way);
  g_autofree char *link = srv_way_slowest (way, fabric->system->clu);
  g_strlcpy (out->slowest, link, sizeof out->slowest);
  if (fabric->library != NULL && fabric->library->nic.set && fabric->library->nic.v < 1) {
    rate_Bps *= fabric->library->nic.v;
    g_snprintf (out->slowest, sizeof out->slowest, "%.0f %% of %s", 100 * fabric->library->nic.v, link);
  }
  out->bytes_B = bytes_B * way->whole;
  out->pieces = pieces_of (fabric, way, tokens);
  out->latency_s = way->latency_s + fabric->transfer.start.v;
  out->pieces_s = work_s (fabric, way, tokens);
  out->wire_s = out->bytes_B / rate_Bps;
}

SrvFirst
srv_kv_fabric_first (const SrvKvFabric *fabric)
{
  return fabric->first;
}

SrvFabric
srv_kv_fabric_run (SrvKvFabric *fabric)
{
  return (SrvFabric){ .eng = col_net_engine (fabric->net),
                      .user = fabric,
                      .flow = flow_of,
                      .limits = limits_of,
                      .layer = fabric->transfer.overlap.v == SRV_KV_OVERLAP_LAYERWISE ? 1 / fabric->llm->layers.v : 0,
                      .pull = fabric->library != NULL && !fabric->push,
                      .asks = fabric->asks,
                      .in_turn = fabric->transfer.to.v == SRV_ROUTER_ROUND_ROBIN };
}
