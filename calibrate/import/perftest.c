/* What perftest prints (ib_write_bw, ib_read_lat, ib_send_bw …): a head with the test's name and "Device : mlx5_0", a table head
 * that begins with "#bytes" and names the unit of rates, rows; or the JSON of --out_json. It names no host: a line
 * "## node1:mlx5_0 -> node2:mlx5_0" before a run does, or the file's name. A read moves data from the peer to the caller.
 * Source: linux-rdma/perftest src/perftest_parameters.h (RESULT_FMT…, REPORT_FMT…), perftest_parameters.c. */
#include <math.h>
#include <string.h>

#include "import/pairs-private.h"

/* MsgRate times size is the rate, whatever the unit: how far they may be apart. */
#define RATE_SLACK 0.05
/* Below this, in million messages a second, the six decimals printed say too little. */
#define LEAST_MSG_RATE 1e-4
#define MIB            1048576.0

enum { NONE, UNTOLD }; /* notes */

typedef struct {
  CalImport in;
  CalEnds ends;
  char *device, op[32];
  gboolean read, both;
  enum { NO_TABLE, RATES, LATENCIES, MEAN_LATENCY } table;
  guint shift; /* columns between size and iterations: #sl */
  double unit_Bps;
  unsigned line;
} Reader;

static gboolean
write_row (Reader *reader, CalPlace place, guint64 size_B, double rate_Bps, double time_s)
{
  CalEnds ends = reader->ends;
  ends.from_nic = *ends.from_nic != '\0' || reader->device == NULL ? ends.from_nic : reader->device;
  if (*ends.to_nic == '\0' && *ends.from_nic != '\0' && *ends.to != '\0') {
    ends.to_nic = ends.from_nic;
    cal_note (&reader->in.note[UNTOLD], reader->in.text, place, "the peer's device is not said; taken for %s too", ends.from_nic);
  }
  if (!(rate_Bps > 0) && !(time_s > 0)) {
    cal_note (&reader->in.note[NONE], reader->in.text, place, "a rate or time of 0: left out");
    return TRUE;
  }
  if (reader->read)
    ends = (CalEnds){ .from = ends.to, .from_nic = ends.to_nic, .to = ends.from, .to_nic = ends.from_nic };
  cal_pair_write (&reader->in, &(CalPairRow){ "perftest", reader->op, ends, size_B, time_s, rate_Bps, reader->both });
  return TRUE;
}

/* "RDMA_Write BW Test", "RDMA_Read_Latency_Test": what is measured. FALSE: no test's name. */
static gboolean
read_test (Reader *reader, const char *name)
{
  static const struct {
    const char *word, *verb;
  } verbs[] = { { "RDMA_Write", "write" }, { "RDMA_Read", "read" }, { "Send", "send" }, { "Atomic", "atomic" } };
  guint v = 0;
  while (v < G_N_ELEMENTS (verbs) && !g_str_has_prefix (name, verbs[v].word))
    v++;
  gboolean latency = strstr (name, "Latency") != NULL;
  if (v == G_N_ELEMENTS (verbs) || (!latency && strstr (name, "BW") == NULL))
    return FALSE;
  reader->in.known = TRUE;
  reader->table = NO_TABLE;
  reader->read = g_str_equal (verbs[v].verb, "read");
  reader->both = strstr (name, "Bidirectional") != NULL;
  g_snprintf (reader->op, sizeof reader->op, "%s_%s", verbs[v].verb, latency ? "lat" : "bw");
  return TRUE;
}

/* "Dual-port : OFF   Device : mlx5_0". */
static void
read_device (Reader *reader, const char *line)
{
  const char *at = strstr (line, "Device"), *colon = at == NULL ? NULL : strchr (at, ':');
  if (colon == NULL)
    return;
  colon += 1 + strspn (colon + 1, " \t");
  g_free (reader->device);
  reader->device = g_strndup (colon, strcspn (colon, " \t,"));
}

static gboolean
read_head (Reader *reader, const char *line, GError **error)
{
  static const struct {
    const char *word;
    double unit_Bps;
  } units[] = { { "[Gb/sec]", 1e9 / 8 }, { "[MiB/sec]", MIB }, { "[MB/sec]", MIB } }; /* "MB" counted 2^20 too */
  reader->in.known = TRUE;
  reader->shift = strstr (line, "#sl") != NULL ? 1 : 0;
  if (strstr (line, "t_typical") != NULL)
    reader->table = LATENCIES;
  else if (strstr (line, "tps") != NULL)
    reader->table = MEAN_LATENCY;
  else if (strstr (line, "BW average") != NULL) {
    reader->table = RATES;
    reader->unit_Bps = 0;
    for (guint i = 0; i < G_N_ELEMENTS (units); i++)
      if (strstr (line, units[i].word) != NULL)
        reader->unit_Bps = units[i].unit_Bps;
    if (reader->unit_Bps <= 0)
      return cal_fail (reader->in.text, CAL_LINE (reader->line), error,
                       "the head names no unit of rates; [Gb/sec] (--report_gbits), [MiB/sec] and [MB/sec] are accepted");
  } else
    return cal_fail (reader->in.text, CAL_LINE (reader->line), error,
                     "a table of another test; those of bandwidth (BW average) and latency (t_typical or t_avg) are accepted");
  if (*reader->op == '\0')
    g_strlcpy (reader->op, reader->table == RATES ? "bw" : "lat", sizeof reader->op);
  return TRUE;
}

