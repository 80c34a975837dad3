#include "base/output.h"
typedef int base_output_empty;
