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
trn_compress_take (const TrnModel *model, const TrnTensor *tensor, TrnFactors *factors)
{
  if (trn_compression (model) != TRN_COMPRESS_POWERSGD || tensor->columns <= 1)
    return;
  const double rows = tensor->trained / tensor->columns, r = model->spec->model.compress.rank.v;
  if ((rows + tensor->columns) * r * 2 >= rows * tensor->columns)
    return;
  factors->matrices += tensor->trained;
  factors->left += rows * r;
  factors->right += tensor->columns * r;
}

/* ---- what a bucket becomes ---- */

static void
passes (double bytes, double read, double written, double out_B[2])
{
  out_B[0] = read * bytes;
  out_B[1] = written * bytes;
}

static void
add_part (TrnCompressed *out, MdlOp op, MdlFormat format, double size_B, const char *name)
{
  if (size_B > 0)
    out->part[out->n++] = (TrnCompressedPart){ op, format, size_B, name };
}

void
trn_compress_bucket (const TrnModel *model, double size_B, double ranks, const TrnFactors *factors, TrnCompressed *out)
{
  const TrnCompression kind = trn_compression (model);
  const double element_B = mdl_format_B (model->reduce);
  *out = (TrnCompressed){ 0 };
  if (kind == TRN_COMPRESS_POWERSGD) {
    const double matrices_B = factors->matrices * element_B;
    passes (matrices_B, 4, 3, out->before_B); /* with the error of before, kept, and M Q */
    add_part (out, MDL_OP_ALL_REDUCE, model->reduce, size_B - matrices_B, "all_reduce uncompressed");
    add_part (out, MDL_OP_ALL_REDUCE, model->reduce, factors->left * element_B, "all_reduce factors P");
    add_part (out, MDL_OP_ALL_REDUCE, model->reduce, factors->right * element_B, "all_reduce factors Q");
    passes (matrices_B, 4, 2, out->behind_B); /* M' P, P Q', the new error */
  } else if (kind == TRN_COMPRESS_INT8) {
    const double scales = 4.0 / 512, share = 1 / element_B;
    passes (size_B, 2, share, out->before_B);
    add_part (out, MDL_OP_ALL_GATHER, MDL_FORMAT_FP8, size_B / element_B * (1 + scales) * ranks, "all_gather gradients");
    passes (size_B, share * ranks, 1, out->behind_B);
  } else {
    const MdlFormat format = kind == TRN_COMPRESS_FP16 ? MDL_FORMAT_FP16 : MDL_FORMAT_BF16;
    const double share = mdl_format_B (format) / element_B;
    passes (size_B, 1, share, out->before_B);
    add_part (out, MDL_OP_ALL_REDUCE, format, size_B * share, "all_reduce gradients");
    passes (size_B, share, 1, out->behind_B);
  }
}

/* ---- on the engine ---- */

gboolean
trn_compress_reduce (TrnSyncer *sync, TrnBucket *bucket, const TrnExchange *gradients, EngTask after, EngTask *out, GError **error)
{
  TrnCompressed small;
  trn_compress_bucket (sync->model, gradients->size_B, trn_grid_group_size (&sync->model->grid, gradients->group), &bucket->factors,
                       &small);
  bucket->factors = (TrnFactors){ 0 };
  const double time_s = trn_costs_memory_s (sync->b->costs, small.before_B[0], small.before_B[1]);
  *out = trn_build_compute (sync->b, sync->lane, TRN_STEP_COPY, time_s, NULL, "compress");
  trn_build_after_one (sync->b, *out, after);
  for (guint i = 0; i < small.n; i++) {
    TrnExchange part = *gradients;
    part.op = small.part[i].op;
    part.format = small.part[i].format;
    part.size_B = small.part[i].size_B;
    part.name = small.part[i].name;
    if (!trn_sync_add (sync, &part, *out, out, error))
      return FALSE;
  }
  /* done for all buckets at the end, where the compute stream comes to wait for them */
  sync->unpack_B[0] += small.behind_B[0];
  sync->unpack_B[1] += small.behind_B[1];
  return TRUE;
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
