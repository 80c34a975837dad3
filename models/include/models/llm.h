/* Language models as data: a decoder of transformer layers, its tensors, exact parameter counts and FLOP of a token.
 *
 * MdlLlm is filled by a schema table of sim/workload (scenarios/llms/NAME.yaml, or a HuggingFace config.json) and checked there:
 * the functions here take it as consistent (wrk_llm_check). Counts are whole numbers in doubles, exact below 2^53. */
#ifndef MODELS_LLM_H
#define MODELS_LLM_H

#include "base/leaf.h"
#include "base/schema.h"

typedef enum { MDL_ATTENTION_MHA, MDL_ATTENTION_GQA, MDL_ATTENTION_MQA, MDL_ATTENTION_MLA } MdlAttentionKind;
typedef enum { MDL_MLP_SWIGLU, MDL_MLP_GEGLU, MDL_MLP_GELU, MDL_MLP_RELU, MDL_MLP_RELU2 } MdlMlpKind;
typedef enum { MDL_POSITION_ROPE, MDL_POSITION_LEARNED, MDL_POSITION_ALIBI, MDL_POSITION_NONE } MdlPositionKind;
typedef enum { MDL_NORM_RMSNORM, MDL_NORM_LAYERNORM, MDL_NORM_LAYERNORM_NO_BIAS, MDL_NORM_PLAIN } MdlNormKind;
typedef enum { MDL_RECURRENT_MAMBA2, MDL_RECURRENT_GATED_DELTA } MdlRecurrentKind;
typedef enum { MDL_PROJECTOR_NORM_NONE, MDL_PROJECTOR_NORM_PATCH, MDL_PROJECTOR_NORM_MERGED } MdlProjectorNorm;
extern const BaseName mdl_attention_names[], mdl_mlp_names[], mdl_position_names[], mdl_norm_names[], mdl_recurrent_names[],
    mdl_projector_norm_names[];

typedef struct {
  BaseHead head;
  BaseEnum kind;        /* MdlAttentionKind */
  BaseNum heads;
  BaseNum kv_heads;     /* absent: heads, or 1 for mqa */
  BaseNum head_dim;     /* absent: hidden / heads */
  BaseBool bias;        /* of the query, key and value projections */
  BaseBool output_bias; /* of the output projection */
  BaseBool qk_norm;     /* a norm over head_dim of each query and key, shared by the heads … */
  BaseBool qk_norm_all; /* … or one over all heads of a token, with weights for each */
  BaseBool sinks;       /* a learned logit a head */
  BaseBool gate;        /* a gate of each query's width, by a projection of its own, scales the result (Qwen3-Next) */
  BaseBool both_ways;   /* a query sees the keys behind it too: an encoder */
  BaseBool fused;       /* its source code has query, key and value in one matrix */
  BaseNum window;       /* keys that a query sees at most; absent: all before it */
  BaseNum full_every;   /* every so many layers, the last of each, see all in spite of `window`; absent: none */
  /* mla */
  BaseNum q_lora;       /* rank of the compressed query; absent: not compressed */
  BaseNum kv_lora;      /* rank of the compressed keys and values */
  BaseNum nope, rope;   /* of a head's query and key: without and with positions */
  BaseNum value;        /* of a head's value */
} MdlLlmAttention;

typedef struct {
  BaseHead head;
  BaseEnum kind;  /* MdlMlpKind */
  BaseNum ffn;    /* width */
  BaseBool bias;
  BaseBool fused; /* its source code has gate and up in one matrix */
  BaseBool clamp; /* experts' results of gate and up are clamped before the activation */
} MdlLlmMlp;

typedef struct {
  BaseHead head;
  BaseNum experts, top_k;
  BaseNum ffn;           /* width of an expert */
  BaseBool bias;         /* of the experts' matrices */
  BaseBool router_bias;  /* a bias an expert: of the router's logits, or to balance the load */
  BaseNum shared;        /* experts that every token passes; absent: none */
  BaseNum shared_ffn;    /* width of one of them; absent: ffn */
  BaseBool shared_gate;  /* their output is scaled by a gate: a vector of hidden */
  BaseNum first_dense;   /* layers from the first that are dense; absent: none */
  BaseNum every;         /* of the others each n-th is MoE, the last of n; absent: all */
  BaseNum groups;        /* of experts, of which a token uses `top_groups`: node-limited routing; absent: 1 */
  BaseNum top_groups;
} MdlLlmMoe;

/* Layers whose mixer of tokens is a recurrence over the sequence in place of attention: a matrix of `state` x `head_dim` a head is
 * carried from token to token (models/model/recurrent.c). */
typedef struct {
  BaseHead head;
  BaseEnum kind;           /* MdlRecurrentKind */
  BaseNum heads, head_dim; /* of values */
  BaseNum groups;          /* heads of keys and queries (Mamba-2: of B and C), which divide the heads */
  BaseNum state;           /* width of one of them */
  BaseNum conv;            /* taps of the causal convolution before it */
  BaseBool conv_bias;
  BaseNum chunk;           /* tokens that a kernel does as products at once */
  BaseNum attention_every; /* every n-th layer is attention; absent: none, or as `pattern` has it */
} MdlLlmRecurrent;

