/* GEMM cases: a table of shapes in bursts, some of them sustained, batches as attention has them, and one shape on every GPU.
 *
 * Time at default settings on one H200, estimated: 13 shapes x 3 ops x 4 dtypes first, 10 s; 6 sustained, 8 s; 8 GPUs alone and
 * at once, 8 s; 12 batches, 1 s; the other 64 shapes x 3 ops x 2 dtypes, 20 s. */

#include "compute.h"

#define SECTION "compute"

/* How long sustained work lasts: power limits act within some 100 ms, so the second half is settled. */
#define SUSTAINED_S 1.2
/* Every GPU alone is a comparison of chips, where half of that is enough. */
#define ALONE_S 0.6

/* Operands and results: two sets of the largest layer here in bf16 (Llama 3 405B, gate and up, 8192 tokens) need 10.5 and 7 GB. */
#define IN_MOST_B  ((size_t)12 << 30)
#define OUT_MOST_B ((size_t)8 << 30)
#define IN_SHARE   0.4 /* of free memory, on smaller GPUs */
#define OUT_SHARE  0.2

typedef struct {
  const char *model, *layer;
  int n, k;      /* features out, features in */
  bool splits_n; /* tensor parallelism cuts n (column parallel), else k (row parallel) */
} Layer;

/* Llama 3 (arXiv 2407.21783, table 3): width 4096, 8192, 16384; feed-forward 14336, 28672, 53248; 32, 64, 128 heads of 128 with
 * 8 heads of keys and values; query, key and value in one GEMM, gate and up likewise. */
static const Layer layers[] = {
  { "llama3_70b", "qkv", 10240, 8192, true },        { "llama3_70b", "out", 8192, 8192, false },
  { "llama3_70b", "gate_up", 57344, 8192, true },    { "llama3_70b", "down", 8192, 28672, false },
  { "llama3_8b", "qkv", 6144, 4096, true },          { "llama3_8b", "out", 4096, 4096, false },
  { "llama3_8b", "gate_up", 28672, 4096, true },     { "llama3_8b", "down", 4096, 14336, false },
  { "llama3_405b", "qkv", 18432, 16384, true },      { "llama3_405b", "out", 16384, 16384, false },
  { "llama3_405b", "gate_up", 106496, 16384, true }, { "llama3_405b", "down", 16384, 53248, false },
};
#define N_LAYERS     (sizeof layers / sizeof layers[0])
#define N_FIRST      4 /* rows that are measured first, at FIRST_TOKENS */
#define FIRST_TOKENS 2048

static const int tokens[] = { 2048, 8192, 512 };
static const int splits[] = { 1, 8 };
static const int squares[] = { 8192, 4096, 2048, 1024, 16384 };

/* Attention with batch x heads products, m queries, n keys, k features of a head: forward is scores from queries and keys, dgrad
 * has the layout of scores times values, wgrad that of their gradient. */
static const ComputeProblem batched[] = {
  { COMPUTE_BF16, COMPUTE_FORWARD, 2048, 2048, 128, 32 }, /* 32 heads, one sequence */
  { COMPUTE_BF16, COMPUTE_FORWARD, 128, 2048, 128, 256 }, /* a block of queries */
  { COMPUTE_BF16, COMPUTE_FORWARD, 512, 512, 128, 128 },  /* short sequences */
  { COMPUTE_BF16, COMPUTE_FORWARD, 8, 4096, 128, 256 },   /* decoding, 8 heads of queries share keys */
};

bool
compute_section_gemm (ComputeSection *s)
{
  if (s->gemm_open || s->gemm_failed)
    return s->gemm_open;
  size_t free_B = 0, total_B = 0;
  if (PROBE_CUDA (cudaSetDevice (s->device.on.device)) && PROBE_CUDA (cudaMemGetInfo (&free_B, &total_B))) {
    size_t in_B = (size_t)(IN_SHARE * (double)free_B), out_B = (size_t)(OUT_SHARE * (double)free_B);
    in_B = (in_B < IN_MOST_B ? in_B : IN_MOST_B) / COMPUTE_ALIGN_B * COMPUTE_ALIGN_B;
    out_B = (out_B < OUT_MOST_B ? out_B : OUT_MOST_B) / COMPUTE_ALIGN_B * COMPUTE_ALIGN_B;
    s->gemm_open = compute_gemm_open (&s->gemm, &s->device, in_B, out_B);
    if (!s->gemm_open)
      compute_gemm_close (&s->gemm);
  }
  if (!s->gemm_open) {
    s->gemm_failed = true;
    probe_note (s->probe, "%s: no GEMM is measured: %s", s->name, probe_why ());
  }
  return s->gemm_open;
}

