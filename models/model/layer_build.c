/* Single works, linear layers and what stands between them.
 *
 * GEMM of a linear layer of `rows` tokens:  forward M = rows, N = out, K = in;  dgrad M = rows, N = in, K = out;  wgrad M = out,
 * N = in, K = rows, each 2·M·N·K FLOP.
 * Tensor parallelism: cut by outputs (columns in Megatron's words) forward needs the whole input: with sp an all-gather of it;
 * backward, dgrad's sums go through an all-reduce, with sp a reduce-scatter, beside which wgrad may run, and wgrad needs the
 * gathered input again, in fused code an all-gather beside which dgrad may run (eager autograd keeps it). Cut by inputs, forward
 * ends in an all-reduce or reduce-scatter, and backward begins with an all-gather of the gradient with sp.
 * Low-rank adapters of rank r beside a frozen matrix: A (r x in), B (out x r), computed as activations are; both are cut so that
 * their partial sums join those of the matrix, which adds no collective. What the adapter makes is scaled, and added to what the
 * matrix makes, by kernels of their own, both ways; its input goes through dropout where there is some (Hugging Face PEFT
 * tuners/lora/layer.py, Linear.forward; NeMo's ParallelLinearAdapter the same).
 * fp8, fp4: operands are read once for the largest value, cast, and kept transposed too for wgrad: eager code does each in a
 * kernel; fused code casts in the norm that makes the operand, else in one kernel: results of activations and attention, and all
 * gradients (Megatron-LM core/models/gpt/gpt_layer_specs.py: TELayerNormColumnParallelLinear, TERowParallelLinear, between them an
 * activation compiled by itself).
 * Bytes of memory-bound kernels: each operand read once, each result written once.
 * Source: Shoeybi et al. 1909.08053 section 3; Korthikanti et al. 2205.05198 section 4.2.2; Hu et al. 2106.09685 section 4.
 * Check: sums over a layer equal closed forms (tests/unit). */
#include "model/layer-private.h"

double
mdl_layer_stream_B (const MdlLayerQuery *query)
{
  return mdl_format_B (query->autocast ? MDL_FORMAT_FP32 : query->activation);
}

void
mdl_build_init (MdlBuild *build, const MdlLlm *llm, const MdlLayerQuery *query, unsigned layer, GArray *out)
{
  const double tokens = query->micro_batch * query->sequence / query->cp;
  *build = (MdlBuild){ .llm = llm,
                       .query = query,
                       .layer = layer,
                       .out = out,
                       .pass = MDL_PASS_FORWARD,
                       .fused = query->framework != MDL_FRAMEWORK_EAGER,
                       .low = query->compute == MDL_FORMAT_FP8 || query->compute == MDL_FORMAT_FP4,
                       .tokens = tokens,
                       .rows = query->sp ? tokens / query->tp : tokens,
                       .element_B = mdl_format_B (query->activation),
                       .stream_B = mdl_layer_stream_B (query) };
}

/* ---- single works ---- */

static MdlWork *
append (MdlBuild *build, MdlWorkKind kind, const char *name, MdlFormat format)
{
  const unsigned modules = build->modules | MDL_MODULE_LAYER;
  const MdlWork work = { .kind = kind,
                         .pass = build->pass,
                         .name = name,
                         .modules = modules,
                         .format = format,
                         .rounds = kind == MDL_WORK_COLL ? 0 : build->rounds };
  if (build->filter != 0 && (modules & build->filter) == 0) {
    build->skipped = work;
    return &build->skipped;
  }
  g_array_append_val (build->out, work);
  return &g_array_index (build->out, MdlWork, build->out->len - 1);
}

MdlWork *
mdl_build_gemm (MdlBuild *build, const char *name, MdlWorkGemm gemm, MdlFormat format)
{
  MdlWork *work = append (build, MDL_WORK_GEMM, name, format);
  work->gemm = gemm;
  work->flop = 2 * gemm.m * gemm.n * gemm.k * gemm.batch;
  work->read_B = gemm.batch * (gemm.m * gemm.k + gemm.k * gemm.n) * mdl_format_B (format);
  work->write_B = gemm.batch * gemm.m * gemm.n * mdl_format_B (gemm.out);
  /* a launch an expert: eager code, and TransformerEngine pytorch/module/grouped_linear.py over streams */
  work->kernels = build->query->experts == MDL_EXPERTS_GROUPED ? 1 : gemm.batch;
  return work;
}

