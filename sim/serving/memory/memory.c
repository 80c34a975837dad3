/* What an engine leaves for KV blocks.
 *
 *     KV of a token     2·L·K·d·b;  MLA L·(kv_lora + rope)·b, in fp8 656 B a layer;  a rank has max (1, K/t)/K of it, of MLA all
 *     layers of a window keep min (context, window) tokens: no cost a token, window·2·K·d·b a sequence and layer
 *     vLLM     kv = memory · capacity − weights − activations − other   (gpu_memory_utilization, of the device's total)
 *     SGLang   kv = memory · (capacity − other) − weights   (mem_fraction_static: weights and pool of what is free)
 *     TRT-LLM  kv = memory · (capacity − weights − activations − other)   (free_gpu_memory_fraction, of what weights leave)
 *     blocks = floor (kv / (block · KV of a token))
 *     activations = max (T·(2·h + widest row)·2 B, N·V·s),  T: max_num_batched_tokens, N: max_num_seqs, V: vocabulary
 *     s: `sample` of the engine's row. vLLM's profiling run samples with top-k and top-p for all N: logits (2 + 4 B),
 *        sorted values and their indices (4 + 8), and in the sort the indices before it (8) and a second buffer of both (12): 38
 *     other = context and framework, and where a replica has several GPUs, NCCL and the engine's all-reduce (`communicators`);
 *        where more than two reduce in the NVLink switch, NCCL's buffers for that, once a rank (`multicast`): the large all-reduces
 *        of vLLM's profiling run create them. SGLang sizes its pool before there were any
 *
 * capacity: what the driver reports. The widest row of a layer is what an MLP's up projection gives and its activation takes,
 * or the rows of queries, keys and values. Logits are kept in 16 bit, and in 32 bit to sample from. Graphs are taken behind the
 * pool: vLLM and TensorRT-LLM capture them in what their fraction leaves.
 * Source: vllm-project/vllm v1/worker/gpu_worker.py (determine_available_memory),
 * sgl-project/sglang srt/model_executor/model_runner.py
 * (profile_max_num_token), TensorRT-LLM docs on kv_cache_config; NVIDIA/nccl src/transport/nvls.cc; vLLM's sampler:
 * v1/worker/gpu_model_runner.py
 * (_dummy_sampler_run), v1/sample/ops/topk_topp_sampler.py; the sort: pytorch aten/src/ATen/native/cuda/Sort.cu.
 * Check: test_serving_memory (Llama 3.1 70B on 8 H100: 88,336 blocks of 16; vllm-project/vllm#21348). */
#include "serving/memory.h"

#include <math.h>

#include "cluster/cluster.h"
#include "cluster/spec.h"
#include "models/engine.h"
#include "serving-private.h"

#define GIB (1024.0 * 1024.0 * 1024.0)

static double
token_of (const MdlLlm *llm, SrvFormat kv, double tp, unsigned first, unsigned n, double *sequence_B)
{
  double layer_B = srv_layer_kv_B (llm, kv, tp), token_B = 0, window_B = 0;
  for (unsigned layer = first; layer < first + n; layer++)
    if (mdl_llm_is_windowed (llm, layer))
      window_B += llm->attention.window.v * layer_B;
    else
      token_B += layer_B;
  if (sequence_B != NULL)
    *sequence_B = window_B;
  return token_B;
}

double
srv_kv_token_B (const MdlLlm *llm, SrvFormat kv, double *sequence_B)
{
  return token_of (llm, kv, 1, 0, (unsigned)llm->layers.v, sequence_B);
}

/* Of the profiling run: all tokens of a step, and logits of all sequences. */
static double
activations_B (const MdlLlm *llm, const SrvReplicaSpec *spec, const MdlEngineRow *row)
{
  const double tp = spec->parallel.tp.v, tokens = spec->engine.max_num_batched_tokens.v, bf16_B = 2, fp32_B = 4;
  const double gates = mdl_llm_gated (llm) ? 3 : 2; /* gate and up, and their product */
  double widest = (llm->attention.heads.v + 2 * fmax (mdl_llm_kv_heads (llm) / tp, 1) * tp) / tp * mdl_llm_qk_dim (llm);
  widest = fmax (widest, gates * llm->mlp.ffn.v / tp);
  if (llm->moe.experts.v >= 1) /* rows of a token's experts on this rank, in and out */
    widest =
        fmax (widest, llm->moe.top_k.v / spec->parallel.ep.v * (gates * llm->moe.ffn.v / spec->parallel.moe_tp.v + llm->hidden.v));
  const double each_B = row != NULL && row->sample.set ? row->sample.v : bf16_B + fp32_B;
  double logits_B = spec->engine.max_num_seqs.v * llm->vocabulary.v * each_B;
  return fmax (tokens * (2 * llm->hidden.v + widest) * bf16_B, logits_B);
}

