/* Workloads of kind `flows`: random or listed flows between hosts; keys, and what goes together. */
#include "flows-private.h"

static const BaseName kind_names[] = { { "flows", 0, "flows between hosts" }, { NULL, 0, NULL } };
static const BaseName arrival_names[] = { { "poisson", SCN_ARRIVE_POISSON, "exponentially distributed times between starts" },
                                          { "regular", SCN_ARRIVE_REGULAR, "equal times between starts" },
                                          { "at_once", SCN_ARRIVE_AT_ONCE, "all start at 0" },
                                          { NULL, 0, NULL } };
static const BaseName host_names[] = { { "uniform", SCN_HOSTS_UNIFORM, "any host to any other" },
                                       { "incast", SCN_HOSTS_INCAST, "`fan_in` flows at a time to one host" },
                                       { "permutation", SCN_HOSTS_PERMUTATION, "each host always to the same other host" },
                                       { "hot_spot", SCN_HOSTS_HOT_SPOT, "`hot` of the flows go to host 0" },
                                       { NULL, 0, NULL } };

static const BaseField sizes_fields[] = {
  BASE_ROW (ScnFlowSizes, "sizes", name, STR, .help = "name"),
  BASE_ROW (ScnFlowSizes, "summary", summary, STR, .help = "one line"),
  BASE_ROW (ScnFlowSizes, "source", source, STR, .help = "publication"),
  BASE_ROW (ScnFlowSizes, "bytes", bytes, NUMS, .dim = BASE_DIM_BYTES, .min = "1 B", .max = "1 EB", .required = TRUE,
            .help = "sizes, ascending"),
  BASE_ROW (ScnFlowSizes, "cumulative", cumulative, NUMS, .dim = BASE_DIM_RATIO, .min = "0", .max = "1", .required = TRUE,
            .help = "fraction of flows up to each size, ascending to 100 %; linear in between"),
  BASE_ROW_END,
};
const BaseSchema scn_schema_flow_sizes = { .name = "sizes",
                                           .help = "A distribution of flow sizes. Shipped files: scenarios/sizes.",
                                           .fields = sizes_fields };

static const BaseField flows_fields[] = {
  BASE_ROW (ScnFlowsSpec, "kind", kind, ENUM, .names = kind_names, .required = TRUE, .help = "`flows`"),
  BASE_ROW_NUM (ScnFlowsSpec, "flows", flows, COUNT, .min = "1", .max = "100 M", .help = "how many; not with `file`"),
  BASE_ROW (ScnFlowsSpec, "sizes", sizes, REF, .sub = &scn_schema_flow_sizes, .item_size = sizeof (ScnFlowSizes),
            .folder = "scenarios/sizes",
            .help = "their sizes: `web_search`, `data_mining`, `storage`, `kv_llama3_70b`; or `bytes`"),
  BASE_ROW_NUM (ScnFlowsSpec, "bytes", bytes, BYTES, .min = "1 B", .max = "1 EB", .help = "one size of all flows"),
  BASE_ROW (ScnFlowsSpec, "arrivals", arrivals, ENUM, .names = arrival_names, .fallback = "poisson", .help = "when flows start"),
  BASE_ROW_NUM (ScnFlowsSpec, "load", load, RATIO, .min = "0.001 %", .max = "1000 %",
                .help = "bytes that hosts send over what their links carry, on average; needed unless `arrivals: at_once`"),
  BASE_ROW (ScnFlowsSpec, "hosts", hosts, ENUM, .names = host_names, .fallback = "uniform", .help = "senders and receivers"),
  BASE_ROW_NUM (ScnFlowsSpec, "fan_in", fan_in, COUNT, .min = "1", .max = "1 M", .fallback = "16",
                .help = "with `incast`: flows that start together, to one host"),
  BASE_ROW_NUM (ScnFlowsSpec, "hot", hot, RATIO, .min = "0", .max = "1", .fallback = "1 %",
                .help = "with `hot_spot`: fraction of the flows that go to host 0"),
  BASE_ROW (ScnFlowsSpec, "file", file, STR,
            .help = "in place of all these: a file with a flow a line (start, src, dst, bytes), beside the scenario"),
  BASE_ROW_END,
};
const BaseSchema scn_schema_flows = { .name = "workload (flows)",
                                      .help = "Random or listed flows. A host is a GPU with the path to its NIC.",
                                      .fields = flows_fields };

/* ---- what goes together ---- */

void
scn_flow_sizes_check (const ScnFlowSizes *sizes, BaseMark mark, BaseDiag *diag)
{
  const BaseNums *bytes = &sizes->bytes, *cumulative = &sizes->cumulative;
  if (bytes->n != cumulative->n || bytes->n < 2) {
    base_diag_error (diag, mark, "'bytes' has %u values and 'cumulative' %u; accepted: as many, two or more", bytes->n,
                     cumulative->n);
    return;
  }
  for (unsigned i = 1; i < bytes->n; i++)
    if (bytes->item[i].v <= bytes->item[i - 1].v || cumulative->item[i].v < cumulative->item[i - 1].v) {
      base_diag_error (diag, bytes->item[i].v <= bytes->item[i - 1].v ? bytes->item[i].mark : cumulative->item[i].mark,
                       "value %u is not above the one before it; sizes and fractions ascend", i + 1);
      return;
    }
  if (cumulative->item[bytes->n - 1].v < 1)
    base_diag_error (diag, cumulative->item[bytes->n - 1].mark, "'cumulative' ends at %.6g %%; accepted: 100 %%",
                     cumulative->item[bytes->n - 1].v * 100);
}

