/* What a training step comes to. */
#include <math.h>

#include "json-private.h"
#include "run-private.h"

BASE_MEMBER_WHEN (has_model, TrnResult, it->has_model)
BASE_MEMBER_WHEN (has_stages, TrnResult, it->stages != NULL && it->stages->len > 1)
BASE_MEMBER_WHEN (has_memory, TrnResult, it->memory != NULL)
BASE_MEMBER_WHEN (has_loader, TrnResult, it->loader.set)
BASE_MEMBER_WHEN (has_checkpoint, TrnResult, it->checkpoint.set)
BASE_MEMBER_WHEN (has_local, TrnResult, it->local.set)
BASE_MEMBER_WHEN (has_tokens, TrnResult, it->has_model && !it->is_net)
BASE_MEMBER_WHEN (is_net, TrnResult, it->is_net)
BASE_MEMBER_NUMBER_OF (samples_per_gpu, TrnResult, it->samples_per_s / it->n_ranks)
BASE_MEMBER_NUMBER_OF (tokens_per_gpu, TrnResult, it->tokens_per_s / it->n_ranks)

static void
write_communication (const void *of, JsonBuilder *json)
{
  g_autoptr (BaseTable) table = rep_comm_table (of);
  base_table_build_json (table, json);
}

#define HOST(...) BASE_MEMBER (TrnHostUse, __VA_ARGS__)
static const BaseMember host_members[] = {
  HOST ("kernels", kernels), HOST ("syncs", syncs), HOST ("queue_s", queue_s), HOST ("wait_s", wait_s), BASE_MEMBER_END,
};

BASE_MEMBER_TEXT_OF (efficiency_from, TrnEfficiency, it->framework == NULL ? "scenario" : it->runs > 0 ? "fitted" : "assumed")
#define EFFICIENCY(...) BASE_MEMBER (TrnEfficiency, __VA_ARGS__)
static const BaseMember efficiency_members[] = {
  EFFICIENCY ("name", framework),
  EFFICIENCY ("year", year, .positive = TRUE),
  EFFICIENCY ("capability", capability, .positive = TRUE),
  EFFICIENCY ("format", format),
  { .key = "from", .text = efficiency_from },
  EFFICIENCY ("runs", runs),
  EFFICIENCY ("efficiency", value),
  EFFICIENCY ("attention", attention),
  EFFICIENCY ("error", error),
  EFFICIENCY ("differs", differs),
  EFFICIENCY ("overhead_s", overhead_s),
  BASE_MEMBER_END,
};

#define MEMBER(...) BASE_MEMBER (TrnResult, __VA_ARGS__)
static const BaseMember model_members[] = {
  MEMBER ("mfu_causal", mfu_causal),
  MEMBER ("hfu", hfu),
  MEMBER ("model", model),
  MEMBER ("peak_dtype", precision),
  MEMBER ("parameters", parameters),
  MEMBER ("active_parameters", active_parameters),
  MEMBER ("tokens_per_step", tokens, .when = has_tokens),
  MEMBER ("schedule", schedule),
  MEMBER ("tp", tp),
  MEMBER ("cp", cp),
  MEMBER ("ep", ep),
  MEMBER ("vp", vp),
  MEMBER ("micro_batches", micro_batches),
  BASE_MEMBER_END,
};
static const BaseMember sample_members[] = {
  MEMBER ("samples_per_s", samples_per_s),
  { .key = "samples_per_s_per_gpu", .number = samples_per_gpu },
  MEMBER ("samples_per_step", samples),
  BASE_MEMBER_END,
};
static const BaseMember compute_members[] = {
  MEMBER ("math", math_s), MEMBER ("memory", memory_s), MEMBER ("start", start_s), MEMBER ("recompute", recompute_s),
  BASE_MEMBER_END,
};

