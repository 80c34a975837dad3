/* Networks of operations: published counts, FLOP and memory by hand, and what is wrong in a file is said with its place. */
#include "llm_fixture.h"
#include "models/net.h"

static void
shipped_networks_have_their_published_parameters (void)
{
  static const struct {
    const char *name;
    double published;
  } rows[] = {
    { "alexnet", 61100840 },                                   /* torchvision 0.15 models: 61.1 M */
    { "vgg16", 138357544 },                                    /* 138.4 M */
    { "resnet50", 25557032 },                                  /* 25.6 M */
    { "vit_b16", 86567656 },                                   /* 86.6 M */
    { "vit_l16", 304326632 },                                  /* 304.3 M */
    { "bert_large", 336226108 },                               /* transformers: BertForPreTraining of bert-large-uncased */
    { "bert_large_128", 336226108 }, { "mlp_4096", 33566721 }, /* 2 (4096^2 + 4096) + 4096 + 1 */
  };
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (GStrv) names = base_lookup_list (lookup, TRN_NET_FOLDER);
  TEST_INT (g_strv_length (names), G_N_ELEMENTS (rows));
  for (size_t i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (LlmFixture) fixture = llm_need (rows[i].name);
    MdlLlmCount count;
    mdl_llm_count (&fixture->llm, &count);
    TEST_NEAR (count.total, rows[i].published, 0);
    TEST_NEAR (fixture->llm.parameters.v, rows[i].published, 0);
    TEST_TRUE (fixture->llm.source.set);
    TEST_INT (base_diag_n_warnings (fixture->diag), 0);
  }
}

/* Multiply-adds of a sample, forward: torchvision's "GFLOPS" of its weights' tables. */
static void
multiplications_are_the_published_ones (void)
{
  static const struct {
    const char *name;
    double published;
  } rows[] = {
    { "alexnet", 0.71e9 }, { "vgg16", 15.47e9 }, { "resnet50", 4.09e9 }, { "vit_b16", 17.56e9 }, { "vit_l16", 61.55e9 }
  };
  for (size_t i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (LlmFixture) fixture = llm_need (rows[i].name);
    MdlLlmFlop flop;
    mdl_llm_token_flop (&fixture->llm, 1, 0, &flop);
    TEST_NEAR ((flop.matrix_flop + flop.attention_flop) / 6, rows[i].published, 0.01);
  }
}

static double
sum_flop (const GArray *works)
{
  double flop = 0;
  for (guint i = 0; i < works->len; i++)
    flop += g_array_index (works, MdlWork, i).flop;
  return flop;
}

/* Of all layers; the first convolution has no gradient of its input: a sixth of its 6 FLOP is forward, two are backward. */
static void
works_add_up_to_the_counted_flop (void)
{
  static const struct {
    const char *name;
    double spared; /* multiply-adds of the first operation's input gradient */
  } rows[] = { { "resnet50", 64.0 * 3 * 49 * 112 * 112 }, { "mlp_4096", 4096.0 * 4096 }, { "vit_b16", 768.0 * 3 * 256 * 196 } };
  for (size_t i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (LlmFixture) fixture = llm_need (rows[i].name);
    const MdlNet *net = fixture->llm.net;
    MdlLayerQuery query;
    mdl_layer_query_default (&query, 1);
    query.micro_batch = 2;
    query.flash = FALSE;
    double forward_flop = 0, back_flop = 0, matrix, attention;
    for (unsigned layer = 0; layer < mdl_net_n_layers (net); layer++) {
      g_autoptr (GArray) forward = g_array_new (FALSE, FALSE, sizeof (MdlWork)),
                         back = g_array_new (FALSE, FALSE, sizeof (MdlWork));
      mdl_layer_works (&fixture->llm, &query, MDL_PART_NET, layer, forward, back);
      forward_flop += sum_flop (forward);
      back_flop += sum_flop (back);
    }
    mdl_net_flop (net, &matrix, &attention);
    TEST_NEAR (forward_flop, 2 * (matrix + attention) / 3, 1e-12);
    TEST_NEAR (back_flop, 2 * (matrix + attention) * 2 / 3 - 2 * 2 * rows[i].spared, 1e-12);
  }
}

/* conv 3 -> 8 on 10 x 10, batch norm, ReLU, bf16, 4 samples: the input, and inputs of norm and ReLU's result, which is the last and
 * belongs to the layer behind. */
