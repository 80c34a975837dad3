/* What the text and the JSON of nccl-tests share: runs, their ranks, and rows that are looked at before they become CSV.
 *
 * A row says three times how fast it was: size / time = algbw, algbw x factor = busbw, and the factor depends on the operation and
 * the number of ranks (models/collective/op.c). Where the three disagree by more than rounding allows, a header is of another run,
 * or --op, --nodes or --gpus is wrong: that is warned about, and the row is kept.
 * Source: NVIDIA/nccl-tests a0b82b2 src/util.cu (writeDeviceReport, writeBenchmarkLineBody, getFloatStr), src/common.cu. */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "import/measured-private.h"
#include "models/library.h"

#define MAX_NODES 1000000
#define MAX_GPUS  1024 /* of a node, as docs/measurements.md accepts */

/* src/common.cu, test_typenames; `char` until NCCL 2.10. */
const BaseName cal_nccl_tests_dtypes[] = {
  { "float", MDL_DTYPE_FP32, NULL },  { "half", MDL_DTYPE_FP16, NULL },
  { "double", MDL_DTYPE_FP64, NULL }, { "bfloat16", MDL_DTYPE_BF16, NULL },
  { "int8", MDL_DTYPE_INT8, NULL },   { "uint8", MDL_DTYPE_INT8, NULL },
  { "char", MDL_DTYPE_INT8, NULL },   { "f8e4m3", MDL_DTYPE_FP8, NULL },
  { "f8e5m2", MDL_DTYPE_FP8, NULL },  { NULL, 0, NULL },
};

/* Operation that no model has. */
#define OP_OTHER (-2)

typedef struct {
  CalRow row;
  int op, algo, proto, launch;
  guint32 nodes, gpus;
  const char *nccl, *title; /* in the string chunk, or NULL */
} Out;

/* In the order in which they are said. */
enum { OTHER, TYPE, NO_TIME, WRONG, RATE, FACTOR, REPEAT, EMPTY, CUT, N_NOTES };

struct CalRows {
  const CalText *text;
  const CalFileInfo *told;
  GArray *out;      /* Out */
  GHashTable *seen; /* of what was measured: for rows that repeat it */
  GStringChunk *chunk;
  gboolean titled;
  guint n_zero; /* rows of size 0 */
  CalNote note[N_NOTES];
};

CalRows *
cal_rows_new (const CalText *text, const CalFileInfo *told)
{
  CalRows *rows = g_new0 (CalRows, 1);
  rows->text = text;
  rows->told = told;
  rows->out = g_array_new (FALSE, FALSE, sizeof (Out));
  rows->seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  rows->chunk = g_string_chunk_new (1024);
  return rows;
}

void
cal_rows_free (CalRows *rows)
{
  if (rows == NULL)
    return;
  for (guint i = 0; i < N_NOTES; i++)
    cal_note_clear (&rows->note[i]);
  g_array_unref (rows->out);
  g_hash_table_unref (rows->seen);
  g_string_chunk_free (rows->chunk);
  g_free (rows);
}

void
cal_rows_warn (CalRows *rows, CalPlace place, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *what = g_strdup_vprintf (format, args);
  va_end (args);
  CalNote note = { 0 };
  cal_note (&note, rows->text, place, "%s", what);
  cal_note_end (&note, rows->text);
}

/* ---- runs ---- */

static void
rank_clear (void *rank)
{
  g_free (((CalRank *)rank)->host);
}

void
cal_run_open (CalRun *run, unsigned start)
{
  *run = (CalRun){ .start = start, .op = -1, .algo = CAL_NOT_SAID, .proto = CAL_NOT_SAID, .launch = -1 };
  run->ranks = g_array_new (FALSE, FALSE, sizeof (CalRank));
  g_array_set_clear_func (run->ranks, rank_clear);
}

void
cal_run_clear (CalRun *run)
{
  if (run->ranks != NULL)
    g_array_unref (run->ranks);
  g_free (run->program);
  *run = (CalRun){ 0 };
}

