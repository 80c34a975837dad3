/* What the files of a load share. */
#ifndef SERVING_LOAD_PRIVATE_H
#define SERVING_LOAD_PRIVATE_H

#include "base/random.h"
#include "base/stream.h"
#include "serving/load.h"

/* Tokens of a prompt or an answer. */
#define SRV_TOKENS_MOST     100000000.0
#define SRV_LOAD_MOST_SCALE 1e6 /* as the schema's limit of `scale` */

/* ---- traces ---- */

typedef struct {
  double time_s; /* since the first request; 0 where the trace has no times */
  guint32 input, output, session;
} SrvTraceRow;

typedef struct SrvTrace SrvTrace;

/* Takes the stream, also on failure. NULL and *error where its begin is of no known format, or lacks a column. Returned: full. */
SrvTrace *srv_trace_new (BaseStream *stream, SrvTraceFormat format, GError **error);
void srv_trace_free (SrvTrace *trace);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SrvTrace, srv_trace_free)

gboolean srv_trace_has_times (const SrvTrace *trace);
SrvTraceFormat srv_trace_format (const SrvTrace *trace);
BaseMark srv_trace_mark (const SrvTrace *trace);       /* of the line that was read last */
guint32 srv_trace_hash_tokens (const SrvTrace *trace); /* 0: no hashes */
/* `hashes` (of gint64) is emptied and gets those of the full blocks. FALSE at the end, or with *error. */
gboolean srv_trace_next (SrvTrace *trace, SrvTraceRow *row, GArray *hashes, GError **error);

/* ---- columns of CSV files ---- */

typedef enum { SRV_COLUMN_TIME, SRV_COLUMN_INPUT, SRV_COLUMN_OUTPUT, SRV_COLUMN_SESSION, SRV_COLUMN_N } SrvColumn;

typedef struct {
  int at[SRV_COLUMN_N]; /* its number in a line, from 0; -1: missing */
  double unit_s;        /* of a time that is a number */
  gboolean date;        /* times are dates */
  SrvTraceFormat format;
} SrvCsv;

typedef struct {
  double time_s;
  double tokens[2];
  gsize column[2], time_column; /* of characters, from 1 */
  guint32 session;
} SrvCsvRow;

/* From the first line. FALSE and *error where a column is missing. */
gboolean srv_csv_begin (const BaseStream *stream, const char *header, SrvTraceFormat format, SrvCsv *out, GError **error);
gboolean srv_csv_row (const BaseStream *stream, const SrvCsv *csv, char *line, SrvCsvRow *out, GError **error);

/* FALSE and *error where it is not a whole number from 1 to SRV_TOKENS_MOST. */
gboolean srv_tokens_check (BaseMark at, const char *what, double tokens, GError **error);

/* ---- lengths and arrivals ---- */

typedef struct {
  double input, output; /* where both have one length, before `range` */
  SrvLoadSpec spec;     /* settled */
  BaseRandom input_random, output_random;
  GArray *pairs; /* of guint32[2]; NULL: none */
} SrvLengths;

/* FALSE and *error on a bad file. */
gboolean srv_lengths_init (SrvLengths *lengths, const SrvLoadSpec *spec, guint64 seed, GError **error);
void srv_lengths_clear (SrvLengths *lengths);
void srv_lengths_draw (SrvLengths *lengths, guint32 *input, guint32 *output);

typedef struct {
  double rate, ramp_to, ramp_s; /* ramp_s 0: none */
  double shape;                 /* of gamma gaps; 0: equal ones */
  double factor;                /* on all gaps */
  double passed;                /* requests that the law has had by now */
  BaseRandom random;
} SrvArrivals;

void srv_arrivals_init (SrvArrivals *arrivals, const SrvLoadSpec *spec, guint64 seed);
double srv_arrivals_next (SrvArrivals *arrivals); /* s */

/* ---- keys ---- */

/* Fills in what `as` and the defaults say. FALSE and *error where keys contradict each other. */
gboolean srv_load_settle (const SrvLoadSpec *spec, SrvLoadSpec *out, GError **error);
/* The path of a file that a key names: relative to the folder of the file in which the key stands. Returned: full. */
char *srv_load_path (const BaseStr *key);
/* That file, with lines of line_B at most. NULL and *error, with the key's place, where it cannot be read. Returned: full. */
BaseStream *srv_load_open (const BaseStr *key, const char *path, gsize line_B, GError **error);

#endif
