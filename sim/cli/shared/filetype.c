#include "shared/filetype-private.h"

#include <string.h>

#include "base/file.h"
#include "goodput/goodput.h"
#include "plan/offers.h"
#include "plan/plan.h"
#include "scenario/flow_sizes.h"

static void
check_failures (const void *spec, BaseMark mark, BaseDiag *diag)
{
  (void)mark;
  trn_failure_rates_check (spec, diag);
}

static void
check_sizes (const void *spec, BaseMark mark, BaseDiag *diag)
{
  scn_flow_sizes_check (spec, mark, diag);
}

static const CliFileType types[] = {
  { "topology", CLI_FILE_TOPOLOGY, NULL, 0, NULL },
  { "scenario", CLI_FILE_SCENARIO, NULL, 0, NULL },
  { "gpu", CLI_FILE_PART, &clu_schema_gpu, sizeof (CluGpuSpec), NULL },
  { "nic", CLI_FILE_PART, &clu_schema_nic, sizeof (CluNicSpec), NULL },
  { "switch", CLI_FILE_PART, &clu_schema_switch, sizeof (CluSwitchSpec), NULL },
  { "drive", CLI_FILE_PART, &clu_schema_drive, sizeof (CluDriveSpec), NULL },
  { "link_class", CLI_FILE_PART, &clu_schema_link_class, sizeof (CluLinkClass), NULL },
  { "storage_type", CLI_FILE_PART, &clu_schema_storage_type, sizeof (MdlTierType), NULL },
  { "failures", CLI_FILE_PART, &trn_schema_failure_rates, sizeof (MdlFailureRates), check_failures },
  { "sizes", CLI_FILE_PART, &scn_schema_flow_sizes, sizeof (ScnFlowSizes), check_sizes },
  { "calibration", CLI_FILE_CALIBRATION, NULL, 0, NULL },
  { "llm", CLI_FILE_LLM, NULL, 0, NULL },
  { "network", CLI_FILE_LLM, NULL, 0, NULL },
  { "plan", CLI_FILE_PLAN, NULL, 0, NULL },
  { "offers", CLI_FILE_OFFERS, NULL, 0, NULL },
  { "prices", CLI_FILE_PART, &pln_schema_prices, sizeof (PlnPricesSpec), NULL },
  { "comparisons", CLI_FILE_PART, &pln_schema_comparisons, sizeof (PlnDistinguishSpec), NULL },
  { NULL, CLI_FILE_PART, NULL, 0, NULL },
};

gboolean
cli_file_type (const BaseYaml *yaml, const CliFileType **out, GError **error)
{
  const BaseYamlNode *root = base_yaml_root (yaml);
  const char *names[G_N_ELEMENTS (types)] = { NULL };
  for (size_t i = 0; types[i].key != NULL; i++)
    names[i] = types[i].key;
  g_autofree char *accepted = g_strjoinv (", ", (char **)names);
  const char *path = base_yaml_path (yaml);
  if (base_yaml_kind (root) != BASE_YAML_MAP || base_yaml_n (root) == 0) {
    BaseMark mark = base_yaml_mark (root);
    if (mark.line == 0) /* an empty file */
      mark = (BaseMark){ path, 1, 1 };
    return base_fail_at (error, mark, "holds no keys; a file begins with one of %s", accepted);
  }
  const char *key = base_yaml_get (root, "model_type") != NULL ? "llm" : base_yaml_key (root, 0); /* a config.json */
  for (const CliFileType *type = types; type->key != NULL; type++)
    if (strcmp (type->key, key) == 0) {
      *out = type;
      return TRUE;
    }
  g_autofree char *hint = base_hint (key, names);
  return base_fail_at (error, base_yaml_key_mark (root, 0), "first key '%s' does not say what this file is%s; it is one of %s", key,
                       hint, accepted);
}

void
cli_tell_kind (const Cli *cli, const char *path, const char *wanted, GError **error)
{
  /* nobody asks; or what is not read twice without harm: stdin and pipes */
  if (error == NULL || !g_error_matches (*error, BASE_ERROR, (gint)BASE_ERROR_INPUT) || !base_file_is_file (path))
    return;
  g_autoptr (BaseYaml) yaml = base_yaml_load_file (path, NULL);
  const CliFileType *type = NULL;
  if (yaml == NULL || !cli_file_type (yaml, &type, NULL) || strcmp (type->key, wanted) == 0)
    return;
  g_clear_error (error);
  base_fail_at (error, base_yaml_key_mark (base_yaml_root (yaml), 0),
                "a file that begins with '%s'; forerun %s takes one that begins with '%s'", type->key, cli->verb->name, wanted);
}
