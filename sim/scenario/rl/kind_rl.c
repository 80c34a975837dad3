/* Workloads of kind `rl`: a step of GRPO or PPO by phase.
 *
 *     generation   the engine answers prompts · samples requests that come at once; it ends with the longest answer
 *     reward       answers · time / workers, where that is longer than nothing
 *     logprobs     a forward pass over all tokens, a third of what passes of a training step take: of the actor again, of the
 *                  reference; of PPO the values of a critic
 *     update       `updates` training steps on the tokens that were generated; of PPO the critic's too
 *     sync         weights to the replicas: an all-gather over all GPUs if colocated; else a broadcast from the trainer to all GPUs
 *                  of the replicas while the trainer gathers, whichever takes longer. A framework takes
 *                  tensors · (tensor + rank · GPUs of a replica) more
 *     change       two sleeps of the engine; with W weights and O optimizer states of a GPU: (W + O) / to_host + (W + O) / to_gpu, and
 *                  for a reference model on the same GPUs W / to_host + 2 W / to_gpu
 *
 *     staleness 0: the sum.   1 and more, separated: max (generation + reward, logprobs + update) + sync
 *
 * * `partial`: answers go on with new weights (AReaL, 2505.24298), so generation takes what a steady load takes, not its tail.
 * * Left out: prompts that the samples of a group share (they are computed each), the reward of a model, critics of another size.
 * * Source of the phases: HybridFlow (verl, 2409.19256) section 2, OpenRLHF (2405.11143) section 3. Check: law_rl. */
#include <math.h>

#include "models/engine.h"
#include "scenario/loaded.h"
#include "scenario/rl.h"
#include "serving/closed.h"
#include "serving/run.h"
#include "training/llm.h"

#define FORWARD (1.0 / 3) /* of forward and backward passes */

static const BaseName algorithm_names[] = {
  { "grpo", SCN_RL_GRPO, "group relative: no critic" },
  { "ppo", SCN_RL_PPO, "with a critic as large as the actor" },
  { NULL, 0, NULL },
};
static const BaseName placement_names[] = {
  { "colocated", SCN_RL_COLOCATED, "generation and training on the same GPUs, one after the other" },
  { "separated", SCN_RL_SEPARATED, "generation on the last `nodes` of `rollout`, training on the others" },
  { NULL, 0, NULL },
};
const char *const scn_rl_phase_names[SCN_RL_N] = { "generation", "reward", "old_logprobs", "reference", "values",
                                                   "critic",     "update", "sync",         "change" };

#define ROLLOUT(key_, member_, kind_, ...) BASE_ROW (ScnRolloutSpec, key_, member_, kind_, __VA_ARGS__)
static const BaseField rollout_fields[] = {
  ROLLOUT ("engine", replica.engine, MAP, .sub = &srv_schema_engine, .required = TRUE, .help = "engine"),
  ROLLOUT ("parallel", replica.parallel, MAP, .sub = &srv_schema_parallel, .help = "parallel layout of a replica"),
  ROLLOUT ("precision", replica.precision, MAP, .sub = &srv_schema_precision, .help = "number formats"),
  ROLLOUT ("moe", replica.moe, MAP, .sub = &srv_schema_moe, .help = "exchange and load of experts"),
  ROLLOUT ("speculative", replica.speculative, MAP, .sub = &srv_schema_speculative, .help = "speculative decoding"),
  BASE_ROW_NUM (ScnRolloutSpec, "replicas", replicas, COUNT, .min = "1", .max = "100000",
                .help = "copies of the engine; default: as many as the GPUs hold"),
  BASE_ROW_NUM (ScnRolloutSpec, "nodes", nodes, COUNT, .min = "1", .help = "nodes of separated generation, the last ones"),
  ROLLOUT ("partial", partial, BOOL, .fallback = "no",
           .help = "answers under way go on with new weights, so no step waits for the longest"),
  BASE_ROW_END,
};
static const BaseSchema rollout_schema = { .name = "rollout", .help = "Generation of answers.", .fields = rollout_fields };

