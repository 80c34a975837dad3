/* Topologies, paths and explanations on a machine that a person can add up: two nodes of two GPUs, ideal links. */
#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

#include "base/table.h"
#include "base/yaml.h"
#include "harness.h"
#include "report/envelope.h"
#include "report/explain.h"
#include "report/topo.h"

/* GPUs on a switch by 100 GB/s and 1 us, one NIC a node of 10 GB/s and 2 us behind its own PCIe link of 20 GB/s; efficiency 0.5 on
 * the switch's links. */
static const char machine[] =
    "topology: toy\n"
    "description: two nodes of two\n"
    "nodes: 2\n"
    "node:\n"
    "  gpus:\n"
    "    count: 2\n"
    "    type:\n"
    "      gpu: toy_gpu\n"
    "      vendor: nvidia\n"
    "      memory: 1 GB\n"
    "      memory_bandwidth: 1 TB/s\n"
    "      scale_up: {class: {link_class: toy_up, family: nvlink, lane_rate: 100 GB/s, lanes: 1, efficiency: 0.5, latency: 1 us}}\n"
    "      pcie: {class: {link_class: toy_pcie, family: pcie, lane_rate: 20 GB/s, lanes: 1, efficiency: 1, latency: 1 us}}\n"
    "  nvlink: {kind: switch, switches: 1}\n"
    "  pcie: {switch_per: 2, under_switch: [nics], link: {class: {link_class: toy_pcie, family: pcie, lane_rate: 20 GB/s, lanes: "
    "1,\n"
    "         efficiency: 1, latency: 1 us}}}\n"
    "  nics:\n"
    "    count: 1\n"
    "    type:\n"
    "      nic: toy_nic\n"
    "      port: {class: {link_class: toy_net, family: infiniband, lane_rate: 10 GB/s, lanes: 1, efficiency: 1, latency: 2 us}}\n"
    "      pcie: {class: {link_class: toy_pcie, family: pcie, lane_rate: 20 GB/s, lanes: 1, efficiency: 1, latency: 1 us}}\n"
    "fabric: {kind: single_switch, leaf: {radix: 4, latency: 0}}\n";

typedef struct {
  BaseLookup *lookup;
  BaseDiag *diag;
  GPtrArray *inputs;
  Clu *clu;
} Machine;

