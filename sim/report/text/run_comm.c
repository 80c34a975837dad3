/* Communication of a training step of a model, by kind. */
#include <math.h>

#include "json-private.h"
#include "run-private.h"

static const BaseColumn columns[] = {
  { "kind", "kind", BASE_CELL_TEXT, 0, NULL },
  { "count", "count", BASE_CELL_NUMBER, 0, "%.0f" },
  { "sent_bytes", "sent (GB)", BASE_CELL_NUMBER, 1e-9, "%.4f" },
  { "time_s", "time (ms)", BASE_CELL_NUMBER, 1e3, "%.4f" },
  { "exposed_s", "exposed (ms)", BASE_CELL_NUMBER, 1e3, "%.4f" },
  { "op", "mostly", BASE_CELL_TEXT, 0, NULL },
  { "algo", "algorithm", BASE_CELL_TEXT, 0, NULL },
  { "proto", "protocol", BASE_CELL_TEXT, 0, NULL },
  { NULL, NULL, BASE_CELL_TEXT, 0, NULL },
};

BaseTable *
rep_comm_table (const WrkTrainingResult *training)
{
  BaseTable *table = base_table_new (columns);
  for (int k = 0; k < WRK_COMM_N; k++) {
    const WrkCommUse *use = &training->comm[k];
    if (use->count <= 0)
      continue;
    base_table_row (table);
    base_table_text (table, "kind", wrk_comm_names[k]);
    base_table_number (table, "count", round (use->count));
    base_table_number (table, "sent_bytes", use->sent_B);
    base_table_number (table, "time_s", use->time_s);
    base_table_number (table, "exposed_s", use->exposed_s);
    base_table_text (table, "op", base_name (mdl_op_names, (int)use->op));
    base_table_text (table, "algo", base_name (mdl_algo_names, (int)use->algo));
    base_table_text (table, "proto", base_name (mdl_proto_names, (int)use->proto));
  }
  return table;
}

void
rep_comm_json (const WrkTrainingResult *training, JsonBuilder *json)
{
  g_autoptr (BaseTable) table = rep_comm_table (training);
  rep_json_table (json, "communication", table);
}

void
rep_comm_text (const WrkTrainingResult *training, GString *out)
{
  g_autoptr (BaseTable) table = rep_comm_table (training);
  double any = 0;
  for (int k = 0; k < WRK_COMM_N; k++)
    any += training->comm[k].count;
  if (any <= 0)
    return;
  g_string_append_printf (
      out, "\n# communication of a rank of stage %u: bytes that it sends, as a ring would; time hidden or not\n", training->stage);
  base_table_print_text (table, out);
}
