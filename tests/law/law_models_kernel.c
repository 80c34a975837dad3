/* What must hold of kernels whatever the constants: on every kind of GPU that ships, by its calibration. */
#include <math.h>

#include "kernel_fixture.h"

static const char *const topologies[] = { "hgx_a100", "hgx_h100", "hgx_h200",  "hgx_b200", "gb200_nvl72",
                                          "mi300x",   "gaudi2",   "dgx1_v100", "trn2" };
static KernelFixture at[G_N_ELEMENTS (topologies)];
static const MdlPrecision dtypes[] = { MDL_PRECISION_BF16, MDL_PRECISION_FP16, MDL_PRECISION_FP8, MDL_PRECISION_TF32,
                                       MDL_PRECISION_FP4 };
static const double sides[] = { 1, 8, 100, 128, 129, 1000, 4096, 8192, 30000 };
#define N_SIDES G_N_ELEMENTS (sides)

static void
never_less (double more_s, double less_s, const char *what)
{
  if (!(more_s >= less_s * (1 - 1e-9))) {
    g_printerr ("%s: %g s, then %g s\n", what, less_s, more_s);
    TEST_TRUE (FALSE);
  }
}

/* Each product that some GPU can do, with its time. */
static void
each_gemm (void (*check) (const KernelFixture *f, const MdlGemm *gemm, double time_s))
{
  unsigned n = 0;
  for (size_t t = 0; t < G_N_ELEMENTS (topologies); t++)
    for (size_t d = 0; d < G_N_ELEMENTS (dtypes); d++)
      for (size_t i = 0; i < N_SIDES * N_SIDES * N_SIDES; i++) {
        MdlGemm gemm = { .m = sides[i % N_SIDES],
                         .n = sides[i / N_SIDES % N_SIDES],
                         .k = sides[i / N_SIDES / N_SIDES],
                         .dtype = dtypes[d],
                         .op = (MdlGemmOp)(i % MDL_GEMM_OP_N),
                         .sustained = i % 2 == 0 };
        if (at[t].gpu.peak_flop_per_s[gemm.dtype] <= 0)
          continue;
        check (&at[t], &gemm, mdl_gemm_time_s (at[t].kernels, &at[t].gpu, &gemm));
        n++;
      }
  TEST_TRUE (n > 1000);
}

static void
check_roofline (const KernelFixture *f, const MdlGemm *gemm, double time_s)
{
  MdlKernelCost cost;
  mdl_gemm_cost (f->kernels, &f->gpu, gemm, &cost);
  never_less (time_s, cost.flop / f->gpu.peak_flop_per_s[gemm->dtype], "below the peak");
  never_less (time_s, cost.bytes_B / f->gpu.memory_Bps, "below memory's rate");
  TEST_NEAR (time_s, cost.time_s, 1e-9);
}

static void
no_product_beats_the_roofline (void)
{
  each_gemm (check_roofline);
}

static void
check_more_work (const KernelFixture *f, const MdlGemm *gemm, double time_s)
{
  static const double factors[] = { 1.01, 2, 7 };
  for (size_t i = 0; i < G_N_ELEMENTS (factors); i++) {
    MdlGemm more = *gemm;
    more.m = ceil (gemm->m * factors[i]);
    never_less (mdl_gemm_time_s (f->kernels, &f->gpu, &more), time_s, "more tokens");
    more = *gemm;
    more.n = ceil (gemm->n * factors[i]);
    never_less (mdl_gemm_time_s (f->kernels, &f->gpu, &more), time_s, "more features out");
    more = *gemm;
    more.k = ceil (gemm->k * factors[i]);
    never_less (mdl_gemm_time_s (f->kernels, &f->gpu, &more), time_s, "more features in");
  }
  MdlGemm more = *gemm;
  more.batch = 3;
  never_less (mdl_gemm_time_s (f->kernels, &f->gpu, &more), time_s, "a batch");
  more = *gemm;
  more.sustained = TRUE;
  never_less (mdl_gemm_time_s (f->kernels, &f->gpu, &more), time_s, "sustained");
  if (gemm->op == MDL_GEMM_WGRAD) {
    more = *gemm;
    more.accumulate_fp32 = TRUE;
    never_less (mdl_gemm_time_s (f->kernels, &f->gpu, &more), time_s, "added up in fp32");
  }
}

static void
more_work_is_never_faster (void)
{
  each_gemm (check_more_work);
}

static void
check_better_gpu (const KernelFixture *f, const MdlGemm *gemm, double time_s)
{
  MdlGpu better = f->gpu;
  better.peak_flop_per_s[gemm->dtype] *= 1.3;
  never_less (time_s, mdl_gemm_time_s (f->kernels, &better, gemm), "a higher peak");
  better = f->gpu;
  better.memory_Bps *= 1.3;
  never_less (time_s, mdl_gemm_time_s (f->kernels, &better, gemm), "faster memory");
  better = f->gpu;
  better.power_W *= 1.3;
  never_less (time_s, mdl_gemm_time_s (f->kernels, &better, gemm), "more power");
}

