/* What verbs have in common whose work is shared: by parts of a job array, whose files forerun merge puts together, and by
 * processes that MPI joins. */
#ifndef CLI_SHARE_PRIVATE_H
#define CLI_SHARE_PRIVATE_H

#include "base/json.h"
#include "cli-private.h"
#include "plan/work.h"

/* ---- what is done of it, in a file (distribute/part.c) ---- */

typedef struct CliPart CliPart;
/* Reads what cli_part_text has written. NULL and *error (BASE_ERROR_INPUT) on anything else, and on another version's. Returned:
 * full. */
CliPart *cli_part_read (const Cli *cli, const char *path, GError **error);
void cli_part_free (CliPart *part);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CliPart, cli_part_free)
const char *cli_part_path (const CliPart *part);
gboolean cli_part_is_run (const CliPart *part);         /* of forerun run, not of a plan */
const char *cli_part_word (const CliPart *part);        /* the plan or scenario, as it was named */
const char *const *cli_part_sets (const CliPart *part); /* --set values; ends with NULL */
guint64 cli_part_seed (const CliPart *part);
guint cli_part_number (const CliPart *part); /* from 1 */
guint cli_part_of (const CliPart *part);
/* FALSE and *error where two are not of the same plan or scenario: `a` was read, and `b` too. */
gboolean cli_part_same (const CliPart *a, const CliPart *b, GError **error);
/* The same of what this run has read, once that is loaded. */
gboolean cli_part_check (const Cli *cli, const CliPart *part, GError **error);
const BaseJson *cli_part_json (const CliPart *part);
JsonObject *cli_part_results (const CliPart *part); /* that stand beside what cli_part_text writes itself */
/* The document of what is done of `word`, of forerun run (`is_run`) or of a plan; `build` adds members of what is done. Returned:
 * full. */
char *cli_part_text (const Cli *cli, const char *word, gboolean is_run, void (*build) (const void *done, JsonBuilder *json),
                     const void *done);

/* "2/8" of --shard: part *part, from 1, of *of; both 0 where `flag` is NULL. FALSE and *error on anything else. */
gboolean cli_shard_read (const Cli *cli, const char *flag, guint *part, guint *of, GError **error);

/* ---- processes that MPI joins (mpi.c, or mpi_none.c in a build without) ---- */

/* Work in tasks, which are plain values that processes of the same program send each other. Of a task that is no plan's, `number`
 * says all. */
typedef struct {
  /* On process 0: as pln_work_next, pln_work_put, pln_work_fail and pln_work_stopped. */
  void *work;
  gboolean (*next) (void *work, guint32 in_hand, PlnTask *task);
  gboolean (*put) (void *work, const PlnTask *task, const void *reply, gsize n_B, GError **error);
  void (*fail) (void *work, const PlnTask *task, GError *error);
  gboolean (*stopped) (void *work);
  /* On all: as pln_worker_do. */
  void *worker;
  GBytes *(*act) (void *worker, const PlnTask *task, GError **error);
} CliCrew;

typedef struct CliRanks CliRanks;
/* Whether this process was started beside others: `flag` is --mpi, NULL or auto: what mpirun and srun leave in the environment
 * says. FALSE and *error on another value, and where MPI is wanted and the build has none. */
gboolean cli_ranks_wanted (const Cli *cli, const char *flag, gboolean *wanted, GError **error);
/* Begins MPI, once a program; ended when `cli` is freed, with its exit status. NULL and *error on failure. Borrowed. */
CliRanks *cli_ranks_open (Cli *cli, GError **error);
guint cli_ranks_self (const CliRanks *ranks);
guint cli_ranks_n (const CliRanks *ranks);
/* All call it, once they have `read` what is asked, or not, and why. TRUE: all have read the same. FALSE on all else; process 0
 * has *error, and the others keep silent. */
gboolean cli_ranks_agree (CliRanks *ranks, Cli *cli, gboolean read, GError **why, GError **error);
/* All processes but 0: do what process 0 hands out, until it has no more. */
void cli_ranks_serve (CliRanks *ranks, const CliCrew *crew);
/* On process 0: hands out the crew's work, takes part in it, and returns when there is no more. FALSE and *error on a reply that is
 * none. */
gboolean cli_ranks_share (CliRanks *ranks, const CliCrew *crew, GError **error);

#endif
