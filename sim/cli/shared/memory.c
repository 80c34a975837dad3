/* Memory: freed arrays are kept for the next run of a study; and where there is none, a message and an exit status, in place of
 * GLib's trap. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef __GLIBC__ /* as the headers above say */
#include <malloc.h>
#endif

#include "cli-private.h"

/* Nothing is allocated from here on. Files that are being written have temporary names, so that none is left half done. */
void
cli_no_memory (void)
{
  static const char text[] = "forerun: out of memory; make the input smaller, or see --limit-memory\n";
  const ssize_t written = write (STDERR_FILENO, text, sizeof text - 1);
  (void)written; /* where nobody listens, the status remains */
  _exit (CLI_EXIT_RUN);
}

/* GLib reports a failed allocation as an error, which is fatal; so do threads that cannot be made, and libyaml's copy of a text. */
static void
on_error (const char *domain, GLogLevelFlags level, const char *message, gpointer data)
{
  static const char *const of_memory[] = { "failed to allocate", "overflow allocating", "out of memory", "creating thread" };
  gboolean known = FALSE;
  for (gsize i = 0; i < G_N_ELEMENTS (of_memory) && !known; i++)
    known = strstr (message, of_memory[i]) != NULL;
  if (known && (level & G_LOG_LEVEL_ERROR) != 0)
    cli_no_memory ();
  g_log_default_handler (domain, level, message, data);
}

/* GLib aborts where a lock or a thread's value cannot be made. Whether that was for want of memory is tried; else the abort goes
 * on. */
static void
on_abort (int signal_number)
{
  const size_t some_B = 1 << 20;
  if (mmap (NULL, some_B, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
    cli_no_memory ();
  signal (signal_number, SIG_DFL); /* abort raises it again */
}

void
cli_catch_no_memory (void)
{
  signal (SIGABRT, on_abort);
  g_log_set_default_handler (on_error, NULL);
}

/* glibc gives an array above its threshold back to the system when it is freed, and the next run of a study takes a page fault for
 * each of its pages: they were a third of `ratio`. Both values are within what glibc reaches by itself (32 MiB is its most). */
void
cli_keep_freed_memory (void)
{
#ifdef __GLIBC__
  mallopt (M_MMAP_THRESHOLD, 32 << 20);
  mallopt (M_TRIM_THRESHOLD, 256 << 20);
#endif
}
