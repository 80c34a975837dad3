/* One call of a reader of measurements: its CSV or its error, and all of its warnings in one text. */
#ifndef MEASURED_FIXTURE_H
#define MEASURED_FIXTURE_H

#include <string.h>

#include "calibrate/import_measured.h"
#include "harness.h"

typedef struct {
  char *csv;      /* NULL: refused */
  char *message;  /* of the error; "" without */
  char *warnings; /* a line each */
} Imported;

typedef char *Reader (const CalText *text, const void *told, GError **error);

static inline Imported
import_text (Reader *reader, const void *told, const char *input)
{
  g_autoptr (BaseDiag) diag = base_diag_new ();
  g_autoptr (GError) error = NULL;
  CalText text = { .path = "f", .bytes = input, .n_B = strlen (input), .warnings = diag };
  Imported result = { .csv = reader (&text, told, &error) };
  TEST_TRUE ((result.csv == NULL) == (error != NULL));
  result.message = g_strdup (error != NULL ? error->message : "");
  GString *warnings = g_string_new (NULL);
  for (unsigned i = 0; i < base_diag_n_warnings (diag); i++)
    g_string_append_printf (warnings, "%s\n", base_diag_warning (diag, i));
  result.warnings = g_string_free (warnings, FALSE);
  return result;
}

static inline void
imported_clear (Imported *imported)
{
  g_free (imported->csv);
  g_free (imported->message);
  g_free (imported->warnings);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Imported, imported_clear)

/* Every row of `rows` is refused with a message that begins so. */
typedef struct {
  const char *input, *message;
} Refusal;

static inline void
test_refusals (Reader *reader, const void *told, const Refusal *rows, guint n)
{
  for (guint i = 0; i < n; i++) {
    g_auto (Imported) got = import_text (reader, told, rows[i].input);
    gboolean good = got.csv == NULL && g_str_has_prefix (got.message, rows[i].message);
    if (!good)
      g_printerr ("%u: '%s' where '%s' is expected\n", i, got.message, rows[i].message);
    TEST_TRUE (good);
    TEST_TRUE (strchr (got.message, '\n') == NULL);
  }
}

#endif
