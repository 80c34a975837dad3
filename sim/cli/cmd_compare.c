/* forerun compare: which algorithm wins, by size and by number of nodes. */
#include <math.h>
#include <string.h>

#include "draw-private.h"
#include "export-private.h"
#include "report/compare.h"

typedef struct {
  FrCollFlags coll; /* first: the tables that it shares with `coll` fill it */
  char *plot, *tuner_conf, *report;
} Flags;
G_STATIC_ASSERT (offsetof (Flags, coll) == 0);

static const CliFlag flags_table[] = {
  { CLI_FLAG_HEADING, "files", 0, 0, NULL, NULL },
  { CLI_FLAG_TEXT, "plot", 0, offsetof (Flags, plot), "F.svg",
    "a map of winners, and in F_busbw.svg the bandwidths; .png, .pdf too" },
  { CLI_FLAG_TEXT, "tuner-conf", 0, offsetof (Flags, tuner_conf), "FILE", "the winners as NCCL's example tuner plugin reads them" },
  { CLI_FLAG_TEXT, "report", 0, offsetof (Flags, report), "F.html",
    "also write a page to hand on: question, answer, map, what it rests on" },
  { CLI_FLAG_HEADING, NULL, 0, 0, NULL, NULL },
};

/* One number of nodes, as it is priced. */
typedef struct {
  const FrCollAsk *question;
  ColComm *comm;
  guint n_rows; /* so far, of all numbers of nodes */
} Pricer;

static ColCollRequest
request_of (const Pricer *pricer, guint64 size_B)
{
  return (ColCollRequest){ .op = pricer->question->op,
                           .size_B = (double)size_B,
                           .dtype = pricer->question->dtype,
                           .algo = MDL_ALGO_AUTO,
                           .proto = pricer->question->proto,
                           .root = pricer->question->root };
}

/* Adds to all rows of a size what the library itself would take. */
static gboolean
add_own_choice (const Pricer *pricer, ColCollRequest *request, GArray *rows, GError **error)
{
  g_auto (ColAnswer) own = { 0 };
  gboolean known = rows->len > 0 && col_comm_knows_choice (pricer->comm, request->op);
  request->algo = MDL_ALGO_AUTO;
  request->proto = pricer->question->proto;
  if (known && !col_coll_price (pricer->comm, request, &own, error))
    return FALSE;
  for (guint i = 0; i < rows->len; i++) {
    RepCompareRow *row = &g_array_index (rows, RepCompareRow, i);
    row->own_algo = known ? (int)own.algo : -1;
    row->own_proto = known ? (int)own.proto : -1;
    row->own_time_s = known ? own.time_s : (double)NAN;
  }
  return TRUE;
}

/* Appends a RepCompareRow for each algorithm that can run, by its fastest protocol; the first of equals. */
static gboolean
price_size (const Pricer *pricer, guint64 size_B, GArray *rows, GError **error)
{
  ColCollRequest request = request_of (pricer, size_B);
  g_autoptr (GArray) choices = col_comm_choices (pricer->comm, &request);
  g_auto (ColAnswer) coll = { 0 };
  for (guint i = 0; i < choices->len; i++) {
    const ColChoice *choice = &g_array_index (choices, ColChoice, i);
    if (choice->reason != NULL || (pricer->question->proto >= 0 && choice->proto != pricer->question->proto))
      continue;
    request.algo = choice->algo;
    request.proto = choice->proto;
    if (!col_coll_price (pricer->comm, &request, &coll, error))
      return FALSE;
    RepCompareRow *last = rows->len > 0 ? &g_array_index (rows, RepCompareRow, rows->len - 1) : NULL;
    RepCompareRow row = { .coll = coll };
    row.coll.spread = NULL;
    row.coll.alike = NULL;
    if (last == NULL || last->coll.algo != choice->algo) /* choices of one algorithm follow one another */
      g_array_append_val (rows, row);
    else if (coll.time_s < last->coll.time_s)
      *last = row;
  }
  rep_compare_rank ((RepCompareRow *)(gpointer)rows->data, rows->len);
  return add_own_choice (pricer, &request, rows, error);
}

