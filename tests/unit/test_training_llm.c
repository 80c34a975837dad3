/* Language models: the shipped ones have the parameters that were published, to the last one. */
#include "llm_fixture.h"

static double
total_of (const char *name)
{
  g_autoptr (LlmFixture) fixture = llm_need (name);
  MdlLlmCount count;
  mdl_llm_count (&fixture->llm, &count);
  return count.total;
}

static void
every_shipped_model_loads_and_has_its_published_parameters (void)
{
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (GStrv) names = base_lookup_list (lookup, TRN_LLM_FOLDER);
  unsigned exact = 0;
  for (char **name = names; *name != NULL; name++) {
    g_autoptr (LlmFixture) fixture = llm_need (*name);
    for (unsigned i = 0; i < base_diag_n_warnings (fixture->diag); i++)
      TEST_STR (base_diag_warning (fixture->diag, i), NULL);
    TEST_STR (fixture->llm.name.v, *name);
    TEST_TRUE (fixture->llm.source.set);
    TEST_TRUE (fixture->llm.description.set);
    exact += fixture->llm.parameters.set ? 1 : 0;
  }
  TEST_INT (exact, 49);
}

/* Tables print so many decimals of a billion; the last of them is right. */
static void
rounded_counts_are_met_to_their_last_digit (void)
{
  static const struct {
    const char *name;
    double published, digit;
  } rows[] = {
    /* Narayanan et al., SC21, table 1 */
    { "megatron_1_7b", 1.7e9, 1e8 },
    { "megatron_3_6b", 3.6e9, 1e8 },
    { "megatron_7_5b", 7.5e9, 1e8 },
    { "megatron_18b", 18.4e9, 1e8 },
    { "megatron_39b", 39.1e9, 1e8 },
    { "megatron_76b", 76.1e9, 1e8 },
    { "megatron_145b", 145.6e9, 1e8 },
    { "megatron_310b", 310.1e9, 1e8 },
    { "megatron_530b", 529.6e9, 1e8 },
    { "megatron_1t", 1008.0e9, 1e8 },
    { "megatron_22b", 22e9, 1e9 },
    /* llm-foundry, benchmarking/README.md, at sequence 2048 */
    { "mpt_125m", 0.1253e9, 1e5 },
    { "mpt_350m", 0.3560e9, 1e5 },
    { "mpt_760m", 0.7605e9, 1e5 },
    { "mpt_1b", 1.3160e9, 1e5 },
    { "mpt_3b", 2.6518e9, 1e5 },
    { "mpt_7b", 6.6589e9, 1e5 },
    { "mpt_13b", 12.8540e9, 1e5 },
    { "mpt_30b", 29.9752e9, 1e5 },
    { "mpt_70b", 64.8624e9, 1e5 },
    /* Brown et al., table 2.1 */
    { "gpt3_125m", 125e6, 1e6 },
    { "gpt3_350m", 350e6, 2e7 }, /* the table says 350 M for what is 356 M */
    { "gpt3_760m", 760e6, 1e7 },
    { "gpt3_1_3b", 1.3e9, 1e8 },
    { "gpt3_2_7b", 2.7e9, 1e8 },
    { "gpt3_6_7b", 6.7e9, 1e8 },
    { "gpt3_13b", 13.0e9, 4e8 }, /* of 5140 wide layers, as the table prints */
    { "gpt3_175b", 175.0e9, 1e9 },
    { "gpt3_5b", 5e9, 1e9 },
    { "gpt3_20b", 20e9, 1e9 },
    /* Nemotron-4 340B, table 1 and section 2.2: 331.6 + 9.4 */
    { "nemotron4_340b", 341.0e9, 2e8 },
    { "nemotron_h_47b", 47e9, 1e9 },
    { "nemotron_h_56b", 56e9, 1e9 },
  };
  for (size_t i = 0; i < G_N_ELEMENTS (rows); i++)
    TEST_NEAR (total_of (rows[i].name), rows[i].published, rows[i].digit / 2 / rows[i].published);
}

