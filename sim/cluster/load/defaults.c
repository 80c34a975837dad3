/* Defaults of a topology: a short one names its GPUs and gets the rest of its node and its fabric from the shipped topology that
 * the GPU's type names. A tree without a switch type gets the one of its NICs' type. */
#include <math.h>
#include <string.h>

#include "load/load-private.h"
#include "spec/spec-private.h"

/* Ports of a switch that nothing names: what all current leaf switches of topologies/switches have at the least. */
#define ASSUMED_RADIX 64u

/* Numbers of another cluster are assumptions about this one, however well they are known there. */
static void
assume (const BaseSchema *schema, void *out)
{
  for (const BaseField *field = schema->fields; field->key != NULL; field++) {
    void *at = (char *)out + field->offset;
    if (field->kind == BASE_FIELD_NUM)
      ((BaseNum *)at)->source = BASE_SOURCE_ASSUMED;
    else if (field->kind == BASE_FIELD_MAP)
      assume (field->sub, at);
    else if (field->kind == BASE_FIELD_LIST)
      for (unsigned i = 0; i < ((BaseList *)at)->n; i++)
        assume (field->sub, (char *)((BaseList *)at)->item + i * field->item_size);
  }
}

/* Reads the shipped topology `name` as assumptions. FALSE: an error was added. */
static gboolean
read_like (CluLoader *loader, const char *name, BaseMark mark, CluSpec *like)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = base_lookup_find (loader->context.lookup, name, "topologies", NULL, &error);
  BaseYaml *yaml = path != NULL ? base_yaml_load_file (path, &error) : NULL;
  if (yaml == NULL) {
    clu_error (loader, mark, "%s", error->message);
    return FALSE;
  }
  g_ptr_array_add (loader->clu->yamls, yaml);
  if (!base_schema_read (&clu_schema_topology, base_yaml_root (yaml), FALSE, &loader->context, like))
    return FALSE;
  assume (&clu_schema_topology, like);
  return TRUE;
}

/* Numbers of GPUs that the other node's switches, sockets and links between GPUs do not divide by. lanes_given: by this file. */
static void
fit_to_gpus (CluNodeSpec *node, gboolean lanes_given)
{
  const double gpus = node->gpus.count.v, peers = gpus - 1, lanes = clu_gpu_lanes (node, node->gpus.type.value);
  if (!lanes_given && node->nvlink.kind.v == CLU_SCALE_UP_FULL_MESH && peers > 0 && lanes >= peers && fmod (lanes, peers) != 0)
    node->nvlink.lanes_used = (BaseNum){ .v = peers * floor (lanes / peers), .set = TRUE, .source = BASE_SOURCE_ASSUMED };
  if (node->pcie.switch_per.v > 0 && fmod (gpus, node->pcie.switch_per.v) != 0)
    node->pcie.switch_per.v = 1;
  if (fmod (gpus, node->sockets.count.v) != 0)
    node->sockets.count.v = 1;
}

static void
take_nics (CluNicsSpec *nics, const CluNodeSpec *like)
{
  const CluNicsSpec *from = &like->nics;
  nics->head.set = TRUE;
  if (nics->type.value == NULL)
    nics->type = from->type;
  if (nics->count.set || nics->per_gpu.set)
    return;
  nics->per_gpu = from->per_gpu.set ? from->per_gpu : from->count;
  if (!from->per_gpu.set)
    nics->per_gpu.v /= like->gpus.count.v;
}

static void
take_fabric (CluSpec *spec, const CluSpec *like)
{
  spec->fabric = like->fabric;
  if (g_strcmp0 (spec->node.nics.type.name, like->node.nics.type.name) == 0)
    return;
  spec->fabric.leaf = spec->fabric.spine = spec->fabric.core = (CluTierSpec){ 0 }; /* as the NIC's type has it */
  spec->fabric.sharp = (CluFabricSharp){ 0 };
}

/* A part that a short form gives only partly: its keys over those of the other node. */
static void
overlay (CluLoader *loader, const BaseSchema *schema, const BaseYamlNode *node, const char *key, gconstpointer like, gsize size,
         gpointer part)
{
  const BaseYamlNode *given = node != NULL ? base_yaml_get (node, key) : NULL;
  if (given == NULL || base_yaml_kind (given) != BASE_YAML_MAP)
    return;
  memcpy (part, like, size);
  base_schema_read (schema, given, TRUE, &loader->context, part);
}

