/* The section `kernels`: one row a key, see models/kernel-spec.h for what each is used for. */
#include "base/rows.h"
#include "constants/section.h"
#include "models/kernel-spec.h"
#include "models/library-spec.h"

#define SHARE(T, member, help_) NUM (T, member, RATIO, help_, .max = "1")
#define SIDE(T, member, help_)  NUM (T, member, COUNT, help_, .min = "1", .required = TRUE)

static SCHEMA (power_schema, "power", "What a power limit costs.",
               NUM (MdlPowerSpec, idle, POWER, "of the limit, what the GPU draws whatever it does"),
               NUM (MdlPowerSpec, exponent, RATIO, "time grows with power over limit to this", .max = "0.99"),
               NUM (MdlPowerSpec, credit, TIME, "at the limit's power that may be drawn more after an idle moment"),
               NUM (MdlPowerSpec, interval, TIME, "over which it spreads, or over one kernel if that is longer", .min = "1 us"));

static SCHEMA (tile_schema, "tile", "What one block makes; taken both ways round.", SIDE (MdlTileSpec, rows, "of results"),
               SIDE (MdlTileSpec, columns, "of results"));

static SCHEMA (rate_schema, "products of a format", "Products of one format.",
               SHARE (MdlGemmRate, share, "of the peak, in the main loop at full clock"),
               NUM (MdlGemmRate, dgrad, RATIO, "of that share in gradients of inputs; default 1", .min = "1 %", .max = "1.5"),
               NUM (MdlGemmRate, wgrad, RATIO, "of that share in gradients of weights; default 1", .min = "1 %", .max = "1.5"),
               NUM (MdlGemmRate, power, POWER, "that it would draw at its peak, idle apart; default: no limit"),
               NUM (MdlGemmRate, tile, TIME, "beginning and end of a tile"));

static SCHEMA (gemm_schema, "gemm", "Matrix products.", NUM (MdlGemmSpec, start, TIME, "of a kernel"),
               NUM (MdlGemmSpec, feed, NUMBER, "bytes of operands that reach an SM for each FLOP of its peak in 16 bit",
                    .min = "0.0001", .required = TRUE),
               SHARE (MdlGemmSpec, store, "of the time that memory takes for a round's results, what nothing hides"),
               SIDE (MdlGemmSpec, depth, "the summed index is cut to multiples of it"),
               ROW (MdlGemmSpec, splits, NUMS, "parts that the summed index may be cut to", .dim = BASE_DIM_COUNT, .min = "1",
                    .required = TRUE),
               NUM (MdlGemmSpec, split, TIME, "on top where it is"),
               SHARE (MdlGemmSpec, grouped, "of the rate, in one call for many groups"),
               LIST (MdlGemmSpec, tiles, &tile_schema, MdlTileSpec, "that the library may choose", .required = TRUE),
               MAP_AS (MdlGemmSpec, "fp64", at[MDL_PRECISION_FP64], &rate_schema, "64 bit"),
               MAP_AS (MdlGemmSpec, "fp32", at[MDL_PRECISION_FP32], &rate_schema, "32 bit"),
               MAP_AS (MdlGemmSpec, "tf32", at[MDL_PRECISION_TF32], &rate_schema, "fp32 in memory, tensor cores"),
               MAP_AS (MdlGemmSpec, "fp16", at[MDL_PRECISION_FP16], &rate_schema, "16 bit"),
               MAP_AS (MdlGemmSpec, "bf16", at[MDL_PRECISION_BF16], &rate_schema, "16 bit"),
               MAP_AS (MdlGemmSpec, "fp8", at[MDL_PRECISION_FP8], &rate_schema, "8 bit, results bf16"),
               MAP_AS (MdlGemmSpec, "int8", at[MDL_PRECISION_INT8], &rate_schema, "8 bit, whole"),
               MAP_AS (MdlGemmSpec, "fp4", at[MDL_PRECISION_FP4], &rate_schema, "4 bit, results bf16"));

static SCHEMA (pass_schema, "attention pass", "Attention, one way.", NUM (MdlAttentionPass, start, TIME, "of the kernels"),
               NUM (MdlAttentionPass, share, RATIO, "of the peak, by the products alone", .min = "0.1 %", .max = "1",
                    .required = TRUE),
               NUM (MdlAttentionPass, scores, NUMBER, "whose exponential an SM takes for each FLOP of its peak in 16 bit",
                    .min = "0.0001", .required = TRUE),
               NUM (MdlAttentionPass, tile, TIME, "beginning and end of a tile"));