static void
config_json_gives_the_counts_of_the_public_weights (void)
{
  static const struct {
    const char *file;
    double parameters, active;
  } rows[] = {
    { "bloom_560m", 559214592, 559214592 },
    { "deepseek_v2_lite", 15706484224, 2661150208 },
    { "deepseek_v3", 671026419200, 37552297472 },
    { "falcon_40b", 41303293952, 41303293952 },
    { "falcon_7b", 6921720704, 6921720704 },
    { "gemma2_2b", 2614341888, 2614341888 },
    { "gemma_2b", 2506172416, 2506172416 },
    { "gpt2", 124439808, 124439808 },
    { "gpt_oss_20b", 20914757184, 4187440704 },
    { "llama31_8b", 8030261248, 8030261248 },
    { "llama32_1b", 1235814400, 1235814400 },
    { "mistral_7b", 7241732096, 7241732096 },
    { "mixtral_8x7b", 46702792704, 12879925248 },
    { "olmo2_7b", 7298617344, 7298617344 },
    { "opt_1_3b", 1315758080, 1315758080 },
    { "phi3_mini", 3821079552, 3821079552 },
    { "pythia_6_9b", 6857302016, 6857302016 },
    { "qwen15_moe_a2_7b", 14315784192, 2689173504 },
    { "qwen2_7b", 7615616512, 7615616512 },
    { "qwen3_0_6b", 596049920, 596049920 },
    { "qwen3_30b_a3b", 30532122624, 3353032704 },
    { "nemotron_h_8b", 8100852736, 8100852736 },
    { "qwen3_next_80b_a3b", 79674391296, 3874929408 },
    { "qwen25_vl_7b", 8292166656, 8292166656 },
    { "gemma3_4b_vision", 4300079472, 4300079472 },
    { "bert_base", 108891648, 108891648 }, /* without pooler (590,592) and transform of the head */
    { "glm4_9b", 9400279040, 9400279040 },
    { "llama4_maverick", 400711848960, 17184691200 },
    { "llama4_scout", 107769861120, 17172894720 },
    { "mamba2_2_7b", 2702599680, 2702599680 },
    { "minimax_m2", 228689764864, 11030553088 },
    { "olmo3_7b", 7298011136, 7298011136 },
    { "qwen35_35b_a3b", 35107180784, 3901559024 },
    { "qwen35_397b_a17b", 396802359664, 17805050224 },
  };
  for (size_t i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *path = g_strdup_printf ("%s/tests/data/llms/%s.json", TEST_SOURCE_DIR, rows[i].file);
    g_autoptr (LlmFixture) fixture = llm_need (path);
    TEST_STR (fixture->llm.name.v, rows[i].file);
    MdlLlmCount count, again;
    mdl_llm_count (&fixture->llm, &count);
    TEST_NEAR (count.total, rows[i].parameters, 0);
    TEST_NEAR (count.active, rows[i].active, 0);
    /* written as a file of scenarios/llms it is the same model */
    g_autofree char *text = trn_llm_write (&fixture->llm);
    g_auto (GStrv) lines = g_strsplit (g_strchomp (text), "\n", -1);
    g_autofree char *joined = g_strjoinv (", ", lines), *map = g_strdup_printf ("{%s}", joined);
    g_autoptr (LlmFixture) written = llm_need (map);
    mdl_llm_count (&written->llm, &again);
    TEST_TRUE (memcmp (&count, &again, sizeof count) == 0);
    g_autofree char *second = trn_llm_write (&written->llm);
    g_auto (GStrv) second_lines = g_strsplit (g_strchomp (second), "\n", -1);
    g_autofree char *second_joined = g_strjoinv (", ", second_lines);
    TEST_STR (second_joined, joined);
  }
}

