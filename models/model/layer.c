/* The works of a part of a model on one rank: which blocks follow each other, forward and backward, and what is computed again.
 *
 * A layer: norm, attention, add, norm, MLP or experts, add; with norms after, each before its add; with attention and MLP side by
 * side, one add of three. Fused code adds in the norm that follows, that of the next layer included.
 * A layer may be one of the halves alone, and its attention a recurrence (parts.c, recurrent.c); layers of a vision encoder are
 * layers of a model of its own (vision.c). Full recomputation repeats the forward of the layer with its collectives before its
 * backward; of single modules what stands in them, just before their own backward. Embedding: a gather of rows; its gradient is
 * added to the rows that were used (eager code writes a whole table first). Loss: logits in fp32, one pass or the steps of
 * log-softmax; with the vocabulary cut, three all-reduces of a number a token. Multi-token prediction: embedding, two norms, a
 * projection of both, a layer, the head again. Loss in 16 bits: flash-attention flash_attn/ops/triton/cross_entropy.py,
 * TransformerEngine transformer_engine/common/triton/cross_entropy.py.
 * Source: Narayanan et al. 2104.04473 section 2.3; Korthikanti et al. 2205.05198 sections 4, 5; Megatron-LM
 * core/tensor_parallel/cross_entropy.py; DeepSeek-V3 2412.19437 section 2.2 (multi-token prediction).
 * Check: FLOP = closed form of models/llm.h, bytes of collectives = closed form (tests/unit). */
#include <math.h>

#include "model/layer-private.h"
#include "models/net.h"

const BaseName mdl_framework_names[] = {
  { "eager", MDL_FRAMEWORK_EAGER, "one kernel per operation, launched by the framework" },
  { "fused", MDL_FRAMEWORK_FUSED, "compiled, or a library's fused kernels" },
  { "graphs", MDL_FRAMEWORK_GRAPHS, "fused, launched as CUDA graphs" },
  { NULL, 0, NULL },
};

const BaseName mdl_cp_names[] = {
  { "ring", MDL_CP_RING, "keys and values travel round a ring, concurrently with core attention" },
  { "all_gather", MDL_CP_ALL_GATHER, "keys and values are gathered before core attention" },
  { "ulysses", MDL_CP_ULYSSES, "heads are exchanged for tokens by all-to-all" },
  { NULL, 0, NULL },
};

const BaseName mdl_loss_names[] = {
  { "framework", MDL_LOSS_FRAMEWORK, "the framework's own, with logits in fp32" },
  { "flash", MDL_LOSS_FLASH, "flash-attention's cross-entropy: logits in 16 bits, and their gradient beside them" },
  { "in_place", MDL_LOSS_IN_PLACE, "Transformer Engine's or Liger's: the gradient takes the logits' place in the forward pass" },
  { NULL, 0, NULL },
};

const BaseName mdl_experts_names[] = {
  { "sorted", MDL_EXPERTS_SORTED, "tokens are sorted once; the host reads the counts and launches each expert's kernels" },
  { "loop", MDL_EXPERTS_LOOP, "one by one: each finds its tokens (the host waits), gathers them and adds its result" },
  { "grouped", MDL_EXPERTS_GROUPED, "one kernel for all experts of a rank, which reads the counts on the GPU" },
  { NULL, 0, NULL },
};

const BaseName mdl_dispatcher_names[] = {
  { "alltoall", MDL_DISPATCHER_ALLTOALL, "NCCL's all-to-all of a copy for each expert" },
  { "deepep", MDL_DISPATCHER_DEEPEP, "DeepEP's normal kernels: a copy for each rank, over the NIC one for each node" },
  { "hybridep", MDL_DISPATCHER_HYBRIDEP, "DeepEP's hybrid kernels: the same, with few SMs, in the order of experts" },
  { NULL, 0, NULL },
};

