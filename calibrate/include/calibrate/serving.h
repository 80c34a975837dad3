/* Runs of a serving engine that a benchmark client measured, and constants of the engine that are fitted to them. */
#ifndef CALIBRATE_SERVING_H
#define CALIBRATE_SERVING_H

#include "calibrate/import.h"
#include "scenario/scenario.h"

/* One run of a client. */
typedef struct {
  char *place;           /* owned: where it stands, "file:line" */
  GPtrArray *sets;       /* owned, of char *: "path=value", which make the scenario of the deployment this run */
  double ttft_s, tpot_s; /* means over its requests; NAN: not measured */
  char *engine, *gpu;    /* owned: as the file names them; NULL: it does not */
  gboolean drafts;       /* the file says that it speculates */
} CalServingRun;

GPtrArray *cal_serving_runs_new (void); /* of CalServingRun *, full */
/* Whether a file holds such runs: a result of `vllm bench serve` or SGLang's bench_serving, of AIPerf (JSON, CSV), of InferenceX,
 * or a CSV with columns ttft_ms and tpot_ms. */
gboolean cal_is_serving (const CalText *text);
/* Appends its runs. FALSE and *error (BASE_ERROR_INPUT, with file and line) on anything that such a file has not. */
gboolean cal_serving_read (const CalText *text, GPtrArray *runs, GError **error);

/* A run of a closed loop on some deployment, as a table of many names it. */
typedef struct {
  char *gpu, *engine, *model; /* owned; engine may be NULL */
  double input, output;       /* tokens */
  double in_flight, gpus;
  double ttft_s, tpot_s; /* means */
} CalServingSpot;

/* A CSV with a line a run and the columns gpu, model, isl, osl, concurrency, gpus, ttft_ms and tpot_ms; framework if it has it;
 * other columns are left out, and so are lines where one of these is empty or 0 (tests/data/serving/serving.csv). Returned: full,
 * CalServingSpot; NULL and *error (BASE_ERROR_INPUT, with file and line). */
GArray *cal_serving_spots (const CalText *text, GError **error);
/* Output tokens/s of a GPU: all slots are always busy. */
double cal_serving_spot_tokens (const CalServingSpot *spot);

/* A constant of an engine's times (MdlEngineTimes). */
typedef struct {
  const char *key; /* as in calibration files */
  BaseDim dim;
  gsize offset;         /* of its BaseNum in MdlEngineTimes */
  double before, after; /* SI */
  double spread;        /* of the logarithm, before the runs were seen: 68 % */
  double error;         /* the same after them; `spread` where it was not fitted */
  gboolean fitted;      /* FALSE: the runs leave it open, and it keeps its value */
} CalServingConstant;

/* A run, and what is predicted for it. */
typedef struct {
  const CalServingRun *run; /* borrowed */
  double ttft_s, tpot_s;    /* with the fitted constants */
  double before_ttft_s, before_tpot_s;
} CalServingPoint;

typedef struct {
  char *engine, *version;         /* owned */
  double capability;              /* of the GPU */
  char *over;                     /* owned: calibration that they stand over */
  GArray *constants;              /* CalServingConstant */
  GArray *points;                 /* CalServingPoint, as the runs */
  double tpot_error, first_error; /* relative half-widths of bands, 90 %, from what the fit leaves */
  char *yaml;                     /* owned: the calibration file */
} CalServingFit;

typedef struct {
  const char *scenario;    /* path of the deployment: a scenario of kind `serving` */
  const char *name;        /* of the calibration that is written */
  const char *const *sets; /* of the scenario, ends with NULL; may be NULL */
  gboolean has_seed;
  guint64 seed;
} CalServingQuery;

/* Fits the engine's constants to the runs: the sum of the squared errors of ln TTFT and ln TPOT, each over its own spread, and of
 * ln constant over `spread` is made least (Gauss-Newton; Huber weights for outliers). `documents` (may be NULL): told of each input
 * file. Returned: full; NULL and *error (BASE_ERROR_INPUT: place of the run, reason, remedy) where a run cannot be the scenario's
 * or cannot be played. */
CalServingFit *cal_serving_fit (const CalServingQuery *query, const BaseLookup *lookup, const GPtrArray *runs, GError **error);
void cal_serving_fit_free (CalServingFit *fit);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CalServingFit, cal_serving_fit_free)

#endif