static void
a_better_gpu_is_never_slower (void)
{
  each_gemm (check_better_gpu);
}

static void
attention_keeps_the_same_laws (void)
{
  static const double lengths[] = { 1, 127, 128, 1000, 4096, 32768 }, dims[] = { 64, 128, 192 };
  for (size_t t = 0; t < G_N_ELEMENTS (topologies); t++)
    for (size_t i = 0; i < G_N_ELEMENTS (lengths) * G_N_ELEMENTS (dims) * 4; i++) {
      const MdlKernels *k = at[t].kernels;
      MdlAttention a = { .batch = 1,
                         .heads = 5,
                         .q_length = lengths[i / 4 % G_N_ELEMENTS (lengths)],
                         .head_dim = dims[i / 4 / G_N_ELEMENTS (lengths)],
                         .causal = i % 2 == 1,
                         .backward = i / 2 % 2 == 1,
                         .dtype = at[t].gpu.peak_flop_per_s[MDL_PRECISION_BF16] > 0 ? MDL_PRECISION_BF16 : MDL_PRECISION_FP16 };
      MdlKernelCost cost;
      mdl_attention_cost (k, &at[t].gpu, &a, &cost);
      never_less (cost.time_s, cost.flop / at[t].gpu.peak_flop_per_s[a.dtype], "below the peak");
      never_less (cost.time_s, cost.bytes_B / at[t].gpu.memory_Bps, "below memory's rate");
      MdlAttention more = a;
      more.heads = 6;
      never_less (mdl_attention_time_s (k, &at[t].gpu, &more), cost.time_s, "more heads");
      more = a;
      more.q_length = a.q_length * 1.5;
      never_less (mdl_attention_time_s (k, &at[t].gpu, &more), cost.time_s, "longer");
      more = a;
      more.head_dim = a.head_dim + 32;
      never_less (mdl_attention_time_s (k, &at[t].gpu, &more), cost.time_s, "larger heads");
      more = a;
      more.causal = FALSE;
      never_less (mdl_attention_time_s (k, &at[t].gpu, &more), cost.time_s, "all keys");
      more = a;
      more.backward = TRUE;
      never_less (mdl_attention_time_s (k, &at[t].gpu, &more), cost.time_s, "backward");
    }
}

static void
more_bytes_are_never_faster (void)
{
  static const double sizes_B[] = { 1, 1e3, 1e6, 30e6, 1e9, 1e11 };
  for (size_t t = 0; t < G_N_ELEMENTS (topologies); t++)
    for (unsigned kind = 0; kind < MDL_MEMORY_N; kind++)
      for (size_t r = 0; r < G_N_ELEMENTS (sizes_B); r++)
        for (size_t w = 0; w < G_N_ELEMENTS (sizes_B); w++) {
          const MdlKernels *k = at[t].kernels;
          const MdlMemory memory = { .kind = (MdlMemoryKind)kind, .read_B = sizes_B[r], .written_B = sizes_B[w] };
          double time_s = mdl_memory_time_s (k, &at[t].gpu, &memory);
          never_less (time_s, (memory.read_B + memory.written_B) / at[t].gpu.memory_Bps, "below memory's rate");
          MdlMemory other = memory;
          other.read_B *= 1.2;
          never_less (mdl_memory_time_s (k, &at[t].gpu, &other), time_s, "more to read");
          other = memory;
          other.written_B *= 1.2;
          never_less (mdl_memory_time_s (k, &at[t].gpu, &other), time_s, "more to write");
          other = memory;
          other.resident_B = 1e6;
          never_less (time_s, mdl_memory_time_s (k, &at[t].gpu, &other), "some in the cache");
        }
}

int
main (void)
{
  static const TestCase cases[] = {
    { "no product beats the roofline", no_product_beats_the_roofline },
    { "more work is never faster", more_work_is_never_faster },
    { "a better GPU is never slower", a_better_gpu_is_never_slower },
    { "attention keeps the same laws", attention_keeps_the_same_laws },
    { "more bytes are never faster", more_bytes_are_never_faster },
    { NULL, NULL },
  };
  for (size_t t = 0; t < G_N_ELEMENTS (topologies); t++)
    kernel_fixture_open (&at[t], topologies[t], NULL);
  int status = test_main ("laws of kernels", cases);
  for (size_t t = 0; t < G_N_ELEMENTS (topologies); t++)
    kernel_fixture_close (&at[t]);
  return status;
}
