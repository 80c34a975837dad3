#include "comm-private.h"

#include <string.h>

#define MAX_NODES         1000000u
#define MAX_GPUS_PER_NODE 1024u
#define MAX_CHANNELS      1024u
#define MAX_NODE_COUNTS   64u
#define MAX_ITERS         1000000u
#define NCCL_TESTS_ITERS  20 /* NVIDIA/nccl-tests src/common.cu, -n */

#define FLAG(name, letter, field, arg, help)                               \
  {                                                                        \
    CLI_FLAG_TEXT, name, letter, offsetof (CliCollFlags, field), arg, help \
  }
#define HEADING(title)                        \
  {                                           \
    CLI_FLAG_HEADING, title, 0, 0, NULL, NULL \
  }

const CliFlag cli_coll_flags_where[] = {
  HEADING ("cluster"),
  FLAG ("topology", 0, topology, "T", "a shipped name (forerun list topologies) or a file; needed"),
  FLAG ("nodes", 'n', nodes, "N[,N...]", "nodes in use; more than the topology has are built (default: all of it)"),
  FLAG ("gpus", 'g', gpus, "G", "GPUs in use on each node (default: all of a node)"),
  HEADING (NULL),
};

const CliFlag cli_coll_flags_sizes[] = {
  HEADING ("sizes: bytes as nccl-tests counts them, 8G is 8 GiB"),
  FLAG ("minbytes", 'b', min, "SIZE", "smallest size (default: 8)"),
  FLAG ("maxbytes", 'e', max, "SIZE", "largest size (default: 8G)"),
  FLAG ("stepfactor", 'f', factor, "F", "each size is F times the one before (default: 2)"),
  FLAG ("stepbytes", 'i', step, "SIZE", "each size is SIZE above the one before, in place of -f"),
  HEADING (NULL),
};

const CliFlag cli_coll_flags_how[] = {
  FLAG ("dtype", 'd', dtype, "TYPE", "element type (default: fp32)"),
  FLAG ("root", 'r', root, "RANK", "root of broadcast and reduce (default: 0)"),
  HEADING ("algorithm"),
  FLAG ("algo", 0, algo, "A", "auto (default): NCCL's choice; best: the fastest; or one of them (not of compare: it takes all)"),
  FLAG ("proto", 0, proto, "P", "auto (default), ll, ll128 or simple"),
  FLAG ("disable", 0, disable, "A[,A...]", "algorithms and protocols that may not be taken"),
  FLAG ("max-channels", 0, max_channels, "N", "at most so many channels (NCCL_MAX_NCHANNELS)"),
  { CLI_FLAG_TEXTS, "nccl", 0, offsetof (CliCollFlags, nccl), "NAME=VALUE",
    "a variable of NCCL's (NCCL_CROSS_NIC=0), or version=2.28; repeatable (docs/nccl.md)" },
  FLAG ("iters", 0, iters, "N", "operations in a row, as nccl-tests' -n (default: 20)"),
  HEADING ("software"),
  FLAG ("library", 0, library, "L", "nccl (default), or plain: alpha and beta of the links alone"),
  FLAG ("calibration", 0, calibration, "NAME|FILE", "measured constants (default: those named like the GPU, if shipped)"),
  FLAG ("launch", 0, launch, "L", "graph, threads, serial or registered: how operations reach the GPUs (default: threads)"),
  HEADING ("engine"),
  FLAG ("mode", 0, mode, "M", "event: the event engine; model: the closed form (default: event; of compare: model)"),
  FLAG ("steps", 0, steps, "S", "fluid (default): one pipelined activity; exact: every message"),
  HEADING (NULL),
};

gboolean
cli_one_op (const Cli *cli, char **words, GError **error)
{
  g_autofree char *ops = base_names_join (mdl_op_names);
  if (words[0] == NULL)
    return cli_fail (cli, error, "which operation? accepted: %s", ops);
  return words[1] == NULL ||
         cli_fail (cli, error, "one operation at a time, and '%s' is one too many; flags begin with '-'", words[1]);
}

static gboolean
parse_op (const Cli *cli, const char *text, MdlOp *op, GError **error)
{
  int code = 0;
  if (!cli_name_value (cli, "operation", text, mdl_op_names, &code, error))
    return FALSE;
  *op = (MdlOp)code;
  return TRUE;
}

