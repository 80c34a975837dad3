/* Grouped GEMM: the experts of a mixture in one call, each with tokens of its own. */
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

typedef struct {
  ComputeOp op;
  int tokens;
  size_t expert, balance; /* rows of their tables */
} Case;

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
grouped_launch (void *user, unsigned i)
{
  Grouped *u = (Grouped *)user;
  const ComputeDtypeRow *dtype = &compute_dtypes[u->dtype];
  void **set = u->pointers + (size_t)(i % u->n_sets) * 3 * N_EXPERTS;
  return compute_blas_ok (cublasGemmGroupedBatchedEx (u->gemm->blas, u->trans_a, u->trans_b, u->rows, u->columns, u->depth, u->one,
                                                      (const void *const *)set, dtype->in, u->lda,
                                                      (const void *const *)(set + N_EXPERTS), dtype->in, u->ldb, u->zero,
                                                      set + 2 * N_EXPERTS, dtype->out, u->ldc, N_EXPERTS, u->size, dtype->compute));
}

/* Layouts and pointers. False: the memory is too small for it (`*takes` false), or something failed. */
static bool
grouped_set (Grouped *u, const Case *c, bool *takes)
{
  size_t in_B = 0, out_B = 0;
  for (int e = 0; e < N_EXPERTS; e++) {
    const ComputeProblem p = {
      u->dtype, c->op, tokens_of (c->tokens, c->balance, e), experts[c->expert].n, experts[c->expert].k, 1
    };
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
  *takes = most > 0;
  if (!*takes)
    return probe_fail ("operands or result are larger than the part of this GPU's memory that is used for them");
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
  return PROBE_CUDA (cudaMemcpy (u->pointers, host, (size_t)u->n_sets * sizeof host[0], cudaMemcpyHostToDevice));
}

static bool
grouped_check (Grouped *u)
{
  size_t out_B = 0;
  for (int e = 0; e < N_EXPERTS; e++)
    out_B += u->at[e].c_B;
  bool ok = PROBE_CUDA (cudaMemsetAsync (u->gemm->out, 0xff, out_B, u->gemm->device->on.stream)) && grouped_launch (u, 0);
  for (int e = 0; ok && e < N_EXPERTS; e++) {
    const ComputeProduct p = { u->dtype, u->at[e], 1, u->host[e], u->host[N_EXPERTS + e], u->host[2 * N_EXPERTS + e] };
    ok = compute_gemm_compare (u->gemm, &p);
  }
  return ok;
}

/* The operands' random numbers are those of the GEMM's memory; a small problem of the dtype puts them there. */
static bool
grouped_open (Grouped *u, ComputeSection *s)
{
  memset (u, 0, sizeof *u);
  u->gemm = &s->gemm;
  u->dtype = COMPUTE_BF16;
  const ComputeProblem any = { u->dtype, COMPUTE_FORWARD, 1024, 1024, 1024, 1 };
  return compute_gemm_set (u->gemm, &any) && PROBE_CUDA (cudaMalloc (&u->pointers, 2 * 3 * N_EXPERTS * sizeof (void *)));
}

static bool
measure (ComputeSection *s, Grouped *u, ProbeCase *point, const Case *c)
{
  ComputeTimed timed = compute_timed (&s->device, grouped_launch, u);
  timed.gate = NULL; /* cuBLAS may copy the groups' sizes from host memory in order, which would wait at a gate */
  const ComputeProblem small = { u->dtype, c->op, 16, 16, 16, 1 };
  bool takes = compute_gemm_takes (&s->gemm, &small), ready = takes && grouped_set (u, c, &takes) && grouped_check (u);
  if (takes)
    return compute_measure (s, point, ready, &timed);
  probe_skip (s->probe, point, probe_why ());
  return true;
}
#endif

static ProbeCase *
grouped_case (const Case *c)
{
  return probe_case (SECTION, "gemm_grouped",
                     { { "dtype", compute_dtypes[COMPUTE_BF16].name },
                       { "op", compute_op_names[c->op] },
                       { "m", c->tokens },
                       { "n", experts[c->expert].n },
                       { "k", experts[c->expert].k },
                       { "groups", N_EXPERTS },
                       { "balance", balances[c->balance].name },
                       { "mode", "burst" },
                       { "shape", experts[c->expert].shape } });
}

bool
compute_gemm_grouped (ComputeSection *s)
{
  static const Case first = { COMPUTE_FORWARD, tokens[0], 0, 0 };
  bool going_on = true;
  if (!compute_wants (s, "gemm_grouped"))
    return true;
#if CUBLAS_VERSION >= GROUPED_SINCE
  Grouped u;
  if (!compute_section_gemm (s))
    return true;
  if (!grouped_open (&u, s))
    return probe_failed (s->probe, grouped_case (&first)) || compute_device_alive (&s->device);
  for (int all : tokens)
    for (size_t balance = 0; balance < COMPUTE_COUNT (balances); balance++)
      for (size_t expert = 0; expert < COMPUTE_COUNT (experts); expert++)
        for (int op = 0; op < COMPUTE_N_OPS; op++) {
          const Case c = { (ComputeOp)op, all, expert, balance };
          if (going_on && compute_wants (s, "gemm_grouped"))
            going_on = measure (s, &u, grouped_case (&c), &c);
        }
  cudaFree (u.pointers);
#else
  probe_skip (s->probe, grouped_case (&first), "built with a cuBLAS before 12.5, which has no grouped GEMM");
#endif
  return going_on;
}
