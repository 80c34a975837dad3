#include "harness.h"
#include "probe_numa.h"

#include <glib/gstdio.h>

static void
lists_of_nodes_are_read (void)
{
  static const struct {
    const char *text;
    unsigned n, first, last;
  } rows[] = { { "0\n", 1, 0, 0 }, { "0-1\n", 2, 0, 1 }, { "0-1,4\n", 3, 0, 4 }, { "2,8-9", 3, 2, 9 },
               { "", 0, 0, 0 },    { "x", 0, 0, 0 },     { "0-", 0, 0, 0 },      { "0;1", 0, 0, 0 } };
  for (size_t i = 0; i < G_N_ELEMENTS (rows); i++) {
    unsigned node[PROBE_NUMA_MOST] = { 0 };
    unsigned n = probe_numa_list (rows[i].text, node);
    TEST_INT (n, rows[i].n);
    if (n > 0) {
      TEST_INT (node[0], rows[i].first);
      TEST_INT (node[n - 1], rows[i].last);
    }
  }
}

static void
write_file (const char *root, const char *folder, const char *name, const char *text)
{
  g_autofree char *path = g_build_filename (root, folder, NULL), *file = g_build_filename (path, name, NULL);
  TEST_INT (g_mkdir_with_parents (path, 0700), 0);
  TEST_TRUE (g_file_set_contents (file, text, -1, NULL));
}

static void
a_machine_is_read_as_linux_shows_it (void)
{
  g_autofree char *root = g_dir_make_tmp ("numa-XXXXXX", NULL);
  unsigned node[PROBE_NUMA_MOST];
  TEST_INT (probe_numa_nodes (root, node), 1); /* nothing is said */
  TEST_INT (probe_numa_of_pci (root, "0000:1B:00.0"), -1);
  write_file (root, "devices/system/node", "online", "0-3\n");
  TEST_INT (probe_numa_nodes (root, node), 4);
  write_file (root, "devices/system/node", "has_memory", "0,2\n"); /* without nodes of CPUs alone */
  TEST_INT (probe_numa_nodes (root, node), 2);
  TEST_INT (node[1], 2);
  write_file (root, "bus/pci/devices/0000:1b:00.0", "numa_node", "2\n");
  TEST_INT (probe_numa_of_pci (root, "0000:1B:00.0"), 2);
  write_file (root, "bus/pci/devices/0000:1b:00.0", "numa_node", "-1\n");
  TEST_INT (probe_numa_of_pci (root, "0000:1B:00.0"), -1);
  g_autofree char *rm = g_strdup_printf ("rm -r '%s'", root);
  TEST_INT (system (rm), 0);
}

static void
a_node_that_is_not_there_is_refused (void)
{
  TEST_TRUE (probe_numa_alloc (1 << 20, PROBE_NUMA_MOST) == NULL);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "lists of nodes are read", lists_of_nodes_are_read },
    { "a machine is read as Linux shows it", a_machine_is_read_as_linux_shows_it },
    { "a node that is not there is refused", a_node_that_is_not_there_is_refused },
    { NULL, NULL },
  };
  return test_main ("probe: NUMA nodes", cases);
}
