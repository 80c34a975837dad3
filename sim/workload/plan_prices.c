/* What machines cost: lists of prices, and a machine's parts counted from its cluster. */
#include <math.h>
#include <string.h>

#include "cluster/spec.h"
#include "plan-private.h"

const char *const wrk_buy_names[WRK_BUY_N] = {
  [WRK_BUY_NODES] = "nodes",   [WRK_BUY_NETWORK] = "network", [WRK_BUY_ADAPTERS] = "adapters", [WRK_BUY_SWITCHES] = "switches",
  [WRK_BUY_OPTICS] = "optics", [WRK_BUY_CABLES] = "cables",   [WRK_BUY_STORAGE] = "storage",
};

static const BaseField port_fields[] = {
  BASE_ROW_NUM (WrkPortPrice, "rate", rate, BANDWIDTH, .required = TRUE, .min = "1 Gb/s", .help = "of ports up to this"),
  BASE_ROW_NUM (WrkPortPrice, "adapter", adapter, MONEY, .fallback = "0", .help = "a port of an adapter; default: in the node"),
  BASE_ROW_NUM (WrkPortPrice, "transceiver", transceiver, MONEY, .fallback = "0",
                .help = "optics of an end of a cable; default: copper, in the cable"),
  BASE_ROW_NUM (WrkPortPrice, "cable", cable, MONEY, .required = TRUE, .help = "a cable, without transceivers"),
  BASE_ROW_END,
};
static const BaseSchema port_schema = { .name = "ports", .help = "What hangs on a port.", .fields = port_fields };

static const BaseField switch_fields[] = {
  BASE_ROW (WrkSwitchPrice, "type", type, STR, .required = TRUE, .help = "a name of topologies/switches"),
  BASE_ROW_NUM (WrkSwitchPrice, "price", price, MONEY, .required = TRUE, .help = "of one, without optics"),
  BASE_ROW_END,
};
static const BaseSchema switch_schema = { .name = "switches", .help = "A switch's price.", .fields = switch_fields };

static const BaseField fabric_fields[] = {
  BASE_ROW (WrkFabricPrice, "ports", ports, LIST, .sub = &port_schema, .item_size = sizeof (WrkPortPrice), .required = TRUE,
            .help = "by rate, rising"),
  BASE_ROW (WrkFabricPrice, "switches", switches, LIST, .sub = &switch_schema, .item_size = sizeof (WrkSwitchPrice),
            .required = TRUE, .help = "by type"),
  BASE_ROW_END,
};
static const BaseSchema fabric_schema = { .name = "fabric", .help = "Prices of a fabric's parts.", .fields = fabric_fields };

static const BaseField node_price_fields[] = {
  BASE_ROW (WrkNodePrice, "topology", topology, STR, .required = TRUE, .help = "whose node"),
  BASE_ROW_NUM (WrkNodePrice, "node", node, MONEY, .help = "to buy one, with its GPUs; without adapters, which the network has"),
  BASE_ROW_NUM (WrkNodePrice, "rent", rent, MONEY_PER_TIME, .help = "of one, power and network with it"),
  BASE_ROW_END,
};
static const BaseSchema node_price_schema = { .name = "nodes", .help = "A node's price.", .fields = node_price_fields };

static const BaseField prices_fields[] = {
  BASE_ROW (WrkPricesSpec, "prices", name, STR, .required = TRUE, .help = "their name"),
  BASE_ROW (WrkPricesSpec, "description", description, STR, .help = "one line"),
  BASE_ROW (WrkPricesSpec, "currency", currency, STR, .required = TRUE, .help = "USD: no other is reckoned in"),
  BASE_ROW (WrkPricesSpec, "date", date, STR, .required = TRUE, .help = "of the figures: year, or year-month-day"),
  BASE_ROW_NUM (WrkPricesSpec, "network", network, MONEY,
                .help = "of a GPU that is bought: adapters, switches, optics and cables; or:"),
  BASE_ROW (WrkPricesSpec, "fabric", fabric, MAP, .sub = &fabric_schema,
            .help = "in place of `network`: each machine's fabric, by its adapters, switches, optics and cables"),
  BASE_ROW_NUM (WrkPricesSpec, "storage_server", storage_server, MONEY, .fallback = "0",
                .help = "of a server of the topology's storage tiers"),
  BASE_ROW_NUM (WrkPricesSpec, "electricity", electricity, MONEY_PER_ENERGY, .required = TRUE, .help = "of energy"),
  BASE_ROW_NUM (WrkPricesSpec, "pue", pue, NUMBER, .min = "1", .max = "10", .fallback = "1",
                .help = "power that the building draws over what computers use"),
  BASE_ROW_NUM (WrkPricesSpec, "amortisation", amortisation, TIME, .min = "1 day",
                .help = "over which what is bought is paid; default: the run bears all of it"),
  BASE_ROW (WrkPricesSpec, "nodes", nodes, LIST, .sub = &node_price_schema, .item_size = sizeof (WrkNodePrice), .required = TRUE,
            .help = "by topology"),
  BASE_ROW_END,
};
const BaseSchema wrk_schema_prices = { .name = "prices", .help = "What machines and energy cost.", .fields = prices_fields };

