/* A plan's answer in sentences: the recommended option, why the others lose, the smallest that is enough, rent or buy. */
#include <math.h>
#include <string.h>

#include "verdict-private.h"

/* "45.6 days (35.7 to 58.7)"; of a single step "16.5 s per step (12.9 to 21.3)". The band is the step's. Returned: full. */
static char *
duration (const RepVerdict *v, const PlnChoiceRow *row)
{
  gboolean run = pln_tokens (v->plan) > 0;
  double unit_s = run ? REP_DAY_S : 1, scale = row->run_s / row->step_time_s / unit_s;
  return g_strdup_printf ("%.3g %s (%.3g to %.3g)", row->run_s / unit_s, run ? "days" : "s per step", row->step_time_lo_s * scale,
                          row->step_time_hi_s * scale);
}

void
rep_verdict_add (RepVerdict *v, GString *sentence)
{
  g_string_append_c (sentence, '.');
  g_ptr_array_add (v->out, g_string_free (sentence, FALSE));
}

/* ---- the recommended option ---- */

char *
rep_verdict_product (const char *topology)
{
  static const char *const families[] = { "hgx_", "dgx_", "gb200_", "gb300_", "mi2", "mi3" };
  for (guint i = 0; i < G_N_ELEMENTS (families); i++)
    if (g_str_has_prefix (topology, families[i])) {
      g_autofree char *upper = g_ascii_strup (topology, -1);
      return g_strdup (g_strdelimit (upper, "_", ' '));
    }
  return g_strdup (topology);
}

char *
rep_verdict_network (const char *kind)
{
  g_autofree char *word = g_strdup (kind);
  return strcmp (kind, "none") == 0 ? g_strdup ("no network") : g_strdup_printf ("%s network", g_strdelimit (word, "_", '-'));
}

/* "128 trays of GB200 NVL72 (8 racks; 16 of 18 trays and 64 of 72 GPUs used of each)". */
static void
append_racks (const PlnMachine *m, const char *node, GString *text)
{
  const double racks = ceil ((double)m->nodes / m->used_per_rack);
  g_string_append_printf (text, "%u tray%s of %s (%.0f rack%s", m->nodes, m->nodes == 1 ? "" : "s", node, racks,
                          racks > 1 ? "s" : "");
  if (m->used_per_rack < m->nodes_per_rack)
    g_string_append_printf (text, "; %u of %u trays and %u of %u GPUs used of each", m->used_per_rack, m->nodes_per_rack,
                            m->used_per_rack * m->gpus_per_node, m->nodes_per_rack * m->gpus_per_node);
  else
    g_string_append_printf (text, " of %u", m->nodes_per_rack);
  const guint32 idle = (guint32)racks * m->used_per_rack - m->nodes;
  if (idle > 0)
    g_string_append_printf (text, "; %u tray%s idle", idle, idle > 1 ? "s stay" : " stays");
  g_string_append (text, "), ");
}

void
rep_verdict_append_choice (const RepVerdict *v, const PlnChoiceRow *row, GString *text)
{
  const PlnMachine *m = rep_verdict_machine (v, row->machine);
  g_autofree char *node = rep_verdict_product (m->topology), *layout = rep_plan_layout (&row->query, TRUE);
  if (m->nodes_per_rack > 1)
    append_racks (m, node, text);
  else
    g_string_append_printf (text, "%u x %s, ", m->nodes, node);
  if (m->nic_count != NULL)
    g_string_append_printf (text, "%s%s", m->nic_count,
                            m->nic_rate != NULL               ? " x "
                            : strcmp (m->nic_count, "1") == 0 ? " NIC a node, "
                                                              : " NICs a node, ");
  if (m->nic_rate != NULL)
    g_string_append_printf (text, "%s NICs%s, ", m->nic_rate, m->nic_count != NULL ? " a node" : "");
  g_autofree char *network = m->kind != NULL ? rep_verdict_network (m->kind) : NULL;
  if (network != NULL)
    g_string_append_printf (text, "%s, ", network);
  if (m->oversubscription != NULL)
    g_string_append_printf (text, "%s:1 fabric, ", m->oversubscription);
  if (m->servers != NULL)
    g_string_append_printf (text, "%s storage server%s, ", m->servers, strcmp (m->servers, "1") == 0 ? "" : "s");
  g_string_append (text, layout);
}