static void
check_file (const ScnFlowsSpec *spec, BaseDiag *diag)
{
  const struct {
    const char *key;
    gboolean set;
  } others[] = { { "flows", spec->flows.set },       { "sizes", spec->sizes.set }, { "bytes", spec->bytes.set },
                 { "arrivals", spec->arrivals.set }, { "load", spec->load.set },   { "hosts", spec->hosts.set } };
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    if (others[i].set)
      base_diag_error (diag, spec->file.mark, "'file' lists all flows; take out '%s'", others[i].key);
}

static void
read_keys (Scn *scenario, const BaseYamlNode *node, const BaseSchemaContext *context)
{
  ScnFlowsSpec *spec = scenario->own;
  const BaseMark mark = base_yaml_mark (node);
  if (spec->sizes.value != NULL)
    scn_flow_sizes_check (spec->sizes.value, spec->sizes.mark, context->diag);
  if (spec->file.v != NULL) {
    check_file (spec, context->diag);
    return;
  }
  if (!base_num_written (&spec->flows))
    base_diag_error (context->diag, mark, "'flows' in 'workload (flows)' is missing: how many; or 'file', which lists them");
  if (spec->sizes.set == base_num_written (&spec->bytes))
    base_diag_error (context->diag, mark, "flows need 'sizes' or 'bytes', one of them");
  if (!base_num_written (&spec->load) && spec->arrivals.v != SCN_ARRIVE_AT_ONCE)
    base_diag_error (context->diag, mark, "flows that arrive over time need 'load', for example 70 %%");
}

static gboolean
check (const Scn *scenario, GError **error)
{
  ScnFlowsSpec *spec = scenario->own;
  const guint n = scenario->system.gpus->len;
  if (n < 2)
    return col_fail_at (error, spec->head.mark, "flows need two hosts or more; the scenario has %u", n);
  return spec->file.v == NULL || scn_flows_read (scenario, spec, error);
}

/* ---- the answer ---- */

#define CLASS(...)                      BASE_MEMBER (ScnFlowClass, __VA_ARGS__)
#define TIMES(key, member, head, place) CLASS (key, member, BASE_SHOWN (head, 1, "%.2f"), .rank = (place))
#define FCT(key, member, head, place)   CLASS (key, member, .title = (head), .rank = (place))
#define CLASS_VALUES                                                                                    \
  CLASS ("flows", flows, .title = "flows"), CLASS ("bytes", bytes, .title = "bytes", .rank = 2),        \
      TIMES ("slowdown_mean", slowdown, "slowdown", 0), TIMES ("slowdown_p50", slowdown_p50, "p50", 0), \
      TIMES ("slowdown_p95", slowdown_p95, "p95", 0), TIMES ("slowdown_p99", slowdown_p99, "p99", 0),   \
      FCT ("fct_mean_s", fct_s, "completion", 1), FCT ("fct_p50_s", fct_p50_s, "p50 of it", 1),         \
      FCT ("fct_p95_s", fct_p95_s, "p95 of it", 1), FCT ("fct_p99_s", fct_p99_s, "p99 of it", 1), BASE_MEMBER_END

static const BaseMember all_members[] = { CLASS_VALUES };
static const BaseMember class_members[] = { CLASS ("sizes", sizes, .title = "sizes"), CLASS_VALUES };

#define RESULT(...) BASE_MEMBER (ScnFlowsResult, __VA_ARGS__)
static const BaseMember members[] = {
  RESULT (NULL, all, .sub = all_members),
  RESULT ("time_s", time_s, .title = "time", .rank = 1),
  RESULT ("span_s", span_s, .title = "arrivals", .rank = 3),
  RESULT ("hosts", hosts, .title = "hosts", .rank = 3),
  RESULT ("host_rate_Bps", host_Bps, .title = "host's rate", .rank = 4),
  RESULT ("throughput_Bps", rate_Bps, .title = "throughput", .rank = 2),
  RESULT ("most_at_once", most_at_once, .title = "most at once", .rank = 3),
  RESULT ("fullest_link", fullest, .title = "fullest link", .rank = 4),
  RESULT ("fullest_load", fullest_load, BASE_SHOWN ("its load (%)", 100, "%.1f"), .rank = 4),
  RESULT ("classes", classes, .sub = class_members, .title = "by size"),
  BASE_MEMBER_END,
};

static gboolean
run (const Scn *scenario, ScnResult *result, GError **error)
{
  ScnFlowsResult *own = g_new0 (ScnFlowsResult, 1);
  result->own = own;
  return scn_flows_run (scenario, scenario->own, own, &result->run, error);
}

static void
clear (ScnResult *result)
{
  scn_flows_result_free (result->own);
  result->own = NULL;
}

const ScnKindOps scn_kind_flows = {
  .schema = &scn_schema_flows,
  .spec_size = sizeof (ScnFlowsSpec),
  .read = read_keys,
  .check = check,
  .run = run,
  .clear = clear,
  .time = BASE_MEMBER (ScnFlowsResult, "time_s", time_s),
  .bound = BASE_MEMBER (ScnFlowsResult, "bound_by", bound_by),
  .members = members,
  .answer =
      "A flow takes {slowdown_mean:%.2f} times as long as alone on average; one of a hundred takes {slowdown_p99:%.2f} times or "
      "more.\n",
};