gboolean
wrk_plan_check_prices (const WrkPricesSpec *prices, GError **error)
{
  const WrkFabricPrice *fabric = &prices->fabric;
  if (!fabric->head.set)
    return TRUE;
  if (prices->network.set)
    return wrk_fail_at (error, prices->network.mark, "'network' and 'fabric' price the same; accepted: one of them");
  if (fabric->ports.n == 0)
    return wrk_fail_at (error, fabric->ports.mark, "'ports' is empty; accepted: one rate or more");
  for (guint i = 1; i < fabric->ports.n; i++) {
    const WrkPortPrice *before = BASE_LIST_AT (fabric->ports, WrkPortPrice, i - 1), *port = before + 1;
    if (port->rate.v <= before->rate.v)
      return wrk_fail_at (error, port->rate.mark, "rates of 'ports' rise; accepted: each above the one before");
  }
  return TRUE;
}

static const WrkNodePrice *
price_of (const WrkPlan *plan, const char *topology)
{
  for (guint i = 0; plan->has_prices && i < plan->prices.nodes.n; i++) {
    const WrkNodePrice *price = BASE_LIST_AT (plan->prices.nodes, WrkNodePrice, i);
    if (strcmp (price->topology.v, topology) == 0)
      return price;
  }
  return NULL;
}

/* The first rate at or above `rate_Bps`; NULL: there is none. */
static const WrkPortPrice *
port_of (const WrkFabricPrice *fabric, double rate_Bps)
{
  for (guint i = 0; i < fabric->ports.n; i++) {
    const WrkPortPrice *port = BASE_LIST_AT (fabric->ports, WrkPortPrice, i);
    if (port->rate.v >= rate_Bps * (1 - 1e-9))
      return port;
  }
  return NULL;
}

static const WrkSwitchPrice *
switch_of (const WrkFabricPrice *fabric, const CluSwitchSpec *type)
{
  for (guint i = 0; type != NULL && i < fabric->switches.n; i++) {
    const WrkSwitchPrice *one = BASE_LIST_AT (fabric->switches, WrkSwitchPrice, i);
    if (strcmp (one->type.v, type->name.v) == 0)
      return one;
  }
  return NULL;
}

static gboolean
price_fabric (const WrkFabricPrice *fabric, const CluFabricParts *parts, WrkMachine *machine, GError **error)
{
  const WrkPortPrice *port = port_of (fabric, parts->port_rate_Bps);
  if (parts->adapters == 0)
    return TRUE;
  if (port == NULL)
    return wrk_fail_at (error, fabric->ports.mark,
                        "no price of ports of %.4g Gb/s, which %s has; accepted: a 'rate' of that or more",
                        parts->port_rate_Bps * 8e-9, machine->topology);
  for (guint32 l = 0; l < parts->n_levels; l++) {
    const WrkSwitchPrice *one = switch_of (fabric, parts->level[l].type);
    if (one == NULL)
      return wrk_fail_at (error, fabric->switches.mark,
                          "no price of a switch of type %s, of which %s has %u; accepted: one {type, price} for each",
                          parts->level[l].type != NULL ? parts->level[l].type->name.v : "(none said)", machine->topology,
                          parts->level[l].n_switches);
    machine->buy_usd[WRK_BUY_SWITCHES] += parts->level[l].n_switches * one->price.v;
  }
  double cables = (double)parts->host_ports + parts->cables;
  machine->buy_usd[WRK_BUY_ADAPTERS] = MAX (parts->host_ports, parts->adapters) * port->adapter.v;
  machine->buy_usd[WRK_BUY_OPTICS] = 2 * cables * port->transceiver.v;
  machine->buy_usd[WRK_BUY_CABLES] = cables * port->cable.v;
  return TRUE;
}

gboolean
wrk_plan_price_machine (const WrkPlan *plan, WrkMachine *machine, GError **error)
{
  const WrkPricesSpec *prices = &plan->prices;
  const Clu *clu = machine->scenario->system.clu;
  const WrkNodePrice *price = price_of (plan, machine->topology);
  CluFabricParts parts = { 0 };
  if (machine->nodes > 1) /* one alone needs none */
    clu_fabric_parts (clu, &parts);
  for (guint32 l = 0; l < parts.n_levels; l++)
    if (parts.level[l].type != NULL && parts.level[l].type->power.set)
      machine->fabric_W += parts.level[l].n_switches * parts.level[l].type->power.v;
  const CluSpec *spec = clu_spec (clu);
  for (guint i = 0; i < spec->storage.n; i++) {
    const CluStorageSpec *tier = BASE_LIST_AT (spec->storage, CluStorageSpec, i);
    const MdlTierType *type = tier->type.value;
    machine->storage_W += type != NULL ? tier->servers.v * type->power.v : 0;
  }
  if (price != NULL && price->rent.set)
    machine->rent_usd_per_s = machine->nodes * price->rent.v;
  if (price == NULL || !price->node.set)
    return TRUE;
  machine->buy_usd[WRK_BUY_NODES] = machine->nodes * price->node.v;
  machine->buy_usd[WRK_BUY_NETWORK] = prices->network.set ? machine->gpus * prices->network.v : 0;
  for (guint i = 0; i < spec->storage.n; i++)
    machine->buy_usd[WRK_BUY_STORAGE] += BASE_LIST_AT (spec->storage, CluStorageSpec, i)->servers.v * prices->storage_server.v;
  if (prices->fabric.head.set && !price_fabric (&prices->fabric, &parts, machine, error))
    return FALSE;
  for (int b = 0; b < WRK_BUY_N; b++)
    machine->capital_usd += machine->buy_usd[b];
  return TRUE;
}
