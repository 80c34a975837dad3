/* The feed-forward part of a layer: dense, and mixture of experts.
 *
 * Gate and up: 2T·h·2f/t, down: 2T·f·h/t; without a gate two matrices. MoE, of a rank's own Tl tokens (T / tp with sp): router
 * 2·Tl·h·E; k copies of each token go to their experts and back, an all-to-all over ep each way of Tl·k·h elements, forward and
 * backward (four a layer). The experts of a rank get Tl·k·etp rows (with sp each rank of etp brings its own) times the imbalance,
 * or C·E·etp where C = ceil (capacity·k·Tl / E) is padded to; their matrices are one grouped product of E/ep matrices with the
 * mean of rows each. Shared experts are a dense MLP, cut by tp: beside the dispatch, or alone before it (`shared_alone`, Megatron
 * without moe_shared_expert_overlap: core/transformer/moe/moe_layer.py, shared_experts_compute).
 * Tokens go to experts in `dispatch`, forward and as gradients; results and gradients of tokens come back as activations.
 * One copy a node: a token's copies cross the network once for each node that it reaches, an expected number (models/moe.h), to
 * other nodes (N-1)/N of them.
 * A library (DeepEP) takes tokens as they are and sends a copy to each rank that they reach. A rank gets Tl·D rows, D the expected
 * ranks of a token; they are copied to the k·Tl rows of experts, whose results are added up to Tl·D rows before combine, which
 * adds up those of all ranks itself. The hybrid kernels write and read the rows of experts. Counts come with the dispatch.
 * How the experts of a rank are computed says `experts`. Sorted: eager code runs each operation of each expert as kernels of its
 * own; fused code the products and their casts (TransformerEngine's GroupedLinear), not the activation between them. Loop: for each
 * expert the tokens are looked for (five kernels: a sum in two, a selection in two, the indices; the host waits for how many they
 * are), gathered, computed, weighted and added to the output; its backward pass fills and adds a gradient of all tokens for each
 * expert. Grouped: one kernel for each operation.
 * Source: Shazeer et al. 1701.06538; Fedus et al. 2101.03961 section 2.2 (capacity); DeepSeek-V3 2412.19437 sections 3.2.2, 3.3.2
 * (node-limited, formats of dispatch and combine); Megatron-LM core/transformer/moe/token_dispatcher.py (order, etp);
 * loop: huggingface/transformers models/mixtral/modeling_mixtral.py MixtralSparseMoeBlock.forward (4.40), PyTorch
 * aten/src/ATen/native/cuda/Nonzero.cu nonzero_cuda_out_impl. Kernel counts of routing and permuting are assumed.
 * Valid: with tp > 1 and without sp each rank routes all tokens, and the experts are cut by etp = tp. */
#include <math.h>

#include "model/layer-private.h"

/* ---- dense ---- */

static const unsigned gate_up_lora = MDL_LORA_GATE | MDL_LORA_UP;

/* The matrices before the activation, `ffn` wide on this rank, of so many experts. Returns how many. */
static unsigned
ups (const MdlBuild *build, double ffn, double copies, gboolean bias, const char *name, MdlLinear linears[2])
{
  const double hidden = build->llm->hidden.v;
  const MdlFormat format = build->query->compute;
  if (!mdl_llm_gated (build->llm)) {
    linears[0] = (MdlLinear){ name, hidden, ffn, copies, bias, MDL_LORA_UP, format, FALSE };
    return 1;
  }
  const unsigned on = build->query->lora_rank > 0 ? build->query->lora_on & gate_up_lora : 0;
  if ((build->fused || build->llm->mlp.fused.v) && (on == 0 || on == gate_up_lora)) {
    linears[0] = (MdlLinear){ name, hidden, 2 * ffn, copies, bias, gate_up_lora, format, FALSE };
    return 1;
  }
  linears[0] = (MdlLinear){ name, hidden, ffn, copies, bias, MDL_LORA_GATE, format, FALSE };
  linears[1] = (MdlLinear){ name, hidden, ffn, copies, bias, MDL_LORA_UP, format, TRUE };
  return 2;
}