/* "./build/all_reduce_perf_mpi" is all_reduce. */
void
cal_run_program (CalRun *run, const char *program)
{
  const char *name = strrchr (program, '/'), *windows = strrchr (program, '\\');
  name = name != NULL ? name + 1 : windows != NULL ? windows + 1 : program;
  const char *perf = strstr (name, "_perf");
  g_free (run->program);
  run->program = g_strndup (name, perf != NULL ? (gsize)(perf - name) : strlen (name));
  const BaseName *op = base_name_find (mdl_op_names, run->program);
  run->op = op != NULL ? op->code : OP_OTHER;
}

/* NCCL_VERSION_CODE: 2804 was 2.8.4, 20905 is 2.9.5. */
void
cal_run_version (CalRun *run, guint64 code)
{
  guint64 unit = code >= 10000 ? 10000 : 1000;
  if (code >= 1000 && code < 1000000)
    g_snprintf (run->nccl, sizeof run->nccl, "%u.%u.%u", (unsigned)(code / unit), (unsigned)(code % unit / 100),
                (unsigned)(code % 100));
}

void
cal_run_algo (CalRows *rows, CalRun *run, CalPlace place, const char *value)
{
  g_autofree char *shown = cal_shown (value);
  const BaseName *name = mdl_nccl_name_find (mdl_algo_names, value);
  run->algo = name != NULL ? name->code : CAL_NOT_SAID;
  if (name == NULL && *value != '\0' && !rows->told->algo_set)
    cal_rows_warn (rows, place, "NCCL_ALGO '%s' does not name one algorithm: the cell stays empty; --algo names one", shown);
}

void
cal_run_proto (CalRows *rows, CalRun *run, CalPlace place, const char *value)
{
  g_autofree char *shown = cal_shown (value);
  const BaseName *name = mdl_nccl_name_find (mdl_proto_names, value);
  run->proto = name != NULL ? name->code : CAL_NOT_SAID;
  if (name == NULL && *value != '\0' && !rows->told->proto_set)
    cal_rows_warn (rows, place, "NCCL_PROTO '%s' does not name one protocol: the cell stays empty; --proto names one", shown);
}

void
cal_run_launch (CalRun *run, guint64 graphs)
{
  run->launch = graphs > 0 ? MDL_LAUNCH_REGISTERED : run->gpus_per_thread > 1 ? MDL_LAUNCH_SERIAL : MDL_LAUNCH_THREADS;
}

static gboolean
resolve_op (const CalRows *rows, CalRun *run, CalPlace place, GError **error)
{
  const char *told = rows->told->op >= 0 ? base_name (mdl_op_names, rows->told->op) : NULL;
  g_autofree char *accepted = base_names_join (mdl_op_names);
  if (run->program == NULL && told == NULL)
    return cal_fail (rows->text, place, error,
                     "which operation? nothing in the run names it ('# Collective test starting: all_reduce_perf'); --op does, "
                     "one of: %s",
                     accepted);
  static const char *const others[] = { "gather", "scatter", "hypercube", "alltoallv", NULL };
  if (run->program == NULL || (run->op == OP_OTHER && told != NULL && !g_strv_contains (others, run->program)))
    run->op = rows->told->op; /* a program of any name, or none */
  else if (told != NULL && run->op != rows->told->op) {
    g_autofree char *shown = cal_shown (run->program);
    return cal_fail (rows->text, place, error, "--op %s, but the file says that this is %s", told, shown);
  }
  return TRUE;
}

typedef struct {
  const char *host; /* of the run's ranks */
  guint32 gpus;
} Host;

