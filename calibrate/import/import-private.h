/* What the importers of NCCL's words share. */
#ifndef CALIBRATE_IMPORT_PRIVATE_H
#define CALIBRATE_IMPORT_PRIVATE_H

#include "calibrate/import.h"
#include "models/search.h"

/* NCCL's patterns (src/graph/topo.h: NCCL_TOPO_PATTERN_…) by the graph that they belong to. */
typedef enum { CAL_GRAPH_RING, CAL_GRAPH_TREE, CAL_GRAPH_NVLS, CAL_GRAPH_DIRECT, CAL_GRAPH_CHAIN, CAL_GRAPH_N } CalGraphKind;

typedef struct {
  gboolean set;
  unsigned channels;
  double intra_GBps, inter_GBps;
  char intra[8], inter[8]; /* path classes: "NVL" */
  gboolean same;
} CalGraph;

/* What a file told; 0 where it did not. */
typedef struct {
  CalGraph graph[CAL_GRAPH_N];
  unsigned gpus, nodes, ranks;
  unsigned coll_channels, p2p_channels;
  char version[24];
} CalFound;

/* Into which graph a pattern goes: the first tree pattern is the tree's, a later TREE CollNet's chain's. CAL_GRAPH_N: none. */
CalGraphKind cal_graph_of (unsigned pattern, const CalGraph *known);
/* A path class as forerun writes it: NCCL's own name, or "NVL" for RCCL's "XGMI". NULL: none. Borrowed. */
const char *cal_path_of (const char *text);
/* The calibration file. Returned: full. */
char *cal_import_write (const CalFound *found, const char *kind, const char *name, const char *over);

#endif
