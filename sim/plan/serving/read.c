/* A plan's file: the service that is promised, and what may be bought for it. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/rows.h"
#include "fleet-private.h"
#include "training/llm.h"

#define MOST_TOPOLOGIES 100u
#define SAMPLE          2000u /* requests whose lengths give the means */

const BaseName pln_fleet_aim_names[] = {
  { "cost", PLN_FLEET_COST, "lowest cost of a month" },
  { "gpus", PLN_FLEET_GPUS, "fewest GPUs, then the lowest cost" },
  { NULL, 0, NULL },
};

static const BaseName acquire_names[] = {
  { "own", PLN_ACQUIRE_OWN, "bought" },
  { "rent", PLN_ACQUIRE_RENT, "rented" },
  { "both", PLN_ACQUIRE_BOTH, "both are shown; ranked is what has more prices, rented if equal" },
  { NULL, 0, NULL },
};

static SCHEMA (slo_schema, "slo", "What is promised to users.",
               NUM (PlnSloSpec, ttft, TIME, "longest time to first token", .min = "1 us"),
               NUM (PlnSloSpec, tpot, TIME, "longest time per output token", .min = "1 us"),
               NUM (PlnSloSpec, percentile, NUMBER, "per cent of requests that keep both", .min = "1", .max = "99.9",
                    .fallback = "99"));
static SCHEMA (goal_schema, "goal", "The service and its limits.",
               ROW (PlnFleetGoalSpec, model, NODE, "a name of `forerun list llms`, a path, or its keys", .required = TRUE),
               MAP (PlnFleetGoalSpec, load, &srv_schema_load, "requests: a `rate` and lengths", .required = TRUE),
               MAP (PlnFleetGoalSpec, slo, &slo_schema, "what is promised", .required = TRUE),
               NUM (PlnFleetGoalSpec, users, COUNT, "users at once, in place of `rate` of `load`", .min = "1", .max = "1 G"),
               NUM (PlnFleetGoalSpec, every, TIME, "time from one request of a user to the next", .min = "1 ms",
                    .fallback = "60 s"),
               NUM (PlnFleetGoalSpec, peak, NUMBER,
                    "requests/s of the busiest time over the mean; the promises hold then, and costs "
                    "are spread over the mean; default: 1",
                    .min = "1", .max = "1000"),
               NUM (PlnFleetGoalSpec, lost_nodes, COUNT, "nodes that may be lost while the promises hold", .max = "1000",
                    .fallback = "0"),
               NUM (PlnFleetGoalSpec, capex, MONEY, "maximum cash to buy; what is rented takes none", .min = "$0.01"));
static SCHEMA (choices_schema, "choices", "Cluster options.",
               ROW (PlnFleetChoicesSpec, topology, STRS, "names or paths of topologies", .required = TRUE));
static SCHEMA (
    free_schema, "free", "Layouts of a replica: every combination of the lists that is possible.",
    NUMS_AS (PlnFleetFreeSpec, "tp", tp, COUNT, "tensor parallelism; default: powers of two up to 16", .min = "1", .max = "1024"),
    NUMS_AS (PlnFleetFreeSpec, "pp", pp, COUNT, "pipeline parallelism; default 1", .min = "1", .max = "64"),
    NUMS_AS (PlnFleetFreeSpec, "dp_attn", dp_attn, COUNT,
             "attention data parallelism of mixtures of experts; default: powers of two up to 64", .min = "1", .max = "1024"),
    NUMS_AS (PlnFleetFreeSpec, "ep", ep, COUNT, "expert parallelism; default: 1 and all GPUs of a replica", .min = "1",
             .max = "1024"),
    ROW (PlnFleetFreeSpec, weights, STRS, "formats of weights; default: that of `precision`"),
    ROW (PlnFleetFreeSpec, pools, STRS, "`all`: replicas that do both; `apart`: prefill and decode apart; default: both"));
static SCHEMA (limit_schema, "constraints", "Further limits.", FROM (PlnFleetLimitSpec, gpus, COUNT, "1", "maximum GPUs"),
               FROM (PlnFleetLimitSpec, power, POWER, "1 W", "maximum power of all nodes at load, times PUE"));

