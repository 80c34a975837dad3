/* Experts with few tokens each: one call of cuBLAS for all experts of a rank, whose weights bound it.
 *
 * Time on one H200, estimated: 3 models x 2 layers x 5 counts of tokens x 2 balances, 0.1 s each: 6 s. */
#include <string.h>

#include "serving.h"

#define WHAT "gemm_grouped"
/* cublasGemmGroupedBatchedEx came with CUDA 12.5. */
#define GROUPED_SINCE 120500
/* Groups whose results are compared. */
#define CHECKED_MOST 4

/* Width h, and f of an expert: Mixtral 8x7B (2401.04088), Qwen3-235B (2505.09388) on 4 ranks, DeepSeek V3 (2412.19437) on 8. */
static const struct {
  const char *shape;
  int experts, h, f;
} models[] = {
  { "mixtral_8x7b", 8, 4096, 14336 },
  { "qwen3_235b.ep4", 32, 4096, 1536 },
  { "deepseek_v3.ep8", 32, 7168, 2048 },
};
static const int tokens[] = { 1, 4, 16, 64, 256 }; /* of an expert, on average */

typedef struct {
  int experts, m, n, k;
  bool even;
} Case;

#if CUBLAS_VERSION >= GROUPED_SINCE
typedef struct {
  ComputeGemm *gemm;
  std::vector<ComputeLayout> at;
  std::vector<cublasOperation_t> trans_a, trans_b;
  std::vector<int> rows, columns, depth, lda, ldb, ldc, size;
  std::vector<float> one, zero;
  std::vector<void *> host; /* of all sets: pointers of A, of B, of C */
  void **pointers;          /* the same on the device */
  unsigned n_sets;
} Grouped;

/* Uneven: from a quarter to seven quarters of the mean, in a straight line; at least one token. */
static int
tokens_of (const Case *c, int expert)
{
  if (c->even || c->experts < 2)
    return c->m;
  const int m = (int)(c->m * (0.25 + 1.5 * expert / (c->experts - 1)) + 0.5);
  return m < 1 ? 1 : m;
}

static bool
grouped_launch (void *user, unsigned i)
{
  Grouped *u = (Grouped *)user;
  const ComputeDtypeRow *dtype = &compute_dtypes[COMPUTE_BF16];
  const size_t n = u->at.size ();
  void **set = u->pointers + (size_t)(i % u->n_sets) * 3 * n;
  return compute_blas_ok (cublasGemmGroupedBatchedEx (
      u->gemm->blas, u->trans_a.data (), u->trans_b.data (), u->rows.data (), u->columns.data (), u->depth.data (), u->one.data (),
      (const void *const *)set, dtype->in, u->lda.data (), (const void *const *)(set + n), dtype->in, u->ldb.data (),
      u->zero.data (), set + 2 * n, dtype->out, u->ldc.data (), (int)n, u->size.data (), dtype->compute));
}

static void
add_group (Grouped *u, const ComputeLayout *at)
{
  u->at.push_back (*at);
  u->trans_a.push_back (at->trans_a), u->trans_b.push_back (at->trans_b);
  u->rows.push_back (at->rows), u->columns.push_back (at->columns), u->depth.push_back (at->depth);
  u->lda.push_back (at->lda), u->ldb.push_back (at->ldb), u->ldc.push_back (at->ldc);
  u->size.push_back (1);
  u->one.push_back (1.0f), u->zero.push_back (0.0f);
}

