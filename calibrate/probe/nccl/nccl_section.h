/* The NCCL section, whoever its workers are: processes that run NCCL, all under one setting at a time. */
#ifndef FORERUN_PROBE_NCCL_SECTION_H
#define FORERUN_PROBE_NCCL_SECTION_H

#include "nccl_plan.h"
#include "probe.h"

#define NCCL_LINE_MOST  8192
#define NCCL_PATIENCE_S 30.0 /* without any line from a worker: it hangs */

typedef enum {
  NCCL_REPLY_LINE,    /* the worker's answer; "error WHY" is of this case alone */
  NCCL_REPLY_FAILED,  /* nothing more can be asked before a new start */
  NCCL_REPLY_APART,   /* likewise: ranks did not come together, nothing else of this shape can be asked either */
  NCCL_REPLY_STOPPED, /* by a signal */
} NcclReply;

typedef struct {
  void *user;
  const char *xml; /* where NCCL writes what it sees of the machine, when the first choice was asked */
  /* Begins anew under a stage's setting, which has until `end_s` (probe_now's). */
  bool (*start) (void *user, const NcclStage *stage, double end_s);
  NcclReply (*query) (void *user, const ProbeRequest *request, double end_s, char line[NCCL_LINE_MOST]);
  /* Takes the workers away, after so many seconds by force; none may be there. */
  void (*stop) (void *user, double patience_s);
  /* Lets them wait until a stage of the same name starts again. */
  void (*keep) (void *user);
} NcclWorkers;

/* Lists or measures what is wanted of the plan, and drops the rest of it. False: it failed as a whole. `over_nodes`: points say
 * `nodes`. */
bool nccl_section_run (Probe *probe, NcclPlan *plan, const NcclWorkers *workers, bool over_nodes);

/* ---- how workers are started: nccl_start.cu ---- */

/* A folder of this run. */
typedef struct {
  char folder[64], log[96], xml[96];
} NcclFiles;
bool nccl_files_make (NcclFiles *files);
void nccl_files_remove (NcclFiles *files);

/* What a worker's environment gets, as probe_child_start takes it; points into itself and the stage. */
typedef struct {
  const char *item[NCCL_SETTINGS_MOST + 7];
  size_t n; /* without the NULL behind them */
  char log[128], xml[128];
} NcclSettings;
/* The stage's, and where its choices are asked the place of the XML: all ranks have these, rank 0 writes it. */
void nccl_settings_make (NcclSettings *settings, const NcclStage *stage, const ProbeOptions *options, const NcclFiles *files);
/* Who has these too writes a log. */
void nccl_settings_add_log (NcclSettings *settings, const NcclFiles *files);

#define NCCL_BUFFER_B ((size_t)1 << 30)
/* The command line of a worker, without and with NCCL's log; points into itself. */
typedef struct {
  std::string gpus, bytes, device;
  char *argv[8], *argv_with_log[8];
} NcclCommand;
/* For `gpus` GPUs of this machine; `device` >= 0: for that one alone, as a rank among others. Borrows the others. */
void nccl_command_make (NcclCommand *command, const ProbeOptions *options, unsigned gpus, int device, const NcclFiles *files);

#endif