MdlWork *
mdl_build_product (MdlBuild *build, const char *name, double m, double n, double k, double batch, MdlFormat format)
{
  const MdlWorkGemm gemm = { .m = m, .n = n, .k = k, .batch = batch, .out = build->query->activation };
  return mdl_build_gemm (build, name, gemm, format);
}

MdlWork *
mdl_build_memory (MdlBuild *build, const char *name, double read_B, double write_B, double eager)
{
  MdlWork *work = append (build, MDL_WORK_MEMORY, name, build->query->activation);
  work->read_B = read_B;
  work->write_B = write_B;
  work->kernels = (build->fused ? MIN (1, eager) : eager) * MAX (build->rounds, 1);
  return work;
}

static unsigned
ranks_of (const MdlBuild *build, MdlGroup group)
{
  switch (group) {
    case MDL_GROUP_TP:
      return build->query->tp;
    case MDL_GROUP_CP:
      return build->query->cp;
    case MDL_GROUP_EP:
      return build->query->ep;
    case MDL_GROUP_ETP:
      return build->query->etp;
    case MDL_GROUP_DP:
      return MAX (build->query->outputs, 1);
    case MDL_GROUP_NONE:
      return 1;
    case MDL_GROUP_MODEL:
    default:
      g_return_val_if_reached (1);
  }
}

int
mdl_build_next (const MdlBuild *build)
{
  return (int)build->out->len;
}

int
mdl_build_coll (MdlBuild *build, const char *name, MdlOp op, MdlGroup group, double bytes, MdlFormat format)
{
  if (ranks_of (build, group) <= 1)
    return -1;
  const int at = mdl_build_next (build);
  MdlWork *work = append (build, MDL_WORK_COLL, name, format);
  work->coll = (MdlWorkColl){
    .op = op, .group = group, .bytes = bytes, .repeat = 1, .format = format, .after = at - 1, .before = at + 1, .with = -1
  };
  return mdl_build_next (build) > at ? at : -1;
}

void
mdl_build_amend (MdlBuild *build, int index, int with, int before)
{
  if (index < 0)
    return;
  MdlWorkColl *coll = &g_array_index (build->out, MdlWork, (guint)index).coll;
  if (with >= 0)
    coll->with = with;
  if (before >= 0)
    coll->before = before;
}

/* ---- linear layers ---- */

static MdlCast
cast_of (const MdlBuild *build)
{
  return mdl_scaled_cast (build->query->scaling, build->query->compute, build->query->one_way);
}

void
mdl_build_cast (MdlBuild *build, const char *name, double elements, double copies)
{
  if (!build->low)
    return;
  const MdlCast cast = cast_of (build);
  const double wide_B = elements * build->element_B, low_B = elements * mdl_format_B (build->query->compute);
  MdlWork *work;
  if (build->fused)
    work = mdl_build_memory (build, name, cast.reads * wide_B, elements * cast.written_B, 1);
  else /* largest value; cast; transpose */
    work = mdl_build_memory (build, name, 2 * wide_B + low_B, 2 * low_B, 3);
  if (build->rounds <= 0 && build->query->experts != MDL_EXPERTS_GROUPED && !(build->fused && cast.together))
    work->kernels *= copies; /* each has scales of its own: TransformerEngine pytorch/csrc/extensions/cast.cpp, split_quantize */
}

/* PyTorch's autocast: each matrix casts what it reads, once for its weights in a forward pass, and each of its uses of an input
 * (pytorch/pytorch aten/src/ATen/autocast_mode.cpp, cached_cast keeps leaves alone). Fused code casts an input where it is made. */
static void
autocast_operands (MdlBuild *build, const MdlLinear *linear, double rows, gboolean input)
{
  if (!build->query->autocast)
    return;
  const double in = rows * linear->in * linear->copies, weights = linear->in * linear->out * linear->copies;
  if (input && !build->fused)
    mdl_build_memory (build, "cast_input", in * build->stream_B, in * build->element_B, 1);
  mdl_build_memory (build, "cast_weight", weights * build->stream_B, weights * build->element_B, 1)->kernels = linear->bias ? 2 : 1;
}

/* The gradient of such a cast: from 16 bits to fp32, or back for what a block gave. */
static void
autocast_gradient (MdlBuild *build, double elements, gboolean narrow)
{
  if (!build->query->autocast || build->fused)
    return;
  const double low_B = elements * build->element_B, wide_B = elements * build->stream_B;
  mdl_build_memory (build, "cast_gradient", narrow ? wide_B : low_B, narrow ? low_B : wide_B, 1);
}

