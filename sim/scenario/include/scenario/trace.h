/* What a profiler recorded of GPUs: one step of it becomes a workload of kind `program`, whose collectives are priced on another
 * cluster. Readers (Kineto) fill a trace; the rest is the same for all. */
#ifndef SCENARIO_TRACE_H
#define SCENARIO_TRACE_H

#include "base/diag.h"
#include "models/op.h"

/* What a GPU does, by the kernel's name. */
typedef enum {
  SCN_TRACE_GEMM,
  SCN_TRACE_ATTENTION,
  SCN_TRACE_CONVOLUTION,
  SCN_TRACE_NORM,
  SCN_TRACE_OPTIMIZER,
  SCN_TRACE_OTHER,
  SCN_TRACE_COPY,
  SCN_TRACE_COLLECTIVE,
  SCN_TRACE_N
} ScnTraceClass;
extern const BaseName scn_trace_class_names[];

typedef struct ScnTrace ScnTrace;

/* Of one rank's step. Times in seconds. */
typedef struct {
  guint rank;
  double step_s;
  double compute_s;         /* some kernel or copy runs */
  double communication_s;   /* some collective runs */
  double exposed_s;         /* a collective runs, and no kernel */
  double idle_s;            /* nothing runs */
  double of_s[SCN_TRACE_N]; /* sum of durations, by class */
  guint n_of[SCN_TRACE_N];
} ScnTraceSummary;

/* How the step is written. */
typedef struct {
  const char *name;     /* of the scenario */
  const char *topology; /* as the scenario names it */
  guint nodes;
  guint gpus_per_node; /* that the scenario uses of each node */
  guint gpus_of_node;  /* that a node of the topology has */
} ScnTraceTarget;

/* What a file may not say. */
typedef struct {
  guint ranks;           /* of the run that was recorded; Kineto says it */
  gboolean keep_unsized; /* NCCL's kernels without a size keep their times, instead of being refused */
  gboolean shapes;       /* operations of the framework are read with their shapes */
} ScnTraceOptions;

/* Returned: full, scn_trace_free. Warnings go to `warnings`, which is borrowed. */
ScnTrace *scn_trace_new (const ScnTraceOptions *options, BaseDiag *warnings);
void scn_trace_free (ScnTrace *trace);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (ScnTrace, scn_trace_free)

/* Adds the rank of a file of PyTorch's profiler: Kineto's JSON, or what gzip made of it. FALSE and *error (BASE_ERROR_INPUT, with
 * line and event) where it is cut off, of another version, without kernels, or where an NCCL kernel lacks its size. */
gboolean scn_trace_read_kineto (ScnTrace *trace, const char *path, const char *bytes, gsize n_B, GError **error);
/* Adds the ranks of an export of Nsight Systems: SQLite, where this build has it, or the CSV of its cuda_gpu_trace. */
gboolean scn_trace_read_nsys (ScnTrace *trace, const char *path, const char *bytes, gsize n_B, GError **error);

/* Takes step `number` of each rank; negative: the one of median length. FALSE and *error where a rank lacks it, and where ranks do
 * not call the same collectives. To be called once, after all files. */
gboolean scn_trace_take_step (ScnTrace *trace, gint64 number, GError **error);
/* Number of the step taken; negative: the trace marks no steps, and was taken whole. */
gint64 scn_trace_step (const ScnTrace *trace);
/* GPUs of the run that was recorded. */
guint scn_trace_world (const ScnTrace *trace);
/* The GPU's name as the driver says it; NULL: not in the trace. */
const char *scn_trace_gpu (const ScnTrace *trace);

/* ScnTraceSummary of each rank. Returned: full. */
GArray *scn_trace_summaries (const ScnTrace *trace);
/* The same as a table, each line after `prefix`. */
void scn_trace_append_table (const ScnTrace *trace, const char *prefix, GString *out);

/* ---- times of kernels, by the shapes of the operations that launched them ---- */

typedef struct ScnTraceKernels ScnTraceKernels;

/* Returned: full, scn_trace_kernels_free. */
ScnTraceKernels *scn_trace_kernels_new (void);
void scn_trace_kernels_free (ScnTraceKernels *kernels);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (ScnTraceKernels, scn_trace_kernels_free)
/* Adds the operations of a file of PyTorch's profiler: of step `number`; negative: of all that the file holds whole. Files need not
 * be of one run; they must be of one type of GPU. FALSE and *error, as scn_trace_read_kineto, and where the file has no shapes. */
gboolean scn_trace_kernels_add (ScnTraceKernels *kernels, const char *path, const char *bytes, gsize n_B, gint64 number,
                                BaseDiag *warnings, GError **error);
/* The cases in the format of forerun-probe (docs/probe_compute.md), each with the median over its calls, s. Returned: full; NULL
 * and *error where no operation is one whose kernels a calibration has. */
char *scn_trace_kernels_write (const ScnTraceKernels *kernels, GError **error);

/* A scenario file of kind `program`. Returned: full; NULL and *error where a communicator of the trace has no counterpart on so
 * many GPUs. */
char *scn_trace_write (const ScnTrace *trace, const ScnTraceTarget *target, GError **error);

#endif
