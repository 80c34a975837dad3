/* What the compute and the overlap sections share: a device with a stream, timing of queued work, random operands, GEMMs.
 *
 * Functions that can fail return false (or NAN) and put why into `error`: a static text, or one that stays allocated. */
#ifndef FORERUN_PROBE_COMPUTE_H
#define FORERUN_PROBE_COMPUTE_H

#include <cublasLt.h>
#include <cublas_v2.h>

#include "probe.h"

/* An interval between two events is this long: their resolution of about 0.5 us is then below 0.05 %. */
#define COMPUTE_BURST_S 2e-3
/* Operations queued behind a closed gate. A stream takes about 1024 launches before it makes the host wait;
 * one of cuBLAS's may be two. */
#define COMPUTE_QUEUE_MOST 512u
/* Parts of device memory begin at multiples of this, as cudaMalloc's own results do. */
#define COMPUTE_ALIGN_B ((size_t)256)

/* One GPU, the stream that work is queued on, and a gate: a kernel that holds the stream until the host has queued everything. */
typedef struct {
  int device;
  int capability; /* 10 x major + minor */
  size_t l2_B;
  cudaStream_t stream;
  cudaEvent_t start, stop;
  volatile uint32_t *gate;        /* a word of pinned memory: tickets up to it may pass */
  const uint32_t *gate_on_device; /* the same word as the device sees it */
  uint32_t ticket;
} ComputeDevice;

/* Queues the i-th of a run of operations on the stream of the device that `user` was made for. */
typedef bool (*ComputeLaunch) (void *user, unsigned i, const char **error);

/* Operations in a row between two events. */
typedef struct {
  ComputeDevice *device;
  ComputeLaunch launch;
  void *user;
  bool gated;    /* false: the operation may wait for the stream itself, so that nothing can be queued behind a gate */
  unsigned n;    /* operations in a row */
  unsigned at;   /* number of the next one, so that sets of operands go on rotating from sample to sample */
  double each_s; /* as estimated */
} ComputeTimed;

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

#define COMPUTE_TRY(call, error) compute_try ((call), #call, __FILE__, __LINE__, (error))
bool compute_try (cudaError_t status, const char *what, const char *file, int line, const char **error);
bool compute_try_blas (cublasStatus_t status, const char **error);
/* printf-like text that stays allocated: points keep the errors of their cases. */
const char *compute_text (const char *format, ...) __attribute__ ((format (printf, 1, 2)));

/* Makes `device` the current one of the calling thread. Close after a failed open as well. */
bool compute_device_open (ComputeDevice *d, int device, const char **error);
void compute_device_close (ComputeDevice *d);
/* Queues the gate; what is queued behind it waits for compute_gate_open, or at most COMPUTE_GATE_S. */
bool compute_gate_close (ComputeDevice *d, const char **error);
void compute_gate_open (ComputeDevice *d);
/* Whether the device still works after a failure. */
bool compute_device_alive (ComputeDevice *d);

/* Warms up and chooses how many in a row last `interval_s`. */
bool compute_timed_prepare (ComputeTimed *t, double interval_s, const char **error);
/* A ProbeSample; `timed` is a prepared ComputeTimed. */
double compute_timed_sample (void *timed, const char **error);
/* Back-to-back work on `n_devices` devices at once for about `total_s`, cut into windows of about `window_s`: the second half of
 * the windows as seconds per operation, into sample_s[device * n_most + i]. Returns how many of each, 0: failed. */
size_t compute_timed_windows (ComputeTimed *const *timed, int n_devices, double window_s, double total_s, double *sample_s,
                              size_t n_most, const char **error);

extern const ComputeDtypeRow compute_dtypes[COMPUTE_N_DTYPES];
extern const char *const compute_op_names[COMPUTE_N_OPS];

/* Standard normal numbers, a function of seed and place alone. tf32 is fp32 that is rounded to what tf32 holds. */
bool compute_fill (void *to, size_t size_B, ComputeDtype dtype, uint64_t seed, cudaStream_t stream, const char **error);

ComputeLayout compute_layout (const ComputeProblem *p);
/* Memory for `in_B` of operands and `out_B` of results. Close after a failed open as well. */
bool compute_gemm_open (ComputeGemm *g, ComputeDevice *device, size_t in_B, size_t out_B, const char **error);
void compute_gemm_close (ComputeGemm *g);
/* NULL, or why this GPU or this memory cannot take the problem. */
const char *compute_gemm_refuses (const ComputeGemm *g, const ComputeProblem *p);
/* Chooses sets and algorithm, fills the operands when the dtype changed. */
bool compute_gemm_set (ComputeGemm *g, const ComputeProblem *p, const char **error);
bool compute_gemm_launch (void *gemm, unsigned i, const char **error); /* a ComputeLaunch */
/* Runs the problem once and compares elements all over the result with products in double precision. */
bool compute_gemm_check (ComputeGemm *g, const char **error);
/* The comparison alone, for a product that something else has launched. */
bool compute_gemm_compare (ComputeGemm *g, ComputeDtype dtype, const ComputeLayout *at, int batch, const void *a, const void *b,
                           const void *c, const char **error);

/* Queues the memory-bound copy; both arrays aligned, `size_B` a multiple of 16. */
bool compute_copy (ComputeDevice *d, const void *in, void *out, size_t size_B, const char **error);

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
bool compute_attention_open (ComputeAttention *u, ComputeDevice *device, int heads, int length, bool causal, const char **error);
bool compute_attention_launch (void *attention, unsigned i, const char **error); /* a ComputeLaunch */
void compute_attention_close (ComputeAttention *u);

/* Parts of the section; each false when the device cannot go on. */
typedef struct {
  Probe *probe;
  ComputeDevice device;
  ComputeGemm gemm;
  bool device_open, device_failed, gemm_open, gemm_failed;
} ComputeSection;

typedef enum { COMPUTE_FIRST, COMPUTE_REST } ComputePass;

/* probe_wants; opens the device at the first case that is wanted. */
bool compute_wants (ComputeSection *s, const char *what);
bool compute_section_gemm (ComputeSection *s); /* opens it at the first call; false: no GEMM can be measured */
bool compute_gemm_shapes (ComputeSection *s, ComputePass pass);
bool compute_gemm_sustained (ComputeSection *s);
bool compute_gemm_batched (ComputeSection *s);
bool compute_gemm_grouped (ComputeSection *s);
bool compute_gemm_gpus (ComputeSection *s);
bool compute_memory (ComputeSection *s);
bool compute_launch (ComputeSection *s);
bool compute_attention (ComputeSection *s);

#endif
