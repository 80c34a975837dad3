/* What data-parallel ranks exchange: gradients, and the parameters that they share.
 *
 * DDP: gradients are added up over the ranks in buckets, filled in the order in which they become ready; whole tensors, a bucket
 * closes once its bytes reach the cap (PyTorch torch/csrc/distributed/c10d/reducer.cpp, compute_bucket_assignment_by_size; the
 * first one at `first` of the section `frameworks` unless a cap is given).
 * OPTIMIZER: they are reduce-scattered, each rank updates its part, and parameters are gathered: before the first forward pass of
 * what they belong to, or at the end (Megatron-LM core/distributed/distributed_data_parallel.py; buckets of max (`least`,
 * `per_rank` x ranks) parameters on the first pipeline rank, one a chunk on others). GRADIENTS: the same in every micro-batch
 * (Rajbhandari et al. 1910.02054, 5.2).
 * SHARDS: a layer's parameters are gathered before each of its passes, one layer ahead, copied out on the compute stream, and its
 * gradients are copied in and scattered behind it, one scatter in flight; embedding and head of a rank are one group, gathered
 * first and kept (PyTorch torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py). Gathers and scatters share a communicator.
 * REPLICAS: one process. Before each forward pass the host makes replicas of all modules and the first GPU broadcasts all
 * parameters; behind each backward pass, when the gradients of all replicas are complete, they are summed up there, and that GPU
 * alone updates (PyTorch torch/nn/parallel/data_parallel.py, replicate.py, _functions.py: the gradient of Broadcast is
 * ReduceAddCoalesced). The host queues kernels of one GPU after those of another.
 * Experts' gradients have a group of their own. Where two pipeline ranks hold copies of a stage both are of its groups. */
#include <math.h>
#include <string.h>

#include "build-private.h"

/* Gradients or parameters on their way into one collective. */
typedef struct {
  double bytes;
  guint32 n; /* buckets closed */
} Bucket;

typedef struct {
  const TrnUnit *unit;
  guint32 chunk;
} Late;

struct TrnSyncer {
  TrnBuild *b;
  const TrnModel *model;
  guint32 lane, chunks, n_turns;
  gboolean *final;    /* by turn: it completes the gradients of its chunk */
  gboolean *scatters; /* by turn: gradients leave after it */
  guint32 *first;     /* by chunk: micro-batch that passes it first */
  Bucket dense, expert;
  GArray *reduced; /* EngTask: what the optimizer waits for */
  GArray *late;    /* Late: reduced behind all turns */
  guint32 chunk;   /* whose gradients are on their way */
  guint32 *n_sent; /* of them, by chunk: collectives so far, experts' beside the others' */
  EngTask last_compute;
  EngTask ready;                                 /* behind the last unit that has gradients */
  double beside_s;                               /* kernel that what is added now begins beside; 0: nothing is computed then */
  double trained_dense, trained_expert, tensors; /* parameters of the rank that are trained */
  /* shards, and parameters gathered ahead */
  GHashTable *gathered; /* of (chunk, unit) in the chunk's turn under way: EngTask + 1 */
  EngTask copied;       /* the latest copy out of a buffer of this turn */
  EngTask scattered;    /* the latest scatter */
  double root_elements; /* gradients of embedding and head that wait for the end of the turn */
};

static double
ranks_of (const TrnModel *model, TrnGroupKind kind)
{
  return trn_grid_group_size (&model->grid, kind);
}

static gboolean
reduces_always (const TrnModel *model)
{
  return model->sync == TRN_SYNC_GRADIENTS || model->sync == TRN_SYNC_SHARDS || model->sync == TRN_SYNC_REPLICAS;
}

