/* The end of a step on one rank: norm of the gradients, AdamW, zeroing, casts of weights.
 *
 * AdamW reads gradient, parameter (or its fp32 master), two moments and writes parameter, moments (and the copy in the parameters'
 * format): all bf16 14 B a parameter; fp32 states and gradient with a bf16 copy 30 B. Fused: one kernel a batch of tensors; eager:
 * PyTorch's foreach loops, eight kernels a batch that read and write their operands each: 20 passes instead of 7.
 * A batch: at most `batch_tensors` tensors and `batch_elements` elements.
 * Source: Loshchilov and Hutter 1711.05101; pytorch torch/optim/adamw.py (_multi_tensor_adamw),
 * aten/src/ATen/native/cuda/MultiTensorApply.cuh (depth_to_max_tensors, depth_to_max_blocks, kChunkSize).
 * Check: bytes a parameter as above (tests/unit). */
#include <math.h>

#include "models/layer.h"

static const double batch_tensors = 36, batch_elements = 320.0 * 65536; /* of four lists: 36 tensors, 320 blocks of a chunk */

static void
add_memory (const MdlOptimizerQuery *query, const char *name, double read_B, double write_B, double each, GArray *out)
{
  const double batches = MAX (1, MAX (ceil (query->tensors / batch_tensors), ceil (query->elements / batch_elements)));
  const MdlWork work = { .kind = MDL_WORK_MEMORY,
                         .pass = MDL_PASS_OPTIMIZER,
                         .name = name,
                         .format = query->moment,
                         .read_B = read_B,
                         .write_B = write_B,
                         .kernels = each * batches };
  g_array_append_val (out, work);
}

static void
add_norm (const MdlOptimizerQuery *query, GArray *out)
{
  const double gradients_B = query->gradients * mdl_format_B (query->gradient);
  add_memory (query, "gradient_norm", gradients_B, 0, 1, out);
  MdlWork sum = { .kind = MDL_WORK_COLL, .pass = MDL_PASS_OPTIMIZER, .name = "reduce_norm", .format = MDL_FORMAT_FP32 };
  sum.coll = (MdlWorkColl){ .op = MDL_OP_ALL_REDUCE,
                            .group = MDL_GROUP_MODEL,
                            .bytes = 4,
                            .repeat = 1,
                            .format = MDL_FORMAT_FP32,
                            .after = (int)out->len - 1,
                            .before = (int)out->len + 1,
                            .with = -1 };
  g_array_append_val (out, sum);
  if (query->framework == MDL_FRAMEWORK_EAGER) /* clipped by a pass of its own */
    add_memory (query, "clip", gradients_B, gradients_B, 1, out);
}

static void
add_adamw (const MdlOptimizerQuery *query, GArray *out)
{
  const gboolean has_master = query->master != MDL_FORMAT_NONE;
  const double parameter_B = mdl_format_B (has_master ? query->master : query->parameter), moment_B = mdl_format_B (query->moment);
  const double copy_B = has_master ? mdl_format_B (query->parameter) : 0, gradient_B = mdl_format_B (query->gradient);
  if (query->framework != MDL_FRAMEWORK_EAGER) {
    add_memory (query, "adamw", query->elements * (gradient_B + parameter_B + 2 * moment_B),
                query->elements * (parameter_B + 2 * moment_B + copy_B), 1, out);
    return;
  }
  /* decay: p; first moment: m, g; second: v, then v, g; root; correction; epsilon; step: p, m, root */
  const double read_B = 2 * parameter_B + 2 * gradient_B + 8 * moment_B, write_B = 2 * parameter_B + 6 * moment_B;
  add_memory (query, "adamw", query->elements * (read_B + (has_master ? parameter_B : 0)), query->elements * (write_B + copy_B),
              has_master ? 9 : 8, out);
}

void
mdl_optimizer_works (const MdlOptimizerQuery *query, GArray *out)
{
  if (query->clip)
    add_norm (query, out);
  add_adamw (query, out);
  if (query->compute == MDL_FORMAT_FP8 || query->compute == MDL_FORMAT_FP4) /* cast both ways round */
    add_memory (query, "cast_weights", query->elements * mdl_format_B (query->parameter),
                2 * query->elements * mdl_format_B (query->compute), 1, out);
  if (query->zero)
    add_memory (query, "zero_gradients", 0, query->gradients * mdl_format_B (query->gradient), 1, out);
}
