/* Any bytes as a topology XML of NCCL. */
#include "fuzz_import.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  import_and_load (clu_import_nccl_topo, "fuzz.xml", data, size, NULL);
  import_and_load (clu_import_nccl_topo, "fuzz.xml", data, size, "a100_80_sxm");
  return 0;
}
