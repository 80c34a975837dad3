/* Time of one step of an engine: a forward pass over all that its scheduler chose. Formulas: docs/serving.md. */
#ifndef SERVING_STEP_H
#define SERVING_STEP_H

#include "collective/system.h"
#include "models/llm.h"
#include "serving/spec.h"

/* A part of a prompt. */
typedef struct {
  double tokens; /* new ones of this step, at least 1 */
  double cached; /* of the same sequence in the KV cache before it */
} SrvChunk;

/* What one scheduler (a rank of attention data parallelism) put into a step. */
typedef struct {
  const SrvChunk *chunks; /* borrowed */
  guint n_chunks;
  guint n_decode;         /* sequences that decode: one token each, or 1 + drafts */
  double decode_context;  /* tokens in their KV caches, all together */
  double decode_windowed; /* the same with each sequence cut at the model's window; where it has none: decode_context */
  guint n_sampled;        /* sequences whose next token is sampled: those that decode, and prompts that end here */
} SrvBatch;

typedef enum {
  SRV_PART_GEMM,      /* projections, dense MLPs, head */
  SRV_PART_EXPERTS,   /* router, routed and shared experts */
  SRV_PART_ATTENTION, /* core of attention, of prompts and of decoding sequences */
  SRV_PART_MEMORY,    /* norms, RoPE, KV writes, activations, quantising, sampling */
  SRV_PART_TP,        /* exposed all-reduces */
  SRV_PART_EP,        /* exposed dispatch and combine */
  SRV_PART_PP,        /* sends, and stages that wait */
  SRV_PART_HOST,      /* the GPU waits for the host */
  SRV_PART_IMBALANCE, /* a rank waits for the fullest one */
  SRV_PART_N
} SrvPart;
extern const char *const srv_part_names[SRV_PART_N];

typedef struct {
  double time_s;               /* from the start of a step to the start of the next one, the engine being busy */
  double part_s[SRV_PART_N];   /* sum to time_s */
  double time_lo_s, time_hi_s; /* band */
  BaseSource source;           /* weakest constant used */
  gboolean graph;              /* replayed from a CUDA graph */
  double padded;               /* tokens that kernels see */
  double flop, hbm_B;          /* of one rank */
} SrvStepCost;

/* A kernel, collective or wait in a step, for `explain`. */
typedef struct {
  SrvPart part;
  const char *name; /* static: "qkv", "attention, decode" */
  double count;     /* in a step */
  double time_s;    /* of all of them */
  double flop, bytes_B;
  char *shape;       /* "64 x 6144 x 4096"; owned */
  const char *bound; /* static: "memory", "math", "latency" … */
} SrvStepTerm;

typedef struct SrvStepModel SrvStepModel;

/* Model and system are borrowed and outlive it. The replica has the first GPUs of `system`. FALSE and *error (BASE_ERROR_INPUT,
 * with the
 * place) where the layout is impossible: tp does not divide heads, experts do not divide … Returned: full. Not for two threads at
 * once. */
SrvStepModel *srv_step_model_new (const MdlLlm *llm, const ColSystem *system, const SrvReplicaSpec *spec, GError **error);
void srv_step_model_free (SrvStepModel *model);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SrvStepModel, srv_step_model_free)

/* What stands between users and schedulers: tokenizing, HTTP, detokenizing. 0: nothing. */
typedef struct {
  double request_s; /* mean time of a request until a scheduler's queue; drawn from an exponential law */
  double prompt_s;  /* before that, to tokenize a token of its prompt; one prompt after the other */
  double token_s;   /* it takes for each message to a user, one after the other: a step's token, or its accepted drafts */
  double error;     /* relative, of the time to the first token beside that of steps */
} SrvFront;

SrvFront srv_step_front (const SrvStepModel *model); /* of the engine */
guint srv_step_ranks (const SrvStepModel *model);    /* schedulers: dp_attn */
double srv_step_window (const SrvStepModel *model);  /* tokens; 0: none */
guint srv_step_context (const SrvStepModel *model);   /* tokens of the model's longest sequence; 0: not known */

/* `batches` has srv_step_ranks entries; an empty one runs a dummy. cost may be NULL. Well under a microsecond once its sizes are
 * known:
 * what depends on token counts alone is remembered. Returns time_s. */
double srv_step_time_s (SrvStepModel *model, const SrvBatch *batches, SrvStepCost *cost);
/* Appends SrvStepTerm to `terms` (element clear function set by srv_step_terms_new); they sum to the step. */
GArray *srv_step_terms (SrvStepModel *model, const SrvBatch *batches, SrvStepCost *cost);

/* Steps that decode only: time = base + slope · context, from `from` to `to` tokens of context (of a batch without windows
 * reached), n
 * the same. srv_step_time_s of such a batch is this line. One scheduler alone. */
typedef struct {
  double base_s, slope_s; /* slope_s: a token of context */
  double from, to;
} SrvDecodeLine;
void srv_step_decode_line (SrvStepModel *model, guint n_decode, double context, double windowed, SrvDecodeLine *line);

#endif
