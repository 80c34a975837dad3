/* Documents that are kept while a study asks the same question hundreds of times: a file is read and parsed once. What is handed
 * out borrows the kept nodes, all of which are marked as shared, so that --set copies what it changes (yaml_set.c). */
#include "yaml-private.h"

static GMutex lock;           /* of both: */
static GHashTable *documents; /* path -> BaseYaml; NULL: none are kept */
static guint n_keepers;

static void
free_kept (gpointer kept)
{
  base_yaml_unborrow (kept);
}

void
base_yaml_keep (void)
{
  g_mutex_lock (&lock);
  if (n_keepers++ == 0)
    documents = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, free_kept);
  g_mutex_unlock (&lock);
}

void
base_yaml_keep_no_more (void)
{
  g_mutex_lock (&lock);
  g_assert (n_keepers > 0);
  if (--n_keepers == 0)
    g_clear_pointer (&documents, g_hash_table_unref);
  g_mutex_unlock (&lock);
}

void
base_yaml_unborrow (BaseYaml *kept)
{
  if (kept == NULL || !g_atomic_int_dec_and_test (&kept->n_borrowers))
    return;
  base_arena_free (kept->arena);
  g_free (kept->sha256);
  g_free (kept);
}

/* One that borrows; the lock is held. */
static BaseYaml *
borrow (BaseYaml *kept)
{
  BaseYaml *yaml = g_new (BaseYaml, 1);
  g_atomic_int_inc (&kept->n_borrowers);
  *yaml = (BaseYaml){ .n_refs = 1,
                      .arena = base_arena_new (),
                      .path = kept->path,
                      .sha256 = g_strdup (kept->sha256),
                      .root = kept->root,
                      .kept = kept };
  return yaml;
}

BaseYaml *
base_yaml_kept (const char *path)
{
  g_mutex_lock (&lock);
  BaseYaml *kept = documents != NULL ? g_hash_table_lookup (documents, path) : NULL;
  BaseYaml *yaml = kept != NULL ? borrow (kept) : NULL;
  g_mutex_unlock (&lock);
  return yaml;
}

static void
mark_shared (BaseYamlNode *node)
{
  node->shared = TRUE;
  for (unsigned i = 0; i < node->n; i++)
    if (!node->item[i]->shared || node->item[i]->n > 0)
      mark_shared (node->item[i]);
}

void
base_yaml_keep_one (BaseYaml *yaml)
{
  g_mutex_lock (&lock);
  if (documents != NULL && !g_hash_table_contains (documents, yaml->path)) {
    BaseYaml *kept = g_new (BaseYaml, 1);
    *kept = *yaml;
    kept->n_borrowers = 1;
    mark_shared (kept->root);
    BaseYaml *own = borrow (kept);
    *yaml = *own;
    g_free (own);
    g_hash_table_insert (documents, g_strdup (kept->path), kept);
  }
  g_mutex_unlock (&lock);
}
