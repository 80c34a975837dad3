/* Which ranks talk together. */
#include "harness.h"
#include "model-private.h"

/* Sizes in the order tp, cp, dp, pp, placed in `order`, fastest first. */
static TrnGrid
grid (const guint32 size[TRN_DIM_N], const TrnDim order[TRN_DIM_N], guint32 ep, guint32 etp)
{
  TrnGrid g = { .ep = ep, .etp = etp, .n = 1 };
  for (int i = 0; i < TRN_DIM_N; i++) {
    g.size[order[i]] = size[order[i]];
    g.stride[order[i]] = g.n;
    g.n *= size[order[i]];
  }
  g.shard = size[TRN_DIM_CP] * size[TRN_DIM_DP];
  g.edp = trn_grid_locals (&g) / (ep * etp);
  return g;
}

static const TrnDim usual[TRN_DIM_N] = { TRN_DIM_TP, TRN_DIM_CP, TRN_DIM_DP, TRN_DIM_PP };

static char *
group_text (const TrnGrid *g, TrnGroupKind kind, guint32 pp, guint32 local)
{
  g_autoptr (GArray) ranks = g_array_new (FALSE, FALSE, sizeof (guint32));
  trn_grid_group (g, kind, pp, local, ranks);
  TEST_INT (ranks->len, trn_grid_group_size (g, kind));
  GString *text = g_string_new (NULL);
  for (guint i = 0; i < ranks->len; i++)
    g_string_append_printf (text, "%s%u", i > 0 ? " " : "", g_array_index (ranks, guint32, i));
  return g_string_free (text, FALSE);
}

static void
expect (const TrnGrid *g, TrnGroupKind kind, guint32 pp, guint32 local, const char *ranks)
{
  g_autofree char *text = group_text (g, kind, pp, local);
  TEST_STR (text, ranks);
}

static void
the_usual_order_is_tp_cp_dp_pp (void)
{
  const guint32 size[] = { 2, 2, 3, 2 }; /* 24 ranks; rank = tp + 2 cp + 4 dp + 12 pp */
  const TrnGrid g = grid (size, usual, 1, 1);
  TEST_INT (g.n, 24);
  expect (&g, TRN_GROUP_TP, 0, 0, "0 1");
  expect (&g, TRN_GROUP_TP, 1, 3, "14 15");
  expect (&g, TRN_GROUP_CP, 0, 1, "1 3");
  expect (&g, TRN_GROUP_DP, 0, 0, "0 2 4 6 8 10"); /* dp x cp: both hold the same weights */
  expect (&g, TRN_GROUP_DP, 1, 1, "13 15 17 19 21 23");
  expect (&g, TRN_GROUP_MODEL, 0, 0, "0 1 2 3 12 13 14 15");
  expect (&g, TRN_GROUP_MODEL, 1, 5, "4 5 6 7 16 17 18 19");
}

static void
another_order_moves_ranks_and_not_groups (void)
{
  const guint32 size[] = { 2, 1, 2, 2 };
  const TrnDim order[TRN_DIM_N] = { TRN_DIM_PP, TRN_DIM_DP, TRN_DIM_CP, TRN_DIM_TP }; /* rank = pp + 2 dp + 4 tp */
  const TrnGrid g = grid (size, order, 1, 1);
  expect (&g, TRN_GROUP_TP, 0, 0, "0 4");
  expect (&g, TRN_GROUP_DP, 0, 0, "0 2");
  expect (&g, TRN_GROUP_DP, 1, 1, "5 7");
  expect (&g, TRN_GROUP_MODEL, 0, 0, "0 4 1 5");
}

static void
experts_cut_the_same_ranks_anew (void)
{
  const guint32 size[] = { 2, 1, 4, 1 }; /* 8 ranks; ep 2 x etp 2 x edp 2 */
  const TrnGrid g = grid (size, usual, 2, 2);
  TEST_INT (g.edp, 2);
  expect (&g, TRN_GROUP_ETP, 0, 0, "0 1");
  expect (&g, TRN_GROUP_EP, 0, 0, "0 2");
  expect (&g, TRN_GROUP_EP, 0, 1, "1 3");
  expect (&g, TRN_GROUP_EP, 0, 4, "4 6");
  expect (&g, TRN_GROUP_EDP, 0, 0, "0 4");
  expect (&g, TRN_GROUP_EDP, 0, 3, "3 7");
  const TrnGrid whole = grid (size, usual, 4, 1); /* etp 1: ep reaches over tp */
  expect (&whole, TRN_GROUP_EP, 0, 0, "0 1 2 3");
  expect (&whole, TRN_GROUP_EDP, 0, 1, "1 5");
}

static void
shards_are_neighbours_and_replicas_apart (void)
{
  const guint32 size[] = { 1, 1, 8, 1 };
  TrnGrid g = grid (size, usual, 1, 1);
  g.shard = 4;
  expect (&g, TRN_GROUP_SHARD, 0, 0, "0 1 2 3");
  expect (&g, TRN_GROUP_SHARD, 0, 5, "4 5 6 7");
  expect (&g, TRN_GROUP_REPLICA, 0, 0, "0 4");
  expect (&g, TRN_GROUP_REPLICA, 0, 7, "3 7");
}

/* Groups of a kind split the ranks of a pipeline rank: each is in one, and the leaders stand for all. */
static void
groups_of_a_kind_hold_every_rank_once (void)
{
  static const struct {
    guint32 size[TRN_DIM_N], ep, etp, shard;
  } rows[] = { { { 2, 2, 4, 2 }, 4, 2, 4 }, { { 4, 1, 4, 3 }, 8, 1, 2 }, { { 1, 2, 6, 2 }, 3, 1, 6 }, { { 8, 1, 1, 4 }, 1, 8, 1 } };
  for (guint r = 0; r < G_N_ELEMENTS (rows); r++) {
    TrnGrid g = grid (rows[r].size, usual, rows[r].ep, rows[r].etp);
    g.shard = rows[r].shard;
    for (TrnGroupKind kind = TRN_GROUP_TP; kind < TRN_GROUP_MODEL; kind++) {
      g_autoptr (GArray) leaders = g_array_new (FALSE, FALSE, sizeof (guint32)),
                         ranks = g_array_new (FALSE, FALSE, sizeof (guint32));
      g_autofree unsigned *seen = g_new0 (unsigned, g.n);
      guint32 pp = g.size[TRN_DIM_PP] - 1;
      trn_grid_leaders (&g, kind, leaders);
      TEST_INT (leaders->len * trn_grid_group_size (&g, kind), trn_grid_locals (&g));
      for (guint i = 0; i < leaders->len; i++) {
        trn_grid_group (&g, kind, pp, g_array_index (leaders, guint32, i), ranks);
        for (guint k = 0; k < ranks->len; k++)
          seen[g_array_index (ranks, guint32, k)]++;
      }
      for (guint32 local = 0; local < trn_grid_locals (&g); local++)
        TEST_INT (seen[trn_grid_rank (&g, pp, local)], 1);
    }
  }
}

int
main (void)
{
  static const TestCase cases[] = {
    { "the usual order is tp, cp, dp, pp", the_usual_order_is_tp_cp_dp_pp },
    { "another order moves ranks and not groups", another_order_moves_ranks_and_not_groups },
    { "experts cut the same ranks anew", experts_cut_the_same_ranks_anew },
    { "shards are neighbours and replicas apart", shards_are_neighbours_and_replicas_apart },
    { "groups of a kind hold every rank once", groups_of_a_kind_hold_every_rank_once },
    { NULL, NULL },
  };
  return test_main ("ranks of a model", cases);
}
