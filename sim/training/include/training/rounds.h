/* A training job's steps one after the other, beside other jobs: with the samples that it reads and the state that it saves. */
#ifndef TRAINING_ROUNDS_H
#define TRAINING_ROUNDS_H

#include "storage/io_run.h"
#include "training/training.h"

typedef struct TrnRounds TrnRounds;

/* What a job did when, s from the begin of all. */
typedef struct {
  const char *what; /* static: "step", "wait for samples", "checkpoint", "drain" */
  guint step;       /* from 1 */
  double start_s, end_s;
} TrnRoundSpan;

/* `alone`: the job's own answer, whose loader and checkpoint say what is read and saved; borrowed like the job and the
 * network. Starts the first of `steps`; the others follow while the engine runs. Returned: full; NULL and *error. */
TrnRounds *trn_rounds_start (const TrnJob *job, const TrnResult *training, guint steps, ColNet *net, GError **error);
/* Once the engine has run: *time_s until the last step and what it stood still for. FALSE and *error where a step could not be
 * begun. */
gboolean trn_rounds_take (const TrnRounds *rounds, TrnRoundsResult *out, double *time_s, GError **error);
/* TrnRoundSpan, as they ended. Borrowed. */
const GArray *trn_rounds_spans (const TrnRounds *rounds);
void trn_rounds_free (TrnRounds *rounds);

/* Reads of one step, of all readers, as one thing; *out NULL where nothing is read. FALSE and *error where no way leads there. */
gboolean trn_loader_reads (const TrnJob *job, const TrnResult *training, StoIoRun **out, GError **error);
/* What a step's samples take at least by what no other job shares: workers, cores, copies, with `engine` the GPU's decoder; s. */
double trn_loader_least_s (const TrnLoaderResult *loader, gboolean engine);
/* Writes of one checkpoint, of all writers. Returned: full; NULL and *error. */
StoIoRun *trn_checkpoint_writes (const TrnJob *job, const TrnCheckpointResult *price, GError **error);

#endif
