/* Time of one step: kernels that token counts decide (stage.c), the core of attention over contexts, and the host.
 *
 *     GPU = fixed (tokens, rows sampled) + attention;   step = max (GPU, host) if scheduling is asynchronous, else GPU + host
 *     host = step + sequence · B;   not captured: GPU is at least kernels x time from launch to launch
 *     decode: a captured size stands for the next one above: 1, 2, 4, 8, 16, 24 … tokens
 *     prompts: attention of each chunk of q tokens on c cached, as part of one kernel for all chunks
 *     pp stages: min (pp, sequences) micro-batches follow each other; a step lasts pp turns of the fullest stage, and their sends
 *     dp_attn ranks: tokens padded to the fullest rank's; the rank with the longest attention sets the time
 *
 * Attention of sequences that decode is a line in the sum of their contexts (models/kernels/decode.c), and so is the step.
 * Speculation: 1 + drafts tokens of a sequence are verified, and drafts cost a layer and a head each, attention included.
 * Check: test_serving_step (cases with arithmetic), law_serving_step. */
#include "serving/step.h"

#include <math.h>
#include <string.h>

#include "collective/gpu.h"
#include "step-private.h"

#define ROUNDING 1e-12  /* of a step: what sums of its parts may differ by */
#define ROUNDED  1024.0 /* tokens above which kernels are priced for the next multiple of 32 */

const char *const srv_part_names[SRV_PART_N] = { "gemm", "experts", "attention", "memory", "tp", "ep", "pp", "host", "imbalance" };

/* ---- a model ---- */

static guint
key_hash (gconstpointer of)
{
  const SrvKey *k = of;
  return k->tokens * 2654435761u + k->all * 40503u + k->sampled * 97u + k->flags;
}

static gboolean
key_equal (gconstpointer a, gconstpointer b)
{
  return memcmp (a, b, sizeof (SrvKey)) == 0;
}

/* The stage with most layers; of these the last, which has the head too. */
static void
take_stage (SrvStepModel *model)
{
  const unsigned pp = (unsigned)model->pp;
  unsigned first = 0, n = 0;
  for (unsigned stage = 0; stage < pp; stage++) {
    unsigned from = 0, its = srv_stage_layers (model->llm, pp, stage, &from);
    if (its < n)
      continue;
    first = from;
    n = its;
    model->last = stage == pp - 1;
  }
  for (unsigned layer = first; layer < first + n; layer++) {
    const gboolean moe = mdl_llm_is_moe (model->llm, layer), windowed = mdl_llm_is_windowed (model->llm, layer);
    model->n_moe += moe ? 1 : 0;
    model->n_dense += moe ? 0 : 1;
    model->n_windowed += windowed ? 1 : 0;
    model->n_full += windowed ? 0 : 1;
  }
}

/* What all attention of sequences that decode has in common. */
static MdlDecode
decode_kind (const SrvStepModel *model)
{
  const MdlLlm *llm = model->llm;
  const SrvFormat kv = (SrvFormat)model->spec.precision.kv.v;
  const gboolean latent = llm->attention.kind.v == MDL_ATTENTION_MLA;
  MdlDecode d = { .heads = llm->attention.heads.v / model->tp };
  d.kv_heads = latent ? 1 : fmax (mdl_llm_kv_heads (llm) / model->tp, 1);
  d.head_dim = latent ? llm->attention.kv_lora.v + llm->attention.rope.v : mdl_llm_qk_dim (llm);
  d.value_dim = latent ? llm->attention.kv_lora.v : mdl_llm_value_dim (llm);
  d.kv_B = srv_format_B (kv);
  d.token_B = srv_layer_kv_B (llm, kv, model->tp);
  d.dtype = model->gpu.peak_flop_per_s[MDL_PRECISION_BF16] > 0 ? MDL_PRECISION_BF16 : MDL_PRECISION_FP16;
  d.latent = latent;
  d.terse = TRUE;
  return d;
}

