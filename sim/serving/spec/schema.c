/* Keys of a serving replica in scenarios. */
#include "base/rows.h"
#include "serving/spec.h"

static const BaseName all_reduce_names[] = {
  { "auto", 0, "the engine's own kernels where it uses them, else NCCL" },
  { "nccl", 1, "NCCL alone" },
  { NULL, 0, NULL },
};

static const BaseName method_names[] = {
  { "mtp", 0, "the model's own modules of multi-token prediction" },
  { NULL, 0, NULL },
};

static const BaseName kv_names[] = {
  { "bf16", SRV_FORMAT_BF16, "16 bit" },
  { "fp8", SRV_FORMAT_FP8, "8 bit" },
  { NULL, 0, NULL },
};

SCHEMA (srv_schema_engine, "engine", "Engine that serves the model. Absent keys have the engine's own default by version.",
        ROW (SrvEngineSpec, name, ENUM, "engine", .names = srv_engine_names, .required = TRUE),
        ROW (SrvEngineSpec, version, STR, "its version; default: the newest known"),
        NUM (SrvEngineSpec, max_num_seqs, COUNT, "sequences that a scheduler runs at once", .min = "1", .max = "1 M"),
        NUM (SrvEngineSpec, max_num_batched_tokens, COUNT, "new tokens of a step at most", .min = "1", .max = "10 M"),
        NUM (SrvEngineSpec, chunk, COUNT, "tokens of one prompt in a step at most; default: the engine's rule", .min = "1",
             .max = "10 M"),
        ROW (SrvEngineSpec, chunked, BOOL, "prompts may be cut over several steps"),
        NUM (SrvEngineSpec, cuda_graphs, COUNT, "largest batch captured in a CUDA graph; 0: none", .max = "1 M"),
        ROW (SrvEngineSpec, async, BOOL, "the host prepares a step while the GPU runs the one before"),
        ROW (SrvEngineSpec, prefix_cache, BOOL, "requests share KV blocks of equal prefixes"),
        NUM (SrvEngineSpec, block, COUNT, "tokens of a KV block", .min = "1", .max = "1 M"),
        NUM (SrvEngineSpec, memory, RATIO, "fraction of the GPU's memory, by the engine's own definition", .min = "1 %",
             .max = "1"),
        NUM (SrvEngineSpec, kv_blocks, COUNT, "KV blocks of a scheduler; default: what the memory holds", .min = "1", .max = "1 G"),
        NUM (SrvEngineSpec, max_model_len, COUNT, "longest sequence; default: as the KV pool allows", .min = "1", .max = "1 G"),
        NUM (SrvEngineSpec, activations, BYTES, "peak of activations; default: estimated"),
        NUM (SrvEngineSpec, other, BYTES, "memory of CUDA, NCCL and the framework; default: the engine's row"),
        ROW (SrvEngineSpec, mixed, BOOL, "SGLang: a step of prompts decodes too (enable_mixed_chunk); default: no"),
        ROW (SrvEngineSpec, two_batch_overlap, BOOL,
             "a batch is split in two: one half computes while tokens of the other go to experts and back (SGLang's "
             "enable_two_batch_overlap, vLLM's enable_dbo); default: no"),
        NUM (SrvEngineSpec, balance, COUNT,
             "TensorRT-LLM: steps that prompts wait until all ranks of `dp_attn` have one "
             "(attention_dp_config.timeout_iters); default: none",
             .min = "1", .max = "1 M"),
        NUM (SrvEngineSpec, poll, COUNT,
             "decode steps between two looks for new requests (SGLang's scheduler_recv_interval); "
             "default: 1",
             .min = "1", .max = "1 M"),
        NUM (SrvEngineSpec, stream_interval, COUNT,
             "tokens of an answer in a message to its user (stream_interval of vLLM, SGLang and TensorRT-LLM); times are as if "
             "each were sent alone, at that part of the front end's time; default: 1",
             .min = "1", .max = "1 M"),
        ROW (SrvEngineSpec, all_reduce, ENUM, "what all-reduces of tensor parallelism run on", .names = all_reduce_names,
             .fallback = "auto"));

