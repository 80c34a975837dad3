#include "scenario/ranks.h"

guint64
scn_sizes_count (const ScnSizes *sizes)
{
  if (!sizes->is_factor)
    return (sizes->max_B - sizes->min_B) / sizes->step + 1;
  guint64 n = 1;
  for (guint64 size_B = sizes->min_B; size_B <= sizes->max_B / sizes->step; size_B *= sizes->step)
    n++;
  return n;
}

guint64
scn_size_round (MdlOp op, guint64 size_B, unsigned element_B, guint32 n_ranks)
{
  guint64 whole_B = size_B / element_B * element_B;
  if (op != MDL_OP_ALL_GATHER && op != MDL_OP_REDUCE_SCATTER && op != MDL_OP_ALLTOALL)
    return whole_B;
  guint64 piece_B = 16 * (guint64)n_ranks;
  return size_B >= piece_B ? size_B / piece_B * piece_B : whole_B;
}

GArray *
scn_sizes_list (const ScnSizes *sizes, MdlOp op, unsigned element_B, guint32 n_ranks)
{
  GArray *all = g_array_new (FALSE, FALSE, sizeof (guint64));
  guint64 last_B = 0;
  for (guint64 size_B = sizes->min_B;;) {
    guint64 rounded_B = scn_size_round (op, size_B, element_B, n_ranks);
    if (rounded_B != last_B)
      g_array_append_val (all, rounded_B);
    last_B = rounded_B;
    if (sizes->is_factor ? size_B > sizes->max_B / sizes->step : size_B > sizes->max_B - sizes->step || sizes->step > sizes->max_B)
      return all;
    size_B = sizes->is_factor ? size_B * sizes->step : size_B + sizes->step;
  }
}
