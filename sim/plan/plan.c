/* A plan's file: what is looked for, what may be chosen, what it costs. */
#include "plan/plan.h"

#include <math.h>
#include <string.h>

#include "plan-private.h"
#include "training/llm.h"

#define MAX_MACHINES 1000u

const BaseName pln_aim_names[] = {
  { "time", PLN_AIM_TIME, "shortest time" },
  { "cost", PLN_AIM_COST, "lowest cost" },
  { "energy", PLN_AIM_ENERGY, "least energy" },
  { "cost_per_token", PLN_AIM_COST_PER_TOKEN, "lowest cost per token" },
  { "gpus", PLN_AIM_GPUS, "fewest GPUs, then the shortest time" },
  { "pareto", PLN_AIM_PARETO, "the Pareto front of time and cost" },
  { NULL, 0, NULL },
};
const BaseName pln_acquisition_names[] = {
  { "unpriced", PLN_ACQUISITION_NONE, "no price is known" },
  { "own", PLN_ACQUISITION_BUY, "bought" },
  { "rent", PLN_ACQUISITION_RENT, "rented" },
  { NULL, 0, NULL },
};

static const BaseName acquire_names[] = {
  { "own", PLN_ACQUIRE_OWN, "bought" },
  { "rent", PLN_ACQUIRE_RENT, "rented" },
  { "both", PLN_ACQUIRE_BOTH, "both are shown; ranked is what has more prices, bought if equal" },
  { NULL, 0, NULL },
};

static const BaseField memory_fields[] = {
  BASE_ROW_NUM (PlnMemoryGoalSpec, "headroom", headroom, RATIO, .max = "90 %", .fallback = "5 %",
                .help = "part of a GPU's memory that a layout must leave free"),
  BASE_ROW_END,
};
static const BaseSchema memory_schema = {
  .name = "goal memory",
  .help = "What layouts leave of a GPU's memory, on the fullest rank. A bare value sets `headroom`.",
  .fields = memory_fields,
  .scalar_key = "headroom",
};

static const BaseField goal_fields[] = {
  BASE_ROW (PlnGoalSpec, "model", model, STR, .required = TRUE, .help = "a name in scenarios/llms, or a path"),
  BASE_ROW_NUM (PlnGoalSpec, "tokens", tokens, COUNT, .min = "1", .max = "1000 T", .help = "tokens to train on; default: one step"),
  BASE_ROW (PlnGoalSpec, "deadline", deadline, MAP, .sub = &pln_schema_deadline, .help = "maximum run time"),
  BASE_ROW (PlnGoalSpec, "memory", memory, MAP, .sub = &memory_schema,
            .help = "what layouts must leave free; default: {headroom: 5 %}"),
  BASE_ROW_NUM (PlnGoalSpec, "capex", capex, MONEY, .min = "$0.01",
                .help = "maximum cash to buy; in dollars, or the currency of `prices`"),
  BASE_ROW_NUM (PlnGoalSpec, "run_cost", run_cost, MONEY, .min = "$0.01",
                .help = "maximum cost of this run, as it is ranked; likewise"),
  BASE_ROW_END,
};
static const BaseSchema goal_schema = { .name = "goal", .help = "The work and its limits.", .fields = goal_fields };

static const BaseField choices_fields[] = {
  BASE_ROW (PlnChoicesSpec, "topology", topology, STRS, .required = TRUE, .help = "names or paths of topologies"),
  BASE_ROW (PlnChoicesSpec, "nodes", nodes, NUMS, .dim = BASE_DIM_COUNT, .required = TRUE, .min = "1", .max = "100000",
            .help = "numbers of nodes"),
  BASE_ROW (PlnChoicesSpec, "nvlink_domain.nodes", domain, STRS,
            .help =
                "nodes used of each NVLink domain, whose price is paid whole: 16 of an NVL72's 18 are 64 of 72 GPUs; default: all"),
  BASE_ROW (PlnChoicesSpec, "nics.count", nic_count, STRS, .help = "NICs of a node; default: the topology's"),
  BASE_ROW (PlnChoicesSpec, "nics.rate", nic_rate, STRS, .help = "NIC rates; default: the topology's"),
  BASE_ROW (PlnChoicesSpec, "fabric.kind", kind, STRS,
            .help = "kinds of network (rail_optimised, fat_tree …); default: the topology's"),
  BASE_ROW (PlnChoicesSpec, "fabric.oversubscription", oversubscription, STRS,
            .help = "oversubscription ratios; default: the topology's"),
  BASE_ROW (PlnChoicesSpec, "storage.servers", servers, STRS,
            .help = "servers of the tier of `checkpoint` or of `loader`; default: as the nodes' reads need them"),
  BASE_ROW_END,
};
static const BaseSchema choices_schema = { .name = "choices",
                                           .help = "Cluster options: every combination of the lists.",
                                           .fields = choices_fields };

