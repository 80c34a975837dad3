/* The NCCL section, whoever its workers are: processes that run NCCL, all under one setting at a time. */
#ifndef FORERUN_PROBE_NCCL_SECTION_H
#define FORERUN_PROBE_NCCL_SECTION_H

#include "nccl_plan.h"
#include "probe.h"

#define NCCL_LINE_MOST  8192
#define NCCL_BUFFER_B   ((size_t)1 << 30)
#define NCCL_PATIENCE_S 30.0 /* without any line from a worker: it hangs */

typedef enum {
  NCCL_ASKED_LINE,    /* the worker's answer; "error WHY" is of this case alone */
  NCCL_ASKED_FAILED,  /* the line says why; nothing more can be asked before a new start */
  NCCL_ASKED_APART,   /* likewise: ranks did not come together, nothing else of this shape can be asked either */
  NCCL_ASKED_STOPPED, /* by a signal */
} NcclAsked;

typedef struct {
  void *user;
  const char *xml; /* where NCCL writes what it sees of the machine, when the first choice was asked */
  /* Begins anew under a stage's setting, which has until `end_s` (probe_now's). False: why. */
  bool (*start) (void *user, const NcclStage *stage, double end_s, char *why, size_t size);
  NcclAsked (*ask) (void *user, const ProbeRequest *request, double end_s, char *line, size_t size);
  /* Takes the workers away, after so many seconds by force; none may be there. */
  void (*stop) (void *user, double patience_s);
  /* Lets them wait until a stage of the same name starts again. */
  void (*keep) (void *user);
} NcclCrew;

/* Lists or measures the plan. False: it failed as a whole. `over_nodes`: points say `nodes`. */
bool nccl_section_run (Probe *probe, const NcclPlan *plan, const NcclCrew *crew, bool over_nodes);

/* Where NCCL leaves its log and its XML: a folder of this run. */
typedef struct {
  char folder[64], log[96], xml[96];
} NcclFiles;
bool nccl_files_make (NcclFiles *files); /* false: why in errno */
void nccl_files_remove (NcclFiles *files);
/* Adds what workers need to write them, `text` to hold the names; returns how many settings. The XML: all ranks have these, rank 0
 * writes it. The log: who has these writes one. */
#define NCCL_FILES_SETTINGS 5 /* both together */
#define NCCL_FILES_TEXT     128
size_t nccl_files_xml_settings (const NcclFiles *files, char text[NCCL_FILES_TEXT], const char *out[NCCL_FILES_SETTINGS]);
size_t nccl_files_log_settings (const NcclFiles *files, char text[NCCL_FILES_TEXT], const char *out[NCCL_FILES_SETTINGS]);

#endif
