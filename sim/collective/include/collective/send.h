#ifndef COLLECTIVE_SEND_H
#define COLLECTIVE_SEND_H

#include "collective/ground.h"

/* Prices `bytes` from each from[i] to its to[i] (global GPU numbers), all pairs at once, until the slowest has arrived; loads count
 * bytes per byte of one pair. Of *out, cost, time_s, loads, bottleneck, bound_by and provenance are meant. */
gboolean col_send_price (ColGround *ground, const Clu *clu, const ColSettings *settings, const guint32 *from, const guint32 *to,
                         guint32 n_pairs, double bytes, ColAnswer *out, GError **error);

#endif