static void
machine_clear (Machine *m)
{
  g_clear_pointer (&m->clu, clu_free);
  g_clear_pointer (&m->inputs, g_ptr_array_unref);
  g_clear_pointer (&m->diag, base_diag_free);
  g_clear_pointer (&m->lookup, base_lookup_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Machine, machine_clear)

static gboolean
machine_make (Machine *m)
{
  g_autoptr (GError) error = NULL;
  m->lookup = base_lookup_new (TEST_SOURCE_DIR);
  m->diag = base_diag_new ();
  m->inputs = g_ptr_array_new_with_free_func ((GDestroyNotify)base_yaml_free);
  BaseYaml *yaml = base_yaml_load_data ("toy.yaml", machine, strlen (machine), &error);
  TEST_TRUE (yaml != NULL);
  CluLoadOptions options = { .seed = 1, .inputs = m->inputs };
  m->clu = yaml != NULL ? clu_load_yaml (yaml, m->lookup, NULL, &options, m->diag, &error) : NULL;
  TEST_TRUE (m->clu != NULL);
  if (error != NULL)
    TEST_STR (error->message, "");
  return m->clu != NULL;
}

static JsonNode *
parse (JsonBuilder *json)
{
  g_autofree char *text = base_json_print (json);
  g_autoptr (JsonParser) parser = json_parser_new ();
  TEST_TRUE (json_parser_load_from_data (parser, text, -1, NULL));
  return json_node_copy (json_parser_get_root (parser));
}

static void
links_of_one_class_are_one_row (void)
{
  g_auto (Machine) m = { 0 };
  if (!machine_make (&m))
    return;
  g_autoptr (JsonBuilder) json = json_builder_new ();
  rep_topo_json (m.clu, json);
  g_autoptr (JsonNode) node = parse (json);
  JsonObject *object = json_node_get_object (node);
  TEST_INT (json_object_get_int_member (object, "nodes"), 2);
  TEST_INT (json_object_get_int_member (object, "gpus"), 4);
  TEST_INT (json_object_get_int_member (json_object_get_object_member (object, "devices"), "gpu"), 4);
  TEST_INT (json_object_get_int_member (json_object_get_object_member (object, "devices"), "nic"), 2);
  JsonArray *links = json_object_get_array_member (object, "links");
  guint found = 0;
  for (guint i = 0; i < json_array_get_length (links); i++) {
    JsonObject *link = json_array_get_object_element (links, i);
    if (strcmp (json_object_get_string_member (link, "link_class"), "toy_up") != 0)
      continue;
    found++;
    TEST_INT (json_object_get_int_member (link, "count"), 4); /* a GPU each */
    TEST_NEAR (json_object_get_double_member (link, "specified_Bps"), 100e9, 1e-12);
    TEST_NEAR (json_object_get_double_member (link, "reached_Bps"), 50e9, 1e-12);
  }
  TEST_INT (found, 1);
}

static void
topology_text_names_devices_and_bisection (void)
{
  g_auto (Machine) m = { 0 };
  if (!machine_make (&m))
    return;
  g_autoptr (GString) text = g_string_new (NULL);
  rep_header_cluster (text, m.clu);
  rep_topo_text (m.clu, "", text);
  TEST_HAS (text->str, "# topology toy: 2 nodes, 4 GPUs (toy_gpu); ");
  TEST_HAS (text->str, "two nodes of two\n");
  TEST_HAS (text->str, "devices: 4 gpu, 2 nvswitch");
  /* 2 GPUs against 2: one NIC of 10 GB/s each way. */
  TEST_HAS (text->str, "bisection 10 GB/s one way");
  TEST_HAS (text->str, "toy_net");
}

static void
sources_count_each_class_once (void)
{
  g_auto (Machine) m = { 0 };
  if (!machine_make (&m))
    return;
  unsigned n[BASE_SOURCE_N];
  rep_count_sources (m.clu, n);
  TEST_INT (n[BASE_SOURCE_MEASURED], 0);
  unsigned written = n[BASE_SOURCE_DATASHEET] + n[BASE_SOURCE_ASSUMED];
  TEST_TRUE (written >= 3 * 3); /* rate, efficiency and latency of the three classes written above */
  TEST_TRUE (written < 40);     /* and not once a link */
}

static gboolean
route (const Clu *clu, const char *from, const char *to, CluDev *a, CluDev *b, CluRoute *out)
{
  CluRouteOptions options = CLU_ROUTE_DEFAULT;
  g_autoptr (GError) error = NULL;
  clu_route_init (out);
  *a = clu_find (clu, from, &error);
  *b = clu_find (clu, to, &error);
  gboolean found = *a != CLU_NONE && *b != CLU_NONE && clu_route_find (clu, *a, *b, &options, out, &error);
  TEST_TRUE (found);
  return found;
}

static void
path_marks_its_slowest_hop (void)
{
  g_auto (Machine) m = { 0 };
  if (!machine_make (&m))
    return;
  CluDev a, b;
  g_auto (CluRoute) path;
  if (!route (m.clu, "gpu0", "node1.gpu0", &a, &b, &path))
    return;
  g_autoptr (GString) text = g_string_new (NULL), tsv = g_string_new (NULL);
  rep_path_text (m.clu, a, b, &path, "", text);
  TEST_HAS (text->str, "node0.gpu0 -> node1.gpu0: ");
  TEST_HAS (text->str, "Alone it carries 10 GB/s");
  TEST_HAS (text->str, "(toy_net)");
  g_autoptr (BaseTable) hops = rep_path_table (m.clu, &path);
  base_table_print_tsv (hops, tsv);
  g_auto (GStrv) lines = g_strsplit (tsv->str, "\n", 0);
  guint marked = 0;
  for (guint i = 1; lines[i] != NULL; i++)
    if (strstr (lines[i], "<- bottleneck") != NULL) {
      marked++;
      TEST_HAS (lines[i], "toy_net");
    }
  TEST_INT (marked, 1);
}

static void
path_to_itself_crosses_nothing (void)
{
  g_auto (Machine) m = { 0 };
  if (!machine_make (&m))
    return;
  CluDev a, b;
  g_auto (CluRoute) path;
  if (!route (m.clu, "gpu1", "gpu1", &a, &b, &path))
    return;
  g_autoptr (GString) text = g_string_new (NULL);
  rep_path_text (m.clu, a, b, &path, "", text);
  TEST_STR (text->str, "node0.gpu1 -> node0.gpu1: the same device, no link is crossed.\n\n");
  g_autoptr (JsonBuilder) json = json_builder_new ();
  rep_path_json (m.clu, a, b, &path, json);
  g_autoptr (JsonNode) node = parse (json);
  TEST_TRUE (json_object_get_null_member (json_node_get_object (node), "rate_Bps"));
  TEST_TRUE (json_object_get_null_member (json_node_get_object (node), "bottleneck"));
}

static void
dot_has_a_box_a_node_and_balanced_braces (void)
{
  g_auto (Machine) m = { 0 };
  if (!machine_make (&m))
    return;
  g_autoptr (GString) dot = g_string_new (NULL);
  rep_topo_dot (m.clu, TRUE, dot);
  TEST_HAS (dot->str, "graph \"toy\" {");
  TEST_HAS (dot->str, "subgraph cluster_node1 {");
  int depth = 0;
  guint edges = 0;
  for (const char *c = dot->str; *c != '\0'; c++) {
    depth += *c == '{' ? 1 : *c == '}' ? -1 : 0;
    edges += strncmp (c, " -- ", 4) == 0 ? 1 : 0;
    TEST_TRUE (depth >= 0);
  }
  TEST_INT (depth, 0);
  /* and a dotted one from each socket to its memory */
  TEST_INT (edges, clu_n_links (m.clu) + clu_node_n (m.clu, 0, CLU_DEV_MEMORY) * clu_n_nodes (m.clu));
}

/* ---- explanations ---- */

/* 1 GB over the link gpu0 -> switch at 50 GB/s: 20 ms, and 1 us of latency. */
static ColAnswer
sample (const Clu *clu)
{
  CluLink link = { 0 };
  for (CluLinkId id = 0; id < clu_n_links (clu); id++) {
    clu_link (clu, id, &link);
    if (strcmp (clu_resource_class (clu, link.forward), "toy_up") == 0)
      break;
  }
  ColAnswer coll = { .op = MDL_OP_ALL_REDUCE,
                     .algo = MDL_ALGO_RING,
                     .proto = MDL_PROTO_SIMPLE,
                     .dtype = MDL_DTYPE_FP32,
                     .size_B = 1e9,
                     .n_ranks = 2,
                     .n_nodes = 1,
                     .time_s = 0.020001,
                     .time_lo_s = 0.019,
                     .time_hi_s = 0.021,
                     .bottleneck = link.forward,
                     .bound_by = "toy_up",
                     .provenance = BASE_SOURCE_DATASHEET };
  coll.question.link_rate_Bps = 50e9;
  coll.cost = (MdlCollCost){ .time_s = 0.020001, .latency_s = 1e-6, .bound_Bps = HUGE_VAL, .wire = 1, .n_steps = 2, .n_terms = 2 };
  coll.cost.term[0] =
      (MdlTerm){ .name = "latency", .value_s = 1e-6, .how = "1 step x 1 us", .source = BASE_SOURCE_MEASURED, .note = "n" };
  coll.cost.term[1] = (MdlTerm){ .name = "links", .value_s = 0.02, .how = "1 GB / 50 GB/s", .source = BASE_SOURCE_DATASHEET };
  coll.alike = g_array_new (FALSE, FALSE, sizeof (ColLoad));
  ColLoad there = { link.forward, 1, 1, 1 }, back = { link.backward, 0.5, 1, 1 };
  g_array_append_val (coll.alike, there);
  g_array_append_val (coll.alike, back);
  return coll;
}

static void
explanation_sums_its_terms_and_its_loads (void)
{
  g_auto (Machine) m = { 0 };
  if (!machine_make (&m))
    return;
  g_auto (ColAnswer) coll = sample (m.clu);
  g_autoptr (GArray) alternatives = rep_alternatives_new ();
  RepAlternative same = { MDL_ALGO_RING, MDL_PROTO_SIMPLE, NULL, 0.020001, 0.015 },
                 slow = { MDL_ALGO_TREE, MDL_PROTO_SIMPLE, NULL, 0.040002, 0.012 },
                 never = { MDL_ALGO_NVLS, MDL_PROTO_SIMPLE, g_strdup ("no sharp"), (double)NAN, (double)INFINITY };
  g_array_append_val (alternatives, same);
  g_array_append_val (alternatives, slow);
  g_array_append_val (alternatives, never);
  RepTunerEstimate nccl = {
    .n_terms = 2, .time_s = 0.015, .plugin = "aws_p5", .plugin_algo = MDL_ALGO_TREE, .plugin_proto = MDL_PROTO_LL
  };
  nccl.term[0] = (MdlTerm){ .name = "base latency", .value_s = 0.005, .source = BASE_SOURCE_DATASHEET, .note = "tuning.cc" };
  nccl.term[1] = (MdlTerm){ .name = "size", .value_s = 0.010, .source = BASE_SOURCE_N };
  RepExplain explain = { m.clu, &coll, alternatives, &nccl };
  g_autoptr (JsonBuilder) json = json_builder_new ();
  rep_explain_json (&explain, json);
  g_autoptr (JsonNode) node = parse (json);
  JsonObject *object = json_node_get_object (node);
  JsonArray *terms = json_object_get_array_member (object, "terms");
  double sum_s = 0;
  for (guint i = 0; i < json_array_get_length (terms); i++)
    sum_s += json_object_get_double_member (json_array_get_object_element (terms, i), "value_s");
  TEST_NEAR (sum_s, json_object_get_double_member (object, "model_time_s"), 1e-12);
  TEST_TRUE (json_object_get_null_member (object, "bound_Bps"));
  JsonArray *loads = json_object_get_array_member (object, "loads");
  TEST_INT (json_array_get_length (loads), 1);
  JsonObject *load = json_array_get_object_element (loads, 0);
  TEST_NEAR (json_object_get_double_member (load, "bytes"), 1.5e9, 1e-12); /* there 1, back 0.5 */
  TEST_NEAR (json_object_get_double_member (load, "busiest_bytes"), 1e9, 1e-12);
  TEST_NEAR (json_object_get_double_member (load, "capacity_Bps"), 50e9, 1e-12);
  TEST_NEAR (json_object_get_double_member (load, "busy_s"), 0.02, 1e-12);

  g_autoptr (GString) text = g_string_new (NULL);
  rep_explain_text (&explain, text);
  TEST_HAS (text->str, "= 1 us + 1 GB / min (none, 50 GB/s / 1) = 20 ms");
  TEST_HAS (text->str, "explained here");
  TEST_HAS (text->str, "40                    12"); /* of the tree; nothing of what is not offered */
  TEST_HAS (text->str, "NCCL's own estimate for ring, simple");
  TEST_HAS (text->str, "The tuner of the network plugin aws_p5 decides instead of NCCL: tree, ll.");
  JsonObject *estimated = json_object_get_object_member (object, "nccl");
  TEST_NEAR (json_object_get_double_member (estimated, "time_s"), 0.015, 1e-12);
  TEST_INT (json_array_get_length (json_object_get_array_member (estimated, "terms")), 2);
  TEST_STR (json_object_get_string_member (estimated, "plugin_algo"), "tree");
  TEST_HAS (text->str, "2.00 times slower");
  TEST_HAS (text->str, "cannot run: no sharp");
  TEST_HAS (text->str, "bottleneck  ");
}

int
main (void)
{
  static const TestCase cases[] = {
    { "links of one class are one row", links_of_one_class_are_one_row },
    { "topology text names devices and bisection", topology_text_names_devices_and_bisection },
    { "sources count each class once", sources_count_each_class_once },
    { "path marks its slowest hop", path_marks_its_slowest_hop },
    { "path to itself crosses nothing", path_to_itself_crosses_nothing },
    { "dot has a box a node and balanced braces", dot_has_a_box_a_node_and_balanced_braces },
    { "explanation sums its terms and its loads", explanation_sums_its_terms_and_its_loads },
    { NULL, NULL },
  };
  return test_main ("report: topology and explanations", cases);
}