static const char *const dotted_keys[] = { "nvlink_domain.nodes",     "nics.count",      "nics.rate", "fabric.kind",
                                           "fabric.oversubscription", "storage.servers", NULL };

static const BaseField free_fields[] = {
  BASE_ROW (PlnFreeSpec, "tp", tp, STRS, .help = "tensor parallelism; default `auto`: powers of two within a node"),
  BASE_ROW (PlnFreeSpec, "cp", cp, STRS, .help = "context parallelism; default 1"),
  BASE_ROW (PlnFreeSpec, "pp", pp, STRS, .help = "pipeline parallelism; default `auto`: all that divide the layers, up to 64"),
  BASE_ROW (PlnFreeSpec, "vp", vp, STRS, .help = "virtual stages per rank; default `auto`: all that divide, up to 16"),
  BASE_ROW (PlnFreeSpec, "ep", ep, STRS, .help = "expert parallelism; default `auto`: powers of two up to the number of experts"),
  BASE_ROW (PlnFreeSpec, "zero", zero, STRS, .help = "ZeRO stage, 0 to 3; default 1"),
  BASE_ROW (PlnFreeSpec, "micro_batch", micro_batch, STRS, .help = "sequences; default 1, 2 and 4"),
  BASE_ROW (PlnFreeSpec, "schedule", schedule, STRS, .help = "pipeline schedules; default 1f1b and interleaved"),
  BASE_ROW (PlnFreeSpec, "recompute", recompute, STRS, .help = "none, selective, full; default none and full"),
  BASE_ROW_END,
};
static const BaseSchema free_schema = { .name = "free",
                                        .help = "Parallel layouts: every combination of the lists that divides.",
                                        .fields = free_fields };

static const BaseField limit_fields[] = {
  BASE_ROW_NUM (PlnLimitSpec, "power", power, POWER, .min = "1 W", .help = "maximum power of all nodes at load, times PUE"),
  BASE_ROW_NUM (PlnLimitSpec, "gpus", gpus, COUNT, .min = "1", .help = "maximum GPUs"),
  BASE_ROW_NUM (PlnLimitSpec, "goodput", goodput, RATIO, .min = "1 %", .max = "1",
                .help = "minimum useful time over all time; needs `failures`"),
  BASE_ROW_END,
};
static const BaseSchema limit_schema = { .name = "constraints", .help = "Further limits.", .fields = limit_fields };

static const BaseField plan_fields[] = {
  BASE_ROW (PlnSpec, "plan", name, STR, .required = TRUE, .help = "name"),
  BASE_ROW (PlnSpec, "description", description, STR, .help = "one line"),
  BASE_ROW (PlnSpec, "goal", goal, MAP, .sub = &goal_schema, .required = TRUE, .help = "the work and its limits"),
  BASE_ROW (PlnSpec, "objective", aim, ENUM, .names = pln_aim_names, .fallback = "time", .help = "what to minimise"),
  BASE_ROW (PlnSpec, "choices", choices, MAP, .sub = &choices_schema, .required = TRUE, .help = "cluster options"),
  BASE_ROW (PlnSpec, "free", free, MAP, .sub = &free_schema, .help = "parallel layouts"),
  BASE_ROW (PlnSpec, "fixed", fixed, NODE, .required = TRUE,
            .help = "fixed keys of the training workload: sequence, global_batch, precision …"),
  BASE_ROW (PlnSpec, "degrade", degrade, NODE,
            .help = "[list of parts that are off or degraded](scenario.md#degrade), on every cluster option"),
  BASE_ROW (PlnSpec, "prices", prices, NODE,
            .help = "a name in scenarios/prices, a path, or keys of [prices](#prices) with `like`; needed for costs"),
  BASE_ROW (PlnSpec, "acquisition", acquire, ENUM, .names = acquire_names, .fallback = "both", .help = "what is compared"),
  BASE_ROW (PlnSpec, "failures", failures, MAP, .sub = &pln_schema_plan_failures,
            .help = "failures during the run: rates, or none; default, with `tokens`: llama3_2024"),
  BASE_ROW (PlnSpec, "checkpoint", checkpoint, MAP, .sub = &trn_schema_checkpoint,
            .help = "checkpoints; default with failures: {stall: 30 s, restore: 2 min}"),
  BASE_ROW (PlnSpec, "constraints", limits, MAP, .sub = &limit_schema, .help = "further limits"),
  BASE_ROW_END,
};
const BaseSchema pln_schema_plan = { .name = "plan", .help = "A question to the planner.", .fields = plan_fields };

