/* forerun import: what a machine says of itself, as a topology file. */
#include <string.h>

#include "cli-private.h"
#include "cluster/import.h"

typedef struct {
  char *name, *gpu;
} Flags;

static const CliFlag flags_table[] = {
  { CLI_FLAG_HEADING, "topology", 0, 0, NULL, NULL },
  { CLI_FLAG_TEXT, "name", 0, offsetof (Flags, name), "N", "name of the topology (default: the file's name)" },
  { CLI_FLAG_TEXT, "gpu", 0, offsetof (Flags, gpu), "TYPE", "GPU type, where the input does not say (forerun list gpus)" },
  { CLI_FLAG_HEADING, NULL, 0, 0, NULL, NULL },
};

static const char *const kinds[] = { "nccl-topo", "nvidia-smi-topo", NULL };
static const char *const planned[] = { "hf-config", "nccl-tests", "nvbandwidth",        "fio", "gdsio", "slurm-topology",
                                       "nccl-log",  "nccl-graph", "p2p-bandwidth-test", NULL };

static gboolean
check_words (const Cli *cli, const Flags *flags, char **words, GError **error)
{
  guint n = g_strv_length (words);
  g_autofree char *accepted = g_strjoinv (", ", (char **)kinds);
  if (n == 0)
    return cli_fail (cli, error, "which kind of file? accepted: %s", accepted);
  if (g_strv_contains (planned, words[0]))
    return cli_fail (cli, error, "import of %s is not built yet; accepted: %s", words[0], accepted);
  if (!g_strv_contains (kinds, words[0])) {
    g_autofree char *hint = base_hint (words[0], kinds);
    return cli_fail (cli, error, "kind '%s' is not known%s; accepted: %s", words[0], hint, accepted);
  }
  if (n == 1)
    return cli_fail (cli, error, "which file? - reads stdin");
  if (n > 2)
    return cli_fail (cli, error, "one file at a time, and '%s' is one too many", words[2]);
  if (flags->gpu != NULL && strcmp (words[0], "nccl-topo") == 0)
    return cli_fail (cli, error, "--gpu has no meaning for nccl-topo, whose file says the GPU type itself");
  if (flags->name != NULL && *flags->name == '\0')
    return cli_fail (cli, error, "--name '' is empty");
  if (cli->sets != NULL)
    return cli_fail (cli, error, "--set has no meaning here: change the topology that comes out");
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

static gboolean
run (Cli *cli, const void *data, char **words, GError **error)
{
  const Flags *flags = data;
  if (!check_words (cli, flags, words, error) || !cli_lookup (cli, error))
    return FALSE;
  const char *path = strcmp (words[1], "-") == 0 ? "stdin" : words[1];
  gsize n_B;
  g_autofree char *bytes = cli_read_file (words[1], &n_B, error);
  if (bytes == NULL)
    return FALSE;
  if (strcmp (words[1], "-") != 0)
    g_ptr_array_add (cli->read, g_strdup (words[1]));
  g_autofree char *name = flags->name != NULL ? g_strdup (flags->name) : name_from (words[1]);
  g_autoptr (BaseDiag) diag = base_diag_new ();
  g_autofree char *yaml = strcmp (words[0], "nccl-topo") == 0
                              ? clu_import_nccl_topo (path, bytes, n_B, name, flags->gpu, cli->lookup, diag, error)
                              : clu_import_nvidia_smi_topo (path, bytes, n_B, name, flags->gpu, cli->lookup, diag, error);
  cli_warn_all (cli, diag);
  if (yaml == NULL)
    return FALSE;
  if (cli->format != CLI_FORMAT_JSON) {
    g_string_append (cli->out, yaml);
    return TRUE;
  }
  rep_inputs_add (cli->inputs, path, NULL, bytes, n_B);
  RepEnvelope envelope = cli_envelope (cli);
  JsonBuilder *json = rep_envelope_open (&envelope);
  json_builder_begin_object (json);
  json_builder_set_member_name (json, "topology");
  json_builder_add_string_value (json, name);
  json_builder_set_member_name (json, "yaml");
  json_builder_add_string_value (json, yaml);
  json_builder_end_object (json);
  g_autofree char *text = rep_envelope_close (json, &envelope);
  g_string_append (cli->out, text);
  return TRUE;
}

const CliVerb cli_verb_import = {
  .name = "import",
  .summary = "makes a topology file from what a machine says of itself",
  .usage = "KIND FILE [flags]",
  .example = "forerun import nccl-topo topo.xml --name my_node -o my_node.yaml",
  .notes = "KIND is nccl-topo (the XML that NCCL_TOPO_DUMP_FILE writes) or nvidia-smi-topo (the output of nvidia-smi topo -m).\n"
           "FILE - reads stdin. What the file does not say is assumed, marked so, and warned about.\n",
  .flags = { flags_table },
  .size = sizeof (Flags),
  .formats = CLI_FORMAT_JSON,
  .run = run,
};
