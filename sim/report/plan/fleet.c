#include "report/fleet.h"

#include <math.h>
#include <string.h>

#include "base/layout.h"
#include "base/member.h"
#include "json-private.h"
#include "plan-private.h"

/* ---- words ---- */

/* "TP8", "TP2 DP8 EP16". Returned: full. */
static char *
layout_text (const PlnFleetLayout *layout)
{
  GString *out = g_string_new (NULL);
  g_string_append_printf (out, "TP%u", layout->tp);
  if (layout->pp > 1)
    g_string_append_printf (out, " PP%u", layout->pp);
  if (layout->dp_attn > 1)
    g_string_append_printf (out, " DP%u", layout->dp_attn);
  if (layout->ep > 1)
    g_string_append_printf (out, " EP%u", layout->ep);
  return g_string_free (out, FALSE);
}

char *
rep_fleet_replicas (const PlnFleetRow *row)
{
  g_autofree char *first = layout_text (&row->pools[0]), *second = layout_text (&row->pools[1]);
  return row->apart ? g_strdup_printf ("%ux %s : %ux %s", row->replicas[0], first, row->replicas[1], second)
                    : g_strdup_printf ("%ux %s", row->replicas[0], first);
}

char *
rep_fleet_choice (const PlnFleet *fleet, const PlnFleetRow *row)
{
  g_autofree char *replicas = rep_fleet_replicas (row);
  return g_strdup_printf ("%s, %s", pln_fleet_topology (fleet, row->machine), replicas);
}

/* "TTFT <= 2 s and TPOT <= 40 ms". Returned: full. */
static char *
promises_text (const PlnFleet *fleet)
{
  double ttft_s, tpot_s, fraction;
  GString *out = g_string_new (NULL);
  pln_fleet_slo (fleet, &ttft_s, &tpot_s, &fraction);
  const struct {
    const char *what;
    double limit_s;
  } limits[] = { { "TTFT", ttft_s }, { "TPOT", tpot_s } };
  for (guint i = 0; i < G_N_ELEMENTS (limits); i++) {
    if (!isfinite (limits[i].limit_s))
      continue;
    g_autofree char *limit = base_quantity_show (limits[i].limit_s, BASE_DIM_TIME);
    g_string_append_printf (out, "%s%s <= %s", out->len > 0 ? " and " : "", limits[i].what, limit);
  }
  return g_string_free (out, FALSE);
}

/* ---- rows ---- */

typedef struct {
  const PlnFleetRow *row;
  const char *topology, *mode, *weights, *by;
  char *replicas;
  double nodes, gpus, ttft_s, tpot_s, good, tokens, own, rent, mtok, capex, power, prefill, decode;
} Shown;

#define SHOWN(...) BASE_MEMBER (Shown, __VA_ARGS__)
static const BaseMember members[] = {
  SHOWN ("topology", topology, .title = "topology"),
  SHOWN ("nodes", nodes, BASE_SHOWN ("nodes", 1, "%.0f")),
  SHOWN ("gpus", gpus, BASE_SHOWN ("GPUs", 1, "%.0f")),
  SHOWN ("pools", mode, .title = "pools", .rank = 2),
  SHOWN ("replicas", replicas, .title = "replicas"),
  SHOWN ("weights", weights, .title = "weights", .rank = 1),
  SHOWN ("ttft_s", ttft_s, BASE_SHOWN ("TTFT (ms)", 1e3, "%.4g")),
  SHOWN ("tpot_s", tpot_s, BASE_SHOWN ("TPOT (ms)", 1e3, "%.4g")),
  SHOWN ("good_fraction", good, BASE_SHOWN ("in SLO (%)", 100, "%.1f")),
  SHOWN ("own_usd", own, BASE_SHOWN ("owned (USD/month)", 1, "%.0f"), .rank = 1),
  SHOWN ("rent_usd", rent, BASE_SHOWN ("rented (USD/month)", 1, "%.0f"), .rank = 1),
  SHOWN ("cost_per_Mtok", mtok, BASE_SHOWN ("USD/Mtok", 1, "%.4g")),
  SHOWN ("capital_usd", capex, BASE_SHOWN ("to buy (USD)", 1, "%.0f"), .rank = 2, .positive = TRUE),
  SHOWN ("output_tokens_per_s_per_gpu", tokens, BASE_SHOWN ("tokens/s a GPU", 1, "%.4g"), .rank = 1),
  SHOWN ("power_W", power, BASE_SHOWN ("power (kW)", 1e-3, "%.4g"), .rank = 2),
  SHOWN ("prefill_busy", prefill, BASE_SHOWN ("busy (%)", 100, "%.0f"), .rank = 2),
  SHOWN ("decode_busy", decode, BASE_SHOWN ("decode busy (%)", 100, "%.0f"), .rank = 2),
  SHOWN ("by", by, .title = "by"),
  BASE_MEMBER_END,
};