/* Engines are described from a compute capability on: kernels of attention, formats and times of older GPUs are others. */
static gboolean
check_capability (const SrvStepModel *model, const MdlEngineRow *row, GError **error)
{
  const double has = model->gpu.capability;
  double least = (double)INFINITY;
  for (guint i = 0; row != NULL && i < row->times.n; i++)
    least = fmin (least, BASE_LIST_AT (row->times, MdlEngineTimes, i)->capability.v);
  if (!(has > 0) || !isfinite (least) || has >= least)
    return TRUE;
  return col_fail_at (error, model->spec.engine.name.mark,
                      "%s is described for GPUs of compute capability %.1f and above, and these have %.1f; use a topology with "
                      "newer GPUs, or a `calibration` of `cluster` whose engine has `times` of `capability: %.0f`",
                      base_name (srv_engine_names, model->spec.engine.name.v), least / 10, has / 10, has);
}

/* Rows that the engine's kernel keeps for each expert (MdlEngineRow); 0 where it takes another kernel: a library has counted the
 * tokens, the format is another one, or tensor parallelism is too wide. */
static double
rows_of_expert (const SrvStepModel *model, const MdlEngineRow *row)
{
  if (row == NULL || model->groups.exchange != NULL || (row->expert_rows_tp.set && model->tp > row->expert_rows_tp.v))
    return 0;
  const gboolean fp8 = srv_moe_format (&model->spec.precision) == SRV_FORMAT_FP8;
  return fp8 && model->gpu.peak_flop_per_s[MDL_PRECISION_FP8] > 0 ? row->expert_rows.v : 0;
}

SrvStepModel *
srv_step_model_new (const MdlLlm *llm, const ColSystem *system, const SrvReplicaSpec *spec, GError **error)
{
  if (!srv_layout_check (llm, system, spec, error))
    return NULL;
  if (system->kernels == NULL || system->engines == NULL) {
    col_fail_at (error, spec->engine.name.mark, "a serving replica needs constants of kernels; use `library: nccl`");
    return NULL;
  }
  SrvStepModel *model = g_new0 (SrvStepModel, 1);
  *model = (SrvStepModel){ .llm = llm, .overlap = system->overlap, .spec = *spec, .kernels = system->kernels };
  model->known = g_hash_table_new_full (key_hash, key_equal, g_free, g_free);
  model->tp = spec->parallel.tp.v;
  model->pp = spec->parallel.pp.v;
  model->dp = spec->parallel.dp_attn.v;
  model->drafts = srv_speculative_drafts (&spec->speculative);
  model->window = llm->attention.window.set ? llm->attention.window.v : 0;
  model->load_factor = llm->moe.experts.v >= 1 ? srv_expert_load_factor (llm, spec) : 1;
  col_gpu_facts (system->clu, srv_slowest_node (system, spec), &model->gpu);
  take_stage (model);
  model->decode = decode_kind (model);
  const char *name = base_name (srv_engine_names, spec->engine.name.v);
  const MdlEngineRow *row = mdl_engine_find (system->engines, name, spec->engine.version.v, NULL);
  const MdlEngineTimes *times = row != NULL ? mdl_engine_times (row, model->gpu.capability) : NULL;
  if (times != NULL)
    model->times = *times;
  if (!check_capability (model, row, error) || !srv_groups_open (&model->groups, system, llm, spec, error) ||
      !srv_split_open (model, row, error)) {
    srv_step_model_free (model);
    return NULL;
  }
  model->expert_rows = rows_of_expert (model, row);
  if (llm->moe.experts.v >= 1)
    model->missed = srv_experts_missed (llm, spec->moe.popularity.set ? spec->moe.popularity.v : model->groups.popularity);
  return model;
}

void
srv_step_model_free (SrvStepModel *model)
{
  if (model == NULL)
    return;
  srv_groups_clear (&model->groups);
  g_hash_table_unref (model->known);
  g_free (model->missed);
  g_free (model);
}

