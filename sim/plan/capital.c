/* What a machine costs: its parts counted from its cluster, what stands beside them, and what renting it takes.
 *
 *     storage servers = ceil (nodes x 1.25 GB/s / what one server reads)      of each tier, at most the topology's own; of the
 *                                                                             tier of checkpoints as many as the plan chooses
 *     racks = ceil (nodes / floor (rack / node)) + ceil ((switches + storage) / rack)      by power at load
 *     spares = part x (nodes + network);  delivery = part x all before it
 *
 * 40 GB/s read for 32 nodes: NVIDIA DGX SuperPOD reference architecture, storage performance, one scalable unit. Check:
 * test_plan_money (tables counted by hand; more nodes never cost less). */
#include <math.h>
#include <string.h>

#include "cluster/spec.h"
#include "plan-private.h"

#define READ_Bps     1.25e9 /* of storage for a node */
#define MOST_SERVERS 100000u
#define KEPT         10.0 /* checkpoints */
#define TOKEN_B      4.0  /* of a data set */
#define YEAR_S       (365 * 86400.0)

const char *const pln_buy_names[PLN_BUY_N] = {
  [PLN_BUY_NODES] = "nodes",   [PLN_BUY_NETWORK] = "network",   [PLN_BUY_NICS] = "adapters",   [PLN_BUY_SWITCHES] = "switches",
  [PLN_BUY_OPTICS] = "optics", [PLN_BUY_CABLES] = "cables",     [PLN_BUY_STORAGE] = "storage", [PLN_BUY_RACKS] = "racks",
  [PLN_BUY_SPARES] = "spares", [PLN_BUY_DELIVERY] = "delivery",
};

