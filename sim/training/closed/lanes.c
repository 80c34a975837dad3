/* What turns of a pipeline rank take, from the units that they are made of; where its GPUs are slow, their compute takes longer. */
#include <math.h>
#include <string.h>

#include "closed-private.h"

double *
trn_slow_lanes (const TrnModel *model)
{
  const TrnModelSpec *spec = &model->spec->model;
  if (spec->stragglers.n == 0 && !spec->jitter.head.set)
    return NULL;
  double *slow = g_new (double, model->pipe.p);
  for (guint32 lane = 0; lane < model->pipe.p; lane++)
    slow[lane] = trn_model_slow (model, lane);
  return slow;
}

/* A turn of a unit whose compute takes `slow` times as long: what it waits for beside compute (shards, rings) it waits less for. */
static void
slow_unit (const TrnUnitTime *one, MdlTurnKind kind, double slow, double part_s[TRN_PART_N])
{
  memcpy (part_s, one->part_s[kind], sizeof one->part_s[kind]);
  double more_s = (slow - 1) * part_s[TRN_PART_COMPUTE];
  static const TrnPart beside[] = { TRN_PART_EXPOSED_DP, TRN_PART_EXPOSED_CP };
  part_s[TRN_PART_COMPUTE] += more_s;
  for (guint i = 0; i < G_N_ELEMENTS (beside); i++) {
    double hidden_s = fmin (more_s, part_s[beside[i]]);
    part_s[beside[i]] -= hidden_s;
    more_s -= hidden_s;
  }
}

/* Units of a position one after the other. */
static double
sum_units (const TrnUnits *units, const TrnModel *model, guint32 position, MdlTurnKind kind)
{
  const TrnStageLayers *cut = &model->cut[position];
  const guint32 n = trn_cut_units (model, position), before = cut->n + (cut->embedding ? 1 : 0);
  double time_s = cut->embedding ? units->unit[TRN_UNIT_AT_EMBEDDING].time_s[kind] : 0;
  for (guint32 layer = cut->first; layer < cut->first + cut->n; layer++)
    time_s += units->unit[units->index[layer]].time_s[kind];
  for (guint32 u = before; u < n; u++)
    time_s += units->unit[TRN_UNIT_AT_HEAD].time_s[kind];
  return time_s;
}

/* The same on slow GPUs. */
static double
sum_slow_units (const TrnUnits *units, const TrnModel *model, guint32 position, MdlTurnKind kind, double slow)
{
  double time_s = 0, part_s[TRN_PART_N];
  for (guint32 u = 0; u < trn_cut_units (model, position); u++) {
    slow_unit (trn_units_at (units, model, position, u), kind, slow, part_s);
    for (int p = 0; p < TRN_PART_N; p++)
      time_s += part_s[p];
  }
  return time_s;
}

double *
trn_turn_times (const TrnStage *stages, const TrnModel *model, const double *slow, MdlTurnKind kind)
{
  double *time_s = g_new0 (double, model->n_positions);
  for (guint32 position = 0; position < model->n_positions; position++) {
    guint32 lane = mdl_schedule_place (&model->pipe, 0, position).rank;
    const TrnUnits *units = stages[lane].units;
    const double sum_s =
        slow != NULL ? sum_slow_units (units, model, position, kind, slow[lane]) : sum_units (units, model, position, kind);
    time_s[position] = sum_s + units->edge_s[kind];
  }
  return time_s;
}

/* What passes take less where two run beside each other: communication that one hides behind compute of the other. */
static void
hide_beside (double paired, double part_s[TRN_PART_N])
{
  static const TrnPart hidden[] = { TRN_PART_EXPOSED_EP, TRN_PART_EXPOSED_TP, TRN_PART_EXPOSED_CP, TRN_PART_EXPOSED_DP };
  double less_s = 0;
  for (int p = 0; p < TRN_PART_N; p++)
    less_s += (1 - fmin (paired, 1)) * part_s[p];
  for (guint i = 0; i < G_N_ELEMENTS (hidden); i++) {
    const double own_s = fmin (less_s, part_s[hidden[i]]);
    part_s[hidden[i]] -= own_s;
    less_s -= own_s;
  }
}

void
trn_lane_parts (const TrnUnits *units, const TrnModel *model, guint32 lane, double slow, double part_s[TRN_PART_N])
{
  for (guint32 c = 0; c < mdl_schedule_chunks (&model->pipe); c++) {
    guint32 position = mdl_schedule_position (&model->pipe, (MdlPlace){ lane, c });
    for (guint32 u = 0; u < trn_cut_units (model, position); u++) {
      const TrnUnitTime *one = trn_units_at (units, model, position, u);
      double forward_s[TRN_PART_N], backward_s[TRN_PART_N];
      slow_unit (one, MDL_TURN_FORWARD, slow, forward_s);
      slow_unit (one, MDL_TURN_BACKWARD, slow, backward_s);
      for (int p = 0; p < TRN_PART_N; p++)
        part_s[p] += forward_s[p] + backward_s[p];
    }
    part_s[TRN_PART_EXPOSED_DP] += units->edge_s[MDL_TURN_FORWARD] + units->edge_s[MDL_TURN_BACKWARD];
  }
  hide_beside (units->paired, part_s);
  for (int p = 0; p < TRN_PART_N; p++) /* two copies share the micro-batches */
    part_s[p] /= mdl_schedule_copies (&model->pipe);
}
