/* Faults of a machine's scenario, told at the place in the plan that they come from. */
#include <string.h>

#include "plan-private.h"

gboolean
pln_are_kin (const PlnMachine *a, const PlnMachine *b)
{
  return a->nodes == b->nodes && g_strcmp0 (a->topology, b->topology) == 0 && g_strcmp0 (a->domain, b->domain) == 0 &&
         g_strcmp0 (a->nic_count, b->nic_count) == 0 && g_strcmp0 (a->kind, b->kind) == 0;
}

/* The place of a key below 'fixed' by its path ("precision.compute: …"), as far as it goes. */
static BaseMark
mark_of_fixed (const Pln *plan, const char *path)
{
  g_autofree char *alone = g_strndup (path, strcspn (path, ":"));
  g_auto (GStrv) keys = g_strsplit (alone, ".", -1);
  const BaseYamlNode *node = plan->spec.fixed;
  BaseMark mark = base_yaml_mark (node);
  for (guint k = 0; keys[k] != NULL && node != NULL; k++) {
    const BaseYamlNode *below = base_yaml_get (node, keys[k]);
    for (unsigned i = 0; below != NULL && i < base_yaml_n (node); i++)
      if (base_yaml_item (node, i) == below)
        mark = base_yaml_key_mark (node, i);
    node = below;
  }
  return mark;
}

BaseMark
pln_mark_of_choice (const BaseStrs *list, const char *text)
{
  BaseMark mark = list->mark;
  for (guint i = 0; i < list->n; i++)
    if (list->item[i].v == text)
      mark = list->item[i].mark;
  return mark;
}

static const char by_set[] = "--set ", of_fixed[] = "workload.";

/* A fault of a key that was put into the scenario by --set: its place in the plan, and *why from the name on that it has there. */
static BaseMark
mark_of_set (const Pln *plan, const PlnMachine *machine, const char **why)
{
  const PlnChoicesSpec *c = &plan->spec.choices;
  const struct {
    const char *prefix;
    const BaseStrs *list;
    const char *value;
    gsize cut; /* of the prefix */
  } choices[] = { { "node.nics.rate:", &c->nic_rate, machine->nic_rate, strlen ("node.") },
                  { "node.nics.count:", &c->nic_count, machine->nic_count, strlen ("node.") },
                  { "nvlink_domain", &c->domain, machine->domain, 0 },
                  { "fabric.kind:", &c->kind, machine->kind, 0 },
                  { "fabric.oversubscription:", &c->oversubscription, machine->oversubscription, 0 },
                  { "storage.", &c->servers, machine->servers, 0 } };
  for (guint i = 0; i < G_N_ELEMENTS (choices); i++)
    if (choices[i].value != NULL && g_str_has_prefix (*why, choices[i].prefix)) {
      *why += choices[i].cut;
      return pln_mark_of_choice (choices[i].list, choices[i].value);
    }
  if (g_str_has_prefix (*why, "degrade") && plan->spec.degrade != NULL)
    return base_yaml_mark (plan->spec.degrade);
  return base_yaml_mark (plan->spec.fixed);
}

/* A further fault, of which each has a line, at its own place. */
static void
place_fault (const Pln *plan, const PlnMachine *machine, char **line)
{
  if (!g_str_has_prefix (*line, by_set))
    return;
  const char *rest = *line + strlen (by_set);
  const gboolean fixed = g_str_has_prefix (rest, of_fixed);
  rest += fixed ? strlen (of_fixed) : 0;
  const BaseMark mark = fixed ? mark_of_fixed (plan, rest) : mark_of_set (plan, machine, &rest);
  g_autofree char *prefix = base_mark_prefix (mark);
  char *placed = g_strconcat (prefix, fixed ? "fixed." : "", rest, NULL);
  g_free (*line); /* which `rest` lies in */
  *line = placed;
}

gboolean
pln_tell_machine (const Pln *plan, const PlnMachine *machine, GError **error)
{
  const PlnChoicesSpec *c = &plan->spec.choices;
  g_autoptr (GError) cause = NULL;
  g_propagate_error (&cause, g_steal_pointer (error));
  g_auto (GStrv) lines = g_strsplit (cause->message, "\n", -1); /* one a fault */
  for (guint i = 1; lines[0] != NULL && lines[i] != NULL; i++)
    place_fault (plan, machine, &lines[i]);
  g_autofree char *all = g_strjoinv ("\n", lines);
  const char *path = base_yaml_path (plan->yaml), *why = all, *within = "";
  BaseMark mark = base_yaml_mark (plan->spec.fixed);
  if (g_str_has_prefix (why, by_set)) {
    why += strlen (by_set);
    if (g_str_has_prefix (why, of_fixed)) {
      why += strlen (of_fixed);
      within = "fixed.";
      mark = mark_of_fixed (plan, why);
    } else
      mark = mark_of_set (plan, machine, &why);
  } else if (g_str_has_prefix (why, path) && why[strlen (path)] == ':') {
    char *rest = NULL;
    guint64 line = g_ascii_strtoull (why + strlen (path) + 1, &rest, 10);
    guint64 column = *rest == ':' ? g_ascii_strtoull (rest + 1, NULL, 10) : 0;
    if (line == 2)
      mark = pln_mark_of_choice (&c->topology, machine->topology);
    if (line == 3 && column > strlen ("workload: {"))
      mark = plan->spec.goal.model.mark;
    const char *end = strstr (rest, ": ");
    why = end != NULL ? end + strlen (": ") : why;
  } else if (strstr (why, "nics.rate") != NULL && machine->nic_rate != NULL) /* of a file of the topology, as it is then */
    mark = pln_mark_of_choice (&c->nic_rate, machine->nic_rate);
  else if (strstr (why, ".yaml:") != NULL && machine->kind != NULL &&
           (strstr (why, machine->kind) != NULL || strstr (why, "the switch has") != NULL))
    mark = pln_mark_of_choice (&c->kind, machine->kind);
  else if (strstr (why, ".yaml:") != NULL)
    mark = pln_mark_of_choice (&c->topology, machine->topology);
  return col_fail_at (error, mark, "%u node%s of %s: %s%s", machine->nodes, machine->nodes == 1 ? "" : "s", machine->topology,
                      within, why);
}
