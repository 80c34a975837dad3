/* GEMM cases: a table of shapes in bursts, some of them sustained, batches as attention has them, and one shape on every GPU.
 *
 * Time at default settings on one H200, estimated: 13 shapes x 3 ops x 4 dtypes first, 10 s; 6 sustained, 8 s; 8 GPUs alone and
 * at once, 8 s; 12 batches, 1 s; the other 64 shapes x 3 ops x 2 dtypes, 20 s. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compute.h"

#define SECTION "compute"

/* Successive windows of sustained work, and how long it lasts: power limits act within some 100 ms, so the second half is
 * settled. */
#define WINDOW_S    50e-3
#define SUSTAINED_S 1.2
/* Every GPU alone is a comparison of chips, where half of that is enough. */
#define ALONE_S      0.6
#define WINDOWS_MOST 16

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
#define COUNT(array) (sizeof (array) / sizeof (array)[0])

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
  const char *error = NULL;
  size_t free_B = 0, total_B = 0;
  if (COMPUTE_TRY (cudaSetDevice (s->device.device), &error) && COMPUTE_TRY (cudaMemGetInfo (&free_B, &total_B), &error)) {
    size_t in_B = (size_t)(IN_SHARE * (double)free_B), out_B = (size_t)(OUT_SHARE * (double)free_B);
    in_B = (in_B < IN_MOST_B ? in_B : IN_MOST_B) / COMPUTE_ALIGN_B * COMPUTE_ALIGN_B;
    out_B = (out_B < OUT_MOST_B ? out_B : OUT_MOST_B) / COMPUTE_ALIGN_B * COMPUTE_ALIGN_B;
    s->gemm_open = compute_gemm_open (&s->gemm, &s->device, in_B, out_B, &error);
    if (!s->gemm_open)
      compute_gemm_close (&s->gemm);
  }
  if (!s->gemm_open) {
    s->gemm_failed = true;
    probe_note (s->probe, "compute: no GEMM is measured: %s", error);
  }
  return s->gemm_open;
}

static ProbeCase *
gemm_case (Probe *probe, const char *what, const char *shape, const char *mode, const ComputeProblem *p)
{
  ProbeCase *c = probe_case (probe, SECTION, what);
  probe_text (c, "dtype", compute_dtypes[p->dtype].name);
  probe_text (c, "op", compute_op_names[p->op]);
  probe_number (c, "m", p->m);
  probe_number (c, "n", p->n);
  probe_number (c, "k", p->k);
  probe_number (c, "batch", p->batch);
  probe_text (c, "mode", mode);
  probe_text (c, "shape", shape);
  return c;
}

/* Prepares the problem on `gemm`; where that fails, the case has become a point. `going_on` is false when the device is lost. */
static bool
ready (Probe *probe, ComputeGemm *gemm, ComputeTimed *timed, ProbeCase *c, const ComputeProblem *p, bool *going_on)
{
  *going_on = true;
  const char *why = compute_gemm_refuses (gemm, p), *error = NULL;
  if (why != NULL) {
    probe_skip (probe, c, why);
    return false;
  }
  memset (timed, 0, sizeof *timed);
  timed->device = gemm->device;
  timed->launch = compute_gemm_launch;
  timed->user = gemm;
  timed->gated = true;
  if (compute_gemm_set (gemm, p, &error) && compute_gemm_check (gemm, &error) &&
      compute_timed_prepare (timed, COMPUTE_BURST_S, &error))
    return true;
  probe_point (probe, c, NULL, 0, error);
  *going_on = compute_device_alive (gemm->device);
  return false;
}

/* One burst case, unless it is not wanted. */
static bool
burst (ComputeSection *s, const char *what, const char *shape, const ComputeProblem *p)
{
  if (!compute_wants (s, what))
    return true;
  if (!compute_section_gemm (s))
    return true;
  bool going_on = true;
  ComputeTimed timed;
  ProbeCase *c = gemm_case (s->probe, what, shape, "burst", p);
  if (!ready (s->probe, &s->gemm, &timed, c, p, &going_on))
    return going_on;
  return !isnan (probe_measure (s->probe, c, compute_timed_sample, &timed)) || compute_device_alive (&s->device);
}

