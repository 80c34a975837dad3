/* Attention of sequences that decode: one query, or a few, of each head against keys and values in pages of 16 tokens that lie
 * anywhere in a pool (the layout of vLLM's FlashAttention: page, K or V, token, KV head, dimension).
 *
 * No library that the probe may use has paged decoding, so the kernel is the probe's own: the heads that share keys are rows of one
 * 16-row tile of mma.sync, a sequence is cut into parts so that every SM has work, and a second kernel adds the parts up. Each warp
 * takes every fourth page of a part through a ring of its own in shared memory, so that no warp waits for another before the end.
 * Source of the method: Dao et al., "Flash-Decoding for long-context inference" (2023); arXiv 2307.08691.
 *
 * Time on one H200, estimated: 120 cases of 0.25 s: 30 s. */
#include <math.h>
#include <string.h>

#include <algorithm>

#include <cuda_bf16.h>

#include "probe_random.h"
#include "serving.h"

#define WHAT "decode"

#define HEAD      128
#define PAGE      16 /* tokens */
#define ROWS      16 /* of mma.sync: queries that share a KV head, at most */
#define WARPS     4
#define THREADS   (32 * WARPS)
#define STAGES    3
#define CHUNKS    (HEAD / 8) /* parts of 16 B in a row */
#define ROW_B     (HEAD * 2)
#define TILE_B    (PAGE * ROW_B) /* keys or values of a page and head */
#define STAGE_B   (2 * TILE_B)
#define SHARED_B  (WARPS * STAGES * STAGE_B)
#define PER_SM    2 /* blocks */
#define FULL_WARP 0xffffffffu

#define POOL_MOST_B ((size_t)24 << 30)
#define PART_PAGES  8  /* of the smallest part */
#define SETS_MOST   16 /* tables */
#define FILL_SEED   47u
#define CHECKED_N   16u
#define TOLERANCE   1e-2 /* weights and results are rounded to 2^-9 */

/* A part of a sequence: pages begin to end of its table, result number `slot`; whole: there is no other part. */
typedef struct {
  uint32_t sequence, begin, end, slot;
} Part;

typedef struct {
  uint32_t first_slot, n_slots;
} Parts;

typedef struct {
  const __nv_bfloat16 *q, *pool;
  const uint32_t *table, *table_at, *length; /* pages of all sequences; where each begins; tokens */
  const Part *part;
  const Parts *parts;
  float *sum;  /* of a slot: ROWS x HEAD */
  float2 *most; /* maximum and sum of weights of each row */
  __nv_bfloat16 *out;
  int kv_heads, rows; /* rows in use */
  float scale;
} Decode;

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
static __device__ unsigned
place (unsigned row, unsigned chunk)
{
  return row * ROW_B + ((chunk ^ (row & 7)) << 4);
}

/* Keys and values of a page and head into a stage of the warp's ring. */
static __device__ void
load_page (unsigned shared, const Decode &d, uint32_t page, int head, unsigned lane)
{
  const size_t row = (size_t)d.kv_heads * HEAD;
  const __nv_bfloat16 *from = d.pool + (size_t)page * 2 * PAGE * row + (size_t)head * HEAD;
#pragma unroll
  for (unsigned i = 0; i < 2 * PAGE * CHUNKS / 32; i++) {
    const unsigned at = lane + 32 * i, token = at / CHUNKS, chunk = at % CHUNKS; /* tokens from PAGE on: values */
    const unsigned to = shared + token / PAGE * TILE_B + place (token % PAGE, chunk);
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(to),
                 "l"(from + (size_t)token * row + chunk * 8)
                 : "memory");
  }
}

#define LOAD_MATRICES(transposed, r, address)                                                   \
  asm volatile("ldmatrix.sync.aligned.m8n8.x4" transposed ".shared.b16 {%0, %1, %2, %3}, [%4];" \
               : "=r"((r)[0]), "=r"((r)[1]), "=r"((r)[2]), "=r"((r)[3])                         \
               : "r"(address)                                                                   \
               : "memory")

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

