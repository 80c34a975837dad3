/* A program of streams, read and priced. */
#ifndef SCENARIO_PROGRAM_PRIVATE_H
#define SCENARIO_PROGRAM_PRIVATE_H

#include "engine/graph.h"
#include "jobs-private.h"
#include "scenario/program.h"

#define SCN_NO_ITEM G_MAXUINT

/* An entry of a stream, its place in the program, and what it costs. Entries are numbered stream by stream. */
typedef struct {
  const ScnProgramItem *item;
  const ScnProgramStream *stream;
  guint stream_number;
  ScnDo what;
  gboolean first;  /* of its stream */
  CluDev from, to; /* of a copy or put */
  guint32 gpu;     /* global number: of a kernel, its stream's; of a read or write, its own */
  char *name;      /* owned */
  double alone_s;
  EngFlowSpec flow;          /* of what is an activity; `uses` holds its links */
  GArray *uses;              /* EngUse; NULL: a delay of alone_s */
  MdlOverlapCompute compute; /* of a kernel */
  MdlOverlapComm comm;       /* of a collective */
  GArray *fill;              /* double, of a collective: what of each use's link a byte a second takes */
  GArray *gpus;              /* guint32, global numbers of a collective */
  gboolean blocks_host;      /* a copy of pageable memory */
} ScnEntry;

/* All entries, which streams' order and events join. */
typedef struct {
  const Scn *scenario;
  const ScnProgramSpec *spec;
  GArray *entries;       /* ScnEntry */
  GHashTable *recorders; /* event -> number of the entry that records it + 1 */
  ColNet *net;
} ScnProgram;

void scn_program_open (ScnProgram *program, const Scn *scenario);
void scn_program_clear (ScnProgram *program);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (ScnProgram, scn_program_clear)
/* The entry that records `event`; SCN_NO_ITEM: none does. */
guint scn_program_recorder (const ScnProgram *program, const char *event);
/* Finds the devices that are named. FALSE and *error, with the place. */
gboolean scn_program_place (ScnProgram *program, GError **error);
/* Prices each entry on program->net. FALSE and *error. */
gboolean scn_program_price (ScnProgram *program, ColRunInfo *info, GError **error);
/* The memory of a GPU's socket: GPUs are spread evenly over the sockets. CLU_NONE: the node has none. */
CluDev scn_host_of (const Clu *clu, CluDev gpu);
/* What an operation asks of each of its GPUs while its bytes move. */
MdlOverlapComm scn_demand_of (const ColAnswer *coll);
/* Builds all iterations and runs them. `out` is zeroed by the caller, and cleared by it. FALSE and *error. */
gboolean scn_program_run (ScnProgram *program, ScnProgramResult *out, ColRunInfo *info, GError **error);

#endif
