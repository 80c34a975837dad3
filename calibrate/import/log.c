/* NCCL's debug log. Lines are those of many threads mixed, each begins "HOST:PID:TID [DEV] NCCL INFO ". Read are
 *     NCCL version 2.28.9+cuda13.0
 *     Pattern 4, crossNic 0, nChannels 12, bw 30.000000/30.000000, type NVL/PIX, sameChannels 1
 *     comm 0x… rank 0 nRanks 8 nNodes 1 localRanks 8 localRank 0 MNNVL 0
 *     24 coll channels, 24 collnet channels, 0 nvls channels, 32 p2p channels, 32 p2p channels per peer
 *     AllReduce: 1048576 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..23}
 * A thread's patterns come before the line of its communicator, its channels after it. All other lines are passed over.
 * Source: NVIDIA/nccl 5067397c src/graph/search.cc:ncclTopoPrintGraph, src/init.cc:initTransportsRank, src/enqueue.cc:
 * scheduleCollTasksToPlan; logs of 2.28.9. */
#include <string.h>

#include "import/import-private.h"
#include "import/measured-private.h"

#define MARK      " NCCL INFO "
#define LINE_MOST 4096 /* no line that is read is as long */

/* One thread of the log: what it has said since its last communicator. */
typedef struct {
  CalGraph graph[CAL_GRAPH_N];
  gboolean chosen; /* its communicator is the largest so far */
} Thread;

typedef struct {
  GHashTable *threads; /* prefix -> Thread * */
  GHashTable *seen;    /* "op bytes" of choices */
  CalFound found;
  GArray *choices;
} Reader;

static unsigned
count_of (const char *digits)
{
  return (unsigned)g_ascii_strtoull (digits, NULL, 10);
}

/* ---- lines: part[1] and on are what the brackets of its pattern hold ---- */

static void
read_version (Reader *reader, Thread *thread, char *const *part)
{
  (void)thread;
  if (*reader->found.version == '\0')
    g_strlcpy (reader->found.version, part[1], sizeof reader->found.version);
}

static void
read_choice (Reader *reader, Thread *thread, char *const *part)
{
  (void)thread;
  unsigned first = count_of (part[5]), last = count_of (part[6]);
  const BaseName *op = base_name_find (mdl_op_nccl_names, part[1]), *algo = mdl_nccl_name_find (mdl_algo_names, part[3]),
                 *proto = mdl_nccl_name_find (mdl_proto_names, part[4]);
  if (op == NULL || algo == NULL || proto == NULL || last < first || last > 1024)
    return;
  if (reader->choices == NULL || !g_hash_table_add (reader->seen, g_strdup_printf ("%d %s", op->code, part[2])))
    return;
  CalChoice choice = { .op = (MdlOp)op->code,
                       .bytes = g_ascii_strtoull (part[2], NULL, 10),
                       .algo = (MdlAlgo)algo->code,
                       .proto = (MdlProto)proto->code,
                       .channels = last - first + 1,
                       .ranks = reader->found.ranks };
  g_array_append_val (reader->choices, choice);
}

static void
read_pattern (Reader *reader, Thread *thread, char *const *part)
{
  (void)reader;
  unsigned channels = count_of (part[2]);
  CalGraphKind kind = cal_graph_of (count_of (part[1]), thread->graph);
  const char *intra = cal_path_of (part[5]), *inter = cal_path_of (part[6]);
  if (kind == CAL_GRAPH_N || channels > 1024 || intra == NULL || inter == NULL)
    return;
  CalGraph *graph = &thread->graph[kind];
  *graph = (CalGraph){ .set = TRUE,
                       .channels = channels,
                       .intra_GBps = g_ascii_strtod (part[3], NULL),
                       .inter_GBps = g_ascii_strtod (part[4], NULL),
                       .same = count_of (part[7]) != 0 };
  g_strlcpy (graph->intra, intra, sizeof graph->intra);
  g_strlcpy (graph->inter, inter, sizeof graph->inter);
}

static void
read_communicator (Reader *reader, Thread *thread, char *const *part)
{
  unsigned ranks = count_of (part[1]), nodes = count_of (part[2]);
  thread->chosen = ranks >= reader->found.ranks && ranks > 1 && nodes > 0 && nodes <= ranks && thread->graph[CAL_GRAPH_RING].set;
  if (thread->chosen && ranks > reader->found.ranks) {
    memcpy (reader->found.graph, thread->graph, sizeof reader->found.graph);
    reader->found.ranks = ranks;
    reader->found.nodes = nodes;
    reader->found.gpus = count_of (part[3]);
    reader->found.coll_channels = reader->found.p2p_channels = 0;
  }
  memset (thread->graph, 0, sizeof thread->graph);
}