/* ", 53 % likely within 46 days": nothing without a deadline. */
static void
append_chance (const RepVerdict *v, const PlnChoiceRow *row, GString *text)
{
  const double limit_s = pln_deadline_s (v->plan, NULL), chance = pln_chance_within (row, limit_s);
  if (!(limit_s > 0))
    return;
  g_string_append_printf (text, ", %s%.*f %% likely within %.4g day%s",
                          chance > 0.999   ? "over "
                          : chance < 0.001 ? "under "
                                           : "",
                          chance > 0.99 || chance < 0.01 ? 1 : 0, 100 * CLAMP (chance, 0.001, 0.999), limit_s / REP_DAY_S,
                          limit_s > REP_DAY_S || limit_s < REP_DAY_S ? "s" : "");
}

static const char *
owned_or_rented (PlnAcquisition way)
{
  return way == PLN_ACQUISITION_BUY ? "owned" : "rented";
}

/* "at least ": of a sum of which a part has no price. */
static const char *
at_least (const RepVerdict *v, const PlnChoiceRow *row, PlnAcquisition way)
{
  return pln_unpriced_part (v->plan, row->machine, way) != NULL ? "at least " : "";
}

/* The option with its time, money and energy. */
static void
append_row (const RepVerdict *v, const PlnChoiceRow *row, GString *text)
{
  double lo = row->step_time_lo_s / row->step_time_s, hi = row->step_time_hi_s / row->step_time_s;
  g_autofree char *time = duration (v, row);
  rep_verdict_append_choice (v, row, text);
  g_string_append_printf (text, ": %s", time);
  append_chance (v, row, text);
  double all_usd = rep_plan_capex_usd (v->plan, rep_verdict_machine (v, row->machine));
  if (!isnan (all_usd) && pln_tokens (v->plan) > 0) {
    g_autofree char *all = rep_money (all_usd);
    g_string_append_printf (text, ", %s%s to buy", at_least (v, row, PLN_ACQUISITION_BUY), all);
  }
  if (row->way != PLN_ACQUISITION_NONE && pln_tokens (v->plan) > 0) {
    g_autofree char *cost = rep_money (row->money.total_usd), *from = rep_money (row->money.total_usd * lo),
                    *to = rep_money (row->money.total_usd * hi);
    g_string_append_printf (text, ", run cost %s%s (%s to %s) %s", at_least (v, row, row->way), cost, from, to,
                            owned_or_rented (row->way));
    PlnAcquisition other = row->way == PLN_ACQUISITION_BUY ? PLN_ACQUISITION_RENT : PLN_ACQUISITION_BUY;
    double other_usd = rep_plan_run_usd (v->plan, row, other);
    g_autofree char *otherwise = rep_money (other_usd);
    if (!isnan (other_usd))
      g_string_append_printf (text, ", %s%s %s", at_least (v, row, other), otherwise, owned_or_rented (other));
    g_autofree char *per_Mtok = rep_money_fine (row->usd_per_token * 1e6, 3);
    if (pln_aim (v->plan) == PLN_AIM_COST_PER_TOKEN)
      g_string_append_printf (text, ", %s per million tokens", per_Mtok);
  }
  if (pln_aim (v->plan) == PLN_AIM_ENERGY && pln_tokens (v->plan) > 0)
    g_string_append_printf (text, ", %.3g MWh", row->money.energy_J / 3.6e9);
}

static void
say_first (RepVerdict *v)
{
  const gboolean front = pln_aim (v->plan) == PLN_AIM_PARETO;
  guint last = 0; /* the Pareto front stands first, by rising time: its last is the cheapest */
  while (front && last + 1 < v->result->rows->len && rep_verdict_row (v, last + 1)->front)
    last++;
  GString *text = g_string_new (!front ? "Recommended: " : last == 0 ? "Fastest and cheapest: " : "Fastest: ");
  append_row (v, rep_verdict_row (v, 0), text);
  rep_verdict_add (v, text);
  if (last == 0)
    return;
  text = g_string_new ("Cheapest: ");
  append_row (v, rep_verdict_row (v, last), text);
  if (last > 1)
    g_string_append_printf (text, "; %u Pareto-optimal options lie between them", last - 1);
  rep_verdict_add (v, text);
}

