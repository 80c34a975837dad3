/* Reading a file whose size and kind are the user's. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <glib.h>

/* All bytes of a regular file, at most max_B, with a zero byte behind them; "-" is standard input, which messages call
 * "stdin". FALSE and *error (BASE_ERROR_INPUT, "path: what"; nothing is quoted) for folders, named pipes, devices, larger
 * files, what cannot be read, and what is outside the sandbox (base/sandbox.h). Pipes that are open already are read:
 * /dev/stdin, and without a sandbox /dev/fd/N, as in `forerun check <(…)`. `*bytes`: full, g_free. */
gboolean base_file_read (const char *path, gsize max_B, char **bytes, gsize *n_B, GError **error);

/* Whether there is a regular file, or a folder, that may be read. */
gboolean base_file_is_file (const char *path);
gboolean base_file_is_folder (const char *path);

#endif
