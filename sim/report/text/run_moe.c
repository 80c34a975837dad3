/* What a dispatch or combine of experts comes to. */
#include <string.h>

#include "facts-private.h"
#include "html-private.h"
#include "json-private.h"
#include "report/coll.h"
#include "report/explain.h"
#include "run-private.h"

#define MOE(...) BASE_MEMBER (ColMoeAnswer, __VA_ARGS__)

BASE_MEMBER_NUMBER_OF (rate_Bps, ColMoeAnswer, it->time_s > 0 ? (it->cost.nvlink_B + it->cost.nic_B) / it->time_s : 0)

const BaseMember rep_moe_members[] = {
  MOE ("op", request.op, .names = mdl_moe_op_names),
  MOE ("backend", request.backend, .names = mdl_moe_backend_names),
  MOE ("tokens", request.tokens, .title = "tokens"),
  MOE ("dtype", request.format, .names = mdl_format_names),
  MOE ("ranks", n_ranks),
  MOE ("nodes", n_nodes),
  MOE ("time_s", time_s, .title = "time"),
  MOE ("time_lo_s", time_lo_s, .title = "from", .rank = 1),
  MOE ("time_hi_s", time_hi_s, .title = "to", .rank = 1),
  MOE ("ranks_of_a_token", cost.reached_ranks, BASE_SHOWN ("ranks a token", 1, "%.3f")),
  MOE ("nodes_of_a_token", cost.reached_nodes, BASE_SHOWN ("nodes a token", 1, "%.3f")),
  MOE ("row_bytes", cost.row_B, .rank = 2),
  MOE ("nvlink_bytes", cost.nvlink_B, .title = "over NVLink"),
  MOE ("nic_bytes", cost.nic_B, .title = "over NIC"),
  { .key = "rate_Bps", .number = rate_Bps },
  MOE ("sms", cost.sms, .title = "SMs"),
  MOE ("bound_by", cost.bound_by, .title = "limited by"),
  MOE ("provenance", cost.source, .names = base_source_names),
  BASE_MEMBER_END,
};

static void
say (const ColMoeAnswer *moe, GString *out, const char *text)
{
  rep_say (out, rep_moe_members, moe, text);
}

void
rep_moe_answer (const void *of, GString *out)
{
  const ColMoeAnswer *moe = of;
  g_autofree char *band = rep_band (moe->time_s, moe->time_lo_s, moe->time_hi_s);
  const gboolean one = moe->n_ranks == 1;
  say (moe, out,
       one ? "{op} of {tokens:%.0f} tokens on 1 rank by {backend} takes "
           : "{op} of {tokens:%.0f} tokens a rank on {ranks} ranks by {backend} takes ");
  g_string_append_printf (out, "%s.\n", band);
  say (moe, out,
       one ? "All tokens stay on it. Limited by: {bound_by}.\n"
           : "A token reaches {ranks_of_a_token:%.3f} ranks on {nodes_of_a_token:%.3f} nodes. Limited by: {bound_by}.\n");
}

void
rep_moe_text (const void *of, GString *out)
{
  const ColMoeAnswer *moe = of;
  g_autofree char *band = rep_band (moe->time_s, moe->time_lo_s, moe->time_hi_s);
  say (moe, out, "operation   {op} by {backend}, {tokens:%.0f} tokens a rank in {dtype}, {row_bytes} a row\n");
  g_string_append_printf (out, "time        %s\n", band);
  say (moe, out,
       "reaches     {ranks_of_a_token:%.4f} of {ranks} ranks and {nodes_of_a_token:%.4f} of {nodes} nodes, a token\n"
       "NVLink      {nvlink_bytes} leave the fullest rank\n"
       "NIC         {nic_bytes} leave the fullest rank\n");
  if (moe->cost.sms > 0)
    say (moe, out, "SMs         {sms:%.0f} of the GPU are taken\n");
  say (moe, out, "limited by  {bound_by}\nprovenance  {provenance}\n");
}

void
rep_moe_facts (const void *of, GString *html)
{
  const ColMoeAnswer *moe = of;
  rep_html_quantity (html, "time", moe->time_s, BASE_DIM_TIME, NULL);
  rep_html_quantity (html, "over NVLink", moe->cost.nvlink_B, BASE_DIM_BYTES, "of the fullest rank");
  rep_html_quantity (html, "over NIC", moe->cost.nic_B, BASE_DIM_BYTES, "of the fullest rank");
  rep_html_fact (html, "limited by", moe->cost.bound_by, NULL);
  rep_html_fact (html, "weakest source", base_source_name (moe->cost.source), NULL);
}

BaseTable *
rep_moe_terms_table (const ColMoeAnswer *moe)
{
  MdlCollCost cost = { .n_terms = moe->cost.n_terms, .time_s = moe->time_s };
  memcpy (cost.term, moe->cost.term, sizeof cost.term);
  return rep_terms_table (&cost);
}

void
rep_explain_moe_answer (const ColMoeAnswer *moe, GString *out)
{
  rep_moe_answer (moe, out);
}

void
rep_explain_moe_text (const ColMoeAnswer *moe, GString *out)
{
  rep_moe_text (moe, out);
  g_string_append (out, "\n# terms; they sum to the time\n");
  rep_text (rep_moe_terms_table (moe), out);
}

void
rep_explain_moe_json (const ColMoeAnswer *moe, JsonBuilder *json)
{
  json_builder_begin_object (json);
  base_members_json (rep_moe_members, moe, json);
  rep_json_table (json, "terms", rep_moe_terms_table (moe));
  json_builder_end_object (json);
}
