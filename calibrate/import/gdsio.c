/* What gdsio prints, one line a run; all other lines are passed over:
 *     IoType: READ XferType: GPUD Threads: 4 [IoDepth: 8] DataSetSize: DONE/FILE(KiB) IOSize: 1024(KiB) Throughput: 6.6 GiB/sec,
 *     Avg_Latency: 589.4 usecs ops: 102380 total_time 15.1 secs
 * GiB is 2^30 B and DONE is what was moved: DONE / total_time is the throughput, which is checked. Latencies of 0 are none.
 * Source: lines of CUDA 11.4 to 12.8 (docs.nvidia.com/gpudirect-storage/configuration-guide; forum threads 256021 and 346097). */
#include <math.h>
#include <string.h>

#include "import/measured-private.h"

#define FIRST_LABEL "IoType:"
#define KIB         1024.0
#define GIB         0x1p30

/* How far throughput may be from what was moved over the time before a warning. */
#define RATE_SLACK 0.02

enum { NONE, UNKNOWN, RATE }; /* notes */
typedef struct {
  CalImport in;
  const char *line; /* as it stands in the file */
  unsigned number;
} Reader;

/* XferType by where data go: straight between storage and GPU, by way of the host's memory, or no further than that. */
static const struct {
  const char *name, *path;
} transfers[] = {
  { "GPUD", "gpu_direct" }, { "GPUD_ASYNC", "gpu_direct" }, { "GPU_BATCH", "gpu_direct" },   { "GPU_BATCH_STREAM", "gpu_direct" },
  { "CPUONLY", "host" },    { "CPU_GPU", "host_gpu" },      { "CPU_ASYNC_GPU", "host_gpu" }, { "CPU_CACHED_GPU", "host_gpu" },
};

/* The word behind `label`, into `out`, and *at moved past it. FALSE, and nothing moved, where the label does not follow. */
static gboolean
take (const char **at, const char *label, char *out, gsize size)
{
  const char *p = *at + strspn (*at, " \t");
  if (!g_str_has_prefix (p, label))
    return FALSE;
  p += strlen (label);
  p += strspn (p, " \t");
  gsize n = strcspn (p, " \t");
  if (n == 0 || n >= size)
    return FALSE;
  memcpy (out, p, n);
  out[n] = '\0';
  *at = p + n;
  return TRUE;
}

static gboolean
fail_at (const Reader *reader, const char *at, const char *expected, GError **error)
{
  CalPlace place = { .line = reader->number, .column = (unsigned)(at + strspn (at, " \t") - reader->line) + 1 };
  return cal_fail (reader->in.text, place, error, "'%s' is expected here: a line cut off, or not gdsio's", expected);
}

typedef struct {
  char io[32], transfer[32], threads[32], depth[32], data[64], block[64], rate[64], latency[64], ops[32], time[32], unit[16];
} Words;

static gboolean
read_words (const Reader *reader, const char *at, Words *words, GError **error)
{
  const struct {
    const char *label, *unit; /* unit: the next word */
    char *out;
    gsize size;
    gboolean optional;
  } fields[] = {
    { FIRST_LABEL, NULL, words->io, sizeof words->io, FALSE },
    { "XferType:", NULL, words->transfer, sizeof words->transfer, FALSE },
    { "Threads:", NULL, words->threads, sizeof words->threads, FALSE },
    { "IoDepth:", NULL, words->depth, sizeof words->depth, TRUE },
    { "DataSetSize:", NULL, words->data, sizeof words->data, FALSE },
    { "IOSize:", NULL, words->block, sizeof words->block, FALSE },
    { "Throughput:", "GiB/sec,", words->rate, sizeof words->rate, FALSE },
    { "Avg_Latency:", "usecs", words->latency, sizeof words->latency, FALSE },
    { "ops:", NULL, words->ops, sizeof words->ops, FALSE },
    { "total_time", "secs", words->time, sizeof words->time, FALSE },
  };
  for (guint i = 0; i < G_N_ELEMENTS (fields); i++) {
    if (!take (&at, fields[i].label, fields[i].out, fields[i].size) && !fields[i].optional)
      return fail_at (reader, at, fields[i].label, error);
    const char *unit = at;
    if (fields[i].unit != NULL && (!take (&at, "", words->unit, sizeof words->unit) || strcmp (words->unit, fields[i].unit) != 0))
      return fail_at (reader, unit, fields[i].unit, error);
  }
  return TRUE;
}

/* "104837120/104857600(KiB)": the number before '/' or '('. FALSE: no such thing. */
static gboolean
kibibytes (const char *word, double *bytes)
{
  char *end = NULL;
  if (!g_ascii_isdigit (*word) || !g_str_has_suffix (word, "(KiB)"))
    return FALSE;
  *bytes = (double)g_ascii_strtoull (word, &end, 10) * KIB;
  return *end == '/' || *end == '(';
}

