/* KV blocks: a queue of free ones by last use, and nodes of known prefixes in a table by hash.
 *
 * Nodes come from chunks and are never freed, so those of a prompt mostly stand side by side. A key is first sought beside the
 * node of the key before it, and in the table only where it is not there. */
#include "serving/blocks.h"

#include "base/hash.h"

/* Blocks side by side in the queue of free ones, or in use by `refs` sequences. */
struct SrvNode {
  SrvNode *before, *after; /* in the queue; both NULL: not in it */
  guint64 key;
  guint32 cached; /* blocks; of a unit, from its begin */
  guint32 refs;
  gboolean named; /* in the table: blocks of a prompt; else nothing is known of them */
  gboolean lent;  /* a hold's `kept`, which frees it */
};

typedef struct {
  guint64 key;
  SrvNode *node; /* NULL: empty */
} Slot;

struct SrvKv {
  guint64 blocks, idle;
  guint block, unit; /* tokens; unit: blocks of a node, 0: no hashes yet */
  guint hash_tokens;
  gboolean caching;
  SrvNode ends; /* of the queue: ends.after is taken first */
  Slot *slots;
  guint64 n_slots, n_named; /* n_slots: a power of two */
  SrvNode *spare;           /* nodes to use again, by `after` */
  GPtrArray *chunks;        /* of nodes; owned. The first and the last of each are never named */
  guint n_used;             /* of the last chunk */
};

#define FIRST_SLOTS 1024u
#define CHUNK       1024u /* nodes */

/* ---- nodes ---- */

static SrvNode *
node_new (SrvKv *kv)
{
  SrvNode *node = kv->spare;
  if (node == NULL) {
    if (kv->n_used == CHUNK - 1) {
      g_ptr_array_add (kv->chunks, g_new0 (SrvNode, CHUNK));
      kv->n_used = 1;
    }
    return &((SrvNode *)kv->chunks->pdata[kv->chunks->len - 1])[kv->n_used++];
  }
  kv->spare = node->after;
  *node = (SrvNode){ 0 };
  return node;
}

static void
node_drop (SrvKv *kv, SrvNode *node)
{
  node->named = FALSE;
  node->after = kv->spare;
  kv->spare = node;
}

static void
queue_push (SrvKv *kv, SrvNode *node)
{
  node->before = kv->ends.before;
  node->after = &kv->ends;
  node->before->after = node;
  kv->ends.before = node;
  kv->idle += node->cached;
}

static void
queue_remove (SrvKv *kv, SrvNode *node)
{
  node->before->after = node->after;
  node->after->before = node->before;
  node->before = node->after = NULL;
  kv->idle -= node->cached;
}

/* Blocks of which nothing is known go to the end of the queue. */
static void
queue_push_plain (SrvKv *kv, guint64 n)
{
  SrvNode *last = kv->ends.before;
  if (n == 0)
    return;
  if (last == &kv->ends || last->named || last->lent) {
    last = node_new (kv);
    queue_push (kv, last);
  }
  last->cached += (guint32)n;
  kv->idle += n;
}

/* ---- the table: linear probing, deletion by moving back ---- */

static guint64
slot_of (const SrvKv *kv, guint64 key)
{
  return base_hash_mix (key) & (kv->n_slots - 1);
}

/* near: a node of this cache beside which it may stand, or NULL. */
static SrvNode *
find (const SrvKv *kv, SrvNode *near, guint64 key)
{
  if (near != NULL && near[1].key == key && near[1].named)
    return near + 1;
  if (near != NULL && near[-1].key == key && near[-1].named)
    return near - 1;
  if (kv->n_slots == 0)
    return NULL;
  for (guint64 i = slot_of (kv, key);; i = (i + 1) & (kv->n_slots - 1))
    if (kv->slots[i].node == NULL || kv->slots[i].key == key)
      return kv->slots[i].node;
}

static void
put (SrvKv *kv, SrvNode *node)
{
  guint64 i = slot_of (kv, node->key);
  while (kv->slots[i].node != NULL)
    i = (i + 1) & (kv->n_slots - 1);
  kv->slots[i] = (Slot){ node->key, node };
}

