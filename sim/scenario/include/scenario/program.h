/* Workloads of kind `program`: a small graph of copies, kernels, reads and collectives on named streams with events, as a CUDA
 * program queues them. */
#ifndef SCENARIO_PROGRAM_H
#define SCENARIO_PROGRAM_H

#include "base/schema.h"

/* What an operation does; NONE: it only waits or records. */
typedef enum {
  SCN_DO_NONE,
  SCN_DO_COPY,
  SCN_DO_KERNEL,
  SCN_DO_COLLECTIVE,
  SCN_DO_READ,
  SCN_DO_WRITE,
  SCN_DO_PUT,
  SCN_DO_DELAY
} ScnDo;
extern const BaseName scn_do_names[];

typedef struct {
  BaseHead head;
  BaseStr from, to;
  BaseNum bytes;
  BaseEnum memory; /* 0: pinned, 1: pageable; of a put: always pinned */
} ScnDoCopy;

typedef struct {
  BaseHead head;
  BaseNum m, n, k, batch;
  BaseEnum dtype; /* MdlPrecision */
} ScnDoGemm;

typedef struct {
  BaseHead head;
  BaseNum time;   /* given, or: */
  ScnDoGemm gemm; /* a matrix product, or: */
  BaseNum bytes;  /* read and written, together */
  BaseNum sms;    /* fraction of the GPU's SMs that it fills */
} ScnDoKernel;

typedef struct {
  BaseHead head;
  BaseEnum op, dtype, algo, proto;
  BaseNum bytes, root;
  BaseStr gpus;
} ScnDoCollective;

typedef struct {
  BaseHead head;
  BaseStr tier, gpu; /* gpu: default the stream's */
  BaseNum bytes, io_size, threads, queue_depth;
  BaseEnum path; /* StoIoPath */
} ScnDoIo;

/* A wait for what was recorded in an earlier iteration. */
typedef struct {
  BaseHead head;
  BaseStr event;
  BaseNum iterations;
} ScnWaitEarlier;

/* One entry of a stream: waits, then does, then records. */
typedef struct {
  BaseHead head;
  BaseStr name;
  BaseStrs wait;
  ScnWaitEarlier earlier;
  ScnDoCopy copy, put;
  ScnDoKernel kernel;
  ScnDoCollective collective;
  ScnDoIo read, write;
  BaseNum delay; /* the stream is empty: its host queues late */
  BaseStr record;
} ScnProgramItem;

typedef struct {
  BaseHead head;
  BaseStr name, gpu;
  BaseList items; /* ScnProgramItem */
} ScnProgramStream;

/* Who is slowed where kernels and collectives share a GPU. COLLECTIVES: kernels keep their times, which include it. */
typedef enum { SCN_SLOWS_BOTH, SCN_SLOWS_COLLECTIVES, SCN_SLOWS_NONE } ScnSlows;

typedef struct {
  BaseHead head;
  BaseEnum kind, interference; /* ScnSlows */
  BaseNum repeat;
  BaseList streams; /* ScnProgramStream */
} ScnProgramSpec;
extern const BaseSchema scn_schema_program, scn_schema_chakra;

/* Of a stream. Texts are borrowed from the scenario. */
typedef struct {
  const char *name, *gpu;
  unsigned operations; /* of one iteration */
  double busy_s;       /* operations of the stream run */
  double idle;         /* fraction of the whole time */
} ScnStreamResult;

/* Of an operation, in the order of the file. */
typedef struct {
  const char *stream; /* borrowed */
  char *name;         /* owned */
  ScnDo what;
  double alone_s;                /* with nothing else running */
  double start_s, end_s;         /* in the first iteration */
  double mid_start_s, mid_end_s; /* in the iteration ScnProgramResult.middle; NAN: there is only one */
  double chain_s;                /* time on the longest chain, of all iterations */
  double chain;                  /* the same as a fraction of the whole time */
} ScnOperationResult;

typedef struct {
  unsigned repeat, middle; /* middle: counts from 0 */
  double time_s;
  double iteration_s; /* from one iteration to the next in steady state, of the slowest stream */
  double serial_s;    /* all operations of all iterations one after the other, each alone */
  double hidden;      /* fraction of serial_s that overlap saves */
  char *bottleneck;   /* owned: operations of one name, the largest part of the longest chain; NULL: nothing takes time */
  double bottleneck_share;
  const char *bound_by; /* what that does, static */
  GArray *streams;      /* ScnStreamResult */
  GArray *operations;   /* ScnOperationResult; what only waits or records is left out */
} ScnProgramResult;

#endif
