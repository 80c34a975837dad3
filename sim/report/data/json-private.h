/* Members of the open object, and small printing helpers of this layer. */
#ifndef REPORT_JSON_PRIVATE_H
#define REPORT_JSON_PRIVATE_H

#include <json-glib/json-glib.h>

#include "base/table.h"
#include "base/units.h"

void rep_json_text (JsonBuilder *json, const char *key, const char *text); /* NULL: null; invalid UTF-8 is replaced */
void rep_json_number (JsonBuilder *json, const char *key, double value);   /* NaN, infinity: null */
void rep_json_integer (JsonBuilder *json, const char *key, gint64 value);
void rep_json_null (JsonBuilder *json, const char *key);
void rep_json_table (JsonBuilder *json, const char *key, const BaseTable *table);

/* "450 GB/s" with five digits; "-" for NaN and infinity. Returned: full, g_free. */
char *rep_quantity (double value, BaseDim dim);

#endif
