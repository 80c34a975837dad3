/* What a scenario says of an engine that serves a language model: `engine`, `parallel`, `precision`, `moe`, `speculative`. */
#ifndef SERVING_SPEC_H
#define SERVING_SPEC_H

#include "base/schema.h"
#include "models/engine.h"
#include "models/format.h"
#include "models/moe.h"

typedef enum { SRV_ENGINE_VLLM, SRV_ENGINE_SGLANG, SRV_ENGINE_TRTLLM, SRV_ENGINE_N } SrvEngineName;
extern const BaseName srv_engine_names[];

/* `engine:`; absent keys have the default of that engine and version (calibrate/defaults/engines.yaml). */
typedef struct {
  BaseHead head;
  BaseEnum name;                  /* SrvEngineName */
  BaseStr version;                /* "0.12.0"; absent: the newest known */
  BaseNum max_num_seqs;           /* sequences that run at once, of one scheduler */
  BaseNum max_num_batched_tokens; /* new tokens of one step */
  BaseNum chunk;                  /* most tokens of one prompt in a step; absent: the engine's rule */
  BaseBool chunked;               /* prompts may be cut over steps */
  BaseNum cuda_graphs;            /* largest batch that is captured; 0: none */
  BaseBool async;                 /* the host prepares a step while the GPU runs the one before */
  BaseBool prefix_cache;
  BaseNum block;              /* tokens of a KV block */
  BaseNum memory;             /* fraction of a GPU's memory, by the engine's own definition */
  BaseNum kv_blocks;          /* overrides what the memory rule gives */
  BaseNum max_model_len;      /* longest sequence; absent: only the KV pool limits it */
  BaseNum activations;        /* B: peak of the profiling run; absent: estimated */
  BaseBool mixed;             /* SGLang: a step of prompts decodes too */
  BaseBool two_batch_overlap; /* a batch is split in two: one computes while tokens of the other go to experts and back */
  BaseNum balance;            /* TensorRT-LLM: steps that prompts wait until all attention ranks have one; absent: none */
  BaseNum stream_interval;    /* tokens of an answer in a message; absent: 1 */
  BaseNum poll;               /* steps that decode between two looks for new requests (SGLang); absent: each looks */
  BaseNum other;              /* B: of CUDA, NCCL and the framework; absent: as the engine's row says */
  double multicast_B;         /* for each rank, beside what the row says of `other`; 0 where the scenario gives it (no key) */
  BaseEnum all_reduce;        /* 0 auto (one- or two-shot where it is faster), 1 nccl */
} SrvEngineSpec;

/* `parallel:` of a replica. A replica has tp · pp · dp_attn GPUs, and tp · dp_attn = ep · moe_tp. */
typedef struct {
  BaseHead head;
  BaseNum tp; /* of attention and dense layers */
  BaseNum pp;
  BaseNum dp_attn; /* ranks that schedule alone and meet in each MoE layer */
  BaseNum ep;      /* absent: 1 */
  BaseNum moe_tp;  /* absent: tp · dp_attn / ep */
} SrvParallelSpec;

/* Formats of weights and the KV cache. Block scales count: nvfp4 4.5, mxfp4 4.25, int4 4.125 bit. */
typedef enum { SRV_FORMAT_BF16, SRV_FORMAT_FP8, SRV_FORMAT_NVFP4, SRV_FORMAT_MXFP4, SRV_FORMAT_INT4, SRV_FORMAT_N } SrvFormat;
extern const BaseName srv_format_names[];
double srv_format_B (SrvFormat format); /* of an element, scales included */

/* `precision:`; absent: weights bf16, others as their comment. */
typedef struct {
  BaseHead head;
  BaseEnum weights;           /* SrvFormat, of the layers' matrices */
  BaseEnum moe;               /* of routed experts; absent: weights */
  BaseEnum attention;         /* of its projections; absent: weights */
  BaseEnum kv;                /* SrvFormat: bf16 or fp8 */
  BaseEnum dispatch, combine; /* tokens to experts and back: fp8 or bf16 */
} SrvPrecisionSpec;

/* `moe:` */
typedef struct {
  BaseHead head;
  BaseEnum backend; /* MdlMoeBackend; absent: deepep_low_latency over several nodes, else NCCL */
  BaseNum sms;
  BaseNum power_law;  /* exponent of the experts' load; absent: multinomial */
  BaseNum popularity; /* exponent of how often each is chosen, by which few tokens meet fewer experts; absent: the constants' */
  BaseNum redundant;  /* copies of experts on top */
} SrvMoeSpec;

/* `speculative:` */
typedef struct {
  BaseHead head;
  BaseEnum method;     /* 0 mtp: the model's own modules of multi-token prediction */
  BaseNum drafts;      /* tokens drafted a step */
  BaseNums acceptance; /* a_i, that draft i is accepted given those before; the last holds for the rest */
} SrvSpeculativeSpec;

extern const BaseSchema srv_schema_engine, srv_schema_parallel, srv_schema_precision, srv_schema_moe, srv_schema_speculative;

/* Expected tokens of a sequence in a step: 1 + a1 + a1 a2 + …; 1 without speculation. */
double srv_speculative_tokens (const SrvSpeculativeSpec *speculative);
/* Drafted tokens of a step: 0 without speculation. */
double srv_speculative_drafts (const SrvSpeculativeSpec *speculative);

/* Probability that each of the drafts is accepted, given those before. NULL: without speculation. Returned: full. */
double *srv_speculative_acceptance (const SrvSpeculativeSpec *speculative);

/* One replica: what srv_step_model_new and srv_memory_plan need beside the model and the system. */
typedef struct {
  SrvEngineSpec engine; /* complete: absent keys are filled (srv_engine_settle) */
  SrvParallelSpec parallel;
  SrvPrecisionSpec precision;
  SrvMoeSpec moe;
  SrvSpeculativeSpec speculative;
} SrvReplicaSpec;

/* Fills absent keys from the row of that engine and version, and those of the layout from each other. *row: borrowed from
 * `engines`; may be NULL. *warning: full, or NULL: the version is older than all known. FALSE and
 * *error where an engine or format is unknown. */
gboolean srv_replica_settle (SrvReplicaSpec *spec, const MdlEngines *engines, const MdlEngineRow **row, char **warning,
                             GError **error);
double srv_replica_gpus (const SrvReplicaSpec *spec); /* tp · pp · dp_attn */
SrvFormat srv_moe_format (const SrvPrecisionSpec *precision);
SrvFormat srv_attention_format (const SrvPrecisionSpec *precision);

#endif
