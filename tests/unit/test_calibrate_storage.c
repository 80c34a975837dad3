/* Storage of a probe's file and of fio's and gdsio's CSV: constants are found again, and what no probe writes is refused. */
#include <math.h>

#include "calibrate/rows.h"
#include "calibrate/section.h"
#include "harness.h"
#include "models/storage.h"

static BaseNum
num (double v)
{
  return (BaseNum){ .v = v, .set = TRUE, .source = BASE_SOURCE_ASSUMED };
}

static MdlStorage
truth (void)
{
  MdlStorage s = { .blend = num (2) };
  for (int op = 0; op < MDL_IO_OP_N; op++)
    s.op[op] = (MdlIoSide){ .latency = num (60e-6), .iops = num (300e3), .stream = num (2e9), .rate = num (6e9) };
  s.op[MDL_IO_WRITE].rate = num (3e9);
  s.bounce.stream = num (5e9);
  return s;
}

/* As fio and gdsio would have it. */
static char *
rows_of (const MdlStorage *s)
{
  static const char *const paths[] = { "host", "gpu_direct", "host_gpu" };
  GString *out = g_string_new ("tool,job,op,path,block_B,threads,depth,rate_Bps,iops,latency_mean_s,latency_p99_s,runtime_s\n");
  for (MdlIoPath path = MDL_IO_HOST; path < MDL_IO_PATH_N; path++)
    for (MdlIoOp op = MDL_IO_READ; op < (path == MDL_IO_HOST ? MDL_IO_OP_N : MDL_IO_WRITE); op++)
      for (int k = 12; k <= 22; k += 2)
        for (int n = 0; n <= 6; n++) {
          const MdlIoQuestion q = { op, path, FALSE, ldexp (1, k), ldexp (1, n) };
          MdlIoCost cost;
          mdl_storage_cost (s, &q, &cost);
          g_string_append_printf (out, "fio,j,%s,%s,%.0f,%.0f,%.0f,%.9g,,,,\n", base_name (mdl_io_op_names, (int)op), paths[path],
                                  q.block_B, n > 2 ? q.in_flight / 4 : q.in_flight, n > 2 ? 4.0 : 1.0, cost.rate_Bps);
        }
  return g_string_free (out, FALSE);
}

static CalSectionFit *
fit_probe (CalProbe *probe, const MdlStorage *defaults, GError **error)
{
  g_autoptr (GPtrArray) probes = g_ptr_array_new_with_free_func ((GDestroyNotify)cal_probe_free);
  g_ptr_array_add (probes, probe);
  const CalNode node = { 0 };
  return cal_section_fit (&cal_section_storage, defaults, &node, probes, TRUE, FALSE, error);
}

static void
constants_are_found_again (void)
{
  const MdlStorage made = truth ();
  g_autofree char *csv = rows_of (&made);
  g_autoptr (BaseDiag) warnings = base_diag_new ();
  g_autoptr (GError) error = NULL;
  const CalText text = { .path = "x.csv", .bytes = csv, .n_B = strlen (csv), .warnings = warnings };
  MdlStorage found = { .blend = num (1.5), .bounce = { .stream = num (8e9) } };
  g_autoptr (CalSectionFit) fit = fit_probe (cal_rows_probe (&text, &error), &found, &error);
  if (fit == NULL)
    g_error ("%s", error->message);
  for (guint i = 0; i < fit->points->len; i++) /* the held-out half too */
    test_near (fit->predicted[i], g_array_index (fit->points, CalSectionPoint, i).measured, 0.03,
               g_array_index (fit->points, CalSectionPoint, i).what, __FILE__, __LINE__);
  cal_section_result (fit, &found);
  TEST_NEAR (found.op[MDL_IO_READ].latency.v, 60e-6, 0.05);
  TEST_NEAR (found.op[MDL_IO_READ].rate.v, 6e9, 0.05);
  TEST_NEAR (found.op[MDL_IO_READ].iops.v, 300e3, 0.05);
  TEST_NEAR (found.op[MDL_IO_WRITE].rate.v, 3e9, 0.05);
  TEST_NEAR (found.bounce.stream.v, 5e9, 0.1);
}

static void
what_the_points_leave_open_is_written_as_it_was_used (void)
{
  /* 16 reads of 1 MiB tell the rate, not the latency: where the search began is what predictions were made with */
  static const char csv[] = "tool,job,op,path,block_B,threads,depth,rate_Bps,iops,latency_mean_s,latency_p99_s,runtime_s\n"
                            "fio,a,read,host,1048576,16,1,5000000000,,,,\nfio,b,read,host,1048576,32,1,5000000000,,,,\n"
                            "fio,c,read,host,4194304,16,1,5000000000,,,,\nfio,d,read,host,4194304,32,1,5000000000,,,,\n";
  g_autoptr (BaseDiag) warnings = base_diag_new ();
  const CalText text = { .path = "x.csv", .bytes = csv, .n_B = strlen (csv), .warnings = warnings };
  MdlStorage defaults = { .blend = num (2) };
  defaults.op[MDL_IO_READ].rate = num (1e12); /* of which the points know better */
  g_autoptr (CalSectionFit) fit = fit_probe (cal_rows_probe (&text, NULL), &defaults, NULL);
  g_autoptr (GString) out = g_string_new (NULL);
  cal_section_write (fit, out);
  TEST_HAS (out->str, "    rate: {value: 5");
  TEST_HAS (out->str, "source: assumed, note: \"near what was measured, which leaves it open\"");
}

static void
what_no_probe_writes_is_refused (void)
{
  static const char *const rows[][2] = {
    { "\"what\": \"erase\"", "p.json: points[0].what 'erase' is not known; accepted: read, write" },
    { "\"what\": \"read\", \"path\": \"tape\"", "path 'tape' is not known" },
    { "\"what\": \"read\", \"path\": \"host\"", "pattern is missing; accepted: sequential, random" },
    { "\"what\": \"read\", \"path\": \"host\", \"pattern\": \"random\", \"block_B\": 0", "block_B: a number from 1" },
    { "\"what\": \"read\", \"path\": \"host\", \"pattern\": \"random\", \"block_B\": 1, \"threads\": \"2\"", "threads: a number" },
    { "\"what\": \"read\", \"path\": \"host\", \"pattern\": \"random\", \"block_B\": 1, \"threads\": 2, \"depth\": 0",
      "depth: a number" },
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *text = g_strdup_printf ("{\"schema\": \"forerun-probe/1\", \"points\": [{\"section\": \"storage\", %s, "
                                             "\"median_s\": 1, \"ci_lo_s\": 1, \"ci_hi_s\": 1}]}",
                                             rows[i][0]);
    g_autoptr (GError) error = NULL;
    const MdlStorage defaults = { .blend = num (2) };
    g_autoptr (CalSectionFit) fit = fit_probe (cal_probe_parse ("p.json", text, strlen (text), &error), &defaults, &error);
    TEST_TRUE (fit == NULL);
    test_has (error != NULL ? error->message : "", rows[i][1], rows[i][0], __FILE__, __LINE__);
  }
}

int
main (void)
{
  static const TestCase cases[] = {
    { "constants are found again", constants_are_found_again },
    { "what the points leave open is written as it was used", what_the_points_leave_open_is_written_as_it_was_used },
    { "what no probe writes is refused", what_no_probe_writes_is_refused },
    { NULL, NULL },
  };
  return test_main ("calibrate: storage", cases);
}
