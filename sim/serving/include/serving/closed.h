/* A replica under a steady load, in closed form: for screens of many configurations. The engine (run.h) plays the best. */
#ifndef SERVING_CLOSED_H
#define SERVING_CLOSED_H

#include "serving/schedule.h"
#include "serving/step.h"

typedef struct {
  SrvEngineName engine;
  SrvLimits limits;     /* of each scheduler */
  double pool;          /* tokens of the KV pool of each scheduler; 0: no limit */
  double tokens;        /* expected of a sequence in a step, with speculation (srv_speculative_tokens); 0: 1 */
  double input, output; /* mean tokens of a request */
  double cached;        /* mean tokens of a prompt that are in the cache */
  double in_flight;     /* requests of a closed loop on the replica; 0: `rate` holds */
  double rate;          /* requests/s of an open load on the replica */
} SrvSteady;

typedef struct {
  gboolean steady;              /* FALSE: the open load is more than the replica can serve, and the rest is NAN */
  double decoding;              /* sequences that decode at once, of all schedulers */
  double ttft_s, tpot_s, e2e_s; /* means */
  double requests_per_s, output_tokens_per_s;
  double prompt_s; /* GPU time that a prompt adds */
  double kv;       /* fraction of the pool in use */
} SrvSteadyTimes;

/* Means of a steady state, with
 *     TPOT = s(B) / (tokens · (1 - X · P)),   X = requests/s,   P: time that a prompt adds to the steps of all,
 *     B = X · (output - 1) · TPOT decode at once (Little),   TTFT: front end, rest of a step, other prompts, own steps.
 * Valid: arrivals that have lost step with each other; no preemptions. Check: law_serving_closed compares the engine. Some
 * microseconds once the model knows its sizes. */
void srv_steady (SrvStepModel *model, const SrvSteady *load, SrvSteadyTimes *out);

#endif