/* "GPU memory: 61.2 of 178.0 GiB on the fullest rank. Bottleneck besides compute: tensor-parallel communication" */
static void
say_memory (RepVerdict *v)
{
  const TrnClosedStep *step = &rep_verdict_row (v, 0)->step;
  const char *bottleneck = rep_plan_bottleneck (step);
  GString *text = g_string_new (NULL);
  if (step->memory_B > 0)
    g_string_append_printf (text, "GPU memory: %.1f", step->memory_B / 0x1p30);
  if (step->memory_B > 0 && step->capacity_B > 0)
    g_string_append_printf (text, " of %.1f", step->capacity_B / 0x1p30);
  if (step->memory_B > 0)
    g_string_append (text, " GiB on the fullest rank");
  if (step->memory_B > 0 && rep_plan_is_tight (rep_verdict_row (v, 0)))
    g_string_append_printf (text, ", tight: %.1f %% is free", 100 * pln_memory_left (step));
  if (step->memory_B > 0)
    g_string_append (text, ". ");
  g_string_append (text, strcmp (bottleneck, "compute") == 0 ? "Bottleneck: compute" : "Bottleneck besides compute: ");
  if (strcmp (bottleneck, "compute") != 0)
    g_string_append (text, bottleneck);
  rep_verdict_add (v, text);
}

/* "MI300X", "Gaudi3": letters and digits are a model number if the letters are few. Returned: full. */
static char *
gpu_name (const PlnMachine *machine)
{
  const char *name = clu_gpu_spec (scn_cluster (machine->scenario), 0)->name.v;
  gboolean number = strcspn (name, "0123456789") <= 2;
  char *text = number ? g_ascii_strup (name, -1) : g_strdup (name);
  text[0] = g_ascii_toupper (text[0]);
  return text;
}

/* "Not validated on MI300X: its kernels and training steps were never measured, so the odds assume larger errors" */
static void
say_not_validated (RepVerdict *v)
{
  g_autofree char *what = pln_not_validated (v->plan, rep_verdict_row (v, 0)->machine);
  if (what == NULL)
    return;
  GString *text = g_string_new (NULL);
  g_autofree char *gpu = gpu_name (rep_verdict_machine (v, rep_verdict_row (v, 0)->machine));
  g_string_append_printf (text, "Not validated on %s: %s were never measured there; the range and the odds assume larger errors",
                          gpu, what);
  rep_verdict_add (v, text);
}

/* The best row of a topology; NULL: it has none. */
static const PlnChoiceRow *
best_of_topology (const RepVerdict *v, const char *topology)
{
  for (guint i = 0; i < v->result->rows->len; i++)
    if (g_strcmp0 (rep_verdict_machine (v, rep_verdict_row (v, i)->machine)->topology, topology) == 0)
      return rep_verdict_row (v, i);
  return NULL;
}

/* Which money decides, where some option has no price of it; and what the recommended purchase leaves out. */
static void
say_basis (RepVerdict *v)
{
  const gboolean own = pln_basis (v->plan) == PLN_ACQUISITION_BUY, both = pln_acquire (v->plan) == PLN_ACQUIRE_BOTH;
  g_autofree char *unowned = pln_without_price (v->plan, PLN_ACQUISITION_BUY),
                  *unrented = pln_without_price (v->plan, PLN_ACQUISITION_RENT);
  gboolean any = FALSE;
  for (guint i = 0; i < pln_machines (v->plan)->len; i++)
    any = any || rep_verdict_machine (v, i)->capital_usd > 0;
  GString *text = g_string_new (NULL);
  if (pln_basis (v->plan) == PLN_ACQUISITION_RENT && both && unowned != NULL && pln_tokens (v->plan) > 0)
    g_string_append_printf (text, "Costs compare rent, since %s %s no price to buy%s", unowned,
                            strchr (unowned, ',') != NULL ? "have" : "has", any ? "; `acquisition: own` compares purchases" : "");
  if (own && both && unowned != NULL && unrented == NULL && pln_tokens (v->plan) > 0)
    g_string_append_printf (text, "Costs compare purchases, and %s %s no price to buy; `acquisition: rent` compares rent", unowned,
                            strchr (unowned, ',') != NULL ? "have" : "has");
  if (text->len > 0)
    rep_verdict_add (v, text);
  else
    g_string_free (text, TRUE);
}

/* Options whose purchase lacks the price of a part: where it decides they rank behind the others, whatever their known part is.
 * "No price of the network of gaudi3, so it ranks behind the others: 8 nodes cost at least $1.3 M to buy …" */