static void
insert (SrvKv *kv, SrvNode *node)
{
  if (2 * (kv->n_named + 1) > kv->n_slots) {
    Slot *old = kv->slots;
    guint64 n = kv->n_slots;
    kv->n_slots = n == 0 ? FIRST_SLOTS : 2 * n;
    kv->slots = g_new0 (Slot, kv->n_slots);
    for (guint64 i = 0; i < n; i++)
      if (old[i].node != NULL)
        put (kv, old[i].node);
    g_free (old);
  }
  put (kv, node);
  node->named = TRUE;
  kv->n_named++;
}

static void
unname (SrvKv *kv, SrvNode *node)
{
  const guint64 mask = kv->n_slots - 1;
  guint64 hole = slot_of (kv, node->key);
  while (kv->slots[hole].node != node)
    hole = (hole + 1) & mask;
  for (guint64 i = (hole + 1) & mask; kv->slots[i].node != NULL; i = (i + 1) & mask)
    if (((i - slot_of (kv, kv->slots[i].key)) & mask) >= ((i - hole) & mask)) {
      kv->slots[hole] = kv->slots[i];
      hole = i;
    }
  kv->slots[hole].node = NULL;
  kv->n_named--;
}

/* ---- the cache ---- */

SrvKv *
srv_kv_new (guint64 blocks, guint block, gboolean caching)
{
  SrvKv *kv = g_new0 (SrvKv, 1);
  kv->blocks = blocks;
  kv->block = block;
  kv->caching = caching;
  kv->ends.before = kv->ends.after = &kv->ends;
  kv->ends.named = TRUE;
  kv->chunks = g_ptr_array_new_with_free_func (g_free);
  kv->n_used = CHUNK - 1;
  for (guint64 left = blocks; left > 0;) { /* a node counts with 32 bits */
    SrvNode *node = node_new (kv);
    node->cached = (guint32)MIN (left, G_MAXUINT32 / 2);
    left -= node->cached;
    queue_push (kv, node);
  }
  return kv;
}

SrvKv *
srv_kv_new_like (const SrvKv *kv)
{
  SrvKv *out = srv_kv_new (kv->blocks, kv->block, kv->caching);
  out->unit = kv->unit;
  out->hash_tokens = kv->hash_tokens;
  return out;
}

void
srv_kv_free (SrvKv *kv)
{
  if (kv == NULL)
    return;
  g_ptr_array_free (kv->chunks, TRUE);
  g_free (kv->slots);
  g_free (kv);
}

static guint
common_divisor (guint a, guint b)
{
  return b == 0 ? a : common_divisor (b, a % b);
}

void
srv_kv_unit (SrvKv *kv, guint hash_tokens)
{
  if (kv->unit > 0)
    return;
  kv->unit = hash_tokens / common_divisor (hash_tokens, kv->block);
  kv->hash_tokens = hash_tokens;
}

void
srv_kv_name (SrvKv *kv, SrvHold *hold, const guint64 *hashes, guint n, guint hash_tokens)
{
  hold->n_keys = 0;
  if (!kv->caching || n == 0 || hash_tokens == 0)
    return;
  srv_kv_unit (kv, hash_tokens);
  g_assert (kv->hash_tokens == hash_tokens);
  const guint each = kv->unit * kv->block / hash_tokens, units = n / each;
  if (units > hold->room) {
    hold->room = MAX (2 * hold->room, units);
    hold->keys = g_renew (guint64, hold->keys, hold->room);
    hold->nodes = g_renew (SrvNode *, hold->nodes, hold->room);
  }
  guint64 key = 0;
  for (guint i = 0; i < units; i++) {
    for (guint k = 0; k < each; k++)
      key = base_hash_mix (key ^ base_hash_mix (hashes[i * each + k] + 1));
    hold->keys[i] = key;
  }
  hold->n_keys = units;
}

