/* Pictures of sweeps: algorithms against each other, predictions against measurements, keys that vary. */
#include <math.h>
#include <string.h>

#include "report/plots.h"

void
rep_plots_add_compare (GPtrArray *plots, const StdCompare *compare, const char *topology)
{
  const char *op = base_name (mdl_op_names, (int)compare->op);
  g_autofree char *title = g_strdup_printf ("%s on %s", op, topology),
                  *busbw_title = g_strdup_printf ("%s on %s: each algorithm with its fastest protocol", op, topology);
  GString *rows = g_string_new (NULL), *crossovers = g_string_new (NULL), *curves = g_string_new (NULL);
  g_autoptr (BaseTable) table = rep_compare_table (compare);
  base_table_print_tsv (table, rows);
  rep_compare_crossovers_tsv (compare, crossovers);
  rep_compare_curves_tsv (compare, curves);
  RepPlot *map =
      rep_plots_add (plots, "winners", "winners.gp", "Fastest algorithm by message size and number of nodes.", title, rows, NULL);
  map->more = crossovers;
  map->variable = "crossovers";
  rep_plots_add (plots, "busbw", "busbw.gp", "Bus bandwidth of each algorithm.", busbw_title, curves,
                 g_strdup ("; series='algo nodes'; panel='nodes'"));
}

/* Errors beyond half of the measured time lie on the edge. */
void
rep_plots_add_points (GPtrArray *plots, const GArray *points, const char *name)
{
  GString *tsv = g_string_new (NULL);
  rep_validate_points_tsv (points, tsv);
  g_autofree char *title = g_strdup_printf ("%s", name);
  rep_plots_add (plots, "error", "error.gp", "Error of the predictions by message size.", title, tsv,
                 g_strdup ("; series='op'; limit=0.5"));
}

/* ---- what varies ---- */

/* What a column is called in a picture, and what its values are multiplied by: "rate (GB/s)", 1e-9. Returned: full. */
static char *
name_of_column (const char *key, double *scale)
{
  const gboolean rate = g_str_has_suffix (key, "_Bps"), bytes = g_str_has_suffix (key, "_B"),
                 time = g_str_has_suffix (key, "_s") && !g_str_has_suffix (key, "_per_s");
  *scale = rate || bytes ? 1e-9 : 1;
  if (!rate && !bytes && !time)
    return g_strdup (key);
  g_autofree char *stem = g_strndup (key, strlen (key) - (rate ? 4 : 2));
  return g_strdup_printf ("%s (%s)", stem, rate ? "GB/s" : bytes ? "GB" : "s");
}

/* "tier" of "workload.tier". */
static const char *
last_part (const char *path)
{
  const char *dot = strrchr (path, '.');
  return dot != NULL ? dot + 1 : path;
}

/* "io size" of "workload.io_size". Returned: full. */
static char *
in_words (const char *path)
{
  return g_strdelimit (g_strdup (last_part (path)), "_", ' ');
}

/* "rate (Gb/s)" of "node.nics.rate", quoted; *numeric: its values stand at their numbers, else side by side. Returned: full. */
static char *
name_of_axis (const StdAxis *axis, gboolean *numeric)
{
  const char *unit = "";
  *numeric = std_axis_is_numeric (axis, &unit);
  g_autofree char *key = in_words (axis->path), *name = *unit != '\0' ? g_strdup_printf ("%s (%s)", key, unit) : g_strdup (key);
  return rep_plot_quote (name);
}

static void
append_part (GString *series, const char *name, const StdSheet *sheet, guint row, guint column)
{
  g_autofree char *text = std_sheet_text (sheet, row, column);
  g_string_append_printf (series, "%s%s %s", series->len > 0 ? ", " : "", name, text);
}

/* Whether rows of the same point have other texts in this column. */
static gboolean
differs (const StdSheet *sheet, guint row, guint column)
{
  gboolean found = FALSE;
  g_autofree char *text = std_sheet_text (sheet, row, column);
  for (guint k = 0; k < sheet->point->len && !found; k++) {
    g_autofree char *other = std_sheet_text (sheet, k, column);
    found = g_array_index (sheet->point, guint, k) == g_array_index (sheet->point, guint, row) && strcmp (text, other) != 0;
  }
  return found;
}

/* The line that a row belongs to: the other axes, and what tells rows of a point from each other. Returned: full. */
static char *
series_of (const StdSheet *sheet, guint row, guint y)
{
  static const char *const apart[] = { "op", "bytes", "nodes", "algo", "proto" };
  g_autoptr (GString) series = g_string_new (NULL);
  for (guint i = 1; i < sheet->n_axes; i++)
    append_part (series, last_part (std_sheet_key (sheet, i)), sheet, row, i);
  for (guint i = 0; i < G_N_ELEMENTS (apart); i++) {
    const guint column = std_sheet_column (sheet, apart[i]);
    if (column != G_MAXUINT && column != y && differs (sheet, row, column))
      append_part (series, apart[i], sheet, row, column);
  }
  return g_strdup (series->len > 0 ? series->str : std_sheet_key (sheet, y));
}