guint
srv_step_ranks (const SrvStepModel *model)
{
  return (guint)model->dp;
}

SrvFront
srv_step_front (const SrvStepModel *model)
{
  const MdlEngineTimes *times = &model->times;
  const double interval = fmax (model->spec.engine.stream_interval.v, 1);
  const double servers = model->dp; /* as many processes as ranks of attention data parallelism: vLLM's --api-server-count */
  return (SrvFront){ .request_s = times->request.v,
                     .prompt_s = times->prompt_token.v / servers,
                     .token_s = times->token.v / servers / interval,
                     .error = times->first_error.v };
}

guint
srv_step_context (const SrvStepModel *model)
{
  const MdlLlm *llm = model->llm;
  return (guint)(llm->max_context.set ? llm->max_context.v : llm->positions.length.v);
}

double
srv_step_window (const SrvStepModel *model)
{
  return model->window;
}

/* ---- sizes ---- */

/* What all ranks run. */
typedef struct {
  SrvKey key;
  double micro;     /* micro-batches of the pipeline */
  double halves;    /* 2: layers of experts run as two micro-batches of each of these */
  double sequences; /* of the fullest scheduler */
  gboolean decode;  /* no prompts anywhere */
} Shape;

/* Tokens of the captured size that holds so many, `per` of each sequence; 0: none. vLLM counts tokens, others sequences. */
static double
captured (const SrvStepModel *model, double tokens, double per)
{
  const double unit = model->spec.engine.name.v == SRV_ENGINE_VLLM ? 1 : per, n = ceil (tokens / unit);
  const double size = n <= 2 ? n : n <= 4 ? 4 : ceil (n / 8) * 8;
  return size <= model->spec.engine.cuda_graphs.v ? size * unit : 0;
}

static Shape
shape_of (const SrvStepModel *model, const SrvBatch *batches)
{
  const guint n = srv_step_ranks (model);
  const double per = 1 + model->drafts;
  Shape shape = { .decode = TRUE };
  double most = 1, sampled = 0, sum = 0;
  for (guint i = 0; i < n; i++) {
    const SrvBatch *batch = &batches[i];
    double tokens = batch->n_decode * per;
    for (guint k = 0; k < batch->n_chunks; k++)
      tokens += batch->chunks[k].tokens;
    shape.decode = shape.decode && batch->n_chunks == 0;
    most = fmax (most, tokens);
    sum += fmax (tokens, 1);
    sampled = fmax (sampled, batch->n_sampled + model->drafts * batch->n_decode);
    shape.sequences = fmax (shape.sequences, batch->n_decode + batch->n_chunks);
  }
  shape.micro = fmax (fmin (model->pp, shape.sequences), 1);
  double tokens = ceil (most / shape.micro), graph = shape.decode ? captured (model, tokens, per) : 0;
  tokens = graph > 0 ? graph : tokens > ROUNDED ? ceil (tokens / 32) * 32 : tokens;
  const gboolean split = tokens >= fmax (model->split[shape.decode], 2);
  shape.halves = split ? 2 : 1;
  shape.key =
      (SrvKey){ .tokens = (guint32)tokens,
                .all = (guint32)(graph > 0 ? tokens * n : fmin (ceil (sum / shape.micro), tokens * n)),
                .sampled = (guint32)(shape.decode ? tokens : ceil (sampled / shape.micro)),
                .flags = (shape.decode ? SRV_KEY_DECODE : 0) | (graph > 0 ? SRV_KEY_GRAPH : 0) | (split ? SRV_KEY_SPLIT : 0) };
  return shape;
}

static void
build (const SrvStepModel *model, const SrvKey *key, GArray *terms, SrvFixed *sum)
{
  *sum = (SrvFixed){ .source = BASE_SOURCE_MEASURED };
  SrvBuild b = { .model = model, .key = *key, .sum = sum, .terms = terms, .scale = model->pp };
  srv_build_stage (&b);
}

