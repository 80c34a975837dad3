/* One prediction taken apart: the formula with its numbers, the terms with their sources, the links with their loads, and what else
 * could have run. */
#ifndef REPORT_EXPLAIN_H
#define REPORT_EXPLAIN_H

#include <json-glib/json-glib.h>

#include "scenario/scenario.h"
#include "serving/run.h"

typedef struct {
  MdlAlgo algo;
  MdlProto proto;
  char *reason;  /* why it cannot run here, owned; NULL: it can */
  double time_s; /* closed form; NAN when it cannot run */
  double nccl_s; /* estimate of NCCL's tuner; INFINITY: not offered, NAN: not modelled */
} RepAlternative;

/* How NCCL's tuner comes to its time for what is explained: its own estimate, not a prediction. */
typedef struct {
  unsigned n_terms; /* 0: not offered, or not modelled */
  MdlTerm term[MDL_MAX_TERMS];
  double time_s;
  const char *plugin; /* the network plugin's tuner that decides in its place; NULL: none. Borrowed */
  MdlAlgo plugin_algo;
  MdlProto plugin_proto;
} RepTunerEstimate;

/* Returned: full, of RepAlternative, g_array_unref frees the reasons. */
GArray *rep_alternatives_new (void);

typedef struct {
  const Clu *clu;
  const ColAnswer *coll;
  const GArray *alternatives;   /* RepAlternative; NULL: not known */
  const RepTunerEstimate *nccl; /* NULL: not known */
} RepExplain;

/* The answer: the time, and the largest of its terms, of which rep_largest_term says the second sentence alone. */
void rep_explain_answer (const ColAnswer *coll, GString *out);
void rep_largest_term (const ColAnswer *coll, GString *out);
void rep_explain_text (const RepExplain *explain, GString *out);
BaseTable *rep_terms_table (const MdlCollCost *cost);                 /* returned: full */
void rep_explain_json (const RepExplain *explain, JsonBuilder *json); /* one object */

/* A copy: the route hop by hop, then the terms. */
void rep_explain_transfer_text (const Clu *clu, const StoTransferResult *transfer, GString *out);
void rep_explain_transfer_json (const Clu *clu, const StoTransferResult *transfer, JsonBuilder *json);

/* Dispatch and combine of experts: bytes, then the terms, which sum to the time. */
/* A step of a serving engine: `terms` are SrvStepTerm. Table: full. Json: a member `terms` of the object that is open. */
BaseTable *rep_serving_terms_table (const GArray *terms);
void rep_serving_terms_text (const GArray *terms, GString *out);
void rep_serving_terms_json (const GArray *terms, JsonBuilder *json);

/* One request of a serving run taken apart: a row for each wait that it had, until its first token and after it. Table: full.
 * Json: a member `request` of the object that is open. `slow`: it is the one at the 99th percentile of the time to the first
 * token. */
BaseTable *rep_serving_request_table (const SrvWatched *watched);
void rep_serving_request_text (const SrvWatched *watched, gboolean slow, GString *out);
void rep_serving_request_json (const SrvWatched *watched, JsonBuilder *json);

/* The answer in two lines, as `run` begins. */
void rep_explain_moe_answer (const ColMoeAnswer *moe, GString *out);
void rep_explain_moe_text (const ColMoeAnswer *moe, GString *out);
BaseTable *rep_moe_terms_table (const ColMoeAnswer *moe); /* returned: full */
void rep_explain_moe_json (const ColMoeAnswer *moe, JsonBuilder *json);

/* Reads and writes of storage: what a request's time is made of, the way of the first client. */
void rep_explain_io_text (const Clu *clu, const StoIoResult *io, GString *out);
BaseTable *rep_explain_io_table (const StoIoResult *io); /* returned: full */
void rep_explain_io_json (const Clu *clu, const StoIoResult *io, JsonBuilder *json);

#endif