/* Layouts and pointers. `*takes` false: the memory is too small. */
static bool
grouped_set (Grouped *u, const Case *c, bool *takes)
{
  size_t in_B = 0, out_B = 0;
  for (int e = 0; e < c->experts; e++) {
    const ComputeProblem p = { COMPUTE_BF16, COMPUTE_FORWARD, tokens_of (c, e), c->n, c->k, 1 };
    const ComputeLayout at = compute_layout (&p);
    add_group (u, &at);
    in_B += at.a_B + at.b_B;
    out_B += at.c_B;
  }
  const size_t most = u->gemm->in_B / in_B < u->gemm->out_B / out_B ? u->gemm->in_B / in_B : u->gemm->out_B / out_B;
  *takes = most > 0;
  if (!*takes)
    return probe_fail ("operands or result are larger than the part of this GPU's memory that is used for them");
  u->n_sets = compute_sets (u->gemm->device, in_B + out_B, most);
  const size_t n = u->at.size ();
  u->host.resize (u->n_sets * 3 * n);
  unsigned char *in = u->gemm->in, *out = u->gemm->out;
  for (unsigned set = 0; set < u->n_sets; set++)
    for (size_t e = 0; e < n; e++) {
      void **to = &u->host[set * 3 * n];
      to[e] = in;
      to[n + e] = in + u->at[e].a_B;
      to[2 * n + e] = out;
      in += u->at[e].a_B + u->at[e].b_B;
      out += u->at[e].c_B;
    }
  return PROBE_CUDA (cudaMalloc (&u->pointers, u->host.size () * sizeof (void *))) &&
         PROBE_CUDA (cudaMemcpy (u->pointers, u->host.data (), u->host.size () * sizeof (void *), cudaMemcpyHostToDevice));
}

static bool
grouped_check (Grouped *u)
{
  const size_t n = u->at.size ();
  bool ok = PROBE_CUDA (cudaMemsetAsync (u->gemm->out, 0xff, u->gemm->out_B / u->n_sets, u->gemm->device->on.stream)) &&
            grouped_launch (u, 0);
  for (size_t i = 0; ok && i < CHECKED_MOST; i++) {
    const size_t e = i * (n - 1) / (CHECKED_MOST - 1);
    const ComputeProduct p = { COMPUTE_BF16, u->at[e], 1, u->host[e], u->host[n + e], u->host[2 * n + e] };
    ok = compute_gemm_compare (u->gemm, &p);
  }
  return ok;
}

static bool
measure (ComputeSection *s, ProbeCase *point, const Case *c)
{
  Grouped u = Grouped ();
  u.gemm = &s->gemm;
  const ComputeProblem any = { COMPUTE_BF16, COMPUTE_FORWARD, 1024, 1024, 1024, 1 };
  ComputeTimed timed = compute_timed (&s->device, grouped_launch, &u);
  timed.gate = NULL; /* cuBLAS may copy the groups' sizes from host memory in order, which would wait at a gate */
  bool takes = compute_gemm_takes (&s->gemm, &any);
  const bool ready = takes && compute_gemm_set (&s->gemm, &any) && grouped_set (&u, c, &takes) && grouped_check (&u);
  bool going_on = true;
  if (takes)
    going_on = compute_measure (s, point, ready, &timed);
  else
    probe_skip (s->probe, point, probe_why ());
  cudaFree (u.pointers);
  return going_on;
}
#endif

static ProbeCase *
grouped_case (const char *shape, const Case *c)
{
  return probe_case (SERVING_SECTION, WHAT,
                     { { "dtype", compute_dtypes[COMPUTE_BF16].name },
                       { "op", compute_op_names[COMPUTE_FORWARD] },
                       { "m", c->m * c->experts },
                       { "n", c->n },
                       { "k", c->k },
                       { "groups", c->experts },
                       { "balance", c->even ? "even" : "linear" },
                       { "mode", "burst" },
                       { "shape", shape } });
}

bool
serving_grouped (ComputeSection *s)
{
  for (const auto &model : models)
    for (int m : tokens)
      for (bool even : { true, false })
        for (bool up : { true, false }) {
          const Case c = { model.experts, m, up ? 2 * model.f : model.h, up ? model.h : model.f, even };
          if ((!even && m < 4) || !compute_wants (s, WHAT) || !compute_section_gemm (s))
            continue;
          const std::string shape = probe_text ("%s.%s", model.shape, up ? "gate_up" : "down");
#if CUBLAS_VERSION >= GROUPED_SINCE
          if (!measure (s, grouped_case (shape.c_str (), &c), &c))
            return false;
#else
          probe_skip (s->probe, grouped_case (shape.c_str (), &c), "built with a cuBLAS before 12.5, which has no grouped GEMM");
          return true;
#endif
        }
  return true;
}
