/* forerun explain moe_dispatch, moe_combine, moe_prepare: without a scenario file. */
#include "explain-private.h"

#include <string.h>

#include "collective/moe.h"
#include "report/explain.h"
#include "report/run.h"

#define FLAG(name, field, arg, help)                                       \
  {                                                                        \
    CLI_FLAG_TEXT, name, 0, offsetof (CliExplainFlags, field), arg, help \
  }

const CliFlag cli_explain_moe_flags[] = {
  { CLI_FLAG_HEADING, "experts: of moe_dispatch, moe_combine and moe_prepare", 0, 0, NULL, NULL },
  FLAG ("tokens", tokens, "N", "tokens of each rank (default: 128)"),
  FLAG ("hidden", hidden, "N", "elements of a token (default: 7168)"),
  FLAG ("experts", experts, "N", "experts, divided evenly over the ranks (default: 256)"),
  FLAG ("top-k", top_k, "K", "experts of a token (default: 8)"),
  FLAG ("groups", groups, "N", "groups of experts, for --top-groups"),
  FLAG ("top-groups", top_groups, "N", "groups that a token may use: node-limited routing (default: all)"),
  FLAG ("backend", backend, "B",
        "library: deepep_normal (default), deepep_low_latency, hybridep, nccl, nvlink_one_sided, nvlink_two_sided or uccl"),
  FLAG ("routing", routing, "R", "uniform (default), balanced, or drawn by the seed"),
  FLAG ("sms", sms, "N", "SMs that it takes (default: the library's)"),
  { CLI_FLAG_HEADING, NULL, 0, 0, NULL, NULL },
};

const char *
cli_explain_moe_flag (const CliExplainFlags *flags)
{
  for (const CliFlag *flag = cli_explain_moe_flags; flag->name != NULL; flag++)
    if (flag->kind == CLI_FLAG_TEXT && *(char *const *)G_STRUCT_MEMBER_P (flags, flag->offset) != NULL)
      return flag->name;
  return NULL;
}

/* Numbers as a scenario takes them (sim/scenario/kind_moe.c). */
static gboolean
read_numbers (const Cli *cli, const CliExplainFlags *flags, ColMoeRequest *out, GError **error)
{
  const struct {
    const char *flag, *text;
    guint64 most, fallback;
    double *value;
  } rows[] = { { "--tokens", flags->tokens, 16000000, 128, &out->tokens },
               { "--hidden", flags->hidden, 1000000, 7168, &out->hidden },
               { "--experts", flags->experts, 1000000, 256, &out->experts },
               { "--top-k", flags->top_k, 1024, 8, &out->top_k },
               { "--groups", flags->groups, 1000000, 0, &out->groups },
               { "--top-groups", flags->top_groups, 1000000, 0, &out->top_groups },
               { "--sms", flags->sms, 1024, 0, &out->sms } };
  for (size_t i = 0; i < G_N_ELEMENTS (rows); i++) {
    guint64 value = rows[i].fallback;
    if (!cli_count_value (cli, rows[i].flag, rows[i].text, 1, rows[i].most, &value, error))
      return FALSE;
    *rows[i].value = (double)value;
  }
  return TRUE;
}

static gboolean
read_request (const Cli *cli, const CliExplainFlags *flags, MdlMoeOp op, ColMoeRequest *out, GError **error)
{
  int format = op == MDL_MOE_COMBINE ? MDL_FORMAT_BF16 : MDL_FORMAT_FP8, backend = MDL_MOE_BY_DEEPEP_NORMAL,
      routing = MDL_MOE_UNIFORM;
  *out = (ColMoeRequest){ .op = op, .imbalance = 1 };
  if (!read_numbers (cli, flags, out, error) ||
      !cli_name_value (cli, "--dtype", flags->coll.dtype, mdl_format_names, &format, error) ||
      !cli_name_value (cli, "--backend", flags->backend, mdl_moe_backend_names, &backend, error) ||
      !cli_name_value (cli, "--routing", flags->routing, mdl_moe_routing_names, &routing, error))
    return FALSE;
  out->format = (MdlFormat)format;
  out->backend = (MdlMoeBackend)backend;
  out->routing = (MdlMoeRouting)routing;
  return TRUE;
}

/* Flags of a collective that say nothing here. */
static const char *
flag_without_meaning (const FrCollFlags *flags)
{
  const struct {
    const char *name, *value;
  } rows[] = { { "-b", flags->min },           { "-e", flags->max },       { "--root", flags->root },
               { "--algo", flags->algo },      { "--proto", flags->proto }, { "--one-shot", flags->one_shot },
               { "--buffers", flags->buffers } };
  for (size_t i = 0; i < G_N_ELEMENTS (rows); i++)
    if (rows[i].value != NULL)
      return rows[i].name;
  return NULL;
}

static void
write_answer (Cli *cli, const ScnRanks *ranks, const ColMoeAnswer *moe)
{
  if (cli->format == CLI_FORMAT_JSON) {
    JsonBuilder *json = cli_json_open (cli);
    rep_explain_moe_json (moe, json);
    cli_json_close (cli, json);
  } else if (cli->format == CLI_FORMAT_TSV) {
    cli_rows (cli, rep_moe_terms_table (moe));
  } else {
    RepEnvelope envelope = cli_envelope (cli);
    rep_explain_moe_answer (moe, cli->out);
    g_string_append_c (cli->out, '\n');
    rep_header_title (cli->out, &envelope, "explain");
    cli_comm_header (cli, ranks, cli->out);
    rep_explain_moe_text (moe, cli->out);
  }
}

gboolean
cli_explain_moe (Cli *cli, const CliExplainFlags *flags, MdlMoeOp op, GError **error)
{
  ColMoeRequest request;
  const char *meaningless = flag_without_meaning (&flags->coll), *key = NULL;
  if (meaningless != NULL)
    return cli_fail (cli, error, "%s has no meaning with %s; --tokens, --hidden and --top-k make its size, --backend its library",
                     meaningless, base_name (mdl_moe_op_names, (int)op));
  if (!read_request (cli, flags, op, &request, error))
    return FALSE;
  FrCollFlags where = flags->coll;
  where.dtype = NULL; /* of tokens, not of a collective */
  g_auto (FrCollQuery) query = { 0 };
  g_auto (ScnRanks) ranks = { 0 };
  if (!cli_coll_read (cli, &where, mdl_op_names[MDL_OP_ALLTOALL].name, &query, error))
    return FALSE;
  if (query.n_nodes > 1)
    return cli_fail (cli, error, "one prediction is explained at a time; -n lists %u numbers of nodes", query.n_nodes);
  if (!cli_comm_open (cli, &query, query.nodes[0], &ranks, error))
    return FALSE;
  ColMoeAnswer moe;
  if (!col_moe_price (ranks.comm, &request, &moe, &key, error)) {
    g_prefix_error (error, "forerun %s: ", cli->verb->name);
    return FALSE;
  }
  write_answer (cli, &ranks, &moe);
  return TRUE;
}
