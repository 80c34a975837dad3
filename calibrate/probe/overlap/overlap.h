/* Ranks of the overlap section: one GPU and one thread each, a compute stream and a communication stream. */
#ifndef FORERUN_PROBE_OVERLAP_H
#define FORERUN_PROBE_OVERLAP_H

#include "compute.h"
#include "nccl_operate.h"
#include "probe_team.h"

/* Marks of one stream in one run; runs of more operations make one after several. */
#define OVERLAP_EVENTS_MOST 512u
#define OVERLAP_SLOTS_MOST  8u
/* The GEMM's M, N and K, and each of the copy's two arrays. */
#define OVERLAP_GEMM_N 8192
#define OVERLAP_COPY_B ((size_t)512 << 20)
/* Attention, not causal, of one long sequence. */
#define OVERLAP_HEADS  32
#define OVERLAP_LENGTH 8192

typedef enum { OVERLAP_BF16_GEMM, OVERLAP_FP8_GEMM, OVERLAP_COPY, OVERLAP_ATTENTION, OVERLAP_N_COMPUTES } OverlapCompute;
typedef enum { OVERLAP_COMPUTING, OVERLAP_COMMUNICATING, OVERLAP_N_SIDES } OverlapSide;

/* A run: so many operations on each stream, started together. */
typedef struct {
  OverlapCompute compute;
  ProbeOp collective;
  size_t size_B;
  struct {
    unsigned n;     /* operations; 0: the stream stays empty */
    unsigned group; /* how many of them between two events */
  } side[OVERLAP_N_SIDES];
} OverlapJob;

typedef struct OverlapTeam OverlapTeam;

typedef struct {
  OverlapTeam *team;
  ComputeDevice device;                    /* its stream is the compute stream */
  ComputeGemm gemm[OVERLAP_FP8_GEMM + 1];  /* by OverlapCompute */
  std::string missing[OVERLAP_N_COMPUTES]; /* "", or why this GPU cannot do it */
  unsigned char *copy;                     /* two arrays */
  ComputeAttention attention;
  unsigned char *send, *receive;
  GpuTrack track[OVERLAP_N_SIDES]; /* ends of groups of operations, after the run's start */
} OverlapRank;

struct OverlapTeam {
  unsigned n;
  std::vector<OverlapRank> rank;
  std::vector<ncclComm_t> communicator; /* one a rank, each NULL where there is none */
  OverlapJob job;
  ProbeTeam *threads;
};

/* Opens all ranks in threads of their own, without communicators. Close after a failed open as well. */
bool overlap_team_open (OverlapTeam *t, unsigned n, size_t comm_B);
/* False: threads are stuck in a call and still look at the team; nothing was freed, nor may `t` be. */
bool overlap_team_close (OverlapTeam *t);
/* Communicators with `channels` each, 0: as many as NCCL likes. */
bool overlap_team_connect (OverlapTeam *t, unsigned channels);
void overlap_team_disconnect (OverlapTeam *t);
/* Runs the job on all ranks and fills their tracks. After a failure the team has no communicators any more. */
bool overlap_team_run (OverlapTeam *t, const OverlapJob *job);

/* Seconds per operation of one stream while each stream that had work was busy on every GPU, without the first and last tenth of
 * that time: in up to OVERLAP_SLOTS_MOST successive parts, each the mean over the GPUs. Returns how many, 0: that time holds less
 * than one group of operations on some GPU. */
size_t overlap_slots (const OverlapTeam *t, OverlapSide side, double *sample_s);
/* Until all is done on every GPU. */
double overlap_total (const OverlapTeam *t);

#endif
