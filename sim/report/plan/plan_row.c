/* A row of a plan: a cluster option and a parallel layout, its time and its cost. */
#include <math.h>
#include <string.h>

#include "json-private.h"
#include "plan-private.h"

#define DAY_S 86400.0

/* "400 Gb/s, 2:1"; NULL where the machine is as its topology has it. Returned: full. */
static char *
variant_of (const PlnMachine *machine)
{
  GString *text = g_string_new (NULL);
  if (machine->servers != NULL) /* first, as a narrow column cuts off the end */
    g_string_append_printf (text, "%s server%s%s", machine->servers, strcmp (machine->servers, "1") == 0 ? "" : "s",
                            machine->domain != NULL || machine->nic_count != NULL || machine->nic_rate != NULL ? ", " : "");
  if (machine->domain != NULL)
    g_string_append_printf (text, "%s of %u%s", machine->domain, machine->nodes_per_rack,
                            machine->nic_count != NULL || machine->nic_rate != NULL ? ", " : "");
  if (machine->nic_count != NULL)
    g_string_append_printf (text, "%s%s", machine->nic_count,
                            machine->nic_rate != NULL               ? " x "
                            : strcmp (machine->nic_count, "1") == 0 ? " NIC"
                                                                    : " NICs");
  if (machine->nic_rate != NULL)
    g_string_append (text, machine->nic_rate);
  if (machine->kind != NULL)
    g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "", machine->kind);
  if (machine->oversubscription != NULL)
    g_string_append_printf (text, "%s%s:1", text->len > 0 ? ", " : "", machine->oversubscription);
  return g_string_free (text, text->len == 0);
}

char *
rep_plan_machine (const Pln *plan, guint machine)
{
  const PlnMachine *m = &g_array_index (pln_machines (plan), PlnMachine, machine);
  g_autofree char *variant = variant_of (m);
  char *text = g_strdup_printf ("%u %s %s%s%s%s", m->nodes, m->nodes_per_rack > 1 ? "trays" : "x", m->topology,
                                variant != NULL ? " (" : "", variant != NULL ? variant : "", variant != NULL ? ")" : "");
  return g_strdelimit (text, "\t\r\n", ' ');
}

double
rep_plan_bought_usd (const PlnMachine *machine, const PlnChoiceRow *row, PlnBuy part)
{
  if (row->way != PLN_ACQUISITION_BUY)
    return (double)NAN;
  return row->money.capital_usd * machine->buy_usd[part] / machine->capital_usd;
}

double
rep_plan_capex_usd (const Pln *plan, const PlnMachine *machine)
{
  return machine->capital_usd > 0 && pln_acquire (plan) != PLN_ACQUIRE_RENT ? machine->capital_usd : (double)NAN;
}

double
rep_plan_run_usd (const Pln *plan, const PlnChoiceRow *row, PlnAcquisition way)
{
  MdlMoney money;
  return pln_tokens (plan) > 0 && pln_money (plan, row, way, &money) ? money.total_usd : (double)NAN;
}

char *
rep_plan_layout (const TrnClosedQuery *query, gboolean prose)
{
  const struct {
    const char *name;
    guint32 n;
    gboolean always;
  } parts[] = { { "TP", query->tp, TRUE },
                { "CP", query->cp, FALSE },
                { "PP", query->pp, TRUE },
                { "VP", prose ? 1 : query->vp, FALSE },
                /* not a factor of the GPUs */ { "DP", query->dp, TRUE } };
  GString *text = g_string_new (NULL);
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    if (parts[i].always || parts[i].n > 1)
      g_string_append_printf (text, "%s%s%u", text->len == 0 ? "" : prose ? " x " : " ", parts[i].name, parts[i].n);
  if (query->ep > 1)
    g_string_append_printf (text, "%s EP%u", prose ? "," : "", query->ep); /* not a factor either */
  return g_string_free (text, FALSE);
}

gboolean
rep_plan_is_tight (const PlnChoiceRow *row)
{
  return pln_memory_left (&row->step) < PLN_TIGHT;
}

char *
rep_plan_choice (const Pln *plan, const PlnChoiceRow *row)
{
  const TrnClosedQuery *query = &row->query;
  g_autofree char *machine = rep_plan_machine (plan, row->machine), *layout = rep_plan_layout (query, FALSE);
  GString *text = g_string_new (NULL);
  g_string_append_printf (text, "%s, %s, ZeRO-%u, micro-batch %u", machine, layout, query->zero, query->micro_batch);
  if (query->pp > 1)
    g_string_append_printf (text, ", %s", base_name (mdl_schedule_names, (int)query->schedule));
  if (query->recompute != 0)
    g_string_append_printf (text, ", recompute %s", base_name (trn_recompute_names, (int)query->recompute));
  return g_string_free (text, FALSE);
}

