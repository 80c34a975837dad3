/* GEMMs through cuBLAS, fp8 through cuBLASLt, with operands that do not stay in the L2 cache and a check of each problem's
 * result. */
#include <math.h>
#include <string.h>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "compute.h"
#include "probe_random.h"

/* What frameworks give cuBLAS on Hopper and later. */
#define WORKSPACE_B ((size_t)32 << 20)
/* Elements of a result that are compared. */
#define COMPARED_MOST   4096u
#define COMPARE_THREADS 128
/* Cutting to 14 bits errs to one side: beyond this many summands the error of fp8 grows with them. */
#define FP8_SUMMANDS 16384.0
#define FILL_THREADS 256
#define FILL_BLOCKS  4096u
#define FILL_SEED    20240731u
#define COMPARE_SEED 7u

/* Tolerances: results of 16 bits are rounded to 2^-9 or 2^-12 and accumulated in fp32; fp8 products are exact, but Hopper's
 * tensor cores add them with about 14 bits; tf32 operands are rounded beforehand, so that fp32 accumulation is all that is left.
 * A product of wrong operands is off by about 1.4, the root of 2. */
const ComputeDtypeRow compute_dtypes[COMPUTE_N_DTYPES] = {
  { "bf16", 2, 2, CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F, 80, 1e-2 },
  { "fp16", 2, 2, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F, 70, 1e-2 },
  { "fp8", 1, 2, CUDA_R_8F_E4M3, CUDA_R_16BF, CUBLAS_COMPUTE_32F, 89, 5e-2 },
  { "tf32", 4, 4, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, 80, 1e-3 },
};

const char *const compute_op_names[COMPUTE_N_OPS] = { "forward", "dgrad", "wgrad" };

bool
compute_blas_ok (cublasStatus_t status)
{
  return status == CUBLAS_STATUS_SUCCESS || probe_fail ("cuBLAS: %s", cublasGetStatusString (status));
}

bool
compute_is_right (double relative, double accepted)
{
  if (relative <= accepted) /* false as well for what is no number */
    return true;
  return probe_fail ("wrong result: relative error %.3g; up to %.3g is accepted", relative, accepted);
}

template <typename T>
static __device__ void
put (T *to, float x)
{
  *to = T (x);
}

/* To tf32, 10 bits after the point: half of the last bit that stays is added, the others are cut. */
static __device__ void
put (float *to, float x)
{
  *to = __uint_as_float ((__float_as_uint (x) + 0x1000u) & ~0x1fffu);
}

/* Box and Muller: two numbers from one counter. */
template <typename T>
static __global__ void
fill_kernel (T *to, size_t n_pairs, uint64_t seed)
{
  for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n_pairs; i += (size_t)gridDim.x * blockDim.x) {
    uint64_t bits = probe_random (seed, i);
    float u = ((float)(uint32_t)(bits >> 40) + 1.0f) * 0x1p-24f; /* 0 < u <= 1 */
    float angle = (float)(uint32_t)(bits & 0xffffff) * 0x1p-23f; /* in units of pi: 0 to 2 */
    float radius = sqrtf (-2.0f * logf (u));
    float sine, cosine;
    sincospif (angle, &sine, &cosine);
    put (to + 2 * i, radius * cosine);
    put (to + 2 * i + 1, radius * sine);
  }
}

/* Calls f with two null pointers, whose types are those of operands and results. */
template <typename F>
static void
with_types (ComputeDtype dtype, F f)
{
  if (dtype == COMPUTE_BF16)
    f ((__nv_bfloat16 *)NULL, (__nv_bfloat16 *)NULL);
  else if (dtype == COMPUTE_FP16)
    f ((__half *)NULL, (__half *)NULL);
  else if (dtype == COMPUTE_FP8)
    f ((__nv_fp8_e4m3 *)NULL, (__nv_bfloat16 *)NULL);
  else
    f ((float *)NULL, (float *)NULL);
}

bool
compute_fill (void *to, size_t size_B, ComputeDtype dtype, uint64_t seed, cudaStream_t stream)
{
  size_t n_pairs = size_B / compute_dtypes[dtype].in_B / 2;
  size_t needed = (n_pairs + FILL_THREADS - 1) / FILL_THREADS;
  unsigned blocks = needed < FILL_BLOCKS ? (unsigned)needed : FILL_BLOCKS;
  if (blocks == 0)
    return true;
  with_types (dtype,
              [=] (auto *in, auto *) { fill_kernel<<<blocks, FILL_THREADS, 0, stream>>> ((decltype (in))to, n_pairs, seed); });
  return PROBE_CUDA (cudaGetLastError ());
}

static size_t
aligned (size_t size_B)
{
  return (size_B + COMPUTE_ALIGN_B - 1) / COMPUTE_ALIGN_B * COMPUTE_ALIGN_B;
}

