/* Checks of a topology as a whole, with the position of the key that is wrong. */
#include <math.h>
#include <string.h>

#include "fabric/fabric-private.h"
#include "load/load-private.h"

/* Copies or a stripe of parts, each on a server of its own (HUGE_VAL: as many as it takes). */
static void
check_redundancy (CluLoader *loader, const MdlTierRedundancy *r, double servers, const char *name)
{
  if (!r->head.set)
    return;
  if (r->replicas.set == r->data.set || r->data.set != r->parity.set)
    clu_error (loader, r->head.mark,
               "'redundancy' is 'replicas', or 'data' and 'parity'; accepted: {replicas: 3}, {data: 4, parity: 2}");
  else if (r->data.set && r->sent_by.v == MDL_COPIES_CHAIN)
    clu_error (loader, r->sent_by.mark, "a chain passes replicas on, not parts of a stripe; accepted: servers, client");
  else if ((r->replicas.set ? r->replicas.v : r->data.v + r->parity.v) > servers)
    clu_error (loader, r->head.mark, "%.0f %s, each on a server of its own, but storage '%s' has %.0f; accepted: at most as many",
               r->replicas.set ? r->replicas.v : r->data.v + r->parity.v, r->replicas.set ? "replicas" : "parts", name, servers);
}

/* FALSE where it stands in the nodes, or says nothing that can be looked at further. */
static gboolean
check_tier (CluLoader *loader, const CluStorageSpec *spec)
{
  const MdlTierType *type = spec->type.value;
  if (type == NULL && !spec->type.set && !spec->tier.set)
    clu_error (loader, spec->head.mark,
               "storage '%s' needs 'type' (forerun list storage-types), or 'tier' and 'per_server' (e.g. tier: parallel_fs, "
               "per_server: 40 GB/s)",
               spec->name.v);
  if (spec->type.set && type == NULL)
    return FALSE; /* the schema has said so */
  if (type != NULL && spec->tier.set && spec->tier.v != type->kind.v)
    clu_error (loader, spec->tier.mark, "type '%s' is of kind %s, not %s; leave 'tier' out", spec->type.name,
               base_name (mdl_tier_names, type->kind.v), base_name (mdl_tier_names, spec->tier.v));
  MdlTier tier;
  clu_tier_resolve (spec, &tier);
  if (tier.type.kind.v == MDL_TIER_LOCAL_NVME)
    return FALSE;
  if (type == NULL && spec->tier.set && !spec->per_server.set)
    clu_error (loader, spec->head.mark, "storage '%s' needs 'per_server' (e.g. per_server: 40 GB/s), or a 'type' that has it",
               spec->name.v);
  double targets = mdl_tier_targets (&tier);
  if (tier.type.stripe.count.set && tier.type.stripe.count.v > targets)
    clu_error (loader, spec->stripe.count.set ? spec->stripe.count.mark : spec->head.mark,
               "a stripe over %.0f targets, but storage '%s' has %.0f (%.0f servers of %.0f); accepted: at most %.0f",
               tier.type.stripe.count.v, spec->name.v, targets, tier.servers, targets / tier.servers, targets);
  check_redundancy (loader, &tier.type.redundancy, HUGE_VAL, spec->name.v);
  check_redundancy (loader, &spec->redundancy, tier.servers, spec->name.v);
  return TRUE;
}

/* One level: a cache of a cache would need to be asked what it lacks itself. */
static void
check_cache (CluLoader *loader, const CluSpec *spec, const CluStorageSpec *tier)
{
  const CluStorageCacheSpec *cache = &tier->cache;
  const CluStorageSpec *of = NULL;
  g_autoptr (GString) others = g_string_new (NULL);
  if (!cache->head.set || cache->of.v == NULL)
    return;
  for (unsigned i = 0; i < spec->storage.n; i++) {
    const CluStorageSpec *other = BASE_LIST_AT (spec->storage, CluStorageSpec, i);
    if (other == tier || other->name.v == NULL || other->cache.head.set)
      continue;
    g_string_append_printf (others, "%s%s", others->len > 0 ? ", " : "", other->name.v);
    of = strcmp (other->name.v, cache->of.v) == 0 ? other : of;
  }
  if (of == NULL)
    clu_error (loader, cache->of.mark, "storage '%s' cannot cache '%s'; accepted: another tier of 'storage' that is no cache%s%s",
               tier->name.v, cache->of.v, others->len > 0 ? ": " : "", others->str);
  else if (of->type.value != NULL && ((const MdlTierType *)of->type.value)->kind.v == MDL_TIER_LOCAL_NVME)
    clu_error (loader, cache->of.mark, "storage '%s' cannot cache drives of the nodes", tier->name.v);
  if (cache->rent.set && !cache->capacity.set)
    clu_error (loader, cache->rent.mark, "'rent' is of a TB that the cache holds, so it needs 'capacity'");
}

static void
check_tiers (CluLoader *loader, const CluSpec *spec)
{
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);
  for (unsigned i = 0; i < spec->storage.n; i++) {
    const CluStorageSpec *tier = BASE_LIST_AT (spec->storage, CluStorageSpec, i);
    if (tier->name.v == NULL)
      continue;
    if (strpbrk (tier->name.v, ". \t") != NULL || *tier->name.v == '\0')
      clu_error (loader, tier->name.mark, "'%s' cannot name a storage tier; a word without dots and blanks", tier->name.v);
    if (strcmp (tier->name.v, "nvme") == 0)
      clu_error (loader, tier->name.mark, "'nvme' names the nodes' own drives; a storage tier needs another name");
    if (!g_hash_table_add (names, (gpointer)tier->name.v))
      clu_error (loader, tier->name.mark, "two storage tiers are named '%s'", tier->name.v);
    check_cache (loader, spec, tier);
    if (!check_tier (loader, tier))
      continue;
    if (tier->network.v == 0 && !spec->frontend.head.set)
      clu_error (loader, tier->head.mark,
                 "storage '%s' is reached by the front-end network, and there is none; give 'frontend: {rate: 200 Gb/s}' or "
                 "'network: fabric'",
                 tier->name.v);
    if (tier->network.v == 1 && !clu_fabric_attaches ((CluFabricKind)spec->fabric.kind.v)) {
      g_autofree char *accepted = clu_fabric_attaching_kinds ();
      clu_error (loader, tier->network.mark, "storage '%s' cannot hang on a fabric of kind %s; accepted: %s", tier->name.v,
                 base_name (clu_fabric_names, spec->fabric.kind.v), accepted);
    }
  }
}

void
clu_check_topology (CluLoader *loader, const CluSpec *spec)
{
  clu_fabric_check (loader, spec);
  check_tiers (loader, spec);
  gboolean joined = spec->fabric.head.set || loader->clu->domain_nodes >= spec->nodes.v;
  if (spec->nodes.v > 1 && !joined)
    clu_error (
        loader, spec->nodes.set ? spec->nodes.mark : spec->head.mark,
        "%.0f nodes and no 'fabric' to join them; give one (e.g. 'fabric: {kind: single_switch}'), or 'fabric: none' if they "
        "are meant to be apart",
        spec->nodes.v);
}
