/* Communicators by shape. */
#include "nccl_run.h"

#include <string.h>

static void
close_set (const NcclWorker *worker, NcclSet *set)
{
  for (unsigned i = 0; i < set->local; i++)
    if (set->comm[i] != NULL) {
      nccl_let_go (worker->buffers, set->comm[i], set->hold[i]);
      ncclCommDestroy (set->comm[i]);
    }
  memset (set, 0, sizeof *set);
}

/* The one longest not used; a free one if there is one. */
static NcclSet *
oldest_set (NcclWorker *worker, bool free_too)
{
  NcclSet *oldest = NULL;
  for (NcclSet &set : worker->set)
    if ((free_too || set.nodes > 0) && (oldest == NULL || set.used < oldest->used))
      oldest = &set;
  return oldest;
}

/* In the order of their last use, which is the same in all processes: taking one apart may wait for its other ranks. */
void
nccl_close_sets (NcclWorker *worker)
{
  for (NcclSet *set = oldest_set (worker, false); set != NULL; set = oldest_set (worker, false))
    close_set (worker, set);
}

static NcclSet *
find_set (NcclWorker *worker, unsigned nodes, unsigned gpus, unsigned channels)
{
  for (NcclSet &set : worker->set)
    if (set.nodes == nodes && set.gpus == gpus && set.channels == channels)
      return &set;
  return NULL;
}

static NcclSet *
add_set (NcclWorker *worker, const NcclSet *wanted, const ncclUniqueId *id)
{
  NcclSet *set = oldest_set (worker, true);
  const NcclPart part = { wanted->nodes * wanted->gpus, wanted->first, wanted->local, wanted->channels };
  const NcclMemory memory = { worker->buffers, worker->capacity_B, worker->in, worker->out };
  close_set (worker, set);
  *set = *wanted;
  if (!nccl_join (&part, id, worker->device, set->comm) || !nccl_hold (&memory, set->local, worker->device, set->comm, set->hold)) {
    memset (set, 0, sizeof *set); /* what is half made hangs whoever takes it apart */
    return NULL;
  }
  set->used = ++worker->clock;
  worker->alive ();
  return set;
}

NcclSet *
nccl_get_set (NcclWorker *worker, const ProbeRequest *request)
{
  NcclSet *set = find_set (worker, request->nodes, request->gpus, request->channels);
  ncclUniqueId id;
  if (set != NULL) {
    set->used = ++worker->clock;
    return set;
  }
  if (!worker->alone || request->nodes != 1 || request->gpus > worker->n) {
    probe_fail ("no communicator of %u nodes with %u GPUs; here are %u GPUs", request->nodes, request->gpus, worker->n);
    return NULL;
  }
  NcclSet wanted = NcclSet ();
  wanted.nodes = 1;
  wanted.gpus = wanted.local = request->gpus;
  wanted.channels = request->channels;
  return nccl_ok (ncclGetUniqueId (&id), "ncclGetUniqueId") ? add_set (worker, &wanted, &id) : NULL;
}

bool
nccl_make_set (NcclWorker *worker, const ProbeJoin *join)
{
  static_assert (sizeof (ncclUniqueId) == PROBE_ID_BYTES, "an id of NCCL has 128 bytes");
  ncclUniqueId id;
  NcclSet wanted = NcclSet ();
  memcpy (&id, join->id, sizeof id);
  wanted.nodes = join->nodes;
  wanted.gpus = join->gpus;
  wanted.channels = join->channels;
  wanted.first = join->rank;
  wanted.local = worker->n;
  return add_set (worker, &wanted, &id) != NULL;
}

bool
nccl_drop_set (NcclWorker *worker, const ProbeJoin *join)
{
  NcclSet *set = find_set (worker, join->nodes, join->gpus, join->channels);
  if (set != NULL)
    close_set (worker, set);
  return set != NULL;
}
