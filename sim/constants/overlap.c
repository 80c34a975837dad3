/* The section `overlap`: one row a key, see models/overlap.h for what each is used for. */
#include "models/overlap.h"
#include "base/rows.h"
#include "constants/section.h"
#include "models/library-spec.h"

#define CHANNEL_TRAFFIC(T, help_) NUM (T, channel_traffic, BANDWIDTH, help_, .was = "pass", .min = "1 MB/s", .required = TRUE)

static SCHEMA (kernel_schema, "overlap kernel", "Kernels concurrent with collectives.",
               NUM (MdlOverlapKernelSpec, sm_cost, NUMBER, "slowdown relative to the one expected from the remaining SMs",
                    .min = "0", .max = "4", .fallback = "1"),
               CHANNEL_TRAFFIC (MdlOverlapKernelSpec, "at full load, each byte of a collective's channel takes 1 / this longer"));

static SCHEMA (
    memory_schema, "overlap memory", "Memory-bound kernels concurrent with collectives.",
    NUM (MdlOverlapMemorySpec, traffic_cost, NUMBER,
         "HBM time of a byte of communication over that of a byte of a memory-bound kernel", .min = "0", .max = "4",
         .fallback = "1"),
    CHANNEL_TRAFFIC (
        MdlOverlapMemorySpec,
        "with a kernel that uses all HBM bandwidth, each byte of a channel takes 1 / this longer; in proportion if it uses less"));

static SCHEMA (overlap_schema, "overlap", "How kernels and concurrent collectives slow each other.",
               MAP (MdlOverlap, gemm, &kernel_schema, "matrix products"),
               MAP (MdlOverlap, attention, &kernel_schema, "attention in one kernel"),
               MAP (MdlOverlap, memory, &memory_schema, "memory-bound kernels"),
               NUM (MdlOverlap, pairwise, NUMBER, "slowdown of sends and receives concurrent with a kernel, over that of a ring",
                    .min = "0.1", .max = "10", .fallback = "1"),
               NUM (MdlOverlap, wait, RATIO,
                    "fraction of the running kernel's rest that a collective waits for SMs; 0: it preempts", .min = "0", .max = "1",
                    .fallback = "1"),
               NUM (MdlOverlap, spread, RATIO, "spread of one kernel's speed over a node's GPUs", .min = "0", .max = "0.5",
                    .fallback = "0"),
               NUM (MdlOverlap, error, RATIO, "half-width of the 90 % band", .min = "0", .fallback = "0"));

const CstSection cst_overlap = { "overlap", &overlap_schema, sizeof (MdlOverlap), offsetof (MdlLibrary, overlap), NULL };
