/* Plots of one collective: bandwidth by message size or by nodes, and the measurements that belong to it. */
#include <string.h>

#include "base/units.h"
#include "report/plots.h"

/* Sizes that are the same: a printed size is rounded to whole elements. */
#define SAME_SIZE 1.001

static gboolean
same_size (double a, double b)
{
  return a < b * SAME_SIZE && b < a * SAME_SIZE;
}

/* Distinct numbers of nodes, and sizes. */
static void
count_asked (const GArray *asked, guint *n_nodes, guint *n_sizes)
{
  *n_nodes = *n_sizes = 0;
  for (guint i = 0; i < asked->len; i++) {
    const RepCollAsked *here = &g_array_index (asked, RepCollAsked, i);
    gboolean new_nodes = TRUE, new_size = TRUE;
    for (guint k = 0; k < i; k++) {
      const RepCollAsked *before = &g_array_index (asked, RepCollAsked, k);
      new_nodes = new_nodes && before->nodes != here->nodes;
      new_size = new_size && !same_size (before->size_B, here->size_B);
    }
    *n_nodes += new_nodes ? 1 : 0;
    *n_sizes += new_size ? 1 : 0;
  }
}

gboolean
rep_coll_is_by_nodes (const GArray *asked)
{
  guint n_nodes, n_sizes;
  count_asked (asked, &n_nodes, &n_sizes);
  return n_nodes > n_sizes && n_sizes <= REP_PANELS_MOST;
}

/* "all_reduce of 8 GiB on hgx_h100"; of several sizes, which panels name, without. Returned: full. */
static char *
title_by_nodes (const RepCollPlot *what)
{
  const char *op = base_name (mdl_op_names, (int)what->op);
  guint n_nodes, n_sizes;
  count_asked (what->asked, &n_nodes, &n_sizes);
  if (n_sizes > 1)
    return g_strdup_printf ("%s on %s by number of nodes", op, what->topology);
  g_autofree char *size = base_quantity_format (g_array_index (what->asked, RepCollAsked, 0).size_B, BASE_DIM_BYTES, 4);
  return g_strdup_printf ("%s of %s on %s", op, size, what->topology);
}

void
rep_plots_add_coll (GPtrArray *plots, const RepCollPlot *what)
{
  GString *tsv = g_string_new (NULL);
  const char *op = base_name (mdl_op_names, (int)what->op);
  gboolean by_nodes = rep_coll_is_by_nodes (what->asked);
  g_autofree char *title = by_nodes ? title_by_nodes (what) : g_strdup (op);
  base_table_print_tsv (what->table, tsv);
  const char *script = by_nodes ? "nodes.gp" : "busbw.gp", *caption = by_nodes
                                                                          ? "Bus bandwidth by number of nodes, with its error band."
                                                                          : "Bus bandwidth by message size, with its error band.";
  RepPlot *plot =
      rep_plots_add (plots, "busbw", script, caption, title, tsv, g_strdup (by_nodes ? "; panel='bytes'" : "; series='nodes'"));
  if (what->measured == NULL)
    return;
  plot->more = g_string_new (what->measured);
  plot->variable = "measured";
}

/* ---- measurements ---- */

static gboolean
same_way (const RepCollWay *way, const CalData *data, const CalMeasured *m)
{
  const CalSystem *system = cal_data_system (data, m->system);
  return strcmp (system->topology.v, way->topology) == 0 && system->launch.v == (int)way->launch &&
         system->buffers.v == (int)way->buffers && system->one_shot.v == NULL && m->op == way->op && m->gpus == way->gpus &&
         m->algo == way->algo && m->proto == way->proto;
}

/* By nodes a point needs the same size; by size the same number of nodes. */
static gboolean
is_in_view (const GArray *asked, gboolean by_nodes, const CalMeasured *m)
{
  gboolean match = FALSE, below = FALSE, above = FALSE;
  for (guint i = 0; i < asked->len; i++) {
    const RepCollAsked *here = &g_array_index (asked, RepCollAsked, i);
    if (by_nodes ? !same_size (here->size_B, m->size_B) : here->nodes != m->nodes)
      continue;
    match = TRUE;
    below = below || (by_nodes ? here->nodes <= m->nodes : here->size_B <= m->size_B * SAME_SIZE);
    above = above || (by_nodes ? here->nodes >= m->nodes : here->size_B * SAME_SIZE >= m->size_B);
  }
  return match && below && above;
}

/* The size that was asked for, so that a point is in its panel. */
static double
asked_size (const GArray *asked, double size_B)
{
  for (guint i = 0; i < asked->len; i++)
    if (same_size (g_array_index (asked, RepCollAsked, i).size_B, size_B))
      return g_array_index (asked, RepCollAsked, i).size_B;
  return size_B;
}

guint
rep_coll_measured_tsv (const CalData *data, const RepCollWay *way, const GArray *asked, GString *out)
{
  gboolean by_nodes = rep_coll_is_by_nodes (asked);
  guint n = 0;
  g_string_append (out, "nodes\tbytes\tbusbw_Bps\n");
  for (guint i = 0; i < data->points->len; i++) {
    const CalMeasured *m = &g_array_index (data->points, CalMeasured, i);
    if (!same_way (way, data, m) || !is_in_view (asked, by_nodes, m))
      continue;
    double busbw_Bps = m->size_B / m->time_s * mdl_op_busbw_factor (m->op, m->nodes * m->gpus);
    g_string_append_printf (out, "%u\t%.17g\t%.17g\n", m->nodes, asked_size (asked, m->size_B), busbw_Bps);
    n++;
  }
  return n;
}
