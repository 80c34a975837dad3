/* How far long work is, reported now and then. One report a process: work counts its pieces from any thread, and the program that
 * started the report prints its lines. Without a started report, counting does nothing. */
#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

#include <glib.h>

typedef struct {
  const char *title;              /* begins each line: "forerun run"; borrowed */
  gint64 first_us, every_us;      /* time until the first line, and between lines */
  gint64 (*clock_us) (void);      /* NULL: the machine's clock, in a thread of its own; else read after each piece, for tests */
  void (*say) (const char *line); /* without a newline; never called by two threads at once */
} BaseProgressSpec;

/* Reports from now on, until base_progress_stop, which may be called without a start and after which `say` is not called again. */
void base_progress_start (const BaseProgressSpec *spec);
void base_progress_stop (void);

/* Says at once about how long `n` pieces will take, at `each_s` seconds for one on a machine of today, if that is 5 s or more. */
void base_progress_expect (const char *what, double n, double each_s);
/* Begins work of `n` pieces, of which `done` were done before this process. `what`: plural, static ("runs").
 * TRUE: the caller counts, and calls base_progress_end. FALSE: this is part of other work that is counted already. */
gboolean base_progress_begin (const char *what, guint64 n, guint64 done);
void base_progress_end (void);
/* One more piece is done; or, to set both numbers: `done` of `n`. Only after base_progress_begin returned TRUE. */
void base_progress_step (void);
void base_progress_set (const char *what, guint64 n, guint64 done);

#endif