#define KEY(key_, member_, kind_, ...) BASE_ROW (PlnFleetSpec, key_, member_, kind_, __VA_ARGS__)
static const BaseField fields[] = {
  KEY ("plan", name, STR, .required = TRUE, .help = "name"),
  KEY ("description", description, STR, .help = "one line"),
  KEY ("goal", goal, MAP, .sub = &goal_schema, .required = TRUE, .help = "the service and its limits"),
  KEY ("objective", aim, ENUM, .names = pln_fleet_aim_names, .fallback = "cost", .help = "what to minimise"),
  KEY ("choices", choices, MAP, .sub = &choices_schema, .required = TRUE, .help = "cluster options"),
  KEY ("engine", replica.engine, MAP, .sub = &srv_schema_engine, .required = TRUE, .help = "engine"),
  KEY ("precision", replica.precision, MAP, .sub = &srv_schema_precision, .help = "number formats"),
  KEY ("moe", replica.moe, MAP, .sub = &srv_schema_moe, .help = "exchange and load of experts"),
  KEY ("speculative", replica.speculative, MAP, .sub = &srv_schema_speculative, .help = "speculative decoding"),
  KEY ("transfer", transfer, MAP, .sub = &srv_schema_transfer, .help = "KV between pools that are apart"),
  KEY ("free", free, MAP, .sub = &free_schema, .help = "layouts of a replica"),
  KEY ("prices", prices, NODE, .help = "a name in scenarios/prices, a path, or keys of prices with `like`; needed for costs"),
  KEY ("acquisition", acquire, ENUM, .names = acquire_names, .fallback = "both", .help = "what is compared"),
  KEY ("constraints", limits, MAP, .sub = &limit_schema, .help = "further limits"),
  BASE_ROW_END,
};
const BaseSchema pln_schema_fleet = { .name = "plan", .help = "A question to the planner: a service.", .fields = fields };

/* ---- checks ---- */

gboolean
pln_is_fleet (const char *path, const char *text)
{
  g_autoptr (BaseYaml) yaml =
      text == NULL ? base_yaml_load_file (path, NULL) : base_yaml_load_data (path, text, strlen (text), NULL);
  const BaseYamlNode *root = yaml != NULL ? base_yaml_root (yaml) : NULL;
  if (root == NULL || base_yaml_kind (root) != BASE_YAML_MAP || base_yaml_get (root, "plan") == NULL)
    return FALSE;
  const BaseYamlNode *goal = base_yaml_get (root, "goal");
  return goal != NULL && base_yaml_kind (goal) == BASE_YAML_MAP &&
         (base_yaml_get (goal, "load") != NULL || base_yaml_get (goal, "slo") != NULL);
}

static gboolean
check_words (const BaseStrs *words, const BaseName *names, GError **error)
{
  for (guint i = 0; i < words->n; i++)
    if (base_name_find (names, words->item[i].v) == NULL) {
      g_autofree char *accepted = base_names_join (names);
      return col_fail_at (error, words->item[i].mark, "'%s' is not one of these; accepted: %s", words->item[i].v, accepted);
    }
  return !words->set || words->n > 0 ||
         col_fail_at (error, words->mark, "the list is empty; write one value or more, or leave the key out");
}

