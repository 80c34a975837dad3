/* The table that fills MdlLibrary. Inside calibrate/ only. */
#ifndef CALIBRATE_LIBRARY_SCHEMA_PRIVATE_H
#define CALIBRATE_LIBRARY_SCHEMA_PRIVATE_H

#include "base/schema.h"
#include "models/library-spec.h"

extern const BaseSchema cal_library_schema;

#endif
