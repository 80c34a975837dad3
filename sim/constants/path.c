/* Constants by the keys that a calibration file names them by: "ring.nvlink.ll.latency". */
#include <string.h>

#include "constants/section.h"

static const BaseField *
find_field (const BaseSchema *schema, const char *key)
{
  for (const BaseField *field = schema->fields; field->key != NULL; field++)
    if (base_field_is (field, key))
      return field;
  return NULL;
}

const BaseField *
cst_path_find (const BaseSchema *schema, const char *path, gsize *offset)
{
  gsize at = 0;
  for (const char *key = path;;) {
    const char *dot = strchr (key, '.');
    g_autofree char *name = g_strndup (key, dot != NULL ? (gsize)(dot - key) : strlen (key));
    const BaseField *field = find_field (schema, name);
    if (field == NULL || field->kind != (dot != NULL ? BASE_FIELD_MAP : BASE_FIELD_NUM))
      return NULL;
    at += field->offset;
    if (dot == NULL) {
      *offset = at;
      return field;
    }
    schema = field->sub;
    key = dot + 1;
  }
}
