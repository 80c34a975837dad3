/* The threads of the overlap section. No wait here is without an end: barriers, streams and the threads themselves are given up
 * when any rank fails or a run takes longer than RUN_MOST_S, and NCCL's kernels, which would wait for their peers for ever, are
 * aborted then. */
#include <math.h>
#include <time.h>

#include "overlap.h"

/* Runs last a fraction of a second and the first of a communicator a few, when it connects; opening loads cuBLAS on every GPU. */
#define RUN_MOST_S  30.0
#define OPEN_MOST_S 60.0
/* What ranks have to give up once one has failed, before their communicators are aborted under them; and after that. */
#define GIVE_UP_S 5.0
#define POLL_NS   100000L
/* Operations of both streams that are queued before the gates open. With a stream's limit of about 1024 launches nothing waits. */
#define LEAD_N 64u

#define GEMM_SETS ((size_t)2)
#define FILL_SEED 23u
#define ELEMENT_B ((size_t)2) /* bf16 */

/* Waits for both streams, but not for ever. */
static bool
wait_streams (const OverlapRank *r, ncclComm_t communicator)
{
  const struct timespec nap = { 0, POLL_NS };
  for (const GpuTrack &track : r->track)
    for (;;) {
      cudaError_t status = cudaStreamQuery (track.stream);
      if (status == cudaSuccess)
        break;
      ncclResult_t result = ncclSuccess;
      if (status != cudaErrorNotReady)
        return probe_cuda_ok (status, "cudaStreamQuery", __FILE__, __LINE__);
      cudaGetLastError (); /* "not ready" is no error for the next call to find */
      if (!probe_team_goes_on (r->team->threads))
        return false;
      if (communicator != NULL &&
          (!nccl_ok (ncclCommGetAsyncError (communicator, &result), "ncclCommGetAsyncError") || !nccl_ok (result, "a collective")))
        return false;
      nanosleep (&nap, NULL);
    }
  return true;
}

static bool
queue_compute (OverlapRank *r, unsigned i)
{
  if (r->team->job.compute == OVERLAP_COPY)
    return compute_copy (&r->device, r->copy, r->copy + OVERLAP_COPY_B, OVERLAP_COPY_B);
  if (r->team->job.compute == OVERLAP_ATTENTION)
    return compute_attention_launch (&r->attention, i);
  return compute_gemm_launch (&r->gemm[r->team->job.compute], i);
}

/* Sizes are those of the larger buffer: what a rank holds after an all-gather, before a reduce-scatter or an all-to-all. */
static bool
queue_collective (const OverlapRank *r)
{
  const OverlapTeam *t = r->team;
  const OverlapJob *job = &t->job;
  const size_t part_B = job->size_B / t->n / COMPUTE_ALIGN_B * COMPUTE_ALIGN_B;
  NcclOperation o = NcclOperation ();
  o.op = job->collective;
  o.in = r->send;
  o.out = r->receive;
  o.count = (job->collective == PROBE_OP_ALL_REDUCE ? job->size_B : part_B) / ELEMENT_B;
  o.type = ncclBfloat16;
  o.element_B = ELEMENT_B;
  o.rank = (unsigned)(r - t->rank.data ());
  o.ranks = t->n;
  o.comm = t->communicator[o.rank];
  o.stream = r->track[OVERLAP_COMMUNICATING].stream;
  return nccl_ok (nccl_operate (&o), probe_op_name (o.op));
}

/* Queues operation i of one stream, with an event where a group ends. */
static bool
queue_one (OverlapRank *r, OverlapSide side, unsigned i)
{
  const auto &plan = r->team->job.side[side];
  if (side == OVERLAP_COMPUTING ? !queue_compute (r, i) : !queue_collective (r))
    return false;
  if ((i + 1) % plan.group != 0 && i + 1 != plan.n)
    return true;
  return gpu_track_mark (&r->track[side]);
}

/* Both streams in turn, so that neither runs dry; gates open everywhere when every rank has the first operations queued. */
static bool
queue_all (OverlapRank *r)
{
  const unsigned n_compute = r->team->job.side[OVERLAP_COMPUTING].n, n_comm = r->team->job.side[OVERLAP_COMMUNICATING].n;
  const unsigned all = n_compute + n_comm, lead = all < LEAD_N ? all : LEAD_N;
  unsigned computed = 0, communicated = 0;
  while (computed + communicated < all) {
    /* By shares done, cross-multiplied. */
    const bool comm = (uint64_t)communicated * n_compute < (uint64_t)computed * n_comm ||
                      (communicated < n_comm && computed == n_compute) || (communicated == 0 && n_comm > 0);
    if (comm ? !queue_one (r, OVERLAP_COMMUNICATING, communicated++) : !queue_one (r, OVERLAP_COMPUTING, computed++))
      return false;
    if (computed + communicated == lead) {
      if (!probe_team_barrier (r->team->threads))
        return false;
      gpu_gate_open (&r->device.gate);
    }
  }
  return true;
}

