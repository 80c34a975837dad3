/* Which resources a set of routes can fill, and which only ever wait behind another. */
#ifndef WORKLOAD_SERIES_PRIVATE_H
#define WORKLOAD_SERIES_PRIVATE_H

#include "ground-private.h"

typedef struct WrkSeries WrkSeries;

/* Of a cluster's resources; knows no route yet. Returned: full. */
WrkSeries *wrk_series_new (const Clu *clu);
void wrk_series_free (WrkSeries *series);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (WrkSeries, wrk_series_free)

/* One more way; one without uses is allowed. */
void wrk_series_add (WrkSeries *series, const WrkWay *way, const WrkStand *from, const WrkStand *to);
/* FALSE: every route so far that crosses the resource is held more tightly by one other, always the same, which binds. */
gboolean wrk_series_binds (const WrkSeries *series, CluRes res);

#endif