static void
say_partial (RepVerdict *v)
{
  const PlnAim aim = pln_aim (v->plan);
  const PlnAcquisition way = PLN_ACQUISITION_BUY;
  const gboolean decides =
                     way == pln_basis (v->plan) && (aim == PLN_AIM_COST || aim == PLN_AIM_COST_PER_TOKEN || aim == PLN_AIM_PARETO),
                 only = pln_unpriced_part (v->plan, rep_verdict_row (v, 0)->machine, way) != NULL;
  const char *before = NULL;
  for (guint i = 0; i < pln_machines (v->plan)->len && pln_tokens (v->plan) > 0; i++) {
    const char *part = pln_unpriced_part (v->plan, i, way), *topology = rep_verdict_machine (v, i)->topology;
    const PlnChoiceRow *row = part != NULL && g_strcmp0 (topology, before) != 0 ? best_of_topology (v, topology) : NULL;
    const double run_usd = row != NULL ? rep_plan_run_usd (v->plan, row, way) : (double)NAN;
    if (isnan (run_usd))
      continue;
    before = topology;
    const PlnMachine *its = rep_verdict_machine (v, row->machine);
    g_autofree char *run = rep_money (run_usd), *all = rep_money (its->capital_usd), *remedy = pln_price_remedy (v->plan, i, way);
    GString *text = g_string_new (NULL);
    g_string_append_printf (text,
                            "No price of the %s of %s%s: %u node%s cost%s at least %s to buy, and %s for this run owned. To price "
                            "it, write %s",
                            part, topology,
                            !decides ? ""
                            : only   ? ", so the order rests on what is known"
                                     : ", so it ranks behind the others",
                            its->nodes, its->nodes == 1 ? "" : "s", its->nodes == 1 ? "s" : "", all, run, remedy);
    rep_verdict_add (v, text);
  }
}

/* "mi300x has no storage with a rent: its rent has that of the dearest tier of the list, efs" */
static void
say_storage_like (RepVerdict *v)
{
  const char *before = NULL;
  if (pln_basis (v->plan) != PLN_ACQUISITION_RENT || !(pln_tokens (v->plan) > 0))
    return;
  for (guint i = 0; i < pln_machines (v->plan)->len; i++) {
    const PlnMachine *m = rep_verdict_machine (v, i);
    if (m->storage_like == NULL || !(m->rent_usd_per_s > 0) || g_strcmp0 (m->topology, before) == 0)
      continue;
    before = m->topology;
    GString *text = g_string_new (NULL);
    g_string_append_printf (text, "No price of the storage of %s: its rent has that of the dearest tier of the list, %s",
                            m->topology, m->storage_like);
    rep_verdict_add (v, text);
  }
}

/* The best option whose GPU was measured, where the recommended one's was not. */
static void
say_best_measured (RepVerdict *v)
{
  if (pln_steps_were_measured (v->plan, rep_verdict_row (v, 0)->machine) || pln_aim (v->plan) == PLN_AIM_PARETO)
    return;
  for (guint i = 1; i < v->result->rows->len; i++) {
    const PlnChoiceRow *row = rep_verdict_row (v, i);
    if (pln_steps_were_measured (v->plan, row->machine)) {
      GString *text = g_string_new ("Best option on a GPU with measured steps: ");
      append_row (v, row, text);
      rep_verdict_add (v, text);
      return;
    }
  }
}

/* "It has 1 storage server, where reads of 1.25 GB/s for each node need 2" */
static void
say_storage (RepVerdict *v)
{
  const PlnMachine *m = rep_verdict_machine (v, rep_verdict_row (v, 0)->machine);
  if (m->servers == NULL || g_ascii_strtod (m->servers, NULL) >= m->read_servers)
    return;
  GString *text = g_string_new (NULL);
  g_string_printf (text,
                   "It has %s storage server%s, where reads of 1.25 GB/s for each node need %.0f; write the `loader` in `fixed` to "
                   "see if the step waits for data",
                   m->servers, strcmp (m->servers, "1") == 0 ? "" : "s", m->read_servers);
  rep_verdict_add (v, text);
}

