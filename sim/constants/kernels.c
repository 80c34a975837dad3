/* The section `kernels`: one row a key, see models/kernel-spec.h for what each is used for. */
#include "constants/section.h"
#include "models/kernel-spec.h"
#include "models/library-spec.h"

#define NUM(type, member, key_, dim_, help_) BASE_ROW (type, key_, member, NUM, .dim = (dim_), .help = (help_))
#define SHARE(type, member, key_, help_)     BASE_ROW (type, key_, member, NUM, .dim = BASE_DIM_RATIO, .max = "1", .help = (help_))
#define SIDE(type, member, key_, help_) \
  BASE_ROW (type, key_, member, NUM, .dim = BASE_DIM_COUNT, .min = "1", .required = TRUE, .help = (help_))
#define MAP(type, member, key_, sub_, help_) BASE_ROW (type, key_, member, MAP, .sub = (sub_), .help = (help_))

static const BaseField power_fields[] = {
  NUM (MdlPowerSpec, idle, "idle", BASE_DIM_POWER, "of the limit, what the GPU draws whatever it does"),
  BASE_ROW (MdlPowerSpec, "exponent", exponent, NUM, .dim = BASE_DIM_RATIO, .max = "0.99",
            .help = "time grows with power over limit to this"),
  NUM (MdlPowerSpec, credit, "credit", BASE_DIM_TIME, "at the limit's power that may be drawn more after an idle moment"),
  BASE_ROW (MdlPowerSpec, "interval", interval, NUM, .dim = BASE_DIM_TIME, .min = "1 us",
            .help = "over which it spreads, or over one kernel if that is longer"),
  BASE_ROW_END,
};
static const BaseSchema power_schema = { .name = "power", .help = "What a power limit costs.", .fields = power_fields };

static const BaseField tile_fields[] = {
  SIDE (MdlTileSpec, rows, "rows", "of results"),
  SIDE (MdlTileSpec, columns, "columns", "of results"),
  BASE_ROW_END,
};
static const BaseSchema tile_schema = { .name = "tile",
                                        .help = "What one block makes; taken both ways round.",
                                        .fields = tile_fields };

static const BaseField rate_fields[] = {
  SHARE (MdlGemmRate, share, "share", "of the peak, in the main loop at full clock"),
  BASE_ROW (MdlGemmRate, "dgrad", dgrad, NUM, .dim = BASE_DIM_RATIO, .min = "1 %", .max = "1.5",
            .help = "of that share in gradients of inputs; default 1"),
  BASE_ROW (MdlGemmRate, "wgrad", wgrad, NUM, .dim = BASE_DIM_RATIO, .min = "1 %", .max = "1.5",
            .help = "of that share in gradients of weights; default 1"),
  NUM (MdlGemmRate, power, "power", BASE_DIM_POWER, "that it would draw at its peak, idle apart; default: no limit"),
  NUM (MdlGemmRate, tile, "tile", BASE_DIM_TIME, "beginning and end of a tile"),
  BASE_ROW_END,
};
static const BaseSchema rate_schema = { .name = "products of a format", .help = "Products of one format.", .fields = rate_fields };

