/* Pictures and reports as files of the answer. */
#include "base/output.h"
#include "base/text.h"
#include "draw-private.h"

/* What is known of an output before the work that it needs. */
static gboolean
check_output (const Cli *cli, const char *flag, const char *path, GError **error)
{
  GError *cause = NULL;
  if (base_output_check (path, &cause))
    return TRUE;
  g_propagate_prefixed_error (error, cause, "forerun %s: %s: ", cli->verb->name, flag);
  return FALSE;
}

gboolean
cli_plot_check (const Cli *cli, const char *flag, const char *path, GError **error)
{
  if (rep_plot_ending (path) == NULL)
    return cli_fail (cli, error, "%s '%s': the ending decides the format; .svg, .png and .pdf are accepted", flag, path);
  return check_output (cli, flag, path, error);
}

/* An error of this layer's callees as the verb's own, where it is the user's fault. Takes `cause`. */
static gboolean
fail (const Cli *cli, GError *cause, GError **error)
{
  if (cause->domain == BASE_ERROR && cause->code == (gint)BASE_ERROR_INPUT) {
    g_propagate_prefixed_error (error, cause, "forerun %s: ", cli->verb->name);
  } else
    g_propagate_error (error, cause);
  return FALSE;
}

static gboolean
draw_one (Cli *cli, const char *flag, const char *path, const RepPlot *plot, GError **error)
{
  GError *cause = NULL;
  g_autoptr (GPtrArray) files = rep_plot_draw (plot, cli->lookup, flag, path, cli->talk, &cause);
  if (files == NULL)
    return fail (cli, cause, error);
  for (guint i = 0; i < files->len; i++) {
    RepFile *file = files->pdata[i];
    if (!cli_add_file (cli, flag, file->path, g_steal_pointer (&file->bytes), error))
      return FALSE;
  }
  return TRUE;
}

gboolean
cli_draw (Cli *cli, const char *flag, const char *path, const GPtrArray *plots, GError **error)
{
  for (guint i = 0; i < plots->len; i++) {
    const RepPlot *plot = plots->pdata[i];
    g_autofree char *suffix = i > 0 ? g_strconcat ("_", plot->name, NULL) : g_strdup ("");
    g_autofree char *beside = rep_plot_path (path, suffix, NULL);
    if (!draw_one (cli, flag, beside, plot, error))
      return FALSE;
  }
  return TRUE;
}

gboolean
cli_draw_folder (Cli *cli, const char *flag, const char *folder, const GPtrArray *plots, GError **error)
{
  if (!cli_make_folder (cli, flag, folder, error))
    return FALSE;
  for (guint i = 0; i < plots->len; i++) {
    const RepPlot *plot = plots->pdata[i];
    g_autofree char *file = g_strconcat (plot->name, ".svg", NULL), *path = g_build_filename (folder, file, NULL);
    if (!draw_one (cli, flag, path, plot, error))
      return FALSE;
  }
  return TRUE;
}

/* ---- reports ---- */

gboolean
cli_page_check (const Cli *cli, const char *path, GError **error)
{
  if (!g_str_has_suffix (path, ".html") && !g_str_has_suffix (path, ".htm"))
    return cli_fail (cli, error, "--report '%s': a page of HTML is written; .html and .htm are accepted", path);
  return check_output (cli, "--report", path, error);
}

gboolean
cli_page_add (Cli *cli, const char *path, const GPtrArray *plots, RepPage *page, GError **error)
{
  GError *cause = NULL;
  RepEnvelope envelope = cli_envelope (cli);
  page->envelope = &envelope;
  page->plots = plots;
  if (!cli_lookup (cli, error))
    return FALSE;
  gboolean drawn;
  g_autofree char *html = rep_page (page, cli->lookup, &drawn, &cause);
  if (html == NULL)
    return fail (cli, cause, error);
  g_autofree char *shown = base_text_escape (path, "");
  if (!drawn)
    g_string_append_printf (cli->talk, "gnuplot is not installed: %s has no pictures\n", shown);
  return cli_add_file (cli, "--report", path, g_string_new (html), error);
}

gboolean
cli_page_sweep (Cli *cli, const FrCollQuery *question, double size_B, const char *path, const CliSweepPage *what, GError **error)
{
  g_auto (ScnRanks) comm = { 0 };
  g_auto (ColAnswer) coll = { 0 };
  if (!cli_comm_open (cli, question, question->nodes[question->n_nodes - 1], &comm, error))
    return FALSE;
  const ColCollRequest request = fr_coll_request (question, size_B);
  if (!col_coll_price (comm.comm, &request, &coll, error))
    return FALSE;
  g_autoptr (GString) header = g_string_new (NULL);
  cli_comm_header (cli, &comm, header);
  g_autofree char *title = g_strdup_printf ("%s on %s", base_name (mdl_op_names, (int)question->op), clu_name (comm.clu));
  RepPage page = { .title = title,
                   .lead = what->lead,
                   .said = what->said,
                   .header = header->str,
                   .clu = comm.clu,
                   .rows = what->rows,
                   .coll = &coll,
                   .text = what->text };
  return cli_page_add (cli, path, what->plots, &page, error);
}
