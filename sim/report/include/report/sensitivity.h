/* What an answer hangs on: how it changes when one constant does. */
#ifndef REPORT_SENSITIVITY_H
#define REPORT_SENSITIVITY_H

#include <json-glib/json-glib.h>

#include "base/table.h"
#include "base/watch.h"

G_BEGIN_DECLS

typedef struct {
  char *name;        /* owned: "topologies/links/ib_ndr.yaml: latency" */
  char *value;       /* owned: with its unit */
  char *note;        /* owned; NULL: none */
  unsigned line;     /* of the file; 0: a default of the program */
  BaseSource source;
  double less_s, more_s; /* the answer with less and with more of it, as answer_s; NAN: it could not run, or there is none */
  char *less_first, *more_first; /* owned: what comes first then; NULL: the same as it is */
} RepHang;

typedef struct {
  double answer_s; /* as it is: s, or what a plan's aim makes least */
  char *first;     /* owned: what comes first as it is; NULL: nothing is ranked */
  double by;       /* constants were changed by this fraction */
  guint n_tried;   /* constants that were read and could have mattered */
  guint n_runs;
  GArray *hangs;   /* RepHang, what moves the answer most first */
} RepSensitivity;

/* Returned: full, without hangs. */
RepSensitivity *rep_sensitivity_new (double answer_s, double by);
void rep_sensitivity_free (RepSensitivity *sensitivity);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (RepSensitivity, rep_sensitivity_free)
void rep_sensitivity_sort (RepSensitivity *sensitivity);

/* Those that move the answer by at least so much, as a fraction; 0: all. Returned: full. */
#define REP_SENSITIVITY_LEAST 1e-4
BaseTable *rep_sensitivity_table (const RepSensitivity *sensitivity, double least);
void rep_sensitivity_text (const RepSensitivity *sensitivity, GString *out);
/* "sensitivity": {changed_by, tried, constants: […]} into the open object. */
void rep_sensitivity_json (const RepSensitivity *sensitivity, JsonBuilder *json);
/* For plots/tornado.gp: name, less, more: the answer's changes, as fractions. At most so many rows. */
#define REP_SENSITIVITY_BARS 20u
void rep_sensitivity_tsv (const RepSensitivity *sensitivity, GString *out);

G_END_DECLS

#endif
