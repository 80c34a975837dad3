/* The NCCL section over nodes: this process leads one worker a GPU, wherever that is. */
#ifndef FORERUN_PROBE_NODES_H
#define FORERUN_PROBE_NODES_H

#include "nccl_section.h"
#include "probe_layout.h"
#include "ranks.h"

typedef struct {
  Ranks *ranks;
  ProbeLayout layout;
  bool lost; /* a process does not answer any more */
  NcclFiles files;
} Nodes;

/* Lists or measures. False: it failed as a whole. */
bool nodes_nccl (Probe *probe, Nodes *nodes);

#endif
