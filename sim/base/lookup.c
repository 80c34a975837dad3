#include "base/lookup.h"

#include "base/file.h"
#include "base/sandbox.h"
#include "base/text.h"
#include "base/watch.h"
#include "units/text-private.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_ALIASES_B (1 << 20)

struct BaseLookup {
  char *shipped;
  BaseWatch *watch; /* borrowed; NULL: none */
};

BaseLookup *
base_lookup_new (const char *shipped)
{
  g_return_val_if_fail (shipped != NULL, NULL);
  BaseLookup *lookup = g_new0 (BaseLookup, 1);
  lookup->shipped = g_strdup (shipped);
  base_sandbox_add_data (shipped);
  return lookup;
}

void
base_lookup_free (BaseLookup *lookup)
{
  if (lookup == NULL)
    return;
  g_free (lookup->shipped);
  g_free (lookup);
}

const char *
base_lookup_root (const BaseLookup *lookup)
{
  return lookup->shipped;
}

void
base_lookup_set_watch (BaseLookup *lookup, BaseWatch *watch)
{
  lookup->watch = watch;
}

BaseWatch *
base_lookup_watch (const BaseLookup *lookup)
{
  return lookup->watch;
}

static void
list_folder (const char *path, GPtrArray *names)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  for (const char *file; dir != NULL && (file = g_dir_read_name (dir)) != NULL;)
    if (file[0] != '.' && g_str_has_suffix (file, ".yaml") && strlen (file) > strlen (".yaml"))
      g_ptr_array_add (names, g_strndup (file, strlen (file) - strlen (".yaml")));
}

char **
base_lookup_list (const BaseLookup *lookup, const char *folder)
{
  g_return_val_if_fail (lookup != NULL && folder != NULL, NULL);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_auto (GStrv) folders = g_strsplit (folder, ":", -1);
  for (char **f = folders; *f != NULL; f++) {
    g_autofree char *path = g_build_filename (lookup->shipped, *f, NULL);
    list_folder (path, names);
  }
  g_ptr_array_sort (names, base_by_text); /* a folder's own order is the file system's */
  GPtrArray *unique = g_ptr_array_new ();
  for (unsigned i = 0; i < names->len; i++)
    if (i == 0 || strcmp (names->pdata[i], names->pdata[i - 1]) != 0)
      g_ptr_array_add (unique, g_strdup (names->pdata[i]));
  g_ptr_array_add (unique, NULL);
  return (char **)g_ptr_array_free (unique, FALSE);
}

static gboolean
is_path (const char *name)
{
  return strchr (name, '/') != NULL || g_str_has_suffix (name, ".yaml") || g_str_has_suffix (name, ".yml") ||
         g_str_has_suffix (name, ".json");
}

/* The folder that names in `from` are relative to: "." where `from` is no file of a folder (a pipe, a flag). Returned: full. */
static char *
folder_of (const char *from)
{
  if (from == NULL || g_str_has_prefix (from, "/dev/") || g_str_has_prefix (from, "/proc/"))
    return g_strdup (".");
  return g_path_get_dirname (from);
}

static char *
join (const char *folder, const char *name)
{
  return strcmp (folder, ".") == 0 || g_path_is_absolute (name) ? g_strdup (name) : g_build_filename (folder, name, NULL);
}

/* A file that is there and is not `from` itself: a scenario that bears its model's name must not find itself. */
static gboolean
is_other_file (const char *path, const char *from)
{
  struct stat there, self;
  if (stat (path, &there) != 0)
    return FALSE;
  return from == NULL || stat (from, &self) != 0 || there.st_dev != self.st_dev || there.st_ino != self.st_ino;
}

/* "topologies/gpus:x" is listed by `forerun list gpus`. Returned: full. */
static char *
list_kind (const char *folder)
{
  g_auto (GStrv) folders = g_strsplit (folder, ":", -1);
  g_autofree char *base = g_path_get_basename (folders[0] != NULL ? folders[0] : "");
  return strcmp (base, "defaults") == 0 ? g_strdup ("calibrations") : g_steal_pointer (&base);
}

/* "topologies/gpus and topologies/nics". Returned: full. */
static char *
name_folders (const char *folder)
{
  g_auto (GStrv) folders = g_strsplit (folder, ":", -1);
  return g_strjoinv (" and ", folders);
}