/* The largest part of a step that is not compute, if it is over 1 %; else TRN_PART_COMPUTE. */
static TrnPart
bottleneck_of (const TrnClosedStep *step)
{
  TrnPart most = TRN_PART_EXPOSED_TP;
  for (int p = 0; p < TRN_PART_N; p++)
    if (p != TRN_PART_COMPUTE && step->part_s[p] > step->part_s[most])
      most = (TrnPart)p;
  return step->part_s[most] > 0.01 * step->step_time_s ? most : TRN_PART_COMPUTE;
}

static const char *
bound_by (const TrnClosedStep *step)
{
  const TrnPart part = bottleneck_of (step);
  return part != TRN_PART_COMPUTE ? trn_part_names[part] : NULL;
}

const char *
rep_plan_bottleneck (const TrnClosedStep *step)
{
  static const char *const texts[TRN_PART_N] = {
    [TRN_PART_COMPUTE] = "compute",
    [TRN_PART_EXPOSED_TP] = "tensor-parallel communication",
    [TRN_PART_EXPOSED_DP] = "data-parallel communication",
    [TRN_PART_EXPOSED_PP] = "pipeline-parallel communication",
    [TRN_PART_EXPOSED_CP] = "context-parallel communication",
    [TRN_PART_EXPOSED_EP] = "expert-parallel communication",
    [TRN_PART_BUBBLE] = "pipeline bubble",
    [TRN_PART_LAUNCH_GAP] = "kernel launches",
    [TRN_PART_COPY_WAIT] = "copies to the host",
    [TRN_PART_STRAGGLER_WAIT] = "slow GPUs",
    [TRN_PART_OPTIMIZER] = "optimizer",
    [TRN_PART_DATA_STALL] = "data loading",
    [TRN_PART_CHECKPOINT] = "checkpoints",
    [TRN_PART_COMMUNICATORS] = "creating communicators",
  };
  return texts[bottleneck_of (step)];
}

/* ---- its members ---- */

/* A row with what its values depend on. */
typedef struct {
  const PlnMachine *machine;
  const PlnChoiceRow *row;
  guint rank;
  char *variant;          /* owned */
  char *cluster, *layout; /* owned */
  gboolean run, priced;   /* the goal has tokens; and the row a price */
  double bought_usd[PLN_BUY_N], capex_usd[PLN_BUY_N];
  double own_usd, rent_usd; /* of the run, either way; NAN: no price, or not asked for */
  double all_usd;           /* to buy */
  char *rival;              /* owned; of the first row: what comes next */
  double margin, rival_more, rival_odds;
  double chance;        /* to meet the deadline; NAN: none */
  const char *unpriced; /* what of its sums has no price, which are its known part; NULL: nothing */
} Line;

BASE_MEMBER_WHEN (has_run, Line, it->run)
BASE_MEMBER_WHEN (is_priced, Line, it->priced)
BASE_MEMBER_WHEN (is_owned, Line, it->priced && it->row->way == PLN_ACQUISITION_BUY)
BASE_MEMBER_WHEN (is_rented, Line, it->priced && it->row->way == PLN_ACQUISITION_RENT)
BASE_MEMBER_WHEN (has_deadline, Line, !isnan (it->chance))
BASE_MEMBER_WHEN (has_capex, Line, it->all_usd > 0)
BASE_MEMBER_WHEN (fails, Line, it->machine->fails)
BASE_MEMBER_TEXT_OF (by, Line, it->row->simulated ? "engine" : "formula")
BASE_MEMBER_TEXT_OF (pareto, Line, it->priced ? (it->row->front ? "yes" : "no") : NULL)
BASE_MEMBER_TEXT_OF (bound, Line, bound_by (&it->row->step))
BASE_MEMBER_TEXT_OF (method, Line, it->row->simulated ? "simulated" : "estimated")
BASE_MEMBER_TEXT_OF (bottleneck_text, Line, rep_plan_bottleneck (&it->row->step))
BASE_MEMBER_TEXT_OF (acquisition, Line, it->priced ? (it->row->way == PLN_ACQUISITION_BUY ? "buy" : "rent") : NULL)
BASE_MEMBER_TEXT_OF (tight, Line, isnan (pln_memory_left (&it->row->step)) ? NULL : rep_plan_is_tight (it->row) ? "yes" : "no")
BASE_MEMBER_TEXT_OF (unpriced, Line, it->unpriced)
BASE_MEMBER_NUMBER_OF (days, Line, it->row->run_s / DAY_S)
BASE_MEMBER_NUMBER_OF (memory_free, Line, pln_memory_left (&it->row->step))

