/* Predictions for all that was measured, held against the margins. */
#include "calibrate/validate.h"

#include <math.h>

/* ---- predictions ---- */

typedef struct {
  const CalHost *host;
  CalValidation *out;
} Visit;

/* A point that cannot run where it was measured is reported, not scored. */
static gboolean
predict_point (const Visit *visit, CalGroup *group, const CalMeasured *point, GError **error)
{
  const ColAnswer *coll = &group->coll;
  gboolean possible;
  g_autofree char *why = NULL;
  if (!cal_group_price (group, point, &possible, &why, error))
    return FALSE;
  if (!possible) {
    g_autofree char *warning = g_strdup_printf ("%s was measured, but is not predicted: %s", group->system->name.v, why);
    visit->host->warn (visit->host->user, warning);
    visit->out->n_impossible++;
    return TRUE;
  }
  const char *fabric = mdl_fabric_name (mdl_fabric (group->settings.library, &coll->question));
  const CalPrediction scored = { .system = group->system->name.v,
                                 .order = point->system,
                                 .nodes = point->nodes,
                                 .ranks = group->n_ranks,
                                 .islands = coll->question.n_nodes,
                                 .op = point->op,
                                 .algo = point->algo,
                                 .proto = point->proto,
                                 .size_B = point->size_B,
                                 .measured_s = point->time_s,
                                 .predicted_s = coll->time_s,
                                 .predicted_lo_s = coll->time_lo_s,
                                 .predicted_hi_s = coll->time_hi_s,
                                 .fabric = g_intern_string (fabric),
                                 .role = group->system->role.set ? group->system->role.v : -1 };
  g_array_append_val (visit->out->points, scored);
  return TRUE;
}

static gboolean
predict_group (CalGroup *group, void *user, gboolean *kept, GError **error)
{
  (void)kept;
  for (guint i = 0; i < group->n; i++)
    if (!predict_point (user, group, group->member[i], error))
      return FALSE;
  return TRUE;
}

/* ---- judgement ---- */

static gboolean
fits (const CalLimit *limit, const CalScore *score)
{
  return (limit->systems.n == 0 || cal_names_hold (&limit->systems, score->system)) &&
         (!limit->nodes.set || limit->nodes.v == score->nodes) && (!limit->op.set || limit->op.v == (int)score->op) &&
         (!limit->algo.set || limit->algo.v == score->algo) && (!limit->proto.set || limit->proto.v == score->proto) &&
         (!limit->band.set || limit->band.v == (int)score->band);
}

/* Returned: how many are worse than allowed. */
static guint
judge (const CalMargins *margins, GArray *scores)
{
  guint n_worse = 0;
  for (guint i = 0; i < scores->len; i++) {
    CalScore *score = &g_array_index (scores, CalScore, i);
    for (guint k = 0; score->system != NULL && k < margins->limits.n; k++) {
      const CalLimit *limit = BASE_LIST_AT (margins->limits, CalLimit, k);
      if (!fits (limit, score))
        continue;
      score->median_limit = limit->median.set ? limit->median.v : (double)NAN;
      score->p95_limit = limit->p95.set ? limit->p95.v : (double)NAN;
      break;
    }
    n_worse += cal_score_is_worse (score) ? 1 : 0;
  }
  return n_worse;
}

gboolean
cal_validate (const CalHost *host, const CalPredict *how, const CalData *data, CalValidation *out, GError **error)
{
  out->points = g_array_new (FALSE, FALSE, sizeof (CalPrediction));
  g_autoptr (CalPredictor) predictor = cal_predictor_new (host);
  Visit visit = { host, out };
  if (!cal_predict (predictor, how, data, predict_group, &visit, error))
    return FALSE;
  out->scores = cal_score (out->points, data->margins.small_max.v, data->margins.middle_max.v);
  out->fabrics = cal_score_fabrics (out->points);
  out->n_worse = judge (&data->margins, out->scores);
  return TRUE;
}

void
cal_validation_clear (CalValidation *validation)
{
  g_clear_pointer (&validation->points, g_array_unref);
  g_clear_pointer (&validation->fabrics, g_array_unref);
  g_clear_pointer (&validation->scores, g_array_unref);
}
