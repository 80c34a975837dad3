/* Deployments of inference servers as keys of a scenario. */
#ifndef SERVING_DEPLOYMENT_H
#define SERVING_DEPLOYMENT_H

#include <glib.h>

/* YAML with the keys `model`, `engine`, `precision`, `router`, `replicas` and `parallel`, or `pools`, of a serving workload, from a
 * DynamoGraphDeployment or from values of llm-d's chart of model servers. `text` is `n` bytes. NULL and *error (BASE_ERROR_INPUT,
 * path:line:column) where it is neither, starts no engine that is known, or has a value that is not a number. Returned: full. */
char *srv_import_deployment (const char *path, const char *text, gsize n, GError **error);

#endif
