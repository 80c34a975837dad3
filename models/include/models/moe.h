/* Dispatch of tokens to experts on other ranks and combine of their results: expected destinations, bytes, and time by library. */
#ifndef MODELS_MOE_H
#define MODELS_MOE_H

#include "models/coll.h"
#include "models/format.h"

/* Operations and what runs them, one row each: code, name, what it is. */
#define MDL_MOE_OP_ROWS(ROW)                                              \
  ROW (DISPATCH, moe_dispatch, "tokens go to the ranks of their experts") \
  ROW (COMBINE, moe_combine, "results of experts return and are added")   \
  ROW (PREPARE, moe_prepare, "ranks agree on how many tokens go where")
#define MDL_MOE_BACKEND_ROWS(ROW)                                                                  \
  ROW (DEEPEP_NORMAL, deepep_normal, "DeepEP: one copy a node over the NIC, then NVLink")          \
  ROW (DEEPEP_LOW_LATENCY, deepep_low_latency, "DeepEP: each copy direct, over NVLink or the NIC") \
  ROW (HYBRIDEP, hybridep, "DeepEP's hybrid kernels: as normal, with few SMs")                     \
  ROW (NCCL, nccl, "all-to-all of NCCL, one copy an expert")                                       \
  ROW (NVLINK_ONE_SIDED, nvlink_one_sided, "TensorRT-LLM: stores over NVLink")                     \
  ROW (NVLINK_TWO_SIDED, nvlink_two_sided, "TensorRT-LLM: FIFOs over NVLink")                      \
  ROW (UCCL, uccl, "UCCL-EP: as DeepEP's low latency, threads of the host drive the NIC")

#define MDL_MOE_OP_ENUM_(code, name, help)      MDL_MOE_##code,
#define MDL_MOE_BACKEND_ENUM_(code, name, help) MDL_MOE_BY_##code,
typedef enum { MDL_MOE_OP_ROWS (MDL_MOE_OP_ENUM_) MDL_MOE_OP_N } MdlMoeOp;
typedef enum { MDL_MOE_BACKEND_ROWS (MDL_MOE_BACKEND_ENUM_) MDL_MOE_BACKEND_N } MdlMoeBackend;
/* How experts are chosen: each set of k alike; E/k apart, so that a token reaches as many ranks as it can; or drawn by seed. */
typedef enum { MDL_MOE_UNIFORM, MDL_MOE_BALANCED, MDL_MOE_DRAWN } MdlMoeRouting;
extern const BaseName mdl_moe_op_names[], mdl_moe_backend_names[], mdl_moe_routing_names[];

/* How a token chooses experts. */
typedef struct {
  double experts, top_k;
  double groups, top_groups; /* experts are in so many groups, of which a token takes some first; 0: no limit */
  gboolean balanced;         /* else at random */
} MdlMoeChoice;

/* Expected number of different places that a token reaches, of `places` which hold experts/places each in order (ranks, or nodes).
 * Exact where groups and places divide each other; else without the limit. Between 1 and min (places, k). */
double mdl_moe_reached (const MdlMoeChoice *choice, double places);
/* Bytes of a row of `hidden` elements: block scales are counted (fp8: 4 B per 128, fp4: 1 B per 16). */
double mdl_moe_row_B (double hidden, MdlFormat format);
/* Whether the library sends one copy a rank, not one an expert. */
gboolean mdl_moe_one_copy (MdlMoeBackend backend);

/* Constants of an operation of a library. Absent ones are not charged. */
typedef struct {
  BaseHead head;
  BaseNum start;           /* s, of a kernel and its last flag */
  BaseNum per_doubling;    /* s, for each doubling of the ranks */
  BaseNum per_expert;      /* s, for each expert of a rank */
  BaseNum node;            /* s, on top where NICs are crossed */
  BaseNum ramp, node_ramp; /* s, until all SMs are busy: on one node, on several; half of it at `ramp_tokens` */
  BaseNum ramp_tokens;
  BaseNum nvlink;       /* share of a GPU's NVLink rate that is reached */
  BaseNum nic;          /* share of its NIC's rate */
  BaseNum sm, node_sm;  /* B/s that an SM moves, over NVLink and on to other nodes; absent: SMs do not limit */
  BaseNum token;        /* s, for each token of a rank: what SMs do at least */
  BaseNum narrow_token; /* the same where results are converted to fewer bits; absent: `token` */
  BaseNum expert_token; /* s that an SM takes for a token; one SM works for each expert */
} MdlMoeCosts;

typedef struct {
  BaseHead head;
  BaseEnum backend;
  BaseStrs gpus;                /* that it was measured on; on others it is assumed */
  BaseNum nodes;                /* most nodes measured */
  BaseNum sms;                  /* that it takes if none are asked for */
  BaseBool hook;                /* kernels send and return: no SM is taken until others receive */
  BaseNum header;               /* B on top of a dispatched row */
  BaseNum error, assumed_error; /* relative half-width: on GPUs and nodes measured, on others */
  MdlMoeCosts at[MDL_MOE_OP_N];
} MdlMoeRow;

struct MdlMoeSpec {
  BaseHead head;
  BaseNum popularity; /* exponent a: a token chooses the i-th most popular expert in proportion to i^-a; absent: all alike */
  BaseNum residual;   /* relative standard deviation of a slot's load after rebalancing, beside that by chance */
  BaseList backends;  /* MdlMoeRow */
};

/* NULL: the library is unknown to the calibration. */
const MdlMoeRow *mdl_moe_row (const struct MdlMoeSpec *spec, MdlMoeBackend backend);

typedef struct {
  MdlMoeOp op;
  MdlMoeBackend backend;
  MdlMoeChoice choice;
  double tokens, hidden;               /* tokens of one rank */
  double imbalance;                    /* copies of the fullest rank over the mean, at least 1 */
  MdlFormat format;                    /* that rows travel in */
  double sms;                          /* 0: the row's */
  double ranks, nodes;                 /* nodes: NVLink domains */
  double nvlink_Bps, nic_Bps;          /* of one GPU, one way */
  double gpu_sms;                      /* all of a GPU; 0: unknown */
  const char *gpu;                     /* type: "h100_sxm" */
  double reached_ranks, reached_nodes; /* as drawn; 0: expected */
} MdlMoeQuestion;

typedef struct {
  double reached_ranks, reached_nodes; /* of a token, its own rank and node among them */
  double row_B;
  double nvlink_B, nic_B; /* that leave the fullest rank over NVLink, and over its NIC */
  double sms;             /* taken; 0: unknown */
  double time_s, band;    /* band: relative half-width */
  BaseSource source;
  const char *bound_by; /* static */
  unsigned n_terms;
  MdlTerm term[MDL_MAX_TERMS]; /* sum to time_s */
} MdlMoeCost;

/* Not for NCCL, whose all-to-all is a collective. `row` is that of question->backend. */
void mdl_moe_cost (const MdlMoeRow *row, const MdlMoeQuestion *question, MdlMoeCost *out);

#endif