/* An encoder of images in front of the layers, and the projector that makes tokens of its patches (models/model/vision.c). */
typedef struct {
  BaseHead head;
  BaseNum layers, hidden, heads, ffn;
  BaseEnum mlp;   /* MdlMlpKind */
  BaseEnum norm;  /* MdlNormKind */
  BaseBool bias;  /* of the matrices of its layers */
  BaseNum patch;  /* pixels, of a square */
  BaseNum frames; /* that a patch spans */
  BaseBool patch_bias;
  BaseNum positions;  /* rows of a learned table; absent: none */
  BaseNum window;     /* patches that see each other; absent: all of an image */
  BaseNum full_every; /* every n-th layer ignores `window` */
  BaseBool final_norm;
  BaseNum merge;           /* patches that become one token */
  BaseBool pool;           /* their mean; else side by side */
  BaseEnum projector_norm; /* MdlProjectorNorm */
  BaseNum projector_ffn;   /* width between two matrices; absent: one matrix */
  BaseBool projector_bias;
} MdlLlmVision;

typedef struct {
  BaseHead head;
  BaseEnum kind;  /* MdlPositionKind */
  BaseNum length; /* rows of the learned table */
} MdlLlmPositions;

typedef struct {
  BaseHead head;
  const struct MdlNet *net; /* a network of operations: below only name, source, parameters and layers hold; NULL: a decoder */
  BaseStr name;
  BaseStr like;          /* model whose keys hold where this one has none */
  BaseStr description;
  BaseStr source;        /* where its numbers are from */
  BaseNum parameters;    /* published count, whole; absent: not known exactly */
  BaseNum layers, hidden, vocabulary;
  MdlLlmAttention attention;
  MdlLlmMlp mlp;
  MdlLlmMoe moe;         /* moe.experts.v 0: dense */
  MdlLlmRecurrent recurrent; /* recurrent.heads.v 0: all layers are attention */
  BaseStr pattern;           /* a letter a layer, which has one block alone: M, *, -, E (mdl_pattern_letters) */
  MdlLlmVision vision;       /* vision.layers.v 0: text alone */
  MdlLlmPositions positions;
  BaseEnum norm;         /* MdlNormKind */
  BaseNum norms;         /* of a layer, on hidden: 2; 4 with norms after, 1 where attention and MLP share it */
  BaseBool embedding_norm; /* a norm after the embedding */
  BaseBool final_norm;   /* before the head */
  BaseBool parallel;     /* attention and MLP side by side on one residual */
  BaseBool tied;         /* the head is the embedding's table */
  BaseNum mtp;           /* multi-token prediction modules; absent: 0 */
  BaseNum context;       /* tokens of a sequence of its training; absent: not known */
  BaseNum max_context;   /* tokens of the longest sequence that it may be given; absent: not known */
} MdlLlm;

/* ---- shape ---- */

double mdl_llm_kv_heads (const MdlLlm *llm);
double mdl_llm_qk_dim (const MdlLlm *llm);    /* of a head's query and key */
double mdl_llm_value_dim (const MdlLlm *llm); /* of a head's value */
gboolean mdl_llm_gated (const MdlLlm *llm);   /* the MLP has a gate: 3 matrices */
/* The chain of layers: those of the vision encoder, then those of the language model. `layer` counts along it from 0. */
unsigned mdl_llm_chain (const MdlLlm *llm);
unsigned mdl_llm_front (const MdlLlm *llm); /* of them, the encoder's */
gboolean mdl_llm_is_moe (const MdlLlm *llm, unsigned layer);
gboolean mdl_llm_is_windowed (const MdlLlm *llm, unsigned layer);
unsigned mdl_llm_n_moe (const MdlLlm *llm); /* layers, without those of mtp */
extern const char mdl_pattern_letters[];    /* "M*-E" */

/* ---- tensors: the one table behind counts, gradients, optimizer and matrix products ---- */

/* HEAD: final norm and head. MTP: one module of multi-token prediction, with its layer, without embedding and head. */
typedef enum {
  MDL_PART_EMBEDDING, /* with what turns images to patches, and patches to tokens */
  MDL_PART_DENSE,
  MDL_PART_MOE,
  MDL_PART_HEAD,
  MDL_PART_MTP,
  MDL_PART_RECURRENT_DENSE,
  MDL_PART_RECURRENT_MOE, /* a recurrence in place of attention */
  MDL_PART_RECURRENT,
  MDL_PART_ATTENTION,
  MDL_PART_MLP,
  MDL_PART_EXPERTS, /* one block alone */
  MDL_PART_VISION,  /* a layer of the encoder */
  MDL_PART_NET, /* a layer of operations */
  MDL_PART_N
} MdlPart;
/* What a part is made of; all NONE: no layer. */
typedef enum { MDL_MIXER_NONE, MDL_MIXER_ATTENTION, MDL_MIXER_RECURRENT } MdlMixer;
typedef enum { MDL_FEED_NONE, MDL_FEED_DENSE, MDL_FEED_MOE } MdlFeed;
typedef struct {
  MdlMixer mixer;
  MdlFeed feed;
  const char *name; /* static: "expert layer" */
} MdlPartFacts;
const MdlPartFacts *mdl_part_facts (MdlPart part);
/* Of a layer of the chain. */
MdlPart mdl_llm_part (const MdlLlm *llm, unsigned layer);
/* Layers of the chain that are such. */
double mdl_llm_n_part (const MdlLlm *llm, MdlPart part);

