/* What a machine is: devices, links by class, bisection, a path hop by hop, and a Graphviz picture. */
#ifndef REPORT_TOPO_H
#define REPORT_TOPO_H

#include <json-glib/json-glib.h>

#include "base/table.h"
#include "cluster/route.h"

/* `header`: lines of context, which follow the answer. */
void rep_topo_text (const Clu *clu, const char *header, GString *out);
BaseTable *rep_topo_table (const Clu *clu);             /* the links by class. Returned: full */
void rep_topo_json (const Clu *clu, JsonBuilder *json); /* one object */

struct MdlKernels;
/* What a GPU reads, from its caches down to storage, with rate and latency of each level. `kernels`: for the L2; NULL: without. */
void rep_ladder_text (const Clu *clu, const struct MdlKernels *kernels, const char *header, GString *out);
BaseTable *rep_ladder_table (const Clu *clu, const struct MdlKernels *kernels); /* returned: full */
void rep_ladder_json (const Clu *clu, const struct MdlKernels *kernels, JsonBuilder *json);

/* A route as clu_route_find gave it. */
void rep_path_text (const Clu *clu, CluDev from, CluDev to, const CluRoute *route, const char *header, GString *out);
BaseTable *rep_path_table (const Clu *clu, const CluRoute *route); /* returned: full */
void rep_path_json (const Clu *clu, CluDev from, CluDev to, const CluRoute *route, JsonBuilder *json);

/* Undirected graph, a cluster box a node, colours by kind of device, links labelled with class and rate. `fold`: of more than two
 * nodes and of many switches those that are alike are one. */
void rep_topo_dot (const Clu *clu, gboolean fold, GString *out);

#endif
