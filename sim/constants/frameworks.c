/* The section `frameworks`: what training frameworks make of the kernels' times. Its rows come from published runs
 * (tests/accuracy/training.sh), which no probe measures. */
#include "base/rows.h"
#include "constants/section.h"
#include "models/library-spec.h"
#include "models/software.h"

static SCHEMA (
    row_schema, "framework", "A framework's release on a GPU.",
    ROW (MdlSoftwareRow, name, STR, "framework, as in scenarios", .required = TRUE),
    NUM (MdlSoftwareRow, year, COUNT, "year of the measured release", .min = "2017", .max = "2100", .required = TRUE),
    NUM (MdlSoftwareRow, capability, COUNT, "compute capability from which the row applies, in its generation: 80, 90, 100, 103; "
         "default: GPUs that have none, of other vendors than NVIDIA", .min = "10", .max = "1000"),
    ROW (MdlSoftwareRow, precision, ENUM, "format of the matrix products", .names = mdl_precision_names, .required = TRUE),
    NUM (MdlSoftwareRow, efficiency, RATIO, "time of kernels is divided by this", .min = "5 %", .max = "2", .required = TRUE),
    NUM (MdlSoftwareRow, attention, RATIO, "the same for the framework's fused attention; default: `efficiency`", .min = "5 %",
         .max = "2"),
    NUM (MdlSoftwareRow, runs, COUNT, "published steps that `efficiency` was fitted to; default: none", .min = "1"),
    NUM (MdlSoftwareRow, error, RATIO, "half-width of the band of `efficiency`", .max = "1", .fallback = "25 %"),
    NUM (MdlSoftwareRow, optimizer, RATIO, "the same for the optimizer's kernels over many tensors; default: `efficiency`",
         .min = "5 %", .max = "2"),
    NUM (MdlSoftwareRow, kernel, TIME, "host time per kernel that is not replayed from a graph; default: 0", .max = "1 ms"),
    NUM (MdlSoftwareRow, sync, TIME, "host time to continue after waiting for the GPU; default: `launch.wait` of the kernels",
         .max = "10 ms"),
    NUM (MdlSoftwareRow, collective, TIME, "host time per collective", .max = "10 ms"),
    NUM (MdlSoftwareRow, replica, TIME,
         "host time to make a replica of the modules for another GPU of the process, and start its thread", .max = "1 s"),
    NUM (MdlSoftwareRow, shards, TIME, "host time per gather or scatter of sharded parameters; default: `collective`",
         .max = "100 ms"),
    NUM (MdlSoftwareRow, step, TIME, "exposed time per step: the training loop, values read back from the GPU", .max = "1 min"),
    NUM (MdlSoftwareRow, spread, RATIO, "standard deviation of the ranks' compute; the slowest sets the pace", .max = "20 %"),
    ROW (MdlSoftwareRow, queues_sends, BOOL, "sends and receives of a pipeline rank run on one stream, in PyTorch's order",
         .fallback = "false"),
    ROW (MdlSoftwareRow, overlap_tp, BOOL, "tensor-parallel collectives overlap products, unless the scenario says otherwise",
         .fallback = "false"));

static SCHEMA (buckets_schema, "gradient buckets", "Size of one gradient reduction without `ddp: {bucket: …}`.",
               NUM (MdlBuckets, first, BYTES, "first bucket of all-reduced gradients; default: as the others", .min = "1 B"),
               NUM (MdlBuckets, min_parameters, COUNT,
                    "parameters whose gradients are reduce-scattered together; default: all of a chunk", .min = "1",
                    .was = "least"),
               NUM (MdlBuckets, per_rank, COUNT, "the same per data-parallel rank; the larger counts"));

static SCHEMA (away_schema, "framework rows for something else",
               "What widens the band of an efficiency; it adds to the row's `error` in quadrature.",
               NUM (MdlSoftwareAway, gpu, RATIO, "another generation of GPUs", .max = "1", .fallback = "20 %"),
               NUM (MdlSoftwareAway, vendor, RATIO, "another vendor's GPU", .max = "1", .fallback = "30 %"),
               NUM (MdlSoftwareAway, format, RATIO, "another number format", .max = "1", .fallback = "15 %"),
               NUM (MdlSoftwareAway, year, RATIO, "another year, or none named", .max = "1", .fallback = "10 %"));

static SCHEMA (frameworks_schema, "frameworks", "Efficiency and host times of training frameworks.",
               LIST (MdlSoftware, rows, &row_schema, MdlSoftwareRow, "a row per framework, year, generation and format",
                     .required = TRUE),
               MAP (MdlSoftware, away, &away_schema, "band of rows that are taken for something else"),
               MAP (MdlSoftware, buckets, &buckets_schema, "gradient buckets"));

const CstSection cst_frameworks = { "frameworks", &frameworks_schema, sizeof (MdlSoftware), offsetof (MdlLibrary, software), NULL };
