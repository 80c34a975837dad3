/* Results of scenarios, traces and the JSON envelope. */
#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

#include "base/table.h"
#include "base/yaml.h"
#include "harness.h"
#include "report/envelope.h"
#include "report/run.h"

static JsonNode *
parse (const char *text)
{
  g_autoptr (JsonParser) parser = json_parser_new ();
  g_autoptr (GError) error = NULL;
  gboolean good = json_parser_load_from_data (parser, text, -1, &error);
  TEST_TRUE (good);
  if (!good)
    g_printerr ("%s\n%s\n", error->message, text);
  return good ? json_node_copy (json_parser_get_root (parser)) : NULL;
}

/* 10 ms step: 6 ms of compute, 3 ms that wait for gradients, 1 ms of optimizer; 4.5 ms of communication, so 4.5 / 6 = 0.75. */
static ScnResult
training (void)
{
  ScnResult result = { .kind = SCN_KIND_TRAINING, .run.n_events = 42 };
  TrnResult *t = &result.training;
  t->step_time_s = 0.010;
  t->step_time_lo_s = 0.009;
  t->step_time_hi_s = 0.011;
  t->part_s[TRN_PART_COMPUTE] = 0.006;
  t->part_s[TRN_PART_EXPOSED_DP] = 0.003;
  t->part_s[TRN_PART_OPTIMIZER] = 0.001;
  t->communication_s = 0.0045;
  t->ideal_bound_s = 0.0075;
  t->comm_compute_ratio = 0.75;
  t->exposed_fraction = 0.003 / 0.0045;
  t->dp = 8;
  t->pp = 1;
  t->n_ranks = 8;
  t->n_nodes = 1;
  t->n_buckets = 4;
  g_strlcpy (t->bound_by, "compute", sizeof t->bound_by);
  t->provenance = BASE_SOURCE_ASSUMED;
  return result;
}

static JsonObject *
results_of (JsonNode *node)
{
  return json_node_get_object (node);
}

static void
training_json_has_the_contracts_keys_and_nulls (void)
{
  ScnResult result = training ();
  g_autoptr (JsonBuilder) json = json_builder_new ();
  rep_run_json (&result, json);
  g_autofree char *text = base_json_print (json);
  g_autoptr (JsonNode) node = parse (text);
  JsonObject *object = results_of (node);
  const char *const missing[] = { "tokens_per_s", "tokens_per_s_per_gpu", "model_flops_per_s_per_gpu", "mfu", "memory_B" };
  for (size_t i = 0; i < G_N_ELEMENTS (missing); i++) {
    TEST_TRUE (json_object_has_member (object, missing[i]));
    TEST_TRUE (json_object_get_null_member (object, missing[i]));
  }
  TEST_NEAR (json_object_get_double_member (object, "step_time_s"), 0.010, 1e-15);
  TEST_NEAR (json_object_get_double_member (object, "comm_compute_ratio"), 0.75, 1e-15);
  TEST_STR (json_object_get_string_member (object, "bound_by"), "compute");
  TEST_INT (json_array_get_length (json_object_get_array_member (object, "links")), 0);
}

static void
breakdown_sums_to_the_step (void)
{
  ScnResult result = training ();
  g_autoptr (JsonBuilder) json = json_builder_new ();
  rep_run_json (&result, json);
  g_autofree char *text = base_json_print (json);
  g_autoptr (JsonNode) node = parse (text);
  JsonObject *breakdown = json_object_get_object_member (results_of (node), "breakdown_s");
  TEST_INT (json_object_get_size (breakdown), TRN_PART_N);
  double sum_s = 0;
  for (int p = 0; p < TRN_PART_N; p++)
    sum_s += json_object_get_double_member (breakdown, trn_part_names[p]);
  TEST_NEAR (sum_s, 0.010, 1e-15);
}