/* ---- the scenario of a machine ---- */

/* A list in one line, as --set takes it. */
static void
append_flow (const BaseYamlNode *node, GString *out)
{
  gboolean list = base_yaml_kind (node) == BASE_YAML_SEQ;
  if (base_yaml_kind (node) == BASE_YAML_SCALAR) {
    g_autofree char *value = base_yaml_quote (base_yaml_text (node));
    g_string_append (out, value);
    return;
  }
  g_string_append_c (out, list ? '[' : '{');
  for (unsigned i = 0; i < base_yaml_n (node); i++) {
    if (i > 0)
      g_string_append (out, ", ");
    if (!list)
      g_string_append_printf (out, "%s: ", base_yaml_key (node, i));
    append_flow (base_yaml_item (node, i), out);
  }
  g_string_append_c (out, list ? ']' : '}');
}

/* Leaves of `fixed` as --set values of a workload. */
static gboolean
flatten (Pln *plan, const BaseYamlNode *node, const char *path, GError **error)
{
  if (base_yaml_is_null (node)) /* --set of nothing takes a key away */
    return TRUE;
  if (base_yaml_kind (node) == BASE_YAML_SCALAR) {
    g_autofree char *value = base_yaml_quote (base_yaml_text (node));
    g_ptr_array_add (plan->fixed, g_strdup_printf ("%s=%s", path, value));
    return TRUE;
  }
  if (base_yaml_kind (node) == BASE_YAML_SEQ) {
    g_autoptr (GString) flow = g_string_new (NULL);
    append_flow (node, flow);
    g_ptr_array_add (plan->fixed, g_strdup_printf ("%s=%s", path, flow->str));
    return TRUE;
  }
  for (unsigned i = 0; i < base_yaml_n (node); i++) {
    static const char *const not_here[] = { "kind", "model", "parallel", "micro_batch", "schedule", "recompute", NULL };
    const char *key = base_yaml_key (node, i);
    if (g_str_equal (path, "workload") && g_strv_contains (not_here, key))
      return col_fail_at (error, base_yaml_key_mark (node, i), "'%s' cannot be in 'fixed'; write it in 'goal' or 'free'", key);
    g_autofree char *below = g_strdup_printf ("%s.%s", path, key);
    if (g_str_equal (below, "workload.offload"))
      return col_fail_at (error, base_yaml_key_mark (node, i),
                          "plans do not search with offload, which only the engine prices; leave it out, and run the layout as a "
                          "scenario with 'offload'");
    if (g_str_equal (below, "workload.pipeline.layout"))
      return col_fail_at (error, base_yaml_key_mark (node, i),
                          "'layout' fits one parallel layout, and a plan tries many; leave it out (embedding_as_layer and "
                          "head_as_layer are accepted)");
    if (!flatten (plan, base_yaml_item (node, i), below, error))
      return FALSE;
  }
  return TRUE;
}

static void add_set (GPtrArray *sets, const char *format, ...) G_GNUC_PRINTF (2, 3);
static void
add_set (GPtrArray *sets, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_ptr_array_add (sets, g_strdup_vprintf (format, args));
  va_end (args);
}

