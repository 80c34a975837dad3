/* Completes a replica: options that the scenario does not give are those of the engine's version. */
#include <math.h>

#include "collective/system.h"
#include "models/engine.h"
#include "serving/spec.h"

static void
take_num (BaseNum *num, const BaseNum *from)
{
  if (!num->set)
    *num = *from;
}

static void
take_bool (BaseBool *flag, const BaseBool *from)
{
  if (!flag->set)
    *flag = *from;
}

static void
settle_engine (SrvEngineSpec *engine, const MdlEngineRow *row, gboolean several)
{
  if (!engine->other.set && several && row->communicators_B.set) {
    engine->other = row->other_B;
    engine->other.v += row->communicators_B.v;
    engine->other.source = MIN (row->other_B.source, row->communicators_B.source);
    engine->multicast_B = row->multicast_B.v;
  }
  take_num (&engine->max_num_seqs, &row->max_num_seqs);
  take_num (&engine->max_num_batched_tokens, &row->max_num_batched_tokens);
  take_num (&engine->cuda_graphs, &row->cuda_graphs);
  take_bool (&engine->async, &row->async);
  take_bool (&engine->chunked, &row->chunked);
  take_bool (&engine->prefix_cache, &row->prefix_cache);
  take_num (&engine->block, &row->block);
  take_num (&engine->memory, &row->memory);
  take_num (&engine->other, &row->other_B);
}

/* Absent maps have no defaults where a struct was not read by a schema. */
static void
at_least_one (BaseNum *num, double otherwise)
{
  if (num->v < 1)
    num->v = otherwise;
}

static gboolean
settle_parallel (SrvParallelSpec *p, GError **error)
{
  at_least_one (&p->tp, 1);
  at_least_one (&p->pp, 1);
  at_least_one (&p->dp_attn, 1);
  const double ranks = p->tp.v * p->dp_attn.v;
  if (!p->ep.set)
    p->ep.v = p->moe_tp.set && p->moe_tp.v > 0 ? floor (ranks / p->moe_tp.v) : 1;
  if (!p->moe_tp.set)
    p->moe_tp.v = fmax (floor (ranks / p->ep.v), 1);
  if (p->ep.v * p->moe_tp.v < ranks || p->ep.v * p->moe_tp.v > ranks)
    return col_fail_at (error, p->ep.set ? p->ep.mark : p->moe_tp.mark,
                        "ep %.0f x moe_tp %.0f is not tp %.0f x dp_attn %.0f = %.0f ranks; use divisors with that product", p->ep.v,
                        p->moe_tp.v, p->tp.v, p->dp_attn.v, ranks);
  return TRUE;
}

/* Options that one engine alone has. */
static gboolean
check_options (const SrvEngineSpec *engine, GError **error)
{
  const struct {
    const char *key, *what;
    gboolean asked;
    BaseMark mark;
    SrvEngineName of;
  } options[] = {
    { "mixed", "SGLang's enable_mixed_chunk", engine->mixed.set && engine->mixed.v, engine->mixed.mark, SRV_ENGINE_SGLANG },
    { "poll", "SGLang's scheduler_recv_interval", engine->poll.set, engine->poll.mark, SRV_ENGINE_SGLANG },
    { "balance", "TensorRT-LLM's attention_dp_config", engine->balance.set, engine->balance.mark, SRV_ENGINE_TRTLLM },
  };
  for (guint i = 0; i < G_N_ELEMENTS (options); i++)
    if (options[i].asked && (int)options[i].of != engine->name.v)
      return col_fail_at (error, options[i].mark, "'%s' is %s, which %s does not have; leave it out, or use engine name %s",
                          options[i].key, options[i].what, base_name (srv_engine_names, engine->name.v),
                          base_name (srv_engine_names, (int)options[i].of));
  return TRUE;
}

gboolean
srv_replica_settle (SrvReplicaSpec *spec, const MdlEngines *engines, const MdlEngineRow **row, char **warning, GError **error)
{
  SrvEngineSpec *engine = &spec->engine;
  const char *name = base_name (srv_engine_names, engine->name.v), *version = engine->version.v;
  gboolean assumed = FALSE;
  if (warning != NULL)
    *warning = NULL;
  if (!check_options (engine, error))
    return FALSE;
  if (engines == NULL)
    return col_fail_at (error, engine->name.mark, "a replica needs constants of engines; use `library: nccl`");
  if (version != NULL && !g_ascii_isdigit (version[*version == 'v' ? 1 : 0])) {
    const MdlEngineRow *newest = mdl_engine_find (engines, name, NULL, NULL);
    return col_fail_at (
        error, engine->version.mark,
        "'%s' is not a version of %s; write numbers as in 0.11.0, or leave it out for the newest that is known (%s and "
        "later; `forerun list engines`)",
        version, name, newest != NULL ? newest->version.v : "none");
  }
  const MdlEngineRow *found = mdl_engine_find (engines, name, version, &assumed);
  if (found == NULL)
    return col_fail_at (error, engine->name.mark, "no constants of engine '%s' are known", name);
  if (assumed && warning != NULL)
    *warning = g_strdup_printf ("%s %s is older than all versions known; defaults of %s hold", name, version, found->version.v);
  if (row != NULL)
    *row = found;
  if (!settle_parallel (&spec->parallel, error))
    return FALSE;
  settle_engine (engine, found, srv_replica_gpus (spec) > 1);
  return TRUE;
}

double
srv_replica_gpus (const SrvReplicaSpec *spec)
{
  return spec->parallel.tp.v * spec->parallel.pp.v * spec->parallel.dp_attn.v;
}

SrvFormat
srv_moe_format (const SrvPrecisionSpec *precision)
{
  return (SrvFormat)(precision->moe.set ? precision->moe.v : precision->weights.v);
}

SrvFormat
srv_attention_format (const SrvPrecisionSpec *precision)
{
  return (SrvFormat)(precision->attention.set ? precision->attention.v : precision->weights.v);
}
