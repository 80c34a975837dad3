/* The tables that fill MdlTunerSpec. Inside sim/constants only. */
#ifndef CONSTANTS_TUNER_SCHEMA_PRIVATE_H
#define CONSTANTS_TUNER_SCHEMA_PRIVATE_H

#include "base/schema.h"
#include "models/tuner.h"

extern const BaseSchema cst_tuner_schema;

/* Adds an error for each list whose length is not what the models count on, each missing row and each list of speeds that does not
 * descend. */
void cst_tuner_check (const MdlTunerSpec *spec, BaseDiag *diag);

#endif
