#include "report/ratio.h"

#include <math.h>
#include <string.h>

#include "json-private.h"

static const char *const solved_names[] = { "solved", "any", "none" };

#define TO_GBPS 8e-9

/* ---- tables ---- */

BASE_MEMBER_WHEN (ran, StdRatioPoint, it->why_not == NULL)

#define GIGABITS(head) BASE_SHOWN (head, TO_GBPS, "%.5g")
#define SECONDS(head)  BASE_SHOWN (head, 1, "%.5g")
#define PERCENT(head)  BASE_SHOWN (head, 100, "%.1f")
#define POINT(...)     BASE_MEMBER (StdRatioPoint, __VA_ARGS__)
static const BaseMember ran_members[] = {
  POINT ("step_time_s", step_time_s, SECONDS ("step (s)")),
  POINT ("step_time_lo_s", step_time_lo_s),
  POINT ("step_time_hi_s", step_time_hi_s),
  POINT ("compute_s", compute_s, SECONDS ("compute (s)")),
  POINT ("communication_s", communication_s, SECONDS ("communication (s)")),
  POINT ("comm_compute_ratio", value[STD_LINE_RATIO], BASE_SHOWN ("ratio", 1, "%.4f")),
  POINT ("exposed_fraction", exposed_fraction, PERCENT ("exposed (%)")),
  POINT ("waits", value[STD_LINE_WAITS], PERCENT ("waits (%)")),
  POINT ("efficiency", efficiency, PERCENT ("efficiency (%)")),
  POINT ("efficiency_nodes", efficiency_nodes, .positive = TRUE),
  POINT ("most", most, .title = "most of it"),
  POINT ("bound_by", bound_by, .title = "bound by"),
  POINT ("memory_fits", fits),
  POINT ("provenance", provenance, .names = base_source_names),
  BASE_MEMBER_END,
};
static const BaseMember point_members[] = {
  POINT ("nodes", nodes, .title = "nodes"),
  POINT ("gpus", gpus, .title = "GPUs"),
  POINT ("batch", batch, BASE_SHOWN ("batch", 1, "%.10g")),
  POINT ("adapter_Bps", rate_Bps, GIGABITS ("adapter (Gb/s)")),
  BASE_MEMBER_BY_HAND (BASE_MEMBER_NUMBER, "gpu_Bps", GIGABITS ("a GPU (Gb/s)")),
  { .kind = BASE_MEMBER_GROUP, .sub = ran_members, .when = ran },
  POINT ("error", why_not),
  BASE_MEMBER_END,
};

BaseTable *
rep_ratio_table (const StdRatio *ratio)
{
  BaseTable *table = base_members_table (point_members, NULL);
  for (guint i = 0; i < ratio->points->len; i++) {
    const StdRatioPoint *point = &g_array_index (ratio->points, StdRatioPoint, i);
    base_members_add (table, point_members, point);
    base_table_number (table, "gpu_Bps", std_ratio_gpu_Bps (ratio, point->rate_Bps));
  }
  return table;
}

/* The two lines as columns: titles of either, made from the limits. */
typedef struct {
  char text[STD_LINE_N][3][64];
} Titles;

static void
name_lines (const StdRatio *ratio, Titles *titles)
{
  g_snprintf (titles->text[STD_LINE_RATIO][0], 64, "ratio %g", ratio->limit[STD_LINE_RATIO]);
  g_snprintf (titles->text[STD_LINE_WAITS][0], 64, "waits %g %%", 100 * ratio->limit[STD_LINE_WAITS]);
  for (int l = 0; l < STD_LINE_N; l++) {
    g_snprintf (titles->text[l][1], 64, "%s: a GPU (Gb/s)", titles->text[l][0]);
    g_snprintf (titles->text[l][2], 64, "by the engine");
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
  return line == STD_LINE_RATIO ? g_strdup_printf ("none (%.3g left)", least)
                                : g_strdup_printf ("none (%.3g %% left)", 100 * least);
}

static void
text_of_speeds (const StdRatio *ratio, const Titles *titles, GString *out)
{
  const BaseColumn columns[] = {
    { "nodes", "nodes", BASE_CELL_INTEGER, 0, NULL, 0 },
    { "gpus", "GPUs", BASE_CELL_INTEGER, 0, NULL, 0 },
    { "batch", "batch", BASE_CELL_NUMBER, 0, "%.10g", 0 },
    { "compute", "compute then (s)", BASE_CELL_NUMBER, 0, "%.5g", 0 },
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
      g_autofree char *text =
          speed_text (speed->line[l].how, std_ratio_gpu_Bps (ratio, speed->line[l].rate_Bps), speed->line[l].least, (StdLine)l);
      base_table_text (table, keys[l][0], text);
      base_table_number (table, keys[l][1], std_ratio_gpu_Bps (ratio, speed->line[l].engine_Bps));
    }
  }
  g_string_append (
      out, "\n# the slowest network that keeps to a line: communication / compute, share of the step that waits; 'any': all\n"
           "# from 1 Gb/s an adapter on; 'none': what is left on an endless one\n");
  base_table_print_text (table, out);
}

