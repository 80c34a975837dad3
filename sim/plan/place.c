/* Faults of a machine's scenario, told at the place in the plan that they come from. */
#include <string.h>

#include "plan-private.h"

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

/* A further fault of 'fixed', which was put into the scenario by --set, at its own place. */
static void
place_fault (const Pln *plan, char **line)
{
  if (!g_str_has_prefix (*line, by_set) || !g_str_has_prefix (*line + strlen (by_set), of_fixed))
    return;
  const char *rest = *line + strlen (by_set) + strlen (of_fixed);
  g_autofree char *prefix = base_mark_prefix (mark_of_fixed (plan, rest));
  char *placed = g_strconcat (prefix, "fixed.", rest, NULL);
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
    place_fault (plan, &lines[i]);
  g_autofree char *all = g_strjoinv ("\n", lines);
  const char *path = base_yaml_path (plan->yaml), *why = all, *within = "";
  BaseMark mark = base_yaml_mark (plan->spec.fixed);
  if (g_str_has_prefix (why, by_set)) {
    why += strlen (by_set);
    if (g_str_has_prefix (why, of_fixed)) {
      why += strlen (of_fixed);
      within = "fixed.";
      mark = mark_of_fixed (plan, why);
    } else if (g_str_has_prefix (why, "node.nics.rate:")) {
      mark = pln_mark_of_choice (&c->nic_rate, machine->nic_rate);
      why += strlen ("node.");
    } else if (g_str_has_prefix (why, "nvlink_domain")) {
      mark = pln_mark_of_choice (&c->domain, machine->domain);
    } else if (g_str_has_prefix (why, "node.nics.count:")) {
      mark = pln_mark_of_choice (&c->nic_count, machine->nic_count);
      why += strlen ("node.");
    } else if (g_str_has_prefix (why, "fabric.kind:"))
      mark = pln_mark_of_choice (&c->kind, machine->kind);
    else if (g_str_has_prefix (why, "fabric.oversubscription:"))
      mark = pln_mark_of_choice (&c->oversubscription, machine->oversubscription);
    else if (g_str_has_prefix (why, "storage."))
      mark = pln_mark_of_choice (&c->servers, machine->servers);
    else if (g_str_has_prefix (why, "degrade") && plan->spec.degrade != NULL)
      mark = base_yaml_mark (plan->spec.degrade);
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
  }
  return col_fail_at (error, mark, "%u node%s of %s: %s%s", machine->nodes, machine->nodes == 1 ? "" : "s", machine->topology,
                      within, why);
}