/* ", but 'forerun list plans' has a 'buy_256_gpus'" where another shipped folder has the name, else "". Returned: full. */
static char *
other_kind (const BaseLookup *lookup, const char *name, const char *folder)
{
  static const char *const tops[] = { "topologies", "scenarios" };
  g_autofree char *file = g_strconcat (name, ".yaml", NULL);
  for (size_t i = 0; i < G_N_ELEMENTS (tops); i++) {
    g_autofree char *top = g_build_filename (lookup->shipped, tops[i], NULL), *path = g_build_filename (top, file, NULL);
    if (g_file_test (path, G_FILE_TEST_EXISTS) && strcmp (tops[i], folder) != 0)
      return g_strdup_printf (", but 'forerun list %s' has a '%s'", tops[i], name);
    g_autoptr (GPtrArray) subs = g_ptr_array_new_with_free_func (g_free);
    g_autoptr (GDir) dir = g_dir_open (top, 0, NULL);
    for (const char *sub; dir != NULL && (sub = g_dir_read_name (dir)) != NULL;)
      g_ptr_array_add (subs, g_strdup (sub));
    g_ptr_array_sort (subs, base_by_text);
    for (guint k = 0; k < subs->len; k++) {
      g_autofree char *inner = g_build_filename (top, subs->pdata[k], file, NULL);
      if (g_file_test (inner, G_FILE_TEST_EXISTS))
        return g_strdup_printf (", but 'forerun list %s' has a '%s'", (const char *)subs->pdata[k], name);
    }
  }
  return g_strdup ("");
}

/* Calls `visit` for each line "ALIAS NAME" of the file "aliases" of a shipped folder, which need not be there, until it returns
 * TRUE. */
static void
visit_aliases (const BaseLookup *lookup, const char *folder, gboolean (*visit) (const char *alias, const char *name, void *data),
               void *data)
{
  g_autofree char *path = g_build_filename (lookup->shipped, folder, "aliases", NULL), *text = NULL;
  gsize n_B;
  if (!base_file_read (path, MAX_ALIASES_B, &text, &n_B, NULL))
    return;
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  for (char **line = lines; *line != NULL; line++) {
    char *blank = strchr (*line, ' ');
    if (**line == '#' || blank == NULL)
      continue;
    *blank = '\0';
    if (visit (*line, g_strstrip (blank + 1), data))
      return;
  }
}

static gboolean
add_alias (const char *alias, const char *name, void *data)
{
  (void)name;
  g_ptr_array_add (data, g_strdup (alias));
  return FALSE;
}

static void
fail_bare (const BaseLookup *lookup, const char *name, const char *folder, const char *beside, GError **error)
{
  g_autofree char *shown = base_text_shown (name);
  g_autofree char *kind = list_kind (folder), *folders = name_folders (folder);
  g_autofree char *other = other_kind (lookup, name, folder);
  g_auto (GStrv) names = base_lookup_list (lookup, folder);
  g_autoptr (GPtrArray) all = g_ptr_array_new_with_free_func (g_free);
  for (char **one = names; *one != NULL; one++)
    g_ptr_array_add (all, g_strdup (*one));
  visit_aliases (lookup, folder, add_alias, all);
  g_ptr_array_add (all, NULL);
  g_autofree char *hint = *other == '\0' ? base_hint (name, (const char *const *)all->pdata) : g_strdup ("");
  base_fail (error, BASE_ERROR_INPUT, "no '%s.yaml' in '%s' nor among the shipped %s%s%s; 'forerun list %s' names them", shown,
             beside, folders, other, hint, kind);
}

typedef struct {
  const char *wanted;
  GString *found;
} AliasSearch;

static gboolean
take_name (const char *alias, const char *name, void *data)
{
  AliasSearch *search = data;
  if (g_ascii_strcasecmp (alias, search->wanted) != 0)
    return FALSE;
  g_string_assign (search->found, name);
  return TRUE;
}

static gboolean
take_alias (const char *alias, const char *name, void *data)
{
  AliasSearch *search = data;
  if (strcmp (name, search->wanted) == 0)
    g_string_append_printf (search->found, "%s%s", search->found->len > 0 ? ", " : "", alias);
  return FALSE;
}

