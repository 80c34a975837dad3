/* Kernels that memory bounds: copy, add, normalisation, softmax, gated activation, optimiser. One pass reads and writes each
 * array once; sets of arrays rotate, so that the L2 cache holds none of them.
 *
 * Time at default settings: 6 kernels x 5 sizes x about 8 samples of 2 to 8 ms, and two fillings: 2 s. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_bf16.h>

#include "compute.h"

#define SECTION "compute"
#define WHAT    "memory"

#define THREADS         256
#define VECTOR_B        16u
#define VALUES          8 /* bf16 values of a vector */
#define VECTORS         2 /* of each array and thread of an element-wise kernel: enough in flight for full bandwidth */
#define NORM_VECTORS    4 /* a row of 8192 bf16, the width of a 70B model */
#define SOFTMAX_VECTORS 2 /* a row of 4096 bf16, scores of a query */
#define NORM_ROW        (THREADS * NORM_VECTORS * VALUES)
#define SOFTMAX_ROW     (THREADS * SOFTMAX_VECTORS * VALUES)
#define ARRAYS_MOST     4
#define POOL_MOST_B     ((size_t)16 << 30) /* four arrays of 4 GiB */
#define POOL_SHARE      4                  /* a quarter of free memory */
#define FILL_SEED       11u
#define CHECKED_B       ((size_t)1 << 20) /* of each array, at its end: a whole number of rows */

/* Adam as it is usually set. */
#define ADAM_BETA1   0.9f
#define ADAM_BETA2   0.95f
#define ADAM_EPSILON 1e-8f
#define ADAM_RATE    1e-4f
#define NORM_EPSILON 1e-5f

static const size_t sizes_B[] = { (size_t)512 << 20, (size_t)64 << 20, (size_t)8 << 20, (size_t)1 << 20, (size_t)4 << 30 };

static __device__ void
unpack (uint4 v, float *x)
{
  const unsigned word[4] = { v.x, v.y, v.z, v.w };
#pragma unroll
  for (int i = 0; i < 4; i++) {
    x[2 * i] = __uint_as_float (word[i] << 16);
    x[2 * i + 1] = __uint_as_float (word[i] & 0xffff0000u);
  }
}

static __device__ uint4
pack (const float *x)
{
  unsigned word[4];
#pragma unroll
  for (int i = 0; i < 4; i++)
    word[i] = (unsigned)__bfloat16_as_ushort (__float2bfloat16 (x[2 * i])) |
              (unsigned)__bfloat16_as_ushort (__float2bfloat16 (x[2 * i + 1])) << 16;
  return make_uint4 (word[0], word[1], word[2], word[3]);
}

struct Sum {
  static __device__ float of (float x, float y)
  {
    return x + y;
  }
};

struct Most {
  static __device__ float of (float x, float y)
  {
    return fmaxf (x, y);
  }
};

struct Swiglu {
  static __device__ float of (float gate, float up)
  {
    return gate / (1.0f + __expf (-gate)) * up;
  }
};

/* Of all threads of the block, the same in each. `space` is one float a warp. */
template <typename Op>
static __device__ float
over_block (float x, float *space)
{
  for (int offset = 16; offset > 0; offset /= 2)
    x = Op::of (x, __shfl_xor_sync (0xffffffffu, x, offset));
  __syncthreads (); /* what the last use left in `space` has been read */
  if (threadIdx.x % 32 == 0)
    space[threadIdx.x / 32] = x;
  __syncthreads ();
  float all = space[0];
  for (int i = 1; i < THREADS / 32; i++)
    all = Op::of (all, space[i]);
  return all;
}

/* First vector of the thread; the next ones are THREADS apart. */
static __device__ size_t
first_vector (int n_each)
{
  return (size_t)blockIdx.x * THREADS * n_each + threadIdx.x;
}

