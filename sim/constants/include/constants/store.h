/* Calibrations that were loaded for a scenario or a plan, and live as long as what points into them. */
#ifndef CONSTANTS_STORE_H
#define CONSTANTS_STORE_H

#include "constants/calibration.h"

/* Initialise with zeroes and `lookup`; cst_store_clear frees what was loaded. */
typedef struct {
  const BaseLookup *lookup; /* borrowed; set before anything is loaded */
  GPtrArray *loaded;        /* Cst *, owned, in the order of loading; NULL: none yet */
  char *shared;             /* owned: by what names cst_store_share loaded the last of them; NULL: it has not */
} CstStore;

/* Loads a calibration into a store. Matches ScnLibraryLoad; `user`: the CstStore. Returned: borrowed from the store; NULL and
 * *error (BASE_ERROR_INPUT) on failure. */
const MdlLibrary *cst_store_load (void *user, const MdlLibraryQuery *query, GError **error);
/* The same, for communicators of one question: where the last were loaded for the same names, these, and nothing is read again. Not
 * to be mixed with cst_store_load. */
const MdlLibrary *cst_store_share (void *user, const MdlLibraryQuery *query, GError **error);
const char *cst_store_name (const CstStore *store); /* of what was loaded last; NULL: nothing was */
void cst_store_clear (CstStore *store);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CstStore, cst_store_clear)

#endif
