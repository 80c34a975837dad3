/* Lists of prices: their keys, the list that they change (`like`), and amounts in other currencies. */
#include <math.h>
#include <string.h>

#include "base/currency.h"
#include "plan-private.h"

#define PRICES_FOLDER "scenarios/prices"
#define MOST_LIKE     8u /* lists that change one another */

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
  BASE_ROW (PlnNodePrice, "topology", topology, STR, .required = TRUE,
            .help = "topology whose node it is: its name, or as the plan names it"),
  BASE_ROW_NUM (PlnNodePrice, "node", node, MONEY, .min = "$0.01",
                .help = "purchase of one node with GPUs, without NICs, which `network` or `fabric` prices"),
  BASE_ROW_NUM (PlnNodePrice, "rent", rent, MONEY_PER_TIME, .min = "$0.000001/h", .help = "one node, with power and network"),
  BASE_ROW_END,
};
static const BaseSchema node_price_schema = { .name = "nodes", .help = "Price of a node.", .fields = node_price_fields };

static const BaseField storage_price_fields[] = {
  BASE_ROW (PlnStoragePrice, "type", type, STR, .required = TRUE, .help = "a name of topologies/storage"),
  BASE_ROW_NUM (PlnStoragePrice, "rent", rent, MONEY_PER_TIME, .required = TRUE, .help = "rent of one TB"),
  BASE_ROW_END,
};
static const BaseSchema storage_price_schema = { .name = "storage",
                                                 .help = "Rent of a storage tier, where nodes are rented.",
                                                 .fields = storage_price_fields };

#define PRICE(text, member, dimension, ...) BASE_ROW_NUM (PlnPricesSpec, text, member, dimension, __VA_ARGS__)
static const BaseField prices_fields[] = {
  BASE_ROW (PlnPricesSpec, "prices", name, STR, .help = "name; required in a file"),
  BASE_ROW (PlnPricesSpec, "description", description, STR, .help = "one line"),
  BASE_ROW (PlnPricesSpec, "like", like, STR, .help = "list that this one changes: a name in scenarios/prices, or a path"),
  BASE_ROW (PlnPricesSpec, "currency", currency, STR, .help = "USD, EUR, GBP …; required without `like`"),
  PRICE ("exchange", exchange, NUMBER, .min = "1e-6", .max = "1e6", .help = "USD for one unit of another currency"),
  BASE_ROW (PlnPricesSpec, "exchange_date", exchange_date, STR, .help = "date of `exchange`: year-month-day"),
  BASE_ROW (PlnPricesSpec, "date", date, STR, .help = "date of the prices: year, or year-month-day; required without `like`"),
  PRICE ("network", network, MONEY, .help = "per purchased GPU: NICs, switches, optics and cables; or `fabric`"),
  BASE_ROW (PlnPricesSpec, "fabric", fabric, MAP, .sub = &fabric_schema,
            .help = "prices of NICs, switches, optics and cables, which are counted in each topology"),
  PRICE ("storage_server", storage_server, MONEY, .fallback = "0", .help = "one server of the topology's storage tiers"),
  PRICE ("electricity", electricity, MONEY_PER_ENERGY, .help = "energy; required without `like`"),
  PRICE ("pue", pue, NUMBER, .min = "1", .max = "10", .fallback = "1",
         .help = "power usage effectiveness: power of the building over power of the computers"),
  PRICE ("amortisation", amortisation, TIME, .min = "1 day",
         .help = "time over which a purchase loses its value; default: the run pays all of it"),
  PRICE ("utilisation", utilisation, RATIO, .min = "1 %", .max = "1", .fallback = "1",
         .help = "fraction of that time in which runs use the machine; they bear the rest"),
  PRICE ("residual", residual, RATIO, .max = "1", .fallback = "0", .help = "fraction of the purchase that is left after that time"),
  PRICE ("interest", interest, RATIO, .max = "1", .fallback = "0", .help = "of the value of what is bought, a year"),
  PRICE ("support", support, RATIO, .max = "1", .fallback = "0", .help = "maintenance contracts, fraction of the purchase a year"),
  PRICE ("colocation", colocation, MONEY_PER_TIME, .fallback = "0", .help = "space, per kW at load, without energy"),
  PRICE ("rack", rack, MONEY, .fallback = "0", .help = "one rack with power distribution"),
  PRICE ("rack_power", rack_power, POWER, .min = "1 kW", .fallback = "40 kW",
         .help = "power at load that a rack takes; an NVLink domain of several nodes is one rack"),
  PRICE ("staff", staff, MONEY_PER_TIME, .fallback = "0", .help = "operation of one rack"),
  PRICE ("spares", spares, RATIO, .max = "1", .fallback = "0", .help = "spare nodes and network parts, fraction of them"),
  PRICE ("delivery", delivery, RATIO, .max = "1", .fallback = "0", .help = "transport and installation, fraction of the purchase"),
  PRICE ("lead_time", lead_time, TIME, .max = "3650 days", .fallback = "0 s",
         .help = "from order, which is when it is paid, to operation"),
  PRICE ("band", band, RATIO, .max = "10", .fallback = "25 %",
         .help = "error of prices whose source is `assumed`: 90 % are within it"),
  PRICE ("published_band", published_band, RATIO, .max = "10", .fallback = "10 %",
         .help = "the same of other prices, as offers differ from what is published"),
  BASE_ROW (PlnPricesSpec, "storage", storage, LIST, .sub = &storage_price_schema, .item_size = sizeof (PlnStoragePrice),
            .help = "rent of storage, by type"),
  BASE_ROW (PlnPricesSpec, "nodes", nodes, LIST, .sub = &node_price_schema, .item_size = sizeof (PlnNodePrice),
            .help = "by topology; with `like` these rows change or join its rows"),
  BASE_ROW_END,
};
const BaseSchema pln_schema_prices = { .name = "prices", .help = "Prices of hardware and energy.", .fields = prices_fields };

