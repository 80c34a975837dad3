/* Blocks of the KV cache of one scheduler, and the prefixes that it keeps for later prompts.
 *
 * * Rules, as vLLM has them (vllm/v1/core/block_pool.py, kv_cache_manager.py: get_computed_blocks, allocate_slots, free): a block
 * is free or belongs to sequences. Full blocks of a prompt are known by a hash of all tokens up to their end. Free blocks stand
 * in a queue: the longest unused is taken first, and a sequence that ends frees its last block first. A free block keeps its hash
 * until it is taken, so a prompt with the same begin finds it. At least one token of a prompt is always computed.
 *
 * * What a trace says of prompts is a hash for each `hash_tokens` tokens, often many blocks: they come and go together, apart
 * from a tail that was taken. Such a unit is one node here, whatever its number of blocks; a sequence costs as many look-ups as
 * its prompt has units. */
#ifndef SERVING_BLOCKS_H
#define SERVING_BLOCKS_H

#include <glib.h>

typedef struct SrvKv SrvKv;
typedef struct SrvNode SrvNode;

/* Blocks of one sequence, and what is known of its prompt. */
typedef struct {
  guint64 *keys; /* owned: of each unit of the prompt, with all before it */
  guint n_keys, room;
  SrvNode **nodes; /* owned: units that it holds; NULL: in blocks of its own */
  guint n_nodes;
  guint blocks;    /* all that it holds */
  guint shared;    /* of them, in nodes */
  gboolean fills;  /* the last node lacks blocks that this sequence computes */
  SrvNode *kept;   /* full blocks of a preempted sequence that no hash names; owned */
  guint kept_from; /* blocks before them */
} SrvHold;

/* What a sequence finds in the cache. */
typedef struct {
  guint blocks; /* full ones that need not be computed */
  guint idle;   /* blocks that leave the free queue with them */
} SrvHit;

/* `blocks` of `block` tokens, both at least 1. caching FALSE: nothing is kept. Returned: full. */
SrvKv *srv_kv_new (guint64 blocks, guint block, gboolean caching);
void srv_kv_free (SrvKv *kv);
SrvKv *srv_kv_new_like (const SrvKv *kv); /* the same, empty. Returned: full */

/* Sets the unit: the least common multiple of a block and of hash_tokens tokens. Before the first srv_kv_name, which does it
 * else. */
void srv_kv_unit (SrvKv *kv, guint hash_tokens);
/* Notes the hashes of a new sequence's prompt: n of them, each for hash_tokens tokens. A unit is the least common multiple of
 * those and a block, and is fixed by the first call that has hashes. Nothing where the cache is off. */
void srv_kv_name (SrvKv *kv, SrvHold *hold, const guint64 *hashes, guint n, guint hash_tokens);
/* What of a sequence that holds nothing, of `tokens` tokens, is in the cache; at most tokens - 1. Changes nothing. */
SrvHit srv_kv_match (const SrvKv *kv, const SrvHold *hold, guint tokens);
/* Takes what srv_kv_match found. */
void srv_kv_take (SrvKv *kv, SrvHold *hold, SrvHit hit);
/* Holds blocks for `tokens` tokens. FALSE, and nothing has changed, where not enough are free. */
gboolean srv_kv_grow (SrvKv *kv, SrvHold *hold, guint tokens);
/* Takes n free blocks for holds whose `blocks` the caller raises later. n is at most srv_kv_idle. */
void srv_kv_draw (SrvKv *kv, guint64 n);
/* The first `tokens` tokens are in the cache: whole units become known to others. */
void srv_kv_commit (SrvKv *kv, SrvHold *hold, guint tokens);
/* Units `from` … `to` - 1 of a sequence that holds nothing are in the cache from now on, as if computed and used last, and those
 * before them count as used too. Fewer where blocks are lacking. */
void srv_kv_install (SrvKv *kv, const SrvHold *hold, guint from, guint to);
guint srv_kv_unit_tokens (const SrvKv *kv); /* of a key; 0: none was named yet */
/* Frees all that it holds. tokens > 0: it was preempted with so many in the cache, and returns; 0: it has ended. */
void srv_kv_release (SrvKv *kv, SrvHold *hold, guint tokens);
/* Forgets a sequence that holds nothing. `hold` can be used for another one. */
void srv_kv_forget (SrvKv *kv, SrvHold *hold);
void srv_hold_clear (SrvHold *hold); /* frees its arrays, after srv_kv_forget */

guint64 srv_kv_idle (const SrvKv *kv);   /* free blocks, also those that keep a prefix */
guint64 srv_kv_blocks (const SrvKv *kv); /* all */
guint srv_kv_block (const SrvKv *kv);    /* tokens of one */
/* Counts everything anew: TRUE if free, shared and private blocks (`private_blocks`: of all sequences) add up to all. For tests. */
gboolean srv_kv_sums (const SrvKv *kv, guint64 private_blocks);

#endif