static void
text_of_nodes (const StdRatio *ratio, const Titles *titles, GString *out)
{
  const BaseColumn columns[] = {
    { "rate", "adapter (Gb/s)", BASE_CELL_NUMBER, TO_GBPS, "%.5g", 0 },
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
  g_string_append (out, "\n# the most nodes with a batch on a network\n");
  base_table_print_text (table, out);
  if (last)
    g_string_append (out, "# *: the batch divides among no more\n");
}

static char *
batch_text (const StdRatioBatch *least, StdLine line)
{
  if (least->line[line].how == STD_SOLVED)
    return g_strdup_printf ("%.10g", least->line[line].batch);
  if (isnan (least->line[line].least))
    return g_strdup ("none");
  return line == STD_LINE_RATIO ? g_strdup_printf ("none (%.3g left)", least->line[line].least)
                                : g_strdup_printf ("none (%.3g %% left)", 100 * least->line[line].least);
}

static void
text_of_batches (const StdRatio *ratio, const Titles *titles, GString *out)
{
  const BaseColumn columns[] = {
    { "nodes", "nodes", BASE_CELL_INTEGER, 0, NULL, 0 },
    { "gpus", "GPUs", BASE_CELL_INTEGER, 0, NULL, 0 },
    { "rate", "adapter (Gb/s)", BASE_CELL_NUMBER, TO_GBPS, "%.5g", 0 },
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
      out, "\n# the smallest batch of so many nodes on a network; 'none': what is left with %u micro-batches a replica\n",
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
      "\n# why: below the speed that a line asks for, and above the nodes or below the batch, communication is the bottleneck;\n"
      "# on the other side compute is, and a faster network gains little. Most of the communication is for\n");
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

void
rep_ratio_text (const StdRatio *ratio, GString *out)
{
  const TrnScale *scale = &ratio->scale;
  Titles titles;
  name_lines (ratio, &titles);
  g_string_append_printf (
      out, "# batch: %s; %u adapter%s for %u GPU%s of a node, whose switches follow them\n",
      scale->has_model ? "sequences of a step, all replicas together" : "micro-batches of a step, all replicas together",
      scale->adapters, scale->adapters == 1 ? "" : "s", scale->gpus_per_node, scale->gpus_per_node == 1 ? "" : "s");
  g_string_append (
      out,
      "# ratio: communication / compute; exposed: of the communication, waits: of the step; efficiency: of a GPU, against the\n"
      "# fewest nodes on which the batch runs\n");
  rep_text (rep_ratio_table (ratio), out);
  if (ratio->speeds->len > 0)
    text_of_speeds (ratio, &titles, out);
  guint n;
  const double worst = worst_engine (ratio, &n);
  if (!isnan (worst))
    g_string_append_printf (
        out, "# the engine's %u speed%s: at most %.2g %% off; more where one kind of communication is in another's way\n", n,
        n == 1 ? "" : "s", fmax (100 * worst, 0.01));
  text_of_nodes (ratio, &titles, out);
  if (ratio->batches->len > 0)
    text_of_batches (ratio, &titles, out);
  append_why (ratio, out);
}

/* ---- JSON ---- */

static const char *const line_keys[STD_LINE_N] = { "ratio", "waits" };

static void
open_line (JsonBuilder *json, int line, StdSolved how)
{
  json_builder_set_member_name (json, line_keys[line]);
  json_builder_begin_object (json);
  rep_json_text (json, "how", solved_names[how]);
}

static void
build_speeds (const StdRatio *ratio, JsonBuilder *json)
{
  json_builder_set_member_name (json, "slowest_network");
  json_builder_begin_array (json);
  for (guint i = 0; i < ratio->speeds->len; i++) {
    const StdRatioSpeed *speed = &g_array_index (ratio->speeds, StdRatioSpeed, i);
    json_builder_begin_object (json);
    rep_json_integer (json, "nodes", speed->nodes);
    rep_json_integer (json, "gpus", speed->gpus);
    rep_json_number (json, "batch", speed->batch);
    rep_json_number (json, "compute_s", speed->compute_s);
    for (int l = 0; l < STD_LINE_N; l++) {
      const gboolean solved = speed->line[l].how == STD_SOLVED;
      const double rate_Bps = solved ? speed->line[l].rate_Bps : (double)NAN;
      open_line (json, l, speed->line[l].how);
      rep_json_number (json, "adapter_Bps", rate_Bps);
      rep_json_number (json, "gpu_Bps", std_ratio_gpu_Bps (ratio, rate_Bps));
      rep_json_number (json, "endless_network", speed->line[l].least);
      rep_json_number (json, "engine_gpu_Bps", std_ratio_gpu_Bps (ratio, solved ? speed->line[l].engine_Bps : (double)NAN));
      json_builder_end_object (json);
    }
    json_builder_end_object (json);
  }
  json_builder_end_array (json);
}

static void
build_nodes (const StdRatio *ratio, JsonBuilder *json)
{
  json_builder_set_member_name (json, "most_nodes");
  json_builder_begin_array (json);
  for (guint i = 0; i < ratio->nodes->len; i++) {
    const StdRatioNodes *most = &g_array_index (ratio->nodes, StdRatioNodes, i);
    json_builder_begin_object (json);
    rep_json_number (json, "batch", most->batch);
    rep_json_number (json, "adapter_Bps", most->rate_Bps);
    for (int l = 0; l < STD_LINE_N; l++) {
      const gboolean solved = most->line[l].how == STD_SOLVED;
      open_line (json, l, most->line[l].how);
      rep_json_number (json, "nodes", solved ? most->line[l].nodes : (double)NAN);
      rep_json_number (json, "gpus", solved ? most->line[l].gpus : (double)NAN);
      json_builder_set_member_name (json, "more_do_not_divide");
      json_builder_add_boolean_value (json, most->line[l].last);
      json_builder_end_object (json);
    }
    json_builder_end_object (json);
  }
  json_builder_end_array (json);
}

static void
build_batches (const StdRatio *ratio, JsonBuilder *json)
{
  json_builder_set_member_name (json, "smallest_batch");
  json_builder_begin_array (json);
  for (guint i = 0; i < ratio->batches->len; i++) {
    const StdRatioBatch *least = &g_array_index (ratio->batches, StdRatioBatch, i);
    json_builder_begin_object (json);
    rep_json_integer (json, "nodes", least->nodes);
    rep_json_integer (json, "gpus", least->gpus);
    rep_json_number (json, "adapter_Bps", least->rate_Bps);
    for (int l = 0; l < STD_LINE_N; l++) {
      const gboolean solved = least->line[l].how == STD_SOLVED;
      open_line (json, l, least->line[l].how);
      rep_json_number (json, "batch", solved ? least->line[l].batch : (double)NAN);
      rep_json_number (json, "largest_batch", solved ? (double)NAN : least->line[l].least);
      json_builder_end_object (json);
    }
    json_builder_end_object (json);
  }
  json_builder_end_array (json);
}

void
rep_ratio_json (const StdRatio *ratio, JsonBuilder *json)
{
  const TrnScale *scale = &ratio->scale;
  guint n;
  rep_json_text (json, "batch_counts", scale->has_model ? "sequences" : "micro-batches");
  rep_json_integer (json, "adapters_a_node", scale->adapters);
  rep_json_integer (json, "gpus_a_node", scale->gpus_per_node);
  rep_json_number (json, "limit_ratio", ratio->limit[STD_LINE_RATIO]);
  rep_json_number (json, "limit_waits", ratio->limit[STD_LINE_WAITS]);
  rep_json_number (json, "engine_off", worst_engine (ratio, &n));
  rep_json_table (json, "points", rep_ratio_table (ratio));
  build_speeds (ratio, json);
  build_nodes (ratio, json);
  build_batches (ratio, json);
}
