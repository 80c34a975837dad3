/* Which layouts a model allows, and what a rank of one holds of its weights. */
#include <math.h>
#include <string.h>

#include "collective/gpu.h"
#include "serving-private.h"

static gboolean
divides (double whole, double part)
{
  return fmod (whole, part) < 0.5;
}

/* The largest divisor of `whole` that is not above `part`. */
static double
divisor_near (double whole, double part)
{
  double d = fmin (part, whole);
  while (d > 1 && !divides (whole, d))
    d--;
  return fmax (d, 1);
}

static gboolean
check_tp (const MdlLlm *llm, const SrvReplicaSpec *spec, GError **error)
{
  const BaseNum *tp = &spec->parallel.tp;
  const double heads = llm->attention.heads.v, kv = mdl_llm_kv_heads (llm);
  if (!divides (heads, tp->v))
    return col_fail_at (error, tp->mark, "tp %.0f does not divide the %.0f query heads of %s; use tp %.0f", tp->v, heads,
                        llm->name.v, divisor_near (heads, tp->v));
  if (llm->attention.kind.v != MDL_ATTENTION_MLA && !divides (kv, tp->v) && !divides (tp->v, kv))
    return col_fail_at (error, tp->mark, "tp %.0f and the %.0f key-value heads of %s do not divide each other; use tp %.0f", tp->v,
                        kv, llm->name.v, divisor_near (kv, tp->v));
  if (llm->mlp.ffn.v > 0 && !divides (llm->mlp.ffn.v, tp->v))
    return col_fail_at (error, tp->mark, "tp %.0f does not divide the MLP's width %.0f of %s; use tp %.0f", tp->v, llm->mlp.ffn.v,
                        llm->name.v, divisor_near (llm->mlp.ffn.v, tp->v));
  return TRUE;
}

static gboolean
check_experts (const MdlLlm *llm, const SrvReplicaSpec *spec, GError **error)
{
  const SrvParallelSpec *p = &spec->parallel;
  const double experts = llm->moe.experts.v, slots = experts + spec->moe.redundant.v;
  if (experts < 1) {
    if (p->ep.v > 1)
      return col_fail_at (error, p->ep.mark, "ep %.0f needs experts, and %s is dense; leave out ep, or use more tp", p->ep.v,
                          llm->name.v);
    if (spec->moe.head.set)
      return col_fail_at (error, spec->moe.head.mark, "'moe' is of models with experts, and %s is dense; leave it out",
                          llm->name.v);
    return TRUE;
  }
  if (!divides (slots, p->ep.v))
    return col_fail_at (error, p->ep.mark, "%.0f experts%s do not divide by ep %.0f; use ep %.0f", slots,
                        spec->moe.redundant.v > 0 ? " with their copies" : "", p->ep.v, divisor_near (slots, p->ep.v));
  if (!divides (llm->moe.ffn.v, p->moe_tp.v))
    return col_fail_at (error, p->moe_tp.set ? p->moe_tp.mark : p->tp.mark,
                        "moe_tp %.0f does not divide the experts' width %.0f; use moe_tp %.0f and a larger ep", p->moe_tp.v,
                        llm->moe.ffn.v, divisor_near (llm->moe.ffn.v, p->moe_tp.v));
  return TRUE;
}

gboolean
srv_layout_check (const MdlLlm *llm, const ColSystem *system, const SrvReplicaSpec *spec, GError **error)
{
  const SrvParallelSpec *p = &spec->parallel;
  if (llm->net != NULL)
    return col_fail_at (error, spec->engine.name.mark,
                        "%s is a network of operations; serving needs a language model: write a name of `forerun list llms`",
                        llm->name.v);
  if (llm->recurrent.heads.v >= 1 || llm->pattern.v != NULL)
    return col_fail_at (error, spec->engine.name.mark,
                        "%s has recurrent layers, whose states serving does not model; training does (kind: training)",
                        llm->name.v);
  if (llm->vision.layers.v >= 1)
    return col_fail_at (error, spec->engine.name.mark,
                        "%s has a vision encoder, which serving does not model; use the file of its language model alone",
                        llm->name.v);
  const double gpus = srv_replica_gpus (spec);
  if (system->gpus->len < gpus)
    return col_fail_at (error, p->tp.mark, "a replica of tp %.0f x pp %.0f x dp_attn %.0f takes %.0f GPUs, and the cluster has %u",
                        p->tp.v, p->pp.v, p->dp_attn.v, gpus, system->gpus->len);
  if (p->pp.v > llm->layers.v)
    return col_fail_at (error, p->pp.mark, "pp %.0f is more than the %.0f layers of %s", p->pp.v, llm->layers.v, llm->name.v);
  if (srv_speculative_drafts (&spec->speculative) > 0 && llm->mtp.v < 1)
    return col_fail_at (error, spec->speculative.head.mark,
                        "%s has no modules of multi-token prediction, which `speculative` with method mtp needs; leave it out",
                        llm->name.v);
  return check_tp (llm, spec, error) && check_experts (llm, spec, error);
}