static const BaseField gemm_fields[] = {
  NUM (MdlGemmSpec, start, "start", BASE_DIM_TIME, "of a kernel"),
  BASE_ROW (MdlGemmSpec, "feed", feed, NUM, .dim = BASE_DIM_NUMBER, .min = "0.0001", .required = TRUE,
            .help = "bytes of operands that reach an SM for each FLOP of its peak in 16 bit"),
  SHARE (MdlGemmSpec, store, "store", "of the time that memory takes for a round's results, what nothing hides"),
  SIDE (MdlGemmSpec, depth, "depth", "the summed index is cut to multiples of it"),
  BASE_ROW (MdlGemmSpec, "splits", splits, NUMS, .dim = BASE_DIM_COUNT, .min = "1", .required = TRUE,
            .help = "parts that the summed index may be cut to"),
  NUM (MdlGemmSpec, split, "split", BASE_DIM_TIME, "on top where it is"),
  SHARE (MdlGemmSpec, grouped, "grouped", "of the rate, in one call for many groups"),
  BASE_ROW (MdlGemmSpec, "tiles", tiles, LIST, .sub = &tile_schema, .item_size = sizeof (MdlTileSpec), .required = TRUE,
            .help = "that the library may choose"),
  MAP (MdlGemmSpec, at[MDL_PRECISION_FP64], "fp64", &rate_schema, "64 bit"),
  MAP (MdlGemmSpec, at[MDL_PRECISION_FP32], "fp32", &rate_schema, "32 bit"),
  MAP (MdlGemmSpec, at[MDL_PRECISION_TF32], "tf32", &rate_schema, "fp32 in memory, tensor cores"),
  MAP (MdlGemmSpec, at[MDL_PRECISION_FP16], "fp16", &rate_schema, "16 bit"),
  MAP (MdlGemmSpec, at[MDL_PRECISION_BF16], "bf16", &rate_schema, "16 bit"),
  MAP (MdlGemmSpec, at[MDL_PRECISION_FP8], "fp8", &rate_schema, "8 bit, results bf16"),
  MAP (MdlGemmSpec, at[MDL_PRECISION_INT8], "int8", &rate_schema, "8 bit, whole"),
  MAP (MdlGemmSpec, at[MDL_PRECISION_FP4], "fp4", &rate_schema, "4 bit, results bf16"),
  BASE_ROW_END,
};
static const BaseSchema gemm_schema = { .name = "gemm", .help = "Matrix products.", .fields = gemm_fields };

static const BaseField pass_fields[] = {
  NUM (MdlAttentionPass, start, "start", BASE_DIM_TIME, "of the kernels"),
  BASE_ROW (MdlAttentionPass, "share", share, NUM, .dim = BASE_DIM_RATIO, .min = "0.1 %", .max = "1", .required = TRUE,
            .help = "of the peak, by the products alone"),
  BASE_ROW (MdlAttentionPass, "scores", scores, NUM, .dim = BASE_DIM_NUMBER, .min = "0.0001", .required = TRUE,
            .help = "whose exponential an SM takes for each FLOP of its peak in 16 bit"),
  NUM (MdlAttentionPass, tile, "tile", BASE_DIM_TIME, "beginning and end of a tile"),
  BASE_ROW_END,
};
static const BaseSchema pass_schema = { .name = "attention pass", .help = "Attention, one way.", .fields = pass_fields };

static const BaseField attention_fields[] = {
  SIDE (MdlAttentionSpec, queries, "queries", "of a tile"),
  SIDE (MdlAttentionSpec, keys, "keys", "of a tile"),
  MAP (MdlAttentionSpec, forward, "forward", &pass_schema, "forward"),
  MAP (MdlAttentionSpec, backward, "backward", &pass_schema, "backward"),
  BASE_ROW_END,
};
static const BaseSchema attention_schema = { .name = "attention", .help = "Fused attention.", .fields = attention_fields };

static const BaseField starts_fields[] = {
  NUM (MdlMemoryStarts, at[MDL_MEMORY_COPY], "copy", BASE_DIM_TIME, "one array in, one out"),
  NUM (MdlMemoryStarts, at[MDL_MEMORY_ADD], "add", BASE_DIM_TIME, "two in, one out"),
  NUM (MdlMemoryStarts, at[MDL_MEMORY_GATED], "swiglu", BASE_DIM_TIME, "two in, one out, a nonlinearity between"),
  NUM (MdlMemoryStarts, at[MDL_MEMORY_NORM], "rmsnorm", BASE_DIM_TIME, "by rows, one reduction in each"),
  NUM (MdlMemoryStarts, at[MDL_MEMORY_SOFTMAX], "softmax", BASE_DIM_TIME, "by rows, two reductions in each"),
  NUM (MdlMemoryStarts, at[MDL_MEMORY_ADAM], "adam", BASE_DIM_TIME, "optimizers"),
  BASE_ROW_END,
};
static const BaseSchema starts_schema = { .name = "starts", .help = "What bytes do not hide, by kind.", .fields = starts_fields };

