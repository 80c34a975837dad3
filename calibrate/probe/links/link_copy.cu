/* Copies between GPUs and between GPUs and the host.
 *
 * Lanes of one case begin together: each stream first gets a kernel that waits for a word of host memory (the gate), then an event,
 * k copies, an event; when all lanes are filled the word is set. So the host's launches are not in the time, each lane is timed by
 * its own GPU, and the slowest lane counts. Lanes see the gate within some 2 us of each other; k is chosen so that a lane runs
 * TARGET_S. A gate opens by itself after GATE_MOST_NS: an error in between cannot hang the GPU. */
#include "link.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TARGET_S      500e-6
#define K_MOST        64 /* below what a stream queues before a launch waits (1024 or fewer) */
#define ROUGH_COPIES  4  /* in a row, to find k */
#define BLOCK_THREADS 512
#define BLOCKS_PER_SM 2
#define UNROLL        4
#define GATE_MOST_NS  3000000000ULL
#define FILL_MOST_S   1.0 /* filling the lanes takes microseconds; beyond this the gate may have opened by itself */
#define POISON        0xa5
#define CHECK_BLOCKS  1024
#define CHECK_THREADS 256

/* ---- on the GPU ---- */

static __device__ unsigned long long
global_ns ()
{
  unsigned long long t;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
  return t;
}

static __global__ void
wait_for_gate (volatile int *gate)
{
  unsigned long long begin = global_ns ();
  while (*gate == 0 && global_ns () - begin < GATE_MOST_NS)
    ;
}

static __global__ void
copy_words (uint4 *__restrict__ target, const uint4 *__restrict__ source, size_t n)
{
  size_t stride = (size_t)gridDim.x * blockDim.x, i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  for (; i + (UNROLL - 1) * stride < n; i += UNROLL * stride) {
    uint4 word[UNROLL];
#pragma unroll
    for (int u = 0; u < UNROLL; u++)
      word[u] = source[i + u * stride];
#pragma unroll
    for (int u = 0; u < UNROLL; u++)
      target[i + u * stride] = word[u];
  }
  for (; i < n; i += stride)
    target[i] = source[i];
}

/* What stands at word i of the memory of `device` (the host is -1): no two places or devices look alike nearby. */
static __host__ __device__ unsigned
pattern (size_t i, int device)
{
  return (unsigned)i * 2654435761U ^ (unsigned)(device + 2) * 0x9e3779b9U ^ (unsigned)(i >> 32);
}

static __global__ void
fill (unsigned *words, size_t n, int device)
{
  for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
    words[i] = pattern (i, device);
}

static __global__ void
count_wrong (const unsigned *words, size_t n, int device, unsigned long long *wrong)
{
  unsigned long long found = 0;
  for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
    found += words[i] != pattern (i, device);
  if (found > 0)
    atomicAdd (wrong, found);
}

static __global__ void
chase_chain (const unsigned *chain, unsigned steps, unsigned *sink)
{
  unsigned at = 0;
  for (unsigned s = 0; s < steps; s++)
    at = __ldcv (chain + at);
  *sink = at;
}

bool
link_preload (void)
{
  const void *const kernels[] = { (const void *)wait_for_gate, (const void *)copy_words, (const void *)fill,
                                  (const void *)count_wrong, (const void *)chase_chain };
  cudaFuncAttributes attributes;
  for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
    if (!PROBE_CUDA (cudaFuncGetAttributes (&attributes, kernels[i])))
      return false;
  return true;
}

/* ---- lanes ---- */

unsigned
kernel_blocks (int sms, unsigned n_lanes, size_t bytes)
{
  size_t all = (size_t)sms * BLOCKS_PER_SM / n_lanes, worth = bytes / sizeof (uint4) / BLOCK_THREADS;
  size_t blocks = all < worth ? all : worth;
  return blocks < 1 ? 1 : (unsigned)blocks;
}