static gboolean
parse_nodes (const Cli *cli, const char *text, CliQuestion *question, GError **error)
{
  g_auto (GStrv) words = g_strsplit (text != NULL ? text : "0", ",", -1);
  guint n = g_strv_length (words);
  if (n == 0 || n > MAX_NODE_COUNTS)
    return cli_fail (cli, error, "-n '%s' lists %u node counts; 1 to %u are accepted, as in -n 1,2,4", text, n, MAX_NODE_COUNTS);
  g_autofree guint32 *nodes = g_new0 (guint32, n);
  for (guint i = 0; text != NULL && i < n; i++) {
    guint64 value = 0;
    if (!cli_count_value (cli, "-n", words[i], 1, MAX_NODES, &value, error))
      return FALSE;
    for (guint k = 0; k < i; k++)
      if (nodes[k] == value)
        return cli_fail (cli, error, "-n '%s' lists %u twice; each number of nodes once is accepted", text, nodes[k]);
    nodes[i] = (guint32)value;
  }
  question->nodes = g_steal_pointer (&nodes);
  question->n_nodes = n;
  return TRUE;
}

gboolean
cli_disabled_value (const Cli *cli, const char *text, guint32 *algos, guint32 *protos, GError **error)
{
  if (text == NULL)
    return TRUE;
  g_autoptr (GArray) names = g_array_new (TRUE, TRUE, sizeof (BaseName));
  const BaseName *const tables[] = { mdl_algo_names, mdl_proto_names };
  for (size_t t = 0; t < G_N_ELEMENTS (tables); t++)
    for (const BaseName *name = tables[t]; name->name != NULL; name++)
      if (name->code >= 0) /* neither auto nor best */
        g_array_append_vals (names, name, 1);
  g_auto (GStrv) words = g_strsplit (text, ",", -1);
  for (char **word = words; *word != NULL; word++) {
    int code;
    if (!cli_name_value (cli, "--disable", g_strstrip (*word), (const BaseName *)(gpointer)names->data, &code, error))
      return FALSE;
    if (base_name_find (mdl_algo_names, *word) != NULL)
      *algos |= 1u << code;
    else
      *protos |= 1u << code;
  }
  return TRUE;
}

/* NCCL's variables; --disable and --max-channels are read after them and win. */
static gboolean
take_variables (Cli *cli, const CliCollFlags *flags, ColSettings *settings, GError **error)
{
  if (flags->nccl == NULL)
    return TRUE;
  BaseYaml *yaml = col_nccl_parse ((const char *const *)flags->nccl, "--nccl", settings, error);
  if (yaml != NULL)
    g_ptr_array_add (cli->kept, yaml);
  return yaml != NULL;
}

static const BaseName library_names[] = { { "nccl", 0, NULL }, { "plain", 1, NULL }, { NULL, 0, NULL } };

static gboolean
parse_software (Cli *cli, const CliCollFlags *flags, CliQuestion *question, GError **error)
{
  ColSettings *settings = &question->settings;
  int plain = 0, launch = (int)settings->launch, mode = (int)settings->mode, steps = (int)settings->steps;
  guint64 max_channels = 0, iters = NCCL_TESTS_ITERS;
  if (!take_variables (cli, flags, settings, error) ||
      !cli_name_value (cli, "--library", flags->library, library_names, &plain, error) ||
      !cli_name_value (cli, "--launch", flags->launch, mdl_launch_names, &launch, error) ||
      !cli_name_value (cli, "--mode", flags->mode, col_mode_names, &mode, error) ||
      !cli_name_value (cli, "--steps", flags->steps, col_steps_names, &steps, error) ||
      !cli_count_value (cli, "--max-channels", flags->max_channels, 1, MAX_CHANNELS, &max_channels, error) ||
      !cli_count_value (cli, "--iters", flags->iters, 1, MAX_ITERS, &iters, error) ||
      !cli_disabled_value (cli, flags->disable, &settings->disabled_algos, &settings->disabled_protos, error))
    return FALSE;
  question->plain = plain == 1;
  settings->launch = (MdlLaunch)launch;
  settings->mode = (ColMode)mode;
  settings->steps = (ColSteps)steps;
  settings->in_a_row = (unsigned)iters;
  if (max_channels > 0) {
    settings->max_channels = (unsigned)max_channels;
    settings->min_channels = MIN (settings->min_channels, settings->max_channels);
    settings->min_ctas = MIN (settings->min_ctas, settings->max_channels);
  }
  if (question->plain && flags->calibration != NULL)
    return cli_fail (cli, error, "--calibration has no meaning with --library plain, which has no constants but the links' own");
  if (question->plain && (flags->launch != NULL || flags->max_channels != NULL || flags->proto != NULL || flags->nccl != NULL))
    return cli_fail (cli, error, "%s has no meaning with --library plain, which knows no software",
                     flags->launch != NULL         ? "--launch"
                     : flags->nccl != NULL         ? "--nccl"
                     : flags->max_channels != NULL ? "--max-channels"
                                                   : "--proto");
  if (settings->mode == COL_MODE_MODEL && settings->steps == COL_STEPS_EXACT)
    return cli_fail (cli, error, "--steps exact sends every message and needs --mode event");
  return TRUE;
}