static __global__ void
copy_kernel (const uint4 *in, uint4 *out, size_t n)
{
  uint4 v[VECTORS];
  const size_t first = first_vector (VECTORS);
#pragma unroll
  for (int j = 0; j < VECTORS; j++)
    if (first + j * THREADS < n)
      v[j] = in[first + j * THREADS];
#pragma unroll
  for (int j = 0; j < VECTORS; j++)
    if (first + j * THREADS < n)
      out[first + j * THREADS] = v[j];
}

/* Element by element from two arrays. */
template <typename Op>
static __global__ void
pair_kernel (const uint4 *left, const uint4 *right, uint4 *out, size_t n)
{
  const size_t first = first_vector (VECTORS);
#pragma unroll
  for (int j = 0; j < VECTORS; j++)
    if (first + j * THREADS < n) {
      float x[VALUES], y[VALUES];
      unpack (left[first + j * THREADS], x);
      unpack (right[first + j * THREADS], y);
#pragma unroll
      for (int i = 0; i < VALUES; i++)
        x[i] = Op::of (x[i], y[i]);
      out[first + j * THREADS] = pack (x);
    }
}

/* A block a row; each thread keeps its part of the row in registers. The weight is one row, the first of the input. */
static __global__ void
rmsnorm_kernel (const uint4 *in, const uint4 *weight, uint4 *out)
{
  __shared__ float space[THREADS / 32];
  const size_t first = first_vector (NORM_VECTORS);
  float x[NORM_VECTORS][VALUES], squares = 0;
#pragma unroll
  for (int j = 0; j < NORM_VECTORS; j++)
    unpack (in[first + j * THREADS], x[j]);
#pragma unroll
  for (int j = 0; j < NORM_VECTORS; j++)
#pragma unroll
    for (int i = 0; i < VALUES; i++)
      squares += x[j][i] * x[j][i];
  const float scale = rsqrtf (over_block<Sum> (squares, space) / NORM_ROW + NORM_EPSILON);
#pragma unroll
  for (int j = 0; j < NORM_VECTORS; j++) {
    float w[VALUES];
    unpack (weight[threadIdx.x + j * THREADS], w);
#pragma unroll
    for (int i = 0; i < VALUES; i++)
      x[j][i] *= scale * w[i];
    out[first + j * THREADS] = pack (x[j]);
  }
}

static __global__ void
softmax_kernel (const uint4 *in, uint4 *out)
{
  __shared__ float space[THREADS / 32];
  const size_t first = first_vector (SOFTMAX_VECTORS);
  float x[SOFTMAX_VECTORS][VALUES], most = -INFINITY, sum = 0;
#pragma unroll
  for (int j = 0; j < SOFTMAX_VECTORS; j++) {
    unpack (in[first + j * THREADS], x[j]);
#pragma unroll
    for (int i = 0; i < VALUES; i++)
      most = fmaxf (most, x[j][i]);
  }
  most = over_block<Most> (most, space);
#pragma unroll
  for (int j = 0; j < SOFTMAX_VECTORS; j++)
#pragma unroll
    for (int i = 0; i < VALUES; i++) {
      x[j][i] = __expf (x[j][i] - most);
      sum += x[j][i];
    }
  const float scale = 1.0f / over_block<Sum> (sum, space);
#pragma unroll
  for (int j = 0; j < SOFTMAX_VECTORS; j++) {
#pragma unroll
    for (int i = 0; i < VALUES; i++)
      x[j][i] *= scale;
    out[first + j * THREADS] = pack (x[j]);
  }
}

/* The second moment's random start may be negative: its size is taken. */
static __device__ void
adam_one (float *p, float *m, float *v, float g)
{
  *m = ADAM_BETA1 * *m + (1.0f - ADAM_BETA1) * g;
  *v = ADAM_BETA2 * fabsf (*v) + (1.0f - ADAM_BETA2) * g * g;
  *p -= ADAM_RATE * *m / (sqrtf (*v) + ADAM_EPSILON);
}

