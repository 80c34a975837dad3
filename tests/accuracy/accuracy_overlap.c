/* Kernels beside collectives on 4 H200, as forerun-probe measured them: the section `overlap` fitted, from what is shipped for any
 * GPU, without every second of sizes x channels and without reduce-scatter, and scored on those. And a run of another program on
 * 8 H200 of another node, of which nothing was fitted. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/stats.h"
#include "base/units.h"
#include "calibrate/section.h"
#include "constants/calibration.h"
#include "harness.h"
#include "models/overlap.h"

#define PROBE TEST_SOURCE_DIR "/tests/data/probe/h200x4.json.gz"
#define TORCH TEST_SOURCE_DIR "/tests/data/h200x8/overlap.jsonl"

static const MdlGpu gpu = { .name = "h200_sxm", .capability = 90, .sms = 132, .memory_Bps = 4800e9, .memory_efficiency = 0.87 };
static BaseLookup *lookup;
static CalSectionFit *fit;

static Cst *
constants (const char *name)
{
  g_autoptr (GError) error = NULL;
  Cst *cal = cst_load (&(CstQuery){ .name = name, .gpu_type = "any", .lookup = lookup }, &error);
  if (cal == NULL)
    g_error ("%s", error->message);
  return cal;
}

static CalSectionFit *
fit_probe (void)
{
  const CalSection *section = NULL;
  for (guint s = 0; cal_sections[s] != NULL; s++)
    if (strcmp (cal_sections[s]->keys->name, "overlap") == 0)
      section = cal_sections[s];
  g_autoptr (Cst) cal = constants (NULL);
  g_autoptr (GPtrArray) probes = g_ptr_array_new ();
  g_autoptr (GError) error = NULL;
  g_autofree char *bytes = NULL;
  gsize n_B;
  g_autoptr (CalProbe) probe =
      g_file_get_contents (PROBE, &bytes, &n_B, &error) ? cal_probe_parse (PROBE, bytes, n_B, &error) : NULL;
  g_ptr_array_add (probes, probe);
  const CalNode node = { .gpu = &gpu };
  CalSectionFit *found = probe != NULL && section != NULL
                             ? cal_section_fit (section, cst_library (cal)->overlap, &node, probes, TRUE, TRUE, &error)
                             : NULL;
  if (found == NULL)
    g_error ("%s", error != NULL ? error->message : "no point tells the section");
  return found;
}

typedef struct {
  guint n;
  double median, p95;
} Score;

/* Held-out points whose text has both parts. */
static Score
score (const char *part, const char *of)
{
  g_autofree double *off = g_new (double, fit->points->len);
  Score out = { 0 };
  for (guint i = 0; i < fit->points->len; i++) {
    const CalSectionPoint *p = &g_array_index (fit->points, CalSectionPoint, i);
    if (p->use != CAL_USE_FIT && strstr (p->what, part) != NULL && g_str_has_suffix (p->what, of) && isfinite (fit->predicted[i]))
      off[out.n++] = fabs (fit->predicted[i] / p->measured - 1);
  }
  out.median = base_median (off, out.n);
  out.p95 = base_quantile (off, out.n, 0.95);
  return out;
}

static void
check (const char *part, const char *of, guint least, double median, double p95)
{
  const Score s = score (part, of);
  printf ("%-16s %-11s %3u held out: median %4.1f %%, 95th percentile %4.1f %%\n", part[0] != '\0' ? part : "all", of, s.n,
          100 * s.median, 100 * s.p95);
  TEST_TRUE (s.n >= least && s.median <= median && s.p95 <= p95);
}

static void
slowdowns_are_within_ten_per_cent (void)
{
  check ("", "", 120, 0.03, 0.1);
  check ("", "kernel", 20, 0.03, 0.1);
  check ("", "collective", 20, 0.05, 0.14);
  check ("", "total", 55, 0.03, 0.1);
}

static void
each_kind_of_kernel_holds (void)
{
  check ("gemm bf16", "", 30, 0.05, 0.1);
  check ("gemm fp8", "", 30, 0.05, 0.12);
  check ("copy", "", 40, 0.03, 0.13);
  check ("attention", "", 2, 0.05, 0.05);
}

static void
each_collective_holds (void)
{
  check ("all_reduce", "", 20, 0.03, 0.12);
  check ("all_gather", "", 20, 0.03, 0.12);
  check ("reduce_scatter", "", 40, 0.04, 0.12); /* none of it was fitted */
  check ("alltoall", "", 15, 0.04, 0.12);
}

static void
the_band_holds_nine_of_ten (void)
{
  printf ("band %.1f %%, holds %.0f %% of the other half\n", 100 * fit->band, 100 * fit->covered);
  TEST_TRUE (fit->band < 0.12 && fit->covered >= 0.85);
}

static double
number_in (const char *text, const char *key)
{
  g_autofree char *quoted = g_strdup_printf ("\"%s\": ", key);
  const char *at = strstr (text, quoted);
  g_assert_nonnull (at);
  return g_ascii_strtod (at + strlen (quoted), NULL);
}

/* 20 GEMMs of 8192^3 in bf16 beside 8 all-reduces of 512 MiB on 8 GPUs, by PyTorch. NCCL took 24 channels there
 * (nccl_choices.csv). */
static void
another_program_on_another_node_holds (void)
{
  g_autofree char *text = NULL;
  g_assert_true (g_file_get_contents (TORCH, &text, NULL, NULL));
  unsigned n_gemm = (unsigned)number_in (text, "n_gemm"), n_ar = (unsigned)number_in (text, "n_ar");
  double gemm_s = number_in (text, "gemm_alone") / n_gemm, ar_s = number_in (text, "ar_alone") / n_ar,
         both_s = number_in (text, "both"), n = 8192;
  const MdlOverlapCompute compute = { MDL_OVERLAP_GEMM, 1, 3 * n * n * 2 / gemm_s };
  const MdlOverlapComm comm = { MDL_OVERLAP_SM, 24,
                                mdl_overlap_memory_B (MDL_OP_ALL_REDUCE, MDL_OVERLAP_SM, number_in (text, "ar_bytes"), 8) / ar_s };
  g_autoptr (Cst) cal = constants ("h200_sxm");
  MdlOverlapQueues out;
  mdl_overlap_queues (cst_library (cal)->overlap, &gpu, &(MdlOverlapQuery){ compute, gemm_s, n_gemm, comm, ar_s, n_ar, 8 }, &out);
  printf ("8 H200, PyTorch: %.1f ms, measured %.1f; one after the other %.1f\n", 1e3 * out.total_s, 1e3 * both_s,
          1e3 * (gemm_s * n_gemm + ar_s * n_ar));
  TEST_NEAR (out.total_s, both_s, 0.1);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "slowdowns are within ten per cent", slowdowns_are_within_ten_per_cent },
    { "each kind of kernel holds", each_kind_of_kernel_holds },
    { "each collective holds", each_collective_holds },
    { "the band holds nine of ten", the_band_holds_nine_of_ten },
    { "another program on another node holds", another_program_on_another_node_holds },
    { NULL, NULL },
  };
  lookup = base_lookup_new (TEST_SOURCE_DIR);
  fit = fit_probe ();
  int status = test_main ("accuracy of overlap", cases);
  cal_section_fit_free (fit);
  base_lookup_free (lookup);
  return status;
}
