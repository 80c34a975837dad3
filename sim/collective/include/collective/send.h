#ifndef COLLECTIVE_SEND_H
#define COLLECTIVE_SEND_H

#include "collective/routes.h"

/* From each from[i] to its to[i] (global GPU numbers), all n pairs at once. */
typedef struct {
  const guint32 *from, *to;
  guint32 n;
} ColSends;

/* The pairs as they load the links, for many sizes. `clu` and what `settings` point to outlive it. Returned: full; NULL and *error
 * where a pair has no route. */
typedef struct ColSendPairs ColSendPairs;
ColSendPairs *col_send_pairs_new (ColRoutes *routes, const Clu *clu, const ColSettings *settings, const ColSends *sends,
                                  GError **error);
void col_send_pairs_free (ColSendPairs *pairs);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (ColSendPairs, col_send_pairs_free)

/* `bytes` of each pair, until the slowest has arrived; loads count bytes per byte of one pair. Of *out, cost, time_s, loads,
 * bottleneck, bound_by and provenance are meant. */
gboolean col_send_pairs_price (const ColSendPairs *pairs, double bytes, ColAnswer *out, GError **error);

#endif
