/* Any bytes as nccl-tests' text and JSON: with what a user says of them, and without. */
#include "fuzz_import_measured.h"

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  static const CalFileInfo told[] = {
    { .op = -1, .algo = -1, .proto = -1, .launch = -1 },
    { .op = MDL_OP_ALL_REDUCE, .algo = MDL_ALGO_RING, .algo_set = TRUE, .proto = -1, .launch = 0, .gpus = 4, .nccl = "2.28.9" },
    { .op = MDL_OP_ALLTOALL, .algo = -1, .proto = -1, .launch = -1, .nodes = 2 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (told); i++) {
    g_autoptr (BaseDiag) diag = base_diag_new ();
    CalText text = { .path = "fuzz", .bytes = (const char *)data, .n_B = size, .warnings = diag };
    GError *error = NULL;
    char *csv = cal_import_nccl_tests (&text, &told[i], &error);
    check_import (csv, error);
    check_warnings (diag);
  }
  return 0;
}
