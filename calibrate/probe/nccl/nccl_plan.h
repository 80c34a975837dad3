/* The stages of the NCCL section and their cases, in order. Pure. */
#ifndef FORERUN_PROBE_NCCL_PLAN_H
#define FORERUN_PROBE_NCCL_PLAN_H

#include "probe_plan.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NCCL_SETTINGS_MOST 4
#define NCCL_STAGES_MOST   18
/* Communicators that a worker keeps: four counts, and two by five numbers of channels; making one takes a second. */
#define NCCL_PLAN_SETS_MOST 16

typedef struct {
  const char *name;                        /* "auto", "ring_ll", …: one setting, one worker */
  const char *algo, *proto;                /* "auto", or what is forced */
  const char *setting[NCCL_SETTINGS_MOST]; /* NAME=VALUE of NCCL's environment */
  const char *buffers; /* "registered" with the communicator, "symmetric": in a window of all ranks; NULL: plain ones */
  bool p2p, choice;
  bool offered; /* NCCL may have it or not: where its first case is refused, the rest is not tried */
  bool stays;   /* its worker goes on: a later stage has the same name */
  double weight;
  ProbeRequest *request; /* without target and share */
  size_t n, room;
} NcclStage;

typedef struct {
  NcclStage stage[NCCL_STAGES_MOST];
  size_t n;
} NcclPlan;

/* False: out of memory. Needs nccl_plan_clear either way. */
bool nccl_plan_make (NcclPlan *plan, unsigned gpus, bool quick);
/* Over nodes of `gpus` GPUs, a process each; likewise. One node is no more than a check of it: there the program without MPI
 * measures. */
bool nccl_plan_make_nodes (NcclPlan *plan, unsigned nodes, unsigned gpus, bool quick, bool nvls);
void nccl_plan_clear (NcclPlan *plan);

#ifdef __cplusplus
}
#endif
#endif
