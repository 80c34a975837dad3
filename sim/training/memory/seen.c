/* What the turns of all stages hold, remembered by all numbers that it depends on. */
#include <string.h>

#include "held-private.h"

/* ---- of all stages, remembered ---- */

/* All that turns_of() reads, as words, and what it said. */
typedef struct {
  guint hash;
  guint n;         /* words of the question; behind them those of TrnHeldTurns, by pipeline rank */
  guint64 words[]; /* numbers with a fraction by their bits */
} Seen;

struct TrnMemoryCache {
  GHashTable *known; /* Seen */
  gsize size_B;
};

enum { SEEN_MOST_B = 8 << 20 };

static guint
hash_seen (gconstpointer key)
{
  return ((const Seen *)key)->hash;
}

static gboolean
same_seen (gconstpointer a, gconstpointer b)
{
  const Seen *x = a, *y = b;
  return x->n == y->n && memcmp (x->words, y->words, x->n * sizeof *x->words) == 0;
}

TrnMemoryCache *
trn_memory_cache_new (void)
{
  TrnMemoryCache *seen = g_new0 (TrnMemoryCache, 1);
  seen->known = g_hash_table_new_full (hash_seen, same_seen, g_free, NULL);
  return seen;
}

void
trn_memory_cache_free (TrnMemoryCache *seen)
{
  if (seen == NULL)
    return;
  g_hash_table_unref (seen->known);
  g_free (seen);
}

static void
ask_words (const TrnHeld *plan, GArray *words)
{
  const TrnModel *model = plan->model;
  const MdlPipeline *pipe = &model->pipe;
  const TrnFsdpSpec *fsdp = &model->spec->model.fsdp;
  const double numbers[] = { plan->eager,
                             plan->shards,
                             plan->dense_comes,
                             plan->expert_comes,
                             model->sync,
                             pipe->schedule,
                             pipe->p,
                             pipe->v,
                             pipe->m,
                             model->n_positions,
                             model->mtp,
                             model->query.recompute,
                             model->again_layers,
                             model->again_stage != NULL,
                             model->spec->model.offload.layers.v,
                             model->llm.tied.v,
                             fsdp->head.set,
                             fsdp->reshard.v,
                             fsdp->prefetch.v,
                             plan->unit_B,
                             plan->gradient_B,
                             plan->gather_B,
                             plan->reduce_B,
                             plan->whole_B,
                             mdl_format_B (model->gather),
                             plan->dense_ranks,
                             plan->expert_ranks,
                             mdl_memory_boundary_B (&model->llm, &model->query) };
  g_array_append_vals (words, numbers, G_N_ELEMENTS (numbers));
  for (int k = 0; k < MDL_PART_NET * TRN_AGAIN_N; k++) {
    const TrnHeldUnit *unit = &plan->part[k / TRN_AGAIN_N][k % TRN_AGAIN_N];
    const guint64 n = unit->n;
    g_array_append_val (words, n);
    g_array_append_vals (words, unit->block, (guint)(n * sizeof (TrnHeldBlock) / sizeof n));
  }
  for (guint32 s = 0; model->again_stage != NULL && s < pipe->p; s++) {
    const guint64 again = model->again_stage[s] ? 1 : 0;
    g_array_append_val (words, again);
  }
  for (guint32 i = 0; i < model->n_positions; i++) {
    const TrnStageLayers *cut = &model->cut[i];
    const guint64 word = (guint64)cut->first << 32 | cut->n << 2 | (cut->embedding ? 2u : 0u) | (cut->head ? 1u : 0u);
    g_array_append_val (words, word);
  }
  const MdlLlm *llm = &model->llm;
  const gboolean alike = llm->moe.experts.v < 1 && llm->recurrent.heads.v < 1 && llm->vision.layers.v < 1 && llm->pattern.v == NULL;
  for (guint32 layer = 0; !alike && layer < mdl_llm_chain (llm); layer++) {
    const guint64 part = mdl_llm_part (llm, layer);
    g_array_append_val (words, part);
  }
}

/* What was seen of such a model, or is looked at now. Borrowed until the next call. */
const TrnHeldTurns *
trn_held_recall (TrnMemoryCache *seen, const TrnHeld *plan, GArray *const *orders)
{
  G_STATIC_ASSERT (sizeof (TrnHeldBlock) % sizeof (guint64) == 0 && sizeof (TrnHeldTurns) % sizeof (guint64) == 0);
  const guint header = (guint)(sizeof (Seen) / sizeof (guint64)), each = (guint)(sizeof (TrnHeldTurns) / sizeof (guint64));
  g_autoptr (GArray) words = g_array_sized_new (FALSE, TRUE, sizeof (guint64), 256);
  g_array_set_size (words, header);
  ask_words (plan, words);
  guint n = words->len - header, p = plan->model->pipe.p;
  guint64 hash = 14695981039346656037u;
  for (guint i = 0; i < n; i++)
    hash = (hash ^ hash >> 29 ^ g_array_index (words, guint64, header + i)) * 1099511628211u;
  Seen *query = (Seen *)(void *)words->data;
  query->hash = (guint)(hash >> 32);
  query->n = n;
  const Seen *known = g_hash_table_lookup (seen->known, query);
  if (known == NULL) {
    for (guint32 s = 0; s < p; s++) {
      const TrnHeldTurns turns = trn_held_turns (plan, s, orders != NULL ? orders[s] : NULL);
      g_array_append_vals (words, &turns, each);
    }
    if (seen->size_B > SEEN_MOST_B) {
      g_hash_table_remove_all (seen->known);
      seen->size_B = 0;
    }
    seen->size_B += words->len * sizeof (guint64);
    Seen *one = g_memdup2 (words->data, words->len * sizeof (guint64));
    g_hash_table_add (seen->known, one);
    known = one;
  }
  return (const TrnHeldTurns *)(const void *)&known->words[n];
}
