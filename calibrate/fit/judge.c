/* How good a fit is: errors by stage and use, bands from what was held out, and NCCL's own choices. */
#include <math.h>
#include <string.h>

#include "base/stats.h"
#include "calibrate/validate.h"
#include "fit/fit-private.h"

/* Points of which the widest stands for the share that a band holds: 0.9 (n + 1) <= n. */
#define ENOUGH 9u

static const CalFitPoint *
point_at (const CalFitResult *out, guint i)
{
  return &g_array_index (out->points, CalFitPoint, i);
}

static int
band_of (const CalFitResult *out, guint i)
{
  return (int)mdl_size_class (point_at (out, i)->size_B, out->limits_B);
}

static void
find_stages (CalFitResult *out)
{
  out->stage = g_new0 (const char *, MAX (out->points->len, 1));
  for (guint i = 0; i < out->points->len; i++) {
    const char *name = cal_fit_stage_name (point_at (out, i));
    for (guint s = 0; name != NULL && s < out->first->stages->len; s++)
      if (strcmp (g_array_index (out->first->stages, CalFitStage, s).name, name) == 0)
        out->stage[i] = g_array_index (out->first->stages, CalFitStage, s).name;
  }
}

/* Errors of the points of a stage (NULL: of all), a use and a band (MDL_SIZE_N: all). */
static void
add_score (CalFitResult *out, const char *stage, CalUse use, int band, double *error)
{
  CalFitScore score = { .stage = stage, .use = use, .band = band };
  for (guint i = 0; i < out->points->len; i++)
    if (point_at (out, i)->use == use && out->stage[i] != NULL && (stage == NULL || out->stage[i] == stage) &&
        isfinite (out->predicted_s[i]) && (band == MDL_SIZE_N || band_of (out, i) == band))
      error[score.n++] = fabs (out->predicted_s[i] / point_at (out, i)->measured_s - 1);
  if (score.n == 0)
    return;
  cal_error_stats (error, score.n, &score.median, &score.p95, &score.worst);
  g_array_append_val (out->scores, score);
}

/* Whether the point tells a band: small plain launches do not where graphs do, as the spread of launches is a part of the band of
 * its own (MdlLaunchCost). */
static gboolean
tells_band (const CalFitResult *out, guint i, gboolean graphs)
{
  const gboolean held = out->stage[i] != NULL && point_at (out, i)->use != CAL_USE_FIT;
  return held && !(graphs && g_str_has_prefix (out->stage[i], "launch"));
}

static gboolean
has_graphs (const CalFitResult *out)
{
  guint n = 0;
  for (guint i = 0; i < out->points->len; i++)
    n += tells_band (out, i, TRUE) && point_at (out, i)->nodes == 1 && mdl_launch_replays (point_at (out, i)->launch) &&
         band_of (out, i) == MDL_SIZE_SMALL;
  return n >= ENOUGH;
}

/* Bands by size from one half of the held-out points within a node. */
static void
find_bands (CalFitResult *out)
{
  const gboolean graphs = has_graphs (out);
  guint n = out->points->len, n_held = 0;
  g_autofree double *error = g_new (double, MAX (n, 1));
  g_autofree gboolean *second = g_new0 (gboolean, MAX (n, 1));
  for (guint i = 0; i < n; i++)
    second[i] = tells_band (out, i, graphs) && point_at (out, i)->nodes == 1 && n_held++ % 2 == 1;
  for (int b = 0; b < MDL_SIZE_N; b++) {
    for (guint i = 0; i < n; i++) {
      const CalFitPoint *p = point_at (out, i);
      gboolean counts = tells_band (out, i, graphs) && p->nodes == 1 && band_of (out, i) == b;
      error[i] = counts ? fabs (log (out->predicted_s[i] / p->measured_s)) : (double)NAN;
    }
    cal_band (error, second, n, &out->band[b], &out->covered[b]);
  }
}

/* ---- what was tested ---- */

/* Errors below what repeats of a measurement differ by say nothing. */
static const double LEAST_BAND = 0.03;

static gint
compare_cells (const CalFitResult *out, guint a, guint b)
{
  const CalFitPoint *x = point_at (out, a), *y = point_at (out, b);
  const gint64 keys[][2] = { { x->op, y->op },
                             { x->algo, y->algo },
                             { x->nodes > 1, y->nodes > 1 },
                             { x->nodes > 1 ? x->ranks / x->nodes : 0, y->nodes > 1 ? y->ranks / y->nodes : 0 },
                             { band_of (out, a), band_of (out, b) } };
  for (size_t i = 0; i < G_N_ELEMENTS (keys); i++)
    if (keys[i][0] != keys[i][1])
      return keys[i][0] < keys[i][1] ? -1 : 1;
  return 0;
}

