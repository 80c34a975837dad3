/* FLOP and state bytes of a training step, closed forms (see models/training.h for formulas and sources).
 * Valid: dense models, matrix parameters only. Check: 2 B parameters in mixed precision take 36 GB; recomputing makes
 * 3 passes 4. */
#include "models/training.h"

const MdlState mdl_state_mixed_adam = { .weight_B = 2, .gradient_B = 4, .master_B = 4, .first_moment_B = 4, .second_moment_B = 4 };

double
mdl_state_B (const MdlState *state)
{
  return mdl_state_sharded_B (state, 1, 0, 1);
}

double
mdl_state_sharded_B (const MdlState *state, double parameters, unsigned zero_stage, unsigned ranks)
{
  double optimizer_B = state->master_B + state->first_moment_B + state->second_moment_B;
  double weight_B = state->weight_B, gradient_B = state->gradient_B;
  if (zero_stage >= 1)
    optimizer_B /= ranks;
  if (zero_stage >= 2)
    gradient_B /= ranks;
  if (zero_stage >= 3)
    weight_B /= ranks;
  return parameters * (weight_B + gradient_B + optimizer_B);
}

double
mdl_step_flop (double parameters, double tokens, gboolean full_recompute)
{
  const double pass_flop = 2 * parameters * tokens; /* a multiply and an add a parameter and token */
  return pass_flop * (full_recompute ? 4 : 3);
}
