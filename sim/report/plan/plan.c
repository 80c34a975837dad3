#include "report/plan.h"

#include <math.h>
#include <string.h>

#include "base/layout.h"
#include "json-private.h"
#include "plan-private.h"
#include "report/run.h"

static guint
front_of (const PlnResult *result)
{
  guint n = 0;
  for (guint i = 0; i < result->rows->len; i++)
    n += g_array_index (result->rows, PlnChoiceRow, i).front ? 1u : 0u;
  return n;
}

/* "49,536". Returned: full. */
static char *
count_text (guint64 n)
{
  g_autofree char *digits = g_strdup_printf ("%" G_GUINT64_FORMAT, n);
  GString *text = g_string_new (digits);
  for (gssize at = (gssize)text->len - 3; at > 0; at -= 3)
    g_string_insert_c (text, at, ',');
  return g_string_free (text, FALSE);
}

/* How many configurations are indistinguishable from the first, and of a front from it. */
static void
append_alike (const Pln *plan, const PlnResult *result, GString *out)
{
  const GArray *machines = pln_machines (plan);
  g_autofree gboolean *alike = g_new0 (gboolean, machines->len);
  guint n = 0;
  gboolean front = pln_aim (plan) == PLN_AIM_PARETO;
  if (result->n_alike < (front ? 1 + front_of (result) : 2))
    return;
  for (guint i = 0; i < result->rows->len; i++) {
    const PlnChoiceRow *row = &g_array_index (result->rows, PlnChoiceRow, i);
    n += row->alike && !alike[row->machine] ? 1u : 0u;
    alike[row->machine] = alike[row->machine] || row->alike;
  }
  g_autofree char *count = count_text (result->n_alike);
  g_string_append_printf (out, "%s configurations on %u of %u cluster options are within the model's error of the %s.\n", count, n,
                          machines->len, front ? "Pareto front" : "recommended one");
}

/* What the second option takes more or less; the engine may put it below the first where that ran and it did not. */
static void
append_margin (const Pln *plan, double margin, GString *out)
{
  const PlnAim aim = pln_aim (plan);
  const char *verb = aim == PLN_AIM_TIME ? "takes" : aim == PLN_AIM_ENERGY ? "uses" : "costs";
  const char *what = aim == PLN_AIM_TIME ? " time" : aim == PLN_AIM_ENERGY ? " energy" : "";
  g_string_append_c (out, '\n');
  if (aim == PLN_AIM_GPUS)
    return;
  if (fabs (margin) < 1e-3)
    g_string_append_printf (out, "The second row %s the same%s, within 0.1 %%.\n", verb, what);
  else
    g_string_append_printf (out, "The second row %s %.2f %% %s%s.\n", verb, 100 * fabs (margin), margin > 0 ? "more" : "less",
                            what);
}

typedef struct {
  const char *name;
  double usd;
} Item;

/* "Cash to buy: $14.3 M: nodes $12.2 M, NICs $307 k." */
static void
append_items (const char *what, double total_usd, const Item *items, guint n, const char *end, GString *out)
{
  g_autofree char *total = base_quantity_show (total_usd, BASE_DIM_MONEY);
  const char *before = ": ";
  g_string_append_printf (out, "%s: %s", what, total);
  for (guint i = 0; i < n; i++) {
    if (!(items[i].usd > 0))
      continue;
    g_autofree char *usd = base_quantity_show (items[i].usd, BASE_DIM_MONEY);
    g_string_append_printf (out, "%s%s %s", before, items[i].name, usd);
    before = ", ";
  }
  g_string_append_printf (out, "%s.\n", end);
}

