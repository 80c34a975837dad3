/* Shapes, parameters and FLOP of a network of operations.
 *
 * conv: out features at (h + 2p - k) / s + 1 positions each way, rounded down; out x in/groups x k² weights, a bias a feature.
 * matmul: each position by itself, out x in weights. embedding: a row of a table for each position. Norms: a weight and a bias a
 * feature; the running statistics of batch norm are no parameters.
 * FLOP of a sample: 2 a weight and position, forward; twice that backward (gradients of inputs and of weights), so that 6 are
 * counted, also for the first operation, which has no gradient of its input. Attention: 4 s² d a head forward, all pairs.
 * Source: Dumoulin and Visin 1603.07285 (shapes); torch.nn's definitions of parameters.
 * Check: published counts to the last parameter (tests/unit/test_models_net). */
#include <math.h>
#include <string.h>

#include "models/net.h"

#define EXACT      9007199254740992.0 /* 2^53: whole numbers up to it are doubles */
#define MAX_LAYERS 10000.0

const BaseName mdl_net_op_names[] = {
  { "matmul", MDL_NET_MATMUL, "a matrix on each position: fully connected" },
  { "conv", MDL_NET_CONV, "convolution over height and width" },
  { "attention", MDL_NET_ATTENTION, "core attention of queries, keys and values, side by side" },
  { "embedding", MDL_NET_EMBEDDING, "a row of a learned table for each position" },
  { "elementwise", MDL_NET_ELEMENTWISE, "norms, activations, pooling, sums" },
  { NULL, 0, NULL },
};

const BaseName mdl_net_element_names[] = {
  { "batch_norm", MDL_ELEMENT_BATCH_NORM, "over samples and positions; a weight and a bias per feature" },
  { "layer_norm", MDL_ELEMENT_LAYER_NORM, "over features; a weight and a bias per feature" },
  { "relu", MDL_ELEMENT_RELU, "activation" },
  { "gelu", MDL_ELEMENT_GELU, "activation" },
  { "tanh", MDL_ELEMENT_TANH, "activation" },
  { "dropout", MDL_ELEMENT_DROPOUT, "with a mask of a byte per element" },
  { "add", MDL_ELEMENT_ADD, "sum with `with`" },
  { "max_pool", MDL_ELEMENT_MAX_POOL, "largest of `kernel` x `kernel`" },
  { "average_pool", MDL_ELEMENT_AVERAGE_POOL, "mean of `kernel` x `kernel`" },
  { "global_pool", MDL_ELEMENT_GLOBAL_POOL, "mean of all positions" },
  { "flatten", MDL_ELEMENT_FLATTEN, "all positions as features of one" },
  { "class_token", MDL_ELEMENT_CLASS_TOKEN, "one more, learned position" },
  { "take", MDL_ELEMENT_TAKE, "the first `rows` positions" },
  { "loss", MDL_ELEMENT_LOSS, "cross-entropy over the features" },
  { NULL, 0, NULL },
};

static MdlNetLayer *
layer_at (const MdlNet *net, unsigned item)
{
  return BASE_LIST_AT (net->layers, MdlNetLayer, item);
}

static MdlNetOp *
op_at (const MdlNetLayer *layer, unsigned i)
{
  return BASE_LIST_AT (layer->ops, MdlNetOp, i);
}

/* ---- shapes ---- */

static const char *
name_of (const MdlNetOp *op)
{
  const gboolean element = op->op.v == MDL_NET_ELEMENTWISE && op->kind.set;
  return element ? base_name (mdl_net_element_names, op->kind.v) : base_name (mdl_net_op_names, op->op.v);
}

static gboolean
is_pool (const MdlNetOp *op)
{
  return op->op.v == MDL_NET_ELEMENTWISE && (op->kind.v == MDL_ELEMENT_MAX_POOL || op->kind.v == MDL_ELEMENT_AVERAGE_POOL);
}

