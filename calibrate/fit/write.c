/* What was fitted, as a calibration file that a person can read. */
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "fit/fit-private.h"

/* Digits of values and of intervals. */
#define DIGITS 4u

static gint
compare_paths (gconstpointer a, gconstpointer b)
{
  return strcmp ((*(const CalFitConstant *const *)a)->path, (*(const CalFitConstant *const *)b)->path);
}

/* Opens the mappings of `path` that `open` does not stand in yet; `open` is then the path. */
static void
write_keys (GString *out, const char *path, GString *open)
{
  g_auto (GStrv) keys = g_strsplit (path, ".", -1), before = g_strsplit (open->str, ".", -1);
  guint n = g_strv_length (keys), n_before = g_strv_length (before), same = 0;
  while (same + 1 < n && same + 1 < n_before && strcmp (keys[same], before[same]) == 0)
    same++;
  for (guint k = same; k + 1 < n; k++)
    g_string_append_printf (out, "%*s%s:\n", (int)(2 + 2 * k), "", keys[k]);
  g_string_append_printf (out, "%*s%s: ", (int)(2 * n), "", keys[n - 1]);
  g_string_assign (open, path);
}

/* Left open by the points, which yet say where it lies: the others were fitted with that. */
static gboolean
is_begun (const CalFitConstant *c)
{
  return c->verdict != CAL_FITTED && c->verdict != CAL_AT_LIMIT && (c->before < c->base || c->before > c->base);
}

/* A change that may belong to another constant. */
static gboolean
stands_for_others (const CalFitConstant *c)
{
  return c->verdict == CAL_ALIKE && (c->after < c->before || c->after > c->before);
}

/* Adds constants of a section (NULL: library) that a file states. */
static void
list_stated (const GArray *constants, const char *section, GPtrArray *stated)
{
  for (guint i = 0; i < constants->len; i++) {
    CalFitConstant *c = &g_array_index (constants, CalFitConstant, i);
    if (g_strcmp0 (c->section, section) == 0 &&
        (c->verdict == CAL_FITTED || c->verdict == CAL_AT_LIMIT || is_begun (c) || stands_for_others (c)))
      g_ptr_array_add (stated, c);
  }
}

static void
write_constant (const CalFitConstant *c, GString *open, GString *out)
{
  g_autofree char *value = base_quantity_format (c->after, c->dim, DIGITS);
  write_keys (out, c->path, open);
  g_string_append_printf (out, "{value: %s, ", value);
  if (is_begun (c)) {
    g_string_append (out, "source: assumed, note: \"near what was measured, which leaves it open\"}\n");
    return;
  }
  if (stands_for_others (c))
    g_string_append (out, "source: assumed, ");
  g_autofree char *before = c->base > 0 ? base_quantity_format (c->base, c->dim, DIGITS) : g_strdup ("not known");
  g_string_append_printf (out, "note: \"%u point%s, ", c->n_points, c->n_points == 1 ? "" : "s");
  if (c->verdict == CAL_AT_LIMIT)
    g_string_append (out, "the end of what is accepted");
  else
    g_string_append_printf (out, "+-%.2g %%", 100 * c->half_width);
  g_string_append_printf (out, "; was %s", before);
  if (stands_for_others (c))
    g_string_append_printf (out, "; the points cannot tell it from %s", c->alike);
  g_string_append (out, "\"}\n");
}

static void
write_constants (GPtrArray *stated, GString *out)
{
  g_ptr_array_sort (stated, compare_paths);
  g_autoptr (GString) open = g_string_new (NULL);
  for (guint i = 0; i < stated->len; i++)
    write_constant (stated->pdata[i], open, out);
}

/* What was tested, by operation and algorithm. */
static void
write_tested (const CalFitResult *result, GString *out)
{
  for (guint i = 0; i < result->tested->len; i++) {
    const CalFitTested *t = &g_array_index (result->tested, CalFitTested, i);
    g_autofree char *least = base_quantity_format (t->min_size_B, BASE_DIM_BYTES, 15);
    g_autofree char *most = base_quantity_format (t->max_size_B, BASE_DIM_BYTES, 15);
    g_string_append_printf (out, "%s    - {op: %s, algo: %s, nodes: %u, gpus: %u, min_size: %s, max_size: %s, error: %.3g %%}\n",
                            i == 0 ? "  tested:\n" : "", base_name (mdl_op_names, (int)t->op), base_name (mdl_algo_names, t->algo),
                            t->nodes, t->gpus, least, most, 100 * t->error);
  }
}

