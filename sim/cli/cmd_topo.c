/* forerun topo: what a machine is. */
#include <string.h>

#include "cli-private.h"
#include "models/library-spec.h"
#include "report/topo.h"

typedef struct {
  char *nodes, *calibration;
  char **path;
  gboolean dot, no_fold, ladder;
} Flags;

static const CliFlag flags_table[] = {
  { CLI_FLAG_HEADING, "what to show", 0, 0, NULL, NULL },
  { CLI_FLAG_TEXT, "nodes", 'n', offsetof (Flags, nodes), "N", "number of nodes (default: as in the file)" },
  { CLI_FLAG_PAIR, "path", 0, offsetof (Flags, path), "A B", "show the path from device A to device B, hop by hop" },
  { CLI_FLAG_SWITCH, "ladder", 0, offsetof (Flags, ladder), NULL,
    "show rate and latency of each level, from the GPU's caches to storage; without -n of two nodes" },
  { CLI_FLAG_TEXT, "calibration", 0, offsetof (Flags, calibration), "NAME|FILE",
    "use measured constants of links and host memory from a calibration (default: those of the topology)" },
  { CLI_FLAG_SWITCH, "dot", 0, offsetof (Flags, dot), NULL, "print the graph for Graphviz: forerun topo T --dot | dot -Tsvg" },
  { CLI_FLAG_SWITCH, "no-fold", 0, offsetof (Flags, no_fold), NULL,
    "with --dot: draw every node and switch, not one for each group of equal ones" },
  { CLI_FLAG_HEADING, NULL, 0, 0, NULL, NULL },
};

typedef struct {
  CluDev from, to;
  CluRoute route;
} Path;

static gboolean
find_path (const Cli *cli, const Clu *clu, char **names, Path *path, GError **error)
{
  CluRouteOptions options = CLU_ROUTE_DEFAULT;
  path->from = clu_find (clu, names[0], error);
  if (path->from != CLU_NONE)
    path->to = clu_find (clu, names[1], error);
  if (path->from == CLU_NONE || path->to == CLU_NONE ||
      !clu_route_find (clu, path->from, path->to, &options, &path->route, error)) {
    g_prefix_error (error, "forerun %s: --path: ", cli->verb->name);
    return FALSE;
  }
  return TRUE;
}

static void
write_ladder (Cli *cli, const Clu *clu, const struct MdlKernels *kernels)
{
  const RepEnvelope envelope = cli_envelope (cli);
  if (cli->format == CLI_FORMAT_JSON) {
    JsonBuilder *json = cli_json_open (cli);
    rep_ladder_json (clu, kernels, json);
    cli_json_close (cli, json);
  } else if (cli->format == CLI_FORMAT_TSV)
    cli_rows (cli, rep_ladder_table (clu, kernels));
  else {
    g_autoptr (GString) header = g_string_new (NULL);
    rep_header_title (header, &envelope, "topo --ladder");
    rep_header_cluster (header, clu);
    rep_ladder_text (clu, kernels, header->str, cli->out);
  }
}

static void
write_topo (Cli *cli, const Clu *clu, const Path *path)
{
  RepEnvelope envelope = cli_envelope (cli);
  if (cli->format == CLI_FORMAT_JSON) {
    JsonBuilder *json = cli_json_open (cli);
    if (path != NULL)
      rep_path_json (clu, path->from, path->to, &path->route, json);
    else
      rep_topo_json (clu, json);
    cli_json_close (cli, json);
  } else if (cli->format == CLI_FORMAT_TSV) {
    if (path != NULL)
      cli_rows (cli, rep_path_table (clu, &path->route));
    else
      cli_rows (cli, rep_topo_table (clu));
  } else {
    g_autoptr (GString) header = g_string_new (NULL);
    rep_header_title (header, &envelope, "topo");
    rep_header_cluster (header, clu);
    if (path != NULL)
      rep_path_text (clu, path->from, path->to, &path->route, header->str, cli->out);
    else
      rep_topo_text (clu, header->str, cli->out);
  }
}

