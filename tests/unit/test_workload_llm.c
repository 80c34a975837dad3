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
  g_auto (GStrv) names = base_lookup_list (lookup, WRK_LLM_FOLDER);
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
  TEST_INT (exact, 29);
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
  };
  for (size_t i = 0; i < G_N_ELEMENTS (rows); i++)
    TEST_NEAR (total_of (rows[i].name), rows[i].published, rows[i].digit / 2 / rows[i].published);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "every shipped model loads and has its published parameters", every_shipped_model_loads_and_has_its_published_parameters },
    { "rounded counts are met to their last digit", rounded_counts_are_met_to_their_last_digit },
    { NULL, NULL },
  };
  return test_main ("language models", cases);
}
