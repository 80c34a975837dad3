/* A plan's search as work that is shared. */
#include "plan-private.h"

/* ---- in files ---- */

static void
build (const void *done, JsonBuilder *json)
{
  pln_work_build (done, json);
}

gboolean
cli_plan_part_take (const CliPart *part, PlnWork *work, GError **error)
{
  return pln_work_read (work, cli_part_json (part), cli_part_results (part), error);
}

char *
cli_plan_part_text (const Cli *cli, const char *word, const PlnWork *work)
{
  return cli_part_text (cli, word, FALSE, build, work);
}

/* ---- by processes ---- */

static gboolean
next (void *work, guint32 in_hand, PlnTask *task)
{
  return pln_work_next (work, in_hand, task);
}

static gboolean
put (void *work, const PlnTask *task, const void *reply, gsize n_B, GError **error)
{
  return pln_work_put (work, task, reply, n_B, error);
}

static void
fail (void *work, const PlnTask *task, GError *error)
{
  pln_work_fail (work, task, error);
}

static gboolean
stopped (void *work)
{
  return pln_work_stopped (work);
}

static GBytes *
act (void *worker, const PlnTask *task, GError **error)
{
  return pln_worker_do (worker, task, error);
}

gboolean
cli_plan_ranks (void *ranks, PlnWork *work, GError **error)
{
  g_autoptr (PlnWorker) worker = pln_worker_new (pln_work_plan (work));
  const CliCrew crew = { work, next, put, fail, stopped, worker, act };
  return cli_ranks_share (ranks, &crew, error);
}

void
cli_plan_serve (CliRanks *ranks, Pln *plan)
{
  g_autoptr (PlnWorker) worker = pln_worker_new (plan);
  const CliCrew crew = { .worker = worker, .act = act };
  cli_ranks_serve (ranks, &crew);
}
