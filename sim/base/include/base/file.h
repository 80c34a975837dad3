/* Reading a file whose size and kind are the user's. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <glib.h>

/* All bytes of a regular file or a pipe, at most max_B, with a zero byte behind them; "-" is standard input, which messages call
 * "stdin". FALSE and *error (BASE_ERROR_INPUT, "path: what") for folders, devices, larger files, and what cannot be read.
 * `*bytes`: full, g_free. */
gboolean base_file_read (const char *path, gsize max_B, char **bytes, gsize *n_B, GError **error);

#endif
