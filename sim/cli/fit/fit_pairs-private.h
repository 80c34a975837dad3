/* Slow parts, for `fit`. */
#ifndef CLI_FIT_PAIRS_PRIVATE_H
#define CLI_FIT_PAIRS_PRIVATE_H

#include "cli-private.h"

/* Judges the measurements in file or folder `path`. FALSE and *error on failure. */
gboolean cli_fit_pairs (Cli *cli, const char *path, GError **error);

#endif
