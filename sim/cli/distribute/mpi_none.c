/* A build without MPI: processes that were started together end with an error, because each would do all of the work. */
#include "distribute/mpi-private.h"

static const char without[] = "this forerun was built without MPI; build it where MPI for C is found (package libopenmpi-dev), or "
                              "share the work by --shard and forerun merge";

gboolean
cli_ranks_wanted (const Cli *cli, const char *flag, gboolean *wanted, GError **error)
{
  if (!cli_ranks_read_flag (cli, flag, wanted, error))
    return FALSE;
  return !*wanted || cli_fail (cli, error, "%s", without);
}

CliRanks *
cli_ranks_open (Cli *cli, GError **error)
{
  cli_fail (cli, error, "%s", without);
  return NULL;
}

guint
cli_ranks_self (const CliRanks *ranks)
{
  (void)ranks;
  return 0;
}

guint
cli_ranks_n (const CliRanks *ranks)
{
  (void)ranks;
  return 1;
}

gboolean
cli_ranks_agree (CliRanks *ranks, Cli *cli, gboolean read, GError **why, GError **error)
{
  (void)ranks;
  (void)read;
  (void)why;
  return cli_fail (cli, error, "%s", without);
}

void
cli_ranks_serve (CliRanks *ranks, const CliCrew *crew)
{
  (void)ranks;
  (void)crew;
}

gboolean
cli_ranks_share (CliRanks *ranks, const CliCrew *crew, GError **error)
{
  (void)ranks;
  (void)crew;
  g_set_error_literal (error, BASE_ERROR, (gint)BASE_ERROR_RUN, without);
  return FALSE;
}
