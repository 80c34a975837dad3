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
 * or TARGET_FAR_S: launching and waiting, some 10 us, are then 2 % of it, spread over k. Launching a graph and waiting for it takes
 * more, 50 to 150 us in a virtual machine, so that a sample has several replays in a row: REPLAYS_S, or as many operations as a
 * sample of nccl-tests has (-n 20 -G 10), whose times have the same in them. */
#include "nccl_run.h"

#include <stdio.h>
#include <string.h>

#define TARGET_S     500e-6
#define TARGET_FAR_S 2e-3 /* where ranks meet through the network, they leave it some microseconds apart */
#define REPLAYS_S    4e-3
#define REPLAYED     200 /* operations */
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
  unsigned replays; /* of a graph in a row */
  cudaGraph_t graph[PROBE_GPUS_MOST];
  cudaGraphExec_t exec[PROBE_GPUS_MOST];
} Run;

/* One operation of the i-th of the ranks that are here. */
static bool
launch (const Run *run, unsigned i)
{
  const NcclWorker *worker = run->worker;
  const ProbeRequest *request = run->request;
  const NcclOperation operation = { request->op,         request->in_place ? worker->out[i] : worker->in[i],
                                    worker->out[i],      run->count,
                                    ncclFloat,           sizeof (float),
                                    run->set->first + i, run->ranks,
                                    run->set->comm[i],   worker->stream[i] };
  ncclResult_t result = nccl_operate (&operation);
  char rank[24];
  if (result != ncclSuccess)
    snprintf (rank, sizeof rank, "rank %u", operation.rank);
  return result == ncclSuccess || nccl_ok (result, rank);
}

/* ---- many at once ---- */

static bool
operate_rank (unsigned i, void *user)
{
  const Run *run = (const Run *)user;
  cudaStream_t stream = run->worker->stream[i];
  bool ok = PROBE_CUDA (cudaSetDevice (run->worker->device[i])) && probe_team_barrier (run->worker->team);
  if (run->replay)
    for (unsigned n = 0; n < run->replays && ok; n++)
      ok = PROBE_CUDA (cudaGraphLaunch (run->exec[i], stream));
  else
    for (unsigned n = 0; n < run->k && ok; n++)
      ok = launch (run, i);
  return PROBE_CUDA (cudaStreamSynchronize (stream)) && ok;
}

/* Seconds of all; negative: failed. */
static double
operate_serially (const Run *run)
{
  unsigned local = run->set->local;
  double begin_s = probe_clock_s ();
  bool ok = true;
  for (unsigned n = 0; n < run->k && ok; n++) {
    ok = nccl_ok (ncclGroupStart (), "rank 0");
    for (unsigned i = 0; i < local && ok; i++)
      ok = launch (run, i);
    ok = nccl_ok (ncclGroupEnd (), "rank 0") && ok; /* every start has its end */
  }
  for (unsigned i = 0; i < local; i++)
    ok = PROBE_CUDA (cudaStreamSynchronize (run->worker->stream[i])) && ok;
  return ok ? probe_clock_s () - begin_s : -1;
}

/* Seconds of one of k, as the ranks of this process have it; negative: failed. */
static double
operate (Run *run, unsigned k)
{
  run->k = k;
  if (!nccl_meet (run->worker, run->set))
    return -1;
  if (run->request->launch == PROBE_LAUNCH_SERIAL)
    return operate_serially (run) / k;
  return probe_team_time (run->worker->team, run->set->local, operate_rank, run) / (k * (run->replay ? run->replays : 1));
}

/* ---- graphs ---- */

static bool
capture_rank (unsigned i, void *user)
{
  Run *run = (Run *)user;
  cudaStream_t stream = run->worker->stream[i];
  if (!PROBE_CUDA (cudaSetDevice (run->worker->device[i])) ||
      !PROBE_CUDA (cudaStreamBeginCapture (stream, cudaStreamCaptureModeThreadLocal)))
    return false;
  bool ok = true;
  for (unsigned n = 0; n < run->k && ok; n++)
    ok = launch (run, i);
  ok = PROBE_CUDA (cudaStreamEndCapture (stream, &run->graph[i])) && ok;
  return ok && PROBE_CUDA (cudaGraphInstantiateWithFlags (&run->exec[i], run->graph[i], 0)) &&
         PROBE_CUDA (cudaGraphUpload (run->exec[i], stream)) && PROBE_CUDA (cudaStreamSynchronize (stream));
}