static gboolean
check (const PlnFleet *fleet, GError **error)
{
  static const BaseName pools[] = { { "all", 0, "" }, { "apart", 1, "" }, { NULL, 0, NULL } };
  const PlnFleetSpec *s = &fleet->spec;
  const SrvLoadSpec *load = &s->goal.load;
  if (load->rate.set && s->goal.users.set)
    return col_fail_at (error, s->goal.users.mark, "'users' and 'rate' of 'load' say the same; give one");
  if (s->goal.every.set && !s->goal.users.set)
    return col_fail_at (error, s->goal.every.mark, "'every' is of 'users'; write how many there are, or leave it out");
  if (!load->rate.set && !s->goal.users.set)
    return col_fail_at (
        error, load->head.mark,
        "a plan for a service needs the requests per second that it must answer; write 'rate' in 'load', or 'users' in 'goal'");
  if (load->trace.set || load->ramp_to.set || load->closed.set || (load->turns.set && load->turns.v > 1))
    return col_fail_at (
        error, load->head.mark,
        "a plan takes a steady load of single requests; leave 'trace', 'ramp_to', 'closed' and 'turns' out, and check "
        "the answer with 'forerun run'");
  if (!s->goal.slo.ttft.set && !s->goal.slo.tpot.set)
    return col_fail_at (error, s->goal.slo.head.mark, "'slo' promises nothing; write 'ttft', 'tpot' or both");
  if (s->choices.topology.n == 0 || s->choices.topology.n > MOST_TOPOLOGIES)
    return col_fail_at (error, s->choices.topology.mark, "%u topologies; write 1 to %u", s->choices.topology.n, MOST_TOPOLOGIES);
  if (s->acquire.v == PLN_ACQUIRE_RENT && s->goal.capex.set)
    return col_fail_at (error, s->goal.capex.mark,
                        "'capex' limits a purchase, but 'acquisition: rent' buys nothing; leave one of them out");
  if ((s->goal.capex.set || s->aim.v == PLN_FLEET_COST) && s->prices == NULL)
    return col_fail_at (error, s->goal.capex.set ? s->goal.capex.mark : s->head.mark,
                        "costs need 'prices': write a name of `forerun list prices`, or a file (e.g. prices: us_2026), or write "
                        "'objective: gpus'");
  return check_words (&s->free.weights, srv_format_names, error) && check_words (&s->free.pools, pools, error);
}

/* Means of what the load draws. */
static gboolean
measure_load (PlnFleet *fleet, GError **error)
{
  SrvLoadSpec spec = fleet->spec.goal.load;
  spec.requests = (BaseNum){ .set = TRUE, .v = SAMPLE };
  spec.duration.set = FALSE;
  g_autoptr (SrvLoad) load = srv_load_new (&spec, NULL, fleet->seed, error);
  SrvRequest request;
  guint n = 0;
  if (load == NULL)
    return FALSE;
  while (srv_load_next (load, &request, NULL)) {
    const double tokens = (double)request.input + request.output;
    if (fleet->llm.max_context.set && tokens > fleet->llm.max_context.v)
      return col_fail_at (
          error, spec.head.mark,
          "a request of the load has %.0f tokens with its answer, and a sequence of %s at most %.0f; shorten 'input' or "
          "'output', or write a larger 'max_context' of the model where its positions are scaled (RoPE, YaRN)",
          tokens, fleet->llm.name.v, fleet->llm.max_context.v);
    fleet->input += request.input;
    fleet->output += request.output;
    n++;
  }
  fleet->input /= n;
  fleet->output /= n;
  fleet->cached = fleet->spec.replica.engine.prefix_cache.v || !fleet->spec.replica.engine.prefix_cache.set ? spec.prefix.v : 0;
  return TRUE;
}

/* ---- reading ---- */

static gboolean
apply_sets (BaseYaml *yaml, const char *const *sets, GError **error)
{
  for (; sets != NULL && *sets != NULL; sets++) {
    g_auto (GStrv) halves = g_strsplit (*sets, "=", 2);
    g_autofree char *label = g_strconcat ("--set ", halves[0], NULL);
    if (!base_yaml_set (yaml, halves[0], halves[1] != NULL ? halves[1] : "", label, error))
      return FALSE;
  }
  return TRUE;
}

static void
free_yaml (gpointer yaml)
{
  base_yaml_free (yaml);
}

static void
machine_free (PlnFleetMachine *machine)
{
  for (guint i = 0; i < machine->cuts->len; i++)
    srv_step_model_free (g_array_index (machine->cuts, PlnFleetCut, i).model);
  g_array_unref (machine->cuts);
  g_hash_table_unref (machine->priced);
  scn_free (machine->scenario);
  g_free (machine->error);
}

static void
priced_free (gpointer data)
{
  PlnFleetPriced *priced = data;
  scn_free (priced->machine.scenario);
  g_clear_pointer (&priced->machine.parts, g_array_unref);
  g_free (priced);
}

