#include "host-private.h"

#include "base/file.h"
#include "base/sandbox.h"

static Clu *
load_cluster (void *user, const char *topology, guint32 nodes, GError **error)
{
  return cli_cluster_load (user, topology, nodes, error);
}

static char *
read_file (void *user, const char *path, gsize max_B, gsize *n_B, GError **error)
{
  char *bytes = NULL;
  if (base_file_read (path, max_B, &bytes, n_B, error))
    cli_take_input (user, path, bytes, *n_B);
  return bytes;
}

static void
take_documents (void *user, const GPtrArray *yamls)
{
  cli_take_inputs (user, yamls);
}

static void
warn (void *user, const char *text)
{
  cli_warn (user, text);
}

CalHost
cli_host (Cli *cli)
{
  return (CalHost){ .user = cli,
                    .lookup = cli->lookup,
                    .seed = cli->seed,
                    .cluster = load_cluster,
                    .read = read_file,
                    .documents = take_documents,
                    .warn = warn };
}

gboolean
cli_measurements_folder (const Cli *cli, const char *folder, GError **error)
{
  return base_sandbox_may_read (folder, error) &&
         (base_file_is_folder (folder) ||
          cli_fail (cli, error, "%s is not a folder; write one with systems.yaml and the files that it names", folder));
}
