/* The kinds of workloads: tables that SCN_KIND_ROWS makes. */
#include <string.h>

#include "scenario/loaded.h"

#define NAME_ROW(code, name, help) { #name, SCN_KIND_##code, help },
const BaseName scn_kind_names[] = { SCN_KIND_ROWS (NAME_ROW){ NULL, 0, NULL } };

#define OPS_ROW(code, name, help) [SCN_KIND_##code] = &scn_kind_##name,
static const ScnKindOps *const kinds[SCN_KIND_N] = { SCN_KIND_ROWS (OPS_ROW) };

const ScnKindOps *
scn_kind_ops (ScnKind kind)
{
  return kinds[kind];
}

const BaseMember *
scn_result_members (const ScnResult *result)
{
  return kinds[result->kind]->members;
}

const char *
scn_result_answer (const ScnResult *result)
{
  return kinds[result->kind]->answer;
}

/* The value of a member that a row names. */
static BaseValue
value_of (const ScnResult *result, const BaseMember *member)
{
  const BaseMember one[] = { *member, BASE_MEMBER_END };
  BaseValue value = { 0 };
  base_members_value (one, scn_result_own (result), member->key, &value);
  return value;
}

double
scn_result_time_s (const ScnResult *result)
{
  const ScnKindOps *ops = kinds[result->kind];
  return value_of (result, &ops->time).number * (ops->repeats ? result->repeat : 1);
}

const void *
scn_result_own (const ScnResult *result)
{
  return kinds[result->kind]->spec_size > 0 ? result->own : (const void *)result;
}

const char *
scn_result_asked (const ScnResult *result)
{
  const ScnKindOps *ops = kinds[result->kind];
  return ops->asked != NULL ? ops->asked (result) : NULL;
}

const char *
scn_result_bound_by (const ScnResult *result)
{
  return value_of (result, &kinds[result->kind]->bound).text;
}

char *
scn_kind_fault (const ScnKindOps *ops, const char *name)
{
  const char *missing = ops->schema == NULL                          ? "schema"
                        : ops->spec == 0 && ops->spec_size == 0      ? "spec_size"
                        : ops->run == NULL                           ? "run"
                        : ops->time.key == NULL                      ? "time"
                        : ops->bound.key == NULL                     ? "bound"
                        : ops->spec_size > 0 && ops->members == NULL ? "members"
                                                                     : NULL;
  return missing == NULL ? NULL
                         : g_strdup_printf ("kind of workload '%s' lacks its '%s': scn_kind_%s in sim/scenario must have one", name,
                                            missing, name);
}

gboolean
scn_self_check (GError **error)
{
  g_autofree char *fault = NULL;
  for (int kind = 0; kind < SCN_KIND_N && fault == NULL; kind++)
    fault = scn_kind_fault (kinds[kind], base_name (scn_kind_names, kind));
  if (fault != NULL)
    g_set_error (error, BASE_ERROR, BASE_ERROR_RUN, "the program's own tables are wrong: %s", fault);
  return fault == NULL;
}

static gboolean
is_moe (const BaseYamlNode *op)
{
  const char *text = op != NULL ? base_yaml_text (op) : NULL;
  return text != NULL && g_str_has_prefix (text, "moe_");
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
  g_autofree char *accepted = base_accepted (text, known, NULL);
  if (text == NULL) {
    base_diag_error (context->diag, base_yaml_mark (kind_node != NULL ? kind_node : node),
                     kind_node != NULL ? "'kind' of 'workload' must be one word%s" : "'workload' has no 'kind'%s", accepted);
    return;
  }
  if (!g_strv_contains (known, text)) {
    base_diag_error (context->diag, base_yaml_mark (kind_node), "unknown workload kind '%s'%s", text, accepted);
    return;
  }
  while (strcmp (known[scenario->kind], text) != 0)
    scenario->kind++;
  const BaseYamlNode *op = base_yaml_get (node, "op");
  if (scenario->kind == SCN_KIND_COLLECTIVE && is_moe (op))
    scenario->kind = SCN_KIND_MOE; /* a collective with keys of its own */
  const ScnKindOps *ops = scn_kind_ops (scenario->kind);
  if (ops->spec_size > 0)
    scenario->own = base_arena_alloc (context->arena, ops->spec_size);
  base_schema_read (ops->schema, node, FALSE, context,
                    ops->spec_size > 0 ? scenario->own : G_STRUCT_MEMBER_P (scenario, ops->spec));
  if (ops->read != NULL)
    ops->read (scenario, node, context);
}
