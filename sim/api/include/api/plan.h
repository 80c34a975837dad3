/* What `forerun plan`, `forerun merge` and fr_plan_run share. Not installed. */
#ifndef API_PLAN_H
#define API_PLAN_H

#include "base/lookup.h"
#include "plan/plan.h"

/* Texts of flags, NULL: not given. */
typedef struct {
  char *best, *rows, *threads;
  gboolean per_machine;
} FrPlanFlags;

typedef struct {
  guint64 best, rows, threads;
} FrPlanCounts;

/* The file of a plan, by path or shipped name. Returned: full; NULL and *error on failure. */
char *fr_plan_path (const BaseLookup *lookup, const char *name, GError **error);
/* Counts that the flags come to; `rows`: how many are shown where they do not say. Messages begin with `verb` as those of
 * api/values.h. FALSE and *error on failure. */
gboolean fr_plan_counts (const char *verb, const FrPlanFlags *flags, guint rows, FrPlanCounts *out, GError **error);
PlnQuery fr_plan_query (const FrPlanFlags *flags, const FrPlanCounts *counts, const Pln *plan);

#endif
