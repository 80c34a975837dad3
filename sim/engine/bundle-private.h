/* Activities that are alike but for their size, as one: see bundle.c. */
#ifndef ENGINE_BUNDLE_PRIVATE_H
#define ENGINE_BUNDLE_PRIVATE_H

#include "engine-private.h"

/* Bundles the members of the component at hand where that is due and pays; TRUE: the component has to be gathered again. */
bool eng_net_bundle (Eng *eng);

/* How many the carrier stands for. */
uint64_t eng_bundle_n (const EngNet *net, uint32_t carrier);
/* From now on; schedules the end of the next member. */
void eng_bundle_set_rate (Eng *eng, uint32_t carrier, double rate);
/* What all members have moved by now. */
double eng_bundle_moved (const Eng *eng, uint32_t carrier);
/* The carrier's entry has fired: the member that ends, or ENG_NO_SLOT when it was only to look again. */
uint32_t eng_bundle_next (Eng *eng, uint32_t carrier);
/* What the member has still to move, 0 or less when all. */
double eng_bundle_left (const Eng *eng, uint32_t member);
/* Takes the member out, off its links; it has moved so much. Its slot is still to be given back. */
void eng_bundle_end (Eng *eng, uint32_t member, double moved);
/* Makes the member a flow of its own again. */
void eng_bundle_release (Eng *eng, uint32_t member);
void eng_bundle_free (EngBundle *bundle);

#endif