#define LINE(...)         BASE_MEMBER (Line, __VA_ARGS__)
#define MACHINE(...)      BASE_MEMBER_THROUGH (Line, machine, PlnMachine, __VA_ARGS__)
#define ROW(...)          BASE_MEMBER_THROUGH (Line, row, PlnChoiceRow, __VA_ARGS__)
#define BOUGHT(key, part) LINE (key "_usd", bought_usd[PLN_BUY_##part], .when = is_owned)
#define CAPEX(key, part)  LINE ("capex_" key "_usd", capex_usd[PLN_BUY_##part], .when = has_capex)
static const BaseMember members[] = {
  LINE ("rank", rank, .title = "#"),
  MACHINE ("topology", topology, .title = "topology", .rank = 5),
  MACHINE ("nic_rate", nic_rate),
  MACHINE ("oversubscription", oversubscription),
  LINE ("variant", variant, .title = "variant", .rank = 5),
  MACHINE ("nodes", nodes, .title = "nodes", .rank = 5),
  MACHINE ("gpus", gpus, .title = "GPUs", .rank = 4),
  ROW ("tp", query.tp, .title = "TP", .rank = 6),
  ROW ("pp", query.pp, .title = "PP", .rank = 6),
  ROW ("vp", query.vp, .title = "VP", .rank = 6),
  ROW ("cp", query.cp, .title = "CP", .rank = 6),
  ROW ("ep", query.ep, .title = "EP", .rank = 6),
  ROW ("dp", query.dp, .title = "DP", .rank = 6),
  ROW ("zero", query.zero, .title = "ZeRO", .rank = 5),
  ROW ("micro_batch", query.micro_batch, .title = "micro-batch", .rank = 5),
  ROW ("schedule", query.schedule, .title = "schedule", .rank = 5, .names = mdl_schedule_names),
  ROW ("recompute", query.recompute, .title = "recompute", .rank = 5, .names = trn_recompute_names),
  ROW ("step_time_s", step_time_s, .title = "step", .rank = 2),
  ROW ("step_time_lo_s", step_time_lo_s),
  ROW ("step_time_hi_s", step_time_hi_s),
  { .key = "by", .text = by },
  ROW ("mfu", step.mfu, BASE_SHOWN ("MFU (%)", 100, "%.1f"), .rank = 3),
  ROW ("memory_B", step.memory_B, .title = "memory", .rank = 3),
  ROW ("goodput", goodput, BASE_SHOWN ("goodput (%)", 100, "%.2f"), .rank = 1, .when = fails),
  ROW ("checkpoint_every_steps", every_steps),
  ROW ("time_s", run_s, BASE_SHOWN ("days", 1 / DAY_S, "%.1f"), .when = has_run),
  ROW ("way", way, .names = pln_acquisition_names, .when = is_priced),
  ROW ("capital_usd", money.capital_usd, .title = "loss of value", .rank = 5, .when = is_owned),
  ROW ("rent_usd", money.rent_usd, .title = "rent", .rank = 4, .when = is_rented),
  ROW ("power_W", power_W, .title = "power", .rank = 4),
  ROW ("energy_J", money.energy_J, .title = "energy", .rank = 5, .when = has_run),
  ROW ("energy_usd", money.energy_usd, .when = is_priced),
  BOUGHT ("nodes", NODES),
  BOUGHT ("network", NETWORK),
  BOUGHT ("adapters", NICS),
  BOUGHT ("switches", SWITCHES),
  BOUGHT ("optics", OPTICS),
  BOUGHT ("cables", CABLES),
  BOUGHT ("storage", STORAGE),
  ROW ("total_usd", money.total_usd, .when = is_priced),
  ROW ("usd_per_token", usd_per_token, BASE_SHOWN ("$/M tokens", 1e6, "%.3f"), .rank = 3, .when = is_priced),
  { .key = "pareto", .text = pareto, .title = "Pareto", .rank = 4 },
  { .key = "bound_by", .text = bound },
  ROW ("checkpoint_stall_s", checkpoint.stall_s, .when = fails),
  ROW ("checkpoint_drain_s", checkpoint.drain_s, .when = fails),
  ROW ("checkpoint_restore_s", checkpoint.restore_s, .when = fails),
  { .key = "days", .number = days, .when = has_run },
  /* for --vary: of the first row, the next option */
  LINE ("margin", margin),
  LINE ("rival", rival),
  LINE ("rival_more", rival_more),
  LINE ("rival_odds", rival_odds),
  /* plain names, beside the older ones; and what text shows */
  BOUGHT ("nics", NICS),
  LINE ("alternative", rival),
  LINE ("alternative_more", rival_more),
  LINE ("alternative_probability", rival_odds),
  LINE ("cluster", cluster, .title = "cluster option"),
  LINE ("layout", layout, .title = "layout"),
  { .key = "method", .text = method, .title = "method", .rank = 4 },
  { .key = "acquisition", .text = acquisition, .title = "acquisition", .rank = 4 },
  { .key = "bottleneck", .text = bottleneck_text, .title = "bottleneck", .rank = 3 },
  LINE ("deadline_probability", chance, BASE_SHOWN ("in time (%)", 100, "%.1f"), .rank = 3, .when = has_deadline),
  LINE ("capex_usd", all_usd, .title = "to buy"),
  LINE ("run_cost_own_usd", own_usd, .title = "run, own"),
  LINE ("run_cost_rent_usd", rent_usd, .title = "run, rent"),
  ROW ("run_cost_usd", money.total_usd, .when = is_priced),
  ROW ("depreciation_usd", money.capital_usd, .when = is_owned),
  ROW ("interest_usd", money.interest_usd, .when = is_owned),
  ROW ("support_usd", money.support_usd, .when = is_owned),
  ROW ("colocation_usd", money.colocation_usd, .when = is_owned),
  ROW ("staff_usd", money.staff_usd, .when = is_owned),
  CAPEX ("nodes", NODES),
  CAPEX ("network", NETWORK),
  CAPEX ("nics", NICS),
  CAPEX ("switches", SWITCHES),
  CAPEX ("optics", OPTICS),
  CAPEX ("cables", CABLES),
  CAPEX ("storage", STORAGE),
  CAPEX ("racks", RACKS),
  CAPEX ("spares", SPARES),
  CAPEX ("delivery", DELIVERY),
  MACHINE ("nvlink_domain_nodes", domain),
  MACHINE ("nic_count", nic_count),
  MACHINE ("fabric_kind", kind),
  MACHINE ("storage_servers", servers),
  { .key = "memory_free", .number = memory_free, BASE_SHOWN ("memory free (%)", 100, "%.1f"), .rank = 3 },
  { .key = "tight", .text = tight },
  { .key = "unpriced", .text = unpriced, .title = "no price of" },
  BASE_MEMBER_END,
};

