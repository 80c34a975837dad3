/* Collects all that is wrong with an input, so that a user mends it in one go.
 * Messages read `path:line:column: what is wrong; what is accepted`. */
#ifndef BASE_DIAG_H
#define BASE_DIAG_H

#include "base/error.h"
#include "base/mark.h"

/* Errors kept per file; the rest are distinguished by their place, and only counted. */
#define BASE_DIAG_MAX_ERRORS 20

typedef struct BaseDiag BaseDiag;

/* Returned: full, free with base_diag_free. */
BaseDiag *base_diag_new (void);
void base_diag_free (BaseDiag *diag);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (BaseDiag, base_diag_free)

void base_diag_error (BaseDiag *diag, BaseMark mark, const char *format, ...) G_GNUC_PRINTF (3, 4);
void base_diag_warn (BaseDiag *diag, BaseMark mark, const char *format, ...) G_GNUC_PRINTF (3, 4);

/* Adds a ready message (a GError of another layer); the mark is put in front when it has a file. Does not take `error`. */
void base_diag_add_error (BaseDiag *diag, BaseMark mark, const GError *error);

unsigned base_diag_n_errors (const BaseDiag *diag);
unsigned base_diag_n_warnings (const BaseDiag *diag);
/* Borrowed, valid as long as diag. `i` below base_diag_n_warnings; warnings are deduplicated and kept in order. */
const char *base_diag_warning (const BaseDiag *diag, unsigned i);

/* FALSE and *error (BASE_ERROR_INPUT; one message a line, then "N errors, nothing was run") if any error was added. */
gboolean base_diag_finish (const BaseDiag *diag, GError **error);

/* FALSE and *error (BASE_ERROR_INPUT): one message, on one line, with its place in front. For a reader that stops at the first. */
gboolean base_fail_at (GError **error, BaseMark mark, const char *format, ...) G_GNUC_PRINTF (3, 4);

/* "path:line:column: ", shorter where column, line or file are not known; returned: full, g_free. */
char *base_mark_prefix (BaseMark mark);

#endif
