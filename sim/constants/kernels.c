/* The section `kernels`: one row a key, see models/kernel-spec.h for what each is used for. */
#include "base/rows.h"
#include "constants/section.h"
#include "models/kernel-spec.h"
#include "models/library-spec.h"

#define SHARE(T, member, help_) NUM (T, member, RATIO, help_, .max = "1")
#define SIDE(T, member, help_)  NUM (T, member, COUNT, help_, .min = "1", .required = TRUE)

static SCHEMA (power_schema, "power", "Effect of the power limit.",
               NUM (MdlPowerSpec, idle, POWER, "part of the limit that the GPU always draws"),
               NUM (MdlPowerSpec, exponent, RATIO, "time grows by (power / limit) to this exponent", .max = "0.99"),
               NUM (MdlPowerSpec, credit, TIME, "extra energy after an idle period, as time at the limit"),
               NUM (MdlPowerSpec, interval, TIME, "period that shares the credit; at least one kernel", .min = "1 us"));

static SCHEMA (tile_schema, "tile", "Results of one block, in both orientations.", SIDE (MdlTileSpec, rows, "of results"),
               SIDE (MdlTileSpec, columns, "of results"));

static SCHEMA (
    rate_schema, "products of a format", "Products of one format.",
    SHARE (MdlGemmRate, share, "fraction of the peak in the main loop, at full clock"),
    NUM (MdlGemmRate, dgrad, RATIO, "fraction of `share` for gradients of inputs; default 1", .min = "1 %", .max = "1.5"),
    NUM (MdlGemmRate, wgrad, RATIO, "fraction of `share` for gradients of weights; default 1", .min = "1 %", .max = "1.5"),
    NUM (MdlGemmRate, conv, RATIO, "fraction of `share` for convolutions; default 1", .min = "1 %", .max = "1.5"),
    NUM (MdlGemmRate, winograd, NUMBER, "factor on `conv` for 3 x 3 convolutions with stride 1; default 1", .min = "1", .max = "4"),
    NUM (MdlGemmRate, power, POWER, "power at the peak, above idle; default: no limit"),
    NUM (MdlGemmRate, tile, TIME, "beginning and end of a tile"));

static SCHEMA (gemm_schema, "gemm", "Matrix products.", NUM (MdlGemmSpec, start, TIME, "start of a kernel"),
               NUM (MdlGemmSpec, feed, NUMBER, "operand bytes per FLOP of an SM's 16 bit peak", .min = "0.0001", .required = TRUE),
               SHARE (MdlGemmSpec, store, "exposed fraction of the time to write a round's results"),
               SIDE (MdlGemmSpec, depth, "the summed index is processed in multiples of this"),
               ROW (MdlGemmSpec, splits, NUMS, "parts into which the summed index may be split", .dim = BASE_DIM_COUNT, .min = "1",
                    .required = TRUE),
               NUM (MdlGemmSpec, split, TIME, "added if the summed index is split"),
               SHARE (MdlGemmSpec, grouped, "fraction of the rate in one call for many groups"),
               NUM (MdlGemmSpec, sustained, RATIO,
                    "factor on the rate of sustained products within steps, whose other kernels draw less power; default 1",
                    .min = "10 %", .max = "2"),
               LIST (MdlGemmSpec, tiles, &tile_schema, MdlTileSpec, "tiles that the library may choose", .required = TRUE),
               MAP_AS (MdlGemmSpec, "fp64", at[MDL_PRECISION_FP64], &rate_schema, "64 bit"),
               MAP_AS (MdlGemmSpec, "fp32", at[MDL_PRECISION_FP32], &rate_schema, "32 bit"),
               MAP_AS (MdlGemmSpec, "tf32", at[MDL_PRECISION_TF32], &rate_schema, "fp32 in memory, tensor cores"),
               MAP_AS (MdlGemmSpec, "fp16", at[MDL_PRECISION_FP16], &rate_schema, "16 bit"),
               MAP_AS (MdlGemmSpec, "bf16", at[MDL_PRECISION_BF16], &rate_schema, "16 bit"),
               MAP_AS (MdlGemmSpec, "fp8", at[MDL_PRECISION_FP8], &rate_schema, "8 bit, results bf16"),
               MAP_AS (MdlGemmSpec, "int8", at[MDL_PRECISION_INT8], &rate_schema, "8 bit integers"),
               MAP_AS (MdlGemmSpec, "fp4", at[MDL_PRECISION_FP4], &rate_schema, "4 bit, results bf16"));

static SCHEMA (pass_schema, "attention pass", "One pass of attention.", NUM (MdlAttentionPass, start, TIME, "start of the kernels"),
               NUM (MdlAttentionPass, share, RATIO, "fraction of the peak, products only", .min = "0.1 %", .max = "1",
                    .required = TRUE),
               NUM (MdlAttentionPass, scores, NUMBER, "exponentials per FLOP of an SM's 16 bit peak", .min = "0.0001",
                    .required = TRUE),
               NUM (MdlAttentionPass, tile, TIME, "beginning and end of a tile"));

static SCHEMA (attention_schema, "attention", "Fused attention.", SIDE (MdlAttentionSpec, queries, "per tile"),
               SIDE (MdlAttentionSpec, keys, "per tile"), MAP (MdlAttentionSpec, forward, &pass_schema, "forward"),
               MAP (MdlAttentionSpec, backward, &pass_schema, "backward"));

