/* What the pictures of forerun ratio are drawn from: cells of ratios with the lines where they turn, and throughput by GPUs. */
#include <math.h>

#include "report/plots.h"
#include "report/ratio.h"

#define TO_GBPS 8e-9

static const char *
number (double value, char *buffer)
{
  return isfinite (value) ? g_ascii_formatd (buffer, G_ASCII_DTOSTR_BUF_SIZE, "%.9g", value) : "NaN";
}

static gboolean
same (double a, double b)
{
  return !(a < b || a > b);
}

static gboolean
has_batches (const StdRatio *ratio)
{
  gboolean several = FALSE;
  for (guint i = 1; i < ratio->points->len; i++)
    several = several ||
              !same (g_array_index (ratio->points, StdRatioPoint, i).batch, g_array_index (ratio->points, StdRatioPoint, 0).batch);
  return several;
}

/* Rows of the map are numbers of GPUs, of each batch in turn. */
static void
append_cells (const StdRatio *ratio, GArray *rows, GString *cells)
{
  const gboolean batches = has_batches (ratio);
  g_string_append (cells, "x\ty\tz\n");
  for (guint i = 0; i < ratio->points->len; i++) {
    const StdRatioPoint *point = &g_array_index (ratio->points, StdRatioPoint, i);
    const StdRatioPoint *last = rows->len > 0 ? g_array_index (rows, const StdRatioPoint *, rows->len - 1) : NULL;
    char x[G_ASCII_DTOSTR_BUF_SIZE], z[G_ASCII_DTOSTR_BUF_SIZE];
    if (last == NULL || last->gpus != point->gpus || !same (last->batch, point->batch))
      g_array_append_val (rows, point);
    g_string_append_printf (cells, "%s\t%u", number (point->gpu_Bps * TO_GBPS, x), point->gpus);
    if (batches)
      g_string_append_printf (cells, " (%.10g)", point->batch);
    g_string_append_printf (cells, "\t%s\n", number (point->why_not == NULL ? point->value[STD_LINE_RATIO] : (double)NAN, z));
  }
}

static gint
row_of (const GArray *rows, const StdRatioSpeed *speed)
{
  for (guint i = 0; i < rows->len; i++) {
    const StdRatioPoint *row = g_array_index (rows, const StdRatioPoint *, i);
    if (row->nodes == speed->nodes && same (row->batch, speed->batch))
      return (gint)i;
  }
  return -1;
}

/* Both ends of a row where a line crosses it, rows of one batch together; at 0 where any network keeps to the line, and beyond all
 * where none does. */
static void
append_lines (const StdRatio *ratio, const GArray *rows, GString *lines)
{
  g_string_append (lines, "line\tx\trow\n");
  for (int l = 0; l < STD_LINE_N; l++)
    for (guint i = 0; i < ratio->speeds->len; i++) {
      const StdRatioSpeed *speed = &g_array_index (ratio->speeds, StdRatioSpeed, i);
      const gint row = row_of (rows, speed);
      const double at = speed->line[l].how == STD_SOLVED       ? speed->line[l].gpu_Bps * TO_GBPS
                        : speed->line[l].how == STD_SOLVED_ANY ? 0
                                                               : 1e30;
      char x[G_ASCII_DTOSTR_BUF_SIZE];
      number (at, x);
      if ((i == 0 && l > 0) || (i > 0 && !same (speed->batch, (speed - 1)->batch)))
        g_string_append_c (lines, '\n');
      g_string_append_printf (lines, "%d\t%s\t%.1f\n%d\t%s\t%.1f\n", l + 1, x, row - 0.5, l + 1, x, row + 0.5);
    }
}

static gboolean
heat_tsv (const StdRatio *ratio, GString *cells, GString *lines)
{
  guint ran = 0;
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (const StdRatioPoint *));
  for (guint i = 0; i < ratio->points->len; i++)
    ran += g_array_index (ratio->points, StdRatioPoint, i).why_not == NULL ? 1 : 0;
  append_cells (ratio, rows, cells);
  append_lines (ratio, rows, lines);
  return ran >= 2;
}