/* What a norm left in its wider format, with its largest value, for these elements' products. */
static void
cast_norm (MdlBuild *build, const MdlLinear *linear, double elements)
{
  const MdlCast cast = cast_of (build);
  if (!build->fused || !build->low || cast.in_norm || linear->copies > 1 || mdl_format_B (linear->format) >= build->element_B)
    return;
  const double reads = build->query->scaling == MDL_SCALING_TENSOR ? cast.reads - 1 : cast.reads;
  mdl_build_memory (build, "cast_input", reads * elements * build->element_B, elements * cast.written_B, 1);
}

gboolean
mdl_build_frozen (const MdlBuild *build)
{
  return build->query->lora_rank > 0;
}

/* It has an adapter here. */
static gboolean
adapted (const MdlBuild *build, const MdlLinear *linear)
{
  return build->query->lora_rank > 0 && (linear->lora & build->query->lora_on) != 0;
}

static gboolean
trained_here (const MdlBuild *build, const MdlLinear *linear)
{
  return !mdl_build_frozen (build) || adapted (build, linear);
}

/* Fused code gathers operands of narrow products as these read them (TransformerEngine pytorch/distributed.py,
 * gather_along_first_dim; module/base.py, initialize_ub: fp8_buf). An adapter beside the matrix reads them as they were
 * (module/layernorm_linear.py: return_layernorm_output_gathered). */
static gboolean
gathers_cast (const MdlBuild *build, const MdlLinear *linear)
{
  return build->fused && build->low && mdl_format_B (linear->format) < build->element_B && !adapted (build, linear);
}

/* Format of what eager code sends between blocks. */
static MdlFormat
between (const MdlBuild *build)
{
  return build->query->autocast && !build->fused ? MDL_FORMAT_FP32 : build->query->activation;
}

static int
gather_operand (MdlBuild *build, const char *name, MdlGroup group, const MdlLinear *linear, double elements, double ways)
{
  const gboolean cast = gathers_cast (build, linear);
  const double each_B = cast ? ways * mdl_format_B (linear->format) : build->fused ? build->element_B : build->stream_B;
  return mdl_build_coll (build, name, MDL_OP_ALL_GATHER, group, elements * each_B, cast ? linear->format : between (build));
}

/* One factor for a tensor: what was gathered is transposed here. Blocks have factors of both ways, and come both ways. */
static gboolean
transposes (const MdlBuild *build)
{
  const MdlScaling scaling = build->query->scaling;
  return build->query->one_way && (scaling == MDL_SCALING_NONE || scaling == MDL_SCALING_DELAYED || scaling == MDL_SCALING_TENSOR);
}

static void
transpose_operand (MdlBuild *build, const MdlLinear *linear, double elements)
{
  if (!gathers_cast (build, linear) || !transposes (build))
    return;
  const double bytes = elements * mdl_format_B (linear->format);
  mdl_build_memory (build, "transpose", bytes, bytes, 1);
}

/* Scales of a narrow product's operands of so many elements a copy; behind the product, whose place collectives name. */
static void
swizzle (MdlBuild *build, const MdlLinear *linear, double elements)
{
  const MdlCast cast = cast_of (build);
  if (!build->fused || !build->low || !cast.swizzles || mdl_format_B (linear->format) >= build->element_B)
    return;
  const double block = build->query->scaling == MDL_SCALING_NVFP4 ? 16 : 32;
  const double bytes = linear->copies * elements / block;
  mdl_build_memory (build, "swizzle_scales", bytes, bytes, 1)->kernels = 0; /* the host's call is the product's */
}

/* What stands between an adapter and its matrix: `made` elements scaled, `added` elements of a sum. */
static void
join_adapter (MdlBuild *build, double made, double added)
{
  const double made_B = made * build->element_B, added_B = added * build->element_B;
  mdl_build_memory (build, "lora_scale", made_B, made_B, 1);
  mdl_build_memory (build, "lora_add", 2 * added_B, added_B, 1);
}

static void
drop_adapter (MdlBuild *build, double elements)
{
  const double unit_B = elements * build->element_B;
  if (build->query->lora_dropout) /* with a mask of a byte */
    mdl_build_memory (build, "lora_dropout", unit_B, unit_B + elements, 1);
}