static void
training_tsv_is_one_row_under_one_header (void)
{
  ScnResult result = training ();
  g_autoptr (GString) out = g_string_new (NULL);
  g_autoptr (BaseTable) row = rep_run_table (&result);
  base_table_print_tsv (row, out);
  g_auto (GStrv) lines = g_strsplit (out->str, "\n", 0);
  TEST_INT (g_strv_length (lines), 3); /* header, row, nothing after the last newline */
  g_auto (GStrv) heads = g_strsplit (lines[0], "\t", 0), cells = g_strsplit (lines[1], "\t", 0);
  TEST_INT (g_strv_length (heads), g_strv_length (cells));
  for (guint i = 0; heads[i] != NULL; i++)
    if (strcmp (heads[i], "breakdown_exposed_dp_s") == 0)
      TEST_STR (cells[i], "0.0030000000000000001");
  TEST_HAS (lines[0], "breakdown_checkpoint_s");
}

static void
training_text_leaves_out_parts_that_took_no_time (void)
{
  ScnResult result = training ();
  g_autoptr (GString) out = g_string_new (NULL);
  rep_run_text (&result, out);
  TEST_HAS (out->str, "exposed data-parallel communication");
  TEST_HAS (out->str, "30.0"); /* 3 of 10 ms */
  TEST_TRUE (strstr (out->str, "data_stall") == NULL);
  TEST_TRUE (strstr (out->str, " nan") == NULL);
}

static void
transfer_is_reported_with_its_path (void)
{
  ScnResult result = { .kind = SCN_KIND_TRANSFER };
  char from[] = "gpu0", to[] = "node1.gpu3", bottleneck[] = "node0.nic0 -> leaf0";
  result.transfer = (StoTransferResult){ .from = from,
                                         .to = to,
                                         .bytes = 1e9,
                                         .count = 1,
                                         .time_s = 0.02,
                                         .time_lo_s = 0.018,
                                         .time_hi_s = 0.022,
                                         .rate_Bps = 50e9,
                                         .wire_rate_Bps = 50e9,
                                         .transport = "net_gdr",
                                         .path_class = "NET",
                                         .path = "net",
                                         .bottleneck = bottleneck,
                                         .bound_by = "ib_ndr" };
  g_autoptr (GString) text = g_string_new (NULL), tsv = g_string_new (NULL);
  rep_run_text (&result, text);
  TEST_HAS (text->str, "gpu0 -> node1.gpu3");
  TEST_HAS (text->str, "20 ms");
  TEST_HAS (text->str, "50 GB/s");
  g_autoptr (BaseTable) row = rep_run_table (&result);
  base_table_print_tsv (row, tsv);
  TEST_HAS (tsv->str, "\tnode0.nic0 -> leaf0\tib_ndr\t");
}

static void
trace_is_json_with_lanes_as_threads (void)
{
  char lane0[] = "stage 0 compute", lane1[] = "stage 0 \"net\"\\\t", name[] = "forward";
  ColSpan a = { lane0, name, 0, 1e-6, 0 }, b = { lane1, name, 1e-6, 3.5e-6, 0 }, c = { lane0, name, 2e-6, 3e-6, 0 };
  g_autoptr (GPtrArray) spans = g_ptr_array_new ();
  g_ptr_array_add (spans, &a);
  g_ptr_array_add (spans, &b);
  g_ptr_array_add (spans, &c);
  g_autoptr (GString) out = g_string_new (NULL);
  rep_trace_json (spans, &(RepTraceInfo){ .scenario = "s" }, out);
  g_autoptr (JsonNode) node = parse (out->str);
  JsonArray *events = json_object_get_array_member (results_of (node), "traceEvents");
  /* the process' name, two lanes of name and order, three spans */
  TEST_INT (json_array_get_length (events), 1 + 2 * 2 + 3);
  JsonObject *last = json_array_get_object_element (events, 7);
  TEST_INT (json_object_get_int_member (last, "tid"), 1);
  TEST_NEAR (json_object_get_double_member (last, "ts"), 2, 1e-12);
  TEST_NEAR (json_object_get_double_member (last, "dur"), 0.999, 1e-12); /* a nanosecond short: the next may begin there */
  JsonObject *second = json_array_get_object_element (events, 4);
  TEST_STR (json_object_get_string_member (json_object_get_object_member (second, "args"), "name"), lane1);
}