/* Rent, and what of storage is in it; a price list without such a price says so. */
static void
append_rent (const Pln *plan, const PlnMachine *machine, const PlnChoiceRow *row, const MdlMoney *money, GString *out)
{
  const double storage_usd = machine->storage_rent_usd_per_s * row->run_s;
  g_autofree char *size = base_quantity_show (machine->storage_B, BASE_DIM_BYTES);
  g_autofree char *like = machine->storage_like != NULL ? g_strconcat (" at the rent of ", machine->storage_like, NULL) : NULL;
  g_autofree char *end =
      storage_usd > 0             ? g_strdup_printf (" of %s%s; nodes come with network and power", size, like != NULL ? like : "")
      : pln_prices (plan) == NULL ? g_strdup ("")
                                  : g_strdup ("; storage is not in it, as the price list has no rent of this tier");
  const Item items[] = { { "nodes", money->rent_usd - storage_usd }, { "storage", storage_usd } };
  append_items ("Cost of this run, rented", money->total_usd, items, G_N_ELEMENTS (items), end, out);
}

/* Of the first row: cash to buy, and what this run costs bought and rented, part by part. */
static void
append_cost (const Pln *plan, const PlnResult *result, GString *out)
{
  const PlnChoiceRow *row = result->rows->len > 0 ? &g_array_index (result->rows, PlnChoiceRow, 0) : NULL;
  MdlMoney money;
  if (row == NULL || !(pln_tokens (plan) > 0))
    return;
  const PlnMachine *machine = &g_array_index (pln_machines (plan), PlnMachine, row->machine);
  if (pln_money (plan, row, PLN_ACQUISITION_BUY, &money)) {
    Item bought[PLN_BUY_N];
    const Item run[] = { { "loss of value", money.capital_usd }, { "interest", money.interest_usd },
                         { "support", money.support_usd },       { "colocation", money.colocation_usd },
                         { "staff", money.staff_usd },           { "energy", money.energy_usd } };
    for (int b = 0; b < PLN_BUY_N; b++)
      bought[b] = (Item){ b == PLN_BUY_NICS ? "NICs" : pln_buy_names[b], machine->buy_usd[b] };
    const char *part = pln_unpriced_part (plan, row->machine, PLN_ACQUISITION_BUY);
    g_autofree char *end = part != NULL ? g_strdup_printf ("; its %s has no price and is not in it", part) : g_strdup ("");
    append_items ("Cash to buy the recommended option", machine->capital_usd, bought, PLN_BUY_N, end, out);
    append_items ("Cost of this run, own", money.total_usd, run, G_N_ELEMENTS (run), end, out);
  }
  if (pln_money (plan, row, PLN_ACQUISITION_RENT, &money))
    append_rent (plan, machine, row, &money, out);
}

/* What a run of owned machines bears of the time between runs, and when they stand there. */
static void
append_terms (const PlnPricesSpec *prices, GString *out)
{
  if (!prices->amortisation.set)
    g_string_append (out, "# run cost, own: the run bears the whole purchase");
  else
    g_string_append_printf (out, "# run cost, own: life %.4g days, of which runs use %.3g %%; %.3g %% of the purchase is left",
                            prices->amortisation.v / 86400, 100 * prices->utilisation.v, 100 * prices->residual.v);
  if (prices->interest.v > 0)
    g_string_append_printf (out, "; interest %.3g %% a year", 100 * prices->interest.v);
  if (prices->lead_time.v > 0)
    g_string_append_printf (out, "; delivered %.4g days after the order, which `deadline` does not count",
                            prices->lead_time.v / 86400);
  g_string_append_c (out, '\n');
}

/* Whose prices, and how many of them nobody has vouched for. */
static void
append_prices (const Pln *plan, GString *out)
{
  const PlnPricesSpec *prices = pln_prices (plan);
  guint figures, assumed;
  if (prices == NULL)
    return;
  rep_plan_count_prices (plan, &figures, &assumed);
  g_string_append_printf (out, "# prices %s of %s in %s: %u of %u prices are assumptions\n",
                          prices->name.v != NULL ? prices->name.v : "of the plan", prices->date.v, prices->currency.v, assumed,
                          figures);
  rep_currency_text (&prices->currency, &prices->exchange, &prices->exchange_date, out);
  if (pln_basis (plan) == PLN_ACQUISITION_BUY)
    append_terms (prices, out);
  g_string_append_printf (out, "# costs compare %s\n",
                          pln_basis (plan) == PLN_ACQUISITION_BUY ? "bought with bought" : "rented with rented");
}