/* A layer's frozen matrix that is kept in fewer bits is written out for its product. Kept in fp8, one of fp8 needs its transpose
 * for the gradient of its input alone, where products take operands one way round. It stands behind the product, whose place
 * collectives name. */
static void
unpack_base (MdlBuild *build, const MdlLinear *linear, gboolean transposed)
{
  const MdlFormat base = build->query->base;
  const double elements = linear->in * linear->out * linear->copies;
  if (!mdl_build_frozen (build) || base == MDL_FORMAT_NONE || build->outside ||
      (base == linear->format && (!transposed || !build->query->one_way)))
    return;
  const double to_B = base == linear->format ? mdl_base_B (base) : build->element_B;
  mdl_build_memory (build, base == linear->format ? "transpose_base" : "dequantize_base", elements * mdl_base_B (base),
                    elements * to_B, 1);
}

static void
linear_forward (MdlBuild *build, const MdlLinear *linear, double rows)
{
  const MdlFormat activation = build->query->activation;
  const unsigned modules = build->modules;
  build->modules |= linear->second ? MDL_MODULE_SECOND : 0u;
  mdl_build_product (build, linear->name, rows, linear->out, linear->in, linear->copies, linear->format);
  build->modules = modules;
  swizzle (build, linear, (rows + linear->out) * linear->in);
  unpack_base (build, linear, FALSE);
  if (!adapted (build, linear))
    return;
  const double rank = build->query->lora_rank, out = rows * linear->out * linear->copies;
  drop_adapter (build, rows * linear->in * linear->copies);
  mdl_build_product (build, "lora_a", rows, rank, linear->in, linear->copies, activation);
  mdl_build_product (build, "lora_b", rows, linear->out, rank, linear->copies, activation);
  join_adapter (build, out, out);
}

static void
linear_dgrad (MdlBuild *build, const MdlLinear *linear, double rows)
{
  const MdlFormat activation = build->query->activation;
  build->pass = MDL_PASS_DGRAD;
  mdl_build_product (build, linear->name, rows, linear->in, linear->out, linear->copies, linear->format);
  swizzle (build, linear, (rows + linear->in) * linear->out);
  unpack_base (build, linear, TRUE);
  if (!adapted (build, linear))
    return;
  const double rank = build->query->lora_rank, in = rows * linear->in * linear->copies;
  mdl_build_product (build, "lora_b", rows, rank, linear->out, linear->copies, activation);
  mdl_build_product (build, "lora_a", rows, linear->in, rank, linear->copies, activation);
  drop_adapter (build, in);
  join_adapter (build, rows * linear->out * linear->copies, in);
}

/* One weight gradient of `out` x `in`. Fused code adds to the gradient buffer in the product; eager code leaves a tensor of the
 * activations' format, which a kernel adds to the buffer where that holds something or has another format. */
static void
one_wgrad (MdlBuild *build, const char *name, double out, double in, double rows, double copies, MdlFormat format)
{
  const MdlLayerQuery *query = build->query;
  const double buffer_B = out * in * copies * mdl_format_B (query->gradient);
  MdlWork *work = mdl_build_gemm (
      build, name,
      (MdlWorkGemm){ .m = out, .n = in, .k = rows, .batch = copies, .out = build->fused ? query->gradient : query->activation },
      format);
  if (build->fused) {
    work->gemm.accumulate = query->accumulate;
    work->read_B += query->accumulate ? buffer_B : 0;
    return;
  }
  if (query->accumulate || query->gradient != query->activation)
    mdl_build_memory (build, "accumulate", out * in * copies * build->element_B + (query->accumulate ? buffer_B : 0), buffer_B, 1);
}

void
mdl_build_wgrad (MdlBuild *build, const MdlLinear *linear, double rows)
{
  if (!trained_here (build, linear))
    return;
  build->pass = MDL_PASS_WGRAD;
  if (!adapted (build, linear)) {
    one_wgrad (build, linear->name, linear->out, linear->in, rows, linear->copies, linear->format);
    swizzle (build, linear, (linear->in + linear->out) * rows);
    if (linear->bias && !build->fused) /* fused code sums it up in the product */
      mdl_build_memory (build, "bias_gradient", rows * linear->out * linear->copies * build->element_B, 0, 1);
    return;
  }
  const double rank = build->query->lora_rank;
  one_wgrad (build, "lora_a", rank, linear->in, rows, linear->copies, build->query->activation);
  one_wgrad (build, "lora_b", linear->out, rank, rows, linear->copies, build->query->activation);
}

