/* Quantities in every dimension and sizes as flags, on any text: what is accepted is finite, and what is printed comes back. */
#include "base/error.h"
#include "base/units.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static void
check_error (GError *error)
{
  g_assert_nonnull (error);
  g_assert_true (error->domain == BASE_ERROR && g_utf8_validate (error->message, -1, NULL));
  g_assert_null (strchr (error->message, '\n'));
  g_assert_cmpuint (strlen (error->message), <, 2010);
  g_error_free (error);
}

/* 17 digits, a unit's factor and its division back: a few units of the last place, or of the least subnormal. */
static void
check_round_trip (double v, BaseDim dim)
{
  g_autofree char *text = base_quantity_format (v, dim, 17);
  double back = 0;
  GError *error = NULL;
  if (!base_quantity_parse (text, dim, &back, &error))
    g_error ("%.17g is printed as '%s': %s", v, text, error->message);
  if (fabs (back - v) > 1e-15 * fabs (v) + 1e-318)
    g_error ("%.17g is printed as '%s' and read as %.17g", v, text, back);
  for (unsigned digits = 1; digits < 17; digits += 3) {
    g_autofree char *shorter = base_quantity_format (v, dim, digits);
    g_assert_cmpuint (strlen (shorter), <, 64);
  }
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autofree char *text = g_strndup ((const char *)data, size);
  for (int dim = 0; dim < BASE_DIM_N; dim++) {
    double v = 0;
    GError *error = NULL;
    if (!base_quantity_parse (text, (BaseDim)dim, &v, &error)) {
      check_error (error);
      continue;
    }
    g_assert_true (isfinite (v));
    check_round_trip (v, (BaseDim)dim);
  }
  guint64 size_B = 0;
  GError *error = NULL;
  if (!base_size_flag_parse (text, &size_B, &error))
    check_error (error);
  else
    g_assert_cmpuint (size_B, <, (guint64)1 << 53);
  return 0;
}