static void
drop_graphs (Run *run)
{
  for (unsigned i = 0; i < run->set->local; i++) {
    cudaSetDevice (run->worker->device[i]);
    if (run->exec[i] != NULL)
      cudaGraphExecDestroy (run->exec[i]);
    if (run->graph[i] != NULL)
      cudaGraphDestroy (run->graph[i]);
    run->exec[i] = NULL;
    run->graph[i] = NULL;
  }
  cudaGetLastError ();
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
static NcclEnd
check (Run *run)
{
  NcclSay say = NcclSay ();
  NcclVerdict verdict;
  NcclEnd end = nccl_check_output (run->worker, run->set, run->request);
  say.failed = end == NCCL_REFUSED;
  if (end == NCCL_BROKEN || !nccl_agree (run->worker, run->set, &say, &verdict))
    return NCCL_BROKEN;
  if (verdict.failed < 0)
    return NCCL_DONE;
  probe_fail ("wrong data on rank %d", verdict.failed); /* what was wrong on this rank stands before it */
  return NCCL_REFUSED;
}

/* k of them on known data, and whether the right ones come out. */
static NcclEnd
try_out (Run *run, unsigned k, bool looks)
{
  if (!nccl_prepare_output (run->worker, run->set, run->request) || operate (run, k) < 0)
    return NCCL_BROKEN;
  run->worker->alive ();
  return looks ? check (run) : NCCL_DONE;
}

/* k by two rough runs, of which the first may find the machine cold; in a graph the k-fold replay is checked as well. */
static NcclEnd
settle (Run *run)
{
  NcclWorker *worker = run->worker;
  double target_s = worker->alone ? TARGET_S : TARGET_FAR_S;
  double rough = operate_all (run, 1);
  if (rough >= 0 && rough < target_s) {
    double again = operate_all (run, ROUGH_MOST);
    rough = again < rough ? again : rough;
  }
  if (rough < 0)
    return NCCL_BROKEN;
  run->k = probe_repeats (target_s, rough, worker->alone ? K_MOST : K_MOST_FAR);
  worker->alive ();
  if (run->request->launch != PROBE_LAUNCH_GRAPH)
    return NCCL_DONE;
  if (!probe_team_run (worker->team, run->set->local, capture_rank, run, NULL))
    return NCCL_BROKEN;
  run->replay = true;
  run->replays = 1;
  NcclEnd end = try_out (run, run->k, !run->request->in_place); /* in place sums grow with each of the k */
  if (end == NCCL_DONE && worker->alone)
    run->replays = probe_repeats (REPLAYS_S, rough * run->k, (REPLAYED + run->k - 1) / run->k);
  return end;
}

static NcclEnd
take_samples (Run *run, NcclSamples *out)
{
  const ProbeRequest *request = run->request;
  double begin = probe_clock_s (), told = begin;
  out->n = 0;
  out->in_a_row = run->k * (run->replay ? run->replays : 1);
  if (operate (run, run->k) < 0) /* thrown away */
    return NCCL_BROKEN;
  for (;;) {
    NcclSay say = NcclSay ();
    NcclVerdict verdict;
    say.time_s = operate (run, run->k);
    double now = probe_clock_s ();
    say.spent_s = now - begin;
    if (say.time_s < 0 || !nccl_agree (run->worker, run->set, &say, &verdict))
      return NCCL_BROKEN;
    out->sample_s[out->n++] = verdict.time_s;
    if (now - told > 1) {
      run->worker->alive ();
      told = now;
    }
    if (nccl_agree_enough (out->sample_s, out->n, request->target, request->share_s, verdict.spent_s))
      return NCCL_DONE;
  }
}

static NcclEnd
begin_run (Run *run, NcclWorker *worker, const ProbeRequest *request)
{
  memset (run, 0, sizeof *run);
  run->worker = worker;
  run->request = request;
  run->ranks = probe_request_ranks (request);
  run->count = probe_op_count (request->op, request->bytes, run->ranks);
  if (run->count == 0 || request->bytes > worker->capacity_B || (request->in_place && request->op != PROBE_OP_ALL_REDUCE) ||
      (request->launch == PROBE_LAUNCH_SERIAL && !worker->alone)) {
    probe_fail ("%zu B on %u GPUs; here are %u GPUs with buffers of %zu B", request->bytes, run->ranks, worker->n,
                worker->capacity_B);
    return NCCL_REFUSED;
  }
  run->set = nccl_get_set (worker, request);
  return run->set != NULL ? NCCL_DONE : NCCL_BROKEN;
}

NcclEnd
nccl_run_case (NcclWorker *worker, const ProbeRequest *request, NcclSamples *out)
{
  Run run;
  NcclEnd end = begin_run (&run, worker, request);
  if (end != NCCL_DONE)
    return end;
  end = try_out (&run, 1, true); /* eagerly, which also makes connections before a graph is captured */
  if (end == NCCL_DONE)
    end = settle (&run);
  if (end == NCCL_DONE)
    end = take_samples (&run, out);
  if (end != NCCL_BROKEN)
    drop_graphs (&run);
  return end;
}

NcclEnd
nccl_run_once (NcclWorker *worker, const ProbeRequest *request)
{
  Run run;
  NcclEnd end = begin_run (&run, worker, request);
  return end == NCCL_DONE && operate (&run, 1) < 0 ? NCCL_BROKEN : end;
}
