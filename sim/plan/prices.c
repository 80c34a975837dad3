/* What machines cost: lists of prices, and a machine's parts counted from its cluster. */
#include <math.h>
#include <string.h>

#include "cluster/spec.h"
#include "plan-private.h"

const char *const pln_buy_names[PLN_BUY_N] = {
  [PLN_BUY_NODES] = "nodes",   [PLN_BUY_NETWORK] = "network", [PLN_BUY_NICS] = "adapters",   [PLN_BUY_SWITCHES] = "switches",
  [PLN_BUY_OPTICS] = "optics", [PLN_BUY_CABLES] = "cables",   [PLN_BUY_STORAGE] = "storage",
};

static const BaseField port_fields[] = {
  BASE_ROW_NUM (PlnPortPrice, "rate", rate, BANDWIDTH, .required = TRUE, .min = "1 Gb/s", .help = "for ports up to this rate"),
  BASE_ROW_NUM (PlnPortPrice, "nic", nic, MONEY, .was = "adapter", .fallback = "0",
                .help = "one NIC port; default: in the node's price"),
  BASE_ROW_NUM (PlnPortPrice, "transceiver", transceiver, MONEY, .fallback = "0",
                .help = "optics at one end of a cable; default: copper, in the cable's price"),
  BASE_ROW_NUM (PlnPortPrice, "cable", cable, MONEY, .required = TRUE, .help = "one cable without transceivers"),
  BASE_ROW_END,
};
static const BaseSchema port_schema = { .name = "ports", .help = "Prices of a port's parts.", .fields = port_fields };

static const BaseField switch_fields[] = {
  BASE_ROW (PlnSwitchPrice, "type", type, STR, .required = TRUE, .help = "a name of topologies/switches"),
  BASE_ROW_NUM (PlnSwitchPrice, "price", price, MONEY, .required = TRUE, .help = "one switch, without optics"),
  BASE_ROW_END,
};
static const BaseSchema switch_schema = { .name = "switches", .help = "Price of a switch.", .fields = switch_fields };

static const BaseField fabric_fields[] = {
  BASE_ROW (PlnFabricPrice, "ports", ports, LIST, .sub = &port_schema, .item_size = sizeof (PlnPortPrice), .required = TRUE,
            .help = "by rate, ascending"),
  BASE_ROW (PlnFabricPrice, "switches", switches, LIST, .sub = &switch_schema, .item_size = sizeof (PlnSwitchPrice),
            .required = TRUE, .help = "by type"),
  BASE_ROW_END,
};
static const BaseSchema fabric_schema = { .name = "fabric", .help = "Prices of network parts.", .fields = fabric_fields };

static const BaseField node_price_fields[] = {
  BASE_ROW (PlnNodePrice, "topology", topology, STR, .required = TRUE, .help = "topology whose node it is"),
  BASE_ROW_NUM (PlnNodePrice, "node", node, MONEY,
                .help = "purchase of one node with GPUs, without NICs, which `network` or `fabric` prices"),
  BASE_ROW_NUM (PlnNodePrice, "rent", rent, MONEY_PER_TIME, .help = "one node, with power and network"),
  BASE_ROW_END,
};
static const BaseSchema node_price_schema = { .name = "nodes", .help = "Price of a node.", .fields = node_price_fields };