/* One run of the job on a rank. */
static bool
run_rank (unsigned rank, void *team)
{
  OverlapTeam *t = (OverlapTeam *)team;
  OverlapRank *r = &t->rank[rank];
  const GpuStream *on = &r->device.on;
  for (GpuTrack &track : r->track)
    track.n = 0;
  if (!PROBE_CUDA (cudaSetDevice (on->device)) || !probe_team_barrier (t->threads))
    return false;
  gpu_gate_close (&r->device.gate);
  bool ok = gpu_gate_hold (&r->device.gate, on) && PROBE_CUDA (cudaEventRecord (on->begin, on->stream)) &&
            PROBE_CUDA (cudaStreamWaitEvent (r->track[OVERLAP_COMMUNICATING].stream, on->begin, 0)) && queue_all (r);
  gpu_gate_open (&r->device.gate);
  ok = ok && wait_streams (r, t->communicator[rank]);
  for (GpuTrack &track : r->track)
    ok = ok && gpu_track_read (&track, on->begin);
  return ok;
}

static bool
open_gemm (OverlapRank *r, ComputeGemm *g, ComputeDtype dtype)
{
  const ComputeProblem p = { dtype, COMPUTE_FORWARD, OVERLAP_GEMM_N, OVERLAP_GEMM_N, OVERLAP_GEMM_N, 1 };
  const ComputeLayout at = compute_layout (&p);
  return compute_gemm_open (g, &r->device, GEMM_SETS * (at.a_B + at.b_B), GEMM_SETS * at.c_B) && compute_gemm_takes (g, &p) &&
         compute_gemm_set (g, &p) && compute_gemm_check (g);
}

/* What a GPU cannot do is left out; the rest goes on. */
static void
open_computes (OverlapRank *r)
{
  if (!open_gemm (r, &r->gemm[OVERLAP_BF16_GEMM], COMPUTE_BF16))
    r->missing[OVERLAP_BF16_GEMM] = probe_why ();
  if (!open_gemm (r, &r->gemm[OVERLAP_FP8_GEMM], COMPUTE_FP8))
    r->missing[OVERLAP_FP8_GEMM] = probe_why ();
  if (!compute_attention_open (&r->attention, &r->device, OVERLAP_HEADS, OVERLAP_LENGTH, false))
    r->missing[OVERLAP_ATTENTION] = probe_why ();
}

static bool
open_tracks (OverlapRank *r)
{
  cudaStream_t stream = NULL;
  return PROBE_CUDA (cudaStreamCreateWithFlags (&stream, cudaStreamNonBlocking)) &&
         gpu_track_open (&r->track[OVERLAP_COMMUNICATING], stream, OVERLAP_EVENTS_MOST) &&
         gpu_track_open (&r->track[OVERLAP_COMPUTING], r->device.on.stream, OVERLAP_EVENTS_MOST);
}

static bool
open_rank (unsigned rank, void *team)
{
  OverlapTeam *t = (OverlapTeam *)team;
  OverlapRank *r = &t->rank[rank];
  const size_t comm_B = t->job.size_B;
  r->team = t;
  if (!compute_device_open (&r->device, (int)rank) || !open_tracks (r) || !PROBE_CUDA (cudaMalloc (&r->copy, 2 * OVERLAP_COPY_B)) ||
      !PROBE_CUDA (cudaMalloc (&r->send, comm_B)) || !PROBE_CUDA (cudaMalloc (&r->receive, comm_B)) ||
      !compute_fill (r->copy, 2 * OVERLAP_COPY_B, COMPUTE_BF16, FILL_SEED, r->device.on.stream) ||
      !compute_fill (r->send, comm_B, COMPUTE_BF16, FILL_SEED + 1 + rank, r->device.on.stream) ||
      !PROBE_CUDA (cudaStreamSynchronize (r->device.on.stream)))
    return false;
  open_computes (r);
  return PROBE_CUDA (cudaStreamSynchronize (r->device.on.stream)); /* what broke the GPU ends the section */
}

static void
end_communicators (OverlapTeam *t, ncclResult_t (*end) (ncclComm_t))
{
  for (size_t i = 0; i < t->communicator.size (); i++)
    if (t->communicator[i] != NULL) {
      cudaSetDevice ((int)i);
      end (t->communicator[i]);
      t->communicator[i] = NULL;
    }
}

static void
abort_communicators (void *team)
{
  end_communicators ((OverlapTeam *)team, ncclCommAbort);
}

bool
overlap_team_open (OverlapTeam *t, unsigned n, size_t comm_B)
{
  const ProbeLimit limit = { OPEN_MOST_S, GIVE_UP_S, abort_communicators };
  t->n = n;
  t->rank.resize (n);
  t->communicator.resize (n);
  t->threads = probe_team_new (n);
  if (t->threads == NULL)
    return probe_fail ("no threads to be had");
  t->job.size_B = comm_B;
  return probe_team_run (t->threads, n, open_rank, t, &limit);
}