/* Bands of answers within a node, never narrower than those of the calibration below: a part that was not tested keeps these. */
static void
write_bands (const CalFitResult *result, GString *out)
{
  gboolean any = FALSE;
  for (int b = 0; b < MDL_SIZE_N; b++)
    if (isfinite (result->band[b])) {
      g_string_append_printf (out, "%s%s: %.3g %%", any ? ", " : "  error: {", base_name (mdl_size_names, b),
                              100 * fmax (result->band[b], result->base_band[b]));
      any = TRUE;
    }
  if (any)
    g_string_append (out, "}\n");
}

/* What was fitted within a node; over several, `tested` says it. */
static void
write_range (const CalFitResult *result, GString *out)
{
  double min_size_B = HUGE_VAL, max_size_B = 0;
  guint32 max_ranks = 0;
  for (guint i = 0; i < result->points->len; i++) {
    const CalFitPoint *p = &g_array_index (result->points, CalFitPoint, i);
    if (p->nodes > 1)
      continue;
    min_size_B = fmin (min_size_B, p->size_B);
    max_size_B = fmax (max_size_B, p->size_B);
    max_ranks = MAX (max_ranks, p->ranks);
  }
  if (max_ranks == 0)
    return;
  write_bands (result, out);
  g_autofree char *least = base_quantity_format (min_size_B, BASE_DIM_BYTES, 15);
  g_autofree char *most = base_quantity_format (max_size_B, BASE_DIM_BYTES, 15);
  g_string_append_printf (out, "  range: {min_size: %s, max_size: %s, max_ranks: %u, max_nodes: 1}\n", least, most, max_ranks);
}

static void
write_kept (const GArray *constants, GString *out)
{
  static const char *const why[] = {
    NULL, "no point depends on it", "the points leave it open", NULL, "the points want far more or less of it", NULL, NULL
  };
  gboolean any = FALSE;
  for (guint i = 0; i < constants->len; i++) {
    const CalFitConstant *c = &g_array_index (constants, CalFitConstant, i);
    g_autofree char *name = c->section != NULL ? g_strconcat (c->section, ".", c->path, NULL) : g_strdup (c->path);
    gboolean alike = c->verdict == CAL_ALIKE && !stands_for_others (c);
    if ((why[c->verdict] == NULL && !alike && c->verdict != CAL_AGREES) || is_begun (c))
      continue;
    if (!any)
      g_string_append (out, "# Not changed, as in the calibration below:\n");
    if (alike)
      g_string_append_printf (out, "#   %s: the points cannot tell it from %s\n", name, c->alike);
    else if (c->verdict == CAL_AGREES)
      g_string_append_printf (out, "#   %s: %u points agree with it, +-%.2g %%\n", name, c->n_points, 100 * c->half_width);
    else
      g_string_append_printf (out, "#   %s: undetermined: %s\n", name, why[c->verdict]);
    any = TRUE;
  }
}

/* `more`: constants of the section that collectives told, or NULL. */
static void
write_section (const CalSectionFit *fit, const GArray *more, GString *out)
{
  write_kept (fit->fit->constants, out);
  for (guint i = 0; fit->notes != NULL && i < fit->notes->len; i++)
    g_string_append_printf (out, "# %s\n", (const char *)fit->notes->pdata[i]);
  g_string_append_printf (out, "%s:\n", fit->section->keys->name);
  if (fit->section->error_path != NULL && isfinite (fit->band))
    g_string_append_printf (out, "  %s: %.3g %%\n", fit->section->error_path, 100 * fit->band);
  g_autoptr (GPtrArray) stated = g_ptr_array_new ();
  list_stated (fit->fit->constants, NULL, stated);
  if (more != NULL)
    list_stated (more, fit->section->keys->name, stated);
  write_constants (stated, out);
}

void
cal_section_write (const CalSectionFit *fit, GString *out)
{
  write_section (fit, NULL, out);
}

/* Links that collectives told, where copies told none. */
static void
write_links (const GArray *constants, GString *out)
{
  g_autoptr (GPtrArray) stated = g_ptr_array_new ();
  list_stated (constants, cst_links.name, stated);
  if (stated->len > 0)
    g_string_append_printf (out, "%s:\n", cst_links.name);
  write_constants (stated, out);
}