/* "Data from scratch: the step waits 12 % of its time, since storage is too slow; more storage servers would help" */
static void
say_feed (RepVerdict *v)
{
  static const struct {
    const char *by, *what, *change;
  } causes[] = { { "storage", "the tier is", "more `storage.servers`" },
                 { "network", "the way to the tier is", "faster NICs, or a tier on the nodes' drives (tier: nvme)," },
                 { "workers", "the workers are", "more `workers`" },
                 { "cores", "the cores of a node are", "fewer cores a sample (`decode`), or a decoder on the GPU," },
                 { "copy", "copies to the GPU are", "pinned memory (pin: true), or smaller samples (`decoded`)," },
                 { "decoder", "decoding on the GPU is", "decoding by the workers (decoder: cpu)" },
                 { "broadcast", "handing data on to the tensor ranks is", "smaller samples (`decoded`)" },
                 { "main process", "the main process is", "`workers`" } };
  const PlnChoiceRow *row = rep_verdict_row (v, 0);
  const TrnJob *job = scn_training (rep_verdict_machine (v, row->machine)->scenario);
  const double stall_s = row->step.part_s[TRN_PART_DATA_STALL], part = stall_s / row->step_time_s;
  if (!job->spec.loader.head.set)
    return;
  GString *text = g_string_new (NULL);
  g_string_printf (text, "Data from %s: ", job->spec.loader.tier.v);
  const char *by = part > 0.01 ? trn_closed_starved_by (job, &row->query, row->step_time_s - stall_s) : NULL;
  if (part <= 1e-4)
    g_string_append (text, "the step does not wait for them");
  else
    g_string_append_printf (text, "the step waits for them %.2g %% of its time", 100 * part);
  for (guint i = 0; by != NULL && i < G_N_ELEMENTS (causes); i++)
    if (strcmp (by, causes[i].by) == 0)
      g_string_append_printf (text, ", since %s too slow; %s would help", causes[i].what, causes[i].change);
  if (!row->simulated)
    g_string_append (text, ". Estimated, without what reads and the step's communication take from each other where they share a "
                           "network; --best 1 simulates it");
  rep_verdict_add (v, text);
}

/* "Sequence length 8192 is assumed, since llama3_8b was trained with it; `sequence` of `fixed` changes it" */
static void
say_assumed (RepVerdict *v)
{
  const TrnModelSpec *model = &scn_training (rep_verdict_machine (v, rep_verdict_row (v, 0)->machine)->scenario)->spec.model;
  GString *text = g_string_new (NULL);
  g_string_append_printf (text, "Sequence length %.0f is assumed, since %s was trained with it; `sequence` of `fixed` changes it",
                          model->sequence.v, pln_model (v->plan));
  if (model->sequence_assumed)
    rep_verdict_add (v, text);
  else
    g_string_free (text, TRUE);
}

/* ---- how small is enough ---- */

static void
say_smallest (RepVerdict *v)
{
  g_autoptr (GArray) values = rep_axis_values (v, REP_AXIS_NODES);
  const PlnChoiceRow *smallest = NULL;
  for (guint i = 0; i < v->result->rows->len; i++)
    if (smallest == NULL ||
        rep_verdict_machine (v, rep_verdict_row (v, i)->machine)->gpus < rep_verdict_machine (v, smallest->machine)->gpus)
      smallest = rep_verdict_row (v, i);
  if (values->len < 2)
    return;
  guint32 gpus = rep_verdict_machine (v, smallest->machine)->gpus, least = gpus;
  for (guint i = 0; i < pln_machines (v->plan)->len; i++)
    least = MIN (least, rep_verdict_machine (v, i)->gpus);
  gboolean first = gpus == rep_verdict_machine (v, rep_verdict_row (v, 0)->machine)->gpus;
  if (first && least == gpus)
    return;
  GString *text = g_string_new (NULL);
  if (first)
    g_string_append_printf (text, "It is the smallest option that meets the goal (%u GPUs)", gpus);
  else {
    g_string_append_printf (text, "Smallest option that meets the goal (%u GPUs): ", gpus);
    append_row (v, smallest, text);
  }
  rep_verdict_add (v, text);
}

/* ---- rent or buy ---- */

double
rep_plan_break_even_s (const Pln *plan, const PlnResult *result)
{
  if (result->rows->len == 0 || pln_prices (plan) == NULL)
    return (double)NAN;
  const PlnChoiceRow *row = &g_array_index (result->rows, PlnChoiceRow, 0);
  const PlnMachine *machine = &g_array_index (pln_machines (plan), PlnMachine, row->machine);
  MdlMoney own, rent;
  if (pln_unpriced_part (plan, row->machine, PLN_ACQUISITION_BUY) != NULL)
    return (double)NAN;
  if (!pln_money (plan, row, PLN_ACQUISITION_BUY, &own) || !pln_money (plan, row, PLN_ACQUISITION_RENT, &rent))
    return (double)NAN;
  return mdl_money_break_even_s (machine->capital_usd, machine->rent_usd_per_s,
                                 (own.total_usd - own.capital_usd - own.interest_usd) / row->run_s);
}

