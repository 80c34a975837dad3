/* The best of each other cluster option against the recommended one, and how sure the order is. */
#include <math.h>

#include "json-private.h"
#include "plan-private.h"

#define MOST_LINES 16u

static const char *const similarity_texts[PLN_SIMILARITY_N] = { [PLN_SIMILARITY_NETWORK] = "network",
                                                                [PLN_SIMILARITY_SAME_LAYOUT] = "nodes",
                                                                [PLN_SIMILARITY_SAME_GPU] = "cut",
                                                                [PLN_SIMILARITY_OTHER_GPU] = "GPU",
                                                                [PLN_SIMILARITY_NOT_VALIDATED] = "GPU" };
static const char *const differences[PLN_SIMILARITY_N] = { [PLN_SIMILARITY_NETWORK] = "network",
                                                           [PLN_SIMILARITY_SAME_LAYOUT] = "nodes",
                                                           [PLN_SIMILARITY_SAME_GPU] = "layout",
                                                           [PLN_SIMILARITY_OTHER_GPU] = "GPU",
                                                           [PLN_SIMILARITY_NOT_VALIDATED] = "GPU, not validated" };

/* A rival with the machine that it is of. */
typedef struct {
  const PlnAlternative *rival;
  const PlnMachine *machine;
  const char *name;
  gboolean storage;   /* only its storage differs from the recommended option's */
  const char *change; /* "4 NICs, fat_tree", "GPU" */
} Line;

static gboolean
only_storage_differs (const PlnMachine *a, const PlnMachine *b)
{
  return g_strcmp0 (a->topology, b->topology) == 0 && a->nodes == b->nodes && g_strcmp0 (a->domain, b->domain) == 0 &&
         g_strcmp0 (a->nic_count, b->nic_count) == 0 && g_strcmp0 (a->nic_rate, b->nic_rate) == 0 &&
         g_strcmp0 (a->kind, b->kind) == 0 && g_strcmp0 (a->oversubscription, b->oversubscription) == 0 &&
         g_strcmp0 (a->servers, b->servers) != 0;
}

/* What of the option is another one than the first has, where a long name may be cut off. Returned: full; NULL: nothing. */
static char *
change_of (const PlnMachine *its, const PlnMachine *first)
{
  const struct {
    const char *value, *mine, *unit;
  } parts[] = { { its->servers, first->servers, g_strcmp0 (its->servers, "1") == 0 ? " server" : " servers" },
                { its->domain, first->domain, " trays of a rack" },
                { its->nic_count, first->nic_count, g_strcmp0 (its->nic_count, "1") == 0 ? " NIC" : " NICs" },
                { its->nic_rate, first->nic_rate, "" },
                { its->kind, first->kind, "" },
                { its->oversubscription, first->oversubscription, ":1" } };
  GString *text = g_string_new (NULL);
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    if (parts[i].value != NULL && g_strcmp0 (parts[i].value, parts[i].mine) != 0)
      g_string_append_printf (text, "%s%s%s", text->len > 0 ? ", " : "", parts[i].value, parts[i].unit);
  return g_string_free (text, text->len == 0);
}

BASE_MEMBER_NUMBER_OF (rank, Line, it->rival->row + 1)
BASE_MEMBER_TEXT_OF (differs, Line, it->storage ? "storage" : similarity_texts[it->rival->similarity])
BASE_MEMBER_TEXT_OF (differs_by, Line, it->storage ? "storage" : differences[it->rival->similarity])

#define LINE(...)    BASE_MEMBER (Line, __VA_ARGS__)
#define MACHINE(...) BASE_MEMBER_THROUGH (Line, machine, PlnMachine, __VA_ARGS__)
#define RIVAL(...)   BASE_MEMBER_THROUGH (Line, rival, PlnAlternative, __VA_ARGS__)
static const BaseMember members[] = {
  LINE ("machine", name, .title = "cluster option"),
  { .key = "rank", .number = rank },
  MACHINE ("topology", topology),
  MACHINE ("nodes", nodes),
  MACHINE ("nic_rate", nic_rate),
  MACHINE ("oversubscription", oversubscription),
  RIVAL ("more", more, BASE_SHOWN ("more (%)", 100, "%.2f")),
  RIVAL ("more_lo", more_lo, BASE_SHOWN ("from (%)", 100, "%.1f")),
  RIVAL ("more_hi", more_hi, BASE_SHOWN ("to (%)", 100, "%.1f")),
  RIVAL ("odds", odds, BASE_SHOWN ("chance (%)", 100, "%.1f")),
  { .key = "differs", .text = differs },
  RIVAL ("probability", odds),
  { .key = "differs_by", .text = differs_by },
  LINE ("change", change, .title = "differs by"),
  BASE_MEMBER_END,
};

