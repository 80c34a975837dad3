/* The fit of a section, stage by stage. */
#include "calibrate/section.h"
#include "base/stats.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

/* Of the held-out points, the share that the band of an answer is to hold. */
static const double BAND_SHARE = 0.9;

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

/* ---- one solution ---- */

typedef struct {
  const CalSection *section;
  const CalNode *node;
  void *now;            /* the section's struct, with the constants as they are tried */
  const void *defaults; /* as the calibration has them */
  const GArray *points;
  const guint *at; /* the stage's points that count */
} Trial;

static double
predict (void *user, guint i)
{
  const Trial *t = user;
  return t->section->predict (t->now, t->node, point_at (t->points, t->at[i]));
}

static void
set (void *user, const CalFitConstant *constant, double value)
{
  const Trial *t = user;
  BaseNum *num = (BaseNum *)(gpointer)((char *)t->now + constant->offset);
  num->v = value;
  num->set = TRUE;
}

static gboolean
solve_stage (Trial *t, const CalSectionStage *stage, gboolean all, GArray *constants, GArray *stages, GError **error)
{
  const GArray *points = t->points;
  g_autofree guint *at = g_new (guint, MAX (points->len, 1));
  g_autofree double *measured = g_new (double, MAX (points->len, 1));
  guint n_points = 0, n = 0, first = constants->len;
  for (guint i = 0; i < points->len; i++)
    if (strcmp (point_at (points, i)->stage, stage->name) == 0 && (all || point_at (points, i)->use == CAL_USE_FIT)) {
      measured[n_points] = point_at (points, i)->measured;
      at[n_points++] = i;
    }
  if (n_points == 0)
    return TRUE;
  CalFitConstant *active[CAL_STAGE_MAX];
  for (const char *const *path = stage->paths; *path != NULL; path++) {
    CalFitConstant c;
    if (!cal_constant_find (t->section->keys->schema, t->now, *path, &c))
      g_error ("stage '%s' names no constant '%s'", stage->name, *path);
    c.stage = stage->name;
    c.base = ((const BaseNum *)(const void *)((const char *)t->defaults + c.offset))->v;
    if (c.before > 0) /* else neither a start nor a factor */
      g_array_append_val (constants, c);
  }
  for (guint c = first; c < constants->len && n < CAL_STAGE_MAX; c++)
    active[n++] = &g_array_index (constants, CalFitConstant, c);
  t->at = at;
  const CalProblem problem = { n_points, measured, NULL, predict, set, t };
  CalFitStage done = { .name = stage->name, .n_points = n_points };
  if (!cal_solve (&problem, active, n, &done.n_fitted, error)) {
    g_prefix_error (error, "%s: ", stage->name);
    return FALSE;
  }
  g_array_append_val (stages, done);
  return TRUE;
}

/* All stages; `now` then has the result. */
static gboolean
solve_all (Trial *t, gboolean all, CalSectionFit *fit, GError **error)
{
  g_array_set_size (fit->constants, 0);
  g_array_set_size (fit->stages, 0);
  for (const CalSectionStage *stage = t->section->stages; stage->name != NULL; stage++)
    if (!solve_stage (t, stage, all, fit->constants, fit->stages, error))
      return FALSE;
  return TRUE;
}

static void
predict_all (const Trial *t, CalSectionFit *fit)
{
  for (guint i = 0; i < fit->points->len; i++)
    fit->predicted[i] = t->section->predict (t->now, t->node, point_at (fit->points, i));
}

/* The band from every second held-out point, and how many of the others it holds. */
static void
find_band (CalSectionFit *fit)
{
  g_autofree double *size = g_new (double, MAX (fit->points->len, 1));
  guint n = 0, n_held = 0, n_other = 0, n_in = 0;
  for (guint i = 0; i < fit->points->len; i++)
    if (point_at (fit->points, i)->use != CAL_USE_FIT && isfinite (fit->predicted[i]) && n_held++ % 2 == 0)
      size[n++] = fabs (log (fit->predicted[i] / point_at (fit->points, i)->measured));
  fit->band = n > 0 ? exp (base_quantile (size, n, BAND_SHARE)) - 1 : (double)NAN;
  n_held = 0;
  for (guint i = 0; i < fit->points->len; i++)
    if (point_at (fit->points, i)->use != CAL_USE_FIT && isfinite (fit->predicted[i]) && n_held++ % 2 == 1) {
      n_other++;
      n_in += fabs (log (fit->predicted[i] / point_at (fit->points, i)->measured)) <= log1p (fit->band);
    }
  fit->covered = n_other > 0 ? (double)n_in / n_other : (double)NAN;
}

/* Where the search begins. */
static void
begin (const CalSection *section, const GPtrArray *probes, void *now)
{
  for (guint i = 0; section->start != NULL && i < probes->len; i++)
    section->start (probes->pdata[i], now);
}

CalSectionFit *
cal_section_fit (const CalSection *section, const void *defaults, const CalNode *node, const GPtrArray *probes, gboolean hold_out,
                 gboolean split, GError **error)
{
  g_autoptr (CalSectionFit) fit = g_new0 (CalSectionFit, 1);
  fit->section = section;
  fit->arena = base_arena_new ();
  fit->points = g_array_new (FALSE, FALSE, sizeof (CalSectionPoint));
  fit->constants = g_array_new (FALSE, FALSE, sizeof (CalFitConstant));
  fit->stages = g_array_new (FALSE, FALSE, sizeof (CalFitStage));
  fit->band = fit->covered = (double)NAN;
  for (guint i = 0; i < probes->len; i++)
    if (!section->collect (probes->pdata[i], node, fit->arena, fit->points, &fit->n_left, error))
      return NULL;
  if (fit->points->len == 0)
    return NULL;
  fit->predicted = g_new (double, fit->points->len);
  g_autofree void *now = g_memdup2 (defaults, section->keys->size);
  begin (section, probes, now);
  Trial trial = { .section = section, .node = node, .now = now, .defaults = defaults, .points = fit->points };
  if (!solve_all (&trial, !hold_out, fit, error))
    return NULL;
  predict_all (&trial, fit);
  if (hold_out)
    find_band (fit);
  if (hold_out && !split) {
    memcpy (now, defaults, section->keys->size);
    begin (section, probes, now);
    if (!solve_all (&trial, TRUE, fit, error))
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
  g_clear_pointer (&fit->constants, g_array_unref);
  g_clear_pointer (&fit->stages, g_array_unref);
  g_clear_pointer (&fit->notes, g_ptr_array_unref);
  g_clear_pointer (&fit->arena, base_arena_free);
  g_free (fit->predicted);
  g_free (fit);
}

void
cal_section_result (const CalSectionFit *fit, void *section)
{
  for (guint i = 0; i < fit->constants->len; i++) {
    const CalFitConstant *c = &g_array_index (fit->constants, CalFitConstant, i);
    if (c->verdict != CAL_FITTED && c->verdict != CAL_AT_LIMIT)
      continue;
    BaseNum *num = (BaseNum *)(gpointer)((char *)section + c->offset);
    *num = (BaseNum){ .v = c->after, .set = TRUE, .source = BASE_SOURCE_MEASURED };
  }
}