static gboolean
read_values (const Reader *reader, const Words *words, CalStorage *row, double *moved_B, GError **error)
{
  double rate, latency, time, half, block = 0;
  guint64 ops;
  const struct {
    const char *name, *word;
    gboolean good;
  } checks[] = {
    { "Threads", words->threads, cal_whole (words->threads, G_MAXUINT32, &row->threads) },
    { "IoDepth", words->depth, *words->depth == '\0' || cal_whole (words->depth, G_MAXUINT32, &row->depth) },
    { "DataSetSize", words->data, kibibytes (words->data, moved_B) },
    { "IOSize", words->block, g_str_has_suffix (words->block, "(KiB)") },
    { "Throughput", words->rate, cal_decimal (words->rate, &rate, &half) },
    { "Avg_Latency", words->latency, cal_decimal (words->latency, &latency, &half) },
    { "ops", words->ops, cal_whole (words->ops, G_MAXUINT64, &ops) },
    { "total_time", words->time, cal_decimal (words->time, &time, &half) },
  };
  for (guint i = 0; i < G_N_ELEMENTS (checks); i++)
    if (!checks[i].good) {
      g_autofree char *shown = cal_shown (checks[i].word);
      return cal_fail (reader->in.text, CAL_LINE (reader->number), error, "%s '%s' is not the number that gdsio writes there",
                       checks[i].name, shown);
    }
  if (kibibytes (words->block, &block) && block < 0x1p63) /* a range of sizes is none */
    row->block_B = (guint64)block;
  row->rate_Bps = rate * GIB;
  row->latency_mean_s = latency > 0 && isfinite (latency) ? latency * 1e-6 : (double)NAN;
  row->latency_p99_s = (double)NAN;
  row->runtime_s = time > 0 && isfinite (time) ? time : (double)NAN;
  row->iops = (double)ops / row->runtime_s;
  return TRUE;
}

static gboolean
read_line (void *user, char *line, unsigned number, GError **error)
{
  Reader *reader = user;
  const char *from = strstr (line, FIRST_LABEL);
  if (from == NULL)
    return TRUE;
  reader->in.known = TRUE;
  reader->line = line;
  reader->number = number;
  Words words = { 0 };
  CalStorage row = { .tool = "gdsio", .job = words.transfer };
  CalPlace place = CAL_LINE (reader->number);
  double moved_B = 0;
  if (!read_words (reader, from, &words, error) || !read_values (reader, &words, &row, &moved_B, error))
    return FALSE;
  g_autofree char *op = g_ascii_strdown (words.io, -1), *shown = cal_shown (words.transfer);
  static const char *const known[] = { "read", "write", "randread", "randwrite", NULL };
  if (!g_strv_contains (known, op)) {
    g_autofree char *type = cal_shown (words.io);
    return cal_fail (reader->in.text, place, error, "IoType '%s'; READ, WRITE, RANDREAD and RANDWRITE are accepted", type);
  }
  row.op = op;
  for (guint i = 0; i < G_N_ELEMENTS (transfers); i++)
    if (strcmp (transfers[i].name, words.transfer) == 0)
      row.path = transfers[i].path;
  if (row.path == NULL)
    cal_note (&reader->in.note[UNKNOWN], reader->in.text, place, "XferType '%s' is not known: its path stays empty", shown);
  if (!(row.rate_Bps > 0) || !isfinite (row.rate_Bps)) {
    cal_note (&reader->in.note[NONE], reader->in.text, place, "throughput %s is none: left out", words.rate);
    return TRUE;
  }
  if (fabs (moved_B / row.runtime_s - row.rate_Bps) > RATE_SLACK * row.rate_Bps + GIB * 1e-6)
    cal_note (&reader->in.note[RATE], reader->in.text, place, "%g B in %g s are not the throughput of %s GiB/sec: kept", moved_B,
              row.runtime_s, words.rate);
  cal_storage_write (&reader->in, &row);
  return TRUE;
}

char *
cal_import_gdsio (const CalText *text, const CalFileInfo *told, GError **error)
{
  Reader reader = { 0 };
  cal_import_open (&reader.in, text, told, CAL_STORAGE_HEADER);
  gboolean good = cal_import_lines (&reader, text, read_line, error);
  return cal_import_close (&reader.in, good,
                           "this is not gdsio's output: no line 'IoType: … XferType: … Throughput: … GiB/sec, Avg_Latency: … usecs "
                           "ops: … total_time … secs'",
                           "row", error);
}
