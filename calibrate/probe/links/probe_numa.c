/* mbind is called by its number: its wrapper is libnuma's, which is not everywhere. Source: mbind(2), MPOL_BIND. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* syscall, MAP_ANONYMOUS */
#endif
#include "probe_numa.h"

#include "probe_fail.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BIND 2 /* MPOL_BIND */

/* The first line of a small file, "" where there is none. */
static void
read_line (const char *path, char *line, size_t size)
{
  FILE *file = fopen (path, "re");
  line[0] = '\0';
  if (file == NULL)
    return;
  if (fgets (line, (int)size, file) == NULL)
    line[0] = '\0';
  fclose (file);
}

unsigned
probe_numa_list (const char *text, unsigned node[PROBE_NUMA_MOST])
{
  unsigned n = 0;
  while (isdigit ((unsigned char)*text)) {
    char *end = NULL;
    unsigned long first = strtoul (text, &end, 10), last = first;
    if (*end == '-' && isdigit ((unsigned char)end[1]))
      last = strtoul (end + 1, &end, 10);
    for (unsigned long i = first; i <= last && n < PROBE_NUMA_MOST; i++)
      node[n++] = (unsigned)i;
    if (*end != ',')
      return *end == '\0' || *end == '\n' ? n : 0;
    text = end + 1;
  }
  return 0;
}

unsigned
probe_numa_nodes (const char *root, unsigned node[PROBE_NUMA_MOST])
{
  char path[4096], line[256];
  /* has_memory leaves out nodes of CPUs alone */
  static const char *const files[] = { "has_memory", "online" };
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
    snprintf (path, sizeof path, "%s/devices/system/node/%s", root != NULL ? root : "/sys", files[i]);
    read_line (path, line, sizeof line);
    unsigned n = probe_numa_list (line, node);
    if (n > 0)
      return n;
  }
  node[0] = 0;
  return 1;
}

int
probe_numa_of_pci (const char *root, const char *pci)
{
  char path[4096], line[32], name[64];
  size_t n = strlen (pci);
  if (n >= sizeof name)
    return -1;
  for (size_t i = 0; i <= n; i++)
    name[i] = (char)tolower ((unsigned char)pci[i]);
  snprintf (path, sizeof path, "%s/bus/pci/devices/%s/numa_node", root != NULL ? root : "/sys", name);
  read_line (path, line, sizeof line);
  return isdigit ((unsigned char)line[0]) ? atoi (line) : -1;
}

void *
probe_numa_alloc (size_t bytes, unsigned node)
{
  enum { BITS = 8 * sizeof (unsigned long) };
  unsigned long mask[PROBE_NUMA_MOST / BITS + 1] = { 0 };
  if (node >= PROBE_NUMA_MOST) {
    probe_fail ("NUMA node %u: at most %d nodes are known", node, PROBE_NUMA_MOST);
    return NULL;
  }
  void *memory = mmap (NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    probe_fail ("no memory: %s", strerror (errno));
    return NULL;
  }
  mask[node / BITS] = 1ul << node % BITS;
  if (syscall (SYS_mbind, memory, bytes, BIND, mask, (unsigned long)PROBE_NUMA_MOST + 1, 0) != 0) {
    probe_fail ("no memory on NUMA node %u: %s", node, strerror (errno));
    munmap (memory, bytes);
    return NULL;
  }
  memset (memory, 1, bytes);
  return memory;
}

void
probe_numa_free (void *memory, size_t bytes)
{
  if (memory != NULL)
    munmap (memory, bytes);
}
