/* The threads of the overlap section. No wait here is without an end: barriers, streams and the threads themselves are given up
 * when any rank fails or a run takes longer than RUN_MOST_S, and NCCL's kernels, which would wait for their peers for ever, are
 * aborted then. */
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "overlap.h"

/* Runs last a fraction of a second and the first of a communicator a few, when it connects; opening loads cuBLAS on every GPU. */
#define RUN_MOST_S  30.0
#define OPEN_MOST_S 60.0
/* What ranks have to give up once one has failed, before their communicators are aborted under them; and after that. */
#define GIVE_UP_S 5.0
#define POLL_NS   100000L
/* Operations of each stream that are queued before the gates open. With a stream's limit of about 1024 launches nothing waits. */
#define LEAD_N 64u

#define GEMM_SETS ((size_t)2)
#define FILL_SEED 23u

static void
nap (void)
{
  const struct timespec t = { 0, POLL_NS };
  nanosleep (&t, NULL);
}

static bool
rank_failed (OverlapRank *r, const char *error)
{
  if (r->error == NULL)
    r->error = error;
  r->team->failed.store (true);
  return false;
}

static bool
rank_try_nccl (OverlapRank *r, ncclResult_t result)
{
  return result == ncclSuccess || rank_failed (r, ncclGetErrorString (result));
}

/* false: a rank has failed, which this one may not have noticed before. */
static bool
barrier (OverlapTeam *t)
{
  const unsigned generation = t->generation.load ();
  if (t->arrived.fetch_add (1) + 1 == t->n) {
    t->arrived.store (0);
    t->generation.store (generation + 1);
    return !t->failed.load ();
  }
  while (t->generation.load () == generation) {
    if (t->failed.load ())
      return false;
    sched_yield ();
  }
  return !t->failed.load ();
}

/* Waits for both streams, but not for ever. */
static bool
wait_streams (OverlapRank *r)
{
  cudaStream_t streams[] = { r->device.stream, r->comm_stream };
  for (int i = 0; i < 2; i++)
    for (;;) {
      cudaError_t status = cudaStreamQuery (streams[i]);
      if (status == cudaSuccess)
        break;
      cudaGetLastError (); /* "not ready" is no error for the next call to find */
      if (status != cudaErrorNotReady)
        return rank_failed (r, cudaGetErrorString (status));
      ncclResult_t result = ncclSuccess;
      if (r->communicator != NULL && !rank_try_nccl (r, ncclCommGetAsyncError (r->communicator, &result)))
        return false;
      if (!rank_try_nccl (r, result) || r->team->failed.load ())
        return false;
      nap ();
    }
  return true;
}

static bool
queue_compute (OverlapRank *r, unsigned i, const char **error)
{
  if (r->team->job.compute == OVERLAP_COPY)
    return compute_copy (&r->device, r->copy, r->copy + OVERLAP_COPY_B, OVERLAP_COPY_B, error);
  if (r->team->job.compute == OVERLAP_ATTENTION)
    return compute_attention_launch (&r->attention, i, error);
  return compute_gemm_launch (&r->gemm[r->team->job.compute], i, error);
}

/* Sizes are those of the larger buffer: what a rank holds after an all-gather, before a reduce-scatter or an all-to-all. */
static bool
queue_comm (OverlapRank *r)
{
  const OverlapJob *job = &r->team->job;
  const size_t n_ranks = (size_t)r->team->n, element_B = 2;
  const size_t part_B = job->size_B / n_ranks / COMPUTE_ALIGN_B * COMPUTE_ALIGN_B, part = part_B / element_B;
  cudaStream_t stream = r->comm_stream;
  if (job->collective == OVERLAP_ALL_REDUCE)
    return rank_try_nccl (
        r, ncclAllReduce (r->send, r->receive, job->size_B / element_B, ncclBfloat16, ncclSum, r->communicator, stream));
  if (job->collective == OVERLAP_ALL_GATHER)
    return rank_try_nccl (r, ncclAllGather (r->send, r->receive, part, ncclBfloat16, r->communicator, stream));
  if (job->collective == OVERLAP_REDUCE_SCATTER)
    return rank_try_nccl (r, ncclReduceScatter (r->send, r->receive, part, ncclBfloat16, ncclSum, r->communicator, stream));
  bool ok = rank_try_nccl (r, ncclGroupStart ());
  if (!ok)
    return false;
  for (size_t peer = 0; ok && peer < n_ranks; peer++)
    ok = rank_try_nccl (r, ncclSend (r->send + peer * part_B, part, ncclBfloat16, (int)peer, r->communicator, stream)) &&
         rank_try_nccl (r, ncclRecv (r->receive + peer * part_B, part, ncclBfloat16, (int)peer, r->communicator, stream));
  return rank_try_nccl (r, ncclGroupEnd ()) && ok;
}

