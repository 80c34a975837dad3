/* Grouped GEMM: the experts of a mixture in one call, each with tokens of its own. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compute.h"

#define SECTION   "compute"
#define N_EXPERTS 8
/* cublasGemmGroupedBatchedEx came with CUDA 12.5. */
#define GROUPED_SINCE 120500

/* Mixtral 8x7B (arXiv 2401.04088, table 1): width 4096, feed-forward 14336, 8 experts. */
static const struct {
  const char *shape;
  int n, k;
} experts[] = {
  { "mixtral_8x7b.gate_up", 2 * 14336, 4096 },
  { "mixtral_8x7b.down", 4096, 14336 },
};

/* Tokens of all experts together, each token counted once for each expert that it goes to. */
static const int tokens[] = { 16384, 4096 };

/* Shares in percent: balanced, and as skewed as routers get without a loss that balances them. */
static const struct {
  const char *name;
  int percent_x2[N_EXPERTS]; /* in halves of a percent; 200 in all */
} balances[] = {
  { "even", { 25, 25, 25, 25, 25, 25, 25, 25 } },
  { "skewed", { 50, 40, 30, 25, 20, 15, 12, 8 } },
};

#if CUBLAS_VERSION >= GROUPED_SINCE
typedef struct {
  ComputeGemm *gemm;
  ComputeDtype dtype;
  ComputeLayout at[N_EXPERTS];
  cublasOperation_t trans_a[N_EXPERTS], trans_b[N_EXPERTS];
  int rows[N_EXPERTS], columns[N_EXPERTS], depth[N_EXPERTS], lda[N_EXPERTS], ldb[N_EXPERTS], ldc[N_EXPERTS], size[N_EXPERTS];
  float one[N_EXPERTS], zero[N_EXPERTS];
  unsigned n_sets;
  void **pointers;           /* on the device: for each set those of A, B and C */
  void *host[3 * N_EXPERTS]; /* of set 0 */
} Grouped;

/* Tokens of one expert, a multiple of 16 so that rows stay aligned; the first takes what is left. */
static int
tokens_of (int all, size_t balance, int expert)
{
  int left = all;
  for (int e = 1; e < N_EXPERTS; e++) {
    int m = all * balances[balance].percent_x2[e] / 200 / 16 * 16;
    if (e == expert)
      return m;
    left -= m;
  }
  return left;
}

static bool
grouped_launch (void *user, unsigned i, const char **error)
{
  Grouped *u = (Grouped *)user;
  const ComputeDtypeRow *dtype = &compute_dtypes[u->dtype];
  void **set = u->pointers + (size_t)(i % u->n_sets) * 3 * N_EXPERTS;
  return compute_try_blas (cublasGemmGroupedBatchedEx (u->gemm->blas, u->trans_a, u->trans_b, u->rows, u->columns, u->depth, u->one,
                                                       (const void *const *)set, dtype->in, u->lda,
                                                       (const void *const *)(set + N_EXPERTS), dtype->in, u->ldb, u->zero,
                                                       set + 2 * N_EXPERTS, dtype->out, u->ldc, N_EXPERTS, u->size, dtype->compute),
                           error);
}

/* Layouts and pointers; false with *why where the memory is too small, with *error where something failed. */
static bool
grouped_set (Grouped *u, ComputeOp op, int all, int n, int k, size_t balance, const char **why, const char **error)
{
  size_t in_B = 0, out_B = 0;
  for (int e = 0; e < N_EXPERTS; e++) {
    const ComputeProblem p = { u->dtype, op, tokens_of (all, balance, e), n, k, 1 };
    ComputeLayout at = compute_layout (&p);
    u->at[e] = at;
    u->trans_a[e] = at.trans_a, u->trans_b[e] = at.trans_b;
    u->rows[e] = at.rows, u->columns[e] = at.columns, u->depth[e] = at.depth;
    u->lda[e] = at.lda, u->ldb[e] = at.ldb, u->ldc[e] = at.ldc;
    u->size[e] = 1;
    u->one[e] = 1.0f, u->zero[e] = 0.0f;
    in_B += at.a_B + at.b_B;
    out_B += at.c_B;
  }
  const size_t most = u->gemm->in_B / in_B < u->gemm->out_B / out_B ? u->gemm->in_B / in_B : u->gemm->out_B / out_B;
  if (most == 0) {
    *why = "operands or result are larger than the part of this GPU's memory that is used for them";
    return false;
  }
  u->n_sets = most < 2 ? 1 : 2; /* two sets of these are far beyond any L2 cache */
  void *host[2][3 * N_EXPERTS];
  unsigned char *in = u->gemm->in, *out = u->gemm->out;
  for (unsigned set = 0; set < u->n_sets; set++)
    for (int e = 0; e < N_EXPERTS; e++) {
      host[set][e] = in;
      host[set][N_EXPERTS + e] = in + u->at[e].a_B;
      host[set][2 * N_EXPERTS + e] = out;
      in += u->at[e].a_B + u->at[e].b_B;
      out += u->at[e].c_B;
    }
  memcpy (u->host, host[0], sizeof u->host);
  return COMPUTE_TRY (cudaMemcpy (u->pointers, host, (size_t)u->n_sets * sizeof host[0], cudaMemcpyHostToDevice), error);
}