/* The error on what was held out, as a comment. */
static void
write_errors (const CalFitResult *result, GString *out)
{
  gboolean any = FALSE;
  for (guint i = 0; i < result->scores->len; i++) {
    const CalFitScore *s = &g_array_index (result->scores, CalFitScore, i);
    if (s->stage != NULL || s->band != MDL_SIZE_N)
      continue;
    g_string_append_printf (out, "%s%s: %u points, median %.1f %%, 95th percentile %.1f %%", any ? "; " : "# Error on ",
                            s->use == CAL_USE_FIT ? "what was fitted" : cal_use_titles[s->use], s->n, 100 * s->median,
                            100 * s->p95);
    any = TRUE;
  }
  if (any)
    g_string_append_c (out, '\n');
}

/* What was measured: systems and sections, with their points. */
static void
write_summary (const CalFitResult *result, const CalData *data, GString *out)
{
  const char *between = "";
  g_string_append_printf (out, "summary: \"%s: ", data->spec.name.v);
  for (guint i = 0; i < data->spec.systems.n; i++) {
    guint n = 0;
    for (guint k = 0; k < result->points->len; k++)
      n += g_array_index (result->points, CalFitPoint, k).system == i;
    if (n > 0) {
      g_string_append_printf (out, "%s%s (%u)", between, cal_data_system (data, i)->name.v, n);
      between = ", ";
    }
  }
  for (guint i = 0; i < result->sections->len; i++) {
    const CalSectionFit *section = result->sections->pdata[i];
    g_string_append_printf (out, "%s%s (%u)", between, section->section->keys->name, section->points->len);
    between = ", ";
  }
  g_string_append (out, "\"\n");
}

char *
cal_fit_write (const CalFitResult *result, const CalData *data, const char *name)
{
  GString *out = g_string_new (
      "# Fitted by forerun fit. Notes: points that tell the constant, half of its 95 % interval, its value before.\n");
  if (result->fit != NULL) {
    gboolean several = FALSE;
    for (guint i = 0; i < result->points->len; i++)
      several = several || g_array_index (result->points, CalFitPoint, i).nodes > 1;
    write_errors (result, out);
    write_kept (result->fit->constants, out);
    g_string_append_printf (out, "# Not %s, as below too: %sCollNet, PAT, host memory, PCIe, copies.\n",
                            several ? "fitted" : "measured within one node", several ? "" : "networks, ");
  }
  g_string_append_printf (out, "calibration: %s\n", name);
  write_summary (result, data, out);
  if (result->over != NULL)
    g_string_append_printf (out, "over: %s\n", result->over);
  g_string_append (out, "source: measured\n");
  if (result->fit != NULL) {
    const gsize before = out->len;
    g_string_append (out, "library:\n");
    const gsize empty = out->len;
    write_range (result, out);
    write_tested (result, out);
    g_autoptr (GPtrArray) stated = g_ptr_array_new ();
    list_stated (result->fit->constants, NULL, stated);
    write_constants (stated, out);
    if (out->len == empty)
      g_string_truncate (out, before);
  }
  gboolean has_links = FALSE;
  for (guint i = 0; i < result->sections->len; i++) {
    const CalSectionFit *fit = result->sections->pdata[i];
    has_links = has_links || fit->section == &cal_section_links;
    write_section (fit, result->fit != NULL ? result->fit->constants : NULL, out);
  }
  if (!has_links && result->fit != NULL)
    write_links (result->fit->constants, out);
  return g_string_free (out, FALSE);
}

static gboolean
any_fitted (const CalFit *fit)
{
  for (guint i = 0; fit != NULL && i < fit->constants->len; i++) {
    const CalVerdict verdict = g_array_index (fit->constants, CalFitConstant, i).verdict;
    if (verdict == CAL_FITTED || verdict == CAL_AT_LIMIT || verdict == CAL_AGREES || verdict == CAL_ALIKE)
      return TRUE;
  }
  return FALSE;
}

gboolean
cal_fit_determines (const CalFitResult *result)
{
  gboolean any = any_fitted (result->fit);
  for (guint i = 0; i < result->sections->len; i++)
    any = any || any_fitted (((const CalSectionFit *)result->sections->pdata[i])->fit);
  return any;
}
