/* Scenario files: which cluster, what work, and how it is run. */
#ifndef SCENARIO_SCENARIO_H
#define SCENARIO_SCENARIO_H

#include "base/member.h"
#include "collective/moe.h"
#include "scenario/program.h"
#include "storage/transfer.h"
#include "training/training.h"

/* Kinds of workloads, one row each: code, name, what it is. The row makes SCN_KIND_CODE, its name in YAML and lists, and the place
 * in the table of scn_kind_NAME, which stands in sim/scenario/kind_NAME.c. */
#define SCN_KIND_ROWS(ROW)                                                              \
  ROW (COLLECTIVE, collective, "one collective operation")                              \
  ROW (TRANSFER, transfer, "copies from one device to another")                         \
  ROW (TRAINING, training, "a training step of a model, or of layers with given times") \
  ROW (IO, io, "storage reads and writes")                                              \
  ROW (PROGRAM, program, "copies, kernels and collectives on streams")                  \
  ROW (CHAKRA, chakra, "Chakra execution traces of all ranks")                          \
  ROW (FLOWS, flows, "random or listed flows between hosts")                            \
  ROW (SERVING, serving, "requests that replicas of an engine answer")                  \
  ROW (SERVING_STEP, serving_step, "one step of an engine that serves a model")         \
  ROW (RL, rl, "a step of reinforcement learning: answers are generated, scored and learned from") \
  ROW (MOE, moe, "tokens go to experts on other ranks, or return")

#define SCN_KIND_ENUM_(code, name, help) SCN_KIND_##code,
typedef enum { SCN_KIND_ROWS (SCN_KIND_ENUM_) SCN_KIND_N } ScnKind;
extern const BaseName scn_kind_names[];

typedef struct {
  BaseHead head;
  BaseEnum kind;
  BaseEnum op, dtype, algo, proto;
  BaseNum bytes;
  BaseNum ranks; /* default: all GPUs of the cluster */
  BaseNum repeat;
  BaseNum root;
  BaseNum communicators; /* made before, one after the other; absent: not asked */
} ScnCollectiveSpec;

/* A collective whose op is one of MdlMoeOp. */
typedef struct {
  BaseHead head;
  BaseEnum kind;
  BaseEnum op, backend, routing, dtype;
  BaseNum tokens, hidden, experts, top_k, groups, top_groups, imbalance, sms;
  BaseNum ranks; /* default: all GPUs of the cluster */
} ScnMoeSpec;

typedef struct {
  BaseHead head;
  const BaseYamlNode *topology; /* a name, or a topology inline */
  BaseNum nodes;
  BaseNum gpus_per_node; /* uses fewer of a node */
  BaseStr calibration;
  BaseEnum library; /* nccl | plain */
  BaseEnum launch;  /* MdlLaunch */
} ScnClusterSpec;

typedef struct {
  BaseHead head;
  BaseStr name, description;
  ScnClusterSpec cluster;
  const BaseYamlNode *workload;
  const BaseYamlNode *jobs; /* several in place of `workload` */
  const BaseYamlNode *nccl, *degrade, *background, *report;
  BaseNum seed;
} ScnSpec;

extern const BaseSchema scn_schema_scenario, scn_schema_collective, scn_schema_moe;

typedef struct {
  gboolean has_seed;
  guint64 seed;            /* wins over the file's */
  const char *const *sets; /* "path=value", ends with NULL; paths as in the scenario; `topology.…` addresses the topology */
  gboolean has_mode, has_steps;
  ColMode mode;
  ColSteps steps;
  gboolean no_fold;         /* a model's groups that are alike load every link one by one */
  gboolean no_interference; /* as of ColSettings */
  gboolean switches_follow; /* as of CluLoadOptions */
  gboolean want_terms;      /* of a training step of a model: result->training.terms */
  gboolean any_cut;         /* of a model: its cut stands for others that a TrnClosed is asked for; it is not to be run */
} ScnOptions;

/* A scenario read, checked, with its cluster built and its library loaded. */
typedef struct Scn Scn;

/* Loads constants, as cst_load does, into `user`, which knows the lookup: they belong to a layer that this one does not see. */
typedef const MdlLibrary *(*ScnLibraryLoad) (void *user, const MdlLibraryQuery *query, GError **error);

