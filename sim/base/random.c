#include "base/random.h"
typedef int base_random_empty;