static void
add_cut (GPtrArray *sets, const TrnClosedQuery *query)
{
  add_set (sets, "workload.parallel={tp: %u, sp: %s, cp: %u, pp: %u, ep: %u, zero: %u}", query->tp, query->sp ? "true" : "false",
           query->cp, query->pp, query->ep, query->zero);
  if (query->vp > 1)
    add_set (sets, "workload.parallel.vp=%u", query->vp);
  add_set (sets, "workload.schedule=%s", base_name (mdl_schedule_names, (int)query->schedule));
  add_set (sets, "workload.micro_batch=%u", query->micro_batch);
  add_set (sets, "workload.recompute=%s", base_name (trn_recompute_names, (int)query->recompute));
}

Scn *
pln_scenario (const Pln *plan, const PlnMachine *machine, const TrnClosedQuery *query, GError **error)
{
  g_autofree char *topology = base_yaml_quote (machine->topology), *model = base_yaml_quote (plan->spec.goal.model.v);
  g_autofree char *text =
      g_strdup_printf ("scenario: plan\ncluster: {topology: %s, nodes: %u}\nworkload: {kind: training, model: %s}\n", topology,
                       machine->nodes, model);
  g_autoptr (GPtrArray) sets = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < plan->fixed->len; i++)
    add_set (sets, "%s", (const char *)plan->fixed->pdata[i]);
  if (machine->domain != NULL)
    add_set (sets, "topology.nvlink_domain={nodes: %s}", machine->domain);
  if (machine->nic_count != NULL)
    add_set (sets, "topology.node.nics.per_gpu="); /* which would contradict it */
  if (machine->nic_count != NULL)
    add_set (sets, "topology.node.nics.count=%s", machine->nic_count);
  if (machine->kind != NULL)
    add_set (sets, "topology.fabric.kind=%s", machine->kind);
  static const char *const of_levels[] = { "spine", "core", "oversubscription" }; /* that the topology's own kind may have */
  gboolean flat = machine->kind != NULL && (strcmp (machine->kind, "single_switch") == 0 || strcmp (machine->kind, "none") == 0);
  for (guint i = 0; flat && i < G_N_ELEMENTS (of_levels); i++)
    add_set (sets, "topology.fabric.%s=", of_levels[i]);
  if (machine->nic_rate != NULL)
    add_set (sets, "topology.node.nics.rate=%s", machine->nic_rate);
  if (machine->oversubscription != NULL)
    add_set (sets, "topology.fabric.oversubscription=%s", machine->oversubscription);
  for (guint i = 0; i < PLN_TIERS; i++)
    if (pln_times_tiers (plan) && machine->tier_servers[i] > 0)
      add_set (sets, "topology.storage.%u.servers=%.0f", i, machine->tier_servers[i]);
  if (query != NULL)
    add_cut (sets, query);
  else /* any cut that can be: the machine is read with it, and asked for others */
    add_set (sets, "workload.parallel={dp: 1}");
  if (query == NULL)
    add_set (sets, "workload.micro_batch=1");
  g_ptr_array_add (sets, NULL);
  const ScnOptions options = { .has_seed = plan->options.has_seed,
                               .seed = plan->options.seed,
                               .sets = (const char *const *)sets->pdata,
                               .any_cut = query == NULL };
  return scn_load (base_yaml_path (plan->yaml), text, plan->lookup, &options, plan->load, plan->user, error);
}

/* ---- machines ---- */

static void
machine_free (PlnMachine *machine)
{
  if (!machine->borrowed)
    scn_free (machine->scenario);
  g_clear_pointer (&machine->parts, g_array_unref);
}

/* Nodes of an NVLink domain; 0: a domain is one node. */
static guint32
domain_nodes (const Clu *clu)
{
  const BaseYamlNode *domain = clu_spec (clu)->nvlink_domain;
  const BaseYamlNode *nodes = domain != NULL && base_yaml_kind (domain) == BASE_YAML_MAP ? base_yaml_get (domain, "nodes") : NULL;
  return nodes != NULL ? (guint32)g_ascii_strtoull (base_yaml_text (nodes), NULL, 10) : 0;
}

