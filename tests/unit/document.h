/* A document of docs/ whose reference is printed from schema tables, and whose examples are complete files. */
#ifndef TEST_DOCUMENT_H
#define TEST_DOCUMENT_H

#include <string.h>

#include "base/schema.h"
#include "harness.h"

/* What follows a line that begins so is printed. */
#define DOCUMENT_MARK "<!-- From here on printed from the schema tables: "

/* A schema's sections, without those that are there already. */
static inline void
document_add_schema (GString *out, GHashTable *seen, const BaseSchema *schema)
{
  g_autofree char *text = base_schema_document (schema);
  g_auto (GStrv) sections = g_strsplit (text, "\n## ", -1);
  for (char **at = sections; *at != NULL; at++) {
    const char *section = at == sections && g_str_has_prefix (*at, "## ") ? *at + strlen ("## ") : *at;
    g_autofree char *heading = g_strndup (section, strcspn (section, "\n"));
    if (!g_hash_table_add (seen, g_steal_pointer (&heading)))
      continue;
    g_string_append_printf (out, "\n### %s", section);
    while (out->len > 0 && out->str[out->len - 1] == '\n')
      g_string_truncate (out, out->len - 1);
    g_string_append_c (out, '\n');
  }
}

/* "## Keys" and the tables of all schemas (ends with NULL). Returned: full. */
static inline char *
document_reference (const BaseSchema *const *schemas)
{
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  GString *out = g_string_new ("\n## Keys\n");
  for (; *schemas != NULL; schemas++)
    document_add_schema (out, seen, *schemas);
  return g_string_free (out, FALSE);
}

/* Returned: full; the test ends when the file cannot be read. */
static inline char *
document_read (const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;
  if (!g_file_get_contents (path, &text, NULL, &error))
    g_error ("%s", error->message);
  return g_strdup (text); /* gcc 12 takes what strstr finds in the text itself for a pointer to the variable */
}

/* Where the printed part of a document begins; the test ends when it has none. */
static inline char *
document_printed (char *text)
{
  char *mark = strstr (text, DOCUMENT_MARK), *line = mark != NULL ? strchr (mark, '\n') : NULL;
  if (line == NULL)
    g_error ("a document without a line '%s…'", DOCUMENT_MARK);
  return line + 1;
}

static inline int
document_write (const char *path, const BaseSchema *const *schemas)
{
  g_autofree char *text = document_read (path), *printed = document_reference (schemas);
  *document_printed (text) = '\0';
  g_autofree char *all = g_strconcat (text, printed, NULL);
  g_autoptr (GError) error = NULL;
  if (g_file_set_contents (path, all, -1, &error))
    return 0;
  fprintf (stderr, "%s\n", error->message);
  return 1;
}

static inline void
document_check_reference (const char *path, const BaseSchema *const *schemas)
{
  g_autofree char *text = document_read (path), *printed = document_reference (schemas);
  gboolean same = strcmp (document_printed (text), printed) == 0;
  if (!same)
    fprintf (stderr, "%s is not what the tables print; this test with --write renews it\n", path);
  TEST_TRUE (same);
}

/* The next ```yaml block from *at on, which moves behind it. Returned: full; NULL at the end. */
static inline char *
document_next_example (const char **at)
{
  const char *begin = strstr (*at, "```yaml\n");
  if (begin == NULL)
    return NULL;
  begin += strlen ("```yaml\n");
  const char *end = strstr (begin, "```");
  if (end == NULL)
    g_error ("a ```yaml block without an end");
  *at = end;
  return g_strndup (begin, (gsize)(end - begin));
}

#endif
