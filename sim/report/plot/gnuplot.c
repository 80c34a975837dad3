/* Pictures by gnuplot and the shipped scripts of plots/. */
#include "report/plots.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "process-private.h"

const char *
rep_plot_ending (const char *path)
{
  static const char *const endings[] = { ".svg", ".png", ".pdf", NULL };
  for (const char *const *ending = endings; *ending != NULL; ending++)
    if (g_str_has_suffix (path, *ending) && strlen (path) > strlen (*ending))
      return *ending;
  return NULL;
}

char *
rep_plot_path (const char *path, const char *suffix, const char *ending)
{
  const char *own = rep_plot_ending (path);
  g_autofree char *stem = g_strndup (path, strlen (path) - strlen (own));
  return g_strconcat (stem, suffix, ending != NULL ? ending : own, NULL);
}

char *
rep_plot_quote (const char *text)
{
  g_auto (GStrv) parts = g_strsplit (text, "'", -1);
  g_autofree char *joined = g_strjoinv ("''", parts);
  return g_strconcat ("'", joined, "'", NULL);
}

/* ---- pictures ---- */

static void
picture_free (gpointer data)
{
  RepPlot *plot = data;
  g_string_free (plot->tsv, TRUE);
  if (plot->more != NULL)
    g_string_free (plot->more, TRUE);
  g_free (plot->settings);
  g_free (plot);
}

GPtrArray *
rep_plots_new (void)
{
  return g_ptr_array_new_with_free_func (picture_free);
}

RepPlot *
rep_plots_add (GPtrArray *plots, const char *name, const char *script, const char *caption, const char *title, GString *tsv,
               char *settings)
{
  RepPlot *plot = g_new0 (RepPlot, 1);
  g_autofree char *quoted = rep_plot_quote (title), *rest = settings;
  *plot = (RepPlot){ name, script, caption, tsv, NULL, NULL, NULL };
  plot->settings = g_strdup_printf ("; title=%s%s", quoted, rest != NULL ? rest : "");
  g_ptr_array_add (plots, plot);
  return plot;
}

/* ---- gnuplot ---- */

/* After which gnuplot is stopped: the largest picture takes it a few seconds on a slow machine. */
#define GNUPLOT_LIMIT_S 120u

typedef struct {
  const char *variable; /* of the script */
  const GString *tsv;
} Data;

/* A picture's tables. Returned: how many. */
static guint
data_of (const RepPlot *plot, Data data[2])
{
  data[0] = (Data){ "data", plot->tsv };
  data[1] = (Data){ plot->variable, plot->more };
  return plot->more != NULL ? 2 : 1;
}

/* "; data='a.tsv'" */
static void
assign (GString *commands, const char *variable, const char *value)
{
  g_autofree char *quoted = rep_plot_quote (value);
  g_string_append_printf (commands, "%s%s=%s", commands->len > 0 ? "; " : "", variable, quoted);
}

static gboolean
fail_run (GError **error, const char *what, const char *why)
{
  base_fail (error, BASE_ERROR_RUN, "%s: %s", what, why);
  return FALSE;
}

/* gnuplot works in the folder of the shipped data, and on files without names: nothing that a user's path contains reaches its
 * parser. -d: without the user's ~/.gnuplot. */
static gboolean
run_gnuplot (const char *root, const RepPlot *plot, const char *ending, const int *files, guint n, GError **error)
{
  Data data[2];
  (void)data_of (plot, data);
  g_autoptr (GString) commands = g_string_new (NULL), said = g_string_new (NULL);
  for (guint i = 0; i <= n; i++) {
    g_autofree char *name = g_strdup_printf ("/proc/self/fd/%d", files[i]);
    assign (commands, i < n ? data[i].variable : "out", name);
  }
  assign (commands, "ending", ending);
  g_string_append (commands, plot->settings);
  g_autofree char *script = g_build_filename ("plots", plot->script, NULL);
  const char *const words[] = { "gnuplot", "-d", "-e", commands->str, script, NULL };
  const RepProcess process = { root, words, files, n + 1, GNUPLOT_LIMIT_S };
  return rep_process_run (&process, said, error);
}

