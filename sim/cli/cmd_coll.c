/* forerun coll: a table over message sizes, and over numbers of nodes. */
#include <string.h>

#include "base/file.h"
#include "calibrate/measured.h"
#include "draw-private.h"
#include "host-private.h"
#include "report/coll.h"

typedef struct {
  FrCollFlags coll; /* first: the tables that it shares with others fill it */
  char *plot, *report;
  char **measured;
} Flags;
G_STATIC_ASSERT (offsetof (Flags, coll) == 0);

static const CliFlag flags_table[] = {
  { CLI_FLAG_HEADING, "files", 0, 0, NULL, NULL },
  { CLI_FLAG_OUTPUT, "plot", 0, offsetof (Flags, plot), "F",
    "also plot bus bandwidth by size, or by nodes if there are more numbers of nodes than sizes; .svg, .png or .pdf" },
  { CLI_FLAG_TEXTS, "measured", 0, offsetof (Flags, measured), "FILE",
    "draw measurements too: CSV, output of nccl-tests, a probe's file, or a folder with systems.yaml; repeatable" },
  { CLI_FLAG_OUTPUT, "report", 0, offsetof (Flags, report), "F.html",
    "also write a report to share: question, answer, plot, and the data that the answer depends on" },
  { CLI_FLAG_HEADING, NULL, 0, 0, NULL, NULL },
};

/* The rows of one run, in the form that is asked for. */
typedef struct {
  const Cli *cli;
  const FrCollQuery *question;
  ScnSizes sizes;
  BaseTable *table;
  GString *text;     /* '#' lines, or all of nccl-tests' text */
  JsonBuilder *json; /* nccl-tests' document; else NULL */
  GPtrArray *said;   /* char *: the answer for each number of nodes */
  GArray *asked;     /* RepCollAsked */
  RepCollWay way;
  GString *measured; /* TSV of rep_coll_measured_tsv; NULL: none */
  RepSweep sweep;    /* of the number at hand */
  double busbw_sum_Bps;
  guint n_rows;
  char **above;        /* paths of --set that concern links between switches; NULL: none */
  guint8 *is_above;    /* of the cluster at hand: whether a resource is such a link; NULL where nobody asks */
  gboolean above_used; /* some row loads one */
  gboolean local;      /* some number of nodes does not leave a node, or an NVLink domain */
} Rows;

static void
rows_clear (Rows *rows)
{
  base_table_free (rows->table);
  g_string_free (rows->text, TRUE);
  g_clear_object (&rows->json);
  g_ptr_array_unref (rows->said);
  g_array_unref (rows->asked);
  if (rows->measured != NULL)
    g_string_free (rows->measured, TRUE);
  rep_sweep_clear (&rows->sweep);
  g_strfreev (rows->above);
  g_free (rows->is_above);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Rows, rows_clear)

/* Warns when a thinner fabric changes nothing, and says why. */
static char **
sets_above_the_leaves (const Cli *cli)
{
  static const char *const keys[] = { "oversubscription", "spine", "core" };
  g_autoptr (GPtrArray) paths = g_ptr_array_new_with_free_func (g_free);
  for (char **set = cli->sets; set != NULL && *set != NULL; set++) {
    g_autofree char *path = g_strndup (*set, (gsize)(strchr (*set, '=') - *set));
    g_auto (GStrv) parts = g_strsplit (path, ".", -1);
    for (size_t i = 0; i < G_N_ELEMENTS (keys); i++)
      if (g_strv_contains ((const char *const *)parts, keys[i]) && g_strv_contains ((const char *const *)parts, "fabric")) {
        g_ptr_array_add (paths, g_steal_pointer (&path));
        break;
      }
  }
  if (paths->len == 0)
    return NULL;
  g_ptr_array_add (paths, NULL);
  return (char **)g_ptr_array_free (g_steal_pointer (&paths), FALSE);
}