SrvHit
srv_kv_match (const SrvKv *kv, const SrvHold *hold, guint tokens)
{
  const guint most = (tokens - 1) / kv->block;
  SrvHit hit = { 0 };
  SrvNode *node = NULL;
  for (guint i = 0; i < hold->n_keys && hit.blocks < most; i++) {
    node = find (kv, node, hold->keys[i]);
    if (node == NULL)
      break;
    hit.blocks += node->cached;
    hit.idle += node->refs == 0 ? node->cached : 0;
    if (node->cached < kv->unit)
      break;
  }
  if (hold->kept != NULL && hit.blocks == hold->kept_from) {
    hit.blocks += hold->kept->cached;
    hit.idle += MIN (hold->kept->cached, most - MIN (most, hold->kept_from));
  }
  hit.blocks = MIN (hit.blocks, most);
  return hit;
}

/* Blocks that a preempted sequence finds again are its own as before; the others are as any free one. */
static void
take_kept (SrvKv *kv, SrvHold *hold, guint found)
{
  SrvNode *node = hold->kept;
  hold->kept = NULL;
  if (node->cached > 0) {
    const guint others = node->cached - found;
    queue_remove (kv, node);
    queue_push_plain (kv, others);
  }
  node_drop (kv, node);
}

void
srv_kv_take (SrvKv *kv, SrvHold *hold, SrvHit hit)
{
  guint got = 0;
  SrvNode *node = NULL;
  for (guint i = 0; got < hit.blocks && i < hold->n_keys; i++) {
    node = find (kv, node, hold->keys[i]);
    if (node == NULL)
      break;
    if (node->refs++ == 0)
      queue_remove (kv, node);
    hold->nodes[hold->n_nodes++] = node;
    const guint used = MIN (node->cached, hit.blocks - got);
    hold->fills = used < kv->unit && used == node->cached;
    got += used;
    if (node->cached < kv->unit)
      break;
  }
  hold->shared = got;
  hold->blocks = hit.blocks;
  if (hold->kept != NULL)
    take_kept (kv, hold, hit.blocks - got);
}

void
srv_kv_draw (SrvKv *kv, guint64 n)
{
  g_assert (n <= kv->idle);
  while (n > 0) {
    SrvNode *node = kv->ends.after;
    const guint32 taken = (guint32)MIN (n, node->cached);
    n -= taken;
    kv->idle -= taken;
    node->cached -= taken;
    if (node->cached > 0)
      return;
    queue_remove (kv, node);
    if (node->named)
      unname (kv, node);
    if (!node->lent)
      node_drop (kv, node);
  }
}

gboolean
srv_kv_grow (SrvKv *kv, SrvHold *hold, guint tokens)
{
  const guint needed = (tokens + kv->block - 1) / kv->block;
  if (needed <= hold->blocks)
    return TRUE;
  if (needed - hold->blocks > kv->idle)
    return FALSE;
  srv_kv_draw (kv, needed - hold->blocks);
  hold->blocks = needed;
  return TRUE;
}

void
srv_kv_commit (SrvKv *kv, SrvHold *hold, guint tokens)
{
  const guint full = hold->n_keys > 0 ? MIN (tokens / (kv->unit * kv->block), hold->n_keys) : 0;
  if (hold->fills && full >= hold->n_nodes) {
    SrvNode *node = hold->nodes[hold->n_nodes - 1];
    hold->fills = FALSE;
    hold->shared += kv->unit - node->cached;
    node->cached = kv->unit;
  }
  while (!hold->fills && hold->n_nodes < full) {
    const guint64 key = hold->keys[hold->n_nodes];
    SrvNode *node = NULL;
    if (find (kv, NULL, key) == NULL) { /* else another has computed the same: these blocks stay its own */
      node = node_new (kv);
      node->key = key;
      node->cached = kv->unit;
      node->refs = 1;
      insert (kv, node);
      hold->shared += kv->unit;
    }
    hold->nodes[hold->n_nodes++] = node;
  }
}

/* Those that nobody uses go to the end of the queue, the first of them last. */
static void
refresh (SrvKv *kv, const SrvHold *hold, guint units)
{
  SrvNode *node = NULL;
  for (guint i = units; i-- > 0;) {
    node = find (kv, node, hold->keys[i]);
    if (node == NULL || node->refs > 0 || node->cached == 0)
      continue;
    queue_remove (kv, node);
    queue_push (kv, node);
  }
}

