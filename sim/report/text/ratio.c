#include "report/ratio.h"

#include <math.h>
#include <string.h>

#include "json-private.h"

#define TO_GBPS 8e-9

/* ---- tables ---- */

BASE_MEMBER_WHEN (ran, StdRatioPoint, it->why_not == NULL)

#define GIGABITS(head) BASE_SHOWN (head, TO_GBPS, "%.5g")
#define PERCENT(head)  BASE_SHOWN (head, 100, "%.1f")
#define POINT(...)     BASE_MEMBER (StdRatioPoint, __VA_ARGS__)
static const BaseMember ran_members[] = {
  POINT ("step_time_s", step_time_s, .title = "step"),
  POINT ("step_time_lo_s", step_time_lo_s),
  POINT ("step_time_hi_s", step_time_hi_s),
  POINT ("compute_s", compute_s, .title = "compute"),
  POINT ("communication_s", communication_s, .title = "communication"),
  POINT ("comm_compute_ratio", value[STD_LINE_RATIO], BASE_SHOWN ("ratio", 1, "%.4f")),
  POINT ("exposed_fraction", exposed_fraction, PERCENT ("exposed (%)"), .rank = 2),
  POINT ("waits", value[STD_LINE_WAITS], PERCENT ("waits (%)"), .rank = 2),
  POINT ("efficiency", efficiency, PERCENT ("efficiency (%)"), .rank = 2),
  POINT ("efficiency_nodes", efficiency_nodes, .positive = TRUE),
  POINT ("most", most, .title = "largest communication", .rank = 2),
  POINT ("bound_by", bound_by, .title = "bound by", .rank = 2),
  POINT ("memory_fits", fits),
  POINT ("provenance", provenance, .names = base_source_names),
  BASE_MEMBER_END,
};
static const BaseMember alone_members[] = {
  POINT ("communication_alone_s", communication_alone_s),
  POINT ("comm_compute_ratio_alone", ratio_alone, BASE_SHOWN ("ratio alone", 1, "%.4f")),
  BASE_MEMBER_END,
};
static const BaseMember point_members[] = {
  POINT ("nodes", nodes, .title = "nodes"),
  POINT ("gpus", gpus, .title = "GPUs"),
  POINT ("batch", batch, BASE_SHOWN ("batch", 1, "%.10g")),
  POINT ("adapter_Bps", rate_Bps, GIGABITS ("NIC (Gb/s)")),
  POINT ("gpu_Bps", gpu_Bps, GIGABITS ("per GPU (Gb/s)"), .rank = 1),
  { .kind = BASE_MEMBER_GROUP, .sub = ran_members, .when = ran },
  POINT ("error", why_not),
  POINT ("nic_Bps", rate_Bps),
  { .kind = BASE_MEMBER_GROUP, .sub = alone_members, .when = ran },
  BASE_MEMBER_END,
};

BaseTable *
rep_ratio_table (const StdRatio *ratio)
{
  return base_members_table (point_members, ratio->points);
}

/* The two lines as columns: titles of either, made from the limits. */
typedef struct {
  char text[STD_LINE_N][3][64];
} Titles;

static void
name_lines (const StdRatio *ratio, Titles *titles)
{
  g_snprintf (titles->text[STD_LINE_RATIO][0], 64, "ratio %g", ratio->limit[STD_LINE_RATIO]);
  g_snprintf (titles->text[STD_LINE_WAITS][0], 64, "wait %g %%", 100 * ratio->limit[STD_LINE_WAITS]);
  for (int l = 0; l < STD_LINE_N; l++) {
    g_snprintf (titles->text[l][1], 64, "%s: Gb/s per GPU", titles->text[l][0]);
    g_snprintf (titles->text[l][2], 64, "simulated");
  }
}

/* "12.3", or why there is no number. Returned: full. */
static char *
speed_text (StdSolved how, double Bps, double least, StdLine line)
{
  if (how == STD_SOLVED)
    return g_strdup_printf ("%.4g", Bps * TO_GBPS);
  if (how == STD_SOLVED_ANY)
    return g_strdup ("any");
  return line == STD_LINE_RATIO ? g_strdup_printf ("none (%.3g)", least) : g_strdup_printf ("none (%.3g %%)", 100 * least);
}

