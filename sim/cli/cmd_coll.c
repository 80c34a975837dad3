/* forerun coll: a table over message sizes, and over numbers of nodes. */
#include <string.h>

#include "draw-private.h"
#include "report/coll.h"

typedef struct {
  CliCollFlags coll; /* first: the tables that it shares with others fill it */
  char *plot, *report;
} Flags;
G_STATIC_ASSERT (offsetof (Flags, coll) == 0);

static const CliFlag flags_table[] = {
  { CLI_FLAG_HEADING, "files", 0, 0, NULL, NULL },
  { CLI_FLAG_TEXT, "plot", 0, offsetof (Flags, plot), "F", "also draw bus bandwidth by size; .svg, .png or .pdf" },
  { CLI_FLAG_TEXT, "report", 0, offsetof (Flags, report), "F.html",
    "also write a page to hand on: question, answer, picture, what it rests on" },
  { CLI_FLAG_HEADING, NULL, 0, 0, NULL, NULL },
};

/* The rows of one run, in the form that is asked for. */
typedef struct {
  BaseTable *table;
  GString *text;     /* '#' lines, or all of nccl-tests' text */
  JsonBuilder *json; /* nccl-tests' document; else NULL */
  GPtrArray *said;   /* char *: a sentence for each number of nodes */
  double busbw_sum_Bps;
  guint n_rows;
  char **above;        /* paths of --set that concern links between switches; NULL: none */
  guint8 *is_above;    /* of the cluster at hand: whether a resource is such a link; NULL where nobody asks */
  gboolean above_used; /* some row loads one */
} Rows;

static void
rows_clear (Rows *rows)
{
  base_table_free (rows->table);
  g_string_free (rows->text, TRUE);
  g_clear_object (&rows->json);
  g_ptr_array_unref (rows->said);
  g_strfreev (rows->above);
  g_free (rows->is_above);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Rows, rows_clear)

/* Who asks for a thinner fabric and sees no change should hear why. */
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
warn_above (Cli *cli, const Rows *rows, gboolean local)
{
  for (char **path = rows->above; path != NULL && *path != NULL && !rows->above_used && !local; path++) {
    g_autofree char *text = g_strdup_printf ("--set %s cannot matter: this traffic crosses no link between switches", *path);
    cli_warn (cli, text);
  }
}

static void
begin_comm (const Cli *cli, const CliQuestion *question, const ScnSizes *sweep, const ScnRanks *comm, Rows *rows)
{
  if (cli->format == CLI_FORMAT_TEXT)
    cli_comm_header (cli, comm, rows->text);
  if (cli->format != CLI_FORMAT_NCCL_TESTS && cli->format != CLI_FORMAT_NCCL_TESTS_JSON)
    return;
  RepNcclTests head = { .version = FORERUN_VERSION,
                        .op = question->op,
                        .min_B = sweep->min_B,
                        .max_B = sweep->max_B,
                        .step = sweep->step,
                        .step_is_factor = sweep->is_factor,
                        .launch = comm->settings.launch,
                        .clu = comm->clu,
                        .gpus = comm->gpus,
                        .n_ranks = comm->n,
                        .gpus_per_node = comm->gpus_per_node };
  if (cli->format == CLI_FORMAT_NCCL_TESTS)
    rep_nccl_tests_head (rows->text, &head);
  else
    rows->json = rep_nccl_tests_json_open (&head, (const char *const *)cli->command);
}

static gboolean
price_rows (Cli *cli, const CliQuestion *question, const ScnSizes *sweep, ScnRanks *comm, Rows *rows, GError **error)
{
  unsigned element_B = mdl_dtype_size_B (question->dtype);
  g_autoptr (GArray) sizes = scn_sizes_list (sweep, question->op, element_B, comm->n);
  g_auto (ColAnswer) coll = { 0 };
  g_autoptr (GString) said = g_string_new (NULL);
  for (guint i = 0; i < sizes->len; i++) {
    ColCollRequest request = { .op = question->op,
                               .size_B = (double)g_array_index (sizes, guint64, i),
                               .dtype = question->dtype,
                               .algo = question->algo,
                               .proto = question->proto,
                               .root = question->root };
    if (!col_coll_price (comm->comm, &request, &coll, error)) {
      g_prefix_error (error, "forerun %s: ", cli->verb->name);
      return FALSE;
    }
    if (++rows->n_rows > SCN_MAX_ROWS)
      return cli_fail (cli, error, "more than %u rows; ask for fewer sizes or fewer node counts", SCN_MAX_ROWS);
    rows->busbw_sum_Bps += coll.busbw_Bps;
    watch_above (rows, &coll);
    cli_warn_switches (cli, comm, &coll);
    if (cli->format == CLI_FORMAT_NCCL_TESTS)
      rep_nccl_tests_row (rows->text, &coll, question->root);
    else if (cli->format == CLI_FORMAT_NCCL_TESTS_JSON)
      rep_nccl_tests_json_row (rows->json, &coll, question->root);
    base_members_add (rows->table, rep_coll_members, &coll);
    if (i > 0 && i + 1 < sizes->len)
      continue;
    g_autofree char *words = rep_coll_words (&coll);
    if (i == 0)
      g_string_append_printf (said, "On %u node%s with %u ranks %s", coll.n_nodes, coll.n_nodes == 1 ? "" : "s", coll.n_ranks,
                              words);
    else
      g_string_append_printf (said, "; %s", words);
  }
  g_string_append_c (said, '.');
  g_ptr_array_add (rows->said, g_strdup (said->str));
  return TRUE;
}

