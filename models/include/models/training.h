/* Arithmetic of a training step: FLOP of a token and bytes of state a parameter. The operators themselves come with model-built
 * training; these closed forms are what they must sum to. */
#ifndef MODELS_TRAINING_H
#define MODELS_TRAINING_H

#include <glib.h>

G_BEGIN_DECLS

/* What is kept for each parameter, B; 0 where there is none. */
typedef struct {
  double weight_B, gradient_B, master_B, first_moment_B, second_moment_B;
} MdlState;

/* bf16 weights, fp32 gradients, AdamW in fp32: 2 + 4 + 4 + 4 + 4 = 18 B (Bekman, Machine Learning Engineering, "Memory";
 * Megatron-LM docs, distributed optimizer). */
extern const MdlState mdl_state_mixed_adam;

double mdl_state_B (const MdlState *state);
/* State of one of `ranks` data-parallel ranks when optimizer state (and master weights), gradients and weights are sharded from
 * ZeRO stage 1, 2 and 3 on. Source: Rajbhandari et al., 1910.02054, section 5. B for `parameters` parameters. */
double mdl_state_sharded_B (const MdlState *state, double parameters, unsigned zero_stage, unsigned ranks);

/* FLOP of a step over `tokens` tokens in matrix parameters: forward 2, backward 4, and a second forward where all activations are
 * recomputed. Attention is not counted here. Source: Narayanan et al., SC21 (2104.04473), section 3, equation 3. */
double mdl_step_flop (double parameters, double tokens, gboolean full_recompute);

G_END_DECLS

#endif
