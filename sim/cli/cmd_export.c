/* forerun export: a cluster, and what forerun would take on it, as other programs read them. */
#include <string.h>

#include "base/text.h"
#include "cluster/hostlist.h"
#include "comm-private.h"
#include "export-private.h"
#include "plan-private.h"
#include "report/plan.h"
#include "report/slurm.h"
#include "report/topo.h"
#include "scenario-private.h"
#include "shared/filetype-private.h"

typedef struct {
  FrCollFlags coll; /* first: the tables that it shares with others fill it */
  char *hosts, *plugin, *row;
  gboolean yaml, no_fold;
} Flags;
G_STATIC_ASSERT (offsetof (Flags, coll) == 0);

static const CliFlag flags_table[] = {
  { CLI_FLAG_HEADING, "slurm-topology", 0, 0, NULL, NULL },
  { CLI_FLAG_TEXT, "hosts", 0, offsetof (Flags, hosts), "LIST",
    "names of the nodes in order, in Slurm notation: node[001-128,140]" },
  { CLI_FLAG_TEXT, "plugin", 0, offsetof (Flags, plugin), "P",
    "tree (default): switches; block: NVLink domains wider than a node" },
  { CLI_FLAG_SWITCH, "yaml", 0, offsetof (Flags, yaml), NULL, "write topology.yaml, not topology.conf" },
  { CLI_FLAG_HEADING, "sbatch, dynamo, llm-d", 0, 0, NULL, NULL },
  { CLI_FLAG_TEXT, "row", 0, offsetof (Flags, row), "N", "of a plan: the row of its answer (default: 1, the recommended option)" },
  { CLI_FLAG_HEADING, "dot", 0, 0, NULL, NULL },
  { CLI_FLAG_SWITCH, "no-fold", 0, offsetof (Flags, no_fold), NULL,
    "draw every node and switch, not one for each group of equal ones" },
  { CLI_FLAG_HEADING, NULL, 0, 0, NULL, NULL },
};

/* Slurm's files have no quotes: other characters would write other lines. */
#define HOST_SET G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "-_."

enum { SLURM, TUNER, DOT, GRES, SBATCH, DYNAMO, LLM_D };
static const BaseName kinds[] = { { "slurm-topology", SLURM, "topology.conf, or topology.yaml" },
                                  { "tuner-conf", TUNER, "what NCCL should take" },
                                  { "dot", DOT, "a picture" },
                                  { "slurm-gres", GRES, "gres.conf" },
                                  { "sbatch", SBATCH, "a batch script" },
                                  { "dynamo", DYNAMO, "a DynamoGraphDeployment" },
                                  { "llm-d", LLM_D, "values of llm-d's chart" },
                                  { NULL, 0, NULL } };
static const BaseName plugins[] = { { "tree", 0, NULL }, { "block", 1, NULL }, { NULL, 0, NULL } };

/* Names of the nodes: those given, else node0, node1 … Returned: full; NULL and *error. */
static GPtrArray *
hosts_of (const Cli *cli, const char *list, const Clu *clu, GError **error)
{
  g_autoptr (GPtrArray) hosts = g_ptr_array_new_with_free_func (g_free);
  guint32 n = clu_n_nodes (clu);
  for (guint32 i = 0; list == NULL && i < n; i++)
    g_ptr_array_add (hosts, g_strdup_printf ("node%u", i));
  if (list != NULL && !clu_hostlist_expand (list, hosts, NULL, error)) {
    g_autofree char *shown = base_text_escape (list, "");
    g_prefix_error (error, "forerun %s: --hosts '%s': ", cli->verb->name, shown);
    return NULL;
  }
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  for (guint i = 0; i < hosts->len; i++) {
    const char *host = hosts->pdata[i];
    if (!g_ascii_isalnum (*host) || host[strspn (host, HOST_SET)] != '\0') {
      cli_fail (cli, error, "--hosts: '%s' is not the name of a host; letters, digits, '-', '_' and '.' are accepted", host);
      return NULL;
    }
    if (!g_hash_table_add (seen, hosts->pdata[i])) {
      cli_fail (cli, error, "--hosts names '%s' twice; each node has a name of its own", host);
      return NULL;
    }
  }
  if (hosts->len == n)
    return g_steal_pointer (&hosts);
  cli_fail (cli, error, "--hosts names %u node%s, and %s has %u; -n says how many are built", hosts->len,
            hosts->len == 1 ? "" : "s", clu_name (clu), n);
  return NULL;
}

