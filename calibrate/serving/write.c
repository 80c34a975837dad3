/* Fitted times of an engine, as a calibration file: the engine's row with its options and their sources as they stand, and its
 * times on the GPU that was measured beside those of other GPUs. */
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "constants/section.h"
#include "serving/serving-private.h"

/* Digits of values. */
#define DIGITS 4u

/* The field of a key. Borrowed. */
static const BaseField *
field_of (const BaseSchema *schema, const char *key)
{
  const BaseField *field = schema->fields;
  while (strcmp (field->key, key) != 0)
    field++;
  return field;
}

/* In quotes of YAML. */
static void
append_quoted (GString *out, const char *text)
{
  g_string_append_c (out, '"');
  for (const char *p = text; *p != '\0'; p++) {
    if (*p == '"' || *p == '\\')
      g_string_append_c (out, '\\');
    g_string_append_c (out, *p);
  }
  g_string_append_c (out, '"');
}

static void
append_num (GString *out, const BaseField *field, const BaseNum *num)
{
  g_autofree char *value = base_quantity_format (num->v, field->dim, DIGITS);
  g_string_append_printf (out, "%s: {value: %s, source: %s", field->key, value, base_source_name (num->source));
  if (num->note != NULL) {
    g_string_append (out, ", note: ");
    append_quoted (out, num->note);
  }
  g_string_append (out, "}\n");
}

/* Numbers, texts and flags of a struct, a line each; the first is an item of a list. */
static void
append_fields (GString *out, const BaseSchema *schema, const void *of, guint indent)
{
  gboolean first = TRUE;
  for (const BaseField *field = schema->fields; field->key != NULL; field++) {
    const void *at = (const char *)of + field->offset;
    const BaseNum *num = at;
    const BaseStr *text = at;
    const BaseBool *flag = at;
    if (field->kind == BASE_FIELD_LIST || (field->kind == BASE_FIELD_NUM && !num->set))
      continue;
    g_string_append_printf (out, "%*s%s", (int)indent, "", first ? "- " : "  ");
    first = FALSE;
    if (field->kind == BASE_FIELD_NUM)
      append_num (out, field, num);
    else if (field->kind == BASE_FIELD_STR) {
      g_string_append_printf (out, "%s: ", field->key);
      append_quoted (out, text->v);
      g_string_append_c (out, '\n');
    } else
      g_string_append_printf (out, "%s: %s\n", field->key, flag->v ? "yes" : "no");
  }
}

/* `times` with what the fit says of each: value, spread, what it was. Its notes are owned by *notes. */
static MdlEngineTimes
noted (const CalServingFit *fit, const MdlEngineTimes *times, GPtrArray *notes)
{
  MdlEngineTimes out = *times;
  for (guint i = 0; i < fit->constants->len; i++) {
    const CalServingConstant *c = &g_array_index (fit->constants, CalServingConstant, i);
    BaseNum *num = G_STRUCT_MEMBER_P (&out, c->offset);
    if (!c->fitted)
      continue;
    g_autofree char *before = base_quantity_format (c->before, c->dim, DIGITS);
    char *note = g_strdup_printf ("%u runs, +-%.2g %%; was %s", fit->points->len, 100 * expm1 (1.96 * c->error), before);
    g_ptr_array_add (notes, note);
    *num = (BaseNum){ .v = c->after, .set = TRUE, .source = BASE_SOURCE_MEASURED, .note = note };
  }
  out.capability = (BaseNum){ .v = fit->capability, .set = TRUE, .source = BASE_SOURCE_DATASHEET };
  char *note = g_strdup_printf ("90 %% of errors: what %u run%s leave%s, and the row's width before as two more", fit->points->len,
                                fit->points->len == 1 ? "" : "s", fit->points->len == 1 ? "s" : "");
  g_ptr_array_add (notes, note);
  out.error = (BaseNum){ .v = fit->tpot_error, .set = TRUE, .source = BASE_SOURCE_MEASURED, .note = note };
  out.first_error = (BaseNum){ .v = fit->first_error, .set = TRUE, .source = BASE_SOURCE_MEASURED, .note = out.error.note };
  return out;
}

char *
cal_serving_write (const CalServingFit *fit, const char *name, const MdlEngineRow *row, const MdlEngineTimes *times)
{
  const BaseSchema *row_schema = field_of (cst_engines.schema, "rows")->sub, *times_schema = field_of (row_schema, "times")->sub;
  g_autoptr (GPtrArray) notes = g_ptr_array_new_with_free_func (g_free);
  const MdlEngineTimes own = noted (fit, times, notes);
  MdlEngineRow its = *row;
  its.version.v = fit->version;
  GString *out = g_string_new (NULL);
  g_string_append_printf (out, "calibration: %s\n", name);
  g_string_append_printf (out, "summary: times of %s %s, fitted to %u runs by forerun fit\n", fit->engine, fit->version,
                          fit->points->len);
  if (fit->over != NULL)
    g_string_append_printf (out, "over: %s\n", fit->over);
  g_string_append (out, "source: measured\nengines:\n  rows:\n");
  append_fields (out, row_schema, &its, 4);
  g_string_append (out, "      times:\n");
  for (guint i = 0; i < row->times.n; i++) {
    const MdlEngineTimes *other = BASE_LIST_AT (row->times, MdlEngineTimes, i);
    if (fabs (other->capability.v - fit->capability) > 0.5)
      append_fields (out, times_schema, other, 8);
  }
  append_fields (out, times_schema, &own, 8);
  return g_string_free (out, FALSE);
}
