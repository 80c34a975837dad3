/* What one rank does in one part of a model: the works of a forward and of a backward pass, in the order of the compute stream.
 * No times: the models of kernels and collectives give those. Input is checked by who loads it (sizes divide). */
#ifndef MODELS_LAYER_H
#define MODELS_LAYER_H

#include "models/format.h"
#include "models/llm.h"
#include "models/moe.h"

typedef enum { MDL_FRAMEWORK_EAGER, MDL_FRAMEWORK_FUSED, MDL_FRAMEWORK_GRAPHS } MdlFramework; /* graphs: fused, launched as one */
typedef enum { MDL_CP_RING, MDL_CP_ALL_GATHER, MDL_CP_ULYSSES } MdlCpKind;
/* How a rank's experts are computed, once their tokens are there. */
typedef enum {
  MDL_EXPERTS_SORTED, /* tokens are sorted once, the host learns how many each expert has, and launches kernels for each */
  MDL_EXPERTS_LOOP,   /* expert by expert: its tokens are looked for, which the host waits for, gathered, computed, added back */
  MDL_EXPERTS_GROUPED /* one kernel for all of them, which reads the counts on the GPU */
} MdlExperts;
/* What takes tokens to experts on other ranks and back (Megatron's token dispatchers). */
typedef enum {
  MDL_DISPATCHER_ALLTOALL, /* NCCL's all-to-all of a copy for each expert, permuted before and sorted behind */
  MDL_DISPATCHER_DEEPEP,   /* DeepEP's normal kernels: a copy for each rank, then one for each expert there */
  MDL_DISPATCHER_HYBRIDEP  /* DeepEP's hybrid kernels, which also put copies in the order of experts */
} MdlDispatcher;
/* Sorts of rows by expert: one kernel where code is fused, else several; or as asked (Megatron's moe_permute_fusion). */
typedef enum { MDL_PERMUTE_USUAL, MDL_PERMUTE_FUSED, MDL_PERMUTE_APART } MdlPermute;
/* Whose cross-entropy it is. */
typedef enum {
  MDL_LOSS_FRAMEWORK, /* logits in fp32, as PyTorch and Megatron-LM have it (models/memory.h: loss, loss_sharded, loss_fused) */
  MDL_LOSS_FLASH,     /* flash-attention's: logits in 16 bits, beside their gradient */
  MDL_LOSS_IN_PLACE   /* Transformer Engine's, Liger's: the forward pass puts the gradient in the logits' place */
} MdlLoss;
extern const BaseName mdl_framework_names[], mdl_cp_names[], mdl_experts_names[], mdl_dispatcher_names[], mdl_loss_names[];

/* What is computed again in the backward pass: bits. */
typedef enum {
  MDL_MODULE_CORE_ATTENTION = 1u << 0, /* scores, softmax, weighted values */
  MDL_MODULE_ATTENTION = 1u << 1,      /* from the norm to before the output projection */
  MDL_MODULE_MLP = 1u << 2,            /* from the norm to before the last matrix; of MoE: the experts' */
  MDL_MODULE_ACTIVATION = 1u << 3,     /* the MLP's activation function */
  MDL_MODULE_NORM = 1u << 4,
  MDL_MODULE_LAYER = 1u << 5,          /* all of it, with its collectives */
  MDL_MODULE_MLA_UP = 1u << 6,         /* MLA: queries, keys and values from their compressed forms */
  MDL_MODULE_MOE_ACT = 1u << 7,        /* the activation function of routed experts */
  /* Every second product of a layer and all between the others but the core of attention: torchtitan's selective recomputation by
   * operations (torchtitan/parallelisms/parallelize_llama.py, _apply_ac_to_transformer_block: products are counted, and those of
   * even numbers are not saved). Eager dense layers with a gate: keys, the output projection and the up projection. */
  MDL_MODULE_SECOND = 1u << 8
} MdlModule;
extern const BaseName mdl_module_names[];
/* `selective` as Megatron has it: the core of attention where scores are kept; nothing where a flash kernel computes them again
 * itself. Source: Korthikanti et al. 2205.05198 section 5. */
unsigned mdl_recompute_selective (gboolean flash);

/* Matrices that low-rank adapters stand beside: bits. */
typedef enum {
  MDL_LORA_Q = 1u << 0,
  MDL_LORA_K = 1u << 1,
  MDL_LORA_V = 1u << 2,
  MDL_LORA_O = 1u << 3,
  MDL_LORA_GATE = 1u << 4,
  MDL_LORA_UP = 1u << 5,
  MDL_LORA_DOWN = 1u << 6
} MdlLora;
extern const BaseName mdl_lora_names[];

