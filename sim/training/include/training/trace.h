/* What a training step of a model did when: slices on the streams of one rank a pipeline rank, arrows between them, and what
 * changed over time. Times are seconds from the step's begin. */
#ifndef TRAINING_TRACE_H
#define TRAINING_TRACE_H

#include "models/op.h"

typedef enum {
  TRN_TRACE_FORWARD,
  TRN_TRACE_BACKWARD,
  TRN_TRACE_RECOMPUTE,
  TRN_TRACE_OPTIMIZER,
  TRN_TRACE_COPY,
  TRN_TRACE_HOST,
  TRN_TRACE_TP,
  TRN_TRACE_CP,
  TRN_TRACE_EP,
  TRN_TRACE_DP,
  TRN_TRACE_SEND,
  TRN_TRACE_KINDS
} TrnTraceKind;
extern const char *const trn_trace_kind_names[TRN_TRACE_KINDS]; /* "forward" … */

/* Names are borrowed from the trace. */
typedef struct {
  guint32 process, thread; /* pipeline rank, stream: numbers of TrnTrace's lists */
  TrnTraceKind kind;
  const char *name;
  const char *kernels; /* of compute: the works that it is made of, "norm, qkv"; NULL: not known */
  double start_s, end_s;
  double alone_s;            /* what it takes where nothing slows it */
  gint32 micro_batch, chunk; /* below 0: of none */
  gint32 layer;              /* of the model; below 0: of none */
  /* of communication; n_ranks 0: none */
  MdlOp op;
  MdlAlgo algo;
  MdlProto proto;
  guint32 n_ranks;
  double bytes; /* as nccl-tests counts them */
} TrnSlice;

/* What a pipeline rank did in micro-batches that have no slices: one kind of work on one stream, gaps within it of at most
 * TRN_TRACE_SPAN_GAP of the step. */
#define TRN_TRACE_SPAN_GAP (1.0 / 8000)
typedef struct {
  guint32 process;
  TrnTraceKind kind;
  gboolean weight; /* of BACKWARD: gradients of weights, put off by the schedule */
  double start_s, end_s;
} TrnTraceSpan;

/* From within the slice that begins at from_s to the one that begins at to_s. */
typedef struct {
  guint32 from_process, from_thread, to_process, to_thread;
  double from_s, to_s;
  const char *name;
} TrnArrow;

/* From at_s on a counter has this value. */
typedef struct {
  guint32 counter;
  double at_s, value;
} TrnSample;

typedef struct {
  gint32 process; /* whose it is; -1: of the cluster */
  char *name;     /* owned */
  const char *unit;
} TrnCounter;

typedef struct TrnTrace TrnTrace;

void trn_trace_free (TrnTrace *trace);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TrnTrace, trn_trace_free)

const GPtrArray *trn_trace_processes (const TrnTrace *trace); /* char *: "stage 0 (rank 0)" */
guint trn_trace_n_threads (const TrnTrace *trace);
const char *trn_trace_thread (const TrnTrace *trace, guint thread);
const GArray *trn_trace_slices (const TrnTrace *trace);    /* TrnSlice, by process, in the order of the program */
const GArray *trn_trace_stretches (const TrnTrace *trace); /* TrnTraceSpan, by stream, rising; empty where all has slices */
const GArray *trn_trace_arrows (const TrnTrace *trace);    /* TrnArrow */
const GArray *trn_trace_counters (const TrnTrace *trace);  /* TrnCounter */
const GArray *trn_trace_samples (const TrnTrace *trace);   /* TrnSample, by counter, then time */
/* Which micro-batches are in it, as a sentence; NULL: all. */
const char *trn_trace_written (const TrnTrace *trace);

#endif
