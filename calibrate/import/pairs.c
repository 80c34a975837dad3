/* Rows between pairs of NICs from files: the CSV of `forerun import`, tools' output, nccl-tests' sendrecv between two ranks. */
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/stats.h"
#include "import/pairs-private.h"

#define MAX_FILE_B  ((gsize)64 << 20)
#define MAX_FILES   100000u
#define MOST_Bps    1e13 /* no NIC has so much: bits, or MB taken for GB */
#define MAX_COLUMNS 32

struct CalPairs {
  BaseArena *arena;
  GArray *rates, *latencies; /* CalPair */
  CalPairRows judged;
};

enum { COL_FROM, COL_TO, COL_FROM_NIC, COL_TO_NIC, COL_BYTES, COL_TIME, COL_RATE, COL_BOTH, COL_OP, N_COLUMNS };
static const char *const column_names[N_COLUMNS] = { "from",    "to",   "from_nic",  "to_nic", "bytes",
                                                     "time_us", "GBps", "both_ways", "op" };

typedef struct {
  CalPairs *pairs;
  const CalText *text;
  guint column[N_COLUMNS]; /* place in a row plus one; 0: none */
  guint n_columns;
  CalNote same;
} Csv;

static gboolean
read_head (Csv *csv, char *line, unsigned number, GError **error)
{
  g_auto (GStrv) names = g_strsplit (line, ",", MAX_COLUMNS);
  csv->n_columns = g_strv_length (names);
  for (guint i = 0; i < csv->n_columns; i++)
    for (guint c = 0; c < N_COLUMNS; c++)
      if (g_str_equal (g_strstrip (names[i]), column_names[c]))
        csv->column[c] = i + 1;
  if (csv->column[COL_FROM] > 0 && csv->column[COL_TO] > 0 && (csv->column[COL_RATE] > 0 || csv->column[COL_TIME] > 0))
    return TRUE;
  return cal_fail (csv->text, CAL_LINE (number), error,
                   "a CSV of pairs has columns from, to and GBps (or time_us); from_nic, to_nic, bytes and both_ways may be added");
}

static const char *
cell_of (const Csv *csv, char **cells, guint column)
{
  return csv->column[column] > 0 ? g_strstrip (cells[csv->column[column] - 1]) : "";
}

/* A cell that is a number above 0; empty: NaN. */
static gboolean
number_of (const Csv *csv, char **cells, guint column, unsigned number, double *out, GError **error)
{
  const char *cell = cell_of (csv, cells, column);
  double half;
  *out = (double)NAN;
  if (*cell == '\0' || (cal_decimal (cell, out, &half) && *out > 0 && isfinite (*out)))
    return TRUE;
  g_autofree char *shown = cal_shown (cell);
  return cal_fail (csv->text, CAL_LINE (number), error, "%s '%s' is not a number above 0", column_names[column], shown);
}

static void
keep (Csv *csv, const CalPair *pair, gboolean rate, gboolean both)
{
  BaseArena *arena = csv->pairs->arena;
  CalPair row = *pair;
  row.from = base_arena_strdup (arena, row.from);
  row.from_nic = base_arena_strdup (arena, row.from_nic);
  row.to = base_arena_strdup (arena, row.to);
  row.to_nic = base_arena_strdup (arena, row.to_nic);
  row.value = both ? row.value / 2 : row.value;
  GArray *into = rate ? csv->pairs->rates : csv->pairs->latencies;
  g_array_append_val (into, row);
  if (both) { /* either direction has half of the sum */
    CalPair back = { row.to, row.to_nic, row.from, row.from_nic, row.size_B, row.value };
    g_array_append_val (into, back);
  }
}

