#ifndef COLLECTIVE_SEND_H
#define COLLECTIVE_SEND_H

#include "collective/routes.h"

/* `bytes` from each from[i] to its to[i] (global GPU numbers), all n pairs at once. */
typedef struct {
  const guint32 *from, *to;
  guint32 n;
  double bytes;
} ColSends;

/* Until the slowest has arrived; loads count bytes per byte of one pair. Of *out, cost, time_s, loads, bottleneck, bound_by and
 * provenance are meant. */
gboolean col_send_price (ColRoutes *routes, const Clu *clu, const ColSettings *settings, const ColSends *sends, ColAnswer *out,
                         GError **error);

#endif
