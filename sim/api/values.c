#include "api/values.h"

#include <stdarg.h>
#include <string.h>

#include "models/op.h"

gboolean
fr_fail_of (const char *verb, GError **error, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *what = g_strdup_vprintf (format, args);
  va_end (args);
  base_fail (error, BASE_ERROR_INPUT, "%s%s%s%s", verb != NULL ? "forerun " : "", verb != NULL ? verb : "",
             verb != NULL ? ": " : "", what);
  return FALSE;
}

gboolean
fr_name_value (const char *verb, const char *flag, const char *text, const BaseName *names, int *out, GError **error)
{
  if (text == NULL)
    return TRUE;
  const BaseName *known = base_name_find (names, text);
  if (known != NULL) {
    *out = known->code;
    return TRUE;
  }
  g_autofree char *accepted = base_names_accepted (text, names, names == mdl_algo_names ? "forerun list algorithms" : NULL);
  return fr_fail_of (verb, error, "%s '%s' is not known%s", flag, text, accepted);
}

gboolean
fr_count_value (const char *verb, const char *flag, const char *text, guint64 min, guint64 max, guint64 *out, GError **error)
{
  if (text == NULL)
    return TRUE;
  guint64 value = 0;
  const char *digits = *text == '-' ? text + 1 : text;
  gboolean whole = *digits != '\0' && digits[strspn (digits, "0123456789")] == '\0';
  if (!whole)
    return fr_fail_of (verb, error,
                       "%s '%s' is not a whole number; from %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT " is accepted", flag, text,
                       min, max);
  if (!g_ascii_string_to_unsigned (text, 10, min, max, &value, NULL))
    return fr_fail_of (verb, error, "%s %s is out of range; from %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT " is accepted", flag,
                       text, min, max);
  *out = value;
  return TRUE;
}

gboolean
fr_size_value (const char *verb, const char *flag, const char *text, guint64 *out, GError **error)
{
  if (text == NULL)
    return TRUE;
  GError *why = NULL;
  if (base_size_flag_parse (text, out, &why))
    return TRUE;
  fr_fail_of (verb, error, "%s: %s", flag, why->message);
  g_error_free (why);
  return FALSE;
}