bool
lanes_open (Copies *copies)
{
  for (size_t i = 0; i < copies->n_lanes; i++) {
    Lane *lane = &copies->lane[i];
    if (!PROBE_CUDA (cudaSetDevice (lane->runs_on)) ||
        !PROBE_CUDA (cudaStreamCreateWithFlags (&lane->stream, cudaStreamNonBlocking)) ||
        !PROBE_CUDA (cudaEventCreate (&lane->begin)) || !PROBE_CUDA (cudaEventCreate (&lane->end)))
      return false;
  }
  return true;
}

void
lanes_close (Copies *copies)
{
  for (size_t i = 0; i < copies->n_lanes; i++) {
    Lane *lane = &copies->lane[i];
    cudaSetDevice (lane->runs_on);
    if (lane->stream != NULL)
      cudaStreamDestroy (lane->stream);
    if (lane->begin != NULL)
      cudaEventDestroy (lane->begin);
    if (lane->end != NULL)
      cudaEventDestroy (lane->end);
    lane->stream = NULL;
    lane->begin = lane->end = NULL;
  }
}

/* One copy; the lane's GPU is the current one. */
static bool
enqueue (const Lane *lane)
{
  switch (lane->kind) {
    case LANE_ENGINE:
      return lane->direct
                 ? PROBE_CUDA (cudaMemcpyAsync (lane->target, lane->source, lane->bytes, cudaMemcpyDefault, lane->stream))
                 : PROBE_CUDA (cudaMemcpyPeerAsync (lane->target, lane->to, lane->source, lane->from, lane->bytes, lane->stream));
    case LANE_KERNEL:
      copy_words<<<lane->blocks, BLOCK_THREADS, 0, lane->stream>>> ((uint4 *)lane->target, (const uint4 *)lane->source,
                                                                    lane->bytes / sizeof (uint4));
      return PROBE_CUDA (cudaGetLastError ());
    case LANE_TO_GPU:
      return PROBE_CUDA (cudaMemcpyAsync (lane->target, lane->source, lane->bytes, cudaMemcpyHostToDevice, lane->stream));
    case LANE_FROM_GPU:
      return PROBE_CUDA (cudaMemcpyAsync (lane->target, lane->source, lane->bytes, cudaMemcpyDeviceToHost, lane->stream));
  }
  return false;
}

static bool
fill_lane (const Copies *copies, const Lane *lane, unsigned k)
{
  if (!PROBE_CUDA (cudaSetDevice (lane->runs_on)))
    return false;
  if (copies->gated) {
    wait_for_gate<<<1, 1, 0, lane->stream>>> (copies->gate);
    if (!PROBE_CUDA (cudaGetLastError ()))
      return false;
  }
  if (copies->gated && !PROBE_CUDA (cudaEventRecord (lane->begin, lane->stream)))
    return false;
  for (unsigned i = 0; i < k; i++)
    if (!enqueue (lane))
      return false;
  return !copies->gated || PROBE_CUDA (cudaEventRecord (lane->end, lane->stream));
}

/* Seconds of k copies in the slowest lane; negative: failed. */
static double
run_lanes (Copies *copies, unsigned k)
{
  bool ok = true;
  *copies->gate = 0;
  __sync_synchronize ();
  double begin = probe_clock_s ();
  for (size_t i = 0; i < copies->n_lanes && ok; i++)
    ok = fill_lane (copies, &copies->lane[i], k);
  double filled = probe_clock_s ();
  __sync_synchronize ();
  *copies->gate = 1;
  __sync_synchronize ();
  for (size_t i = 0; i < copies->n_lanes; i++) /* after an error too: nothing is left running */
    ok = PROBE_CUDA (cudaStreamSynchronize (copies->lane[i].stream)) && ok;
  double end = probe_clock_s (), slowest = 0;
  if (ok && copies->gated && filled - begin > FILL_MOST_S)
    ok = PROBE_CUDA (cudaErrorLaunchTimeout); /* the gates may have opened before the lanes were filled */
  if (!ok)
    return -1;
  if (!copies->gated)
    return end - begin;
  for (size_t i = 0; i < copies->n_lanes; i++) {
    float ms = 0;
    if (!PROBE_CUDA (cudaEventElapsedTime (&ms, copies->lane[i].begin, copies->lane[i].end)))
      return -1;
    slowest = fmax (slowest, (double)ms * 1e-3);
  }
  return slowest;
}

