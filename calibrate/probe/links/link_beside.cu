/* Copies beside kernels, and copies from and to each NUMA node of the host.
 *
 *   beside   `timed` copy: a copy between pinned memory and GPU 0 while a kernel runs all the time; `timed` kernel: the kernel
 *            while copies run; `copy` none, `kernel` none: alone. Kernel `memory` copies within the GPU's memory, `math` adds in
 *            registers
 *   numa     a copy between GPU 0 and pinned memory of one node; `near`: it is the GPU's own. Left out where there is one node */
#include "link.h"

#include "probe_numa.h"

#include <string.h>

#define COPY_B        ((size_t)64 << 20)
#define KERNEL_B      ((size_t)512 << 20) /* of each of two arrays: far above an L2 */
#define MATH_STEPS    200000
#define BLOCK_THREADS 512
#define BLOCKS_PER_SM 2
#define TARGET_S      5e-3
#define RUNS_MOST     8
#define LONGER        2.5 /* times as long as what is timed: it may get so much slower */
#define OTHERS_MOST   100 /* operations beside one: a stream queues about a thousand */
#define ROUGH_RUNS    4

typedef enum { OP_NONE, OP_H2D, OP_D2H, OP_MEMORY, OP_MATH, OP_N } Op;
static const char *const op_names[OP_N] = { "none", "h2d", "d2h", "memory", "math" };

static __global__ void
move_words (uint4 *__restrict__ target, const uint4 *__restrict__ source, size_t n)
{
  for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
    target[i] = source[i];
}

static __global__ void
add_up (float *out, unsigned steps)
{
  float x = (float)threadIdx.x, y = (float)blockIdx.x;
  for (unsigned i = 0; i < steps; i++)
    x = fmaf (x, 0.999f, y);
  if (x == -1.0f) /* never, which the compiler does not know */
    *out = x;
}

typedef struct {
  Probe *probe;
  GpuStream stream[2]; /* of what is timed, of what runs beside it */
  GpuGate gate;
  char *memory[2], *on_gpu, *pinned;
  int sms;
  Op op[2];
  unsigned others; /* of op[1] for one of op[0] */
} Beside;

static bool
launch (Beside *b, int side)
{
  cudaStream_t stream = b->stream[side].stream;
  switch (b->op[side]) {
    case OP_H2D:
      return PROBE_CUDA (cudaMemcpyAsync (b->on_gpu, b->pinned, COPY_B, cudaMemcpyHostToDevice, stream));
    case OP_D2H:
      return PROBE_CUDA (cudaMemcpyAsync (b->pinned, b->on_gpu, COPY_B, cudaMemcpyDeviceToHost, stream));
    case OP_MEMORY:
      move_words<<<b->sms * BLOCKS_PER_SM, BLOCK_THREADS, 0, stream>>> ((uint4 *)b->memory[0], (const uint4 *)b->memory[1],
                                                                        KERNEL_B / sizeof (uint4));
      return PROBE_CUDA (cudaGetLastError ());
    case OP_MATH:
      add_up<<<b->sms * BLOCKS_PER_SM, BLOCK_THREADS, 0, stream>>> ((float *)b->memory[0], MATH_STEPS);
      return PROBE_CUDA (cudaGetLastError ());
    default:
      return true;
  }
}

static bool
launch_timed (void *user, unsigned i)
{
  (void)i;
  return launch ((Beside *)user, 0);
}

static bool
launch_other (void *user, unsigned i)
{
  Beside *b = (Beside *)user;
  bool ok = true;
  (void)i;
  for (unsigned k = 0; k < b->others && ok; k++)
    ok = launch (b, 1);
  return ok;
}

/* Of what is timed alone; the other lasts longer. */
static double
run_beside (void *user, unsigned n)
{
  Beside *b = (Beside *)user;
  GpuWork work[2] = { { &b->stream[0], launch_timed, b, 0 }, { &b->stream[1], launch_other, b, 0 } };
  float ms = 0;
  if (gpu_run (work, b->op[1] == OP_NONE ? 1 : 2, n, &b->gate) < 0 ||
      !PROBE_CUDA (cudaEventElapsedTime (&ms, b->stream[0].begin, b->stream[0].end)))
    return -1;
  return (double)ms * 1e-3;
}

