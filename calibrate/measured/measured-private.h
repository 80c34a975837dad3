/* Inside calibrate/: what the readers of measurements share. */
#ifndef CALIBRATE_MEASURED_PRIVATE_H
#define CALIBRATE_MEASURED_PRIVATE_H

#include "calibrate/measured.h"

/* The data's own copy of a text; NULL where it is NULL or empty. */
const char *cal_data_text (CalData *data, const char *text);
/* Margins from a file; `path` NULL: none, and the bands of the schema. */
gboolean cal_data_load_margins (const CalHost *host, const char *path, CalData *data, GError **error);

#endif
