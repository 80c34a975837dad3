/* Finds the file that a name stands for. */
#ifndef BASE_LOOKUP_H
#define BASE_LOOKUP_H

#include "base/error.h"
#include "base/mark.h"

typedef struct BaseLookup BaseLookup;

/* `shipped`: the folder that holds topologies/, scenarios/, calibrate/ as shipped. Returned: full. */
BaseLookup *base_lookup_new (const char *shipped);
void base_lookup_free (BaseLookup *lookup);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (BaseLookup, base_lookup_free)

/* The path of `name`. A name with a '/' or ending in .yaml, .yml or .json is a path, read relative to the folder of
 * `from` (the naming file; NULL, or a file in /dev or /proc: the working directory). A bare name is looked up as NAME.yaml beside
 * `from`, then in `folder` under the shipped root ("topologies/gpus"; several folders separated by ':'; there by its alias too),
 * and never finds `from` itself. When nothing is found: NULL and *error naming the nearest shipped name and how to list them.
 * Returned: full, g_free. */
char *base_lookup_find (const BaseLookup *lookup, const char *name, const char *folder, const char *from, GError **error);

/* Sorted names (without .yaml) in a shipped folder. Returned: full, g_strfreev. */
char **base_lookup_list (const BaseLookup *lookup, const char *folder);

/* "h100, hopper": other names that base_lookup_find takes for `name`, of the file "aliases" of a shipped folder; "" for none.
 * Returned: full, g_free. */
char *base_lookup_aliases (const BaseLookup *lookup, const char *folder, const char *name);

const char *base_lookup_root (const BaseLookup *lookup);

/* The first candidate that has `word` (three letters or more) between its underscores, as "hgx_h200" has "h200"; else the one
 * nearest to `word` by edit distance (a swap of neighbours counts once, case is no difference), or NULL when none is
 * near (distance above a third of the length, at least 1 and at most 4). Ties: the first. Borrowed from `candidates` (ends with
 * NULL). */
const char *base_nearest (const char *word, const char *const *candidates);
/* " (did you mean 'x'?)" of the nearest, or "". Returned: full, g_free. */
char *base_hint (const char *word, const char *const *candidates);

#endif