/* What an operation cannot do without, and what it has no use for. */
static gboolean
check_keys (const MdlNetOp *op, BaseDiag *diag)
{
  const gboolean conv = op->op.v == MDL_NET_CONV, matmul = op->op.v == MDL_NET_MATMUL, table = op->op.v == MDL_NET_EMBEDDING,
                 element = op->op.v == MDL_NET_ELEMENTWISE, attention = op->op.v == MDL_NET_ATTENTION, pool = is_pool (op),
                 takes = element && op->kind.v == MDL_ELEMENT_TAKE, sum = element && op->kind.v == MDL_ELEMENT_ADD;
  const struct {
    const char *key, *example;
    gboolean needed, allowed, is;
    BaseMark mark;
  } keys[] = {
    { "out", "out: 64", conv || matmul || (table && !op->add.v), conv || matmul || table, base_num_written (&op->out),
      op->out.mark },
    { "kernel", "kernel: 3", conv || pool, conv || pool, base_num_written (&op->kernel), op->kernel.mark },
    { "stride", "", FALSE, conv || pool, base_num_written (&op->stride), op->stride.mark },
    { "padding", "", FALSE, conv || pool, base_num_written (&op->padding), op->padding.mark },
    { "groups", "", FALSE, conv, base_num_written (&op->groups), op->groups.mark },
    { "heads", "heads: 16", attention, attention, base_num_written (&op->heads), op->heads.mark },
    { "rows", "rows: 512", table || takes, table || takes, base_num_written (&op->rows), op->rows.mark },
    { "kind", "kind: relu", element, element, op->kind.set || op->kind.mark.line > 0, op->kind.mark },
    { "with", "with: NAME of an earlier operation, or input", sum, sum, op->with.set, op->with.mark },
    { "bias", "", FALSE, conv || matmul, op->bias.set, op->bias.mark },
    { "tied", "", FALSE, matmul, op->tied.set, op->tied.mark },
    { "add", "", FALSE, table, op->add.set, op->add.mark },
    { "causal", "", FALSE, attention, op->causal.set, op->causal.mark },
  };
  gboolean right = TRUE;
  for (size_t i = 0; i < G_N_ELEMENTS (keys); i++) {
    if (keys[i].needed && !keys[i].is)
      base_diag_error (diag, op->head.mark, "'%s' is missing in this %s (e.g. %s)", keys[i].key, name_of (op), keys[i].example);
    else if (keys[i].is && !keys[i].allowed)
      base_diag_error (diag, keys[i].mark, "'%s' has no effect on %s; leave it out", keys[i].key, name_of (op));
    else
      continue;
    right = FALSE;
  }
  return right;
}

/* The operation that a name stands for, before `i`. */
static gboolean
find_operand (const MdlNetLayer *layer, unsigned i, const BaseStr *name, int *out, BaseDiag *diag)
{
  *out = (int)i - 1;
  if (!name->set)
    return TRUE;
  if (strcmp (name->v, "input") == 0) {
    *out = -1;
    return TRUE;
  }
  for (unsigned k = 0; k < i; k++)
    if (g_strcmp0 (op_at (layer, k)->name.v, name->v) == 0) {
      *out = (int)k;
      return TRUE;
    }
  base_diag_error (diag, name->mark,
                   "no earlier operation of this layer is named '%s'; accepted: a `name` above it in the layer, or input", name->v);
  return FALSE;
}

static MdlShape
output_of (const MdlNetLayer *layer, int op)
{
  return op < 0 ? layer->input : op_at (layer, (unsigned)op)->output;
}

/* Positions along one side that a window finds; below 1: none. */
static double
windows (const MdlNetOp *op, double side)
{
  const double stride = op->stride.set ? op->stride.v : is_pool (op) ? op->kernel.v : 1;
  return floor ((side + 2 * op->padding.v - op->kernel.v) / stride) + 1;
}

static gboolean
slide (MdlNetOp *op, BaseDiag *diag)
{
  op->output.height = windows (op, op->input.height);
  op->output.width = windows (op, op->input.width);
  if (op->output.height >= 1 && op->output.width >= 1)
    return TRUE;
  base_diag_error (diag, op->kernel.mark, "a kernel of %.0f does not fit into %.0f x %.0f positions with padding %.0f",
                   op->kernel.v, op->input.height, op->input.width, op->padding.v);
  return FALSE;
}