static gboolean
read_row (Csv *csv, char *line, unsigned number, GError **error)
{
  g_auto (GStrv) cells = g_strsplit (line, ",", MAX_COLUMNS);
  CalPlace place = CAL_LINE (number);
  double rate_GBps, time_us;
  guint64 size_B = 0;
  if (g_strv_length (cells) != csv->n_columns)
    return cal_fail (csv->text, place, error, "%u cells where the head has %u: the row is cut off", g_strv_length (cells),
                     csv->n_columns);
  CalPair pair = { .from = cell_of (csv, cells, COL_FROM),
                   .from_nic = cell_of (csv, cells, COL_FROM_NIC),
                   .to = cell_of (csv, cells, COL_TO),
                   .to_nic = cell_of (csv, cells, COL_TO_NIC) };
  const char *bytes = cell_of (csv, cells, COL_BYTES);
  if (*pair.from == '\0' || *pair.to == '\0')
    return cal_fail (
        csv->text, place, error,
        "the row does not say between which NICs it was measured; a line '## node1:mlx5_0 -> node2:mlx5_0' before a run, "
        "or a file's name node1:mlx5_0--node2:mlx5_0.txt, says it");
  if (*bytes != '\0' && !cal_whole (bytes, CAL_MOST_SIZE_B, &size_B))
    return cal_fail (csv->text, place, error, "bytes '%s' is not a whole number", bytes);
  if (!number_of (csv, cells, COL_RATE, number, &rate_GBps, error) || !number_of (csv, cells, COL_TIME, number, &time_us, error))
    return FALSE;
  if (isnan (rate_GBps) && isnan (time_us))
    return cal_fail (csv->text, place, error, "neither GBps nor time_us in this row");
  if (rate_GBps * 1e9 > MOST_Bps)
    return cal_fail (csv->text, place, error, "%g GB/s is more than any NIC has; GBps counts 1e9 B/s (not Gbit/s, not MB/s)",
                     rate_GBps);
  if (g_str_equal (pair.from, pair.to)) {
    cal_note (&csv->same, csv->text, place, "from %s to itself, not over the network: left out", pair.from);
    return TRUE;
  }
  pair.size_B = size_B;
  pair.value = isnan (rate_GBps) ? time_us * 1e-6 : rate_GBps * 1e9;
  keep (csv, &pair, !isnan (rate_GBps), g_str_equal (cell_of (csv, cells, COL_BOTH), "1"));
  return TRUE;
}

static gboolean
read_line (void *user, char *line, unsigned number, GError **error)
{
  Csv *csv = user;
  return csv->n_columns == 0 ? read_head (csv, line, number, error) : read_row (csv, line, number, error);
}

static gboolean
read_csv (CalPairs *pairs, const CalText *text, GError **error)
{
  Csv csv = { .pairs = pairs, .text = text };
  gboolean good = cal_csv_lines (&csv, text, read_line, error);
  cal_note_end (&csv.same, text);
  return good;
}

/* ---- nccl-tests' sendrecv between two ranks ---- */

typedef struct {
  CalImport in;
  char *host[2], *device[2];
  guint n_ranks;
  CalEnds ends;
} SendRecv;

/* "#  Rank  0 Group  0 Pid   6899 on node1 device  0 [0000:04:00] NVIDIA H100 80GB HBM3". */
static gboolean
read_rank (SendRecv *run, char *line, unsigned number, GError **error)
{
  char *words[32];
  guint n = cal_words (line, words, G_N_ELEMENTS (words)), on = 0;
  while (on < n && strcmp (words[on], "on") != 0)
    on++;
  if (on + 3 >= n)
    return cal_fail (run->in.text, CAL_LINE (number), error, "a line of a rank without its host and device: it is cut off");
  if (run->n_ranks == 2)
    return cal_fail (run->in.text, CAL_LINE (number), error,
                     "more than two ranks; run sendrecv_perf once for each pair of GPUs on two nodes");
  g_free (run->host[run->n_ranks]);
  g_free (run->device[run->n_ranks]);
  run->host[run->n_ranks] = g_strdup (words[on + 1]);
  run->device[run->n_ranks] = g_strdup_printf ("gpu%s", words[on + 3]);
  run->n_ranks++;
  return TRUE;
}