static void
text_of_speeds (const StdRatio *ratio, const Titles *titles, GString *out)
{
  const BaseColumn columns[] = {
    { "nodes", "nodes", BASE_CELL_INTEGER, 0, NULL, 0 },
    { "gpus", "GPUs", BASE_CELL_INTEGER, 0, NULL, 0 },
    { "batch", "batch", BASE_CELL_NUMBER, 0, "%.10g", 0 },
    { "compute", "compute (s)", BASE_CELL_NUMBER, 0, "%.5g", 0 },
    { "gpu0", titles->text[0][1], BASE_CELL_TEXT, 0, NULL, 0 },
    { "engine0", titles->text[0][2], BASE_CELL_NUMBER, TO_GBPS, "%.4g", 0 },
    { "gpu1", titles->text[1][1], BASE_CELL_TEXT, 0, NULL, 0 },
    { "engine1", titles->text[1][2], BASE_CELL_NUMBER, TO_GBPS, "%.4g", 0 },
    { NULL, NULL, BASE_CELL_TEXT, 0, NULL, 0 },
  };
  g_autoptr (BaseTable) table = base_table_new (columns);
  for (guint i = 0; i < ratio->speeds->len; i++) {
    const StdRatioSpeed *speed = &g_array_index (ratio->speeds, StdRatioSpeed, i);
    base_table_row (table);
    base_table_integer (table, "nodes", speed->nodes);
    base_table_integer (table, "gpus", speed->gpus);
    base_table_number (table, "batch", speed->batch);
    base_table_number (table, "compute", speed->compute_s);
    for (int l = 0; l < STD_LINE_N; l++) {
      static const char *const keys[STD_LINE_N][2] = { { "gpu0", "engine0" }, { "gpu1", "engine1" } };
      g_autofree char *text = speed_text (speed->line[l].how, speed->line[l].gpu_Bps, speed->line[l].least, (StdLine)l);
      base_table_text (table, keys[l][0], text);
      base_table_number (table, keys[l][1], speed->line[l].engine_gpu_Bps);
    }
  }
  g_string_append (
      out, "\n# Slowest network that meets a threshold: ratio of communication to compute, or per cent of the step that waits. "
           "any: 1 Gb/s per NIC is enough. none: the value that an infinitely fast network leaves.\n");
  base_table_print_text (table, out);
}

static void
text_of_nodes (const StdRatio *ratio, const Titles *titles, GString *out)
{
  const BaseColumn columns[] = {
    { "rate", "NIC (Gb/s)", BASE_CELL_NUMBER, TO_GBPS, "%.5g", 0 },
    { "batch", "batch", BASE_CELL_NUMBER, 0, "%.10g", 0 },
    { "line0", titles->text[0][0], BASE_CELL_TEXT, 0, NULL, 0 },
    { "line1", titles->text[1][0], BASE_CELL_TEXT, 0, NULL, 0 },
    { NULL, NULL, BASE_CELL_TEXT, 0, NULL, 0 },
  };
  g_autoptr (BaseTable) table = base_table_new (columns);
  gboolean last = FALSE;
  for (guint i = 0; i < ratio->nodes->len; i++) {
    const StdRatioNodes *most = &g_array_index (ratio->nodes, StdRatioNodes, i);
    base_table_row (table);
    base_table_number (table, "rate", most->rate_Bps);
    base_table_number (table, "batch", most->batch);
    for (int l = 0; l < STD_LINE_N; l++) {
      const gboolean found = most->line[l].how == STD_SOLVED;
      g_autofree char *text =
          found ? g_strdup_printf ("%u node%s, %u GPUs%s", most->line[l].nodes, most->line[l].nodes == 1 ? "" : "s",
                                   most->line[l].gpus, most->line[l].last ? " *" : "")
                : g_strdup ("none");
      base_table_text (table, l == 0 ? "line0" : "line1", text);
      last = last || most->line[l].last;
    }
  }
  g_string_append (out, "\n# Most nodes for a batch on a network, by threshold.\n");
  base_table_print_text (table, out);
  if (last)
    g_string_append (out, "# *: the batch does not divide among more nodes\n");
}