/* ---- currencies ---- */

/* "2026-11-20" */
static gboolean
is_day (const char *text)
{
  static const char form[] = "dddd-dd-dd";
  if (strlen (text) != strlen (form))
    return FALSE;
  for (gsize i = 0; i < strlen (form); i++)
    if (form[i] == 'd' ? !g_ascii_isdigit (text[i]) : text[i] != form[i])
      return FALSE;
  const guint64 year = g_ascii_strtoull (text, NULL, 10), month = g_ascii_strtoull (text + 5, NULL, 10),
                day = g_ascii_strtoull (text + 8, NULL, 10);
  return g_date_valid_dmy ((GDateDay)day, (GDateMonth)MIN (month, 13), (GDateYear)year);
}

double
pln_exchange (const BaseStr *currency, const BaseNum *exchange, const BaseStr *date, GError **error)
{
  g_autoptr (GString) known = g_string_new (NULL);
  gboolean is_known = FALSE;
  for (const BaseCurrency *one = base_currencies; one->code != NULL; one++) {
    g_string_append_printf (known, "%s%s", known->len > 0 ? ", " : "", one->code);
    is_known = is_known || g_strcmp0 (one->code, currency->v) == 0;
  }
  if (currency->v == NULL || strcmp (currency->v, "USD") == 0)
    return 1;
  if (!is_known)
    col_fail_at (error, currency->mark, "currency '%s' is not known; write one of %s", currency->v, known->str);
  else if (!exchange->set || !date->set)
    col_fail_at (error, currency->mark,
                 "%s needs a dated rate; write 'exchange: USD for one %s' and 'exchange_date' (e.g. exchange: 1.16, exchange_date: "
                 "2026-11-20)",
                 currency->v, currency->v);
  else if (!is_day (date->v))
    col_fail_at (error, date->mark, "'exchange_date' must be year-month-day, found '%s' (e.g. 2026-11-20)", date->v);
  else
    return exchange->v;
  return 0;
}

/* An amount in a text: "€0.19/kWh", "EUR 5", "5 k EUR". Number and what follows it (borrowed); the code of the currency, NULL: no
 * amount in one but USD. */