/* ---- where the winner changes ---- */

typedef struct {
  guint64 size_B;
  MdlAlgo algo;
  MdlProto proto;
  unsigned channels;
} Winner;

/* FALSE when nothing can run. */
static gboolean
winner_of (const GArray *rows, guint64 size_B, Winner *winner)
{
  for (guint i = 0; i < rows->len; i++) {
    const RepCompareRow *row = &g_array_index (rows, RepCompareRow, i);
    if (!row->best)
      continue;
    *winner = (Winner){ size_B, row->coll.algo, row->coll.proto, row->coll.cost.channels };
    return TRUE;
  }
  return FALSE;
}

static gboolean
is_same (const Winner *a, const Winner *b)
{
  return a->algo == b->algo && a->proto == b->proto;
}

static void
add_winner (GArray *spans, const Winner *winner)
{
  RepCompareSpan *last = spans->len > 0 ? &g_array_index (spans, RepCompareSpan, spans->len - 1) : NULL;
  if (last != NULL && last->algo == winner->algo && last->proto == winner->proto) {
    last->channels = MAX (last->channels, winner->channels);
    return;
  }
  RepCompareSpan span = { winner->size_B, winner->algo, winner->proto, winner->channels };
  g_array_append_val (spans, span);
}

/* Parts of the way between two sizes to which a change of winners is placed, and changes between them that are followed. */
#define PARTS       256u
#define MAX_CHANGES 8u

/* Adds what wins between `low`, which is in `spans`, and `high`, by halving the way to each change. */
static gboolean
follow (const Pricer *pricer, Winner low, const Winner *high, GArray *spans, GError **error)
{
  unsigned element_B = mdl_dtype_size_B (pricer->question->dtype);
  guint64 step_B = MAX ((high->size_B - low.size_B) / PARTS, (guint64)element_B);
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (RepCompareRow));
  for (unsigned change = 0; change < MAX_CHANGES && !is_same (&low, high); change++) {
    Winner before = low, after = *high;
    while (after.size_B - before.size_B > step_B) {
      guint64 middle_B = scn_size_round (pricer->question->op, before.size_B + (after.size_B - before.size_B) / 2, element_B,
                                         col_comm_n_ranks (pricer->comm));
      Winner middle;
      if (middle_B <= before.size_B)
        break; /* no size between */
      g_array_set_size (rows, 0);
      if (!price_size (pricer, middle_B, rows, error))
        return FALSE;
      if (!winner_of (rows, middle_B, &middle))
        break;
      if (is_same (&middle, &low))
        before = middle;
      else
        after = middle;
    }
    add_winner (spans, &before); /* its channels */
    add_winner (spans, &after);
    low = after;
  }
  add_winner (spans, high);
  return TRUE;
}

/* ---- one number of nodes ---- */

static gboolean
price_column (Cli *cli, Pricer *pricer, RepCompare *compare, RepCompareColumn *column, GError **error)
{
  unsigned element_B = mdl_dtype_size_B (pricer->question->dtype);
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (RepCompareRow));
  Winner last = { 0 };
  gboolean has_last = FALSE;
  for (guint s = 0; s < compare->sizes->len; s++) {
    guint64 size_B = scn_size_round (pricer->question->op, g_array_index (compare->sizes, guint64, s), element_B,
                                     col_comm_n_ranks (pricer->comm));
    g_array_set_size (rows, 0);
    if (!price_size (pricer, size_B, rows, error)) {
      g_prefix_error (error, "forerun %s: ", cli->verb->name);
      return FALSE;
    }
    pricer->n_rows += rows->len;
    if (pricer->n_rows > SCN_MAX_ROWS)
      return cli_fail (cli, error, "more than %u rows; ask for fewer sizes or fewer node counts", SCN_MAX_ROWS);
    for (guint i = 0; i < rows->len; i++) {
      RepCompareRow *row = &g_array_index (rows, RepCompareRow, i);
      row->column = compare->columns->len - 1;
      row->size = s;
    }
    g_array_append_vals (compare->rows, rows->data, rows->len);
    Winner winner;
    if (!winner_of (rows, size_B, &winner))
      continue;
    if (!has_last || winner.size_B <= last.size_B)
      add_winner (column->spans, &winner);
    else if (!follow (pricer, last, &winner, column->spans, error))
      return FALSE;
    last = winner;
    has_last = TRUE;
  }
  return TRUE;
}

