/* What readers of measurements promise for any bytes: a message on one line, or CSV whose rows have as many cells as its header. */
#ifndef FUZZ_IMPORT_MEASURED_H
#define FUZZ_IMPORT_MEASURED_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/import_measured.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static inline guint
commas_of_line (const char **at)
{
  guint n = 0;
  for (; **at != '\n'; (*at)++) {
    g_assert_cmpint (**at, !=, '\0');
    n += **at == ',';
  }
  (*at)++;
  return n;
}

static inline void
check_import (char *csv, GError *error)
{
  g_assert_true ((csv == NULL) != (error == NULL));
  if (error != NULL) {
    g_assert_true (g_error_matches (error, BASE_ERROR, (gint)BASE_ERROR_INPUT));
    g_assert_true (strchr (error->message, '\n') == NULL && g_str_has_prefix (error->message, "fuzz"));
    g_error_free (error);
    return;
  }
  const char *at = csv;
  guint n = commas_of_line (&at), rows = 0;
  for (; *at != '\0'; rows++)
    g_assert_cmpuint (commas_of_line (&at), ==, n);
  g_assert_cmpuint (rows, >, 0);
  g_assert_true (g_utf8_validate (csv, -1, NULL));
  g_free (csv);
}

static inline void
check_warnings (const BaseDiag *diag)
{
  for (unsigned i = 0; i < base_diag_n_warnings (diag); i++)
    g_assert_true (strchr (base_diag_warning (diag, i), '\n') == NULL);
}

#endif
