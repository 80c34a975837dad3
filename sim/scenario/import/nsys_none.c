/* A build without SQLite. */
#include "trace-private.h"

gboolean
scn_trace_read_nsys_sqlite (ScnTrace *trace, const char *path, const char *bytes, gsize n_B, GError **error)
{
  (void)trace;
  (void)bytes;
  (void)n_B;
  return base_fail_at (
      error, (BaseMark){ .file = path },
      "this build reads no SQLite; install it (Debian: libsqlite3-dev) and build again, or give the CSV of 'nsys stats "
      "--report cuda_gpu_trace'");
}