static const BaseField reward_fields[] = {
  BASE_ROW_NUM (ScnRewardSpec, "time", time, TIME, .required = TRUE, .help = "time of one answer on one worker"),
  BASE_ROW_NUM (ScnRewardSpec, "workers", workers, COUNT, .min = "1", .max = "1 M", .fallback = "64", .help = "workers"),
  BASE_ROW_END,
};
static const BaseSchema reward_schema = { .name = "reward", .help = "Rewards by rules, on the host.", .fields = reward_fields };

#define KEY(key_, member_, kind_, ...) BASE_ROW (ScnRlSpec, key_, member_, kind_, __VA_ARGS__)
static const BaseField fields[] = {
  KEY ("kind", kind, STR, .required = TRUE, .help = "`rl`"),
  KEY ("algorithm", algorithm, ENUM, .names = algorithm_names, .fallback = "grpo", .help = "what learns"),
  KEY ("placement", placement, ENUM, .names = placement_names, .fallback = "colocated", .help = "where"),
  KEY ("model", model, NODE, .required = TRUE, .help = "model: a name of `forerun list llms`, a path, or its keys"),
  BASE_ROW_NUM (ScnRlSpec, "prompts", prompts, COUNT, .min = "1", .max = "1 M", .required = TRUE, .help = "prompts of a step"),
  BASE_ROW_NUM (ScnRlSpec, "samples", samples, COUNT, .min = "1", .max = "10000", .fallback = "1", .help = "answers a prompt"),
  BASE_ROW_NUM (ScnRlSpec, "input", input, COUNT, .min = "1", .max = "100 M", .help = "tokens of a prompt"),
  BASE_ROW_NUM (ScnRlSpec, "output", output, COUNT, .min = "1", .max = "100 M", .help = "tokens of an answer"),
  KEY ("lengths", lengths, MAP, .sub = &srv_schema_lengths, .help = "random lengths, in their place"),
  KEY ("rollout", rollout, MAP, .sub = &rollout_schema, .required = TRUE, .help = "generation of answers"),
  KEY ("reward", reward, MAP, .sub = &reward_schema, .help = "rewards by rules; default: they take no time"),
  KEY ("reference", reference, BOOL, .fallback = "yes", .help = "a reference model scores all answers (KL)"),
  KEY ("old_logprobs", old_logprobs, BOOL, .fallback = "yes", .help = "the trainer computes probabilities of the answers again"),
  KEY ("train", train, NODE, .required = TRUE,
       .help = "update: as a `workload` of kind `training`, without `model` and `global_batch`"),
  BASE_ROW_NUM (ScnRlSpec, "updates", updates, COUNT, .min = "1", .max = "1000", .fallback = "1",
                .help = "optimizer steps on the answers of a step (mini-batches)"),
  BASE_ROW_NUM (ScnRlSpec, "staleness", staleness, COUNT, .max = "100", .fallback = "0",
                .help = "steps that the weights behind an answer may be old; from 1 on, generation and training overlap"),
  KEY ("framework", framework, STR,
       .help = "colocated: framework whose refit and offload are counted (`nemo_rl`); default: they take no time"),
  BASE_ROW_NUM (ScnRlSpec, "change", change, TIME,
                .help = "colocated: time between engine and training, each way (memory is freed and taken); default: the "
                        "framework's, or 0"),
  BASE_ROW_END,
};
const BaseSchema scn_schema_rl = { .name = "workload (rl)",
                                   .help = "A step of reinforcement learning: answers are generated, scored and learned from.",
                                   .fields = fields };

/* ---- reading ---- */

static void
read_more (Scn *scenario, const BaseYamlNode *node, const BaseSchemaContext *context)
{
  ScnRlSpec *spec = scenario->own;
  TrnJob *job = &spec->training;
  (void)node;
  if (spec->model == NULL || !trn_llm_read (spec->model, context, &spec->llm) || spec->train == NULL)
    return;
  if (base_yaml_kind (spec->train) != BASE_YAML_MAP ||
      !base_schema_read (&trn_schema_training, spec->train, FALSE, context, &job->spec)) {
    if (base_yaml_kind (spec->train) != BASE_YAML_MAP)
      base_diag_error (context->diag, base_yaml_mark (spec->train), "'train' must be a mapping (e.g. {kind: training, fsdp: {}})");
    return;
  }
  const char *const ours[] = { "model", "global_batch", "accumulate" };
  for (guint i = 0; i < G_N_ELEMENTS (ours); i++) {
    const BaseYamlNode *given = base_yaml_get (spec->train, ours[i]);
    if (given != NULL)
      base_diag_error (context->diag, base_yaml_mark (given), "'%s' follows from the answers of the step; leave it out", ours[i]);
  }
  job->node = spec->train;
  job->llm = spec->llm;
  job->spec.model.model = spec->model;
  trn_failures_check (&job->spec, context->diag);
}

