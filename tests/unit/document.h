/* A document of docs/ whose reference is printed from schema tables, and whose examples are complete files. */
#ifndef TEST_DOCUMENT_H
#define TEST_DOCUMENT_H

#include <string.h>

#include "base/schema.h"
#include "harness.h"
#include "schema_document.h"

/* What follows a line that begins so is printed. */
#define DOCUMENT_MARK "<!-- From here on printed from the schema tables: "

/* Schemas whose tables another page has; that page is linked to. */
typedef struct {
  const char *page;
  const BaseSchema *const *schemas; /* ends with NULL */
} DocumentOther;

/* The sections of all schemas (ends with NULL), without "## " and empty lines at their ends. Returned: full. */
static inline GPtrArray *
document_sections (const BaseSchema *const *schemas)
{
  g_autofree char *text = schema_documents (schemas);
  g_auto (GStrv) sections = g_strsplit (text, "\n## ", -1);
  GPtrArray *all = g_ptr_array_new_with_free_func (g_free);
  for (char **at = sections; *at != NULL; at++)
    g_ptr_array_add (all, g_strchomp (g_strdup (g_str_has_prefix (*at, "## ") ? *at + strlen ("## ") : *at)));
  return all;
}

/* Links to a section of this page go to the section of another page. */
static inline void
document_link_to (GString *out, const char *page, const char *section)
{
  g_autoptr (GString) anchor = g_string_new (NULL);
  for (const char *p = section; *p != '\0' && *p != '\n'; p++)
    if (g_ascii_isalnum (*p) || *p == '_' || *p == '-' || *p == ' ')
      g_string_append_c (anchor, *p == ' ' ? '-' : g_ascii_tolower (*p));
  g_autofree char *from = g_strdup_printf ("](#%s)", anchor->str), *to = g_strdup_printf ("](%s#%s)", page, anchor->str);
  g_auto (GStrv) parts = g_strsplit (out->str, from, -1);
  g_autofree char *linked = g_strjoinv (to, parts);
  g_string_assign (out, linked);
}

static inline gboolean
document_has (GPtrArray *sections, const char *section)
{
  return g_ptr_array_find_with_equal_func (sections, section, g_str_equal, NULL);
}

/* How the lists are read. Returned: full. */
static inline char *
document_legend (const BaseSchema *const *schemas)
{
  g_autofree char *units = schema_units (schemas);
  return g_strdup_printf (
      "Bold keys are required. `key: value` shows the default. In parentheses: the kind of value (text if absent) and "
      "its limits; limits that no real input reaches are left out.\nA linked key is a mapping, or a list of mappings, of the keys "
      "that the link leads to.%s%s%s\n",
      units[0] != '\0' ? " Units: " : "", units, units[0] != '\0' ? "." : "");
}

/* "## Keys" and the tables of all schemas (ends with NULL), without those that another page has (NULL: none). Returned: full. */
static inline char *
document_reference (const BaseSchema *const *schemas, const DocumentOther *other)
{
  static const BaseSchema *const none[] = { NULL };
  g_autoptr (GPtrArray) sections = document_sections (schemas);
  g_autoptr (GPtrArray) others = document_sections (other != NULL ? other->schemas : none);
  g_autofree char *legend = document_legend (schemas);
  GString *out = g_string_new ("\n## Keys\n\n");
  g_string_append (out, legend);
  for (unsigned i = 0; i < sections->len; i++)
    if (!document_has (others, sections->pdata[i]))
      g_string_append_printf (out, "\n### %s\n", (const char *)sections->pdata[i]);
  for (unsigned i = 0; i < sections->len; i++)
    if (document_has (others, sections->pdata[i]))
      document_link_to (out, other->page, sections->pdata[i]);
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
document_write (const char *path, const BaseSchema *const *schemas, const DocumentOther *other)
{
  g_autofree char *text = document_read (path), *printed = document_reference (schemas, other);
  *document_printed (text) = '\0';
  g_autofree char *all = g_strconcat (text, printed, NULL);
  g_autoptr (GError) error = NULL;
  if (g_file_set_contents (path, all, -1, &error))
    return 0;
  fprintf (stderr, "%s\n", error->message);
  return 1;
}

static inline void
document_check_reference (const char *path, const BaseSchema *const *schemas, const DocumentOther *other)
{
  g_autofree char *text = document_read (path), *printed = document_reference (schemas, other);
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
