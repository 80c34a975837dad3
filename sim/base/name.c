#include <string.h>

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