static gboolean
export_cluster (Cli *cli, const Flags *flags, int kind, const char *topology, GError **error)
{
  guint64 nodes = 0;
  int block = 0;
  if (flags->coll.topology != NULL)
    return cli_fail (cli, error, "--topology goes with tuner-conf; here the topology is a word: forerun export dot %s",
                     flags->coll.topology);
  if (!cli_count_value (cli, "-n", flags->coll.nodes, 1, 1000000, &nodes, error) ||
      !cli_name_value (cli, "--plugin", flags->plugin, plugins, &block, error))
    return FALSE;
  g_autoptr (Clu) clu = cli_cluster_load (cli, topology, (guint32)nodes, error);
  if (clu == NULL)
    return FALSE;
  if (kind == DOT) {
    rep_topo_dot (clu, !flags->no_fold, cli->out);
    return TRUE;
  }
  g_autoptr (GPtrArray) hosts = hosts_of (cli, flags->hosts, clu, error);
  if (hosts == NULL)
    return FALSE;
  const RepSlurm how = { .block = block == 1, .yaml = flags->yaml, .hosts = hosts, .version = FORERUN_VERSION };
  if (kind == GRES) {
    rep_slurm_gres (clu, &how, cli->out);
    return TRUE;
  }
  if (rep_slurm (clu, &how, cli->out, error))
    return TRUE;
  g_prefix_error (error, "forerun %s: ", cli->verb->name);
  return FALSE;
}

/* The script of a training scenario that ran; FALSE and *error where it is none. `about`: as of RepSbatch. */
static gboolean
write_sbatch (Cli *cli, const Scn *scenario, const ScnResult *result, const char *name, const char *about, GError **error)
{
  const TrnJob *job = scn_training (scenario);
  if (job == NULL)
    return cli_fail (cli, error, "'%s' is not one training step; a scenario with one workload of kind training is accepted", name);
  if (name[strspn (name, HOST_SET)] != '\0')
    return cli_fail (cli, error, "the name '%s'; letters, digits, '-', '_' and '.' are accepted in a script", name);
  const RepSbatch script = { name, about, job, &result->training, FORERUN_VERSION };
  rep_sbatch (scn_cluster (scenario), &script, cli->out);
  return TRUE;
}

static gboolean
export_scenario (Cli *cli, const char *scenario, GError **error)
{
  g_auto (CliScenarioRun) run = { 0 };
  const CliScenarioFlags flags = { 0 };
  return cli_scenario_run (cli, scenario, &flags, &run, error) &&
         write_sbatch (cli, run.scenario, run.result, scn_name (run.scenario), NULL, error);
}

/* What a script says of a plan's row. Returned: full. */
static char *
about_row (const Pln *plan, const PlnChoiceRow *row, guint64 number)
{
  static const double DAY_S = 86400;
  g_autofree char *choice = rep_plan_choice (plan, row);
  GString *about = g_string_new (NULL);
  g_string_append_printf (about, "# Row %" G_GUINT64_FORMAT " of plan %s: %s.\n", number, pln_name (plan), choice);
  if (pln_tokens (plan) > 0)
    g_string_append_printf (about, "# The run: %.3g tokens, %.1f days", pln_tokens (plan), row->run_s / DAY_S);
  if (pln_tokens (plan) > 0 && row->goodput < 1)
    g_string_append_printf (about, " with failures (goodput %.1f %%)", row->goodput * 100);
  g_string_append (about, pln_tokens (plan) > 0 ? "; start it again until it is done.\n" : "");
  return g_string_free (about, FALSE);
}

/* The same row as `forerun plan` shows it by default. */
static gboolean
export_plan (Cli *cli, const char *word, guint64 number, GError **error)
{
  const FrPlanFlags flags = { 0 };
  FrPlanCounts counts;
  g_autofree char *path = NULL;
  if (!fr_plan_counts (cli->verb->name, &flags, 1, &counts, error))
    return FALSE;
  g_autoptr (Pln) plan = cli_plan_load (cli, word, &path, error);
  if (plan == NULL)
    return FALSE;
  const PlnQuery query = fr_plan_query (&flags, &counts, plan);
  g_autoptr (PlnResult) result = pln_search (plan, &query, error);
  if (result == NULL)
    return FALSE;
  g_autofree char *infeasible = rep_plan_infeasible (result);
  if (infeasible != NULL)
    return base_fail (error, BASE_ERROR_INFEASIBLE, "forerun export: %s", infeasible);
  if (number > result->rows->len)
    return cli_fail (cli, error, "--row %" G_GUINT64_FORMAT ": the answer of '%s' has %u row%s", number, pln_name (plan),
                     result->rows->len, result->rows->len == 1 ? "" : "s");
  const PlnChoiceRow *row = &g_array_index (result->rows, PlnChoiceRow, number - 1);
  Scn *scenario = NULL;
  ScnResult *run = pln_run (plan, row, FALSE, &scenario, error);
  g_autofree char *about = about_row (plan, row, number);
  const gboolean good = run != NULL && write_sbatch (cli, scenario, run, pln_name (plan), about, error);
  scn_result_free (run);
  scn_free (scenario);
  return good;
}

