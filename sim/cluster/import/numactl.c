/* `numactl -H`: "available: 2 nodes (0-1)", and of each node "node 0 cpus: 0 1 …" and "node 0 size: 515000 MB" (MB are MiB:
 * numactl shifts bytes by 20), then distances. Nodes with processors become sockets; memory of nodes without any (CXL, HBM,
 * GPUs' own) is not the host's. Source: numactl.c, hardware(). */
#include <string.h>

#include "import/short-private.h"

#define MOST_NODES 1024u

typedef struct {
  guint32 n_nodes; /* as "available:" says; 0: it has not come */
  guint32 n_sockets, n_empty, n_sizes;
  gboolean has_cpus[MOST_NODES];
  guint64 size_MiB;
} Reader;

static gboolean
read_line (void *user, char *line, BaseMark mark, GError **error)
{
  Reader *reader = user;
  guint32 node = 0;
  if (clu_import_after_number (line, "available: ", ' ', &node) != NULL) {
    reader->n_nodes = node;
    return node > 0 && node <= MOST_NODES ? TRUE
                                          : base_fail_at (error, mark, "%u NUMA nodes; 1 to %u are accepted", node, MOST_NODES);
  }
  const char *rest = clu_import_after_number (line, "node ", ' ', &node);
  if (reader->n_nodes == 0 || rest == NULL)
    return TRUE;
  if (node >= MOST_NODES)
    return base_fail_at (error, mark, "node %u; 0 to %u are accepted", node, MOST_NODES - 1);
  if (g_str_has_prefix (rest, "cpus:")) {
    reader->has_cpus[node] = rest[strlen ("cpus:")] != '\0';
    reader->n_sockets += reader->has_cpus[node] ? 1 : 0;
    reader->n_empty += reader->has_cpus[node] ? 0 : 1;
  } else if (g_str_has_prefix (rest, "size:")) {
    char *end;
    const guint64 size = g_ascii_strtoull (rest + strlen ("size:"), &end, 10);
    if (strcmp (end, " MB") != 0 || size > G_MAXUINT32)
      return base_fail_at (error, mark, "'%.40s'; a size in MB is accepted, as numactl -H prints it", rest);
    reader->size_MiB += reader->has_cpus[node] ? size : 0;
    reader->n_sizes++;
  }
  return TRUE;
}

char *
clu_import_numactl (const CluImport *input, GError **error)
{
  Reader reader = { .n_nodes = 0 };
  if (!clu_import_lines (input, read_line, &reader, error))
    return NULL;
  const BaseMark mark = { input->path, 1, 1 };
  if (reader.n_sockets == 0) {
    base_fail_at (error, mark, "no line 'available: N nodes' with 'node 0 cpus: …' below; the output of numactl -H is accepted");
    return NULL;
  }
  if (reader.n_sockets + reader.n_empty != reader.n_nodes || reader.n_sizes != reader.n_nodes) {
    base_fail_at (error, mark, "%u nodes are available and %u are described: cut off?", reader.n_nodes,
                  MIN (reader.n_sockets + reader.n_empty, reader.n_sizes));
    return NULL;
  }
  if (reader.n_empty > 0)
    base_diag_warn (input->warnings, mark, "%u NUMA nodes without processors are left out", reader.n_empty);
  return clu_import_write_short (
      input, &(CluImportParts){ .tool = "numactl -H", .n_sockets = reader.n_sockets, .memory_MiB = reader.size_MiB }, error);
}