/* What prices a cluster of a plan for training: here without machines. */
static gboolean
read_prices (PlnFleet *fleet, const BaseSchemaContext *context, GError **error)
{
  Pln *prices = fleet->prices = g_new0 (Pln, 1);
  prices->spec.acquire = fleet->spec.acquire;
  prices->spec.name = fleet->spec.name;
  prices->spec.description = fleet->spec.description;
  prices->lookup = fleet->lookup;
  prices->inputs = fleet->inputs;
  prices->machines = g_array_new (FALSE, FALSE, sizeof (PlnMachine));
  prices->bare = g_array_new (FALSE, FALSE, sizeof (PlnMachine));
  prices->has_prices = fleet->spec.prices != NULL && !base_yaml_is_null (fleet->spec.prices);
  return pln_read_comparisons (prices, "serving", context, error) &&
         (!prices->has_prices || pln_read_prices (fleet->yaml, "prices", context, &prices->prices, error));
}

PlnFleet *
pln_fleet_load (const char *path, const BaseLookup *lookup, const PlnOptions *options, ScnLibraryLoad load, void *user,
                GError **error)
{
  const char *text = options->text;
  g_autoptr (BaseYaml) yaml =
      text == NULL ? base_yaml_load_file (path, error) : base_yaml_load_data (path, text, strlen (text), error);
  if (yaml == NULL || !apply_sets (yaml, options->sets, error))
    return NULL;
  g_autoptr (PlnFleet) fleet = g_new0 (PlnFleet, 1);
  fleet->yaml = g_steal_pointer (&yaml);
  fleet->inputs = g_ptr_array_new_with_free_func (free_yaml);
  g_ptr_array_add (fleet->inputs, base_yaml_ref (fleet->yaml));
  fleet->machines = g_array_new (FALSE, FALSE, sizeof (PlnFleetMachine));
  fleet->lookup = lookup;
  fleet->load = load;
  fleet->user = user;
  fleet->seed = options->has_seed ? options->seed : 1;
  g_autoptr (BaseDiag) diag = base_diag_new ();
  const BaseSchemaContext context = {
    .arena = base_yaml_arena (fleet->yaml), .diag = diag, .lookup = lookup, .source = BASE_SOURCE_DATASHEET, .inputs = fleet->inputs
  };
  if (!base_schema_read (&pln_schema_fleet, base_yaml_root (fleet->yaml), FALSE, &context, &fleet->spec) ||
      !trn_llm_read (fleet->spec.goal.model, &context, &fleet->llm)) {
    base_diag_finish (diag, error);
    return NULL;
  }
  if (!check (fleet, error))
    return NULL;
  PlnFleetGoalSpec *goal = &fleet->spec.goal;
  if (!goal->peak.set) /* no default of the schema: studies would vary it */
    goal->peak.v = 1;
  fleet->mean_rate = goal->users.set ? goal->users.v / goal->every.v : goal->load.rate.v;
  goal->load.rate = (BaseNum){ .set = TRUE, .v = fleet->mean_rate * goal->peak.v, .mark = goal->load.head.mark };
  if (!read_prices (fleet, &context, error) || !measure_load (fleet, error))
    return NULL;
  for (guint i = 0; i < fleet->spec.choices.topology.n; i++) {
    const PlnFleetMachine machine = { .topology = fleet->spec.choices.topology.item[i].v,
                                      .cuts = g_array_new (FALSE, FALSE, sizeof (PlnFleetCut)),
                                      .priced = g_hash_table_new_full (NULL, NULL, NULL, priced_free) };
    g_array_append_val (fleet->machines, machine);
    Scn *one = pln_fleet_cluster (fleet, machine.topology, 1, error);
    if (one == NULL) {
      g_prefix_error (error, "choices.topology: ");
      return NULL;
    }
    g_array_index (fleet->machines, PlnFleetMachine, i).gpus_per_node = one->system.gpus->len;
    for (guint k = 1; k < one->inputs->len; k++) /* all but the text that stands for it */
      g_ptr_array_add (fleet->inputs, base_yaml_ref (one->inputs->pdata[k]));
    scn_free (one);
  }
  return g_steal_pointer (&fleet);
}

