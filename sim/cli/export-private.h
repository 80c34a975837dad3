/* What `export` takes from other verbs. */
#ifndef CLI_EXPORT_PRIVATE_H
#define CLI_EXPORT_PRIVATE_H

#include "comm-private.h"

/* The answer of `compare` --tuner-conf in place of its table; `words`: the operation. */
gboolean cli_export_tuner_conf (Cli *cli, const FrCollFlags *flags, char **words, GError **error);

#endif
