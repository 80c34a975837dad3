/* Gradients made smaller before DDP's all-reduce, as PyTorch's communication hooks do it for each bucket.
 *
 *     fp16, bf16  a pass that casts, all-reduce of 2 B an element, a pass that casts back
 *     int8        a pass for the largest value, one that scales and casts; all-gather of 1 B an element of each rank and their sum
 *                 (NCCL adds no int8 that has scales): n times the bytes of a rank; 4 B of a scale for 512
 *     powersgd    a matrix of a x b goes as P (a x r) and Q (b x r) if (a + b) r 2 < a b (min_compression_rate 2), others as they
 *     are:
 *                 three all-reduces, of the rest, of P, of Q, one after the other. Products M Q, M' P, P Q' read or write the
 *                 matrix once each, the error of the last step is added and the new one stored (use_error_feedback): in all 8
 *                 passes that read and 5 that write the bucket.
 *
 * What is computed before stands on the compute stream where the bucket is ready; the rest of all buckets behind the last
 * collective. Products of r columns are bound by memory: passes over the bucket are all that is charged for them; the
 * orthogonalisation of P (a r^2) is left out.
 * Source: torch/distributed/algorithms/ddp_comm_hooks/default_hooks.py (fp16_compress_hook, bf16_compress_hook),
 * quantization_hooks.py (quantization_perchannel_hook: all_gather), powerSGD_hook.py (powerSGD_hook, _should_compress); Vogels et
 * al. 1905.13727, algorithm 1.
 * Valid: DDP alone. PowerSGD's first steps, which go uncompressed (start_powerSGD_iter), are left out, as is the loss in quality.
 * Check: test_training_methods. */
#include <math.h>

#include "sync-private.h"

void
trn_compress_take (const TrnModel *model, const TrnTensor *tensor, TrnBucket *bucket)
{
  if (trn_compression (model) != TRN_COMPRESS_POWERSGD || tensor->columns <= 1)
    return;
  const double rows = tensor->trained / tensor->columns, r = model->spec->model.compress.rank.v;
  if ((rows + tensor->columns) * r * 2 >= rows * tensor->columns)
    return;
  bucket->matrices += tensor->trained;
  bucket->left += rows * r;
  bucket->right += tensor->columns * r;
}

/* ---- what is computed ---- */

/* Passes over `bytes`, so many that read and that write, beside what else the compute stream has. */
static EngTask
passes (TrnSyncer *sync, double bytes, double read, double written, const char *name, EngTask after)
{
  const double time_s = trn_costs_memory_s (sync->b->costs, read * bytes, written * bytes);
  const EngTask task = trn_build_compute (sync->b, sync->lane, TRN_STEP_COPY, time_s, NULL, name);
  trn_build_after_one (sync->b, task, after);
  return task;
}

/* Behind a collective: done for all buckets at the end, where the compute stream comes to wait for them. */
static EngTask
behind (TrnSyncer *sync, double bytes, double read, double written, EngTask after)
{
  sync->unpack_B[0] += read * bytes;
  sync->unpack_B[1] += written * bytes;
  return after;
}

static gboolean
cast_reduce (TrnSyncer *sync, const TrnExchange *gradients, EngTask after, EngTask *out, GError **error)
{
  const MdlFormat format = trn_compression (sync->model) == TRN_COMPRESS_FP16 ? MDL_FORMAT_FP16 : MDL_FORMAT_BF16;
  const double share = mdl_format_B (format) / mdl_format_B (sync->model->reduce);
  TrnExchange narrow = *gradients;
  narrow.format = format;
  narrow.size_B *= share;
  const EngTask ready = passes (sync, gradients->size_B, 1, share, "compress", after);
  if (!trn_sync_add (sync, &narrow, ready, out, error))
    return FALSE;
  *out = behind (sync, gradients->size_B, share, 1, *out);
  return TRUE;
}

static gboolean
gather_reduce (TrnSyncer *sync, const TrnExchange *gradients, EngTask after, EngTask *out, GError **error)
{
  const double ranks = trn_grid_group_size (&sync->model->grid, gradients->group), scales = 4.0 / 512;
  const double elements = gradients->size_B / mdl_format_B (sync->model->reduce), share = 1 / mdl_format_B (sync->model->reduce);
  TrnExchange narrow = *gradients;
  narrow.op = MDL_OP_ALL_GATHER;
  narrow.format = MDL_FORMAT_FP8;
  narrow.size_B = elements * (1 + scales) * ranks;
  narrow.name = "all_gather gradients";
  const EngTask ready = passes (sync, gradients->size_B, 2, share, "compress", after);
  if (!trn_sync_add (sync, &narrow, ready, out, error))
    return FALSE;
  *out = behind (sync, gradients->size_B, share * ranks, 1, *out);
  return TRUE;
}

static gboolean
factor_reduce (TrnSyncer *sync, TrnBucket *bucket, const TrnExchange *gradients, EngTask after, EngTask *out, GError **error)
{
  const double element_B = mdl_format_B (sync->model->reduce), matrices_B = bucket->matrices * element_B;
  const double parts_B[] = { gradients->size_B - matrices_B, bucket->left * element_B, bucket->right * element_B };
  static const char *const names[] = { "all_reduce uncompressed", "all_reduce factors P", "all_reduce factors Q" };
  EngTask last = passes (sync, matrices_B, 4, 3, "compress", after); /* with the error of before, kept, and M Q */
  *out = last;
  for (guint i = 0; i < G_N_ELEMENTS (parts_B); i++) {
    TrnExchange part = *gradients;
    part.size_B = parts_B[i];
    part.name = names[i];
    if (part.size_B <= 0)
      continue;
    if (!trn_sync_add (sync, &part, last, out, error))
      return FALSE;
    last = *out;
  }
  *out = behind (sync, matrices_B, 4, 2, last); /* M' P, P Q', the new error */
  return TRUE;
}

gboolean
trn_compress_reduce (TrnSyncer *sync, TrnBucket *bucket, const TrnExchange *gradients, EngTask after, EngTask *out, GError **error)
{
  const TrnCompression kind = trn_compression (sync->model);
  const gboolean done = kind == TRN_COMPRESS_POWERSGD ? factor_reduce (sync, bucket, gradients, after, out, error)
                        : kind == TRN_COMPRESS_INT8   ? gather_reduce (sync, gradients, after, out, error)
                                                      : cast_reduce (sync, gradients, after, out, error);
  bucket->matrices = bucket->left = bucket->right = 0;
  return done;
}

EngTask
trn_compress_finish (TrnSyncer *sync, EngTask ready)
{
  if (sync->unpack_B[0] + sync->unpack_B[1] <= 0)
    return ready;
  const double time_s = trn_costs_memory_s (sync->b->costs, sync->unpack_B[0], sync->unpack_B[1]);
  const EngTask task = trn_build_compute (sync->b, sync->lane, TRN_STEP_COPY, time_s, NULL, "decompress");
  trn_build_after_one (sync->b, task, ready);
  return task;
}