const BaseName mdl_module_names[] = {
  { "core_attention", MDL_MODULE_CORE_ATTENTION, "scores, softmax, weighted values" },
  { "attention", MDL_MODULE_ATTENTION, "from the norm to before the output projection" },
  { "mlp", MDL_MODULE_MLP, "from the norm to before the last matrix" },
  { "activation", MDL_MODULE_ACTIVATION, "the MLP's activation function" },
  { "norm", MDL_MODULE_NORM, "the norms" },
  { "mla_up_proj", MDL_MODULE_MLA_UP, "MLA: queries, keys and values from their compressed forms" },
  { "moe_act", MDL_MODULE_MOE_ACT, "the activation function of routed experts" },
  { "second_products", MDL_MODULE_SECOND, "torchtitan's selective: every second product, norms and activations" },
  { "layer", MDL_MODULE_LAYER, "all of it, with its collectives" },
  { NULL, 0, NULL },
};

const BaseName mdl_lora_names[] = {
  { "q", MDL_LORA_Q, "queries" },
  { "k", MDL_LORA_K, "keys" },
  { "v", MDL_LORA_V, "values" },
  { "o", MDL_LORA_O, "output of attention" },
  { "gate", MDL_LORA_GATE, "gate of the MLP" },
  { "up", MDL_LORA_UP, "up" },
  { "down", MDL_LORA_DOWN, "down" },
  { NULL, 0, NULL },
};

const char *const mdl_pass_names[MDL_PASS_N] = { "forward", "recompute", "dgrad", "wgrad", "optimizer" };

unsigned
mdl_recompute_selective (gboolean flash)
{
  return flash ? 0 : MDL_MODULE_CORE_ATTENTION;
}

void
mdl_layer_query_default (MdlLayerQuery *query, double sequence)
{
  *query = (MdlLayerQuery){ .tp = 1,
                            .cp = 1,
                            .ep = 1,
                            .etp = 1,
                            .micro_batch = 1,
                            .sequence = sequence,
                            .framework = MDL_FRAMEWORK_FUSED,
                            .flash = TRUE,
                            .compute = MDL_FORMAT_BF16,
                            .head_compute = MDL_FORMAT_BF16,
                            .router = MDL_FORMAT_FP32,
                            .activation = MDL_FORMAT_BF16,
                            .cached = MDL_FORMAT_NONE,
                            .base = MDL_FORMAT_NONE,
                            .gradient = MDL_FORMAT_FP32,
                            .vocabulary_multiple = 1,
                            .imbalance = 1,
                            .dispatch = MDL_FORMAT_BF16,
                            .ep_nodes = 1 };
}

/* ---- layers ---- */

/* Elements between the matrices. */
static double
stream (const MdlBuild *build)
{
  return build->rows * build->llm->hidden.v;
}

/* The norm before a block, of modules `of`. */
static void
pre_norm (MdlBuild *build, unsigned of, gboolean with_add)
{
  const unsigned modules = build->modules;
  build->modules |= MDL_MODULE_NORM | MDL_MODULE_SECOND | of;
  mdl_build_norm (build, "norm", stream (build), with_add);
  build->modules = modules;
}

/* Norms after attention and MLP. */
static void
post_norm (MdlBuild *build, gboolean back)
{
  if (build->llm->norms.v < 4)
    return;
  const unsigned modules = build->modules;
  build->modules |= MDL_MODULE_NORM;
  if (back)
    mdl_build_norm_back (build, "norm_after", stream (build), FALSE);
  else
    mdl_build_norm (build, "norm_after", stream (build), FALSE);
  build->modules = modules;
}

static void
mixer_half (MdlBuild *build)
{
  if (build->part.mixer == MDL_MIXER_NONE)
    return;
  pre_norm (build, MDL_MODULE_ATTENTION, build->layer > 0);
  if (build->part.mixer == MDL_MIXER_RECURRENT)
    mdl_build_recurrent (build);
  else
    mdl_build_attention (build);
  post_norm (build, FALSE);
  const unsigned modules = build->modules;
  build->modules |= MDL_MODULE_SECOND; /* what the MLP takes */
  mdl_build_add (build, stream (build));
  build->modules = modules;
}

static void
mlp_half (MdlBuild *build)
{
  if (build->part.feed == MDL_FEED_NONE)
    return;
  if (build->llm->norms.v > 1 || build->part.mixer == MDL_MIXER_NONE)
    pre_norm (build, MDL_MODULE_MLP, !build->llm->parallel.v);
  if (build->part.feed == MDL_FEED_MOE)
    mdl_build_moe (build);
  else
    mdl_build_mlp (build, build->llm->mlp.ffn.v, "mlp_up", "mlp_down");
  post_norm (build, FALSE);
  mdl_build_add (build, stream (build));
}

