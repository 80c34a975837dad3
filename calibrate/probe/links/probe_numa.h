/* The NUMA nodes of this machine, as Linux shows them, and memory on one of them. Without libnuma. */
#ifndef FORERUN_PROBE_NUMA_H
#define FORERUN_PROBE_NUMA_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PROBE_NUMA_MOST 64

/* Nodes that are online, ascending, into `node`; returns how many: 1, node 0, where the system does not say. `root` is "/sys"; NULL
 * for that. */
unsigned probe_numa_nodes (const char *root, unsigned node[PROBE_NUMA_MOST]);
/* "0-1,4" into node numbers; 0 where the text is not such a list. */
unsigned probe_numa_list (const char *text, unsigned node[PROBE_NUMA_MOST]);
/* The node of a PCI device, "0000:1b:00.0", upper case or lower; -1: the system does not say. */
int probe_numa_of_pci (const char *root, const char *pci);
/* Memory whose pages are all on that node, touched; NULL, with the reason for probe_why, where the system refuses. */
void *probe_numa_alloc (size_t bytes, unsigned node);
void probe_numa_free (void *memory, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