/* Why an algorithm runs with no protocol at this size; NULL where one can. The last reason is the most general: protocols are
 * asked after the cluster. */
static const char *
why_not (const GArray *choices, MdlAlgo algo, MdlProto proto)
{
  const char *why = NULL;
  for (guint i = 0; i < choices->len; i++) {
    const ColChoice *choice = &g_array_index (choices, ColChoice, i);
    if (choice->algo != algo || (proto >= 0 && choice->proto != proto))
      continue;
    if (choice->reason == NULL)
      return NULL;
    why = choice->reason;
  }
  return why;
}

/* "nvls on 2, 4 nodes: its ranks span …": numbers of nodes with one reason share a line. `key`: who, a line end, the reason. */
static void
note (const char *key, guint32 nodes, GHashTable *seen, GPtrArray *keys)
{
  GString *counts = g_hash_table_lookup (seen, key);
  if (counts == NULL) {
    counts = g_string_new (NULL);
    g_hash_table_insert (seen, g_strdup (key), counts);
    g_ptr_array_add (keys, g_strdup (key));
  }
  g_string_append_printf (counts, "%s%u", counts->len > 0 ? ", " : "", nodes);
}

/* Of the last column: the algorithms without any row, with the reason at the largest size. */
static void
note_left_out (const Pricer *pricer, const RepCompare *compare, GHashTable *seen, GPtrArray *keys)
{
  guint last = compare->columns->len - 1;
  guint32 priced = pricer->question->settings.disabled_algos; /* who disables one knows */
  for (guint i = compare->rows->len; i-- > 0 && g_array_index (compare->rows, RepCompareRow, i).column == last;)
    priced |= 1u << g_array_index (compare->rows, RepCompareRow, i).coll.algo;
  ColCollRequest request = request_of (pricer, compare->max_B);
  g_autoptr (GArray) choices = col_comm_choices (pricer->comm, &request);
  for (int algo = 0; algo < MDL_ALGO_N; algo++) {
    const char *why = priced & (1u << algo) ? NULL : why_not (choices, (MdlAlgo)algo, pricer->question->proto);
    if (why == NULL)
      continue;
    g_autofree char *key = g_strdup_printf ("%s\n%s", base_name (mdl_algo_names, algo), why);
    note (key, col_comm_n_nodes (pricer->comm), seen, keys);
  }
}

static void
free_string (gpointer data)
{
  g_string_free (data, TRUE);
}

static void
tell_left_out (Cli *cli, GHashTable *seen, const GPtrArray *keys, RepCompare *compare)
{
  for (guint i = 0; i < keys->len; i++) {
    const char *key = g_ptr_array_index (keys, i), *why = strchr (key, '\n');
    const GString *counts = g_hash_table_lookup (seen, key);
    char *line = g_strdup_printf ("%.*s on %s node%s: %s", (int)(why - key), key, counts->str,
                                  strcmp (counts->str, "1") == 0 ? "" : "s", why + 1);
    g_ptr_array_add (compare->left_out, line);
    if (cli->format == CLI_FORMAT_TEXT)
      continue;
    g_autofree char *warning = g_strconcat ("left out: ", line, NULL);
    cli_warn (cli, warning);
  }
}

/* ---- files ---- */