static gboolean
settle_conv (MdlNetOp *op, BaseDiag *diag)
{
  const double groups = op->groups.v;
  op->output.features = op->out.v;
  if (fmod (op->input.features, groups) > 0 || fmod (op->out.v, groups) > 0) {
    base_diag_error (diag, op->groups.mark, "%.0f groups do not divide %.0f channels in and %.0f out", groups, op->input.features,
                     op->out.v);
    return FALSE;
  }
  return slide (op, diag);
}

static gboolean
settle_attention (MdlNetOp *op, BaseDiag *diag)
{
  const double hidden = op->input.features / 3;
  op->output.features = hidden;
  if (fmod (op->input.features, 3) > 0 || fmod (hidden, op->heads.v) > 0) {
    base_diag_error (
        diag, op->head.mark,
        "attention takes queries, keys and values side by side: %.0f features are not 3 x %.0f heads of whole width; put "
        "a matmul with out = 3 x hidden before it",
        op->input.features, op->heads.v);
    return FALSE;
  }
  return TRUE;
}

static gboolean
settle_embedding (MdlNetOp *op, BaseDiag *diag)
{
  if (!op->add.v) {
    op->output.features = op->out.v;
    if (op->input.features <= 0)
      return TRUE;
    base_diag_error (diag, op->head.mark,
                     "an embedding takes tokens, and %.0f features come; accepted: the first operation of a "
                     "network without `features` in `input`, or add: true",
                     op->input.features);
    return FALSE;
  }
  return TRUE;
}

static gboolean
settle_sum (const MdlNetLayer *layer, MdlNetOp *op, unsigned i, BaseDiag *diag)
{
  if (!find_operand (layer, i, &op->with, &op->other, diag))
    return FALSE;
  const MdlShape other = output_of (layer, op->other);
  if (memcmp (&other, &op->input, sizeof other) == 0)
    return TRUE;
  base_diag_error (diag, op->with.mark,
                   "a sum of %.0f x %.0f x %.0f and %.0f x %.0f x %.0f (features x height x width); both must "
                   "be alike",
                   op->input.features, op->input.height, op->input.width, other.features, other.height, other.width);
  return FALSE;
}

static gboolean
settle_element (const MdlNetLayer *layer, MdlNetOp *op, unsigned i, BaseDiag *diag)
{
  const double positions = op->input.height * op->input.width;
  switch ((MdlNetElement)op->kind.v) {
    case MDL_ELEMENT_ADD:
      return settle_sum (layer, op, i, diag);
    case MDL_ELEMENT_MAX_POOL:
    case MDL_ELEMENT_AVERAGE_POOL:
      return slide (op, diag);
    case MDL_ELEMENT_GLOBAL_POOL:
      op->output.height = op->output.width = 1;
      return TRUE;
    case MDL_ELEMENT_FLATTEN:
      op->output = (MdlShape){ op->input.features * positions, 1, 1 };
      return TRUE;
    case MDL_ELEMENT_CLASS_TOKEN:
      op->output = (MdlShape){ op->input.features, positions + 1, 1 };
      return TRUE;
    case MDL_ELEMENT_TAKE:
      op->output = (MdlShape){ op->input.features, op->rows.v, 1 };
      if (op->rows.v <= positions)
        return TRUE;
      base_diag_error (diag, op->rows.mark, "%.0f positions of %.0f", op->rows.v, positions);
      return FALSE;
    case MDL_ELEMENT_BATCH_NORM:
    case MDL_ELEMENT_LAYER_NORM:
    case MDL_ELEMENT_RELU:
    case MDL_ELEMENT_GELU:
    case MDL_ELEMENT_TANH:
    case MDL_ELEMENT_DROPOUT:
    case MDL_ELEMENT_LOSS:
    default:
      return TRUE;
  }
}

