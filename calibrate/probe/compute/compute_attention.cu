/* Attention forward in bf16, tile by tile with a running softmax, on the tensor cores through mma.sync.
 *
 * Plain on purpose: no library that the probe may use has attention. It keeps the traffic and the mix of work of such kernels,
 * which is what other work beside it notices; libraries that are tuned for one GPU reach more.
 *
 * One block has 64 queries of one head, a warp 16 of them. Tiles of 64 keys and of their values pass through shared memory:
 * values load while scores are computed, the next keys while values are summed up. Source of the method: arXiv 2307.08691. */
#include <math.h>
#include <string.h>

#include <cuda_bf16.h>

#include "compute.h"

#define SECTION "compute"
#define WHAT    "attention"

#define HEAD      COMPUTE_ATTENTION_HEAD
#define TILE      64 /* queries of a block, and keys of a tile */
#define WARPS     (TILE / 16)
#define THREADS   (32 * WARPS)
#define CHUNKS    (HEAD / 8) /* parts of 16 B in a row */
#define TILE_B    (TILE * HEAD * 2)
#define FULL_WARP 0xffffffffu

#define N_ARRAYS    4 /* Q, K, V, O */
#define SETS_MOST   4
#define FILL_SEED   31u
#define CHECKED_N   256u /* queries */
#define TOLERANCE   1e-2 /* weights and results are rounded to 2^-9 */
#define LENGTH_MOST 8192

/* Older GPUs lack the instructions; compute_attention_open refuses them. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
/* Where a part of a row stands in a tile: rows are shifted against each other, so that 8 rows' parts lie in different banks. */
static __device__ unsigned
place (unsigned row, unsigned chunk)
{
  return row * HEAD * 2 + ((chunk ^ (row & 7)) << 4);
}

static __device__ void
load_tile (unsigned shared, const unsigned char *from)
{
#pragma unroll
  for (unsigned i = 0; i < TILE * CHUNKS / THREADS; i++) {
    const unsigned at = threadIdx.x + i * THREADS, row = at / CHUNKS, chunk = at % CHUNKS;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared + place (row, chunk)),
                 "l"(from + (size_t)row * HEAD * 2 + chunk * 16)
                 : "memory");
  }
  asm volatile("cp.async.commit_group;" ::: "memory");
}

/* All that was loaded is there, and every warp is done with what it read before. */
static __device__ void
loaded (void)
{
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  __syncthreads ();
}

/* Four 8 x 8 matrices, perhaps transposed; lane l gives the address of row l % 8 of matrix l / 8. */
#define LOAD_MATRICES(transposed, r, address)                                                   \
  asm volatile("ldmatrix.sync.aligned.m8n8.x4" transposed ".shared.b16 {%0, %1, %2, %3}, [%4];" \
               : "=r"((r)[0]), "=r"((r)[1]), "=r"((r)[2]), "=r"((r)[3])                         \
               : "r"(address)                                                                   \
               : "memory")

