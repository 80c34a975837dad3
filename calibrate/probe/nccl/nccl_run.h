/* Running and timing one NCCL case inside a worker. */
#ifndef FORERUN_PROBE_NCCL_RUN_H
#define FORERUN_PROBE_NCCL_RUN_H

#include "nccl_agree.h"
#include "nccl_lib.h"
#include "nccl_plan.h"
#include "probe.h"
#include "probe_plan.h"
#include "probe_stats.h"
#include "probe_team.h"

#define NCCL_GPUS_MOST  64
#define NCCL_SETS_MOST  NCCL_PLAN_SETS_MOST
#define NCCL_ERROR_MOST 512

/* The communicators of one shape: of all its GPUs where this process has all, else of those that this process has. */
typedef struct {
  unsigned nodes, gpus, channels; /* nodes 0: free; channels 0: as NCCL likes */
  unsigned first, local;          /* ranks first to first + local - 1 are here */
  unsigned long used;             /* when last: the oldest gives way, or is the first to be closed */
  ncclComm_t comm[NCCL_GPUS_MOST];
} NcclSet;

typedef struct {
  unsigned n; /* GPUs of this process */
  bool alone; /* all ranks are here; else sets are made by nccl_make_set, as others are told to do at the same time */
  int device[NCCL_GPUS_MOST];
  size_t capacity_B; /* of each buffer */
  float *in[NCCL_GPUS_MOST], *out[NCCL_GPUS_MOST];
  unsigned filled[NCCL_GPUS_MOST];           /* whose input `in` holds, from 1; 0: nobody's */
  unsigned long long *wrong[NCCL_GPUS_MOST]; /* a counter on each GPU */
  cudaStream_t stream[NCCL_GPUS_MOST];
  ProbeTeam *team;
  NcclSet set[NCCL_SETS_MOST];
  unsigned long clock;              /* for NcclSet.used */
  float *words_host, *words_device; /* for nccl_meet.cu */
  unsigned words_ranks;             /* how many they are for */
  void (*alive) (void);
  unsigned in_a_row;           /* operations of each sample of the last case */
  char error[NCCL_ERROR_MOST]; /* of the last failure */
} NcclWorker;

/* nccl_check.cu: inputs are the same for all cases, so each is filled once for each rank that its GPU is. Poisons outputs; in
 * place: copies the input there. Done when it returns. False: PROBE_CUDA said why. */
bool nccl_prepare_output (NcclWorker *worker, const NcclSet *set, const ProbeRequest *request);
/* All of the outputs here are what the operation should have made; false: `worker->error` says what is not, and `*fatal` where it
 * could not be looked at. */
bool nccl_check_output (NcclWorker *worker, const NcclSet *set, const ProbeRequest *request, bool *fatal);

/* nccl_set.cu. */
/* False: worker->error says it. */
bool nccl_ok (NcclWorker *worker, ncclResult_t result, const char *what);
/* The set of that shape; NULL: worker->error. A process that is not alone has those that it made, one that is makes it. */
NcclSet *nccl_get_set (NcclWorker *worker, unsigned nodes, unsigned gpus, unsigned channels);
/* Part of a set whose other ranks are elsewhere: this process's first GPU is `rank`. Returns when all have joined. */
bool nccl_make_set (NcclWorker *worker, unsigned nodes, unsigned gpus, unsigned channels, unsigned rank, const ncclUniqueId *id);
bool nccl_drop_set (NcclWorker *worker, unsigned nodes, unsigned gpus, unsigned channels); /* false: there is none */
void nccl_close_sets (NcclWorker *worker);

/* nccl_meet.cu: nothing happens where all ranks are here. False: worker->error, and nothing more can be done with the set. */
bool nccl_meet (NcclWorker *worker, const NcclSet *set); /* returns when all ranks are in it, at nearly the same time */
bool nccl_agree (NcclWorker *worker, const NcclSet *set, const NcclSay *say, NcclVerdict *out);

/* nccl_run.cu. Samples of one operation; false: `worker->error`, and `*fatal` where the worker can do nothing more. */
bool nccl_run_case (NcclWorker *worker, const ProbeRequest *request, double out[PROBE_SAMPLES_MOST], size_t *n, bool *fatal);
/* Once, untimed. */
bool nccl_run_once (NcclWorker *worker, const ProbeRequest *request, bool *fatal);

#endif
