/* The section `memory`: its keys. A probe tells none of its constants: they are of training frameworks. */
#include "models/memory.h"
#include "base/rows.h"
#include "constants/section.h"
#include "models/library-spec.h"

static SCHEMA (loss_schema, "step memory loss", "Memory of a loss.",
               NUM (MdlLossSpec, kept, BYTES, "per logit, from the loss's forward to its backward pass", .min = "0", .max = "64 B",
                    .required = TRUE),
               NUM (MdlLossSpec, peak, BYTES, "per logit, at the peak, `kept` included", .min = "0", .max = "64 B",
                    .required = TRUE, .was = "most"));

static SCHEMA (memory_schema, "step memory", "Device memory of a training step besides its tensors.",
               MAP (MdlMemorySpec, loss, &loss_schema, "eager code, one rank has the whole vocabulary"),
               MAP (MdlMemorySpec, loss_sharded, &loss_schema, "eager code, vocabulary divided over ranks", .was = "loss_cut"),
               MAP (MdlMemorySpec, loss_fused, &loss_schema, "fused kernels"),
               MAP (MdlMemorySpec, loss_flash, &loss_schema, "flash-attention's cross-entropy"),
               MAP (MdlMemorySpec, loss_in_place, &loss_schema, "a cross-entropy whose gradient takes the logits' place"),
               NUM (MdlMemorySpec, weight_copies, NUMBER, "copies of weights in fp8 or fp4, if their products are", .min = "0",
                    .max = "8", .fallback = "2"),
               NUM (MdlMemorySpec, workspace, BYTES, "workspace of matrix libraries, in the framework's allocator",
                    .fallback = "0"),
               NUM (MdlMemorySpec, fragmentation, RATIO, "memory that the allocator holds unused, over its peak in use", .min = "0",
                    .max = "1", .fallback = "0"),
               NUM (MdlMemorySpec, fragmentation_tight, RATIO, "the least of it, if memory is short", .min = "0", .max = "1",
                    .fallback = "0"),
               NUM (MdlMemorySpec, fragmentation_expandable, RATIO, "the same with expandable segments", .min = "0", .max = "1",
                    .fallback = "0"),
               NUM (MdlMemorySpec, host_core, BANDWIDTH, "of a host that updates states, by core", .fallback = "25 GB/s"),
               NUM (MdlMemorySpec, host_memory, BANDWIDTH,
                    "of a host that updates states, of the memory that one GPU's cores share", .fallback = "145 GB/s"),
               NUM (MdlMemorySpec, context, BYTES, "outside the allocator: the driver's context, code of kernels", .fallback = "0"),
               NUM (MdlMemorySpec, communication, BYTES, "outside: extra memory of the first communicator", .fallback = "0"),
               NUM (MdlMemorySpec, communicator, BYTES, "outside: buffers of one communicator", .fallback = "0"));

const CstSection cst_memory = { "memory", &memory_schema, sizeof (MdlMemorySpec), offsetof (MdlLibrary, memory), NULL };
