#include "report/coll.h"

#include "base/layout.h"
#include "json-private.h"

#define MEMBER(...) BASE_MEMBER (ColAnswer, __VA_ARGS__)
const BaseMember rep_coll_members[] = {
  MEMBER ("op", op, .names = mdl_op_names),
  MEMBER ("bytes", size_B, BASE_SHOWN ("size (B)", 1, "%.0f")),
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

char *
rep_coll_words (const ColAnswer *coll)
{
  g_autofree char *size = base_quantity_show (coll->size_B, BASE_DIM_BYTES),
                  *time = base_band_show (coll->time_s, coll->time_lo_s, coll->time_hi_s, BASE_DIM_TIME),
                  *busbw = base_quantity_show (coll->busbw_Bps, BASE_DIM_BANDWIDTH);
  return g_strdup_printf ("%s in %s, %s of bus bandwidth, by %s", size, time, busbw, base_name (mdl_algo_names, (int)coll->algo));
}