void
mdl_build_columns (MdlBuild *build, const MdlLinear *linears, unsigned n, double rows, MdlGroup group)
{
  const double elements = rows * linears[0].in * linears[0].copies;
  int gather = -1;
  cast_norm (build, linears, build->query->sp ? elements / ranks_of (build, group) : elements);
  if (build->query->sp)
    gather = gather_operand (build, "gather_input", group, linears, elements, 1);
  if (!build->fused)
    mdl_build_cast (build, "cast_input", elements, linears[0].copies);
  const int first = mdl_build_next (build);
  for (unsigned i = 0; i < n; i++) {
    autocast_operands (build, &linears[i], rows, TRUE);
    linear_forward (build, &linears[i], rows);
  }
  mdl_build_amend (build, gather, first, -1);
}

/* Eager autograd computes both gradients of a matrix in one node, and the sum over ranks is a node behind it
 * (pytorch/pytorch tools/autograd/derivatives.yaml, mm and addmm); fused code sums beside the weight gradients (NVIDIA/Megatron-LM
 * megatron/core/tensor_parallel/layers.py, LinearWithGradAccumulationAndAsyncCommunication). */
void
mdl_build_columns_back (MdlBuild *build, const MdlLinear *linears, unsigned n, double rows, MdlGroup group)
{
  const MdlLayerQuery *query = build->query;
  const double input = rows * linears[0].in * linears[0].copies;
  const double input_B = input * (build->fused ? build->element_B : build->stream_B);
  gboolean trained = FALSE;
  for (unsigned i = 0; i < n; i++)
    trained = trained || trained_here (build, &linears[i]);
  build->pass = MDL_PASS_WGRAD;
  int gather = -1, reduce;
  if (query->sp && trained && build->fused) /* eager autograd keeps what was gathered */
    gather = gather_operand (build, "gather_saved_input", group, linears, input, 1);
  build->pass = MDL_PASS_DGRAD;
  for (unsigned i = 0; i < n; i++)
    mdl_build_cast (build, "cast_gradient", rows * linears[i].out * linears[i].copies, linears[i].copies);
  int gemm = -1;
  for (unsigned i = 0; i < n; i++) {
    gemm = mdl_build_next (build);
    linear_dgrad (build, &linears[i], rows);
    if (!build->fused)
      mdl_build_wgrad (build, &linears[i], rows);
    build->pass = MDL_PASS_DGRAD;
    autocast_gradient (build, input, FALSE);
    if (i > 0 && !build->fused) /* fused: one matrix, or added in the product */
      mdl_build_memory (build, "add_gradients", 2 * input_B, input_B, 1);
  }
  reduce = mdl_build_coll (build, "reduce_gradient", query->sp ? MDL_OP_REDUCE_SCATTER : MDL_OP_ALL_REDUCE, group, input_B,
                           between (build));
  if (!build->fused)
    return;
  /* where there are weight gradients, they are what it runs beside */
  mdl_build_amend (build, reduce, trained ? -1 : gemm, -1);
  const int first = mdl_build_next (build);
  build->pass = MDL_PASS_WGRAD;
  if (gather >= 0)
    transpose_operand (build, linears, input);
  for (unsigned i = 0; i < n; i++)
    mdl_build_wgrad (build, &linears[i], rows);
  mdl_build_amend (build, gather, -1, first);
  mdl_build_amend (build, reduce, -1, mdl_build_next (build));
  build->pass = MDL_PASS_DGRAD;
}

void
mdl_build_row (MdlBuild *build, const MdlLinear *linear, double rows, MdlGroup group)
{
  const MdlLayerQuery *query = build->query;
  mdl_build_cast (build, "cast_input", rows * linear->in * linear->copies, linear->copies);
  autocast_operands (build, linear, rows, FALSE);
  const int gemm = mdl_build_next (build);
  linear_forward (build, linear, rows);
  const int reduce = mdl_build_coll (build, "reduce_output", query->sp ? MDL_OP_REDUCE_SCATTER : MDL_OP_ALL_REDUCE, group,
                                     rows * linear->out * linear->copies * build->element_B, query->activation);
  mdl_build_amend (build, reduce, gemm, -1);
}

