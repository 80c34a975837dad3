/* What copies take on the node that was measured, as forerun run would answer: for the fit of a calibration's links. */
#ifndef CALIBRATE_ROUTES_PRIVATE_H
#define CALIBRATE_ROUTES_PRIVATE_H

#include "calibrate/links.h"
#include "storage/copies.h"

typedef struct CalRoutes CalRoutes;

/* `clu` is borrowed and changed: its links and host memory are as they are tried. `links`: what is fitted over; figures that it
 * leaves to the topology are filled in. */
CalRoutes *cal_routes_new (Clu *clu, const MdlLibrary *library, MdlLinks *links);
void cal_routes_free (CalRoutes *fit);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CalRoutes, cal_routes_free)

/* For CalNode: seconds; NAN where the node has no such GPUs or no way between them. `user`: a CalRoutes. */
double cal_routes_s (void *user, const MdlLinks *links, const CalLinkCase *what);

#endif
