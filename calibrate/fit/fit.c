/* From measurements to a calibration: which points count, then sections, then collectives. */
#include "fit/fit-private.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

GQuark
cal_fit_error_quark (void)
{
  return g_quark_from_static_string ("cal-fit-error");
}

gboolean
cal_fit_fail (GError **error, CalFitError code, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *text = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error_literal (error, CAL_FIT_ERROR, (int)code, text);
  return FALSE;
}

/* ---- what is measured ---- */

static gboolean
is_wanted (const CalFitQuery *query, const CalMeasured *m)
{
  return query->systems == NULL || query->systems[m->system];
}

/* The points that are to be fitted. Returned: full, of CalMeasured. */
static GArray *
choose_points (const CalFitWork *work)
{
  GArray *chosen = g_array_new (FALSE, FALSE, sizeof (CalMeasured));
  for (guint i = 0; i < work->data->points->len; i++) {
    const CalMeasured *m = &g_array_index (work->data->points, CalMeasured, i);
    const CalSystem *system = cal_data_system (work->data, m->system);
    if (!is_wanted (work->query, m))
      continue;
    if (system->library.v == CAL_LIBRARY_PLAIN || !system->p2p.v || system->one_way.v || m->size_B < work->query->min_size_B)
      work->out->n_left++;
    else
      g_array_append_val (chosen, *m);
  }
  return chosen;
}

static gboolean
take_point (const CalFitWork *work, CalGroup *group, const CalMeasured *m, GError **error)
{
  CalFitResult *out = work->out;
  gboolean possible;
  g_autofree char *why = NULL;
  if (!cal_fit_check_rate (group, m, error) || !cal_group_price (group, m, &possible, &why, error))
    return FALSE;
  if (!possible) {
    out->n_left++;
    return TRUE;
  }
  const ColAnswer *coll = &group->coll; /* of `auto` the same choice each time, whatever the constants */
  const CalPriced priced = { group,
                             { .op = m->op, .size_B = m->size_B, .dtype = m->dtype, .algo = coll->algo, .proto = coll->proto } };
  const CalFitPoint point = { .op = m->op,
                              .algo = coll->algo,
                              .proto = coll->proto,
                              .launch = (MdlLaunch)group->system->launch.v,
                              .nodes = m->nodes,
                              .ranks = group->n_ranks,
                              .max_channels = m->max_channels,
                              .min_ctas = m->min_ctas,
                              .system = m->system,
                              .size_B = m->size_B,
                              .measured_s = m->time_s };
  g_array_append_val (out->points, point);
  g_array_append_val (work->priced, priced);
  return TRUE;
}

static gboolean
take_group (CalGroup *group, void *user, gboolean *kept, GError **error)
{
  const CalFitWork *work = user;
  g_ptr_array_add (work->out->groups, group);
  *kept = TRUE;
  for (guint i = 0; i < group->n; i++)
    if (!take_point (work, group, group->member[i], error))
      return FALSE;
  return TRUE;
}

/* ---- the fit ---- */

/* Too few collectives beside copies and the like are no reason to give up what these tell. */
static gboolean
fit_collectives (const CalFitWork *work, GError **error)
{
  CalFitResult *out = work->out;
  g_autoptr (GError) cause = NULL;
  if (out->groups->len == 0 || cal_fit_collectives (work, &cause))
    return TRUE;
  gboolean is_input = cause->domain == CAL_FIT_ERROR || g_error_matches (cause, BASE_ERROR, (gint)BASE_ERROR_INPUT);
  if (out->sections->len == 0 || out->first != NULL || work->query->unknown != NULL || !is_input) {
    g_propagate_error (error, g_steal_pointer (&cause));
    return FALSE;
  }
  g_autofree char *why = g_strdup_printf ("collectives are not fitted: %s", cause->message);
  work->host->warn (work->host->user, why);
  g_array_set_size (out->points, 0);
  return TRUE;
}

