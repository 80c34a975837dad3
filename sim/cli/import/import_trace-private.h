/* The kinds of `forerun import` that make a scenario of a profiler's trace. */
#ifndef CLI_IMPORT_TRACE_PRIVATE_H
#define CLI_IMPORT_TRACE_PRIVATE_H

#include "cli-private.h"

/* What the user says; texts as typed, NULL: not given. */
typedef struct {
  const char *kind, *name, *like, *step, *nodes, *gpus, *ranks;
  gboolean keep_nccl, kernels;
} CliImportTrace;

const char *cli_import_trace_kind (guint i); /* NULL behind the last */
gboolean cli_import_is_trace (const char *kind);
/* Reads the files and writes the scenario to cli->out, or with `kernels` their times. FALSE and *error. */
gboolean cli_import_trace (Cli *cli, const CliImportTrace *query, char **paths, GError **error);

#endif
