/* forerun compare: which algorithm is fastest, by size and by number of nodes. */
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
  { CLI_FLAG_SWITCH, "in-network", 0, offsetof (Flags, coll.in_network), NULL,
    "also CollNet and multi-node NVLS, which reduce data in the network switches; off in NCCL by default" },
  { CLI_FLAG_HEADING, "files", 0, 0, NULL, NULL },
  { CLI_FLAG_OUTPUT, "plot", 0, offsetof (Flags, plot), "F.svg",
    "also plot a map of the fastest algorithms, and bandwidths into F_busbw.svg; .svg, .png or .pdf" },
  { CLI_FLAG_OUTPUT, "tuner-conf", 0, offsetof (Flags, tuner_conf), "FILE",
    "also write the fastest algorithms for the example tuner plugin of NCCL" },
  { CLI_FLAG_OUTPUT, "report", 0, offsetof (Flags, report), "F.html",
    "also write a report to share: question, answer, map, and the data that the answer depends on" },
  { CLI_FLAG_HEADING, NULL, 0, 0, NULL, NULL },
};

/* ---- files ---- */

static gboolean
add_page (Cli *cli, const Flags *flags, const FrCollQuery *question, const StdCompare *compare, const GPtrArray *plots,
          GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);
  rep_compare_text (compare, text);
  g_autoptr (GPtrArray) said = rep_compare_said (compare);
  const CliSweepPage page = {
    .lead = "Which algorithm is the fastest, by message size and number of nodes", .said = said, .text = text->str, .plots = plots
  };
  return cli_page_sweep (cli, question, (double)compare->max_B, flags->report, &page, error);
}

static gboolean
add_files (Cli *cli, const Flags *flags, const FrCollQuery *question, const StdCompare *compare, const char *topology,
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
  g_autoptr (GPtrArray) plots = rep_plots_new ();
  rep_plots_add_compare (plots, compare, topology);
  return (flags->plot == NULL || cli_draw (cli, "--plot", flags->plot, plots, error)) &&
         (flags->report == NULL || add_page (cli, flags, question, compare, plots, error));
}

static void
write_answer (Cli *cli, const StdCompare *compare, const GString *header)
{
  RepEnvelope envelope = cli_envelope (cli);
  g_autoptr (BaseTable) rows = rep_compare_table (compare);
  if (cli->format == CLI_FORMAT_JSON) {
    JsonBuilder *json = cli_json_open (cli);
    base_table_build_json (rows, json);
    cli_json_close (cli, json);
  } else if (cli->format == CLI_FORMAT_TSV) {
    cli_rows (cli, g_steal_pointer (&rows));
  } else {
    g_autofree char *what = g_strdup_printf ("compare %s", base_name (mdl_op_names, (int)compare->op));
    rep_compare_text (compare, cli->out);
    g_string_append_c (cli->out, '\n');
    rep_header_title (cli->out, &envelope, what);
    g_string_append (cli->out, header->str);
  }
}

/* ---- the verb ---- */

/* What is said above the table. The constants are the same for all numbers of nodes: cluster and settings are of the last. */
typedef struct {
  const Cli *cli;
  const FrCollQuery *question;
  GString *nodes, *ranks, *text;
  char *topology;
} Header;

static void
header_clear (Header *header)
{
  g_string_free (header->nodes, TRUE);
  g_string_free (header->ranks, TRUE);
  g_string_free (header->text, TRUE);
  g_free (header->topology);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Header, header_clear)

static void
add_ranks (void *user, const ScnRanks *comm)
{
  Header *header = user;
  GString *nodes = header->nodes, *ranks = header->ranks, *text = header->text;
  const char *comma = nodes->len > 0 ? ", " : "";
  g_string_append_printf (nodes, "%s%u", comma, comm->n_nodes);
  g_string_append_printf (ranks, "%s%u", comma, comm->n);
  g_string_truncate (text, 0);
  rep_header_cluster (text, comm->clu);
  g_string_append_printf (text, "# %s ranks on %s node%s\n", ranks->str, nodes->str, strcmp (nodes->str, "1") == 0 ? "" : "s");
  rep_header_settings (text, &comm->settings, header->question->plain ? NULL : cst_store_name (&header->cli->constants));
  g_free (header->topology);
  header->topology = g_strdup (clu_name (comm->clu));
}

static gboolean
answer (Cli *cli, const Flags *flags, const FrCollQuery *question, GError **error)
{
  ScnSizes sizes;
  if (!cli_sizes_read (cli, &flags->coll, mdl_dtype_size_B (question->dtype), &sizes, error))
    return FALSE;
  g_auto (Header) header = { cli, question, g_string_new (NULL), g_string_new (NULL), g_string_new (NULL), NULL };
  g_autoptr (StdCompare) compare =
      cli_coll_compare (cli, question, &sizes, &(FrCollSink){ .user = &header, .begin = add_ranks }, error);
  if (compare == NULL)
    return FALSE;
  g_autoptr (GPtrArray) left_out = fr_compare_warnings (compare);
  for (guint i = 0; i < left_out->len && cli->format != CLI_FORMAT_TEXT; i++)
    cli_warn (cli, left_out->pdata[i]);
  if (!add_files (cli, flags, question, compare, header.topology, error))
    return FALSE;
  write_answer (cli, compare, header.text);
  return TRUE;
}

static gboolean
run (Cli *cli, const void *data, char **words, GError **error)
{
  const Flags *flags = data;
  g_auto (FrCollQuery) question = { 0 };
  if (!cli_one_op (cli, words, error) || (flags->plot != NULL && !cli_plot_check (cli, "--plot", flags->plot, error)) ||
      (flags->report != NULL && !cli_page_check (cli, flags->report, error)) ||
      !cli_compare_read (cli, &flags->coll, words[0], &question, error))
    return FALSE;
  if (flags->tuner_conf != NULL && question.plain)
    return cli_fail (cli, error, "--tuner-conf needs --library nccl: the plain library knows no protocols");
  return answer (cli, flags, &question, error);
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
  .summary = "find the fastest algorithm by message size and node count; write a tuner file for NCCL",
  .usage = "OP --topology T [--nodes N,N,...] [flags]",
  .example = "forerun compare all_reduce --topology dgx_h100 --nodes 1,2,4,8,16 --plot map.svg",
  .completes = "ops",
  .notes =
      "OP is one of all_reduce, all_gather, reduce_scatter, broadcast, reduce, alltoall, sendrecv. Each algorithm uses its fastest "
      "protocol. Times are closed-form estimates (--mode model) unless --mode event or --steps is given. Algorithms that NCCL "
      "cannot run here, or leaves off by default, are listed as left out; --in-network and --disable change the list.\n",
  .flags = { cli_coll_flags_where, flags_table, cli_coll_flags_sizes, cli_coll_flags_how },
  .size = sizeof (Flags),
  .formats = CLI_FORMAT_CSV,
  .varies = TRUE,
  .run = run,
};
