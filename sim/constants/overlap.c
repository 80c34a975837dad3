/* The section `overlap`: one row a key, see models/overlap.h for what each is used for. */
#include "models/overlap.h"
#include "base/rows.h"
#include "constants/section.h"
#include "models/library-spec.h"

#define CHANNEL_TRAFFIC(T, help_) NUM (T, channel_traffic, BANDWIDTH, help_, .was = "pass", .min = "1 MB/s", .required = TRUE)

static SCHEMA (kernel_schema, "overlap kernel", "A kind of kernel beside collectives.",
               NUM (MdlOverlapKernelSpec, sm_cost, NUMBER, "of the time that it needs more on the SMs that are left, what it loses",
                    .min = "0", .max = "4", .fallback = "1"),
               CHANNEL_TRAFFIC (MdlOverlapKernelSpec,
                                "HBM traffic of a collective's channel that passes it at full load, on top of its time alone"));

static SCHEMA (memory_schema, "overlap memory", "Kernels that HBM bounds, beside collectives.",
               NUM (MdlOverlapMemorySpec, traffic_cost, NUMBER,
                    "HBM time of a byte of communication over that of a byte of a memory-bound kernel", .min = "0", .max = "4",
                    .fallback = "1"),
               CHANNEL_TRAFFIC (MdlOverlapMemorySpec,
                                "the same beside a kernel that takes all of the HBM; one that takes a part counts by it"));

static SCHEMA (overlap_schema, "overlap", "What kernels and collectives on one GPU do to each other.",
               MAP (MdlOverlap, gemm, &kernel_schema, "matrix products"),
               MAP (MdlOverlap, attention, &kernel_schema, "attention in one kernel"),
               MAP (MdlOverlap, memory, &memory_schema, "what HBM bounds"),
               NUM (MdlOverlap, pairwise, NUMBER,
                    "time that a byte of sends and receives takes longer beside a kernel, over that of a ring's", .min = "0.1",
                    .max = "10", .fallback = "1"),
               NUM (MdlOverlap, wait, RATIO,
                    "of the running kernel's rest, what a collective waits for before it has SMs; 0: it preempts", .min = "0",
                    .max = "1", .fallback = "1"),
               NUM (MdlOverlap, spread, RATIO, "speed of one kernel on the GPUs of a node, slowest to fastest", .min = "0",
                    .max = "0.5", .fallback = "0"),
               NUM (MdlOverlap, error, RATIO, "half-width of the 90 % band", .min = "0", .fallback = "0"));

const CstSection cst_overlap = { "overlap", &overlap_schema, sizeof (MdlOverlap), offsetof (MdlLibrary, overlap) };
