/* Workloads of kind `serving_step`: a step of given sequences and prompts, priced alone. */
#include <math.h>

#include "scenario/loaded.h"
#include "scenario/serving_step.h"
#include "training/llm.h"

#define STEP(key_, member_, kind_, ...) BASE_ROW (ScnServingStepSpec, key_, member_, kind_, __VA_ARGS__)

static const BaseField fields[] = {
  STEP ("kind", kind, STR, .required = TRUE, .help = "`serving_step`"),
  STEP ("model", model, NODE, .required = TRUE, .help = "model: a name of `forerun list llms`, a path, or its keys"),
  STEP ("engine", replica.engine, MAP, .sub = &srv_schema_engine, .required = TRUE, .help = "engine"),
  STEP ("parallel", replica.parallel, MAP, .sub = &srv_schema_parallel, .help = "parallel layout of the replica"),
  STEP ("precision", replica.precision, MAP, .sub = &srv_schema_precision, .help = "number formats"),
  STEP ("moe", replica.moe, MAP, .sub = &srv_schema_moe, .help = "exchange and load of experts"),
  STEP ("speculative", replica.speculative, MAP, .sub = &srv_schema_speculative, .help = "speculative decoding"),
  BASE_ROW_NUM (ScnServingStepSpec, "decode", decode, COUNT, .max = "1 M", .fallback = "0",
                .help = "sequences of each scheduler that decode in the step"),
  BASE_ROW_NUM (ScnServingStepSpec, "context", context, COUNT, .min = "1", .max = "1 G", .fallback = "1024",
                .help = "tokens in the KV cache of each of them"),
  BASE_ROW_NUM (ScnServingStepSpec, "prompts", prompts, COUNT, .max = "1 M", .fallback = "0",
                .help = "prompts, or parts of them, of each scheduler in the step"),
  BASE_ROW_NUM (ScnServingStepSpec, "prompt", prompt, COUNT, .min = "1", .max = "100 M", .fallback = "1024",
                .help = "new tokens of each prompt"),
  BASE_ROW_NUM (ScnServingStepSpec, "cached", cached, COUNT, .max = "1 G", .fallback = "0",
                .help = "tokens of each prompt that are in the KV cache already"),
  BASE_ROW_END,
};

const BaseSchema scn_schema_serving_step = { .name = "workload (serving_step)",
                                             .help = "One step of an engine that serves a model, and the memory of its replica.",
                                             .fields = fields };

static void
read_model (Scn *scenario, const BaseYamlNode *node, const BaseSchemaContext *context)
{
  ScnServingStepSpec *spec = scenario->own;
  (void)node;
  if (spec->model != NULL)
    trn_llm_read (spec->model, context, &spec->llm);
}

static gboolean
check (const Scn *scenario, GError **error)
{
  const ScnServingStepSpec *spec = scenario->own;
  if (spec->decode.v < 1 && spec->prompts.v < 1)
    return col_fail_at (error, spec->head.mark, "the step is empty; say how many sequences `decode`, or how many `prompts` it has");
  return TRUE;
}

/* ---- the answer ---- */

#define RESULT(...) BASE_MEMBER (ScnServingStepResult, __VA_ARGS__)
static const BaseMember members[] = {
  RESULT ("time_s", step.time_s, .title = "time"),
  RESULT ("time_lo_s", step.time_lo_s, .title = "from", .rank = 1),
  RESULT ("time_hi_s", step.time_hi_s, .title = "to", .rank = 1),
  RESULT ("tokens_per_s", tokens_per_s, BASE_SHOWN ("tokens/s", 1, "%.0f")),
  RESULT ("tokens_per_s_per_gpu", tokens_per_s_gpu, BASE_SHOWN ("tokens/s a GPU", 1, "%.0f"), .rank = 1),
  BASE_MEMBER_PARTS_OF (ScnServingStepResult, "breakdown_s", step.part_s, srv_part_names, SRV_PART_N),
  RESULT ("bound_by", bound_by, .title = "bottleneck"),
  BASE_MEMBER_AS (BASE_MEMBER_BOOL, ScnServingStepResult, "graph", step.graph, .title = "CUDA graph", .rank = 3),
  RESULT ("padded_tokens", step.padded, BASE_SHOWN ("padded tokens", 1, "%.0f"), .rank = 3),
  RESULT ("flop", step.flop, .title = "FLOP of a GPU", .rank = 3),
  RESULT ("hbm_bytes", step.hbm_B, .title = "HBM of a GPU", .rank = 3),
  RESULT ("gpus", gpus, BASE_SHOWN ("GPUs", 1, "%.0f"), .rank = 3),
  RESULT ("memory_bytes", memory.capacity_B, .title = "GPU memory", .rank = 4),
  RESULT ("weights_bytes", memory.weights_B, .title = "weights", .rank = 2),
  RESULT ("activations_bytes", memory.activations_B, .title = "activations", .rank = 4),
  RESULT ("graphs_bytes", memory.graphs_B, .title = "CUDA graphs' memory", .rank = 4),
  RESULT ("other_bytes", memory.other_B, .title = "context, NCCL", .rank = 4),
  RESULT ("kv_bytes", memory.kv_B, .title = "KV cache", .rank = 2),
  RESULT ("kv_token_bytes", memory.token_B, .title = "KV a token", .rank = 3),
  RESULT ("kv_sequence_bytes", memory.sequence_B, .title = "KV a sequence", .rank = 4),
  RESULT ("kv_blocks", memory.blocks, BASE_SHOWN ("KV blocks", 1, "%.0f"), .rank = 1),
  RESULT ("kv_tokens", memory.tokens, BASE_SHOWN ("KV tokens", 1, "%.0f"), .rank = 2),
  RESULT ("provenance", step.source, .names = base_source_names, .title = "provenance", .rank = 4),
  BASE_MEMBER_END,
};

