/* Writing results: to stdout, or to a file that is replaced only when all of the new one is on disk. */
#ifndef BASE_OUTPUT_H
#define BASE_OUTPUT_H

#include "base/error.h"

/* Writes `text` to `path` by way of a temporary file of a random name in the same folder, fsync and rename: on any failure (full
 * disk, no permission, path is a folder) the old file stays whole, no temporary is left, and *error (BASE_ERROR_RUN, or
 * BASE_ERROR_INPUT where the path itself is wrong) names path and reason. SIGHUP, SIGINT and SIGTERM remove the temporary too,
 * unless the program handles or ignores them. /dev/stdout, /dev/full and other non-regular files are written in place. Nothing
 * is written outside the sandbox (base/sandbox.h). One thread at a time. */
gboolean base_output_file (const char *path, const char *text, gsize n_B, GError **error);

/* What base_output_file would say of a path, as far as it is known before anything is written: for work that takes long. FALSE and
 * *error likewise. */
gboolean base_output_check (const char *path, GError **error);

/* Makes a folder, with those above it, where it is not there. FALSE and *error. */
gboolean base_output_folder (const char *folder, GError **error);

/* TRUE where both paths lead to one file: by device and inode, or by those of the folder and the name where neither is there. */
gboolean base_output_same (const char *a, const char *b);

/* Writes to stdout and flushes. A reader that went away (EPIPE) is success with *closed TRUE; any other failure an error. */
gboolean base_output_stdout (const char *text, gsize n_B, gboolean *closed, GError **error);

#endif