/* "threads 128, tier nvme": where a row stands. */
static void
append_place (GString *out, const StdSheet *sheet, guint row)
{
  for (guint i = 0; i < sheet->n_axes; i++) {
    g_autofree char *text = std_sheet_text (sheet, row, i), *name = in_words (std_sheet_key (sheet, i));
    g_string_append_printf (out, "%s%s %s", i > 0 ? ", " : "", name, text);
  }
}

/* "run x: rate (GB/s): lowest 0.795 (threads 1, tier fsx), highest 28.4 (threads 128, tier nvme)"; `asked` alone where there is no
 * number. Returned: full. */
static char *
title_of_sheet (const StdSheet *sheet, guint column, const char *asked)
{
  guint least = 0, most = 0;
  gboolean none = TRUE;
  double low = 0, high = 0, scale;
  for (guint r = 0; r < sheet->point->len; r++) {
    BaseCell cell;
    if (!std_sheet_cell (sheet, r, column, &cell) || cell.kind == BASE_CELL_TEXT || !isfinite (cell.number))
      continue;
    if (none || cell.number < low) {
      low = cell.number;
      least = r;
    }
    if (none || cell.number > high) {
      high = cell.number;
      most = r;
    }
    none = FALSE;
  }
  if (none)
    return g_strdup (asked);
  g_autofree char *name = name_of_column (std_sheet_key (sheet, column), &scale);
  GString *title = g_string_new (NULL);
  g_string_append_printf (title, "%s: %s: lowest %.3g (", asked, g_strdelimit (name, "_", ' '), scale * low);
  append_place (title, sheet, least);
  g_string_append_printf (title, "), highest %.3g (", scale * high);
  append_place (title, sheet, most);
  g_string_append_c (title, ')');
  return g_string_free (title, FALSE);
}

void
rep_plots_add_vary (GPtrArray *plots, const StdSheet *sheet, const GPtrArray *axes, guint y, const char *asked)
{
  const StdAxis *axis = axes->pdata[0];
  gboolean numeric;
  g_autofree char *x_name = name_of_axis (axis, &numeric), *y_name = rep_plot_quote (std_sheet_key (sheet, y)),
                  *title = title_of_sheet (sheet, y, asked);
  GString *tsv = g_string_new ("x\tlabel\tseries\ty\n");
  for (guint r = 0; r < sheet->point->len; r++) {
    BaseCell cell;
    if (!std_sheet_cell (sheet, r, y, &cell) || cell.kind == BASE_CELL_TEXT)
      continue;
    g_autofree char *at = std_sheet_text (sheet, r, 0), *series = series_of (sheet, r, y);
    guint index = 0;
    while (strcmp (axis->values->pdata[index], at) != 0)
      index++;
    g_string_append_printf (tsv, "%.17g\t%s\t%s\t%.17g\n", numeric ? g_ascii_strtod (at, NULL) : (double)index, at, series,
                            cell.number);
  }
  rep_plots_add (plots, "vary", "vary.gp", "", title, tsv,
                 g_strdup_printf ("; x_name=%s; y_name=%s; numeric=%d", x_name, y_name, numeric ? 1 : 0));
}

void
rep_plots_add_vary_map (GPtrArray *plots, const StdSheet *sheet, const GPtrArray *axes, guint z, const char *asked)
{
  gboolean numeric;
  double scale;
  g_autofree char *z_name = name_of_column (std_sheet_key (sheet, z), &scale), *x_name = name_of_axis (axes->pdata[0], &numeric),
                  *up_name = in_words (std_sheet_key (sheet, 1)), *y_name = rep_plot_quote (up_name),
                  *quoted = rep_plot_quote (z_name), *title = title_of_sheet (sheet, z, asked);
  GString *tsv = g_string_new ("x\ty\tz\n");
  for (guint r = 0; r < sheet->point->len; r++) {
    BaseCell cell;
    char x[G_ASCII_DTOSTR_BUF_SIZE], text[G_ASCII_DTOSTR_BUF_SIZE] = "NaN";
    g_autofree char *across = std_sheet_text (sheet, r, 0), *up = std_sheet_text (sheet, r, 1);
    if (std_sheet_cell (sheet, r, z, &cell) && cell.kind != BASE_CELL_TEXT)
      g_ascii_formatd (text, sizeof text, "%.9g", scale * cell.number);
    g_ascii_formatd (x, sizeof x, "%.9g", g_ascii_strtod (across, NULL));
    g_string_append_printf (tsv, "%s\t%s\t%s\n", numeric ? x : across, up, text);
  }
  rep_plots_add (plots, "map", "heat.gp", "", title, tsv,
                 g_strdup_printf ("; x_name=%s; y_name=%s; z_name=%s; numeric=%d", x_name, y_name, quoted, numeric ? 1 : 0));
}
