/* The NCCL section, whoever its workers are: processes that run NCCL, all under one setting at a time. */
#ifndef FORERUN_PROBE_NCCL_SECTION_H
#define FORERUN_PROBE_NCCL_SECTION_H

#include "nccl_plan.h"
#include "probe.h"

#define NCCL_LINE_MOST  8192
#define NCCL_PATIENCE_S 30.0 /* without any line from a worker: it hangs */

typedef enum {
  NCCL_ASKED_LINE,    /* the worker's answer; "error WHY" is of this case alone */
  NCCL_ASKED_FAILED,  /* nothing more can be asked before a new start */
  NCCL_ASKED_APART,   /* likewise: ranks did not come together, nothing else of this shape can be asked either */
  NCCL_ASKED_STOPPED, /* by a signal */
} NcclAsked;

typedef struct {
  void *user;
  const char *xml; /* where NCCL writes what it sees of the machine, when the first choice was asked */
  /* Begins anew under a stage's setting, which has until `end_s` (probe_now's). */
  bool (*start) (void *user, const NcclStage *stage, double end_s);
  NcclAsked (*ask) (void *user, const ProbeRequest *request, double end_s, char line[NCCL_LINE_MOST]);
  /* Takes the workers away, after so many seconds by force; none may be there. */
  void (*stop) (void *user, double patience_s);
  /* Lets them wait until a stage of the same name starts again. */
  void (*keep) (void *user);
} NcclCrew;

/* Lists or measures the plan. False: it failed as a whole. `over_nodes`: points say `nodes`. */
bool nccl_section_run (Probe *probe, const NcclPlan *plan, const NcclCrew *crew, bool over_nodes);

#endif
