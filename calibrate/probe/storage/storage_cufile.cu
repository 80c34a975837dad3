/* The same file by cuFile (GPUDirect Storage), straight to GPU 0. The library is loaded when it is there; its few types are stated
 * here because its header is a package of its own. Source: cuFile API Reference Guide (docs.nvidia.com/gpudirect-storage),
 * cuFileDriverOpen, cuFileHandleRegister, cuFileBufRegister, cuFileRead, cuFileWrite. Whether the transfer really bypasses the host
 * is the driver's choice: where it cannot, the library copies through host memory (its compatibility mode). */
#include "storage.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define CUFILE_SUCCESS 0
#define CUFILE_TYPE_FD 1 /* CU_FILE_HANDLE_TYPE_OPAQUE_FD */

typedef struct {
  int error, cuda_error;
} CuFileError;

typedef struct {
  int type;
  union {
    int fd;
    void *handle;
  } handle;
  const void *operations;
} CuFileDescription;

typedef struct {
  void *library, *handle;
  bool is_driver_open;
  char *memory; /* on GPU 0, a block a thread */
  bool is_registered;
  CuFileError (*driver_open) (void);
  CuFileError (*driver_close) (void);
  CuFileError (*handle_register) (void **, CuFileDescription *);
  void (*handle_deregister) (void *);
  CuFileError (*buffer_register) (const void *, size_t, int);
  CuFileError (*buffer_deregister) (const void *);
  ssize_t (*read) (void *, void *, size_t, off_t, off_t);
  ssize_t (*write) (void *, const void *, size_t, off_t, off_t);
} CuFile;

#define CUFILE_THREADS 8

static int
move (void *user, unsigned thread, bool write, size_t block_B, size_t offset_B)
{
  CuFile *cufile = (CuFile *)user;
  static thread_local bool set; /* the GPU, once a thread */
  if (!set) {
    if (!PROBE_CUDA (cudaSetDevice (0)))
      return EIO;
    set = true;
  }
  off_t at = (off_t)(thread * STORAGE_BLOCK_MOST_B);
  ssize_t n = write ? cufile->write (cufile->handle, cufile->memory, block_B, (off_t)offset_B, at)
                    : cufile->read (cufile->handle, cufile->memory, block_B, (off_t)offset_B, at);
  return n == (ssize_t)block_B ? 0 : EIO;
}

static bool
find_all (CuFile *cufile)
{
  const struct {
    const char *name;
    void **at;
  } symbols[] = { { "cuFileDriverOpen", (void **)&cufile->driver_open },
                  { "cuFileHandleRegister", (void **)&cufile->handle_register },
                  { "cuFileHandleDeregister", (void **)&cufile->handle_deregister },
                  { "cuFileBufRegister", (void **)&cufile->buffer_register },
                  { "cuFileBufDeregister", (void **)&cufile->buffer_deregister },
                  { "cuFileRead", (void **)&cufile->read },
                  { "cuFileWrite", (void **)&cufile->write } };
  for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
    *symbols[i].at = dlsym (cufile->library, symbols[i].name);
    if (*symbols[i].at == NULL)
      return false;
  }
  cufile->driver_close = (CuFileError (*) (void))dlsym (cufile->library, "cuFileDriverClose");
  return true;
}

/* What the GPU gets is what the host reads. */
static bool
reads_right (Storage *storage, CuFile *cufile)
{
  if (move (cufile, 0, false, STORAGE_BLOCK_MOST_B, 0) != 0 ||
      pread (storage->fd, storage->buffer[0], STORAGE_BLOCK_MOST_B, 0) != (ssize_t)STORAGE_BLOCK_MOST_B ||
      !PROBE_CUDA (cudaMemcpy (storage->buffer[1], cufile->memory, STORAGE_BLOCK_MOST_B, cudaMemcpyDeviceToHost)))
    return false;
  return memcmp (storage->buffer[0], storage->buffer[1], STORAGE_BLOCK_MOST_B) == 0;
}

/* NULL: all is ready. */
static const char *
open_cufile (Storage *storage, CuFile *cufile)
{
  static char text[160];
  cufile->library = dlopen ("libcufile.so.0", RTLD_NOW | RTLD_LOCAL);
  if (cufile->library == NULL)
    return "libcufile.so.0 is not here (package libcufile or gds-tools)";
  if (!find_all (cufile))
    return "libcufile.so.0 lacks functions that are needed";
  CuFileError error = cufile->driver_open ();
  cufile->is_driver_open = error.error == CUFILE_SUCCESS;
  if (!cufile->is_driver_open) {
    snprintf (text, sizeof text, "cuFileDriverOpen fails with %d: is the nvidia-fs module loaded?", error.error);
    return text;
  }
  CuFileDescription description;
  memset (&description, 0, sizeof description);
  description.type = CUFILE_TYPE_FD;
  description.handle.fd = storage->fd;
  error = cufile->handle_register (&cufile->handle, &description);
  if (error.error != CUFILE_SUCCESS) {
    cufile->handle = NULL;
    snprintf (text, sizeof text, "cuFileHandleRegister fails with %d: the file system is not one that it serves", error.error);
    return text;
  }
  size_t bytes = CUFILE_THREADS * STORAGE_BLOCK_MOST_B;
  if (!PROBE_CUDA (cudaSetDevice (0)) || !PROBE_CUDA (cudaMalloc (&cufile->memory, bytes)) ||
      !PROBE_CUDA (cudaMemset (cufile->memory, 0, bytes)) || !PROBE_CUDA (cudaDeviceSynchronize ()))
    return probe_cuda_error ();
  error = cufile->buffer_register (cufile->memory, bytes, 0);
  cufile->is_registered = error.error == CUFILE_SUCCESS;
  if (!cufile->is_registered) {
    snprintf (text, sizeof text, "cuFileBufRegister fails with %d", error.error);
    return text;
  }
  return reads_right (storage, cufile) ? NULL : "wrong data: the GPU does not get what the host reads";
}

static void
close_cufile (CuFile *cufile)
{
  if (cufile->is_registered)
    cufile->buffer_deregister (cufile->memory);
  if (cufile->memory != NULL)
    cudaFree (cufile->memory);
  if (cufile->handle != NULL)
    cufile->handle_deregister (cufile->handle);
  if (cufile->is_driver_open && cufile->driver_close != NULL)
    cufile->driver_close (); /* the library itself stays loaded: its threads may still be on their way out */
}

void
storage_cufile (Storage *storage)
{
  static const unsigned threads[] = { 1, CUFILE_THREADS };
  static const size_t blocks[] = { (size_t)1 << 16, (size_t)1 << 20, STORAGE_BLOCK_MOST_B };
  static const char *const what[2] = { "read", "write" };
  Probe *probe = storage->probe;
  CuFile cufile;
  memset (&cufile, 0, sizeof cufile);
  const char *why = NULL;
  if (probe_stopped (probe))
    return;
  if (!probe_listing (probe) && (why = open_cufile (storage, &cufile)) != NULL) {
    ProbeCase *c = probe_case (probe, "storage", "read");
    probe_text (c, "path", "cufile");
    probe_skip (probe, c, why);
  }
  for (int write = 0; write < 2 && why == NULL; write++)
    for (size_t b = 0; b < sizeof blocks / sizeof blocks[0]; b++)
      for (size_t t = 0; t < sizeof threads / sizeof threads[0]; t++)
        if (probe_selected (probe, "storage", what[write]))
          storage_measure (storage, "cufile", move, &cufile, write == 1, false, threads[t], blocks[b]);
  if (!probe_listing (probe))
    close_cufile (&cufile);
}