/* How many nodes a domain of this machine's topology has, and how many of them it uses. FALSE and *error if it has not as many. */
static gboolean
take_domain (const Pln *plan, PlnMachine *machine, GError **error)
{
  machine->nodes_per_rack = machine->used_per_rack = domain_nodes (machine->scenario->system.clu);
  if (machine->domain == NULL)
    return TRUE;
  PlnMachine whole = { .topology = machine->topology, .nodes = machine->nodes };
  g_autoptr (GError) ignored = NULL;
  Scn *scenario = pln_scenario (plan, &whole, NULL, &ignored);
  machine->nodes_per_rack = scenario != NULL ? domain_nodes (scenario->system.clu) : 0;
  scn_free (scenario);
  return machine->used_per_rack <= machine->nodes_per_rack ||
         col_fail_at (error, pln_mark_of_choice (&plan->spec.choices.domain, machine->domain),
                      "an NVLink domain of %s has %u node%s, so %u of it cannot be used; write that number or less",
                      machine->topology, MAX (machine->nodes_per_rack, 1), machine->nodes_per_rack > 1 ? "s" : "",
                      machine->used_per_rack);
}

gboolean
pln_price_domains (const Pln *plan, PlnMachine *machine, GError **error)
{
  const guint32 used = machine->nodes;
  if (machine->nodes_per_rack > 1)
    machine->nodes = (used + machine->used_per_rack - 1) / machine->used_per_rack * machine->nodes_per_rack;
  const guint32 idle = machine->nodes - used;
  gboolean priced = pln_price_machine (plan, machine, error);
  machine->nodes = used;
  machine->fabric_W += idle * (machine->gpus_per_node * machine->idle_W + machine->host_W);
  return priced;
}

/* Its scenario, read or taken over. A plan that saves to or loads from a tier reads a machine twice, and takes none over. */
static gboolean
open_machine (Pln *plan, PlnMachine *machine, GError **error)
{
  const PlnLike *like = plan->options.like;
  const guint number = plan->machines->len;
  if (like != NULL && like->same[number] && !pln_times_tiers (plan)) {
    machine->scenario = g_array_index (like->plan->machines, PlnMachine, number).scenario;
    machine->steps = like->steps != NULL ? like->steps->pdata[number] : NULL;
    return machine->borrowed = TRUE;
  }
  machine->scenario = pln_scenario (plan, machine, NULL, error);
  if (machine->scenario == NULL)
    return pln_tell_machine (plan, machine, error);
  g_autoptr (TrnClosed) closed =
      trn_closed_new (&machine->scenario->training, error); /* what it leaves out is reported here, where a place is known */
  if (closed == NULL) {
    scn_free (machine->scenario);
    return pln_tell_machine (plan, machine, error);
  }
  for (unsigned i = 0; i < base_diag_n_warnings (machine->scenario->warnings); i++)
    base_diag_warn (plan->warnings, BASE_MARK_NONE, "%s", base_diag_warning (machine->scenario->warnings, i));
  for (guint i = 1; i < machine->scenario->inputs->len; i++) /* all but the text that stands for it */
    g_ptr_array_add (plan->inputs, base_yaml_ref (machine->scenario->inputs->pdata[i]));
  return TRUE;
}

static gboolean
add_machine (Pln *plan, PlnMachine machine, GError **error)
{
  if (plan->machines->len >= MAX_MACHINES)
    return col_fail_at (error, plan->spec.choices.head.mark, "more than %u cluster options; give fewer choices", MAX_MACHINES);
  if (!open_machine (plan, &machine, error))
    return FALSE;
  const Clu *clu = machine.scenario->system.clu;
  const CluGpuSpec *gpu = clu_gpu_spec (clu, 0);
  machine.gpus = machine.scenario->system.gpus->len;
  machine.gpus_per_node = machine.gpus / machine.nodes;
  if (!take_domain (plan, &machine, error)) {
    machine_free (&machine);
    return FALSE;
  }
  machine.load_W = gpu->power.v;
  machine.idle_W = gpu->idle_power.set ? gpu->idle_power.v : gpu->power.v;
  machine.host_W = clu_node_spec (clu, 0)->power.v;
  if (!pln_size_machine (plan, &machine, error)) {
    machine_free (&machine);
    return FALSE;
  }
  if (pln_times_tiers (plan)) { /* on the servers that are paid for */
    Scn *sized = pln_scenario (plan, &machine, NULL, error);
    if (sized == NULL) {
      machine_free (&machine);
      return FALSE;
    }
    scn_free (machine.scenario);
    machine.scenario = sized;
    if (!pln_size_machine (plan, &machine, error)) { /* types of switches are those of its cluster */
      machine_free (&machine);
      return FALSE;
    }
  }
  if (!pln_take_failures (plan, &machine, error)) {
    machine_free (&machine);
    return FALSE;
  }
  machine.doubt = pln_doubt (plan, &machine);
  g_array_append_val (plan->bare, machine);
  if (!pln_price_domains (plan, &machine, error)) {
    machine_free (&machine);
    return FALSE;
  }
  g_array_append_val (plan->machines, machine);
  return TRUE;
}

