#include "base/progress.h"

#include <signal.h>
#include <string.h>

#include "base/units.h"

#define LEAST_DONE 1e-3 /* of the work, before the remaining time is estimated */

static struct {
  GMutex lock; /* of all that follows */
  GCond stopped;
  GThread *thread; /* NULL: another clock, or no report */
  gboolean runs, counts;
  BaseProgressSpec spec;
  gint64 start_us, next_us;
  /* the work */
  const char *what;
  guint64 n, done, before; /* before: done by another process */
  gint64 work_start_us;
} report;

static gint64
now_us (void)
{
  return report.spec.clock_us != NULL ? report.spec.clock_us () : g_get_monotonic_time ();
}

/* "forerun plan: 20 s: 34 of 120 runs, about 51 s left" */
static void
say (gint64 now)
{
  g_autoptr (GString) line = g_string_new (report.spec.title);
  g_string_append_printf (line, ": %" G_GINT64_FORMAT " s", (now - report.start_us) / G_USEC_PER_SEC);
  if (!report.counts)
    g_string_append (line, ", still working");
  else
    g_string_append_printf (line, ": %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " %s", report.done, report.n, report.what);
  const double passed_s = (double)(now - report.work_start_us) / G_USEC_PER_SEC;
  const guint64 here = report.done - MIN (report.before, report.done);
  if (report.counts && report.done < report.n && here > 0 && passed_s > 0 && (double)here >= LEAST_DONE * (double)report.n) {
    g_autofree char *left = base_quantity_format ((double)(report.n - report.done) * passed_s / (double)here, BASE_DIM_TIME, 2);
    g_string_append_printf (line, ", about %s left", left);
  }
  report.spec.say (line->str);
}

/* Under the lock. */
static void
say_if_due (void)
{
  const gint64 now = now_us ();
  if (!report.runs || now < report.next_us)
    return;
  say (now);
  while (report.next_us <= now)
    report.next_us += report.spec.every_us;
}

static gpointer
watch (gpointer data)
{
  (void)data;
  g_mutex_lock (&report.lock);
  while (report.runs)
    if (!g_cond_wait_until (&report.stopped, &report.lock, report.next_us))
      say_if_due ();
  g_mutex_unlock (&report.lock);
  return NULL;
}

/* Signals are for the threads that work. */
static GThread *
watch_new (void)
{
  sigset_t all, before;
  sigfillset (&all);
  const gboolean held = pthread_sigmask (SIG_BLOCK, &all, &before) == 0;
  GThread *thread = g_thread_try_new ("progress", watch, NULL, NULL);
  if (held)
    pthread_sigmask (SIG_SETMASK, &before, NULL);
  return thread;
}

void
base_progress_start (const BaseProgressSpec *spec)
{
  base_progress_stop ();
  g_mutex_lock (&report.lock);
  report.spec = *spec;
  report.start_us = report.work_start_us = now_us ();
  report.next_us = report.start_us + spec->first_us;
  report.runs = TRUE;
  report.counts = FALSE;
  g_mutex_unlock (&report.lock);
  if (spec->clock_us == NULL)
    report.thread = watch_new ();
}

void
base_progress_stop (void)
{
  g_mutex_lock (&report.lock);
  report.runs = FALSE;
  g_cond_broadcast (&report.stopped);
  g_mutex_unlock (&report.lock);
  g_clear_pointer (&report.thread, g_thread_join);
}

/* "forerun coll: 16.8 M routes between groups of ranks: about 17 s" */
void
base_progress_expect (const char *what, double n, double each_s)
{
  static const double LEAST_S = 5;
  if (n * each_s < LEAST_S)
    return;
  g_autofree char *pieces = base_quantity_format (n, BASE_DIM_COUNT, 3),
                  *time = base_quantity_format (n * each_s, BASE_DIM_TIME, 2);
  g_mutex_lock (&report.lock);
  if (report.runs) {
    g_autofree char *line = g_strdup_printf ("%s: %s %s: about %s", report.spec.title, pieces, what, time);
    report.spec.say (line);
  }
  g_mutex_unlock (&report.lock);
}

gboolean
base_progress_begin (const char *what, guint64 n, guint64 done)
{
  g_mutex_lock (&report.lock);
  const gboolean first = report.runs && !report.counts;
  if (first) {
    report.counts = TRUE;
    report.what = what;
    report.n = n;
    report.done = report.before = done;
    report.work_start_us = now_us ();
  }
  g_mutex_unlock (&report.lock);
  return first;
}

void
base_progress_end (void)
{
  g_mutex_lock (&report.lock);
  report.counts = FALSE;
  g_mutex_unlock (&report.lock);
}

/* Under the lock, after a piece. */
static void
counted (void)
{
  if (report.spec.clock_us != NULL)
    say_if_due ();
}

void
base_progress_step (void)
{
  g_mutex_lock (&report.lock);
  report.done++;
  counted ();
  g_mutex_unlock (&report.lock);
}

void
base_progress_set (const char *what, guint64 n, guint64 done)
{
  g_mutex_lock (&report.lock);
  if (strcmp (what, report.what) != 0) {
    report.work_start_us = now_us ();
    report.before = done;
  }
  report.what = what;
  report.n = n;
  report.done = done;
  counted ();
  g_mutex_unlock (&report.lock);
}
