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

/* The candidate that `word` probably means, NULL if none is near. In this order: the same but for case, dashes and underscores;
 * another tool's word for it ("tensor_parallel" for "tp"); a letter more or less at its end; `word` between underscores ("h200" in
 * "hgx_h200"); up to four slips, at most a third of the length (a swap of neighbours is one); a part with a digit in common; the
 * same beginning ("topo" of "topology"). Ties: the first. Borrowed from `candidates`, which ends with NULL. */
const char *base_nearest (const char *word, const char *const *candidates);
/* " (did you mean 'x'?)" of the nearest, up to three that are equally near, or "". Returned: full, g_free. */
char *base_hint (const char *word, const char *const *candidates);
/* What follows the report of a wrong `word` (NULL: no word was given): the hint of base_hint, then "; accepted: a, b" where the
 * names are few. Of many names: the hint alone, or else the first of them, and "; 'COMMAND' lists all 24" (`command` NULL: all of
 * them where there is no hint). `names` ends with NULL. Returned: full, g_free. */
char *base_accepted (const char *word, const char *const *names, const char *command);

#endif
