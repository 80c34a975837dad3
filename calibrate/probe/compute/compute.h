/* What the compute and the overlap sections share: a device with a stream, timing of queued work, random operands, GEMMs. */
#ifndef FORERUN_PROBE_COMPUTE_H
#define FORERUN_PROBE_COMPUTE_H

#include <cublasLt.h>
#include <cublas_v2.h>

#include "gpu.h"

/* Operations queued behind a closed gate. A stream takes about 1024 launches before it makes the host wait;
 * one of cuBLAS's may be two. */
#define COMPUTE_QUEUE_MOST 512u
/* Parts of device memory begin at multiples of this, as cudaMalloc's own results do. */
#define COMPUTE_ALIGN_B      ((size_t)256)
#define COMPUTE_COUNT(array) (sizeof (array) / sizeof (array)[0])

/* One GPU, the stream that work is queued on, and a gate that holds it until the host has queued everything. */
typedef struct {
  int capability; /* 10 x major + minor */
  size_t l2_B;
  GpuStream on;
  GpuGate gate;
} ComputeDevice;

/* Makes `device` the current one of the calling thread. Close after a failed open as well. */
bool compute_device_open (ComputeDevice *d, int device);
void compute_device_close (ComputeDevice *d);
/* Whether the device still works after a failure. */
bool compute_device_alive (ComputeDevice *d);
/* How many sets of `set_B` to take in turn so that the L2 cache holds nothing of the last turn: at least two, where there is memory
 * for `most`. */
unsigned compute_sets (const ComputeDevice *d, size_t set_B, size_t most);

/* Operations in a row on the stream of a device. */
typedef struct {
  GpuWork work;
  GpuGate *gate;      /* NULL: the operation may wait for the stream itself, so that nothing can be queued behind a gate */
  unsigned parts;     /* of one launch, where not the launch is timed but each of its parts */
  ProbeRepeat repeat; /* once prepared */
} ComputeTimed;

ComputeTimed compute_timed (ComputeDevice *d, GpuLaunch launch, void *user);
/* Warms up and chooses how many in a row make a sample. It must not move from here on. */
bool compute_timed_prepare (ComputeTimed *t);

/* Successive windows of sustained work, and how many of them are reported at the most. */
#define COMPUTE_WINDOW_S     50e-3
#define COMPUTE_WINDOWS_MOST 16
typedef double ComputeWindows[COMPUTE_WINDOWS_MOST];
/* Back-to-back work on several devices at once for about `total_s`: the second half of the windows of each as seconds per
 * operation. Returns how many, 0: failed. */
size_t compute_windows (const std::vector<ComputeTimed *> &timed, double total_s, ComputeWindows *sample_s);

typedef enum { COMPUTE_BF16, COMPUTE_FP16, COMPUTE_FP8, COMPUTE_TF32, COMPUTE_N_DTYPES } ComputeDtype;

typedef struct {
  const char *name;
  size_t in_B, out_B; /* of one element */
  cudaDataType_t in, out;
  cublasComputeType_t compute;
  int capability;   /* the least that has it */
  double tolerance; /* relative error in the 2-norm that rounding the result and accumulating explain */
} ComputeDtypeRow;

typedef enum { COMPUTE_FORWARD, COMPUTE_DGRAD, COMPUTE_WGRAD, COMPUTE_N_OPS } ComputeOp;

/* A linear layer on m tokens, row-major: forward Y[m,n] = X[m,k] W[n,k]^T, dgrad dX[m,k] = dY[m,n] W[n,k], wgrad
 * dW[n,k] = dY[m,n]^T X[m,k]. The same flop each: 2 m n k batch. */
typedef struct {
  ComputeDtype dtype;
  ComputeOp op;
  int m, n, k, batch;
} ComputeProblem;

/* The same as cuBLAS is asked for it, column-major: C[rows, columns] = op(A)[rows, depth] op(B)[depth, columns]. */
typedef struct {
  cublasOperation_t trans_a, trans_b;
  int rows, columns, depth, lda, ldb, ldc;
  long long a_stride, b_stride, c_stride; /* elements from one of a batch to the next */
  size_t a_B, b_B, c_B;                   /* of the whole batch, aligned */
} ComputeLayout;