static void
free_result (ScnServingStepResult *own)
{
  if (own->terms != NULL)
    g_array_unref (own->terms);
  g_free (own);
}

static void
price (const ScnServingStepSpec *spec, SrvStepModel *model, ScnServingStepResult *out)
{
  const guint ranks = srv_step_ranks (model), n = (guint)spec->decode.v, prompts = (guint)spec->prompts.v;
  const double window = srv_step_window (model), context = spec->context.v;
  g_autofree SrvBatch *batches = g_new0 (SrvBatch, ranks);
  g_autofree SrvChunk *chunks = g_new0 (SrvChunk, prompts + 1);
  for (guint i = 0; i < prompts; i++)
    chunks[i] = (SrvChunk){ .tokens = spec->prompt.v, .cached = spec->cached.v };
  for (guint i = 0; i < ranks; i++)
    batches[i] = (SrvBatch){ .chunks = chunks,
                             .n_chunks = prompts,
                             .n_decode = n,
                             .decode_context = n * context,
                             .decode_windowed = n * (window > 0 ? fmin (window, context) : context),
                             .n_sampled = n + prompts };
  out->terms = srv_step_terms (model, batches, &out->step);
  guint most = 0;
  for (guint part = 1; part < SRV_PART_N; part++)
    most = out->step.part_s[part] > out->step.part_s[most] ? part : most;
  out->bound_by = srv_part_names[most];
  const double tokens = (n * srv_speculative_tokens (&spec->replica.speculative) + prompts) * ranks;
  out->gpus = srv_replica_gpus (&spec->replica);
  out->tokens_per_s = tokens / out->step.time_s;
  out->tokens_per_s_gpu = out->tokens_per_s / out->gpus;
}

static gboolean
run (const Scn *scenario, ScnResult *result, GError **error)
{
  ScnServingStepSpec *spec = scenario->own;
  g_autofree char *warning = NULL;
  if (!srv_replica_settle (&spec->replica, scenario->system.engines, NULL, &warning, error))
    return FALSE;
  if (warning != NULL)
    col_run_warn (&result->run, "%s", warning);
  ScnServingStepResult *own = g_new0 (ScnServingStepResult, 1);
  result->own = own;
  if (!srv_memory_plan (&spec->llm, &scenario->system, &spec->replica, &own->memory, error))
    return FALSE;
  const double held = spec->decode.v * spec->context.v + spec->prompts.v * (spec->prompt.v + spec->cached.v);
  if (held > own->memory.tokens)
    return col_fail_at (error, spec->decode.set ? spec->decode.mark : spec->prompts.mark,
                        "the step's sequences hold %.0f tokens, and the KV cache has room for %.0f; use fewer or shorter "
                        "sequences, more GPUs a replica, or fp8 for 'kv'",
                        held, own->memory.tokens);
  const double budget = spec->replica.engine.max_num_batched_tokens.v;
  const double tokens =
      spec->decode.v * (1 + srv_speculative_drafts (&spec->replica.speculative)) + spec->prompts.v * spec->prompt.v;
  if (spec->prompts.v >= 1 && tokens > budget)
    return col_fail_at (error, spec->prompts.mark,
                        "the step has %.0f tokens, and the engine puts at most %.0f into one; use fewer 'prompts', a shorter "
                        "'prompt' with the rest 'cached', or raise 'max_num_batched_tokens' of 'engine'",
                        tokens, budget);
  g_autoptr (SrvStepModel) model = srv_step_model_new (&spec->llm, &scenario->system, &spec->replica, error);
  if (model == NULL)
    return FALSE;
  price (spec, model, own);
  return TRUE;
}

static void
clear (ScnResult *result)
{
  g_clear_pointer ((ScnServingStepResult **)&result->own, free_result);
}

const ScnKindOps scn_kind_serving_step = {
  .schema = &scn_schema_serving_step,
  .spec_size = sizeof (ScnServingStepSpec),
  .read = read_model,
  .check = check,
  .run = run,
  .clear = clear,
  .time = BASE_MEMBER (ScnServingStepResult, "time_s", step.time_s),
  .bound = BASE_MEMBER (ScnServingStepResult, "bound_by", bound_by),
  .members = members,
  .answer = "A step takes {time_s} and gives {tokens_per_s:%.0f} tokens/s; the KV cache has {kv_blocks:%.0f} blocks. Bottleneck: "
            "{bound_by}.\n",
};
