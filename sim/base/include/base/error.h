/* Error domain shared by every layer. The code decides the exit status; only sim/cli turns one into the other. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <glib.h>

#define BASE_ERROR (base_error_quark ())

/* BASE_ERROR_INPUT:      the user's text, flag or file is wrong            -> exit 2
 * BASE_ERROR_RUN:        the run itself failed (disk full, deadlock, …)    -> exit 1
 * BASE_ERROR_INFEASIBLE: no plan meets the constraints                     -> exit 3 */
typedef enum { BASE_ERROR_INPUT, BASE_ERROR_RUN, BASE_ERROR_INFEASIBLE } BaseError;

GQuark base_error_quark (void);

/* FALSE and *error: one message on one line, whatever the texts in it hold (base_text_escape, base_text_cut). */
gboolean base_fail (GError **error, BaseError code, const char *format, ...) G_GNUC_PRINTF (3, 4);

#endif