typedef struct {
  ComputeDevice *device;
  cublasHandle_t blas;
  cublasLtHandle_t lt;
  void *workspace;
  float *one;              /* on the device: scale of fp8 operands */
  double *norms;           /* on the device: squares of the difference and of the reference */
  unsigned char *in, *out; /* operands and results */
  size_t in_B, out_B;
  int filled;             /* dtype that `in` holds; -1: none */
  ComputeProblem problem; /* the one in preparation */
  ComputeLayout layout;
  unsigned n_sets; /* of operands and results, taken in turn */
  cublasLtMatmulDesc_t matmul;
  cublasLtMatrixLayout_t a, b, c;
  cublasLtMatmulAlgo_t algorithm;
} ComputeGemm;

extern const ComputeDtypeRow compute_dtypes[COMPUTE_N_DTYPES];
extern const char *const compute_op_names[COMPUTE_N_OPS];

bool compute_blas_ok (cublasStatus_t status);
/* A result's relative error against what is accepted. */
bool compute_is_right (double relative, double accepted);
/* Standard normal numbers, a function of seed and place alone. tf32 is fp32 that is rounded to what tf32 holds. */
bool compute_fill (void *to, size_t size_B, ComputeDtype dtype, uint64_t seed, cudaStream_t stream);

ComputeLayout compute_layout (const ComputeProblem *p);
/* Memory for `in_B` of operands and `out_B` of results. Close after a failed open as well. */
bool compute_gemm_open (ComputeGemm *g, ComputeDevice *device, size_t in_B, size_t out_B);
void compute_gemm_close (ComputeGemm *g);
/* False: this GPU or this memory cannot take the problem. */
bool compute_gemm_takes (const ComputeGemm *g, const ComputeProblem *p);
/* Chooses sets and algorithm, fills the operands when the dtype changed. */
bool compute_gemm_set (ComputeGemm *g, const ComputeProblem *p);
bool compute_gemm_launch (void *gemm, unsigned i); /* a GpuLaunch */
/* Runs the problem once and compares elements all over the result with products in double precision. */
bool compute_gemm_check (ComputeGemm *g);
/* The comparison alone, for a product that something else has launched. */
typedef struct {
  ComputeDtype dtype;
  ComputeLayout layout;
  int batch;
  const void *a, *b, *c;
} ComputeProduct;
bool compute_gemm_compare (ComputeGemm *g, const ComputeProduct *p);

/* Queues the memory-bound copy; both arrays aligned, `size_B` a multiple of 16. */
bool compute_copy (ComputeDevice *d, const void *in, void *out, size_t size_B);

#define COMPUTE_ATTENTION_HEAD 128

/* Attention over `heads` sequences of `length` tokens, each head with keys and values of its own. */
typedef struct {
  ComputeDevice *device;
  int heads, length;
  bool causal;
  unsigned char *pool; /* sets of Q, K, V and O */
  size_t array_B;
  unsigned n_sets;
  double *norms; /* on the device */
} ComputeAttention;

/* Allocates, fills and checks. Close after a failed open as well. */
bool compute_attention_open (ComputeAttention *u, ComputeDevice *device, int heads, int length, bool causal);
bool compute_attention_launch (void *attention, unsigned i); /* a GpuLaunch */
void compute_attention_close (ComputeAttention *u);

/* Parts of the section; each false when the device cannot go on. */
typedef struct {
  Probe *probe;
  const char *name; /* of the section that the points belong to */
  ComputeDevice device;
  ComputeGemm gemm;
  bool device_open, device_failed, gemm_open, gemm_failed;
} ComputeSection;

/* probe_wants; opens the device at the first case that is wanted. */
bool compute_wants (ComputeSection *s, const char *what);
/* Makes the point of a case whose operation is `ready`, or has failed to be. False: the device cannot go on. */
bool compute_measure (ComputeSection *s, ProbeCase *c, bool ready, ComputeTimed *timed);
bool compute_section_gemm (ComputeSection *s); /* opens it at the first call; false: no GEMM can be measured */
bool compute_gemm_first (ComputeSection *s);
bool compute_gemm_others (ComputeSection *s);
bool compute_gemm_sustained (ComputeSection *s);
bool compute_gemm_batched (ComputeSection *s);
bool compute_gemm_grouped (ComputeSection *s);
bool compute_gemm_gpus (ComputeSection *s);
bool compute_memory (ComputeSection *s);
bool compute_launch (ComputeSection *s);
bool compute_attention (ComputeSection *s);

#endif
