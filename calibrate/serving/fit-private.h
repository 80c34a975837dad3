/* Inside the fit of an engine's times: fit.c plays the runs, choose.c says which constants they tell. */
#ifndef CALIBRATE_SERVING_FIT_PRIVATE_H
#define CALIBRATE_SERVING_FIT_PRIVATE_H

#include "constants/store.h"
#include "serving/serving-private.h"

#define CAL_SERVING_MOST 16u /* constants */

/* A constant that runs may tell. */
typedef struct {
  const char *key;
  BaseDim dim;
  gsize offset;
  double absent; /* that an absent one stands for; 0: absent ones are not fitted */
  gboolean host; /* a time of the host */
  double least, most;
  gboolean moe; /* only of models with experts */
} CalServingKnown;

typedef struct {
  const CalServingQuery *query;
  const BaseLookup *lookup;
  const GPtrArray *runs; /* CalServingRun * */
  CstStore store;
  GPtrArray *scenarios; /* Scn *, as the runs */
  MdlEngineRow row;     /* that holds for the engine's version */
  MdlEngineTimes times; /* of the GPU */
  CalServingFit *out;
  const CalServingKnown *which[CAL_SERVING_MOST]; /* of out->constants */
} CalServingWork;

/* All runs by `n` sets of x = ln (constant / before), as out->constants. answer[run * n + set]: ln of TTFT and of TPOT in s; NAN
 * where the run has not measured it. FALSE and *error: a run cannot be played. */
gboolean cal_serving_predict (const CalServingWork *work, const double (*x)[CAL_SERVING_MOST], guint n, double (*answer)[2],
                              GError **error);
/* ln (constant number i / before) at x. */
double cal_serving_ln (const CalServingWork *work, const double *x, guint i);
/* The constants that the runs tell: x of each (0: it keeps its value), and `fitted`, `error`, `after` of out->constants. FALSE and
 * *error: as cal_serving_predict. */
gboolean cal_serving_choose (CalServingWork *work, double *x, GError **error);

#endif