/* A row-major matrix is its transpose column-major, so each product is asked for transposed: forward Y^T = W X^T, dgrad dX^T =
 * W^T dY^T, wgrad dW^T = X^T dY. fp8 units want both operands with the summed index contiguous (TN): frameworks keep transposed
 * copies for dgrad and wgrad, and so the operands stand transposed here. */
ComputeLayout
compute_layout (const ComputeProblem *p)
{
  ComputeLayout at;
  memset (&at, 0, sizeof at);
  long long weight = (long long)p->n * p->k, input = (long long)p->m * p->k, output = (long long)p->m * p->n;
  at.trans_a = at.trans_b = CUBLAS_OP_N;
  if (p->op == COMPUTE_FORWARD) {
    at.trans_a = CUBLAS_OP_T;
    at.rows = p->n, at.columns = p->m, at.depth = p->k;
    at.lda = at.ldb = p->k;
    at.a_stride = weight, at.b_stride = input, at.c_stride = output;
  } else if (p->op == COMPUTE_DGRAD) {
    at.rows = p->k, at.columns = p->m, at.depth = p->n;
    at.lda = p->k, at.ldb = p->n;
    at.a_stride = weight, at.b_stride = output, at.c_stride = input;
  } else {
    at.trans_b = CUBLAS_OP_T;
    at.rows = p->k, at.columns = p->n, at.depth = p->m;
    at.lda = p->k, at.ldb = p->n;
    at.a_stride = input, at.b_stride = output, at.c_stride = weight;
  }
  at.ldc = at.rows;
  if (p->dtype == COMPUTE_FP8) {
    at.trans_a = CUBLAS_OP_T;
    at.trans_b = CUBLAS_OP_N;
    at.lda = at.ldb = at.depth;
  }
  const ComputeDtypeRow *dtype = &compute_dtypes[p->dtype];
  at.a_B = aligned ((size_t)at.a_stride * (size_t)p->batch * dtype->in_B);
  at.b_B = aligned ((size_t)at.b_stride * (size_t)p->batch * dtype->in_B);
  at.c_B = aligned ((size_t)at.c_stride * (size_t)p->batch * dtype->out_B);
  return at;
}

bool
compute_gemm_open (ComputeGemm *g, ComputeDevice *device, size_t in_B, size_t out_B)
{
  memset (g, 0, sizeof *g);
  g->device = device;
  g->filled = -1;
  g->in_B = in_B;
  g->out_B = out_B;
  const float one = 1.0f;
  /* cublasSetStream takes the workspace away again: first the one, then the other. */
  return PROBE_CUDA (cudaSetDevice (device->on.device)) && compute_blas_ok (cublasCreate (&g->blas)) &&
         compute_blas_ok (cublasLtCreate (&g->lt)) && PROBE_CUDA (cudaMalloc (&g->workspace, WORKSPACE_B)) &&
         PROBE_CUDA (cudaMalloc (&g->one, sizeof one)) && PROBE_CUDA (cudaMalloc (&g->norms, 2 * sizeof (double))) &&
         PROBE_CUDA (cudaMalloc (&g->in, in_B)) && PROBE_CUDA (cudaMalloc (&g->out, out_B)) &&
         PROBE_CUDA (cudaMemcpy (g->one, &one, sizeof one, cudaMemcpyHostToDevice)) &&
         compute_blas_ok (cublasSetStream (g->blas, device->on.stream)) &&
         compute_blas_ok (cublasSetWorkspace (g->blas, g->workspace, WORKSPACE_B));
}

static void
forget_lt (ComputeGemm *g)
{
  if (g->matmul != NULL)
    cublasLtMatmulDescDestroy (g->matmul);
  if (g->a != NULL)
    cublasLtMatrixLayoutDestroy (g->a);
  if (g->b != NULL)
    cublasLtMatrixLayoutDestroy (g->b);
  if (g->c != NULL)
    cublasLtMatrixLayoutDestroy (g->c);
  g->matmul = NULL;
  g->a = g->b = g->c = NULL;
}

void
compute_gemm_close (ComputeGemm *g)
{
  if (g->device == NULL)
    return;
  cudaSetDevice (g->device->on.device);
  if (g->device->on.stream != NULL)
    cudaStreamSynchronize (g->device->on.stream);
  forget_lt (g);
  if (g->blas != NULL)
    cublasDestroy (g->blas);
  if (g->lt != NULL)
    cublasLtDestroy (g->lt);
  cudaFree (g->workspace);
  cudaFree (g->one);
  cudaFree (g->norms);
  cudaFree (g->in);
  cudaFree (g->out);
  cudaGetLastError ();
  memset (g, 0, sizeof *g);
}