static void
kept_activations_by_hand (void)
{
  g_autoptr (LlmFixture) f = llm_need (
      "{network: a, input: {features: 3, height: 10, width: 10}, layers: [{ops: [{op: conv, out: 8, kernel: 3, padding: 1}, "
      "{op: elementwise, kind: batch_norm}, {op: elementwise, kind: relu}]}]}");
  MdlLayerQuery query;
  MdlActivationBytes bytes;
  mdl_layer_query_default (&query, 1);
  query.micro_batch = 4;
  mdl_net_memory (f->llm.net, &query, 0, &bytes);
  TEST_NEAR (bytes.kept_B, 4 * 2 * (3 * 100 + 8 * 100), 1e-12);
  query.recompute = MDL_MODULE_LAYER;
  mdl_net_memory (f->llm.net, &query, 0, &bytes);
  TEST_NEAR (bytes.kept_B, 4 * 2 * 3 * 100, 1e-12);
  TEST_NEAR (bytes.again_B, 4 * 2 * 8 * 100, 1e-12);
}

static void
refused (const char *layers, const char *message)
{
  g_autofree char *text = g_strdup_printf ("{network: a, input: {features: 3, height: 8, width: 8}, layers: [%s]}", layers);
  g_autoptr (LlmFixture) fixture = llm_read (text);
  g_autoptr (GError) error = NULL;
  TEST_FALSE (fixture->ok);
  base_diag_finish (fixture->diag, &error);
  TEST_HAS (error != NULL ? error->message : "", message);
}

static void
mistakes_are_told_with_their_place (void)
{
  refused ("{ops: [{op: conv, kernel: 3}]}", "model.yaml:1:80: 'out' is missing in this conv (e.g. out: 64)");
  refused ("{ops: [{op: conv, out: 8}]}", "'kernel' is missing in this conv (e.g. kernel: 3)");
  refused ("{ops: [{op: convolution, out: 8}]}", "model.yaml:1:85: 'op' must be one of matmul, conv, attention, embedding, "
                                                 "elementwise, found 'convolution' (did you mean 'conv'?)");
  refused ("{ops: [{op: conv, out: 8, kernel: 3}, {op: conv, in: 16, out: 8, kernel: 1}]}",
           "this conv takes 16 channels, and 8 come from the operation before; write in: 8, or change `out` there");
  refused ("{ops: [{op: conv, out: 8, kernel: 9}]}", "a kernel of 9 does not fit into 8 x 8 positions with padding 0");
  refused ("{ops: [{op: conv, out: 8, kernel: 1, groups: 2}]}", "2 groups do not divide 3 channels in and 8 out");
  refused ("{ops: [{op: matmul, out: 8}, {op: elementwise, kind: add, with: input}]}", "a sum of 8 x 8 x 8 and 3 x 8 x 8");
  refused ("{ops: [{op: elementwise, kind: add, with: nobody}]}", "no earlier operation of this layer is named 'nobody'");
  refused ("{ops: [{op: attention, heads: 2}]}", "3 features are not 3 x 2 heads of whole width");
  refused ("{ops: [{op: matmul, out: 8, heads: 2}]}", "'heads' has no effect on matmul; leave it out");
  refused ("{ops: [{op: elementwise}]}", "'kind' is missing in this");
  refused ("{count: 2, ops: [{op: matmul, out: 8}]}", "2 layers in a row that take 3 x 8 x 8 and give 8 x 8 x 8");
  refused ("{ops: [{op: embedding, rows: 10, out: 8}]}", "an embedding takes tokens, and 3 features come");
  refused ("{ops: []}", "a layer without operations");
  refused ("{count: 10000, ops: [{op: matmul, out: 3}]}, {ops: [{op: matmul, out: 3}]}", "10001 layers; accepted: at most 10000");
  refused ("{ops: [{op: matmul, out: 100000000}, {op: matmul, out: 100000000}]}", "the layers make up 1e+16 parameters");
  refused ("{ops: [{op: elementwise, kind: flatten}, {op: conv, out: 100000000, kernel: 1, padding: 10000000}]}",
           "this conv makes 4e+22 elements per sample; accepted: fewer than 2^53");
}

int
main (void)
{
  static const TestCase cases[] = {
    { "shipped networks have their published parameters", shipped_networks_have_their_published_parameters },
    { "multiplications are the published ones", multiplications_are_the_published_ones },
    { "works add up to the counted FLOP", works_add_up_to_the_counted_flop },
    { "kept activations by hand", kept_activations_by_hand },
    { "mistakes are told with their place", mistakes_are_told_with_their_place },
    { NULL, NULL },
  };
  return test_main ("networks of operations", cases);
}
