#include "report/coll.h"

#include "coll-private.h"
#include "json-private.h"

static const BaseColumn columns[] = { REP_COLL_COLUMNS, { NULL, NULL, BASE_CELL_TEXT, 0, NULL } };

BaseTable *
rep_coll_table_new (void)
{
  return base_table_new (columns);
}

void
rep_coll_table_add (BaseTable *table, const WrkColl *coll)
{
  base_table_row (table);
  base_table_text (table, "op", base_name (mdl_op_names, (int)coll->op));
  base_table_integer (table, "bytes", (gint64)coll->size_B);
  base_table_text (table, "dtype", base_name (mdl_dtype_names, (int)coll->dtype));
  base_table_integer (table, "nodes", coll->n_nodes);
  base_table_integer (table, "ranks", coll->n_ranks);
  base_table_text (table, "algo", base_name (mdl_algo_names, (int)coll->algo));
  base_table_text (table, "proto", base_name (mdl_proto_names, (int)coll->proto));
  if (coll->cost.channels > 0) /* the plain library has none */
    base_table_integer (table, "channels", coll->cost.channels);
  base_table_number (table, "time_s", coll->time_s);
  base_table_number (table, "algbw_Bps", coll->algbw_Bps);
  base_table_number (table, "busbw_Bps", coll->busbw_Bps);
  base_table_number (table, "wire_Bps", coll->wire_Bps);
  base_table_number (table, "time_lo_s", coll->time_lo_s);
  base_table_number (table, "time_hi_s", coll->time_hi_s);
  base_table_text (table, "bound_by", coll->bound_by);
  base_table_text (table, "provenance", base_source_name (coll->provenance));
}

void
rep_coll_json_members (const WrkColl *coll, JsonBuilder *json)
{
  g_autoptr (BaseTable) table = rep_coll_table_new ();
  rep_coll_table_add (table, coll);
  base_table_build_members (table, 0, json);
}

char *
rep_coll_words (const WrkColl *coll)
{
  g_autofree char *size = base_quantity_format (coll->size_B, BASE_DIM_BYTES, 4),
                  *time = base_quantity_format (coll->time_s, BASE_DIM_TIME, 3),
                  *lo = base_quantity_format (coll->time_lo_s, BASE_DIM_TIME, 3),
                  *hi = base_quantity_format (coll->time_hi_s, BASE_DIM_TIME, 3),
                  *busbw = base_quantity_format (coll->busbw_Bps, BASE_DIM_BANDWIDTH, 3);
  return g_strdup_printf ("%s in %s (%s to %s), %s of bus bandwidth, by %s", size, time, lo, hi, busbw,
                          base_name (mdl_algo_names, (int)coll->algo));
}