static ProbeCase *
gemm_case (const char *what, const char *shape, const char *mode, const ComputeProblem *p)
{
  return probe_case (SECTION, what,
                     { { "dtype", compute_dtypes[p->dtype].name },
                       { "op", compute_op_names[p->op] },
                       { "m", p->m },
                       { "n", p->n },
                       { "k", p->k },
                       { "batch", p->batch },
                       { "mode", mode },
                       { "shape", shape } });
}

/* Prepares the problem on `gemm` and checks its result. False: `c` has become a point. */
static bool
ready (Probe *probe, ComputeGemm *gemm, ProbeCase *c, const ComputeProblem *p)
{
  if (!compute_gemm_takes (gemm, p)) {
    probe_skip (probe, c, probe_why ());
    return false;
  }
  return (compute_gemm_set (gemm, p) && compute_gemm_check (gemm)) || probe_failed (probe, c);
}

/* One burst case, unless it is not wanted. */
static bool
burst (ComputeSection *s, const char *what, const char *shape, const ComputeProblem *p)
{
  if (!compute_wants (s, what) || !compute_section_gemm (s))
    return true;
  ComputeTimed timed = compute_timed (&s->device, compute_gemm_launch, &s->gemm);
  ProbeCase *c = gemm_case (what, shape, "burst", p);
  return ready (s->probe, &s->gemm, c, p) ? compute_measure (s, c, true, &timed) : compute_device_alive (&s->device);
}

/* Sustained work on one GPU; the point is made, whatever comes of it. */
static bool
sustained (Probe *probe, ComputeGemm *gemm, ProbeCase *c, const ComputeProblem *p, double total_s, ComputeTimed *timed)
{
  ComputeWindows sample_s;
  *timed = compute_timed (gemm->device, compute_gemm_launch, gemm);
  if (!ready (probe, gemm, c, p))
    return false;
  size_t n = compute_timed_prepare (timed) ? compute_windows ({ timed }, total_s, &sample_s) : 0;
  return n > 0 ? probe_point (probe, c, sample_s, n) : probe_failed (probe, c);
}

/* The same problem in all its operations. */
static bool
all_bursts (ComputeSection *s, const char *what, const char *shape, ComputeProblem p)
{
  for (int op = 0; op < COMPUTE_N_OPS; op++) {
    p.op = (ComputeOp)op;
    if (probe_stopped (s->probe))
      return true;
    if (!burst (s, what, shape, &p))
      return false;
  }
  return true;
}

static bool
layer_bursts (ComputeSection *s, ComputeDtype dtype, const Layer *layer, int m)
{
  for (int split : splits) {
    std::string shape = probe_text ("%s.%s", layer->model, layer->layer);
    const int n = layer->splits_n ? layer->n / split : layer->n, k = layer->splits_n ? layer->k : layer->k / split;
    if (split > 1)
      shape += probe_text (".tp%d", split);
    if (!all_bursts (s, "gemm", shape.c_str (), { dtype, COMPUTE_FORWARD, m, n, k, 1 }))
      return false;
  }
  return true;
}

static bool
square_bursts (ComputeSection *s, ComputeDtype dtype)
{
  for (int n : squares)
    if (!all_bursts (s, "gemm", "square", { dtype, COMPUTE_FORWARD, n, n, n, 1 }))
      return false;
  return true;
}

static bool
all_layers (ComputeSection *s, ComputeDtype dtype, bool first)
{
  for (int m : tokens)
    for (size_t l = 0; l < N_LAYERS; l++)
      if ((l < N_FIRST && m == FIRST_TOKENS) == first && !layer_bursts (s, dtype, &layers[l], m))
        return false;
  return true;
}

/* First squares and one model's layers in every dtype, then the other layers in the two dtypes that models are trained in. */
bool
compute_gemm_first (ComputeSection *s)
{
  for (ComputeDtype dtype : { COMPUTE_BF16, COMPUTE_FP8, COMPUTE_FP16, COMPUTE_TF32 }) {
    if (probe_options (s->probe)->quick && (dtype == COMPUTE_FP16 || dtype == COMPUTE_TF32))
      continue;
    if (!square_bursts (s, dtype) || !all_layers (s, dtype, true))
      return false;
  }
  return true;
}

bool
compute_gemm_others (ComputeSection *s)
{
  return probe_options (s->probe)->quick || (all_layers (s, COMPUTE_BF16, false) && all_layers (s, COMPUTE_FP8, false));
}

bool
compute_gemm_batched (ComputeSection *s)
{
  for (const ComputeProblem &p : batched)
    if (!all_bursts (s, "gemm_batched", "attention", p))
      return false;
  return true;
}

