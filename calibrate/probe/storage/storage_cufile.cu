/* The same file by cuFile (GPUDirect Storage), straight to GPU 0. The library is loaded when it is there; its few types are stated
 * here because its header is a package of its own. Source: cuFile API Reference Guide (docs.nvidia.com/gpudirect-storage),
 * cuFileDriverOpen, cuFileHandleRegister, cuFileBufRegister, cuFileRead, cuFileWrite. Whether the transfer really bypasses the host
 * is the driver's choice: where it cannot, the library copies through host memory (its compatibility mode). */
#include "storage.h"

#include <dlfcn.h>
#include <errno.h>
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

static bool
move (void *user, unsigned thread, bool write, size_t block_B, size_t offset_B)
{
  CuFile *cufile = (CuFile *)user;
  static thread_local bool set; /* the GPU, once a thread */
  if (!set) {
    if (!PROBE_CUDA (cudaSetDevice (0)))
      return false;
    set = true;
  }
  off_t at = (off_t)(thread * STORAGE_BLOCK_MOST_B);
  ssize_t n = write ? cufile->write (cufile->handle, cufile->memory, block_B, (off_t)offset_B, at)
                    : cufile->read (cufile->handle, cufile->memory, block_B, (off_t)offset_B, at);
  return n == (ssize_t)block_B || probe_fail ("%s", strerror (EIO));
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
  if (!move (cufile, 0, false, STORAGE_BLOCK_MOST_B, 0) ||
      pread (storage->fd, storage->buffer[0], STORAGE_BLOCK_MOST_B, 0) != (ssize_t)STORAGE_BLOCK_MOST_B ||
      !PROBE_CUDA (cudaMemcpy (storage->buffer[1], cufile->memory, STORAGE_BLOCK_MOST_B, cudaMemcpyDeviceToHost)))
    return false;
  return memcmp (storage->buffer[0], storage->buffer[1], STORAGE_BLOCK_MOST_B) == 0;
}

static bool
open_cufile (Storage *storage, CuFile *cufile)
{
  cufile->library = dlopen ("libcufile.so.0", RTLD_NOW | RTLD_LOCAL);
  if (cufile->library == NULL)
    return probe_fail ("libcufile.so.0 is not here (package libcufile or gds-tools)");
  if (!find_all (cufile))
    return probe_fail ("libcufile.so.0 lacks functions that are needed");
  CuFileError error = cufile->driver_open ();
  cufile->is_driver_open = error.error == CUFILE_SUCCESS;
  if (!cufile->is_driver_open)
    return probe_fail ("cuFileDriverOpen fails with %d: is the nvidia-fs module loaded?", error.error);
  CuFileDescription description;
  memset (&description, 0, sizeof description);
  description.type = CUFILE_TYPE_FD;
  description.handle.fd = storage->fd;
  error = cufile->handle_register (&cufile->handle, &description);
  if (error.error != CUFILE_SUCCESS) {
    cufile->handle = NULL;
    return probe_fail ("cuFileHandleRegister fails with %d: the file system is not one that it serves", error.error);
  }
  size_t bytes = CUFILE_THREADS * STORAGE_BLOCK_MOST_B;
  if (!PROBE_CUDA (cudaSetDevice (0)) || !PROBE_CUDA (cudaMalloc (&cufile->memory, bytes)) ||
      !PROBE_CUDA (cudaMemset (cufile->memory, 0, bytes)) || !PROBE_CUDA (cudaDeviceSynchronize ()))
    return false;
  error = cufile->buffer_register (cufile->memory, bytes, 0);
  cufile->is_registered = error.error == CUFILE_SUCCESS;
  if (!cufile->is_registered)
    return probe_fail ("cuFileBufRegister fails with %d", error.error);
  return reads_right (storage, cufile) || probe_fail ("wrong data: the GPU does not get what the host reads");
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
  Probe *probe = storage->probe;
  CuFile cufile = CuFile ();
  if (probe_stopped (probe))
    return;
  bool ok = probe_options (probe)->list || open_cufile (storage, &cufile);
  if (!ok)
    probe_skip (probe, probe_case ("storage", "read", { { "path", "cufile" } }), probe_why ());
  for (bool write : { false, true })
    for (size_t block_B : blocks)
      for (unsigned n : threads) {
        const StorageCase c = { "cufile", move, &cufile, write, false, n, block_B };
        if (ok)
          storage_measure (storage, &c);
      }
  if (!probe_options (probe)->list)
    close_cufile (&cufile);
}