/* Bought and rented beside each other for the first row, and the cheapest the other way. */
static void
say_rent_or_buy (RepVerdict *v)
{
  const PlnPricesSpec *prices = pln_prices (v->plan);
  double even_s = rep_plan_break_even_s (v->plan, v->result);
  if (isnan (even_s) || !(pln_tokens (v->plan) > 0))
    return;
  const PlnChoiceRow *row = rep_verdict_row (v, 0);
  const PlnMachine *machine = rep_verdict_machine (v, row->machine);
  g_autofree char *all = rep_money (machine->capital_usd), *own = rep_money (rep_plan_run_usd (v->plan, row, PLN_ACQUISITION_BUY)),
                  *rent = rep_money (rep_plan_run_usd (v->plan, row, PLN_ACQUISITION_RENT));
  GString *text = g_string_new (NULL);
  g_string_append_printf (text, "Rent or buy: this run costs %s rented, or %s owned after %s of cash", rent, own, all);
  double used_s = prices->amortisation.set ? prices->amortisation.v * prices->utilisation.v : (double)INFINITY;
  if (isinf (even_s) || even_s > used_s)
    g_string_append (text, "; renting is cheaper for any length of use");
  else
    g_string_append_printf (text, "; the cash is saved after %.3g days of use, and this run takes %.3g", even_s / REP_DAY_S,
                            row->run_s / REP_DAY_S);
  rep_verdict_add (v, text);
  if (!prices->amortisation.set || !(even_s > row->run_s))
    return;
  text = g_string_new (NULL);
  g_string_append_printf (text, "The cost owned assumes that runs use %.3g %% of %.4g days, and that other work fills the rest",
                          100 * prices->utilisation.v, prices->amortisation.v / REP_DAY_S);
  rep_verdict_add (v, text);
}

/* The cheapest the way that is not ranked, if it is another option. */
static void
say_other_way (RepVerdict *v)
{
  const PlnAcquisition basis = pln_basis (v->plan),
                       other = basis == PLN_ACQUISITION_BUY ? PLN_ACQUISITION_RENT : PLN_ACQUISITION_BUY;
  const PlnAim aim = pln_aim (v->plan);
  const PlnChoiceRow *best = NULL;
  double least_usd = (double)INFINITY;
  for (guint i = 0; basis != PLN_ACQUISITION_NONE && i < v->result->rows->len; i++) {
    double usd = rep_plan_run_usd (v->plan, rep_verdict_row (v, i), other);
    if (usd < least_usd * (1 - 1e-9) && pln_unpriced_part (v->plan, rep_verdict_row (v, i)->machine, other) == NULL) {
      least_usd = usd;
      best = rep_verdict_row (v, i);
    }
  }
  const double first_usd = rep_plan_run_usd (v->plan, rep_verdict_row (v, 0), other);
  if (best == NULL || best->machine == rep_verdict_row (v, 0)->machine || first_usd < least_usd * (1 + 5e-3) ||
      (aim != PLN_AIM_COST && aim != PLN_AIM_COST_PER_TOKEN))
    return;
  GString *text =
      g_string_new (other == PLN_ACQUISITION_RENT ? "If all is rented, the cheapest is " : "If all is bought, the cheapest is ");
  g_autofree char *usd = rep_money (least_usd);
  rep_verdict_append_choice (v, best, text);
  g_string_append_printf (text, ": %s for this run, %.3g days", usd, best->run_s / REP_DAY_S);
  rep_verdict_add (v, text);
}

char **
rep_plan_verdict (const Pln *plan, const PlnResult *result)
{
  g_autofree gboolean *told = g_new0 (gboolean, result->rows->len + 1);
  RepVerdict v = { plan, result, g_ptr_array_new (), told };
  if (result->rows->len > 0) {
    say_first (&v);
    say_memory (&v);
    say_not_validated (&v);
    say_basis (&v);
    say_partial (&v);
    say_storage_like (&v);
    say_best_measured (&v);
    say_assumed (&v);
    say_storage (&v);
    say_feed (&v);
    for (int axis = 0; axis < REP_AXIS_N; axis++)
      rep_say_axis (&v, (RepAxis)axis);
    say_smallest (&v);
    rep_say_excluded (&v);
    say_rent_or_buy (&v);
    say_other_way (&v);
  } else
    rep_say_nearest (&v);
  g_ptr_array_add (v.out, NULL);
  return (char **)g_ptr_array_free (v.out, FALSE);
}
