/* What p2pBandwidthLatencyTest of the CUDA samples prints: matrices under titles,
 *     P2P Connectivity Matrix                                          1: the GPUs reach each other
 *     Unidirectional P2P=Disabled Bandwidth Matrix (GB/s)
 *     Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)  also (P2P Reads); neither in older versions, which wrote
 *     Bidirectional P2P=Disabled Bandwidth Matrix (GB/s)
 *     Bidirectional P2P=Enabled Bandwidth Matrix (GB/s)
 *     P2P=Disabled Latency Matrix (us)
 *     P2P=Enabled Latency (P2P Writes) Matrix (us)                     also (P2P Reads); two matrices: GPU's time, CPU's time
 * each with a line "D\D 0 1 …" (or "GPU 0 1 …", "CPU 0 1 …") and a line a GPU. GB is 1e9 B. Rows write to, or read from, columns. A
 * rate both ways counts both copies; on the diagonal, a copy within a GPU, reads and writes are both counted. Where the GPUs do not
 * reach each other, the sample copies by way of the host in matrices with P2P too: those cells are left out. It does not print
 * whether copy engines or a kernel (--sm_copy) copied, nor how much.
 * Source: NVIDIA/cuda-samples ca37378 Samples/5_Domain_Specific/p2pBandwidthLatencyTest/p2pBandwidthLatencyTest.cu. */
#include <math.h>
#include <string.h>

#include "import/measured-private.h"

#define MAX_GPUS 256
#define US       1e-6

enum { FAR, NONE }; /* notes */
typedef struct {
  CalImport in;
  unsigned line;
  /* the matrix */
  gboolean titled, connectivity, latency, both, p2p, reads;
  const char *clock;     /* of latencies: "gpu" or "cpu" */
  unsigned began;        /* line of its header; 0: none is open */
  guint n, row;          /* GPUs, rows read */
  GHashTable *unreached; /* i * MAX_GPUS + j */
} Reader;

static gboolean
read_title (Reader *reader, const char *line)
{
  if (strstr (line, "P2P Connectivity Matrix") != NULL) {
    reader->connectivity = reader->titled = reader->in.known = TRUE;
    return TRUE;
  }
  const char *p2p = strstr (line, "P2P=");
  if (p2p == NULL || strstr (line, "Matrix (") == NULL)
    return FALSE;
  reader->in.known = reader->titled = TRUE;
  reader->connectivity = FALSE;
  reader->latency = strstr (line, "Latency") != NULL;
  reader->both = g_str_has_prefix (line, "Bidirectional");
  reader->p2p = g_str_has_prefix (p2p, "P2P=Enabled");
  reader->reads = strstr (line, "(P2P Reads)") != NULL;
  return TRUE;
}

/* What a cell is called: as docs/measurements.md lists. */
static char *
kind_of (const Reader *reader, gboolean local)
{
  const char *what = reader->latency ? "latency" : reader->both ? "bidirectional" : "unidirectional";
  const char *way = local           ? "_local"
                    : !reader->p2p  ? "_p2p_off"
                    : reader->both  ? "_p2p_on"
                    : reader->reads ? "_p2p_on_read"
                                    : "_p2p_on_write";
  return g_strconcat (what, way, reader->latency ? "_" : "", reader->latency ? reader->clock : "", NULL);
}

