/* A service whose replicas threads, processes or machines share: what run and merge have in common. */
#ifndef CLI_RUN_PRIVATE_H
#define CLI_RUN_PRIVATE_H

#include "scenario-private.h"
#include "scenario/pieces.h"
#include "share-private.h"

/* ---- sharing (distribute/run_share.c) ---- */

/* Texts of flags; NULL where they were not given. */
typedef struct {
  const char *shard, *mpi, *threads;
  const char *whole; /* a flag that needs the whole run in one process; NULL: none */
  const char *other; /* a flag that goes with no part; NULL: none */
} CliServiceFlags;

/* Computes what of a scenario is shared. *pieces: what scn_run() of it answers from then, full; NULL: nothing is shared. *answered:
 * this process has no more to say: it wrote a part, or process 0 answers. FALSE and *error on failure, and where flags ask for
 * parts of what cannot be shared. `word`: the scenario, as it was named. */
gboolean cli_service_share (Cli *cli, const CliServiceFlags *flags, const char *word, Scn *scenario, ScnPieces **pieces,
                            gboolean *answered, GError **error);
/* What these parts (CliPart *) have becomes done. FALSE and *error where one has none. */
gboolean cli_service_take (const GPtrArray *parts, ScnPieces *pieces, GError **error);

/* ---- the answer (cmd_run.c) ---- */

/* Answers from all parts of a service. */
gboolean cli_run_merge (Cli *cli, const GPtrArray *parts, GError **error);

#endif
