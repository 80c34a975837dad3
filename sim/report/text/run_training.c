#include <math.h>

#include "json-private.h"
#include "run-private.h"

#define SECONDS(key)                     \
  {                                      \
    key, NULL, BASE_CELL_NUMBER, 0, NULL \
  }

enum { FIRST_PART = 15 };
static const BaseColumn columns[] = {
  SECONDS ("step_time_s"),
  SECONDS ("step_time_lo_s"),
  SECONDS ("step_time_hi_s"),
  SECONDS ("communication_s"),
  SECONDS ("ideal_bound_s"),
  { "comm_compute_ratio", NULL, BASE_CELL_NUMBER, 0, NULL },
  { "exposed_fraction", NULL, BASE_CELL_NUMBER, 0, NULL },
  { "bound_by", NULL, BASE_CELL_TEXT, 0, NULL },
  { "nodes", NULL, BASE_CELL_INTEGER, 0, NULL },
  { "ranks", NULL, BASE_CELL_INTEGER, 0, NULL },
  { "dp", NULL, BASE_CELL_INTEGER, 0, NULL },
  { "pp", NULL, BASE_CELL_INTEGER, 0, NULL },
  { "buckets", NULL, BASE_CELL_INTEGER, 0, NULL },
  { "stage", NULL, BASE_CELL_INTEGER, 0, NULL },
  { "provenance", NULL, BASE_CELL_TEXT, 0, NULL },
  /* from FIRST_PART on the parts, in WrkPart's order */
  SECONDS ("breakdown_compute_s"),
  SECONDS ("breakdown_exposed_tp_s"),
  SECONDS ("breakdown_exposed_dp_s"),
  SECONDS ("breakdown_exposed_pp_s"),
  SECONDS ("breakdown_exposed_cp_s"),
  SECONDS ("breakdown_exposed_ep_s"),
  SECONDS ("breakdown_bubble_s"),
  SECONDS ("breakdown_launch_gap_s"),
  SECONDS ("breakdown_copy_wait_s"),
  SECONDS ("breakdown_straggler_wait_s"),
  SECONDS ("breakdown_optimizer_s"),
  SECONDS ("breakdown_data_stall_s"),
  SECONDS ("breakdown_checkpoint_s"),
  /* of a model */
  { "tokens_per_s", NULL, BASE_CELL_NUMBER, 0, NULL },
  { "model_flops_per_s_per_gpu", NULL, BASE_CELL_NUMBER, 0, NULL },
  { "mfu", NULL, BASE_CELL_NUMBER, 0, NULL },
  REP_MEMORY_COLUMNS,
  { NULL, NULL, BASE_CELL_TEXT, 0, NULL },
};
G_STATIC_ASSERT (G_N_ELEMENTS (columns) == FIRST_PART + WRK_PART_N + 3 + REP_MEMORY_N + 1);

static const BaseColumn part_columns[] = {
  { "part", "part", BASE_CELL_TEXT, 0, NULL },
  { "time_s", "time (ms)", BASE_CELL_NUMBER, 1e3, "%.4f" },
  { "share", "share (%)", BASE_CELL_NUMBER, 100, "%.1f" },
  { NULL, NULL, BASE_CELL_TEXT, 0, NULL },
};

void
rep_training_tsv (const WrkTrainingResult *training, GString *out)
{
  g_autoptr (BaseTable) table = base_table_new (columns);
  base_table_row (table);
  base_table_number (table, "step_time_s", training->step_time_s);
  base_table_number (table, "step_time_lo_s", training->step_time_lo_s);
  base_table_number (table, "step_time_hi_s", training->step_time_hi_s);
  base_table_number (table, "communication_s", training->communication_s);
  base_table_number (table, "ideal_bound_s", training->ideal_bound_s);
  base_table_number (table, "comm_compute_ratio", training->comm_compute_ratio);
  base_table_number (table, "exposed_fraction", training->exposed_fraction);
  base_table_text (table, "bound_by", training->bound_by);
  base_table_integer (table, "nodes", training->n_nodes);
  base_table_integer (table, "ranks", training->n_ranks);
  base_table_integer (table, "dp", training->dp);
  base_table_integer (table, "pp", training->pp);
  base_table_integer (table, "buckets", training->n_buckets);
  base_table_integer (table, "stage", training->stage);
  base_table_text (table, "provenance", base_source_name (training->provenance));
  for (int p = 0; p < WRK_PART_N; p++)
    base_table_number (table, columns[FIRST_PART + p].key, training->part_s[p]);
  if (training->has_model) {
    base_table_number (table, "tokens_per_s", training->tokens_per_s);
    base_table_number (table, "model_flops_per_s_per_gpu", training->model_flop_per_s);
    base_table_number (table, "mfu", training->mfu);
  }
  rep_memory_row (training, table);
  base_table_print_tsv (table, out);
}