bool
compute_gemm_sustained (ComputeSection *s)
{
  static const struct {
    const char *shape;
    ComputeProblem p;
  } cases[] = {
    { "square", { COMPUTE_BF16, COMPUTE_FORWARD, 8192, 8192, 8192, 1 } },
    { "square", { COMPUTE_FP8, COMPUTE_FORWARD, 8192, 8192, 8192, 1 } },
    { "llama3_70b.gate_up", { COMPUTE_BF16, COMPUTE_FORWARD, FIRST_TOKENS, 57344, 8192, 1 } },
    { "llama3_70b.down.tp8", { COMPUTE_BF16, COMPUTE_FORWARD, FIRST_TOKENS, 8192, 28672 / 8, 1 } },
    { "square", { COMPUTE_FP16, COMPUTE_FORWARD, 8192, 8192, 8192, 1 } },
    { "square", { COMPUTE_TF32, COMPUTE_FORWARD, 8192, 8192, 8192, 1 } },
  };
  const size_t n = probe_options (s->probe)->quick ? 2 : COMPUTE_COUNT (cases);
  for (size_t i = 0; i < n; i++) {
    if (!compute_wants (s, "gemm") || !compute_section_gemm (s))
      continue;
    ComputeTimed timed;
    ProbeCase *c = gemm_case ("gemm", cases[i].shape, "sustained", &cases[i].p);
    if (!sustained (s->probe, &s->gemm, c, &cases[i].p, SUSTAINED_S, &timed) && !compute_device_alive (&s->device))
      return false;
  }
  return true;
}

/* The shape that compares GPUs. */
static const ComputeProblem large = { COMPUTE_BF16, COMPUTE_FORWARD, 8192, 8192, 8192, 1 };

typedef struct {
  ComputeDevice device;
  ComputeGemm gemm;
  ComputeTimed timed;
} Gpu;

static ProbeCase *
gpu_case (int gpu, const char *busy)
{
  ProbeCase *c = gemm_case ("gemm_gpus", "square", "sustained", &large);
  probe_add (c, { { "gpu", gpu }, { "busy", busy } });
  return c;
}

/* One GPU, the others idle. */
static bool
gpu_alone (Probe *probe, Gpu *gpu, int index)
{
  const ComputeLayout at = compute_layout (&large);
  const size_t n_sets = 2; /* 768 MiB, beyond any L2 cache */
  ProbeCase *c = gpu_case (index, "one");
  if (!compute_device_open (&gpu->device, index) ||
      !compute_gemm_open (&gpu->gemm, &gpu->device, n_sets * (at.a_B + at.b_B), n_sets * at.c_B))
    return probe_failed (probe, c);
  return sustained (probe, &gpu->gemm, c, &large, ALONE_S, &gpu->timed);
}

static bool
gpus_together (Probe *probe, std::vector<Gpu> &gpus)
{
  std::vector<ComputeTimed *> timed;
  ComputeWindows sample_s[PROBE_GPUS_MOST];
  for (Gpu &gpu : gpus)
    timed.push_back (&gpu.timed);
  size_t n = compute_windows (timed, SUSTAINED_S, sample_s);
  for (size_t g = 0; g < gpus.size (); g++) {
    if (n == 0 && g > 0)
      probe_fail ("the GPUs failed at once; the first has the reason");
    ProbeCase *c = gpu_case ((int)g, "all");
    n > 0 ? probe_point (probe, c, sample_s[g], n) : probe_failed (probe, c);
  }
  return n > 0;
}

/* Chips differ, and all at once share power and cooling. */
bool
compute_gemm_gpus (ComputeSection *s)
{
  std::vector<Gpu> gpus (probe_options (s->probe)->gpus);
  if (!compute_wants (s, "gemm_gpus"))
    return true;
  if (gpus.size () < 2) {
    probe_skip (s->probe, gpu_case (0, "all"), "one GPU in use; two or more are compared");
    return true;
  }
  bool ok = true;
  for (size_t g = 0; ok && g < gpus.size () && !probe_stopped (s->probe); g++)
    ok = gpu_alone (s->probe, &gpus[g], (int)g);
  if (ok && !probe_stopped (s->probe))
    ok = gpus_together (s->probe, gpus);
  for (Gpu &gpu : gpus)
    if (gpu.device.on.stream != NULL) {
      compute_gemm_close (&gpu.gemm);
      compute_device_close (&gpu.device);
    }
  if (!ok)
    probe_note (s->probe, "compute: GPUs at once are not measured, for one of them failed");
  return compute_device_alive (&s->device); /* makes it the current one again */
}
