/* Variables of NCCL and of its network plugins that forerun reads without acting on them. Those that it acts on are the rows of
 * col_schema_nccl (collective/nccl_env.h). */
#ifndef COLLECTIVE_NCCL_VARIABLES_H
#define COLLECTIVE_NCCL_VARIABLES_H

#include "base/error.h"
#include "base/yaml.h"

typedef enum {
  COL_VARIABLE_IDLE,         /* no time depends on it */
  COL_VARIABLE_NOT_MODELLED, /* a time may depend on it, and none does here */
} ColVariableEffect;

typedef struct {
  const char *name;
  ColVariableEffect effect;
  const char *fallback; /* its default where that is one number: given as this, it says nothing; NULL: another default */
  const char *help;     /* "writes a log" */
  const char *source;   /* file of NCCL, or of the plugin */
} ColVariable;

extern const ColVariable col_nccl_variables[]; /* sorted by name; name NULL ends */

/* NULL: none of that name. */
const ColVariable *col_nccl_variable (const char *name);

/* Names of col_nccl_variables, ends with NULL. Borrowed. */
const char *const *col_nccl_variable_names (void);

typedef void (*ColNcclFault) (void *user, const char *what, const char *why);

/* What `env` prints, or lines of a shell script (`export NAME="VALUE"`), as a document of YAML with one key a variable of NCCL,
 * libfabric or AWS's plugin, at its own line. Of a name that is set twice the last line counts; lines of other programs do not.
 * An empty value is none. Names that are not `known`, and lines of ours that are not NAME=VALUE, are left out; `fault` is called
 * for each, with `user`, the name or the line, and why. `path`: relative to the working directory.
 * Returned: full; NULL and *error (BASE_ERROR_INPUT) where the file cannot be read. */
BaseYaml *col_nccl_env_load (const char *path, gboolean (*known) (const char *name), ColNcclFault fault, void *user,
                             GError **error);

#endif
