/* A trace while it is read and ordered. Times in microseconds of the trace's own clock. */
#ifndef SCENARIO_TRACE_PRIVATE_H
#define SCENARIO_TRACE_PRIVATE_H

#include "base/json.h"
#include "scenario/trace.h"

/* One kernel, copy or collective on a GPU. */
typedef struct {
  double start_us, end_us;
  double launch_us;    /* when the host queued it; NAN: not in the trace; -INFINITY: before the trace began */
  guint64 correlation; /* ascends in the order of the host's calls; 0: not in the trace */
  guint64 thread;      /* of the host */
  guint64 operation;   /* of the framework, that launched it: key of ScnTraceRank.operations; 0: not in the trace */
  guint line;          /* of the file */
  guint stream;        /* index of ScnTraceRank.streams */
  ScnTraceClass what;
  gboolean to_gpu, to_host, pageable; /* of a copy */
  double bytes;                       /* of a copy or collective, as nccl-tests counts them */
  MdlOp op;                           /* of a collective, as are: */
  MdlDtype dtype;
  guint group;     /* index of ScnTrace.groups */
  guint nth;       /* of a collective: how many of its communicator the host called before, in the step */
  gboolean kept;   /* no size is known: it keeps its time */
  gboolean tf32;   /* a product of the tensor cores of fp32 factors */
  gboolean called; /* a collective that was called and ran no kernel, since its communicator has one rank */
  GArray *waits;   /* guint, of activities of other streams that end before; NULL: none */
} ScnTraceActivity;

/* A communicator. */
typedef struct {
  char *key;
  guint size;
  GArray *ranks; /* guint32; shorter than size: not all are known */
} ScnTraceGroup;

/* A call that lets a stream wait for an event of another one. */
typedef struct {
  double at_us;
  guint64 thread;
  guint64 correlation, record; /* of the wait and of the record; record 0: unknown, as are: */
  guint64 stream, waits_on;    /* ids of streams */
} ScnTraceWait;

typedef struct {
  gint64 number;
  double begin_us, end_us; /* of the host */
} ScnTraceStep;

typedef struct {
  char *path, *gpu;
  guint rank, world;
  GArray *streams;         /* guint64, their ids */
  GArray *activities;      /* ScnTraceActivity; of the step alone once it is taken */
  GArray *waits;           /* ScnTraceWait, by time */
  GArray *steps;           /* ScnTraceStep, by time */
  GHashTable *operations;  /* guint64 -> ScnTraceOperation; NULL: none */
  guint n_shapes;          /* operations with shapes, readable or not */
  double begin_us, end_us; /* of the step taken */
} ScnTraceRank;

/* An operation of the framework that launched kernels. */
typedef struct {
  char *what;               /* members of the case that forerun-probe would call it; NULL: a pass over memory, of: */
  double read_B, written_B; /* each tensor once */
} ScnTraceOperation;

struct ScnTrace {
  ScnTraceOptions options;
  BaseDiag *warnings; /* borrowed */
  GPtrArray *ranks;   /* ScnTraceRank, by rank */
  GArray *groups;     /* ScnTraceGroup */
  gint64 step;
};

/* Whether a rank has kernels: copies alone say nothing of a step. */
gboolean scn_trace_has_kernels (const ScnTraceRank *rank);

ScnTraceRank *scn_trace_rank (const ScnTrace *trace, guint i);
ScnTraceActivity *scn_trace_activity (const ScnTraceRank *rank, guint i);
/* Activities by their start, then by their line. */
void scn_trace_sort (ScnTraceRank *rank);
ScnTraceRank *scn_trace_rank_new (const char *path);
void scn_trace_rank_free (ScnTraceRank *rank);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (ScnTraceRank, scn_trace_rank_free)
/* Index of the stream with this id, added if it is new. */
guint scn_trace_stream (ScnTraceRank *rank, guint64 id);
/* Index of the group with this key, added if it is new. */
guint scn_trace_group (ScnTrace *trace, const char *key, guint size);
ScnTraceClass scn_trace_class_of (const char *kernel);
/* The operation that a name of c10d or of a kernel of NCCL holds, such as "_allgather_base". FALSE: none. */
gboolean scn_trace_kernel_op (const char *name, MdlOp *op);
/* Keeps the shapes of an operation of the framework, an event of Kineto with `args`. */
void scn_trace_read_operation (ScnTraceRank *rank, JsonObject *event);
gboolean scn_trace_read_nsys_sqlite (ScnTrace *trace, const char *path, const char *bytes, gsize n_B, GError **error);
gboolean scn_trace_read_nsys_csv (ScnTrace *trace, const char *path, const char *bytes, gsize n_B, GError **error);
/* Which activities of a rank's step wait for which of other streams. */
void scn_trace_order (ScnTraceRank *rank);
/* FALSE and *error: "file:line: what". */
gboolean scn_trace_fail (const ScnTraceRank *rank, guint line, GError **error, const char *format, ...) G_GNUC_PRINTF (4, 5);

#endif