/* What a half repeats before its own backward. */
static void
again (MdlBuild *build, void (*half) (MdlBuild *build))
{
  const unsigned modules = build->query->recompute;
  if (modules == 0 || (modules & MDL_MODULE_LAYER) != 0)
    return;
  build->pass = MDL_PASS_RECOMPUTE;
  build->filter = modules;
  half (build);
  build->filter = 0;
  build->pass = MDL_PASS_DGRAD;
}

static void
layer_forward (MdlBuild *build)
{
  mixer_half (build);
  mlp_half (build);
}

static void
mlp_half_back (MdlBuild *build)
{
  mdl_build_add_back (build, stream (build));
  again (build, mlp_half);
  post_norm (build, TRUE);
  if (build->part.feed == MDL_FEED_MOE)
    mdl_build_moe_back (build);
  else
    mdl_build_mlp_back (build, build->llm->mlp.ffn.v, "mlp_up", "mlp_down");
  if (build->llm->norms.v > 1 || build->part.mixer == MDL_MIXER_NONE)
    mdl_build_norm_back (build, "norm", stream (build), TRUE);
}

static void
mixer_half_back (MdlBuild *build)
{
  mdl_build_add_back (build, stream (build));
  again (build, mixer_half);
  post_norm (build, TRUE);
  if (build->part.mixer == MDL_MIXER_RECURRENT)
    mdl_build_recurrent_back (build);
  else
    mdl_build_attention_back (build);
  mdl_build_norm_back (build, "norm", stream (build), TRUE);
}

static void
layer_back (MdlBuild *build)
{
  if ((build->query->recompute & MDL_MODULE_LAYER) != 0) {
    build->pass = MDL_PASS_RECOMPUTE;
    layer_forward (build);
  }
  build->pass = MDL_PASS_DGRAD;
  if (build->part.feed != MDL_FEED_NONE)
    mlp_half_back (build);
  if (build->part.mixer != MDL_MIXER_NONE)
    mixer_half_back (build);
}

/* ---- embedding ---- */

static double
vocabulary_rows (const MdlBuild *build)
{
  const double multiple = build->query->vocabulary_multiple, ranks = build->query->tp;
  return ceil (build->llm->vocabulary.v / (multiple * ranks)) * multiple;
}

static void
embedding_forward (MdlBuild *build)
{
  const double all_B = build->tokens * build->llm->hidden.v * build->stream_B, unit_B = stream (build) * build->stream_B;
  mdl_build_memory (build, "embedding", all_B, all_B, build->query->tp > 1 ? 3 : 1); /* cut: tokens of other ranks are masked */
  mdl_build_coll (build, "reduce_embedding", build->query->sp ? MDL_OP_REDUCE_SCATTER : MDL_OP_ALL_REDUCE, MDL_GROUP_TP, all_B,
                  build->query->activation);
  if (build->llm->positions.kind.v == MDL_POSITION_LEARNED)
    mdl_build_memory (build, "positions", 2 * unit_B, unit_B, 1);
  if (build->llm->embedding_norm.v)
    mdl_build_norm (build, "norm", stream (build), FALSE);
  if (build->query->dropout)
    mdl_build_memory (build, "dropout", unit_B, unit_B + stream (build), 1);
  if (build->llm->vision.layers.v > 0)
    mdl_build_patches (build);
}

static void
embedding_back (MdlBuild *build)
{
  if (mdl_build_frozen (build))
    return;
  const MdlLayerQuery *query = build->query;
  const double all = build->tokens * build->llm->hidden.v,
               table_B = vocabulary_rows (build) * build->llm->hidden.v * build->stream_B;
  if (build->llm->vision.layers.v > 0)
    mdl_build_patches_back (build);
  mdl_build_add_back (build, stream (build));
  if (build->llm->embedding_norm.v)
    mdl_build_norm_back (build, "norm", stream (build), FALSE);
  if (query->sp)
    mdl_build_coll (build, "gather_gradient", MDL_OP_ALL_GATHER, MDL_GROUP_TP, all * build->stream_B, query->activation);
  build->pass = MDL_PASS_WGRAD;
  const double sum_B = all * (build->fused ? mdl_format_B (query->gradient) : build->stream_B);
  mdl_build_memory (build, "embedding", all * build->stream_B + sum_B, sum_B + (build->fused ? 0 : table_B), 3);
  const MdlFormat made = query->autocast ? MDL_FORMAT_FP32 : query->activation;
  if (!build->fused && (query->accumulate || query->gradient != made)) {
    const double buffer_B = table_B / build->stream_B * mdl_format_B (query->gradient);
    mdl_build_memory (build, "accumulate", table_B + (query->accumulate ? buffer_B : 0), buffer_B, 1);
  }
  build->pass = MDL_PASS_DGRAD;
}