/* Seconds of one operation alone; negative: failed. */
static double
alone_s (Beside *b, Op op)
{
  b->op[0] = op;
  b->op[1] = OP_NONE;
  return run_beside (b, 1) < 0 ? -1 : run_beside (b, ROUGH_RUNS) / ROUGH_RUNS;
}

static bool
settle (Beside *b, Op timed, Op other, ProbeRepeat *repeat)
{
  double timed_s = alone_s (b, timed), other_s = other == OP_NONE ? 1 : alone_s (b, other);
  if (timed_s <= 0 || other_s <= 0)
    return false;
  b->op[0] = timed;
  b->op[1] = other;
  b->others = probe_repeats (LONGER * timed_s, other_s, OTHERS_MOST) + 1;
  *repeat = { run_beside, b, 1, 0 };
  return probe_repeat_settle (repeat, TARGET_S, 1, RUNS_MOST);
}

static bool
open_beside (Beside *b)
{
  cudaFuncAttributes attributes;
  bool ok = PROBE_CUDA (cudaSetDevice (0)) && PROBE_CUDA (cudaDeviceGetAttribute (&b->sms, cudaDevAttrMultiProcessorCount, 0)) &&
            PROBE_CUDA (cudaFuncGetAttributes (&attributes, (const void *)move_words)) &&
            PROBE_CUDA (cudaFuncGetAttributes (&attributes, (const void *)add_up)) &&
            PROBE_CUDA (cudaMalloc (&b->on_gpu, COPY_B)) && PROBE_CUDA (cudaHostAlloc (&b->pinned, COPY_B, cudaHostAllocDefault));
  for (int i = 0; i < 2 && ok; i++)
    ok = PROBE_CUDA (cudaMalloc (&b->memory[i], KERNEL_B)) && PROBE_CUDA (cudaMemset (b->memory[i], 0, KERNEL_B)) &&
         gpu_stream_open (&b->stream[i], 0);
  if (!ok)
    return false;
  memset (b->pinned, 1, COPY_B);
  return PROBE_CUDA (cudaMemset (b->on_gpu, 1, COPY_B)) && PROBE_CUDA (cudaDeviceSynchronize ()) &&
         gpu_gate_make (&b->gate, COPIES_GATE_S, COPIES_FILLED_S);
}

/* What was copied beside kernels all the time came and went whole. */
static bool
is_whole (const Beside *b)
{
  if (!PROBE_CUDA (cudaMemcpy (b->pinned, b->on_gpu, COPY_B, cudaMemcpyDeviceToHost)))
    return false;
  for (size_t i = 0; i < COPY_B; i++)
    if (b->pinned[i] != 1)
      return probe_fail ("wrong data: byte %zu of what was copied beside kernels", i);
  return true;
}

static void
close_beside (Beside *b)
{
  for (int i = 0; i < 2; i++) {
    gpu_stream_close (&b->stream[i]);
    cudaFree (b->memory[i]);
  }
  cudaFree (b->on_gpu);
  cudaFreeHost (b->pinned);
  gpu_gate_drop (&b->gate);
  cudaGetLastError ();
}

static void
measure_one (Beside *b, bool ok, Op copy, Op kernel, bool copy_is_timed)
{
  ProbeCase *point = probe_case ("link", "beside",
                                 { { "gpu", 0 },
                                   { "copy", op_names[copy] },
                                   { "kernel", op_names[kernel] },
                                   { "timed", copy_is_timed ? "copy" : "kernel" },
                                   { "bytes", COPY_B },
                                   { "kernel_B", kernel == OP_MEMORY ? KERNEL_B : 0 } });
  if (probe_options (b->probe)->list) {
    probe_list (b->probe, point);
    return;
  }
  ProbeRepeat repeat;
  if (ok && settle (b, copy_is_timed ? copy : kernel, copy_is_timed ? kernel : copy, &repeat))
    probe_measure (b->probe, point, probe_repeat_sample, &repeat);
  else
    probe_failed (b->probe, point);
}