static __global__ void
adam_kernel (float4 *p, float4 *m, float4 *v, const float4 *g, size_t n)
{
  const size_t first = first_vector (VECTORS);
#pragma unroll
  for (int j = 0; j < VECTORS; j++) {
    const size_t at = first + j * THREADS;
    if (at < n) {
      float4 p4 = p[at], m4 = m[at], v4 = v[at], g4 = g[at];
      adam_one (&p4.x, &m4.x, &v4.x, g4.x);
      adam_one (&p4.y, &m4.y, &v4.y, g4.y);
      adam_one (&p4.z, &m4.z, &v4.z, g4.z);
      adam_one (&p4.w, &m4.w, &v4.w, g4.w);
      p[at] = p4;
      m[at] = m4;
      v[at] = v4;
    }
  }
}

typedef enum { COPY, ADD, SWIGLU, RMSNORM, SOFTMAX, ADAM, N_KERNELS } Kernel;

/* Tolerances: bf16 results are rounded to 2^-9; Adam's to 2^-24, after a few operations. A copy is exact. */
static const struct {
  const char *name;
  const char *dtype;
  unsigned n_arrays;
  unsigned n_read, n_written; /* times each array's size a pass moves */
  unsigned first_out, n_out;  /* arrays that hold results */
  unsigned row;               /* elements; 0: element by element */
  unsigned vectors;           /* of a thread */
  double tolerance;
} kernels[N_KERNELS] = {
  { "copy", "bf16", 2, 1, 1, 1, 1, 0, VECTORS, 0 },
  { "add", "bf16", 3, 2, 1, 2, 1, 0, VECTORS, 1e-2 },
  { "swiglu", "bf16", 3, 2, 1, 2, 1, 0, VECTORS, 1e-2 },
  { "rmsnorm", "bf16", 2, 1, 1, 1, 1, NORM_ROW, NORM_VECTORS, 1e-2 },
  { "softmax", "bf16", 2, 1, 1, 1, 1, SOFTMAX_ROW, SOFTMAX_VECTORS, 1e-2 },
  { "adam", "fp32", 4, 4, 3, 0, 3, 0, VECTORS, 1e-5 },
};

static unsigned
blocks_for (size_t n, unsigned vectors)
{
  return (unsigned)((n + THREADS * vectors - 1) / (THREADS * vectors));
}

typedef struct {
  ComputeDevice *device;
  unsigned char *pool;
  size_t pool_B;
  int filled; /* ComputeDtype, -1: none */
  Kernel kernel;
  size_t size_B; /* of one array */
  unsigned n_sets;
} Memory;

static unsigned char *
array (const Memory *u, size_t set, unsigned i)
{
  return u->pool + (set * kernels[u->kernel].n_arrays + i) * u->size_B;
}

static bool
memory_launch (void *user, unsigned i)
{
  const Memory *u = (const Memory *)user;
  const size_t set = i % u->n_sets, n = u->size_B / VECTOR_B;
  const uint4 *a = (const uint4 *)array (u, set, 0);
  uint4 *b = (uint4 *)array (u, set, 1), *c = (uint4 *)array (u, set, 2);
  cudaStream_t stream = u->device->on.stream;
  const unsigned blocks = blocks_for (n, kernels[u->kernel].vectors);
  if (u->kernel == COPY)
    return compute_copy (u->device, a, b, u->size_B);
  if (u->kernel == ADD)
    pair_kernel<Sum><<<blocks, THREADS, 0, stream>>> (a, b, c, n);
  else if (u->kernel == SWIGLU)
    pair_kernel<Swiglu><<<blocks, THREADS, 0, stream>>> (a, b, c, n);
  else if (u->kernel == RMSNORM)
    rmsnorm_kernel<<<blocks, THREADS, 0, stream>>> (a, a, b);
  else if (u->kernel == SOFTMAX)
    softmax_kernel<<<blocks, THREADS, 0, stream>>> (a, b);
  else
    adam_kernel<<<blocks, THREADS, 0, stream>>> ((float4 *)array (u, set, 0), (float4 *)b, (float4 *)c,
                                                 (const float4 *)array (u, set, 3), n);
  return PROBE_CUDA (cudaGetLastError ());
}

