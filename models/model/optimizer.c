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
add_memory (const MdlOptimizerAsk *ask, const char *name, double read_B, double write_B, double each, GArray *out)
{
  const double batches = MAX (1, MAX (ceil (ask->tensors / batch_tensors), ceil (ask->elements / batch_elements)));
  const MdlWork work = { .kind = MDL_WORK_MEMORY,
                         .pass = MDL_PASS_OPTIMIZER,
                         .name = name,
                         .format = ask->moment,
                         .read_B = read_B,
                         .write_B = write_B,
                         .kernels = each * batches };
  g_array_append_val (out, work);
}

static void
add_norm (const MdlOptimizerAsk *ask, GArray *out)
{
  const double gradients_B = ask->gradients * mdl_format_B (ask->gradient);
  add_memory (ask, "gradient_norm", gradients_B, 0, 1, out);
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
  if (ask->framework == MDL_FRAMEWORK_EAGER) /* clipped by a pass of its own */
    add_memory (ask, "clip", gradients_B, gradients_B, 1, out);
}

static void
add_adamw (const MdlOptimizerAsk *ask, GArray *out)
{
  const gboolean has_master = ask->master != MDL_FORMAT_NONE;
  const double parameter_B = mdl_format_B (has_master ? ask->master : ask->parameter), moment_B = mdl_format_B (ask->moment);
  const double copy_B = has_master ? mdl_format_B (ask->parameter) : 0, gradient_B = mdl_format_B (ask->gradient);
  if (ask->framework != MDL_FRAMEWORK_EAGER) {
    add_memory (ask, "adamw", ask->elements * (gradient_B + parameter_B + 2 * moment_B),
                ask->elements * (parameter_B + 2 * moment_B + copy_B), 1, out);
    return;
  }
  /* decay: p; first moment: m, g; second: v, then v, g; root; correction; epsilon; step: p, m, root */
  const double read_B = 2 * parameter_B + 2 * gradient_B + 8 * moment_B, write_B = 2 * parameter_B + 6 * moment_B;
  add_memory (ask, "adamw", ask->elements * (read_B + (has_master ? parameter_B : 0)), ask->elements * (write_B + copy_B),
              has_master ? 9 : 8, out);
}

void
mdl_optimizer_works (const MdlOptimizerAsk *ask, GArray *out)
{
  if (ask->clip)
    add_norm (ask, out);
  add_adamw (ask, out);
  if (ask->compute == MDL_FORMAT_FP8 || ask->compute == MDL_FORMAT_FP4) /* cast both ways round */
    add_memory (ask, "cast_weights", ask->elements * mdl_format_B (ask->parameter), 2 * ask->elements * mdl_format_B (ask->compute),
                1, out);
  if (ask->zero)
    add_memory (ask, "zero_gradients", 0, ask->gradients * mdl_format_B (ask->gradient), 1, out);
}
