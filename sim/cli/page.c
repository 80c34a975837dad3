#include "page-private.h"

#include "base/yaml.h"

#define RECORD_FOLDER "calibrate"

gboolean
cli_page_check (const Cli *cli, const char *path, GError **error)
{
  return g_str_has_suffix (path, ".html") || g_str_has_suffix (path, ".htm") ||
         cli_fail (cli, error, "--report '%s': a page of HTML is written; .html and .htm are accepted", path);
}

/* How good predictions have been; texts live as long as *yaml, full. */
static gboolean
load_record (const Cli *cli, BaseYaml **yaml, RepRecord *record, GError **error)
{
  g_autofree char *path = base_lookup_find (cli->lookup, "record", RECORD_FOLDER, NULL, error);
  *yaml = path != NULL ? base_yaml_load_file (path, error) : NULL;
  if (*yaml == NULL)
    return FALSE;
  g_autoptr (BaseDiag) diag = base_diag_new ();
  const BaseSchemaContext context = {
    .arena = base_yaml_arena (*yaml), .diag = diag, .lookup = cli->lookup, .source = BASE_SOURCE_MEASURED
  };
  base_schema_read (&rep_schema_record, base_yaml_root (*yaml), FALSE, &context, record);
  return base_diag_finish (diag, error);
}

/* Returned: RepFigure, full; their texts are owned by `keep`. NULL and *error where gnuplot fails. */
static GArray *
draw_all (Cli *cli, const GPtrArray *pictures, GPtrArray *keep, GError **error)
{
  g_autoptr (GArray) figures = g_array_new (FALSE, FALSE, sizeof (RepFigure));
  for (guint i = 0; i < pictures->len; i++) {
    const CliPicture *picture = pictures->pdata[i];
    CliPlotData data[2];
    guint n = cli_picture_data (picture, data);
    GString *svg = NULL;
    if (!cli_plot_render (cli, "--report", picture->script, data, n, picture->settings, ".svg", &svg, error))
      return NULL;
    if (svg == NULL)
      continue;
    RepFigure figure = { picture->caption, svg->str };
    g_ptr_array_add (keep, g_string_free (svg, FALSE));
    g_array_append_val (figures, figure);
  }
  return g_steal_pointer (&figures);
}

gboolean
cli_page_add (Cli *cli, const char *path, const GPtrArray *pictures, RepPage *page, GError **error)
{
  g_autoptr (BaseYaml) yaml = NULL;
  RepRecord record = { .head = { .set = FALSE } };
  g_autoptr (GPtrArray) keep = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GArray) figures = cli_lookup (cli, error) ? draw_all (cli, pictures, keep, error) : NULL;
  if (figures == NULL || !load_record (cli, &yaml, &record, error))
    return FALSE;
  RepEnvelope envelope = cli_envelope (cli);
  page->envelope = &envelope;
  page->figures = (const RepFigure *)(gpointer)figures->data;
  page->n_figures = figures->len;
  page->undrawn = figures->len < pictures->len ? "Pictures are missing: gnuplot was not installed where this page was made." : NULL;
  page->record = &record;
  if (page->undrawn != NULL)
    g_string_append_printf (cli->talk, "gnuplot is not installed: %s has no pictures\n", path);
  g_autofree char *html = rep_page (page);
  return cli_add_file (cli, "--report", path, g_string_new (html), error);
}

gboolean
cli_page_sweep (Cli *cli, const CliCollFlags *flags, const CliQuestion *question, double size_B, const char *path,
                const CliSweepPage *what, GError **error)
{
  g_auto (CliComm) comm = { 0 };
  g_auto (ColAnswer) coll = { 0 };
  if (!cli_comm_open (cli, flags, question, question->nodes[question->n_nodes - 1], &comm, error))
    return FALSE;
  ColCollRequest request = { .op = question->op,
                             .size_B = size_B,
                             .dtype = question->dtype,
                             .algo = question->algo,
                             .proto = question->proto,
                             .root = question->root };
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
  return cli_page_add (cli, path, what->pictures, &page, error);
}
