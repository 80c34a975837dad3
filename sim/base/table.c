#include "base/table.h"
typedef int base_table_empty;
