/* Copies and links of a probe's file: what its points are, which constants they tell, which link is slow. The node is this test's:
 * 100 GB/s of NVLink, 50 GB/s of PCIe. */
#include <math.h>

#include "calibrate/links.h"
#include "calibrate/rows.h"
#include "harness.h"

#define NVLINK_BPS 100e9
#define PCIE_BPS   50e9

/* A copy between GPUs takes `queued` and its bytes over what engines reach; loads cross two links there and back. */
static double
link_s (void *user, const MdlLinks *links, const CalLinkCase *c)
{
  (void)user;
  switch (c->pattern) {
    case CAL_LINK_LOAD:
      return c->n == 0 ? 2 * links->pcie.latency.v : c->own_s + 4 * links->scale_up.latency.v;
    case CAL_LINK_HOST:
      return links->copies.at[c->copy].queued.v +
             c->size_B * fmax (1 / (PCIE_BPS * links->pcie.efficiency.v), c->n / links->host.read.v);
    case CAL_LINK_ONE:
      return (c->queued ? links->copies.at[c->copy].queued.v : links->copies.at[c->copy].start.v) +
             c->size_B / (NVLINK_BPS * links->scale_up.efficiency.v);
    case CAL_LINK_BOTH:
    case CAL_LINK_SHIFT:
    case CAL_LINK_ALL:
    default:
      return (double)NAN;
  }
}

static BaseNum
num (double v)
{
  return (BaseNum){ .v = v, .set = TRUE, .source = BASE_SOURCE_ASSUMED };
}

static MdlLinks
defaults (void)
{
  MdlLinks links = { 0 };
  links.scale_up.efficiency = links.pcie.efficiency = num (0.8);
  links.scale_up.latency = links.pcie.latency = num (0.2e-6);
  for (int k = 0; k < MDL_COPY_N; k++)
    links.copies.at[k].start = links.copies.at[k].queued = num (3e-6);
  return links;
}

static void
timed (GString *out, double time_s, const char *what)
{
  g_string_append_printf (out, "%s{\"section\": \"link\", %s, \"median_s\": %.9g, \"ci_lo_s\": %.9g, \"ci_hi_s\": %.9g}",
                          out->len > 0 ? ",\n" : "", what, time_s, time_s, time_s);
}

/* Copies by 4 to 64 MiB that start in 2 us and reach 90 GB/s, and one of 64 MiB between any two of 4 GPUs; `slow` is at half. */
static void
add_copies (GString *out, guint slow_from, guint slow_to, gboolean all_of_it)
{
  for (double size_B = 1; size_B < 0x1p26; size_B *= 8) {
    g_autofree char *what =
        g_strdup_printf ("\"what\": \"ce\", \"pattern\": \"one\", \"src\": 0, \"dst\": 1, \"bytes\": %.0f", size_B);
    timed (out, 2e-6 + size_B / 90e9, what);
  }
  for (guint a = 0; a < 4; a++)
    for (guint b = 0; b < 4; b++) {
      gboolean slow = all_of_it ? a == slow_from || b == slow_from : a == slow_from && b == slow_to;
      g_autofree char *what =
          g_strdup_printf ("\"what\": \"ce\", \"pattern\": \"one\", \"src\": %u, \"dst\": %u, \"bytes\": 67108864", a, b);
      if (a != b)
        timed (out, 2e-6 + 0x1p26 / (slow ? 45e9 : 90e9), what);
    }
}

/* Returned: full, or NULL with *message (full). */
static CalSectionFit *
fit_points (const GString *points, MdlLinks *links, char **message)
{
  g_autofree char *text = g_strdup_printf ("{\"schema\": \"forerun-probe/1\", \"points\": [%s]}", points->str);
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) probes = g_ptr_array_new_with_free_func ((GDestroyNotify)cal_probe_free);
  CalProbe *probe = cal_probe_parse ("p.json", text, strlen (text), &error);
  CalSectionFit *fit = NULL;
  if (probe != NULL) {
    g_ptr_array_add (probes, probe);
    const CalNode node = { .link_s = link_s };
    fit = cal_section_fit (&cal_section_links, links, &node, probes, TRUE, FALSE, &error);
  }
  if (message != NULL)
    *message = error != NULL ? g_strdup (error->message) : NULL;
  else if (error != NULL)
    g_error ("%s", error->message);
  if (fit != NULL)
    cal_section_result (fit, links);
  return fit;
}

