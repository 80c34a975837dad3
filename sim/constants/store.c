#include "constants/store.h"

const MdlLibrary *
cst_store_load (void *user, const MdlLibraryQuery *query, GError **error)
{
  CstStore *store = user;
  MdlLibraryQuery own = *query;
  own.lookup = store->lookup;
  Cst *cal = cst_load (&own, error);
  if (cal == NULL)
    return NULL;
  if (store->loaded == NULL)
    store->loaded = g_ptr_array_new_with_free_func ((GDestroyNotify)cst_free);
  g_ptr_array_add (store->loaded, cal);
  return cst_library (cal);
}

const MdlLibrary *
cst_store_share (void *user, const MdlLibraryQuery *query, GError **error)
{
  CstStore *store = user;
  g_autofree char *key = g_strdup_printf ("%s\n%s\n%s", query->name != NULL ? query->name : "",
                                          query->gpu_type != NULL ? query->gpu_type : "", query->nccl != NULL ? query->nccl : "");
  if (g_strcmp0 (key, store->shared) == 0)
    return cst_library (g_ptr_array_index (store->loaded, store->loaded->len - 1));
  const MdlLibrary *library = cst_store_load (user, query, error);
  if (library != NULL) {
    g_free (store->shared);
    store->shared = g_steal_pointer (&key);
  }
  return library;
}

const char *
cst_store_name (const CstStore *store)
{
  const GPtrArray *loaded = store->loaded;
  return loaded != NULL ? cst_name (g_ptr_array_index (loaded, loaded->len - 1)) : NULL;
}

void
cst_store_clear (CstStore *store)
{
  g_clear_pointer (&store->loaded, g_ptr_array_unref);
  g_clear_pointer (&store->shared, g_free);
}
