/* The section `overlap`: one row a key, see models/overlap.h for what each is used for. */
#include "models/overlap.h"
#include "constants/section.h"
#include "models/library-spec.h"

#define COST(type, help_) BASE_ROW_NUM (type, "sm_cost", sm_cost, NUMBER, .min = "0", .max = "4", .fallback = "1", .help = (help_))
#define PASS(type, help_) BASE_ROW_NUM (type, "pass", pass, BANDWIDTH, .min = "1 MB/s", .required = TRUE, .help = (help_))

static const BaseField kernel_fields[] = {
  COST (MdlOverlapKernelSpec, "of the time that it needs more on the SMs that are left, what it loses"),
  PASS (MdlOverlapKernelSpec, "HBM traffic of a collective's channel that passes it at full load, on top of its time alone"),
  BASE_ROW_END,
};
static const BaseSchema kernel_schema = { .name = "overlap kernel",
                                          .help = "A kind of kernel beside collectives.",
                                          .fields = kernel_fields };

static const BaseField memory_fields[] = {
  BASE_ROW_NUM (MdlOverlapMemorySpec, "traffic_cost", traffic_cost, NUMBER, .min = "0", .max = "4", .fallback = "1",
                .help = "HBM time of a byte of communication over that of a byte of a memory-bound kernel"),
  PASS (MdlOverlapMemorySpec, "the same beside a kernel that takes all of the HBM; one that takes a part counts by it"),
  BASE_ROW_END,
};
static const BaseSchema memory_schema = { .name = "overlap memory",
                                          .help = "Kernels that HBM bounds, beside collectives.",
                                          .fields = memory_fields };

static const BaseField overlap_fields[] = {
  BASE_ROW (MdlOverlap, "gemm", gemm, MAP, .sub = &kernel_schema, .help = "matrix products"),
  BASE_ROW (MdlOverlap, "attention", attention, MAP, .sub = &kernel_schema, .help = "attention in one kernel"),
  BASE_ROW (MdlOverlap, "memory", memory, MAP, .sub = &memory_schema, .help = "what HBM bounds"),
  BASE_ROW_NUM (MdlOverlap, "pairwise", pairwise, NUMBER, .min = "0.1", .max = "10", .fallback = "1",
                .help = "time that a byte of sends and receives takes longer beside a kernel, over that of a ring's"),
  BASE_ROW_NUM (MdlOverlap, "wait", wait, RATIO, .min = "0", .max = "1", .fallback = "1",
                .help = "of the running kernel's rest, what a collective waits for before it has SMs; 0: it preempts"),
  BASE_ROW_NUM (MdlOverlap, "spread", spread, RATIO, .min = "0", .max = "0.5", .fallback = "0",
                .help = "speed of one kernel on the GPUs of a node, slowest to fastest"),
  BASE_ROW_NUM (MdlOverlap, "error", error, RATIO, .min = "0", .fallback = "0", .help = "half-width of the 90 % band"),
  BASE_ROW_END,
};
static const BaseSchema overlap_schema = { .name = "overlap",
                                           .help = "What kernels and collectives on one GPU do to each other.",
                                           .fields = overlap_fields };

const CstSection cst_overlap = { "overlap", &overlap_schema, sizeof (MdlOverlap), offsetof (MdlLibrary, overlap) };