TrnSyncer *
trn_sync_new (TrnBuild *b, guint32 lane, const GArray *turns)
{
  TrnSyncer *sync = g_new0 (TrnSyncer, 1);
  sync->b = b;
  sync->model = b->model;
  sync->lane = lane;
  sync->chunks = mdl_schedule_chunks (&b->model->pipe);
  sync->final = g_new0 (gboolean, turns->len);
  sync->scatters = g_new0 (gboolean, turns->len);
  sync->n_turns = turns->len;
  sync->reduced = g_array_new (FALSE, FALSE, sizeof (EngTask));
  sync->late = g_array_new (FALSE, FALSE, sizeof (Late));
  sync->n_sent = g_new0 (guint32, 2 * sync->chunks);
  sync->gathered = g_hash_table_new (NULL, NULL);
  sync->copied = sync->scattered = sync->last_compute = sync->ready = ENG_NO_TASK;
  g_autofree guint32 *last = g_new (guint32, sync->chunks);
  sync->first = g_new (guint32, sync->chunks);
  for (guint32 c = 0; c < sync->chunks; c++)
    sync->first[c] = G_MAXUINT32;
  for (guint32 i = 0; i < turns->len; i++) {
    const MdlTurn *turn = &g_array_index (turns, MdlTurn, i);
    if (sync->first[turn->chunk] == G_MAXUINT32)
      sync->first[turn->chunk] = turn->micro_batch;
    if (turn->kind != MDL_TURN_BACKWARD && turn->kind != MDL_TURN_WEIGHT_GRADIENT)
      continue;
    last[turn->chunk] = i;
    sync->scatters[i] = reduces_always (b->model);
  }
  for (guint32 c = 0; c < sync->chunks; c++)
    sync->final[last[c]] = sync->scatters[last[c]] = TRUE;
  return sync;
}

void
trn_sync_free (TrnSyncer *sync)
{
  g_free (sync->final);
  g_free (sync->scatters);
  g_free (sync->first);
  g_free (sync->n_sent);
  g_array_unref (sync->reduced);
  g_array_unref (sync->late);
  g_hash_table_unref (sync->gathered);
  g_free (sync);
}

static guint32
position_of (const TrnSyncer *sync, guint32 chunk)
{
  return mdl_schedule_position (&sync->model->pipe, (MdlPlace){ sync->lane, chunk });
}

static const TrnUnit *
unit_at (const TrnSyncer *sync, guint32 chunk, guint32 unit, GError **error)
{
  return trn_unit_at (sync->b, sync->lane, position_of (sync, chunk), unit, error);
}

/* Embedding and head share a group of shards. */
static gboolean
is_root (const TrnSyncer *sync, guint32 chunk, guint32 unit)
{
  const TrnCut *cut = &sync->model->cut[position_of (sync, chunk)];
  guint32 front = cut->embedding ? 1 : 0;
  return unit < front || unit == front + cut->n;
}

/* ---- one collective ---- */

static gboolean
add_coll (TrnSyncer *sync, TrnRole role, TrnGroupKind group, MdlOp op, double size_B, MdlFormat format, const char *name,
          EngTask after, EngTask *out, GError **error)
{
  const TrnPriced *priced = trn_prices_coll (sync->b->prices, group, sync->lane, op, size_B, format, error);
  if (priced == NULL)
    return FALSE;
  *out = trn_build_comm (sync->b, sync->lane, trn_grid_partner (&sync->model->grid, sync->lane), role, TRN_STEP_DP, priced,
                         sync->beside_s, 1, name);
  trn_build_after_one (sync->b, *out, after);
  double host_s = sync->model->sync == TRN_SYNC_SHARDS ? sync->b->host.shards_s : sync->b->host.coll_s;
  if (host_s > 0) /* queued in the order of the program */
    trn_build_after_one (sync->b, *out, trn_build_compute (sync->b, sync->lane, TRN_STEP_HOST, host_s, NULL, name));
  return TRUE;
}

/* What a collective between the two pipeline ranks that hold copies of a position is of. */
typedef enum { OF_GRADIENTS, OF_EXPERT_GRADIENTS, OF_PARAMETERS, OF_EXPERTS } Of;

/* The same, of a position of the chain, or of a whole rank (chunk NO_CHUNK); `k` tells those of one position apart. Where two
 * pipeline ranks hold copies it is one collective of both: the lower rank has it, and it begins once either has come to it. */