static char *
batch_text (const StdRatioBatch *least, StdLine line)
{
  if (least->line[line].how == STD_SOLVED)
    return g_strdup_printf ("%.10g", least->line[line].batch);
  if (isnan (least->line[line].least))
    return g_strdup ("none");
  return line == STD_LINE_RATIO ? g_strdup_printf ("none (%.3g)", least->line[line].least)
                                : g_strdup_printf ("none (%.3g %%)", 100 * least->line[line].least);
}

static void
text_of_batches (const StdRatio *ratio, const Titles *titles, GString *out)
{
  const BaseColumn columns[] = {
    { "nodes", "nodes", BASE_CELL_INTEGER, 0, NULL, 0 },
    { "gpus", "GPUs", BASE_CELL_INTEGER, 0, NULL, 0 },
    { "rate", "NIC (Gb/s)", BASE_CELL_NUMBER, TO_GBPS, "%.5g", 0 },
    { "line0", titles->text[0][0], BASE_CELL_TEXT, 0, NULL, 0 },
    { "line1", titles->text[1][0], BASE_CELL_TEXT, 0, NULL, 0 },
    { NULL, NULL, BASE_CELL_TEXT, 0, NULL, 0 },
  };
  g_autoptr (BaseTable) table = base_table_new (columns);
  for (guint i = 0; i < ratio->batches->len; i++) {
    const StdRatioBatch *least = &g_array_index (ratio->batches, StdRatioBatch, i);
    g_autofree char *first = batch_text (least, STD_LINE_RATIO), *second = batch_text (least, STD_LINE_WAITS);
    base_table_row (table);
    base_table_integer (table, "nodes", least->nodes);
    base_table_integer (table, "gpus", least->gpus);
    base_table_number (table, "rate", least->rate_Bps);
    base_table_text (table, "line0", first);
    base_table_text (table, "line1", second);
  }
  g_string_append_printf (
      out,
      "\n# Smallest batch for a number of nodes on a network, by threshold. none: the value with %u micro-batches per replica.\n",
      ratio->most_passes);
  base_table_print_text (table, out);
}

/* ---- why ---- */

/* What moves each kind of communication against compute, and what does not. */
static const struct {
  const char *kind, *why;
} reasons[] = {
  { "dp", "a GPU sends its gradients once a step, about twice their bytes however many GPUs there are: a larger batch computes\n"
          "#     longer for the same bytes, and more nodes share a batch, so that each computes shorter for them" },
  { "dp",
    "parameters or gradients that are sharded are gathered and reduced in every micro-batch: more of them leave its share as\n"
    "#     it is, larger ones (micro_batch) make it smaller, and so do shards over fewer ranks (hsdp)" },
  { "tp",
    "with every layer of every micro-batch, like the compute that it serves: batch and nodes leave its share as it is, and it\n"
    "#     meets the network only where tp is wider than an NVLink domain" },
  { "cp",
    "keys and values with every layer of every micro-batch: longer sequences on as many ranks compute more for the same bytes" },
  { "ep",
    "tokens go to their experts and back with every layer of every micro-batch: batch and nodes leave its share as it is, and\n"
    "#     it meets the network where ep is wider than an NVLink domain" },
  { "pp", "a boundary's activations with every micro-batch: its share stays with the batch, and grows with the stages" },
};

static void
append_why (const StdRatio *ratio, GString *out)
{
  g_string_append (
      out,
      "\n# Why: with a slower network, more nodes or a smaller batch than these, communication is the bottleneck. Otherwise it "
      "is compute, and a faster network gains little. Most of the communication is for\n");
  for (guint k = 0; k < G_N_ELEMENTS (reasons); k++) {
    guint n = 0, of = 0;
    if (k == (ratio->scale.each_pass ? 0 : 1)) /* the other of the two ways of data parallelism */
      continue;
    for (guint i = 0; i < ratio->points->len; i++) {
      const StdRatioPoint *point = &g_array_index (ratio->points, StdRatioPoint, i);
      of += point->why_not == NULL ? 1 : 0;
      n += point->why_not == NULL && g_strcmp0 (point->most, reasons[k].kind) == 0 ? 1 : 0;
    }
    if (n > 0)
      g_string_append_printf (out, "# %s  at %u of %u points: %s\n", reasons[k].kind, n, of, reasons[k].why);
  }
}

