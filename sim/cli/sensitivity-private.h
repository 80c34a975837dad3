/* What an answer hangs on: its constants changed one at a time. */
#ifndef CLI_SENSITIVITY_PRIVATE_H
#define CLI_SENSITIVITY_PRIVATE_H

#include "report/sensitivity.h"
#include "scenario-private.h"

G_BEGIN_DECLS

/* Up to which source constants are changed. */
typedef enum { CLI_HANGS_ASSUMED, CLI_HANGS_DATASHEET } CliHangs;
extern const BaseName cli_hangs_names[];

/* What is compared: figures, the first of which is the answer, and what comes first where things are ranked. */
typedef struct {
  GArray *values; /* double; owned. NULL: it could not run */
  char *first;    /* owned; NULL: nothing is ranked */
} CliHangsAnswer;

/* How to ask again: `again` fills *answer, whose values are empty. `whole`: over everything, where a search among a few had another
 * one first. FALSE and *error: it cannot run so. Called by many threads at once. */
typedef struct {
  gboolean (*again) (const void *question, gboolean whole, BaseWatch *watch, CliHangsAnswer *answer, GError **error);
  const void *question;
} CliHangsAsk;

/* Asks again with each constant on which the answer depends a fifth less and a fifth more. `path`: the question's file, whose own
 * numbers count where they are assumed. Returned: full; NULL and *error on failure. */
RepSensitivity *cli_sensitivity_of (const Cli *cli, const CliHangsAsk *ask, CliHangs upto, const char *path, GError **error);
/* For `again`: what the command line asked, with a watch on what is read. Returned: full; NULL and *error on failure. */
Cli *cli_sensitivity_cli (const Cli *cli, BaseWatch *watch, GError **error);
/* Runs a scenario again with each constant on which it depends a fifth less and a fifth more. `name` and `flags` are those of
 * cli_scenario_run, whose result is `run`. Returned: full; NULL and *error on failure. */
RepSensitivity *cli_sensitivity (Cli *cli, const char *name, const CliScenarioFlags *flags, CliHangs upto,
                                 const CliScenarioRun *run, GError **error);

G_END_DECLS

#endif