/* ---- where it runs ---- */

/* A part of the GPUs. */
typedef struct {
  ColSystem system;
  GArray *gpus; /* guint32 */
} Part;

static void
part_clear (Part *part)
{
  g_clear_pointer (&part->gpus, g_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Part, part_clear)

static guint
gpus_per_node (const Scn *scenario)
{
  return scenario->system.gpus->len / MAX (clu_n_nodes (scenario->system.clu), 1);
}

/* GPUs of generation, or of training. */
static void
take_part (const Scn *scenario, gboolean rollout, Part *part)
{
  const ScnRlSpec *spec = scenario->own;
  const GArray *all = scenario->system.gpus;
  const guint behind = spec->placement.v == SCN_RL_SEPARATED ? gpus_per_node (scenario) * (guint)spec->rollout.nodes.v : 0;
  const guint first = rollout && behind > 0 ? all->len - behind : 0, n = behind == 0 ? all->len
                                                                         : rollout   ? behind
                                                                                     : all->len - behind;
  part->system = scenario->system;
  part->gpus = part->system.gpus = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_array_append_vals (part->gpus, &g_array_index (all, guint32, first), n);
}

static guint
replicas_of (const ScnRlSpec *spec, guint gpus)
{
  return spec->rollout.replicas.set ? (guint)spec->rollout.replicas.v : gpus / (guint)srv_replica_gpus (&spec->rollout.replica);
}

static gboolean
check_lengths (const ScnRlSpec *spec, GError **error)
{
  const gboolean file = spec->lengths.file.v != NULL, in = spec->input.set || spec->lengths.input.head.set || file,
                 out = spec->output.set || spec->lengths.output.head.set || file;
  return (in && out) ||
         col_fail_at (error, spec->head.mark,
                      "how long are prompts and answers? write 'input' and 'output' in tokens, or laws in 'lengths'");
}

/* Of `framework`; NULL: none is given. */
static const MdlRlFramework *
framework_of (const Scn *scenario)
{
  const ScnRlSpec *spec = scenario->own;
  return spec->framework.v != NULL ? mdl_rl_framework (scenario->system.engines, spec->framework.v) : NULL;
}

static gboolean
check_framework (const Scn *scenario, GError **error)
{
  const ScnRlSpec *spec = scenario->own;
  const MdlEngines *engines = scenario->system.engines;
  if (spec->framework.v == NULL)
    return TRUE;
  if (spec->placement.v == SCN_RL_SEPARATED)
    return col_fail_at (error, spec->framework.mark,
                        "times of frameworks are known for generation and training on the same GPUs; leave 'framework' out, or "
                        "write 'placement: colocated'");
  if (framework_of (scenario) != NULL)
    return TRUE;
  g_autoptr (GString) known = g_string_new (NULL);
  for (unsigned i = 0; engines != NULL && i < engines->frameworks.n; i++)
    g_string_append_printf (known, "%s%s", i > 0 ? ", " : "", BASE_LIST_AT (engines->frameworks, MdlRlFramework, i)->name.v);
  return col_fail_at (error, spec->framework.mark, "no times of framework '%s' are known; accepted: %s", spec->framework.v,
                      known->str);
}

static gboolean
check (const Scn *scenario, GError **error)
{
  const ScnRlSpec *spec = scenario->own;
  const ScnRolloutSpec *rollout = &spec->rollout;
  const guint nodes = clu_n_nodes (scenario->system.clu);
  const gboolean apart = spec->placement.v == SCN_RL_SEPARATED;
  if (!check_lengths (spec, error))
    return FALSE;
  if (apart && !rollout->nodes.set)
    return col_fail_at (error, rollout->head.mark, "separated generation needs 'nodes' of its own (e.g. nodes: %u)",
                        MAX (nodes / 2, 1));
  if (apart && rollout->nodes.v >= nodes)
    return col_fail_at (error, rollout->nodes.mark,
                        "generation takes %.0f of %u nodes, and none is left to train; accepted: 1 to %u", rollout->nodes.v, nodes,
                        nodes - 1);
  if (!apart && rollout->nodes.set)
    return col_fail_at (error, rollout->nodes.mark,
                        "colocated generation is on all nodes; leave 'nodes' out, or write 'placement: "
                        "separated'");
  if (!apart && spec->staleness.v > 0)
    return col_fail_at (error, spec->staleness.mark,
                        "colocated generation and training share GPUs, so they do not overlap; write 'staleness: 0' or 'placement: "
                        "separated'");
  if (rollout->partial.v && !(spec->staleness.v > 0))
    return col_fail_at (error, rollout->partial.mark, "partial answers see older weights; write 'staleness: 1' or more");
  g_auto (Part) engine = { 0 };
  take_part (scenario, TRUE, &engine);
  const guint n = replicas_of (spec, engine.gpus->len);
  const double needed = fmax (n, 1) * srv_replica_gpus (&rollout->replica);
  if (needed > engine.gpus->len)
    return col_fail_at (error, rollout->replicas.set ? rollout->replicas.mark : rollout->head.mark,
                        "%u replicas need %.0f GPUs (%.0f each), and generation has %u; use fewer replicas or a smaller layout",
                        MAX (n, 1), needed, srv_replica_gpus (&rollout->replica), engine.gpus->len);
  return TRUE;
}

/* ---- generation ---- */

typedef struct {
  SrvRunResult run, lo, hi;
  SrvMemory memory;
  double steady_s; /* of as many answers under a steady load */
  guint replicas;
} Answers;

static gboolean
play (const Scn *scenario, SrvRunSpec *run, int band, SrvRunResult *out, GError **error)
{
  const ScnRlSpec *spec = scenario->own;
  const BaseNum answers = { .set = TRUE, .v = spec->prompts.v * spec->samples.v };
  const SrvLoadSpec load = { .head = spec->head,
                             .closed = answers,
                             .requests = answers,
                             .input = spec->input,
                             .output = spec->output,
                             .lengths = spec->lengths };
  g_autoptr (SrvLoad) requests = srv_load_new (&load, NULL, scenario->seed, error);
  if (requests == NULL)
    return FALSE;
  run->source = srv_run_source (requests, FALSE);
  run->band = band;
  return srv_run (run, out, error);
}

static gboolean
generate (const Scn *scenario, const Part *part, ColRunInfo *info, Answers *out, GError **error)
{
  const ScnRlSpec *spec = scenario->own;
  SrvReplicaSpec replica = spec->rollout.replica;
  g_autofree char *warning = NULL;
  if (!srv_replica_settle (&replica, part->system.engines, NULL, &warning, error) ||
      !srv_memory_plan (&spec->llm, &part->system, &replica, &out->memory, error))
    return FALSE;
  if (warning != NULL)
    col_run_warn (info, "%s", warning);
  g_autoptr (SrvStepModel) model = srv_step_model_new (&spec->llm, &part->system, &replica, error);
  if (model == NULL)
    return FALSE;
  SrvRunSpec run;
  g_autofree double *acceptance = srv_speculative_acceptance (&replica.speculative);
  srv_run_take_replica (&replica, &out->memory, model, &run);
  run.replicas = out->replicas = replicas_of (spec, part->gpus->len);
  run.router.policy = SRV_ROUTER_LEAST_LOADED;
  run.seed = scenario->seed;
  run.slo = (SrvSlo){ (double)INFINITY, (double)INFINITY, (double)INFINITY };
  run.watch = G_MAXUINT64;
  run.acceptance = acceptance;
  run.front = (SrvFront){ 0 }; /* no users: requests come from the trainer */
  if (!play (scenario, &run, -1, &out->lo, error) || !play (scenario, &run, 1, &out->hi, error) ||
      !play (scenario, &run, 0, &out->run, error))
    return FALSE;
  const double n = (double)out->run.requests;
  const SrvSteady load = { .engine = run.engine,
                           .limits = run.limits,
                           .pool = (double)run.blocks * run.block,
                           .tokens = srv_speculative_tokens (&replica.speculative),
                           .input = (double)out->run.input_tokens / n,
                           .output = (double)out->run.output_tokens / n,
                           .in_flight = fmax (n / out->replicas, 1) };
  SrvSteadyTimes times;
  srv_steady (model, &load, &times);
  out->steady_s = fmin (n / (out->replicas * times.requests_per_s), out->run.duration_s);
  return TRUE;
}

/* ---- training ---- */

/* The batch that the answers make, as the layout takes it. */
static void
set_batch (TrnSpec *train, guint gpus, double answers, double tokens)
{
  const TrnParallelSpec *p = &train->parallel;
  TrnModelSpec *model = &train->model;
  const double cut = fmax (p->tp.v, 1) * fmax (p->pp.v, 1) * fmax (p->cp.v, 1),
               each = fmax (floor (gpus / cut), 1) * fmax (model->micro_batch.v, 1);
  if (!model->sequence.set)
    model->sequence = (BaseNum){ .set = TRUE, .v = ceil (tokens / answers / 64) * 64, .source = BASE_SOURCE_ASSUMED };
  const double batch = tokens / model->sequence.v;
  model->global_batch = (BaseNum){ .set = TRUE, .v = fmax (ceil (batch / each - 1e-9), 1) * each };
}

/* ---- weights ---- */

static gboolean
price (const Part *part, MdlOp op, const guint32 *gpus, guint n, double size_B, double *time_s, GError **error)
{
  *time_s = 0;
  if (n < 2)
    return TRUE;
  g_autoptr (ColComm) comm = col_comm_new (part->system.clu, &part->system.settings, gpus, n, error);
  g_auto (ColAnswer) answer = { 0 };
  const ColCollRequest request = {
    .op = op, .size_B = size_B, .dtype = MDL_DTYPE_BF16, .algo = MDL_ALGO_AUTO, .proto = MDL_PROTO_AUTO
  };
  if (comm == NULL || !col_coll_price (comm, &request, &answer, error))
    return FALSE;
  *time_s = answer.time_s;
  return TRUE;
}

static gboolean
send_weights (const Scn *scenario, const Part *engine, const Part *trainer, double weights_B, double *time_s, GError **error)
{
  const ScnRlSpec *spec = scenario->own;
  const guint32 *trains = (const guint32 *)(const void *)trainer->gpus->data;
  double gather_s;
  if (!price (trainer, MDL_OP_ALL_GATHER, trains, trainer->gpus->len, weights_B, &gather_s, error))
    return FALSE;
  *time_s = gather_s;
  if (spec->placement.v == SCN_RL_COLOCATED)
    return TRUE;
  g_autoptr (GArray) group = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_array_append_vals (group, trains, 1);
  g_array_append_vals (group, engine->gpus->data, engine->gpus->len);
  double broadcast_s;
  if (!price (engine, MDL_OP_BROADCAST, (const guint32 *)(const void *)group->data, group->len, weights_B, &broadcast_s, error))
    return FALSE;
  *time_s = fmax (gather_s, broadcast_s);
  return TRUE;
}

/* Tensors of a checkpoint. */
static double
tensors_of (const MdlLlm *llm)
{
  double n = 0;
  for (int part = 0; part < MDL_PART_N; part++) {
    const double layers = part == MDL_PART_EMBEDDING || part == MDL_PART_HEAD ? 1 : mdl_llm_n_part (llm, (MdlPart)part);
    g_autoptr (GArray) tensors = g_array_new (FALSE, FALSE, sizeof (MdlTensor));
    if (layers > 0)
      mdl_llm_tensors (llm, (MdlPart)part, 0, tensors);
    for (guint i = 0; i < tensors->len; i++)
      n += layers * g_array_index (tensors, MdlTensor, i).copies;
  }
  return n;
}

/* What the framework adds: weights are handed over one by one, and what training keeps makes room for the engine. */
static void
add_framework (const Scn *scenario, const TrnMemory *memory, ScnRlResult *out)
{
  const ScnRlSpec *spec = scenario->own;
  const MdlRlFramework *its = framework_of (scenario);
  if (its == NULL)
    return;
  const double all_B = memory->weights_B + memory->optimizer_B, weights_B = spec->reference.v ? memory->weights_B : 0;
  const double refit_s =
      tensors_of (&spec->llm) * (its->tensor.v + its->rank.v * srv_replica_gpus (&spec->rollout.replica));
  out->phase_s[SCN_RL_SYNC] += refit_s;
  if (!spec->change.set)
    out->phase_s[SCN_RL_CHANGE] =
        2 * its->sleep.v + (all_B + weights_B) / its->to_host.v + (all_B + 2 * weights_B) / its->to_gpu.v;
  out->framework_s = refit_s + (spec->change.set ? 0 : out->phase_s[SCN_RL_CHANGE]);
  out->framework_error = its->error.v;
}

/* ---- the step ---- */

static void
take_training (const ScnRlSpec *spec, const TrnResult *step, ScnRlResult *out)
{
  const double passes_s =
      step->step_time_s - step->part_s[TRN_PART_OPTIMIZER] - step->part_s[TRN_PART_EXPOSED_DP] - step->recompute_s;
  const double forward_s = FORWARD * fmax (passes_s, 0) * spec->updates.v;
  const gboolean critic = spec->algorithm.v == SCN_RL_PPO;
  out->phase_s[SCN_RL_UPDATE] = step->step_time_s * spec->updates.v;
  out->phase_s[SCN_RL_OLD_LOGPROBS] = spec->old_logprobs.v ? forward_s : 0;
  out->phase_s[SCN_RL_REFERENCE] = spec->reference.v ? forward_s : 0;
  out->phase_s[SCN_RL_VALUES] = critic ? forward_s : 0;
  out->phase_s[SCN_RL_CRITIC] = critic ? out->phase_s[SCN_RL_UPDATE] : 0;
  out->mfu = step->mfu;
}

/* The time of a step with generation as long as that, and what overlaps. */
static double
step_s (const ScnRlSpec *spec, const ScnRlResult *out, double generation_s, double *hidden_s)
{
  double trains_s = 0;
  for (int p = SCN_RL_OLD_LOGPROBS; p <= SCN_RL_UPDATE; p++)
    trains_s += out->phase_s[p];
  const double rolls_s = generation_s + out->phase_s[SCN_RL_REWARD];
  *hidden_s = spec->staleness.v > 0 ? fmin (rolls_s, trains_s) : 0;
  return rolls_s + trains_s - *hidden_s + out->phase_s[SCN_RL_SYNC] + out->phase_s[SCN_RL_CHANGE];
}

static void
summarise (const ScnRlSpec *spec, const Answers *answers, ScnRlResult *out)
{
  const SrvRunResult *run = &answers->run;
  const double shorter = answers->lo.duration_s / run->duration_s, longer = answers->hi.duration_s / run->duration_s;
  double ignored, trains_s = 0;
  out->time_s = step_s (spec, out, out->phase_s[SCN_RL_GENERATION], &out->hidden_s);
  const double unsure_s = out->framework_s * out->framework_error;
  out->time_lo_s = step_s (spec, out, out->phase_s[SCN_RL_GENERATION] * fmin (shorter, 1), &ignored) - unsure_s;
  out->time_hi_s = step_s (spec, out, out->phase_s[SCN_RL_GENERATION] * fmax (longer, 1), &ignored) + unsure_s;
  for (int p = SCN_RL_OLD_LOGPROBS; p <= SCN_RL_UPDATE; p++)
    trains_s += out->phase_s[p];
  out->answers = (double)run->requests;
  out->tokens = (double)(run->input_tokens + run->output_tokens);
  out->tokens_per_s = out->tokens / out->time_s;
  out->output_mean = (double)run->output_tokens / out->answers;
  out->tail = 1 - run->e2e.p90 / run->duration_s;
  out->replicas = answers->replicas;
  out->rollout_busy = run->busy * run->duration_s / out->time_s;
  out->rollout_busy = fmin (out->rollout_busy, 1);
  out->training_busy = trains_s / out->time_s;
  out->staleness = spec->staleness.v;
  const double gpus = spec->placement.v == SCN_RL_COLOCATED ? out->training_gpus : out->training_gpus + out->rollout_gpus;
  out->gpu_s_per_answer = gpus * out->time_s / out->answers;
  int most = 0;
  for (int p = 1; p < SCN_RL_N; p++)
    most = out->phase_s[p] > out->phase_s[most] ? p : most;
  out->bound_by = scn_rl_phase_names[most];
}

static GArray *
parts_of (const ScnRlResult *own)
{
  GArray *parts = g_array_new (FALSE, FALSE, sizeof (ScnRlPart));
  double sum_s = 0;
  for (int p = 0; p < SCN_RL_N; p++)
    sum_s += own->phase_s[p];
  for (int p = 0; p < SCN_RL_N; p++) {
    const ScnRlPart part = { scn_rl_phase_names[p], own->phase_s[p], own->phase_s[p] / sum_s };
    if (part.time_s > 0)
      g_array_append_val (parts, part);
  }
  return parts;
}

static void
add_spans (const ScnRlSpec *spec, const ScnRlResult *own, ColRunInfo *info)
{
  double at_s = 0, trains_at_s = 0;
  for (int p = 0; info->spans != NULL && p < SCN_RL_N; p++) {
    const gboolean trains = p >= SCN_RL_OLD_LOGPROBS && p <= SCN_RL_UPDATE;
    double *clock_s = trains && spec->staleness.v > 0 ? &trains_at_s : &at_s;
    if (p == SCN_RL_SYNC)
      at_s = fmax (at_s, trains_at_s);
    if (own->phase_s[p] > 0)
      col_run_span (info, g_strdup (trains ? "training" : "rollout"), g_strdup (scn_rl_phase_names[p]), *clock_s,
                    *clock_s + own->phase_s[p]);
    *clock_s += own->phase_s[p];
  }
}

static gboolean
run (const Scn *scenario, ScnResult *result, GError **error)
{
  const ScnRlSpec *spec = scenario->own;
  g_auto (Part) engine = { 0 };
  g_auto (Part) trainer = { 0 };
  Answers answers = { 0 };
  ScnRlResult *own = g_new0 (ScnRlResult, 1);
  result->own = own;
  take_part (scenario, TRUE, &engine);
  take_part (scenario, FALSE, &trainer);
  if (!check_framework (scenario, error) || !generate (scenario, &engine, &result->run, &answers, error))
    return FALSE;
  TrnJob job = spec->training;
  job.system = &trainer.system;
  job.seed = scenario->seed;
  const double tokens = (double)(answers.run.input_tokens + answers.run.output_tokens) / spec->updates.v;
  set_batch (&job.spec, trainer.gpus->len, (double)answers.run.requests / spec->updates.v, tokens);
  TrnResult step = { 0 };
  gboolean good = trn_check (&job, error) && trn_run (&job, &step, &result->run, error);
  if (good && step.memory != NULL && !step.fullest.fits)
    col_run_warn (&result->run, "the update does not fit: a GPU needs %.1f of %.1f GiB", step.fullest.total_B / (1 << 30),
                  step.fullest.capacity_B / (1 << 30));
  if (good) {
    take_training (spec, &step, own);
    own->weights_B =
        answers.memory.weights_B * srv_replica_gpus (&spec->rollout.replica) / fmax (spec->rollout.replica.parallel.dp_attn.v, 1);
    own->phase_s[SCN_RL_CHANGE] = spec->placement.v == SCN_RL_COLOCATED ? 2 * spec->change.v : 0;
    good = send_weights (scenario, &engine, &trainer, own->weights_B, &own->phase_s[SCN_RL_SYNC], error);
    add_framework (scenario, &step.fullest, own);
  }
  trn_result_clear (&step);
  if (!good)
    return FALSE;
  own->phase_s[SCN_RL_GENERATION] = spec->rollout.partial.v ? answers.steady_s : answers.run.duration_s;
  own->phase_s[SCN_RL_REWARD] =
      spec->reward.head.set ? ceil ((double)answers.run.requests / spec->reward.workers.v) * spec->reward.time.v : 0;
  own->rollout_gpus = answers.replicas * srv_replica_gpus (&spec->rollout.replica);
  own->training_gpus = trainer.gpus->len;
  own->longest_s = answers.run.e2e.most;
  summarise (spec, &answers, own);
  own->parts = parts_of (own);
  add_spans (spec, own, &result->run);
  return TRUE;
}

/* ---- the answer ---- */

static const BaseMember part_members[] = {
  BASE_MEMBER (ScnRlPart, "phase", phase, .title = "phase"),
  BASE_MEMBER (ScnRlPart, "time_s", time_s, BASE_SHOWN ("time (s)", 1, "%.4g")),
  BASE_MEMBER (ScnRlPart, "share", share, BASE_SHOWN ("of all (%)", 100, "%.1f")),
  BASE_MEMBER_END,
};

#define RESULT(...) BASE_MEMBER (ScnRlResult, __VA_ARGS__)
static const BaseMember members[] = {
  RESULT ("time_s", time_s, .title = "step"),
  RESULT ("time_lo_s", time_lo_s, .title = "from", .rank = 1),
  RESULT ("time_hi_s", time_hi_s, .title = "to", .rank = 1),
  BASE_MEMBER_PARTS_OF (ScnRlResult, "phases_s", phase_s, scn_rl_phase_names, SCN_RL_N),
  RESULT ("generation_s", phase_s[SCN_RL_GENERATION], .title = "generation", .rank = 3),
  RESULT ("update_s", phase_s[SCN_RL_UPDATE], .title = "update", .rank = 3),
  RESULT ("sync_s", phase_s[SCN_RL_SYNC], .title = "sync", .rank = 3),
  RESULT ("hidden_s", hidden_s, BASE_SHOWN ("overlapped (s)", 1, "%.4g"), .rank = 1),
  RESULT ("longest_s", longest_s, .title = "longest answer", .rank = 2),
  RESULT ("tail_fraction", tail, BASE_SHOWN ("last tenth of answers (% of generation)", 100, "%.1f"), .rank = 1),
  RESULT ("answers", answers, BASE_SHOWN ("answers", 1, "%.0f")),
  RESULT ("output_mean", output_mean, BASE_SHOWN ("tokens an answer", 1, "%.0f"), .rank = 1),
  RESULT ("tokens", tokens, BASE_SHOWN ("tokens", 1, "%.0f"), .rank = 2),
  RESULT ("tokens_per_s", tokens_per_s, BASE_SHOWN ("tokens/s", 1, "%.0f")),
  RESULT ("gpu_s_per_answer", gpu_s_per_answer, BASE_SHOWN ("GPU s an answer", 1, "%.2f"), .rank = 1),
  RESULT ("rollout_busy", rollout_busy, BASE_SHOWN ("rollout busy (%)", 100, "%.1f"), .rank = 1),
  RESULT ("training_busy", training_busy, BASE_SHOWN ("training busy (%)", 100, "%.1f"), .rank = 1),
  RESULT ("replicas", replicas, BASE_SHOWN ("replicas", 1, "%.0f"), .rank = 1),
  RESULT ("rollout_gpus", rollout_gpus, BASE_SHOWN ("rollout GPUs", 1, "%.0f"), .rank = 2),
  RESULT ("training_gpus", training_gpus, BASE_SHOWN ("training GPUs", 1, "%.0f"), .rank = 2),
  RESULT ("staleness", staleness, BASE_SHOWN ("staleness (steps)", 1, "%.0f"), .rank = 2),
  RESULT ("weights_bytes", weights_B, .title = "weights sent", .rank = 2),
  RESULT ("mfu", mfu, BASE_SHOWN ("MFU of the update (%)", 100, "%.1f"), .rank = 2),
  RESULT ("bound_by", bound_by, .title = "bottleneck"),
  RESULT ("parts", parts, .sub = part_members, .title = "phases of a step"),
  BASE_MEMBER_END,
};

static void
clear (ScnResult *result)
{
  ScnRlResult *own = result->own;
  if (own != NULL)
    g_clear_pointer (&own->parts, g_array_unref);
  g_clear_pointer (&result->own, g_free);
}

const ScnKindOps scn_kind_rl = {
  .schema = &scn_schema_rl,
  .spec_size = sizeof (ScnRlSpec),
  .read = read_more,
  .check = check,
  .run = run,
  .clear = clear,
  .time = BASE_MEMBER (ScnRlResult, "time_s", time_s),
  .bound = BASE_MEMBER (ScnRlResult, "bound_by", bound_by),
  .members = members,
  .answer = "A step takes {time_s}: {generation_s} of generation, {update_s} of update, {sync_s} to send weights. It learns from "
            "{answers:%.0f} answers, {tokens_per_s:%.0f} tokens/s. Bottleneck: {bound_by}.\n",
};
