/* Ranks of the overlap section: one GPU and one thread each, a compute stream and a communication stream. */
#ifndef FORERUN_PROBE_OVERLAP_H
#define FORERUN_PROBE_OVERLAP_H

#include <atomic>

#include "compute.h"
#include "nccl_lib.h"

/* Events of one stream in one run; runs of more operations record one after several. */
#define OVERLAP_EVENTS_MOST 512u
#define OVERLAP_SLOTS_MOST  8u
/* The GEMM's M, N and K, and each of the copy's two arrays. */
#define OVERLAP_GEMM_N 8192
#define OVERLAP_COPY_B ((size_t)512 << 20)
/* Attention, not causal, of one long sequence. */
#define OVERLAP_HEADS  32
#define OVERLAP_LENGTH 8192

typedef enum { OVERLAP_BF16_GEMM, OVERLAP_FP8_GEMM, OVERLAP_COPY, OVERLAP_ATTENTION, OVERLAP_N_COMPUTES } OverlapCompute;
typedef enum {
  OVERLAP_ALL_REDUCE,
  OVERLAP_ALL_GATHER,
  OVERLAP_REDUCE_SCATTER,
  OVERLAP_ALLTOALL,
  OVERLAP_N_COLLECTIVES
} OverlapCollective;

/* A run: so many operations on each stream, started together. 0: the stream stays empty. */
typedef struct {
  OverlapCompute compute;
  unsigned n_compute, compute_group; /* operations, and how many of them between two events */
  OverlapCollective collective;
  size_t size_B;
  unsigned n_comm, comm_group;
} OverlapJob;

typedef struct OverlapTeam OverlapTeam;

/* Ends of groups of operations on a stream, in seconds after the run's start; [0] is the start. */
typedef struct {
  cudaEvent_t event[OVERLAP_EVENTS_MOST + 1];
  double end_s[OVERLAP_EVENTS_MOST + 1];
  unsigned n; /* without the start */
} OverlapTrack;

typedef struct {
  OverlapTeam *team;
  int index;
  ComputeDevice device;                    /* its stream is the compute stream */
  ComputeGemm gemm[OVERLAP_FP8_GEMM + 1];  /* by OverlapCompute */
  const char *missing[OVERLAP_N_COMPUTES]; /* NULL, or why this GPU cannot do it */
  unsigned char *copy;                     /* two arrays */
  ComputeAttention attention;
  unsigned char *send, *receive;
  cudaStream_t comm_stream;
  cudaEvent_t start;
  OverlapTrack compute, comm;
  ncclComm_t communicator;
  const char *error; /* why this rank failed */
} OverlapRank;

struct OverlapTeam {
  int n;
  OverlapRank *rank;
  OverlapJob job;
  bool (*phase) (OverlapRank *rank); /* what the threads run */
  bool lost;                         /* a thread is stuck: nothing may be freed */
  std::atomic<bool> failed;          /* a thread failed or was too slow; all the others give up where they wait */
  std::atomic<int> n_done;
  std::atomic<int> arrived; /* at the barrier */
  std::atomic<unsigned> generation;
};

/* Opens all ranks in threads of their own, without communicators. false: why is in *error. */
bool overlap_team_open (OverlapTeam *t, int n, size_t comm_B, const char **error);
void overlap_team_close (OverlapTeam *t);
/* Communicators with `channels` each, 0: as many as NCCL likes. */
bool overlap_team_connect (OverlapTeam *t, int channels, const char **error);
void overlap_team_disconnect (OverlapTeam *t);
/* Runs the job on all ranks and fills their tracks. After a failure the team has no communicators any more. */
bool overlap_team_run (OverlapTeam *t, const OverlapJob *job, const char **error);

/* The part of the last run in which each stream that had work was busy on every GPU, without its first and last tenth. */
bool overlap_window (const OverlapTeam *t, double *begin_s, double *end_s);
/* Seconds per operation of one stream within the window, in up to OVERLAP_SLOTS_MOST successive parts, each the mean over the GPUs.
 * Returns how many, 0: the window holds less than one group of operations on some GPU. */
size_t overlap_slots (const OverlapTeam *t, bool comm, double begin_s, double end_s, double *sample_s);
/* Until all is done on every GPU. */
double overlap_total (const OverlapTeam *t);

#endif
