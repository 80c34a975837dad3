/* How workers are started: their command line, their settings, and where NCCL leaves its log and its XML. */
#ifndef FORERUN_PROBE_NCCL_START_H
#define FORERUN_PROBE_NCCL_START_H

#include "nccl_plan.h"
#include "probe_options.h"

#include <string>

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
