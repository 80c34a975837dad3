#include "plot-private.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/wait.h>

static const char *const endings[] = { ".svg", ".png", ".pdf", NULL };

static const char *
ending_of (const char *path)
{
  for (const char *const *ending = endings; *ending != NULL; ending++)
    if (g_str_has_suffix (path, *ending) && strlen (path) > strlen (*ending))
      return *ending;
  return NULL;
}

gboolean
cli_plot_check (const Cli *cli, const char *flag, const char *path, GError **error)
{
  return ending_of (path) != NULL ||
         cli_fail (cli, error, "%s '%s': the ending decides the format; .svg, .png and .pdf are accepted", flag, path);
}

char *
cli_plot_path (const char *path, const char *suffix, const char *ending)
{
  const char *own = ending_of (path);
  g_autofree char *stem = g_strndup (path, strlen (path) - strlen (own));
  return g_strconcat (stem, suffix, ending != NULL ? ending : own, NULL);
}

char *
cli_plot_quote (const char *text)
{
  g_auto (GStrv) parts = g_strsplit (text, "'", -1);
  g_autofree char *joined = g_strjoinv ("''", parts);
  return g_strconcat ("'", joined, "'", NULL);
}

/* "data='a.tsv'; crossovers='b.tsv'; out='c.svg'; title='…'" */
static char *
assignments (const CliPlotData *data, guint n_data, char *const *names, const char *out, const char *settings)
{
  GString *text = g_string_new (NULL);
  for (guint i = 0; i < n_data; i++) {
    g_autofree char *name = cli_plot_quote (names[i]);
    g_string_append_printf (text, "%s=%s; ", data[i].variable, name);
  }
  g_autofree char *name = cli_plot_quote (out);
  g_string_append_printf (text, "out=%s%s", name, settings);
  return g_string_free (text, FALSE);
}

static gboolean
fail_run (GError **error, const char *what, const char *why)
{
  g_autofree char *said = g_strstrip (g_strdup (why));
  g_set_error (error, BASE_ERROR, (gint)BASE_ERROR_RUN, "%s: %s", what, said);
  return FALSE;
}

/* Runs gnuplot in `folder` and reads what it has drawn. */
static gboolean
run_gnuplot (const char *folder, const char *commands, const char *script, const char *picture, GString **out, GError **error)
{
  const char *const words[] = { "gnuplot", "-e", commands, script, NULL };
  g_autofree char *said = NULL;
  gint status = 0;
  g_autoptr (GError) cause = NULL;
  if (!g_spawn_sync (folder, (char **)words, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL, NULL, &said,
                     &status, &cause))
    return fail_run (error, "gnuplot cannot be run", cause->message);
  if (!WIFEXITED (status) || WEXITSTATUS (status) != 0)
    return fail_run (error, "gnuplot failed", *said != '\0' ? said : "it says nothing");
  g_autofree char *path = g_build_filename (folder, picture, NULL), *bytes = NULL;
  gsize n_B = 0;
  if (!g_file_get_contents (path, &bytes, &n_B, &cause))
    return fail_run (error, "gnuplot drew nothing", cause->message);
  *out = g_string_new_len (bytes, (gssize)n_B);
  return TRUE;
}

/* gnuplot works in a folder of its own, on plain file names: nothing that a user's path contains reaches its parser. */
static gboolean
draw (const char *script, const CliPlotData *data, guint n_data, const char *picture, const char *settings, GString **out,
      GError **error)
{
  g_autoptr (GError) cause = NULL;
  g_autofree char *folder = g_dir_make_tmp ("forerun-XXXXXX", &cause);
  if (folder == NULL)
    return fail_run (error, "no temporary folder for gnuplot", cause->message);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  gboolean done = TRUE;
  for (guint i = 0; i < n_data; i++) {
    char *name = g_strdup_printf ("data%u.tsv", i);
    g_ptr_array_add (names, name);
    g_autofree char *path = g_build_filename (folder, name, NULL);
    if (done && !g_file_set_contents (path, data[i].tsv->str, (gssize)data[i].tsv->len, &cause))
      done = fail_run (error, "data for gnuplot", cause->message);
  }
  g_autofree char *commands = assignments (data, n_data, (char *const *)names->pdata, picture, settings);
  done = done && run_gnuplot (folder, commands, script, picture, out, error);
  g_ptr_array_add (names, g_strdup (picture));
  for (guint i = 0; i < names->len; i++) {
    g_autofree char *path = g_build_filename (folder, g_ptr_array_index (names, i), NULL);
    (void)g_unlink (path);
  }
  (void)g_rmdir (folder);
  return done;
}

/* The data, and a script that stands in their folder. */
static gboolean
leave_data (Cli *cli, const char *flag, const char *path, const char *script, const CliPlotData *data, guint n_data,
            const char *settings, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < n_data; i++) {
    g_autofree char *file = cli_plot_path (path, data[i].suffix, ".tsv");
    g_ptr_array_add (names, g_path_get_basename (file));
    if (!cli_add_file (cli, flag, file, g_string_new_len (data[i].tsv->str, (gssize)data[i].tsv->len), error))
      return FALSE;
  }
  g_autofree char *picture = g_path_get_basename (path);
  g_autofree char *commands = assignments (data, n_data, (char *const *)names->pdata, picture, settings);
  g_autofree char *quoted = g_shell_quote (commands), *quoted_script = g_shell_quote (script);
  g_autofree char *file = cli_plot_path (path, "", ".sh");
  GString *text = g_string_new (NULL);
  g_string_append_printf (text,
                          "#!/bin/sh\n# Draws %s from the data beside it.\ncd -- \"$(dirname -- \"$0\")\" && gnuplot -e %s %s\n",
                          picture, quoted, quoted_script);
  g_string_append_printf (cli->talk, "gnuplot is not installed: instead of %s its data were written, and %s draws them\n", path,
                          file);
  return cli_add_file (cli, flag, file, text, error);
}

/* Returned: the script's path, full; NULL and *error where it is not there. */
static char *
find_script (const Cli *cli, const char *flag, const char *script, GError **error)
{
  g_autofree char *root = g_canonicalize_filename (base_lookup_root (cli->lookup), NULL);
  g_autofree char *path = g_build_filename (root, "plots", script, NULL);
  if (g_file_test (path, G_FILE_TEST_IS_REGULAR))
    return g_steal_pointer (&path);
  cli_fail (cli, error, "%s needs %s, which is not there: plots/ belongs to the shipped data", flag, path);
  return NULL;
}

gboolean
cli_plot_render (Cli *cli, const char *flag, const char *script, const CliPlotData *data, guint n_data, const char *settings,
                 const char *ending, GString **out, GError **error)
{
  g_autofree char *script_path = find_script (cli, flag, script, error), *gnuplot = g_find_program_in_path ("gnuplot");
  *out = NULL;
  if (script_path == NULL || gnuplot == NULL)
    return script_path != NULL;
  g_autofree char *picture = g_strconcat ("picture", ending, NULL);
  return draw (script_path, data, n_data, picture, settings, out, error);
}

gboolean
cli_plot_draw (Cli *cli, const char *flag, const char *path, const char *script, const CliPlotData *data, guint n_data,
               const char *settings, GError **error)
{
  GString *bytes = NULL;
  if (!cli_plot_render (cli, flag, script, data, n_data, settings, ending_of (path), &bytes, error))
    return FALSE;
  if (bytes != NULL)
    return cli_add_file (cli, flag, path, bytes, error);
  g_autofree char *script_path = find_script (cli, flag, script, error);
  return leave_data (cli, flag, path, script_path, data, n_data, settings, error);
}
