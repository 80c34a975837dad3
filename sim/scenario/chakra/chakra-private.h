/* Chakra execution traces (MLCommons): a file for each rank, whose nodes are operations that wait for each other. Fields and their
 * numbers: mlcommons/chakra schema/protobuf/et_def.proto at 21585d8f; the JSON form: src/feeder/json_node.cpp there; how nodes are
 * run: astra-sim/astra-sim astra-sim/workload/Workload.cc at 518bd513. */
#ifndef SCENARIO_CHAKRA_PRIVATE_H
#define SCENARIO_CHAKRA_PRIVATE_H

#include "scenario/loaded.h"

/* Codes of the format. */
typedef enum {
  SCN_NODE_INVALID,
  SCN_NODE_METADATA,
  SCN_NODE_MEM_LOAD,
  SCN_NODE_MEM_STORE,
  SCN_NODE_COMP,
  SCN_NODE_SEND,
  SCN_NODE_RECV,
  SCN_NODE_COLL,
  SCN_NODE_N
} ScnNodeKind;

typedef enum { SCN_CHAKRA_RECORDED, SCN_CHAKRA_ROOFLINE } ScnChakraCompute;
typedef enum { SCN_CONTROL_AUTO, SCN_CONTROL_WAIT, SCN_CONTROL_IGNORE } ScnChakraControl;

/* One node. Numbers that its file lacks are NAN. */
typedef struct {
  guint64 id;
  char *name;
  ScnNodeKind kind;
  gboolean cpu;        /* the host's, not the GPU's */
  GArray *data, *ctrl; /* guint64, ids; NULL: none */
  double duration_s;
  double ops, tensor_B;             /* of a kernel: FLOP and bytes that it moves; of a load or store: its bytes */
  double comm_B, type;              /* of communication: comm_size, and its operation as the format counts them */
  double source, destination, root; /* ranks */
  double tag;
  char *group;        /* pg_name; NULL: all ranks */
  gboolean some_dims; /* it names some of the dimensions of ASTRA-sim's own network */
} ScnChakraNode;

/* The trace of one rank. */
typedef struct {
  char *path;
  GArray *nodes;       /* ScnChakraNode, in the order of the file */
  GHashTable *index;   /* &node->id -> place in nodes + 1 */
  GHashTable *groups;  /* pg_name -> GArray of guint32, ranks; empty: all */
  guint *order;        /* places in nodes, each behind what it waits for */
  gboolean no_control; /* control dependencies are not waited for */
} ScnChakraTrace;

typedef struct {
  BaseHead head;
  BaseStr kind, trace, groups;
  BaseNum ranks;
  BaseBool replicate;
  BaseEnum compute, precision, control;
} ScnChakraSpec;

/* What all files hold. */
typedef struct {
  GPtrArray *traces; /* ScnChakraTrace, by rank; one, where it is that of each rank */
  guint n_ranks;
} ScnChakraSet;

/* Busy time of one rank. */
typedef struct {
  guint rank;
  double compute_s, host_s, memory_s;
  double communication_s, exposed_s; /* at least one operation runs; and no kernel beside it */
  double idle_s;                     /* nothing runs */
  double end_s;
} ScnChakraRankTime;

/* All operations of one kind on as many ranks. */
typedef struct {
  const char *name;
  guint ranks;
  guint64 count;
  double bytes, alone_s, time_s; /* sums; alone_s: with nothing else running */
} ScnChakraOp;

typedef struct {
  guint ranks;
  guint64 nodes;
  double time_s;
  ScnChakraRankTime last; /* the rank that ends last */
  const char *bound_by;
  GArray *by_rank; /* ScnChakraRankTime */
  GArray *ops;     /* ScnChakraOp, the longest first */
} ScnChakraResult;

/* ---- reading ---- */

ScnChakraTrace *scn_chakra_trace_new (const char *path);
void scn_chakra_trace_free (ScnChakraTrace *trace);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (ScnChakraTrace, scn_chakra_trace_free)
/* Makes a node with all numbers missing, at the end of the trace. Borrowed until the next one. */
ScnChakraNode *scn_chakra_node_add (ScnChakraTrace *trace);
/* One attribute by the name that both forms of the format use; others are left alone. */
void scn_chakra_node_number (ScnChakraNode *node, const char *name, double value);
/* The communicators that a process_group:init node lists: PyTorch's JSON, in a text. FALSE: it is not that. */
gboolean scn_chakra_groups_add (ScnChakraTrace *trace, const char *text);
/* Reads a file's bytes. FALSE and *error: "path: node …: what". */
gboolean scn_chakra_read_proto (ScnChakraTrace *trace, const char *bytes, gsize n_B, GError **error);
gboolean scn_chakra_read_json (ScnChakraTrace *trace, const char *bytes, gsize n_B, GError **error);
/* FALSE and *error. `node`: NULL for the file as a whole. */
gboolean scn_chakra_fail (const ScnChakraTrace *trace, const ScnChakraNode *node, GError **error, const char *format, ...)
    G_GNUC_PRINTF (4, 5);
/* Indexes the nodes, checks each, and finds an order; cycles are refused. FALSE and *error. */
gboolean scn_chakra_trace_check (ScnChakraTrace *trace, ScnChakraControl control, GError **error);
/* Whether `node` waits for the k-th of its dependencies; *at: the place of that node. Ids that the file lacks are waited for by
 * none. */
gboolean scn_chakra_waits (const ScnChakraTrace *trace, const ScnChakraNode *node, guint k, guint *at);
guint scn_chakra_n_deps (const ScnChakraNode *node);
/* All files of the spec. FALSE and *error. */
gboolean scn_chakra_load (const Scn *scenario, const ScnChakraSpec *spec, ScnChakraSet *set, GError **error);
void scn_chakra_set_clear (ScnChakraSet *set);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (ScnChakraSet, scn_chakra_set_clear)
const ScnChakraTrace *scn_chakra_of_rank (const ScnChakraSet *set, guint rank);

/* ---- running ---- */

/* Plays the traces. `out` is zeroed by the caller, and cleared by it. FALSE and *error. */
gboolean scn_chakra_run (const Scn *scenario, const ScnChakraSpec *spec, ScnChakraResult *out, ColRunInfo *info, GError **error);
void scn_chakra_result_free (ScnChakraResult *result);

#endif