static gboolean
add_machines (Pln *plan, GError **error)
{
  const PlnChoicesSpec *c = &plan->spec.choices;
  const guint n[] = { c->topology.n, c->nodes.n, c->domain.n,           c->nic_count.n,
                      c->nic_rate.n, c->kind.n,  c->oversubscription.n, c->servers.n };
  guint at[G_N_ELEMENTS (n)] = { 0 };
  for (gboolean more = TRUE; more;) {
    const PlnMachine machine = { .topology = c->topology.item[at[0]].v,
                                 .nodes = (guint32)c->nodes.item[at[1]].v,
                                 .domain = c->domain.n > 0 ? c->domain.item[at[2]].v : NULL,
                                 .nic_count = c->nic_count.n > 0 ? c->nic_count.item[at[3]].v : NULL,
                                 .nic_rate = c->nic_rate.n > 0 ? c->nic_rate.item[at[4]].v : NULL,
                                 .kind = c->kind.n > 0 ? c->kind.item[at[5]].v : NULL,
                                 .oversubscription = c->oversubscription.n > 0 ? c->oversubscription.item[at[6]].v : NULL,
                                 .servers = c->servers.n > 0 ? c->servers.item[at[7]].v : NULL };
    if (!add_machine (plan, machine, error))
      return FALSE;
    guint k = G_N_ELEMENTS (n);
    for (more = FALSE; k-- > 0 && !more;) { /* the last one turns fastest */
      more = ++at[k] < n[k];
      at[k] = more ? at[k] : 0;
    }
  }
  return TRUE;
}

/* ---- reading ---- */

/* Whether a list has a value or more, each once: one that stands there twice would be a machine or a cut beside itself. */
static gboolean
check_list (const BaseStrs *list, GError **error)
{
  if (list->set && list->n == 0)
    return col_fail_at (error, list->mark, "the list is empty; write one value or more, or leave the key out");
  for (guint i = 1; i < list->n; i++)
    for (guint j = 0; j < i; j++)
      if (strcmp (list->item[i].v, list->item[j].v) == 0)
        return col_fail_at (error, list->item[i].mark, "'%s' is in the list twice; write each value once", list->item[i].v);
  return TRUE;
}

static gboolean
check_lists (const Pln *plan, GError **error)
{
  const PlnChoicesSpec *c = &plan->spec.choices;
  const PlnFreeSpec *f = &plan->spec.free;
  const BaseStrs *lists[] = { &c->topology, &c->domain,      &c->nic_count, &c->nic_rate, &c->kind, &c->oversubscription,
                              &c->servers,  &f->tp,          &f->cp,        &f->pp,       &f->vp,   &f->ep,
                              &f->zero,     &f->micro_batch, &f->schedule,  &f->recompute };
  for (guint i = 0; i < G_N_ELEMENTS (lists); i++)
    if (!check_list (lists[i], error))
      return FALSE;
  for (guint i = 1; i < c->nodes.n; i++)
    for (guint j = 0; j < i; j++)
      if ((guint32)c->nodes.item[i].v == (guint32)c->nodes.item[j].v)
        return col_fail_at (error, c->nodes.item[i].mark, "%.0f is in the list twice; write each number of nodes once",
                            c->nodes.item[i].v);
  return c->nodes.n > 0 || col_fail_at (error, c->nodes.mark, "'nodes' is empty; write one number or more (e.g. [16, 32])");
}

/* Lists of cuts hold values that can be; every machine reads the same ones. */
static gboolean
check_free (const Pln *plan, GError **error)
{
  g_autoptr (GArray) cuts = g_array_new (FALSE, FALSE, sizeof (TrnClosedQuery));
  guint64 out[PLN_REJECTED_N] = { 0 };
  return plan->machines->len == 0 || pln_layouts (plan, &g_array_index (plan->machines, PlnMachine, 0), cuts, NULL, out, error);
}

