/* Where the shipped topologies, scenarios and constants are. */
#include "cli-private.h"

gboolean
cli_lookup (Cli *cli, GError **error)
{
  if (cli->lookup != NULL)
    return TRUE;
  g_autofree char *exe = g_file_read_link ("/proc/self/exe", NULL), *root = fr_data_root (exe, error);
  if (root == NULL) {
    g_prefix_error (error, "forerun %s: ", cli->verb->name);
    return FALSE;
  }
  cli->lookup = base_lookup_new (root);
  cli->constants.lookup = cli->lookup;
  return TRUE;
}
