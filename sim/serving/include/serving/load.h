/* Requests that users send: one after the other from a law of arrivals and lengths, or from a trace. */
#ifndef SERVING_LOAD_H
#define SERVING_LOAD_H

#include "base/schema.h"

typedef struct {
  guint64 index;         /* from 0, in order of arrival */
  double arrival_s;      /* closed load: when the slot is free */
  guint32 input, output; /* tokens, at least 1 each */
  guint32 session;       /* 0: none */
  guint32 priority;      /* 0: first */
  const guint64 *hash;   /* of each full block of the prompt, from its begin, and in sessions of the answer behind it; equal
                        * hashes in a row from the first are a shared prefix */
  guint32 n_hashes;      /* borrowed until the next request is taken; 0: nothing shared */
  guint32 hash_tokens;   /* tokens that one stands for: Mooncake 512, Bailian 16 */
  BaseMark mark;         /* its line of a trace; its file is borrowed from the load */
} SrvRequest;

typedef enum { SRV_LOAD_PLAIN, SRV_LOAD_VLLM_BENCH, SRV_LOAD_AIPERF, SRV_LOAD_INFERENCEX, SRV_LOAD_MLPERF_SERVER } SrvLoadAs;
typedef enum { SRV_LENGTH_UNIFORM, SRV_LENGTH_NORMAL, SRV_LENGTH_LOGNORMAL } SrvLengthLaw;
/* AUTO: by the first line */
typedef enum {
  SRV_TRACE_AUTO,
  SRV_TRACE_AZURE,
  SRV_TRACE_MOONCAKE,
  SRV_TRACE_BURSTGPT,
  SRV_TRACE_BAILIAN,
  SRV_TRACE_SHAREGPT,
  SRV_TRACE_CSV
} SrvTraceFormat;

/* `lengths.input`, `lengths.output`: tokens */
typedef struct {
  BaseHead head;
  BaseEnum law;            /* SrvLengthLaw */
  BaseNum min, max;        /* of uniform; else draws are cut there */
  BaseNum mean, deviation; /* of normal */
  BaseNum median, sigma;   /* of lognormal; sigma: deviation of the logarithm */
} SrvLengthSpec;

/* `lengths:` */
typedef struct {
  BaseHead head;
  SrvLengthSpec input, output;
  BaseStr file; /* a CSV of both, drawn from at random */
} SrvLengthsSpec;

/* `load:` */
typedef struct {
  BaseHead head;
  BaseEnum as;        /* SrvLoadAs */
  BaseNum closed;     /* requests in flight at most */
  BaseNum rate;       /* requests/s: Poisson unless `burstiness` or `constant`; of sessions, where they have turns */
  BaseNum burstiness; /* shape of gamma-distributed gaps */
  BaseBool constant;
  BaseNum ramp_to;        /* requests/s at the end */
  BaseNum requests;       /* how many */
  BaseNum duration;       /* s */
  BaseNum warm_up;        /* requests that are not counted, before the others */
  BaseNum input, output;  /* tokens */
  BaseNum range;          /* lengths uniform in L(1 - r) … L(1 + r), as vllm bench serve */
  SrvLengthsSpec lengths; /* laws of both */
  BaseNum prefix;         /* tokens that all prompts begin with, on top of `input` */
  BaseNum prompts;        /* different prompts, which requests take in turn; absent: each has its own */
  BaseNum turns, think;   /* of a session: requests, s between answer and next request */
  BaseStr trace;          /* path */
  BaseEnum format;        /* SrvTraceFormat */
  BaseNum scale;          /* arrivals that much faster */
} SrvLoadSpec;

extern const BaseSchema srv_schema_load, srv_schema_lengths;

typedef struct SrvLoad SrvLoad;

/* Paths are relative to the scenario's folder. NULL and *error (BASE_ERROR_INPUT, file:line:column). Same seed, same requests.
 * Memory does not grow with the number of requests. `context` is not kept. Returned: full. */
SrvLoad *srv_load_new (const SrvLoadSpec *spec, const BaseSchemaContext *context, guint64 seed, GError **error);
void srv_load_free (SrvLoad *load);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SrvLoad, srv_load_free)

/* The keys with what `as` and the defaults fill in: `requests` (0: until the trace or `duration` ends), `warm_up`, `closed` … */
const SrvLoadSpec *srv_load_settled (const SrvLoad *load);

/* Whether no request waits for an answer: srv_load_finished is always FALSE. */
gboolean srv_load_is_open (const SrvLoad *load);

/* The next request. FALSE: none now, *error on a bad line of a trace. A closed load gives one for each slot, and then one for
 * each srv_load_finished that says TRUE. Others give all that do not wait for an answer, in order of arrival, until FALSE is
 * their end. */
gboolean srv_load_next (SrvLoad *load, SrvRequest *out, GError **error);
/* Says that a request has been answered: closed loads and sessions send the next one. TRUE: the next call of srv_load_next gives
 * it, whatever comes earlier among those that wait for no answer; its arrival is not before now_s. */
gboolean srv_load_finished (SrvLoad *load, guint64 index, double now_s);

#endif