static gboolean
add_cell (Reader *reader, const char *word, guint column, GError **error)
{
  double value, half;
  guint row = reader->row;
  gpointer pair = GUINT_TO_POINTER (row * MAX_GPUS + column);
  if (!cal_decimal (word, &value, &half)) {
    g_autofree char *shown = cal_shown (word);
    return cal_fail (reader->in.text, CAL_LINE (reader->line), error, "'%s' in a matrix; a number is accepted", shown);
  }
  if (reader->connectivity) {
    if (value == 0)
      g_hash_table_add (reader->unreached, pair);
    return TRUE;
  }
  if (reader->p2p && row != column && g_hash_table_contains (reader->unreached, pair)) {
    cal_note (&reader->in.note[FAR], reader->in.text, CAL_LINE (reader->line),
              "GPUs %u and %u do not reach each other: left out of P2P=Enabled", row, column);
    return TRUE;
  }
  if (!(value > 0) || !isfinite (value)) {
    cal_note (&reader->in.note[NONE], reader->in.text, CAL_LINE (reader->line),
              "%g between GPUs %u and %u is no measurement: left out", value, row, column);
    return TRUE;
  }
  g_autofree char *kind = kind_of (reader, row == column);
  CalCopy copy = { .kind = kind,
                   .src = (int)(reader->reads ? column : row),
                   .dst = (int)(reader->reads ? row : column),
                   .latency = reader->latency,
                   .value = reader->latency ? value * US : value,
                   .copies = (reader->both ? 2u : 1u) * (row == column ? 2u : 1u) };
  cal_copy_write (&reader->in, &copy);
  return TRUE;
}

static gboolean
is_number_line (char **words, guint n, guint from)
{
  guint64 value;
  for (guint i = from; i < n; i++)
    if (!cal_whole (words[i], MAX_GPUS, &value) || value != i - from)
      return FALSE;
  return n > from;
}

static gboolean
not_closed (const Reader *reader, GError **error)
{
  return cal_fail (reader->in.text, CAL_LINE (reader->line), error, "the matrix of line %u has %u rows of %u: cut off?",
                   reader->began, reader->row, reader->n);
}

static gboolean
read_row (Reader *reader, char **words, guint n, GError **error)
{
  guint64 device;
  if (n == 0 || !cal_whole (words[0], MAX_GPUS, &device) || device != reader->row)
    return not_closed (reader, error);
  if (n != reader->n + 1)
    return cal_fail (reader->in.text, CAL_LINE (reader->line), error,
                     "%u words where the matrix of line %u has a GPU and %u cells: cut off?", n, reader->began, reader->n);
  for (guint c = 0; c < reader->n; c++)
    if (!add_cell (reader, words[c + 1], c, error))
      return FALSE;
  if (++reader->row == reader->n)
    reader->began = 0;
  return TRUE;
}

static gboolean
read_line (void *user, char *line, unsigned number, GError **error)
{
  Reader *reader = user;
  char *words[MAX_GPUS + 2];
  reader->line = number;
  line += strspn (line, " \t");
  if (reader->began == 0 && read_title (reader, line))
    return TRUE;
  guint n = cal_words (line, words, G_N_ELEMENTS (words));
  if (reader->began > 0)
    return read_row (reader, words, n, error);
  gboolean pair = n > 0 && strcmp (words[0], "D\\D") == 0, gpu = n > 0 && strcmp (words[0], "GPU") == 0,
           cpu = n > 0 && strcmp (words[0], "CPU") == 0;
  guint64 first;
  if (!reader->titled || !(pair || ((gpu || cpu) && n > 1 && cal_whole (words[1], MAX_GPUS, &first))))
    return TRUE;
  if (n - 1 > MAX_GPUS || !is_number_line (words, n, 1))
    return cal_fail (reader->in.text, CAL_LINE (reader->line), error, "GPUs 0, 1, … are expected above a matrix, up to %u of them",
                     MAX_GPUS);
  reader->clock = cpu ? "cpu" : "gpu";
  reader->began = reader->line;
  reader->n = n - 1;
  reader->row = 0;
  return TRUE;
}

char *
cal_import_p2p_test (const CalText *text, const CalFileInfo *told, GError **error)
{
  g_autoptr (GHashTable) unreached = g_hash_table_new (NULL, NULL);
  Reader reader = { .unreached = unreached };
  cal_import_open (&reader.in, text, told, CAL_COPY_HEADER);
  gboolean good = cal_import_lines (&reader, text, read_line, error) && (reader.began == 0 || not_closed (&reader, error));
  return cal_import_close (
      &reader.in, good,
      "this is not p2pBandwidthLatencyTest's output: no title like 'Unidirectional P2P=Enabled Bandwidth Matrix (GB/s)'", "cell",
      error);
}
