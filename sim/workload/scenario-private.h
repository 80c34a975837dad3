/* Inside of a loaded scenario, shared by the runs of each kind. */
#ifndef WORKLOAD_SCENARIO_PRIVATE_H
#define WORKLOAD_SCENARIO_PRIVATE_H

#include "nccl_env-private.h"
#include "workload/net.h"
#include "workload/scenario.h"

typedef struct WrkJob WrkJob;
typedef struct WrkRunning WrkRunning;

/* `background:` */
typedef struct {
  BaseHead head;
  BaseNum load, seed;
} WrkBackgroundSpec;

struct WrkScenario {
  BaseYaml *yaml;
  GPtrArray *inputs; /* BaseYaml *, references; yaml first */
  WrkScenarioSpec spec;
  WrkKind kind;
  WrkCollectiveSpec collective;
  WrkTransferSpec transfer;
  WrkIoSpec io;
  WrkTrainingJob training; /* on `system` */
  WrkBackgroundSpec background;
  WrkSystem system;      /* what the workload runs on; constants as `library` has them */
  GPtrArray *plots;      /* char *: pictures that are asked for; none: all */
  MdlLibrary *library;   /* what system.settings.library points to; NULL: the plain one */
  BaseMark degrade_nics; /* where settings.degrade.max_nics stands */
  BaseDiag *warnings;
  guint64 seed;
  GPtrArray *jobs; /* WrkJob *; NULL: one workload */
};

/* A kind of workload: all that differs between kinds stands in its row. */
typedef struct {
  const BaseSchema *schema;
  gsize spec; /* where its spec stands in WrkScenario */
  /* What is read and checked beyond the schema's keys; errors to the diag. NULL: nothing. */
  void (*read) (WrkScenario *scenario, const BaseYamlNode *node, const BaseSchemaContext *context);
  /* Whether the work fits on the cluster. FALSE and *error, with the place. */
  gboolean (*check) (const WrkScenario *scenario, GError **error);
  /* The answer of the workload alone, into its part of the result, which is zeroed. FALSE and *error on failure. */
  gboolean (*run) (const WrkScenario *scenario, WrkResult *result, GError **error);
  /* Frees what its part of a result owns. */
  void (*clear) (WrkResult *result);
  double (*time_s) (const WrkResult *result);
  const char *(*bound_by) (const WrkResult *result);
  /* Makes it run among other jobs. FALSE and *error on failure. */
  gboolean (*start) (const WrkJob *job, const WrkResult *alone, WrkRunning *running, GError **error);
  /* Communicators that are made before; NULL: never any. */
  const BaseNum *(*communicators) (const WrkScenario *scenario, const WrkResult *result, guint32 *n_ranks);
} WrkKindOps;
extern const WrkKindOps wrk_kind_collective, wrk_kind_transfer, wrk_kind_training, wrk_kind_io;
const WrkKindOps *wrk_kind_ops (WrkKind kind);

/* Reads a workload of any kind into kind and its spec; errors go to the context's diag. */
void wrk_read_workload (WrkScenario *scenario, const BaseYamlNode *node, const BaseSchemaContext *context);
WrkCollRequest wrk_collective_request (const WrkCollectiveSpec *spec);

/* One entry of `degrade:`. */
typedef struct {
  BaseHead head;
  BaseBool rdma, gdr, p2p;
  BaseEnum backend; /* 0 nccl, 1 gloo */
  BaseEnum network; /* 0 fabric, 1 frontend, 2 management */
  BaseNum nics;
  BaseEnum numa; /* 0 local, 1 remote */
} WrkDegradeSpec;

typedef struct {
  BaseHead head;
  BaseBool trace;
  BaseStrs plots;
} WrkReportSpec;

extern const BaseSchema wrk_schema_degrade, wrk_schema_report;

#endif