/* Whether a run of the first rows takes less than ten days, of which one decimal says too little, and none a thousand. */
static gboolean
has_short_run (const PlnResult *result, guint most)
{
  double least_s = HUGE_VAL, most_s = 0;
  for (guint i = 0; i < MIN (result->rows->len, most); i++) {
    least_s = fmin (least_s, g_array_index (result->rows, PlnChoiceRow, i).run_s);
    most_s = fmax (most_s, g_array_index (result->rows, PlnChoiceRow, i).run_s);
  }
  return least_s < 10 * DAY_S && most_s < 999 * DAY_S;
}

/* The members in the order of text: what was added behind stands where a reader looks for it. `fine`: days by three digits. */
static const BaseMember *
text_members (gboolean fine)
{
  static BaseMember ordered[G_N_ELEMENTS (members)];
  static const struct {
    const char *key, *before;
  } moved[] = { { "cluster", "topology" },
                { "layout", "tp" },
                { "method", "mfu" },
                { "memory_free", "goodput" },
                { "acquisition", "capital_usd" },
                { "unpriced", "usd_per_token" },
                { "capex_usd", "usd_per_token" },
                { "run_cost_own_usd", "usd_per_token" },
                { "run_cost_rent_usd", "usd_per_token" } };
  guint n = 0;
  for (guint i = 0; i + 1 < G_N_ELEMENTS (members); i++) {
    gboolean stays = TRUE;
    for (guint m = 0; m < G_N_ELEMENTS (moved); m++) {
      stays = stays && strcmp (members[i].key, moved[m].key) != 0;
      for (guint k = 0; strcmp (members[i].key, moved[m].before) == 0 && k + 1 < G_N_ELEMENTS (members); k++)
        if (strcmp (members[k].key, moved[m].key) == 0)
          ordered[n++] = members[k];
    }
    if (stays)
      ordered[n++] = members[i];
    if (stays && fine && strcmp (members[i].key, "time_s") == 0)
      ordered[n - 1].format = "%.3g";
  }
  return ordered;
}

