/* What the tuner's files share. Inside models/ only. */
#ifndef MODELS_TUNER_PRIVATE_H
#define MODELS_TUNER_PRIVATE_H

#include "models/tuner.h"

#define MDL_TUNER_HOW 160 /* as MdlTerm's `how` */

/* Steps and what each costs: latency = base + n_intra x intra + n_inter x inter + n_extra x extra. */
typedef struct {
  const BaseNum *base; /* NULL: none */
  double n_intra, intra_s;
  double n_inter, inter_s;
  double n_extra;
  const BaseNum *extra;
  const BaseNum *intra, *inter; /* the constants behind intra_s and inter_s */
} MdlTunerLatency;

/* Why an operation, algorithm and protocol are not offered in this communicator whatever the question; NULL where they are. */
const char *mdl_tuner_forbidden (const MdlTuner *tuner, MdlOp op, MdlAlgo algo, MdlProto proto);

/* The graph that an algorithm runs on. */
const MdlGraph *mdl_tuner_graph (const MdlSearch *search, MdlAlgo algo);

/* B/s of the operation's size, of what is offered. `how`: room for MDL_TUNER_HOW characters that say how it came about, or NULL. */
double mdl_tuner_rate_Bps (const MdlTuner *tuner, MdlOp op, MdlAlgo algo, MdlProto proto, char *how);
void mdl_tuner_latency (const MdlTuner *tuner, MdlOp op, MdlAlgo algo, MdlProto proto, MdlTunerLatency *out);
double mdl_tuner_latency_s (const MdlTunerLatency *latency);

/* What the size changes: factors on the rate and on the latency, and how often the latency counts. */
typedef struct {
  double rate, latency, count;
  double penalty; /* on the whole time */
} MdlTunerFactors;
MdlTunerFactors mdl_tuner_factors (const MdlTuner *tuner, const MdlTunerQuestion *question, MdlAlgo algo, MdlProto proto);

#endif
