/* What the verbs of plans share: plan, which searches, and merge, which puts parts of a search together. */
#ifndef CLI_PLAN_PRIVATE_H
#define CLI_PLAN_PRIVATE_H

#include "api/plan.h"
#include "cli-private.h"
#include "plan/fleet.h"
#include "share-private.h"

/* ---- the answer (cmd_plan.c) ---- */

/* What may be asked of the answer, by plan as by merge. */
typedef struct {
  FrPlanFlags search;
  char *plot, *report, *sensitivity;
  char *measured; /* of plans for a service */
} CliPlanFlags;
extern const CliFlag cli_plan_flags[];

/* FALSE and *error where --plot has nothing to draw of this plan, whatever is found: asked before the search. */
gboolean cli_plan_plot_check (const Cli *cli, const CliPlanFlags *flags, const Pln *plan, GError **error);
/* Reads the counts and checks the rest; FALSE and *error where one is none. */
gboolean cli_plan_read_flags (Cli *cli, const CliPlanFlags *flags, FrPlanCounts *out, GError **error);
/* A plan by name or path, with the --set values; its inputs and warnings are the run's. *path: where it was found, full. Returned:
 * full; NULL and *error. */
Pln *cli_plan_load (Cli *cli, const char *word, char **path, GError **error);
/* The same of a path, and no more: no warnings, inputs are not taken. Returned: full; NULL and *error. */
Pln *cli_plan_read (Cli *cli, const char *path, GError **error);
/* What --set, --seed and stdin say of a plan. */
PlnOptions cli_plan_options (const Cli *cli);
/* Writes the answer. */
gboolean cli_plan_answer (Cli *cli, const CliPlanFlags *flags, const FrPlanCounts *counts, const char *path, const Pln *plan,
                          const PlnResult *result, GError **error);

/* An answer as a workbook. All is borrowed. */
typedef struct {
  const char *what; /* "plan buy_256_gpus, model llama3_70b" */
  const void *answer;
  void (*append_header) (const void *answer, GString *out);
  GString *(*make) (const void *answer, const char *header, GError **error); /* bytes; NULL and *error; returned: full */
} CliWorkbook;
/* Its bytes become the answer. FALSE and *error where it cannot be made. */
gboolean cli_plan_workbook (Cli *cli, const CliWorkbook *book, GError **error);

/* ---- plans of services (plan_fleet.c) ---- */

/* Searches and answers a plan for a service (pln_is_fleet). `other`: a flag of the verb that such plans do not take; NULL: none. */
gboolean cli_fleet_answer (Cli *cli, const CliPlanFlags *flags, const FrPlanCounts *counts, const char *path, const char *other,
                           GError **error);
/* Writes a row of its answer (text of its number, NULL: the first) as a deployment. */
gboolean cli_fleet_export (Cli *cli, const char *word, const char *row, PlnFleetDeployment kind, GError **error);
gboolean cli_fleet_check (Cli *cli, const char *path, GError **error); /* whether it can be read */

/* What a part's file says of a search becomes done. */
gboolean cli_plan_part_take (const CliPart *part, PlnWork *work, GError **error);
/* The document of what is done; `word`: the plan, as it was named. Returned: full. */
char *cli_plan_part_text (const Cli *cli, const char *word, const PlnWork *work);

/* ---- a run that may be interrupted and goes on later (plan_watch.c) ---- */

typedef struct CliPlanWatch CliPlanWatch;
/* `resume` NULL: no file is kept, and signals end the process as ever. Else SIGINT and SIGTERM wait from now on, for the watch to
 * be asked, and the file is written every 10 s or sooner, by the clock `now_us`. Progress is shown on stderr, without --quiet.
 * Returned: full. */
CliPlanWatch *cli_plan_watch_new (Cli *cli, const char *word, const char *resume, gint64 (*now_us) (void));
/* Signals are as they were. */
void cli_plan_watch_free (CliPlanWatch *watch);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CliPlanWatch, cli_plan_watch_free)
/* For PlnWorkers, with the watch as user. */
gboolean cli_plan_watch_stop (void *watch);
void cli_plan_watch_progress (void *watch, PlnWork *work, const PlnCount *count);
/* Goes on with what the file has, where there is one, and writes it. FALSE and *error where it is of another plan, or cannot be
 * written. */
gboolean cli_plan_watch_begin (CliPlanWatch *watch, PlnWork *work, GError **error);
/* The search has ended, `done` or not, then with *error: the file has what is done. Returned: done; FALSE and *error where it
 * cannot be written. Where a signal came, *error says so, and cli->signal is set. */
gboolean cli_plan_watch_end (CliPlanWatch *watch, PlnWork *work, gboolean done, GError **error);

/* For PlnWorkers on process 0, with the CliRanks as user. */
gboolean cli_plan_ranks (void *ranks, PlnWork *work, GError **error);
/* All processes but 0. */
void cli_plan_serve (CliRanks *ranks, Pln *plan);

#endif