static const SrvFixed *
fixed_of (SrvStepModel *model, const SrvKey *key)
{
  SrvFixed *known = g_hash_table_lookup (model->known, key);
  if (known != NULL)
    return known;
  known = g_new (SrvFixed, 1);
  build (model, key, NULL, known);
  g_hash_table_insert (model->known, g_memdup2 (key, sizeof *key), known);
  return known;
}

/* ---- attention ---- */

static double
attention_efficiency (const SrvStepModel *model)
{
  return model->times.attention.v > 0 ? model->times.attention.v : 1;
}

static MdlDecode
decode_of (const SrvStepModel *model, double sequences, double context, double queries)
{
  MdlDecode d = model->decode;
  d.sequences = sequences;
  d.context = context;
  d.queries = queries;
  return d;
}

/* Adds `layers` of attention over `context` tokens to the line, whose slope is of `moves` x context. */
static void
add_layers (const SrvStepModel *model, const Shape *shape, const MdlDecode *decode, double layers, gboolean moves,
            SrvDecodeLine *line)
{
  if (layers <= 0 || decode->sequences <= 0)
    return;
  MdlDecodeLine one;
  mdl_decode_line (model->kernels, &model->gpu, decode, &one);
  const double times = layers * model->pp * shape->halves / attention_efficiency (model);
  if (!moves) {
    line->base_s += times * (one.base_s + one.slope_s * decode->context);
    return;
  }
  line->base_s += times * one.base_s;
  const double parts = shape->micro * shape->halves;
  line->slope_s += times * one.slope_s / parts;
  line->from = fmax (line->from, one.from * parts);
  line->to = fmin (line->to, one.to * parts);
}

/* Attention of a rank's sequences that decode, as a line in its context. */
static void
attention_line (const SrvStepModel *model, const Shape *shape, double n, double context, double windowed, SrvDecodeLine *line)
{
  const double parts = shape->micro * shape->halves, per = n / parts, queries = 1 + model->drafts;
  *line = (SrvDecodeLine){ .to = HUGE_VAL };
  MdlDecode decode = decode_of (model, per, context / parts, queries);
  add_layers (model, shape, &decode, model->n_full, TRUE, line);
  decode.queries = 1;
  add_layers (model, shape, &decode, model->last ? model->drafts : 0, TRUE, line);
  decode.queries = queries;
  decode.context = windowed / parts;
  add_layers (model, shape, &decode, model->n_windowed, FALSE, line);
  const double all_cut = n * model->window;
  if (model->n_windowed > 0 && windowed < all_cut) /* a sequence may reach its window at the next token */
    line->from = line->to = context;
}

/* Of layers alike, over the chunks of a rank: one kernel for all, so that short chunks do not leave SMs idle. */
static double
chunks_s (const SrvStepModel *model, const SrvBatch *batch, double window, double *flop)
{
  const MdlLlm *llm = model->llm;
  const gboolean latent = llm->attention.kind.v == MDL_ATTENTION_MLA;
  const double heads = llm->attention.heads.v / model->tp, n = batch->n_chunks;
  double sum_s = 0, each_s = 0, each_flop = 0;
  for (guint i = 0; i < batch->n_chunks; i++) {
    const SrvChunk *chunk = &batch->chunks[i];
    if (i > 0 && chunk->tokens == chunk[-1].tokens && chunk->cached == chunk[-1].cached) {
      sum_s += each_s;
      *flop += each_flop;
      continue;
    }
    const MdlAttention a = { .batch = n,
                             .heads = heads,
                             .kv_heads = latent ? heads : fmax (mdl_llm_kv_heads (llm) / model->tp, 1),
                             .q_length = chunk->tokens,
                             .kv_length = chunk->cached + chunk->tokens,
                             .head_dim = mdl_llm_qk_dim (llm),
                             .value_dim = mdl_llm_value_dim (llm),
                             .window = window,
                             .causal = TRUE,
                             .dtype = model->decode.dtype,
                             .terse = TRUE };
    each_s = mdl_attention_time_s (model->kernels, &model->gpu, &a) / n;
    each_flop = mdl_attention_flop (&a) / n;
    sum_s += each_s;
    *flop += each_flop;
  }
  return sum_s;
}