/* ---- pageable memory: a thread a lane ---- */

static void
copy_on_thread (unsigned rank, void *user)
{
  Copies *copies = (Copies *)user;
  const Lane *lane = &copies->lane[rank];
  bool ok = PROBE_CUDA (cudaSetDevice (lane->runs_on));
  probe_team_barrier (copies->team);
  copies->thread_begin_s[rank] = probe_clock_s ();
  for (unsigned i = 0; i < copies->k && ok; i++)
    ok = enqueue (lane);
  ok = PROBE_CUDA (cudaStreamSynchronize (lane->stream)) && ok;
  copies->thread_end_s[rank] = probe_clock_s ();
  copies->thread_failed[rank] = !ok;
}

static double
run_threads (Copies *copies)
{
  double begin = INFINITY, end = 0;
  probe_team_run (copies->team, (unsigned)copies->n_lanes, copy_on_thread, copies);
  for (size_t i = 0; i < copies->n_lanes; i++) {
    if (copies->thread_failed[i])
      return -1;
    begin = fmin (begin, copies->thread_begin_s[i]);
    end = fmax (end, copies->thread_end_s[i]);
  }
  return end - begin;
}

static double
run_k (Copies *copies, unsigned k)
{
  copies->k = k;
  return copies->pageable ? run_threads (copies) : run_lanes (copies, k);
}

double
copies_sample (void *user, const char **error)
{
  Copies *copies = (Copies *)user;
  if (copies->k == 0) {
    double rough = run_k (copies, 1); /* connections, first touches */
    if (rough >= 0 && !copies->synchronous) {
      rough = run_k (copies, ROUGH_COPIES) / ROUGH_COPIES;
      double k = ceil (TARGET_S / fmax (rough, 1e-9));
      copies->k = rough < 0 ? 0 : k > K_MOST ? K_MOST : (unsigned)k;
    }
    if (rough < 0) {
      *error = probe_cuda_error ();
      return -1;
    }
  }
  double taken = run_k (copies, copies->k);
  if (taken < 0)
    *error = probe_cuda_error ();
  return taken < 0 ? -1 : taken / copies->k;
}

/* ---- is it right ---- */

static bool
prepare_lane (const Lane *lane)
{
  size_t n = lane->bytes / sizeof (unsigned);
  if (lane->from < 0) {
    unsigned *words = (unsigned *)(uintptr_t)lane->source; /* the host's own buffer, read-only for copies alone */
    for (size_t i = 0; i < n; i++)
      words[i] = pattern (i, -1);
  } else {
    if (!PROBE_CUDA (cudaSetDevice (lane->from)))
      return false;
    fill<<<CHECK_BLOCKS, CHECK_THREADS>>> ((unsigned *)(uintptr_t)lane->source, n, lane->from);
    if (!PROBE_CUDA (cudaGetLastError ()) || !PROBE_CUDA (cudaDeviceSynchronize ()))
      return false;
  }
  if (lane->to < 0)
    memset (lane->target, POISON, lane->bytes);
  else if (!PROBE_CUDA (cudaSetDevice (lane->to)) || !PROBE_CUDA (cudaMemset (lane->target, POISON, lane->bytes)) ||
           !PROBE_CUDA (cudaDeviceSynchronize ()))
    return false;
  return true;
}

