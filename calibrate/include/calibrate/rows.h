/* Files of measurements that forerun-probe did not write: CSV of copies and of storage as `forerun import` writes them, as points
 * of a probe's file. */
#ifndef CALIBRATE_ROWS_H
#define CALIBRATE_ROWS_H

#include "calibrate/import_measured.h"
#include "calibrate/probe_file.h"

typedef enum { CAL_ROWS_NONE, CAL_ROWS_COPIES, CAL_ROWS_STORAGE } CalRowsKind;

/* By the header line. */
CalRowsKind cal_rows_kind (const CalText *text);

/* Such a CSV as points `link` or `storage`, each once for each row: repeats stay. Rows that no model tells of are counted in the
 * warnings. Returned: full; NULL and *error (with file and line) on anything that such a file has not. */
CalProbe *cal_rows_probe (const CalText *text, GError **error);

#endif