static gboolean
fit (CalFitWork *work, GError **error)
{
  CalFitResult *out = work->out;
  g_autoptr (GArray) points = choose_points (work);
  MdlLinks links;
  gboolean has_links = FALSE;
  /* sections first, since collectives go over the links that are fitted */
  if (!cal_fit_check_repeats (work, points, error) || !cal_fit_check_versions (work, points, error) ||
      !cal_fit_sections (work, &links, &has_links, error))
    return FALSE;
  const CalPredict how = { .mode = COL_MODE_MODEL,
                           .folder = work->query->folder,
                           .calibration = work->query->over,
                           .links = has_links ? &links : NULL,
                           .points = points };
  if (!cal_predict (out->predictor, &how, work->data, take_group, work, error))
    return FALSE;
  work->network = cal_network_new (work, how.links);
  gboolean good = fit_collectives (work, error);
  cal_network_free (work->network);
  work->network = NULL;
  if (!good)
    return FALSE;
  if (out->groups->len == 0 && out->sections->len == 0)
    return cal_fit_fail (error, CAL_FIT_ERROR_OTHER,
                         "nothing is left to fit: collectives with P2P on are, and the other sections of a probe's file");
  const GPtrArray *loaded = cal_predictor_loaded (out->predictor);
  out->over = loaded->len > 0 ? cst_name (loaded->pdata[loaded->len - 1]) : NULL;
  return TRUE;
}

static CalFitResult *
result_new (const CalHost *host)
{
  CalFitResult *out = g_new0 (CalFitResult, 1);
  out->predictor = cal_predictor_new (host);
  out->groups = g_ptr_array_new_with_free_func ((GDestroyNotify)cal_group_free);
  out->sections = g_ptr_array_new_with_free_func ((GDestroyNotify)cal_section_fit_free);
  out->points = g_array_new (FALSE, FALSE, sizeof (CalFitPoint));
  out->scores = g_array_new (FALSE, FALSE, sizeof (CalFitScore));
  out->tested = g_array_new (FALSE, FALSE, sizeof (CalFitTested));
  out->offsets = g_array_new (FALSE, FALSE, sizeof (CalFitOffset));
  out->others = g_array_new (FALSE, FALSE, sizeof (CalFitChoice));
  for (int b = 0; b < MDL_SIZE_N; b++)
    out->band[b] = out->covered[b] = (double)NAN;
  return out;
}

void
cal_fit_result_free (CalFitResult *result)
{
  if (result == NULL)
    return;
  g_ptr_array_unref (result->groups);
  g_ptr_array_unref (result->sections);
  GArray *const arrays[] = { result->points, result->scores, result->tested, result->offsets, result->others };
  for (guint i = 0; i < G_N_ELEMENTS (arrays); i++)
    g_array_unref (arrays[i]);
  g_free (result->stage);
  g_free (result->predicted_s);
  cal_fit_free (result->first);
  cal_fit_free (result->all);
  cal_predictor_free (result->predictor); /* groups borrow from it */
  g_free (result);
}

CalFitResult *
cal_fit (const CalHost *host, const CalFitQuery *query, CalData *data, GError **error)
{
  g_autoptr (CalFitResult) out = result_new (host);
  g_autoptr (GArray) priced = g_array_new (FALSE, FALSE, sizeof (CalPriced));
  g_autofree double *offset_s = g_new0 (double, MAX (data->spec.systems.n, 1));
  for (guint i = 0; query->unknown != NULL && i < data->spec.systems.n; i++)
    if (query->unknown[i])
      BASE_LIST_AT (data->spec.systems, CalSystem, i)->launch.v = MDL_LAUNCH_GRAPH;
  CalFitWork work = { .host = host, .query = query, .data = data, .out = out, .priced = priced, .offset_s = offset_s };
  return fit (&work, error) ? g_steal_pointer (&out) : NULL;
}
