#include "report/coll.h"

#include "json-private.h"

#define MICROSECONDS(head) BASE_SHOWN (head, 1e6, "%.2f")
#define GIGABYTES(head)    BASE_SHOWN (head, 1e-9, "%.2f")

#define MEMBER(...) BASE_MEMBER (ColAnswer, __VA_ARGS__)
const BaseMember rep_coll_members[] = {
  MEMBER ("op", op, .names = mdl_op_names),
  MEMBER ("bytes", size_B, BASE_SHOWN ("size (B)", 1, "%.0f")),
  MEMBER ("dtype", dtype, .names = mdl_dtype_names),
  MEMBER ("nodes", n_nodes, .title = "nodes"),
  MEMBER ("ranks", n_ranks, .title = "ranks"),
  MEMBER ("algo", algo, .title = "algorithm", .names = mdl_algo_names),
  MEMBER ("proto", proto, .title = "protocol", .names = mdl_proto_names),
  MEMBER ("channels", cost.channels, .title = "channels", .positive = TRUE), /* the plain library has none */
  MEMBER ("time_s", time_s, MICROSECONDS ("time (us)")),
  MEMBER ("algbw_Bps", algbw_Bps, GIGABYTES ("algbw (GB/s)")),
  MEMBER ("busbw_Bps", busbw_Bps, GIGABYTES ("busbw (GB/s)")),
  MEMBER ("wire_Bps", wire_Bps, GIGABYTES ("wire (GB/s)")),
  MEMBER ("time_lo_s", time_lo_s, MICROSECONDS ("low (us)")),
  MEMBER ("time_hi_s", time_hi_s, MICROSECONDS ("high (us)")),
  MEMBER ("bound_by", bound_by, .title = "bound by"),
  MEMBER ("provenance", provenance, .title = "provenance", .names = base_source_names),
  BASE_MEMBER_END,
};

char *
rep_coll_words (const ColAnswer *coll)
{
  g_autofree char *size = base_quantity_format (coll->size_B, BASE_DIM_BYTES, 4),
                  *time = base_quantity_format (coll->time_s, BASE_DIM_TIME, 3),
                  *lo = base_quantity_format (coll->time_lo_s, BASE_DIM_TIME, 3),
                  *hi = base_quantity_format (coll->time_hi_s, BASE_DIM_TIME, 3),
                  *busbw = base_quantity_format (coll->busbw_Bps, BASE_DIM_BANDWIDTH, 3);
  return g_strdup_printf ("%s in %s (%s to %s), %s of bus bandwidth, by %s", size, time, lo, hi, busbw,
                          base_name (mdl_algo_names, (int)coll->algo));
}