/* Each rank sends and receives at the same time, so that the time is the slower direction's. */
static gboolean
read_sendrecv (void *user, char *line, unsigned number, GError **error)
{
  SendRecv *run = user;
  char *words[32];
  line += strspn (line, " \t");
  if (g_str_has_prefix (line, "## "))
    return cal_ends_line (&run->ends, run->in.text, line + 3, number, error);
  if (*line == '#' && strstr (line, "nThread") != NULL)
    run->n_ranks = 0;
  if (*line == '#' && strstr (line, " Rank ") != NULL)
    return read_rank (run, line, number, error);
  if (!g_ascii_isdigit (*line))
    return TRUE;
  guint n = cal_words (line, words, G_N_ELEMENTS (words));
  guint64 size_B, count;
  double algbw, half;
  if (n < 2 || !cal_whole (words[0], CAL_MOST_SIZE_B, &size_B) || !cal_whole (words[1], G_MAXUINT64, &count))
    return TRUE;
  run->in.known = TRUE;
  if (n < 9 || !cal_decimal (words[6], &algbw, &half))
    return cal_fail (run->in.text, CAL_LINE (number), error, "a row of sendrecv_perf that is cut off");
  CalEnds ends = run->ends;
  if (run->n_ranks == 2)
    ends = (CalEnds){ run->host[0], run->device[0], run->host[1], run->device[1], NULL };
  if (algbw > 0 && size_B > 0)
    cal_pair_write (&run->in, &(CalPairRow){ "nccl-tests", "sendrecv", ends, size_B, (double)NAN, 2e9 * algbw, TRUE });
  return TRUE;
}

static char *
import_sendrecv (const CalText *text, GError **error)
{
  SendRecv run = { 0 };
  const CalFileInfo told = CAL_FILE_INFO_NONE;
  cal_import_open (&run.in, text, &told, CAL_PAIR_HEADER);
  cal_ends_of_file (&run.ends, text->path);
  gboolean good = cal_import_lines (&run, text, read_sendrecv, error);
  cal_ends_clear (&run.ends);
  for (guint i = 0; i < 2; i++) {
    g_free (run.host[i]);
    g_free (run.device[i]);
  }
  return cal_import_close (&run.in, good, "no row of sendrecv_perf", "row", error);
}

/* ---- files ---- */

static gboolean
is_csv (const CalText *text)
{
  const char *at = text->bytes + cal_text_start (text), *line;
  gsize n_B;
  while ((line = cal_next_line (text, &at, &n_B)) != NULL)
    if (n_B > 0 && *line != '#')
      return g_strstr_len (line, (gssize)n_B, ",") != NULL && g_strstr_len (line, (gssize)n_B, "from") != NULL;
  return FALSE;
}

static gboolean
add_text (CalPairs *pairs, const CalText *text, GError **error)
{
  const CalFileInfo told = CAL_FILE_INFO_NONE;
  if (is_csv (text))
    return read_csv (pairs, text, error);
  CalTool tool = cal_tool_of (text);
  g_autofree char *csv = NULL;
  if (tool == CAL_TOOL_NCCL_TESTS)
    csv = import_sendrecv (text, error);
  else if (tool == CAL_TOOL_PERFTEST || tool == CAL_TOOL_OSU)
    csv = cal_import_tool (tool, text, &told, error);
  else
    return cal_fail (
        text, (CalPlace){ 0 }, error,
        "not measured between pairs; output of perftest, of OSU's pt2pt tests, of sendrecv_perf between two ranks, or a "
        "CSV with columns from, to and GBps is accepted");
  if (csv == NULL)
    return FALSE;
  if (!g_str_has_prefix (csv, CAL_PAIR_HEADER))
    return cal_fail (text, (CalPlace){ 0 }, error, "a collective's times, not measured between pairs; osu_bw or osu_latency does");
  g_autofree char *label = g_strconcat (text->path, " as CSV", NULL); /* lines are not the file's */
  const CalText rows = { label, csv, strlen (csv), text->warnings };
  return read_csv (pairs, &rows, error);
}