static gboolean
count_ranks (const CalRows *rows, const CalRun *run, CalPlace place, GArray *hosts, guint32 *total, GError **error)
{
  guint32 each = MAX (run->threads * run->gpus_per_thread, 1), last = 0;
  g_autoptr (GHashTable) ranks = g_hash_table_new (NULL, NULL), processes = g_hash_table_new (NULL, NULL);
  /* groups of NCCL_TESTS_SPLIT run at once, and what is printed is of the first rank's */
  guint32 group = g_array_index (run->ranks, CalRank, 0).group;
  *total = 0;
  for (guint i = 0; i < run->ranks->len; i++) {
    const CalRank *rank = &g_array_index (run->ranks, CalRank, i);
    CalPlace at = rank->line > 0 ? CAL_LINE (rank->line) : place;
    if (!g_hash_table_add (ranks, GUINT_TO_POINTER (rank->rank)))
      return cal_fail (rows->text, at, error,
                       "rank %u is listed twice: outputs of several processes are mixed (was nccl-tests built without MPI=1?)",
                       rank->rank);
    last = MAX (last, rank->rank / each);
    if (!g_hash_table_add (processes, GUINT_TO_POINTER (rank->rank / each)) || rank->group != group)
      continue;
    *total += each;
    guint h = 0;
    while (h < hosts->len && strcmp (g_array_index (hosts, Host, h).host, rank->host) != 0)
      h++;
    if (h == hosts->len)
      g_array_append_val (hosts, ((Host){ rank->host, 0 }));
    g_array_index (hosts, Host, h).gpus += each;
  }
  if (g_hash_table_size (processes) != last + 1)
    return cal_fail (rows->text, place, error, "%u processes of %u GPUs are listed, but there is a rank %u: lines are missing",
                     g_hash_table_size (processes), each, last * each);
  return TRUE;
}

static gboolean
resolve_ranks (const CalRows *rows, CalRun *run, CalPlace place, GError **error)
{
  const CalFileInfo *told = rows->told;
  guint32 total = 0;
  run->nodes = told->nodes;
  run->gpus = told->gpus;
  if (run->ranks->len == 0) {
    if (told->gpus == 0)
      return cal_fail (rows->text, place, error,
                       "on how many GPUs? the run lists no ranks ('#  Rank  0 … on HOST device …'); --gpus says how many on each "
                       "node, --nodes on how many nodes");
    run->nodes = MAX (told->nodes, 1);
    return TRUE;
  }
  g_autoptr (GArray) hosts = g_array_new (FALSE, FALSE, sizeof (Host));
  if (!count_ranks (rows, run, place, hosts, &total, error))
    return FALSE;
  if (run->nodes == 0 && run->gpus == 0) {
    const Host *first = &g_array_index (hosts, Host, 0);
    for (guint h = 1; h < hosts->len; h++) {
      const Host *host = &g_array_index (hosts, Host, h);
      if (host->gpus != first->gpus) {
        g_autofree char *a = cal_shown (first->host), *b = cal_shown (host->host);
        return cal_fail (
            rows->text, place, error,
            "%u ranks on %s and %u on %s: the same number on each node is accepted; --nodes and --gpus say where hosts' "
            "names do not",
            first->gpus, a, host->gpus, b);
      }
    }
    run->nodes = hosts->len;
    run->gpus = first->gpus;
  }
  if (run->nodes == 0)
    run->nodes = total / run->gpus;
  if (run->gpus == 0)
    run->gpus = total / run->nodes;
  if ((guint64)run->nodes * run->gpus != total)
    return cal_fail (rows->text, place, error, "--nodes and --gpus do not give the %u ranks of this run", total);
  if (run->gpus > MAX_GPUS || run->nodes > MAX_NODES)
    return cal_fail (rows->text, place, error, "%u GPUs on one node; up to %u are accepted; --nodes says how many nodes there are",
                     run->gpus, MAX_GPUS);
  return TRUE;
}

gboolean
cal_rows_resolve (CalRows *rows, CalRun *run, CalPlace place, GError **error)
{
  if (run->resolved)
    return TRUE;
  if (!resolve_op (rows, run, place, error) || !resolve_ranks (rows, run, place, error))
    return FALSE;
  run->resolved = TRUE;
  for (guint i = 0; i < run->ranks->len; i++)
    if (g_array_index (run->ranks, CalRank, i).group != g_array_index (run->ranks, CalRank, 0).group) {
      cal_rows_warn (rows, place,
                     "several groups of ranks ran at once (NCCL_TESTS_SPLIT): the rows are of one, slowed by the others");
      break;
    }
  if (run->op == MDL_OP_ALLTOALL || run->op == MDL_OP_SENDRECV) { /* NCCL_ALGO and NCCL_PROTO hold for no send */
    run->algo = MDL_ALGO_AUTO;
    run->proto = MDL_PROTO_AUTO;
    return TRUE;
  }
  if (rows->told->algo_set)
    run->algo = rows->told->algo;
  if (rows->told->proto_set)
    run->proto = rows->told->proto;
  return TRUE;
}

