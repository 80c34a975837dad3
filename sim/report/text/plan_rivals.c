/* The best of each machine beside the first, and how sure the order is. */
#include <math.h>

#include "json-private.h"
#include "plan-private.h"

#define MOST_LINES 16u

static const BaseColumn columns[] = {
  { "machine", "machine", BASE_CELL_TEXT, 0, NULL },      { "rank", NULL, BASE_CELL_INTEGER, 0, NULL },
  { "topology", NULL, BASE_CELL_TEXT, 0, NULL },          { "nodes", NULL, BASE_CELL_INTEGER, 0, NULL },
  { "nic_rate", NULL, BASE_CELL_TEXT, 0, NULL },          { "oversubscription", NULL, BASE_CELL_TEXT, 0, NULL },
  { "more", "more (%)", BASE_CELL_NUMBER, 100, "%.2f" },  { "more_lo", "from (%)", BASE_CELL_NUMBER, 100, "%.1f" },
  { "more_hi", "to (%)", BASE_CELL_NUMBER, 100, "%.1f" }, { "odds", "odds (%)", BASE_CELL_NUMBER, 100, "%.1f" },
  { "differs", "differs by", BASE_CELL_TEXT, 0, NULL },   { NULL, NULL, BASE_CELL_TEXT, 0, NULL },
};

static const char *const kin_texts[PLN_KIN_N] = {
  [PLN_KIN_NETWORK] = "network", [PLN_KIN_SAME_CUT] = "nodes", [PLN_KIN_SAME_GPU] = "cut", [PLN_KIN_OTHER_GPU] = "GPU"
};

char *
rep_plan_choice (const Pln *plan, const PlnChoiceRow *row)
{
  g_autofree char *machine = rep_plan_machine (plan, row->machine);
  GString *text = g_string_new (machine);
  const TrnClosedAsk *ask = &row->ask;
  g_string_append_printf (text, ", tp %u", ask->tp);
  if (ask->cp > 1)
    g_string_append_printf (text, ", cp %u", ask->cp);
  g_string_append_printf (text, ", pp %u", ask->pp);
  if (ask->ep > 1)
    g_string_append_printf (text, ", ep %u", ask->ep);
  g_string_append_printf (text, ", zero %u, mb %u", ask->zero, ask->micro_batch);
  if (ask->pp > 1)
    g_string_append_printf (text, ", %s", base_name (mdl_schedule_names, (int)ask->schedule));
  g_string_append_printf (text, ", recompute %s", base_name (trn_again_names, (int)ask->recompute));
  return g_string_free (text, FALSE);
}

BaseTable *
rep_plan_rivals (const Pln *plan, const PlnResult *result, guint most)
{
  BaseTable *table = base_table_new (columns);
  for (guint i = 0; i < result->rivals->len && i < most; i++) {
    const PlnRival *rival = &g_array_index (result->rivals, PlnRival, i);
    guint at = g_array_index (result->rows, PlnChoiceRow, rival->row).machine;
    const PlnMachine *machine = &g_array_index (pln_machines (plan), PlnMachine, at);
    g_autofree char *name = rep_plan_machine (plan, at);
    base_table_row (table);
    base_table_text (table, "machine", name);
    base_table_integer (table, "rank", rival->row + 1);
    base_table_text (table, "topology", machine->topology);
    base_table_integer (table, "nodes", machine->nodes);
    base_table_text (table, "nic_rate", machine->nic_rate);
    base_table_text (table, "oversubscription", machine->oversubscription);
    base_table_number (table, "more", rival->more);
    base_table_number (table, "more_lo", rival->more_lo);
    base_table_number (table, "more_hi", rival->more_hi);
    base_table_number (table, "odds", rival->odds);
    base_table_text (table, "differs", kin_texts[rival->kin]);
  }
  return table;
}

static guint
n_apart (const PlnResult *result)
{
  guint n = 0;
  for (guint i = 0; i < result->rivals->len; i++)
    n += g_array_index (result->rivals, PlnRival, i).odds < PLN_APART_ODDS;
  return n;
}

void
rep_plan_rivals_text (const Pln *plan, const PlnResult *result, GString *out)
{
  const char *aim = base_name (pln_aim_names, (int)pln_aim (plan));
  guint n = result->rivals->len, apart = n_apart (result);
  if (n == 0)
    return;
  g_string_append_printf (
      out,
      "\n# the best of each other machine beside the first: %s it takes more, 95 %% of what that may be, odds that it "
      "takes less\n",
      aim);
  rep_text (rep_plan_rivals (plan, result, MOST_LINES), out);
  if (n > MOST_LINES)
    g_string_append_printf (out, "# and %u more\n", n - MOST_LINES);
  g_string_append_printf (out, "\ntold apart from the first machine: %u of %u (odds below %.3g %%)\n", apart, n,
                          100 * PLN_APART_ODDS);
}

void
rep_plan_rivals_json (const Pln *plan, const PlnResult *result, JsonBuilder *json)
{
  g_autoptr (BaseTable) table = rep_plan_rivals (plan, result, G_MAXUINT);
  json_builder_set_member_name (json, "rivals");
  base_table_build_json (table, json);
}
