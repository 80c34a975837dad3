/* A training job's steps one after the other, beside other jobs: with the samples that it reads and the state that it saves. */
#ifndef WORKLOAD_ROUNDS_PRIVATE_H
#define WORKLOAD_ROUNDS_PRIVATE_H

#include "workload/io_run.h"
#include "workload/training.h"

typedef struct WrkRounds WrkRounds;

/* `alone`: the job's own answer, whose loader and checkpoint say what is read and saved; borrowed like the job and the
 * network. Starts the first of `steps`; the others follow while the engine runs. Returned: full; NULL and *error. */
WrkRounds *wrk_rounds_start (const WrkTrainingJob *job, const WrkTrainingResult *training, guint steps, WrkNet *net,
                             GError **error);
/* Once the engine has run: *time_s until the last step and what it stood still for. FALSE and *error where a step could not be
 * begun. */
gboolean wrk_rounds_take (const WrkRounds *rounds, WrkRoundsResult *out, double *time_s, GError **error);
void wrk_rounds_free (WrkRounds *rounds);

/* Reads of one step, of all readers, as one thing; *out NULL where nothing is read. FALSE and *error where no way leads there. */
gboolean wrk_loader_reads (const WrkTrainingJob *job, const WrkTrainingResult *training, WrkIoRun **out, GError **error);
/* What a step's samples take at least by what no other job shares: workers, cores, copies, with `engine` the GPU's decoder; s. */
double wrk_loader_least_s (const WrkLoaderResult *loader, gboolean engine);
/* Writes of one checkpoint, of all writers. Returned: full; NULL and *error. */
WrkIoRun *wrk_checkpoint_writes (const WrkTrainingJob *job, const WrkCheckpointResult *price, GError **error);

#endif