static void
constants_are_found_again (void)
{
  g_autoptr (GString) out = g_string_new (NULL);
  add_copies (out, 9, 9, FALSE);
  for (int k = 0; k < 6; k++) {
    double size_B = ldexp (64, 4 * k);
    g_autofree char *what =
        g_strdup_printf ("\"what\": \"h2d\", \"memory\": \"pinned\", \"gpu\": 0, \"gpus\": 1, \"bytes\": %.0f", size_B);
    timed (out, 2.5e-6 + size_B / 45e9, what);
  }
  for (guint n = 2; n <= 4; n++) { /* the memory is read at 100 GB/s */
    g_autofree char *what =
        g_strdup_printf ("\"what\": \"h2d\", \"memory\": \"pinned\", \"gpu\": 0, \"gpus\": %u, \"bytes\": 100000000", n);
    timed (out, 2.5e-6 + 1e8 * fmax (1 / 45e9, n / 100e9), what);
  }
  timed (out, 0.15e-6, "\"what\": \"latency\", \"memory\": \"own\", \"gpu\": 0, \"of\": 0");
  for (guint g = 1; g < 8; g++) { /* 0.15 and 4 x 0.18 us */
    g_autofree char *what = g_strdup_printf ("\"what\": \"latency\", \"memory\": \"gpu\", \"gpu\": 0, \"of\": %u", g);
    timed (out, 0.87e-6, what);
  }
  MdlLinks links = defaults ();
  g_autoptr (CalSectionFit) fit = fit_points (out, &links, NULL);
  TEST_NEAR (links.scale_up.efficiency.v, 0.9, 1e-3);
  TEST_NEAR (links.copies.at[MDL_COPY_DMA].queued.v, 2e-6, 1e-2);
  TEST_NEAR (links.pcie.efficiency.v, 0.9, 1e-3);
  TEST_NEAR (links.copies.at[MDL_COPY_H2D].queued.v, 2.5e-6, 1e-2);
  TEST_NEAR (links.scale_up.latency.v, 0.18e-6, 1e-3);
  TEST_NEAR (links.host.read.v, 100e9, 1e-3);
  TEST_FALSE (links.host.write.set); /* nobody measured it */
  TEST_INT (links.scale_up.efficiency.source, BASE_SOURCE_MEASURED);
  TEST_INT (fit->notes->len, 0);
}

static void
memory_that_hinders_nobody_is_given_no_limit (void)
{
  g_autoptr (GString) out = g_string_new (NULL);
  for (guint n = 1; n <= 4; n++) {
    g_autofree char *what =
        g_strdup_printf ("\"what\": \"d2h\", \"memory\": \"pinned\", \"gpu\": 0, \"gpus\": %u, \"bytes\": 100000000", n);
    timed (out, 1e8 / 45e9, what);
  }
  g_autofree char *text = g_strdup_printf ("{\"schema\": \"forerun-probe/1\", \"points\": [%s]}", out->str);
  g_autoptr (CalProbe) probe = cal_probe_parse ("p.json", text, strlen (text), NULL);
  MdlLinks links = { 0 };
  cal_section_links.start (probe, &links);
  TEST_FALSE (links.host.read.set || links.host.write.set || links.host.both.set);
}

static void
what_is_slow_is_named (void)
{
  MdlLinks links = defaults ();
  g_autoptr (GString) pair = g_string_new (NULL), gpu = g_string_new (NULL);
  add_copies (pair, 3, 1, FALSE);
  g_autoptr (CalSectionFit) one = fit_points (pair, &links, NULL);
  TEST_INT (one->notes->len, 1);
  TEST_HAS (one->notes->pdata[0], "slow: dma of 64 MiB, GPU 3 to 1: 44.9");
  TEST_NEAR (links.scale_up.efficiency.v, 0.9, 5e-3); /* it pulls at nothing */
  links = defaults ();
  add_copies (gpu, 2, 0, TRUE);
  g_autoptr (CalSectionFit) all = fit_points (gpu, &links, NULL);
  TEST_INT (all->notes->len, 1);
  TEST_HAS (all->notes->pdata[0], "slow: GPU 2 with every other: dma of 64 MiB reaches 44.9");
}

