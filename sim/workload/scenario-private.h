/* Inside of a loaded scenario, shared by the runs of each kind. */
#ifndef WORKLOAD_SCENARIO_PRIVATE_H
#define WORKLOAD_SCENARIO_PRIVATE_H

#include "models/kernel.h"
#include "models/memory.h"
#include "models/overlap.h"
#include "models/software.h"
#include "nccl_env-private.h"
#include "net-private.h"
#include "workload/scenario.h"

typedef struct WrkJob WrkJob;

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
  WrkTrainingSpec training;
  MdlLlm llm;                  /* training.model.model, read */
  const MdlKernels *kernels;   /* borrowed, as `library`'s constants; NULL with the plain one */
  const MdlOverlap *overlap;
  const MdlMemorySpec *memory;
  const MdlSoftware *software;
  const struct MdlStorage *storage;
  WrkBackgroundSpec background;
  Clu *clu;
  WrkSettings settings;
  GPtrArray *plots; /* char *: pictures that are asked for; none: all */
  MdlLibrary *library; /* what settings.library points to; NULL: the plain one */
  BaseMark degrade_nics; /* where settings.degrade.max_nics stands */
  BaseDiag *warnings;
  guint64 seed;
  gboolean want_terms; /* of a step of a model: what it is made of */
  gboolean any_cut; /* its own stands for others: what is asked of ranks is asked of all GPUs */
  GPtrArray *jobs; /* WrkJob *; NULL: one workload */
  GArray *gpus; /* guint32: the GPUs that the scenario may use, node-major */
};

/* What a file of another layer needs to say of a bad value, with its place. */
G_GNUC_PRINTF (3, 4)
gboolean wrk_fail_at (GError **error, BaseMark mark, const char *format, ...);

/* Reads a workload of any kind into kind and its spec; errors go to the context's diag. */
void wrk_read_workload (WrkScenario *scenario, const BaseYamlNode *node, const BaseSchemaContext *context);
/* Nodes that the first n of its GPUs are on. */
guint32 wrk_n_nodes_of (const WrkScenario *scenario, guint32 n_ranks);
/* Whether the work fits on the cluster. */
gboolean wrk_check_workload (const WrkScenario *scenario, GError **error);
/* What a scenario of this kind needs of its cluster; part of loading. */
gboolean wrk_check_transfer (const WrkScenario *scenario, GError **error);
gboolean wrk_check_io (const WrkScenario *scenario, GError **error);
gboolean wrk_check_training (const WrkScenario *scenario, GError **error);
gboolean wrk_check_model (const WrkScenario *scenario, GError **error);
/* Keys of a workload with `layers` that are a model's. */
gboolean wrk_layers_check_keys (const WrkScenario *scenario, GError **error);
/* Stragglers that are adapters: their ports get slower, for good. */
gboolean wrk_model_slow_nics (WrkScenario *scenario, GError **error);
/* Keys of `failures` and `checkpoint` that go together; errors to the diag. */
void wrk_failures_check (const WrkTrainingSpec *spec, BaseDiag *diag);
/* Whether the software that it names is known; once the constants are loaded. */
gboolean wrk_model_check_software (const WrkScenario *scenario, GError **error);
gboolean wrk_run_transfer (WrkScenario *scenario, WrkResult *result, GError **error);
gboolean wrk_run_io (WrkScenario *scenario, WrkResult *result, GError **error);
/* What reads or writes as `spec` asks come to; `net` is run, and counts. `out` is zeroed by the caller and cleared by it. */
gboolean wrk_io_price (const WrkScenario *scenario, const WrkIoSpec *spec, WrkNet *net, WrkIoResult *out, guint64 *n_events,
                       GError **error);
void wrk_io_result_clear (WrkIoResult *result);
/* What loaders and checkpoints add to a step; nothing where it has none. Before the run: whether they can. */
gboolean wrk_check_checkpoint (const WrkScenario *scenario, GError **error);
gboolean wrk_add_checkpoint (const WrkScenario *scenario, WrkResult *result, GError **error);
gboolean wrk_check_loader (const WrkScenario *scenario, GError **error);
gboolean wrk_add_loader (const WrkScenario *scenario, WrkResult *result, GError **error);
/* A step that takes `more_s` longer for `part`: its times and rates. */
void wrk_step_longer (WrkTrainingResult *training, WrkPart part, double more_s);
gboolean wrk_run_model (WrkScenario *scenario, WrkResult *result, gboolean want_spans, GError **error);
gboolean wrk_run_training (WrkScenario *scenario, WrkResult *result, gboolean want_spans, GError **error);

/* The flow that copy `i` of a priced transfer is (uses hold its links), and the bytes of all counted for the report. */
void wrk_transfer_flow (WrkNet *net, const WrkTransferResult *transfer, guint i, GArray *uses, EngFlowSpec *spec);
void wrk_transfer_count (WrkNet *net, const WrkTransferResult *transfer);

/* Adds what was counted on the network over `time_s` to result->links, by class, sorted by utilisation (the fullest first). */
void wrk_result_add_links (WrkResult *result, const Clu *clu, const WrkNet *net, double time_s);
void wrk_result_warn (WrkResult *result, const char *format, ...) G_GNUC_PRINTF (2, 3);

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

extern const BaseSchema wrk_schema_compression, wrk_schema_degrade, wrk_schema_report;

#endif
