#include "plot/process-private.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "harness.h"

static gboolean
run (const char *script, const int *files, size_t n_files, guint limit_s, GError **error)
{
  const char *const words[] = { "sh", "-c", script, NULL };
  const RepProcess process = { "/", words, files, n_files, limit_s };
  g_autoptr (GString) said = g_string_new (NULL);
  return rep_process_run (&process, said, error);
}

static void
files_without_names_are_read_and_written (void)
{
  g_autoptr (GString) text = g_string_new ("one\ntwo\n");
  int files[] = { rep_memory_file ("in", text), rep_memory_file ("out", NULL) };
  g_autofree char *script =
      g_strdup_printf ("cat /proc/self/fd/%d /proc/self/fd/%d >/proc/self/fd/%d", files[0], files[0], files[1]);
  TEST_TRUE (run (script, files, 2, 60, NULL));
  g_autoptr (GString) out = rep_memory_file_read (files[1]);
  TEST_STR (out->str, "one\ntwo\none\ntwo\n");
  close (files[0]);
  close (files[1]);
}

static void
fails (const char *script, guint limit_s, const char *message)
{
  g_autoptr (GError) error = NULL;
  TEST_FALSE (run (script, NULL, 0, limit_s, &error));
  TEST_TRUE (g_error_matches (error, BASE_ERROR, (int)BASE_ERROR_RUN));
  test_has (error != NULL ? error->message : "done", message, script, __FILE__, __LINE__);
}

static void
a_failure_says_why (void)
{
  fails ("echo 'no such thing' >&2; exit 3", 60, "sh failed: no such thing");
  fails ("exit 1", 60, "sh failed: it prints no reason");
  fails ("kill -9 $$", 60, "sh failed");
}

/* Neither one that waits nor one that never stops talking; nor what it leaves behind, which holds its stderr open. */
static void
what_does_not_end_is_stopped_with_all_that_it_has_started (void)
{
  g_autofree char *folder = g_dir_make_tmp ("test-process-XXXXXX", NULL), *file = g_build_filename (folder, "pid", NULL),
                  *script = g_strdup_printf ("sleep 100 & echo $! >'%s'; sleep 100", file), *pid = NULL;
  fails (script, 1, "sh did not end within 1 s and was stopped");
  TEST_TRUE (g_file_get_contents (file, &pid, NULL, NULL));
  for (int i = 0; i < 500 && kill (atoi (pid), 0) == 0; i++) /* init reaps it */
    g_usleep (10000);
  g_autofree char *state = g_strdup_printf ("/proc/%d/cmdline", atoi (pid)), *command = NULL;
  gsize n_B = 0;
  TEST_TRUE (!g_file_get_contents (state, &command, &n_B, NULL) || n_B == 0); /* gone, or dead */
  fails ("while :; do echo again >&2; done", 60, "was stopped");
  TEST_TRUE (run ("sleep 100 & exit 0", NULL, 0, 60, NULL));
  unlink (file);
  rmdir (folder);
}

static void
a_program_that_is_not_there_is_named (void)
{
  const char *const words[] = { "no-such-program", NULL };
  const RepProcess process = { "/", words, NULL, 0, 1 };
  g_autoptr (GString) said = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  TEST_FALSE (rep_process_run (&process, said, &error));
  test_has (error != NULL ? error->message : "done", "no-such-program cannot be run", "words", __FILE__, __LINE__);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "files without names are read and written", files_without_names_are_read_and_written },
    { "a failure says why", a_failure_says_why },
    { "what does not end is stopped with all that it has started", what_does_not_end_is_stopped_with_all_that_it_has_started },
    { "a program that is not there is named", a_program_that_is_not_there_is_named },
    { 0 },
  };
  return test_main ("report/process", cases);
}