static gboolean
scaling_tsv (const StdRatio *ratio, GString *out)
{
  guint32 first = 0;
  gboolean several = FALSE;
  g_string_append (out, "gpus\tnetwork\tbatch\tthroughput\tefficiency\n");
  for (guint i = 0; i < ratio->points->len; i++) {
    const StdRatioPoint *point = &g_array_index (ratio->points, StdRatioPoint, i);
    char value[G_ASCII_DTOSTR_BUF_SIZE], share[G_ASCII_DTOSTR_BUF_SIZE];
    if (point->why_not != NULL)
      continue;
    several = several || (first > 0 && point->gpus != first);
    first = point->gpus;
    g_string_append_printf (out, "%u\t%.5g Gb/s\tbatch %.10g\t%s\t%s\n", point->gpus, point->rate_Bps * TO_GBPS, point->batch,
                            number (point->batch / point->step_time_s, value), number (point->efficiency, share));
  }
  return several;
}

/* "x: communication takes longer than compute in 3 of 147 points". Returned: full. */
static char *
title_of_map (const StdRatio *ratio, const char *name)
{
  guint over = 0, ran = 0;
  for (guint i = 0; i < ratio->points->len; i++) {
    const StdRatioPoint *point = &g_array_index (ratio->points, StdRatioPoint, i);
    ran += point->why_not == NULL ? 1 : 0;
    over += point->why_not == NULL && point->value[STD_LINE_RATIO] > ratio->limit[STD_LINE_RATIO] ? 1 : 0;
  }
  return g_strdup_printf ("%s: communication / compute is above %g in %u of %u points", name, ratio->limit[STD_LINE_RATIO], over,
                          ran);
}

/* "x: 512 GPUs keep 32 to 100 % of linear scaling". Returned: full. */
static char *
title_of_scaling (const StdRatio *ratio, const char *name)
{
  guint32 most = 0;
  double least = (double)INFINITY, best = 0;
  for (guint i = 0; i < ratio->points->len; i++) {
    const StdRatioPoint *point = &g_array_index (ratio->points, StdRatioPoint, i);
    if (point->why_not != NULL || point->gpus < most || !isfinite (point->efficiency))
      continue;
    least = point->gpus > most ? point->efficiency : fmin (least, point->efficiency);
    best = point->gpus > most ? point->efficiency : fmax (best, point->efficiency);
    most = point->gpus;
  }
  return most == 0 ? g_strdup_printf ("%s: throughput by number of GPUs", name)
                   : g_strdup_printf ("%s: %u GPUs keep %.0f to %.0f %% of linear scaling", name, most, 100 * least, 100 * best);
}

gboolean
rep_ratio_plots (const StdRatio *ratio, const char *name, GPtrArray *plots)
{
  GString *cells = g_string_new (NULL), *lines = g_string_new (NULL), *curves = g_string_new (NULL);
  g_autofree char *title = title_of_map (ratio, name), *scaling = title_of_scaling (ratio, name);
  const gboolean any = heat_tsv (ratio, cells, lines), several = scaling_tsv (ratio, curves);
  RepPlot *heat = rep_plots_add (
      plots, "ratio", "heat.gp", "Communication / compute by number of GPUs and network rate.", title, cells,
      g_strdup_printf ("; x_name='network rate per GPU (Gb/s)'; y_name='%s'; z_name='communication / compute'; middle=1; "
                       "line_1='communication / compute = %g'; line_2='%g %% of the step is exposed communication'",
                       has_batches (ratio) ? "GPUs (batch)" : "GPUs", ratio->limit[STD_LINE_RATIO],
                       100 * ratio->limit[STD_LINE_WAITS]));
  heat->more = lines;
  heat->variable = "lines";
  rep_plots_add (plots, "scaling", "scaling.gp", "Throughput and scaling efficiency by number of GPUs.", scaling, curves,
                 g_strdup_printf ("; unit='%s'", ratio->scale.has_model ? "sequences" : "micro-batches"));
  if (!several)
    g_ptr_array_set_size (plots, (gint)plots->len - 1);
  return any;
}