/* The warp's rows, as mma.sync wants its first factor; rows beyond those in use are 0. */
static __device__ void
load_queries (unsigned (*q)[4], const __nv_bfloat16 *from, int rows, unsigned lane)
{
#pragma unroll
  for (int step = 0; step < HEAD / 16; step++)
#pragma unroll
    for (int part = 0; part < 4; part++) {
      const int row = (int)lane / 4 + part % 2 * 8, column = step * 16 + (int)lane % 4 * 2 + part / 2 * 8;
      q[step][part] = row < rows ? *(const unsigned *)(from + (size_t)row * HEAD + column) : 0u;
    }
}

/* What a lane keeps of its warp's queries: factors, weighted values, maximum and sum of weights of two rows. */
typedef struct {
  unsigned q[HEAD / 16][4];
  float o[HEAD / 8][4], most[2], sum[2];
} Lane;

/* One page: scores, running softmax in powers of 2, weighted values. `left`: tokens of the page that count. */
static __device__ void
take_page (Lane *of, unsigned keys, int left, float scale, unsigned lane)
{
  float (*o)[4] = of->o, *most = of->most, *sum = of->sum;
  const unsigned (*q)[4] = of->q;
  const unsigned values = keys + TILE_B;
  float s[2][4] = {};
#pragma unroll
  for (unsigned step = 0; step < HEAD / 16; step++) {
    unsigned b[4];
    LOAD_MATRICES ("", b, keys + place (lane / 16 * 8 + lane % 8, step * 2 + lane / 8 % 2));
    multiply (s[0], q[step], b);
    multiply (s[1], q[step], b + 2);
  }
#pragma unroll
  for (int half = 0; half < 2; half++) {
    float now = most[half];
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const int token = i / 2 * 8 + (int)lane % 4 * 2 + i % 2;
      float *score = &s[i / 2][2 * half + i % 2];
      *score = token < left ? *score * scale : -INFINITY;
      now = fmaxf (now, *score);
    }
    now = fmaxf (now, __shfl_xor_sync (FULL_WARP, now, 1));
    now = fmaxf (now, __shfl_xor_sync (FULL_WARP, now, 2));
    const float old = exp2f (most[half] - now);
    most[half] = now;
    sum[half] *= old;
#pragma unroll
    for (int i = 0; i < 4; i++) {
      float *score = &s[i / 2][2 * half + i % 2];
      *score = exp2f (*score - now);
      sum[half] += *score;
    }
#pragma unroll
    for (int i = 0; i < HEAD / 8; i++)
      o[i][2 * half] *= old, o[i][2 * half + 1] *= old;
  }
  const unsigned weight[4] = { pack (s[0][0], s[0][1]), pack (s[0][2], s[0][3]), pack (s[1][0], s[1][1]), pack (s[1][2], s[1][3]) };
#pragma unroll
  for (unsigned pair = 0; pair < HEAD / 16; pair++) {
    unsigned b[4];
    LOAD_MATRICES (".trans", b, values + place (lane / 8 % 2 * 8 + lane % 8, pair * 2 + lane / 16));
    multiply (o[2 * pair], weight, b);
    multiply (o[2 * pair + 1], weight, b + 2);
  }
}

