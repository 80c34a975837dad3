/* Any bytes as the matrix of `nvidia-smi topo -m`. */
#include "fuzz_import.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  import_and_load (clu_import_nvidia_smi_topo, "fuzz.txt", data, size, NULL);
  import_and_load (clu_import_nvidia_smi_topo, "fuzz.txt", data, size, "a100_80_sxm");
  return 0;
}
