/* The kinds of `forerun import` that make CSV of measurements. */
#ifndef CLI_IMPORT_MEASURED_PRIVATE_H
#define CLI_IMPORT_MEASURED_PRIVATE_H

#include "calibrate/import_measured.h"
#include "cli-private.h"

/* What the user says of a file of measurements; texts as typed, NULL: not given. */
typedef struct {
  char *op, *algo, *proto, *launch, *nodes, *gpus, *nccl; /* of nccl-tests */
  char *bytes;                                            /* of copies between devices */
} CliImportFlags;

extern const CliFlag cli_import_flags[]; /* offsets in CliImportFlags */

/* A tool of cal_tool_names. */
gboolean cli_import_is_measured (const char *kind);
/* How large a file of `kind` may be. */
gsize cli_import_measured_max_B (const char *kind);
/* Flags that have no meaning for `kind`, and values that are none. FALSE and *error. */
gboolean cli_import_measured_check (const Cli *cli, const char *kind, const CliImportFlags *flags, GError **error);
/* The CSV. Returned: full; NULL and *error on failure. */
char *cli_import_measured (Cli *cli, const char *kind, const CliImportFlags *flags, const CalText *text, GError **error);

#endif
