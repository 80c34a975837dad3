/* The link section: what is shared by its plan (link.cu) and its copies (link_copy.cu). */
#ifndef FORERUN_PROBE_LINK_H
#define FORERUN_PROBE_LINK_H

#include "gpu.h"
#include "probe_team.h"

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
  GpuStream stream;
} Lane;

/* How copies of all lanes begin together and are timed. */
typedef enum {
  COPIES_GATED,       /* streams wait on the GPU until all are filled, GPUs time them */
  COPIES_BY_HOST,     /* by the host's clock */
  COPIES_SYNCHRONOUS, /* likewise one copy, then the wait for it: what a program sees that needs the data */
  COPIES_THREADS      /* each lane on its own thread, since a copy of pageable memory does not return before it is done */
} CopiesMode;

typedef struct {
  CopiesMode mode;
  std::vector<Lane> lanes;
  std::vector<GpuWork> work; /* one a lane, once open */
  GpuGate *gate;
  ProbeTeam *team;
  unsigned n; /* copies in a row of each thread */
} Copies;

#define COPIES_GATE_S   3.0
#define COPIES_FILLED_S 1.0 /* filling the lanes takes microseconds */

/* Streams of each lane. What was opened is closed by copies_close either way. */
bool copies_open (Copies *copies);
void copies_close (Copies *copies);
/* Loads this file's kernels on the current GPU: a first launch may wait for what runs there, and what runs there may be a gate. */
bool link_preload (void);
/* Finds how many copies in a row make a sample. */
bool copies_settle (Copies *copies, ProbeRepeat *repeat);
/* Fills sources, poisons targets, runs each lane once by itself, and compares all of each target. */
bool copies_verify (Copies *copies);
/* As many blocks as fill the SMs of the GPU, shared by so many lanes, and no more than the bytes are worth. */
unsigned kernel_blocks (int sms, unsigned n_lanes, size_t bytes);

/* Copies beside kernels; copies from and to each NUMA node of the host (link_beside.cu). */
void link_beside (Probe *probe);
void link_numa (Probe *probe);

/* Loads that each need the one before. */
typedef struct {
  const unsigned *chain; /* in memory that the GPU of the stream reaches */
  unsigned *sink;        /* on that GPU */
  unsigned expected;     /* where the chain has led after all steps */
  GpuStream stream;
} Chase;
#define CHASE_STRIDE_B 256     /* two sectors of a cache line apart: no load brings the next */
#define CHASE_BUFFER_B 2097152 /* 2 MiB: one large page, so that no step walks a page table; an L2 holds it */
#define CHASE_STEPS    4096
/* The chain as words of CHASE_BUFFER_B bytes, a random cycle through all nodes; returns where it leads from 0. */
unsigned chase_build (unsigned *words, uint64_t seed);
double chase_sample (void *chase); /* seconds of one load */

#endif
