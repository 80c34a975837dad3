/* GLib's locks and pool of threads, on those of POSIX: the thread sanitizer sees these and not the system calls that GLib makes.
 * Linked into forerun by the preset `tsan` alone. */
#include <glib.h>
#include <pthread.h>
#include <stdlib.h>

/* A GMutex and a GCond are zero until they are used, and hold a pointer from then on. */
static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;

static pthread_mutex_t *
lock_of (GMutex *mutex)
{
  pthread_mutex_lock (&first);
  if (mutex->p == NULL) {
    mutex->p = g_new (pthread_mutex_t, 1);
    pthread_mutex_init (mutex->p, NULL);
  }
  pthread_mutex_t *lock = mutex->p;
  pthread_mutex_unlock (&first);
  return lock;
}

static pthread_cond_t *
condition_of (GCond *cond)
{
  pthread_mutex_lock (&first);
  if (cond->p == NULL) {
    cond->p = g_new (pthread_cond_t, 1);
    pthread_cond_init (cond->p, NULL);
  }
  pthread_cond_t *condition = cond->p;
  pthread_mutex_unlock (&first);
  return condition;
}

void
g_mutex_init (GMutex *mutex)
{
  mutex->p = NULL;
}

void
g_mutex_clear (GMutex *mutex)
{
  if (mutex->p != NULL)
    pthread_mutex_destroy (mutex->p);
  g_free (mutex->p);
  mutex->p = NULL;
}

void
g_mutex_lock (GMutex *mutex)
{
  pthread_mutex_lock (lock_of (mutex));
}

gboolean
g_mutex_trylock (GMutex *mutex)
{
  return pthread_mutex_trylock (lock_of (mutex)) == 0;
}

void
g_mutex_unlock (GMutex *mutex)
{
  pthread_mutex_unlock (lock_of (mutex));
}

void
g_cond_init (GCond *cond)
{
  cond->p = NULL;
}

void
g_cond_clear (GCond *cond)
{
  if (cond->p != NULL)
    pthread_cond_destroy (cond->p);
  g_free (cond->p);
  cond->p = NULL;
}

void
g_cond_wait (GCond *cond, GMutex *mutex)
{
  pthread_cond_wait (condition_of (cond), lock_of (mutex));
}

/* `end_time` is of the clock that counts on; waiting too short is allowed: callers look again. */
gboolean
g_cond_wait_until (GCond *cond, GMutex *mutex, gint64 end_time)
{
  const gint64 left_us = CLAMP (end_time - g_get_monotonic_time (), 0, 1000000), until_us = g_get_real_time () + left_us;
  const struct timespec until = { until_us / 1000000, until_us % 1000000 * 1000 };
  return pthread_cond_timedwait (condition_of (cond), lock_of (mutex), &until) == 0 || g_get_monotonic_time () < end_time;
}

void
g_cond_signal (GCond *cond)
{
  pthread_cond_signal (condition_of (cond));
}

void
g_cond_broadcast (GCond *cond)
{
  pthread_cond_broadcast (condition_of (cond));
}

/* A pool that takes all its items first and works on them when it is freed, as base_parallel_each uses it. */
typedef struct {
  GThreadPool pool; /* first: callers hold a pointer to it */
  gint n_threads;
  GPtrArray *items;
  guint next;
  pthread_mutex_t lock;
} Pool;

GThreadPool *
g_thread_pool_new (GFunc work, gpointer data, gint n_threads, gboolean exclusive, GError **error)
{
  (void)error;
  Pool *pool = g_new0 (Pool, 1);
  pool->pool = (GThreadPool){ work, data, exclusive };
  pool->n_threads = n_threads;
  pool->items = g_ptr_array_new ();
  pthread_mutex_init (&pool->lock, NULL);
  return &pool->pool;
}

gboolean
g_thread_pool_push (GThreadPool *shown, gpointer item, GError **error)
{
  (void)error;
  g_ptr_array_add (((Pool *)shown)->items, item);
  return TRUE;
}

static void *
work_on (void *data)
{
  Pool *pool = data;
  for (;;) {
    pthread_mutex_lock (&pool->lock);
    gpointer item = pool->next < pool->items->len ? pool->items->pdata[pool->next++] : NULL;
    pthread_mutex_unlock (&pool->lock);
    if (item == NULL)
      return NULL;
    pool->pool.func (item, pool->pool.user_data);
  }
}

void
g_thread_pool_free (GThreadPool *shown, gboolean immediate, gboolean wait)
{
  (void)immediate;
  (void)wait;
  Pool *pool = (Pool *)shown;
  g_autofree pthread_t *threads = g_new (pthread_t, (gsize)pool->n_threads);
  for (gint i = 0; i < pool->n_threads; i++)
    if (pthread_create (&threads[i], NULL, work_on, pool) != 0)
      abort ();
  for (gint i = 0; i < pool->n_threads; i++)
    pthread_join (threads[i], NULL);
  g_ptr_array_unref (pool->items);
  pthread_mutex_destroy (&pool->lock);
  g_free (pool);
}