typedef struct {
  double chunks_s, decode_s, flop, hbm_B;
} Core;

static Core
core_of (const SrvStepModel *model, const Shape *shape, const SrvBatch *batch)
{
  Core core = { 0 };
  if (batch->n_chunks > 0) {
    double flop = 0, cut_flop = 0;
    double layer_s = model->n_full > 0 ? chunks_s (model, batch, 0, &flop) : 0;
    double cut_s = model->n_windowed > 0 ? chunks_s (model, batch, model->window, &cut_flop) : 0;
    core.chunks_s = (model->n_full * layer_s + model->n_windowed * cut_s) * model->pp / shape->micro / attention_efficiency (model);
    core.flop = model->n_full * flop + model->n_windowed * cut_flop;
  }
  if (batch->n_decode > 0) {
    SrvDecodeLine line;
    const double windowed = model->n_windowed > 0 ? batch->decode_windowed : 0;
    attention_line (model, shape, batch->n_decode, batch->decode_context, windowed, &line);
    core.decode_s = line.base_s + line.slope_s * batch->decode_context;
    const MdlDecode one = decode_of (model, 1, 1, 1 + model->drafts);
    const double token_B = mdl_decode_token_B (&one), tokens = model->n_full * batch->decode_context + model->n_windowed * windowed;
    core.hbm_B = token_B * tokens;
    core.flop += 2 * one.heads * one.queries * (one.head_dim + one.value_dim) * tokens;
  }
  return core;
}

/* ---- the step ---- */

/* Least time that the launches of a step take which no graph holds. */
static double
launches_s (const SrvStepModel *model, const Shape *shape, const SrvFixed *fixed)
{
  if ((shape->key.flags & SRV_KEY_GRAPH) != 0)
    return 0;
  const double layers = model->n_full + model->n_windowed, pieces = 3; /* attention, and the pieces before and behind it */
  const gboolean piecewise = model->spec.engine.name.v == SRV_ENGINE_VLLM && shape->key.tokens <= model->spec.engine.cuda_graphs.v;
  return model->times.kernel.v * (piecewise ? pieces * layers * model->pp : fixed->kernels + layers * model->pp);
}

static double
host_s (const SrvStepModel *model, const Shape *shape)
{
  return model->times.step.v + model->times.sequence.v * shape->sequences;
}

static double
with_host (const SrvStepModel *model, double gpu_s, double host)
{
  return model->spec.engine.async.v ? fmax (gpu_s, host) : gpu_s + host;
}

static void
line_of (SrvStepModel *model, const Shape *shape, const SrvFixed *fixed, const SrvBatch *batch, SrvDecodeLine *line)
{
  attention_line (model, shape, batch->n_decode, batch->decode_context, batch->decode_windowed, line);
  line->base_s += fixed->time_s;
  const double least_s = launches_s (model, shape, fixed), host = host_s (model, shape);
  const double floor_s = model->spec.engine.async.v ? fmax (least_s, host) : least_s;
  const double bend = line->slope_s > 0 ? (floor_s - line->base_s) / line->slope_s : line->base_s < floor_s ? HUGE_VAL : 0;
  if (batch->decode_context < bend) { /* the host sets the pace */
    line->base_s = floor_s;
    line->slope_s = 0;
    line->to = fmin (line->to, fmax (bend, batch->decode_context));
  } else
    line->from = fmax (line->from, fmin (bend, batch->decode_context));
  if (!model->spec.engine.async.v)
    line->base_s += host;
}

