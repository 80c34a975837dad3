/* Inside of a loaded scenario, shared by the runs of each kind. */
#ifndef SCENARIO_LOADED_H
#define SCENARIO_LOADED_H

#include "collective/nccl_env.h"
#include "collective/net.h"
#include "scenario/scenario.h"

typedef struct ScnJob ScnJob;
typedef struct ScnRunning ScnRunning;

/* `background:` */
typedef struct {
  BaseHead head;
  BaseNum load, seed;
} ScnBackgroundSpec;

struct Scn {
  BaseYaml *yaml;
  GPtrArray *inputs; /* BaseYaml *, references; yaml first */
  ScnSpec spec;
  ScnKind kind;
  ScnCollectiveSpec collective;
  StoTransferSpec transfer;
  StoIoSpec io;
  ScnProgramSpec program;
  ScnMoeSpec moe;
  TrnJob training; /* on `system` */
  void *own;       /* the spec of a kind that has no member here, in the arena of `yaml` */
  ScnBackgroundSpec background;
  ColSystem system;      /* what the workload runs on; constants as `library` has them */
  GPtrArray *plots;      /* char *: pictures that are asked for; none: all */
  MdlLibrary *library;   /* what system.settings.library points to; NULL: the plain one */
  BaseMark degrade_nics; /* where settings.degrade.max_nics stands */
  BaseDiag *warnings;
  guint64 seed;
  GPtrArray *jobs;                  /* ScnJob *; NULL: one workload */
  const struct SrvRunResult *known; /* of a service: its runs, computed in pieces (scenario/pieces.h); NULL: not yet. Borrowed */
};

/* A kind of workload: all that differs between kinds stands in its row. */
typedef struct {
  const BaseSchema *schema;
  gsize spec;      /* where its spec stands in Scn, or: */
  gsize spec_size; /* how large scenario->own is to be */
  /* What is read and checked beyond the schema's keys; errors to the diag. NULL: nothing. */
  void (*read) (Scn *scenario, const BaseYamlNode *node, const BaseSchemaContext *context);
  /* Whether the work fits on the cluster. FALSE and *error, with the place. NULL: always. */
  gboolean (*check) (const Scn *scenario, GError **error);
  /* Whether libraries can do the work, once their constants are there: what run refuses before it prices. NULL: nothing to ask. */
  gboolean (*ready) (const Scn *scenario, GError **error);
  /* The answer of the workload alone, into its part of the result, which is zeroed. FALSE and *error on failure. */
  gboolean (*run) (const Scn *scenario, ScnResult *result, GError **error);
  /* Frees what its part of a result owns. NULL: nothing. */
  void (*clear) (ScnResult *result);
  /* Where its time in s and its bottleneck stand: in result->own of a kind that has one, else in ScnResult. */
  BaseMember time, bound;
  /* Key of the member that is the answer. NULL: its time is. */
  const char *(*asked) (const ScnResult *result);
  gboolean repeats;          /* that time is of one of result->repeat */
  const BaseMember *members; /* of result->own; report has tables of its own for kinds with a member of ScnResult */
  const char *answer;        /* of a kind with `own`: in a sentence, with its members in braces (rep_say); NULL: none */
  /* Makes it run among other jobs. FALSE and *error on failure. NULL: it runs alone only. */
  gboolean (*start) (const ScnJob *job, const ScnResult *alone, ScnRunning *running, GError **error);
  /* In its place, of a job that runs the engine of all itself until it has ended: without `net` it fills out->service_alone and
   * alone_s from `out->alone`, else out->service, time_s and, where spans are asked for, `info`. FALSE and *error on failure. */
  gboolean (*drive) (const ScnJob *job, ScnJobResult *out, ColNet *net, ColRunInfo *info, GError **error);
  /* Communicators that are made before, or in each step (*each_step, FALSE before); NULL: never any. */
  const BaseNum *(*communicators) (const Scn *scenario, const ScnResult *result, guint32 *n_ranks, gboolean *each_step);
} ScnKindOps;
#define SCN_KIND_DECLARE_(code, name, help) extern const ScnKindOps scn_kind_##name;
SCN_KIND_ROWS (SCN_KIND_DECLARE_)
/* What a row lacks, in a sentence (full); NULL: nothing. */
char *scn_kind_fault (const ScnKindOps *ops, const char *name);
const ScnKindOps *scn_kind_ops (ScnKind kind);

/* Reads a workload of any kind into kind and its spec; errors go to the context's diag. */
void scn_read_workload (Scn *scenario, const BaseYamlNode *node, const BaseSchemaContext *context);
/* The path of a file that a key of the scenario names: relative ones are beside the scenario. Returned: full, g_free. */
char *scn_path_beside (const Scn *scenario, const char *file);
ColCollRequest scn_collective_request (const ScnCollectiveSpec *spec);

/* One entry of `degrade:`. */
typedef struct {
  BaseHead head;
  BaseBool rdma, gdr, p2p;
  BaseEnum backend; /* 0 nccl, 1 gloo */
  BaseEnum network; /* 0 fabric, 1 frontend, 2 management */
  BaseNum nics;
  BaseEnum numa;      /* 0 local, 1 remote */
  BaseEnum container; /* 0 full, 1 no_devices */
  BaseNum cores;
  BaseEnum affinity; /* 0 near, 1 one_core */
} ScnDegradeSpec;

typedef struct {
  BaseHead head;
  BaseBool trace;
  BaseStrs plots;
} ScnReportSpec;

extern const BaseSchema scn_schema_degrade, scn_schema_report;

#endif