static const char *
read_amount (const char *text, double *number, const char **rest)
{
  char *end = NULL;
  for (const BaseCurrency *one = base_currencies + 1; one->code != NULL; one++) {
    const char *sign = one->sign, *code = one->code;
    const char *start = sign != NULL && g_str_has_prefix (text, sign) ? text + strlen (sign)
                        : g_str_has_prefix (text, code)               ? text + strlen (code)
                                                                      : NULL;
    if (start != NULL) {
      *number = g_ascii_strtod (start, &end);
      *rest = end;
      return end > start ? code : NULL;
    }
    *number = g_ascii_strtod (text, &end);
    const char *at = end > text ? strstr (end, code) : NULL;
    if (at != NULL && (at == end || at[-1] == ' ')) {
      *rest = end;
      return code;
    }
  }
  return NULL;
}

typedef struct {
  const char *currency;
  GPtrArray *paths, *labels; /* char *: of scalars in that currency */
  GPtrArray *texts;          /* char *: what they become */
  double usd;
  GError **error;
} Conversion;

static gboolean
find_amounts (Conversion *c, const BaseYamlNode *node, const char *path)
{
  static const char *const words[] = { "note", "description", "currency", "exchange", "exchange_date", "date", NULL };
  for (unsigned i = 0; i < base_yaml_n (node); i++) {
    const char *key = base_yaml_kind (node) == BASE_YAML_MAP ? base_yaml_key (node, i) : NULL;
    if (key != NULL && g_strv_contains (words, key))
      continue;
    g_autofree char *below = key != NULL ? g_strdup_printf ("%s%s%s", path, *path != '\0' ? "." : "", key)
                                         : g_strdup_printf ("%s%s%u", path, *path != '\0' ? "." : "", i);
    if (!find_amounts (c, base_yaml_item (node, i), below))
      return FALSE;
  }
  double number;
  const char *rest, *code = base_yaml_kind (node) == BASE_YAML_SCALAR ? read_amount (base_yaml_text (node), &number, &rest) : NULL;
  if (code == NULL)
    return TRUE;
  const BaseMark mark = base_yaml_mark (node);
  if (g_strcmp0 (code, c->currency) != 0)
    return col_fail_at (c->error, mark,
                        "an amount in %s, but the list is in %s; write it in dollars, or 'currency: %s' with a dated 'exchange'",
                        code, c->currency, code);
  g_auto (GStrv) halves = g_strsplit (rest, code, 2);
  g_autofree char *unit = g_strjoinv ("", halves);
  char digits[G_ASCII_DTOSTR_BUF_SIZE];
  g_strchomp (unit);
  g_ptr_array_add (c->texts, g_strdup_printf ("$%s%s", g_ascii_formatd (digits, sizeof digits, "%.15g", number * c->usd), unit));
  g_ptr_array_add (c->paths, g_strdup (path));
  g_ptr_array_add (c->labels, g_strdup_printf ("%s:%u:%u", mark.file, mark.line, mark.column));
  return TRUE;
}

gboolean
pln_convert_money (BaseYaml *yaml, const char *key, const char *currency, double usd, GError **error)
{
  g_autoptr (GPtrArray) paths = g_ptr_array_new_with_free_func (g_free), labels = g_ptr_array_new_with_free_func (g_free),
                        texts = g_ptr_array_new_with_free_func (g_free);
  Conversion c = { currency != NULL ? currency : "USD", paths, labels, texts, usd, error };
  const BaseYamlNode *root = base_yaml_root (yaml);
  if (!find_amounts (&c, key != NULL ? base_yaml_get (root, key) : root, key != NULL ? key : ""))
    return FALSE;
  for (guint i = 0; i < paths->len; i++)
    if (!base_yaml_set (yaml, paths->pdata[i], texts->pdata[i], labels->pdata[i], error))
      return FALSE;
  return TRUE;
}

/* ---- reading ---- */

static const BaseField exchange_field = PRICE ("exchange", exchange, NUMBER, .min = "1e-6", .max = "1e6");