/* NCCL's buffers for reduction in the NVLink switch; ncclNvlsInit has none for two GPUs. */
static double
multicast_B (const ColSystem *system, const SrvReplicaSpec *spec)
{
  const gboolean reduces = clu_node_spec (system->clu, srv_slowest_node (system, spec))->nvlink.sharp.v;
  return reduces && spec->parallel.tp.v > 2 ? spec->engine.multicast_B * spec->parallel.tp.v : 0;
}

static double
capacity_B (const ColSystem *system, const SrvReplicaSpec *spec, BaseSource *source)
{
  const CluGpuSpec *gpu = clu_gpu_spec (system->clu, srv_slowest_node (system, spec));
  const BaseNum *memory = gpu->memory_usable.set ? &gpu->memory_usable : &gpu->memory;
  *source = gpu->memory_usable.set ? memory->source : BASE_SOURCE_ASSUMED;
  return memory->v;
}

static void
fullest_stage (const MdlLlm *llm, const SrvReplicaSpec *spec, SrvMemory *m)
{
  const unsigned pp = (unsigned)spec->parallel.pp.v;
  for (unsigned stage = 0; stage < pp; stage++) {
    unsigned first = 0, n = srv_stage_layers (llm, pp, stage, &first);
    double sequence_B = 0, token_B = token_of (llm, (SrvFormat)spec->precision.kv.v, spec->parallel.tp.v, first, n, &sequence_B);
    m->weights_B = fmax (m->weights_B, srv_stage_weights_B (llm, spec, stage));
    m->token_B = fmax (m->token_B, token_B);
    m->sequence_B = fmax (m->sequence_B, sequence_B);
  }
}

/* The pool by the engine's own rule. */
static void
take_rule (const SrvReplicaSpec *spec, SrvMemory *m)
{
  const double share = spec->engine.memory.v;
  switch ((SrvEngineName)spec->engine.name.v) {
    case SRV_ENGINE_SGLANG:
      m->budget_B = share * (m->capacity_B - m->other_B);
      m->kv_B = m->budget_B - m->weights_B;
      break;
    case SRV_ENGINE_TRTLLM:
      m->kv_B = share * (m->capacity_B - m->weights_B - m->activations_B - m->other_B);
      m->budget_B = m->weights_B + m->activations_B + m->other_B + m->kv_B;
      break;
    case SRV_ENGINE_VLLM:
    case SRV_ENGINE_N:
    default:
      m->budget_B = share * m->capacity_B;
      m->kv_B = m->budget_B - m->weights_B - m->activations_B - m->other_B;
      break;
  }
}

static SrvMemory
plan_of (const MdlLlm *llm, const ColSystem *system, const SrvReplicaSpec *spec)
{
  const SrvEngineSpec *engine = &spec->engine;
  SrvMemory m = { .block_tokens = fmax (engine->block.v, 1), .other_B = engine->other.v + multicast_B (system, spec) };
  m.capacity_B = capacity_B (system, spec, &m.source);
  m.source = MIN (m.source, engine->other.source);
  const char *name = base_name (srv_engine_names, engine->name.v);
  const MdlEngineRow *row = system->engines != NULL ? mdl_engine_find (system->engines, name, engine->version.v, NULL) : NULL;
  m.activations_B = engine->activations.set ? engine->activations.v : activations_B (llm, spec, row);
  if (!engine->activations.set)
    m.source = BASE_SOURCE_ASSUMED;
  m.graphs_B = row != NULL && engine->cuda_graphs.v > 0 ? row->graphs_B.v : 0;
  fullest_stage (llm, spec, &m);
  take_rule (spec, &m);
  const double block_B = m.block_tokens * m.token_B;
  m.given = engine->kv_blocks.set;
  if (m.given)
    m.blocks = engine->kv_blocks.v;
  else
    m.blocks = block_B > 0 ? floor (fmax (m.kv_B, 0) / block_B) : m.kv_B > 0 ? floor (m.kv_B / m.sequence_B) : 0;
  m.tokens = m.blocks * m.block_tokens;
  if (engine->max_model_len.v > 0)
    m.concurrent = m.tokens * m.token_B / (engine->max_model_len.v * m.token_B + m.sequence_B);
  return m;
}

/* Whether the longest sequence has room; without a longest one, a block. */
static gboolean
fits (const SrvReplicaSpec *spec, const SrvMemory *m)
{
  return m->blocks >= 1 && m->tokens >= spec->engine.max_model_len.v && (m->given ? m->weights_B < m->capacity_B : TRUE);
}

