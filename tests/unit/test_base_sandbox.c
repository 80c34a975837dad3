#include "base/sandbox.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/output.h"
#include "folder_fixture.h"

/* All cases share one: it is of the process. */
static char *root, *box;

static char *
place (const char *name)
{
  return g_build_filename (root, name, NULL);
}

static void
refuses (gboolean allowed, GError **error, const char *path)
{
  TEST_FALSE (allowed);
  TEST_TRUE (g_error_matches (*error, BASE_ERROR, (int)BASE_ERROR_INPUT));
  test_has (*error != NULL ? (*error)->message : "allowed", "is outside the sandbox", path, __FILE__, __LINE__);
  g_clear_error (error);
}

static void
make_folders (void)
{
  root = g_dir_make_tmp ("test-sandbox-XXXXXX", NULL);
  box = place ("box");
  folder_put (root, "outside.yaml", "secret: 1\n");
  folder_put (root, "boxes/a.yaml", "a: 1\n");
  folder_put (root, "box/a.yaml", "a: 1\n");
  folder_put (root, "box/sub/b.yaml", "a: 1\n");
  folder_put (root, "share/topologies/gpu.yaml", "gpu: x\n");
  folder_put (root, "share/key.pem", "secret\n");
  static const char *const links[][2] = {
    { "box/link", "a.yaml" }, { "box/out", "../outside.yaml" }, { "box/up", ".." }, { "box/nowhere", "/nowhere/at/all" }
  };
  for (size_t i = 0; i < G_N_ELEMENTS (links); i++) {
    g_autofree char *link = place (links[i][0]);
    TEST_INT (symlink (links[i][1], link), 0);
  }
}

static void
without_one_all_is_read (void)
{
  make_folders ();
  g_autofree char *outside = place ("outside.yaml"), *bytes = NULL;
  gsize n_B;
  TEST_FALSE (base_sandbox_is_set ());
  TEST_TRUE (base_sandbox_may_write (outside, NULL) && base_file_read (outside, 100, &bytes, &n_B, NULL));
}

static void
paths_are_followed_before_they_are_judged (void)
{
  static const char *const inside[] = { "box", "box/a.yaml", "box/sub/../a.yaml", "box/not/there.yaml", "box/link", NULL };
  static const char *const elsewhere[] = { "outside.yaml",        "box/../outside.yaml", "box/out",
                                           "box/up/outside.yaml", "boxes/a.yaml",        "box/nowhere",
                                           "box/up/new/file",     "box/no/../../x",      NULL };
  TEST_TRUE (base_sandbox_set (box, NULL));
  for (const char *const *name = inside; *name != NULL; name++) {
    g_autofree char *path = place (*name);
    TEST_TRUE (base_sandbox_may_read (path, NULL) && base_sandbox_may_write (path, NULL));
  }
  for (const char *const *name = elsewhere; *name != NULL; name++) {
    g_autofree char *path = place (*name);
    GError *error = NULL;
    refuses (base_sandbox_may_read (path, &error), &error, *name);
    refuses (base_sandbox_may_write (path, &error), &error, *name);
  }
}

static void
shipped_data_is_read_only (void)
{
  g_autofree char *shipped = place ("share"), *gpu = place ("share/topologies/gpu.yaml"), *key = place ("share/key.pem");
  GError *error = NULL;
  refuses (base_sandbox_may_read (gpu, &error), &error, gpu);
  base_sandbox_add_data (shipped);
  TEST_TRUE (base_sandbox_may_read (gpu, NULL));
  refuses (base_sandbox_may_write (gpu, &error), &error, gpu);
  refuses (base_sandbox_may_read (key, &error), &error, key); /* beside the data, as in a source tree */
}

/* A link that changes between the look and the open: what is open is what counts. */
static void
what_is_open_is_judged_by_its_own_name (void)
{
  g_autofree char *a = place ("box/a.yaml"), *outside = place ("outside.yaml");
  int in = open (a, O_RDONLY), out = open (outside, O_RDONLY);
  GError *error = NULL;
  TEST_TRUE (base_sandbox_may_read_open (in, "x", NULL) && base_sandbox_may_write_open (in, "x", NULL));
  refuses (base_sandbox_may_read_open (out, a, &error), &error, "swapped");
  close (in);
  close (out);
}

static void
files_are_written_inside_alone (void)
{
  g_autofree char *new = place ("box/new.txt"), *link = place ("box/link"), *up = place ("box/up/new.txt"), *text = NULL,
                  *linked = NULL, *a = place ("box/a.yaml");
  GError *error = NULL;
  gsize n_B;
  TEST_TRUE (base_output_file (new, "one", 3, NULL) && base_output_file (new, "two", 3, NULL));
  TEST_TRUE (base_file_read (new, 100, &text, &n_B, NULL));
  TEST_STR (text, "two");
  TEST_TRUE (base_output_file (link, "by link", 7, NULL) && base_file_read (a, 100, &linked, &n_B, NULL));
  TEST_STR (linked, "by link");
  refuses (base_output_file (up, "x", 1, &error), &error, up);
  refuses (base_output_folder (up, &error), &error, up);
}

static void
it_becomes_narrower_alone (void)
{
  g_autofree char *sub = place ("box/sub"), *a = place ("box/a.yaml");
  TEST_TRUE (base_sandbox_set (sub, NULL));
  TEST_FALSE (base_sandbox_may_read (a, NULL));
  TEST_FALSE (base_sandbox_set (box, NULL));
  TEST_FALSE (base_sandbox_set ("/", NULL));
  TEST_FALSE (base_sandbox_may_read (a, NULL));
  g_autofree char *up = place ("box/up");
  g_remove (up); /* before what it leads to */
  folder_remove (root);
  g_free (box);
  g_free (root);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "without one, all is read", without_one_all_is_read },
    { "paths are followed before they are judged", paths_are_followed_before_they_are_judged },
    { "shipped data is read only", shipped_data_is_read_only },
    { "what is open is judged by its own name", what_is_open_is_judged_by_its_own_name },
    { "files are written inside alone", files_are_written_inside_alone },
    { "it becomes narrower alone", it_becomes_narrower_alone },
    { 0 },
  };
  return test_main ("base/sandbox", cases);
}
