/* Which algorithm wins where, by alpha and beta alone: the machine of tests/golden/compare/by_hand, a node of 2 GPUs. */
#include <math.h>
#include <string.h>

#include "constants/store.h"
#include "harness.h"
#include "study/compare.h"

#define TOY TEST_SOURCE_DIR "/tests/golden/compare/by_hand/toy.yaml"

#define ALL_BUT(...) (((1u << MDL_ALGO_N) - 1) & ~(__VA_ARGS__))
#define BIT(algo)    (1u << MDL_ALGO_##algo)

/* All sizes of `sizes` with these algorithms alone, on `nodes` nodes with `gpus` GPUs each. */
static StdCompare *
compare_of (guint32 algos, const guint64 *sizes, guint n_sizes, guint32 nodes, guint32 gpus)
{
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_auto (CstStore) store = { .lookup = lookup };
  g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify)base_yaml_free);
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
  const ScnHost host = { lookup, cst_store_load, &store, inputs, warnings };
  ColSettings settings;
  col_settings_default (&settings);
  settings.mode = COL_MODE_MODEL;
  settings.disabled_algos = ALL_BUT (algos);
  const ScnRanksQuery ranks_ask = { .topology = TOY, .gpus = gpus, .plain = TRUE, .settings = &settings, .who = "" };
  const StdCompareQuery query = { .like = { .op = MDL_OP_ALL_REDUCE, .dtype = MDL_DTYPE_FP32, .proto = MDL_PROTO_AUTO },
                                  .disabled_algos = settings.disabled_algos };
  StdCompare *compare = std_compare_new (MDL_OP_ALL_REDUCE);
  g_array_append_vals (compare->sizes, sizes, n_sizes);
  compare->max_B = sizes[n_sizes - 1];
  g_auto (ScnRanks) ranks = { 0 };
  TEST_TRUE (scn_ranks_open (&host, &ranks_ask, nodes, &ranks, NULL));
  TEST_TRUE (std_compare_price (compare, &query, ranks.comm, NULL));
  std_compare_end (compare);
  return compare;
}

static void
each_algorithm_has_a_row_of_each_size_and_the_first_wins_a_tie (void)
{
  const guint64 sizes[] = { 1024, 1048576 };
  g_autoptr (StdCompare) compare = compare_of (BIT (TREE) | BIT (RING), sizes, 2, 1, 0);
  TEST_INT (compare->rows->len, 4);
  const StdCompareRow *rows = (const StdCompareRow *)(gpointer)compare->rows->data;
  TEST_NEAR (rows[0].coll.time_s, 2 * 2e-6 + 1024 / 100e9, 1e-9); /* 2 (n-1) steps of 2 us, half of it at 100 GB/s each */
  TEST_TRUE (rows[0].best && !rows[1].best);
  TEST_NEAR (rows[0].margin, 0, 1e-9);
  TEST_INT (rows[0].own_algo, -1); /* the plain library chooses nothing */
  const StdCompareColumn *column = compare->columns->pdata[0];
  TEST_INT (column->spans->len, 1);
}

static void
where_the_winner_changes_is_found_between_two_sizes (void)
{
  const guint64 sizes[] = { 1024, 1073741824 };
  g_autoptr (StdCompare) compare = compare_of (BIT (TREE) | BIT (RING), sizes, 2, 2, 0);
  const StdCompareColumn *column = compare->columns->pdata[0];
  TEST_INT (column->ranks, 4);
  const StdCompareRow *rows = (const StdCompareRow *)(gpointer)compare->rows->data;
  const MdlAlgo small = rows[0].best ? rows[0].coll.algo : rows[1].coll.algo,
                large = rows[2].best ? rows[2].coll.algo : rows[3].coll.algo;
  const StdCompareSpan *first = &g_array_index (column->spans, StdCompareSpan, 0),
                       *last = &g_array_index (column->spans, StdCompareSpan, column->spans->len - 1);
  TEST_INT (first->from_B, 1024);
  TEST_INT (first->algo, small);
  TEST_INT (last->algo, large);
  TEST_TRUE (small == large || (last->from_B > 1024 && last->from_B <= 1073741824));
}

static void
what_cannot_run_is_reported_with_its_reason (void)
{
  const guint64 sizes[] = { 1024 };
  g_autoptr (StdCompare) compare = compare_of (BIT (RING) | BIT (NVLS), sizes, 1, 1, 0);
  TEST_INT (compare->rows->len, 1);
  TEST_INT (compare->left_out->len, 1);
  TEST_HAS (compare->left_out->pdata[0], "nvls on 1 node: ");
}

static void
one_rank_has_no_column (void)
{
  const guint64 sizes[] = { 1024 };
  g_autoptr (StdCompare) compare = compare_of (BIT (RING), sizes, 1, 1, 1);
  TEST_INT (compare->columns->len, 0);
  TEST_STR (compare->left_out->pdata[0], "all algorithms on 1 node: one rank has nobody to talk to");
}

static const TestCase cases[] = {
  { "each algorithm has a row of each size and the first wins a tie",
    each_algorithm_has_a_row_of_each_size_and_the_first_wins_a_tie },
  { "where the winner changes is found between two sizes", where_the_winner_changes_is_found_between_two_sizes },
  { "what cannot run is reported with its reason", what_cannot_run_is_reported_with_its_reason },
  { "one rank has no column", one_rank_has_no_column },
  { NULL, NULL },
};

int
main (void)
{
  return test_main ("study: compare", cases);
}