static SCHEMA (decode_schema, "decode", "Attention of sequences that decode, from a paged KV cache.",
               NUM (MdlDecodeSpec, start, TIME, "start of the kernels"),
               NUM (MdlDecodeSpec, share, RATIO, "fraction of the rate at which kernels read memory", .min = "1 %", .max = "1.2",
                    .required = TRUE),
               NUM (MdlDecodeSpec, math, RATIO, "fraction of the peak if the products take longer", .min = "0.1 %", .max = "1",
                    .required = TRUE),
               SIDE (MdlDecodeSpec, rows, "queries that share a KV head are padded to multiples of this"),
               NUM (MdlDecodeSpec, tile, TIME, "time on an SM per sequence and KV head"),
               NUM (MdlDecodeSpec, least, TIME, "shortest time to read the cache"),
               NUM (MdlDecodeSpec, join, TIME, "time per part of a sequence that is cut so that all SMs have work", .max = "1 ms"));

static SCHEMA (starts_schema, "starts", "Time not hidden by moving bytes, by kind of kernel.",
               NUM_AS (MdlMemoryStarts, "copy", at[MDL_MEMORY_COPY], TIME, "one array in, one out"),
               NUM_AS (MdlMemoryStarts, "add", at[MDL_MEMORY_ADD], TIME, "two in, one out"),
               NUM_AS (MdlMemoryStarts, "swiglu", at[MDL_MEMORY_GATED], TIME, "two in, one out, a nonlinearity between"),
               NUM_AS (MdlMemoryStarts, "rmsnorm", at[MDL_MEMORY_NORM], TIME, "by rows, one reduction in each"),
               NUM_AS (MdlMemoryStarts, "softmax", at[MDL_MEMORY_SOFTMAX], TIME, "by rows, two reductions in each"),
               NUM_AS (MdlMemoryStarts, "adam", at[MDL_MEMORY_ADAM], TIME, "optimizers"));

static SCHEMA (
    memory_schema, "memory", "Kernels bound by memory.",
    NUM (MdlMemoryKernelSpec, share, RATIO, "fraction of the GPU's memory_efficiency if as much is read as written", .min = "1 %",
         .max = "1.2", .required = TRUE),
    NUM (MdlMemoryKernelSpec, reads, RATIO, "relative gain of that fraction if there are only reads", .max = "33 %"),
    NUM (MdlMemoryKernelSpec, cache, BYTES, "L2 data that the next kernel can find"),
    NUM (MdlMemoryKernelSpec, cache_rate, NUMBER, "L2 rate over the memory's"),
    NUM (MdlMemoryKernelSpec, index_add, FREQUENCY,
         "elements per second that PyTorch's index_add adds to rows by atomics; default: as memory allows"),
    NUM (MdlMemoryKernelSpec, index_copy, FREQUENCY, "elements per second that its index_copy moves; default: as memory allows"),
    NUM (MdlMemoryKernelSpec, passes, RATIO,
         "fraction of the rate that a framework's passes reach, optimizers aside: strided views, repeated reads; default 1",
         .min = "10 %", .max = "1.5"),
    MAP (MdlMemoryKernelSpec, start, &starts_schema, "by kind of kernel"));

static SCHEMA (
    launch_schema, "kernel launch", "Time to launch kernels.",
    NUM_AS (MdlLaunchSpec, "kernel", at[MDL_LAUNCH_COST_KERNEL], TIME, "host: queueing a kernel"),
    NUM_AS (MdlLaunchSpec, "graph", at[MDL_LAUNCH_COST_GRAPH], TIME, "host: cudaGraphLaunch"),
    NUM_AS (MdlLaunchSpec, "event", at[MDL_LAUNCH_COST_EVENT], TIME, "host: cudaEventRecord"),
    NUM_AS (MdlLaunchSpec, "synchronise", at[MDL_LAUNCH_COST_SYNCHRONISE], TIME, "host: waiting for a stream that is idle"),
    NUM_AS (MdlLaunchSpec, "wait", at[MDL_LAUNCH_COST_WAIT], TIME, "host: queueing an empty kernel and waiting for its end"),
    NUM_AS (MdlLaunchSpec, "kernel_gap", at[MDL_LAUNCH_COST_KERNEL_GAP], TIME, "GPU: shortest time from kernel to kernel"),
    NUM_AS (MdlLaunchSpec, "graph_kernel", at[MDL_LAUNCH_COST_GRAPH_KERNEL], TIME, "GPU: the same inside a graph"),
    NUM_AS (MdlLaunchSpec, "graph_gap", at[MDL_LAUNCH_COST_GRAPH_GAP], TIME, "GPU: shortest time from graph to graph"));

static SCHEMA (schema, "kernels", "Kernels on a GPU.",
               NUM (MdlKernels, error, RATIO, "half-width of the band if all constants are measured"),
               NUM (MdlKernels, assumed_error, RATIO, "half-width if one is not"),
               MAP (MdlKernels, power, &power_schema, "effect of the power limit"),
               MAP (MdlKernels, gemm, &gemm_schema, "matrix products"),
               MAP (MdlKernels, attention, &attention_schema, "fused attention"),
               MAP (MdlKernels, decode, &decode_schema, "attention of sequences that decode"),
               MAP (MdlKernels, memory, &memory_schema, "kernels bound by memory"),
               MAP (MdlKernels, launch, &launch_schema, "launches"));

const CstSection cst_kernels = { "kernels", &schema, sizeof (MdlKernels), offsetof (MdlLibrary, kernels), NULL };
