/* Tables that others add rows to, looked at when a program starts: a row without its parts is reported, and nothing is run. */
#ifndef MODELS_SELF_CHECK_H
#define MODELS_SELF_CHECK_H

#include "models/coll.h"

/* Collectives and schedules. FALSE and *error (BASE_ERROR_RUN) where a row lacks a part. */
gboolean mdl_self_check (GError **error);
/* What a row lacks, in a sentence (full); NULL: nothing. */
char *mdl_coll_fault (const MdlColl *row, const char *name);

#endif
