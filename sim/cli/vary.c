/* --vary: a verb run for each combination of some values of its input, as if they stood in --set, so that whatever a file may say
 * can be varied; and one table of what came out. */
#include <math.h>
#include <string.h>

#include "base/layout.h"
#include "base/text.h"
#include "draw-private.h"
#include "study/vary.h"

/* What all points share. */
typedef struct {
  const Cli *cli;
  char *const *words;
  Cli **own; /* of each point */
} Runs;

static void
run_point (StdPoint *point)
{
  const Runs *runs = point->user;
  Cli *own = runs->own[point->index];
  const char *format = runs->cli->format == CLI_FORMAT_JSON ? "json" : "tsv";
  if (cli_run_point (own, runs->words, (const char *const *)point->sets, format, &point->error))
    point->rows = g_steal_pointer (&own->rows);
  else
    g_assert (point->error != NULL);
}

static gboolean
said_by_all (const Runs *runs, guint n, const char *warning)
{
  gboolean all = TRUE;
  for (guint k = 0; k < n && all; k++)
    all = base_has_text (runs->own[k]->warnings, warning);
  return all;
}

/* Inputs and warnings of a point are those of the whole. */
static void
gather_point (Cli *cli, const Runs *runs, guint n, const char *name, const Cli *own)
{
  for (guint i = 0; i < own->warnings->len; i++) {
    const char *text = own->warnings->pdata[i];
    g_autofree char *named = said_by_all (runs, n, text) ? g_strdup (text) : g_strdup_printf ("%s: %s", name, text);
    cli_warn (cli, named);
  }
  rep_inputs_merge (cli->inputs, own->inputs);
  if (own->priced)
    cli_layout_currency (cli, own->currency, own->currency_usd);
  for (guint i = 0; i < own->read->len; i++)
    base_add_once (cli->read, own->read->pdata[i]);
  cli->seed = own->seed;
  cli->status = MAX (cli->status, own->status);
}

/* Reports what did not run. FALSE and *error when nothing did. */
static gboolean
gather (Cli *cli, const GPtrArray *axes, const Runs *runs, const GArray *points, GError **error)
{
  guint failed = 0;
  for (guint k = 0; k < points->len; k++) {
    const StdPoint *point = &g_array_index (points, StdPoint, k);
    const Cli *own = runs->own[k];
    if (own->files->len > 0)
      return cli_fail (cli, error, "--vary writes one table: leave out the flag that names '%s'",
                       ((const CliFile *)own->files->pdata[0])->path);
    g_autofree char *name = std_axes_point_name (axes, k), *why = std_point_reason (point);
    gather_point (cli, runs, points->len, name, own);
    if (why == NULL)
      continue;
    failed++;
    g_string_append_printf (cli->talk, "%s did not run: %s\n", name, why);
  }
  if (failed < points->len)
    return TRUE;
  g_string_truncate (cli->talk, 0);
  g_propagate_error (error, g_error_copy (g_array_index (points, StdPoint, 0).error));
  return FALSE;
}

/* ---- what is shown ---- */

/* What a reader of text sees first, of the columns that verbs have; the first that is there is what is drawn and compared. */
static const char *const headlines[] = { "ttft_p50_s",
                                         "tpot_p50_s",
                                         "output_tokens_per_s",
                                         "goodput_rps",
                                         "step_time_s",
                                         "time_s",
                                         "slowdown",
                                         "busbw_Bps",
                                         "rate_Bps",
                                         "op",
                                         "bytes",
                                         "nodes",
                                         "ranks",
                                         "dp",
                                         "algo",
                                         "proto",
                                         "best",
                                         "mfu",
                                         "tokens_per_s",
                                         "comm_compute_ratio",
                                         "exposed_fraction",
                                         "memory_total_B",
                                         "memory_fits",
                                         "goodput",
                                         "bound_by",
                                         "provenance",
                                         NULL };