static void
close_cost (const SrvStepModel *model, const Shape *shape, const SrvFixed *fixed, const Core *core, double time_s,
            SrvStepCost *cost)
{
  const BaseNum *error = &model->kernels->error, *assumed = &model->kernels->assumed_error;
  double sum_s = 0;
  cost->source = fixed->source;
  for (guint i = 0; i < SRV_PART_N; i++)
    sum_s += cost->part_s[i];
  if (time_s - sum_s > ROUNDING * time_s)
    cost->part_s[SRV_PART_HOST] += time_s - sum_s;
  cost->time_s = time_s;
  const double core_band = model->kernels->decode.share.source == BASE_SOURCE_MEASURED && error->set ? error->v : assumed->v;
  const double band_s = fixed->band_s + core_band * (core->chunks_s + core->decode_s) + 0.5 * fmax (cost->part_s[SRV_PART_HOST], 0);
  const double band = time_s > 0 ? hypot (band_s / time_s, model->times.error.v) : 0;
  cost->time_lo_s = time_s / (1 + band);
  cost->time_hi_s = time_s * (1 + band);
  cost->graph = (shape->key.flags & SRV_KEY_GRAPH) != 0;
  cost->padded = shape->key.tokens;
  cost->flop = fixed->flop * shape->micro + core->flop;
  cost->hbm_B = fixed->hbm_B * shape->micro + core->hbm_B;
}

/* The longest attention of the ranks; *mean: of all of them, by parts. */
static Core
slowest (const SrvStepModel *model, const Shape *shape, const SrvBatch *batches, double *mean_s)
{
  const guint n = srv_step_ranks (model);
  Core most = { 0 };
  *mean_s = 0;
  for (guint i = 0; i < n; i++) {
    const Core core = core_of (model, shape, &batches[i]);
    *mean_s += (core.chunks_s + core.decode_s) / n;
    if (core.chunks_s + core.decode_s >= most.chunks_s + most.decode_s)
      most = core;
  }
  return most;
}

/* What dispatch and combine add to the kernels of a step whose layers run as two micro-batches. */
static double
exposed_s (const SrvStepModel *model, const Shape *shape, const SrvFixed *fixed, const Core *core)
{
  if ((shape->key.flags & SRV_KEY_SPLIT) == 0)
    return 0;
  const double layers = (model->n_full + model->n_windowed) * model->pp;
  return srv_split_exposed_s (model, &fixed->split, (core->chunks_s + core->decode_s) / layers / shape->halves);
}

static gboolean
is_line (const SrvStepModel *model, const Shape *shape)
{
  return shape->decode && srv_step_ranks (model) == 1;
}

static double
price (SrvStepModel *model, const Shape *shape, const SrvBatch *batches, Core *core, SrvStepCost *cost)
{
  const SrvFixed *fixed = fixed_of (model, &shape->key);
  double mean_s = 0, time_s, shown_s = 0;
  if (is_line (model, shape)) {
    SrvDecodeLine line;
    line_of (model, shape, fixed, batches, &line);
    time_s = line.base_s + line.slope_s * batches->decode_context;
    if (cost == NULL)
      return time_s;
    *core = slowest (model, shape, batches, &mean_s);
  } else {
    *core = slowest (model, shape, batches, &mean_s);
    shown_s = exposed_s (model, shape, fixed, core);
    const double gpu_s = fmax (fixed->time_s + core->chunks_s + core->decode_s + shown_s, launches_s (model, shape, fixed));
    time_s = with_host (model, gpu_s, host_s (model, shape));
    if (cost == NULL)
      return time_s;
  }
  *cost = (SrvStepCost){ 0 };
  memcpy (cost->part_s, fixed->part_s, sizeof cost->part_s);
  cost->part_s[SRV_PART_EP] += shown_s;
  cost->part_s[SRV_PART_ATTENTION] += mean_s;
  cost->part_s[SRV_PART_IMBALANCE] += fmax (core->chunks_s + core->decode_s - mean_s, 0);
  close_cost (model, shape, fixed, core, time_s, cost);
  return time_s;
}

