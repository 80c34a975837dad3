/* Scenario files: which cluster, what work, and how it is run. */
#ifndef WORKLOAD_SCENARIO_H
#define WORKLOAD_SCENARIO_H

#include "workload/training.h"
#include "workload/transfer.h"

G_BEGIN_DECLS

typedef enum { WRK_KIND_COLLECTIVE, WRK_KIND_TRANSFER, WRK_KIND_TRAINING, WRK_KIND_IO, WRK_KIND_N } WrkKind;
extern const BaseName wrk_kind_names[];

typedef struct {
  BaseHead head;
  BaseEnum kind;
  BaseEnum op, dtype, algo, proto;
  BaseNum bytes;
  BaseNum ranks; /* default: all GPUs of the cluster */
  BaseNum repeat;
  BaseNum root;
  BaseNum communicators; /* made before, one after the other; absent: not asked */
} WrkCollectiveSpec;

typedef struct {
  BaseHead head;
  const BaseYamlNode *topology; /* a name, or a topology inline */
  BaseNum nodes;
  BaseNum gpus_per_node; /* uses fewer of a node */
  BaseStr calibration;
  BaseEnum library; /* nccl | plain */
  BaseEnum launch;  /* MdlLaunch */
} WrkClusterSpec;

typedef struct {
  BaseHead head;
  BaseStr name, description;
  WrkClusterSpec cluster;
  const BaseYamlNode *workload;
  const BaseYamlNode *jobs; /* several in place of `workload` */
  const BaseYamlNode *nccl, *degrade, *background, *report;
  BaseNum seed;
} WrkScenarioSpec;

extern const BaseSchema wrk_schema_scenario, wrk_schema_collective;

typedef struct {
  gboolean has_seed;
  guint64 seed;            /* wins over the file's */
  const char *const *sets; /* "path=value", ends with NULL; paths as in the scenario; `topology.…` addresses the topology */
  gboolean has_mode, has_steps;
  WrkMode mode;
  WrkSteps steps;
  gboolean no_fold;         /* a model's groups that are alike load every link one by one */
  gboolean no_interference; /* as of WrkSettings */
  gboolean switches_follow; /* as of CluLoadOptions */
  gboolean want_terms;      /* of a training step of a model: result->training.terms */
  gboolean any_cut;         /* of a model: its cut stands for others that a WrkClosed is asked for; it is not to be run */
} WrkScenarioOptions;

/* A scenario read, checked, with its cluster built and its library loaded. */
typedef struct WrkScenario WrkScenario;

/* Loads `library` (a calibration) through a callback, since calibrations belong to a layer that this one does not see. */
typedef const MdlLibrary *(*WrkLibraryLoad) (void *user, const char *name, const char *from, const char *gpu_type, const char *nccl,
                                             GPtrArray *inputs, BaseDiag *warnings, GError **error);

/* Reads, checks and builds all but the run. `load` is called where the library is not the plain one, and may be NULL where that
 * is known (kind `io` then goes without what paths to GPUs add). NULL and *error (BASE_ERROR_INPUT, all errors of the file) on
 * failure. Returned: full. */
WrkScenario *wrk_scenario_load (const char *path, const BaseLookup *lookup, const WrkScenarioOptions *options, WrkLibraryLoad load,
                                void *user, GError **error);
/* The same from memory; `name` stands for the path in messages, and names are looked up beside it. */
WrkScenario *wrk_scenario_load_data (const char *name, const char *bytes, gsize n_B, const BaseLookup *lookup,
                                     const WrkScenarioOptions *options, WrkLibraryLoad load, void *user, GError **error);
void wrk_scenario_free (WrkScenario *scenario);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (WrkScenario, wrk_scenario_free)

/* Whether it has `jobs` in place of one workload. */
gboolean wrk_scenario_has_jobs (const WrkScenario *scenario);
const char *wrk_scenario_name (const WrkScenario *scenario);
const char *wrk_scenario_description (const WrkScenario *scenario); /* NULL if none */
const GPtrArray *wrk_scenario_plots (const WrkScenario *scenario);  /* char *, pictures that `report` asks for; none: all */
WrkKind wrk_scenario_kind (const WrkScenario *scenario);
const Clu *wrk_scenario_cluster (const WrkScenario *scenario);
const WrkSettings *wrk_scenario_settings (const WrkScenario *scenario);
/* Its step, where it is one training workload; NULL for all others. Borrowed. */
const WrkTrainingJob *wrk_scenario_training (const WrkScenario *scenario);
guint64 wrk_scenario_seed (const WrkScenario *scenario);
const GPtrArray *wrk_scenario_inputs (const WrkScenario *scenario); /* BaseYaml *, the scenario first */
const BaseDiag *wrk_scenario_warnings (const WrkScenario *scenario);

/* ---- results: names that are not said to be owned are borrowed from the scenario ---- */

typedef struct {
  WrkKind kind;
  WrkColl coll; /* kind collective */
  unsigned repeat;
  WrkTransferResult transfer;
  WrkIoResult io;
  WrkTrainingResult training;
  WrkRunInfo run;         /* links, warnings, spans */
  unsigned communicators; /* made before; not part of any time */
  double create_s;        /* what that takes */
  BaseSource create_source;
  GPtrArray *jobs; /* WrkJobResult *, in the scenario's order, and links those of all; NULL: one workload */
} WrkResult;

/* One of several jobs. */
typedef struct {
  char *name, *nodes;     /* owned; nodes as written, or a transfer's ends */
  double time_s, alone_s; /* beside the others, and alone: all repeats, all copies, all steps */
  WrkRoundsResult rounds, rounds_alone;
  WrkResult *alone; /* owned: the whole answer of the job alone */
} WrkJobResult;

/* What a result of one workload comes to: all repeats, the last copy, the step. */
double wrk_result_time_s (const WrkResult *result);
const char *wrk_result_bound_by (const WrkResult *result);

/* Returned: full, free with wrk_result_free; NULL and *error on failure. */
WrkResult *wrk_scenario_run (WrkScenario *scenario, gboolean want_spans, GError **error);
void wrk_result_free (WrkResult *result);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (WrkResult, wrk_result_free)

/* The communicator of a run's collective (of a training step: of its largest gradient bucket), and what was asked of it, so that
 * what else could have run can be priced. `settings` as for wrk_comm_new. Only for results whose collective has more than 0 ranks.
 * Returned: full, free with wrk_comm_free before the scenario; NULL and *error on failure. */
WrkComm *wrk_scenario_comm (const WrkScenario *scenario, const WrkResult *result, const WrkSettings *settings,
                            WrkCollRequest *request, GError **error);

G_END_DECLS

#endif
