/* What a network plugin's own tuner takes, as regions of message size and ranks: it overrules NCCL's (models/tuner.h). */
#ifndef MODELS_TUNER_REGION_H
#define MODELS_TUNER_REGION_H

#include "models/tuner.h"

typedef struct {
  BaseHead head;
  BaseNum gpus;           /* of a node */
  BaseEnum op, algo, proto;
  BaseNums bytes, ranks;  /* vertices in order; as many of each, three at least (checked when they are loaded) */
} MdlTunerRegion;

typedef struct MdlTunerRegions {
  BaseHead head;
  BaseStr name, summary;
  BaseStr from;           /* NCCL's version that first asks it */
  BaseNum nodes;          /* least */
  BaseList regions;       /* MdlTunerRegion */
} MdlTunerRegions;

/* The region that decides, of those whose algorithm and protocol NCCL offers (time_s finite: mdl_tuner_table). NULL: NCCL does. */
const MdlTunerRegion *mdl_tuner_region (const MdlTunerRegions *tuner, const MdlTunerComm *comm, const MdlTunerQuestion *question,
                                        double time_s[MDL_ALGO_NCCL_N][MDL_PROTO_N]);

#endif
