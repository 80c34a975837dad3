#include "base/schema.h"

const BaseName base_source_names[] = {
  { "measured", BASE_SOURCE_MEASURED, "read off measurements" },
  { "datasheet", BASE_SOURCE_DATASHEET, "published by the maker" },
  { "assumed", BASE_SOURCE_ASSUMED, "taken from something similar" },
  { NULL, 0, NULL },
};

const char *
base_source_name (BaseSource source)
{
  g_return_val_if_fail ((unsigned)source < BASE_SOURCE_N, "assumed");
  return base_name (base_source_names, (int)source);
}