static gboolean
op_has_root (MdlOp op)
{
  return op == MDL_OP_BROADCAST || op == MDL_OP_REDUCE;
}

gboolean
cli_question_parse (Cli *cli, const CliCollFlags *flags, const char *op, CliQuestion *question, GError **error)
{
  memset (question, 0, sizeof *question);
  col_settings_default (&question->settings);
  question->settings.seed = cli->seed;
  int dtype = MDL_DTYPE_FP32, algo = MDL_ALGO_AUTO, proto = MDL_PROTO_AUTO;
  guint64 gpus = 0, root = 0;
  if (!parse_op (cli, op, &question->op, error) || !cli_name_value (cli, "--dtype", flags->dtype, mdl_dtype_names, &dtype, error) ||
      !cli_name_value (cli, "--algo", flags->algo, mdl_algo_names, &algo, error) ||
      !cli_name_value (cli, "--proto", flags->proto, mdl_proto_names, &proto, error) ||
      !cli_count_value (cli, "-g", flags->gpus, 1, MAX_GPUS_PER_NODE, &gpus, error) ||
      !cli_count_value (cli, "--root", flags->root, 0, G_MAXUINT32 - 1, &root, error) ||
      !parse_software (cli, flags, question, error))
    return FALSE;
  question->dtype = (MdlDtype)dtype;
  question->algo = (MdlAlgo)algo;
  question->proto = (MdlProto)proto;
  question->gpus = (guint32)gpus;
  question->root = (guint32)root;
  if (flags->root != NULL && !op_has_root (question->op))
    return cli_fail (cli, error, "--root has no meaning for %s; broadcast and reduce have one", op);
  if (flags->topology == NULL)
    return cli_fail (cli, error, "--topology is missing: a name of forerun list topologies, or a file");
  return parse_nodes (cli, flags->nodes, question, error);
}

gboolean
cli_comm_open (Cli *cli, const CliCollFlags *flags, const CliQuestion *question, guint32 nodes, ScnRanks *comm, GError **error)
{
  if (!cli_lookup (cli, error))
    return FALSE;
  g_autofree char *who = g_strdup_printf ("forerun %s: ", cli->verb->name);
  const ScnRanksAsk ask = { .topology = flags->topology,
                            .sets = (const char *const *)cli->sets,
                            .gpus = question->gpus,
                            .root = question->root,
                            .plain = question->plain,
                            .calibration = flags->calibration,
                            .settings = &question->settings,
                            .who = who };
  ScnHost host = cli_host_open (cli);
  gboolean done = scn_ranks_open (&host, &ask, nodes, comm, error);
  cli_host_close (cli, &host);
  if (!done)
    cli_tell_kind (cli, flags->topology, "topology", error);
  return done;
}

void
cli_warn_switches (Cli *cli, ScnRanks *comm, const ColAnswer *coll)
{
  g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func (g_free);
  col_comm_switch_warnings (comm->comm, coll, texts);
  for (guint i = 0; i < texts->len; i++)
    cli_warn (cli, texts->pdata[i]);
}

void
cli_comm_header (const Cli *cli, const ScnRanks *comm, GString *out)
{
  rep_header_cluster (out, comm->clu);
  g_string_append_printf (out, "# %u rank%s: %u GPU%s on %s%u node%s\n", comm->n, comm->n == 1 ? "" : "s", comm->gpus_per_node,
                          comm->gpus_per_node == 1 ? "" : "s", comm->n_nodes == 1 ? "" : "each of ", comm->n_nodes,
                          comm->n_nodes == 1 ? "" : "s");
  rep_header_settings (out, &comm->settings, cst_store_name (&cli->constants));
  if (comm->n == 1)
    g_string_append (out, "# one rank has nobody to talk to: this collective costs its launch alone\n");
  else if (col_comm_is_local (comm->comm))
    g_string_append_printf (out, "# this collective never leaves %s: no NIC and no fabric setting can matter\n",
                            comm->n_nodes == 1 ? "a node" : "an NVLink domain");
}
