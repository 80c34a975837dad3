/* The works of a layer of operations, forward and backward, and the activations that it keeps.
 *
 * conv is one product without the matrix of patches in memory (implicit GEMM): M = samples x positions out, N = channels out,
 * K = channels in x k²; each input is read by k² / s² products, and once from memory. dgrad: M = samples x positions in, N =
 * channels in, the same FLOP; wgrad: M = channels out, N = channels in x k², K = samples x positions. The first operation of a
 * network has no gradient of its input.
 * Batch norm reads its input twice (statistics, then the result); backward it reads input and gradient twice. Fused code
 * computes an activation in the operation that makes its operand, both ways, and a sum by one more read. Pooling backward
 * reads the gradient (and the places of the largest, 1 B) and writes that of its input.
 * Kept for the backward pass: inputs of products, norms and GELU, results of ReLU and tanh (the input's memory where that is
 * not kept: in place), masks of dropout and places of max pooling, 1 B an element. A result that several read is kept once;
 * that of the last operation belongs to the layer behind.
 * Source: Chetlur et al. 1410.0759 (implicit GEMM); Ioffe and Szegedy 1502.03167 (batch norm and its gradient).
 * Check: FLOP = mdl_net_flop, memory by hand (tests/unit/test_models_net). */
#include <math.h>

#include "model/layer-private.h"
#include "models/net.h"

typedef struct {
  MdlBuild *build;
  const MdlNetLayer *layer;
  gboolean first; /* of the network */
} NetBuild;

static const MdlNetOp *
op_at (const MdlNetLayer *layer, int i)
{
  return BASE_LIST_AT (layer->ops, MdlNetOp, i);
}

static double
elements (const MdlShape *shape)
{
  return shape->features * shape->height * shape->width;
}

static gboolean
is_element (const MdlNetOp *op, MdlNetElement kind)
{
  return op->op.v == MDL_NET_ELEMENTWISE && op->kind.v == (int)kind;
}

static gboolean
is_activation (const MdlNetOp *op)
{
  return is_element (op, MDL_ELEMENT_RELU) || is_element (op, MDL_ELEMENT_GELU) || is_element (op, MDL_ELEMENT_TANH);
}

static double
samples (const NetBuild *b)
{
  return b->build->query->micro_batch;
}

static double
in_B (const NetBuild *b, const MdlNetOp *op)
{
  return samples (b) * elements (&op->input) * b->build->element_B;
}

static double
out_B (const NetBuild *b, const MdlNetOp *op)
{
  return samples (b) * elements (&op->output) * b->build->element_B;
}

/* ---- products ---- */

static double
groups_of (const MdlNetOp *op)
{
  return op->op.v == MDL_NET_CONV ? op->groups.v : 1;
}

/* Elements of the window that a product sums over. */
static double
window_of (const MdlNetOp *op)
{
  return op->op.v == MDL_NET_CONV ? op->kernel.v * op->kernel.v : 1;
}

/* Times that an input is an operand. */
static double
taps_of (const MdlNetOp *op)
{
  const double stride = op->stride.set ? op->stride.v : 1;
  return fmax (window_of (op) / (stride * stride), 1);
}

static MdlLinear
linear_of (const NetBuild *b, const MdlNetOp *op)
{
  const gboolean conv = op->op.v == MDL_NET_CONV;
  return (MdlLinear){ .name = conv ? "conv" : "matmul",
                      .in = op->input.features / groups_of (op) * window_of (op),
                      .out = op->output.features / groups_of (op),
                      .copies = groups_of (op),
                      .bias = op->bias.v,
                      .format = b->build->query->compute };
}

/* A product is a convolution: one kernel, whose operand of inputs takes less memory. */
static void
as_conv (const NetBuild *b, const MdlNetOp *op, guint at, double taps)
{
  if (op->op.v != MDL_NET_CONV)
    return;
  MdlWork *work = &g_array_index (b->build->out, MdlWork, at);
  const double weights = op->output.features * op->input.features / groups_of (op) * window_of (op);
  work->kernels = 1;
  work->gemm.conv = TRUE;
  work->gemm.taps = taps;
  work->read_B = work->pass == MDL_PASS_FORWARD ? in_B (b, op) + weights * b->build->element_B
                 : work->pass == MDL_PASS_DGRAD ? out_B (b, op) + weights * b->build->element_B
                                                : in_B (b, op) + out_B (b, op);
}