/* Whether a word is a plan: a name that no scenario has, or a file that begins so. */
static gboolean
is_plan (const Cli *cli, const char *word)
{
  g_autofree char *path = fr_scenario_path (cli->lookup, word, NULL), *plan = fr_plan_path (cli->lookup, word, NULL);
  if (path == NULL)
    return plan != NULL;
  g_autoptr (BaseYaml) yaml = base_yaml_load_file (path, NULL);
  const CliFileType *type = NULL;
  return yaml != NULL && cli_file_type (yaml, &type, NULL) && type->kind == CLI_FILE_PLAN;
}

static gboolean
export_sbatch (Cli *cli, const char *word, const char *row, GError **error)
{
  guint64 number = 1;
  if (!cli_count_value (cli, "--row", row, 1, 1000000, &number, error) || !cli_lookup (cli, error))
    return FALSE;
  if (strcmp (word, "-") != 0 && is_plan (cli, word))
    return export_plan (cli, word, number, error);
  if (row != NULL)
    return cli_fail (cli, error, "--row goes with a plan, and '%s' is none", word);
  return export_scenario (cli, word, error);
}

static gboolean
run (Cli *cli, const void *data, char **words, GError **error)
{
  cli->document = TRUE;
  const Flags *flags = data;
  int kind = -1;
  g_autofree char *accepted = base_names_join (kinds);
  if (words[0] == NULL)
    return cli_fail (cli, error, "which format? accepted: %s", accepted);
  if (!cli_name_value (cli, "kind", words[0], kinds, &kind, error))
    return FALSE;
  if (words[1] == NULL)
    return cli_fail (cli, error,
                     kind == TUNER    ? "of which operation? all_reduce, all_gather …"
                     : kind >= DYNAMO ? "which plan for a service? a file, or a name of forerun list plans"
                     : kind == SBATCH ? "which scenario or plan? a file, or a name of forerun list scenarios or plans"
                                      : "which topology? a file, or a name of forerun list topologies");
  if (words[2] != NULL)
    return cli_fail (cli, error, "one at a time, and '%s' is one too many; flags begin with '-'", words[2]);
  gboolean slurm = flags->plugin != NULL || flags->yaml;
  if (kind != SLURM && (slurm || (kind != GRES && flags->hosts != NULL)))
    return cli_fail (cli, error, "--hosts, --plugin and --yaml go with slurm-topology, --hosts with slurm-gres too");
  if (kind == SBATCH)
    return export_sbatch (cli, words[1], flags->row, error);
  if (kind == DYNAMO || kind == LLM_D)
    return cli_fleet_export (cli, words[1], flags->row, kind == DYNAMO ? PLN_FLEET_DYNAMO : PLN_FLEET_LLM_D, error);
  if (flags->row != NULL)
    return cli_fail (cli, error, "--row goes with sbatch, dynamo and llm-d");
  if (kind != DOT && flags->no_fold)
    return cli_fail (cli, error, "--no-fold goes with dot");
  return kind == TUNER ? cli_export_tuner_conf (cli, &flags->coll, words + 1, error)
                       : export_cluster (cli, flags, kind, words[1], error);
}

const CliVerb cli_verb_export = {
  .name = "export",
  .summary = "write a cluster for Slurm or Graphviz, or a tuner file for NCCL",
  .usage = "KIND TOPOLOGY|SCENARIO|PLAN|OP [flags]",
  .example = "forerun export slurm-topology hgx_h200 -n 128 --hosts 'gpu[001-128]' -o topology.conf",
  .completes = "=slurm-topology slurm-gres sbatch dynamo llm-d dot tuner-conf",
  .notes =
      "slurm-topology writes topology.conf or topology.yaml. slurm-gres writes gres.conf: the GPUs of each node, the cores of "
      "their socket, and the NVLinks between them. sbatch simulates a training scenario, or a row of a plan's answer, and "
      "writes a batch script with its nodes and parallel layout. dynamo and llm-d search a plan for a service and write its row as "
      "a DynamoGraphDeployment or as values of llm-d's Helm chart. tuner-conf writes the file of forerun compare --tuner-conf and "
      "takes the same flags. dot prints the graph of forerun topo --dot. To read topologies of Slurm, use forerun import "
      "slurm-topology.\n",
  .flags = { flags_table, cli_coll_flags_where, cli_coll_flags_sizes, cli_coll_flags_how },
  .size = sizeof (Flags),
  .formats = CLI_FORMAT_TEXT,
  .run = run,
};
