/* What the OSU Micro-Benchmarks print: a title "# OSU MPI-CUDA Bandwidth Test v7.4" (or "# OSU NCCL …"), a head "# Size
 * Bandwidth (MB/s)" or "# Size Avg Latency(us) …", and a row a size. Tests between two ranks become pairs (a line
 * "## node1:mlx5_0 -> node2:mlx5_0", or the file's name, says which); collectives become rows as of nccl-tests. MB is 1e6 B.
 * Source: OSU Micro-Benchmarks, c/util/osu_util.c (print_preamble), BENCHMARK of each c/mpi test. */
#include <math.h>
#include <string.h>

#include "import/pairs-private.h"
#include "models/library.h"

#define COLLECTIVE_HEADER "op,dtype,nodes,gpus_per_node,algo,proto,launch,bytes,time_us,in_place,busbw_GBps,nccl,wrong\n"

enum { NONE, LIBRARY, OTHER }; /* notes */

/* Titles by what stands between "OSU …" and " Test", the longer first. */
typedef struct {
  const char *title, *op;
  int collective;               /* MdlOp; -1: between two ranks */
  gboolean both_ways, per_rank; /* per_rank: the size is one rank's part of what nccl-tests counts */
} Test;

static const Test tests[] = {
  { "Bi-Directional Bandwidth", "bibw", -1, TRUE, FALSE },
  { "Bi-directional Bandwidth", "bibw", -1, TRUE, FALSE },
  { "Multiple Bandwidth / Message Rate", "mbw_mr", -1, FALSE, FALSE },
  { "Allreduce Latency", NULL, MDL_OP_ALL_REDUCE, FALSE, FALSE },
  { "Allgather Latency", NULL, MDL_OP_ALL_GATHER, FALSE, TRUE },
  { "All-to-All Personalized Exchange Latency", NULL, MDL_OP_ALLTOALL, FALSE, TRUE },
  { "Reduce_scatter Latency", NULL, MDL_OP_REDUCE_SCATTER, FALSE, FALSE },
  { "Broadcast Latency", NULL, MDL_OP_BROADCAST, FALSE, FALSE },
  { "Reduce Latency", NULL, MDL_OP_REDUCE, FALSE, FALSE },
  { "Bandwidth", "bw", -1, FALSE, FALSE },
  { "Latency", "latency", -1, FALSE, FALSE },
};

typedef struct {
  CalImport in;
  CalEnds ends;
  const Test *test; /* NULL: none, or one that is left out */
  gboolean any, collective;
  double unit; /* of the table's first column: B/s or s */
  unsigned line;
} Reader;

/* "# OSU MPI-CUDA Bandwidth Test v7.4". */
static gboolean
read_title (Reader *reader, const char *line, GError **error)
{
  const char *stop = strstr (line, " Test");
  g_autofree char *title = stop == NULL ? g_strdup (line) : g_strndup (line, (gsize)(stop - line));
  CalPlace place = CAL_LINE (reader->line);
  reader->in.known = TRUE;
  reader->test = NULL;
  reader->unit = 0;
  if (strstr (title, "on-blocking") != NULL || strstr (title, "on-Blocking") != NULL || strstr (title, "MPI_") != NULL ||
      strstr (title, "Multi-") != NULL || strstr (title, "Multi Latency") != NULL) {
    g_autofree char *shown = cal_shown (title);
    cal_note (&reader->in.note[OTHER], reader->in.text, place, "'%s' is not modelled and is left out", shown);
    return TRUE;
  }
  for (guint i = 0; reader->test == NULL && i < G_N_ELEMENTS (tests); i++)
    if (g_str_has_suffix (title, tests[i].title))
      reader->test = &tests[i];
  if (reader->test == NULL) {
    g_autofree char *shown = cal_shown (title);
    cal_note (&reader->in.note[OTHER], reader->in.text, place, "'%s' is not modelled and is left out", shown);
    return TRUE;
  }
  gboolean collective = reader->test->collective >= 0;
  if (reader->any && collective != reader->collective)
    return cal_fail (reader->in.text, place, error,
                     "collectives and tests between two ranks in one file, which become different CSV; divide the file here");
  if (!reader->any)
    g_string_assign (reader->in.csv, collective ? COLLECTIVE_HEADER : CAL_PAIR_HEADER);
  reader->any = TRUE;
  reader->collective = collective;
  if (collective && strstr (title, "NCCL") == NULL && strstr (title, "RCCL") == NULL)
    cal_note (&reader->in.note[LIBRARY], reader->in.text, place,
              "MPI's own collective, not NCCL's: forerun's predictions are of NCCL (osu_nccl_… or osu_xccl_… measures that)");
  const CalFileInfo *told = reader->in.told;
  if (collective && (told->nodes == 0 || told->gpus == 0))
    return cal_fail (reader->in.text, place, error,
                     "OSU's tests do not print how many ranks ran: --nodes N and --gpus G (of each node) say it");
  return TRUE;
}

