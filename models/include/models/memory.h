/* What one rank of a training step holds in device memory for a part of a model, beside parameters and their
 * states. Closed forms of tensors that the backward pass reads again; formulas and sources: the head of
 * models/model/memory.c and docs/training_memory.md. Input is taken as consistent, as models/layer.h takes it. */
#ifndef MODELS_MEMORY_H
#define MODELS_MEMORY_H

#include "models/layer.h"

/* ---- constants: the section `memory` of a calibration ---- */

/* B a logit of one micro-batch. */
typedef struct {
  BaseHead head;
  BaseNum kept; /* from the loss's forward pass to its backward pass */
  BaseNum peak; /* at any time, kept ones included */
} MdlLossSpec;

typedef struct MdlMemorySpec {
  BaseHead head;
  MdlLossSpec loss;        /* eager, a vocabulary that one rank has whole */
  MdlLossSpec loss_sharded; /* eager, cut over ranks */
  MdlLossSpec loss_fused;  /* fused kernels */
  MdlLossSpec loss_flash, loss_in_place; /* MDL_LOSS_FLASH, MDL_LOSS_IN_PLACE */
  BaseNum weight_copies;   /* of a weight whose products are in fp8 or fp4, in that format */
  BaseNum workspace;       /* B of matrix libraries, within the framework's allocator */
  BaseNum fragmentation;   /* what the allocator holds and does not give out, over what was given out at the peak */
  BaseNum fragmentation_tight;      /* the least of it, where memory runs short and unused blocks are given back */
  BaseNum fragmentation_expandable; /* the same with expandable segments */
  BaseNum host_core, host_memory; /* B/s of a host that updates a GPU's states: of one core; of the memory behind all of them */
  BaseNum context;         /* B outside of it: context of the driver, code of kernels */
  BaseNum communication;   /* B outside of it where there is any: what the library's first communicator takes more */
  BaseNum communicator;    /* B outside of it: buffers of one communicator */
} MdlMemorySpec;

/* ---- activations ---- */

/* A layer's two blocks, each with its norm; embedding and head are one block each. */
typedef enum {
  MDL_BLOCK_EMBEDDING,
  MDL_BLOCK_ATTENTION,
  MDL_BLOCK_MLP,
  MDL_BLOCK_MOE,
  MDL_BLOCK_HEAD,
  MDL_BLOCK_RECURRENT,
  MDL_BLOCK_MLP_ALONE,
  MDL_BLOCK_MOE_ALONE /* all of their layer */
} MdlBlock;
/* The blocks of a part, `out` of three. Returns how many: 2 of most layers. */
unsigned mdl_memory_blocks (const MdlLlm *llm, MdlPart part, MdlBlock out[3]);

/* Of one micro-batch, B. A backward pass holds kept + again + working at its begin and, once its gradients of weights are done and
 * its activations free, `tail`. */
typedef struct {
  double kept_B;    /* from the forward to the backward pass */
  double again_B;   /* that the backward pass computes again and holds while it runs */
  double working_B; /* beside these when it begins: gradients of activations, one gradient of a matrix on its way */
  double tail_B;    /* the last product's factors and result */
  double late_B;    /* where a schedule parts gradients of inputs and of weights: what stays between them, in place of kept */
} MdlActivationBytes;

/* `with_gradient`: the gradient of a weight is a tensor of its own before it is added to what is there (eager code that
 * accumulates, or whose gradients lie in buckets). */
void mdl_memory_block (const MdlMemorySpec *spec, const MdlLlm *llm, const MdlLayerQuery *query, MdlBlock block,
                       gboolean with_gradient, MdlActivationBytes *out);

/* B of the activation that a layer takes and gives: what crosses between pipeline stages. */
double mdl_memory_boundary_B (const MdlLlm *llm, const MdlLayerQuery *query);

/* The block that a tensor of a layer is in. */
MdlBlock mdl_memory_block_of (const MdlTensor *tensor, MdlPart part);

#endif
