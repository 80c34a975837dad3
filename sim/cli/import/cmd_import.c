/* forerun import: what a machine says of itself, as a topology or calibration file, and what was measured on it, as CSV. */
#include <string.h>

#include "base/file.h"
#include "calibrate/import.h"
#include "cli-private.h"
#include "cluster/import.h"
#include "import/import_measured-private.h"
#include "import/import_trace-private.h"
#include "serving/deployment.h"
#include "serving/vllm_log.h"
#include "training/llm.h"

#define MAX_LOG_B ((gsize)1 << 30) /* of all ranks, for hours */

typedef struct {
  CliImportFlags measured; /* first: its table has offsets in it */
  char *name, *gpu, *choices, *like, *only, *step, *ranks;
  gboolean keep_nccl, kernels;
} Flags;

static const CliFlag flags_table[] = {
  { CLI_FLAG_HEADING, "topology, calibration or model", 0, 0, NULL, NULL },
  { CLI_FLAG_TEXT, "name", 0, offsetof (Flags, name), "N", "name of the result (default: that of the file, or of its folder)" },
  { CLI_FLAG_TEXT, "gpu", 0, offsetof (Flags, gpu), "TYPE", "GPU type, if the input does not name it (forerun list gpus)" },
  { CLI_FLAG_TEXT, "like", 0, offsetof (Flags, like), "TOPOLOGY",
    "slurm-topology, aws-topology, infragraph, kineto, nsys: every node is like those of this topology" },
  { CLI_FLAG_TEXT, "only", 0, offsetof (Flags, only), "NAME",
    "slurm-topology: read this topology of topology.yaml (default: the cluster's)" },
  { CLI_FLAG_TEXT, "step", 0, offsetof (Flags, step), "N",
    "kineto, nsys: the step to take, as the trace numbers them (default: of median length)" },
  { CLI_FLAG_TEXT, "ranks", 0, offsetof (Flags, ranks), "N", "nsys: ranks of the run that was recorded" },
  { CLI_FLAG_SWITCH, "keep-nccl", 0, offsetof (Flags, keep_nccl), NULL,
    "kineto, nsys: NCCL's kernels without a size keep the times that were recorded" },
  { CLI_FLAG_SWITCH, "kernels", 0, offsetof (Flags, kernels), NULL,
    "kineto: times of kernels by shape, for forerun fit, instead of a scenario (traces with record_shapes=True)" },
  { CLI_FLAG_OUTPUT, "choices", 0, offsetof (Flags, choices), "FILE.csv",
    "nccl-log: also write the algorithm that NCCL chose for each size" },
  { CLI_FLAG_HEADING, NULL, 0, 0, NULL, NULL },
};

enum {
  NCCL_TOPO,
  SMI_TOPO,
  NCCL_LOG,
  NCCL_GRAPH,
  HF_CONFIG,
  SLURM,
  AWS,
  LSTOPO,
  NUMACTL,
  NVLINK,
  DCGM,
  IBSTAT,
  VLLM_LOG,
  DEPLOYMENT,
  INFRAGRAPH
};
static const char *const kinds[] = { "nccl-topo",      "nvidia-smi-topo", "nccl-log", "nccl-graph", "hf-config",
                                     "slurm-topology", "aws-topology",    "lstopo",   "numactl",    "nvidia-smi-nvlink",
                                     "dcgm",           "ibstat",          "vllm-log", "deployment",
                                     "infragraph",     NULL };

/* Kinds that one function turns into a topology. */
static const struct {
  int kind;
  char *(*read) (const CluImport *input, GError **error);
} topologies[] = {
  { NCCL_TOPO, clu_import_nccl_topo }, { SMI_TOPO, clu_import_nvidia_smi_topo },
  { LSTOPO, clu_import_lstopo },       { NUMACTL, clu_import_numactl },
  { NVLINK, clu_import_nvlink },       { DCGM, clu_import_dcgm },
  { IBSTAT, clu_import_ibstat },
};