/* What cannot be met together, or asked for without prices. */
static gboolean
check_goal (const Pln *plan, GError **error)
{
  const PlnSpec *s = &plan->spec;
  if (!s->goal.tokens.set && s->aim.v == PLN_AIM_PARETO)
    return col_fail_at (error, s->aim.mark,
                        "objective pareto needs the length of the run; write 'tokens' in 'goal' (e.g. tokens: 2 T)");
  if (!s->goal.tokens.set && (s->goal.deadline.head.set || s->goal.run_cost.set))
    return col_fail_at (error, s->goal.deadline.head.set ? s->goal.deadline.head.mark : s->goal.run_cost.mark,
                        "a deadline or run_cost needs the length of the run; write 'tokens' in 'goal' (e.g. tokens: 2 T)");
  if (s->acquire.v == PLN_ACQUIRE_RENT && s->goal.capex.set)
    return col_fail_at (error, s->goal.capex.mark,
                        "'capex' limits a purchase, but 'acquisition: rent' buys nothing; write 'run_cost', or 'acquisition: own'");
  return TRUE;
}

/* Of a list, or of a topology's own `cost`. */
static gboolean
check_priced (const Pln *plan, GError **error)
{
  const PlnSpec *s = &plan->spec;
  const BaseNum *limit = s->goal.capex.set ? &s->goal.capex : &s->goal.run_cost;
  gboolean any = plan->has_prices || !(pln_needs_money (plan) || limit->set);
  for (guint i = 0; i < plan->machines->len; i++) {
    const PlnMachine *machine = &g_array_index (plan->machines, PlnMachine, i);
    any = any || machine->capital_usd > 0 || machine->rent_usd_per_s > 0;
  }
  return any || col_fail_at (error, limit->set ? limit->mark : s->aim.mark,
                             "this objective or limit of cost needs 'prices': write a name of `forerun list prices`, or a file "
                             "(e.g. prices: us_2026), or give the topology a `cost`");
}

static gboolean
check_limits (const Pln *plan, GError **error)
{
  const BaseNum *most = &plan->spec.limits.gpus;
  guint32 least = G_MAXUINT32;
  for (guint i = 0; i < plan->machines->len; i++)
    least = MIN (least, g_array_index (plan->machines, PlnMachine, i).gpus);
  return !most->set || most->v >= least ||
         col_fail_at (error, most->mark,
                      "a limit of %.0f GPUs excludes all choices: the smallest cluster option has %u; raise the limit or add "
                      "smaller choices",
                      most->v, least);
}

static gboolean
read_prices (Pln *plan, const BaseSchemaContext *context, GError **error)
{
  plan->has_prices = plan->spec.prices != NULL && !base_yaml_is_null (plan->spec.prices);
  return !plan->has_prices || pln_read_prices (plan->yaml, "prices", context, &plan->prices, error);
}

static void
free_yaml (gpointer yaml)
{
  base_yaml_free (yaml);
}

static gboolean
apply_sets (BaseYaml *yaml, const char *const *sets, GError **error)
{
  for (; sets != NULL && *sets != NULL; sets++) {
    g_auto (GStrv) halves = g_strsplit (*sets, "=", 2);
    g_autofree char *label = g_strconcat ("--set ", halves[0], NULL);
    const BaseYamlNode *prices = base_yaml_get (base_yaml_root (yaml), "prices");
    if (g_str_has_prefix (halves[0], "prices.") && prices != NULL && base_yaml_kind (prices) == BASE_YAML_SCALAR) {
      g_autofree char *name = base_yaml_quote (base_yaml_text (prices)), *like = g_strdup_printf ("{like: %s}", name);
      if (!base_yaml_set (yaml, "prices", like, base_yaml_path (yaml), error))
        return FALSE;
    }
    if (!base_yaml_set_dotted (yaml, halves[0], halves[1] != NULL ? halves[1] : "", label, dotted_keys, error))
      return FALSE;
  }
  return TRUE;
}