static void
fill_short (CluLoader *loader, const BaseYamlNode *root, CluSpec *spec)
{
  CluNodeSpec *node = &spec->node;
  const CluGpuSpec *gpu = node->gpus.type.value;
  BaseMark mark = base_yaml_mark (spec->gpus);
  if (gpu->node.v == NULL) {
    clu_error (loader, mark, "GPU type '%s' has no 'node' to take defaults from; describe this topology's 'node'", gpu->name.v);
    return;
  }
  CluSpec like = { 0 };
  if (!read_like (loader, gpu->node.v, mark, &like))
    return;
  g_autoptr (GString) taken = g_string_new (NULL);
  if (!node->gpus.count.set) {
    node->gpus.count = like.node.gpus.count;
    g_string_append (taken, "number of GPUs, ");
  }
  const BaseYamlNode *given = base_yaml_get (root, "node");
  const CluNvlinkSpec *nv = &node->nvlink;
  const gboolean lanes_given = nv->head.set && nv->lanes_used.set;
  if (node->sockets.head.set)
    overlay (loader, &clu_schema_sockets, given, "sockets", &like.node.sockets, sizeof like.node.sockets, &node->sockets);
  if (lanes_given && nv->switches.v <= 0 && nv->links.n == 0 && nv->dims.n == 0)
    overlay (loader, &clu_schema_nvlink, given, "nvlink", &like.node.nvlink, sizeof like.node.nvlink, &node->nvlink);
#define TAKE(part)                       \
  if (!node->part.head.set) {            \
    node->part = like.node.part;         \
    g_string_append (taken, #part ", "); \
  }
  TAKE (nvlink)
  TAKE (pcie)
  TAKE (sockets)
#undef TAKE
  fit_to_gpus (node, lanes_given);
  if (like.node.nics.head.set &&
      (!node->nics.head.set || !(node->nics.count.set || node->nics.per_gpu.set) || !node->nics.type.set)) {
    take_nics (&node->nics, &like.node);
    g_string_append (taken, "nics, ");
  }
  if (spec->nvlink_domain == NULL)
    spec->nvlink_domain = like.nvlink_domain;
  if (!spec->fabric.head.set) {
    take_fabric (spec, &like);
    g_string_append (taken, "fabric, ");
  }
  if (taken->len > 0)
    base_diag_warn (loader->context.diag, BASE_MARK_NONE, "%s: %.*s are assumed, as in %s; give the keys that differ", spec->name.v,
                    (int)taken->len - 2, taken->str, gpu->node.v);
}

/* A tree without a switch type gets that of its NICs, and in a short form else switches of an assumed size. */
static void
fill_leaf (CluLoader *loader, CluSpec *spec)
{
  const CluNicSpec *nic = spec->node.nics.type.value;
  CluTierSpec *leaf = &spec->fabric.leaf;
  gboolean tree = spec->fabric.kind.v == CLU_FABRIC_FAT_TREE || spec->fabric.kind.v == CLU_FABRIC_RAIL_OPTIMISED;
  if (!spec->fabric.head.set || !tree || leaf->type.set || leaf->radix.set || spec->fabric.levels.n > 0 || spec->fabric.pod.set)
    return;
  if (nic != NULL && nic->leaf.value != NULL) {
    leaf->head.set = TRUE;
    leaf->type = nic->leaf;
  } else if (spec->gpus != NULL && nic != NULL) {
    leaf->head.set = TRUE;
    leaf->radix = (BaseNum){ .v = ASSUMED_RADIX, .set = TRUE, .source = BASE_SOURCE_ASSUMED, .mark = spec->fabric.head.mark };
    base_diag_warn (loader->context.diag, BASE_MARK_NONE,
                    "%s: switches of %u ports are assumed, NIC type '%s' names no switch; fabric.leaf: {radix: …} changes it",
                    spec->name.v, ASSUMED_RADIX, nic->name.v);
  }
}

void
clu_fill_defaults (CluLoader *loader, const BaseYamlNode *root, CluSpec *spec)
{
  CluNodeSpec *node = &spec->node;
  const BaseSchemaContext *context = &loader->context;
  if (spec->gpus != NULL && node->gpus.head.set)
    clu_error (loader, base_yaml_mark (spec->gpus), "'gpus' is also in 'node'; give it once");
  else if (spec->nics != NULL && node->nics.head.set)
    clu_error (loader, base_yaml_mark (spec->nics), "'nics' is also in 'node'; give it once");
  else if (spec->gpus == NULL && !node->gpus.head.set)
    clu_error (loader, node->head.set ? node->head.mark : spec->head.mark,
               "'%s' is missing; a short form is 'gpus: h100_sxm' in 'topology'",
               node->head.set ? "gpus' in 'node" : "node' in 'topology");
  else if ((spec->gpus == NULL || base_schema_read (&clu_schema_gpus, spec->gpus, FALSE, context, &node->gpus)) &&
           (spec->nics == NULL || base_schema_read (&clu_schema_nics, spec->nics, FALSE, context, &node->nics))) {
    if (spec->gpus != NULL && node->gpus.type.value != NULL)
      fill_short (loader, root, spec);
    fill_leaf (loader, spec);
  }
}
