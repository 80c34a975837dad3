/* PyTorch's autocast, and the order of eager autograd: works and memory by hand. llama_1b has 2048 of width, 32 heads of 64, 8 of
 * keys and values, 8192 in the MLP, 16 layers. */
#include "llm_fixture.h"
#include "models/layer.h"
#include "models/memory.h"

#define LLAMA_1B \
  "{layers: 16, hidden: 2048, vocabulary: 128256, attention: {kind: gqa, heads: 32, kv_heads: 8, head_dim: 64, fused: false}, " \
  "positions: {kind: rope}, norm: rmsnorm, tied: true, mlp: {kind: swiglu, ffn: 8192, fused: false}}"

static MdlLayerQuery
eager (double tokens)
{
  MdlLayerQuery query;
  mdl_layer_query_default (&query, tokens);
  query.framework = MDL_FRAMEWORK_EAGER;
  return query;
}

typedef struct {
  unsigned casts;
  double read_B, write_B; /* of casts */
  double all_B;           /* of all memory-bound works */
} Casts;

static void
count (const GArray *works, const char *start, Casts *out)
{
  *out = (Casts){ 0 };
  for (guint i = 0; i < works->len; i++) {
    const MdlWork *w = &g_array_index (works, MdlWork, i);
    out->all_B += w->kind == MDL_WORK_MEMORY ? w->read_B + w->write_B : 0;
    if (!g_str_has_prefix (w->name, start))
      continue;
    out->casts++;
    out->read_B += w->read_B;
    out->write_B += w->write_B;
  }
}

static void
works_of (const MdlLlm *llm, const MdlLayerQuery *query, const char *start, Casts *forward, Casts *backward)
{
  g_autoptr (GArray) ahead = g_array_new (FALSE, FALSE, sizeof (MdlWork)), back = g_array_new (FALSE, FALSE, sizeof (MdlWork));
  mdl_layer_works (llm, query, MDL_PART_DENSE, 1, ahead, back);
  count (ahead, start, forward);
  count (back, start, backward);
}

/* A profile of these layers on an H200 has as many kernels: tests/data/training/h200x4/kernel_tables.csv, 1b_s2048_mb2_amp. */
static void
each_matrix_casts_what_it_reads (void)
{
  g_autoptr (LlmFixture) f = llm_read_at ("a.yaml", LLAMA_1B);
  const double T = 4096, h = 2048, weights = h * (2 * 2048 + 2 * 512 + 3 * 8192);
  MdlLayerQuery query = eager (T);
  Casts without, with, back_without, back_with;
  works_of (&f->llm, &query, "cast", &without, &back_without);
  TEST_TRUE (without.casts == 0 && back_without.casts == 0);
  query.autocast = TRUE;
  works_of (&f->llm, &query, "cast", &with, &back_with);
  TEST_INT (with.casts, 12); /* seven weights; the norms' results for q, k, v, gate and up */
  TEST_NEAR (with.read_B, 4 * (weights + 5 * T * h), 1e-12);
  TEST_NEAR (with.write_B, with.read_B / 2, 1e-12);
  TEST_INT (back_with.casts, 7); /* five gradients of those, and two of what the blocks gave */
  TEST_NEAR (back_with.read_B, T * h * (5 * 2 + 2 * 4), 1e-12);
  TEST_NEAR (back_with.write_B, T * h * (5 * 4 + 2 * 2), 1e-12);
  /* norms read and write 4 B in place of 2; sums read 2 and 4, and write 4 */
  TEST_NEAR (with.all_B - with.read_B - with.write_B - without.all_B, T * h * (2 * 4 + 2 * 4), 1e-9);
  TEST_NEAR (back_with.all_B - back_with.read_B - back_with.write_B - back_without.all_B, T * h * (2 * 6 + 5 * 6), 1e-9);
}

static void
fused_code_casts_weights_alone (void)
{
  g_autoptr (LlmFixture) f = llm_read_at ("a.yaml", LLAMA_1B);
  MdlLayerQuery query;
  Casts with, back;
  mdl_layer_query_default (&query, 4096);
  query.autocast = TRUE;
  works_of (&f->llm, &query, "cast", &with, &back);
  TEST_INT (with.casts, 4); /* query, key and value are one matrix, and so are gate and up */
  TEST_INT (back.casts, 0);
}

/* What a block takes in fp32, and a copy for each matrix that reads a norm's result. */
static void
autocast_keeps_a_copy_for_each_matrix (void)
{
  g_autoptr (LlmFixture) f = llm_read_at ("a.yaml", LLAMA_1B);
  const double T = 4096, h = 2048;
  const MdlMemorySpec spec = { 0 };
  const MdlBlock blocks[] = { MDL_BLOCK_ATTENTION, MDL_BLOCK_MLP };
  const double more[] = { 2 + 2 * 2, 2 + 2 };
  for (size_t i = 0; i < G_N_ELEMENTS (blocks); i++) {
    MdlLayerQuery query = eager (T);
    MdlActivationBytes plain, cast;
    mdl_memory_block (&spec, &f->llm, &query, blocks[i], FALSE, &plain);
    query.autocast = TRUE;
    mdl_memory_block (&spec, &f->llm, &query, blocks[i], FALSE, &cast);
    TEST_NEAR (cast.kept_B - plain.kept_B, T * h * more[i], 1e-9);
    TEST_NEAR (mdl_memory_boundary_B (&f->llm, &query), T * h * 4, 1e-12);
  }
}