/* Queues the next operation of one stream, with an event where a group ends. */
static bool
queue_one (OverlapRank *r, bool comm, unsigned done, unsigned all, unsigned group)
{
  OverlapTrack *track = comm ? &r->comm : &r->compute;
  const char *error = NULL;
  if (comm ? !queue_comm (r) : !queue_compute (r, done, &error))
    return rank_failed (r, error); /* keeps the first reason */
  if ((done + 1) % group != 0 && done + 1 != all)
    return true;
  if (!COMPUTE_TRY (cudaEventRecord (track->event[++track->n], comm ? r->comm_stream : r->device.stream), &error))
    return rank_failed (r, error);
  return true;
}

/* Both streams in turn, so that neither runs dry; gates open everywhere when every rank has the first operations queued. */
static bool
queue_all (OverlapRank *r)
{
  const OverlapJob *job = &r->team->job;
  const unsigned all = job->n_compute + job->n_comm, lead = all < LEAD_N ? all : LEAD_N;
  unsigned n_compute = 0, n_comm = 0;
  while (n_compute + n_comm < all) {
    /* By shares done, cross-multiplied. */
    const bool comm = (uint64_t)n_comm * job->n_compute < (uint64_t)n_compute * job->n_comm ||
                      (n_comm < job->n_comm && n_compute == job->n_compute) || (n_comm == 0 && job->n_comm > 0);
    if (comm ? !queue_one (r, true, n_comm, job->n_comm, job->comm_group)
             : !queue_one (r, false, n_compute, job->n_compute, job->compute_group))
      return false;
    n_comm += comm;
    n_compute += !comm;
    if (n_compute + n_comm == lead) {
      if (!barrier (r->team))
        return false;
      compute_gate_open (&r->device);
    }
  }
  return true;
}

static bool
read_track (OverlapRank *r, OverlapTrack *track)
{
  track->end_s[0] = 0;
  for (unsigned i = 1; i <= track->n; i++) {
    float ms = 0;
    const char *error = NULL;
    if (!COMPUTE_TRY (cudaEventElapsedTime (&ms, r->start, track->event[i]), &error))
      return rank_failed (r, error);
    track->end_s[i] = (double)ms * 1e-3;
  }
  return true;
}

/* One run of the job on this rank. */
static bool
run_phase (OverlapRank *r)
{
  const char *error = NULL;
  r->compute.n = r->comm.n = 0;
  if (!barrier (r->team))
    return false;
  bool ok = compute_gate_close (&r->device, &error) && COMPUTE_TRY (cudaEventRecord (r->start, r->device.stream), &error) &&
            COMPUTE_TRY (cudaStreamWaitEvent (r->comm_stream, r->start, 0), &error);
  if (!ok)
    rank_failed (r, error);
  ok = ok && queue_all (r);
  compute_gate_open (&r->device);
  return ok && wait_streams (r) && read_track (r, &r->compute) && read_track (r, &r->comm);
}

