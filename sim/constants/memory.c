/* The section `memory`: its keys. A probe tells none of its constants: they are of training frameworks. */
#include "models/memory.h"
#include "base/rows.h"
#include "constants/section.h"
#include "models/library-spec.h"

static SCHEMA (loss_schema, "step memory loss", "What a loss holds.",
               NUM (MdlLossSpec, kept, BYTES, "a logit, from the loss's forward pass to its backward pass", .min = "0",
                    .max = "64 B", .required = TRUE),
               NUM (MdlLossSpec, peak, BYTES, "a logit, at any time, kept ones included", .min = "0", .max = "64 B",
                    .required = TRUE, .was = "most"));

static SCHEMA (memory_schema, "step memory", "What a training step holds in device memory beside its tensors.",
               MAP (MdlMemorySpec, loss, &loss_schema, "eager code, a vocabulary that one rank has whole"),
               MAP (MdlMemorySpec, loss_sharded, &loss_schema, "eager code, a vocabulary cut over ranks", .was = "loss_cut"),
               MAP (MdlMemorySpec, loss_fused, &loss_schema, "fused kernels"),
               NUM (MdlMemorySpec, weight_copies, NUMBER, "in fp8 or fp4, of weights whose products are", .min = "0", .max = "8",
                    .fallback = "2"),
               NUM (MdlMemorySpec, workspace, BYTES, "of matrix libraries, within the framework's allocator", .fallback = "0"),
               NUM (MdlMemorySpec, fragmentation, RATIO,
                    "what the allocator holds and does not give out, over what it gave out at the peak", .min = "0", .max = "1",
                    .fallback = "0"),
               NUM (MdlMemorySpec, context, BYTES, "outside of it: the driver's context, code of kernels", .fallback = "0"),
               NUM (MdlMemorySpec, communication, BYTES, "outside of it: what the first communicator takes more", .fallback = "0"),
               NUM (MdlMemorySpec, communicator, BYTES, "outside of it: buffers of one communicator", .fallback = "0"));

const CstSection cst_memory = { "memory", &memory_schema, sizeof (MdlMemorySpec), offsetof (MdlLibrary, memory) };
