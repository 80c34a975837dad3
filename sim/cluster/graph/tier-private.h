/* A tier of the topology laid over its type; shared by the graph's numbering, the checks, and who asks from outside. */
#ifndef CLUSTER_TIER_PRIVATE_H
#define CLUSTER_TIER_PRIVATE_H

#include "graph/clu-private.h"

void clu_tier_resolve (const CluStorageSpec *spec, MdlTier *out);

#endif