static void
parts_of_a_model_add_up (void)
{
  /* Llama 3 8B: embedding 128256 x 4096 = 525,336,576, twice; a layer 4096 (2 x 4096 + 2 x 1024) + 3 x 4096 x 14336 + 2 x 4096 =
   * 218,112,000; a norm of 4096 */
  g_autoptr (LlmFixture) llama = llm_need ("llama3_8b");
  MdlLlmCount count;
  mdl_llm_count (&llama->llm, &count);
  TEST_NEAR (count.embedding, 525336576, 0);
  TEST_NEAR (count.head, 525336576, 0);
  TEST_NEAR (count.dense_layer, 218112000, 0);
  TEST_NEAR (count.final_norm, 4096, 0);
  TEST_NEAR (count.matrix, 8030261248 - 525336576 - 65 * 4096, 0);
  /* DeepSeek-V3: module of multi-token prediction = a layer, 2 h x h, three norms */
  g_autoptr (LlmFixture) deepseek = llm_need ("deepseek_v3");
  mdl_llm_count (&deepseek->llm, &count);
  TEST_NEAR (count.n_moe, 58, 0);
  TEST_NEAR (count.n_dense, 3, 0);
  TEST_NEAR (count.mtp, count.moe_layer + 2.0 * 7168 * 7168 + 3 * 7168, 0);
}

static void
flop_of_a_token_is_six_a_parameter_and_attention (void)
{
  /* Llama 3 8B at 8192: 6 x 7,504,658,432 of matrices + 12 x 32 x 4096 x 8192 */
  g_autoptr (LlmFixture) llama = llm_need ("llama3_8b");
  MdlLlmFlop flop;
  mdl_llm_token_flop (&llama->llm, 8192, 0, &flop);
  TEST_NEAR (flop.matrix_flop, 6 * 7504658432.0, 0);
  TEST_NEAR (flop.attention_flop, 12.0 * 32 * 4096 * 8192, 0);
  TEST_NEAR (flop.attention_causal_flop, 6.0 * 32 * 4096 * 8192, 0);
  /* documents of 1024 see an eighth */
  mdl_llm_token_flop (&llama->llm, 8192, 1024, &flop);
  TEST_NEAR (flop.attention_flop, 12.0 * 32 * 4096 * 1024, 0);
  /* gpt-oss: 12 layers see 128 keys, 12 see all: 12 H d (s + w) a pair of layers; H d = 4096 */
  g_autoptr (LlmFixture) oss = llm_need ("gpt_oss_20b");
  mdl_llm_token_flop (&oss->llm, 8192, 0, &flop);
  TEST_NEAR (flop.attention_flop, 12.0 * 12 * 4096 * (8192 + 128), 0);
  /* of a window of w the first w queries see fewer: w - w^2 / 2s */
  TEST_NEAR (mdl_llm_pairs (8192, 128, 0, TRUE), 127, 0);
  TEST_NEAR (mdl_llm_pairs (128, 4096, 0, TRUE), 64, 0);
  /* MLA: 6 H (nope + rope + v) a pair, 61 layers */
  g_autoptr (LlmFixture) deepseek = llm_need ("deepseek_v3");
  mdl_llm_token_flop (&deepseek->llm, 4096, 0, &flop);
  TEST_NEAR (flop.attention_flop, 6.0 * 61 * 128 * (128 + 64 + 128) * 4096, 0);
}

static void
a_model_like_another_differs_in_what_it_names (void)
{
  g_autoptr (LlmFixture) fixture = llm_need ("{like: llama3_8b, layers: 2, attention: {kv_heads: 32}}");
  TEST_NEAR (fixture->llm.layers.v, 2, 0);
  TEST_NEAR (fixture->llm.hidden.v, 4096, 0);
  TEST_INT (fixture->llm.attention.kind.v, MDL_ATTENTION_MHA);
  TEST_INT (base_diag_n_warnings (fixture->diag), 0); /* Llama's published count is not this one's */
  g_autoptr (LlmFixture) counted = llm_need ("{like: llama3_8b, layers: 2, parameters: 1000}");
  TEST_INT (base_diag_n_warnings (counted->diag), 1);
  TEST_HAS (base_diag_warning (counted->diag, 0), "the keys make up 1486901248 parameters, 1486900248 more than the 1000");
}

/* The one message of a model that is wrong. */
static void
refused (const char *text, const char *message)
{
  g_autoptr (LlmFixture) fixture = llm_read (text);
  g_autoptr (GError) error = NULL;
  TEST_FALSE (fixture->ok);
  base_diag_finish (fixture->diag, &error);
  g_auto (GStrv) lines = g_strsplit (error != NULL ? error->message : "", "\n", 2);
  TEST_STR (lines[0], message);
}