static const BaseField prices_fields[] = {
  BASE_ROW (PlnPricesSpec, "prices", name, STR, .required = TRUE, .help = "name"),
  BASE_ROW (PlnPricesSpec, "description", description, STR, .help = "one line"),
  BASE_ROW (PlnPricesSpec, "currency", currency, STR, .required = TRUE, .help = "only USD"),
  BASE_ROW (PlnPricesSpec, "date", date, STR, .required = TRUE, .help = "date of the prices: year, or year-month-day"),
  BASE_ROW_NUM (PlnPricesSpec, "network", network, MONEY,
                .help = "per purchased GPU: NICs, switches, optics and cables; or `fabric`"),
  BASE_ROW (PlnPricesSpec, "fabric", fabric, MAP, .sub = &fabric_schema,
            .help = "prices of NICs, switches, optics and cables, which are counted in each topology"),
  BASE_ROW_NUM (PlnPricesSpec, "storage_server", storage_server, MONEY, .fallback = "0",
                .help = "one server of the topology's storage tiers"),
  BASE_ROW_NUM (PlnPricesSpec, "electricity", electricity, MONEY_PER_ENERGY, .required = TRUE, .help = "energy"),
  BASE_ROW_NUM (PlnPricesSpec, "pue", pue, NUMBER, .min = "1", .max = "10", .fallback = "1",
                .help = "power usage effectiveness: power of the building over power of the computers"),
  BASE_ROW_NUM (PlnPricesSpec, "amortisation", amortisation, TIME, .min = "1 day",
                .help = "time over which a purchase is paid off; default: the run pays all of it"),
  BASE_ROW_NUM (PlnPricesSpec, "band", band, RATIO, .max = "10", .fallback = "25 %",
                .help = "error of prices whose source is `assumed`: 90 % are within it"),
  BASE_ROW_NUM (PlnPricesSpec, "published_band", published_band, RATIO, .max = "10", .fallback = "10 %",
                .help = "the same of other prices, as offers differ from what is published"),
  BASE_ROW (PlnPricesSpec, "nodes", nodes, LIST, .sub = &node_price_schema, .item_size = sizeof (PlnNodePrice), .required = TRUE,
            .help = "by topology"),
  BASE_ROW_END,
};
const BaseSchema pln_schema_prices = { .name = "prices", .help = "Prices of hardware and energy.", .fields = prices_fields };

gboolean
pln_check_prices (const PlnPricesSpec *prices, GError **error)
{
  const PlnFabricPrice *fabric = &prices->fabric;
  if (!fabric->head.set)
    return TRUE;
  if (prices->network.set)
    return col_fail_at (error, prices->network.mark, "'network' and 'fabric' both price the network; write one of them");
  if (fabric->ports.n == 0)
    return col_fail_at (error, fabric->ports.mark,
                        "'ports' is empty; write one rate or more (e.g. [{rate: 400 Gb/s, price: $1500}])");
  for (guint i = 1; i < fabric->ports.n; i++) {
    const PlnPortPrice *before = BASE_LIST_AT (fabric->ports, PlnPortPrice, i - 1), *port = before + 1;
    if (port->rate.v <= before->rate.v)
      return col_fail_at (error, port->rate.mark, "the rates of 'ports' must rise; write each above the one before");
  }
  return TRUE;
}

static const PlnNodePrice *
price_of (const Pln *plan, const char *topology)
{
  for (guint i = 0; plan->has_prices && i < plan->prices.nodes.n; i++) {
    const PlnNodePrice *price = BASE_LIST_AT (plan->prices.nodes, PlnNodePrice, i);
    if (strcmp (price->topology.v, topology) == 0)
      return price;
  }
  return NULL;
}

/* The first rate at or above `rate_Bps`; NULL: there is none. */
static const PlnPortPrice *
port_of (const PlnFabricPrice *fabric, double rate_Bps)
{
  for (guint i = 0; i < fabric->ports.n; i++) {
    const PlnPortPrice *port = BASE_LIST_AT (fabric->ports, PlnPortPrice, i);
    if (port->rate.v >= rate_Bps * (1 - 1e-9))
      return port;
  }
  return NULL;
}

static const PlnSwitchPrice *
switch_of (const PlnFabricPrice *fabric, const CluSwitchSpec *type)
{
  for (guint i = 0; type != NULL && i < fabric->switches.n; i++) {
    const PlnSwitchPrice *one = BASE_LIST_AT (fabric->switches, PlnSwitchPrice, i);
    if (strcmp (one->type.v, type->name.v) == 0)
      return one;
  }
  return NULL;
}

