/* What a training step of a model did when: slices on the streams of one rank a pipeline rank, arrows between them, and what
 * changed over time. Times are seconds from the step's begin. */
#ifndef WORKLOAD_TRACE_H
#define WORKLOAD_TRACE_H

#include "models/op.h"

G_BEGIN_DECLS

typedef enum {
  WRK_TRACE_FORWARD, WRK_TRACE_BACKWARD, WRK_TRACE_RECOMPUTE, WRK_TRACE_OPTIMIZER, WRK_TRACE_COPY, WRK_TRACE_HOST, WRK_TRACE_TP,
  WRK_TRACE_CP, WRK_TRACE_EP, WRK_TRACE_DP, WRK_TRACE_SEND, WRK_TRACE_KINDS
} WrkTraceKind;
extern const char *const wrk_trace_kind_names[WRK_TRACE_KINDS]; /* "forward" … */

/* Names are borrowed from the trace. */
typedef struct {
  guint32 process, thread;  /* pipeline rank, stream: numbers of WrkTrace's lists */
  WrkTraceKind kind;
  const char *name;
  double start_s, end_s;
  double alone_s;           /* what it takes where nothing slows it */
  gint32 micro_batch, chunk; /* below 0: of none */
  gint32 layer;             /* of the model; below 0: of none */
  /* of communication; n_ranks 0: none */
  MdlOp op;
  MdlAlgo algo;
  MdlProto proto;
  guint32 n_ranks;
  double bytes;             /* as nccl-tests counts them */
} WrkSlice;

/* What a pipeline rank did in micro-batches that have no slices: one kind of work on one stream, gaps within it of at most
 * WRK_STRETCH_GAP of the step. */
#define WRK_STRETCH_GAP (1.0 / 8000)
typedef struct {
  guint32 process;
  WrkTraceKind kind;
  gboolean weight; /* of BACKWARD: gradients of weights, put off by the schedule */
  double start_s, end_s;
} WrkStretch;

/* From within the slice that begins at from_s to the one that begins at to_s. */
typedef struct {
  guint32 from_process, from_thread, to_process, to_thread;
  double from_s, to_s;
  const char *name;
} WrkArrow;

/* From at_s on a counter has this value. */
typedef struct {
  guint32 counter;
  double at_s, value;
} WrkSample;

typedef struct {
  gint32 process; /* whose it is; -1: of the cluster */
  char *name;     /* owned */
  const char *unit;
} WrkCounter;

typedef struct WrkTrace WrkTrace;

void wrk_trace_free (WrkTrace *trace);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (WrkTrace, wrk_trace_free)

const GPtrArray *wrk_trace_processes (const WrkTrace *trace); /* char *: "stage 0 (rank 0)" */
guint wrk_trace_n_threads (const WrkTrace *trace);
const char *wrk_trace_thread (const WrkTrace *trace, guint thread);
const GArray *wrk_trace_slices (const WrkTrace *trace);   /* WrkSlice, by process, in the order of the program */
const GArray *wrk_trace_stretches (const WrkTrace *trace); /* WrkStretch, by stream, rising; empty where all has slices */
const GArray *wrk_trace_arrows (const WrkTrace *trace);   /* WrkArrow */
const GArray *wrk_trace_counters (const WrkTrace *trace); /* WrkCounter */
const GArray *wrk_trace_samples (const WrkTrace *trace);  /* WrkSample, by counter, then time */
/* Which micro-batches are in it, as a sentence; NULL: all. */
const char *wrk_trace_written (const WrkTrace *trace);

G_END_DECLS

#endif