/* A layout or precision near this one that fits; NULL: none of those tried. Returned: full. */
static char *
nearest (const MdlLlm *llm, const ColSystem *system, const SrvReplicaSpec *spec, const SrvMemory *m)
{
  SrvReplicaSpec other = *spec;
  if (m->blocks >= 1)
    return g_strdup_printf ("max_model_len: %.0f fits", m->tokens);
  for (double tp = spec->parallel.tp.v * 2; tp * spec->parallel.pp.v * spec->parallel.dp_attn.v <= system->gpus->len; tp *= 2) {
    other.parallel.tp.v = tp;
    if (spec->parallel.ep.v > 1)
      other.parallel.ep.v = spec->parallel.ep.v * tp / spec->parallel.tp.v;
    else
      other.parallel.moe_tp.v = spec->parallel.moe_tp.v * tp / spec->parallel.tp.v;
    SrvMemory its = plan_of (llm, system, &other);
    if (srv_layout_check (llm, system, &other, NULL) && fits (&other, &its))
      return g_strdup_printf ("tp: %.0f fits", tp);
  }
  other = *spec;
  static const SrvFormat narrower[] = { SRV_FORMAT_FP8, SRV_FORMAT_NVFP4 };
  for (guint i = 0; i < G_N_ELEMENTS (narrower); i++) {
    other.precision = (SrvPrecisionSpec){ .weights = { .v = (int)narrower[i], .set = TRUE }, .kv = spec->precision.kv };
    SrvMemory its = plan_of (llm, system, &other);
    if (srv_format_B (narrower[i]) < srv_format_B ((SrvFormat)spec->precision.weights.v) && fits (&other, &its))
      return g_strdup_printf ("precision: {weights: %s} fits", base_name (srv_format_names, (int)narrower[i]));
  }
  return NULL;
}

static gboolean
refuse (const MdlLlm *llm, const ColSystem *system, const SrvReplicaSpec *spec, const SrvMemory *m, GError **error)
{
  g_autofree char *near = nearest (llm, system, spec, m);
  const SrvEngineSpec *engine = &spec->engine;
  const gboolean held_back = m->weights_B < 0.8 * m->capacity_B && m->blocks < 1; /* what the scenario keeps from the pool */
  const BaseMark mark = engine->max_model_len.set              ? engine->max_model_len.mark
                        : held_back && engine->activations.set ? engine->activations.mark
                        : held_back && engine->memory.v < 0.5  ? engine->memory.mark
                        : spec->parallel.tp.set                ? spec->parallel.tp.mark
                                                               : engine->name.mark;
  if (held_back && (engine->activations.set || engine->memory.v < 0.5))
    return col_fail_at (error, mark,
                        "no block of the KV cache is left: weights take %.2f GiB of a GPU's %.2f GiB, the engine may use %.0f %% "
                        "('memory'), and activations take %.2f GiB; %s",
                        m->weights_B / GIB, m->capacity_B / GIB, 100 * engine->memory.v, m->activations_B / GIB,
                        engine->activations.set ? "lower 'activations', or leave it out" : "raise 'memory', or leave it out");
  const double need_B = fmax (spec->engine.max_model_len.v, m->block_tokens) * m->token_B;
  return col_fail_at (error, mark,
                      "%s does not fit: weights take %.2f GiB of a GPU's %.2f GiB and the engine leaves %.2f GiB for the KV cache, "
                      "where %s needs %.3g GiB; %s",
                      llm->name.v, m->weights_B / GIB, m->capacity_B / GIB, fmax (m->kv_B, 0) / GIB,
                      spec->engine.max_model_len.set ? "one sequence" : "one block", need_B / GIB,
                      near != NULL ? near : "use more GPUs a replica (tp, pp), a narrower format, or GPUs with more memory");
}

gboolean
srv_memory_plan (const MdlLlm *llm, const ColSystem *system, const SrvReplicaSpec *spec, SrvMemory *out, GError **error)
{
  if (!srv_layout_check (llm, system, spec, error))
    return FALSE;
  const BaseNum *longest = &spec->engine.max_model_len;
  if (llm->max_context.set && longest->v > llm->max_context.v)
    return col_fail_at (
        error, longest->mark,
        "max_model_len %.0f is above the %.0f tokens of a sequence of %s, and engines refuse it; write at most that, or "
        "a larger 'max_context' of the model where its positions are scaled (RoPE, YaRN)",
        longest->v, llm->max_context.v, llm->name.v);
  SrvMemory m = plan_of (llm, system, spec);
  if (!fits (spec, &m))
    return refuse (llm, system, spec, &m, error);
  *out = m;
  return TRUE;
}