static MdlLinear
down (const MdlBuild *build, double ffn, double copies, gboolean bias, const char *name)
{
  return (MdlLinear){ name, ffn, build->llm->hidden.v, copies, bias, MDL_LORA_DOWN, build->query->compute, FALSE };
}

void
mdl_build_mlp (MdlBuild *build, double ffn, const char *up_name, const char *down_name)
{
  const double width = ffn / build->query->tp;
  const gboolean bias = build->llm->mlp.bias.v;
  const unsigned modules = build->modules;
  MdlLinear linears[2];
  build->modules |= MDL_MODULE_MLP;
  const unsigned n = ups (build, width, 1, bias, up_name, linears);
  mdl_build_columns (build, linears, n, build->tokens, MDL_GROUP_TP);
  mdl_build_activation (build, build->tokens * width);
  build->modules = modules;
  const MdlLinear last = down (build, width, 1, bias, down_name);
  mdl_build_row (build, &last, build->tokens, MDL_GROUP_TP);
}

void
mdl_build_mlp_back (MdlBuild *build, double ffn, const char *up_name, const char *down_name)
{
  const double width = ffn / build->query->tp;
  const gboolean bias = build->llm->mlp.bias.v;
  const MdlLinear last = down (build, width, 1, bias, down_name);
  MdlLinear linears[2];
  mdl_build_row_back (build, &last, build->tokens, MDL_GROUP_TP);
  mdl_build_activation_back (build, build->tokens * width);
  const unsigned n = ups (build, width, 1, bias, up_name, linears);
  mdl_build_columns_back (build, linears, n, build->tokens, MDL_GROUP_TP);
}

/* ---- mixture of experts ---- */

/* Copies of tokens that a rank sends and gets back. */
static double
sent_rows (const MdlLlm *llm, const MdlLayerQuery *query)
{
  const double tokens = query->micro_batch * query->sequence / query->cp / (query->sp ? query->tp : 1);
  const double rows = tokens * llm->moe.top_k.v;
  return query->capacity > 0 ? llm->moe.experts.v * ceil (query->capacity * rows / llm->moe.experts.v) : rows;
}

double
mdl_layer_expert_rows (const MdlLlm *llm, const MdlLayerQuery *query)
{
  const double brought = query->sp ? query->etp : 1, fullest = query->capacity > 0 ? 1 : query->imbalance;
  return sent_rows (llm, query) * brought * fullest;
}

typedef struct {
  double sent;    /* rows that leave and return */
  double got;     /* of a library: rows that have come, one for each token that has an expert here */
  double rows;    /* that the experts here get */
  double experts; /* here */
  double ffn;     /* of one, on this rank */
  double shared;  /* width of the shared ones together, before tp */
} Moe;

MdlMoeChoice
mdl_layer_choice (const MdlLlm *llm)
{
  const MdlLlmMoe *moe = &llm->moe;
  const gboolean limited = moe->groups.set && moe->top_groups.set;
  return (MdlMoeChoice){ .experts = moe->experts.v,
                         .top_k = moe->top_k.v,
                         .groups = limited ? moe->groups.v : 0,
                         .top_groups = limited ? moe->top_groups.v : 0 };
}

MdlMoeBackend
mdl_dispatcher_backend (MdlDispatcher dispatcher)
{
  return dispatcher == MDL_DISPATCHER_DEEPEP     ? MDL_MOE_BY_DEEPEP_NORMAL
         : dispatcher == MDL_DISPATCHER_HYBRIDEP ? MDL_MOE_BY_HYBRIDEP
                                                 : MDL_MOE_BY_NCCL;
}

static gboolean
by_library (const MdlBuild *build)
{
  return build->query->dispatcher != MDL_DISPATCHER_ALLTOALL && build->query->ep > 1;
}

