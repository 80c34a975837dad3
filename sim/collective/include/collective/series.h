/* Which resources a set of routes can fill, and which only ever wait behind another. */
#ifndef COLLECTIVE_SERIES_H
#define COLLECTIVE_SERIES_H

#include "collective/routes.h"

typedef struct ColSeries ColSeries;

/* Of a cluster's resources; knows no route yet. Returned: full. */
ColSeries *col_series_new (const Clu *clu);
void col_series_free (ColSeries *series);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (ColSeries, col_series_free)

/* One more way; one without uses is allowed. */
void col_series_add (ColSeries *series, const ColRoute *way, const ColRankPlace *from, const ColRankPlace *to);
/* FALSE: every route so far that crosses the resource is held more tightly by one other, always the same, which binds. */
gboolean col_series_binds (const ColSeries *series, CluRes res);

#endif
