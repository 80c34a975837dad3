/* The document that nccl-tests writes for -J, so that what reads a measured one reads a predicted one.
 * Layout: NVIDIA/nccl-tests at 0fdb00a3f433, src/util.cu (jsonOutputInit, writeDeviceReport, writeBenchmarkLinePreamble,
 * writeBenchmarkLineBody, writeResultFooter), with version 3's per_iter_skip. As there: times in us, GB is 1e9 B, `root` is the
 * text of the table, truth values are the texts "true" and "false". What nobody measured (times of day, NCCL's version, wrong
 * elements) is null. */
#include "json-private.h"
#include "nccl_tests-private.h"
#include "report/coll.h"

#define LAYOUT_VERSION 3

static void
add_devices (JsonBuilder *json, const RepNcclTests *head)
{
  json_builder_set_member_name (json, "devices");
  json_builder_begin_array (json);
  for (guint32 rank = 0; rank < head->n_ranks; rank++) {
    CluDev dev = clu_gpu (head->clu, head->gpus[rank]);
    g_autofree char *host = g_strdup_printf ("node%u", clu_dev_node (head->clu, dev));
    json_builder_begin_object (json);
    rep_json_integer (json, "rank", rank);
    rep_json_integer (json, "group", 0);
    rep_json_integer (json, "pid", 0);
    rep_json_text (json, "hostname", host);
    rep_json_integer (json, "device", clu_dev_index (head->clu, dev));
    rep_json_text (json, "device_hex", "0000:00:00");
    rep_json_text (json, "device_info", rep_nccl_tests_gpu (head->clu, dev));
    json_builder_end_object (json);
  }
  json_builder_end_array (json);
}

static void
add_config (JsonBuilder *json, const RepNcclTests *head)
{
  gboolean threads = head->launch != MDL_LAUNCH_SERIAL;
  json_builder_set_member_name (json, "config");
  json_builder_begin_object (json);
  rep_json_integer (json, "nthreads", threads ? head->gpus_per_node : 1);
  rep_json_integer (json, "ngpus", threads ? 1 : head->gpus_per_node);
  rep_json_integer (json, "minimum_bytes", (gint64)head->min_B);
  rep_json_integer (json, "maximum_bytes", (gint64)head->max_B);
  rep_json_integer (json, head->step_is_factor ? "step_factor" : "step_bytes", (gint64)head->step);
  rep_json_integer (json, "warmup_iters", 0);
  rep_json_integer (json, "iterations", 1);
  rep_json_integer (json, "aggregated_iterations", 1);
  rep_json_integer (json, "validation", 0);
  rep_json_integer (json, "graph", mdl_launch_replays (head->launch) ? 1 : 0);
  rep_json_text (json, "blocking_collectives", "false");
  rep_json_text (json, "per_iter_timing", "false");
  rep_json_integer (json, "per_iter_skip", 0);
  rep_json_text (json, "parallel_init", "false");
  add_devices (json, head);
  json_builder_end_object (json);
}

JsonBuilder *
rep_nccl_tests_json_open (const RepNcclTests *head, const char *const *command)
{
  JsonBuilder *json = json_builder_new ();
  json_builder_begin_object (json);
  rep_json_integer (json, "version", LAYOUT_VERSION);
  rep_json_null (json, "start_time");
  json_builder_set_member_name (json, "args");
  json_builder_begin_array (json);
  for (const char *const *word = command; *word != NULL; word++) {
    g_autofree char *valid = g_utf8_make_valid (*word, -1);
    json_builder_add_string_value (json, valid);
  }
  json_builder_end_array (json);
  json_builder_set_member_name (json, "env");
  json_builder_begin_array (json);
  json_builder_end_array (json);
  rep_json_null (json, "nccl_version");
  json_builder_set_member_name (json, "forerun");
  json_builder_begin_object (json);
  rep_json_text (json, "version", head->version);
  rep_json_text (json, "what", "predicted, not measured; in-place taken as out-of-place");
  json_builder_end_object (json);
  add_config (json, head);
  json_builder_set_member_name (json, "results");
  json_builder_begin_array (json);
  return json;
}

void
rep_nccl_tests_json_row (JsonBuilder *json, const ColAnswer *coll, guint32 root)
{
  static const char *const places[] = { "out_of_place", "in_place" };
  g_autofree char *root_text = rep_nccl_tests_root (coll->op, root);
  json_builder_begin_object (json);
  rep_json_integer (json, "size", (gint64)coll->size_B);
  rep_json_integer (json, "count", (gint64)rep_nccl_tests_count (coll));
  rep_json_text (json, "type", rep_nccl_tests_type (coll->dtype));
  rep_json_text (json, "redop", rep_nccl_tests_redop (coll->op));
  rep_json_text (json, "root", root_text);
  for (size_t i = 0; i < G_N_ELEMENTS (places); i++) {
    json_builder_set_member_name (json, places[i]);
    json_builder_begin_object (json);
    rep_json_number (json, "time", coll->time_s * 1e6);
    rep_json_number (json, "alg_bw", coll->algbw_Bps * 1e-9);
    rep_json_number (json, "bus_bw", coll->busbw_Bps * 1e-9);
    rep_json_null (json, "nwrong");
    json_builder_end_object (json);
  }
  rep_json_integer (json, "actual_iterations", 1);
  rep_json_text (json, "experiment_name", "predicted");
  json_builder_end_object (json);
}

char *
rep_nccl_tests_json_close (JsonBuilder *json, double busbw_Bps)
{
  json_builder_end_array (json);
  json_builder_set_member_name (json, "out_of_bounds");
  json_builder_begin_object (json);
  rep_json_integer (json, "count", 0);
  rep_json_text (json, "okay", "true");
  json_builder_end_object (json);
  json_builder_set_member_name (json, "average_bus_bandwidth");
  json_builder_begin_object (json);
  rep_json_number (json, "bandwidth", busbw_Bps * 1e-9);
  rep_json_text (json, "okay", "unchecked");
  json_builder_end_object (json);
  rep_json_null (json, "end_time");
  json_builder_end_object (json);
  char *text = base_json_print (json);
  g_object_unref (json);
  return text;
}
