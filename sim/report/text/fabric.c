#include "report/fabric.h"

#include <math.h>

#include "json-private.h"

#define TO_GBPS 8e-9

BASE_MEMBER_WHEN (ran, StdFabricPoint, it->why_not == NULL)

#define GIGABITS(head) BASE_SHOWN (head, TO_GBPS, "%.5g")
#define PERCENT(head)  BASE_SHOWN (head, 100, "%.1f")
#define POINT(...)     BASE_MEMBER (StdFabricPoint, __VA_ARGS__)
#define SHARE(...)     POINT (__VA_ARGS__, .rank = 2)
static const BaseMember ran_members[] = {
  POINT ("ttft_mean_s", ttft_s, BASE_SHOWN ("TTFT (ms)", 1e3, "%.4g")),
  POINT ("ttft_waits", value[STD_FABRIC_TTFT], PERCENT ("waits (%)")),
  POINT ("tpot_mean_s", tpot_s, BASE_SHOWN ("TPOT (ms)", 1e3, "%.4g")),
  POINT ("tpot_waits", value[STD_FABRIC_TPOT], PERCENT ("waits (%)")),
  POINT ("kv_fraction", kv, PERCENT ("KV of TTFT (%)")),
  POINT ("bottleneck", most, .title = "waits most for"),
  POINT ("outside_slo", value[STD_FABRIC_SLO], PERCENT ("outside SLO (%)"), .rank = 1),
  POINT ("prompt_steps_fraction", prompt_all, PERCENT ("of prompt steps (%)"), .rank = 1),
  POINT ("decode_steps_fraction", decode_all, PERCENT ("of decode steps (%)"), .rank = 1),
  POINT ("transfer_s", transfer_s, BASE_SHOWN ("KV transfer (ms)", 1e3, "%.4g"), .rank = 2),
  SHARE ("prompt_all_reduce", prompt[STD_TRAFFIC_TP], PERCENT ("all-reduces of prompt steps (%)")),
  SHARE ("prompt_experts", prompt[STD_TRAFFIC_EP], PERCENT ("experts of prompt steps (%)")),
  SHARE ("prompt_pipeline", prompt[STD_TRAFFIC_PP], PERCENT ("pipeline of prompt steps (%)")),
  SHARE ("decode_all_reduce", decode[STD_TRAFFIC_TP], PERCENT ("all-reduces of decode steps (%)")),
  SHARE ("decode_experts", decode[STD_TRAFFIC_EP], PERCENT ("experts of decode steps (%)")),
  SHARE ("decode_pipeline", decode[STD_TRAFFIC_PP], PERCENT ("pipeline of decode steps (%)")),
  BASE_MEMBER_END,
};
static const BaseMember point_members[] = {
  POINT ("nodes", nodes, .title = "nodes"),
  POINT ("gpus", gpus, .title = "GPUs", .rank = 1),
  POINT ("load", load, BASE_SHOWN ("load", 1, "%.4g")),
  POINT ("nic_Bps", rate_Bps, GIGABITS ("NIC (Gb/s)")),
  POINT ("gpu_Bps", gpu_Bps, GIGABITS ("per GPU (Gb/s)"), .rank = 1),
  { .kind = BASE_MEMBER_GROUP, .sub = ran_members, .when = ran },
  POINT ("error", why_not),
  BASE_MEMBER_END,
};

BaseTable *
rep_fabric_table (const StdFabric *fabric)
{
  return base_members_table (point_members, fabric->points);
}

/* "12.3", or why there is no number. Returned: full. */
static char *
speed_text (const StdFabricSpeed *speed, StdFabricLine line)
{
  switch (speed->how[line]) {
    case STD_FABRIC_SOLVED:
      return g_strdup_printf ("%.3g", speed->gpu_Bps[line] * TO_GBPS);
    case STD_FABRIC_ANY:
      return g_strdup ("any");
    case STD_FABRIC_NONE:
      return g_strdup_printf ("none (%.3g %%)", 100 * speed->least[line]);
    case STD_FABRIC_NOT_ASKED:
    default:
      return g_strdup ("-");
  }
}

static void
text_of_speeds (const StdFabric *fabric, GString *out)
{
  static const char *const keys[STD_FABRIC_N] = { "ttft", "tpot", "slo" };
  char titles[STD_FABRIC_N][64];
  g_snprintf (titles[STD_FABRIC_TTFT], 64, "TTFT waits %g %%", 100 * fabric->limit[STD_FABRIC_TTFT]);
  g_snprintf (titles[STD_FABRIC_TPOT], 64, "TPOT waits %g %%", 100 * fabric->limit[STD_FABRIC_TPOT]);
  g_snprintf (titles[STD_FABRIC_SLO], 64, "%g %% outside SLO", 100 * fabric->limit[STD_FABRIC_SLO]);
  const BaseColumn columns[] = {
    { "nodes", "nodes", BASE_CELL_INTEGER, 0, NULL, 0 },
    { "gpus", "GPUs", BASE_CELL_INTEGER, 0, NULL, 0 },
    { "load", "load", BASE_CELL_NUMBER, 0, "%.4g", 0 },
    { "ttft", titles[STD_FABRIC_TTFT], BASE_CELL_TEXT, 0, NULL, 0 },
    { "tpot", titles[STD_FABRIC_TPOT], BASE_CELL_TEXT, 0, NULL, 0 },
    { fabric->scale.promised ? "slo" : NULL, titles[STD_FABRIC_SLO], BASE_CELL_TEXT, 0, NULL, 0 },
    { NULL, NULL, BASE_CELL_TEXT, 0, NULL, 0 },
  };
  g_autoptr (BaseTable) table = base_table_new (columns);
  for (guint i = 0; i < fabric->speeds->len; i++) {
    const StdFabricSpeed *speed = &g_array_index (fabric->speeds, StdFabricSpeed, i);
    base_table_row (table);
    base_table_integer (table, "nodes", speed->nodes);
    base_table_integer (table, "gpus", speed->gpus);
    base_table_number (table, "load", speed->load);
    for (guint l = 0; l < (fabric->scale.promised ? STD_FABRIC_N : STD_FABRIC_SLO); l++) {
      g_autofree char *text = speed_text (speed, (StdFabricLine)l);
      base_table_text (table, keys[l], text);
    }
  }
  g_string_append (out, "\n# Slowest network that keeps a threshold, as all faster ones do, in Gb/s per GPU. any: 1 Gb/s per NIC "
                        "is enough. none: the value that an infinitely fast network leaves.\n");
  base_table_print_text (table, out);
}

