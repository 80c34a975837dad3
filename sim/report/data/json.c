#include "json-private.h"

#include <math.h>

void
rep_json_text (JsonBuilder *json, const char *key, const char *text)
{
  json_builder_set_member_name (json, key);
  if (text == NULL) {
    json_builder_add_null_value (json);
    return;
  }
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  json_builder_add_string_value (json, valid);
}

void
rep_json_number (JsonBuilder *json, const char *key, double value)
{
  json_builder_set_member_name (json, key);
  base_json_add_number (json, value);
}

void
rep_json_integer (JsonBuilder *json, const char *key, gint64 value)
{
  json_builder_set_member_name (json, key);
  json_builder_add_int_value (json, value);
}

void
rep_json_null (JsonBuilder *json, const char *key)
{
  json_builder_set_member_name (json, key);
  json_builder_add_null_value (json);
}

void
rep_json_table (JsonBuilder *json, const char *key, const BaseTable *table)
{
  json_builder_set_member_name (json, key);
  base_table_build_json (table, json);
}

char *
rep_quantity (double value, BaseDim dim)
{
  return isfinite (value) ? base_quantity_format (value, dim, 5) : g_strdup ("-");
}
