/* Loading and running a scenario, for `run` and `explain`. */
#ifndef CLI_SCENARIO_PRIVATE_H
#define CLI_SCENARIO_PRIVATE_H

#include "cli-private.h"
#include "study/goodput.h"

typedef struct {
  char *path;         /* owned: the file */
  ScnOptions options; /* that it was loaded with; sets are the command line's */
  StdLoaded *loaded;  /* owned */
  Scn *scenario;      /* of it */
  ScnResult *result;
} CliScenarioRun;

/* How a scenario is run: texts of flags, NULL where they were not given. */
typedef struct {
  const char *mode, *steps;
  gboolean no_interference, want_spans, want_terms, no_fold;
  gboolean switches_follow; /* as of CluLoadOptions */
  gboolean quiet_trace;     /* not a word on what its trace leaves out: it is drawn from, not written */
} CliScenarioFlags;

/* As cli_scenario_run, without the run: run->result stays NULL. */
gboolean cli_scenario_open (Cli *cli, const char *name, const CliScenarioFlags *flags, CliScenarioRun *run, GError **error);
/* `name`: a path, "-" for stdin, or a shipped scenario's name. Initialise *run with zeroes. */
gboolean cli_scenario_run (Cli *cli, const char *name, const CliScenarioFlags *flags, CliScenarioRun *run, GError **error);
/* The run of a scenario that is open. */
gboolean cli_scenario_play (Cli *cli, const CliScenarioFlags *flags, CliScenarioRun *run, GError **error);
void cli_scenario_run_clear (CliScenarioRun *run);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CliScenarioRun, cli_scenario_run_clear)

/* Loads and checks without running. */
StdLoaded *cli_scenario_load (Cli *cli, const char *path, const ScnOptions *options, GError **error);

/* The same scenario, to be run again; borrows from both. */
StdQuestion cli_scenario_question (const Cli *cli, const CliScenarioRun *run);
/* Whether it was read from stdin, which can be read only once. */
gboolean cli_scenario_is_stdin (const CliScenarioRun *run);
/* What failures leave of it; warns of what the answer does not count. Returned: full, free before the run; NULL and *error. */
Gdp *cli_goodput (Cli *cli, const CliScenarioRun *run, GError **error);

/* The answer in sentences, and whose efficiency a training step has. */
void cli_scenario_answer (const CliScenarioRun *run, GString *out);
void cli_scenario_header (const CliScenarioRun *run, const RepEnvelope *envelope, GString *out);

#endif