double
rep_plan_margin (const Pln *plan, const PlnResult *result)
{
  const PlnAim aim = pln_aim (plan);
  const gboolean money = aim == PLN_AIM_COST || aim == PLN_AIM_COST_PER_TOKEN;
  if (result->rows->len < 2 || aim == PLN_AIM_PARETO)
    return (double)NAN;
  for (guint i = 0; i < 2 && money; i++)
    if (pln_is_partial (plan, &g_array_index (result->rows, PlnChoiceRow, i))) /* no sums that could be compared */
      return (double)NAN;
  const PlnChoiceRow *first = &g_array_index (result->rows, PlnChoiceRow, 0), *second = first + 1;
  return second->simulated == first->simulated ? pln_least (plan, second) / pln_least (plan, first) - 1
                                               : second->formula / first->formula - 1;
}

/* What comes behind the first: the runner-up, and the best of another machine. */
static void
take_next (const Pln *plan, const PlnResult *result, Line *line)
{
  line->margin = rep_plan_margin (plan, result);
  if (result->rivals->len == 0)
    return;
  const PlnAlternative *rival = &g_array_index (result->rivals, PlnAlternative, 0);
  line->rival = rep_plan_machine (plan, g_array_index (result->rows, PlnChoiceRow, rival->row).machine);
  line->rival_more = rival->more;
  line->rival_odds = rival->odds;
}

/* A long name loses its commas, so that a table of 100 columns does not cut off its end, by which options differ. */
static void
shorten (char *name)
{
  char *to = name;
  if (strlen (name) < 29)
    return;
  for (const char *from = name; *from != '\0'; from++)
    if (*from != ',')
      *to++ = *from;
  *to = '\0';
}

/* "network": of the purchase, where the plan shows it. */
static const char *
unpriced_of (const Pln *plan, guint machine)
{
  return pln_acquire (plan) != PLN_ACQUIRE_RENT ? pln_unpriced_part (plan, machine, PLN_ACQUISITION_BUY) : NULL;
}

static BaseTable *
table_of (const Pln *plan, const PlnResult *result, guint most, const BaseMember *shown)
{
  BaseTable *table = base_members_table (shown, NULL);
  g_autofree gboolean *seen = g_new0 (gboolean, pln_machines (plan)->len);
  const double none = (double)NAN;
  for (guint i = 0; i < result->rows->len && base_table_n_rows (table) < most; i++) {
    const PlnChoiceRow *row = &g_array_index (result->rows, PlnChoiceRow, i);
    const PlnMachine *machine = &g_array_index (pln_machines (plan), PlnMachine, row->machine);
    const gboolean run = pln_tokens (plan) > 0;
    if (result->per_machine && seen[row->machine])
      continue;
    seen[row->machine] = TRUE;
    Line line = { .machine = machine,
                  .row = row,
                  .rank = i + 1,
                  .variant = variant_of (machine),
                  .cluster = rep_plan_machine (plan, row->machine),
                  .layout = rep_plan_layout (&row->query, FALSE),
                  .run = run,
                  .priced = run && row->way != PLN_ACQUISITION_NONE,
                  .chance = pln_deadline_s (plan, NULL) > 0 ? pln_chance_within (row, pln_deadline_s (plan, NULL)) : none,
                  .margin = none,
                  .rival_more = none,
                  .own_usd = rep_plan_run_usd (plan, row, PLN_ACQUISITION_BUY),
                  .rent_usd = rep_plan_run_usd (plan, row, PLN_ACQUISITION_RENT),
                  .all_usd = rep_plan_capex_usd (plan, machine),
                  .unpriced = run ? unpriced_of (plan, row->machine) : NULL,
                  .rival_odds = none };
    for (int b = 0; b < PLN_BUY_N; b++) {
      line.bought_usd[b] = rep_plan_bought_usd (machine, row, (PlnBuy)b);
      line.capex_usd[b] = machine->buy_usd[b];
    }
    if (i == 0)
      take_next (plan, result, &line);
    if (shown != members)
      shorten (line.cluster);
    if (shown != members && rep_plan_is_tight (row)) {
      g_autofree char *layout = line.layout;
      line.layout = g_strconcat (layout, ", tight", NULL);
    }
    base_members_add (table, shown, &line);
    g_free (line.variant);
    g_free (line.cluster);
    g_free (line.layout);
    g_free (line.rival);
  }
  return table;
}

BaseTable *
rep_plan_table (const Pln *plan, const PlnResult *result, guint most)
{
  return table_of (plan, result, most, members);
}

BaseTable *
rep_plan_shown (const Pln *plan, const PlnResult *result, guint most)
{
  return table_of (plan, result, most, text_members (has_short_run (result, most)));
}
