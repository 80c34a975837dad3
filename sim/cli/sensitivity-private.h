/* What an answer hangs on: its constants changed one at a time. */
#ifndef CLI_SENSITIVITY_PRIVATE_H
#define CLI_SENSITIVITY_PRIVATE_H

#include "pictures-private.h"
#include "report/sensitivity.h"
#include "scenario-private.h"

G_BEGIN_DECLS

/* Up to which source constants are changed. */
typedef enum { CLI_HANGS_ASSUMED, CLI_HANGS_DATASHEET } CliHangs;
extern const BaseName cli_hangs_names[];

/* Runs a scenario again with each constant on which it depends a fifth less and a fifth more. `name` and `flags` are those of
 * cli_scenario_run, whose result is `run`. Returned: full; NULL and *error on failure. */
RepSensitivity *cli_sensitivity (Cli *cli, const char *name, const CliScenarioFlags *flags, CliHangs upto,
                                 const CliScenarioRun *run, GError **error);
/* The tornado of it. */
void cli_sensitivity_picture (GPtrArray *pictures, const RepSensitivity *sensitivity, const char *scenario);

G_END_DECLS

#endif
