/* What an importer of topologies made of a text, for the tests of import_*.c. */
#ifndef TEST_IMPORT_FIXTURE_H
#define TEST_IMPORT_FIXTURE_H

#include <string.h>

#include "cluster/cluster.h"
#include "cluster/import.h"
#include "harness.h"

#define DATA TEST_SOURCE_DIR "/tests/data/import/"

typedef char *Importer (const CluImport *input, GError **error);

/* Exactly one of `text` and `error` is there. */
typedef struct {
  char *text;
  BaseDiag *warnings;
  GError *error;
} Import;

static inline void
import_clear (Import *import)
{
  g_free (import->text);
  base_diag_free (import->warnings);
  g_clear_error (&import->error);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Import, import_clear)

static inline Import
import_with (Importer *importer, const char *path, const char *bytes, gsize n_B, const char *gpu_type)
{
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  Import import = { .warnings = base_diag_new () };
  const CluImport input = { path, bytes, n_B, "imported", gpu_type, lookup, import.warnings };
  import.text = importer (&input, &import.error);
  CU_ASSERT_EQUAL (import.text == NULL, import.error != NULL);
  return import;
}

static inline gboolean
warned (const Import *import, const char *part)
{
  for (unsigned i = 0; i < base_diag_n_warnings (import->warnings); i++)
    if (strstr (base_diag_warning (import->warnings, i), part) != NULL)
      return TRUE;
  return FALSE;
}

/* The topology that was written; NULL, and a failure of the test, when it does not load. */
static inline Clu *
load (const Import *import)
{
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_autoptr (BaseDiag) warnings = base_diag_new ();
  g_autoptr (GError) error = NULL;
  if (import->text == NULL)
    return NULL;
  BaseYaml *yaml = base_yaml_load_data ("imported.yaml", import->text, strlen (import->text), &error);
  Clu *clu = yaml == NULL ? NULL : clu_load_yaml (yaml, lookup, NULL, NULL, warnings, &error);
  if (clu == NULL)
    TEST_STR (error->message, "");
  return clu;
}

#endif