/* Rows of `base` whose name `list` lacks join it. Both begin with a head and a name. */
static void
join (BaseList *list, const BaseList *base, size_t size, BaseArena *arena)
{
  typedef struct {
    BaseHead head;
    BaseStr name;
  } Named;
  char *all = base_arena_alloc (arena, (list->n + base->n) * size);
  guint n = list->n;
  memcpy (all, list->item, list->n * size);
  for (guint i = 0; i < base->n; i++) {
    const Named *old = (const Named *)((const char *)base->item + i * size);
    gboolean replaced = FALSE;
    for (guint k = 0; k < list->n; k++)
      replaced = replaced || strcmp (((const Named *)((const char *)list->item + k * size))->name.v, old->name.v) == 0;
    if (!replaced)
      memcpy (all + size * n++, old, size);
  }
  list->item = all;
  list->n = n;
}

/* A row that changes the rent of a node leaves its price, and the other way. */
static void
keep_node_prices (PlnPricesSpec *prices, const BaseList *base)
{
  for (guint i = 0; i < prices->nodes.n; i++)
    for (guint k = 0; k < base->n; k++) {
      PlnNodePrice *row = BASE_LIST_AT (prices->nodes, PlnNodePrice, i), *old = BASE_LIST_AT (*base, PlnNodePrice, k);
      if (strcmp (row->topology.v, old->topology.v) != 0)
        continue;
      row->node = row->node.set ? row->node : old->node;
      row->rent = row->rent.set ? row->rent : old->rent;
    }
}

static gboolean
check_prices (const PlnPricesSpec *prices, const BaseYamlNode *node, GError **error)
{
  const PlnFabricPrice *fabric = &prices->fabric;
  const struct {
    gboolean set;
    const char *key;
  } required[] = { { prices->currency.set, "currency: USD" },
                   { prices->date.set, "date: 2026-11" },
                   { prices->electricity.set, "electricity: $0.10/kWh" },
                   { prices->nodes.set, "nodes: [{topology: hgx_h100, node: $300000}]" } };
  for (guint i = 0; i < G_N_ELEMENTS (required); i++)
    if (!required[i].set)
      return col_fail_at (error, base_yaml_mark (node),
                          "required key is missing; write '%s', or 'like: us_2026' for those of a list", required[i].key);
  if (!fabric->head.set)
    return TRUE;
  if (prices->network.set)
    return col_fail_at (error, prices->network.mark, "'network' and 'fabric' both price the network; write one of them");
  if (fabric->ports.n == 0)
    return col_fail_at (error, fabric->ports.mark,
                        "'ports' is empty; write one rate or more (e.g. [{rate: 400 Gb/s, cable: $180}])");
  for (guint i = 1; i < fabric->ports.n; i++) {
    const PlnPortPrice *before = BASE_LIST_AT (fabric->ports, PlnPortPrice, i - 1), *port = before + 1;
    if (port->rate.v <= before->rate.v)
      return col_fail_at (error, port->rate.mark, "the rates of 'ports' must rise; write each above the one before");
  }
  return TRUE;
}

/* The text of a scalar at `key`, as a leaf of the schema. */
static BaseStr
text_of (const BaseYamlNode *map, const char *key)
{
  const BaseYamlNode *node = base_yaml_get (map, key);
  const char *text = node != NULL && base_yaml_kind (node) == BASE_YAML_SCALAR ? base_yaml_text (node) : NULL;
  return (BaseStr){ .v = text, .set = text != NULL, .mark = node != NULL ? base_yaml_mark (node) : base_yaml_mark (map) };
}

static gboolean read_list (BaseYaml *yaml, const char *key, guint depth, const BaseSchemaContext *context, PlnPricesSpec *out,
                           GError **error);

/* The list that a name stands for. */
static gboolean
read_named (const BaseStr *name, guint depth, const BaseSchemaContext *context, PlnPricesSpec *out, GError **error)
{
  if (depth > MOST_LIKE)
    return col_fail_at (error, name->mark, "more than %u price lists change one another by 'like'; name the first of them",
                        MOST_LIKE);
  g_autofree char *path = base_lookup_find (context->lookup, name->v, PRICES_FOLDER, name->mark.file, error);
  if (path == NULL) {
    g_autofree char *prefix = base_mark_prefix (name->mark);
    g_prefix_error (error, "%s", prefix);
    return FALSE;
  }
  BaseYaml *yaml = base_yaml_load_file (path, error);
  if (yaml == NULL)
    return FALSE;
  g_ptr_array_add (context->inputs, yaml);
  return read_list (yaml, NULL, depth + 1, context, out, error);
}

