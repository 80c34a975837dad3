/* The end of a step on one rank: norm of the gradients, the optimizer, zeroing, casts of weights.
 *
 * AdamW reads gradient, parameter (or its fp32 master), two moments and writes parameter, moments (and the copy in the parameters'
 * format): all bf16 14 B a parameter; fp32 states and gradient with a bf16 copy 30 B. Fused: one kernel a batch of tensors; eager:
 * PyTorch's foreach loops, eight kernels a batch that read and write their operands each: 20 passes instead of 7.
 * A batch: at most `batch_tensors` tensors and `batch_elements` elements.
 * Source: Loshchilov and Hutter 1711.05101; pytorch torch/optim/adamw.py (_multi_tensor_adamw),
 * aten/src/ATen/native/cuda/MultiTensorApply.cuh (depth_to_max_tensors, depth_to_max_blocks, kChunkSize).
 *
 * Others. SGD has no moment, or one (momentum). 8-bit AdamW keeps two moments of 1 B with an fp32 scale for 256 of them, in one
 * kernel (Dettmers 2110.02861; bitsandbytes csrc/kernels.cu, BLOCKSIZE 256). Adafactor keeps sums of the rows and columns of each
 * matrix, 2 / hidden of its elements, and reads the gradient three times and its update twice (Shazeer and Stern 1804.04235).
 * Muon keeps one moment of the layers' matrices and orthogonalises it: five Newton-Schulz steps in bf16, each of an r x c matrix,
 * r <= c, the products r x r x c, r x r x r and r x c x r; embedding and head take AdamW (Jordan et al.,
 * github.com/KellerJordan/Muon; Liu et al. 2502.16982, section 2). Ranks that share parameters share out whole matrices; gathering
 * them is not modelled.
 * Check: bytes a parameter as above; 5 (4 r² c + 2 r³) FLOP a matrix (tests/unit). */
#include <math.h>

#include "models/layer.h"

const BaseName mdl_optimizer_names[] = {
  { "adamw", MDL_OPTIMIZER_ADAMW, "two moments per parameter; eager code loops over lists of tensors" },
  { "adamw_fused", MDL_OPTIMIZER_ADAMW_FUSED,
    "the same in one kernel per batch of tensors, also in eager code (torch.optim.AdamW (fused=True))" },
  { "adamw_8bit", MDL_OPTIMIZER_ADAMW_8BIT, "two moments of 8 bits with a scale for 256 of them (bitsandbytes)" },
  { "sgd", MDL_OPTIMIZER_SGD, "no moments" },
  { "sgd_momentum", MDL_OPTIMIZER_SGD_MOMENTUM, "one moment per parameter" },
  { "adafactor", MDL_OPTIMIZER_ADAFACTOR, "sums of the rows and columns of each matrix" },
  { "muon", MDL_OPTIMIZER_MUON, "one moment of the layers' matrices, orthogonalised by Newton-Schulz steps; AdamW for the rest" },
  { NULL, 0, NULL },
};

/* Newton-Schulz steps of Muon. */
#define MUON_STEPS 5
static const double quantised_B = 1 + 4.0 / 256;

/* Of a model's parameters, those in its layers' matrices. */
static double
in_layers (const MdlLlm *llm)
{
  MdlLlmCount count;
  if (llm == NULL || llm->net != NULL)
    return 0;
  mdl_llm_count (llm, &count);
  return 1 - (count.embedding + count.head + count.final_norm) / count.total;
}

double
mdl_optimizer_moments_B (MdlOptimizer kind, const MdlLlm *llm, MdlFormat moment)
{
  const double one_B = mdl_format_B (moment);
  switch (kind) {
    case MDL_OPTIMIZER_SGD:
      return 0;
    case MDL_OPTIMIZER_SGD_MOMENTUM:
      return one_B;
    case MDL_OPTIMIZER_ADAMW_8BIT:
      return 2 * quantised_B;
    case MDL_OPTIMIZER_ADAFACTOR:
      return llm != NULL && llm->hidden.v > 0 ? 2 / llm->hidden.v * one_B : 0;
    case MDL_OPTIMIZER_MUON:
      return (2 - in_layers (llm)) * one_B;
    case MDL_OPTIMIZER_ADAMW:
    case MDL_OPTIMIZER_ADAMW_FUSED:
    default:
      return 2 * one_B;
  }
}

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

/* `part`: of the parameters, those that it is for. */
static void
add_adamw (const MdlOptimizerQuery *query, double part, GArray *out)
{
  const gboolean has_master = query->master != MDL_FORMAT_NONE;
  const double parameter_B = mdl_format_B (has_master ? query->master : query->parameter), moment_B = mdl_format_B (query->moment);
  const double copy_B = has_master ? mdl_format_B (query->parameter) : 0, gradient_B = mdl_format_B (query->gradient);
  const double elements = query->elements * part;
  if (query->framework != MDL_FRAMEWORK_EAGER || query->kind == MDL_OPTIMIZER_ADAMW_FUSED) {
    add_memory (query, "adamw", elements * (gradient_B + parameter_B + 2 * moment_B),
                elements * (parameter_B + 2 * moment_B + copy_B), 1, out);
    return;
  }
  /* decay: p; first moment: m, g; second: v, then v, g; root; correction; epsilon; step: p, m, root */
  const double read_B = 2 * parameter_B + 2 * gradient_B + 8 * moment_B, write_B = 2 * parameter_B + 6 * moment_B;
  add_memory (query, "adamw", elements * (read_B + (has_master ? parameter_B : 0)), elements * (write_B + copy_B),
              has_master ? 9 : 8, out);
}

