#ifndef WORKLOAD_SEND_PRIVATE_H
#define WORKLOAD_SEND_PRIVATE_H

#include "ground-private.h"

/* Prices `bytes` from each from[i] to its to[i] (global GPU numbers), all pairs at once, until the slowest has arrived; loads count
 * bytes per byte of one pair. Of *out, cost, time_s, loads, bottleneck, bound_by and provenance are meant. */
gboolean wrk_send_price (WrkGround *ground, const Clu *clu, const WrkSettings *settings, const guint32 *from, const guint32 *to,
                         guint32 n_pairs, double bytes, WrkColl *out, GError **error);

#endif
