/* What the plot of forerun ratio of a service is drawn from: cells of TTFT that waits, with lines where TTFT and TPOT cross their
 * thresholds. */
#include <math.h>

#include "report/fabric.h"
#include "report/plots.h"

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
has_loads (const StdFabric *fabric)
{
  gboolean several = FALSE;
  for (guint i = 1; i < fabric->points->len; i++)
    several = several || !same (g_array_index (fabric->points, StdFabricPoint, i).load,
                                g_array_index (fabric->points, StdFabricPoint, 0).load);
  return several;
}

/* Rows of the map are numbers of GPUs, of each load in turn. Returned: points that ran. */
static guint
append_cells (const StdFabric *fabric, GArray *rows, GString *cells)
{
  const gboolean loads = has_loads (fabric);
  guint ran = 0;
  g_string_append (cells, "x\ty\tz\n");
  for (guint i = 0; i < fabric->points->len; i++) {
    const StdFabricPoint *point = &g_array_index (fabric->points, StdFabricPoint, i);
    const StdFabricPoint *last = rows->len > 0 ? g_array_index (rows, const StdFabricPoint *, rows->len - 1) : NULL;
    char x[G_ASCII_DTOSTR_BUF_SIZE], z[G_ASCII_DTOSTR_BUF_SIZE];
    if (last == NULL || last->gpus != point->gpus || !same (last->load, point->load))
      g_array_append_val (rows, point);
    ran += point->why_not == NULL ? 1 : 0;
    g_string_append_printf (cells, "%s\t%u", number (point->gpu_Bps * TO_GBPS, x), point->gpus);
    if (loads)
      g_string_append_printf (cells, " (%.4g)", point->load);
    g_string_append_printf (cells, "\t%s\n",
                            number (point->why_not == NULL ? rint (1000 * point->value[STD_FABRIC_TTFT]) / 10 : (double)NAN, z));
  }
  return ran;
}

/* Both ends of a row where a line crosses it; at 0 where any network keeps to the line. */
static void
append_lines (const StdFabric *fabric, const GArray *rows, GString *lines)
{
  g_string_append (lines, "line\tx\trow\n");
  for (guint l = STD_FABRIC_TTFT; l <= STD_FABRIC_TPOT; l++)
    for (guint i = 0; i < fabric->speeds->len; i++) {
      const StdFabricSpeed *speed = &g_array_index (fabric->speeds, StdFabricSpeed, i);
      char x[G_ASCII_DTOSTR_BUF_SIZE];
      guint row = 0;
      while (row < rows->len && (g_array_index (rows, const StdFabricPoint *, row)->nodes != speed->nodes ||
                                 !same (g_array_index (rows, const StdFabricPoint *, row)->load, speed->load)))
        row++;
      number (speed->how[l] == STD_FABRIC_SOLVED ? speed->gpu_Bps[l] * TO_GBPS : 0, x);
      if ((i == 0 && l > 0) || (i > 0 && !same (speed->load, (speed - 1)->load)))
        g_string_append_c (lines, '\n');
      g_string_append_printf (lines, "%u\t%s\t%.1f\n%u\t%s\t%.1f\n", l + 1, x, row - 0.5, l + 1, x, row + 0.5);
    }
}

gboolean
rep_fabric_plots (const StdFabric *fabric, const char *name, GPtrArray *plots)
{
  GString *cells = g_string_new (NULL), *lines = g_string_new (NULL);
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (const StdFabricPoint *));
  const guint ran = append_cells (fabric, rows, cells);
  guint over = 0;
  for (guint i = 0; i < fabric->points->len; i++)
    over += g_array_index (fabric->points, StdFabricPoint, i).value[STD_FABRIC_TTFT] > fabric->limit[STD_FABRIC_TTFT] ? 1 : 0;
  append_lines (fabric, rows, lines);
  g_autofree char *title = g_strdup_printf ("%s: the first token waits for the network for more than %g %% in %u of %u points",
                                            name, 100 * fabric->limit[STD_FABRIC_TTFT], over, ran);
  RepPlot *heat = rep_plots_add (
      plots, "ratio", "heat.gp", "Time to the first token that a faster network would save.", title, cells,
      g_strdup_printf ("; x_name='network rate per GPU (Gb/s)'; y_name='%s'; z_name='TTFT that waits for the network "
                       "(%%)'; line_1='%g %% of TTFT waits'; line_2='%g %% of TPOT waits'",
                       has_loads (fabric) ? "GPUs (load)" : "GPUs", 100 * fabric->limit[STD_FABRIC_TTFT],
                       100 * fabric->limit[STD_FABRIC_TPOT]));
  heat->more = lines;
  heat->variable = "lines";
  return ran >= 2;
}
