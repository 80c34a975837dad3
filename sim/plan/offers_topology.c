/* What a topology says of an offer's machines: an offer that names one takes from its `cost` what the offers file leaves out.
 *
 *     price of a machine = node + (NIC ports x nic_port + switch ports x switch_port + cables x cable) / machines
 *     power of a machine = GPUs at load and the node beside them; switches are left out
 * Check: test_plan_offers. */
#include "offers-private.h"

#include <math.h>

#include "cluster/spec.h"
#include "plan-private.h"

/* What one of the network's parts adds to a machine. */
static void
add_part (BaseNum *price, double n, double machines, const BaseNum *each)
{
  if (!each->set || !(n > 0))
    return;
  price->v += n / machines * each->v;
  price->source = MIN (price->source, each->source);
}

static void
take (BaseNum *num, double value, const BaseNum *from, const PlnAcquisitionSpec *way)
{
  if (num->set)
    return;
  *num = (BaseNum){ .v = value, .set = TRUE, .source = from->source, .note = from->note, .mark = way->topology.mark };
}

static void
take_price (const Clu *clu, const CluCostSpec *cost, PlnAcquisitionSpec *way)
{
  const double n = way->machines.v;
  CluFabricParts parts = { 0 };
  if (clu_n_nodes (clu) > 1)
    clu_fabric_parts (clu, &parts);
  take (&way->price, cost->node.v, &cost->node, way);
  add_part (&way->price, MAX (parts.host_ports, parts.adapters), n, &cost->nic_port);
  add_part (&way->price, (double)parts.host_ports + 2 * (double)parts.cables, n, &cost->switch_port);
  add_part (&way->price, (double)parts.host_ports + parts.cables, n, &cost->cable);
}

/* Bought or rented: as the offer says, else as the topology has a price of. */
static gboolean
take_cost (const Clu *clu, PlnAcquisitionSpec *way, GError **error)
{
  const CluCostSpec *cost = &clu_spec (clu)->cost;
  if (way->price.set || way->rent.set)
    return TRUE;
  const gboolean both = way->acquisition.set && way->acquisition.v == PLN_ACQUIRE_BOTH;
  const gboolean own = way->acquisition.set ? way->acquisition.v != PLN_ACQUIRE_RENT : !cost->rent.set;
  const gboolean rent = way->acquisition.set ? way->acquisition.v != PLN_ACQUIRE_OWN : !own;
  if (!way->acquisition.set && cost->node.set && cost->rent.set)
    return col_fail_at (error, way->topology.mark,
                        "the cost of '%s' has both 'node' and 'rent'; write 'acquisition: own', 'rent' or 'both'", clu_name (clu));
  if ((own && !cost->node.set) || (rent && !cost->rent.set))
    return col_fail_at (error, way->topology.mark, "topology '%s' has no 'cost: {%s}'; write '%s' here, or give it there%s",
                        clu_name (clu), own && !cost->node.set ? "node" : "rent", own && !cost->node.set ? "price" : "rent",
                        both ? "; or leave 'acquisition' out" : "");
  if (own)
    take_price (clu, cost, way);
  if (rent)
    take (&way->rent, cost->rent.v, &cost->rent, way);
  return TRUE;
}

gboolean
pln_offers_ask_topology (PlnOffersSpec *spec, PlnAcquisitionSpec *way, const BaseLookup *lookup, GPtrArray *inputs, Clu **clu,
                         GError **error)
{
  const CluLoadOptions options = { .nodes = (guint32)way->machines.v, .inputs = inputs };
  g_autoptr (BaseDiag) warnings = base_diag_new ();
  g_autoptr (GError) why = NULL;
  *clu = clu_load (way->topology.v, way->topology.mark.file, lookup, NULL, &options, warnings, &why);
  if (*clu == NULL)
    return col_fail_at (error, way->topology.mark, "%s", why->message);
  if (!take_cost (*clu, way, error))
    return FALSE;
  double power_W = clu_node_spec (*clu, 0)->power.v;
  const CluGpuSpec *gpu = clu_gpu_spec (*clu, 0);
  power_W += gpu->power.v * clu_gpus_per_node (*clu, 0);
  if (gpu->power.set)
    take (&way->power, power_W, &gpu->power, way);
  const BaseNum *electricity = &clu_spec (*clu)->cost.power;
  if (!spec->electricity.set && electricity->set)
    take (&spec->electricity, electricity->v, electricity, way);
  return TRUE;
}
