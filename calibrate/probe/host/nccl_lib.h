/* NCCL by dlopen. Its functions are called by their own names of nccl.h, which nccl_lib.cu defines and forwards: the program builds
 * with the header alone, and says at run time where the library is missing. A function that is not forwarded does not link: add
 * it there. */
#ifndef FORERUN_PROBE_NCCL_LIB_H
#define FORERUN_PROBE_NCCL_LIB_H

#include <nccl.h>
#include <stdbool.h>
#include <stddef.h>

/* Once for the program; later calls say how the first ended. `path` NULL: the usual names. Without it the first call of NCCL opens
 * it by the usual names; where it cannot be had, every call returns ncclSystemError. */
bool nccl_lib_open (const char *path);
/* "2.28.9"; "" where it is not open. */
void nccl_lib_version (char *out, size_t size);

#endif
