/* Any bytes as the output of the OSU Micro-Benchmarks. */
#include "fuzz_import_measured.h"

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (BaseDiag) diag = base_diag_new ();
  CalText text = { .path = "fuzz", .bytes = (const char *)data, .n_B = size, .warnings = diag };
  CalFileInfo told = CAL_FILE_INFO_NONE;
  told.nodes = told.gpus = 2;
  GError *error = NULL;
  char *csv = cal_import_osu (&text, &told, &error);
  check_import (csv, error);
  check_warnings (diag);
  return 0;
}