void
mdl_build_row_back (MdlBuild *build, const MdlLinear *linear, double rows, MdlGroup group)
{
  const MdlLayerQuery *query = build->query;
  const double output = rows * linear->out * linear->copies;
  int gather = -1;
  build->pass = MDL_PASS_DGRAD;
  mdl_build_cast (build, "cast_gradient", query->sp ? output / ranks_of (build, group) : output, linear->copies);
  if (query->sp)
    gather = gather_operand (build, "gather_gradient", group, linear, output,
                             trained_here (build, linear) && cast_of (build).swizzles ? 2 : 1);
  mdl_build_amend (build, gather, gather + 1, -1);
  autocast_gradient (build, output, TRUE);
  linear_dgrad (build, linear, rows);
  build->pass = MDL_PASS_WGRAD;
  if (gather >= 0 && trained_here (build, linear))
    transpose_operand (build, linear, output);
  mdl_build_wgrad (build, linear, rows);
  build->pass = MDL_PASS_DGRAD;
}

/* ---- what stands between ---- */

/* B of an element that a matrix product reads: fused code writes it cast, where its scaling lets it. */
static double
operand_B (const MdlBuild *build)
{
  const MdlCast cast = cast_of (build);
  return build->low && build->fused && cast.in_norm ? cast.written_B : build->element_B;
}

void
mdl_build_norm (MdlBuild *build, const char *name, double elements, gboolean with_add)
{
  const double unit_B = elements * build->stream_B, out_B = elements * (build->fused ? operand_B (build) : build->stream_B);
  if (!with_add || !build->fused) {
    mdl_build_memory (build, name, unit_B, out_B, 1);
    return;
  }
  const double mask_B = build->query->dropout ? elements : 0;
  mdl_build_memory (build, name, unit_B + elements * build->element_B, unit_B + out_B + mask_B, 1);
}

void
mdl_build_norm_back (MdlBuild *build, const char *name, double elements, gboolean with_add)
{
  const double unit_B = elements * build->stream_B, given_B = elements * (build->fused ? build->element_B : build->stream_B);
  const gboolean inside = with_add && build->fused;
  build->pass = MDL_PASS_DGRAD;
  /* gradient and input in, gradient out; a second kernel sums up the weight's parts */
  mdl_build_memory (build, name, given_B + (inside ? 2 : 1) * unit_B, unit_B, mdl_build_frozen (build) ? 1 : 2);
  if (with_add && !build->fused)
    mdl_build_memory (build, "add_gradients", 2 * unit_B, unit_B, 1);
}

void
mdl_build_add (MdlBuild *build, double elements)
{
  const double unit_B = elements * build->element_B, sum_B = elements * build->stream_B;
  if (build->fused)
    return; /* in the norm that follows */
  if (build->query->dropout)
    mdl_build_memory (build, "dropout", unit_B, unit_B + elements, 1);
  mdl_build_memory (build, "add", unit_B + sum_B, sum_B, 1);
}

void
mdl_build_add_back (MdlBuild *build, double elements)
{
  if (!build->query->dropout)
    return;
  const double unit_B = elements * build->element_B;
  build->pass = MDL_PASS_DGRAD;
  mdl_build_memory (build, "dropout", unit_B + elements, unit_B, 1);
}

void
mdl_build_activation (MdlBuild *build, double elements)
{
  const double unit_B = elements * build->element_B;
  const unsigned modules = build->modules;
  build->modules |= MDL_MODULE_ACTIVATION | MDL_MODULE_SECOND;
  if (!mdl_llm_gated (build->llm))
    mdl_build_memory (build, "activation", unit_B, unit_B, 1);
  else if (build->fused)
    mdl_build_memory (build, "activation", 2 * unit_B, unit_B, 1);
  else /* function of the gate; times up */
    mdl_build_memory (build, "activation", 3 * unit_B, 2 * unit_B, 2);
  build->modules = modules;
}

void
mdl_build_activation_back (MdlBuild *build, double elements)
{
  const double unit_B = elements * build->element_B;
  build->pass = MDL_PASS_DGRAD;
  if (!mdl_llm_gated (build->llm))
    mdl_build_memory (build, "activation", 2 * unit_B, unit_B, 1);
  else if (build->fused)
    mdl_build_memory (build, "activation", 3 * unit_B, 2 * unit_B, 1);
  else /* gradients of the product's two sides, then of the function: three kernels of two in, one out */
    mdl_build_memory (build, "activation", 6 * unit_B, 3 * unit_B, 3);
}