static bool
layer_bursts (ComputeSection *s, ComputeDtype dtype, const Layer *layer, int m)
{
  for (size_t i = 0; i < COUNT (splits); i++) {
    char shape[64];
    int split = splits[i];
    if (split > 1)
      snprintf (shape, sizeof shape, "%s.%s.tp%d", layer->model, layer->layer, split);
    else
      snprintf (shape, sizeof shape, "%s.%s", layer->model, layer->layer);
    for (int op = 0; op < COMPUTE_N_OPS; op++) {
      const ComputeProblem p = {
        dtype, (ComputeOp)op, m, layer->splits_n ? layer->n / split : layer->n, layer->splits_n ? layer->k : layer->k / split, 1
      };
      if (probe_stopped (s->probe))
        return true;
      if (!burst (s, "gemm", shape, &p))
        return false;
    }
  }
  return true;
}

static bool
square_bursts (ComputeSection *s, ComputeDtype dtype)
{
  for (size_t i = 0; i < COUNT (squares); i++)
    for (int op = 0; op < COMPUTE_N_OPS; op++) {
      const ComputeProblem p = { dtype, (ComputeOp)op, squares[i], squares[i], squares[i], 1 };
      if (probe_stopped (s->probe))
        return true;
      if (!burst (s, "gemm", "square", &p))
        return false;
    }
  return true;
}

/* First squares and one model's layers in every dtype, then the other layers in the two dtypes that models are trained in. */
bool
compute_gemm_shapes (ComputeSection *s, ComputePass pass)
{
  static const ComputeDtype order[] = { COMPUTE_BF16, COMPUTE_FP8, COMPUTE_FP16, COMPUTE_TF32 };
  const bool quick = probe_options (s->probe)->quick;
  if (pass == COMPUTE_REST && quick)
    return true;
  const size_t n_dtypes = pass == COMPUTE_REST || quick ? 2 : COUNT (order);
  for (size_t d = 0; d < n_dtypes; d++) {
    if (pass == COMPUTE_FIRST && !square_bursts (s, order[d]))
      return false;
    for (size_t t = 0; t < COUNT (tokens); t++)
      for (size_t l = 0; l < N_LAYERS; l++) {
        bool first = l < N_FIRST && tokens[t] == FIRST_TOKENS;
        if (first == (pass == COMPUTE_FIRST) && !layer_bursts (s, order[d], &layers[l], tokens[t]))
          return false;
      }
  }
  return true;
}

bool
compute_gemm_batched (ComputeSection *s)
{
  for (size_t i = 0; i < COUNT (batched); i++)
    for (int op = 0; op < COMPUTE_N_OPS; op++) {
      ComputeProblem p = batched[i];
      p.op = (ComputeOp)op;
      if (probe_stopped (s->probe))
        return true;
      if (!burst (s, "gemm_batched", "attention", &p))
        return false;
    }
  return true;
}

