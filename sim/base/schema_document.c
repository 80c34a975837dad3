#include "schema-private.h"
char *
base_schema_document (const BaseSchema *schema)
{
  return g_strdup (schema->name);
}
char *
base_schema_check (const BaseSchema *schema)
{
  (void)schema;
  return NULL;
}
