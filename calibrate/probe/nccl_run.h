/* Running and timing one NCCL case inside a worker. */
#ifndef FORERUN_PROBE_NCCL_RUN_H
#define FORERUN_PROBE_NCCL_RUN_H

#include "nccl_lib.h"
#include "probe.h"
#include "probe_plan.h"
#include "probe_stats.h"
#include "probe_team.h"

#define NCCL_GPUS_MOST  64
#define NCCL_SETS_MOST  16 /* four counts, and two by five numbers of channels: making one takes a second */
#define NCCL_ERROR_MOST 512

/* The communicators of one GPU count. */
typedef struct {
  unsigned gpus, channels; /* gpus 0: free; channels 0: as NCCL likes */
  unsigned long used;      /* when last: the oldest gives way */
  ncclComm_t comm[NCCL_GPUS_MOST];
} NcclSet;

typedef struct {
  unsigned n;
  size_t capacity_B; /* of each buffer */
  float *in[NCCL_GPUS_MOST], *out[NCCL_GPUS_MOST];
  unsigned long long *wrong[NCCL_GPUS_MOST]; /* a counter on each GPU */
  cudaStream_t stream[NCCL_GPUS_MOST];
  ProbeTeam *team;
  NcclSet set[NCCL_SETS_MOST];
  unsigned long clock; /* for NcclSet.used */
  void (*alive) (void);
  unsigned in_a_row; /* operations of each sample of the last case */
  char error[NCCL_ERROR_MOST]; /* of the last failure */
} NcclWorker;

/* nccl_check.cu: inputs are the same for all cases, so they are filled once. False: PROBE_CUDA said why. */
bool nccl_fill_input (NcclWorker *worker, unsigned rank);
/* Poisons the output; in place: copies the input there. Done when it returns. */
bool nccl_prepare_output (NcclWorker *worker, const ProbeRequest *request);
/* All of all outputs are what the operation should have made; false: `worker->error` says what is not. */
bool nccl_check_output (NcclWorker *worker, const ProbeRequest *request);

/* nccl_run.cu. Samples of one operation; false: `worker->error`, and `*fatal` where the worker can do nothing more. */
bool nccl_run_case (NcclWorker *worker, const ProbeRequest *request, double out[PROBE_SAMPLES_MOST], size_t *n, bool *fatal);
/* Once, untimed. */
bool nccl_run_once (NcclWorker *worker, const ProbeRequest *request, bool *fatal);
void nccl_close_sets (NcclWorker *worker);

#endif