static void
product (const NetBuild *b, const MdlNetOp *op)
{
  const MdlLinear linear = linear_of (b, op);
  const guint at = b->build->out->len;
  const double rows = samples (b) * op->output.height * op->output.width;
  mdl_build_product (b->build, linear.name, rows, linear.out, linear.in, linear.copies, linear.format);
  as_conv (b, op, at, taps_of (op));
}

static void
product_back (const NetBuild *b, const MdlNetOp *op, gboolean begins)
{
  const MdlLinear linear = linear_of (b, op);
  const double rows = samples (b) * op->output.height * op->output.width, inputs = samples (b) * op->input.height * op->input.width;
  guint at = b->build->out->len;
  if (!begins) {
    const double columns = op->input.features / groups_of (op);
    b->build->pass = MDL_PASS_DGRAD;
    mdl_build_product (b->build, linear.name, inputs, columns, rows * linear.out * linear.in / (inputs * columns), linear.copies,
                       linear.format);
    as_conv (b, op, at, taps_of (op));
  }
  at = b->build->out->len;
  mdl_build_wgrad (b->build, &linear, rows);
  as_conv (b, op, at, taps_of (op));
  b->build->pass = MDL_PASS_DGRAD;
}

static void
attention (const NetBuild *b, const MdlNetOp *op, gboolean back)
{
  const double positions = op->output.height * op->output.width, dim = op->output.features / op->heads.v;
  const MdlWorkAttention core = { .batch = samples (b),
                                  .heads = op->heads.v,
                                  .kv_heads = op->heads.v,
                                  .q_len = positions,
                                  .kv_len = positions,
                                  .qk_dim = dim,
                                  .value_dim = dim,
                                  .share = op->causal.v ? 0.5 : 1,
                                  .steps = 1 };
  b->build->core = &core;
  mdl_build_core (b->build, back);
  b->build->core = NULL;
}

/* ---- the rest ---- */

static void
table (const NetBuild *b, const MdlNetOp *op, gboolean back)
{
  const double all_B = out_B (b, op), rows_B = op->rows.v * op->output.features * b->build->element_B;
  if (!back) {
    mdl_build_memory (b->build, op->add.v ? "add_positions" : "embedding", (op->add.v ? 2 : 1) * all_B, all_B, 1);
    return;
  }
  b->build->pass = MDL_PASS_WGRAD;
  mdl_build_memory (b->build, "embedding", all_B, rows_B, op->add.v ? 1 : 3);
  b->build->pass = MDL_PASS_DGRAD;
}

/* Fused code computes it where its operand is made. */
static gboolean
is_absorbed (const NetBuild *b, const MdlNetOp *op)
{
  if (!b->build->fused || op->source < 0 || !is_activation (op))
    return FALSE;
  const MdlNetOp *made_by = op_at (b->layer, op->source);
  return made_by->op.v == MDL_NET_MATMUL || made_by->op.v == MDL_NET_CONV || is_element (made_by, MDL_ELEMENT_BATCH_NORM) ||
         is_element (made_by, MDL_ELEMENT_LAYER_NORM) || is_element (made_by, MDL_ELEMENT_ADD);
}

/* Bytes of an elementwise operation, in passes over its input and its result, one byte of a mask an element of the result. */
typedef struct {
  const char *name;
  double read_in, read_out, write_in, write_out, read_mask, write_mask, kernels;
} Passes;