static void
shown_clear (gpointer data)
{
  g_free (((Shown *)data)->replicas);
}

/* Returned: full, Shown. */
static GArray *
shown_of (const PlnFleet *fleet, const PlnFleetResult *result, guint most)
{
  GArray *out = g_array_new (FALSE, FALSE, sizeof (Shown));
  g_array_set_clear_func (out, shown_clear);
  for (guint i = 0; i < MIN (result->rows->len, most); i++) {
    const PlnFleetRow *row = &g_array_index (result->rows, PlnFleetRow, i);
    const Shown shown = { .row = row,
                          .topology = pln_fleet_topology (fleet, row->machine),
                          .mode = row->apart ? "apart" : "all",
                          .weights = base_name (srv_format_names, (int)row->pools[0].weights),
                          .by = row->simulated ? "engine" : "formula",
                          .replicas = rep_fleet_replicas (row),
                          .nodes = row->nodes,
                          .gpus = row->gpus,
                          .ttft_s = row->ttft_s,
                          .tpot_s = row->tpot_s,
                          .good = row->good,
                          .tokens = row->tokens_per_s_gpu,
                          .own = row->own_usd,
                          .rent = row->rent_usd,
                          .mtok = row->usd_per_Mtok,
                          .capex = row->capital_usd,
                          .power = row->power_W,
                          .prefill = row->busy[0],
                          .decode = row->apart ? row->busy[1] : (double)NAN };
    g_array_append_val (out, shown);
  }
  return out;
}

BaseTable *
rep_fleet_table (const PlnFleet *fleet, const PlnFleetResult *result, guint most)
{
  g_autoptr (GArray) rows = shown_of (fleet, result, most);
  return base_members_table (members, rows);
}

/* ---- what is missed ---- */

/* What to change where that is missed; "": its text says it. */
static const char *
remedy_of (const PlnFleetNearest *miss)
{
  if (miss->why == PLN_FLEET_LIMIT)
    return strcmp (miss->what, "GPUs") == 0    ? "; write more 'gpus' in 'constraints'"
           : strcmp (miss->what, "power") == 0 ? "; write more 'power' in 'constraints'"
                                               : "; write a larger 'capex', or give it a price of rent in 'prices'";
  if (miss->why != PLN_FLEET_TTFT && miss->why != PLN_FLEET_TPOT)
    return "";
  if (miss->has <= miss->limit)
    return "; write longer times or a lower 'percentile' in 'slo', or shorter prompts in 'load'";
  return miss->why == PLN_FLEET_TTFT
             ? "; write a longer 'ttft' in 'slo', more 'tp' or narrower 'weights' in 'free', or choose GPUs with more FLOP/s"
             : "; write a longer 'tpot' in 'slo', more 'tp' or narrower 'weights' in 'free', or choose GPUs with more memory "
               "bandwidth";
}

