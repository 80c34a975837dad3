/* forerun import of what measuring tools print, as CSV. */
#include <string.h>

#include "base/yaml.h"
#include "calibrate/import_measured.h"
#include "import/import_measured-private.h"
#include "models/library.h"

#define MAX_LOG_B ((gsize)1 << 30) /* nccl-tests with NCCL's own log between its lines */
#define MAX_NODES 1000000
#define MAX_GPUS  1024

#define FLAG(name, letter, field, arg, help)                                 \
  {                                                                          \
    CLI_FLAG_TEXT, name, letter, offsetof (CliImportFlags, field), arg, help \
  }
const CliFlag cli_import_flags[] = {
  { CLI_FLAG_HEADING, "details that a measurement may lack", 0, 0, NULL, NULL },
  FLAG ("op", 0, op, "OP", "nccl-tests: operation (forerun list ops)"),
  FLAG ("nodes", 'n', nodes, "N", "nccl-tests, osu, kineto, nsys: nodes (default: those that nccl-tests lists or the trace fills)"),
  FLAG ("gpus", 'g', gpus, "G",
        "nccl-tests, osu, kineto, nsys: GPUs on each node (default: those that nccl-tests lists; as the trace needs)"),
  FLAG ("algo", 0, algo, "ALGO", "nccl-tests: value of NCCL_ALGO (default: as logged, else empty)"),
  FLAG ("proto", 0, proto, "PROTO", "nccl-tests: value of NCCL_PROTO (default: as logged, else empty)"),
  FLAG ("launch", 0, launch, "HOW", "nccl-tests: graph, threads, serial or registered (default: from -G, -t and -g of the run)"),
  FLAG ("nccl-version", 0, nccl, "V", "nccl-tests: version of NCCL, if it is not printed"),
  FLAG ("copy", 0, bytes, "SIZE", "nvbandwidth and p2p-bandwidth-test: bytes of a copy, e.g. 512M"),
  { CLI_FLAG_HEADING, NULL, 0, 0, NULL, NULL },
};

/* CAL_TOOL_NONE: of no tool. */
static CalTool
tool_of (const char *kind)
{
  const BaseName *known = base_name_find (cal_tool_names, kind);
  return known != NULL ? (CalTool)known->code : CAL_TOOL_NONE;
}

gboolean
cli_import_is_measured (const char *kind)
{
  return tool_of (kind) != CAL_TOOL_NONE;
}

gsize
cli_import_measured_max_B (const char *kind)
{
  return tool_of (kind) == CAL_TOOL_NCCL_TESTS ? MAX_LOG_B : BASE_YAML_MAX_B;
}

/* Versions as NCCL writes them: "2.28.9". */
static gboolean
check_version (const Cli *cli, const char *text, GError **error)
{
  gsize n = text != NULL ? strlen (text) : 1;
  if (text == NULL || (n > 0 && n < 16 && g_ascii_isdigit (*text) && text[strspn (text, "0123456789.")] == '\0'))
    return TRUE;
  return cli_fail (cli, error, "--nccl-version '%s'; digits and dots are accepted, e.g. 2.28.9", text);
}

static gboolean
read_told (const Cli *cli, const CliImportFlags *flags, CalFileInfo *told, GError **error)
{
  guint64 nodes = 0, gpus = 0;
  *told = CAL_FILE_INFO_NONE;
  told->nccl = flags->nccl;
  if (!cli_name_value (cli, "--op", flags->op, mdl_op_names, &told->op, error) ||
      !cli_name_value (cli, "--algo", flags->algo, mdl_algo_names, &told->algo, error) ||
      !cli_name_value (cli, "--proto", flags->proto, mdl_proto_names, &told->proto, error) ||
      !cli_name_value (cli, "--launch", flags->launch, mdl_launch_names, &told->launch, error) ||
      !cli_count_value (cli, "--nodes", flags->nodes, 1, MAX_NODES, &nodes, error) ||
      !cli_count_value (cli, "--gpus", flags->gpus, 1, MAX_GPUS, &gpus, error) || !check_version (cli, flags->nccl, error) ||
      !cli_size_value (cli, "--copy", flags->bytes, &told->copy_B, error))
    return FALSE;
  if (flags->bytes != NULL && told->copy_B == 0)
    return cli_fail (cli, error, "--copy 0: a copy has at least 1 B");
  if (told->algo == MDL_ALGO_BEST)
    return cli_fail (cli, error, "--algo best is nothing that NCCL can be asked for; auto is");
  told->algo_set = flags->algo != NULL;
  told->proto_set = flags->proto != NULL;
  told->nodes = (guint32)nodes;
  told->gpus = (guint32)gpus;
  return TRUE;
}

gboolean
cli_import_measured_check (const Cli *cli, const char *kind, const CliImportFlags *flags, GError **error)
{
  const struct {
    const char *name, *value;
    gboolean of_copies, of_osu;
  } given[] = { { "--op", flags->op, FALSE, FALSE },
                { "--nodes", flags->nodes, FALSE, TRUE },
                { "--gpus", flags->gpus, FALSE, TRUE },
                { "--algo", flags->algo, FALSE, FALSE },
                { "--proto", flags->proto, FALSE, FALSE },
                { "--launch", flags->launch, FALSE, TRUE },
                { "--nccl-version", flags->nccl, FALSE, TRUE },
                { "--copy", flags->bytes, TRUE, FALSE } };
  CalTool tool = tool_of (kind);
  for (guint i = 0; i < G_N_ELEMENTS (given); i++) {
    gboolean holds = given[i].of_copies
                         ? tool == CAL_TOOL_NVBANDWIDTH || tool == CAL_TOOL_P2P_TEST
                         : tool == CAL_TOOL_NCCL_TESTS || tool == CAL_TOOL_TORCH_BENCH || (tool == CAL_TOOL_OSU && given[i].of_osu);
    if (given[i].value != NULL && !holds)
      return cli_fail (cli, error, "%s has no meaning for %s; %s", given[i].name, kind,
                       given[i].of_copies ? "it is of nvbandwidth and p2p-bandwidth-test" : "it is of nccl-tests");
  }
  CalFileInfo told;
  return read_told (cli, flags, &told, error);
}

char *
cli_import_measured (Cli *cli, const char *kind, const CliImportFlags *flags, const CalText *text, GError **error)
{
  CalFileInfo told;
  return read_told (cli, flags, &told, error) ? cal_import_tool (tool_of (kind), text, &told, error) : NULL;
}
