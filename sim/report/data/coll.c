#include "report/coll.h"

#include "base/layout.h"
#include "json-private.h"

#define MEMBER(...) BASE_MEMBER (ColAnswer, __VA_ARGS__)
const BaseMember rep_coll_members[] = {
  MEMBER ("op", op, .names = mdl_op_names),
  MEMBER ("bytes", size_B, .title = "size", .format = BASE_EACH_UNIT),
  MEMBER ("dtype", dtype, .names = mdl_dtype_names),
  MEMBER ("nodes", n_nodes, .title = "nodes", .rank = 4),
  MEMBER ("ranks", n_ranks, .title = "ranks", .rank = 4),
  MEMBER ("algo", algo, .title = "algorithm", .names = mdl_algo_names),
  MEMBER ("proto", proto, .title = "protocol", .names = mdl_proto_names),
  MEMBER ("channels", cost.channels, .title = "channels", .rank = 3, .positive = TRUE), /* the plain library has none */
  MEMBER ("time_s", time_s, .title = "time"),
  MEMBER ("algbw_Bps", algbw_Bps, .title = "algbw", .rank = 2),
  MEMBER ("busbw_Bps", busbw_Bps, .title = "busbw"),
  MEMBER ("wire_Bps", wire_Bps, .title = "wire", .rank = 3),
  MEMBER ("time_lo_s", time_lo_s, .title = "low", .rank = 1),
  MEMBER ("time_hi_s", time_hi_s, .title = "high", .rank = 1),
  MEMBER ("bound_by", bound_by, .title = "bottleneck"),
  MEMBER ("provenance", provenance, .title = "provenance", .rank = 1, .names = base_source_names),
  BASE_MEMBER_END,
};

BASE_MEMBER_WHEN (has_band, ColAnswer, it->cost.band > 0) /* textbook algorithms have none */

const BaseMember rep_coll_row_members[] = {
  { .kind = BASE_MEMBER_GROUP, .sub = rep_coll_members },
  MEMBER ("validated", cost.near, .title = "validated", .rank = 9, .names = mdl_near_names, .when = has_band),
  BASE_MEMBER_END,
};

/* "All-reduce": as a sentence begins. */
static const char *
title_of (MdlOp op)
{
  static const char *const titles[MDL_OP_N] = {
    [MDL_OP_ALL_REDUCE] = "All-reduce", [MDL_OP_ALL_GATHER] = "All-gather", [MDL_OP_REDUCE_SCATTER] = "Reduce-scatter",
    [MDL_OP_BROADCAST] = "Broadcast",   [MDL_OP_REDUCE] = "Reduce",         [MDL_OP_ALLTOALL] = "All-to-all",
    [MDL_OP_SENDRECV] = "Send/receive",
  };
  return titles[op] != NULL ? titles[op] : base_name (mdl_op_names, (int)op);
}

/* " over 16 GPUs on 2 nodes takes " */
static void
append_ranks (GString *out, const ColAnswer *coll)
{
  g_string_append_printf (out, " over %u GPU%s on %u node%s takes ", coll->n_ranks, coll->n_ranks == 1 ? "" : "s", coll->n_nodes,
                          coll->n_nodes == 1 ? "" : "s");
}

/* Whoever reads only the first lines learns that nothing was measured over such a network. */
static void
append_validity (GString *out, const ColAnswer *coll)
{
  if (coll->cost.near != MDL_NEAR_NOTHING)
    return;
  const char *network = mdl_fabric_name (coll->cost.fabric);
  g_string_append_printf (
      out,
      "Not validated: no measurement between nodes over %s was available; its rates and latencies are those of data sheets, or "
      "assumed.\n",
      network != NULL ? network : "this network");
}

char *
rep_coll_answer (const ColAnswer *coll)
{
  g_autofree char *size = base_quantity_show (coll->size_B, BASE_DIM_BYTES),
                  *time = base_band_show (coll->time_s, coll->time_lo_s, coll->time_hi_s, BASE_DIM_TIME),
                  *busbw = base_quantity_show (coll->busbw_Bps, BASE_DIM_BANDWIDTH);
  GString *out = g_string_new (title_of (coll->op));
  g_string_append_printf (out, " of %s", size);
  append_ranks (out, coll);
  g_string_append_printf (out, "%s, %s busbw.\nAlgorithm: %s; bottleneck: %s.\n", time, busbw,
                          base_name (mdl_algo_names, (int)coll->algo), coll->bound_by);
  append_validity (out, coll);
  return g_string_free (out, FALSE);
}

void
rep_sweep_add (RepSweep *sweep, const ColAnswer *coll)
{
  const char *algo = base_name (mdl_algo_names, (int)coll->algo);
  if (sweep->n++ == 0) {
    sweep->first = sweep->last = sweep->best = *coll;
    sweep->algos = g_strdup (algo);
    return;
  }
  if (coll->algo != sweep->last.algo) {
    g_autofree char *size = base_quantity_show (coll->size_B, BASE_DIM_BYTES), *before = sweep->algos;
    sweep->algos = g_strdup_printf ("%s, %s from %s", before, algo, size);
  }
  if (coll->busbw_Bps > sweep->best.busbw_Bps)
    sweep->best = *coll;
  sweep->last = *coll;
}

char *
rep_sweep_answer (const RepSweep *sweep)
{
  if (sweep->n == 1)
    return rep_coll_answer (&sweep->first);
  const ColAnswer *first = &sweep->first, *last = &sweep->last, *best = &sweep->best;
  g_autofree char *from = base_quantity_show (first->size_B, BASE_DIM_BYTES),
                  *to = base_quantity_show (last->size_B, BASE_DIM_BYTES),
                  *least = base_quantity_show (first->time_s, BASE_DIM_TIME),
                  *most = base_quantity_show (last->time_s, BASE_DIM_TIME),
                  *busbw = base_quantity_show (best->busbw_Bps, BASE_DIM_BANDWIDTH),
                  *peak = base_quantity_show (best->size_B, BASE_DIM_BYTES);
  GString *out = g_string_new (title_of (first->op));
  g_string_append_printf (out, " of %s to %s", from, to);
  append_ranks (out, first);
  g_string_append_printf (out, "%s to %s; busbw peaks at %s with %s.\nAlgorithm: %s.\n", least, most, busbw, peak, sweep->algos);
  append_validity (out, last);
  return g_string_free (out, FALSE);
}

void
rep_sweep_clear (RepSweep *sweep)
{
  g_free (sweep->algos);
  *sweep = (RepSweep){ 0 };
}