typedef struct {
  unsigned tp, cp, ep, etp;      /* at least 1; etp: tensor parallelism of the experts */
  gboolean sp;                   /* sequence parallelism over tp */
  MdlCpKind cp_kind;
  double micro_batch, sequence;  /* sequences, tokens of one before cp cuts it */
  double packed;                 /* mean length of the documents of a sequence; 0: one */
  MdlFramework framework;
  gboolean flash;                /* attention in one kernel that keeps no scores */
  gboolean dropout;              /* after attention, MLP and embedding */
  MdlLoss loss;
  unsigned metrics;              /* further losses of the same logits, without gradients */
  unsigned recompute;            /* MdlModule bits */
  MdlFormat compute;             /* of the layers' matrix products */
  MdlScaling scaling;            /* of products in fp8 and fp4 */
  gboolean one_way;              /* products in fp8 take operands one way round alone (before compute capability 100) */
  MdlFormat head_compute;        /* of the head's */
  MdlFormat router;              /* of the router's */
  MdlFormat activation;          /* of what lies between: bf16, fp16, fp32 */
  gboolean autocast;             /* PyTorch's: weights, norms and sums of blocks are fp32; matrices cast what they read */
  MdlFormat cached;              /* that inputs of gated activations are kept in; NONE: as activation */
  MdlFormat gradient;            /* of the buffer that weight gradients go to */
  gboolean accumulate;           /* it holds those of an earlier micro-batch */
  unsigned vocabulary_multiple;  /* rows of the vocabulary a rank are a multiple of this; at least 1 */
  double capacity;               /* MoE: C = ceil (capacity · k · tokens / E), padded and dropped; 0: dropless */
  MdlExperts experts;           /* MoE: how those of a rank are computed */
  double imbalance;              /* rows of the fullest rank over the mean; at least 1; dropless alone */
  MdlFormat dispatch;            /* what tokens go to experts in, forward and as gradients; they return in `activation` */
  MdlDispatcher dispatcher;      /* MoE: what carries them; ep > 1 */
  MdlPermute permute;            /* MoE */
  gboolean router_pads;          /* MoE: the router fills up experts' rows for products in fp8 and fp4 */
  gboolean shared_alone;         /* MoE: shared experts run before tokens go out, not beside */
  gboolean delay_wgrad;          /* weight gradients of a layer come behind what others wait for */
  unsigned ep_nodes;             /* nodes that the ep group spans, at least 1 */
  gboolean one_copy_a_node;      /* tokens cross the network once for each node, then NVLink (node-limited, DeepEP) */
  double images, patches;       /* of a vision encoder: images of a sequence, patches of one; 0: text alone */
  unsigned outputs;              /* replicas whose logits are gathered here, for the loss of all; 0, 1: its own alone */
  unsigned lora_rank, lora_on;   /* rank 0: none; MdlLora bits; the base is frozen then */
  gboolean lora_dropout;         /* of the adapters' input */
  MdlFormat base;                /* that frozen matrices of the layers are kept in: fp8, fp4 (NF4); NONE: as parameters */
} MdlLayerQuery;

/* B of an element of what a block takes and gives. */
double mdl_layer_stream_B (const MdlLayerQuery *query);
/* Fills `ask` with one rank, one sequence of `sequence` tokens, bf16, flash, fp32 gradients, fused. */
void mdl_layer_query_default (MdlLayerQuery *query, double sequence);

typedef enum { MDL_WORK_GEMM, MDL_WORK_ATTENTION, MDL_WORK_MEMORY, MDL_WORK_COLL } MdlWorkKind;
typedef enum { MDL_PASS_FORWARD, MDL_PASS_RECOMPUTE, MDL_PASS_DGRAD, MDL_PASS_WGRAD, MDL_PASS_OPTIMIZER, MDL_PASS_N } MdlPass;
typedef enum {
  MDL_GROUP_NONE, /* no collective is of it */
  MDL_GROUP_TP,
  MDL_GROUP_CP,
  MDL_GROUP_EP,
  MDL_GROUP_ETP,
  MDL_GROUP_DP,   /* replicas whose outputs are gathered */
  MDL_GROUP_MODEL /* all ranks that share one copy of the model: tp, pp, and dp where states are sharded */
} MdlGroup;
extern const char *const mdl_pass_names[MDL_PASS_N];

/* C (m x n) = A (m x k) B (k x n), `batch` of them in one go (experts, heads). */
typedef struct {
  double m, n, k, batch;
  gboolean conv;         /* a convolution: rows of A (wgrad: of B) overlap … */
  double taps;           /* … each element stands in so many */
  gboolean accumulate;   /* C is added to what lies there */
  MdlFormat out;         /* of C */
} MdlWorkGemm;

/* The core of attention. share: of q_len x kv_len, what is computed. */
typedef struct {
  double batch, heads, kv_heads;
  double q_len, kv_len;
  double qk_dim, value_dim;
  double share;
  double window;         /* 0: none */
  double steps;          /* a ring of cp cuts it in so many kernels; else 1 */
  gboolean backward;
} MdlWorkAttention;

/* A collective that the compute stream meets here. It may start when work `after` has ended (-1: when the pass starts) and work
 * `before` (the number of works: the end of the pass) waits for it: what lies between runs beside it in software that lets it. */
