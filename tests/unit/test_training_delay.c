/* Weight gradients that wait until others have what they need: the same works in another order. */
#include "llm_fixture.h"
#include "models/layer.h"

typedef struct {
  double wgrad_flop, moved_B, kernels, sent_B;
} Sums;

static GArray *
backward (const MdlLlm *llm, const MdlLayerQuery *query, Sums *sums)
{
  GArray *works = g_array_new (FALSE, FALSE, sizeof (MdlWork));
  mdl_layer_works (llm, query, mdl_llm_is_moe (llm, 3) ? MDL_PART_MOE : MDL_PART_DENSE, 3, NULL, works);
  *sums = (Sums){ 0 };
  for (guint i = 0; i < works->len; i++) {
    const MdlWork *w = &g_array_index (works, MdlWork, i);
    sums->wgrad_flop += w->kind == MDL_WORK_GEMM && w->pass == MDL_PASS_WGRAD ? w->flop : 0;
    sums->moved_B += w->kind != MDL_WORK_COLL ? w->read_B + w->write_B : 0;
    sums->sent_B += w->kind == MDL_WORK_COLL ? w->coll.bytes : 0;
    sums->kernels += w->kernels;
  }
  return works;
}

/* What a collective names lies where it did: it follows what comes before, and what waits for it comes behind. */
static void
check_marks (const GArray *works)
{
  for (guint i = 0; i < works->len; i++) {
    const MdlWork *w = &g_array_index (works, MdlWork, i);
    if (w->kind != MDL_WORK_COLL)
      continue;
    TEST_TRUE (w->coll.after >= -1 && w->coll.after < (int)i);
    TEST_TRUE (w->coll.before > (int)i && w->coll.before <= (int)works->len);
    TEST_TRUE (w->coll.with < 0 || g_array_index (works, MdlWork, (guint)w->coll.with).kind != MDL_WORK_COLL);
  }
}

/* Those of the experts run while the gradients of their tokens travel back, all others behind the layer. */
static void
check_order (const GArray *works, gboolean has_experts)
{
  gboolean tail = FALSE;
  guint sent = 0, beside = 0;
  for (guint i = 0; i < works->len; i++) {
    const MdlWork *w = &g_array_index (works, MdlWork, i);
    TEST_TRUE (!tail || w->delayed); /* once they begin, nothing else follows */
    TEST_TRUE (!w->delayed || w->pass == MDL_PASS_WGRAD);
    tail = tail || w->delayed;
    sent += w->kind == MDL_WORK_COLL && w->coll.group == MDL_GROUP_EP ? 1 : 0;
    const gboolean experts = w->kind == MDL_WORK_GEMM && w->pass == MDL_PASS_WGRAD && w->gemm.batch > 1;
    TEST_TRUE (!experts || sent == 2); /* the combine's gradient has come, the dispatch's is on its way */
    beside += experts ? 1 : 0;
  }
  TEST_TRUE (tail);
  TEST_TRUE (!has_experts || beside > 0);
}

static void
the_same_works_come_behind_what_others_wait_for (void)
{
  static const char *const models[] = { "mixtral_8x7b", "deepseek_v3", "qwen3_30b_a3b", "llama3_8b" };
  for (guint m = 0; m < G_N_ELEMENTS (models); m++)
    for (unsigned tp = 1; tp <= 2; tp++) {
      g_autoptr (LlmFixture) fixture = llm_need (models[m]);
      const gboolean experts = mdl_llm_is_moe (&fixture->llm, 3);
      MdlLayerQuery query;
      Sums plain, late;
      mdl_layer_query_default (&query, 4096);
      query.tp = tp;
      query.sp = tp > 1;
      query.ep = experts ? 4 : 1;
      query.shared_alone = TRUE;
      g_autoptr (GArray) before = backward (&fixture->llm, &query, &plain);
      query.delay_wgrad = TRUE;
      g_autoptr (GArray) after = backward (&fixture->llm, &query, &late);
      TEST_INT (after->len, before->len);
      TEST_NEAR (late.wgrad_flop, plain.wgrad_flop, 1e-12);
      TEST_NEAR (late.moved_B, plain.moved_B, 1e-12);
      TEST_NEAR (late.sent_B, plain.sent_B, 1e-12);
      TEST_NEAR (late.kernels, plain.kernels, 1e-12);
      check_marks (after);
      check_order (after, experts);
    }
}

int
main (void)
{
  static const TestCase cases[] = {
    { "the same works come behind what others wait for", the_same_works_come_behind_what_others_wait_for },
    { NULL, NULL },
  };
  return test_main ("delayed weight gradients", cases);
}