/* All kinds, traces and the measured ones last. Returned: full. */
static char **
all_kinds (void)
{
  GPtrArray *all = g_ptr_array_new ();
  for (const char *const *kind = kinds; *kind != NULL; kind++)
    g_ptr_array_add (all, g_strdup (*kind));
  for (guint i = 0; cli_import_trace_kind (i) != NULL; i++)
    g_ptr_array_add (all, g_strdup (cli_import_trace_kind (i)));
  for (const BaseName *tool = cal_tool_names; tool->name != NULL; tool++)
    g_ptr_array_add (all, g_strdup (tool->name));
  g_ptr_array_add (all, NULL);
  return (char **)g_ptr_array_free (all, FALSE);
}

/* What only topologies and calibrations have, and what only measurements have. */
static gboolean
check_flags (const Cli *cli, const Flags *flags, const char *kind, GError **error)
{
  if (!cli_import_is_measured (kind)) {
    const CliImportFlags *measured = &flags->measured;
    gboolean any = measured->op != NULL || measured->algo != NULL || measured->proto != NULL || measured->launch != NULL ||
                   measured->nodes != NULL || measured->gpus != NULL || measured->nccl != NULL || measured->bytes != NULL;
    return any ? cli_import_measured_check (cli, kind, measured, error) : TRUE;
  }
  if (flags->name != NULL || flags->gpu != NULL || flags->choices != NULL)
    return cli_fail (cli, error, "%s has no meaning for %s, of which CSV is made",
                     flags->name != NULL  ? "--name"
                     : flags->gpu != NULL ? "--gpu"
                                          : "--choices",
                     kind);
  return cli_import_measured_check (cli, kind, &flags->measured, error);
}

/* Times of kernels: what scenarios alone have. */
static gboolean
check_kernels (const Cli *cli, const Flags *flags, const char *kind, GError **error)
{
  const struct {
    const char *name;
    gboolean set;
  } others[] = { { "--like", flags->like != NULL },
                 { "--name", flags->name != NULL },
                 { "--nodes", flags->measured.nodes != NULL },
                 { "--gpus", flags->measured.gpus != NULL },
                 { "--keep-nccl", flags->keep_nccl },
                 { "--format json", cli->format == CLI_FORMAT_JSON } };
  if (strcmp (kind, "kineto") != 0)
    return cli_fail (cli, error, "--kernels goes with kineto: Nsight Systems does not record the shapes of operations");
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    if (others[i].set)
      return cli_fail (cli, error, "%s has no meaning with --kernels, which writes the JSON of a probe", others[i].name);
  return TRUE;
}

/* Of a trace: files of several ranks. */
static gboolean
check_trace (const Cli *cli, const Flags *flags, const char *kind, GError **error)
{
  const CliImportFlags *m = &flags->measured;
  const struct {
    const char *name, *value;
  } others[] = { { "--gpu", flags->gpu },   { "--choices", flags->choices }, { "--only", flags->only },
                 { "--op", m->op },         { "--algo", m->algo },           { "--proto", m->proto },
                 { "--launch", m->launch }, { "--nccl-version", m->nccl },   { "--copy", m->bytes } };
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    if (others[i].value != NULL)
      return cli_fail (cli, error, "%s has no meaning for %s", others[i].name, kind);
  if (flags->kernels && !check_kernels (cli, flags, kind, error))
    return FALSE;
  if (!flags->kernels && flags->like == NULL)
    return cli_fail (cli, error, "a trace does not say what a node is: --like TOPOLOGY names one (forerun list topologies)");
  if (flags->ranks != NULL && strcmp (kind, "kineto") == 0)
    return cli_fail (cli, error, "--ranks has no meaning for kineto, which says it");
  if (flags->name != NULL && *flags->name == '\0')
    return cli_fail (cli, error, "--name '' is empty");
  if (cli->sets != NULL)
    return cli_fail (cli, error, "--set has no meaning here: change the file that comes out");
  return TRUE;
}