/* "step time ranges from 32.2 s (workload.parallel.tp=4) to 36.6 s (workload.parallel.tp=8)." where a combination has one row. */
static void
say_range (const StdSheet *sheet, const GPtrArray *axes, guint column, GString *out)
{
  guint least = G_MAXUINT, most = G_MAXUINT;
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (guint r = 0; r < sheet->point->len; r++) {
    BaseCell cell;
    const guint point = g_array_index (sheet->point, guint, r);
    if (r > 0 && point == g_array_index (sheet->point, guint, r - 1))
      return;
    if (!std_sheet_cell (sheet, r, column, &cell) || cell.kind == BASE_CELL_TEXT)
      continue;
    least = cell.number < low ? point : least;
    most = cell.number > high ? point : most;
    low = fmin (low, cell.number);
    high = fmax (high, cell.number);
  }
  if (!(low < high))
    return;
  g_autofree char *from = std_axes_point_name (axes, least), *to = std_axes_point_name (axes, most);
  const BaseColumn *shown = base_table_column (sheet->table, column);
  const BaseDim dim = std_column_dim (shown);
  const gboolean has_unit = dim != BASE_DIM_NUMBER;
  g_autofree char *lowest = has_unit ? base_quantity_show (low, dim) : g_strdup_printf ("%.6g", low),
                  *highest = has_unit ? base_quantity_show (high, dim) : g_strdup_printf ("%.6g", high);
  g_autofree char *title = g_strdup (std_column_title (shown));
  *title = g_ascii_toupper (*title);
  g_autoptr (GString) line = g_string_new (NULL);
  g_string_printf (line, "%s ranges from %s (%s) to %s (%s).\n\n", has_unit ? title : shown->key, lowest, from, highest, to);
  base_text_wrap (line, base_layout_width ());
  g_string_append_len (out, line->str, (gssize)line->len);
}

static void
write_text (Cli *cli, const GPtrArray *axes, const StdSheet *sheet, const GArray *chosen)
{
  RepEnvelope envelope = cli_envelope (cli);
  const guint n = std_axes_n_points (axes), headline = std_sheet_headline (sheet, chosen);
  g_autoptr (GString) what = g_string_new (cli->verb->name);
  g_autoptr (BaseTable) table = std_sheet_shown (sheet, chosen);
  if (headline != G_MAXUINT)
    say_range (sheet, axes, headline, cli->out);
  base_table_print_text (table, cli->out);
  if (headline != G_MAXUINT)
    g_string_append_printf (cli->out, "\n# relative: %s over that of the first row\n",
                            std_column_title (base_table_column (sheet->table, headline)));
  g_string_append_printf (what, ", %u combination%s of ", n, n == 1 ? "" : "s");
  for (guint i = 0; i < axes->len; i++)
    g_string_append_printf (what, "%s%s", i > 0 ? ", " : "", ((const StdAxis *)axes->pdata[i])->path);
  rep_header_title (cli->out, &envelope, what->str);
}

static void
write_json (Cli *cli, const GPtrArray *axes, const Runs *runs, const GArray *points)
{
  JsonBuilder *json = cli_json_open (cli);
  json_builder_begin_array (json);
  for (guint k = 0; k < points->len; k++) {
    g_autofree char *why = std_point_reason (&g_array_index (points, StdPoint, k));
    json_builder_begin_object (json);
    json_builder_set_member_name (json, "vary");
    json_builder_begin_object (json);
    for (guint i = 0; i < axes->len; i++) {
      json_builder_set_member_name (json, ((const StdAxis *)axes->pdata[i])->path);
      json_builder_add_string_value (json, std_axes_value (axes, i, k));
    }
    json_builder_end_object (json);
    json_builder_set_member_name (json, "results");
    if (why == NULL)
      json_builder_add_value (json, g_steal_pointer (&runs->own[k]->results));
    else {
      json_builder_add_null_value (json);
      json_builder_set_member_name (json, "error");
      json_builder_add_string_value (json, why);
    }
    json_builder_end_object (json);
  }
  json_builder_end_array (json);
  cli_json_close (cli, json);
}

/* Which column is drawn; G_MAXUINT and *error: none can be. */
static guint
drawn_column (const Cli *cli, const char *flag, const StdSheet *sheet, const GArray *chosen, GError **error)
{
  const guint column = std_sheet_headline (sheet, chosen);
  if (column == G_MAXUINT)
    cli_fail (cli, error, "%s: no column of this answer holds numbers", flag);
  return column;
}

static gboolean
draw (Cli *cli, const char *asked, const StdSheet *sheet, const GPtrArray *axes, const GArray *chosen, GError **error)
{
  const guint y = drawn_column (cli, "--vary-plot", sheet, chosen, error);
  if (y == G_MAXUINT || !cli_lookup (cli, error))
    return FALSE;
  g_autoptr (GPtrArray) plots = rep_plots_new ();
  rep_plots_add_vary (plots, sheet, axes, y, asked);
  rep_plots_add_serving_load (plots, sheet, axes, asked);
  return cli_draw (cli, "--vary-plot", cli->vary_plot, plots, error);
}

