/* What kernels on a GPU take: matrix products, attention, passes over memory, and what launching them costs.
 *
 * A time is that of one kernel in a row of kernels back to back on one stream, from the start of one to the start of the next, none
 * of its operands in a cache unless told. Constants are a calibration's section `kernels` (cst_library), rates of the GPU its data
 * sheet's. Formulas and sources: docs/kernels.md and the head of each kernel_*.c. */
#ifndef MODELS_KERNEL_H
#define MODELS_KERNEL_H

#include "models/coll.h"
#include "models/gpu.h"

typedef struct MdlKernels MdlKernels; /* models/kernel-spec.h */

#define MDL_KERNEL_TERMS 8

/* The answer in parts, for `explain`. */
typedef struct {
  double time_s;
  double flop, bytes_B;  /* asked for; bytes: each operand once */
  double math_s, memory_s; /* what the tensor cores alone, HBM alone would take */
  double busy;           /* share of the SMs that work, over the kernel's time */
  const char *bound;     /* "math", "power", "memory", "start"; static */
  BaseSource source;     /* weakest constant used */
  double band;           /* relative half-width of the error band */
  gboolean terse;        /* terms are without text */
  unsigned n_terms;
  MdlTerm term[MDL_KERNEL_TERMS]; /* values sum to the time */
} MdlKernelCost;

/* ---- matrix products ---- */

typedef enum { MDL_GEMM_FORWARD, MDL_GEMM_DGRAD, MDL_GEMM_WGRAD, MDL_GEMM_OP_N } MdlGemmOp;
extern const BaseName mdl_gemm_op_names[];

/* Of a linear layer of n features out and k in, on m tokens: forward Y[m,n] = X W', dgrad dX[m,k] = dY W, wgrad dW[n,k] = dY' X.
 * 2 m n k batch flop each. */
typedef struct {
  double m, n, k;
  double batch;             /* products of this shape in one call; 0 counts as 1 */
  MdlPrecision dtype;       /* of the factors; fp8 and fp4 give bf16 */
  MdlGemmOp op;
  gboolean conv;            /* a convolution as a product of patches that are not in memory … */
  double taps;              /* … where each input is in so many */
  gboolean accumulate_fp32; /* wgrad: the result is added to an fp32 array, which is read and written */
  gboolean sustained;       /* among work that keeps the GPU at its power limit, as training does; else after an idle moment */
  const double *group_m;    /* grouped: tokens of each expert, in place of m; borrowed; NULL: not grouped */
  unsigned n_groups;
  gboolean terse;           /* leave the terms' text out, as of MdlCollQuestion */
} MdlGemm;

/* 0 where nothing is to do; INFINITY where the GPU has no units for the format. `cost` may be NULL. */
double mdl_gemm_time_s (const MdlKernels *kernels, const MdlGpu *gpu, const MdlGemm *gemm);
void mdl_gemm_cost (const MdlKernels *kernels, const MdlGpu *gpu, const MdlGemm *gemm, MdlKernelCost *cost);

/* ---- attention, fused (scores never reach memory) ---- */

typedef struct {
  double batch, heads, kv_heads;     /* kv_heads 0: as heads */
  double q_length, kv_length;        /* kv_length 0: as q_length */
  double head_dim, value_dim;        /* value_dim 0: as head_dim */
  double window;                     /* keys that a query sees at most; 0: all */
  gboolean causal;                   /* the last query sees all keys, each before it one less */
  gboolean backward;
  MdlPrecision dtype;
  gboolean terse;
} MdlAttention;

double mdl_attention_time_s (const MdlKernels *kernels, const MdlGpu *gpu, const MdlAttention *attention);
void mdl_attention_cost (const MdlKernels *kernels, const MdlGpu *gpu, const MdlAttention *attention, MdlKernelCost *cost);
/* Multiply-adds x 2 of the unmasked part: 4 batch heads pairs dim forward, 2.5 times it backward. */
double mdl_attention_flop (const MdlAttention *attention);

/* ---- attention of sequences that decode: a few queries each, keys and values in a paged cache ---- */

