/* The section `links` inside calibrate/. */
#ifndef CALIBRATE_LINKS_PRIVATE_H
#define CALIBRATE_LINKS_PRIVATE_H

#include "calibrate/links.h"

extern const BaseSchema cal_links_schema;

#endif
