/* A plan at other prices: every figure of its list by the path that --set takes, and rows priced again with one of them changed.
 * Only money changes: steps, failures and power stay, so no search is needed. */
#include <math.h>
#include <string.h>

#include "plan-private.h"

static void
leaf_clear (gpointer data)
{
  PlnPriceLeaf *leaf = data;
  g_free (leaf->path);
  g_free (leaf->of);
}

/* What tells an item of a list from its neighbours: its first text, or its first number. Returned: full. */
static char *
identity (const BaseSchema *schema, const char *item)
{
  const BaseField *first = &schema->fields[0];
  if (first->kind == BASE_FIELD_STR)
    return g_strdup (((const BaseStr *)(item + first->offset))->v);
  const BaseNum *num = (const BaseNum *)(item + first->offset);
  return first->dim == BASE_DIM_BANDWIDTH ? g_strdup_printf ("%g Gb/s", num->v * 8e-9)
                                          : base_quantity_format (num->v, first->dim, 4);
}

static void
walk (const BaseSchema *schema, char *at, const char *path, const char *of, GArray *leaves)
{
  for (const BaseField *field = schema->fields; field->key != NULL; field++) {
    g_autofree char *below = g_strdup_printf ("%s%s%s", path, *path != '\0' ? "." : "", field->key);
    char *value = at + field->offset;
    if (field->kind == BASE_FIELD_NUM && ((BaseNum *)value)->set && ((BaseNum *)value)->v > 0 &&
        !g_str_has_suffix (below, "rate")) {
      const PlnPriceLeaf leaf = { (BaseNum *)value, field->dim, g_strdup (below), field->key, g_strdup (of) };
      g_array_append_val (leaves, leaf);
    } else if (field->kind == BASE_FIELD_MAP)
      walk (field->sub, value, below, of, leaves);
    else if (field->kind == BASE_FIELD_LIST) {
      const BaseList *list = (const BaseList *)value;
      for (guint i = 0; i < list->n; i++) {
        char *item = (char *)list->item + i * field->item_size;
        g_autofree char *name = identity (field->sub, item), *its = g_strdup_printf ("%s.%s", below, name);
        walk (field->sub, item, its, name, leaves);
      }
    }
  }
}

GArray *
pln_price_leaves (const Pln *plan)
{
  GArray *leaves = g_array_new (FALSE, FALSE, sizeof (PlnPriceLeaf));
  g_array_set_clear_func (leaves, leaf_clear);
  if (plan->has_prices)
    walk (&pln_schema_prices, (char *)&plan->prices, "", NULL, leaves);
  return leaves;
}

double
pln_price_band (const Pln *plan, const BaseNum *num, BaseDim dim)
{
  gboolean money = dim == BASE_DIM_MONEY || dim == BASE_DIM_MONEY_PER_TIME || dim == BASE_DIM_MONEY_PER_ENERGY;
  if (!money || !plan->has_prices) /* a convention of the buyer, as amortisation */
    return 0;
  return num->source == BASE_SOURCE_ASSUMED ? plan->prices.band.v : plan->prices.published_band.v;
}

/* Machines of the rows at today's prices; others stay as they are. Returned: full. */
static GArray *
price_again (const Pln *plan, const GArray *rows)
{
  GArray *machines = g_array_sized_new (FALSE, FALSE, sizeof (PlnMachine), plan->machines->len);
  g_autofree gboolean *done = g_new0 (gboolean, plan->machines->len);
  g_array_append_vals (machines, plan->machines->data, plan->machines->len);
  for (guint i = 0; i < rows->len; i++) {
    guint at = g_array_index (rows, PlnChoiceRow, i).machine;
    PlnMachine machine = g_array_index (plan->bare, PlnMachine, at);
    if (done[at])
      continue;
    done[at] = TRUE;
    gboolean priced = pln_price_domains (plan, &machine, NULL);
    g_clear_pointer (&machine.parts, g_array_unref);
    if (priced)
      g_array_index (machines, PlnMachine, at) = machine;
  }
  return machines;
}

void
pln_at_price (const Pln *plan, const PlnPriceLeaf *leaf, double factor, GArray *rows, PlnRejection *missed)
{
  const double as_is = leaf->num->v;
  leaf->num->v = as_is * factor;
  Pln view = *plan;
  view.machines = price_again (plan, rows);
  for (guint i = 0; i < rows->len; i++) {
    double over;
    PlnChoiceRow *row = &g_array_index (rows, PlnChoiceRow, i);
    pln_price (&view, row);
    if (missed != NULL)
      missed[i] = pln_misses (&view, row, &over);
  }
  g_array_unref (view.machines);
  leaf->num->v = as_is;
}
