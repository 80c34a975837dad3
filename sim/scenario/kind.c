/* The kinds of workloads: a row in each of two tables. */
#include <string.h>

#include "scenario/loaded.h"

const BaseName scn_kind_names[] = {
  { "collective", SCN_KIND_COLLECTIVE, "one collective operation" },
  { "transfer", SCN_KIND_TRANSFER, "copies from one device to another" },
  { "training", SCN_KIND_TRAINING, "a training step of a model, or of layers with given times" },
  { "io", SCN_KIND_IO, "storage reads and writes" },
  { NULL, 0, NULL },
};

static const ScnKindOps *const kinds[SCN_KIND_N] = {
  [SCN_KIND_COLLECTIVE] = &scn_kind_collective,
  [SCN_KIND_TRANSFER] = &scn_kind_transfer,
  [SCN_KIND_TRAINING] = &scn_kind_training,
  [SCN_KIND_IO] = &scn_kind_io,
};

const ScnKindOps *
scn_kind_ops (ScnKind kind)
{
  return kinds[kind];
}

void
scn_read_workload (Scn *scenario, const BaseYamlNode *node, const BaseSchemaContext *context)
{
  const BaseYamlNode *kind_node = node != NULL ? base_yaml_get (node, "kind") : NULL;
  const char *text = kind_node != NULL ? base_yaml_text (kind_node) : NULL, *known[SCN_KIND_N + 1] = { NULL };
  if (node == NULL)
    return;
  for (int kind = 0; kind < SCN_KIND_N; kind++)
    known[kind] = base_name (scn_kind_names, kind);
  g_autofree char *accepted = g_strjoinv (", ", (char **)known);
  if (text == NULL) {
    base_diag_error (context->diag, base_yaml_mark (kind_node != NULL ? kind_node : node),
                     kind_node != NULL ? "'kind' of 'workload' must be one word; accepted: %s"
                                       : "'workload' has no 'kind'; accepted: %s",
                     accepted);
    return;
  }
  if (!g_strv_contains (known, text)) {
    g_autofree char *hint = base_hint (text, known);
    base_diag_error (context->diag, base_yaml_mark (kind_node), "unknown workload kind '%s'%s; accepted: %s", text, hint, accepted);
    return;
  }
  while (strcmp (known[scenario->kind], text) != 0)
    scenario->kind++;
  const ScnKindOps *ops = scn_kind_ops (scenario->kind);
  base_schema_read (ops->schema, node, FALSE, context, G_STRUCT_MEMBER_P (scenario, ops->spec));
  if (ops->read != NULL)
    ops->read (scenario, node, context);
}