/* c[16, 8] += a[16, 16] b[16, 8]. Lane l has of c: rows l / 4 (c0, c1) and l / 4 + 8 (c2, c3), columns 2 (l % 4) and the next. */
static __device__ void
multiply (float *c, const unsigned *a, const unsigned *b)
{
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

static __device__ unsigned
pack (float low, float high)
{
  return (unsigned)__bfloat16_as_ushort (__float2bfloat16 (low)) | (unsigned)__bfloat16_as_ushort (__float2bfloat16 (high)) << 16;
}

/* Scores of the warp's 16 queries with the tile's keys, 8 keys in each s[]. */
static __device__ void
scores (float (*s)[4], const unsigned (*q)[4], unsigned keys, unsigned lane)
{
#pragma unroll
  for (int i = 0; i < TILE / 8; i++)
    s[i][0] = s[i][1] = s[i][2] = s[i][3] = 0;
#pragma unroll
  for (unsigned step = 0; step < HEAD / 16; step++)
#pragma unroll
    for (unsigned pair = 0; pair < TILE / 16; pair++) {
      unsigned b[4]; /* 16 keys: of the first 8 both halves of the step, then of the others */
      LOAD_MATRICES ("", b, keys + place (pair * 16 + lane / 16 * 8 + lane % 8, step * 2 + lane / 8 % 2));
      multiply (s[2 * pair], q[step], b);
      multiply (s[2 * pair + 1], q[step], b + 2);
    }
}

/* Takes the tile into the running maximum and sum of the lane's two rows; scores become weights. Scores are in powers of 2. */
static __device__ void
soften (float (*s)[4], float (*o)[4], float *most, float *sum, float scale)
{
#pragma unroll
  for (int half = 0; half < 2; half++) {
    float now = most[half];
#pragma unroll
    for (int i = 0; i < TILE / 8; i++)
      now = fmaxf (now, scale * fmaxf (s[i][2 * half], s[i][2 * half + 1]));
    now = fmaxf (now, __shfl_xor_sync (FULL_WARP, now, 1));
    now = fmaxf (now, __shfl_xor_sync (FULL_WARP, now, 2));
    const float old = exp2f (most[half] - now);
    most[half] = now;
    sum[half] *= old;
#pragma unroll
    for (int i = 0; i < TILE / 8; i++)
#pragma unroll
      for (int j = 2 * half; j < 2 * half + 2; j++) {
        s[i][j] = exp2f (s[i][j] * scale - now);
        sum[half] += s[i][j];
      }
#pragma unroll
    for (int i = 0; i < HEAD / 8; i++) {
      o[i][2 * half] *= old;
      o[i][2 * half + 1] *= old;
    }
  }
}

/* o[16 queries, HEAD] += weights x the tile's values. */
static __device__ void
add_values (float (*o)[4], const float (*s)[4], unsigned values, unsigned lane)
{
#pragma unroll
  for (unsigned step = 0; step < TILE / 16; step++) {
    const unsigned a[4] = { pack (s[2 * step][0], s[2 * step][1]), pack (s[2 * step][2], s[2 * step][3]),
                            pack (s[2 * step + 1][0], s[2 * step + 1][1]), pack (s[2 * step + 1][2], s[2 * step + 1][3]) };
#pragma unroll
    for (unsigned pair = 0; pair < HEAD / 16; pair++) {
      unsigned b[4];
      LOAD_MATRICES (".trans", b, values + place (step * 16 + lane % 16, pair * 2 + lane / 16));
      multiply (o[2 * pair], a, b);
      multiply (o[2 * pair + 1], a, b + 2);
    }
  }
}

#endif

static __global__ void
__launch_bounds__ (THREADS) attention_kernel (const unsigned char *q_all, const unsigned char *k_all, const unsigned char *v_all,
                                              unsigned char *o_all, int length, bool causal, float scale)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  __trap ();
#else
  __shared__ __align__ (128) unsigned char space[2 * TILE_B];
  const unsigned keys = (unsigned)__cvta_generic_to_shared (space), values = keys + TILE_B;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const unsigned tile = causal ? gridDim.x - 1 - blockIdx.x : blockIdx.x; /* causal: those with most keys first */
  const unsigned n_tiles = causal ? tile + 1 : gridDim.x;
  const size_t head_B = (size_t)blockIdx.y * (size_t)length * HEAD * 2;
  const unsigned char *k = k_all + head_B, *v = v_all + head_B;
  unsigned q[HEAD / 16][4];
  float o[HEAD / 8][4] = { { 0 } }, s[TILE / 8][4], most[2] = { -INFINITY, -INFINITY }, sum[2] = { 0, 0 };

  load_tile (values, q_all + head_B + (size_t)tile * TILE_B); /* queries stand where values will */
  load_tile (keys, k);
  loaded ();
#pragma unroll
  for (unsigned step = 0; step < HEAD / 16; step++)
    LOAD_MATRICES ("", q[step], values + place (warp * 16 + lane % 16, step * 2 + lane / 16));
  for (unsigned j = 0; j < n_tiles; j++) {
    loaded ();
    load_tile (values, v + (size_t)j * TILE_B);
    scores (s, q, keys, lane);
    if (causal && j == tile)
#pragma unroll
      for (int i = 0; i < TILE / 8; i++)
#pragma unroll
        for (int e = 0; e < 4; e++)
          if (i * 8 + 2 * (lane % 4) + e % 2 > warp * 16 + lane / 4 + e / 2 * 8)
            s[i][e] = -INFINITY;
    loaded ();
    if (j + 1 < n_tiles)
      load_tile (keys, k + (size_t)(j + 1) * TILE_B);
    soften (s, o, most, sum, scale);
    add_values (o, s, values, lane);
  }
#pragma unroll
  for (int half = 0; half < 2; half++) {
    sum[half] += __shfl_xor_sync (FULL_WARP, sum[half], 1);
    sum[half] += __shfl_xor_sync (FULL_WARP, sum[half], 2);
    const size_t row = (size_t)tile * TILE + warp * 16 + lane / 4 + half * 8;
    unsigned *to = (unsigned *)(o_all + head_B + row * HEAD * 2);
#pragma unroll
    for (int i = 0; i < HEAD / 8; i++)
      to[i * 4 + lane % 4] = pack (o[i][2 * half] / sum[half], o[i][2 * half + 1] / sum[half]);
  }
#endif
}

