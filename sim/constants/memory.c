/* The section `memory`: its keys. A probe tells none of its constants: they are of training frameworks. */
#include "models/memory.h"
#include "constants/section.h"
#include "models/library-spec.h"

static const BaseField loss_fields[] = {
  BASE_ROW_NUM (MdlLossSpec, "kept", kept, BYTES, .min = "0", .max = "64 B", .required = TRUE,
                .help = "a logit, from the loss's forward pass to its backward pass"),
  BASE_ROW_NUM (MdlLossSpec, "most", most, BYTES, .min = "0", .max = "64 B", .required = TRUE,
                .help = "a logit, at any time, kept ones included"),
  BASE_ROW_END,
};
static const BaseSchema loss_schema = { .name = "step memory loss", .help = "What a loss holds.", .fields = loss_fields };

static const BaseField memory_fields[] = {
  BASE_ROW (MdlMemorySpec, "loss", loss, MAP, .sub = &loss_schema, .help = "eager code, a vocabulary that one rank has whole"),
  BASE_ROW (MdlMemorySpec, "loss_cut", loss_cut, MAP, .sub = &loss_schema, .help = "eager code, a vocabulary cut over ranks"),
  BASE_ROW (MdlMemorySpec, "loss_fused", loss_fused, MAP, .sub = &loss_schema, .help = "fused kernels"),
  BASE_ROW_NUM (MdlMemorySpec, "weight_copies", weight_copies, NUMBER, .min = "0", .max = "8", .fallback = "2",
                .help = "in fp8 or fp4, of weights whose products are"),
  BASE_ROW_NUM (MdlMemorySpec, "workspace", workspace, BYTES, .fallback = "0",
                .help = "of matrix libraries, within the framework's allocator"),
  BASE_ROW_NUM (MdlMemorySpec, "fragmentation", fragmentation, RATIO, .min = "0", .max = "1", .fallback = "0",
                .help = "what the allocator holds and does not give out, over what it gave out at the peak"),
  BASE_ROW_NUM (MdlMemorySpec, "context", context, BYTES, .fallback = "0",
                .help = "outside of it: the driver's context, code of kernels"),
  BASE_ROW_NUM (MdlMemorySpec, "communication", communication, BYTES, .fallback = "0",
                .help = "outside of it: what the first communicator takes more"),
  BASE_ROW_NUM (MdlMemorySpec, "communicator", communicator, BYTES, .fallback = "0",
                .help = "outside of it: buffers of one communicator"),
  BASE_ROW_END,
};
static const BaseSchema memory_schema = { .name = "step memory",
                                          .help = "What a training step holds in device memory beside its tensors.",
                                          .fields = memory_fields };

const CstSection cst_memory = { "memory", &memory_schema, sizeof (MdlMemorySpec), offsetof (MdlLibrary, memory) };
