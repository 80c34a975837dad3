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

#define MARK " NCCL INFO "

/* One thread of the log: what it has said since its last communicator. */
typedef struct {
  CalGraph graph[CAL_GRAPH_N];
  gboolean chosen; /* its communicator is the largest so far */
} Thread;

typedef struct {
  const char *path;
  unsigned line;
  GHashTable *threads; /* prefix -> Thread * */
  GHashTable *seen;    /* "op bytes" of choices */
  CalFound found;
  GArray *choices;
} Reader;

/* Moves past `label` and the number behind it. FALSE, and nothing moved, where they do not follow. */
static gboolean
take_number (const char **at, const char *label, double most, double *out)
{
  if (!g_str_has_prefix (*at, label))
    return FALSE;
  const char *number = *at + strlen (label);
  char *end = NULL;
  *out = g_ascii_isdigit (*number) ? g_ascii_strtod (number, &end) : -1;
  if (end == NULL || !(*out <= most))
    return FALSE;
  *at = end;
  return TRUE;
}

/* A whole number: "0..23" begins with 0. */
static gboolean
take_count (const char **at, const char *label, unsigned *out)
{
  if (!g_str_has_prefix (*at, label) || !g_ascii_isdigit ((*at)[strlen (label)]))
    return FALSE;
  char *end = NULL;
  guint64 value = g_ascii_strtoull (*at + strlen (label), &end, 10);
  if (value > 10000000)
    return FALSE;
  *out = (unsigned)value;
  *at = end;
  return TRUE;
}

/* Moves past `label` and a word of letters, digits and '_'. */
static gboolean
take_word (const char **at, const char *label, char *out, gsize size)
{
  if (!g_str_has_prefix (*at, label))
    return FALSE;
  const char *word = *at + strlen (label);
  gsize n = 0;
  while (g_ascii_isalnum (word[n]) || word[n] == '_')
    n++;
  if (n == 0 || n >= size)
    return FALSE;
  memcpy (out, word, n);
  out[n] = '\0';
  *at = word + n;
  return TRUE;
}

static gboolean
read_pattern (const char *text, Thread *thread)
{
  unsigned pattern, channels, cross, same;
  double intra, inter;
  char type[2][8];
  if (!take_count (&text, "Pattern ", &pattern) || !take_count (&text, ", crossNic ", &cross) ||
      !take_count (&text, ", nChannels ", &channels) || !take_number (&text, ", bw ", 1e6, &intra) ||
      !take_number (&text, "/", 1e6, &inter) || !take_word (&text, ", type ", type[0], sizeof type[0]) ||
      !take_word (&text, "/", type[1], sizeof type[1]) || !take_count (&text, ", sameChannels ", &same))
    return FALSE;
  CalGraphKind kind = cal_graph_of (pattern, thread->graph);
  if (kind == CAL_GRAPH_N || channels > 1024 || !cal_is_path (type[0]) || !cal_is_path (type[1]))
    return FALSE;
  CalGraph *graph = &thread->graph[kind];
  *graph = (CalGraph){ .set = TRUE, .channels = channels, .intra_GBps = intra, .inter_GBps = inter, .same = same != 0 };
  g_strlcpy (graph->intra, type[0], sizeof graph->intra);
  g_strlcpy (graph->inter, type[1], sizeof graph->inter);
  return TRUE;
}

static void
read_communicator (Reader *reader, const char *text, Thread *thread)
{
  unsigned rank, ranks, nodes, local;
  const char *at = strstr (text, " rank ");
  if (at == NULL || !take_count (&at, " rank ", &rank) || !take_count (&at, " nRanks ", &ranks) ||
      !take_count (&at, " nNodes ", &nodes) || !take_count (&at, " localRanks ", &local))
    return;
  thread->chosen = ranks >= reader->found.ranks && ranks > 1 && nodes > 0 && nodes <= ranks && thread->graph[CAL_GRAPH_RING].set;
  if (thread->chosen && ranks > reader->found.ranks) {
    memcpy (reader->found.graph, thread->graph, sizeof reader->found.graph);
    reader->found.ranks = ranks;
    reader->found.nodes = nodes;
    reader->found.gpus = local;
    reader->found.coll_channels = reader->found.p2p_channels = 0;
  }
  memset (thread->graph, 0, sizeof thread->graph);
}

