/* Traces of all ranks joined: which nodes of several ranks are one operation, and the task of each node. */
#ifndef SCENARIO_CHAKRA_PLAY_PRIVATE_H
#define SCENARIO_CHAKRA_PLAY_PRIVATE_H

#include "chakra-private.h"
#include "engine/graph.h"

/* A communicator. */
typedef struct {
  GArray *ranks; /* guint32 */
  GArray *calls; /* guint, in the order of the ranks' calls */
  guint *called; /* by place in ranks: how many calls it has made */
  ColComm *comm; /* NULL until it is priced */
  EngStream stream;
} ScnChakraGroup;

/* A collective that all ranks of a group call. Its first caller stands for it. */
typedef struct {
  guint group, rank, node;
  MdlOp op;
  double bytes; /* as nccl-tests counts them */
  guint root;   /* place in the group's ranks */
  double alone_s;
  MdlOverlapComm demand;
  EngTask task;
} ScnChakraCall;

/* A send and the receive that it goes to. */
typedef struct {
  guint from_rank, from_node, to_rank, to_node; /* to_node: G_MAXUINT until it is found */
  double bytes, alone_s;
  EngTask task;
} ScnChakraSend;

typedef struct {
  const ScnChakraTrace *trace;
  guint *call, *send; /* by place in the trace's nodes: number + 1; 0: none */
  EngTask *task;      /* by place in the trace's nodes */
} ScnChakraRank;

typedef struct {
  const ScnChakraSet *set;
  ScnChakraRank *rank; /* n_ranks of them */
  GArray *groups;      /* ScnChakraGroup */
  GArray *calls;       /* ScnChakraCall */
  GArray *sends;       /* ScnChakraSend */
} ScnChakraPlay;

/* Joins the traces. FALSE and *error: ranks call different operations, or lack each other's sends. Cleared by the caller. */
gboolean scn_chakra_join (ScnChakraPlay *play, const ScnChakraSet *set, GError **error);
void scn_chakra_play_clear (ScnChakraPlay *play);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (ScnChakraPlay, scn_chakra_play_clear)
const ScnChakraNode *scn_chakra_node (const ScnChakraPlay *play, guint rank, guint node);
/* What the run came to, once the graph has run. */
void scn_chakra_sum_up (const ScnChakraPlay *play, const EngGraph *graph, ScnChakraResult *out);

#endif
