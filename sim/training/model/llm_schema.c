/* The keys of a language model's file. docs/llms.md is printed from these rows. */
#include "training/llm.h"

static const BaseField attention_fields[] = {
  BASE_ROW (MdlLlmAttention, "kind", kind, ENUM, .names = mdl_attention_names,
            .help = "kind of attention; default: from `kv_heads`"),
  BASE_ROW_NUM (MdlLlmAttention, "heads", heads, COUNT, .min = "1", .max = "100000", .required = TRUE, .help = "query heads"),
  BASE_ROW_NUM (MdlLlmAttention, "kv_heads", kv_heads, COUNT, .min = "1", .max = "100000",
                .help = "key-value heads; default: `heads`, or 1 for mqa"),
  BASE_ROW_NUM (MdlLlmAttention, "head_dim", head_dim, COUNT, .min = "1", .max = "100000",
                .help = "width of a head; default: `hidden` / `heads`"),
  BASE_ROW (MdlLlmAttention, "bias", bias, BOOL, .fallback = "false", .help = "biases on queries, keys and values"),
  BASE_ROW (MdlLlmAttention, "output_bias", output_bias, BOOL, .fallback = "false", .help = "bias on the output projection"),
  BASE_ROW (MdlLlmAttention, "qk_norm", qk_norm, BOOL, .fallback = "false",
            .help = "norm of queries and keys over `head_dim`, shared by all heads"),
  BASE_ROW (MdlLlmAttention, "qk_norm_all", qk_norm_all, BOOL, .fallback = "false",
            .help = "with `qk_norm`: over all heads together, with weights of their own (OLMo 2)"),
  BASE_ROW (MdlLlmAttention, "sinks", sinks, BOOL, .fallback = "false", .help = "one learned sink logit per head"),
  BASE_ROW (MdlLlmAttention, "fused", fused, BOOL, .fallback = "false", .help = "queries, keys and values in one matrix"),
  BASE_ROW_NUM (MdlLlmAttention, "window", window, COUNT, .min = "1", .max = "1 T",
                .help = "sliding window: maximum keys that a query attends to; default: all before it"),
  BASE_ROW_NUM (MdlLlmAttention, "full_every", full_every, COUNT, .min = "1", .max = "100000",
                .help = "every n-th layer ignores `window`; default: none"),
  BASE_ROW_NUM (MdlLlmAttention, "q_lora", q_lora, COUNT, .min = "1", .max = "10 M",
                .help = "mla: width of the compressed query; default: not compressed"),
  BASE_ROW_NUM (MdlLlmAttention, "kv_lora", kv_lora, COUNT, .min = "1", .max = "10 M",
                .help = "mla: width of the compressed keys and values"),
  BASE_ROW_NUM (MdlLlmAttention, "nope", nope, COUNT, .min = "1", .max = "100000",
                .help = "mla: width of a head's query and key without positions"),
  BASE_ROW_NUM (MdlLlmAttention, "rope", rope, COUNT, .max = "100000",
                .help = "mla: width of a head's query and key with positions"),
  BASE_ROW_NUM (MdlLlmAttention, "value", value, COUNT, .min = "1", .max = "100000", .help = "mla: width of a head's value"),
  BASE_ROW_END,
};
static const BaseSchema attention_schema = { .name = "attention", .help = "Attention.", .fields = attention_fields };

static const BaseField mlp_fields[] = {
  BASE_ROW (MdlLlmMlp, "kind", kind, ENUM, .names = mdl_mlp_names, .required = TRUE, .help = "activation, also of experts"),
  BASE_ROW_NUM (MdlLlmMlp, "ffn", ffn, COUNT, .min = "1", .max = "100 M",
                .help = "intermediate width of a dense layer; required if there is one"),
  BASE_ROW (MdlLlmMlp, "bias", bias, BOOL, .fallback = "false", .help = "biases on its matrices"),
  BASE_ROW (MdlLlmMlp, "fused", fused, BOOL, .fallback = "false", .help = "gate and up projections in one matrix"),
  BASE_ROW_END,
};
static const BaseSchema mlp_schema = { .name = "mlp", .help = "The feed-forward part of a layer.", .fields = mlp_fields };

