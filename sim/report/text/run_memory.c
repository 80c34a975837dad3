/* Device memory of a training step. */
#include <math.h>

#include "json-private.h"
#include "run-private.h"

static const BaseColumn stage_columns[] = {
  { "stage", "stage", BASE_CELL_INTEGER, 0, NULL },
  { "rank", "rank", BASE_CELL_INTEGER, 0, NULL },
  { "total", "total (GB)", BASE_CELL_NUMBER, 1e-9, "%.2f" },
  { "weights", "weights", BASE_CELL_NUMBER, 1e-9, "%.2f" },
  { "gradients", "gradients", BASE_CELL_NUMBER, 1e-9, "%.2f" },
  { "optimizer", "optimizer", BASE_CELL_NUMBER, 1e-9, "%.2f" },
  { "activations", "activations", BASE_CELL_NUMBER, 1e-9, "%.2f" },
  { "buffers", "buffers", BASE_CELL_NUMBER, 1e-9, "%.2f" },
  { "other", "other", BASE_CELL_NUMBER, 1e-9, "%.2f" },
  { "allocated", "allocated", BASE_CELL_NUMBER, 1e-9, "%.2f" },
  { "reserved", "reserved", BASE_CELL_NUMBER, 1e-9, "%.2f" },
  { "in_flight", "in flight", BASE_CELL_NUMBER, 0, "%.0f" },
  { NULL, NULL, BASE_CELL_TEXT, 0, NULL },
};

BaseTable *
rep_memory_table (const GArray *stages)
{
  BaseTable *table = base_table_new (stage_columns);
  for (guint i = 0; i < stages->len; i++) {
    const WrkMemory *m = &g_array_index (stages, WrkMemory, i);
    base_table_row (table);
    base_table_integer (table, "stage", m->stage);
    base_table_integer (table, "rank", m->rank);
    base_table_number (table, "total", m->total_B);
    base_table_number (table, "weights", m->weights_B);
    base_table_number (table, "gradients", m->gradients_B);
    base_table_number (table, "optimizer", m->optimizer_B);
    base_table_number (table, "activations", m->activations_B);
    base_table_number (table, "buffers", m->buffers_B);
    base_table_number (table, "other", m->other_B);
    base_table_number (table, "allocated", m->allocated_B);
    base_table_number (table, "reserved", m->reserved_B);
    base_table_number (table, "in_flight", m->in_flight);
  }
  return table;
}

void
rep_memory_row (const WrkTrainingResult *training, BaseTable *table)
{
  const WrkMemory *m = &training->fullest;
  if (training->memory == NULL)
    return;
  base_table_number (table, "memory_total_B", m->total_B);
  base_table_number (table, "memory_weights_B", m->weights_B);
  base_table_number (table, "memory_gradients_B", m->gradients_B);
  base_table_number (table, "memory_optimizer_B", m->optimizer_B);
  base_table_number (table, "memory_activations_B", m->activations_B);
  base_table_number (table, "memory_buffers_B", m->buffers_B);
  base_table_number (table, "memory_other_B", m->other_B);
  if (m->capacity_B <= 0)
    return;
  base_table_number (table, "memory_capacity_B", m->capacity_B);
  base_table_text (table, "memory_fits", m->fits ? "true" : "false");
}

void
rep_memory_json (const WrkTrainingResult *training, JsonBuilder *json)
{
  const WrkMemory *m = &training->fullest;
  if (training->memory == NULL) {
    rep_json_null (json, "memory_B");
    return;
  }
  json_builder_set_member_name (json, "memory_B");
  json_builder_begin_object (json);
  rep_json_number (json, "total", m->total_B);
  rep_json_number (json, "weights", m->weights_B);
  rep_json_number (json, "gradients", m->gradients_B);
  rep_json_number (json, "optimizer", m->optimizer_B);
  rep_json_number (json, "activations", m->activations_B);
  rep_json_number (json, "buffers", m->buffers_B);
  rep_json_number (json, "other", m->other_B);
  rep_json_number (json, "allocated", m->allocated_B);
  rep_json_number (json, "reserved", m->reserved_B);
  rep_json_number (json, "capacity", m->capacity_B > 0 ? m->capacity_B : (double)NAN);
  json_builder_set_member_name (json, "fits");
  if (m->capacity_B > 0)
    json_builder_add_boolean_value (json, m->fits);
  else
    json_builder_add_null_value (json);
  rep_json_text (json, "largest", wrk_memory_largest (m, NULL));
  rep_json_integer (json, "stage", m->stage);
  rep_json_integer (json, "rank", m->rank);
  g_autoptr (BaseTable) table = rep_memory_table (training->memory);
  rep_json_table (json, "per_stage", table);
  if (training->memory_advice != NULL)
    rep_json_text (json, "advice", training->memory_advice);
  else
    rep_json_null (json, "advice");
  json_builder_end_object (json);
}

void
rep_memory_text (const WrkTrainingResult *training, GString *out)
{
  if (training->memory == NULL)
    return;
  const WrkMemory *m = &training->fullest;
  double bytes;
  const char *largest = wrk_memory_largest (m, &bytes);
  g_autofree char *total = rep_quantity (m->total_B, BASE_DIM_BYTES), *most = rep_quantity (bytes, BASE_DIM_BYTES),
                  *allocated = rep_quantity (m->allocated_B, BASE_DIM_BYTES),
                  *capacity = rep_quantity (m->capacity_B, BASE_DIM_BYTES);
  g_string_append_printf (out, "\n# memory: rank %u of stage %u is the fullest and takes %s", m->rank, m->stage, total);
  if (m->capacity_B > 0)
    g_string_append_printf (out, " of %s, which %s", capacity, m->fits ? "fits" : "DOES NOT FIT");
  g_string_append_printf (out, "\n# largest part: %s, %s; the framework allocates %s\n", largest, most, allocated);
  if (training->memory_advice != NULL)
    g_string_append_printf (out, "# %s\n", training->memory_advice);
  g_autoptr (BaseTable) table = rep_memory_table (training->memory);
  base_table_print_text (table, out);
}