/* ---- head and loss ---- */

static MdlLinear
head_of (const MdlBuild *build)
{
  return (MdlLinear){ "head", build->llm->hidden.v, vocabulary_rows (build), 1, FALSE, 0, build->query->head_compute, FALSE };
}

/* Logits whose loss is computed here. */
static double
logits_of (const MdlBuild *build)
{
  return build->tokens * vocabulary_rows (build) * MAX (build->query->outputs, 1);
}

/* Logits of other replicas come here, and their gradients go back: as much through this rank's links as an all-gather brings. */
static void
move_outputs (MdlBuild *build, const char *name)
{
  mdl_build_coll (build, name, MDL_OP_ALL_GATHER, MDL_GROUP_DP, logits_of (build) * build->element_B, build->query->activation);
}

/* Logits as they are, once; eager: to fp32, the largest, log-softmax, the target's. */
static void
loss_forward (MdlBuild *build)
{
  const double logits = logits_of (build), tokens_B = build->tokens * 4;
  move_outputs (build, "gather_outputs");
  if (build->query->loss == MDL_LOSS_FLASH) /* one pass, which sums up as it goes */
    mdl_build_memory (build, "loss", logits * build->element_B, 0, 1);
  else if (build->query->loss == MDL_LOSS_IN_PLACE) /* the sum; then the gradient */
    mdl_build_memory (build, "loss", logits * 2 * build->element_B, logits * build->element_B, 1);
  else if (build->fused) /* to fp32; the largest; less it, and the exponential; over their sum */
    mdl_build_memory (build, "loss", logits * (build->element_B + 3 * 4), logits * (4 + 8 + 4), 1);
  else
    mdl_build_memory (build, "loss", logits * (build->element_B + 4), logits * (4 + 4), 4);
  if (build->query->metrics > 0) /* log-softmax in the logits' format, and the targets' of it */
    mdl_build_memory (build, "loss", build->query->metrics * logits * build->element_B,
                      build->query->metrics * logits * build->element_B, 2 * build->query->metrics);
  static const char *const sums[] = { "reduce_largest", "reduce_target", "reduce_sum" };
  for (size_t i = 0; i < G_N_ELEMENTS (sums); i++)
    mdl_build_coll (build, sums[i], MDL_OP_ALL_REDUCE, MDL_GROUP_TP, tokens_B, MDL_FORMAT_FP32);
}

static void
loss_back (MdlBuild *build)
{
  const double logits = logits_of (build);
  if (build->query->loss != MDL_LOSS_FRAMEWORK) /* the gradient, or times that of the loss */
    mdl_build_memory (build, "loss", logits * build->element_B, logits * build->element_B, 1);
  else if (build->fused)
    mdl_build_memory (build, "loss", logits * 4, logits * build->element_B, 1);
  else /* the target's gradient among zeros, of log-softmax, back from fp32 */
    mdl_build_memory (build, "loss", logits * (4 + 4 + 4), logits * (4 + 4 + build->element_B), 4);
  move_outputs (build, "scatter_gradients");
}

static void
head_forward (MdlBuild *build)
{
  const MdlLinear head = head_of (build);
  if (build->llm->final_norm.v)
    mdl_build_norm (build, "norm", stream (build), TRUE);
  mdl_build_columns (build, &head, 1, build->tokens, MDL_GROUP_TP);
  loss_forward (build);
}

static void
head_back (MdlBuild *build)
{
  const MdlLinear head = head_of (build);
  build->pass = MDL_PASS_DGRAD;
  loss_back (build);
  mdl_build_columns_back (build, &head, 1, build->tokens, MDL_GROUP_TP);
  if (build->llm->final_norm.v)
    mdl_build_norm_back (build, "norm", stream (build), FALSE);
}

