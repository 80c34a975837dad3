/* Inside calibrate/serving: readers of runs, and the fit. */
#ifndef CALIBRATE_SERVING_PRIVATE_H
#define CALIBRATE_SERVING_PRIVATE_H

#include "calibrate/serving.h"
#include "import/measured-private.h"
#include "models/engine.h"

/* A run at a line of a file (0: of the whole), without settings. Returned: borrowed. */
CalServingRun *cal_serving_run_add (GPtrArray *runs, const char *file, unsigned line);
void cal_serving_set (CalServingRun *run, const char *format, ...) G_GNUC_PRINTF (2, 3);
/* AIPerf's load; `closed`, `rate` NAN: the scenario's hold. */
void cal_serving_aiperf_load (CalServingRun *run, double closed, double rate, double input, double output, double requests);

/* Cuts a line into cells, without quotes and blanks around them. Returned: how many, at most `most`. */
guint cal_serving_cut (char *line, char **cells, guint most);
/* "1,146.31" too. FALSE: not a number above 0. */
gboolean cal_serving_number (const char *cell, double *out);
gboolean cal_serving_is_csv (const CalText *text);
gboolean cal_serving_read_csv (const CalText *text, GPtrArray *runs, GError **error);

/* The calibration file with the row of the engine, its times on this GPU replaced by `times`. Returned: full. */
char *cal_serving_write (const CalServingFit *fit, const char *name, const MdlEngineRow *row, const MdlEngineTimes *times);

#endif