static void
mark_above (Rows *rows, const Clu *clu)
{
  g_clear_pointer (&rows->is_above, g_free);
  if (rows->above == NULL)
    return;
  rows->is_above = g_new0 (guint8, clu_n_resources (clu));
  for (CluLinkId id = 0; id < clu_n_links (clu); id++) {
    CluLink link;
    clu_link (clu, id, &link);
    if (clu_dev_kind (clu, link.a) == CLU_DEV_SWITCH && clu_dev_kind (clu, link.b) == CLU_DEV_SWITCH)
      rows->is_above[link.forward] = rows->is_above[link.backward] = 1;
  }
}

static void
watch_above (Rows *rows, const ColAnswer *coll)
{
  if (rows->is_above == NULL || rows->above_used)
    return;
  g_autoptr (GArray) loads = col_coll_loads (coll);
  for (guint i = 0; !rows->above_used && i < loads->len; i++)
    rows->above_used = rows->is_above[g_array_index (loads, ColLoad, i).res];
}

static void
warn_above (Cli *cli, const Rows *rows)
{
  for (char **path = rows->above; path != NULL && *path != NULL && !rows->above_used && !rows->local; path++) {
    g_autofree char *text = g_strdup_printf ("--set %s cannot matter: this traffic crosses no link between switches", *path);
    cli_warn (cli, text);
  }
}

static void
begin_comm (void *user, const ScnRanks *comm)
{
  Rows *rows = user;
  const CliFormat format = rows->cli->format;
  mark_above (rows, comm->clu);
  rows->way.launch = comm->settings.launch;
  rows->way.buffers = comm->settings.buffers;
  rows->way.gpus = comm->gpus_per_node;
  rows->local = rows->local || col_comm_is_local (comm->comm); /* which has its own warning */
  if (format == CLI_FORMAT_TEXT)
    cli_comm_header (rows->cli, comm, rows->text);
  if (format != CLI_FORMAT_NCCL_TESTS && format != CLI_FORMAT_NCCL_TESTS_JSON)
    return;
  RepNcclTests head = { .version = FORERUN_VERSION,
                        .op = rows->question->op,
                        .min_B = rows->sizes.min_B,
                        .max_B = rows->sizes.max_B,
                        .step = rows->sizes.step,
                        .step_is_factor = rows->sizes.is_factor,
                        .launch = comm->settings.launch,
                        .clu = comm->clu,
                        .gpus = comm->gpus,
                        .n_ranks = comm->n,
                        .gpus_per_node = comm->gpus_per_node };
  if (format == CLI_FORMAT_NCCL_TESTS)
    rep_nccl_tests_head (rows->text, &head);
  else
    rows->json = rep_nccl_tests_json_open (&head, (const char *const *)rows->cli->command);
}

static void
add_row (void *user, const ColAnswer *coll, guint size, guint n_sizes)
{
  Rows *rows = user;
  const RepCollAsked asked = { coll->n_nodes, coll->size_B };
  g_array_append_val (rows->asked, asked);
  rows->n_rows++;
  rows->busbw_sum_Bps += coll->busbw_Bps;
  watch_above (rows, coll);
  if (rows->cli->format == CLI_FORMAT_NCCL_TESTS)
    rep_nccl_tests_row (rows->text, coll, rows->question->root);
  else if (rows->cli->format == CLI_FORMAT_NCCL_TESTS_JSON)
    rep_nccl_tests_json_row (rows->json, coll, rows->question->root);
  base_members_add (rows->table, rep_coll_row_members, coll);
  rep_sweep_add (&rows->sweep, coll);
  if (size + 1 < n_sizes)
    return;
  g_ptr_array_add (rows->said, rep_sweep_answer (&rows->sweep));
  rep_sweep_clear (&rows->sweep);
}