#define NO_CHUNK G_MAXUINT32
static gboolean
add_between (TrnSyncer *sync, TrnRole role, TrnGroupKind group, MdlOp op, double size_B, MdlFormat format, const char *name, Of of,
             guint32 chunk, guint32 k, EngTask after, EngTask *out, GError **error)
{
  guint32 partner = trn_grid_partner (&sync->model->grid, sync->lane);
  if (partner == sync->lane)
    return add_coll (sync, role, group, op, size_B, format, name, after, out, error);
  guint64 place = chunk != NO_CHUNK ? position_of (sync, chunk) : sync->model->n_positions + MIN (sync->lane, partner);
  gint64 key = (gint64)(place << 40 | (guint64)of << 32 | k);
  if (partner < sync->lane) {
    gpointer there = g_hash_table_lookup (sync->b->between, &key);
    g_assert (there != NULL); /* both hold the same parameters and cut them alike */
    *out = GPOINTER_TO_UINT (there) - 1u;
    trn_build_after_one (sync->b, *out, after);
    return TRUE;
  }
  if (!add_coll (sync, role, group, op, size_B, format, name, after, out, error))
    return FALSE;
  g_hash_table_insert (sync->b->between, g_memdup2 (&key, sizeof key), GUINT_TO_POINTER (*out + 1u));
  return TRUE;
}

/* Gradients of `bytes` after `after`: what the policy does with them. */
static gboolean
reduce (TrnSyncer *sync, gboolean expert, double bytes, EngTask after, GError **error)
{
  const TrnModel *model = sync->model;
  TrnGroupKind group = expert ? TRN_GROUP_EDP : TRN_GROUP_SHARD, whole = expert ? TRN_GROUP_EDP : TRN_GROUP_DP;
  TrnRole role = expert ? TRN_ROLE_EDP : TRN_ROLE_DP;
  EngTask task;
  if (bytes <= 0 || ranks_of (model, whole) <= 1)
    return TRUE;
  Of of = expert ? OF_EXPERT_GRADIENTS : OF_GRADIENTS;
  guint32 k = sync->n_sent[2 * sync->chunk + (expert ? 1 : 0)]++;
  if (model->sync == TRN_SYNC_DDP) {
    if (!add_between (sync, role, whole, MDL_OP_ALL_REDUCE, bytes, model->reduce, "all_reduce gradients", of, sync->chunk, k, after,
                      &task, error))
      return FALSE;
  } else if (!add_between (sync, role, group, MDL_OP_REDUCE_SCATTER, bytes, model->reduce, "reduce_scatter gradients", of,
                           sync->chunk, k, after, &task, error))
    return FALSE;
  sync->scattered = task;
  if (!expert && model->sync != TRN_SYNC_DDP && ranks_of (model, TRN_GROUP_REPLICA) > 1 &&
      !add_coll (sync, TRN_ROLE_REPLICA, TRN_GROUP_REPLICA, MDL_OP_ALL_REDUCE, bytes / ranks_of (model, group), model->reduce,
                 "all_reduce shards", task, &task, error))
    return FALSE;
  g_array_append_val (sync->reduced, task);
  return TRUE;
}

/* ---- buckets ---- */

static gboolean
close_bucket (TrnSyncer *sync, Bucket *bucket, gboolean expert, EngTask after, GError **error)
{
  double bytes = bucket->bytes;
  if (bytes <= 0)
    return TRUE;
  bucket->bytes = 0;
  bucket->n++;
  return reduce (sync, expert, bytes, after, error);
}

/* Tensors of a unit go in from the last; each is one piece. */
static gboolean
fill (TrnSyncer *sync, const TrnUnit *unit, EngTask after, GError **error)
{
  double element_B = mdl_format_B (sync->model->reduce);
  for (guint i = unit->tensor->len; i-- > 0;) {
    const TrnTensor *tensor = &g_array_index (unit->tensor, TrnTensor, i);
    Bucket *bucket = tensor->expert ? &sync->expert : &sync->dense;
    bucket->bytes += tensor->trained * element_B;
    if (bucket->bytes >= trn_model_bucket_B (sync->model, sync->lane, bucket->n == 0, element_B) &&
        !close_bucket (sync, bucket, tensor->expert, after, error))
      return FALSE;
  }
  return TRUE;
}

/* ---- shards ---- */

static double
gather_B (const TrnSyncer *sync, const TrnUnit *unit, gboolean expert)
{
  return (expert ? unit->expert : unit->dense) * mdl_format_B (sync->model->gather);
}

