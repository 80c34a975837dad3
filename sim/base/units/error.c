#include "base/error.h"

#include <stdarg.h>

#include "base/text.h"

GQuark
base_error_quark (void)
{
  return g_quark_from_static_string ("base-error-quark");
}

gboolean
base_fail (GError **error, BaseError code, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *text = g_strdup_vprintf (format, args), *line = base_text_cut (base_text_escape (text, ""));
  va_end (args);
  g_set_error_literal (error, BASE_ERROR, (int)code, line);
  return FALSE;
}