static void
write_rows (Cli *cli, const CliQuestion *question, Rows *rows)
{
  double mean_Bps = rows->n_rows > 0 ? rows->busbw_sum_Bps / rows->n_rows : 0;
  RepEnvelope envelope = cli_envelope (cli);
  switch (cli->format) {
    case CLI_FORMAT_TEXT:
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
      base_table_print_tsv (rows->table, cli->out);
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

static gboolean
draw (Cli *cli, const char *path, const CliQuestion *question, const Rows *rows, GError **error)
{
  g_autoptr (GPtrArray) pictures = rep_pictures_new ();
  rep_pictures_add_coll (pictures, rows->table, question->op);
  return cli_draw (cli, "--plot", path, pictures, error);
}

static gboolean
add_page (Cli *cli, const Flags *flags, const CliQuestion *question, const ScnSizes *sweep, const Rows *rows, GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);
  base_table_print_text (rows->table, text);
  g_autoptr (GPtrArray) pictures = rep_pictures_new ();
  rep_pictures_add_coll (pictures, rows->table, question->op);
  const CliSweepPage page = { .lead = "Time and bandwidth by message size, as nccl-tests would measure them",
                              .said = rows->said,
                              .text = text->str,
                              .rows = rows->table,
                              .pictures = pictures };
  return cli_page_sweep (cli, &flags->coll, question, (double)sweep->max_B, flags->report, &page, error);
}

static gboolean
answer (Cli *cli, const Flags *all_flags, const CliQuestion *question, GError **error)
{
  const CliCollFlags *flags = &all_flags->coll;
  ScnSizes sweep;
  if (!cli_sweep_parse (cli, flags, mdl_dtype_size_B (question->dtype), &sweep, error))
    return FALSE;
  if (cli->format >= CLI_FORMAT_NCCL_TESTS && all_flags->plot != NULL)
    return cli_fail (cli, error, "--plot goes with --format text, json and tsv");
  if (cli->format >= CLI_FORMAT_NCCL_TESTS && question->n_nodes > 1)
    return cli_fail (cli, error, "--format %s shows one number of nodes, -n lists %u; take text, json or tsv", cli->format_text,
                     question->n_nodes);
  g_auto (Rows) rows = { .table = base_members_table (rep_coll_members, NULL),
                         .text = g_string_new (NULL),
                         .said = g_ptr_array_new_with_free_func (g_free),
                         .above = sets_above_the_leaves (cli) };
  gboolean local = FALSE;
  for (guint i = 0; i < question->n_nodes; i++) {
    g_auto (ScnRanks) comm = { 0 };
    if (!cli_comm_open (cli, flags, question, question->nodes[i], &comm, error))
      return FALSE;
    begin_comm (cli, question, &sweep, &comm, &rows);
    mark_above (&rows, comm.clu);
    local = local || col_comm_is_local (comm.comm); /* which has its own warning */
    if (!price_rows (cli, question, &sweep, &comm, &rows, error))
      return FALSE;
  }
  warn_above (cli, &rows, local);
  write_rows (cli, question, &rows);
  if (all_flags->plot != NULL && !draw (cli, all_flags->plot, question, &rows, error))
    return FALSE;
  return all_flags->report == NULL || add_page (cli, all_flags, question, &sweep, &rows, error);
}

static gboolean
run (Cli *cli, const void *data, char **words, GError **error)
{
  const Flags *flags = data;
  if (!cli_one_op (cli, words, error) || (flags->plot != NULL && !cli_plot_check (cli, "--plot", flags->plot, error)) ||
      (flags->report != NULL && !cli_page_check (cli, flags->report, error)))
    return FALSE;
  CliQuestion question;
  gboolean done = cli_question_parse (cli, &flags->coll, words[0], &question, error);
  question.settings.terse = TRUE;
  done = done && answer (cli, flags, &question, error);
  g_free (question.nodes);
  return done;
}

const CliVerb cli_verb_coll = {
  .name = "coll",
  .summary = "time and bandwidth of a collective by message size, as nccl-tests would measure it",
  .usage = "OP --topology T [flags]",
  .example = "forerun coll all_reduce --topology hgx_h200 -n 2 -b 1M -e 8G -f 2",
  .notes = "OP is one of all_reduce all_gather reduce_scatter broadcast reduce alltoall sendrecv. GB/s is 1e9 B/s; busbw has\n"
           "nccl-tests' factors, wire is what the busiest link carries. --format nccl-tests prints nccl-tests' own table,\n"
           "nccl-tests-json the document of its -J.\n",
  .flags = { cli_coll_flags_where, flags_table, cli_coll_flags_sizes, cli_coll_flags_how },
  .size = sizeof (Flags),
  .formats = CLI_FORMAT_NCCL_TESTS_JSON,
  .varies = TRUE,
  .run = run,
};
