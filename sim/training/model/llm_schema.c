/* The keys of a language model's file. docs/llms.md is printed from these rows. */
#include "training/llm.h"

static const BaseField attention_fields[] = {
  BASE_ROW (MdlLlmAttention, "kind", kind, ENUM, .names = mdl_attention_names, .help = "default: as `kv_heads` says"),
  BASE_ROW_NUM (MdlLlmAttention, "heads", heads, COUNT, .min = "1", .max = "100000", .required = TRUE, .help = "of queries"),
  BASE_ROW_NUM (MdlLlmAttention, "kv_heads", kv_heads, COUNT, .min = "1", .max = "100000",
                .help = "of keys and values; default: `heads`, or 1 for mqa"),
  BASE_ROW_NUM (MdlLlmAttention, "head_dim", head_dim, COUNT, .min = "1", .max = "100000", .help = "default: `hidden` / `heads`"),
  BASE_ROW (MdlLlmAttention, "bias", bias, BOOL, .fallback = "false", .help = "queries, keys and values have biases"),
  BASE_ROW (MdlLlmAttention, "output_bias", output_bias, BOOL, .fallback = "false", .help = "the output projection has one"),
  BASE_ROW (MdlLlmAttention, "qk_norm", qk_norm, BOOL, .fallback = "false",
            .help = "queries and keys pass a norm over `head_dim`, one for all heads"),
  BASE_ROW (MdlLlmAttention, "sinks", sinks, BOOL, .fallback = "false", .help = "a learned logit a head"),
  BASE_ROW (MdlLlmAttention, "fused", fused, BOOL, .fallback = "false",
            .help = "its source code keeps queries, keys and values in one matrix"),
  BASE_ROW_NUM (MdlLlmAttention, "window", window, COUNT, .min = "1", .max = "1 T",
                .help = "keys that a query sees at most; default: all before it"),
  BASE_ROW_NUM (MdlLlmAttention, "full_every", full_every, COUNT, .min = "1", .max = "100000",
                .help = "the last of every so many layers sees all in spite of `window`; default: none"),
  BASE_ROW_NUM (MdlLlmAttention, "q_lora", q_lora, COUNT, .min = "1", .max = "10 M",
                .help = "mla: width of the compressed query; default: not compressed"),
  BASE_ROW_NUM (MdlLlmAttention, "kv_lora", kv_lora, COUNT, .min = "1", .max = "10 M",
                .help = "mla: width of the compressed keys and values"),
  BASE_ROW_NUM (MdlLlmAttention, "nope", nope, COUNT, .min = "1", .max = "100000",
                .help = "mla: of a head's query and key, the part without positions"),
  BASE_ROW_NUM (MdlLlmAttention, "rope", rope, COUNT, .max = "100000", .help = "mla: the part with positions"),
  BASE_ROW_NUM (MdlLlmAttention, "value", value, COUNT, .min = "1", .max = "100000", .help = "mla: of a head's value"),
  BASE_ROW_END,
};
static const BaseSchema attention_schema = { .name = "attention", .help = "Attention of a layer.", .fields = attention_fields };

static const BaseField mlp_fields[] = {
  BASE_ROW (MdlLlmMlp, "kind", kind, ENUM, .names = mdl_mlp_names, .required = TRUE, .help = "activation, of experts too"),
  BASE_ROW_NUM (MdlLlmMlp, "ffn", ffn, COUNT, .min = "1", .max = "100 M",
                .help = "width of a dense layer's; needed where there is one"),
  BASE_ROW (MdlLlmMlp, "bias", bias, BOOL, .fallback = "false", .help = "its matrices have biases"),
  BASE_ROW (MdlLlmMlp, "fused", fused, BOOL, .fallback = "false", .help = "its source code keeps gate and up in one matrix"),
  BASE_ROW_END,
};
static const BaseSchema mlp_schema = { .name = "mlp", .help = "The feed-forward part of a layer.", .fields = mlp_fields };

