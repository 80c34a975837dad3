/* Members of the open object, tables that are printed and gone, and values in sentences. */
#ifndef REPORT_JSON_PRIVATE_H
#define REPORT_JSON_PRIVATE_H

#include <json-glib/json-glib.h>

#include "base/member.h"
#include "base/units.h"

void rep_json_text (JsonBuilder *json, const char *key, const char *text);          /* NULL: null; invalid UTF-8 is replaced */
void rep_json_texts (JsonBuilder *json, const char *key, const char *const *texts); /* an array; `texts` ends with NULL */
void rep_json_number (JsonBuilder *json, const char *key, double value);            /* NaN, infinity: null */
void rep_json_integer (JsonBuilder *json, const char *key, gint64 value);
void rep_json_null (JsonBuilder *json, const char *key);

/* These take the table. */
void rep_json_table (JsonBuilder *json, const char *key, BaseTable *table); /* an array of objects */
void rep_tsv (BaseTable *table, GString *out);
void rep_text (BaseTable *table, GString *out);

/* "450 GB/s" with five digits; "-" for NaN and infinity. Returned: full, g_free. */
char *rep_quantity (double value, BaseDim dim);
/* "12.3 us (11.9 us to 12.8 us)", or "12.3 us" without a band. Returned: full. */
char *rep_band (double value_s, double lo_s, double hi_s);

/* `text` with values of `of` in place of what stands in braces: {time_s} is a quantity with its unit, "-" where it is null;
 * {mfu*100:%.1f} a number times a factor in a format of its own; {tokens_per_s:,} "114,500"; {nodes#node} "1 node", "2 nodes". */
void rep_say (GString *out, const BaseMember *members, const void *of, const char *text);

#endif