static void
append_miss (const PlnFleet *fleet, const PlnFleetNearest *miss, GString *out)
{
  const char *topology = pln_fleet_topology (fleet, miss->machine);
  g_autofree char *layout = layout_text (&miss->layout);
  if (miss->why == PLN_FLEET_TTFT || miss->why == PLN_FLEET_TPOT) {
    g_autofree char *has = base_quantity_show (miss->has, BASE_DIM_TIME), *limit = base_quantity_show (miss->limit, BASE_DIM_TIME);
    if (miss->has > miss->limit)
      g_string_append_printf (out, "%s: the %s of a request alone is %s with %s, %.0f %% over %s", topology, miss->what, has,
                              layout, 100 * (miss->has / miss->limit - 1), limit);
    else
      g_string_append_printf (out,
                              "%s: a request alone keeps the promises with %s (%s %s), but no number of replicas does under load",
                              topology, layout, miss->what, has);
  } else if (miss->why == PLN_FLEET_LIMIT) {
    const gboolean gpus = strcmp (miss->what, "GPUs") == 0, power = strcmp (miss->what, "power") == 0;
    const BaseDim dim = gpus ? BASE_DIM_COUNT : power ? BASE_DIM_POWER : BASE_DIM_MONEY;
    g_autofree char *has = base_quantity_show (miss->has, dim), *limit = base_quantity_show (miss->limit, dim);
    g_string_append_printf (out, "%s: with %s it %s %s%s, %.0f %% over %s", topology, layout,
                            gpus    ? "takes"
                            : power ? "draws"
                                    : "costs",
                            has,
                            gpus    ? " GPUs"
                            : power ? ""
                                    : " to buy",
                            100 * (miss->has / miss->limit - 1), limit);
  } else if (miss->why == PLN_FLEET_PRICE)
    g_string_append_printf (out, "%s: it has no price; add {topology, node, rent} to 'nodes' of 'prices'", topology);
  else
    g_string_append_printf (out, "%s: %s", topology, miss->what);
}

char *
rep_fleet_infeasible (const PlnFleet *fleet, const PlnFleetResult *result)
{
  if (result->rows->len > 0)
    return NULL;
  g_autofree char *promises = promises_text (fleet);
  g_autoptr (GString) out = g_string_new (NULL);
  g_string_append_printf (out, "no option keeps %s within the limits; the nearest is ", promises);
  append_miss (fleet, &g_array_index (result->misses, PlnFleetNearest, 0), out);
  g_string_append (out, remedy_of (&g_array_index (result->misses, PlnFleetNearest, 0)));
  return g_strdup (out->str);
}

/* ---- sentences ---- */

/* "$30.48 k owned, after $1.2 M of cash"; "at least" where its network has no price. */
static void
append_owned (const PlnFleetRow *row, GString *out)
{
  const gboolean whole = isfinite (row->own_usd);
  g_autofree char *month = base_quantity_show (whole ? row->own_usd : row->own_least_usd, BASE_DIM_MONEY),
                  *cash = base_quantity_show (row->capital_usd, BASE_DIM_MONEY);
  const char *least = whole ? "" : "at least ";
  g_string_append_printf (out, "%s%s owned, after %s%s of cash%s", least, month, least, cash,
                          whole ? "" : ", as its network has no price");
}

static void
append_money (const PlnFleet *fleet, const PlnFleetRow *row, GString *out)
{
  const gboolean rented = isfinite (row->rent_usd), owned = isfinite (row->own_usd) || isfinite (row->own_least_usd);
  if (!rented && !owned)
    return;
  g_string_append (out, "A month costs ");
  if (rented) {
    g_autofree char *rent = base_quantity_show (row->rent_usd, BASE_DIM_MONEY);
    g_string_append_printf (out, "%s rented%s", rent, owned ? ", or " : "");
  }
  if (owned)
    append_owned (row, out);
  g_string_append_c (out, '.');
  if (isfinite (row->usd_per_Mtok)) {
    g_autofree char *mtok = rep_money_fine (row->usd_per_Mtok, 3);
    g_string_append_printf (out, " %s, a million output tokens cost %s.",
                            pln_fleet_basis (fleet) == PLN_ACQUISITION_BUY ? "Owned" : "Rented", mtok);
  }
  if (row->above_capex) {
    g_autofree char *cash = base_quantity_show (row->capital_usd, BASE_DIM_MONEY);
    g_string_append_printf (out, " Buying it takes %s, more than 'capex' allows, so only rent counts.", cash);
  }
  g_string_append_c (out, '\n');
}

/* Options that rank behind the others, as a part of their price is not known. */
static void
append_partial (const PlnFleet *fleet, const PlnFleetResult *result, GString *out)
{
  for (guint i = 1; i < result->rows->len; i++) {
    const PlnFleetRow *row = &g_array_index (result->rows, PlnFleetRow, i);
    gboolean seen = isfinite (row->usd_per_Mtok) || !isfinite (row->own_least_usd);
    for (guint k = 0; k < i && !seen; k++)
      seen = g_array_index (result->rows, PlnFleetRow, k).machine == row->machine;
    if (seen)
      continue;
    g_string_append_printf (out, "%s ranks behind the others: %u nodes cost ", pln_fleet_topology (fleet, row->machine),
                            row->nodes);
    append_owned (row, out);
    g_string_append (out, ".\n");
  }
}