/* ---- multi-token prediction ---- */

static MdlLinear
mtp_projection (const MdlBuild *build)
{
  return (MdlLinear){
    "mtp_projection", 2 * build->llm->hidden.v, build->llm->hidden.v / build->query->tp, 1, FALSE, 0, build->query->compute, FALSE
  };
}

/* The projection is cut by outputs, which are gathered (with sp: their own rows are kept). */
static void
mtp_forward (MdlBuild *build)
{
  const MdlLinear projection = mtp_projection (build);
  const double all_B = build->tokens * build->llm->hidden.v * build->element_B;
  embedding_forward (build);
  mdl_build_norm (build, "norm", stream (build), FALSE);
  mdl_build_norm (build, "norm", stream (build), FALSE);
  mdl_build_columns (build, &projection, 1, build->tokens, MDL_GROUP_TP);
  mdl_build_coll (build, "gather_projection", MDL_OP_ALL_GATHER, MDL_GROUP_TP, all_B, build->query->activation);
  layer_forward (build);
  head_forward (build);
}

static void
mtp_back (MdlBuild *build)
{
  const MdlLinear projection = mtp_projection (build);
  head_back (build);
  layer_back (build);
  mdl_build_columns_back (build, &projection, 1, build->tokens, MDL_GROUP_TP);
  mdl_build_norm_back (build, "norm", stream (build), FALSE);
  mdl_build_norm_back (build, "norm", stream (build), FALSE);
  embedding_back (build);
}

/* ---- parts ---- */

static const struct {
  void (*forward) (MdlBuild *build), (*back) (MdlBuild *build);
} parts[MDL_PART_N] = {
  [MDL_PART_EMBEDDING] = { embedding_forward, embedding_back },
  [MDL_PART_DENSE] = { layer_forward, layer_back },
  [MDL_PART_MOE] = { layer_forward, layer_back },
  [MDL_PART_HEAD] = { head_forward, head_back },
  [MDL_PART_MTP] = { mtp_forward, mtp_back },
  [MDL_PART_RECURRENT_DENSE] = { layer_forward, layer_back },
  [MDL_PART_RECURRENT_MOE] = { layer_forward, layer_back },
  [MDL_PART_RECURRENT] = { layer_forward, layer_back },
  [MDL_PART_ATTENTION] = { layer_forward, layer_back },
  [MDL_PART_MLP] = { layer_forward, layer_back },
  [MDL_PART_EXPERTS] = { layer_forward, layer_back },
  [MDL_PART_VISION] = { layer_forward, layer_back },
};

void
mdl_layer_works (const MdlLlm *llm, const MdlLayerQuery *query, MdlPart part, unsigned layer, GArray *forward, GArray *backward)
{
  g_return_if_fail (part < MDL_PART_N);
  if (part == MDL_PART_NET) {
    mdl_net_works (llm->net, query, layer, forward, backward);
    return;
  }
  const unsigned front = mdl_llm_front (llm);
  MdlPartFacts facts = *mdl_part_facts (part);
  MdlLayerQuery patches;
  MdlLlm encoder;
  if (part == MDL_PART_MTP)
    facts = *mdl_part_facts (llm->moe.experts.v >= 1 ? MDL_PART_MOE : MDL_PART_DENSE);
  if (part == MDL_PART_VISION) {
    mdl_vision_query (llm, query, mdl_llm_is_windowed (llm, layer), &patches);
    mdl_llm_vision (llm, &encoder);
    llm = &encoder;
    query = &patches;
  } else
    layer -= MIN (layer, front);
  MdlBuild build;
  if (forward != NULL) {
    mdl_build_init (&build, llm, query, layer, forward);
    build.part = facts;
    build.outside = part == MDL_PART_HEAD;
    parts[part].forward (&build);
  }
  if (backward != NULL) {
    mdl_build_init (&build, llm, query, layer, backward);
    build.part = facts;
    build.outside = part == MDL_PART_HEAD;
    build.pass = MDL_PASS_DGRAD;
    parts[part].back (&build);
    if (query->delay_wgrad && parts[part].back == layer_back)
      mdl_build_delay_wgrad (backward);
  }
}