static void
write_rows (Cli *cli, const FrCollQuery *question, Rows *rows)
{
  double mean_Bps = rows->n_rows > 0 ? rows->busbw_sum_Bps / rows->n_rows : 0;
  RepEnvelope envelope = cli_envelope (cli);
  switch (cli->format) {
    case CLI_FORMAT_TEXT:
      for (guint i = 0; i < rows->said->len; i++)
        g_string_append (cli->out, rows->said->pdata[i]);
      g_string_append_c (cli->out, '\n');
      rep_header_title (cli->out, &envelope, base_name (mdl_op_names, (int)question->op));
      g_string_append (cli->out, rows->text->str);
      base_table_print_text (rows->table, cli->out);
      break;
    case CLI_FORMAT_JSON: {
      JsonBuilder *json = cli_json_open (cli);
      base_table_build_json (rows->table, json);
      cli_json_close (cli, json);
      break;
    }
    case CLI_FORMAT_TSV:
    case CLI_FORMAT_CSV:
      cli_rows (cli, base_table_ref (rows->table));
      break;
    case CLI_FORMAT_NCCL_TESTS:
      g_string_append (cli->out, rows->text->str);
      rep_nccl_tests_foot (cli->out, question->op, mean_Bps);
      break;
    case CLI_FORMAT_NCCL_TESTS_JSON: {
      g_autofree char *text = rep_nccl_tests_json_close (g_steal_pointer (&rows->json), mean_Bps);
      g_string_append (cli->out, text);
      break;
    }
  }
}

/* ---- measurements ---- */

/* A folder with systems.yaml, or files of one machine. */
static CalData *
load_measured (Cli *cli, char **paths, const FrCollQuery *question, GError **error)
{
  const CalHost host = cli_host (cli);
  const CalFilesQuery files = { .topology = question->topology, .launch = question->settings.launch, .op = (int)question->op };
  if (!base_file_is_folder (paths[0]))
    return cal_data_load_files (&host, (const char *const *)paths, &files, error);
  if (paths[1] != NULL) {
    cli_fail (cli, error, "--measured: one folder at a time, and '%s' is one too many", paths[1]);
    return NULL;
  }
  return cli_measurements_folder (cli, paths[0], error) ? cal_data_load (&host, paths[0], NULL, error) : NULL;
}

static gboolean
take_measured (Cli *cli, char **paths, const FrCollQuery *question, Rows *rows, GError **error)
{
  g_autoptr (CalData) data = paths != NULL ? load_measured (cli, paths, question, error) : NULL;
  if (data == NULL)
    return paths == NULL;
  rows->measured = g_string_new (NULL);
  guint n = rep_coll_measured_tsv (data, &rows->way, rows->asked, rows->measured);
  if (n > 0 && !cli->quiet)
    g_string_append_printf (cli->talk, "%u of %u measurements %s drawn; the others ran otherwise, or lie outside\n", n,
                            data->points->len, n == 1 ? "is" : "are");
  if (n > 0)
    return TRUE;
  g_autofree char *text = g_strdup_printf ("none of %u measurements is of %s on %s with %u GPUs a node at these sizes and nodes, "
                                           "launched by %s: none is drawn",
                                           data->points->len, base_name (mdl_op_names, (int)question->op), question->topology,
                                           rows->way.gpus, base_name (mdl_launch_names, (int)rows->way.launch));
  cli_warn (cli, text);
  g_string_free (g_steal_pointer (&rows->measured), TRUE);
  return TRUE;
}

/* ---- plots ---- */

static GPtrArray *
plots_of (const FrCollQuery *question, const Rows *rows)
{
  GPtrArray *plots = rep_plots_new ();
  const RepCollPlot what = { .table = rows->table,
                             .op = question->op,
                             .topology = question->topology,
                             .asked = rows->asked,
                             .measured = rows->measured != NULL ? rows->measured->str : NULL };
  rep_plots_add_coll (plots, &what);
  return plots;
}

static gboolean
draw (Cli *cli, const char *path, const FrCollQuery *question, const Rows *rows, GError **error)
{
  g_autoptr (GPtrArray) plots = plots_of (question, rows);
  return cli_draw (cli, "--plot", path, plots, error);
}