/* Gathers what unit `u` of a chunk needs, or a whole rank (NO_CHUNK), `after` what came before; *out: the last of it, and on the
 * compute stream the copy out of the buffer. */
static gboolean
gather (TrnSyncer *sync, guint32 chunk, guint32 u, double dense_B, double expert_B, const GArray *after, EngTask *out,
        GError **error)
{
  EngTask task = ENG_NO_TASK;
  *out = ENG_NO_TASK;
  if (dense_B > 0 && ranks_of (sync->model, TRN_GROUP_SHARD) > 1) {
    if (!add_between (sync, TRN_ROLE_DP, TRN_GROUP_SHARD, MDL_OP_ALL_GATHER, dense_B, sync->model->gather, "all_gather parameters",
                      OF_PARAMETERS, chunk, u, ENG_NO_TASK, &task, error))
      return FALSE;
    trn_build_after (sync->b, task, after);
    *out = task;
  }
  if (expert_B > 0 && ranks_of (sync->model, TRN_GROUP_EDP) > 1) {
    if (!add_between (sync, TRN_ROLE_DP, TRN_GROUP_EDP, MDL_OP_ALL_GATHER, expert_B, sync->model->gather, "all_gather experts",
                      OF_EXPERTS, chunk, u, ENG_NO_TASK, &task, error))
      return FALSE;
    trn_build_after (sync->b, task, after);
    *out = task;
  }
  return TRUE;
}

static gpointer
unit_key (guint32 chunk, guint32 unit)
{
  return GUINT_TO_POINTER (chunk * 100000u + unit + 1u);
}

/* Units of the root group of a chunk, together. */
static gboolean
gather_root (TrnSyncer *sync, const MdlTurn *turn, const GArray *wait, GError **error)
{
  guint32 n = trn_units_of (sync->model, position_of (sync, turn->chunk));
  double bytes = 0;
  for (guint32 u = 0; u < n; u++) {
    const TrnUnit *unit = unit_at (sync, turn->chunk, u, error);
    if (unit == NULL)
      return FALSE;
    if (is_root (sync, turn->chunk, u))
      bytes += gather_B (sync, unit, FALSE);
  }
  EngTask task;
  if (!gather (sync, turn->chunk, 0, bytes, 0, wait, &task, error))
    return FALSE;
  for (guint32 u = 0; u < n; u++)
    if (is_root (sync, turn->chunk, u))
      g_hash_table_replace (sync->gathered, unit_key (turn->chunk, u), GUINT_TO_POINTER (task + 1u));
  return TRUE;
}

static gboolean
gather_unit (TrnSyncer *sync, const MdlTurn *turn, guint32 u, const GArray *wait, GError **error)
{
  gpointer key = unit_key (turn->chunk, u);
  if (g_hash_table_contains (sync->gathered, key))
    return TRUE;
  if (is_root (sync, turn->chunk, u))
    return gather_root (sync, turn, wait, error);
  const TrnUnit *unit = unit_at (sync, turn->chunk, u, error);
  EngTask task;
  if (unit == NULL || !gather (sync, turn->chunk, u, gather_B (sync, unit, FALSE), gather_B (sync, unit, TRUE), wait, &task, error))
    return FALSE;
  g_hash_table_insert (sync->gathered, key, GUINT_TO_POINTER (task + 1u));
  return TRUE;
}

/* What an earlier turn of the chunk gathered is freed, but for the root of this micro-batch's forward pass. */
static void
forget_gathered (TrnSyncer *sync, const MdlTurn *turn)
{
  guint32 n = trn_units_of (sync->model, position_of (sync, turn->chunk));
  for (guint32 u = 0; u < n; u++) {
    g_hash_table_remove (sync->gathered, unit_key (turn->chunk, u));
    if (turn->kind != MDL_TURN_FORWARD && is_root (sync, turn->chunk, u))
      g_hash_table_insert (sync->gathered, unit_key (turn->chunk, u), GUINT_TO_POINTER (ENG_NO_TASK + 1u));
  }
}

