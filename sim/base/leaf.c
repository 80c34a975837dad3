#include "base/leaf.h"

const char *
base_source_name (BaseSource source)
{
  static const char *const names[BASE_SOURCE_N] = { "assumed", "datasheet", "measured" };
  g_return_val_if_fail ((unsigned)source < BASE_SOURCE_N, "assumed");
  return names[source];
}
