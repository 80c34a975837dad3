/* Whoever asks for a validation or a fit: it finds clusters and files, and hears what was read and what there is to say. */
#ifndef CALIBRATE_HOST_H
#define CALIBRATE_HOST_H

#include "base/diag.h"
#include "base/lookup.h"
#include "cluster/cluster.h"

typedef struct {
  void *user; /* first argument of all functions */
  const BaseLookup *lookup;
  guint64 seed;
  /* A cluster by name or path; `nodes` 0: as many as its file says. Returned: full; NULL and *error on failure. */
  Clu *(*cluster) (void *user, const char *topology, guint32 nodes, GError **error);
  /* All of a file, which is an input from now on. Returned: full, g_free, with a NUL behind n_B; NULL and *error on failure and
   * beyond max_B. */
  char *(*read) (void *user, const char *path, gsize max_B, gsize *n_B, GError **error);
  /* YAML documents (BaseYaml *) that were read: inputs as well. */
  void (*documents) (void *user, const GPtrArray *yamls);
  void (*warn) (void *user, const char *text);
} CalHost;

/* Passes the warnings of `diag` on. */
void cal_host_warn (const CalHost *host, const BaseDiag *diag);

#endif
