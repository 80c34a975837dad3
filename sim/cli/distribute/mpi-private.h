/* What a build with MPI and one without share. */
#ifndef CLI_MPI_PRIVATE_H
#define CLI_MPI_PRIVATE_H

#include "share-private.h"

/* --mpi, NULL: auto. FALSE and *error on another value. */
gboolean cli_ranks_read_flag (const Cli *cli, const char *flag, gboolean *wanted, GError **error);

#endif