/* What the days hold of failures, and how sure that is. */
static void
append_failures (const Pln *plan, const PlnResult *result, GString *out)
{
  PlnFailures failures;
  if (!pln_failures (plan, &failures)) {
    if (pln_tokens (plan) > 0)
      g_string_append (out, "# times without failures and checkpoints: the plan has no 'failures'\n");
    return;
  }
  g_string_append_printf (out, "# times with failures of %s%s%s%s, %s; ", failures.rates != NULL ? failures.rates : "the plan",
                          failures.summary != NULL ? " (" : "", failures.summary != NULL ? failures.summary : "",
                          failures.summary != NULL ? ")" : "", base_source_name (failures.source));
  if (failures.tier != NULL)
    g_string_append_printf (out, "a checkpoint to %s%s, ", failures.tier,
                            failures.asynchronous ? " concurrently with training" : "");
  else
    g_string_append_printf (out, "a checkpoint stalls %.4g s, drains %.4g s, is restored in %.4g s, ", failures.stall_s,
                            failures.drain_s, failures.restore_s);
  if (isnan (failures.every_steps))
    g_string_append (out, "at the best interval\n");
  else
    g_string_append_printf (out, "every %.0f steps\n", failures.every_steps);
  if (failures.tier != NULL && result->rows->len > 0) {
    const MdlCheckpoint *first = &g_array_index (result->rows, PlnChoiceRow, 0).checkpoint;
    g_string_append_printf (out, "# recommended option: it stalls %.4g s, drains %.4g s, is restored in %.4g s\n", first->stall_s,
                            first->drain_s, first->restore_s);
  }
}

/* The same as JSON, null where none are counted. */
static void
build_failures (const Pln *plan, JsonBuilder *json)
{
  PlnFailures failures;
  if (!pln_failures (plan, &failures)) {
    rep_json_null (json, "failures");
    return;
  }
  json_builder_set_member_name (json, "failures");
  json_builder_begin_object (json);
  rep_json_text (json, "rates", failures.rates);
  rep_json_text (json, "provenance", base_source_name (failures.source));
  rep_json_number (json, "checkpoint_every_steps", failures.every_steps);
  rep_json_text (json, "tier", failures.tier);
  rep_json_number (json, "stall_s", failures.tier == NULL ? failures.stall_s : (double)NAN);
  rep_json_number (json, "drain_s", failures.tier == NULL ? failures.drain_s : (double)NAN);
  rep_json_number (json, "restore_s", failures.tier == NULL ? failures.restore_s : (double)NAN);
  json_builder_end_object (json);
}

/* Why configurations were rejected. */
static void
append_rejected (const PlnResult *result, GString *out)
{
  const char *before = "# rejected: ";
  for (int o = 0; o < PLN_REJECTED_N; o++) {
    if (result->out[o] == 0)
      continue;
    g_autofree char *count = count_text (result->out[o]), *dropped = count_text (result->dropped[o]);
    g_string_append_printf (out, "%s%s %s", before, count, pln_out_texts[o]);
    if (result->dropped[o] > 0)
      g_string_append_printf (out, " (%s after simulation)", dropped);
    before = ", ";
  }
  if (*before == ',')
    g_string_append_c (out, '\n');
}

/* What layouts must leave of a GPU's memory; and what tight means, where a row may be. */
static void
append_headroom (const Pln *plan, const PlnResult *result, GString *out)
{
  const BaseNum *headroom = pln_headroom (plan);
  if (result->rows->len == 0 || isnan (pln_memory_left (&g_array_index (result->rows, PlnChoiceRow, 0).step)))
    return;
  g_string_append_printf (out, "# layouts leave at least %.3g %% of a GPU's memory free (`goal: {memory: {headroom}}`%s)",
                          100 * headroom->v, headroom->set ? "" : ", assumed");
  if (headroom->v < PLN_TIGHT)
    g_string_append_printf (out, "; tight: below %g %%", 100 * PLN_TIGHT);
  g_string_append_c (out, '\n');
}