/* ---- rows ---- */

gboolean
cal_rows_dtype (CalRows *rows, CalPlace place, const char *type, int *dtype)
{
  const BaseName *name = base_name_find (cal_nccl_tests_dtypes, type);
  if (name != NULL) {
    *dtype = name->code;
    return TRUE;
  }
  g_autofree char *shown = cal_shown (type);
  cal_note (&rows->note[TYPE], rows->text, place, "type '%s' is none of forerun's: left out", shown);
  return FALSE;
}

/* Whether `told` is `expected`, which comes of a time that rounding moved by the share `rel`. */
static gboolean
agree (double told, double half, double expected, double rel)
{
  double slack = 1.01 * (half + expected * rel) + 1e-6; /* what JSON's six decimals leave */
  return fabs (told - expected) <= slack;
}

static void
check_rates (CalRows *rows, const CalRun *run, CalPlace place, const CalRow *row)
{
  double rel = row->time_half / row->time_us;
  double algbw = (double)row->size_B / (row->time_us * 1e3); /* B/us are MB/s */
  unsigned ranks = run->nodes * run->gpus;
  double busbw = algbw * mdl_op_busbw_factor ((MdlOp)run->op, ranks);
  if (!isfinite (row->algbw_GBps) || !isfinite (row->busbw_GBps))
    return;
  if (!agree (row->algbw_GBps, row->algbw_half, algbw, rel))
    cal_note (&rows->note[RATE], rows->text, place,
              "%" G_GUINT64_FORMAT " B in %g us are %.4g GB/s, but algbw is %g: size or time is wrong", row->size_B, row->time_us,
              algbw, row->algbw_GBps);
  else if (!agree (row->busbw_GBps, row->busbw_half, busbw, rel))
    cal_note (&rows->note[FACTOR], rows->text, place,
              "busbw is %g, but %s over %u ranks makes %.4g of algbw %g: is the operation or the number of ranks another?",
              row->busbw_GBps, base_name (mdl_op_names, run->op), ranks, busbw, row->algbw_GBps);
}

/* nccl-tests' buffers are ncclMemAlloc's, which a graph registers out of place (nccl-tests src/common.cu:AllocateBuffs, NCCL
 * src/register/coll_reg.cc). */
static int
launch_of (const CalRun *run, gboolean in_place)
{
  return run->launch == MDL_LAUNCH_REGISTERED && in_place ? MDL_LAUNCH_GRAPH : run->launch;
}

static void
note_repeat (CalRows *rows, CalPlace place, const Out *out)
{
  char *key = g_strdup_printf ("%d %d %u %u %d %d %d %" G_GUINT64_FORMAT " %d %s %s", out->op, out->row.dtype, out->nodes,
                               out->gpus, out->algo, out->proto, out->launch, out->row.size_B, out->row.in_place,
                               out->nccl != NULL ? out->nccl : "", out->title != NULL ? out->title : "");
  if (!g_hash_table_add (rows->seen, key))
    cal_note (&rows->note[REPEAT], rows->text, place, "measures what an earlier row does: kept");
}