static gboolean
check_rate (Reader *reader, CalPlace place, double rate_Bps, double msg_rate, guint64 size_B, GError **error)
{
  double counted_Bps = msg_rate * 1e6 * (double)size_B;
  if (msg_rate < LEAST_MSG_RATE || fabs (counted_Bps - rate_Bps) <= RATE_SLACK * counted_Bps)
    return TRUE;
  return cal_fail (
      reader->in.text, place, error,
      "%.4g GB/s by the unit of the head, but %g million messages of %" G_GUINT64_FORMAT
      " B a second are %.4g GB/s: head and rows are of different runs, or the unit was changed; give each run its head",
      rate_Bps * 1e-9, msg_rate, size_B, counted_Bps * 1e-9);
}

static gboolean
read_row (Reader *reader, char *line, GError **error)
{
  static const guint need[] = { [RATES] = 5, [LATENCIES] = 7, [MEAN_LATENCY] = 4 };
  char *words[16];
  CalPlace place = CAL_LINE (reader->line);
  guint n = cal_words (line, words, G_N_ELEMENTS (words)), at = reader->shift;
  guint64 size_B, count;
  double value[3], half;
  if (n < need[reader->table] + at)
    return cal_fail (reader->in.text, place, error, "%u words where a row has %u: it is cut off; copy the whole row", n,
                     need[reader->table] + at);
  guint first = reader->table == RATES ? 3 : reader->table == LATENCIES ? 4 : 2; /* average; typical; average */
  gboolean good = cal_whole (words[0], CAL_MOST_SIZE_B, &size_B) && cal_whole (words[1 + at], G_MAXUINT64, &count);
  for (guint i = 0; good && i < (reader->table == RATES ? 2 : 1); i++)
    good = cal_decimal (words[first + at + i], &value[i], &half) && value[i] >= 0 && isfinite (value[i]);
  if (!good)
    return cal_fail (reader->in.text, place, error, "a row of perftest's is numbers only; other output broke it");
  if (reader->table != RATES)
    return write_row (reader, place, size_B, (double)NAN, value[0] * 1e-6);
  double rate_Bps = value[0] * reader->unit_Bps;
  return check_rate (reader, place, rate_Bps, value[1], size_B, error) && write_row (reader, place, size_B, rate_Bps, (double)NAN);
}

static gboolean
read_line (void *user, char *line, unsigned number, GError **error)
{
  Reader *reader = user;
  reader->line = number;
  line += strspn (line, " \t");
  if (g_str_has_prefix (line, "## "))
    return cal_ends_line (&reader->ends, reader->in.text, line + 3, number, error);
  if (g_str_has_prefix (line, "#bytes"))
    return read_head (reader, line, error);
  if (g_ascii_isdigit (*line) && reader->table != NO_TABLE)
    return read_row (reader, line, error);
  if (strstr (line, " Test") != NULL)
    read_test (reader, line);
  else if (strstr (line, "Device") != NULL)
    read_device (reader, line);
  return TRUE;
}

/* MsgRate gives the rate without its unit, which the JSON does not name. */
static gboolean
read_object (void *user, JsonObject *root, unsigned line, GError **error)
{
  Reader *reader = user;
  JsonObject *info = base_json_object (root, "test_info"), *results = base_json_object (root, "results");
  const char *test = base_json_text (info, "test"), *device = base_json_text (info, "Device");
  double size, msg_rate, time_us, rate;
  CalPlace place = CAL_LINE (line);
  if (test == NULL || results == NULL || !read_test (reader, test))
    return cal_fail (reader->in.text, place, error, "no test_info.test and results; a file of --out_json is accepted");
  g_free (reader->device);
  reader->device = g_strdup (device);
  if (!cal_json_member (results, "MsgSize", &size) || !(size >= 0) || size > (double)CAL_MOST_SIZE_B)
    return cal_fail (reader->in.text, place, error, "results.MsgSize is missing; run without --output");
  if (cal_json_member (results, "t_typical", &time_us) || cal_json_member (results, "t_avg", &time_us))
    return write_row (reader, place, (guint64)size, (double)NAN, time_us * 1e-6);
  if (!cal_json_member (results, "BW_average", &rate) || !cal_json_member (results, "MsgRate", &msg_rate))
    return cal_fail (reader->in.text, place, error, "results has neither BW_average and MsgRate nor t_typical");
  double Bps = msg_rate * 1e6 * size;
  if (msg_rate < LEAST_MSG_RATE) /* few large messages: the unit that is nearer */
    Bps = fabs (log (rate * MIB / Bps)) < fabs (log (rate * 1.25e8 / Bps)) ? rate * MIB : rate * 1.25e8;
  return write_row (reader, place, (guint64)size, Bps, (double)NAN);
}

char *
cal_import_perftest (const CalText *text, const CalFileInfo *told, GError **error)
{
  Reader reader = { 0 };
  cal_import_open (&reader.in, text, told, CAL_PAIR_HEADER);
  cal_ends_of_file (&reader.ends, text->path);
  gboolean good = cal_is_json (text) ? cal_import_documents (&reader, text, read_object, error)
                                     : cal_import_lines (&reader, text, read_line, error);
  char *csv =
      cal_import_close (&reader.in, good,
                        "this is not perftest's output: no table head '#bytes #iterations …'; the text of ib_write_bw and its "
                        "kind, or the JSON of --out_json, is accepted",
                        "row", error);
  cal_ends_clear (&reader.ends);
  g_free (reader.device);
  return csv;
}