/* What needs a model with tokens and FLOP is null for given times. */
const BaseMember rep_training_members[] = {
  MEMBER ("step_time_s", step_time_s),
  MEMBER ("step_time_lo_s", step_time_lo_s),
  MEMBER ("step_time_hi_s", step_time_hi_s),
  MEMBER ("tokens_per_s", tokens_per_s, .when = has_tokens),
  { .key = "tokens_per_s_per_gpu", .number = tokens_per_gpu, .when = has_tokens },
  { .kind = BASE_MEMBER_GROUP, .sub = sample_members, .when = is_net, .optional = TRUE },
  MEMBER ("model_flops_per_s_per_gpu", model_flop_per_s, .when = has_model),
  MEMBER ("mfu", mfu, .when = has_model),
  { .kind = BASE_MEMBER_GROUP, .sub = model_members, .when = has_model, .optional = TRUE },
  MEMBER ("comm_compute_ratio", comm_compute_ratio),
  MEMBER ("comm_compute_ratio_alone", comm_compute_ratio_alone, .optional = TRUE),
  MEMBER ("exposed_fraction", exposed_fraction),
  MEMBER ("communication_s", communication_s),
  MEMBER ("communication_alone_s", communication_alone_s, .optional = TRUE),
  MEMBER ("ideal_bound_s", ideal_bound_s),
  MEMBER ("bound_by", bound_by),
  { .key = "memory_B", .kind = BASE_MEMBER_GROUP, .sub = rep_memory_members, .when = has_memory },
  BASE_MEMBER_PARTS_OF (TrnResult, "breakdown_s", part_s, trn_part_names, TRN_PART_N),
  { .key = "compute_s", .kind = BASE_MEMBER_GROUP, .sub = compute_members, .when = has_model, .optional = TRUE },
  { .key = "framework",
    .kind = BASE_MEMBER_GROUP,
    .offset = offsetof (TrnResult, efficiency),
    .sub = efficiency_members,
    .when = has_model,
    .optional = TRUE },
  { .key = "communication", .kind = BASE_MEMBER_WRITTEN, .write = write_communication, .when = has_model, .optional = TRUE },
  MEMBER ("host", host, .sub = host_members),
  MEMBER ("loader", loader, .sub = rep_loader_members, .when = has_loader, .optional = TRUE),
  MEMBER ("checkpoint", checkpoint, .sub = rep_checkpoint_members, .when = has_checkpoint, .optional = TRUE),
  MEMBER ("local_steps", local, .sub = rep_local_members, .when = has_local, .optional = TRUE),
  MEMBER ("stage", stage),
  MEMBER ("stages", stages, .sub = rep_stage_members, .when = has_stages, .optional = TRUE),
  MEMBER ("nodes", n_nodes),
  MEMBER ("ranks", n_ranks),
  MEMBER ("dp", dp),
  MEMBER ("pp", pp),
  MEMBER ("buckets", n_buckets),
  MEMBER ("provenance", provenance, .names = base_source_names),
  BASE_MEMBER_END,
};

const char *const rep_training_columns[] = { "step_time_s",
                                             "step_time_lo_s",
                                             "step_time_hi_s",
                                             "communication_s",
                                             "ideal_bound_s",
                                             "comm_compute_ratio",
                                             "exposed_fraction",
                                             "bound_by",
                                             "nodes",
                                             "ranks",
                                             "dp",
                                             "pp",
                                             "buckets",
                                             "stage",
                                             "provenance",
                                             "breakdown_s.*",
                                             "tokens_per_s",
                                             "model_flops_per_s_per_gpu",
                                             "mfu",
                                             "memory_B.total",
                                             "memory_B.weights",
                                             "memory_B.gradients",
                                             "memory_B.optimizer",
                                             "memory_B.activations",
                                             "memory_B.buffers",
                                             "memory_B.other",
                                             "memory_B.capacity",
                                             "memory_B.fits",
                                             "samples_per_s",
                                             NULL };

/* ---- text ---- */

static const BaseColumn part_columns[] = {
  { "part", "part", BASE_CELL_TEXT, 0, NULL, 0 },
  { "time_s", "time", BASE_CELL_NUMBER, 0, NULL, 0 },
  { "share", "share (%)", BASE_CELL_NUMBER, 100, "%.1f", 0 },
  { NULL, NULL, BASE_CELL_TEXT, 0, NULL, 0 },
};

/* The parts as a bar: each takes its share of the width, a letter a part. */
static void
append_bar (const TrnResult *training, GString *out)
{
  static const char letters[TRN_PART_N + 1] = "CTDPXEbhcsOdkm";
  enum { WIDTH = 72 };
  double upto_s = 0;
  guint drawn = 0;
  g_string_append (out, "# ");
  for (int p = 0; p < TRN_PART_N; p++) {
    upto_s += training->part_s[p];
    for (; drawn < WIDTH && (drawn + 0.5) / WIDTH < upto_s / training->step_time_s; drawn++)
      g_string_append_c (out, letters[p]);
  }
  g_string_append (out, "\n#");
  for (int p = 0; p < TRN_PART_N; p++)
    if (training->part_s[p] > 0)
      g_string_append_printf (out, " %c %s", letters[p], trn_part_titles[p]);
  g_string_append_c (out, '\n');
}

static void
say (const TrnResult *training, GString *out, const char *text)
{
  rep_say (out, rep_training_members, training, text);
}