/* Whose efficiency the steps of the first row have; of other cluster options it may be another row of the same framework. */
static void
append_efficiency (const Pln *plan, const PlnResult *result, GString *out)
{
  if (result->rows->len == 0)
    return;
  const PlnChoiceRow *first = &g_array_index (result->rows, PlnChoiceRow, 0);
  const PlnMachine *machine = &g_array_index (pln_machines (plan), PlnMachine, first->machine);
  const TrnJob *job = machine->scenario != NULL ? scn_training (machine->scenario) : NULL;
  TrnEfficiency efficiency;
  if (job == NULL)
    return;
  TrnJob view = *job; /* borrows; the row does not depend on the layout, which here is none of the plan's */
  view.any_cut = TRUE;
  g_autoptr (GError) why = NULL;
  g_autofree char *row = trn_efficiency (&view, &efficiency, &why) ? rep_efficiency_row (&efficiency) : NULL;
  g_string_append_printf (out, "# framework of the first row: %s\n", row != NULL ? row : why->message);
}

void
rep_plan_header (const Pln *plan, const PlnResult *result, GString *out)
{
  const char *aim = rep_plan_aim (plan);
  const gboolean front = pln_aim (plan) == PLN_AIM_PARETO;
  const guint n = pln_machines (plan)->len;
  g_autofree char *asked = count_text (result->n_asked), *met = count_text (result->n_met);
  g_string_append_printf (out, "# %u cluster option%s, %s configurations; %s meet the constraints. ", n, n == 1 ? "" : "s", asked,
                          met);
  if (front)
    g_string_append (out, "The Pareto front of time and cost comes first, by time.\n");
  else
    g_string_append_printf (out, "Ranked by %s, simulated ones first.\n", aim);
  append_rejected (result, out);
  append_headroom (plan, result, out);
  if (pln_degraded (plan) != NULL)
    g_string_append_printf (out, "# every cluster option is degraded: %s\n", pln_degraded (plan));
  append_prices (plan, out);
  append_failures (plan, result, out);
  append_efficiency (plan, result, out);
}

void
rep_plan_text (const Pln *plan, const PlnResult *result, guint most, GString *out)
{
  if (result->rows->len == 0) {
    g_autofree char *why = rep_plan_infeasible (result);
    g_auto (GStrv) nearest = rep_plan_verdict (plan, result);
    g_string_append_printf (out, "%c%s.\n", g_ascii_toupper (*why), why + 1);
    if (nearest[0] != NULL)
      g_string_append_printf (out, "%s\n", nearest[0]);
    return;
  }
  g_autoptr (BaseTable) table = rep_plan_shown (plan, result, most);
  g_auto (GStrv) verdict = rep_plan_verdict (plan, result);
  for (char **sentence = verdict; *sentence != NULL; sentence++)
    g_string_append_printf (out, "%s\n%s", *sentence, sentence[1] == NULL ? "\n" : "");
  base_table_print_text (table, out);
  double margin = rep_plan_margin (plan, result);
  if (!isnan (margin))
    append_margin (plan, margin, out);
  if (pln_aim (plan) != PLN_AIM_PARETO) {
    g_string_append (out, isnan (margin) ? "\n" : "");
    append_cost (plan, result, out);
  }
  if (pln_aim (plan) == PLN_AIM_PARETO)
    g_string_append_printf (out, "\n%u on the Pareto front, %u simulated (--best)\n", front_of (result), result->n_simulated);
  g_autoptr (GString) alike = g_string_new (NULL);
  append_alike (plan, result, alike);
  g_string_append_printf (out, "%s%s", isnan (margin) && alike->len > 0 ? "\n" : "", alike->str);
  rep_plan_rivals_text (plan, result, out);
  rep_plan_flips_text (plan, result, out);
}

