/* `ibstat`: of each adapter "CA 'mlx5_0'", "CA type: MT4129" (the PCI device id in decimal), and of each port "Port 1:", "State:
 * Active", "Rate: 400" (Gb/s), "Link layer: InfiniBand" or Ethernet. The fabric's NICs are the ports that are alike and most.
 * Source: infiniband-diags, ibstat.c. */
#include <string.h>

#include "import/short-private.h"

typedef struct {
  guint32 device;
  gboolean any, open, active;
  CluImportNic port;
  GArray *ports; /* CluImportNic, those that are up */
  guint32 n_down;
} Reader;

static void
close_port (Reader *reader)
{
  if (reader->open && reader->active && reader->ports->len < CLU_IMPORT_MAX_NICS)
    g_array_append_val (reader->ports, reader->port);
  reader->n_down += reader->open && !reader->active ? 1 : 0;
  reader->open = FALSE;
}

static gboolean
read_line (void *user, char *line, BaseMark mark, GError **error)
{
  Reader *reader = user;
  char *colon = strstr (line, ": ");
  const char *value = colon != NULL ? g_strstrip (colon + 2) : "";
  if (g_str_has_prefix (line, "CA '")) {
    close_port (reader);
    reader->any = TRUE;
    reader->device = 0;
  } else if (g_str_has_prefix (line, "CA type: ")) {
    reader->device = g_str_has_prefix (value, "MT") ? (guint32)g_ascii_strtoull (value + 2, NULL, 10) : 0;
  } else if (g_str_has_prefix (line, "Port ") && g_str_has_suffix (line, ":")) {
    close_port (reader);
    reader->open = TRUE;
    reader->active = FALSE;
    reader->port = (CluImportNic){ .mark = mark, .name = "", .vendor = CLU_PCI_MELLANOX, .device = reader->device };
  } else if (g_str_has_prefix (line, "State: ")) {
    reader->active = strcmp (value, "Active") == 0;
  } else if (g_str_has_prefix (line, "Rate: ")) {
    char *end;
    const double rate = g_ascii_strtod (value, &end);
    if (end == value || !(rate > 0) || rate > 1e5)
      return base_fail_at (error, mark, "'Rate: %.40s'; a rate in Gb/s is accepted, as ibstat prints it", value);
    reader->port.rate_bps = rate * 1e9;
  } else if (g_str_has_prefix (line, "Link layer: ")) {
    reader->port.wire = strcmp (value, "InfiniBand") == 0 ? CLU_IMPORT_WIRE_INFINIBAND : CLU_IMPORT_WIRE_ROCE;
  }
  return TRUE;
}

static gboolean
are_alike (const CluImportNic *a, const CluImportNic *b)
{
  return a->wire == b->wire && !(a->rate_bps < b->rate_bps) && !(a->rate_bps > b->rate_bps);
}

static char *
write_ports (const CluImport *input, const Reader *reader, GError **error)
{
  const CluImportNic *best = NULL;
  guint32 most = 0;
  for (guint32 i = 0; i < reader->ports->len; i++) {
    const CluImportNic *port = &g_array_index (reader->ports, CluImportNic, i);
    guint32 n = 0;
    for (guint32 k = 0; k < reader->ports->len; k++)
      n += are_alike (port, &g_array_index (reader->ports, CluImportNic, k)) ? 1 : 0;
    if (n > most || (n == most && port->rate_bps > best->rate_bps)) {
      best = port;
      most = n;
    }
  }
  double rate_bps = 0;
  const char *type = clu_import_nic_type (best, input->lookup, &rate_bps);
  if (type == NULL) {
    base_fail_at (error, best->mark, "no NIC type is shipped for a port of %g Gb/s", best->rate_bps / 1e9);
    return NULL;
  }
  if (rate_bps < best->rate_bps || rate_bps > best->rate_bps)
    base_diag_warn (input->warnings, best->mark, "no NIC type is shipped for %g Gb/s; taken for %s, which runs at %g Gb/s",
                    best->rate_bps / 1e9, type, rate_bps / 1e9);
  if (most < reader->ports->len)
    base_diag_warn (input->warnings, best->mark, "of other rates or networks and left out (storage, front end?): %u port(s)",
                    reader->ports->len - most);
  if (reader->n_down > 0)
    base_diag_warn (input->warnings, best->mark, "not active and left out: %u port(s)", reader->n_down);
  return clu_import_write_short (input, &(CluImportParts){ .tool = "ibstat", .nic = type, .n_nics = most }, error);
}

char *
clu_import_ibstat (const CluImport *input, GError **error)
{
  g_autoptr (GArray) ports = g_array_new (FALSE, TRUE, sizeof (CluImportNic));
  Reader reader = { .ports = ports };
  if (!clu_import_lines (input, read_line, &reader, error))
    return NULL;
  close_port (&reader);
  if (ports->len == 0) {
    base_fail_at (error, (BaseMark){ input->path, 1, 1 },
                  reader.any ? "no port is active" : "no line \"CA 'mlx5_0'\"; the output of ibstat is accepted");
    return NULL;
  }
  return write_ports (input, &reader, error);
}