bool
compute_copy (ComputeDevice *d, const void *in, void *out, size_t size_B)
{
  const size_t n = size_B / VECTOR_B;
  copy_kernel<<<blocks_for (n, VECTORS), THREADS, 0, d->on.stream>>> ((const uint4 *)in, (uint4 *)out, n);
  return PROBE_CUDA (cudaGetLastError ());
}

static double
bf16 (const unsigned char *bytes, size_t i)
{
  uint16_t word;
  uint32_t bits;
  float x;
  memcpy (&word, bytes + 2 * i, sizeof word);
  bits = (uint32_t)word << 16;
  memcpy (&x, &bits, sizeof x);
  return (double)x;
}

static double
fp32 (const unsigned char *bytes, size_t i)
{
  float x;
  memcpy (&x, bytes + 4 * i, sizeof x);
  return (double)x;
}

/* What a row's elements share: the scale of the norm, or the sum of exponentials (of values that are far from overflow). */
static double
shared_by_row (Kernel kernel, const unsigned char *in, size_t first)
{
  double sum = 0;
  for (size_t i = first; i < first + kernels[kernel].row; i++)
    sum += kernel == RMSNORM ? bf16 (in, i) * bf16 (in, i) : exp (bf16 (in, i));
  return kernel == RMSNORM ? 1 / sqrt (sum / NORM_ROW + (double)NORM_EPSILON) : sum;
}

/* What should stand in element i of result `out`, from the arrays as they were. */
static double
expected (Kernel kernel, unsigned char *const *was, const unsigned char *weight, size_t i, unsigned out, double shared)
{
  if (kernel == COPY)
    return bf16 (was[0], i);
  if (kernel == ADD)
    return bf16 (was[0], i) + bf16 (was[1], i);
  if (kernel == SWIGLU)
    return bf16 (was[0], i) / (1 + exp (-bf16 (was[0], i))) * bf16 (was[1], i);
  if (kernel == RMSNORM)
    return bf16 (was[0], i) * shared * bf16 (weight, i % NORM_ROW);
  if (kernel == SOFTMAX)
    return exp (bf16 (was[0], i)) / shared;
  double g = fp32 (was[3], i);
  double m = (double)ADAM_BETA1 * fp32 (was[1], i) + (double)(1.0f - ADAM_BETA1) * g;
  double v = (double)ADAM_BETA2 * fabs (fp32 (was[2], i)) + (double)(1.0f - ADAM_BETA2) * g * g;
  return out == 0 ? fp32 (was[0], i) - (double)ADAM_RATE * m / (sqrt (v) + (double)ADAM_EPSILON) : out == 1 ? m : v;
}

static bool
compare (Kernel kernel, unsigned char *const *was, unsigned char *const *is, const unsigned char *weight)
{
  const size_t n = CHECKED_B / (kernel == ADAM ? 4 : 2);
  const unsigned row = kernels[kernel].row;
  for (unsigned out = kernels[kernel].first_out; out < kernels[kernel].first_out + kernels[kernel].n_out; out++) {
    double off = 0, all = 0, shared = 0;
    for (size_t i = 0; i < n; i++) {
      if (row > 0 && i % row == 0)
        shared = shared_by_row (kernel, was[0], i);
      double should = expected (kernel, was, weight, i, out, shared);
      double does = kernel == ADAM ? fp32 (is[out], i) : bf16 (is[out], i);
      off += (does - should) * (does - should);
      all += should * should;
    }
    if (!compute_is_right (sqrt (off / all), kernels[kernel].tolerance))
      return false;
  }
  return true;
}