static bool
open_gemm (OverlapRank *r, ComputeGemm *g, ComputeDtype dtype, const char **why)
{
  const ComputeProblem p = { dtype, COMPUTE_FORWARD, OVERLAP_GEMM_N, OVERLAP_GEMM_N, OVERLAP_GEMM_N, 1 };
  const ComputeLayout at = compute_layout (&p);
  if (!compute_gemm_open (g, &r->device, GEMM_SETS * (at.a_B + at.b_B), GEMM_SETS * at.c_B, why))
    return false;
  *why = compute_gemm_refuses (g, &p);
  return *why == NULL && compute_gemm_set (g, &p, why) && compute_gemm_check (g, why);
}

/* What a GPU cannot do is left out; the rest goes on. */
static void
open_computes (OverlapRank *r)
{
  const ComputeDtype dtypes[] = { COMPUTE_BF16, COMPUTE_FP8 };
  for (int i = 0; i <= OVERLAP_FP8_GEMM; i++) {
    const char *why = NULL;
    if (!open_gemm (r, &r->gemm[i], dtypes[i], &why))
      r->missing[i] = why;
  }
  const char *why = NULL;
  if (!compute_attention_open (&r->attention, &r->device, OVERLAP_HEADS, OVERLAP_LENGTH, false, &why))
    r->missing[OVERLAP_ATTENTION] = why;
}

static bool
open_track (OverlapTrack *track, const char **error)
{
  for (unsigned i = 0; i <= OVERLAP_EVENTS_MOST; i++)
    if (!COMPUTE_TRY (cudaEventCreate (&track->event[i]), error))
      return false;
  return true;
}

static bool
open_phase (OverlapRank *r)
{
  const char *error = NULL;
  const size_t comm_B = r->team->job.size_B;
  bool ok = compute_device_open (&r->device, r->index, &error) &&
            COMPUTE_TRY (cudaStreamCreateWithFlags (&r->comm_stream, cudaStreamNonBlocking), &error) &&
            COMPUTE_TRY (cudaEventCreate (&r->start), &error) && open_track (&r->compute, &error) &&
            open_track (&r->comm, &error) && COMPUTE_TRY (cudaMalloc (&r->copy, 2 * OVERLAP_COPY_B), &error) &&
            COMPUTE_TRY (cudaMalloc (&r->send, comm_B), &error) && COMPUTE_TRY (cudaMalloc (&r->receive, comm_B), &error) &&
            compute_fill (r->copy, 2 * OVERLAP_COPY_B, COMPUTE_BF16, FILL_SEED, r->device.stream, &error) &&
            compute_fill (r->send, comm_B, COMPUTE_BF16, FILL_SEED + 1 + (uint64_t)r->index, r->device.stream, &error) &&
            COMPUTE_TRY (cudaStreamSynchronize (r->device.stream), &error);
  if (ok) {
    open_computes (r);
    ok = COMPUTE_TRY (cudaStreamSynchronize (r->device.stream), &error); /* what broke the GPU ends the section */
  }
  return ok || rank_failed (r, error);
}

static void *
thread_main (void *rank)
{
  OverlapRank *r = (OverlapRank *)rank;
  OverlapTeam *t = r->team;
  if (cudaSetDevice (r->index) != cudaSuccess)
    rank_failed (r, "a GPU cannot be made the current one of a thread");
  else
    t->phase (r);
  t->n_done.fetch_add (1);
  return NULL;
}

/* Until all threads are done, `most_s` have passed, or (with `or_failed`) a rank has failed. true: all are done. */
static bool
wait_threads (const OverlapTeam *t, int n_started, double most_s, bool or_failed)
{
  const double until_s = probe_now () + most_s;
  while (t->n_done.load () < n_started) {
    if (probe_now () > until_s || (or_failed && t->failed.load ()))
      return false;
    nap ();
  }
  return true;
}

static const char *
first_error (const OverlapTeam *t)
{
  for (int i = 0; i < t->n; i++)
    if (t->rank[i].error != NULL)
      return t->rank[i].error;
  return "the GPUs did not end in time";
}