Pln *
pln_load (const char *path, const BaseLookup *lookup, const PlnOptions *options, ScnLibraryLoad load, void *user, GError **error)
{
  const char *text = options->text;
  g_autoptr (BaseYaml) yaml =
      text == NULL ? base_yaml_load_file (path, error) : base_yaml_load_data (path, text, strlen (text), error);
  if (yaml == NULL || !apply_sets (yaml, options->sets, error) || !pln_refuse_budget (base_yaml_root (yaml), error) ||
      !pln_refuse_budget (base_yaml_get (base_yaml_root (yaml), "goal"), error) || !pln_default_failures (yaml, error))
    return NULL;
  g_autoptr (Pln) plan = g_new0 (Pln, 1);
  g_mutex_init (&plan->loading);
  plan->yaml = g_steal_pointer (&yaml);
  plan->inputs = g_ptr_array_new_with_free_func (free_yaml);
  g_ptr_array_add (plan->inputs, base_yaml_ref (plan->yaml));
  plan->warnings = base_diag_new ();
  plan->fixed = g_ptr_array_new_with_free_func (g_free);
  plan->machines = g_array_new (FALSE, FALSE, sizeof (PlnMachine));
  plan->bare = g_array_new (FALSE, FALSE, sizeof (PlnMachine));
  plan->options = *options;
  plan->load = load;
  plan->user = user;
  plan->lookup = lookup;
  g_autoptr (BaseDiag) diag = base_diag_new ();
  const BaseSchemaContext context = {
    .arena = base_yaml_arena (plan->yaml), .diag = diag, .lookup = lookup, .source = BASE_SOURCE_DATASHEET, .inputs = plan->inputs
  };
  if (!pln_convert_goal (plan->yaml, &context, error))
    return NULL;
  if (!base_schema_read (&pln_schema_plan, base_yaml_root (plan->yaml), FALSE, &context, &plan->spec)) {
    base_diag_finish (diag, error);
    return NULL;
  }
  if (base_yaml_kind (plan->spec.fixed) != BASE_YAML_MAP) {
    col_fail_at (error, base_yaml_mark (plan->spec.fixed),
                 "'fixed' must be a mapping with keys of a training workload (e.g. fixed: {sequence: 8192, global_batch: 1024})");
    return NULL;
  }
  if (!pln_read_comparisons (plan, "steps", &context, error) || !read_prices (plan, &context, error) ||
      !check_lists (plan, error) || !check_goal (plan, error) || !pln_check_deadline (plan, error) ||
      !pln_check_failures (plan, error) ||
      !flatten (plan, plan->spec.fixed, "workload", error) ||
      (plan->spec.degrade != NULL && !flatten (plan, plan->spec.degrade, "degrade", error)) || !add_machines (plan, error) ||
      !check_free (plan, error) || !check_priced (plan, error) || !check_limits (plan, error))
    return NULL;
  pln_choose_basis (plan);
  return g_steal_pointer (&plan);
}

void
pln_free (Pln *plan)
{
  if (plan == NULL)
    return;
  for (guint i = 0; i < plan->machines->len; i++)
    machine_free (&g_array_index (plan->machines, PlnMachine, i));
  g_array_unref (plan->machines);
  g_array_unref (plan->bare);
  g_ptr_array_unref (plan->fixed);
  base_diag_free (plan->warnings);
  g_ptr_array_unref (plan->inputs);
  base_yaml_free (plan->yaml);
  g_mutex_clear (&plan->loading);
  g_free (plan);
}

/* ---- accessors ---- */

const char *
pln_name (const Pln *plan)
{
  return plan->spec.name.v;
}

const char *
pln_description (const Pln *plan)
{
  return plan->spec.description.v;
}

const GPtrArray *
pln_inputs (const Pln *plan)
{
  return plan->inputs;
}

const BaseDiag *
pln_warnings (const Pln *plan)
{
  return plan->warnings;
}

const char *
pln_degraded (const Pln *plan)
{
  static const char key[] = "degrade=";
  for (guint i = 0; i < plan->fixed->len; i++)
    if (g_str_has_prefix (plan->fixed->pdata[i], key))
      return (const char *)plan->fixed->pdata[i] + strlen (key);
  return NULL;
}

const char *
pln_model (const Pln *plan)
{
  return plan->spec.goal.model.v;
}

PlnAcquisition
pln_basis (const Pln *plan)
{
  return plan->basis;
}

PlnAcquire
pln_acquire (const Pln *plan)
{
  return (PlnAcquire)plan->spec.acquire.v;
}

const PlnPricesSpec *
pln_prices (const Pln *plan)
{
  return plan->has_prices ? &plan->prices : NULL;
}

const GArray *
pln_machines (const Pln *plan)
{
  return plan->machines;
}
