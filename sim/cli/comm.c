#include "comm-private.h"

#define FLAG(name, letter, field, arg, help)                              \
  {                                                                       \
    CLI_FLAG_TEXT, name, letter, offsetof (FrCollFlags, field), arg, help \
  }
#define HEADING(title)                        \
  {                                           \
    CLI_FLAG_HEADING, title, 0, 0, NULL, NULL \
  }

const CliFlag cli_coll_flags_where[] = {
  HEADING ("cluster"),
  FLAG ("topology", 0, topology, "T", "a shipped name or alias (forerun list topologies), or a file; required"),
  FLAG ("nodes", 'n', nodes, "N[,N...]", "number of nodes; may be more than the file has (default: all nodes of the file)"),
  FLAG ("gpus", 'g', gpus, "G", "GPUs used on each node (default: all)"),
  HEADING (NULL),
};

const CliFlag cli_coll_flags_sizes[] = {
  HEADING ("sizes: in bytes, written as for nccl-tests; 8G is 8 GiB"),
  FLAG ("minbytes", 'b', min, "SIZE", "smallest size (default: 8)"),
  FLAG ("maxbytes", 'e', max, "SIZE", "largest size (default: 8G)"),
  FLAG ("stepfactor", 'f', factor, "F", "each size is F times the previous one (default: 2)"),
  FLAG ("stepbytes", 'i', step, "SIZE", "each size is SIZE more than the previous one; replaces -f"),
  HEADING (NULL),
};

const CliFlag cli_coll_flags_how[] = {
  FLAG ("dtype", 'd', dtype, "TYPE", "element type (default: fp32)"),
  FLAG ("root", 'r', root, "RANK", "root of broadcast and reduce (default: 0)"),
  HEADING ("algorithm"),
  FLAG ("algo", 0, algo, "A",
        "auto (default): the choice of NCCL; best: the fastest; or a name (forerun list algorithms); compare ignores it and tries "
        "all"),
  FLAG ("proto", 0, proto, "P", "auto (default), ll, ll128 or simple"),
  FLAG ("disable", 0, disable, "A[,A...]", "algorithms and protocols that must not be used"),
  FLAG ("max-channels", 0, max_channels, "N", "at most N channels (NCCL_MAX_NCHANNELS)"),
  { CLI_FLAG_TEXTS, "nccl", 0, offsetof (FrCollFlags, nccl), "NAME=VALUE",
    "a variable of NCCL, such as NCCL_CROSS_NIC=0, or version=2.28; repeatable (docs/nccl.md)" },
  FLAG ("one-shot", 0, one_shot, "NAME",
        "all-reduce by kernels of a framework where they can run: vllm, vllm_0.14, sglang, trtllm, or PyTorch's symmetric "
        "memory: torch_one_shot, torch_two_shot, torch_multimem, torch_compile, torch_intra_node"),
  FLAG ("buffers", 0, buffers, "B",
        "what buffers are to NCCL: plain (default), registered, or symmetric: in windows of symmetric memory"),
  FLAG ("nccl-env", 0, nccl_env, "FILE", "NCCL's variables as `env` prints them; --nccl wins (forerun list nccl-variables)"),
  FLAG ("iters", 0, iters, "N", "number of operations in a row, as -n of nccl-tests (default: 20)"),
  HEADING ("software"),
  FLAG ("library", 0, library, "L", "nccl (default); plain: only latency and bandwidth of the links"),
  FLAG ("calibration", 0, calibration, "NAME|FILE",
        "measured constants (default: the shipped ones with the name of the GPU, if any)"),
  FLAG ("launch", 0, launch, "L",
        "how operations are launched on the GPUs: graph, threads, serial or registered (default: threads)"),
  HEADING ("engine"),
  FLAG ("mode", 0, mode, "M",
        "event: simulate with the event engine; model: use the closed formulas (default: event; compare: model)"),
  FLAG ("steps", 0, steps, "S", "fluid (default): a collective is one pipelined activity; exact: simulate every message"),
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

/* The flags with what is common to all verbs. */
static FrCollFlags
whole (const Cli *cli, const FrCollFlags *flags)
{
  FrCollFlags all = *flags;
  all.verb = cli->verb->name;
  all.sets = (const char *const *)cli->sets;
  all.seed = cli->seed;
  return all;
}

gboolean
cli_coll_read (const Cli *cli, const FrCollFlags *flags, const char *op, FrCollQuery *query, GError **error)
{
  const FrCollFlags all = whole (cli, flags);
  return fr_coll_read (&all, op, query, error);
}

gboolean
cli_compare_read (const Cli *cli, const FrCollFlags *flags, const char *op, FrCollQuery *query, GError **error)
{
  const FrCollFlags all = whole (cli, flags);
  return fr_compare_read (&all, op, query, error);
}

gboolean
cli_sizes_read (const Cli *cli, const FrCollFlags *flags, unsigned element_B, ScnSizes *sizes, GError **error)
{
  const FrCollFlags all = whole (cli, flags);
  return fr_sizes_read (&all, element_B, sizes, error);
}

/* Closes the host; where it failed, says so of a topology that is another kind of file. */
static gboolean
finish (Cli *cli, const FrCollQuery *query, ScnHost *host, gboolean done, GError **error)
{
  cli_host_close (cli, host);
  if (!done)
    cli_tell_kind (cli, query->topology, "topology", error);
  return done;
}

gboolean
cli_comm_open (Cli *cli, const FrCollQuery *query, guint32 nodes, ScnRanks *comm, GError **error)
{
  if (!cli_lookup (cli, error))
    return FALSE;
  ScnHost host = cli_host_open (cli);
  return finish (cli, query, &host, fr_ranks_open (&host, query, nodes, comm, error), error);
}

gboolean
cli_coll_price (Cli *cli, const FrCollQuery *query, const ScnSizes *sizes, const FrCollSink *sink, GError **error)
{
  if (!cli_lookup (cli, error))
    return FALSE;
  ScnHost host = cli_host_open (cli);
  return finish (cli, query, &host, fr_coll_price (&host, query, sizes, sink, error), error);
}

StdCompare *
cli_coll_compare (Cli *cli, const FrCollQuery *query, const ScnSizes *sizes, const FrCollSink *sink, GError **error)
{
  if (!cli_lookup (cli, error))
    return NULL;
  ScnHost host = cli_host_open (cli);
  StdCompare *compare = fr_coll_compare_all (&host, query, sizes, sink, error);
  finish (cli, query, &host, compare != NULL, error);
  return compare;
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
  g_string_append_printf (out, "# ranks: %u, on %u node%s with %u GPU%s each\n", comm->n, comm->n_nodes,
                          comm->n_nodes == 1 ? "" : "s", comm->gpus_per_node, comm->gpus_per_node == 1 ? "" : "s");
  rep_header_settings (out, &comm->settings, cst_store_name (&cli->constants));
  if (comm->n == 1)
    g_string_append (out, "# one rank only: this collective costs its launch\n");
  else if (col_comm_is_local (comm->comm))
    g_string_append_printf (out, "# all traffic stays inside %s: NICs and fabric do not matter\n",
                            comm->n_nodes == 1 ? "a node" : "an NVLink domain");
}