static void
read_choice (Reader *reader, const char *text)
{
  char function[24], algo[24], proto[24];
  double bytes;
  unsigned first, last;
  if (!take_word (&text, "", function, sizeof function) || !take_number (&text, ": ", 1e18, &bytes) ||
      !take_word (&text, " Bytes -> Algo ", algo, sizeof algo) || !take_word (&text, " proto ", proto, sizeof proto) ||
      !take_count (&text, " channel{Lo..Hi}={", &first) || !take_count (&text, "..", &last))
    return;
  const BaseName *op = base_name_find (mdl_op_nccl_names, function), *a = mdl_nccl_name_find (mdl_algo_names, algo),
                 *p = mdl_nccl_name_find (mdl_proto_names, proto);
  if (op == NULL || a == NULL || p == NULL || last < first || last > 1024)
    return;
  char *key = g_strdup_printf ("%d %.0f", op->code, bytes);
  if (!g_hash_table_add (reader->seen, key))
    return;
  CalChoice choice = { .op = (MdlOp)op->code,
                       .bytes = (guint64)bytes,
                       .algo = (MdlAlgo)a->code,
                       .proto = (MdlProto)p->code,
                       .channels = last - first + 1,
                       .ranks = reader->found.ranks };
  g_array_append_val (reader->choices, choice);
}

static void
read_line (Reader *reader, char *line)
{
  char *text = strstr (line, MARK);
  if (text == NULL)
    return;
  *text = '\0';
  text += strlen (MARK);
  const char *at = text;
  unsigned coll, collnet, nvls, p2p;
  if (g_str_has_prefix (text, "NCCL version ") && *reader->found.version == '\0') {
    gsize n = strspn (text + strlen ("NCCL version "), "0123456789.");
    g_strlcpy (reader->found.version, text + strlen ("NCCL version "), MIN (n + 1, sizeof reader->found.version));
  } else if (strstr (text, " Bytes -> Algo ") != NULL && reader->choices != NULL)
    read_choice (reader, text);
  else if (g_str_has_prefix (text, "Pattern ") || strstr (text, " nRanks ") != NULL || strstr (text, " coll channels, ") != NULL) {
    Thread *thread = g_hash_table_lookup (reader->threads, line);
    if (thread == NULL) {
      thread = g_new0 (Thread, 1);
      g_hash_table_insert (reader->threads, g_strdup (line), thread);
    }
    if (g_str_has_prefix (text, "Pattern "))
      read_pattern (text, thread);
    else if (strstr (text, " nRanks ") != NULL)
      read_communicator (reader, text, thread);
    else if (thread->chosen && take_count (&at, "", &coll) && take_count (&at, " coll channels, ", &collnet) &&
             take_count (&at, " collnet channels, ", &nvls) && take_count (&at, " nvls channels, ", &p2p)) {
      reader->found.coll_channels = MIN (coll, 1024);
      reader->found.p2p_channels = MIN (p2p, 1024);
    }
  }
}

char *
cal_import_nccl_log (const char *path, const char *bytes, gsize n_B, const char *name, const char *over, GArray *choices,
                     BaseDiag *warnings, GError **error)
{
  g_autoptr (GHashTable) threads = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  Reader reader = { .path = path, .threads = threads, .seen = seen, .choices = choices };
  g_autoptr (GString) line = g_string_new (NULL);
  for (const char *at = bytes, *end = bytes + n_B; at < end;) {
    const char *stop = memchr (at, '\n', (gsize)(end - at));
    stop = stop != NULL ? stop : end;
    g_string_truncate (line, 0);
    g_string_append_len (line, at, MIN (stop - at, 4096)); /* no line that is read is as long */
    g_strdelimit (line->str, "\r", '\0');
    read_line (&reader, line->str);
    reader.line++;
    at = stop + 1;
  }
  if (reader.found.ranks < 2) {
    g_set_error (
        error, BASE_ERROR, (gint)BASE_ERROR_INPUT,
        "%s:%u: the log ends without a communicator of two ranks and its graphs ('Pattern …', 'comm … nRanks …'); they are "
        "logged with NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,GRAPH,TUNING",
        path, MAX (reader.line, 1));
    return NULL;
  }
  for (guint i = 0; choices != NULL && i < choices->len; i++)
    g_array_index (choices, CalChoice, i).ranks = reader.found.ranks;
  if (warnings != NULL && reader.found.coll_channels == 0)
    base_diag_warn (warnings, BASE_MARK_NONE, "the log does not tell the channels in use ('… coll channels'); INIT logs them");
  return cal_import_write (&reader.found, "a debug log", name, over);
}
