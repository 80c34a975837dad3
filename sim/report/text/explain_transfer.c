#include <math.h>

#include "base/units.h"
#include "explain-private.h"
#include "json-private.h"
#include "models/transfer.h"
#include "path-private.h"
#include "report/explain.h"

/* Where on the ramp of message sizes this copy stands: with the latency alpha, half of the rate is reached at alpha x rate. */
static void
ramp_text (const StoTransferResult *transfer, GString *out)
{
  const MdlCollCost *cost = &transfer->cost;
  double rate_Bps = fmin (cost->bound_Bps, transfer->wire_rate_Bps / cost->wire), half_B = cost->latency_s * rate_Bps;
  if (!isfinite (half_B) || half_B <= 0 || transfer->part_B <= 0)
    return;
  g_autofree char *half = base_quantity_format (half_B, BASE_DIM_BYTES, 3);
  g_string_append_printf (out, "ramp        half of the rate is reached at %s; this size reaches %.3g %%\n", half,
                          100 * mdl_ramp (transfer->part_B, half_B));
}

void
rep_explain_transfer_text (const Clu *clu, const StoTransferResult *transfer, GString *out)
{
  rep_transfer_text (transfer, out);
  ramp_text (transfer, out);
  g_string_append_c (out, '\n');
  rep_formula_text (&transfer->cost, transfer->part_B, transfer->wire_rate_Bps, out);
  g_string_append (out, "\n# terms of one copy alone; they sum to the closed form's time\n");
  rep_text (rep_terms_table (&transfer->cost), out);
  if (transfer->route.hops != NULL && transfer->route.hops->len > 0) {
    g_string_append (out, "\n# route, hop by hop\n");
    rep_hops_text (clu, &transfer->route, out);
  }
}

void
rep_explain_transfer_json (const Clu *clu, const StoTransferResult *transfer, JsonBuilder *json)
{
  json_builder_begin_object (json);
  base_members_json (rep_transfer_members, transfer, json);
  rep_formula_json (&transfer->cost, transfer->wire_rate_Bps, json);
  rep_hops_json (clu, &transfer->route, json);
  json_builder_end_object (json);
}
