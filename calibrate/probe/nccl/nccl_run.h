/* Running and timing one NCCL case inside a worker. */
#ifndef FORERUN_PROBE_NCCL_RUN_H
#define FORERUN_PROBE_NCCL_RUN_H

#include "nccl_agree.h"
#include "nccl_operate.h"
#include "nccl_plan.h"
#include "probe.h"
#include "probe_stats.h"
#include "probe_team.h"

/* The communicators of one shape: of all its GPUs where this process has all, else of those that this process has. */
typedef struct {
  unsigned nodes, gpus, channels; /* nodes 0: free; channels 0: as NCCL likes */
  unsigned first, local;          /* ranks first to first + local - 1 are here */
  unsigned long used;             /* when last: the oldest gives way, or is the first to be closed */
  ncclComm_t comm[PROBE_GPUS_MOST];
  NcclHold hold[PROBE_GPUS_MOST][2]; /* of the input's and the output's buffer, where they are registered */
} NcclSet;

typedef struct {
  unsigned n; /* GPUs of this process */
  bool alone; /* all ranks are here; else sets are made by nccl_make_set, as others do at the same time, by command */
  int device[PROBE_GPUS_MOST];
  size_t capacity_B; /* of each buffer */
  NcclBuffers buffers;
  float *in[PROBE_GPUS_MOST], *out[PROBE_GPUS_MOST];
  unsigned filled[PROBE_GPUS_MOST];           /* whose input `in` holds, from 1; 0: nobody's */
  unsigned long long *wrong[PROBE_GPUS_MOST]; /* a counter on each GPU */
  cudaStream_t stream[PROBE_GPUS_MOST];
  ProbeTeam *team;
  NcclSet set[NCCL_PLAN_SETS_MOST];
  unsigned long clock;              /* for NcclSet.used */
  float *words_host, *words_device; /* for nccl_meet.cu */
  unsigned words_ranks;             /* how many they are for */
  void (*alive) (void);
} NcclWorker;

/* How a case ended; where it is not done, probe_why says why. */
typedef enum {
  NCCL_DONE,
  NCCL_REFUSED, /* this case alone */
  NCCL_BROKEN   /* the worker can do nothing more */
} NcclEnd;

/* nccl_check.cu: inputs are the same for all cases, so each is filled once for each rank that its GPU is. Poisons outputs; in
 * place: copies the input there. Done when it returns. */
bool nccl_prepare_output (NcclWorker *worker, const NcclSet *set, const ProbeRequest *request);
/* All of the outputs here are what the operation should have made. */
NcclEnd nccl_check_output (NcclWorker *worker, const NcclSet *set, const ProbeRequest *request);

/* nccl_set.cu: the set of the request's shape. A process that is not alone has those that it made, one that is makes it. */
NcclSet *nccl_get_set (NcclWorker *worker, const ProbeRequest *request);
/* Part of a set whose other ranks are elsewhere: this process's first GPU is the rank. Returns when all have joined. */
bool nccl_make_set (NcclWorker *worker, const ProbeJoin *join);
bool nccl_drop_set (NcclWorker *worker, const ProbeJoin *join); /* false: there is none */
void nccl_close_sets (NcclWorker *worker);

/* nccl_meet.cu: nothing happens where all ranks are here. False: nothing more can be done with the set. */
bool nccl_meet (NcclWorker *worker, const NcclSet *set); /* returns when all ranks are in it, at nearly the same time */
bool nccl_agree (NcclWorker *worker, const NcclSet *set, const NcclSay *say, NcclVerdict *out);

/* nccl_run.cu: samples of one operation, of so many in a row each. */
typedef struct {
  double sample_s[PROBE_SAMPLES_MOST];
  size_t n;
  unsigned in_a_row;
} NcclSamples;
NcclEnd nccl_run_case (NcclWorker *worker, const ProbeRequest *request, NcclSamples *out);
/* Once, untimed. */
NcclEnd nccl_run_once (NcclWorker *worker, const ProbeRequest *request);

#endif
