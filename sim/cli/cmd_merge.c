/* forerun merge: the answer to a plan whose first stage was computed in parts (forerun plan --shard), or to a service whose
 * replicas were (forerun run --shard). The input is read again; of a plan the engine simulates the best few of all parts. The
 * answer is that of one process. */
#include <string.h>

#include "plan-private.h"
#include "run-private.h"

static gboolean
read_parts (const Cli *cli, char **words, GPtrArray *parts, GError **error)
{
  for (char **word = words; *word != NULL; word++) {
    CliPart *part = cli_part_read (cli, *word, error);
    if (part == NULL)
      return FALSE;
    g_ptr_array_add (parts, part);
    if (!cli_part_same (parts->pdata[0], part, error))
      return FALSE;
  }
  return TRUE;
}

/* Whether each part was given, once. */
static gboolean
check_numbers (const Cli *cli, const GPtrArray *parts, GError **error)
{
  guint of = cli_part_of (parts->pdata[0]);
  g_autofree const CliPart **by_number = g_new0 (const CliPart *, (gsize)of + 1);
  for (guint i = 0; i < parts->len; i++) {
    const CliPart *part = parts->pdata[i];
    guint number = cli_part_number (part);
    if (cli_part_of (part) != of)
      return cli_fail (cli, error, "'%s' is part %u of %u, but '%s' is part %u of %u; give parts of the same --shard I/N",
                       cli_part_path (parts->pdata[0]), cli_part_number (parts->pdata[0]), of, cli_part_path (part), number,
                       cli_part_of (part));
    if (by_number[number] != NULL)
      return cli_fail (cli, error, "part %u of %u was given twice: '%s' and '%s'; give each part once", number, of,
                       cli_part_path (by_number[number]), cli_part_path (part));
    by_number[number] = part;
  }
  g_autoptr (GString) missing = g_string_new (NULL);
  guint n = 0;
  for (guint i = 1; i <= of; i++)
    if (by_number[i] == NULL && ++n <= 10)
      g_string_append_printf (missing, "%s%u", n > 1 ? ", " : "", i);
  return n == 0 || cli_fail (cli, error, "%u of %u parts %s missing: %s%s; give all parts", n, of, n == 1 ? "is" : "are",
                             missing->str, n > 10 ? ", …" : "");
}

/* What parts say of their input replaces flags. */
static gboolean
take_origin (Cli *cli, const CliPart *part, GError **error)
{
  if (cli->sets != NULL || cli->seed_text != NULL)
    return cli_fail (cli, error, "%s is taken from the parts; leave it out", cli->sets != NULL ? "--set" : "--seed");
  cli->sets = g_strdupv ((char **)cli_part_sets (part));
  cli->seed = cli_part_seed (part);
  return TRUE;
}

static gboolean
take_parts (const Cli *cli, const GPtrArray *parts, PlnWork *work, GError **error)
{
  for (guint i = 0; i < parts->len; i++) {
    const CliPart *part = parts->pdata[i];
    guint open = pln_work_n_open (work);
    if (!cli_plan_part_take (part, work, error))
      return FALSE;
    guint its = pln_work_n_of_part (work, cli_part_number (part), cli_part_of (part));
    if (open - pln_work_n_open (work) != its)
      return cli_fail (cli, error,
                       "'%s' has %u of the %u pieces of its part, since it was interrupted; repeat its command with --resume",
                       cli_part_path (part), open - pln_work_n_open (work), its);
  }
  return TRUE;
}

/* No inputs of the answer, but not to be written over either. */
static void
keep (Cli *cli, char **words)
{
  for (char **word = words; *word != NULL; word++)
    g_ptr_array_add (cli->read, g_strdup (*word));
}

/* Parts of a service take none of a plan's flags. */
static gboolean
check_service (const Cli *cli, const CliPlanFlags *flags, GError **error)
{
  const struct {
    const char *flag;
    gboolean given;
  } of_plan[] = { { "--best", flags->search.best != NULL },
                  { "--per-machine", flags->search.per_machine },
                  { "--rows", flags->search.rows != NULL },
                  { "--threads", flags->search.threads != NULL },
                  { "--sensitivity", flags->sensitivity != NULL },
                  { "--plot", flags->plot != NULL },
                  { "--report", flags->report != NULL },
                  { "--measured", flags->measured != NULL },
                  { "-o F.xlsx", cli->workbook } };
  for (guint i = 0; i < G_N_ELEMENTS (of_plan); i++)
    if (of_plan[i].given)
      return cli_fail (cli, error, "%s is of a plan, and these are parts of a service; leave it out", of_plan[i].flag);
  return TRUE;
}

static gboolean
run (Cli *cli, const void *data, char **words, GError **error)
{
  const CliPlanFlags *flags = data;
  FrPlanCounts counts;
  if (words[0] == NULL)
    return cli_fail (cli, error, "which parts? the files that forerun plan or run --shard I/N wrote");
  if (!cli_plan_read_flags (cli, flags, &counts, error))
    return FALSE;
  g_autoptr (GPtrArray) parts = g_ptr_array_new_with_free_func ((GDestroyNotify)cli_part_free);
  if (!read_parts (cli, words, parts, error) || !check_numbers (cli, parts, error) || !take_origin (cli, parts->pdata[0], error))
    return FALSE;
  if (cli_part_is_run (parts->pdata[0])) {
    if (!check_service (cli, flags, error) || !cli_run_merge (cli, parts, error))
      return FALSE;
    keep (cli, words);
    return TRUE;
  }
  g_autofree char *path = NULL;
  g_autoptr (Pln) plan = cli_plan_load (cli, cli_part_word (parts->pdata[0]), &path, error);
  if (plan == NULL || !cli_plan_plot_check (cli, flags, plan, error) || !cli_part_check (cli, parts->pdata[0], error))
    return FALSE;
  keep (cli, words);
  g_autoptr (CliPlanWatch) watch = cli_plan_watch_new (cli, words[0], NULL, g_get_monotonic_time);
  const PlnWorkers workers = { .threads = (guint)counts.threads, .progress = cli_plan_watch_progress, .watch = watch };
  g_autoptr (PlnWork) work = pln_work_new (plan, &workers, error);
  if (work == NULL || !take_parts (cli, parts, work, error))
    return FALSE;
  const PlnQuery query = fr_plan_query (&flags->search, &counts, plan);
  g_autoptr (PlnResult) result = pln_work_search (work, &query, error);
  return cli_plan_watch_end (watch, work, result != NULL, error) &&
         cli_plan_answer (cli, flags, &counts, path, plan, result, error);
}

const CliVerb cli_verb_merge = {
  .name = "merge",
  .summary = "combine the parts that plan or run --shard wrote; the answer is that of one process",
  .usage = "PART.json... [flags]",
  .example = "forerun merge part*.json",
  .notes =
      "Run it where the plan or scenario has the same path as for the parts. Give every part exactly once. The parts must "
      "come from the same file, version and inputs; --set and --seed are taken from them. Of a plan, the engine then simulates "
      "the best few options.\n",
  .flags = { cli_plan_flags },
  .size = sizeof (CliPlanFlags),
  .formats = CLI_FORMAT_CSV,
  .has_workbook = TRUE,
  .run = run,
};