static gboolean
settle_op (const MdlNetLayer *layer, unsigned i, BaseDiag *diag)
{
  MdlNetOp *op = op_at (layer, i);
  if (!check_keys (op, diag) || !find_operand (layer, i, &op->from, &op->source, diag))
    return FALSE;
  op->other = op->source;
  op->input = op->output = output_of (layer, op->source);
  if (op->in.set && (op->in.v < op->input.features || op->in.v > op->input.features)) {
    base_diag_error (diag, op->in.mark, "this %s takes %.0f channels, and %.0f come from %s; write in: %.0f, or change `out` there",
                     name_of (op), op->in.v, op->input.features, op->source < 0 ? "before this layer" : "the operation before",
                     op->input.features);
    return FALSE;
  }
  if (op->input.features <= 0 && op->op.v != MDL_NET_EMBEDDING) {
    base_diag_error (diag, op->head.mark,
                     "nothing says how many channels this %s takes; write input: {features: 3, height: 224, "
                     "width: 224} in the network, or an embedding first",
                     name_of (op));
    return FALSE;
  }
  switch ((MdlNetOpKind)op->op.v) {
    case MDL_NET_CONV:
      return settle_conv (op, diag);
    case MDL_NET_ATTENTION:
      return settle_attention (op, diag);
    case MDL_NET_EMBEDDING:
      return settle_embedding (op, diag);
    case MDL_NET_ELEMENTWISE:
      return settle_element (layer, op, i, diag);
    case MDL_NET_MATMUL:
    default:
      op->output.features = op->out.v;
      return TRUE;
  }
}

static gboolean
check_result (const MdlNetOp *op, BaseDiag *diag)
{
  const double elements = op->output.features * op->output.height * op->output.width;
  if (elements < EXACT)
    return TRUE;
  base_diag_error (diag, op->head.mark, "this %s makes %.3g elements per sample; accepted: fewer than 2^53", name_of (op),
                   elements);
  return FALSE;
}

/* What is counted stays whole in doubles, and lists stay short. */
static gboolean
check_totals (const MdlNet *net, BaseDiag *diag)
{
  const double total = mdl_net_parameters (net, NULL), layers = mdl_net_n_layers (net);
  if (layers > MAX_LAYERS)
    base_diag_error (diag, net->layers.mark, "%.0f layers; accepted: at most %.0f", layers, MAX_LAYERS);
  else if (total >= EXACT)
    base_diag_error (diag, net->head.mark, "the layers make up %.3g parameters; at most 2^53 are counted", total);
  else if (net->parameters.set && (net->parameters.v < total || net->parameters.v > total))
    base_diag_warn (diag, net->parameters.mark, "the layers make up %.0f parameters, not the %.0f of 'parameters'", total,
                    net->parameters.v);
  return layers <= MAX_LAYERS && total < EXACT;
}

gboolean
mdl_net_settle (MdlNet *net, BaseDiag *diag)
{
  MdlShape shape = { net->input.features.v, net->input.height.v, net->input.width.v };
  for (unsigned l = 0; l < net->layers.n; l++) {
    MdlNetLayer *layer = layer_at (net, l);
    layer->input = shape;
    if (layer->ops.n == 0) {
      base_diag_error (diag, layer->head.mark, "a layer without operations; accepted: ops: [{op: matmul, out: 1000}, …]");
      return FALSE;
    }
    for (unsigned i = 0; i < layer->ops.n; i++)
      if (!settle_op (layer, i, diag) || !check_result (op_at (layer, i), diag))
        return FALSE;
    shape = op_at (layer, layer->ops.n - 1)->output;
    if (layer->count.v > 1 && memcmp (&shape, &layer->input, sizeof shape) != 0) {
      base_diag_error (diag, layer->count.mark,
                       "%.0f layers in a row that take %.0f x %.0f x %.0f and give %.0f x %.0f x %.0f (features x height x width); "
                       "both must be alike: write the first of them as a layer of its own",
                       layer->count.v, layer->input.features, layer->input.height, layer->input.width, shape.features, shape.height,
                       shape.width);
      return FALSE;
    }
  }
  return check_totals (net, diag);
}