/* Parameters and gradients of shards lie elsewhere than in what is gathered and scattered. */
static gboolean
copies (const TrnSyncer *sync)
{
  const TrnFsdpSpec *fsdp = &sync->model->spec->model.fsdp;
  return !fsdp->head.set || fsdp->copies.v;
}

/* On the compute stream, out of the buffer that was gathered into. */
static gboolean
copy_out (TrnSyncer *sync, const MdlTurn *turn, guint32 unit, GArray *wait, GError **error)
{
  EngTask task = GPOINTER_TO_UINT (g_hash_table_lookup (sync->gathered, unit_key (turn->chunk, unit))) - 1u;
  if (task == ENG_NO_TASK)
    return TRUE;
  const TrnUnit *what = unit_at (sync, turn->chunk, unit, error);
  if (what == NULL)
    return FALSE;
  if (!copies (sync)) {
    g_array_append_val (wait, task);
    return TRUE;
  }
  double bytes = gather_B (sync, what, FALSE) + gather_B (sync, what, TRUE);
  EngTask copied =
      trn_build_compute (sync->b, sync->lane, TRN_STEP_COPY, trn_costs_memory_s (sync->b->costs, bytes, bytes), NULL, "copy out");
  trn_build_after_one (sync->b, copied, task);
  sync->copied = copied;
  g_array_append_val (wait, copied);
  return TRUE;
}

/* What the gathers ahead follow: forward the copy of the unit before this one out of its buffer, so that the next gather runs
 * beside this copy; backward this one (_fsdp_param_group.py, wait_for_unshard). */
static void
follow_copies (gboolean forward, const GArray *wait, guint n_entry, EngTask before, GArray *after)
{
  if (!forward)
    g_array_append_vals (after, wait->data, wait->len);
  else if (before != ENG_NO_TASK)
    g_array_append_val (after, before);
  else
    g_array_append_vals (after, wait->data, n_entry);
}

/* Before a unit's pass: its own parameters; then those of the next ones. */
static gboolean
enter_shards (TrnSyncer *sync, const MdlTurn *turn, guint32 unit, GArray *wait, GError **error)
{
  const TrnFsdpSpec *fsdp = &sync->model->spec->model.fsdp;
  gboolean forward = turn->kind == MDL_TURN_FORWARD, keeps = fsdp->head.set && !fsdp->reshard.v;
  guint32 n = trn_units_of (sync->model, position_of (sync, turn->chunk)), ahead = fsdp->head.set ? (guint32)fsdp->prefetch.v : 1;
  guint32 passed = forward ? unit : n - 1 - unit;
  if (turn->kind == MDL_TURN_WEIGHT_GRADIENT || (keeps && (!forward || turn->micro_batch != sync->first[turn->chunk])))
    return TRUE; /* products of weight gradients need no parameters */
  if (passed == 0) {
    forget_gathered (sync, turn);
    sync->copied = ENG_NO_TASK;
  }
  const TrnUnit *here = unit_at (sync, turn->chunk, unit, error);
  guint n_entry = wait->len;
  EngTask before = sync->copied;
  if (here == NULL || !gather_unit (sync, turn, unit, wait, error) || !copy_out (sync, turn, unit, wait, error))
    return FALSE;
  g_autoptr (GArray) after = g_array_new (FALSE, FALSE, sizeof (EngTask));
  follow_copies (forward, wait, n_entry, before, after);
  for (guint32 k = 1; k <= ahead && passed + k < n; k++) {
    sync->beside_s = here->kernel_s[turn->kind];
    if (!gather_unit (sync, turn, forward ? unit + k : unit - k, after, error))
      return FALSE;
  }
  return TRUE;
}

/* Behind a unit's backward pass. */
static gboolean
leave_shards (TrnSyncer *sync, const MdlTurn *turn, guint32 u, const TrnUnit *unit, GError **error)
{
  double from_B = mdl_format_B (sync->model->ask.activation), to_B = mdl_format_B (sync->model->reduce);
  double dense = unit->trained_dense, expert = unit->trained_expert;
  if (is_root (sync, turn->chunk, u)) {
    sync->root_elements += dense;
    dense = expert = 0;
  }
  if (u == 0) {
    dense += sync->root_elements;
    sync->root_elements = 0;
  }
  if (dense + expert <= 0)
    return TRUE;
  double n = dense + expert;
  double copy_s = !copies (sync) ? 0 : trn_costs_memory_s (sync->b->costs, n * from_B, n * to_B);
  EngTask copied = trn_build_compute (sync->b, sync->lane, copy_s > 0 ? TRN_STEP_COPY : TRN_STEP_JOIN, copy_s, NULL, "copy in");
  trn_build_after_one (sync->b, copied, sync->scattered);
  return reduce (sync, FALSE, dense * to_B, copied, error) && reduce (sync, TRUE, expert * to_B, copied, error);
}