void
pln_fleet_free (PlnFleet *fleet)
{
  if (fleet == NULL)
    return;
  for (guint i = 0; i < fleet->machines->len; i++)
    machine_free (&g_array_index (fleet->machines, PlnFleetMachine, i));
  g_array_unref (fleet->machines);
  if (fleet->prices != NULL) {
    g_clear_pointer (&fleet->prices->machines, g_array_unref);
    g_clear_pointer (&fleet->prices->bare, g_array_unref);
  }
  g_free (fleet->prices);
  g_ptr_array_unref (fleet->inputs);
  base_yaml_free (fleet->yaml);
  g_free (fleet);
}

Scn *
pln_fleet_cluster (const PlnFleet *fleet, const char *topology, guint nodes, GError **error)
{
  g_autofree char *quoted = base_yaml_quote (topology);
  g_autofree char *text = g_strdup_printf (
      "scenario: plan\ncluster: {topology: %s, nodes: %u}\nworkload: {kind: collective, op: all_reduce, bytes: 1 MiB}\n", quoted,
      nodes);
  const ScnOptions options = { .has_mode = TRUE, .mode = COL_MODE_MODEL };
  return scn_load (base_yaml_path (fleet->yaml), text, fleet->lookup, &options, fleet->load, fleet->user, error);
}

/* ---- accessors ---- */

const char *
pln_fleet_name (const PlnFleet *fleet)
{
  return fleet->spec.name.v;
}

const char *
pln_fleet_description (const PlnFleet *fleet)
{
  return fleet->spec.description.v;
}

const GPtrArray *
pln_fleet_inputs (const PlnFleet *fleet)
{
  return fleet->inputs;
}

const char *
pln_fleet_model (const PlnFleet *fleet)
{
  return fleet->llm.name.v;
}

const char *
pln_fleet_model_source (const PlnFleet *fleet)
{
  return fleet->llm.source.v;
}

guint
pln_fleet_n_topologies (const PlnFleet *fleet)
{
  return fleet->machines->len;
}

const char *
pln_fleet_topology (const PlnFleet *fleet, guint machine)
{
  return g_array_index (fleet->machines, PlnFleetMachine, machine).topology;
}

const char *
pln_fleet_gpu (const PlnFleet *fleet, guint machine)
{
  const Scn *scenario = g_array_index (fleet->machines, PlnFleetMachine, machine).scenario;
  return scenario != NULL ? clu_gpu_spec (scenario->system.clu, 0)->name.v : "";
}

PlnFleetAim
pln_fleet_aim (const PlnFleet *fleet)
{
  return (PlnFleetAim)fleet->spec.aim.v;
}

const PlnPricesSpec *
pln_fleet_prices (const PlnFleet *fleet)
{
  return pln_prices (fleet->prices);
}

PlnAcquisition
pln_fleet_basis (const PlnFleet *fleet)
{
  return fleet->prices->basis;
}

void
pln_fleet_load_of (const PlnFleet *fleet, double *rate, double *input, double *output)
{
  *rate = fleet->spec.goal.load.rate.v;
  *input = fleet->input;
  *output = fleet->output;
}

double
pln_fleet_mean_rate (const PlnFleet *fleet)
{
  return fleet->mean_rate;
}

double
pln_fleet_users (const PlnFleet *fleet)
{
  const PlnFleetGoalSpec *goal = &fleet->spec.goal;
  return goal->users.set ? goal->users.v : 0;
}

guint
pln_fleet_lost_nodes (const PlnFleet *fleet)
{
  return (guint)fleet->spec.goal.lost_nodes.v;
}

void
pln_fleet_slo (const PlnFleet *fleet, double *ttft_s, double *tpot_s, double *fraction)
{
  const PlnSloSpec *slo = &fleet->spec.goal.slo;
  *ttft_s = slo->ttft.set ? slo->ttft.v : (double)INFINITY;
  *tpot_s = slo->tpot.set ? slo->tpot.v : (double)INFINITY;
  *fraction = slo->percentile.v / 100;
}
