/* Communication of a training step of a model, by kind. */
#include <math.h>

#include "json-private.h"
#include "run-private.h"

BASE_MEMBER_NUMBER_OF (whole_count, TrnCommUse, round (it->count))
/* Libraries of the experts' exchange and copies have neither NCCL's operation nor its algorithm. */
BASE_MEMBER_TEXT_OF (op_text, TrnCommUse, it->does != NULL ? it->does : base_name (mdl_op_names, (int)it->op))
BASE_MEMBER_TEXT_OF (algo_text, TrnCommUse, it->library != NULL ? it->library : base_name (mdl_algo_names, (int)it->algo))
BASE_MEMBER_TEXT_OF (proto_text, TrnCommUse, it->library != NULL ? NULL : base_name (mdl_proto_names, (int)it->proto))

#define MEMBER(...) BASE_MEMBER (TrnCommUse, __VA_ARGS__)
static const BaseMember members[] = {
  BASE_MEMBER_BY_HAND (BASE_MEMBER_TEXT, "kind", .title = "kind"),
  { .key = "count", .number = whole_count, BASE_SHOWN ("count", 1, "%.0f"), .rank = 2 },
  MEMBER ("sent_bytes", sent_B, .title = "sent"),
  MEMBER ("time_s", time_s, .title = "time"),
  MEMBER ("exposed_s", exposed_s, .title = "exposed"),
  { .key = "op", .kind = BASE_MEMBER_TEXT, .text = op_text, .title = "main operation", .rank = 1 },
  { .key = "algo", .kind = BASE_MEMBER_TEXT, .text = algo_text, .title = "algorithm", .rank = 1 },
  { .key = "proto", .kind = BASE_MEMBER_TEXT, .text = proto_text, .title = "protocol", .rank = 1 },
  BASE_MEMBER_END,
};

BaseTable *
rep_comm_table (const TrnResult *training)
{
  BaseTable *table = base_members_table (members, NULL);
  for (int k = 0; k < TRN_COMM_N; k++)
    if (training->comm[k].count > 0) {
      base_members_add (table, members, &training->comm[k]);
      base_table_text (table, "kind", trn_comm_names[k]);
    }
  return table;
}

void
rep_comm_text (const TrnResult *training, GString *out)
{
  g_autoptr (BaseTable) table = rep_comm_table (training);
  if (base_table_n_rows (table) == 0)
    return;
  g_string_append_printf (out,
                          "\n# communication of one rank of stage %u: bytes sent, counted as for a ring; total and exposed time\n",
                          training->stage);
  base_table_print_text (table, out);
}
