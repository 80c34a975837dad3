/* The assumptions of a plan's prices, for a page to share. */
#include <string.h>

#include "cluster/spec.h"
#include "explain-private.h"
#include "plan-private.h"

static const BaseColumn columns[] = {
  { "source", "source", BASE_CELL_TEXT, 0, NULL, 0 }, { "what", "price of", BASE_CELL_TEXT, 0, NULL, 0 },
  { "value", "value", BASE_CELL_TEXT, 0, NULL, 0 },   { "note", "where it comes from", BASE_CELL_TEXT, 0, NULL, 0 },
  { NULL, NULL, BASE_CELL_TEXT, 0, NULL, 0 },
};

/* The figures of the plan's prices that are set. */
typedef struct {
  const Pln *plan;
  GArray *items; /* RepPriceItem */
  gboolean all;  /* FALSE: those that the plan's options use */
} List;

static void take (List *list, const BaseNum *num, BaseDim dim, const char *format, ...) G_GNUC_PRINTF (4, 5);

static void
take (List *list, const BaseNum *num, BaseDim dim, const char *format, ...)
{
  if (!num->set)
    return;
  va_list args;
  va_start (args, format);
  const RepPriceItem item = { num, dim, g_strdup_vprintf (format, args) };
  va_end (args);
  g_array_append_val (list->items, item);
}

/* Whether the list has prices of this topology, or of ports of this rate ("400 Gb/s"): those that an option has. A topology that
 * keeps its own rate may have any. */
static gboolean
is_used (const List *list, const char *topology, const char *rate)
{
  const GArray *machines = pln_machines (list->plan);
  gboolean used = list->all;
  for (guint i = 0; i < machines->len && !used; i++) {
    const PlnMachine *machine = &g_array_index (machines, PlnMachine, i);
    used = topology != NULL ? g_strcmp0 (machine->topology, topology) == 0
                            : machine->nic_rate == NULL || g_strcmp0 (machine->nic_rate, rate) == 0;
  }
  return used;
}

/* Whether an option has a tier of this type. */
static gboolean
is_stored (const List *list, const char *type)
{
  const GArray *machines = pln_machines (list->plan);
  gboolean used = list->all;
  for (guint i = 0; i < machines->len && !used; i++) {
    const CluSpec *spec = clu_spec (scn_cluster (g_array_index (machines, PlnMachine, i).scenario));
    used = g_strcmp0 (g_array_index (machines, PlnMachine, i).storage_like, type) == 0;
    for (guint k = 0; k < spec->storage.n && !used; k++) {
      const MdlTierType *own = BASE_LIST_AT (spec->storage, CluStorageSpec, k)->type.value;
      used = own != NULL && g_strcmp0 (own->name.v, type) == 0;
    }
  }
  return used;
}

