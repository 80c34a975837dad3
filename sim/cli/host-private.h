/* This run as calibrate/ sees it: where it finds clusters and files, and who hears its warnings. */
#ifndef CLI_HOST_PRIVATE_H
#define CLI_HOST_PRIVATE_H

#include "calibrate/host.h"
#include "cli-private.h"

/* Needs cli_lookup. Lives as long as `cli`. */
CalHost cli_host (Cli *cli);
/* FALSE and *error unless `folder` can have a systems.yaml. */
gboolean cli_measurements_folder (const Cli *cli, const char *folder, GError **error);

#endif