static void
what_contradicts_is_refused_with_its_place (void)
{
  refused ("{like: llama3_8b, attention: {heads: 24}}",
           "model.yaml:1:45: 24 heads do not divide hidden 4096, and there is no head_dim");
  refused ("{like: llama3_8b, attention: {kv_heads: 5}}", "model.yaml:1:48: kv_heads 5 does not divide heads 32");
  refused ("{like: llama3_8b, attention: {kind: mha}}",
           "model.yaml:1:44: kind mha contradicts kv_heads: mha has as many as heads, mqa one, gqa says how many");
  refused ("{like: llama3_8b, attention: {rope: 64}}", "model.yaml:1:44: 'rope' is of mla, and this attention is gqa");
  refused ("{like: deepseek_v3, attention: {kv_heads: 8}}",
           "model.yaml:1:50: mla has no 'kv_heads'; it has q_lora, kv_lora, nope, rope and value");
  refused ("{like: mixtral_8x7b, moe: {top_k: 9}}", "model.yaml:1:42: top_k 9 is more than the 8 experts");
  refused ("{like: mixtral_8x7b, moe: {first_dense: 1}}", "model.yaml:1:48: 'ffn' in 'mlp' is missing: 1 layer is dense");
  refused ("{like: mixtral_8x7b, moe: {first_dense: 32}}", "model.yaml:1:48: none of the 32 layers has experts");
  refused ("{like: llama3_8b, positions: {length: 8}}", "model.yaml:1:46: length is of learned positions");
  refused ("{like: llama3_8b, positions: learned}", "model.yaml:1:37: learned positions need a length, the rows of their table");
  refused ("{like: llama3_8b, layers: 100000, hidden: 10000000, attention: {heads: 1, kv_heads: 1}}",
           "model.yaml:1:8: the keys make up 4e+19 parameters; at most 2^53 are counted");
  refused ("llama3_9b",
           "model.yaml:1:8: no 'llama3_9b.yaml' in '.' nor among the shipped scenarios/llms and scenarios/networks (did you "
           "mean 'llama3_8b'?); 'forerun list llms' names them");
  refused ("resnet5", "model.yaml:1:8: no 'resnet5.yaml' in '.' nor among the shipped scenarios/llms and scenarios/networks (did "
                      "you mean 'resnet50'?); 'forerun list llms' names them");
  refused ("[llama3_8b]", "model.yaml:1:8: a model is a name (forerun list llms), a path or a mapping");
  refused ("{like: [a]}", "model.yaml:1:15: 'like' must be a model's name or path");
}

/* The same of a config.json, which must have one mistake. */
static void
refused_json (const char *text, const char *message)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (BaseYaml) yaml = base_yaml_load_data ("config.json", text, strlen (text), &error);
  g_assert_no_error (error);
  g_autoptr (BaseDiag) diag = base_diag_new ();
  const BaseSchemaContext context = { .arena = base_yaml_arena (yaml), .diag = diag, .source = BASE_SOURCE_DATASHEET };
  MdlLlm llm = { .head = { .set = FALSE } };
  TEST_FALSE (trn_llm_read_file (yaml, &context, &llm));
  base_diag_finish (diag, &error);
  g_auto (GStrv) lines = g_strsplit (error != NULL ? error->message : "", "\n", 2);
  TEST_STR (lines[0], message);
}

#define ACCEPTED \
  "bert, bloom, deepseek_v2, deepseek_v3, falcon, gemma, gemma2, gemma3, gemma3_text, glm, glm4, glm4_moe, gpt2, gpt_neox, " \
  "gpt_oss, kimi_k2, llama, llama4, llama4_text, mamba2, minimax_m2, mistral, mixtral, nemotron_h, olmo2, olmo3, opt, phi3, " \
  "qwen2, qwen2_5_vl, qwen2_moe, qwen3, qwen3_5, qwen3_5_moe, qwen3_5_moe_text, qwen3_5_text, qwen3_moe, qwen3_next, roberta"