/* What a model adds to a step's members. */
static void
build_model (const WrkTrainingResult *training, JsonBuilder *json)
{
  rep_json_number (json, "mfu_causal", training->mfu_causal);
  rep_json_number (json, "hfu", training->hfu);
  rep_json_text (json, "model", training->model);
  rep_json_text (json, "peak_dtype", training->precision);
  rep_json_number (json, "parameters", training->parameters);
  rep_json_number (json, "active_parameters", training->active_parameters);
  rep_json_number (json, "tokens_per_step", training->tokens);
  rep_json_text (json, "schedule", training->schedule);
  rep_json_integer (json, "tp", training->tp);
  rep_json_integer (json, "cp", training->cp);
  rep_json_integer (json, "ep", training->ep);
  rep_json_integer (json, "vp", training->vp);
  rep_json_integer (json, "micro_batches", training->micro_batches);
}

static void
build_host (const WrkHostUse *host, JsonBuilder *json)
{
  json_builder_set_member_name (json, "host");
  json_builder_begin_object (json);
  rep_json_number (json, "kernels", host->kernels);
  rep_json_number (json, "syncs", host->syncs);
  rep_json_number (json, "queue_s", host->queue_s);
  rep_json_number (json, "wait_s", host->wait_s);
  json_builder_end_object (json);
}

void
rep_training_json_members (const WrkTrainingResult *training, JsonBuilder *json)
{
  rep_json_number (json, "step_time_s", training->step_time_s);
  rep_json_number (json, "step_time_lo_s", training->step_time_lo_s);
  rep_json_number (json, "step_time_hi_s", training->step_time_hi_s);
  /* These need a model with tokens and FLOP; a workload of given times has none: null. */
  const double none = (double)NAN;
  rep_json_number (json, "tokens_per_s", training->has_model ? training->tokens_per_s : none);
  rep_json_number (json, "tokens_per_s_per_gpu", training->has_model ? training->tokens_per_s / training->n_ranks : none);
  rep_json_number (json, "model_flops_per_s_per_gpu", training->has_model ? training->model_flop_per_s : none);
  rep_json_number (json, "mfu", training->has_model ? training->mfu : none);
  if (training->has_model)
    build_model (training, json);
  rep_json_number (json, "comm_compute_ratio", training->comm_compute_ratio);
  rep_json_number (json, "exposed_fraction", training->exposed_fraction);
  rep_json_number (json, "communication_s", training->communication_s);
  rep_json_number (json, "ideal_bound_s", training->ideal_bound_s);
  rep_json_text (json, "bound_by", training->bound_by);
  rep_memory_json (training, json);
  json_builder_set_member_name (json, "breakdown_s");
  json_builder_begin_object (json);
  for (int p = 0; p < WRK_PART_N; p++)
    rep_json_number (json, wrk_part_names[p], training->part_s[p]);
  json_builder_end_object (json);
  if (training->has_model) {
    json_builder_set_member_name (json, "compute_s");
    json_builder_begin_object (json);
    rep_json_number (json, "math", training->math_s);
    rep_json_number (json, "memory", training->memory_s);
    rep_json_number (json, "start", training->start_s);
    rep_json_number (json, "recompute", training->recompute_s);
    json_builder_end_object (json);
    rep_comm_json (training, json);
  }
  build_host (&training->host, json);
  rep_loader_json (&training->loader, json);
  rep_checkpoint_json (&training->checkpoint, json);
  rep_json_integer (json, "stage", training->stage);
  rep_json_integer (json, "nodes", training->n_nodes);
  rep_json_integer (json, "ranks", training->n_ranks);
  rep_json_integer (json, "dp", training->dp);
  rep_json_integer (json, "pp", training->pp);
  rep_json_integer (json, "buckets", training->n_buckets);
  rep_json_text (json, "provenance", base_source_name (training->provenance));
}

/* The parts as a bar: each takes its share of the width, a letter a part. */
static void
append_bar (const WrkTrainingResult *training, GString *out)
{
  static const char letters[WRK_PART_N + 1] = "CTDPXEbhcsOdk";
  enum { WIDTH = 72 };
  double upto_s = 0;
  guint drawn = 0;
  g_string_append (out, "# ");
  for (int p = 0; p < WRK_PART_N; p++) {
    upto_s += training->part_s[p];
    for (; drawn < WIDTH && (drawn + 0.5) / WIDTH < upto_s / training->step_time_s; drawn++)
      g_string_append_c (out, letters[p]);
  }
  g_string_append (out, "\n#");
  for (int p = 0; p < WRK_PART_N; p++)
    if (training->part_s[p] > 0)
      g_string_append_printf (out, " %c %s", letters[p], wrk_part_names[p]);
  g_string_append_c (out, '\n');
}