/* A set of arrays, and what was made of it. */
typedef struct {
  const __nv_bfloat16 *array[N_ARRAYS];
  int heads, length;
  bool causal;
} Checked;

/* One block a query, one thread an element of the head: the same in fp32 and double, all scores at once. */
static __global__ void
__launch_bounds__ (HEAD) attention_check_kernel (Checked is, double *norms)
{
  const __nv_bfloat16 *q = is.array[0], *k = is.array[1], *v = is.array[2], *o = is.array[3];
  const unsigned length = (unsigned)is.length;
  __shared__ float weight[LENGTH_MOST];
  /* An odd step, far from simple fractions of the lengths, which are powers of two: queries from all over the sequence and all
   * places of a tile. */
  const unsigned query = blockIdx.x * 5081u % length, head = blockIdx.x * 7u % (unsigned)is.heads;
  const size_t head_at = (size_t)head * length * HEAD, query_at = head_at + (size_t)query * HEAD;
  const unsigned n = is.causal ? query + 1 : length;
  for (unsigned key = threadIdx.x; key < n; key += HEAD) {
    float sum = 0;
    for (unsigned i = 0; i < HEAD; i++)
      sum += __bfloat162float (q[query_at + i]) * __bfloat162float (k[head_at + (size_t)key * HEAD + i]);
    weight[key] = sum * rsqrtf ((float)HEAD);
  }
  __syncthreads ();
  float most = -INFINITY;
  for (unsigned key = 0; key < n; key++)
    most = fmaxf (most, weight[key]);
  double all = 0, found = 0;
  for (unsigned key = 0; key < n; key++) {
    const double w = (double)expf (weight[key] - most);
    all += w;
    found += w * (double)__bfloat162float (v[head_at + (size_t)key * HEAD + threadIdx.x]);
  }
  const double should = found / all, off = (double)__bfloat162float (o[query_at + threadIdx.x]) - should;
  atomicAdd (&norms[0], off * off);
  atomicAdd (&norms[1], should * should);
}

static unsigned char *
array (const ComputeAttention *u, unsigned set, unsigned i)
{
  return u->pool + (size_t)(set * N_ARRAYS + i) * u->array_B;
}

bool
compute_attention_launch (void *attention, unsigned i)
{
  const ComputeAttention *u = (const ComputeAttention *)attention;
  const unsigned set = i % u->n_sets;
  const dim3 blocks ((unsigned)(u->length / TILE), (unsigned)u->heads);
  const float scale = (float)(M_LOG2E / sqrt ((double)HEAD));
  attention_kernel<<<blocks, THREADS, 0, u->device->on.stream>>> (array (u, set, 0), array (u, set, 1), array (u, set, 2),
                                                                  array (u, set, 3), u->length, u->causal, scale);
  return PROBE_CUDA (cudaGetLastError ());
}

