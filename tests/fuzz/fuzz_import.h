/* What the importers of topologies promise for any bytes: they are refused with a message, or imported - and what is imported is a
 * topology file that loads. */
#ifndef FUZZ_IMPORT_H
#define FUZZ_IMPORT_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/cluster.h"
#include "cluster/import.h"

typedef char *Importer (const CluImport *input, GError **error);

static inline void
import_and_load (Importer *import, const char *path, const uint8_t *data, size_t size, const char *gpu_type)
{
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_autoptr (BaseDiag) warnings = base_diag_new ();
  g_autoptr (GError) error = NULL;
  const CluImport input = { path, (const char *)data, size, "imported", gpu_type, lookup, warnings };
  g_autofree char *text = import (&input, &error);
  if (text == NULL) {
    if (!g_error_matches (error, BASE_ERROR, (gint)BASE_ERROR_INPUT))
      abort ();
    return;
  }
  BaseYaml *yaml = base_yaml_load_data ("imported.yaml", text, strlen (text), &error);
  g_autoptr (Clu) clu = yaml == NULL ? NULL : clu_load_yaml (yaml, lookup, NULL, NULL, warnings, &error);
  if (clu == NULL) {
    g_printerr ("%s\n%s\n", text, error->message);
    abort ();
  }
}

#endif
