#ifndef REPORT_PATH_PRIVATE_H
#define REPORT_PATH_PRIVATE_H

#include "report/topo.h"

void rep_hops_text (const Clu *clu, const CluRoute *route, GString *out);
void rep_hops_json (const Clu *clu, const CluRoute *route, JsonBuilder *json); /* member "hops" of the open object */

#endif
