/* Communication over compute in text, TSV, JSON and plots. */
#ifndef REPORT_RATIO_H
#define REPORT_RATIO_H

#include "base/table.h"
#include "study/ratio.h"

void rep_ratio_text (const StdRatio *ratio, GString *out);
/* The points. Returned: full. */
BaseTable *rep_ratio_table (const StdRatio *ratio);
/* Members of the open object. */
void rep_ratio_json (const StdRatio *ratio, JsonBuilder *json);

/* RepPictures (report/plots.h): cells of ratios with the lines where they turn; throughput by GPUs, of several numbers of them.
 * FALSE: fewer than two points ran, and there is nothing to draw. */
gboolean rep_ratio_plots (const StdRatio *ratio, const char *name, GPtrArray *plots);

#endif
