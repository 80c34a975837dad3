/* The input pipeline of a step as the files see it that price, simulate and estimate it. */
#ifndef TRAINING_LOADER_PRIVATE_H
#define TRAINING_LOADER_PRIVATE_H

#include <math.h>

#include "model-private.h"
#include "storage/io_run.h"
#include "training/loader.h"

/* Batches of a reader that are simulated at most. */
#define TRN_MOST_BATCHES 8192u

/* One resource of the first node's ways. */
typedef struct {
  CluRes res;
  double here, all; /* bytes a byte of every reader: of the first node's readers, of all */
} TrnPipeLoad;

/* Each batch passes read, decode, pin, copy; what they take is in *out. */
typedef struct {
  const TrnJob *job;
  const TrnLoaderSpec *spec;
  const TrnResult *training;
  TrnLoaderResult *out;
  MdlTier tier;
  CluDev dev;
  GArray *homes;             /* StoIoHome */
  guint32 first;             /* node of the first */
  guint32 n_nodes, local, m; /* readers of a node; micro-batches */
  guint32 gpus;              /* that each of them feeds */
  double misses;
  GArray *loads;       /* TrnPipeLoad */
  GPtrArray *uses;     /* of each local reader: GArray of CluUse */
  double worker_Bps;   /* one worker alone */
  double servers_Bps;  /* all readers together */
  double core_s_per_B; /* of a read by way of the host */
  double gpu_decode_s; /* on the GPU */
  double before_s;     /* of the GPU before it computes a batch */
} TrnPipe;

/* trn_pipe_open() fills it, and what it takes is freed by trn_pipe_clear(), also on failure. */
void trn_pipe_clear (TrnPipe *pipe);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (TrnPipe, trn_pipe_clear)

/* The main process is one worker, whose batches wait for compute. */
static inline double
trn_pipe_workers (const TrnLoaderSpec *spec)
{
  return fmax (spec->workers.v, 1);
}
/* Of a node, for its workers; 0: not known. */
double trn_pipe_cores (const TrnPipe *pipe);

/* Whether so many micro-batches can be loaded for a step. FALSE and *error if there are too many. */
gboolean trn_loader_takes (const TrnLoaderSpec *spec, guint32 m, GError **error);
/* Who reads, and how much. `training` needs n_nodes, n_ranks, dp, cp, pp, tp, micro_batches and step_time_s; all is borrowed. FALSE
 * and *error on more micro-batches than a loader takes. */
gboolean trn_pipe_place (TrnPipe *pipe, const TrnJob *job, const TrnResult *training, TrnLoaderResult *out, GError **error);
/* The ways to its tier, and what that gives. FALSE and *error where none leads there. */
gboolean trn_pipe_open (TrnPipe *pipe, GError **error);
/* What each stage takes of a batch. */
gboolean trn_pipe_price (TrnPipe *pipe, GError **error);
/* loader_run.c: batch by batch beside compute of batch_s; fills stall_s, read_s and first_s of *out. */
gboolean trn_pipe_simulate (const TrnPipe *pipe, guint64 *n_events, GError **error);

/* ---- loader_pace.c: the same without the engine ---- */

/* What a step waits for is linear in these. */
typedef struct {
  double least_s;  /* between two batches, whatever compute takes */
  double before_s; /* of a GPU before it computes a batch */
  double behind_s; /* that a batch takes behind the compute of the one `ahead` before it */
  double ahead;
  double epoch_s;                    /* of each step: workers that begin anew with an epoch; per micro-batch */
  const char *by;                    /* static: "storage", "network", "workers" …: what least_s is of */
  const char *before_by, *behind_by; /* likewise */
  BaseSource source;
} TrnLoaderPace;

/* Paces of one job's layouts, each found once. Returned: full. */
typedef struct TrnLoaderPaces TrnLoaderPaces;
TrnLoaderPaces *trn_loader_paces_new (void);
void trn_loader_paces_free (TrnLoaderPaces *paces);
/* `training` as of trn_pipe_place(). Borrowed; NULL and *error likewise. */
const TrnLoaderPace *trn_loader_pace (TrnLoaderPaces *paces, const TrnJob *job, const TrnResult *training, GError **error);
/* What a step of `step_s` and m micro-batches waits, s. */
double trn_loader_pace_stall_s (const TrnLoaderPace *pace, double m, double step_s);
/* Which part sets the pace of micro-batches that are computed in `batch_s`: "storage" …, static. */
const char *trn_loader_pace_by (const TrnLoaderPace *pace, double batch_s);
/* Keys of a loader that have no closed form. FALSE and *error with the place and what to write instead. */
gboolean trn_loader_has_pace (const TrnLoaderSpec *spec, GError **error);

#endif
