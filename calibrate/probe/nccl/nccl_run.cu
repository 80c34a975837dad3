/* One NCCL case: launched in one of three ways, checked, timed.
 *
 *   serial   one thread launches on all GPUs within a group, k groups
 *   threads  a thread a GPU, k operations each
 *   graph    a thread a GPU, a CUDA graph of k operations each, replayed
 *
 * Ranks of other processes do the same at the same time, a thread each; then `threads` and `graph` alone are to be had.
 *
 * Out of place all k operations read the same input and write the same output. A sample is the host's time from the first thread's
 * launch to the last thread's return from waiting for its stream, over k; of several processes the slowest one's, each by its own
 * clock. Threads leave a spinning barrier together, processes an all-reduce of one number. k is chosen so that this takes TARGET_S,
 * or TARGET_FAR_S: launching and waiting, some 10 us, are then 2 % of it, spread over k. */
#include "nccl_run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TARGET_S     500e-6
#define TARGET_FAR_S 2e-3 /* where ranks meet through the network, they leave it some microseconds apart */
#define K_MOST       64   /* a graph of so many is still made in milliseconds */
#define K_MOST_FAR   256
#define ROUGH_MOST   8 /* operations in a row, to find k */

typedef struct {
  NcclWorker *worker;
  const ProbeRequest *request;
  const NcclSet *set;
  unsigned ranks; /* of all processes */
  size_t count;
  unsigned k;
  bool replay; /* the graphs, not single operations */
  cudaGraph_t graph[NCCL_GPUS_MOST];
  cudaGraphExec_t exec[NCCL_GPUS_MOST];
  double begin_s[NCCL_GPUS_MOST], end_s[NCCL_GPUS_MOST];
  char failure[NCCL_GPUS_MOST][NCCL_ERROR_MOST]; /* "" where all went well */
} Run;

/* ---- one operation on one rank: the i-th of those that are here ---- */

static ncclResult_t
all_to_all (const Run *run, unsigned i)
{
  const NcclWorker *worker = run->worker;
  cudaStream_t stream = worker->stream[i];
  ncclResult_t result = ncclGroupStart ();
  if (result != ncclSuccess)
    return result;
  for (unsigned peer = 0; peer < run->ranks && result == ncclSuccess; peer++) {
    result = ncclSend (worker->in[i] + peer * run->count, run->count, ncclFloat, (int)peer, run->set->comm[i], stream);
    if (result == ncclSuccess)
      result = ncclRecv (worker->out[i] + peer * run->count, run->count, ncclFloat, (int)peer, run->set->comm[i], stream);
  }
  ncclResult_t end = ncclGroupEnd ();
  return result != ncclSuccess ? result : end;
}

/* Each sends to the next and gets from the one before. */
static ncclResult_t
send_receive (const Run *run, unsigned i)
{
  const NcclWorker *worker = run->worker;
  cudaStream_t stream = worker->stream[i];
  unsigned ranks = run->ranks, rank = run->set->first + i;
  ncclResult_t result = ncclGroupStart ();
  if (result != ncclSuccess)
    return result;
  result = ncclSend (worker->in[i], run->count, ncclFloat, (int)((rank + 1) % ranks), run->set->comm[i], stream);
  if (result == ncclSuccess)
    result = ncclRecv (worker->out[i], run->count, ncclFloat, (int)((rank + ranks - 1) % ranks), run->set->comm[i], stream);
  ncclResult_t end = ncclGroupEnd ();
  return result != ncclSuccess ? result : end;
}

static ncclResult_t
launch (const Run *run, unsigned i)
{
  const NcclWorker *worker = run->worker;
  ncclComm_t comm = run->set->comm[i];
  cudaStream_t stream = worker->stream[i];
  float *out = worker->out[i];
  const float *in = run->request->in_place ? out : worker->in[i];
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
      return all_to_all (run, i);
    case PROBE_OP_SENDRECV:
      return send_receive (run, i);
    default:
      return ncclInvalidArgument;
  }
}

/* ---- many at once ---- */

static bool
rank_nccl (Run *run, unsigned i, ncclResult_t result)
{
  if (result == ncclSuccess)
    return true;
  const char *more = ncclGetLastError (NULL);
  if (run->failure[i][0] == '\0')
    snprintf (run->failure[i], NCCL_ERROR_MOST, "rank %u: %s: %.300s", run->set->first + i, ncclGetErrorString (result),
              more != NULL ? more : "");
  return false;
}

