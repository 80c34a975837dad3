/* What was fitted, as a calibration file that a person can read. */
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "solve/solve-private.h"

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

static void
write_constants (const GArray *constants, GString *out)
{
  g_autoptr (GPtrArray) fitted = g_ptr_array_new ();
  for (guint i = 0; i < constants->len; i++) {
    CalFitConstant *c = &g_array_index (constants, CalFitConstant, i);
    if (c->verdict == CAL_FITTED || c->verdict == CAL_AT_LIMIT || is_begun (c))
      g_ptr_array_add (fitted, c);
  }
  g_ptr_array_sort (fitted, compare_paths);
  g_autoptr (GString) open = g_string_new (NULL);
  for (guint i = 0; i < fitted->len; i++) {
    const CalFitConstant *c = fitted->pdata[i];
    g_autofree char *value = base_quantity_format (c->after, c->dim, DIGITS);
    write_keys (out, c->path, open);
    g_string_append_printf (out, "{value: %s, ", value);
    if (is_begun (c)) {
      g_string_append (out, "source: assumed, note: \"near what was measured, which leaves it open\"}\n");
      continue;
    }
    g_autofree char *before = c->base > 0 ? base_quantity_format (c->base, c->dim, DIGITS) : g_strdup ("not known");
    g_string_append_printf (out, "note: \"%u point%s, ", c->n_points, c->n_points == 1 ? "" : "s");
    if (c->verdict == CAL_FITTED)
      g_string_append_printf (out, "+-%.2g %%", 100 * c->half_width);
    else
      g_string_append (out, "the end of what is accepted");
    g_string_append_printf (out, "; was %s\"}\n", before);
  }
}

static void
write_range (const CalFitFile *file, GString *out)
{
  gboolean any = FALSE;
  for (int b = 0; b < MDL_SIZE_N; b++)
    if (isfinite (file->band[b])) {
      g_string_append_printf (out, "%s%s: %.3g %%", any ? ", " : "  error: {", base_name (mdl_size_names, b), 100 * file->band[b]);
      any = TRUE;
    }
  if (any)
    g_string_append (out, "}\n");
  g_autofree char *least = base_quantity_format (file->min_size_B, BASE_DIM_BYTES, 15);
  g_autofree char *most = base_quantity_format (file->max_size_B, BASE_DIM_BYTES, 15);
  g_string_append_printf (out, "  range: {min_size: %s, max_size: %s, max_ranks: %u, max_nodes: %u}\n", least, most,
                          file->max_ranks, file->max_nodes);
}

static void
write_kept (const GArray *constants, GString *out)
{
  static const char *const why[] = { NULL, "no point depends on it", "the points leave it open", NULL,
                                     "the points want four times it, or a quarter" };
  gboolean any = FALSE;
  for (guint i = 0; i < constants->len; i++) {
    const CalFitConstant *c = &g_array_index (constants, CalFitConstant, i);
    if (why[c->verdict] == NULL || is_begun (c))
      continue;
    if (!any)
      g_string_append (out, "# Not fitted, as in the calibration below:\n");
    g_string_append_printf (out, "#   %s: %s\n", c->path, why[c->verdict]);
    any = TRUE;
  }
}

void
cal_section_write (const CalSectionFit *fit, GString *out)
{
  write_kept (fit->constants, out);
  for (guint i = 0; fit->notes != NULL && i < fit->notes->len; i++)
    g_string_append_printf (out, "# %s\n", (const char *)fit->notes->pdata[i]);
  g_string_append_printf (out, "%s:\n", fit->section->keys->name);
  if (fit->section->error_path != NULL && isfinite (fit->band))
    g_string_append_printf (out, "  %s: %.3g %%\n", fit->section->error_path, 100 * fit->band);
  write_constants (fit->constants, out);
}

char *
cal_fit_write (const CalFit *fit, const CalFitFile *file)
{
  GString *out = g_string_new (NULL);
  g_string_append_printf (
      out, "# Fitted by forerun fit. Notes: points that tell the constant, half of its 95 %% interval, its value before.\n");
  if (file->held_out != NULL)
    g_string_append_printf (out, "# %s\n", file->held_out);
  if (fit != NULL) {
    write_kept (fit->constants, out);
    g_string_append_printf (out, "# Not %s, as below too: %sCollNet, PAT, host memory, PCIe, copies.\n",
                            file->max_nodes > 1 ? "fitted" : "measured within one node", file->max_nodes > 1 ? "" : "networks, ");
  }
  g_string_append_printf (out, "calibration: %s\nsummary: \"%s\"\n", file->name, file->from);
  if (file->over != NULL)
    g_string_append_printf (out, "over: %s\n", file->over);
  g_string_append (out, "source: measured\n");
  if (fit != NULL) {
    g_string_append (out, "library:\n");
    write_range (file, out);
    write_constants (fit->constants, out);
  }
  for (guint i = 0; file->sections != NULL && i < file->sections->len; i++)
    cal_section_write (file->sections->pdata[i], out);
  return g_string_free (out, FALSE);
}
