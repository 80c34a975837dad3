/* Communicators by shape. */
#include "nccl_run.h"

#include <stdio.h>
#include <string.h>

bool
nccl_ok (NcclWorker *worker, ncclResult_t result, const char *what)
{
  if (result == ncclSuccess)
    return true;
  const char *more = ncclGetLastError (NULL);
  snprintf (worker->error, sizeof worker->error, "%s: %s%s%.300s", what, ncclGetErrorString (result),
            more != NULL && *more != '\0' ? ": " : "", more != NULL ? more : "");
  return false;
}

static void
close_set (NcclSet *set)
{
  for (unsigned i = 0; i < set->local; i++)
    if (set->comm[i] != NULL)
      ncclCommDestroy (set->comm[i]);
  memset (set, 0, sizeof *set);
}

/* The one longest not used; a free one if there is one. */
static NcclSet *
oldest_set (NcclWorker *worker, bool free_too)
{
  NcclSet *oldest = NULL;
  for (unsigned i = 0; i < NCCL_SETS_MOST; i++) {
    NcclSet *set = &worker->set[i];
    if ((free_too || set->nodes > 0) && (oldest == NULL || set->used < oldest->used))
      oldest = set;
  }
  return oldest;
}

/* In the order of their last use, which is the same in all processes: taking one apart may wait for its other ranks. */
void
nccl_close_sets (NcclWorker *worker)
{
  for (NcclSet *set = oldest_set (worker, false); set != NULL; set = oldest_set (worker, false))
    close_set (set);
}

static NcclSet *
find_set (NcclWorker *worker, unsigned nodes, unsigned gpus, unsigned channels)
{
  for (unsigned i = 0; i < NCCL_SETS_MOST; i++) {
    NcclSet *set = &worker->set[i];
    if (set->nodes == nodes && set->gpus == gpus && set->channels == channels)
      return set;
  }
  return NULL;
}

/* Least and most CTAs of a communicator bound its channels as NCCL_MIN_NCHANNELS and NCCL_MAX_NCHANNELS do (NVIDIA/nccl
 * src/graph/connect.cc:ncclTopoPostset), but hold for it alone. */
static bool
open_set (NcclWorker *worker, NcclSet *set, const ncclUniqueId *id)
{
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  int n = (int)(set->nodes * set->gpus);
  if (set->channels > 0)
    config.minCTAs = config.maxCTAs = (int)set->channels;
  if (!nccl_ok (worker, ncclGroupStart (), "ncclGroupStart"))
    return false;
  bool ok = true;
  for (unsigned i = 0; i < set->local && ok; i++) {
    ok = PROBE_CUDA (cudaSetDevice (worker->device[i]));
    if (!ok) {
      snprintf (worker->error, sizeof worker->error, "%s", probe_cuda_error ());
      break;
    }
    int rank = (int)(set->first + i);
    ncclResult_t result = set->channels > 0 ? ncclCommInitRankConfig (&set->comm[i], n, *id, rank, &config)
                                            : ncclCommInitRank (&set->comm[i], n, *id, rank);
    ok = nccl_ok (worker, result, "ncclCommInitRank");
  }
  ncclResult_t end = ncclGroupEnd (); /* also after an error: the group must not stay open */
  return ok && nccl_ok (worker, end, "making communicators");
}

static NcclSet *
add_set (NcclWorker *worker, const NcclSet *wanted, const ncclUniqueId *id)
{
  NcclSet *set = oldest_set (worker, true);
  close_set (set);
  *set = *wanted;
  if (!open_set (worker, set, id)) {
    memset (set, 0, sizeof *set); /* what is half made hangs whoever takes it apart */
    return NULL;
  }
  set->used = ++worker->clock;
  worker->alive ();
  return set;
}

NcclSet *
nccl_get_set (NcclWorker *worker, unsigned nodes, unsigned gpus, unsigned channels)
{
  NcclSet *set = find_set (worker, nodes, gpus, channels);
  ncclUniqueId id;
  if (set != NULL) {
    set->used = ++worker->clock;
    return set;
  }
  if (!worker->alone || nodes != 1 || gpus > worker->n) {
    snprintf (worker->error, sizeof worker->error, "no communicator of %u nodes with %u GPUs; here are %u GPUs", nodes, gpus,
              worker->n);
    return NULL;
  }
  NcclSet wanted = NcclSet ();
  wanted.nodes = 1;
  wanted.gpus = wanted.local = gpus;
  wanted.channels = channels;
  return nccl_ok (worker, ncclGetUniqueId (&id), "ncclGetUniqueId") ? add_set (worker, &wanted, &id) : NULL;
}

bool
nccl_make_set (NcclWorker *worker, unsigned nodes, unsigned gpus, unsigned channels, unsigned rank, const ncclUniqueId *id)
{
  NcclSet wanted = NcclSet ();
  wanted.nodes = nodes;
  wanted.gpus = gpus;
  wanted.channels = channels;
  wanted.first = rank;
  wanted.local = worker->n;
  return add_set (worker, &wanted, id) != NULL;
}

bool
nccl_drop_set (NcclWorker *worker, unsigned nodes, unsigned gpus, unsigned channels)
{
  NcclSet *set = find_set (worker, nodes, gpus, channels);
  if (set != NULL)
    close_set (set);
  return set != NULL;
}
