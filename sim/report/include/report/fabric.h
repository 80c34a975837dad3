/* Where the fabric becomes the bottleneck of a service, in text, TSV, JSON and a plot. */
#ifndef REPORT_FABRIC_H
#define REPORT_FABRIC_H

#include "base/table.h"
#include "study/fabric.h"

void rep_fabric_text (const StdFabric *fabric, GString *out);
/* The points. Returned: full. */
BaseTable *rep_fabric_table (const StdFabric *fabric);
/* Members of the open object. */
void rep_fabric_json (const StdFabric *fabric, JsonBuilder *json);

/* RepPlot (report/plots.h): what an endless network would save of TTFT, by network and number of GPUs (or load). FALSE: fewer than
 * two points ran, and there is nothing to draw. */
gboolean rep_fabric_plots (const StdFabric *fabric, const char *name, GPtrArray *plots);

#endif
