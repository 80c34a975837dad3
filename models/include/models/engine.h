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
  BaseNum request;                  /* mean s of a request in the front end, before it is queued, beside tokenizing: HTTP */
  BaseNum prompt_token;             /* s of the front end to tokenize a token of a prompt; one prompt after the other */
  BaseNum token;                    /* s of the front end for each message to a user; one process, so one after the other */
  BaseNum kernel;                   /* s between kernels of a step that is not captured */
  BaseNum layer;                    /* s of the GPU for each layer, beyond what its kernels take one by one */
  BaseNum moe_layer;                /* the same for a layer of experts, on top of `layer`: routing, sorting, weighting */
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
  BaseNum sample;            /* B of a logit while the profiling run samples; absent: 16 bit and 32 bit */
  BaseNum watermark;         /* share of blocks kept free at admission */
  BaseList times;            /* MdlEngineTimes */
} MdlEngineRow;

typedef struct MdlEngines {
  BaseHead head;
  BaseList rows; /* MdlEngineRow */
} MdlEngines;

/* The newest row of the name whose version is not after `version` (NULL: the newest); the oldest where all are after it, and
 * *assumed
 * is TRUE then. Versions compare number by number. Returned: borrowed; NULL: none of the name. */
const MdlEngineRow *mdl_engine_find (const MdlEngines *engines, const char *name, const char *version, gboolean *assumed);
/* Its times on GPUs of a compute capability: of the highest one that is not above it, else of the lowest.
 * Borrowed; NULL: it has none. */
const MdlEngineTimes *mdl_engine_times (const MdlEngineRow *row, double capability);

#endif
