/* The section `frameworks`. */
#ifndef CALIBRATE_SECTION_FRAMEWORKS_PRIVATE_H
#define CALIBRATE_SECTION_FRAMEWORKS_PRIVATE_H

#include "calibrate/section.h"

extern const CalSection cal_section_frameworks;

#endif
