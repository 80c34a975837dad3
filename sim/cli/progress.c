/* How far a run is, on stderr. FORERUN_PROGRESS is for tests: "off", or "steps", a clock that moves a second when it is read. */
#include <stdio.h>
#include <unistd.h>

#include "base/progress.h"
#include "cli-private.h"

#define FIRST_US       (2 * G_USEC_PER_SEC)
#define LINE_EVERY_US  (10 * G_USEC_PER_SEC)
#define RENEW_EVERY_US (G_USEC_PER_SEC / 5) /* of the line on a terminal */

static gboolean renewed; /* a line stands on the terminal */

static void
say_line (const char *line)
{
  fprintf (stderr, "%s\n", line);
}

static void
renew_line (const char *line)
{
  fprintf (stderr, "\r\033[K%s", line);
  fflush (stderr);
  renewed = TRUE;
}

static gint64
count_seconds (void)
{
  static gint64 reads; /* one thread at a time reads it */
  return reads++ * G_USEC_PER_SEC;
}

void
cli_progress_start (const Cli *cli)
{
  const char *how = g_getenv ("FORERUN_PROGRESS");
  if (cli->quiet || g_strcmp0 (how, "off") == 0)
    return;
  static char title[32];
  g_snprintf (title, sizeof title, "forerun %s", cli->verb->name);
  const gboolean terminal = isatty (STDERR_FILENO);
  const BaseProgressSpec spec = { .title = title,
                                  .first_us = FIRST_US,
                                  .every_us = terminal ? RENEW_EVERY_US : LINE_EVERY_US,
                                  .clock_us = g_strcmp0 (how, "steps") == 0 ? count_seconds : NULL,
                                  .say = terminal ? renew_line : say_line };
  base_progress_start (&spec);
}

void
cli_progress_clear (void)
{
  if (renewed)
    fputs ("\r\033[K", stderr);
  renewed = FALSE;
}
