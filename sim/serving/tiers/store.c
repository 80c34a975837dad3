/* Keys in one tier, by last use: records in one array, and a table of their numbers with linear probing.
 *
 * Keys of a prompt come one after the other and get records side by side. So a key is first sought next to the record that was
 * found last, and in the table only where it is not there. */
#include "base/hash.h"
#include "serving/tiers.h"

#define FIRST_RECORDS 1024u
#define MOST_RECORDS  (G_MAXUINT32 / 2)

typedef struct {
  guint64 key;
  guint32 before, after; /* by last use, records; record 0 is between the newest and the oldest */
  gboolean ready;
} Record;

typedef struct {
  guint32 record; /* 0: empty */
  guint32 hash;   /* of its key */
} Slot;

struct SrvStore {
  Record *records;
  guint32 n, n_room; /* records in use with record 0, and allocated */
  Slot *slots;
  guint64 n_slots; /* a power of two */
  guint64 room;    /* keys at most */
  guint32 last;    /* found last */
};

SrvStore *
srv_store_new (guint64 units)
{
  SrvStore *store = g_new0 (SrvStore, 1);
  store->room = MIN (units, MOST_RECORDS);
  store->n_room = FIRST_RECORDS;
  store->records = g_new (Record, store->n_room);
  store->records[0] = (Record){ 0 };
  store->n = 1;
  store->n_slots = 2 * FIRST_RECORDS;
  store->slots = g_new0 (Slot, store->n_slots);
  return store;
}

void
srv_store_free (SrvStore *store)
{
  if (store == NULL)
    return;
  g_free (store->records);
  g_free (store->slots);
  g_free (store);
}

/* ---- the table ---- */

static guint32
hash_of (guint64 key)
{
  return (guint32)base_hash_mix (key);
}

static void
put (SrvStore *store, guint32 record, guint32 hash)
{
  guint64 i = hash & (store->n_slots - 1);
  while (store->slots[i].record != 0)
    i = (i + 1) & (store->n_slots - 1);
  store->slots[i] = (Slot){ record, hash };
}

/* Deletion moves later ones back. */
static void
take_out (SrvStore *store, guint32 record)
{
  const guint64 mask = store->n_slots - 1;
  guint64 hole = hash_of (store->records[record].key) & mask;
  while (store->slots[hole].record != record)
    hole = (hole + 1) & mask;
  for (guint64 i = (hole + 1) & mask; store->slots[i].record != 0; i = (i + 1) & mask)
    if (((i - store->slots[i].hash) & mask) >= ((i - hole) & mask)) {
      store->slots[hole] = store->slots[i];
      hole = i;
    }
  store->slots[hole].record = 0;
}

static void
grow (SrvStore *store)
{
  Slot *old = store->slots;
  const guint64 n = store->n_slots;
  store->n_room *= 2;
  store->records = g_renew (Record, store->records, store->n_room);
  store->n_slots *= 2;
  store->slots = g_new0 (Slot, store->n_slots);
  for (guint64 i = 0; i < n; i++)
    if (old[i].record != 0)
      put (store, old[i].record, old[i].hash);
  g_free (old);
}

/* Number of the record with this key; 0: none. */
static guint32
find (const SrvStore *store, guint64 key)
{
  const guint32 next = store->last + 1;
  if (next < store->n && store->records[next].key == key)
    return next;
  const guint32 hash = hash_of (key);
  for (guint64 i = hash & (store->n_slots - 1); store->slots[i].record != 0; i = (i + 1) & (store->n_slots - 1))
    if (store->slots[i].hash == hash && store->records[store->slots[i].record].key == key)
      return store->slots[i].record;
  return 0;
}

/* ---- by last use ---- */

static void
unlink_record (SrvStore *store, guint32 record)
{
  const Record *r = &store->records[record];
  store->records[r->before].after = r->after;
  store->records[r->after].before = r->before;
}

static void
link_last (SrvStore *store, guint32 record)
{
  Record *ends = &store->records[0], *r = &store->records[record];
  r->before = ends->before;
  r->after = 0;
  store->records[r->before].after = record;
  ends->before = record;
}

/* ---- a store ---- */

gboolean
srv_store_use (SrvStore *store, guint64 key)
{
  const guint32 record = find (store, key);
  if (record == 0 || !store->records[record].ready)
    return FALSE;
  store->last = record;
  unlink_record (store, record);
  link_last (store, record);
  return TRUE;
}

gboolean
srv_store_has (const SrvStore *store, guint64 key)
{
  const guint32 record = find (store, key);
  return record != 0 && store->records[record].ready;
}

/* A new record, or the one of the key that was used longest ago, which leaves. */
static guint32
make_room (SrvStore *store)
{
  if (store->n > store->room) {
    const guint32 oldest = store->records[0].after;
    unlink_record (store, oldest);
    take_out (store, oldest);
    return oldest;
  }
  if (store->n == store->n_room)
    grow (store);
  return store->n++;
}

gboolean
srv_store_begin (SrvStore *store, guint64 key)
{
  if (store->room == 0)
    return FALSE;
  const guint32 known = find (store, key);
  if (known != 0) {
    store->last = known;
    return FALSE;
  }
  const guint32 record = make_room (store);
  store->records[record] = (Record){ .key = key };
  link_last (store, record);
  put (store, record, hash_of (key));
  return TRUE;
}

void
srv_store_ready (SrvStore *store, guint64 key)
{
  const guint32 record = find (store, key);
  if (record == 0)
    return;
  store->last = record;
  store->records[record].ready = TRUE;
}

guint64
srv_store_units (const SrvStore *store)
{
  return store->n - 1;
}
