/* The table of fabric kinds, and what is asked of it by kind. */
#include <string.h>

#include "fabric/fabric-private.h"

#define AS_OPS(constant, name, help) &clu_fabric_##name,
const CluFabricOps *const clu_fabric_kinds[CLU_FABRIC_N] = { NULL, CLU_FABRIC_KINDS (AS_OPS) };

/* Keys of `fabric` that are not for every kind. */
typedef struct {
  const char *key;
  gboolean set;
  BaseMark mark;
} Key;
enum { N_KEYS = 9 };

static void
list_keys (const CluFabricSpec *f, Key out[N_KEYS])
{
  const Key keys[N_KEYS] = { { "oversubscription", f->oversubscription.set, f->oversubscription.mark },
                             { "levels", f->levels.set, f->levels.mark },
                             { "spine", f->spine.head.set, f->spine.head.mark },
                             { "core", f->core.head.set, f->core.head.mark },
                             { "pod", f->pod.set, f->pod.mark },
                             { "dims", f->dims.set, f->dims.mark },
                             { "dragonfly", f->dragonfly.head.set, f->dragonfly.head.mark },
                             { "switches", f->switches.set, f->switches.mark },
                             { "links", f->links.set, f->links.mark } };
  memcpy (out, keys, sizeof keys);
}

gboolean
clu_fabric_knows_key (const char *key)
{
  Key keys[N_KEYS];
  list_keys (&(CluFabricSpec){ 0 }, keys);
  for (gsize i = 0; i < N_KEYS; i++)
    if (strcmp (keys[i].key, key) == 0)
      return TRUE;
  return FALSE;
}

static gboolean
has_key (const CluFabricOps *ops, const char *key)
{
  return ops != NULL && ops->keys != NULL && g_strv_contains (ops->keys, key);
}

/* Names of the kinds that `key` is for, or (NULL) to which storage can be attached. Returned: full. */
static char *
kinds_with (const char *key, const char *separator)
{
  GString *names = g_string_new (NULL);
  for (CluFabricKind kind = CLU_FABRIC_NONE; kind < CLU_FABRIC_N; kind++)
    if (key != NULL ? has_key (clu_fabric_kinds[kind], key) : clu_fabric_attaches (kind))
      g_string_append_printf (names, "%s%s", names->len > 0 ? separator : "", base_name (clu_fabric_names, (int)kind));
  return g_string_free (names, FALSE);
}

gboolean
clu_fabric_attaches (CluFabricKind kind)
{
  return clu_fabric_kinds[kind] != NULL && clu_fabric_kinds[kind]->attach != NULL;
}

char *
clu_fabric_attaching_kinds (void)
{
  return kinds_with (NULL, ", ");
}

static void
check_sharp (CluLoader *loader, const CluFabricSpec *f)
{
  const CluSwitchSpec *type = f->leaf.type.value;
  if (f->sharp.offered.v && type != NULL && type->sharp.offered.set && !type->sharp.offered.v)
    clu_error (loader, f->sharp.offered.mark, "switch type '%s' does not reduce in the network; leave 'sharp' out",
               f->leaf.type.name);
  gboolean limited = type != NULL && (type->sharp.stream.set || type->sharp.trees.set);
  if (f->sharp.jobs.v > 0.0 && !limited)
    clu_error (
        loader, f->sharp.jobs.mark,
        "'jobs' cannot matter: no limit is known of the leaf's reduction; give 'leaf' a type with `sharp: {stream: …, trees: …}`");
}

void
clu_fabric_check (CluLoader *loader, const CluSpec *spec)
{
  const CluFabricSpec *f = &spec->fabric;
  const CluFabricOps *ops = clu_fabric_kinds[f->kind.v];
  Key keys[N_KEYS];
  list_keys (f, keys);
  for (gsize i = 0; i < N_KEYS; i++)
    if (keys[i].set && !has_key (ops, keys[i].key)) {
      g_autofree char *owners = kinds_with (keys[i].key, " or ");
      clu_error (loader, keys[i].mark, "'%s' has no meaning for fabric kind %s; it belongs to %s", keys[i].key,
                 base_name (clu_fabric_names, f->kind.v), owners);
    }
  if (f->levels.set && f->oversubscription.set)
    clu_error (loader, f->oversubscription.mark, "'levels' already says what is oversubscribed; leave one of the two");
  if (ops != NULL && ops->check != NULL)
    ops->check (loader, spec);
  check_sharp (loader, f);
}

void
clu_fabric_build (CluLoader *loader, const CluParams *wire)
{
  Clu *clu = loader->clu;
  CluFabric *fabric = &clu->fabric;
  const CluFabricSpec *spec = &clu->spec.fabric;
  const CluFabricOps *ops = clu_fabric_kinds[spec->kind.v];
  if (ops == NULL)
    return;
  if (wire == NULL) {
    clu_error (loader, spec->head.mark, "a fabric of kind %s, but no node has adapters on it; give 'node.nics' or 'fabric: none'",
               base_name (clu_fabric_names, spec->kind.v));
    return;
  }
  fabric->clu = clu;
  fabric->routing = (CluRouting)spec->routing.v;
  fabric->seed = spec->seed.set ? (guint64)spec->seed.v : clu->seed;
  fabric->n_endpoints = clu->n_nics;
  if (ops->build (loader, wire))
    fabric->ops = ops;
}
