/* docs/calibration.md: its reference is what the schema tables print, its example loads. `test_constants_docs --write` renews the
 * reference. */
#include <glib/gstdio.h>

#include "constants/calibration.h"
#include "document.h"

#define DOCUMENT TEST_SOURCE_DIR "/docs/calibration.md"

/* The library and the sections. Returned: full, g_free. */
static const BaseSchema **
list_schemas (void)
{
  guint n = 0;
  while (cst_sections[n] != NULL)
    n++;
  const BaseSchema **out = g_new0 (const BaseSchema *, n + 2);
  out[0] = &cst_library_schema;
  for (guint i = 0; i < n; i++)
    out[i + 1] = cst_sections[i]->schema;
  return out;
}

static void
reference_is_what_the_tables_print (void)
{
  g_autofree const BaseSchema **schemas = list_schemas ();
  document_check_reference (DOCUMENT, schemas, NULL);
}

static void
the_example_stands_over_a_shipped_one (void)
{
  g_autofree char *text = document_read (DOCUMENT);
  const char *at = text;
  g_autofree char *example = document_next_example (&at), *more = document_next_example (&at);
  g_autoptr (GError) error = NULL;
  g_autofree char *dir = g_dir_make_tmp ("forerun-XXXXXX", &error);
  g_assert_no_error (error);
  g_autofree char *path = g_build_filename (dir, "my_h200.yaml", NULL);
  TEST_TRUE (g_file_set_contents (path, example, -1, NULL));
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_autoptr (Cst) cal = cst_load (&(CstQuery){ .name = path, .gpu_type = "h200_sxm", .lookup = lookup }, &error);
  g_autoptr (Cst) under = cst_load (&(CstQuery){ .name = "h200_sxm", .gpu_type = "h200_sxm", .lookup = lookup }, NULL);
  g_remove (path);
  g_rmdir (dir);
  if (cal == NULL)
    g_error ("%s", error->message);
  TEST_STR (more, NULL);
  TEST_STR (cst_name (cal), "my_h200");
  const MdlLibrary *library = cst_library (cal);
  TEST_NEAR (library->ring.start.at[MDL_PROTO_SIMPLE].v, 14e-6, 1e-12);
  TEST_NEAR (library->ring.start.at[MDL_PROTO_LL].v, cst_library (under)->ring.start.at[MDL_PROTO_LL].v, 0);
}

int
main (int argc, char **argv)
{
  static const TestCase cases[] = {
    { "the reference is what the tables print", reference_is_what_the_tables_print },
    { "the example stands over a shipped one", the_example_stands_over_a_shipped_one },
    { NULL, NULL },
  };
  g_autofree const BaseSchema **schemas = list_schemas ();
  if (argc == 2 && strcmp (argv[1], "--write") == 0)
    return document_write (DOCUMENT, schemas, NULL);
  return test_main ("calibration docs", cases);
}