unsigned
srv_stage_layers (const MdlLlm *llm, unsigned pp, unsigned stage, unsigned *first)
{
  const unsigned layers = (unsigned)llm->layers.v, each = layers / pp, over = layers % pp, from = pp - 1 - over;
  *first = stage * each + (stage > from ? MIN (stage - from, over) : 0);
  return each + (over > 0 && stage >= from && stage < pp - 1 ? 1 : 0);
}

SrvFormat
srv_tensor_format (const MdlTensor *tensor, const SrvPrecisionSpec *precision)
{
  static const char *const attention[] = { "q", "k", "v", "qkv", "o", "q_down", "q_up", "kv_down", "kv_up", NULL };
  static const char *const wide[] = { "router", "shared_gate", "embedding", "positions", "head", "mtp_projection", NULL };
  if (!tensor->matrix || g_strv_contains (wide, tensor->name))
    return SRV_FORMAT_BF16;
  if (tensor->expert)
    return srv_moe_format (precision);
  return g_strv_contains (attention, tensor->name) ? srv_attention_format (precision) : (SrvFormat)precision->weights.v;
}

double
srv_tensor_B (const MdlLlm *llm, const MdlTensor *tensor, const SrvReplicaSpec *spec)
{
  const SrvParallelSpec *p = &spec->parallel;
  MdlTensor its = *tensor;
  if (its.expert)
    its.copies += spec->moe.redundant.v;
  double elements = mdl_tensor_elements (llm, &its, (unsigned)p->tp.v, (unsigned)p->ep.v, (unsigned)p->moe_tp.v, 1);
  return elements * srv_format_B (srv_tensor_format (tensor, &spec->precision));
}

static double
part_B (const MdlLlm *llm, const SrvReplicaSpec *spec, MdlPart part)
{
  g_autoptr (GArray) tensors = g_array_new (FALSE, FALSE, sizeof (MdlTensor));
  mdl_llm_tensors (llm, part, 0, tensors);
  double sum_B = 0;
  for (guint i = 0; i < tensors->len; i++)
    sum_B += srv_tensor_B (llm, &g_array_index (tensors, MdlTensor, i), spec);
  return sum_B;
}

double
srv_stage_weights_B (const MdlLlm *llm, const SrvReplicaSpec *spec, unsigned stage)
{
  const unsigned pp = (unsigned)spec->parallel.pp.v;
  unsigned first = 0, n = srv_stage_layers (llm, pp, stage, &first), n_moe = 0;
  for (unsigned layer = first; layer < first + n; layer++)
    n_moe += mdl_llm_is_moe (llm, layer) ? 1 : 0;
  double sum_B = n > n_moe ? (n - n_moe) * part_B (llm, spec, MDL_PART_DENSE) : 0;
  sum_B += n_moe > 0 ? n_moe * part_B (llm, spec, MDL_PART_MOE) : 0;
  const gboolean last = stage == pp - 1;
  if (stage == 0 || (last && llm->tied.v))
    sum_B += part_B (llm, spec, MDL_PART_EMBEDDING);
  if (last)
    sum_B += part_B (llm, spec, MDL_PART_HEAD) +
             (srv_speculative_drafts (&spec->speculative) > 0 ? part_B (llm, spec, MDL_PART_MTP) : 0);
  return sum_B;
}

double
srv_layer_kv_B (const MdlLlm *llm, SrvFormat kv, double tp)
{
  const MdlLlmAttention *a = &llm->attention;
  if (a->kind.v == MDL_ATTENTION_MLA) /* fp8 of FlashMLA: latent in 8 bit with four scales of 4 B, positions in 16 bit */
    return kv == SRV_FORMAT_FP8 ? a->kv_lora.v + a->kv_lora.v / 128 * 4 + a->rope.v * 2 : (a->kv_lora.v + a->rope.v) * 2;
  const double heads = fmax (mdl_llm_kv_heads (llm) / tp, 1);
  return heads * (mdl_llm_qk_dim (llm) + mdl_llm_value_dim (llm)) * srv_format_B (kv);
}

guint32
srv_slowest_node (const ColSystem *system, const SrvReplicaSpec *spec)
{
  const guint32 n = MIN (system->gpus->len, (guint32)srv_replica_gpus (spec));
  return col_gpu_slowest (system->clu, (const guint32 *)system->gpus->data, n);
}
