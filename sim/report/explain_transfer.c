#include "explain-private.h"
#include "json-private.h"
#include "path-private.h"
#include "report/explain.h"

void
rep_explain_transfer_text (const Clu *clu, const WrkTransferResult *transfer, GString *out)
{
  rep_transfer_text (transfer, out);
  g_string_append_c (out, '\n');
  rep_formula_text (&transfer->cost, transfer->bytes, transfer->wire_rate_Bps, out);
  g_autoptr (BaseTable) terms = rep_terms_table (&transfer->cost);
  g_string_append (out, "\n# terms of one copy alone: they sum to the closed form's time\n");
  base_table_print_text (terms, out);
  if (transfer->route.hops != NULL && transfer->route.hops->len > 0) {
    g_string_append (out, "\n# route, hop by hop\n");
    rep_hops_text (clu, &transfer->route, out);
  }
}

void
rep_explain_transfer_tsv (const WrkTransferResult *transfer, GString *out)
{
  g_autoptr (BaseTable) terms = rep_terms_table (&transfer->cost);
  base_table_print_tsv (terms, out);
}

void
rep_explain_transfer_json (const Clu *clu, const WrkTransferResult *transfer, JsonBuilder *json)
{
  json_builder_begin_object (json);
  rep_transfer_json_members (transfer, json);
  rep_formula_json (&transfer->cost, transfer->wire_rate_Bps, json);
  rep_hops_json (clu, &transfer->route, json);
  json_builder_end_object (json);
}
