/* The link section: what is shared by its plan (link.cu) and its copies (link_copy.cu). */
#ifndef FORERUN_PROBE_LINK_H
#define FORERUN_PROBE_LINK_H

#include "probe.h"
#include "probe_team.h"

#define LINK_GPUS_MOST 64

typedef enum { LANE_ENGINE, LANE_KERNEL, LANE_TO_GPU, LANE_FROM_GPU } LaneKind;

/* One stream of copies. `runs_on` is the GPU whose engine or SMs do it. A host has device -1. */
typedef struct {
  LaneKind kind;
  int runs_on, from, to;
  const char *source;
  char *target;
  size_t bytes;
  bool direct;     /* GPUs that reach each other; else the driver stages */
  unsigned blocks; /* of a kernel */
  cudaStream_t stream;
  cudaEvent_t begin, end;
} Lane;

/* Copies that run at the same time; a sample is the time of one copy in the slowest lane. */
typedef struct {
  Lane *lane;
  size_t n_lanes;
  unsigned k;       /* copies in a row; 0: not yet known */
  bool gated;       /* lanes wait on the GPU until all are filled, GPUs time them; else the host's clock */
  bool synchronous; /* one copy, then wait for it: what a program sees that needs the data */
  bool pageable;    /* each lane on its own thread, since such a copy does not return before it is done */
  volatile int *gate;
  ProbeTeam *team;
  double thread_begin_s[LINK_GPUS_MOST], thread_end_s[LINK_GPUS_MOST];
  bool thread_failed[LINK_GPUS_MOST];
} Copies;

/* Streams and events of each lane. False: PROBE_CUDA said why. What was made is unmade by lanes_close either way. */
bool lanes_open (Copies *copies);
void lanes_close (Copies *copies);
/* Loads this file's kernels on the current GPU: a first launch may wait for what runs there, and what runs there may be a gate. */
bool link_preload (void);
/* A ProbeSample over Copies. */
double copies_sample (void *copies, const char **error);
/* Fills sources, poisons targets, runs each lane once by itself, and compares all of each target. False: `error` says what
 * differs. */
bool copies_verify (Copies *copies, const char **error);
/* As many blocks as fill the SMs of the GPU, shared by so many lanes, and no more than the bytes are worth. */
unsigned kernel_blocks (int sms, unsigned n_lanes, size_t bytes);

/* Loads that each need the one before: seconds of one. */
typedef struct {
  int device;            /* the GPU that loads */
  const unsigned *chain; /* in memory that it reaches */
  unsigned *sink;        /* on the GPU */
  unsigned expected;     /* where the chain has led after all steps */
  cudaStream_t stream;
  cudaEvent_t begin, end;
} Chase;
#define CHASE_STRIDE_B 256     /* two sectors of a cache line apart: no load brings the next */
#define CHASE_BUFFER_B 2097152 /* 2 MiB: one large page, so that no step walks a page table; an L2 holds it */
#define CHASE_STEPS    4096
/* The chain as words of CHASE_BUFFER_B bytes, a random cycle through all nodes; returns where it leads from 0. */
unsigned chase_build (unsigned *words, uint64_t seed);
double chase_sample (void *chase, const char **error);

#endif