/* Adds up what the warps have, through shared memory, and writes a result or a part of one. */
static __device__ void
finish (const Decode &d, const Part &part, const Lane *of, unsigned char *shared, unsigned warp, unsigned lane)
{
  const float (*o)[4] = of->o, *most = of->most, *sum = of->sum;
  float *sums = (float *)shared, *tops = sums + WARPS * ROWS * HEAD, *weights = tops + WARPS * ROWS;
  const int head = (int)blockIdx.x;
  __syncthreads ();
#pragma unroll
  for (int half = 0; half < 2; half++) {
    const unsigned row = lane / 4 + half * 8;
    float all = sum[half];
    all += __shfl_xor_sync (FULL_WARP, all, 1);
    all += __shfl_xor_sync (FULL_WARP, all, 2);
    if (lane % 4 == 0) {
      tops[warp * ROWS + row] = most[half];
      weights[warp * ROWS + row] = all;
    }
#pragma unroll
    for (int i = 0; i < HEAD / 8; i++)
      *(float2 *)&sums[(warp * ROWS + row) * HEAD + i * 8 + lane % 4 * 2] = make_float2 (o[i][2 * half], o[i][2 * half + 1]);
  }
  __syncthreads ();
  const bool whole = d.parts[part.sequence].n_slots == 1;
  for (int row = 0; row < d.rows; row++) {
    float top = -INFINITY, all = 0, value = 0;
    for (int w = 0; w < WARPS; w++)
      top = fmaxf (top, tops[w * ROWS + row]);
    for (int w = 0; w < WARPS; w++) {
      const float by = tops[w * ROWS + row] == -INFINITY ? 0.0f : exp2f (tops[w * ROWS + row] - top);
      all += by * weights[w * ROWS + row];
      value += by * sums[(w * ROWS + row) * HEAD + threadIdx.x];
    }
    const size_t slot = ((size_t)part.slot * (size_t)d.kv_heads + (size_t)head) * ROWS + (size_t)row;
    if (whole)
      d.out[(((size_t)part.sequence * (size_t)d.kv_heads + (size_t)head) * (size_t)d.rows + (size_t)row) * HEAD + threadIdx.x] =
          __float2bfloat16 (value / all);
    else {
      d.sum[slot * HEAD + threadIdx.x] = value;
      if (threadIdx.x == 0)
        d.most[slot] = make_float2 (top, all);
    }
  }
}
#endif

static __global__ void
__launch_bounds__ (THREADS, PER_SM) decode_kernel (const Decode d)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  extern __shared__ __align__ (128) unsigned char shared[];
  const Part part = d.part[blockIdx.y];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const unsigned ring = (unsigned)__cvta_generic_to_shared (shared) + warp * STAGES * STAGE_B;
  const uint32_t *table = d.table + d.table_at[part.sequence];
  const int length = (int)d.length[part.sequence], head = (int)blockIdx.x;
  Lane of = { {}, {}, { -INFINITY, -INFINITY }, {} };
  uint32_t next = part.begin + warp;
#pragma unroll
  for (int i = 0; i < STAGES - 1; i++, next += WARPS) {
    if (next < part.end)
      load_page (ring + i * STAGE_B, d, table[next], head, lane);
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  load_queries (of.q, d.q + ((size_t)part.sequence * (size_t)d.kv_heads + (size_t)head) * (size_t)d.rows * HEAD, d.rows, lane);
  unsigned stage = 0;
  for (uint32_t page = part.begin + warp; page < part.end; page += WARPS, next += WARPS) {
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
    __syncwarp ();
    if (next < part.end)
      load_page (ring + (stage + STAGES - 1) % STAGES * STAGE_B, d, table[next], head, lane);
    asm volatile("cp.async.commit_group;" ::: "memory");
    take_page (&of, ring + stage * STAGE_B, length - (int)page * PAGE, d.scale, lane);
    stage = (stage + 1) % STAGES;
    __syncwarp ();
  }
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  finish (d, part, &of, shared, warp, lane);
#endif
}

