/* The grid of ranks: tensor, context, data and pipeline parallelism, and the experts' own cut of it. */
#include "model-private.h"

const char *const trn_group_names[TRN_GROUP_N] = {
  [TRN_GROUP_TP] = "tp",           [TRN_GROUP_CP] = "cp",   [TRN_GROUP_EP] = "ep",
  [TRN_GROUP_ETP] = "etp",         [TRN_GROUP_DP] = "dp",   [TRN_GROUP_SHARD] = "shard",
  [TRN_GROUP_REPLICA] = "replica", [TRN_GROUP_EDP] = "edp", [TRN_GROUP_MODEL] = "model",
};

guint32
trn_grid_locals (const TrnGrid *grid)
{
  return grid->size[TRN_DIM_TP] * grid->size[TRN_DIM_CP] * grid->size[TRN_DIM_DP];
}

guint32
trn_grid_rank (const TrnGrid *grid, guint32 pp, guint32 local)
{
  guint32 tp = grid->size[TRN_DIM_TP], cp = grid->size[TRN_DIM_CP];
  return grid->first + pp * grid->stride[TRN_DIM_PP] + local % tp * grid->stride[TRN_DIM_TP] +
         local / tp % cp * grid->stride[TRN_DIM_CP] + local / tp / cp * grid->stride[TRN_DIM_DP];
}

/* Groups are arithmetic rows of locals: `first` + i `step`, i below `n`. MODEL is over pipeline ranks and not one. */
typedef struct {
  guint32 first, step, n;
} Row;

static Row
row_of (const TrnGrid *grid, TrnGroupKind kind, guint32 local)
{
  guint32 tp = grid->size[TRN_DIM_TP], cp = grid->size[TRN_DIM_CP], all = trn_grid_locals (grid);
  guint32 data = all / tp, etp = grid->etp, ep = grid->ep, place = local / tp; /* place: in dp x cp */
  switch (kind) {
    case TRN_GROUP_TP:
      return (Row){ local - local % tp, 1, tp };
    case TRN_GROUP_CP:
      return (Row){ local % tp + place / cp * cp * tp, tp, cp };
    case TRN_GROUP_ETP:
      return (Row){ local - local % etp, 1, etp };
    case TRN_GROUP_EP:
      return (Row){ local % etp + local / (etp * ep) * etp * ep, etp, ep };
    case TRN_GROUP_EDP:
      return (Row){ local % (etp * ep), etp * ep, grid->edp };
    case TRN_GROUP_SHARD:
      return (Row){ local % tp + place / grid->shard * grid->shard * tp, tp, grid->shard };
    case TRN_GROUP_REPLICA:
      return (Row){ local % tp + place % grid->shard * tp, tp * grid->shard, data / grid->shard };
    case TRN_GROUP_DP:
    case TRN_GROUP_MODEL:
    case TRN_GROUP_N:
    default:
      return (Row){ local % tp, tp, data };
  }
}

/* Groups of ranks that hold the same parameters, or parts of them. */
static guint32
copies_in (const TrnGrid *grid, TrnGroupKind kind)
{
  return kind == TRN_GROUP_DP || kind == TRN_GROUP_SHARD || kind == TRN_GROUP_EDP ? MAX (grid->copies, 1) : 1;
}

guint32
trn_grid_partner (const TrnGrid *grid, guint32 pp)
{
  return grid->copies > 1 ? grid->size[TRN_DIM_PP] - 1 - pp : pp;
}

guint32
trn_grid_group_size (const TrnGrid *grid, TrnGroupKind kind)
{
  return kind == TRN_GROUP_MODEL ? grid->size[TRN_DIM_TP] * grid->size[TRN_DIM_CP] * grid->size[TRN_DIM_PP]
                                 : row_of (grid, kind, 0).n * copies_in (grid, kind);
}

void
trn_grid_group (const TrnGrid *grid, TrnGroupKind kind, guint32 pp, guint32 local, GArray *ranks)
{
  g_array_set_size (ranks, 0);
  if (kind == TRN_GROUP_MODEL) {
    guint32 replica = grid->size[TRN_DIM_TP] * grid->size[TRN_DIM_CP], first = local / replica * replica;
    for (guint32 p = 0; p < grid->size[TRN_DIM_PP]; p++)
      for (guint32 i = 0; i < replica; i++) {
        guint32 rank = trn_grid_rank (grid, p, first + i);
        g_array_append_val (ranks, rank);
      }
    return;
  }
  const Row row = row_of (grid, kind, local);
  for (guint32 copy = 0; copy < copies_in (grid, kind); copy++)
    for (guint32 i = 0; i < row.n; i++) {
      guint32 rank = trn_grid_rank (grid, copy == 0 ? pp : trn_grid_partner (grid, pp), row.first + i * row.step);
      g_array_append_val (ranks, rank);
    }
}

void
trn_grid_leaders (const TrnGrid *grid, TrnGroupKind kind, GArray *locals)
{
  g_array_set_size (locals, 0);
  for (guint32 local = 0; local < trn_grid_locals (grid); local++)
    if (row_of (grid, kind, local).first == local)
      g_array_append_val (locals, local);
}