static CalPairs *
pairs_new (void)
{
  CalPairs *pairs = g_new0 (CalPairs, 1);
  pairs->arena = base_arena_new ();
  pairs->rates = g_array_new (FALSE, FALSE, sizeof (CalPair));
  pairs->latencies = g_array_new (FALSE, FALSE, sizeof (CalPair));
  return pairs;
}

void
cal_pairs_free (CalPairs *pairs)
{
  if (pairs == NULL)
    return;
  g_array_unref (pairs->rates);
  g_array_unref (pairs->latencies);
  base_arena_free (pairs->arena);
  g_free (pairs);
}

/* Rates at the longest message, or latencies at the shortest; rows of other sizes stay out. */
static gboolean
choose (CalPairs *pairs, const char *path, BaseDiag *warnings, GError **error)
{
  gboolean latency = pairs->rates->len == 0;
  GArray *all = latency ? pairs->latencies : pairs->rates;
  guint64 size_B = latency ? G_MAXUINT64 : 0;
  guint kept = 0;
  if (all->len == 0) {
    base_fail (error, BASE_ERROR_INPUT, "%s: no row between two nodes", path);
    return FALSE;
  }
  for (guint i = 0; i < all->len; i++) {
    guint64 of_row_B = g_array_index (all, CalPair, i).size_B;
    size_B = latency ? MIN (size_B, of_row_B) : MAX (size_B, of_row_B);
  }
  for (guint i = 0; i < all->len; i++) {
    CalPair row = g_array_index (all, CalPair, i);
    if (row.size_B == size_B)
      g_array_index (all, CalPair, kept++) = row;
  }
  if (kept < all->len)
    base_diag_warn (warnings, BASE_MARK_NONE, "%s: %u rows of other sizes than %" G_GUINT64_FORMAT " B are left out", path,
                    all->len - kept, size_B);
  if (!latency && pairs->latencies->len > 0)
    base_diag_warn (warnings, BASE_MARK_NONE, "%s: %u latencies are left out; give them in a file of their own", path,
                    pairs->latencies->len);
  g_array_set_size (all, kept);
  pairs->judged = (CalPairRows){ (const CalPair *)(void *)all->data, kept, latency, size_B };
  return TRUE;
}

CalPairs *
cal_pairs_parse (const CalText *text, GError **error)
{
  g_autoptr (CalPairs) pairs = pairs_new ();
  if (!add_text (pairs, text, error) || !choose (pairs, text->path, text->warnings, error))
    return NULL;
  return g_steal_pointer (&pairs);
}

static gboolean
add_file (CalPairs *pairs, const char *path, BaseDiag *warnings, GError **error)
{
  g_autofree char *bytes = NULL;
  gsize n_B;
  if (!base_file_read (path, MAX_FILE_B, &bytes, &n_B, error))
    return FALSE;
  const CalText text = { path, bytes, n_B, warnings };
  return add_text (pairs, &text, error);
}

static int
by_name (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *)a, *(const char *const *)b);
}

CalPairs *
cal_pairs_read (const char *path, BaseDiag *warnings, GError **error)
{
  g_autoptr (CalPairs) pairs = pairs_new ();
  g_autoptr (GPtrArray) files = g_ptr_array_new_with_free_func (g_free);
  if (base_file_is_folder (path)) {
    g_autoptr (GDir) folder = g_dir_open (path, 0, error);
    if (folder == NULL)
      return NULL;
    for (const char *name; (name = g_dir_read_name (folder)) != NULL && files->len < MAX_FILES;)
      if (*name != '.')
        g_ptr_array_add (files, g_build_filename (path, name, NULL));
    g_ptr_array_sort (files, by_name);
  } else
    g_ptr_array_add (files, g_strdup (path));
  for (guint i = 0; i < files->len; i++)
    if (!add_file (pairs, g_ptr_array_index (files, i), warnings, error))
      return NULL;
  return choose (pairs, path, warnings, error) ? g_steal_pointer (&pairs) : NULL;
}

CalPairRows
cal_pairs_rows (const CalPairs *pairs)
{
  return pairs->judged;
}