static gboolean
check_words (const Cli *cli, const Flags *flags, char **words, GError **error)
{
  guint n = g_strv_length (words);
  g_auto (GStrv) known = all_kinds ();
  if (n == 0) {
    g_autofree char *accepted = g_strjoinv (", ", known);
    return cli_fail (cli, error, "which kind of file? accepted: %s", accepted);
  }
  if (!g_strv_contains ((const char *const *)known, words[0])) {
    g_autofree char *accepted = base_accepted (words[0], (const char *const *)known, "forerun import");
    return cli_fail (cli, error, "kind '%s' is not known%s", words[0], accepted);
  }
  if (n == 1)
    return cli_fail (cli, error, "which file? - reads stdin");
  if (cli_import_is_trace (words[0]))
    return check_trace (cli, flags, words[0], error);
  if (n > 2)
    return cli_fail (cli, error, "one file at a time, and '%s' is one too many", words[2]);
  if (flags->step != NULL || flags->ranks != NULL || flags->keep_nccl || flags->kernels)
    return cli_fail (cli, error, "%s goes with kineto%s",
                     flags->step != NULL    ? "--step"
                     : flags->ranks != NULL ? "--ranks"
                     : flags->keep_nccl     ? "--keep-nccl"
                                            : "--kernels",
                     flags->kernels ? "" : " and nsys");
  if (!check_flags (cli, flags, words[0], error))
    return FALSE;
  gboolean graphs = g_str_equal (words[0], kinds[NCCL_LOG]) || g_str_equal (words[0], kinds[NCCL_GRAPH]);
  if (graphs && flags->gpu == NULL)
    return cli_fail (cli, error,
                     "%s does not say which GPUs ran: --gpu TYPE names the calibration that the graphs stand over (e.g. h100_sxm)",
                     words[0]);
  gboolean slurm = g_str_equal (words[0], kinds[SLURM]);
  if (slurm && flags->like == NULL)
    return cli_fail (cli, error, "Slurm does not say what a node is: --like TOPOLOGY names one whose nodes are such (hgx_h200)");
  gboolean aws = g_str_equal (words[0], kinds[AWS]), infragraph = g_str_equal (words[0], kinds[INFRAGRAPH]);
  if (infragraph && flags->like == NULL)
    return cli_fail (cli, error,
                     "InfraGraph names no types of GPUs and NICs: --like TOPOLOGY names one whose nodes are such (hgx_h100)");
  if (!slurm && !infragraph && !aws && flags->like != NULL)
    return cli_fail (cli, error, "--like goes with slurm-topology, aws-topology and infragraph");
  if (!slurm && flags->only != NULL)
    return cli_fail (cli, error, "--only goes with slurm-topology");
  if (flags->gpu != NULL && (slurm || aws || infragraph))
    return cli_fail (cli, error, "--gpu has no meaning for %s: --like says what a node is", words[0]);
  if (flags->choices != NULL && !g_str_equal (words[0], kinds[NCCL_LOG]))
    return cli_fail (cli, error, "--choices has no meaning for %s; nccl-log tells them", words[0]);
  if (flags->gpu != NULL && strcmp (words[0], kinds[HF_CONFIG]) == 0)
    return cli_fail (cli, error, "--gpu has no meaning for hf-config, which is a model's");
  if (flags->name != NULL && *flags->name == '\0')
    return cli_fail (cli, error, "--name '' is empty");
  if (cli->sets != NULL)
    return cli_fail (cli, error, "--set has no meaning here: change the file that comes out");
  return TRUE;
}

/* "topo dump.v2.xml" gives topo_dump. */
static char *
name_from (const char *path)
{
  if (strcmp (path, "-") == 0)
    return g_strdup ("imported");
  char *name = g_path_get_basename (path);
  char *dot = strchr (name, '.');
  if (dot != NULL && dot != name)
    *dot = '\0';
  for (char *c = name; *c != '\0'; c++)
    if (!g_ascii_isalnum (*c) && *c != '-' && *c != '_')
      *c = '_';
  return name;
}