/* One Newton-Schulz product of so many matrices. */
static void
add_product (const char *name, double m, double n, double k, double count, GArray *out)
{
  const MdlWork work = { .kind = MDL_WORK_GEMM,
                         .pass = MDL_PASS_OPTIMIZER,
                         .name = name,
                         .format = MDL_FORMAT_BF16,
                         .flop = 2 * m * n * k * count,
                         .read_B = 2 * (m + n) * k * count,
                         .write_B = 2 * m * n * count,
                         .kernels = count,
                         .gemm = { .m = m, .n = n, .k = k, .batch = count, .out = MDL_FORMAT_BF16 } };
  g_array_append_val (out, work);
}

static void
add_newton_schulz (const MdlOptimizerQuery *query, GArray *out)
{
  MdlLlmCount model;
  mdl_llm_count (query->llm, &model);
  for (MdlPart part = 0; part < MDL_PART_NET; part++) {
    const double layers = mdl_llm_n_part (query->llm, part);
    g_autoptr (GArray) tensors = g_array_new (FALSE, FALSE, sizeof (MdlTensor));
    if (layers > 0)
      mdl_llm_tensors (query->llm, part, 0, tensors);
    for (guint i = 0; i < tensors->len; i++) {
      const MdlTensor *tensor = &g_array_index (tensors, MdlTensor, i);
      const double r = fmin (tensor->rows, tensor->columns), c = fmax (tensor->rows, tensor->columns);
      const double count = MUON_STEPS * layers * tensor->copies * query->elements / model.total;
      if (r <= 1)
        continue;
      add_product ("muon_gram", r, r, c, count, out);
      add_product ("muon_square", r, r, r, count, out);
      add_product ("muon_update", r, c, r, count, out);
    }
  }
}

/* Sums of what is read and written of a parameter, B, and kernels a batch of tensors. */
static void
add_update (const MdlOptimizerQuery *query, GArray *out)
{
  const gboolean has_master = query->master != MDL_FORMAT_NONE;
  const double p = mdl_format_B (has_master ? query->master : query->parameter), g = mdl_format_B (query->gradient);
  const double m = mdl_format_B (query->moment), copy = has_master ? mdl_format_B (query->parameter) : 0;
  const gboolean eager = query->framework == MDL_FRAMEWORK_EAGER;
  const double n = query->elements, layers = in_layers (query->llm);
  switch (query->kind) {
    case MDL_OPTIMIZER_SGD: /* eager: decay into g; step */
      add_memory (query, "sgd", n * (g + p + (eager ? g + p : 0)), n * (p + copy + (eager ? g : 0)), eager ? 2 : 1, out);
      break;
    case MDL_OPTIMIZER_SGD_MOMENTUM: /* eager: decay into g; decay of m; m, g; step */
      add_memory (query, "sgd", n * (g + p + m + (eager ? g + p + 2 * m : 0)), n * (p + copy + m + (eager ? g + m : 0)),
                  eager ? 4 : 1, out);
      break;
    case MDL_OPTIMIZER_ADAMW_8BIT:
      add_memory (query, "adamw_8bit", n * (g + p + 2 * quantised_B), n * (p + copy + 2 * quantised_B), 1, out);
      break;
    case MDL_OPTIMIZER_ADAFACTOR: /* squares by rows, by columns; update of g; its mean square; step */
      add_memory (query, "adafactor", n * (3 * g + 2 * g + p), n * (g + p + copy), 5, out);
      break;
    case MDL_OPTIMIZER_MUON: /* moment; Nesterov's sum; step behind the products */
      add_memory (query, "muon", n * layers * (m + g + g + m + p + g), n * layers * (m + g + p + copy), 3, out);
      add_newton_schulz (query, out);
      add_adamw (query, 1 - layers, out);
      break;
    case MDL_OPTIMIZER_ADAMW:
    case MDL_OPTIMIZER_ADAMW_FUSED:
    default:
      add_adamw (query, 1, out);
  }
}

void
mdl_optimizer_works (const MdlOptimizerQuery *query, GArray *out)
{
  if (query->clip)
    add_norm (query, out);
  add_update (query, out);
  if (query->compute == MDL_FORMAT_FP8 || query->compute == MDL_FORMAT_FP4) /* cast both ways round */
    add_memory (query, "cast_weights", query->elements * mdl_format_B (query->parameter),
                2 * query->elements * mdl_format_B (query->compute), 1, out);
  if (query->zero)
    add_memory (query, "zero_gradients", 0, query->gradients * mdl_format_B (query->gradient), 1, out);
}