/* Whether the headline is of `a` rather than `b`: as many nodes as the scenario has, else the most. */
static gboolean
tells_more (const StdFabric *fabric, const StdFabricSpeed *a, const StdFabricSpeed *b)
{
  const gboolean as_it_is = b->nodes == fabric->scale.nodes;
  return a->nodes == fabric->scale.nodes || (!as_it_is && a->nodes > b->nodes);
}

/* At the load that was asked first. */
static void
append_said (const StdFabric *fabric, GString *out)
{
  static const char *const what[] = { "the time to the first token", "the time per output token" };
  const StdFabricSpeed *speed = NULL;
  for (guint i = 0; i < fabric->speeds->len; i++) {
    const StdFabricSpeed *its = &g_array_index (fabric->speeds, StdFabricSpeed, i);
    const double load = g_array_index (fabric->speeds, StdFabricSpeed, 0).load;
    if (!(its->load < load || its->load > load) && (speed == NULL || tells_more (fabric, its, speed)))
      speed = its;
  }
  for (guint l = 0; l <= STD_FABRIC_TPOT && speed != NULL; l++) {
    g_autofree char *needs = speed->how[l] == STD_FABRIC_SOLVED
                                 ? g_strdup_printf ("%.3g Gb/s per GPU are enough", speed->gpu_Bps[l] * TO_GBPS)
                             : speed->how[l] == STD_FABRIC_ANY ? g_strdup ("any network is fast enough")
                                                               : g_strdup ("no network is fast enough");
    g_string_append_printf (out, "On %u GPUs: %s for %s to wait at most %g %% for the network.\n", speed->gpus, needs, what[l],
                            100 * fabric->limit[l]);
  }
  if (speed != NULL)
    g_string_append_c (out, '\n');
}

void
rep_fabric_text (const StdFabric *fabric, GString *out)
{
  const StdFabricScale *scale = &fabric->scale;
  append_said (fabric, out);
  rep_text (rep_fabric_table (fabric), out);
  if (fabric->speeds->len > 0)
    text_of_speeds (fabric, out);
  g_string_append_printf (
      out,
      "# load: over that of the scenario; with nodes, replicas and requests grow alike; %u NIC%s for %u GPU%s of "
      "a node; switches have the NICs' rate\n",
      scale->adapters, scale->adapters == 1 ? "" : "s", scale->gpus_per_node, scale->gpus_per_node == 1 ? "" : "s");
  if (fabric->seeds > 1)
    g_string_append_printf (out,
                            "# closed loop: requests stay in step with each other, so that a faster network may make a queue "
                            "longer; values are means over %u seeds, and the slowest network is the one above which no rate that "
                            "was tried breaks the threshold\n",
                            fabric->seeds);
  g_string_append (out,
                   "# waits: fraction that an infinitely fast network would save; KV: time of a transfer over the mean TTFT; waits "
                   "most for: traffic whose part it would lower most; of prompt and decode steps: fraction of their time in "
                   "exposed all-reduces, exchange of experts and sends between stages, inside nodes too\n");
}

/* ---- JSON ---- */

static const BaseName how_names[] = {
  { "solved", STD_FABRIC_SOLVED, NULL },
  { "any", STD_FABRIC_ANY, NULL },
  { "none", STD_FABRIC_NONE, NULL },
  { "not asked", STD_FABRIC_NOT_ASKED, NULL },
  { NULL, 0, NULL },
};

#define LINE(name, l)                                                                  \
  BASE_MEMBER_AS (BASE_MEMBER_UINT, StdFabricSpeed, name, how[l], .names = how_names), \
      BASE_MEMBER (StdFabricSpeed, name "_gpu_Bps", gpu_Bps[l], .positive = TRUE)
static const BaseMember speed_members[] = {
  BASE_MEMBER (StdFabricSpeed, "nodes", nodes),
  BASE_MEMBER (StdFabricSpeed, "gpus", gpus),
  BASE_MEMBER (StdFabricSpeed, "load", load),
  LINE ("ttft_waits", STD_FABRIC_TTFT),
  LINE ("tpot_waits", STD_FABRIC_TPOT),
  LINE ("outside_slo", STD_FABRIC_SLO),
  BASE_MEMBER_END,
};

void
rep_fabric_json (const StdFabric *fabric, JsonBuilder *json)
{
  rep_json_integer (json, "nics_per_node", fabric->scale.adapters);
  rep_json_integer (json, "gpus_per_node", fabric->scale.gpus_per_node);
  rep_json_integer (json, "seeds", fabric->seeds);
  rep_json_number (json, "limit_waits", fabric->limit[STD_FABRIC_TTFT]);
  rep_json_number (json, "limit_outside_slo", fabric->limit[STD_FABRIC_SLO]);
  json_builder_set_member_name (json, "points");
  base_members_list (point_members, fabric->points, json);
  json_builder_set_member_name (json, "slowest_network");
  base_members_list (speed_members, fabric->speeds, json);
}