/* Runs set 0 once and compares the ends of its arrays with the same computed here. */
static bool
memory_check (Memory *u)
{
  unsigned char *was[ARRAYS_MOST] = { NULL }, *is[ARRAYS_MOST] = { NULL };
  const unsigned n = kernels[u->kernel].n_arrays;
  const size_t weight_B = NORM_ROW * 2, end = u->size_B - CHECKED_B;
  unsigned char *space = (unsigned char *)malloc (2 * n * CHECKED_B + weight_B), *weight = space;
  bool ok = space != NULL || probe_fail ("out of memory");
  ok = ok && PROBE_CUDA (cudaStreamSynchronize (u->device->on.stream)) &&
       PROBE_CUDA (cudaMemcpy (weight, array (u, 0, 0), weight_B, cudaMemcpyDeviceToHost));
  for (unsigned i = 0; ok && i < n; i++) {
    was[i] = space + weight_B + 2 * i * CHECKED_B;
    is[i] = was[i] + CHECKED_B;
    ok = PROBE_CUDA (cudaMemcpy (was[i], array (u, 0, i) + end, CHECKED_B, cudaMemcpyDeviceToHost));
  }
  /* All bits set is no number: an element that is not written shows. Adam's results are in place. */
  if (ok && u->kernel != ADAM)
    ok = PROBE_CUDA (cudaMemsetAsync (array (u, 0, kernels[u->kernel].first_out), 0xff, u->size_B, u->device->on.stream));
  ok = ok && memory_launch (u, 0) && PROBE_CUDA (cudaStreamSynchronize (u->device->on.stream));
  for (unsigned i = 0; ok && i < n; i++)
    ok = PROBE_CUDA (cudaMemcpy (is[i], array (u, 0, i) + end, CHECKED_B, cudaMemcpyDeviceToHost));
  ok = ok && compare (u->kernel, was, is, weight);
  free (space);
  return ok;
}

/* The pool at the first use, filled again where the dtype changes. */
static bool
memory_ready (Memory *u)
{
  const ComputeDtype dtype = u->kernel == ADAM ? COMPUTE_TF32 : COMPUTE_BF16;
  if (u->pool == NULL) {
    size_t free_B = 0, total_B = 0;
    if (!PROBE_CUDA (cudaMemGetInfo (&free_B, &total_B)))
      return false;
    u->pool_B = free_B / POOL_SHARE < POOL_MOST_B ? free_B / POOL_SHARE : POOL_MOST_B;
    if (!PROBE_CUDA (cudaMalloc (&u->pool, u->pool_B)))
      return false;
  }
  if (u->filled == (int)dtype)
    return true;
  u->filled = -1;
  if (!compute_fill (u->pool, u->pool_B, dtype, FILL_SEED, u->device->on.stream))
    return false;
  u->filled = (int)dtype;
  return true;
}

static bool
measure (ComputeSection *s, Memory *u, ProbeCase *c)
{
  const size_t set_B = kernels[u->kernel].n_arrays * u->size_B;
  ComputeTimed timed = compute_timed (u->device, memory_launch, u);
  bool ok = memory_ready (u);
  if (ok && set_B > u->pool_B) {
    probe_skip (s->probe, c, "the arrays are larger than a quarter of this GPU's free memory");
    return true;
  }
  u->n_sets = compute_sets (u->device, set_B, u->pool_B / set_B);
  return compute_measure (s, c, ok && memory_check (u), &timed);
}

bool
compute_memory (ComputeSection *s)
{
  Memory u;
  memset (&u, 0, sizeof u);
  u.device = &s->device;
  u.filled = -1;
  bool going_on = true;
  const size_t n_sizes = probe_options (s->probe)->quick ? 2 : COMPUTE_COUNT (sizes_B);
  for (int kernel = 0; kernel < N_KERNELS; kernel++)
    for (size_t i = 0; i < n_sizes; i++) {
      if (!going_on || !compute_wants (s, WHAT))
        continue;
      const auto &row = kernels[kernel];
      u.kernel = (Kernel)kernel;
      u.size_B = sizes_B[i];
      ProbeCase *c = probe_case (SECTION, WHAT,
                                 { { "kernel", row.name },
                                   { "dtype", row.dtype },
                                   { "size_B", u.size_B },
                                   { "bytes_moved_B", (double)(row.n_read + row.n_written) * (double)u.size_B },
                                   { "row_elements", row.row } });
      going_on = measure (s, &u, c);
    }
  if (u.pool != NULL) {
    cudaStreamSynchronize (s->device.on.stream);
    cudaFree (u.pool);
  }
  return going_on;
}