static bool
attention_check (ComputeAttention *u)
{
  double norms[2] = { NAN, NAN };
  cudaStream_t stream = u->device->on.stream;
  Checked is = { {}, u->heads, u->length, u->causal };
  for (unsigned i = 0; i < N_ARRAYS; i++)
    is.array[i] = (const __nv_bfloat16 *)array (u, 0, i);
  if (!PROBE_CUDA (cudaMemsetAsync (u->norms, 0, sizeof norms, stream)) ||
      !PROBE_CUDA (cudaMemsetAsync (array (u, 0, 3), 0xff, u->array_B, stream)) || !compute_attention_launch (u, 0))
    return false;
  attention_check_kernel<<<CHECKED_N, HEAD, 0, stream>>> (is, u->norms);
  return PROBE_CUDA (cudaGetLastError ()) &&
         PROBE_CUDA (cudaMemcpyAsync (norms, u->norms, sizeof norms, cudaMemcpyDeviceToHost, stream)) &&
         PROBE_CUDA (cudaStreamSynchronize (stream)) && compute_is_right (sqrt (norms[0] / norms[1]), TOLERANCE);
}

bool
compute_attention_open (ComputeAttention *u, ComputeDevice *device, int heads, int length, bool causal)
{
  memset (u, 0, sizeof *u);
  u->device = device;
  u->heads = heads;
  u->length = length;
  u->causal = causal;
  u->array_B = (size_t)heads * (size_t)length * HEAD * 2;
  if (device->capability < 80)
    return probe_fail ("this kernel needs a GPU of compute capability 8.0");
  if (length % TILE != 0 || length > LENGTH_MOST)
    return probe_fail ("a length is a multiple of 64 up to 8192"); /* the table below is wrong */
  const size_t set_B = N_ARRAYS * u->array_B;
  u->n_sets = compute_sets (device, set_B, SETS_MOST);
  return PROBE_CUDA (cudaSetDevice (device->on.device)) && PROBE_CUDA (cudaMalloc (&u->norms, 2 * sizeof (double))) &&
         PROBE_CUDA (cudaMalloc (&u->pool, u->n_sets * set_B)) &&
         compute_fill (u->pool, u->n_sets * set_B, COMPUTE_BF16, FILL_SEED, device->on.stream) && attention_check (u);
}

void
compute_attention_close (ComputeAttention *u)
{
  if (u->device == NULL)
    return;
  cudaSetDevice (u->device->on.device);
  if (u->device->on.stream != NULL)
    cudaStreamSynchronize (u->device->on.stream);
  cudaFree (u->pool);
  cudaFree (u->norms);
  cudaGetLastError ();
  memset (u, 0, sizeof *u);
}

bool
compute_attention (ComputeSection *s)
{
  /* Heads of all sequences together, and tokens of a sequence. */
  static const struct {
    int heads, length;
  } shapes[] = { { 32, 8192 }, { 128, 2048 }, { 32, 2048 } };
  bool going_on = true;
  for (const auto &shape : shapes)
    for (bool causal : { true, false }) {
      if (!going_on || !compute_wants (s, WHAT))
        continue;
      ComputeAttention u;
      ProbeCase *c = probe_case (SECTION, WHAT,
                                 { { "dtype", compute_dtypes[COMPUTE_BF16].name },
                                   { "op", compute_op_names[COMPUTE_FORWARD] },
                                   { "heads", shape.heads },
                                   { "length", shape.length },
                                   { "head_dim", HEAD },
                                   { "causal", causal } });
      ComputeTimed timed = compute_timed (&s->device, compute_attention_launch, &u);
      bool ready = compute_attention_open (&u, &s->device, shape.heads, shape.length, causal);
      going_on = compute_measure (s, c, ready, &timed);
      compute_attention_close (&u);
    }
  return going_on;
}