static gint
compare_held (gconstpointer a, gconstpointer b, gpointer out)
{
  return compare_cells (out, *(const guint *)a, *(const guint *)b);
}

/* The cell of the held-out points at[0 … n - 1]. */
static void
add_tested (CalFitResult *out, const guint *at, guint n, double *error)
{
  enum { LEAST = 3 };
  const CalFitPoint *first = point_at (out, at[0]);
  CalFitTested cell = { .op = first->op, .algo = first->algo, .band = band_of (out, at[0]), .n = n, .min_size_B = HUGE_VAL };
  for (guint i = 0; i < n; i++) {
    const CalFitPoint *p = point_at (out, at[i]);
    cell.nodes = MAX (cell.nodes, p->nodes);
    cell.gpus = MAX (cell.gpus, p->ranks / p->nodes);
    error[i] = fabs (log (out->predicted_s[at[i]] / p->measured_s));
  }
  if (n < LEAST)
    return;
  for (guint i = 0; i < out->points->len; i++) /* sizes between held-out ones were fitted */
    if (out->stage[i] != NULL && compare_cells (out, i, at[0]) == 0) {
      cell.min_size_B = fmin (cell.min_size_B, point_at (out, i)->size_B);
      cell.max_size_B = fmax (cell.max_size_B, point_at (out, i)->size_B);
    }
  double width = base_quantile (error, n, fmin (CAL_BAND_SHARE * (n + 1) / n, 1));
  width *= n < ENOUGH ? 1 + (double)(ENOUGH - n) / ENOUGH : 1;
  cell.error = fmax (exp (width) - 1, LEAST_BAND);
  g_array_append_val (out->tested, cell);
}

static void
find_tested (CalFitResult *out)
{
  guint n = 0;
  g_autofree guint *held = g_new (guint, MAX (out->points->len, 1));
  g_autofree double *error = g_new (double, MAX (out->points->len, 1));
  const gboolean graphs = has_graphs (out);
  for (guint i = 0; i < out->points->len; i++)
    if (tells_band (out, i, graphs) && isfinite (out->predicted_s[i]))
      held[n++] = i;
  g_qsort_with_data (held, (gint)n, sizeof *held, compare_held, out);
  for (guint i = 0, end; i < n; i = end) {
    for (end = i + 1; end < n && compare_cells (out, held[i], held[end]) == 0;)
      end++;
    add_tested (out, &held[i], end - i, error);
  }
}

void
cal_fit_judge (CalFitResult *out)
{
  find_stages (out);
  g_autofree double *error = g_new (double, MAX (out->points->len, 1));
  for (int s = -1; s < (int)out->first->stages->len; s++)
    for (int use = 0; use < CAL_USE_N; use++)
      for (int band = 0; band <= MDL_SIZE_N; band++)
        add_score (out, s < 0 ? NULL : g_array_index (out->first->stages, CalFitStage, s).name, (CalUse)use, band, error);
  find_bands (out);
  find_tested (out);
}

/* ---- NCCL's choices ---- */

static const CalGroup *
group_of (const CalFitResult *out, const CalMeasured *choice)
{
  for (guint g = 0; g < out->groups->len; g++) {
    const CalGroup *group = out->groups->pdata[g];
    if (group->n_nodes == choice->nodes && group->n_ranks == choice->nodes * choice->gpus && group->settings.max_channels == 0 &&
        group->settings.min_ctas == 0)
      return group;
  }
  return NULL;
}

void
cal_fit_compare_choices (const CalFitWork *work)
{
  enum { MOST = 5 };
  CalFitResult *out = work->out;
  for (guint i = 0; i < work->data->choices->len; i++) {
    const CalMeasured *told = &g_array_index (work->data->choices, CalMeasured, i);
    const CalGroup *group = group_of (out, told);
    const ColCollRequest request = {
      .op = told->op, .size_B = told->size_B, .dtype = told->dtype, .algo = MDL_ALGO_AUTO, .proto = MDL_PROTO_AUTO
    };
    g_auto (ColAnswer) coll = { 0 };
    if ((work->query->systems != NULL && !work->query->systems[told->system]) || group == NULL ||
        !col_coll_price (group->comm, &request, &coll, NULL))
      continue;
    out->n_choices++;
    if (coll.algo == told->algo && coll.proto == told->proto) {
      out->n_same++;
      continue;
    }
    const CalFitChoice other = { *told, coll.algo, coll.proto };
    if (out->others->len < MOST)
      g_array_append_val (out->others, other);
  }
}
