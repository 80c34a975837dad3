/* The order in which the two turns of a pair share the compute stream. */
#ifndef TRAINING_PAIR_PRIVATE_H
#define TRAINING_PAIR_PRIVATE_H

#include "build-private.h"

/* For each compute item of both turns of a pair in order, guint8: 0 of the first, 1 of the second. `pair`: the first turn, with the
 * second behind it. Returned: full; NULL and *error as of prices. */
GArray *trn_pair_order (TrnBuild *b, guint32 lane, const MdlTurn *pair, GError **error);

#endif