static const PlnFleetRow *
first_of (const PlnFleetResult *result, gboolean apart)
{
  for (guint i = 0; i < result->rows->len; i++)
    if (g_array_index (result->rows, PlnFleetRow, i).apart == apart)
      return &g_array_index (result->rows, PlnFleetRow, i);
  return NULL;
}

/* The other kind of pools, beside the recommended one. */
static void
append_other (const PlnFleet *fleet, const PlnFleetResult *result, GString *out)
{
  const PlnFleetRow *first = &g_array_index (result->rows, PlnFleetRow, 0), *other = first_of (result, !first->apart);
  if (other == NULL)
    return;
  g_autofree char *replicas = rep_fleet_replicas (other);
  g_string_append_printf (out, "%s: %u x %s, %s, %u GPUs", other->apart ? "Prefill and decode apart" : "Replicas that do both",
                          other->nodes, pln_fleet_topology (fleet, other->machine), replicas, other->gpus);
  const double more = other->usd_per_Mtok / first->usd_per_Mtok - 1;
  if (isfinite (more) && fabs (more) < 5e-4)
    g_string_append (out, ", at the same cost");
  else if (isfinite (more))
    g_string_append_printf (out, ", %.1f %% %s", 100 * fabs (more), more > 0 ? "dearer" : "cheaper");
  g_string_append_printf (out, " (%s).\n", other->simulated ? "simulated" : "estimated");
}

static void
append_answer (const PlnFleet *fleet, const PlnFleetResult *result, GString *out)
{
  const PlnFleetRow *row = &g_array_index (result->rows, PlnFleetRow, 0);
  g_autofree char *replicas = rep_fleet_replicas (row), *promises = promises_text (fleet);
  const guint used = row->replicas[0] * row->pools[0].gpus + (row->apart ? row->replicas[1] * row->pools[1].gpus : 0);
  g_string_append_printf (out, "Recommended: %u x %s (%u GPUs, of which %u work), %s%s, weights in %s.\n", row->nodes,
                          pln_fleet_topology (fleet, row->machine), row->gpus, used, row->apart ? "prefill : decode = " : "",
                          replicas, base_name (srv_format_names, (int)row->pools[0].weights));
  if (row->simulated)
    g_string_append_printf (out, "%.1f %% of requests keep %s (simulated).\n", 100 * row->good, promises);
  else
    g_string_append_printf (out, "It keeps %s by the closed form; --best 1 has the engine check it.\n", promises);
  append_money (fleet, row, out);
  append_other (fleet, result, out);
  append_partial (fleet, result, out);
}

GPtrArray *
rep_fleet_sentences (const PlnFleet *fleet, const PlnFleetResult *result)
{
  g_autoptr (GString) text = g_string_new (NULL);
  GPtrArray *out = g_ptr_array_new_with_free_func (g_free);
  append_answer (fleet, result, text);
  g_auto (GStrv) lines = g_strsplit (text->str, "\n", -1);
  for (char **line = lines; *line != NULL; line++)
    if (**line != '\0')
      g_ptr_array_add (out, g_strdup (*line));
  return out;
}

GPtrArray *
rep_fleet_misses (const PlnFleet *fleet, const PlnFleetResult *result)
{
  GPtrArray *out = g_ptr_array_new_with_free_func (g_free);
  const char *said = "";
  for (guint i = 0; i < result->misses->len; i++) {
    const PlnFleetNearest *miss = &g_array_index (result->misses, PlnFleetNearest, i);
    GString *text = g_string_new (NULL);
    append_miss (fleet, miss, text);
    if (strcmp (said, remedy_of (miss)) != 0) /* once for those that miss the same */
      g_string_append (text, remedy_of (miss));
    said = remedy_of (miss);
    g_ptr_array_add (out, g_string_free (text, FALSE));
  }
  return out;
}

/* ---- capacity ---- */

typedef struct {
  double users, rate, nodes, gpus, month, mtok;
  char *replicas; /* owned */
} Scaled;