static void
trace_of_nothing_is_still_json (void)
{
  g_autoptr (GString) out = g_string_new (NULL);
  rep_trace_json (NULL, &(RepTraceInfo){ .scenario = "s" }, out);
  g_autoptr (JsonNode) node = parse (out->str);
  TEST_INT (json_array_get_length (json_object_get_array_member (results_of (node), "traceEvents")), 1);
}

static void
envelope_holds_command_inputs_results_and_warnings (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) yamls = g_ptr_array_new_with_free_func ((GDestroyNotify)base_yaml_free);
  /* SHA-256 of "abc": FIPS 180-4's example; the same file twice counts once. */
  for (int i = 0; i < 2; i++)
    g_ptr_array_add (yamls, base_yaml_load_data ("/shipped/root/topologies/x.yaml", "abc", 3, &error));
  g_ptr_array_add (yamls, base_yaml_load_data ("mine.yaml", "abc", 3, &error));
  g_autoptr (GPtrArray) inputs = rep_inputs_new ();
  rep_inputs_add_yamls (inputs, yamls, "/shipped/root/");
  rep_inputs_add (inputs, "/shipped/root/topologies/x.yaml", "/shipped/root/", "abc", 3); /* the same again */
  g_autoptr (GPtrArray) warnings = g_ptr_array_new ();
  g_ptr_array_add (warnings, (gpointer) "assumed \xff bytes");
  const char *const command[] = { "forerun", "coll", "all_reduce", NULL };
  RepEnvelope envelope = { "1.2.3", command, 7, inputs, warnings };
  JsonBuilder *json = rep_envelope_open (&envelope);
  json_builder_add_int_value (json, 5);
  g_autofree char *text = rep_envelope_close (json, &envelope);
  g_autoptr (JsonNode) node = parse (text);
  JsonObject *object = results_of (node);
  TEST_STR (json_object_get_string_member (object, "schema"), "forerun/1");
  TEST_STR (json_object_get_string_member (object, "version"), "1.2.3");
  TEST_INT (json_object_get_int_member (object, "seed"), 7);
  TEST_INT (json_object_get_int_member (object, "results"), 5);
  TEST_INT (json_array_get_length (json_object_get_array_member (object, "command")), 3);
  TEST_INT (json_array_get_length (json_object_get_array_member (object, "warnings")), 1);
  JsonArray *list = json_object_get_array_member (object, "inputs");
  TEST_INT (json_array_get_length (list), 2);
  JsonObject *first = json_array_get_object_element (list, 0);
  TEST_STR (json_object_get_string_member (first, "path"), "topologies/x.yaml");
  TEST_STR (json_object_get_string_member (first, "sha256"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

static void
root_is_only_taken_off_whole_folders (void)
{
  g_autoptr (GPtrArray) yamls = g_ptr_array_new_with_free_func ((GDestroyNotify)base_yaml_free);
  g_ptr_array_add (yamls, base_yaml_load_data ("/shipped/rootless/x.yaml", "a", 1, NULL));
  g_autoptr (GPtrArray) inputs = rep_inputs_new ();
  rep_inputs_add_yamls (inputs, yamls, "/shipped/root");
  TEST_STR (((RepInput *)g_ptr_array_index (inputs, 0))->path, "/shipped/rootless/x.yaml");
}

int
main (void)
{
  static const TestCase cases[] = {
    { "training json has the contract's keys, null where nothing is known", training_json_has_the_contracts_keys_and_nulls },
    { "breakdown sums to the step", breakdown_sums_to_the_step },
    { "training tsv is one row under one header", training_tsv_is_one_row_under_one_header },
    { "training text leaves out parts that took no time", training_text_leaves_out_parts_that_took_no_time },
    { "transfer is reported with its path", transfer_is_reported_with_its_path },
    { "trace is json with lanes as threads", trace_is_json_with_lanes_as_threads },
    { "trace of nothing is still json", trace_of_nothing_is_still_json },
    { "envelope holds command, inputs, results and warnings", envelope_holds_command_inputs_results_and_warnings },
    { "root is only taken off whole folders", root_is_only_taken_off_whole_folders },
    { NULL, NULL },
  };
  return test_main ("report: runs, traces, envelope", cases);
}