static gboolean
read_head (Reader *reader, const char *line, GError **error)
{
  reader->unit = strstr (line, "(MB/s)") != NULL ? 1e6 : strstr (line, "(us)") != NULL ? 1e-6 : 0;
  if (reader->test != NULL && reader->unit <= 0)
    return cal_fail (reader->in.text, CAL_LINE (reader->line), error,
                     "the head of the table names no unit; (MB/s) and (us) are accepted");
  return TRUE;
}

static void
write_collective (Reader *reader, guint64 size_B, double time_s)
{
  const CalFileInfo *told = reader->in.told;
  guint64 ranks = (guint64)told->nodes * told->gpus;
  const CalCell cells[] = { CAL_TEXT (base_name (mdl_op_names, reader->test->collective)),
                            CAL_TEXT ("fp32"),
                            CAL_COUNT (told->nodes),
                            CAL_COUNT (told->gpus),
                            CAL_TEXT (NULL),
                            CAL_TEXT (NULL),
                            CAL_TEXT (told->launch >= 0 ? base_name (mdl_launch_names, told->launch) : NULL),
                            CAL_COUNT (reader->test->per_rank ? size_B * ranks : size_B),
                            CAL_NUMBER (time_s * 1e6),
                            CAL_COUNT (0),
                            CAL_TEXT (NULL),
                            CAL_TEXT (told->nccl),
                            CAL_TEXT (NULL) };
  cal_csv_row (reader->in.csv, cells, G_N_ELEMENTS (cells));
  reader->in.n_rows++;
}

static gboolean
read_row (Reader *reader, char *line, GError **error)
{
  char *words[32];
  CalPlace place = CAL_LINE (reader->line);
  guint n = cal_words (line, words, G_N_ELEMENTS (words));
  guint64 size_B;
  double value, half;
  if (reader->unit <= 0)
    return cal_fail (reader->in.text, place, error, "a row before its head '# Size … (us)' or '… (MB/s)': the file is cut");
  if (n < 2 || !cal_whole (words[0], CAL_MOST_SIZE_B, &size_B) || !cal_decimal (words[1], &value, &half) || !isfinite (value) ||
      value < 0)
    return cal_fail (reader->in.text, place, error, "a row is a size and a number; this one is cut off, or other output broke it");
  if (!(value > 0) || (size_B == 0 && reader->unit > 1)) {
    cal_note (&reader->in.note[NONE], reader->in.text, place, "a rate or time of 0: left out");
    return TRUE;
  }
  double rate_Bps = reader->unit > 1 ? value * reader->unit : (double)NAN;
  double time_s = reader->unit > 1 ? (double)NAN : value * reader->unit;
  if (reader->collective && isnan (time_s))
    return cal_fail (reader->in.text, place, error, "a collective in MB/s; times in us are accepted");
  if (reader->collective)
    write_collective (reader, size_B, time_s);
  else
    cal_pair_write (&reader->in,
                    &(CalPairRow){ "osu", reader->test->op, reader->ends, size_B, time_s, rate_Bps, reader->test->both_ways });
  return TRUE;
}

static gboolean
read_line (void *user, char *line, unsigned number, GError **error)
{
  Reader *reader = user;
  reader->line = number;
  line += strspn (line, " \t");
  if (g_str_has_prefix (line, "## "))
    return cal_ends_line (&reader->ends, reader->in.text, line + 3, number, error);
  if (g_str_has_prefix (line, "# OSU "))
    return read_title (reader, line, error);
  if (g_str_has_prefix (line, "# Size"))
    return read_head (reader, line, error);
  if (g_ascii_isdigit (*line) && reader->test != NULL)
    return read_row (reader, line, error);
  return TRUE;
}

char *
cal_import_osu (const CalText *text, const CalFileInfo *told, GError **error)
{
  Reader reader = { 0 };
  cal_import_open (&reader.in, text, told, CAL_PAIR_HEADER);
  cal_ends_of_file (&reader.ends, text->path);
  gboolean good = cal_import_lines (&reader, text, read_line, error);
  char *csv = cal_import_close (&reader.in, good,
                                "this is not output of the OSU Micro-Benchmarks: no line '# OSU … Test'; the text of osu_bw, "
                                "osu_latency, osu_bibw, osu_allreduce and their kind is accepted",
                                "row", error);
  cal_ends_clear (&reader.ends);
  return csv;
}
