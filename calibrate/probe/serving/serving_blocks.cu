/* Blocks of a KV cache between the GPU and pinned host memory: scattered over a pool on the GPU, in a row on the host. The copy
 * engine takes one copy a block; a kernel takes them all.
 *
 * Time on one H200, estimated: 5 sizes x 2 ways x 2 directions, 0.3 s each: 6 s. */
#include <string.h>

#include "serving.h"
#include "probe_random.h"

#define WHAT          "blocks"
#define HOST_B        ((size_t)64 << 20)
#define POOL_B        ((size_t)1 << 30)
#define BLOCKS_MOST   2048u
#define BLOCK_THREADS 256

/* 16 tokens of one layer, K or V: a KV head (4 KiB), all of Llama 3 8B (32 KiB), K and V (64 KiB); larger ones of engines that keep
 * layers together. */
static const size_t blocks_B[] = { 4096, 32768, 65536, 262144, 2u << 20 };

typedef struct {
  ComputeDevice *device;
  unsigned char *pool, *host;
  std::vector<uint32_t> place; /* of each block in the pool */
  uint32_t *place_on_gpu;
  size_t block_B;
  bool to_gpu;
} Blocks;

static __global__ void
copy_blocks (unsigned char *pool, unsigned char *host, const uint32_t *place, size_t block_B, bool to_gpu)
{
  uint4 *here = (uint4 *)(pool + place[blockIdx.x] * block_B), *there = (uint4 *)(host + blockIdx.x * block_B);
  for (size_t i = threadIdx.x; i < block_B / sizeof (uint4); i += blockDim.x)
    if (to_gpu)
      here[i] = there[i];
    else
      there[i] = here[i];
}

static bool
by_engine (void *user, unsigned i)
{
  (void)i;
  const Blocks *u = (const Blocks *)user;
  bool ok = true;
  for (size_t b = 0; ok && b < u->place.size (); b++) {
    unsigned char *here = u->pool + u->place[b] * u->block_B, *there = u->host + b * u->block_B;
    ok = PROBE_CUDA (cudaMemcpyAsync (u->to_gpu ? here : there, u->to_gpu ? there : here, u->block_B,
                                      u->to_gpu ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, u->device->on.stream));
  }
  return ok;
}

static bool
by_kernel (void *user, unsigned i)
{
  (void)i;
  const Blocks *u = (const Blocks *)user;
  copy_blocks<<<(unsigned)u->place.size (), BLOCK_THREADS, 0, u->device->on.stream>>> (u->pool, u->host, u->place_on_gpu,
                                                                                     u->block_B, u->to_gpu);
  return PROBE_CUDA (cudaGetLastError ());
}

/* As many as the host's part holds, each at a place of its own: a stride that shares no factor with their number. */
static bool
place_blocks (Blocks *u)
{
  const size_t n = HOST_B / u->block_B < BLOCKS_MOST ? HOST_B / u->block_B : BLOCKS_MOST, all = POOL_B / u->block_B;
  u->place.resize (n);
  for (size_t b = 0; b < n; b++)
    u->place[b] = (uint32_t)(b * 97 % all); /* a power of two of places */
  return PROBE_CUDA (cudaMemcpy (u->place_on_gpu, u->place.data (), n * sizeof (uint32_t), cudaMemcpyHostToDevice));
}

/* What arrives is what was sent: the host's bytes tell their place; they go to the GPU, are wiped, and come back. */
static bool
check (Blocks *u, GpuLaunch launch)
{
  const size_t n = u->place.size () * u->block_B / sizeof (uint64_t);
  uint64_t *words = (uint64_t *)u->host;
  const bool to_gpu = u->to_gpu;
  for (size_t i = 0; i < n; i++)
    words[i] = probe_random (5, i);
  u->to_gpu = true;
  bool ok = launch (u, 0) && PROBE_CUDA (cudaStreamSynchronize (u->device->on.stream));
  memset (u->host, 0, n * sizeof (uint64_t));
  u->to_gpu = false;
  ok = ok && launch (u, 0) && PROBE_CUDA (cudaStreamSynchronize (u->device->on.stream));
  u->to_gpu = to_gpu;
  for (size_t i = 0; ok && i < n; i++)
    if (words[i] != probe_random (5, i))
      return probe_fail ("wrong data at word %zu of the blocks", i);
  return ok;
}

bool
serving_blocks (ComputeSection *s)
{
  if (!compute_wants (s, WHAT))
    return true;
  Blocks u = Blocks ();
  u.device = &s->device;
  bool going_on = true, open = PROBE_CUDA (cudaMalloc (&u.pool, POOL_B)) && PROBE_CUDA (cudaMallocHost (&u.host, HOST_B)) &&
                               PROBE_CUDA (cudaMalloc (&u.place_on_gpu, BLOCKS_MOST * sizeof (uint32_t)));
  for (size_t block_B : blocks_B)
    for (bool engine : { true, false })
      for (bool to_gpu : { true, false }) {
        if (!going_on || !compute_wants (s, WHAT))
          continue;
        u.block_B = block_B;
        u.to_gpu = to_gpu;
        const bool ready = open && place_blocks (&u) && check (&u, engine ? by_engine : by_kernel);
        ProbeCase *c = probe_case (SERVING_SECTION, WHAT,
                                   { { "direction", to_gpu ? "h2d" : "d2h" },
                                     { "by", engine ? "engine" : "kernel" },
                                     { "block_B", block_B },
                                     { "blocks", u.place.size () } });
        ComputeTimed timed = compute_timed (&s->device, engine ? by_engine : by_kernel, &u);
        timed.gate = NULL; /* more copies than a stream takes: the host's pace is a part of the time */
        going_on = compute_measure (s, c, ready, &timed);
      }
  cudaFree (u.pool);
  cudaFree (u.place_on_gpu);
  cudaFreeHost (u.host);
  cudaGetLastError ();
  return going_on;
}