bool
compute_gemm_takes (const ComputeGemm *g, const ComputeProblem *p)
{
  const ComputeDtypeRow *dtype = &compute_dtypes[p->dtype];
  if (g->device->capability < dtype->capability)
    return probe_fail ("%s needs a GPU of compute capability %d.%d; this one has %d.%d", dtype->name, dtype->capability / 10,
                       dtype->capability % 10, g->device->capability / 10, g->device->capability % 10);
  ComputeLayout at = compute_layout (p);
  if (at.a_B + at.b_B > g->in_B || at.c_B > g->out_B)
    return probe_fail ("operands or result are larger than the part of this GPU's memory that is used for them");
  return true;
}

static bool
set_lt (ComputeGemm *g)
{
  const ComputeLayout *at = &g->layout;
  const ComputeDtypeRow *dtype = &compute_dtypes[g->problem.dtype];
  /* As frameworks do: the forward pass adds in the tensor cores alone, gradients now and then in fp32 registers. */
  const int8_t fast = g->problem.op == COMPUTE_FORWARD;
  const float *scale = g->one;
  const size_t workspace_B = WORKSPACE_B;
  cublasLtMatmulPreference_t preference = NULL;
  cublasLtMatmulHeuristicResult_t found;
  int n_found = 0;
  forget_lt (g);
#define SET(attribute, value) \
  compute_blas_ok (cublasLtMatmulDescSetAttribute (g->matmul, CUBLASLT_MATMUL_DESC_##attribute, &(value), sizeof (value)))
#define LAYOUT(which, type, rows, columns, leading) \
  compute_blas_ok (cublasLtMatrixLayoutCreate (&g->which, dtype->type, (uint64_t)(rows), (uint64_t)(columns), leading))
  bool ok =
      compute_blas_ok (cublasLtMatmulDescCreate (&g->matmul, dtype->compute, CUDA_R_32F)) && SET (TRANSA, at->trans_a) &&
      SET (TRANSB, at->trans_b) && SET (FAST_ACCUM, fast) && SET (A_SCALE_POINTER, scale) && SET (B_SCALE_POINTER, scale) &&
      LAYOUT (a, in, at->depth, at->rows, at->lda) && LAYOUT (b, in, at->depth, at->columns, at->ldb) &&
      LAYOUT (c, out, at->rows, at->columns, at->ldc) && compute_blas_ok (cublasLtMatmulPreferenceCreate (&preference)) &&
      compute_blas_ok (cublasLtMatmulPreferenceSetAttribute (preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace_B,
                                                             sizeof workspace_B)) &&
      compute_blas_ok (cublasLtMatmulAlgoGetHeuristic (g->lt, g->matmul, g->a, g->b, g->c, g->c, preference, 1, &found, &n_found));
#undef SET
#undef LAYOUT
  if (preference != NULL)
    cublasLtMatmulPreferenceDestroy (preference);
  if (ok && (n_found < 1 || found.state != CUBLAS_STATUS_SUCCESS))
    return probe_fail ("cuBLASLt has no algorithm for this problem");
  if (ok)
    g->algorithm = found.algo;
  return ok;
}

bool
compute_gemm_set (ComputeGemm *g, const ComputeProblem *p)
{
  if (!PROBE_CUDA (cudaSetDevice (g->device->on.device)))
    return false;
  g->problem = *p;
  g->layout = compute_layout (p);
  const size_t in_B = g->layout.a_B + g->layout.b_B, out_B = g->layout.c_B;
  const size_t most = g->in_B / in_B < g->out_B / out_B ? g->in_B / in_B : g->out_B / out_B;
  g->n_sets = compute_sets (g->device, in_B + out_B, most);
  if (g->n_sets == 0)
    return probe_fail ("no memory for operands and result"); /* compute_gemm_takes was not asked */
  if (g->filled != (int)p->dtype) {
    g->filled = -1;
    if (!compute_fill (g->in, g->in_B, p->dtype, FILL_SEED, g->device->on.stream))
      return false;
    g->filled = (int)p->dtype;
  }
  return p->dtype != COMPUTE_FP8 || set_lt (g);
}

bool
compute_gemm_launch (void *gemm, unsigned i)
{
  ComputeGemm *g = (ComputeGemm *)gemm;
  const ComputeLayout *at = &g->layout;
  const ComputeDtypeRow *dtype = &compute_dtypes[g->problem.dtype];
  const float one = 1.0f, zero = 0.0f;
  const size_t set = i % g->n_sets;
  const void *a = g->in + set * (at->a_B + at->b_B), *b = g->in + set * (at->a_B + at->b_B) + at->a_B;
  void *c = g->out + set * at->c_B;
  cublasStatus_t status;
  if (g->problem.dtype == COMPUTE_FP8)
    status = cublasLtMatmul (g->lt, g->matmul, &one, a, g->a, b, g->b, &zero, c, g->c, c, g->c, &g->algorithm, g->workspace,
                             WORKSPACE_B, g->device->on.stream);
  else if (g->problem.batch > 1)
    status = cublasGemmStridedBatchedEx (g->blas, at->trans_a, at->trans_b, at->rows, at->columns, at->depth, &one, a, dtype->in,
                                         at->lda, at->a_stride, b, dtype->in, at->ldb, at->b_stride, &zero, c, dtype->out, at->ldc,
                                         at->c_stride, g->problem.batch, dtype->compute, CUBLAS_GEMM_DEFAULT);
  else
    status = cublasGemmEx (g->blas, at->trans_a, at->trans_b, at->rows, at->columns, at->depth, &one, a, dtype->in, at->lda, b,
                           dtype->in, at->ldb, &zero, c, dtype->out, at->ldc, dtype->compute, CUBLAS_GEMM_DEFAULT);
  return compute_blas_ok (status);
}

/* One block an element: its product in double precision against what stands in C. */
template <typename In, typename Out>
static __global__ void
compare_kernel (ComputeLayout at, size_t n_elements, bool all, const In *a, const In *b, const Out *c, double *norms)
{
  __shared__ double partial[COMPARE_THREADS];
  const size_t rows = (size_t)at.rows, columns = (size_t)at.columns, lda = (size_t)at.lda, ldb = (size_t)at.ldb;
  const size_t element = all ? blockIdx.x : probe_random (COMPARE_SEED, blockIdx.x) % n_elements;
  const size_t row = element % rows, column = element / rows % columns, batch = element / rows / columns;
  a += batch * (size_t)at.a_stride;
  b += batch * (size_t)at.b_stride;
  double sum = 0;
  for (size_t i = threadIdx.x; i < (size_t)at.depth; i += COMPARE_THREADS)
    sum += (double)(float)(at.trans_a == CUBLAS_OP_N ? a[row + i * lda] : a[i + row * lda]) *
           (double)(float)(at.trans_b == CUBLAS_OP_N ? b[i + column * ldb] : b[column + i * ldb]);
  partial[threadIdx.x] = sum;
  for (unsigned half = COMPARE_THREADS / 2; half > 0; half /= 2) {
    __syncthreads ();
    if (threadIdx.x < half)
      partial[threadIdx.x] += partial[threadIdx.x + half];
  }
  if (threadIdx.x == 0) {
    double found = (double)(float)c[batch * (size_t)at.c_stride + column * (size_t)at.ldc + row];
    atomicAdd (&norms[0], (found - partial[0]) * (found - partial[0]));
    atomicAdd (&norms[1], partial[0] * partial[0]);
  }
}

bool
compute_gemm_compare (ComputeGemm *g, const ComputeProduct *p)
{
  const size_t n = (size_t)p->layout.rows * (size_t)p->layout.columns * (size_t)p->batch;
  const bool all = n <= COMPARED_MOST;
  const unsigned blocks = all ? (unsigned)n : COMPARED_MOST;
  cudaStream_t stream = g->device->on.stream;
  double norms[2] = { NAN, NAN };
  if (!PROBE_CUDA (cudaMemsetAsync (g->norms, 0, sizeof norms, stream)))
    return false;
  with_types (p->dtype, [=] (auto *in, auto *out) {
    typedef decltype (in) In;
    compare_kernel<<<blocks, COMPARE_THREADS, 0, stream>>> (p->layout, n, all, (In)p->a, (In)p->b, (decltype (out))p->c, g->norms);
  });
  if (!PROBE_CUDA (cudaGetLastError ()) ||
      !PROBE_CUDA (cudaMemcpyAsync (norms, g->norms, sizeof norms, cudaMemcpyDeviceToHost, stream)) ||
      !PROBE_CUDA (cudaStreamSynchronize (stream)))
    return false;
  double accepted = compute_dtypes[p->dtype].tolerance;
  if (p->dtype == COMPUTE_FP8 && p->layout.depth > FP8_SUMMANDS)
    accepted *= p->layout.depth / FP8_SUMMANDS;
  return compute_is_right (sqrt (norms[0] / norms[1]), accepted);
}

bool
compute_gemm_check (ComputeGemm *g)
{
  const ComputeProduct p = { g->problem.dtype, g->layout, g->problem.batch, g->in, g->in + g->layout.a_B, g->out };
  /* All bits set is no number in every dtype: an element that is not written shows. */
  return PROBE_CUDA (cudaMemsetAsync (g->out, 0xff, g->layout.c_B, g->device->on.stream)) && compute_gemm_launch (g, 0) &&
         compute_gemm_compare (g, &p);
}
