/* Pictures by gnuplot and the shipped scripts of plots/. */
#include "report/pictures.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/error.h"

const char *
rep_picture_ending (const char *path)
{
  static const char *const endings[] = { ".svg", ".png", ".pdf", NULL };
  for (const char *const *ending = endings; *ending != NULL; ending++)
    if (g_str_has_suffix (path, *ending) && strlen (path) > strlen (*ending))
      return *ending;
  return NULL;
}

char *
rep_picture_path (const char *path, const char *suffix, const char *ending)
{
  const char *own = rep_picture_ending (path);
  g_autofree char *stem = g_strndup (path, strlen (path) - strlen (own));
  return g_strconcat (stem, suffix, ending != NULL ? ending : own, NULL);
}

char *
rep_picture_quote (const char *text)
{
  g_auto (GStrv) parts = g_strsplit (text, "'", -1);
  g_autofree char *joined = g_strjoinv ("''", parts);
  return g_strconcat ("'", joined, "'", NULL);
}

/* ---- pictures ---- */

static void
picture_free (gpointer data)
{
  RepPicture *picture = data;
  g_string_free (picture->tsv, TRUE);
  if (picture->more != NULL)
    g_string_free (picture->more, TRUE);
  g_free (picture->settings);
  g_free (picture);
}

GPtrArray *
rep_pictures_new (void)
{
  return g_ptr_array_new_with_free_func (picture_free);
}

RepPicture *
rep_pictures_add (GPtrArray *pictures, const char *name, const char *script, const char *caption, const char *title, GString *tsv,
                  char *settings)
{
  RepPicture *picture = g_new0 (RepPicture, 1);
  g_autofree char *quoted = rep_picture_quote (title), *rest = settings;
  *picture = (RepPicture){ name, script, caption, tsv, NULL, NULL, NULL };
  picture->settings = g_strdup_printf ("; title=%s%s", quoted, rest != NULL ? rest : "");
  g_ptr_array_add (pictures, picture);
  return picture;
}

/* ---- gnuplot ---- */

typedef struct {
  const char *variable, *name; /* of the script, and of the file */
  const GString *tsv;
} Data;

/* A picture's tables, by the names of their files. Returned: how many. */
static guint
data_of (const RepPicture *picture, const char *first, const char *second, Data data[2])
{
  data[0] = (Data){ "data", first, picture->tsv };
  data[1] = (Data){ picture->variable, second, picture->more };
  return picture->more != NULL ? 2 : 1;
}

/* "data='a.tsv'; crossovers='b.tsv'; out='c.svg'; title='…'". Returned: full. */
static char *
assignments (const Data *data, guint n_data, const char *out, const char *settings)
{
  GString *text = g_string_new (NULL);
  for (guint i = 0; i < n_data; i++) {
    g_autofree char *name = rep_picture_quote (data[i].name);
    g_string_append_printf (text, "%s=%s; ", data[i].variable, name);
  }
  g_autofree char *name = rep_picture_quote (out);
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
draw (const RepPicture *picture, const char *script, const char *file, GString **out, GError **error)
{
  g_autoptr (GError) cause = NULL;
  g_autofree char *folder = g_dir_make_tmp ("forerun-XXXXXX", &cause);
  if (folder == NULL)
    return fail_run (error, "no temporary folder for gnuplot", cause->message);
  Data data[2];
  const guint n = data_of (picture, "data0.tsv", "data1.tsv", data);
  gboolean done = TRUE;
  for (guint i = 0; i < n && done; i++) {
    g_autofree char *path = g_build_filename (folder, data[i].name, NULL);
    if (!g_file_set_contents (path, data[i].tsv->str, (gssize)data[i].tsv->len, &cause))
      done = fail_run (error, "data for gnuplot", cause->message);
  }
  g_autofree char *commands = assignments (data, n, file, picture->settings);
  done = done && run_gnuplot (folder, commands, script, file, out, error);
  for (guint i = 0; i <= n; i++) {
    g_autofree char *path = g_build_filename (folder, i < n ? data[i].name : file, NULL);
    (void)g_unlink (path);
  }
  (void)g_rmdir (folder);
  return done;
}

/* Returned: the script's path, full; NULL and *error where it is not there. */
static char *
find_script (const RepPicture *picture, const BaseLookup *lookup, const char *flag, GError **error)
{
  g_autofree char *root = g_canonicalize_filename (base_lookup_root (lookup), NULL);
  g_autofree char *path = g_build_filename (root, "plots", picture->script, NULL);
  if (g_file_test (path, G_FILE_TEST_IS_REGULAR))
    return g_steal_pointer (&path);
  g_set_error (error, BASE_ERROR, (gint)BASE_ERROR_INPUT, "%s needs %s, which is not there: plots/ belongs to the shipped data",
               flag, path);
  return NULL;
}

gboolean
rep_picture_render (const RepPicture *picture, const BaseLookup *lookup, const char *flag, const char *ending, GString **out,
                    GError **error)
{
  g_autofree char *script = find_script (picture, lookup, flag, error), *gnuplot = g_find_program_in_path ("gnuplot");
  *out = NULL;
  if (script == NULL || gnuplot == NULL)
    return script != NULL;
  g_autofree char *file = g_strconcat ("picture", ending, NULL);
  return draw (picture, script, file, out, error);
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

/* The data, and a script that stands in their folder. */
static void
leave_data (const RepPicture *picture, const char *script, const char *path, GPtrArray *files, GString *talk)
{
  Data data[2];
  g_autofree char *suffix = g_strconcat ("_", picture->variable, NULL), *first = rep_picture_path (path, "", ".tsv"),
                  *second = rep_picture_path (path, suffix, ".tsv"), *first_name = g_path_get_basename (first),
                  *second_name = g_path_get_basename (second), *out = g_path_get_basename (path);
  const guint n = data_of (picture, first_name, second_name, data);
  for (guint i = 0; i < n; i++)
    add_file (files, g_strdup (i == 0 ? first : second), g_string_new_len (data[i].tsv->str, (gssize)data[i].tsv->len));
  g_autofree char *commands = assignments (data, n, out, picture->settings);
  g_autofree char *quoted = g_shell_quote (commands), *quoted_script = g_shell_quote (script);
  char *file = rep_picture_path (path, "", ".sh");
  GString *text = g_string_new (NULL);
  g_string_append_printf (text,
                          "#!/bin/sh\n# Draws %s from the data beside it.\ncd -- \"$(dirname -- \"$0\")\" && gnuplot -e %s %s\n",
                          out, quoted, quoted_script);
  g_string_append_printf (talk, "gnuplot is not installed: instead of %s its data were written, and %s draws them\n", path, file);
  add_file (files, file, text);
}

GPtrArray *
rep_picture_draw (const RepPicture *picture, const BaseLookup *lookup, const char *flag, const char *path, GString *talk,
                  GError **error)
{
  GString *bytes = NULL;
  if (!rep_picture_render (picture, lookup, flag, rep_picture_ending (path), &bytes, error))
    return NULL;
  GPtrArray *files = g_ptr_array_new_with_free_func (file_free);
  g_autofree char *script = find_script (picture, lookup, flag, NULL);
  if (bytes != NULL)
    add_file (files, g_strdup (path), bytes);
  else
    leave_data (picture, script, path, files, talk);
  return files;
}
