/* The grid of ranks: tensor, context, data and pipeline parallelism, and the experts' own cut of it. */
#include "model-private.h"

const char *const wrk_group_names[WRK_GROUP_N] = {
  [WRK_GROUP_TP] = "tp",           [WRK_GROUP_CP] = "cp",   [WRK_GROUP_EP] = "ep",
  [WRK_GROUP_ETP] = "etp",         [WRK_GROUP_DP] = "dp",   [WRK_GROUP_SHARD] = "shard",
  [WRK_GROUP_REPLICA] = "replica", [WRK_GROUP_EDP] = "edp", [WRK_GROUP_MODEL] = "model",
};

guint32
wrk_grid_locals (const WrkGrid *grid)
{
  return grid->size[WRK_DIM_TP] * grid->size[WRK_DIM_CP] * grid->size[WRK_DIM_DP];
}

guint32
wrk_grid_rank (const WrkGrid *grid, guint32 pp, guint32 local)
{
  guint32 tp = grid->size[WRK_DIM_TP], cp = grid->size[WRK_DIM_CP];
  return pp * grid->stride[WRK_DIM_PP] + local % tp * grid->stride[WRK_DIM_TP] + local / tp % cp * grid->stride[WRK_DIM_CP] +
         local / tp / cp * grid->stride[WRK_DIM_DP];
}

/* Groups are arithmetic rows of locals: `first` + i `step`, i below `n`. MODEL is over pipeline ranks and not one. */
typedef struct {
  guint32 first, step, n;
} Row;

static Row
row_of (const WrkGrid *grid, WrkGroupKind kind, guint32 local)
{
  guint32 tp = grid->size[WRK_DIM_TP], cp = grid->size[WRK_DIM_CP], all = wrk_grid_locals (grid);
  guint32 data = all / tp, etp = grid->etp, ep = grid->ep, place = local / tp; /* place: in dp x cp */
  switch (kind) {
    case WRK_GROUP_TP:
      return (Row){ local - local % tp, 1, tp };
    case WRK_GROUP_CP:
      return (Row){ local % tp + place / cp * cp * tp, tp, cp };
    case WRK_GROUP_ETP:
      return (Row){ local - local % etp, 1, etp };
    case WRK_GROUP_EP:
      return (Row){ local % etp + local / (etp * ep) * etp * ep, etp, ep };
    case WRK_GROUP_EDP:
      return (Row){ local % (etp * ep), etp * ep, grid->edp };
    case WRK_GROUP_SHARD:
      return (Row){ local % tp + place / grid->shard * grid->shard * tp, tp, grid->shard };
    case WRK_GROUP_REPLICA:
      return (Row){ local % tp + place % grid->shard * tp, tp * grid->shard, data / grid->shard };
    case WRK_GROUP_DP:
    case WRK_GROUP_MODEL:
    case WRK_GROUP_N:
    default:
      return (Row){ local % tp, tp, data };
  }
}

/* Groups of ranks that hold the same parameters, or parts of them. */
static guint32
copies_in (const WrkGrid *grid, WrkGroupKind kind)
{
  return kind == WRK_GROUP_DP || kind == WRK_GROUP_SHARD || kind == WRK_GROUP_EDP ? MAX (grid->copies, 1) : 1;
}

guint32
wrk_grid_partner (const WrkGrid *grid, guint32 pp)
{
  return grid->copies > 1 ? grid->size[WRK_DIM_PP] - 1 - pp : pp;
}

guint32
wrk_grid_group_size (const WrkGrid *grid, WrkGroupKind kind)
{
  return kind == WRK_GROUP_MODEL ? grid->size[WRK_DIM_TP] * grid->size[WRK_DIM_CP] * grid->size[WRK_DIM_PP]
                                 : row_of (grid, kind, 0).n * copies_in (grid, kind);
}

void
wrk_grid_group (const WrkGrid *grid, WrkGroupKind kind, guint32 pp, guint32 local, GArray *ranks)
{
  g_array_set_size (ranks, 0);
  if (kind == WRK_GROUP_MODEL) {
    guint32 replica = grid->size[WRK_DIM_TP] * grid->size[WRK_DIM_CP], first = local / replica * replica;
    for (guint32 p = 0; p < grid->size[WRK_DIM_PP]; p++)
      for (guint32 i = 0; i < replica; i++) {
        guint32 rank = wrk_grid_rank (grid, p, first + i);
        g_array_append_val (ranks, rank);
      }
    return;
  }
  const Row row = row_of (grid, kind, local);
  for (guint32 copy = 0; copy < copies_in (grid, kind); copy++)
    for (guint32 i = 0; i < row.n; i++) {
      guint32 rank = wrk_grid_rank (grid, copy == 0 ? pp : wrk_grid_partner (grid, pp), row.first + i * row.step);
      g_array_append_val (ranks, rank);
    }
}

void
wrk_grid_leaders (const WrkGrid *grid, WrkGroupKind kind, GArray *locals)
{
  g_array_set_size (locals, 0);
  for (guint32 local = 0; local < wrk_grid_locals (grid); local++)
    if (row_of (grid, kind, local).first == local)
      g_array_append_val (locals, local);
}
