/* What data-parallel ranks exchange: gradients, and the parameters that they share.
 *
 * DDP: gradients are added up over the ranks in buckets, filled in the order in which they become ready; whole tensors, a bucket
 * closes once its bytes reach the cap (PyTorch torch/csrc/distributed/c10d/reducer.cpp, compute_bucket_assignment_by_size; the
 * first one at `first` of the section `frameworks` unless a cap is given).
 * OPTIMIZER: they are reduce-scattered, each rank updates its part, and parameters are gathered: before the first forward pass of
 * what they belong to, or at the end (Megatron-LM core/distributed/distributed_data_parallel.py; buckets of max (`least`,
 * `per_rank` x ranks) parameters on the first pipeline rank, one a chunk on others). GRADIENTS: the same in every micro-batch
 * (Rajbhandari et al. 1910.02054, 5.2); where a rank has several chunks, behind the last of the micro-batches that go back through
 * one in a row, so that whole gradients of two chunks are held at most.
 * SHARDS: a layer's parameters are gathered before each of its passes, one layer ahead, copied out on the compute stream, and its
 * gradients are copied in and scattered behind it, one scatter in flight; embedding and head of a rank are one group, gathered
 * first and kept (PyTorch torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py). Gathers and scatters share a communicator.
 * REPLICAS: one process (sync_replicas.c).
 * Experts' gradients have a group of their own. Where two pipeline ranks hold copies of a stage both are of its groups. */
#include <math.h>
#include <string.h>

#include "offload-private.h"
#include "sync-private.h"

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