/* As tests/data/h200x8/nccl_choices.csv has them. */
static gboolean
write_choices (Cli *cli, const Flags *flags, const GArray *choices, GError **error)
{
  if (flags->choices == NULL)
    return TRUE;
  if (choices->len == 0)
    cli_warn (cli, "the log tells no choices ('… Bytes -> Algo …'); NCCL_DEBUG_SUBSYS=TUNING logs them");
  GString *out = g_string_new ("gpus,op,bytes,algo,proto,channels\n");
  for (guint i = 0; i < choices->len; i++) {
    const CalChoice *choice = &g_array_index (choices, CalChoice, i);
    g_string_append_printf (out, "%u,%s,%" G_GUINT64_FORMAT ",%s,%s,%u\n", choice->ranks, base_name (mdl_op_names, (int)choice->op),
                            choice->bytes, base_name (mdl_algo_names, choice->algo), base_name (mdl_proto_names, choice->proto),
                            choice->channels);
  }
  return cli_add_file (cli, "--choices", flags->choices, out, error);
}

/* A model's file, its counts in the head. Returned: full; NULL and *error on failure. */
static char *
import_hf_config (Cli *cli, const Flags *flags, const char *path, const char *bytes, gsize n_B, BaseDiag *diag, GError **error)
{
  BaseYaml *yaml = base_yaml_load_data (path, bytes, n_B, error);
  if (yaml == NULL)
    return NULL;
  g_ptr_array_add (cli->kept, yaml);
  const BaseSchemaContext context = {
    .arena = base_yaml_arena (yaml), .diag = diag, .lookup = cli->lookup, .source = BASE_SOURCE_DATASHEET, .inputs = cli->kept
  };
  MdlLlm llm = { .head = { .set = FALSE } };
  const char *name = flags->name != NULL ? flags->name : strcmp (path, "stdin") == 0 ? "imported" : NULL;
  if (!trn_llm_read_hf (yaml, name, &context, &llm) || !trn_llm_settle (&llm, diag)) {
    base_diag_finish (diag, error);
    return NULL;
  }
  MdlLlmCount count;
  mdl_llm_count (&llm, &count);
  g_autofree char *text = trn_llm_write (&llm);
  return g_strdup_printf ("# %.0f parameters, of which a token uses %.0f\n%s", count.total, count.active, text);
}

/* `like`: the topology that has such nodes; `origin`: as CluSlurmLike has it. Returned: full; NULL and *error on failure. */
static char *
import_like (Cli *cli, const Flags *flags, const CluImport *input, const char *name, const char *origin,
             char *(*read) (const CluImport *input, const CluSlurmLike *like, GError **error), GError **error)
{
  g_autofree char *like_path = base_lookup_find (cli->lookup, name, "topologies", NULL, error), *text = NULL;
  gsize text_B;
  if (like_path == NULL) {
    g_prefix_error (error, "forerun %s: --like: ", cli->verb->name);
    return NULL;
  }
  g_autoptr (Clu) clu = cli_cluster_load (cli, name, 0, error);
  if (clu == NULL || !base_file_read (like_path, BASE_YAML_MAX_B, &text, &text_B, error))
    return NULL;
  CluSlurmLike like = { clu_name (clu), text, clu_node_n (clu, 0, CLU_DEV_NIC), flags->only, origin, clu_gpus_per_node (clu, 0) };
  return read (input, &like, error);
}

static char *
import_aws (Cli *cli, const Flags *flags, const CluImport *input, GError **error)
{
  const char *like = NULL;
  g_autofree char *conf = clu_import_aws_conf (input, &like, error);
  if (conf == NULL)
    return NULL;
  if (flags->like == NULL && like == NULL) {
    cli_fail (cli, error, "no topology of this instance type is shipped: --like TOPOLOGY names one whose nodes are such (p5)");
    return NULL;
  }
  CluImport tree = *input;
  tree.bytes = conf;
  tree.n_B = strlen (conf);
  return import_like (cli, flags, &tree, flags->like != NULL ? flags->like : like, "EC2", clu_import_slurm_topology, error);
}