static bool
sustain (ComputeSection *s, const char *shape, const ComputeProblem *p)
{
  bool going_on = true;
  ComputeTimed timed, *one = &timed;
  double sample_s[WINDOWS_MOST];
  const char *error = NULL;
  ProbeCase *c = gemm_case (s->probe, "gemm", shape, "sustained", p);
  if (!ready (s->probe, &s->gemm, &timed, c, p, &going_on))
    return going_on;
  size_t n = compute_timed_windows (&one, 1, WINDOW_S, SUSTAINED_S, sample_s, WINDOWS_MOST, &error);
  probe_point (s->probe, c, sample_s, n, n > 0 ? NULL : error);
  return n > 0 || compute_device_alive (&s->device);
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
  const size_t n = probe_options (s->probe)->quick ? 2 : COUNT (cases);
  for (size_t i = 0; i < n; i++) {
    if (!compute_wants (s, "gemm") || !compute_section_gemm (s))
      continue;
    if (!sustain (s, cases[i].shape, &cases[i].p))
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
gpu_case (Probe *probe, int gpu, const char *busy)
{
  ProbeCase *c = gemm_case (probe, "gemm_gpus", "square", "sustained", &large);
  probe_number (c, "gpu", gpu);
  probe_text (c, "busy", busy);
  return c;
}

/* One GPU, the others idle. */
static bool
gpu_alone (Probe *probe, Gpu *gpu, int index)
{
  const ComputeLayout at = compute_layout (&large);
  const size_t n_sets = 2; /* 768 MiB, beyond any L2 cache */
  ComputeTimed *one = &gpu->timed;
  double sample_s[WINDOWS_MOST];
  const char *error = NULL;
  bool going_on = true;
  ProbeCase *c = gpu_case (probe, index, "one");
  if (!compute_device_open (&gpu->device, index, &error) ||
      !compute_gemm_open (&gpu->gemm, &gpu->device, n_sets * (at.a_B + at.b_B), n_sets * at.c_B, &error)) {
    probe_point (probe, c, NULL, 0, error);
    return false;
  }
  if (!ready (probe, &gpu->gemm, &gpu->timed, c, &large, &going_on))
    return false;
  size_t n = compute_timed_windows (&one, 1, WINDOW_S, ALONE_S, sample_s, WINDOWS_MOST, &error);
  probe_point (probe, c, sample_s, n, n > 0 ? NULL : error);
  return n > 0;
}

static bool
gpus_together (Probe *probe, Gpu *gpus, int n_gpus)
{
  ComputeTimed **timed = (ComputeTimed **)calloc ((size_t)n_gpus, sizeof *timed);
  double *sample_s = (double *)calloc ((size_t)n_gpus * WINDOWS_MOST, sizeof *sample_s);
  const char *error = "out of memory";
  size_t n = 0;
  if (timed != NULL && sample_s != NULL) {
    for (int g = 0; g < n_gpus; g++)
      timed[g] = &gpus[g].timed;
    n = compute_timed_windows (timed, n_gpus, WINDOW_S, SUSTAINED_S, sample_s, WINDOWS_MOST, &error);
  }
  for (int g = 0; g < n_gpus; g++)
    probe_point (probe, gpu_case (probe, g, "all"), n > 0 ? sample_s + (size_t)g * WINDOWS_MOST : NULL, n, n > 0 ? NULL : error);
  free (sample_s);
  free (timed);
  return n > 0;
}

/* Chips differ, and all at once share power and cooling. */
bool
compute_gemm_gpus (ComputeSection *s)
{
  const int n_gpus = probe_options (s->probe)->n_gpus;
  if (!compute_wants (s, "gemm_gpus"))
    return true;
  if (n_gpus < 2) {
    probe_skip (s->probe, gpu_case (s->probe, 0, "all"), "one GPU in use; two or more are compared");
    return true;
  }
  Gpu *gpus = (Gpu *)calloc ((size_t)n_gpus, sizeof *gpus);
  bool ok = gpus != NULL;
  for (int g = 0; ok && g < n_gpus; g++) {
    if (!gpu_alone (s->probe, &gpus[g], g))
      ok = false;
    if (probe_stopped (s->probe))
      break;
  }
  if (ok && !probe_stopped (s->probe))
    ok = gpus_together (s->probe, gpus, n_gpus);
  for (int g = 0; gpus != NULL && g < n_gpus; g++)
    if (gpus[g].device.stream != NULL || gpus[g].device.start != NULL) {
      compute_gemm_close (&gpus[g].gemm);
      compute_device_close (&gpus[g].device);
    }
  free (gpus);
  if (!ok)
    probe_note (s->probe, "compute: GPUs at once are not measured, for one of them failed");
  return compute_device_alive (&s->device); /* makes it the current one again */
}
