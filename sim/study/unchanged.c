/* Calibrations that runs of a sensitivity take over: each is loaded once by itself, with a watch on what is read for it. */
#include "unchanged-private.h"

#include <string.h>

/* A calibration as it is, and what was read for it: a run that changes none of that takes this one. */
typedef struct {
  char *key; /* owned */
  const MdlLibrary *library;
  BaseWatch *read; /* owned */
} Calibration;

static void
calibration_clear (gpointer data)
{
  Calibration *one = data;
  g_free (one->key);
  base_watch_free (one->read);
}

void
std_unchanged_open (StdUnchanged *known, const BaseLookup *like)
{
  *known = (StdUnchanged){ .lookup = base_lookup_new (base_lookup_root (like)),
                           .inputs = g_ptr_array_new_with_free_func ((GDestroyNotify)base_yaml_free),
                           .warnings = base_diag_new (),
                           .all = g_array_new (FALSE, FALSE, sizeof (Calibration)) };
  known->store.lookup = known->lookup;
  g_array_set_clear_func (known->all, calibration_clear);
}

void
std_unchanged_clear (StdUnchanged *known)
{
  g_array_unref (known->all);
  cst_store_clear (&known->store);
  g_ptr_array_unref (known->inputs);
  base_diag_free (known->warnings);
  base_lookup_free (known->lookup);
}

static char *
key_of (const MdlLibraryQuery *query)
{
  const char *const parts[] = { query->name, query->from, query->gpu_type, query->nccl };
  GString *key = g_string_new (query->nccl_if_known ? "if known" : "");
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    g_string_append_printf (key, "\n%s", parts[i] != NULL ? parts[i] : "");
  return g_string_free (key, FALSE);
}

static const Calibration *
find_known (const StdUnchanged *known, const char *key)
{
  for (guint i = 0; i < known->all->len; i++)
    if (strcmp (g_array_index (known->all, Calibration, i).key, key) == 0)
      return &g_array_index (known->all, Calibration, i);
  return NULL;
}

void
std_loader_clear (StdLoader *loader)
{
  cst_store_clear (&loader->store);
}

const MdlLibrary *
std_load_and_know (void *user, const MdlLibraryQuery *query, GError **error)
{
  StdLoader *loader = user;
  g_autofree char *key = key_of (query);
  if (find_known (loader->known, key) == NULL) {
    Calibration one = { .key = g_steal_pointer (&key), .read = base_watch_new () };
    MdlLibraryQuery own = *query;
    own.inputs = loader->known->inputs;
    own.warnings = loader->known->warnings;
    base_lookup_set_watch (loader->known->lookup, one.read);
    one.library = cst_store_load (&loader->known->store, &own, NULL);
    if (one.library != NULL)
      g_array_append_val (loader->known->all, one);
    else
      calibration_clear (&one);
  }
  return cst_store_load (&loader->store, query, error);
}

const MdlLibrary *
std_load_changed (void *user, const MdlLibraryQuery *query, GError **error)
{
  StdLoader *loader = user;
  g_autofree char *key = key_of (query);
  const Calibration *same = loader->unchanged != NULL ? find_known (loader->unchanged, key) : NULL;
  return same != NULL && !base_watch_changes_seen (loader->watch, same->read) ? same->library
                                                                              : cst_store_share (&loader->store, query, error);
}