static const BaseField moe_fields[] = {
  BASE_ROW_NUM (MdlLlmMoe, "experts", experts, COUNT, .min = "1", .max = "100000", .required = TRUE, .help = "routed experts"),
  BASE_ROW_NUM (MdlLlmMoe, "top_k", top_k, COUNT, .min = "1", .max = "100000", .required = TRUE, .help = "experts per token"),
  BASE_ROW_NUM (MdlLlmMoe, "ffn", ffn, COUNT, .min = "1", .max = "100 M", .required = TRUE,
                .help = "intermediate width of an expert"),
  BASE_ROW (MdlLlmMoe, "bias", bias, BOOL, .fallback = "false", .help = "biases on the experts' matrices"),
  BASE_ROW (MdlLlmMoe, "router_bias", router_bias, BOOL, .fallback = "false",
            .help = "one bias per expert, on router logits or for load balancing"),
  BASE_ROW_NUM (MdlLlmMoe, "shared", shared, COUNT, .max = "100000", .fallback = "0",
                .help = "shared experts, used by every token"),
  BASE_ROW_NUM (MdlLlmMoe, "shared_ffn", shared_ffn, COUNT, .min = "1", .max = "100 M",
                .help = "width of a shared expert; default: `ffn`"),
  BASE_ROW (MdlLlmMoe, "shared_gate", shared_gate, BOOL, .fallback = "false", .help = "a gate scales the shared experts' output"),
  BASE_ROW_NUM (MdlLlmMoe, "first_dense", first_dense, COUNT, .max = "100000", .fallback = "0",
                .help = "number of first layers that are dense"),
  BASE_ROW_NUM (MdlLlmMoe, "every", every, COUNT, .min = "1", .max = "100000", .fallback = "1",
                .help = "every n-th of the other layers has experts"),
  BASE_ROW_NUM (MdlLlmMoe, "groups", groups, COUNT, .min = "1", .max = "100000", .fallback = "1", .help = "groups of experts"),
  BASE_ROW_NUM (MdlLlmMoe, "top_groups", top_groups, COUNT, .min = "1", .max = "100000",
                .help = "groups that a token may use; default: all"),
  BASE_ROW_END,
};
static const BaseSchema moe_schema = { .name = "moe", .help = "Mixture of experts.", .fields = moe_fields };

static const BaseField position_fields[] = {
  BASE_ROW (MdlLlmPositions, "kind", kind, ENUM, .names = mdl_position_names, .fallback = "rope", .help = "position encoding"),
  BASE_ROW_NUM (MdlLlmPositions, "length", length, COUNT, .min = "1", .max = "1 G", .help = "length of a learned table"),
  BASE_ROW_END,
};
static const BaseSchema position_schema = {
  .name = "positions", .help = "Position encoding.", .fields = position_fields, .scalar_key = "kind"
};

static const BaseField llm_fields[] = {
  BASE_ROW (MdlLlm, "llm", name, STR, .help = "name; in a file **required**, and the first key"),
  BASE_ROW (MdlLlm, "like", like, STR, .help = "name or path of a model that supplies the keys missing here"),
  BASE_ROW (MdlLlm, "description", description, STR, .help = "one line for `forerun list`"),
  BASE_ROW (MdlLlm, "source", source, STR, .help = "source of the values"),
  BASE_ROW_NUM (MdlLlm, "parameters", parameters, COUNT, .min = "1",
                .help = "exact published count; a warning follows if the keys give another"),
  BASE_ROW_NUM (MdlLlm, "layers", layers, COUNT, .min = "1", .max = "100000", .required = TRUE,
                .help = "layers, without those of `mtp`"),
  BASE_ROW_NUM (MdlLlm, "hidden", hidden, COUNT, .min = "1", .max = "10 M", .required = TRUE, .help = "width between layers"),
  BASE_ROW_NUM (MdlLlm, "vocabulary", vocabulary, COUNT, .min = "1", .max = "1 G", .required = TRUE,
                .help = "rows of the embedding as published, without padding for tensor parallelism"),
  BASE_ROW (MdlLlm, "attention", attention, MAP, .sub = &attention_schema, .required = TRUE, .help = "attention"),
  BASE_ROW (MdlLlm, "mlp", mlp, MAP, .sub = &mlp_schema, .required = TRUE, .help = "feed-forward part"),
  BASE_ROW (MdlLlm, "moe", moe, MAP, .sub = &moe_schema, .help = "mixture of experts; default: all layers are dense"),
  BASE_ROW (MdlLlm, "positions", positions, MAP, .sub = &position_schema, .help = "position encoding"),
  BASE_ROW (MdlLlm, "norm", norm, ENUM, .names = mdl_norm_names, .required = TRUE, .help = "kind of all norms"),
  BASE_ROW_NUM (MdlLlm, "norms", norms, COUNT, .min = "1", .max = "4", .fallback = "2",
                .help = "norms per layer: 2; 4 with norms after attention and MLP; 1 if these share one"),
  BASE_ROW (MdlLlm, "embedding_norm", embedding_norm, BOOL, .fallback = "false", .help = "norm after the embedding"),
  BASE_ROW (MdlLlm, "final_norm", final_norm, BOOL, .fallback = "true", .help = "norm before the head"),
  BASE_ROW (MdlLlm, "parallel", parallel, BOOL, .fallback = "false", .help = "attention and MLP in parallel on one residual"),
  BASE_ROW (MdlLlm, "tied", tied, BOOL, .fallback = "false", .help = "the output head shares the embedding's table"),
  BASE_ROW_NUM (MdlLlm, "mtp", mtp, COUNT, .max = "100", .fallback = "0",
                .help = "modules of multi-token prediction, one layer each; not counted in `parameters`"),
  BASE_ROW_NUM (MdlLlm, "context", context, COUNT, .min = "1", .max = "100 M",
                .help = "tokens of a sequence of its pre-training: default of `sequence` of a workload"),
  BASE_ROW_END,
};
const BaseSchema trn_schema_llm = { .name = "llm",
                                    .help = "A language model. One file per model in scenarios/llms.",
                                    .fields = llm_fields };
