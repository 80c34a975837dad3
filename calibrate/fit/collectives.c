/* Constants of collectives from points: launches that nobody told, the fit without what is held out, and the one of all points. */
#include <math.h>
#include <string.h>

#include "base/stats.h"
#include "fit/fit-private.h"
#include "models/library-spec.h"

/* ---- predictions ---- */

static void
set_constant (void *user, const CalFitConstant *constant, double value)
{
  const CalFitWork *work = user;
  if (work->network != NULL && cal_network_set (work->network, constant, value))
    return;
  for (guint g = 0; g < work->out->groups->len; g++) {
    CalGroup *group = work->out->groups->pdata[g];
    BaseNum *num = (BaseNum *)(gpointer)((char *)group->library + constant->offset);
    num->v = value;
    num->set = TRUE;
  }
}

/* Back to what they were before a fit. */
static void
reset_constants (const CalFitWork *work, const CalFit *found)
{
  for (guint i = 0; i < found->constants->len; i++) {
    const CalFitConstant *c = &g_array_index (found->constants, CalFitConstant, i);
    set_constant ((void *)(gpointer)work, c, c->before);
  }
}

static double
predict_point (void *user, guint i)
{
  const CalFitWork *work = user;
  const CalPriced *priced = &g_array_index (work->priced, CalPriced, i);
  if (work->network != NULL)
    cal_network_lay (work->network);
  if (priced->group->comm == NULL || !col_coll_price (priced->group->comm, &priced->request, &priced->group->coll, NULL))
    return (double)NAN;
  return priced->group->coll.time_s + work->offset_s[g_array_index (work->out->points, CalFitPoint, i).system];
}

/* ---- sources whose launches are not known ---- */

/* The median of what is measured more than predicted among small messages, where it shows most; the constants stand as they are. */
static gboolean
find_offset (const CalFitWork *work, guint system, double *more_s, GError **error)
{
  const GArray *points = work->out->points;
  double small_to_B = work->out->limits_B[0];
  guint n = 0;
  for (guint i = 0; i < points->len; i++) {
    const CalFitPoint *p = &g_array_index (points, CalFitPoint, i);
    double predicted_s =
        p->system == system && p->nodes == 1 && p->size_B < small_to_B ? predict_point ((void *)(gpointer)work, i) : (double)NAN;
    if (isfinite (predicted_s))
      more_s[n++] = p->measured_s - predicted_s;
  }
  const char *name = cal_data_system (work->data, system)->name.v;
  if (n == 0) {
    g_autofree char *small = base_quantity_format (small_to_B, BASE_DIM_BYTES, 4);
    return cal_fit_fail (error, CAL_FIT_ERROR_OFFSET, "%s: no measurement of it is below %s, where launches show", name, small);
  }
  const CalFitOffset offset = { name, fmax (base_median (more_s, n), 0), n, FALSE };
  work->offset_s[system] = offset.time_s;
  g_array_append_val (work->out->offsets, offset);
  return TRUE;
}

/* Constants from the sources that are known, offsets of the others from these; the defaults where none is known. */
static gboolean
settle_offsets (const CalFitWork *work, const MdlLibrary *defaults, const CalFitModel *model, GError **error)
{
  const gboolean *unknown = work->query->unknown;
  GArray *points = work->out->points;
  guint n_known = 0;
  for (guint i = 0; i < points->len; i++) {
    CalFitPoint *p = &g_array_index (points, CalFitPoint, i);
    p->use = unknown[p->system] ? CAL_USE_HELD_SIZE : CAL_USE_FIT; /* held out of this fit; the split decides anew */
    n_known += p->use == CAL_USE_FIT && cal_fit_stage_name (p) != NULL;
  }
  g_autoptr (CalFit) known = n_known > 0 ? cal_fit_run (defaults, points, model, error) : NULL;
  if (n_known > 0 && known == NULL)
    return FALSE;
  g_autofree double *more_s = g_new (double, MAX (points->len, 1));
  for (guint s = 0; s < work->data->spec.systems.n; s++)
    if (unknown[s] && !cal_network_finds_offset (work->network, s) && !find_offset (work, s, more_s, error))
      return FALSE;
  if (known != NULL)
    reset_constants (work, known);
  return TRUE;
}

