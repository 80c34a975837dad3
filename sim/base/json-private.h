#ifndef BASE_JSON_PRIVATE_H
#define BASE_JSON_PRIVATE_H

#include "base/json.h"

/* Whether a text is within its limits on values and levels, and ends outside of lists and mappings. `first`: of the first list or
 * mapping that it holds; *end is the offset behind it. FALSE and *error otherwise. */
gboolean base_json_scan (const BaseJsonText *text, gboolean first, gsize *end, GError **error);

#endif
