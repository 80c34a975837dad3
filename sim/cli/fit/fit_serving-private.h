/* Runs of serving engines, for `fit`. */
#ifndef CLI_FIT_SERVING_PRIVATE_H
#define CLI_FIT_SERVING_PRIVATE_H

#include "cli-private.h"

/* Fits the engine of the scenario `scenario` to the runs in `words`; the calibration is named `name`; `report`: file of the
 * summary, NULL: stderr. FALSE and *error on failure. */
gboolean cli_fit_serving (Cli *cli, char **words, const char *scenario, const char *name, const char *report, GError **error);

#endif