static bool
rank_cuda (Run *run, unsigned i, bool ok)
{
  if (!ok && run->failure[i][0] == '\0')
    snprintf (run->failure[i], NCCL_ERROR_MOST, "%s", probe_cuda_error ());
  return ok;
}

static void
operate_rank (unsigned i, void *user)
{
  Run *run = (Run *)user;
  cudaStream_t stream = run->worker->stream[i];
  bool ok = rank_cuda (run, i, PROBE_CUDA (cudaSetDevice (run->worker->device[i])));
  probe_team_barrier (run->worker->team);
  run->begin_s[i] = probe_clock_s ();
  if (run->replay)
    ok = ok && rank_cuda (run, i, PROBE_CUDA (cudaGraphLaunch (run->exec[i], stream)));
  else
    for (unsigned n = 0; n < run->k && ok; n++)
      ok = rank_nccl (run, i, launch (run, i));
  rank_cuda (run, i, PROBE_CUDA (cudaStreamSynchronize (stream)));
  run->end_s[i] = probe_clock_s ();
}

static void
operate_serially (Run *run)
{
  unsigned local = run->set->local;
  run->begin_s[0] = probe_clock_s ();
  bool ok = true;
  for (unsigned n = 0; n < run->k && ok; n++) {
    ok = rank_nccl (run, 0, ncclGroupStart ());
    for (unsigned i = 0; i < local && ok; i++)
      ok = rank_nccl (run, i, launch (run, i));
    ok = rank_nccl (run, 0, ncclGroupEnd ()) && ok; /* every start has its end */
  }
  for (unsigned i = 0; i < local; i++)
    rank_cuda (run, i, PROBE_CUDA (cudaStreamSynchronize (run->worker->stream[i])));
  run->end_s[0] = probe_clock_s ();
}

static bool
all_well (Run *run)
{
  for (unsigned i = 0; i < run->set->local; i++)
    if (run->failure[i][0] != '\0') {
      snprintf (run->worker->error, sizeof run->worker->error, "%s", run->failure[i]);
      return false;
    }
  return true;
}

/* Seconds of one of k, as the ranks of this process have it; negative: worker->error. */
static double
operate (Run *run, unsigned k)
{
  double begin = INFINITY, end = 0;
  bool serial = run->request->launch == PROBE_LAUNCH_SERIAL;
  run->k = k;
  if (!nccl_meet (run->worker, run->set))
    return -1;
  if (serial)
    operate_serially (run);
  else
    probe_team_run (run->worker->team, run->set->local, operate_rank, run);
  if (!all_well (run))
    return -1;
  for (unsigned i = 0; i < (serial ? 1 : run->set->local); i++) {
    begin = fmin (begin, run->begin_s[i]);
    end = fmax (end, run->end_s[i]);
  }
  return (end - begin) / k;
}

/* ---- graphs ---- */

static void
capture_rank (unsigned i, void *user)
{
  Run *run = (Run *)user;
  cudaStream_t stream = run->worker->stream[i];
  bool ok = rank_cuda (run, i, PROBE_CUDA (cudaSetDevice (run->worker->device[i])));
  ok = ok && rank_cuda (run, i, PROBE_CUDA (cudaStreamBeginCapture (stream, cudaStreamCaptureModeThreadLocal)));
  if (!ok)
    return;
  for (unsigned n = 0; n < run->k && ok; n++)
    ok = rank_nccl (run, i, launch (run, i));
  ok = rank_cuda (run, i, PROBE_CUDA (cudaStreamEndCapture (stream, &run->graph[i]))) && ok;
  ok = ok && rank_cuda (run, i, PROBE_CUDA (cudaGraphInstantiateWithFlags (&run->exec[i], run->graph[i], 0)));
  ok = ok && rank_cuda (run, i, PROBE_CUDA (cudaGraphUpload (run->exec[i], stream)));
  rank_cuda (run, i, ok && PROBE_CUDA (cudaStreamSynchronize (stream)));
}

static void
drop_graphs (Run *run)
{
  for (unsigned i = 0; i < run->set->local; i++) {
    cudaSetDevice (run->worker->device[i]);
    if (run->exec[i] != NULL)
      PROBE_CUDA (cudaGraphExecDestroy (run->exec[i]));
    if (run->graph[i] != NULL)
      PROBE_CUDA (cudaGraphDestroy (run->graph[i]));
    run->exec[i] = NULL;
    run->graph[i] = NULL;
  }
}

/* ---- a case ---- */

