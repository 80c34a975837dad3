/* One NCCL case: launched in one of three ways, checked, timed.
 *
 *   serial   one thread launches on all GPUs within a group, k groups
 *   threads  a thread a GPU, k operations each
 *   graph    a thread a GPU, a CUDA graph of k operations each, replayed
 *
 * Out of place all k operations read the same input and write the same output. A sample is the host's time from the first thread's
 * launch to the last thread's return from waiting for its stream, over k. Threads leave a spinning barrier together. k is chosen so
 * that this takes TARGET_S: launching and waiting, some 10 us, are then 2 % of it, spread over k. */
#include "nccl_run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TARGET_S      500e-6
#define K_MOST        64 /* a graph of so many is still made in milliseconds */
#define ROUGH_MOST    8  /* operations in a row, to find k */
#define SHARE_STRETCH 10 /* fewer than the least samples only where they would take so many shares */

typedef struct {
  NcclWorker *worker;
  const ProbeRequest *request;
  ncclComm_t *comm;
  size_t count;
  unsigned k;
  bool replay; /* the graphs, not single operations */
  cudaGraph_t graph[NCCL_GPUS_MOST];
  cudaGraphExec_t exec[NCCL_GPUS_MOST];
  double begin_s[NCCL_GPUS_MOST], end_s[NCCL_GPUS_MOST];
  char failure[NCCL_GPUS_MOST][NCCL_ERROR_MOST]; /* "" where all went well */
} Run;

/* ---- communicators ---- */

static bool
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
  for (unsigned rank = 0; rank < set->gpus; rank++)
    if (set->comm[rank] != NULL)
      ncclCommDestroy (set->comm[rank]);
  memset (set, 0, sizeof *set);
}

void
nccl_close_sets (NcclWorker *worker)
{
  for (unsigned i = 0; i < NCCL_SETS_MOST; i++)
    close_set (&worker->set[i]);
}

/* Least and most CTAs of a communicator bound its channels as NCCL_MIN_NCHANNELS and NCCL_MAX_NCHANNELS do (NVIDIA/nccl
 * src/graph/connect.cc:ncclTopoPostset), but hold for it alone. */
static bool
open_set (NcclWorker *worker, NcclSet *set, unsigned gpus, unsigned channels)
{
  ncclUniqueId id;
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  if (channels > 0)
    config.minCTAs = config.maxCTAs = (int)channels;
  if (!nccl_ok (worker, ncclGetUniqueId (&id), "ncclGetUniqueId") || !nccl_ok (worker, ncclGroupStart (), "ncclGroupStart"))
    return false;
  bool ok = true;
  for (unsigned rank = 0; rank < gpus && ok; rank++) {
    ok = PROBE_CUDA (cudaSetDevice ((int)rank));
    if (!ok) {
      snprintf (worker->error, sizeof worker->error, "%s", probe_cuda_error ());
      break;
    }
    ncclResult_t result = channels > 0 ? ncclCommInitRankConfig (&set->comm[rank], (int)gpus, id, (int)rank, &config)
                                       : ncclCommInitRank (&set->comm[rank], (int)gpus, id, (int)rank);
    ok = nccl_ok (worker, result, "ncclCommInitRank");
  }
  ncclResult_t end = ncclGroupEnd (); /* also after an error: the group must not stay open */
  if (!ok || !nccl_ok (worker, end, "making communicators"))
    return false;
  set->gpus = gpus;
  set->channels = channels;
  return true;
}

/* NULL: worker->error. */
static NcclSet *
get_set (NcclWorker *worker, unsigned gpus, unsigned channels)
{
  NcclSet *oldest = &worker->set[0];
  for (unsigned i = 0; i < NCCL_SETS_MOST; i++) {
    NcclSet *set = &worker->set[i];
    if (set->gpus == gpus && set->channels == channels) {
      set->used = ++worker->clock;
      return set;
    }
    if (set->used < oldest->used)
      oldest = set;
  }
  close_set (oldest);
  if (!open_set (worker, oldest, gpus, channels))
    return NULL;
  oldest->used = ++worker->clock;
  worker->alive ();
  return oldest;
}