static Moe
moe_of (const MdlBuild *build)
{
  const MdlLlmMoe *moe = &build->llm->moe;
  const double one = moe->shared_ffn.set ? moe->shared_ffn.v : moe->ffn.v;
  const MdlMoeChoice choice = mdl_layer_choice (build->llm);
  const double rows = mdl_layer_expert_rows (build->llm, build->query);
  return (Moe){ .sent = sent_rows (build->llm, build->query),
                .got = rows * mdl_moe_reached (&choice, build->query->ep) / moe->top_k.v,
                .rows = rows,
                .experts = moe->experts.v / build->query->ep,
                .ffn = moe->ffn.v / build->query->etp,
                .shared = moe->shared.v * one };
}

static int
exchange (MdlBuild *build, const char *name, const Moe *moe, MdlMoeOp op, MdlFormat format)
{
  const MdlLayerQuery *query = build->query;
  const double row_B = build->llm->hidden.v * mdl_format_B (format), fullest = query->capacity > 0 ? 1 : query->imbalance;
  const double tokens = moe->sent / build->llm->moe.top_k.v, nodes = query->ep_nodes;
  const int at = mdl_build_coll (build, name, MDL_OP_ALLTOALL, MDL_GROUP_EP, moe->sent * fullest * row_B, format);
  if (at < 0)
    return at;
  MdlWorkColl *coll = &g_array_index (build->out, MdlWork, (guint)at).coll;
  const MdlMoeChoice choice = mdl_layer_choice (build->llm);
  coll->moe_op = op;
  if (by_library (build))
    coll->moe_tokens = tokens;
  else if (query->one_copy_a_node && query->ep_nodes > 1)
    coll->node_B = tokens * mdl_moe_reached (&choice, nodes) * fullest * row_B * (nodes - 1) / nodes;
  return at;
}

static void
move (MdlBuild *build, const char *name, double in, double out, double eager)
{
  const double row_B = build->llm->hidden.v * build->element_B;
  mdl_build_memory (build, name, in * row_B, out * row_B, eager);
}

/* Rows into or out of the order of experts. Not fused: so many kernels, and `apart` rows more read and written, by the weights. */
static MdlWork *
permute (MdlBuild *build, const char *name, double in, double out, double apart, double kernels)
{
  const double row_B = build->llm->hidden.v * build->element_B;
  const MdlPermute how = build->query->permute;
  const gboolean fused = how == MDL_PERMUTE_USUAL ? build->fused : how == MDL_PERMUTE_FUSED;
  const double more = fused || !build->fused ? 0 : apart; /* eager kernel counts were fitted with these passes in them */
  MdlWork *work = mdl_build_memory (build, name, (in + more) * row_B, (out + more) * row_B, kernels);
  work->kernels = fused ? 1 : kernels;
  return work;
}

/* Eager code copies rows to their places one element at a time, and adds gradients of rows that it took by atomics
 * (pytorch/pytorch aten/src/ATen/native/cuda/Indexing.cu, indexFuncLargeIndex; IndexKernel.cu, index_copy_kernel_impl). */
static void
by_index (const MdlBuild *build, MdlWork *work, double rows, gboolean sums)
{
  if (!build->fused)
    *(sums ? &work->added : &work->placed) = rows * build->llm->hidden.v;
}

static MdlLinear
router_of (const MdlBuild *build)
{
  return (MdlLinear){
    "router", build->llm->hidden.v, build->llm->moe.experts.v, 1, build->llm->moe.router_bias.v, 0, build->query->router, FALSE
  };
}

/* Fused code leaves the tokens in their format forward, and has tensor cores take fp32 as TF32 backward, for which tokens and
 * gradients are written out and back (Megatron-LM core/transformer/moe/moe_utils.py, RouterGatingLinearFunction). */
static MdlFormat
router_format (const MdlBuild *build, gboolean back)
{
  const MdlFormat format = build->query->router;
  if (!build->fused || format != MDL_FORMAT_FP32)
    return format;
  return back ? MDL_FORMAT_TF32 : build->query->activation;
}

/* Logits, and the choice of experts. */
static void
choose (MdlBuild *build)
{
  const MdlLinear router = router_of (build);
  const double logits = build->rows * router.out;
  mdl_build_gemm (build, router.name,
                  (MdlWorkGemm){ .m = build->rows, .n = router.out, .k = router.in, .batch = 1, .out = MDL_FORMAT_FP32 },
                  router_format (build, FALSE));
  mdl_build_memory (build, "choose_experts", logits * 4, logits * 4, 6);
}