/* The sum over tp of a gradient: in eager code behind both gradients of each matrix, in fused code beside those of weights. */
static void
eager_autograd_hides_no_sum_behind_weight_gradients (void)
{
  g_autoptr (LlmFixture) f = llm_read_at ("a.yaml", LLAMA_1B);
  for (int fused = 0; fused < 2; fused++) {
    g_autoptr (GArray) back = g_array_new (FALSE, FALSE, sizeof (MdlWork));
    MdlLayerQuery query = eager (4096);
    query.framework = fused ? MDL_FRAMEWORK_FUSED : MDL_FRAMEWORK_EAGER;
    query.tp = 2;
    mdl_layer_works (&f->llm, &query, MDL_PART_DENSE, 1, NULL, back);
    unsigned sums = 0, beside = 0;
    for (guint i = 0; i < back->len; i++) {
      const MdlWork *w = &g_array_index (back, MdlWork, i);
      if (w->kind != MDL_WORK_COLL)
        continue;
      sums++;
      for (int k = w->coll.after + 1; k < w->coll.before; k++)
        beside += g_array_index (back, MdlWork, (guint)k).kind == MDL_WORK_GEMM;
    }
    TEST_INT (sums, 2);
    TEST_INT (beside, fused ? 2 : 0);
  }
}

static void
autocast_sends_sums_in_fp32 (void)
{
  g_autoptr (LlmFixture) f = llm_read_at ("a.yaml", LLAMA_1B);
  g_autoptr (GArray) ahead = g_array_new (FALSE, FALSE, sizeof (MdlWork)), back = g_array_new (FALSE, FALSE, sizeof (MdlWork));
  MdlLayerQuery query = eager (4096);
  query.tp = 2;
  query.autocast = TRUE;
  mdl_layer_works (&f->llm, &query, MDL_PART_DENSE, 1, ahead, back);
  for (guint i = 0; i < ahead->len; i++)
    if (g_array_index (ahead, MdlWork, i).kind == MDL_WORK_COLL) /* what a product made */
      TEST_NEAR (g_array_index (ahead, MdlWork, i).coll.bytes, 4096.0 * 2048 * 2, 1e-12);
  for (guint i = 0; i < back->len; i++)
    if (g_array_index (back, MdlWork, i).kind == MDL_WORK_COLL) /* cast before it is summed up */
      TEST_NEAR (g_array_index (back, MdlWork, i).coll.bytes, 4096.0 * 2048 * 4, 1e-12);
}

static double
moved_by_index (const GArray *works, gboolean sums)
{
  double all = 0;
  for (guint i = 0; i < works->len; i++) {
    const MdlWork *w = &g_array_index (works, MdlWork, i);
    all += sums ? w->added : w->placed;
  }
  return all;
}

/* tests/data/training/h200x4/kernel_tables.csv, mixtral_l2_s4096_mb1_grouped: an index_copy and an index_add a layer, of 8192 rows;
 * over ranks another of each. Computed again, a forward pass copies as before. */
static void
eager_experts_move_rows_by_index (void)
{
  g_autoptr (LlmFixture) f = llm_need ("mixtral_8x7b");
  const double elements = 4096.0 * 2 * 4096;
  for (unsigned ep = 1; ep <= 2; ep++)
    for (int again = 0; again < 2; again++) {
      g_autoptr (GArray) ahead = g_array_new (FALSE, FALSE, sizeof (MdlWork)), back = g_array_new (FALSE, FALSE, sizeof (MdlWork));
      MdlLayerQuery query = eager (4096);
      query.ep = ep;
      query.experts = MDL_EXPERTS_GROUPED;
      query.recompute = again ? MDL_MODULE_LAYER : 0;
      mdl_layer_works (&f->llm, &query, MDL_PART_MOE, 1, ahead, back);
      TEST_NEAR (moved_by_index (ahead, FALSE), ep * elements, 1e-12);
      TEST_NEAR (moved_by_index (ahead, TRUE), 0, 0);
      TEST_NEAR (moved_by_index (back, FALSE), again * (double)ep * elements, 1e-12);
      TEST_NEAR (moved_by_index (back, TRUE), ep * elements, 1e-12);
    }
}

int
main (void)
{
  static const TestCase cases[] = {
    { "each matrix casts what it reads", each_matrix_casts_what_it_reads },
    { "fused code casts weights alone", fused_code_casts_weights_alone },
    { "autocast keeps a copy for each matrix", autocast_keeps_a_copy_for_each_matrix },
    { "eager autograd hides no sum behind weight gradients", eager_autograd_hides_no_sum_behind_weight_gradients },
    { "autocast sends sums in fp32", autocast_sends_sums_in_fp32 },
    { "eager experts move rows by index", eager_experts_move_rows_by_index },
    { NULL, NULL },
  };
  return test_main ("autocast and eager code", cases);
}