static void
read_channels (Reader *reader, Thread *thread, char *const *part)
{
  if (!thread->chosen)
    return;
  reader->found.coll_channels = MIN (count_of (part[1]), 1024);
  reader->found.p2p_channels = MIN (count_of (part[2]), 1024);
}

/* What is read; the first row whose mark a line has is its own. */
static const struct {
  const char *mark, *pattern;
  void (*read) (Reader *reader, Thread *thread, char *const *part);
} lines[] = {
  { "CCL version ", "^(?:NCCL version|RCCL version :) ([0-9.]{0,23})", read_version },
  { " Bytes -> Algo ",
    "^(\\w{1,23}): (\\d{1,18}) Bytes -> Algo (\\w{1,23}) proto (\\w{1,23}) channel{Lo\\.\\.Hi}={(\\d{1,7})\\.\\.(\\d{1,7})\\b",
    read_choice },
  { "Pattern ",
    "^Pattern (\\d{1,7}), crossNic \\d+, nChannels (\\d{1,7}), bw (\\d{1,6}(?:\\.\\d*)?)/(\\d{1,6}(?:\\.\\d*)?), "
    "type (\\w{1,7})/(\\w{1,7}), sameChannels (\\d+)",
    read_pattern },
  { " nRanks ", " rank \\d+ nRanks (\\d{1,7}) nNodes (\\d{1,7}) localRanks (\\d{1,7})\\b", read_communicator },
  { " coll channels, ", "^(\\d{1,7}) coll channels, \\d+ collnet channels, \\d+ nvls channels, (\\d{1,7})\\b", read_channels },
};

static Thread *
thread_of (Reader *reader, const char *prefix)
{
  Thread *thread = g_hash_table_lookup (reader->threads, prefix);
  if (thread == NULL) {
    thread = g_new0 (Thread, 1);
    g_hash_table_insert (reader->threads, g_strdup (prefix), thread);
  }
  return thread;
}

static void
read_line (Reader *reader, GRegex *const *regex, char *line)
{
  char *text = strstr (line, MARK);
  if (text == NULL)
    return;
  *text = '\0';
  text += strlen (MARK);
  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    if (strstr (text, lines[i].mark) == NULL)
      continue;
    g_autoptr (GMatchInfo) match = NULL;
    if (g_regex_match (regex[i], text, (GRegexMatchFlags)0, &match)) {
      g_auto (GStrv) part = g_match_info_fetch_all (match);
      lines[i].read (reader, thread_of (reader, line), part);
    }
    return;
  }
}

static void
read_lines (Reader *reader, const CalText *text, unsigned *n_lines)
{
  GRegex *regex[G_N_ELEMENTS (lines)];
  for (guint i = 0; i < G_N_ELEMENTS (lines); i++)
    regex[i] = g_regex_new (lines[i].pattern, (GRegexCompileFlags)(G_REGEX_RAW | G_REGEX_OPTIMIZE), (GRegexMatchFlags)0, NULL);
  g_autoptr (GString) line = g_string_new (NULL);
  gsize n_B;
  for (const char *at = text->bytes, *from; (from = cal_next_line (text, &at, &n_B)) != NULL; (*n_lines)++) {
    g_string_truncate (line, 0);
    g_string_append_len (line, from, (gssize)MIN (n_B, LINE_MOST));
    g_strdelimit (line->str, "\r", '\0');
    read_line (reader, regex, line->str);
  }
  for (guint i = 0; i < G_N_ELEMENTS (lines); i++)
    g_regex_unref (regex[i]);
}

char *
cal_import_nccl_log (const CalText *text, const char *name, const char *over, GArray *choices, GError **error)
{
  g_autoptr (GHashTable) threads = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  Reader reader = { .threads = threads, .seen = seen, .choices = choices };
  unsigned n_lines = 0;
  read_lines (&reader, text, &n_lines);
  if (reader.found.ranks < 2) {
    cal_fail (
        text, CAL_LINE (MAX (n_lines, 1)), error,
        "the log ends without a communicator of two ranks and its graphs ('Pattern …', 'comm … nRanks …'); they are logged with "
        "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,GRAPH,TUNING");
    return NULL;
  }
  for (guint i = 0; choices != NULL && i < choices->len; i++)
    g_array_index (choices, CalChoice, i).ranks = reader.found.ranks;
  if (text->warnings != NULL && reader.found.coll_channels == 0)
    base_diag_warn (text->warnings, BASE_MARK_NONE,
                    "the log does not tell the channels in use ('… coll channels'); INIT logs them");
  return cal_import_write (&reader.found, "a debug log", name, over);
}
