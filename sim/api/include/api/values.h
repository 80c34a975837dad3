/* Values of flags and options. `text` NULL leaves *out as it is; messages begin with "forerun VERB: ", where there is a verb, and
 * the flag. FALSE and *error (BASE_ERROR_INPUT) on a value that is not accepted. */
#ifndef API_VALUES_H
#define API_VALUES_H

#include "base/diag.h"
#include "base/schema.h"

gboolean fr_fail_of (const char *verb, GError **error, const char *format, ...) G_GNUC_PRINTF (3, 4);
gboolean fr_name_value (const char *verb, const char *flag, const char *text, const BaseName *names, int *out, GError **error);
gboolean fr_count_value (const char *verb, const char *flag, const char *text, guint64 min, guint64 max, guint64 *out,
                         GError **error);
gboolean fr_size_value (const char *verb, const char *flag, const char *text, guint64 *out, GError **error);

#endif