/* And how many tokens each gets, which the host must know where nothing is dropped. */
static void
route (MdlBuild *build, const Moe *moe)
{
  const MdlLinear router = router_of (build);
  choose (build);
  if (build->query->capacity > 0)
    return;
  if (!by_library (build))
    mdl_build_coll (build, "gather_counts", MDL_OP_ALL_GATHER, MDL_GROUP_EP, build->query->ep * router.out * 4, MDL_FORMAT_FP32);
  MdlWork *work = mdl_build_memory (build, "count_tokens", moe->sent * 4, router.out * 4, 2);
  const gboolean device = build->fused || build->query->experts == MDL_EXPERTS_GROUPED; /* kernels read the counts there */
  work->syncs = device && build->query->ep == 1 ? 0 : 1;
}

static void
route_back (MdlBuild *build)
{
  const MdlLinear router = router_of (build);
  const double rows = build->rows, logits = rows * router.out, input_B = rows * router.in * build->element_B;
  build->pass = MDL_PASS_DGRAD;
  mdl_build_memory (build, "choose_experts", 2 * logits * 4, logits * 4, 6);
  const MdlFormat format = router_format (build, TRUE);
  const double wide_B = rows * router.in * mdl_format_B (MDL_FORMAT_FP32);
  const gboolean casts = format != router.format;
  mdl_build_product (build, router.name, rows, router.in, router.out, 1, format);
  if (casts)
    mdl_build_memory (build, "cast_router", wide_B, input_B, 1);
  mdl_build_memory (build, "add_gradients", 2 * input_B, input_B, 1);
  if (mdl_build_frozen (build))
    return;
  build->pass = MDL_PASS_WGRAD;
  if (casts)
    mdl_build_memory (build, "cast_router", input_B, wide_B, 1);
  mdl_build_gemm (build, router.name,
                  (MdlWorkGemm){ .m = router.out, .n = router.in, .k = rows, .batch = 1, .out = build->query->gradient }, format);
  build->pass = MDL_PASS_DGRAD;
}

/* Rounds in which a rank does its experts; 0: all at once. */
static double
rounds_of (const MdlBuild *build, const Moe *moe)
{
  const MdlExperts how = build->query->experts;
  return how == MDL_EXPERTS_LOOP || (how == MDL_EXPERTS_SORTED && !build->fused) ? moe->experts : 0;
}

/* Megatron adds the bias of an expert's last matrix outside of it, times each row's weight, expert by expert: the product, the sum,
 * all joined; in fp32 where a library brings the weights in fp32, and cast back. Backward: both factors' gradients and their sums,
 * the rows' gradients joined (Megatron-LM core/transformer/moe/experts.py, TEGroupedMLP._apply_bias; token_dispatcher.py).
 * PyTorch's grouped products take no bias either, so that it is added likewise, in fp32 (NeMo AutoModel components/moe/experts.py,
 * _apply_bias); those of cuDNN in fp8 have it inside (Transformer Engine pytorch/ops/fused/forward_grouped_mlp.py). */
static void
weighted_bias (MdlBuild *build, const Moe *moe, gboolean back)
{
  const gboolean grouped = build->query->experts == MDL_EXPERTS_GROUPED;
  if (!build->llm->moe.bias.v || (grouped ? build->low : !build->fused))
    return;
  const double elements = moe->rows * build->llm->hidden.v, unit_B = elements * build->element_B;
  const gboolean wide = by_library (build) || grouped;
  const double sum_B = wide ? elements * mdl_format_B (MDL_FORMAT_FP32) : unit_B;
  const double casts = wide ? 1 : 0;
  MdlWork *work = back ? mdl_build_memory (build, "weighted_bias", casts * (unit_B + sum_B) + unit_B + 4 * sum_B,
                                           casts * (sum_B + unit_B) + unit_B + 2 * sum_B, 1)
                       : mdl_build_memory (build, "weighted_bias", unit_B + (2 + casts) * sum_B, 3 * sum_B + casts * unit_B, 1);
  work->kernels = moe->experts * (back ? 4 + casts : 2) + 1 + casts;
}