/* What comes out, by kind, YAML or CSV. Returned: full; NULL and *error on failure. */
static char *
convert (Cli *cli, const Flags *flags, const char *kind, const CalText *text, const char *name, GError **error)
{
  if (cli_import_is_measured (kind))
    return cli_import_measured (cli, kind, &flags->measured, text, error);
  const CluImport topology = { text->path, text->bytes, text->n_B, name, flags->gpu, cli->lookup, text->warnings };
  for (size_t i = 0; i < G_N_ELEMENTS (topologies); i++)
    if (g_str_equal (kind, kinds[topologies[i].kind]))
      return topologies[i].read (&topology, error);
  if (g_str_equal (kind, kinds[HF_CONFIG]))
    return import_hf_config (cli, flags, text->path, text->bytes, text->n_B, text->warnings, error);
  if (g_str_equal (kind, kinds[VLLM_LOG]))
    return srv_import_vllm_log (text->path, text->bytes, text->n_B, error);
  if (g_str_equal (kind, kinds[DEPLOYMENT]))
    return srv_import_deployment (text->path, text->bytes, text->n_B, error);
  if (g_str_equal (kind, kinds[SLURM]))
    return import_like (cli, flags, &topology, flags->like, NULL, clu_import_slurm_topology, error);
  if (g_str_equal (kind, kinds[INFRAGRAPH]))
    return import_like (cli, flags, &topology, flags->like, NULL, clu_import_infragraph, error);
  if (g_str_equal (kind, kinds[AWS]))
    return import_aws (cli, flags, &topology, error);
  if (g_str_equal (kind, kinds[NCCL_GRAPH]))
    return cal_import_nccl_graph (text, name, flags->gpu, error);
  g_autoptr (GArray) choices = g_array_new (FALSE, FALSE, sizeof (CalChoice));
  g_autofree char *yaml = cal_import_nccl_log (text, name, flags->gpu, choices, error);
  return yaml != NULL && write_choices (cli, flags, choices, error) ? g_steal_pointer (&yaml) : NULL;
}

static gboolean
run (Cli *cli, const void *data, char **words, GError **error)
{
  const Flags *flags = data;
  if (!check_words (cli, flags, words, error))
    return FALSE;
  if (cli_import_is_trace (words[0])) {
    g_autofree char *name = flags->name != NULL ? g_strdup (flags->name) : name_from (words[1]);
    const CliImportTrace query = {
      words[0], name, flags->like, flags->step, flags->measured.nodes, flags->measured.gpus, flags->ranks, flags->keep_nccl,
      flags->kernels
    };
    return cli_lookup (cli, error) && cli_import_trace (cli, &query, words + 1, error);
  }
  gboolean measured = cli_import_is_measured (words[0]);
  if (!measured && !cli_lookup (cli, error))
    return FALSE;
  const char *path = strcmp (words[1], "-") == 0 ? "stdin" : words[1];
  gsize n_B;
  gsize max_B = measured                                  ? cli_import_measured_max_B (words[0])
                : g_str_equal (words[0], kinds[NCCL_LOG]) ? MAX_LOG_B
                                                          : BASE_YAML_MAX_B;
  g_autofree char *bytes = NULL;
  if (!base_file_read (words[1], max_B, &bytes, &n_B, error))
    return FALSE;
  if (strcmp (words[1], "-") != 0)
    g_ptr_array_add (cli->read, g_strdup (words[1]));
  g_autofree char *name = flags->name != NULL ? g_strdup (flags->name) : name_from (words[1]);
  g_autoptr (BaseDiag) diag = base_diag_new ();
  g_autofree char *answer = convert (cli, flags, words[0], &(CalText){ path, bytes, n_B, diag }, name, error);
  cli_warn_all (cli, diag);
  if (answer == NULL)
    return FALSE;
  if (cli->format != CLI_FORMAT_JSON) {
    g_string_append (cli->out, answer);
    cli->document = TRUE;
    return TRUE;
  }
  rep_inputs_add (cli->inputs, path, NULL, bytes, n_B);
  JsonBuilder *json = cli_json_open (cli);
  json_builder_begin_object (json);
  gboolean graphs = g_str_equal (words[0], kinds[NCCL_LOG]) || g_str_equal (words[0], kinds[NCCL_GRAPH]);
  gboolean model = g_str_equal (words[0], kinds[HF_CONFIG]);
  const gboolean serving = g_str_equal (words[0], kinds[VLLM_LOG]);
  json_builder_set_member_name (json, measured  ? "measurements"
                                      : serving ? "serving"
                                      : graphs  ? "calibration"
                                      : model   ? "llm"
                                                : "topology");
  json_builder_add_string_value (json, measured ? words[0] : name);
  json_builder_set_member_name (json, measured ? "csv" : "yaml");
  json_builder_add_string_value (json, answer);
  json_builder_end_object (json);
  cli_json_close (cli, json);
  return TRUE;
}

