/* Fits a calibration to measurements: constants of collectives, and of the sections that a probe's file tells, with intervals and
 * the error on what was held out. */
#ifndef CALIBRATE_FIT_H
#define CALIBRATE_FIT_H

#include "calibrate/collectives.h"
#include "calibrate/predict.h"

typedef struct {
  const char *topology;    /* the node that was measured, on which sections are predicted; NULL: they are not fitted */
  const char *folder;      /* that paths of topologies are read from */
  const char *over;        /* calibration that is fitted over; NULL: the one named like the GPU */
  double min_size_B;       /* shorter messages are left out */
  const gboolean *systems; /* by number: which are fitted; NULL: all */
  const gboolean *unknown; /* by number: those whose launches are not known; they count as graph replay, and one time a call on
                            * top is found for each; NULL: none */
  CalHoldOut hold_out;
  gboolean split;       /* the answer is the fit without what was held out; else, once that is scored, the one of all points */
  gboolean one_release; /* releases of NCCL that differ are refused; else warned about */
} CalFitQuery;

/* Error of predictions on a part of the points: |predicted / measured - 1|. */
typedef struct {
  const char *stage; /* NULL: all stages together */
  CalUse use;
  int band; /* MdlSize; MDL_SIZE_N: all sizes */
  guint n;
  double median, p95, worst;
} CalFitScore;

/* Where predictions were held against points that the fit did not see: one operation by one algorithm in one size band, within a
 * node or over several. */
typedef struct {
  MdlOp op;
  MdlAlgo algo;
  int band;            /* MdlSize */
  guint32 nodes, gpus; /* nodes: the most; gpus: of a node; the most within one node */
  double min_size_B, max_size_B;
  guint n;
  double error; /* relative half-width that holds CAL_BAND_SHARE of them; wider where they are few */
} CalFitTested;

/* What launches of a source take that does not say how it launched. */
typedef struct {
  const char *system;
  double time_s;    /* a call, on top of graph replay */
  guint n;          /* points whose median it is */
  gboolean network; /* points that it was found of, beside the constants of the network */
} CalFitOffset;

/* A choice of NCCL's that is another here. */
typedef struct {
  CalMeasured told;
  MdlAlgo algo;
  MdlProto proto;
} CalFitChoice;

typedef struct {
  GPtrArray *sections; /* CalSectionFit *, without one that no file tells */
  guint n_left;        /* points that tell nothing: P2P off, one way, too short, impossible */
  const char *over;    /* name of the calibration that was fitted over */
  /* collectives: `fit` NULL where none are fitted, and then the rest holds nothing */
  const CalFit *fit;   /* what is written */
  gboolean all_fitted; /* it is of all points; scores, bands and predictions are of the fit without what was held out */
  GArray *points;      /* CalFitPoint */
  const char **stage;  /* by point: the stage that it tells; NULL: none that was fitted */
  double *predicted_s; /* by point */
  GArray *scores;      /* CalFitScore */
  double limits_B[2];  /* of the size bands */
  double band[MDL_SIZE_N], covered[MDL_SIZE_N]; /* relative half-width, and share of other held-out points in it; NAN: none */
  GArray *tested;                               /* CalFitTested */
  double base_band[MDL_SIZE_N];                 /* of the calibration that is fitted over; 0: it has none */
  GArray *offsets;                              /* CalFitOffset */
  guint n_choices, n_same;                      /* choices of NCCL's that the files tell; those that are the same here */
  GArray *others;                               /* CalFitChoice: the first few that are not */
  /* owned by the result, for what it borrows */
  CalPredictor *predictor;
  GPtrArray *groups;
  CalFit *first, *all;
} CalFitResult;

/* What cannot be fitted as it was asked for; other failures are BASE_ERROR. */
#define CAL_FIT_ERROR (cal_fit_error_quark ())
typedef enum {
  CAL_FIT_ERROR_OFFSET,    /* nothing tells the launches of a system */
  CAL_FIT_ERROR_CONSTANTS, /* systems go by different calibrations */
  CAL_FIT_ERROR_OTHER
} CalFitError;
GQuark cal_fit_error_quark (void);

/* Launches of ask->unknown are changed in `data`, which the result borrows names from, as it does from `host`. Returned: full; NULL
 * and *error on failure. */
CalFitResult *cal_fit (const CalHost *host, const CalFitQuery *query, CalData *data, GError **error);
void cal_fit_result_free (CalFitResult *result);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CalFitResult, cal_fit_result_free)

/* Whether a constant was fitted, or held at an end of what is accepted; an error band alone is none. */
gboolean cal_fit_determines (const CalFitResult *result);
/* The calibration as YAML: what was fitted, with intervals and counts. Returned: full, g_free. */
char *cal_fit_write (const CalFitResult *result, const CalData *data, const char *name);

#endif