/* Of the turns behind which gradients leave, those that a turn of another chunk follows, and each chunk's last. */
static void
keep_ends_of_rows (TrnSyncer *sync, const GArray *turns)
{
  guint32 before = G_MAXUINT32;
  for (guint32 i = 0; i < turns->len; i++) {
    if (!sync->scatters[i])
      continue;
    if (before != G_MAXUINT32 && g_array_index (turns, MdlTurn, before).chunk == g_array_index (turns, MdlTurn, i).chunk)
      sync->scatters[before] = sync->final[before];
    before = i;
  }
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
  sync->late = g_array_new (FALSE, FALSE, sizeof (TrnDeferredSync));
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
  if (trn_model_reduces_in_rows (b->model))
    keep_ends_of_rows (sync, turns);
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

const TrnUnit *
trn_sync_unit (const TrnSyncer *sync, guint32 chunk, guint32 unit, GError **error)
{
  return trn_unit_at (sync->b, sync->lane, position_of (sync, chunk), unit, error);
}

/* Embedding and head share a group of shards. */
static gboolean
is_root (const TrnSyncer *sync, guint32 chunk, guint32 unit)
{
  const TrnStageLayers *cut = &sync->model->cut[position_of (sync, chunk)];
  guint32 front = cut->embedding ? 1 : 0;
  return unit < front || unit == front + cut->n;
}

/* ---- one collective ---- */

gboolean
trn_sync_add (TrnSyncer *sync, const TrnExchange *e, EngTask after, EngTask *out, GError **error)
{
  const TrnPriced *priced = trn_prices_coll (sync->b->prices, e->group, sync->lane, e->op, e->size_B, e->format, error);
  if (priced == NULL)
    return FALSE;
  const guint32 lane = sync->lane, other = trn_grid_partner (&sync->model->grid, lane);
  const TrnTransfer transfer = { priced, e->name, lane, other, e->role, TRN_STEP_DP, sync->beside_s, 1 };
  *out = trn_build_comm (sync->b, &transfer);
  trn_build_after_one (sync->b, *out, after);
  double host_s = sync->model->sync == TRN_SYNC_SHARDS ? sync->b->host.shards_s : sync->b->host.coll_s;
  if (host_s > 0) /* queued in the order of the program */
    trn_build_after_one (sync->b, *out, trn_build_compute (sync->b, sync->lane, TRN_STEP_HOST, host_s, NULL, e->name));
  return TRUE;
}

/* The same. Where two pipeline ranks hold copies it is one collective of both: the lower rank has it, and it begins once either has
 * come to it. */
static gboolean
add_between (TrnSyncer *sync, const TrnExchange *e, EngTask after, EngTask *out, GError **error)
{
  guint32 partner = trn_grid_partner (&sync->model->grid, sync->lane);
  if (partner == sync->lane)
    return trn_sync_add (sync, e, after, out, error);
  guint64 place = e->chunk != TRN_NO_CHUNK ? position_of (sync, e->chunk) : sync->model->n_positions + MIN (sync->lane, partner);
  gint64 key = (gint64)(place << 40 | (guint64)e->of << 32 | e->k);
  if (partner < sync->lane) {
    gpointer there = g_hash_table_lookup (sync->b->between, &key);
    g_assert (there != NULL); /* both hold the same parameters and cut them alike */
    *out = GPOINTER_TO_UINT (there) - 1u;
    trn_build_after_one (sync->b, *out, after);
    return TRUE;
  }
  if (!trn_sync_add (sync, e, after, out, error))
    return FALSE;
  g_hash_table_insert (sync->b->between, g_memdup2 (&key, sizeof key), GUINT_TO_POINTER (*out + 1u));
  return TRUE;
}

/* Gradients of `bytes` after `after`: what the policy does with them. */
static gboolean
reduce (TrnSyncer *sync, gboolean expert, double bytes, TrnBucket *bucket, EngTask after, GError **error)
{
  const TrnModel *model = sync->model;
  gboolean all = model->sync == TRN_SYNC_DDP, alone = trn_local_steps (model);
  TrnGroupKind group = expert ? TRN_GROUP_EDP : TRN_GROUP_SHARD, whole = expert || alone ? group : TRN_GROUP_DP;
  EngTask task;
  if (bytes <= 0 || ranks_of (model, whole) <= 1)
    return TRUE;
  const TrnExchange gradients = { expert ? TRN_ROLE_EDP : TRN_ROLE_DP,
                                  all ? whole : group,
                                  all ? MDL_OP_ALL_REDUCE : MDL_OP_REDUCE_SCATTER,
                                  model->reduce,
                                  bytes,
                                  all ? "all_reduce gradients" : "reduce_scatter gradients",
                                  expert ? TRN_OF_EXPERT_GRADIENTS : TRN_OF_GRADIENTS,
                                  sync->chunk,
                                  sync->n_sent[2 * sync->chunk + (expert ? 1 : 0)]++ };
  const TrnExchange shards = {
    TRN_ROLE_REPLICA,           TRN_GROUP_REPLICA, MDL_OP_ALL_REDUCE, model->reduce, bytes / ranks_of (model, group),
    .name = "all_reduce shards"
  };
  if (bucket != NULL && trn_compression (model) != TRN_COMPRESS_NONE
          ? !trn_compress_reduce (sync, bucket, &gradients, after, &task, error)
          : !add_between (sync, &gradients, after, &task, error))
    return FALSE;
  sync->scattered = task;
  if (!expert && !all && !alone && ranks_of (model, TRN_GROUP_REPLICA) > 1 && !trn_sync_add (sync, &shards, task, &task, error))
    return FALSE;
  g_array_append_val (sync->reduced, task);
  return TRUE;
}

/* ---- buckets ---- */

static gboolean
close_bucket (TrnSyncer *sync, TrnBucket *bucket, gboolean expert, EngTask after, GError **error)
{
  double bytes = bucket->bytes;
  if (bytes <= 0)
    return TRUE;
  bucket->bytes = 0;
  bucket->n++;
  return reduce (sync, expert, bytes, bucket, after, error);
}

/* Tensors of a unit go in from the last; each is one piece. */
static gboolean
fill (TrnSyncer *sync, const TrnUnit *unit, EngTask after, GError **error)
{
  double element_B = mdl_format_B (sync->model->reduce);
  for (guint i = unit->tensor->len; i-- > 0;) {
    const TrnTensor *tensor = &g_array_index (unit->tensor, TrnTensor, i);
    TrnBucket *bucket = tensor->expert ? &sync->expert : &sync->dense;
    bucket->bytes += tensor->trained * element_B;
    trn_compress_take (sync->model, tensor, &bucket->factors);
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

/* What unit `u` of a chunk needs, or a whole rank (TRN_NO_CHUNK). */
typedef struct {
  guint32 chunk, u;
  double dense_B, expert_B;
} Needs;

/* Gathers it, `after` what came before; *out: the last of it. */
static gboolean
gather (TrnSyncer *sync, const Needs *needs, const GArray *after, EngTask *out, GError **error)
{
  *out = ENG_NO_TASK;
  for (int expert = 0; expert < 2; expert++) {
    const TrnExchange e = { TRN_ROLE_DP,
                            expert ? TRN_GROUP_EDP : TRN_GROUP_SHARD,
                            MDL_OP_ALL_GATHER,
                            sync->model->gather,
                            expert ? needs->expert_B : needs->dense_B,
                            expert ? "all_gather experts" : "all_gather parameters",
                            expert ? TRN_OF_EXPERTS : TRN_OF_PARAMETERS,
                            needs->chunk,
                            needs->u };
    if (e.size_B <= 0 || ranks_of (sync->model, e.group) <= 1)
      continue;
    if (!add_between (sync, &e, ENG_NO_TASK, out, error))
      return FALSE;
    trn_build_after (sync->b, *out, after);
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
  guint32 n = trn_cut_units (sync->model, position_of (sync, turn->chunk));
  double bytes = 0;
  for (guint32 u = 0; u < n; u++) {
    const TrnUnit *unit = trn_sync_unit (sync, turn->chunk, u, error);
    if (unit == NULL)
      return FALSE;
    if (is_root (sync, turn->chunk, u))
      bytes += gather_B (sync, unit, FALSE);
  }
  EngTask task;
  if (!gather (sync, &(Needs){ turn->chunk, 0, bytes, 0 }, wait, &task, error))
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
  const TrnUnit *unit = trn_sync_unit (sync, turn->chunk, u, error);
  EngTask task;
  if (unit == NULL)
    return FALSE;
  const Needs needs = { turn->chunk, u, gather_B (sync, unit, FALSE), gather_B (sync, unit, TRUE) };
  if (!gather (sync, &needs, wait, &task, error))
    return FALSE;
  g_hash_table_insert (sync->gathered, key, GUINT_TO_POINTER (task + 1u));
  return TRUE;
}

/* What an earlier turn of the chunk gathered is freed, but for the root of this micro-batch's forward pass. */
static void
forget_gathered (TrnSyncer *sync, const MdlTurn *turn)
{
  guint32 n = trn_cut_units (sync->model, position_of (sync, turn->chunk));
  for (guint32 u = 0; u < n; u++) {
    g_hash_table_remove (sync->gathered, unit_key (turn->chunk, u));
    if (turn->kind != MDL_TURN_FORWARD && is_root (sync, turn->chunk, u))
      g_hash_table_insert (sync->gathered, unit_key (turn->chunk, u), GUINT_TO_POINTER (ENG_NO_TASK + 1u));
  }
}

/* On the compute stream, out of the buffer that was gathered into. */
static gboolean
copy_out (TrnSyncer *sync, const MdlTurn *turn, guint32 unit, GArray *wait, GError **error)
{
  EngTask task = GPOINTER_TO_UINT (g_hash_table_lookup (sync->gathered, unit_key (turn->chunk, unit))) - 1u;
  if (task == ENG_NO_TASK)
    return TRUE;
  const TrnUnit *what = trn_sync_unit (sync, turn->chunk, unit, error);
  if (what == NULL)
    return FALSE;
  if (!trn_model_fsdp_copies (sync->model)) { /* in the buffers that are gathered and scattered */
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
  guint32 n = trn_cut_units (sync->model, position_of (sync, turn->chunk)), ahead = fsdp->head.set ? (guint32)fsdp->prefetch.v : 1;
  guint32 passed = forward ? unit : n - 1 - unit;
  if (turn->kind == MDL_TURN_WEIGHT_GRADIENT || (keeps && (!forward || turn->micro_batch != sync->first[turn->chunk])))
    return TRUE; /* products of weight gradients need no parameters */
  if (passed == 0) {
    forget_gathered (sync, turn);
    sync->copied = ENG_NO_TASK;
  }
  const TrnUnit *here = trn_sync_unit (sync, turn->chunk, unit, error);
  guint n_entry = wait->len;
  EngTask before = sync->copied;
  if (here == NULL || !gather_unit (sync, turn, unit, wait, error) || !copy_out (sync, turn, unit, wait, error))
    return FALSE;
  g_autoptr (GArray) after = g_array_new (FALSE, FALSE, sizeof (EngTask));
  follow_copies (forward, wait, n_entry, before, after);
  gboolean behind = FALSE; /* another gather, whose SMs this one takes over */
  for (guint32 k = 1; k <= ahead && passed + k < n; k++) {
    guint32 next = forward ? unit + k : unit - k;
    gboolean queued = !g_hash_table_contains (sync->gathered, unit_key (turn->chunk, next));
    sync->beside_s = behind ? 0 : here->kernel_s[turn->kind];
    behind = behind || queued;
    if (!gather_unit (sync, turn, next, after, error))
      return FALSE;
  }
  return TRUE;
}

/* Behind a unit's backward pass. */
static gboolean
leave_shards (TrnSyncer *sync, const MdlTurn *turn, guint32 u, const TrnUnit *unit, GError **error)
{
  double from_B = mdl_format_B (sync->model->query.activation), to_B = mdl_format_B (sync->model->reduce);
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
  double copy_s = !trn_model_fsdp_copies (sync->model) ? 0 : trn_costs_memory_s (sync->b->costs, n * from_B, n * to_B);
  EngTask copied = trn_build_compute (sync->b, sync->lane, copy_s > 0 ? TRN_STEP_COPY : TRN_STEP_JOIN, copy_s, NULL, "copy in");
  trn_build_after_one (sync->b, copied, sync->scattered);
  return reduce (sync, FALSE, dense * to_B, NULL, copied, error) && reduce (sync, TRUE, expert * to_B, NULL, copied, error);
}

/* ---- parameters of a sharded optimizer, gathered beside the first forward passes ---- */

static gboolean
enter_optimizer (TrnSyncer *sync, const MdlTurn *turn, guint32 unit, GArray *wait, GError **error)
{
  if (turn->kind != MDL_TURN_FORWARD || turn->micro_batch != sync->first[turn->chunk] ||
      !sync->model->spec->model.overlap.parameters.v)
    return TRUE;
  const TrnUnit *what = trn_sync_unit (sync, turn->chunk, unit, error);
  EngTask task;
  if (what == NULL)
    return FALSE;
  double all = what->dense + what->expert, share = all > 0 ? (what->trained_dense + what->trained_expert) / all : 0;
  const Needs needs = { turn->chunk, unit, gather_B (sync, what, FALSE) * share, gather_B (sync, what, TRUE) * share };
  if (!gather (sync, &needs, NULL, &task, error))
    return FALSE;
  if (task != ENG_NO_TASK)
    g_array_append_val (wait, task);
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
      return trn_sync_enter_replicas (sync, turn, unit, wait, error);
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
    const TrnDeferredSync *late = &g_array_index (sync->late, TrnDeferredSync, i);
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
  const TrnUnit *unit = trn_sync_unit (sync, turn->chunk, u, error);
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
    return trn_sync_leave_replicas (sync, unit, u, last, error);
  if (sync->model->sync == TRN_SYNC_SHARDS)
    return leave_shards (sync, turn, u, unit, error);
  if (!sync->model->spec->model.overlap.gradients.v || !sync->model->spec->ddp.overlap.v)
    last = ENG_NO_TASK; /* behind all turns */
  sync->chunk = turn->chunk;
  if (last == ENG_NO_TASK) {
    const TrnDeferredSync late = { unit, turn->chunk };
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
  const TrnGroupKind kinds[] = { TRN_GROUP_MODEL, trn_local_steps (model) ? TRN_GROUP_SHARD : TRN_GROUP_DP };
  *out = ready;
  if (!trn_model_clips (model))
    return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++) {
    gboolean needed = kinds[i] == TRN_GROUP_MODEL || trn_model_parts (model);
    const TrnExchange e = { TRN_ROLE_DP, kinds[i], MDL_OP_ALL_REDUCE, MDL_FORMAT_FP32, 4, .name = "norm" };
    if (needed && trn_grid_group_size (&model->grid, kinds[i]) > 1 && !trn_sync_add (sync, &e, *out, out, error))
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
  const TrnTransfer transfer = { .priced = priced,
                                 .name = "embedding gradients",
                                 .lane = sync->lane,
                                 .other = sync->lane,
                                 .role = TRN_ROLE_DP,
                                 .kind = TRN_STEP_DP,
                                 .share = 1 };
  EngTask task = trn_build_comm (sync->b, &transfer);
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
  ready = trn_compress_finish (sync, ready);
  lane->ready = ready;
  if (!add_norm (sync, ready, &summed, error))
    return FALSE;
  gboolean part = trn_model_parts (model);
  double dense = sync->trained_dense / (part ? ranks_of (model, TRN_GROUP_SHARD) : 1);
  double expert = sync->trained_expert / (part ? ranks_of (model, TRN_GROUP_EDP) : 1);
  double held = reduces_always (model) ? dense + expert : sync->trained_dense + sync->trained_expert;
  const double away = model->spec->model.offload.optimizer.v;
  double time_s = trn_costs_optimizer_s (b->costs, sync->lane, (1 - away) * (dense + expert), held, sync->tensors);
  lane->update = trn_build_compute (b, sync->lane, TRN_STEP_OPTIMIZER, time_s, NULL, "optimizer");
  trn_build_after_one (b, lane->update, summed);
  lane->end = lane->update;
  if (away > 0 && !trn_offload_update (b, sync->lane, away * (dense + expert), summed, &lane->end, error))
    return FALSE;
  if (model->software.step_s > 0) /* the loop around the step */
    lane->end = trn_build_compute (b, sync->lane, TRN_STEP_OPTIMIZER, model->software.step_s, NULL, "between steps");
  if (model->sync == TRN_SYNC_REPLICAS)
    trn_sync_end_replicas (sync);
  gboolean gathers = model->sync == TRN_SYNC_OPTIMIZER || model->sync == TRN_SYNC_GRADIENTS;
  if (!gathers || model->spec->model.overlap.parameters.v)
    return TRUE;
  g_autoptr (GArray) after = g_array_new (FALSE, FALSE, sizeof (EngTask));
  g_array_append_val (after, lane->end);
  EngTask task;
  double element_B = mdl_format_B (model->gather);
  const Needs needs = { TRN_NO_CHUNK, 0, sync->trained_dense * element_B, sync->trained_expert * element_B };
  if (!gather (sync, &needs, after, &task, error))
    return FALSE;
  lane->end = trn_build_compute (b, sync->lane, TRN_STEP_JOIN, 0, NULL, NULL);
  trn_build_after_one (b, lane->end, task);
  return TRUE;
}