/* ---- one operation on one rank ---- */

static ncclResult_t
all_to_all (const Run *run, unsigned rank)
{
  const NcclWorker *worker = run->worker;
  cudaStream_t stream = worker->stream[rank];
  ncclResult_t result = ncclGroupStart ();
  if (result != ncclSuccess)
    return result;
  for (unsigned peer = 0; peer < run->request->gpus && result == ncclSuccess; peer++) {
    result = ncclSend (worker->in[rank] + peer * run->count, run->count, ncclFloat, (int)peer, run->comm[rank], stream);
    if (result == ncclSuccess)
      result = ncclRecv (worker->out[rank] + peer * run->count, run->count, ncclFloat, (int)peer, run->comm[rank], stream);
  }
  ncclResult_t end = ncclGroupEnd ();
  return result != ncclSuccess ? result : end;
}

/* Each sends to the next and gets from the one before. */
static ncclResult_t
send_receive (const Run *run, unsigned rank)
{
  const NcclWorker *worker = run->worker;
  cudaStream_t stream = worker->stream[rank];
  unsigned gpus = run->request->gpus;
  ncclResult_t result = ncclGroupStart ();
  if (result != ncclSuccess)
    return result;
  result = ncclSend (worker->in[rank], run->count, ncclFloat, (int)((rank + 1) % gpus), run->comm[rank], stream);
  if (result == ncclSuccess)
    result = ncclRecv (worker->out[rank], run->count, ncclFloat, (int)((rank + gpus - 1) % gpus), run->comm[rank], stream);
  ncclResult_t end = ncclGroupEnd ();
  return result != ncclSuccess ? result : end;
}

static ncclResult_t
launch (const Run *run, unsigned rank)
{
  const NcclWorker *worker = run->worker;
  ncclComm_t comm = run->comm[rank];
  cudaStream_t stream = worker->stream[rank];
  float *out = worker->out[rank];
  const float *in = run->request->in_place ? out : worker->in[rank];
  switch (run->request->op) {
    case PROBE_OP_ALL_REDUCE:
      return ncclAllReduce (in, out, run->count, ncclFloat, ncclSum, comm, stream);
    case PROBE_OP_ALL_GATHER:
      return ncclAllGather (in, out, run->count, ncclFloat, comm, stream);
    case PROBE_OP_REDUCE_SCATTER:
      return ncclReduceScatter (in, out, run->count, ncclFloat, ncclSum, comm, stream);
    case PROBE_OP_BROADCAST:
      return ncclBroadcast (in, out, run->count, ncclFloat, 0, comm, stream);
    case PROBE_OP_REDUCE:
      return ncclReduce (in, out, run->count, ncclFloat, ncclSum, 0, comm, stream);
    case PROBE_OP_ALLTOALL:
      return all_to_all (run, rank);
    case PROBE_OP_SENDRECV:
      return send_receive (run, rank);
    default:
      return ncclInvalidArgument;
  }
}

/* ---- many at once ---- */

static bool
rank_nccl (Run *run, unsigned rank, ncclResult_t result)
{
  if (result == ncclSuccess)
    return true;
  const char *more = ncclGetLastError (NULL);
  if (run->failure[rank][0] == '\0')
    snprintf (run->failure[rank], NCCL_ERROR_MOST, "rank %u: %s: %.300s", rank, ncclGetErrorString (result),
              more != NULL ? more : "");
  return false;
}

static bool
rank_cuda (Run *run, unsigned rank, bool ok)
{
  if (!ok && run->failure[rank][0] == '\0')
    snprintf (run->failure[rank], NCCL_ERROR_MOST, "%s", probe_cuda_error ());
  return ok;
}

static void
operate_rank (unsigned rank, void *user)
{
  Run *run = (Run *)user;
  cudaStream_t stream = run->worker->stream[rank];
  bool ok = rank_cuda (run, rank, PROBE_CUDA (cudaSetDevice ((int)rank)));
  probe_team_barrier (run->worker->team);
  run->begin_s[rank] = probe_clock_s ();
  if (run->replay)
    ok = ok && rank_cuda (run, rank, PROBE_CUDA (cudaGraphLaunch (run->exec[rank], stream)));
  else
    for (unsigned i = 0; i < run->k && ok; i++)
      ok = rank_nccl (run, rank, launch (run, rank));
  rank_cuda (run, rank, PROBE_CUDA (cudaStreamSynchronize (stream)));
  run->end_s[rank] = probe_clock_s ();
}