const CliVerb cli_verb_import = {
  .name = "import",
  .summary = "make topology, calibration, model and scenario files, and CSV, from output of other tools",
  .usage = "KIND FILE... [flags]",
  .example = "forerun import nccl-topo topo.xml --name my_node -o my_node.yaml",
  .completes = "=nccl-topo nvidia-smi-topo nccl-log nccl-graph slurm-topology aws-topology lstopo numactl nvidia-smi-nvlink dcgm "
               "ibstat vllm-log deployment infragraph hf-config kineto nsys "
               "nccl-tests all-reduce-bench nvbandwidth p2p-bandwidth-test fio gdsio "
               "perftest osu",
  .notes = "A topology is made from nccl-topo (the XML that NCCL_TOPO_DUMP_FILE writes, of NCCL or RCCL), nvidia-smi-topo (the "
           "output of nvidia-smi topo -m), lstopo (the XML of lstopo --of xml, hwloc 2), slurm-topology (topology.conf or "
           "topology.yaml of Slurm, with --like TOPOLOGY for the node), infragraph (an infrastructure of MLCommons' InfraGraph, "
           "YAML or JSON, with --like too), or aws-topology (JSON of aws ec2 describe-instance-topology). numactl (numactl -H) and "
           "ibstat say a part of a node, and take --gpu TYPE for the rest; nvidia-smi-nvlink (nvidia-smi nvlink -s) and "
           "dcgm (dcgmi discovery -l, dcgmi nvlink -s) name the GPUs themselves.\n"
           "A calibration with the channels of NCCL is made from nccl-log (NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,GRAPH,TUNING) or "
           "nccl-graph (the XML that NCCL_GRAPH_DUMP_FILE writes).\n"
           "Keys of a serving workload (engine, parallel) are made from vllm-log: the log of vLLM's start, with the size of its KV "
           "cache. deployment takes a DynamoGraphDeployment, or values of llm-d's chart of model servers.\n"
           "A model (scenarios/llms) is made from hf-config: config.json of HuggingFace (docs/llms.md lists the model types).\n"
           "A scenario is made from kineto (JSON of torch.profiler, plain or .gz, one file for each rank) or nsys (Nsight Systems: "
           "SQLite of nsys export, CSV of its cuda_gpu_trace): a step's kernels, its NCCL calls and what waits for what, to run on "
           "other nodes and numbers of GPUs (--like, --nodes, --gpus; docs/traces.md). With --kernels, kineto gives times of "
           "kernels instead, which forerun fit turns into a calibration (docs/fit.md).\n"
           "CSV is made from measurements: nccl-tests (text or JSON; for validate), all-reduce-bench (all_reduce_bench.py), "
           "nvbandwidth (text or JSON), p2p-bandwidth-test (the CUDA sample p2pBandwidthLatencyTest), fio (JSON), gdsio, perftest "
           "(ib_write_bw and its kind, text or JSON) and osu (OSU Micro-Benchmarks). docs/measurements.md lists columns and "
           "units.\n"
           "FILE - reads stdin. Values that the file lacks are assumed; they are marked as assumed, with a warning.\n",
  .flags = { flags_table, cli_import_flags },
  .size = sizeof (Flags),
  .formats = CLI_FORMAT_JSON,
  .run = run,
};