/* One block a sequence, KV head and row. */
static __global__ void
combine_kernel (const Decode d)
{
  const Parts parts = d.parts[blockIdx.z];
  if (parts.n_slots == 1)
    return;
  float top = -INFINITY, all = 0, value = 0;
  for (uint32_t i = 0; i < parts.n_slots; i++)
    top = fmaxf (top, d.most[((size_t)(parts.first_slot + i) * gridDim.y + blockIdx.y) * ROWS + blockIdx.x].x);
  for (uint32_t i = 0; i < parts.n_slots; i++) {
    const size_t slot = ((size_t)(parts.first_slot + i) * gridDim.y + blockIdx.y) * ROWS + blockIdx.x;
    const float by = exp2f (d.most[slot].x - top);
    all += by * d.most[slot].y;
    value += by * d.sum[slot * HEAD + threadIdx.x];
  }
  d.out[(((size_t)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x) * HEAD + threadIdx.x] =
      __float2bfloat16 (value / all);
}

/* A thread computes one element of the result; scores of standard normal vectors are small enough for a plain sum. */
static __global__ void
check_kernel (const Decode d, unsigned n_sequences, double *norms)
{
  const unsigned rows = (unsigned)d.rows, heads = (unsigned)d.kv_heads;
  const unsigned sequence = blockIdx.x * (n_sequences - 1) / (CHECKED_N - 1), head = blockIdx.x % heads, row = blockIdx.x % rows;
  const size_t at = (((size_t)sequence * heads + head) * rows + row) * HEAD;
  const uint32_t *table = d.table + d.table_at[sequence];
  double all = 0, found = 0;
  for (uint32_t token = 0; token < d.length[sequence]; token++) {
    const size_t key = ((size_t)table[token / PAGE] * 2 * PAGE + token % PAGE) * heads * HEAD + (size_t)head * HEAD;
    float score = 0;
    for (unsigned i = 0; i < HEAD; i++)
      score += __bfloat162float (d.q[at + i]) * __bfloat162float (d.pool[key + i]);
    const double weight = (double)exp2f (score * d.scale);
    all += weight;
    found += weight * (double)__bfloat162float (d.pool[key + (size_t)PAGE * heads * HEAD + threadIdx.x]);
  }
  const double should = found / all, off = (double)__bfloat162float (d.out[at + threadIdx.x]) - should;
  atomicAdd (&norms[0], off * off);
  atomicAdd (&norms[1], should * should);
}

/* ---- on the host ---- */

typedef struct {
  const char *shape;
  int heads, kv_heads;
} Layer;

typedef struct {
  Layer layer;
  int sequences, context, queries; /* context: of a sequence, on average */
  bool even;
} Case;

typedef struct {
  ComputeDevice *device;
  int sms;
  unsigned char *pool;
  size_t pool_B;
  double *norms;
  /* of the case */
  Decode arg;
  Case is;
  unsigned n_sets, n_parts;
  size_t table_n; /* pages of a set */
  bool cut;
} Run;

static uint32_t
length_of (const Case *c, int sequence)
{
  if (c->even || c->sequences < 2)
    return (uint32_t)c->context;
  return (uint32_t)(c->context * (0.25 + 1.5 * sequence / (c->sequences - 1)));
}

static uint32_t
pages_of (uint32_t tokens)
{
  return (tokens + PAGE - 1) / PAGE;
}

/* Pages of a part that let the last of all blocks end first, if all run at one pace and a block costs four pages besides. */
static uint32_t
best_part (const Run *u)
{
  uint32_t longest = 0, best = 0;
  double least = INFINITY;
  for (int s = 0; s < u->is.sequences; s++)
    longest = std::max (longest, pages_of (length_of (&u->is, s)));
  for (uint32_t n = 1; n <= 512; n++) {
    const uint32_t pages = (longest + n - 1) / n;
    if (n > 1 && pages < PART_PAGES)
      break;
    double blocks = 0;
    for (int s = 0; s < u->is.sequences; s++)
      blocks += (pages_of (length_of (&u->is, s)) + pages - 1) / pages;
    const double rounds = ceil (blocks * u->is.layer.kv_heads / (u->sms * PER_SM)), cost = rounds * (pages + 4);
    if (cost < least) {
      least = cost;
      best = pages;
    }
  }
  return best;
}

template <typename T>
static bool
to_gpu (const T **to, const std::vector<T> &from)
{
  void *memory = NULL;
  if (!PROBE_CUDA (cudaMalloc (&memory, from.size () * sizeof (T))))
    return false;
  *to = (const T *)memory;
  return PROBE_CUDA (cudaMemcpy (memory, from.data (), from.size () * sizeof (T), cudaMemcpyHostToDevice));
}

/* Tables: a random order of the pool's pages, so many for each set. */
static bool
make_tables (Run *u, uint32_t pages)
{
  std::vector<uint32_t> order (pages);
  for (uint32_t i = 0; i < pages; i++)
    order[i] = i;
  for (uint32_t i = pages - 1; i > 0; i--)
    std::swap (order[i], order[probe_random (3, i) % (i + 1)]);
  order.resize (u->table_n * u->n_sets);
  return to_gpu (&u->arg.table, order);
}

static bool
make_parts (Run *u)
{
  const uint32_t part_pages = best_part (u);
  std::vector<Part> part;
  std::vector<Parts> parts;
  std::vector<uint32_t> at, length;
  uint32_t begin = 0;
  u->cut = false;
  for (int s = 0; s < u->is.sequences; s++) {
    const uint32_t tokens = length_of (&u->is, s), pages = pages_of (tokens), first = (uint32_t)part.size ();
    for (uint32_t p = 0; p < pages; p += part_pages)
      part.push_back ({ (uint32_t)s, p, std::min (p + part_pages, pages), (uint32_t)part.size () });
    parts.push_back ({ first, (uint32_t)part.size () - first });
    u->cut = u->cut || parts.back ().n_slots > 1;
    at.push_back (begin);
    length.push_back (tokens);
    begin += pages;
  }
  u->table_n = begin;
  u->n_parts = (unsigned)part.size ();
  const size_t slots = part.size () * (size_t)u->is.layer.kv_heads * ROWS;
  return to_gpu (&u->arg.part, part) && to_gpu (&u->arg.parts, parts) && to_gpu (&u->arg.table_at, at) &&
         to_gpu (&u->arg.length, length) && PROBE_CUDA (cudaMalloc (&u->arg.sum, slots * HEAD * sizeof (float))) &&
         PROBE_CUDA (cudaMalloc (&u->arg.most, slots * sizeof (float2)));
}

static bool
decode_launch (void *user, unsigned i)
{
  const Run *u = (const Run *)user;
  Decode arg = u->arg;
  arg.table += i % u->n_sets * u->table_n;
  const unsigned heads = (unsigned)u->is.layer.kv_heads;
  decode_kernel<<<dim3 (heads, u->n_parts), THREADS, SHARED_B, u->device->on.stream>>> (arg);
  if (u->cut)
    combine_kernel<<<dim3 ((unsigned)arg.rows, heads, (unsigned)u->is.sequences), HEAD, 0, u->device->on.stream>>> (arg);
  return PROBE_CUDA (cudaGetLastError ());
}

static bool
decode_check (Run *u, size_t out_B)
{
  double norms[2] = { NAN, NAN };
  const cudaStream_t stream = u->device->on.stream;
  if (!PROBE_CUDA (cudaMemsetAsync (u->norms, 0, sizeof norms, stream)) ||
      !PROBE_CUDA (cudaMemsetAsync (u->arg.out, 0xff, out_B, stream)) || !decode_launch (u, 0))
    return false;
  check_kernel<<<CHECKED_N, HEAD, 0, stream>>> (u->arg, (unsigned)u->is.sequences, u->norms);
  return PROBE_CUDA (cudaGetLastError ()) &&
         PROBE_CUDA (cudaMemcpyAsync (norms, u->norms, sizeof norms, cudaMemcpyDeviceToHost, stream)) &&
         PROBE_CUDA (cudaStreamSynchronize (stream)) && compute_is_right (sqrt (norms[0] / norms[1]), TOLERANCE);
}

static void
drop_case (Run *u)
{
  const void *const held[] = { u->arg.q,    u->arg.table, u->arg.table_at, u->arg.length, u->arg.part,
                               u->arg.parts, u->arg.sum,   u->arg.most,     u->arg.out };
  for (const void *memory : held)
    cudaFree ((void *)memory);
  cudaGetLastError ();
}

/* False: `c` cannot be measured; probe_why says why. */
static bool
make_case (Run *u, const Case *c)
{
  memset (&u->arg, 0, sizeof u->arg);
  u->is = *c;
  const size_t page_B = (size_t)2 * PAGE * (size_t)c->layer.kv_heads * ROW_B;
  const size_t queries_B = (size_t)c->sequences * (size_t)c->layer.heads * (size_t)c->queries * ROW_B;
  if (!make_parts (u))
    return false;
  const size_t most = u->pool_B / (u->table_n * page_B);
  u->n_sets = compute_sets (u->device, u->table_n * page_B, most < SETS_MOST ? most : SETS_MOST);
  const size_t pages = std::min (u->pool_B / page_B, u->table_n * u->n_sets * 2);
  void *q = NULL;
  u->arg.pool = (const __nv_bfloat16 *)u->pool;
  u->arg.kv_heads = c->layer.kv_heads;
  u->arg.rows = c->layer.heads / c->layer.kv_heads * c->queries;
  u->arg.scale = (float)(M_LOG2E / sqrt ((double)HEAD));
  if (!make_tables (u, (uint32_t)pages) || !PROBE_CUDA (cudaMalloc (&q, queries_B)))
    return false;
  u->arg.q = (const __nv_bfloat16 *)q;
  return PROBE_CUDA (cudaMalloc (&u->arg.out, queries_B)) &&
         compute_fill (q, queries_B, COMPUTE_BF16, FILL_SEED, u->device->on.stream) && decode_check (u, queries_B);
}

static bool
one (ComputeSection *s, Run *u, const Case *c)
{
  const size_t token_B = (size_t)2 * (size_t)c->layer.kv_heads * ROW_B;
  const size_t needed_B = (size_t)c->sequences * (size_t)c->context * token_B;
  if (needed_B > u->pool_B || !compute_wants (s, WHAT))
    return true;
  ProbeCase *point = probe_case (SERVING_SECTION, WHAT,
                                 { { "dtype", compute_dtypes[COMPUTE_BF16].name },
                                   { "sequences", c->sequences },
                                   { "context", c->context },
                                   { "balance", c->even ? "even" : "linear" },
                                   { "queries", c->queries },
                                   { "heads", c->layer.heads },
                                   { "kv_heads", c->layer.kv_heads },
                                   { "head_dim", HEAD },
                                   { "shape", c->layer.shape } });
  ComputeTimed timed = compute_timed (&s->device, decode_launch, u);
  const bool ready = make_case (u, c);
  if (ready) {
    double tokens = 0;
    for (int i = 0; i < c->sequences; i++)
      tokens += length_of (c, i);
    probe_add (point, { { "tokens", tokens } });
  }
  const bool going_on = compute_measure (s, point, ready, &timed);
  drop_case (u);
  return going_on;
}

static bool
all_cases (ComputeSection *s, Run *u)
{
  /* Llama 3 8B on 1 and 4 GPUs, 70B on 1 and 8, OLMo-like heads of their own. */
  static const Layer layers[] = { { "llama3_8b", 32, 8 },       { "llama3_70b.tp8", 8, 1 }, { "llama3_70b", 64, 8 },
                                  { "llama3_8b.tp4", 8, 2 },    { "own_heads", 32, 32 } };
  static const int sequences[] = { 1, 4, 16, 64, 256 }, contexts[] = { 512, 2048, 8192, 32768 };
  for (const Layer &layer : layers)
    for (int n : sequences)
      for (int context : contexts)
        for (bool even : { true, false }) {
          const Case c = { layer, n, context, 1, even };
          if ((!even && (n < 16 || context == 32768)) || (probe_options (s->probe)->quick && context != 2048))
            continue;
          if (!one (s, u, &c))
            return false;
        }
  for (int queries : { 2, 4 }) /* drafts: 16 rows at the most */
    for (int n : { 16, 64 }) {
      const Case c = { layers[0], n, 2048, queries, true };
      if (!one (s, u, &c))
        return false;
    }
  return true;
}

bool
serving_decode (ComputeSection *s)
{
  if (!compute_wants (s, WHAT))
    return true;
  Run u = Run ();
  u.device = &s->device;
  size_t free_B = 0, total_B = 0;
  bool open = s->device.capability >= 80 || probe_fail ("the kernel needs compute capability 8.0");
  open = open && PROBE_CUDA (cudaMemGetInfo (&free_B, &total_B)) &&
         PROBE_CUDA (cudaDeviceGetAttribute (&u.sms, cudaDevAttrMultiProcessorCount, s->device.on.device)) &&
         PROBE_CUDA (cudaFuncSetAttribute (decode_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_B));
  u.pool_B = std::min (POOL_MOST_B, free_B / 2);
  open = open && PROBE_CUDA (cudaMalloc (&u.pool, u.pool_B)) && PROBE_CUDA (cudaMalloc (&u.norms, 2 * sizeof (double))) &&
         compute_fill (u.pool, u.pool_B, COMPUTE_BF16, FILL_SEED + 1, s->device.on.stream);
  bool going_on = open ? all_cases (s, &u)
                       : probe_failed (s->probe, probe_case (SERVING_SECTION, WHAT, { { "sequences", 1 } })) ||
                             compute_device_alive (&s->device);
  cudaFree (u.pool);
  cudaFree (u.norms);
  cudaGetLastError ();
  return going_on;
}
