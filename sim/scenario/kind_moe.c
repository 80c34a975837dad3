/* Workloads of kind `moe`, written as `kind: collective` with an op that begins with moe_: tokens go to experts, or return. */
#include "jobs-private.h"

static const BaseName kind_names[] = { { "collective", 0, "an operation of all ranks" },
                                       { "moe", 1, "the same" },
                                       { NULL, 0, NULL } };
static const BaseField moe_fields[] = {
  BASE_ROW (ScnMoeSpec, "kind", kind, ENUM, .names = kind_names, .required = TRUE, .help = "`collective`"),
  BASE_ROW (ScnMoeSpec, "op", op, ENUM, .names = mdl_moe_op_names, .required = TRUE, .help = "operation"),
  BASE_ROW_NUM (ScnMoeSpec, "tokens", tokens, COUNT, .min = "1", .max = "16 M", .required = TRUE, .help = "tokens of each rank"),
  BASE_ROW_NUM (ScnMoeSpec, "hidden", hidden, COUNT, .min = "1", .max = "1 M", .required = TRUE, .help = "elements of a token"),
  BASE_ROW_NUM (ScnMoeSpec, "experts", experts, COUNT, .min = "1", .max = "1 M", .required = TRUE,
                .help = "experts, divided evenly over the ranks in order"),
  BASE_ROW_NUM (ScnMoeSpec, "top_k", top_k, COUNT, .min = "1", .max = "1024", .required = TRUE, .help = "experts of a token"),
  BASE_ROW_NUM (ScnMoeSpec, "groups", groups, COUNT, .min = "1", .max = "1 M", .help = "groups of experts, for `top_groups`"),
  BASE_ROW_NUM (ScnMoeSpec, "top_groups", top_groups, COUNT, .min = "1", .max = "1 M",
                .help = "groups that a token may use (node-limited routing); default: all"),
  BASE_ROW_NUM (ScnMoeSpec, "imbalance", imbalance, NUMBER, .min = "1", .max = "1000", .fallback = "1",
                .help = "copies of the fullest rank over the mean"),
  BASE_ROW (ScnMoeSpec, "routing", routing, ENUM, .names = mdl_moe_routing_names, .fallback = "uniform",
            .help = "how tokens choose experts"),
  BASE_ROW (ScnMoeSpec, "dtype", dtype, ENUM, .names = mdl_format_names,
            .help = "format that tokens travel in; default: fp8 for moe_dispatch, bf16 for moe_combine"),
  BASE_ROW (ScnMoeSpec, "backend", backend, ENUM, .names = mdl_moe_backend_names, .fallback = "deepep_normal", .help = "library"),
  BASE_ROW_NUM (ScnMoeSpec, "sms", sms, COUNT, .min = "1", .max = "1024", .help = "SMs that it takes; default: the library's"),
  BASE_ROW_NUM (ScnMoeSpec, "ranks", ranks, COUNT, .min = "1", .help = "GPUs that take part, from the first; default: all"),
  BASE_ROW_END,
};
const BaseSchema scn_schema_moe = { .name = "workload (collective, experts)",
                                    .help = "Tokens go to experts on other ranks (op: moe_dispatch), or their results return.",
                                    .fields = moe_fields };

static guint32
ranks_of (const Scn *scenario)
{
  return scenario->moe.ranks.set ? (guint32)scenario->moe.ranks.v : scenario->system.gpus->len;
}

static gboolean
check (const Scn *scenario, GError **error)
{
  const ScnMoeSpec *m = &scenario->moe;
  if (ranks_of (scenario) > scenario->system.gpus->len)
    return col_fail_at (error, m->ranks.mark, "%u ranks need as many GPUs, the cluster has %u; ask for more nodes or fewer ranks",
                        ranks_of (scenario), scenario->system.gpus->len);
  return TRUE;
}

static ColMoeRequest
request_of (const ScnMoeSpec *m)
{
  const MdlFormat usual = m->op.v == MDL_MOE_COMBINE ? MDL_FORMAT_BF16 : MDL_FORMAT_FP8;
  return (ColMoeRequest){ .op = (MdlMoeOp)m->op.v,
                          .backend = (MdlMoeBackend)m->backend.v,
                          .routing = (MdlMoeRouting)m->routing.v,
                          .tokens = m->tokens.v,
                          .hidden = m->hidden.v,
                          .experts = m->experts.v,
                          .top_k = m->top_k.v,
                          .groups = m->groups.v,
                          .top_groups = m->top_groups.v,
                          .imbalance = m->imbalance.v,
                          .format = m->dtype.set ? (MdlFormat)m->dtype.v : usual,
                          .sms = m->sms.v };
}

/* `why` at the key that it is about. */
static gboolean
refuse (const Scn *scenario, const char *key, GError *why, GError **error)
{
  const BaseYamlNode *at = base_yaml_get (scenario->spec.workload, key);
  col_fail_at (error, at != NULL ? base_yaml_mark (at) : scenario->moe.op.mark, "%s", why->message);
  g_error_free (why);
  return FALSE;
}

static gboolean
ready (const Scn *scenario, GError **error)
{
  const ColMoeRequest request = request_of (&scenario->moe);
  g_autoptr (ColComm) comm = col_system_comm (&scenario->system, &scenario->system.settings, ranks_of (scenario), error);
  GError *why = NULL;
  const char *key = NULL;
  return comm != NULL && (col_moe_check (comm, &request, &key, &why) || refuse (scenario, key, why, error));
}

static gboolean
run (const Scn *scenario, ScnResult *result, GError **error)
{
  const ColMoeRequest request = request_of (&scenario->moe);
  g_autoptr (ColComm) comm = col_system_comm (&scenario->system, &scenario->system.settings, ranks_of (scenario), error);
  if (comm == NULL)
    return FALSE;
  GError *why = NULL;
  const char *key = NULL;
  if (!col_moe_price (comm, &request, &result->moe, &key, &why))
    return refuse (scenario, key, why, error);
  if (result->run.spans != NULL)
    col_run_span (&result->run, g_strdup_printf ("%u ranks", ranks_of (scenario)),
                  g_strdup (base_name (mdl_moe_op_names, (int)scenario->moe.op.v)), 0, result->moe.time_s);
  return TRUE;
}

const ScnKindOps scn_kind_moe = {
  .schema = &scn_schema_moe,
  .spec = G_STRUCT_OFFSET (Scn, moe),
  .check = check,
  .ready = ready,
  .run = run,
  .time = BASE_MEMBER (ScnResult, "time_s", moe.time_s),
  .bound = BASE_MEMBER (ScnResult, "bound_by", moe.cost.bound_by),
};