static void
what_no_probe_writes_is_refused (void)
{
  static const struct {
    const char *point, *want;
  } rows[] = {
    { "\"what\": \"teleport\"", "points[0].what 'teleport' is not known; accepted: ce, sm, ce_sync, h2d, d2h, h2d_d2h, latency" },
    { "\"what\": \"ce\", \"pattern\": \"some\"", "points[0].pattern 'some' is not known" },
    { "\"what\": \"ce\", \"pattern\": \"one\", \"src\": 0, \"dst\": 0, \"bytes\": 8", "two different GPUs" },
    { "\"what\": \"ce\", \"pattern\": \"one\", \"src\": 0.5, \"dst\": 1, \"bytes\": 8", "src: a whole number from 0 to 1024" },
    { "\"what\": \"ce\", \"pattern\": \"one\", \"src\": 0, \"dst\": 1", "bytes: a size above 0 B" },
    { "\"what\": \"ce\", \"pattern\": \"all\", \"gpus\": 1, \"bytes\": 8", "gpus: a whole number from 2" },
    { "\"what\": \"sm\", \"pattern\": \"one\", \"src\": 0, \"dst\": 1, \"bytes\": 8", "by is missing; accepted: write, read" },
    { "\"what\": \"h2d\", \"memory\": \"rom\", \"bytes\": 8", "memory 'rom' is not known; accepted: pinned, pageable" },
    { "\"what\": \"h2d\", \"memory\": \"pinned\", \"bytes\": 8, \"gpu\": 0, \"gpus\": \"1\"", "gpus: a whole number from 1" },
    { "\"what\": \"latency\", \"memory\": \"gpu\", \"gpu\": 0", "of: a whole number from 0" },
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GString) out = g_string_new (NULL);
    timed (out, 1e-6, rows[i].point);
    MdlLinks links = defaults ();
    g_autofree char *message = NULL;
    g_autoptr (CalSectionFit) fit = fit_points (out, &links, &message);
    TEST_TRUE (fit == NULL);
    test_has (message != NULL ? message : "", rows[i].want, rows[i].point, __FILE__, __LINE__);
  }
  g_autoptr (GString) twice = g_string_new (NULL);
  for (int k = 0; k < 2; k++)
    timed (twice, 1e-6 * (k + 1), "\"what\": \"ce\", \"pattern\": \"one\", \"src\": 0, \"dst\": 1, \"bytes\": 8");
  MdlLinks links = defaults ();
  g_autofree char *message = NULL;
  g_autoptr (CalSectionFit) fit = fit_points (twice, &links, &message);
  TEST_TRUE (fit == NULL);
  TEST_STR (message, "p.json: points[1] is the case of points[0] again; each once is accepted");
}

static void
what_tools_print_is_told_apart (void)
{
  static const struct {
    const char *text;
    CalTool tool;
  } rows[] = {
    { "{\"nvbandwidth\": {}}", CAL_TOOL_NVBANDWIDTH },
    { " \n{\"fio version\": \"fio-3.36\"}", CAL_TOOL_FIO },
    { "fio: a warning\n{\"fio version\": \"fio-3.36\"}", CAL_TOOL_FIO },
    { "IoType: READ XferType: GPUD", CAL_TOOL_GDSIO },
    { "P2P Connectivity Matrix", CAL_TOOL_P2P_TEST },
    { "nvbandwidth Version: v0.8", CAL_TOOL_NVBANDWIDTH },
    { "#      out-of-place       in-place", CAL_TOOL_NCCL_TESTS },
    { "bread, milk", CAL_TOOL_NONE },
    { "", CAL_TOOL_NONE },
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    const CalText text = { .path = "x", .bytes = rows[i].text, .n_B = strlen (rows[i].text) };
    TEST_INT (cal_tool_of (&text), rows[i].tool);
  }
}

int
main (void)
{
  static const TestCase cases[] = {
    { "constants are found again", constants_are_found_again },
    { "memory that hinders nobody is given no limit", memory_that_hinders_nobody_is_given_no_limit },
    { "what is slow is named", what_is_slow_is_named },
    { "what no probe writes is refused", what_no_probe_writes_is_refused },
    { "outputs of tools are distinguished", what_tools_print_is_told_apart },
    { NULL, NULL },
  };
  return test_main ("calibrate: links", cases);
}