char *
base_lookup_aliases (const BaseLookup *lookup, const char *folder, const char *name)
{
  AliasSearch search = { name, g_string_new (NULL) };
  visit_aliases (lookup, folder, take_alias, &search);
  return g_string_free (search.found, FALSE);
}

/* The shipped file of a name or an alias in one folder, never `from`; NULL: none. Returned: full. */
static char *
find_shipped (const BaseLookup *lookup, const char *name, const char *folder, const char *from)
{
  g_autoptr (GString) real = g_string_new (name);
  for (int aliased = 0; aliased < 2; aliased++) {
    g_autofree char *file = g_strconcat (real->str, ".yaml", NULL);
    g_autofree char *path = g_build_filename (lookup->shipped, folder, file, NULL);
    if (is_other_file (path, from))
      return g_steal_pointer (&path);
    AliasSearch search = { name, real };
    visit_aliases (lookup, folder, take_name, &search);
  }
  return NULL;
}

/* " (did you mean 'x.yaml'?)" of a path that is not there, else "": the same name with another ending, a file of the folder with a
 * similar name, or a shipped file. Returned: full. */
static char *
path_hint (const BaseLookup *lookup, const char *path, const char *folder)
{
  g_autofree char *base = g_path_get_basename (path), *beside = g_path_get_dirname (path), *stem = g_strdup (base);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  if (strrchr (stem, '.') != NULL)
    *strrchr (stem, '.') = '\0';
  g_autoptr (GDir) dir = g_dir_open (beside, 0, NULL);
  for (const char *file; dir != NULL && (file = g_dir_read_name (dir)) != NULL;) {
    g_autofree char *told = base_text_shown (file);
    if (is_path (file) && strcmp (told, file) == 0) /* none whose name no message can show as it is */
      g_ptr_array_add (names, g_strdup (file));
  }
  g_ptr_array_sort (names, base_by_text);
  g_ptr_array_add (names, NULL);
  for (guint i = 0; names->pdata[i] != NULL; i++) {
    const char *ending = strrchr (names->pdata[i], '.');
    if (strlen (stem) == (gsize)(ending - (char *)names->pdata[i]) && g_str_has_prefix (names->pdata[i], stem)) {
      g_autofree char *same = join (beside, names->pdata[i]), *told = base_text_shown (same);
      return g_strdup_printf (" (did you mean '%s'?)", told);
    }
  }
  g_auto (GStrv) folders = g_strsplit (folder, ":", -1);
  for (char **f = folders; strchr (path, '/') == NULL && *f != NULL; f++) {
    g_autofree char *shipped = find_shipped (lookup, stem, *f, NULL);
    if (shipped != NULL)
      return g_strdup_printf (" (did you mean the shipped '%s'? write it without .yaml)", stem);
  }
  return base_hint (base, (const char *const *)names->pdata);
}

char *
base_lookup_find (const BaseLookup *lookup, const char *name, const char *folder, const char *from, GError **error)
{
  g_return_val_if_fail (lookup != NULL && name != NULL && folder != NULL, NULL);
  g_autofree char *beside = folder_of (from);
  if (name[0] == '\0') {
    base_fail (error, BASE_ERROR_INPUT, "an empty name; give a name or a path ending in .yaml");
    return NULL;
  }
  if (is_path (name)) {
    g_autofree char *path = join (beside, name);
    const gboolean is_stdin = from == NULL && strcmp (name, "/dev/stdin") == 0;
    if (!is_stdin && !base_sandbox_may_read (path, error))
      return NULL;
    if (is_other_file (path, NULL))
      return g_steal_pointer (&path);
    g_autofree char *shown = base_text_shown (path), *hint = path_hint (lookup, path, folder);
    base_fail (error, BASE_ERROR_INPUT, "no file '%s'%s%s", shown, hint,
               from != NULL && !g_path_is_absolute (name) ? "; a path is relative to the file that names it" : "");
    return NULL;
  }
  g_autofree char *file = g_strconcat (name, ".yaml", NULL);
  g_autofree char *near = join (beside, file);
  if (is_other_file (near, from))
    return g_steal_pointer (&near);
  g_auto (GStrv) folders = g_strsplit (folder, ":", -1);
  for (char **f = folders; *f != NULL; f++) {
    char *path = find_shipped (lookup, name, *f, from);
    if (path != NULL)
      return path;
  }
  fail_bare (lookup, name, folder, beside, error);
  return NULL;
}
