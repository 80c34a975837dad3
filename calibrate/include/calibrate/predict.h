/* Communicators for measured points: what `validate` and `fit` predict with. */
#ifndef CALIBRATE_PREDICT_H
#define CALIBRATE_PREDICT_H

#include "calibrate/measured.h"
#include "collective/comm.h"
#include "constants/calibration.h"

/* Keeps the constants that predictions were made with. */
typedef struct CalPredictor CalPredictor;

CalPredictor *cal_predictor_new (const CalHost *host); /* `host` is borrowed; full */
void cal_predictor_free (CalPredictor *predictor);     /* after all groups */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CalPredictor, cal_predictor_free)

/* Constants for GPUs of a type (NULL: none known), loaded once where the same is asked for again: see CstQuery. A version of NCCL
 * that is not known counts for none. Borrowed; NULL and *error on failure. */
const Cst *cal_predictor_constants (CalPredictor *predictor, const char *calibration, const char *gpu_type, const char *nccl,
                                    GError **error);
/* All that were loaded, Cst *, in this order; borrowed. */
const GPtrArray *cal_predictor_loaded (const CalPredictor *predictor);

/* Points that share a communicator. */
typedef struct {
  const CalSystem *system;
  gpointer *member; /* CalMeasured *, n of them, while it is visited */
  guint n;
  Clu *clu;
  ColSettings settings;
  MdlLibrary *library; /* what settings.library points to; NULL: the plain one */
  guint32 n_ranks, n_nodes;
  guint32 *ranks; /* global GPUs */
  ColComm *comm;
  ColAnswer coll; /* for whoever prices */
} CalGroup;
void cal_group_free (CalGroup *group);
/* Lays links over its cluster and makes its communicator anew. FALSE: it cannot be made. */
gboolean cal_group_lay (CalGroup *group, const struct MdlLinks *links);

typedef struct {
  ColMode mode;
  const char *folder;           /* that paths of topologies are read from */
  const char *calibration;      /* for all systems; NULL: each its own */
  const struct MdlLinks *links; /* in place of the calibration's; NULL: its own */
  const GArray *points;         /* CalMeasured, some of the data's; NULL: all */
} CalPredict;

/* Visits points of the data group by group, in an order that does not depend on that of the points. Whoever sets *kept owns the
 * group. FALSE and *error on failure, also of a visit. */
typedef gboolean (*CalGroupFn) (CalGroup *group, void *user, gboolean *kept, GError **error);
gboolean cal_predict (CalPredictor *predictor, const CalPredict *how, const CalData *data, CalGroupFn visit, void *user,
                      GError **error);

/* Prices a point of the group; group->coll is the answer. *possible FALSE: what was measured cannot run here, and why (full,
 * g_free). FALSE and *error on failure. */
gboolean cal_group_price (CalGroup *group, const CalMeasured *point, gboolean *possible, char **why, GError **error);

#endif