/* ---- parameters of a sharded optimizer, gathered beside the first forward passes ---- */

static gboolean
enter_optimizer (TrnSyncer *sync, const MdlTurn *turn, guint32 unit, GArray *wait, GError **error)
{
  if (turn->kind != MDL_TURN_FORWARD || turn->micro_batch != sync->first[turn->chunk] ||
      !sync->model->spec->model.overlap.parameters.v)
    return TRUE;
  const TrnUnit *what = unit_at (sync, turn->chunk, unit, error);
  EngTask task;
  double share = what != NULL && what->dense + what->expert > 0
                     ? (what->trained_dense + what->trained_expert) / (what->dense + what->expert)
                     : 0;
  if (what == NULL || !gather (sync, turn->chunk, unit, gather_B (sync, what, FALSE) * share, gather_B (sync, what, TRUE) * share,
                               NULL, &task, error))
    return FALSE;
  if (task != ENG_NO_TASK)
    g_array_append_val (wait, task);
  return TRUE;
}

/* ---- replicas of one process ---- */

static gboolean
enter_replicas (TrnSyncer *sync, const MdlTurn *turn, guint32 unit, GArray *wait, GError **error)
{
  TrnBuild *b = sync->b;
  EngTask task;
  if (turn->kind != MDL_TURN_FORWARD || unit > 0)
    return TRUE;
  sync->beside_s = 0;
  EngTask entry = g_array_index (wait, EngTask, 0);
  if (turn->micro_batch != sync->first[turn->chunk]) { /* the first one's are made at the end of the step before */
    EngTask made = trn_build_compute (b, sync->lane, TRN_STEP_HOST, b->host.replicas_s, NULL, "replicate");
    g_array_append_val (wait, made);
  }
  for (guint32 u = 0; u < trn_units_of (sync->model, position_of (sync, turn->chunk)); u++) {
    const TrnUnit *what = unit_at (sync, turn->chunk, u, error);
    if (what == NULL || !add_coll (sync, TRN_ROLE_DP, TRN_GROUP_DP, MDL_OP_BROADCAST,
                                   (what->dense + what->expert) * mdl_format_B (sync->model->parameters), sync->model->parameters,
                                   "broadcast parameters", entry, &task, error))
      return FALSE;
    g_array_append_val (wait, task);
  }
  return TRUE;
}

/* The host makes the next step's while the GPU ends this one: that step begins once both are ready. */
static void
end_replicas (TrnSyncer *sync)
{
  TrnBuild *b = sync->b;
  TrnLane *lane = &b->lane[sync->lane];
  EngTask made = trn_build_compute (b, sync->lane, TRN_STEP_HOST, b->host.replicas_s, NULL, "replicate");
  EngTask end = trn_build_compute (b, sync->lane, TRN_STEP_JOIN, 0, NULL, NULL);
  trn_build_after_one (b, end, made);
  trn_build_after_one (b, end, lane->end);
  lane->end = end;
}

static gboolean
leave_replicas (TrnSyncer *sync, const TrnUnit *unit, guint32 u, EngTask last, GError **error)
{
  const Late late = { unit, 0 };
  g_array_append_val (sync->late, late);
  for (guint i = 0; u == 0 && i < sync->late->len; i++) {
    const TrnUnit *one = g_array_index (sync->late, Late, i).unit;
    EngTask task;
    if (!add_coll (sync, TRN_ROLE_DP, TRN_GROUP_DP, MDL_OP_REDUCE,
                   (one->trained_dense + one->trained_expert) * mdl_format_B (sync->model->reduce), sync->model->reduce,
                   "reduce gradients", last, &task, error))
      return FALSE;
    g_array_append_val (sync->reduced, task);
  }
  if (u == 0)
    g_array_set_size (sync->late, 0);
  return TRUE;
}

