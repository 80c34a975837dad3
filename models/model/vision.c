/* A vision encoder in front of a language model: a transformer over the patches of images whose attention is not causal, and a
 * projector that makes tokens of what it gives.
 *
 * An image of n patches goes through `layers` layers of width w, each attention of all patches among each other, or of windows of
 * them, and an MLP: layers of a model of its own (mdl_llm_vision), whose sequences are images. Before them 3·frames·patch²
 * numbers of a patch become w by one matrix; behind them `merge` patches become one token of the language model, side by side or
 * as their mean, through one matrix or two with a GELU between. These tokens take the place of some in the sequence, which stays
 * as long as it is. Encoder layers are cut by tp as others are; the first matrix is whole on each rank.
 * FLOP of an image = 6 x matrix elements x n + 6 x pairs x 2 w a layer, pairs n² or n·window; the projector n / merge x its
 * elements.
 * Source: Dosovitskiy et al. 2010.11929; Zhai et al. 2303.15343 (SigLIP); Qwen2.5-VL 2502.13923 section 2.1 and transformers
 * models/qwen2_5_vl/modeling_qwen2_5_vl.py; Gemma 3 2503.19786 section 2.2 and transformers models/gemma3/modeling_gemma3.py.
 * Valid: all images of one size; cp 1. Left out: rotary tables of patches, the resizing of images on the host.
 * Check: parameters of Qwen2.5-VL and Gemma 3 as published, FLOP of works = closed form (tests/unit). */
#include <math.h>

#include "model/layer-private.h"

void
mdl_vision_query (const MdlLlm *llm, const MdlLayerQuery *query, gboolean windowed, MdlLayerQuery *out)
{
  *out = *query;
  out->sequence = query->patches;
  out->micro_batch = query->micro_batch * query->images;
  out->packed = windowed ? llm->vision.window.v : 0;
  out->cp = 1;
}

/* ---- patches and projector ---- */

/* Patches of a micro-batch, and the tokens that they become. */
typedef struct {
  double patches, tokens, merged; /* merged: width of what becomes one */
} Counts;

static Counts
counts_of (const MdlBuild *build)
{
  const MdlLlmVision *v = &build->llm->vision;
  const double patches = build->query->micro_batch * build->query->images * build->query->patches;
  return (Counts){ patches, patches / v->merge.v, v->pool.v ? v->hidden.v : v->merge.v * v->hidden.v };
}

static MdlLinear
patch_matrix (const MdlBuild *build)
{
  const MdlLlmVision *v = &build->llm->vision;
  return (MdlLinear){
    "patches", 3 * v->frames.v * v->patch.v * v->patch.v, v->hidden.v, 1, v->patch_bias.v, 0, build->query->activation, FALSE
  };
}

static void
project (MdlBuild *build, gboolean back)
{
  const MdlLlmVision *v = &build->llm->vision;
  const Counts counts = counts_of (build);
  const double tp = build->query->tp, wide = v->projector_ffn.v / tp;
  const MdlFormat format = build->query->compute;
  const MdlLinear up = { "projector_up", counts.merged, wide, 1, v->projector_bias.v, 0, format, FALSE };
  const MdlLinear last = { "projector", wide, build->llm->hidden.v, 1, v->projector_bias.v, 0, format, FALSE };
  const MdlLinear only = { "projector", counts.merged, build->llm->hidden.v / tp, 1, v->projector_bias.v, 0, format, FALSE };
  const double unit_B = counts.tokens * wide * build->element_B;
  if (v->projector_ffn.v > 0 && !back) {
    mdl_build_columns (build, &up, 1, counts.tokens, MDL_GROUP_TP);
    mdl_build_memory (build, "projector_gelu", unit_B, unit_B, 1);
    mdl_build_row (build, &last, counts.tokens, MDL_GROUP_TP);
  } else if (v->projector_ffn.v > 0) {
    mdl_build_row_back (build, &last, counts.tokens, MDL_GROUP_TP);
    mdl_build_memory (build, "projector_gelu", 2 * unit_B, unit_B, 1);
    mdl_build_columns_back (build, &up, 1, counts.tokens, MDL_GROUP_TP);
  } else if (!back) {
    mdl_build_columns (build, &only, 1, counts.tokens, MDL_GROUP_TP);
    mdl_build_coll (build, "gather_projection", MDL_OP_ALL_GATHER, MDL_GROUP_TP,
                    counts.tokens * build->llm->hidden.v * build->element_B, build->query->activation);
  } else
    mdl_build_columns_back (build, &only, 1, counts.tokens, MDL_GROUP_TP);
}

