/* What all_reduce_bench.py of stas00/ml-engineering prints. One size:
 *     The average bandwidth of all_reduce with a 4.0GB payload (5 trials, 16 ranks):
 *      algbw: 239.742 GBps (1917.9 Gbps)
 *      busbw: 449.515 GBps (3596.1 Gbps)
 * or many: "… of all_reduce over 4 ranks (5 warmups / 20 trials):", then "|  32KiB |   1.18GBps |   0.79GBps |", busbw first.
 * GB is 1e9 B, KiB is 1024 B. The elements are fp32, and the operation is in place.
 * Source: stas00/ml-engineering, network/benchmarks/all_reduce_bench.py. */
#include <math.h>
#include <string.h>

#include "import/measured-private.h"

#define TITLE     "The average bandwidth of all_reduce"
#define NODE_GPUS 8u /* more ranks are of several nodes */

typedef struct {
  const CalText *text;
  CalRows *rows;
  CalFileInfo *told;
  CalRun run;
  gboolean open; /* a title was read */
  double size_B; /* of one size; 0: a table follows */
  guint n_rows;
} Reader;

/* "4.0GB", "32KiB", "330.767 GBps": the number times its unit. NAN: none. */
static double
scaled (const char *text)
{
  static const struct {
    const char *unit;
    double factor;
  } units[] = {
    { "KiB", 1024 }, { "MiB", 1048576 }, { "GiB", 1073741824 }, { "KB", 1e3 }, { "MB", 1e6 }, { "GB", 1e9 }, { "B", 1 }
  };
  char *end;
  const double value = g_ascii_strtod (text, &end);
  end += strspn (end, " ");
  for (guint i = 0; end != text && i < G_N_ELEMENTS (units); i++)
    if (g_str_has_prefix (end, units[i].unit) && value > 0 && value < 1e15)
      return value * units[i].factor;
  return (double)NAN;
}

static gboolean
read_title (Reader *reader, const char *line, unsigned number, GError **error)
{
  const char *payload = strstr (line, " with a "), *ranks = strstr (line, " ranks");
  while (ranks != NULL && ranks > line && g_ascii_isdigit (ranks[-1]))
    ranks--;
  const guint64 n = ranks != NULL ? g_ascii_strtoull (ranks, NULL, 10) : 0;
  reader->size_B = payload != NULL ? scaled (payload + strlen (" with a ")) : 0;
  if (n < 2 || n > CAL_MOST_RANK || isnan (reader->size_B))
    return cal_fail (reader->text, CAL_LINE (number), error, "the ranks, or the payload, of this title cannot be read");
  cal_run_clear (&reader->run);
  cal_run_open (&reader->run, number);
  cal_run_program (&reader->run, "all_reduce_perf");
  if (reader->told->gpus == 0 && reader->told->nodes == 0 && n > NODE_GPUS)
    return cal_fail (reader->text, CAL_LINE (number), error, "%u ranks are of several nodes; say how many (--nodes, --gpus)",
                     (guint)n);
  if (reader->told->gpus == 0)
    reader->told->gpus = (guint32)(n / MAX (reader->told->nodes, 1));
  reader->told->nodes = (guint32)(n / reader->told->gpus);
  if ((guint64)reader->told->nodes * reader->told->gpus != n)
    return cal_fail (reader->text, CAL_LINE (number), error, "--nodes and --gpus do not give the %u ranks of this run", (guint)n);
  reader->open = TRUE;
  return TRUE;
}

static gboolean
add (Reader *reader, double size_B, double algbw_Bps, double busbw_Bps, unsigned number, GError **error)
{
  const CalPlace place = CAL_LINE (number);
  if (!(size_B >= 1) || !(algbw_Bps > 0) || !(size_B < (double)CAL_MOST_SIZE_B))
    return cal_fail (reader->text, place, error, "a size and rates above 0 are accepted, such as 32KiB and 1.18GBps");
  CalRow row = { .size_B = (guint64)(size_B + 0.5), .in_place = TRUE, .dtype = MDL_DTYPE_FP32, .wrong = -1 };
  row.algbw_GBps = algbw_Bps * 1e-9;
  row.busbw_GBps = busbw_Bps * 1e-9;
  row.time_us = 1e6 * size_B / algbw_Bps;
  row.algbw_half = row.busbw_half = 0.006;
  row.time_half = row.time_us * (0.006 / row.algbw_GBps);
  if (!cal_rows_resolve (reader->rows, &reader->run, place, error))
    return FALSE;
  cal_rows_add (reader->rows, &reader->run, place, &row);
  reader->n_rows++;
  return TRUE;
}

static gboolean
read_line (void *user, char *line, unsigned number, GError **error)
{
  Reader *reader = user;
  const char *title = strstr (line, TITLE), *algbw = strstr (line, "algbw:");
  if (title != NULL)
    return read_title (reader, title, number, error);
  if (!reader->open)
    return TRUE;
  if (algbw != NULL && reader->size_B > 0) {
    const double rate = scaled (algbw + strlen ("algbw:") + strspn (algbw + strlen ("algbw:"), " "));
    const double n = (double)reader->told->nodes * reader->told->gpus;
    return add (reader, reader->size_B, rate, rate * 2 * (n - 1) / n, number, error);
  }
  const char *bar = strchr (line, '|');
  g_auto (GStrv) cells = bar != NULL && reader->size_B <= 0 ? g_strsplit (bar + 1, "|", 4) : NULL;
  if (cells == NULL || g_strv_length (cells) < 3 || !g_ascii_isdigit (*g_strstrip (cells[0])))
    return TRUE;
  return add (reader, scaled (cells[0]), scaled (g_strstrip (cells[2])), scaled (g_strstrip (cells[1])), number, error);
}

char *
cal_import_torch_bench (const CalText *text, const CalFileInfo *told, GError **error)
{
  CalFileInfo own = *told;
  g_autoptr (CalRows) rows = cal_rows_new (text, &own);
  Reader reader = { .text = text, .rows = rows, .told = &own };
  cal_run_open (&reader.run, 0);
  gboolean good = cal_import_lines (&reader, text, read_line, error);
  cal_run_clear (&reader.run);
  if (good && reader.n_rows == 0)
    good = cal_fail (text, CAL_LINE (1), error,
                     reader.open ? "no rate stands below the title"
                                 : "no line '" TITLE " …'; the output of all_reduce_bench.py is accepted");
  return good ? cal_rows_finish (rows, error) : NULL;
}
