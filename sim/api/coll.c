/* A collective by message size, without a file. */
#include "api/coll.h"
#include "api-private.h"
#include "api/values.h"
#include "base/yaml.h"
#include "constants/store.h"
#include "report/coll.h"
#include "report/compare.h"

struct FrColl {
  FrSession *session; /* owned reference */
  char *op;
  FrCollFlags flags; /* texts that options fill */
  GPtrArray *nccl;   /* NULL: none */
  char *seed;
  GPtrArray *words; /* char *: flags that ask the program for the same */
  GPtrArray *sets;
};

#define OPTION(name, field)                      \
  {                                              \
    name, offsetof (FrColl, field), FALSE, FALSE \
  }
static const FrOption options[] = {
  OPTION ("topology", flags.topology),
  OPTION ("nodes", flags.nodes),
  OPTION ("gpus", flags.gpus),
  OPTION ("minbytes", flags.min),
  OPTION ("maxbytes", flags.max),
  OPTION ("stepfactor", flags.factor),
  OPTION ("stepbytes", flags.step),
  OPTION ("dtype", flags.dtype),
  OPTION ("root", flags.root),
  OPTION ("algo", flags.algo),
  OPTION ("proto", flags.proto),
  OPTION ("disable", flags.disable),
  OPTION ("max-channels", flags.max_channels),
  { "nccl", offsetof (FrColl, nccl), TRUE, FALSE },
  OPTION ("nccl-env", flags.nccl_env),
  OPTION ("one-shot", flags.one_shot),
  OPTION ("buffers", flags.buffers),
  OPTION ("iters", flags.iters),
  OPTION ("library", flags.library),
  OPTION ("calibration", flags.calibration),
  OPTION ("launch", flags.launch),
  OPTION ("mode", flags.mode),
  OPTION ("steps", flags.steps),
  OPTION ("seed", seed),
  { NULL, 0, FALSE, FALSE },
};

FrColl *
fr_coll_new (FrSession *session, const char *op, const char *topology, FrError **error)
{
  if (session == NULL || op == NULL || topology == NULL) {
    fr_fail (error, "a session, an operation and a topology are needed");
    return NULL;
  }
  FrColl *coll = g_new0 (FrColl, 1);
  coll->session = fr_session_ref (session);
  coll->op = g_strdup (op);
  coll->words = g_ptr_array_new_with_free_func (g_free);
  coll->sets = fr_sets_new ();
  fr_coll_option (coll, "topology", topology, NULL);
  return coll;
}

void
fr_coll_free (FrColl *coll)
{
  if (coll == NULL)
    return;
  fr_options_clear (options, coll);
  g_ptr_array_unref (coll->sets);
  g_ptr_array_unref (coll->words);
  g_free (coll->op);
  fr_session_free (coll->session);
  g_free (coll);
}

bool
fr_coll_set (FrColl *coll, const char *path, const char *value, FrError **error)
{
  return coll != NULL ? fr_sets_add (coll->sets, path, value, error) : fr_fail (error, "a collective is needed");
}

bool
fr_coll_option (FrColl *coll, const char *name, const char *value, FrError **error)
{
  return coll != NULL ? fr_option_set (options, coll, coll->words, name, value, error) : fr_fail (error, "a collective is needed");
}

/* ---- a run ---- */

/* What a run gathers. */
typedef struct {
  CstStore constants;
  FrCollQuery query;
  ScnSizes sizes;
  ScnHost host;
} Run;

static void
run_clear (Run *run)
{
  fr_coll_query_clear (&run->query);
  cst_store_clear (&run->constants);
  g_ptr_array_unref (run->host.inputs);
  g_ptr_array_unref (run->host.warnings);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Run, run_clear)

static bool
begin (const FrColl *coll, Run *run, gboolean (*read) (const FrCollFlags *, const char *, FrCollQuery *, GError **), GError **error)
{
  run->constants.lookup = coll->session->lookup;
  run->host = (ScnHost){ .lookup = coll->session->lookup,
                         .load = cst_store_share,
                         .user = &run->constants,
                         .inputs = g_ptr_array_new_with_free_func ((GDestroyNotify)base_yaml_free),
                         .warnings = g_ptr_array_new_with_free_func (g_free) };
  FrCollFlags flags = coll->flags;
  flags.nccl = coll->nccl != NULL ? (char **)coll->nccl->pdata : NULL;
  flags.sets = (const char *const *)coll->sets->pdata;
  flags.seed = 1;
  return fr_count_value (NULL, "--seed", coll->seed, 0, G_MAXINT64, &flags.seed, error) &&
         read (&flags, coll->op, &run->query, error) &&
         fr_sizes_read (&flags, mdl_dtype_size_B (run->query.dtype), &run->sizes, error);
}

static FrResult *
finish (const FrColl *coll, const Run *run, const char *verb, void (*write) (const void *of, JsonBuilder *json), const void *of)
{
  return fr_result_new (&(FrAnswer){ .session = coll->session,
                                     .verb = verb,
                                     .word = coll->op,
                                     .flags = coll->words,
                                     .sets = coll->sets,
                                     .seed = run->query.settings.seed,
                                     .inputs = run->host.inputs,
                                     .warnings = run->host.warnings,
                                     .write = write,
                                     .of = of });
}

static void
add_row (void *table, const ColAnswer *coll, guint size, guint n_sizes)
{
  (void)size, (void)n_sizes;
  base_members_add (table, rep_coll_row_members, coll);
}

static void
write_table (const void *table, JsonBuilder *json)
{
  base_table_build_json (table, json);
}

FrResult *
fr_coll_run (FrColl *coll, FrError **error)
{
  if (coll == NULL) {
    fr_fail (error, "a collective is needed");
    return NULL;
  }
  GError *why = NULL;
  g_auto (Run) run = { 0 };
  g_autoptr (BaseTable) table = base_members_table (rep_coll_row_members, NULL);
  if (!begin (coll, &run, fr_coll_read, &why)) {
    fr_error_take (error, why);
    return NULL;
  }
  run.query.settings.terse = TRUE;
  if (!fr_coll_price (&run.host, &run.query, &run.sizes, &(FrCollSink){ .user = table, .row = add_row }, &why)) {
    fr_error_take (error, why);
    return NULL;
  }
  return finish (coll, &run, "coll", write_table, table);
}

FrResult *
fr_coll_compare (FrColl *coll, FrError **error)
{
  if (coll == NULL) {
    fr_fail (error, "a collective is needed");
    return NULL;
  }
  GError *why = NULL;
  g_auto (Run) run = { 0 };
  g_autoptr (StdCompare) compare =
      begin (coll, &run, fr_compare_read, &why)
          ? fr_coll_compare_all (&run.host, &run.query, &run.sizes, &(FrCollSink){ .user = NULL }, &why)
          : NULL;
  if (compare == NULL) {
    fr_error_take (error, why);
    return NULL;
  }
  g_autoptr (GPtrArray) left_out = fr_compare_warnings (compare);
  for (guint i = 0; i < left_out->len; i++)
    g_ptr_array_add (run.host.warnings, g_strdup (left_out->pdata[i]));
  g_autoptr (BaseTable) table = rep_compare_table (compare);
  return finish (coll, &run, "compare", write_table, table);
}
