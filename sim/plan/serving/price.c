/* What a row costs and draws. A month has 30 days. */
#include <math.h>

#include "fleet-private.h"

guint
pln_fleet_first (const PlnFleetMachine *machine, const PlnFleetRow *row, guint pool)
{
  const guint end = row->replicas[0] * row->pools[0].gpus;
  if (pool == 0)
    return 0;
  if (!row->apart)
    return end;
  const guint whole = MIN (row->pools[1].gpus, machine->gpus_per_node), first = (end + whole - 1) / whole * whole;
  return pool == 1 ? first : first + row->replicas[1] * row->pools[1].gpus;
}

guint
pln_fleet_nodes (const PlnFleetMachine *machine, const PlnFleetRow *row)
{
  return (pln_fleet_first (machine, row, 2) + machine->gpus_per_node - 1) / machine->gpus_per_node;
}

guint
pln_fleet_bought_nodes (const PlnFleet *fleet, const PlnFleetMachine *machine, const PlnFleetRow *row)
{
  guint span = 1; /* nodes of the largest replica */
  for (guint i = 0; i < (row->apart ? 2u : 1u); i++)
    span = MAX (span, (row->pools[i].gpus + machine->gpus_per_node - 1) / machine->gpus_per_node);
  return pln_fleet_nodes (machine, row) + pln_fleet_lost_nodes (fleet) * span;
}

const PlnFleetPriced *
pln_fleet_priced (PlnFleet *fleet, PlnFleetMachine *its, guint nodes, GError **error)
{
  PlnFleetPriced *priced = g_hash_table_lookup (its->priced, GUINT_TO_POINTER (nodes));
  if (priced != NULL)
    return priced;
  priced = g_new0 (PlnFleetPriced, 1);
  PlnMachine *machine = &priced->machine;
  machine->topology = its->topology;
  machine->nodes = nodes;
  machine->scenario = pln_fleet_cluster (fleet, its->topology, nodes, error);
  if (machine->scenario == NULL) {
    g_free (priced);
    return NULL;
  }
  const Clu *clu = machine->scenario->system.clu;
  const CluGpuSpec *gpu = clu_gpu_spec (clu, 0);
  machine->gpus = machine->scenario->system.gpus->len;
  machine->gpus_per_node = its->gpus_per_node;
  machine->load_W = gpu->power.v;
  machine->idle_W = gpu->idle_power.set ? gpu->idle_power.v : gpu->power.v;
  machine->host_W = clu_node_spec (clu, 0)->power.v;
  g_hash_table_insert (its->priced, GUINT_TO_POINTER (nodes), priced);
  gboolean good = pln_size_machine (fleet->prices, machine, error);
  priced->bare = *machine;
  good = good && pln_price_machine (fleet->prices, machine, error);
  if (!good)
    g_hash_table_remove (its->priced, GUINT_TO_POINTER (nodes));
  return good ? priced : NULL;
}

static double
month_usd (const PlnFleet *fleet, const MdlMoneyQuery *query, double power_W, gboolean has, gboolean own)
{
  const gboolean wanted = fleet->spec.acquire.v == PLN_ACQUIRE_BOTH || own == (fleet->spec.acquire.v == PLN_ACQUIRE_OWN);
  MdlMoneyQuery month = *query;
  MdlMoney money;
  month.power_W = power_W / fmax (query->pue, 1);
  mdl_money (&month, PLN_FLEET_MONTH_S, &money);
  return has && wanted ? money.total_usd : (double)NAN;
}

gboolean
pln_fleet_price (PlnFleet *fleet, PlnFleetRow *row, GError **error)
{
  PlnFleetMachine *its = &g_array_index (fleet->machines, PlnFleetMachine, row->machine);
  row->nodes = pln_fleet_bought_nodes (fleet, its, row);
  row->gpus = row->nodes * its->gpus_per_node;
  const PlnFleetPriced *priced = pln_fleet_priced (fleet, its, row->nodes, error);
  if (priced == NULL)
    return FALSE;
  const PlnMachine *machine = &priced->machine;
  const double pue = machine->own.pue;
  double gpus_W = 0, used = 0;
  for (guint i = 0; i < (row->apart ? 2u : 1u); i++) { /* the closed form does not say how busy they are: at load */
    const double gpus = row->replicas[i] * row->pools[i].gpus,
                 busy = row->simulated ? fmin (row->busy[i], 1) / fleet->spec.goal.peak.v : 1;
    gpus_W += gpus * mdl_power_W (machine->load_W, machine->idle_W, busy);
    used += gpus;
  }
  gpus_W += fmax (row->gpus - used, 0) * machine->idle_W;
  row->power_W = (gpus_W + row->nodes * machine->host_W + machine->fabric_W + machine->storage_W) * pue;
  row->capital_usd = machine->capital_usd;
  const gboolean bought = machine->capital_usd > 0;
  row->own_usd = month_usd (fleet, &machine->own, row->power_W, bought && !machine->without_network, TRUE);
  row->own_least_usd = month_usd (fleet, &machine->own, row->power_W, bought && machine->without_network, TRUE);
  row->rent_usd = month_usd (fleet, &machine->rent, row->power_W, machine->rent_usd_per_s > 0, FALSE);
  row->above_capex = fleet->spec.goal.capex.set && row->capital_usd > fleet->spec.goal.capex.v;
  if (row->above_capex)
    row->own_usd = row->own_least_usd = (double)NAN;
  row->tokens_per_s_gpu = fleet->spec.goal.load.rate.v * fleet->output / row->gpus;
  return TRUE;
}