static const BaseField memory_fields[] = {
  BASE_ROW (MdlMemorySpec, "share", share, NUM, .dim = BASE_DIM_RATIO, .min = "1 %", .max = "1.2", .required = TRUE,
            .help = "of the GPU's memory_efficiency, where as much is read as written"),
  BASE_ROW (MdlMemorySpec, "reads", reads, NUM, .dim = BASE_DIM_RATIO, .max = "33 %",
            .help = "more, of it, were there reads alone"),
  NUM (MdlMemorySpec, cache, "cache", BASE_DIM_BYTES, "of the L2 that the next kernel may find"),
  NUM (MdlMemorySpec, cache_rate, "cache_rate", BASE_DIM_NUMBER, "of it, times the memory's"),
  MAP (MdlMemorySpec, start, "start", &starts_schema, "by kind"),
  BASE_ROW_END,
};
static const BaseSchema memory_schema = { .name = "memory", .help = "Kernels bound by memory.", .fields = memory_fields };

static const BaseField launch_fields[] = {
  NUM (MdlLaunchSpec, at[MDL_LAUNCH_COST_KERNEL], "kernel", BASE_DIM_TIME, "host: queueing a kernel"),
  NUM (MdlLaunchSpec, at[MDL_LAUNCH_COST_GRAPH], "graph", BASE_DIM_TIME, "host: cudaGraphLaunch"),
  NUM (MdlLaunchSpec, at[MDL_LAUNCH_COST_EVENT], "event", BASE_DIM_TIME, "host: cudaEventRecord"),
  NUM (MdlLaunchSpec, at[MDL_LAUNCH_COST_SYNCHRONISE], "synchronise", BASE_DIM_TIME, "host: waiting for a stream that is idle"),
  NUM (MdlLaunchSpec, at[MDL_LAUNCH_COST_WAIT], "wait", BASE_DIM_TIME, "host: queueing an empty kernel and waiting for its end"),
  NUM (MdlLaunchSpec, at[MDL_LAUNCH_COST_KERNEL_GAP], "kernel_gap", BASE_DIM_TIME, "GPU: least time from kernel to kernel"),
  NUM (MdlLaunchSpec, at[MDL_LAUNCH_COST_GRAPH_KERNEL], "graph_kernel", BASE_DIM_TIME, "GPU: the same inside a graph"),
  NUM (MdlLaunchSpec, at[MDL_LAUNCH_COST_GRAPH_GAP], "graph_gap", BASE_DIM_TIME, "GPU: least time from graph to graph"),
  BASE_ROW_END,
};
static const BaseSchema launch_schema = { .name = "launch", .help = "Launching.", .fields = launch_fields };

static const BaseField kernels_fields[] = {
  NUM (MdlKernels, error, "error", BASE_DIM_RATIO, "half-width of the band, where all constants are measured"),
  NUM (MdlKernels, assumed_error, "assumed_error", BASE_DIM_RATIO, "half-width where one is not"),
  MAP (MdlKernels, power, "power", &power_schema, "what a power limit costs"),
  MAP (MdlKernels, gemm, "gemm", &gemm_schema, "matrix products"),
  MAP (MdlKernels, attention, "attention", &attention_schema, "fused attention"),
  MAP (MdlKernels, memory, "memory", &memory_schema, "kernels bound by memory"),
  MAP (MdlKernels, launch, "launch", &launch_schema, "launching"),
  BASE_ROW_END,
};
static const BaseSchema schema = { .name = "kernels", .help = "Constants of kernels on a GPU.", .fields = kernels_fields };

const CstSection cst_kernels = { "kernels", &schema, sizeof (MdlKernels), offsetof (MdlLibrary, kernels) };