void
srv_kv_install (SrvKv *kv, const SrvHold *hold, guint from, guint to)
{
  refresh (kv, hold, to);
  guint64 room = kv->idle;
  SrvNode *node = NULL;
  for (guint i = 0; i < to; i++) {
    node = find (kv, node, hold->keys[i]);
    room -= node != NULL && node->refs == 0 ? node->cached : 0;
  }
  node = NULL;
  for (guint i = from; i < to; i++) {
    node = find (kv, node, hold->keys[i]);
    const guint lacks = kv->unit - (node != NULL ? node->cached : 0);
    if (lacks > room || (lacks > 0 && node != NULL && node->refs > 0)) /* whoever has its begin computes the rest */
      break;
    room -= lacks;
    if (lacks == 0)
      continue;
    if (node != NULL)
      queue_remove (kv, node);
    srv_kv_draw (kv, lacks);
    if (node == NULL) {
      node = node_new (kv);
      node->key = hold->keys[i];
      insert (kv, node);
    }
    node->cached = kv->unit;
    queue_push (kv, node);
  }
  refresh (kv, hold, to);
}

guint
srv_kv_unit_tokens (const SrvKv *kv)
{
  return kv->unit * kv->block;
}

/* Full blocks that no hash names: a preempted sequence finds them again, if nothing took them. */
static guint
keep (SrvKv *kv, SrvHold *hold, guint tokens)
{
  const guint own = hold->blocks - hold->shared, named = hold->n_nodes * kv->unit, full = tokens / kv->block;
  for (guint i = 0; i < hold->n_nodes; i++)
    if (hold->nodes[i] == NULL)
      return 0;
  if (!kv->caching || named != hold->shared || full <= named)
    return 0;
  hold->kept = node_new (kv);
  hold->kept->lent = TRUE;
  hold->kept->cached = MIN (full - named, own);
  hold->kept_from = named;
  return hold->kept->cached;
}

void
srv_kv_release (SrvKv *kv, SrvHold *hold, guint tokens)
{
  const guint own = hold->blocks - hold->shared, kept = tokens > 0 ? keep (kv, hold, tokens) : 0;
  queue_push_plain (kv, own - kept);
  if (kept > 0)
    queue_push (kv, hold->kept);
  for (guint i = hold->n_nodes; i-- > 0;) {
    SrvNode *node = hold->nodes[i];
    if (node != NULL && --node->refs == 0)
      queue_push (kv, node);
  }
  hold->n_nodes = hold->blocks = hold->shared = 0;
  hold->fills = FALSE;
}

void
srv_kv_forget (SrvKv *kv, SrvHold *hold)
{
  if (hold->kept != NULL)
    take_kept (kv, hold, 0);
  hold->n_keys = 0;
}

void
srv_hold_clear (SrvHold *hold)
{
  g_free (hold->keys);
  g_free (hold->nodes);
  *hold = (SrvHold){ 0 };
}

guint64
srv_kv_idle (const SrvKv *kv)
{
  return kv->idle;
}

guint64
srv_kv_blocks (const SrvKv *kv)
{
  return kv->blocks;
}

guint
srv_kv_block (const SrvKv *kv)
{
  return kv->block;
}

gboolean
srv_kv_sums (const SrvKv *kv, guint64 private_blocks)
{
  guint64 idle = 0, used = 0, named = 0;
  for (const SrvNode *node = kv->ends.after; node != &kv->ends; node = node->after) {
    idle += node->cached;
    if (node->refs != 0 || node->cached == 0)
      return FALSE;
  }
  for (guint64 i = 0; i < kv->n_slots; i++)
    if (kv->slots[i].node != NULL) {
      named++;
      used += kv->slots[i].node->refs > 0 ? kv->slots[i].node->cached : 0;
      if (find (kv, NULL, kv->slots[i].key) != kv->slots[i].node)
        return FALSE;
    }
  return idle == kv->idle && named == kv->n_named && idle + used + private_blocks == kv->blocks;
}
