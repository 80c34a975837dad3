/* What copies take on the node that was measured, as forerun run would answer: for the fit of a calibration's links. */
#ifndef CLI_FIT_LINKS_PRIVATE_H
#define CLI_FIT_LINKS_PRIVATE_H

#include "calibrate/links.h"
#include "storage/copies.h"

G_BEGIN_DECLS

typedef struct CliFitLinks CliFitLinks;

/* `clu` is borrowed and changed: its links and host memory are as they are tried. `links`: what is fitted over; figures that it
 * leaves to the topology are filled in. */
CliFitLinks *cli_fit_links_new (Clu *clu, const MdlLibrary *library, MdlLinks *links);
void cli_fit_links_free (CliFitLinks *fit);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CliFitLinks, cli_fit_links_free)

/* For CalNode: seconds; NAN where the node has no such GPUs or no way between them. `user`: a CliFitLinks. */
double cli_fit_links_s (void *user, const MdlLinks *links, const CalLinkCase *what);

G_END_DECLS

#endif