/* How far the engine's speeds are from the closed form's, relative; NAN: it was not asked. */
static double
worst_engine (const StdRatio *ratio, guint *n)
{
  double worst = (double)NAN;
  *n = 0;
  for (guint i = 0; i < ratio->speeds->len; i++)
    for (int l = 0; l < STD_LINE_N; l++) {
      const StdRatioSpeed *speed = &g_array_index (ratio->speeds, StdRatioSpeed, i);
      if (speed->line[l].how != STD_SOLVED || isnan (speed->line[l].engine_Bps))
        continue;
      const double off = fabs (speed->line[l].engine_Bps / speed->line[l].rate_Bps - 1);
      worst = isnan (worst) ? off : fmax (worst, off);
      ++*n;
    }
  return worst;
}

/* The slowest network that meets each threshold, on the most nodes asked for. */
static void
append_said (const StdRatio *ratio, GString *out)
{
  if (ratio->speeds->len == 0)
    return;
  const StdRatioSpeed *speed = &g_array_index (ratio->speeds, StdRatioSpeed, ratio->speeds->len - 1);
  for (int l = 0; l < STD_LINE_N; l++) {
    g_autofree char *goal = l == STD_LINE_RATIO
                                ? g_strdup_printf ("communication to take at most %g x the time of compute", ratio->limit[l])
                                : g_strdup_printf ("the step to wait at most %g %% of its time", 100 * ratio->limit[l]);
    g_autofree char *needs = speed->line[l].how == STD_SOLVED
                                 ? g_strdup_printf ("%.4g Gb/s per GPU are enough", speed->line[l].gpu_Bps * TO_GBPS)
                             : speed->line[l].how == STD_SOLVED_ANY ? g_strdup ("any network is fast enough")
                                                                    : g_strdup ("no network is fast enough");
    g_string_append_printf (out, "On %u GPUs, batch %.10g: %s for %s.\n", speed->gpus, speed->batch, needs, goal);
  }
  g_string_append_c (out, '\n');
}

void
rep_ratio_text (const StdRatio *ratio, GString *out)
{
  const TrnScale *scale = &ratio->scale;
  Titles titles;
  name_lines (ratio, &titles);
  append_said (ratio, out);
  rep_text (rep_ratio_table (ratio), out);
  if (ratio->speeds->len > 0)
    text_of_speeds (ratio, &titles, out);
  guint n;
  const double worst = worst_engine (ratio, &n);
  if (!isnan (worst))
    g_string_append_printf (
        out, "# simulated: %u speed%s, at most %.2g %% from the estimate; contention between kinds of communication adds to that\n",
        n, n == 1 ? "" : "s", fmax (100 * worst, 0.01));
  text_of_nodes (ratio, &titles, out);
  if (ratio->batches->len > 0)
    text_of_batches (ratio, &titles, out);
  append_why (ratio, out);
  g_string_append_printf (
      out, "# batch: %s; %u NIC%s for %u GPU%s of a node; switches have the NICs' rate\n",
      scale->has_model ? "sequences of a step, all replicas together" : "micro-batches of a step, all replicas together",
      scale->adapters, scale->adapters == 1 ? "" : "s", scale->gpus_per_node, scale->gpus_per_node == 1 ? "" : "s");
  g_string_append (out, "# ratio: communication / compute, which slow each other; ratio alone: communication that no compute "
                        "slows; exposed: fraction of communication; waits: fraction of the step; efficiency: "
                        "throughput of a GPU over that on the fewest nodes\n");
}

/* ---- JSON ---- */

static const BaseName solved_names[] = {
  { "solved", STD_SOLVED, NULL }, { "any", STD_SOLVED_ANY, NULL }, { "none", STD_SOLVED_NONE, NULL }, { NULL, 0, NULL }
};

BASE_MEMBER_WHEN (speed_solved, StdSpeedLine, it->how == STD_SOLVED)
BASE_MEMBER_WHEN (nodes_solved, StdNodesLine, it->how == STD_SOLVED)
BASE_MEMBER_WHEN (batch_solved, StdBatchLine, it->how == STD_SOLVED)
BASE_MEMBER_WHEN (batch_open, StdBatchLine, it->how != STD_SOLVED)