gboolean
pln_convert_list (BaseYaml *yaml, const char *key, const PlnPricesSpec *base, const BaseSchemaContext *context, GError **error)
{
  const BaseYamlNode *root = base_yaml_root (yaml), *node = key != NULL ? base_yaml_get (root, key) : root;
  BaseStr currency = text_of (node, "currency"), date = text_of (node, "exchange_date");
  BaseNum rate = base != NULL ? base->exchange : (BaseNum){ 0 };
  const BaseYamlNode *written = base_yaml_get (node, "exchange");
  if (written != NULL && !base_schema_read_num (&exchange_field, written, context, &rate))
    return base_diag_finish (context->diag, error);
  currency = currency.set || base == NULL ? currency : base->currency;
  date = date.set || base == NULL ? date : base->exchange_date;
  double usd = pln_exchange (&currency, &rate, &date, error);
  return usd > 0 && pln_convert_money (yaml, key, currency.v, usd, error);
}

static gboolean
read_list (BaseYaml *yaml, const char *key, guint depth, const BaseSchemaContext *context, PlnPricesSpec *out, GError **error)
{
  const BaseYamlNode *root = base_yaml_root (yaml), *node = key != NULL ? base_yaml_get (root, key) : root;
  const BaseStr like = base_yaml_kind (node) == BASE_YAML_SCALAR ? text_of (root, key) : text_of (node, "like");
  if (like.set && !read_named (&like, depth, context, out, error))
    return FALSE;
  if (base_yaml_kind (node) == BASE_YAML_SCALAR)
    return TRUE;
  const PlnPricesSpec base = *out;
  if (!pln_convert_list (yaml, key, &base, context, error))
    return FALSE;
  node = key != NULL ? base_yaml_get (root, key) : root;
  if (!base_schema_read (&pln_schema_prices, node, like.set, context, out))
    return base_diag_finish (context->diag, error);
  if (like.set) {
    join (&out->nodes, &base.nodes, sizeof (PlnNodePrice), context->arena);
    join (&out->storage, &base.storage, sizeof (PlnStoragePrice), context->arena);
    join (&out->fabric.switches, &base.fabric.switches, sizeof (PlnSwitchPrice), context->arena);
    keep_node_prices (out, &base.nodes);
  }
  return check_prices (out, node, error);
}

gboolean
pln_read_prices (BaseYaml *yaml, const char *key, const BaseSchemaContext *context, PlnPricesSpec *out, GError **error)
{
  return read_list (yaml, key, 0, context, out, error);
}

gboolean
pln_convert_goal (BaseYaml *yaml, const BaseSchemaContext *context, GError **error)
{
  static const char *const keys[] = { "capex", "run_cost" };
  const BaseYamlNode *root = base_yaml_root (yaml), *goal = base_yaml_get (root, "goal"), *prices = base_yaml_get (root, "prices");
  gboolean foreign = FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (keys) && goal != NULL; i++) {
    const BaseYamlNode *one = base_yaml_get (goal, keys[i]);
    double number;
    const char *rest;
    foreign = foreign || (one != NULL && base_yaml_kind (one) == BASE_YAML_SCALAR && base_yaml_text (one) != NULL &&
                          read_amount (base_yaml_text (one), &number, &rest) != NULL);
  }
  if (!foreign || prices == NULL || base_yaml_is_null (prices))
    return TRUE;
  g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify)base_yaml_free); /* the list is read again later */
  BaseSchemaContext once = *context;
  once.inputs = inputs;
  PlnPricesSpec list = { 0 };
  if (!pln_read_prices (yaml, "prices", &once, &list, error))
    return FALSE;
  const double usd = pln_exchange (&list.currency, &list.exchange, &list.exchange_date, error);
  return usd > 0 && pln_convert_money (yaml, "goal", list.currency.v, usd, error);
}
