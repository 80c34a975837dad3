/* Networks of operations from files and mappings: their keys, and what the rest of a step knows them by. */
#include "training/llm.h"

#include "models/net.h"

#define OP(text, member, what, ...)      BASE_ROW (MdlNetOp, text, member, what, __VA_ARGS__)
#define OP_NUM(text, member, least, ...) BASE_ROW_NUM (MdlNetOp, text, member, COUNT, .min = least, .max = "100 M", __VA_ARGS__)
static const BaseField op_fields[] = {
  OP ("op", op, ENUM, .names = mdl_net_op_names, .required = TRUE, .help = "operation"),
  OP ("name", name, STR, .help = "name for `from` and `with` of later operations of the layer"),
  OP ("from", from, STR, .help = "operand: a name, or `input` for the layer's input; default: the operation before"),
  OP ("with", with, STR, .help = "second operand of a sum"),
  OP_NUM ("in", in, "1", .help = "input features; default: those of the operand; checked if given"),
  OP_NUM ("out", out, "1", .help = "output features of a matmul, conv or embedding"),
  OP_NUM ("kernel", kernel, "1", .help = "side of a convolution's or a pool's window"),
  OP_NUM ("stride", stride, "1", .help = "step of the window; default: 1, or `kernel` of a pool"),
  OP_NUM ("padding", padding, "0", .fallback = "0", .help = "positions added on each side"),
  OP_NUM ("groups", groups, "1", .fallback = "1", .help = "groups of a convolution's channels"),
  OP_NUM ("heads", heads, "1", .help = "heads of attention"),
  OP_NUM ("rows", rows, "1", .help = "rows of an embedding's table; number of positions that `take` keeps"),
  OP ("kind", kind, ENUM, .names = mdl_net_element_names, .help = "which elementwise operation"),
  OP ("bias", bias, BOOL, .fallback = "true", .help = "bias of a matmul or conv"),
  OP ("tied", tied, BOOL, .fallback = "false", .help = "a matmul shares its matrix with another operation, such as an embedding"),
  OP ("add", add, BOOL, .fallback = "false", .help = "an embedding's row is added at each position"),
  OP ("causal", causal, BOOL, .fallback = "false", .help = "attention sees only earlier positions"),
  BASE_ROW_END,
};
static const BaseSchema op_schema = { .name = "operation", .help = "An operation of a layer.", .fields = op_fields };

static const BaseField layer_fields[] = {
  BASE_ROW (MdlNetLayer, "name", name, STR, .help = "name"),
  BASE_ROW_NUM (MdlNetLayer, "count", count, COUNT, .min = "1", .max = "10000", .fallback = "1",
                .help = "number of such layers in a row; their output shape must be their input shape"),
  BASE_ROW (MdlNetLayer, "ops", ops, LIST, .sub = &op_schema, .item_size = sizeof (MdlNetOp), .required = TRUE,
            .help = "operations, in order"),
  BASE_ROW_END,
};
static const BaseSchema layer_schema = { .name = "layer", .help = "A layer of a network.", .fields = layer_fields };

static const BaseField input_fields[] = {
  BASE_ROW_NUM (MdlNetInput, "features", features, COUNT, .max = "100 M", .fallback = "0",
                .help = "channels of a sample; 0: token numbers, input of an embedding"),
  BASE_ROW_NUM (MdlNetInput, "height", height, COUNT, .min = "1", .max = "1 M", .fallback = "1",
                .help = "rows of an image; tokens of a sequence"),
  BASE_ROW_NUM (MdlNetInput, "width", width, COUNT, .min = "1", .max = "1 M", .fallback = "1", .help = "columns of an image"),
  BASE_ROW_END,
};
static const BaseSchema input_schema = { .name = "input", .help = "A sample.", .fields = input_fields };

static const BaseField net_fields[] = {
  BASE_ROW (MdlNet, "network", name, STR, .required = TRUE, .help = "name; the first key of a file"),
  BASE_ROW (MdlNet, "description", description, STR, .help = "one line for `forerun list`"),
  BASE_ROW (MdlNet, "source", source, STR, .help = "source of the values"),
  BASE_ROW_NUM (MdlNet, "parameters", parameters, COUNT, .min = "1",
                .help = "exact published count; if the layers give another one, a warning says so"),
  BASE_ROW (MdlNet, "input", input, MAP, .sub = &input_schema, .required = TRUE, .help = "shape of a sample"),
  BASE_ROW (MdlNet, "layers", layers, LIST, .sub = &layer_schema, .item_size = sizeof (MdlNetLayer), .required = TRUE,
            .help = "layers, in order"),
  BASE_ROW_END,
};
const BaseSchema trn_schema_net = { .name = "network",
                                    .help = "A network of operations. One file per network in scenarios/networks.",
                                    .fields = net_fields };

gboolean
trn_net_read (const BaseYamlNode *map, const BaseSchemaContext *context, MdlLlm *out)
{
  MdlNet *net = base_arena_alloc (context->arena, sizeof *net);
  if (!base_schema_read (&trn_schema_net, map, FALSE, context, net) || !mdl_net_settle (net, context->diag))
    return FALSE;
  *out = (MdlLlm){ .head = net->head,
                   .name = net->name,
                   .description = net->description,
                   .source = net->source,
                   .parameters = net->parameters,
                   .net = net };
  out->layers = (BaseNum){ .v = mdl_net_n_layers (net), .set = TRUE, .mark = net->layers.mark };
  return TRUE;
}
