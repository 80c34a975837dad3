/* Products of few tokens: the layers of two models under tensor parallelism, in the formats that are served, as bursts behind the
 * gate. Weights rotate through more memory than the L2 holds.
 *
 * Time on one H200, estimated: 24 shapes x 10 or 6 counts of tokens, 0.1 s each: 40 s. */
#include "serving.h"

#define WHAT "gemm"

/* Llama 3 (arXiv 2407.21783, table 3), as in compute_shapes.cu; cut by n (column parallel) or k. */
static const struct {
  const char *shape;
  int n, k;
  bool splits_n;
} layers[] = {
  { "llama3_8b.qkv", 6144, 4096, true },      { "llama3_8b.out", 4096, 4096, false },
  { "llama3_8b.gate_up", 28672, 4096, true }, { "llama3_8b.down", 4096, 14336, false },
  { "llama3_70b.qkv", 10240, 8192, true },    { "llama3_70b.out", 8192, 8192, false },
  { "llama3_70b.gate_up", 57344, 8192, true }, { "llama3_70b.down", 8192, 28672, false },
};
static const int splits[] = { 1, 2, 4, 8 };
static const int tokens[] = { 1, 2, 4, 8, 16, 32, 64, 128, 256, 512 };
/* Engines pad fp8 to this: cuBLASLt wants sides in multiples of it. */
#define FP8_LEAST 16
/* The output layer of Llama 3, on the rows that are sampled. */
#define VOCABULARY 128256

static bool
one (ComputeSection *s, const char *shape, const ComputeProblem *p)
{
  if (!compute_wants (s, WHAT) || !compute_section_gemm (s))
    return true;
  ProbeCase *c = probe_case (SERVING_SECTION, WHAT,
                             { { "dtype", compute_dtypes[p->dtype].name },
                               { "op", compute_op_names[p->op] },
                               { "m", p->m },
                               { "n", p->n },
                               { "k", p->k },
                               { "batch", p->batch },
                               { "mode", "burst" },
                               { "shape", shape } });
  if (!compute_gemm_takes (&s->gemm, p)) {
    probe_skip (s->probe, c, probe_why ());
    return true;
  }
  ComputeTimed timed = compute_timed (&s->device, compute_gemm_launch, &s->gemm);
  return compute_measure (s, c, compute_gemm_set (&s->gemm, p) && compute_gemm_check (&s->gemm), &timed);
}

static bool
all_tokens (ComputeSection *s, const char *shape, ComputeDtype dtype, int n, int k)
{
  for (int m : tokens) {
    if (dtype == COMPUTE_FP8 && m < FP8_LEAST)
      continue;
    if (probe_options (s->probe)->quick && m != 1 && m != 16 && m != 128)
      continue;
    const ComputeProblem p = { dtype, COMPUTE_FORWARD, m, n, k, 1 };
    if (!one (s, shape, &p))
      return false;
  }
  return true;
}

bool
serving_gemm (ComputeSection *s)
{
  for (int split : splits)
    for (const auto &layer : layers)
      for (ComputeDtype dtype : { COMPUTE_BF16, COMPUTE_FP8 }) {
        std::string shape = layer.shape;
        if (split > 1)
          shape += probe_text (".tp%d", split);
        if (!all_tokens (s, shape.c_str (), dtype, layer.splits_n ? layer.n / split : layer.n,
                         layer.splits_n ? layer.k : layer.k / split))
          return false;
      }
  return all_tokens (s, "llama3_8b.head", COMPUTE_BF16, VOCABULARY, 4096) &&
         all_tokens (s, "llama3_70b.head.tp8", COMPUTE_BF16, VOCABULARY / 8, 8192);
}