static void
operate_serially (Run *run)
{
  unsigned gpus = run->request->gpus;
  run->begin_s[0] = probe_clock_s ();
  bool ok = true;
  for (unsigned i = 0; i < run->k && ok; i++) {
    ok = rank_nccl (run, 0, ncclGroupStart ());
    for (unsigned rank = 0; rank < gpus && ok; rank++)
      ok = rank_nccl (run, rank, launch (run, rank));
    ok = rank_nccl (run, 0, ncclGroupEnd ()) && ok; /* every start has its end */
  }
  for (unsigned rank = 0; rank < gpus; rank++)
    rank_cuda (run, rank, PROBE_CUDA (cudaStreamSynchronize (run->worker->stream[rank])));
  run->end_s[0] = probe_clock_s ();
}

static bool
all_well (Run *run)
{
  for (unsigned rank = 0; rank < run->request->gpus; rank++)
    if (run->failure[rank][0] != '\0') {
      snprintf (run->worker->error, sizeof run->worker->error, "%s", run->failure[rank]);
      return false;
    }
  return true;
}

/* Seconds of one of k; negative: worker->error. */
static double
operate (Run *run, unsigned k)
{
  double begin = INFINITY, end = 0;
  bool serial = run->request->launch == PROBE_LAUNCH_SERIAL;
  run->k = k;
  if (serial)
    operate_serially (run);
  else
    probe_team_run (run->worker->team, run->request->gpus, operate_rank, run);
  if (!all_well (run))
    return -1;
  for (unsigned rank = 0; rank < (serial ? 1 : run->request->gpus); rank++) {
    begin = fmin (begin, run->begin_s[rank]);
    end = fmax (end, run->end_s[rank]);
  }
  return (end - begin) / k;
}

/* ---- graphs ---- */

static void
capture_rank (unsigned rank, void *user)
{
  Run *run = (Run *)user;
  cudaStream_t stream = run->worker->stream[rank];
  bool ok = rank_cuda (run, rank, PROBE_CUDA (cudaSetDevice ((int)rank)));
  ok = ok && rank_cuda (run, rank, PROBE_CUDA (cudaStreamBeginCapture (stream, cudaStreamCaptureModeThreadLocal)));
  if (!ok)
    return;
  for (unsigned i = 0; i < run->k && ok; i++)
    ok = rank_nccl (run, rank, launch (run, rank));
  ok = rank_cuda (run, rank, PROBE_CUDA (cudaStreamEndCapture (stream, &run->graph[rank]))) && ok;
  ok = ok && rank_cuda (run, rank, PROBE_CUDA (cudaGraphInstantiateWithFlags (&run->exec[rank], run->graph[rank], 0)));
  ok = ok && rank_cuda (run, rank, PROBE_CUDA (cudaGraphUpload (run->exec[rank], stream)));
  rank_cuda (run, rank, ok && PROBE_CUDA (cudaStreamSynchronize (stream)));
}

static void
drop_graphs (Run *run)
{
  for (unsigned rank = 0; rank < run->request->gpus; rank++) {
    cudaSetDevice ((int)rank);
    if (run->exec[rank] != NULL)
      PROBE_CUDA (cudaGraphExecDestroy (run->exec[rank]));
    if (run->graph[rank] != NULL)
      PROBE_CUDA (cudaGraphDestroy (run->graph[rank]));
    run->exec[rank] = NULL;
    run->graph[rank] = NULL;
  }
}

/* ---- a case ---- */