SCHEMA (srv_schema_parallel, "parallel", "Parallel layout of a replica: tp x pp x dp_attn GPUs.",
        NUM (SrvParallelSpec, tp, COUNT, "tensor parallelism of attention and dense layers", .min = "1", .max = "100000",
             .fallback = "1"),
        NUM (SrvParallelSpec, pp, COUNT, "pipeline stages", .min = "1", .max = "100000", .fallback = "1"),
        NUM (SrvParallelSpec, dp_attn, COUNT, "ranks of attention data parallelism, each with a scheduler", .min = "1",
             .max = "100000", .fallback = "1"),
        NUM (SrvParallelSpec, ep, COUNT, "ranks that share the experts; default: 1", .min = "1", .max = "100000"),
        NUM (SrvParallelSpec, moe_tp, COUNT, "tensor parallelism of experts; default: tp x dp_attn / ep", .min = "1",
             .max = "100000"));

SCHEMA (srv_schema_precision, "precision", "Number formats of weights, KV cache and expert exchange.",
        ROW (SrvPrecisionSpec, weights, ENUM, "matrices of the layers", .names = srv_format_names, .fallback = "bf16"),
        ROW (SrvPrecisionSpec, moe, ENUM, "routed experts; default: `weights`", .names = srv_format_names),
        ROW (SrvPrecisionSpec, attention, ENUM, "projections of attention; default: `weights`", .names = srv_format_names),
        ROW (SrvPrecisionSpec, kv, ENUM, "KV cache", .names = kv_names, .fallback = "bf16"),
        ROW (SrvPrecisionSpec, dispatch, ENUM, "tokens on their way to experts", .names = kv_names, .fallback = "bf16"),
        ROW (SrvPrecisionSpec, combine, ENUM, "results on their way back", .names = kv_names, .fallback = "bf16"));

SCHEMA (srv_schema_moe, "moe", "Exchange and load of experts.",
        ROW (SrvMoeSpec, backend, ENUM,
             "library that carries tokens to experts; default: deepep_low_latency over several nodes, else nccl (all-gather and "
             "reduce-scatter)",
             .names = mdl_moe_backend_names),
        NUM (SrvMoeSpec, sms, COUNT, "SMs that the library takes; default: its own", .min = "1", .max = "1000"),
        NUM (SrvMoeSpec, power_law, NUMBER, "exponent of the experts' load; default: every expert is as likely", .min = "0.01",
             .max = "4"),
        NUM (SrvMoeSpec, popularity, NUMBER,
             "exponent a of experts that a few tokens meet: the i-th most popular is chosen in proportion to i^-a; 0: all alike; "
             "default: `popularity` of `expert_exchange` in the calibration",
             .min = "0", .max = "4"),
        NUM (SrvMoeSpec, redundant, COUNT, "copies of the fullest experts, on top", .max = "100000", .fallback = "0"));

SCHEMA (srv_schema_speculative, "speculative", "Speculative decoding.",
        ROW (SrvSpeculativeSpec, method, ENUM, "what drafts tokens", .names = method_names, .fallback = "mtp"),
        NUM (SrvSpeculativeSpec, drafts, COUNT, "tokens drafted in a step", .min = "1", .max = "64", .fallback = "1"),
        NUMS (SrvSpeculativeSpec, acceptance, RATIO,
              "probability that draft i is accepted, given those before; the last value holds for the rest", .max = "1",
              .required = TRUE));

double
srv_speculative_drafts (const SrvSpeculativeSpec *speculative)
{
  return speculative->head.set ? speculative->drafts.v : 0;
}

double *
srv_speculative_acceptance (const SrvSpeculativeSpec *speculative)
{
  const guint n = (guint)srv_speculative_drafts (speculative);
  if (n == 0 || speculative->acceptance.n == 0)
    return NULL;
  double *each = g_new (double, n);
  for (guint i = 0; i < n; i++)
    each[i] = speculative->acceptance.item[MIN (i, speculative->acceptance.n - 1)].v;
  return each;
}

double
srv_speculative_tokens (const SrvSpeculativeSpec *speculative)
{
  double tokens = 1, chain = 1;
  for (unsigned i = 0; i < (unsigned)srv_speculative_drafts (speculative) && speculative->acceptance.n > 0; i++) {
    chain *= speculative->acceptance.item[MIN (i, speculative->acceptance.n - 1)].v;
    tokens += chain;
  }
  return tokens;
}