static void
abort_communicators (OverlapTeam *t)
{
  for (int i = 0; i < t->n; i++)
    if (t->rank[i].communicator != NULL) {
      ncclComm_t communicator = t->rank[i].communicator;
      cudaSetDevice (t->rank[i].index);
      ncclCommAbort (communicator);
      t->rank[i].communicator = NULL;
    }
}

/* Runs a phase in one thread a rank. Threads that are stuck in a call stay behind, and the team with them. */
static bool
run_threads (OverlapTeam *t, bool (*phase) (OverlapRank *), double most_s, const char **error)
{
  pthread_t *threads = (pthread_t *)calloc ((size_t)t->n, sizeof *threads);
  int n_started = 0;
  if (threads == NULL) {
    *error = "out of memory";
    return false;
  }
  t->phase = phase;
  t->failed.store (false);
  t->n_done.store (0);
  t->arrived.store (0);
  while (n_started < t->n && pthread_create (&threads[n_started], NULL, thread_main, &t->rank[n_started]) == 0)
    n_started++;
  if (n_started < t->n)
    rank_failed (&t->rank[n_started], "a thread could not be started");
  bool done = wait_threads (t, n_started, most_s, true);
  if (!done) {
    t->failed.store (true);
    done = wait_threads (t, n_started, GIVE_UP_S, false);
  }
  if (t->failed.load ()) {
    *error = first_error (t);
    abort_communicators (t);
    done = done || wait_threads (t, n_started, GIVE_UP_S, false);
  }
  for (int i = 0; i < n_started; i++)
    if (done)
      pthread_join (threads[i], NULL);
    else
      pthread_detach (threads[i]);
  t->lost = !done;
  free (threads);
  return !t->failed.load ();
}

bool
overlap_team_open (OverlapTeam *t, int n, size_t comm_B, const char **error)
{
  t->n = n;
  t->rank = (OverlapRank *)calloc ((size_t)n, sizeof *t->rank);
  if (t->rank == NULL) {
    *error = "out of memory";
    return false;
  }
  for (int i = 0; i < n; i++) {
    t->rank[i].team = t;
    t->rank[i].index = i;
  }
  t->job.size_B = comm_B;
  return run_threads (t, open_phase, OPEN_MOST_S, error);
}

static void
close_track (OverlapTrack *track)
{
  for (unsigned i = 0; i <= OVERLAP_EVENTS_MOST; i++)
    if (track->event[i] != NULL)
      cudaEventDestroy (track->event[i]);
}

void
overlap_team_close (OverlapTeam *t)
{
  if (t->lost || t->rank == NULL)
    return;
  overlap_team_disconnect (t);
  for (int i = 0; i < t->n; i++) {
    OverlapRank *r = &t->rank[i];
    cudaSetDevice (i);
    if (r->device.gate != NULL)
      compute_gate_open (&r->device);
    cudaDeviceSynchronize ();
    compute_attention_close (&r->attention);
    for (int g = 0; g <= OVERLAP_FP8_GEMM; g++)
      compute_gemm_close (&r->gemm[g]);
    cudaFree (r->copy);
    cudaFree (r->send);
    cudaFree (r->receive);
    close_track (&r->compute);
    close_track (&r->comm);
    if (r->start != NULL)
      cudaEventDestroy (r->start);
    if (r->comm_stream != NULL)
      cudaStreamDestroy (r->comm_stream);
    compute_device_close (&r->device);
    cudaGetLastError ();
  }
  cudaSetDevice (0);
  free (t->rank);
  t->rank = NULL;
}

