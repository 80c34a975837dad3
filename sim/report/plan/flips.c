/* Where the order of a plan flips, price by price. */
#include <math.h>
#include <string.h>

#include "base/currency.h"
#include "base/layout.h"
#include "json-private.h"
#include "plan-private.h"

#define MOST_LINES 12u

/* "node of hgx_b200". Returned: full. */
static char *
name_of (const PlnFlip *flip)
{
  static const char *const words[][2] = {
    { "node", "node of %s" },
    { "rent", "rent of %s" },
    { "nic", "NIC port, %s" },
    { "transceiver", "optics, %s" },
    { "cable", "cable, %s" },
    { "price", "switch %s" },
    { "pue", "PUE" },
    { "amortisation", "depreciation" },
    { "network", "network per GPU" },
    { "storage_server", "storage server" },
    { "rack_power", "power of a rack" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (words); i++) {
    if (strcmp (flip->key, words[i][0]) != 0)
      continue;
    const char *gap = strstr (words[i][1], "%s");
    g_autofree char *before = gap != NULL ? g_strndup (words[i][1], (gsize)(gap - words[i][1])) : NULL;
    return gap != NULL ? g_strconcat (before, flip->of, NULL) : g_strdup (words[i][1]);
  }
  return g_strdup (flip->path);
}

typedef struct {
  const PlnFlip *flip;
  char *name, *now, *limit, *then;       /* owned */
  double change, now_value, limit_value; /* SI, money in the currency that is shown */
} Line;

BASE_MEMBER_TEXT_OF (direction, Line, it->flip->limit > it->flip->value ? "more" : "less")

#define LINE(...) BASE_MEMBER (Line, __VA_ARGS__)
#define FLIP(...) BASE_MEMBER_THROUGH (Line, flip, PlnFlip, __VA_ARGS__)
static const BaseMember members[] = {
  LINE ("price", name, .title = "price"),
  FLIP ("path", path),
  LINE ("now_value", now_value),
  LINE ("limit_value", limit_value),
  LINE ("now", now, .title = "now"),
  LINE ("limit", limit, .title = "stays first up to"),
  { .key = "direction", .text = direction },
  LINE ("change", change, BASE_SHOWN ("change (%)", 100, "%+.0f")),
  LINE ("then", then, .title = "then first"),
  BASE_MEMBER_END,
};

/* Fractions in per cent. Returned: full. */
static char *
shown (double value, BaseDim dim, unsigned digits)
{
  return dim == BASE_DIM_RATIO ? g_strdup_printf ("%.3g %%", 100 * value) : base_quantity_format (value, dim, digits);
}

static BaseTable *
table_of (const Pln *plan, const PlnResult *result, const GArray *flips, guint most)
{
  BaseTable *table = base_members_table (members, NULL);
  for (guint i = 0; i < flips->len && i < most; i++) {
    const PlnFlip *flip = &g_array_index (flips, PlnFlip, i);
    const unsigned digits = flip->dim == BASE_DIM_TIME ? 4 : 3, exact = flip->dim == BASE_DIM_MONEY ? 6 : digits; /* 1825 days */
    g_autofree char *limit = shown (flip->limit, flip->dim, digits);
    Line line = { .flip = flip,
                  .name = name_of (flip),
                  .now = shown (flip->value, flip->dim, exact),
                  .limit = g_strconcat (flip->limit < flip->value ? "down to " : "", limit, NULL),
                  .change = flip->limit / flip->value - 1,
                  .now_value = base_currency_is_money (flip->dim) ? base_currency_of (flip->value) : flip->value,
                  .limit_value = base_currency_is_money (flip->dim) ? base_currency_of (flip->limit) : flip->limit,
                  .then = flip->row == 0 ? g_strconcat ("none: it would ", pln_out_texts[flip->why], NULL)
                                         : rep_plan_machine (plan, g_array_index (result->rows, PlnChoiceRow, flip->row).machine) };
    base_members_add (table, members, &line);
    g_free (line.name);
    g_free (line.now);
    g_free (line.limit);
    g_free (line.then);
  }
  return table;
}

static gboolean
is_by_money (const Pln *plan)
{
  return pln_aim (plan) == PLN_AIM_COST || pln_aim (plan) == PLN_AIM_COST_PER_TOKEN;
}

BaseTable *
rep_plan_flips (const Pln *plan, const PlnResult *result, guint most)
{
  g_autoptr (GArray) flips = pln_flips (plan, result);
  return table_of (plan, result, flips, most);
}

void
rep_plan_flips_text (const Pln *plan, const PlnResult *result, GString *out)
{
  g_autoptr (GArray) flips = pln_flips (plan, result);
  if (pln_prices (plan) == NULL || result->rivals->len == 0 || (flips->len == 0 && !is_by_money (plan)))
    return;
  if (flips->len == 0) {
    g_string_append (out, "\nNo single price changes which option comes first.\n");
    return;
  }
  g_string_append (out, "\nThe recommended option stays first until one price passes its limit:\n");
  rep_text (table_of (plan, result, flips, MOST_LINES), out);
  if (flips->len > MOST_LINES)
    g_string_append_printf (out, "# and %u more, further away\n", flips->len - MOST_LINES);
}

void
rep_plan_flips_json (const Pln *plan, const PlnResult *result, JsonBuilder *json)
{
  g_autoptr (GArray) flips = pln_flips (plan, result);
  rep_json_table (json, "flip_points", table_of (plan, result, flips, G_MAXUINT));
}