double
mdl_net_n_layers (const MdlNet *net)
{
  double n = 0;
  for (unsigned i = 0; i < net->layers.n; i++)
    n += layer_at (net, i)->count.v;
  return n;
}

unsigned
mdl_net_item (const MdlNet *net, unsigned layer)
{
  unsigned item = 0;
  for (double upto = layer_at (net, 0)->count.v; upto <= layer && item + 1 < net->layers.n; upto += layer_at (net, item)->count.v)
    item++;
  return item;
}

/* ---- tensors, FLOP ---- */

static void
add_tensor (GArray *out, const char *name, double rows, double columns, gboolean matrix)
{
  g_array_append_val (out, ((MdlTensor){ .name = name, .rows = rows, .columns = columns, .copies = 1, .matrix = matrix }));
}

static void
op_tensors (const MdlNetOp *op, GArray *out)
{
  const double in = op->input.features, to = op->output.features;
  switch ((MdlNetOpKind)op->op.v) {
    case MDL_NET_MATMUL:
      if (!op->tied.v)
        add_tensor (out, "weight", to, in, TRUE);
      if (op->bias.v)
        add_tensor (out, "bias", to, 1, FALSE);
      break;
    case MDL_NET_CONV:
      add_tensor (out, "kernel", to, in / op->groups.v * op->kernel.v * op->kernel.v, TRUE);
      if (op->bias.v)
        add_tensor (out, "bias", to, 1, FALSE);
      break;
    case MDL_NET_EMBEDDING:
      add_tensor (out, "table", op->rows.v, to, FALSE);
      break;
    case MDL_NET_ELEMENTWISE:
      if (op->kind.v == MDL_ELEMENT_BATCH_NORM || op->kind.v == MDL_ELEMENT_LAYER_NORM) {
        add_tensor (out, "norm", in, 1, FALSE);
        add_tensor (out, "norm_bias", in, 1, FALSE);
      } else if (op->kind.v == MDL_ELEMENT_CLASS_TOKEN)
        add_tensor (out, "class_token", in, 1, FALSE);
      break;
    case MDL_NET_ATTENTION:
    default:
      break;
  }
}

void
mdl_net_tensors (const MdlNet *net, unsigned item, GArray *out)
{
  const MdlNetLayer *layer = layer_at (net, item);
  for (unsigned i = 0; i < layer->ops.n; i++)
    op_tensors (op_at (layer, i), out);
}

double
mdl_net_parameters (const MdlNet *net, double *matrix)
{
  double total = 0, multiplied = 0;
  for (unsigned l = 0; l < net->layers.n; l++) {
    g_autoptr (GArray) tensors = g_array_new (FALSE, FALSE, sizeof (MdlTensor));
    mdl_net_tensors (net, l, tensors);
    for (guint i = 0; i < tensors->len; i++) {
      const MdlTensor *tensor = &g_array_index (tensors, MdlTensor, i);
      const double elements = tensor->rows * tensor->columns * layer_at (net, l)->count.v;
      total += elements;
      multiplied += tensor->matrix ? elements : 0;
    }
  }
  if (matrix != NULL)
    *matrix = multiplied;
  return total;
}

void
mdl_net_flop (const MdlNet *net, double *matrix_flop, double *attention_flop)
{
  *matrix_flop = *attention_flop = 0;
  for (unsigned l = 0; l < net->layers.n; l++) {
    const MdlNetLayer *layer = layer_at (net, l);
    for (unsigned i = 0; i < layer->ops.n; i++) {
      const MdlNetOp *op = op_at (layer, i);
      const double positions = op->output.height * op->output.width, weights = op->input.features * op->output.features;
      if (op->op.v == MDL_NET_MATMUL)
        *matrix_flop += layer->count.v * 6 * positions * weights;
      else if (op->op.v == MDL_NET_CONV)
        *matrix_flop += layer->count.v * 6 * positions * weights / op->groups.v * op->kernel.v * op->kernel.v;
      else if (op->op.v == MDL_NET_ATTENTION)
        *attention_flop += layer->count.v * 3 * 4 * positions * positions * op->output.features;
    }
  }
}
