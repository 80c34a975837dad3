/* forerun ratio: what its two parts, of training steps and of services, share. */
#ifndef CLI_RATIO_PRIVATE_H
#define CLI_RATIO_PRIVATE_H

#include "scenario-private.h"
#include "scenario/serving.h"

typedef struct {
  char *nodes, *batch, *load, *rate, *ratio, *waits, *mode, *plot;
  gboolean no_check;
} CliRatioFlags;

/* The texts between commas; one without a unit has that of the next that has one. Returned: full; NULL and *error. */
GPtrArray *cli_ratio_list (const Cli *cli, const char *flag, const char *text, gboolean units, GError **error);
/* Appends the value; FALSE and *error: it is there already. */
gboolean cli_ratio_add (const Cli *cli, const char *flag, const char *text, GArray *values, double value, GError **error);
/* Whole numbers from 1 to `most`, and rates of adapters, appended to `out` (double). */
gboolean cli_ratio_counts (const Cli *cli, const char *flag, const char *text, guint64 most, GArray *out, GError **error);
gboolean cli_ratio_rates (const Cli *cli, const char *text, GArray *out, GError **error);
/* A ratio; `text` NULL leaves *out. */
gboolean cli_ratio_limit (const Cli *cli, const char *flag, const char *text, double least, double most, double *out,
                          GError **error);

/* FALSE and *error: more points than are run, of lists of values. */
gboolean cli_ratio_check_points (const Cli *cli, const GArray *nodes, const GArray *loads, const GArray *rates, GError **error);

/* The answer of a serving scenario. */
gboolean cli_ratio_fabric (Cli *cli, const CliRatioFlags *flags, const CliScenarioRun *base, GError **error);

#endif