#define SCALED(...) BASE_MEMBER (Scaled, __VA_ARGS__)
static const BaseMember scaled_members[] = {
  SCALED ("users", users, BASE_SHOWN ("users", 1, "%.0f")),
  SCALED ("requests_per_s", rate, BASE_SHOWN ("requests/s", 1, "%.4g")),
  SCALED ("nodes", nodes, BASE_SHOWN ("nodes", 1, "%.0f")),
  SCALED ("gpus", gpus, BASE_SHOWN ("GPUs", 1, "%.0f")),
  SCALED ("replicas", replicas, .title = "replicas"),
  SCALED ("month_usd", month, BASE_SHOWN ("USD/month", 1, "%.0f")),
  SCALED ("cost_per_Mtok", mtok, BASE_SHOWN ("USD/Mtok", 1, "%.4g")),
  BASE_MEMBER_END,
};

static void
scaled_clear (gpointer data)
{
  g_free (((Scaled *)data)->replicas);
}

BaseTable *
rep_fleet_capacity (const PlnFleet *fleet, const GArray *capacity)
{
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (Scaled));
  g_array_set_clear_func (rows, scaled_clear);
  const gboolean own = pln_fleet_basis (fleet) == PLN_ACQUISITION_BUY;
  for (guint i = 0; i < capacity->len; i++) {
    const PlnFleetCapacity *at = &g_array_index (capacity, PlnFleetCapacity, i);
    const Scaled row = { .users = at->users,
                         .rate = at->rate,
                         .nodes = at->row.nodes,
                         .gpus = at->row.gpus,
                         .month = own ? at->row.own_usd : at->row.rent_usd,
                         .mtok = at->row.usd_per_Mtok,
                         .replicas = rep_fleet_replicas (&at->row) };
    g_array_append_val (rows, row);
  }
  return base_members_table (scaled_members, rows);
}

void
rep_fleet_header (const PlnFleet *fleet, const PlnFleetResult *result, GString *out)
{
  double rate, input, output;
  g_autofree char *promises = promises_text (fleet);
  double ttft_s, tpot_s, fraction;
  pln_fleet_slo (fleet, &ttft_s, &tpot_s, &fraction);
  pln_fleet_load_of (fleet, &rate, &input, &output);
  g_string_append_printf (out, "# %.4g requests/s of %.0f tokens in and %.0f out (means); %.4g %% of them keep %s\n", rate, input,
                          output, 100 * fraction, promises);
  const double mean = pln_fleet_mean_rate (fleet);
  if (rate > mean * (1 + 1e-9))
    g_string_append_printf (out, "# that is the busiest time; the mean is %.4g requests/s, over which costs are spread\n", mean);
  if (pln_fleet_lost_nodes (fleet) > 0)
    g_string_append_printf (out, "# the promises hold with %u node%s lost: spare nodes start the replicas that it had\n",
                            pln_fleet_lost_nodes (fleet), pln_fleet_lost_nodes (fleet) == 1 ? "" : "s");
  g_string_append_printf (out, "# %u layouts estimated; %u options checked by the engine in %u runs. Ranked by %s\n",
                          result->n_layouts, result->n_simulated, result->n_runs,
                          base_name (pln_fleet_aim_names, (int)pln_fleet_aim (fleet)));
  const PlnPricesSpec *prices = pln_fleet_prices (fleet);
  if (prices != NULL)
    rep_currency_text (&prices->currency, &prices->exchange, &prices->exchange_date, out);
  g_string_append (out,
                   "# times of rows by engine are at the percentile of the SLO, those by formula are means; a month has 30 days\n");
}

char *
rep_fleet_pool (const PlnFleetRow *row, guint pool)
{
  const char *name = !row->apart ? "replica" : pool == 0 ? "prefill replica" : "decode replica";
  return g_strdup_printf ("%u %s%s", row->replicas[pool], name, row->replicas[pool] == 1 ? "" : "s");
}

static void
append_commands (const PlnFleet *fleet, const PlnFleetRow *row, GString *out)
{
  g_autoptr (GPtrArray) commands = pln_fleet_commands (fleet, row);
  g_autofree char *checkpoint = pln_fleet_checkpoint (fleet, row);
  for (guint i = 0; i < commands->len; i++) {
    g_autofree char *pool = rep_fleet_pool (row, i);
    g_string_append_printf (out, "\n# %s, %sstarted by\n%s\n", pool, row->replicas[i] > 1 ? "each " : "",
                            (const char *)commands->pdata[i]);
  }
  if (checkpoint != NULL)
    g_string_append_printf (out, "# %s\n", checkpoint);
}

