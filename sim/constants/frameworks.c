/* The section `frameworks`: what training frameworks make of the kernels' times. Its rows come from published runs
 * (tests/accuracy/training.sh), which no probe measures. */
#include "base/rows.h"
#include "constants/section.h"
#include "models/library-spec.h"
#include "models/software.h"

static SCHEMA (
    row_schema, "framework", "A framework's release on a GPU.",
    ROW (MdlSoftwareRow, name, STR, "of the framework, as scenarios give it", .required = TRUE),
    NUM (MdlSoftwareRow, year, COUNT, "of the release that was measured", .min = "2017", .max = "2100", .required = TRUE),
    NUM (MdlSoftwareRow, capability, COUNT, "compute capability from which on the row holds, in its generation: 80, 90, 100, 103",
         .min = "10", .max = "1000", .required = TRUE),
    ROW (MdlSoftwareRow, precision, ENUM, "of the matrix products", .names = mdl_precision_names, .required = TRUE),
    NUM (MdlSoftwareRow, efficiency, RATIO, "compute takes what its kernels take over this", .min = "5 %", .max = "2",
         .required = TRUE),
    NUM (MdlSoftwareRow, attention, RATIO, "the same of fused attention, whose kernels the framework brings; default: `efficiency`",
         .min = "5 %", .max = "2"),
    NUM (MdlSoftwareRow, optimizer, RATIO, "the same of the optimizer's kernels over many tensors; default: `efficiency`",
         .min = "5 %", .max = "2"),
    NUM (MdlSoftwareRow, kernel, TIME, "of the host for a kernel that is not replayed from a graph; default: launches do not show",
         .max = "1 ms"),
    NUM (MdlSoftwareRow, sync, TIME,
         "of the host to go on once the GPU has done what it waits for; default: `launch.wait` of the kernels", .max = "10 ms"),
    NUM (MdlSoftwareRow, collective, TIME, "of the host for a collective", .max = "10 ms"),
    NUM (MdlSoftwareRow, replica, TIME,
         "of the host to make a replica of the modules for another GPU of its process, and to start its thread", .max = "1 s"),
    NUM (MdlSoftwareRow, shards, TIME, "of the host for a gather or scatter of sharded parameters; default: `collective`",
         .max = "100 ms"),
    NUM (MdlSoftwareRow, step, TIME, "that nothing hides: the loop around a step, what it reads back from the GPU", .max = "1 min"),
    NUM (MdlSoftwareRow, spread, RATIO, "standard deviation of the ranks' compute; the slowest sets the pace", .max = "20 %"),
    ROW (MdlSoftwareRow, queues_sends, BOOL,
         "sends and receives of a pipeline rank run on one stream, in the order that PyTorch lists them in", .fallback = "false"),
    ROW (MdlSoftwareRow, overlap_tp, BOOL,
         "collectives of tensor parallelism run beside products unless the scenario says otherwise", .fallback = "false"));

static SCHEMA (
    buckets_schema, "gradient buckets", "How much one reduction of gradients takes where `ddp: {bucket: …}` is not given.",
    NUM (MdlBuckets, first, BYTES, "of gradients that are all-reduced, the first of a step; default: as the others", .min = "1 B"),
    NUM (MdlBuckets, min_parameters, COUNT, "parameters whose gradients are reduce-scattered together; default: all of a chunk",
         .min = "1", .was = "least"),
    NUM (MdlBuckets, per_rank, COUNT, "… and so many for each data-parallel rank, where that is more"));

static SCHEMA (frameworks_schema, "frameworks", "What training frameworks make of the kernels' times.",
               LIST (MdlSoftware, rows, &row_schema, MdlSoftwareRow, "a row a framework, year, generation and format",
                     .required = TRUE),
               MAP (MdlSoftware, buckets, &buckets_schema, "of gradients on their way"));

const CstSection cst_frameworks = { "frameworks", &frameworks_schema, sizeof (MdlSoftware), offsetof (MdlLibrary, software) };
