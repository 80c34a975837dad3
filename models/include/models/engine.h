/* Engines that serve language models, by version, as data (calibrate/defaults/engines.yaml): defaults of their options, memory
 * rules,
 * and what each makes of the kernels' times. The newest row not after the asked version holds. */
#ifndef MODELS_ENGINE_H
#define MODELS_ENGINE_H

#include "base/leaf.h"
#include "base/schema.h"

/* Time constants of an engine on a generation of GPUs. Absent ones are not charged. */
typedef struct {
  BaseHead head;
  BaseNum capability;               /* compute capability from which it holds: 80, 90, 100 */
  BaseNum gemm, attention, experts; /* kernels of that kind take their modelled time over this */
  BaseNum prefill;                  /* matrix products of a step with prompts take their time over this, on top of the others */
  BaseNum step;                     /* s of the host for a step, whatever is in it */
  BaseNum sequence;                 /* s of the host for each sequence of a step */
  BaseNum experts_math;             /* of the multiplying of routed experts alone, where that is slower; absent: not counted */
  BaseNum grouped;                  /* as `experts`, where a library has sorted the tokens by expert (DeepEP); absent: `experts` */
  BaseNum request;                  /* mean s of a request in the front end, before it is queued, beside tokenizing: HTTP */
  BaseNum prompt_token;             /* s of the front end to tokenize a token of a prompt; one prompt after the other */
  BaseNum token;                    /* s of the front end for each message to a user; one process, so one after the other */
  BaseNum kernel;                   /* s between kernels of a step that is not captured */
  BaseNum layer;                    /* s of the GPU for each layer, beyond what its kernels take one by one */
  BaseNum moe_layer;                /* the same for a layer of experts, on top of `layer`: routing, sorting, weighting */
  BaseNum graph_layer;              /* in place of `layer` in a step that a graph holds; absent: `layer` */
  BaseNum latent_layer;             /* on top of `graph_layer` for a layer of latent attention (MLA) */
  BaseNum error;                    /* relative, of a step beside that of kernels: options and versions that are not known */
  BaseNum first_error;              /* relative, of the time to the first token beside that of steps: queues, the front end */
} MdlEngineTimes;

typedef struct MdlEngineRow {
  BaseHead head;
  BaseStr name, version; /* "vllm", "0.12.0" */
  BaseNum max_num_seqs, max_num_batched_tokens;
  BaseNum cuda_graphs; /* largest captured batch */
  BaseBool async, chunked, prefix_cache;
  BaseNum block;             /* tokens */
  BaseNum memory;            /* fraction of the GPU's memory, by the engine's definition */
  BaseNum graphs_B, other_B; /* memory of captured graphs; of CUDA, NCCL and the framework */
  BaseNum communicators_B;   /* memory of NCCL and the engine's own all-reduce, where a replica has several GPUs */
  BaseNum multicast_B;       /* of NCCL's buffers behind a switch that reduces, each rank of a group of more than two; absent: 0 */
  BaseNum sample;            /* B of a logit while the profiling run samples; absent: 16 bit and 32 bit */
  BaseNum watermark;         /* share of blocks kept free at admission */
  BaseNum split_prefill;     /* tokens of a rank from which two-batch overlap splits a step with prompts; absent: it never does */
  BaseNum split_decode;      /* the same of a step that only decodes */
  BaseNum expert_rows;       /* rows of each expert in fp8, tokens or not, as the kernel lays them out; absent: those it gets */
  BaseNum expert_rows_tp;    /* tp up to which that kernel is taken; absent: any */
  BaseBool staggered;        /* halves that decode are two stages apart, and attention is cut in two */
  BaseStr transfer;          /* library that moves KV between its pools by default: a name of `transfers`; absent: none */
  BaseBool asks_first;       /* with pools apart, a prompt is computed once the decode side has seen the request and has room */
  BaseBool gathers;          /* whichever library moves KV, the prefill side gathers contiguous blocks and writes them */
  BaseBool recomputes_last;  /* with pools apart, decode computes the prompt's last token again; else it sends what prefill gave */
  BaseList times;            /* MdlEngineTimes */
} MdlEngineRow;

/* A library that moves KV from a prefill replica to a decode replica, as engines use it. */
typedef struct {
  BaseHead head;
  BaseStr name;           /* "nixl" */
  BaseNum start;          /* s of a transfer before its bytes move: what is sent is listed, and the other side told */
  BaseNum per_descriptor; /* s for each piece of memory that a GPU sends */
  BaseNum nic;            /* share of the route's rate that is reached */
  BaseBool merges;        /* pieces are gathered or contiguous: one descriptor a layer, K and V apart */
  BaseBool push;          /* the prefill side writes; else the decode side reads, once its step in progress has ended */
} MdlTransferLibrary;

/* A framework of reinforcement learning, by what it adds to a step whose generation and training share GPUs. */
typedef struct {
  BaseHead head;
  BaseStr name;    /* "nemo_rl" */
  BaseNum tensor;  /* s for each tensor of the weights that the trainer hands to the engine … */
  BaseNum rank;    /* … and more for each GPU of a replica: handles are serialised one after the other */
  BaseNum sleep;   /* s of an engine to give its memory back; waking takes as long */
  BaseNum to_host; /* B/s of a GPU, of states and weights that make room for the engine */
  BaseNum to_gpu;  /* B/s of a GPU, of the way back */
  BaseNum error;   /* relative, of what these come to */
} MdlRlFramework;

typedef struct MdlEngines {
  BaseHead head;
  BaseList rows;       /* MdlEngineRow */
  BaseList transfers;  /* MdlTransferLibrary */
  BaseList frameworks; /* MdlRlFramework */
} MdlEngines;

/* NULL: none of the name is known. Borrowed. */
const MdlTransferLibrary *mdl_transfer_library (const MdlEngines *engines, const char *name);
const MdlRlFramework *mdl_rl_framework (const MdlEngines *engines, const char *name);

/* The newest row of the name whose version is not after `version` (NULL: the newest); the oldest where all are after it, and
 * *assumed
 * is TRUE then. Versions compare number by number. Returned: borrowed; NULL: none of the name. */
const MdlEngineRow *mdl_engine_find (const MdlEngines *engines, const char *name, const char *version, gboolean *assumed);
/* Its times on GPUs of a compute capability: of the highest one that is not above it, else of the lowest.
 * Borrowed; NULL: it has none. */
const MdlEngineTimes *mdl_engine_times (const MdlEngineRow *row, double capability);

#endif
