/* The fit of a section, stage by stage. */
#include "calibrate/section.h"

#include <math.h>
#include <string.h>

static const CalSectionPoint *
point_at (const GArray *points, guint i)
{
  return &g_array_index (points, CalSectionPoint, i);
}

void
cal_section_hold_every_second (GArray *points, guint first, gboolean (*same) (const CalSectionPoint *a, const CalSectionPoint *b))
{
  for (guint i = first + 1; i < points->len; i++) {
    const CalSectionPoint *before = point_at (points, i - 1);
    CalSectionPoint *here = &g_array_index (points, CalSectionPoint, i);
    if (same (before, here) && before->use == CAL_USE_FIT)
      here->use = CAL_USE_HELD_SIZE;
  }
}

void
cal_collect_add (CalCollect *collect, const CalSectionPoint *point, const void *item, gsize item_B)
{
  CalSectionPoint kept = *point;
  void *copy = base_arena_alloc (collect->arena, item_B);
  memcpy (copy, item, item_B);
  kept.item = copy;
  g_array_append_val (collect->points, kept);
}

gboolean
cal_collect_each (CalCollect *collect, const char *section,
                  gboolean (*visit) (CalCollect *collect, guint i, double median_s, GError **error), GError **error)
{
  for (guint i = 0; i < cal_probe_n_points (collect->probe); i++) {
    CalPointState state;
    double median_s;
    if (!cal_probe_is (collect->probe, i, section, NULL))
      continue;
    if (!cal_probe_judge (collect->probe, i, &state, &median_s, error))
      return FALSE;
    if (state != CAL_POINT_GOOD)
      collect->n_left++;
    else if (!visit (collect, i, median_s, error))
      return FALSE;
  }
  return TRUE;
}

/* ---- one solution ---- */

typedef struct {
  const CalSection *section;
  const CalNode *node;
  void *now;            /* the section's struct, with the constants as they are tried */
  const void *defaults; /* as the calibration has them */
  const GArray *points;
} Trial;

static double
predict (void *user, guint i)
{
  const Trial *t = user;
  return t->section->predict (t->now, t->node, point_at (t->points, i));
}

static void
set (void *user, const CalFitConstant *constant, double value)
{
  const Trial *t = user;
  BaseNum *num = (BaseNum *)(gpointer)((char *)t->now + constant->offset);
  num->v = value;
  num->set = TRUE;
}

/* All stages, from where the files say on; `now` then has the result. Returned: full; NULL and *error on failure. */
static CalFit *
solve_all (Trial *t, const GPtrArray *probes, gboolean all, GError **error)
{
  g_autoptr (CalFit) fit = cal_fit_new ();
  guint most = MAX (t->points->len, 1);
  g_autofree guint *at = g_new (guint, most);
  g_autofree double *measured = g_new (double, most);
  memcpy (t->now, t->defaults, t->section->keys->size);
  for (guint i = 0; t->section->start != NULL && i < probes->len; i++)
    t->section->start (probes->pdata[i], t->now);
  for (const CalStage *stage = t->section->stages; stage->name != NULL; stage++) {
    guint n = 0;
    for (guint i = 0; i < t->points->len; i++)
      if (strcmp (point_at (t->points, i)->stage, stage->name) == 0 && (all || point_at (t->points, i)->use == CAL_USE_FIT)) {
        measured[n] = point_at (t->points, i)->measured;
        at[n++] = i;
      }
    const CalConstants constants = { t->section->keys->schema, t->now, t->defaults };
    const CalProblem problem = { n, at, measured, NULL, predict, set, t };
    if (!cal_stage_solve (stage, &constants, &problem, fit, error))
      return NULL;
  }
  return g_steal_pointer (&fit);
}

/* The band from every second held-out point. */
static void
find_band (CalSectionFit *fit)
{
  guint n = fit->points->len, n_held = 0;
  g_autofree double *error = g_new (double, n);
  g_autofree gboolean *second = g_new0 (gboolean, n);
  for (guint i = 0; i < n; i++) {
    gboolean held = point_at (fit->points, i)->use != CAL_USE_FIT && isfinite (fit->predicted[i]);
    error[i] = held ? fabs (log (fit->predicted[i] / point_at (fit->points, i)->measured)) : (double)NAN;
    second[i] = held && n_held++ % 2 == 1;
  }
  cal_band (error, second, n, &fit->band, &fit->covered);
}

CalSectionFit *
cal_section_fit (const CalSection *section, const void *defaults, const CalNode *node, const GPtrArray *probes, gboolean hold_out,
                 gboolean split, GError **error)
{
  g_autoptr (CalSectionFit) fit = g_new0 (CalSectionFit, 1);
  fit->section = section;
  fit->arena = base_arena_new ();
  fit->points = g_array_new (FALSE, FALSE, sizeof (CalSectionPoint));
  fit->band = fit->covered = (double)NAN;
  CalCollect collect = { .node = node, .arena = fit->arena, .points = fit->points };
  for (guint i = 0; i < probes->len; i++) {
    collect.probe = probes->pdata[i];
    if (!section->collect (&collect, error))
      return NULL;
  }
  fit->n_left = collect.n_left;
  if (fit->points->len == 0)
    return NULL;
  g_autofree void *now = g_malloc (section->keys->size);
  Trial trial = { .section = section, .node = node, .now = now, .defaults = defaults, .points = fit->points };
  fit->fit = solve_all (&trial, probes, !hold_out, error);
  if (fit->fit == NULL)
    return NULL;
  fit->predicted = g_new (double, fit->points->len);
  for (guint i = 0; i < fit->points->len; i++)
    fit->predicted[i] = predict (&trial, i);
  if (hold_out)
    find_band (fit);
  if (hold_out && !split) {
    cal_fit_free (fit->fit);
    fit->fit = solve_all (&trial, probes, TRUE, error);
    if (fit->fit == NULL)
      return NULL;
  }
  if (section->note != NULL)
    fit->notes = section->note (fit);
  return g_steal_pointer (&fit);
}

void
cal_section_fit_free (CalSectionFit *fit)
{
  if (fit == NULL)
    return;
  g_clear_pointer (&fit->points, g_array_unref);
  cal_fit_free (fit->fit);
  g_clear_pointer (&fit->notes, g_ptr_array_unref);
  g_clear_pointer (&fit->arena, base_arena_free);
  g_free (fit->predicted);
  g_free (fit);
}

void
cal_section_result (const CalSectionFit *fit, void *section)
{
  for (guint i = 0; i < fit->fit->constants->len; i++) {
    const CalFitConstant *c = &g_array_index (fit->fit->constants, CalFitConstant, i);
    if (c->verdict != CAL_FITTED && c->verdict != CAL_AT_LIMIT)
      continue;
    BaseNum *num = (BaseNum *)(gpointer)((char *)section + c->offset);
    *num = (BaseNum){ .v = c->after, .set = TRUE, .source = BASE_SOURCE_MEASURED };
  }
}
