/* Any bytes as the output of perftest. */
#include "fuzz_import_measured.h"

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (BaseDiag) diag = base_diag_new ();
  CalText text = { .path = "fuzz", .bytes = (const char *)data, .n_B = size, .warnings = diag };
  GError *error = NULL;
  char *csv = cal_import_perftest (&text, NULL, &error);
  check_import (csv, error);
  check_warnings (diag);
  return 0;
}