/* ---- hooks ---- */

gboolean
trn_sync_enter (TrnSyncer *sync, const MdlTurn *turn, guint32 unit, GArray *wait, GError **error)
{
  switch (sync->model->sync) {
    case TRN_SYNC_SHARDS:
      return enter_shards (sync, turn, unit, wait, error);
    case TRN_SYNC_OPTIMIZER:
    case TRN_SYNC_GRADIENTS:
      return enter_optimizer (sync, turn, unit, wait, error);
    case TRN_SYNC_REPLICAS:
      return enter_replicas (sync, turn, unit, wait, error);
    case TRN_SYNC_NONE:
    case TRN_SYNC_DDP:
    default:
      return TRUE;
  }
}

gboolean
trn_sync_sends (const TrnSyncer *sync, guint32 turn_index)
{
  return sync->scatters[turn_index] && sync->model->sync != TRN_SYNC_NONE;
}

static gboolean
close_buckets (TrnSyncer *sync, EngTask after, GError **error)
{
  return close_bucket (sync, &sync->dense, FALSE, after, error) && close_bucket (sync, &sync->expert, TRUE, after, error);
}

/* Gradients that wait for the end of a turn. */
static gboolean
reduce_late (TrnSyncer *sync, GError **error)
{
  for (guint i = 0; i < sync->late->len; i++) {
    const Late *late = &g_array_index (sync->late, Late, i);
    if (sync->model->grid.copies > 1 && late->chunk != sync->chunk && /* each position has its own */
        !close_buckets (sync, sync->last_compute, error))
      return FALSE;
    sync->chunk = late->chunk;
    if (!fill (sync, late->unit, sync->last_compute, error))
      return FALSE;
  }
  g_array_set_size (sync->late, 0);
  return close_buckets (sync, sync->last_compute, error);
}

static void
count (TrnSyncer *sync, const TrnUnit *unit)
{
  sync->trained_dense += unit->trained_dense;
  sync->trained_expert += unit->trained_expert;
  sync->tensors += unit->tensor->len;
}

gboolean
trn_sync_leave (TrnSyncer *sync, const MdlTurn *turn, guint32 turn_index, guint32 u, EngTask last, GError **error)
{
  const TrnUnit *unit = unit_at (sync, turn->chunk, u, error);
  gboolean given = sync->model->layers != NULL;
  sync->last_compute = last;
  if (unit == NULL)
    return FALSE;
  if (sync->final[turn_index])
    count (sync, unit);
  if (!trn_sync_sends (sync, turn_index))
    return TRUE;
  sync->beside_s = u == 0 && turn_index + 1 == sync->n_turns ? 0 : unit->kernel_s[turn->kind];
  if (sync->model->sync == TRN_SYNC_REPLICAS)
    return leave_replicas (sync, unit, u, last, error);
  if (sync->model->sync == TRN_SYNC_SHARDS)
    return leave_shards (sync, turn, u, unit, error);
  if (!sync->model->spec->model.overlap.gradients.v || !sync->model->spec->ddp.overlap.v)
    last = ENG_NO_TASK; /* behind all turns */
  sync->chunk = turn->chunk;
  if (last == ENG_NO_TASK) {
    const Late late = { unit, turn->chunk };
    g_array_append_val (sync->late, late);
    return u > 0 || !given || reduce_late (sync, error); /* layers with given times: behind the chunk, not the step */
  }
  if (!fill (sync, unit, last, error))
    return FALSE;
  if (unit->trained_dense > 0)
    sync->ready = last;
  return u > 0 || close_buckets (sync, given ? sync->ready : last, error);
}

/* ---- the end of the step ---- */

