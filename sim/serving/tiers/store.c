/* Keys in one tier: a table, and a list by last use. */
#include "serving/tiers.h"

typedef struct Entry Entry;
struct Entry {
  guint64 key; /* first: the table's key */
  Entry *before, *after;
  gboolean ready;
};

struct SrvStore {
  GHashTable *table; /* &Entry.key → Entry, owned */
  Entry ends;        /* ends.after was used longest ago */
  guint64 room;
};

SrvStore *
srv_store_new (guint64 units)
{
  SrvStore *store = g_new0 (SrvStore, 1);
  store->table = g_hash_table_new_full (g_int64_hash, g_int64_equal, NULL, g_free);
  store->ends.before = store->ends.after = &store->ends;
  store->room = units;
  return store;
}

void
srv_store_free (SrvStore *store)
{
  if (store == NULL)
    return;
  g_hash_table_destroy (store->table);
  g_free (store);
}

static void
unlink_entry (Entry *entry)
{
  entry->before->after = entry->after;
  entry->after->before = entry->before;
}

static void
link_last (SrvStore *store, Entry *entry)
{
  entry->before = store->ends.before;
  entry->after = &store->ends;
  entry->before->after = entry;
  store->ends.before = entry;
}

gboolean
srv_store_use (SrvStore *store, guint64 key)
{
  Entry *entry = g_hash_table_lookup (store->table, &key);
  if (entry == NULL || !entry->ready)
    return FALSE;
  unlink_entry (entry);
  link_last (store, entry);
  return TRUE;
}

gboolean
srv_store_has (const SrvStore *store, guint64 key)
{
  const Entry *entry = g_hash_table_lookup (store->table, &key);
  return entry != NULL && entry->ready;
}

gboolean
srv_store_begin (SrvStore *store, guint64 key)
{
  if (store->room == 0 || g_hash_table_contains (store->table, &key))
    return FALSE;
  if (g_hash_table_size (store->table) >= store->room) {
    Entry *oldest = store->ends.after;
    unlink_entry (oldest);
    g_hash_table_remove (store->table, &oldest->key);
  }
  Entry *entry = g_new0 (Entry, 1);
  entry->key = key;
  link_last (store, entry);
  g_hash_table_insert (store->table, &entry->key, entry);
  return TRUE;
}

void
srv_store_ready (SrvStore *store, guint64 key)
{
  Entry *entry = g_hash_table_lookup (store->table, &key);
  if (entry != NULL)
    entry->ready = TRUE;
}

guint64
srv_store_units (const SrvStore *store)
{
  return g_hash_table_size (store->table);
}