static gboolean
has_prices (const RepFleetMoney *money)
{
  return pln_basis (money->plan) != PLN_ACQUISITION_NONE;
}

void
rep_fleet_text (const PlnFleet *fleet, const PlnFleetResult *result, const RepFleetMoney *money, guint most, GString *out)
{
  if (result->rows->len == 0) {
    g_autofree char *why = rep_fleet_infeasible (fleet, result);
    g_string_append_printf (out, "%c%s.\n", g_ascii_toupper (*why), why + 1);
  } else {
    append_answer (fleet, result, out);
    g_string_append_c (out, '\n');
    rep_text (rep_fleet_table (fleet, result, most), out);
    if (has_prices (money)) {
      rep_plan_rivals_text (money->plan, money->result, out);
      rep_plan_flips_text (money->plan, money->result, out);
    }
    if (money->capacity != NULL && pln_fleet_users (fleet) > 0) {
      g_string_append (out, "\nThe recommended option for more and fewer users (estimated):\n");
      rep_text (rep_fleet_capacity (fleet, money->capacity), out);
    }
    append_commands (fleet, &g_array_index (result->rows, PlnFleetRow, 0), out);
  }
  g_autoptr (GPtrArray) misses = rep_fleet_misses (fleet, result);
  for (guint i = result->rows->len == 0 ? 1 : 0; i < misses->len; i++)
    g_string_append_printf (out, "\n# not on %s", (const char *)misses->pdata[i]);
  if (result->misses->len > 0)
    g_string_append_c (out, '\n');
}

/* ---- JSON ---- */

void
rep_fleet_json (const PlnFleet *fleet, const PlnFleetResult *result, const RepFleetMoney *money, guint most, JsonBuilder *json)
{
  const PlnPricesSpec *prices = pln_fleet_prices (fleet);
  rep_json_table (json, "rows", rep_fleet_table (fleet, result, most));
  if (prices != NULL)
    rep_currency_json (&prices->currency, &prices->exchange, &prices->exchange_date, json);
  if (has_prices (money)) {
    rep_plan_rivals_json (money->plan, money->result, json);
    rep_plan_flips_json (money->plan, money->result, json);
  }
  if (money->capacity != NULL)
    rep_json_table (json, "capacity", rep_fleet_capacity (fleet, money->capacity));
  json_builder_set_member_name (json, "misses");
  json_builder_begin_array (json);
  g_autoptr (GPtrArray) misses = rep_fleet_misses (fleet, result);
  for (guint i = 0; i < misses->len; i++)
    json_builder_add_string_value (json, misses->pdata[i]);
  json_builder_end_array (json);
  json_builder_set_member_name (json, "commands");
  json_builder_begin_array (json);
  const PlnFleetRow *first = result->rows->len > 0 ? &g_array_index (result->rows, PlnFleetRow, 0) : NULL;
  g_autoptr (GPtrArray) commands = first != NULL ? pln_fleet_commands (fleet, first) : g_ptr_array_new ();
  for (guint i = 0; i < commands->len; i++)
    json_builder_add_string_value (json, commands->pdata[i]);
  json_builder_end_array (json);
  json_builder_set_member_name (json, "command_pools");
  json_builder_begin_array (json);
  for (guint i = 0; i < commands->len; i++) {
    g_autofree char *pool = rep_fleet_pool (first, i);
    json_builder_add_string_value (json, pool);
  }
  json_builder_end_array (json);
  json_builder_set_member_name (json, "scenario");
  if (result->rows->len > 0) {
    g_autofree char *scenario = pln_fleet_scenario (fleet, &g_array_index (result->rows, PlnFleetRow, 0));
    json_builder_add_string_value (json, scenario);
  } else
    json_builder_add_null_value (json);
  json_builder_set_member_name (json, "n_layouts");
  json_builder_add_int_value (json, result->n_layouts);
  json_builder_set_member_name (json, "n_simulated");
  json_builder_add_int_value (json, result->n_simulated);
}