void
link_beside (Probe *probe)
{
  static const Op copies[] = { OP_H2D, OP_D2H }, kernels[] = { OP_MEMORY, OP_MATH };
  if (!probe_selected (probe, "link", "beside"))
    return;
  Beside b = Beside ();
  b.probe = probe;
  bool list = probe_options (probe)->list, ok = list || open_beside (&b);
  for (Op copy : copies)
    measure_one (&b, ok, copy, OP_NONE, true);
  for (Op kernel : kernels) {
    measure_one (&b, ok, OP_NONE, kernel, false);
    for (Op copy : copies)
      for (bool copy_is_timed : { true, false })
        measure_one (&b, ok, copy, kernel, copy_is_timed);
  }
  if (!list && ok && !is_whole (&b))
    probe_note (probe, "link/beside: %s", probe_why ());
  if (!list)
    close_beside (&b);
}

/* ---- NUMA ---- */

typedef struct {
  GpuStream stream;
  GpuGate gate;
  char *on_gpu, *host;
  bool up;
} Far;

static bool
launch_far (void *user, unsigned i)
{
  Far *far = (Far *)user;
  (void)i;
  return PROBE_CUDA (cudaMemcpyAsync (far->up ? far->on_gpu : far->host, far->up ? far->host : far->on_gpu, COPY_B,
                                      far->up ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, far->stream.stream));
}

static double
run_far (void *user, unsigned n)
{
  Far *far = (Far *)user;
  GpuWork work = { &far->stream, launch_far, far, 0 };
  return gpu_run (&work, 1, n, &far->gate);
}

static void
measure_node (Probe *probe, unsigned node, int own)
{
  bool list = probe_options (probe)->list, ok = true, registered = false;
  Far far = Far ();
  if (!list) {
    far.host = (char *)probe_numa_alloc (COPY_B, node);
    ok = far.host != NULL && PROBE_CUDA (cudaSetDevice (0)) && PROBE_CUDA (cudaMalloc (&far.on_gpu, COPY_B));
    registered = ok && PROBE_CUDA (cudaHostRegister (far.host, COPY_B, cudaHostRegisterDefault));
    ok = registered && gpu_stream_open (&far.stream, 0) && gpu_gate_make (&far.gate, COPIES_GATE_S, COPIES_FILLED_S);
  }
  for (bool up : { true, false }) {
    ProbeCase *point =
        probe_case ("link", "numa", { { "gpu", 0 }, { "copy", up ? "h2d" : "d2h" }, { "node", node }, { "bytes", COPY_B } });
    if (own >= 0)
      probe_add (point, { { "near", own == (int)node } });
    ProbeRepeat repeat = { run_far, &far, 1, 0 };
    far.up = up;
    if (list)
      probe_list (probe, point);
    else if (ok && probe_repeat_settle (&repeat, TARGET_S, 1, RUNS_MOST))
      probe_measure (probe, point, probe_repeat_sample, &repeat);
    else
      probe_failed (probe, point);
  }
  if (list)
    return;
  gpu_stream_close (&far.stream);
  gpu_gate_drop (&far.gate);
  if (registered)
    cudaHostUnregister (far.host);
  probe_numa_free (far.host, COPY_B);
  cudaFree (far.on_gpu);
  cudaGetLastError ();
}

void
link_numa (Probe *probe)
{
  if (!probe_selected (probe, "link", "numa"))
    return;
  unsigned node[PROBE_NUMA_MOST], n = probe_numa_nodes (NULL, node), asked = probe_options (probe)->numa;
  bool list = probe_options (probe)->list;
  if (list && asked > 0) /* a machine that is not there */
    for (n = 0; n < asked && n < PROBE_NUMA_MOST; n++)
      node[n] = n;
  char pci[64] = "";
  int own = -1;
  if (!list && cudaDeviceGetPCIBusId (pci, sizeof pci, 0) == cudaSuccess)
    own = probe_numa_of_pci (NULL, pci);
  for (unsigned i = 0; i < n && n > 1; i++)
    measure_node (probe, node[i], own);
  if (n < 2 && !list)
    probe_note (probe, "link/numa: left out: this machine shows one NUMA node");
}
