/* The same work on many items, on all cores. */
#ifndef BASE_PARALLEL_H
#define BASE_PARALLEL_H

#include <glib.h>

/* Calls `work` once for each of `n` items of `size` bytes that lie one after the other at `items`, and returns when all are done:
 * on up to `threads` threads (0: as many as there are cores; 1, or where no thread can be had: on the caller's), in any order. An
 * item writes to nothing that another one reads. `what`: plural, static: items are counted as pieces of work (base/progress.h);
 * NULL: they are not. */
void base_parallel_each (void *items, gsize n, gsize size, guint threads, const char *what, void (*work) (void *item));

#endif
