#include "base/parallel.h"

#include "base/progress.h"

typedef struct {
  void (*work) (void *item);
  gboolean counts;
} Call;

static void
call (gpointer item, gpointer data)
{
  const Call *what = data;
  what->work (item);
  if (what->counts)
    base_progress_step ();
}

void
base_parallel_each (void *items, gsize n, gsize size, guint threads, const char *what, void (*work) (void *item))
{
  Call each = { work, what != NULL && base_progress_begin (what, n, 0) };
  gsize most = threads > 0 ? threads : g_get_num_processors ();
  /* GLib makes its C locale at first use, and a thread that waits for that finds errno set, which its parsers of numbers take for
   * theirs: make it now. */
  (void)g_ascii_strtoull ("0", NULL, 10);
  GThreadPool *pool = MIN (most, n) > 1 ? g_thread_pool_new (call, &each, (gint)MIN (most, n), TRUE, NULL) : NULL;
  for (gsize i = 0; i < n; i++) {
    void *item = (char *)items + i * size;
    if (pool == NULL || !g_thread_pool_push (pool, item, NULL))
      call (item, &each);
  }
  if (pool != NULL)
    g_thread_pool_free (pool, FALSE, TRUE);
  if (each.counts)
    base_progress_end ();
}
