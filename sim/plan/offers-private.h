/* Offers whose machines are those of a topology. */
#ifndef PLAN_OFFERS_PRIVATE_H
#define PLAN_OFFERS_PRIVATE_H

#include "cluster/cluster.h"
#include "plan/offers.h"

/* What the topology that `way` names says of price or rent, power and electricity, where neither `way` nor `spec` says it. *clu
 * (full, kept as long as both: notes are borrowed from it) may be set on failure too; the topology's files are added to `inputs`.
 * FALSE and *error (BASE_ERROR_INPUT) where it cannot be read or has no price. */
gboolean pln_offers_ask_topology (PlnOffersSpec *spec, PlnAcquisitionSpec *way, const BaseLookup *lookup, GPtrArray *inputs,
                                  Clu **clu, GError **error);

#endif
