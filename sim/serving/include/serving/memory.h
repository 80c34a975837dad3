/* GPU memory of a replica: weights, KV blocks, and where the rest went, by the engine's own rule. */
#ifndef SERVING_MEMORY_H
#define SERVING_MEMORY_H

#include "collective/system.h"
#include "models/llm.h"
#include "serving/spec.h"

typedef struct {
  double capacity_B;    /* that the driver reports */
  double budget_B;      /* that the engine may use */
  double weights_B;     /* of the fullest rank */
  double activations_B; /* peak of the profiling run */
  double graphs_B;
  double other_B;    /* context, NCCL, the framework */
  double kv_B;       /* left for blocks */
  double token_B;    /* KV of a token on a rank */
  double sequence_B; /* that a sequence takes besides, whatever its length (windows) */
  double block_tokens;
  double blocks;     /* whole, of one scheduler */
  double tokens;     /* blocks · block_tokens */
  double concurrent; /* longest sequences that fit at once: tokens / max_model_len */
  gboolean given;    /* by kv_blocks */
  BaseSource source;
} SrvMemory;

/* KV of a token over all layers and ranks without copies, B: 2·L·K·d·b; MLA: L·(kv_lora + rope)·b, or 656 B a layer in fp8. Layers
 * with
 * a window count in sequence_B (may be NULL) and not here. */
double srv_kv_token_B (const MdlLlm *llm, SrvFormat kv, double *sequence_B);
/* FALSE and *error (BASE_ERROR_INPUT: by how much, and the nearest layout or precision that fits) where not one sequence fits. */
gboolean srv_memory_plan (const MdlLlm *llm, const ColSystem *system, const SrvReplicaSpec *spec, SrvMemory *out, GError **error);

#endif