static const BaseField moe_fields[] = {
  BASE_ROW_NUM (MdlLlmMoe, "experts", experts, COUNT, .min = "1", .max = "100000", .required = TRUE, .help = "that are routed to"),
  BASE_ROW_NUM (MdlLlmMoe, "top_k", top_k, COUNT, .min = "1", .max = "100000", .required = TRUE, .help = "experts a token"),
  BASE_ROW_NUM (MdlLlmMoe, "ffn", ffn, COUNT, .min = "1", .max = "100 M", .required = TRUE, .help = "width of an expert"),
  BASE_ROW (MdlLlmMoe, "bias", bias, BOOL, .fallback = "false", .help = "experts' matrices have biases"),
  BASE_ROW (MdlLlmMoe, "router_bias", router_bias, BOOL, .fallback = "false",
            .help = "a bias an expert, of the router's logits or to balance the load"),
  BASE_ROW_NUM (MdlLlmMoe, "shared", shared, COUNT, .max = "100000", .fallback = "0", .help = "experts that every token passes"),
  BASE_ROW_NUM (MdlLlmMoe, "shared_ffn", shared_ffn, COUNT, .min = "1", .max = "100 M",
                .help = "width of one of them; default: `ffn`"),
  BASE_ROW (MdlLlmMoe, "shared_gate", shared_gate, BOOL, .fallback = "false", .help = "a gate scales their output"),
  BASE_ROW_NUM (MdlLlmMoe, "first_dense", first_dense, COUNT, .max = "100000", .fallback = "0",
                .help = "layers, from the first, that are dense"),
  BASE_ROW_NUM (MdlLlmMoe, "every", every, COUNT, .min = "1", .max = "100000", .fallback = "1",
                .help = "of the others, the last of every so many has experts"),
  BASE_ROW_NUM (MdlLlmMoe, "groups", groups, COUNT, .min = "1", .max = "100000", .fallback = "1", .help = "that the experts form"),
  BASE_ROW_NUM (MdlLlmMoe, "top_groups", top_groups, COUNT, .min = "1", .max = "100000",
                .help = "groups whose experts a token may use; default: all"),
  BASE_ROW_END,
};
static const BaseSchema moe_schema = { .name = "moe", .help = "Mixture of experts.", .fields = moe_fields };

static const BaseField position_fields[] = {
  BASE_ROW (MdlLlmPositions, "kind", kind, ENUM, .names = mdl_position_names, .fallback = "rope",
            .help = "how tokens know their place"),
  BASE_ROW_NUM (MdlLlmPositions, "length", length, COUNT, .min = "1", .max = "1 G", .help = "rows of a learned table"),
  BASE_ROW_END,
};
static const BaseSchema position_schema = {
  .name = "positions", .help = "Positions; a bare name is the kind.", .fields = position_fields, .scalar_key = "kind"
};

static const BaseField llm_fields[] = {
  BASE_ROW (MdlLlm, "llm", name, STR, .help = "its name; of a file: **required**, and first"),
  BASE_ROW (MdlLlm, "like", like, STR, .help = "a model's name or path, whose keys hold where this one has none"),
  BASE_ROW (MdlLlm, "description", description, STR, .help = "one line for people"),
  BASE_ROW (MdlLlm, "source", source, STR, .help = "where its numbers are from"),
  BASE_ROW_NUM (MdlLlm, "parameters", parameters, COUNT, .min = "1",
                .help = "published number, exact; a warning says when the keys make up another"),
  BASE_ROW_NUM (MdlLlm, "layers", layers, COUNT, .min = "1", .max = "100000", .required = TRUE, .help = "without those of `mtp`"),
  BASE_ROW_NUM (MdlLlm, "hidden", hidden, COUNT, .min = "1", .max = "10 M", .required = TRUE, .help = "width between layers"),
  BASE_ROW_NUM (MdlLlm, "vocabulary", vocabulary, COUNT, .min = "1", .max = "1 G", .required = TRUE,
                .help = "rows of the embedding, as the model is published; padding for tensor parallelism comes on top"),
  BASE_ROW (MdlLlm, "attention", attention, MAP, .sub = &attention_schema, .required = TRUE, .help = "attention"),
  BASE_ROW (MdlLlm, "mlp", mlp, MAP, .sub = &mlp_schema, .required = TRUE, .help = "feed-forward part"),
  BASE_ROW (MdlLlm, "moe", moe, MAP, .sub = &moe_schema, .help = "mixture of experts; default: all layers are dense"),
  BASE_ROW (MdlLlm, "positions", positions, MAP, .sub = &position_schema, .help = "positions"),
  BASE_ROW (MdlLlm, "norm", norm, ENUM, .names = mdl_norm_names, .required = TRUE, .help = "kind of all norms"),
  BASE_ROW_NUM (MdlLlm, "norms", norms, COUNT, .min = "1", .max = "4", .fallback = "2",
                .help = "of a layer: 2; 4 with norms after attention and MLP, 1 where these share one"),
  BASE_ROW (MdlLlm, "embedding_norm", embedding_norm, BOOL, .fallback = "false", .help = "a norm after the embedding"),
  BASE_ROW (MdlLlm, "final_norm", final_norm, BOOL, .fallback = "true", .help = "a norm before the head"),
  BASE_ROW (MdlLlm, "parallel", parallel, BOOL, .fallback = "false", .help = "attention and MLP side by side on one residual"),
  BASE_ROW (MdlLlm, "tied", tied, BOOL, .fallback = "false", .help = "the head is the embedding's table"),
  BASE_ROW_NUM (MdlLlm, "mtp", mtp, COUNT, .max = "100", .fallback = "0",
                .help = "modules of multi-token prediction, a layer each; not counted in `parameters`"),
  BASE_ROW_END,
};
const BaseSchema trn_schema_llm = { .name = "llm",
                                    .help = "A language model. One file a model in scenarios/llms.",
                                    .fields = llm_fields };