#define LLAMA \
  "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_hidden_layers\": 2, \"vocab_size\": 10, \"intermediate_size\": 8"

static void
a_config_json_that_is_not_understood_is_refused_with_its_place (void)
{
  refused_json ("{\"model_type\": \"mamba\"}",
                "config.json:1:16: model_type 'mamba' is not supported (did you mean 'mamba2'?)");
  refused_json ("{\"architectures\": [\"LlamaForCausalLM\"]}",
                "config.json:1:1: no model_type; accepted: " ACCEPTED);
  refused_json ("{\"hidden_size\": 1}",
                "config.json:1:1: no model: a file that begins with 'llm' or 'network', or a HuggingFace config.json with "
                "'model_type'");
  refused_json (LLAMA "}", "config.json:1:1: 'num_attention_heads' is missing; a config.json of model_type llama has it");
  refused_json (LLAMA ",\n \"num_attention_heads\": 7}",
                "config.json:2:25: 7 heads do not divide hidden 64, and there is no head_dim");
  refused_json (LLAMA ",\n \"num_attention_heads\": 8, \"num_key_value_heads\": 3}",
                "config.json:2:51: kv_heads 3 does not divide heads 8");
  refused_json (LLAMA ",\n \"num_attention_heads\": 0}", "config.json:2:25: must be at least 1");
  refused_json (LLAMA ",\n \"num_attention_heads\": \"many\"}",
                "config.json:2:25: num_attention_heads: 'many' is not a whole number (e.g. '8')");
  refused_json (
      LLAMA ",\n \"num_attention_heads\": 8, \"hidden_act\": \"tanh\"}",
      "config.json:2:42: activation 'tanh' is not supported; accepted: silu, gelu, gelu_new, gelu_fast, gelu_pytorch_tanh");
  refused_json (LLAMA ",\n \"num_attention_heads\": 8, \"tie_word_embeddings\": 1}",
                "config.json:2:51: 'tie_word_embeddings' must be true or false");
  refused_json ("{\"model_type\": \"qwen2\", \"hidden_size\": 64, \"num_hidden_layers\": 2, \"vocab_size\": 10, "
                "\"intermediate_size\": 8, \"num_attention_heads\": 8,\n\"use_sliding_window\": true}",
                "config.json:2:23: qwen2 with use_sliding_window true is not supported; accepted: false");
}

/* What a config.json is read as, with the one warning that begins so; NULL: none. */
static MdlLlm
read_json (const char *text, const char *warning, BaseYaml **yaml)
{
  g_autoptr (GError) error = NULL;
  *yaml = base_yaml_load_data ("config.json", text, strlen (text), &error);
  g_assert_no_error (error);
  g_autoptr (BaseDiag) diag = base_diag_new ();
  const BaseSchemaContext context = { .arena = base_yaml_arena (*yaml), .diag = diag, .source = BASE_SOURCE_DATASHEET };
  MdlLlm llm = { .head = { .set = FALSE } };
  TEST_TRUE (trn_llm_read_file (*yaml, &context, &llm));
  base_diag_finish (diag, &error);
  TEST_STR (error != NULL ? error->message : NULL, NULL);
  TEST_INT (base_diag_n_warnings (diag), warning != NULL ? 1 : 0);
  if (warning != NULL && base_diag_n_warnings (diag) > 0)
    TEST_HAS (base_diag_warning (diag, 0), warning);
  return llm;
}

#define SHAPE \
  "\"hidden_size\": 64, \"num_hidden_layers\": 4, \"vocab_size\": 10, \"intermediate_size\": 8, \"num_attention_heads\": 8"
#define UNKNOWN(type, keys) "{\"model_type\": \"" type "\", " SHAPE keys "}"