static gboolean
add_page (Cli *cli, const Flags *flags, const FrCollQuery *question, const Rows *rows, GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);
  base_table_print_text (rows->table, text);
  g_autoptr (GPtrArray) plots = plots_of (question, rows);
  const CliSweepPage page = { .lead = "Time and bandwidth by message size, as nccl-tests would measure them",
                              .said = rows->said,
                              .text = text->str,
                              .rows = rows->table,
                              .plots = plots };
  return cli_page_sweep (cli, question, (double)rows->sizes.max_B, flags->report, &page, error);
}

static gboolean
answer (Cli *cli, const Flags *flags, const FrCollQuery *question, GError **error)
{
  g_auto (Rows)
      rows = { .cli = cli,
               .question = question,
               .table = base_members_table (rep_coll_row_members, NULL),
               .text = g_string_new (NULL),
               .said = g_ptr_array_new_with_free_func (g_free),
               .asked = g_array_new (FALSE, FALSE, sizeof (RepCollAsked)),
               .way = { .topology = question->topology, .op = question->op, .algo = question->algo, .proto = question->proto },
               .above = sets_above_the_leaves (cli) };
  if (!cli_sizes_read (cli, &flags->coll, mdl_dtype_size_B (question->dtype), &rows.sizes, error))
    return FALSE;
  if (cli->format >= CLI_FORMAT_NCCL_TESTS && flags->plot != NULL)
    return cli_fail (cli, error, "--plot goes with --format text, json, tsv and csv");
  if (cli->format >= CLI_FORMAT_NCCL_TESTS && question->n_nodes > 1)
    return cli_fail (cli, error, "--format %s shows one number of nodes, -n lists %u; take text, json, tsv or csv",
                     cli->format_text, question->n_nodes);
  if (question->n_nodes > 1)
    base_table_keep (rows.table, "nodes");
  if (!cli_coll_price (cli, question, &rows.sizes, &(FrCollSink){ &rows, begin_comm, add_row }, error))
    return FALSE;
  if (!take_measured (cli, flags->measured, question, &rows, error))
    return FALSE;
  warn_above (cli, &rows);
  write_rows (cli, question, &rows);
  if (flags->plot != NULL && !draw (cli, flags->plot, question, &rows, error))
    return FALSE;
  return flags->report == NULL || add_page (cli, flags, question, &rows, error);
}

static gboolean
run (Cli *cli, const void *data, char **words, GError **error)
{
  const Flags *flags = data;
  if (!cli_one_op (cli, words, error) || (flags->plot != NULL && !cli_plot_check (cli, "--plot", flags->plot, error)) ||
      (flags->report != NULL && !cli_page_check (cli, flags->report, error)))
    return FALSE;
  if (flags->measured != NULL && flags->plot == NULL && flags->report == NULL)
    return cli_fail (cli, error, "--measured is drawn into a plot: --plot F.svg or --report F.html makes one");
  g_auto (FrCollQuery) question = { 0 };
  gboolean done = cli_coll_read (cli, &flags->coll, words[0], &question, error);
  question.settings.terse = TRUE;
  done = done && answer (cli, flags, &question, error);
  return done;
}

const CliVerb cli_verb_coll = {
  .name = "coll",
  .summary = "predict time and bandwidth of a collective by message size, as nccl-tests measures them",
  .usage = "OP --topology T [flags]",
  .example = "forerun coll all_reduce --topology hgx_h200 -n 2 -b 1M -e 8G -f 2",
  .completes = "ops",
  .notes = "OP is one of all_reduce, all_gather, reduce_scatter, broadcast, reduce, alltoall, sendrecv. GB/s is 1e9 B/s. busbw "
           "uses the factors of nccl-tests; wire is the rate on the busiest link. --format nccl-tests prints the table of "
           "nccl-tests; nccl-tests-json prints the JSON of its flag -J.\n",
  .flags = { cli_coll_flags_where, flags_table, cli_coll_flags_sizes, cli_coll_flags_how },
  .size = sizeof (Flags),
  .formats = CLI_FORMAT_NCCL_TESTS_JSON,
  .varies = TRUE,
  .run = run,
};