/* Reads, checks and builds all but the run. `text` is what the file holds, NULL where it is read; names are looked up beside `path`
 * either way. `load` is called where the library is not the plain one, and may be NULL where that is known (kind `io` then goes
 * without what paths to GPUs add). NULL and *error (BASE_ERROR_INPUT, all errors of the file) on failure. Returned: full. */
Scn *scn_load (const char *path, const char *text, const BaseLookup *lookup, const ScnOptions *options, ScnLibraryLoad load,
               void *user, GError **error);
void scn_free (Scn *scenario);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Scn, scn_free)

const char *scn_name (const Scn *scenario);
const char *scn_description (const Scn *scenario); /* NULL if none */
const GPtrArray *scn_plots (const Scn *scenario);  /* char *, pictures that `report` asks for; none: all */
const Clu *scn_cluster (const Scn *scenario);
const ColSettings *scn_settings (const Scn *scenario);
/* Its step, where it is one training workload; NULL for all others. Borrowed. */
const TrnJob *scn_training (const Scn *scenario);
guint64 scn_seed (const Scn *scenario);
const GPtrArray *scn_inputs (const Scn *scenario); /* BaseYaml *, the scenario first */
const BaseDiag *scn_warnings (const Scn *scenario);

/* ---- results: names that are not said to be owned are borrowed from the scenario ---- */

typedef struct {
  ScnKind kind;
  ColAnswer coll; /* kind collective */
  unsigned repeat;
  StoTransferResult transfer;
  StoIoResult io;
  TrnResult training;
  ScnProgramResult program;
  ColMoeAnswer moe;       /* kind moe */
  gpointer own;           /* owned: of a kind that has no member here, what its row's `members` are of */
  ColRunInfo run;         /* links, warnings, spans */
  unsigned communicators; /* made before, not part of any time; create_each_step: in each step, and part of it */
  double create_s;        /* what that takes until they are ready for use */
  double connect_s;       /* of it: connections at their first use */
  gboolean create_each_step;
  BaseSource create_source;
  GPtrArray *jobs; /* ScnJobResult *, in the scenario's order, and links those of all; NULL: one workload */
} ScnResult;

/* What users of a service among other jobs see. */
typedef struct {
  double ttft_p50_s, ttft_p99_s, tpot_p50_s, tpot_p99_s;
  double transfer_s;   /* mean of KV from prefill to decode; 0: none moves */
  double duration_s;   /* from the first request to the last answer */
} ScnJobService;

/* One of several jobs. */
typedef struct {
  char *name, *nodes;     /* owned; nodes as written, or a transfer's ends */
  double time_s, alone_s; /* beside the others, and alone: all repeats, all copies, all steps; of a service an answer's mean */
  gboolean serves;        /* then: */
  ScnJobService service, service_alone;
  TrnRoundsResult rounds, rounds_alone;
  ScnResult *alone; /* owned: the whole answer of the job alone */
} ScnJobResult;

/* What a result of one workload comes to: all repeats, the last copy, the step. */
double scn_result_time_s (const ScnResult *result);
/* The members of result->own; NULL where the kind has a member of ScnResult. */
const BaseMember *scn_result_members (const ScnResult *result);
/* What they are of. */
const void *scn_result_own (const ScnResult *result);
/* Key of the member that a study of the answer looks at; NULL: its time. Static. */
const char *scn_result_asked (const ScnResult *result);
/* Its answer in a sentence, with those members in braces; NULL: none. */
const char *scn_result_answer (const ScnResult *result);
const char *scn_result_bound_by (const ScnResult *result);

/* Whether libraries can do its work, for who does not run it: scn_run asks by itself. FALSE and *error, with the place. */
gboolean scn_ready (Scn *scenario, GError **error);
/* Returned: full, free with scn_result_free; NULL and *error on failure. */
ScnResult *scn_run (Scn *scenario, gboolean want_spans, GError **error);
void scn_result_free (ScnResult *result);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (ScnResult, scn_result_free)

/* The communicator of a run's collective (of a training step: of its largest gradient bucket), and what was asked of it, so that
 * what else could have run can be priced. `settings` as for col_comm_new. Only for results whose collective has more than 0 ranks.
 * Returned: full, free with col_comm_free before the scenario; NULL and *error on failure. */
ColComm *scn_comm (const Scn *scenario, const ScnResult *result, const ColSettings *settings, ColCollRequest *request,
                   GError **error);

/* Whether each kind of workload has all parts of its row. FALSE and *error where one lacks a part. */
gboolean scn_self_check (GError **error);

#endif
