/* Reads and writes of storage: section `storage` of a calibration, and what a probe's points of `storage` tell of it. */
#ifndef CALIBRATE_STORAGE_H
#define CALIBRATE_STORAGE_H

#include "calibrate/section.h"
#include "models/storage.h"

G_BEGIN_DECLS

extern const CalSection cal_storage; /* MdlStorage; items are MdlIoQuestion, measured: s of one request among those in flight */

G_END_DECLS

#endif
