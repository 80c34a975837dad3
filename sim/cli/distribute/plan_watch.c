/* What runs concurrently with a plan's search: the count of what is done, a file of it, and a look for signals. The clock decides
 * when the file is written, and nothing else. */
#include <signal.h>
#include <string.h>

#include "base/output.h"
#include "base/progress.h"
#include "base/text.h"
#include "plan-private.h"

/* From one save to the next: at most 10 s, so that a run that is ended again and again goes on, and less where a save is short. */
#define SAVE_MOST_US  (10 * G_USEC_PER_SEC)
#define SAVE_LEAST_US (G_USEC_PER_SEC / 2)
#define SAVE_SHARE    20 /* of the time at most one part in so many is spent on saving, as long as that keeps to the 10 s */

struct CliPlanWatch {
  Cli *cli;
  gint64 (*now_us) (void);
  char *word, *resume;
  gboolean counts, held;
  sigset_t before;          /* mask, where signals are held */
  gint64 saved_us, pace_us; /* when, and how long it may be until the next */
  guint64 cuts_before;      /* done when this process began; and runs: */
  guint runs_before;
  gboolean there; /* the file has what was done then */
};

/* Held back, a signal waits even where whoever started us said that it is to be ignored, as nohup and a shell's & do. */
static void
add_unless_ignored (sigset_t *set, int which)
{
  struct sigaction action;
  if (sigaction (which, NULL, &action) == 0 && action.sa_handler != SIG_IGN)
    sigaddset (set, which);
}

CliPlanWatch *
cli_plan_watch_new (Cli *cli, const char *word, const char *resume, gint64 (*now_us) (void))
{
  CliPlanWatch *watch = g_new0 (CliPlanWatch, 1);
  watch->cli = cli;
  watch->word = g_strdup (word);
  watch->resume = g_strdup (resume);
  watch->now_us = now_us;
  watch->saved_us = now_us ();
  watch->pace_us = SAVE_LEAST_US;
  if (resume != NULL) {
    /* Held back, and looked for between tasks: threads that start from now on hold them back too. */
    sigset_t stops;
    sigemptyset (&stops);
    add_unless_ignored (&stops, SIGINT);
    add_unless_ignored (&stops, SIGTERM);
    watch->held = pthread_sigmask (SIG_BLOCK, &stops, &watch->before) == 0;
  }
  return watch;
}

static void
stop_counting (CliPlanWatch *watch)
{
  if (watch->counts)
    base_progress_end ();
  watch->counts = FALSE;
}

/* One that waits ends the process now, but where it is what the process ends with anyway. */
static void
release (CliPlanWatch *watch)
{
  if (watch->held && watch->cli->signal == 0)
    pthread_sigmask (SIG_SETMASK, &watch->before, NULL);
  watch->held = FALSE;
}

void
cli_plan_watch_free (CliPlanWatch *watch)
{
  if (watch == NULL)
    return;
  stop_counting (watch);
  release (watch);
  g_free (watch->word);
  g_free (watch->resume);
  g_free (watch);
}

/* SIGINT or SIGTERM where one waits, else 0. */
static int
waiting_signal (const CliPlanWatch *watch)
{
  sigset_t pending;
  if (!watch->held || sigpending (&pending) != 0)
    return 0;
  return sigismember (&pending, SIGINT) == 1 ? SIGINT : sigismember (&pending, SIGTERM) == 1 ? SIGTERM : 0;
}

gboolean
cli_plan_watch_stop (void *user)
{
  return waiting_signal (user) != 0;
}

static gboolean
save (CliPlanWatch *watch, const PlnWork *work, GError **error)
{
  gboolean same =
      watch->there && pln_work_count (work).cuts_done == watch->cuts_before && pln_work_n_runs (work) == watch->runs_before;
  if (watch->resume == NULL || same)
    return TRUE;
  const gint64 began_us = watch->now_us ();
  g_autofree char *text = cli_plan_part_text (watch->cli, watch->word, work);
  const gboolean saved = base_output_file (watch->resume, text, strlen (text), error);
  watch->saved_us = watch->now_us ();
  watch->pace_us = CLAMP (SAVE_SHARE * (watch->saved_us - began_us), SAVE_LEAST_US, SAVE_MOST_US);
  return saved;
}

void
cli_plan_watch_progress (void *user, PlnWork *work, const PlnCount *count)
{
  CliPlanWatch *watch = user;
  const gboolean simulates = count->n_runs > count->runs_done;
  if (watch->counts && simulates)
    base_progress_set ("simulated options", count->n_runs, count->runs_done);
  else if (watch->counts)
    base_progress_set ("configurations", count->n_cuts, count->cuts_done);
  if (watch->resume != NULL && watch->now_us () - watch->saved_us >= watch->pace_us)
    save (watch, work, NULL); /* if it cannot be written, the last save reports it */
}

/* What the file says was done becomes done. */
static gboolean
take_file (CliPlanWatch *watch, PlnWork *work, GError **error)
{
  if (watch->resume == NULL)
    return TRUE;
  if (!cli_spare_inputs (watch->cli, error))
    return FALSE;
  if (!g_file_test (watch->resume, G_FILE_TEST_EXISTS))
    return save (watch, work, error); /* what cannot be written is better known now */
  g_autoptr (CliPart) part = cli_part_read (watch->cli, watch->resume, error);
  if (part == NULL || !cli_part_check (watch->cli, part, error))
    return FALSE;
  PlnCount count = pln_work_count (work);
  if (cli_part_number (part) != count.part || cli_part_of (part) != count.of)
    return cli_fail (watch->cli, error,
                     "--resume '%s' holds part %u of %u, but this run is part %u of %u; name the file of this part", watch->resume,
                     cli_part_number (part), cli_part_of (part), count.part, count.of);
  if (!cli_plan_part_take (part, work, error))
    return FALSE;
  watch->cuts_before = pln_work_count (work).cuts_done;
  watch->runs_before = pln_work_n_runs (work);
  watch->there = TRUE;
  g_autofree char *shown = base_text_escape (watch->resume, "");
  if (!watch->cli->quiet)
    g_string_append_printf (watch->cli->talk, "Continuing: %s has %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " configurations\n",
                            shown, watch->cuts_before, count.n_cuts);
  return TRUE;
}

gboolean
cli_plan_watch_begin (CliPlanWatch *watch, PlnWork *work, GError **error)
{
  if (!take_file (watch, work, error))
    return FALSE;
  const PlnCount count = pln_work_count (work);
  watch->counts = base_progress_begin ("configurations", count.n_cuts, count.cuts_done);
  return TRUE;
}

gboolean
cli_plan_watch_end (CliPlanWatch *watch, PlnWork *work, gboolean done, GError **error)
{
  int which = done ? 0 : waiting_signal (watch);
  stop_counting (watch);
  if (watch->resume == NULL || (!done && which == 0))
    return done;
  g_clear_error (error);
  if (!save (watch, work, error))
    return FALSE;
  watch->cli->signal = which;
  release (watch);
  if (done)
    return TRUE;
  const PlnCount count = pln_work_count (work);
  base_fail (error, BASE_ERROR_RUN,
             "forerun plan: interrupted; %s has %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
             " configurations; repeat the command to continue",
             watch->resume, count.cuts_done, count.n_cuts);
  return FALSE;
}