static SCHEMA (attention_schema, "attention", "Fused attention.", SIDE (MdlAttentionSpec, queries, "of a tile"),
               SIDE (MdlAttentionSpec, keys, "of a tile"), MAP (MdlAttentionSpec, forward, &pass_schema, "forward"),
               MAP (MdlAttentionSpec, backward, &pass_schema, "backward"));

static SCHEMA (starts_schema, "starts", "What bytes do not hide, by kind.",
               NUM_AS (MdlMemoryStarts, "copy", at[MDL_MEMORY_COPY], TIME, "one array in, one out"),
               NUM_AS (MdlMemoryStarts, "add", at[MDL_MEMORY_ADD], TIME, "two in, one out"),
               NUM_AS (MdlMemoryStarts, "swiglu", at[MDL_MEMORY_GATED], TIME, "two in, one out, a nonlinearity between"),
               NUM_AS (MdlMemoryStarts, "rmsnorm", at[MDL_MEMORY_NORM], TIME, "by rows, one reduction in each"),
               NUM_AS (MdlMemoryStarts, "softmax", at[MDL_MEMORY_SOFTMAX], TIME, "by rows, two reductions in each"),
               NUM_AS (MdlMemoryStarts, "adam", at[MDL_MEMORY_ADAM], TIME, "optimizers"));

static SCHEMA (memory_schema, "memory", "Kernels bound by memory.",
               NUM (MdlMemoryKernelSpec, share, RATIO, "of the GPU's memory_efficiency, where as much is read as written",
                    .min = "1 %", .max = "1.2", .required = TRUE),
               NUM (MdlMemoryKernelSpec, reads, RATIO, "more, of it, were there reads alone", .max = "33 %"),
               NUM (MdlMemoryKernelSpec, cache, BYTES, "of the L2 that the next kernel may find"),
               NUM (MdlMemoryKernelSpec, cache_rate, NUMBER, "of it, times the memory's"),
               MAP (MdlMemoryKernelSpec, start, &starts_schema, "by kind"));

static SCHEMA (launch_schema, "kernel launch", "What it takes to launch kernels.",
               NUM_AS (MdlLaunchSpec, "kernel", at[MDL_LAUNCH_COST_KERNEL], TIME, "host: queueing a kernel"),
               NUM_AS (MdlLaunchSpec, "graph", at[MDL_LAUNCH_COST_GRAPH], TIME, "host: cudaGraphLaunch"),
               NUM_AS (MdlLaunchSpec, "event", at[MDL_LAUNCH_COST_EVENT], TIME, "host: cudaEventRecord"),
               NUM_AS (MdlLaunchSpec, "synchronise", at[MDL_LAUNCH_COST_SYNCHRONISE], TIME,
                       "host: waiting for a stream that is idle"),
               NUM_AS (MdlLaunchSpec, "wait", at[MDL_LAUNCH_COST_WAIT], TIME,
                       "host: queueing an empty kernel and waiting for its end"),
               NUM_AS (MdlLaunchSpec, "kernel_gap", at[MDL_LAUNCH_COST_KERNEL_GAP], TIME, "GPU: least time from kernel to kernel"),
               NUM_AS (MdlLaunchSpec, "graph_kernel", at[MDL_LAUNCH_COST_GRAPH_KERNEL], TIME, "GPU: the same inside a graph"),
               NUM_AS (MdlLaunchSpec, "graph_gap", at[MDL_LAUNCH_COST_GRAPH_GAP], TIME, "GPU: least time from graph to graph"));

static SCHEMA (schema, "kernels", "Constants of kernels on a GPU.",
               NUM (MdlKernels, error, RATIO, "half-width of the band, where all constants are measured"),
               NUM (MdlKernels, assumed_error, RATIO, "half-width where one is not"),
               MAP (MdlKernels, power, &power_schema, "what a power limit costs"),
               MAP (MdlKernels, gemm, &gemm_schema, "matrix products"),
               MAP (MdlKernels, attention, &attention_schema, "fused attention"),
               MAP (MdlKernels, memory, &memory_schema, "kernels bound by memory"),
               MAP (MdlKernels, launch, &launch_schema, "launching"));

const CstSection cst_kernels = { "kernels", &schema, sizeof (MdlKernels), offsetof (MdlLibrary, kernels) };
