/* Copies between GPUs and between GPUs and the host.
 *
 * Lanes of one case begin together behind a gate (gpu.h), so that the host's launches are not in the time; each lane is timed by
 * its own GPU, and the slowest lane counts. Lanes see the gate within some 2 us of each other; as many copies in a row are made as
 * run for TARGET_S. */
#include "link.h"

#include "probe_random.h"

#include <stdlib.h>
#include <string.h>

#define TARGET_S      500e-6
#define K_MOST        64 /* below what a stream queues before a launch waits (1024 or fewer) */
#define ROUGH_COPIES  4  /* in a row, to find how many */
#define BLOCK_THREADS 512
#define BLOCKS_PER_SM 2
#define UNROLL        4
#define POISON        0xa5
#define CHECK_BLOCKS  1024
#define CHECK_THREADS 256

/* ---- on the GPU ---- */

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
  const void *const kernels[] = { (const void *)copy_words, (const void *)fill, (const void *)count_wrong,
                                  (const void *)chase_chain };
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

/* One copy; the lane's GPU is the current one. */
static bool
enqueue (const Lane *lane)
{
  switch (lane->kind) {
    case LANE_ENGINE:
      return lane->direct
                 ? PROBE_CUDA (cudaMemcpyAsync (lane->target, lane->source, lane->bytes, cudaMemcpyDefault, lane->stream.stream))
                 : PROBE_CUDA (
                       cudaMemcpyPeerAsync (lane->target, lane->to, lane->source, lane->from, lane->bytes, lane->stream.stream));
    case LANE_KERNEL:
      copy_words<<<lane->blocks, BLOCK_THREADS, 0, lane->stream.stream>>> ((uint4 *)lane->target, (const uint4 *)lane->source,
                                                                           lane->bytes / sizeof (uint4));
      return PROBE_CUDA (cudaGetLastError ());
    case LANE_TO_GPU:
      return PROBE_CUDA (cudaMemcpyAsync (lane->target, lane->source, lane->bytes, cudaMemcpyHostToDevice, lane->stream.stream));
    case LANE_FROM_GPU:
      return PROBE_CUDA (cudaMemcpyAsync (lane->target, lane->source, lane->bytes, cudaMemcpyDeviceToHost, lane->stream.stream));
  }
  return false;
}

static bool
launch_copy (void *lane, unsigned i)
{
  (void)i;
  return enqueue ((const Lane *)lane);
}

bool
copies_open (Copies *copies)
{
  bool ok = true;
  for (Lane &lane : copies->lanes) {
    copies->work.push_back ({ &lane.stream, launch_copy, &lane, 0 });
    ok = ok && gpu_stream_open (&lane.stream, lane.runs_on);
  }
  return ok;
}

void
copies_close (Copies *copies)
{
  for (Lane &lane : copies->lanes)
    gpu_stream_close (&lane.stream);
}

/* By the host's clock. */
static double
run_by_host (const Copies *copies, unsigned n)
{
  bool ok = true;
  double begin_s = probe_clock_s ();
  for (const Lane &lane : copies->lanes) {
    ok = ok && PROBE_CUDA (cudaSetDevice (lane.runs_on));
    for (unsigned k = 0; k < n && ok; k++)
      ok = enqueue (&lane);
  }
  for (const Lane &lane : copies->lanes) /* after an error too: nothing is left running */
    ok = PROBE_CUDA (cudaStreamSynchronize (lane.stream.stream)) && ok;
  return ok ? probe_clock_s () - begin_s : -1;
}

static bool
copy_on_thread (unsigned rank, void *user)
{
  const Copies *copies = (const Copies *)user;
  const Lane *lane = &copies->lanes[rank];
  bool ok = PROBE_CUDA (cudaSetDevice (lane->runs_on)) && probe_team_barrier (copies->team);
  for (unsigned i = 0; i < copies->n && ok; i++)
    ok = enqueue (lane);
  return PROBE_CUDA (cudaStreamSynchronize (lane->stream.stream)) && ok;
}

static double
run_copies (void *user, unsigned n)
{
  Copies *copies = (Copies *)user;
  copies->n = n;
  if (copies->mode == COPIES_THREADS)
    return probe_team_time (copies->team, (unsigned)copies->lanes.size (), copy_on_thread, copies);
  return copies->mode == COPIES_GATED ? gpu_run (copies->work.data (), copies->work.size (), n, copies->gate)
                                      : run_by_host (copies, n);
}

bool
copies_settle (Copies *copies, ProbeRepeat *repeat)
{
  bool one = copies->mode == COPIES_SYNCHRONOUS;
  *repeat = { run_copies, copies, 1, 0 };
  return run_copies (copies, 1) >= 0 && /* connections, first touches */
         probe_repeat_settle (repeat, TARGET_S, one ? 1 : ROUGH_COPIES, one ? 1 : K_MOST);
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
copies_verify (Copies *copies)
{
  for (const Lane &lane : copies->lanes) {
    if (!prepare_lane (&lane) || !PROBE_CUDA (cudaSetDevice (lane.runs_on)) || !enqueue (&lane) ||
        !PROBE_CUDA (cudaStreamSynchronize (lane.stream.stream)))
      return false;
    unsigned long long wrong = lane_wrong (&lane);
    if (wrong > 0) /* where CUDA failed, that is the reason that stands */
      return probe_fail ("wrong data: %llu of %zu words from %d to %d differ", wrong, lane.bytes / sizeof (unsigned), lane.from,
                         lane.to);
  }
  return true;
}

/* ---- latency ---- */

unsigned
chase_build (unsigned *words, uint64_t seed)
{
  enum { NODES = CHASE_BUFFER_B / CHASE_STRIDE_B, WORDS = CHASE_STRIDE_B / sizeof (unsigned) };
  static unsigned order[NODES];
  memset (words, 0, CHASE_BUFFER_B);
  for (unsigned i = 0; i < NODES; i++)
    order[i] = i;
  for (unsigned i = NODES - 1; i > 0; i--) { /* Sattolo: swapping with earlier ones only leaves one cycle */
    unsigned k = (unsigned)(probe_random (seed, NODES - 1 - i) % i), kept = order[i];
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

static bool
launch_chase (void *user, unsigned i)
{
  const Chase *chase = (const Chase *)user;
  (void)i;
  chase_chain<<<1, 1, 0, chase->stream.stream>>> (chase->chain, CHASE_STEPS, chase->sink);
  return PROBE_CUDA (cudaGetLastError ());
}

double
chase_sample (void *user)
{
  Chase *chase = (Chase *)user;
  GpuWork work = { &chase->stream, launch_chase, chase, 0 };
  unsigned reached = 0;
  double s = gpu_run (&work, 1, 1, NULL);
  if (s < 0 || !PROBE_CUDA (cudaMemcpy (&reached, chase->sink, sizeof reached, cudaMemcpyDeviceToHost)))
    return -1;
  if (reached != chase->expected)
    probe_fail ("wrong data: the chain led elsewhere");
  return reached == chase->expected ? s / CHASE_STEPS : -1;
}
