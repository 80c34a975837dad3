/* Checks of models whose layers differ: recurrent ones, those of one block, and a vision encoder in front. */
#include <string.h>

#include "models/llm.h"
#include "training/llm.h"

static void
check_pattern (const MdlLlm *llm, BaseDiag *diag)
{
  const BaseStr *pattern = &llm->pattern;
  const size_t n = strlen (pattern->v), known = strspn (pattern->v, mdl_pattern_letters);
  if (known < n)
    base_diag_error (diag, pattern->mark,
                     "letter %zu of pattern is '%c'; accepted: M (recurrence), * (attention), - (MLP), E (experts)", known + 1,
                     pattern->v[known]);
  else if ((double)n < llm->layers.v || (double)n > llm->layers.v)
    base_diag_error (diag, pattern->mark, "pattern has %zu letters, and layers is %.0f; give a letter for each layer", n,
                     llm->layers.v);
  else {
    const struct {
      char letter;
      gboolean has;
      const char *key;
    } needs[] = { { 'M', llm->recurrent.heads.v >= 1, "recurrent" },
                  { '-', llm->mlp.ffn.v >= 1, "ffn in mlp" },
                  { 'E', llm->moe.experts.v >= 1, "moe" } };
    for (size_t i = 0; i < G_N_ELEMENTS (needs); i++)
      if ((strchr (pattern->v, needs[i].letter) != NULL) && !needs[i].has)
        base_diag_error (diag, pattern->mark, "pattern has layers %c, which need the key %s", needs[i].letter, needs[i].key);
    if (llm->moe.experts.v >= 1 && strchr (pattern->v, 'E') == NULL)
      base_diag_error (diag, llm->moe.head.mark, "none of the layers of pattern has experts (letter E); leave moe out");
  }
  if (llm->recurrent.attention_every.set)
    base_diag_error (diag, llm->recurrent.attention_every.mark,
                     "pattern says which layers are attention; leave attention_every out");
  if (llm->norms.set && llm->norms.v != 2)
    base_diag_error (diag, llm->norms.mark, "a layer of pattern has one block and one norm; leave norms out");
}

static void
check_recurrent (const MdlLlm *llm, BaseDiag *diag)
{
  const MdlLlmRecurrent *r = &llm->recurrent;
  if ((guint64)r->heads.v % (guint64)r->groups.v != 0)
    base_diag_error (diag, r->groups.mark, "groups %.0f does not divide heads %.0f; use a divisor of it", r->groups.v, r->heads.v);
  if (llm->parallel.v)
    base_diag_error (diag, llm->parallel.mark, "layers with attention and MLP in parallel have no recurrence; leave parallel out");
  if (llm->attention.kind.v == MDL_ATTENTION_MLA)
    base_diag_error (diag, r->head.mark, "recurrent layers beside mla are not modelled; accepted: mha, gqa, mqa");
}

static void
check_vision (const MdlLlm *llm, BaseDiag *diag)
{
  const MdlLlmVision *v = &llm->vision;
  if ((guint64)v->hidden.v % (guint64)v->heads.v != 0)
    base_diag_error (diag, v->heads.mark, "%.0f heads do not divide the encoder's hidden %.0f; use a divisor of it", v->heads.v,
                     v->hidden.v);
  if (v->full_every.set && !v->window.set)
    base_diag_error (diag, v->full_every.mark, "full_every without window: all layers see all; leave it out, or give window");
  if (v->pool.v && v->merge.v < 2)
    base_diag_error (diag, v->pool.mark, "pool is of several patches, and merge is %.0f; give merge, e.g. 16", v->merge.v);
}

gboolean
trn_llm_check_layers (const MdlLlm *llm, BaseDiag *diag)
{
  const unsigned before = base_diag_n_errors (diag);
  if (llm->recurrent.head.set)
    check_recurrent (llm, diag);
  if (llm->pattern.v != NULL)
    check_pattern (llm, diag);
  if (llm->vision.head.set)
    check_vision (llm, diag);
  return base_diag_n_errors (diag) == before;
}
