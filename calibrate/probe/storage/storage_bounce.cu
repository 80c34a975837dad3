/* The same file into GPU 0 by way of the host: each thread reads a block into pinned memory, copies it to the GPU and waits; writes
 * go the other way. What GPUDirect Storage saves is the difference to it. */
#include "storage.h"

#include <string.h>
#include <unistd.h>

#define BOUNCE_THREADS 8

typedef struct {
  Storage *storage;
  char *memory; /* on GPU 0, a block a thread */
  cudaStream_t stream[BOUNCE_THREADS];
  unsigned n_registered; /* of the storage's buffers */
} Bounce;

static bool
move (void *user, unsigned thread, bool write, size_t block_B, size_t offset_B)
{
  Bounce *b = (Bounce *)user;
  static thread_local bool set; /* the GPU, once a thread */
  if (!set && !PROBE_CUDA (cudaSetDevice (0)))
    return false;
  set = true;
  char *host = b->storage->buffer[thread], *there = b->memory + thread * STORAGE_BLOCK_MOST_B;
  cudaStream_t stream = b->stream[thread];
  if (!write)
    return storage_move_host (b->storage, thread, false, block_B, offset_B) &&
           PROBE_CUDA (cudaMemcpyAsync (there, host, block_B, cudaMemcpyHostToDevice, stream)) &&
           PROBE_CUDA (cudaStreamSynchronize (stream));
  return PROBE_CUDA (cudaMemcpyAsync (host, there, block_B, cudaMemcpyDeviceToHost, stream)) &&
         PROBE_CUDA (cudaStreamSynchronize (stream)) && storage_move_host (b->storage, thread, true, block_B, offset_B);
}

/* What the GPU gets is what the host reads. */
static bool
reads_right (Bounce *b)
{
  Storage *storage = b->storage;
  if (!move (b, 0, false, STORAGE_BLOCK_MOST_B, 0) ||
      !PROBE_CUDA (cudaMemcpy (storage->buffer[1], b->memory, STORAGE_BLOCK_MOST_B, cudaMemcpyDeviceToHost)))
    return false;
  return memcmp (storage->buffer[0], storage->buffer[1], STORAGE_BLOCK_MOST_B) == 0 ||
         probe_fail ("wrong data: the GPU does not get what the host reads");
}

static bool
open_bounce (Bounce *b)
{
  size_t bytes = BOUNCE_THREADS * STORAGE_BLOCK_MOST_B;
  bool ok = PROBE_CUDA (cudaSetDevice (0)) && PROBE_CUDA (cudaMalloc (&b->memory, bytes)) &&
            PROBE_CUDA (cudaMemset (b->memory, 0, bytes)) && PROBE_CUDA (cudaDeviceSynchronize ());
  for (unsigned t = 0; t < BOUNCE_THREADS && ok; t++) {
    ok = PROBE_CUDA (cudaStreamCreateWithFlags (&b->stream[t], cudaStreamNonBlocking)) &&
         PROBE_CUDA (cudaHostRegister (b->storage->buffer[t], STORAGE_BLOCK_MOST_B, cudaHostRegisterDefault));
    b->n_registered += ok;
  }
  return ok && reads_right (b);
}

static void
close_bounce (Bounce *b)
{
  cudaSetDevice (0);
  for (unsigned t = 0; t < BOUNCE_THREADS; t++)
    if (b->stream[t] != NULL)
      cudaStreamDestroy (b->stream[t]);
  for (unsigned t = 0; t < b->n_registered; t++)
    cudaHostUnregister (b->storage->buffer[t]);
  cudaFree (b->memory);
  cudaGetLastError ();
}

void
storage_bounce (Storage *storage)
{
  static const unsigned threads[] = { 1, BOUNCE_THREADS };
  static const size_t blocks[] = { (size_t)1 << 16, (size_t)1 << 20, STORAGE_BLOCK_MOST_B };
  Probe *probe = storage->probe;
  Bounce bounce = Bounce ();
  bounce.storage = storage;
  if (probe_stopped (probe))
    return;
  bool list = probe_options (probe)->list, ok = list || open_bounce (&bounce);
  if (!ok)
    probe_skip (probe, probe_case ("storage", "read", { { "path", "bounce" } }), probe_why ());
  for (bool write : { false, true })
    for (size_t block_B : blocks)
      for (unsigned n : threads) {
        const StorageCase c = { "bounce", move, &bounce, write, false, n, block_B };
        if (ok)
          storage_measure (storage, &c);
      }
  if (!list)
    close_bounce (&bounce);
}
