/* What surrounds an answer: the JSON document that holds `results`, and the '#' lines above a text table.
 *
 * Schema "forerun/1": {schema, version, command, seed, inputs: [{path, sha256}], results, warnings}. Nothing here depends on the
 * time of day, the machine, or the folder that the program lies in. */
#ifndef REPORT_ENVELOPE_H
#define REPORT_ENVELOPE_H

#include <json-glib/json-glib.h>

#include "collective/comm.h"

typedef struct {
  char *path;   /* owned */
  char *sha256; /* owned: 64 hex digits */
} RepInput;

typedef struct {
  const char *version;
  const char *const *command; /* ends with NULL; the program without its folder first */
  guint64 seed;               /* at most G_MAXINT64 */
  const GPtrArray *inputs;    /* RepInput *; NULL: none */
  const GPtrArray *warnings;  /* char *; NULL: none */
} RepEnvelope;

/* Returned: full, of RepInput, g_ptr_array_unref. */
GPtrArray *rep_inputs_new (void);
/* Adds the files of `yamls` (BaseYaml *, borrowed), each once, in load order. A path below `root` (NULL: none) is written
 * relative to it, so that the same question gives the same bytes wherever the data is installed. */
void rep_inputs_add_yamls (GPtrArray *inputs, const GPtrArray *yamls, const char *root);
/* One more input that is not YAML. */
void rep_inputs_add (GPtrArray *inputs, const char *path, const char *root, const char *bytes, gsize n_B);
/* Those of `more` that are not in it yet. */
void rep_inputs_merge (GPtrArray *inputs, const GPtrArray *more);

/* A builder that stands where the value of "results" is due. Returned: full, given to rep_envelope_close. */
JsonBuilder *rep_envelope_open (const RepEnvelope *envelope);
/* Adds the warnings and prints the document, with a newline at its end. Takes `json`. Returned: full, g_free. */
char *rep_envelope_close (JsonBuilder *json, const RepEnvelope *envelope);

/* "# forerun 0.2.0, WHAT, seed 1" */
void rep_header_title (GString *out, const RepEnvelope *envelope, const char *what);
/* "# topology NAME: 2 nodes, 16 GPUs (h200_sxm); 3 of 16 link constants assumed" */
void rep_header_cluster (GString *out, const Clu *clu);
/* "# library: NCCL 2.28.9, calibration h200_sxm, launch graph, mode event, steps fluid"; `calibration` NULL: not said. */
void rep_header_settings (GString *out, const ColSettings *settings, const char *calibration);

/* How many constants of the cluster's link classes come from where; n has BASE_SOURCE_N entries. Each class counts once. */
void rep_count_sources (const Clu *clu, unsigned *n);

#endif