/* The same, as the slowest rank of all processes has it, which all know then. */
static double
operate_all (Run *run, unsigned k)
{
  NcclSay say = NcclSay ();
  NcclVerdict verdict;
  say.time_s = operate (run, k);
  if (say.time_s < 0 || !nccl_agree (run->worker, run->set, &say, &verdict))
    return -1;
  return verdict.time_s;
}

/* Looks at the data; all ranks fail where one does. */
static bool
check (Run *run, bool *fatal)
{
  NcclWorker *worker = run->worker;
  NcclSay say = NcclSay ();
  NcclVerdict verdict;
  say.failed = !nccl_check_output (worker, run->set, run->request, fatal);
  if (*fatal)
    return false;
  *fatal = !nccl_agree (worker, run->set, &say, &verdict);
  if (*fatal)
    return false;
  if (verdict.failed >= 0 && !say.failed)
    snprintf (worker->error, sizeof worker->error, "wrong data on rank %d", verdict.failed);
  return verdict.failed < 0;
}

static bool
prepare (Run *run)
{
  if (nccl_prepare_output (run->worker, run->set, run->request))
    return true;
  snprintf (run->worker->error, sizeof run->worker->error, "%s", probe_cuda_error ());
  return false;
}

/* Runs it once eagerly, which also makes connections before a graph is captured, and checks what came out. */
static bool
first_run (Run *run, bool *fatal)
{
  *fatal = !prepare (run) || operate (run, 1) < 0;
  if (*fatal)
    return false;
  run->worker->alive ();
  return check (run, fatal);
}

/* k by two rough runs; in a graph the k-fold replay is checked as well. */
static bool
settle (Run *run, bool *fatal)
{
  NcclWorker *worker = run->worker;
  double target_s = worker->alone ? TARGET_S : TARGET_FAR_S, most = worker->alone ? K_MOST : K_MOST_FAR;
  *fatal = true;
  double rough = operate_all (run, 1);
  if (rough >= 0 && rough * ROUGH_MOST < target_s)
    rough = operate_all (run, ROUGH_MOST);
  if (rough < 0)
    return false;
  run->k = (unsigned)fmin (most, fmax (1, ceil (target_s / fmax (rough, 1e-9))));
  worker->alive ();
  if (run->request->launch != PROBE_LAUNCH_GRAPH) {
    *fatal = false;
    return true;
  }
  probe_team_run (worker->team, run->set->local, capture_rank, run);
  if (!all_well (run))
    return false;
  run->replay = true;
  if (!prepare (run) || operate (run, run->k) < 0)
    return false;
  *fatal = false;
  return run->request->in_place || check (run, fatal); /* in place sums grow with each of the k */
}

static bool
take_samples (Run *run, double out[PROBE_SAMPLES_MOST], size_t *n)
{
  const ProbeRequest *request = run->request;
  double begin = probe_clock_s (), told = begin;
  *n = 0;
  if (operate (run, run->k) < 0) /* thrown away */
    return false;
  for (;;) {
    NcclSay say = NcclSay ();
    NcclVerdict verdict;
    say.time_s = operate (run, run->k);
    double now = probe_clock_s ();
    say.spent_s = now - begin;
    if (say.time_s < 0 || !nccl_agree (run->worker, run->set, &say, &verdict))
      return false;
    out[(*n)++] = verdict.time_s;
    if (now - told > 1) {
      run->worker->alive ();
      told = now;
    }
    if (nccl_agree_enough (out, *n, request->target, request->share_s, verdict.spent_s))
      return true;
  }
}

static bool
begin_run (Run *run, NcclWorker *worker, const ProbeRequest *request, bool *fatal)
{
  memset (run, 0, sizeof *run);
  *fatal = false;
  run->worker = worker;
  run->request = request;
  run->ranks = probe_request_ranks (request);
  run->count = probe_op_count (request->op, request->bytes, run->ranks);
  if (run->count == 0 || request->bytes > worker->capacity_B || (request->in_place && request->op != PROBE_OP_ALL_REDUCE) ||
      (request->launch == PROBE_LAUNCH_SERIAL && !worker->alone)) {
    snprintf (worker->error, sizeof worker->error, "%zu B on %u GPUs; here are %u GPUs with buffers of %zu B", request->bytes,
              run->ranks, worker->n, worker->capacity_B);
    return false;
  }
  run->set = nccl_get_set (worker, request->nodes, request->gpus, request->channels);
  *fatal = run->set == NULL;
  return run->set != NULL;
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