/* Runs it once eagerly, which also makes connections before a graph is captured, and checks what came out. */
static bool
first_run (Run *run, bool *fatal)
{
  NcclWorker *worker = run->worker;
  *fatal = true;
  if (!nccl_prepare_output (worker, run->request)) {
    snprintf (worker->error, sizeof worker->error, "%s", probe_cuda_error ());
    return false;
  }
  if (operate (run, 1) < 0)
    return false;
  worker->alive ();
  *fatal = false;
  return nccl_check_output (worker, run->request);
}

/* k by two rough runs; in a graph the k-fold replay is checked as well. Negative, or 0: failed. */
static bool
settle (Run *run, bool *fatal)
{
  NcclWorker *worker = run->worker;
  *fatal = true;
  double rough = operate (run, 1);
  if (rough >= 0 && rough * ROUGH_MOST < TARGET_S)
    rough = operate (run, ROUGH_MOST);
  if (rough < 0)
    return false;
  double k = ceil (TARGET_S / fmax (rough, 1e-9));
  run->k = k > K_MOST ? K_MOST : (unsigned)k;
  worker->alive ();
  if (run->request->launch != PROBE_LAUNCH_GRAPH)
    return true;
  probe_team_run (worker->team, run->request->gpus, capture_rank, run);
  if (!all_well (run))
    return false;
  run->replay = true;
  if (!nccl_prepare_output (worker, run->request)) {
    snprintf (worker->error, sizeof worker->error, "%s", probe_cuda_error ());
    return false;
  }
  if (operate (run, run->k) < 0)
    return false;
  *fatal = false;
  return run->request->in_place || nccl_check_output (worker, run->request); /* in place sums grow with each of the k */
}

static bool
take_samples (Run *run, double out[PROBE_SAMPLES_MOST], size_t *n)
{
  const ProbeRequest *request = run->request;
  double begin = probe_clock_s (), told = begin;
  *n = 0;
  if (operate (run, run->k) < 0) /* thrown away */
    return false;
  while (*n < PROBE_SAMPLES_MOST) {
    double s = operate (run, run->k), now = probe_clock_s (), spent = now - begin;
    if (s < 0)
      return false;
    out[(*n)++] = s;
    if (now - told > 1) {
      run->worker->alive ();
      told = now;
    }
    ProbeStats stats;
    bool enough = probe_stats_of (out, *n, &stats) && probe_stats_enough (&stats, request->target);
    if (enough || (*n >= PROBE_SAMPLES_LEAST && spent > request->share_s) || spent > request->share_s * SHARE_STRETCH + 1)
      return true;
  }
  return true;
}

static bool
begin_run (Run *run, NcclWorker *worker, const ProbeRequest *request, bool *fatal)
{
  memset (run, 0, sizeof *run);
  *fatal = false;
  run->worker = worker;
  run->request = request;
  run->count = probe_op_count (request->op, request->bytes, request->gpus);
  if (request->gpus > worker->n || run->count == 0 || request->bytes > worker->capacity_B ||
      (request->in_place && request->op != PROBE_OP_ALL_REDUCE)) {
    snprintf (worker->error, sizeof worker->error, "%zu B on %u GPUs; here are %u GPUs with buffers of %zu B", request->bytes,
              request->gpus, worker->n, worker->capacity_B);
    return false;
  }
  NcclSet *set = get_set (worker, request->gpus, request->channels);
  *fatal = set == NULL;
  if (set != NULL)
    run->comm = set->comm;
  return set != NULL;
}

bool
nccl_run_case (NcclWorker *worker, const ProbeRequest *request, double out[PROBE_SAMPLES_MOST], size_t *n, bool *fatal)
{
  static Run run; /* large, and one at a time */
  if (!begin_run (&run, worker, request, fatal))
    return false;
  bool ok = first_run (&run, fatal) && settle (&run, fatal);
  if (ok) {
    ok = take_samples (&run, out, n);
    worker->in_a_row = run.k;
    *fatal = !ok;
  }
  if (!*fatal)
    drop_graphs (&run);
  return ok;
}

bool
nccl_run_once (NcclWorker *worker, const ProbeRequest *request, bool *fatal)
{
  static Run run;
  if (!begin_run (&run, worker, request, fatal))
    return false;
  bool ok = operate (&run, 1) >= 0;
  *fatal = !ok;
  return ok;
}