/* The bias of an expert's first matrices where its products take none: the sum expert by expert, all joined; backward its sum, and
 * the rows' gradients joined (as for the weighted one). */
static void
grouped_bias (MdlBuild *build, const Moe *moe, gboolean back)
{
  if (!build->llm->moe.bias.v || build->query->experts != MDL_EXPERTS_GROUPED || build->low)
    return;
  const double rows_B = (mdl_llm_gated (build->llm) ? 2 : 1) * moe->rows * moe->ffn * build->element_B;
  MdlWork *work = mdl_build_memory (build, "expert_bias", 2 * rows_B, back ? rows_B : 2 * rows_B, 1);
  work->kernels = moe->experts + 1;
}

/* Rows of an expert are filled up to what products in fp8 and fp4 take, and brought back: copies of all rows, where neither the
 * router (moe_router_padding_for_quantization) nor the dispatcher (hybridep) did it (Megatron-LM core/transformer/moe/experts.py,
 * quantization_padding; TransformerEngine pytorch/module/fp8_padding.py). */
static void
pad_rows (MdlBuild *build, const Moe *moe, const char *name)
{
  const MdlLayerQuery *query = build->query;
  const gboolean padded =
      query->router_pads || query->capacity > 0 || (by_library (build) && query->dispatcher == MDL_DISPATCHER_HYBRIDEP);
  if (build->fused && build->low && query->experts == MDL_EXPERTS_SORTED && !padded)
    move (build, name, moe->rows, moe->rows, 1);
}

/* Results of gate and up between their limits. Fused code with kernels by expert has them apart from the activation: two kernels,
 * and one that joins both halves again (Megatron-LM fusions/fused_bias_geglu.py, weighted_bias_quick_geglu_impl); backward the
 * halves' gradients, each with the input that it masks by, and a join. Kernels of all experts have them inside. */
static void
clamp (MdlBuild *build, const Moe *moe, gboolean back)
{
  const double wide_B = 2 * moe->rows * moe->ffn * build->element_B;
  if (build->fused && build->llm->mlp.clamp.v && build->query->experts != MDL_EXPERTS_GROUPED)
    mdl_build_memory (build, "clamp", (back ? 3 : 2) * wide_B, 2 * wide_B, 3)->kernels = 3;
}

/* Between the collectives: the experts' own matrices, of `rows` rows in all. */
static void
experts_forward (MdlBuild *build, const Moe *moe)
{
  const double each = moe->rows / moe->experts;
  const gboolean bias = build->llm->moe.bias.v;
  const unsigned modules = build->modules;
  MdlLinear linears[2];
  build->rounds = rounds_of (build, moe);
  pad_rows (build, moe, "pad_rows");
  if (build->fused) /* no norm before them does it */
    mdl_build_cast (build, "cast_input", moe->rows * build->llm->hidden.v, moe->experts);
  const unsigned n = ups (build, moe->ffn, moe->experts, bias, "expert_up", linears);
  mdl_build_columns (build, linears, n, each, MDL_GROUP_NONE);
  grouped_bias (build, moe, FALSE);
  build->modules |= MDL_MODULE_MOE_ACT;
  clamp (build, moe, FALSE);
  mdl_build_activation (build, moe->rows * moe->ffn);
  build->modules = modules & ~(unsigned)MDL_MODULE_MLP;
  const MdlLinear last = down (build, moe->ffn, moe->experts, bias, "expert_down");
  mdl_build_row (build, &last, each, MDL_GROUP_NONE);
  build->rounds = 0;
  weighted_bias (build, moe, FALSE);
  pad_rows (build, moe, "unpad_rows");
}

