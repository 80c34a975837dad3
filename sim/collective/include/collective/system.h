/* What work runs on, and what each run reports. */
#ifndef COLLECTIVE_SYSTEM_H
#define COLLECTIVE_SYSTEM_H

#include "collective/comm.h"
#include "models/kernel.h"
#include "models/memory.h"
#include "models/overlap.h"
#include "models/software.h"

/* What work runs on: a cluster, its GPUs that may be used, what is asked of the software, and the constants of its models. All
 * is borrowed; a copy with other settings is a system of its own. */
typedef struct {
  Clu *clu;
  GArray *gpus; /* guint32: global GPU numbers, node-major */
  ColSettings settings;
  const MdlKernels *kernels; /* this and what follows: NULL where the plain library serves */
  const MdlOverlap *overlap;
  const MdlMemorySpec *memory;
  const MdlSoftware *software;
  const struct MdlStorage *storage;
  const struct MdlEngines *engines; /* models/engine.h */
} ColSystem;

guint32 col_system_gpu (const ColSystem *system, guint32 rank);
/* The node of the rank's GPU. */
guint32 col_system_node (const ColSystem *system, guint32 rank);
/* Nodes that the first n of its GPUs are on. */
guint32 col_system_n_nodes (const ColSystem *system, guint32 n_ranks);
/* Communicator of its first n_ranks GPUs, by `settings`. Returned: full, col_comm_free; NULL and *error on failure. */
ColComm *col_system_comm (const ColSystem *system, const ColSettings *settings, guint32 n_ranks, GError **error);
/* Time to create `count` communicators of the first n_ranks ranks; again: their processes have created others before. FALSE: the
 * plain library, which makes none; *out is all 0. */
gboolean col_system_create (const ColSystem *system, double count, guint32 n_ranks, gboolean again, MdlCreateTime *out);

/* A bad value with its place: sets *error (BASE_ERROR_INPUT). Always FALSE. */
G_GNUC_PRINTF (3, 4)
gboolean col_fail_at (GError **error, BaseMark mark, const char *format, ...);

/* ---- what a run of any kind reports beside its own answer ---- */

/* What one class of links carried, its busiest member first in mind. */
typedef struct {
  const char *link_class;
  char *busiest;      /* name of the resource, owned */
  double utilisation; /* of the busiest over the run */
  double bytes;       /* all members together */
} ColLinkUse;

/* Cores of a node that are busy with one thing, on average over the run. */
#define COL_CPU_TCP     "TCP"
#define COL_CPU_PROXIES "network proxies"
#define COL_CPU_LOADER  "data loader"
#define COL_CPU_STORAGE "storage"
#define COL_CPU_COPIES  "copies"
typedef struct {
  const char *use; /* one of these */
  double cores;
} ColCpuUse;

/* One thing that happened, for traces; or what a counter is from then on. */
typedef struct {
  char *lane; /* "stage 0 compute"; of a counter its name */
  char *name; /* NULL: a counter */
  double start_s, end_s;
  double value; /* of a counter */
} ColSpan;

typedef struct {
  GArray *links;       /* ColLinkUse, the fullest first */
  GArray *cpu;         /* ColCpuUse, of the busiest node */
  double cpu_cores;    /* all of them */
  char *diagnosis;     /* what they say about the GPUs, owned; NULL: nothing */
  GPtrArray *warnings; /* char *: "this collective never leaves a node …" */
  GPtrArray *spans;    /* ColSpan *, for a trace; NULL: not asked for */
  guint64 n_events;    /* of the engine */
} ColRunInfo;

/* Adds cores; nothing where they are none. */
void col_run_cpu (ColRunInfo *info, const char *use, double cores);
/* Why GPUs are idle for this share of the time where cores are busy meanwhile, into info->diagnosis. `starved_by`: what makes a
 * loader late; NULL: none. */
void col_run_diagnose (ColRunInfo *info, double idle, const char *starved_by);
/* Cores of a node that the job may use; 0: not known. */
double col_system_cores (const ColSystem *system, guint32 node);

void col_run_init (ColRunInfo *info, gboolean want_spans);
void col_run_clear (ColRunInfo *info);
void col_run_warn (ColRunInfo *info, const char *format, ...) G_GNUC_PRINTF (2, 3);
/* One operation, all of it at once: what does not grow with the bytes, then the bytes. Nothing where no spans are asked for. */
void col_run_two_spans (ColRunInfo *info, const char *lane, double latency_s, double time_s, double bytes);
/* Takes lane and name. */
void col_run_span (ColRunInfo *info, char *lane, char *name, double start_s, double end_s);
/* A counter has this value from then on; takes its name. */
void col_run_count (ColRunInfo *info, char *counter, double at_s, double value);

#endif