BaseTable *
rep_plan_rivals (const Pln *plan, const PlnResult *result, guint most)
{
  BaseTable *table = base_members_table (members, NULL);
  for (guint i = 0; i < result->rivals->len && i < most; i++) {
    const PlnAlternative *rival = &g_array_index (result->rivals, PlnAlternative, i);
    guint at = g_array_index (result->rows, PlnChoiceRow, rival->row).machine;
    g_autofree char *name = rep_plan_machine (plan, at);
    const PlnMachine *its = &g_array_index (pln_machines (plan), PlnMachine, at);
    const guint first = g_array_index (result->rows, PlnChoiceRow, 0).machine;
    const gboolean storage = rival->similarity == PLN_SIMILARITY_NETWORK &&
                             only_storage_differs (its, &g_array_index (pln_machines (plan), PlnMachine, first));
    g_autofree char *parts = change_of (its, &g_array_index (pln_machines (plan), PlnMachine, first));
    const char *by = storage ? "storage" : differences[rival->similarity];
    const Line line = { rival, its, name, storage, parts != NULL && rival->similarity == PLN_SIMILARITY_NETWORK ? parts : by };
    base_members_add (table, members, &line);
  }
  return table;
}

static guint
n_apart (const PlnResult *result)
{
  guint n = 0;
  for (guint i = 0; i < result->rivals->len; i++)
    n += g_array_index (result->rivals, PlnAlternative, i).odds < PLN_DISTINGUISH_ODDS;
  return n;
}

/* Of a plan for the fewest GPUs: options whose number of GPUs differs. */
static guint
n_of_other_counts (const Pln *plan, const PlnResult *result)
{
  guint n = 0;
  for (guint i = 0; pln_aim (plan) == PLN_AIM_GPUS && i < result->rivals->len; i++) {
    guint row = g_array_index (result->rivals, PlnAlternative, i).row;
    guint32 gpus[2];
    for (guint k = 0; k < 2; k++) {
      guint at = g_array_index (result->rows, PlnChoiceRow, k == 0 ? 0 : row).machine;
      gpus[k] = g_array_index (pln_machines (plan), PlnMachine, at).gpus;
    }
    n += gpus[0] != gpus[1];
  }
  return n;
}

const char *
rep_plan_aim (const Pln *plan)
{
  return pln_aim (plan) == PLN_AIM_GPUS             ? "number of GPUs"
         : pln_aim (plan) == PLN_AIM_COST_PER_TOKEN ? "cost per token"
                                                    : base_name (pln_aim_names, (int)pln_aim (plan));
}

void
rep_plan_rivals_text (const Pln *plan, const PlnResult *result, GString *out)
{
  const char *aim = rep_plan_aim (plan);
  guint n = result->rivals->len, apart = n_apart (result), counted = n_of_other_counts (plan, result);
  if (n == 0)
    return;
  g_string_append_printf (
      out, "\nOther cluster options against the recommended one: %s, its 95 %% range, and the chance to be better.\n", aim);
  rep_text (rep_plan_rivals (plan, result, MOST_LINES), out);
  if (n > MOST_LINES)
    g_string_append_printf (out, "# and %u more\n", n - MOST_LINES);
  if (counted > 0)
    g_string_append (
        out, "Numbers of GPUs are certain: the chance of an option with more GPUs is that the recommended one ends after the "
             "deadline.\n");
  if (counted == n)
    return;
  g_string_append_printf (out, "%u of %u are distinguishable from the recommended one (chance below %.3g %%).\n", apart, n,
                          100 * PLN_DISTINGUISH_ODDS);
}

void
rep_plan_rivals_json (const Pln *plan, const PlnResult *result, JsonBuilder *json)
{
  g_autoptr (BaseTable) table = rep_plan_rivals (plan, result, G_MAXUINT);
  json_builder_set_member_name (json, "rivals");
  base_table_build_json (table, json);
  json_builder_set_member_name (json, "alternatives");
  base_table_build_json (table, json);
}