static void
close_rank (OverlapRank *r)
{
  cudaSetDevice (r->device.on.device);
  if (r->device.gate.word != NULL)
    gpu_gate_open (&r->device.gate);
  cudaDeviceSynchronize ();
  compute_attention_close (&r->attention);
  for (ComputeGemm &gemm : r->gemm)
    compute_gemm_close (&gemm);
  cudaFree (r->copy);
  cudaFree (r->send);
  cudaFree (r->receive);
  for (GpuTrack &track : r->track)
    gpu_track_close (&track);
  if (r->track[OVERLAP_COMMUNICATING].stream != NULL)
    cudaStreamDestroy (r->track[OVERLAP_COMMUNICATING].stream);
  compute_device_close (&r->device);
}

bool
overlap_team_close (OverlapTeam *t)
{
  if (!probe_team_free (t->threads))
    return false;
  overlap_team_disconnect (t);
  for (OverlapRank &rank : t->rank)
    close_rank (&rank);
  cudaSetDevice (0);
  return true;
}

bool
overlap_team_connect (OverlapTeam *t, unsigned channels)
{
  const NcclPart part = { t->n, 0, t->n, channels };
  int device[PROBE_GPUS_MOST];
  ncclUniqueId id;
  for (unsigned i = 0; i < t->n; i++)
    device[i] = (int)i;
  bool ok = nccl_ok (ncclGetUniqueId (&id), "ncclGetUniqueId") && nccl_join (&part, &id, device, t->communicator.data ());
  if (!ok)
    t->communicator.assign (t->n, NULL); /* what a failed start leaves there is not to be touched */
  cudaSetDevice (0);
  return ok;
}

void
overlap_team_disconnect (OverlapTeam *t)
{
  end_communicators (t, ncclCommDestroy);
  cudaSetDevice (0);
}

bool
overlap_team_run (OverlapTeam *t, const OverlapJob *job)
{
  const ProbeLimit limit = { RUN_MOST_S, GIVE_UP_S, abort_communicators };
  t->job = *job;
  return probe_team_run (t->threads, t->n, run_rank, t, &limit);
}

/* The part of the last run in which each stream that had work was busy on every GPU, without its first and last tenth. */
static bool
busy_window (const OverlapTeam *t, double *begin_s, double *end_s)
{
  double first_s = 0, last_s = INFINITY;
  for (const OverlapRank &rank : t->rank)
    for (const GpuTrack &track : rank.track)
      if (track.n > 0) {
        first_s = fmax (first_s, track.at_s[0]);
        last_s = fmin (last_s, track.at_s[track.n - 1]);
      }
  *begin_s = first_s + 0.1 * (last_s - first_s);
  *end_s = last_s - 0.1 * (last_s - first_s);
  return last_s > first_s && !isinf (last_s);
}

/* First mark at or after begin_s, and how many groups end after it up to end_s. */
static unsigned
groups_within (const GpuTrack *track, double begin_s, double end_s, unsigned *first)
{
  unsigned begin = 0, n = 0;
  while (begin < track->n && track->at_s[begin] < begin_s)
    begin++;
  while (begin + n + 1 < track->n && track->at_s[begin + n + 1] <= end_s)
    n++;
  *first = begin;
  return n;
}

size_t
overlap_slots (const OverlapTeam *t, OverlapSide side, double *sample_s)
{
  const unsigned group = t->job.side[side].group, all = t->job.side[side].n;
  unsigned least = OVERLAP_SLOTS_MOST, first;
  double begin_s, end_s;
  if (!busy_window (t, &begin_s, &end_s))
    return 0;
  for (const OverlapRank &rank : t->rank) {
    const unsigned n = groups_within (&rank.track[side], begin_s, end_s, &first);
    least = n < least ? n : least;
  }
  for (unsigned slot = 0; slot < least; slot++) {
    sample_s[slot] = 0;
    for (const OverlapRank &rank : t->rank) {
      const GpuTrack *track = &rank.track[side];
      const unsigned n = groups_within (track, begin_s, end_s, &first);
      const unsigned from = first + n * slot / least, to = first + n * (slot + 1) / least;
      const unsigned begun = (from + 1) * group;
      const unsigned ended = (to + 1) * group < all ? (to + 1) * group : all; /* the last group may be smaller */
      sample_s[slot] += (track->at_s[to] - track->at_s[from]) / (ended - begun) / t->n;
    }
  }
  return least;
}

double
overlap_total (const OverlapTeam *t)
{
  double total_s = 0;
  for (const OverlapRank &rank : t->rank)
    for (const GpuTrack &track : rank.track)
      total_s = fmax (total_s, track.n > 0 ? track.at_s[track.n - 1] : 0);
  return total_s;
}