/* The headline over the first two axes. */
static gboolean
draw_map (Cli *cli, const char *asked, const StdSheet *sheet, const GPtrArray *axes, const GArray *chosen, GError **error)
{
  if (axes->len != 2)
    return cli_fail (cli, error, "--vary-map is of two keys, and %u %s varied", axes->len, axes->len == 1 ? "is" : "are");
  const guint z = drawn_column (cli, "--vary-map", sheet, chosen, error);
  if (z == G_MAXUINT)
    return FALSE;
  for (guint r = 1; r < sheet->point->len; r++)
    if (g_array_index (sheet->point, guint, r) == g_array_index (sheet->point, guint, r - 1))
      return cli_fail (cli, error, "--vary-map: a combination has several rows; accepted: an answer of one row, e.g. one size");
  if (!cli_lookup (cli, error))
    return FALSE;
  g_autoptr (GPtrArray) plots = rep_plots_new ();
  rep_plots_add_vary_map (plots, sheet, axes, z, asked);
  return cli_draw (cli, "--vary-map", cli->vary_map, plots, error);
}

/* ---- all of it ---- */

static gboolean
check (const Cli *cli, char *const *rest, GError **error)
{
  if (!cli->verb->varies)
    return cli_fail (cli, error, "--vary has nothing to vary here; run, coll, compare, plan, explain and topo take it");
  if (cli->format > CLI_FORMAT_TSV)
    return cli_fail (cli, error, "--vary makes a table of its own; text, json, tsv and csv are accepted by --format");
  for (char *const *word = rest; *word != NULL; word++)
    if (strcmp (*word, "-") == 0)
      return cli_fail (cli, error, "--vary reads its input many times: a file is accepted, stdin is not");
  return (cli->vary_plot == NULL || cli_plot_check (cli, "--vary-plot", cli->vary_plot, error)) &&
         (cli->vary_map == NULL || cli_plot_check (cli, "--vary-map", cli->vary_map, error));
}

/* `name`: what was asked, for titles. */
static gboolean
answer (Cli *cli, const char *name, const GPtrArray *axes, const Runs *runs, const GArray *points, GError **error)
{
  if (cli->format == CLI_FORMAT_JSON) {
    if (cli->vary_plot != NULL || cli->vary_map != NULL)
      return cli_fail (cli, error, "%s goes with --format text and tsv", cli->vary_plot != NULL ? "--vary-plot" : "--vary-map");
    write_json (cli, axes, runs, points);
    return TRUE;
  }
  g_autoptr (StdSheet) sheet = std_sheet_new (axes, points);
  const char *const *usual = cli->verb->headlines != NULL ? cli->verb->headlines : headlines;
  g_autoptr (GArray) chosen = std_sheet_choose (sheet, cli->columns, usual, error);
  if (chosen == NULL) {
    g_prefix_error (error, "forerun %s: ", cli->verb->name);
    return FALSE;
  }
  if ((cli->vary_plot != NULL && !draw (cli, name, sheet, axes, chosen, error)) ||
      (cli->vary_map != NULL && !draw_map (cli, name, sheet, axes, chosen, error)))
    return FALSE;
  if (cli->format == CLI_FORMAT_TSV)
    base_table_print_tsv (sheet->table, cli->out);
  else
    write_text (cli, axes, sheet, chosen);
  return TRUE;
}

gboolean
cli_vary (Cli *cli, char *const *words, char *const *rest, GError **error)
{
  if (!check (cli, rest, error))
    return FALSE;
  g_autoptr (GPtrArray) axes = std_axes_read (cli->varies, error);
  if (axes == NULL) {
    g_prefix_error (error, "forerun %s: ", cli->verb->name);
    return FALSE;
  }
  const guint n = std_axes_n_points (axes);
  g_autoptr (GPtrArray) own = g_ptr_array_new_with_free_func ((GDestroyNotify)cli_free);
  for (guint k = 0; k < n; k++)
    g_ptr_array_add (own, cli_new (cli->verb, (int)g_strv_length (cli->command), cli->command));
  Runs runs = { cli, words, (Cli **)own->pdata };
  g_autoptr (GArray) points = std_vary (axes, run_point, &runs);
  g_autofree char *base = rest[0] != NULL ? g_path_get_basename (rest[0]) : g_strdup (""),
                  *name = g_strdup_printf ("%s %s", cli->verb->name, base);
  return gather (cli, axes, &runs, points, error) && answer (cli, name, axes, &runs, points, error);
}
