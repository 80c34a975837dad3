/* Whether a configuration fits, for many: a rank's memory is computed (memory.c) for the fewest and for the most ranks that
 * can share its states, and lies between on a line in 1 / ranks. Each term is such a line; only where the fullest moment is
 * another one does the sum lie below it, so that what is called fitting fits.
 * Check: test_training_closed (against trn_model_memory over random cuts). */
#include <math.h>
#include <string.h>

#include "closed-private.h"

struct TrnMemoryLine {
  guint32 p;
  double capacity_B;
  double at[2];                    /* 1 / dp of the two */
  double *roomy_B[2], *least_B[2]; /* by stage: the total where memory is not short, and where it is */
  double kept_B[2];                /* that all ranks hold of parameters and optimizer, over dp */
};

static void
hold (const TrnModel *model, const TrnMemoryTurns *turns, TrnMemoryLine *held, guint k)
{
  g_autoptr (GArray) stages = g_array_sized_new (FALSE, FALSE, sizeof (TrnMemory), model->pipe.p);
  double state_B;
  trn_memory_with (model, turns, stages);
  trn_model_state (model, stages, &state_B, &held->kept_B[k]);
  held->kept_B[k] /= model->grid.size[TRN_DIM_DP];
  held->roomy_B[k] = g_new (double, stages->len);
  held->least_B[k] = g_new (double, stages->len);
  held->at[k] = 1.0 / model->grid.size[TRN_DIM_DP];
  held->p = stages->len;
  for (guint32 s = 0; s < stages->len; s++) {
    const TrnMemory *memory = &g_array_index (stages, TrnMemory, s);
    held->roomy_B[k][s] = memory->roomy_B;
    held->least_B[k][s] = memory->least_B;
    held->capacity_B = memory->capacity_B;
  }
}

static gboolean
hold_on (const TrnJob *job, TrnClosedQuery query, guint32 dp, TrnMemoryLine *held, guint k, GError **error)
{
  TrnVariant variant;
  query.dp = dp;
  gboolean ok = trn_variant_plan (job, &query, &variant, error);
  if (ok) {
    g_autofree TrnMemoryTurns *turns = trn_memory_turns_new (&variant.model, NULL, NULL);
    hold (&variant.model, turns, held, k);
  }
  trn_model_clear (&variant.model);
  return ok;
}

TrnMemoryLine *
trn_memory_line_new (const TrnJob *job, const TrnClosedQuery *query, guint32 least, guint32 most, GError **error)
{
  TrnMemoryLine *held = g_new0 (TrnMemoryLine, 1);
  if (hold_on (job, *query, least, held, 0, error) && hold_on (job, *query, most, held, 1, error))
    return held;
  trn_memory_line_free (held);
  return NULL;
}

TrnMemoryLine *
trn_memory_line_one (const TrnModel *model, const TrnMemoryTurns *turns)
{
  TrnMemoryLine *held = g_new0 (TrnMemoryLine, 1);
  hold (model, turns, held, 0);
  return held;
}

void
trn_memory_line_free (TrnMemoryLine *held)
{
  if (held == NULL)
    return;
  for (guint k = 0; k < 2; k++) {
    g_free (held->roomy_B[k]);
    g_free (held->least_B[k]);
  }
  g_free (held);
}

void
trn_memory_line_at (const TrnMemoryLine *held, guint32 dp, TrnClosedStep *out)
{
  const gboolean two = held->roomy_B[1] != NULL;
  double share = two ? (1.0 / dp - held->at[0]) / (held->at[1] - held->at[0]) : 0, least_B = -1;
  out->restore_B = dp * (held->kept_B[0] + share * (held->kept_B[1] - held->kept_B[0]));
  out->capacity_B = held->capacity_B;
  for (guint32 s = 0; s < held->p; s++) {
    double roomy_B = held->roomy_B[0][s], here_B = held->least_B[0][s];
    if (two) {
      roomy_B += share * (held->roomy_B[1][s] - roomy_B);
      here_B += share * (held->least_B[1][s] - here_B);
    }
    if (here_B > least_B) {
      least_B = here_B;
      out->memory_B = trn_memory_taken_B (roomy_B, here_B, held->capacity_B);
      out->fullest = s;
    }
  }
  out->fits = held->capacity_B <= 0 || least_B <= held->capacity_B;
}