/* Of one layer on one GPU. */
typedef struct {
  double sequences;            /* that decode */
  double context;              /* tokens of all their caches together that are read; under a window: of what it leaves */
  double heads, kv_heads;      /* of this GPU; kv_heads 0: as heads. Latent: one */
  double head_dim, value_dim;  /* latent: 576 and 512 (DeepSeek); value_dim 0: as head_dim */
  double queries;              /* of each sequence: 1, or 1 + drafts; 0 counts as 1 */
  double kv_B;                 /* B of an element of the cache; 0: of dtype */
  double token_B;              /* B of a token in this GPU's cache of the layer, if formats mix (fp8 MLA: 656); 0: computed */
  MdlPrecision dtype;          /* of the products; not of the cache */
  gboolean latent;             /* MLA, absorbed: one vector a token is key and value of all heads */
  gboolean terse;
} MdlDecode;

/* 0 without sequences; INFINITY where the GPU has no units for the format. */
double mdl_decode_time_s (const MdlKernels *kernels, const MdlGpu *gpu, const MdlDecode *decode);
void mdl_decode_cost (const MdlKernels *kernels, const MdlGpu *gpu, const MdlDecode *decode, MdlKernelCost *cost);
/* B that a token of context takes in the cache of the layer. */
double mdl_decode_token_B (const MdlDecode *decode);

/* Time = base + slope x context while context is in [from, to], all else the same: equals mdl_decode_time_s there. */
typedef struct {
  double base_s, slope_s; /* slope_s: a token of context */
  double from, to;        /* tokens; to: INFINITY */
} MdlDecodeLine;
void mdl_decode_line (const MdlKernels *kernels, const MdlGpu *gpu, const MdlDecode *decode, MdlDecodeLine *line);

/* ---- kernels bound by memory ---- */

typedef enum {
  MDL_MEMORY_COPY,    /* one array in, one out: copies, casts, fills, gathers of rows */
  MDL_MEMORY_ADD,     /* two in, one out: residuals, gradients accumulated */
  MDL_MEMORY_GATED,   /* two in, one out, a nonlinearity between: SiLU x gate, GELU */
  MDL_MEMORY_NORM,    /* by rows of some thousand, a reduction in each: RMSNorm, LayerNorm */
  MDL_MEMORY_SOFTMAX, /* by rows, two reductions: softmax, cross-entropy */
  MDL_MEMORY_ADAM,    /* four in, three out: optimizers */
  MDL_MEMORY_N
} MdlMemoryKind;
extern const BaseName mdl_memory_kind_names[];

typedef struct {
  MdlMemoryKind kind;
  double read_B, written_B;
  double resident_B; /* of them, what the kernel before left in the L2 cache, if it holds it; 0: none */
  double added, placed; /* elements that PyTorch's index_add and index_copy move to rows */
  gboolean terse;
} MdlMemory;

double mdl_memory_time_s (const MdlKernels *kernels, const MdlGpu *gpu, const MdlMemory *memory);
void mdl_memory_cost (const MdlKernels *kernels, const MdlGpu *gpu, const MdlMemory *memory, MdlKernelCost *cost);

/* ---- launching ---- */

typedef enum {
  MDL_LAUNCH_COST_KERNEL,       /* host: queueing a kernel */
  MDL_LAUNCH_COST_GRAPH,        /* host: cudaGraphLaunch */
  MDL_LAUNCH_COST_EVENT,        /* host: cudaEventRecord */
  MDL_LAUNCH_COST_SYNCHRONISE,  /* host: waiting for a stream that is idle */
  MDL_LAUNCH_COST_WAIT,         /* host: queueing a kernel that does nothing and waiting for its end */
  MDL_LAUNCH_COST_KERNEL_GAP,   /* GPU: least time from one kernel's start to the next one's, plain launches queued ahead */
  MDL_LAUNCH_COST_GRAPH_KERNEL, /* GPU: the same inside a graph */
  MDL_LAUNCH_COST_GRAPH_GAP,    /* GPU: the same of graphs of one kernel */
  MDL_LAUNCH_COST_N
} MdlLaunchKind;
extern const BaseName mdl_launch_kind_names[];

double mdl_launch_cost_s (const MdlKernels *kernels, MdlLaunchKind kind);

#endif
