/* The workbook of a plan for a service: its money is that of a month of each option. */
#include <math.h>

#include "base/member.h"
#include "report/fleet.h"
#include "report/workbook.h"

#define MOST 1000u

typedef struct {
  double rank, nodes, gpus, ttft_s, tpot_s, good, tokens, capex, own, rent, mtok;
  const char *topology, *by;
  char *replicas; /* owned */
} Line;

#define LINE(...) BASE_MEMBER (Line, __VA_ARGS__)
static const BaseMember members[] = {
  LINE ("rank", rank, BASE_SHOWN ("#", 1, "%.0f")),
  LINE ("topology", topology, .title = "topology"),
  LINE ("replicas", replicas, .title = "replicas"),
  LINE ("nodes", nodes, BASE_SHOWN ("nodes", 1, "%.0f")),
  LINE ("gpus", gpus, BASE_SHOWN ("GPUs", 1, "%.0f")),
  LINE ("ttft_s", ttft_s, BASE_SHOWN ("TTFT (ms)", 1e3, "%.4g")),
  LINE ("tpot_s", tpot_s, BASE_SHOWN ("TPOT (ms)", 1e3, "%.4g")),
  LINE ("good_fraction", good, BASE_SHOWN ("in SLO (%)", 100, "%.1f")),
  LINE ("output_tokens_per_s_per_gpu", tokens, BASE_SHOWN ("tokens/s a GPU", 1, "%.4g")),
  LINE ("capex_usd", capex, BASE_SHOWN ("to buy (USD)", 1, "%.0f"), .positive = TRUE),
  LINE ("run_cost_own_usd", own, BASE_SHOWN ("a month, owned (USD)", 1, "%.0f")),
  LINE ("run_cost_rent_usd", rent, BASE_SHOWN ("a month, rented (USD)", 1, "%.0f")),
  LINE ("usd_per_token", mtok, BASE_SHOWN ("USD/Mtok", 1, "%.4g")),
  LINE ("by", by, .title = "by"),
  BASE_MEMBER_END,
};

static void
line_clear (gpointer data)
{
  g_free (((Line *)data)->replicas);
}

static BaseTable *
table_of (const PlnFleet *fleet, const PlnFleetResult *result, guint n)
{
  g_autoptr (GArray) lines = g_array_new (FALSE, FALSE, sizeof (Line));
  g_array_set_clear_func (lines, line_clear);
  for (guint i = 0; i < n; i++) {
    const PlnFleetRow *row = &g_array_index (result->rows, PlnFleetRow, i);
    const Line line = { .rank = i + 1,
                        .topology = pln_fleet_topology (fleet, row->machine),
                        .replicas = rep_fleet_replicas (row),
                        .nodes = row->nodes,
                        .gpus = row->gpus,
                        .ttft_s = row->ttft_s,
                        .tpot_s = row->tpot_s,
                        .good = row->good,
                        .tokens = row->tokens_per_s_gpu,
                        .capex = row->capital_usd,
                        .own = row->own_usd,
                        .rent = row->rent_usd,
                        .mtok = row->usd_per_Mtok,
                        .by = row->simulated ? "engine" : "formula" };
    g_array_append_val (lines, line);
  }
  return base_members_table (members, lines);
}

GString *
rep_fleet_workbook (PlnFleet *fleet, const PlnFleetResult *result, guint most, const char *header, GError **error)
{
  const guint n = MIN (MIN (most, MOST), result->rows->len);
  g_autoptr (PlnResult) money = NULL;
  const Pln *plan = pln_fleet_money (fleet, result, &money, error);
  if (plan == NULL)
    return NULL;
  g_autofree char *title = g_strdup_printf ("Plan %s, model %s", pln_fleet_name (fleet), pln_fleet_model (fleet));
  g_autofree char *infeasible = rep_fleet_infeasible (fleet, result);
  g_autoptr (GPtrArray) said = n > 0 ? rep_fleet_sentences (fleet, result) : g_ptr_array_new ();
  g_autoptr (GPtrArray) layouts = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (BaseTable) table = table_of (fleet, result, n);
  g_autofree guint *shown = g_new (guint, n + 1);
  for (guint i = 0; i < n; i++) {
    shown[i] = i;
    g_ptr_array_add (layouts, rep_fleet_replicas (&g_array_index (result->rows, PlnFleetRow, i)));
  }
  g_ptr_array_add (said, NULL);
  const RepWorkbook what = { .title = title,
                             .description = pln_fleet_description (fleet),
                             .infeasible = infeasible,
                             .said = (const char *const *)said->pdata,
                             .header = header,
                             .period = "a month",
                             .table = table,
                             .shown = shown,
                             .layouts = (const char *const *)layouts->pdata,
                             .n_shown = n };
  return rep_money_workbook (plan, money, &what, error);
}