typedef struct {
  MdlOp op;              /* MDL_OP_SENDRECV: one step of a ring */
  MdlGroup group;
  double bytes;          /* nccl-tests' size convention: of the gathered buffer, or of a rank's buffer (all_reduce, alltoall) */
  double repeat;         /* so many in a row */
  MdlFormat format;
  int after, before;
  int with;              /* GEMM or attention that it can be cut up with, part by part (tp overlap, a ring's steps); -1: none */
  double node_B;         /* alltoall with one copy a node: B of a rank that cross the network; 0: a plain one */
  double moe_tokens;     /* alltoall by a library of experts: tokens of a rank that go out or return; 0: by NCCL */
  MdlMoeOp moe_op;       /* of that library */
} MdlWorkColl;

typedef struct {
  MdlWorkKind kind;
  MdlPass pass;
  const char *name;      /* static: "qkv", "norm" */
  unsigned modules;      /* MdlModule bits that it is part of */
  MdlFormat format;      /* that it computes in; of memory-bound work: of its elements */
  double flop;           /* multiply and add are 2; 0 for memory-bound work and collectives */
  double read_B, write_B; /* of device memory, each operand once */
  double added, placed;  /* elements that eager code adds or copies to rows one by one (index_add, index_copy) */
  double kernels;        /* launches; 0 for collectives */
  double syncs;           /* times the host waits for the GPU, behind it; with `rounds` behind a round of it and its neighbours */
  gboolean delayed;       /* a weight gradient behind all that others wait for */
  gboolean assumed;       /* no kernel of its kind was measured: it takes what others of its sizes do */
  double rounds;          /* above 1: it and its neighbours of as many rounds are done in turn so often, expert by expert */
  MdlWorkGemm gemm;
  MdlWorkAttention attention;
  MdlWorkColl coll;
} MdlWork;

/* Appends the works of one layer (or embedding, head with loss), a part that the model has, to `forward` and `backward`, GArrays of
 * MdlWork; indices in them count from the array's first work. Recomputed works stand in `backward` where they are needed, with pass
 * RECOMPUTE; dgrad and wgrad stand in autograd's order (`delay_wgrad` aside): a schedule that parts them takes them by pass. Either
 * array may be NULL.
 * `layer` from 0 says which window holds, and that the first has no sum to add before its norm; ignored for embedding and head. */
void mdl_layer_works (const MdlLlm *llm, const MdlLayerQuery *query, MdlPart part, unsigned layer, GArray *forward,
                      GArray *backward);

/* The query of the vision encoder's layers: its images are sequences of patches. `windowed`: of windows of them. */
void mdl_vision_query (const MdlLlm *llm, const MdlLayerQuery *query, gboolean windowed, MdlLayerQuery *out);

/* How the tokens of a model choose experts. */
MdlMoeChoice mdl_layer_choice (const MdlLlm *llm);
/* The library that moves tokens for a dispatcher. */
MdlMoeBackend mdl_dispatcher_backend (MdlDispatcher dispatcher);

/* Rows that the fullest rank's experts get of one micro-batch, all together. */
double mdl_layer_expert_rows (const MdlLlm *llm, const MdlLayerQuery *query);

/* ---- end of the step ---- */

typedef enum {
  MDL_OPTIMIZER_ADAMW,
  MDL_OPTIMIZER_ADAMW_FUSED,
  MDL_OPTIMIZER_ADAMW_8BIT,
  MDL_OPTIMIZER_SGD,
  MDL_OPTIMIZER_SGD_MOMENTUM,
  MDL_OPTIMIZER_ADAFACTOR,
  MDL_OPTIMIZER_MUON
} MdlOptimizer;
extern const BaseName mdl_optimizer_names[];
/* B of all that it keeps of a parameter beside the master copy, on average over the model; `moment`: format of its moments. */
double mdl_optimizer_moments_B (MdlOptimizer kind, const MdlLlm *llm, MdlFormat moment);

typedef struct {
  MdlOptimizer kind;
  const MdlLlm *llm;     /* Muon: whose matrices */
  double elements;       /* of parameters that this rank updates: divided by the ranks that share them where sharded */
  double gradients;      /* of gradients that it holds and zeroes */
  double tensors;        /* for launches */
  MdlFormat parameter, gradient, master, moment; /* master NONE: parameters are updated in place */
  MdlFormat compute;     /* fp8, fp4: weights are cast for the matrix products */
  MdlFramework framework; /* eager: PyTorch's foreach loops; else one fused kernel a batch of tensors */
  gboolean clip;         /* gradients' norm: one read of them and an all-reduce of the sum */
  gboolean zero;         /* they are zeroed by a write */
} MdlOptimizerQuery;

/* Appends to `out`, a GArray of MdlWork. */
void mdl_optimizer_works (const MdlOptimizerQuery *query, GArray *out);

#endif