/* Why configurations were rejected, by this key. */
static void
build_rejected (const PlnResult *result, const char *key, JsonBuilder *json)
{
  json_builder_set_member_name (json, key);
  json_builder_begin_array (json);
  for (int o = 0; o < PLN_REJECTED_N; o++) {
    if (result->out[o] == 0)
      continue;
    json_builder_begin_object (json);
    rep_json_text (json, "why", pln_out_texts[o]);
    rep_json_number (json, "count", (double)result->out[o]);
    rep_json_number (json, "by_engine", (double)result->dropped[o]);
    rep_json_number (json, "nearest_over", o >= PLN_REJECTED_MEMORY ? result->over[o] : (double)NAN);
    json_builder_end_object (json);
  }
  json_builder_end_array (json);
}

void
rep_plan_json (const Pln *plan, const PlnResult *result, guint most, JsonBuilder *json)
{
  rep_json_text (json, "plan", pln_name (plan));
  rep_json_text (json, "model", pln_model (plan));
  rep_json_text (json, "objective", base_name (pln_aim_names, (int)pln_aim (plan)));
  rep_json_number (json, "tokens", pln_tokens (plan) > 0 ? pln_tokens (plan) : (double)NAN);
  rep_json_text (json, "prices", pln_prices (plan) != NULL ? pln_prices (plan)->name.v : NULL);
  const PlnPricesSpec *prices = pln_prices (plan);
  rep_currency_json (prices != NULL ? &prices->currency : NULL, prices != NULL ? &prices->exchange : NULL,
                     prices != NULL ? &prices->exchange_date : NULL, json);
  rep_json_text (json, "acquisition", base_name (pln_acquisition_names, (int)pln_basis (plan)));
  build_failures (plan, json);
  rep_json_number (json, "machines", pln_machines (plan)->len);
  rep_json_number (json, "configurations", (double)result->n_asked);
  rep_json_number (json, "met", (double)result->n_met);
  rep_json_number (json, "simulated", result->n_simulated);
  rep_json_number (json, "cannot_be_told_apart", (double)result->n_alike);
  rep_json_number (json, "indistinguishable", (double)result->n_alike);
  rep_json_number (json, "margin", rep_plan_margin (plan, result));
  rep_json_number (json, "break_even_s", rep_plan_break_even_s (plan, result));
  g_auto (GStrv) verdict = rep_plan_verdict (plan, result);
  rep_json_texts (json, "verdict", (const char *const *)verdict);
  rep_plan_rivals_json (plan, result, json);
  rep_plan_flips_json (plan, result, json);
  build_rejected (result, "fell_out", json);
  build_rejected (result, "rejected", json);
  rep_json_table (json, "choices", rep_plan_table (plan, result, most));
}

char *
rep_plan_infeasible (const PlnResult *result)
{
  int most = -1; /* a constraint; else, where none came so far, what does not divide */
  if (result->rows->len > 0)
    return NULL;
  for (int o = 0; o < PLN_REJECTED_N; o++)
    if (result->out[o] > 0 &&
        (most < 0 || (o >= PLN_REJECTED_PRICE && most < PLN_REJECTED_PRICE) || result->out[o] > result->out[most]))
      most = o;
  if (most < 0)
    return g_strdup ("the plan lists no configuration");
  g_autofree char *count = count_text (result->out[most]), *of = count_text (result->n_asked);
  GString *text = g_string_new (NULL);
  g_string_printf (text, "no configuration %s: %s of %s %s", most >= PLN_REJECTED_PRICE ? "meets the constraints" : "divides",
                   count, of, pln_out_texts[most]);
  double over = 100 * result->over[most];
  if (most >= PLN_REJECTED_MEMORY)
    g_string_append_printf (text, over >= 1000 ? "; the nearest by a factor of %.3g" : "; the nearest by %.3g %%",
                            over >= 1000 ? 1 + over / 100 : over);
  else if (most == PLN_REJECTED_PRICE)
    g_string_append (text, "; the list of prices lacks them, or a part of what they cost");
  else if (most == PLN_REJECTED_LAYERS)
    g_string_append (text, "; 'fixed: {pipeline: {uneven: true}}' lets the stages of a pipeline differ by one layer");
  else
    g_string_append (text, "; change the global batch, the layers or the number of GPUs");
  return g_string_free (text, FALSE);
}