/* Words of the target that are not the source's; ULLONG_MAX: CUDA failed. */
static unsigned long long
lane_wrong (const Lane *lane)
{
  size_t n = lane->bytes / sizeof (unsigned);
  unsigned long long wrong = 0, *counter = NULL;
  if (lane->to < 0) {
    for (size_t i = 0; i < n; i++)
      wrong += ((const unsigned *)lane->target)[i] != pattern (i, lane->from);
    return wrong;
  }
  bool ok = PROBE_CUDA (cudaSetDevice (lane->to)) && PROBE_CUDA (cudaMalloc (&counter, sizeof *counter)) &&
            PROBE_CUDA (cudaMemset (counter, 0, sizeof *counter));
  if (ok) {
    count_wrong<<<CHECK_BLOCKS, CHECK_THREADS>>> ((const unsigned *)lane->target, n, lane->from, counter);
    ok = PROBE_CUDA (cudaGetLastError ()) && PROBE_CUDA (cudaMemcpy (&wrong, counter, sizeof wrong, cudaMemcpyDeviceToHost));
  }
  if (counter != NULL)
    cudaFree (counter);
  return ok ? wrong : ~0ULL;
}

bool
copies_verify (Copies *copies, const char **error)
{
  static char text[160];
  for (size_t i = 0; i < copies->n_lanes; i++) {
    const Lane *lane = &copies->lane[i];
    *error = probe_cuda_error ();
    if (!prepare_lane (lane) || !PROBE_CUDA (cudaSetDevice (lane->runs_on)) || !enqueue (lane) ||
        !PROBE_CUDA (cudaStreamSynchronize (lane->stream))) {
      *error = probe_cuda_error ();
      return false;
    }
    unsigned long long wrong = lane_wrong (lane);
    if (wrong == 0)
      continue;
    snprintf (text, sizeof text, "wrong data: %llu of %zu words from %d to %d differ", wrong, lane->bytes / sizeof (unsigned),
              lane->from, lane->to);
    *error = wrong == ~0ULL ? probe_cuda_error () : text;
    return false;
  }
  return true;
}

/* ---- latency ---- */

static uint64_t
next_random (uint64_t *state) /* splitmix64 (Steele, Lea, Flood 2014) */
{
  uint64_t z = *state += 0x9e3779b97f4a7c15ULL;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
  return z ^ z >> 31;
}

unsigned
chase_build (unsigned *words, uint64_t seed)
{
  enum { NODES = CHASE_BUFFER_B / CHASE_STRIDE_B, WORDS = CHASE_STRIDE_B / sizeof (unsigned) };
  static unsigned order[NODES];
  memset (words, 0, CHASE_BUFFER_B);
  for (unsigned i = 0; i < NODES; i++)
    order[i] = i;
  for (unsigned i = NODES - 1; i > 0; i--) { /* Sattolo: swapping with earlier ones only leaves one cycle */
    unsigned k = (unsigned)(next_random (&seed) % i), kept = order[i];
    order[i] = order[k];
    order[k] = kept;
  }
  for (unsigned i = 0; i < NODES; i++)
    words[i * WORDS] = order[i] * WORDS;
  unsigned at = 0;
  for (unsigned s = 0; s < CHASE_STEPS; s++)
    at = words[at];
  return at;
}

double
chase_sample (void *user, const char **error)
{
  Chase *chase = (Chase *)user;
  unsigned reached = 0;
  float ms = 0;
  bool ok = PROBE_CUDA (cudaSetDevice (chase->device)) && PROBE_CUDA (cudaEventRecord (chase->begin, chase->stream));
  if (ok) {
    chase_chain<<<1, 1, 0, chase->stream>>> (chase->chain, CHASE_STEPS, chase->sink);
    ok = PROBE_CUDA (cudaGetLastError ()) && PROBE_CUDA (cudaEventRecord (chase->end, chase->stream)) &&
         PROBE_CUDA (cudaStreamSynchronize (chase->stream)) && PROBE_CUDA (cudaEventElapsedTime (&ms, chase->begin, chase->end)) &&
         PROBE_CUDA (cudaMemcpy (&reached, chase->sink, sizeof reached, cudaMemcpyDeviceToHost));
  }
  if (!ok) {
    *error = probe_cuda_error ();
    return -1;
  }
  if (reached != chase->expected) {
    *error = "wrong data: the chain led elsewhere";
    return -1;
  }
  return (double)ms * 1e-3 / CHASE_STEPS;
}