void
cal_rows_add (CalRows *rows, CalRun *run, CalPlace place, const CalRow *row)
{
  const char *side = row->in_place ? "in place" : "out of place";
  run->n_left++; /* until it is known to stay */
  if (run->op == OP_OTHER) {
    g_autofree char *shown = cal_shown (run->program != NULL ? run->program : "");
    cal_note (&rows->note[OTHER], rows->text, place, "operation '%s' is none of forerun's: left out", shown);
    return;
  }
  if (row->size_B == 0) {
    rows->n_zero++;
    return;
  }
  if (!(row->time_us > 0) || !isfinite (row->time_us)) {
    cal_note (&rows->note[NO_TIME], rows->text, place, "time %g us %s of %" G_GUINT64_FORMAT " B is no time: left out",
              row->time_us, side, row->size_B);
    return;
  }
  if (row->wrong > 0) {
    cal_note (&rows->note[WRONG], rows->text, place, "%" G_GINT64_FORMAT " wrong elements %s of %" G_GUINT64_FORMAT " B: left out",
              row->wrong, side, row->size_B);
    return;
  }
  check_rates (rows, run, place, row);
  const char *nccl = run->nccl[0] != '\0' ? run->nccl : rows->told->nccl;
  Out out = { .row = *row,
              .op = run->op,
              .algo = run->algo,
              .proto = run->proto,
              .launch = rows->told->launch >= 0 ? rows->told->launch : launch_of (run, row->in_place),
              .nodes = run->nodes,
              .gpus = run->gpus,
              .nccl = nccl != NULL ? g_string_chunk_insert_const (rows->chunk, nccl) : NULL,
              .title = run->title != NULL ? g_string_chunk_insert_const (rows->chunk, run->title) : NULL };
  note_repeat (rows, place, &out);
  rows->titled = rows->titled || out.title != NULL;
  g_array_append_val (rows->out, out);
  run->n_left--;
  run->n_rows++;
}

void
cal_rows_run_end (CalRows *rows, CalRun *run)
{
  if (run->seen == 0)
    return;
  if (run->n_rows == 0 && run->n_left == 0)
    cal_note (&rows->note[EMPTY], rows->text, CAL_LINE (run->start), "the run that begins here has no row");
  else if ((run->seen & CAL_RUN_CONFIG) && !(run->seen & CAL_RUN_FOOT))
    cal_note (&rows->note[CUT], rows->text, CAL_LINE (run->start),
              "the run that begins here ends without its summary ('# Out of bounds values'): was it cut short?");
}

/* ---- CSV ---- */

/* What was not said stays empty, so that a section of systems.yaml may say it: validate takes a word for what was asked. */
static CalCell
said (const BaseName *names, int code, int nothing)
{
  return CAL_TEXT (code != nothing ? base_name (names, code) : NULL);
}

static void
write_row (GString *csv, const CalRows *rows, const Out *out)
{
  const CalCell cells[] = { CAL_TEXT (base_name (mdl_op_names, out->op)),
                            CAL_TEXT (base_name (mdl_dtype_names, out->row.dtype)),
                            CAL_COUNT (out->nodes),
                            CAL_COUNT (out->gpus),
                            said (mdl_algo_names, out->algo, CAL_NOT_SAID),
                            said (mdl_proto_names, out->proto, CAL_NOT_SAID),
                            said (mdl_launch_names, out->launch, -1),
                            CAL_COUNT (out->row.size_B),
                            CAL_NUMBER (out->row.time_us),
                            CAL_COUNT (out->row.in_place ? 1 : 0),
                            CAL_NUMBER (out->row.busbw_GBps),
                            CAL_TEXT (out->nccl),
                            out->row.wrong >= 0 ? CAL_COUNT ((guint64)out->row.wrong) : CAL_TEXT (NULL),
                            CAL_TEXT (out->title) };
  cal_csv_row (csv, cells, rows->titled ? G_N_ELEMENTS (cells) : G_N_ELEMENTS (cells) - 1);
}

char *
cal_rows_finish (CalRows *rows, GError **error)
{
  for (guint i = 0; i < N_NOTES; i++)
    cal_note_end (&rows->note[i], rows->text);
  if (rows->n_zero > 0)
    cal_rows_warn (rows, (CalPlace){ 0 }, "%u rows of size 0, in which nothing was sent, are left out", rows->n_zero);
  if (rows->out->len == 0) {
    cal_fail (rows->text, (CalPlace){ 0 }, error, "no row is left to import");
    return NULL;
  }
  GString *csv = g_string_new ("op,dtype,nodes,gpus_per_node,algo,proto,launch,bytes,time_us,in_place,busbw_GBps,nccl,wrong");
  g_string_append (csv, rows->titled ? ",setting\n" : "\n");
  for (guint i = 0; i < rows->out->len; i++)
    write_row (csv, rows, &g_array_index (rows->out, Out, i));
  return g_string_free (csv, FALSE);
}