/* Norms on the way out of the encoder, elements of each. */
static void
norms (MdlBuild *build, gboolean back)
{
  const MdlLlmVision *v = &build->llm->vision;
  const Counts counts = counts_of (build);
  void (*norm) (MdlBuild *, const char *, double, gboolean) = back ? mdl_build_norm_back : mdl_build_norm;
  if (v->final_norm.v)
    norm (build, "norm", counts.patches * v->hidden.v, FALSE);
  if (v->projector_norm.v != MDL_PROJECTOR_NORM_NONE)
    norm (build, "norm", v->pool.v ? counts.tokens * v->hidden.v : counts.patches * v->hidden.v, FALSE);
  if (v->pool.v) {
    const double in_B = counts.patches * v->hidden.v * build->element_B, out_B = in_B / v->merge.v;
    mdl_build_memory (build, "pool", back ? out_B : in_B, back ? in_B : out_B, 1);
  }
}

void
mdl_build_patches (MdlBuild *build)
{
  const Counts counts = counts_of (build);
  const MdlLinear patches = patch_matrix (build);
  const double unit_B = counts.patches * patches.out * build->element_B;
  const double tokens_B = counts.tokens * build->llm->hidden.v * build->element_B;
  mdl_build_columns (build, &patches, 1, counts.patches, MDL_GROUP_NONE);
  if (build->llm->vision.positions.v > 0)
    mdl_build_memory (build, "positions", 2 * unit_B, unit_B, 1);
  norms (build, FALSE);
  project (build, FALSE);
  mdl_build_memory (build, "place_images", tokens_B, tokens_B, 2);
}

void
mdl_build_patches_back (MdlBuild *build)
{
  const Counts counts = counts_of (build);
  const MdlLinear patches = patch_matrix (build);
  const double tokens_B = counts.tokens * build->llm->hidden.v * build->element_B;
  mdl_build_memory (build, "place_images", tokens_B, tokens_B, 2);
  project (build, TRUE);
  norms (build, TRUE);
  mdl_build_wgrad (build, &patches, counts.patches); /* pixels have no gradient */
  build->pass = MDL_PASS_DGRAD;
}

/* ---- FLOP ---- */

void
mdl_llm_add_vision_flop (const MdlLlm *llm, double sequence, double images, double patches, MdlLlmFlop *out)
{
  const MdlLlmVision *v = &llm->vision;
  if (v->layers.v < 1 || images <= 0)
    return;
  MdlLlm encoder;
  MdlLlmFlop all, windowed;
  mdl_llm_vision (llm, &encoder);
  const double table = 6 * encoder.hidden.v * encoder.vocabulary.v; /* it has no head */
  const double in_windows = v->window.set ? v->layers.v - (v->full_every.set ? floor (v->layers.v / v->full_every.v) : 0) : 0;
  mdl_llm_token_flop (&encoder, patches, 0, &all);
  mdl_llm_token_flop (&encoder, patches, v->window.set ? v->window.v : 0, &windowed);
  const double merged = v->pool.v ? v->hidden.v : v->merge.v * v->hidden.v, wide = v->projector_ffn.v;
  const double a_token = wide > 0 ? wide * (merged + llm->hidden.v) : merged * llm->hidden.v;
  const double a_patch = 4 * v->frames.v * v->patch.v * v->patch.v * 3 * v->hidden.v / 6; /* no gradient of pixels: 4 for 6 */
  const double of_tokens = images * patches / sequence;
  const double scores = (windowed.attention_flop * in_windows + all.attention_flop * (v->layers.v - in_windows)) / v->layers.v;
  out->matrix_flop += of_tokens * (all.matrix_flop - table + 6 * (a_patch + a_token / v->merge.v));
  out->attention_flop += of_tokens * scores;
  out->attention_causal_flop += of_tokens * scores;
}