/* Keys say which family an unknown type is like; a warning says so. */
static void
an_unknown_model_type_with_known_keys_reads_as_its_nearest (void)
{
  static const struct {
    const char *text, *warning, *same; /* as a family that is known */
  } rows[] = {
    { UNKNOWN ("granite", ""), "model_type 'granite' is not known; it is read as llama", UNKNOWN ("llama", "") },
    { UNKNOWN ("cohere9", ", \"sliding_window\": 4, \"sliding_window_pattern\": \"LLLG\", \"use_qk_norm\": true"),
      "is read as llama", UNKNOWN ("llama", "") },
    { UNKNOWN ("x", ", \"num_local_experts\": 4, \"num_experts_per_tok\": 2"), "is read as mixtral",
      UNKNOWN ("mixtral", ", \"num_local_experts\": 4, \"num_experts_per_tok\": 2") },
    { UNKNOWN ("x", ", \"attn_type_list\": [1, 1], \"num_kv_shared_layers\": 0, \"index_topk\": null"), "is read as llama",
      UNKNOWN ("llama", "") },
    { "{\"model_type\": \"eyes\", \"text_config\": " UNKNOWN ("llama", "") "}",
      "model_type 'eyes' is not known; its text_config alone is read, of model_type 'llama'", UNKNOWN ("llama", "") },
  };
  for (size_t i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (BaseYaml) yaml = NULL;
    g_autoptr (BaseYaml) other = NULL;
    MdlLlmCount count, same;
    MdlLlm llm = read_json (rows[i].text, rows[i].warning, &yaml), known = read_json (rows[i].same, NULL, &other);
    llm.attention.qk_norm.v = FALSE; /* of the second: weights that Llama has not */
    mdl_llm_count (&llm, &count);
    mdl_llm_count (&known, &same);
    TEST_NEAR (count.total, same.total, 0);
    if (i == 1) { /* three layers of four see a window */
      TEST_NEAR (llm.attention.window.v, 4, 0);
      TEST_NEAR (llm.attention.full_every.v, 4, 0);
    }
  }
}

/* Its experts and what every token passes: shared ones, and dense first layers. */
static void
shared_experts_of_an_unknown_type_are_read (void)
{
  g_autoptr (BaseYaml) yaml = NULL;
  const MdlLlm llm = read_json (UNKNOWN ("bailing", ", \"head_dim\": 8, \"num_experts\": 4, \"num_experts_per_tok\": 2, "
                                                    "\"moe_intermediate_size\": 8, \"num_shared_experts\": 1, "
                                                    "\"shared_expert_intermediate_size\": 16, \"first_k_dense_replace\": 1"),
                                "is read as qwen3_moe", &yaml);
  TEST_NEAR (llm.moe.shared.v, 1, 0);
  TEST_NEAR (llm.moe.shared_ffn.v, 16, 0);
  TEST_NEAR (llm.moe.first_dense.v, 1, 0);
  TEST_NEAR (llm.mlp.ffn.v, 8, 0);
}