/* The sum of squares over all ranks that hold a part of the gradients: 4 B. */
static gboolean
add_norm (TrnSyncer *sync, EngTask ready, EngTask *out, GError **error)
{
  const TrnModel *model = sync->model;
  static const TrnGroupKind kinds[] = { TRN_GROUP_MODEL, TRN_GROUP_DP };
  *out = ready;
  if (!trn_model_clips (model))
    return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++) {
    gboolean needed = kinds[i] == TRN_GROUP_MODEL || trn_model_parts (model);
    if (needed && trn_grid_group_size (&model->grid, kinds[i]) > 1 &&
        !add_coll (sync, TRN_ROLE_DP, kinds[i], MDL_OP_ALL_REDUCE, 4, MDL_FORMAT_FP32, "norm", *out, out, error))
      return FALSE;
  }
  return TRUE;
}

/* Input embedding and output head that share a table, or multi-token prediction with the embedding, lie on different ranks: their
 * gradients are added. */
static gboolean
add_tied (TrnSyncer *sync, GError **error)
{
  const TrnModel *model = sync->model;
  guint32 last = model->pipe.p - 1;
  gboolean input = trn_model_holds (model, sync->lane, 0), output = trn_model_holds (model, sync->lane, model->n_positions - 1);
  if ((!model->llm.tied.v && model->mtp == 0) || input == output) /* neither table, or one for both */
    return TRUE;
  const TrnUnit *table = trn_costs_unit (sync->b->costs, sync->lane, TRN_UNIT_EMBEDDING, 0, error);
  if (table == NULL)
    return FALSE;
  guint32 other = sync->lane == 0 ? last : 0;
  const TrnPriced *priced =
      trn_prices_send (sync->b->prices, sync->lane, other, table->trained_dense * mdl_format_B (model->reduce), error);
  if (priced == NULL)
    return FALSE;
  EngTask task = trn_build_comm (sync->b, sync->lane, sync->lane, TRN_ROLE_DP, TRN_STEP_DP, priced, 0, 1, "embedding gradients");
  trn_build_after_one (sync->b, task, sync->last_compute);
  g_array_append_val (sync->reduced, task);
  return TRUE;
}

gboolean
trn_sync_finish (TrnSyncer *sync, GError **error)
{
  TrnBuild *b = sync->b;
  const TrnModel *model = sync->model;
  TrnLane *lane = &b->lane[sync->lane];
  sync->beside_s = 0;
  if (!reduce_late (sync, error) || !add_tied (sync, error))
    return FALSE;
  EngTask ready = trn_build_compute (b, sync->lane, TRN_STEP_JOIN, 0, NULL, NULL), summed;
  trn_build_after (b, ready, sync->reduced);
  lane->ready = ready;
  if (!add_norm (sync, ready, &summed, error))
    return FALSE;
  gboolean part = trn_model_parts (model);
  double dense = sync->trained_dense / (part ? ranks_of (model, TRN_GROUP_SHARD) : 1);
  double expert = sync->trained_expert / (part ? ranks_of (model, TRN_GROUP_EDP) : 1);
  double held = reduces_always (model) ? dense + expert : sync->trained_dense + sync->trained_expert;
  double time_s = trn_costs_optimizer_s (b->costs, sync->lane, dense + expert, held, sync->tensors);
  lane->update = trn_build_compute (b, sync->lane, TRN_STEP_OPTIMIZER, time_s, NULL, "optimizer");
  trn_build_after_one (b, lane->update, summed);
  lane->end = lane->update;
  if (model->software.step_s > 0) /* the loop around the step */
    lane->end = trn_build_compute (b, sync->lane, TRN_STEP_OPTIMIZER, model->software.step_s, NULL, "between steps");
  if (model->sync == TRN_SYNC_REPLICAS)
    end_replicas (sync);
  gboolean gathers = model->sync == TRN_SYNC_OPTIMIZER || model->sync == TRN_SYNC_GRADIENTS;
  if (!gathers || model->spec->model.overlap.parameters.v)
    return TRUE;
  g_autoptr (GArray) after = g_array_new (FALSE, FALSE, sizeof (EngTask));
  g_array_append_val (after, lane->update);
  EngTask task;
  double element_B = mdl_format_B (model->gather);
  if (!gather (sync, NO_CHUNK, 0, sync->trained_dense * element_B, sync->trained_expert * element_B, after, &task, error))
    return FALSE;
  lane->end = trn_build_compute (b, sync->lane, TRN_STEP_JOIN, 0, NULL, NULL);
  trn_build_after_one (b, lane->end, task);
  return TRUE;
}
