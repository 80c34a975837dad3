/* A plan as it is asked: its file or text, what is changed of it, and how much is searched and shown. */
#include "api/plan.h"
#include "api-private.h"
#include "api/values.h"
#include "constants/store.h"
#include "report/plan.h"

struct FrPlan {
  FrFile file;
  FrPlanFlags flags;
  char *seed;
  GPtrArray *words; /* char *: flags that ask the program for the same */
};

static const FrOption options[] = {
  { "best", offsetof (FrPlan, flags.best), FALSE, FALSE },
  { "rows", offsetof (FrPlan, flags.rows), FALSE, FALSE },
  { "threads", offsetof (FrPlan, flags.threads), FALSE, FALSE },
  { "per-machine", offsetof (FrPlan, flags.per_machine), FALSE, TRUE },
  { "seed", offsetof (FrPlan, seed), FALSE, FALSE },
  { NULL, 0, FALSE, FALSE },
};

/* ---- what the verbs share ---- */

#define MOST_BEST 100

char *
fr_plan_path (const BaseLookup *lookup, const char *name, GError **error)
{
  return base_lookup_find (lookup, name, "scenarios/plans", NULL, error);
}

gboolean
fr_plan_counts (const char *verb, const FrPlanFlags *flags, guint rows, FrPlanCounts *out, GError **error)
{
  *out = (FrPlanCounts){ .best = 3, .rows = rows, .threads = g_get_num_processors () };
  return fr_count_value (verb, "--best", flags->best, 0, MOST_BEST, &out->best, error) &&
         fr_count_value (verb, "--rows", flags->rows, 1, 100000, &out->rows, error) &&
         fr_count_value (verb, "--threads", flags->threads, 1, 1024, &out->threads, error);
}

PlnQuery
fr_plan_query (const FrPlanFlags *flags, const FrPlanCounts *counts, const Pln *plan)
{
  const guint machines = pln_machines (plan)->len;
  return (PlnQuery){ .threads = (guint)counts->threads,
                     .best = flags->per_machine && flags->best == NULL ? MIN (machines, MOST_BEST) : (guint)counts->best,
                     .per_machine = flags->per_machine };
}

/* ---- the handle ---- */

static FrPlan *
plan_new (void)
{
  FrPlan *plan = g_new0 (FrPlan, 1);
  plan->words = g_ptr_array_new_with_free_func (g_free);
  return plan;
}

static void
plan_drop (FrPlan *plan)
{
  fr_options_clear (options, plan);
  g_ptr_array_unref (plan->words);
  g_free (plan);
}

FrPlan *
fr_plan_load (FrSession *session, const char *name, FrError **error)
{
  FrPlan *plan = plan_new ();
  if (fr_file_load (&plan->file, session, name, fr_plan_path, error))
    return plan;
  plan_drop (plan);
  return NULL;
}

FrPlan *
fr_plan_parse (FrSession *session, const char *text, FrError **error)
{
  FrPlan *plan = plan_new ();
  if (fr_file_parse (&plan->file, session, text, error))
    return plan;
  plan_drop (plan);
  return NULL;
}

void
fr_plan_free (FrPlan *plan)
{
  if (plan == NULL)
    return;
  fr_file_clear (&plan->file);
  plan_drop (plan);
}

bool
fr_plan_set (FrPlan *plan, const char *path, const char *value, FrError **error)
{
  return plan != NULL ? fr_sets_add (plan->file.sets, path, value, error) : fr_fail (error, "a plan is needed");
}

bool
fr_plan_option (FrPlan *plan, const char *name, const char *value, FrError **error)
{
  return plan != NULL ? fr_option_set (options, plan, plan->words, name, value, error) : fr_fail (error, "a plan is needed");
}

/* ---- a run ---- */

typedef struct {
  const Pln *plan;
  const PlnResult *result;
  guint rows;
} Answer;

static void
write_results (const void *of, JsonBuilder *json)
{
  const Answer *answer = of;
  json_builder_begin_object (json);
  rep_plan_json (answer->plan, answer->result, answer->rows, json);
  json_builder_end_object (json);
}

static FrResult *
run (const FrPlan *asked, GError **error)
{
  const FrFile *file = &asked->file;
  FrPlanCounts counts;
  guint64 seed = 1;
  if (!fr_plan_counts (NULL, &asked->flags, 10, &counts, error) ||
      !fr_count_value (NULL, "--seed", asked->seed, 0, G_MAXINT64, &seed, error))
    return NULL;
  const PlnOptions how = { .text = file->text, .sets = (const char *const *)file->sets->pdata, .has_seed = TRUE, .seed = seed };
  g_auto (CstStore) constants = { .lookup = file->session->lookup };
  g_autoptr (Pln) plan = pln_load (file->path, file->session->lookup, &how, cst_store_share, &constants, error);
  if (plan == NULL)
    return NULL;
  const PlnQuery query = fr_plan_query (&asked->flags, &counts, plan);
  g_autoptr (PlnResult) result = pln_search (plan, &query, error);
  if (result == NULL)
    return NULL;
  const Answer answer = { plan, result, (guint)counts.rows };
  return fr_result_new (&(FrAnswer){ .session = file->session,
                                     .verb = "plan",
                                     .word = file->name,
                                     .flags = asked->words,
                                     .sets = file->sets,
                                     .seed = seed,
                                     .inputs = pln_inputs (plan),
                                     .diag = pln_warnings (plan),
                                     .write = write_results,
                                     .of = &answer });
}

FrResult *
fr_plan_run (FrPlan *plan, FrError **error)
{
  if (plan == NULL) {
    fr_fail (error, "a plan is needed");
    return NULL;
  }
  GError *why = NULL;
  FrResult *result = run (plan, &why);
  if (result == NULL)
    fr_error_take (error, why);
  return result;
}
