/* Constants of the collectives in models/, solved from measured points.
 *
 * A stage is a group of constants and the points that tell them: the ring by LL, the tree by Simple, sends and receives, launches.
 * Stages follow each other, each solved by itself (calibrate/solve.h) with weights such that each operation on each number of GPUs
 * counts the same; constants of a stage are those of the calibration that is fitted over. */
#ifndef CALIBRATE_COLLECTIVES_H
#define CALIBRATE_COLLECTIVES_H

#include "calibrate/section.h"
#include "models/library-spec.h"

typedef struct {
  MdlOp op;
  MdlAlgo algo; /* as it ran: never AUTO */
  MdlProto proto;
  MdlLaunch launch;
  guint32 nodes, ranks;
  guint32 max_channels; /* 0: no bound was set */
  guint32 min_ctas;     /* likewise */
  guint system;         /* where it was measured */
  double size_B, measured_s;
  CalUse use;
} CalFitPoint;

/* How the fit asks for predictions: as CalProblem, of constants in MdlLibrary. */
typedef struct {
  void (*set) (void *user, const CalFitConstant *constant, double value);
  double (*predict) (void *user, guint point); /* s */
  void *user;
  const GArray *network; /* CalFitConstant: those that points of several nodes may ask for (cal_choose), or NULL */
} CalFitModel;

/* The stage of all points of several nodes. */
extern const char cal_between_nodes[];

/* What is held out. */
typedef struct {
  gboolean sizes;          /* every second size of a setting */
  gboolean ranks;          /* all numbers of ranks of one node, and of nodes, but the least and the most of an operation */
  guint32 ops;             /* bit (1u << MdlOp): these operations */
  const gboolean *systems; /* by number: these systems; NULL: none */
} CalHoldOut;

/* Marks held-out points; what is not held out is fitted. Systems come first, then operations, sizes, ranks. */
void cal_fit_split (GArray *points, const CalHoldOut *what);

/* The stage that a point tells; NULL: none. Points of small sizes by plain launches tell of launches, not of steps. */
const char *cal_fit_stage_name (const CalFitPoint *point);

/* Fits over `library` (its values are the defaults and the start); `points` (CalFitPoint) of use CAL_USE_FIT count. The model's
 * constants stand at the result afterwards. Returned: full; NULL and *error where no point tells any stage. */
CalFit *cal_fit_run (const MdlLibrary *library, const GArray *points, const CalFitModel *model, GError **error);

#endif