double
srv_step_time_s (SrvStepModel *model, const SrvBatch *batches, SrvStepCost *cost)
{
  const Shape shape = shape_of (model, batches);
  Core core = { 0 };
  return price (model, &shape, batches, &core, cost);
}

void
srv_step_decode_line (SrvStepModel *model, guint n_decode, double context, double windowed, SrvDecodeLine *line)
{
  const SrvBatch batch = { .n_decode = n_decode, .decode_context = context, .decode_windowed = windowed, .n_sampled = n_decode };
  g_return_if_fail (srv_step_ranks (model) == 1);
  const Shape shape = shape_of (model, &batch);
  line_of (model, &shape, fixed_of (model, &shape.key), &batch, line);
}

/* ---- taken apart ---- */

static void
clear_term (gpointer data)
{
  SrvStepTerm *term = data;
  g_free (term->shape);
}

static void
add_term (GArray *terms, SrvPart part, const char *name, double count, double time_s, char *shape, const char *bound)
{
  const SrvStepTerm term = { .part = part, .name = name, .count = count, .time_s = time_s, .shape = shape, .bound = bound };
  g_array_append_val (terms, term);
}

/* Dispatch and combine in proportion, so that they sum to what is not hidden. */
static void
show_exposed (GArray *terms, double exposed_s)
{
  double sum_s = 0;
  for (guint i = 0; i < terms->len; i++) {
    const SrvStepTerm *term = &g_array_index (terms, SrvStepTerm, i);
    sum_s += term->part == SRV_PART_EP ? term->time_s : 0;
  }
  for (guint i = 0; i < terms->len; i++) {
    SrvStepTerm *term = &g_array_index (terms, SrvStepTerm, i);
    if (term->part != SRV_PART_EP || sum_s <= 0)
      continue;
    term->time_s *= exposed_s / sum_s;
    term->name = g_str_equal (term->name, "combine") ? "combine, not hidden" : "dispatch, not hidden";
  }
}

GArray *
srv_step_terms (SrvStepModel *model, const SrvBatch *batches, SrvStepCost *cost)
{
  SrvStepCost own;
  cost = cost != NULL ? cost : &own;
  GArray *terms = g_array_new (FALSE, TRUE, sizeof (SrvStepTerm));
  g_array_set_clear_func (terms, clear_term);
  const Shape shape = shape_of (model, batches);
  Core core = { 0 };
  price (model, &shape, batches, &core, cost);
  SrvFixed fixed;
  build (model, &shape.key, terms, &fixed);
  if ((shape.key.flags & SRV_KEY_SPLIT) != 0)
    show_exposed (terms, cost->part_s[SRV_PART_EP]);
  const double layers = (model->n_full + model->n_windowed) * model->pp, all_s = core.chunks_s + core.decode_s;
  const double wait_s = cost->part_s[SRV_PART_IMBALANCE] - fixed.part_s[SRV_PART_IMBALANCE];
  const double of_mean = all_s > 0 ? cost->part_s[SRV_PART_ATTENTION] / all_s : 0;
  if (core.chunks_s > 0)
    add_term (terms, SRV_PART_ATTENTION, "attention, prompts", layers, core.chunks_s * of_mean, NULL, "math");
  if (core.decode_s > 0)
    add_term (terms, SRV_PART_ATTENTION, "attention, decode", layers, core.decode_s * of_mean, NULL, "memory");
  const double noise_s = ROUNDING * cost->time_s;
  if (wait_s > noise_s)
    add_term (terms, SRV_PART_IMBALANCE, "fullest rank of attention", layers, wait_s, NULL, "load");
  if (cost->part_s[SRV_PART_HOST] > noise_s)
    add_term (terms, SRV_PART_HOST, "host", 1, cost->part_s[SRV_PART_HOST], NULL, "host");
  return terms;
}
