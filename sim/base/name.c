#include <string.h>

#include "base/lookup.h"
#include "base/schema.h"

const BaseName *
base_name_find (const BaseName *table, const char *name)
{
  for (const BaseName *row = table; row->name != NULL; row++)
    if (strcmp (row->name, name) == 0)
      return row;
  return NULL;
}

const char *
base_name (const BaseName *table, int code)
{
  for (const BaseName *row = table; row->name != NULL; row++)
    if (row->code == code)
      return row->name;
  return "?";
}

const char **
base_names (const BaseName *table)
{
  unsigned n = 0;
  while (table[n].name != NULL)
    n++;
  const char **names = g_new0 (const char *, n + 1);
  for (unsigned i = 0; i < n; i++)
    names[i] = table[i].name;
  return names;
}

char *
base_names_join (const BaseName *table)
{
  g_autofree const char **names = base_names (table);
  return g_strjoinv (", ", (char **)names);
}

char *
base_names_accepted (const char *word, const BaseName *table, const char *command)
{
  g_autofree const char **names = base_names (table);
  return base_accepted (word, names, command);
}
