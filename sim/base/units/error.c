#include "base/error.h"

GQuark
base_error_quark (void)
{
  return g_quark_from_static_string ("base-error-quark");
}