static gboolean
add_page (Cli *cli, const Flags *flags, const FrCollAsk *question, const RepCompare *compare, const GPtrArray *pictures,
          GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);
  rep_compare_text (compare, text);
  g_autoptr (GPtrArray) said = rep_compare_said (compare);
  const CliSweepPage page = { .lead = "Which algorithm is the fastest, by message size and number of nodes",
                              .said = said,
                              .text = text->str,
                              .pictures = pictures };
  return cli_page_sweep (cli, question, (double)compare->max_B, flags->report, &page, error);
}

static gboolean
add_files (Cli *cli, const Flags *flags, const FrCollAsk *question, const RepCompare *compare, const char *topology,
           GError **error)
{
  if (flags->tuner_conf != NULL) {
    const char *constants = cst_store_name (&cli->constants);
    GString *text = g_string_new (NULL);
    gboolean has_say =
        rep_tuner_conf (compare, FORERUN_VERSION, topology, question->plain || constants == NULL ? "none" : constants, text);
    if (!has_say) {
      g_string_free (text, TRUE);
      return cli_fail (cli, error, "--tuner-conf: NCCL's tuner has no say in %s", base_name (mdl_op_names, (int)compare->op));
    }
    if (!cli_add_file (cli, "--tuner-conf", flags->tuner_conf, text, error))
      return FALSE;
  }
  if (flags->plot == NULL && flags->report == NULL)
    return TRUE;
  if (compare->rows->len == 0)
    return cli_fail (cli, error, "%s: no algorithm can run here, there is nothing to draw",
                     flags->plot != NULL ? "--plot" : "--report");
  g_autoptr (GPtrArray) pictures = rep_pictures_new ();
  rep_pictures_add_compare (pictures, compare, topology);
  return (flags->plot == NULL || cli_draw (cli, "--plot", flags->plot, pictures, error)) &&
         (flags->report == NULL || add_page (cli, flags, question, compare, pictures, error));
}

static void
write_answer (Cli *cli, const RepCompare *compare, const GString *header)
{
  RepEnvelope envelope = cli_envelope (cli);
  if (cli->format == CLI_FORMAT_JSON) {
    JsonBuilder *json = cli_json_open (cli);
    rep_compare_json (compare, json);
    cli_json_close (cli, json);
  } else if (cli->format == CLI_FORMAT_TSV) {
    rep_compare_tsv (compare, cli->out);
  } else {
    g_autofree char *what = g_strdup_printf ("compare %s", base_name (mdl_op_names, (int)compare->op));
    rep_header_title (cli->out, &envelope, what);
    g_string_append (cli->out, header->str);
    rep_compare_text (compare, cli->out);
  }
}

/* ---- the verb ---- */

/* The constants are the same for all numbers of nodes: the header is of the last. */
static void
append_header (const Cli *cli, const FrCollAsk *question, const ScnRanks *comm, GString *nodes, GString *ranks, GString *header)
{
  const char *comma = nodes->len > 0 ? ", " : "";
  g_string_append_printf (nodes, "%s%u", comma, comm->n_nodes);
  g_string_append_printf (ranks, "%s%u", comma, comm->n);
  g_string_truncate (header, 0);
  rep_header_cluster (header, comm->clu);
  g_string_append_printf (header, "# %s ranks on %s node%s\n", ranks->str, nodes->str, strcmp (nodes->str, "1") == 0 ? "" : "s");
  rep_header_settings (header, &comm->settings, question->plain ? NULL : cst_store_name (&cli->constants));
}

