/* Constants by the keys that a calibration file would name them by: "ring.nvlink.ll.latency". */
#include <math.h>
#include <string.h>

#include "base/leaf.h"
#include "calibrate/solve.h"

static const BaseField *
find_field (const BaseSchema *schema, const char *key, gsize length)
{
  for (const BaseField *field = schema->fields; field->key != NULL; field++)
    if (strlen (field->key) == length && strncmp (field->key, key, length) == 0)
      return field;
  return NULL;
}

gboolean
cal_constant_find (const BaseSchema *schema, const void *section, const char *path, CalFitConstant *out)
{
  *out = (CalFitConstant){ .path = path, .max = HUGE_VAL, .half_width = (double)NAN, .verdict = CAL_UNSEEN };
  for (const char *key = path;;) {
    const char *dot = strchr (key, '.');
    const BaseField *field = find_field (schema, key, dot != NULL ? (gsize)(dot - key) : strlen (key));
    if (field == NULL || field->kind != (dot != NULL ? BASE_FIELD_MAP : BASE_FIELD_NUM))
      return FALSE;
    out->offset += field->offset;
    if (dot == NULL) {
      const BaseNum *now = (const BaseNum *)(const void *)((const char *)section + out->offset);
      out->dim = field->dim;
      out->before = out->after = out->base = now->v;
      return (field->min == NULL || base_quantity_parse (field->min, field->dim, &out->min, NULL)) &&
             (field->max == NULL || base_quantity_parse (field->max, field->dim, &out->max, NULL));
    }
    schema = field->sub;
    key = dot + 1;
  }
}
