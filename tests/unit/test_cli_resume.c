/* A search that is killed again and again ends: what it has done is saved often enough. The clock is that of the test: each look
 * at it is a second later. */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "harness.h"
#include "plan-private.h"

#define PLAN "nic_4x400_or_8x400" /* 32 pieces */

static gint64
next_second (void)
{
  static gint64 now_us;
  return now_us += G_USEC_PER_SEC;
}

typedef struct {
  CliPlanWatch *watch;
  guint left; /* pieces until it is killed */
} Killed;

static void
count_down (void *user, PlnWork *work, const PlnCount *count)
{
  Killed *killed = user;
  cli_plan_watch_progress (killed->watch, work, count);
  if (--killed->left == 0)
    (void)raise (SIGKILL);
}

/* One process: goes on with state.json, and is killed after so many pieces. TRUE: it came to the end before. */
static gboolean
search_until (guint pieces)
{
  static char *const words[] = { "forerun", "plan", PLAN, NULL };
  g_autoptr (GError) error = NULL;
  g_autofree char *path = NULL;
  Cli *cli = cli_new (&cli_verb_plan, 3, words);
  cli->quiet = TRUE;
  g_autoptr (Pln) plan = cli_lookup (cli, &error) ? cli_plan_load (cli, PLAN, &path, &error) : NULL;
  Killed killed = { cli_plan_watch_new (cli, PLAN, "state.json", next_second), pieces };
  const PlnWorkers workers = { .threads = 1, .progress = count_down, .watch = &killed };
  g_autoptr (PlnWork) work = plan != NULL ? pln_work_new (plan, &workers, &error) : NULL;
  const gboolean done = work != NULL && cli_plan_watch_begin (killed.watch, work, &error) && pln_work_estimate (work, &error) &&
                        cli_plan_watch_end (killed.watch, work, TRUE, &error);
  if (error != NULL)
    g_printerr ("%s\n", error->message);
  cli_plan_watch_free (killed.watch);
  cli_free (cli);
  return done;
}

/* As many runs as it takes; 0: one failed, or the search did not end. */
static guint
runs_of (guint pieces)
{
  (void)g_remove ("state.json");
  for (guint run = 1; run <= 10; run++) {
    int status = 0;
    const pid_t child = fork ();
    if (child == 0)
      _exit (search_until (pieces) ? 0 : 1);
    if (child < 0 || waitpid (child, &status, 0) != child || (WIFEXITED (status) && WEXITSTATUS (status) != 0))
      return 0;
    if (WIFEXITED (status))
      return run;
  }
  return 0;
}

static void
test_killed (void)
{
  TEST_INT (runs_of (100), 1);
  TEST_INT (runs_of (12), 3); /* a save took a second, so that the next is ten later: 10 pieces, then 11, and the last 11 */
}

int
main (void)
{
  static const TestCase cases[] = { { "a_search_that_is_killed_every_twelve_seconds_ends", test_killed }, { NULL, NULL } };
  g_autofree char *folder = g_dir_make_tmp ("forerun-resume-XXXXXX", NULL);
  g_setenv ("FORERUN_DATA", TEST_SOURCE_DIR, TRUE);
  if (folder == NULL || g_chdir (folder) != 0)
    return 1;
  const int status = test_main ("cli_resume", cases);
  (void)g_remove ("state.json");
  (void)g_rmdir (folder);
  return status;
}
