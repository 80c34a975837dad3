/* Measured collectives of tests/data, and what the models say to them. */
#ifndef TEST_MEASURED_H
#define TEST_MEASURED_H

#include "models/coll.h"

typedef struct {
  char source[64], gpu[16], nccl[16];
  MdlOp op;
  int algo, proto; /* MDL_ALGO_AUTO, MDL_PROTO_AUTO: not recorded, the fastest predicted stands for it */
  unsigned n, n_nodes, max_channels, iters; /* iters 0: 20 */
  MdlLaunch launch;
  double size_B, time_s;
} Measured;

/* Out-of-place rows of nccl-tests' own output, sections "## …Ring_LL128… t=8" (graph) or g=8 (launch). Returned: full array of
 * Measured; NULL when the file cannot be read. */
GArray *measured_read_nccl_tests (const char *name, MdlLaunch launch);
/* tests/data/collectives/collectives.csv. */
GArray *measured_read_csv (const char *name);

/* tests/data/h200x8/ops.csv, rows of `setting` (NULL: NCCL's own choice); source "ops". */
GArray *measured_read_ops (const char *name, const char *setting);

/* Behind a switch where a kernel reaches `reach_Bps` a GPU, one way. */
double measured_predict (const MdlLibrary *library, const Measured *row, double reach_Bps, unsigned compute_capability);

/* Relative errors by size band: below 64 KiB, below 16 MiB, above. */
typedef struct {
  unsigned n[3];
  double median[3], worst[3];
} Errors;
typedef gboolean (*MeasuredFilter) (const Measured *row, const void *data);
Errors measured_errors (const MdlLibrary *library, const GArray *rows, double reach_Bps, unsigned compute_capability,
                        MeasuredFilter filter, const void *data);
/* The same of any errors: `error[i]` is relative, with sign, of rows[i]; NAN: left out. */
Errors measured_bands (const GArray *rows, const double *error);
void measured_print (const char *what, const Errors *errors);

#endif
