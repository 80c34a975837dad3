/* What NCCL says of a machine, as a calibration file: the graphs that its search found, its version, its channels, and which
 * algorithm it took for which size. */
#ifndef CALIBRATE_IMPORT_H
#define CALIBRATE_IMPORT_H

#include "base/diag.h"
#include "models/op.h"

/* A file that is imported. */
typedef struct {
  const char *path; /* as messages name it */
  const char *bytes;
  gsize n_B;
  BaseDiag *warnings; /* of NCCL's words: NULL, and nothing is said */
} CalText;

/* One line of a log: what NCCL took. */
typedef struct {
  MdlOp op;
  guint64 bytes; /* as the log counts them: of an all-gather and a reduce-scatter one rank's part */
  MdlAlgo algo;
  MdlProto proto;
  unsigned channels, ranks; /* ranks: of the communicator that the file's graphs are of */
} CalChoice;

/* The text of a log of NCCL_DEBUG=INFO with NCCL_DEBUG_SUBSYS=INIT,GRAPH (and TUNING for choices), of one or more ranks mixed; of
 * several communicators the largest counts. `name`: of the calibration; `over`: the calibration that it stands over, usually the
 * GPU type. `choices` (may be NULL): CalChoice of each operation and size once, in the order of the file. Returned: full, a
 * calibration file; NULL and *error (BASE_ERROR_INPUT, with file and line) on failure. */
char *cal_import_nccl_log (const CalText *text, const char *name, const char *over, GArray *choices, GError **error);

/* The same of the XML that NCCL_GRAPH_DUMP_FILE names. It tells neither the version, nor the nodes, nor the channels in use. */
char *cal_import_nccl_graph (const CalText *text, const char *name, const char *over, GError **error);

#endif
