/* Any bytes as Slurm's topology.conf; what comes out is a topology that loads, or is refused with a reason. */
#include <stdint.h>
#include <string.h>

#include "base/lookup.h"
#include "cluster/cluster.h"
#include "cluster/import.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static const char like[] = "topology: like\nnode:\n  gpus: {type: h200_sxm, count: 2}\n  nvlink: {switches: 1}\n"
                           "  nics: {type: cx7_ndr400, count: 2}\nfabric: {kind: single_switch, leaf: {type: qm9700}}\n";

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_autoptr (BaseDiag) diag = base_diag_new ();
  g_autoptr (GError) error = NULL;
  const CluImport input = { "fuzz.conf", (const char *)data, size, "fuzz", NULL, lookup, diag };
  const CluSlurmLike nodes = { "like", like, 2, NULL, NULL, 8 };
  g_autofree char *text = clu_import_slurm_topology (&input, &nodes, &error);
  g_assert ((text == NULL) == (error != NULL));
  if (text == NULL || strlen (text) > 20000)
    return 0;
  BaseYaml *yaml = base_yaml_load_data ("fuzz.yaml", text, strlen (text), &error);
  if (yaml == NULL)
    g_error ("%s\n%s", error->message, text);
  g_autoptr (Clu) clu = clu_load_yaml (yaml, lookup, NULL, NULL, diag, &error);
  g_assert ((clu == NULL) == (error != NULL));
  return 0;
}
