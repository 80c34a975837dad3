/* Percentiles of values that may be many: exact up to 65,536 entries, then to 0.05 %. */
#ifndef SERVING_SAMPLE_H
#define SERVING_SAMPLE_H

#include "base/words.h"

typedef struct {
  double mean, p50, p90, p95, p99, most; /* NAN of none */
} SrvSpread;

typedef struct SrvSample SrvSample;

SrvSample *srv_sample_new (void); /* returned: full */
void srv_sample_free (SrvSample *sample);
/* `times` equal values, 0 or more. */
void srv_sample_add (SrvSample *sample, guint64 value, guint64 times);
/* Adds all values of `other`. Parts joined in any order are the same sample as one that was given all values, to the last bit. */
void srv_sample_join (SrvSample *sample, const SrvSample *other);
guint64 srv_sample_count (const SrvSample *sample);
/* Percentiles as base_quantile has them, between two values by their distance; all multiplied by `unit`. */
SrvSpread srv_sample_spread (SrvSample *sample, double unit);

/* Its values behind those in `bytes`, and back: NULL where the next ones are no sample. Returned: full. */
void srv_sample_write (const SrvSample *sample, GByteArray *bytes);
SrvSample *srv_sample_read (BaseWords *words);

#endif