/* Layers that no family has: a wrong model that looks right is worse than none. */
static void
what_is_not_modelled_of_an_unknown_type_is_refused (void)
{
  static const struct {
    const char *text, *message;
  } rows[] = {
    { UNKNOWN ("kimi_linear", ",\n\"linear_attn_config\": {\"num_heads\": 8}, \"kv_lora_rank\": 8"),
      "config.json:2:23: model_type 'kimi_linear' is not supported: linear_attn_config stands for linear attention with a gate per "
      "channel (Kimi Delta Attention), which is not modelled; write a model of similar layers (docs/llms.md)" },
    { UNKNOWN ("lfm2", ",\n\"conv_L_cache\": 3"), "conv_L_cache stands for short convolutions" },
    { UNKNOWN ("lfm9", ",\n\"layer_types\": [\"full_attention\", \"conv\"]"), "config.json:2:35: model_type 'lfm9'" },
    { UNKNOWN ("minimax", ",\n\"attn_type_list\": [0, 1]"), "attn_type_list stands for linear attention (lightning attention)" },
    { UNKNOWN ("electra", ",\n\"type_vocab_size\": 2"), "type_vocab_size stands for an encoder, without a causal mask" },
    { UNKNOWN ("deepseek_v32", ",\n\"index_topk\": 2048, \"kv_lora_rank\": 8, \"n_routed_experts\": 4"),
      "or write model_type 'deepseek_v3' to compute full attention" },
    { UNKNOWN ("falcon_h1", ",\n\"mamba_d_ssm\": 8"), "mamba_d_ssm stands for state-space layers (Mamba)" },
    { UNKNOWN ("ernie4_5_moe", ",\n\"moe_num_experts\": 64"), "moe_num_experts stands for experts by a key of its own" },
    { UNKNOWN ("minicpm3", ", \"kv_lora_rank\": 8"), "config.json:1:16: model_type 'minicpm3' is not supported" },
    { UNKNOWN ("olmoe", ", \"num_experts\": 8"), "config.json:1:16: model_type 'olmoe' is not supported" },
    { UNKNOWN ("llama4_text", ", \"num_local_experts\": 4, \"num_experts_per_tok\": 1,\n\"moe_layers\": [1, 3]"),
      "config.json:2:16: moe_layers are every 1 layers, the last of each: give 0 here" },
    { UNKNOWN ("llama4_text", ", \"num_local_experts\": 4, \"num_experts_per_tok\": 1,\n\"no_rope_layers\": [1, 0, 0]"),
      "config.json:2:26: no_rope_layers are 1 and 0 in a regular turn, the 0 last: give 1 here" },
  };
  for (size_t i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (BaseYaml) yaml = base_yaml_load_data ("config.json", rows[i].text, strlen (rows[i].text), &error);
    g_assert_no_error (error);
    g_autoptr (BaseDiag) diag = base_diag_new ();
    const BaseSchemaContext context = { .arena = base_yaml_arena (yaml), .diag = diag, .source = BASE_SOURCE_DATASHEET };
    MdlLlm llm = { .head = { .set = FALSE } };
    TEST_FALSE (trn_llm_read_file (yaml, &context, &llm));
    base_diag_finish (diag, &error);
    TEST_HAS (error != NULL ? error->message : "", rows[i].message);
  }
}

/* The imports of Llama 4 are the shipped models. */
static void
llama_4_is_read_as_it_is_shipped (void)
{
  static const char *const names[] = { "llama4_scout", "llama4_maverick" };
  for (size_t i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autofree char *path = g_strdup_printf ("%s/tests/data/llms/%s.json", TEST_SOURCE_DIR, names[i]);
    g_autoptr (LlmFixture) imported = llm_need (path);
    g_autoptr (LlmFixture) shipped = llm_need (names[i]);
    shipped->llm.parameters = shipped->llm.attention.kind.set ? (BaseNum){ .set = FALSE } : shipped->llm.parameters;
    shipped->llm.source = shipped->llm.description = (BaseStr){ .set = FALSE };
    g_autofree char *a = trn_llm_write (&imported->llm), *b = trn_llm_write (&shipped->llm);
    TEST_STR (a, b);
    TEST_INT (base_diag_n_warnings (imported->diag), 1);
    TEST_HAS (base_diag_warning (imported->diag, 0), "the vision encoder is left out");
  }
}

int
main (void)
{
  static const TestCase cases[] = {
    { "every shipped model loads and has its published parameters", every_shipped_model_loads_and_has_its_published_parameters },
    { "rounded counts are met to their last digit", rounded_counts_are_met_to_their_last_digit },
    { "config.json gives the counts of the public weights", config_json_gives_the_counts_of_the_public_weights },
    { "parts of a model add up", parts_of_a_model_add_up },
    { "FLOP of a token is six a parameter, and attention", flop_of_a_token_is_six_a_parameter_and_attention },
    { "a model like another differs in what it names", a_model_like_another_differs_in_what_it_names },
    { "what contradicts is refused with its place", what_contradicts_is_refused_with_its_place },
    { "a config.json that is not understood is refused with its place",
      a_config_json_that_is_not_understood_is_refused_with_its_place },
    { "an unknown model type with known keys reads as its nearest", an_unknown_model_type_with_known_keys_reads_as_its_nearest },
    { "shared experts of an unknown type are read", shared_experts_of_an_unknown_type_are_read },
    { "what is not modelled of an unknown type is refused", what_is_not_modelled_of_an_unknown_type_is_refused },
    { "Llama 4 is read as it is shipped", llama_4_is_read_as_it_is_shipped },
    { NULL, NULL },
  };
  return test_main ("language models", cases);
}
