/* Loading and running a scenario, for `run` and `explain`. */
#ifndef CLI_SCENARIO_PRIVATE_H
#define CLI_SCENARIO_PRIVATE_H

#include "cli-private.h"
#include "workload/scenario.h"

G_BEGIN_DECLS

typedef struct {
  WrkScenario *scenario;
  WrkResult *result;
  gboolean no_fold; /* asked for before the run; the rest is made by it */
} CliScenarioRun;

/* `name`: a path, "-" for stdin, or a shipped scenario's name. `mode`, `steps`: texts of flags or NULL. Initialise *run with
 * zeroes, but for what is asked. */
gboolean cli_scenario_run (Cli *cli, const char *name, const char *mode, const char *steps, gboolean want_spans,
                           CliScenarioRun *run, GError **error);
void cli_scenario_run_clear (CliScenarioRun *run);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CliScenarioRun, cli_scenario_run_clear)

/* Loads and checks without running. */
WrkScenario *cli_scenario_load (Cli *cli, const char *path, const WrkScenarioOptions *options, GError **error);

void cli_scenario_header (const Cli *cli, const CliScenarioRun *run, const RepEnvelope *envelope, GString *out);

G_END_DECLS

#endif
