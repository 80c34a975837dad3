/* What a run counts, by itself or in parts of its replicas. Parts are computed by themselves, on threads, processes or machines,
 * and joined in any order: the result is that of one run, to the last bit.
 *
 * That needs replicas that know nothing of each other: requests that wait for no answer, a router that looks at no replica (round
 * robin), one pool, and nothing that they share (tiers below the GPU, outages, autoscaling). Each part draws all requests and takes
 * them through the front end, which is cheap, and computes the steps of its own replicas alone. */
#ifndef SERVING_TALLY_H
#define SERVING_TALLY_H

#include "serving/run.h"

typedef struct SrvTally SrvTally;

/* Whether a run can be computed in parts. */
gboolean srv_run_splits (const SrvRunSpec *spec);

/* Part `part`, from 0, of `of`: replicas whose number is `part` modulo `of`. Only where the run splits, nothing is watched, and
 * steps and requests are not seen. NULL and *error, as srv_run. Returned: full. */
SrvTally *srv_run_part (const SrvRunSpec *spec, guint part, guint of, GError **error);
void srv_tally_free (SrvTally *tally);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SrvTally, srv_tally_free)

/* Adds another part of the same run. FALSE: it is of another one; `tally` is of no use then. */
gboolean srv_tally_join (SrvTally *tally, const SrvTally *other);
/* The result, once all parts are joined. */
void srv_tally_finish (SrvTally *tally, SrvRunResult *out);

/* A part as bytes behind others, and back: NULL where they are none. Returned: full. */
void srv_tally_write (const SrvTally *tally, GByteArray *bytes);
SrvTally *srv_tally_read (BaseWords *words);

#endif
