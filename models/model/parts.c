/* Which layers a model is made of: attention or a recurrence, dense or of experts, both in one layer or each in one of its own.
 *
 * The layers of a vision encoder come first in the chain. `pattern` gives each layer of the language model one block alone, by
 * Nemotron-H's letters (hybrid_override_pattern); else `recurrent.attention_every` says which are attention, `moe` which have
 * experts.
 * Source: NVIDIA Nemotron-H 2504.03624 section 2; Qwen3-Next config.json (full_attention_interval). */
#include <string.h>

#include "models/llm.h"

const char mdl_pattern_letters[] = "M*-E";

const MdlPartFacts *
mdl_part_facts (MdlPart part)
{
  static const MdlPartFacts facts[MDL_PART_N] = {
    [MDL_PART_EMBEDDING] = { .name = "embedding" },
    [MDL_PART_DENSE] = { MDL_MIXER_ATTENTION, MDL_FEED_DENSE, "layer" },
    [MDL_PART_MOE] = { MDL_MIXER_ATTENTION, MDL_FEED_MOE, "expert layer" },
    [MDL_PART_HEAD] = { .name = "head" },
    [MDL_PART_MTP] = { .name = "mtp" },
    [MDL_PART_RECURRENT_DENSE] = { MDL_MIXER_RECURRENT, MDL_FEED_DENSE, "recurrent layer" },
    [MDL_PART_RECURRENT_MOE] = { MDL_MIXER_RECURRENT, MDL_FEED_MOE, "recurrent expert layer" },
    [MDL_PART_RECURRENT] = { MDL_MIXER_RECURRENT, MDL_FEED_NONE, "recurrent" },
    [MDL_PART_ATTENTION] = { MDL_MIXER_ATTENTION, MDL_FEED_NONE, "attention" },
    [MDL_PART_MLP] = { MDL_MIXER_NONE, MDL_FEED_DENSE, "mlp" },
    [MDL_PART_EXPERTS] = { MDL_MIXER_NONE, MDL_FEED_MOE, "experts" },
    [MDL_PART_VISION] = { MDL_MIXER_ATTENTION, MDL_FEED_DENSE, "vision layer" },
    [MDL_PART_NET] = { .name = "layer" },
  };
  return &facts[part];
}

unsigned
mdl_llm_front (const MdlLlm *llm)
{
  return (unsigned)llm->vision.layers.v;
}

unsigned
mdl_llm_chain (const MdlLlm *llm)
{
  return mdl_llm_front (llm) + (unsigned)llm->layers.v;
}

/* Of layer `own` of the language model. */
static gboolean
has_experts (const MdlLlm *llm, unsigned own)
{
  const MdlLlmMoe *moe = &llm->moe;
  if (llm->pattern.v != NULL)
    return llm->pattern.v[own] == 'E';
  if (moe->experts.v < 1 || own < moe->first_dense.v)
    return FALSE;
  const unsigned every = moe->every.set ? (unsigned)moe->every.v : 1;
  return (own + 1) % every == 0;
}

static MdlPart
of_pattern (char letter)
{
  return letter == 'M' ? MDL_PART_RECURRENT : letter == '*' ? MDL_PART_ATTENTION : letter == 'E' ? MDL_PART_EXPERTS : MDL_PART_MLP;
}

MdlPart
mdl_llm_part (const MdlLlm *llm, unsigned layer)
{
  const unsigned front = mdl_llm_front (llm);
  if (layer < front)
    return MDL_PART_VISION;
  const unsigned own = layer - front;
  if (llm->pattern.v != NULL)
    return of_pattern (llm->pattern.v[own]);
  const MdlLlmRecurrent *recurrent = &llm->recurrent;
  const gboolean moe = has_experts (llm, own),
                 attends = recurrent->attention_every.set && (own + 1) % (unsigned)recurrent->attention_every.v == 0;
  if (recurrent->heads.v >= 1 && !attends)
    return moe ? MDL_PART_RECURRENT_MOE : MDL_PART_RECURRENT_DENSE;
  return moe ? MDL_PART_MOE : MDL_PART_DENSE;
}

/* All layers are attention with an MLP or with experts. */
static gboolean
is_plain (const MdlLlm *llm)
{
  return llm->pattern.v == NULL && llm->recurrent.heads.v < 1 && llm->vision.layers.v < 1;
}

double
mdl_llm_n_part (const MdlLlm *llm, MdlPart part)
{
  if (is_plain (llm))
    return part == MDL_PART_MOE ? mdl_llm_n_moe (llm) : part == MDL_PART_DENSE ? llm->layers.v - mdl_llm_n_moe (llm) : 0;
  double n = 0;
  for (unsigned layer = 0; layer < mdl_llm_chain (llm); layer++)
    n += mdl_llm_part (llm, layer) == part ? 1 : 0;
  return n;
}

gboolean
mdl_llm_is_moe (const MdlLlm *llm, unsigned layer)
{
  const unsigned front = mdl_llm_front (llm);
  return layer >= front && has_experts (llm, layer - front);
}

gboolean
mdl_llm_is_windowed (const MdlLlm *llm, unsigned layer)
{
  const unsigned front = mdl_llm_front (llm);
  const BaseNum *window = layer < front ? &llm->vision.window : &llm->attention.window;
  const BaseNum *full_every = layer < front ? &llm->vision.full_every : &llm->attention.full_every;
  if (!window->set || mdl_part_facts (mdl_llm_part (llm, layer))->mixer != MDL_MIXER_ATTENTION)
    return FALSE;
  return !full_every->set || ((layer < front ? layer : layer - front) + 1) % (unsigned)full_every->v != 0;
}

unsigned
mdl_llm_n_moe (const MdlLlm *llm)
{
  const MdlLlmMoe *moe = &llm->moe;
  if (moe->experts.v < 1)
    return 0;
  if (llm->pattern.v != NULL) {
    unsigned n = 0;
    for (const char *at = llm->pattern.v; *at != '\0'; at++)
      n += *at == 'E' ? 1 : 0;
    return n;
  }
  const unsigned layers = (unsigned)llm->layers.v, every = moe->every.set ? (unsigned)moe->every.v : 1;
  return layers / every - MIN (layers, (unsigned)moe->first_dense.v) / every;
}

/* ---- the encoder ---- */

static BaseNum
given (double v)
{
  return (BaseNum){ .v = v, .set = TRUE };
}

void
mdl_llm_vision (const MdlLlm *llm, MdlLlm *out)
{
  const MdlLlmVision *v = &llm->vision;
  *out = (MdlLlm){ .name = llm->name,
                   .layers = v->layers,
                   .hidden = v->hidden,
                   .vocabulary = given (1),
                   .norm = v->norm,
                   .norms = given (2),
                   .positions = { .kind = { .v = v->positions.v > 0 ? MDL_POSITION_NONE : MDL_POSITION_ROPE, .set = TRUE } },
                   .attention = { .kind = { .v = MDL_ATTENTION_MHA, .set = TRUE },
                                  .heads = v->heads,
                                  .bias = v->bias,
                                  .output_bias = v->bias,
                                  .both_ways = { .v = TRUE, .set = TRUE } },
                   .mlp = { .kind = v->mlp, .ffn = v->ffn, .bias = v->bias } };
}
