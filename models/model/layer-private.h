/* Builders that layer_*.c share: each appends works to the list of a pass. */
#ifndef MODELS_LAYER_PRIVATE_H
#define MODELS_LAYER_PRIVATE_H

#include "models/layer.h"

typedef struct {
  const MdlLlm *llm; /* NULL: of a network of operations */
  const MdlLayerQuery *query;
  unsigned layer;
  MdlPartFacts part; /* mixer and MLP of the layer */
  GArray *out;
  MdlPass pass;
  unsigned modules; /* that what is appended now belongs to */
  unsigned filter;  /* only works of these modules are appended; 0: all */
  MdlWork skipped;  /* what is not appended is written here */
  gboolean fused;   /* kernels are */
  double rounds;    /* what is appended now is done expert by expert, so often in turn; 0: at once */
  gboolean low;     /* matrix products in fp8 or fp4: operands are cast */
  double tokens;    /* T, a rank's after cp */
  double rows;      /* of them, those of this rank between the matrices: T / tp with sp */
  double element_B; /* of activations */
  double stream_B;  /* of norms and of sums of blocks: fp32 under autocast, else as activations */
  const MdlWorkAttention *core; /* of attention, in place of the decoder's; NULL: that */
  gboolean outside; /* of no layer: a base of fewer bits is not for its matrices */
} MdlBuild;

/* A matrix on this rank: `tokens` rows go from `in` to `out` elements. */
typedef struct {
  const char *name;
  double in, out;
  double copies; /* experts here, each with rows of its own; 1 */
  gboolean bias;
  unsigned lora; /* MdlLora bits of it */
  MdlFormat format;
  gboolean second; /* of an even number among the products of its layer */
} MdlLinear;

/* One product of a chunked kernel. */
typedef struct {
  const char *name;
  double m, n, k;
  gboolean of_groups; /* else of heads */
  gboolean in_turn;   /* of all chunks of a sequence, one after the other: k is for a token */
  gboolean again;     /* the backward kernels make it again */
} MdlScanProduct;
enum { MDL_SCAN_PRODUCTS = 6 };
/* Returns how many. */
unsigned mdl_scan_products (const MdlLlmRecurrent *recurrent, MdlScanProduct out[MDL_SCAN_PRODUCTS]);

/* Moves weight gradients of a layer behind what others wait for; `works`, MdlWork, of one layer's backward pass alone (delay.c). */
void mdl_build_delay_wgrad (GArray *works);

/* Starts a list: `out` may be where other works are already. `layer`: of the language model, or of the encoder if that is `llm`. */
void mdl_build_init (MdlBuild *build, const MdlLlm *llm, const MdlLayerQuery *query, unsigned layer, GArray *out);

/* ---- single works; what they return is valid until the next one ---- */

MdlWork *mdl_build_gemm (MdlBuild *build, const char *name, MdlWorkGemm gemm, MdlFormat format);
/* C (m x n) = A (m x k) B (k x n), so many at once; the results are activations. */
MdlWork *mdl_build_product (MdlBuild *build, const char *name, double m, double n, double k, double batch, MdlFormat format);
/* `eager` kernels there, one where kernels are fused. */
MdlWork *mdl_build_memory (MdlBuild *build, const char *name, double read_B, double write_B, double eager);
/* Nothing where the group is one rank. It starts after the work before it and the next one waits for it. Returns its index, -1
 * where it is not appended. */
int mdl_build_coll (MdlBuild *build, const char *name, MdlOp op, MdlGroup group, double bytes, MdlFormat format);
/* Index of the next work. */
int mdl_build_next (const MdlBuild *build);
/* The collective at `index` may be cut up with work `with`, and work `before` waits for it; -1 index: nothing is done, -1: as
 * it was. */
void mdl_build_amend (MdlBuild *build, int index, int with, int before);

/* ---- linear layers ---- */

/* Cast of `elements` of so many copies (experts) to the format of matrix products, both ways round; nothing in wider formats. */
void mdl_build_cast (MdlBuild *build, const char *name, double elements, double copies);
gboolean mdl_build_frozen (const MdlBuild *build);
/* Matrices beside each other on one input of `tokens` rows (each: of one copy), cut by outputs over `group`, gathered with sp. */
void mdl_build_columns (MdlBuild *build, const MdlLinear *linears, unsigned n, double rows, MdlGroup group);
void mdl_build_columns_back (MdlBuild *build, const MdlLinear *linears, unsigned n, double rows, MdlGroup group);
/* A matrix cut by inputs over `group`, whose partial sums are reduced. */
void mdl_build_row (MdlBuild *build, const MdlLinear *linear, double rows, MdlGroup group);
void mdl_build_row_back (MdlBuild *build, const MdlLinear *linear, double rows, MdlGroup group);

/* Its weight gradient, and its bias'. */
void mdl_build_wgrad (MdlBuild *build, const MdlLinear *linear, double rows);

/* ---- what stands between ---- */

void mdl_build_norm (MdlBuild *build, const char *name, double elements, gboolean with_add);
void mdl_build_norm_back (MdlBuild *build, const char *name, double elements, gboolean with_add);
/* The sum of a branch and the residual, with dropout before it where there is some. */
void mdl_build_add (MdlBuild *build, double elements);
/* Its gradient: of the dropout. */
void mdl_build_add_back (MdlBuild *build, double elements);
void mdl_build_activation (MdlBuild *build, double elements);
void mdl_build_activation_back (MdlBuild *build, double elements);

/* ---- parts ---- */

void mdl_build_attention (MdlBuild *build);
void mdl_build_attention_back (MdlBuild *build);
/* The core alone, by a flash kernel or with its scores in memory. */
void mdl_build_core (MdlBuild *build, gboolean back);
/* A recurrence in place of attention. */
void mdl_build_recurrent (MdlBuild *build);
void mdl_build_recurrent_back (MdlBuild *build);
/* Images to patches, and what the encoder made of them to tokens. */
void mdl_build_patches (MdlBuild *build);
void mdl_build_patches_back (MdlBuild *build);
void mdl_build_mlp (MdlBuild *build, double ffn, const char *up_name, const char *down_name);
void mdl_build_mlp_back (MdlBuild *build, double ffn, const char *up_name, const char *down_name);
void mdl_build_moe (MdlBuild *build);
void mdl_build_moe_back (MdlBuild *build);

#endif