static void
experts_back (MdlBuild *build, const Moe *moe)
{
  const double each = moe->rows / moe->experts;
  const gboolean bias = build->llm->moe.bias.v;
  const MdlLinear last = down (build, moe->ffn, moe->experts, bias, "expert_down");
  MdlLinear linears[2];
  pad_rows (build, moe, "pad_rows");
  weighted_bias (build, moe, TRUE);
  build->rounds = rounds_of (build, moe);
  mdl_build_row_back (build, &last, each, MDL_GROUP_NONE);
  mdl_build_activation_back (build, moe->rows * moe->ffn);
  clamp (build, moe, TRUE);
  grouped_bias (build, moe, TRUE);
  const unsigned n = ups (build, moe->ffn, moe->experts, bias, "expert_up", linears);
  mdl_build_columns_back (build, linears, n, each, MDL_GROUP_NONE);
  build->rounds = 0;
  pad_rows (build, moe, "unpad_rows");
}

/* What etp's ranks bring together and add up; without sp each has all rows already, and only sums move. */
static void
share_rows (MdlBuild *build, const Moe *moe, gboolean gather)
{
  const MdlLayerQuery *query = build->query;
  const double bytes = moe->rows * build->llm->hidden.v * build->element_B;
  if (query->sp)
    mdl_build_coll (build, gather ? "gather_rows" : "reduce_rows", gather ? MDL_OP_ALL_GATHER : MDL_OP_REDUCE_SCATTER,
                    MDL_GROUP_ETP, bytes, query->activation);
  else if (!gather)
    mdl_build_coll (build, "reduce_rows", MDL_OP_ALL_REDUCE, MDL_GROUP_ETP, bytes, query->activation);
}

/* A gate of the shared experts' output: a product with one row, and a multiplication. */
static void
gate_shared (MdlBuild *build, gboolean back)
{
  if (!build->llm->moe.shared_gate.v)
    return;
  const double unit_B = build->rows * build->llm->hidden.v * build->element_B;
  mdl_build_memory (build, "shared_gate", (back ? 3 : 2) * unit_B, (back ? 2 : 1) * unit_B, back ? 6 : 3);
}

/* ---- expert by expert: each looks for its tokens ---- */

#define FIND_KERNELS 5 /* of nonzero on the GPU */
#define PUT_KERNELS  6 /* of index_put that adds up: a sort, the sums */

/* A part of a loop over the experts: rows in and out of all of them, `eager` kernels for each. */
static void
move_each (MdlBuild *build, const Moe *moe, const char *name, double in, double out, double eager)
{
  build->rounds = moe->experts;
  move (build, name, in, out, eager);
  build->rounds = 0;
}

static void
loop_forward (MdlBuild *build, const Moe *moe)
{
  const double marks_B = 8 * moe->sent; /* one a token and choice, of one expert */
  choose (build);
  mdl_build_memory (build, "mark_tokens", moe->sent * 8, moe->experts * marks_B, 3);
  move (build, "zero_output", 0, build->rows, 1);
  build->rounds = moe->experts;
  MdlWork *find = mdl_build_memory (build, "find_tokens", 2 * moe->experts * marks_B, moe->sent * 16, FIND_KERNELS);
  find->kernels = FIND_KERNELS * moe->experts; /* whoever compiles stops here: the host asks how many they are */
  find->syncs = moe->experts;
  move_each (build, moe, "gather_tokens", moe->rows, moe->rows, 1);
  experts_forward (build, moe);
  move_each (build, moe, "weigh", moe->rows, moe->rows, 2); /* with a look-up of the weights */
  move_each (build, moe, "add_tokens", 2 * moe->rows, moe->rows, 1);
}

static void
loop_back (MdlBuild *build, const Moe *moe)
{
  const double all = build->rows * moe->experts; /* a gradient of all tokens for each */
  move_each (build, moe, "gather_gradients", moe->rows, moe->rows, 1);
  move_each (build, moe, "weigh", 2 * moe->rows, moe->rows, 4);
  experts_back (build, moe);
  move_each (build, moe, "zero_gradients", 0, all, 1);
  move_each (build, moe, "put_gradients", 2 * moe->rows, moe->rows, PUT_KERNELS);
  move_each (build, moe, "add_gradients", 2 * all, all, 1);
}

/* ---- both ---- */