/* The constants of a calibration, NULL: the GPU type's; NULL and *error. */
static const MdlLibrary *
constants_of (Cli *cli, const char *name, const Clu *clu, GError **error)
{
  g_autoptr (BaseDiag) diag = base_diag_new ();
  const CluGpuSpec *gpu = clu_gpu_spec (clu, 0);
  const MdlLibraryQuery query = {
    .name = name, .gpu_type = gpu != NULL ? gpu->name.v : NULL, .inputs = cli->yamls, .warnings = diag
  };
  const MdlLibrary *library = cst_store_load (&cli->constants, &query, error);
  cli_warn_all (cli, diag);
  if (library != NULL)
    cli_take_inputs (cli, cli->yamls);
  return library;
}

static gboolean
check_flags (Cli *cli, const Flags *flags, char **words, GError **error)
{
  if (words[0] == NULL)
    return cli_fail (cli, error, "which topology? a file, or a name of forerun list topologies");
  if (words[1] != NULL)
    return cli_fail (cli, error, "one topology at a time, and '%s' is one too many%s", words[1],
                     flags->path != NULL ? "; --path takes two devices: --path gpu0 node1.gpu3" : "");
  if (flags->path != NULL && g_strv_length (flags->path) != 2)
    return cli_fail (cli, error, "--path takes two devices, once: --path gpu0 node1.gpu3");
  if (flags->dot && flags->path != NULL)
    return cli_fail (cli, error, "--dot draws the whole graph and --path shows one route: use one of them");
  if (flags->ladder && (flags->dot || flags->path != NULL))
    return cli_fail (cli, error, "--ladder shows levels, --dot the graph and --path one route: use one of them");
  if (flags->no_fold && !flags->dot)
    return cli_fail (cli, error, "--no-fold goes with --dot, which draws nodes and switches that are alike as one");
  if (flags->dot && cli->format_text != NULL)
    return cli_fail (cli, error, "--dot is a format of its own and excludes --format");
  return TRUE;
}

static gboolean
run (Cli *cli, const void *data, char **words, GError **error)
{
  const Flags *flags = data;
  guint64 nodes = 0;
  if (!check_flags (cli, flags, words, error))
    return FALSE;
  if (!cli_count_value (cli, "-n", flags->nodes, 1, 1000000, &nodes, error))
    return FALSE;
  if (nodes == 0 && flags->ladder)
    nodes = 2;
  g_autoptr (Clu) clu = cli_cluster_load (cli, words[0], (guint32)nodes, error);
  if (clu == NULL)
    return FALSE;
  const gboolean measured = flags->calibration != NULL, asks = measured || flags->ladder;
  const MdlLibrary *constants = asks ? constants_of (cli, flags->calibration, clu, error) : NULL;
  if (asks && (constants == NULL || (measured && !clu_links_set (clu, mdl_library_links (constants), error))))
    return FALSE;
  if (flags->ladder) {
    write_ladder (cli, clu, constants->kernels);
    return TRUE;
  }
  if (flags->dot) {
    rep_topo_dot (clu, !flags->no_fold, cli->out);
    cli->document = TRUE;
    return TRUE;
  }
  Path path = { 0 };
  clu_route_init (&path.route);
  gboolean done = flags->path == NULL || find_path (cli, clu, flags->path, &path, error);
  if (done)
    write_topo (cli, clu, flags->path != NULL ? &path : NULL);
  clu_route_clear (&path.route);
  return done;
}

const CliVerb cli_verb_topo = {
  .name = "topo",
  .summary = "show a topology: devices, links and the rates they reach, bisection, paths",
  .usage = "TOPOLOGY [flags]",
  .example = "forerun topo hgx_h200 -n 2 --path gpu0 node1.gpu3",
  .completes = "topologies",
  .notes = "TOPOLOGY is a shipped name or alias (forerun list topologies), or a file. Names of devices: gpu9, node1.gpu1, "
           "node0.nic3, node0.host, node0.nvme2, storage.NAME. Rates are for one direction. The rate reached is the specified rate "
           "times the efficiency of the link.\n",
  .flags = { flags_table },
  .size = sizeof (Flags),
  .formats = CLI_FORMAT_CSV,
  .varies = TRUE,
  .run = run,
};
