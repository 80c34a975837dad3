/* Copies and links of a node: section `links` of a calibration. A probe's measurements become cases; their times come from
 * who knows the node's routes. */
#ifndef CALIBRATE_LINKS_H
#define CALIBRATE_LINKS_H

#include "calibrate/section.h"
#include "models/links.h"

typedef enum {
  CAL_LINK_ONE,   /* one copy: GPU first to GPU second */
  CAL_LINK_BOTH,  /* and one back at the same time */
  CAL_LINK_SHIFT, /* each of n GPUs to the next */
  CAL_LINK_ALL,   /* each to each */
  CAL_LINK_HOST,  /* n GPUs, from `first` on, and the host */
  CAL_LINK_LOAD   /* no copy: a load by GPU first from GPU second, or from the host where n is 0 */
} CalLinkPattern;

typedef struct CalLinkCase {
  CalLinkPattern pattern;
  MdlCopy copy;    /* HOST: h2d or d2h, pinned or pageable; LOAD: none */
  gboolean duplex; /* HOST: h2d and d2h at once */
  guint32 first, second, n;
  double size_B;   /* of one copy */
  gboolean queued; /* behind others of its kind */
  double own_s;    /* LOAD from a GPU: one from its own memory */
} CalLinkCase;

#endif