static const struct {
  Passes forward, back;
} passes[] = {
  [MDL_ELEMENT_BATCH_NORM] = { { "norm", 2, 0, 0, 1, 0, 0, 1 }, { "norm", 2, 2, 1, 0, 0, 0, 1 } },
  [MDL_ELEMENT_LAYER_NORM] = { { "norm", 1, 0, 0, 1, 0, 0, 1 }, { "norm", 1, 1, 1, 0, 0, 0, 2 } },
  [MDL_ELEMENT_RELU] = { { "relu", 1, 0, 0, 1, 0, 0, 1 }, { "relu", 0, 2, 1, 0, 0, 0, 1 } },
  [MDL_ELEMENT_GELU] = { { "gelu", 1, 0, 0, 1, 0, 0, 1 }, { "gelu", 1, 1, 1, 0, 0, 0, 1 } },
  [MDL_ELEMENT_TANH] = { { "tanh", 1, 0, 0, 1, 0, 0, 1 }, { "tanh", 0, 2, 1, 0, 0, 0, 1 } },
  [MDL_ELEMENT_DROPOUT] = { { "dropout", 1, 0, 0, 1, 0, 1, 1 }, { "dropout", 0, 1, 1, 0, 1, 0, 1 } },
  [MDL_ELEMENT_ADD] = { { "add", 2, 0, 0, 1, 0, 0, 1 }, { 0 } }, /* its gradient is that of both operands */
  [MDL_ELEMENT_MAX_POOL] = { { "pool", 1, 0, 0, 1, 0, 1, 1 }, { "pool", 0, 1, 1, 0, 1, 0, 1 } },
  [MDL_ELEMENT_AVERAGE_POOL] = { { "pool", 1, 0, 0, 1, 0, 0, 1 }, { "pool", 0, 1, 1, 0, 0, 0, 1 } },
  [MDL_ELEMENT_GLOBAL_POOL] = { { "pool", 1, 0, 0, 1, 0, 0, 1 }, { "pool", 0, 1, 1, 0, 0, 0, 1 } },
  [MDL_ELEMENT_FLATTEN] = { { 0 }, { 0 } },
  [MDL_ELEMENT_CLASS_TOKEN] = { { "class_token", 1, 0, 0, 1, 0, 0, 1 }, { "class_token", 0, 1, 1, 0, 0, 0, 1 } },
  [MDL_ELEMENT_TAKE] = { { "take", 0, 1, 0, 1, 0, 0, 1 }, { "take", 0, 1, 1, 0, 0, 0, 1 } },
  [MDL_ELEMENT_LOSS] = { { "loss", 2, 0, 0, 1, 0, 0, 4 }, { "loss", 2, 0, 1, 0, 0, 0, 2 } },
};

static void
element (const NetBuild *b, const MdlNetOp *op, gboolean back)
{
  const Passes *p = back ? &passes[op->kind.v].back : &passes[op->kind.v].forward;
  if (p->name == NULL || is_absorbed (b, op))
    return;
  const double mask_B = out_B (b, op) / b->build->element_B, input_B = in_B (b, op), output_B = out_B (b, op);
  mdl_build_memory (b->build, p->name, p->read_in * input_B + p->read_out * output_B + p->read_mask * mask_B,
                    p->write_in * input_B + p->write_out * output_B + p->write_mask * mask_B, p->kernels);
}

static void
forward_of (const NetBuild *b)
{
  for (unsigned i = 0; i < b->layer->ops.n; i++) {
    const MdlNetOp *op = op_at (b->layer, (int)i);
    if (op->op.v == MDL_NET_MATMUL || op->op.v == MDL_NET_CONV)
      product (b, op);
    else if (op->op.v == MDL_NET_ATTENTION)
      attention (b, op, FALSE);
    else if (op->op.v == MDL_NET_EMBEDDING)
      table (b, op, FALSE);
    else
      element (b, op, FALSE);
  }
}

/* Operations that read the result of operation i of the layer; -1: its input. */
static unsigned
readers_of (const MdlNetLayer *layer, int i)
{
  unsigned n = 0;
  for (unsigned k = 0; k < layer->ops.n; k++) {
    const MdlNetOp *op = op_at (layer, (int)k);
    n += op->source == i ? 1 : 0;
    n += is_element (op, MDL_ELEMENT_ADD) && op->other == i ? 1 : 0;
  }
  return n;
}

/* Gradients of a result that several read are added up. */
static void
add_up (const NetBuild *b, int i, const MdlShape *shape)
{
  const unsigned readers = readers_of (b->layer, i);
  const double unit_B = samples (b) * elements (shape) * b->build->element_B;
  for (unsigned k = 1; k < readers; k++)
    mdl_build_memory (b->build, "add_gradients", 2 * unit_B, unit_B, 1);
}

static void
back_of (const NetBuild *b)
{
  for (int i = (int)b->layer->ops.n - 1; i >= 0; i--) {
    const MdlNetOp *op = op_at (b->layer, i);
    b->build->pass = MDL_PASS_DGRAD;
    add_up (b, i, &op->output);
    if (op->op.v == MDL_NET_MATMUL || op->op.v == MDL_NET_CONV)
      product_back (b, op, b->first && op->source < 0);
    else if (op->op.v == MDL_NET_ATTENTION)
      attention (b, op, TRUE);
    else if (op->op.v == MDL_NET_EMBEDDING)
      table (b, op, TRUE);
    else
      element (b, op, TRUE);
  }
  if (!b->first)
    add_up (b, -1, &b->layer->input);
}

