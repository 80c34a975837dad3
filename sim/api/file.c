/* Changed keys, and files with them. */
#include <string.h>

#include "api-private.h"

GPtrArray *
fr_sets_new (void)
{
  GPtrArray *sets = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (sets, NULL);
  return sets;
}

bool
fr_sets_add (GPtrArray *sets, const char *path, const char *value, FrError **error)
{
  if (path == NULL || value == NULL)
    return fr_fail (error, "a path and a value are needed");
  if (*path == '\0' || strchr (path, '=') != NULL)
    return fr_fail (error, "'%s' is not a path; keys joined by dots are accepted, as in 'cluster.nodes'", path);
  g_ptr_array_insert (sets, (gint)sets->len - 1, g_strdup_printf ("%s=%s", path, value));
  return true;
}

static void
begin (FrFile *file, FrSession *session, const char *name)
{
  file->session = fr_session_ref (session);
  file->name = g_strdup (name);
  file->sets = fr_sets_new ();
}

bool
fr_file_load (FrFile *file, FrSession *session, const char *name, FrFind find, FrError **error)
{
  if (session == NULL || name == NULL)
    return fr_fail (error, "a session and the name of a file are needed");
  GError *why = NULL;
  char *path = find (session->lookup, name, &why);
  if (path == NULL)
    return fr_error_take (error, why);
  begin (file, session, name);
  file->path = path;
  return true;
}

bool
fr_file_parse (FrFile *file, FrSession *session, const char *text, FrError **error)
{
  if (session == NULL || text == NULL)
    return fr_fail (error, "a session and a text are needed");
  begin (file, session, "-");
  file->path = g_strdup ("text");
  file->text = g_strdup (text);
  return true;
}

void
fr_file_clear (FrFile *file)
{
  g_ptr_array_unref (file->sets);
  g_free (file->text);
  g_free (file->path);
  g_free (file->name);
  fr_session_free (file->session);
}