/* How tensor parallelism cuts a tensor. */
typedef enum {
  MDL_SPLIT_NONE,     /* each rank has it whole */
  MDL_SPLIT_ROWS,     /* by outputs: column-parallel in Megatron's words */
  MDL_SPLIT_COLUMNS,  /* by inputs: row-parallel */
  MDL_SPLIT_KV_ROWS,  /* by outputs, a whole key-value head at least: replicated where ranks outnumber them */
  MDL_SPLIT_QKV_ROWS, /* query, key and value rows in one tensor */
  MDL_SPLIT_VOCABULARY
} MdlSplit;

typedef struct {
  const char *name;      /* "q", "expert_down" */
  double rows, columns;  /* outputs x inputs; a vector has 1 column */
  double copies;         /* experts that have one of their own; 1 otherwise */
  MdlSplit split;
  gboolean matrix;       /* tokens are multiplied by it */
  gboolean expert;       /* of a routed expert: cut by expert parallelism and its own tensor parallelism */
} MdlTensor;

/* Appends the tensors of a part in the order in which a module registers them; a tied head has no matrix of its own.
 * `layer` from 0 says which layer of operations; of others any. `out` is a GArray of MdlTensor. */
void mdl_llm_tensors (const MdlLlm *llm, MdlPart part, unsigned layer, GArray *out);

/* Elements of `tensor` on one rank. tp, ep, etp: at least 1; rows of the vocabulary are rounded up to a multiple of
 * `vocabulary_multiple` a rank (1: as cut evenly, rounded up). */
double mdl_tensor_elements (const MdlLlm *llm, const MdlTensor *tensor, unsigned tp, unsigned ep, unsigned etp,
                            unsigned vocabulary_multiple);

/* ---- counts ---- */

typedef struct {
  double embedding;   /* table and learned positions, and the norm after them */
  double dense_layer; /* one */
  double moe_layer;   /* one; 0 where there are none */
  double moe_active;  /* of it, what one token uses */
  double final_norm;
  double head;        /* 0 when tied */
  double mtp;         /* one module; not in total */
  double vision;         /* the encoder with its projector; in total */
  double n_dense, n_moe; /* layers of the language model without and with experts */
  double total;       /* the main model, as published counts have it */
  double active;      /* of it, what one token uses, look-up of the embedding included */
  double matrix;      /* of it, elements of matrices that a token is multiplied by: head included, also when tied; no look-up */
} MdlLlmCount;

void mdl_llm_count (const MdlLlm *llm, MdlLlmCount *out);

/* Pairs of query and key a token, on average over a sequence: s, or w where a window of w is shorter; causal: s / 2, or
 * w - w^2 / 2s. `packed`: mean length of the documents that share a sequence and do not see each other, 0: one. */
double mdl_llm_pairs (double sequence, double window, double packed, gboolean causal);

/* FLOP that the model asks of one token, forward and backward (6 = 3 passes of a multiply and an add):
 * matrix = 6 x count.matrix; attention = 6 x pairs x heads x (qk_dim + value_dim) a layer, 12·h·s where these make up hidden.
 * Source: Chowdhery et al. 2204.02311 App. B; Narayanan et al. 2104.04473 section 5; Megatron counts attention in full.
 * Modules of mtp are not in it. Of a network of operations: of a sample. */
typedef struct {
  double matrix_flop;
  double attention_flop;        /* over all keys */
  double attention_causal_flop; /* over those that it sees */
} MdlLlmFlop;

void mdl_llm_token_flop (const MdlLlm *llm, double sequence, double packed, MdlLlmFlop *out);
/* What `modules` of multi-token prediction add to it: the projection, a layer and the head again, each. */
void mdl_llm_add_mtp_flop (const MdlLlm *llm, double sequence, double packed, double modules, MdlLlmFlop *out);

/* The encoder as a model of its own, whose layers are MDL_PART_DENSE of it. Valid as long as `llm`. */
void mdl_llm_vision (const MdlLlm *llm, MdlLlm *out);
/* FLOP forward of the recurrence of one layer for a token, without its matrices. */
double mdl_recurrent_flop (const MdlLlmRecurrent *recurrent);
/* What images of so many patches each add to a token, where a sequence has `images` of them. */
void mdl_llm_add_vision_flop (const MdlLlm *llm, double sequence, double images, double patches, MdlLlmFlop *out);

#endif