void
mdl_net_works (const MdlNet *net, const MdlLayerQuery *query, unsigned layer, GArray *forward, GArray *backward)
{
  MdlBuild build;
  const NetBuild b = { &build, BASE_LIST_AT (net->layers, MdlNetLayer, mdl_net_item (net, layer)), layer == 0 };
  if (forward != NULL) {
    mdl_build_init (&build, NULL, query, layer, forward);
    forward_of (&b);
  }
  if (backward == NULL)
    return;
  mdl_build_init (&build, NULL, query, layer, backward);
  if ((query->recompute & MDL_MODULE_LAYER) != 0) {
    build.pass = MDL_PASS_RECOMPUTE;
    forward_of (&b);
  }
  back_of (&b);
}

/* ---- memory ---- */

/* Marks results that the backward pass of an operation reads; kept[0]: the layer's input, kept[1 + i]: of operation i. Returned: B
 * beside them. */
static double
mark_kept (const MdlNetLayer *layer, int i, const MdlLayerQuery *query, gboolean *kept)
{
  const MdlNetOp *op = op_at (layer, i);
  const double unit_B = mdl_format_B (query->activation), out = query->micro_batch * elements (&op->output);
  const double positions = op->output.height * op->output.width;
  gboolean input = op->op.v != MDL_NET_EMBEDDING;
  double besides_B = 0;
  if (op->op.v == MDL_NET_ATTENTION) {
    kept[1 + i] = TRUE;
    besides_B = query->micro_batch * op->heads.v * positions * (query->flash ? 4 : positions * unit_B);
  } else if (op->op.v == MDL_NET_ELEMENTWISE)
    switch ((MdlNetElement)op->kind.v) {
      case MDL_ELEMENT_RELU:
      case MDL_ELEMENT_TANH:
        kept[1 + i] = TRUE;
        input = FALSE;
        break;
      case MDL_ELEMENT_DROPOUT:
      case MDL_ELEMENT_MAX_POOL:
        besides_B = out;
        input = FALSE;
        break;
      case MDL_ELEMENT_LOSS:
        besides_B = out * 4;
        break;
      case MDL_ELEMENT_ADD:
      case MDL_ELEMENT_AVERAGE_POOL:
      case MDL_ELEMENT_GLOBAL_POOL:
      case MDL_ELEMENT_FLATTEN:
      case MDL_ELEMENT_CLASS_TOKEN:
      case MDL_ELEMENT_TAKE:
        input = FALSE;
        break;
      case MDL_ELEMENT_BATCH_NORM:
      case MDL_ELEMENT_LAYER_NORM:
      case MDL_ELEMENT_GELU:
      default:
        break;
    }
  kept[1 + op->source] = kept[1 + op->source] || input;
  return besides_B;
}

void
mdl_net_memory (const MdlNet *net, const MdlLayerQuery *query, unsigned item, MdlActivationBytes *out)
{
  const MdlNetLayer *layer = BASE_LIST_AT (net->layers, MdlNetLayer, item);
  const double unit_B = query->micro_batch * mdl_format_B (query->activation);
  const gboolean again = (query->recompute & MDL_MODULE_LAYER) != 0;
  g_autofree gboolean *kept = g_new0 (gboolean, layer->ops.n + 1);
  double inside_B = 0, largest_B = 0;
  for (unsigned i = 0; i < layer->ops.n; i++) {
    const MdlNetOp *op = op_at (layer, (int)i);
    inside_B += mark_kept (layer, (int)i, query, kept);
    largest_B = fmax (largest_B, (elements (&op->input) + elements (&op->output)) * unit_B);
  }
  for (unsigned i = 0; i + 1 < layer->ops.n; i++)
    inside_B += kept[1 + i] ? elements (&op_at (layer, (int)i)->output) * unit_B : 0;
  const double input_B = kept[0] || again ? elements (&layer->input) * unit_B : 0;
  *out =
      (MdlActivationBytes){ .kept_B = input_B + (again ? 0 : inside_B), .again_B = again ? inside_B : 0, .working_B = largest_B };
  out->late_B = out->kept_B;
}