static gboolean
price_fabric (const PlnFabricPrice *fabric, const CluFabricParts *parts, PlnMachine *machine, GError **error)
{
  const PlnPortPrice *port = port_of (fabric, parts->port_rate_Bps);
  if (parts->adapters == 0)
    return TRUE;
  if (port == NULL)
    return col_fail_at (error, fabric->ports.mark,
                        "no port price covers %.4g Gb/s, which %s has; add a row of 'ports' with this 'rate' or more",
                        parts->port_rate_Bps * 8e-9, machine->topology);
  for (guint32 l = 0; l < parts->n_levels; l++) {
    const PlnSwitchPrice *one = switch_of (fabric, parts->level[l].type);
    if (one == NULL)
      return col_fail_at (error, fabric->switches.mark,
                          "switch type %s has no price, and %s has %u of these; add {type, price} to 'switches'",
                          parts->level[l].type != NULL ? parts->level[l].type->name.v : "(none said)", machine->topology,
                          parts->level[l].n_switches);
    machine->buy_usd[PLN_BUY_SWITCHES] += parts->level[l].n_switches * one->price.v;
  }
  double cables = (double)parts->host_ports + parts->cables;
  machine->buy_usd[PLN_BUY_NICS] = MAX (parts->host_ports, parts->adapters) * port->nic.v;
  machine->buy_usd[PLN_BUY_OPTICS] = 2 * cables * port->transceiver.v;
  machine->buy_usd[PLN_BUY_CABLES] = cables * port->cable.v;
  return TRUE;
}

/* What the topology itself says that its parts cost (`cost`), where no list has a price of it. */
static void
price_by_topology (const CluCostSpec *cost, const CluFabricParts *parts, PlnMachine *machine)
{
  if (cost->rent.set)
    machine->rent_usd_per_s = machine->nodes * cost->rent.v;
  if (!cost->node.set)
    return;
  machine->buy_usd[PLN_BUY_NODES] = machine->nodes * cost->node.v;
  machine->buy_usd[PLN_BUY_NICS] = MAX (parts->host_ports, parts->adapters) * cost->nic_port.v;
  machine->buy_usd[PLN_BUY_SWITCHES] = ((double)parts->host_ports + 2 * (double)parts->cables) * cost->switch_port.v;
  machine->buy_usd[PLN_BUY_CABLES] = ((double)parts->host_ports + parts->cables) * cost->cable.v;
  for (int b = 0; b < PLN_BUY_N; b++)
    machine->capital_usd += machine->buy_usd[b];
}

gboolean
pln_price_machine (const Pln *plan, PlnMachine *machine, GError **error)
{
  const PlnPricesSpec *prices = &plan->prices;
  const Clu *clu = machine->scenario->system.clu;
  const PlnNodePrice *price = price_of (plan, machine->topology);
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
  if (price == NULL)
    price_by_topology (&spec->cost, &parts, machine);
  if (price != NULL && price->rent.set)
    machine->rent_usd_per_s = machine->nodes * price->rent.v;
  if (price == NULL || !price->node.set)
    return TRUE;
  machine->buy_usd[PLN_BUY_NODES] = machine->nodes * price->node.v;
  machine->buy_usd[PLN_BUY_NETWORK] = prices->network.set ? machine->gpus * prices->network.v : 0;
  for (guint i = 0; i < spec->storage.n; i++)
    machine->buy_usd[PLN_BUY_STORAGE] += BASE_LIST_AT (spec->storage, CluStorageSpec, i)->servers.v * prices->storage_server.v;
  if (prices->fabric.head.set && !price_fabric (&prices->fabric, &parts, machine, error))
    return FALSE;
  for (int b = 0; b < PLN_BUY_N; b++)
    machine->capital_usd += machine->buy_usd[b];
  return TRUE;
}