static void
append_model (const WrkTrainingResult *training, GString *out)
{
  g_string_append_printf (out, "model           %s, %.4g billion parameters", training->model, training->parameters * 1e-9);
  if (training->active_parameters < training->parameters)
    g_string_append_printf (out, ", of which a token uses %.4g", training->active_parameters * 1e-9);
  g_string_append_printf (out, "\nthroughput      %.4g tokens/s, %.4g of a GPU; %.4g TFLOP/s of a GPU\n", training->tokens_per_s,
                          training->tokens_per_s / training->n_ranks, training->model_flop_per_s * 1e-12);
  g_string_append_printf (out,
                          "MFU             %.1f %% of the %s peak (attention in full; causal %.1f %%, recompute too %.1f %%)\n",
                          training->mfu * 100, training->precision, training->mfu_causal * 100, training->hfu * 100);
}

static void
append_host (const WrkTrainingResult *training, GString *out)
{
  const WrkHostUse *host = &training->host;
  if (host->queue_s <= 0) /* launches do not show */
    return;
  g_autofree char *queue = rep_quantity (host->queue_s, BASE_DIM_TIME), *wait = rep_quantity (host->wait_s, BASE_DIM_TIME);
  g_string_append_printf (out, "host            launches %.0f kernels; it queues for %s", host->kernels, queue);
  if (host->syncs > 0.5)
    g_string_append_printf (out, "; waits %.0f times for the GPU, %s in all", host->syncs, wait);
  g_string_append_c (out, '\n');
}

static void
append_parallel (const WrkTrainingResult *training, GString *out)
{
  g_string_append (out, "parallel        ");
  if (training->has_model && training->tp > 1)
    g_string_append_printf (out, "tp %u, ", training->tp);
  if (training->has_model && training->cp > 1)
    g_string_append_printf (out, "cp %u, ", training->cp);
  if (training->has_model && training->ep > 1)
    g_string_append_printf (out, "ep %u, ", training->ep);
  g_string_append_printf (out, "dp %u, pp %u", training->dp, training->pp);
  if (training->has_model && training->vp > 1)
    g_string_append_printf (out, " x vp %u", training->vp);
  g_string_append_printf (out, " over %u ranks on %u node%s", training->n_ranks, training->n_nodes,
                          training->n_nodes == 1 ? "" : "s");
  if (training->has_model)
    g_string_append_printf (out, "; %u micro-batch%s a replica%s%s", training->micro_batches,
                            training->micro_batches == 1 ? "" : "es", training->pp > 1 ? ", " : "",
                            training->pp > 1 ? training->schedule : "");
  g_string_append_c (out, '\n');
}

BaseTable *
rep_parts_table (const WrkTrainingResult *training)
{
  BaseTable *table = base_table_new (part_columns);
  for (int p = 0; p < WRK_PART_N; p++) {
    if (training->part_s[p] == 0)
      continue;
    base_table_row (table);
    base_table_text (table, "part", wrk_part_names[p]);
    base_table_number (table, "time_s", training->part_s[p]);
    base_table_number (table, "share", training->part_s[p] / training->step_time_s);
  }
  return table;
}

void
rep_training_text (const WrkTrainingResult *training, GString *out)
{
  g_autofree char *band = rep_band (training->step_time_s, training->step_time_lo_s, training->step_time_hi_s),
                  *ideal = rep_quantity (training->ideal_bound_s, BASE_DIM_TIME),
                  *communication = rep_quantity (training->communication_s, BASE_DIM_TIME);
  g_string_append_printf (out, "step time       %s\n", band);
  g_string_append_printf (out, "bound by        %s; no schedule ends before %s\n", training->bound_by, ideal);
  if (training->has_model)
    append_model (training, out);
  append_parallel (training, out);
  g_string_append_printf (out, "communication   %s of stage %u, hidden or not", communication, training->stage);
  if (isfinite (training->comm_compute_ratio))
    g_string_append_printf (out, ": %.4g of its compute time", training->comm_compute_ratio);
  if (isfinite (training->exposed_fraction))
    g_string_append_printf (out, ", %.1f %% of it exposed", training->exposed_fraction * 100);
  g_string_append_c (out, '\n');
  append_host (training, out);
  g_string_append_printf (out, "provenance      %s\n", base_source_name (training->provenance));

  g_string_append_printf (out, "\n# where the step's time went, on stage %u, which ends last\n", training->stage);
  g_autoptr (BaseTable) table = rep_parts_table (training);
  base_table_print_text (table, out);
  if (training->has_model)
    append_bar (training, out);
  rep_loader_text (&training->loader, out);
  rep_checkpoint_text (&training->checkpoint, out);
  rep_memory_text (training, out);
  if (training->has_model)
    rep_comm_text (training, out);
  if (training->all_reduce.n_ranks > 1) {
    const WrkColl *coll = &training->all_reduce;
    g_autofree char *size = rep_quantity (coll->size_B, BASE_DIM_BYTES), *time = rep_quantity (coll->time_s, BASE_DIM_TIME);
    g_string_append_printf (out, "\n# largest of %u gradient bucket%s: %s in %s (%s, %s), bound by %s\n", training->n_buckets,
                            training->n_buckets == 1 ? "" : "s", size, time, base_name (mdl_algo_names, (int)coll->algo),
                            base_name (mdl_proto_names, (int)coll->proto), coll->bound_by);
  }
}