static bool
grouped_check (Grouped *u, const char **error)
{
  size_t out_B = 0;
  for (int e = 0; e < N_EXPERTS; e++)
    out_B += u->at[e].c_B;
  if (!COMPUTE_TRY (cudaMemsetAsync (u->gemm->out, 0xff, out_B, u->gemm->device->stream), error) || !grouped_launch (u, 0, error))
    return false;
  for (int e = 0; e < N_EXPERTS; e++)
    if (!compute_gemm_compare (u->gemm, u->dtype, &u->at[e], 1, u->host[e], u->host[N_EXPERTS + e], u->host[2 * N_EXPERTS + e],
                               error))
      return false;
  return true;
}

/* The operands' random numbers are those of the GEMM's memory; a small problem of the dtype puts them there. */
static bool
grouped_open (Grouped *u, ComputeSection *s, const char **error)
{
  memset (u, 0, sizeof *u);
  u->gemm = &s->gemm;
  u->dtype = COMPUTE_BF16;
  const ComputeProblem any = { u->dtype, COMPUTE_FORWARD, 1024, 1024, 1024, 1 };
  return compute_gemm_set (u->gemm, &any, error) &&
         COMPUTE_TRY (cudaMalloc (&u->pointers, 2 * 3 * N_EXPERTS * sizeof (void *)), error);
}

static bool
measure (ComputeSection *s, Grouped *u, ProbeCase *c, ComputeOp op, int all, size_t expert, size_t balance)
{
  const char *why = NULL, *error = NULL;
  ComputeTimed timed;
  memset (&timed, 0, sizeof timed);
  timed.device = &s->device;
  timed.launch = grouped_launch;
  timed.user = u;
  timed.gated = false; /* cuBLAS may copy the groups' sizes from host memory in order, which would wait at a gate */
  const ComputeProblem small = { u->dtype, op, 16, 16, 16, 1 };
  why = compute_gemm_refuses (&s->gemm, &small);
  if (why == NULL && grouped_set (u, op, all, experts[expert].n, experts[expert].k, balance, &why, &error) &&
      grouped_check (u, &error) && compute_timed_prepare (&timed, COMPUTE_BURST_S, &error))
    return !isnan (probe_measure (s->probe, c, compute_timed_sample, &timed)) || compute_device_alive (&s->device);
  if (why != NULL) {
    probe_skip (s->probe, c, why);
    return true;
  }
  probe_point (s->probe, c, NULL, 0, error);
  return compute_device_alive (&s->device);
}
#endif

static ProbeCase *
grouped_case (Probe *probe, ComputeOp op, int m, size_t expert, size_t balance)
{
  ProbeCase *c = probe_case (probe, SECTION, "gemm_grouped");
  probe_text (c, "dtype", compute_dtypes[COMPUTE_BF16].name);
  probe_text (c, "op", compute_op_names[op]);
  probe_number (c, "m", m);
  probe_number (c, "n", experts[expert].n);
  probe_number (c, "k", experts[expert].k);
  probe_number (c, "groups", N_EXPERTS);
  probe_text (c, "balance", balances[balance].name);
  probe_text (c, "mode", "burst");
  probe_text (c, "shape", experts[expert].shape);
  return c;
}

bool
compute_gemm_grouped (ComputeSection *s)
{
  bool going_on = true;
  if (!compute_wants (s, "gemm_grouped"))
    return true;
#if CUBLAS_VERSION >= GROUPED_SINCE
  Grouped u;
  const char *error = NULL;
  if (!compute_section_gemm (s))
    return true;
  if (!grouped_open (&u, s, &error)) {
    probe_point (s->probe, grouped_case (s->probe, COMPUTE_FORWARD, tokens[0], 0, 0), NULL, 0, error);
    return compute_device_alive (&s->device);
  }
  for (size_t t = 0; t < sizeof tokens / sizeof tokens[0]; t++)
    for (size_t balance = 0; balance < sizeof balances / sizeof balances[0]; balance++)
      for (size_t expert = 0; expert < sizeof experts / sizeof experts[0]; expert++)
        for (int op = 0; op < COMPUTE_N_OPS; op++) {
          if (!going_on || !compute_wants (s, "gemm_grouped"))
            continue;
          ProbeCase *c = grouped_case (s->probe, (ComputeOp)op, tokens[t], expert, balance);
          going_on = measure (s, &u, c, (ComputeOp)op, tokens[t], expert, balance);
        }
  cudaFree (u.pointers);
#else
  probe_skip (s->probe, grouped_case (s->probe, COMPUTE_FORWARD, tokens[0], 0, 0),
              "built with a cuBLAS before 12.5, which has no grouped GEMM");
#endif
  return going_on;
}
