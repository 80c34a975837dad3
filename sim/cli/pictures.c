#include "pictures-private.h"

#include "report/pictures.h"

static void
picture_free (gpointer data)
{
  CliPicture *picture = data;
  g_string_free (picture->tsv, TRUE);
  if (picture->more != NULL)
    g_string_free (picture->more, TRUE);
  g_free (picture->settings);
  g_free (picture);
}

GPtrArray *
cli_pictures_empty (void)
{
  return g_ptr_array_new_with_free_func (picture_free);
}

CliPicture *
cli_pictures_add (GPtrArray *pictures, const char *name, const char *script, const char *caption, const char *title, GString *tsv,
                  char *settings)
{
  CliPicture *picture = g_new0 (CliPicture, 1);
  g_autofree char *quoted = cli_plot_quote (title), *rest = settings;
  picture->name = name;
  picture->script = script;
  picture->caption = caption;
  picture->tsv = tsv;
  picture->settings = g_strdup_printf ("; title=%s%s", quoted, rest != NULL ? rest : "");
  g_ptr_array_add (pictures, picture);
  return picture;
}

guint
cli_picture_data (const CliPicture *picture, CliPlotData data[2])
{
  data[0] = (CliPlotData){ "data", "", picture->tsv };
  data[1] = (CliPlotData){ picture->variable, "_more", picture->more };
  return picture->more != NULL ? 2 : 1;
}

void
cli_pictures_add_run (GPtrArray *pictures, const ScnResult *result, const char *scenario)
{
  gboolean training = result->kind == SCN_KIND_TRAINING;
  GString *tsv = g_string_new (NULL);
  if (rep_parts_tsv (result, tsv)) {
    g_autofree char *title = training ? g_strdup_printf ("%s: where the step's time went, on stage %u, which ends last", scenario,
                                                         result->training.stage)
                                      : g_strdup_printf ("%s: terms of the closed form", scenario);
    cli_pictures_add (pictures, "breakdown", "breakdown.gp",
                      training ? "Where the step's time went, on the stage that ends last."
                               : "What the closed form's time is made of.",
                      title, tsv, NULL);
    tsv = g_string_new (NULL);
  }
  guint columns = 0;
  g_string_truncate (tsv, 0);
  if (rep_timeline_tsv (result, tsv, &columns)) {
    g_autofree char *title = g_strdup_printf ("%s: what each pipeline stage does", scenario);
    cli_pictures_add (pictures, "timeline", "timeline.gp",
                      "What each pipeline stage does when; exchange is shown where nothing computes.", title, tsv,
                      g_strdup_printf ("; columns=%u", columns));
    tsv = g_string_new (NULL);
  }
  g_string_truncate (tsv, 0);
  if (rep_timeline_begin_tsv (result, tsv, &columns)) {
    g_autofree char *title = g_strdup_printf ("%s: the begin of a step", scenario);
    cli_pictures_add (pictures, "timeline_begin", "timeline.gp",
                      "The same of the begin: until twice the time at which the first micro-batch is back on the first stage.",
                      title, tsv, g_strdup_printf ("; columns=%u", columns));
    tsv = g_string_new (NULL);
  }
  g_string_truncate (tsv, 0);
  if (rep_memory_tsv (result, tsv)) {
    char capacity[G_ASCII_DTOSTR_BUF_SIZE];
    g_autofree char *title = g_strdup_printf ("%s: memory of a GPU at its fullest", scenario);
    cli_pictures_add (pictures, "memory", "memory.gp",
                      "Memory of a GPU of each pipeline stage at its fullest moment, and what it has.", title, tsv,
                      g_strdup_printf ("; capacity=%s.0",
                                       g_ascii_formatd (capacity, sizeof capacity, "%.0f", result->training.fullest.capacity_B)));
    tsv = g_string_new (NULL);
  }
  g_string_truncate (tsv, 0);
  if (rep_links_tsv (result, tsv)) {
    g_autofree char *title = g_strdup_printf ("%s: what the links carried", scenario);
    cli_pictures_add (pictures, "links", "links.gp", "How busy the busiest link of each class was.", title, tsv, NULL);
    tsv = g_string_new (NULL);
  }
  g_string_free (tsv, TRUE);
}

GPtrArray *
cli_pictures_new (const ScnResult *result, const char *scenario)
{
  GPtrArray *pictures = cli_pictures_empty ();
  cli_pictures_add_run (pictures, result, scenario);
  return pictures;
}

void
cli_pictures_goodput (GPtrArray *pictures, const Gdp *goodput, const char *scenario)
{
  g_autoptr (GString) tsv = g_string_new (NULL);
  if (!rep_goodput_curve_tsv (goodput, tsv))
    return;
  g_autofree char *title = g_strdup_printf ("%s: what failures and checkpoints leave", scenario);
  cli_pictures_add (
      pictures, "goodput", "goodput.gp",
      "Useful time over all time, by the work between checkpoints: the mean of the runs, their band, and the closed form.", title,
      g_steal_pointer (&tsv), NULL);
}

gboolean
cli_pictures_draw (Cli *cli, const char *flag, const char *folder, const GPtrArray *pictures, GError **error)
{
  if (!cli_make_folder (cli, flag, folder, error))
    return FALSE;
  for (guint i = 0; i < pictures->len; i++) {
    const CliPicture *picture = pictures->pdata[i];
    g_autofree char *file = g_strconcat (picture->name, ".svg", NULL), *path = g_build_filename (folder, file, NULL);
    CliPlotData data[2];
    guint n = cli_picture_data (picture, data);
    if (!cli_plot_draw (cli, flag, path, picture->script, data, n, picture->settings, error))
      return FALSE;
  }
  return TRUE;
}