bool
overlap_team_connect (OverlapTeam *t, int channels, const char **error)
{
  ncclUniqueId id;
  ncclResult_t result = ncclGetUniqueId (&id), first = ncclSuccess;
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  if (channels > 0)
    config.minCTAs = config.maxCTAs = channels;
  if (result == ncclSuccess)
    result = ncclGroupStart ();
  if (result == ncclSuccess) {
    for (int i = 0; i < t->n && first == ncclSuccess; i++) {
      cudaSetDevice (i); /* it has been one before, or the team had not opened */
      first = ncclCommInitRankConfig (&t->rank[i].communicator, t->n, id, i, &config);
    }
    result = ncclGroupEnd ();
    result = first != ncclSuccess ? first : result;
  }
  cudaSetDevice (0);
  if (result == ncclSuccess)
    return true;
  *error = ncclGetErrorString (result);
  /* What a failed start leaves in the handles is not to be touched. */
  for (int i = 0; i < t->n; i++)
    t->rank[i].communicator = NULL;
  return false;
}

void
overlap_team_disconnect (OverlapTeam *t)
{
  for (int i = 0; i < t->n; i++)
    if (t->rank[i].communicator != NULL) {
      cudaSetDevice (i);
      ncclCommDestroy (t->rank[i].communicator);
      t->rank[i].communicator = NULL;
    }
  cudaSetDevice (0);
}

bool
overlap_team_run (OverlapTeam *t, const OverlapJob *job, const char **error)
{
  t->job = *job;
  return run_threads (t, run_phase, RUN_MOST_S, error);
}

bool
overlap_window (const OverlapTeam *t, double *begin_s, double *end_s)
{
  double first_s = 0, last_s = INFINITY;
  for (int i = 0; i < t->n; i++) {
    const OverlapTrack *tracks[] = { &t->rank[i].compute, &t->rank[i].comm };
    for (int j = 0; j < 2; j++)
      if (tracks[j]->n > 0) {
        first_s = fmax (first_s, tracks[j]->end_s[1]);
        last_s = fmin (last_s, tracks[j]->end_s[tracks[j]->n]);
      }
  }
  if (!(last_s > first_s) || isinf (last_s))
    return false;
  *begin_s = first_s + 0.1 * (last_s - first_s);
  *end_s = last_s - 0.1 * (last_s - first_s);
  return true;
}

/* First event at or after begin_s, and how many groups end after it up to end_s. */
static unsigned
groups_within (const OverlapTrack *track, double begin_s, double end_s, unsigned *first)
{
  unsigned begin = 1, n = 0;
  while (begin <= track->n && track->end_s[begin] < begin_s)
    begin++;
  while (begin + n + 1 <= track->n && track->end_s[begin + n + 1] <= end_s)
    n++;
  *first = begin;
  return n;
}

size_t
overlap_slots (const OverlapTeam *t, bool comm, double begin_s, double end_s, double *sample_s)
{
  const unsigned group = comm ? t->job.comm_group : t->job.compute_group, all = comm ? t->job.n_comm : t->job.n_compute;
  unsigned least = OVERLAP_SLOTS_MOST, first;
  for (int i = 0; i < t->n; i++) {
    const unsigned n = groups_within (comm ? &t->rank[i].comm : &t->rank[i].compute, begin_s, end_s, &first);
    least = n < least ? n : least;
  }
  for (unsigned slot = 0; slot < least; slot++)
    sample_s[slot] = 0;
  for (int i = 0; i < t->n && least > 0; i++) {
    const OverlapTrack *track = comm ? &t->rank[i].comm : &t->rank[i].compute;
    const unsigned n = groups_within (track, begin_s, end_s, &first);
    for (unsigned slot = 0; slot < least; slot++) {
      const unsigned from = first + n * slot / least, to = first + n * (slot + 1) / least;
      const unsigned ended = to * group < all ? to * group : all; /* the last group may be smaller */
      sample_s[slot] += (track->end_s[to] - track->end_s[from]) / (ended - from * group) / t->n;
    }
  }
  return least;
}

double
overlap_total (const OverlapTeam *t)
{
  double total_s = 0;
  for (int i = 0; i < t->n; i++) {
    const OverlapTrack *tracks[] = { &t->rank[i].compute, &t->rank[i].comm };
    for (int j = 0; j < 2; j++)
      if (tracks[j]->n > 0)
        total_s = fmax (total_s, tracks[j]->end_s[tracks[j]->n]);
  }
  return total_s;
}
