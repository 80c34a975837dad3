/* Workloads of kind `chakra`: execution traces of Chakra on the cluster. */
#include "chakra/chakra-private.h"
#include "collective/possible.h"

static const BaseName compute_names[] = { { "recorded", SCN_CHAKRA_RECORDED, "the times of the trace" },
                                          { "roofline", SCN_CHAKRA_ROOFLINE,
                                            "from num_ops and tensor_size, by the GPU's data sheet" },
                                          { NULL, 0, NULL } };
static const BaseName control_names[] = { { "auto", SCN_CONTROL_AUTO, "waited for, unless that makes a cycle" },
                                          { "wait", SCN_CONTROL_WAIT, "waited for" },
                                          { "ignore", SCN_CONTROL_IGNORE, "not waited for" },
                                          { NULL, 0, NULL } };

static const BaseField fields[] = {
  BASE_ROW (ScnChakraSpec, "kind", kind, STR, .required = TRUE, .help = "`chakra`"),
  BASE_ROW (ScnChakraSpec, "trace", trace, STR, .required = TRUE,
            .help = "what the names of the files begin with, beside the scenario: `step` for step.0.et, step.1.et, …; also .json"),
  BASE_ROW_NUM (ScnChakraSpec, "ranks", ranks, COUNT, .min = "1", .max = "65536",
                .help = "ranks to run, from 0 on; default: all that have a file"),
  BASE_ROW (ScnChakraSpec, "replicate", replicate, BOOL, .fallback = "no",
            .help = "all ranks run the trace of rank 0; default of `ranks`: all GPUs"),
  BASE_ROW (ScnChakraSpec, "groups", groups, STR,
            .help = "a JSON file of communicators, {name: [ranks]}; default: those of the trace's process_group:init nodes"),
  BASE_ROW (ScnChakraSpec, "compute", compute, ENUM, .names = compute_names, .fallback = "recorded", .help = "times of kernels"),
  BASE_ROW (ScnChakraSpec, "precision", precision, ENUM, .names = mdl_precision_names, .fallback = "bf16",
            .help = "of `roofline`: number format of num_ops"),
  BASE_ROW (ScnChakraSpec, "control", control, ENUM, .names = control_names, .fallback = "auto",
            .help = "control dependencies; those of PyTorch's traces name callers, which end later than what they call"),
  BASE_ROW_END,
};
const BaseSchema scn_schema_chakra = { .name = "workload (chakra)",
                                       .help = "Execution traces of Chakra (MLCommons): a file for each rank.",
                                       .fields = fields };

static gboolean
check (const Scn *scenario, GError **error)
{
  g_auto (ScnChakraSet) set = { 0 };
  return scn_chakra_load (scenario, scenario->own, &set, error);
}

#define RESULT(...) BASE_MEMBER (ScnChakraResult, __VA_ARGS__)
#define RANK(...)   BASE_MEMBER (ScnChakraRankTime, __VA_ARGS__)
#define OP(...)     BASE_MEMBER (ScnChakraOp, __VA_ARGS__)

static const BaseMember rank_members[] = {
  RANK ("rank", rank, .title = "rank"),
  RANK ("compute_s", compute_s, BASE_SHOWN ("compute (ms)", 1e3, "%.3f")),
  RANK ("memory_s", memory_s, BASE_SHOWN ("loads, stores (ms)", 1e3, "%.3f")),
  RANK ("communication_s", communication_s, BASE_SHOWN ("communication (ms)", 1e3, "%.3f")),
  RANK ("exposed_communication_s", exposed_s, BASE_SHOWN ("exposed (ms)", 1e3, "%.3f")),
  RANK ("host_s", host_s, BASE_SHOWN ("host (ms)", 1e3, "%.3f")),
  RANK ("idle_s", idle_s, BASE_SHOWN ("nothing runs (ms)", 1e3, "%.3f")),
  RANK ("end_s", end_s, BASE_SHOWN ("end (ms)", 1e3, "%.3f")),
  BASE_MEMBER_END,
};
static const BaseMember op_members[] = {
  OP ("name", name, .title = "operation"),
  OP ("ranks", ranks, .title = "ranks"),
  OP ("count", count, .title = "count"),
  OP ("bytes", bytes, .title = "bytes"),
  OP ("alone_s", alone_s, BASE_SHOWN ("alone (ms)", 1e3, "%.3f")),
  OP ("time_s", time_s, BASE_SHOWN ("time (ms)", 1e3, "%.3f")),
  BASE_MEMBER_END,
};
static const BaseMember members[] = {
  RESULT ("time_s", time_s, .title = "time"),
  RESULT ("ranks", ranks, .title = "ranks"),
  RESULT ("nodes", nodes, .title = "nodes of all traces"),
  RESULT ("bound_by", bound_by, .title = "bottleneck"),
  RESULT ("compute_s", last.compute_s, .title = "compute of the rank that ends last", .rank = 1),
  RESULT ("exposed_communication_s", last.exposed_s, .title = "its exposed communication", .rank = 1),
  RESULT ("idle_s", last.idle_s, .title = "nothing runs on it", .rank = 2),
  RESULT ("by_rank", by_rank, .sub = rank_members, .title = "ranks"),
  RESULT ("operations", ops, .sub = op_members, .title = "communication, sums of operations that are alike"),
  BASE_MEMBER_END,
};

static gboolean
run (const Scn *scenario, ScnResult *result, GError **error)
{
  col_run_warn_steps (&result->run, &scenario->system.settings, "a trace");
  ScnChakraResult *own = g_new0 (ScnChakraResult, 1);
  result->own = own;
  return scn_chakra_run (scenario, scenario->own, own, &result->run, error);
}

static void
clear (ScnResult *result)
{
  g_clear_pointer ((ScnChakraResult **)&result->own, scn_chakra_result_free);
}

const ScnKindOps scn_kind_chakra = {
  .schema = &scn_schema_chakra,
  .spec_size = sizeof (ScnChakraSpec),
  .check = check,
  .run = run,
  .clear = clear,
  .time = BASE_MEMBER (ScnChakraResult, "time_s", time_s),
  .bound = BASE_MEMBER (ScnChakraResult, "bound_by", bound_by),
  .members = members,
  .answer = "The traces of {ranks} ranks take {time_s}. Bottleneck: {bound_by}.\n",
};