/* By the plan's word for the topology, or by the topology's own name. */
static const PlnNodePrice *
price_of (const Pln *plan, const PlnMachine *machine)
{
  const char *own = clu_spec (machine->scenario->system.clu)->name.v;
  for (guint i = 0; plan->has_prices && i < plan->prices.nodes.n; i++) {
    const PlnNodePrice *price = BASE_LIST_AT (plan->prices.nodes, PlnNodePrice, i);
    if (strcmp (price->topology.v, machine->topology) == 0 || g_strcmp0 (price->topology.v, own) == 0)
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

static void
add (PlnMachine *machine, PlnBuy kind, const char *name, double count, const BaseNum *price)
{
  const PlnPart part = { kind, name, price, count, price->v };
  if (!(count > 0) || !(price->v > 0))
    return;
  g_array_append_val (machine->parts, part);
  machine->buy_usd[kind] += count * price->v;
}

/* A fraction of what else is bought. */
static void
add_share (PlnMachine *machine, PlnBuy kind, const char *name, double usd, const BaseNum *fraction)
{
  const PlnPart part = { kind, name, fraction, 1, usd * fraction->v };
  if (!(part.usd > 0))
    return;
  g_array_append_val (machine->parts, part);
  machine->buy_usd[kind] += part.usd;
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
  add (machine, PLN_BUY_NICS, "NIC ports", MAX (parts->host_ports, parts->adapters), &port->nic);
  for (guint32 l = 0; l < parts->n_levels; l++) {
    const PlnSwitchPrice *one = switch_of (fabric, parts->level[l].type);
    if (one == NULL)
      return col_fail_at (error, fabric->switches.mark,
                          "switch type %s has no price, and %s has %u of these; add {type, price} to 'switches'",
                          parts->level[l].type != NULL ? parts->level[l].type->name.v : "(none said)", machine->topology,
                          parts->level[l].n_switches);
    add (machine, PLN_BUY_SWITCHES, one->type.v, parts->level[l].n_switches, &one->price);
  }
  double cables = (double)parts->host_ports + parts->cables;
  add (machine, PLN_BUY_OPTICS, "transceivers", 2 * cables, &port->transceiver);
  add (machine, PLN_BUY_CABLES, "cables", cables, &port->cable);
  return TRUE;
}

static void
rent_nodes (PlnMachine *machine, const BaseNum *rent)
{
  if (!rent->set)
    return;
  machine->rent_usd_per_s = machine->nodes * rent->v;
  machine->node_rent = rent;
}

/* What the topology itself says that its parts cost (`cost`), where no list has a price of it. */
static void
price_by_topology (const CluCostSpec *cost, const CluFabricParts *parts, PlnMachine *machine)
{
  rent_nodes (machine, &cost->rent);
  if (!cost->node.set)
    return;
  add (machine, PLN_BUY_NODES, machine->topology, machine->nodes, &cost->node);
  add (machine, PLN_BUY_NICS, "NIC ports", MAX (parts->host_ports, parts->adapters), &cost->nic_port);
  add (machine, PLN_BUY_SWITCHES, "switch ports", (double)parts->host_ports + 2 * (double)parts->cables, &cost->switch_port);
  add (machine, PLN_BUY_CABLES, "cables", (double)parts->host_ports + parts->cables, &cost->cable);
}

/* Servers of a tier that the nodes need for what they read. */
static double
needed_servers (const CluStorageSpec *tier, guint32 nodes)
{
  const MdlTierType *type = tier->type.value;
  double read_Bps = tier->per_server.set ? tier->per_server.v : type != NULL ? type->side[MDL_IO_READ].rate.v : 0;
  double needed = read_Bps > 0 ? ceil (nodes * READ_Bps / read_Bps - 1e-9) : tier->servers.v;
  return fmax (needed, 1);
}

/* The same, of those that the topology has. */
static double
servers_of (const CluStorageSpec *tier, guint32 nodes)
{
  return fmin (needed_servers (tier, nodes), tier->servers.v);
}

const char *
pln_loader_tier (const Pln *plan)
{
  const BaseYamlNode *loader = base_yaml_get (plan->spec.fixed, "loader");
  const BaseYamlNode *tier = loader != NULL && base_yaml_kind (loader) == BASE_YAML_MAP ? base_yaml_get (loader, "tier") : NULL;
  return tier != NULL ? base_yaml_text (tier) : NULL;
}

gboolean
pln_times_tiers (const Pln *plan)
{
  return plan->spec.checkpoint.tier.v != NULL || pln_loader_tier (plan) != NULL;
}

/* Whether checkpoints go to this tier or data come from it, and the plan chooses its servers. */
static gboolean
is_chosen (const Pln *plan, const PlnMachine *machine, const CluStorageSpec *tier)
{
  return machine->servers != NULL && tier->servers.set &&
         (g_strcmp0 (tier->name.v, plan->spec.checkpoint.tier.v) == 0 || g_strcmp0 (tier->name.v, pln_loader_tier (plan)) == 0);
}

static gboolean
check_servers (const Pln *plan, const PlnMachine *machine, GError **error)
{
  const BaseStrs *list = &plan->spec.choices.servers;
  const CluSpec *spec = clu_spec (machine->scenario->system.clu);
  guint64 n;
  if (machine->servers == NULL)
    return TRUE;
  if (!pln_times_tiers (plan))
    return col_fail_at (error, list->mark,
                        "storage servers change nothing here, as checkpoints have given times and no data are loaded; write the "
                        "tier that checkpoints go to (e.g. checkpoint: {tier: scratch}) or that data come from (fixed: {loader: "
                        "{tier: scratch, …}}), or leave 'storage.servers' out");
  for (guint i = 0; i < list->n; i++)
    if (!g_ascii_string_to_unsigned (list->item[i].v, 10, 1, MOST_SERVERS, &n, NULL))
      return col_fail_at (error, list->item[i].mark,
                          "'%s' is not a number of servers from 1 to %u; write whole numbers (e.g. [2, 4])", list->item[i].v,
                          MOST_SERVERS);
  for (guint i = 0; i < spec->storage.n; i++)
    if (is_chosen (plan, machine, BASE_LIST_AT (spec->storage, CluStorageSpec, i)))
      return TRUE;
  return col_fail_at (error, list->mark,
                      "tier '%s' of %s has no 'servers' to choose; name a tier with servers in 'checkpoint' or 'loader', or leave "
                      "'storage.servers' out",
                      plan->spec.checkpoint.tier.v != NULL ? plan->spec.checkpoint.tier.v : pln_loader_tier (plan),
                      machine->topology);
}

/* Storage that is bought, what it draws, and what the run keeps there. */
static void
size_storage (const Pln *plan, PlnMachine *machine)
{
  const CluSpec *spec = clu_spec (machine->scenario->system.clu);
  TrnJob view = machine->scenario->training; /* borrows */
  TrnResult training = { .n_ranks = machine->gpus, .n_nodes = machine->nodes, .dp = 1, .step_time_s = 1 };
  if (machine->scenario->kind == SCN_KIND_TRAINING && trn_state (&view, &training, NULL)) /* a service keeps none */
    machine->storage_B = KEPT * training.state_B + TOKEN_B * pln_tokens (plan);
  for (guint i = 0; i < spec->storage.n; i++) {
    const CluStorageSpec *tier = BASE_LIST_AT (spec->storage, CluStorageSpec, i);
    const MdlTierType *type = tier->type.value;
    double servers = is_chosen (plan, machine, tier) ? g_ascii_strtod (machine->servers, NULL) : servers_of (tier, machine->nodes);
    if (i < PLN_TIERS && tier->servers.set)
      machine->tier_servers[i] = servers;
    if (is_chosen (plan, machine, tier) && g_strcmp0 (tier->name.v, pln_loader_tier (plan)) != 0)
      machine->read_servers = needed_servers (tier, machine->nodes);
    machine->storage_servers += servers;
    machine->storage_W += type != NULL ? servers * type->power.v : 0;
  }
}

/* The dearest rent of a TB; NULL: the list has none. */
static const PlnStoragePrice *
dearest_storage (const PlnPricesSpec *prices)
{
  const PlnStoragePrice *dearest = NULL;
  for (guint i = 0; i < prices->storage.n; i++) {
    const PlnStoragePrice *one = BASE_LIST_AT (prices->storage, PlnStoragePrice, i);
    dearest = dearest == NULL || one->rent.v > dearest->rent.v ? one : dearest;
  }
  return dearest;
}

/* What the run keeps, on the first tier that has a price. Where none has, it has that of the dearest tier of the list, so that no
 * option is cheaper for want of a price. */
static void
rent_storage (const Pln *plan, PlnMachine *machine)
{
  const CluSpec *spec = clu_spec (machine->scenario->system.clu);
  const PlnStoragePrice *found = NULL;
  for (guint i = 0; i < spec->storage.n; i++) {
    const MdlTierType *type = BASE_LIST_AT (spec->storage, CluStorageSpec, i)->type.value;
    for (guint k = 0; k < plan->prices.storage.n && type != NULL && found == NULL; k++) {
      const PlnStoragePrice *price = BASE_LIST_AT (plan->prices.storage, PlnStoragePrice, k);
      found = g_strcmp0 (price->type.v, type->name.v) == 0 ? price : NULL;
    }
  }
  if (found == NULL && machine->storage_B > 0) {
    found = dearest_storage (&plan->prices);
    machine->storage_like = found != NULL ? found->type.v : NULL;
  }
  if (found == NULL)
    return;
  machine->storage_rent_usd_per_s = found->rent.v * machine->storage_B * 1e-12;
  machine->storage_rent = &found->rent;
}

/* Racks of nodes, of whole NVLink domains where these are wider, and of all else. */
static double
racks_of (const PlnPricesSpec *prices, const PlnMachine *machine)
{
  const double domains = machine->nodes_per_rack > 1 ? ceil ((double)machine->nodes / machine->nodes_per_rack) : machine->nodes;
  double node_W = machine->load_W * machine->gpus_per_node + machine->host_W, rack_W = prices->rack_power.v;
  double nodes = domains < machine->nodes ? domains : ceil (machine->nodes / fmax (floor (rack_W / fmax (node_W, 1)), 1));
  return nodes + ceil ((machine->fabric_W + machine->storage_W) / rack_W);
}

/* What a run pays of it, but for the power. */
static void
take_rates (const Pln *plan, PlnMachine *machine)
{
  const PlnPricesSpec *p = &plan->prices;
  double kW = 1e-3 * (machine->gpus * machine->load_W + machine->nodes * machine->host_W + machine->fabric_W + machine->storage_W);
  for (int b = 0; b < PLN_BUY_N; b++)
    machine->capital_usd += machine->buy_usd[b];
  machine->own =
      (MdlMoneyQuery){ .capital_usd = machine->capital_usd,
                       .amortised_s = p->amortisation.set ? p->amortisation.v : 0,
                       .utilisation = plan->has_prices ? p->utilisation.v : 1,
                       .residual = p->residual.v,
                       .interest_per_s = p->interest.v / YEAR_S,
                       .lead_s = p->lead_time.v,
                       .support_per_s = p->support.v / YEAR_S,
                       .colocation_usd_per_s = p->colocation.v * kW,
                       .staff_usd_per_s = p->staff.v * machine->racks,
                       .pue = plan->has_prices ? fmax (p->pue.v, 1) : 1,
                       .electricity_usd_per_J =
                           plan->has_prices ? p->electricity.v : clu_spec (machine->scenario->system.clu)->cost.power.v };
  if (machine->rent_usd_per_s > 0)
    machine->rent_usd_per_s += machine->storage_rent_usd_per_s;
  machine->rent = (MdlMoneyQuery){ .rent_usd_per_s = machine->rent_usd_per_s, .pue = machine->own.pue };
}

gboolean
pln_size_machine (const Pln *plan, PlnMachine *machine, GError **error)
{
  CluFabricParts *parts = &machine->fabric;
  machine->fabric_W = machine->storage_W = machine->storage_servers = 0;
  if (machine->nodes > 1) /* one alone needs none */
    clu_fabric_parts (machine->scenario->system.clu, parts);
  for (guint32 l = 0; l < parts->n_levels; l++)
    if (parts->level[l].type != NULL && parts->level[l].type->power.set)
      machine->fabric_W += parts->level[l].n_switches * parts->level[l].type->power.v;
  if (!check_servers (plan, machine, error))
    return FALSE;
  size_storage (plan, machine);
  return TRUE;
}

gboolean
pln_price_machine (const Pln *plan, PlnMachine *machine, GError **error)
{
  const PlnPricesSpec *prices = &plan->prices;
  const Clu *clu = machine->scenario->system.clu;
  const PlnNodePrice *price = price_of (plan, machine);
  const CluFabricParts *parts = &machine->fabric;
  machine->parts = g_array_new (FALSE, FALSE, sizeof (PlnPart));
  rent_storage (plan, machine);
  if (price == NULL)
    price_by_topology (&clu_spec (clu)->cost, parts, machine);
  else
    rent_nodes (machine, &price->rent);
  if (price != NULL && price->node.set) {
    add (machine, PLN_BUY_NODES, machine->topology, machine->nodes, &price->node);
    add (machine, PLN_BUY_NETWORK, "network per GPU", machine->gpus, &prices->network);
    if (prices->fabric.head.set && !price_fabric (&prices->fabric, parts, machine, error))
      return FALSE;
  }
  if (machine->parts->len > 0 && plan->has_prices)
    add (machine, PLN_BUY_STORAGE, "storage servers", machine->storage_servers, &prices->storage_server);
  if (machine->parts->len > 0 && plan->has_prices) {
    const double *buy = machine->buy_usd;
    double hardware_usd = 0;
    machine->racks = racks_of (prices, machine);
    for (int b = PLN_BUY_NODES; b <= PLN_BUY_CABLES; b++)
      hardware_usd += buy[b];
    add (machine, PLN_BUY_RACKS, "racks", machine->racks, &prices->rack);
    add_share (machine, PLN_BUY_SPARES, "spare parts", hardware_usd, &prices->spares);
    add_share (machine, PLN_BUY_DELIVERY, "transport and installation",
               hardware_usd + buy[PLN_BUY_STORAGE] + buy[PLN_BUY_RACKS] + buy[PLN_BUY_SPARES], &prices->delivery);
  }
  double network_usd = 0;
  for (int b = PLN_BUY_NETWORK; b <= PLN_BUY_CABLES; b++)
    network_usd += machine->buy_usd[b];
  machine->without_network = price == NULL && machine->parts->len > 0 && parts->n_levels > 0 && !(network_usd > 0);
  take_rates (plan, machine);
  return TRUE;
}

/* ---- what has no price ---- */

const char *
pln_unpriced_part (const Pln *plan, guint number, PlnAcquisition way)
{
  const PlnMachine *machine = &g_array_index (plan->machines, PlnMachine, number);
  return way == PLN_ACQUISITION_BUY && machine->capital_usd > 0 && machine->without_network ? "network" : NULL;
}

gboolean
pln_is_partial (const Pln *plan, const PlnChoiceRow *row)
{
  return pln_unpriced_part (plan, row->machine, row->way) != NULL;
}

/* Types of its switches that the list has no price of: "{type: tomahawk5, price: …}". */
static void
append_switches (const Pln *plan, const PlnMachine *machine, GString *out)
{
  for (guint32 l = 0; l < machine->fabric.n_levels; l++) {
    const CluSwitchSpec *type = machine->fabric.level[l].type;
    g_autofree char *row = type != NULL ? g_strdup_printf ("{type: %s, price: …}", type->name.v) : NULL;
    if (row != NULL && switch_of (&plan->prices.fabric, type) == NULL && strstr (out->str, row) == NULL)
      g_string_append_printf (out, "%s%s", out->len > 0 ? ", " : "", row);
  }
}

char *
pln_price_remedy (const Pln *plan, guint number, PlnAcquisition way)
{
  const PlnMachine *machine = &g_array_index (plan->machines, PlnMachine, number);
  if (pln_unpriced_part (plan, number, way) == NULL)
    return NULL;
  g_autoptr (GString) switches = g_string_new (NULL);
  append_switches (plan, machine, switches);
  const char *cost = "`nic_port`, `switch_port` and `cable` in the topology's `cost`";
  if (!plan->has_prices || !plan->prices.fabric.head.set)
    return g_strdup (cost);
  return g_strdup_printf ("{topology: %s, node: …} in `nodes`%s%s%s of `prices`, or %s", machine->topology,
                          switches->len > 0 ? " and " : "", switches->str, switches->len > 0 ? " in `fabric.switches`" : "", cost);
}

/* ---- what is ranked ---- */

static gboolean
is_priced (const PlnMachine *machine, PlnAcquisition way)
{
  return way == PLN_ACQUISITION_BUY ? machine->capital_usd > 0 : machine->rent_usd_per_s > 0;
}

/* Topologies of machines of which `lacks` says so. Returned: full; NULL: there are none. */
static char *
topologies_that (const Pln *plan, gboolean (*lacks) (const PlnMachine *machine, PlnAcquisition way), PlnAcquisition way)
{
  GString *names = g_string_new (NULL);
  const char *before = NULL;
  for (guint i = 0; i < plan->machines->len; i++) {
    const PlnMachine *machine = &g_array_index (plan->machines, PlnMachine, i);
    if (g_strcmp0 (before, machine->topology) == 0 || !lacks (machine, way))
      continue;
    before = machine->topology;
    g_string_append_printf (names, "%s%s", names->len > 0 ? ", " : "", machine->topology);
  }
  gboolean any = names->len > 0;
  char *text = g_string_free (names, !any);
  return any ? text : NULL;
}

/* NONE: any price. */
static gboolean
lacks_price (const PlnMachine *machine, PlnAcquisition way)
{
  return way != PLN_ACQUISITION_NONE ? !is_priced (machine, way)
                                     : !is_priced (machine, PLN_ACQUISITION_BUY) && !is_priced (machine, PLN_ACQUISITION_RENT);
}

static gboolean
lacks_network (const PlnMachine *machine, PlnAcquisition way)
{
  (void)way;
  return machine->without_network;
}

char *
pln_without_price (const Pln *plan, PlnAcquisition acquisition)
{
  return topologies_that (plan, lacks_price, acquisition);
}

char *
pln_unpriced (const Pln *plan)
{
  return plan->has_prices ? pln_without_price (plan, PLN_ACQUISITION_NONE) : NULL;
}

/* Rows of `nodes` in the plan itself that price no choice: a name may be mistyped. */
static void
warn_of_idle_prices (Pln *plan)
{
  for (guint i = 0; plan->has_prices && i < plan->prices.nodes.n; i++) {
    const BaseStr *name = &BASE_LIST_AT (plan->prices.nodes, PlnNodePrice, i)->topology;
    const gboolean inside =
        g_strcmp0 (name->mark.file, base_yaml_path (plan->yaml)) == 0 || g_str_has_prefix (name->mark.file, "--set");
    gboolean used = !inside;
    for (guint k = 0; k < plan->machines->len && !used; k++) {
      const PlnMachine *machine = &g_array_index (plan->machines, PlnMachine, k);
      used = strcmp (name->v, machine->topology) == 0 || g_strcmp0 (name->v, clu_spec (machine->scenario->system.clu)->name.v) == 0;
    }
    if (!used)
      base_diag_warn (plan->warnings, name->mark,
                      "the price of '%s' is of no topology in 'choices'; write one of these, or leave the row out", name->v);
  }
}

#define WHOLE 10000u /* more than any number of machines: options with a whole price count before those with a part of it */

void
pln_choose_basis (Pln *plan)
{
  guint n[] = { [PLN_ACQUISITION_NONE] = 0, [PLN_ACQUISITION_BUY] = 0, [PLN_ACQUISITION_RENT] = 0 };
  for (guint i = 0; i < plan->machines->len; i++)
    for (int way = PLN_ACQUISITION_BUY; way <= PLN_ACQUISITION_RENT; way++)
      if (is_priced (&g_array_index (plan->machines, PlnMachine, i), (PlnAcquisition)way))
        n[way] += pln_unpriced_part (plan, i, (PlnAcquisition)way) == NULL ? WHOLE : 1;
  gboolean own = plan->spec.acquire.v == PLN_ACQUIRE_OWN ||
                 (plan->spec.acquire.v == PLN_ACQUIRE_BOTH &&
                  (n[PLN_ACQUISITION_BUY] >= n[PLN_ACQUISITION_RENT] || (plan->spec.goal.capex.set && n[PLN_ACQUISITION_BUY] > 0)));
  plan->basis = n[PLN_ACQUISITION_BUY] + n[PLN_ACQUISITION_RENT] == 0 ? PLN_ACQUISITION_NONE
                : own                                                 ? PLN_ACQUISITION_BUY
                                                                      : PLN_ACQUISITION_RENT;
  warn_of_idle_prices (plan);
  plan->mixed_prices = pln_needs_money (plan) && n[plan->basis] >= WHOLE && n[plan->basis] % WHOLE > 0;
  g_autofree char *none = pln_unpriced (plan);
  if (none != NULL)
    base_diag_warn (plan->warnings, plan->spec.choices.topology.mark,
                    "no price of %s; add {topology, node, rent} to 'nodes' of 'prices', or give the topology a `cost`", none);
  g_autofree char *other = plan->basis != PLN_ACQUISITION_NONE ? pln_without_price (plan, plan->basis) : NULL;
  if (other != NULL && (none == NULL || strcmp (none, other) != 0))
    base_diag_warn (plan->warnings, plan->spec.choices.topology.mark,
                    "%s prices are compared, and %s has none, so it has no cost; 'acquisition: %s' compares the other way",
                    own ? "purchase" : "rent", other, own ? "rent" : "own");
  g_autofree char *bare = topologies_that (plan, lacks_network, PLN_ACQUISITION_BUY);
  if (bare != NULL && plan->spec.acquire.v != PLN_ACQUIRE_RENT)
    base_diag_warn (
        plan->warnings, plan->spec.choices.topology.mark,
        "no price of the network of %s, so its cash to buy is a part of it%s; give nic_port, switch_port and cable in the "
        "topology's `cost`, or a row of 'nodes' and of 'switches' in 'prices'",
        bare, pln_needs_money (plan) && own ? ", and it ranks behind the others" : "");
}

gboolean
pln_refuse_budget (const BaseYamlNode *map, GError **error)
{
  for (unsigned i = 0; map != NULL && i < base_yaml_n (map); i++)
    if (base_yaml_kind (map) == BASE_YAML_MAP && strcmp (base_yaml_key (map, i), "budget") == 0 &&
        !base_yaml_is_null (base_yaml_item (map, i)))
      return col_fail_at (error, base_yaml_key_mark (map, i),
                          "'budget' does not say which money; write 'capex' (cash to buy) or 'run_cost' (cost of this run)");
  return TRUE;
}