static void
append_model (const TrnResult *training, GString *out)
{
  say (training, out,
       training->is_net ? "model           {model}, {parameters*1e-6:%.4g} million parameters"
                        : "model           {model}, {parameters*1e-9:%.4g} billion parameters");
  if (training->active_parameters < training->parameters)
    say (training, out, ", {active_parameters*1e-9:%.4g} billion active per token");
  if (training->is_net) {
    say (training, out,
         "\nthroughput      {samples_per_s:,} samples/s; {samples_per_s_per_gpu:,} samples/s and "
         "{model_flops_per_s_per_gpu*1e-12:%.4g} TFLOP/s per GPU\n"
         "MFU             {mfu*100:%.1f} % of the {peak_dtype} peak; HFU {hfu*100:%.1f} %\n");
    return;
  }
  say (training, out,
       "\nthroughput      {tokens_per_s:,} tokens/s; {tokens_per_s_per_gpu:,} tokens/s and "
       "{model_flops_per_s_per_gpu*1e-12:%.4g} TFLOP/s per GPU\n"
       "MFU             {mfu*100:%.1f} % of the {peak_dtype} peak; {mfu_causal*100:%.1f} % with causal attention; "
       "HFU {hfu*100:%.1f} %\n");
}

static void
append_host (const TrnResult *training, GString *out)
{
  if (training->host.queue_s <= 0) /* launches do not show */
    return;
  say (training, out, "host            launches {host.kernels:%.0f} kernels in {host.queue_s}");
  if (training->host.syncs > 0.5)
    say (training, out, "; waits {host.syncs:%.0f} times for the GPU, {host.wait_s} in all");
  g_string_append_c (out, '\n');
}

static void
append_parallel (const TrnResult *training, GString *out)
{
  g_string_append (out, "parallel        ");
  if (training->has_model && training->tp > 1)
    say (training, out, "tp {tp}, ");
  if (training->has_model && training->cp > 1)
    say (training, out, "cp {cp}, ");
  if (training->has_model && training->ep > 1)
    say (training, out, "ep {ep}, ");
  say (training, out, "dp {dp}, pp {pp}");
  if (training->has_model && training->vp > 1)
    say (training, out, " x vp {vp}");
  say (training, out, " on {ranks#GPU}, {nodes#node}");
  if (training->has_model)
    say (training, out,
         training->pp > 1 ? "; {micro_batches#micro-batch} per replica, {schedule}" : "; {micro_batches#micro-batch} per replica");
  g_string_append_c (out, '\n');
}

BaseTable *
rep_parts_table (const TrnResult *training)
{
  BaseTable *table = base_table_new (part_columns);
  for (int p = 0; p < TRN_PART_N; p++) {
    if (training->part_s[p] == 0)
      continue;
    base_table_row (table);
    base_table_text (table, "part", trn_part_titles[p]);
    base_table_number (table, "time_s", training->part_s[p]);
    base_table_number (table, "share", training->part_s[p] / training->step_time_s);
  }
  return table;
}

/* Communication as it would be without the compute that runs concurrently, where that slows it by a per cent or more. */
static void
append_alone (const TrnResult *training, GString *out)
{
  if (!(training->communication_alone_s > 0) || training->communication_s < 1.01 * training->communication_alone_s)
    return;
  say (training, out, "  alone         {communication_alone_s}");
  if (isfinite (training->comm_compute_ratio_alone))
    say (training, out, ", {comm_compute_ratio_alone*100:%.1f} % of compute time; concurrent compute slows it");
  g_string_append_c (out, '\n');
}

void
rep_training_text (const void *of, GString *out)
{
  const TrnResult *training = of;
  g_autofree char *band = rep_band (training->step_time_s, training->step_time_lo_s, training->step_time_hi_s);
  g_string_append_printf (out, "step time       %s\n", band);
  say (training, out, "limited by      {bound_by}; lower bound of any schedule {ideal_bound_s}\n");
  if (training->has_model)
    append_model (training, out);
  append_parallel (training, out);
  rep_stages_text (training, out);
  say (training, out, "communication   {communication_s} on stage {stage}");
  if (isfinite (training->comm_compute_ratio))
    say (training, out, ", {comm_compute_ratio*100:%.1f} % of its compute time");
  if (isfinite (training->exposed_fraction))
    say (training, out, "; {exposed_fraction*100:%.1f} % of it is exposed");
  g_string_append_c (out, '\n');
  append_alone (training, out);
  append_host (training, out);
  say (training, out, "provenance      {provenance}\n\n# time of the step on stage {stage}, the last to finish\n");
  rep_text (rep_parts_table (training), out);
  if (training->has_model)
    append_bar (training, out);
  rep_loader_text (&training->loader, out);
  rep_checkpoint_text (&training->checkpoint, out);
  rep_local_text (&training->local, out);
  rep_memory_text (training, out);
  if (training->has_model)
    rep_comm_text (training, out);
  if (training->all_reduce.n_ranks > 1) {
    say (training, out, "\n# largest of {buckets#gradient bucket}: ");
    rep_say (out, rep_coll_members, &training->all_reduce, "{bytes} in {time_s} ({algo}, {proto}), limited by {bound_by}\n");
  }
}