static gboolean
answer (Cli *cli, const Flags *flags, const FrCollAsk *question, GError **error)
{
  unsigned element_B = mdl_dtype_size_B (question->dtype);
  ScnSizes sweep;
  if (!cli_sizes_read (cli, &flags->coll, element_B, &sweep, error))
    return FALSE;
  g_autoptr (RepCompare) compare = rep_compare_new (question->op);
  g_array_unref (compare->sizes);
  compare->sizes = scn_sizes_list (&sweep, MDL_OP_ALL_REDUCE, element_B, 1); /* whole elements; each column rounds further */
  compare->max_B = g_array_index (compare->sizes, guint64, compare->sizes->len - 1);
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, free_string);
  g_autoptr (GPtrArray) keys = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GString) header = g_string_new (NULL), nodes = g_string_new (NULL), ranks = g_string_new (NULL);
  g_autofree char *topology = NULL;
  Pricer pricer = { .question = question };
  for (guint i = 0; i < question->n_nodes; i++) {
    g_auto (ScnRanks) comm = { 0 };
    if (!cli_comm_open (cli, question, question->nodes[i], &comm, error))
      return FALSE;
    if (comm.n == 1) {
      note ("all algorithms\none rank has nobody to talk to", comm.n_nodes, seen, keys);
      continue;
    }
    pricer.comm = comm.comm;
    RepCompareColumn *column = rep_compare_add_column (compare, comm.n_nodes, comm.n);
    if (!price_column (cli, &pricer, compare, column, error))
      return FALSE;
    note_left_out (&pricer, compare, seen, keys);
    append_header (cli, question, &comm, nodes, ranks, header);
    g_free (topology);
    topology = g_strdup (clu_name (comm.clu));
  }
  if (compare->columns->len == 0)
    return cli_fail (cli, error, "one rank has nobody to talk to, and nothing to compare; take more with -n or -g");
  tell_left_out (cli, seen, keys, compare);
  if (!add_files (cli, flags, question, compare, topology, error))
    return FALSE;
  write_answer (cli, compare, header);
  return TRUE;
}

static gboolean
run (Cli *cli, const void *data, char **words, GError **error)
{
  const Flags *flags = data;
  if (!cli_one_op (cli, words, error))
    return FALSE;
  if (flags->coll.algo != NULL)
    return cli_fail (cli, error, "--algo has no meaning: all algorithms are compared; --disable leaves some out");
  if (flags->plot != NULL && !cli_plot_check (cli, "--plot", flags->plot, error))
    return FALSE;
  if (flags->report != NULL && !cli_page_check (cli, flags->report, error))
    return FALSE;
  g_auto (FrCollAsk) question = { 0 };
  gboolean done = cli_coll_read (cli, &flags->coll, words[0], &question, error);
  question.settings.terse = TRUE;
  /* Thousands of prices: the closed form unless the engine is asked for. */
  if (done && flags->coll.mode == NULL && flags->coll.steps == NULL)
    question.settings.mode = COL_MODE_MODEL;
  if (done && flags->tuner_conf != NULL && question.plain)
    done = cli_fail (cli, error, "--tuner-conf needs --library nccl: the plain library knows no protocols");
  done = done && answer (cli, flags, &question, error);
  return done;
}

gboolean
cli_export_tuner_conf (Cli *cli, const FrCollFlags *flags, char **words, GError **error)
{
  static char name[] = "tuner-conf"; /* is never written: the file becomes the answer */
  const Flags all = { .coll = *flags, .tuner_conf = name };
  if (!run (cli, &all, words, error))
    return FALSE;
  const CliFile *file = cli->files->pdata[cli->files->len - 1];
  g_string_assign (cli->out, file->bytes->str);
  g_ptr_array_set_size (cli->files, (gint)cli->files->len - 1);
  return TRUE;
}

const CliVerb cli_verb_compare = {
  .name = "compare",
  .summary = "which algorithm wins, by bytes and by scale; a map, and a tuner file for NCCL",
  .usage = "OP --topology T [--nodes N,N,...] [flags]",
  .example = "forerun compare all_reduce --topology dgx_h100 --nodes 1,2,4,8,16 -b 8 -e 8G --plot map.svg",
  .notes =
      "OP is one of all_reduce all_gather reduce_scatter broadcast reduce alltoall sendrecv. Each algorithm stands by its fastest\n"
      "protocol. The closed form prices (--mode model) unless --mode event or --steps is given. What cannot run is left out and\n"
      "told; --disable leaves out more.\n",
  .flags = { cli_coll_flags_where, flags_table, cli_coll_flags_sizes, cli_coll_flags_how },
  .size = sizeof (Flags),
  .formats = CLI_FORMAT_TSV,
  .varies = TRUE,
  .run = run,
};