#define SPEED_LINE(...) BASE_MEMBER (StdSpeedLine, __VA_ARGS__)
#define NODES_LINE(...) BASE_MEMBER (StdNodesLine, __VA_ARGS__)
#define BATCH_LINE(...) BASE_MEMBER (StdBatchLine, __VA_ARGS__)
static const BaseMember speed_line_members[] = {
  SPEED_LINE ("how", how, .names = solved_names),
  SPEED_LINE ("adapter_Bps", rate_Bps, .when = speed_solved),
  SPEED_LINE ("gpu_Bps", gpu_Bps, .when = speed_solved),
  SPEED_LINE ("endless_network", least),
  SPEED_LINE ("engine_gpu_Bps", engine_gpu_Bps, .when = speed_solved),
  BASE_MEMBER_END,
};
static const BaseMember nodes_line_members[] = {
  NODES_LINE ("how", how, .names = solved_names),
  NODES_LINE ("nodes", nodes, .when = nodes_solved),
  NODES_LINE ("gpus", gpus, .when = nodes_solved),
  NODES_LINE ("more_do_not_divide", last),
  BASE_MEMBER_END,
};
static const BaseMember batch_line_members[] = {
  BATCH_LINE ("how", how, .names = solved_names),
  BATCH_LINE ("batch", batch, .when = batch_solved),
  BATCH_LINE ("largest_batch", least, .when = batch_open),
  BASE_MEMBER_END,
};
/* Both lines of T. */
#define LINES(T, members) \
  BASE_MEMBER (T, "ratio", line[STD_LINE_RATIO], .sub = (members)), BASE_MEMBER (T, "waits", line[STD_LINE_WAITS], .sub = (members))
static const BaseMember speed_members[] = {
  BASE_MEMBER (StdRatioSpeed, "nodes", nodes), BASE_MEMBER (StdRatioSpeed, "gpus", gpus),
  BASE_MEMBER (StdRatioSpeed, "batch", batch), BASE_MEMBER (StdRatioSpeed, "compute_s", compute_s),
  LINES (StdRatioSpeed, speed_line_members),   BASE_MEMBER_END,
};
static const BaseMember nodes_members[] = {
  BASE_MEMBER (StdRatioNodes, "batch", batch),
  BASE_MEMBER (StdRatioNodes, "adapter_Bps", rate_Bps),
  LINES (StdRatioNodes, nodes_line_members),
  BASE_MEMBER_END,
};
static const BaseMember batch_members[] = {
  BASE_MEMBER (StdRatioBatch, "nodes", nodes),
  BASE_MEMBER (StdRatioBatch, "gpus", gpus),
  BASE_MEMBER (StdRatioBatch, "adapter_Bps", rate_Bps),
  LINES (StdRatioBatch, batch_line_members),
  BASE_MEMBER_END,
};

static void
build_list (JsonBuilder *json, const char *key, const BaseMember *members, const GArray *items)
{
  json_builder_set_member_name (json, key);
  base_members_list (members, items, json);
}

void
rep_ratio_json (const StdRatio *ratio, JsonBuilder *json)
{
  const TrnScale *scale = &ratio->scale;
  guint n;
  rep_json_text (json, "batch_counts", scale->has_model ? "sequences" : "micro-batches");
  rep_json_integer (json, "adapters_a_node", scale->adapters);
  rep_json_integer (json, "nics_per_node", scale->adapters);
  rep_json_integer (json, "gpus_a_node", scale->gpus_per_node);
  rep_json_integer (json, "gpus_per_node", scale->gpus_per_node);
  rep_json_number (json, "limit_ratio", ratio->limit[STD_LINE_RATIO]);
  rep_json_number (json, "limit_waits", ratio->limit[STD_LINE_WAITS]);
  rep_json_number (json, "engine_off", worst_engine (ratio, &n));
  build_list (json, "points", point_members, ratio->points);
  build_list (json, "slowest_network", speed_members, ratio->speeds);
  build_list (json, "most_nodes", nodes_members, ratio->nodes);
  build_list (json, "max_nodes", nodes_members, ratio->nodes);
  build_list (json, "smallest_batch", batch_members, ratio->batches);
}