/* ---- the fit ---- */

/* The constants that all is fitted over: of the first communicator; those of the others are the same by request or by their GPU. */
static const MdlLibrary *
base_library (const CalFitWork *work, GError **error)
{
  const GPtrArray *loaded = cal_predictor_loaded (work->out->predictor);
  for (guint i = 1; i < loaded->len; i++)
    if (strcmp (cst_name (loaded->pdata[i]), cst_name (loaded->pdata[0])) != 0) {
      cal_fit_fail (error, CAL_FIT_ERROR_CONSTANTS, "systems by %s and by %s cannot be fitted together",
                    cst_name (loaded->pdata[0]), cst_name (loaded->pdata[i]));
      return NULL;
    }
  return ((const CalGroup *)work->out->groups->pdata[0])->library;
}

static gboolean
holds_out (const CalFitWork *work)
{
  const CalHoldOut *what = &work->query->hold_out;
  gboolean any = what->sizes || what->ranks || what->ops != 0;
  for (guint i = 0; what->systems != NULL && i < work->data->spec.systems.n; i++)
    any = any || what->systems[i];
  return any;
}

/* Of all points, from the defaults on. */
static gboolean
fit_all (const CalFitWork *work, const MdlLibrary *defaults, const CalFitModel *model, GError **error)
{
  CalFitResult *out = work->out;
  g_autoptr (GArray) points = g_array_copy (out->points);
  cal_fit_split (points, &(CalHoldOut){ 0 });
  reset_constants (work, out->first);
  out->fit = out->all = cal_fit_run (defaults, points, model, error);
  out->all_fitted = TRUE;
  return out->all != NULL;
}

/* Launches that were found beside the network. */
static void
add_offsets (CalFitResult *out)
{
  for (guint i = 0; i < out->fit->constants->len; i++) {
    const CalFitConstant *c = &g_array_index (out->fit->constants, CalFitConstant, i);
    const CalFitOffset offset = { c->path, c->after, c->n_points, TRUE };
    if (c->section == cal_section_offset)
      g_array_append_val (out->offsets, offset);
  }
}

gboolean
cal_fit_collectives (const CalFitWork *work, GError **error)
{
  CalFitResult *out = work->out;
  const MdlLibrary *library = base_library (work, error);
  if (library == NULL)
    return FALSE;
  g_autofree MdlLibrary *defaults = g_memdup2 (library, sizeof *library); /* the groups' own are changed */
  const CalFitModel model = { set_constant, predict_point, (void *)(gpointer)work,
                              work->network != NULL ? cal_network_constants (work->network) : NULL };
  out->limits_B[0] = defaults->small_max.v;
  out->limits_B[1] = defaults->middle_max.v;
  const BaseNum *const band[] = { &defaults->error.small, &defaults->error.middle, &defaults->error.large };
  for (int b = 0; defaults->error.head.set && b < MDL_SIZE_N; b++)
    out->base_band[b] = band[b]->v;
  if (work->query->unknown != NULL && !settle_offsets (work, defaults, &model, error))
    return FALSE;
  cal_fit_split (out->points, &work->query->hold_out);
  out->first = cal_fit_run (defaults, out->points, &model, error);
  if (out->first == NULL)
    return FALSE;
  out->fit = out->first;
  out->predicted_s = g_new (double, MAX (out->points->len, 1));
  for (guint i = 0; i < out->points->len; i++)
    out->predicted_s[i] = predict_point ((void *)(gpointer)work, i);
  cal_fit_judge (out);
  if (!work->query->split && holds_out (work) && !fit_all (work, defaults, &model, error))
    return FALSE;
  add_offsets (out);
  cal_fit_compare_choices (work);
  return TRUE;
}