static void
add_shared (MdlBuild *build, const Moe *moe, unsigned modules)
{
  if (moe->shared <= 0)
    return;
  build->modules = modules;
  mdl_build_mlp (build, moe->shared, "shared_up", "shared_down");
  gate_shared (build, FALSE);
  build->modules |= MDL_MODULE_MLP;
}

/* What the experts of this rank do with the rows that have come: those of each together, then in the order that they go back in.
 * A library has a copy for each token, whose results of several experts are added up with their weights on the way back. */
static void
by_expert (MdlBuild *build, const Moe *moe, void (*experts) (MdlBuild *build, const Moe *moe))
{
  const gboolean mixed = by_library (build) ? build->query->dispatcher != MDL_DISPATCHER_HYBRIDEP
                                            : moe->experts > 1 && build->query->ep > 1;
  const double come = by_library (build) ? moe->got : moe->rows;
  share_rows (build, moe, TRUE);
  if (mixed)
    permute (build, "sort_by_expert", come, moe->rows, 0, 2);
  experts (build, moe);
  if (mixed)
    by_index (build, permute (build, "sort_by_rank", moe->rows, come, 0, 2), moe->rows, experts == experts_back);
  share_rows (build, moe, FALSE);
}

static void
sorted_forward (MdlBuild *build, const Moe *moe, unsigned modules)
{
  route (build, moe);
  if (!by_library (build))
    permute (build, "permute", moe->sent, moe->sent, 0, 2);
  if (build->query->shared_alone)
    add_shared (build, moe, modules);
  const int sent = exchange (build, "dispatch", moe, MDL_MOE_DISPATCH, build->query->dispatch);
  if (!build->query->shared_alone)
    add_shared (build, moe, modules); /* beside the dispatch */
  mdl_build_amend (build, sent, -1, mdl_build_next (build));
  by_expert (build, moe, experts_forward);
  exchange (build, "combine", moe, MDL_MOE_COMBINE, build->query->activation);
  if (!by_library (build))
    by_index (build, permute (build, "weighted_sum", moe->sent, build->rows, moe->sent, 3), moe->sent, FALSE);
}

void
mdl_build_moe (MdlBuild *build)
{
  const Moe moe = moe_of (build);
  const unsigned modules = build->modules;
  build->modules |= MDL_MODULE_MLP;
  if (build->query->experts == MDL_EXPERTS_LOOP) {
    loop_forward (build, &moe);
    add_shared (build, &moe, modules);
  } else
    sorted_forward (build, &moe, modules);
  if (moe.shared > 0)
    move (build, "add_shared", 2 * build->rows, build->rows, 1);
  build->modules = modules;
}

static void
back_shared (MdlBuild *build, const Moe *moe)
{
  if (moe->shared <= 0)
    return;
  gate_shared (build, TRUE);
  mdl_build_mlp_back (build, moe->shared, "shared_up", "shared_down");
}

static void
sorted_back (MdlBuild *build, const Moe *moe)
{
  if (!by_library (build))
    permute (build, "weighted_sum", build->rows + moe->sent, moe->sent, moe->sent, 4);
  if (build->query->shared_alone)
    back_shared (build, moe);
  const int sent = exchange (build, "combine_gradient", moe, MDL_MOE_DISPATCH, build->query->dispatch);
  if (!build->query->shared_alone)
    back_shared (build, moe);
  mdl_build_amend (build, sent, -1, mdl_build_next (build));
  by_expert (build, moe, experts_back);
  exchange (build, "dispatch_gradient", moe, MDL_MOE_COMBINE, build->query->activation);
  if (!by_library (build))
    by_index (build, permute (build, "permute", moe->sent, build->rows, 0, 2), moe->sent, TRUE);
}

void
mdl_build_moe_back (MdlBuild *build)
{
  const Moe moe = moe_of (build);
  build->pass = MDL_PASS_DGRAD;
  if (build->query->experts == MDL_EXPERTS_LOOP) {
    back_shared (build, &moe);
    loop_back (build, &moe);
  } else
    sorted_back (build, &moe);
  if (moe.shared > 0)
    move (build, "add_gradients", 2 * build->rows, build->rows, 1);
  route_back (build);
}