static gboolean
draw (const RepPlot *plot, const char *root, const char *ending, GString **out, GError **error)
{
  Data data[2];
  const guint n = data_of (plot, data);
  int files[3] = { -1, -1, -1 };
  gboolean done = TRUE;
  for (guint i = 0; i <= n && done; i++) {
    files[i] = rep_memory_file ("forerun-plot", i < n ? data[i].tsv : NULL);
    done = files[i] >= 0 || fail_run (error, "data for gnuplot", g_strerror (errno));
  }
  done = done && run_gnuplot (root, plot, ending, files, n, error);
  g_autoptr (GString) bytes = done ? rep_memory_file_read (files[n]) : NULL;
  for (guint i = 0; i <= n; i++)
    if (files[i] >= 0)
      (void)close (files[i]);
  if (done && bytes->len == 0)
    done = fail_run (error, "gnuplot drew nothing", plot->script);
  *out = done ? g_steal_pointer (&bytes) : NULL;
  return done;
}

/* Returned: the script's path, full; NULL and *error where it is not there. */
static char *
find_script (const RepPlot *plot, const BaseLookup *lookup, const char *flag, GError **error)
{
  g_autofree char *root = g_canonicalize_filename (base_lookup_root (lookup), NULL);
  g_autofree char *path = g_build_filename (root, "plots", plot->script, NULL);
  if (base_file_is_file (path))
    return g_steal_pointer (&path);
  base_fail (error, BASE_ERROR_INPUT, "%s needs %s, which is not there: plots/ belongs to the shipped data", flag, path);
  return NULL;
}

gboolean
rep_plot_render (const RepPlot *plot, const BaseLookup *lookup, const char *flag, const char *ending, GString **out, GError **error)
{
  g_autofree char *script = find_script (plot, lookup, flag, error), *gnuplot = g_find_program_in_path ("gnuplot");
  *out = NULL;
  if (script == NULL || gnuplot == NULL)
    return script != NULL;
  g_autofree char *root = g_canonicalize_filename (base_lookup_root (lookup), NULL);
  return draw (plot, root, ending, out, error);
}

/* ---- files ---- */

static void
file_free (gpointer data)
{
  RepFile *file = data;
  g_free (file->path);
  if (file->bytes != NULL)
    g_string_free (file->bytes, TRUE);
  g_free (file);
}

/* Takes both. */
static void
add_file (GPtrArray *files, char *path, GString *bytes)
{
  RepFile *file = g_new (RepFile, 1);
  *file = (RepFile){ path, bytes };
  g_ptr_array_add (files, file);
}

/* Of a file beside the script: no option and no assignment, whatever it begins with. Returned: full. */
static char *
name_beside (const char *path)
{
  g_autofree char *name = g_path_get_basename (path);
  return g_strconcat ("./", name, NULL);
}

/* The data, and a script that stands in their folder. */
static void
leave_data (const RepPlot *plot, const char *script, const char *path, GPtrArray *files, GString *talk)
{
  Data data[2];
  const guint n = data_of (plot, data);
  g_autoptr (GString) commands = g_string_new (NULL);
  for (guint i = 0; i < n; i++) {
    g_autofree char *suffix = i > 0 ? g_strconcat ("_", data[i].variable, NULL) : g_strdup (""),
                    *file = rep_plot_path (path, suffix, ".tsv"), *name = name_beside (file);
    assign (commands, data[i].variable, name);
    add_file (files, g_steal_pointer (&file), g_string_new_len (data[i].tsv->str, (gssize)data[i].tsv->len));
  }
  g_autofree char *out = name_beside (path);
  assign (commands, "out", out);
  g_string_append (commands, plot->settings);
  g_autofree char *quoted = g_shell_quote (commands->str), *quoted_script = g_shell_quote (script);
  char *file = rep_plot_path (path, "", ".sh");
  GString *text = g_string_new (NULL);
  g_string_append_printf (text,
                          "#!/bin/sh\n# Draws a plot from the data beside this script.\n"
                          "cd -- \"$(dirname -- \"$0\")\" && gnuplot -d -e %s %s\n",
                          quoted, quoted_script);
  g_autofree char *shown = base_text_escape (path, ""), *shown_file = base_text_escape (file, "");
  g_string_append_printf (talk, "gnuplot is not installed: instead of %s its data were written, and %s draws them\n", shown,
                          shown_file);
  add_file (files, file, text);
}

GPtrArray *
rep_plot_draw (const RepPlot *plot, const BaseLookup *lookup, const char *flag, const char *path, GString *talk, GError **error)
{
  GString *bytes = NULL;
  if (!rep_plot_render (plot, lookup, flag, rep_plot_ending (path), &bytes, error))
    return NULL;
  GPtrArray *files = g_ptr_array_new_with_free_func (file_free);
  g_autofree char *script = find_script (plot, lookup, flag, NULL);
  if (bytes != NULL)
    add_file (files, g_strdup (path), bytes);
  else
    leave_data (plot, script, path, files, talk);
  return files;
}