static void
take_all (List *list, const PlnPricesSpec *prices)
{
  for (guint i = 0; i < prices->nodes.n; i++) {
    const PlnNodePrice *node = BASE_LIST_AT (prices->nodes, PlnNodePrice, i);
    if (!is_used (list, node->topology.v, NULL))
      continue;
    take (list, &node->node, BASE_DIM_MONEY, "a node of %s", node->topology.v);
    take (list, &node->rent, BASE_DIM_MONEY_PER_TIME, "rent of one node of %s", node->topology.v);
  }
  take (list, &prices->network, BASE_DIM_MONEY, "network per GPU");
  for (guint i = 0; i < prices->fabric.ports.n; i++) {
    const PlnPortPrice *port = BASE_LIST_AT (prices->fabric.ports, PlnPortPrice, i);
    const double rate = port->rate.v * 8e-9;
    g_autofree char *text = g_strdup_printf ("%.4g Gb/s", rate);
    if (!is_used (list, NULL, text))
      continue;
    take (list, &port->nic, BASE_DIM_MONEY, "a NIC port of %.4g Gb/s", rate);
    take (list, &port->transceiver, BASE_DIM_MONEY, "a transceiver of %.4g Gb/s", rate);
    take (list, &port->cable, BASE_DIM_MONEY, "a cable of %.4g Gb/s", rate);
  }
  for (guint i = 0; i < prices->fabric.switches.n; i++) {
    const PlnSwitchPrice *one = BASE_LIST_AT (prices->fabric.switches, PlnSwitchPrice, i);
    take (list, &one->price, BASE_DIM_MONEY, "a switch %s", one->type.v);
  }
  take (list, &prices->storage_server, BASE_DIM_MONEY, "a storage server");
  take (list, &prices->electricity, BASE_DIM_MONEY_PER_ENERGY, "electricity");
  take (list, &prices->pue, BASE_DIM_NUMBER, "PUE of the building");
  take (list, &prices->amortisation, BASE_DIM_TIME, "amortisation period");
  take (list, &prices->utilisation, BASE_DIM_RATIO, "utilisation of what is bought");
  take (list, &prices->residual, BASE_DIM_RATIO, "value that is left");
  take (list, &prices->interest, BASE_DIM_RATIO, "interest a year");
  take (list, &prices->support, BASE_DIM_RATIO, "support a year");
  take (list, &prices->colocation, BASE_DIM_MONEY_PER_TIME, "space for a kW");
  take (list, &prices->rack, BASE_DIM_MONEY, "a rack");
  take (list, &prices->rack_power, BASE_DIM_POWER, "power of a rack");
  take (list, &prices->staff, BASE_DIM_MONEY_PER_TIME, "operation of a rack");
  take (list, &prices->spares, BASE_DIM_RATIO, "spare parts");
  take (list, &prices->delivery, BASE_DIM_RATIO, "transport and installation");
  take (list, &prices->lead_time, BASE_DIM_TIME, "time of delivery");
  take (list, &prices->exchange, BASE_DIM_NUMBER, "exchange rate");
  for (guint i = 0; i < prices->storage.n; i++) {
    const PlnStoragePrice *tier = BASE_LIST_AT (prices->storage, PlnStoragePrice, i);
    if (is_stored (list, tier->type.v))
      take (list, &tier->rent, BASE_DIM_MONEY_PER_TIME, "rent of a TB of %s", tier->type.v);
  }
}

static void
item_clear (gpointer data)
{
  g_free (((RepPriceItem *)data)->what);
}

GArray *
rep_plan_price_items (const Pln *plan, gboolean all)
{
  List list = { plan, g_array_new (FALSE, FALSE, sizeof (RepPriceItem)), all };
  g_array_set_clear_func (list.items, item_clear);
  if (pln_prices (plan) != NULL)
    take_all (&list, pln_prices (plan));
  return list.items;
}

void
rep_plan_count_prices (const Pln *plan, guint *figures, guint *assumed)
{
  g_autoptr (GArray) items = rep_plan_price_items (plan, TRUE);
  *figures = items->len;
  *assumed = 0;
  for (guint i = 0; i < items->len; i++)
    *assumed += g_array_index (items, RepPriceItem, i).num->source == BASE_SOURCE_ASSUMED ? 1u : 0u;
}

BaseTable *
rep_plan_prices (const Pln *plan)
{
  if (pln_prices (plan) == NULL)
    return NULL;
  BaseTable *table = base_table_new (columns);
  g_autoptr (GArray) items = rep_plan_price_items (plan, FALSE);
  for (guint i = 0; i < items->len; i++) {
    const RepPriceItem *item = &g_array_index (items, RepPriceItem, i);
    g_autofree char *value = base_quantity_format (item->num->v, item->dim, 6);
    base_table_row (table);
    base_table_text (table, "source", base_source_name (item->num->source));
    base_table_text (table, "what", item->what);
    base_table_text (table, "value", value);
    base_table_text (table, "note", item->num->note);
  }
  return table;
}
